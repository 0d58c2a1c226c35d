//! Random conjunctions with a planted model: the projection is true there, holds no eliminated
//! variable, and wherever else it is true, Z3 finds values for the eliminated variables.

use num_bigint::BigUint;
use proptest::prelude::*;
use rustc_hash::FxHashSet;

use super::*;
use crate::smt::implicant::{ImplicantOptions, implicant_with};
use crate::term::{
    BigInt, Constructor, DatatypeId, DatatypeStyle, Field, Op, Printer, Rational, evaluate,
};

const WIDTH: u32 = 3;

/// Numbers from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % n
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize].clone()
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// What may occur.
#[derive(Clone, Copy, Default)]
struct Features {
    bools: bool,
    ints: bool,
    reals: bool,
    division: bool,
    products: bool,
    vectors: bool,
    arrays: bool,
    nested_arrays: bool,
    datatypes: bool,
    ites: bool,
}

struct Generator<'a> {
    terms: &'a TermStore,
    random: Random,
    features: Features,
    vars: Vec<TermId>,
    model: Assignment,
    list: DatatypeId,
    pair: DatatypeId,
}

struct Sorts {
    vector: SortId,
    array: SortId,
    nested: SortId,
    list: SortId,
    pair: SortId,
}

impl<'a> Generator<'a> {
    fn new(terms: &'a TermStore, seed: u64, features: Features, count: usize) -> Self {
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
            random: Random(seed | 1),
            features,
            vars: Vec::new(),
            model: Assignment::default(),
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
            let value = generator.value(sort, 3);
            generator.vars.push(var);
            generator.model.insert(var, value);
        }
        generator
    }

    fn sorts(&self) -> Sorts {
        let array = self.terms.array_sort(SortId::INT, SortId::INT);
        Sorts {
            vector: self.terms.bitvec_sort(WIDTH),
            array,
            nested: self.terms.array_sort(SortId::INT, array),
            list: self.terms.datatype_sort(self.list),
            pair: self.terms.datatype_sort(self.pair),
        }
    }

    fn value(&mut self, sort: SortId, depth: u32) -> TermId {
        let terms = self.terms;
        match terms.sort(sort) {
            Sort::Bool => terms.bool(self.random.one_in(2)),
            Sort::Int => terms.int(self.random.below(13) as i64 - 6),
            Sort::Real => terms.real(Rational::new(
                BigInt::from(self.random.below(17) as i64 - 8),
                BigInt::from(self.random.below(2) + 1),
            )),
            Sort::BitVec(width) => terms.bitvec(BigUint::from(self.random.below(64)), width),
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
            self.random.pick(&fitting)
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
                    let divisor = self.random.pick(&[2i64, 3, 4, -3]);
                    terms.modulo(self.term(sort, d), terms.int(divisor))
                }
                5 if self.features.division => {
                    let divisor = self.random.pick(&[2i64, 3, -2]);
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
                    Op::BvNot | Op::BvNeg => terms.bv_op(&op, &[a]),
                    Op::BvConcat => {
                        let b = self.term(sort, d);
                        let low = terms.bv_op(&Op::BvExtract(1, 0), &[a]);
                        let high = terms.bv_op(&Op::BvExtract(2, 2), &[b]);
                        terms.bv_op(&op, &[high, low])
                    }
                    Op::BvZeroExtend(_) => {
                        let low = terms.bv_op(&Op::BvExtract(1, 0), &[a]);
                        terms.bv_op(&op, &[low])
                    }
                    _ => terms.bv_op(&op, &[a, self.term(sort, d)]),
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
        let var = self.random.pick(&self.vars.clone());
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

    /// A formula that is true under the planted model.
    fn true_formula(&mut self, depth: u32) -> TermId {
        loop {
            let formula = self.formula(depth);
            match evaluate(self.terms, formula, &self.model) {
                Some(TermId::TRUE) => return formula,
                Some(_) => return self.terms.not(formula),
                None => {}
            }
        }
    }
}

/// Z3's verdict on a conjunction, from text.
fn satisfiable(terms: &TermStore, formulas: &[TermId]) -> Option<bool> {
    let mut open = Vec::new();
    for &formula in formulas {
        match formula {
            TermId::FALSE => return Some(false),
            TermId::TRUE => {}
            _ => open.push(formula),
        }
    }
    if open.is_empty() {
        return Some(true);
    }
    let printer = Printer::new(terms).with_style(DatatypeStyle::Monomorphic);
    let used: Vec<DatatypeId> = terms.datatype_ids().collect();
    let mut text = printer.datatype_declarations(&used);
    for var in terms.free_vars(&open) {
        text += &format!(
            "(declare-fun {} () {})\n",
            crate::term::quote_symbol(terms.var_name(var)),
            printer.sort(terms.sort_of(var))
        );
    }
    for formula in open {
        text += &format!("(assert {})\n", printer.term(formula));
    }
    let solver = z3::Solver::new();
    let mut params = z3::Params::new();
    params.set_u32("timeout", 1000);
    solver.set_params(&params);
    solver.from_string(text.clone());
    match solver.check() {
        z3::SatResult::Sat => Some(true),
        z3::SatResult::Unsat => Some(false),
        z3::SatResult::Unknown => None,
    }
}

fn show(terms: &TermStore, literals: &[TermId]) -> String {
    let printer = Printer::new(terms);
    let lines: Vec<String> = literals.iter().map(|&l| printer.term(l)).collect();
    format!("\n  {}", lines.join("\n  "))
}

/// Projects a random conjunction and checks the result at other points. Returns the projection
/// and whether other points were found.
fn check(seed: u64, features: Features, vars: usize, literals: usize, depth: u32) -> Projection {
    let terms = TermStore::new();
    let mut g = Generator::new(&terms, seed, features, vars);
    let formulas: Vec<TermId> = (0..literals).map(|_| g.true_formula(depth)).collect();
    let eliminate: Vec<TermId> = g
        .vars
        .iter()
        .copied()
        .filter(|_| g.random.one_in(2))
        .collect();
    let mut model = Evaluator::new(&terms, &g.model);
    let conjunction = implicant(&terms, &formulas, &mut model).expect("the planted model");
    let result = project(&terms, &conjunction, &eliminate, &g.model).expect("the planted model");
    let input = terms.free_vars(&conjunction);
    for var in terms.free_vars(&result.literals) {
        assert!(!eliminate.contains(&var) && input.contains(&var));
    }
    for &literal in &result.literals {
        assert_eq!(evaluate(&terms, literal, &g.model), Some(TermId::TRUE));
    }
    let kept: Vec<TermId> = input
        .into_iter()
        .filter(|v| !eliminate.contains(v))
        .collect();
    let mut points = FxHashSet::default();
    for _ in 0..100 {
        let mut point = Assignment::default();
        for &var in &kept {
            let value = if g.random.one_in(2) {
                g.model[&var]
            } else {
                g.value(terms.sort_of(var), 2)
            };
            point.insert(var, value);
        }
        let mut key: Vec<_> = point.iter().map(|(k, v)| (*k, *v)).collect();
        key.sort();
        if points.len() > 6 || !points.insert(key) {
            continue;
        }
        let mut model = Evaluator::new(&terms, &point);
        if result
            .literals
            .iter()
            .any(|&l| model.value(l) != Some(TermId::TRUE))
        {
            continue;
        }
        let instance: Vec<TermId> = conjunction
            .iter()
            .map(|&l| terms.substitute(l, &point))
            .collect();
        assert_ne!(
            satisfiable(&terms, &instance),
            Some(false),
            "seed {seed}: eliminating {} from {}\ngave {}\nwrong at {}",
            show(&terms, &eliminate),
            show(&terms, &conjunction),
            show(&terms, &result.literals),
            show(
                &terms,
                &point
                    .iter()
                    .map(|(&k, &v)| terms.eq(k, v))
                    .collect::<Vec<_>>()
            ),
        );
    }
    result
}

fn check_implicant(seed: u64, features: Features, vars: usize, depth: u32) {
    let terms = TermStore::new();
    let mut g = Generator::new(&terms, seed, features, vars);
    let formula = g.true_formula(depth);
    for options in [
        ImplicantOptions::default(),
        ImplicantOptions {
            split_disequalities: true,
            keep_bool_equalities: false,
        },
    ] {
        let mut model = Evaluator::new(&terms, &g.model);
        let literals = implicant_with(&terms, &[formula], &mut model, options).expect("is true");
        terms.post_order(&literals, |t| {
            assert!(!matches!(terms.op(t), Op::Ite | Op::And | Op::Or));
        });
        for &literal in &literals {
            assert_eq!(evaluate(&terms, literal, &g.model), Some(TermId::TRUE));
        }
        let mut query = literals.clone();
        query.push(terms.not(formula));
        assert_ne!(
            satisfiable(&terms, &query),
            Some(true),
            "seed {seed}: {}\nis not implied by {}",
            show(&terms, &[formula]),
            show(&terms, &literals)
        );
    }
}

const INTS: Features = Features {
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

fn all() -> Features {
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

fn cases() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(48);
    ProptestConfig::with_cases(cases)
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn projects_linear_integers(seed: u64) {
        let result = check(seed, INTS, 5, 6, 2);
        assert_eq!(result.valued, 0);
    }

    #[test]
    fn projects_divisions(seed: u64) {
        let result = check(seed, Features { division: true, ..INTS }, 5, 5, 3);
        assert_eq!(result.valued, 0);
    }

    #[test]
    fn projects_reals(seed: u64) {
        let features = Features { ints: false, reals: true, ..INTS };
        let result = check(seed, features, 5, 6, 2);
        assert_eq!(result.valued, 0);
    }

    #[test]
    fn projects_mixed_arithmetic(seed: u64) {
        check(seed, Features { reals: true, bools: true, division: true, ..INTS }, 6, 5, 3);
    }

    #[test]
    fn projects_products(seed: u64) {
        check(seed, Features { products: true, ..INTS }, 5, 5, 3);
    }

    #[test]
    fn projects_vectors(seed: u64) {
        let features = Features { ints: false, vectors: true, ..INTS };
        check(seed, features, 4, 4, 2);
    }

    #[test]
    fn projects_arrays(seed: u64) {
        check(seed, Features { arrays: true, ..INTS }, 6, 4, 3);
    }

    #[test]
    fn projects_nested_arrays(seed: u64) {
        check(seed, Features { arrays: true, nested_arrays: true, ..INTS }, 6, 4, 3);
    }

    #[test]
    fn projects_datatypes(seed: u64) {
        check(seed, Features { datatypes: true, ..INTS }, 5, 4, 3);
    }

    #[test]
    fn projects_everything(seed: u64) {
        check(seed, all(), 10, 5, 3);
    }

    #[test]
    fn implicants_imply(seed: u64) {
        check_implicant(seed, all(), 8, 4);
        check_implicant(seed, Features { bools: true, ites: true, ..INTS }, 6, 5);
    }
}
