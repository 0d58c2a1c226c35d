//! The choices of the engine, each with its default and where it comes from.
//!
//! Invariant: no choice decides whether an answer is right, only whether and when there is one.

use alphorn_engine::settings::{choices, settings};

choices! {
    /// What makes an under-approximation finite.
    Bounding {
        /// Derivations of a bounded height, by the oracle's own levels: lemmas have no counters.
        Heights = "heights",
        /// A counter and a bound for each loop (section 5).
        Counters = "counters",
    }
}

choices! {
    /// What an assumption literal keeps.
    Granularity {
        /// A conjunct of a clause's constraint (section 5).
        Conjuncts = "conjuncts",
        /// A literal in the negation normal form of a clause's constraint, as in Fig. 3.
        Literals = "literals",
        /// The equations of a predicate's argument with its values, in all clauses with that head
        /// (section 6, after Vizel, Grumberg, Shoham, FMCAD 2012).
        Arguments = "arguments",
    }
}

choices! {
    /// What a spurious counterexample adds to the abstraction.
    Refinement {
        /// A core of the unrolled derivation (section 5).
        Cegar = "cegar",
        /// Everything (section 6, `t_p` in Table 1).
        Pba = "pba",
    }
}

choices! {
    /// Which bounds are raised after a safe under-approximation.
    Next {
        /// All of them (section 5).
        Uniform = "uniform",
        /// Those of loops with lemmas at their heads that are not inductive (section 5, named
        /// there as the alternative).
        NonInductive = "non-inductive",
        /// None at first: the abstraction is asked about without bounds, and when that is not
        /// safe all bounds are raised (McMillan, Amla, "Automatic abstraction without
        /// counterexamples", TACAS 2003).
        Unbounded = "unbounded",
    }
}

choices! {
    /// How the maximal inductive subset of a proof is found.
    Extraction {
        /// All the clauses of a predicate at once, as Fig. 7 does with all there are.
        Mis = "mis",
        /// Clause by clause (Flanagan, Leino, FME 2001).
        Houdini = "houdini",
    }
}

choices! {
    /// Who decides under-approximations.
    Solver {
        /// Our own `pdr`, incrementally.
        Pdr = "pdr",
        /// Z3's fixedpoint engine, each time from nothing, as in the paper.
        Muz = "muz",
    }
}

settings! {
    /// Choices of the engine. The defaults are measured; see the engine's essay.
    Options {
        /// What bounds derivations: their height, or counters of loops (section 5).
        bounding: Bounding = Bounding::Heights;
        /// What an assumption literal keeps (sections 5 and 6).
        granularity: Granularity = Granularity::Conjuncts;
        /// What a spurious counterexample adds to the abstraction: a core, or everything
        /// (sections 5 and 6).
        refinement: Refinement = Refinement::Pba;
        /// Which bounds are raised, or whether the abstraction is tried without any (section 5).
        next: Next = Next::Unbounded;
        /// How the maximal inductive subset is found: Fig. 7, or clause by clause.
        extraction: Extraction = Extraction::Houdini;
        /// Who decides under-approximations; heights need `pdr`.
        oracle: Solver = Solver::Pdr;
    }
}
