//! From tokens to values, in one traversal.
//!
//! The traversal has an explicit stack of tasks. `let` binds values, so shared terms stay shared. A
//! macro is expanded in a new frame, where only its parameters are in scope.
//!
//! Invariant: predicates occur in values that are formulas; in terms, variables stand for them
//! (`Formulas::lift`).

use num_bigint::{BigInt, BigUint};
use num_traits::Num;
use rustc_hash::FxHashSet;

use super::builtins::{BUILTINS, Builtin};
use super::environment::{Environment, Local, Task, Workspace};
use super::error::{ErrorKind, InputError, SyntaxError, TermError};
use super::formula::Value;
use super::lexer::{Kind, Lexed, Reserved, Sym, TokenId};
use super::operators::Operators;
use super::sorts::MAX_WIDTH;
use super::syntax::{Elements, Named, QualifiedName};
use crate::limits::LIMITS;
use alphorn_term::{Rational, SortId, TermId, TermStore};

/// Translates the terms of one command.
pub(super) struct Elaborator<'r, 't> {
    pub lexed: &'r Lexed<'t>,
    pub terms: &'r TermStore,
    pub environment: &'r mut Environment,
    pub work: &'r mut Workspace,
    /// Whether this is the body of a definition, where variables of rules are not in scope.
    pub in_definition: bool,
    /// Whether names of terms stand for them.
    pub names_formulas: bool,
}

impl Elaborator<'_, '_> {
    pub(super) fn error<T>(
        &self,
        token: TokenId,
        kind: impl Into<ErrorKind>,
    ) -> Result<T, InputError> {
        Err(self.lexed.error(token, kind))
    }

    /// The value of a term of sort Bool.
    pub fn formula(&mut self, term: TokenId) -> Result<Value, InputError> {
        let value = self.value(term)?;
        self.as_formula(value, term)
    }

    /// The value of the body of a definition with these parameters and formal variables.
    pub fn definition(
        &mut self,
        parameters: &[(Sym, TermId)],
        result: SortId,
        body: TokenId,
    ) -> Result<Value, InputError> {
        for &(symbol, variable) in parameters {
            self.bind(symbol, Value::Term(variable));
        }
        let value = self.value(body)?;
        self.unbind(parameters.len());
        self.result(value, result, body)
    }

    /// The value as one of sort `sort`; fails if it has another sort.
    pub(super) fn result(
        &mut self,
        value: Value,
        sort: SortId,
        token: TokenId,
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

    fn as_formula(&mut self, value: Value, token: TokenId) -> Result<Value, InputError> {
        match value {
            Value::Formula(_) => Ok(value),
            Value::Term(term) if self.terms.sort_of(term) == SortId::BOOL => Ok(value),
            _ => self.error(token, TermError::BoolExpected),
        }
    }

    /// The value of a local name in the current frame.
    pub(super) fn local(&self, symbol: Sym) -> Option<Value> {
        let local = self.work.locals[symbol.0 as usize].last()?;
        (local.frame == self.work.frame).then_some(local.value)
    }

    pub(super) fn bind(&mut self, symbol: Sym, value: Value) {
        let frame = self.work.frame;
        self.work.locals[symbol.0 as usize].push(Local { value, frame });
        self.work.bound.push(symbol);
    }

    fn unbind(&mut self, count: usize) {
        for _ in 0..count {
            if let Some(symbol) = self.work.bound.pop() {
                self.work.locals[symbol.0 as usize].pop();
            }
        }
    }

    fn value(&mut self, root: TokenId) -> Result<Value, InputError> {
        self.work.tasks.push(Task::Eval(root));
        while let Some(task) = self.work.tasks.pop() {
            self.perform(task)?;
        }
        Ok(self.pop())
    }

    /// Takes the result of the last task.
    pub(super) fn pop(&mut self) -> Value {
        self.work.values.pop().expect("each term has a value")
    }

    pub(super) fn pop_many(&mut self, count: usize) -> Vec<Value> {
        let at = self.work.values.len() - count;
        self.work.values.split_off(at)
    }

    fn perform(&mut self, task: Task) -> Result<(), InputError> {
        match task {
            Task::Eval(term) => self.evaluate(term),
            Task::Apply(term, count) => {
                let arguments = self.pop_many(count);
                let name = self
                    .lexed
                    .qualified_name(self.lexed.list(term)?.expect()?)?;
                self.apply(term, name, arguments)
            }
            Task::Bind(term) => {
                let (bindings, body) = self.lexed.binder(term)?;
                let names = bindings.map(|b| Ok(self.lexed.binding(b)?.name.symbol));
                let names: Vec<Sym> = names.collect::<Result<_, InputError>>()?;
                for (&name, value) in names.iter().zip(self.pop_many(names.len())) {
                    self.bind(name, value);
                }
                self.work.tasks.push(Task::Unbind(names.len()));
                self.work.tasks.push(Task::Eval(body));
                Ok(())
            }
            Task::Unbind(count) => {
                self.unbind(count);
                Ok(())
            }
            Task::Close(term, from) => {
                let (_, body) = self.lexed.binder(term)?;
                let universal = self.lexed.reserved_word(term) == Some(Reserved::Forall);
                let variables = self.work.quantified.split_off(from);
                self.unbind(variables.len());
                let value = self.pop();
                let value = match self.as_formula(value, body)? {
                    value @ (Value::TRUE | Value::FALSE) => value,
                    value if variables.is_empty() => value,
                    value => {
                        let value = self.guarded(universal, &variables, value, term);
                        let formulas = &mut self.work.formulas;
                        formulas.quantifier(universal, &variables, value, term)
                    }
                };
                self.work.values.push(value);
                Ok(())
            }
            Task::Name(term) => self.record_name(term),
            Task::Cases(term) => self.cases(term),
            Task::Case(case, scrutinee) => self.case(case, scrutinee),
            Task::Join(term, scrutinee) => self.join(term, scrutinee),
            Task::Return(number, caller, frame) => {
                let definition = &self.environment.macros[number];
                let (count, result) = (definition.parameters.len(), definition.result);
                self.unbind(count);
                self.work.frame = frame;
                let value = self.pop();
                let value = self.result(value, result, caller)?;
                let arguments = self.work.calls.pop().unwrap_or_default();
                self.work.expanded.insert((number, arguments), value);
                self.work.values.push(value);
                Ok(())
            }
        }
    }

    fn evaluate(&mut self, term: TokenId) -> Result<(), InputError> {
        let lexed = self.lexed;
        if self.work.frame > 0 {
            self.expand(1, term)?;
        }
        let Some(mut parts) = lexed.elements(term) else {
            return match lexed.kind(term) {
                Kind::Symbol(_) => self.apply(term, lexed.qualified_name(term)?, Vec::new()),
                Kind::Reserved(_) | Kind::Keyword => Err(lexed.unexpected(term)),
                _ => {
                    let value = Value::Term(self.constant(term)?);
                    self.work.values.push(value);
                    Ok(())
                }
            };
        };
        let first = parts.expect()?;
        match lexed.kind(first) {
            Kind::Reserved(Reserved::Underscore | Reserved::As) => {
                self.apply(term, lexed.qualified_name(term)?, Vec::new())
            }
            Kind::Reserved(Reserved::Let) => {
                let (bindings, _) = lexed.binder(term)?;
                self.distinct(bindings.map(|b| Ok(lexed.binding(b)?.name)))?;
                self.work.tasks.push(Task::Bind(term));
                for binding in bindings.rev() {
                    let meaning = lexed.binding(binding)?.meaning;
                    self.work.tasks.push(Task::Eval(meaning));
                }
                Ok(())
            }
            Kind::Reserved(Reserved::Forall | Reserved::Exists) => {
                let (bindings, body) = lexed.binder(term)?;
                let from = self.work.quantified.len();
                for binding in bindings {
                    let binding = lexed.binding(binding)?;
                    let sort = self.environment.sorts.resolve(lexed, binding.meaning)?;
                    let symbol = binding.name.symbol;
                    let variable = self.terms.fresh_var(lexed.symbols.name(symbol), sort);
                    let guard = self.environment.guard(lexed, binding.meaning, variable)?;
                    if !guard.is_empty() {
                        self.work.guards.insert(variable, guard);
                    }
                    self.work.quantified.push((symbol, variable));
                    self.bind(symbol, Value::Term(variable));
                }
                self.work.tasks.push(Task::Close(term, from));
                self.work.tasks.push(Task::Eval(body));
                Ok(())
            }
            Kind::Reserved(Reserved::Match) => self.enter_match(term),
            Kind::Reserved(Reserved::Bang) => {
                let (annotated, name) = lexed.annotated(term)?;
                if name.is_some() {
                    self.work.tasks.push(Task::Name(term));
                }
                self.work.tasks.push(Task::Eval(annotated));
                Ok(())
            }
            Kind::Symbol(_) | Kind::Open(_) => self.push_arguments(term),
            _ => Err(lexed.unexpected(first)),
        }
    }

    /// The body of a quantifier, for values of the variables' sorts only.
    fn guarded(
        &mut self,
        universal: bool,
        variables: &[(Sym, TermId)],
        body: Value,
        token: TokenId,
    ) -> Value {
        let guards = variables.iter().filter_map(|v| self.work.guards.get(&v.1));
        let guards: Vec<TermId> = guards.flatten().copied().collect();
        if guards.is_empty() {
            return body;
        }
        let guard = self.terms.and(&guards);
        let formulas = &mut self.work.formulas;
        match universal {
            true => formulas.or(&[Value::Term(self.terms.not(guard)), body], token),
            false => formulas.and(&[Value::Term(guard), body], token),
        }
    }

    pub(super) fn expand(&mut self, size: usize, token: TokenId) -> Result<(), InputError> {
        self.work.expansion += size;
        if self.work.expansion > LIMITS.max_expanded_nodes {
            return self.error(token, TermError::LargeExpansion);
        }
        Ok(())
    }

    /// Fails if a name occurs twice.
    pub(super) fn distinct(
        &self,
        names: impl Iterator<Item = Result<Named, InputError>>,
    ) -> Result<(), InputError> {
        let mut seen = FxHashSet::default();
        for name in names {
            let name = name?;
            if !seen.insert(name.symbol) {
                return Err(self.lexed.name_error(name, TermError::BoundTwice));
            }
        }
        Ok(())
    }

    /// Schedules an application. Nested sums and products are flattened, since adding terms one by
    /// one to a long sum takes quadratic time.
    fn push_arguments(&mut self, term: TokenId) -> Result<(), InputError> {
        let lexed = self.lexed;
        let mut arguments = lexed.list(term)?;
        let head = arguments.expect()?;
        let name = lexed.qualified_name(head)?;
        let arguments = arguments.at_least_one()?;
        self.refuse_unknown_binder(term, name, arguments)?;
        let flattened = |symbol: Option<Sym>| {
            let op = symbol.and_then(|symbol| self.builtin(symbol));
            op.filter(|op| matches!(op, Builtin::Add | Builtin::Mul))
        };
        let operator = flattened(lexed.symbol(head));
        if operator.is_none() {
            let tasks = &mut self.work.tasks;
            tasks.push(Task::Apply(term, arguments.count()));
            tasks.extend(arguments.rev().map(Task::Eval));
            return Ok(());
        }
        let mut flat = Vec::new();
        let mut stack: Vec<TokenId> = arguments.rev().collect();
        while let Some(child) = stack.pop() {
            let nested = lexed.elements(child).and_then(|mut parts| {
                let head = parts.next()?;
                let same = flattened(lexed.symbol(head)) == operator && !parts.is_empty();
                same.then_some(parts)
            });
            match nested {
                Some(arguments) => stack.extend(arguments.rev()),
                None => flat.push(child),
            }
        }
        self.work.tasks.push(Task::Apply(term, flat.len()));
        self.work
            .tasks
            .extend(flat.into_iter().rev().map(Task::Eval));
        Ok(())
    }

    /// Fails on Z3's binders `lambda` and `choice`, unless the user has declared the name.
    fn refuse_unknown_binder(
        &self,
        term: TokenId,
        name: QualifiedName<'_, '_>,
        mut arguments: Elements<'_, '_>,
    ) -> Result<(), InputError> {
        let symbol = name.identifier.name.symbol;
        let text = self.lexed.symbols.name(symbol);
        let first = arguments.next().and_then(|list| self.lexed.elements(list));
        if matches!(text, "lambda" | "choice")
            && !self.environment.globals.contains_key(&symbol)
            && first.is_some_and(|mut l| l.next().is_some_and(|b| self.lexed.elements(b).is_some()))
        {
            return self.error(term, SyntaxError::UnsupportedBinder(text.to_owned()));
        }
        Ok(())
    }

    pub(super) fn builtin(&self, symbol: Sym) -> Option<Builtin> {
        let found = BUILTINS.get(symbol.0 as usize)?;
        (!self.environment.globals.contains_key(&symbol)).then_some(found.1)
    }

    fn constant(&self, token: TokenId) -> Result<TermId, InputError> {
        let source = self.lexed.source(token);
        let digits = |text: &str, radix: u32| {
            BigUint::from_str_radix(text, radix).expect("the lexer has checked the digits")
        };
        let width = |bits: usize| match u32::try_from(bits) {
            Ok(bits) if bits <= MAX_WIDTH => Ok(bits),
            _ => self.error(token, TermError::LiteralWidth(MAX_WIDTH)),
        };
        match self.lexed.kind(token) {
            Kind::Numeral => match source.parse::<i64>() {
                Ok(value) => Ok(self.terms.int(value)),
                Err(_) => Ok(self.terms.int(BigInt::from(digits(source, 10)))),
            },
            Kind::Decimal => {
                let (whole, fraction) = source.split_once('.').unwrap_or((source, ""));
                let value = digits(&format!("{whole}{fraction}"), 10);
                let scale = BigUint::from(10u32).pow(fraction.len() as u32);
                let value = Rational::new(value.into(), scale.into());
                Ok(self.terms.real(value))
            }
            Kind::Hexadecimal => {
                let width = width(4 * (source.len() - 2))?;
                Ok(self.terms.bitvec(digits(&source[2..], 16), width))
            }
            Kind::Binary => {
                let width = width(source.len() - 2)?;
                Ok(self.terms.bitvec(digits(&source[2..], 2), width))
            }
            _ => self.error(token, TermError::Strings),
        }
    }

    /// The value as a term of this sort; `user` is the name of the operator in errors.
    pub(super) fn term_of(
        &mut self,
        value: Value,
        sort: SortId,
        token: TokenId,
        user: &str,
    ) -> Result<TermId, InputError> {
        if let Value::Open(open) = value {
            return self.settle(open, sort);
        }
        let term = self.term(value, token)?;
        let operators = Operators {
            terms: self.terms,
            name: user,
        };
        let converted = operators.convert(term, sort);
        converted.map_err(|kind| self.lexed.error(token, kind))
    }

    /// The value as a term of any sort.
    pub(super) fn term(&mut self, value: Value, token: TokenId) -> Result<TermId, InputError> {
        match value {
            Value::Term(term) => Ok(term),
            Value::Formula(_) => {
                let formulas = &mut self.work.formulas;
                if formulas.predicate_in(value).is_some() {
                    return Ok(formulas.lift(value));
                }
                let lowered = formulas.lower(value);
                lowered.map_err(|kind| self.lexed.error(token, kind))
            }
            Value::Open(open) => {
                let token = self.work.opens[open as usize].token;
                self.error(token, TermError::UnknownInstance)
            }
        }
    }
}
