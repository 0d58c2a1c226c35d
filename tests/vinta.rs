//! The engine `vinta` on the programs of its paper, on programs of known status and on generated
//! systems.

#[path = "common/asked.rs"]
mod asked;
mod common;

use std::time::Duration;

use alphorn::chc::System;
use alphorn::frontend::parse_bytes;
use alphorn::run::Context;
use alphorn::term::TermStore;
use alphorn::witness::Verdict;
use alphorn_engine::Engine;
use alphorn_transform::normalize;
use alphorn_unwinding::vinta::{DomainName, Interpolants, Options, Refinement, VintaEngine};
use asked::asked;
use common::trials::{PATIENCE, answers_at_least};
use common::{Recipe, SHORT, Theory, agrees, planted, recipes};
use proptest::prelude::*;

const DOMAINS: [DomainName; 8] = [
    DomainName::Auto,
    DomainName::Boxes,
    DomainName::Box,
    DomainName::Bits,
    DomainName::Congruences,
    DomainName::Octagons,
    DomainName::Polyhedra,
    DomainName::Packs,
];
const PLAIN: [DomainName; 2] = [DomainName::Intervals, DomainName::Constants];
const REFINEMENTS: [Refinement; 2] = [Refinement::Restricted, Refinement::Unrestricted];
const INTERPOLANTS: [Interpolants; 2] = [Interpolants::Certificates, Interpolants::Projection];

/// The answer and the number of refinements; witnesses are checked.
fn solve(system: &System, options: Options) -> (Option<bool>, u64) {
    let mut cx = Context::new(system.terms.clone());
    cx.budget = cx.budget.time(PATIENCE);
    let verdict = VintaEngine { options }
        .solve(system, &mut cx)
        .expect("no defect");
    let answer = match verdict {
        Verdict::Sat(_) | Verdict::Proven(_) => Some(true),
        Verdict::Unsat(_) => Some(false),
        Verdict::Unknown(_) => None,
    };
    if let Some(safe) = answer {
        assert_eq!(agrees(system, safe, &verdict), Ok(true));
    }
    (answer, cx.stats.count("vinta.refinements"))
}

fn system(text: &str) -> System {
    let terms = std::rc::Rc::new(TermStore::new());
    let problem = parse_bytes(asked(text).as_bytes(), terms).expect("it can be read");
    normalize(&problem).0
}

/// A loop over integer variables, given by its initial states, step and error.
fn one_loop(vars: &str, start: &str, step: &str, error: &str) -> System {
    let names: Vec<&str> = vars.split(' ').collect();
    let sorts = vec!["Int"; names.len()].join(" ");
    let bound = |marks: &[&str]| {
        let all = marks
            .iter()
            .flat_map(|m| names.iter().map(move |n| format!("({n}{m} Int)")));
        all.collect::<String>()
    };
    let next: String = names.iter().map(|n| format!(" {n}1")).collect();
    system(&format!(
        "(set-logic HORN) (declare-fun L ({sorts}) Bool)
         (assert (forall ({}) (=> {start} (L {vars}))))
         (assert (forall ({}) (=> (and (L {vars}) {step}) (L{next}))))
         (assert (forall ({}) (=> (and (L {vars}) {error}) false)))",
        bound(&[""]),
        bound(&["", "1"]),
        bound(&[""]),
    ))
}

fn paper(domain: DomainName) -> Options {
    Options {
        domain,
        thresholds: false,
        lemmas: false,
        ..Options::default()
    }
}

/// The program of Fig. 2(a): `x ≥ 4 ⇒ y > 100`.
fn figure_2() -> System {
    one_loop(
        "x y",
        "(and (= x 0) (= y 0))",
        "(or (and (= x1 (+ x 1)) (= y1 (+ y 100)))
             (and (>= x 4) (= x1 (+ x 1)) (= y1 (+ y 1)))
             (and (= x1 x) (= y1 y)))",
        "(and (>= x 4) (<= y 2))",
    )
}

#[test]
fn figure_2_is_safe_with_box_and_few_refinements() {
    for interpolants in INTERPOLANTS {
        let options = Options {
            interpolants,
            ..paper(DomainName::Box)
        };
        let (answer, refinements) = solve(&figure_2(), options);
        assert_eq!(answer, Some(true), "{interpolants:?}");
        assert!(
            (1..=6).contains(&refinements),
            "{interpolants:?}: {refinements}"
        );
    }
}

/// A program like that of Fig. 5(a): `x ≤ 10 ∧ x ≠ 9`, which is not a box. Without restriction the
/// label of the last unrolling is `x ≠ 9` only, which is not inductive.
#[test]
fn figure_5_needs_one_restricted_refinement() {
    let step = "(or (and (<= x 10) (<= x1 10) (not (= x1 9))) (and (> x 10) (= x1 9)))";
    let system = one_loop("x", "(= x 0)", step, "(= x 9)");
    for interpolants in INTERPOLANTS {
        let options = Options {
            interpolants,
            ..paper(DomainName::Box)
        };
        assert_eq!(solve(&system, options), (Some(true), 1), "{interpolants:?}");
    }
    let unrestricted = Options {
        refinement: Refinement::Unrestricted,
        ..paper(DomainName::Box)
    };
    let (answer, refinements) = solve(&system, unrestricted);
    assert_eq!(answer, Some(true));
    assert!(refinements > 1, "{refinements}");
    // `boxes` can express it.
    assert_eq!(solve(&system, paper(DomainName::Boxes)), (Some(true), 0));
}

/// The family `holes` of the corpus: restricted interpolants alone, without lemmas at other nodes,
/// keep the bounds that boxes find, and unrestricted ones alone lose them.
#[test]
fn restriction_alone_saves_refinements() {
    let file = "horn-benchmarks/generated/holes-4-safe.smt2";
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let system = system(&std::fs::read_to_string(path).expect("it is there"));
    let refinements = |refinement| {
        let options = Options {
            refinement,
            ..paper(DomainName::Box)
        };
        let (answer, refinements) = solve(&system, options);
        assert_eq!(answer, Some(true), "{refinement:?}");
        refinements
    };
    let restricted = refinements(Refinement::Restricted);
    let unrestricted = refinements(Refinement::Unrestricted);
    assert!(restricted < unrestricted, "{restricted}, {unrestricted}");
}

/// The invariant `y ≥ x - 1` of a sum, which is not a box: a node that the second phase adds keeps
/// the lemma of earlier nodes; otherwise each phase would add a node that needs a refinement.
#[test]
fn new_nodes_keep_lemmas() {
    let step = "(or (and (= x1 (+ x 1)) (= y1 (+ y (* 2 x))))
                    (and (> x 3) (= x1 x) (= y1 (+ y 1))))";
    let system = one_loop("x y", "(and (= x 0) (>= y 0))", step, "(< y (- x 1))");
    for domain in [DomainName::Box, DomainName::Intervals] {
        for interpolants in INTERPOLANTS {
            let options = Options {
                interpolants,
                lemmas: true,
                ..paper(domain)
            };
            let (answer, refinements) = solve(&system, options);
            assert_eq!(answer, Some(true), "{domain:?}, {interpolants:?}");
            assert!(
                refinements <= 3,
                "{domain:?}, {interpolants:?}: {refinements}"
            );
        }
    }
}

/// Projection that leads back to the entry gives a derivation, without an earlier query for one.
#[test]
fn derivations_by_projection() {
    let two = "(or (and (= x1 (+ x 1)) (= y1 y)) (and (> x 2) (= x1 (- x 1)) (= y1 (+ y 3))))";
    let systems = [
        one_loop("x", "(= x 0)", "(= x1 (+ x 1))", "(= x 25)"),
        one_loop("x y", "(and (= x 0) (= y 0))", two, "(and (= x 2) (> y 8))"),
        one_loop("x", "(> x 3)", "(= x1 x)", "(> x 3)"),
    ];
    for (at, system) in systems.iter().enumerate() {
        for domain in DOMAINS {
            for refinement in REFINEMENTS {
                let options = Options {
                    domain,
                    refinement,
                    interpolants: Interpolants::Projection,
                    ..Options::default()
                };
                let answer = solve(system, options).0;
                assert_eq!(answer, Some(false), "{at}, {domain:?}, {refinement:?}");
            }
        }
    }
}

#[test]
fn known_programs_in_all_domains() {
    let programs = [
        // Counts up by two; odd values are never reached.
        (
            one_loop("x", "(= x 0)", "(and (< x 10) (= x1 (+ x 2)))", "(= x 9)"),
            true,
        ),
        (
            one_loop("x", "(= x 0)", "(and (< x 10) (= x1 (+ x 2)))", "(= x 8)"),
            false,
        ),
        // A long counterexample.
        (
            one_loop("x", "(= x 0)", "(= x1 (+ x 1))", "(= x 25)"),
            false,
        ),
        // A bound at the exit of the loop.
        (
            one_loop(
                "x",
                "(= x 0)",
                "(and (< x 100) (= x1 (+ x 1)))",
                "(> x 100)",
            ),
            true,
        ),
        // States of a protocol.
        (
            one_loop(
                "s n",
                "(and (= s 1) (= n 0))",
                "(or (and (= s 1) (= s1 2) (= n1 (+ n 1)))
                     (and (= s 2) (= s1 3) (= n1 n))
                     (and (= s 3) (= s1 1) (= n1 (- n 1))))",
                "(or (> s 3) (> n 1) (and (= s 2) (= n 0)))",
            ),
            true,
        ),
    ];
    for (system, safe) in &programs {
        for domain in DOMAINS {
            for refinement in REFINEMENTS {
                let options = Options {
                    domain,
                    refinement,
                    ..Options::default()
                };
                let (answer, _) = solve(system, options);
                assert_eq!(answer, Some(*safe), "{domain:?}, {refinement:?}");
            }
        }
    }
}

/// Domains without disjunction have one element per location; refinement finds the rest.
#[test]
fn plain_domains() {
    let step = "(and (< x 10) (= x1 (+ x 2)))";
    for domain in PLAIN {
        for (error, safe) in [("(> x 11)", true), ("(= x 4)", false)] {
            let system = one_loop("x", "(= x 0)", step, error);
            let options = Options {
                domain,
                ..Options::default()
            };
            assert_eq!(solve(&system, options).0, Some(safe), "{domain:?} {error}");
        }
    }
}

/// Two nested loops and a Boolean.
#[test]
fn nested_loops() {
    let text = |error: &str| {
        format!(
            "(set-logic HORN)
             (declare-fun Out (Int Int Bool) Bool) (declare-fun In (Int Int Bool) Bool)
             (declare-fun End (Int Bool) Bool)
             (assert (forall ((i Int) (j Int)) (=> (and (= i 0) (= j 0)) (Out i j false))))
             (assert (forall ((i Int) (j Int) (b Bool))
                (=> (and (Out i j b) (< i 5)) (In i 0 true))))
             (assert (forall ((i Int) (j Int) (b Bool))
               (=> (and (In i j b) (< j 3)) (In i (+ j 1) (not b)))))
             (assert (forall ((i Int) (j Int) (b Bool))
               (=> (and (In i j b) (>= j 3)) (Out (+ i 1) j b))))
             (assert (forall ((i Int) (j Int) (b Bool)) (=> (and (Out i j b) (>= i 5)) (End j b))))
             (assert (forall ((j Int) (b Bool)) (=> (and (End j b) {error}) false)))"
        )
    };
    for domain in DOMAINS {
        for (error, safe) in [
            ("(not (= j 3))", true),
            ("(or b (> j 3))", true),
            ("(= j 3)", false),
        ] {
            let options = Options {
                domain,
                ..Options::default()
            };
            assert_eq!(
                solve(&system(&text(error)), options).0,
                Some(safe),
                "{domain:?} {error}"
            );
        }
    }
}

#[test]
fn enumerations_and_bit_vectors() {
    let colours = |error: &str| {
        format!(
            "(set-logic HORN) (declare-datatypes ((C 0)) (((red) (green) (blue))))
             (declare-fun L (C (_ BitVec 8)) Bool)
             (assert (L red #x00))
             (assert (forall ((n (_ BitVec 8))) (=> (L red n) (L green n))))
             (assert (forall ((n (_ BitVec 8)))
               (=> (and (L green n) (bvult n #x20)) (L red (bvadd n #x01)))))
             (assert (forall ((c C) (n (_ BitVec 8))) (=> (and (L c n) {error}) false)))"
        )
    };
    for domain in [DomainName::Boxes, DomainName::Box, DomainName::Bits] {
        for (error, safe) in [
            ("(= c blue)", true),
            ("(bvugt n #x20)", true),
            ("(and (= c green) (= n #x03))", false),
        ] {
            let options = Options {
                domain,
                ..Options::default()
            };
            let answer = solve(&system(&colours(error)), options).0;
            assert_eq!(answer, Some(safe), "{domain:?} {error}");
        }
    }
}

/// Programs with nonlinear clauses, and whether they are safe.
fn recursive_programs() -> Vec<(&'static str, System, bool)> {
    let mccarthy = |error: &str| {
        system(&format!(
            "(set-logic HORN) (declare-fun M (Int Int) Bool)
             (assert (forall ((n Int)) (=> (> n 100) (M n (- n 10)))))
             (assert (forall ((n Int) (t Int) (r Int))
               (=> (and (<= n 100) (M (+ n 11) t) (M t r)) (M n r))))
             (assert (forall ((n Int) (r Int)) (=> (and (M n r) {error}) false)))"
        ))
    };
    let fib = |error: &str| {
        system(&format!(
            "(set-logic HORN) (declare-fun F (Int Int) Bool)
             (assert (F 0 0)) (assert (F 1 1))
             (assert (forall ((n Int) (a Int) (b Int))
               (=> (and (>= n 2) (F (- n 1) a) (F (- n 2) b)) (F n (+ a b)))))
             (assert (forall ((n Int) (r Int)) (=> (and (F n r) {error}) false)))"
        ))
    };
    // Sums of odd numbers: the sum of an even number of them is even.
    let mutual = |error: &str| {
        system(&format!(
            "(set-logic HORN) (declare-fun E (Int) Bool) (declare-fun O (Int) Bool)
             (assert (E 0)) (assert (O 1)) (assert (O 5))
             (assert (forall ((x Int) (y Int)) (=> (and (E x) (O y)) (O (+ x y)))))
             (assert (forall ((x Int) (y Int)) (=> (and (O x) (O y)) (E (+ x y)))))
             (assert (forall ((x Int) (y Int)) (=> (and (E x) (O y) {error}) false)))"
        ))
    };
    let trees = |error: &str| {
        system(&format!(
            "(set-logic HORN) (declare-fun T (Int Int) Bool)
             (assert (T 0 1))
             (assert (forall ((h Int) (g Int) (s Int) (t Int))
               (=> (and (T h s) (T g t)) (T (+ 1 (ite (> h g) h g)) (+ s t 1)))))
             (assert (forall ((h Int) (s Int)) (=> (and (T h s) {error}) false)))"
        ))
    };
    // The sum in a bounded loop, with a Boolean for whether the loop has begun.
    let sums = |error: &str| {
        system(&format!(
            "(set-logic HORN) (declare-fun S (Int Bool) Bool) (declare-fun R (Int Int) Bool)
             (assert (S 0 false))
             (assert (forall ((i Int) (b Bool)) (=> (and (S i b) (< i 10)) (S (+ i 1) true))))
             (assert (forall ((i Int) (j Int) (b Bool)) (=> (and (S i b) (S j (not b))) (R i j))))
             (assert (forall ((i Int) (j Int)) (=> (and (R i j) {error}) false)))"
        ))
    };
    vec![
        ("mccarthy", mccarthy("(<= n 101) (not (= r 91))"), true),
        ("mccarthy bug", mccarthy("(= n 95) (= r 91)"), false),
        ("fib", fib("(< r 0)"), true),
        ("fib bug", fib("(= n 6) (= r 8)"), false),
        ("mutual", mutual("(or (< x 0) (< y 1))"), true),
        ("mutual bug", mutual("(= x (+ y 1)) (> x 9)"), false),
        ("trees", trees("(< s 1)"), true),
        ("trees bug", trees("(= h 2) (= s 5)"), false),
        ("sums", sums("(> (+ i j) 20)"), true),
        ("sums bug", sums("(= i 0) (= j 3)"), false),
    ]
}

#[test]
fn recursive_programs_in_all_domains() {
    const QUICK: [DomainName; 3] = [DomainName::Auto, DomainName::Boxes, DomainName::Box];
    for domain in DOMAINS {
        for refinement in REFINEMENTS {
            for (name, system, safe) in recursive_programs() {
                // McCarthy's function needs many disjuncts: relational domains take long.
                if name == "mccarthy" && !QUICK.contains(&domain) {
                    continue;
                }
                let options = Options {
                    domain,
                    refinement,
                    ..Options::default()
                };
                let (answer, _) = solve(&system, options);
                assert_eq!(answer, Some(safe), "{name}, {domain:?}, {refinement:?}");
            }
        }
    }
}

/// The hypergraph as a picture: an edge from each premise.
#[test]
fn the_picture_of_a_hypergraph() {
    let path = std::env::temp_dir().join(format!("vinta-hyper-{}.dot", std::process::id()));
    let options = Options {
        domain: DomainName::Box,
        arg: Some(path.display().to_string()),
        ..Options::default()
    };
    let (_, system, safe) = recursive_programs().remove(4);
    assert_eq!(solve(&system, options).0, Some(safe));
    let picture = std::fs::read_to_string(&path).expect("it was written");
    std::fs::remove_file(&path).expect("it is there");
    assert!(picture.starts_with("digraph arg {"), "{picture}");
    assert!(
        picture.contains(": E\\n") && picture.contains(": O\\n"),
        "{picture}"
    );
    assert!(picture.contains(" -> "), "{picture}");
}

/// Sums of counters whose equality has no linear invariant: `p·i + q` is added to `x` in each round,
/// and the same numbers in the opposite order to `y`. They are equal at the end if `more` is zero.
fn sums_in_two_orders(p: i32, q: i32, more: i32) -> System {
    // Numerals are not negative.
    let sum = |n: i32| format!("(- {} 10)", n + 10);
    one_loop(
        "i n x y",
        "(and (= i 0) (>= n 0) (= x 0) (= y 0))",
        &format!(
            "(and (< i n) (= i1 (+ i 1)) (= n1 n) (= x1 (+ x (* {p} i) {}))
                  (= y1 (+ y (* {p} (- n i 1)) {}))) ",
            sum(q),
            sum(q + more)
        ),
        "(and (>= i n) (not (= x y)))",
    )
}

fn products() -> Options {
    Options {
        domain: DomainName::Products,
        ..Options::default()
    }
}

/// A number that increases by 1, 2, … and then decreases by these numbers in the opposite order stays
/// positive.
#[test]
fn products_of_a_counter_in_two_loops() {
    let text = |error: &str| {
        format!(
            "(set-logic HORN) (declare-fun Up (Int Int) Bool) (declare-fun Down (Int Int) Bool)
             (assert (Up 0 0))
             (assert (forall ((i Int) (x Int)) (=> (Up i x) (Up (+ i 1) (+ x i 1)))))
             (assert (forall ((i Int) (x Int)) (=> (and (Up i x) (>= i 1)) (Down i (+ x 1)))))
             (assert (forall ((i Int) (x Int))
               (=> (and (Down i x) (>= x 1)) (Down (- i 1) (- x (- i 1))))))
             (assert (forall ((i Int) (x Int)) (=> (and (Down i x) (>= i 0) {error}) false)))"
        )
    };
    for (error, safe) in [("(<= x 0)", true), ("(<= x 2)", false)] {
        let answer = solve(&system(&text(error)), products());
        assert_eq!(answer.0, Some(safe), "{error}");
        if safe {
            assert_eq!(answer.1, 0);
        }
    }
}

/// Two calls of a recursive function that returns small arguments unchanged: a case for each branch.
#[test]
fn products_with_cases() {
    let text = |error: &str| {
        format!(
            "(set-logic HORN) (declare-fun F (Int Int) Bool)
             (assert (forall ((n Int)) (=> (<= n 1) (F n n))))
             (assert (forall ((n Int) (r Int)) (=> (and (>= n 1) (F n r)) (F (+ n 1) (+ r n 1)))))
             (assert (forall ((n Int) (r Int) (m Int) (s Int))
               (=> (and (F n r) (F m s) (>= n 1) (= m (+ n 1)) {error}) false)))"
        )
    };
    for (error, safe) in [("(not (= s (+ r m)))", true), ("(= s (+ r m))", false)] {
        let answer = solve(&system(&text(error)), products()).0;
        assert_eq!(answer, Some(safe), "{error}");
    }
}

#[test]
fn products_of_no_use() {
    let verdict = limited(&figure_2(), products(), SHORT);
    assert!(matches!(verdict, Verdict::Unknown(_)), "{verdict:?}");
}

/// A loop that behaves differently after some rounds: delayed widening, and polyhedra.
#[test]
fn late_widening() {
    let phases = one_loop(
        "i s m n",
        "(and (= i 0) (= s 0) (= m 0) (= n 0))",
        "(and (= i1 (+ i 1)) (= s1 (+ s i))
              (= n1 (ite (<= s (* 4 i)) (+ n 1) n)) (= m1 (ite (<= s (* 4 i)) m (+ m 1))))",
        "(and (> i 50) (<= m n))",
    );
    let options = Options {
        domain: DomainName::Polyhedra,
        widen_delay: 15,
        ..Options::default()
    };
    assert_eq!(solve(&phases, options), (Some(true), 0));
}

fn options(number: usize) -> Options {
    Options {
        domain: DOMAINS[number % 8],
        refinement: REFINEMENTS[number / 4 % 2],
        interpolants: INTERPOLANTS[number / 8 % 2],
        thresholds: (number / 16).is_multiple_of(2),
        // Small limits exercise the fallbacks.
        paths: [5000, 50, 100, 2][number / 32 % 4],
        widen_delay: [0, 4][number / 2 % 2],
        ..Options::default()
    }
}

/// The verdict within a limit: some generated systems have no invariant in any domain.
fn limited(system: &System, options: Options, limit: Duration) -> Verdict {
    let mut cx = Context::new(system.terms.clone());
    cx.budget = cx.budget.time(limit);
    VintaEngine { options }
        .solve(system, &mut cx)
        .expect("no defect")
}

/// A Boolean that one clause leaves arbitrary and another one fixes.
#[test]
fn cases_that_overlap() {
    let text = include_str!("regress/overlapping-cases.smt2");
    for domain in DOMAINS {
        let options = Options {
            domain,
            ..Options::default()
        };
        assert_eq!(solve(&system(text), options).0, Some(true), "{domain:?}");
    }
}

proptest! {
    // There are 42 different cases, many of which are not decided in time.
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn sums_are_equal_in_two_orders(p in 1..4i32, q in -3..4i32, more in 0..2i32) {
        let system = sums_in_two_orders(p, q, more);
        let agreed = agrees(&system, more == 0, &limited(&system, products(), SHORT));
        prop_assert!(agreed.is_ok(), "{:?}", agreed);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn agrees_with_what_is_planted(
        recipe in recipes(),
        safe in any::<bool>(),
        number in 0..128usize,
    ) {
        let system = planted(&recipe, safe);
        let agreed = agrees(&system, safe, &limited(&system, options(number), SHORT));
        prop_assert!(agreed.is_ok(), "{:?}", agreed);
    }
}

#[test]
fn decides_most_of_what_is_generated() {
    let mut cases: Vec<(Recipe, bool)> = Vec::new();
    for theory in [Theory::Bool, Theory::Lia, Theory::Lra] {
        for seed in 200..208 {
            let recipe = Recipe::from_seed(theory, seed);
            cases.extend([(recipe.clone(), true), (recipe, false)]);
        }
    }
    answers_at_least(cases.len() * 7 / 10, &cases, |(recipe, safe), limit| {
        let system = planted(recipe, *safe);
        agrees(&system, *safe, &limited(&system, Options::default(), limit))
    });
}
