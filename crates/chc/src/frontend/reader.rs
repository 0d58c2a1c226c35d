//! Executes the commands of a text and collects the problem in force at the check.
//!
//! Invariant: `pop` removes exactly the names, predicates and clauses that were added since its
//! `push`, so each clause mentions only predicates of the problem. After the check, only requests
//! are read, and whether there is a second check after changes.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::builtins::{BUILTINS, is_core};
use super::clauses::{Clausifier, HornClause};
use super::commands::{Command, Verb, sorts_first, split};
use super::elaborate::Elaborator;
use super::environment::{Environment, Global, Macro, Workspace};
use super::error::{ErrorKind, InputError, ScriptError, SortError, SyntaxError, shorten};
use super::formula::{Formulas, Value};
use super::heaps::{Heap, heap_syntax, without_needless_guards};
use super::lexer::{Kind, Lexed, Sym, Symbols, TokenId};
use super::predeclared::{ListSymbols, is_predeclared};
use super::sorts::Sorts;
use super::syntax::{Elements, Named};
use super::{CommandSpan, Dialect, Functions, Problem, ProblemClause, Requests};
use crate::limits::LIMITS;
use crate::{Predicate, PredicateId};
use alphorn_term::{SortId, TermStore};

/// Reads a whole text, see [`super::parse`]. Declarations of datatypes are reordered only if a sort
/// is undeclared in the order of the text.
pub(super) fn read(
    text: &str,
    terms: Rc<TermStore>,
    functions: &mut Functions,
) -> Result<Problem, InputError> {
    let symbols = Symbols::with_names(BUILTINS.iter().map(|b| b.0));
    let mut lexed = Lexed::new(text, symbols)?;
    let list = ListSymbols::new(&mut lexed.symbols);
    let mut commands = split(&lexed)?;
    let error = match read_commands(&lexed, &commands, None, terms.clone(), functions) {
        Err(error) => error,
        result => return result,
    };
    let ErrorKind::Sort(SortError::Undeclared(sort)) = &error.kind else {
        return Err(error);
    };
    if !sorts_first(&lexed, &mut commands) {
        if !is_predeclared(sort) {
            return Err(error);
        }
        log::warn!("the sort {sort} is not declared; it is read as Z3's own");
        return read_commands(&lexed, &commands, Some(list), terms, functions);
    }
    let problem = read_commands(&lexed, &commands, None, terms, functions).map_err(|_| error)?;
    log::warn!("datatypes are used before their declaration; they are read in another order");
    Ok(problem)
}

fn read_commands(
    lexed: &Lexed<'_>,
    commands: &[Command<'_, '_>],
    list: Option<ListSymbols>,
    terms: Rc<TermStore>,
    functions: &mut Functions,
) -> Result<Problem, InputError> {
    let dialect = if commands.iter().any(|c| c.verb.is_fixedpoint()) {
        Dialect::Fixedpoint
    } else {
        Dialect::Horn
    };
    let mut reader = Reader::new(lexed, terms, dialect, functions);
    if let Some(list) = list {
        reader.environment.sorts.predeclare_list(lexed, list);
    }
    for command in commands {
        reader.command(command)?;
    }
    if reader.checked {
        return Ok(reader.problem());
    }
    // Without a check the text may have been cut off.
    let missing = match dialect {
        Dialect::Fixedpoint => ScriptError::RulesWithoutQuery,
        Dialect::Horn => ScriptError::NoCheck,
    };
    Err(lexed.error_at_end(missing))
}

/// A name that a `pop` removes.
enum Undo {
    Global(Sym),
    Sort(Sym),
    Heap,
}

/// The state at the beginning of a level: lengths of lists, and the number of clause commands.
#[derive(Default)]
struct Level {
    trail: usize,
    predicates: usize,
    clauses: usize,
    commands: usize,
    number: usize,
}

/// The state between commands.
struct Reader<'r, 't> {
    lexed: &'r Lexed<'t>,
    functions: &'r mut Functions,
    terms: Rc<TermStore>,
    dialect: Dialect,
    environment: Environment,
    work: Workspace,
    clauses: Vec<ProblemClause>,
    commands: Vec<CommandSpan>,
    requests: Requests,
    trail: Vec<Undo>,
    levels: Vec<Level>,
    /// The number of asserts, rules and queries in force so far.
    number: usize,
    /// Whether there was a check or query; after it, only requests are read.
    checked: bool,
    /// Whether a command after the check changed the problem.
    changed: bool,
    global_declarations: bool,
}

impl<'r, 't> Reader<'r, 't> {
    fn new(
        lexed: &'r Lexed<'t>,
        terms: Rc<TermStore>,
        dialect: Dialect,
        functions: &'r mut Functions,
    ) -> Self {
        let formulas = Formulas::new(terms.clone());
        Reader {
            lexed,
            functions,
            dialect,
            environment: Environment {
                sorts: Sorts::new(terms.clone()),
                globals: FxHashMap::default(),
                predicates: Vec::new(),
                macros: Vec::new(),
                heap: None,
                variable_sorts: FxHashMap::default(),
            },
            work: Workspace::new(formulas, lexed.symbols.len()),
            terms,
            clauses: Vec::new(),
            commands: Vec::new(),
            requests: Requests::default(),
            trail: Vec::new(),
            levels: Vec::new(),
            number: 0,
            checked: false,
            changed: false,
            global_declarations: false,
        }
    }

    fn problem(self) -> Problem {
        Problem {
            terms: self.terms,
            text: self.lexed.text.into(),
            dialect: self.dialect,
            heap: self.environment.heap.as_ref().map(Heap::sorts),
            predicates: self.environment.predicates,
            clauses: self.clauses,
            commands: self.commands,
            requests: self.requests,
        }
    }

    fn error<T>(&self, token: TokenId, kind: impl Into<ErrorKind>) -> Result<T, InputError> {
        Err(self.lexed.error(token, kind))
    }

    /// Records a command as in force.
    fn record(&mut self, command: &Command<'_, '_>) {
        let first = self.lexed.token(command.token);
        let last = match first.kind {
            Kind::Open(close) => self.lexed.token(close),
            _ => first,
        };
        self.commands.push(CommandSpan {
            keyword: command.keyword.to_owned(),
            range: first.start as usize..last.end as usize,
            line: first.line,
            column: first.column,
        });
    }

    fn command(&mut self, command: &Command<'_, 't>) -> Result<(), InputError> {
        match command.verb {
            Verb::CheckSat if self.checked => self.check_again(command),
            Verb::CheckSat if self.dialect == Dialect::Fixedpoint => {
                self.error(command.token, ScriptError::CheckSatAmongRules)
            }
            Verb::CheckSat => {
                self.checked = true;
                Ok(())
            }
            Verb::GetModel | Verb::GetProof | Verb::GetInfo => {
                self.request(command);
                Ok(())
            }
            Verb::SetLogic | Verb::SetOption => {
                self.set(command);
                Ok(())
            }
            Verb::Exit | Verb::Other => Ok(()),
            Verb::Push | Verb::Pop | Verb::Reset | Verb::ResetAssertions => self.scope(command),
            Verb::Query if self.checked => self.check_again(command),
            _ if self.checked => {
                self.changed |= matches!(command.verb, Verb::Assert | Verb::Rule);
                Ok(())
            }
            Verb::Assert if self.dialect == Dialect::Fixedpoint => {
                self.error(command.token, ScriptError::AssertAmongRules)
            }
            Verb::Assert | Verb::Rule | Verb::Query => {
                self.record(command);
                self.checked = command.verb == Verb::Query;
                self.clause_command(command)
            }
            _ => {
                self.record(command);
                if command.verb.declares_sorts()
                    && let Some(span) = self.commands.last()
                {
                    let text = &self.lexed.text[span.range.clone()];
                    self.environment.sorts.enter(text);
                }
                self.declaration(command)
            }
        }
    }

    // ---- commands without terms ----

    /// The text of the n-th part of a command, empty if there is none.
    fn part(&self, command: &Command<'_, '_>, number: usize) -> &'t str {
        let part = { command.parts }.nth(number);
        part.map_or("", |token| self.lexed.source(token))
    }

    fn request(&mut self, command: &Command<'_, '_>) {
        if self.dialect == Dialect::Horn && !self.checked {
            log::warn!("`{}` before the check", command.keyword);
        }
        match command.verb {
            Verb::GetModel => self.requests.model = true,
            Verb::GetProof => self.requests.proof = true,
            _ => self.requests.reason_unknown |= self.part(command, 0) == ":reason-unknown",
        }
    }

    fn set(&mut self, command: &Command<'_, '_>) {
        let (name, value) = (self.part(command, 0), self.part(command, 1));
        match (command.verb, name) {
            (Verb::SetLogic, "HORN" | "ALL") => {}
            (Verb::SetLogic, _) => {
                log::warn!("the logic {} is read as HORN", shorten(name));
            }
            // As in Z3, 0 means no limit.
            (_, ":timeout") => self.requests.timeout_ms = value.parse().ok().filter(|&ms| ms > 0),
            (_, ":global-declarations") => self.global_declarations = value == "true",
            _ => {}
        }
        if !self.checked {
            self.record(command);
        }
    }

    fn scope(&mut self, command: &Command<'_, '_>) -> Result<(), InputError> {
        if command.verb == Verb::Push {
            for _ in 0..self.count(command)? {
                self.levels.push(Level {
                    trail: self.trail.len(),
                    predicates: self.environment.predicates.len(),
                    clauses: self.clauses.len(),
                    commands: self.commands.len(),
                    number: self.number,
                });
            }
            return Ok(());
        }
        let count = match command.verb {
            Verb::Pop => self.count(command)?,
            _ => 0,
        };
        if self.checked {
            self.changed = true;
            return Ok(());
        }
        if command.verb != Verb::Pop {
            self.levels.clear();
            self.restore(&Level::default());
            return Ok(());
        }
        if count > self.levels.len() {
            return self.error(command.token, ScriptError::PopWithoutPush);
        }
        if count > 0 && self.global_declarations {
            return self.error(command.token, ScriptError::PopOfGlobalDeclarations);
        }
        for _ in 0..count {
            if let Some(level) = self.levels.pop() {
                self.restore(&level);
            }
        }
        Ok(())
    }

    fn restore(&mut self, level: &Level) {
        for undo in self.trail.drain(level.trail..).rev() {
            match undo {
                Undo::Global(symbol) => {
                    self.environment.globals.remove(&symbol);
                    self.environment.variable_sorts.remove(&symbol);
                }
                Undo::Heap => {
                    if let Some(heap) = self.environment.heap.take() {
                        self.environment.sorts.forget_theory(heap.first);
                    }
                }
                Undo::Sort(symbol) => self.environment.sorts.forget(symbol),
            }
        }
        self.environment.predicates.truncate(level.predicates);
        self.clauses.truncate(level.clauses);
        self.commands.truncate(level.commands);
        self.number = level.number;
    }

    /// The number of levels to push or pop.
    fn count(&self, command: &Command<'_, '_>) -> Result<usize, InputError> {
        let Some(first) = { command.parts }.next() else {
            return Ok(1);
        };
        match (self.lexed.kind(first), self.lexed.source(first).parse()) {
            (Kind::Numeral, Ok(count)) if count <= LIMITS.max_levels => Ok(count),
            _ => self.error(first, SyntaxError::LevelCount(LIMITS.max_levels)),
        }
    }

    fn check_again(&self, command: &Command<'_, '_>) -> Result<(), InputError> {
        let name = command.keyword;
        if self.changed {
            return self.error(command.token, ScriptError::SecondCheck(name.to_owned()));
        }
        log::warn!("a second `{name}` is ignored");
        Ok(())
    }

    // ---- declarations and definitions ----

    fn declaration(&mut self, command: &Command<'_, 't>) -> Result<(), InputError> {
        let mut parts = command.parts;
        match command.verb {
            Verb::DeclareConst | Verb::DeclareVar => {
                let name = parts.expect_symbol()?;
                let sort = parts.expect()?;
                parts.finish()?;
                let place = sort;
                let sort = self.sort(sort)?;
                if command.verb == Verb::DeclareVar && self.environment.heap.is_some() {
                    let sorts = &mut self.environment.sorts;
                    let (_, written) = sorts.resolve_written(self.lexed, place)?;
                    self.environment.variable_sorts.insert(name.symbol, written);
                }
                let global = match command.verb {
                    Verb::DeclareVar => Global::Variable(sort),
                    // A Boolean constant is a predicate without arguments.
                    _ if sort == SortId::BOOL => self.predicate(name, &[]),
                    _ => Global::Uninterpreted,
                };
                self.declare(name, global)
            }
            Verb::DeclareFun | Verb::DeclareRel => {
                let name = parts.expect_symbol()?;
                let parameters = parts.expect_list()?;
                // In Z3, names of representations may follow the parameters of a relation.
                let result = match command.verb {
                    Verb::DeclareFun => {
                        let result = parts.expect()?;
                        parts.finish()?;
                        Some(result)
                    }
                    _ => None,
                };
                let parameters = parameters.map(|sort| self.sort(sort));
                let parameters: Vec<SortId> = parameters.collect::<Result<_, _>>()?;
                let result = result.map_or(Ok(SortId::BOOL), |sort| self.sort(sort))?;
                let text = self.lexed.symbols.name(name.symbol);
                let global = match (result, &parameters[..]) {
                    (SortId::INT, &[sort]) if self.functions.sizes.contains(text) => {
                        Global::Size(sort)
                    }
                    _ if self.functions.names.contains_key(text) => {
                        let id = self.terms.declare_function(text, &parameters, result);
                        self.functions.names.insert(text.to_owned(), Some(id));
                        Global::Function(id)
                    }
                    (SortId::BOOL, _) => self.predicate(name, &parameters),
                    _ => Global::Uninterpreted,
                };
                self.declare(name, global)
            }
            Verb::DeclareDatatype | Verb::DeclareDatatypes => {
                let singular = command.verb == Verb::DeclareDatatype;
                let declarations = self.lexed.datatypes(singular, parts)?;
                self.environment.sorts.declare(self.lexed, &declarations)?;
                let symbols = declarations.iter().map(|d| Undo::Sort(d.name.symbol));
                self.trail.extend(symbols);
                Ok(())
            }
            Verb::DeclareHeap => self.declare_heap(command),
            Verb::DefineSort => {
                let name = parts.expect_symbol()?;
                let mut list = parts.expect_list()?;
                let mut parameters = Vec::new();
                while !list.is_empty() {
                    parameters.push(list.expect_symbol()?.symbol);
                }
                let body = parts.expect()?;
                parts.finish()?;
                let sorts = &mut self.environment.sorts;
                sorts.define(self.lexed, name, &parameters, body)?;
                self.trail.push(Undo::Sort(name.symbol));
                Ok(())
            }
            Verb::DefineFun | Verb::DefineConst => {
                let name = parts.expect_symbol()?;
                let parameters = match command.verb {
                    Verb::DefineFun => Some(parts.expect_list()?),
                    _ => None,
                };
                let sort = parts.expect()?;
                let body = parts.expect()?;
                parts.finish()?;
                self.define(name, parameters, sort, body)
            }
            _ => {
                let name = parts.expect_symbol()?;
                Err(self.lexed.name_error(name, SortError::Uninterpreted))
            }
        }
    }

    fn declare_heap(&mut self, command: &Command<'_, 't>) -> Result<(), InputError> {
        let lexed = self.lexed;
        let syntax = heap_syntax(lexed, command.token, command.parts)?;
        let declarations = lexed.datatypes(false, syntax.datatypes)?;
        let environment = &mut self.environment;
        environment.declare_heap(lexed, command.token, &syntax, |environment| {
            environment.sorts.declare(lexed, &declarations)
        })?;
        let symbols = declarations.iter().map(|d| Undo::Sort(d.name.symbol));
        self.trail.extend(symbols);
        self.trail.push(Undo::Heap);
        let (default, object) = syntax.default_object();
        let object = self.sort(object)?;
        let value = self.elaborator(true).definition(&[], object, default)?;
        let environment = &mut self.environment;
        environment.set_default_object(lexed, &self.terms, default, value)
    }

    fn sort(&mut self, sort: TokenId) -> Result<SortId, InputError> {
        self.environment.sorts.resolve(self.lexed, sort)
    }

    fn predicate(&mut self, name: Named, parameters: &[SortId]) -> Global {
        let id = PredicateId(self.environment.predicates.len() as u32);
        let name = self.lexed.symbols.name(name.symbol);
        let predicate = Predicate::new(&self.terms, name, parameters);
        self.environment.predicates.push(predicate);
        Global::Predicate(id)
    }

    fn declare(&mut self, name: Named, global: Global) -> Result<(), InputError> {
        let symbol = name.symbol;
        let sorts = &self.environment.sorts;
        let taken = self.environment.globals.contains_key(&symbol)
            || !sorts.constructors(symbol).is_empty()
            || !sorts.selectors(symbol).is_empty();
        if taken {
            return Err(self.lexed.name_error(name, ScriptError::DeclaredTwice));
        }
        if is_core(symbol.0 as usize) {
            return Err(self.lexed.name_error(name, ScriptError::BuiltIn));
        }
        self.environment.globals.insert(symbol, global);
        self.trail.push(Undo::Global(symbol));
        Ok(())
    }

    fn define(
        &mut self,
        name: Named,
        parameters: Option<Elements<'_, '_>>,
        sort: TokenId,
        body: TokenId,
    ) -> Result<(), InputError> {
        let result = self.sort(sort)?;
        let mut signature = Vec::new();
        let mut formals = Vec::new();
        for parameter in parameters.into_iter().flatten() {
            let parameter = self.lexed.binding(parameter)?;
            let symbol = parameter.name.symbol;
            let sort = self.sort(parameter.meaning)?;
            signature.push((symbol, sort));
            let formal = self.terms.fresh_var(self.lexed.symbols.name(symbol), sort);
            formals.push((symbol, formal));
        }
        let value = self.elaborator(true).definition(&formals, result, body)?;
        let plain = match value {
            Value::Term(term) if !self.terms.node(term).has_quantifier => {
                Some((term, formals.iter().map(|f| f.1).collect()))
            }
            _ => None,
        };
        let size = match value {
            Value::Term(term) => self.terms.dag_size(&[term]),
            _ => 0,
        };
        self.declare(name, Global::Macro(self.environment.macros.len()))?;
        self.environment.macros.push(Macro {
            parameters: signature,
            result,
            body,
            plain,
            size,
        });
        Ok(())
    }

    // ---- assertions, rules and queries ----

    fn elaborator(&mut self, in_definition: bool) -> Elaborator<'_, 't> {
        self.work.clear();
        Elaborator {
            lexed: self.lexed,
            terms: &self.terms,
            environment: &mut self.environment,
            work: &mut self.work,
            in_definition,
        }
    }

    fn clause_command(&mut self, command: &Command<'_, '_>) -> Result<(), InputError> {
        let mut parts = command.parts;
        let term = parts.expect()?;
        if command.verb == Verb::Assert {
            // A rule may have a name and a query may have options, which do not change the clauses.
            parts.finish()?;
        }
        let bare = self
            .lexed
            .symbol(term)
            .filter(|_| command.verb == Verb::Query);
        let value = match bare.and_then(|symbol| self.environment.globals.get(&symbol)) {
            Some(&Global::Predicate(id)) => self.bare_query(id, term),
            _ => self.elaborator(false).formula(term)?,
        };
        let clausifier = Clausifier::new(&self.terms, &mut self.work.formulas, command.token);
        let clauses = match command.verb {
            Verb::Query => clausifier.query(value),
            _ => clausifier.assertion(value),
        };
        let clauses = clauses.map_err(|(token, kind)| self.lexed.error(token, kind))?;
        self.number += 1;
        let names = &self.lexed.symbols;
        for clause in clauses {
            let HornClause {
                vars,
                body,
                constraint,
                head,
            } = clause;
            let rule_variables = self.work.rule_variables.iter();
            let guards = &self.work.guards;
            let of_rules = rule_variables.clone().filter_map(|v| guards.get(&v.1));
            let of_rules = of_rules.flatten().copied().chain([constraint]);
            let constraint = match guards.is_empty() {
                true => constraint,
                false => self.terms.and(&of_rules.collect::<Vec<_>>()),
            };
            let constraint = without_needless_guards(&self.terms, guards, &body, constraint);
            let vars = rule_variables
                .copied()
                .chain(vars)
                .map(|(symbol, variable)| (names.name(symbol).to_owned(), variable))
                .collect();
            self.clauses.push(ProblemClause {
                vars,
                body,
                constraint,
                head,
                command: self.commands.len() - 1,
                number: self.number,
            });
        }
        Ok(())
    }

    /// The formula of `(query p)`: p with fresh variables as arguments.
    fn bare_query(&mut self, id: PredicateId, term: TokenId) -> Value {
        self.work.clear();
        let predicate = &self.environment.predicates[id.index()];
        let fresh = |&p| {
            self.terms
                .fresh_var(self.terms.var_name(p), self.terms.sort_of(p))
        };
        let arguments: Vec<_> = predicate.params.iter().map(fresh).collect();
        if let Some(symbol) = self.lexed.symbol(term) {
            let variables = arguments.iter().map(|&a| (symbol, a));
            self.work.rule_variables.extend(variables);
        }
        self.work.formulas.atom(id, &arguments, term)
    }
}
