//! The limits of the portfolio.
//!
//! Invariant: no other module of the portfolio has a constant that limits or tunes it, except that
//! [`super::schedule`] has the shares and limits of the members.

use std::time::Duration;

/// The limits of the portfolio.
pub struct Limits {
    /// How long the first member runs alone. Most problems that are solved at all are solved by then,
    /// and a second process would slow the first one down.
    pub head_start: Duration,
    /// How long stopped members have to send their statistics; then they are killed.
    pub statistics_grace: Duration,
    /// The niceness of the members after the first. With 5 a process gets about a third of the
    /// processor time of a process with niceness 0 on the same core.
    pub niceness: libc::c_int,
    /// The longest line that the parent reads from a member, in bytes; a member that sends a longer
    /// one is killed.
    pub line_bytes: usize,
    /// The longest message with lemmas that the parent forwards, in bytes; longer ones are dropped.
    pub lemma_bytes: usize,
    /// How many bytes of lemmas may wait for a member that does not read them, and how many are kept
    /// for members that start later; further messages are dropped.
    pub queued_lemma_bytes: usize,
    /// The longest line that a member reads from its parent, in bytes; after a longer one it reads
    /// no more.
    pub received_line_bytes: usize,
    /// How many bytes of lemmas a member reads from its parent, all of which it keeps; then it reads
    /// no more.
    pub received_bytes: usize,
}

/// The limits in force.
pub const LIMITS: Limits = Limits {
    head_start: Duration::from_millis(300),
    statistics_grace: Duration::from_secs(1),
    niceness: 5,
    line_bytes: 1 << 30,
    lemma_bytes: 1 << 18,
    queued_lemma_bytes: 1 << 21,
    received_line_bytes: 1 << 19,
    received_bytes: 1 << 24,
};
