//! What tests of several engines share.

pub(super) mod planted;
