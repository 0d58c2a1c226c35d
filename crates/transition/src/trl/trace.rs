//! Runs as sequences of implicants, and the loops in them.
//!
//! Invariant: the graph has an edge for each pair of implicants that followed each other in a run
//! so far, and no others; a loop is an infix of a run whose last implicant has an edge to its
//! first.

use rustc_hash::{FxHashMap, FxHashSet};

use alphorn_proof::steps::{Origin, Steps};
use alphorn_proof::trace::Trace;
use alphorn_smt::{ImplicantOptions, implicant_with};
use alphorn_term::{Evaluator, TermId, TermStore};

/// A step of a run with an implicant of its formula.
pub(super) struct Node {
    /// The id of the step and its literals, the same at all levels.
    pub id: usize,
    /// The literals, over the variables of the instance.
    pub literals: Vec<TermId>,
}

/// An infix of a run that is a loop.
pub(super) struct Found {
    /// The index of its first step.
    pub start: usize,
    /// The number of steps.
    pub length: usize,
}

/// The graph of the implicants of runs so far.
#[derive(Default)]
pub(super) struct Traces {
    ids: FxHashMap<(usize, Vec<TermId>), usize>,
    edges: FxHashSet<(usize, usize)>,
    /// Loops for which there is no relation.
    refused: FxHashSet<Vec<usize>>,
}

impl Traces {
    /// Adds the edges of a run to the graph, and returns its nodes. `None` if a formula has no
    /// value.
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

    /// The loops of a run, the shortest first, and of these the earliest first.
    pub fn loops(&self, steps: &Steps, trace: &Trace, nodes: &[Node]) -> Vec<Found> {
        let learned = |i: usize| steps.is_learned(trace.steps[i].step);
        let mut found = Vec::new();
        // The first step is that of a fact.
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

    /// Excludes a loop from the results of [`Self::loops`].
    pub fn refuse(&mut self, nodes: &[Node]) {
        self.refused.insert(nodes.iter().map(|n| n.id).collect());
    }
}
