//! Pushing lemmas to higher levels, and the fixpoint test.
//!
//! Invariant: the level of a lemma is raised only after a query showed that the frames at its
//! level, with the lemma, imply it one step later.

use super::frame::{Premise, PushBlocker};
use super::ids::{LemmaId, Node};
use super::levels::{INFINITE, Level};
use super::search::Search;
use super::transition::{Answer, Query};
use alphorn_proof::Stop;
use alphorn_smt::SmtModel;
use alphorn_term::{Evaluator, TermId};

impl Search<'_> {
    /// Pushes lemmas as far as possible, up to level `bound + 1`. If all lemmas of a level can be
    /// pushed and the query is blocked above it, the lemmas above it are inductive, and that level
    /// is returned.
    pub(super) fn propagate(&mut self, bound: Level) -> Result<Option<Level>, Stop> {
        for level in 0..=bound {
            let mut all_pushed = true;
            for node in self.frames.nodes() {
                let here: Vec<LemmaId> = self.frames[node]
                    .at(level)
                    .filter(|&l| self.frames[node].lemmas[l].level == level)
                    .collect();
                for lemma in here {
                    let state = &self.frames[node].lemmas[lemma];
                    // An earlier push may have made it inactive.
                    if state.active && state.level == level {
                        all_pushed &= self.push(node, lemma)?;
                    }
                }
            }
            if all_pushed && self.frames[Node::Query].at(level + 1).next().is_some() {
                return Ok(Some(level + 1));
            }
        }
        Ok(None)
    }

    /// Tries to push a lemma to a higher level. Returns whether it succeeded.
    fn push(&mut self, node: Node, id: LemmaId) -> Result<bool, Stop> {
        if self.options.trigger_pushes && self.still_blocked(node, id) {
            return Ok(false);
        }
        self.counters.pushes += 1;
        let lemma = &self.frames[node].lemmas[id];
        let (cube, level) = (lemma.cube.to_vec(), lemma.level);
        let query = Query {
            from: Some(level),
            cube: &cube,
            assume: None,
            must: &[],
            reached: None,
            rule: None,
        };
        match self.ask(node, query)? {
            Answer::Unsat {
                level: new,
                cube: core,
            } => {
                self.counters.pushed += 1;
                if core.len() < cube.len() {
                    // The core is a stronger lemma.
                    self.learn(node, &core, new);
                    let old = &self.frames[node].lemmas[id];
                    debug_assert!(!old.active || old.level >= new);
                } else {
                    self.frames[node].raise(id, new);
                }
                Ok(true)
            }
            Answer::Sat => {
                let model = self.last_model(node)?;
                let blocker = self.blocker(node, &model);
                self.frames[node].lemmas[id].blocker = blocker;
                Ok(false)
            }
            Answer::Unknown(why) if self.cx.stop().is_some() => Err(self.gave_up(&why)),
            Answer::Unknown(_) => Ok(false),
        }
    }

    /// The states of the body atoms in a model; `None` if it cannot be read.
    fn blocker(&self, node: Node, model: &SmtModel) -> Option<PushBlocker> {
        let transition = self.transitions[node].as_ref()?;
        let rule = transition.rule_in(model)?;
        let mut premises = Vec::new();
        for &slot in &transition.rules[rule].slots {
            let slot = &transition.slots[slot];
            let params = self.params(slot.predicate.into());
            let mut values = alphorn_term::Assignment::default();
            for (&param, &arg) in params.iter().zip(&slot.args) {
                values.insert(param, model.value(arg).ok()?);
            }
            premises.push(Premise {
                predicate: slot.predicate,
                values,
                seen: self.frames[slot.predicate].events.len(),
            });
        }
        Some(PushBlocker { premises })
    }

    /// Whether the frames still allow the step that prevented pushing the last time.
    fn still_blocked(&mut self, node: Node, id: LemmaId) -> bool {
        let lemma = &mut self.frames[node].lemmas[id];
        let level = lemma.level;
        let Some(mut blocker) = lemma.blocker.take() else {
            return false;
        };
        for premise in &mut blocker.premises {
            let frame = &self.frames[premise.predicate];
            let mut evaluator = Evaluator::new(&self.terms, &premise.values);
            for &(lemma, at) in &frame.events[premise.seen..] {
                let clause = frame.lemmas[lemma].clause;
                if (at == INFINITE || at >= level) && evaluator.value(clause) != Some(TermId::TRUE)
                {
                    return false;
                }
            }
            premise.seen = frame.events.len();
        }
        self.frames[node].lemmas[id].blocker = Some(blocker);
        true
    }
}
