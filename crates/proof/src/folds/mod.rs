//! Codes of datatypes: folds that give a term integers and truth values, and what clauses say of
//! them.
//!
//! An [`Encoder`] says what codes the datatypes have and what holds of all codes; a [`Maker`] makes
//! encoders by templates, and a [`Reader`] says of a clause's codes what the clause says of its
//! terms. The engine `cata` puts codes in the place of terms, the pass `folds` beside them.
//!
//! Invariant: values that satisfy a clause's constraint have codes that satisfy what is said of
//! them. Codes are functions that models may use, with a certificate of what is admissible.

mod abstraction;
mod admissible;
mod codes;
mod templates;

pub use abstraction::{Abstraction, Reader};
pub use codes::{Declared, Encoder, Functions};
pub use templates::{Maker, Template};
