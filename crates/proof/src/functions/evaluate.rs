//! Values of terms with calls of defined functions, and random values for testing definitions.
//!
//! Invariant: a value is the one that the definitions give. A computation that is too long, or that
//! depends on a selector of another constructor, has none.

use rustc_hash::FxHashMap;

use super::limits::LIMITS;
use alphorn_term::{Op, Random, Sort, SortId, TermId, TermStore};

/// Evaluates terms, with a cache for calls.
pub struct Evaluation<'a> {
    terms: &'a TermStore,
    calls: FxHashMap<TermId, Option<TermId>>,
    steps: usize,
}

impl<'a> Evaluation<'a> {
    /// An evaluation with an empty cache.
    pub fn new(terms: &'a TermStore) -> Self {
        Evaluation {
            terms,
            calls: FxHashMap::default(),
            steps: 0,
        }
    }

    /// The value of a term without variables.
    pub fn value(&mut self, term: TermId) -> Option<TermId> {
        self.steps = 0;
        self.compute(term, 0)
    }

    fn compute(&mut self, term: TermId, depth: usize) -> Option<TermId> {
        let terms = self.terms;
        let mut term = term;
        // Branches and bodies are evaluated without recursion.
        loop {
            let node = terms.node(term);
            if node.is_value {
                return Some(term);
            }
            self.steps += 1;
            if self.steps > LIMITS.max_steps || depth > LIMITS.max_depth {
                return None;
            }
            match node.op {
                Op::Ite => {
                    let [condition, then, other] = *node.args else {
                        return None;
                    };
                    term = match self.compute(condition, depth + 1)? {
                        TermId::TRUE => then,
                        _ => other,
                    };
                }
                Op::And | Op::Or => {
                    let zero = terms.bool(node.op == Op::Or);
                    let mut open = false;
                    for &arg in &*node.args {
                        match self.compute(arg, depth + 1) {
                            Some(value) if value == zero => return Some(zero),
                            Some(_) => {}
                            None => open = true,
                        }
                    }
                    return (!open).then(|| terms.not(zero));
                }
                Op::Var(_) | Op::Forall(_) | Op::Exists(_) => return None,
                _ => {
                    let mut args = Vec::with_capacity(node.args.len());
                    for &arg in &*node.args {
                        args.push(self.compute(arg, depth + 1)?);
                    }
                    let Op::Call(id) = node.op else {
                        let value = terms.rebuild(&node.op, &args, node.sort);
                        return terms.is_value(value).then_some(value);
                    };
                    let call = terms.call(id, &args);
                    if let Some(known) = self.calls.get(&call) {
                        return *known;
                    }
                    let steps = self.steps;
                    let value = self.compute(terms.unfold(call), depth + 1);
                    // A call without a value near the limits may have one at smaller depth.
                    if value.is_some()
                        || steps < LIMITS.max_steps / 2 && depth < LIMITS.max_depth / 2
                    {
                        self.calls.insert(call, value);
                    }
                    return value;
                }
            }
        }
    }
}

/// A value of the sort with about `size` constructors; `None` for sorts that are not supported.
pub fn random_value(
    terms: &TermStore,
    random: &mut Random,
    sort: SortId,
    size: u32,
) -> Option<TermId> {
    match terms.sort(sort) {
        Sort::Bool => Some(terms.bool(random.one_in(2))),
        Sort::Int => Some(terms.int(random.between(-1, 3))),
        Sort::Datatype(id) => {
            if size == 0 {
                return terms.default_value(sort);
            }
            let constructors = &terms.datatype(id).constructors;
            let number = random.below(constructors.len());
            let fields = &constructors[number].fields;
            // The size is distributed among the fields.
            let share = match fields.len() {
                0 | 1 => size - 1,
                _ => (size - 1).min(1 + random.below(size)),
            };
            let fields = fields
                .iter()
                .map(|f| random_value(terms, random, f.sort, share));
            let fields = fields.collect::<Option<Vec<_>>>()?;
            Some(terms.construct(id, u32::try_from(number).ok()?, &fields))
        }
        _ => terms.default_value(sort),
    }
}
