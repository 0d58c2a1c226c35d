//! The user's problem: predicates and clauses with their positions in the text, and the text.
//!
//! Invariant: the clauses are equivalent to the assertions, rules and queries in force. The
//! constructors of terms simplify while the text is read; no later stage changes a problem, since
//! witnesses are about it.

use std::ops::Range;
use std::rc::Rc;

use crate::{Atom, Predicate};
use alphorn_term::{SortId, TermId, TermStore};

/// The dialect of a text; it decides the polarity of the answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// SMT-LIB with `(check-sat)`: `sat` means that the clauses have a model (safe).
    Horn,
    /// Z3's rules with `(query q)`: `sat` means that q is reachable (unsafe).
    Fixedpoint,
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
    /// The universally quantified variables with their names in the text.
    pub vars: Vec<(String, TermId)>,
    /// The body atoms.
    pub body: Vec<Atom>,
    /// A formula without predicates.
    pub constraint: TermId,
    /// The head; `None` for `false`.
    pub head: Option<Atom>,
    /// The position in [`Problem::commands`] of its `assert`, `rule` or `query`.
    pub command: usize,
    /// The number of this command among the asserts, rules and queries in force, from 1.
    pub number: usize,
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
pub struct Problem {
    /// The store of all terms of the problem.
    pub terms: Rc<TermStore>,
    /// The whole text.
    pub text: Rc<str>,
    /// The dialect of the text.
    pub dialect: Dialect,
    /// The predicates, in the order of declaration.
    pub predicates: Vec<Predicate>,
    /// The clauses, in the order of their commands.
    pub clauses: Vec<ProblemClause>,
    /// The commands in force, in order.
    pub commands: Vec<CommandSpan>,
    /// What the text requests besides the verdict.
    pub requests: Requests,
    /// The heap of the text, if it declares one.
    pub heap: Option<HeapSort>,
}
