//! The choices of the engine, each with its default and where it comes from.
//!
//! Invariant: no choice decides whether an answer is right, only whether and when there is one.

use crate::engine::settings::{choices, settings};

choices! {
    /// Which kinds of interpolants are in use.
    Kinds {
        /// Reachability interpolants: labels and covering.
        R = "R",
        /// Safety interpolants: regions alone.
        S = "S",
        Re = "R,E",
        Rs = "R,S",
        Se = "S,E",
        /// Also error interpolants.
        Rse = "R,S,E",
    }
}

choices! {
    /// What is looked at next.
    Order {
        /// What has come round a loop least often, and then the last one first; the action with the
        /// largest weight.
        Weighted = "weighted",
        /// The last one first, in the order of the clauses.
        Dfs = "dfs",
        /// The least depth first.
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
    /// What one edge of the unwinding stands for.
    Blocks {
        /// All clauses between two locations; and each path is looked at when it gets longer.
        Action = "action",
        /// One clause; and a path is looked at when it ends in the error, as in the paper.
        Clause = "clause",
    }
}

choices! {
    /// Which interpolants become labels.
    Labels {
        /// Those from the error back, which regions and suffixes use, too.
        Shared = "shared",
        /// Those from the entry on, which are stronger.
        Forward = "forward",
    }
}

settings! {
    /// Heuristics.
    Options {
        /// Reachability, safety and error interpolants: which of them are in use.
        kinds: Kinds = Kinds::Rse;
        /// What is explored first.
        search: Order = Order::Weighted;
        /// Where forced covering is tried.
        force: Force = Force::Heads, source "McMillan, CAV 2006";
        /// What an edge stands for: all clauses between two locations, or one.
        blocks: Blocks = Blocks::Action;
        /// Which interpolants of a path become labels.
        labels: Labels = Labels::Shared;
        /// Where clauses have several body atoms, labels are sought among lemmas and bounds that are
        /// known to hold before there are interpolants.
        domain: bool = true;
        /// Leave out locations that reach no error.
        prune: bool = true;
    }
}

impl Options {
    /// Whether labels are made and nodes are covered.
    pub(super) fn reachability(&self) -> bool {
        matches!(self.kinds, Kinds::R | Kinds::Re | Kinds::Rs | Kinds::Rse)
    }

    /// Whether regions are made and nodes are pruned.
    pub(super) fn safety(&self) -> bool {
        matches!(self.kinds, Kinds::S | Kinds::Rs | Kinds::Se | Kinds::Rse)
    }

    /// Whether suffixes of paths to the error are kept.
    pub(super) fn error(&self) -> bool {
        matches!(self.kinds, Kinds::Re | Kinds::Se | Kinds::Rse)
    }
}
