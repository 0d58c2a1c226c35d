//! The settings of `interp`.
//!
//! Invariant: a setting decides whether and when there is an answer, never which one.

use alphorn_chc::Theories;
use alphorn_engine::settings::{choices, settings};

choices! {
    /// The kinds of interpolants that are used.
    Kinds {
        /// Reachability interpolants: labels and covering.
        R = "R",
        /// Safety interpolants: regions only.
        S = "S",
        /// Reachability and error interpolants.
        Re = "R,E",
        /// Reachability and safety interpolants.
        Rs = "R,S",
        /// Safety and error interpolants.
        Se = "S,E",
        /// All three.
        Rse = "R,S,E",
    }
}

choices! {
    /// Which node is explored next.
    Order {
        /// That with the fewest rounds of a loop on its path, of these the newest; the action with
        /// the largest weight.
        Weighted = "weighted",
        /// The newest, in the order of the clauses.
        Dfs = "dfs",
        /// That with the least depth.
        Bfs = "bfs",
    }
}

choices! {
    /// Where labels are strengthened so that a node is covered.
    Force {
        /// Nowhere.
        None = "none",
        /// At heads of loops.
        Heads = "heads",
        /// At all locations.
        All = "all",
    }
}

choices! {
    /// The clauses of one edge of the unwinding.
    Blocks {
        /// All clauses between two locations; each path is checked whenever it gets longer.
        Action = "action",
        /// One clause; a path is checked when it ends in the error, as in the paper.
        Clause = "clause",
    }
}

choices! {
    /// How paths are excluded, and which formulas become labels.
    Labels {
        /// Lemmas from proof obligations, by queries about one step each. As `shared` where that is
        /// not possible or not good: with edges for single clauses, without labels, with arrays or
        /// datatypes.
        Obligations = "obligations",
        /// Interpolants from the error back, which regions and suffixes use as well.
        Shared = "shared",
        /// Interpolants from the entry on, which are stronger.
        Forward = "forward",
    }
}

settings! {
    /// The settings of `interp`.
    Options {
        /// Reachability, safety and error interpolants: the kinds that are used.
        kinds: Kinds = Kinds::Rse, paper "R,S,E";
        /// Which node is explored first.
        search: Order = Order::Weighted, paper "weighted";
        /// Where forced covering is tried.
        force: Force = Force::Heads, source "McMillan, CAV 2006", paper "none";
        /// The clauses of an edge: all between two locations, or one.
        blocks: Blocks = Blocks::Action, paper "clause";
        /// How paths are excluded, and which formulas become labels.
        labels: Labels = Labels::Obligations, paper "shared";
        /// Where clauses have several body atoms, whether known lemmas and bounds are tried as
        /// labels before interpolants.
        domain: bool = true, paper "false";
        /// Whether locations from which the error is not reached are left out.
        prune: bool = true, paper "true";
    }
}

impl Options {
    /// Whether labels are made and nodes are covered.
    pub(super) fn reachability(&self) -> bool {
        matches!(self.kinds, Kinds::R | Kinds::Re | Kinds::Rs | Kinds::Rse)
    }

    /// The options for systems of these theories.
    pub(super) fn fit_for(&self, theories: &Theories) -> Options {
        let mut own = self.clone();
        // A cube of arrays or datatypes describes one state too closely to generalize by a core.
        if own.labels == Labels::Obligations && (theories.array || theories.datatype) {
            own.labels = Labels::Shared;
        }
        own
    }

    /// Whether paths are excluded by proof obligations.
    pub(super) fn obligations(&self) -> bool {
        let by_obligations = self.labels == Labels::Obligations;
        by_obligations && self.blocks == Blocks::Action && self.reachability()
    }

    /// Whether there are regions and nodes are pruned.
    pub(super) fn safety(&self) -> bool {
        matches!(self.kinds, Kinds::S | Kinds::Rs | Kinds::Se | Kinds::Rse)
    }

    /// Whether suffixes of paths to the error are kept.
    pub(super) fn error(&self) -> bool {
        matches!(self.kinds, Kinds::Re | Kinds::Se | Kinds::Rse)
    }
}
