//! A list that only grows, in chunks.
//!
//! Invariant: items never move, so references to them stay valid while others are added.

use std::cell::{Cell, OnceCell};

use elsa::FrozenVec;

/// Items of a chunk.
const CHUNK: usize = 256;

/// A list that only grows; items are added through a shared reference.
pub(super) struct Chunks<T> {
    chunks: FrozenVec<Box<[OnceCell<T>; CHUNK]>>,
    len: Cell<usize>,
}

impl<T> Default for Chunks<T> {
    fn default() -> Self {
        Chunks {
            chunks: FrozenVec::new(),
            len: Cell::new(0),
        }
    }
}

impl<T> Chunks<T> {
    /// Number of items.
    #[inline]
    pub fn len(&self) -> usize {
        self.len.get()
    }

    /// Adds an item behind the others.
    pub fn push(&self, item: T) {
        let at = self.len.get();
        if at.is_multiple_of(CHUNK) {
            self.chunks
                .push(Box::new([const { OnceCell::new() }; CHUNK]));
        }
        let added = self.chunks[at / CHUNK][at % CHUNK].set(item);
        assert!(added.is_ok(), "a place is used once");
        self.len.set(at + 1);
    }

    /// The item at a position. Panics if there is none.
    #[inline]
    pub fn get(&self, at: usize) -> &T {
        let item = self.chunks[at / CHUNK][at % CHUNK].get();
        item.expect("the position is in the list")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_stay_where_they_are() {
        let list = Chunks::default();
        list.push(0usize);
        let first: *const usize = list.get(0);
        for item in 1..3 * CHUNK {
            list.push(item);
        }
        assert_eq!(list.len(), 3 * CHUNK);
        assert!((0..list.len()).all(|at| *list.get(at) == at));
        assert!(std::ptr::eq(first, list.get(0)));
    }

    #[test]
    #[should_panic(expected = "the position is in the list")]
    fn a_position_behind_the_last_item_has_none() {
        let list = Chunks::default();
        list.push(1);
        list.get(1);
    }
}
