//! Refutations by a small CDCL solver, for conjunctions over Booleans, bit-vectors and linear
//! arithmetic, recorded as resolution proofs.
//!
//! Z3's proofs are not meant for other programs, but some problems need a proof: all interpolants
//! of a sequence that are read from one proof are inductive (McMillan, "An interpolating theorem
//! prover", TCS 2005), and one search serves all of them. So formulas that Z3 has found
//! contradictory, after their reduction by cores, are refuted again:
//!
//! 1. [`Skeleton`]: the formulas, each a *part*, become clauses. Names stand for subformulas of one
//!    part (Plaisted, Greenbaum); atoms are upper bounds of linear forms, and lower bounds are
//!    their negations. An equation is two bounds, and a disequality a disjunction. An atom over
//!    bit-vectors is a graph of gates ([`gates`]), whose bits and gates interpolants may contain.
//! 2. [`search`]: conflict-driven search with resolution chains.
//!    [`theory`] is a simplex over exact rationals, whose conflicts are clauses with
//!    Farkas multipliers. The search branches on integers by atoms that belong to one part, so no
//!    atom mixes parts that did not share its symbols; equations without integer solutions are
//!    clauses, too.
//! 3. The clauses that a refutation needs are refuted again without the theory, which shortens it.
//!
//! Nonlinear products, arrays and datatypes are refused ([`Open::Unsupported`]).
//!
//! Invariant: a [`Proof`] ends with the empty clause, and each of its clauses is one of a part,
//! defines a gate, has multipliers that refute the negations of its literals, or is resolved from
//! clauses before it; debug builds check this.

mod derivation;
mod gates;
mod limits;
mod search;
mod skeleton;
#[cfg(test)]
mod tests;
mod theory;

pub(super) use self::derivation::{Lemma, Origin, Proof};
pub(super) use self::skeleton::{Meaning, Skeleton};

use std::time::Duration;

use self::limits::LIMITS;
use self::search::Search;
use alphorn_term::run::Budget;

/// The reason why there is no proof.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Open {
    /// The budget or the work is spent.
    Limit,
    /// A formula is not of the theory.
    Unsupported(String),
    /// The clauses and the theory have a model.
    Consistent,
}

/// Refutes the clauses of the skeleton, which may get new atoms; the work is charged to its store.
///
/// # Errors
/// There is no proof within the work and the budget.
pub(super) fn refute(
    skeleton: &mut Skeleton,
    work: Duration,
    budget: Option<&Budget>,
) -> Result<Proof, Open> {
    let terms = skeleton.terms;
    let end = terms.work() + work;
    let late = || terms.work() >= end || budget.is_some_and(Budget::is_spent);
    let mut proof = Search::new(skeleton, &late).refute()?;
    for _ in 0..LIMITS.max_shortenings {
        let leaves = proof.leaves();
        let Ok(again) = Search::again(skeleton, leaves, &late).refute() else {
            break;
        };
        let is_shorter = again.clauses.len() < proof.clauses.len();
        if is_shorter {
            proof = again;
        } else {
            break;
        }
    }
    debug_assert!(proof.replays(skeleton), "a proof does not replay");
    Ok(proof)
}
