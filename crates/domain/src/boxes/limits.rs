//! The limits of boxes.
//!
//! Invariant: no other file of this folder has a constant that bounds size or rounds.

/// Limits of the operations on boxes.
pub(super) struct Limits {
    /// Rounds over the equations of a cube, each of which shortens others; further ones are left
    /// out.
    pub max_rounds: usize,
    /// New nodes for one equation, as a multiple of the limit on an element's nodes; beyond that
    /// the box around the element is used.
    pub max_copy_factor: usize,
    /// Values of an enumeration; larger enumerations are ignored.
    pub max_enumeration: u64,
}

pub(super) const LIMITS: Limits = Limits {
    max_rounds: 4,
    max_copy_factor: 2,
    max_enumeration: 64,
};
