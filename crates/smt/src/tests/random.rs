//! Random terms of every theory: encoding against decoding, values against evaluation, minimal
//! cores against brute force.

use std::rc::Rc;

use proptest::prelude::*;
use z3_sys::Z3_simplify;

use super::{constructor, list};
use crate::context::AstRef;
use crate::{CoreEffort, SatResult, Smt};
use alphorn_term::{
    Assignment, BigInt, BigUint, DatatypeId, Op, Random, Rational, Sort, SortId, TermId, TermStore,
    evaluate,
};

/// Makes terms from a stream of pseudo-random numbers.
struct Generator {
    terms: Rc<TermStore>,
    random: Random,
    list: (DatatypeId, SortId),
    color: (DatatypeId, SortId),
    quantifiers: bool,
}

const WIDTH: u32 = 5;

impl Generator {
    fn new(terms: &Rc<TermStore>, seed: u64) -> Self {
        let list = list(terms, SortId::INT);
        let color = terms.declare_datatype("Color", &[]);
        let names = ["red", "green", "blue"];
        let constructors = names.map(|n| constructor(n, &[])).to_vec();
        terms.define_datatype(color.0, constructors);
        Generator {
            terms: Rc::clone(terms),
            random: Random::new(seed),
            list,
            color,
            quantifiers: false,
        }
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.random.below(bound)
    }

    fn sorts(&self) -> Vec<SortId> {
        let bits = self.terms.bitvec_sort(WIDTH);
        vec![
            SortId::BOOL,
            SortId::INT,
            SortId::REAL,
            bits,
            self.terms.bitvec_sort(1),
            self.terms.array_sort(SortId::INT, SortId::INT),
            self.terms.array_sort(bits, SortId::BOOL),
            self.list.1,
            self.color.1,
        ]
    }

    fn var(&mut self, sort: SortId) -> TermId {
        let name = format!("v{}", self.below(2));
        self.terms.var(&name, sort)
    }

    fn value(&mut self, sort: SortId) -> TermId {
        let t = Rc::clone(&self.terms);
        match t.sort(sort) {
            Sort::Bool => t.bool(self.below(2) == 0),
            Sort::Int => match self.below(8) {
                0 => t.int(BigInt::from(self.below(1 << 40)) * BigInt::from(u64::MAX)),
                _ => t.int(self.below(9) as i64 - 4),
            },
            Sort::Real => {
                let numerator = BigInt::from(self.below(9) as i64 - 4);
                let denominator = BigInt::from(self.below(3) + 1);
                t.real(Rational::new(numerator, denominator))
            }
            Sort::BitVec(width) => t.bitvec(BigUint::from(self.below(1 << WIDTH)), width),
            Sort::Array(index, element) => {
                let default = self.value(element);
                let mut array = t.const_array(sort, default);
                for _ in 0..self.below(3) {
                    let (index, element) = (self.value(index), self.value(element));
                    array = t.store(array, index, element);
                }
                array
            }
            Sort::Datatype(id) if id == self.color.0 => t.construct(id, self.below(3) as u32, &[]),
            Sort::Datatype(id) => {
                let mut value = t.construct(id, 0, &[]);
                for _ in 0..self.below(3) {
                    let head = self.value(SortId::INT);
                    value = t.construct(id, 1, &[head, value]);
                }
                value
            }
        }
    }

    fn term(&mut self, sort: SortId, depth: u64) -> TermId {
        if depth == 0 || self.below(8) == 0 {
            return match self.below(3) {
                0 => self.value(sort),
                _ => self.var(sort),
            };
        }
        let depth = depth - 1;
        let t = Rc::clone(&self.terms);
        if self.below(8) == 0 {
            let condition = self.term(SortId::BOOL, depth);
            let (a, b) = (self.term(sort, depth), self.term(sort, depth));
            return t.ite(condition, a, b);
        }
        if sort != SortId::BOOL && self.below(8) == 0 {
            // An element of an array or of a list.
            if sort == SortId::INT {
                let arrays = t.array_sort(SortId::INT, SortId::INT);
                if self.below(2) == 0 {
                    let (a, i) = (self.term(arrays, depth), self.term(SortId::INT, depth));
                    return t.select(a, i);
                }
                let l = self.term(self.list.1, depth);
                return t.field(self.list.0, 1, 0, l);
            }
        }
        match t.sort(sort) {
            Sort::Bool => self.formula(depth),
            Sort::Int => {
                let (a, b) = (self.term(sort, depth), self.term(sort, depth));
                match self.below(8) {
                    0 => t.add(&[a, b]),
                    1 => t.sub(a, b),
                    2 => t.mul(&[a, b]),
                    3 => t.scale(&Rational::from_integer(BigInt::from(-3)), a),
                    4 => t.idiv(a, t.int(self.below(7) as i64 - 3)),
                    5 => t.modulo(a, t.int(self.below(7) as i64 - 3)),
                    6 => t.to_int(self.term(SortId::REAL, depth)),
                    _ => {
                        let bits = self.term(t.bitvec_sort(WIDTH), depth);
                        t.bv_op(&Op::BvToNat, &[bits])
                    }
                }
            }
            Sort::Real => {
                let (a, b) = (self.term(sort, depth), self.term(sort, depth));
                match self.below(5) {
                    0 => t.add(&[a, b]),
                    1 => t.sub(a, b),
                    2 => t.scale(&Rational::new(BigInt::from(2), BigInt::from(3)), a),
                    3 => t.div(a, b),
                    _ => t.to_real(self.term(SortId::INT, depth)),
                }
            }
            Sort::BitVec(width) => self.bits(width, depth),
            Sort::Array(index, element) => {
                let a = self.term(sort, depth);
                let (i, e) = (self.term(index, depth), self.term(element, depth));
                match self.below(4) {
                    0 => t.const_array(sort, e),
                    _ => t.store(a, i, e),
                }
            }
            Sort::Datatype(id) if id == self.list.0 => {
                let l = self.term(sort, depth);
                match self.below(3) {
                    0 => t.field(id, 1, 1, l),
                    _ => {
                        let head = self.term(SortId::INT, depth);
                        t.construct(id, 1, &[head, l])
                    }
                }
            }
            Sort::Datatype(_) => self.var(sort),
        }
    }

    fn bits(&mut self, width: u32, depth: u64) -> TermId {
        let t = Rc::clone(&self.terms);
        let sort = t.bitvec_sort(width);
        if width == 1 && self.below(2) == 0 {
            let wide = self.term(t.bitvec_sort(WIDTH), depth);
            let at = self.below(u64::from(WIDTH)) as u32;
            return t.bv_op(&Op::BvExtract(at, at), &[wide]);
        }
        let (a, b) = (self.term(sort, depth), self.term(sort, depth));
        let binary = [
            Op::BvAnd,
            Op::BvOr,
            Op::BvXor,
            Op::BvAdd,
            Op::BvMul,
            Op::BvUdiv,
            Op::BvUrem,
            Op::BvSdiv,
            Op::BvSrem,
            Op::BvSmod,
            Op::BvShl,
            Op::BvLshr,
            Op::BvAshr,
        ];
        let choice = self.below(binary.len() as u64 + 5) as usize;
        if let Some(op) = binary.get(choice) {
            return t.bv_op(op, &[a, b]);
        }
        match choice - binary.len() {
            0 => t.bv_op(&Op::BvNot, &[a]),
            1 => t.bv_op(&Op::BvNeg, &[a]),
            2 => t.bv_op(&Op::IntToBv(width), &[self.term(SortId::INT, depth)]),
            3 => {
                let wide = t.bv_op(&Op::BvSignExtend(3), &[a]);
                t.bv_op(&Op::BvExtract(width + 1, 2), &[wide])
            }
            _ => {
                let wide = t.bv_op(&Op::BvConcat, &[t.bv_op(&Op::BvZeroExtend(2), &[a]), b]);
                t.bv_op(&Op::BvExtract(width + 1, 2), &[wide])
            }
        }
    }

    fn formula(&mut self, depth: u64) -> TermId {
        let t = Rc::clone(&self.terms);
        let sub = |g: &mut Self| g.term(SortId::BOOL, depth);
        match self.below(11) {
            0 => t.not(sub(self)),
            1 => t.and(&[sub(self), sub(self), sub(self)]),
            2 => t.or(&[sub(self), sub(self), sub(self)]),
            3 => {
                let sorts = self.sorts();
                let sort = sorts[self.below(sorts.len() as u64) as usize];
                let (a, b) = (self.term(sort, depth), self.term(sort, depth));
                t.eq(a, b)
            }
            4 => t.is(self.list.0, 1, self.term(self.list.1, depth)),
            5 => t.is(self.color.0, 2, self.term(self.color.1, depth)),
            6 => {
                let sort = t.bitvec_sort(WIDTH);
                let (a, b) = (self.term(sort, depth), self.term(sort, depth));
                match self.below(2) {
                    0 => t.bv_op(&Op::BvUle, &[a, b]),
                    _ => t.bv_slt(a, b),
                }
            }
            7 => {
                let sort = t.array_sort(t.bitvec_sort(WIDTH), SortId::BOOL);
                let (a, i) = (
                    self.term(sort, depth),
                    self.term(t.bitvec_sort(WIDTH), depth),
                );
                t.select(a, i)
            }
            8 if self.quantifiers => {
                let body = sub(self);
                let free = t.free_vars(&[body]);
                let Some(&var) = free.first() else {
                    return body;
                };
                let bound = t.fresh_var("b", t.sort_of(var));
                let map = [(var, bound)].into_iter().collect();
                let body = t.substitute(body, &map);
                match self.below(2) {
                    0 => t.forall(&[bound], body),
                    _ => t.exists(&[bound], body),
                }
            }
            9 => t.is_int(self.term(SortId::REAL, depth)),
            _ => {
                let sort = [SortId::INT, SortId::REAL][self.below(2) as usize];
                let (a, b) = (self.term(sort, depth), self.term(sort, depth));
                match self.below(4) {
                    0 => t.le(a, b),
                    1 => t.ge(a, b),
                    2 => t.lt(a, b),
                    _ => t.gt(a, b),
                }
            }
        }
    }
}

fn assert_equivalent(smt: &Rc<Smt>, before: TermId, after: TermId) {
    if before == after {
        return;
    }
    let t = smt.terms();
    let _limit = smt.limit_queries(Some(std::time::Duration::from_millis(500)));
    let mut solver = smt.solver();
    solver.assert(t.not(t.eq(before, after)));
    // Quantifiers and products may be too hard; there must be no difference.
    assert_ne!(solver.check(&[]), SatResult::Sat, "{}", {
        let printer = alphorn_term::Printer::new(t);
        format!("{}\n{}", printer.term(before), printer.term(after))
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn decoding_undoes_encoding(seed: u64) {
        let terms = Rc::new(TermStore::new());
        let mut generator = Generator::new(&terms, seed);
        generator.quantifiers = seed.is_multiple_of(2);
        let sorts = generator.sorts();
        let sort = sorts[(seed >> 8) as usize % sorts.len()];
        let term = generator.term(sort, 4);
        let smt = Smt::new(Rc::clone(&terms));
        let ast = smt.encode(term).unwrap();
        smt.encoder.borrow_mut().forget_all_but_variables(&terms);
        let decoded = smt.decode(ast).unwrap();
        if terms.node(term).has_quantifier {
            assert_equivalent(&smt, term, decoded);
        } else {
            prop_assert_eq!(decoded, term);
        }
    }

    #[test]
    fn simplified_terms_mean_the_same(seed: u64) {
        let terms = Rc::new(TermStore::new());
        let mut generator = Generator::new(&terms, seed);
        let sorts = generator.sorts();
        let sort = sorts[(seed >> 8) as usize % sorts.len()];
        let term = generator.term(sort, 4);
        let smt = Smt::new(Rc::clone(&terms));
        let ast = smt.encode(term).unwrap();
        // SAFETY: the context references the term, and the result is referenced at once.
        let simple = unsafe { AstRef::new(&smt.cx, Z3_simplify(smt.cx.raw, ast).unwrap()) };
        smt.encoder.borrow_mut().forget_all_but_variables(&terms);
        // Z3's functions for undefined values cannot be decoded.
        if let Ok(decoded) = smt.decode(simple.ast) {
            assert_equivalent(&smt, term, decoded);
        }
    }

    #[test]
    fn values_agree_with_evaluation(seed: u64) {
        let terms = Rc::new(TermStore::new());
        let mut generator = Generator::new(&terms, seed);
        let smt = Smt::new(Rc::clone(&terms));
        let mut solver = smt.solver();
        let mut assignment = Assignment::default();
        for sort in generator.sorts() {
            for name in ["v0", "v1"] {
                let var = terms.var(name, sort);
                let value = generator.value(sort);
                assignment.insert(var, value);
                solver.assert(terms.eq(var, value));
            }
        }
        // Z3 may need long for arrays over finite sorts.
        let _limit = smt.limit_queries(Some(std::time::Duration::from_millis(300)));
        let answer = solver.check(&[]);
        prop_assume!(!matches!(answer, SatResult::Unknown(_)));
        prop_assert_eq!(answer, SatResult::Sat);
        let model = solver.model().unwrap();
        for (&var, &value) in &assignment {
            prop_assert_eq!(model.value(var).unwrap(), value);
        }
        for sort in generator.sorts() {
            let term = generator.term(sort, 4);
            if let Some(value) = evaluate(&terms, term, &assignment) {
                prop_assert_eq!(model.evaluate(term).unwrap(), value);
                prop_assert_eq!(model.value(term).unwrap(), value);
            }
        }
    }

    #[test]
    fn models_satisfy_what_was_asserted(seed: u64) {
        let terms = Rc::new(TermStore::new());
        let mut generator = Generator::new(&terms, seed);
        let smt = Smt::new(Rc::clone(&terms));
        let _limit = smt.limit_queries(Some(std::time::Duration::from_millis(300)));
        let formula = generator.term(SortId::BOOL, 5);
        let mut solver = smt.solver();
        solver.assert(formula);
        if solver.check(&[]) == SatResult::Sat {
            let model = solver.model().unwrap();
            // An algebraic number and an array without a finite table cannot be decoded.
            if let Ok(value) = model.value(formula) {
                prop_assert_eq!(value, TermId::TRUE);
            }
            if let Ok(assignment) = model.assignment(&terms.free_vars(&[formula])) {
                let value = evaluate(&terms, formula, &assignment);
                prop_assert_ne!(value, Some(TermId::FALSE));
            }
        }
    }

    #[test]
    fn minimal_cores_are_minimal(seed: u64) {
        let terms = Rc::new(TermStore::new());
        let mut generator = Generator::new(&terms, seed);
        let vars: Vec<TermId> = ["x", "y", "p"]
            .iter()
            .map(|n| terms.var(n, if *n == "p" { SortId::BOOL } else { SortId::INT }))
            .collect();
        let mut literal = || match generator.below(5) {
            0 => vars[2],
            1 => terms.not(vars[2]),
            2 => terms.le(vars[0], terms.int(generator.below(4) as i64)),
            3 => terms.ge(vars[1], terms.add(&[vars[0], terms.int(generator.below(3) as i64)])),
            _ => terms.or(&[
                vars[2],
                terms.le(vars[1], terms.int(generator.below(5) as i64 - 3)),
            ]),
        };
        let hard = vec![terms.ge(vars[0], terms.int(1)), literal()];
        let soft: Vec<TermId> = (0..8).map(|_| literal()).collect();
        let smt = Smt::new(Rc::clone(&terms));
        let unsatisfiable = |soft: &[TermId]| {
            let mut solver = smt.solver();
            hard.iter().chain(soft).for_each(|&f| solver.assert(f));
            solver.check(&[]) == SatResult::Unsat
        };
        let mut solver = smt.solver();
        let core = solver.minimal_core(&hard, &soft);
        let Some(core) = core else {
            prop_assert!(!unsatisfiable(&soft));
            return Ok(());
        };
        // With fewer queries, the result is a core, too.
        for queries in [0, 1] {
            let effort = CoreEffort { queries, budget: None };
            let rough = smt.solver().core_by(&hard, &soft, effort).expect("unsatisfiable");
            prop_assert!(unsatisfiable(&rough));
        }
        prop_assert!(unsatisfiable(&core));
        prop_assert!(core.iter().all(|c| soft.contains(c)));
        for left_out in 0..core.len() {
            let mut rest = core.clone();
            rest.remove(left_out);
            prop_assert!(!unsatisfiable(&rest));
        }
    }
}
