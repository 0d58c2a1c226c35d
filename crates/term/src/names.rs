//! The names of variables.
//!
//! Invariant: two variables of one sort have different names. Names of fresh variables are put
//! together when they are asked for.

use std::cell::{Cell, OnceCell, RefCell};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use elsa::FrozenVec;
use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::chunks::Chunks;
use super::{SortId, TermId};

/// A variable's name.
struct Name {
    /// The whole name, or that of a fresh variable without its number.
    stem: u32,
    /// The number of a fresh variable; [`NAMED`] for others.
    number: u32,
    /// The name of a fresh variable once it has been asked for.
    text: OnceCell<Box<str>>,
}

/// In place of a number: the variable is not fresh.
const NAMED: u32 = u32::MAX;

/// The names of all variables of a store.
#[derive(Default)]
pub(super) struct Names {
    names: Chunks<Name>,
    stems: FrozenVec<Rc<str>>,
    stem_index: RefCell<FxHashMap<Rc<str>, u32>>,
    /// Variables that are not fresh, with the hash of name and sort.
    named: RefCell<HashTable<(u64, TermId)>>,
    /// The fresh variables by their numbers; `true` for a number that none has.
    fresh: RefCell<Vec<TermId>>,
    /// Numbers that no fresh variable gets, since names of others end with them.
    taken: RefCell<FxHashSet<u32>>,
    /// The number of the next fresh variable, if it is not taken.
    next: Cell<u32>,
}

/// The parts of `stem!number`.
fn numbered(name: &str) -> Option<(&str, u32)> {
    let (stem, tail) = name.rsplit_once('!')?;
    let number: u32 = tail.parse().ok().filter(|&number| number != NAMED)?;
    // Numbers are written without signs and leading zeros.
    let is_plain = tail == "0"
        || tail
            .as_bytes()
            .first()
            .is_some_and(|b| (b'1'..=b'9').contains(b));
    is_plain.then_some((stem, number))
}

/// `hint` without a suffix `!m`.
fn stem_of(hint: &str) -> &str {
    match hint.rsplit_once('!') {
        Some((stem, tail)) if tail.bytes().all(|b| b.is_ascii_digit()) => stem,
        _ => hint,
    }
}

fn hash(name: &str, sort: SortId) -> u64 {
    let mut hasher = FxHasher::default();
    name.hash(&mut hasher);
    sort.hash(&mut hasher);
    hasher.finish()
}

impl Names {
    /// The name of the variable with this index.
    pub fn name(&self, index: u32) -> &str {
        let name = self.names.get(index as usize);
        let stem = &self.stems[name.stem as usize];
        match name.number {
            NAMED => stem,
            number => name.text.get_or_init(|| format!("{stem}!{number}").into()),
        }
    }

    /// The variable with this name and sort; `of` says sort and index of a variable.
    pub fn find(
        &self,
        name: &str,
        sort: SortId,
        of: impl Fn(TermId) -> (SortId, u32),
    ) -> Option<TermId> {
        let is_it = |term| {
            let (sort_of_it, index) = of(term);
            sort_of_it == sort && self.name(index) == name
        };
        if let Some((_, number)) = numbered(name)
            && let Some(&fresh) = self.fresh.borrow().get(number as usize)
            && fresh != TermId::TRUE
            && is_it(fresh)
        {
            return Some(fresh);
        }
        let hash = hash(name, sort);
        let named = self.named.borrow();
        let found = named.find(hash, |&(other, term)| other == hash && is_it(term));
        found.map(|entry| entry.1)
    }

    /// Adds a variable with this name, which no other one of its sort has; `make` makes it of its
    /// index.
    pub fn add(&self, name: &str, sort: SortId, make: impl FnOnce(u32) -> TermId) -> TermId {
        if let Some((_, number)) = numbered(name) {
            self.taken.borrow_mut().insert(number);
        }
        let term = make(self.push(self.stem(name), NAMED));
        let hash = hash(name, sort);
        let mut named = self.named.borrow_mut();
        named.insert_unique(hash, (hash, term), |entry| entry.0);
        term
    }

    /// Adds a variable with a new name, as [`TermStore::fresh_var`].
    ///
    /// [`TermStore::fresh_var`]: super::TermStore::fresh_var
    pub fn add_fresh(&self, hint: &str, make: impl FnOnce(u32) -> TermId) -> TermId {
        self.add_numbered(self.stem(stem_of(hint)), make)
    }

    /// Adds a variable with a new name, with that of the variable at `index` as hint.
    pub fn add_copy(&self, index: u32, make: impl FnOnce(u32) -> TermId) -> TermId {
        let Name { stem, number, .. } = *self.names.get(index as usize);
        let stem = match number {
            NAMED => self.stem(stem_of(&self.stems[stem as usize])),
            _ => stem,
        };
        self.add_numbered(stem, make)
    }

    fn add_numbered(&self, stem: u32, make: impl FnOnce(u32) -> TermId) -> TermId {
        let taken = self.taken.borrow();
        let mut number = self.next.get();
        while taken.contains(&number) {
            number += 1;
        }
        assert!(number < NAMED, "fewer than 2^32 variables");
        self.next.set(number + 1);
        let term = make(self.push(stem, number));
        let mut fresh = self.fresh.borrow_mut();
        fresh.resize(number as usize, TermId::TRUE);
        fresh.push(term);
        term
    }

    fn push(&self, stem: u32, number: u32) -> u32 {
        let index = u32::try_from(self.names.len()).expect("fewer than 2^32 variables");
        self.names.push(Name {
            stem,
            number,
            text: OnceCell::new(),
        });
        index
    }

    /// The number of a stem.
    fn stem(&self, text: &str) -> u32 {
        let mut index = self.stem_index.borrow_mut();
        if let Some(&stem) = index.get(text) {
            return stem;
        }
        let stem = u32::try_from(self.stems.len()).expect("fewer than 2^32 names");
        let text: Rc<str> = text.into();
        self.stems.push(text.clone());
        index.insert(text, stem);
        stem
    }
}

#[cfg(test)]
mod tests {
    use crate::{SortId, TermStore};

    const INT: SortId = SortId::INT;

    #[test]
    fn fresh_variables_are_found_by_their_names() {
        let terms = TermStore::new();
        let x = terms.fresh_var("x", INT);
        let y = terms.fresh_var("x!17", INT);
        let copy = terms.fresh_copy(y);
        assert_eq!(terms.var_name(x), "x!0");
        assert_eq!(terms.var_name(y), "x!1");
        assert_eq!(terms.var_name(copy), "x!2");
        assert_eq!(terms.var("x!1", INT), y);
        assert_ne!(terms.var("x!1", SortId::BOOL), y);
        assert_ne!(terms.var("z!1", INT), y);
        assert_eq!(
            terms.sort_of(terms.fresh_copy(terms.var("b", SortId::BOOL))),
            SortId::BOOL
        );
    }

    #[test]
    fn no_fresh_variable_has_the_name_of_another() {
        let terms = TermStore::new();
        let named: Vec<_> = ["x!0", "x!02", "x!+3", "x!", "x!4294967295", "x!2", "x"]
            .map(|name| terms.var(name, INT))
            .into();
        let fresh: Vec<_> = (0..4).map(|_| terms.fresh_var("x", INT)).collect();
        let names: Vec<_> = fresh.iter().map(|&var| terms.var_name(var)).collect();
        assert_eq!(names, ["x!1", "x!3", "x!4", "x!5"]);
        assert_eq!(terms.var_name(terms.fresh_copy(named[1])), "x!6");
        assert_eq!(terms.var("x!2", INT), named[5]);
        assert_eq!(terms.var("x!0", INT), named[0]);
    }
}
