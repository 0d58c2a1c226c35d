//! Evaluation backward from the queries: a search for derivations of `false` through clauses that
//! are functional programs written as relations.
//!
//! Queries are resolved with clauses as logic programs are, by needed narrowing: a variable gets a
//! constructor only where a clause looks at it (Antoy, Echahed, Hanus, "A Needed Narrowing
//! Strategy", JACM 2000; Runciman, Naylor, Lindblad, "SmallCheck and Lazy SmallCheck", Haskell
//! 2008). What is determined is done first, arithmetic is a matter of bounds and of values that
//! come late, and the number of choices is bounded, by a bound that grows: so the first
//! counterexample found needs the fewest decisions. Where that alone would take for ever, since
//! there are many choices of which most are right, a part of the work goes into choices at random
//! (Claessen, Hughes, "QuickCheck", ICFP 2000, where values are made at random before they are
//! looked at).
//!
//! - **Rules** (`rules`): clauses by cases, with patterns and guards.
//! - **Terms and constraints** (`store`), known in part, with a way to undo.
//! - **The search** (`search`), and the derivation at its end.
//!
//! Invariant: `Unsat` comes with a derivation, which evaluation confirms; nothing is said about
//! satisfiable systems.

mod rules;
mod search;
mod store;
#[cfg(test)]
mod tests;

use std::rc::Rc;
use std::time::Duration;

use self::search::{Found, Search, compile};
use alphorn_chc::{Shape, System};
use alphorn_engine::settings::Setting;
use alphorn_engine::{Engine, EngineError, Unsupported, driver};
use alphorn_proof::{Stop, incomplete};
use alphorn_smt::{Arithmetic, Smt};
use alphorn_term::Random;
use alphorn_term::run::Context;
use alphorn_witness::Verdict;

/// A query for the values of a derivation, as work.
const QUERY: Duration = Duration::from_millis(100);

/// With so many choices in order nothing is tried at random; then so much of the work is, as a
/// divisor, and so often a run at random goes back to an earlier choice.
const ORDERLY: usize = 3;
const SHARE: u64 = 2;
const TRIES: usize = 60;

/// The engine.
#[derive(Clone, Debug, Default)]
pub struct Enumerate;

impl Engine for Enumerate {
    fn name(&self) -> &'static str {
        "enum"
    }

    /// Programs over datatypes, Booleans and integers.
    fn supports(&self, shape: &Shape) -> Result<(), Unsupported> {
        driver::supports_datatypes(self.name(), shape)?;
        let what = match shape.theories {
            t if t.real => "reals",
            t if t.bitvec => "bit-vectors",
            _ => return Ok(()),
        };
        Err(Unsupported {
            engine: self.name(),
            what: what.to_owned(),
        })
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        Vec::new()
    }

    fn solve(&mut self, system: &System, cx: &mut Context) -> Result<Verdict, EngineError> {
        driver::run(&*self, system, Arithmetic::default(), cx, |smt, cx| {
            search(system, smt, cx)
        })
    }
}

fn search(system: &System, smt: &Rc<Smt>, cx: &mut Context) -> Result<Verdict, Stop> {
    let rules = compile(system, cx)?;
    let _limit = smt.limit_queries(Some(QUERY));
    let mut search = Search::new(system, &rules, &cx.budget);
    let mut choices = 0;
    let mut random = Random::new(1);
    let (mut in_order, mut at_random) = (0, 0);
    loop {
        cx.stats.set("enum.choices", choices as u64);
        let before = search.steps;
        let found = search.run(choices, smt, cx);
        in_order += search.steps - before;
        cx.stats.set("enum.steps", search.steps);
        match found? {
            Found::Refutation(refutation) => return Ok(Verdict::Unsat(refutation)),
            Found::None => choices += 1,
            // All there is was evaluated, as far as rules have all instances.
            Found::Never => return Err(incomplete("no refutation, but no model either")),
        }
        while choices > ORDERLY && at_random < in_order / SHARE {
            cx.stats.add("enum.random", 1);
            let before = search.steps;
            let found = search.run_at_random(&mut random, TRIES, smt, cx)?;
            at_random += search.steps - before;
            if let Found::Refutation(refutation) = found {
                return Ok(Verdict::Unsat(refutation));
            }
        }
    }
}
