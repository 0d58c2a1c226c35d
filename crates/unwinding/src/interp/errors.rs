//! Error interpolants (E): for each location, ends of paths to the error.
//!
//! After a refinement each node of the path keeps the actions that follow it as a suffix, with ¬c:
//! all states from which these actions lead to the error satisfy ¬c. When another path reaches the
//! location in such states, it is extended by these actions, and a model is a derivation. With
//! obligations, the states are their cubes, from each of which the suffix leads to the error:
//! another node's label is strengthened to exclude the cube before paths reach the error again, or
//! its path reaches the cube and there is a derivation.
//!
//! Invariant: a suffix is only a guess; the error is reported with a derivation.

use std::rc::Rc;

use super::guards::Guard;
use super::limits::LIMITS;
use super::node::{NodeId, State};
use super::search::{Kind, Search, assert_edge, failed};
use alphorn_chc::cutpoints::Location;
use alphorn_proof::{Stop, gave_up};
use alphorn_smt::SatResult;
use alphorn_term::TermId;
use alphorn_witness::Refutation;

/// The end of paths to the error.
#[derive(Clone)]
pub(super) struct Suffix {
    /// Over formal variables: satisfied by states from which the actions lead to the error.
    formula: TermId,
    actions: Rc<[usize]>,
    /// How often it was tried without success.
    tried: u32,
}

impl Search<'_> {
    /// Keeps the suffixes of a refuted path: the interpolants `cuts` are for the nodes from `first`
    /// to `last`, the last node with a feasible path.
    pub(super) fn keep_suffixes(
        &mut self,
        chain: &[NodeId],
        first: usize,
        last: usize,
        cuts: &[TermId],
    ) -> Result<(), Stop> {
        let edges = chain.iter().filter_map(|&n| self.nodes[n].edge.as_ref());
        let actions: Vec<usize> = edges.map(|e| e.action).collect();
        for (at, &cut) in (first..=last).zip(cuts) {
            let suffix = &actions[at..];
            let formula = self.terms.not(cut);
            if !self.guards.on(Guard::OnlyNewPart) {
                self.check_gathered(chain, at)?;
            }
            if at > 0 {
                self.keep_suffix(self.nodes[chain[at]].location, suffix, formula);
            }
        }
        Ok(())
    }

    /// Keeps the cube of an obligation as states of the location from which these actions lead to
    /// the error. The shortest suffixes are kept, and of these the newest.
    pub(super) fn keep_end(&mut self, location: Location, actions: &[usize], formula: TermId) {
        let known = &mut self.suffixes[location];
        if actions.len() == 1 || known.iter().any(|s| s.formula == formula) {
            return;
        }
        if known.len() == LIMITS.suffixes_per_location {
            let longest = (0..known.len())
                .rev()
                .max_by_key(|&s| known[s].actions.len())
                .unwrap_or(0);
            if known[longest].actions.len() < actions.len() {
                return;
            }
            known.remove(longest);
        }
        self.counts.ends += 1;
        known.push(Suffix {
            formula,
            actions: actions.into(),
            tried: 0,
        });
    }

    /// Strengthens the labels along the node's path so that they exclude the cubes from which the
    /// error is reached. Returns a derivation if the path reaches such a cube.
    fn replay_ends(&mut self, node: NodeId) -> Result<Option<Refutation>, Stop> {
        let location = self.nodes[node].location;
        for suffix in self.suffixes[location].clone() {
            let is_left = self.nodes[node].state == State::Open && !self.nodes[node].detached;
            if !is_left || !self.has_work_left(Kind::E) {
                break;
            }
            if self.entails(node, &[self.terms.not(suffix.formula)])? {
                continue;
            }
            let cube = self.terms.conjuncts(suffix.formula);
            let Some(mut cubes) = self.exclude_end(node, cube.clone(), &suffix.actions)? else {
                self.counts.replays_failed += 1;
                continue;
            };
            self.counts.reports += 1;
            cubes.push(cube);
            return self
                .derivation_through(node, &cubes, &suffix.actions)
                .map(Some);
        }
        Ok(None)
    }

    /// Keeps a suffix. It replaces the one that was tried most often if there are too many.
    fn keep_suffix(&mut self, location: Location, suffix: &[usize], formula: TermId) {
        // If each step is checked, a suffix of one action saves nothing.
        let single = suffix.len() == 1 && self.is_eager();
        if single || suffix.len() > LIMITS.suffix_actions {
            return;
        }
        let known = &mut self.suffixes[location];
        if let Some(same) = known.iter_mut().find(|s| *s.actions == *suffix) {
            same.formula = self.terms.and(&[same.formula, formula]);
            return;
        }
        if known.len() == LIMITS.suffixes_per_location {
            let most = (0..known.len())
                .max_by_key(|&s| known[s].tried)
                .unwrap_or(0);
            known.remove(most);
        }
        self.counts.error += 1;
        known.push(Suffix {
            formula,
            actions: suffix.into(),
            tried: 0,
        });
    }

    /// The rule as printed: the formulas of the next location all take part in the interpolation.
    fn check_gathered(&mut self, chain: &[NodeId], at: usize) -> Result<(), Stop> {
        let next = chain[at + 1];
        let gathered = self.suffixes[self.nodes[next].location].iter();
        let gathered: Vec<TermId> = gathered.map(|s| s.formula).collect();
        let edge = self.nodes[next].edge.clone();
        let (Some(edge), false) = (edge, gathered.is_empty()) else {
            return Ok(());
        };
        let there = self.over(next, self.terms.or(&gathered));
        let goal = self.terms.and(&[edge.formula, there]);
        let chain = &chain[..=at];
        let before = self.premise(chain, 0);
        self.separate(&before, goal, chain[at]).map(|_| ())
    }

    /// Tries the suffixes of the node's location. Returns a derivation if one leads to the error.
    pub(super) fn replay(&mut self, node: NodeId) -> Result<Option<Refutation>, Stop> {
        if self.options.obligations() {
            return self.replay_ends(node);
        }
        let location = self.nodes[node].location;
        for at in 0..self.suffixes[location].len() {
            let suffix = self.suffixes[location][at].clone();
            if suffix.tried >= LIMITS.suffix_tries {
                continue;
            }
            let formula = self.over(node, suffix.formula);
            self.go_to(node);
            if !self.ask_path(&[formula])? {
                continue;
            }
            if !self.guards.on(Guard::Derivation) && !self.ask_path(&[self.terms.not(formula)])? {
                return Ok(Some(Refutation::default()));
            }
            let edges = self.edges_from(node, &suffix.actions);
            let terms = self.terms.clone();
            let left = self.left_for(Kind::E);
            let solver = &mut self.path_solver;
            solver.push();
            for edge in &edges {
                assert_edge(&terms, edge, solver);
            }
            // A suffix whose query is hard is given up.
            let limit = self.smt.limit_queries(left);
            let answer = solver.check(&[formula]);
            drop(limit);
            let model = solver.model();
            solver.pop();
            match answer {
                SatResult::Sat => {
                    self.counts.reports += 1;
                    let model = model.ok_or_else(|| failed("no model of a suffix"))?;
                    return self.derivation(node, &edges, &model).map(Some);
                }
                SatResult::Unsat => {}
                SatResult::Unknown(_) if left.is_some() && self.cx.stop().is_none() => {
                    self.counts.replays_failed += 1;
                    self.suffixes[location][at].tried = LIMITS.suffix_tries;
                    continue;
                }
                SatResult::Unknown(why) => return Err(gave_up(&why, self.cx)),
            }
            self.counts.replays_failed += 1;
            self.suffixes[location][at].tried += 1;
            // The formula stays necessary, and now excludes the states of this node.
            let goal: Vec<TermId> = edges.iter().map(|e| e.formula).collect();
            let goal = terms.and(&goal);
            let chain = self.chain(node);
            let start = match self.guards.on(Guard::OnlyNewPart) {
                true => self.window(&chain, goal)?,
                false => None,
            };
            if let Some(start) = start {
                let before = self.premise(&chain, start);
                let cut = self.separate(&before, goal, node)?;
                let own = &mut self.suffixes[location][at];
                own.formula = terms.and(&[own.formula, terms.not(cut)]);
            }
        }
        Ok(None)
    }
}
