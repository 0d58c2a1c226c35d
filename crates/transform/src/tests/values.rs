//! Bit-vectors and numbers that are compared with few constants, and others that are used in other
//! ways.

use std::rc::Rc;

use super::decide::{after, agree, atom, check, run};
use alphorn_chc::{Atom, System};
use alphorn_term::run::Context;
use alphorn_term::{BigUint, Op, Random, SortId, TermId, TermStore};

const WIDTH: u32 = 3;

/// A random formula about bit-vectors or integers: equations between them and with the constants
/// from 1 to `numerals`, tests, choices; rarely a use that prevents coding of a class.
fn formula(
    random: &mut Random,
    t: &TermStore,
    bit_vectors: &[TermId],
    numerals: usize,
    parts: usize,
) -> TermId {
    let whole = t.sort_of(bit_vectors[0]) == SortId::INT;
    let numeral = |random: &mut Random| {
        let value = 1 + random.below(numerals);
        match whole {
            true => t.int(value as i64),
            false => t.bitvec(BigUint::from(value), WIDTH),
        }
    };
    let term = |random: &mut Random| bit_vectors[random.below(bit_vectors.len())];
    let literal = |random: &mut Random| {
        let test = t.eq(term(random), numeral(random));
        match random.below(3) {
            0 => t.not(test),
            _ => test,
        }
    };
    let parts: Vec<TermId> = (0..parts)
        .map(|_| match random.below(24) {
            0..8 => t.eq(term(random), term(random)),
            8..14 => literal(random),
            14..17 => t.or(&[literal(random), t.eq(term(random), term(random))]),
            17..20 => {
                let test = literal(random);
                let (a, b) = (term(random), numeral(random));
                t.eq(term(random), t.ite(test, a, b))
            }
            20 => t.ite(literal(random), literal(random), literal(random)),
            21 => t.eq(literal(random), literal(random)),
            22 => t.not(t.eq(term(random), term(random))),
            _ if whole => t.le(term(random), numeral(random)),
            _ => t.bv_op(&Op::BvUle, &[term(random), numeral(random)]),
        })
        .collect();
    t.and(&parts)
}

fn random_system(seed: u64, whole: bool, numerals: usize) -> System {
    let mut random = Random::new(seed);
    let t = Rc::new(TermStore::new());
    let mut system = System::new(t.clone());
    let sort = match whole {
        true => SortId::INT,
        false => t.bitvec_sort(WIDTH),
    };
    let p = system.add_predicate("p", &[sort, sort]);
    let q = system.add_predicate("q", &[sort]);
    let vars: Vec<TermId> = (0..6).map(|i| t.var(&format!("v{i}"), sort)).collect();
    let mut add = |body: Vec<Atom>, head: Option<Atom>| {
        // Few facts at the beginning, and special ones at the end.
        let parts = match (&body[..], &head) {
            ([], _) | (_, None) => 4 + random.below(3usize),
            _ => 2 + random.below(2usize),
        };
        let mut formula = formula(&mut random, &t, &vars, numerals, parts);
        if whole {
            // The oracle enumerates facts.
            let value = |var: TermId, n: usize| t.eq(var, t.int(n as i64));
            let any = |&var: &TermId| {
                let values = (1..=numerals + 1).map(|n| value(var, n));
                t.or(&values.collect::<Vec<TermId>>())
            };
            let args = head.iter().flat_map(|h| &h.args);
            let bounds: Vec<TermId> = args.map(any).collect();
            formula = t.and(&[t.and(&bounds), formula]);
        }
        system.add_clause(body, formula, head);
    };
    let (pa, pb) = (atom(p, &vars[..2]), atom(p, &vars[2..4]));
    let (qa, qb) = (atom(q, &vars[..1]), atom(q, &vars[4..5]));
    add(vec![], Some(pa.clone()));
    add(vec![], Some(qa.clone()));
    add(vec![pa.clone()], Some(pb.clone()));
    add(vec![pa.clone(), qb.clone()], Some(pb));
    add(vec![pa.clone()], Some(qb.clone()));
    add(vec![pa, qb], None);
    system
}

#[test]
fn random_systems_keep_their_verdicts() {
    keep_their_verdicts(false, 2);
}

/// Four codes are two Booleans.
#[test]
fn random_systems_of_numbers_keep_their_verdicts() {
    keep_their_verdicts(true, 2);
}

fn keep_their_verdicts(whole: bool, numerals: usize) {
    let (mut coded, mut verdicts) = (0, [0, 0]);
    for seed in 0..120 {
        let system = random_system(seed, whole, numerals);
        let lists = ["values", "values,simplify,propagate,values", "default"];
        let Some(sat) = agree(&system, &lists) else {
            continue;
        };
        verdicts[usize::from(sat)] += 1;
        let mut cx = Context::new(system.terms.clone());
        coded += run(&system, "values", &mut cx).1.len();
    }
    assert!(
        coded > 30 && verdicts.iter().all(|n| *n > 15),
        "{coded} {verdicts:?}"
    );
}

/// A machine with its state in one argument, of which another argument is a copy.
fn machine(sort: SortId, numeral: impl Fn(&TermStore, i64) -> TermId, t: Rc<TermStore>) -> System {
    let mut system = System::new(t.clone());
    let p = system.add_predicate("p", &[sort, sort]);
    let [x, y, u, v] = ["x", "y", "u", "v"].map(|n| t.var(n, sort));
    let is = |var: TermId, n: i64| t.eq(var, numeral(&t, n));
    let start = t.and(&[is(x, 1000), t.eq(x, y)]);
    system.add_clause(vec![], start, Some(atom(p, &[x, y])));
    for (from, to) in [(1000, -7), (-7, 1000)] {
        let step = t.and(&[is(x, from), is(u, to), t.eq(v, x)]);
        system.add_clause(vec![atom(p, &[x, y])], step, Some(atom(p, &[u, v])));
    }
    let wrong = t.and(&[is(x, -7), is(y, -7)]);
    system.add_clause(vec![atom(p, &[x, y])], wrong, None);
    system
}

#[test]
fn two_values_are_a_boolean() {
    let t = Rc::new(TermStore::new());
    let term = |t: &TermStore, n: i64| t.bitvec(BigUint::from(n.rem_euclid(1 << 32) as u64), 32);
    let sort = t.bitvec_sort(32);
    let bit_vectors = machine(sort, term, t);
    let t = Rc::new(TermStore::new());
    let numbers = machine(SortId::INT, |t, n| t.int(n), t);
    for system in [bit_vectors, numbers] {
        check(
            &system,
            &["values", "values,control,inline", "default"],
            true,
        );
        let coded = after(&system, "values");
        for clause in &coded.clauses {
            for var in clause.vars(&coded.terms) {
                assert_eq!(coded.terms.sort_of(var), SortId::BOOL);
            }
        }
    }
}

/// A value that is only copied is not an argument any more, but a value that differs from two
/// constants is needed.
#[test]
fn differences_are_kept() {
    let t = Rc::new(TermStore::new());
    let sort = t.bitvec_sort(WIDTH);
    for (differ, sat) in [(false, false), (true, true)] {
        let mut system = System::new(t.clone());
        let p = system.add_predicate("p", &[sort, sort]);
        let [x, y] = ["x", "y"].map(|n| t.var(n, sort));
        system.add_clause(vec![], t.eq(x, y), Some(atom(p, &[x, y])));
        let bad = if differ {
            t.not(t.eq(x, y))
        } else {
            TermId::TRUE
        };
        system.add_clause(vec![atom(p, &[x, y])], bad, None);
        check(&system, &["values", "default"], sat);
        let arguments = |system: &System| system.clauses[0].head.as_ref().unwrap().args.len();
        assert_eq!(
            arguments(&after(&system, "values")),
            if differ { 2 } else { 0 }
        );
    }
}
