//! Predicates that are the graphs of functions: `p(x, f(x))`.
//!
//! Programs over datatypes come as relations, one clause for each equation of a definition. Here
//! clauses become rules with their equations solved ([`rules`]), rules are run from some of the
//! arguments to another one ([`modes`]), and what runs is a definition, if its recursion ends
//! ([`termination`]) and if all clauses of the predicate hold under it. `define` puts this
//! together, `evaluate` computes with definitions.
//!
//! Invariant: nothing here is trusted. A definition that is wrong makes a clause of the model
//! invalid, and recursion that does not end is found by the check of the certificate.

mod define;
mod evaluate;
mod modes;
mod rules;
mod termination;

pub use define::{Definitions, define, equality_relations};
pub use evaluate::{Evaluation, random_value};
pub use rules::{Rule, datatype_of, fresh_pattern, solve_equations};
