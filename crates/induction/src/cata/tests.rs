//! Systems of known status for each template: what holds by the code, and the same with a constant
//! or a constructor changed so that it fails for small terms.

use std::rc::Rc;
use std::time::Duration;

use alphorn::{Config, solve};
use alphorn_chc::frontend::parse;
use alphorn_proof::folds::{Abstraction, Encoder, Maker, Template};
use alphorn_samples::planted;
use alphorn_smt::Smt;
use alphorn_term::run::Context;
use alphorn_term::{Assignment, Random, TermId, TermStore, evaluate};
use alphorn_transform::normalize;
use alphorn_witness::Wanted;

const LISTS: &str = "(declare-datatypes ((Lst 0)) (((nil) (cons (head Int) (tail Lst)))))";
const TREES: &str =
    "(declare-datatypes ((Tree 0)) (((leaf) (node (left Tree) (value Int) (right Tree)))))";
const NUMBERS: &str = "(declare-datatypes ((Nat 0)) (((zero) (succ (pred Nat)))))";

/// The engine's verdict, and whether this template or search found it.
fn answer(text: &str, by: &str) -> (&'static str, bool) {
    let terms = Rc::new(TermStore::new());
    let text = format!("(set-logic HORN)\n{text}\n(check-sat)\n");
    let problem = parse(&text, terms.clone()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut cx = Context::new(terms);
    cx.budget = cx.budget.work(Duration::from_secs(30));
    let config = Config {
        engine: "cata".to_owned(),
        ..Config::default()
    };
    let answer = solve(&problem, &config, &mut cx).expect("the engine exists");
    assert_eq!(cx.stats.count("witness.failures"), 0, "{text}");
    let word = answer.output(&problem, Wanted::default()).word();
    (word, cx.stats.count(&format!("cata.by.{by}")) > 0)
}

/// A text is safe by a template, and unsafe with `good` replaced by `bad`.
fn check(text: &str, by: &str, good: &str, bad: &str) {
    assert!(text.contains(good), "{good} in {text}");
    assert_eq!(answer(text, by), ("sat", true), "{text}");
    let text = text.replace(good, bad);
    assert_eq!(answer(&text, by).0, "unsat", "{text}");
}

const PARITY: &str = "
(declare-fun even (Nat) Bool)
(declare-fun odd (Nat) Bool)
(assert (even zero))
(assert (forall ((n Nat)) (=> (even n) (odd (succ n)))))
(assert (forall ((n Nat)) (=> (odd n) (even (succ n)))))
(assert (forall ((n Nat)) (=> (and (even n) (odd n)) false)))";

#[test]
fn parity_of_numbers_is_one_of_sizes() {
    let text = format!("{NUMBERS}{PARITY}");
    check(&text, "sizes", "(odd n)) false", "(odd (succ n))) false");
}

#[test]
fn residues_need_two_bits() {
    let text = format!(
        "{NUMBERS}
(declare-fun third (Nat) Bool)
(assert (third zero))
(assert (forall ((n Nat)) (=> (third n) (third (succ (succ (succ n)))))))
(assert (forall ((n Nat)) (=> (and (third n) (third (succ (succ n)))) false)))"
    );
    check(&text, "automata", "(succ (succ n)))) false", "n)) false");
}

/// Lists that repeat `a b` have no `b b`, nor have their reverses; tokens are a datatype.
#[test]
fn words_of_a_grammar_are_regular() {
    let text =
        "(declare-datatypes ((Tok 0) (Word 0)) (((a) (b)) ((end) (put (first Tok) (rest Word)))))
(declare-fun gen (Word) Bool)
(declare-fun twice (Word) Bool)
(assert (gen end))
(assert (forall ((w Word)) (=> (gen w) (gen (put a (put b w))))))
(assert (forall ((w Word)) (twice (put b (put b w)))))
(assert (forall ((t Tok) (w Word)) (=> (twice w) (twice (put t w)))))
(assert (forall ((w Word)) (=> (and (gen w) (twice w)) false)))";
    check(
        text,
        "automata",
        "(gen (put a (put b w)))",
        "(gen (put b (put b w)))",
    );
}

/// Boolean arguments and fields are exact.
#[test]
fn truth_values_are_states() {
    let text = "(declare-datatypes ((Flags 0)) (((none) (flag (on Bool) (more Flags)))))
(declare-fun any (Flags Bool) Bool)
(declare-fun set (Flags Flags) Bool)
(assert (any none false))
(assert (forall ((b Bool) (c Bool) (x Flags)) (=> (any x c) (any (flag b x) (or b c)))))
(assert (set none (flag true none)))
(assert (forall ((b Bool) (x Flags) (y Flags)) (=> (set x y) (set (flag b x) (flag b y)))))
(assert (forall ((x Flags) (y Flags)) (=> (and (set x y) (any y false)) false)))";
    check(text, "automata", "(flag true none)", "(flag false none)");
}

#[test]
fn lengths_of_lists_are_sizes() {
    let text = format!(
        "{LISTS}
(declare-fun app (Lst Lst Lst) Bool)
(declare-fun len (Lst Int) Bool)
(assert (forall ((y Lst)) (app nil y y)))
(assert (forall ((h Int) (x Lst) (y Lst) (z Lst)) (=> (app x y z) (app (cons h x) y (cons h z)))))
(assert (len nil 0))
(assert (forall ((h Int) (x Lst) (n Int)) (=> (len x n) (len (cons h x) (+ n 1)))))
(assert (forall ((x Lst) (y Lst) (z Lst) (n Int) (m Int) (k Int))
  (=> (and (app x y z) (len x n) (len y m) (len z k) (not (= k (+ n m)))) false)))"
    );
    check(&text, "sizes", "(app nil y y)", "(app nil y (cons 0 y))");
}

/// Sums with an accumulator are no function of one term, but they are linear in counts.
#[test]
fn sums_of_lists_are_counts() {
    let text = format!(
        "{LISTS}
(declare-fun reverse (Lst Lst Lst) Bool)
(declare-fun sum (Lst Int Int) Bool)
(assert (forall ((a Lst)) (reverse nil a a)))
(assert (forall ((h Int) (x Lst) (a Lst) (z Lst))
  (=> (reverse x (cons h a) z) (reverse (cons h x) a z))))
(assert (forall ((a Int)) (sum nil a a)))
(assert (forall ((h Int) (x Lst) (a Int) (n Int))
  (=> (sum x (+ a (* 2 h) 1) n) (sum (cons h x) a n))))
(assert (forall ((x Lst) (z Lst) (n Int) (m Int))
  (=> (and (reverse x nil z) (sum x 0 n) (sum z 0 m) (not (= n m))) false)))"
    );
    check(&text, "counts", "(cons h a)", "(cons (+ h 1) a)");
}

/// The successor of a binary numeral is larger by one: its relation to numbers is one of a sum in
/// which each further digit counts twice, and no function of the file.
#[test]
fn digits_have_weights() {
    let text = "(declare-datatypes ((Bin 0)) (((one) (even (half Bin)) (odd (rest Bin)))))
(declare-fun next (Bin Bin) Bool)
(declare-fun value (Bin Int Int) Bool)
(assert (next one (even one)))
(assert (forall ((x Bin)) (next (even x) (odd x))))
(assert (forall ((x Bin) (y Bin)) (=> (next x y) (next (odd x) (even y)))))
(assert (forall ((a Int)) (value one a (+ a 1))))
(assert (forall ((x Bin) (n Int) (a Int))
  (=> (value x (* 2 a) n) (value (even x) (* 4 a) (* 2 n)))))
(assert (forall ((x Bin) (n Int) (a Int))
  (=> (value x (* 2 a) n) (value (odd x) (* 4 a) (+ (* 2 n) 1)))))
(assert (forall ((x Bin) (y Bin) (n Int) (m Int))
  (=> (and (next x y) (value x 0 n) (value y 0 m) (not (= m (+ n 1)))) false)))";
    check(
        text,
        "multiples",
        "(next (odd x) (even y))",
        "(next (odd x) (odd y))",
    );
}

/// Alternating sums: removing the first element changes the sign.
#[test]
fn deeper_elements_may_have_the_other_sign() {
    let text = format!(
        "{LISTS}
(declare-fun sum (Lst Int Bool) Bool)
(declare-fun cut (Lst Lst) Bool)
(assert (sum nil 0 true))
(assert (forall ((h Int) (x Lst) (n Int) (b Bool))
  (=> (sum x n b) (sum (cons h x) (+ n (ite b h (- h))) (not b)))))
(assert (forall ((g Int) (x Lst)) (cut (cons g (cons g x)) x)))
(assert (forall ((x Lst) (y Lst) (n Int) (m Int) (b Bool) (c Bool))
  (=> (and (cut x y) (sum x n b) (sum y m c) (not (= n m))) false)))"
    );
    check(
        &text,
        "multiples",
        "(cons g (cons g x))",
        "(cons g (cons (+ g 1) x))",
    );
}

#[test]
fn weights_of_trees_are_functions() {
    let text = format!(
        "{TREES}
(declare-fun mirror (Tree Tree) Bool)
(declare-fun weigh (Tree Int) Bool)
(assert (mirror leaf leaf))
(assert (forall ((l Tree) (r Tree) (k Tree) (s Tree) (v Int))
  (=> (and (mirror l k) (mirror r s)) (mirror (node l v r) (node s v k)))))
(assert (weigh leaf 1))
(assert (forall ((l Tree) (r Tree) (v Int) (n Int) (m Int))
  (=> (and (weigh l n) (weigh r m)) (weigh (node l v r) (+ n m (* 2 v))))))
(assert (forall ((t Tree) (u Tree) (n Int) (m Int))
  (=> (and (mirror t u) (weigh t n) (weigh u m) (not (= n m))) false)))"
    );
    check(&text, "functions", "(node s v k)", "(node s (+ v 1) k)");
}

/// The function of the file is none of the other codes.
#[test]
fn functions_of_the_file_are_codes() {
    let text = format!(
        "{LISTS}
(declare-fun app (Lst Lst Lst) Bool)
(declare-fun positive (Lst Int) Bool)
(assert (forall ((y Lst)) (app nil y y)))
(assert (forall ((h Int) (x Lst) (y Lst) (z Lst)) (=> (app x y z) (app (cons h x) y (cons h z)))))
(assert (positive nil 0))
(assert (forall ((h Int) (x Lst) (n Int))
  (=> (positive x n) (positive (cons h x) (ite (> h 0) (+ n 1) n)))))
(assert (forall ((x Lst) (y Lst) (z Lst) (n Int) (m Int) (k Int))
  (=> (and (app x y z) (positive x n) (positive y m) (positive z k) (not (= k (+ n m)))) false)))"
    );
    check(
        &text,
        "functions",
        "(app nil y y)",
        "(app nil y (cons 3 y))",
    );
}

/// A function that looks at the next element has its companions.
#[test]
fn order_is_a_function_of_neighbours() {
    let text = format!(
        "{LISTS}
(declare-fun insert (Int Lst Lst) Bool)
(declare-fun sorted (Lst Bool) Bool)
(assert (forall ((e Int)) (insert e nil (cons e nil))))
(assert (forall ((e Int) (h Int) (x Lst))
  (=> (<= e h) (insert e (cons h x) (cons e (cons h x))))))
(assert (forall ((e Int) (h Int) (x Lst) (y Lst))
  (=> (and (> e h) (insert e x y)) (insert e (cons h x) (cons h y)))))
(assert (sorted nil true))
(assert (forall ((h Int)) (sorted (cons h nil) true)))
(assert (forall ((g Int) (h Int) (x Lst) (b Bool))
  (=> (sorted (cons h x) b) (sorted (cons g (cons h x)) (and (<= g h) b)))))
(assert (forall ((e Int) (x Lst) (y Lst))
  (=> (and (sorted x true) (insert e x y) (sorted y false)) false)))"
    );
    check(&text, "functions", "(<= e h)", "(<= e (+ h 1))");
}

/// Sorting by parts needs bounds of all elements, which no function of the file gives.
#[test]
fn bounds_of_elements_are_codes() {
    let text = format!(
        "{LISTS}
(declare-fun below (Lst Int) Bool)
(declare-fun app (Lst Lst Lst) Bool)
(declare-fun in (Int Lst) Bool)
(assert (forall ((p Int)) (below nil p)))
(assert (forall ((h Int) (x Lst) (p Int)) (=> (and (below x p) (<= h p)) (below (cons h x) p))))
(assert (forall ((y Lst)) (app nil y y)))
(assert (forall ((h Int) (x Lst) (y Lst) (z Lst)) (=> (app x y z) (app (cons h x) y (cons h z)))))
(assert (forall ((h Int) (x Lst)) (in h (cons h x))))
(assert (forall ((e Int) (h Int) (x Lst)) (=> (in e x) (in e (cons h x)))))
(assert (forall ((x Lst) (y Lst) (z Lst) (p Int) (e Int))
  (=> (and (below x p) (below y p) (app x y z) (in e z) (> e p)) false)))"
    );
    check(&text, "order", "(<= h p)", "(<= h (+ p 1))");
}

#[test]
fn terms_need_no_code_where_nothing_depends_on_them() {
    let text = format!(
        "{LISTS}
(declare-fun run (Lst Int) Bool)
(assert (run nil 0))
(assert (forall ((h Int) (x Lst) (n Int)) (=> (run x n) (run (cons h x) (+ n 2)))))
(assert (forall ((x Lst) (n Int)) (=> (and (run x n) (< n 0)) false)))"
    );
    check(&text, "nothing", "(< n 0)", "(= n 4)");
}

/// Differences of numerals are those of their sizes, which the certificate proves.
#[test]
fn numerals_differ_as_their_sizes() {
    let text = format!(
        "{NUMBERS}
(declare-fun plus (Nat Nat Nat) Bool)
(assert (forall ((y Nat)) (plus zero y y)))
(assert (forall ((x Nat) (y Nat) (z Nat)) (=> (plus x y z) (plus (succ x) y (succ z)))))
(assert (forall ((x Nat) (y Nat) (z Nat) (w Nat))
  (=> (and (plus x y z) (plus y x w) (not (= z w))) false)))"
    );
    check(
        &text,
        "sizes",
        "(plus zero y y)",
        "(plus zero y (succ zero))",
    );
}

/// Selectors, testers and `ite` between terms are translated to codes.
#[test]
fn selectors_and_testers_open_terms() {
    let text = format!(
        "{LISTS}
(declare-fun drop (Lst Int Lst) Bool)
(declare-fun len (Lst Int) Bool)
(assert (forall ((x Lst) (y Lst) (n Int))
  (=> (and (>= n 0) (= y (ite (and ((_ is cons) x) (> n 0)) (tail x) x))) (drop x n y))))
(assert (forall ((x Lst)) (=> (not ((_ is cons) x)) (len x 0))))
(assert (forall ((x Lst) (n Int)) (=> (and ((_ is cons) x) (len (tail x) n)) (len x (+ n 1)))))
(assert (forall ((x Lst) (y Lst) (n Int) (m Int))
  (=> (and (drop x 1 y) (len x n) (len y m) (not (or (= n (+ m 1)) (= n m 0)))) false)))"
    );
    check(&text, "sizes", "(> n 0)", "(> n 1)");
}

/// Trees and forests have codes together.
#[test]
fn mutually_recursive_datatypes_have_codes() {
    let text = "(declare-datatypes ((Rose 0) (Forest 0))
  (((rose (weight Int) (children Forest))) ((empty) (grow (tree Rose) (trees Forest)))))
(declare-fun sum (Rose Int) Bool)
(declare-fun sums (Forest Int) Bool)
(declare-fun more (Rose Rose) Bool)
(declare-fun mores (Forest Forest) Bool)
(assert (forall ((w Int) (f Forest) (n Int)) (=> (sums f n) (sum (rose w f) (+ w n)))))
(assert (sums empty 0))
(assert (forall ((t Rose) (f Forest) (n Int) (m Int))
  (=> (and (sum t n) (sums f m)) (sums (grow t f) (+ n m)))))
(assert (forall ((w Int) (f Forest) (g Forest)) 
  (=> (mores f g) (more (rose w f) (rose (+ w 1) g)))))
(assert (mores empty empty))
(assert (forall ((t Rose) (u Rose) (f Forest) (g Forest))
  (=> (and (more t u) (mores f g)) (mores (grow t f) (grow u g)))))
(assert (forall ((t Rose) (u Rose) (n Int) (m Int))
  (=> (and (more t u) (sum t n) (sum u m) (>= n m)) false)))";
    let good = "(rose (+ w 1) g)";
    let (word, by_counts) = answer(text, "counts");
    let (other, by_functions) = answer(text, "functions");
    assert_eq!((word, other), ("sat", "sat"));
    assert!(by_counts || by_functions);
    assert_eq!(
        answer(&text.replace(good, "(rose w g)"), "counts").0,
        "unsat"
    );
}

/// Random families of functional programs: no wrong answer.
#[test]
fn planted_families_have_their_status() {
    let mut random = Random::new(5);
    let mut solved = 0;
    for (name, family) in planted::FAMILIES {
        let (safe, unsafe_) = family(&mut random);
        for (text, wrong) in [(safe, "unsat"), (unsafe_, "sat")] {
            let word = alphorn::internal::answer("cata", &text, Duration::from_millis(1500));
            assert_ne!(word, wrong, "{name}: {text}");
            solved += usize::from(word != "unknown");
        }
    }
    assert!(solved >= 4, "{solved} solved");
}

/// All codes of random terms are admissible, and the functions of a model compute them.
#[test]
fn codes_of_terms_are_admissible() {
    let text = format!(
        "(set-logic HORN) {TREES}
(declare-fun weigh (Tree Int) Bool)
(assert (weigh leaf 3))
(assert (forall ((l Tree) (r Tree) (v Int) (n Int) (m Int))
  (=> (and (weigh l n) (weigh r m)) (weigh (node l v r) (ite (> n m) (+ n 1) (+ m 1))))))
(assert (forall ((t Tree) (n Int)) (=> (and (weigh t n) (< n 3)) false)))
(check-sat)"
    );
    let terms = Rc::new(TermStore::new());
    let problem = parse(&text, terms.clone()).expect("it is a task");
    let (system, _) = normalize(&problem);
    let mut cx = Context::new(terms.clone());
    let smt = Smt::within(&cx.budget);
    let maker = Maker::new(&system, &smt, &mut cx);
    let mut found = 0;
    for template in Template::ORDER {
        let Some(encoder) = maker.encoder(template, &mut cx) else {
            continue;
        };
        found += 1;
        assert!(Abstraction::new(&system, &encoder, &cx).is_some());
        let id = terms.datatype_ids().next().expect("trees");
        let mut random = Random::new(11);
        for _ in 0..60 {
            let code = random_code(&encoder, &terms, &mut random, 5);
            let admissible = encoder.admissible(id, &code);
            let value = evaluate(&terms, admissible, &Assignment::default());
            assert_eq!(value, Some(TermId::TRUE), "{}", template.name());
        }
    }
    assert_eq!(found, 6, "all templates are different here");
}

/// The code of a random tree, by the encoder's cases.
fn random_code(
    encoder: &Encoder,
    terms: &TermStore,
    random: &mut Random,
    depth: u32,
) -> Vec<TermId> {
    let id = terms.datatype_ids().next().expect("trees");
    if depth == 0 || random.one_in(3) {
        return encoder.construct(id, 0, &[]);
    }
    let left = random_code(encoder, terms, random, depth - 1);
    let right = random_code(encoder, terms, random, depth - 1);
    let value = terms.int(random.between(-5, 5));
    encoder.construct(id, 1, &[left, vec![value], right])
}
