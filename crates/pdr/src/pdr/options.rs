//! The settings of the engine.
//!
//! Invariant: no setting decides whether an answer is right, only whether and when there is one.

use alphorn_engine::settings::settings;

settings! {
    /// Heuristics and limits.
    Options {
        /// The highest level of the query; `none` for no limit.
        max_level: Option<u32> = None;
        /// Ask Z3's older simplex where all arithmetic is linear. It solves 69 instead of 63 of the
        /// 100 LIA-Lin and LRA-Lin tasks of a development set at 4 s.
        older_simplex: bool = true;
        /// Assume `a = b` over Int and Real as two bounds, so that a core may keep one of them.
        split_equalities: bool = true;
        /// Generalise lemmas about one index of an array to all indexes.
        quantify: bool = true, source "Gurfinkel, Shoham, Vizel, ATVA 2018";
        /// Make the model of those lemmas only that the proof needs.
        weaken: bool = true, source "Ivrii, Gurfinkel, Belov, FMCAD 2014";
        /// Push a lemma again only when a new lemma excludes the step that stopped it.
        trigger_pushes: bool = true, source "Suda, Triggered clause pushing for IC3, 2013";
        /// Look at lemmas together, and at the cubes of obligations: global guidance.
        guidance: bool = true, source "Krishnan et al., CAV 2020";
    }
}
