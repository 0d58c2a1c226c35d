//! Errors of the reader, with their position.
//!
//! Invariant: lines and columns count from 1, columns in characters; lines end with a line feed.
//! Names in errors are cut to `LIMITS.max_shown_characters` and have no control characters.

use thiserror::Error;

use super::theories::{STRINGS, unsupported_theory};
use super::warnings::Nonstandard;
use crate::limits::LIMITS;

/// The reason why an input cannot be read, with its position.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("line {line} column {column}: {kind}")]
pub struct InputError {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    pub(crate) kind: ErrorKind,
}

impl InputError {
    /// The message without the position.
    pub fn message(&self) -> String {
        self.kind.to_string()
    }

    /// Whether the text does not follow the grammar. The other errors are about its meaning: sorts,
    /// declarations, or assertions that are not Horn.
    pub fn is_syntax_error(&self) -> bool {
        matches!(self.kind, ErrorKind::Lexical(_) | ErrorKind::Syntax(_))
    }

    /// An error at a byte offset of the text.
    pub(super) fn at_byte(text: &str, offset: usize, kind: impl Into<ErrorKind>) -> Self {
        let before = &text[..offset];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        InputError {
            line: 1 + before.bytes().filter(|&b| b == b'\n').count() as u32,
            column: 1 + before[line_start..].chars().count() as u32,
            kind: kind.into(),
        }
    }
}

/// An error, by the stage of reading that finds it.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub(crate) enum ErrorKind {
    #[error(transparent)]
    Lexical(#[from] LexicalError),
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    #[error(transparent)]
    Script(#[from] ScriptError),
    #[error(transparent)]
    Sort(#[from] SortError),
    #[error(transparent)]
    Term(#[from] TermError),
    #[error(transparent)]
    NotHorn(#[from] NotHorn),
    /// Strict reading refuses it.
    #[error("not standard: {0}")]
    Nonstandard(#[from] Nonstandard),
}

/// The text is not a sequence of tokens with matching parentheses.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub(crate) enum LexicalError {
    #[error("a byte that is not UTF-8, outside of comments and strings: save the text as UTF-8")]
    NotUtf8,
    #[error("a NUL byte: this is not a text file")]
    NulByte,
    #[error("the input is larger than 1 GiB")]
    TooLarge,
    #[error("the character `{}` starts no token", .0.escape_default())]
    UnknownCharacter(char),
    #[error("`(` without a matching `)`")]
    UnmatchedOpen,
    #[error("`)` without a `(` before it")]
    UnmatchedClose,
    #[error("the quoted symbol does not end: a `|` is missing")]
    EndlessSymbol,
    #[error("`\\` in a quoted symbol: SMT-LIB does not allow it in names")]
    BackslashInSymbol,
    #[error("the string does not end")]
    EndlessString,
    #[error("`#` is not followed by x or b")]
    HashAlone,
    #[error("a bit-vector literal with bad digits")]
    BitVectorDigits,
    #[error("a numeral with letters in it: a name must not begin with a digit (or write |…|)")]
    LettersInNumeral,
    #[error("a `:` without a keyword")]
    ColonAlone,
    #[error("a literal of more than {0} characters")]
    LongLiteral(usize),
}

/// The tokens do not follow the grammar.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub(crate) enum SyntaxError {
    #[error("`{0}` where a command should begin")]
    NoCommand(String),
    #[error("a command without a name")]
    UnnamedCommand,
    #[error("the command `{0}` is not supported")]
    UnknownCommand(String),
    #[error("unexpected `{found}` in `{command}`")]
    Unexpected { found: String, command: String },
    #[error("`{0}` is a reserved word: as a name write `|{0}|`, or choose another one")]
    ReservedWord(String),
    #[error("`{command}` ends too early")]
    EndsEarly { command: String },
    #[error(
        "`{0}`: soft constraints and objectives are not supported; a text asks whether all its \
         clauses hold together"
    )]
    Preferences(String),
    #[error("`check-sat-assuming` is not supported here: assert the assumptions, then `check-sat`")]
    Assumptions,
    #[error(
        "`{0}` is not supported: write the function as a predicate with its result as an argument"
    )]
    RecursiveDefinition(String),
    #[error("codatatypes are not supported: `declare-datatypes` declares finite values")]
    Codatatypes,
    #[error("`{0}` is not supported: write a definition, or a predicate")]
    UnsupportedBinder(String),
    #[error("{names} names of datatypes, but {declarations} declarations")]
    DatatypeCount { names: usize, declarations: usize },
    #[error("a number of levels up to {0} is expected")]
    LevelCount(usize),
    #[error(
        "separation logic is not supported: `declare-heap` of the theory of heaps has a heap, addresses, \
         objects, a default object and datatypes"
    )]
    SeparationLogic,
}

/// A command that is not allowed at its place, or a name that is declared already.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub(crate) enum ScriptError {
    #[error("`assert` in a file of rules: write `rule`")]
    AssertAmongRules,
    #[error("`check-sat` in a file of rules: write `query` and a relation")]
    CheckSatAmongRules,
    #[error("rules without a `query`: nothing is asked")]
    RulesWithoutQuery,
    #[error("the text ends without a `check-sat`: nothing is asked (`--check-at-end` adds one)")]
    NoCheck,
    #[error("a second `{0}` after changes: one check per problem")]
    SecondCheck(String),
    #[error("`pop` without a `push` before it")]
    PopWithoutPush,
    #[error("`pop` under :global-declarations: leave the option out, or use `reset-assertions`")]
    PopOfGlobalDeclarations,
    #[error(
        "a goal (a `forall` over recursive functions, negated) beside other assertions is not \
         supported: ask about one goal at a time, and write other facts as premises of the goal"
    )]
    BesideGoal,
    #[error("`{0}` is declared already: choose another name")]
    DeclaredTwice(String),
    #[error("`{0}` is built in: choose another name")]
    BuiltIn(String),
}

/// What to write instead of a sort that is not declared.
fn instead_of_sort(name: &str) -> &'static str {
    match unsupported_theory(name) {
        "" => ": declare it before this place, by `declare-sort` or `declare-datatypes`",
        theory => theory,
    }
}

/// A sort that does not exist or is not supported.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub(crate) enum SortError {
    #[error("the sort `{name}` is not declared, nor supported as built in{}", instead_of_sort(.0), name = .0)]
    Undeclared(String),
    #[error(
        "the uninterpreted sort `{0}` with parameters is not supported: declare a sort for each \
         instance"
    )]
    FreeWithParameters(String),
    #[error("the sort `(_ {name} …)` is not supported{}", unsupported_theory(.0), name = .0)]
    Indexed(String),
    #[error("a sort `{0}` exists already: choose another name")]
    DeclaredTwice(String),
    #[error("BitVec takes one width, from 1 to {0}")]
    BitVecWidth(u32),
    #[error("the sort `{sort}` takes {expected} arguments, not {found}")]
    Arity {
        sort: String,
        expected: usize,
        found: usize,
    },
    #[error("sorts nest deeper than {0}")]
    Depth(u32),
    #[error("definitions of sorts nest too deep")]
    DefinitionDepth,
    #[error("the arity is not the number of parameters, {0}")]
    DatatypeArity(usize),
    #[error("a constructor of this name exists already")]
    ConstructorTwice,
    #[error("a selector of this name exists already")]
    SelectorTwice,
    #[error("`{0}` is built in: a constructor or selector needs another name")]
    BuiltIn(String),
    #[error(
        "the datatype `{sort}` has a constructor or selector `{name}`, which is built in: rename it"
    )]
    Unusable { sort: String, name: String },
    #[error("the datatype `{0}` has no finite value")]
    NoFiniteValue(String),
    #[error("more than {0} instances of datatypes")]
    TooManyInstances(usize),
    #[error("the arguments have sorts of different instances")]
    DifferentInstances,
    #[error("an array is expected as argument")]
    ArrayExpected,
    #[error("an argument of sort `{0}` is expected")]
    DatatypeExpected(String),
    #[error("a variable of an array that is indexed by addresses is not supported")]
    AddressesAsIndexes,
    #[error("a variable of the recursive datatype `{0}` with addresses in it is not supported")]
    RecursiveAddresses(String),
    #[error("a variable with more than {0} addresses in it")]
    TooManyGuards(usize),
    #[error("a second heap is not supported")]
    SecondHeap,
    #[error("the default object of a heap is a term without variables")]
    DefaultObject,
    #[error("the objects of a heap are the first sort of `declare-heap`'s datatypes, not `{0}`")]
    HeapObjects(String),
}

/// A term that is not well-sorted or not supported.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub(crate) enum TermError {
    #[error("`{name}` is not declared{}", unsupported_theory(.0), name = .0)]
    Undeclared(String),
    #[error(
        "`{0}` is neither predicate nor bound variable: constants and functions without a \
         definition are not Horn"
    )]
    Uninterpreted(String),
    #[error(
        "`{0}` names a term that is no formula or has variables that are bound around it: write the \
         term itself"
    )]
    NameOfNoFormula(String),
    #[error("`{0}` names several terms: give each a name of its own")]
    NameOfSeveral(String),
    #[error("the rule variable `{0}` in a definition")]
    RuleVariableInDefinition(String),
    #[error("`{0}` is bound twice here")]
    BoundTwice(String),
    #[error("the parameter `{0}` has the name of a function that is defined here: rename it")]
    ParameterNamesFunction(String),
    #[error("{names} functions, but {bodies} bodies")]
    FunctionCount { names: usize, bodies: usize },
    #[error(
        "the constant `{0}` in a text with recursive functions is not supported: make it an argument \
         of the predicates and functions"
    )]
    ConstantBesideFunctions(String),
    #[error("the definition of `{0}` has too many cases: divide it into several functions")]
    TooManyCases(String),
    #[error("the variable `{0}` takes no arguments")]
    AppliedVariable(String),
    #[error("`{name}` takes {takes} arguments, not {found}")]
    ArgumentCount {
        name: String,
        takes: String,
        found: usize,
    },
    #[error("`{name}` takes {takes} indexes")]
    IndexCount { name: String, takes: usize },
    #[error("`{name}` expects {expected}, not {found}")]
    WrongSort {
        name: String,
        expected: String,
        found: String,
    },
    #[error("a predicate in the definition of a recursive function is not supported")]
    PredicateInFunction,
    #[error("a term of sort Bool is expected here")]
    BoolExpected,
    #[error("`{0}` expects arguments of sort Bool here")]
    BoolArgumentsExpected(String),
    #[error("`(_ {name} …)` is not supported{}", unsupported_theory(.0), name = .0)]
    UnsupportedIndexed(String),
    #[error("`(as {0} …)` is not supported")]
    UnsupportedQualified(String),
    #[error("`(as const …)` takes the sort of an array")]
    ConstOfNoArray,
    #[error("a string{}", STRINGS)]
    Strings,
    #[error("a literal of more than {0} bits")]
    LiteralWidth(u32),
    #[error("bit-vectors have 1 to {0} bits")]
    BitVectorWidth(u32),
    #[error("`{name}` gives {width} bits, not 1 to {most}")]
    ResultWidth { name: String, width: u64, most: u32 },
    #[error("an index of `{name}` is larger than {most}")]
    LargeIndex { name: String, most: u32 },
    #[error("the bits {high} to {low} are not within {width} bits")]
    BitsOutside { high: u32, low: u32, width: u32 },
    #[error("`divisible` takes a positive index")]
    DivisibleByZero,
    #[error("the product of these numerals is too large")]
    LargeProduct,
    #[error("the expansion of definitions is too large")]
    LargeExpansion,
    #[error("a constructor where no datatype is expected")]
    ConstructorWithoutDatatype,
    #[error("a constructor of another datatype")]
    ConstructorOfOther,
    #[error("`{0}` is no constructor here")]
    NoConstructor(String),
    #[error("`{0}` is no constructor of the argument's sort")]
    NoConstructorOfArgument(String),
    #[error("`{0}` is no selector of its argument's sort")]
    NoSelectorOfArgument(String),
    #[error("several datatypes have a constructor `{0}`: write (as … SORT)")]
    AmbiguousConstructor(String),
    #[error("the sort of this constructor is not determined: write (as … SORT)")]
    UnknownInstance,
    #[error("constructors of unknown instances nest too deep: write (as … SORT)")]
    UnknownInstanceDepth,
    #[error("`update-field` takes a datatype")]
    UpdateOfNoDatatype,
    #[error("`update-field` of a field that the datatype lacks")]
    UpdateOfNoField,
    #[error("`match` takes a term of a datatype")]
    MatchOfNoDatatype,
    #[error("the cases of `match` do not cover the datatype")]
    MatchCoverage,
    #[error("`{name}` of a number of objects that is no numeral up to {most} is not supported")]
    RangeSize { name: String, most: usize },
}

/// An assertion that is not equivalent to Horn clauses, or to too many.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub(crate) enum NotHorn {
    #[error(
        "`{first}` and `{second}` may both have to hold here, and no choice of predicates to \
         complement makes this Horn"
    )]
    SecondHead { first: String, second: String },
    #[error("a negated relation in a rule: stratified negation is not supported")]
    NegationInRule,
    #[error(
        "`forall` over predicates in a disjunction of a body is not Horn: write a clause for each case"
    )]
    ForallInBody,
    #[error(
        "`exists` over a predicate that must hold is not Horn, and no value of its variables is \
         known: write one in their place"
    )]
    ExistsInHead,
    #[error("a constraint is expected")]
    ConstraintExpected,
    #[error(
        "the recursive function `{0}` is called below a quantifier inside a constraint: quantify \
         the whole assertion instead, or write the property as a predicate"
    )]
    CallBelowQuantifier(String),
    #[error("quantifiers within a constraint nest deeper than {0}")]
    QuantifierDepth(u32),
    #[error("the assertion stands for too many clauses")]
    TooManyClauses,
}

/// A piece of source for a message: cut, and with spaces for control characters.
pub(super) fn shorten(source: &str) -> String {
    let shown: String = source
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(LIMITS.max_shown_characters)
        .collect();
    if shown.len() < source.len() {
        shown + "…"
    } else {
        shown
    }
}
