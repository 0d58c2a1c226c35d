//! From clauses over arrays to clauses over single cells.
//!
//! A read of an array is a scalar variable, one for each array and index, and elements at equal
//! indexes are equal (the reader `ArrayReader` of the crate `transform` follows stores and `ite` to
//! arrays without a definition). A body atom is replaced by instances at tuples of indexes: at the
//! rigid one, and at those that were demanded.
//!
//! Invariant: each scalar clause implies the clause from which it was made, if `P(s, a)` means that
//! `P'(s, k, a[k])` holds for all `k`. Conjuncts that cannot be expressed with cells are dropped
//! from the constraint, which makes the scalar clause stronger.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use alphorn_chc::{Atom, Clause, ClauseId, PredicateId, System};
use alphorn_proof::open_quantifiers;
use alphorn_term::run::Context;
use alphorn_term::{Op, Sort, SortId, TermId, TermStore};
use alphorn_transform::{ArrayReader, ArrayView};

/// How a scalar clause says that two indexes are equal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// By an equation.
    Equations,
    /// By two bounds, if they are numbers: that they differ is then a choice between two sides.
    Bounds,
}

/// A further premise: in this clause, for each body atom, the cell at this index, which the clause
/// reads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct Demand {
    pub clause: ClauseId,
    /// The index, over the clause's variables.
    pub index: TermId,
}

/// The origin of a body atom of a scalar clause.
pub(super) struct Instance {
    /// The index of the body atom in the old clause.
    pub atom: usize,
    /// Whether it is at the indexes of the head's cells; without these, at indexes that the clause
    /// reads.
    pub main: bool,
}

/// The origin of a scalar clause.
pub(super) struct Source {
    /// The index of the clause.
    pub clause: usize,
    /// By body atom.
    pub instances: Vec<Instance>,
}

/// The translation of a predicate.
pub(super) struct Image {
    /// The new predicate. Its formal variables are the scalars in the old order, then for each sort
    /// of index and each cell the index and the elements of the arrays.
    pub new: PredicateId,
    /// The old and the new formal variable of each scalar.
    pub scalars: Vec<(TermId, TermId)>,
    /// The cells.
    pub cells: Vec<CellGroup>,
}

/// One cell of all arrays of a predicate with the same sort of index.
pub(super) struct CellGroup {
    /// The formal variable of the index.
    pub index: TermId,
    /// The old array and the formal variable of its element.
    pub elements: Vec<(TermId, TermId)>,
}

/// The scalar system.
pub(super) struct Morphed {
    /// Its clauses.
    pub system: System,
    /// By old predicate.
    pub images: FxHashMap<PredicateId, Image>,
    /// By scalar clause.
    pub sources: FxHashMap<ClauseId, Source>,
}

/// Whether there are arrays among the arguments, and none of them nested.
pub(super) fn is_supported(system: &System) -> bool {
    let terms = &*system.terms;
    let mut found = false;
    for predicate in system.used_predicates() {
        for &param in &system.predicate(predicate).params {
            if let Sort::Array(index, element) = terms.sort(terms.sort_of(param)) {
                found = true;
                let scalar = |sort| !matches!(terms.sort(sort), Sort::Array(..));
                if !scalar(index) || !scalar(element) {
                    return false;
                }
            }
        }
    }
    found
}

/// Whether some argument is an array of values of a datatype.
pub(super) fn has_objects(system: &System) -> bool {
    let terms = &system.terms;
    let mut used = system.used_predicates().into_iter();
    used.any(|predicate| {
        let mut params = system.predicate(predicate).params.iter();
        params.any(|&param| {
            let element = terms.array_sorts(param).map(|s| s.1);
            element.is_some_and(|sort| matches!(terms.sort(sort), Sort::Datatype(_)))
        })
    })
}

/// The scalar system with this number of cells for each predicate and these further premises;
/// `None` if it would be too large, or the time is over.
pub(super) fn morph(
    system: &System,
    cells: usize,
    demands: &FxHashSet<Demand>,
    form: Form,
    cx: &Context,
) -> Option<Morphed> {
    let terms = system.terms.clone();
    let mut morphed = Morphed {
        system: System::new(terms.clone()),
        images: FxHashMap::default(),
        sources: FxHashMap::default(),
    };
    for predicate in system.used_predicates() {
        let image = image(system, predicate, cells, &mut morphed.system);
        morphed.images.insert(predicate, image);
    }
    for (at, clause) in system.clauses.iter().enumerate() {
        if cx.stop().is_some() {
            return None;
        }
        let mut demanded: Vec<TermId> = demands
            .iter()
            .filter(|d| d.clause == clause.id)
            .map(|d| d.index)
            .collect();
        demanded.sort_unstable();
        let mut translation = Translation::new(&terms, &morphed.images, clause, cells);
        let (body, mut constraint, head, instances) = translation.run(system, &demanded)?;
        if form == Form::Bounds {
            constraint = bounds_of_cells(&terms, constraint, &translation.indexes());
        }
        let id = morphed.system.add_clause(body, constraint, head);
        let source = Source {
            clause: at,
            instances,
        };
        morphed.sources.insert(id, source);
    }
    Some(morphed)
}

/// Adds the translation of a predicate to the new system.
fn image(old: &System, predicate: PredicateId, cells: usize, new: &mut System) -> Image {
    let terms = &*old.terms;
    let params = &old.predicate(predicate).params;
    let mut sorts = Vec::new();
    let mut scalars = Vec::new();
    let mut arrays: Vec<(SortId, Vec<TermId>)> = Vec::new();
    for &param in params {
        match terms.array_sorts(param) {
            None => {
                sorts.push(terms.sort_of(param));
                scalars.push(param);
            }
            Some((index, _)) => match arrays.iter_mut().find(|a| a.0 == index) {
                Some(group) => group.1.push(param),
                None => arrays.push((index, vec![param])),
            },
        }
    }
    for (index, group) in &arrays {
        for _ in 0..cells {
            sorts.push(*index);
            let elements = group.iter().filter_map(|&a| terms.array_sorts(a));
            sorts.extend(elements.map(|s| s.1));
        }
    }
    let id = new.add_predicate(&old.predicate(predicate).name, &sorts);
    let mut formal = new.predicate(id).params.iter().copied();
    let mut next = || formal.next().expect("a formal variable for each sort");
    let scalars = scalars.into_iter().map(|s| (s, next())).collect();
    let mut groups = Vec::new();
    for (_, group) in &arrays {
        for _ in 0..cells {
            groups.push(CellGroup {
                index: next(),
                elements: group.iter().map(|&a| (a, next())).collect(),
            });
        }
    }
    Image {
        new: id,
        scalars,
        cells: groups,
    }
}

/// The translation of one clause.
struct Translation<'a> {
    terms: &'a Rc<TermStore>,
    images: &'a FxHashMap<PredicateId, Image>,
    clause: &'a Clause,
    cells: usize,
    view: ArrayView,
    /// The elements of arrays without a definition that were read.
    elements: Elements,
    conjuncts: Vec<TermId>,
}

/// For each array its elements by index, in the order of the reads.
#[derive(Default)]
struct Elements {
    /// By array: indexes and elements.
    by_array: FxHashMap<TermId, Vec<(TermId, TermId)>>,
    /// The arrays in the order of their first reads.
    order: Vec<TermId>,
    /// The length of the longest list.
    most: usize,
}

impl Elements {
    /// The element of the array at the index.
    fn get(&mut self, terms: &TermStore, array: TermId, index: TermId) -> TermId {
        if let Some(&(_, known)) = self.find(array, index) {
            return known;
        }
        let (_, sort) = terms.array_sorts(array).expect("an array is read");
        let element = terms.fresh_var("cell", sort);
        self.add(array, index, element);
        element
    }

    /// The term for a read of an array. Reads of nested arrays stay.
    fn leaf(&mut self, terms: &TermStore, array: TermId, path: &[TermId]) -> TermId {
        match path {
            [index] => self.get(terms, array, *index),
            _ => path.iter().fold(array, |a, &i| terms.select(a, i)),
        }
    }

    /// Whether too many elements of an array were read.
    fn is_too_much(&self) -> bool {
        self.most > LIMITS.elements
    }

    fn find(&self, array: TermId, index: TermId) -> Option<&(TermId, TermId)> {
        self.by_array.get(&array)?.iter().find(|e| e.0 == index)
    }

    fn add(&mut self, array: TermId, index: TermId, element: TermId) {
        let list = self.by_array.entry(array).or_default();
        if list.is_empty() {
            self.order.push(array);
        }
        // With more elements the clause is given up.
        if list.len() <= LIMITS.elements {
            list.push((index, element));
        }
        self.most = self.most.max(list.len());
    }
}

/// Body, constraint, head, and the origins of the body atoms.
type Translated = (Vec<Atom>, TermId, Option<Atom>, Vec<Instance>);

impl<'a> Translation<'a> {
    fn new(
        terms: &'a Rc<TermStore>,
        images: &'a FxHashMap<PredicateId, Image>,
        clause: &'a Clause,
        cells: usize,
    ) -> Self {
        Translation {
            terms,
            images,
            clause,
            cells,
            view: ArrayView::new(terms, clause),
            elements: Elements::default(),
            conjuncts: Vec::new(),
        }
    }

    /// Translates the clause; `None` at a limit.
    fn run(&mut self, system: &System, demanded: &[TermId]) -> Option<Translated> {
        let terms = self.terms.clone();
        let clause = self.clause;
        let none = FxHashSet::default();
        let mut elements = std::mem::take(&mut self.elements);
        let mut reader = ArrayReader::new(&terms, &self.view, &none, LIMITS.read_steps);
        let mut conjuncts = Vec::new();
        let mut same: Vec<(TermId, TermId, TermId)> = Vec::new();
        let mut quantified = Vec::new();
        for &conjunct in &self.view.rest {
            let conjunct = open_quantifiers(&terms, conjunct, &mut quantified);
            let conjunct = without_equations(&terms, conjunct, &mut same);
            let met = reader.met.len();
            let mut leaf = |var: TermId, path: &Vec<TermId>| elements.leaf(&terms, var, path);
            let read = reader.plain(conjunct, &mut leaf).ok()?;
            // Conjuncts about whole arrays are dropped.
            if reader.met.len() == met && !mentions_arrays(&terms, read) {
                conjuncts.push(read);
            }
            reader.met.clear();
            if elements.is_too_much() {
                return None;
            }
        }
        // The head's cells.
        let mut head_indexes: Vec<TermId> = Vec::new();
        let head = match &clause.head {
            None => None,
            Some(atom) => {
                let image = &self.images[&atom.predicate];
                let actual = actual(system, atom);
                let mut args: Vec<TermId> = image.scalars.iter().map(|s| actual[&s.0]).collect();
                for group in &image.cells {
                    let k = terms.fresh_var("k", terms.sort_of(group.index));
                    head_indexes.push(k);
                    args.push(k);
                    for (array, formal) in &group.elements {
                        let mut leaf =
                            |var: TermId, path: &Vec<TermId>| elements.leaf(&terms, var, path);
                        let element = reader.read(actual[array], &[k], &mut leaf).ok()?;
                        let arg = terms.fresh_var("cell", terms.sort_of(*formal));
                        conjuncts.push(terms.eq(arg, element));
                        args.push(arg);
                    }
                }
                Some(Atom {
                    predicate: image.new,
                    args,
                })
            }
        };
        // Equations and disequations of arrays, at all indexes that were read.
        let indexes = |elements: &Elements, sort: SortId| -> Vec<TermId> {
            let mut found: Vec<TermId> = Vec::new();
            for array in &elements.order {
                for (index, _) in &elements.by_array[array] {
                    if terms.sort_of(*index) == sort && !found.contains(index) {
                        found.push(*index);
                    }
                }
            }
            found
        };
        for (equal, a, b) in same {
            let (sort, _) = terms.array_sorts(a)?;
            let witness = terms.fresh_var("at", sort);
            let mut at = indexes(&elements, sort);
            at.push(witness);
            for index in at {
                let mut leaf = |var: TermId, path: &Vec<TermId>| elements.leaf(&terms, var, path);
                let left = reader.read(a, &[index], &mut leaf).ok()?;
                let right = reader.read(b, &[index], &mut leaf).ok()?;
                if mentions_arrays(&terms, terms.eq(left, right)) {
                    continue;
                }
                let equation = terms.eq(left, right);
                conjuncts.push(terms.implies(equal, equation));
                if index == witness {
                    conjuncts.push(terms.implies(terms.not(equal), terms.not(equation)));
                }
            }
        }
        // The indexes for instances of quantified formulas.
        let mut by_sort: FxHashMap<SortId, Vec<TermId>> = FxHashMap::default();
        for array in &elements.order {
            for (index, _) in &elements.by_array[array] {
                let known = by_sort.entry(terms.sort_of(*index)).or_default();
                if !known.contains(index) {
                    known.push(*index);
                }
            }
        }
        for &index in &head_indexes {
            let known = by_sort.entry(terms.sort_of(index)).or_default();
            if !known.contains(&index) {
                known.push(index);
            }
        }
        for quantified in quantified {
            let maps = quantified.maps(&terms, &by_sort, LIMITS.instances);
            let mut parts: Vec<TermId> = maps
                .iter()
                .map(|map| quantified.instance(&terms, map))
                .collect();
            parts.push(quantified.witness(&terms));
            parts.retain(|&part| !terms.node(part).has_quantifier);
            for part in parts {
                let met = reader.met.len();
                let mut leaf = |var: TermId, path: &Vec<TermId>| elements.get(&terms, var, path[0]);
                let read = reader.plain(part, &mut leaf).ok()?;
                if reader.met.len() == met && !mentions_arrays(&terms, read) {
                    conjuncts.push(read);
                }
                reader.met.clear();
            }
        }
        // Demanded indexes that are read from arrays are scalars now.
        let mut premises = Vec::with_capacity(demanded.len());
        for &index in demanded {
            let mut leaf = |var: TermId, path: &Vec<TermId>| elements.leaf(&terms, var, path);
            let index = reader.plain(index, &mut leaf).ok()?;
            if !mentions_arrays(&terms, index) && !premises.contains(&index) {
                premises.push(index);
            }
        }
        self.conjuncts = conjuncts;
        self.elements = elements;
        let (body, instances) = self.body(system, &head_indexes, &premises)?;
        if self.elements.is_too_much() {
            return None;
        }
        self.agree();
        let constraint = terms.and(&self.conjuncts);
        Some((body, constraint, head, instances))
    }

    /// All indexes of reads that are not values.
    fn indexes(&self) -> FxHashSet<TermId> {
        let lists = self.elements.by_array.values().flatten();
        let indexes = lists.map(|e| e.0);
        indexes.filter(|&i| !self.terms.is_value(i)).collect()
    }

    /// The instances of the body atoms.
    fn body(
        &mut self,
        system: &System,
        head_indexes: &[TermId],
        demanded: &[TermId],
    ) -> Option<(Vec<Atom>, Vec<Instance>)> {
        let terms = self.terms.clone();
        let mut body = Vec::new();
        let mut instances = Vec::new();
        for (number, atom) in self.clause.body.iter().enumerate() {
            let image = &self.images[&atom.predicate];
            let actual = actual(system, atom);
            let mut tuples: Vec<(Vec<Option<TermId>>, bool)> = Vec::new();
            let rigid = self.rigid(image, head_indexes);
            if rigid.iter().all(Option::is_some) {
                tuples.push((rigid.clone(), true));
                for &index in demanded {
                    let mut tuple = rigid.clone();
                    // The last cell of its sort, so that with two cells the first stays rigid.
                    let sort = terms.sort_of(index);
                    let fits = |g: &CellGroup| terms.sort_of(g.index) == sort;
                    if let Some(at) = image.cells.iter().rposition(fits) {
                        tuple[at] = Some(index);
                        tuples.push((tuple, false));
                    }
                }
            } else {
                let read = self.read_tuples(image, &actual)?.into_iter();
                tuples.extend(read.map(|tuple| (tuple, true)));
            }
            for (copy, (tuple, main)) in tuples.into_iter().enumerate() {
                let mut args = Vec::new();
                for (old, formal) in &image.scalars {
                    let arg = actual[old];
                    if copy == 0 {
                        args.push(arg);
                    } else {
                        let other = terms.fresh_var("s", terms.sort_of(*formal));
                        self.conjuncts.push(terms.eq(other, arg));
                        args.push(other);
                    }
                }
                for (group, index) in image.cells.iter().zip(tuple) {
                    let k = terms.fresh_var("k", terms.sort_of(group.index));
                    args.push(k);
                    let index = index.unwrap_or(k);
                    if index != k {
                        self.conjuncts.push(terms.eq(k, index));
                    }
                    for (array, _) in &group.elements {
                        let array = actual[array];
                        let element = self.elements.get(&terms, array, index);
                        let arg = terms.fresh_var("cell", terms.sort_of(element));
                        self.conjuncts.push(terms.eq(arg, element));
                        args.push(arg);
                    }
                }
                body.push(Atom {
                    predicate: image.new,
                    args,
                });
                instances.push(Instance { atom: number, main });
                if body.len() > LIMITS.body_atoms {
                    return None;
                }
            }
        }
        Some((body, instances))
    }

    /// The head's indexes for the cells of a body atom: the n-th cell of each sort corresponds.
    fn rigid(&self, image: &Image, head_indexes: &[TermId]) -> Vec<Option<TermId>> {
        let mut used: FxHashMap<SortId, usize> = FxHashMap::default();
        let cells = image.cells.iter();
        cells
            .map(|group| {
                let sort = self.terms.sort_of(group.index);
                let nth = used.entry(sort).or_default();
                let mut own = head_indexes
                    .iter()
                    .filter(|&&k| self.terms.sort_of(k) == sort);
                let found = own.nth(*nth).copied();
                *nth += 1;
                found
            })
            .collect()
    }

    /// Tuples of the indexes at which the clause reads the atom's arrays, for queries and other
    /// clauses without arrays in the head: each index alone, or with two cells, each pair. `None`
    /// if there are more than a clause may have body atoms.
    fn read_tuples(
        &self,
        image: &Image,
        actual: &FxHashMap<TermId, TermId>,
    ) -> Option<Vec<Vec<Option<TermId>>>> {
        let mut tuples: Vec<Vec<Option<TermId>>> = vec![Vec::new()];
        for groups in image.cells.chunks(self.cells) {
            let mut read: Vec<TermId> = Vec::new();
            for (array, _) in &groups[0].elements {
                let elements = self.elements.by_array.get(&actual[array]);
                for (index, _) in elements.into_iter().flatten() {
                    if !read.contains(index) {
                        read.push(*index);
                    }
                }
            }
            let choices: Vec<Vec<Option<TermId>>> = match (&read[..], groups.len()) {
                ([], n) => vec![vec![None; n]],
                (read, 1) => read.iter().map(|&i| vec![Some(i)]).collect(),
                ([one], n) => vec![vec![Some(*one); n]],
                (read, _) => {
                    let pairs = read.iter().enumerate().flat_map(|(at, &a)| {
                        read[at + 1..].iter().map(move |&b| vec![Some(a), Some(b)])
                    });
                    pairs.collect()
                }
            };
            if tuples.len() * choices.len() > LIMITS.body_atoms {
                return None;
            }
            tuples = tuples
                .iter()
                .flat_map(|t| choices.iter().map(move |c| [&t[..], &c[..]].concat()))
                .collect();
        }
        Some(tuples)
    }

    /// Adds that elements of one array at equal indexes are equal.
    fn agree(&mut self) {
        let terms = self.terms.clone();
        for array in &self.elements.order {
            let list = &self.elements.by_array[array];
            for (at, (i, a)) in list.iter().enumerate() {
                for (j, b) in &list[at + 1..] {
                    let same = self.view.equal(&terms, *i, *j);
                    self.conjuncts.push(terms.implies(same, terms.eq(*a, *b)));
                }
            }
        }
    }
}

/// The atom's arguments by formal variables of its predicate.
fn actual(system: &System, atom: &Atom) -> FxHashMap<TermId, TermId> {
    let params = system.predicate(atom.predicate).params.iter().copied();
    params.zip(atom.args.iter().copied()).collect()
}

/// Replaces equations of arrays by Boolean variables; adds variable, left and right side to `same`.
fn without_equations(
    terms: &TermStore,
    formula: TermId,
    same: &mut Vec<(TermId, TermId, TermId)>,
) -> TermId {
    let mut map: FxHashMap<TermId, TermId> = FxHashMap::default();
    terms.post_order(&[formula], |t| {
        if *terms.op(t) == Op::Eq && terms.is_array(terms.args(t)[0]) {
            let args = terms.args(t);
            let known = same.iter().find(|s| s.1 == args[0] && s.2 == args[1]);
            let equal = match known {
                Some(known) => known.0,
                None => {
                    let equal = terms.fresh_var("same", SortId::BOOL);
                    same.push((equal, args[0], args[1]));
                    equal
                }
            };
            map.insert(t, equal);
        }
    });
    terms.substitute(formula, &map)
}

/// Whether an array occurs in the formula.
fn mentions_arrays(terms: &TermStore, formula: TermId) -> bool {
    let mut found = false;
    terms.post_order(&[formula], |t| found |= terms.is_array(t));
    found
}

/// Replaces equations between numbers that mention an index by two bounds each.
fn bounds_of_cells(terms: &TermStore, formula: TermId, indexes: &FxHashSet<TermId>) -> TermId {
    let conjuncts = terms.conjuncts(formula);
    let mut memo: FxHashMap<TermId, TermId> = FxHashMap::default();
    let parts: Vec<TermId> = conjuncts
        .into_iter()
        .map(|conjunct| match terms.op(conjunct) {
            // Definitions of variables stay.
            Op::Eq => {
                let args = terms.args(conjunct);
                if args.iter().any(|&a| terms.is_var(a)) {
                    let sides = args.iter().map(|&a| bounded(terms, a, indexes, &mut memo));
                    let sides: Vec<TermId> = sides.collect();
                    terms.eq(sides[0], sides[1])
                } else {
                    conjunct
                }
            }
            _ => bounded(terms, conjunct, indexes, &mut memo),
        })
        .collect();
    terms.and(&parts)
}

/// Replaces the equations in a formula or term.
fn bounded(
    terms: &TermStore,
    formula: TermId,
    indexes: &FxHashSet<TermId>,
    memo: &mut FxHashMap<TermId, TermId>,
) -> TermId {
    terms.rewrite_bottom_up(formula, memo, |t| {
        let node = terms.node(t);
        let number = |a: TermId| [SortId::INT, SortId::REAL].contains(&terms.sort_of(a));
        if node.op != Op::Eq || !number(node.args[0]) {
            return t;
        }
        let free = terms.free_vars(&[t]);
        if !free.iter().any(|v| indexes.contains(v)) {
            return t;
        }
        let [a, b] = [node.args[0], node.args[1]];
        terms.and(&[terms.le(a, b), terms.ge(a, b)])
    })
}
