//! The choices of the engine, each with its default and where it comes from.
//!
//! Invariant: no choice decides whether an answer is right, only whether and when there is one.

use crate::engine::settings::{Setting, Value, choices};

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
        /// The equation of an argument of a clause's head with its value (section 6, after Vizel,
        /// Grumberg, Shoham, FMCAD 2012).
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
        /// A core, and all that is said about the same arguments (localisation, not in the paper).
        Arguments = "arguments",
        /// Cores of the single steps with the values of their facts (section 5, there found to need
        /// more refinements).
        Steps = "steps",
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
        /// None at first: the abstraction is asked about without bounds, and when that is not safe all
        /// bounds are raised (McMillan, Amla, "Automatic abstraction without counterexamples",
        /// TACAS 2003).
        Unbounded = "unbounded",
    }
}

choices! {
    /// How the maximal inductive subset of a proof is found.
    Extraction {
        /// Fig. 7: over all clauses at once.
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

/// Choices of the engine. The defaults are measured; see the engine's essay.
#[derive(Clone, Debug)]
pub struct Options {
    /// Default: heights.
    pub bounding: Bounding,
    /// Default: conjuncts.
    pub granularity: Granularity,
    /// Default: PBA.
    pub refinement: Refinement,
    /// Default: unbounded.
    pub next: Next,
    /// Default: Houdini's.
    pub extraction: Extraction,
    /// Default: `pdr`.
    pub solver: Solver,
    /// Queries that make a core of assumptions minimal, at most, for each core; from 0, `usize::MAX`
    /// for no limit. Default: 10.
    pub core_queries: usize,
    /// Milliseconds for an unrolled derivation; then it is looked at step by step. From 1. Default:
    /// 2000.
    pub unroll_milliseconds: usize,
    /// Abstract with the lemmas that the proof needs only. Default: on.
    pub needed_lemmas: bool,
    /// Milliseconds for an abstraction to be decided; then it gives way to all of Σ, with the lemmas
    /// found so far, and the next one gets half as much time again. From 1, `usize::MAX` for no limit.
    /// Default: 1000. (Not in the paper: an abstraction may be harder than what it abstracts.)
    pub patience: usize,
    /// A proof's abstraction takes the place of the one before (section 5); otherwise assumptions
    /// once in force stay. Default: on.
    pub forget: bool,
    /// Keep what still holds for the next run of the oracle. Default: on.
    pub incremental: bool,
    /// Invariants restrict the targets of clauses as well as their sources (section 4), except while heights
    /// are bounded, when clauses stay as they are. Default: on.
    pub strengthen_targets: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            bounding: Bounding::Heights,
            granularity: Granularity::Conjuncts,
            refinement: Refinement::Pba,
            next: Next::Unbounded,
            extraction: Extraction::Houdini,
            solver: Solver::Pdr,
            core_queries: 10,
            unroll_milliseconds: 2000,
            needed_lemmas: true,
            patience: 1000,
            forget: true,
            incremental: true,
            strengthen_targets: true,
        }
    }
}

impl Options {
    pub(super) fn settings(&mut self) -> Vec<Setting<'_>> {
        let setting = |name, about, value| Setting { name, about, value };
        vec![
            setting(
                "bounding",
                "What bounds derivations: their height, or counters of loops (section 5).",
                Value::Choice(&mut self.bounding),
            ),
            setting(
                "granularity",
                "What an assumption literal keeps (sections 5 and 6).",
                Value::Choice(&mut self.granularity),
            ),
            setting(
                "refinement",
                "What a spurious counterexample adds: a core, all, all about the same arguments, or cores of steps (sections 5, 6).",
                Value::Choice(&mut self.refinement),
            ),
            setting(
                "next",
                "Which counters' bounds are raised, or whether there is a try without any (section 5).",
                Value::Choice(&mut self.next),
            ),
            setting(
                "extraction",
                "How the maximal inductive subset is found: Fig. 7, or clause by clause.",
                Value::Choice(&mut self.extraction),
            ),
            setting(
                "oracle",
                "Who decides under-approximations; heights need pdr.",
                Value::Choice(&mut self.solver),
            ),
            setting(
                "core-queries",
                "Queries that make a core minimal, at most (section 5's MUS).",
                Value::Count {
                    value: &mut self.core_queries,
                    least: 0,
                },
            ),
            setting(
                "unroll-milliseconds",
                "Time for an unrolled derivation, before it is looked at step by step.",
                Value::Count {
                    value: &mut self.unroll_milliseconds,
                    least: 1,
                },
            ),
            setting(
                "needed-lemmas",
                "Abstract with the lemmas that the proof needs only (section 5).",
                Value::Flag(&mut self.needed_lemmas),
            ),
            setting(
                "patience",
                "Milliseconds for an abstraction, before everything is put in force; grows.",
                Value::Count {
                    value: &mut self.patience,
                    least: 1,
                },
            ),
            setting(
                "forget",
                "A proof's abstraction takes the place of the one before (section 5).",
                Value::Flag(&mut self.forget),
            ),
            setting(
                "incremental",
                "Keep what still holds for the next run of the oracle (section 5, last paragraph).",
                Value::Flag(&mut self.incremental),
            ),
            setting(
                "strengthen-targets",
                "Invariants restrict targets of clauses as well as sources (section 4).",
                Value::Flag(&mut self.strengthen_targets),
            ),
        ]
    }
}
