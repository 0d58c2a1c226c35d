//! Sorts: interned, with datatypes kept in a table of their own because they may be recursive.
//!
//! Invariant: a parametric datatype appears here only as its instances; each instance is one
//! [`Datatype`] that remembers its generic name and its parameters for printing.

/// An interned sort; equal sorts have equal ids.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct SortId(pub u32);

impl SortId {
    /// The sort Bool of every store.
    pub const BOOL: SortId = SortId(0);
    /// The sort Int of every store.
    pub const INT: SortId = SortId(1);
    /// The sort Real of every store.
    pub const REAL: SortId = SortId(2);

    /// Whether it is Int or Real.
    pub fn is_number(self) -> bool {
        self == SortId::INT || self == SortId::REAL
    }
}

/// A datatype instance in the table of its store.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct DatatypeId(pub u32);

/// The structure of a sort.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sort {
    Bool,
    Int,
    Real,
    /// Bit-vectors of a width of at least one bit.
    BitVec(u32),
    /// Index sort and element sort.
    Array(SortId, SortId),
    Datatype(DatatypeId),
}

/// A datatype instance. Constructors are filled in after the id exists, for recursion.
#[derive(Clone, Debug)]
pub struct Datatype {
    /// Name as declared, without parameters: `List` for `(List Int)`.
    pub name: String,
    /// The sorts that instantiate the parameters, empty for a datatype that has none.
    pub parameters: Vec<SortId>,
    pub constructors: Vec<Constructor>,
}

/// One constructor of a datatype.
#[derive(Clone, Debug)]
pub struct Constructor {
    pub name: String,
    pub fields: Vec<Field>,
}

/// One field of a constructor, named by its selector.
#[derive(Clone, Debug)]
pub struct Field {
    pub selector: String,
    pub sort: SortId,
}
