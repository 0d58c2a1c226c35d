//! SAFARI: lazy abstraction with interpolants for arrays.
//!
//! Paper: Alberti, Bruttomesso, Ghilardi, Ranise, Sharygina, "Lazy Abstraction with Interpolants
//! for Arrays" (LPAR 2012), the slides of their talk ("the slides" below), and their tool SAFARI
//! (CAV 2012). A linear system is an array-based transition system: locations are predicates, the
//! initial location is before the entry clauses and the error after the queries, and each clause is
//! a guarded assignment `∃k. φ(k, a[k], c, d) ∧ a' = λj. G ∧ c' = H ∧ d' = K` ([`transition`]). A
//! labelled unwinding grows backwards from the error: a node stands for states `∃i. ψ(i, a[i], c,
//! d)` that may reach the error.
//!
//! # Procedures of the paper
//!
//! - UNWIND (`run` of [`unwind`]) takes the leaf of least depth, those at the initial location
//!   first.
//! - EXPAND (`expand` of [`unwind`]) gives a node a child for each clause into its location. A
//!   child's label is `true` (`labels=lazy`), or the pre-image, as in the authors' earlier tool
//!   MCMT (`labels=exact`), or, by default, the index predicates that follow from a case of the
//!   pre-image (`labels=indexed`).
//! - COVER (`cover` of [`cover`]) closes a leaf whose states are contained in the labels of
//!   expanded nodes.
//! - REFINE (`refine` of [`refine`]) takes the path of a node at the initial location: a
//!   refutation, or interpolants that strengthen the labels ([`interpolate`]).
//!
//! When no leaf is left, the complement of the labels is a universally quantified model
//! ([`model`]).
//!
//! # Deviations
//!
//! - Clauses have local variables that are no indexes, and arrays without a definition. In lazy
//!   mode they are never in a label, since interpolants do not mention them; in exact mode they are
//!   projected.
//! - Array assignments of a step are instantiated at cells: at the indexes that steps nearer to the
//!   error read. This decides a path unless a clause says that two arrays of its body are equal.
//! - A label may read at an argument, `a[c]`, where the paper has `∃k. k = c ∧ … a[k]`; so fewer
//!   index variables have to be instantiated. After a step that changes `c` it is an index
//!   variable. Therefore `c` is compared in index predicates as `k` would be.
//! - Covering is checked for the pre-image instead of the node's label.
//! - Interpolants consist of comparisons where these suffice. With `safari.as-in-paper=true` they are
//!   Craig interpolants alone, and labels begin as `true`.
//! - Labels begin as an indexed predicate abstraction of the pre-image, case by case
//!   ([`interpolate`], [`unwind`]). Labels that begin as `true` are refined path by path; with
//!   nested loops that move elements, the interpolants are then about counters and the first few
//!   indexes, and one label mixes the disjuncts of different cases.
//!
//! Completeness: without equations of arrays in a body, and with decidable elements, each path is
//! decided. The covering test is complete for indexes that are only compared (slides,
//! "Completeness"); with `i + 1` it is incomplete, and the search may not terminate.
//!
//! # Invariant
//!
//! A model is the complement of the labels of expanded nodes, each of whose children is expanded,
//! covered by expanded nodes, or empty. `Unsat` is returned only with a refutation that evaluation
//! has confirmed (`driver::run`).

mod cover;
mod interpolate;
mod limits;
mod model;
mod refine;
#[cfg(test)]
mod tests;
mod transition;
mod unwind;

use std::rc::Rc;

use self::unwind::Unwinding;
use alphorn_chc::{Reachability, Shape, System};
use alphorn_engine::settings::{Setting, choices, settings};
use alphorn_engine::{Engine, EngineError, Unsupported, driver};
use alphorn_interpolation::{InterpolationOptions, Interpolator};
use alphorn_proof::steps::Steps;
use alphorn_proof::trace::constraint_query;
use alphorn_proof::{Stop, complete_by_reachability};
use alphorn_smt::{Arithmetic, Smt};
use alphorn_term::run::Context;
use alphorn_term::{Sort, TermStore};
use alphorn_witness::Verdict;

choices! {
    /// The label of a new node until it is refined.
    Labels {
        /// `true`.
        Lazy = "lazy",
        /// The index predicates that follow from a case of the pre-image of the successor's label.
        Indexed = "indexed",
        /// The pre-image of the successor's label.
        Exact = "exact",
    }
}

choices! {
    /// How interpolants are made.
    Interpolants {
        /// Of comparisons where these suffice, without counters where these are not needed.
        Comparisons = "comparisons",
        /// By Craig interpolation alone.
        Craig = "craig",
    }
}

settings! {
    /// The settings of `safari`.
    Options {
        /// Labels of new nodes: `true`, index predicates, or pre-images.
        labels: Labels = Labels::Indexed,
            source "LPAR 2012; MCMT; Lahiri and Bryant, TOCL 2007", paper "lazy";
        /// Interpolants of comparisons where these suffice, or Craig interpolants alone.
        interpolants: Interpolants = Interpolants::Comparisons, paper "craig";
    }
}

/// The engine `safari`.
#[derive(Clone, Debug, Default)]
pub struct Safari {
    /// Its settings.
    pub options: Options,
}

impl Engine for Safari {
    fn name(&self) -> &'static str {
        "safari"
    }

    fn supports(&self, shape: &Shape) -> Result<(), Unsupported> {
        let what = match shape.theories {
            _ if !shape.linear => "clauses with several body atoms",
            t if t.datatype => "datatypes",
            t if t.quantifier => "quantifiers",
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
        if has_nested_arrays(system) {
            let (engine, what) = (self.name(), "arrays of arrays".to_owned());
            return Err(Unsupported { engine, what }.into());
        }
        driver::run(&*self, system, Arithmetic::Simplex, cx, |smt, cx| {
            self.search(system, smt, cx)
        })
    }
}

impl Safari {
    fn search(&self, system: &System, smt: &Rc<Smt>, cx: &mut Context) -> Result<Verdict, Stop> {
        let reachability = Reachability::new(system);
        let steps = Steps::new(system, &reachability);
        if let Some(run) = constraint_query(system, &steps, &mut smt.solver(), cx)? {
            return Ok(Verdict::Unsat(run.refutation(system, &steps)?));
        }
        let interpolator = Interpolator::new(smt, InterpolationOptions::default());
        let mut unwinding =
            Unwinding::new(system, &reachability, &self.options, smt, interpolator)?;
        let result = unwinding.run(cx);
        let counters = &unwinding.counters;
        for (name, count) in [
            ("nodes", unwinding.nodes.len() as u64),
            ("covered", counters.covered),
            ("refinements", counters.refinements),
            ("instances", counters.instances),
            ("axioms", counters.axioms),
            ("abstracted", counters.abstracted),
            ("comparisons", counters.by_comparisons),
            ("interpolants", counters.by_interpolants),
        ] {
            cx.stats.add(&format!("safari.{name}"), count);
        }
        let mut verdict = result?;
        if let Verdict::Sat(model) = &mut verdict {
            complete_by_reachability(system, &reachability, model);
        }
        Ok(verdict)
    }
}

/// Whether some array has arrays as elements or indexes.
fn has_nested_arrays(system: &System) -> bool {
    let terms: &TermStore = &system.terms;
    let mut roots: Vec<_> = system.clauses.iter().map(|c| c.constraint).collect();
    for predicate in system.used_predicates() {
        roots.extend(&system.predicate(predicate).params);
    }
    let is_array = |sort| matches!(terms.sort(sort), Sort::Array(..));
    let mut found = false;
    terms.post_order(&roots, |t| {
        if let Sort::Array(index, element) = terms.sort(terms.sort_of(t)) {
            found |= is_array(index) || is_array(element);
        }
    });
    found
}
