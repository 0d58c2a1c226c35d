//! Replaces variables of a datatype with several constructors by a tag and one scalar for each
//! field.
//!
//! Objects on a heap are of such sorts: an object has one of a few types, or is undefined. Queries
//! over numbers and Booleans are easier than queries over datatypes, and lemmas about a field need
//! not mention the constructor. Fields of the same sort of different constructors share a variable.
//! A variable that a constructor does not use has the sort's default value, so that equality is
//! preserved. Constructors that no derivable fact has in any argument (by the fixpoint of
//! `constructors`) need no variables; if two are left, the tag is Boolean.
//!
//! Not replaced are sorts that contain themselves, and sorts whose constructors have no fields (see
//! `control`). A field that is a record or has several constructors itself is replaced in the next
//! round of passes.
//!
//! Invariant: the tag and the fields in a derivable fact are those of one value of the sort, so
//! arguments of body atoms need no constraint. Other variables get a constraint that says so,
//! unless the clause defines them.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::constructors::{Facts, choices, facts_of_constructors, is_recursive, testers};
use super::replacement::{Origin, Replacement};
use super::{Step, Transformation, part_var};
use alphorn_chc::{Clause, System};
use alphorn_term::run::Context;
use alphorn_term::{DatatypeId, Op, SortId, TermId, TermStore};

/// The limits of the pass.
struct Limits {
    /// Fields of all constructors of a sort; a sort with more is not replaced.
    max_fields: usize,
}

const LIMITS: Limits = Limits { max_fields: 32 };

/// The pass.
pub struct Variants;

impl Transformation for Variants {
    fn apply(&mut self, old: &Rc<System>, cx: &mut Context) -> Option<Step> {
        let terms = old.terms.clone();
        let mut sorts: FxHashMap<SortId, Layout> = FxHashMap::default();
        let used = old.used_predicates();
        for &predicate in &used {
            for &param in &old.predicate(predicate).params {
                let sort = terms.sort_of(param);
                if !sorts.contains_key(&sort)
                    && let Some(layout) = Layout::of(&terms, sort)
                {
                    sorts.insert(sort, layout);
                }
            }
        }
        if sorts.is_empty() {
            return None;
        }
        let facts = facts_of_constructors(old, cx)?;
        for layout in sorts.values_mut() {
            layout.order(&terms, old, &facts);
        }
        let mut system = (**old).clone();
        let mut replacement = Replacement::new(old);
        for &predicate in &used {
            let params = &old.predicate(predicate).params;
            if params
                .iter()
                .any(|&p| sorts.contains_key(&terms.sort_of(p)))
            {
                let arguments = params.iter().flat_map(|&param| {
                    let layout = sorts.get(&terms.sort_of(param));
                    layout.map_or_else(|| vec![param], |l| l.arguments(&terms, param))
                });
                let arguments: Vec<TermId> = arguments.collect();
                replacement.replace_by_terms(&mut system, predicate, arguments);
            }
        }
        for clause in &mut system.clauses {
            if cx.stop().is_some() {
                return None;
            }
            let mut apart = Apart::new(&terms, &sorts, clause);
            if apart.variables.is_empty() {
                continue;
            }
            clause.constraint = apart.constraint(clause);
            let pairs = apart.variables.iter().map(|v| (v.old, v.whole)).collect();
            replacement.replace_atoms(clause, |atom| {
                let args = atom.args.iter();
                args.flat_map(|arg| match apart.arguments.get(arg) {
                    Some(own) => own.clone(),
                    None => vec![*arg],
                })
                .collect()
            });
            replacement.note(clause.id, Origin::new(clause.id, pairs));
        }
        // The constructors of one argument depend on those of others.
        for predicate in used {
            match facts.get(&predicate) {
                Some(sets) => {
                    let testers = testers(&terms, &old.predicate(predicate).params, sets);
                    replacement.strengthen(predicate, testers);
                }
                None => replacement.refute(predicate),
            }
        }
        Some(replacement.step(system))
    }
}

/// A variable for a field of one or more constructors.
struct Slot {
    name: String,
    sort: SortId,
    default: TermId,
}

/// The encoding of values of a sort.
struct Layout {
    datatype: DatatypeId,
    /// The constructors by tag; first those that arguments have.
    tags: Vec<u32>,
    /// The number of constructors that arguments have, and of the slots that they need.
    in_arguments: usize,
    slots_of_arguments: usize,
    slots: Vec<Slot>,
    /// For each constructor, by its number in the datatype, the slots of its fields.
    places: Vec<Vec<usize>>,
}

impl Layout {
    /// The layout of a sort that is replaced; otherwise `None`.
    fn of(terms: &TermStore, sort: SortId) -> Option<Layout> {
        let datatype = choices(terms, sort)?;
        let constructors = &terms.datatype(datatype).constructors;
        let fields = constructors.iter().flat_map(|c| &c.fields);
        let fits = fields.clone().next().is_some()
            && fields.clone().count() <= LIMITS.max_fields
            && fields
                .clone()
                .all(|f| terms.default_value(f.sort).is_some())
            && !is_recursive(terms, datatype);
        fits.then(|| Layout {
            datatype,
            tags: Vec::new(),
            in_arguments: 0,
            slots_of_arguments: 0,
            slots: Vec::new(),
            places: vec![Vec::new(); constructors.len()],
        })
    }

    /// Chooses tags and slots by what is known of the arguments of this sort.
    fn order(&mut self, terms: &TermStore, system: &System, facts: &Facts) {
        let sort = terms.datatype_sort(self.datatype);
        let mut met = 0;
        for (&predicate, sets) in facts {
            for (&param, set) in system.predicate(predicate).params.iter().zip(sets) {
                if terms.sort_of(param) == sort {
                    met |= set;
                }
            }
        }
        let constructors = &terms.datatype(self.datatype).constructors;
        let all = 0..constructors.len() as u32;
        let (mut own, others): (Vec<u32>, Vec<u32>) = all.partition(|c| met & (1 << c) != 0);
        self.in_arguments = own.len();
        own.extend(others);
        for (tag, &constructor) in own.iter().enumerate() {
            let mut taken: FxHashSet<usize> = FxHashSet::default();
            for field in &constructors[constructor as usize].fields {
                let free =
                    |(at, slot): &(usize, &Slot)| slot.sort == field.sort && !taken.contains(at);
                let at = match self.slots.iter().enumerate().find(free) {
                    Some((at, _)) => at,
                    None => {
                        self.slots.push(Slot {
                            name: field.selector.clone(),
                            sort: field.sort,
                            default: terms
                                .default_value(field.sort)
                                .expect("checked by `Layout::of`"),
                        });
                        self.slots.len() - 1
                    }
                };
                taken.insert(at);
                self.places[constructor as usize].push(at);
            }
            if tag < self.in_arguments {
                self.slots_of_arguments = self.slots.len();
            }
        }
        self.tags = own;
    }

    /// Whether the tag of arguments is Boolean: true for the second constructor.
    fn is_flag(&self) -> bool {
        self.in_arguments == 2
    }

    fn tag_of(&self, terms: &TermStore, constructor: u32) -> TermId {
        let tag = self.tags.iter().position(|&c| c == constructor);
        terms.int(tag.expect("all constructors have a tag"))
    }

    /// The tag of a term as a number, by testers for the first `count` constructors.
    fn tested(&self, terms: &TermStore, term: TermId, count: usize) -> TermId {
        let last = count.saturating_sub(1);
        (0..last).rev().fold(terms.int(last), |rest, tag| {
            let is = terms.is(self.datatype, self.tags[tag], term);
            terms.ite(is, terms.int(tag), rest)
        })
    }

    /// The slots of a term with one of the first `count` constructors, by testers and selectors.
    fn selected(&self, terms: &TermStore, term: TermId, count: usize) -> Vec<TermId> {
        let mut slots: Vec<TermId> = self.slots.iter().map(|s| s.default).collect();
        for &constructor in self.tags[..count].iter().rev() {
            let is = terms.is(self.datatype, constructor, term);
            let places = &self.places[constructor as usize];
            for (field, &at) in places.iter().enumerate() {
                let value = terms.field(self.datatype, constructor, field as u32, term);
                slots[at] = terms.ite(is, value, slots[at]);
            }
        }
        slots
    }

    /// The new arguments for an argument of this sort.
    fn arguments(&self, terms: &TermStore, param: TermId) -> Vec<TermId> {
        let mut arguments = Vec::new();
        if self.is_flag() {
            arguments.push(terms.is(self.datatype, self.tags[1], param));
        } else {
            arguments.push(self.tested(terms, param, self.in_arguments));
        }
        let slots = self.selected(terms, param, self.in_arguments);
        arguments.extend_from_slice(&slots[..self.slots_of_arguments]);
        arguments
    }

    /// The value with this tag and these slots, of one of the first `count` constructors.
    fn whole(&self, terms: &TermStore, parts: &Parts, count: usize) -> TermId {
        let build = |tag: usize| {
            let constructor = self.tags[tag];
            let places = &self.places[constructor as usize];
            let fields: Vec<TermId> = places.iter().map(|&at| parts.slots[at]).collect();
            terms.construct(self.datatype, constructor, &fields)
        };
        let last = count.saturating_sub(1);
        (0..last).rev().fold(build(last), |rest, tag| {
            terms.ite(terms.eq(parts.tag, terms.int(tag)), build(tag), rest)
        })
    }

    /// These are the parts of some value, of one of the first `count` constructors.
    fn is_valid(&self, terms: &TermStore, parts: &Parts, count: usize) -> TermId {
        let mut conjuncts = Vec::new();
        // A Boolean tag is always in range.
        if terms.is_var(parts.tag) {
            conjuncts.push(terms.ge(parts.tag, terms.int(0)));
            conjuncts.push(terms.lt(parts.tag, terms.int(count)));
        }
        for (at, slot) in self.slots.iter().enumerate() {
            let mut cases = vec![terms.eq(parts.slots[at], slot.default)];
            for (tag, &constructor) in self.tags[..count].iter().enumerate() {
                if self.places[constructor as usize].contains(&at) {
                    cases.push(terms.eq(parts.tag, terms.int(tag)));
                }
            }
            conjuncts.push(terms.or(&cases));
        }
        terms.and(&conjuncts)
    }
}

/// The parts of a value: its tag as a number, and its slots.
#[derive(Clone)]
struct Parts {
    tag: TermId,
    slots: Vec<TermId>,
}

/// A variable of a clause that is replaced.
struct Variable {
    old: TermId,
    whole: TermId,
    /// The constraint on its parts.
    valid: TermId,
}

/// One clause with its variables replaced.
struct Apart<'a> {
    terms: &'a TermStore,
    sorts: &'a FxHashMap<SortId, Layout>,
    variables: Vec<Variable>,
    /// The new arguments in place of an old one.
    arguments: FxHashMap<TermId, Vec<TermId>>,
    /// The parts of terms of the replaced sorts.
    parts: FxHashMap<TermId, Parts>,
}

impl<'a> Apart<'a> {
    fn new(terms: &'a TermStore, sorts: &'a FxHashMap<SortId, Layout>, clause: &Clause) -> Self {
        let mut apart = Apart {
            terms,
            sorts,
            variables: Vec::new(),
            arguments: FxHashMap::default(),
            parts: FxHashMap::default(),
        };
        let args: FxHashSet<TermId> = clause.atoms().flat_map(|a| &a.args).copied().collect();
        let zero = terms.int(0);
        for var in clause.vars(terms) {
            let Some(layout) = sorts.get(&terms.sort_of(var)) else {
                continue;
            };
            let argument = args.contains(&var);
            let (count, slots) = match argument {
                true => (layout.in_arguments, layout.slots_of_arguments),
                false => (layout.tags.len(), layout.slots.len()),
            };
            let mut own = Vec::new();
            let tag = if argument && layout.is_flag() {
                let flag = part_var(terms, var, "tag", SortId::BOOL);
                own.push(flag);
                terms.ite(flag, terms.int(1), zero)
            } else {
                let tag = part_var(terms, var, "tag", SortId::INT);
                own.push(tag);
                tag
            };
            let slot = |(at, slot): (usize, &Slot)| match at < slots {
                true => part_var(terms, var, &slot.name, slot.sort),
                false => slot.default,
            };
            let parts = Parts {
                tag,
                slots: layout.slots.iter().enumerate().map(slot).collect(),
            };
            own.extend_from_slice(&parts.slots[..slots]);
            apart.variables.push(Variable {
                old: var,
                whole: layout.whole(terms, &parts, count),
                valid: layout.is_valid(terms, &parts, count),
            });
            if argument {
                apart.arguments.insert(var, own);
            }
            apart.parts.insert(var, parts);
        }
        apart
    }

    /// The constraint over the parts.
    fn constraint(&mut self, clause: &Clause) -> TermId {
        let terms = self.terms;
        let mut memo: FxHashMap<TermId, TermId> = FxHashMap::default();
        let formula = terms.rewrite_bottom_up(clause.constraint, &mut memo, |t| self.rewrite(t));
        let wholes = self.variables.iter().map(|v| (v.old, v.whole)).collect();
        let mut conjuncts = vec![terms.substitute(formula, &wholes)];
        let defined = self.defined(clause);
        let open = self.variables.iter().filter(|v| !defined.contains(&v.old));
        conjuncts.extend(open.map(|v| v.valid));
        terms.and(&conjuncts)
    }

    /// Variables whose parts are those of a value without further constraint: arguments of body
    /// atoms, and variables that the constraint defines by such.
    fn defined(&self, clause: &Clause) -> FxHashSet<TermId> {
        let terms = self.terms;
        let own: FxHashSet<TermId> = self.variables.iter().map(|v| v.old).collect();
        let body = clause.body.iter().flat_map(|a| &a.args).copied();
        let mut defined: FxHashSet<TermId> = body.filter(|v| own.contains(v)).collect();
        let mut equations: Vec<(TermId, Vec<TermId>)> = Vec::new();
        for conjunct in terms.conjuncts(clause.constraint) {
            if *terms.op(conjunct) == Op::Eq {
                let args = terms.args(conjunct);
                for (var, value) in [(args[0], args[1]), (args[1], args[0])] {
                    if own.contains(&var) {
                        let mut needed = terms.free_vars(&[value]);
                        needed.retain(|v| own.contains(v));
                        equations.push((var, needed));
                    }
                }
            }
        }
        loop {
            let before = defined.len();
            for (var, needed) in &equations {
                if needed.iter().all(|v| defined.contains(v)) {
                    defined.insert(*var);
                }
            }
            if defined.len() == before {
                return defined;
            }
        }
    }

    /// One step of rewriting from the leaves up: records the parts of terms of replaced sorts, and
    /// rewrites atoms about them.
    fn rewrite(&mut self, term: TermId) -> TermId {
        let terms = self.terms;
        let node = terms.node(term);
        match node.op {
            Op::Ite if self.sorts.contains_key(&node.sort) => {
                let then = self.parts(node.args[1]);
                let other = self.parts(node.args[2]);
                let choice = |(&a, &b): (&TermId, &TermId)| terms.ite(node.args[0], a, b);
                let parts = Parts {
                    tag: choice((&then.tag, &other.tag)),
                    slots: then.slots.iter().zip(&other.slots).map(choice).collect(),
                };
                self.parts.insert(term, parts);
                term
            }
            Op::Eq if self.sorts.contains_key(&terms.sort_of(node.args[0])) => {
                let [a, b] = [node.args[0], node.args[1]];
                if !self.is_apart(a) && !self.is_apart(b) {
                    return term;
                }
                let (a, b) = (self.parts(a), self.parts(b));
                let mut conjuncts = vec![self.equal_tags(a.tag, b.tag)];
                let slots = a.slots.iter().zip(&b.slots);
                conjuncts.extend(slots.map(|(&a, &b)| terms.eq(a, b)));
                terms.and(&conjuncts)
            }
            Op::Is(_, constructor) if self.is_apart(node.args[0]) => {
                let layout = &self.sorts[&terms.sort_of(node.args[0])];
                let tag = layout.tag_of(terms, constructor);
                terms.eq(self.parts[&node.args[0]].tag, tag)
            }
            Op::Field(_, constructor, field) if self.is_apart(node.args[0]) => {
                let layout = &self.sorts[&terms.sort_of(node.args[0])];
                let slot = layout.places[constructor as usize][field as usize];
                let parts = &self.parts[&node.args[0]];
                let is = terms.eq(parts.tag, layout.tag_of(terms, constructor));
                terms.ite(is, parts.slots[slot], term)
            }
            _ => term,
        }
    }

    /// Whether a term is a variable of the clause or a choice, whose parts were recorded.
    fn is_apart(&self, term: TermId) -> bool {
        self.parts.contains_key(&term)
    }

    /// The parts of a term of a replaced sort.
    fn parts(&self, term: TermId) -> Parts {
        let terms = self.terms;
        if let Some(known) = self.parts.get(&term) {
            return known.clone();
        }
        let layout = &self.sorts[&terms.sort_of(term)];
        let count = layout.tags.len();
        Parts {
            tag: match *terms.op(term) {
                Op::Construct(_, constructor) => layout.tag_of(terms, constructor),
                _ => layout.tested(terms, term, count),
            },
            slots: layout.selected(terms, term, count),
        }
    }

    /// Two tags are equal; a Boolean tag is equivalent to the other tag being one.
    fn equal_tags(&self, a: TermId, b: TermId) -> TermId {
        let terms = self.terms;
        let (zero, one) = (terms.int(0), terms.int(1));
        for (flag, other) in [(a, b), (b, a)] {
            let node = terms.node(flag);
            if node.op == Op::Ite && node.args[1..] == [one, zero] {
                let is = terms.eq(other, one);
                let either = terms.or(&[is, terms.eq(other, zero)]);
                return terms.and(&[terms.eq(node.args[0], is), either]);
            }
        }
        terms.eq(a, b)
    }
}
