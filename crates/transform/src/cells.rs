//! Replaces arrays that are read and written at constant indexes only by scalars, one for each
//! index.
//!
//! Arrays form classes: arrays that are compared, stored from each other, chosen between, or passed
//! for the same argument. If all reads and writes of a class have constant indexes, and its arrays
//! are compared in positive positions only, then the other elements matter only as a whole, and one
//! more scalar represents them. Classes are replaced independently.
//!
//! Invariant: a derivation of the new system is one of the old system, with arrays that have the
//! same element at all other indexes. A model of the new system, read at the constant indexes and
//! one other index, is a model of the old one, since every constraint of the old system implies the
//! new one at these indexes.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::components::{Plan, Plans, take_apart};
use super::{Place, Step, Transformation};
use alphorn_chc::{PredicateId, System};
use alphorn_term::run::Context;
use alphorn_term::{BigInt, BigUint, Op, Rational, Sort, SortId, TermId, TermStore};

/// The limits of the pass.
struct Limits {
    /// Constant indexes of a class; arrays with more are not replaced.
    max_cells: usize,
    /// New arguments of all predicates together, beyond as many as there are; further classes are
    /// not replaced.
    max_growth: usize,
    /// Arguments of an expanded predicate; a class that would need more, and more than before, is
    /// not replaced.
    max_arity: usize,
}

const LIMITS: Limits = Limits {
    max_cells: 24,
    max_growth: 1000,
    max_arity: 2048,
};

/// The pass.
pub struct Cells;

impl Transformation for Cells {
    fn apply(&mut self, old: &Rc<System>, cx: &mut Context) -> Option<Step> {
        take_apart(old, &plan(old), cx)
    }
}

/// Classes of arrays: a union-find forest over numbered nodes.
#[derive(Default)]
struct Classes {
    parent: Vec<usize>,
    places: FxHashMap<Place, usize>,
    /// Reads and writes at constant indexes.
    accesses: Vec<(usize, TermId)>,
    /// Arrays that must not be replaced.
    refused: Vec<usize>,
}

impl Classes {
    fn node(&mut self) -> usize {
        self.parent.push(self.parent.len());
        self.parent.len() - 1
    }

    fn place(&mut self, place: (PredicateId, usize)) -> usize {
        match self.places.get(&place) {
            Some(&node) => node,
            None => {
                let node = self.node();
                self.places.insert(place, node);
                node
            }
        }
    }

    fn find(&mut self, node: usize) -> usize {
        let mut root = node;
        while self.parent[root] != root {
            self.parent[root] = self.parent[self.parent[root]];
            root = self.parent[root];
        }
        root
    }

    fn union(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b)] = a.min(b);
    }
}

/// Sorts the arrays of a clause into classes; returns the nodes of its variables.
fn classify(
    terms: &TermStore,
    constraint: TermId,
    vars: &[TermId],
    classes: &mut Classes,
) -> FxHashMap<TermId, usize> {
    let mut nodes: FxHashMap<TermId, usize> = FxHashMap::default();
    for &var in vars {
        if terms.is_array(var) {
            nodes.insert(var, classes.node());
        }
    }
    let positive = positive_equations(terms, constraint);
    // Nodes of array terms. Ground arrays have no node, since they may belong to several classes.
    let mut made = nodes.clone();
    terms.post_order(&[constraint], |t| {
        let node = terms.node(t);
        if terms.is_array(t) && !node.is_ground {
            let own = match node.op {
                Op::Var(_) => match made.get(&t) {
                    Some(&own) => own,
                    None => {
                        // It is bound by a quantifier.
                        let own = classes.node();
                        classes.refused.push(own);
                        own
                    }
                },
                Op::Store | Op::Ite | Op::ConstArray => classes.node(),
                _ => {
                    let own = classes.node();
                    classes.refused.push(own);
                    own
                }
            };
            made.insert(t, own);
        }
        let class = |t: TermId| made.get(&t).copied();
        match node.op {
            Op::Store => {
                if let Some(own) = class(t) {
                    if let Some(below) = class(node.args[0]) {
                        classes.union(own, below);
                    } else {
                        note_stores(terms, node.args[0], own, classes);
                    }
                    if terms.is_value(node.args[1]) {
                        classes.accesses.push((own, node.args[1]));
                    } else {
                        classes.refused.push(own);
                    }
                }
                refuse(terms, &node.args[1..], &made, classes);
            }
            Op::Select => {
                if let Some(array) = class(node.args[0]) {
                    if terms.is_value(node.args[1]) {
                        classes.accesses.push((array, node.args[1]));
                    } else {
                        classes.refused.push(array);
                    }
                }
                refuse(terms, &node.args[1..], &made, classes);
            }
            Op::Ite if terms.is_array(t) => {
                if let Some(own) = class(t) {
                    for &branch in &node.args[1..] {
                        match class(branch) {
                            Some(branch) => classes.union(own, branch),
                            None => note_stores(terms, branch, own, classes),
                        }
                    }
                }
            }
            Op::Eq if terms.is_array(node.args[0]) => {
                let sides = [class(node.args[0]), class(node.args[1])];
                for (side, other) in [(0, 1), (1, 0)] {
                    if let Some(own) = sides[side] {
                        if !positive.contains(&t) {
                            classes.refused.push(own);
                        }
                        match sides[other] {
                            Some(other) => classes.union(own, other),
                            None => note_stores(terms, node.args[other], own, classes),
                        }
                    }
                }
            }
            // Arrays as elements, as arguments of constructors, and in any other position.
            _ => refuse(terms, &node.args, &made, classes),
        }
    });
    nodes
}

fn refuse(
    terms: &TermStore,
    args: &[TermId],
    made: &FxHashMap<TermId, usize>,
    classes: &mut Classes,
) {
    for &arg in args {
        if terms.is_array(arg)
            && let Some(&node) = made.get(&arg)
        {
            classes.refused.push(node);
        }
    }
}

/// The stores of a ground array count as writes of the class in which it occurs.
fn note_stores(terms: &TermStore, array: TermId, class: usize, classes: &mut Classes) {
    let mut stack = vec![array];
    while let Some(t) = stack.pop() {
        let node = terms.node(t);
        match node.op {
            Op::Store if terms.is_value(node.args[1]) => {
                classes.accesses.push((class, node.args[1]));
                stack.push(node.args[0]);
            }
            Op::ConstArray => {}
            _ => classes.refused.push(class),
        }
    }
}

/// Equations that occur only under conjunctions and disjunctions.
fn positive_equations(terms: &TermStore, constraint: TermId) -> FxHashSet<TermId> {
    let mut positive = FxHashSet::default();
    let mut elsewhere: Vec<TermId> = Vec::new();
    let mut seen = FxHashSet::default();
    let mut stack = vec![constraint];
    while let Some(t) = stack.pop() {
        if !seen.insert(t) {
            continue;
        }
        let node = terms.node(t);
        match node.op {
            Op::And | Op::Or => stack.extend_from_slice(&node.args),
            Op::Eq => {
                positive.insert(t);
                elsewhere.extend_from_slice(&node.args);
            }
            _ => elsewhere.push(t),
        }
    }
    terms.post_order(&elsewhere, |t| {
        positive.remove(&t);
    });
    positive
}

/// An index that is none of these; `None` if there may be none.
fn another(terms: &TermStore, sort: SortId, indexes: &[TermId]) -> Option<TermId> {
    match terms.sort(sort) {
        Sort::Int => {
            let greatest = indexes.iter().filter_map(|&i| terms.as_int(i)).max();
            Some(terms.int(greatest.map_or(BigInt::ZERO, |g| g + 1)))
        }
        Sort::Real => {
            let greatest = indexes.iter().filter_map(|&i| terms.numeral(i)).max();
            let one = Rational::from_integer(1.into());
            Some(terms.real(greatest.map_or(one.clone(), |g| g + one)))
        }
        Sort::BitVec(width) => {
            let size = terms.domain_size(sort).unwrap_or(u64::MAX);
            let candidates = (0..=indexes.len() as u64).take_while(|&c| c < size);
            candidates
                .map(|c| terms.bitvec(BigUint::from(c), width))
                .find(|c| !indexes.contains(c))
        }
        _ => None,
    }
}

fn plan(system: &System) -> Plans {
    let terms = &*system.terms;
    let mut classes = Classes::default();
    let mut nodes: Vec<FxHashMap<TermId, usize>> = Vec::with_capacity(system.clauses.len());
    for clause in &system.clauses {
        let vars = clause.vars(terms);
        let own = classify(terms, clause.constraint, &vars, &mut classes);
        for atom in clause.atoms() {
            for (i, arg) in atom.args.iter().enumerate() {
                if let Some(&node) = own.get(arg) {
                    let place = classes.place((atom.predicate, i));
                    classes.union(node, place);
                }
            }
        }
        nodes.push(own);
    }
    let refused: Vec<usize> = std::mem::take(&mut classes.refused);
    let refused: FxHashSet<usize> = refused.into_iter().map(|n| classes.find(n)).collect();
    let mut indexes: FxHashMap<usize, Vec<TermId>> = FxHashMap::default();
    for (node, index) in std::mem::take(&mut classes.accesses) {
        let root = classes.find(node);
        indexes.entry(root).or_default().push(index);
    }
    let mut shared: FxHashMap<usize, Option<Rc<Plan>>> = FxHashMap::default();
    let mut plan_of = |node: usize, var: TermId, classes: &mut Classes| {
        let root = classes.find(node);
        if refused.contains(&root) {
            return None;
        }
        let make = || {
            let mut own = indexes.get(&root).cloned().unwrap_or_default();
            own.sort_unstable();
            own.dedup();
            let Sort::Array(index, _) = terms.sort(terms.sort_of(var)) else {
                return None;
            };
            let other = another(terms, index, &own)?;
            (own.len() <= LIMITS.max_cells).then(|| {
                Rc::new(Plan {
                    indexes: own,
                    other,
                })
            })
        };
        shared.entry(root).or_insert_with(make).clone()
    };
    let mut plans = Plans::default();
    // Classes with few cells first, until a predicate would become too large.
    let mut found: FxHashMap<usize, (Rc<Plan>, Vec<Place>)> = FxHashMap::default();
    let places: Vec<(Place, usize)> = classes.places.iter().map(|(p, n)| (*p, *n)).collect();
    for (place, node) in places {
        let param = system.predicate(place.0).params[place.1];
        if let Some(plan) = plan_of(node, param, &mut classes) {
            let root = classes.find(node);
            let class = found.entry(root).or_insert_with(|| (plan, Vec::new()));
            class.1.push(place);
        }
    }
    let cells = |plan: &Plan| plan.indexes.len();
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_unstable_by_key(|(root, (plan, places))| (cells(plan) * places.len(), *root));
    let used = system.used_predicates();
    let mut arity: FxHashMap<PredicateId, usize> = used
        .iter()
        .map(|&p| (p, system.predicate(p).arity()))
        .collect();
    let mut too_large: FxHashSet<usize> = FxHashSet::default();
    let mut growth = LIMITS.max_growth + arity.values().sum::<usize>();
    for (root, (plan, places)) in found {
        let more = cells(&plan) * places.len();
        let mut larger: FxHashMap<PredicateId, usize> = FxHashMap::default();
        for (predicate, _) in &places {
            let size = larger.entry(*predicate).or_insert_with(|| arity[predicate]);
            *size += cells(&plan);
        }
        let fits = |(p, size): (&PredicateId, &usize)| {
            *size <= LIMITS.max_arity.max(system.predicate(*p).arity())
        };
        if more > growth || !larger.iter().all(fits) {
            too_large.insert(root);
            continue;
        }
        growth -= more;
        arity.extend(larger);
        let planned = places.into_iter().map(|p| (p, plan.clone()));
        plans.places.extend(planned);
    }
    for own in nodes {
        let planned = own.into_iter().filter_map(|(var, node)| {
            let plan = plan_of(node, var, &mut classes)?;
            (!too_large.contains(&classes.find(node))).then_some((var, plan))
        });
        plans.vars.push(planned.collect());
    }
    plans
}
