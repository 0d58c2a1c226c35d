//! Predicates that are the graphs of functions: `p(x, f(x))`.
//!
//! Programs over datatypes are often written as relations, with one clause for each equation of a
//! definition. Here clauses become rules with solved equations ([`rules`]), rules are run from some
//! of the arguments to another one ([`modes`]), and the result is a definition if its recursion
//! ends ([`termination`]) and all clauses of the predicate hold under it. `define` combines this;
//! `evaluate` computes with definitions. `graphs` goes the other way, for functions of the text.
//!
//! Invariant: nothing here is trusted. The check of the model finds a wrong definition, and the
//! check of the certificate finds recursion that does not end.

mod define;
mod evaluate;
mod graphs;
mod limits;
mod modes;
mod rules;
mod termination;

pub use define::{Definitions, define};
pub use evaluate::{Evaluation, random_value};
pub use graphs::{define_text_functions, with_text_functions};
pub use rules::{Rule, datatype_of, fresh_pattern, solve_equations};
