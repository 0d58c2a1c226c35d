//! Reduction of a pair's arrays and datatypes to cells, testers and fields.
//!
//! Each side gets instances of the axioms over its own terms and the shared ones: reads over
//! writes, reads at equal indexes, cells of equal arrays, a cell in which different arrays differ;
//! one constructor per term, fields of equal terms. Then each read, tester and field is replaced by
//! a variable, and an interpolant of the result, with variables replaced by shared terms, is one of
//! the pair. This finds the interpolants that need no instance with terms of both sides
//! (Bruttomesso, Ghilardi, Ranise, "Quantifier-free interpolation of a theory of arrays", LMCS
//! 2012, has the reduction); projection is used for other pairs.
//!
//! Invariant: instances are valid, so consequences of a reduced side are consequences of the side.

use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use alphorn_term::{Assignment, Op, Sort, SortId, TermId, TermStore};

/// A pair without arrays and datatypes.
pub(super) struct Reduction {
    pub a: TermId,
    pub b: TermId,
    /// From variables to the terms that they stand for.
    pub back: Assignment,
}

/// The reduction of a pair; `None` if it has neither arrays nor datatypes.
pub(super) fn reduce(terms: &TermStore, a: &[TermId], b: &[TermId]) -> Option<Reduction> {
    let of_b: FxHashSet<TermId> = terms.free_vars(b).into_iter().collect();
    let mut shared: FxHashSet<TermId> = terms.free_vars(a).into_iter().collect();
    shared.retain(|v| of_b.contains(v));
    let mut sides = [Side::new(terms, a), Side::new(terms, b)];
    if sides
        .iter()
        .all(|s| s.arrays.is_empty() && s.data.is_empty())
    {
        return None;
    }
    let is_shared = |t: TermId| terms.free_vars(&[t]).iter().all(|v| shared.contains(v));
    // Shared variables may equal an index.
    let mut common: Vec<TermId> = shared.iter().copied().collect();
    common.sort_unstable();
    for side in &mut sides {
        let sorts: Vec<SortId> = side.indexes.keys().copied().collect();
        for &var in &common {
            if sorts.contains(&terms.sort_of(var)) {
                side.index(var);
            }
        }
    }
    for from in 0..2 {
        let arrays = sides[from].arrays.clone();
        let data = sides[from].data.clone();
        let indexes: Vec<TermId> = sides[from].indexes.values().flatten().copied().collect();
        let to = &mut sides[1 - from];
        arrays
            .into_iter()
            .filter(|&t| is_shared(t))
            .for_each(|t| to.array(t));
        data.into_iter()
            .filter(|&t| is_shared(t))
            .for_each(|t| to.datum(t));
        indexes
            .into_iter()
            .filter(|&t| is_shared(t))
            .for_each(|t| to.index(t));
    }
    let [a, b] = sides.map(Side::instances);
    let mut names: FxHashMap<TermId, TermId> = FxHashMap::default();
    let mut memo = FxHashMap::default();
    let mut abstracted = |formula: TermId| {
        terms.rewrite(formula, &mut memo, |t| {
            let is_cell = match terms.op(t) {
                Op::Select | Op::Field(..) | Op::Is(..) => true,
                Op::Eq => is_structured(terms, terms.sort_of(terms.args(t)[0])),
                _ => false,
            };
            is_cell.then(|| {
                let fresh = || terms.fresh_var("cell", terms.sort_of(t));
                *names.entry(t).or_insert_with(fresh)
            })
        })
    };
    let (a, b) = (abstracted(a), abstracted(b));
    let back = names.into_iter().map(|(term, name)| (name, term)).collect();
    Some(Reduction { a, b, back })
}

fn is_structured(terms: &TermStore, sort: SortId) -> bool {
    matches!(terms.sort(sort), Sort::Array(..) | Sort::Datatype(_))
}

/// One side of a pair.
struct Side<'t> {
    terms: &'t TermStore,
    literals: Vec<TermId>,
    /// Terms of array sorts.
    arrays: Vec<TermId>,
    /// Terms of datatypes.
    data: Vec<TermId>,
    /// Index terms by sort.
    indexes: FxHashMap<SortId, Vec<TermId>>,
    seen: FxHashSet<TermId>,
    formulas: Vec<TermId>,
}

impl<'t> Side<'t> {
    fn new(terms: &'t TermStore, literals: &[TermId]) -> Side<'t> {
        let mut side = Side {
            terms,
            literals: Vec::new(),
            arrays: Vec::new(),
            data: Vec::new(),
            indexes: FxHashMap::default(),
            seen: FxHashSet::default(),
            formulas: Vec::new(),
        };
        for &literal in literals {
            side.take(literal, true, LIMITS.max_depth);
        }
        side
    }

    /// Adds a literal; a disequality of arrays gets an index at which they differ.
    fn take(&mut self, literal: TermId, whole: bool, depth: usize) {
        let terms = self.terms;
        let atom = match *terms.op(literal) {
            Op::Not => Some(terms.args(literal)[0]),
            _ => None,
        };
        if whole {
            self.collect(literal);
        }
        if let Some(atom) = atom
            && *terms.op(atom) == Op::Eq
            && let &[left, right] = terms.args(atom)
            && let Sort::Array(index, _) = terms.sort(terms.sort_of(left))
            && depth > 0
        {
            let at = terms.fresh_var("differs", index);
            self.index(at);
            let cells = [terms.select(left, at), terms.select(right, at)];
            self.collect(cells[0]);
            self.collect(cells[1]);
            let differ = terms.not(terms.eq(cells[0], cells[1]));
            self.take(differ, false, depth - 1);
            return;
        }
        self.literals.push(literal);
    }

    fn collect(&mut self, root: TermId) {
        let terms = self.terms;
        let mut found = Vec::new();
        terms.post_order(&[root], |t| found.push(t));
        for term in found {
            match terms.op(term) {
                Op::Select | Op::Store => self.index(terms.args(term)[1]),
                _ => {}
            }
            match terms.sort(terms.sort_of(term)) {
                Sort::Array(..) => self.array(term),
                Sort::Datatype(_) => self.datum(term),
                _ => {}
            }
        }
    }

    fn array(&mut self, term: TermId) {
        if self.seen.insert(term) {
            self.arrays.push(term);
        }
    }

    fn datum(&mut self, term: TermId) {
        if self.seen.insert(term) {
            self.data.push(term);
        }
    }

    fn index(&mut self, term: TermId) {
        let list = self.indexes.entry(self.terms.sort_of(term)).or_default();
        if list.len() < LIMITS.max_indexes && !list.contains(&term) {
            list.push(term);
        }
    }

    fn indexes_of(&self, array: TermId) -> Vec<TermId> {
        let Sort::Array(index, _) = self.terms.sort(self.terms.sort_of(array)) else {
            return Vec::new();
        };
        self.indexes.get(&index).cloned().unwrap_or_default()
    }

    fn add(&mut self, formula: TermId) {
        if formula != TermId::TRUE && self.formulas.len() < LIMITS.max_instances {
            self.formulas.push(formula);
        }
    }

    /// The consequences of an equation, down to simple sorts.
    fn equal(&self, left: TermId, right: TermId, depth: usize) -> TermId {
        let terms = self.terms;
        if left == right {
            return TermId::TRUE;
        }
        match terms.sort(terms.sort_of(left)) {
            Sort::Array(..) if depth == 0 => TermId::TRUE,
            Sort::Array(..) => {
                let cells = self.indexes_of(left).into_iter().map(|at| {
                    let (x, y) = (terms.select(left, at), terms.select(right, at));
                    self.equal(x, y, depth - 1)
                });
                terms.and(&cells.collect::<Vec<_>>())
            }
            Sort::Datatype(id) => {
                let mut parts = Vec::new();
                for (number, constructor) in terms.datatype(id).constructors.iter().enumerate() {
                    let number = number as u32;
                    let tests = [terms.is(id, number, left), terms.is(id, number, right)];
                    parts.push(terms.eq(tests[0], tests[1]));
                    for (field, of) in constructor.fields.iter().enumerate() {
                        let at = |t: TermId| terms.field(id, number, field as u32, t);
                        if tests.contains(&TermId::FALSE)
                            || is_structured(terms, of.sort) && depth == 0
                        {
                            continue;
                        }
                        let same = self.equal(at(left), at(right), depth.saturating_sub(1));
                        parts.push(terms.implies(tests[0], same));
                    }
                }
                terms.and(&parts)
            }
            _ => terms.eq(left, right),
        }
    }

    /// The parts in which different terms of a datatype may differ; `true` beyond the depth limit.
    fn differ(&self, left: TermId, right: TermId, depth: usize) -> TermId {
        let terms = self.terms;
        if left == right {
            return TermId::FALSE;
        }
        match terms.sort(terms.sort_of(left)) {
            Sort::Array(..) => TermId::TRUE,
            Sort::Datatype(id) => {
                let mut parts = Vec::new();
                for (number, constructor) in terms.datatype(id).constructors.iter().enumerate() {
                    let number = number as u32;
                    let tests = [terms.is(id, number, left), terms.is(id, number, right)];
                    parts.push(terms.not(terms.eq(tests[0], tests[1])));
                    for (field, of) in constructor.fields.iter().enumerate() {
                        if tests.contains(&TermId::FALSE) {
                            continue;
                        }
                        if is_structured(terms, of.sort) && depth == 0 {
                            return TermId::TRUE;
                        }
                        let at = |t: TermId| terms.field(id, number, field as u32, t);
                        let other = self.differ(at(left), at(right), depth.saturating_sub(1));
                        parts.push(terms.and(&[tests[0], tests[1], other]));
                    }
                }
                terms.or(&parts)
            }
            _ => terms.not(terms.eq(left, right)),
        }
    }

    /// The side with all its instances.
    fn instances(mut self) -> TermId {
        let terms = self.terms;
        for literal in std::mem::take(&mut self.literals) {
            let (atom, positive) = match *terms.op(literal) {
                Op::Not => (terms.args(literal)[0], false),
                _ => (literal, true),
            };
            let formula = match *terms.args(atom) {
                [left, right]
                    if *terms.op(atom) == Op::Eq && is_structured(terms, terms.sort_of(left)) =>
                {
                    match positive {
                        true => self.equal(left, right, LIMITS.max_depth),
                        false => self.differ(left, right, LIMITS.max_depth),
                    }
                }
                _ => literal,
            };
            self.add(formula);
        }
        for array in self.arrays.clone() {
            self.cells(array);
        }
        for term in self.data.clone() {
            self.constructor(term);
        }
        terms.and(&self.formulas)
    }

    fn cells(&mut self, array: TermId) {
        let terms = self.terms;
        let indexes = self.indexes_of(array);
        match *terms.op(array) {
            Op::Store => {
                let &[inner, at, value] = terms.args(array) else {
                    return;
                };
                for index in indexes {
                    let here = self.index_equal(at, index);
                    let read = terms.select(array, index);
                    let kept = self.equal(read, terms.select(inner, index), LIMITS.max_depth);
                    let written = self.equal(read, value, LIMITS.max_depth);
                    self.add(terms.or(&[here, kept]));
                    self.add(terms.or(&[terms.not(here), written]));
                }
            }
            Op::ConstArray => {}
            Op::Ite => {}
            _ => {
                for (number, &left) in indexes.iter().enumerate() {
                    for &right in &indexes[..number] {
                        let cells = [terms.select(array, left), terms.select(array, right)];
                        let same = self.equal(cells[0], cells[1], LIMITS.max_depth);
                        let equal = self.index_equal(left, right);
                        self.add(terms.implies(equal, same));
                    }
                }
            }
        }
    }

    /// Whether two indexes are equal; for datatypes an atom with both of its consequences.
    fn index_equal(&mut self, left: TermId, right: TermId) -> TermId {
        let terms = self.terms;
        let atom = terms.eq(left, right);
        if is_structured(terms, terms.sort_of(left)) && self.seen.insert(atom) {
            let same = self.equal(left, right, LIMITS.max_depth);
            let other = self.differ(left, right, LIMITS.max_depth);
            self.add(terms.implies(atom, same));
            self.add(terms.or(&[atom, other]));
        }
        atom
    }

    /// Each term has exactly one constructor.
    fn constructor(&mut self, term: TermId) {
        let terms = self.terms;
        let Sort::Datatype(id) = terms.sort(terms.sort_of(term)) else {
            return;
        };
        if matches!(terms.op(term), Op::Construct(..) | Op::Ite) {
            return;
        }
        let count = terms.datatype(id).constructors.len() as u32;
        let tests: Vec<TermId> = (0..count).map(|c| terms.is(id, c, term)).collect();
        self.add(terms.or(&tests));
        for (number, &left) in tests.iter().enumerate() {
            for &right in &tests[..number] {
                self.add(terms.not(terms.and(&[left, right])));
            }
        }
    }
}
