//! Z3's own fixedpoint engine (Spacer) behind the same trait, for comparison.
//!
//! Paper: Komuravelli, Gurfinkel, Chaki, "SMT-based model checking for recursive programs" (FMSD
//! 2016), as Z3 implements it. Never part of the default.
//!
//! Z3 names the facts of a derivation but not how they follow from each other; `derivation` puts
//! them in order. Invariant: what Z3 says is passed on as a witness, to be checked like any other;
//! without one the answer is `Unknown`. The run's interrupt and deadline end Z3's search as well.
//!
//! Z3 5.4.0 has a fault that nothing here can catch. Seen once, and explained by the fault's address,
//! not reproduced: its Spacer goes on with a model that it did not get
//! (`derivation::create_next_child`), as when an interrupt or the deadline comes between a check and
//! its model, and the process crashes. The program answers `unknown` then, as after any crash; who
//! calls the library with this engine needs a process for it.

mod derivation;

use alphorn_chc::{Shape, System};
use alphorn_engine::settings::{Setting, settings};
use alphorn_engine::{Engine, EngineError, Unsupported, driver};
use alphorn_proof::{Stop, gave_up, incomplete};
use alphorn_smt::{Arithmetic, FixedpointAnswer};
use alphorn_term::run::Context;
use alphorn_witness::{Model, Verdict};

settings! {
    /// Choices of Z3's engine.
    Options {
        /// Global guidance: Z3's `fp.spacer.global`.
        global: bool = false, source "Krishnan et al., CAV 2020";
    }
}

/// The engine.
#[derive(Clone, Debug, Default)]
pub struct Muz {
    pub options: Options,
}

impl Engine for Muz {
    fn name(&self) -> &'static str {
        "muz"
    }

    /// Z3 reports itself what it does not know.
    fn supports(&self, _shape: &Shape) -> Result<(), Unsupported> {
        Ok(())
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        self.options.settings()
    }

    fn solve(&mut self, system: &System, cx: &mut Context) -> Result<Verdict, EngineError> {
        driver::run(
            &*self,
            system,
            Arithmetic::default(),
            cx,
            |smt, cx| match smt.fixedpoint(system, self.options.global, cx.remaining()) {
                FixedpointAnswer::Safe(definitions) => Ok(Verdict::Sat(Model {
                    definitions: definitions.into_iter().collect(),
                    ..Model::default()
                })),
                FixedpointAnswer::Unsafe(facts) => {
                    let refutation = derivation::order(system, smt, facts, cx);
                    refutation.map(Verdict::Unsat).map_err(|why| {
                        let unordered = || incomplete(format!("Z3 refutes, but {why}"));
                        cx.stop().map_or_else(unordered, Stop::Reason)
                    })
                }
                FixedpointAnswer::Unknown(why) => Err(gave_up(&why, cx)),
            },
        )
    }
}
