//! Evaluation of terms under an assignment of values to variables.
//!
//! Invariant: evaluation never candidates. Division by zero over Int and Real, a selector of another
//! constructor, a variable without a value, a quantifier and a call are undefined. `and`, `or` and
//! `ite` are defined if undefined arguments do not matter, any other term only if all its arguments
//! are defined.

use rustc_hash::FxHashMap;

use super::{Op, TermId, TermStore};

/// Values of variables; it can also serve as a substitution.
pub type Assignment = FxHashMap<TermId, TermId>;

/// The value of `term`, or `None` if it is undefined. Iterative; `ite`, `and` and `or` evaluate only
/// the arguments that they need.
pub fn evaluate(store: &TermStore, term: TermId, assignment: &Assignment) -> Option<TermId> {
    Evaluator::new(store, assignment).value(term)
}

/// Evaluates terms under one assignment and keeps the values of their sub-terms.
pub struct Evaluator<'a> {
    store: &'a TermStore,
    values: Values<'a>,
    memo: FxHashMap<TermId, Option<TermId>>,
}

/// The source of the values of variables.
enum Values<'a> {
    Assignment(&'a Assignment),
    Lookup(&'a dyn Fn(TermId) -> Option<TermId>),
}

impl<'a> Evaluator<'a> {
    /// An evaluator for this assignment.
    pub fn new(store: &'a TermStore, assignment: &'a Assignment) -> Self {
        Evaluator {
            store,
            values: Values::Assignment(assignment),
            memo: FxHashMap::default(),
        }
    }

    /// An evaluator that calls `lookup` for a variable when it first needs its value.
    pub fn with(store: &'a TermStore, lookup: &'a dyn Fn(TermId) -> Option<TermId>) -> Self {
        Evaluator {
            store,
            values: Values::Lookup(lookup),
            memo: FxHashMap::default(),
        }
    }

    /// Gives a value to a variable that occurs in no term evaluated so far; it takes precedence over
    /// the assignment's.
    pub fn bind(&mut self, var: TermId, value: TermId) {
        debug_assert!(self.store.is_var(var) && self.store.is_value(value));
        self.memo.insert(var, Some(value));
    }

    /// The value of a term, see [`evaluate`].
    pub fn value(&mut self, root: TermId) -> Option<TermId> {
        let values = &self.values;
        evaluate_with(self.store, root, &mut self.memo, |v| match values {
            Values::Assignment(assignment) => assignment.get(&v).copied(),
            Values::Lookup(lookup) => lookup(v),
        })
    }
}

/// As [`evaluate`], with the values of variables from `lookup`, which is called once for each
/// variable, and a memo that calls with the same `lookup` may share.
pub fn evaluate_with(
    store: &TermStore,
    root: TermId,
    memo: &mut FxHashMap<TermId, Option<TermId>>,
    mut lookup: impl FnMut(TermId) -> Option<TermId>,
) -> Option<TermId> {
    // With the position of the first argument of `and` or `or` that is not evaluated yet.
    let mut stack = vec![(root, 0)];
    let mut values: Vec<TermId> = Vec::new();
    'next: while let Some(&(term, from)) = stack.last() {
        if memo.contains_key(&term) {
            stack.pop();
            continue;
        }
        let node = store.node(term);
        if node.is_value {
            memo.insert(term, Some(term));
            continue;
        }
        let result = match &node.op {
            Op::Var(_) => lookup(term),
            Op::Forall(_) | Op::Exists(_) => None,
            Op::Ite => {
                let Some(condition) = known(memo, node.args[0], &mut stack) else {
                    continue;
                };
                let branch = match condition {
                    Some(TermId::TRUE) => Some(node.args[1]),
                    Some(TermId::FALSE) => Some(node.args[2]),
                    _ => None,
                };
                match branch {
                    Some(branch) => {
                        let Some(value) = known(memo, branch, &mut stack) else {
                            continue;
                        };
                        value
                    }
                    None => {
                        // Defined if both branches have the same value.
                        let Some(a) = known(memo, node.args[1], &mut stack) else {
                            continue;
                        };
                        let Some(b) = known(memo, node.args[2], &mut stack) else {
                            continue;
                        };
                        if a == b { a } else { None }
                    }
                }
            }
            Op::And | Op::Or => {
                let zero = store.bool(node.op == Op::Or);
                let mut decided = false;
                for (position, &arg) in node.args.iter().enumerate().skip(from) {
                    let Some(value) = memo.get(&arg) else {
                        let top = stack.len() - 1;
                        stack[top].1 = position;
                        stack.push((arg, 0));
                        continue 'next;
                    };
                    if *value == Some(zero) {
                        decided = true;
                        break;
                    }
                }
                if decided {
                    Some(zero)
                } else if node.args.iter().any(|a| memo[a].is_none()) {
                    None
                } else {
                    Some(store.bool(node.op == Op::And))
                }
            }
            op => {
                values.clear();
                let mut pending = false;
                let mut undefined = false;
                for &arg in &*node.args {
                    match memo.get(&arg) {
                        Some(Some(value)) => values.push(*value),
                        Some(None) => undefined = true,
                        None => {
                            stack.push((arg, 0));
                            pending = true;
                        }
                    }
                }
                if pending {
                    continue;
                }
                if undefined {
                    None
                } else {
                    let value = store.rebuild(op, &values, node.sort);
                    store.is_value(value).then_some(value)
                }
            }
        };
        memo.insert(term, result);
        stack.pop();
    }
    memo[&root]
}

/// The result in the memo, or `None` after the term was pushed for evaluation.
fn known(
    memo: &FxHashMap<TermId, Option<TermId>>,
    term: TermId,
    stack: &mut Vec<(TermId, usize)>,
) -> Option<Option<TermId>> {
    let found = memo.get(&term).copied();
    if found.is_none() {
        stack.push((term, 0));
    }
    found
}
