//! Typed ids for the objects of a search, and tables with these ids as keys.
//!
//! Invariant: a table loses entries only all at once ([`Table::clear`]), so an id is valid until
//! its table is cleared.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use alphorn_chc::{PredicateId, System};

/// The head of clauses, which has a frame: a predicate, or the query `false`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Node {
    /// A predicate.
    Predicate(PredicateId),
    /// The head `false` of queries.
    Query,
}

impl From<PredicateId> for Node {
    fn from(predicate: PredicateId) -> Self {
        Node::Predicate(predicate)
    }
}

/// An entry for each predicate of a system and for the query.
pub(super) struct NodeMap<T> {
    predicates: Vec<T>,
    query: T,
}

impl<T> NodeMap<T> {
    /// The map with the entries that `make` returns.
    pub fn new(system: &System, mut make: impl FnMut(Node) -> T) -> Self {
        let predicates = (0..system.predicates.len() as u32).map(PredicateId);
        NodeMap {
            predicates: predicates.map(|p| make(Node::Predicate(p))).collect(),
            query: make(Node::Query),
        }
    }

    /// The predicates, then the query.
    pub fn nodes(&self) -> impl Iterator<Item = Node> + use<T> {
        let predicates = (0..self.predicates.len() as u32).map(PredicateId);
        predicates
            .map(Node::Predicate)
            .chain(std::iter::once(Node::Query))
    }

    /// All entries, that of the query last.
    pub fn iter(&self) -> impl Iterator<Item = (Node, &T)> {
        self.nodes().map(|node| (node, &self[node]))
    }

    /// All entries, that of the query last.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (Node, &mut T)> {
        let nodes = self.nodes();
        let entries = self.predicates.iter_mut();
        nodes.zip(entries.chain(std::iter::once(&mut self.query)))
    }
}

impl<T, N: Into<Node>> Index<N> for NodeMap<T> {
    type Output = T;

    fn index(&self, node: N) -> &T {
        match node.into() {
            Node::Predicate(predicate) => &self.predicates[predicate.index()],
            Node::Query => &self.query,
        }
    }
}

impl<T, N: Into<Node>> IndexMut<N> for NodeMap<T> {
    fn index_mut(&mut self, node: N) -> &mut T {
        match node.into() {
            Node::Predicate(predicate) => &mut self.predicates[predicate.index()],
            Node::Query => &mut self.query,
        }
    }
}

/// The id of an entry of a table.
pub(super) trait Id: Copy {
    /// The id of the entry at a position.
    fn at(position: usize) -> Self;

    /// The entry's position.
    fn position(self) -> usize;
}

/// Defines types of ids.
macro_rules! ids {
    ($($(#[$about:meta])* $name:ident,)+) => {
        $(
            $(#[$about])*
            #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
            pub(super) struct $name(u32);

            impl Id for $name {
                fn at(position: usize) -> Self {
                    $name(u32::try_from(position).expect("a table has less than 2^32 entries"))
                }

                fn position(self) -> usize {
                    self.0 as usize
                }
            }
        )+
    };
}

ids! {
    /// A lemma of a frame.
    LemmaId,
    /// A reached fact of a frame.
    FactId,
    /// A clause of a transition relation.
    RuleId,
    /// A body atom of a transition relation.
    SlotId,
    /// A proof obligation.
    ObligationId,
}

/// A table whose entries have ids of the type `I`.
pub(super) struct Table<I, T> {
    entries: Vec<T>,
    ids: PhantomData<I>,
}

impl<I, T> Default for Table<I, T> {
    fn default() -> Self {
        Table {
            entries: Vec::new(),
            ids: PhantomData,
        }
    }
}

impl<I: Id, T> Table<I, T> {
    /// Adds an entry and returns its id.
    pub fn push(&mut self, entry: T) -> I {
        self.entries.push(entry);
        I::at(self.entries.len() - 1)
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// The ids of all entries, in the order in which they were added.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + use<I, T> {
        (0..self.entries.len()).map(I::at)
    }

    /// All entries, in the order in which they were added.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.entries.iter()
    }

    /// All entries, in the order in which they were added.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.entries.iter_mut()
    }

    /// The entries after the first `count`.
    pub fn since(&self, count: usize) -> &[T] {
        &self.entries[count..]
    }
}

impl<I: Id, T> Index<I> for Table<I, T> {
    type Output = T;

    fn index(&self, id: I) -> &T {
        &self.entries[id.position()]
    }
}

impl<I: Id, T> IndexMut<I> for Table<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.entries[id.position()]
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use alphorn_term::TermStore;

    #[test]
    fn the_query_comes_last() {
        let mut system = System::new(Rc::new(TermStore::new()));
        let [p, q] = ["P", "Q"].map(|name| system.add_predicate(name, &[]));
        let mut map = NodeMap::new(&system, |node| node);
        let all = [Node::Predicate(p), Node::Predicate(q), Node::Query];
        assert!(map.nodes().eq(all) && map.nodes().is_sorted());
        assert!(map.iter().all(|(node, &made)| node == made));
        map[q] = Node::Query;
        assert_eq!(map[Node::Predicate(q)], Node::Query);
        assert_eq!(map.iter_mut().count(), 3);
    }

    #[test]
    fn ids_lead_to_entries() {
        let mut table: Table<LemmaId, &str> = Table::default();
        assert!(table.is_empty());
        let [a, b] = ["a", "b"].map(|text| table.push(text));
        assert_eq!((table[a], table[b], table.len()), ("a", "b", 2));
        assert!(table.ids().eq([a, b]));
        assert_eq!(table.since(1), ["b"]);
    }
}
