//! Runs as sequences of implicants, and the loops in them.
//!
//! Invariant: the graph has an edge exactly for each pair of steps that followed each other in a
//! run so far; a loop is an infix whose last step has an edge to its first.

use rustc_hash::{FxHashMap, FxHashSet};

use alphorn_proof::steps::{Origin, Steps};
use alphorn_proof::trace::Trace;
use alphorn_smt::{ImplicantOptions, implicant_with};
use alphorn_term::{Evaluator, TermId, TermStore};

/// A step of a run with the literals that hold of it.
pub(super) struct Node {
    /// The same for the same literals of the same step, whatever the level.
    pub id: usize,
    /// Over the variables of the instance.
    pub literals: Vec<TermId>,
}

/// An infix of a run that is a loop: index of its first step, number of steps.
pub(super) struct Found {
    pub start: usize,
    pub length: usize,
}

/// What the runs so far were made of.
#[derive(Default)]
pub(super) struct Traces {
    ids: FxHashMap<(usize, Vec<TermId>), usize>,
    edges: FxHashSet<(usize, usize)>,
    /// Loops that no relation was found for.
    refused: FxHashSet<Vec<usize>>,
}

impl Traces {
    /// The nodes of a run, its edges added to the graph. `None` where a formula has no value.
    pub fn add(&mut self, terms: &TermStore, steps: &Steps, trace: &Trace) -> Option<Vec<Node>> {
        let options = ImplicantOptions {
            split_disequalities: true,
            ..Default::default()
        };
        let mut model = Evaluator::new(terms, &trace.values);
        let mut nodes: Vec<Node> = Vec::with_capacity(trace.steps.len());
        for instance in &trace.steps {
            let literals = implicant_with(terms, &[instance.formula], &mut model, options)?;
            let step = &steps.all[instance.step];
            let key = match step.origin {
                Origin::Learned(_) => Vec::new(),
                Origin::Clause(_) => {
                    let vars = instance.vars.iter().copied();
                    let map = vars.zip(step.vars.iter().copied()).collect();
                    let mut memo = FxHashMap::default();
                    let own = |&l: &TermId| terms.substitute_with(l, &map, &mut memo);
                    let mut key: Vec<TermId> = literals.iter().map(own).collect();
                    key.sort_unstable();
                    key
                }
            };
            let next = self.ids.len();
            let id = *self.ids.entry((instance.step, key)).or_insert(next);
            if let Some(last) = nodes.last() {
                self.edges.insert((last.id, id));
            }
            nodes.push(Node { id, literals });
        }
        Some(nodes)
    }

    /// The loops of a run, shortest first, and earliest first among those.
    pub fn loops(&self, steps: &Steps, trace: &Trace, nodes: &[Node]) -> Vec<Found> {
        let learned = |i: usize| steps.is_learned(trace.steps[i].step);
        let mut found = Vec::new();
        // The first step is a fact's.
        for length in 1..nodes.len() {
            for start in 1..=nodes.len() - length {
                let last = start + length - 1;
                let closes = self.edges.contains(&(nodes[last].id, nodes[start].id));
                if !closes || (length == 1 && learned(start)) {
                    continue;
                }
                let ids: Vec<usize> = nodes[start..=last].iter().map(|n| n.id).collect();
                if !self.refused.contains(&ids) {
                    found.push(Found { start, length });
                }
            }
        }
        found
    }

    /// Takes this loop out of consideration.
    pub fn refuse(&mut self, nodes: &[Node]) {
        self.refused.insert(nodes.iter().map(|n| n.id).collect());
    }
}
