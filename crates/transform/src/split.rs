//! Splits clauses at disjunctions into one clause for each disjunct, if that simplifies them.
//!
//! Splits are tried at disjunctions and conditionals among the conjuncts, at equations between
//! formulas, and at the conditions of conditional terms. A split is made if a case is contradictory
//! or trivial (its head is among its body atoms), if a local variable can be eliminated in a case,
//! if an argument gets an equation that it did not have, or if nothing grows. `simplify` handles
//! other case distinctions (Boolean local variables, literals that others decide); this pass waits
//! for the iterated passes and considers reduced constraints only.
//!
//! A clause is split until no further split is useful, or not at all: engines are slower on
//! transition relations that are split halfway. One budget bounds the growth in a run, and no pass
//! joins clauses again, so the passes terminate.
//!
//! Invariant: a clause is equivalent to the conjunction of its cases, and a step of a case is a
//! step of the clause with the same values.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::isolate::definable;
use super::reduce::reduce;
use super::replacement::{Origin, Replacement};
use super::simplify::is_tautology;
use super::{Step, Transformation, clause_size};
use alphorn_chc::{Clause, ClauseId, System};
use alphorn_term::run::Context;
use alphorn_term::{Op, SortId, TermId, TermStore};

/// The limits of the pass.
struct Limits {
    /// Clauses that one clause may become; a clause that needs more is not split.
    max_cases: usize,
    /// Ways to split one constraint that are tried.
    max_attempts: usize,
    /// Nodes of a constraint that is split; a larger one is not considered.
    max_constraint_nodes: usize,
    /// Clauses that may always be added in a run.
    min_clause_budget: usize,
    /// Size that may always be added in a run.
    min_size_budget: usize,
    /// Visits of terms that are always allowed in a run; at the limit no clause is split.
    min_visits: usize,
    /// Visits of terms that are allowed in addition for each unit of the system's size.
    visits_per_node: usize,
    /// Visits of terms that are allowed at any time.
    max_visits: usize,
}

const LIMITS: Limits = Limits {
    max_cases: 8,
    max_attempts: 8,
    max_constraint_nodes: 2_000,
    min_clause_budget: 16,
    min_size_budget: 2_000,
    min_visits: 100_000,
    visits_per_node: 60,
    max_visits: 500_000,
};

/// The pass. During a run it remembers the clauses that it cannot split, and its budget. The budget
/// grows by half of what other passes add to the system between two applications. In small systems,
/// the budget spent on clauses that other passes drop is available again.
#[derive(Default)]
pub struct Split {
    settled: FxHashSet<(ClauseId, TermId)>,
    budget: Option<Budget>,
}

struct Budget {
    /// Clauses that may still be added.
    clauses: usize,
    /// Size that may still be added.
    size: usize,
    /// Terms that may still be visited.
    fuel: usize,
    /// The size of the system after the last application.
    known: Extent,
}

/// The size of a system.
#[derive(Clone, Copy, Default)]
struct Extent {
    clauses: usize,
    size: usize,
}

impl Extent {
    fn of(system: &System) -> Self {
        let terms = &system.terms;
        let sizes = system
            .clauses
            .iter()
            .map(|c| clause_size(terms, c, c.constraint));
        Extent {
            clauses: system.clauses.len(),
            size: sizes.sum(),
        }
    }
}

impl Budget {
    fn new() -> Self {
        Budget {
            clauses: LIMITS.min_clause_budget,
            size: LIMITS.min_size_budget,
            fuel: LIMITS.min_visits,
            known: Extent::default(),
        }
    }

    /// Adds half of what the system has grown since the last application, or what it has shrunk,
    /// the latter up to the budget of small systems.
    fn follow(&mut self, system: Extent) {
        let follow = |left: &mut usize, known: usize, now: usize, small: usize| match now > known {
            true => *left += (now - known) / 2,
            false => *left = (*left + (known - now)).min(small.max(*left)),
        };
        let known = self.known;
        let new = system.size.saturating_sub(known.size);
        follow(
            &mut self.clauses,
            known.clauses,
            system.clauses,
            LIMITS.min_clause_budget,
        );
        follow(
            &mut self.size,
            known.size,
            system.size,
            LIMITS.min_size_budget,
        );
        self.fuel = (self.fuel + LIMITS.visits_per_node * new).min(LIMITS.max_visits);
    }
}

/// One of the clauses that a clause becomes.
struct Case {
    constraint: TermId,
    /// Definitions of eliminated local variables of the clause, in the order of evaluation.
    definitions: Vec<(TermId, TermId)>,
    measure: Measure,
}

/// The measures by which a case is compared with what it was split from.
#[derive(Clone, Copy)]
struct Measure {
    size: usize,
    locals: usize,
    /// The number of arguments that an equation defines.
    defined: usize,
}

/// The remaining cases of a split, and its effect.
struct Found {
    cases: Vec<Case>,
    gain: usize,
    growth: usize,
}

impl Transformation for Split {
    fn apply(&mut self, old: &Rc<System>, cx: &mut Context) -> Option<Step> {
        // Without predicates one query remains, and a solver handles its cases.
        if old.used_predicates().is_empty() {
            return None;
        }
        let mut system = (**old).clone();
        let terms = old.terms.clone();
        let budget = self.budget.get_or_insert_with(Budget::new);
        budget.follow(Extent::of(old));
        let mut replacement = Replacement::new(old);
        system.clauses.clear();
        for clause in &old.clauses {
            let known = self.settled.contains(&(clause.id, clause.constraint));
            let cases = if known || cx.stop().is_some() {
                None
            } else {
                Splitter::new(&terms, clause).run(budget, cx)
            };
            let Some(cases) = cases else {
                self.settled.insert((clause.id, clause.constraint));
                system.clauses.push(clause.clone());
                continue;
            };
            for case in cases {
                let id = system.fresh_clause_id();
                self.settled.insert((id, case.constraint));
                replacement.note(id, Origin::new(clause.id, case.definitions));
                system.clauses.push(Clause {
                    id,
                    constraint: case.constraint,
                    ..clause.clone()
                });
            }
        }
        budget.known = Extent::of(&system);
        let fewer = system.clauses.len() < old.clauses.len();
        (fewer || !replacement.is_empty()).then(|| replacement.step(system))
    }
}

/// The ways to split a constraint.
enum Choice {
    /// The conjunct at this position is one of these formulas.
    Either(usize, Vec<TermId>),
    /// A subformula is true, or false.
    Whether(TermId),
}

struct Splitter<'a> {
    terms: &'a TermStore,
    clause: &'a Clause,
    rank: FxHashMap<TermId, u32>,
}

impl<'a> Splitter<'a> {
    fn new(terms: &'a TermStore, clause: &'a Clause) -> Self {
        let args = clause.atoms().flat_map(|a| a.args.iter().copied());
        Splitter {
            terms,
            clause,
            rank: args.zip(0..).collect(),
        }
    }

    /// The clause's cases; `None` if it is not split.
    fn run(&self, budget: &mut Budget, cx: &Context) -> Option<Vec<Case>> {
        let terms = self.terms;
        if !self.has_choice()
            || terms.dag_size(&[self.clause.constraint]) > LIMITS.max_constraint_nodes
        {
            return None;
        }
        let whole = self.case(self.clause.constraint, &[], budget)?;
        let mut open = vec![whole];
        let mut closed: Vec<Case> = Vec::new();
        let mut splits = 0;
        let mut growth = 0;
        while let Some(case) = open.pop() {
            match self.best(&case, budget, cx) {
                Some(found) => {
                    splits += 1;
                    growth += found.growth;
                    open.extend(found.cases.into_iter().rev());
                    // A clause that needs more cases than this is not split at all.
                    let count = open.len() + closed.len();
                    if count > LIMITS.max_cases || count > budget.clauses || growth > budget.size {
                        return None;
                    }
                }
                None => closed.push(case),
            }
        }
        if splits == 0 || budget.fuel == 0 {
            return None;
        }
        budget.clauses -= closed.len().saturating_sub(1);
        budget.size -= growth;
        Some(closed)
    }

    /// Whether there is anything to split, without any reduction.
    fn has_choice(&self) -> bool {
        let terms = self.terms;
        let mut found = false;
        terms.post_order(&[self.clause.constraint], |t| {
            found |= match terms.op(t) {
                Op::Or | Op::Ite => true,
                Op::Eq => terms.sort_of(terms.args(t)[0]) == SortId::BOOL,
                Op::Not => *terms.op(terms.args(t)[0]) == Op::And,
                _ => false,
            };
        });
        found
    }

    /// The reduced constraint as a case; `None` if the clause becomes trivial.
    fn case(
        &self,
        constraint: TermId,
        definitions: &[(TermId, TermId)],
        budget: &mut Budget,
    ) -> Option<Case> {
        let terms = self.terms;
        let reduction = reduce(terms, constraint, &self.rank);
        budget.fuel = budget
            .fuel
            .saturating_sub(clause_size(terms, self.clause, constraint));
        if reduction.constraint == TermId::FALSE || is_tautology(terms, self.clause, &reduction) {
            return None;
        }
        let free = terms.free_vars(&[reduction.constraint]);
        let locals = free.iter().filter(|v| !self.rank.contains_key(v)).count();
        let mut defined: FxHashSet<TermId> = FxHashSet::default();
        for conjunct in terms.conjuncts(reduction.constraint) {
            let vars = definable(terms, conjunct).into_iter();
            defined.extend(vars.filter(|v| self.rank.contains_key(v)));
        }
        let mut all = reduction.definitions;
        all.extend_from_slice(definitions);
        Some(Case {
            constraint: reduction.constraint,
            definitions: all,
            measure: Measure {
                size: clause_size(terms, self.clause, reduction.constraint),
                locals,
                defined: defined.len(),
            },
        })
    }

    /// The split with the greatest gain, if there is a useful one.
    fn best(&self, case: &Case, budget: &mut Budget, cx: &Context) -> Option<Found> {
        let conjuncts = self.terms.conjuncts(case.constraint);
        let mut best: Option<Found> = None;
        for choice in self.choices(&conjuncts) {
            if budget.fuel == 0 || cx.stop().is_some() {
                break;
            }
            let Some(found) = self.try_choice(case, &conjuncts, choice, budget) else {
                continue;
            };
            let useful = found.gain > 0 || found.growth == 0;
            let better = best.as_ref().is_none_or(|b| {
                (found.gain, usize::MAX - found.growth) > (b.gain, usize::MAX - b.growth)
            });
            if useful && better {
                best = Some(found);
            }
        }
        best
    }

    fn choices(&self, conjuncts: &[TermId]) -> Vec<Choice> {
        let terms = self.terms;
        let mut result = Vec::new();
        let mut seen: FxHashSet<TermId> = FxHashSet::default();
        for (at, &conjunct) in conjuncts.iter().enumerate() {
            if *terms.op(conjunct) == Op::Or {
                let disjuncts = terms.disjuncts(conjunct);
                if disjuncts.len() <= LIMITS.max_cases {
                    result.push(Choice::Either(at, disjuncts));
                }
            }
        }
        terms.post_order(conjuncts, |t| {
            let node = terms.node(t);
            let condition = match node.op {
                Op::Ite => Some(node.args[0]),
                Op::Eq if terms.sort_of(node.args[0]) == SortId::BOOL => {
                    // A side that is not composed of `and`, `or` or `ite` is the simpler condition.
                    let plain = |&a: &TermId| !matches!(terms.op(a), Op::And | Op::Or | Op::Ite);
                    node.args.iter().copied().find(plain)
                }
                _ => None,
            };
            if let Some(condition) = condition
                && !terms.node(condition).has_quantifier
                && seen.insert(condition)
            {
                result.push(Choice::Whether(condition));
            }
        });
        // Bound variables must not leave their quantifier.
        if conjuncts.iter().any(|&c| terms.node(c).has_quantifier) {
            result.retain(|c| matches!(c, Choice::Either(..)));
        }
        result.truncate(LIMITS.max_attempts);
        result
    }

    fn try_choice(
        &self,
        case: &Case,
        conjuncts: &[TermId],
        choice: Choice,
        budget: &mut Budget,
    ) -> Option<Found> {
        let terms = self.terms;
        let constraints: Vec<TermId> = match choice {
            Choice::Either(at, disjuncts) => {
                let mut parts = conjuncts.to_vec();
                let with = |disjunct| {
                    parts[at] = disjunct;
                    terms.and(&parts)
                };
                disjuncts.into_iter().map(with).collect()
            }
            Choice::Whether(condition) => {
                let negation = terms.not(condition);
                [(condition, negation), (negation, condition)]
                    .into_iter()
                    .map(|(yes, no)| {
                        let map = [(yes, TermId::TRUE), (no, TermId::FALSE)];
                        let map = map.into_iter().filter(|m| !terms.is_value(m.0)).collect();
                        let rest = terms.substitute(case.constraint, &map);
                        terms.and(&[rest, yes])
                    })
                    .collect()
            }
        };
        let count = constraints.len();
        let cases: Vec<Case> = constraints
            .into_iter()
            .filter_map(|c| self.case(c, &case.definitions, budget))
            .collect();
        let old = &case.measure;
        let better = cases.iter().map(|c| {
            let new = &c.measure;
            old.locals.saturating_sub(new.locals) + new.defined.saturating_sub(old.defined)
        });
        let total: usize = cases.iter().map(|c| c.measure.size).sum();
        let gain = better.sum::<usize>() + count - cases.len();
        let found = Found {
            gain,
            growth: total.saturating_sub(old.size),
            cases,
        };
        // A case that equals the whole makes no progress.
        let same = found.cases.iter().any(|c| c.constraint == case.constraint);
        (!same).then_some(found)
    }
}
