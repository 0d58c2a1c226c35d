//! The declarations in scope, and the stacks of the traversal in `elaborate`.
//!
//! Invariant: between commands no local name is bound and no task is left.

use rustc_hash::FxHashMap;

use super::formula::{Formulas, Value};
use super::heaps::Heap;
use super::lexer::{Sym, TokenId};
use super::names::TermName;
use super::sorts::{ConstructorRef, Sorts, WrittenSort};
use crate::{Predicate, PredicateId};
use alphorn_term::{FunctionId, SortId, TermId};

/// The meaning of a name that the user declared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Global {
    Predicate(PredicateId),
    Macro(usize),
    /// A variable of rules (`declare-var`), universally quantified in each rule.
    Variable(SortId),
    /// A recursive function of a model, see [`super::Functions`].
    Function(FunctionId),
    /// The size of terms of a datatype, see [`super::Functions`].
    Size(SortId),
    /// A constant without definition, with its variable.
    Constant(TermId),
    /// A function without definition, by the variable of its array and its number of parameters.
    FreeFunction(TermId, usize),
    /// A constant or function without definition where there are none; using it is an error.
    Uninterpreted,
}

/// A `define-fun`.
pub(super) struct Macro {
    pub parameters: Vec<(Sym, SortId)>,
    pub result: SortId,
    pub body: TokenId,
    /// The body as a term over the formal variables, if it has no predicate or quantifier.
    pub plain: Option<(TermId, Vec<TermId>)>,
    /// The number of distinct sub-terms of the body, if it is a term; else zero.
    pub size: usize,
}

/// Everything that declarations bring into scope.
pub(super) struct Environment {
    pub sorts: Sorts,
    pub globals: FxHashMap<Sym, Global>,
    pub predicates: Vec<Predicate>,
    pub macros: Vec<Macro>,
    /// Names of terms.
    pub names: FxHashMap<Sym, TermName>,
    /// Those of `names` that the command in progress has added.
    pub new_names: Vec<Sym>,
    /// The heap, if one is declared.
    pub heap: Option<Heap>,
    /// The sorts of variables of rules as they are written; only for those that were declared after
    /// a heap.
    pub variable_sorts: FxHashMap<Sym, WrittenSort>,
    /// Where the undeclared `_size` is applied, and the sorts of its arguments there; `None` if this
    /// is an error.
    pub size_places: Option<Vec<(TokenId, SortId)>>,
}

/// The value of a local name, and the frame that it belongs to.
pub(super) struct Local {
    pub value: Value,
    pub frame: u32,
}

/// An application of a constructor whose instance is not known yet.
#[derive(Clone)]
pub(super) struct Open {
    pub constructor: ConstructorRef,
    pub arguments: Vec<Value>,
    pub token: TokenId,
    pub depth: u32,
}

/// A task of the traversal. A term is given by its first token.
#[derive(Clone, Copy)]
pub(super) enum Task {
    Eval(TokenId),
    /// Applies the name of a term to this number of values.
    Apply(TokenId, usize),
    /// Binds the values of a `let`.
    Bind(TokenId),
    /// Ends the scope of this number of names.
    Unbind(usize),
    /// Makes a quantifier over the variables from this position on.
    Close(TokenId, usize),
    Cases(TokenId),
    /// A case of a `match` on this term.
    Case(TokenId, TermId),
    Join(TokenId, TermId),
    /// Records the name of this annotated term.
    Name(TokenId),
    /// Leaves a macro: its number, the term that called it, and the frame of the caller.
    Return(usize, TokenId, u32),
}

/// The stacks and results of the traversal; the allocations are kept from command to command.
pub(super) struct Workspace {
    pub formulas: Formulas,
    /// The `declare-var` variables that the command uses.
    pub rule_variables: Vec<(Sym, TermId)>,
    pub rule_index: FxHashMap<Sym, TermId>,
    /// The guards of variables that have some.
    pub guards: FxHashMap<TermId, Vec<TermId>>,
    /// By symbol, its values in the enclosing scopes, the innermost last.
    pub locals: Vec<Vec<Local>>,
    /// The symbols of `locals` in the order in which they were bound.
    pub bound: Vec<Sym>,
    /// The variables of the enclosing quantifiers.
    pub quantified: Vec<(Sym, TermId)>,
    pub tasks: Vec<Task>,
    pub values: Vec<Value>,
    pub opens: Vec<Open>,
    /// The values of calls of macros, by macro and arguments.
    pub expanded: FxHashMap<(usize, Vec<Value>), Value>,
    /// The arguments of the macros that are being expanded.
    pub calls: Vec<Vec<Value>>,
    /// The number of macros that are being expanded.
    pub frame: u32,
    /// The number of nodes that macros were expanded to.
    pub expansion: usize,
}

impl Workspace {
    /// A workspace for a text with this number of symbols.
    pub fn new(formulas: Formulas, symbols: usize) -> Self {
        Workspace {
            formulas,
            rule_variables: Vec::new(),
            rule_index: FxHashMap::default(),
            guards: FxHashMap::default(),
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

    /// Removes the results of the last command.
    pub fn clear(&mut self) {
        self.formulas.clear();
        self.rule_variables.clear();
        self.rule_index.clear();
        self.guards.clear();
        self.opens.clear();
        self.expanded.clear();
    }
}
