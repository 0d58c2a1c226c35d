//! The atoms of a query as one predicate over all their arguments, solved by other engines.
//!
//! Where a query speaks of several derivations, a model would have to say exactly what each of them
//! computes. The product of the atoms is derived by one clause for each of them at once, and premises at
//! one position become products again, smaller ones where a derivation has ended. A model of the product
//! says how the arguments relate at each step; a formula for a product is a lemma about several facts,
//! and each clause of the product is a case of its proof (`witness::derivations`).
//!
//! # Procedure
//!
//! - The product is built from the queries on; clauses that contradict each other are left out.
//! - First premises at one position are joined. Then, where it makes a difference, also the calls of one
//!   clause: two calls of a function, or a call and a loop (`Joining`).
//! - Passes and engines solve it, as for `twin`.
//! - A model becomes a proof, a refutation one of the clauses: a step for each component.
//!
//! # Sources
//!
//! Predicate pairing: De Angelis, Fioravanti, Pettorossi, Proietti (TPLP 2018). Synchronised unfolding:
//! Mordvinov, Fedyukovich (LPAR-21, 2017). Deviation: premises are joined by their position, not by
//! what they say.
//!
//! Invariant: `Proven` comes with a proof whose cases are the clauses of the product; a refutation is
//! returned only after evaluation has confirmed it on the system.

mod limits;
mod product;
#[cfg(test)]
mod tests;

use std::rc::Rc;
use std::time::Duration;

use self::product::{Joining, Product};
use super::relate;
use alphorn_chc::{Shape, System};
use alphorn_engine::derived::Derived;
use alphorn_engine::schedule::{Limit, Schedule, Slot, slot};
use alphorn_engine::settings::Setting;
use alphorn_engine::{Engine, EngineError, Registry, Unsupported, driver};
use alphorn_proof::{Stop, confirm, incomplete};
use alphorn_smt::Smt;
use alphorn_term::run::{Context, Reason};
use alphorn_witness::Verdict;

/// The passes for a product.
const PASSES: &str = "default";

/// An engine's turn for a product.
#[derive(Clone, Copy)]
struct Turn {
    engine: &'static str,
    /// Whether the costly passes run before it.
    costly: bool,
}

const fn turn(engine: &'static str, costly: bool, share: f64, limit: Limit) -> Slot<Turn> {
    slot(Turn { engine, costly }, share, limit)
}

const SHORT: Limit = Limit::Work(Duration::from_millis(200));
const SECOND: Limit = Limit::Work(Duration::from_secs(1));
const LONG: Limit = Limit::Time(Duration::from_secs(300));

/// The engines that solve a product.
const SCHEDULE: Schedule<Turn> = &[
    turn("bmc", false, 0.05, SHORT),
    turn("pdr", false, 0.2, SHORT),
    turn("kind", false, 0.1, SHORT),
    turn("pdr", true, 0.3, SECOND),
    turn("templates", true, 0.2, SECOND),
    turn("spacer", true, 0.4, SECOND),
    turn("pdr", true, 0.6, LONG),
    turn("vinta", true, 0.6, LONG),
    turn("spacer", true, 1.0, LONG),
];

/// Building the product in which calls are joined, which is large for most programs of many functions.
const BUILDING_CALLS: Slot<()> = slot((), 0.2, SHORT);

/// The product of premises at one position, if calls are joined after it.
const BEFORE_CALLS: Slot<()> = slot((), 0.5, LONG);

/// The engine `pairs`.
#[derive(Clone)]
pub struct Pairs {
    /// The engines for the products.
    pub engines: Registry,
}

impl Engine for Pairs {
    fn name(&self) -> &'static str {
        "pairs"
    }

    /// As `relate`.
    fn supports(&self, shape: &Shape) -> Result<(), Unsupported> {
        relate::supports(self.name(), shape)
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        Vec::new()
    }

    fn solve(&mut self, system: &System, cx: &mut Context) -> Result<Verdict, EngineError> {
        self.supports(&Shape::of(system))?;
        match self.search(system, cx) {
            Ok(verdict) => Ok(verdict),
            Err(stop) => driver::verdict(stop, cx),
        }
    }
}

impl Pairs {
    /// Builds products, solves them, and translates the witness.
    fn search(&self, system: &System, cx: &mut Context) -> Result<Verdict, Stop> {
        let smt = Smt::within(&cx.budget);
        let calls = match product::has_calls(system) {
            true => self.with_calls(system, &smt, cx),
            false => None,
        };
        let mut last = Err(incomplete("queries and clauses speak of one fact each"));
        if product::has_joint_queries(system) {
            let plain = Product::of(system, Joining::Positions, &smt, cx)?;
            let part = match calls {
                Some(_) => BEFORE_CALLS.budget(&cx.budget),
                None => cx.budget.clone(),
            };
            last = cx.within(part, |cx| self.decide(system, &plain, &smt, cx));
        }
        match (last, calls) {
            (Ok(Verdict::Unknown(_)) | Err(_), Some(calls)) => {
                self.decide(system, &calls, &smt, cx)
            }
            (last, _) => last,
        }
    }

    /// The product in which calls are joined, if there are some and it is soon built.
    fn with_calls(&self, system: &System, smt: &Rc<Smt>, cx: &mut Context) -> Option<Product> {
        let part = BUILDING_CALLS.budget(&cx.budget);
        let product = cx.within(part, |cx| Product::of(system, Joining::Calls, smt, cx));
        product.ok().filter(Product::joins_calls)
    }

    /// Solves a product, and translates the witness.
    fn decide(
        &self,
        system: &System,
        product: &Product,
        smt: &Rc<Smt>,
        cx: &mut Context,
    ) -> Result<Verdict, Stop> {
        let (predicates, clauses) = (
            product.system.predicates.len(),
            product.system.clauses.len(),
        );
        cx.stats.set("pairs.predicates", predicates as u64);
        cx.stats.set("pairs.clauses", clauses as u64);
        log::debug!("pairs: {predicates} predicates, {clauses} clauses");
        match self.solve_product(&product.system, cx)? {
            Verdict::Sat(model) => match product.proof(system, &model) {
                Some(proof) => Ok(Verdict::Proven(proof)),
                None => Err(incomplete("the product's model has recursive functions")),
            },
            Verdict::Unsat(refutation) => match product.refutation(system, &refutation) {
                Some(refutation) => Ok(confirm(system, refutation, smt, cx)),
                None => Err(incomplete("a derivation of the product lacks values")),
            },
            other => Ok(other),
        }
    }

    /// Runs the turns of the engines on the product.
    fn solve_product(&self, product: &System, cx: &mut Context) -> Result<Verdict, Stop> {
        let mut derived = Derived::new(self.engines, product.clone(), PASSES, false, cx);
        let mut costly = false;
        let mut last = None;
        for slot in SCHEDULE {
            let turn = slot.turn;
            if let Some(reason) = cx.stop() {
                return Err(Stop::Reason(reason));
            }
            if turn.costly && !costly {
                derived = derived.run_passes(PASSES, cx);
                costly = true;
            }
            let part = slot.budget(&cx.budget);
            match derived.solve_by(turn.engine, part, cx)? {
                Verdict::Unknown(reason) => last = Some(reason),
                verdict => return Ok(verdict),
            }
        }
        let none = || Reason::Incomplete("no engine decides the product".to_owned());
        Err(Stop::Reason(cx.stop().or(last).unwrap_or_else(none)))
    }
}
