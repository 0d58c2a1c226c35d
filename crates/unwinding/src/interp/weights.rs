//! Weights of actions (section IV-B of the paper): the branch that makes a region full comes first.
//!
//! Deviation: the paper's rule for sums has no fixpoint where actions form a cycle; weights are
//! propagated once, backwards along the current path.
//!
//! Invariant: weights only choose the order of exploration.

use super::node::NodeId;
use super::search::Search;
use alphorn_chc::cutpoints::Location;

/// The weight of an action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Weight {
    /// No path through the action was refuted yet.
    Undefined,
    /// The value by the rules of section IV-B.
    Value(u32),
}

impl Weight {
    /// The order of weights: positive values are above an undefined weight, and that is above zero.
    pub fn rank(self) -> u32 {
        match self {
            Weight::Value(0) => 0,
            Weight::Undefined => 1,
            Weight::Value(n) => n.saturating_add(1),
        }
    }
}

impl Search<'_> {
    /// Sets the weights of the actions into the location, whose region became full, to zero.
    pub(super) fn weigh_full(&mut self, location: Location) {
        for (action, weight) in self.actions.iter().zip(&mut self.weights) {
            if action.to == location {
                *weight = Weight::Value(0);
            }
        }
    }

    /// Updates the weights along a refuted path; `reached` is its part with feasible paths.
    pub(super) fn weigh_path(&mut self, reached: &[NodeId]) {
        if !self.options.safety() {
            return;
        }
        let mut changed = true;
        for (steps, &node) in reached.iter().rev().enumerate() {
            let own = &self.nodes[node];
            let Some(edge) = own.edge.as_ref().filter(|_| changed) else {
                return;
            };
            let (action, leaving) = (edge.action, &self.leaving[own.location]);
            let weight = if self.regions[own.location].is_full() {
                Weight::Value(0)
            } else if steps == 0 {
                Weight::Value(u32::try_from(leaving.len() - 1).unwrap_or(u32::MAX))
            } else {
                let one = |w: Weight| match w {
                    Weight::Value(n) => n,
                    Weight::Undefined => 1,
                };
                let all = leaving.iter().map(|&a| one(self.weights[a]));
                Weight::Value(all.fold(0, u32::saturating_add))
            };
            changed = std::mem::replace(&mut self.weights[action], weight) != weight;
        }
    }
}
