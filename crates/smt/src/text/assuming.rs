//! Validity of a text's assertions under assumptions, universal formulas that are known to hold.
//!
//! The same assertions may be given in several readings that assume more or less about their
//! functions. Each reading has a context, and the readings have turns on each assertion, since a
//! solver that keeps unfolding definitions may miss a proof without them.
//!
//! # Invariant
//! An assertion is valid only if Z3 finds its negation unsatisfiable together with the assumptions
//! of a reading. Assertions to be shown are never assumed.

use std::time::Instant;

use z3_sys::{Z3_ast, Z3_mk_not};

use super::limits::LIMITS;
use super::validity::{Constants, ended_at_a_limit, turn_work, with_constants};
use super::{Answer, Core, TextCheck, TextContext, TextSolver};
use alphorn_term::run::Budget;

/// A text whose first assertions are assumptions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reading {
    /// SMT-LIB commands.
    pub text: String,
    /// The number of assertions that are assumptions; they come first.
    pub assumptions: usize,
    /// Whether a model of an assertion's negation refutes the assertion; not if the reading leaves
    /// functions uninterpreted.
    pub decides: bool,
}

/// The kinds of solvers that have turns in each reading.
const CORES: [Core; 2] = [Core::Patterns, Core::Current];

/// A reading after Z3's parser.
struct Read<'b> {
    context: TextContext<'b>,
    assertions: Vec<Z3_ast>,
    assumptions: usize,
    decides: bool,
}

/// Whether every assertion that is no assumption is valid under the assumptions of one of the
/// readings. All readings have these assertions, in the same order; positions and numbers in the
/// result do not count assumptions. Ends at the first assertion that is not found valid, and with
/// the budget.
pub fn valid_in_some(readings: &[Reading], budget: &Budget) -> TextCheck {
    let mut read = Vec::with_capacity(readings.len());
    for reading in readings {
        let context = TextContext::new(budget);
        let assertions = match context.parse(&reading.text) {
            Ok(assertions) => assertions,
            Err(message) => return TextCheck::Malformed(message),
        };
        read.push(Read {
            context,
            assertions,
            assumptions: reading.assumptions,
            decides: reading.decides,
        });
    }
    let counts = |r: &Read| r.assertions.len().checked_sub(r.assumptions);
    let Some(count) = read.first().and_then(counts) else {
        return TextCheck::Malformed("assumptions are missing".to_owned());
    };
    if read.iter().any(|r| counts(r) != Some(count)) {
        return TextCheck::Malformed("the readings differ".to_owned());
    }
    for assertion in 0..count {
        match decided(&read, assertion) {
            Ok(Answer::Unsat) => {}
            Ok(Answer::Sat) => return TextCheck::Invalid { assertion },
            Ok(Answer::Unknown(reason)) | Err(reason) => {
                return TextCheck::Unknown { assertion, reason };
            }
        }
    }
    TextCheck::Valid { assertions: count }
}

/// The answer about the negation of an assertion, by all readings and solvers in turn.
fn decided(readings: &[Read<'_>], assertion: usize) -> Result<Answer, String> {
    let mut solvers = Vec::new();
    for core in CORES {
        for reading in readings {
            solvers.push((core, reading, None));
        }
    }
    let mut last = "timeout".to_owned();
    for round in 0..=LIMITS.max_limited_rounds {
        let limit = turn_work(round);
        let mut again = Vec::new();
        for (core, reading, solver) in solvers {
            if reading.context.budget.is_spent() {
                return Ok(Answer::Unknown("timeout".to_owned()));
            }
            let started = Instant::now();
            let mut solver = match solver {
                Some(solver) => solver,
                None => reading.solver(core, assertion)?,
            };
            let answer = solver.check(limit);
            log::debug!(
                "an assertion under {} assumptions, {core:?}: {:.3} s",
                reading.assumptions,
                started.elapsed().as_secs_f64()
            );
            match answer {
                Answer::Sat if !reading.decides => {
                    last = "it does not follow from the lemmas alone".to_owned();
                }
                Answer::Unknown(reason) => {
                    // A solver that ends before its limit has no further turn.
                    if ended_at_a_limit(&reason) {
                        again.push((core, reading, Some(solver)));
                    }
                    if !reason.is_empty() {
                        last = reason;
                    }
                }
                answer => return Ok(answer),
            }
        }
        solvers = again;
    }
    Ok(Answer::Unknown(last))
}

impl Read<'_> {
    /// A new solver with the assumptions and the negation of an assertion.
    fn solver(&self, core: Core, assertion: usize) -> Result<TextSolver<'_>, String> {
        let z3 = &self.context.z3;
        let mut solver = self.context.solver(core)?;
        for &assumption in &self.assertions[..self.assumptions] {
            solver.assert(assumption);
        }
        let formula = self.assertions[self.assumptions + assertion];
        let body = with_constants(&self.context, &mut Constants::default(), formula);
        let body = body.ok_or_else(|| z3.error())?;
        // SAFETY: the formula belongs to the context.
        solver.assert(z3.keep(z3.ok(unsafe { Z3_mk_not(z3.raw, body) })?));
        Ok(solver)
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;
    use std::time::Duration;

    use super::*;
    use alphorn_term::TermStore;

    fn check(readings: &[(&str, usize, bool)]) -> TextCheck {
        let budget = Budget::new(Rc::new(TermStore::new()), Default::default(), false);
        let budget = budget.work(Duration::from_secs(2));
        let readings = readings
            .iter()
            .map(|&(text, assumptions, decides)| Reading {
                text: text.to_owned(),
                assumptions,
                decides,
            });
        valid_in_some(&readings.collect::<Vec<_>>(), &budget)
    }

    const LEMMA: &str = "(declare-fun f (Int) Int)
        (assert (forall ((x Int)) (! (>= (f (f x)) x) :pattern ((f (f x))))))";

    #[test]
    fn assumptions_are_used_and_not_counted() {
        let goal = "(assert (forall ((y Int)) (=> (> y 3) (> (f (f y)) 2))))";
        let text = format!("{LEMMA} {goal}");
        let valid = TextCheck::Valid { assertions: 1 };
        assert_eq!(check(&[(&text, 1, false)]), valid);
        // The lemma is not valid as an assertion.
        let decided = check(&[(&text, 0, true)]);
        assert!(matches!(decided, TextCheck::Invalid { assertion: 0 }));
        let false_goal = text.replace("> y 3", "> y 1");
        let open = check(&[(&false_goal, 1, false)]);
        assert!(
            matches!(open, TextCheck::Unknown { assertion: 0, .. }),
            "{open:?}"
        );
    }

    #[test]
    fn one_reading_is_enough() {
        let goal = "(assert (= (f 7) 14)) (assert (forall ((y Int)) (=> (> y 3) (> (f (f y)) 2))))";
        let defined = "(define-fun f ((x Int)) Int (* 2 x))";
        let (open, defined) = (format!("{LEMMA} {goal}"), format!("{defined} {goal}"));
        let valid = TextCheck::Valid { assertions: 2 };
        assert_eq!(check(&[(&open, 1, false), (&defined, 0, true)]), valid);
        let wrong = defined.replace("14", "15");
        let open = open.replace("14", "15");
        let decided = check(&[(&open, 1, false), (&wrong, 0, true)]);
        assert_eq!(decided, TextCheck::Invalid { assertion: 0 });
        // Readings have to have the same assertions.
        let fewer = check(&[(&open, 1, false), ("(assert true)", 0, true)]);
        assert!(matches!(fewer, TextCheck::Malformed(_)));
        assert!(matches!(
            check(&[("(assert true)", 2, true)]),
            TextCheck::Malformed(_)
        ));
    }
}
