//! Z3's own fixedpoint engine (Spacer) behind the same trait, for comparison.
//!
//! Paper: Komuravelli, Gurfinkel, Chaki, "SMT-based model checking for recursive programs" (FMSD
//! 2016), as Z3 implements it. Never part of the default.
//!
//! Z3 names the facts of a derivation but not how they follow from each other; `derivation` puts
//! them in order. Invariant: what Z3 says is passed on as a witness, to be checked like any other;
//! without one the answer is `Unknown`. The run's interrupt and deadline end Z3's search as well.

mod derivation;

use super::settings::{Setting, settings};
use crate::chc::{Shape, System};
use crate::engine::{Engine, EngineError, Unsupported};
use crate::proof::confirm;
use crate::run::Context;
use crate::run::Reason;
use crate::smt::{FixedpointAnswer, Smt};
use crate::witness::{Model, Verdict};

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
        let smt = Smt::within(&cx.budget);
        let answer = smt.fixedpoint(system, self.options.global, cx.remaining());
        cx.stats.add_time("muz.smt", smt.usage().1);
        let incomplete = |what: String| Verdict::Unknown(Reason::Incomplete(what));
        Ok(match answer {
            FixedpointAnswer::Safe(definitions) => Verdict::Sat(Model {
                definitions: definitions.into_iter().collect(),
            }),
            FixedpointAnswer::Unsafe(facts) => match derivation::order(system, &smt, facts, cx) {
                Ok(refutation) => confirm(system, refutation, &smt, cx),
                Err(why) => match cx.stop() {
                    Some(reason) => Verdict::Unknown(reason),
                    None => incomplete(format!("Z3 refutes, but {why}")),
                },
            },
            FixedpointAnswer::Unknown(why) => match cx.stop() {
                Some(reason) => Verdict::Unknown(reason),
                None => incomplete(format!("Z3: {why}")),
            },
        })
    }
}
