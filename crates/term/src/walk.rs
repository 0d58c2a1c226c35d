//! Traversals: substitution, free variables, sub-terms, conjuncts; all iterative.
//!
//! Precondition of substitution and of [`TermStore::free_vars`]: a variable that a quantifier binds
//! occurs free in no other term. Then no variable is captured. Several quantifiers may bind the same
//! variable, since rewriting the body of a quantifier keeps its variables.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Op, TermId, TermStore};

/// The terms that a traversal has visited: a number for each term of the store, which is faster than
/// a set and need not be cleared, since each traversal has another number.
#[derive(Default)]
pub(super) struct Marks {
    round: u32,
    by_term: Vec<u32>,
}

impl Marks {
    fn insert(&mut self, term: TermId) -> bool {
        let place = term.index();
        if place >= self.by_term.len() {
            self.by_term.resize((place + 1).next_power_of_two(), 0);
        }
        std::mem::replace(&mut self.by_term[place], self.round) != self.round
    }

    fn contains(&self, term: TermId) -> bool {
        self.by_term.get(term.index()) == Some(&self.round)
    }
}

impl TermStore {
    /// Marks of a new traversal. Nested traversals use different marks.
    fn marks(&self) -> Marks {
        let mut marks = self.marks.borrow_mut().pop().unwrap_or_default();
        if marks.round == u32::MAX {
            marks = Marks::default();
        }
        marks.round += 1;
        marks
    }

    fn give_back(&self, marks: Marks) {
        self.marks.borrow_mut().push(marks);
    }

    /// Calls `visit` once for each distinct sub-term, arguments before their term.
    pub fn post_order(&self, roots: &[TermId], mut visit: impl FnMut(TermId)) {
        let mut seen = self.marks();
        let mut stack: Vec<(TermId, bool)> = roots.iter().rev().map(|&r| (r, false)).collect();
        while let Some((term, done)) = stack.pop() {
            if done {
                visit(term);
            } else if seen.insert(term) {
                stack.push((term, true));
                for &arg in self.args(term).iter().rev() {
                    if !seen.contains(arg) {
                        stack.push((arg, false));
                    }
                }
            }
        }
        self.give_back(seen);
    }

    /// The variables that occur free in `roots`, by ascending id.
    pub fn free_vars(&self, roots: &[TermId]) -> Vec<TermId> {
        let mut vars = Vec::new();
        let mut bound: FxHashSet<TermId> = FxHashSet::default();
        let mut seen = self.marks();
        let mut stack: Vec<TermId> = roots.to_vec();
        while let Some(term) = stack.pop() {
            let node = self.node(term);
            if node.is_ground || !seen.insert(term) {
                continue;
            }
            match &node.op {
                Op::Var(_) => vars.push(term),
                Op::Forall(names) | Op::Exists(names) => bound.extend(names.iter()),
                _ => {}
            }
            stack.extend_from_slice(&node.args);
        }
        self.give_back(seen);
        vars.retain(|v| !bound.contains(v));
        vars.sort_unstable();
        vars
    }

    /// The term with each key of `map` replaced by its value, simplified. Keys may be any terms.
    pub fn substitute(&self, term: TermId, map: &FxHashMap<TermId, TermId>) -> TermId {
        let mut memo = FxHashMap::default();
        self.substitute_with(term, map, &mut memo)
    }

    /// As [`TermStore::substitute`], with a memo that calls with the same `map` may share.
    pub fn substitute_with(
        &self,
        term: TermId,
        map: &FxHashMap<TermId, TermId>,
        memo: &mut FxHashMap<TermId, TermId>,
    ) -> TermId {
        if map.is_empty() {
            return term;
        }
        self.rewrite(term, memo, |t| map.get(&t).copied())
    }

    /// The term with sub-terms replaced by the terms that `replace` gives for them, simplified;
    /// arguments of a replaced sub-term are not visited. Calls for which `replace` gives the same
    /// results may share the memo.
    pub fn rewrite(
        &self,
        term: TermId,
        memo: &mut FxHashMap<TermId, TermId>,
        mut replace: impl FnMut(TermId) -> Option<TermId>,
    ) -> TermId {
        let mut stack: Vec<(TermId, bool)> = vec![(term, false)];
        let mut args: Vec<TermId> = Vec::new();
        while let Some((t, done)) = stack.pop() {
            if memo.contains_key(&t) {
                continue;
            }
            let node = self.node(t);
            if !done {
                if let Some(other) = replace(t) {
                    memo.insert(t, other);
                } else if node.args.is_empty() {
                    memo.insert(t, t);
                } else {
                    stack.push((t, true));
                    for &arg in node.args.iter().rev() {
                        if !memo.contains_key(&arg) {
                            stack.push((arg, false));
                        }
                    }
                }
                continue;
            }
            args.clear();
            args.extend(node.args.iter().map(|a| memo[a]));
            let result = if *args == *node.args {
                t
            } else {
                self.rebuild(&node.op, &args, node.sort)
            };
            memo.insert(t, result);
        }
        memo[&term]
    }

    /// The term with each sub-term replaced by the result of `build`, arguments first; `build`
    /// receives the sub-term with its arguments already replaced.
    pub fn rewrite_bottom_up(
        &self,
        term: TermId,
        memo: &mut FxHashMap<TermId, TermId>,
        mut build: impl FnMut(TermId) -> TermId,
    ) -> TermId {
        let mut stack: Vec<(TermId, bool)> = vec![(term, false)];
        let mut args: Vec<TermId> = Vec::new();
        while let Some((t, done)) = stack.pop() {
            if memo.contains_key(&t) {
                continue;
            }
            let node = self.node(t);
            if !done && !node.args.is_empty() {
                stack.push((t, true));
                stack.extend(node.args.iter().rev().map(|&a| (a, false)));
                continue;
            }
            args.clear();
            args.extend(node.args.iter().map(|a| memo[a]));
            let rebuilt = if *args == *node.args {
                t
            } else {
                self.rebuild(&node.op, &args, node.sort)
            };
            let result = build(rebuilt);
            memo.insert(t, result);
        }
        memo[&term]
    }

    /// Number of distinct sub-terms of all roots together.
    pub fn dag_size(&self, roots: &[TermId]) -> usize {
        let mut count = 0;
        self.post_order(roots, |_| count += 1);
        count
    }

    /// The distinct conjuncts of a formula, also those of nested conjunctions; none for `true`.
    pub fn conjuncts(&self, term: TermId) -> Vec<TermId> {
        self.parts(term, &Op::And, TermId::TRUE)
    }

    /// The distinct disjuncts of a formula, also those of nested disjunctions; none for `false`.
    pub fn disjuncts(&self, term: TermId) -> Vec<TermId> {
        self.parts(term, &Op::Or, TermId::FALSE)
    }

    fn parts(&self, term: TermId, op: &Op, unit: TermId) -> Vec<TermId> {
        let mut parts = Vec::new();
        let mut seen = FxHashSet::default();
        let mut stack = vec![term];
        while let Some(t) = stack.pop() {
            if t == unit || !seen.insert(t) {
                continue;
            }
            let node = self.node(t);
            if node.op == *op {
                stack.extend(node.args.iter().rev());
            } else {
                parts.push(t);
            }
        }
        parts
    }

    /// A substitution of fresh variables for `vars`.
    pub fn renaming(&self, vars: &[TermId]) -> FxHashMap<TermId, TermId> {
        vars.iter().map(|&v| (v, self.fresh_copy(v))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SortId;

    /// Each traversal begins without visited terms, also one within another.
    #[test]
    fn traversals_within_traversals() {
        let terms = TermStore::new();
        let [x, y] = ["x", "y"].map(|name| terms.var(name, SortId::INT));
        let sum = terms.add(&[x, y]);
        let both = terms.and(&[terms.le(x, y), terms.eq(sum, terms.int(3))]);
        let mut all = Vec::new();
        terms.post_order(&[both], |t| all.push(t));
        let mut outer = Vec::new();
        terms.post_order(&[both], |t| {
            outer.push(t);
            assert_eq!(terms.free_vars(&[both]), [x, y]);
            let mut inner = Vec::new();
            terms.post_order(&[both], |t| inner.push(t));
            assert_eq!(inner, all);
            // A term that is newer than all visited ones.
            let new = terms.fresh_var("z", terms.sort_of(t));
            assert_eq!(terms.dag_size(&[new, new]), 1);
        });
        assert_eq!(outer, all);
    }
}
