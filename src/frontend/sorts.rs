//! Sorts and datatypes: from syntax to the store, parametric ones by instances made on demand.
//!
//! Invariant: when a public function returns `Ok`, every datatype instance it made is defined in
//! the store and has a finite value. Nesting is bounded, so what recurses here recurses little.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::InputError;
use super::commands::LITERAL;
use super::lexer::{Lexed, Sym};
use super::syntax::{Arena, DatatypeSyntax, SortNode};
use crate::term::{Constructor, DatatypeId, Field, Sort, SortId, TermStore};

/// What is said of a sort that nothing declares.
pub(super) const UNDECLARED: &str = "is not declared";

/// Bit-vectors are no wider than this.
pub(super) const MAX_WIDTH: u32 = 1 << 16;
/// Sorts nest no deeper than this, definitions expanded.
const MAX_DEPTH: u32 = 500;
/// No more datatype instances than this.
const MAX_INSTANCES: usize = 4096;

/// A sort that may mention the parameters of its declaration.
#[derive(Clone, Debug)]
enum Pattern {
    Known(SortId),
    Parameter(usize),
    Array(Box<(Pattern, Pattern)>),
    Datatype(usize, Vec<Pattern>),
    Defined(usize, Vec<Pattern>),
}

struct Generic {
    name: String,
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
    /// Nesting of definitions in the body.
    depth: u32,
    memo: FxHashMap<Vec<SortId>, SortId>,
}

#[derive(Clone, Copy)]
enum SortName {
    Datatype(usize),
    Defined(usize),
}

/// A constructor by its generic datatype and its position there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ConstructorRef {
    pub generic: usize,
    pub constructor: usize,
}

/// The sorts in scope.
pub(super) struct Sorts {
    terms: Rc<TermStore>,
    names: FxHashMap<Sym, SortName>,
    generics: Vec<Generic>,
    definitions: Vec<Definition>,
    constructors: FxHashMap<Sym, Vec<ConstructorRef>>,
    selectors: FxHashMap<Sym, Vec<(ConstructorRef, usize)>>,
    generic_of: FxHashMap<DatatypeId, usize>,
    depths: FxHashMap<SortId, u32>,
    pending: Vec<(usize, Vec<SortId>, DatatypeId)>,
    inhabited: FxHashSet<DatatypeId>,
}

impl Sorts {
    /// No sorts besides the built-in ones.
    pub fn new(terms: Rc<TermStore>) -> Self {
        Sorts {
            terms,
            names: FxHashMap::default(),
            generics: Vec::new(),
            definitions: Vec::new(),
            constructors: FxHashMap::default(),
            selectors: FxHashMap::default(),
            generic_of: FxHashMap::default(),
            depths: FxHashMap::default(),
            pending: Vec::new(),
            inhabited: FxHashSet::default(),
        }
    }

    /// The sort that a node says.
    pub fn resolve(
        &mut self,
        lexed: &Lexed<'_>,
        arena: &Arena,
        node: SortNode,
    ) -> Result<SortId, InputError> {
        let token = arena.sort(node).0.symbol;
        let basic = match lexed.source(token) {
            "Int" => Some(SortId::INT),
            "Bool" => Some(SortId::BOOL),
            "Real" => Some(SortId::REAL),
            _ => None,
        };
        let (name, arguments) = arena.sort(node);
        if let Some(sort) = basic
            && name.indexes.len() == 0
            && arguments.is_empty()
        {
            return Ok(sort);
        }
        let pattern = self.pattern(lexed, arena, node, &[])?;
        self.instantiate(&pattern, &[])
            .and_then(|sort| self.define_pending().map(|()| sort))
            .map_err(|message| lexed.error(token, message))
    }

    /// `define-sort`.
    pub fn define(
        &mut self,
        lexed: &Lexed<'_>,
        arena: &Arena,
        name: u32,
        parameters: &[u32],
        body: SortNode,
    ) -> Result<Sym, InputError> {
        let symbol = self.new_name(lexed, name)?;
        let parameters: Vec<Sym> = parameters.iter().filter_map(|&t| lexed.symbol(t)).collect();
        let body = self.pattern(lexed, arena, body, &parameters)?;
        let depth = 1 + self.definition_depth(&body);
        if depth > MAX_DEPTH {
            return Err(lexed.error(name, "definitions of sorts nest too deep"));
        }
        self.names
            .insert(symbol, SortName::Defined(self.definitions.len()));
        self.definitions.push(Definition {
            parameters: parameters.len(),
            body,
            depth,
            memo: FxHashMap::default(),
        });
        Ok(symbol)
    }

    /// `declare-datatypes`; returns the names of the sorts.
    pub fn declare(
        &mut self,
        lexed: &Lexed<'_>,
        arena: &Arena,
        declarations: &[DatatypeSyntax],
    ) -> Result<Vec<Sym>, InputError> {
        let first = self.generics.len();
        let mut symbols = Vec::new();
        for declaration in declarations {
            let symbol = self.new_name(lexed, declaration.name)?;
            let parameters = declaration.parameters.len();
            if let Some(stated) = declaration.arity {
                let arity = if stated >= LITERAL {
                    Some((stated - LITERAL) as usize)
                } else {
                    lexed.source(stated as u32).parse().ok()
                };
                if arity != Some(parameters) {
                    let message =
                        format!("the arity is not the number of parameters, {parameters}");
                    return Err(lexed.error(declaration.name, message));
                }
            }
            self.names
                .insert(symbol, SortName::Datatype(self.generics.len()));
            symbols.push(symbol);
            self.generics.push(Generic {
                name: lexed.symbols.name(symbol).to_owned(),
                parameters,
                constructors: Vec::new(),
                instances: FxHashMap::default(),
            });
        }
        for (offset, declaration) in declarations.iter().enumerate() {
            let generic = first + offset;
            let parameters: Vec<Sym> = declaration
                .parameters
                .iter()
                .filter_map(|&t| lexed.symbol(t))
                .collect();
            for (number, constructor) in declaration.constructors.iter().enumerate() {
                let reference = ConstructorRef {
                    generic,
                    constructor: number,
                };
                let symbol = symbol_at(lexed, constructor.symbol)?;
                let entry = self.constructors.entry(symbol).or_default();
                if entry.iter().any(|r| r.generic == generic) {
                    let message = "a constructor of this name exists already";
                    return Err(lexed.error(constructor.symbol, message));
                }
                entry.push(reference);
                let mut fields = Vec::with_capacity(constructor.selectors.len());
                for (field, &(token, sort)) in constructor.selectors.iter().enumerate() {
                    let selector = symbol_at(lexed, token)?;
                    let entry = self.selectors.entry(selector).or_default();
                    if entry.iter().any(|(r, _)| r.generic == generic) {
                        let message = "a selector of this name exists already";
                        return Err(lexed.error(token, message));
                    }
                    entry.push((reference, field));
                    let pattern = self.pattern(lexed, arena, sort, &parameters)?;
                    let name = lexed.symbols.name(selector).to_owned();
                    fields.push((selector, name, pattern));
                }
                self.generics[generic]
                    .constructors
                    .push(GenericConstructor {
                        symbol,
                        name: lexed.symbols.name(symbol).to_owned(),
                        fields,
                    });
            }
        }
        for (offset, declaration) in declarations.iter().enumerate() {
            if declaration.parameters.is_empty() {
                self.instantiate(&Pattern::Datatype(first + offset, Vec::new()), &[])
                    .map_err(|message| lexed.error(declaration.name, message))?;
            }
        }
        self.define_pending()
            .map_err(|message| lexed.error(declarations[0].name, message))?;
        Ok(symbols)
    }

    /// Takes back a declaration or definition.
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

    /// The constructors of a name.
    pub fn constructors(&self, symbol: Sym) -> &[ConstructorRef] {
        self.constructors.get(&symbol).map_or(&[], Vec::as_slice)
    }

    /// The selectors of a name.
    pub fn selectors(&self, symbol: Sym) -> &[(ConstructorRef, usize)] {
        self.selectors.get(&symbol).map_or(&[], Vec::as_slice)
    }

    /// The datatype instance and its generic datatype, when the sort is one.
    pub fn instance(&self, sort: SortId) -> Option<(DatatypeId, usize)> {
        match self.terms.sort(sort) {
            Sort::Datatype(id) => Some((id, self.generic_of[&id])),
            _ => None,
        }
    }

    /// Number of fields of a constructor.
    pub fn arity(&self, reference: ConstructorRef) -> usize {
        self.constructor(reference).fields.len()
    }

    /// The instance that a constructor builds from arguments of these sorts, where known; `None`
    /// when they do not determine it. Fails when they fit no instance.
    pub fn infer(
        &mut self,
        reference: ConstructorRef,
        arguments: &[Option<SortId>],
    ) -> Result<Option<SortId>, String> {
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

    fn new_name(&self, lexed: &Lexed<'_>, token: u32) -> Result<Sym, InputError> {
        let symbol = symbol_at(lexed, token)?;
        let name = lexed.symbols.name(symbol);
        let known = ["Bool", "Int", "Real", "Array", "BitVec"].contains(&name);
        if known || self.names.contains_key(&symbol) {
            let message = format!("a sort `{name}` exists already");
            return Err(lexed.error(token, message));
        }
        Ok(symbol)
    }

    fn unify(
        &self,
        pattern: &Pattern,
        sort: SortId,
        found: &mut [Option<SortId>],
    ) -> Result<(), String> {
        match pattern {
            Pattern::Parameter(index) => match found[*index] {
                None => {
                    found[*index] = Some(sort);
                    Ok(())
                }
                Some(other) if other == sort => Ok(()),
                Some(_) => Err("the arguments have sorts of different instances".to_owned()),
            },
            Pattern::Array(parts) => match self.terms.sort(sort) {
                Sort::Array(index, element) => {
                    self.unify(&parts.0, index, found)?;
                    self.unify(&parts.1, element, found)
                }
                _ => Err("an array is expected as argument".to_owned()),
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
                    let name = &self.generics[*generic].name;
                    Err(format!("an argument of sort `{name}` is expected"))
                }
            },
            // Checked later, against the instance.
            Pattern::Known(_) | Pattern::Defined(..) => Ok(()),
        }
    }

    fn definition_depth(&self, pattern: &Pattern) -> u32 {
        let deepest = |list: &[Pattern]| {
            let depths = list.iter().map(|p| self.definition_depth(p));
            depths.max().unwrap_or(0)
        };
        match pattern {
            Pattern::Known(_) | Pattern::Parameter(_) => 0,
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

    // Recursive: the arena bounds the nesting of sorts as written.
    fn pattern(
        &mut self,
        lexed: &Lexed<'_>,
        arena: &Arena,
        node: SortNode,
        parameters: &[Sym],
    ) -> Result<Pattern, InputError> {
        let (name, arguments) = arena.sort(node);
        let token = name.symbol;
        let symbol = symbol_at(lexed, token)?;
        let text = lexed.symbols.name(symbol).to_owned();
        if text == "BitVec" {
            let width = match arena.tokens(name.indexes) {
                [index] => lexed.source(*index).parse::<u32>().ok(),
                _ => None,
            };
            return match width {
                Some(width @ 1..=MAX_WIDTH) if arguments.is_empty() => {
                    Ok(Pattern::Known(self.terms.bitvec_sort(width)))
                }
                _ => Err(lexed.error(
                    token,
                    format!("BitVec takes one width, from 1 to {MAX_WIDTH}"),
                )),
            };
        }
        if name.indexes.len() > 0 {
            return Err(lexed.error(token, format!("the sort `(_ {text} …)` is not supported")));
        }
        let arguments: Vec<Pattern> = arguments
            .iter()
            .map(|&a| self.pattern(lexed, arena, a, parameters))
            .collect::<Result<_, _>>()?;
        let count = arguments.len();
        let expect = |expected: usize| {
            if count == expected {
                return Ok(());
            }
            let message = format!("the sort `{text}` takes {expected} arguments, not {count}");
            Err(lexed.error(token, message))
        };
        if let Some(index) = parameters.iter().position(|&p| p == symbol) {
            expect(0)?;
            return Ok(Pattern::Parameter(index));
        }
        match self.names.get(&symbol) {
            Some(&SortName::Datatype(generic)) => {
                expect(self.generics[generic].parameters)?;
                return Ok(Pattern::Datatype(generic, arguments));
            }
            Some(&SortName::Defined(definition)) => {
                expect(self.definitions[definition].parameters)?;
                return Ok(Pattern::Defined(definition, arguments));
            }
            None => {}
        }
        match text.as_str() {
            "Bool" | "Int" | "Real" => {
                expect(0)?;
                Ok(Pattern::Known(match text.as_str() {
                    "Bool" => SortId::BOOL,
                    "Int" => SortId::INT,
                    _ => SortId::REAL,
                }))
            }
            "Array" => {
                let mut arguments = arguments.into_iter();
                match (arguments.next(), arguments.next(), arguments.next()) {
                    (Some(index), Some(element), None) => {
                        Ok(Pattern::Array(Box::new((index, element))))
                    }
                    _ => expect(2).map(|()| Pattern::Known(SortId::BOOL)),
                }
            }
            _ => {
                let message = format!("the sort `{text}` {UNDECLARED}, nor supported as built in");
                Err(lexed.error(token, message))
            }
        }
    }

    // Recursive: patterns and expanded definitions are of bounded depth.
    fn instantiate(&mut self, pattern: &Pattern, arguments: &[SortId]) -> Result<SortId, String> {
        match pattern {
            Pattern::Known(sort) => Ok(*sort),
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
                if self.generic_of.len() >= MAX_INSTANCES {
                    return Err(format!("more than {MAX_INSTANCES} instances of datatypes"));
                }
                let (id, sort) = self.terms.declare_datatype(&known.name, &list);
                self.generic_of.insert(id, *generic);
                self.generics[*generic].instances.insert(list.clone(), sort);
                // Pushed before the bound is checked: whatever is declared gets defined.
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
    ) -> Result<Vec<SortId>, String> {
        patterns
            .iter()
            .map(|p| self.instantiate(p, arguments))
            .collect()
    }

    fn bound_depth(&mut self, sort: SortId, parts: &[SortId]) -> Result<(), String> {
        let below = parts
            .iter()
            .map(|p| self.depths.get(p).copied().unwrap_or(0));
        let depth = below.max().map_or(0, |d| d + 1);
        if depth > MAX_DEPTH {
            return Err(format!("sorts nest deeper than {MAX_DEPTH}"));
        }
        self.depths.insert(sort, depth);
        Ok(())
    }

    /// Defines declared instances and those their fields need, then looks for finite values.
    fn define_pending(&mut self) -> Result<(), String> {
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
            self.terms.define_datatype(id, constructors);
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
                let name = self.terms.datatype_head(id).0;
                Err(format!("the datatype `{name}` has no finite value"))
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

/// The symbol at a token that must be one.
pub(super) fn symbol_at(lexed: &Lexed<'_>, token: u32) -> Result<Sym, InputError> {
    lexed
        .symbol(token)
        .ok_or_else(|| lexed.error(token, "a symbol is expected"))
}
