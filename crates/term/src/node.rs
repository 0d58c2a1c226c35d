//! The structure of a term: an operator, its arguments, its sort.
//!
//! Invariant: argument order and count always suit the operator; only `build.rs` makes nodes, and
//! it checks sorts there in debug builds.

use super::{BigInt, BigUint, DatatypeId, FunctionId, Rational, SortId};

/// An interned term; equal terms have equal ids.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct TermId(pub u32);

impl TermId {
    /// The term `true` of every store.
    pub const TRUE: TermId = TermId(0);
    /// The term `false` of every store.
    pub const FALSE: TermId = TermId(1);

    /// Position in the store, for dense tables.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Operators. What SMT-LIB has beyond these (`=>`, `xor`, `distinct`, `<`, `>`, `-`, `abs`, `rem`)
/// is expressed by them at construction.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// A variable, by its index in the store's table of names.
    Var(u32),
    True,
    False,
    Int(BigInt),
    Real(Rational),
    /// The value of a bit-vector; its width is the node's sort.
    BitVec(BigUint),
    Not,
    And,
    Or,
    Eq,
    Ite,
    /// Sum in linear normal form: monomials in the order of their ids, the constant last.
    Add,
    /// A numeral times a term, or a product of terms that are not numerals.
    Mul,
    /// `a <= b` over Int or Real.
    Le,
    /// `a >= b` over Int or Real.
    Ge,
    IDiv,
    Mod,
    /// Real division by a term that is no numeral.
    Div,
    ToReal,
    ToInt,
    IsInt,
    BvConcat,
    /// Bits `high` down to `low`.
    BvExtract(u32, u32),
    /// Number of bits added.
    BvZeroExtend(u32),
    /// Number of bits added.
    BvSignExtend(u32),
    BvNot,
    BvNeg,
    BvAnd,
    BvOr,
    BvXor,
    BvAdd,
    BvMul,
    BvUdiv,
    BvUrem,
    BvSdiv,
    BvSrem,
    BvSmod,
    BvShl,
    BvLshr,
    BvAshr,
    BvUle,
    BvSle,
    /// Unsigned value as an integer.
    BvToNat,
    /// Integer modulo 2^width.
    IntToBv(u32),
    Select,
    Store,
    /// The array, of the node's sort, that holds its argument everywhere.
    ConstArray,
    Construct(DatatypeId, u32),
    /// Datatype, constructor, field.
    Field(DatatypeId, u32, u32),
    Is(DatatypeId, u32),
    /// The size of a value of a recursive datatype, see
    /// [`TermStore::size`](super::TermStore::size).
    Size(DatatypeId),
    /// A function that an equation defines, applied to its arguments; see
    /// [`TermStore::call`](super::TermStore::call).
    Call(FunctionId),
    /// Bound variables, each a `Var` that is bound here only; one argument, the body.
    Forall(Box<[TermId]>),
    /// Bound variables, each a `Var` that is bound here only; one argument, the body.
    Exists(Box<[TermId]>),
}

/// What the store holds for a term.
#[derive(Debug)]
pub struct Node {
    pub op: Op,
    pub args: Box<[TermId]>,
    pub sort: SortId,
    /// A value: numeral, Boolean, bit-vector, or a canonical array or datatype of values.
    pub is_value: bool,
    /// No variable occurs in it (bound ones count).
    pub is_ground: bool,
    /// A quantifier occurs in it.
    pub has_quantifier: bool,
}
