//! Exchange of texts between processes that solve the same problem.
//!
//! Invariant: a bus does not interpret the texts; receivers have to prove what they use of them.

use std::rc::Rc;

/// A connection to the other processes.
pub trait Bus {
    /// Sends a text to the others. It may be lost.
    fn send(&self, text: &str);

    /// The texts received so far, without the first `from`.
    fn received(&self, from: usize) -> Vec<Rc<str>>;
}
