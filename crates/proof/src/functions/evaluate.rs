//! Values of terms with calls of defined functions, and values to try definitions on.
//!
//! Invariant: a value is what the definitions say; a computation that is too long, or that hangs on
//! a selector of another constructor, has none.

use rustc_hash::FxHashMap;

use alphorn_term::{Op, Random, Sort, SortId, TermId, TermStore};

/// Calls inside calls, and steps of one evaluation, at most.
const DEPTH: usize = 120;
const STEPS: usize = 20_000;

/// Computes, and remembers what calls gave.
pub struct Evaluation<'a> {
    terms: &'a TermStore,
    calls: FxHashMap<TermId, Option<TermId>>,
    steps: usize,
}

impl<'a> Evaluation<'a> {
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
        // Branches and bodies are followed without going deeper.
        loop {
            let node = terms.node(term);
            if node.is_value {
                return Some(term);
            }
            self.steps += 1;
            if self.steps > STEPS || depth > DEPTH {
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
                    // A call that came late may still have a value.
                    if value.is_some() || steps < STEPS / 2 && depth < DEPTH / 2 {
                        self.calls.insert(call, value);
                    }
                    return value;
                }
            }
        }
    }
}

/// A value of the sort with about so many constructors; `None` for sorts of which no use is made.
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
            // The size is spread over the fields.
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
