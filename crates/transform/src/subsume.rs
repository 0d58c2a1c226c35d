//! Drops clauses and body atoms that others imply.
//!
//! A clause is subsumed by a clause with the same head whose body atoms are among its own and whose
//! conjuncts follow from its own: equal conjuncts, weaker bounds on the same sum, or disjunctions
//! with one of its disjuncts. Atoms are matched in their order, and for repeated predicates in a
//! few other orders; local variables are matched by rank. A body atom is dropped if another atom of
//! the same predicate has equal arguments wherever the constraint mentions them (condensation: the
//! clause without the atom subsumes the clause).
//!
//! Candidates come from an index of conjuncts, by the rarest conjunct. The number of tests is
//! bounded, so the pass is nearly linear.
//!
//! Invariant: what is dropped is implied syntactically by what is kept, so models stay models; a
//! step of a condensed clause uses a premise twice.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::equalities::Equalities;
use super::replacement::{Origin, Replacement};
use super::{Step, Transformation};
use alphorn_arith::Comparison;
use alphorn_chc::{Clause, ClauseIndex, PredicateId, System};
use alphorn_term::run::Context;
use alphorn_term::{Op, Rational, SortId, TermId, TermStore};

/// The limits of the pass.
struct Limits {
    /// Tests of pairs of clauses, for each clause of the system; at the limit the other clauses are
    /// kept.
    tests_per_clause: usize,
    /// Tests of pairs of clauses that are always allowed.
    min_tests: usize,
    /// Orders in which the atoms of one predicate are matched.
    max_orders: usize,
    /// Body atoms of one predicate that are compared for condensation.
    max_atoms: usize,
}

const LIMITS: Limits = Limits {
    tests_per_clause: 40,
    min_tests: 1000,
    max_orders: 6,
    max_atoms: 16,
};

/// The pass. During a run it remembers the groups of clauses in which it found nothing.
#[derive(Default)]
pub struct Subsume {
    settled: FxHashMap<Option<PredicateId>, u64>,
    names: Names,
}

impl Transformation for Subsume {
    fn apply(&mut self, old: &Rc<System>, cx: &mut Context) -> Option<Step> {
        let terms = old.terms.clone();
        let mut system = (**old).clone();
        let mut replacement = Replacement::new(old);
        let index = ClauseIndex::new(old);
        let heads = old.used_predicates().into_iter();
        let mut groups: Vec<(Option<PredicateId>, &[usize])> =
            heads.map(|p| (Some(p), index.deriving(p))).collect();
        groups.push((None, index.queries()));
        groups.retain(|g| !g.1.is_empty());
        groups.sort_unstable_by_key(|g| g.1[0]);
        let mut alive = vec![true; old.clauses.len()];
        let mut tests = LIMITS.min_tests + LIMITS.tests_per_clause * old.clauses.len();
        for (head, members) in groups {
            if cx.stop().is_some() {
                break;
            }
            let print = fingerprint(old, members);
            if self.settled.get(&head) == Some(&print) {
                continue;
            }
            for &index in members {
                let clause = &mut system.clauses[index];
                if let Some(premises) = condense(&terms, clause) {
                    let mut origin = Origin::new(clause.id, Vec::new());
                    origin.premises = Some(premises);
                    replacement.note(clause.id, origin);
                }
            }
            if members.len() > 1 {
                let shapes: Vec<Shape> = members
                    .iter()
                    .map(|&i| Shape::of(&terms, &system.clauses[i], &mut self.names))
                    .collect();
                for place in subsumed(&terms, &shapes, &mut self.names, &mut tests, cx) {
                    alive[members[place]] = false;
                }
            }
            let mut left = members.to_vec();
            left.retain(|&i| alive[i]);
            self.settled.insert(head, fingerprint(&system, &left));
        }
        let changed = !replacement.is_empty() || alive.contains(&false);
        let mut index = 0;
        system.clauses.retain(|_| {
            index += 1;
            alive[index - 1]
        });
        changed.then(|| replacement.step(system))
    }
}

fn fingerprint(system: &System, members: &[usize]) -> u64 {
    let mut hasher = FxHasher::default();
    for &index in members {
        let clause = &system.clauses[index];
        (clause.id, clause.constraint, clause.body.len()).hash(&mut hasher);
        for atom in clause.atoms() {
            atom.predicate.hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// Drops body atoms that other body atoms imply. Returns for each old body atom the position of the
/// atom that replaces it; `None` if all are kept.
fn condense(terms: &TermStore, clause: &mut Clause) -> Option<Vec<usize>> {
    let mut by_predicate: FxHashMap<PredicateId, Vec<usize>> = FxHashMap::default();
    for (at, atom) in clause.body.iter().enumerate() {
        by_predicate.entry(atom.predicate).or_default().push(at);
    }
    if by_predicate.len() == clause.body.len() {
        return None;
    }
    let mut equal = Equalities::new(terms);
    let mut constrained: FxHashSet<TermId> = FxHashSet::default();
    for conjunct in terms.conjuncts(clause.constraint) {
        constrained.extend(terms.free_vars(&[conjunct]));
        let node = terms.node(conjunct);
        if node.op == Op::Eq && terms.is_var(node.args[0]) && terms.is_var(node.args[1]) {
            equal.union(node.args[0], node.args[1]);
        }
    }
    let mut stands_for: Vec<usize> = (0..clause.body.len()).collect();
    for positions in by_predicate.into_values() {
        // Few atoms share a predicate, so the quadratic search is cheap.
        for &at in positions.iter().take(LIMITS.max_atoms) {
            let covered = positions.iter().take(LIMITS.max_atoms).find(|&&by| {
                by != at
                    && stands_for[by] == by
                    && clause.body[at]
                        .args
                        .iter()
                        .zip(&clause.body[by].args)
                        .all(|(a, b)| !constrained.contains(a) || equal.are_equal(*a, *b))
            });
            if let Some(&by) = covered {
                for place in &mut stands_for {
                    if *place == at {
                        *place = by;
                    }
                }
            }
        }
    }
    let kept: Vec<usize> = (0..clause.body.len())
        .filter(|&at| stands_for[at] == at)
        .collect();
    if kept.len() == clause.body.len() {
        return None;
    }
    clause.body = kept.iter().map(|&at| clause.body[at].clone()).collect();
    let position = |at: usize| kept.binary_search(&at).unwrap_or(0);
    Some(stands_for.into_iter().map(position).collect())
}

/// Canonical variables for positions in a clause.
#[derive(Default)]
struct Names {
    table: FxHashMap<(Place, SortId), TermId>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    Head(usize),
    /// Predicate, occurrence among its atoms, argument.
    Body(PredicateId, usize, usize),
    Local(usize),
}

impl Names {
    fn get(&mut self, terms: &TermStore, place: Place, sort: SortId) -> TermId {
        *self
            .table
            .entry((place, sort))
            .or_insert_with(|| terms.fresh_var("#", sort))
    }
}

/// A clause with its variables renamed canonically.
struct Shape {
    /// For each predicate of the body, the number of its atoms and the sorts of its arguments.
    body: FxHashMap<PredicateId, (usize, Rc<[SortId]>)>,
    conjuncts: Vec<TermId>,
    /// The index key of each conjunct, the same for all occurrences of a predicate.
    features: Vec<Feature>,
    set: FxHashSet<TermId>,
    ranges: FxHashMap<(TermId, TermId), Range>,
}

#[derive(Default)]
struct Range {
    lower: Option<(Rational, bool)>,
    upper: Option<(Rational, bool)>,
}

impl Shape {
    fn of(terms: &TermStore, clause: &Clause, names: &mut Names) -> Shape {
        let mut body: FxHashMap<PredicateId, (usize, Rc<[SortId]>)> = FxHashMap::default();
        let mut places: FxHashMap<TermId, Place> = FxHashMap::default();
        for atom in &clause.body {
            let entry = body.entry(atom.predicate).or_insert_with(|| {
                let sorts = atom.args.iter().map(|&a| terms.sort_of(a)).collect();
                (0, sorts)
            });
            entry.0 += 1;
            let count = entry.0;
            for (i, &arg) in atom.args.iter().enumerate() {
                places.insert(arg, Place::Body(atom.predicate, count - 1, i));
            }
        }
        for (i, &arg) in clause.head.iter().flat_map(|h| &h.args).enumerate() {
            places.insert(arg, Place::Head(i));
        }
        let mut locals = 0;
        let map: FxHashMap<TermId, TermId> = terms
            .free_vars(&[clause.constraint])
            .into_iter()
            .map(|var| {
                let place = places.get(&var).copied().unwrap_or_else(|| {
                    locals += 1;
                    Place::Local(locals - 1)
                });
                (var, names.get(terms, place, terms.sort_of(var)))
            })
            .collect();
        let mut shape = Shape::over(terms, body, terms.substitute(clause.constraint, &map));
        let mut first: FxHashMap<TermId, TermId> = FxHashMap::default();
        for (&predicate, (count, sorts)) in &shape.body {
            for at in 1..*count {
                for (i, &sort) in sorts.iter().enumerate() {
                    let own = names.get(terms, Place::Body(predicate, at, i), sort);
                    let other = names.get(terms, Place::Body(predicate, 0, i), sort);
                    first.insert(own, other);
                }
            }
        }
        let mut memo = FxHashMap::default();
        shape.features = shape
            .conjuncts
            .iter()
            .map(|&c| feature(terms, terms.substitute_with(c, &first, &mut memo)))
            .collect();
        shape
    }

    fn over(
        terms: &TermStore,
        body: FxHashMap<PredicateId, (usize, Rc<[SortId]>)>,
        constraint: TermId,
    ) -> Shape {
        let conjuncts = terms.conjuncts(constraint);
        let mut ranges: FxHashMap<(TermId, TermId), Range> = FxHashMap::default();
        for &conjunct in &conjuncts {
            let Some(Comparison {
                sides: key,
                value,
                lower,
                upper,
                strict,
            }) = Comparison::of(terms, conjunct)
            else {
                continue;
            };
            let range = ranges.entry(key).or_default();
            // Simplification leaves at most one bound on each side.
            if lower {
                range.lower = Some((value.clone(), strict));
            }
            if upper {
                range.upper = Some((value, strict));
            }
        }
        Shape {
            body,
            set: conjuncts.iter().copied().collect(),
            conjuncts,
            features: Vec::new(),
            ranges,
        }
    }

    /// Whether the shape's conjuncts imply this one, syntactically.
    fn implies(&self, terms: &TermStore, conjunct: TermId) -> bool {
        if self.set.contains(&conjunct) {
            return true;
        }
        if let Some(c) = Comparison::of(terms, conjunct) {
            let Some(range) = self.ranges.get(&c.sides) else {
                return false;
            };
            let enough = |own: &Option<(Rational, bool)>, lower: bool| match own {
                None => false,
                Some((value, strict)) if *value == c.value => *strict || !c.strict,
                Some((value, _)) => (*value > c.value) == lower,
            };
            return (!c.lower || enough(&range.lower, true))
                && (!c.upper || enough(&range.upper, false));
        }
        *terms.op(conjunct) == Op::Or
            && terms.args(conjunct).iter().any(|&d| {
                self.set.contains(&d) || {
                    let bound = matches!(terms.op(d), Op::Le | Op::Ge);
                    bound && self.implies(terms, d)
                }
            })
    }
}

/// The index key of a conjunct.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Feature {
    Conjunct(TermId),
    Form(TermId, TermId),
}

fn feature(terms: &TermStore, conjunct: TermId) -> Feature {
    match Comparison::of(terms, conjunct) {
        Some(c) => Feature::Form(c.sides.0, c.sides.1),
        None => Feature::Conjunct(conjunct),
    }
}

/// The positions of shapes that another shape subsumes. The other shape is kept, or in the end also
/// subsumed by one that is kept.
fn subsumed(
    terms: &TermStore,
    shapes: &[Shape],
    names: &mut Names,
    tests: &mut usize,
    cx: &Context,
) -> Vec<usize> {
    let mut index: FxHashMap<Feature, Vec<usize>> = FxHashMap::default();
    for (at, shape) in shapes.iter().enumerate() {
        for &feature in &shape.features {
            let list = index.entry(feature).or_default();
            if list.last() != Some(&at) {
                list.push(at);
            }
        }
    }
    let everyone: Vec<usize> = (0..shapes.len()).collect();
    let mut gone = vec![false; shapes.len()];
    let mut result = Vec::new();
    for (at, shape) in shapes.iter().enumerate() {
        if gone[at] {
            continue;
        }
        if at % 64 == 0 && cx.stop().is_some() {
            break;
        }
        let mut orders: Option<Vec<Shape>> = None;
        // A disjunction may be implied by other conjuncts, so it gives no candidates.
        let rarest = shape
            .conjuncts
            .iter()
            .zip(&shape.features)
            .filter(|(c, _)| *terms.op(**c) != Op::Or)
            .map(|(_, feature)| index.get(feature).map_or(&[][..], |l| l))
            .min_by_key(|l| l.len());
        for &other in rarest.unwrap_or(&everyone) {
            if other == at || gone[other] {
                continue;
            }
            let target = &shapes[other];
            let fits = shape.body.iter().all(|(predicate, (count, _))| {
                target.body.get(predicate).is_some_and(|t| t.0 >= *count)
            });
            if !fits {
                continue;
            }
            if *tests == 0 {
                return result;
            }
            *tests -= 1;
            let subsumes = |s: &Shape| s.conjuncts.iter().all(|&c| target.implies(terms, c));
            let found = subsumes(shape)
                || target.body.values().any(|t| t.0 > 1)
                    && orders
                        .get_or_insert_with(|| other_orders(terms, shape, target, names))
                        .iter()
                        .any(subsumes);
            if found {
                gone[other] = true;
                result.push(other);
            }
        }
    }
    result
}

/// The shape with the atoms of one repeated predicate matched to other atoms of the target.
fn other_orders(terms: &TermStore, shape: &Shape, target: &Shape, names: &mut Names) -> Vec<Shape> {
    let mut result = Vec::new();
    let mut predicates: Vec<PredicateId> = shape.body.keys().copied().collect();
    predicates.sort_unstable();
    for predicate in predicates {
        let (count, sorts) = &shape.body[&predicate];
        let places = target.body.get(&predicate).map_or(0, |t| t.0);
        if places < 2 || *count > 2 {
            continue;
        }
        for first in 0..places {
            for second in 0..places {
                let moved = match count {
                    1 if second == 0 => vec![first],
                    2 if first != second => vec![first, second],
                    _ => continue,
                };
                if result.len() >= LIMITS.max_orders {
                    return result;
                }
                let mut map: FxHashMap<TermId, TermId> = FxHashMap::default();
                for (from, &to) in moved.iter().enumerate() {
                    for (i, &sort) in sorts.iter().enumerate() {
                        let old = names.get(terms, Place::Body(predicate, from, i), sort);
                        let new = names.get(terms, Place::Body(predicate, to, i), sort);
                        map.insert(old, new);
                    }
                }
                let whole = terms.and(&shape.conjuncts);
                let whole = terms.substitute(whole, &map);
                result.push(Shape::over(terms, shape.body.clone(), whole));
            }
        }
    }
    result
}
