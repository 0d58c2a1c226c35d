//! The lemmas that the proof needs, from the query backwards: a weaker inductive interpretation.
//!
//! At the fixpoint all lemmas of a level are inductive together, but many are not needed to exclude
//! `false`. The search is [`alphorn_proof::needed_lemmas`]. Lemmas about any index are instantiated
//! as in the transition relations, whose rules are copied; hence this does not use
//! `alphorn_proof::clauses`.
//!
//! Invariant: for each lemma that is kept, a query showed that it holds after every step from the
//! lemmas that are kept.

use rustc_hash::FxHashSet;

use super::ids::{LemmaId, Node, NodeMap};
use super::levels::Level;
use super::limits::LIMITS;
use super::search::Search;
use alphorn_chc::PredicateId;
use alphorn_proof::needed_lemmas::needed_lemmas;
use alphorn_smt::{SatResult, Solver};
use alphorn_term::{SortId, TermId};

/// The clauses of a predicate with the lemmas of their body atoms, each under a literal.
struct Guarded {
    solver: Solver,
    /// The predicate, the lemma, and its literal.
    guards: Vec<(PredicateId, LemmaId, TermId)>,
}

impl Search<'_> {
    /// The lemmas of a level that the proof needs, with their predicates; `None` if a query has no
    /// answer or a limit is reached.
    pub(super) fn needed_lemmas(
        &mut self,
        level: Level,
    ) -> Option<FxHashSet<(PredicateId, LemmaId)>> {
        let count: usize = self.frames.iter().map(|(_, f)| f.at(level).count()).sum();
        if count > LIMITS.needed_lemmas {
            return None;
        }
        let mut guarded: NodeMap<Option<Guarded>> = NodeMap::new(self.system, |_| None);
        let start = self.terms.work();
        let limit = LIMITS
            .needed_least_work
            .max(start.saturating_sub(self.work_before) / LIMITS.needed_work_divisor);
        let mut asked = 0;
        // `None` is the query, which has the empty cube.
        let needed = needed_lemmas([None], |goal: Option<(PredicateId, LemmaId)>, found| {
            self.check_limits().ok()?;
            let spent = self.terms.work().saturating_sub(start);
            if asked > 0 && spent * found.len() as u32 > limit * asked {
                return None;
            }
            asked += 1;
            let (node, mut assumptions) = match goal {
                Some((p, lemma)) => (Node::from(p), self.frames[p].lemmas[lemma].cube.to_vec()),
                None => (Node::Query, Vec::new()),
            };
            if guarded[node].is_none() {
                guarded[node] = Some(self.guarded(node, level)?);
            }
            let Guarded { solver, guards } = guarded[node].as_mut()?;
            assumptions.extend(guards.iter().map(|g| g.2));
            if solver.check(&assumptions) != SatResult::Unsat {
                return None;
            }
            let core: FxHashSet<TermId> = solver.core().into_iter().collect();
            let premises = guards.iter().filter(|g| core.contains(&g.2));
            Some(
                premises
                    .map(|&(body, lemma, _)| Some((body, lemma)))
                    .collect(),
            )
        });
        Some(needed?.into_iter().flatten().collect())
    }

    /// The clauses of a predicate with the lemmas of a level; `None` if it has no clauses.
    fn guarded(&mut self, node: Node, level: Level) -> Option<Guarded> {
        let terms = self.terms.clone();
        let transition = self.transitions[node].as_mut()?;
        let mut solver = self.smt.solver();
        transition.assert_rules_to(&mut solver);
        let mut guards = Vec::new();
        for slot in transition.slots.ids() {
            let body = transition.slots[slot].predicate;
            let lemmas: Vec<LemmaId> = self.frames[body].at(level).collect();
            for lemma in lemmas {
                // One literal for all atoms of a predicate.
                let known = guards
                    .iter()
                    .find(|g: &&(_, _, _)| (g.0, g.1) == (body, lemma));
                let guard = match known {
                    Some(known) => known.2,
                    None => {
                        let guard = terms.fresh_var("lemma", SortId::BOOL);
                        guards.push((body, lemma, guard));
                        guard
                    }
                };
                let unused = terms.not(transition.slots[slot].used);
                for instance in transition.instances(slot, &self.frames[body], lemma) {
                    solver.assert(terms.or(&[unused, terms.not(guard), instance]));
                }
            }
        }
        Some(Guarded { solver, guards })
    }
}
