//! Covering: whether what a step comes from is in the labels of expanded nodes.
//!
//! `∃i. M(v) ⊨ ⋁ ∃j. M(w)` is asked by skolemising `i` and instantiating each `∀j. ¬M(w)` at index
//! terms of the step. Which instances are made is found out from models: of the tuples of index
//! terms those that a model puts into a label; what a label says of one index variable alone is
//! looked at first, and tuples only of the terms that are left. So the test is complete where
//! finitely many instances at the terms that are there are (slides, "Completeness"), and sound
//! everywhere. A node's instances are kept, for when it is looked at again and for its cases.
//!
//! Deviation: on the left stands the transition into the node's successor with the successor's
//! label, the pre-image, in place of the weaker label of the node; only the labels of expanded
//! nodes are part of a model.
//!
//! Invariant: a node is covered by expanded nodes of its location that are not below it.

use rustc_hash::FxHashMap;

use super::unwind::{Location, NodeId, Unwinding};
use alphorn_proof::{Stop, ask};
use alphorn_smt::{SmtModel, Solver};
use alphorn_term::run::Context;
use alphorn_term::{Assignment, Evaluator, SortId, TermId, evaluate};

/// Tuples of index terms that are looked at for one label and model, at most.
const TUPLES: usize = 300;

/// Instances that are made of one label for a model, at most.
const AT_ONCE: usize = 4;

/// Instances for one question, at most.
const INSTANCES: usize = 600;

/// An instance of a label.
#[derive(Clone, Debug)]
pub(super) struct Use {
    label: NodeId,
    /// The terms for its index variables.
    terms: FxHashMap<TermId, TermId>,
}

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
        let mut uses = std::mem::take(&mut self.nodes[node].uses);
        let known = uses.len();
        let result = self.within(node, &query, &others, &mut uses, cx);
        self.counters.instances += (uses.len() - known) as u64;
        self.nodes[node].uses = if uses.len() > INSTANCES {
            Vec::new()
        } else {
            uses
        };
        result
    }

    /// Whether states, given by conjuncts over formal variables and a node's index variables, are in
    /// the labels of others. Instances of these that were made before are made at once, and what is
    /// made is added to them.
    pub fn within(
        &self,
        node: NodeId,
        query: &[TermId],
        others: &[NodeId],
        uses: &mut Vec<Use>,
        cx: &Context,
    ) -> Result<Cover, Stop> {
        let terms = &*self.terms;
        let mut solver = self.smt.solver();
        query.iter().for_each(|&part| solver.assert(part));
        let on = others
            .iter()
            .map(|&other| (other, terms.fresh_var("cover", SortId::BOOL)));
        let on: Vec<(NodeId, TermId)> = on.collect();
        let literals: Vec<TermId> = on.iter().map(|o| o.1).collect();
        let make = |solver: &mut Solver, made: &Use| {
            let label = &self.nodes[made.label];
            let literal = on.iter().find(|o| o.0 == made.label);
            // A label may have got index variables since.
            let is_closed = label
                .indexes
                .iter()
                .all(|index| made.terms.contains_key(index));
            if let Some(&(_, literal)) = literal.filter(|_| is_closed) {
                let instance = terms.substitute(label.formula, &made.terms);
                solver.assert(terms.implies(literal, terms.not(instance)));
            }
        };
        uses.iter().for_each(|made| make(&mut solver, made));
        let index_terms = self.index_terms(node, query);
        let mut count = 0;
        while let Some(model) = ask(&mut solver, &literals, cx)? {
            let found = self.violated(others, &index_terms, &model, cx);
            if found.is_empty() || count > INSTANCES {
                return Ok(Cover::Open);
            }
            count += found.len();
            found.iter().for_each(|made| make(&mut solver, made));
            uses.extend(found);
        }
        let core = solver.core();
        let used = on.iter().filter(|(_, literal)| core.contains(literal));
        let used: Vec<NodeId> = used.map(|o| o.0).collect();
        Ok(match used.is_empty() {
            true => Cover::Empty,
            false => Cover::By(used),
        })
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

    /// Instances of labels that hold in the model.
    fn violated(
        &self,
        others: &[NodeId],
        index_terms: &FxHashMap<SortId, Vec<TermId>>,
        model: &SmtModel,
        cx: &Context,
    ) -> Vec<Use> {
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
                let terms = other.indexes.iter().copied().zip(chosen).collect();
                found.push(Use { label, terms });
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
