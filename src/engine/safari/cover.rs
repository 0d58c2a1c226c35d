//! Covering: whether what a step comes from is in the labels of expanded nodes.
//!
//! `∃i. M(v) ⊨ ⋁ ∃j. M(w)` is asked by skolemising `i` and instantiating each `∀j. ¬M(w)` at index
//! terms of the step. Which instances are made is found out from models: of the tuples of index
//! terms those that a model puts into a label. So the test is complete where finitely many
//! instances at the terms that are there are (slides, "Completeness"), and sound everywhere.
//!
//! Deviation: on the left stands the transition into the node's successor with the successor's
//! label, the pre-image, in place of the weaker label of the node; only the labels of expanded
//! nodes are part of a model.
//!
//! Invariant: a node is covered by expanded nodes of its location that are not below it.

use rustc_hash::FxHashMap;

use super::unwind::{Location, NodeId, Unwinding};
use crate::proof::{Stop, ask};
use crate::run::Context;
use crate::smt::SmtModel;
use crate::term::{Assignment, Evaluator, SortId, TermId, evaluate};

/// Tuples of index terms that are looked at for one label and model, at most.
const TUPLES: usize = 300;

/// Instances that are made of one label for a model, at most.
const AT_ONCE: usize = 4;

/// Instances for one question, at most.
const INSTANCES: usize = 600;

/// How a node stands to the others.
pub(super) enum Cover {
    /// The pre-image is empty.
    Empty,
    /// It is in the labels of these.
    By(Vec<NodeId>),
    Open,
}

impl Unwinding<'_> {
    /// COVER of a node.
    pub fn cover(&mut self, node: NodeId, cx: &Context) -> Result<Cover, Stop> {
        let terms = self.terms.clone();
        let mut solver = self.smt.solver();
        let query = self.pre_image(node);
        query.iter().for_each(|&part| solver.assert(part));
        let Some(mut model) = ask(&mut solver, &[], cx)? else {
            return Ok(Cover::Empty);
        };
        let Location::At(predicate) = self.nodes[node].location else {
            return Ok(Cover::Open);
        };
        let below = self.subtree(node);
        let others = self.expanded.get(&predicate).into_iter().flatten();
        let others: Vec<NodeId> = others.copied().filter(|w| !below.contains(w)).collect();
        if others.is_empty() {
            return Ok(Cover::Open);
        }
        if let Some(&any) = others
            .iter()
            .find(|&&w| self.nodes[w].formula == TermId::TRUE)
        {
            return Ok(Cover::By(vec![any]));
        }
        let on: Vec<TermId> = others
            .iter()
            .map(|_| terms.fresh_var("cover", SortId::BOOL))
            .collect();
        let index_terms = self.index_terms(node, &query);
        let mut made = 0;
        loop {
            let instances = self.violated(&others, &index_terms, &model, cx);
            if instances.is_empty() || made > INSTANCES {
                return Ok(Cover::Open);
            }
            made += instances.len();
            self.counters.instances += instances.len() as u64;
            for (at, instance) in instances {
                solver.assert(terms.implies(on[at], terms.not(instance)));
            }
            match ask(&mut solver, &on, cx)? {
                Some(next) => model = next,
                None => {
                    let core = solver.core();
                    let used = others
                        .iter()
                        .zip(&on)
                        .filter(|(_, literal)| core.contains(literal));
                    return Ok(Cover::By(used.map(|(&w, _)| w).collect()));
                }
            }
        }
    }

    /// What the step into the node's successor comes from, over formal variables.
    pub fn pre_image(&self, node: NodeId) -> Vec<TermId> {
        let mut parts = vec![self.nodes[node].step];
        if let Some(successor) = self.nodes[node].successor {
            parts.extend(&self.nodes[successor].label);
            parts.extend(&self.nodes[successor].axioms);
        }
        parts
    }

    /// Terms at which labels are instantiated, by sort: the step's index variables first, then its
    /// other variables and values.
    fn index_terms(&self, node: NodeId, query: &[TermId]) -> FxHashMap<SortId, Vec<TermId>> {
        let terms = &self.terms;
        let mut found: FxHashMap<SortId, Vec<TermId>> = FxHashMap::default();
        let node = &self.nodes[node];
        let mut add = |term: TermId| {
            let of_sort = found.entry(terms.sort_of(term)).or_default();
            if !of_sort.contains(&term) {
                of_sort.push(term);
            }
        };
        for cell in &node.instance.source.cells {
            add(terms.substitute(cell.index, &node.meaning));
        }
        for var in terms.free_vars(query) {
            add(var);
        }
        self.template.values().iter().for_each(|&value| add(value));
        found
    }

    /// Instances of labels that hold in the model, with the label's position.
    fn violated(
        &self,
        others: &[NodeId],
        index_terms: &FxHashMap<SortId, Vec<TermId>>,
        model: &SmtModel,
        cx: &Context,
    ) -> Vec<(usize, TermId)> {
        let terms = &self.terms;
        // For each value the first term that has it.
        let mut choices: FxHashMap<SortId, Vec<(TermId, TermId)>> = FxHashMap::default();
        for (&sort, candidates) in index_terms {
            let of_sort = choices.entry(sort).or_default();
            for &term in candidates {
                if let Ok(value) = model.value(term)
                    && of_sort.iter().all(|&(_, other)| other != value)
                {
                    of_sort.push((term, value));
                }
            }
        }
        let mut found = Vec::new();
        for (at, &other) in others.iter().enumerate() {
            if cx.stop().is_some() {
                break;
            }
            let other = &self.nodes[other];
            let mut values = Assignment::default();
            for var in terms.free_vars(&[other.formula]) {
                if !other.indexes.contains(&var)
                    && let Ok(value) = model.value(var)
                {
                    values.insert(var, value);
                }
            }
            let list = |&index: &TermId| choices.get(&terms.sort_of(index)).cloned();
            let lists = other
                .indexes
                .iter()
                .map(|index| list(index).unwrap_or_default());
            let mut lists: Vec<Vec<(TermId, TermId)>> = lists.collect();
            // What is about one index variable, or none, leaves fewer tuples to be looked at.
            let mut is_possible = true;
            let mut of_several: Vec<TermId> = Vec::new();
            for (part, positions) in &other.parts {
                match positions[..] {
                    [] => is_possible &= evaluate(terms, *part, &values) == Some(TermId::TRUE),
                    [at] => lists[at].retain(|&(_, value)| {
                        values.insert(other.indexes[at], value);
                        evaluate(terms, *part, &values) == Some(TermId::TRUE)
                    }),
                    _ => of_several.push(*part),
                }
            }
            if !is_possible {
                continue;
            }
            let mut made = 0;
            for tuple in tuples(&lists.iter().map(Vec::len).collect::<Vec<_>>()) {
                for (position, (&index, list)) in tuple.iter().zip(&lists).enumerate() {
                    values.insert(other.indexes[position], list[index].1);
                }
                let mut evaluator = Evaluator::new(terms, &values);
                let mut holds = |&part: &TermId| evaluator.value(part) == Some(TermId::TRUE);
                if !of_several.iter().all(&mut holds) {
                    continue;
                }
                let chosen = tuple.iter().zip(&lists).map(|(&index, list)| list[index].0);
                let map = other.indexes.iter().copied().zip(chosen).collect();
                found.push((at, terms.substitute(other.formula, &map)));
                made += 1;
                if made == AT_ONCE {
                    break;
                }
            }
        }
        found
    }
}

/// Tuples of numbers below these bounds, those of small sums first; only so many as are looked at.
fn tuples(bounds: &[usize]) -> Vec<Vec<usize>> {
    let mut found: Vec<Vec<usize>> = vec![Vec::new()];
    for &bound in bounds {
        let longer = found.iter().flat_map(|tuple| {
            (0..bound).map(move |next| tuple.iter().copied().chain([next]).collect())
        });
        found = longer.take(TUPLES).collect();
    }
    found.sort_by_key(|tuple| tuple.iter().sum::<usize>());
    found
}

#[cfg(test)]
mod tests {
    use super::tuples;

    #[test]
    fn tuples_are_all_there_and_the_first_terms_come_first() {
        assert_eq!(tuples(&[]), [[]; 1].map(|t: [usize; 0]| t.to_vec()));
        assert_eq!(tuples(&[2, 0]).len(), 0);
        let found = tuples(&[3, 2]);
        assert_eq!(found.len(), 6);
        assert_eq!(found[0], [0, 0]);
        assert_eq!(found[5], [2, 1]);
    }
}
