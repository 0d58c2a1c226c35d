//! Lazy abstraction with interpolants for arrays.
//!
//! After Alberti, Bruttomesso, Ghilardi, Ranise, Sharygina, "Lazy Abstraction with Interpolants for
//! Arrays" (LPAR 2012), the slides of their talk there ("the slides" below), and their tool SAFARI
//! (CAV 2012). A linear system is an array-based transition system: locations are predicates, the
//! initial location is before the entry clauses and the error after the queries, and each clause is
//! a guarded assignment
//! `∃k. φ(k, a[k], c, d) ∧ a' = λj. G ∧ c' = H ∧ d' = K` ([`transition`]). From the error a
//! labelled unwinding grows backward: a node stands for states `∃i. ψ(i, a[i], c, d)` that may
//! reach the error.
//!
//! - UNWIND takes the leaf of least depth, those at the initial location first ([`unwind`]).
//! - EXPAND gives a node a child for each clause into its location. A child's label is `true`
//!   (`labels=lazy`), or the pre-image, as in the authors' earlier MCMT (`labels=exact`), or, by
//!   default, what index predicates say of a case of the pre-image (`labels=indexed`).
//! - COVER closes a leaf whose states are in the labels of expanded nodes ([`cover`]).
//! - REFINE takes the path of a node at the initial location: a refutation, or interpolants that
//!   strengthen the labels ([`refine`], [`interpolate`]).
//!
//! When no leaf is left, the complement of the labels is a model, universally quantified
//! ([`model`]).
//!
//! What differs from the paper:
//!
//! - Clauses have locals that are no indexes, and arrays that nothing defines. In lazy mode they
//!   are never in a label, since interpolants do not mention them; in exact mode they are
//!   projected.
//! - Instantiation of a step's array assignments goes by cells: read at the indexes that are read
//!   nearer to the error. That is enough to decide a path unless a clause says that two arrays of
//!   its body are equal. A refutation is evaluated with arrays before it is one.
//! - A label may read at an argument, `a[c]`, where the paper has `∃k. k = c ∧ … a[k]`: fewer index
//!   variables to be instantiated. After a step that changes `c` it is an index variable. So `c` is
//!   compared in index predicates as `k` would be.
//! - Covering asks about the pre-image in place of the node's label.
//! - Interpolants are comparisons where these are enough.
//! - Labels begin as an indexed predicate abstraction of the pre-image, case by case
//!   ([`interpolate`], [`unwind`]). Labels that begin as `true` are refined path by path, each
//!   time by what excludes one short run; with nested loops that move elements (binary sort,
//!   bubble sort) these reasons are about counters and the first few indexes, and many disjuncts of
//!   different cases are in one label.
//!
//! Completeness: without such equations and with decidable elements, a path is decided. The
//! covering test is complete for indexes that are compared only (slides, "Completeness"); with `i +
//! 1` it is incomplete, and the search may go on for ever.
//!
//! Invariant: a model is the complement of the labels of expanded nodes, each of whose children is
//! expanded, covered by expanded nodes, or empty.

mod cover;
mod interpolate;
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
    /// What a new node's label is, until it is refined.
    Labels {
        /// Nothing: `true`.
        Lazy = "lazy",
        /// Index predicates that follow from a case of the pre-image of the successor's.
        Indexed = "indexed",
        /// The pre-image of the successor's.
        Exact = "exact",
    }
}

settings! {
    /// Choices of the search.
    Options {
        /// Labels of new nodes: `true`, index predicates, or pre-images.
        labels: Labels = Labels::Indexed,
            source "LPAR 2012; MCMT; Lahiri and Bryant, TOCL 2007";
    }
}

/// The engine.
#[derive(Clone, Debug, Default)]
pub struct Safari {
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

/// Whether an array has arrays as elements or indexes.
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
