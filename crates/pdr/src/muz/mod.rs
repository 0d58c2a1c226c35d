//! Z3's fixedpoint engine (Spacer) as an engine of alphorn, for comparison. It is not part of the
//! default strategy.
//!
//! Paper: Komuravelli, Gurfinkel, Chaki, "SMT-based model checking for recursive programs" (FMSD
//! 2016), as Z3 implements it.
//!
//! Z3 reports the facts of a derivation, but not which facts follow from which; `derivation` finds
//! the order.
//!
//! The process can crash: Z3 5.4.0's Spacer uses a model that it does not have
//! (`derivation::create_next_child`), probably when an interrupt or the deadline comes between a
//! check and reading its model. A program that calls this engine through the library should do so
//! in a separate process.
//!
//! # Invariant
//!
//! Z3's answer is returned with a witness, or as `Unknown`. The deadline of the run ends Z3's
//! search.

mod derivation;

use alphorn_chc::{Shape, System};
use alphorn_engine::settings::{Setting, settings};
use alphorn_engine::{Engine, EngineError, Unsupported, driver};
use alphorn_proof::{Stop, gave_up, incomplete};
use alphorn_smt::{Arithmetic, FixedpointAnswer};
use alphorn_term::run::Context;
use alphorn_witness::{Model, Verdict};

settings! {
    /// Options of `muz`.
    Options {
        /// Use global guidance, Z3's option `fp.spacer.global`.
        global: bool = false, source "Krishnan et al., CAV 2020";
    }
}

/// The engine `muz`.
#[derive(Clone, Debug, Default)]
pub struct Muz {
    /// The settings.
    pub options: Options,
}

impl Engine for Muz {
    fn name(&self) -> &'static str {
        "muz"
    }

    /// Every system is accepted; Z3 answers `unknown` where it does not support something.
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
                        let unordered = || incomplete(format!("Z3 found a refutation, but {why}"));
                        cx.stop().map_or_else(unordered, Stop::Reason)
                    })
                }
                FixedpointAnswer::Unknown(why) => Err(gave_up(&why, cx)),
            },
        )
    }
}
