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

use super::Search;
use super::frame::Level;
use crate::smt::{SatResult, Solver};
use crate::term::{SortId, TermId};

/// Lemmas at a level beyond which the search for those in use is not worth the queries.
const LEMMA_LIMIT: usize = 1000;

/// A predicate's rules with the lemmas of their body atoms, each lemma under a literal.
struct Guarded {
    solver: Solver,
    /// Predicate, lemma and literal.
    guards: Vec<(usize, usize, TermId)>,
}

impl Search<'_> {
    /// Predicates and lemmas of the level that the proof uses; `None` when a query has no answer.
    pub(super) fn used_lemmas(&mut self, level: Level) -> Option<FxHashSet<(usize, usize)>> {
        let count: usize = self.frames.iter().map(|f| f.at(level).count()).sum();
        if count > LEMMA_LIMIT {
            return None;
        }
        let mut guarded: Vec<Option<Guarded>> = self.frames.iter().map(|_| None).collect();
        let mut used: FxHashSet<(usize, usize)> = FxHashSet::default();
        // The query has the empty cube.
        let mut open: Vec<(usize, Vec<TermId>)> = vec![(self.query_predicate(), Vec::new())];
        while let Some((predicate, cube)) = open.pop() {
            self.check_limits().ok()?;
            if guarded[predicate].is_none() {
                guarded[predicate] = Some(self.guarded(predicate, level)?);
            }
            let Guarded { solver, guards } = guarded[predicate].as_mut()?;
            let mut assumptions = cube;
            assumptions.extend(guards.iter().map(|g| g.2));
            if solver.check(&assumptions) != SatResult::Unsat {
                return None;
            }
            let core: FxHashSet<TermId> = solver.core().into_iter().collect();
            for &(body, lemma, guard) in guards.iter() {
                if core.contains(&guard) && used.insert((body, lemma)) {
                    open.push((body, self.frames[body].lemmas[lemma].cube.to_vec()));
                }
            }
        }
        Some(used)
    }

    fn guarded(&mut self, predicate: usize, level: Level) -> Option<Guarded> {
        let terms = self.terms.clone();
        let transition = self.transitions[predicate].as_mut()?;
        let mut solver = self.smt.solver();
        transition.assert_rules_to(&mut solver);
        let mut guards = Vec::new();
        for slot in 0..transition.slots.len() {
            let body = transition.slots[slot].predicate;
            let lemmas: Vec<usize> = self.frames[body].at(level).collect();
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
