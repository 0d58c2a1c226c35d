//! VINTAREF and UFOREF: a counterexample, or new labels that exclude the error.
//!
//! Invariant: new labels are safe, and a well-labelling of the part of the graph between entry and
//! error (and with restriction, stronger than those before).

use std::rc::Rc;
use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;

use super::encode::Dag;
use super::{Interpolants, Options, Stop, Vinta, failed};
use crate::domain::Domain;
use crate::run::Context;
use crate::smt::{InterpolationDag, InterpolationEdge, InterpolationOptions, Interpolator, Smt};
use crate::term::TermId;
use crate::witness::Refutation;

/// Certificates get so much time, or as much as the run took so far, but no more than a part of
/// what is left, before projection takes their place.
const SHORTEST_SLICE: Duration = Duration::from_millis(500);
const LONGEST_SLICE: Duration = Duration::from_secs(10);
const SLICES: u32 = 8;

/// Failures after which the pauses of certificates grow no longer.
const FAILURES: u64 = 5;

/// Refinements until certificates are tried again, after so many failures.
pub(super) fn pause(failures: u64) -> u32 {
    1 << failures.min(FAILURES)
}

/// An interpolator that ends in time for projection, in a run that started then.
pub(super) fn interpolator(
    smt: &Rc<Smt>,
    options: &Options,
    started: Instant,
    cx: &Context,
) -> Interpolator {
    let slice = started.elapsed();
    let mut slice = slice.clamp(SHORTEST_SLICE, LONGEST_SLICE);
    if let Some(left) = cx.remaining() {
        slice = slice.min(left / SLICES);
    }
    let options = InterpolationOptions {
        core_rounds: options.core_rounds,
        ..InterpolationOptions::default()
    };
    let mut interpolator = Interpolator::new(smt, options);
    interpolator.set_budget(Some(cx.budget.work(slice)));
    interpolator
}

impl<D: Domain> Vinta<'_, D> {
    /// REFINE: a derivation of `false`, or else new labels.
    pub(super) fn refine(&mut self) -> Result<Option<Refutation>, Stop> {
        let restricted = self.options.restricted();
        let dag = self.encode(restricted);
        self.refinements += 1;
        if dag.nodes.first() != Some(&self.entry) || dag.nodes.last() != Some(&self.error) {
            return Err(failed("no way leads to the error, but it is reached"));
        }
        if let Some(refutation) = self.counterexample(&dag)? {
            return Ok(Some(refutation));
        }
        let interpolants = self.interpolants(&dag)?;
        for node in &mut self.arg.nodes {
            node.refined = false;
        }
        if !restricted {
            for edge in &mut self.arg.edges {
                edge.dead = false;
            }
        }
        let last = dag.nodes.len() - 1;
        for (place, &interpolant) in interpolants.iter().enumerate().take(last).skip(1) {
            let node = dag.nodes[place];
            let own: FxHashSet<TermId> = dag.vars[place].iter().copied().collect();
            let free = self.terms.free_vars(&[interpolant]);
            if !free.iter().all(|v| own.contains(v)) {
                return Err(failed("an interpolant has variables of other nodes"));
            }
            let interpolant = self.decoded(node, interpolant, &dag.vars[place]);
            let label = if restricted {
                self.terms.and(&[self.arg.nodes[node].label, interpolant])
            } else {
                interpolant
            };
            self.relabel(node, label, interpolant, restricted);
        }
        let error = &mut self.arg.nodes[self.error];
        error.label = TermId::FALSE;
        error.marked = false;
        error.refined = true;
        Ok(None)
    }

    /// DAG interpolants, restricted by the DAG's labels.
    fn interpolants(&mut self, dag: &Dag) -> Result<Vec<TermId>, Stop> {
        if self.options.interpolants == Interpolants::Projection {
            return self.by_projection(dag);
        }
        if self.waiting > 0 {
            self.waiting -= 1;
            return self.by_projection(dag);
        }
        let mut interpolator = interpolator(&self.smt, self.options, self.started, self.cx);
        let edges = dag.edges.iter().map(|edge| {
            let steps: Vec<TermId> = edge.steps.iter().map(|s| s.formula).collect();
            InterpolationEdge {
                from: edge.from,
                to: edge.to,
                formula: self.terms.or(&steps),
            }
        });
        let problem = InterpolationDag {
            labels: dag.labels.clone(),
            edges: edges.collect(),
            entry: 0,
            exit: dag.nodes.len() - 1,
        };
        let found = interpolator.dag(&problem);
        match (found, self.cx.stop()) {
            (Ok(interpolants), _) => Ok(interpolants),
            (Err(_), Some(reason)) => Err(Stop::Reason(reason)),
            (Err(error), None) => {
                log::debug!("vinta: {error}; by projection");
                // Graphs only grow: what failed will fail again for a while.
                self.projections += 1;
                self.waiting = pause(self.projections);
                self.by_projection(dag)
            }
        }
    }
}
