//! What runs when: passes, engines in turn, their budgets.
//!
//! [`order`] says in which order and for how long, as data; [`solve()`] does it.
//! Invariant: nothing here decides a problem; an answer comes from an engine, and goes out only as
//! [`alphorn_witness::validate`] lets it.

mod hints;
mod inspect;
mod order;
mod smaller;
mod solve;
mod turn;

pub use hints::Hint;
pub use inspect::{list_passes, normal_form, system_after};
pub use solve::{Config, ConfigError, News, SystemError, solve, solve_system, solve_telling};
pub use turn::UnknownEngine;
