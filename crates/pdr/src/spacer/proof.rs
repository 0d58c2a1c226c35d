//! Lemmas, and proofs that are made of them.
//!
//! A lemma of a height holds of what has a derivation of at most that height, clauses without
//! body atoms having height zero; lemmas of an under-approximation by counters hold of all
//! heights. Invariant: a set of lemmas proves an under-approximation when each lemma of a height
//! holds of what clauses derive from what the lemmas of at least the height below allow, and
//! `false` is excluded up to the bound.

use alphorn_chc::PredicateId;
use alphorn_term::{TermId, TermStore};

/// Up to which height a lemma holds.
pub(super) type Height = u32;

/// The height of lemmas that hold of everything.
pub(super) const ALL: Height = crate::pdr::bounded::UNBOUNDED;

/// Something that holds of a predicate, or that `false` is not derived.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Lemma {
    /// `None` for `false`.
    pub about: Option<PredicateId>,
    /// What it excludes: literals over the formal variables.
    pub cube: Vec<TermId>,
    /// The negation of the cube.
    pub formula: TermId,
    pub height: Height,
}

impl Lemma {
    /// The negation of a cube.
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

    /// The same, of another height.
    pub fn of_height(&self, height: Height) -> Self {
        Lemma {
            height,
            ..self.clone()
        }
    }
}
