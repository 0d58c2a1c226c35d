//! The structure of a term: an operator, its arguments, its sort.
//!
//! Invariant: only this crate's constructors make nodes, so the number and the order of arguments
//! always fit the operator. Debug builds check the sorts of the arguments of connectives, `=` and
//! `ite`.

use super::{BigInt, BigUint, DatatypeId, FunctionId, Rational, SortId};

/// The number of a term in its store; structurally equal terms have equal ids.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct TermId(pub u32);

impl TermId {
    /// The term `true`, in every store.
    pub const TRUE: TermId = TermId(0);
    /// The term `false`, in every store.
    pub const FALSE: TermId = TermId(1);

    /// Position in the store, for dense tables.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Operators. Other operators of SMT-LIB (`=>`, `xor`, `distinct`, `<`, `>`, `-`, `abs`, …) are
/// expressed by these at construction. Where an operator has the name of an SMT-LIB operator, it
/// has its arguments and meaning.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// A variable, by its index in the store's table of names.
    Var(u32),
    /// `true`.
    True,
    /// `false`.
    False,
    /// An Int numeral.
    Int(BigInt),
    /// A Real numeral.
    Real(Box<Rational>),
    /// A bit-vector numeral, below 2^width; the node's sort has the width.
    BitVec(BigUint),
    /// Negation; over Int, the negation of a bound is a bound instead.
    Not,
    /// Conjunction of at least two formulas, ascending by id, none twice.
    And,
    /// Disjunction of at least two formulas, ascending by id, none twice.
    Or,
    /// Equality of two terms of one sort.
    Eq,
    /// Condition and two branches of one sort.
    Ite,
    /// Sum in linear normal form: monomials in ascending order of their terms' ids, the constant
    /// last.
    Add,
    /// A numeral times a term, or a product of terms that are not numerals.
    Mul,
    /// `a <= b` over Int or Real.
    Le,
    /// `a >= b` over Int or Real.
    Ge,
    /// `div` over Int.
    IDiv,
    /// `mod` over Int.
    Mod,
    /// Real division by a term that is no numeral, or by zero.
    Div,
    /// `to_real`.
    ToReal,
    /// `to_int`, which rounds down.
    ToInt,
    /// `is_int`.
    IsInt,
    /// `concat`: the high part, then the low part.
    BvConcat,
    /// `(_ extract high low)`: bits `high` down to `low`.
    BvExtract(u32, u32),
    /// `zero_extend`, with the number of bits that are added.
    BvZeroExtend(u32),
    /// `sign_extend`, with the number of bits that are added.
    BvSignExtend(u32),
    /// `bvnot`.
    BvNot,
    /// `bvneg`.
    BvNeg,
    /// `bvand`.
    BvAnd,
    /// `bvor`.
    BvOr,
    /// `bvxor`.
    BvXor,
    /// `bvadd`.
    BvAdd,
    /// `bvmul`.
    BvMul,
    /// `bvudiv`.
    BvUdiv,
    /// `bvurem`.
    BvUrem,
    /// `bvsdiv`.
    BvSdiv,
    /// `bvsrem`.
    BvSrem,
    /// `bvsmod`.
    BvSmod,
    /// `bvshl`.
    BvShl,
    /// `bvlshr`.
    BvLshr,
    /// `bvashr`.
    BvAshr,
    /// `bvule`.
    BvUle,
    /// `bvsle`.
    BvSle,
    /// The unsigned value as an Int.
    BvToNat,
    /// An Int modulo 2^width as a bit-vector, with the width.
    IntToBv(u32),
    /// `select` of an array and an index.
    Select,
    /// `store` of an array, an index and an element.
    Store,
    /// The array of the node's sort with its argument at every index.
    ConstArray,
    /// A constructor, by datatype and number, applied to its fields.
    Construct(DatatypeId, u32),
    /// A selector, by datatype, constructor and field.
    Field(DatatypeId, u32, u32),
    /// A tester, by datatype and constructor.
    Is(DatatypeId, u32),
    /// The size of a term of a recursive datatype, see
    /// [`TermStore::size`](super::TermStore::size).
    Size(DatatypeId),
    /// A function that is defined by an equation, applied to its arguments; see
    /// [`TermStore::call`](super::TermStore::call).
    Call(FunctionId),
    /// The bound variables, ascending; the only argument is the body, in which all of them occur.
    Forall(Box<[TermId]>),
    /// The bound variables, ascending; the only argument is the body, in which all of them occur.
    Exists(Box<[TermId]>),
}

/// What the store keeps of a term.
#[derive(Debug)]
pub struct Node {
    /// The operator.
    pub op: Op,
    /// The arguments.
    pub args: Box<[TermId]>,
    /// The sort of the term.
    pub sort: SortId,
    /// Whether it is a value: `true`, `false`, a numeral, a canonical array of values, or a
    /// constructor applied to values.
    pub is_value: bool,
    /// Whether no variable occurs in it, free or bound.
    pub is_ground: bool,
    /// Whether a quantifier occurs in it.
    pub has_quantifier: bool,
}
