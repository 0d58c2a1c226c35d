//! The user's problem: predicates and clauses with their positions in the text, and the text.
//!
//! Invariant: the clauses are equivalent to the assertions, rules and queries in force, except that
//! they may be stronger (`is_stronger`), and that those of a recursive function's graph are weaker
//! than its equation where it does not end. The
//! constructors of terms simplify while the text is read; no later stage changes a problem, since
//! witnesses are about it.

use std::ops::Range;
use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::constants::FreeConstant;
use super::warnings::Warning;
use crate::{Atom, Predicate, PredicateId};
use alphorn_term::{FunctionId, SortId, TermId, TermStore};

/// The dialect of a text; it decides the polarity of the answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// SMT-LIB with `(check-sat)`: `sat` means that the clauses have a model (safe).
    Horn,
    /// Z3's rules with `(query q)`: `sat` means that q is reachable (unsafe).
    Fixedpoint,
    /// SMT-LIB with recursive functions and one assertion, that a goal `∀x g(x)` about them does not
    /// hold. The clauses are those of the graphs and `¬g(x) ⇒ false`, so `unsat` means that they
    /// have a model: the goal is a theorem.
    Goal,
}

/// What the text requests besides the verdict.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Requests {
    /// The model: `(get-model)`.
    pub model: bool,
    /// The refutation: `(get-proof)`.
    pub proof: bool,
    /// The reason of `unknown`: `(get-info :reason-unknown)`.
    pub reason_unknown: bool,
    /// Whether any command asks for something besides the verdict, or is an error that changes no
    /// verdict: `echo`, `get-…`, commands that are not known after the check.
    pub replies: bool,
    /// The time limit in milliseconds, `(set-option :timeout N)`; `None` for none.
    pub timeout_ms: Option<u64>,
}

/// The position of a top-level command that is in force at the check: not removed by `pop`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommandSpan {
    /// The keyword: `declare-fun`, `assert`, `rule` and so on.
    pub keyword: String,
    /// The bytes of the command in the text.
    pub range: Range<usize>,
    /// The line of its beginning, from 1.
    pub line: u32,
    /// The column of its beginning, from 1, in characters.
    pub column: u32,
}

/// A clause of the text. Unlike those of a [`System`](crate::System), the arguments of its atoms are
/// arbitrary terms. One command may give several clauses.
#[derive(Clone, Debug)]
pub struct ProblemClause {
    /// The universally quantified variables with their names in the text: first those of the clause
    /// itself, then those of the alternatives of its disjunctions.
    pub vars: Vec<(Rc<str>, TermId)>,
    /// The body atoms.
    pub body: Vec<Atom>,
    /// A formula without predicates.
    pub constraint: TermId,
    /// Further conjuncts of the body: positions in [`Problem::disjunctions`].
    pub disjunctions: Vec<usize>,
    /// The head; `None` for `false`.
    pub head: Option<Atom>,
    /// The position in [`Problem::commands`] of its `assert`, `rule`, `query` or definition.
    pub command: usize,
    /// The number of this command among the asserts, rules, queries and definitions of recursive
    /// functions in force, from 1.
    pub number: usize,
}

/// The reading of a sort without definition (`declare-sort`). The text is satisfiable if some
/// non-empty set of elements makes it so.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SortReading {
    /// As it is declared. Its values are a constructor applied to integers: two of them are equal
    /// if their integers are, but nothing says that they are different otherwise.
    #[default]
    Free,
    /// The sort is Int.
    Integers,
    /// The sort has this number of elements, at least one.
    Size(u32),
}

/// A sort without definition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FreeSort {
    /// Its name.
    pub name: String,
    /// The constructor of its values if it is read as [`SortReading::Free`]; the text has no such
    /// name.
    pub constructor: String,
    /// The command that defines the sort as it is read otherwise.
    pub definition: Option<String>,
}

/// A disjunction over predicates in the bodies of clauses.
#[derive(Clone, Debug)]
pub struct Disjunction {
    /// The alternatives.
    pub alternatives: Vec<Alternative>,
}

/// A conjunction in a [`Disjunction`].
#[derive(Clone, Debug)]
pub struct Alternative {
    /// Its existentially quantified variables with their names in the text; no other alternative or
    /// clause has them. Its other variables are those of the clauses around it.
    pub vars: Vec<(Rc<str>, TermId)>,
    /// Its atoms.
    pub body: Vec<Atom>,
    /// A formula without predicates.
    pub constraint: TermId,
    /// Further conjuncts: positions in [`Problem::disjunctions`], before that of the disjunction.
    pub disjunctions: Vec<usize>,
}

/// A function that the text defines by a recursive equation. Its graph is a predicate over the
/// function's arguments and, last, its value. The equation gives the clauses of the graph, with a
/// body atom for each call; other calls in the text are body atoms, too, so no clause has calls.
#[derive(Clone, Debug)]
pub struct TextFunction {
    /// The name in the text, which is also that of the graph.
    pub name: String,
    /// The function. The reader declares it only: its definition, with a measure, exists if its
    /// recursion is known to end.
    pub function: FunctionId,
    /// The right-hand side of the equation over the function's parameters.
    pub body: TermId,
    /// The predicate of the graph.
    pub graph: PredicateId,
    /// The position in [`Problem::commands`] of its definition.
    pub command: usize,
}

/// The sorts of a heap's theory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeapSort {
    /// The sort of heaps: records of a size and an array of cells.
    pub sort: SortId,
    /// The sort of objects.
    pub object: SortId,
    /// The object in cells that are not allocated.
    pub default: TermId,
}

/// The content of a text. In witnesses, the `ClauseId` of a clause is its position in `clauses`, and
/// the `PredicateId` of a predicate its position in `predicates`.
#[derive(Clone)]
pub struct Problem {
    /// The store of all terms of the problem.
    pub terms: Rc<TermStore>,
    /// The whole text.
    pub text: Rc<str>,
    /// The dialect of the text.
    pub dialect: Dialect,
    /// The predicates, in the order of declaration, with the graphs of recursive functions.
    pub predicates: Vec<Predicate>,
    /// The recursive functions, in the order of definition.
    pub functions: Vec<TextFunction>,
    /// The clauses, in the order of their commands.
    pub clauses: Vec<ProblemClause>,
    /// The sorts without definition, in the order of declaration.
    pub free_sorts: Vec<FreeSort>,
    /// The constants without definition that clauses mention.
    pub constants: Vec<FreeConstant>,
    /// The disjunctions of the clauses' bodies, each after those that occur in it.
    pub disjunctions: Vec<Disjunction>,
    /// The predicates whose atoms stand for the negations of the text's atoms, in clauses, models
    /// and refutations: see `complement`.
    pub complemented: FxHashSet<PredicateId>,
    /// Whether the clauses only imply the text: universal quantifiers over predicates in bodies, or
    /// existential ones in heads, have become instances, or constants variables. A model of the clauses is one of the text; a
    /// refutation is one only if each step follows from the text.
    pub is_stronger: bool,
    /// The commands in force, in order.
    pub commands: Vec<CommandSpan>,
    /// What the text requests besides the verdict.
    pub requests: Requests,
    /// The heap of the text, if it declares one.
    pub heap: Option<HeapSort>,
    /// What in the text is not standard, in the order of the text.
    pub warnings: Vec<Warning>,
}

impl Problem {
    /// The commands that define the sorts without definition as they are read, for a model.
    pub fn sort_definitions(&self) -> impl Iterator<Item = &str> {
        let definitions = self
            .free_sorts
            .iter()
            .map(|sort| sort.definition.as_deref());
        definitions.flatten()
    }

    /// Whether a sort is read as it is declared, without definition.
    pub fn has_undefined_sorts(&self) -> bool {
        self.free_sorts.iter().any(|sort| sort.definition.is_none())
    }

    /// The disjunctions that occur in the body of a clause, at any depth, each after those in it.
    pub fn disjunctions_of(&self, clause: &ProblemClause) -> Vec<usize> {
        nested(&self.disjunctions, &clause.disjunctions)
    }

    /// The groups of mutually recursive functions, as positions in `functions`, each group after
    /// those that it needs.
    pub fn function_groups(&self) -> Vec<Vec<usize>> {
        super::recursive::groups(&self.terms, &self.functions)
    }

    /// Whether the command at a position defines recursive functions.
    pub fn defines_functions(&self, command: usize) -> bool {
        let found = self.functions.binary_search_by_key(&command, |f| f.command);
        found.is_ok()
    }

    /// The recursive function whose graph a predicate is.
    pub fn function_of(&self, graph: PredicateId) -> Option<&TextFunction> {
        self.functions.iter().find(|f| f.graph == graph)
    }
}

/// These disjunctions and those that occur in them, ascending.
pub(super) fn nested(disjunctions: &[Disjunction], roots: &[usize]) -> Vec<usize> {
    let mut stack = roots.to_vec();
    let mut seen: FxHashSet<usize> = FxHashSet::default();
    while let Some(at) = stack.pop() {
        if seen.insert(at) {
            let alternatives = disjunctions[at].alternatives.iter();
            stack.extend(alternatives.flat_map(|a| &a.disjunctions));
        }
    }
    let mut all: Vec<usize> = seen.into_iter().collect();
    all.sort_unstable();
    all
}
