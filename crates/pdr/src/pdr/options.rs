//! The settings of the engine.
//!
//! Invariant: no setting decides which answer there is, only whether and when there is one.

use alphorn_engine::settings::settings;

settings! {
    /// Options of `pdr`.
    Options {
        /// The highest level of the query; `none` for no limit.
        max_level: Option<u32> = None;
        /// Use Z3's older simplex solver if all arithmetic is linear.
        older_simplex: bool = true;
        /// Assume `a = b` over Int and Real as two bounds, so that a core may keep one of them.
        split_equalities: bool = true;
        /// Generalize lemmas about one index of an array to all indexes.
        quantify: bool = true, source "Gurfinkel, Shoham, Vizel, ATVA 2018";
        /// Make the model only of the lemmas that the proof needs.
        weaken: bool = true, source "Ivrii, Gurfinkel, Belov, FMCAD 2014";
        /// Push a lemma again only if a new lemma excludes the step that prevented it.
        trigger_pushes: bool = true, source "Suda, Triggered clause pushing for IC3, 2013";
        /// Conjecture generalizations of several lemmas or obligations: global guidance.
        guidance: bool = true, source "Krishnan et al., CAV 2020";
    }
}
