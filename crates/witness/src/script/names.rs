//! Names that Z3's reader has of its own, whether SMT-LIB has them or not.
//!
//! Z3 rejects a sort with such a name, a function with the argument sorts of an operation, and
//! `(|let| x)`, which it takes for a binder. The tables were found by declaring each word that occurs
//! in libz3 5.4.0, and may have more than it needs: a name in them costs only that it is replaced.
//!
//! # Invariant
//! The names of operations that alphorn prints are among [`OPERATIONS`].

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

/// Reserved words of SMT-LIB. In bars they are symbols.
pub(super) const RESERVED: [&str; 8] = ["_", "!", "as", "let", "exists", "forall", "match", "par"];

/// Names that the user can only have for sorts, predicates and functions where Z3 allows it: the
/// core of SMT-LIB.
const CORE: &str = "true false not and or xor => = distinct ite + - * / <= < >= >";

/// Operations of SMT-LIB and of Z3 that alphorn reads or prints, beside the core.
const OPERATIONS: &str = "implies iff if div mod rem abs to_real to_int is_int divisible select store const concat \
    extract zero_extend sign_extend repeat rotate_left rotate_right bvnot bvneg bvand bvor bvxor \
    bvnand bvnor bvxnor bvadd bvsub bvmul bvudiv bvurem bvsdiv bvsrem bvsmod bvudiv_i bvurem_i \
    bvsdiv_i bvsrem_i bvsmod_i bvshl bvlshr bvashr bvult bvule bvugt bvuge bvslt bvsle bvsgt \
    bvsge bvcomp bvredor bvredand ubv_to_int bv2nat bv2int sbv_to_int int_to_bv int2bv nat2bv is";

/// Sorts of Z3.
const SORTS: &str = "Array BitVec Bool Char Complex FiniteSet Float128 Float16 Float32 Float64 FloatingPoint Int \
    List Proof Real RegEx RegLan RoundingMode Seq Set String StringSequence Unicode bool bv int \
    real string char seq set -> =>";

/// Other words of Z3: binders, operations and constants.
const WORDS: &str = "lambda choice root-obj && ** +oo +zero -oo -zero /0 NaN RNA RNE RTN RTP RTZ ^ ac-op acos \
    acosh arctan2 array-ext as-array asin asinh at-least at-most atan atan2 atanh bit0 bit1 \
    bit2bool case-def char complement cos cosh default div0 divides e equals equiv euler exp \
    ext_rotate_left ext_rotate_right fp idiv0 intersection is_int_real linear-order ln log map \
    max min mkbv mod0 partial-order pbeq pbge pble pi piecewise-linear-order pow \
    recfun-num-rounds rem0 roundNearestTiesToAway roundNearestTiesToEven roundTowardNegative \
    roundTowardPositive roundTowardZero setminus sin sinh singleton sub subset tan tanh to_fp \
    to_fp_unsigned transitive-closure tree-order union update-field ~ ||";

/// Beginnings of names of Z3's operations on strings, sequences, sets, floats and fields, and on
/// bit-vectors.
const PREFIXES: &str = "str. seq. re. char. set. fp. ff. complex. int. real. bag. string. bv";

/// The parametric datatype that Z3 has in each text, with other names in the place of its own.
pub(super) const LIST: (&str, [&str; 4]) = ("List", ["nil", "insert", "head", "tail"]);

/// The words of a table.
type Words = LazyLock<FxHashSet<&'static str>>;

/// The words of tables.
fn words(tables: &[&'static str]) -> FxHashSet<&'static str> {
    let words = tables
        .iter()
        .flat_map(|table| table.split_ascii_whitespace());
    words.collect()
}

/// Whether Z3 may have another sort with this name.
pub(super) fn is_sort(name: &str) -> bool {
    static WITH_SORTS: Words = LazyLock::new(|| words(&[SORTS]));
    WITH_SORTS.contains(name) || RESERVED.contains(&name) || is_number(name)
}

/// Whether Z3 may have another function, operation or binder with this name.
pub(super) fn is_function(name: &str) -> bool {
    static ALL: Words = LazyLock::new(|| words(&[CORE, OPERATIONS, WORDS]));
    let mut prefixes = PREFIXES.split_ascii_whitespace();
    RESERVED.contains(&name)
        || ALL.contains(name)
        || prefixes.any(|prefix| name.starts_with(prefix))
        || is_number(name)
}

/// Whether a name is that of an operation which alphorn may print.
pub(super) fn is_operation(name: &str) -> bool {
    static PRINTED: Words = LazyLock::new(|| words(&[CORE, OPERATIONS]));
    PRINTED.contains(name)
}

/// Whether a name is one of the core, which no declaration changes.
pub(super) fn is_core(name: &str) -> bool {
    static IN_CORE: Words = LazyLock::new(|| words(&[CORE]));
    IN_CORE.contains(name)
}

/// Whether Z3 reads the symbol as a negative number.
fn is_number(name: &str) -> bool {
    let digits = name.strip_prefix('-');
    digits.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}
