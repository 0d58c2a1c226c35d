//! The last look at a refutation before an engine gives it away.
//!
//! Invariant: a refutation that evaluation does not confirm becomes `Unknown`. That is no defect:
//! Z3 may choose what a division by zero or a selector on another constructor is, and a
//! refutation may not hang on that.

use std::rc::Rc;

use alphorn_chc::System;
use alphorn_smt::{SatResult, Smt};
use alphorn_term::TermId;
use alphorn_term::run::Context;
use alphorn_term::run::Reason;
use alphorn_witness::{Refutation, SystemRules, Verdict, check_steps};

/// Passes on a refutation of the system if each of its steps is one.
pub fn confirm(system: &System, refutation: Refutation, smt: &Rc<Smt>, cx: &Context) -> Verdict {
    let terms = &system.terms;
    let valid = |formula: TermId| {
        let mut solver = smt.solver();
        solver.assert(terms.not(formula));
        solver.check(&[]) == SatResult::Unsat
    };
    match check_steps(&SystemRules::new(system), &refutation, valid) {
        Ok(()) => Verdict::Unsat(refutation),
        Err(error) => Verdict::Unknown(cx.stop().unwrap_or_else(|| {
            Reason::Incomplete(format!("a derivation was found but not confirmed: {error}"))
        })),
    }
}
