//! Applications: which declaration or operator a name means, and what it gives.
//!
//! Local names come first, then the user's declarations, then constructors and selectors, then
//! built-in operators. Invariant: a predicate ends up in a connective's formula or is refused; it
//! never gets into a term.

use num_bigint::BigUint;

use super::InputError;
use super::commands::shorten;
use super::elaborate::{Elaborator, Global, Task};
use super::formula::Value;
use super::lexer::{Kind, Sym};
use super::operators::{Builtin, Operators};
use super::sorts::{MAX_WIDTH, symbol_at};
use super::syntax::{Name, NodeId, Span};
use crate::term::{Sort, SortId};

impl Elaborator<'_, '_> {
    /// Applies a name to values: pushes the result, or the tasks that lead to it.
    pub(super) fn apply(
        &mut self,
        node: NodeId,
        name: Name,
        arguments: Vec<Value>,
        span: Option<Span>,
    ) -> Result<(), InputError> {
        let token = self.arena.node(node).token;
        if let Kind::Reserved(_) = self.lexed.tokens[name.symbol as usize].kind {
            // An annotated term, or a binder without variables (see `commands`).
            return match arguments[..] {
                [value] if self.lexed.source(name.symbol) != "_" => {
                    self.work.values.push(value);
                    Ok(())
                }
                _ => self.error(token, "a term is expected"),
            };
        }
        let value = if name.indexes.len() > 0 {
            self.indexed(name, &arguments, token)?
        } else if name.sort.is_some() {
            self.qualified(name, arguments, token)?
        } else {
            let symbol = symbol_at(self.lexed, name.symbol)?;
            if arguments.is_empty()
                && let Some(local) = self.work.locals[symbol.0 as usize].last()
                && local.frame == self.work.frame
            {
                local.value
            } else {
                match self.environment.globals.get(&symbol) {
                    Some(&Global::Macro(number)) => {
                        return self.call(number, node, name, arguments);
                    }
                    Some(&global) => self.global(global, symbol, name, &arguments, token, span)?,
                    None => self.plain(symbol, name, arguments, token)?,
                }
            }
        };
        self.work.values.push(value);
        Ok(())
    }

    pub(super) fn argument_token(&self, span: Option<Span>, number: usize, token: u32) -> u32 {
        let child = span.and_then(|s| self.arena.children(s).get(number).copied());
        child.map_or(token, |c| self.arena.node(c).token)
    }

    pub(super) fn global(
        &mut self,
        global: Global,
        symbol: Sym,
        name: Name,
        arguments: &[Value],
        token: u32,
        span: Option<Span>,
    ) -> Result<Value, InputError> {
        let lexed = self.lexed;
        let text = lexed.symbols.name(symbol);
        match global {
            Global::Predicate(id) => {
                let arity = self.environment.predicates[id.index()].arity();
                if arguments.len() != arity {
                    let message = format!(
                        "the predicate `{text}` takes {arity} arguments, not {}",
                        arguments.len()
                    );
                    return self.error(name.symbol, message);
                }
                let mut terms = Vec::with_capacity(arity);
                for (number, &argument) in arguments.iter().enumerate() {
                    let parameter = self.environment.predicates[id.index()].params[number];
                    let sort = self.terms.sort_of(parameter);
                    let at = self.argument_token(span, number, token);
                    terms.push(self.term_of(argument, sort, at, text)?);
                }
                Ok(self.work.formulas.atom(id, &terms, token))
            }
            Global::Variable(sort) if arguments.is_empty() => {
                if self.in_definition {
                    let message = format!("the rule variable `{text}` in a definition");
                    return self.error(token, message);
                }
                if let Some(&variable) = self.work.rule_index.get(&symbol) {
                    return Ok(Value::Term(variable));
                }
                let variable = self.terms.fresh_var(text, sort);
                self.work.rule_index.insert(symbol, variable);
                self.work.rule_variables.push((symbol, variable));
                Ok(Value::Term(variable))
            }
            Global::Variable(_) => {
                let message = format!("the variable `{text}` takes no arguments");
                self.error(name.symbol, message)
            }
            Global::Uninterpreted | Global::Macro(_) => {
                let message = format!(
                    "`{text}` is neither predicate nor bound variable: constants and functions \
                     without a definition are not Horn"
                );
                self.error(name.symbol, message)
            }
        }
    }

    pub(super) fn call(
        &mut self,
        number: usize,
        node: NodeId,
        name: Name,
        arguments: Vec<Value>,
    ) -> Result<(), InputError> {
        let token = self.arena.node(node).token;
        let definition = &self.environment.macros[number];
        let parameters = definition.parameters.clone();
        let (body, size) = (definition.body, definition.size);
        let text = shorten(self.lexed.source(name.symbol));
        if arguments.len() != parameters.len() {
            let message = format!(
                "`{text}` takes {} arguments, not {}",
                parameters.len(),
                arguments.len()
            );
            return self.error(name.symbol, message);
        }
        let mut values = Vec::with_capacity(arguments.len());
        let mut terms = Vec::with_capacity(arguments.len());
        for (&argument, &(_, sort)) in arguments.iter().zip(&parameters) {
            if sort == SortId::BOOL && self.work.formulas.predicate_in(argument).is_some() {
                values.push(argument);
                continue;
            }
            let term = self.term_of(argument, sort, token, &text)?;
            terms.push(term);
            values.push(Value::Term(term));
        }
        if let Some(&value) = self.work.expanded.get(&(number, values.clone())) {
            self.work.values.push(value);
            return Ok(());
        }
        let plain = &self.environment.macros[number].plain;
        if let Some((term, formals)) = plain
            && terms.len() == formals.len()
        {
            let map = formals.iter().copied().zip(terms).collect();
            let term = *term;
            self.expand(size, token)?;
            let value = Value::Term(self.terms.substitute(term, &map));
            self.work.expanded.insert((number, values), value);
            self.work.values.push(value);
            return Ok(());
        }
        let caller = self.work.frame;
        // Frames are never reused while an outer one is in use, so a deeper call's names do not
        // show in a shallower one.
        self.work.frame = caller + 1;
        for (&(symbol, _), &value) in parameters.iter().zip(&values) {
            self.bind(symbol, value);
        }
        self.work.calls.push(values);
        self.work.tasks.push(Task::Return(number, node, caller));
        self.work.tasks.push(Task::Eval(body));
        Ok(())
    }

    pub(super) fn plain(
        &mut self,
        symbol: Sym,
        name: Name,
        arguments: Vec<Value>,
        token: u32,
    ) -> Result<Value, InputError> {
        let lexed = self.lexed;
        let text = lexed.symbols.name(symbol);
        if !self.environment.sorts.constructors(symbol).is_empty() {
            return self.constructor(symbol, arguments, token);
        }
        if !self.environment.sorts.selectors(symbol).is_empty() {
            return self.selector(symbol, &arguments, token);
        }
        if let Some(builtin) = self.builtin(symbol) {
            return self.operator(builtin, text, &[], arguments, token);
        }
        if let Some(constructor) = text
            .strip_prefix("is-")
            .and_then(|rest| lexed.symbols.find(rest))
            && !self.environment.sorts.constructors(constructor).is_empty()
        {
            return self.tester(constructor, &arguments, token);
        }
        let shown = shorten(text);
        let local = self.work.locals[symbol.0 as usize].last();
        if local.is_some_and(|l| l.frame == self.work.frame) {
            return self.error(
                name.symbol,
                format!("the variable `{shown}` takes no arguments"),
            );
        }
        self.error(name.symbol, format!("`{shown}` is not declared"))
    }

    pub(super) fn indexed(
        &mut self,
        name: Name,
        arguments: &[Value],
        token: u32,
    ) -> Result<Value, InputError> {
        let lexed = self.lexed;
        let symbol = symbol_at(lexed, name.symbol)?;
        let text = lexed.symbols.name(symbol);
        let indexes = self.arena.tokens(name.indexes).to_vec();
        if let (Some(index), true) = (lexed.symbol(indexes[0]), indexes.len() == 1) {
            match text {
                "is" => return self.tester(index, arguments, token),
                "update-field" => return self.update(index, arguments, token),
                _ => {}
            }
        }
        let mut numerals = Vec::with_capacity(indexes.len());
        for &index in &indexes {
            match lexed.tokens[index as usize].kind {
                Kind::Numeral => match lexed.source(index).parse::<BigUint>() {
                    Ok(value) => numerals.push(value),
                    Err(_) => return self.error(index, "an index that cannot be read"),
                },
                _ => {
                    let shown = shorten(text);
                    return self.error(token, format!("`(_ {shown} …)` is not supported"));
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
                _ => self.error(token, format!("bit-vectors have 1 to {MAX_WIDTH} bits")),
            };
        }
        match self.builtin(symbol) {
            Some(builtin) => self.operator(builtin, text, &numerals, arguments.to_vec(), token),
            None => {
                let shown = shorten(text);
                self.error(token, format!("`(_ {shown} …)` is not supported"))
            }
        }
    }

    /// `(as NAME SORT)`, alone or applied.
    pub(super) fn qualified(
        &mut self,
        name: Name,
        arguments: Vec<Value>,
        token: u32,
    ) -> Result<Value, InputError> {
        let lexed = self.lexed;
        let symbol = symbol_at(lexed, name.symbol)?;
        let sort = match name.sort {
            Some(sort) => self.environment.sorts.resolve(lexed, self.arena, sort)?,
            None => SortId::BOOL,
        };
        let text = lexed.symbols.name(symbol);
        if text == "const" && arguments.len() == 1 {
            let Sort::Array(_, element) = self.terms.sort(sort) else {
                return self.error(token, "`(as const …)` takes the sort of an array");
            };
            let element = self.term_of(arguments[0], element, token, "const")?;
            return Ok(Value::Term(self.terms.const_array(sort, element)));
        }
        let generic = self.environment.sorts.instance(sort).map(|i| i.1);
        let sorts = &self.environment.sorts;
        let constructor = sorts
            .constructors(symbol)
            .iter()
            .find(|c| Some(c.generic) == generic)
            .copied();
        if let Some(constructor) = constructor {
            let arity = self.environment.sorts.arity(constructor);
            self.arity(text, arity, arguments.len(), token)?;
            let term = self.build(constructor, &arguments, sort, token)?;
            return Ok(Value::Term(term));
        }
        if arguments.is_empty()
            && let Some(local) = self.work.locals[symbol.0 as usize].last()
            && local.frame == self.work.frame
        {
            let value = local.value;
            return self.result(value, sort, token);
        }
        let shown = shorten(text);
        self.error(token, format!("`(as {shown} …)` is not supported"))
    }

    pub(super) fn operator(
        &mut self,
        op: Builtin,
        text: &str,
        indexes: &[BigUint],
        mut arguments: Vec<Value>,
        token: u32,
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
            terms.push(self.term(argument, token, text)?);
        }
        let operators = Operators {
            terms: self.terms,
            name: text,
        };
        match operators.apply(op, indexes, &terms) {
            Ok(term) => Ok(Value::Term(term)),
            Err(message) => self.error(token, message),
        }
    }

    /// Gives constructors of unknown instances the sort that an operator's other arguments imply.
    pub(super) fn settle_arguments(
        &mut self,
        op: Builtin,
        text: &str,
        arguments: &mut [Value],
        token: u32,
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

    /// A connective over formulas; `None` when they are constraints and better become terms.
    pub(super) fn connective(
        &mut self,
        op: Builtin,
        text: &str,
        arguments: &[Value],
        token: u32,
    ) -> Result<Option<Value>, InputError> {
        let counted = match op {
            Builtin::Not => arguments.len() == 1,
            Builtin::Ite => arguments.len() == 3,
            Builtin::Eq | Builtin::Xor | Builtin::Distinct => arguments.len() >= 2,
            Builtin::And | Builtin::Or | Builtin::Implies => !arguments.is_empty(),
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
                return self.error(
                    token,
                    format!("`{text}` expects arguments of sort Bool here"),
                );
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
            _ => {
                let at = in_predicate.unwrap_or(token);
                return self.error(at, format!("a predicate inside `{text}` is not Horn"));
            }
        }))
    }
}
