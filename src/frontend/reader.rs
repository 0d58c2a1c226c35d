//! Runs through the commands of a file and collects the problem that is in force at the check.
//!
//! Invariant: `pop` takes back exactly what came after its `push`, so predicates keep their
//! numbers and clauses never mention a predicate that is gone.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use smt2parser::CommandStream;

use super::clauses::{Clausifier, HornClause};
use super::commands::{RawCommand, Rewritten, Verb, shorten, sorts_first, split};
use super::elaborate::{Elaborator, Environment, Global, Macro, Workspace};
use super::error::position;
use super::formula::{Formulas, Value};
use super::lexer::{Kind, Lexed, Sym, Symbols};
use super::operators::{BUILTINS, is_core};
use super::sorts::{Sorts, UNDECLARED, symbol_at};
use super::syntax::{Arena, Mark, NodeId, Parsed, SortNode, Syntax, SyntaxError};
use super::{CommandSpan, Dialect, InputError, Problem, ProblemClause, Requests};
use crate::chc::{Predicate, PredicateId};
use crate::term::{SortId, TermStore};

/// Reads a whole text, see [`super::parse`]. Declarations of datatypes are put into another order only
/// where the text's own makes no sense.
pub(super) fn read(text: &str, terms: Rc<TermStore>) -> Result<Problem, InputError> {
    let symbols = Symbols::with_names(BUILTINS.iter().map(|b| b.0));
    let lexed = Lexed::new(text, symbols)?;
    let mut commands = split(&lexed)?;
    let error = match read_commands(text, &lexed, &commands, terms.clone()) {
        Err(error) if error.message.contains(UNDECLARED) => error,
        result => return result,
    };
    if !sorts_first(&lexed, &mut commands) {
        return Err(error);
    }
    let problem = read_commands(text, &lexed, &commands, terms).map_err(|_| error)?;
    log::warn!("datatypes are used before their declaration; they are read in another order");
    Ok(problem)
}

fn read_commands(
    text: &str,
    lexed: &Lexed<'_>,
    commands: &[RawCommand],
    terms: Rc<TermStore>,
) -> Result<Problem, InputError> {
    let mut rewritten = Rewritten::default();
    let mut checked = false;
    for command in commands {
        checked |= matches!(command.verb, Verb::CheckSat | Verb::Query);
        // What follows the check is not read, but must be well-formed.
        if command.verb.is_parsed() {
            rewritten.command(lexed, command)?;
        }
    }
    let fixedpoint = commands.iter().any(|c| {
        matches!(
            c.verb,
            Verb::Rule | Verb::Query | Verb::DeclareRel | Verb::DeclareVar
        )
    });
    let dialect = if fixedpoint {
        Dialect::Fixedpoint
    } else {
        Dialect::Horn
    };
    if fixedpoint && !checked {
        let last = commands.last().map_or(0, |c| c.open);
        return Err(lexed.error(last, "rules without a `query`"));
    }
    let mut reader = Reader::new(lexed, terms, dialect);
    let stream_text = std::mem::take(&mut rewritten.text);
    let mut stream = CommandStream::new(stream_text.as_bytes(), Arena::default(), None);
    for command in commands {
        if !command.verb.is_parsed() {
            reader.plain(command)?;
            continue;
        }
        let parsed = match stream.next() {
            Some(Ok(parsed)) => parsed,
            Some(Err(error)) => return Err(syntax_error(lexed, command, &rewritten, &error)),
            None => return Err(lexed.error(command.open, "the command cannot be read")),
        };
        reader.parsed(command, parsed, stream.visitor())?;
        let keep = reader.keep;
        stream.visitor_mut().truncate(keep);
    }
    Ok(reader.problem(text))
}

fn syntax_error(
    lexed: &Lexed<'_>,
    command: &RawCommand,
    rewritten: &Rewritten,
    error: &SyntaxError,
) -> InputError {
    let Some(line) = error.line else {
        return lexed.error(error.token, error.message.clone());
    };
    let name = lexed.source(command.open + 1);
    let token = line
        .checked_sub(1)
        .and_then(|i| rewritten.tokens.get(i).copied());
    match token {
        Some(token) if token == command.close => {
            lexed.error(token, format!("`{name}` ends too early"))
        }
        Some(token) => {
            let found = shorten(lexed.source(token));
            lexed.error(token, format!("unexpected `{found}` in `{name}`"))
        }
        None => lexed.error(command.open, format!("`{name}` cannot be read")),
    }
}

enum Undo {
    Global(Sym),
    Sort(Sym),
}

struct Level {
    trail: usize,
    predicates: usize,
    clauses: usize,
    commands: usize,
    number: usize,
}

struct Reader<'r, 't> {
    lexed: &'r Lexed<'t>,
    terms: Rc<TermStore>,
    dialect: Dialect,
    environment: Environment,
    work: Workspace,
    clauses: Vec<ProblemClause>,
    commands: Vec<CommandSpan>,
    requests: Requests,
    trail: Vec<Undo>,
    levels: Vec<Level>,
    /// What of the arena later commands may refer to.
    keep: Mark,
    /// Clause commands in force so far.
    number: usize,
    /// A check or query was seen: only requests count from here on.
    checked: bool,
    /// Something changed what a second check would be about.
    changed: bool,
    global_declarations: bool,
    place: (usize, (u32, u32)),
}

impl<'r, 't> Reader<'r, 't> {
    fn new(lexed: &'r Lexed<'t>, terms: Rc<TermStore>, dialect: Dialect) -> Self {
        let formulas = Formulas::new(terms.clone());
        Reader {
            lexed,
            dialect,
            environment: Environment {
                sorts: Sorts::new(terms.clone()),
                globals: FxHashMap::default(),
                predicates: Vec::new(),
                macros: Vec::new(),
            },
            work: Workspace::new(formulas, lexed.symbols.len()),
            terms,
            clauses: Vec::new(),
            commands: Vec::new(),
            requests: Requests::default(),
            trail: Vec::new(),
            levels: Vec::new(),
            keep: Mark::default(),
            number: 0,
            checked: false,
            changed: false,
            global_declarations: false,
            place: (0, (1, 1)),
        }
    }

    fn problem(self, text: &str) -> Problem {
        Problem {
            terms: self.terms,
            text: text.into(),
            dialect: self.dialect,
            predicates: self.environment.predicates,
            clauses: self.clauses,
            commands: self.commands,
            requests: self.requests,
        }
    }

    fn error<T>(&self, token: u32, message: impl Into<String>) -> Result<T, InputError> {
        Err(self.lexed.error(token, message))
    }

    /// Notes a command as in force.
    fn record(&mut self, command: &RawCommand) {
        let tokens = &self.lexed.tokens;
        let start = tokens[command.open as usize].start as usize;
        let end = tokens[command.close as usize].end as usize;
        if start < self.place.0 {
            // Declarations may be in another order than in the text.
            self.place = (0, (1, 1));
        }
        let place = position(self.lexed.text, self.place.0, self.place.1, start);
        self.place = (start, place);
        self.commands.push(CommandSpan {
            keyword: self.lexed.source(command.open + 1).to_owned(),
            range: start..end,
            line: place.0,
            column: place.1,
        });
    }

    // ---- commands without terms ----

    fn plain(&mut self, command: &RawCommand) -> Result<(), InputError> {
        let lexed = self.lexed;
        let first = command.open + 2;
        let argument = if first < command.close {
            lexed.source(first)
        } else {
            ""
        };
        match command.verb {
            Verb::CheckSat => {
                if self.checked {
                    return self.check_again(command);
                }
                if self.dialect == Dialect::Fixedpoint {
                    return self.error(command.open, "`check-sat` in a file of rules");
                }
                self.checked = true;
            }
            Verb::GetModel | Verb::GetProof | Verb::GetInfo => {
                if self.dialect == Dialect::Horn && !self.checked {
                    log::warn!("`{}` before the check", lexed.source(command.open + 1));
                }
                match command.verb {
                    Verb::GetModel => self.requests.model = true,
                    Verb::GetProof => self.requests.proof = true,
                    _ => self.requests.reason_unknown |= argument == ":reason-unknown",
                }
            }
            Verb::SetLogic => {
                if !matches!(argument, "HORN" | "ALL") {
                    log::warn!("the logic {} is read as HORN", shorten(argument));
                }
                if !self.checked {
                    self.record(command);
                }
            }
            Verb::SetOption => {
                let value = if first + 1 < command.close {
                    lexed.source(first + 1)
                } else {
                    ""
                };
                match argument {
                    ":timeout" => self.requests.timeout_ms = value.parse().ok(),
                    ":global-declarations" => self.global_declarations = value == "true",
                    _ => {}
                }
                if !self.checked {
                    self.record(command);
                }
            }
            Verb::Push => {
                for _ in 0..self.count(command)? {
                    self.levels.push(Level {
                        trail: self.trail.len(),
                        predicates: self.environment.predicates.len(),
                        clauses: self.clauses.len(),
                        commands: self.commands.len(),
                        number: self.number,
                    });
                }
            }
            Verb::Pop => {
                let count = self.count(command)?;
                if self.checked {
                    self.changed = true;
                    return Ok(());
                }
                if count > self.levels.len() {
                    return self.error(command.open, "`pop` without a `push` before it");
                }
                if count > 0 && self.global_declarations {
                    return self.error(command.open, "`pop` under :global-declarations");
                }
                for _ in 0..count {
                    if let Some(level) = self.levels.pop() {
                        self.restore(&level);
                    }
                }
            }
            Verb::Reset | Verb::ResetAssertions => {
                if self.checked {
                    self.changed = true;
                    return Ok(());
                }
                self.levels.clear();
                self.restore(&Level {
                    trail: 0,
                    predicates: 0,
                    clauses: 0,
                    commands: 0,
                    number: 0,
                });
            }
            _ => {}
        }
        Ok(())
    }

    fn restore(&mut self, level: &Level) {
        for undo in self.trail.drain(level.trail..).rev() {
            match undo {
                Undo::Global(symbol) => {
                    self.environment.globals.remove(&symbol);
                }
                Undo::Sort(symbol) => self.environment.sorts.forget(symbol),
            }
        }
        self.environment.predicates.truncate(level.predicates);
        self.clauses.truncate(level.clauses);
        self.commands.truncate(level.commands);
        self.number = level.number;
    }

    fn count(&self, command: &RawCommand) -> Result<usize, InputError> {
        let first = command.open + 2;
        if first == command.close {
            return Ok(1);
        }
        let count = match self.lexed.tokens[first as usize].kind {
            Kind::Numeral => self.lexed.source(first).parse().ok(),
            _ => None,
        };
        match count {
            Some(count @ 0..=100_000) => Ok(count),
            _ => self.error(first, "a number of levels up to 100000 is expected"),
        }
    }

    fn check_again(&self, command: &RawCommand) -> Result<(), InputError> {
        let name = self.lexed.source(command.open + 1);
        if self.changed {
            let message = format!("a second `{name}` after changes: one check per file");
            return self.error(command.open, message);
        }
        log::warn!("a second `{name}` is ignored");
        Ok(())
    }

    // ---- commands with terms ----

    fn parsed(
        &mut self,
        command: &RawCommand,
        parsed: Parsed,
        arena: &Arena,
    ) -> Result<(), InputError> {
        if self.checked {
            if command.verb == Verb::Query {
                return self.check_again(command);
            }
            self.changed |= matches!(command.verb, Verb::Assert | Verb::Rule);
            return Ok(());
        }
        match parsed {
            Parsed::Term(node) => {
                match (command.verb, self.dialect) {
                    (Verb::Assert, Dialect::Fixedpoint) => {
                        return self.error(command.open, "`assert` in a file of rules");
                    }
                    (Verb::Query, _) => self.checked = true,
                    _ => {}
                }
                self.record(command);
                self.clause_command(command, node, arena)?;
            }
            Parsed::Constant(name, sort) => {
                self.record(command);
                let sort = self.sort(arena, sort)?;
                let global = match command.verb {
                    Verb::DeclareVar => Global::Variable(sort),
                    // A Boolean constant is a predicate without arguments.
                    _ if sort == SortId::BOOL => self.predicate(name, &[])?,
                    _ => Global::Uninterpreted,
                };
                self.declare(name, global)?;
            }
            Parsed::Function(name, parameters, sort) => {
                self.record(command);
                let parameters: Vec<SortId> = parameters
                    .iter()
                    .map(|&s| self.sort(arena, s))
                    .collect::<Result<_, _>>()?;
                let relation = command.verb == Verb::DeclareRel;
                let global = if relation || self.sort(arena, sort)? == SortId::BOOL {
                    self.predicate(name, &parameters)?
                } else {
                    Global::Uninterpreted
                };
                self.declare(name, global)?;
            }
            Parsed::Sort(name) => {
                let shown = shorten(self.lexed.source(name));
                let message = format!("the uninterpreted sort `{shown}` is not supported");
                return self.error(command.open, message);
            }
            Parsed::Datatypes(declarations) => {
                self.record(command);
                let sorts = &mut self.environment.sorts;
                let symbols = sorts.declare(self.lexed, arena, &declarations)?;
                self.trail.extend(symbols.into_iter().map(Undo::Sort));
            }
            Parsed::SortMacro(name, parameters, sort) => {
                self.record(command);
                let sorts = &mut self.environment.sorts;
                let symbol = sorts.define(self.lexed, arena, name, &parameters, sort)?;
                self.trail.push(Undo::Sort(symbol));
            }
            Parsed::Macro(name, parameters, sort, body) => {
                self.record(command);
                self.define(name, &parameters, sort, body, arena)?;
                self.keep = arena.mark();
            }
            Parsed::Other => {
                return self.error(command.open, "the command is not supported here");
            }
        }
        Ok(())
    }

    fn sort(&mut self, arena: &Arena, sort: SortNode) -> Result<SortId, InputError> {
        self.environment.sorts.resolve(self.lexed, arena, sort)
    }

    fn predicate(&mut self, name: u32, parameters: &[SortId]) -> Result<Global, InputError> {
        let symbol = symbol_at(self.lexed, name)?;
        let id = PredicateId(self.environment.predicates.len() as u32);
        let name = self.lexed.symbols.name(symbol);
        self.environment
            .predicates
            .push(Predicate::new(&self.terms, name, parameters));
        Ok(Global::Predicate(id))
    }

    fn declare(&mut self, name: u32, global: Global) -> Result<(), InputError> {
        let symbol = symbol_at(self.lexed, name)?;
        let shown = || shorten(self.lexed.symbols.name(symbol));
        let sorts = &self.environment.sorts;
        let taken = self.environment.globals.contains_key(&symbol)
            || !sorts.constructors(symbol).is_empty()
            || !sorts.selectors(symbol).is_empty();
        if taken {
            return self.error(name, format!("`{}` is declared already", shown()));
        }
        if is_core(symbol.0 as usize) {
            return self.error(name, format!("`{}` is built in", shown()));
        }
        self.environment.globals.insert(symbol, global);
        self.trail.push(Undo::Global(symbol));
        Ok(())
    }

    fn define(
        &mut self,
        name: u32,
        parameters: &[(u32, SortNode)],
        sort: SortNode,
        body: NodeId,
        arena: &Arena,
    ) -> Result<(), InputError> {
        let result = self.sort(arena, sort)?;
        let mut signature = Vec::with_capacity(parameters.len());
        let mut formals = Vec::with_capacity(parameters.len());
        for &(token, sort) in parameters {
            let symbol = symbol_at(self.lexed, token)?;
            let sort = self.sort(arena, sort)?;
            signature.push((symbol, sort));
            let formal = self.terms.fresh_var(self.lexed.symbols.name(symbol), sort);
            formals.push((symbol, formal));
        }
        let value = self
            .elaborator(arena, true)
            .definition(&formals, result, body)?;
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

    fn elaborator<'e>(&'e mut self, arena: &'e Arena, in_definition: bool) -> Elaborator<'e, 't> {
        self.work.clear();
        Elaborator {
            lexed: self.lexed,
            arena,
            terms: &self.terms,
            environment: &mut self.environment,
            work: &mut self.work,
            in_definition,
        }
    }

    fn clause_command(
        &mut self,
        command: &RawCommand,
        node: NodeId,
        arena: &Arena,
    ) -> Result<(), InputError> {
        let value = match self.bare_query(command, node, arena)? {
            Some(value) => value,
            None => self.elaborator(arena, false).formula(node)?,
        };
        let clausifier = Clausifier::new(&self.terms, &mut self.work.formulas);
        let clauses = match command.verb {
            Verb::Query => clausifier.query(value),
            _ => clausifier.assertion(value),
        };
        let clauses = clauses.map_err(|e| self.lexed.error(e.token, e.message))?;
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

    /// `(query p)` asks whether p holds of any arguments.
    fn bare_query(
        &mut self,
        command: &RawCommand,
        node: NodeId,
        arena: &Arena,
    ) -> Result<Option<Value>, InputError> {
        let Syntax::Name(name) = arena.node(node).syntax else {
            return Ok(None);
        };
        if command.verb != Verb::Query || name.indexes.len() > 0 || name.sort.is_some() {
            return Ok(None);
        }
        let Some(symbol) = self.lexed.symbol(name.symbol) else {
            return Ok(None);
        };
        let Some(&Global::Predicate(id)) = self.environment.globals.get(&symbol) else {
            return Ok(None);
        };
        self.work.clear();
        let params = &self.environment.predicates[id.index()].params;
        let arguments: Vec<_> = params
            .iter()
            .map(|&p| {
                self.terms
                    .fresh_var(self.terms.var_name(p), self.terms.sort_of(p))
            })
            .collect();
        self.work
            .rule_variables
            .extend(arguments.iter().map(|&a| (symbol, a)));
        let atom = self.work.formulas.atom(id, &arguments, name.symbol);
        Ok(Some(atom))
    }
}
