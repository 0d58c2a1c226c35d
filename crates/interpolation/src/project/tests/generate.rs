//! Random literals of all theories around a planted model.

use num_bigint::BigUint;

use alphorn_term::{
    Assignment, BigInt, Constructor, DatatypeId, Field, Op, Random, Rational, Sort, SortId, TermId,
    TermStore, evaluate,
};

const WIDTH: u32 = 3;

/// The theories that may occur.
#[derive(Clone, Copy, Default)]
pub(super) struct Features {
    pub bools: bool,
    pub ints: bool,
    pub reals: bool,
    pub division: bool,
    pub products: bool,
    pub vectors: bool,
    pub arrays: bool,
    pub nested_arrays: bool,
    pub datatypes: bool,
    pub ites: bool,
}

pub(super) struct Generator<'a> {
    pub terms: &'a TermStore,
    pub random: Random,
    pub features: Features,
    pub vars: Vec<TermId>,
    pub model: Assignment,
    /// Equations that hold in the model by construction.
    pub definitions: Vec<TermId>,
    pub list: DatatypeId,
    pub pair: DatatypeId,
}

pub(super) struct Sorts {
    pub vector: SortId,
    pub array: SortId,
    pub nested: SortId,
    pub list: SortId,
    pub pair: SortId,
}

impl<'a> Generator<'a> {
    pub fn new(terms: &'a TermStore, seed: u64, features: Features, count: usize) -> Self {
        let (list, list_sort) = terms.declare_datatype("List", &[]);
        let field = |selector: &str, sort| Field {
            selector: selector.to_owned(),
            sort,
        };
        let constructor = |name: &str, fields| Constructor {
            name: name.to_owned(),
            fields,
        };
        terms.define_datatype(
            list,
            vec![
                constructor("nil", vec![]),
                constructor(
                    "cons",
                    vec![field("hd", SortId::INT), field("tl", list_sort)],
                ),
            ],
        );
        let (pair, pair_sort) = terms.declare_datatype("Pair", &[]);
        let array = terms.array_sort(SortId::INT, SortId::INT);
        terms.define_datatype(
            pair,
            vec![constructor(
                "pair",
                vec![field("fst", array), field("snd", SortId::BOOL)],
            )],
        );
        let mut generator = Generator {
            terms,
            random: Random::new(seed),
            features,
            vars: Vec::new(),
            model: Assignment::default(),
            definitions: Vec::new(),
            list,
            pair,
        };
        let sorts = generator.sorts();
        let mut wanted = Vec::new();
        let mut on = |flag: bool, sort| {
            if flag {
                wanted.push(sort);
            }
        };
        on(features.bools, SortId::BOOL);
        on(features.ints, SortId::INT);
        on(features.reals, SortId::REAL);
        on(features.vectors, sorts.vector);
        on(features.arrays, sorts.array);
        on(features.nested_arrays, sorts.nested);
        on(features.datatypes, list_sort);
        on(features.datatypes && features.arrays, pair_sort);
        for _ in 0..10 {
            generator.random.below(2);
        }
        for at in 0..count {
            let sort = wanted[at % wanted.len()];
            let var = terms.var(&format!("v{at}"), sort);
            let mut value = generator.value(sort, 3);
            if at > 0 && generator.random.one_in(2) {
                let term = generator.term(sort, 2);
                if let Some(other) = evaluate(terms, term, &generator.model) {
                    generator.definitions.push(terms.eq(var, term));
                    value = other;
                }
            }
            generator.vars.push(var);
            generator.model.insert(var, value);
        }
        generator
    }

    pub fn sorts(&self) -> Sorts {
        let array = self.terms.array_sort(SortId::INT, SortId::INT);
        Sorts {
            vector: self.terms.bitvec_sort(WIDTH),
            array,
            nested: self.terms.array_sort(SortId::INT, array),
            list: self.terms.datatype_sort(self.list),
            pair: self.terms.datatype_sort(self.pair),
        }
    }

    pub fn value(&mut self, sort: SortId, depth: u32) -> TermId {
        let terms = self.terms;
        match terms.sort(sort) {
            Sort::Bool => terms.bool(self.random.one_in(2)),
            // Integers that are indexes should be equal often.
            Sort::Int if self.features.arrays => terms.int(self.random.below(4) as i64 - 1),
            Sort::Int => terms.int(self.random.below(13) as i64 - 6),
            Sort::Real => terms.real(Rational::new(
                BigInt::from(self.random.below(17) as i64 - 8),
                BigInt::from(self.random.below(2) + 1),
            )),
            Sort::BitVec(width) => terms.bitvec(BigUint::from(self.random.below(64_u64)), width),
            Sort::Array(index, element) => {
                let default = self.value(element, 0);
                let entries: Vec<_> = (0..self.random.below(3))
                    .map(|_| (self.value(index, 0), self.value(element, 0)))
                    .collect();
                terms.array_from_entries(sort, entries, default)
            }
            Sort::Datatype(id) => {
                let mut constructor = terms.datatype(id).constructors.len() as u64;
                constructor = self.random.below(constructor);
                if depth == 0 {
                    constructor = 0;
                }
                let fields: Vec<TermId> = terms.datatype(id).constructors[constructor as usize]
                    .fields
                    .iter()
                    .map(|f| self.value(f.sort, depth.saturating_sub(1)))
                    .collect();
                terms.construct(id, constructor as u32, &fields)
            }
        }
    }

    /// A value near that of the variable.
    pub fn neighbour(&mut self, var: TermId) -> TermId {
        let terms = self.terms;
        let sort = terms.sort_of(var);
        let value = self.model[&var];
        match (terms.sort(sort), self.random.below(3)) {
            (_, 0) => {
                let other = self.var(sort);
                self.model.get(&other).copied().unwrap_or(other)
            }
            (Sort::Int, 1) => terms.add(&[value, terms.int(self.random.below(5) as i64 - 2)]),
            (Sort::Array(index, element), 1 | 2) => {
                let (index, element) = (self.var(index), self.var(element));
                let known = |t| self.model.get(&t).copied().unwrap_or(t);
                terms.store(value, known(index), known(element))
            }
            _ => self.value(sort, 2),
        }
    }

    /// An atom about sorts other than Int.
    fn pattern(&mut self) -> TermId {
        let terms = self.terms;
        let sorts = self.sorts();
        let array = |g: &mut Self| {
            let base = g.var(sorts.array);
            if g.random.one_in(2) {
                terms.store(base, g.var(SortId::INT), g.var(SortId::INT))
            } else {
                base
            }
        };
        match self.random.below(6) {
            0 | 1 if self.features.arrays => {
                let chain = terms.store(array(self), self.var(SortId::INT), self.var(SortId::INT));
                terms.eq(chain, array(self))
            }
            2 | 3 if self.features.arrays => terms.eq(
                terms.select(array(self), self.var(SortId::INT)),
                self.var(SortId::INT),
            ),
            0..=2 if self.features.datatypes => {
                let cons =
                    terms.construct(self.list, 1, &[self.var(SortId::INT), self.var(sorts.list)]);
                terms.eq(cons, self.var(sorts.list))
            }
            3 if self.features.datatypes => {
                let tail = terms.field(self.list, 1, 1, self.var(sorts.list));
                terms.eq(tail, self.var(sorts.list))
            }
            0..=3 if self.features.vectors => {
                let a = self.var(sorts.vector);
                let low = terms.bv_op(&Op::BvExtract(1, 0), &[self.var(sorts.vector)]);
                let wide = match self.random.below(3) {
                    0 => terms.bv_op(&Op::BvConcat, &[low, a]),
                    1 => terms.bv_op(&Op::BvZeroExtend(2), &[a]),
                    _ => terms.bv_op(&Op::BvSignExtend(2), &[a]),
                };
                let other = terms.bv_op(&Op::BvConcat, &[low, self.var(sorts.vector)]);
                terms.eq(wide, other)
            }
            0..=3 if self.features.reals => {
                let whole = terms.to_real(self.var(SortId::INT));
                let sum = terms.add(&[self.var(SortId::REAL), whole]);
                terms.eq(sum, self.term(SortId::REAL, 1))
            }
            _ => self.atom(1),
        }
    }

    fn var(&mut self, sort: SortId) -> TermId {
        let fitting: Vec<TermId> = self
            .vars
            .iter()
            .copied()
            .filter(|&v| self.terms.sort_of(v) == sort)
            .collect();
        if fitting.is_empty() {
            self.value(sort, 1)
        } else {
            *self.random.pick(&fitting)
        }
    }

    fn term(&mut self, sort: SortId, depth: u32) -> TermId {
        let terms = self.terms;
        let sorts = self.sorts();
        if depth == 0 || self.random.one_in(3) {
            return if self.random.one_in(4) {
                self.value(sort, 1)
            } else {
                self.var(sort)
            };
        }
        if self.features.ites && self.random.one_in(5) {
            let condition = self.formula(depth - 1);
            let (a, b) = (self.term(sort, depth - 1), self.term(sort, depth - 1));
            return terms.ite(condition, a, b);
        }
        let d = depth - 1;
        match terms.sort(sort) {
            Sort::Bool => self.atom(d),
            Sort::Int => match self.random.below(9) {
                0 | 1 => terms.add(&[self.term(sort, d), self.term(sort, d)]),
                2 => terms.sub(self.term(sort, d), self.term(sort, d)),
                3 => {
                    let factor = self.random.below(7) as i64 - 3;
                    terms.mul(&[terms.int(factor), self.term(sort, d)])
                }
                4 if self.features.division => {
                    let divisor = *self.random.pick(&[2i64, 3, 4, -3]);
                    terms.modulo(self.term(sort, d), terms.int(divisor))
                }
                5 if self.features.division => {
                    let divisor = *self.random.pick(&[2i64, 3, -2]);
                    terms.idiv(self.term(sort, d), terms.int(divisor))
                }
                6 if self.features.reals => terms.to_int(self.term(SortId::REAL, d)),
                7 if self.features.products => terms.mul(&[self.term(sort, d), self.term(sort, d)]),
                8 if self.features.vectors => {
                    terms.bv_op(&Op::BvToNat, &[self.term(sorts.vector, d)])
                }
                6 | 7 if self.features.datatypes => {
                    terms.field(self.list, 1, 0, self.term(sorts.list, d))
                }
                _ if self.features.arrays => {
                    terms.select(self.term(sorts.array, d), self.term(SortId::INT, d))
                }
                _ => terms.add(&[self.term(sort, d), self.value(sort, 0)]),
            },
            Sort::Real => match self.random.below(5) {
                0 | 1 => terms.add(&[self.term(sort, d), self.term(sort, d)]),
                2 => {
                    let factor = self.value(sort, 0);
                    terms.mul(&[factor, self.term(sort, d)])
                }
                3 if self.features.ints => terms.to_real(self.term(SortId::INT, d)),
                _ => terms.sub(self.term(sort, d), self.term(sort, d)),
            },
            Sort::BitVec(_) => {
                let op = self.random.pick(&[
                    Op::BvAdd,
                    Op::BvXor,
                    Op::BvNot,
                    Op::BvNeg,
                    Op::BvAnd,
                    Op::BvMul,
                    Op::BvUdiv,
                    Op::BvShl,
                    Op::BvConcat,
                    Op::BvZeroExtend(1),
                ]);
                let a = self.term(sort, d);
                match op {
                    Op::BvNot | Op::BvNeg => terms.bv_op(op, &[a]),
                    Op::BvConcat => {
                        let b = self.term(sort, d);
                        let low = terms.bv_op(&Op::BvExtract(1, 0), &[a]);
                        let high = terms.bv_op(&Op::BvExtract(2, 2), &[b]);
                        terms.bv_op(op, &[high, low])
                    }
                    Op::BvZeroExtend(_) => {
                        let low = terms.bv_op(&Op::BvExtract(1, 0), &[a]);
                        terms.bv_op(op, &[low])
                    }
                    _ => terms.bv_op(op, &[a, self.term(sort, d)]),
                }
            }
            Sort::Array(index, element) => match self.random.below(5) {
                0 if self.features.nested_arrays && sort == sorts.array => {
                    terms.select(self.term(sorts.nested, d), self.term(SortId::INT, d))
                }
                1 if self.features.datatypes && sort == sorts.array => {
                    terms.field(self.pair, 0, 0, self.term(sorts.pair, d))
                }
                _ => terms.store(
                    self.term(sort, d),
                    self.term(index, d),
                    self.term(element, d),
                ),
            },
            Sort::Datatype(id) if id == self.list => {
                if self.random.one_in(2) {
                    terms.construct(
                        id,
                        1,
                        &[self.term(SortId::INT, d), self.term(sorts.list, d)],
                    )
                } else {
                    terms.field(id, 1, 1, self.term(sorts.list, d))
                }
            }
            Sort::Datatype(id) => {
                let fields = [self.term(sorts.array, d), self.term(SortId::BOOL, d)];
                terms.construct(id, 0, &fields)
            }
        }
    }

    fn atom(&mut self, depth: u32) -> TermId {
        let terms = self.terms;
        let var = *self.random.pick(&self.vars);
        let sort = terms.sort_of(var);
        let left = if self.random.one_in(2) {
            var
        } else {
            self.term(sort, depth)
        };
        if sort == SortId::BOOL && self.random.one_in(2) {
            return left;
        }
        let list = terms.datatype_sort(self.list);
        if sort == list && self.random.one_in(3) {
            return terms.is(self.list, self.random.below(2) as u32, left);
        }
        let right = self.term(sort, depth);
        match terms.sort(sort) {
            Sort::Int | Sort::Real if !self.random.one_in(4) => terms.le(left, right),
            Sort::BitVec(_) if self.random.one_in(3) => terms.bv_op(&Op::BvUle, &[left, right]),
            Sort::BitVec(_) if self.random.one_in(3) => terms.bv_op(&Op::BvSle, &[left, right]),
            _ => terms.eq(left, right),
        }
    }

    fn formula(&mut self, depth: u32) -> TermId {
        let terms = self.terms;
        if depth == 0 || self.random.one_in(3) {
            let atom = self.atom(depth);
            return if self.random.one_in(2) {
                terms.not(atom)
            } else {
                atom
            };
        }
        let args: Vec<TermId> = (0..3).map(|_| self.formula(depth - 1)).collect();
        match self.random.below(5) {
            0 | 1 => terms.or(&args),
            2 => terms.and(&args),
            3 => terms.ite(args[0], args[1], args[2]),
            _ => terms.eq(args[0], args[1]),
        }
    }

    /// A formula that is true in the planted model.
    pub fn true_formula(&mut self, depth: u32) -> TermId {
        let mut tries = 20;
        loop {
            let formula = if self.random.one_in(2) {
                self.pattern()
            } else {
                self.formula(depth)
            };
            match evaluate(self.terms, formula, &self.model) {
                Some(TermId::TRUE) => return formula,
                Some(_) if tries > 0 && self.random.one_in(2) => tries -= 1,
                Some(_) => return self.terms.not(formula),
                None => {}
            }
        }
    }
}

/// Linear integer arithmetic.
pub(super) const INTS: Features = Features {
    bools: false,
    ints: true,
    reals: false,
    division: false,
    products: false,
    vectors: false,
    arrays: false,
    nested_arrays: false,
    datatypes: false,
    ites: false,
};

/// All theories.
pub(super) fn all() -> Features {
    Features {
        bools: true,
        ints: true,
        reals: true,
        division: true,
        products: true,
        vectors: true,
        arrays: true,
        nested_arrays: true,
        datatypes: true,
        ites: true,
    }
}
