//! Abstract bit-vectors against all values of few bits, and the domains of bit-vectors on random
//! formulas.

use std::rc::Rc;
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};

use super::bitvec::AbstractBitvec;
use super::catalogue::{Catalogue, Parameters};
use super::modular::Modular;
use super::packs::Packs;
use super::*;
use alphorn_chc::{Atom, System};
use alphorn_term::run::Context;
use alphorn_term::{BigUint, Op, Random, TermId, TermStore};

const WIDTH: u32 = 4;

fn value(n: usize) -> BigUint {
    BigUint::from(n)
}

/// Whether the abstract value contains the value, by each of its parts.
fn allows(bitvec: &AbstractBitvec, n: &BigUint) -> bool {
    AbstractBitvec::value(n, bitvec.width).within(bitvec)
}

/// A non-trivial, non-empty abstract value.
fn bitvec(random: &mut Random) -> AbstractBitvec {
    let width = WIDTH;
    let first = AbstractBitvec::value(&value(random.below(16)), width);
    let joined = (0..random.below(4)).fold(first, |bitvec, _| {
        bitvec.join(&AbstractBitvec::value(&value(random.below(16)), width))
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

/// Each operator on all values of random abstract values, forward and backward.
#[test]
fn bitvecs_over_approximate() {
    let t = TermStore::new();
    let mut informative = FxHashSet::default();
    for seed in 0..150 {
        let mut random = Random::new(seed);
        for (op, arity) in operators() {
            let args: Vec<AbstractBitvec> = (0..arity).map(|_| bitvec(&mut random)).collect();
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
                let image = AbstractBitvec::apply(&op, &args, width).unwrap();
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
            // Some result, and the arguments that it implies.
            let (_, result, width) = results[random.below(results.len())].clone();
            let known = AbstractBitvec::value(&result, width);
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
fn bitvecs_are_reduced_by_all_their_parts() {
    // Between 12 and 13: three bits, and a sign.
    let bitvec = AbstractBitvec::between(value(12), value(13), WIDTH).unwrap();
    assert_eq!(
        (bitvec.zeros.clone(), bitvec.ones.clone()),
        (value(2), value(12))
    );
    assert_eq!((bitvec.least, bitvec.most), ((-4).into(), (-3).into()));
    let bitvec = AbstractBitvec::signed_between((-2).into(), (-1).into(), WIDTH).unwrap();
    assert_eq!((bitvec.low, bitvec.high), (value(14), value(15)));
    assert!(AbstractBitvec::between(value(3), value(2), WIDTH).is_none());
    assert!(AbstractBitvec::bits(value(1), value(1), WIDTH).is_none());
    // The bits that are redundant.
    let bits = |low: usize, high: usize| {
        let bitvec = AbstractBitvec::between(value(low), value(high), 8).unwrap();
        spare(&bitvec)
    };
    assert_eq!(bits(0, 5), Some((5, Some(value(0)))));
    assert_eq!(bits(129, 130), Some((6, Some(value(32)))));
    assert_eq!(bits(0, 200), None);
    let bitvec = AbstractBitvec::signed_between((-3).into(), 3.into(), 8).unwrap();
    assert_eq!(spare(&bitvec), Some((5, None)));
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

/// Guards, joins, widenings and projections on random formulas keep all the points that they must.
/// Returns the number of elements that restrict their variables.
fn keeps_its_points<D: Domain>(
    make: impl Fn(&Rc<TermStore>, &[TermId]) -> D,
    formula: impl Fn(&mut Random, &TermStore, &[TermId]) -> TermId,
) -> usize {
    let mut shown = 0;
    for seed in 0..150 {
        let mut random = Random::new(seed);
        let t = Rc::new(TermStore::new());
        let sort = t.bitvec_sort(WIDTH);
        let vars: Vec<TermId> = (0..3).map(|i| t.var(&format!("b{i}"), sort)).collect();
        let domain = make(&t, &vars);
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
            let parts = parts.reduce(|a, b| domain.join(&a, &b));
            parts.unwrap_or_else(|| domain.bottom())
        });
        let [a, b] = &elements;
        let told = |e: &&D::Element| !domain.is_bottom(e) && !domain.formula(e).is_empty();
        shown += elements.iter().filter(told).count();
        let join = domain.join(a, b);
        let wide = domain.widen(a, &join);
        let meet = domain.meet(a, b);
        assert!(domain.entails(a, &join) && domain.entails(b, &join));
        assert!(domain.entails(&join, &wide) || domain.is_bottom(a));
        let keep: FxHashSet<TermId> = vars[..1].iter().copied().collect();
        let shadow = domain.transfer(std::slice::from_ref(a), &Cube::default(), Some(&keep));
        for p in &points {
            let inside = |element: &D::Element| {
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
    shown
}

#[test]
fn elements_keep_their_points() {
    let bits = |t: &Rc<TermStore>, _: &[TermId]| Bits::new(t.clone(), vec![3.into(), 7.into()]);
    let modular = |t: &Rc<TermStore>, _: &[TermId]| Modular::new(t.clone(), 20);
    assert!(keeps_its_points(bits, formula) > 100);
    assert!(keeps_its_points(modular, formula) > 20);
    assert!(keeps_its_points(modular, equations) > 100);
    let packed = |t: &Rc<TermStore>, vars: &[TermId]| {
        let modular = Modular::new(t.clone(), 20);
        let packs = Packs::new(modular, t.clone(), vec![vars[..2].to_vec()], 40);
        Cases::new(
            Product::new(bits(t, vars), packs.of_bitvecs()),
            t.clone(),
            8,
        )
    };
    assert!(keeps_its_points(packed, formula) > 100);
    assert!(keeps_its_points(packed, equations) > 100);
}

/// Random equations of sums, of parts of bit-vectors and of bit-vectors with fixed lower bits.
fn equations(random: &mut Random, t: &TermStore, vars: &[TermId]) -> TermId {
    let numeral = |random: &mut Random| t.bitvec(value(random.below(16)), WIDTH);
    let part = |random: &mut Random, var: TermId| {
        let low = |bits: u32| t.bv_op(&Op::BvExtract(bits - 1, 0), &[var]);
        let masks = [1, 3, 12, 14].map(|m| t.bitvec(value(m), WIDTH));
        let mask = masks[random.below(4)];
        let shift = t.bitvec(value(random.below(4)), WIDTH);
        match random.below(16) {
            0 => t.bv_op(&Op::BvZeroExtend(2), &[low(2)]),
            1 => t.bv_op(&Op::BvSignExtend(1), &[low(3)]),
            2 => t.bv_op(
                &Op::BvConcat,
                &[low(3), t.bitvec(value(random.below(2)), 1)],
            ),
            3 => t.bv_op(&Op::BvConcat, &[low(1), low(3)]),
            4 => t.bv_op(&Op::BvAnd, &[var, mask]),
            5 => t.bv_op(&Op::BvOr, &[mask, var]),
            6 => t.bv_op(&Op::BvXor, &[var, mask]),
            7 => t.bv_op(&Op::BvShl, &[var, shift]),
            8 => t.bv_op(&Op::BvUrem, &[var, t.bitvec(value(4), WIDTH)]),
            9 => t.bv_op(&Op::BvNot, &[var]),
            10 => t.bv_op(&Op::BvNeg, &[var]),
            _ => var,
        }
    };
    let parts: Vec<TermId> = (0..1 + random.below(3))
        .map(|_| {
            let sum = (0..1 + random.below(3)).fold(numeral(random), |sum, _| {
                let var = vars[random.below(3)];
                let factor = numeral(random);
                let product = t.bv_op(&Op::BvMul, &[factor, part(random, var)]);
                t.bv_op(&Op::BvAdd, &[sum, product])
            });
            let other = vars[random.below(3)];
            match random.below(4) {
                0 => t.eq(part(random, other), sum),
                _ => t.eq(other, sum),
            }
        })
        .collect();
    t.and(&parts)
}

/// The equations of an element hold exactly where a formula of linear equations does, and those of
/// a join exactly where all equations hold that hold in both.
#[test]
fn equations_of_bitvecs_are_exact() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let t = Rc::new(TermStore::new());
        // Of two bits and of three.
        let (short, long) = (t.bitvec_sort(2), t.bitvec_sort(3));
        let vars = [t.var("x", long), t.var("y", short), t.var("z", long)];
        let domain = Modular::new(t.clone(), 20);
        let wide = t.bv_op(&Op::BvConcat, &[vars[1], t.bitvec(value(0), 1)]);
        let bitvecs = [vars[0], wide, vars[2]];
        let sum = |from: u64| {
            let mut left = from;
            let products = bitvecs.map(|w| {
                let factor = left % 8;
                left /= 8;
                t.bv_op(&Op::BvMul, &[t.bitvec(BigUint::from(factor), 3), w])
            });
            let sum = products.into_iter();
            let sum = sum.reduce(|a, b| t.bv_op(&Op::BvAdd, &[a, b])).unwrap();
            t.eq(sum, t.bitvec(BigUint::from(left % 8), 3))
        };
        let mut formula = || {
            let rows: Vec<TermId> = (0..1 + random.below(2))
                .map(|_| {
                    let from = random.below(4096) as u64;
                    sum(from)
                })
                .collect();
            t.and(&rows)
        };
        let formulas = [formula(), formula()];
        let points: Vec<FxHashMap<TermId, TermId>> = (0..8 * 4 * 8)
            .map(|n| {
                let values = [(n & 7, 3), (n >> 3 & 3, 2), (n >> 5, 3)];
                let values = values.map(|(v, w)| t.bitvec(value(v), w));
                vars.iter().copied().zip(values).collect()
            })
            .collect();
        let holds = |f: TermId, p: &FxHashMap<TermId, TermId>| t.substitute(f, p) == TermId::TRUE;
        let element = |f: TermId| {
            let cubes = cubes(&t, f, 1);
            domain.guard(&domain.top(), &cubes[0])
        };
        let elements = formulas.map(element);
        for (formula, element) in formulas.iter().zip(&elements) {
            let found = t.and(&domain.formula(element));
            for p in &points {
                assert_eq!(holds(*formula, p), holds(found, p), "seed {seed}");
            }
        }
        let join = t.and(&domain.formula(&domain.join(&elements[0], &elements[1])));
        let either: Vec<&FxHashMap<TermId, TermId>> = points
            .iter()
            .filter(|p| holds(formulas[0], p) || holds(formulas[1], p))
            .collect();
        let common: Vec<TermId> = (0..4096)
            .map(sum)
            .filter(|row| either.iter().all(|p| holds(*row, p)))
            .collect();
        let common = t.and(&common);
        for p in &points {
            let expected = !either.is_empty() && holds(common, p);
            assert_eq!(holds(join, p), expected, "seed {seed}");
        }
    }
}

/// `x = a; y = 3a + 1;` and a loop with `x += 2^31 + 5; y += 2^31 + 15`: sums that wrap around.
#[test]
fn loops_whose_sums_wrap_have_equations() {
    let t = Rc::new(TermStore::new());
    let mut system = System::new(t.clone());
    let sort = t.bitvec_sort(32);
    let p = system.add_predicate("p", &[sort; 3]);
    let [x, y, z, u, v, w] = ["x", "y", "z", "u", "v", "w"].map(|n| t.var(n, sort));
    let bitvec = |n: u64| t.bitvec(BigUint::from(n), 32);
    let sum = |a: TermId, b: TermId| t.bv_op(&Op::BvAdd, &[a, b]);
    let triple = |a: TermId| t.bv_op(&Op::BvMul, &[bitvec(3), a]);
    let at = |args: &[TermId]| Atom {
        predicate: p,
        args: args.to_vec(),
    };
    let start = t.eq(y, sum(triple(x), bitvec(1)));
    system.add_clause(vec![], start, Some(at(&[x, y, z])));
    let step = t.and(&[
        t.eq(u, sum(x, bitvec((1 << 31) + 5))),
        t.eq(v, sum(y, bitvec((1 << 31) + 15))),
        t.eq(w, sum(z, bitvec(1 << 4))),
        t.bv_slt(x, z),
    ]);
    system.add_clause(vec![at(&[x, y, z])], step, Some(at(&[u, v, w])));
    let domains = Catalogue::new(&system, Parameters::PASS, Context::new(t.clone()).budget);
    assert!(system.has_wide_bit_vectors());
    let domain = domains.modular();
    let limits = Limits {
        time: Duration::from_secs(60),
        ..Limits::default()
    };
    let found = analyse(&domain, &system, limits, &Context::new(t.clone()));
    assert!(found.complete);
    let [x, y, _] = system.predicate(p).params[..] else {
        unreachable!("three parameters");
    };
    let found = domain.formula(&found.values[p.index()]);
    assert_eq!(found, [t.eq(y, sum(triple(x), bitvec(1)))]);
}

#[test]
fn operators_of_equal_bitvecs_are_equal() {
    let t = Rc::new(TermStore::new());
    let bitvec = |name: &str, width: u32| t.var(name, t.bitvec_sort(width));
    let number = |n: u64, width: u32| t.bitvec(BigUint::from(n), width);
    let says = |formula: TermId| {
        let domain = Modular::new(t.clone(), 20);
        let element = domain.guard(&domain.top(), &cubes(&t, formula, 1)[0]);
        t.and(&domain.formula(&element))
    };
    let [x, y, u, v] = ["x", "y", "u", "v"].map(|n| bitvec(n, 32));
    let part = |a: TermId, by: u64| t.bv_op(&Op::BvUdiv, &[a, number(by, 32)]);
    let twice = |by: u64| {
        let parts = [t.eq(x, y), t.eq(u, part(x, 7)), t.eq(v, part(y, by))];
        says(t.and(&parts))
    };
    let equal = t.eq(u, v);
    assert!(t.conjuncts(twice(7)).contains(&equal));
    assert!(!t.conjuncts(twice(5)).contains(&equal));
    // Twice a bit-vector of 30 bits in 31 bits; leading zeros make both as wide.
    let (a, b) = (bitvec("a", 31), bitvec("b", 30));
    let zeros = |a: TermId, width: u32| t.bv_op(&Op::BvConcat, &[number(0, width), a]);
    let parts = [
        t.eq(a, t.bv_op(&Op::BvConcat, &[b, number(0, 1)])),
        t.eq(u, zeros(a, 1)),
        t.eq(v, zeros(b, 2)),
    ];
    let found = says(t.and(&parts));
    let values = [
        (a, number(2, 31)),
        (b, number(1, 30)),
        (u, number(2, 32)),
        (v, number(1, 32)),
    ];
    assert_eq!(
        t.substitute(found, &values.into_iter().collect()),
        TermId::TRUE
    );
}
