//! Answers of engines: a model, a refutation, or a reason why there is neither.
//!
//! # Invariant
//! These are plain data; nothing here says that they are correct.

use rustc_hash::FxHashMap;

use alphorn_chc::{ClauseId, PredicateId};
use alphorn_term::run::Reason;
use alphorn_term::{Assignment, TermId};

/// An interpretation of predicates that makes every clause valid.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// For each predicate in use, a formula over its formal variables in the system that the model
    /// is of (`System::predicate(p).params`). A predicate that occurs in no clause may be absent,
    /// and is `true` then.
    pub definitions: FxHashMap<PredicateId, TermId>,
    /// Lemmas about the functions that the definitions call, each proven from those before it. They
    /// contain no predicates, so back-translations do not change them.
    pub lemmas: Vec<Lemma>,
}

/// A universal statement about recursive functions with its proof by cases: in each case the
/// statement follows from the guard and ground instances, with the functions uninterpreted.
#[derive(Clone, Debug)]
pub struct Lemma {
    /// The name by which other lemmas use it.
    pub name: String,
    /// The universally quantified variables.
    pub vars: Vec<TermId>,
    /// A formula over `vars`.
    pub statement: TermId,
    /// Positions in `vars` of the terms that become lexicographically smaller in instances of the
    /// induction hypothesis. Empty if there are no such instances.
    pub measure: Vec<usize>,
    /// The cases; their guards cover all values of `vars` for which the statement does not hold
    /// with uninterpreted functions.
    pub cases: Vec<Case>,
}

/// A case of a lemma's proof; all terms are over the lemma's variables.
#[derive(Clone, Debug)]
pub struct Case {
    /// The formula that holds in the case.
    pub guard: TermId,
    /// Instances of the induction hypothesis: terms for all variables of the lemma.
    pub induction: Vec<Vec<TermId>>,
    /// Instances of other lemmas: the lemma's position, and terms for its variables. A lemma that uses
    /// a later one is in a group with it and those between them; instances of lemmas of the same
    /// group are smaller by the measures.
    pub instances: Vec<(usize, Vec<TermId>)>,
    /// Calls whose defining equations are used.
    pub unfoldings: Vec<TermId>,
}

/// A ground atom.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Fact {
    /// The predicate.
    pub predicate: PredicateId,
    /// The values of its arguments.
    pub values: Vec<TermId>,
}

/// An application of a clause to facts of earlier steps.
#[derive(Clone, Debug)]
pub struct RefutationStep {
    /// The clause.
    pub clause: ClauseId,
    /// The values of all variables of the clause.
    pub values: Assignment,
    /// The indexes of the steps that derive the body atoms, in their order.
    pub premises: Vec<usize>,
    /// The derived fact; `None` for `false`.
    pub fact: Option<Fact>,
}

/// A derivation of `false`.
#[derive(Clone, Debug, Default)]
pub struct Refutation {
    /// The steps, each after its premises. The last one derives `false`.
    pub steps: Vec<RefutationStep>,
}

/// An engine's answer about the system that it was given.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// The system is satisfiable.
    Sat(Model),
    /// The system derives `false`.
    Unsat(Refutation),
    /// There is no answer.
    Unknown(Reason),
}
