//! Craig interpolants: binary, sequence, tree, DAG and restricted DAG interpolants.
//!
//! Z3 interpolates no more, and its proofs are no ground to build on, so interpolants are made from
//! what any solver gives: models and cores. For `A ∧ B` unsatisfiable ([`binary`]):
//!
//! 1. Cores first: literals of `A` and `B` that the contradiction does not need become `true`.
//! 2. A model of `A` outside the interpolant so far gives an implicant `a` of `A`; models of `B`
//!    inside of what is known to follow from `a` give implicants `b`. Each pair of conjunctions
//!    gets a certificate ([`pair`]): a literal, or a few, that follow from `a` and contradict `b`.
//!    Their conjunction over all `b` contradicts `B`; the disjunction over all `a` follows from
//!    `A`. Where a pair has no certificate, model-based projection of `a` onto the shared variables
//!    takes its place, so every theory that is projected is interpolated ([`cover`]).
//! 3. Sequences, trees and DAGs are computed node by node, each interpolant from the interpolants
//!    before it and the formulas after it, so they are inductive by construction.
//!
//! Where [`InterpolationOptions::proofs`] says so, what the cores leave is refuted once more by
//! `smt/proof` before all that, and all interpolants of the problem are read off one proof
//! ([`partial`]). What has none there goes the way above.
//!
//! Papers: McMillan, "An interpolating theorem prover" (TCS 2005); Albarghouthi, McMillan,
//! "Beautiful interpolants" (CAV 2013), for the enumeration of pairs; Blicha, Hyvärinen, Kofroň,
//! Sharygina, "Decomposing Farkas interpolants" (TACAS 2019); Albarghouthi, Gurfinkel, Chechik,
//! "From under-approximations to over-approximations and back" (TACAS 2012) and "Craig
//! interpretation" (SAS 2012), for DAGs and restricted DAGs.
//!
//! Deviation: UFO encodes a DAG as a sequence with control variables and eliminates these from the
//! result. Here the formula before a node and the formula after it are built without control
//! variables, so nothing needs to be eliminated.
//!
//! Invariant: an answer is an interpolant or an error. A limit, an `Unknown` or a theory that no
//! rule covers is an error that says so, and with [`InterpolationOptions::check`] each interpolant
//! was proved to be one by separate queries.

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
mod words;

pub use dag::{InterpolationDag, InterpolationEdge};
pub use interpolator::{
    InterpolantForm, InterpolationError, InterpolationOptions, InterpolationOrder, Interpolator,
};
