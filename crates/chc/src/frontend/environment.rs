//! What declarations bring into scope, and what the machine that reads terms works on.
//!
//! Invariant: between commands no name is bound and no task is left.

use rustc_hash::FxHashMap;

use super::formula::{Formulas, Value};
use super::lexer::{Sym, TokenId};
use super::sorts::{ConstructorRef, Sorts};
use crate::{Predicate, PredicateId};
use alphorn_term::{FunctionId, SortId, TermId};

/// What a name stands for that the user declared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Global {
    Predicate(PredicateId),
    Macro(usize),
    /// `declare-var`: universally quantified in each rule.
    Variable(SortId),
    /// A recursive function of a model, see [`super::Functions`],
    Function(FunctionId),
    /// and the size of terms of a datatype.
    Size(SortId),
    /// A constant or function without definition: allowed as long as nobody uses it.
    Uninterpreted,
}

/// A `define-fun`.
pub(super) struct Macro {
    pub parameters: Vec<(Sym, SortId)>,
    pub result: SortId,
    pub body: TokenId,
    /// The body over the formal variables, when no predicate or quantifier is in it.
    pub plain: Option<(TermId, Vec<TermId>)>,
    /// Number of sub-terms of the plain body.
    pub size: usize,
}

/// Everything that declarations bring into scope.
pub(super) struct Environment {
    pub sorts: Sorts,
    pub globals: FxHashMap<Sym, Global>,
    pub predicates: Vec<Predicate>,
    pub macros: Vec<Macro>,
}

/// What a name means within a term, and the frame that it belongs to.
pub(super) struct Local {
    pub value: Value,
    pub frame: u32,
}

/// A constructor application whose instance is not known yet.
#[derive(Clone)]
pub(super) struct Open {
    pub constructor: ConstructorRef,
    pub arguments: Vec<Value>,
    pub token: TokenId,
    pub depth: u32,
}

/// What is left to do. Terms are told by their first tokens.
#[derive(Clone, Copy)]
pub(super) enum Task {
    Eval(TokenId),
    /// Applies a term's name to that many values.
    Apply(TokenId, usize),
    /// Binds the values of a `let`.
    Bind(TokenId),
    /// Ends the scope of that many names.
    Unbind(usize),
    /// Makes a quantifier of the variables from this one on.
    Close(TokenId, usize),
    Cases(TokenId),
    /// A case of a `match` on this term.
    Case(TokenId, TermId),
    Join(TokenId, TermId),
    /// Leaves a macro: which, where it was called, the frame of the caller.
    Return(usize, TokenId, u32),
}

/// The stacks of the machine and what it makes, kept from command to command.
pub(super) struct Workspace {
    pub formulas: Formulas,
    /// The `declare-var` variables that the command uses.
    pub rule_variables: Vec<(Sym, TermId)>,
    pub rule_index: FxHashMap<Sym, TermId>,
    /// For each symbol, what it means in the scopes around.
    pub locals: Vec<Vec<Local>>,
    /// The symbols of `locals` in the order in which they were bound.
    pub bound: Vec<Sym>,
    /// The variables of the quantifiers around.
    pub quantified: Vec<(Sym, TermId)>,
    pub tasks: Vec<Task>,
    pub values: Vec<Value>,
    pub opens: Vec<Open>,
    /// Calls of macros, with their arguments, that have a value already.
    pub expanded: FxHashMap<(usize, Vec<Value>), Value>,
    /// The arguments of the macros that are being expanded.
    pub calls: Vec<Vec<Value>>,
    /// How many macros are being expanded.
    pub frame: u32,
    /// Size of what macros were expanded to.
    pub expansion: usize,
}

impl Workspace {
    /// For a text with this many symbols.
    pub fn new(formulas: Formulas, symbols: usize) -> Self {
        Workspace {
            formulas,
            rule_variables: Vec::new(),
            rule_index: FxHashMap::default(),
            locals: (0..symbols).map(|_| Vec::new()).collect(),
            bound: Vec::new(),
            quantified: Vec::new(),
            tasks: Vec::new(),
            values: Vec::new(),
            opens: Vec::new(),
            expanded: FxHashMap::default(),
            calls: Vec::new(),
            frame: 0,
            expansion: 0,
        }
    }

    /// Ready for another command.
    pub fn clear(&mut self) {
        self.formulas.clear();
        self.rule_variables.clear();
        self.rule_index.clear();
        self.opens.clear();
        self.expanded.clear();
    }
}
