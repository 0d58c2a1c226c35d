//! Functions that are defined by recursive equations, and calls of them.
//!
//! A function `f` has an equation `f(x) = body`; [`TermStore::unfold`] applies it once. Solvers
//! receive calls as uninterpreted functions. The store does not check that the equations define
//! functions; the certificate of a model does (`witness::certificate`).
//!
//! Invariant: a call is never a value, and no constructor or traversal applies the equation.

use std::cell::OnceCell;

use petgraph::graph::DiGraph;
use rustc_hash::FxHashMap;

use super::{Op, SortId, TermId, TermStore};

/// The number of a function in its store.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct FunctionId(pub u32);

/// A function and the equation that defines it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// The name, unique among the functions of the store.
    pub name: String,
    /// The parameters, fresh variables.
    pub params: Vec<TermId>,
    /// The sort of the result.
    pub result: SortId,
    /// The right-hand side of the equation, over the parameters; before the function is defined, the
    /// call on the parameters, so that the equation is trivial.
    pub body: TermId,
    /// Positions of the arguments that decrease lexicographically in each call in the body of a
    /// function that is mutually recursive with this one; empty if there is no such call.
    pub measure: Vec<usize>,
}

/// A function before and after its definition.
pub(super) struct FunctionCell {
    declared: Function,
    defined: OnceCell<Function>,
}

impl TermStore {
    /// A new function with arguments of these sorts and fresh variables as parameters;
    /// [`TermStore::define_function`] gives it its body. If another function has the name, a number
    /// and `!` are appended.
    pub fn declare_function(&self, name: &str, sorts: &[SortId], result: SortId) -> FunctionId {
        let id = FunctionId(u32::try_from(self.functions.len()).expect("fewer than 2^32"));
        let is_taken = |name: &str| self.functions.iter().any(|f| f.declared.name == name);
        let mut unique = name.to_owned();
        let mut number = 0;
        while is_taken(&unique) {
            number += 1;
            unique = format!("{name}{number}!");
        }
        let params: Vec<TermId> = sorts.iter().map(|&s| self.fresh_var("p", s)).collect();
        let body = self.intern(Op::Call(id), &params, result);
        self.functions.push(Box::new(FunctionCell {
            declared: Function {
                name: unique,
                params,
                result,
                body,
                measure: Vec::new(),
            },
            defined: OnceCell::new(),
        }));
        id
    }

    /// Gives a declared function its body, over the parameters, and its measure (see
    /// [`Function::measure`]). Panics if it has been defined before.
    pub fn define_function(&self, id: FunctionId, body: TermId, measure: Vec<usize>) {
        let cell = &self.functions[id.0 as usize];
        debug_assert_eq!(
            self.sort_of(body),
            cell.declared.result,
            "the body has the sort of the result"
        );
        debug_assert!(
            measure.iter().all(|&m| m < cell.declared.params.len()),
            "the measure is a list of argument positions"
        );
        let function = Function {
            body,
            measure,
            ..cell.declared.clone()
        };
        assert!(
            cell.defined.set(function).is_ok(),
            "a function is defined once"
        );
    }

    /// The function; see [`Function::body`] for one that has no definition yet.
    pub fn function(&self, id: FunctionId) -> &Function {
        let cell = &self.functions[id.0 as usize];
        cell.defined.get().unwrap_or(&cell.declared)
    }

    /// The function applied to arguments that have the sorts of its parameters.
    pub fn call(&self, id: FunctionId, args: &[TermId]) -> TermId {
        let function = &self.functions[id.0 as usize].declared;
        debug_assert!(
            args.len() == function.params.len()
                && args
                    .iter()
                    .zip(&function.params)
                    .all(|(&a, &p)| self.sort_of(a) == self.sort_of(p)),
            "the arguments of a call have the sorts of the parameters"
        );
        self.intern(Op::Call(id), args, function.result)
    }

    /// The body of the called function with the arguments substituted for the parameters. Any other
    /// term, and a call of a function without a definition, is returned unchanged.
    pub fn unfold(&self, call: TermId) -> TermId {
        let Op::Call(id) = *self.op(call) else {
            return call;
        };
        let function = self.function(id);
        let params = function.params.iter().copied();
        let map = params.zip(self.args(call).iter().copied()).collect();
        self.substitute(function.body, &map)
    }

    /// The function and those that are mutually recursive with it, by ascending id.
    pub fn function_group(&self, id: FunctionId) -> Vec<FunctionId> {
        let mut groups = self.groups_of_functions(vec![id]).into_iter();
        groups.find(|g| g.contains(&id)).unwrap_or_else(|| vec![id])
    }

    /// The functions that `roots` call, directly or through bodies, in groups of mutually recursive
    /// ones, each group after those that it needs.
    pub fn function_groups(&self, roots: &[TermId]) -> Vec<Vec<FunctionId>> {
        self.groups_of_functions(self.called(roots))
    }

    /// The functions that `roots` call directly, by ascending id.
    pub fn called(&self, roots: &[TermId]) -> Vec<FunctionId> {
        let mut found = Vec::new();
        self.post_order(roots, |t| {
            if let Op::Call(id) = *self.op(t) {
                found.push(id);
            }
        });
        found.sort_unstable();
        found.dedup();
        found
    }

    fn groups_of_functions(&self, roots: Vec<FunctionId>) -> Vec<Vec<FunctionId>> {
        let mut graph: DiGraph<FunctionId, ()> = DiGraph::new();
        let mut nodes = FxHashMap::default();
        for &id in &roots {
            nodes.insert(id, graph.add_node(id));
        }
        let mut found = roots;
        let mut next = 0;
        while let Some(&id) = found.get(next) {
            next += 1;
            for callee in self.called(&[self.function(id).body]) {
                let target = *nodes.entry(callee).or_insert_with(|| {
                    found.push(callee);
                    graph.add_node(callee)
                });
                graph.update_edge(nodes[&id], target, ());
            }
        }
        // Kosaraju's algorithm is iterative in petgraph and gives the targets of edges first.
        let components = petgraph::algo::kosaraju_scc(&graph);
        let groups = components.into_iter().map(|component| {
            let mut group: Vec<FunctionId> = component.into_iter().map(|n| graph[n]).collect();
            group.sort_unstable();
            group
        });
        groups.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Assignment, Printer, evaluate};

    /// `f(x) = ite(x <= 0, 0, g(x - 1))`, `g(x) = f(x) + h(x)`, `h(x) = 2 x`.
    fn functions(t: &TermStore) -> [FunctionId; 3] {
        let [f, g, h] =
            ["f!", "g!", "h!"].map(|n| t.declare_function(n, &[SortId::INT], SortId::INT));
        let param = |id| t.function(id).params[0];
        let zero = t.int(0);
        let x = param(f);
        let call = t.call(g, &[t.add(&[x, t.int(-1)])]);
        t.define_function(f, t.ite(t.le(x, zero), zero, call), vec![0]);
        let x = param(g);
        t.define_function(g, t.add(&[t.call(f, &[x]), t.call(h, &[x])]), vec![0]);
        t.define_function(h, t.mul(&[t.int(2), param(h)]), vec![]);
        [f, g, h]
    }

    #[test]
    fn groups_are_in_the_order_of_calls() {
        let t = TermStore::new();
        let [f, g, h] = functions(&t);
        let root = t.call(f, &[t.int(3)]);
        assert_eq!(t.function_groups(&[root]), [vec![h], vec![f, g]]);
        assert_eq!(t.function_group(g), [f, g]);
        assert_eq!(t.function_group(h), [h]);
        assert_eq!(t.function_groups(&[t.int(0)]), [[]; 0]);
    }

    #[test]
    fn unfolding_puts_arguments_in() {
        let t = TermStore::new();
        let [f, g, h] = functions(&t);
        let y = t.var("y", SortId::INT);
        let call = t.call(g, &[y]);
        assert_eq!(t.unfold(call), t.add(&[t.call(f, &[y]), t.call(h, &[y])]));
        assert_eq!(t.unfold(t.call(f, &[t.int(0)])), t.int(0));
        assert_eq!(Printer::new(&t).term(t.call(h, &[y])), "(h! y)");
        assert_eq!(t.unfold(y), y);
    }

    #[test]
    fn calls_have_no_value_and_names_are_unique() {
        let t = TermStore::new();
        let [f, ..] = functions(&t);
        let call = t.call(f, &[t.int(0)]);
        assert!(!t.is_value(call));
        assert_eq!(evaluate(&t, call, &Assignment::default()), None);
        let other = t.declare_function("f!", &[], SortId::BOOL);
        assert_eq!(t.function(other).name, "f!1!");
        let constant = t.call(other, &[]);
        assert_eq!(t.unfold(constant), constant);
        assert_eq!(Printer::new(&t).term(constant), "f!1!");
    }
}
