//! VINTA: abstract interpretation guided by interpolants ("Craig Interpretation").
//!
//! Paper: Albarghouthi, Gurfinkel, Chechik, "Craig Interpretation" (SAS 2012). On UFO: the same, "From
//! under-approximations to over-approximations and back" (TACAS 2012).
//!
//! For linear systems it unrolls the cutpoint graph (`cutpoints`) into an abstract
//! reachability graph (`arg`) whose labels come from an abstract domain (`post`, `widen`), location by
//! location in the recursive iteration strategy, until everything new is covered (`expand`). If the
//! error is not reached, the labels are a model. Else the graph is encoded (`encode`): a model of it is
//! a derivation of `false`. If there is none, interpolants strengthen the labels (`refine`) and the
//! unrolling goes on where these are not inductive. For systems with nonlinear clauses the graph is a
//! hypergraph, and tree interpolants strengthen the labels: see `hyper`.
//!
//! Deviations: the abstract post asks the solver for paths one by one instead of walking over the
//! statements of a program; in domains with exact differences labels are cumulative (see `expand`).
//!
//! Invariant: labels at the end of a phase over-approximate what is derivable, so `Sat` is said with
//! labels that are a model; `Unsat` comes with a derivation that evaluation has confirmed.

mod arg;
mod conjuncts;
mod cutpoints;
mod domains;
mod driver;
mod hyper;
mod options;
mod pauses;
mod picture;
mod post;
mod products;

use self::arg::Arg;
use self::conjuncts::needed_conjuncts;
use self::cutpoints::Cutpoints;
use self::driver::Vinta;
use self::hyper::Hypergraph;
pub use self::options::{DomainName, Interpolants, Options, Refinement};
use self::pauses::Pauses;
use super::settings::Setting;
use super::{Engine, EngineError, Unsupported};
use crate::chc::{Reachability, Shape, System};
use crate::domain::Domain;
use crate::proof::{confirm, weaken};
use crate::run::{Context, Reason};
use crate::smt::{Arithmetic, Smt};
use crate::term::TermId;
use crate::witness::{Model, Verdict};

/// The engine.
#[derive(Clone, Debug, Default)]
pub struct VintaEngine {
    pub options: Options,
}

/// Why a run ends without verdict of its own.
enum Stop {
    Reason(Reason),
    /// That of another run, in a pause of this one.
    Verdict(Verdict),
    Error(EngineError),
}

/// A defect.
fn failed(message: &str) -> Stop {
    Stop::Error(EngineError::Failed {
        step: "vinta",
        message: message.to_owned(),
    })
}

/// The oracle has no answer.
fn gave_up(why: &str, cx: &Context) -> Stop {
    let reason = cx.stop();
    Stop::Reason(reason.unwrap_or_else(|| Reason::Incomplete(format!("the oracle: {why}"))))
}

impl Engine for VintaEngine {
    fn name(&self) -> &'static str {
        "vinta"
    }

    fn supports(&self, shape: &Shape) -> Result<(), Unsupported> {
        if shape.theories.quantifier {
            return Err(Unsupported {
                engine: self.name(),
                what: "quantifiers".to_owned(),
            });
        }
        Ok(())
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        self.options.settings()
    }

    fn solve(&mut self, system: &System, cx: &mut Context) -> Result<Verdict, EngineError> {
        self.supports(&Shape::of(system))?;
        domains::solve(system, &self.options, cx)
    }
}

/// A run with one domain. Its models are made of clauses; or, where the conditions are given that the
/// domain's cases are split by, of conjuncts of the labels.
fn run<D: Domain>(
    system: &System,
    domain: &D,
    conditions: Option<&[TermId]>,
    options: &Options,
    pauses: Pauses,
    cx: &mut Context,
) -> Result<Verdict, EngineError> {
    let whole = system;
    let reachability = Reachability::new(whole);
    let mut system = whole.clone();
    let relevant = reachability.clauses().iter();
    system.clauses = relevant.map(|&c| whole.clauses[c].clone()).collect();
    let smt = Smt::within(&cx.budget);
    let shape = Shape::of(&system);
    if !shape.theories.nonlinear_arithmetic {
        smt.set_arithmetic(Arithmetic::Simplex);
    }
    let (outcome, labels) = if shape.linear {
        let arg = |_: &Cutpoints| Arg::new(domain.top());
        Vinta::new(&system, domain, options, arg, &smt, pauses, cx).run()
    } else {
        let graph = |cutpoints: &Cutpoints| Hypergraph::new(&system, cutpoints);
        Vinta::new(&system, domain, options, graph, &smt, pauses, cx).run()
    };
    match outcome {
        Ok(None) => {
            let weaker = match conditions {
                None => weaken(&system, &labels, &smt, cx),
                Some(conditions) => needed_conjuncts(&system, &labels, conditions, &smt, cx),
            };
            let mut definitions = weaker.unwrap_or(labels);
            for predicate in whole.used_predicates() {
                let default = system.terms.bool(reachability.is_derivable(predicate));
                definitions.entry(predicate).or_insert(default);
            }
            Ok(Verdict::Sat(Model { definitions }))
        }
        Ok(Some(refutation)) => Ok(confirm(whole, refutation, &smt, cx)),
        Err(Stop::Reason(reason)) => Ok(Verdict::Unknown(reason)),
        Err(Stop::Verdict(verdict)) => Ok(verdict),
        Err(Stop::Error(error)) => match cx.stop() {
            Some(reason) => Ok(Verdict::Unknown(reason)),
            None => Err(error),
        },
    }
}
