//! Lazy abstraction with reachability, safety and error interpolants ("InterpChecker").
//!
//! Paper: Tian, Duan, Duan, Ong, "More effective interpolations in software model checking" (ASE
//! 2017). The unwinding with covering is that of McMillan, "Lazy abstraction with interpolants"
//! (CAV 2006); learning on backtracking is that of McMillan, "Lazy annotation for program testing
//! and verification" (CAV 2010).
//!
//! The search (`search`) unwinds the cutpoint graph into a tree (`node`). An edge is an action: all
//! clauses between two locations, a large block. A path that ends in the error is a derivation, or
//! it is refuted by interpolants of one recursion (`refine`), which are used in three ways:
//!
//! - **R**, Definition 1: as labels. A node whose label implies that of an older one is covered
//!   (`cover`); labels may be strengthened for that (forced covering).
//! - **S**, Definition 2: as regions of locations: states from which the error is not reached
//!   (`regions`). A node within a full region is pruned.
//! - **E**, Definition 3: as suffixes of locations: ends of paths to the error, and which states
//!   they need (`errors`). Another path to such states is tried with them at once.
//!
//! Weights (`weights`, section IV-B) choose the next action, and locations from which the error is
//! not reached are left out (section IV-A). When no node is open, labels and regions are a model
//! (`model`). With `interp.as-in-paper=true` (interpolants of paths, an edge for each clause, no forced
//! covering, no facts, no lemmas or bounds from elsewhere) and the order `dfs` the search is the
//! paper's, node by node: a test checks its numbers for Fig. 1.
//!
//! # Procedures of the paper
//!
//! - The search: `run` and `visit` of `search`. The last reachable state of a path: `last_reached`
//!   of `refine`.
//! - Update R-Interp: `strengthen` of `cover`, called by `refute` of `refine`.
//! - Update S-Interp: `block` and `settle` of `regions`; a region's flag `full` is the paper's F,
//!   its blockers are I_s. Pruning: `prune` of `regions`.
//! - Update E-Interp: `keep_suffixes` of `errors`. Reporting an error early: `replay` of `errors`.
//! - Weights W: `weights`.
//!
//! # Deviations
//!
//! - **R** is kept at nodes, not at locations, and a label is the conjunction of interpolants
//!   itself, not an abstraction by predicates.
//! - **Guards.** Definitions 2 and 3 as printed are unsound over loops and branches. `guards` lists
//!   what is added; each guard has a task in the corpus.
//! - **Regions of loops.** A covered node does not backtrack. When no node below the head of a loop
//!   is open and every covering node is inside or closed, the labels of the subtree are a region.
//! - **Obligations** (`obligations`, `interp.labels`): labels are not interpolants of whole paths,
//!   but what each step needs of the label before it, from the error backwards, as in property
//!   directed reachability. A path is not checked before it ends in the error, except for the step
//!   that its last label allows; S and E are cores of labels. Over arrays and datatypes, where
//!   cubes generalize badly, and in the paper's mode, interpolants of paths are used as below.
//! - **Windows.** A path is refuted from its end: where the label of a node already contradicts the
//!   edges after it, the edges before it take no part.
//! - **Facts** (`facts`): conjuncts of labels that all clauses preserve (Houdini) are conjoined to
//!   all labels of their location.
//! - **Order.** The path with the fewest rounds of a loop is explored first, then depth first;
//!   among actions of one weight the one nearest to the error.
//! - **Projection** replaces certificates where these fail.
//! - **S and E have a share of the work each**, where there are labels; a smaller one, of the time,
//!   where they are interpolants of paths.
//! - **Nonlinear clauses** (`hyper`) have an AND/OR unwinding with tree interpolants, with R and
//!   forced covering; S and E have no effect there. Lemmas of other nodes, and bounds from abstract
//!   interpretation, become labels where they suffice, before interpolants are computed.
//! - **Exchange.** Facts go to other processes, and, with candidates for facts, to engines with
//!   later turns, which prove them.
//!
//! # Invariant
//!
//! `Sat` is returned only with labels and regions that are a model, or with facts that exclude all
//! queries; `Unsat` only with a derivation that evaluation has confirmed (`driver::run`).

mod cover;
mod errors;
mod facts;
mod guards;
mod hyper;
mod interpolants;
#[cfg(debug_assertions)]
mod invariants;
mod labels;
mod limits;
mod model;
mod node;
mod obligations;
mod options;
mod refine;
mod regions;
mod search;
#[cfg(test)]
mod tests;
mod weights;

use std::rc::Rc;

use self::guards::Guards;
use self::hyper::HyperSearch;
pub use self::options::Options;
use self::search::{End, Search};
use alphorn_chc::{Clause, Reachability, Shape, System};
use alphorn_engine::settings::Setting;
use alphorn_engine::{Engine, EngineError, Unsupported, driver};
use alphorn_proof::facts::Lemmas;
use alphorn_proof::{Stop, complete_by_reachability, weaken};
use alphorn_smt::{Arithmetic, Smt};
use alphorn_term::TermId;
use alphorn_term::run::Context;
use alphorn_witness::{Model, Verdict};

/// The engine `interp`.
#[derive(Clone, Debug, Default)]
pub struct Interp {
    /// Its settings.
    pub options: Options,
    lemmas: Lemmas,
}

impl Engine for Interp {
    fn name(&self) -> &'static str {
        "interp"
    }

    fn supports(&self, shape: &Shape) -> Result<(), Unsupported> {
        let what = match shape.theories {
            t if t.quantifier => "quantifiers",
            _ if !shape.linear && !self.options.reachability() => {
                "clauses with several body atoms without reachability interpolants"
            }
            _ => return Ok(()),
        };
        Err(Unsupported {
            engine: self.name(),
            what: what.to_owned(),
        })
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        self.options.settings()
    }

    fn solve(&mut self, system: &System, cx: &mut Context) -> Result<Verdict, EngineError> {
        let arithmetic = match Shape::of(system).theories.nonlinear_arithmetic {
            true => Arithmetic::default(),
            false => Arithmetic::Simplex,
        };
        let mut lemmas = Lemmas::default();
        let result = driver::run(&*self, system, arithmetic, cx, |smt, cx| {
            decide(system, &self.options, smt, &mut lemmas, cx)
        });
        self.lemmas = lemmas;
        result
    }

    fn lemmas(&mut self) -> Lemmas {
        std::mem::take(&mut self.lemmas)
    }
}

/// The clauses that are explored: those on a path to the error, or, without pruning, all that facts
/// lead to.
fn explored(system: &System, reachability: &Reachability, options: &Options) -> System {
    let mut own = system.clone();
    own.clauses = if options.prune {
        let relevant = reachability.clauses().iter();
        relevant.map(|&c| system.clauses[c].clone()).collect()
    } else {
        let derivable =
            |c: &&Clause| c.constraint != TermId::FALSE && reachability.clause_height(c).is_some();
        system.clauses.iter().filter(derivable).cloned().collect()
    };
    own
}

/// Runs a search. If it has no answer, it leaves facts as lemmas, and conjuncts of labels and
/// regions as candidates.
fn decide(
    whole: &System,
    options: &Options,
    smt: &Rc<Smt>,
    lemmas: &mut Lemmas,
    cx: &mut Context,
) -> Result<Verdict, Stop> {
    let reachability = Reachability::new(whole);
    let system = explored(whole, &reachability, options);
    let predicates = system.used_predicates().len() as u64;
    cx.stats.set("interp.predicates", predicates);
    let options = &options.fit_for(&Shape::of(&system).theories);
    let end = if system.clauses.iter().all(|c| c.body.len() <= 1) {
        let mut search = Search::new(&system, options, Guards::default(), smt, cx);
        let end = search.run();
        search.record_statistics();
        *lemmas = search.facts.lemmas();
        end
    } else {
        let domain = hyper::elements::domain(&system, &cx.budget);
        let domain = Some(&domain).filter(|_| options.domain);
        let mut search = HyperSearch::new(&system, options, domain, smt, cx);
        let end = search.run();
        search.record_statistics();
        *lemmas = search.facts.lemmas();
        end
    };
    match end? {
        End::Unsafe(refutation) => Ok(Verdict::Unsat(refutation)),
        End::Safe(definitions) => {
            let weaker = weaken(&system, &definitions, smt, cx);
            let mut model = Model {
                definitions: weaker.unwrap_or(definitions),
                ..Model::default()
            };
            complete_by_reachability(whole, &reachability, &mut model);
            Ok(Verdict::Sat(model))
        }
    }
}
