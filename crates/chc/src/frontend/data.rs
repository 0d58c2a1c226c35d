//! Datatypes in terms: constructors, selectors, testers, field update, `match`.
//!
//! Invariant: a constructor becomes a term only at a known instance of its datatype; if its
//! arguments do not determine the instance, it stays open until the context does.

use super::builtins::Builtin;
use super::elaborate::Elaborator;
use super::environment::{Open, Task};
use super::error::{InputError, TermError, shorten};
use super::formula::Value;
use super::lexer::{Kind, Reserved, Sym, TokenId};
use super::sorts::ConstructorRef;
use super::syntax::{Elements, Named};
use crate::limits::LIMITS;
use alphorn_term::{SortId, TermId};

/// A pattern of `match`.
enum Pattern {
    /// A variable; `None` for `_`.
    Any(Option<Named>),
    /// A constructor with variables for its fields, `None` for `_`.
    Constructor(usize, Vec<Option<Named>>),
}

impl Elaborator<'_, '_> {
    /// The term of an open constructor at the instance `sort`. Recursive to a depth of
    /// `LIMITS.max_open_constructors`.
    pub(super) fn settle(&mut self, open: u32, sort: SortId) -> Result<TermId, InputError> {
        let Open {
            constructor,
            arguments,
            token,
            ..
        } = self.work.opens[open as usize].clone();
        self.build(constructor, &arguments, sort, token)
    }

    /// The term of a constructor at the instance `sort`.
    pub(super) fn build(
        &mut self,
        constructor: ConstructorRef,
        arguments: &[Value],
        sort: SortId,
        token: TokenId,
    ) -> Result<TermId, InputError> {
        let Some((id, generic)) = self.environment.sorts.instance(sort) else {
            return self.error(token, TermError::ConstructorWithoutDatatype);
        };
        if generic != constructor.generic {
            return self.error(token, TermError::ConstructorOfOther);
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

    /// A constructor applied to values, open if they do not determine the instance.
    pub(super) fn constructor(
        &mut self,
        name: Named,
        arguments: Vec<Value>,
        token: TokenId,
    ) -> Result<Value, InputError> {
        let known: Vec<Option<SortId>> = arguments
            .iter()
            .map(|value| match value {
                Value::Term(term) => Some(self.terms.sort_of(*term)),
                Value::Formula(_) => Some(SortId::BOOL),
                Value::Open(_) => None,
            })
            .collect();
        let candidates = self.environment.sorts.constructors(name.symbol).to_vec();
        let mut fitting = Vec::new();
        let mut reason = Ok(());
        for &candidate in &candidates {
            let arity = self.environment.sorts.arity(candidate);
            if let Err(error) = self.arity(name, arity, arguments.len()) {
                reason = Err(error);
                continue;
            }
            match self.environment.sorts.infer(candidate, &known) {
                Ok(sort) => fitting.push((candidate, sort)),
                Err(kind) => reason = self.error(token, kind),
            }
        }
        match fitting[..] {
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
                if depth > LIMITS.max_open_constructors {
                    return self.error(token, TermError::UnknownInstanceDepth);
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
                reason?;
                Err(self.lexed.name_error(name, TermError::AmbiguousConstructor))
            }
        }
    }

    /// The only argument of a selector or tester, with its sort; `only` is the constructor if the
    /// name has a single meaning.
    fn datatype_argument(
        &mut self,
        name: Named,
        arguments: &[Value],
        only: Option<ConstructorRef>,
        token: TokenId,
    ) -> Result<(TermId, SortId), InputError> {
        self.arity(name, 1, arguments.len())?;
        let lexed = self.lexed;
        let text = lexed.symbols.name(name.symbol);
        // A datatype without parameters has one instance, which settles an open argument.
        let expected = match only {
            Some(reference) => {
                let open = vec![None; self.environment.sorts.arity(reference)];
                self.environment.sorts.infer(reference, &open)
            }
            None => Ok(None),
        };
        let term = match expected {
            Ok(Some(sort)) => self.term_of(arguments[0], sort, token, text)?,
            _ => self.term(arguments[0], token)?,
        };
        Ok((term, self.terms.sort_of(term)))
    }

    /// A selector applied to its argument.
    pub(super) fn selector(
        &mut self,
        name: Named,
        arguments: &[Value],
        token: TokenId,
    ) -> Result<Value, InputError> {
        let candidates = self.environment.sorts.selectors(name.symbol).to_vec();
        let only = match candidates[..] {
            [(reference, _)] => Some(reference),
            _ => None,
        };
        let (term, sort) = self.datatype_argument(name, arguments, only, token)?;
        if let Some((id, generic)) = self.environment.sorts.instance(sort)
            && let Some((reference, field)) = candidates.iter().find(|c| c.0.generic == generic)
        {
            let constructor = reference.constructor as u32;
            let term = self.terms.field(id, constructor, *field as u32, term);
            return Ok(Value::Term(term));
        }
        Err(self.lexed.name_error(name, TermError::NoSelectorOfArgument))
    }

    /// A tester of `constructor` applied to its argument; `name` is `is-C`, or the `is` of `(_ is C)`.
    pub(super) fn tester(
        &mut self,
        name: Named,
        constructor: Sym,
        arguments: &[Value],
        token: TokenId,
    ) -> Result<Value, InputError> {
        let candidates = self.environment.sorts.constructors(constructor).to_vec();
        let only = match candidates[..] {
            [reference] => Some(reference),
            _ => None,
        };
        let (term, sort) = self.datatype_argument(name, arguments, only, token)?;
        if let Some((id, generic)) = self.environment.sorts.instance(sort)
            && let Some(reference) = candidates.iter().find(|c| c.generic == generic)
        {
            let term = self.terms.is(id, reference.constructor as u32, term);
            return Ok(Value::Term(term));
        }
        let shown = shorten(self.lexed.symbols.name(constructor));
        self.error(token, TermError::NoConstructorOfArgument(shown))
    }

    /// Z3's `(_ update-field f)`: the term with one field replaced; unchanged if it has another
    /// constructor.
    pub(super) fn update(
        &mut self,
        name: Named,
        selector: Sym,
        arguments: &[Value],
        token: TokenId,
    ) -> Result<Value, InputError> {
        self.arity(name, 2, arguments.len())?;
        let whole = self.term(arguments[0], token)?;
        let sort = self.terms.sort_of(whole);
        let candidates = self.environment.sorts.selectors(selector).to_vec();
        let Some((id, generic)) = self.environment.sorts.instance(sort) else {
            return self.error(token, TermError::UpdateOfNoDatatype);
        };
        let Some(&(reference, number)) = candidates.iter().find(|c| c.0.generic == generic) else {
            return self.error(token, TermError::UpdateOfNoField);
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

    /// `(match term ((pattern term) …))`: the term and the cases.
    fn match_parts(&self, term: TokenId) -> Result<(TokenId, Elements<'_, '_>), InputError> {
        let mut parts = self.lexed.list(term)?;
        parts.expect()?;
        let scrutinee = parts.expect()?;
        let cases = parts.expect_list()?.at_least_one()?;
        parts.finish()?;
        Ok((scrutinee, cases))
    }

    pub(super) fn enter_match(&mut self, term: TokenId) -> Result<(), InputError> {
        let (scrutinee, _) = self.match_parts(term)?;
        self.work.tasks.push(Task::Cases(term));
        self.work.tasks.push(Task::Eval(scrutinee));
        Ok(())
    }

    pub(super) fn cases(&mut self, term: TokenId) -> Result<(), InputError> {
        let value = self.pop();
        let (token, _) = self.match_parts(term)?;
        let scrutinee = self.term(value, token)?;
        let sort = self.terms.sort_of(scrutinee);
        if self.environment.sorts.instance(sort).is_none() {
            return self.error(token, TermError::MatchOfNoDatatype);
        }
        let cases: Vec<TokenId> = self.match_parts(term)?.1.rev().collect();
        self.work.tasks.push(Task::Join(term, scrutinee));
        let cases = cases.into_iter().map(|case| Task::Case(case, scrutinee));
        self.work.tasks.extend(cases);
        Ok(())
    }

    /// The pattern `C`, `(C x …)`, a variable or `_`, for a term of this sort.
    fn pattern(&self, pattern: TokenId, sort: SortId) -> Result<Pattern, InputError> {
        let lexed = self.lexed;
        let is_wild = |t: TokenId| lexed.kind(t) == Kind::Reserved(Reserved::Underscore);
        if is_wild(pattern) {
            return Ok(Pattern::Any(None));
        }
        let mut variables = Vec::new();
        let name = match lexed.symbol(pattern) {
            Some(symbol) => Named {
                symbol,
                token: pattern,
            },
            None => {
                let mut parts = lexed.list(pattern)?;
                let name = parts.expect_symbol()?;
                while !parts.is_empty() {
                    let wild = { parts }.next().is_some_and(is_wild);
                    variables.push(match wild {
                        true => parts.next().and(None),
                        false => Some(parts.expect_symbol()?),
                    });
                }
                name
            }
        };
        let sorts = &self.environment.sorts;
        let generic = sorts.instance(sort).map(|i| i.1);
        let mut constructors = sorts.constructors(name.symbol).iter();
        match constructors.find(|c| Some(c.generic) == generic) {
            Some(&reference) => {
                self.arity(name, sorts.arity(reference), variables.len())?;
                Ok(Pattern::Constructor(reference.constructor, variables))
            }
            None if variables.is_empty() => Ok(Pattern::Any(Some(name))),
            None => Err(lexed.name_error(name, TermError::NoConstructor)),
        }
    }

    fn case_parts(
        &self,
        case: TokenId,
        scrutinee: TermId,
    ) -> Result<(Pattern, TokenId), InputError> {
        let mut parts = self.lexed.list(case)?;
        let pattern = self.pattern(parts.expect()?, self.terms.sort_of(scrutinee))?;
        let body = parts.expect()?;
        parts.finish()?;
        Ok((pattern, body))
    }

    pub(super) fn case(&mut self, case: TokenId, scrutinee: TermId) -> Result<(), InputError> {
        let (pattern, body) = self.case_parts(case, scrutinee)?;
        let instance = self
            .environment
            .sorts
            .instance(self.terms.sort_of(scrutinee));
        let mut bound = Vec::new();
        match (pattern, instance) {
            (Pattern::Constructor(constructor, variables), Some((id, _))) => {
                self.distinct(variables.iter().flatten().map(|&name| Ok(name)))?;
                for (field, variable) in variables.iter().enumerate() {
                    if let Some(name) = variable {
                        let (c, f) = (constructor as u32, field as u32);
                        bound.push((name.symbol, self.terms.field(id, c, f, scrutinee)));
                    }
                }
            }
            (Pattern::Any(name), _) => bound.extend(name.map(|name| (name.symbol, scrutinee))),
            (Pattern::Constructor(..), None) => {}
        }
        for &(symbol, term) in &bound {
            self.bind(symbol, Value::Term(term));
        }
        self.work.tasks.push(Task::Unbind(bound.len()));
        self.work.tasks.push(Task::Eval(body));
        Ok(())
    }

    pub(super) fn join(&mut self, term: TokenId, scrutinee: TermId) -> Result<(), InputError> {
        let cases: Vec<TokenId> = self.match_parts(term)?.1.collect();
        let values = self.pop_many(cases.len());
        let sort = self.terms.sort_of(scrutinee);
        let Some((id, _)) = self.environment.sorts.instance(sort) else {
            return self.error(term, TermError::MatchOfNoDatatype);
        };
        let constructors = self.terms.datatype(id).constructors.len();
        let mut covered = vec![false; constructors];
        let mut branches: Vec<(TermId, Value)> = Vec::new();
        for (case, value) in cases.into_iter().zip(values) {
            match self.case_parts(case, scrutinee)?.0 {
                Pattern::Any(_) => {
                    branches.push((TermId::TRUE, value));
                    covered.fill(true);
                    break;
                }
                Pattern::Constructor(constructor, _) => {
                    covered[constructor] = true;
                    let test = self.terms.is(id, constructor as u32, scrutinee);
                    branches.push((test, value));
                }
            }
        }
        let mut branches = branches.into_iter().rev();
        match branches.next() {
            Some((_, last)) if covered.iter().all(|&c| c) => {
                let mut result = last;
                for (test, value) in branches {
                    let arguments = vec![Value::Term(test), value, result];
                    result = self.operator(Builtin::Ite, "match", &[], arguments, term)?;
                }
                self.work.values.push(result);
                Ok(())
            }
            _ => self.error(term, TermError::MatchCoverage),
        }
    }
}
