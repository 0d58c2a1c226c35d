//! Applications: resolves a name to a declaration or an operator and applies it.
//!
//! Local names come first, then the user's declarations, then constructors and selectors, then
//! built-in operators.
//!
//! Invariant: an atom of a predicate is part of a formula; in a term a variable stands for it.

use num_bigint::BigUint;

use super::builtins::Builtin;
use super::constructor_counts::SIZE;
use super::elaborate::Elaborator;
use super::environment::{Global, Task};
use super::error::{InputError, TermError, shorten};
use super::formula::Value;
use super::lexer::TokenId;
use super::operators::Operators;
use super::sorts::MAX_WIDTH;
use super::syntax::{Elements, Identifier, Named, QualifiedName};
use super::warnings::Nonstandard;
use alphorn_term::{Sort, SortId, TermId};

impl Elaborator<'_, '_> {
    /// Applies a name to values: pushes the result, or the tasks that compute it.
    pub(super) fn apply(
        &mut self,
        term: TokenId,
        name: QualifiedName<'_, '_>,
        arguments: Vec<Value>,
    ) -> Result<(), InputError> {
        let QualifiedName { identifier, sort } = name;
        let Identifier { name, indexes } = identifier;
        let value = match (indexes, sort) {
            (Some(indexes), None) => self.indexed(name, indexes, &arguments, term)?,
            (Some(indexes), Some(sort)) => {
                let value = self.indexed(name, indexes, &arguments, term)?;
                let sort = self.environment.sorts.resolve(self.lexed, sort)?;
                self.result(value, sort, term)?
            }
            (None, Some(sort)) => self.qualified(name, sort, arguments, term)?,
            (None, None) => match self.local(name.symbol) {
                Some(value) if arguments.is_empty() => value,
                _ => match self.environment.globals.get(&name.symbol) {
                    Some(&Global::Macro(number)) => {
                        return self.call(number, name, arguments, term);
                    }
                    Some(&global) => self.global(global, name, &arguments, term)?,
                    None => match self.name_of_formula(name)? {
                        Some(number) => return self.call(number, name, arguments, term),
                        None => self.plain(name, arguments, term)?,
                    },
                },
            },
        };
        self.work.values.push(value);
        Ok(())
    }

    fn global(
        &mut self,
        global: Global,
        name: Named,
        arguments: &[Value],
        term: TokenId,
    ) -> Result<Value, InputError> {
        let lexed = self.lexed;
        let text = lexed.symbols.name(name.symbol);
        match global {
            Global::Predicate(id) => {
                let params = &self.environment.predicates[id.index()].params;
                let sorts: Vec<SortId> = params.iter().map(|&p| self.terms.sort_of(p)).collect();
                let terms = self.arguments(name, &sorts, arguments, term)?;
                Ok(self.work.formulas.atom(id, &terms, term))
            }
            Global::Function(id) => {
                let sorts = &self.terms.function(id).params;
                let sorts: Vec<SortId> = sorts.iter().map(|&p| self.terms.sort_of(p)).collect();
                let terms = self.arguments(name, &sorts, arguments, term)?;
                Ok(Value::Term(self.terms.call(id, &terms)))
            }
            Global::Size(sort) => {
                let terms = self.arguments(name, &[sort], arguments, term)?;
                Ok(Value::Term(self.terms.size(terms[0])))
            }
            Global::Variable(sort) if arguments.is_empty() => {
                if self.in_definition {
                    return Err(lexed.name_error(name, TermError::RuleVariableInDefinition));
                }
                if let Some(&variable) = self.work.rule_index.get(&name.symbol) {
                    return Ok(Value::Term(variable));
                }
                let variable = self.terms.fresh_var(text, sort);
                let environment = &self.environment;
                if let Some(written) = environment.variable_sorts.get(&name.symbol) {
                    let guard = environment.guard_of(lexed, name.token, written, variable)?;
                    self.work.guards.insert(variable, guard);
                }
                self.work.rule_index.insert(name.symbol, variable);
                self.work.rule_variables.push((name.symbol, variable));
                Ok(Value::Term(variable))
            }
            Global::Constant(variable) if arguments.is_empty() => {
                lexed.warn(name.token, Nonstandard::FreeConstant(shorten(text)))?;
                Ok(Value::Term(variable))
            }
            Global::FreeFunction(array, count) => {
                let mut sorts = Vec::with_capacity(count);
                let mut rest = self.terms.sort_of(array);
                while let (true, Sort::Array(index, element)) =
                    (sorts.len() < count, self.terms.sort(rest))
                {
                    sorts.push(index);
                    rest = element;
                }
                let arguments = self.arguments(name, &sorts, arguments, term)?;
                lexed.warn(name.token, Nonstandard::FreeFunction(shorten(text)))?;
                let select = |value, argument| self.terms.select(value, argument);
                Ok(Value::Term(arguments.into_iter().fold(array, select)))
            }
            Global::Variable(_) | Global::Constant(_) => {
                Err(lexed.name_error(name, TermError::AppliedVariable))
            }
            Global::Uninterpreted | Global::Macro(_) => {
                Err(lexed.name_error(name, TermError::Uninterpreted))
            }
        }
    }

    /// The arguments as terms of these sorts.
    pub(super) fn arguments(
        &mut self,
        name: Named,
        sorts: &[SortId],
        arguments: &[Value],
        term: TokenId,
    ) -> Result<Vec<TermId>, InputError> {
        let lexed = self.lexed;
        self.arity(name, sorts.len(), arguments.len())?;
        let mut places = lexed.elements(term).into_iter().flatten().skip(1);
        let mut terms = Vec::with_capacity(sorts.len());
        for (&argument, &sort) in arguments.iter().zip(sorts) {
            let place = places.next().unwrap_or(term);
            let text = lexed.symbols.name(name.symbol);
            terms.push(self.term_of(argument, sort, place, text)?);
        }
        Ok(terms)
    }

    /// Fails unless the numbers of expected and given arguments are equal.
    pub(super) fn arity(&self, name: Named, takes: usize, found: usize) -> Result<(), InputError> {
        if takes == found {
            return Ok(());
        }
        Err(self
            .lexed
            .name_error(name, |name| TermError::ArgumentCount {
                name,
                takes: takes.to_string(),
                found,
            }))
    }

    fn call(
        &mut self,
        number: usize,
        name: Named,
        arguments: Vec<Value>,
        term: TokenId,
    ) -> Result<(), InputError> {
        let definition = &self.environment.macros[number];
        let parameters = definition.parameters.clone();
        let (body, size) = (definition.body, definition.size);
        let lexed = self.lexed;
        let text = lexed.symbols.name(name.symbol);
        self.arity(name, parameters.len(), arguments.len())?;
        let mut values = Vec::with_capacity(arguments.len());
        let mut terms = Vec::with_capacity(arguments.len());
        for (&argument, &(_, sort)) in arguments.iter().zip(&parameters) {
            if sort == SortId::BOOL && self.work.formulas.predicate_in(argument).is_some() {
                values.push(argument);
                continue;
            }
            let argument = self.term_of(argument, sort, term, text)?;
            terms.push(argument);
            values.push(Value::Term(argument));
        }
        if let Some(&value) = self.work.expanded.get(&(number, values.clone())) {
            self.work.values.push(value);
            return Ok(());
        }
        let plain = &self.environment.macros[number].plain;
        if let Some((plain, formals)) = plain
            && terms.len() == formals.len()
        {
            if terms.is_empty() {
                self.work.values.push(Value::Term(*plain));
                return Ok(());
            }
            let map = formals.iter().copied().zip(terms).collect();
            let plain = *plain;
            self.expand(size, term)?;
            let value = Value::Term(self.terms.substitute(plain, &map));
            self.work.expanded.insert((number, values), value);
            self.work.values.push(value);
            return Ok(());
        }
        let caller = self.work.frame;
        // The frame of a call differs from those of all calls around it, so the names bound there
        // are not visible here.
        self.work.frame = caller + 1;
        for (&(symbol, _), &value) in parameters.iter().zip(&values) {
            self.bind(symbol, value);
        }
        self.work.calls.push(values);
        self.work.tasks.push(Task::Return(number, term, caller));
        self.work.tasks.push(Task::Eval(body));
        Ok(())
    }

    fn plain(
        &mut self,
        name: Named,
        arguments: Vec<Value>,
        term: TokenId,
    ) -> Result<Value, InputError> {
        let lexed = self.lexed;
        let text = lexed.symbols.name(name.symbol);
        if !self.environment.sorts.constructors(name.symbol).is_empty() {
            return self.constructor(name, arguments, term);
        }
        if !self.environment.sorts.selectors(name.symbol).is_empty() {
            return self.selector(name, &arguments, term);
        }
        if let Some(builtin) = self.builtin(name.symbol) {
            if text == "bv2int" {
                lexed.warn(name.token, Nonstandard::Bv2Int)?;
            }
            return self.operator(builtin, text, &[], arguments, term);
        }
        if let Some(constructor) = text
            .strip_prefix("is-")
            .and_then(|rest| lexed.symbols.find(rest))
            && !self.environment.sorts.constructors(constructor).is_empty()
        {
            return self.tester(name, constructor, &arguments, term);
        }
        if self.local(name.symbol).is_some() {
            return Err(lexed.name_error(name, TermError::AppliedVariable));
        }
        if let Some(operation) = self.heap_operation(name) {
            return self.apply_heap(operation, name, &arguments, term);
        }
        if let (Some(places), &[Value::Term(argument)]) =
            (&mut self.environment.size_places, arguments.as_slice())
            && text == SIZE
        {
            places.push((name.token, self.terms.sort_of(argument)));
            return Ok(Value::Term(self.terms.int(0)));
        }
        if arguments.is_empty()
            && let Some(value) = self.signed_numeral(name)?
        {
            return Ok(value);
        }
        Err(lexed.name_error(name, TermError::Undeclared))
    }

    /// `(_ NAME INDEX …)`, alone or applied.
    fn indexed(
        &mut self,
        name: Named,
        indexes: Elements<'_, '_>,
        arguments: &[Value],
        term: TokenId,
    ) -> Result<Value, InputError> {
        let lexed = self.lexed;
        let text = lexed.symbols.name(name.symbol);
        let unsupported = || TermError::UnsupportedIndexed(shorten(text));
        let mut numerals = Vec::new();
        for index in indexes {
            match (lexed.symbol(index), text) {
                (Some(constructor), "is") if indexes.count() == 1 => {
                    return self.tester(name, constructor, arguments, term);
                }
                (Some(selector), "update-field") if indexes.count() == 1 => {
                    return self.update(name, selector, arguments, term);
                }
                (Some(_), _) => return self.error(term, unsupported()),
                (None, _) => {
                    let numeral = lexed.source(index).parse::<BigUint>();
                    numerals.push(numeral.expect("the lexer has checked the digits"));
                }
            }
        }
        let digits = text.strip_prefix("bv").filter(|d| !d.is_empty());
        if let (Some(digits), [width], []) = (digits, &numerals[..], arguments)
            && digits.bytes().all(|b| b.is_ascii_digit())
        {
            let value: Option<BigUint> = digits.parse().ok();
            let width = u32::try_from(width).ok();
            return match (value, width) {
                (Some(value), Some(width @ 1..=MAX_WIDTH)) => {
                    Ok(Value::Term(self.terms.bitvec(value, width)))
                }
                _ => self.error(term, TermError::BitVectorWidth(MAX_WIDTH)),
            };
        }
        match self.builtin(name.symbol) {
            Some(builtin) => self.operator(builtin, text, &numerals, arguments.to_vec(), term),
            None => self.error(term, unsupported()),
        }
    }

    /// `(as NAME SORT)`, alone or applied.
    fn qualified(
        &mut self,
        name: Named,
        sort: TokenId,
        arguments: Vec<Value>,
        term: TokenId,
    ) -> Result<Value, InputError> {
        let lexed = self.lexed;
        let sort = self.environment.sorts.resolve(lexed, sort)?;
        if lexed.symbols.name(name.symbol) == "const" && arguments.len() == 1 {
            let Sort::Array(_, element) = self.terms.sort(sort) else {
                return self.error(term, TermError::ConstOfNoArray);
            };
            let element = self.term_of(arguments[0], element, term, "const")?;
            return Ok(Value::Term(self.terms.const_array(sort, element)));
        }
        let sorts = &self.environment.sorts;
        let generic = sorts.instance(sort).map(|i| i.1);
        let mut constructors = sorts.constructors(name.symbol).iter();
        if let Some(&constructor) = constructors.find(|c| Some(c.generic) == generic) {
            self.arity(name, sorts.arity(constructor), arguments.len())?;
            let value = self.build(constructor, &arguments, sort, term)?;
            return Ok(Value::Term(value));
        }
        let local = self.local(name.symbol);
        if local.is_none()
            && let Some(operation) = self.heap_operation(name)
        {
            let value = self.apply_heap(operation, name, &arguments, term)?;
            return self.result(value, sort, term);
        }
        match local {
            Some(value) if arguments.is_empty() => self.result(value, sort, term),
            _ => {
                let shown = shorten(lexed.symbols.name(name.symbol));
                self.error(term, TermError::UnsupportedQualified(shown))
            }
        }
    }

    pub(super) fn operator(
        &mut self,
        op: Builtin,
        text: &str,
        indexes: &[BigUint],
        mut arguments: Vec<Value>,
        token: TokenId,
    ) -> Result<Value, InputError> {
        let is_formula = |v: &Value| matches!(v, Value::Formula(_));
        if arguments.iter().any(is_formula)
            && indexes.is_empty()
            && let Some(value) = self.connective(op, text, &arguments, token)?
        {
            return Ok(value);
        }
        if arguments.iter().any(|v| matches!(v, Value::Open(_))) {
            self.settle_arguments(op, text, &mut arguments, token)?;
        }
        let mut terms = Vec::with_capacity(arguments.len());
        for &argument in &arguments {
            terms.push(self.term(argument, token)?);
        }
        let operators = Operators {
            terms: self.terms,
            name: text,
        };
        match operators.apply(op, indexes, &terms) {
            Ok(term) => Ok(Value::Term(term)),
            Err(kind) => self.error(token, kind),
        }
    }

    /// Gives constructors of unknown instances the sort that the other arguments of the operator
    /// imply.
    fn settle_arguments(
        &mut self,
        op: Builtin,
        text: &str,
        arguments: &mut [Value],
        token: TokenId,
    ) -> Result<(), InputError> {
        let sort_of = |value: &Value| match value {
            Value::Term(term) => Some(self.terms.sort_of(*term)),
            _ => None,
        };
        let array = arguments.first().and_then(sort_of);
        let array = array.map(|sort| self.terms.sort(sort));
        let common = match op {
            Builtin::Eq | Builtin::Distinct => arguments.iter().find_map(sort_of),
            Builtin::Ite => arguments.iter().skip(1).find_map(sort_of),
            _ => None,
        };
        let wanted: Vec<Option<SortId>> = (0..arguments.len())
            .map(|number| match (op, array, number) {
                (Builtin::Select | Builtin::Store, Some(Sort::Array(index, _)), 1) => Some(index),
                (Builtin::Store, Some(Sort::Array(_, element)), 2) => Some(element),
                _ => common,
            })
            .collect();
        for (argument, wanted) in arguments.iter_mut().zip(wanted) {
            if let (Value::Open(_), Some(sort)) = (*argument, wanted) {
                *argument = Value::Term(self.term_of(*argument, sort, token, text)?);
            }
        }
        Ok(())
    }

    /// A connective over formulas; `None` if the arguments should become terms instead.
    fn connective(
        &mut self,
        op: Builtin,
        text: &str,
        arguments: &[Value],
        token: TokenId,
    ) -> Result<Option<Value>, InputError> {
        let counted = match op {
            Builtin::Not => arguments.len() == 1,
            Builtin::Ite => arguments.len() == 3,
            Builtin::Implies | Builtin::Eq | Builtin::Xor | Builtin::Distinct => {
                arguments.len() >= 2
            }
            Builtin::And | Builtin::Or => !arguments.is_empty(),
            _ => false,
        };
        if !counted {
            return Ok(None);
        }
        let in_predicate = arguments
            .iter()
            .find_map(|&v| self.work.formulas.predicate_in(v));
        let skeleton = matches!(
            op,
            Builtin::Not | Builtin::And | Builtin::Or | Builtin::Implies
        );
        if in_predicate.is_none() && !skeleton {
            return Ok(None);
        }
        for &argument in arguments {
            let is_bool = match argument {
                Value::Term(term) => self.terms.sort_of(term) == SortId::BOOL,
                Value::Formula(_) => true,
                Value::Open(_) => false,
            };
            if !is_bool && op == Builtin::Ite {
                return Ok(None);
            }
            if !is_bool {
                let name = shorten(text);
                return self.error(token, TermError::BoolArgumentsExpected(name));
            }
        }
        let formulas = &mut self.work.formulas;
        Ok(Some(match op {
            Builtin::Not => formulas.not(arguments[0], token),
            Builtin::And => formulas.and(arguments, token),
            Builtin::Or => formulas.or(arguments, token),
            Builtin::Implies => {
                let last = arguments.len() - 1;
                let mut parts = Vec::with_capacity(arguments.len());
                for &premise in &arguments[..last] {
                    parts.push(formulas.not(premise, token));
                }
                parts.push(arguments[last]);
                formulas.or(&parts, token)
            }
            Builtin::Ite => match arguments[0] {
                Value::TRUE => arguments[1],
                Value::FALSE => arguments[2],
                condition => formulas.ite(condition, arguments[1], arguments[2], token),
            },
            Builtin::Eq => {
                let pairs: Vec<Value> = arguments
                    .windows(2)
                    .map(|w| formulas.equal(w[0], w[1], token))
                    .collect();
                formulas.and(&pairs, token)
            }
            Builtin::Xor => {
                let mut value = arguments[0];
                for &argument in &arguments[1..] {
                    let equal = formulas.equal(value, argument, token);
                    value = formulas.not(equal, token);
                }
                value
            }
            // There are two values of sort Bool.
            _ if arguments.len() > 2 => Value::FALSE,
            _ => {
                let equal = formulas.equal(arguments[0], arguments[1], token);
                formulas.not(equal, token)
            }
        }))
    }
}
