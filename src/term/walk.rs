//! Traversals: substitution, free variables, sub-terms, conjuncts; all iterative.
//!
//! Invariant: bound variables are unique to their quantifier, so substitution needs no renaming
//! as long as it never replaces a bound variable.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Op, TermId, TermStore};

impl TermStore {
    /// Calls `visit` once for each distinct sub-term, arguments before their term.
    pub fn post_order(&self, roots: &[TermId], mut visit: impl FnMut(TermId)) {
        let mut seen: FxHashSet<TermId> = FxHashSet::default();
        let mut stack: Vec<(TermId, bool)> = roots.iter().rev().map(|&r| (r, false)).collect();
        while let Some((term, done)) = stack.pop() {
            if done {
                visit(term);
            } else if seen.insert(term) {
                stack.push((term, true));
                for &arg in self.args(term).iter().rev() {
                    if !seen.contains(&arg) {
                        stack.push((arg, false));
                    }
                }
            }
        }
    }

    /// The variables that occur free, by ascending id.
    pub fn free_vars(&self, roots: &[TermId]) -> Vec<TermId> {
        let mut vars = Vec::new();
        let mut bound: FxHashSet<TermId> = FxHashSet::default();
        let mut seen: FxHashSet<TermId> = FxHashSet::default();
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
        vars.retain(|v| !bound.contains(v));
        vars.sort_unstable();
        vars
    }

    /// The term with each key of `map` replaced by its value, simplified on the way up. Keys are
    /// usually variables but may be any terms.
    pub fn substitute(&self, term: TermId, map: &FxHashMap<TermId, TermId>) -> TermId {
        let mut memo = FxHashMap::default();
        self.substitute_with(term, map, &mut memo)
    }

    /// Like [`TermStore::substitute`], with a memo that several calls with one map share.
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

    /// Rebuilds a term bottom-up; where `replace` gives a term it stands in for the sub-term,
    /// whose arguments are then not visited. `memo` holds results and may be reused as long as
    /// `replace` gives the same answers.
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

    /// Applies `build` to each sub-term whose arguments are already rewritten; `build` gets the
    /// rebuilt sub-term and returns what stands in its place.
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

    /// The conjuncts of a formula, nested conjunctions taken apart; none for `true`.
    pub fn conjuncts(&self, term: TermId) -> Vec<TermId> {
        self.parts(term, &Op::And, TermId::TRUE)
    }

    /// The disjuncts of a formula, nested disjunctions taken apart; none for `false`.
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

    /// Fresh variables for `vars`, as a substitution.
    pub fn renaming(&self, vars: &[TermId]) -> FxHashMap<TermId, TermId> {
        vars.iter()
            .map(|&v| (v, self.fresh_var(self.var_name(v), self.sort_of(v))))
            .collect()
    }
}
