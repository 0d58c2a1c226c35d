//! From syntax to values: scopes, overloading, sorts of everything.
//!
//! A machine with an explicit stack of tasks walks the syntax once; `let` binds values and not
//! syntax, so shared terms stay shared. Macros are expanded in a frame of their own, where only
//! their parameters are in scope. Invariant: a value of sort Bool contains a predicate only if it
//! is a formula; terms contain none.

use num_bigint::{BigInt, BigUint};
use num_traits::Num;
use rustc_hash::FxHashMap;

use super::InputError;
use super::commands::shorten;
use super::formula::{Formulas, Value};
use super::lexer::{Kind, Lexed, Sym};
use super::operators::{BUILTINS, Builtin, Operators};
use super::sorts::{ConstructorRef, MAX_WIDTH, Sorts, symbol_at};
use super::syntax::{Arena, Name, NodeId, Span, Syntax};
use crate::chc::{Predicate, PredicateId};
use crate::term::{Rational, SortId, TermId, TermStore};

/// What a name stands for that the user declared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Global {
    Predicate(PredicateId),
    Macro(usize),
    /// `declare-var`: universally quantified in each rule.
    Variable(SortId),
    /// A constant or function without definition: allowed as long as nobody uses it.
    Uninterpreted,
}

/// A `define-fun`.
pub(super) struct Macro {
    pub parameters: Vec<(Sym, SortId)>,
    pub result: SortId,
    pub body: NodeId,
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

pub(super) struct Local {
    pub value: Value,
    pub frame: u32,
}

/// A constructor application whose instance is not known yet.
#[derive(Clone)]
pub(super) struct Open {
    pub constructor: ConstructorRef,
    pub arguments: Vec<Value>,
    pub token: u32,
    pub depth: u32,
}

#[derive(Clone, Copy)]
pub(super) enum Task {
    Eval(NodeId),
    /// Applies a node's name to that many values.
    Apply(NodeId, usize),
    /// Binds the values of a `let`.
    Bind(NodeId),
    /// Ends the scope of that many names.
    Unbind(usize),
    /// Makes a quantifier of variables from this one on.
    Close(NodeId, usize),
    Cases(NodeId),
    Case(NodeId, usize, TermId),
    Join(NodeId, TermId),
    /// Leaves a macro: which, how many parameters, the frame of the caller.
    Return(usize, NodeId, u32),
}

/// Expanded macros hold no more nodes than this, all together.
const MAX_EXPANSION: usize = 50_000_000;
/// Constructors of unknown instances nest no deeper than this.
pub(super) const MAX_OPEN: u32 = 200;

/// The stacks of the machine and what it makes, kept from command to command.
pub(super) struct Workspace {
    pub formulas: Formulas,
    /// The `declare-var` variables that the command uses.
    pub rule_variables: Vec<(Sym, TermId)>,
    pub rule_index: FxHashMap<Sym, TermId>,
    pub locals: Vec<Vec<Local>>,
    bound: Vec<Sym>,
    quantified: Vec<(Sym, TermId)>,
    pub tasks: Vec<Task>,
    pub values: Vec<Value>,
    pub opens: Vec<Open>,
    pub expanded: FxHashMap<(usize, Vec<Value>), Value>,
    pub calls: Vec<Vec<Value>>,
    pub frame: u32,
    expansion: usize,
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

/// Gives meaning to the syntax of one command.
pub(super) struct Elaborator<'r, 't> {
    pub lexed: &'r Lexed<'t>,
    pub arena: &'r Arena,
    pub terms: &'r TermStore,
    pub environment: &'r mut Environment,
    pub work: &'r mut Workspace,
    /// Within a definition the variables of rules are not in scope.
    pub in_definition: bool,
}

impl Elaborator<'_, '_> {
    pub(super) fn error<T>(&self, token: u32, message: impl Into<String>) -> Result<T, InputError> {
        Err(self.lexed.error(token, message))
    }

    /// The value of a term of sort Bool.
    pub fn formula(&mut self, node: NodeId) -> Result<Value, InputError> {
        let token = self.arena.node(node).token;
        let value = self.value(node)?;
        self.as_formula(value, token)
    }

    /// The body of a definition with these formal variables as its parameters, and whether it
    /// is a plain term.
    pub fn definition(
        &mut self,
        parameters: &[(Sym, TermId)],
        result: SortId,
        body: NodeId,
    ) -> Result<Value, InputError> {
        for &(symbol, variable) in parameters {
            self.bind(symbol, Value::Term(variable));
        }
        let value = self.value(body)?;
        self.unbind(parameters.len());
        self.result(value, result, self.arena.node(body).token)
    }

    /// Checks a definition's value against its sort.
    pub(super) fn result(
        &mut self,
        value: Value,
        sort: SortId,
        token: u32,
    ) -> Result<Value, InputError> {
        match value {
            Value::Formula(_) if sort == SortId::BOOL => Ok(value),
            _ => Ok(Value::Term(self.term_of(
                value,
                sort,
                token,
                "the definition",
            )?)),
        }
    }

    pub(super) fn as_formula(&mut self, value: Value, token: u32) -> Result<Value, InputError> {
        match value {
            Value::Formula(_) => Ok(value),
            Value::Term(term) if self.terms.sort_of(term) == SortId::BOOL => Ok(value),
            _ => self.error(token, "a term of sort Bool is expected here"),
        }
    }

    pub(super) fn bind(&mut self, symbol: Sym, value: Value) {
        let frame = self.work.frame;
        self.work.locals[symbol.0 as usize].push(Local { value, frame });
        self.work.bound.push(symbol);
    }

    pub(super) fn unbind(&mut self, count: usize) {
        for _ in 0..count {
            if let Some(symbol) = self.work.bound.pop() {
                self.work.locals[symbol.0 as usize].pop();
            }
        }
    }

    pub(super) fn value(&mut self, root: NodeId) -> Result<Value, InputError> {
        let floor = self.work.tasks.len();
        self.work.tasks.push(Task::Eval(root));
        while self.work.tasks.len() > floor {
            if let Some(task) = self.work.tasks.pop() {
                self.perform(task)?;
            }
        }
        match self.work.values.pop() {
            Some(value) => Ok(value),
            None => self.error(self.arena.node(root).token, "a term is expected"),
        }
    }

    pub(super) fn pop(&mut self, count: usize) -> Vec<Value> {
        let at = self.work.values.len().saturating_sub(count);
        self.work.values.split_off(at)
    }

    pub(super) fn perform(&mut self, task: Task) -> Result<(), InputError> {
        match task {
            Task::Eval(node) => self.evaluate(node),
            Task::Apply(node, count) => {
                let arguments = self.pop(count);
                if let Syntax::Application(name, span) = self.arena.node(node).syntax {
                    self.apply(node, name, arguments, Some(span))?;
                }
                Ok(())
            }
            Task::Bind(node) => {
                if let Syntax::Let(span, body) = self.arena.node(node).syntax {
                    let values = self.pop(span.len());
                    let arena = self.arena;
                    for ((token, _), value) in arena.bindings(span).zip(values) {
                        let symbol = symbol_at(self.lexed, token)?;
                        self.bind(symbol, value);
                    }
                    self.work.tasks.push(Task::Unbind(span.len()));
                    self.work.tasks.push(Task::Eval(body));
                }
                Ok(())
            }
            Task::Unbind(count) => {
                self.unbind(count);
                Ok(())
            }
            Task::Close(node, from) => {
                let Syntax::Quantifier(universal, _, body) = self.arena.node(node).syntax else {
                    return Ok(());
                };
                let variables = self.work.quantified.split_off(from);
                self.unbind(variables.len());
                let value = self.pop(1)[0];
                let value = self.as_formula(value, self.arena.node(body).token)?;
                let token = self.arena.node(node).token;
                let value = match value {
                    Value::TRUE | Value::FALSE => value,
                    _ => self
                        .work
                        .formulas
                        .quantifier(universal, &variables, value, token),
                };
                self.work.values.push(value);
                Ok(())
            }
            Task::Cases(node) => self.cases(node),
            Task::Case(node, number, scrutinee) => self.case(node, number, scrutinee),
            Task::Join(node, scrutinee) => self.join(node, scrutinee),
            Task::Return(number, caller, frame) => {
                let definition = &self.environment.macros[number];
                let (count, result) = (definition.parameters.len(), definition.result);
                self.unbind(count);
                self.work.frame = frame;
                let value = self.pop(1)[0];
                let value = self.result(value, result, self.arena.node(caller).token)?;
                let arguments = self.work.calls.pop().unwrap_or_default();
                self.work.expanded.insert((number, arguments), value);
                self.work.values.push(value);
                Ok(())
            }
        }
    }

    pub(super) fn evaluate(&mut self, id: NodeId) -> Result<(), InputError> {
        let node = self.arena.node(id);
        if self.work.frame > 0 {
            self.expand(1, node.token)?;
        }
        match node.syntax {
            Syntax::Constant => {
                let term = self.constant(node.token)?;
                self.work.values.push(Value::Term(term));
            }
            Syntax::Name(name) => self.apply(id, name, Vec::new(), None)?,
            Syntax::Application(name, span) => self.push_arguments(id, name, span),
            Syntax::Let(span, _) => {
                self.distinct(self.arena.bindings(span).map(|b| b.0))?;
                self.work.tasks.push(Task::Bind(id));
                let bindings = self.arena.bindings(span).rev();
                self.work.tasks.extend(bindings.map(|b| Task::Eval(b.1)));
            }
            Syntax::Quantifier(_, span, body) => {
                let arena = self.arena;
                let from = self.work.quantified.len();
                for (token, sort) in arena.variables(span) {
                    let symbol = symbol_at(self.lexed, token)?;
                    let sort = self.environment.sorts.resolve(self.lexed, arena, sort)?;
                    let name = self.lexed.symbols.name(symbol);
                    let variable = self.terms.fresh_var(name, sort);
                    self.work.quantified.push((symbol, variable));
                    self.bind(symbol, Value::Term(variable));
                }
                self.work.tasks.push(Task::Close(id, from));
                self.work.tasks.push(Task::Eval(body));
            }
            Syntax::Match(term, _) => {
                self.work.tasks.push(Task::Cases(id));
                self.work.tasks.push(Task::Eval(term));
            }
        }
        Ok(())
    }

    pub(super) fn expand(&mut self, size: usize, token: u32) -> Result<(), InputError> {
        self.work.expansion += size;
        if self.work.expansion > MAX_EXPANSION {
            return self.error(token, "the expansion of definitions is too large");
        }
        Ok(())
    }

    pub(super) fn distinct(&self, tokens: impl Iterator<Item = u32>) -> Result<(), InputError> {
        let mut seen = rustc_hash::FxHashSet::default();
        for token in tokens {
            if !seen.insert(symbol_at(self.lexed, token)?) {
                let name = shorten(self.lexed.source(token));
                return self.error(token, format!("`{name}` is bound twice here"));
            }
        }
        Ok(())
    }

    /// Schedules an application. Nested sums and products become one: adding terms one by one to
    /// a long sum would take quadratic time.
    pub(super) fn push_arguments(&mut self, id: NodeId, name: Name, span: Span) {
        let arena = self.arena;
        let operator = |name: &Name| match self.lexed.symbol(name.symbol) {
            Some(symbol) if name.indexes.len() == 0 && name.sort.is_none() => self
                .builtin(symbol)
                .filter(|op| matches!(op, Builtin::Add | Builtin::Mul)),
            _ => None,
        };
        let this = operator(&name);
        if this.is_none() {
            let children = arena.children(span);
            self.work.tasks.push(Task::Apply(id, children.len()));
            let children = children.iter().rev();
            self.work.tasks.extend(children.map(|&c| Task::Eval(c)));
            return;
        }
        let mut flat = Vec::new();
        let mut stack: Vec<NodeId> = arena.children(span).iter().rev().copied().collect();
        while let Some(child) = stack.pop() {
            match arena.node(child).syntax {
                Syntax::Application(inner, span) if operator(&inner) == this => {
                    stack.extend(arena.children(span).iter().rev());
                }
                _ => flat.push(child),
            }
        }
        self.work.tasks.push(Task::Apply(id, flat.len()));
        let flat = flat.into_iter().rev();
        self.work.tasks.extend(flat.map(Task::Eval));
    }

    pub(super) fn builtin(&self, symbol: Sym) -> Option<Builtin> {
        let found = BUILTINS.get(symbol.0 as usize)?;
        (!self.environment.globals.contains_key(&symbol)).then_some(found.1)
    }

    pub(super) fn constant(&self, token: u32) -> Result<TermId, InputError> {
        let source = self.lexed.source(token);
        let digits = |text: &str, radix: u32| {
            BigUint::from_str_radix(text, radix)
                .map_err(|_| self.lexed.error(token, "a literal that cannot be read"))
        };
        let width = |bits: usize| match u32::try_from(bits) {
            Ok(bits) if bits <= MAX_WIDTH => Ok(bits),
            _ => Err(self
                .lexed
                .error(token, format!("a literal of more than {MAX_WIDTH} bits"))),
        };
        match self.lexed.tokens[token as usize].kind {
            Kind::Numeral => match source.parse::<i64>() {
                Ok(value) => Ok(self.terms.int(value)),
                Err(_) => Ok(self.terms.int(BigInt::from(digits(source, 10)?))),
            },
            Kind::Decimal => {
                let (whole, fraction) = source.split_once('.').unwrap_or((source, ""));
                let value = digits(&format!("{whole}{fraction}"), 10)?;
                let scale = BigUint::from(10u32).pow(fraction.len() as u32);
                let value = Rational::new(value.into(), scale.into());
                Ok(self.terms.real(value))
            }
            Kind::Hexadecimal => {
                let width = width(4 * (source.len() - 2))?;
                Ok(self.terms.bitvec(digits(&source[2..], 16)?, width))
            }
            Kind::Binary => {
                let width = width(source.len() - 2)?;
                Ok(self.terms.bitvec(digits(&source[2..], 2)?, width))
            }
            _ => self.error(token, "strings are not supported"),
        }
    }

    /// The value as a term of this sort; `user` names what wants it.
    pub(super) fn term_of(
        &mut self,
        value: Value,
        sort: SortId,
        token: u32,
        user: &str,
    ) -> Result<TermId, InputError> {
        if let Value::Open(open) = value {
            return self.settle(open, sort);
        }
        let term = self.term(value, token, user)?;
        let operators = Operators {
            terms: self.terms,
            name: user,
        };
        operators
            .convert(term, sort)
            .map_err(|message| self.lexed.error(token, message))
    }

    /// The value as a term of whatever sort it has.
    pub(super) fn term(
        &mut self,
        value: Value,
        token: u32,
        user: &str,
    ) -> Result<TermId, InputError> {
        match value {
            Value::Term(term) => Ok(term),
            Value::Formula(_) => {
                if let Some(at) = self.work.formulas.predicate_in(value) {
                    let name = shorten(self.lexed.source(at + u32::from(self.lexed.is_open(at))));
                    let message = format!("the predicate `{name}` inside `{user}` is not Horn");
                    return self.error(at, message);
                }
                let lowered = self.work.formulas.lower(value);
                lowered.map_err(|message| self.lexed.error(token, message))
            }
            Value::Open(open) => {
                let token = self.work.opens[open as usize].token;
                self.error(
                    token,
                    "the sort of this constructor is not determined: write (as … SORT)",
                )
            }
        }
    }
}
