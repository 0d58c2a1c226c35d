//! The store owns all terms, sorts and datatypes of a run; it is shared by reference.
//!
//! Invariant: the store only grows. Terms and sorts in it never change, so references to nodes stay
//! valid while new terms are made (all methods take `&self`).

use std::cell::RefCell;
use std::hash::{Hash, Hasher};

use elsa::FrozenVec;
use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};

use super::chunks::Chunks;
use super::finite::Finite;
use super::functions::FunctionCell;
use super::meter::{Meter, TERM_WORK};
use super::names::Names;
use super::rational;
use super::walk::Marks;
use super::{Constructor, Datatype, DatatypeId, Node, Op, Sort, SortId, TermId};

/// A term in the index, with the hash of its node: nodes are not read again when the index grows.
struct Entry {
    hash: u32,
    term: u32,
}

impl Entry {
    /// The hash for the index.
    fn spread(hash: u32) -> u64 {
        // 2^64 divided by the golden ratio: all bits of the product depend on the hash.
        u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// Owner of hash-consed terms, sorts, datatypes and functions.
pub struct TermStore {
    nodes: Chunks<Node>,
    /// The terms by the hashes of their nodes.
    index: RefCell<HashTable<Entry>>,
    sorts: RefCell<Vec<Sort>>,
    sort_index: RefCell<FxHashMap<Sort, SortId>>,
    datatypes: FrozenVec<Box<DatatypeCell>>,
    /// The scope after a declaration, by the scope before it and the declaration's text.
    scopes: RefCell<FxHashMap<(Scope, String), Scope>>,
    scoped_datatypes: RefCell<FxHashMap<ScopedName, (DatatypeId, SortId)>>,
    pub(super) functions: FrozenVec<Box<FunctionCell>>,
    names: Names,
    /// Which sorts are finite, for those asked about so far.
    pub(super) counted_sorts: RefCell<FxHashMap<SortId, Finite>>,
    pub(super) meter: Meter,
    /// Marks that no traversal is using.
    pub(super) marks: RefCell<Vec<Marks>>,
}

/// A sequence of declarations of sorts. Two texts whose declarations up to some point are equal have
/// the same scope there, and so the same datatypes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Scope(u32);

/// A datatype of a scope, by its name and parameters.
type ScopedName = (Scope, String, Vec<SortId>);

struct DatatypeCell {
    head: (String, Vec<SortId>),
    sort: SortId,
    body: std::cell::OnceCell<Datatype>,
    /// See [`TermStore::counted_fields`].
    counted: std::cell::OnceCell<Vec<Vec<u32>>>,
}

impl Default for TermStore {
    fn default() -> Self {
        Self::new()
    }
}

fn hash_parts(op: &Op, args: &[TermId], sort: SortId) -> u32 {
    let mut hasher = FxHasher::default();
    match op {
        Op::Real(value) => rational::hash(value, &mut hasher),
        _ => op.hash(&mut hasher),
    }
    args.hash(&mut hasher);
    sort.hash(&mut hasher);
    let hash = hasher.finish();
    (hash ^ (hash >> 32)) as u32
}

impl TermStore {
    /// A store with `true`, `false` and the sorts Bool, Int and Real.
    pub fn new() -> Self {
        let store = TermStore {
            nodes: Chunks::default(),
            index: RefCell::new(HashTable::new()),
            sorts: RefCell::new(Vec::new()),
            sort_index: RefCell::new(FxHashMap::default()),
            datatypes: FrozenVec::new(),
            scopes: RefCell::default(),
            scoped_datatypes: RefCell::default(),
            functions: FrozenVec::new(),
            names: Names::default(),
            counted_sorts: RefCell::default(),
            meter: Meter::default(),
            marks: RefCell::default(),
        };
        store.intern_sort(Sort::Bool);
        store.intern_sort(Sort::Int);
        store.intern_sort(Sort::Real);
        store.intern(Op::True, &[], SortId::BOOL);
        store.intern(Op::False, &[], SortId::BOOL);
        store
    }

    /// Number of distinct terms made so far.
    #[inline]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Always false: every store has `true` and `false`.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The structure of a term.
    #[inline]
    pub fn node(&self, term: TermId) -> &Node {
        self.nodes.get(term.index())
    }

    /// The operator of a term.
    #[inline]
    pub fn op(&self, term: TermId) -> &Op {
        &self.node(term).op
    }

    /// The arguments of a term.
    #[inline]
    pub fn args(&self, term: TermId) -> &[TermId] {
        &self.node(term).args
    }

    /// The sort of a term.
    #[inline]
    pub fn sort_of(&self, term: TermId) -> SortId {
        self.node(term).sort
    }

    /// Whether the term is a value (see [`Node::is_value`]).
    #[inline]
    pub fn is_value(&self, term: TermId) -> bool {
        self.node(term).is_value
    }

    /// Whether the term is a variable.
    #[inline]
    pub fn is_var(&self, term: TermId) -> bool {
        matches!(self.op(term), Op::Var(_))
    }

    /// The name of a variable; empty for any other term.
    #[inline]
    pub fn var_name(&self, term: TermId) -> &str {
        match self.op(term) {
            Op::Var(index) => self.names.name(*index),
            _ => "",
        }
    }

    /// Finds or makes the node without simplification.
    pub(super) fn intern(&self, op: Op, args: &[TermId], sort: SortId) -> TermId {
        self.meter.add(TERM_WORK);
        let hash = hash_parts(&op, args, sort);
        let found = self.find(hash, |node| {
            node.sort == sort && *node.args == *args && node.op == op
        });
        if let Some(found) = found {
            return found;
        }
        let is_quantifier = matches!(op, Op::Forall(_) | Op::Exists(_));
        let is_value = match op {
            Op::True | Op::False | Op::Int(_) | Op::Real(_) | Op::BitVec(_) => true,
            // Only `intern_array_value` makes stores that are values.
            Op::Construct(..) | Op::ConstArray => args.iter().all(|&a| self.is_value(a)),
            _ => false,
        };
        let node = Node {
            is_value,
            is_ground: args.iter().all(|&a| self.node(a).is_ground),
            has_quantifier: is_quantifier || args.iter().any(|&a| self.node(a).has_quantifier),
            op,
            args: args.into(),
            sort,
        };
        self.push(hash, node)
    }

    /// Interns one `store` of a canonical array value.
    pub(super) fn intern_array_value(&self, args: &[TermId; 3], sort: SortId) -> TermId {
        // `TermStore::store` makes each store of values over an array value canonical, so no node
        // with these arguments has been interned as one that is not a value.
        let hash = hash_parts(&Op::Store, args, sort);
        let found = self.find(hash, |node| {
            node.sort == sort && *node.args == *args && node.op == Op::Store
        });
        if let Some(found) = found {
            return found;
        }
        let node = Node {
            op: Op::Store,
            args: args.as_slice().into(),
            sort,
            is_value: true,
            is_ground: true,
            has_quantifier: false,
        };
        self.push(hash, node)
    }

    /// The term whose node has this hash and is the one looked for.
    fn find(&self, hash: u32, is_it: impl Fn(&Node) -> bool) -> Option<TermId> {
        let index = self.index.borrow();
        let same = |entry: &Entry| entry.hash == hash && is_it(self.nodes.get(entry.term as usize));
        let found = index.find(Entry::spread(hash), same);
        found.map(|entry| TermId(entry.term))
    }

    fn push(&self, hash: u32, node: Node) -> TermId {
        let term = self.push_node(node);
        let spread = |entry: &Entry| Entry::spread(entry.hash);
        let entry = Entry { hash, term: term.0 };
        let mut index = self.index.borrow_mut();
        index.insert_unique(Entry::spread(hash), entry, spread);
        term
    }

    fn push_node(&self, node: Node) -> TermId {
        let term = u32::try_from(self.nodes.len()).expect("fewer than 2^32 terms");
        self.nodes.push(node);
        TermId(term)
    }

    // ---- sorts ----

    fn intern_sort(&self, sort: Sort) -> SortId {
        if let Some(&id) = self.sort_index.borrow().get(&sort) {
            return id;
        }
        let mut sorts = self.sorts.borrow_mut();
        let id = SortId(u32::try_from(sorts.len()).expect("fewer than 2^32 sorts"));
        sorts.push(sort);
        self.sort_index.borrow_mut().insert(sort, id);
        id
    }

    /// The structure of a sort.
    #[inline]
    pub fn sort(&self, id: SortId) -> Sort {
        self.sorts.borrow()[id.0 as usize]
    }

    /// Bit-vectors of `width` bits. Panics if the width is zero.
    pub fn bitvec_sort(&self, width: u32) -> SortId {
        assert!(width > 0, "bit-vectors have at least one bit");
        self.intern_sort(Sort::BitVec(width))
    }

    /// Arrays from `index` to `element`.
    pub fn array_sort(&self, index: SortId, element: SortId) -> SortId {
        self.intern_sort(Sort::Array(index, element))
    }

    /// The width in bits of a bit-vector term; zero for a term of another sort.
    #[inline]
    pub fn width(&self, term: TermId) -> u32 {
        match self.sort(self.sort_of(term)) {
            Sort::BitVec(width) => width,
            _ => 0,
        }
    }

    /// A new datatype instance; [`TermStore::define_datatype`] gives it its constructors.
    pub fn declare_datatype(&self, name: &str, parameters: &[SortId]) -> (DatatypeId, SortId) {
        let id =
            DatatypeId(u32::try_from(self.datatypes.len()).expect("fewer than 2^32 datatypes"));
        let sort = self.intern_sort(Sort::Datatype(id));
        self.datatypes.push(Box::new(DatatypeCell {
            head: (name.to_owned(), parameters.to_vec()),
            sort,
            body: std::cell::OnceCell::new(),
            counted: std::cell::OnceCell::new(),
        }));
        (id, sort)
    }

    /// The scope `scope` extended by a declaration.
    pub fn scope(&self, scope: Scope, declaration: &str) -> Scope {
        let mut scopes = self.scopes.borrow_mut();
        let next = u32::try_from(scopes.len() + 1).expect("fewer than 2^32 scopes");
        let key = (scope, declaration.to_owned());
        *scopes.entry(key).or_insert(Scope(next))
    }

    /// As [`TermStore::declare_datatype`], but the same scope, name and parameters give the same
    /// instance.
    pub fn declare_scoped_datatype(
        &self,
        scope: Scope,
        name: &str,
        parameters: &[SortId],
    ) -> (DatatypeId, SortId) {
        let key = (scope, name.to_owned(), parameters.to_vec());
        if let Some(&known) = self.scoped_datatypes.borrow().get(&key) {
            return known;
        }
        let new = self.declare_datatype(name, parameters);
        self.scoped_datatypes.borrow_mut().insert(key, new);
        new
    }

    /// Whether a declared datatype has been given its constructors.
    pub fn is_defined(&self, id: DatatypeId) -> bool {
        self.datatypes[id.0 as usize].body.get().is_some()
    }

    /// Gives a declared datatype its constructors. Panics if it has been defined before.
    pub fn define_datatype(&self, id: DatatypeId, constructors: Vec<Constructor>) {
        let cell = &self.datatypes[id.0 as usize];
        let (name, parameters) = cell.head.clone();
        let datatype = Datatype {
            name,
            parameters,
            constructors,
        };
        assert!(
            cell.body.set(datatype).is_ok(),
            "a datatype is defined once"
        );
    }

    /// The definition of a datatype. Panics if it has not been defined.
    pub fn datatype(&self, id: DatatypeId) -> &Datatype {
        self.datatypes[id.0 as usize]
            .body
            .get()
            .expect("the datatype is defined")
    }

    pub(super) fn counted_or(
        &self,
        id: DatatypeId,
        make: impl FnOnce() -> Vec<Vec<u32>>,
    ) -> &[Vec<u32>] {
        self.datatypes[id.0 as usize].counted.get_or_init(make)
    }

    /// Name and parameters of a datatype, which need not be defined yet.
    pub fn datatype_head(&self, id: DatatypeId) -> (&str, &[SortId]) {
        let cell = &self.datatypes[id.0 as usize];
        (&cell.head.0, &cell.head.1)
    }

    /// The sort of a datatype.
    pub fn datatype_sort(&self, id: DatatypeId) -> SortId {
        self.datatypes[id.0 as usize].sort
    }

    /// All datatypes, in the order of declaration.
    pub fn datatype_ids(&self) -> impl Iterator<Item = DatatypeId> + use<> {
        (0..self.datatypes.len() as u32).map(DatatypeId)
    }

    // ---- variables ----

    /// The variable with this name and sort.
    pub fn var(&self, name: &str, sort: SortId) -> TermId {
        let of = |term| (self.sort_of(term), self.var_index(term));
        let found = self.names.find(name, sort, of);
        found.unwrap_or_else(|| {
            self.names
                .add(name, sort, |index| self.make_var(index, sort))
        })
    }

    /// A new variable with the name `hint!n` for some number `n`; a suffix `!m` of `hint` is
    /// replaced.
    pub fn fresh_var(&self, hint: &str, sort: SortId) -> TermId {
        self.names
            .add_fresh(hint, |index| self.make_var(index, sort))
    }

    /// A new variable with the sort of `var`, a variable, and with its name as hint.
    pub fn fresh_copy(&self, var: TermId) -> TermId {
        let sort = self.sort_of(var);
        let make = |index| self.make_var(index, sort);
        self.names.add_copy(self.var_index(var), make)
    }

    fn var_index(&self, var: TermId) -> u32 {
        match self.op(var) {
            Op::Var(index) => *index,
            _ => panic!("the term is a variable"),
        }
    }

    /// The variable with this index. It is not in the index of terms, since no other term is equal.
    fn make_var(&self, index: u32, sort: SortId) -> TermId {
        self.meter.add(TERM_WORK);
        self.push_node(Node {
            op: Op::Var(index),
            args: Box::default(),
            sort,
            is_value: false,
            is_ground: false,
            has_quantifier: false,
        })
    }
}
