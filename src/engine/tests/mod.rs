//! What tests of several engines share.

mod liars;
pub(super) mod planted;
