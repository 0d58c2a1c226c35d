//! Adds to arguments of recursive datatypes their size, and their constructor if the size does not
//! determine it, as arguments of sort Int.
//!
//! The clauses then say what the structure of terms implies about sizes (see [`TermStore::size`]):
//! the list `cons(h, t)` is longer than `t` by one, equal terms have equal sizes, a term is `nil`
//! exactly if its size is zero. So properties of sizes alone (`append` adds lengths, `insert` adds
//! one) become linear arithmetic, which abstract interpretation and engines handle well. After
//! Eldarica's size arguments (Hojjat and Rümmer, "Deciding and interpolating algebraic data types
//! by reduction", 2017; FMCAD 2018).
//!
//! The terms themselves stay arguments. A model has a recursive function for the sizes, which is
//! printed as a `define-fun-rec`; constructors become testers.
//!
//! The pass runs once, before the iterated passes, so that their back-translations do not have to
//! deal with sizes, and after `numerals`, since a Peano numeral and its size would be the same
//! information twice.
//!
//! Invariant: what is added to a constraint follows from it if the new arguments are the sizes and
//! constructors of the old ones. So a model with these substituted is a model of the old clauses.
//! Nothing else changes, so a refutation without the new arguments is a refutation of the old
//! clauses.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::replacement::{Origin, Replacement};
use super::{Step, Transformation, part_var};
use alphorn_chc::{Clause, System};
use alphorn_term::run::Context;
use alphorn_term::{DatatypeId, Op, SortId, TermId, TermStore};

/// The limits of the pass.
struct Limits {
    /// Arguments of an expanded predicate; a predicate that would have more is not expanded.
    max_arity: usize,
}

const LIMITS: Limits = Limits { max_arity: 2048 };

/// The pass.
pub struct Sizes;

impl Transformation for Sizes {
    fn apply(&mut self, old: &Rc<System>, cx: &mut Context) -> Option<Step> {
        let terms = old.terms.clone();
        let mut system = (**old).clone();
        let mut replacement = Replacement::new(old);
        for predicate in old.used_predicates() {
            let mut arguments = old.predicate(predicate).params.clone();
            for argument in arguments.clone() {
                if let Some(id) = terms.sized(terms.sort_of(argument)) {
                    arguments.push(terms.size(argument));
                    if is_tagged(&terms, id) {
                        arguments.push(tag(&terms, id, argument));
                    }
                }
            }
            let more = arguments.len() > old.predicate(predicate).arity();
            if more && arguments.len() <= LIMITS.max_arity {
                replacement.replace_by_terms(&mut system, predicate, arguments);
            }
        }
        if replacement.is_empty() {
            return None;
        }
        for clause in &mut system.clauses {
            if cx.stop().is_some() {
                return None;
            }
            measure(&terms, clause, &replacement);
            replacement.note(clause.id, Origin::new(clause.id, Vec::new()));
        }
        Some(replacement.step(system))
    }
}

/// Whether the size of a value does not determine its constructor: several constructors have size
/// zero, or several have a positive size.
fn is_tagged(terms: &TermStore, id: DatatypeId) -> bool {
    let counted = terms.counted_fields(id);
    let inner = counted.iter().filter(|c| !c.is_empty()).count();
    inner > 1 || counted.len() - inner > 1
}

/// Whether the size of a value determines the value: the constructors are a zero and a successor.
fn is_numeral(terms: &TermStore, id: DatatypeId) -> bool {
    let constructors = &terms.datatype(id).constructors;
    let mut fields: Vec<usize> = constructors.iter().map(|c| c.fields.len()).collect();
    fields.sort_unstable();
    fields == [0, 1]
}

/// The number of a term's constructor, by testers.
fn tag(terms: &TermStore, id: DatatypeId, term: TermId) -> TermId {
    let count = terms.datatype(id).constructors.len() as u32;
    (0..count.saturating_sub(1)).rev().fold(
        terms.int(count.saturating_sub(1)),
        |other, constructor| {
            let tester = terms.is(id, constructor, term);
            terms.ite(tester, terms.int(constructor), other)
        },
    )
}

/// Adds the new arguments to the clause's atoms, after the old ones and in their order, and
/// constraints about them.
fn measure(terms: &TermStore, clause: &mut Clause, replacement: &Replacement) {
    let mut measures = Measures {
        terms,
        sizes: FxHashMap::default(),
        tags: FxHashMap::default(),
        facts: Vec::new(),
    };
    replacement.replace_atoms(clause, |atom| {
        let mut args = atom.args.clone();
        for &arg in &atom.args {
            let Some(id) = terms.sized(terms.sort_of(arg)) else {
                continue;
            };
            let size = part_var(terms, arg, "size", SortId::INT);
            measures.sizes.insert(arg, size);
            args.push(size);
            if is_tagged(terms, id) {
                let tag = part_var(terms, arg, "tag", SortId::INT);
                measures.tags.insert(arg, tag);
                args.push(tag);
            }
        }
        args
    });
    measures.read(clause.constraint);
    let mut conjuncts = vec![clause.constraint];
    conjuncts.append(&mut measures.facts);
    clause.constraint = terms.and(&conjuncts);
}

/// The sizes and constructors of the terms in a clause, and the constraints about them.
struct Measures<'a> {
    terms: &'a TermStore,
    sizes: FxHashMap<TermId, TermId>,
    tags: FxHashMap<TermId, TermId>,
    facts: Vec<TermId>,
}

impl Measures<'_> {
    fn read(&mut self, constraint: TermId) {
        let terms = self.terms;
        let mut conjuncts = terms.conjuncts(constraint);
        conjuncts.retain(|&c| !terms.node(c).has_quantifier);
        let mut args: Vec<TermId> = self.sizes.keys().copied().collect();
        args.sort_unstable();
        for &arg in &args {
            self.bound(arg);
        }
        let mut inside: Vec<TermId> = Vec::new();
        terms.post_order(&conjuncts, |t| inside.push(t));
        for &t in &inside {
            self.measure(t);
        }
        let stated: FxHashSet<TermId> = conjuncts.iter().copied().collect();
        // Terms whose constructor matters, to a tester or a selector.
        let mut asked: FxHashMap<TermId, DatatypeId> = FxHashMap::default();
        let mut opened: FxHashMap<(TermId, u32), DatatypeId> = FxHashMap::default();
        for &t in &inside {
            let node = terms.node(t);
            match node.op {
                Op::Eq => {
                    let premise = if stated.contains(&t) { TermId::TRUE } else { t };
                    self.equation(premise, node.args[0], node.args[1]);
                }
                Op::Is(id, _) if self.sizes.contains_key(&node.args[0]) => {
                    asked.insert(node.args[0], id);
                }
                Op::Field(id, constructor, _) if self.sizes.contains_key(&node.args[0]) => {
                    asked.insert(node.args[0], id);
                    opened.insert((node.args[0], constructor), id);
                }
                _ => {}
            }
        }
        let mut opened: Vec<((TermId, u32), DatatypeId)> = opened.into_iter().collect();
        opened.sort_unstable();
        for ((term, constructor), id) in opened {
            self.open(term, constructor, id);
        }
        let mut asked: Vec<(TermId, DatatypeId)> = asked.into_iter().collect();
        asked.sort_unstable();
        for (term, id) in asked {
            self.ask(term, id);
        }
    }

    /// Sets the size of a term whose parts have sizes, if it is of a recursive datatype.
    fn measure(&mut self, term: TermId) {
        let terms = self.terms;
        let node = terms.node(term);
        let Some(id) = terms.sized(node.sort) else {
            return;
        };
        if self.sizes.contains_key(&term) {
            return;
        }
        let tagged = is_tagged(terms, id);
        match node.op {
            Op::Construct(_, constructor) => {
                let fields = &terms.counted_fields(id)[constructor as usize];
                let mut sum = vec![terms.int(i32::from(!fields.is_empty()))];
                for &field in fields {
                    let size = self.size(node.args[field as usize]);
                    sum.push(size);
                }
                self.sizes.insert(term, terms.add(&sum));
                if tagged {
                    self.tags.insert(term, terms.int(constructor));
                }
            }
            Op::Ite => {
                let [then, other] = [node.args[1], node.args[2]].map(|a| self.size(a));
                let size = terms.ite(node.args[0], then, other);
                self.sizes.insert(term, size);
                if tagged {
                    let [then, other] = [node.args[1], node.args[2]].map(|a| self.tag(a, id));
                    self.tags.insert(term, terms.ite(node.args[0], then, other));
                }
            }
            _ => {
                let size = terms.fresh_var("size", SortId::INT);
                self.sizes.insert(term, size);
                self.bound(term);
            }
        }
    }

    /// The size of a term; a new variable if nothing is known about it.
    fn size(&mut self, term: TermId) -> TermId {
        let terms = self.terms;
        if let Some(&size) = self.sizes.get(&term) {
            return size;
        }
        // Mutual recursion through arrays only: such values have no size.
        if terms.sized(terms.sort_of(term)).is_none() {
            return terms.int(0);
        }
        let size = terms.fresh_var("size", SortId::INT);
        self.sizes.insert(term, size);
        self.bound(term);
        size
    }

    fn tag(&self, term: TermId, id: DatatypeId) -> TermId {
        let known = self.tags.get(&term).copied();
        known.unwrap_or_else(|| tag(self.terms, id, term))
    }

    /// Adds the range of a size that is a variable, and of the constructor that belongs to it.
    fn bound(&mut self, term: TermId) {
        let terms = self.terms;
        let zero = terms.int(0);
        self.facts.push(terms.ge(self.sizes[&term], zero));
        if let Some(&tag) = self.tags.get(&term)
            && let Some(id) = terms.sized(terms.sort_of(term))
        {
            let last = terms.datatype(id).constructors.len() - 1;
            self.facts.push(terms.ge(tag, zero));
            self.facts.push(terms.le(tag, terms.int(last)));
        }
    }

    /// Adds the consequences of an equation for sizes; `equation` is `true` if it is a conjunct.
    fn equation(&mut self, equation: TermId, left: TermId, right: TermId) {
        let terms = self.terms;
        let Some(id) = terms.sized(terms.sort_of(left)) else {
            return;
        };
        let (a, b) = (self.size(left), self.size(right));
        let sizes = terms.eq(a, b);
        self.facts.push(if is_numeral(terms, id) {
            terms.eq(equation, sizes)
        } else {
            terms.implies(equation, sizes)
        });
        if is_tagged(terms, id) {
            let tags = terms.eq(self.tag(left, id), self.tag(right, id));
            self.facts.push(terms.implies(equation, tags));
        }
    }

    /// A term with this constructor has the size of its fields plus one.
    fn open(&mut self, term: TermId, constructor: u32, id: DatatypeId) {
        let terms = self.terms;
        let fields = &terms.counted_fields(id)[constructor as usize];
        if fields.is_empty() {
            return;
        }
        let mut sum = vec![terms.int(1)];
        for &field in fields {
            let part = terms.field(id, constructor, field, term);
            let size = self.size(part);
            sum.push(size);
        }
        let whole = terms.eq(self.sizes[&term], terms.add(&sum));
        let tester = terms.is(id, constructor, term);
        self.facts.push(terms.implies(tester, whole));
    }

    /// A term has size zero exactly if its constructor has no counted fields.
    fn ask(&mut self, term: TermId, id: DatatypeId) {
        let terms = self.terms;
        let counted = terms.counted_fields(id).iter().zip(0..);
        let ends: Vec<TermId> = counted
            .filter(|(fields, _)| fields.is_empty())
            .map(|(_, c)| terms.is(id, c, term))
            .collect();
        let empty = terms.eq(self.sizes[&term], terms.int(0));
        self.facts.push(terms.eq(terms.or(&ends), empty));
        if let Some(&known) = self.tags.get(&term) {
            self.facts.push(terms.eq(known, tag(terms, id, term)));
        }
    }
}
