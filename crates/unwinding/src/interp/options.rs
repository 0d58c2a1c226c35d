//! The choices of the engine, each with its default and where it comes from.
//!
//! Invariant: no choice decides whether an answer is right, only whether and when there is one.

use alphorn_chc::Theories;
use alphorn_engine::settings::{choices, settings};

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
    /// How paths are excluded, and what becomes labels.
    Labels {
        /// Lemmas by proof obligations, from label to label, which never look at more than a step.
        /// As `shared` where that is not possible or not good: with edges for single clauses,
        /// without labels, with arrays or datatypes.
        Obligations = "obligations",
        /// Interpolants from the error back, which regions and suffixes use, too.
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
        /// How paths are excluded, and what becomes labels.
        labels: Labels = Labels::Obligations;
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

    /// The options for systems of these theories.
    pub(super) fn fit_for(&self, theories: &Theories) -> Options {
        let mut own = self.clone();
        // A cube of arrays or datatypes says too much of one state for a core of it to be a lemma.
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

    /// Whether regions are made and nodes are pruned.
    pub(super) fn safety(&self) -> bool {
        matches!(self.kinds, Kinds::S | Kinds::Rs | Kinds::Se | Kinds::Rse)
    }

    /// Whether suffixes of paths to the error are kept.
    pub(super) fn error(&self) -> bool {
        matches!(self.kinds, Kinds::Re | Kinds::Se | Kinds::Rse)
    }
}
