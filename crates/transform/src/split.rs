//! Clauses with a disjunction become one clause for each disjunct, where that pays.
//!
//! What is split: disjunctions and conditionals among the conjuncts, equations between formulas,
//! and the conditions of conditional terms. A split pays when a case is contradictory or says
//! nothing (its head is among its body atoms), when a local can be eliminated in a case, when an
//! argument gets an equation that it had not, or when nothing grows. What simplification decides by
//! cases (Boolean locals, literals that others decide) is done before: the pass waits for the
//! others and looks at reduced constraints only.
//!
//! A clause is split until nothing pays any more, or not at all: measured, half-split transition
//! relations (Lustre programs with dozens of modes) cost `pdr` much time, while `multi-phase` loops
//! are won. Growth is bounded by one budget for a run, and no pass joins clauses again, so nothing
//! blows up or goes back and forth.
//!
//! Invariant: the cases of a clause together are equivalent to it, and each case's step is a step
//! by the clause with the same values.

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

/// Clauses that one clause may become.
const CASES: usize = 8;

/// Ways to split one constraint that are tried.
const ATTEMPTS: usize = 8;

/// A constraint larger than this is not split.
const CLAUSE_SIZE: usize = 2_000;

/// Clauses, and size, that may be added to small systems, too.
const CLAUSES_BUDGET: usize = 16;
const SIZE_BUDGET: usize = 2_000;

/// Terms looked at always, for each term of the system, and in all.
const FUEL_BUDGET: usize = 100_000;
const FUEL: usize = 60;
const FUEL_LIMIT: usize = 500_000;

/// The pass. It remembers what it cannot split, and its budget, for one run. The budget grows by
/// half of what other passes add to the system between two of its turns, and small systems have
/// again what was spent on clauses that are gone.
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
    /// Terms that may still be looked at.
    fuel: usize,
    /// What the system had when the pass was done with it.
    known: Extent,
}

/// How large a system is.
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
            clauses: CLAUSES_BUDGET,
            size: SIZE_BUDGET,
            fuel: FUEL_BUDGET,
            known: Extent::default(),
        }
    }

    /// Adds half of what the system has and had not when the pass was done with it, and for what it
    /// has no more, up to what small systems have.
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
            CLAUSES_BUDGET,
        );
        follow(&mut self.size, known.size, system.size, SIZE_BUDGET);
        self.fuel = (self.fuel + FUEL * new).min(FUEL_LIMIT);
    }
}

/// One of the clauses that a clause becomes.
struct Case {
    constraint: TermId,
    /// Locals of the clause that are gone, in the order of evaluation.
    definitions: Vec<(TermId, TermId)>,
    measure: Measure,
}

/// What tells whether a case is better than what it comes from.
#[derive(Clone, Copy)]
struct Measure {
    size: usize,
    locals: usize,
    /// Arguments that an equation gives.
    defined: usize,
}

/// The cases that are left of a split, and what they are worth.
struct Found {
    cases: Vec<Case>,
    gain: usize,
    growth: usize,
}

impl Transformation for Split {
    fn apply(&mut self, old: &Rc<System>, cx: &mut Context) -> Option<Step> {
        // Without predicates there is one question left, and its cases are a solver's matter.
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

/// Ways to take a constraint apart.
enum Choice {
    /// The conjunct at this place is one of these.
    Either(usize, Vec<TermId>),
    /// A formula inside is true, or false.
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

    /// The clause's cases; `None` if it stays.
    fn run(&self, budget: &mut Budget, cx: &Context) -> Option<Vec<Case>> {
        let terms = self.terms;
        if !self.has_choice() || terms.dag_size(&[self.clause.constraint]) > CLAUSE_SIZE {
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
                    // Cases that call for more of them are not what the engine should begin with.
                    let count = open.len() + closed.len();
                    if count > CASES || count > budget.clauses || growth > budget.size {
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

    /// Whether there is anything to split, seen without any work.
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

    /// The reduced constraint; `None` if the clause says nothing then.
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

    /// The split that is worth most, if one pays.
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
            let pays = found.gain > 0 || found.growth == 0;
            let better = best.as_ref().is_none_or(|b| {
                (found.gain, usize::MAX - found.growth) > (b.gain, usize::MAX - b.growth)
            });
            if pays && better {
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
                if disjuncts.len() <= CASES {
                    result.push(Choice::Either(at, disjuncts));
                }
            }
        }
        terms.post_order(conjuncts, |t| {
            let node = terms.node(t);
            let condition = match node.op {
                Op::Ite => Some(node.args[0]),
                Op::Eq if terms.sort_of(node.args[0]) == SortId::BOOL => {
                    // A side that is a literal already is the simpler question.
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
        // Bound variables must not get out.
        if conjuncts.iter().any(|&c| terms.node(c).has_quantifier) {
            result.retain(|c| matches!(c, Choice::Either(..)));
        }
        result.truncate(ATTEMPTS);
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
        // The same again is no case.
        let same = found.cases.iter().any(|c| c.constraint == case.constraint);
        (!same).then_some(found)
    }
}
