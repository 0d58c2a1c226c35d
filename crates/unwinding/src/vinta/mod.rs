//! VINTA: abstract interpretation guided by interpolants ("Craig Interpretation").
//!
//! Paper: Albarghouthi, Gurfinkel, Chechik, "Craig Interpretation" (SAS 2012); its predecessor UFO:
//! the same authors, "From under-approximations to over-approximations and back" (TACAS 2012).
//!
//! The search (`search`) alternates two phases. EXPANDARG unrolls the cutpoint graph
//! (`chc::cutpoints`) in the recursive iteration strategy and labels the nodes by abstract
//! interpretation (`proof::posts`, and the widening of each graph), until each new node is covered.
//! If the error is not reached, the labels are a model. Otherwise VINTAREF encodes the graph: a
//! model of the formula is a derivation of `false`; if there is none, interpolants strengthen the
//! labels, and unrolling continues where these are not inductive.
//!
//! For linear systems the graph is the paper's abstract reachability graph (`arg`), for nonlinear
//! clauses it is a hypergraph (`hyper`). The domains are those of `domain::catalogue`; `domains`
//! has their turns for runs without `--domain`.
//!
//! # Procedures of the paper
//!
//! - VINTAMAIN: `main`, EXPANDARG: `expand_arg`, VINTAREF and UFOREF: `refine`, all of `search` and
//!   for both kinds of graph.
//! - EXPANDNODE: `expand_node`, GETFUTURENODE: `future_node`, COMPUTEPOST: `compute_post`, all of
//!   `arg::expand`. WIDENWITH: `widen_with`, α: `relabel_node`, both of `arg::widen`.
//! - WTONEXT and WTOEXIT: both are `Cutpoints::next` of `chc::cutpoints`; which location comes next
//!   depends only on the pending ones.
//! - ENCODEBMC and ENCODE: `encode_bmc`, DECODEBMC: `decode_bmc`, both of `arg::encode`. VINTARDI:
//!   `by_certificates` of `arg`, which gives the edges and the labels of their sources to DAGITP,
//!   that is `Interpolator::dag` of the crate `interpolation`.
//!
//! Fig. 2(c) and Fig. 5 are tests of `arg`, with widening at each unrolling as in the examples. Our
//! copy of the paper lacks the picture of Fig. 5(a); the program is reconstructed from the labels
//! that the text gives. One refinement suffices, as in the paper, but also without restriction:
//! there the paper loses `x ≤ 10`, while our interpolants are made of implicants of everything that
//! leads to the node, which contain it. `tests/vinta.rs` has a program that needs more refinements
//! without restriction.
//!
//! # Deviations
//!
//! - **Posts.** The abstract post of an action asks the solver for paths; each path, an implicant
//!   of the clause's constraint, goes through the domain (Monniaux and Gonnord, SAS 2011), since a
//!   constraint has more paths than can be listed. With many paths the post gets coarser: `boxes`
//!   becomes the product of the sets of each variable, then one box.
//! - **Labels.** In `boxes` a label contains the labels before it, and only the new part is
//!   explored. The paper's labels are the new part only, which is no well-labelling; restricted
//!   interpolants need one.
//! - **`boxes`** are decision diagrams with one node for all bounds of a variable. Widening keeps
//!   the bounds of the smaller element and stops at numerals of the clauses.
//! - **Covering.** A covered node does not change the labels of other nodes: it keeps only edges to
//!   nodes that are labelled anew anyway, and edges between refined nodes.
//! - **Widening** late in a phase starts from the last widened node of the location, not from the
//!   node before: that one may be smaller, and the two could alternate for ever.
//! - **Interpolants** come from certificates of the solver. If those are not found in time, clauses
//!   from proof obligations along the graph replace them (`project` of each graph), and
//!   certificates pause for some refinements.
//! - **Feasibility** of a linear graph is no separate query: certificates begin with it, and
//!   obligations that lead back to the entry are a derivation.
//! - **Lemmas** (`vinta.lemmas`). Conjuncts of interpolants are added to other nodes of the location
//!   where they hold (`share`), and new nodes keep those that posts preserve, as in UFO's predicate
//!   abstraction. With the domain `none` and without restriction this is UFO with Cartesian
//!   abstraction; without lemmas it is UFO by interpolation alone.
//! - **Models.** Safe labels become a smaller model (`proof::weaken`): clauses that follow from the
//!   labels, as few as an inductive proof needs. In the domain `products` it consists of conjuncts
//!   of the labels (`conjuncts`).
//! - **Nonlinear clauses** (`hyper`) are not in the paper.
//! - **Domain `products`** (`products`): products of counters, and of counters and what loops add,
//!   are arguments of a second system, over which polyhedra and refinement are linear (Bagnara and
//!   others, SAS 2005), with a case for each side of the conditions in clauses.
//! - **Without `--domain`** several domains take turns (`domains`). The paper's conclusion proposes
//!   to use a coarser domain where graphs grow too large.
//!
//! With `vinta.as-in-paper=true` there are no lemmas, thresholds or turns of domains. The statistics
//! `vinta.answer.*` are about the run that has the answer; the others are sums over all turns.
//!
//! # Invariant
//!
//! Labels at the end of a phase over-approximate the derivable facts, so safe labels are a model;
//! a refutation is returned only after evaluation has confirmed it.

mod arg;
mod conjuncts;
mod domains;
mod hyper;
mod limits;
mod options;
mod pauses;
mod picture;
mod products;
mod search;

use self::arg::Arg;
use self::conjuncts::needed_conjuncts;
use self::hyper::Hypergraph;
pub use self::options::{DomainName, Interpolants, Options, Refinement};
use self::pauses::Pauses;
use self::search::Vinta;
use alphorn_chc::cutpoints::Cutpoints;
use alphorn_chc::{Reachability, Shape, System};
use alphorn_domain::{Domain, Erased};
use alphorn_engine::settings::Setting;
use alphorn_engine::{Engine, EngineError, Unsupported, driver};
use alphorn_proof::{Failure, Stop, complete_by_reachability, confirm, weaken};
use alphorn_smt::{Arithmetic, Smt};
use alphorn_term::TermId;
use alphorn_term::run::Context;
use alphorn_witness::{Model, Verdict};

/// The engine `vinta`.
#[derive(Clone, Debug, Default)]
pub struct VintaEngine {
    /// Its settings.
    pub options: Options,
}

/// The error for a defect of the engine.
fn failed(message: &str) -> Stop {
    Stop::Failure(Failure {
        step: "vinta",
        message: message.to_owned(),
    })
}

impl Engine for VintaEngine {
    fn name(&self) -> &'static str {
        "vinta"
    }

    /// Quantified constraints are replaced by instances.
    fn supports(&self, _shape: &Shape) -> Result<(), Unsupported> {
        Ok(())
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        self.options.settings()
    }

    fn solve(&mut self, system: &System, cx: &mut Context) -> Result<Verdict, EngineError> {
        if Shape::of(system).theories.quantifier {
            return driver::by_instances(system, &[], cx, |open, cx| self.solve(open, cx));
        }
        let predicates = system.used_predicates().len() as u64;
        cx.stats.set("vinta.predicates", predicates);
        domains::solve(system, &self.options, cx)
    }
}

/// A run with one domain. A model consists of clauses; if `conditions` are given (those by which
/// the domain splits cases), it consists of conjuncts of the labels.
fn run(
    system: &System,
    domain: impl Domain + 'static,
    conditions: Option<&[TermId]>,
    options: &Options,
    pauses: Pauses,
    cx: &mut Context,
) -> Result<Verdict, EngineError> {
    // One type of domain: the search is compiled once.
    run_erased(
        system,
        &Erased::new(domain),
        conditions,
        options,
        pauses,
        cx,
    )
}

fn run_erased(
    system: &System,
    domain: &Erased,
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
            let definitions = weaker.unwrap_or(labels);
            let mut model = Model {
                definitions,
                ..Model::default()
            };
            complete_by_reachability(whole, &reachability, &mut model);
            Ok(Verdict::Sat(model))
        }
        Ok(Some(refutation)) => Ok(confirm(whole, refutation, &smt, cx)),
        Err(stop) => driver::verdict(stop, cx),
    }
}
