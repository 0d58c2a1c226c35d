//! Replaces Peano numerals, a datatype of zero and a successor, by Int wherever it is the sort of
//! an argument.
//!
//! Recursion over terms (addition, comparison) becomes linear arithmetic. A sort is replaced in the
//! whole system or not at all: not if it is the sort of a field, an element or an index, or of a
//! bound variable. Models are translated back by the size of the numeral (see [`TermStore::size`]),
//! refutations by the numeral with the given value.
//!
//! Invariant: the numbers in clauses are at least zero, so the values of a derivation are those of
//! numerals. The selector applied to zero is some numeral, the same for all its occurrences in a
//! clause.

use std::cell::RefCell;
use std::rc::Rc;

use num_traits::ToPrimitive;
use rustc_hash::{FxHashMap, FxHashSet};

use super::replacement::{Origin, Replacement};
use super::{Step, Transformation, stem};
use alphorn_chc::System;
use alphorn_term::run::Context;
use alphorn_term::{Assignment, DatatypeId, Op, Sort, SortId, TermId, TermStore};

/// The limits of the back-translation.
struct Limits {
    /// The largest numeral that is written as a term; a refutation with a larger one is lost.
    max_numeral: usize,
}

const LIMITS: Limits = Limits {
    max_numeral: 1 << 20,
};

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
}

type Table = FxHashMap<SortId, Numeral>;

impl Transformation for Numerals {
    fn apply(&mut self, old: &Rc<System>, cx: &mut Context) -> Option<Step> {
        let terms = old.terms.clone();
        let table = numerals(old);
        if table.is_empty() {
            return None;
        }
        let mut system = (**old).clone();
        let mut replacement = Replacement::new(old);
        for predicate in old.used_predicates() {
            let params = &old.predicate(predicate).params;
            let is_numeral = |p: &TermId| table.contains_key(&terms.sort_of(*p));
            if params.iter().any(is_numeral) {
                let sized = params.iter().map(|p| match is_numeral(p) {
                    true => terms.size(*p),
                    false => *p,
                });
                replacement.replace_by_terms(&mut system, predicate, sized);
            }
        }
        let written: FxHashMap<SortId, Rc<Written>> = table
            .iter()
            .map(|(&sort, &numeral)| (sort, Rc::new(Written::new(numeral, terms.clone()))))
            .collect();
        for clause in &mut system.clauses {
            if cx.stop().is_some() {
                return None;
            }
            let mut rewriter = Rewriter {
                terms: &terms,
                table: &table,
                new: FxHashMap::default(),
                facts: Vec::new(),
            };
            let mut origin = Origin::new(clause.id, Vec::new());
            for var in clause.vars(&terms) {
                if let Some(written) = written.get(&terms.sort_of(var)).cloned() {
                    let number = rewriter.number(var);
                    let value = move |values: &Assignment| {
                        // A number that the new clause does not mention may have any value.
                        let number = values.get(&number).copied();
                        written.value(number.unwrap_or_else(|| written.terms.int(0)))
                    };
                    origin.computed.push((var, Box::new(value)));
                }
            }
            if origin.computed.is_empty() && !rewriter.mentions(clause.constraint) {
                continue;
            }
            replacement.replace_atoms(clause, |atom| {
                let new = |a: &TermId| rewriter.new.get(a).copied().unwrap_or(*a);
                atom.args.iter().map(new).collect()
            });
            let constraint = rewriter.rewrite(clause.constraint);
            rewriter.facts.push(constraint);
            clause.constraint = terms.and(&rewriter.facts);
            replacement.note(clause.id, origin);
        }
        Some(replacement.step(system))
    }
}

/// The numerals of a sort that have been written as terms so far, by number.
struct Written {
    numeral: Numeral,
    terms: Rc<TermStore>,
    known: RefCell<Vec<TermId>>,
}

impl Written {
    fn new(numeral: Numeral, terms: Rc<TermStore>) -> Written {
        let zero = terms.construct(numeral.id, numeral.zero, &[]);
        Written {
            numeral,
            terms,
            known: RefCell::new(vec![zero]),
        }
    }

    /// The numeral with this value; `None` if it is negative or too large.
    fn value(&self, number: TermId) -> Option<TermId> {
        let number = self.terms.as_int(number)?.to_usize()?;
        let mut known = self.known.borrow_mut();
        while known.len() <= number.min(LIMITS.max_numeral) {
            let last = *known.last().expect("the list has zero");
            let next = self
                .terms
                .construct(self.numeral.id, self.numeral.successor, &[last]);
            known.push(next);
        }
        known.get(number).copied()
    }
}

/// The sorts of numerals that are used only as such.
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
    /// The replacement of each term; a number for a numeral.
    new: FxHashMap<TermId, TermId>,
    facts: Vec<TermId>,
}

impl Rewriter<'_> {
    /// A new variable that replaces a numeral about which nothing is known.
    fn number(&mut self, term: TermId) -> TermId {
        let terms = self.terms;
        let name = match stem(terms.var_name(term)) {
            "" => "numeral",
            name => name,
        };
        let number = terms.fresh_var(name, SortId::INT);
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
