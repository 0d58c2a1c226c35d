//! Answers of engines: a model, a proof by induction on derivations, a refutation, or a reason why
//! there is none of them.
//!
//! # Invariant
//! These are plain data; nothing here says that they are correct.

use rustc_hash::FxHashMap;

use alphorn_chc::{Atom, ClauseId, PredicateId};
use alphorn_term::run::Reason;
use alphorn_term::{Assignment, FunctionId, TermId};

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

/// A proof by induction on derivations that the queries do not follow from the other clauses: every
/// lemma holds of the facts that have derivations, and the lemmas contradict every query.
#[derive(Clone, Debug, Default)]
pub struct Derivations {
    /// Predicates that have facts for all inputs, which ghosts need.
    pub totals: Vec<Total>,
    /// The lemmas in the order of their positions, which counts within a group.
    pub lemmas: Vec<RelationalLemma>,
    /// For each clause without head, in their order, the instances that contradict its body: atoms
    /// are the body's.
    pub queries: Vec<Vec<Instance>>,
}

/// A model that defines predicates by total functions. That it satisfies the queries follows from a proof
/// by induction on derivations, since each of its facts has a derivation.
#[derive(Clone, Debug, Default)]
pub struct FunctionModel {
    /// For each predicate a formula over its formal variables, which calls the functions.
    pub definitions: FxHashMap<PredicateId, TermId>,
    /// For each function integers over its parameters that fall lexicographically in recursive calls.
    pub measures: FxHashMap<FunctionId, Vec<TermId>>,
    /// For each predicate, why its facts have derivations.
    pub derived: Vec<Derived>,
}

/// Why the facts of a predicate in a model have derivations. All terms are over the predicate's formal
/// variables.
#[derive(Clone, Debug)]
pub struct Derived {
    /// The predicate.
    pub predicate: PredicateId,
    /// Integers that fall lexicographically from a fact to those premises that may depend on it.
    pub measure: Vec<TermId>,
    /// Calls of functions whose equations are needed.
    pub unfoldings: Vec<TermId>,
    /// One of these cases derives a fact: a position among the clauses that derive the predicate, and
    /// the values of the clause's variables.
    pub cases: Vec<(usize, Vec<TermId>)>,
}

/// A lemma `P1(x1) ∧ … ∧ Pn(xn) ⇒ statement` about n facts at once, with its proof. With a conclusion
/// it is `P1(x1) ∧ … ∧ Pn(xn) ∧ statement ⇒ conclusion`.
#[derive(Clone, Debug)]
pub struct RelationalLemma {
    /// The facts: predicates over distinct variables.
    pub slots: Vec<Atom>,
    /// A formula over the variables of the slots.
    pub statement: TermId,
    /// A fact over terms of the variables of the slots.
    pub conclusion: Option<Atom>,
    /// Lemmas of smaller groups may be used freely; those of the same group for smaller derivations.
    pub group: usize,
    /// Positions of the slots whose derivations count for this order.
    pub measured: Vec<usize>,
    /// The nodes of the proof; the root is the first.
    pub proof: Vec<ProofNode>,
}

/// A statement `∀x. domain(x) ⇒ ∃y. P(x, y)`, by induction on a measure of x.
#[derive(Clone, Debug)]
pub struct Total {
    /// The predicate over distinct variables.
    pub atom: Atom,
    /// The positions of y, ascending.
    pub outputs: Vec<usize>,
    /// A formula over x.
    pub domain: TermId,
    /// Lemmas of smaller groups, and earlier statements of no larger group, may be used.
    pub group: usize,
    /// An integer that is not negative where the statement itself is used, and falls. Its only atom
    /// is the fact itself, which is number 0.
    pub measure: Affine,
    /// Clauses one of which derives a fact.
    pub cases: Vec<TotalCase>,
}

/// How a clause derives a fact.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TotalCase {
    /// The position among the clauses that derive the predicate.
    pub clause: usize,
    /// For each body atom, why there is a fact.
    pub premises: Vec<Existence>,
}

/// A fact that exists by a statement of totality.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Existence {
    /// The position of the statement.
    pub total: usize,
    /// The inputs, over arguments of earlier atoms: those of a context, or the inputs of atom 0, the
    /// head, and the outputs of body atoms, which count from 1.
    pub inputs: Vec<Affine>,
    /// Instances that are used: for the inputs' domain in a context; in a case, of facts up to this.
    pub uses: Vec<Instance>,
}

/// A sum of a constant and of arguments of atoms with factors.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Affine {
    /// The constant.
    pub constant: i64,
    /// Factors, positions of atoms, and positions of their arguments.
    pub parts: Vec<(i64, usize, usize)>,
}

/// A node of a proof. The atoms of the context are those of the slots, and behind them the premises
/// that the splits, and the facts that other nodes on the way added, in this order. A proof that was
/// read has text in the places of terms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ProofNode<T = TermId, V = (TermId, TermId)> {
    /// A leaf: these instances contradict what is known.
    Use(Vec<Instance>),
    /// A leaf of a lemma with a conclusion: one of the atoms is the conclusion.
    Goal {
        /// Positions of atoms of the context.
        atoms: Vec<usize>,
        /// Instances that are used.
        uses: Vec<Instance>,
    },
    /// A case for each clause that derives the atom's predicate, in the order of the clauses.
    Split {
        /// The position of the atom in the context.
        atom: usize,
        /// The nodes of the cases.
        cases: Vec<usize>,
    },
    /// A fact that exists though no derivation here has it; an atom with its arguments is added.
    Ghost {
        /// Why there is one.
        fact: Existence,
        /// The node with the atom.
        inner: usize,
    },
    /// The conclusion of an instance of a lemma is added.
    Add {
        /// The instance, of a lemma with a conclusion.
        used: Instance,
        /// Instances that show what the lemma assumes.
        uses: Vec<Instance>,
        /// The node with the fact.
        inner: usize,
    },
    /// The head of a clause is added.
    Apply {
        /// How the clause derives it.
        step: ClauseStep<T, V>,
        /// The node with the fact.
        inner: usize,
    },
}

/// An application of a clause to atoms of a context.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClauseStep<T = TermId, V = (TermId, TermId)> {
    /// The predicate of its head.
    pub predicate: PredicateId,
    /// The position among the clauses that derive the predicate.
    pub clause: usize,
    /// For each body atom, the position of an atom of the context.
    pub premises: Vec<usize>,
    /// Variables that stand for arguments of the context: positions of atoms and of arguments.
    pub names: Vec<(T, usize, usize)>,
    /// The values of the clause's variables, over these: pairs of a variable of the problem's clause and
    /// its value. A variable that is missing may have any value. A proof that was read has the values alone,
    /// in the order of the variables.
    pub values: Vec<V>,
    /// Instances that show the clause's constraint.
    pub uses: Vec<Instance>,
}

/// An instance of a relational lemma.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Instance {
    /// The position of the lemma.
    pub lemma: usize,
    /// For each of its slots, the position of an atom of the context.
    pub atoms: Vec<usize>,
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
    /// The system is satisfiable, since its least model satisfies the queries.
    Proven(Derivations),
    /// The system derives `false`.
    Unsat(Refutation),
    /// There is no answer.
    Unknown(Reason),
}
