//! The features of a system that decide which engines fit.

use rustc_hash::FxHashSet;

use super::{DependencyGraph, System};
use alphorn_term::{Op, Sort, SortId, TermId, TermStore};

/// Which theories occur in arguments and constraints.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Theories {
    pub int: bool,
    pub real: bool,
    pub bitvec: bool,
    /// See [`System::has_wide_words`].
    pub wide_words: bool,
    pub array: bool,
    pub datatype: bool,
    /// A product of two non-numerals, or division by a non-numeral.
    pub nonlinear_arithmetic: bool,
    pub quantifier: bool,
}

/// Summary of a system.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Shape {
    pub clauses: usize,
    pub predicates: usize,
    /// Sum of the arities of the predicates in use.
    pub arguments: usize,
    /// Those of them that are truth values.
    pub truth_values: usize,
    /// No clause has two body atoms.
    pub linear: bool,
    /// Predicates on a cycle of the dependency graph.
    pub recursive: usize,
    /// Clauses whose head is `false`.
    pub queries: usize,
    pub theories: Theories,
}

impl Shape {
    /// Looks at every clause once.
    pub fn of(system: &System) -> Self {
        let used = system.used_predicates();
        let mut theories = Theories {
            wide_words: system.has_wide_words(),
            ..Theories::default()
        };
        let mut seen = FxHashSet::default();
        for &p in &used {
            for &param in &system.predicate(p).params {
                note_sort(
                    &system.terms,
                    system.terms.sort_of(param),
                    &mut theories,
                    &mut seen,
                );
            }
        }
        let params = used.iter().flat_map(|&p| &system.predicate(p).params);
        let truth_values = params.filter(|&&v| system.terms.sort_of(v) == SortId::BOOL);
        let truth_values = truth_values.count();
        let roots: Vec<TermId> = system.clauses.iter().map(|c| c.constraint).collect();
        system.terms.post_order(&roots, |t| {
            let node = system.terms.node(t);
            note_sort(&system.terms, node.sort, &mut theories, &mut seen);
            match &node.op {
                Op::Mul if system.terms.numeral(node.args[0]).is_none() => {
                    theories.nonlinear_arithmetic = true;
                }
                Op::Div => theories.nonlinear_arithmetic = true,
                Op::IDiv | Op::Mod if system.terms.as_int(node.args[1]).is_none() => {
                    theories.nonlinear_arithmetic = true;
                }
                Op::Forall(_) | Op::Exists(_) => theories.quantifier = true,
                _ => {}
            }
        });
        Shape {
            clauses: system.clauses.len(),
            predicates: used.len(),
            arguments: used.iter().map(|&p| system.predicate(p).arity()).sum(),
            truth_values,
            linear: system.clauses.iter().all(|c| c.body.len() <= 1),
            recursive: DependencyGraph::new(system).recursive().len(),
            queries: system.clauses.iter().filter(|c| c.head.is_none()).count(),
            theories,
        }
    }
}

fn note_sort(
    terms: &TermStore,
    sort: SortId,
    theories: &mut Theories,
    seen: &mut FxHashSet<SortId>,
) {
    let mut stack = vec![sort];
    while let Some(sort) = stack.pop() {
        if !seen.insert(sort) {
            continue;
        }
        match terms.sort(sort) {
            Sort::Bool => {}
            Sort::Int => theories.int = true,
            Sort::Real => theories.real = true,
            Sort::BitVec(_) => theories.bitvec = true,
            Sort::Array(index, element) => {
                theories.array = true;
                stack.extend([index, element]);
            }
            Sort::Datatype(id) => {
                theories.datatype = true;
                for c in &terms.datatype(id).constructors {
                    stack.extend(c.fields.iter().map(|f| f.sort));
                }
            }
        }
    }
}
