//! Sorts, and the definitions of datatypes.
//!
//! Invariant: each instance of a parametric datatype is one [`Datatype`], with the name of the
//! parametric datatype and the sorts of its parameters.

/// The number of a sort in its store; equal sorts have equal ids.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct SortId(pub u32);

impl SortId {
    /// The sort Bool, in every store.
    pub const BOOL: SortId = SortId(0);
    /// The sort Int, in every store.
    pub const INT: SortId = SortId(1);
    /// The sort Real, in every store.
    pub const REAL: SortId = SortId(2);

    /// Whether it is Int or Real.
    pub fn is_number(self) -> bool {
        self == SortId::INT || self == SortId::REAL
    }
}

/// The number of a datatype in its store.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct DatatypeId(pub u32);

/// The structure of a sort.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sort {
    /// Booleans.
    Bool,
    /// Integers.
    Int,
    /// Real numbers; their values are rational.
    Real,
    /// Bit-vectors, with the width in bits, at least one.
    BitVec(u32),
    /// Arrays, with index sort and element sort.
    Array(SortId, SortId),
    /// An instance of a datatype.
    Datatype(DatatypeId),
}

/// An instance of a datatype.
#[derive(Clone, Debug)]
pub struct Datatype {
    /// Name as declared, without parameters: `List` for `(List Int)`.
    pub name: String,
    /// The sorts of the parameters; empty if the datatype has no parameters.
    pub parameters: Vec<SortId>,
    /// The constructors, in the order of declaration.
    pub constructors: Vec<Constructor>,
}

/// One constructor of a datatype.
#[derive(Clone, Debug)]
pub struct Constructor {
    /// Name as declared.
    pub name: String,
    /// The fields, in the order of declaration.
    pub fields: Vec<Field>,
}

/// One field of a constructor.
#[derive(Clone, Debug)]
pub struct Field {
    /// Name of the selector as declared.
    pub selector: String,
    /// Sort of the field.
    pub sort: SortId,
}
