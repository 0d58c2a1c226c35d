//! Weights of actions (section IV-B of the paper): the branch that makes a region full comes first.
//!
//! Deviation: the rule for sums has no fixpoint where actions form a cycle; weights are propagated
//! backward along the current path once.
//!
//! Invariant: weights only choose what is explored first.

use super::node::NodeId;
use super::search::Search;
use alphorn_chc::cutpoints::Location;

/// The weight of an action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Weight {
    Undefined,
    Value(u32),
}

impl Weight {
    /// Positive weights are above an undefined one, and that is above zero.
    pub fn rank(self) -> u32 {
        match self {
            Weight::Value(0) => 0,
            Weight::Undefined => 1,
            Weight::Value(n) => n.saturating_add(1),
        }
    }
}

impl Search<'_> {
    /// The location's region became full: nothing new is to be found there.
    pub(super) fn weigh_full(&mut self, location: Location) {
        for (action, weight) in self.actions.iter().zip(&mut self.weights) {
            if action.to == location {
                *weight = Weight::Value(0);
            }
        }
    }

    /// A path was refuted; this is the part of it that a run reaches.
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
