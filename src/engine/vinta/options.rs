//! The choices of the engine, each with its default and where it comes from.
//!
//! Invariant: no choice decides whether an answer is right, only whether and when there is one.

use crate::engine::settings::{Setting, Value, choices};

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

/// Heuristics and limits.
#[derive(Clone, Debug)]
pub struct Options {
    /// The abstract domain. Default: `auto`.
    pub domain: DomainName,
    /// Interpolants restricted by the labels (VINTA) or not (UFO). Default: `restricted`.
    pub refinement: Refinement,
    /// Interpolants by certificates of the theories (the service of [`crate::smt`]), by projection if
    /// that fails; or by projection at once. Default: `certificates`.
    pub interpolants: Interpolants,
    /// How often unneeded literals are sought before interpolation; from 0. Default: 3, as in the
    /// paper.
    pub core_rounds: usize,
    /// Widen on each so-manieth visit of a loop's head; from 1. Default: 3, as in the paper.
    pub widen_every: usize,
    /// Visits of a loop's head before the first at which it may be widened; from 0 (the paper). Default:
    /// 0, but in one of the turns of `auto` more.
    pub widen_delay: usize,
    /// Widening stops at numerals of the system. Default: on; the paper does not.
    pub thresholds: bool,
    /// Valuations of Booleans and enumerations that are told apart, in domains but `boxes`; from 1.
    /// Default: 64.
    pub cases: usize,
    /// Nodes of a decision diagram in `boxes`; from 1. Default: 20000.
    pub diagram: usize,
    /// Paths of one clause that go through the domain one by one; from 0. Default: 5000.
    pub paths: usize,
    /// Paths of one clause after which `boxes` forgets how variables go together; after as many again
    /// it is one box; from 0. Default: 100.
    pub fine_paths: usize,
    /// Nodes of a tree that derivations by nonlinear clauses are unfolded to; from 1. Default: 3000.
    pub tree: usize,
    /// Refinements, at most; `None` (default) for no limit.
    pub max_refinements: Option<u32>,
    /// Ask Z3's older simplex where all arithmetic is linear. Default: on.
    pub older_simplex: bool,
    /// What models are made of; the labels themselves where that fails. Default: `clauses`, but
    /// `conjuncts` in the domain `products`.
    pub weaker: Weaker,
    /// Where the graph of the last phase is written, in Graphviz's language. Default: nowhere.
    pub arg: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            domain: DomainName::Auto,
            refinement: Refinement::Restricted,
            interpolants: Interpolants::Certificates,
            core_rounds: 3,
            widen_every: 3,
            widen_delay: 0,
            thresholds: true,
            cases: 64,
            diagram: 20_000,
            paths: 5000,
            fine_paths: 100,
            tree: 3000,
            max_refinements: None,
            older_simplex: true,
            weaker: Weaker::Clauses,
            arg: None,
        }
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

    pub(super) fn settings(&mut self) -> Vec<Setting<'_>> {
        let options = self;
        let count = |name, least, about, value| Setting {
            name,
            about,
            value: Value::Count { value, least },
        };
        vec![
            Setting {
                name: "domain",
                about: "The abstract domain.",
                value: Value::Choice(&mut options.domain),
            },
            Setting {
                name: "refinement",
                about: "Interpolants restricted by the labels (VINTA) or not (UFO).",
                value: Value::Choice(&mut options.refinement),
            },
            Setting {
                name: "interpolants",
                about: "Interpolants by certificates of the theories, or by projection at once.",
                value: Value::Choice(&mut options.interpolants),
            },
            count(
                "core-rounds",
                0,
                "How often unneeded literals are sought before interpolation (VINTA: 3).",
                &mut options.core_rounds,
            ),
            count(
                "widen-every",
                1,
                "Widen on each so-manieth visit of a loop's head (VINTA: 3).",
                &mut options.widen_every,
            ),
            count(
                "widen-delay",
                0,
                "Visits of a loop's head before the first that may widen.",
                &mut options.widen_delay,
            ),
            Setting {
                name: "thresholds",
                about: "Widening stops at numerals of the clauses.",
                value: Value::Flag(&mut options.thresholds),
            },
            count(
                "cases",
                1,
                "Valuations of finite arguments that are told apart, except in boxes.",
                &mut options.cases,
            ),
            count(
                "diagram",
                1,
                "Nodes of a decision diagram in boxes.",
                &mut options.diagram,
            ),
            count(
                "paths",
                0,
                "Paths of a clause that go through the domain one by one (Monniaux, Gonnord 2011).",
                &mut options.paths,
            ),
            count(
                "fine-paths",
                0,
                "Paths of a clause after which boxes forgets how variables go together.",
                &mut options.fine_paths,
            ),
            count(
                "tree",
                1,
                "Nodes of a tree that derivations by nonlinear clauses are unfolded to.",
                &mut options.tree,
            ),
            Setting {
                name: "max-refinements",
                about: "Refinements, at most.",
                value: Value::Limit(&mut options.max_refinements),
            },
            Setting {
                name: "older-simplex",
                about: "Ask Z3's older simplex where all arithmetic is linear.",
                value: Value::Flag(&mut options.older_simplex),
            },
            Setting {
                name: "weaker",
                about: "Models of clauses, or of conjuncts of the labels.",
                value: Value::Choice(&mut options.weaker),
            },
            Setting {
                name: "arg",
                about: "Write the abstract reachability graph to this file, as Graphviz.",
                value: Value::File(&mut options.arg),
            },
        ]
    }
}
