//! Craig interpolants: binary, sequence, tree, DAG and restricted DAG interpolants.
//!
//! Z3 no longer interpolates, and its proofs are not meant for other programs, so interpolants are
//! made from models and cores. For an unsatisfiable `A ∧ B` ([`binary`]):
//!
//! 1. Literals of `A` and `B` that the contradiction does not need are removed by cores
//!    (`core`).
//! 2. A model of `A` outside the interpolant so far gives an implicant `a` of `A`; models of `B`
//!    that satisfy the certificates for `a` so far give implicants `b`. Each pair of conjunctions
//!    gets a certificate ([`pair`]): literals that follow from `a` and contradict `b`. Their
//!    conjunction over all `b` contradicts `B`; the disjunction over all `a` follows from `A`. If a
//!    pair has no certificate, the model-based projection of `a` onto the shared variables is used
//!    instead, so every theory that can be projected is interpolated ([`cover`]).
//! 3. Sequences, trees and DAGs are computed node by node, each interpolant from the interpolants
//!    before it and the formulas after it, so they are inductive by construction.
//!
//! With [`InterpolationOptions::proofs`], the remaining formulas are first refuted by `resolution`,
//! and all interpolants of the problem are read from one proof ([`partial`]). Problems without such
//! a proof are solved as above.
//!
//! Papers: McMillan, "An interpolating theorem prover" (TCS 2005); Albarghouthi, McMillan,
//! "Beautiful interpolants" (CAV 2013), for the enumeration of pairs; Blicha, Hyvärinen, Kofroň,
//! Sharygina, "Decomposing Farkas interpolants" (TACAS 2019); Albarghouthi, Gurfinkel, Chechik,
//! "From under-approximations to over-approximations and back" (TACAS 2012) and "Craig
//! interpretation" (SAS 2012), for DAGs and restricted DAGs.
//!
//! Deviation: UFO encodes a DAG as a sequence with control variables and eliminates these from the
//! result. Here the formulas before and after a node are built without control variables, so
//! nothing needs to be eliminated.
//!
//! Invariant: the result is an interpolant or an error. A limit, an `Unknown` or a theory without a
//! rule is an error that says so; with [`InterpolationOptions::check`], separate queries have
//! proven each interpolant.

mod adjacent_bits;
mod binary;
mod bits;
mod check;
mod core;
mod cover;
mod dag;
mod farkas;
mod guards;
mod implicants;
mod integer;
mod interpolator;
mod limits;
mod pair;
mod partial;
mod proofs;
mod reduce;
mod sequence;
mod sides;
#[cfg(test)]
mod tests;
mod tree;
mod widen;

pub use dag::{InterpolationDag, InterpolationEdge};
pub use interpolator::{
    InterpolantForm, InterpolationError, InterpolationOptions, InterpolationOrder, Interpolator,
};
