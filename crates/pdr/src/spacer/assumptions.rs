//! Σ: Boolean variables (assumptions) that put parts of clauses in force (section 5,
//! "Abstractions").
//!
//! Invariant: assumptions occur only negatively in the guarded constraints, and under all of them a
//! guarded constraint is equivalent to the clause's constraint; so every subset of Σ is an
//! abstraction.

use rustc_hash::{FxHashMap, FxHashSet};

use super::options::Granularity;
use alphorn_chc::{Clause, PredicateId, System};
use alphorn_term::{Op, SortId, TermId, TermStore};

/// The assumptions of a system.
pub(super) struct Assumptions {
    /// Σ, in the order of the clauses, without repetitions.
    pub all: Vec<TermId>,
    /// The same as a set.
    set: FxHashSet<TermId>,
    /// By position of the clause.
    clauses: Vec<Guarded>,
}

/// The constraint of a clause with its assumptions.
struct Guarded {
    /// τ_Σ: the constraint with assumptions.
    constraint: TermId,
    /// The assumptions of the clause.
    own: Vec<TermId>,
    /// For granularity by arguments: the head's arguments with the variables that replace them.
    shadows: Vec<(TermId, TermId)>,
    /// For granularity by arguments: the constraint over these variables.
    shadowed: TermId,
}

impl Assumptions {
    /// Assumptions for all clauses.
    pub fn new(system: &System, granularity: Granularity) -> Self {
        let mut of_argument: FxHashMap<(PredicateId, usize), TermId> = FxHashMap::default();
        let clauses: Vec<Guarded> = system
            .clauses
            .iter()
            .map(|clause| match granularity {
                Granularity::Conjuncts => conjuncts(&system.terms, clause.constraint),
                Granularity::Literals => literals(&system.terms, clause.constraint),
                Granularity::Arguments => arguments(&system.terms, clause, &mut of_argument),
            })
            .collect();
        let mut set = FxHashSet::default();
        let own = clauses.iter().flat_map(|c| &c.own).copied();
        let all = own.filter(|&a| set.insert(a)).collect();
        Assumptions { all, set, clauses }
    }

    /// Whether a term is an assumption.
    pub fn is_one(&self, term: TermId) -> bool {
        self.set.contains(&term)
    }

    /// τ_Σ of a clause.
    pub fn guarded(&self, clause: usize) -> TermId {
        self.clauses[clause].constraint
    }

    /// The assumptions of a clause.
    pub fn own(&self, clause: usize) -> &[TermId] {
        &self.clauses[clause].own
    }

    /// The constraint of a clause under the assumptions in `chosen`, without assumptions.
    pub fn abstraction(
        &self,
        terms: &TermStore,
        clause: usize,
        chosen: &FxHashSet<TermId>,
    ) -> TermId {
        let clause = &self.clauses[clause];
        if clause.shadows.is_empty() {
            let map = clause
                .own
                .iter()
                .map(|&a| (a, terms.bool(chosen.contains(&a))))
                .collect();
            return terms.substitute(clause.constraint, &map);
        }
        // Arguments that are kept replace their variables.
        let pairs = clause.own.iter().zip(&clause.shadows);
        let map = pairs
            .filter(|(a, _)| chosen.contains(a))
            .map(|(_, &(arg, shadow))| (shadow, arg))
            .collect();
        terms.substitute(clause.shadowed, &map)
    }
}

/// A fresh assumption.
fn assumption(terms: &TermStore) -> TermId {
    terms.fresh_var("assume", SortId::BOOL)
}

/// One assumption for each conjunct of a constraint.
fn conjuncts(terms: &TermStore, constraint: TermId) -> Guarded {
    let parts = terms.conjuncts(constraint);
    let own: Vec<TermId> = parts.iter().map(|_| assumption(terms)).collect();
    let guarded: Vec<TermId> = parts
        .iter()
        .zip(&own)
        .map(|(&part, &a)| terms.implies(a, part))
        .collect();
    Guarded {
        constraint: terms.and(&guarded),
        own,
        shadows: Vec::new(),
        shadowed: TermId::TRUE,
    }
}

/// One assumption for each literal in the negation normal form of a constraint; all occurrences of
/// a literal share it.
fn literals(terms: &TermStore, constraint: TermId) -> Guarded {
    let mut own: Vec<TermId> = Vec::new();
    let mut done: FxHashMap<(TermId, bool), TermId> = FxHashMap::default();
    let mut stack = vec![(constraint, true, false)];
    while let Some((term, positive, visited)) = stack.pop() {
        if done.contains_key(&(term, positive)) {
            continue;
        }
        let args = terms.args(term);
        let parts: Vec<(TermId, bool)> = match terms.op(term) {
            Op::Not => vec![(args[0], !positive)],
            Op::And | Op::Or => args.iter().map(|&a| (a, positive)).collect(),
            Op::Ite => vec![
                (args[0], true),
                (args[0], false),
                (args[1], positive),
                (args[2], positive),
            ],
            _ => Vec::new(),
        };
        if !visited && !parts.is_empty() {
            stack.push((term, positive, true));
            stack.extend(parts.iter().map(|&(t, p)| (t, p, false)));
            continue;
        }
        let own_parts: Vec<TermId> = parts.iter().map(|p| done[p]).collect();
        let result = match terms.op(term) {
            Op::Not => own_parts[0],
            Op::And if positive => terms.and(&own_parts),
            Op::And => terms.or(&own_parts),
            Op::Or if positive => terms.or(&own_parts),
            Op::Or => terms.and(&own_parts),
            Op::Ite => terms.or(&[
                terms.and(&[own_parts[0], own_parts[2]]),
                terms.and(&[own_parts[1], own_parts[3]]),
            ]),
            _ => {
                let literal = if positive { term } else { terms.not(term) };
                if terms.is_value(literal) {
                    literal
                } else {
                    let a = assumption(terms);
                    own.push(a);
                    terms.implies(a, literal)
                }
            }
        };
        done.insert((term, positive), result);
    }
    // The stack finds the last literals first.
    own.reverse();
    Guarded {
        constraint: done[&(constraint, true)],
        own,
        shadows: Vec::new(),
        shadowed: TermId::TRUE,
    }
}

/// One assumption for each argument of the head predicate, shared by all clauses with this head
/// (`of_argument`): without it, the argument is independent of the constraint.
fn arguments(
    terms: &TermStore,
    clause: &Clause,
    of_argument: &mut FxHashMap<(PredicateId, usize), TermId>,
) -> Guarded {
    let args = clause.head.iter().flat_map(|head| {
        let args = head.args.iter().enumerate();
        args.map(|(position, &arg)| ((head.predicate, position), arg))
    });
    // Arguments that do not occur in the constraint are independent of it anyway.
    let free: FxHashSet<TermId> = terms.free_vars(&[clause.constraint]).into_iter().collect();
    let mut own: Vec<TermId> = Vec::new();
    let mut shadows: Vec<(TermId, TermId)> = Vec::new();
    for (argument, arg) in args.filter(|(_, arg)| free.contains(arg)) {
        let assumption = of_argument.entry(argument);
        own.push(*assumption.or_insert_with(|| self::assumption(terms)));
        let shadow = terms.fresh_copy(arg);
        shadows.push((arg, shadow));
    }
    let shadowed = terms.substitute(clause.constraint, &shadows.iter().copied().collect());
    let mut parts = vec![shadowed];
    let equations = shadows.iter().map(|&(arg, shadow)| terms.eq(arg, shadow));
    parts.extend(
        own.iter()
            .zip(equations)
            .map(|(&a, kept)| terms.implies(a, kept)),
    );
    Guarded {
        constraint: terms.and(&parts),
        own,
        shadows,
        shadowed,
    }
}
