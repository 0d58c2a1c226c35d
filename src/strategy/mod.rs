//! What runs when: passes, engines in turn, their budgets.
//!
//! Invariant: nothing here decides; an answer comes from an engine, and goes out only as
//! [`crate::witness::validate`] lets it.

mod schedule;
mod solve;

pub use schedule::{DEFAULT, Phase, Strategy, Turn, UnknownEngine};
pub use solve::{Config, ConfigError, solve};
