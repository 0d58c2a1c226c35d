//! What engines answer: a model, a refutation, or a reason why neither.

use rustc_hash::FxHashMap;

use alphorn_chc::{ClauseId, PredicateId};
use alphorn_term::run::Reason;
use alphorn_term::{Assignment, TermId};

/// An interpretation of predicates that satisfies every clause.
///
/// Each formula is over the formal variables of its predicate in the system the model is for
/// (`System::predicate(p).params`). A predicate that is absent is `true` when it occurs in no
/// clause; a model of a system gives every predicate in use a formula.
#[derive(Clone, Debug, Default)]
pub struct Model {
    pub definitions: FxHashMap<PredicateId, TermId>,
    /// What holds of the functions that the definitions call, each proven from those before it.
    /// They mention no predicate, so ways back leave them as they are.
    pub lemmas: Vec<Lemma>,
}

/// A universal statement about defined functions, and its proof by cases: in each case the
/// statement follows, with the functions uninterpreted, from the guard and ground instances.
#[derive(Clone, Debug)]
pub struct Lemma {
    pub name: String,
    pub vars: Vec<TermId>,
    /// Over `vars`, often of the form hypotheses ⇒ conclusion.
    pub statement: TermId,
    /// Positions in `vars`: what becomes smaller, lexicographically, in instances of the induction
    /// hypothesis. Empty if there are none.
    pub measure: Vec<usize>,
    /// Their guards cover all values for which the statement is not valid without definitions.
    pub cases: Vec<Case>,
}

/// A case of a lemma's proof; all terms are over the lemma's variables.
#[derive(Clone, Debug)]
pub struct Case {
    pub guard: TermId,
    /// Instances of the lemma itself: terms for all its variables.
    pub induction: Vec<Vec<TermId>>,
    /// Instances of lemmas before it, by position, with terms for their variables.
    pub instances: Vec<(usize, Vec<TermId>)>,
    /// Calls whose defining equations are used, as they stand.
    pub unfoldings: Vec<TermId>,
}

/// A ground atom: a predicate and the values of its arguments.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Fact {
    pub predicate: PredicateId,
    pub values: Vec<TermId>,
}

/// One application of a clause to facts derived before.
#[derive(Clone, Debug)]
pub struct RefutationStep {
    pub clause: ClauseId,
    /// Values of all the clause's variables.
    pub values: Assignment,
    /// Indexes of the steps that derive the body's atoms, in the body's order.
    pub premises: Vec<usize>,
    /// What is derived; `None` is `false`.
    pub fact: Option<Fact>,
}

/// A derivation of `false`: a DAG of ground steps, premises before what uses them. The last step
/// derives `false`.
#[derive(Clone, Debug, Default)]
pub struct Refutation {
    pub steps: Vec<RefutationStep>,
}

/// An engine's answer about the system it was given.
#[derive(Clone, Debug)]
pub enum Verdict {
    Sat(Model),
    Unsat(Refutation),
    Unknown(Reason),
}
