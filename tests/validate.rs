//! Planted witnesses: wrong ones are rejected wherever they come from, correct ones are accepted.

// Helpers of tests.
#![allow(clippy::unwrap_used)]

#[path = "common/asked.rs"]
mod asked;
#[path = "common/corpus.rs"]
mod corpus;
#[path = "validate/text.rs"]
mod text;

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use alphorn::chc::{Atom, ClauseId, PredicateId};
use alphorn::frontend::{Problem, parse_bytes};
use alphorn::run::Context;
use alphorn::run::Reason;
use alphorn::term::{Rational, Sort, SortId, TermId, TermStore};
use alphorn::witness::{
    CheckOutcome, Fact, Model, ProofFormat, Refutation, Validated, Verdict, Wanted, check_claim,
    parse_witness, validate,
};
use alphorn::{Config, solve};
use asked::asked;
use corpus::trials::{PATIENCE, on_all};
use corpus::{Task, run, tasks};

fn read(text: &str) -> Problem {
    parse_bytes(asked(text).as_bytes(), Rc::new(TermStore::new())).expect("a problem")
}

fn context(problem: &Problem) -> Context {
    let mut cx = Context::new(problem.terms.clone());
    cx.budget = cx.budget.time(PATIENCE);
    cx
}

fn solved(problem: &Problem) -> Validated {
    solve(problem, &Config::default(), &mut context(problem)).expect("a configuration")
}

/// The outcome of the check of a printed witness; `None` if it cannot be read.
fn judge(problem: &Problem, witness: &str) -> Option<CheckOutcome> {
    let claim = parse_witness(problem, witness).ok()?;
    Some(check_claim(problem, &claim, &mut context(problem)))
}

/// As [`judge`], within a limit of work.
fn judge_within(limit: Duration, problem: &Problem, witness: &str) -> Option<CheckOutcome> {
    let claim = parse_witness(problem, witness).ok()?;
    let mut cx = context(problem);
    cx.budget = cx.budget.work(limit);
    Some(check_claim(problem, &claim, &mut cx))
}

// ---- how a failure is reported ----

thread_local! {
    static DEFECTS: Cell<usize> = const { Cell::new(0) };
}

/// Counts the defects that the running test logs.
struct Defects;

impl log::Log for Defects {
    fn enabled(&self, _: &log::Metadata) -> bool {
        true
    }

    fn log(&self, record: &log::Record) {
        if record.level() == log::Level::Error && record.args().to_string().starts_with("defect") {
            DEFECTS.set(DEFECTS.get() + 1);
        }
    }

    fn flush(&self) {}
}

fn count_defects() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        log::set_logger(&Defects).expect("the only logger");
        log::set_max_level(log::LevelFilter::Error);
    });
    DEFECTS.set(0);
}

/// Checks that the answer is accepted and printed as a verdict.
#[track_caller]
fn passes(problem: &Problem, verdict: Verdict) {
    let mut cx = context(problem);
    let validated = validate(problem, verdict, &mut cx);
    assert_eq!(validated.reason(), None);
    assert_eq!(cx.stats.count("witness.failures"), 0);
}

/// Checks that the answer is rejected: `unknown`, a defect in the log, and a count that is not zero.
#[track_caller]
fn fails(problem: &Problem, verdict: Verdict) {
    count_defects();
    let shown = format!("{verdict:?}");
    let mut cx = context(problem);
    let validated = validate(problem, verdict, &mut cx);
    let reason = validated.reason();
    assert!(
        matches!(reason, Some(Reason::WitnessFailed(_))),
        "{reason:?} for {shown}"
    );
    let wanted = Wanted {
        model: true,
        proof: Some(ProofFormat::Text),
        ..Wanted::default()
    };
    let output = validated.output(problem, wanted);
    assert_eq!((output.word(), output.details()), ("unknown", ""));
    assert_eq!(cx.stats.count("witness.failures"), 1);
    assert_eq!(DEFECTS.get(), 1);
}

// ---- models ----

/// A satisfiable problem with correct and wrong models. A model has a formula over `a0`, `a1`, … for
/// each predicate of the text.
struct Case {
    text: &'static str,
    good: &'static [&'static [&'static str]],
    bad: &'static [&'static [&'static str]],
}

const CASES: &[Case] = &[
    Case {
        text: "(set-logic HORN) (declare-fun P (Int) Bool)
            (assert (forall ((x Int)) (=> (= x 0) (P x))))
            (assert (forall ((x Int) (y Int)) (=> (and (P x) (= y (+ x 1))) (P y))))
            (assert (forall ((x Int)) (=> (and (P x) (< x 0)) false)))
            (check-sat)",
        good: &[
            &["(>= a0 0)"],
            &["(not (< a0 0))"],
            &["(exists ((k Int)) (and (= k a0) (>= k 0)))"],
            // True for each value of a division by zero.
            &["(and (>= a0 0) (or (> (div a0 0) 3) (<= (div a0 0) 3)))"],
        ],
        bad: &[
            // Excludes the initial state, includes the error, is not inductive.
            &["(>= a0 1)"],
            &["(>= a0 (- 1))"],
            &["(<= 0 a0 7)"],
            &["(= a0 0)"],
            &["true"],
            &["false"],
            // True for some values of a division by zero only.
            &["(or (>= a0 0) (= (div a0 0) 7))"],
            &["(and (>= a0 0) (distinct (mod a0 0) 7))"],
            &["(>= a0 (div 0 0))"],
        ],
    },
    Case {
        text: "(set-logic HORN) (declare-fun P (Int Int) Bool) (declare-fun |Q q| (Int) Bool)
            (assert (forall ((x Int)) (P x x)))
            (assert (forall ((x Int) (y Int) (z Int)) (=> (and (P x y) (P y z)) (P x (+ z 1)))))
            (assert (forall ((x Int) (y Int)) (=> (P x y) (|Q q| (- y x)))))
            (assert (forall ((x Int)) (=> (|Q q| x) (>= x 0))))
            (check-sat)",
        good: &[&["(<= a0 a1)", "(>= a0 0)"]],
        bad: &[
            &["(< a0 a1)", "(>= a0 0)"],
            &["(<= a0 a1)", "(> a0 0)"],
            &["(<= a0 a1)", "true"],
            &["(>= a0 a1)", "(>= a0 0)"],
            &["true", "(>= a0 0)"],
            &["(<= a0 a1 (+ a0 1))", "(>= a0 0)"],
        ],
    },
    Case {
        text: "(set-logic HORN) (declare-fun P ((_ BitVec 8)) Bool)
            (assert (P #x00))
            (assert (forall ((x (_ BitVec 8))) (=> (P x) (P (bvadd x #x02)))))
            (assert (forall ((x (_ BitVec 8))) (=> (and (P x) (= x #x33)) false)))
            (check-sat)",
        good: &[
            &["(= ((_ extract 0 0) a0) #b0)"],
            // Division of bit-vectors by zero has a fixed value.
            &["(and (= (bvand a0 #x01) #x00) (= (bvudiv a0 #x00) #xff))"],
        ],
        bad: &[
            &["(= ((_ extract 1 0) a0) #b00)"],
            &["(bvult a0 #x33)"],
            // The sum wraps around.
            &["(and (= (bvand a0 #x01) #x00) (bvuge a0 #x00) (bvule a0 #x32))"],
            &["(and (= (bvand a0 #x01) #x00) (= (bvudiv a0 #x00) #x00))"],
        ],
    },
    Case {
        text: "(set-logic HORN) (declare-fun P ((Array Int Int)) Bool)
            (assert (P ((as const (Array Int Int)) 0)))
            (assert (forall ((a (Array Int Int)) (i Int)) (=> (P a) (P (store a i 0)))))
            (assert (forall ((a (Array Int Int)) (i Int))
                (=> (and (P a) (= (select a 3) 1)) false)))
            (check-sat)",
        good: &[
            &["(forall ((k Int)) (= (select a0 k) 0))"],
            &["(= a0 ((as const (Array Int Int)) 0))"],
            &["(= (select a0 3) 0)"],
        ],
        bad: &[
            &["(= (select a0 2) 0)"],
            &["(= a0 ((as const (Array Int Int)) 1))"],
            &["(= a0 (store a0 3 1))"],
            &["(forall ((k Int)) (=> (> k 3) (= (select a0 k) 0)))"],
        ],
    },
    Case {
        text: "(set-logic HORN) (declare-fun P (Real) Bool)
            (assert (P 1.0))
            (assert (forall ((x Real)) (=> (P x) (P (/ x 2.0)))))
            (assert (forall ((x Real)) (=> (and (P x) (<= x 0.0)) false)))
            (check-sat)",
        good: &[&["(> a0 0.0)"], &["(and (> a0 0.0) (<= a0 1.0))"]],
        bad: &[
            &["(>= a0 0.0)"],
            &["(> a0 (/ 1.0 1000000000000000000000000000000.0))"],
            &["(> a0 (/ 1.0 0.0))"],
            &["(and (> a0 0.0) (< a0 1.0))"],
        ],
    },
    Case {
        text: "(set-logic HORN)
            (declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))
            (declare-fun P (L) Bool)
            (assert (P nil))
            (assert (forall ((l L)) (=> (P l) (P (cons 1 l)))))
            (assert (forall ((x Int) (l L)) (=> (and (P (cons x l)) (distinct x 1)) false)))
            (check-sat)",
        good: &[
            &["(or ((_ is nil) a0) (= (hd a0) 1))"],
            &["(=> ((_ is cons) a0) (= (hd a0) 1))"],
        ],
        bad: &[
            // True only if the head of the empty list is 1.
            &["(= (hd a0) 1)"],
            &["((_ is nil) a0)"],
            &["(or ((_ is nil) a0) (= (hd a0) 1) (= (hd (as nil L)) 2))"],
            &["(or ((_ is nil) a0) (= (hd a0) 2))"],
        ],
    },
    Case {
        text: "(declare-rel P (Int)) (declare-rel Q ())
            (declare-var x Int) (declare-var y Int)
            (rule (P 0))
            (rule (=> (and (P x) (= y (+ x 2))) (P y)))
            (rule (=> (P 13) Q))
            (query Q)",
        good: &[&["(= (mod a0 2) 0)", "false"]],
        bad: &[
            &["(= (mod a0 2) 0)", "true"],
            &["true", "false"],
            &["(= (mod a0 4) 0)", "false"],
            &["(>= a0 0)", "false"],
        ],
    },
];

/// The model as a solver would print it.
fn model_text(problem: &Problem, formulas: &[&str]) -> String {
    let printer = alphorn::term::Printer::new(&problem.terms);
    let mut text = String::from("(\n");
    for (predicate, formula) in problem.predicates.iter().zip(formulas) {
        let params = predicate.params.iter().enumerate();
        let params: Vec<String> = params
            .map(|(i, &p)| format!("(a{i} {})", printer.sort(problem.terms.sort_of(p))))
            .collect();
        text.push_str(&format!(
            "(define-fun |{}| ({}) Bool {formula})\n",
            predicate.name,
            params.join(" ")
        ));
    }
    text.push_str(")\n");
    text
}

/// A problem and a model of its predicates as an engine would return it: the formulas are read with
/// the problem, as constraints of additional clauses, which are then removed.
fn with_model(text: &str, formulas: &[&str]) -> (Problem, Model) {
    let alone = read(text);
    let printer = alphorn::term::Printer::new(&alone.terms);
    let mut extra = String::new();
    for (predicate, formula) in alone.predicates.iter().zip(formulas) {
        let names: String = (0..predicate.arity()).map(|i| format!(" a{i}")).collect();
        let sorts = predicate.params.iter().enumerate();
        let sorts: String = sorts
            .map(|(i, &p)| format!("(a{i} {})", printer.sort(alone.terms.sort_of(p))))
            .collect();
        let head = match predicate.arity() {
            0 => format!("|{}|", predicate.name),
            _ => format!("(|{}|{names})", predicate.name),
        };
        // With `true`, a formula that is an implication stays part of the body.
        let clause = format!("(=> (and true {formula}) {head})");
        extra.push_str(&match (text.contains("(rule"), predicate.arity()) {
            (false, 0) => format!("(assert {clause})\n"),
            (false, _) => format!("(assert (forall ({sorts}) {clause}))\n"),
            (true, 0) => format!("(rule {clause})\n"),
            (true, _) => format!("(rule (forall ({sorts}) {clause}))\n"),
        });
    }
    // Clauses after the check would be ignored.
    let question = text.find("(check-sat)").or(text.find("(query"));
    let (before, after) = text.split_at(question.expect("a question"));
    let extended = read(&format!("{before}{extra}{after}"));
    let terms = &extended.terms;
    let added = |command: usize| {
        let range = &extended.commands[command].range;
        (before.len()..before.len() + extra.len()).contains(&range.start)
    };
    let mut model = Model::default();
    for (index, _) in extended.predicates.iter().enumerate() {
        // A valid clause is dropped.
        let predicate = PredicateId(u32::try_from(index).expect("few"));
        model.definitions.insert(predicate, TermId::FALSE);
    }
    for clause in extended.clauses.iter().filter(|c| added(c.command)) {
        let head = clause.head.as_ref().expect("a head");
        let index = head.predicate.index();
        let params = &extended.predicates[index].params;
        let map = head.args.iter().copied().zip(params.iter().copied());
        let formula = terms.substitute(clause.constraint, &map.collect());
        // The reader has replaced an `exists` by variables of the clause.
        let mut rest = terms.free_vars(&[formula]);
        rest.retain(|var| !params.contains(var));
        let formula = terms.exists(&rest, formula);
        model.definitions.insert(head.predicate, formula);
    }
    let old: Vec<usize> = (0..extended.commands.len())
        .filter(|&c| !added(c))
        .collect();
    let mut clauses = extended.clauses.clone();
    clauses.retain(|clause| !added(clause.command));
    for clause in &mut clauses {
        clause.command = old.iter().position(|&c| c == clause.command).expect("kept");
    }
    let problem = Problem {
        terms: terms.clone(),
        text: extended.text.clone(),
        dialect: alone.dialect,
        clauses,
        commands: old.iter().map(|&c| extended.commands[c].clone()).collect(),
        predicates: extended.predicates,
        disjunctions: Vec::new(),
        functions: extended.functions,
        free_sorts: Vec::new(),
        constants: Vec::new(),
        complemented: alone.complemented,
        is_stronger: false,
        requests: alone.requests,
        warnings: alone.warnings,
        heap: alone.heap,
    };
    (problem, model)
}

#[test]
fn good_models_pass_and_wrong_ones_fail() {
    for case in CASES {
        for formulas in case.good {
            let (problem, model) = with_model(case.text, formulas);
            passes(&problem, Verdict::Sat(model));
        }
        for formulas in case.bad {
            let (problem, model) = with_model(case.text, formulas);
            fails(&problem, Verdict::Sat(model));
        }
    }
}

#[test]
fn models_from_elsewhere_are_judged_alike() {
    for case in CASES {
        let problem = read(case.text);
        for formulas in case.good {
            let text = model_text(&problem, formulas);
            assert_eq!(judge(&problem, &text), Some(CheckOutcome::Valid), "{text}");
            // A formula for each predicate is needed.
            for missing in 0..formulas.len() {
                let text: String = text
                    .lines()
                    .enumerate()
                    .filter(|(line, _)| *line != missing + 1)
                    .map(|(_, line)| line)
                    .collect();
                let outcome = judge(&problem, &text);
                assert!(
                    !matches!(
                        outcome,
                        Some(CheckOutcome::Valid | CheckOutcome::Undecided { .. })
                    ),
                    "{text}"
                );
            }
        }
        for formulas in case.bad {
            let text = model_text(&problem, formulas);
            let outcome = judge(&problem, &text);
            assert!(matches!(outcome, Some(CheckOutcome::Invalid(_))), "{text}");
        }
    }
}

#[test]
fn what_is_no_formula_over_the_arguments_fails() {
    let (problem, good) = with_model(CASES[1].text, CASES[1].good[0]);
    passes(&problem, Verdict::Sat(good.clone()));
    let terms = problem.terms.clone();
    let other = terms.var("other", SortId::INT);
    let names: Vec<_> = good.definitions.keys().copied().collect();
    for predicate in names {
        let change = |formula: Option<TermId>| {
            let mut model = good.clone();
            match formula {
                Some(formula) => model.definitions.insert(predicate, formula),
                None => model.definitions.remove(&predicate),
            };
            Verdict::Sat(model)
        };
        let formula = good.definitions[&predicate];
        // A formula over a variable that is not an argument, or an argument of another predicate.
        let foreign = terms.and(&[
            formula,
            terms.le(other, other),
            terms.le(other, terms.int(3)),
        ]);
        fails(&problem, change(Some(foreign)));
        let elsewhere = problem.predicates[1 - predicate.index()].params[0];
        let foreign = terms.or(&[formula, terms.eq(elsewhere, terms.int(3))]);
        fails(&problem, change(Some(foreign)));
        // A term that is not a formula, and a missing formula: the default `true` is not a model.
        fails(&problem, change(Some(terms.int(1))));
        fails(&problem, change(None));
    }
    fails(&problem, Verdict::Sat(Model::default()));
}

#[test]
fn a_predicate_in_no_clause_needs_no_formula() {
    let text = CASES[0].text.replace(
        "(assert (forall ((x Int)) (=> (= x 0)",
        "(declare-fun unused (Int (Array Int Bool)) Bool) (assert (forall ((x Int)) (=> (= x 0)",
    );
    let (problem, mut model) = with_model(&text, &["(>= a0 0)", "true"]);
    model.definitions.retain(|p, _| p.index() == 0);
    passes(&problem, Verdict::Sat(model));
}

#[test]
fn no_model_passes_for_clauses_without_one() {
    let text = "(set-logic HORN) (declare-fun P (Int) Bool)
        (assert (forall ((x Int)) (=> (= x 0) (P x))))
        (assert (forall ((x Int)) (=> (P x) (P (+ x 1)))))
        (assert (forall ((x Int)) (=> (and (P x) (> x 9)) false)))
        (check-sat)";
    for formula in [
        "true",
        "false",
        "(<= 0 a0 9)",
        "(<= a0 9)",
        "(> (div a0 0) 0)",
    ] {
        let (problem, model) = with_model(text, &[formula]);
        fails(&problem, Verdict::Sat(model));
    }
}

#[test]
fn what_is_too_hard_to_check_is_no_verdict_and_no_defect() {
    // A prime has no factors.
    let text = "(set-logic HORN) (declare-fun P ((_ BitVec 64) (_ BitVec 64)) Bool)
        (assert (forall ((x (_ BitVec 64)) (y (_ BitVec 64)))
          (=> (and (bvult #x0000000000000001 x) (bvult x #x0000000100000000)
                   (bvult #x0000000000000001 y) (bvult y #x0000000100000000)) (P x y))))
        (assert (forall ((x (_ BitVec 64)) (y (_ BitVec 64)))
          (=> (and (P x y) (= (bvmul x y) #x1fffffffffffffff)) false)))
        (check-sat)";
    let formula = "(and (bvult #x0000000000000001 a0) (bvult a0 #x0000000100000000)
                        (bvult #x0000000000000001 a1) (bvult a1 #x0000000100000000))";
    let (problem, model) = with_model(text, &[formula]);
    let mut cx = context(&problem);
    cx.budget = cx.budget.time(Duration::from_millis(500));
    let validated = validate(&problem, Verdict::Sat(model), &mut cx);
    assert_eq!(
        validated.output(&problem, Wanted::default()).word(),
        "unknown"
    );
    assert_eq!(cx.stats.count("witness.failures"), 0);
}

/// Definitions that our scanner and Z3's would split at different places. For Z3, each defines a
/// function `f` that is equal to its negation, from which everything follows.
#[test]
fn definitions_cannot_hide_others() {
    let problem = read(
        "(set-logic HORN) (declare-fun P (Int) Bool)
         (assert (forall ((x Int)) (=> (= x 0) (P x))))
         (assert (forall ((x Int)) (=> (and (P x) (= x 0)) false)))
         (check-sat)",
    );
    let hidden = "(define-fun-rec f ((z Int)) Bool (not (f z)))";
    let last = "(define-fun P ((x Int)) Bool (f x))";
    for (before, after) in [
        // A block comment for Z3.
        ("(and #|x| |# true))", "(and true ; |\n true))"),
        // Not the end of the comment for Z3.
        ("(and ; c \r | \n true))", "(and true ; |\n true))"),
        // Not the end of the symbol for Z3.
        ("(let ((|a\\| | true)) true))", "(and true ; | ))\n true))"),
    ] {
        let text =
            format!("(define-fun a () Bool {before} {hidden} (define-fun b () Bool {after} {last}");
        assert_eq!(judge(&problem, &text), None, "{text}");
    }
    // It is also refused if it is not hidden, and so are names of sub-formulas that clash with
    // symbols of the problem.
    assert_eq!(judge(&problem, &format!("{hidden} {last}")), None);
    let named = "(define-fun P ((x Int)) Bool (! true :named =))";
    assert!(!matches!(judge(&problem, named), Some(CheckOutcome::Valid)));
    // Symbols that occur only in the script of the check must not be defined either.
    let rules = read("(declare-rel bad ()) (rule bad) (query bad)");
    for definition in [
        "(define-fun => ((x Bool) (y Bool)) Bool true)",
        "(define-fun false () Bool true)",
    ] {
        let text = format!("{definition} (define-fun bad () Bool true)");
        assert!(
            !matches!(judge(&rules, &text), Some(CheckOutcome::Valid)),
            "{text}"
        );
    }
}

// ---- refutations ----

const UNSAFE: &[&str] = &[
    "(set-logic HORN) (declare-fun P (Int Int) Bool) (declare-fun Q (Int) Bool)
     (assert (forall ((x Int)) (=> (= x 0) (P x 5))))
     (assert (forall ((x Int) (y Int) (z Int)) (=> (and (P x y) (= z (+ x 1))) (P z (- y 1)))))
     (assert (forall ((x Int) (y Int)) (=> (and (P x y) (P y x) (> x 2)) (Q (+ x y)))))
     (assert (forall ((x Int)) (=> (and (Q x) (= x 5)) false)))
     (check-sat)",
    "(set-logic HORN) (declare-fun P ((_ BitVec 4) Bool) Bool)
     (assert (P #x1 true))
     (assert (forall ((x (_ BitVec 4)) (b Bool)) (=> (P x b) (P (bvmul x #x3) (not b)))))
     (assert (forall ((x (_ BitVec 4))) (=> (and (P x false) (bvugt x #x8)) false)))
     (check-sat)",
    "(set-logic HORN) (declare-fun P ((Array Int Int) Int) Bool)
     (assert (P ((as const (Array Int Int)) 0) 0))
     (assert (forall ((a (Array Int Int)) (i Int)) (=> (P a i) (P (store a i (+ i 1)) (+ i 1)))))
     (assert (forall ((a (Array Int Int)) (i Int)) (=> (and (P a i) (> (select a 1) 1)) false)))
     (check-sat)",
    "(set-logic HORN) (declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))
     (declare-fun P (L) Bool)
     (assert (P nil))
     (assert (forall ((l L) (x Int)) (=> (and (P l) (> x 0)) (P (cons x l)))))
     (assert (forall ((l L)) (=> (and (P l) ((_ is cons) l) ((_ is cons) (tl l))) false)))
     (check-sat)",
    "(declare-rel P (Real)) (declare-rel bad ())
     (declare-var x Real)
     (rule (P 1.0))
     (rule (=> (P x) (P (/ x 3.0))))
     (rule (=> (and (P x) (< x 0.2)) bad))
     (query bad)",
];

fn refutation_of(problem: &Problem) -> Refutation {
    match solved(problem).verdict() {
        Verdict::Unsat(refutation) => refutation.clone(),
        other => panic!("{other:?}"),
    }
}

/// A different value of the same sort.
fn another(terms: &TermStore, value: TermId) -> Option<TermId> {
    let sort = terms.sort_of(value);
    Some(match terms.sort(sort) {
        Sort::Bool => terms.not(value),
        Sort::Int => terms.add(&[value, terms.int(1)]),
        Sort::Real => terms.add(&[value, terms.real(Rational::from_integer(1.into()))]),
        Sort::BitVec(width) => {
            let zero = terms.bitvec(0u32.into(), width);
            let one = terms.bitvec(1u32.into(), width);
            if value == zero { one } else { zero }
        }
        Sort::Array(..) => {
            let (_, default) = terms.array_value(value);
            terms.const_array(sort, another(terms, default)?)
        }
        Sort::Datatype(..) => terms.default_value(sort).filter(|&v| v != value)?,
    })
}

/// The refutation with one mistake each, for mistakes that are wrong for any clauses, with a
/// description of the mistake.
fn broken(problem: &Problem, good: &Refutation) -> Vec<(String, Refutation)> {
    let terms = &problem.terms;
    let mut all: Vec<(String, Refutation)> = Vec::new();
    let mut add = |what: String, change: &dyn Fn(&mut Refutation)| {
        let mut refutation = good.clone();
        change(&mut refutation);
        all.push((what, refutation));
    };
    add("no steps".to_owned(), &|r| r.steps.clear());
    add("no contradiction".to_owned(), &|r| drop(r.steps.pop()));
    for (i, step) in good.steps.iter().enumerate() {
        let clause = &problem.clauses[step.clause.0 as usize];
        let outside = u32::try_from(problem.clauses.len()).expect("few");
        add(format!("{i}: no such clause"), &|r| {
            r.steps[i].clause = ClauseId(outside)
        });
        for (other, replaced) in problem.clauses.iter().enumerate() {
            let head = |head: &Option<Atom>| head.as_ref().map(|atom| atom.predicate);
            if head(&replaced.head) != head(&clause.head) {
                let id = ClauseId(u32::try_from(other).expect("few"));
                add(format!("{i}: clause {other}"), &|r| r.steps[i].clause = id);
            }
        }
        for (name, var) in &clause.vars {
            add(format!("{i}: no {name}"), &|r| {
                r.steps[i].values.remove(var);
            });
            let other_sort = if terms.sort_of(*var) == SortId::BOOL {
                terms.int(0)
            } else {
                TermId::TRUE
            };
            add(format!("{i}: {name} of another sort"), &|r| {
                r.steps[i].values.insert(*var, other_sort);
            });
            add(format!("{i}: {name} no value"), &|r| {
                r.steps[i].values.insert(*var, *var);
            });
            // A variable that is an argument determines a fact.
            let mut atoms = clause.body.iter().chain(&clause.head);
            if atoms.any(|atom| atom.args.contains(var))
                && let Some(value) = another(terms, step.values[var])
            {
                add(format!("{i}: another {name}"), &|r| {
                    r.steps[i].values.insert(*var, value);
                });
            }
        }
        for position in 0..step.premises.len() {
            let old = step.premises[position];
            add(format!("{i}: itself as premise"), &|r| {
                r.steps[i].premises[position] = i
            });
            add(format!("{i}: a later premise"), &|r| {
                r.steps[i].premises[position] = i + 1
            });
            add(format!("{i}: a premise from nowhere"), &|r| {
                r.steps[i].premises[position] = usize::MAX;
            });
            add(format!("{i}: one premise less"), &|r| {
                r.steps[i].premises.remove(position);
            });
            for other in (0..i).filter(|&j| good.steps[j].fact != good.steps[old].fact) {
                add(format!("{i}: premise {other}"), &|r| {
                    r.steps[i].premises[position] = other
                });
            }
        }
        if i > 0 {
            add(format!("{i}: one premise more"), &|r| {
                r.steps[i].premises.push(0)
            });
        }
        match &step.fact {
            Some(fact) => {
                add(format!("{i}: false"), &|r| r.steps[i].fact = None);
                for position in 0..fact.values.len() {
                    if let Some(value) = another(terms, fact.values[position]) {
                        add(format!("{i}: argument {position}"), &|r| {
                            r.steps[i].fact.as_mut().expect("there").values[position] = value;
                        });
                    }
                    add(format!("{i}: an argument less"), &|r| {
                        let fact = r.steps[i].fact.as_mut().expect("there");
                        fact.values.remove(position);
                    });
                }
                add(format!("{i}: an argument more"), &|r| {
                    let fact = r.steps[i].fact.as_mut().expect("there");
                    fact.values.push(TermId::TRUE);
                });
            }
            None => {
                let fact = Fact {
                    predicate: clause.body[0].predicate,
                    values: Vec::new(),
                };
                add(format!("{i}: a fact"), &|r| {
                    r.steps[i].fact = Some(fact.clone())
                });
            }
        }
    }
    all
}

#[test]
fn derivations_pass_and_broken_ones_fail() {
    for text in UNSAFE {
        let problem = read(text);
        let good = refutation_of(&problem);
        passes(&problem, Verdict::Unsat(good.clone()));
        let broken = broken(&problem, &good);
        assert!(broken.len() > 40, "{}", broken.len());
        for (what, refutation) in broken {
            count_defects();
            let mut cx = context(&problem);
            let validated = validate(&problem, Verdict::Unsat(refutation), &mut cx);
            assert!(
                matches!(validated.reason(), Some(Reason::WitnessFailed(_))),
                "{what} in {text}"
            );
            assert_eq!((cx.stats.count("witness.failures"), DEFECTS.get()), (1, 1));
        }
        fails(&problem, Verdict::Unsat(Refutation::default()));
    }
}

#[test]
fn a_step_must_satisfy_its_constraint() {
    // A step with variables that determine no fact, and one with a division by zero.
    for (constraint, good, bad) in [
        ("(> x 3)", "4", "3"),
        ("(= (* x x) 9)", "(- 3)", "9"),
        ("(= (div 7 x) 7)", "1", "0"),
        ("(= (mod x 0) (mod x 0))", "0", ""),
        ("(forall ((k Int)) (distinct x (+ 1 (* 2 k))))", "6", "5"),
        ("(> (div x 0) 0)", "", "1"),
    ] {
        let problem = read(&format!(
            "(set-logic HORN) (declare-fun P () Bool)
             (assert (forall ((x Int)) (=> {constraint} P)))
             (assert (=> P false)) (check-sat)"
        ));
        let text = |x: &str| format!("1: P by clause 1 [x = {x}]\n2: false by clause 2 from 1\n");
        if !good.is_empty() {
            assert_eq!(
                judge(&problem, &text(good)),
                Some(CheckOutcome::Valid),
                "{constraint}"
            );
        }
        if !bad.is_empty() {
            let outcome = judge(&problem, &text(bad));
            assert!(
                matches!(outcome, Some(CheckOutcome::Invalid(_))),
                "{constraint}: {outcome:?}"
            );
        }
    }
}

/// A problem whose clauses differ from its text: no answer about them is accepted.
#[test]
fn a_mistake_of_the_reader_costs_the_answer() {
    let text = |error: &str| {
        format!(
            "(set-logic HORN) (declare-fun P (Int) Bool)
             (assert (forall ((x Int)) (=> (= x 0) (P x))))
             (assert (forall ((x Int) (y Int)) (=> (and (P x) (= y (+ x 1))) (P y))))
             (assert (forall ((x Int)) (=> (and (P x) {error}) false))) (check-sat)"
        )
    };
    for (written, understood, engine) in
        [("(< x 0)", "(> x 1)", "bmc"), ("(> x 1)", "(< x 0)", "pdr")]
    {
        let config = Config {
            engine: engine.to_owned(),
            ..Config::default()
        };
        let mut problem = read(&text(understood));
        let answer = |problem: &Problem| {
            let mut cx = context(problem);
            let validated = solve(problem, &config, &mut cx).expect("a configuration");
            let reason = validated.reason().cloned();
            (reason, cx.stats.count("witness.failures"))
        };
        assert_eq!(answer(&problem), (None, 0));
        problem.text = text(written).into();
        let (reason, failures) = answer(&problem);
        assert!(
            matches!(reason, Some(Reason::WitnessFailed(_))),
            "{reason:?}"
        );
        assert!(failures > 0);
    }
}

// ---- the corpus ----

/// The printed answer of a task, in each form.
fn printed(task: &Task, limit: Duration) -> Option<(Problem, Vec<String>)> {
    let run = run(&task.path, &Config::default(), limit);
    if run.answer.reason().is_some() {
        return None;
    }
    let forms = [ProofFormat::Text, ProofFormat::Json].map(|format| {
        let wanted = Wanted {
            model: true,
            proof: Some(format),
            ..Wanted::default()
        };
        let output = run.answer.output(&run.problem, wanted);
        format!("{}\n{}", output.word(), output.details())
    });
    Some((run.problem, forms.to_vec()))
}

fn read_file(task: &Task) -> Problem {
    let bytes = std::fs::read(&task.path).expect("readable");
    parse_bytes(&bytes, Rc::new(TermStore::new())).expect("a problem")
}

/// A printed witness is accepted for its task, which is read again, and rejected for its twin: a task
/// over the same predicates with the other status.
#[test]
fn printed_witnesses_pass_for_their_task_and_not_for_its_twin() {
    /// One of this number of tasks is checked.
    const STRIDE: usize = 3;
    /// The limit for the twin: its check may be hard, and need not end with an answer.
    const TWIN: Duration = Duration::from_secs(5);
    let all = tasks();
    let chosen: Vec<_> = all.iter().filter(|t| !t.hard).step_by(STRIDE).collect();
    let (answers, twins) = (AtomicUsize::new(0), AtomicUsize::new(0));
    on_all(&chosen, |task| {
        let Some((_, forms)) = printed(task, Duration::from_secs(30)) else {
            return Ok(());
        };
        answers.fetch_add(1, Ordering::SeqCst);
        let (own, other) = if task.safe {
            ("-safe", "-unsafe")
        } else {
            ("-unsafe", "-safe")
        };
        let twin_name = task.name().replace(own, other);
        let twin = all
            .iter()
            .find(|t| t.name() == twin_name && t.safe != task.safe);
        for text in &forms {
            let outcome = judge(&read_file(task), text);
            if outcome != Some(CheckOutcome::Valid) {
                return Err(format!("{}: {outcome:?}\n{text}", task.name()));
            }
            if let Some(twin) = twin {
                let witness = text.split_once('\n').expect("a verdict").1;
                if judge_within(TWIN, &read_file(twin), witness) == Some(CheckOutcome::Valid) {
                    return Err(format!("{twin_name} has the wrong status by\n{witness}"));
                }
                twins.fetch_add(1, Ordering::SeqCst);
            }
        }
        Ok(())
    });
    assert!(answers.into_inner() * 2 >= chosen.len());
    assert!(twins.into_inner() > 50);
}

// ---- sizes of datatypes ----

const REVERSE: &str = "(set-logic HORN)
    (declare-datatypes ((|a list| 0)) (((cons (head Int) (tail |a list|)) (nil))))
    (declare-fun reverse (|a list| |a list| |a list|) Bool)
    (declare-fun length (|a list| Int) Bool)
    (assert (forall ((x |a list|)) (reverse nil x x)))
    (assert (forall ((h Int) (x |a list|) (y |a list|) (z |a list|))
        (=> (reverse x (cons h y) z) (reverse (cons h x) y z))))
    (assert (length nil 0))
    (assert (forall ((h Int) (x |a list|) (n Int)) (=> (length x n) (length (cons h x) (+ n 1)))))
    (assert (forall ((x |a list|) (y |a list|) (z |a list|) (n Int) (m Int) (k Int))
        (=> (and (reverse x y z) (length x n) (length y m) (length z k) (distinct k (+ n m)))
            false)))";

/// The answer with this engine and these passes.
fn answered(text: &str, engine: &str, passes: &str) -> (Problem, Validated) {
    let config = Config {
        engine: engine.to_owned(),
        passes: Some(passes.to_owned()),
        ..Config::default()
    };
    let problem = read(text);
    let validated = solve(&problem, &config, &mut context(&problem)).unwrap();
    (problem, validated)
}

/// Checks that a model is found, and returns its text, which Z3's reader accepts.
#[track_caller]
fn printed_model(text: &str, engine: &str, passes: &str) -> String {
    let (problem, validated) = answered(text, engine, passes);
    assert!(matches!(validated.verdict(), Verdict::Sat(_)));
    let wanted = Wanted {
        model: true,
        ..Wanted::default()
    };
    let text = validated.output(&problem, wanted).details().to_owned();
    assert_eq!(judge(&problem, &text), Some(CheckOutcome::Valid));
    text
}

#[track_caller]
fn is_refuted(text: &str, engine: &str, passes: &str) {
    let (_, validated) = answered(text, engine, passes);
    assert!(matches!(validated.verdict(), Verdict::Unsat(_)));
}

const ALTERNATING: &str = "(set-logic HORN)
    (declare-datatypes ((Lst 0)) (((nil) (cons (head Int) (tail Lst)))))
    (declare-fun sum (Lst Int) Bool)
    (assert (sum nil 0))
    (assert (forall ((h Int) (t Lst) (n Int)) (=> (sum t n) (sum (cons h t) (+ h n)))))
    (declare-fun made (Lst Int) Bool)
    (assert (made nil 0))
    (assert (forall ((x Lst) (n Int)) (=> (made x n) (made (cons 3 (cons (- 2) x)) (+ n 1)))))
    (assert (forall ((x Lst) (n Int) (s Int)) (=> (and (made x n) (sum x s) (not (= s n))) false)))
    (check-sat)";

/// If the clauses have the values of functions as arguments besides the terms, `pdr` finds a model
/// with these functions.
#[test]
fn models_with_codes() {
    let text = printed_model(ALTERNATING, "pdr", "folds,default");
    assert!(text.contains("(define-fun-rec sum!"), "{text}");
    let wrong = ALTERNATING.replace("(not (= s n))", "(> s 5)");
    is_refuted(&wrong, "pdr", "folds,default");
}

/// A model with sizes is checked, printed with their definition and read again; other recursive
/// definitions are refused.
#[test]
fn models_with_sizes() {
    let problem = read(REVERSE);
    let text = printed_model(REVERSE, "auto", "sizes,default");
    let definition = "(define-fun-rec |size!a list| ((x!0 |a list|)) Int";
    assert!(text.contains(definition), "{text}");
    // Everything follows from a definition without a model.
    let head = text.lines().find(|l| l.contains(definition)).unwrap();
    for other in [
        format!("{definition} (+ 1 (|size!a list| x!0)))"),
        head.replace("0)))", "1)))"),
        head.replace("define-fun-rec", "define-funs-rec"),
        format!("{head} {head}"),
    ] {
        let changed = text.replace(head, &other);
        assert_ne!(changed, text);
        assert_eq!(judge(&problem, &changed), None, "{changed}");
    }
    // The symbol is declared by the problem.
    let own = "(declare-fun |size!a list| () Bool)(declare-fun length";
    let problem = read(&REVERSE.replacen("(declare-fun length", own, 1));
    let list = problem.predicates[0].params[0];
    let terms = &problem.terms;
    let formula = terms.ge(terms.size(list), terms.int(0));
    let mut model = Model::default();
    model.definitions.insert(PredicateId(0), formula);
    fails(&problem, Verdict::Sat(model));
}

#[test]
fn sizes_of_mutually_recursive_datatypes() {
    let problem = read(
        "(set-logic HORN)
        (declare-datatypes ((Tree 0) (Forest 0))
            (((node (label Int) (below Forest))) ((none) (more (first Tree) (rest Forest)))))
        (declare-fun P (Forest) Bool)
        (assert (P (more (node 0 none) none)))
        (assert (forall ((t Tree) (f Forest)) (=> (P f) (P (more t f)))))
        (assert (=> (P none) false))",
    );
    let terms = &problem.terms;
    let forest = terms.sort_of(problem.predicates[0].params[0]);
    let size = terms.size(terms.var("f", forest));
    let definitions = terms.size_definitions(&[size]);
    assert_eq!(definitions.len(), 1);
    assert_eq!(definitions[0].1.len(), 2);
    let model = |bound: u32| {
        let command = &definitions[0].0;
        format!("({command} (define-fun P ((f Forest)) Bool (>= (size!Forest f) {bound})))")
    };
    assert_eq!(judge(&problem, &model(2)), Some(CheckOutcome::Valid));
    // The fact has size two, the query zero.
    for bound in [0, 3] {
        let outcome = judge(&problem, &model(bound));
        assert!(
            matches!(outcome, Some(CheckOutcome::Invalid(_))),
            "{outcome:?}"
        );
    }
}
