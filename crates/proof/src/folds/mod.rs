//! Codes of datatypes: folds that give a term integers and Booleans, and constraints about codes.
//!
//! An [`Encoder`] defines the codes of datatypes and the formula that all codes satisfy; a
//! [`Maker`] makes encoders from templates; a [`Reader`] translates a clause's constraint to codes.
//! The engine `cata` replaces terms by codes, the pass `folds` adds codes as arguments.
//!
//! Invariant: values that satisfy a clause's constraint have codes that satisfy its translation.
//! Models may call codes as functions, with a certificate for the formula that all codes satisfy.

mod abstraction;
mod admissible;
mod codes;
mod limits;
mod templates;

pub use abstraction::{Abstraction, Reader};
pub use codes::{Declared, Encoder, Functions};
pub use templates::{Maker, Template};
