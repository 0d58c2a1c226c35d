//! Selects the products that are useful.
//!
//! A counter is an argument that loops change by constants only. Where a loop adds a counter to
//! another argument, that argument becomes a sum, which is expressed by the counter's square. Where
//! it adds an argument that it does not change, the product of that argument and the loop's
//! counters is selected.
//!
//! Invariant: factors are steady: loops change them by constants only, or not at all.

use std::collections::BTreeMap;

use num_traits::{One, Zero};
use rustc_hash::FxHashMap;

use super::forms::Forms;
use crate::vinta::limits::LIMITS;
use alphorn_chc::{Clause, DependencyGraph, PredicateId, System};
use alphorn_term::{SortId, TermId};

/// Positions of the two factors, the smaller first.
type Pair = (usize, usize);

/// The selected products by predicate; no list is empty. `None` if there are none.
pub(super) fn demanded(
    system: &System,
    forms: &[Forms],
) -> Option<BTreeMap<PredicateId, Vec<Pair>>> {
    if system.clauses.len() > LIMITS.product_clauses {
        return None;
    }
    let mut demand = Demand::new(system, forms)?;
    for (clause, forms) in system.clauses.iter().zip(forms) {
        demand.sums(clause, forms);
    }
    while demand.changed {
        demand.changed = false;
        for (clause, forms) in system.clauses.iter().zip(forms) {
            demand.backwards(clause, forms);
            demand.forwards(clause, forms);
        }
    }
    (!demand.products.is_empty()).then_some(demand.products)
}

/// The selection so far.
struct Demand<'a> {
    system: &'a System,
    /// By predicate: its component of the dependency graph.
    component: FxHashMap<PredicateId, usize>,
    /// By predicate and position: whether the argument is steady.
    steady: FxHashMap<PredicateId, Vec<bool>>,
    /// The selected products.
    products: BTreeMap<PredicateId, Vec<Pair>>,
    /// The number of selected products.
    total: usize,
    /// Whether the last round changed anything.
    changed: bool,
}

impl<'a> Demand<'a> {
    fn new(system: &'a System, forms: &[Forms]) -> Option<Self> {
        let mut component = FxHashMap::default();
        let components = DependencyGraph::new(system).components();
        for (number, members) in components.into_iter().enumerate() {
            component.extend(members.into_iter().map(|p| (p, number)));
        }
        let mut steady = FxHashMap::default();
        for predicate in system.used_predicates() {
            let params = &system.predicate(predicate).params;
            if params.len() > LIMITS.product_arity {
                return None;
            }
            let number = |v: &TermId| {
                let sort = system.terms.sort_of(*v);
                sort == SortId::INT || sort == SortId::REAL
            };
            steady.insert(predicate, params.iter().map(number).collect());
        }
        let mut demand = Demand {
            system,
            component,
            steady,
            products: BTreeMap::new(),
            total: 0,
            changed: true,
        };
        while demand.changed {
            demand.changed = false;
            for (clause, forms) in system.clauses.iter().zip(forms) {
                demand.unsteady(clause, forms);
            }
        }
        demand.changed = true;
        Some(demand)
    }

    /// Whether the clause is a step of a loop.
    fn loops(&self, clause: &Clause) -> bool {
        let component = |p: PredicateId| self.component.get(&p);
        let head = clause.head.as_ref().map(|h| h.predicate);
        head.is_some_and(|h| {
            let mut body = clause.body.iter();
            body.any(|a| component(a.predicate) == component(h))
        })
    }

    /// Where the variable is in the body, if it is steady there.
    fn place(&self, clause: &Clause, var: TermId) -> Option<(PredicateId, usize)> {
        clause.body.iter().find_map(|atom| {
            let at = atom.args.iter().position(|&a| a == var)?;
            self.steady[&atom.predicate][at].then_some((atom.predicate, at))
        })
    }

    /// Marks the arguments of the head that a loop's step does not keep steady.
    fn unsteady(&mut self, clause: &Clause, forms: &Forms) {
        let Some(head) = clause.head.as_ref().filter(|_| self.loops(clause)) else {
            return;
        };
        for (at, &arg) in head.args.iter().enumerate() {
            if !self.steady[&head.predicate][at] {
                continue;
            }
            let form = forms.of(arg);
            let steady = match &form.monomials[..] {
                [] => true,
                [(var, factor)] => factor.is_one() && self.place(clause, *var).is_some(),
                _ => false,
            };
            if !steady && let Some(known) = self.steady.get_mut(&head.predicate) {
                known[at] = false;
                self.changed = true;
            }
        }
    }

    /// Selects the product of two steady arguments of the same sort, within the limits.
    fn add(&mut self, predicate: PredicateId, i: usize, j: usize) {
        let steady = &self.steady[&predicate];
        let sort = |at: usize| {
            self.system
                .terms
                .sort_of(self.system.predicate(predicate).params[at])
        };
        if !steady[i] || !steady[j] || sort(i) != sort(j) || self.total >= LIMITS.products {
            return;
        }
        let known = self.products.entry(predicate).or_default();
        let pair = (i.min(j), i.max(j));
        if known.len() < LIMITS.products_per_predicate && !known.contains(&pair) {
            known.push(pair);
            self.total += 1;
            self.changed = true;
        }
    }

    /// Selects the products for the sums that the clause, a loop's step, computes.
    fn sums(&mut self, clause: &Clause, forms: &Forms) {
        let Some(head) = clause.head.as_ref().filter(|_| self.loops(clause)) else {
            return;
        };
        // Steady arguments of the body that the step changes, and arguments that it adds.
        let mut counters: Vec<(PredicateId, usize)> = Vec::new();
        let mut addends: Vec<(PredicateId, usize)> = Vec::new();
        for (at, &arg) in head.args.iter().enumerate() {
            let form = forms.of(arg);
            match &form.monomials[..] {
                [(var, _)] if self.steady[&head.predicate][at] && !form.constant.is_zero() => {
                    counters.extend(self.place(clause, *var));
                }
                monomials if monomials.len() > 1 => {
                    let all = monomials.iter();
                    addends.extend(all.filter_map(|(v, _)| self.place(clause, *v)));
                }
                _ => {}
            }
        }
        for &(predicate, addend) in &addends {
            if counters.contains(&(predicate, addend)) {
                self.add(predicate, addend, addend);
                continue;
            }
            for &(other, counter) in &counters {
                if other == predicate {
                    self.add(predicate, addend, counter);
                }
            }
        }
    }

    /// Selects the products of the body in which the head's products are expressed.
    fn backwards(&mut self, clause: &Clause, forms: &Forms) {
        let Some(head) = &clause.head else {
            return;
        };
        for (i, j) in self
            .products
            .get(&head.predicate)
            .cloned()
            .unwrap_or_default()
        {
            let (a, b) = (forms.of(head.args[i]), forms.of(head.args[j]));
            for (x, _) in &a.monomials {
                for (y, _) in &b.monomials {
                    self.together(clause, *x, *y);
                }
            }
        }
    }

    /// Selects the product of two roots if they are arguments of the same atom.
    fn together(&mut self, clause: &Clause, x: TermId, y: TermId) {
        let (Some((p, i)), Some((q, j))) = (self.place(clause, x), self.place(clause, y)) else {
            return;
        };
        if p == q {
            self.add(p, i, j);
        }
    }

    /// Selects the products of the head that are equal to products of the body.
    fn forwards(&mut self, clause: &Clause, forms: &Forms) {
        let Some(head) = &clause.head else {
            return;
        };
        for atom in &clause.body {
            let products = self.products.get(&atom.predicate).cloned();
            for (i, j) in products.unwrap_or_default() {
                let with = |factor: usize| -> Vec<usize> {
                    let [(root, _)] = forms.of(atom.args[factor]).monomials[..] else {
                        return Vec::new();
                    };
                    let args = head.args.iter().enumerate();
                    let like = |arg: TermId| {
                        let form = forms.of(arg);
                        matches!(&form.monomials[..], [(var, c)] if *var == root && c.is_one())
                    };
                    args.filter(|(_, a)| like(**a)).map(|(at, _)| at).collect()
                };
                let (left, right) = (with(i), with(j));
                for &i in &left {
                    for &j in &right {
                        self.add(head.predicate, i, j);
                    }
                }
            }
        }
    }
}
