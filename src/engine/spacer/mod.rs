//! SPACER: proof-based and counterexample-guided abstraction over bounded under-approximations.
//!
//! Komuravelli, Gurfinkel, Chaki, Clarke, "Automatic abstraction in SMT-based unbounded software
//! model checking" (CAV 2013). `search` is the loop of Fig. 5; its routines, by their names:
//!
//! - INITU and NEXTU (`bounding`): derivations of a bounded height, or a counter and a bound for each
//!   loop.
//! - SOLVE (`oracle`): an oracle for the bounded systems.
//! - EXTRACTINVS (`extract`): the maximal subset of a proof's lemmas that is inductive for the clauses
//!   as they are. Once `false` is among them, they are a model.
//! - ABSTRACT (`abstraction`, MUS in `mus`): the parts of the clauses, Σ̂ out of Σ (`assumptions`),
//!   that the proof needs.
//! - REFINE and ISFEASIBLE (`refine`): the counterexample's whole derivation, unrolled.
//!
//! EXTRACTINVS and ABSTRACT share one copy of the clauses in incremental solvers (`constraints`, Fig. 6)
//! for the whole run.
//!
//! Beyond the paper: systems need not be linear, so derivations are trees, and counters bound
//! their height. Instead of counters, the height of derivations may be bounded by the levels of
//! the oracle's frames, so that lemmas are about the program's variables only. The oracle keeps what
//! is still valid from one under-approximation to the next.
//!
//! What differs from the paper: by default NEXTU first drops all bounds, so the abstraction of a bounded
//! proof may prove the program at once (McMillan, Amla, "Automatic abstraction without
//! counterexamples", TACAS 2003); its counterexample says how far to go if it does not. CEGAR may add
//! everything about the arguments of a core (`localise`).
//!
//! Defaults, by measurement on each fourth of 99 programs of ssh, systemc and ntdrivers, 10 s, two side by
//! side; solved of 25 and the sum of all seconds:
//!
//! - The defaults: 20, 83 s. Differences of 5 s are noise.
//! - Bounds: counters 20, 98 s; raising bounds only (`next=uniform`) 20, 84 s, but with counters half of the
//!   programs of ssh take 2 to 4 times as long so. Only counters of loops that are not inductive: 20, 99 s.
//! - Refinement: CEGAR 17, 133 s (an iteration for each path); by arguments 20, 89 s.
//! - Granularity: literals 20, 91 s; arguments 20, 91 s.
//! - Extraction: MIS of Fig. 7 20, 79 s; no difference.
//! - ABSTRACT: 100 queries for each core instead of 10 20, 88 s; all lemmas instead of the needed ones 20,
//!   89 s.
//! - Oracle: nothing kept between questions 20, 91 s; no patience 20, 85 s.
//!
//! With all defaults, 63 of 70 LIA-Lin, 58 of 60 LIA and 23 of 30 LRA-Lin tasks of a development set at 10 s;
//! `pdr` alone 64, 58, 23. Fig. 1(a) as it is written takes 0.3 s; Z3's Spacer alone does not end in 65 s
//! (18 s of processor time).
//!
//! Not measured: forget, strengthen-targets, unroll-milliseconds.
//!
//! Invariant: a verdict about the clauses as they are comes from EXTRACTINVS or from REFINE, whatever the
//! oracle was asked and said.

mod abstraction;
mod assumptions;
mod bounding;
mod constraints;
mod extract;
mod localise;
mod mus;
mod options;
mod oracle;
mod proof;
mod refine;
mod search;
#[cfg(test)]
mod tests;

pub use self::options::{Bounding, Extraction, Granularity, Next, Options, Refinement, Solver};

use self::search::Search;
use super::settings::Setting;
use super::{Engine, EngineError, Unsupported};
use crate::chc::{Shape, System};
use crate::run::Context;
use crate::witness::Verdict;

/// The engine.
#[derive(Clone, Debug, Default)]
pub struct Spacer {
    pub options: Options,
}

impl Engine for Spacer {
    fn name(&self) -> &'static str {
        "spacer"
    }

    /// Quantified constraints have no implicants here.
    fn supports(&self, shape: &Shape) -> Result<(), Unsupported> {
        if shape.theories.quantifier {
            return Err(Unsupported {
                engine: "spacer",
                what: "quantified constraints".to_owned(),
            });
        }
        Ok(())
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        self.options.settings()
    }

    fn solve(&mut self, system: &System, cx: &mut Context) -> Result<Verdict, EngineError> {
        let mut search = Search::new(system, self.options.clone(), &cx.budget);
        let smt = search.smt().clone();
        let verdict = search.run(cx);
        search.record_statistics(cx);
        cx.stats.add("spacer.queries", smt.usage().0);
        cx.stats.add_time("spacer.smt", smt.usage().1);
        verdict
    }
}
