//! Peano numerals become integers: a datatype of a zero and a successor is replaced by Int wherever
//! it is an argument.
//!
//! What is recursion over terms for engines (addition, comparison) is linear arithmetic then. A sort
//! is replaced in the whole system or not at all: not if it is a field, an element or an index of
//! anything else, or bound by a quantifier. Models come back by the size of the numeral (see
//! [`TermStore::size`]), refutations by the numeral of the value.
//!
//! Invariant: the clauses' variables are at least zero, so the values of a derivation are those of
//! numerals. A selector applied to zero is some numeral, the same for all its occurrences in a
//! clause.

use std::borrow::Cow;
use std::rc::Rc;

use num_traits::ToPrimitive;
use rustc_hash::{FxHashMap, FxHashSet};

use super::replay::{OldStep, replay};
use super::{BackError, BackTranslation, Step, TransformError, Transformation, complete_model};
use crate::chc::{Atom, ClauseId, PredicateId, System};
use crate::run::Context;
use crate::term::{Assignment, DatatypeId, Op, Sort, SortId, TermId, TermStore};
use crate::witness::{Model, Refutation};

/// A numeral larger than this is not written as a term.
const LARGEST: usize = 1 << 20;

/// The pass.
pub struct Numerals;

/// A datatype of numerals.
#[derive(Clone, Copy)]
struct Numeral {
    id: DatatypeId,
    zero: u32,
    successor: u32,
}

impl Numeral {
    fn of(terms: &TermStore, sort: SortId) -> Option<Numeral> {
        let Sort::Datatype(id) = terms.sort(sort) else {
            return None;
        };
        let [a, b] = terms.datatype(id).constructors.as_slice() else {
            return None;
        };
        let (zero, successor) = match (a.fields.as_slice(), b.fields.as_slice()) {
            ([], [field]) if field.sort == sort => (0, 1),
            ([field], []) if field.sort == sort => (1, 0),
            _ => return None,
        };
        Some(Numeral {
            id,
            zero,
            successor,
        })
    }

    /// The numeral of a value; `None` when it is negative or too large.
    fn value(&self, terms: &TermStore, number: TermId) -> Option<TermId> {
        let count = terms.as_int(number)?.to_usize()?;
        let mut value = terms.construct(self.id, self.zero, &[]);
        for _ in 0..(count <= LARGEST).then_some(count)? {
            value = terms.construct(self.id, self.successor, &[value]);
        }
        Some(value)
    }
}

type Table = FxHashMap<SortId, Numeral>;

impl Transformation for Numerals {
    fn name(&self) -> &'static str {
        "numerals"
    }

    fn apply(&self, system: System, cx: &mut Context) -> Result<Step, TransformError> {
        let old = Rc::new(system);
        let terms = old.terms.clone();
        let mut system = (*old).clone();
        let table = numerals(&old);
        let mut back = Back {
            old: old.clone(),
            replaced: Vec::new(),
            vars: FxHashMap::default(),
            table,
        };
        if back.table.is_empty() {
            return Ok(Step {
                system,
                back: Box::new(super::Unchanged),
                changed: false,
            });
        }
        let mut places: FxHashMap<PredicateId, PredicateId> = FxHashMap::default();
        for predicate in old.used_predicates() {
            let params = &old.predicate(predicate).params;
            let old_sorts: Vec<SortId> = params.iter().map(|&p| terms.sort_of(p)).collect();
            let int = |s: &SortId| match back.table.contains_key(s) {
                true => SortId::INT,
                false => *s,
            };
            let sorts: Vec<SortId> = old_sorts.iter().map(int).collect();
            if sorts == old_sorts {
                continue;
            }
            let name = old.predicate(predicate).name.clone();
            let new = system.add_predicate(&name, &sorts);
            places.insert(predicate, new);
            let own = system.predicate(new).params.iter().copied();
            let sized = params
                .iter()
                .map(|&p| match back.table.get(&terms.sort_of(p)) {
                    Some(_) => terms.size(p),
                    None => p,
                });
            back.replaced.push(Replaced {
                old: predicate,
                new,
                map: own.zip(sized).collect(),
            });
        }
        for clause in &mut system.clauses {
            if let Some(reason) = cx.stop() {
                return Err(TransformError {
                    pass: "numerals",
                    message: reason.to_string(),
                });
            }
            let mut rewriter = Rewriter {
                terms: &terms,
                table: &back.table,
                new: FxHashMap::default(),
                facts: Vec::new(),
            };
            let mut vars: Vec<(TermId, TermId)> = Vec::new();
            for var in clause.vars(&terms) {
                if back.table.contains_key(&terms.sort_of(var)) {
                    vars.push((var, rewriter.number(var)));
                }
            }
            if vars.is_empty() && !rewriter.mentions(clause.constraint) {
                continue;
            }
            for atom in clause.body.iter_mut().chain(&mut clause.head) {
                if let Some(&predicate) = places.get(&atom.predicate) {
                    *atom = Atom {
                        predicate,
                        args: atom
                            .args
                            .iter()
                            .map(|a| rewriter.new.get(a).copied().unwrap_or(*a))
                            .collect(),
                    };
                }
            }
            let constraint = rewriter.rewrite(clause.constraint);
            rewriter.facts.push(constraint);
            clause.constraint = terms.and(&rewriter.facts);
            back.vars.insert(clause.id, vars);
        }
        Ok(Step {
            system,
            back: Box::new(back),
            changed: true,
        })
    }
}

/// The sorts of numerals that are used as such only.
fn numerals(system: &System) -> Table {
    let terms = &*system.terms;
    let mut table = Table::default();
    let mut seen: FxHashSet<SortId> = FxHashSet::default();
    let mut look = |sort: SortId, table: &mut Table| {
        if seen.insert(sort)
            && let Some(numeral) = Numeral::of(terms, sort)
        {
            table.insert(sort, numeral);
        }
    };
    for predicate in system.used_predicates() {
        for &param in &system.predicate(predicate).params {
            look(terms.sort_of(param), &mut table);
        }
    }
    let constraints: Vec<TermId> = system.clauses.iter().map(|c| c.constraint).collect();
    let mut refused: FxHashSet<SortId> = FxHashSet::default();
    terms.post_order(&constraints, |t| {
        let node = terms.node(t);
        if let Op::Forall(bound) | Op::Exists(bound) = &node.op {
            refused.extend(bound.iter().map(|&b| terms.sort_of(b)));
        }
        let own = |id: &DatatypeId, sort: SortId| terms.datatype_sort(*id) == sort;
        let made = match &node.op {
            Op::Var(_) | Op::Ite => true,
            Op::Construct(id, _) | Op::Field(id, ..) => own(id, node.sort),
            _ => false,
        };
        if !made {
            refused.insert(node.sort);
        }
        for &arg in &node.args {
            let sort = terms.sort_of(arg);
            let used = match &node.op {
                Op::Eq | Op::Ite => true,
                Op::Construct(id, _) | Op::Field(id, ..) | Op::Is(id, _) => own(id, sort),
                _ => false,
            };
            if !used {
                refused.insert(sort);
            }
        }
    });
    table.retain(|sort, _| !refused.contains(sort));
    table
}

/// Rewrites one clause.
struct Rewriter<'a> {
    terms: &'a TermStore,
    table: &'a Table,
    /// By term: what stands in its place, a number for a numeral.
    new: FxHashMap<TermId, TermId>,
    facts: Vec<TermId>,
}

impl Rewriter<'_> {
    /// A new variable in the place of a numeral of which nothing is known.
    fn number(&mut self, term: TermId) -> TermId {
        let terms = self.terms;
        let name = terms.var_name(term);
        let stem = match name.split('!').next() {
            Some(stem) if !stem.is_empty() => stem,
            _ => "numeral",
        };
        let number = terms.fresh_var(stem, SortId::INT);
        self.facts.push(terms.ge(number, terms.int(0)));
        self.new.insert(term, number);
        number
    }

    fn mentions(&self, constraint: TermId) -> bool {
        let mut found = false;
        self.terms.post_order(&[constraint], |t| {
            found |= self.table.contains_key(&self.terms.sort_of(t));
        });
        found
    }

    fn rewrite(&mut self, constraint: TermId) -> TermId {
        let terms = self.terms;
        let mut order = Vec::new();
        terms.post_order(&[constraint], |t| order.push(t));
        for t in order {
            if self.new.contains_key(&t) {
                continue;
            }
            let node = terms.node(t);
            let args: Vec<TermId> = node.args.iter().map(|a| self.new[a]).collect();
            let numeral = |sort: SortId| self.table.get(&sort).copied();
            let new = match (&node.op, numeral(node.sort)) {
                (Op::Construct(_, c), Some(n)) if *c == n.zero => terms.int(0),
                (Op::Construct(..), Some(_)) => terms.add(&[args[0], terms.int(1)]),
                (Op::Field(..), Some(_)) => {
                    let number = self.number(t);
                    let next = terms.add(&[number, terms.int(1)]);
                    let positive = terms.ge(args[0], terms.int(1));
                    let exact = terms.eq(args[0], next);
                    self.facts.push(terms.implies(positive, exact));
                    number
                }
                (Op::Ite, Some(_)) => terms.ite(args[0], args[1], args[2]),
                (Op::Is(_, c), _) => match numeral(terms.sort_of(node.args[0])) {
                    Some(n) if *c == n.zero => terms.eq(args[0], terms.int(0)),
                    Some(_) => terms.ge(args[0], terms.int(1)),
                    None => terms.rebuild(&node.op, &args, node.sort),
                },
                _ if args == *node.args => t,
                _ => terms.rebuild(&node.op, &args, node.sort),
            };
            self.new.insert(t, new);
        }
        self.new[&constraint]
    }
}

struct Replaced {
    old: PredicateId,
    new: PredicateId,
    /// From the new predicate's formal variables to the old one's, or their sizes.
    map: FxHashMap<TermId, TermId>,
}

struct Back {
    old: Rc<System>,
    replaced: Vec<Replaced>,
    /// By changed clause: its variables of numerals, with their numbers.
    vars: FxHashMap<ClauseId, Vec<(TermId, TermId)>>,
    table: Table,
}

impl BackTranslation for Back {
    fn model(&self, mut model: Model, _cx: &mut Context) -> Result<Model, BackError> {
        let terms = &self.old.terms;
        for replaced in &self.replaced {
            if let Some(formula) = model.definitions.remove(&replaced.new) {
                let formula = terms.substitute(formula, &replaced.map);
                model.definitions.insert(replaced.old, formula);
            }
        }
        complete_model(&self.old, &mut model);
        Ok(model)
    }

    fn refutation(
        &self,
        refutation: Refutation,
        cx: &mut Context,
    ) -> Result<Refutation, BackError> {
        let terms = &self.old.terms;
        let mut numerals: FxHashMap<(SortId, TermId), TermId> = FxHashMap::default();
        replay("numerals", &self.old, &refutation, cx, |step| {
            let Some(vars) = self.vars.get(&step.clause) else {
                return Ok(Vec::new());
            };
            let mut known: Assignment = step.values.clone();
            for &(var, number) in vars {
                let sort = terms.sort_of(var);
                let Some(&number) = step.values.get(&number) else {
                    continue;
                };
                let value = match numerals.get(&(sort, number)) {
                    Some(&value) => value,
                    None => {
                        let found = self.table[&sort].value(terms, number);
                        let value = found.ok_or_else(|| BackError {
                            pass: "numerals",
                            message: "a number is too large for a numeral".to_owned(),
                        })?;
                        numerals.insert((sort, number), value);
                        value
                    }
                };
                known.insert(var, value);
            }
            let mut old = OldStep::same(step, &[]);
            old.known = Cow::Owned(known);
            Ok(vec![old])
        })
    }
}
