//! Words against all values of few bits, and the domain of bits on random formulas.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::word::Word;
use super::*;
use crate::term::{BigUint, Op, Random, TermId, TermStore};

const WIDTH: u32 = 4;

fn value(n: usize) -> BigUint {
    BigUint::from(n)
}

/// Whether the word allows the value, by each of its parts.
fn allows(word: &Word, n: &BigUint) -> bool {
    Word::value(n, word.width).within(word)
}

/// A word that says something, and allows at least one value.
fn word(random: &mut Random) -> Word {
    let width = WIDTH;
    let first = Word::value(&value(random.below(16)), width);
    let joined = (0..random.below(4)).fold(first, |word, _| {
        word.join(&Word::value(&value(random.below(16)), width))
    });
    joined.reduced().unwrap()
}

fn operators() -> Vec<(Op, usize)> {
    let unary = [
        Op::BvNot,
        Op::BvNeg,
        Op::BvExtract(2, 1),
        Op::BvExtract(3, 2),
        Op::BvExtract(2, 0),
        Op::BvZeroExtend(3),
        Op::BvSignExtend(3),
    ];
    let binary = [
        Op::BvConcat,
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
    let unary = unary.into_iter().map(|op| (op, 1));
    unary.chain(binary.into_iter().map(|op| (op, 2))).collect()
}

/// Each operator on all values that random words allow, forward and back.
#[test]
fn words_over_approximate() {
    let t = TermStore::new();
    let mut informative = FxHashSet::default();
    for seed in 0..150 {
        let mut random = Random::new(seed);
        for (op, arity) in operators() {
            let args: Vec<Word> = (0..arity).map(|_| word(&mut random)).collect();
            let mut results = Vec::new();
            for n in 0..16usize.pow(arity as u32) {
                let values: Vec<BigUint> = (0..arity).map(|i| value(n >> (4 * i) & 15)).collect();
                if !args.iter().zip(&values).all(|(a, v)| allows(a, v)) {
                    continue;
                }
                let terms: Vec<TermId> =
                    values.iter().map(|v| t.bitvec(v.clone(), WIDTH)).collect();
                let result = t.bv_op(&op, &terms);
                let width = t.width(result);
                let image = Word::apply(&op, &args, width).unwrap();
                let result = t.as_bitvec(result).unwrap().clone();
                assert!(
                    allows(&image, &result),
                    "{op:?} {args:?} {values:?}: {image:?}"
                );
                if !image.is_any() {
                    informative.insert(format!("{op:?}"));
                }
                results.push((values, result, width));
            }
            // Some result, and what it says of the arguments.
            let (_, result, width) = results[random.below(results.len())].clone();
            let known = Word::value(&result, width);
            for (arg, back) in known.back(&op, &args).iter().enumerate() {
                let Some(back) = back else { continue };
                for (values, other, _) in &results {
                    let told = *other != result || allows(back, &values[arg]);
                    assert!(told, "{op:?} {args:?} back from {result}: {back:?}");
                }
            }
        }
    }
    assert_eq!(informative.len(), operators().len(), "{informative:?}");
}

#[test]
fn words_are_reduced_by_all_their_parts() {
    // Between 12 and 13: three bits, and a sign.
    let word = Word::between(value(12), value(13), WIDTH).unwrap();
    assert_eq!(
        (word.zeros.clone(), word.ones.clone()),
        (value(2), value(12))
    );
    assert_eq!((word.least, word.most), ((-4).into(), (-3).into()));
    let word = Word::signed_between((-2).into(), (-1).into(), WIDTH).unwrap();
    assert_eq!((word.low, word.high), (value(14), value(15)));
    assert!(Word::between(value(3), value(2), WIDTH).is_none());
    assert!(Word::bits(value(1), value(1), WIDTH).is_none());
    // What can be spared.
    let bits = |low: usize, high: usize| {
        let word = Word::between(value(low), value(high), 8).unwrap();
        spare(&word)
    };
    assert_eq!(bits(0, 5), Some((5, Some(value(0)))));
    assert_eq!(bits(129, 130), Some((6, Some(value(32)))));
    assert_eq!(bits(0, 200), None);
    let word = Word::signed_between((-3).into(), 3.into(), 8).unwrap();
    assert_eq!(spare(&word), Some((5, None)));
}

/// A random formula about three variables.
fn formula(random: &mut Random, t: &TermStore, vars: &[TermId]) -> TermId {
    let sort = t.sort_of(vars[0]);
    let term = |random: &mut Random| {
        let leaf = |random: &mut Random| match random.below(4) {
            0 => t.bitvec(value(random.below(16)), WIDTH),
            _ => vars[random.below(vars.len())],
        };
        let (a, b) = (leaf(random), leaf(random));
        let ops = [
            Op::BvAdd,
            Op::BvAnd,
            Op::BvOr,
            Op::BvXor,
            Op::BvMul,
            Op::BvShl,
            Op::BvUrem,
        ];
        match random.below(12) {
            at @ 0..7 => t.rebuild(&ops[at], &[a, b], sort),
            7 => t.bv_op(&Op::BvNot, &[a]),
            8 => t.bv_op(
                &Op::BvConcat,
                &[
                    t.bv_op(&Op::BvExtract(1, 0), &[a]),
                    t.bv_op(&Op::BvExtract(3, 2), &[b]),
                ],
            ),
            9 => t.bv_op(&Op::BvSignExtend(2), &[t.bv_op(&Op::BvExtract(1, 0), &[a])]),
            _ => a,
        }
    };
    let parts: Vec<TermId> = (0..1 + random.below(4))
        .map(|_| {
            let (a, b) = (term(random), term(random));
            let atom = match random.below(4) {
                0 => t.bv_op(&Op::BvSle, &[a, b]),
                1 => t.bv_op(&Op::BvUle, &[a, b]),
                _ => t.eq(a, b),
            };
            if random.below(3) == 0 {
                t.not(atom)
            } else {
                atom
            }
        })
        .collect();
    t.and(&parts)
}

/// Guards, joins, widenings, projections on random formulas keep all the points they must.
#[test]
fn elements_keep_their_points() {
    let mut shown = 0;
    for seed in 0..150 {
        let mut random = Random::new(seed);
        let t = Rc::new(TermStore::new());
        let sort = t.bitvec_sort(WIDTH);
        let vars: Vec<TermId> = (0..3).map(|i| t.var(&format!("b{i}"), sort)).collect();
        let domain = Bits::new(t.clone(), vec![3.into(), 7.into()]);
        let formulas = [
            formula(&mut random, &t, &vars),
            formula(&mut random, &t, &vars),
        ];
        let points: Vec<FxHashMap<TermId, TermId>> = (0..4096)
            .step_by(7)
            .map(|n| {
                let at = [n & 15, n >> 4 & 15, n >> 8];
                let values = at.map(|v| t.bitvec(value(v), WIDTH));
                vars.iter().copied().zip(values).collect()
            })
            .collect();
        let elements = formulas.map(|formula| {
            let cubes = cubes(&t, formula, 8).into_iter();
            let parts = cubes.map(|c| domain.guard(&domain.top(), &c));
            parts.reduce(|a, b| domain.join(&a, &b)).unwrap_or(None)
        });
        let [a, b] = &elements;
        shown += elements.iter().flatten().filter(|e| !e.is_empty()).count();
        let join = domain.join(a, b);
        let wide = domain.widen(a, &join);
        let meet = domain.meet(a, b);
        assert!(domain.entails(a, &join) && domain.entails(b, &join));
        assert!(domain.entails(&join, &wide) || domain.is_bottom(a));
        let keep: FxHashSet<TermId> = vars[..1].iter().copied().collect();
        let shadow = domain.transfer(std::slice::from_ref(a), &Cube::default(), Some(&keep));
        for p in &points {
            let inside = |element: &Option<_>| {
                let conjuncts = domain.formula(element);
                conjuncts
                    .into_iter()
                    .all(|f| t.substitute(f, p) == TermId::TRUE)
            };
            let [x, y] = formulas.map(|f| t.substitute(f, p) == TermId::TRUE);
            assert!(
                !x || inside(a) && inside(&wide) && inside(&shadow),
                "seed {seed}"
            );
            assert!(!(x || y) || inside(&join), "seed {seed}");
            assert!(!(x && y) || inside(&meet), "seed {seed}");
        }
    }
    assert!(shown > 100, "most formulas say something: {shown}");
}
