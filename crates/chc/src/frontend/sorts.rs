//! Sorts and datatypes: from syntax to sorts of the store. Instances of parametric datatypes are
//! made on demand.
//!
//! Invariant: if a public function returns `Ok`, each datatype instance that it made is defined in
//! the store and has a finite value. Recursion is bounded by `LIMITS.max_sort_depth`.

mod guards;

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::builtins::is_core;
use super::error::{InputError, SortError, shorten};
use super::lexer::{Lexed, Sym, TokenId};
use super::predeclared::{LIST_DECLARATION, ListSymbols};
use super::problem::{FreeSort, SortReading};
use super::syntax::{DatatypeSyntax, Named};
use crate::limits::LIMITS;
use alphorn_term::{Constructor, DatatypeId, Field, Scope, Sort, SortId, TermStore, quote_symbol};

/// [`Limits::max_bits`](crate::limits::Limits::max_bits), for patterns.
pub(super) const MAX_WIDTH: u32 = LIMITS.max_bits;

/// A sort that may mention the parameters of its declaration.
#[derive(Clone, Debug)]
enum Pattern {
    Known(SortId),
    /// The addresses of a heap, which are integers.
    Address,
    Parameter(usize),
    Array(Box<(Pattern, Pattern)>),
    Datatype(usize, Vec<Pattern>),
    Defined(usize, Vec<Pattern>),
}

struct Generic {
    name: String,
    scope: Scope,
    parameters: usize,
    constructors: Vec<GenericConstructor>,
    instances: FxHashMap<Vec<SortId>, SortId>,
}

struct GenericConstructor {
    symbol: Sym,
    name: String,
    fields: Vec<(Sym, String, Pattern)>,
}

struct Definition {
    parameters: usize,
    body: Pattern,
    /// The nesting of sorts and definitions in the body.
    depth: u32,
    memo: FxHashMap<Vec<SortId>, SortId>,
}

#[derive(Clone, Copy)]
enum SortName {
    Datatype(usize),
    Defined(usize),
    Address,
    /// A datatype with a constructor or selector whose name is built in; it cannot be used.
    Unusable(Sym),
}

/// A constructor by its datatype and its position there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ConstructorRef {
    pub generic: usize,
    pub constructor: usize,
}

/// The sorts in scope.
pub(super) struct Sorts {
    terms: Rc<TermStore>,
    scope: Scope,
    names: FxHashMap<Sym, SortName>,
    generics: Vec<Generic>,
    definitions: Vec<Definition>,
    constructors: FxHashMap<Sym, Vec<ConstructorRef>>,
    selectors: FxHashMap<Sym, Vec<(ConstructorRef, usize)>>,
    generic_of: FxHashMap<DatatypeId, usize>,
    depths: FxHashMap<SortId, u32>,
    pending: Vec<(usize, Vec<SortId>, DatatypeId)>,
    inhabited: FxHashSet<DatatypeId>,
    /// The datatypes that are being declared in Z3's older form, see [`DatatypeSyntax::bare`].
    bare: Range<usize>,
    /// Datatypes by number that are known to have addresses in them or not.
    addresses: RefCell<FxHashMap<usize, bool>>,
}

pub(super) use guards::{FieldSort, TheorySort, WrittenSort};

impl Sorts {
    /// No sorts besides the built-in ones.
    pub fn new(terms: Rc<TermStore>) -> Self {
        Sorts {
            terms,
            scope: Scope::default(),
            names: FxHashMap::default(),
            generics: Vec::new(),
            definitions: Vec::new(),
            constructors: FxHashMap::default(),
            selectors: FxHashMap::default(),
            generic_of: FxHashMap::default(),
            depths: FxHashMap::default(),
            pending: Vec::new(),
            inhabited: FxHashSet::default(),
            bare: 0..0,
            addresses: RefCell::default(),
        }
    }

    /// Begins a declaration with this text, see [`TermStore::scope`].
    pub fn enter(&mut self, declaration: &str) {
        self.scope = self.terms.scope(self.scope, declaration);
    }

    /// The sort at a token.
    pub fn resolve(&mut self, lexed: &Lexed<'_>, token: TokenId) -> Result<SortId, InputError> {
        if let Some(sort) = lexed.symbol(token).and_then(|s| self.basic(lexed, s)) {
            return Ok(sort);
        }
        let pattern = self.pattern(lexed, token, &[], 0)?;
        self.instantiate(&pattern, &[])
            .and_then(|sort| self.define_pending().map(|()| sort))
            .map_err(|kind| lexed.error(token, kind))
    }

    /// Executes `define-sort`.
    pub fn define(
        &mut self,
        lexed: &Lexed<'_>,
        name: Named,
        parameters: &[Sym],
        body: TokenId,
    ) -> Result<(), InputError> {
        self.check_new(lexed, name)?;
        let body = self.pattern(lexed, body, parameters, 0)?;
        let depth = 1 + self.definition_depth(&body);
        if depth > LIMITS.max_sort_depth {
            return Err(lexed.error(name.token, SortError::DefinitionDepth));
        }
        let definition = SortName::Defined(self.definitions.len());
        self.names.insert(name.symbol, definition);
        self.definitions.push(Definition {
            parameters: parameters.len(),
            body,
            depth,
            memo: FxHashMap::default(),
        });
        Ok(())
    }

    /// Executes `declare-sort` of a sort without parameters. Returns its description.
    pub fn declare_free(
        &mut self,
        lexed: &Lexed<'_>,
        name: Named,
        reading: SortReading,
    ) -> Result<FreeSort, InputError> {
        self.check_new(lexed, name)?;
        let text = lexed.symbols.name(name.symbol);
        let mut stem = format!(
            "{}!",
            text.replace(|c: char| !c.is_ascii_alphanumeric(), "_")
        );
        while lexed.text.contains(&stem) {
            stem.push('!');
        }
        let mut free = FreeSort {
            name: text.to_owned(),
            constructor: format!("{stem}of"),
            definition: None,
        };
        let integer = (
            name.symbol,
            format!("{stem}value"),
            Pattern::Known(SortId::INT),
        );
        let (names, fields) = match reading {
            SortReading::Free => (vec![free.constructor.clone()], vec![integer]),
            SortReading::Size(size) => {
                let names = (0..size.max(1)).map(|number| format!("{stem}{number}"));
                (names.collect::<Vec<String>>(), Vec::new())
            }
            SortReading::Integers => {
                free.definition = Some(format!("(define-sort {} () Int)", quote_symbol(text)));
                let definition = SortName::Defined(self.definitions.len());
                self.names.insert(name.symbol, definition);
                self.definitions.push(Definition {
                    parameters: 0,
                    body: Pattern::Known(SortId::INT),
                    depth: 1,
                    memo: FxHashMap::default(),
                });
                return Ok(free);
            }
        };
        if let SortReading::Size(_) = reading {
            let constructors: Vec<String> = names.iter().map(|name| format!("({name})")).collect();
            let (sort, constructors) = (quote_symbol(text), constructors.join(" "));
            free.definition = Some(format!(
                "(declare-datatypes (({sort} 0)) (({constructors})))"
            ));
        }
        // Two readings of a text are different declarations.
        self.enter(&format!("{text} {reading:?}"));
        let generic = self.generics.len();
        self.names.insert(name.symbol, SortName::Datatype(generic));
        // The text has no name of a constructor, so none is in scope.
        let constructors = names.into_iter().map(|constructor| GenericConstructor {
            symbol: name.symbol,
            name: constructor,
            fields: fields.clone(),
        });
        self.generics.push(Generic {
            name: text.to_owned(),
            scope: self.scope,
            parameters: 0,
            constructors: constructors.collect(),
            instances: FxHashMap::default(),
        });
        self.instantiate(&Pattern::Datatype(generic, Vec::new()), &[])
            .and_then(|_| self.define_pending())
            .map_err(|kind| lexed.error(name.token, kind))?;
        Ok(free)
    }

    /// Declares the lists that Z3 has in each text.
    pub fn predeclare_list(&mut self, lexed: &Lexed<'_>, symbols: ListSymbols) {
        self.enter(LIST_DECLARATION);
        let [list, nil, insert, head, tail] = symbols.0;
        let name = |symbol: Sym| lexed.symbols.name(symbol).to_owned();
        let generic = self.generics.len();
        let whole = Pattern::Datatype(generic, vec![Pattern::Parameter(0)]);
        let fields = vec![
            (head, name(head), Pattern::Parameter(0)),
            (tail, name(tail), whole),
        ];
        for (constructor, (symbol, fields)) in [(nil, vec![]), (insert, fields.clone())]
            .into_iter()
            .enumerate()
        {
            let reference = ConstructorRef {
                generic,
                constructor,
            };
            self.constructors.entry(symbol).or_default().push(reference);
            for (field, (selector, _, _)) in fields.iter().enumerate() {
                let entry = self.selectors.entry(*selector).or_default();
                entry.push((reference, field));
            }
        }
        let constructor = |symbol: Sym, fields| GenericConstructor {
            symbol,
            name: name(symbol),
            fields,
        };
        self.names.insert(list, SortName::Datatype(generic));
        self.generics.push(Generic {
            name: name(list),
            scope: self.scope,
            parameters: 1,
            constructors: vec![constructor(nil, vec![]), constructor(insert, fields)],
            instances: FxHashMap::default(),
        });
    }

    /// Executes `declare-datatypes`. A datatype with a name of the core for a constructor or
    /// selector may be declared alone, and not be used.
    pub fn declare(
        &mut self,
        lexed: &Lexed<'_>,
        declarations: &[DatatypeSyntax],
    ) -> Result<(), InputError> {
        let names = declarations.iter().flat_map(|d| &d.constructors);
        let mut names = names.flat_map(|c| {
            let selectors = c.selectors.iter().map(|s| s.name);
            std::iter::once(c.name).chain(selectors)
        });
        if let Some(core) = names.find(|name| is_core(name.symbol.0 as usize)) {
            let [only] = declarations else {
                return Err(lexed.name_error(core, SortError::BuiltIn));
            };
            self.check_new(lexed, only.name)?;
            let unusable = SortName::Unusable(core.symbol);
            self.names.insert(only.name.symbol, unusable);
            return Ok(());
        }
        let first = self.generics.len();
        for declaration in declarations {
            let name = declaration.name;
            self.check_new(lexed, name)?;
            let parameters = declaration.parameters.len();
            if let Some(arity) = declaration.arity
                && lexed.source(arity).parse() != Ok(parameters)
            {
                return Err(lexed.error(name.token, SortError::DatatypeArity(parameters)));
            }
            let generic = SortName::Datatype(self.generics.len());
            self.names.insert(name.symbol, generic);
            self.generics.push(Generic {
                name: lexed.symbols.name(name.symbol).to_owned(),
                scope: self.scope,
                parameters,
                constructors: Vec::new(),
                instances: FxHashMap::default(),
            });
        }
        if declarations.iter().all(|declaration| declaration.bare) {
            self.bare = first..self.generics.len();
        }
        for (offset, declaration) in declarations.iter().enumerate() {
            self.declare_constructors(lexed, first + offset, declaration)?;
        }
        self.bare = 0..0;
        for (offset, declaration) in declarations.iter().enumerate() {
            if declaration.parameters.is_empty() {
                self.instantiate(&Pattern::Datatype(first + offset, Vec::new()), &[])
                    .map_err(|kind| lexed.error(declaration.name.token, kind))?;
            }
        }
        self.define_pending()
            .map_err(|kind| lexed.error(declarations[0].name.token, kind))
    }

    fn declare_constructors(
        &mut self,
        lexed: &Lexed<'_>,
        generic: usize,
        declaration: &DatatypeSyntax,
    ) -> Result<(), InputError> {
        for (number, constructor) in declaration.constructors.iter().enumerate() {
            let reference = ConstructorRef {
                generic,
                constructor: number,
            };
            let symbol = constructor.name.symbol;
            let entry = self.constructors.entry(symbol).or_default();
            if entry.iter().any(|r| r.generic == generic) {
                return Err(lexed.error(constructor.name.token, SortError::ConstructorTwice));
            }
            entry.push(reference);
            let mut fields = Vec::with_capacity(constructor.selectors.len());
            for (field, selector) in constructor.selectors.iter().enumerate() {
                let Named { symbol, token } = selector.name;
                let entry = self.selectors.entry(symbol).or_default();
                if entry.iter().any(|(r, _)| r.generic == generic) {
                    return Err(lexed.error(token, SortError::SelectorTwice));
                }
                entry.push((reference, field));
                let sort = self.pattern(lexed, selector.meaning, &declaration.parameters, 0)?;
                fields.push((symbol, lexed.symbols.name(symbol).to_owned(), sort));
            }
            self.generics[generic]
                .constructors
                .push(GenericConstructor {
                    symbol,
                    name: lexed.symbols.name(symbol).to_owned(),
                    fields,
                });
        }
        Ok(())
    }

    /// Removes a declaration or definition.
    pub fn forget(&mut self, symbol: Sym) {
        if let Some(SortName::Datatype(generic)) = self.names.remove(&symbol) {
            for constructor in &self.generics[generic].constructors {
                if let Some(list) = self.constructors.get_mut(&constructor.symbol) {
                    list.retain(|r| r.generic != generic);
                }
                for (selector, _, _) in &constructor.fields {
                    if let Some(list) = self.selectors.get_mut(selector) {
                        list.retain(|(r, _)| r.generic != generic);
                    }
                }
            }
        }
    }

    /// The constructors with a name.
    pub fn constructors(&self, symbol: Sym) -> &[ConstructorRef] {
        self.constructors.get(&symbol).map_or(&[], Vec::as_slice)
    }

    /// The selectors with a name, each with its constructor and position.
    pub fn selectors(&self, symbol: Sym) -> &[(ConstructorRef, usize)] {
        self.selectors.get(&symbol).map_or(&[], Vec::as_slice)
    }

    /// The datatype instance of a sort and the datatype that it is an instance of, if there is one.
    pub fn instance(&self, sort: SortId) -> Option<(DatatypeId, usize)> {
        match self.terms.sort(sort) {
            Sort::Datatype(id) => Some((id, self.generic_of[&id])),
            _ => None,
        }
    }

    /// The number of fields of a constructor.
    pub fn arity(&self, reference: ConstructorRef) -> usize {
        self.constructor(reference).fields.len()
    }

    /// The instance of a constructor applied to arguments of these sorts, where they are known;
    /// `None` if they do not determine it. Fails if they fit no instance.
    pub fn infer(
        &mut self,
        reference: ConstructorRef,
        arguments: &[Option<SortId>],
    ) -> Result<Option<SortId>, SortError> {
        let generic = &self.generics[reference.generic];
        let mut found = vec![None; generic.parameters];
        let fields = &generic.constructors[reference.constructor].fields;
        for ((_, _, pattern), argument) in fields.iter().zip(arguments) {
            if let Some(sort) = *argument {
                self.unify(pattern, sort, &mut found)?;
            }
        }
        let Some(parameters) = found.into_iter().collect::<Option<Vec<SortId>>>() else {
            return Ok(None);
        };
        let known: Vec<Pattern> = parameters.into_iter().map(Pattern::Known).collect();
        let sort = self.instantiate(&Pattern::Datatype(reference.generic, known), &[])?;
        self.define_pending()?;
        Ok(Some(sort))
    }

    fn constructor(&self, reference: ConstructorRef) -> &GenericConstructor {
        &self.generics[reference.generic].constructors[reference.constructor]
    }

    fn check_new(&self, lexed: &Lexed<'_>, name: Named) -> Result<(), InputError> {
        let text = lexed.symbols.name(name.symbol);
        let known = ["Bool", "Int", "Real", "Array", "BitVec"].contains(&text);
        if known || self.names.contains_key(&name.symbol) {
            return Err(lexed.name_error(name, SortError::DeclaredTwice));
        }
        Ok(())
    }

    fn basic(&self, lexed: &Lexed<'_>, symbol: Sym) -> Option<SortId> {
        match lexed.symbols.name(symbol) {
            "Bool" => Some(SortId::BOOL),
            "Int" => Some(SortId::INT),
            "Real" => Some(SortId::REAL),
            _ => None,
        }
    }

    fn unify(
        &self,
        pattern: &Pattern,
        sort: SortId,
        found: &mut [Option<SortId>],
    ) -> Result<(), SortError> {
        match pattern {
            Pattern::Parameter(index) => match found[*index] {
                None => {
                    found[*index] = Some(sort);
                    Ok(())
                }
                Some(other) if other == sort => Ok(()),
                Some(_) => Err(SortError::DifferentInstances),
            },
            Pattern::Array(parts) => match self.terms.sort(sort) {
                Sort::Array(index, element) => {
                    self.unify(&parts.0, index, found)?;
                    self.unify(&parts.1, element, found)
                }
                _ => Err(SortError::ArrayExpected),
            },
            Pattern::Datatype(generic, arguments) => match self.instance(sort) {
                Some((id, other)) if other == *generic => {
                    let parameters = self.terms.datatype_head(id).1.to_vec();
                    for (argument, parameter) in arguments.iter().zip(parameters) {
                        self.unify(argument, parameter, found)?;
                    }
                    Ok(())
                }
                _ => {
                    let name = shorten(&self.generics[*generic].name);
                    Err(SortError::DatatypeExpected(name))
                }
            },
            // These are checked when the constructor is built.
            Pattern::Known(_) | Pattern::Address | Pattern::Defined(..) => Ok(()),
        }
    }

    fn definition_depth(&self, pattern: &Pattern) -> u32 {
        let deepest = |list: &[Pattern]| {
            let depths = list.iter().map(|p| self.definition_depth(p));
            depths.max().unwrap_or(0)
        };
        match pattern {
            Pattern::Known(_) | Pattern::Address | Pattern::Parameter(_) => 0,
            Pattern::Array(parts) => {
                let (index, element) = &**parts;
                1 + self
                    .definition_depth(index)
                    .max(self.definition_depth(element))
            }
            Pattern::Datatype(_, list) => 1 + deepest(list),
            Pattern::Defined(definition, list) => {
                1 + self.definitions[*definition].depth + deepest(list)
            }
        }
    }

    /// The pattern of the sort at a token. Recursive; `depth` is the nesting so far.
    fn pattern(
        &self,
        lexed: &Lexed<'_>,
        token: TokenId,
        parameters: &[Sym],
        depth: u32,
    ) -> Result<Pattern, InputError> {
        if depth > LIMITS.max_sort_depth {
            return Err(lexed.error(token, SortError::Depth(LIMITS.max_sort_depth)));
        }
        let (identifier, arguments) = lexed.sort(token)?;
        let name = identifier.name;
        let text = lexed.symbols.name(name.symbol);
        if text == "BitVec" {
            let mut indexes = identifier.indexes.into_iter().flatten();
            let width = match (indexes.next(), indexes.next()) {
                (Some(index), None) => lexed.source(index).parse::<u32>().ok(),
                _ => None,
            };
            return match width {
                Some(width @ 1..=MAX_WIDTH) if arguments.is_none() => {
                    Ok(Pattern::Known(self.terms.bitvec_sort(width)))
                }
                _ => Err(lexed.error(name.token, SortError::BitVecWidth(MAX_WIDTH))),
            };
        }
        if identifier.indexes.is_some() {
            return Err(lexed.name_error(name, SortError::Indexed));
        }
        let mut arguments: Vec<Pattern> = arguments
            .into_iter()
            .flatten()
            .map(|argument| self.pattern(lexed, argument, parameters, depth + 1))
            .collect::<Result<_, _>>()?;
        let found = arguments.len();
        let expect = |expected: usize| {
            if found == expected {
                return Ok(());
            }
            Err(lexed.name_error(name, |sort| SortError::Arity {
                sort,
                expected,
                found,
            }))
        };
        if let Some(index) = parameters.iter().position(|&p| p == name.symbol) {
            expect(0)?;
            return Ok(Pattern::Parameter(index));
        }
        match self.names.get(&name.symbol) {
            Some(&SortName::Datatype(generic)) => {
                let count = self.generics[generic].parameters;
                if found == 0 && self.bare.contains(&generic) {
                    arguments = (0..count).map(Pattern::Parameter).collect();
                    return Ok(Pattern::Datatype(generic, arguments));
                }
                expect(count)?;
                return Ok(Pattern::Datatype(generic, arguments));
            }
            Some(&SortName::Defined(definition)) => {
                expect(self.definitions[definition].parameters)?;
                return Ok(Pattern::Defined(definition, arguments));
            }
            Some(SortName::Address) => {
                expect(0)?;
                return Ok(Pattern::Address);
            }
            Some(&SortName::Unusable(core)) => {
                return Err(lexed.name_error(name, |sort| SortError::Unusable {
                    sort,
                    name: shorten(lexed.symbols.name(core)),
                }));
            }
            None => {}
        }
        if let Some(sort) = self.basic(lexed, name.symbol) {
            expect(0)?;
            return Ok(Pattern::Known(sort));
        }
        if text != "Array" {
            return Err(lexed.name_error(name, SortError::Undeclared));
        }
        expect(2)?;
        let element = arguments.remove(1);
        Ok(Pattern::Array(Box::new((arguments.remove(0), element))))
    }

    /// The sort of a pattern with these arguments as parameters. Recursive; the depth of patterns
    /// and definitions is bounded.
    fn instantiate(
        &mut self,
        pattern: &Pattern,
        arguments: &[SortId],
    ) -> Result<SortId, SortError> {
        match pattern {
            Pattern::Known(sort) => Ok(*sort),
            Pattern::Address => Ok(SortId::INT),
            Pattern::Parameter(index) => Ok(arguments[*index]),
            Pattern::Array(parts) => {
                let index = self.instantiate(&parts.0, arguments)?;
                let element = self.instantiate(&parts.1, arguments)?;
                let sort = self.terms.array_sort(index, element);
                self.bound_depth(sort, &[index, element])?;
                Ok(sort)
            }
            Pattern::Datatype(generic, list) => {
                let list = self.instantiate_all(list, arguments)?;
                let known = &self.generics[*generic];
                if let Some(&sort) = known.instances.get(&list) {
                    return Ok(sort);
                }
                if self.generic_of.len() >= LIMITS.max_datatype_instances {
                    return Err(SortError::TooManyInstances(LIMITS.max_datatype_instances));
                }
                let (id, sort) =
                    self.terms
                        .declare_scoped_datatype(known.scope, &known.name, &list);
                self.generic_of.insert(id, *generic);
                self.generics[*generic].instances.insert(list.clone(), sort);
                // Before the depth is checked, so that each declared instance is defined.
                self.pending.push((*generic, list.clone(), id));
                self.bound_depth(sort, &list)?;
                Ok(sort)
            }
            Pattern::Defined(definition, list) => {
                let list = self.instantiate_all(list, arguments)?;
                if let Some(&sort) = self.definitions[*definition].memo.get(&list) {
                    return Ok(sort);
                }
                let body = self.definitions[*definition].body.clone();
                let sort = self.instantiate(&body, &list)?;
                self.definitions[*definition].memo.insert(list, sort);
                Ok(sort)
            }
        }
    }

    fn instantiate_all(
        &mut self,
        patterns: &[Pattern],
        arguments: &[SortId],
    ) -> Result<Vec<SortId>, SortError> {
        patterns
            .iter()
            .map(|p| self.instantiate(p, arguments))
            .collect()
    }

    fn bound_depth(&mut self, sort: SortId, parts: &[SortId]) -> Result<(), SortError> {
        let below = parts
            .iter()
            .map(|p| self.depths.get(p).copied().unwrap_or(0));
        let depth = below.max().map_or(0, |d| d + 1);
        if depth > LIMITS.max_sort_depth {
            return Err(SortError::Depth(LIMITS.max_sort_depth));
        }
        self.depths.insert(sort, depth);
        Ok(())
    }

    /// Defines the declared instances and those that their fields need, then checks that each has a
    /// finite value.
    fn define_pending(&mut self) -> Result<(), SortError> {
        let mut defined = Vec::new();
        while let Some((generic, arguments, id)) = self.pending.pop() {
            let mut constructors = Vec::new();
            for number in 0..self.generics[generic].constructors.len() {
                let constructor = &self.generics[generic].constructors[number];
                let name = constructor.name.clone();
                let shapes = constructor.fields.clone();
                let mut fields = Vec::with_capacity(shapes.len());
                for (_, selector, pattern) in shapes {
                    let sort = self.instantiate(&pattern, &arguments)?;
                    fields.push(Field { selector, sort });
                }
                constructors.push(Constructor { name, fields });
            }
            if !self.terms.is_defined(id) {
                self.terms.define_datatype(id, constructors);
            }
            defined.push(id);
        }
        loop {
            let before = defined.len();
            defined.retain(|&id| {
                let constructors = &self.terms.datatype(id).constructors;
                let finite = constructors
                    .iter()
                    .any(|c| c.fields.iter().all(|f| self.is_inhabited(f.sort)));
                if finite {
                    self.inhabited.insert(id);
                }
                !finite
            });
            if defined.len() == before {
                break;
            }
        }
        match defined.first() {
            None => Ok(()),
            Some(&id) => {
                let name = shorten(self.terms.datatype_head(id).0);
                Err(SortError::NoFiniteValue(name))
            }
        }
    }

    fn is_inhabited(&self, sort: SortId) -> bool {
        let mut sort = sort;
        loop {
            match self.terms.sort(sort) {
                Sort::Array(_, element) => sort = element,
                Sort::Datatype(id) => return self.inhabited.contains(&id),
                _ => return true,
            }
        }
    }
}
