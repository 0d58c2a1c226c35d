//! Refinement: interpolants along an infeasible path.
//!
//! One recursion gives all three kinds. Let n be the last node of the path to which it is feasible.
//! c(n) separates the path to n from the next edge, and c(i) the path to i from the next edge into
//! ¬c(i+1). The c(i) become labels (R), a suffix may lead to the error from ¬c(i) (E), and c(n) is
//! the blocker of the last node's action (S).
//!
//! A path need not be checked from its beginning: where the label of a node contradicts the edges
//! after it, the edges before it do not matter.
//!
//! Invariant: both sides of an interpolation consist of the path's edges, labels and facts, never
//! of all formulas that a location has.

use super::guards::Guard;
use super::interpolants::{by_projection, interpolator};
use super::limits::LIMITS;
use super::node::{NodeId, State};
use super::options::{Blocks, Labels};
use super::search::{Kind, Search, assert_edge, failed, is_satisfiable};
use alphorn_chc::cutpoints::ERROR;
use alphorn_interpolation::{InterpolationError, InterpolationOrder, Interpolator};
use alphorn_proof::Stop;
use alphorn_term::TermId;

impl Search<'_> {
    /// Excludes the path to the node, which is infeasible.
    pub(super) fn refute(&mut self, node: NodeId) -> Result<(), Stop> {
        self.counts.refinements += 1;
        let chain = self.chain(node);
        let last = self.last_reached(&chain)?;
        let (reached, dead) = (&chain[..=last], chain[last + 1]);
        let edge = self.nodes[dead].edge.clone();
        let goal = edge.map_or(TermId::TRUE, |e| e.formula);
        let start = self.window(reached, goal)?;
        let start = start.ok_or_else(|| failed("a path has a run after all"))?;
        let mut cuts = self.timed(Kind::R, |s| s.cuts(reached, start, goal))?;
        let region = self.options.safety() && self.has_work_left(Kind::S);
        let suffix = self.options.error() && self.has_work_left(Kind::E);
        if cuts.is_empty() && (region || suffix) {
            // The label suffices; a blocker and a suffix need only a part of it.
            let end = reached[last];
            let before = self.premise(reached, start);
            let kind = if region { Kind::S } else { Kind::E };
            let cut = self.timed(kind, |s| s.separate(&before, goal, end))?;
            cuts.push(cut);
        }
        // The first node that has an interpolant.
        let first = reached.len() - cuts.len();
        let mut changed = Vec::new();
        if self.options.reachability() {
            self.counts.reachability += cuts.len() as u64;
            for (&at, &cut) in reached[first..].iter().zip(&cuts) {
                if self.strengthen(at, cut)? {
                    changed.push(at);
                }
            }
            if self.options.labels == Labels::Forward {
                self.strengthen_forward(reached, start, goal)?;
            }
        }
        let is_known = !cuts.is_empty();
        if is_known && self.options.error() && self.nodes[node].location == ERROR {
            self.keep_suffixes(&chain, first, last, &cuts)?;
        }
        self.mark_dead(dead)?;
        if self.options.safety() {
            if let Some(&cut) = cuts.last() {
                self.block(dead, cut);
            }
            if !self.guards.on(Guard::ClosedUnderLoops) {
                self.regions[self.nodes[reached[last]].location].force_full();
            }
        }
        self.weigh_path(reached);
        if self.has_work_left(Kind::S) {
            self.settle_parent(dead)?;
        }
        self.mark_explored(dead)?;
        if self.options.reachability() {
            self.close(&changed)?;
        }
        #[cfg(debug_assertions)]
        self.assert_invariants();
        Ok(())
    }

    /// Sets the label of the node to `false`.
    pub(super) fn mark_dead(&mut self, node: NodeId) -> Result<(), Stop> {
        let own = &mut self.nodes[node];
        own.state = State::Dead;
        own.label = vec![TermId::FALSE];
        own.version += 1;
        own.safe = Some(TermId::FALSE);
        self.detach_below(node)
    }

    /// Strengthens the labels along the path to the node so that its own excludes the goal, which
    /// is over the node's variables. False if the path does not exclude the goal.
    pub(super) fn confine(&mut self, node: NodeId, goal: TermId) -> Result<bool, Stop> {
        let chain = self.chain(node);
        let Some(start) = self.window(&chain, goal)? else {
            return Ok(false);
        };
        let cuts = self.cuts(&chain, start, goal)?;
        self.counts.reachability += cuts.len() as u64;
        let first = chain.len() - cuts.len();
        for (&at, &cut) in chain[first..].iter().zip(&cuts) {
            self.strengthen(at, cut)?;
        }
        Ok(true)
    }

    /// The last position of the path up to which it is feasible.
    fn last_reached(&mut self, chain: &[NodeId]) -> Result<usize, Stop> {
        let known = chain.iter().rposition(|&n| self.nodes[n].feasible);
        let mut last = known.unwrap_or(0);
        while last + 2 < chain.len() && self.is_feasible(chain[last + 1])? {
            last += 1;
        }
        Ok(last)
    }

    /// The last position whose label together with the edges after it excludes the goal at the end
    /// of the chain; `None` if the whole chain does not exclude it.
    pub(super) fn window(&mut self, chain: &[NodeId], goal: TermId) -> Result<Option<usize>, Stop> {
        let mut solver = self.smt.solver();
        solver.assert(goal);
        let mut at = chain.len() - 1;
        let whole = self.options.blocks == Blocks::Clause;
        loop {
            let facts = self.facts_at(chain[at]);
            solver.assert(facts);
            let steps = chain.len() - 1 - at;
            let due = steps < LIMITS.single_edges || steps.is_power_of_two() || at == 0;
            if due && (at == 0 || !whole) {
                let label = self.nodes[chain[at]].label.iter();
                let label: Vec<TermId> = label.map(|&l| self.over(chain[at], l)).collect();
                if !is_satisfiable(&mut solver, &label, self.cx)? {
                    return Ok(Some(at));
                }
            }
            if at == 0 {
                return Ok(None);
            }
            if let Some(edge) = self.nodes[chain[at]].edge.clone() {
                assert_edge(&self.terms, &edge, &mut solver);
            }
            at -= 1;
        }
    }

    /// The label at the start of a window and the edges after it, as one formula per edge.
    fn links(&self, chain: &[NodeId], start: usize) -> Vec<TermId> {
        let terms = &self.terms;
        let label = terms.and(&self.nodes[chain[start]].label);
        let label = self.over(chain[start], label);
        let mut before = terms.and(&[label, self.facts_at(chain[start])]);
        let mut links = Vec::new();
        for &node in &chain[start + 1..] {
            let edge = self.nodes[node].edge.as_ref();
            let edge = edge.map_or(TermId::TRUE, |e| e.formula);
            links.push(terms.and(&[before, edge, self.facts_at(node)]));
            before = TermId::TRUE;
        }
        if links.is_empty() {
            links.push(before);
        }
        links
    }

    /// The formulas of the window, whose conjunction holds at the end of the chain.
    pub(super) fn premise(&self, chain: &[NodeId], start: usize) -> Vec<TermId> {
        self.links(chain, start)
    }

    /// Interpolants of the window and the goal, for the nodes after its start, over formal
    /// variables. They are inductive along the edges, given the label at the start.
    fn cuts(&mut self, chain: &[NodeId], start: usize, goal: TermId) -> Result<Vec<TermId>, Stop> {
        if start + 1 == chain.len() {
            return Ok(Vec::new());
        }
        let mut links = self.links(chain, start);
        links.push(goal);
        let mut interpolator = self.interpolator(InterpolationOrder::Backward);
        let found = interpolator.sequence(&links);
        let nodes = &chain[start + 1..];
        let interpolants = match found {
            Ok(interpolants) => interpolants,
            Err(error) => {
                self.without_certificates(&error)?;
                let mut next = goal;
                let mut found = Vec::new();
                for at in (0..nodes.len()).rev() {
                    let vars = &self.nodes[nodes[at]].vars;
                    let cut = by_projection(&self.smt, &links[..=at], next, vars, self.cx)?;
                    found.push(cut);
                    next = self.terms.and(&[links[at], self.terms.not(cut)]);
                }
                found.reverse();
                found
            }
        };
        let pairs = nodes.iter().zip(interpolants);
        pairs.map(|(&n, i)| self.decoded(n, i)).collect()
    }

    /// An interpolant of the formulas `before` and the goal, over the node's formal variables.
    pub(super) fn separate(
        &mut self,
        before: &[TermId],
        goal: TermId,
        node: NodeId,
    ) -> Result<TermId, Stop> {
        let mut interpolator = self.interpolator(InterpolationOrder::Backward);
        let interpolant = match interpolator.binary(before, &[goal]) {
            Ok(interpolant) => interpolant,
            Err(error) => {
                self.without_certificates(&error)?;
                by_projection(&self.smt, before, goal, &self.nodes[node].vars, self.cx)?
            }
        };
        self.decoded(node, interpolant)
    }

    /// Strengthens the labels of the window by interpolants from its start on.
    fn strengthen_forward(
        &mut self,
        chain: &[NodeId],
        start: usize,
        goal: TermId,
    ) -> Result<(), Stop> {
        if start + 1 == chain.len() {
            return Ok(());
        }
        let mut links = self.links(chain, start);
        links.push(goal);
        let mut interpolator = self.interpolator(InterpolationOrder::Forward);
        match interpolator.sequence(&links) {
            Ok(interpolants) => {
                for (&node, interpolant) in chain[start + 1..].iter().zip(interpolants) {
                    let lemma = self.decoded(node, interpolant)?;
                    self.strengthen(node, lemma)?;
                }
                Ok(())
            }
            Err(error) => self.without_certificates(&error),
        }
    }

    /// An interpolator: from the end back and weak, or from the entry on and strong.
    fn interpolator(&self, order: InterpolationOrder) -> Interpolator {
        interpolator(&self.smt, order, self.cx)
    }

    /// Logs that certificates failed, so that projection follows; an error if the run has to stop.
    fn without_certificates(&mut self, error: &InterpolationError) -> Result<(), Stop> {
        self.check_budget()?;
        if let InterpolationError::Satisfiable(_) = error {
            return Err(failed("a path to be excluded is feasible"));
        }
        log::debug!("interp: {error}; interpolants by projection");
        self.counts.projections += 1;
        Ok(())
    }
}
