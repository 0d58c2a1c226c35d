//! Error interpolants (E): by location, ends of paths to the error.
//!
//! After a refinement each node of the path keeps the actions that follow it, with ¬c, which the
//! states have from which these actions lead to the error. When another path comes to the location
//! with such states, its runs along those actions are asked for, and a model is a derivation.
//!
//! Invariant: a suffix only says what to try; the error is reported with a derivation.

use std::rc::Rc;

use super::guards::Guard;
use super::node::NodeId;
use super::search::{Kind, Search, assert_edge, failed};
use crate::chc::cutpoints::Location;
use crate::proof::{Stop, gave_up};
use crate::smt::SatResult;
use crate::term::TermId;
use crate::witness::Refutation;

/// Suffixes of one location, at most.
const MOST: usize = 16;

/// A suffix that failed so often without success is tried no longer; one of labels is tried once,
/// for it does not become any better by that.
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

    /// Keeps the suffixes of a path whose last step a label excludes: what labels need of each
    /// other for that.
    pub(super) fn keep_suffixes_of_labels(&mut self, chain: &[NodeId]) -> Result<(), Stop> {
        let edges = chain.iter().filter_map(|&n| self.nodes[n].edge.as_ref());
        let actions: Vec<usize> = edges.map(|e| e.action).collect();
        let mut goal = TermId::TRUE;
        for at in (1..actions.len()).rev() {
            let cut = self.needed(chain[at + 1], goal)?;
            let Some(cut) = cut.filter(|&c| c != TermId::TRUE) else {
                return Ok(());
            };
            goal = self.terms.not(cut);
            self.keep_suffix(self.nodes[chain[at]].location, &actions[at..], goal);
        }
        Ok(())
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
        let location = self.nodes[node].location;
        for at in 0..self.suffixes[location].len() {
            let suffix = self.suffixes[location][at].clone();
            let by_labels = self.options.obligations();
            if suffix.tried >= if by_labels { 1 } else { PATIENCE } {
                continue;
            }
            // Whether a run comes to such states is asked together with the suffix, or before it.
            if by_labels && self.is_excluded(node, suffix.formula)? {
                continue;
            }
            let formula = self.over(node, suffix.formula);
            self.go_to(node);
            if !by_labels && !self.ask_path(&[formula])? {
                continue;
            }
            if !self.guards.on(Guard::Derivation) && !self.ask_path(&[self.terms.not(formula)])? {
                return Ok(Some(Refutation::default()));
            }
            let mut edges = Vec::with_capacity(suffix.actions.len());
            let mut from = self.nodes[node].vars.clone();
            for &action in &*suffix.actions {
                let to = self.fresh_formals(self.actions[action].to);
                edges.push(self.edge(action, &from, &to));
                from = to;
            }
            let terms = self.terms.clone();
            let left = self.left_for(Kind::E);
            let solver = &mut self.path_solver;
            solver.push();
            for edge in &edges {
                assert_edge(&terms, edge, solver);
            }
            // A suffix that is hard to try is worth no more than the others.
            let limit = self.smt.query_limit();
            self.smt
                .set_query_limit(limit.into_iter().chain(left).min());
            let answer = solver.check(&[formula]);
            self.smt.set_query_limit(limit);
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
            if by_labels {
                continue;
            }
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
