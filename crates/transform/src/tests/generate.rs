//! Random systems with finitely many derivable facts, from a stream of choices that proptest can
//! shrink.

use std::rc::Rc;

use super::decide::constructor;
use alphorn_chc::{Atom, PredicateId, System};
use alphorn_term::{DatatypeId, SortId, TermId, TermStore};

/// Integers in arguments are within this bound.
const BOUND: i64 = 1;

/// Choices read from bytes; zero when they run out.
pub struct Choices<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Choices<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Choices { bytes, at: 0 }
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        byte as usize % n
    }
}

/// `Pair(first: Int, second: Bool)`, `Nested(inner: Pair, extra: Int)`, `none | some(value: Int)`,
/// and arrays of integers and of pairs.
struct Records {
    pair: (DatatypeId, SortId),
    nested: (DatatypeId, SortId),
    option: (DatatypeId, SortId),
    array: SortId,
    table: SortId,
}

fn records(terms: &TermStore) -> Records {
    let pair = terms.declare_datatype("Pair", &[]);
    let fields = [("first", SortId::INT), ("second", SortId::BOOL)];
    terms.define_datatype(pair.0, vec![constructor("pair", &fields)]);
    let nested = terms.declare_datatype("Nested", &[]);
    let fields = [("inner", pair.1), ("extra", SortId::INT)];
    terms.define_datatype(nested.0, vec![constructor("nested", &fields)]);
    let option = terms.declare_datatype("Option", &[]);
    let some = constructor("some", &[("value", SortId::INT)]);
    terms.define_datatype(option.0, vec![constructor("none", &[]), some]);
    Records {
        pair,
        nested,
        option,
        array: terms.array_sort(SortId::INT, SortId::INT),
        table: terms.array_sort(SortId::INT, pair.1),
    }
}

struct Generator<'a> {
    choices: Choices<'a>,
    terms: Rc<TermStore>,
    records: Records,
}

/// A system of a few predicates and clauses.
pub fn system(choices: Choices) -> System {
    let terms = Rc::new(TermStore::new());
    let records = records(&terms);
    let mut g = Generator {
        choices,
        terms: terms.clone(),
        records,
    };
    let mut system = System::new(terms);
    let count = 1 + g.choices.below(4);
    let predicates: Vec<PredicateId> = (0..count)
        .map(|i| {
            let arity = g.choices.below(4);
            let mut sorts: Vec<SortId> = (0..arity).map(|_| g.sort()).collect();
            // One record or array is enough, and keeps the number of facts small.
            for sort in sorts.iter_mut().skip(1) {
                if *sort != SortId::BOOL {
                    *sort = SortId::INT;
                }
            }
            system.add_predicate(&format!("p{i}"), &sorts)
        })
        .collect();
    // Facts first, so that something is derivable.
    g.clause(&mut system, &predicates, 0, true);
    for _ in 0..2 + g.choices.below(6) {
        let body = g.choices.below(3);
        g.clause(&mut system, &predicates, body, true);
    }
    for _ in 0..1 + g.choices.below(2) {
        let body = 1 + g.choices.below(2);
        g.clause(&mut system, &predicates, body, false);
    }
    for _ in 0..g.choices.below(3) {
        g.stronger_copy(&mut system);
    }
    system
}

impl Generator<'_> {
    fn sort(&mut self) -> SortId {
        match self.choices.below(11) {
            0..=4 => SortId::INT,
            5 => SortId::BOOL,
            6 => self.records.pair.1,
            7 => self.records.nested.1,
            8 => self.records.option.1,
            9 => self.records.array,
            _ => self.records.table,
        }
    }

    fn clause(&mut self, system: &mut System, all: &[PredicateId], body: usize, head: bool) {
        let body: Vec<Atom> = (0..body)
            .map(|_| system.fresh_atom(all[self.choices.below(all.len())]))
            .collect();
        let head = head.then(|| system.fresh_atom(all[self.choices.below(all.len())]));
        let mut pool: Vec<TermId> = body.iter().flat_map(|a| a.args.iter().copied()).collect();
        for _ in 0..self.choices.below(3) {
            let sort = self.sort();
            let local = self.terms.fresh_var("l", sort);
            pool.push(local);
        }
        let mut constraint = Vec::new();
        for arg in head.iter().flat_map(|h| h.args.clone()) {
            self.bounded(arg, &mut constraint);
            // Most head arguments are computed from the pool; some are unconstrained.
            if self.choices.below(5) > 0 {
                let term = self.term(self.terms.sort_of(arg), &pool, 2);
                let relation = if self.terms.sort_of(arg) == SortId::INT {
                    match self.choices.below(6) {
                        0 => self.terms.ge(arg, term),
                        1 => self.terms.le(arg, term),
                        _ => self.terms.eq(arg, term),
                    }
                } else {
                    self.terms.eq(arg, term)
                };
                constraint.push(relation);
            }
        }
        pool.extend(head.iter().flat_map(|h| h.args.iter().copied()));
        for _ in 0..self.choices.below(3) {
            let guard = self.formula(&pool, 2);
            constraint.push(guard);
        }
        system.add_clause(body, self.terms.and(&constraint), head);
    }

    /// A clause that another one implies, by a longer body or a stronger constraint.
    fn stronger_copy(&mut self, system: &mut System) {
        let terms = self.terms.clone();
        let clause = system.clauses[self.choices.below(system.clauses.len())].clone();
        let map = terms.renaming(&clause.vars(&terms));
        let rename = |atom: &Atom| Atom {
            predicate: atom.predicate,
            args: atom.args.iter().map(|a| map[a]).collect(),
        };
        let mut body: Vec<Atom> = clause.body.iter().map(rename).collect();
        let head = clause.head.as_ref().map(rename);
        let mut constraint = vec![terms.substitute(clause.constraint, &map)];
        if self.choices.below(2) == 0
            && let Some(first) = clause.body.first()
        {
            let again = system.fresh_atom(first.predicate);
            for (&a, &b) in again.args.iter().zip(&body[0].args) {
                if self.choices.below(2) == 0 {
                    constraint.push(terms.eq(a, b));
                }
            }
            let place = self.choices.below(body.len() + 1);
            body.insert(place, again);
        }
        let pool: Vec<TermId> = body
            .iter()
            .chain(&head)
            .flat_map(|a| a.args.clone())
            .collect();
        if self.choices.below(2) == 0 {
            constraint.push(self.formula(&pool, 1));
        }
        system.add_clause(body, terms.and(&constraint), head);
    }

    /// Bounds on all integers in a term.
    fn bounded(&mut self, term: TermId, out: &mut Vec<TermId>) {
        let terms = self.terms.clone();
        let sort = terms.sort_of(term);
        if sort == SortId::INT {
            out.push(terms.ge(term, terms.int(-BOUND)));
            out.push(terms.le(term, terms.int(BOUND)));
        } else if sort == self.records.pair.1 {
            self.bounded(terms.field(self.records.pair.0, 0, 0, term), out);
        } else if sort == self.records.nested.1 {
            let inner = terms.field(self.records.nested.0, 0, 0, term);
            self.bounded(inner, out);
            self.bounded(terms.field(self.records.nested.0, 0, 1, term), out);
        } else if sort == self.records.option.1 {
            let mut full = vec![terms.is(self.records.option.0, 1, term)];
            self.bounded(terms.field(self.records.option.0, 1, 0, term), &mut full);
            out.push(terms.or(&[terms.is(self.records.option.0, 0, term), terms.and(&full)]));
        } else if sort == self.records.array || sort == self.records.table {
            let element = if sort == self.records.array {
                SortId::INT
            } else {
                self.records.pair.1
            };
            let mut elements = [(); 2].map(|()| terms.fresh_var("e", element));
            for e in &mut elements {
                self.bounded(*e, out);
            }
            let whole = terms.const_array(sort, elements[0]);
            out.push(terms.eq(term, terms.store(whole, terms.int(1), elements[1])));
        }
    }

    fn term(&mut self, sort: SortId, pool: &[TermId], depth: usize) -> TermId {
        let terms = self.terms.clone();
        if sort == SortId::BOOL && depth > 0 && self.choices.below(3) == 0 {
            return self.formula(pool, depth - 1);
        }
        let fitting: Vec<TermId> = pool
            .iter()
            .copied()
            .filter(|&v| terms.sort_of(v) == sort)
            .collect();
        let choice = self.choices.below(6);
        if choice < 3 && !fitting.is_empty() {
            return fitting[self.choices.below(fitting.len())];
        }
        if choice == 3 && depth > 0 {
            let condition = self.formula(pool, depth - 1);
            let then = self.term(sort, pool, depth - 1);
            let other = self.term(sort, pool, depth - 1);
            return terms.ite(condition, then, other);
        }
        if sort == SortId::INT {
            if choice == 4 && depth > 0 {
                let pairs: Vec<TermId> = pool
                    .iter()
                    .copied()
                    .filter(|&v| terms.sort_of(v) == self.records.pair.1)
                    .collect();
                if !pairs.is_empty() {
                    let pair = pairs[self.choices.below(pairs.len())];
                    return terms.field(self.records.pair.0, 0, 0, pair);
                }
                let arrays: Vec<TermId> = pool
                    .iter()
                    .copied()
                    .filter(|&v| terms.sort_of(v) == self.records.array)
                    .collect();
                if !arrays.is_empty() {
                    let array = arrays[self.choices.below(arrays.len())];
                    return terms.select(array, self.index(pool));
                }
                let inner = self.term(sort, pool, depth - 1);
                return match self.choices.below(3) {
                    0 => terms.add(&[inner, terms.int(1)]),
                    1 => terms.mul(&[terms.int(2), inner]),
                    _ => terms.modulo(inner, terms.int(2)),
                };
            }
            return terms.int(self.choices.below(5) as i64 - 2);
        }
        if sort == SortId::BOOL {
            return terms.bool(self.choices.below(2) == 1);
        }
        if sort == self.records.array || sort == self.records.table {
            let element = if sort == self.records.array {
                SortId::INT
            } else {
                self.records.pair.1
            };
            let value = self.term(element, pool, depth.saturating_sub(1));
            if depth == 0 {
                return terms.const_array(sort, value);
            }
            let below = self.term(sort, pool, depth - 1);
            return terms.store(below, self.index(pool), value);
        }
        if sort == self.records.option.1 {
            if self.choices.below(2) == 0 {
                return terms.construct(self.records.option.0, 0, &[]);
            }
            let value = self.term(SortId::INT, pool, depth.saturating_sub(1));
            return terms.construct(self.records.option.0, 1, &[value]);
        }
        let (id, fields) = if sort == self.records.pair.1 {
            (self.records.pair.0, [SortId::INT, SortId::BOOL])
        } else {
            (self.records.nested.0, [self.records.pair.1, SortId::INT])
        };
        let fields = fields.map(|s| self.term(s, pool, depth.saturating_sub(1)));
        terms.construct(id, 0, &fields)
    }

    /// Indexes for reads and writes, mostly constants.
    fn index(&mut self, pool: &[TermId]) -> TermId {
        match self.choices.below(8) {
            0 => self.term(SortId::INT, pool, 0),
            n => self.terms.int(n as i64 % 2),
        }
    }

    fn formula(&mut self, pool: &[TermId], depth: usize) -> TermId {
        let terms = self.terms.clone();
        match self.choices.below(if depth > 0 { 7 } else { 4 }) {
            0 => {
                let a = self.term(SortId::INT, pool, depth);
                let b = self.term(SortId::INT, pool, depth);
                terms.le(a, b)
            }
            1 | 2 => {
                let sort = self.sort();
                let a = self.term(sort, pool, depth);
                let b = self.term(sort, pool, depth);
                let equal = terms.eq(a, b);
                if self.choices.below(2) == 0 {
                    equal
                } else {
                    terms.not(equal)
                }
            }
            3 => {
                let option = self.records.option;
                let full = pool.iter().find(|&&v| terms.sort_of(v) == option.1);
                if let Some(&full) = full
                    && self.choices.below(2) == 0
                {
                    let limit = terms.int(self.choices.below(3) as i64 - 1);
                    let value = terms.field(option.0, 1, 0, full);
                    return terms.and(&[terms.is(option.0, 1, full), terms.le(value, limit)]);
                }
                let b = self.term(SortId::BOOL, pool, 0);
                if self.choices.below(2) == 0 {
                    b
                } else {
                    terms.not(b)
                }
            }
            4 | 5 => {
                let a = self.formula(pool, depth - 1);
                let b = self.formula(pool, depth - 1);
                terms.or(&[a, b])
            }
            _ => {
                let a = self.formula(pool, depth - 1);
                let b = self.formula(pool, depth - 1);
                terms.and(&[a, b])
            }
        }
    }
}
