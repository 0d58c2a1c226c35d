//! How processes that solve the same problem tell each other what they found out.
//!
//! Invariant: a bus carries texts, and knows nothing of what they say. Whoever hears one believes
//! nothing of it.

use std::rc::Rc;

/// Who hands on what is told here, and hears what others tell.
pub trait Bus {
    /// Hands a text to the others. It may be lost.
    fn tell(&self, text: &str);

    /// What the others have told so far, without the first `from` texts.
    fn heard(&self, from: usize) -> Vec<Rc<str>>;
}
