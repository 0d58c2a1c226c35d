//! The strategy: stages of passes and of engines' turns.
//!
//! [`schedule`] has the order and the lengths, as data; [`solve()`] carries it out.
//!
//! Invariant: an answer comes from an engine, the sparse analysis or a hint, and is returned only after
//! [`alphorn_witness::validate`].

mod hints;
mod improve;
mod inspect;
mod readings;
mod schedule;
mod solve;
mod sparse;
mod turn;
mod values;

pub use hints::Hint;
pub use inspect::{list_passes, normal_form, system_after};
pub use solve::{
    Config, ConfigError, Milestone, SystemError, solve, solve_system, solve_with_hints,
};
pub use turn::UnknownEngine;
