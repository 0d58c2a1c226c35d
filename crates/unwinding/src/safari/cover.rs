//! Covering: whether the pre-image of a node is contained in the labels of expanded nodes.
//!
//! `∃i. M(v) ⊨ ⋁ ∃j. M(w)` is checked by skolemizing `i` and instantiating each `∀j. ¬M(w)` at
//! index terms of the step. Models choose the instances: tuples of index terms that satisfy a label
//! in the model. Conjuncts about one index variable are evaluated first, and restrict the tuples.
//! The test is sound; it is complete where finitely many instances at the existing terms suffice
//! (slides, "Completeness"). A node's instances are kept for when it is checked again, and for its
//! cases.
//!
//! Deviation: the left side is the transition into the node's successor with the successor's label,
//! the pre-image, in place of the node's weaker label; a model consists of the labels of expanded
//! nodes only.
//!
//! Invariant: a node is covered by expanded nodes of its location that are not below it.

use rustc_hash::FxHashMap;

use super::limits::LIMITS;
use super::unwind::{Location, NodeId, Unwinding};
use alphorn_proof::{Stop, ask};
use alphorn_smt::{SmtModel, Solver};
use alphorn_term::run::Context;
use alphorn_term::{Assignment, Evaluator, SortId, TermId, evaluate};

/// An instance of a label.
#[derive(Clone, Debug)]
pub(super) struct LabelInstance {
    label: NodeId,
    /// The terms for its index variables.
    terms: FxHashMap<TermId, TermId>,
}

/// The result of a covering test.
pub(super) enum Cover {
    /// The pre-image is empty.
    Empty,
    /// The pre-image is contained in the labels of these nodes.
    By(Vec<NodeId>),
    /// It is not contained in the labels, or that is unknown.
    Open,
}

impl Unwinding<'_> {
    /// COVER of a node.
    pub fn cover(&mut self, node: NodeId, cx: &Context) -> Result<Cover, Stop> {
        let mut others: Vec<NodeId> = Vec::new();
        if let Location::At(predicate) = self.nodes[node].location {
            let below = self.subtree(node);
            let expanded = self.expanded.get(&predicate).into_iter().flatten();
            others.extend(expanded.copied().filter(|w| !below.contains(w)));
        }
        let is_true = |&&other: &&NodeId| self.nodes[other].formula == TermId::TRUE;
        if let Some(&any) = others.iter().find(is_true) {
            return Ok(Cover::By(vec![any]));
        }
        let query = self.pre_image(node);
        let mut instances = std::mem::take(&mut self.nodes[node].label_instances);
        let known = instances.len();
        let result = self.within(node, &query, &others, &mut instances, cx);
        self.counters.instances += (instances.len() - known) as u64;
        self.nodes[node].label_instances = if instances.len() > LIMITS.instances {
            Vec::new()
        } else {
            instances
        };
        result
    }

    /// Whether the states that satisfy all of `query` are contained in the labels of the others.
    /// `query` is over formal variables and the node's index variables. `instances` are asserted at
    /// once, and new ones are added to them.
    pub fn within(
        &self,
        node: NodeId,
        query: &[TermId],
        others: &[NodeId],
        instances: &mut Vec<LabelInstance>,
        cx: &Context,
    ) -> Result<Cover, Stop> {
        let terms = &*self.terms;
        let mut solver = self.smt.solver();
        query.iter().for_each(|&part| solver.assert(part));
        let active = others
            .iter()
            .map(|&other| (other, terms.fresh_var("cover", SortId::BOOL)));
        let active: Vec<(NodeId, TermId)> = active.collect();
        let literals: Vec<TermId> = active.iter().map(|o| o.1).collect();
        let make = |solver: &mut Solver, made: &LabelInstance| {
            let label = &self.nodes[made.label];
            let literal = active.iter().find(|o| o.0 == made.label);
            // The label may have got further index variables since.
            let is_closed = label
                .indexes
                .iter()
                .all(|index| made.terms.contains_key(index));
            if let Some(&(_, literal)) = literal.filter(|_| is_closed) {
                let instance = terms.substitute(label.formula, &made.terms);
                solver.assert(terms.implies(literal, terms.not(instance)));
            }
        };
        instances.iter().for_each(|made| make(&mut solver, made));
        let index_terms = self.index_terms(node, query);
        let mut count = 0;
        while let Some(model) = ask(&mut solver, &literals, cx)? {
            let found = self.violated(others, &index_terms, &model, cx);
            if found.is_empty() || count > LIMITS.instances {
                return Ok(Cover::Open);
            }
            count += found.len();
            found.iter().for_each(|made| make(&mut solver, made));
            instances.extend(found);
        }
        let core = solver.core();
        let used = active.iter().filter(|(_, literal)| core.contains(literal));
        let used: Vec<NodeId> = used.map(|o| o.0).collect();
        Ok(match used.is_empty() {
            true => Cover::Empty,
            false => Cover::By(used),
        })
    }

    /// The pre-image: the step into the node's successor with the successor's label and axioms,
    /// over formal variables.
    pub fn pre_image(&self, node: NodeId) -> Vec<TermId> {
        let mut parts = vec![self.nodes[node].step];
        if let Some(successor) = self.nodes[node].successor {
            parts.extend(&self.nodes[successor].label);
            parts.extend(&self.nodes[successor].axioms);
        }
        parts
    }

    /// The terms at which labels are instantiated, by sort: the step's index terms first, then its
    /// other variables, then numerals.
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

    /// Instances of labels that the model satisfies.
    fn violated(
        &self,
        others: &[NodeId],
        index_terms: &FxHashMap<SortId, Vec<TermId>>,
        model: &SmtModel,
        cx: &Context,
    ) -> Vec<LabelInstance> {
        let terms = &self.terms;
        // For each value, the first term that has it.
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
        for &label in others {
            if cx.stop().is_some() {
                break;
            }
            let other = &self.nodes[label];
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
            // Conjuncts about at most one index variable restrict the tuples.
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
                let terms = other.indexes.iter().copied().zip(chosen).collect();
                found.push(LabelInstance { label, terms });
                made += 1;
                if made == LIMITS.instances_per_model {
                    break;
                }
            }
        }
        found
    }
}

/// Tuples of numbers below these bounds, those with small sums first; a limited number of them.
fn tuples(bounds: &[usize]) -> Vec<Vec<usize>> {
    let mut found: Vec<Vec<usize>> = vec![Vec::new()];
    for &bound in bounds {
        let longer = found.iter().flat_map(|tuple| {
            (0..bound).map(move |next| tuple.iter().copied().chain([next]).collect())
        });
        found = longer.take(LIMITS.tuples).collect();
    }
    found.sort_by_key(|tuple| tuple.iter().sum::<usize>());
    found
}

#[cfg(test)]
mod tests {
    use super::tuples;

    #[test]
    fn tuples_are_complete_and_begin_with_the_first_terms() {
        assert_eq!(tuples(&[]), [[]; 1].map(|t: [usize; 0]| t.to_vec()));
        assert_eq!(tuples(&[2, 0]).len(), 0);
        let found = tuples(&[3, 2]);
        assert_eq!(found.len(), 6);
        assert_eq!(found[0], [0, 0]);
        assert_eq!(found[5], [2, 1]);
    }
}
