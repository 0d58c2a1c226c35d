//! The choices of the engine, each with its default and where it comes from.
//!
//! Invariant: no choice decides whether an answer is right, only whether and when there is one.

use crate::engine::settings::{choices, settings};
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

settings! {
    /// Heuristics and limits.
    Options {
        /// Relations of exactly and of less than so many steps, or of at most so many.
        powers: Powers = Powers::Split, source "Blicha et al., FMCAD 2022 and TACAS 2022";
        /// Which interpolants refine relations.
        interpolants: Form = Form::Strong;
        /// Where a step is added to see whether a relation is closed.
        sides: Sides = Sides::Both, source "Blicha et al., FMCAD 2022";
        /// Closed subsets of a relation's conjuncts may be a proof; the papers ask for the whole
        /// relation.
        houdini: bool = true, source "Flanagan, Leino, FME 2001";
        /// Conjuncts that all numbers of steps keep hold at all levels.
        share: bool = true;
        /// Look for closed relations of exactly so many steps, which are k-inductive.
        exact_fixpoints: bool = true, source "Blicha et al., FMCAD 2022";
        /// Runs of two to the power of this are one query; of 1 in the papers.
        unroll: usize = 3;
        /// Levels, at most.
        max_level: usize = 40, from 1;
        /// A model has so many cubes at most.
        max_cubes: usize = 2_000, from 1;
        /// A refutation has so many steps at most.
        max_steps: usize = 1_000_000, from 1;
        /// Ask Z3's older arithmetic solver.
        simplex: bool = true;
    }
}
