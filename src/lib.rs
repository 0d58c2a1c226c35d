//! alphorn, a solver for constrained Horn clauses.
//!
//! ```text
//! file ─ frontend ─> Problem ─ normalize ─> System ─ transform ─> System' ─ engine ─> Verdict
//!          (original clauses, kept)                  (stack of back-translations)       │
//! stdout <─ print <─ Validated <─ witness::validate(Problem) <─ back-translations, reversed
//! ```
//!
//! Imports follow the same order and never go back.

pub mod arith;
pub mod chc;
pub mod domain;
pub mod engine;
pub mod frontend;
mod proof;
pub mod run;
pub mod smt;
pub mod strategy;
pub mod term;
pub mod transform;
pub mod witness;
