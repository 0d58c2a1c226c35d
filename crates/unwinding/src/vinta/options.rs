//! The choices of the engine, each with its default and where it comes from.
//!
//! Invariant: no choice decides whether an answer is right, only whether and when there is one.

use alphorn_engine::settings::{choices, settings};

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
        /// Visits of a loop's head before the first that may widen: none in the paper, more in one
        /// of the turns of `auto`.
        widen_delay: usize = 0;
        /// Widening stops at numerals of the clauses.
        thresholds: bool = true;
        /// Paths of a clause that go through the domain one by one. After a fiftieth of them
        /// `boxes` forgets how variables go together; after as many again it is one box.
        paths: usize = 5000, source "Monniaux, Gonnord, SAS 2011";
        /// Write the abstract reachability graph of the last phase to this file, as Graphviz.
        arg: Option<String> = None;
    }
}

impl Options {
    /// Whether refined labels are stronger than those before.
    pub(super) fn restricted(&self) -> bool {
        self.refinement == Refinement::Restricted
    }
}
