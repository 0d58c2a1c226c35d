//! Lemmas with heights, and proofs, which are sets of them.
//!
//! A lemma of height `h` holds of all facts with a derivation of at most that height, where clauses
//! without body atoms derive facts of height zero. Where counters bound derivations, all lemmas
//! have the height [`ALL`].
//!
//! Invariant: a set of lemmas proves an under-approximation if each lemma of height `h` holds of
//! all facts that a clause derives from facts that satisfy the lemmas of height at least `h - 1`,
//! and `false` is excluded up to the bound.

use alphorn_chc::PredicateId;
use alphorn_term::{TermId, TermStore};

/// The height of a derivation.
pub(super) type Height = u32;

/// The height of lemmas that hold of all facts.
pub(super) const ALL: Height = crate::pdr::bounded::UNBOUNDED;

/// A clause that holds of a predicate's facts up to a height, or that `false` has no derivation.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Lemma {
    /// The predicate; `None` for `false`.
    pub about: Option<PredicateId>,
    /// The excluded states: literals over the formal variables.
    pub cube: Vec<TermId>,
    /// The negation of the cube.
    pub formula: TermId,
    /// The height of derivations up to which it holds.
    pub height: Height,
}

impl Lemma {
    /// The lemma that excludes a cube.
    pub fn new(
        terms: &TermStore,
        about: Option<PredicateId>,
        cube: Vec<TermId>,
        height: Height,
    ) -> Self {
        let negated: Vec<TermId> = cube.iter().map(|&l| terms.not(l)).collect();
        Lemma {
            about,
            formula: terms.or(&negated),
            cube,
            height,
        }
    }

    /// The same lemma with another height.
    pub fn of_height(&self, height: Height) -> Self {
        Lemma {
            height,
            ..self.clone()
        }
    }
}
