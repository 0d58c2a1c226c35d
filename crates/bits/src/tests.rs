//! Tests of gates against evaluation, and of clauses against gates.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::sat::{Answer, SatSolver, Solver};
use alphorn_term::run::Budget;
use alphorn_term::{Assignment, BigUint, Op, Random, TermId, TermStore, evaluate};

/// A budget without limits; it counts work only.
fn budget(t: &Rc<TermStore>) -> Budget {
    Budget::new(t.clone(), Arc::default(), true)
}

/// Terms over two bit-vectors with all operators.
fn terms_of(t: &TermStore, a: TermId, b: TermId) -> Vec<TermId> {
    let two = [
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
        Op::BvConcat,
        Op::BvUle,
        Op::BvSle,
    ];
    let mut found: Vec<TermId> = two.iter().map(|op| t.bv_op(op, &[a, b])).collect();
    let width = t.width(a);
    let one = [
        Op::BvNot,
        Op::BvNeg,
        Op::BvZeroExtend(2),
        Op::BvSignExtend(3),
        Op::BvExtract(width - 1, width / 2),
        Op::BvExtract(width / 2, 0),
    ];
    found.extend(one.iter().map(|op| t.bv_op(op, &[a])));
    let (eq, less) = (t.eq(a, b), t.bv_op(&Op::BvUle, &[a, b]));
    found.extend([
        eq,
        t.not(less),
        t.ite(less, b, a),
        t.and(&[eq, less]),
        t.or(&[eq, t.not(less)]),
        t.eq(eq, less),
        t.ite(eq, less, t.not(eq)),
    ]);
    found
}

/// Checks the gates of terms over two bit-vectors for pairs of their values.
fn check(t: &Rc<TermStore>, a: TermId, b: TermId, roots: &[TermId], pairs: &[(BigUint, BigUint)]) {
    let mut gates = Gates::default();
    let budget = budget(t);
    let mut blaster = Blaster::new(t, &mut gates, &budget);
    for var in [a, b] {
        blaster.free(var).expect("a bit-vector");
    }
    let bits = |term| blaster.bit_vector(term).expect("it has gates").to_vec();
    let results: Vec<Vec<Bit>> = roots.iter().copied().map(bits).collect();
    let known = |var| blaster.known(var).expect("it is bound");
    let inputs = [(a, known(a)), (b, known(b))];
    let mut values = Values::default();
    for (first, second) in pairs {
        let mut assignment = Assignment::default();
        values.clear();
        for ((var, bits), number) in inputs.iter().zip([first, second]) {
            assignment.insert(*var, t.bitvec(number.clone(), t.width(*var)));
            for (place, &bit) in bits.iter().enumerate() {
                values.set(&gates, bit, number.bit(place as u64));
            }
        }
        for (&root, bits) in roots.iter().zip(&results) {
            let value = evaluate(t, root, &assignment).expect("bit-vectors have values");
            let expected = |place: usize| match t.as_bool(value) {
                Some(value) => value,
                None => t.as_bitvec(value).expect("a bit-vector").bit(place as u64),
            };
            for (place, &bit) in bits.iter().enumerate() {
                assert_eq!(values.of(&gates, bit), expected(place), "{root:?}, {place}");
            }
        }
    }
}

fn variables(t: &TermStore, width: u32) -> (TermId, TermId) {
    let sort = t.bitvec_sort(width);
    (t.var("a", sort), t.var("b", sort))
}

#[test]
fn all_values_of_narrow_bit_vectors() {
    for width in 1..=4 {
        let t = Rc::new(TermStore::new());
        let (a, b) = variables(&t, width);
        let mut roots = terms_of(&t, a, b);
        let all = || (0_u32..1 << width).map(BigUint::from);
        for value in all() {
            let value = t.bitvec(value, width);
            roots.push(t.bv_op(&Op::BvMul, &[a, value]));
            roots.push(t.bv_op(&Op::BvAdd, &[a, value]));
            roots.push(t.bv_op(&Op::BvUdiv, &[a, value]));
            roots.push(t.bv_op(&Op::BvShl, &[a, value]));
        }
        let pairs: Vec<_> = all()
            .flat_map(|a| all().map(move |b| (a.clone(), b)))
            .collect();
        check(&t, a, b, &roots, &pairs);
    }
}

#[test]
fn random_values_of_wide_bit_vectors() {
    let mut random = Random::new(17);
    for width in [8, 32, 65] {
        let t = Rc::new(TermStore::new());
        let (a, b) = variables(&t, width);
        let mut number = || {
            let mut number = BigUint::default();
            // Sparse, dense, or small.
            let (most, times) = *random.pick(&[(width, 3), (width, 3 * width), (6, 3)]);
            for _ in 0..times {
                number.set_bit(u64::from(random.below(most)), true);
            }
            number
        };
        let mut roots = terms_of(&t, a, b);
        for _ in 0..5 {
            roots.push(t.bv_op(&Op::BvMul, &[t.bitvec(number(), width), a]));
        }
        let pairs: Vec<_> = (0..40).map(|_| (number(), number())).collect();
        check(&t, a, b, &roots, &pairs);
    }
}

#[test]
fn clauses_have_the_values_of_gates() {
    let t = Rc::new(TermStore::new());
    let (a, b) = variables(&t, 3);
    let mut gates = Gates::default();
    let budget = budget(&t);
    let mut blaster = Blaster::new(&t, &mut gates, &budget);
    for var in [a, b] {
        blaster.free(var).expect("a bit-vector");
    }
    let bits = |term| blaster.bit_vector(term).expect("it has gates").to_vec();
    let roots: Vec<Bit> = terms_of(&t, a, b).into_iter().flat_map(bits).collect();
    let known = |var| blaster.known(var).expect("it is bound").to_vec();
    let inputs = [known(a), known(b)].concat();
    let mut encoding = Encoding::new(Solver::new(&budget));
    let mut values = Values::default();
    for number in 0_u32..64 {
        values.clear();
        let mut assumptions = Vec::new();
        for (place, &input) in inputs.iter().enumerate() {
            let value = number >> place & 1 == 1;
            values.set(&gates, input, value);
            assumptions.push(encoding.literal(&gates, input).xor(!value));
        }
        for &root in &roots {
            let expected = values.of(&gates, root);
            let literal = encoding.literal(&gates, root).xor(!expected);
            assumptions.push(literal);
            assert_eq!(encoding.solver.solve(&assumptions), Answer::Sat);
            assumptions.pop();
            assumptions.push(!literal);
            assert_eq!(encoding.solver.solve(&assumptions), Answer::Unsat);
            assumptions.pop();
        }
    }
}

#[test]
fn operators_without_gates_are_refused() {
    let t = Rc::new(TermStore::new());
    let (a, _) = variables(&t, 8);
    let number = t.bv_op(&Op::BvToNat, &[a]);
    let mut gates = Gates::default();
    let budget = budget(&t);
    let mut blaster = Blaster::new(&t, &mut gates, &budget);
    blaster.free(a).expect("a bit-vector");
    assert_eq!(blaster.bit_vector(number), Err(NotBits::Operator));
}

#[test]
fn large_products_are_refused_before_they_are_made() {
    let t = Rc::new(TermStore::new());
    let budget = budget(&t);
    for (width, work, expected) in [
        (20_000, 60_000, NotBits::TooMany),
        (1_000, 1, NotBits::Stopped),
    ] {
        let (a, b) = variables(&t, width);
        let product = t.bv_op(&Op::BvMul, &[a, b]);
        let product = t.bv_op(&Op::BvMul, &[product, a]);
        let mut gates = Gates::default();
        let part = budget.work(Duration::from_millis(work));
        let mut blaster = Blaster::new(&t, &mut gates, &part);
        for var in [a, b] {
            blaster.free(var).expect("a bit-vector");
        }
        assert_eq!(blaster.bit_vector(product), Err(expected));
    }
}
