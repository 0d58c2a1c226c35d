//! Sorts of the theory of heaps, and guards: which terms of a sort's representation are values.
//!
//! An address is an integer of at least 0, so a variable of a sort that has addresses in it ranges
//! over more than the sort's values. Its guard says which of them are values.
//!
//! Invariant: a guard holds exactly for the representations of values of the sort.

use rustc_hash::FxHashSet;

use super::super::error::{InputError, SortError, shorten};
use super::super::heaps::Heap;
use super::super::lexer::{Lexed, Sym, TokenId};
use super::super::syntax::Named;
use super::{ConstructorRef, Generic, GenericConstructor, Pattern, SortName, Sorts};
use crate::limits::LIMITS;
use alphorn_term::{DatatypeId, Sort, SortId, TermId};
use rustc_hash::FxHashMap;

/// The symbol of all names that do not occur in the text.
const ABSENT: Sym = Sym(u32::MAX);

/// The sort of a field of a datatype that the theory declares.
#[derive(Clone)]
pub(in super::super) enum FieldSort {
    Int,
    Address,
    /// An array from integers to this sort.
    Cells(SortId),
    /// A datatype without parameters.
    Datatype(usize),
}

/// A datatype that the theory declares: it has one constructor.
pub(in super::super) struct TheorySort {
    /// Its number.
    pub generic: usize,
    pub sort: SortId,
    pub id: DatatypeId,
}

/// The sort of a variable as it is written.
pub(in super::super) struct WrittenSort(Pattern);

impl Sorts {
    /// Declares the sort of addresses.
    pub fn declare_address(&mut self, lexed: &Lexed<'_>, name: Named) -> Result<(), InputError> {
        self.check_new(lexed, name)?;
        self.names.insert(name.symbol, SortName::Address);
        Ok(())
    }

    /// Declares a datatype of the theory. Fails if the text has a sort of its name already.
    pub fn declare_theory_sort(
        &mut self,
        lexed: &Lexed<'_>,
        name: &str,
        constructor: &str,
        fields: &[(String, FieldSort)],
        place: TokenId,
    ) -> Result<TheorySort, InputError> {
        let symbol = |name: &str| lexed.symbols.find(name).unwrap_or(ABSENT);
        let own = symbol(name);
        if own != ABSENT {
            let named = Named {
                symbol: own,
                token: place,
            };
            self.check_new(lexed, named)?;
        }
        let generic = self.generics.len();
        let reference = ConstructorRef {
            generic,
            constructor: 0,
        };
        let constructors = self.constructors.entry(symbol(constructor)).or_default();
        constructors.push(reference);
        let mut all = Vec::with_capacity(fields.len());
        for (position, (selector, sort)) in fields.iter().enumerate() {
            let entry = self.selectors.entry(symbol(selector)).or_default();
            entry.push((reference, position));
            let pattern = match sort {
                FieldSort::Int => Pattern::Known(SortId::INT),
                FieldSort::Address => Pattern::Address,
                FieldSort::Cells(object) => {
                    Pattern::Known(self.terms.array_sort(SortId::INT, *object))
                }
                FieldSort::Datatype(other) => Pattern::Datatype(*other, Vec::new()),
            };
            all.push((symbol(selector), selector.clone(), pattern));
        }
        if own != ABSENT {
            self.names.insert(own, SortName::Datatype(generic));
        }
        self.generics.push(Generic {
            name: name.to_owned(),
            scope: self.scope,
            parameters: 0,
            constructors: vec![GenericConstructor {
                symbol: symbol(constructor),
                name: constructor.to_owned(),
                fields: all,
            }],
            instances: FxHashMap::default(),
        });
        let fail = |kind| lexed.error(place, kind);
        let sort = self.instantiate(&Pattern::Datatype(generic, Vec::new()), &[]);
        let sort = sort.map_err(fail)?;
        self.define_pending().map_err(fail)?;
        match self.terms.sort(sort) {
            Sort::Datatype(id) => Ok(TheorySort { generic, sort, id }),
            _ => Err(fail(SortError::DatatypeExpected(name.to_owned()))),
        }
    }

    /// A datatype without parameters: its sort and its number.
    pub fn named(&self, lexed: &Lexed<'_>, name: Named) -> Result<(SortId, usize), InputError> {
        if let Some(&SortName::Datatype(generic)) = self.names.get(&name.symbol)
            && let Some(&sort) = self.generics[generic].instances.get(&Vec::new())
        {
            return Ok((sort, generic));
        }
        Err(lexed.name_error(name, SortError::HeapObjects))
    }

    /// The sort at a token, and how it is written.
    pub fn resolve_written(
        &mut self,
        lexed: &Lexed<'_>,
        token: TokenId,
    ) -> Result<(SortId, WrittenSort), InputError> {
        let sort = self.resolve(lexed, token)?;
        Ok((sort, WrittenSort(self.pattern(lexed, token, &[], 0)?)))
    }

    /// The guard of a term of a sort, as a list of formulas; empty if each term is a value.
    ///
    /// # Errors
    /// The guard cannot be written: there are addresses in a recursive datatype, or as indexes of an
    /// array.
    pub fn guard(
        &self,
        heap: &Heap,
        sort: &WrittenSort,
        term: TermId,
    ) -> Result<Vec<TermId>, SortError> {
        let mut guards = Vec::new();
        self.add_guard(heap, &sort.0, term, &mut Vec::new(), &mut guards)?;
        Ok(guards)
    }

    /// Adds the guard of a term. Recursive, through each datatype once.
    fn add_guard(
        &self,
        heap: &Heap,
        sort: &Pattern,
        term: TermId,
        around: &mut Vec<usize>,
        guards: &mut Vec<TermId>,
    ) -> Result<(), SortError> {
        if !self.has_addresses(heap, sort) {
            return Ok(());
        }
        let terms = &self.terms;
        match sort {
            Pattern::Known(_) | Pattern::Parameter(_) => {}
            Pattern::Address => guards.push(terms.ge(term, terms.int(0))),
            Pattern::Array(parts) => {
                if self.has_addresses(heap, &parts.0) {
                    return Err(SortError::AddressesAsIndexes);
                }
                let Sort::Array(index, _) = terms.sort(terms.sort_of(term)) else {
                    return Err(SortError::ArrayExpected);
                };
                let index = terms.fresh_var("i", index);
                let mut inner = Vec::new();
                let element = terms.select(term, index);
                self.add_guard(heap, &parts.1, element, around, &mut inner)?;
                guards.push(terms.forall(&[index], terms.and(&inner)));
            }
            Pattern::Datatype(generic, arguments) => {
                if around.contains(generic) || around.len() >= LIMITS.max_sort_depth as usize {
                    let name = shorten(&self.generics[*generic].name);
                    return Err(SortError::RecursiveAddresses(name));
                }
                let Some((id, _)) = self.instance(terms.sort_of(term)) else {
                    return Err(SortError::ArrayExpected);
                };
                around.push(*generic);
                if *generic == heap.generic() {
                    self.add_heap_guard(heap, term, around, guards)?;
                    around.pop();
                    return Ok(());
                }
                let constructors = &self.generics[*generic].constructors;
                for (number, constructor) in constructors.iter().enumerate() {
                    let number = number as u32;
                    let mut inner = Vec::new();
                    for (field, (_, _, sort)) in constructor.fields.iter().enumerate() {
                        let sort = substituted(sort, arguments);
                        let part = terms.field(id, number, field as u32, term);
                        self.add_guard(heap, &sort, part, around, &mut inner)?;
                        inner.extend(heap.range_guard(terms, *generic, field, part));
                    }
                    if inner.is_empty() {
                        continue;
                    }
                    if constructors.len() == 1 {
                        guards.extend(inner);
                    } else {
                        let is_other = terms.not(terms.is(id, number, term));
                        guards.push(terms.or(&[is_other, terms.and(&inner)]));
                    }
                    if guards.len() > LIMITS.max_guards {
                        return Err(SortError::TooManyGuards(LIMITS.max_guards));
                    }
                }
                around.pop();
            }
            Pattern::Defined(definition, arguments) => {
                let body = &self.definitions[*definition].body;
                let body = substituted(body, arguments);
                self.add_guard(heap, &body, term, around, guards)?;
            }
        }
        Ok(())
    }

    /// Adds that a heap has objects in its cells, and the default elsewhere.
    fn add_heap_guard(
        &self,
        heap: &Heap,
        term: TermId,
        around: &mut Vec<usize>,
        guards: &mut Vec<TermId>,
    ) -> Result<(), SortError> {
        let terms = &self.terms;
        let (size, cells) = (heap.size(terms, term), heap.cells(terms, term));
        let index = terms.fresh_var("i", SortId::INT);
        let object = terms.select(cells, index);
        let mut inner = Vec::new();
        let sort = Pattern::Datatype(heap.object_generic(), Vec::new());
        self.add_guard(heap, &sort, object, around, &mut inner)?;
        let inside = terms.and(&[terms.le(terms.int(1), index), terms.le(index, size)]);
        let outside = terms.eq(object, heap.default());
        let body = terms.ite(inside, terms.and(&inner), outside);
        guards.push(terms.ge(size, terms.int(0)));
        guards.push(terms.forall(&[index], body));
        Ok(())
    }

    /// Whether values of a sort have addresses in them.
    fn has_addresses(&self, heap: &Heap, sort: &Pattern) -> bool {
        let mut stack = vec![sort];
        let mut seen: FxHashSet<usize> = FxHashSet::default();
        while let Some(sort) = stack.pop() {
            match sort {
                Pattern::Known(_) | Pattern::Parameter(_) => {}
                Pattern::Address => return true,
                Pattern::Array(parts) => stack.extend([&parts.0, &parts.1]),
                Pattern::Defined(definition, arguments) => {
                    stack.push(&self.definitions[*definition].body);
                    stack.extend(arguments);
                }
                Pattern::Datatype(generic, arguments) => {
                    if *generic == heap.generic() {
                        return true;
                    }
                    stack.extend(arguments);
                    match self.addresses.borrow().get(generic) {
                        Some(true) => return true,
                        Some(false) => {}
                        None if seen.insert(*generic) => {
                            let constructors = &self.generics[*generic].constructors;
                            let fields = constructors.iter().flat_map(|c| &c.fields);
                            stack.extend(fields.map(|(_, _, sort)| sort));
                        }
                        None => {}
                    }
                }
            }
        }
        let none = seen.into_iter().map(|generic| (generic, false));
        self.addresses.borrow_mut().extend(none);
        false
    }

    /// Removes the sorts of a theory, of which `first` is the number of the first datatype.
    pub fn forget_theory(&mut self, first: usize) {
        self.names.retain(|_, name| match name {
            SortName::Datatype(generic) => *generic < first,
            SortName::Address => false,
            _ => true,
        });
        for list in self.constructors.values_mut() {
            list.retain(|reference| reference.generic < first);
        }
        for list in self.selectors.values_mut() {
            list.retain(|(reference, _)| reference.generic < first);
        }
    }

    /// The number of the next datatype.
    pub fn next_generic(&self) -> usize {
        self.generics.len()
    }
}

/// A sort with these arguments in the place of parameters. Recursive to the nesting of sorts.
fn substituted(sort: &Pattern, arguments: &[Pattern]) -> Pattern {
    let all = |list: &[Pattern]| list.iter().map(|p| substituted(p, arguments)).collect();
    match sort {
        Pattern::Known(sort) => Pattern::Known(*sort),
        Pattern::Address => Pattern::Address,
        Pattern::Parameter(index) => match arguments.get(*index) {
            Some(argument) => argument.clone(),
            None => Pattern::Parameter(*index),
        },
        Pattern::Array(parts) => Pattern::Array(Box::new((
            substituted(&parts.0, arguments),
            substituted(&parts.1, arguments),
        ))),
        Pattern::Datatype(generic, list) => Pattern::Datatype(*generic, all(list)),
        Pattern::Defined(definition, list) => Pattern::Defined(*definition, all(list)),
    }
}
