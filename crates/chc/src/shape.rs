//! Features of a system, by which the strategy chooses engines and passes.
//!
//! Invariant: a shape depends only on the clauses and the predicates in use, not on names.

use rustc_hash::FxHashSet;

use super::{DependencyGraph, System};
use alphorn_term::run::Statistics;
use alphorn_term::{Op, Sort, SortId, TermId, TermStore};

/// Which theories occur in arguments and constraints, also within arrays and datatypes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Theories {
    /// Terms of sort Int.
    pub int: bool,
    /// Terms of sort Real.
    pub real: bool,
    /// Bit-vectors.
    pub bitvec: bool,
    /// See [`System::has_wide_bit_vectors`].
    pub wide_bit_vectors: bool,
    /// Arrays.
    pub array: bool,
    /// Datatypes.
    pub datatype: bool,
    /// A product of two terms that are not numerals, or a division by such a term.
    pub nonlinear_arithmetic: bool,
    /// A quantifier in a constraint.
    pub quantifier: bool,
}

/// Features of a system.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Shape {
    /// Number of clauses.
    pub clauses: usize,
    /// Number of predicates in use.
    pub predicates: usize,
    /// Number of arguments of all predicates in use.
    pub arguments: usize,
    /// Number of these arguments that are of sort Bool.
    pub booleans: usize,
    /// Number of these arguments that are of sort Real.
    pub reals: usize,
    /// Whether no clause has two body atoms.
    pub linear: bool,
    /// Number of predicates on a cycle of the dependency graph.
    pub recursive: usize,
    /// Number of clauses with the head `false`.
    pub queries: usize,
    /// Whether a query has several body atoms, one of them of a recursive predicate, or another clause
    /// several of recursive predicates.
    pub relates_facts: bool,
    /// The theories that occur.
    pub theories: Theories,
}

impl Shape {
    /// The shape of a system, in time linear in its size.
    pub fn of(system: &System) -> Self {
        let used = system.used_predicates();
        let mut theories = Theories {
            wide_bit_vectors: system.has_wide_bit_vectors(),
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
        let of_sort = |sort: SortId| {
            let params = used.iter().flat_map(|&p| &system.predicate(p).params);
            params.filter(|&&v| system.terms.sort_of(v) == sort).count()
        };
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
        let recursive = DependencyGraph::new(system).recursive();
        let relates_facts = system.clauses.iter().any(|clause| {
            let atoms = clause.body.iter();
            let count = atoms.filter(|a| recursive.contains(&a.predicate)).count();
            count > 1 || (clause.head.is_none() && clause.body.len() > 1 && count > 0)
        });
        Shape {
            clauses: system.clauses.len(),
            predicates: used.len(),
            arguments: used.iter().map(|&p| system.predicate(p).arity()).sum(),
            booleans: of_sort(SortId::BOOL),
            reals: of_sort(SortId::REAL),
            linear: system.clauses.iter().all(|c| c.body.len() <= 1),
            recursive: recursive.len(),
            relates_facts,
            queries: system.clauses.iter().filter(|c| c.head.is_none()).count(),
            theories,
        }
    }

    /// Writes the features into a run's statistics, as `shape.NAME`.
    pub fn report(&self, statistics: &mut Statistics) {
        statistics.set_text("shape.family", Family::of(self).name());
        let flags = [
            ("linear", self.linear),
            ("relates-facts", self.relates_facts),
            ("wide-bit-vectors", self.theories.wide_bit_vectors),
        ];
        let counts = [
            ("clauses", self.clauses),
            ("predicates", self.predicates),
            ("arguments", self.arguments),
            ("booleans", self.booleans),
            ("reals", self.reals),
            ("recursive", self.recursive),
            ("queries", self.queries),
        ];
        let flags = flags.map(|(name, holds)| (name, usize::from(holds)));
        for (name, count) in counts.into_iter().chain(flags) {
            statistics.set(&format!("shape.{name}"), count as u64);
        }
    }
}

/// A family of clauses by theories and linearity: the classes for which turns of engines are measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// With datatypes and arrays, most of them models of heaps.
    DataAndArrays,
    /// With datatypes, without arrays.
    Data,
    /// With arrays, without datatypes.
    Arrays,
    /// With bit-vectors, without datatypes and arrays.
    BitVectors,
    /// At most one body atom in each clause, and reals.
    LinearReals,
    /// At most one body atom in each clause, over integers and Booleans.
    Linear,
    /// More than one body atom in some clause, over numbers and Booleans.
    Nonlinear,
}

impl Family {
    /// All families.
    pub const ALL: [Family; 7] = [
        Family::DataAndArrays,
        Family::Data,
        Family::Arrays,
        Family::BitVectors,
        Family::LinearReals,
        Family::Linear,
        Family::Nonlinear,
    ];

    /// The family of clauses of this shape.
    pub fn of(shape: &Shape) -> Family {
        let theories = &shape.theories;
        match (theories.datatype, theories.array) {
            (true, true) => Family::DataAndArrays,
            (true, false) => Family::Data,
            (false, true) => Family::Arrays,
            (false, false) if theories.bitvec => Family::BitVectors,
            (false, false) if !shape.linear => Family::Nonlinear,
            (false, false) if theories.real => Family::LinearReals,
            (false, false) => Family::Linear,
        }
    }

    /// The name, as messages have it.
    pub fn name(self) -> &'static str {
        match self {
            Family::DataAndArrays => "datatypes and arrays",
            Family::Data => "datatypes",
            Family::Arrays => "arrays",
            Family::BitVectors => "bit-vectors",
            Family::LinearReals => "linear clauses over reals",
            Family::Linear => "linear clauses over integers",
            Family::Nonlinear => "nonlinear clauses",
        }
    }

    /// The family of this name.
    pub fn named(name: &str) -> Option<Family> {
        Family::ALL.into_iter().find(|family| family.name() == name)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_have_families() {
        for family in Family::ALL {
            assert_eq!(Family::named(family.name()), Some(family));
        }
        assert_eq!(Family::named("abacus"), None);
        let mut shape = Shape {
            linear: true,
            ..Shape::default()
        };
        assert_eq!(Family::of(&shape), Family::Linear);
        shape.theories.real = true;
        assert_eq!(Family::of(&shape), Family::LinearReals);
        shape.linear = false;
        assert_eq!(Family::of(&shape), Family::Nonlinear);
        shape.theories.bitvec = true;
        assert_eq!(Family::of(&shape), Family::BitVectors);
        shape.theories.array = true;
        assert_eq!(Family::of(&shape), Family::Arrays);
        shape.theories.datatype = true;
        assert_eq!(Family::of(&shape), Family::DataAndArrays);
        shape.theories.array = false;
        assert_eq!(Family::of(&shape), Family::Data);
    }
}
