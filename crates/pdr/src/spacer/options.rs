//! The settings of the engine, each with its default and source.
//!
//! Invariant: no setting decides which answer there is, only whether and when there is one.

use alphorn_engine::settings::{choices, settings};

choices! {
    /// What bounds the derivations of an under-approximation.
    Bounding {
        /// Their height, by the levels of `pdr`'s frames; lemmas have no counters.
        Heights = "heights",
        /// A counter and a bound for each loop (section 5).
        Counters = "counters",
    }
}

choices! {
    /// The part of a clause that an assumption keeps.
    Granularity {
        /// A conjunct of a clause's constraint (section 5).
        Conjuncts = "conjuncts",
        /// A literal in the negation normal form of a clause's constraint, as in Fig. 3.
        Literals = "literals",
        /// The equation of an argument of a predicate with its value, in all clauses with that head
        /// (section 6, after Vizel, Grumberg, Shoham, FMCAD 2012).
        Arguments = "arguments",
    }
}

choices! {
    /// The assumptions that a spurious counterexample adds to the abstraction.
    Refinement {
        /// A core of the unrolled derivation (section 5).
        Cegar = "cegar",
        /// All of them (section 6, `t_p` in Table 1).
        Pba = "pba",
        /// Cores, until the search for them has cost a part of what the last proof did; then all.
        Hybrid = "hybrid",
    }
}

choices! {
    /// Which bounds are raised after a safe under-approximation.
    Next {
        /// Those of all loops (section 5).
        Uniform = "uniform",
        /// Those of loops with lemmas at their heads that are not inductive (the alternative of
        /// section 5).
        NonInductive = "non-inductive",
        /// First, the abstraction is solved without bounds; if it is not safe, all bounds are
        /// raised (McMillan, Amla, "Automatic abstraction without counterexamples", TACAS 2003).
        Unbounded = "unbounded",
    }
}

choices! {
    /// How the maximal inductive subset of a proof is found.
    Extraction {
        /// By queries about all clauses of a head predicate (Fig. 7 asks about all clauses).
        Mis = "mis",
        /// By queries about single clauses (Flanagan, Leino, FME 2001).
        Houdini = "houdini",
    }
}

choices! {
    /// The oracle that decides under-approximations.
    Solver {
        /// The engine `pdr`, incrementally.
        Pdr = "pdr",
        /// Z3's fixedpoint engine, from scratch each time, as in the paper.
        Muz = "muz",
    }
}

settings! {
    /// Options of `spacer`.
    Options {
        /// What bounds derivations: their height, or counters of loops (section 5).
        bounding: Bounding = Bounding::Heights, paper "counters";
        /// The part of a clause that an assumption keeps (sections 5 and 6).
        granularity: Granularity = Granularity::Conjuncts, paper "literals";
        /// The assumptions that a spurious counterexample adds: a core, or all (sections 5 and 6),
        /// or cores first and then all.
        refinement: Refinement = Refinement::Pba, paper "cegar";
        /// Which bounds are raised, or whether the abstraction is tried without any (section 5).
        next: Next = Next::Unbounded, paper "uniform";
        /// How the maximal inductive subset is found: as in Fig. 7, or clause by clause.
        extraction: Extraction = Extraction::Houdini, paper "mis";
        /// The oracle that decides under-approximations; with `muz`, counters bound them.
        oracle: Solver = Solver::Pdr, paper "muz";
    }
}
