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
//! EXTRACTINVS and ABSTRACT share one copy of the clauses in one incremental solver (`constraints`, Fig.
//! 6) for the whole run.
//!
//! Beyond the paper: systems need not be linear, so derivations are trees, and counters bound
//! their height. Instead of counters, the height of derivations may be bounded by the levels of
//! the oracle's frames, so that lemmas are about the program's variables only. The oracle keeps what
//! is still valid from one under-approximation to the next.
//!
//! Defaults, by a few measurements in processor time on a loaded machine, so rough ones:
//!
//! - PBA instead of CEGAR, with heights: of 6 ssh and systemc programs it solves 4, CEGAR 3 (and only when
//!   it never forgets assumptions), with at most 32 iterations instead of up to 139.
//! - Counters and heights both solve 21 of 23 LIA-Lin, LIA and LRA-Lin tasks (each seventh of a
//!   development set, 2 s). Of 12 array and systemc programs both solve 9, not the same ones. Counters
//!   need about half the bound. On 6 other programs, of ssh and systemc, counters solve 5, heights with
//!   assumptions for arguments 6, counters with these 4.
//! - Fig. 1(a) as it is written takes 2 s with bound 5 and half of its constraints; Z3's Spacer alone does
//!   not end in 65 s (18 s of processor time). Fig. 2 needs bound 5.
//! - `pdr` alone solved all 12 and 13 of 14 of the paper's programs where this loop around it solved 9.
//!
//! Not measured: extraction, next, needed-lemmas, core-queries, strengthen-targets, patience.
//!
//! Invariant: the oracle only ever sees bounded systems. A verdict about the clauses as they are
//! comes from EXTRACTINVS or from REFINE.

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
use crate::context::Context;
use crate::smt::Watchdog;
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
        let mut search = Search::new(system, self.options.clone());
        let smt = search.smt().clone();
        let _watchdog = Watchdog::new(smt.interrupter(), cx.deadline, cx.interrupt.clone());
        let verdict = search.run(cx);
        search.record_statistics(cx);
        cx.stats.add("spacer.queries", smt.usage().0);
        cx.stats.add_time("spacer.smt", smt.usage().1);
        verdict
    }
}
