//! Tests over several engines.

mod liars;
mod quantified;
