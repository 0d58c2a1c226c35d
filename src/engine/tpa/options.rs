//! The choices of the engine, each with its default and where it comes from.
//!
//! Invariant: no choice decides whether an answer is right, only whether and when there is one.

use crate::engine::settings::{Setting, Value, choices};
use crate::smt::InterpolantForm;

choices! {
    /// Which relations are kept.
    Powers {
        /// So many steps exactly, and less than so many (FMCAD 2022).
        Split = "split",
        /// So many steps at most (TACAS 2022).
        Single = "single",
    }
}

choices! {
    /// Which interpolants refine relations.
    Form {
        /// Close to the composition: sums of its bounds.
        Strong = "strong",
        /// Close to the negation of the states between which no run is.
        Weak = "weak",
        /// Several sums in place of one (Blicha, Hyvärinen, Kofroň, Sharygina, TACAS 2019).
        Decomposed = "decomposed",
    }
}

impl Form {
    pub(super) fn form(self) -> InterpolantForm {
        match self {
            Form::Strong => InterpolantForm::Strong,
            Form::Weak => InterpolantForm::Weak,
            Form::Decomposed => InterpolantForm::Decomposed,
        }
    }
}

choices! {
    /// Where a step is added to see whether a relation is closed.
    Sides {
        /// After the relation, and before it.
        Both = "both",
        /// After the relation, from facts.
        Right = "right",
        /// Before the relation, towards queries.
        Left = "left",
    }
}

/// Heuristics and limits.
#[derive(Clone, Debug)]
pub struct Options {
    /// The relations. Default: `split`, which proves more (FMCAD 2022).
    pub powers: Powers,
    /// The interpolants. Default: `strong`, as in the papers.
    pub interpolants: Form,
    /// Where fixpoints are looked for. Default: `both`, as in the FMCAD paper.
    pub sides: Sides,
    /// Closed subsets of a relation's conjuncts may be a proof. Default: on; the papers ask for the
    /// whole relation.
    pub houdini: bool,
    /// Conjuncts that all numbers of steps keep hold at all levels. Default: on; our own.
    pub share: bool,
    /// Look for relations of exactly so many steps that are closed, which are k-inductive (FMCAD 2022).
    /// Default: on.
    pub exact_fixpoints: bool,
    /// Runs of two to the power of this are one query; from 0. Default: 3; the papers have 0.
    pub unroll: usize,
    /// Levels, at most; from 1. Default: 40.
    pub max_level: usize,
    /// A model has so many cubes at most; from 1. Default: 2000.
    pub max_cubes: usize,
    /// A refutation has so many steps at most; from 1. Default: 1000000.
    pub max_steps: usize,
    /// Use the older simplex of Z3. Default: on, as for `trl`.
    pub simplex: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            powers: Powers::Split,
            interpolants: Form::Strong,
            sides: Sides::Both,
            houdini: true,
            share: true,
            exact_fixpoints: true,
            unroll: 3,
            max_level: 40,
            max_cubes: 2_000,
            max_steps: 1_000_000,
            simplex: true,
        }
    }
}

impl Options {
    pub(super) fn settings(&mut self) -> Vec<Setting<'_>> {
        let count = |name, least, about, value| Setting {
            name,
            about,
            value: Value::Count { value, least },
        };
        vec![
            Setting {
                name: "powers",
                about: "Relations of exactly and less than so many steps (Blicha et al., FMCAD \
                        2022), or of at most so many (TACAS 2022).",
                value: Value::Choice(&mut self.powers),
            },
            Setting {
                name: "interpolants",
                about: "Which interpolants refine relations.",
                value: Value::Choice(&mut self.interpolants),
            },
            Setting {
                name: "sides",
                about: "Where a step is added to see whether a relation is closed.",
                value: Value::Choice(&mut self.sides),
            },
            Setting {
                name: "houdini",
                about: "Closed subsets of a relation's conjuncts may be a proof (Flanagan, Leino, \
                        FME 2001).",
                value: Value::Flag(&mut self.houdini),
            },
            Setting {
                name: "share",
                about: "Conjuncts that all numbers of steps keep hold at all levels.",
                value: Value::Flag(&mut self.share),
            },
            Setting {
                name: "exact-fixpoints",
                about: "Look for closed relations of exactly so many steps, which are k-inductive \
                        (FMCAD 2022).",
                value: Value::Flag(&mut self.exact_fixpoints),
            },
            count(
                "unroll",
                0,
                "Runs of two to the power of this are one query.",
                &mut self.unroll,
            ),
            count("max-level", 1, "Levels, at most.", &mut self.max_level),
            count(
                "max-cubes",
                1,
                "A model has so many cubes at most.",
                &mut self.max_cubes,
            ),
            count(
                "max-steps",
                1,
                "A refutation has so many steps at most.",
                &mut self.max_steps,
            ),
            Setting {
                name: "simplex",
                about: "Ask Z3's older arithmetic solver.",
                value: Value::Flag(&mut self.simplex),
            },
        ]
    }
}
