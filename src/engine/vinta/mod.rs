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
mod encode;
mod expand;
mod hyper;
mod options;
mod pauses;
mod post;
mod products;
mod project;
mod refine;
mod widen;

use std::rc::Rc;
use std::time::Instant;

use rustc_hash::FxHashMap;

use self::arg::{Arg, NodeId};
use self::conjuncts::needed_conjuncts;
use self::cutpoints::{Cutpoints, ENTRY, ERROR, Location, Relevant, relevant};
use self::expand::Visited;
pub use self::options::{DomainName, Interpolants, Options, Refinement, Weaker};
use self::pauses::Pauses;
use self::post::Posts;
use super::settings::Setting;
use super::{Engine, EngineError, Unsupported};
use crate::chc::{PredicateId, Shape, System};
use crate::domain::Domain;
use crate::proof::confirm;
use crate::proof::weaken;
use crate::run::Context;
use crate::run::Reason;
use crate::smt::{Arithmetic, Smt};
use crate::term::{TermId, TermStore};
use crate::witness::{Model, Refutation, Verdict};

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

/// The state of a run.
struct Vinta<'a, D: Domain> {
    system: &'a System,
    terms: Rc<TermStore>,
    domain: &'a D,
    options: &'a Options,
    cutpoints: Cutpoints,
    smt: Rc<Smt>,
    posts: Posts<'a, D>,
    arg: Arg<D::Element>,
    entry: NodeId,
    error: NodeId,
    /// By location, in this phase.
    visited: Vec<Visited>,
    /// By location: the node that is to be visited there (the paper's FN).
    future: Vec<Option<NodeId>>,
    /// By action: whether something that was explored takes it.
    alive: Vec<bool>,
    refinements: u32,
    /// Refinements for which certificates failed, and refinements until they are tried again.
    projections: u64,
    waiting: u32,
    started: Instant,
    pauses: Pauses<'a>,
    cx: &'a mut Context,
}

/// A run with one domain.
fn run<D: Domain>(
    system: &System,
    domain: &D,
    options: &Options,
    pauses: Pauses,
    cx: &mut Context,
) -> Result<Verdict, EngineError> {
    run_split(system, domain, &[], options, pauses, cx)
}

/// The same with the conditions that the domain's cases are split by.
fn run_split<D: Domain>(
    system: &System,
    domain: &D,
    conditions: &[TermId],
    options: &Options,
    pauses: Pauses,
    cx: &mut Context,
) -> Result<Verdict, EngineError> {
    let whole = system;
    let Relevant { system, derivable } = relevant(whole);
    let smt = Smt::within(&cx.budget);
    let shape = Shape::of(&system);
    if options.older_simplex && !shape.theories.nonlinear_arithmetic {
        smt.set_arithmetic(Arithmetic::Simplex);
    }
    let (outcome, labels) = match shape.linear {
        true => linear(&system, domain, options, &smt, pauses, cx),
        false => hyper::search(&system, domain, options, &smt, pauses, cx),
    };
    match outcome {
        Ok(None) => {
            let weaker = match options.weaker {
                Weaker::Clauses => weaken(&system, &labels, &smt, cx),
                Weaker::Conjuncts => needed_conjuncts(&system, &labels, conditions, &smt, cx),
            };
            let mut definitions = weaker.unwrap_or(labels);
            for predicate in whole.used_predicates() {
                let derivable = derivable[predicate.index()];
                let default = system.terms.bool(derivable);
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

/// How a search ended, `None` for labels that are safe; and the labels.
type Search = (
    Result<Option<Refutation>, Stop>,
    FxHashMap<PredicateId, TermId>,
);

/// VINTA for a linear system all of whose clauses are relevant.
fn linear<'a, D: Domain>(
    system: &'a System,
    domain: &'a D,
    options: &'a Options,
    smt: &Rc<Smt>,
    pauses: Pauses<'a>,
    cx: &'a mut Context,
) -> Search {
    let cutpoints = Cutpoints::new(system);
    let mut arg = Arg::new();
    let entry = arg.add_node(ENTRY, TermId::TRUE, domain.top());
    arg.nodes[entry].marked = false;
    arg.nodes[entry].refined = true;
    let error = arg.add_node(ERROR, TermId::FALSE, domain.top());
    let mut vinta = Vinta {
        terms: system.terms.clone(),
        posts: Posts::new(system, domain, smt, options),
        smt: smt.clone(),
        system,
        domain,
        options,
        cutpoints,
        arg,
        entry,
        error,
        visited: Vec::new(),
        future: Vec::new(),
        alive: Vec::new(),
        refinements: 0,
        projections: 0,
        waiting: 0,
        started: Instant::now(),
        pauses,
        cx,
    };
    let outcome = vinta.main();
    let labels = vinta.labels();
    vinta.finish();
    (outcome, labels)
}

impl<D: Domain> Vinta<'_, D> {
    /// VINTAMAIN: `None` when the labels are safe, else a derivation of `false`.
    fn main(&mut self) -> Result<Option<Refutation>, Stop> {
        loop {
            self.expand_arg()?;
            self.show_phase();
            if self.arg.nodes[self.error].label == TermId::FALSE {
                return Ok(None);
            }
            let most = self.options.max_refinements;
            if most.is_some_and(|most| self.refinements >= most) {
                let refinements = self.refinements;
                return Err(Stop::Reason(Reason::Incomplete(format!(
                    "false alarms are left after {refinements} refinements"
                ))));
            }
            if let Some(refutation) = self.refine()? {
                return Ok(Some(refutation));
            }
        }
    }

    /// For each location's predicate what the last phase reached.
    fn labels(&self) -> FxHashMap<PredicateId, TermId> {
        let predicates = self.cutpoints.predicates.iter().enumerate();
        let labels = predicates.filter_map(|(l, p)| Some(((*p)?, self.reached(l))));
        labels.collect()
    }

    /// The disjunction of the location's labels in this phase.
    fn reached(&self, location: Location) -> TermId {
        let mut parts: Vec<TermId> = Vec::new();
        for &node in self.visited.get(location).iter().flat_map(|v| &v.nodes) {
            let node = &self.arg.nodes[node];
            // Cumulative labels have all before them.
            if self.domain.is_disjunctive() && node.exact && !node.refined {
                parts.clear();
            }
            parts.push(node.label);
        }
        self.terms.or(&parts)
    }

    /// A line for the phase that ended, and the picture.
    fn show_phase(&mut self) {
        let visited = self.arg.visited();
        let covered = visited.iter().filter(|&&n| self.arg.nodes[n].covered);
        log::info!(
            "vinta: phase {}: {} nodes, {} covered, {} refinements, {} paths, {:.1} s",
            self.arg.phase,
            visited.len(),
            covered.count(),
            self.refinements,
            self.posts.paths,
            self.started.elapsed().as_secs_f64()
        );
        if let Some(path) = &self.options.arg {
            let picture = self.arg.to_graphviz(self.system, &self.cutpoints);
            if let Err(error) = std::fs::write(path, picture) {
                log::warn!("cannot write {path}: {error}");
            }
        }
    }

    /// The line on a terminal.
    fn report(&mut self, turn: usize) {
        let (phase, refinements) = (self.arg.phase, self.refinements);
        self.cx
            .progress
            .tick(|| format!("vinta: phase {phase}, node {turn}, {refinements} refinements"));
    }

    /// Statistics of the run.
    fn finish(&mut self) {
        let (queries, time) = self.smt.usage();
        let stats = &mut self.cx.stats;
        stats.add("vinta.phases", self.arg.phase as u64);
        stats.add("vinta.nodes", self.arg.nodes.len() as u64);
        stats.add("vinta.refinements", u64::from(self.refinements));
        stats.add("vinta.projections", self.projections);
        stats.add("vinta.paths", self.posts.paths);
        stats.add("vinta.queries", queries);
        stats.add_time("vinta.smt", time);
    }
}
