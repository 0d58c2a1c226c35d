//! Backward evaluation from the queries: a search for derivations of `false` through clauses that
//! are functional programs written as relations.
//!
//! Queries are resolved with clauses as in logic programming, by needed narrowing: a variable gets
//! a constructor only where a clause needs it (Antoy, Echahed, Hanus, "A Needed Narrowing
//! Strategy", JACM 2000; Runciman, Naylor, Lindblad, "SmallCheck and Lazy SmallCheck", Haskell
//! 2008). Atoms with one applicable rule are resolved first; arithmetic is propagated as bounds,
//! and values come late. The number of choices is bounded by a growing bound, so the first
//! counterexample that is found needs the fewest choices. If there are many choices of which most
//! are right, this takes too long; so a part of the work goes into random choices (as in Claessen,
//! Hughes, "QuickCheck", ICFP 2000, where values are random).
//!
//! - **Rules** (`rules`): clauses by cases, with patterns and guards.
//! - **Terms and constraints** (`store`), partially known, with undo.
//! - **The search** (`search`), and the derivation at its end.
//!
//! Invariant: `Unsat` comes with a derivation that evaluation has confirmed; the engine never
//! answers `Sat`.

mod limits;
mod rules;
mod search;
mod store;
#[cfg(test)]
mod tests;

use std::rc::Rc;

use self::limits::LIMITS;
use self::search::{Found, Search, compile};
use alphorn_chc::{Shape, System};
use alphorn_engine::settings::Setting;
use alphorn_engine::{Engine, EngineError, Unsupported, driver};
use alphorn_proof::{Stop, incomplete};
use alphorn_smt::{Arithmetic, Smt};
use alphorn_term::Random;
use alphorn_term::run::Context;
use alphorn_witness::Verdict;

/// The engine `enum`.
#[derive(Clone, Debug, Default)]
pub struct Enumerate;

impl Engine for Enumerate {
    fn name(&self) -> &'static str {
        "enum"
    }

    /// Systems over datatypes, Booleans and integers.
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
    let _limit = smt.limit_queries(Some(LIMITS.query_work));
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
            // All derivations were tried, except for instances that rules lack.
            Found::Never => return Err(incomplete("no refutation, but no model either")),
        }
        while choices > LIMITS.ordered_choices && at_random < in_order / LIMITS.random_parts {
            cx.stats.add("enum.random", 1);
            let before = search.steps;
            let found = search.run_at_random(&mut random, LIMITS.random_tries, smt, cx)?;
            at_random += search.steps - before;
            if let Found::Refutation(refutation) = found {
                return Ok(Verdict::Unsat(refutation));
            }
        }
    }
}
