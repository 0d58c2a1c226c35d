//! Removes literals that the contradiction does not need.
//!
//! As in VINTA (section 5), each literal of a formula in negation normal form gets an assumption;
//! literals whose assumptions are not in the core become `true`. Literals that may guard a field or
//! a quotient are kept, since terms might have no value in models otherwise.
//!
//! Invariant: each formula implies its replacement, and the replacements are unsatisfiable
//! together.

use rustc_hash::{FxHashMap, FxHashSet};

use super::guards::guards;
use super::interpolator::{InterpolationError, Interpolator, Result};
use alphorn_smt::SatResult;
use alphorn_term::{Assignment, Op, SortId, TermId, TermStore};

impl Interpolator {
    /// Weaker formulas that are still unsatisfiable under `compose`, which is monotonic.
    pub(super) fn minimise(
        &mut self,
        parts: &[TermId],
        compose: impl Fn(&TermStore, &[TermId]) -> TermId,
    ) -> Result<Vec<TermId>> {
        let terms = self.terms.clone();
        let mut parts = parts.to_vec();
        for round in 0..self.options.core_rounds.max(1) {
            let mut solver = self.smt.solver();
            let mut naming = Naming {
                terms: &terms,
                pool: &mut self.names,
                used: 0,
                guarding: terms
                    .free_vars(&guards(&terms, &parts))
                    .into_iter()
                    .collect(),
                memo: FxHashMap::default(),
            };
            let named: Vec<TermId> = match self.options.core_rounds {
                0 => parts.clone(),
                _ => parts.iter().map(|&p| naming.part(p)).collect(),
            };
            let used = naming.used;
            solver.assert(compose(&terms, &named));
            self.tick()?;
            let names = self.names[..used].to_vec();
            match solver.check(&names) {
                SatResult::Unsat => {}
                // Assumptions make hard queries harder, so the query is repeated without them.
                SatResult::Unknown(reason) if used == 0 => {
                    return Err(InterpolationError::Limit(reason));
                }
                SatResult::Unknown(_) => return self.unsatisfiable(&parts, compose),
                SatResult::Sat if round == 0 => {
                    let model = Box::new(Self::model(&solver)?);
                    return Err(InterpolationError::Satisfiable(model));
                }
                SatResult::Sat => {
                    return Err(InterpolationError::defect(&terms, "a core is satisfiable"));
                }
            }
            let core: FxHashSet<TermId> = solver.core().into_iter().collect();
            self.counters.literals += used as u64;
            self.counters.dropped += (used - core.len()) as u64;
            let values: Assignment = names
                .iter()
                .map(|&n| (n, terms.bool(core.contains(&n))))
                .collect();
            let mut memo = FxHashMap::default();
            parts = named
                .iter()
                .map(|&p| terms.substitute_with(p, &values, &mut memo))
                .collect();
            if core.len() == used {
                break;
            }
        }
        Ok(parts)
    }

    fn unsatisfiable(
        &self,
        parts: &[TermId],
        compose: impl Fn(&TermStore, &[TermId]) -> TermId,
    ) -> Result<Vec<TermId>> {
        let mut solver = self.smt.solver();
        solver.assert(compose(&self.terms, parts));
        if self.is_sat(&mut solver, &[])? {
            let model = Box::new(Self::model(&solver)?);
            return Err(InterpolationError::Satisfiable(model));
        }
        Ok(parts.to_vec())
    }
}

/// Puts literals under assumptions.
struct Naming<'a> {
    terms: &'a TermStore,
    pool: &'a mut Vec<TermId>,
    used: usize,
    /// Variables of literals that may guard the value of other terms; these literals are kept.
    guarding: FxHashSet<TermId>,
    /// By term and polarity, for one part.
    memo: FxHashMap<(TermId, bool), TermId>,
}

impl Naming<'_> {
    /// The part in negation normal form, in which each literal is implied by its assumption.
    fn part(&mut self, part: TermId) -> TermId {
        self.memo.clear();
        let terms = self.terms;
        let root = strip(terms, part, true);
        let mut stack = vec![root];
        while let Some(&goal) = stack.last() {
            if self.memo.contains_key(&goal) {
                stack.pop();
                continue;
            }
            let (term, polarity) = goal;
            let node = terms.node(term);
            let result = match node.op {
                Op::True | Op::False => terms.bool((term == TermId::TRUE) == polarity),
                Op::And | Op::Or => {
                    let goals: Vec<(TermId, bool)> = node
                        .args
                        .iter()
                        .map(|&a| strip(terms, a, polarity))
                        .collect();
                    let before = stack.len();
                    stack.extend(goals.iter().filter(|g| !self.memo.contains_key(g)));
                    if stack.len() > before {
                        continue;
                    }
                    let args: Vec<TermId> = goals.iter().map(|g| self.memo[g]).collect();
                    if (node.op == Op::And) == polarity {
                        terms.and(&args)
                    } else {
                        terms.or(&args)
                    }
                }
                _ => {
                    let literal = if polarity { term } else { terms.not(term) };
                    let vars = terms.free_vars(&[term]);
                    if vars.iter().any(|v| self.guarding.contains(v)) {
                        literal
                    } else {
                        let name = self.name();
                        terms.implies(name, literal)
                    }
                }
            };
            self.memo.insert(goal, result);
            stack.pop();
        }
        self.memo[&root]
    }

    fn name(&mut self) -> TermId {
        if self.used == self.pool.len() {
            let name = self.terms.fresh_var("needed", SortId::BOOL);
            self.pool.push(name);
        }
        self.used += 1;
        self.pool[self.used - 1]
    }
}

fn strip(terms: &TermStore, mut term: TermId, mut polarity: bool) -> (TermId, bool) {
    while *terms.op(term) == Op::Not {
        term = terms.args(term)[0];
        polarity = !polarity;
    }
    (term, polarity)
}
