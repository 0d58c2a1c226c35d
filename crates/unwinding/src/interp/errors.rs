//! Error interpolants (E): by location, ends of paths to the error.
//!
//! After a refinement each node of the path keeps the actions that follow it, with ¬c, which the
//! states have from which these actions lead to the error. When another path comes to the location
//! with such states, its runs along those actions are asked for, and a model is a derivation. Where
//! refinement is by obligations their cubes are such states, exactly: another node's label is made to
//! exclude them, before paths come to the error again, or a run comes to some and is a derivation.
//!
//! Invariant: a suffix only says what to try; the error is reported with a derivation.

use std::rc::Rc;

use super::guards::Guard;
use super::node::{NodeId, State};
use super::search::{Kind, Search, assert_edge, failed};
use alphorn_chc::cutpoints::Location;
use alphorn_proof::{Stop, gave_up};
use alphorn_smt::SatResult;
use alphorn_term::TermId;
use alphorn_witness::Refutation;

/// Suffixes of one location, at most.
const MOST: usize = 16;

/// A suffix that failed so often without success is tried no longer.
const PATIENCE: u32 = 4;

/// A longer suffix is not kept: its query is too much for a guess.
const LONGEST: usize = 200;

/// The end of a path to the error.
#[derive(Clone)]
pub(super) struct Suffix {
    /// Over formal variables: what the states have from which the actions lead to the error.
    formula: TermId,
    actions: Rc<[usize]>,
    tried: u32,
}

impl Search<'_> {
    /// Keeps the suffixes of a path that was refuted: the interpolants are for the nodes from
    /// `first` to `last`, which is the last one that a run reaches.
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

    /// Keeps states of the location, a cube of an obligation, from which these actions lead to the
    /// error. Of a location the shortest ways are kept, and of these the newest.
    pub(super) fn keep_end(&mut self, location: Location, actions: &[usize], formula: TermId) {
        let known = &mut self.suffixes[location];
        if actions.len() == 1 || known.iter().any(|s| s.formula == formula) {
            return;
        }
        if known.len() == MOST {
            let longest = (0..MOST)
                .rev()
                .max_by_key(|&s| known[s].actions.len())
                .unwrap_or(0);
            if known[longest].actions.len() < actions.len() {
                return;
            }
            known.remove(longest);
        }
        self.counts.error += 1;
        known.push(Suffix {
            formula,
            actions: actions.into(),
            tried: 0,
        });
    }

    /// Makes the labels along the node's path exclude the states that are known to lead to the
    /// error: a derivation, if a run comes to some of them.
    fn replay_ends(&mut self, node: NodeId) -> Result<Option<Refutation>, Stop> {
        let location = self.nodes[node].location;
        for suffix in self.suffixes[location].clone() {
            let is_left = self.nodes[node].state == State::Open && !self.nodes[node].aside;
            if !is_left || !self.affords(Kind::E) {
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

    fn keep_suffix(&mut self, location: Location, suffix: &[usize], formula: TermId) {
        // Where each step is looked at, a single action is tried at once anyway.
        let single = suffix.len() == 1 && self.is_eager();
        if single || suffix.len() > LONGEST {
            return;
        }
        let known = &mut self.suffixes[location];
        if let Some(same) = known.iter_mut().find(|s| *s.actions == *suffix) {
            same.formula = self.terms.and(&[same.formula, formula]);
            return;
        }
        if known.len() == MOST {
            let most = (0..MOST).max_by_key(|&s| known[s].tried).unwrap_or(0);
            known.remove(most);
        }
        self.counts.error += 1;
        known.push(Suffix {
            formula,
            actions: suffix.into(),
            tried: 0,
        });
    }

    /// The printed rule: the next location's formulas all take part in the interpolation.
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

    /// Tries the suffixes of the node's location: a derivation, if one of them leads to the error.
    pub(super) fn replay(&mut self, node: NodeId) -> Result<Option<Refutation>, Stop> {
        if self.options.obligations() {
            return self.replay_ends(node);
        }
        let location = self.nodes[node].location;
        for at in 0..self.suffixes[location].len() {
            let suffix = self.suffixes[location][at].clone();
            if suffix.tried >= PATIENCE {
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
            // A suffix that is hard to try is worth no more than the others.
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
                    self.suffixes[location][at].tried = PATIENCE;
                    continue;
                }
                SatResult::Unknown(why) => return Err(gave_up(&why, self.cx)),
            }
            self.counts.replays_failed += 1;
            self.suffixes[location][at].tried += 1;
            // Still what the suffix needs, and no longer here.
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
