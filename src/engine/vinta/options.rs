//! The choices of the engine, each with its default and where it comes from.
//!
//! Invariant: no choice decides whether an answer is right, only whether and when there is one.

use crate::engine::settings::{choices, settings};

choices! {
    /// The abstract domain.
    DomainName {
        /// Several of the others in turn.
        Auto = "auto",
        /// Unions of boxes: decision diagrams over bounds.
        Boxes = "boxes",
        /// Bounds, for each valuation of finite arguments.
        Box = "box",
        /// Bounds.
        Intervals = "intervals",
        /// Values.
        Constants = "constants",
        /// Bits and bounds of words, bounds of numbers.
        Bits = "bits",
        /// Bounds, affine equations and congruences.
        Congruences = "congruences",
        /// Octagons over packs of variables.
        Octagons = "octagons",
        /// Bounds, congruences and polyhedra.
        Polyhedra = "polyhedra",
        /// The domain `polyhedra` over arguments and some of their products, for each side of the
        /// conditions that clauses ask.
        Products = "products",
        /// Polyhedra over packs of few variables.
        Packs = "packs",
    }
}

choices! {
    /// How labels are strengthened.
    Refinement {
        /// By interpolants under the labels before (VINTAREF).
        Restricted = "restricted",
        /// By interpolants alone (UFOREF).
        Unrestricted = "unrestricted",
    }
}

choices! {
    /// Where interpolants come from.
    Interpolants {
        /// Certificates of the theories, and projection where they fail.
        Certificates = "certificates",
        /// Projection at once.
        Projection = "projection",
    }
}

choices! {
    /// What a model is made of.
    Weaker {
        /// Clauses that a proof needs and the labels imply.
        Clauses = "clauses",
        /// Conjuncts of the labels that a proof needs.
        Conjuncts = "conjuncts",
    }
}

settings! {
    /// Heuristics and limits.
    Options {
        /// The abstract domain.
        domain: DomainName = DomainName::Auto;
        /// Interpolants restricted by the labels (VINTA) or not (UFO).
        refinement: Refinement = Refinement::Restricted;
        /// Interpolants by certificates of the theories, and by projection where they fail; or by
        /// projection at once.
        interpolants: Interpolants = Interpolants::Certificates;
        /// How often unneeded literals are sought before interpolation.
        core_rounds: usize = 3, source "VINTA, SAS 2012";
        /// Widen on each so-manieth visit of a loop's head.
        widen_every: usize = 3, from 1, source "VINTA, SAS 2012";
        /// Visits of a loop's head before the first that may widen: none in the paper, more in one
        /// of the turns of `auto`.
        widen_delay: usize = 0;
        /// Widening stops at numerals of the clauses.
        thresholds: bool = true;
        /// Valuations of finite arguments that are told apart, except in `boxes`.
        cases: usize = 64, from 1;
        /// Nodes of a decision diagram in `boxes`.
        diagram: usize = 20_000, from 1;
        /// Paths of a clause that go through the domain one by one.
        paths: usize = 5000, source "Monniaux, Gonnord, SAS 2011";
        /// Paths of a clause after which `boxes` forgets how variables go together; after as many
        /// again it is one box.
        fine_paths: usize = 100;
        /// Nodes of a tree that derivations by nonlinear clauses are unfolded to.
        tree: usize = 3000, from 1;
        /// Refinements, at most.
        max_refinements: Option<u32> = None;
        /// Ask Z3's older simplex where all arithmetic is linear.
        older_simplex: bool = true;
        /// Models of clauses, or of conjuncts of the labels; of the labels themselves where that
        /// fails. In the domain `products` always of conjuncts.
        weaker: Weaker = Weaker::Clauses;
        /// Write the abstract reachability graph of the last phase to this file, as Graphviz.
        arg: Option<String> = None;
    }
}

impl Options {
    /// Whether refined labels are stronger than those before.
    pub(super) fn restricted(&self) -> bool {
        self.refinement == Refinement::Restricted
    }

    /// Whether the loop's head is widened on this visit, the first being 1.
    pub(super) fn widens(&self, visit: usize) -> bool {
        visit > self.widen_delay && visit.is_multiple_of(self.widen_every)
    }
}
