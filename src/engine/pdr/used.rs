//! The lemmas that a proof uses: an inductive interpretation, weakened.
//!
//! At the fixpoint all lemmas of a level are inductive together, many of them for nothing: lemmas of
//! one-off obligations that others outgrew. From the query on, unsatisfiable cores tell which
//! lemmas of the body a step needs to be blocked, and those are looked at next; the rest goes. What is
//! left is weaker, still inductive, still refutes the query, and is what the user has to read and
//! the check to decide.
//!
//! Invariant: for each lemma kept, a query showed that it holds after every step from lemmas kept.

use rustc_hash::FxHashSet;

use super::ids::{LemmaId, Node, NodeMap};
use super::levels::Level;
use super::search::Search;
use crate::chc::PredicateId;
use crate::smt::{SatResult, Solver};
use crate::term::{SortId, TermId};

/// Lemmas at a level beyond which the search for those in use is not worth the queries.
const LEMMA_LIMIT: usize = 1000;

/// A predicate's rules with the lemmas of their body atoms, each lemma under a literal.
struct Guarded {
    solver: Solver,
    /// Predicate, lemma and literal.
    guards: Vec<(PredicateId, LemmaId, TermId)>,
}

impl Search<'_> {
    /// Predicates and lemmas of the level that the proof uses; `None` when a query has no answer.
    pub(super) fn used_lemmas(
        &mut self,
        level: Level,
    ) -> Option<FxHashSet<(PredicateId, LemmaId)>> {
        let count: usize = self.frames.iter().map(|(_, f)| f.at(level).count()).sum();
        if count > LEMMA_LIMIT {
            return None;
        }
        let mut guarded: NodeMap<Option<Guarded>> = NodeMap::new(self.system, |_| None);
        let mut used: FxHashSet<(PredicateId, LemmaId)> = FxHashSet::default();
        // The query has the empty cube.
        let mut open: Vec<(Node, Vec<TermId>)> = vec![(Node::Query, Vec::new())];
        while let Some((node, cube)) = open.pop() {
            self.check_limits().ok()?;
            if guarded[node].is_none() {
                guarded[node] = Some(self.guarded(node, level)?);
            }
            let Guarded { solver, guards } = guarded[node].as_mut()?;
            let mut assumptions = cube;
            assumptions.extend(guards.iter().map(|g| g.2));
            if solver.check(&assumptions) != SatResult::Unsat {
                return None;
            }
            let core: FxHashSet<TermId> = solver.core().into_iter().collect();
            for &(body, lemma, guard) in guards.iter() {
                if core.contains(&guard) && used.insert((body, lemma)) {
                    open.push((body.into(), self.frames[body].lemmas[lemma].cube.to_vec()));
                }
            }
        }
        Some(used)
    }

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
