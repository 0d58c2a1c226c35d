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
//! Invariant: the oracle only ever sees bounded systems. A verdict about the clauses as they are
//! comes from EXTRACTINVS or from REFINE.

mod abstraction;
mod assumptions;
mod bounding;
mod constraints;
mod extract;
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
