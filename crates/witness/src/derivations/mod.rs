//! Proofs by induction on derivations that the least model of the clauses satisfies the queries.
//!
//! A lemma `P1(x1) ∧ … ∧ Pn(xn) ⇒ φ` speaks of n facts with their derivations. Its proof splits by
//! the clauses with which a derivation ends, which adds the premises to the context, and closes each
//! case by instances of lemmas. Derivations at the slots are ordered by their sub-derivations, tuples
//! of them as multisets (Dershowitz and Manna, CACM 1979), then by the lemma's position. An instance
//! of a lemma of the same group has to be smaller, which the paths of its atoms show: the atom at
//! path `[i]` is slot i, that at path `[i, j, …]` the j-th premise of its last step, and so on. (Unno,
//! Torii, Sakamoto: Automating Induction for Solving Horn Clauses, CAV 2017; the order of multisets
//! is ours.)
//!
//! A proof may add facts that no derivation of the context has, ghosts: `∀x. D(x) ⇒ ∃y. P(x, y)` is a
//! statement of its own, by induction on an integer. A ghost is below no slot, so where it is used as
//! a slot that is measured, the instance is not smaller.
//!
//! # Facts as conclusions
//! A lemma may conclude a fact, `P1(x1) ∧ … ∧ Pn(xn) ∧ φ ⇒ R(t)`. Then more facts are known at a node
//! than the derivations there have: the conclusion of an instance of such a lemma, where φ holds, and
//! the head of a clause, where its body is among the facts and its constraint holds for values that the
//! proof names. A leaf of such a lemma is closed where one of the facts is `R(t)`.
//!
//! Why this is sound: the claim about `R(t)` is that the least model has it, that is, that *some*
//! derivation ends with it. Suppose that lemmas are wrong, and take the least wrong tuple of derivations
//! in the order above, with its lemma. Follow the tree to a leaf, at each split by the clause with which
//! the derivation ends. Then each fact of the context has a derivation, and each fact with a path has
//! the one that the path names:
//!
//! - an instance of a lemma is about a smaller tuple, so it is not wrong. At the slots that are not
//!   measured any derivations will do, so added facts may stand there;
//! - a fact that was added has a derivation, but nothing is known about its size. So it has no path, as a
//!   ghost, and nor have the premises that its split adds. It never stands at a slot that is measured
//!   in an instance of a lemma of the same group;
//! - the least model is closed under the clauses.
//!
//! A leaf's question then says that the lemma is right about this tuple. Nothing says that a lemma's
//! conclusion has a derivation of some size; the order counts derivations of slots only.
//!
//! That a proof is one depends on the clauses that the reader made of the text. So these clauses are
//! printed, and each assertion of the text has to follow from those of its command.
//!
//! # Invariant
//! A proof passes only if every split has a case for every clause of its predicate, every instance
//! matches slots with atoms of their predicates and is smaller, and Z3 finds every question valid:
//! the assertions of the text, the leaves, and the queries.

mod check;
mod functions;
mod least;
mod order;
mod print;
mod questions;
mod read;
#[cfg(test)]
mod tests;

use crate::types::{Affine, ClauseStep, Instance, ProofNode, TotalCase};

/// A node of a proof as it was read.
type NodeText = ProofNode<String, String>;

/// The application of a clause as it was read.
type StepText = ClauseStep<String, String>;

pub(super) use check::check_derivations;
pub(super) use functions::{FunctionsText, check_functions};
pub(super) use least::least_model;
pub use order::compare_derivations;
pub(super) use print::{derived_line, proof_lines};
pub use questions::supports_derivations;
pub(super) use questions::{Questions, Refusal, questions};
pub(super) use read::{has_derived, has_proof, read_derived, read_proof};

/// A proof as it was read: formulas are text.
#[derive(Clone, Debug)]
pub struct ProofText {
    totals: Vec<TotalText>,
    lemmas: Vec<LemmaText>,
    /// By number of the query.
    queries: Vec<Vec<Instance>>,
}

/// A lemma as it was read.
#[derive(Clone, Debug)]
struct LemmaText {
    name: String,
    slots: Vec<SlotText>,
    statement: String,
    /// The position of a predicate, and terms over the arguments of the slots.
    conclusion: Option<(usize, Vec<String>)>,
    group: usize,
    measured: Vec<usize>,
    nodes: Vec<NodeText>,
}

/// A statement of totality as it was read.
#[derive(Clone, Debug)]
struct TotalText {
    name: String,
    slot: SlotText,
    domain: String,
    outputs: Vec<usize>,
    group: usize,
    measure: Affine,
    cases: Vec<TotalCase>,
}

/// Why the facts of a predicate have derivations, as it was read. Terms are over the arguments.
#[derive(Clone, Debug)]
pub struct DerivedText {
    slot: SlotText,
    /// Integers that fall lexicographically.
    measure: Vec<String>,
    /// Names of functions with the arguments of calls.
    unfoldings: Vec<(String, Vec<String>)>,
    /// Positions among the predicate's clauses, with values of the clause's variables.
    cases: Vec<(usize, Vec<String>)>,
}

/// A fact of a lemma.
#[derive(Clone, Debug)]
struct SlotText {
    /// The position of the predicate in the problem.
    predicate: usize,
    /// The names of its arguments, as written.
    args: Vec<String>,
}
