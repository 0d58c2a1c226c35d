//! Datatypes in terms: constructors, selectors, testers, field update, `match`.
//!
//! Invariant: a constructor is built only at a known instance; where its arguments do not tell the
//! instance it stays open until the context does.

use super::InputError;
use super::commands::shorten;
use super::elaborate::{Elaborator, MAX_OPEN, Open, Task};
use super::formula::Value;
use super::lexer::Sym;
use super::operators::Builtin;
use super::sorts::ConstructorRef;
use super::syntax::{NodeId, Syntax};
use crate::term::{SortId, TermId};

impl Elaborator<'_, '_> {
    // Recursive: `MAX_OPEN` bounds the nesting.
    pub(super) fn settle(&mut self, open: u32, sort: SortId) -> Result<TermId, InputError> {
        let Open {
            constructor,
            arguments,
            token,
            ..
        } = self.work.opens[open as usize].clone();
        self.build(constructor, &arguments, sort, token)
    }

    pub(super) fn build(
        &mut self,
        constructor: ConstructorRef,
        arguments: &[Value],
        sort: SortId,
        token: u32,
    ) -> Result<TermId, InputError> {
        let Some((id, generic)) = self.environment.sorts.instance(sort) else {
            return self.error(token, "a constructor where no datatype is expected");
        };
        if generic != constructor.generic {
            return self.error(token, "a constructor of another datatype");
        }
        let number = constructor.constructor;
        let terms = self.terms;
        let definition = &terms.datatype(id).constructors[number];
        let mut fields = Vec::with_capacity(arguments.len());
        for (field, &argument) in definition.fields.iter().zip(arguments) {
            fields.push(self.term_of(argument, field.sort, token, &definition.name)?);
        }
        Ok(terms.construct(id, number as u32, &fields))
    }

    pub(super) fn arity(
        &self,
        text: &str,
        expected: usize,
        found: usize,
        token: u32,
    ) -> Result<(), InputError> {
        if expected == found {
            return Ok(());
        }
        let shown = shorten(text);
        self.error(
            token,
            format!("`{shown}` takes {expected} arguments, not {found}"),
        )
    }

    pub(super) fn constructor(
        &mut self,
        symbol: Sym,
        arguments: Vec<Value>,
        token: u32,
    ) -> Result<Value, InputError> {
        let lexed = self.lexed;
        let text = lexed.symbols.name(symbol);
        let known: Vec<Option<SortId>> = arguments
            .iter()
            .map(|value| match value {
                Value::Term(term) => Some(self.terms.sort_of(*term)),
                Value::Formula(_) => Some(SortId::BOOL),
                Value::Open(_) => None,
            })
            .collect();
        let candidates = self.environment.sorts.constructors(symbol).to_vec();
        let mut fitting = Vec::new();
        let mut reason = None;
        for &candidate in &candidates {
            let arity = self.environment.sorts.arity(candidate);
            if arity != arguments.len() {
                reason = Some(format!(
                    "`{}` takes {arity} arguments, not {}",
                    shorten(text),
                    arguments.len()
                ));
                continue;
            }
            match self.environment.sorts.infer(candidate, &known) {
                Ok(sort) => fitting.push((candidate, sort)),
                Err(message) => reason = Some(message),
            }
        }
        match fitting[..] {
            [] => self.error(token, reason.unwrap_or_default()),
            [(candidate, Some(sort))] => {
                let term = self.build(candidate, &arguments, sort, token)?;
                Ok(Value::Term(term))
            }
            [(candidate, None)] => {
                let depths = arguments.iter().map(|value| match value {
                    Value::Open(open) => self.work.opens[*open as usize].depth,
                    _ => 0,
                });
                let depth = 1 + depths.max().unwrap_or(0);
                if depth > MAX_OPEN {
                    return self.error(
                        token,
                        "constructors of unknown instances nest too deep: write (as … SORT)",
                    );
                }
                let open = self.work.opens.len() as u32;
                self.work.opens.push(Open {
                    constructor: candidate,
                    arguments,
                    token,
                    depth,
                });
                Ok(Value::Open(open))
            }
            _ => {
                let shown = shorten(text);
                let message =
                    format!("several datatypes have a constructor `{shown}`: write (as … SORT)");
                self.error(token, message)
            }
        }
    }

    /// The argument of a selector or tester, with its datatype instance.
    pub(super) fn datatype_argument(
        &mut self,
        text: &str,
        arguments: &[Value],
        only: Option<ConstructorRef>,
        token: u32,
    ) -> Result<(TermId, SortId), InputError> {
        self.arity(text, 1, arguments.len(), token)?;
        // Without parameters there is one instance, which the argument may rely on.
        let expected = match only {
            Some(reference) => {
                let open = vec![None; self.environment.sorts.arity(reference)];
                self.environment.sorts.infer(reference, &open)
            }
            None => Ok(None),
        };
        let term = match expected {
            Ok(Some(sort)) => self.term_of(arguments[0], sort, token, text)?,
            _ => self.term(arguments[0], token, text)?,
        };
        Ok((term, self.terms.sort_of(term)))
    }

    pub(super) fn selector(
        &mut self,
        symbol: Sym,
        arguments: &[Value],
        token: u32,
    ) -> Result<Value, InputError> {
        let lexed = self.lexed;
        let text = lexed.symbols.name(symbol);
        let candidates = self.environment.sorts.selectors(symbol).to_vec();
        let only = match candidates[..] {
            [(reference, _)] => Some(reference),
            _ => None,
        };
        let (term, sort) = self.datatype_argument(text, arguments, only, token)?;
        if let Some((id, generic)) = self.environment.sorts.instance(sort)
            && let Some((reference, field)) = candidates.iter().find(|c| c.0.generic == generic)
        {
            let constructor = reference.constructor as u32;
            let term = self.terms.field(id, constructor, *field as u32, term);
            return Ok(Value::Term(term));
        }
        let shown = shorten(text);
        self.error(
            token,
            format!("`{shown}` is no selector of its argument's sort"),
        )
    }

    pub(super) fn tester(
        &mut self,
        constructor: Sym,
        arguments: &[Value],
        token: u32,
    ) -> Result<Value, InputError> {
        let lexed = self.lexed;
        let text = lexed.symbols.name(constructor);
        let candidates = self.environment.sorts.constructors(constructor).to_vec();
        let only = match candidates[..] {
            [reference] => Some(reference),
            _ => None,
        };
        let (term, sort) = self.datatype_argument(text, arguments, only, token)?;
        if let Some((id, generic)) = self.environment.sorts.instance(sort)
            && let Some(reference) = candidates.iter().find(|c| c.generic == generic)
        {
            let term = self.terms.is(id, reference.constructor as u32, term);
            return Ok(Value::Term(term));
        }
        let shown = shorten(text);
        self.error(
            token,
            format!("`{shown}` is no constructor of the argument's sort"),
        )
    }

    /// Z3's `(_ update-field f)`: the datatype with one field replaced, unchanged when it is built
    /// by another constructor.
    pub(super) fn update(
        &mut self,
        selector: Sym,
        arguments: &[Value],
        token: u32,
    ) -> Result<Value, InputError> {
        self.arity("update-field", 2, arguments.len(), token)?;
        let whole = self.term(arguments[0], token, "update-field")?;
        let sort = self.terms.sort_of(whole);
        let candidates = self.environment.sorts.selectors(selector).to_vec();
        let Some((id, generic)) = self.environment.sorts.instance(sort) else {
            return self.error(token, "`update-field` takes a datatype");
        };
        let Some(&(reference, number)) = candidates.iter().find(|c| c.0.generic == generic) else {
            return self.error(token, "`update-field` of a field that the datatype lacks");
        };
        let terms = self.terms;
        let constructor = reference.constructor as u32;
        let fields = &terms.datatype(id).constructors[reference.constructor].fields;
        let value = self.term_of(arguments[1], fields[number].sort, token, "update-field")?;
        let parts: Vec<TermId> = (0..fields.len())
            .map(|i| match i == number {
                true => value,
                false => terms.field(id, constructor, i as u32, whole),
            })
            .collect();
        let changed = terms.construct(id, constructor, &parts);
        let test = terms.is(id, constructor, whole);
        Ok(Value::Term(terms.ite(test, changed, whole)))
    }

    pub(super) fn cases(&mut self, node: NodeId) -> Result<(), InputError> {
        let value = self.pop(1)[0];
        let Syntax::Match(term, span) = self.arena.node(node).syntax else {
            return Ok(());
        };
        let token = self.arena.node(term).token;
        let scrutinee = self.term(value, token, "match")?;
        let sort = self.terms.sort_of(scrutinee);
        if self.environment.sorts.instance(sort).is_none() {
            return self.error(token, "`match` takes a term of a datatype");
        }
        self.work.tasks.push(Task::Join(node, scrutinee));
        let cases = (0..span.len()).rev();
        self.work
            .tasks
            .extend(cases.map(|number| Task::Case(node, number, scrutinee)));
        Ok(())
    }

    /// The constructor that a pattern names, `None` for a variable or `_`.
    pub(super) fn pattern(
        &self,
        tokens: &[u32],
        sort: SortId,
    ) -> Result<Option<usize>, InputError> {
        let Some(symbol) = self.lexed.symbol(tokens[0]) else {
            return match tokens {
                [_] => Ok(None),
                _ => self.error(tokens[0], "a constructor is expected"),
            };
        };
        let sorts = &self.environment.sorts;
        let generic = sorts.instance(sort).map(|i| i.1);
        let found = sorts
            .constructors(symbol)
            .iter()
            .find(|c| Some(c.generic) == generic);
        let text = self.lexed.symbols.name(symbol);
        match found {
            Some(&reference) => {
                let arity = sorts.arity(reference);
                self.arity(text, arity, tokens.len() - 1, tokens[0])?;
                Ok(Some(reference.constructor))
            }
            None if tokens.len() == 1 => Ok(None),
            None => {
                let shown = shorten(text);
                self.error(tokens[0], format!("`{shown}` is no constructor here"))
            }
        }
    }

    pub(super) fn case(
        &mut self,
        node: NodeId,
        number: usize,
        scrutinee: TermId,
    ) -> Result<(), InputError> {
        let Syntax::Match(_, span) = self.arena.node(node).syntax else {
            return Ok(());
        };
        let arena = self.arena;
        let (tokens, body) = arena.case(span, number);
        let sort = self.terms.sort_of(scrutinee);
        let constructor = self.pattern(tokens, sort)?;
        let mut count = 0;
        match (constructor, self.environment.sorts.instance(sort)) {
            (Some(constructor), Some((id, _))) => {
                let named = tokens[1..].iter().copied();
                self.distinct(named.filter(|&t| self.lexed.symbol(t).is_some()))?;
                for (field, &token) in tokens[1..].iter().enumerate() {
                    if let Some(symbol) = self.lexed.symbol(token) {
                        let (c, f) = (constructor as u32, field as u32);
                        let value = Value::Term(self.terms.field(id, c, f, scrutinee));
                        self.bind(symbol, value);
                        count += 1;
                    }
                }
            }
            _ => {
                if let Some(symbol) = self.lexed.symbol(tokens[0]) {
                    self.bind(symbol, Value::Term(scrutinee));
                    count += 1;
                }
            }
        }
        self.work.tasks.push(Task::Unbind(count));
        self.work.tasks.push(Task::Eval(body));
        Ok(())
    }

    pub(super) fn join(&mut self, node: NodeId, scrutinee: TermId) -> Result<(), InputError> {
        let token = self.arena.node(node).token;
        let Syntax::Match(_, span) = self.arena.node(node).syntax else {
            return Ok(());
        };
        let values = self.pop(span.len());
        let sort = self.terms.sort_of(scrutinee);
        let Some((id, _)) = self.environment.sorts.instance(sort) else {
            return Ok(());
        };
        let constructors = self.terms.datatype(id).constructors.len();
        let mut covered = vec![false; constructors];
        let mut branches: Vec<(TermId, Value)> = Vec::new();
        for (number, value) in values.into_iter().enumerate() {
            match self.pattern(self.arena.case(span, number).0, sort)? {
                None => {
                    branches.push((TermId::TRUE, value));
                    covered.fill(true);
                    break;
                }
                Some(constructor) => {
                    covered[constructor] = true;
                    let test = self.terms.is(id, constructor as u32, scrutinee);
                    branches.push((test, value));
                }
            }
        }
        if !covered.iter().all(|&c| c) {
            return self.error(token, "the cases of `match` do not cover the datatype");
        }
        let mut branches = branches.into_iter().rev();
        let Some((_, mut result)) = branches.next() else {
            return self.error(token, "`match` without cases");
        };
        for (test, value) in branches {
            let arguments = vec![Value::Term(test), value, result];
            result = self.operator(Builtin::Ite, "match", &[], arguments, token)?;
        }
        self.work.values.push(result);
        Ok(())
    }
}
