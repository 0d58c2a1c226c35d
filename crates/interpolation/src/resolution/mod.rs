//! Refutations by a small CDCL solver of our own, for conjunctions over Booleans, words and linear
//! arithmetic, written down as resolution proofs.
//!
//! Z3's proofs are no ground to build on, but some questions need a proof: what one proof says of
//! all cuts of a sequence fits together (McMillan, "An interpolating theorem prover", TCS 2005), and
//! one search serves them all. So what Z3 has found contradictory, and has made small, is refuted
//! again here:
//!
//! 1. [`Skeleton`]: the formulas, each a *part*, become clauses. Names stand for subformulas of one
//!    part (Plaisted, Greenbaum); atoms are upper bounds of linear forms, and lower bounds are their
//!    negations. An equation is two bounds, and a disequality a choice.
//!    An atom over words is a graph of gates (`words`), whose bits and gates interpolants may have.
//! 2. [`search`](self::search): conflict-driven search with resolution chains. What is assigned goes
//!    to [`theory`](self::theory), a simplex over exact rationals whose conflicts are clauses with
//!    Farkas multipliers. Integers are branched on by atoms that belong to one part, so no atom is
//!    of two parts that did not share it; equations without solutions are clauses, too.
//! 3. The clauses that a refutation needs are refuted again without theory, which makes it shorter.
//!
//! What is not of this theory is refused ([`Open::Unsupported`]): nonlinear products, arrays and
//! datatypes.
//!
//! Invariant: a [`Proof`] ends with the empty clause, and each of its clauses is one of a part, defines
//! a gate, has multipliers that refute the negations of its literals, or is resolved from clauses
//! before it; debug builds replay it.

mod derivation;
mod search;
mod skeleton;
#[cfg(test)]
mod tests;
mod theory;
mod words;

pub(super) use self::derivation::{Lemma, Origin, Proof};
pub(super) use self::skeleton::{Meaning, Skeleton};

use std::time::Duration;

use self::search::Search;
use alphorn_term::run::Budget;

/// Why there is no proof.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Open {
    /// The time or the work is spent.
    Limit,
    /// Something is not of the theory.
    Unsupported(String),
    /// All that is known here is satisfied.
    Consistent,
}

/// Proofs are shortened so often, at most.
const SHORTENED: usize = 4;

/// Refutes the clauses of the skeleton, which may get new atoms; the work is charged to its store.
///
/// # Errors
/// There is no proof within the work or the budget.
pub(super) fn refute(
    skeleton: &mut Skeleton,
    work: Duration,
    budget: Option<&Budget>,
) -> Result<Proof, Open> {
    let terms = skeleton.terms;
    let end = terms.work() + work;
    let late = || terms.work() >= end || budget.is_some_and(Budget::is_spent);
    let mut proof = Search::new(skeleton, &late).refute()?;
    for _ in 0..SHORTENED {
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
