//! The settings of `vinta`.
//!
//! Invariant: a setting decides whether and when there is an answer, never which one.

use alphorn_engine::settings::{choices, settings};

choices! {
    /// The abstract domain.
    DomainName {
        /// Several of the others in turn.
        Auto = "auto",
        /// All states: interpolation alone, as in UFO.
        None = "none",
        /// Unions of boxes: decision diagrams over bounds.
        Boxes = "boxes",
        /// Bounds, one element for each valuation of finite arguments.
        Box = "box",
        /// Bounds.
        Intervals = "intervals",
        /// Constants.
        Constants = "constants",
        /// Bits and bounds of bit-vectors, bounds of numbers.
        Bits = "bits",
        /// Bounds, affine equations and congruences.
        Congruences = "congruences",
        /// Octagons over packs of variables.
        Octagons = "octagons",
        /// Bounds, congruences and polyhedra.
        Polyhedra = "polyhedra",
        /// The domain `polyhedra` over arguments and some of their products, with a case for each
        /// side of the conditions in clauses.
        Products = "products",
        /// Polyhedra over packs of few variables.
        Packs = "packs",
    }
}

choices! {
    /// How labels are strengthened.
    Refinement {
        /// By interpolants relative to the old labels (VINTAREF).
        Restricted = "restricted",
        /// By interpolants alone (UFOREF).
        Unrestricted = "unrestricted",
    }
}

choices! {
    /// How interpolants are computed.
    Interpolants {
        /// From certificates of the theories, and by projection where these fail.
        Certificates = "certificates",
        /// By projection only.
        Projection = "projection",
    }
}

settings! {
    /// The settings of `vinta`.
    Options {
        /// The abstract domain.
        domain: DomainName = DomainName::Auto, paper "boxes";
        /// Interpolants relative to the labels (VINTA) or not (UFO).
        refinement: Refinement = Refinement::Restricted, paper "restricted";
        /// Whether clauses of interpolants are added to other nodes of their location, and kept at
        /// new ones, where they hold.
        lemmas: bool = true, paper "false";
        /// Interpolants from certificates of the theories, and by projection where these fail; or
        /// by projection only.
        interpolants: Interpolants = Interpolants::Certificates;
        /// Visits of a loop's head before the first that may widen: none in the paper, more in one
        /// of the turns of `auto`.
        widen_delay: usize = 0;
        /// Whether widening stops at numerals of the clauses.
        thresholds: bool = true, paper "false";
        /// Paths of a clause that go through the domain one by one. After a fiftieth of them
        /// `boxes` forgets relations between variables; after as many again it is one box.
        paths: usize = 5000, source "Monniaux, Gonnord, SAS 2011";
        /// Write the abstract reachability graph of the last phase to this file, as Graphviz.
        arg: Option<String> = None;
    }
}

impl Options {
    /// Whether new labels are conjoined to the old ones.
    pub(super) fn restricted(&self) -> bool {
        self.refinement == Refinement::Restricted
    }
}
