//! The choices of the engine, each with its default and where it comes from.
//!
//! Invariant: no choice decides whether an answer is right, only whether and when there is one.

use crate::engine::settings::settings;

settings! {
    /// Heuristics and limits.
    Options {
        /// Highest level for the query.
        max_level: Option<u32> = None;
        /// Ask Z3's older simplex where all arithmetic is linear: 69 instead of 63 of the 100
        /// LIA-Lin and LRA-Lin tasks of a development set at 4 s.
        older_simplex: bool = true;
        /// Assume `a = b` over Int and Real as two bounds, so that a core may keep one.
        split_equalities: bool = true;
        /// Literals of a cube that may turn out to be needed before dropping ends.
        drop_failures: usize = usize::MAX, source "Bradley, VMCAI 2011";
        /// Models of steps from which sums of a blocked cube's bounds are made to replace them, at
        /// most. 4 win no more tasks than they lose.
        interpolant_rounds: usize = 0, source "Hoder, Bjørner, SAT 2012, section 4";
        /// First leave out what only integers and arrays need: a query that is unsatisfiable over
        /// the rationals is so over the integers, and its core says less. With it 111 instead of
        /// 113 of 130 LIA-Lin and LIA tasks are solved at 3 s.
        weak_abstraction: bool = false, source "Spacer's weak abstraction";
        /// Numerals of clauses and facts to which each bound of a blocked cube is tried to be
        /// moved, at most. With 6 it is 106 instead of 113 of the same tasks.
        bound_numerals: usize = 0, source "Spacer's bound expansion";
        /// Generalise lemmas about one index of an array to all indexes.
        quantify: bool = true, source "Gurfinkel, Shoham, Vizel, ATVA 2018";
        /// Generalise lemmas about cells to equations of their indexes or arrays.
        index_equations: bool = true;
        /// Weaken the model to the lemmas that the proof uses: by cores, not minimised.
        weaken: bool = true, source "Ivrii, Gurfinkel, Belov, FMCAD 2014";
        /// Push a lemma again only when the step that stopped it is excluded.
        trigger_pushes: bool = true, source "Suda, Triggered clause pushing for IC3, 2013";
        /// Look at lemmas together: global guidance.
        guidance: bool = true, source "Krishnan et al., CAV 2020";
        /// Look at the cubes of obligations together as well, before they are generalised.
        guidance_by_cubes: bool = true;
        /// Other predicates with the same sorts of arguments about which a conjecture that became
        /// a lemma is conjectured as well, at most.
        spread: usize = 8;
        /// Obligations after which only the query's is kept, and all lemmas; half as many more each
        /// time.
        restart_after: usize = usize::MAX, from 1, source "Spacer's restarts";
        /// Lemmas of one pattern from which on they are looked at together.
        cluster_size: usize = 3, from 2;
        /// How often a cluster is generalised.
        cluster_uses: usize = 10;
        /// Steps that a conjecture may take.
        conjecture_steps: usize = 10, from 1;
        /// Different coefficients of the same terms from which on they are bounded one by one.
        slopes: usize = 3, from 2;
        /// How often that is done for the same terms.
        slope_uses: usize = 20;
    }
}
