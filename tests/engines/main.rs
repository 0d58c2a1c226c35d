//! What holds for several engines.

mod liars;
mod quantified;
