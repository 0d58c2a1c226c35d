//! The theory of heaps for solvers that do not have it: `declare-heap` becomes datatypes and
//! definitions of the operations, and a quantified variable whose sort has addresses in it gets a
//! guard, a formula that says which terms are values of the sort.
//!
//! The sorts of heaps, ranges and pairs are records, addresses are integers of at least 0, and a heap
//! has the default object in all cells outside of 1 to its size. The guide's page on heaps has the
//! text that is made here.
//!
//! # Invariant
//! All names and sorts come from the tokens of the text.

mod preamble;
#[cfg(test)]
mod tests;

use std::fmt::Write;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::sexp::{TokenKind, Tokens, elements, symbol};
use alphorn_chc::frontend::Problem;
use alphorn_term::quote_symbol;

/// The guard of heaps in a script.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HeapGuard {
    /// Defined; it has a quantifier.
    Exact,
    /// Uninterpreted: what is valid for all of a heap's representations is valid.
    Open,
    /// That of heaps with few cells: what does not hold for these does not hold.
    Small,
}

/// The guard of terms of a sort.
enum Guard {
    /// An integer of at least 0.
    Address,
    /// A predicate.
    Predicate(String),
    /// It cannot be written.
    None(String),
}

/// What takes the place of the theory of heaps in a text.
pub(super) struct Heaps {
    /// The position of the `declare-heap` among the commands.
    pub command: usize,
    /// Commands in its place, before and after the definition of the guard of heaps.
    before: String,
    behind: String,
    /// The definition of that guard: exact, open and small.
    heap_guards: [String; 3],
    /// Commands after other declarations of datatypes, by position.
    pub after: FxHashMap<usize, String>,
    /// Names of constants that may stand in `(as NAME SORT)`.
    constants: FxHashSet<String>,
    guards: FxHashMap<String, Guard>,
    /// Sorts without parameters that are defined, with what they are.
    aliases: FxHashMap<String, String>,
    /// Names of sorts and of their constructors that have addresses in their values.
    addressed: FxHashSet<String>,
}

/// A datatype of the text.
struct Datatype<'t> {
    name: &'t str,
    /// Whether it has parameters.
    is_parametric: bool,
    constructors: Vec<(&'t str, Vec<(&'t str, &'t str)>)>,
    /// The position of its command.
    command: usize,
}

/// The parts of a `declare-heap`, as written.
struct Names<'t> {
    heap: &'t str,
    address: &'t str,
    /// The sort of ranges, and whether the text names it.
    range: String,
    names_range: bool,
    object: &'t str,
    default: &'t str,
    datatypes: [&'t str; 2],
}

impl<'t> Names<'t> {
    fn new(text: &'t str, command: &Range<usize>) -> Option<Self> {
        let parts = elements(text, command)?;
        let part = |range: &Range<usize>| &text[range.clone()];
        let (heap, address) = (part(parts.get(1)?), part(parts.get(2)?));
        let (range, rest) = match parts.len() {
            8 => (Some(part(&parts[3])), &parts[4..]),
            7 => (None, &parts[3..]),
            _ => return None,
        };
        let older = || quote_symbol(&format!("{}Range", symbol(address)));
        Some(Names {
            heap,
            address,
            range: range.map_or_else(older, str::to_owned),
            names_range: range.is_some(),
            object: part(&rest[0]),
            default: part(&rest[1]),
            datatypes: [part(&rest[2]), part(&rest[3])],
        })
    }

    /// A name made of others.
    fn name(&self, parts: &[&str]) -> String {
        let plain: Vec<&str> = parts.iter().map(|part| symbol(part)).collect();
        quote_symbol(&plain.concat())
    }

    /// The older name, or the newer one if the text names the sort of ranges.
    fn of_form(&self, older: &[&str], newer: &str) -> String {
        match self.names_range {
            true => newer.to_owned(),
            false => self.name(older),
        }
    }
}

impl Heaps {
    /// For the text of a problem; `None` if it has no heap. Operations whose names are among `taken`
    /// are not defined, and those on several objects only if their names are among `used`.
    pub fn new(problem: &Problem, taken: &FxHashSet<&str>, used: &FxHashSet<&str>) -> Option<Self> {
        let text = &*problem.text;
        let commands = problem.commands.iter().enumerate();
        let mut heaps = commands.filter(|(_, command)| command.keyword == "declare-heap");
        let (command, span) = heaps.next()?;
        let names = Names::new(text, &span.range)?;
        let mut found = Heaps {
            command,
            before: String::new(),
            behind: String::new(),
            heap_guards: Default::default(),
            after: FxHashMap::default(),
            constants: FxHashSet::default(),
            guards: FxHashMap::default(),
            aliases: FxHashMap::default(),
            addressed: FxHashSet::default(),
        };
        let datatypes = found.sorts(problem, &names, command);
        found.write(&names, &datatypes, taken, used);
        Some(found)
    }

    /// Commands in the place of `declare-heap`.
    pub fn preamble(&self, guard: HeapGuard) -> String {
        let own = match guard {
            HeapGuard::Exact => &self.heap_guards[0],
            HeapGuard::Open => &self.heap_guards[1],
            HeapGuard::Small => &self.heap_guards[2],
        };
        format!("{}{own}{}", self.before, self.behind)
    }

    /// Finds the datatypes, definitions of sorts, and those that have addresses in their values.
    fn sorts<'t>(
        &mut self,
        problem: &'t Problem,
        names: &Names<'t>,
        heap: usize,
    ) -> Vec<Datatype<'t>> {
        let text = &*problem.text;
        let mut datatypes = Vec::new();
        for (index, command) in problem.commands.iter().enumerate() {
            let parts = elements(text, &command.range).unwrap_or_default();
            let part = |at: usize| parts.get(at).map_or("", |range| &text[range.clone()]);
            match command.keyword.as_str() {
                "define-sort" if list(part(2)).is_empty() => {
                    let name = symbol(part(1)).to_owned();
                    self.aliases.insert(name, part(3).to_owned());
                }
                "declare-datatype" => datatypes.extend(datatype(part(1), part(2), index)),
                "declare-datatypes" => {
                    datatypes.extend(all_datatypes(part(1), part(2), index));
                }
                "declare-heap" if index == heap => {
                    let [sorts, declarations] = names.datatypes;
                    datatypes.extend(all_datatypes(sorts, declarations, index));
                }
                _ => {}
            }
        }
        for name in [names.heap, names.address, &names.range] {
            self.addressed.insert(symbol(name).to_owned());
        }
        for pair in [names.pair(), names.range_pair()] {
            self.addressed.insert(symbol(&pair).to_owned());
        }
        // By the sorts that mention a sort.
        let mut users: FxHashMap<&str, Vec<&str>> = FxHashMap::default();
        for datatype in &datatypes {
            for (_, sort) in datatype.constructors.iter().flat_map(|c| &c.1) {
                for name in atoms(sort) {
                    users.entry(name).or_default().push(symbol(datatype.name));
                }
            }
        }
        for (alias, sort) in &self.aliases {
            for name in atoms(sort) {
                users.entry(name).or_default().push(alias);
            }
        }
        let mut reached: Vec<String> = self.addressed.iter().cloned().collect();
        let mut addressed = self.addressed.clone();
        while let Some(name) = reached.pop() {
            for &user in users.get(&*name).into_iter().flatten() {
                if addressed.insert(user.to_owned()) {
                    reached.push(user.to_owned());
                }
            }
        }
        self.addressed = addressed;
        datatypes
    }

    /// Defines the guard of a sort.
    fn predicate(&mut self, out: &mut String, sort: &str, body: &str) {
        let name = quote_symbol(&format!("heap.is!{}", symbol(sort)));
        let _ = writeln!(out, "(define-fun {name} ((x! {sort})) Bool {body})");
        let plain = symbol(sort).to_owned();
        self.guards.insert(plain, Guard::Predicate(name));
    }

    /// Defines the guards of datatypes, each after those that it needs: of those among the heap's
    /// objects, or of the others. Iterative.
    fn datatype_guards(&mut self, out: &mut String, datatypes: &[Datatype<'_>], are_objects: bool) {
        let of_kind = |datatype: &Datatype<'_>| (datatype.command == self.command) == are_objects;
        let by_name: FxHashMap<&str, usize> = datatypes
            .iter()
            .enumerate()
            .filter(|(_, datatype)| of_kind(datatype))
            .map(|(at, datatype)| (symbol(datatype.name), at))
            .collect();
        let mut roots: Vec<usize> = by_name.values().copied().collect();
        roots.sort_unstable();
        let mut entered: FxHashSet<usize> = FxHashSet::default();
        for root in roots {
            let mut stack = vec![(root, false)];
            while let Some((at, is_ready)) = stack.pop() {
                let datatype = &datatypes[at];
                let name = symbol(datatype.name);
                if !self.addressed.contains(name) || self.guards.contains_key(name) {
                    continue;
                }
                if datatype.is_parametric || (!is_ready && !entered.insert(at)) {
                    let kind = match datatype.is_parametric {
                        true => "parametric",
                        false => "recursive",
                    };
                    let message = format!("the {kind} datatype {name} has addresses in it");
                    self.guards.insert(name.to_owned(), Guard::None(message));
                    continue;
                }
                if !is_ready {
                    stack.push((at, true));
                    let parts = self.parts(datatype, &by_name).into_iter();
                    stack.extend(parts.map(|part| (part, false)));
                    continue;
                }
                match self.datatype_guard(datatype) {
                    Ok(body) if are_objects => self.predicate(out, datatype.name, &body),
                    Ok(body) => {
                        let mut own = String::new();
                        self.predicate(&mut own, datatype.name, &body);
                        let after = self.after.entry(datatype.command).or_default();
                        after.push_str(&own);
                    }
                    Err(message) => {
                        self.guards.insert(name.to_owned(), Guard::None(message));
                    }
                }
            }
        }
    }

    /// The datatypes among `by_name` that a datatype mentions.
    fn parts(&self, datatype: &Datatype<'_>, by_name: &FxHashMap<&str, usize>) -> Vec<usize> {
        let sorts = datatype.constructors.iter().flat_map(|c| &c.1);
        let mut names: Vec<&str> = sorts.flat_map(|(_, sort)| atoms(sort)).collect();
        let mut seen: FxHashSet<&str> = FxHashSet::default();
        let mut found = Vec::new();
        while let Some(name) = names.pop() {
            if !seen.insert(name) {
                continue;
            }
            found.extend(by_name.get(name).copied());
            names.extend(
                self.aliases
                    .get(name)
                    .into_iter()
                    .flat_map(|sort| atoms(sort)),
            );
        }
        found
    }

    /// The guard of a datatype's terms `x!`.
    fn datatype_guard(&self, datatype: &Datatype<'_>) -> Result<String, String> {
        let mut out = "(and true".to_owned();
        for (constructor, fields) in &datatype.constructors {
            let mut own = String::new();
            for (selector, sort) in fields {
                if let Some(guard) = self.guard(sort, &format!("({selector} x!)"))? {
                    own.push(' ');
                    own.push_str(&guard);
                }
            }
            if !own.is_empty() {
                let _ = write!(out, " (=> ((_ is {constructor}) x!) (and{own}))");
            }
        }
        out.push(')');
        Ok(out)
    }

    /// The guard of a term of a sort; `None` if each term of its representation is a value.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn guard(&self, sort: &str, term: &str) -> Result<Option<String>, String> {
        let mut sort = sort;
        let mut around = Vec::new();
        let mut term = term.to_owned();
        // The array sorts around an element are taken off one by one.
        let guard = loop {
            if !atoms(sort).any(|name| self.addressed.contains(name)) {
                return Ok(None);
            }
            match list(sort).as_slice() {
                [] => {
                    let name = symbol(sort.trim());
                    if let Some(alias) = self.aliases.get(name) {
                        if around.len() > 1000 || alias == sort {
                            return Err("definitions of sorts nest too deep".to_owned());
                        }
                        around.push(None);
                        sort = alias;
                        continue;
                    }
                    break match self.guards.get(name) {
                        Some(Guard::Address) => format!("(<= 0 {term})"),
                        Some(Guard::Predicate(name)) => format!("({name} {term})"),
                        Some(Guard::None(message)) => return Err(message.clone()),
                        None => return Err(format!("values of {name} have addresses in them")),
                    };
                }
                [only] => sort = only,
                ["Array", index, element]
                    if !atoms(index).any(|name| self.addressed.contains(name)) =>
                {
                    let name = format!("heap.i!{}", around.len());
                    term = format!("(select {term} {name})");
                    around.push(Some(format!("(forall (({name} {index})) ")));
                    sort = element;
                }
                _ => return Err(format!("values of {sort} have addresses in them")),
            }
        };
        let quantifiers: Vec<String> = around.into_iter().flatten().collect();
        let closing = ")".repeat(quantifiers.len());
        Ok(Some(format!("{}{guard}{closing}", quantifiers.concat())))
    }

    /// Whether a symbol is a constant of the theory.
    pub fn is_constant(&self, symbol: &str) -> bool {
        self.constants.contains(symbol)
    }
}

impl Names<'_> {
    /// The sort of what allocation gives.
    fn pair(&self) -> String {
        match self.names_range {
            true => self.name(&[self.heap, self.address, "Pair"]),
            false => self.name(&["AllocRes", self.heap]),
        }
    }

    /// The sort of what allocation of a range gives.
    fn range_pair(&self) -> String {
        match self.names_range {
            true => self.name(&[self.heap, &self.range, "Pair"]),
            false => self.name(&["BatchAllocRes", self.heap]),
        }
    }
}

/// The elements of a list; none for an atom.
fn list(text: &str) -> Vec<&str> {
    let text = text.trim();
    let parts = elements(text, &(0..text.len())).unwrap_or_default();
    parts.into_iter().map(|range| &text[range]).collect()
}

/// The symbols of a sort.
fn atoms(sort: &str) -> impl Iterator<Item = &str> {
    let tokens = Tokens::new(sort, 0).filter(|token| token.kind == TokenKind::Atom);
    tokens.map(|token| symbol(&sort[token.range]))
}

/// The datatypes of `declare-datatypes`, in both forms.
fn all_datatypes<'t>(sorts: &'t str, declarations: &'t str, command: usize) -> Vec<Datatype<'t>> {
    let (sorts, declarations) = (list(sorts), list(declarations));
    if !sorts.iter().any(|sort| sort.starts_with('(')) {
        let older = declarations.iter().filter_map(|declaration| {
            let (name, constructors) = list(declaration)
                .split_first()
                .map(|(n, c)| (*n, c.to_vec()))?;
            Some(Datatype {
                name,
                is_parametric: !sorts.is_empty(),
                constructors: constructors.into_iter().map(constructor).collect(),
                command,
            })
        });
        return older.collect();
    }
    let pairs = sorts.iter().zip(declarations);
    let found = pairs.filter_map(|(sort, declaration)| {
        let name = list(sort).first().copied()?;
        datatype(name, declaration, command)
    });
    found.collect()
}

/// A datatype with constructors as in `declare-datatype`.
fn datatype<'t>(name: &'t str, declaration: &'t str, command: usize) -> Option<Datatype<'t>> {
    let parts = list(declaration);
    let is_parametric = parts.first() == Some(&"par");
    let constructors = match parts.as_slice() {
        ["par", _, constructors] => list(constructors),
        _ => parts,
    };
    Some(Datatype {
        name,
        is_parametric,
        constructors: constructors.into_iter().map(constructor).collect(),
        command,
    })
}

/// A constructor with its selectors and their sorts.
fn constructor(text: &str) -> (&str, Vec<(&str, &str)>) {
    let parts = list(text);
    let Some((name, fields)) = parts.split_first() else {
        return (text, Vec::new());
    };
    let fields = fields
        .iter()
        .filter_map(|field| match list(field).as_slice() {
            [selector, sort] => Some((*selector, *sort)),
            _ => None,
        });
    (name, fields.collect())
}
