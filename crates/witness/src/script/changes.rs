//! What has to change in a problem's text, and in texts about it, before a solver reads them.
//!
//! Names that a solver takes for its own are replaced, with the same new name in the text, in the
//! definitions of a model and in the steps of a refutation; commands give way to others. The rest
//! is the table of [`surgery`](super::surgery).
//!
//! # Invariant
//! A new name occurs nowhere in the text or in the definitions, and different symbols get different
//! names. So the changed text means the same up to names. Nothing here uses the reader's terms.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::heaps::{HeapGuard, Heaps};
use super::names::{LIST, RESERVED, is_core, is_function, is_operation, is_sort};
use super::surgery::{Part, Role, Surgeon, edits, rewritten};
use crate::sexp::{TokenKind, Tokens, symbol};
use alphorn_chc::frontend::Problem;
use alphorn_term::quote_symbol;

/// New names of symbols, plain.
type Names = FxHashMap<String, String>;

/// The changes of a problem's text.
pub struct Changes<'a> {
    problem: &'a Problem,
    /// New names of sorts.
    sorts: Names,
    /// Of predicates, functions, constructors, selectors and testers.
    functions: Names,
    /// Of variables.
    variables: Names,
    /// Commands before all others.
    front: String,
    /// The texts of commands that give way to others, by their positions in `Problem::commands`.
    replaced: FxHashMap<usize, String>,
    /// Commands before a command, by its position.
    before: FxHashMap<usize, String>,
    /// Whether something in the text changes.
    is_changed: bool,
    /// What takes the place of the theory of heaps.
    heaps: Option<Heaps>,
    /// Why the text cannot be changed as it has to be.
    failure: RefCell<Option<String>>,
    /// Whether a quantifier that is not an outer one has a guard.
    has_inner_guards: Cell<bool>,
}

/// The symbols of a text by their roles.
#[derive(Default)]
struct Symbols<'t> {
    new_sorts: FxHashSet<&'t str>,
    sorts: FxHashSet<&'t str>,
    new_functions: FxHashSet<&'t str>,
    /// Constructors and selectors, and constructors alone.
    data: FxHashSet<&'t str>,
    constructors: FxHashSet<&'t str>,
    applied: FxHashSet<&'t str>,
    constants: FxHashSet<&'t str>,
    variables: FxHashSet<&'t str>,
    /// Labels of terms, with the terms.
    labels: Vec<(&'t str, Range<usize>)>,
}

impl<'t> Surgeon<'t> for Symbols<'t> {
    fn symbol(&mut self, role: Role, symbol: &'t str) -> Option<String> {
        let set = match role {
            Role::NewSort => &mut self.new_sorts,
            Role::Sort => &mut self.sorts,
            Role::NewFunction => &mut self.new_functions,
            Role::NewConstructor => {
                self.constructors.insert(symbol);
                &mut self.data
            }
            Role::NewSelector => &mut self.data,
            Role::Function => &mut self.applied,
            Role::Constant => &mut self.constants,
            Role::Variable => &mut self.variables,
        };
        set.insert(symbol);
        None
    }

    fn labelled(&mut self, label: &'t str, term: Range<usize>) {
        self.labels.push((label, term));
    }
}

impl<'a> Changes<'a> {
    /// The changes of a problem's text. New names do not occur in the texts `others` either.
    pub fn new(problem: &'a Problem, others: &[&str]) -> Self {
        let text = &*problem.text;
        let mut symbols = Symbols::default();
        let mut is_changed = false;
        let mut replaced = FxHashMap::default();
        let mut labels: Vec<(usize, &str, Range<usize>)> = Vec::new();
        for (index, command) in problem.commands.iter().enumerate() {
            if declares_core(text, &command.range, &command.keyword) {
                replaced.insert(index, String::new());
                continue;
            }
            let own = edits(text, command.range.clone(), Part::Commands, &mut symbols);
            is_changed |= !own.is_empty();
            let own = symbols.labels.drain(..);
            labels.extend(own.map(|(label, term)| (index, label, term)));
        }
        let mut changes = Changes {
            problem,
            sorts: Names::default(),
            functions: Names::default(),
            variables: Names::default(),
            front: String::new(),
            replaced,
            before: FxHashMap::default(),
            is_changed,
            heaps: None,
            failure: RefCell::default(),
            has_inner_guards: Cell::default(),
        };
        changes.rename(&symbols, others);
        changes.add_heaps(&symbols, others);
        // A term may use the names of its parts.
        labels.sort_by_key(|(index, _, term)| (*index, term.end));
        changes.define_labels(&symbols, &labels);
        changes
    }

    /// Chooses new names.
    fn rename(&mut self, symbols: &Symbols<'_>, others: &[&str]) {
        let builtin_list = symbols.sorts.contains(LIST.0) && !symbols.new_sorts.contains(LIST.0);
        let mut sorts: Vec<&str> = symbols.new_sorts.iter().copied().collect();
        sorts.retain(|name| is_sort(name));
        let is_tester = |name: &str| {
            let constructor = name.strip_prefix("is-");
            constructor.is_some_and(|name| symbols.constructors.contains(name))
        };
        let mut functions: Vec<&str> = symbols.new_functions.iter().copied().collect();
        functions.retain(|name| is_function(name) || is_tester(name));
        let data = symbols.data.iter().copied();
        functions.extend(data.filter(|name| is_function(name) && !is_operation(name)));
        if builtin_list {
            sorts.push(LIST.0);
            functions.extend(LIST.1);
        }
        let mut variables: Vec<&str> = symbols.variables.iter().copied().collect();
        variables.retain(|name| RESERVED.contains(name) || symbols.applied.contains(name));
        if sorts.is_empty() && functions.is_empty() && variables.is_empty() {
            return;
        }
        let mut taken: FxHashSet<&str> = FxHashSet::default();
        for text in std::iter::once(&*self.problem.text).chain(others.iter().copied()) {
            let atoms = Tokens::new(text, 0).filter(|token| token.kind == TokenKind::Atom);
            taken.extend(atoms.map(|token| symbol(&text[token.range])));
        }
        let mut fresh = Fresh {
            taken,
            chosen: FxHashSet::default(),
        };
        for (list, names) in [
            (sorts, &mut self.sorts),
            (functions, &mut self.functions),
            (variables, &mut self.variables),
        ] {
            let mut list = list;
            list.sort_unstable();
            list.dedup();
            for name in list {
                names.insert(name.to_owned(), fresh.name(name));
            }
        }
        // The testers of renamed constructors.
        let constructors = symbols.constructors.iter().copied();
        let listed = LIST.1[..2].iter().copied().filter(|_| builtin_list);
        for name in constructors.chain(listed) {
            let tester = format!("is-{name}");
            if let Some(new) = self.functions.get(name)
                && symbols.applied.contains(&*tester)
                && !symbols.new_functions.contains(&*tester)
            {
                let new = format!("is-{new}");
                self.functions.insert(tester, new);
            }
        }
        self.is_changed = true;
        if builtin_list {
            let new = |name: &str| quote_symbol(&self.functions[name]);
            let [nil, insert, head, tail] = LIST.1.map(new);
            let list = quote_symbol(&self.sorts[LIST.0]);
            self.front = format!(
                "(declare-datatypes (({list} 1)) ((par (T) \
                 (({nil}) ({insert} ({head} T) ({tail} ({list} T)))))))\n"
            );
        }
    }

    /// Makes what takes the place of the theory of heaps, if the text has it.
    fn add_heaps(&mut self, symbols: &Symbols<'_>, others: &[&str]) {
        let taken = [&symbols.new_functions, &symbols.data]
            .into_iter()
            .flatten();
        let mut used: FxHashSet<&str> = symbols.applied.iter().copied().collect();
        for text in others {
            let atoms = Tokens::new(text, 0).filter(|token| token.kind == TokenKind::Atom);
            used.extend(atoms.map(|token| symbol(&text[token.range])));
        }
        self.heaps = Heaps::new(self.problem, &taken.copied().collect(), &used);
        self.is_changed |= self.heaps.is_some();
        self.set_heap_guard(HeapGuard::Exact);
    }

    /// Puts the preamble of the theory of heaps in the place of its declaration, with this guard of
    /// heaps; `false` without a heap.
    pub fn set_heap_guard(&mut self, guard: HeapGuard) -> bool {
        let Some(heaps) = &self.heaps else {
            return false;
        };
        let changed = |text: &str| rewritten(text, Part::Commands, &mut OfNames(self));
        let preamble = changed(&heaps.preamble(guard));
        let after = heaps.after.iter().map(|(&command, text)| {
            let range = self.problem.commands[command].range.clone();
            let text = format!("{}\n{text}", &self.problem.text[range]);
            (command, changed(&text))
        });
        let after: Vec<(usize, String)> = after.collect();
        let command = heaps.command;
        self.replaced.insert(command, preamble);
        self.replaced.extend(after);
        true
    }

    /// Whether a quantifier that is not an outer one has a guard, as far as the text was changed.
    pub fn has_inner_guards(&self) -> bool {
        self.has_inner_guards.get()
    }

    /// Why the text cannot be changed as it has to be, as far as it was.
    pub fn failure(&self) -> Option<String> {
        self.failure.borrow().clone()
    }

    /// Makes definitions for labels of assertions that are used as formulas.
    fn define_labels(&mut self, symbols: &Symbols<'_>, labels: &[(usize, &str, Range<usize>)]) {
        let text = &self.problem.text;
        for (index, label, term) in labels {
            let is_used = symbols.constants.contains(label);
            if is_used && !symbols.new_functions.contains(label) {
                let name = quote_symbol(label);
                let definition = format!("(define-fun {name} () Bool {})", &text[term.clone()]);
                let changed = rewritten(&definition, Part::Commands, &mut OfText(self));
                let before = self.before.entry(*index).or_default();
                before.push_str(&changed);
                before.push('\n');
            }
        }
    }

    /// Commands before all others.
    pub fn front(&self) -> &str {
        &self.front
    }

    /// The text of a command, with commands that have to come before it.
    pub fn command(&self, index: usize) -> Cow<'a, str> {
        let own = match self.replaced.get(&index) {
            Some(text) => Cow::Owned(text.clone()),
            None => {
                let range = self.problem.commands[index].range.clone();
                self.changed(Cow::Borrowed(&self.problem.text[range]), Part::Commands)
            }
        };
        match self.before(index) {
            "" => own,
            before => Cow::Owned(format!("{before}{own}")),
        }
    }

    /// Commands that have to come before the command at a position.
    pub fn before(&self, index: usize) -> &str {
        self.before.get(&index).map_or("", String::as_str)
    }

    /// Whether the command at a position gives way to another text.
    pub fn is_replaced(&self, index: usize) -> bool {
        self.replaced.contains_key(&index)
    }

    /// A command or formula made of parts of the problem's text.
    pub fn changed<'t>(&self, text: Cow<'t, str>, part: Part) -> Cow<'t, str> {
        match self.is_changed {
            true => Cow::Owned(rewritten(&text, part, &mut OfText(self))),
            false => text,
        }
    }

    /// Definitions of predicates, and other commands that use the problem's sorts and constructors.
    /// A name that the problem has and SMT-LIB, too, means the operation.
    pub fn definitions(&self, text: &str) -> String {
        rewritten(text, Part::Commands, &mut OfDefinitions(self))
    }

    /// A formula of such a definition.
    pub fn definition(&self, formula: &str) -> String {
        rewritten(formula, Part::Term, &mut OfDefinitions(self))
    }

    /// Commands that alphorn wrote about the problem, in which predicates have their new names.
    pub fn own<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.is_changed {
            true => Cow::Owned(self.definitions(text)),
            false => Cow::Borrowed(text),
        }
    }

    /// The symbol of a predicate.
    pub fn predicate(&self, name: &str) -> String {
        quote_symbol(self.functions.get(name).map_or(name, String::as_str))
    }

    /// The name of a variable of the text, plain.
    pub fn variable<'n>(&'n self, name: &'n str) -> &'n str {
        let new = self
            .variables
            .get(name)
            .or_else(|| self.functions.get(name));
        new.map_or(name, String::as_str)
    }

    /// A sort as it is printed.
    pub fn sort(&self, text: &str) -> String {
        match self.sorts.is_empty() {
            true => text.to_owned(),
            false => rewritten(text, Part::Sort, &mut OfText(self)),
        }
    }

    /// New names of symbols with the old ones, in the order of the old ones.
    pub fn names(&self) -> Vec<(&str, &str)> {
        let all = [&self.sorts, &self.functions, &self.variables];
        let all = all.into_iter().flatten();
        let mut names: Vec<(&str, &str)> = all.map(|(old, new)| (&**old, &**new)).collect();
        names.sort_unstable();
        names
    }
}

/// Whether a command declares a datatype with a constructor or selector of the core's names. Such a
/// datatype cannot be used.
fn declares_core(text: &str, range: &Range<usize>, keyword: &str) -> bool {
    struct Core(bool);
    impl<'t> Surgeon<'t> for Core {
        fn symbol(&mut self, role: Role, symbol: &'t str) -> Option<String> {
            let is_data = matches!(role, Role::NewConstructor | Role::NewSelector);
            self.0 |= is_data && is_core(symbol);
            None
        }
    }
    let mut found = Core(false);
    if keyword.starts_with("declare-datatype") {
        edits(text, range.clone(), Part::Commands, &mut found);
    }
    found.0
}

/// Chooses names that nothing has.
struct Fresh<'t> {
    taken: FxHashSet<&'t str>,
    chosen: FxHashSet<String>,
}

impl Fresh<'_> {
    fn name(&mut self, old: &str) -> String {
        let mut name = match old.starts_with('-') {
            true => format!("n!{old}"),
            false => format!("{old}!"),
        };
        while self.taken.contains(&*name) || !self.chosen.insert(name.clone()) {
            name.push('!');
        }
        name
    }
}

/// Gives the problem's symbols their new names in its text, and variables their guards.
struct OfText<'c, 'a>(&'c Changes<'a>);

impl<'t> Surgeon<'t> for OfText<'_, '_> {
    fn symbol(&mut self, role: Role, symbol: &'t str) -> Option<String> {
        OfNames(self.0).symbol(role, symbol)
    }

    fn guard(&mut self, variable: &'t str, sort: &'t str, is_outer: bool) -> Option<String> {
        let heaps = self.0.heaps.as_ref()?;
        let name = quote_symbol(self.0.variable(symbol(variable)));
        match heaps.guard(sort, &name) {
            Ok(guard) => {
                let guard = guard?;
                self.0
                    .has_inner_guards
                    .set(!is_outer || self.0.has_inner_guards.get());
                Some(rewritten(&guard, Part::Term, &mut OfNames(self.0)))
            }
            Err(message) => {
                *self.0.failure.borrow_mut() = Some(message);
                None
            }
        }
    }

    fn is_constant(&self, symbol: &str) -> bool {
        self.0.heaps.as_ref().is_some_and(|h| h.is_constant(symbol))
    }
}

/// Gives the problem's symbols their new names.
struct OfNames<'c, 'a>(&'c Changes<'a>);

impl<'t> Surgeon<'t> for OfNames<'_, '_> {
    fn is_constant(&self, symbol: &str) -> bool {
        self.0.heaps.as_ref().is_some_and(|h| h.is_constant(symbol))
    }

    fn symbol(&mut self, role: Role, symbol: &'t str) -> Option<String> {
        let Changes {
            sorts,
            functions,
            variables,
            ..
        } = self.0;
        let new = match role {
            Role::NewSort | Role::Sort => sorts.get(symbol),
            Role::Constant | Role::Variable => {
                variables.get(symbol).or_else(|| functions.get(symbol))
            }
            _ => functions.get(symbol),
        };
        new.map(|name| quote_symbol(name))
    }
}

/// Gives the problem's symbols their new names in definitions.
struct OfDefinitions<'c, 'a>(&'c Changes<'a>);

impl<'t> Surgeon<'t> for OfDefinitions<'_, '_> {
    fn is_constant(&self, symbol: &str) -> bool {
        self.0.heaps.as_ref().is_some_and(|h| h.is_constant(symbol))
    }

    fn symbol(&mut self, role: Role, symbol: &'t str) -> Option<String> {
        let Changes {
            sorts, functions, ..
        } = self.0;
        let new = match role {
            Role::NewSort | Role::Sort => sorts.get(symbol),
            Role::NewFunction => functions.get(symbol),
            _ if is_operation(symbol) => None,
            _ => functions.get(symbol),
        };
        new.map(|name| quote_symbol(name))
    }
}
