//! Executes the commands of a text and collects the problem in force at the check.
//!
//! Invariant: `pop` removes exactly the names, predicates and clauses that were added since its
//! `push`, so each clause mentions only predicates of the problem. After the check, only requests
//! are read, and whether there is a second check after changes.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::builtins::{BUILTINS, is_core};
use super::clauses::{Clauses, Clausifier, GeneralClause};
use super::commands::{Command, Verb, sorts_first, split, unsupported};
use super::complement;
use super::constants::{FreeConstant, bind, outermost_exists};
use super::constructor_counts::{SIZE, with_size_functions};
use super::elaborate::Elaborator;
use super::environment::{Environment, Global, Macro, Workspace};
use super::error::{
    ErrorKind, InputError, NotHorn, ScriptError, SortError, SyntaxError, TermError, shorten,
};
use super::formula::{Formula, Formulas, Value};
use super::heaps::{Heap, heap_syntax, without_needless_guards};
use super::lexer::{Kind, Lexed, Sym, Symbols, TokenId};
use super::names::{declares_built_in_sort, defines_as_itself};
use super::predeclared::{ListSymbols, is_predeclared};
use super::problem::{Disjunction, FreeSort, nested};
use super::recursive::{Calls, heads, is_goal, is_recursive, parameters};
use super::sorts::Sorts;
use super::syntax::{Elements, Named};
use super::warnings::{Nonstandard, Options, Warnings};
use super::{CommandSpan, Dialect, Functions, Problem, ProblemClause, Requests, TextFunction};
use crate::limits::LIMITS;
use crate::{Predicate, PredicateId};
use alphorn_term::{SortId, TermId, TermStore};

/// Reads a whole text, see [`super::parse`]. Declarations of datatypes are reordered only if a sort
/// is undeclared in the order of the text. `latin1` is the place of the first byte that was not
/// UTF-8.
pub(super) fn read(
    text: &str,
    latin1: Option<usize>,
    terms: Rc<TermStore>,
    functions: &mut Functions,
    options: Options,
) -> Result<Problem, InputError> {
    let warnings = Warnings::new(options.strict);
    if let Some(place) = latin1 {
        let at = InputError::at_byte(text, place, Nonstandard::Latin1);
        warnings.add(at.line, at.column, Nonstandard::Latin1)?;
    }
    read_with_warnings(text, warnings, terms, functions, options)
}

fn read_with_warnings(
    text: &str,
    warnings: Warnings,
    terms: Rc<TermStore>,
    functions: &mut Functions,
    options: Options,
) -> Result<Problem, InputError> {
    let symbols = Symbols::with_names(BUILTINS.iter().map(|b| b.0));
    let mut lexed = Lexed::new(text, symbols, warnings)?;
    let list = ListSymbols::new(&mut lexed.symbols);
    let mut commands = split(&lexed)?;
    let error = match read_commands(&lexed, &commands, None, terms.clone(), functions, options) {
        Err(error) => error,
        result => return result,
    };
    if matches!(&error.kind, ErrorKind::Term(TermError::Undeclared(name)) if name == SIZE) {
        let place = (error.line, error.column);
        let Some(text) = size_functions(&lexed, &commands, &terms, functions) else {
            return Err(error);
        };
        let warnings = lexed.warnings;
        warnings.add(place.0, place.1, Nonstandard::ConstructorCount)?;
        return read_with_warnings(&text, warnings, terms, functions, options).map_err(|_| error);
    }
    let ErrorKind::Sort(SortError::Undeclared(sort)) = &error.kind else {
        return Err(error);
    };
    let Some(token) = sorts_first(&lexed, &mut commands) else {
        if !is_predeclared(sort) {
            return Err(error);
        }
        let at = (error.line, error.column);
        lexed
            .warnings
            .add(at.0, at.1, Nonstandard::PredeclaredList)?;
        return read_commands(&lexed, &commands, Some(list), terms, functions, options);
    };
    lexed.warn(token, Nonstandard::DatatypesInAnotherOrder)?;
    read_commands(&lexed, &commands, None, terms, functions, options).map_err(|_| error)
}

/// The text with functions for the undeclared `_size`, if it is read with them.
fn size_functions(
    lexed: &Lexed<'_>,
    commands: &[Command<'_, '_>],
    terms: &Rc<TermStore>,
    functions: &mut Functions,
) -> Option<String> {
    let mut reader = Reader::new(lexed, terms.clone(), Dialect::Horn, functions);
    reader.environment.size_places = Some(Vec::new());
    for command in commands {
        reader.command(command).ok()?;
    }
    let places = reader.environment.size_places.take()?;
    with_size_functions(lexed, commands, terms, &places)
}

fn read_commands(
    lexed: &Lexed<'_>,
    commands: &[Command<'_, '_>],
    list: Option<ListSymbols>,
    terms: Rc<TermStore>,
    functions: &mut Functions,
    options: Options,
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
    if reader.checked || (options.check_at_end && dialect == Dialect::Horn) {
        return reader.problem();
    }
    // Without a check the text may have been cut off.
    let missing = match dialect {
        Dialect::Fixedpoint => ScriptError::RulesWithoutQuery,
        Dialect::Horn | Dialect::Goal => ScriptError::NoCheck,
    };
    Err(lexed.error_at_end(missing))
}

/// A name that a `pop` removes.
enum Undo {
    Global(Sym),
    Sort(Sym),
    /// The name of a term.
    Name(Sym),
    Heap,
}

/// The state at the beginning of a level: lengths of lists, and the number of clause commands.
#[derive(Default)]
struct Level {
    trail: usize,
    predicates: usize,
    recursive: usize,
    clauses: usize,
    disjunctions: usize,
    free_sorts: usize,
    constants: usize,
    commands: usize,
    number: usize,
}

/// A clause with any number of heads, and its place.
struct ReadClause {
    clause: GeneralClause,
    /// All variables with their names.
    vars: Vec<(Rc<str>, TermId)>,
    command: usize,
    number: usize,
    /// The token of its formula.
    token: TokenId,
}

/// Names of symbols that clauses share.
struct SharedNames<'r, 't> {
    symbols: &'r Symbols<'t>,
    /// By symbol, its name if it has been asked for.
    names: Vec<Option<Rc<str>>>,
}

impl SharedNames<'_, '_> {
    fn name(&mut self, symbol: Sym) -> Rc<str> {
        let name = &mut self.names[symbol.0 as usize];
        name.get_or_insert_with(|| self.symbols.name(symbol).into())
            .clone()
    }
}

/// The state between commands.
struct Reader<'r, 't> {
    lexed: &'r Lexed<'t>,
    names: SharedNames<'r, 't>,
    functions: &'r mut Functions,
    terms: Rc<TermStore>,
    dialect: Dialect,
    environment: Environment,
    work: Workspace,
    clauses: Vec<ReadClause>,
    disjunctions: Vec<Disjunction>,
    free_sorts: Vec<FreeSort>,
    constants: Vec<FreeConstant>,
    /// The numbers of commands whose clauses are stronger than they are.
    stronger: Vec<usize>,
    /// The recursive functions of the text.
    recursive: Vec<TextFunction>,
    /// The position in `commands` of an assertion that a goal does not hold.
    goal: Option<usize>,
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
            names: SharedNames {
                symbols: &lexed.symbols,
                names: vec![None; lexed.symbols.len()],
            },
            functions,
            dialect,
            environment: Environment {
                sorts: Sorts::new(terms.clone()),
                globals: FxHashMap::default(),
                predicates: Vec::new(),
                macros: Vec::new(),
                names: FxHashMap::default(),
                new_names: Vec::new(),
                heap: None,
                variable_sorts: FxHashMap::default(),
                size_places: None,
            },
            work: Workspace::new(formulas, lexed.symbols.len()),
            terms,
            clauses: Vec::new(),
            disjunctions: Vec::new(),
            free_sorts: Vec::new(),
            constants: Vec::new(),
            stronger: Vec::new(),
            recursive: Vec::new(),
            goal: None,
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

    fn problem(mut self) -> Result<Problem, InputError> {
        let count = self.environment.predicates.len();
        // Facts of predicates have well-formed heaps, so that guards of variables in bodies are left
        // out; those of complements need not.
        let mut fixed: Vec<PredicateId> = self.recursive.iter().map(|f| f.graph).collect();
        if self.environment.heap.is_some() {
            fixed = (0..count as u32).map(PredicateId).collect();
        }
        let general = self.clauses.iter_mut().map(|read| &mut read.clause);
        let general = general.collect();
        let complemented = complement::make_horn(count, &fixed, general, &self.disjunctions);
        let complemented = complemented.map_err(|both| self.not_horn(&both))?;
        let mut calls = Calls::new(&self.terms, &self.recursive);
        let mut clauses = Vec::with_capacity(self.clauses.len());
        for read in self.clauses {
            let clause = ProblemClause {
                vars: read.vars,
                body: read.clause.body,
                constraint: read.clause.constraint,
                disjunctions: read.clause.disjunctions,
                head: read.clause.heads.into_iter().next().map(|(head, _)| head),
                command: read.command,
                number: read.number,
            };
            let replaced = calls.replaced(clause);
            clauses.extend(replaced.map_err(|kind| self.lexed.error(read.token, kind))?);
        }
        let (terms, constants) = (&self.terms, &mut self.constants);
        let has_constants = bind(terms, constants, &mut clauses, &self.disjunctions);
        let used: FxHashSet<TermId> = clauses
            .iter()
            .flat_map(|c| c.vars.iter().map(|v| v.1))
            .collect();
        constants.retain(|constant| used.contains(&constant.var));
        if let (Some(constant), false) = (constants.first(), self.recursive.is_empty()) {
            let name = shorten(&constant.name);
            let command = constant
                .declaration
                .as_ref()
                .map_or(0, |(_, command)| *command);
            return Err(InputError {
                line: self.commands[command].line,
                column: self.commands[command].column,
                kind: TermError::ConstantBesideFunctions(name).into(),
            });
        }
        Ok(Problem {
            constants: self.constants,
            warnings: self.lexed.warnings.sorted(),
            terms: self.terms,
            text: self.lexed.text.into(),
            dialect: match self.goal {
                Some(_) => Dialect::Goal,
                None => self.dialect,
            },
            heap: self.environment.heap.as_ref().map(Heap::sorts),
            predicates: self.environment.predicates,
            functions: self.recursive,
            clauses,
            free_sorts: self.free_sorts,
            disjunctions: self.disjunctions,
            complemented,
            is_stronger: !self.stronger.is_empty() || has_constants,
            commands: self.commands,
            requests: self.requests,
        })
    }

    /// The error of a clause with two heads that cannot be made Horn.
    fn not_horn(&self, clause: &complement::TwoHeads) -> InputError {
        let name = |id: PredicateId| shorten(&self.environment.predicates[id.index()].name);
        self.lexed.error(
            clause.token,
            NotHorn::SecondHead {
                first: name(clause.first),
                second: name(clause.second),
            },
        )
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
                if command.keyword == "check-sat-using" {
                    self.lexed.warn(command.token, Nonstandard::CheckSatUsing)?;
                }
                Ok(())
            }
            Verb::GetModel | Verb::GetProof | Verb::GetInfo => self.request(command),
            Verb::SetLogic | Verb::SetOption => self.set(command),
            Verb::SetInfo => self.expect_keyword(command),
            Verb::Exit => Ok(()),
            Verb::Other => {
                self.requests.replies = true;
                Ok(())
            }
            Verb::Display | Verb::Unknown if self.checked => {
                // A command that is not known may have changed the problem.
                self.changed |= command.verb == Verb::Unknown;
                self.requests.replies = true;
                Ok(())
            }
            Verb::Display => {
                self.requests.replies = true;
                let construct = Nonstandard::WithoutEffect(shorten(command.keyword));
                self.lexed.warn(command.token, construct)
            }
            Verb::Unknown => self.error(command.token, unsupported(command)),
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
            _ if self.declares_built_in_sort(command)? => Ok(()),
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

    fn request(&mut self, command: &Command<'_, '_>) -> Result<(), InputError> {
        self.requests.replies = true;
        let reason = self.part(command, 0) == ":reason-unknown";
        match command.verb {
            Verb::GetModel => self.requests.model = true,
            Verb::GetProof => self.requests.proof = true,
            _ => self.requests.reason_unknown |= reason,
        }
        let about_the_answer = command.verb != Verb::GetInfo || reason;
        if about_the_answer && self.dialect == Dialect::Horn && !self.checked {
            let construct = Nonstandard::RequestBeforeCheck(command.keyword.to_owned());
            self.lexed.warn(command.token, construct)?;
        }
        Ok(())
    }

    fn set(&mut self, command: &Command<'_, '_>) -> Result<(), InputError> {
        let (name, value) = (self.part(command, 0), self.part(command, 1));
        match (command.verb, name) {
            (Verb::SetLogic, "HORN" | "ALL") => {}
            (Verb::SetLogic, _) => {
                let construct = Nonstandard::Logic(shorten(name));
                self.lexed.warn(command.token, construct)?;
            }
            // As in Z3, 0 means no limit.
            (_, ":timeout") => self.requests.timeout_ms = value.parse().ok().filter(|&ms| ms > 0),
            (_, ":global-declarations") => self.global_declarations = value == "true",
            (_, ":print-success") => self.requests.replies |= value == "true",
            _ => self.expect_keyword(command)?,
        }
        if !self.checked {
            self.record(command);
        }
        Ok(())
    }

    /// Warns about `set-info` and `set-option` without a keyword.
    fn expect_keyword(&self, command: &Command<'_, '_>) -> Result<(), InputError> {
        match { command.parts }.next().map(|first| self.lexed.kind(first)) {
            Some(Kind::Keyword) => Ok(()),
            _ => {
                let construct = Nonstandard::NoKeyword(command.keyword.to_owned());
                self.lexed.warn(command.token, construct)
            }
        }
    }

    /// Whether a command declares a sort that is built in, which has no effect.
    fn declares_built_in_sort(&self, command: &Command<'_, '_>) -> Result<bool, InputError> {
        let mut parts = command.parts;
        let Some(name) = parts.next() else {
            return Ok(false);
        };
        let text = self.lexed.source(name);
        let ignored = match command.verb {
            Verb::DeclareSort => declares_built_in_sort(text, self.part(command, 1)),
            Verb::DefineSort => {
                let list = parts.next().and_then(|list| self.lexed.elements(list));
                list.is_some_and(|list| defines_as_itself(text, list, self.part(command, 2)))
            }
            _ => false,
        };
        if ignored {
            let construct = Nonstandard::DeclaredBuiltIn(text.to_owned());
            self.lexed.warn(name, construct)?;
        }
        Ok(ignored)
    }

    fn scope(&mut self, command: &Command<'_, '_>) -> Result<(), InputError> {
        if command.verb == Verb::Push {
            for _ in 0..self.count(command)? {
                self.levels.push(Level {
                    trail: self.trail.len(),
                    predicates: self.environment.predicates.len(),
                    recursive: self.recursive.len(),
                    clauses: self.clauses.len(),
                    disjunctions: self.disjunctions.len(),
                    free_sorts: self.free_sorts.len(),
                    constants: self.constants.len(),
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
                Undo::Name(symbol) => {
                    self.environment.names.remove(&symbol);
                }
            }
        }
        self.environment.predicates.truncate(level.predicates);
        self.recursive.truncate(level.recursive);
        self.clauses.truncate(level.clauses);
        self.disjunctions.truncate(level.disjunctions);
        self.free_sorts.truncate(level.free_sorts);
        self.constants.truncate(level.constants);
        self.commands.truncate(level.commands);
        self.goal = self.goal.filter(|&goal| goal < level.commands);
        self.number = level.number;
        self.stronger.retain(|&number| number < level.number);
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
                let written = parts.expect()?;
                parts.finish()?;
                let sort = self.sort(written)?;
                if command.verb == Verb::DeclareVar && self.environment.heap.is_some() {
                    let sorts = &mut self.environment.sorts;
                    let (_, written) = sorts.resolve_written(self.lexed, written)?;
                    self.environment.variable_sorts.insert(name.symbol, written);
                }
                let global = match command.verb {
                    Verb::DeclareVar => Global::Variable(sort),
                    // A Boolean constant is a predicate without arguments.
                    _ if sort == SortId::BOOL => self.predicate(name, &[]),
                    _ => self.constant(name, sort, written, &[]),
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
                let sorts: Vec<TokenId> = parameters.collect();
                let parameters = sorts.iter().map(|&sort| self.sort(sort));
                let parameters: Vec<SortId> = parameters.collect::<Result<_, _>>()?;
                let written = result.unwrap_or(name.token);
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
                    _ => {
                        // A function from the last parameter, and so on.
                        let array = |sort, &parameter| self.terms.array_sort(parameter, sort);
                        let sort = parameters.iter().rev().fold(result, array);
                        self.constant(name, sort, written, &sorts)
                    }
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
            Verb::DefineFunRec | Verb::DefineFunsRec => self.define_recursive(command),
            _ => {
                let name = parts.expect_symbol()?;
                let parameters = parts.next();
                parts.finish()?;
                if parameters.is_some_and(|arity| self.lexed.source(arity) != "0") {
                    return Err(self.lexed.name_error(name, SortError::FreeWithParameters));
                }
                let number = self.free_sorts.len();
                let reading = self.functions.sorts.get(number).copied();
                let sorts = &mut self.environment.sorts;
                let free = sorts.declare_free(self.lexed, name, reading.unwrap_or_default())?;
                self.free_sorts.push(free);
                self.trail.push(Undo::Sort(name.symbol));
                Ok(())
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

    /// A constant that the last command declares, or a function with parameters of these sorts. The
    /// sort of its values is `written`.
    fn constant(
        &mut self,
        name: Named,
        sort: SortId,
        written: TokenId,
        parameters: &[TokenId],
    ) -> Global {
        if self.dialect == Dialect::Fixedpoint || self.environment.heap.is_some() {
            return Global::Uninterpreted;
        }
        let text = self.lexed.symbols.name(name.symbol);
        let var = self.terms.fresh_var(text, sort);
        let source = |token: TokenId| {
            let first = self.lexed.token(token);
            let last = match first.kind {
                Kind::Open(close) => self.lexed.token(close),
                _ => first,
            };
            self.lexed.text[first.start as usize..last.end as usize].to_owned()
        };
        self.constants.push(FreeConstant {
            name: text.to_owned(),
            var,
            parameters: parameters.iter().map(|&sort| source(sort)).collect(),
            declaration: Some((source(written), self.commands.len() - 1)),
            definition: None,
        });
        match parameters {
            [] => Global::Constant(var),
            _ => Global::FreeFunction(var, parameters.len()),
        }
    }

    fn declare(&mut self, name: Named, global: Global) -> Result<(), InputError> {
        let symbol = name.symbol;
        let sorts = &self.environment.sorts;
        let taken = self.environment.globals.contains_key(&symbol)
            || !sorts.constructors(symbol).is_empty()
            || !sorts.selectors(symbol).is_empty();
        let names = &self.environment.names;
        if taken || names.get(&symbol).is_some_and(|entry| entry.used) {
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
            Value::Term(term)
                if !self.terms.node(term).has_quantifier
                    && self.work.formulas.predicate_in(value).is_none() =>
            {
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

    /// Defines the functions of a `define-fun-rec` or `define-funs-rec`. Without recursion they are
    /// macros.
    fn define_recursive(&mut self, command: &Command<'_, 't>) -> Result<(), InputError> {
        let lexed = self.lexed;
        let heads = heads(lexed, command)?;
        if !is_recursive(lexed, &heads) {
            for head in heads {
                self.define(head.name, Some(head.parameters), head.result, head.body)?;
            }
            return Ok(());
        }
        let first = self.recursive.len();
        let mut formals = Vec::with_capacity(heads.len());
        for (head, parameters) in heads.iter().zip(parameters(lexed, &heads)?) {
            let mut sorts = Vec::with_capacity(parameters.len() + 1);
            for parameter in &parameters {
                sorts.push(self.sort(parameter.meaning)?);
            }
            let result = self.sort(head.result)?;
            let name = lexed.symbols.name(head.name.symbol);
            let function = self.terms.declare_function(name, &sorts, result);
            self.declare(head.name, Global::Function(function))?;
            let graph = PredicateId(self.environment.predicates.len() as u32);
            sorts.push(result);
            let predicate = Predicate::new(&self.terms, name, &sorts);
            self.environment.predicates.push(predicate);
            self.recursive.push(TextFunction {
                name: name.to_owned(),
                function,
                body: TermId::TRUE,
                graph,
                command: self.commands.len() - 1,
            });
            let params = &self.terms.function(function).params;
            let symbols = parameters.iter().map(|p| p.name.symbol);
            let params: Vec<(Sym, TermId)> = symbols.zip(params.clone()).collect();
            formals.push((params, result));
        }
        for (at, (head, (params, result))) in heads.iter().zip(&formals).enumerate() {
            let mut elaborator = self.elaborator(true);
            let value = elaborator.definition(params, *result, head.body)?;
            if let Some(atom) = elaborator.work.formulas.predicate_in(value) {
                let token = elaborator.work.formulas.token(atom);
                return Err(lexed.error(token, TermError::PredicateInFunction));
            }
            let body = elaborator.term(value, head.body)?;
            self.recursive[first + at].body = body;
        }
        self.number += 1;
        for (at, head) in heads.iter().enumerate() {
            let mut calls = Calls::new(&self.terms, &self.recursive);
            let params = formals[at].0.iter();
            let names = &lexed.symbols;
            let vars = params.map(|&(symbol, var)| (names.name(symbol).into(), var));
            let clauses = calls.equation(&self.recursive[first + at], vars.collect(), self.number);
            let clauses = clauses.map_err(|kind| lexed.error(head.body, kind))?;
            let clauses = clauses.into_iter().map(|clause| ReadClause {
                clause: GeneralClause {
                    vars: Vec::new(),
                    body: clause.body,
                    constraint: clause.constraint,
                    disjunctions: Vec::new(),
                    heads: clause
                        .head
                        .into_iter()
                        .map(|atom| (atom, head.body))
                        .collect(),
                },
                vars: clause.vars,
                command: clause.command,
                number: clause.number,
                token: head.body,
            });
            self.clauses.extend(clauses);
        }
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
            names_formulas: self.dialect == Dialect::Horn && !in_definition,
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
        for symbol in std::mem::take(&mut self.environment.new_names) {
            self.trail.push(Undo::Name(symbol));
        }
        let mut value = value;
        while command.verb == Verb::Assert
            && self.environment.heap.is_none()
            && let Some((quantifier, below)) = outermost_exists(&mut self.work.formulas, value)
        {
            self.lexed.warn(term, Nonstandard::OutermostExists)?;
            value = below;
            self.work.formulas.strip(quantifier);
            if let Formula::Quantifier(_, list, _) = self.work.formulas.formula(quantifier) {
                for &(symbol, var) in self.work.formulas.variables(list) {
                    self.constants.push(FreeConstant {
                        name: self.lexed.symbols.name(symbol).to_owned(),
                        var,
                        parameters: Vec::new(),
                        declaration: None,
                        definition: None,
                    });
                }
            }
        }
        let is_goal = command.verb == Verb::Assert
            && is_goal(&self.terms, &self.work.formulas, &self.recursive, value);
        let mut before = self.commands.iter().rev().skip(1);
        if self.goal.is_some() || is_goal && before.any(|c| c.keyword == "assert") {
            return self.error(term, ScriptError::BesideGoal);
        }
        if is_goal {
            self.goal = Some(self.commands.len() - 1);
        }
        let clausifier = Clausifier::new(
            &self.terms,
            &mut self.work.formulas,
            &mut self.disjunctions,
            &self.lexed.symbols,
            command.token,
        );
        // Calls of recursive functions are replaced clause by clause.
        let clausifier = match self.recursive.is_empty() {
            true => clausifier,
            false => clausifier.with_copies_only(),
        };
        let clauses = match command.verb {
            Verb::Query => clausifier.query(value),
            _ if is_goal => clausifier.query(value),
            _ => clausifier.assertion(value),
        };
        let Clauses {
            clauses,
            is_stronger,
        } = clauses.map_err(|(token, kind)| self.lexed.error(token, kind))?;
        if is_stronger {
            self.stronger.push(self.number);
        }
        self.number += 1;
        for clause in clauses {
            if let (Dialect::Fixedpoint, Some((_, second))) = (self.dialect, clause.heads.get(1)) {
                return self.error(*second, NotHorn::NegationInRule);
            }
            let own = self.work.rule_variables.iter().chain(&clause.vars);
            let names = &mut self.names;
            let own = own.map(|&(symbol, variable)| (names.name(symbol), variable));
            let mut vars: Vec<(Rc<str>, TermId)> = own.collect();
            for at in nested(&self.disjunctions, &clause.disjunctions) {
                let alternatives = self.disjunctions[at].alternatives.iter();
                vars.extend(alternatives.flat_map(|a| a.vars.iter().cloned()));
            }
            let guards = &self.work.guards;
            let mut clause = clause;
            if !guards.is_empty() {
                let of_rules = self.work.rule_variables.iter();
                let of_rules = of_rules.filter_map(|v| guards.get(&v.1)).flatten().copied();
                let all: Vec<TermId> = of_rules.chain([clause.constraint]).collect();
                clause.constraint = self.terms.and(&all);
            }
            clause.constraint =
                without_needless_guards(&self.terms, guards, &clause.body, clause.constraint);
            self.clauses.push(ReadClause {
                clause,
                vars,
                command: self.commands.len() - 1,
                number: self.number,
                token: term,
            });
        }
        Ok(())
    }

    /// The formula of `(query p)`: p with fresh variables as arguments.
    fn bare_query(&mut self, id: PredicateId, term: TokenId) -> Value {
        self.work.clear();
        let predicate = &self.environment.predicates[id.index()];
        let fresh = |&p| self.terms.fresh_copy(p);
        let arguments: Vec<_> = predicate.params.iter().map(fresh).collect();
        if let Some(symbol) = self.lexed.symbol(term) {
            let variables = arguments.iter().map(|&a| (symbol, a));
            self.work.rule_variables.extend(variables);
        }
        self.work.formulas.atom(id, &arguments, term)
    }
}
