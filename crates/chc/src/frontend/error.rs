//! Errors of the reader, with their position.
//!
//! Invariant: lines and columns count from 1, columns in characters; lines end with a line feed.
//! Names in errors are cut to `LIMITS.max_shown_characters` and have no control characters.

use thiserror::Error;

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
}

/// The text is not a sequence of tokens with matching parentheses.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub(crate) enum LexicalError {
    #[error("a byte that is not UTF-8: this is not a text file")]
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
    #[error("the quoted symbol does not end")]
    EndlessSymbol,
    #[error("`\\` in a quoted symbol")]
    BackslashInSymbol,
    #[error("the string does not end")]
    EndlessString,
    #[error("`#` is not followed by x or b")]
    HashAlone,
    #[error("a bit-vector literal with bad digits")]
    BitVectorDigits,
    #[error("a decimal without digits after the point")]
    DecimalWithoutFraction,
    #[error("a numeral with letters in it")]
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
    #[error("`{command}` ends too early")]
    EndsEarly { command: String },
    #[error("`{0}` is not supported")]
    UnsupportedBinder(String),
    #[error("{names} names of datatypes, but {declarations} declarations")]
    DatatypeCount { names: usize, declarations: usize },
    #[error("parametric datatypes in the form without arities are not supported")]
    ParametersWithoutArity,
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
    #[error("`assert` in a file of rules")]
    AssertAmongRules,
    #[error("`check-sat` in a file of rules")]
    CheckSatAmongRules,
    #[error("rules without a `query`")]
    RulesWithoutQuery,
    #[error("the text ends without a `check-sat`: nothing is asked")]
    NoCheck,
    #[error("a second `{0}` after changes: one check per problem")]
    SecondCheck(String),
    #[error("`pop` without a `push` before it")]
    PopWithoutPush,
    #[error("`pop` under :global-declarations")]
    PopOfGlobalDeclarations,
    #[error("`{0}` is declared already")]
    DeclaredTwice(String),
    #[error("`{0}` is built in")]
    BuiltIn(String),
}

/// A sort that does not exist or is not supported.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub(crate) enum SortError {
    #[error("the sort `{0}` is not declared, nor supported as built in")]
    Undeclared(String),
    #[error("the uninterpreted sort `{0}` is not supported")]
    Uninterpreted(String),
    #[error("the sort `(_ {0} …)` is not supported")]
    Indexed(String),
    #[error("a sort `{0}` exists already")]
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
    #[error("`{0}` is not declared")]
    Undeclared(String),
    #[error(
        "`{0}` is neither predicate nor bound variable: constants and functions without a \
         definition are not Horn"
    )]
    Uninterpreted(String),
    #[error("the rule variable `{0}` in a definition")]
    RuleVariableInDefinition(String),
    #[error("`{0}` is bound twice here")]
    BoundTwice(String),
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
    #[error("a term of sort Bool is expected here")]
    BoolExpected,
    #[error("`{0}` expects arguments of sort Bool here")]
    BoolArgumentsExpected(String),
    #[error("`(_ {0} …)` is not supported")]
    UnsupportedIndexed(String),
    #[error("`(as {0} …)` is not supported")]
    UnsupportedQualified(String),
    #[error("`(as const …)` takes the sort of an array")]
    ConstOfNoArray,
    #[error("strings are not supported")]
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
    #[error("a second positive predicate in one clause: this is not Horn")]
    SecondHead,
    #[error("a disjunction over predicates in a body is not Horn")]
    DisjunctionInBody,
    #[error("{0} over predicates in a body is not Horn")]
    ConnectiveInBody(&'static str),
    #[error("`ite` on a predicate is not Horn")]
    ConditionOnPredicate,
    #[error("`exists` over a predicate that must hold is not Horn")]
    ExistsInHead,
    #[error("the predicate `{predicate}` inside `{operator}` is not Horn")]
    PredicateInTerm { predicate: String, operator: String },
    #[error("a predicate inside `{0}` is not Horn")]
    PredicateInside(String),
    #[error("a constraint is expected")]
    ConstraintExpected,
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
