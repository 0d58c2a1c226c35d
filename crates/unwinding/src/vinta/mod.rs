//! VINTA: abstract interpretation guided by interpolants ("Craig Interpretation").
//!
//! Paper: Albarghouthi, Gurfinkel, Chechik, "Craig Interpretation" (SAS 2012). On UFO: the same,
//! "From under-approximations to over-approximations and back" (TACAS 2012).
//!
//! The search (`search`) has two phases that alternate. EXPANDARG unrolls the cutpoint graph
//! (`chc::cutpoints`) in the recursive iteration strategy, and labels the nodes by abstract
//! interpretation (`proof::posts`, and `widen` of each graph), until everything new is covered. If the
//! error is not reached, the labels are a model. Else VINTAREF encodes the graph: a model of the
//! formula is a derivation of `false`; if there is none, interpolants strengthen the labels, and
//! the unrolling goes on where these are not inductive.
//!
//! There are two kinds of graph. For linear systems it is the paper's abstract reachability graph
//! (`arg`), for nonlinear clauses a hypergraph (`hyper`), which that module's essay describes. The
//! domains are those of `domain::catalogue`; `domains` says which of them have a turn when
//! none is named.
//!
//! # The paper's procedures, by their names
//!
//! - VINTAMAIN, EXPANDARG, VINTAREF and UFOREF: `search`, for both kinds of graph.
//! - EXPANDNODE, GETFUTURENODE, COMPUTEPOST: `arg::expand`. WIDENWITH, and α: `arg::widen`.
//! - WTONEXT and WTOEXIT: both are `Cutpoints::next` of `chc::cutpoints`, since where to go on
//!   depends on what is pending alone.
//! - ENCODEBMC and DECODEBMC: `arg::encode`. VINTARDI: `by_certificates` of `arg`, which gives the
//!   edges and their sources' labels to DAGITP, that is `Interpolator::dag` of `smt`.
//!
//! Fig. 2(c) and Fig. 5 are tests of `arg`, with widening at each unrolling, as in the examples.
//! The picture of Fig. 5(a) is missing in our copy of the paper: its program is reconstructed from
//! the labels that the text tells of. One refinement is enough, as in the paper, but without
//! restriction as well: there the paper has `x ≠ 9` for the covered node, which loses `x ≤ 10`. Our
//! interpolants of a node are made of implicants of all that leads to it, so the entry's `x ≤ 10`
//! is in them. (A program that needs more without restriction is in `tests/vinta.rs`.) Widened at
//! each third visit only, as in the paper's experiments, it needs no refinement: `x = 10`, `x = 8`
//! and `x ≤ 8` is found first.
//!
//! # What differs from the paper
//!
//! - **Posts.** An action's abstract post asks the solver for paths, and each path, an implicant of
//!   the clause's constraint, goes through the domain (Monniaux and Gonnord, SAS 2011): constraints
//!   are large blocks, and have more paths than can be listed. Many paths make posts coarser:
//!   `boxes` become products of what is known of each variable, then one box.
//! - **Labels.** In `boxes`, labels are cumulative and only what is new is explored. The paper's
//!   labels are the new part alone; but then the labels are no well-labelling, as restricted
//!   interpolants need one.
//! - **`boxes`** are decision diagrams with one node for all bounds of a variable; copies,
//!   constants and offsets along a path move the bounds of all boxes at once. Widening keeps the
//!   bounds of the smaller element, and stops at numerals of the clauses.
//! - **Covering.** What a covered node leads to does not change labels of others: such edges stay
//!   only where the label is computed anyway, or where refinement made both.
//! - **Widening** of a location late in a phase is a chain, with the last widened node as its left
//!   argument: the node before may be smaller, and the two would take turns for ever.
//! - **Interpolants** come from the interpolation service. Where it has none in time, clauses from
//!   proof obligations take their place, as in property directed reachability but along the graph
//!   (`project` of each graph); after a failure, certificates pause for some refinements. What
//!   fails is time, on large graphs, and not a theory: one query over all steps with a name for
//!   each literal.
//! - **Feasibility** is no query of its own for linear systems: the first one of certificates says
//!   whether there is a derivation, and so do obligations that lead to the entry.
//! - **Lemmas.** Conjuncts of interpolants go to other nodes of the location, where they hold
//!   (`share`). In domains without disjunctions new nodes keep them, where posts preserve them, as
//!   in UFO's predicate abstraction: else each node that a phase adds is refined again.
//! - **Models.** Safe labels become a smaller model: clauses that follow from the labels, found
//!   backwards from the queries, as few as make an inductive proof. In the domain `products` it is
//!   made of conjuncts of the labels (`conjuncts`).
//! - **Nonlinear clauses.** A location's nodes are a chain of growing labels. The premises of a
//!   node's hyperedges are the nodes that were last when it was made; so what is derived later from
//!   earlier premises is derived from them, too, and an interpolant of a node may restrict the
//!   nodes before it. Derivation trees are unfolded from the queries only where labels do not
//!   refute them. One tree with alternatives stands for all derivations; what it needs is
//!   interpolated, and a node's lemmas are the interpolants of all its copies. Lemmas that the
//!   clauses preserve are kept in new nodes, as UFO does with predicates; nodes that lemmas make
//!   redundant go.
//! - **Domain `products`** (`products`): products of counters, and of counters and what loops add,
//!   are further arguments of a system of their own, in which polyhedra and refinement are linear
//!   (Bagnara and others, SAS 2005), with cases for conditions that clauses ask.
//! - **Without `--domain`**, `boxes` begins and pauses after a while, without being lost:
//!   `products`, `box` and `polyhedra` have a short turn each (the paper's conclusion proposes to
//!   fall back where graphs grow too large), the last one also with late widening, for loops that
//!   have a phase before what lasts; and `boxes` goes on.
//!
//! Invariant: labels at the end of a phase over-approximate what is derivable, so `Sat` is said
//! with labels that are a model; `Unsat` comes with a derivation that evaluation has confirmed.

mod arg;
mod conjuncts;
mod domains;
mod hyper;
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

/// The engine.
#[derive(Clone, Debug, Default)]
pub struct VintaEngine {
    pub options: Options,
}

/// A defect.
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

    /// Of quantified constraints it sees instances.
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
        domains::solve(system, &self.options, cx)
    }
}

/// A run with one domain. Its models are made of clauses; or, where the conditions are given that
/// the domain's cases are split by, of conjuncts of the labels.
fn run(
    system: &System,
    domain: impl Domain + 'static,
    conditions: Option<&[TermId]>,
    options: &Options,
    pauses: Pauses,
    cx: &mut Context,
) -> Result<Verdict, EngineError> {
    // Compiled once.
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
