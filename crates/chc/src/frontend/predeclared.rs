//! Sorts that a text may use without a declaration, because Z3 has them.
//!
//! Invariant: a text that is read without them never gets them, so they take no name from the user.

use super::lexer::{Sym, Symbols};

/// The name of the datatype of lists, its constructors and the selectors of the second one.
const LIST: [&str; 5] = ["List", "nil", "insert", "head", "tail"];

/// The declaration that Z3's lists have.
pub(super) const LIST_DECLARATION: &str =
    "(declare-datatypes ((List 1)) ((par (T) ((nil) (insert (head T) (tail (List T)))))))";

/// The symbols of the datatype of lists, in the order of [`LIST`].
#[derive(Clone, Copy)]
pub(super) struct ListSymbols(pub [Sym; 5]);

impl ListSymbols {
    /// Interns the names.
    pub fn new(symbols: &mut Symbols<'_>) -> Self {
        ListSymbols(LIST.map(|name| symbols.intern(name.into())))
    }
}

/// Whether the name of an undeclared sort is that of a predeclared one.
pub(super) fn is_predeclared(sort: &str) -> bool {
    sort == LIST[0]
}
