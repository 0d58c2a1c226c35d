//! Correct certificates, and broken ones (`broken`).

mod broken;

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use crate::{
    Case, CheckOutcome, Lemma, Model, Verdict, Wanted, check_claim, parse_witness, validate,
};
use alphorn_chc::PredicateId;
use alphorn_chc::frontend::{Problem, parse};
use alphorn_smt::text::{TextCheck, valid_assertions};
use alphorn_term::run::Context;
use alphorn_term::{DatatypeId, FunctionId, Sort, SortId, TermId, TermStore};
use broken::{Broken, Proof};

const TWICE: &str = broken::TWICE.clauses;
const PROOF: &str = broken::TWICE.witness;

fn problem(clauses: &str) -> Problem {
    let text = format!("{clauses}\n(check-sat)");
    parse(&text, Rc::new(TermStore::new())).expect("a problem")
}

fn context(problem: &Problem) -> Context {
    let mut cx = Context::new(problem.terms.clone());
    cx.budget = cx.budget.work(Duration::from_secs(2));
    cx
}

/// The outcome for a witness; invalid if it cannot be read.
fn judge(problem: &Problem, witness: &str) -> CheckOutcome {
    match parse_witness(problem, witness) {
        Ok(claim) => check_claim(problem, &claim, &mut context(problem)),
        Err(error) => CheckOutcome::Invalid(error.to_string()),
    }
}

#[track_caller]
fn is_refused(problem: &Problem, witness: &str, message: &str) {
    match judge(problem, witness) {
        CheckOutcome::Invalid(found) if found.contains(message) => {}
        outcome => panic!("{outcome:?}, expected: {message}\n{witness}"),
    }
}

#[test]
fn a_proof_by_induction_is_accepted() {
    let problem = problem(TWICE);
    assert_eq!(judge(&problem, PROOF), CheckOutcome::Valid);
    assert_eq!(
        judge(&problem, &format!("sat\n{PROOF}")),
        CheckOutcome::Valid
    );
    // Without the lemmas the check is not decided.
    let plain: String = PROOF
        .lines()
        .filter(|l| !l.starts_with("; lemma"))
        .map(|l| format!("{l}\n"))
        .collect();
    assert!(matches!(
        judge(&problem, &plain),
        CheckOutcome::Undecided { .. }
    ));
    // Without measures there is no certificate.
    let bare: String = plain
        .lines()
        .filter(|l| !l.starts_with(';'))
        .map(|l| format!("{l}\n"))
        .collect();
    is_refused(&problem, &bare, "without a certificate");
}

#[test]
fn a_wrong_model_is_refused() {
    let problem = problem(TWICE);
    let wrong = PROOF.replace("Bool (= z (app! x y))", "Bool (= z (app! y x))");
    assert_ne!(judge(&problem, &wrong), CheckOutcome::Valid);
    let wrong = PROOF.replace("Bool (distinct x y)", "Bool (= x y)");
    assert_ne!(judge(&problem, &wrong), CheckOutcome::Valid);
}

/// Checks the messages of all broken certificates before it fails.
#[track_caller]
fn are_refused(broken: &[Broken]) {
    let mut wrong = String::new();
    let mut known: Option<(&str, Problem)> = None;
    for Broken {
        name,
        clauses,
        witness,
        message,
    } in broken
    {
        let problem = match known.take() {
            Some((text, problem)) if text == *clauses => problem,
            _ => problem(clauses),
        };
        match judge(&problem, witness) {
            CheckOutcome::Invalid(found) | CheckOutcome::Undecided { why: found, .. }
                if found.contains(message) => {}
            outcome => wrong += &format!("{name}: {outcome:?}, expected: {message}\n"),
        }
        known = Some((*clauses, problem));
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[track_caller]
fn holds_and_breaks(proof: &Proof) {
    let outcome = judge(&problem(proof.clauses), proof.witness);
    assert_eq!(outcome, CheckOutcome::Valid, "{}", proof.name);
    are_refused(&proof.broken());
}

#[test]
fn reversing_twice_breaks() {
    holds_and_breaks(&broken::TWICE);
}

#[test]
fn associativity_and_sorting_break() {
    holds_and_breaks(&broken::APPEND);
    holds_and_breaks(&broken::SORT);
}

#[test]
fn integers_and_mutual_recursion_break() {
    for proof in [
        &broken::DOUBLE,
        &broken::PARITY,
        &broken::TWO,
        &broken::FLAGS,
    ] {
        holds_and_breaks(proof);
    }
}

#[test]
fn nothing_proves_false() {
    let all = broken::all();
    let absurd: Vec<Broken> = all
        .into_iter()
        .filter(|b| b.name.starts_with("absurd"))
        .collect();
    assert_eq!(absurd.len(), broken::ABSURD.len());
    are_refused(&absurd);
}

/// There are many different broken certificates, with many different messages.
#[test]
fn broken_certificates_are_many() {
    let all = broken::all();
    let names: BTreeSet<&str> = all.iter().map(|b| b.name.as_str()).collect();
    let witnesses: BTreeSet<(&str, &str)> = all
        .iter()
        .map(|b| (b.clauses, b.witness.as_str()))
        .collect();
    let messages: BTreeSet<&str> = all.iter().map(|b| b.message).collect();
    assert_eq!(names.len(), all.len());
    assert_eq!(witnesses.len(), all.len());
    assert!(all.len() >= 60, "{}", all.len());
    assert!(messages.len() >= 55, "{}", messages.len());
}

#[test]
fn the_order_of_lemmas_counts() {
    let problem = problem(TWICE);
    let mut lines: Vec<&str> = PROOF.lines().collect();
    let count = lines.len();
    lines.swap(count - 1, count - 2);
    is_refused(
        &problem,
        &lines.join("\n"),
        "lemma last is not proven before",
    );
}

/// Conditions of calls may be connectives in any order, and arguments nested parts of a parameter.
#[test]
fn definitions_may_descend_in_many_ways() {
    let problem = problem(TWICE);
    let app = "(ite ((_ is nil) x) y (cons (first x) (app! (rest x) y)))";
    for other in [
        "(ite (or ((_ is nil) x) ((_ is nil) (rest x))) y (app! (rest (rest x)) y))",
        "(ite (and (= (app! (rest x) y) nil) ((_ is cons) x)) y x)",
        "(ite (or (= (app! (rest x) y) nil) ((_ is nil) x)) y x)",
        "(ite (=> ((_ is cons) x) (= (app! (rest x) y) y)) y x)",
        "(ite (not (and ((_ is cons) x) (= y x))) y (let ((r (rest x))) (app! r r)))",
        "(ite (distinct x nil) (let ((x (rest x))) (app! x x)) nil)",
    ] {
        let changed = PROOF.replace(app, other);
        match judge(&problem, &changed) {
            CheckOutcome::Invalid(found) => {
                assert!(!found.contains("function app!"), "{found}\n{other}")
            }
            outcome => panic!("{outcome:?} for {other}"),
        }
    }
}

/// The cases have to cover only values that violate the statement.
#[test]
fn a_statement_may_leave_values_out() {
    let Proof {
        clauses, witness, ..
    } = broken::DOUBLE;
    let changed = witness.replace(":case ((> n 1)", ":case ((distinct n 1)");
    assert_ne!(changed, witness);
    assert_eq!(judge(&problem(clauses), &changed), CheckOutcome::Valid);
}

/// Functions may have names of functions of solvers, and predicates may be recursive.
#[test]
fn names_are_free() {
    let Proof {
        clauses, witness, ..
    } = broken::TWICE;
    for name in ["is-nil", "|is-cons|", "c!l0", "|a b|", "len"] {
        let changed = witness.replace("rev!", name);
        assert_eq!(
            judge(&problem(clauses), &changed),
            CheckOutcome::Valid,
            "{name}"
        );
    }
    let even = problem(
        "(set-logic HORN)
        (declare-datatypes ((Nat 0)) (((zero) (succ (pred Nat)))))
        (declare-fun even (Nat) Bool)
        (assert (even zero))
        (assert (forall ((n Nat)) (=> (even n) (even (succ (succ n))))))
        (assert (=> (even (succ zero)) false))",
    );
    let model = "((define-fun-rec even ((n Nat)) Bool
          (or ((_ is zero) n) (and ((_ is succ) (pred n)) (even (pred (pred n))))))
        (define-fun odd ((n Nat)) Bool (not (even n))))
        ; measure even (0)";
    assert_eq!(judge(&even, model), CheckOutcome::Valid);
    let wrong = model.replace("(or ((_ is zero) n)", "(or ((_ is succ) n)");
    is_refused(&even, &wrong, "smaller arguments does not hold");
}

// ---- models of terms ----

/// The constructors and selectors of a problem's list sort.
struct Lists<'a> {
    terms: &'a TermStore,
    sort: SortId,
    id: DatatypeId,
}

impl<'a> Lists<'a> {
    fn new(problem: &'a Problem) -> Self {
        let terms = &*problem.terms;
        let sort = terms.sort_of(problem.predicates[0].params[0]);
        let Sort::Datatype(id) = terms.sort(sort) else {
            panic!("a datatype")
        };
        Lists { terms, sort, id }
    }

    fn nil(&self) -> TermId {
        self.terms.construct(self.id, 0, &[])
    }

    fn cons(&self, head: TermId, tail: TermId) -> TermId {
        self.terms.construct(self.id, 1, &[head, tail])
    }

    fn is(&self, constructor: u32, list: TermId) -> TermId {
        self.terms.is(self.id, constructor, list)
    }

    fn first(&self, list: TermId) -> TermId {
        self.terms.field(self.id, 1, 0, list)
    }

    fn rest(&self, list: TermId) -> TermId {
        self.terms.field(self.id, 1, 1, list)
    }

    /// `f(x, ...) = if x is nil then nil case else cons case`.
    fn define(
        &self,
        name: &str,
        sorts: &[SortId],
        result: SortId,
        nil: impl FnOnce(&[TermId]) -> TermId,
        cons: impl FnOnce(FunctionId, &[TermId]) -> TermId,
    ) -> FunctionId {
        let f = self.terms.declare_function(name, sorts, result);
        let params = self.terms.function(f).params.clone();
        let (nil, cons) = (nil(&params), cons(f, &params));
        let body = self.terms.ite(self.is(0, params[0]), nil, cons);
        self.terms.define_function(f, body, vec![0]);
        f
    }
}

/// The model of `TWICE` as an engine gives it.
fn model_of_terms(problem: &Problem) -> Model {
    let l = Lists::new(problem);
    let t = l.terms;
    let app = l.define(
        "append",
        &[l.sort; 2],
        l.sort,
        |p| p[1],
        |f, p| l.cons(l.first(p[0]), t.call(f, &[l.rest(p[0]), p[1]])),
    );
    let rev = l.define(
        "rev!",
        &[l.sort],
        l.sort,
        |_| l.nil(),
        |f, p| {
            let rest = t.call(f, &[l.rest(p[0])]);
            t.call(app, &[rest, l.cons(l.first(p[0]), l.nil())])
        },
    );
    let app = |x, y| t.call(app, &[x, y]);
    let rev = |x| t.call(rev, &[x]);
    let nat = t.sort_of(l.first(l.nil()));
    let (x, h, c) = (
        t.fresh_var("x", l.sort),
        t.fresh_var("h", nat),
        t.fresh_var("c", l.sort),
    );
    let one = |h| l.cons(h, l.nil());
    let case = |guard, induction, instances, unfoldings: &[TermId]| Case {
        guard,
        induction,
        instances,
        unfoldings: unfoldings.to_vec(),
    };
    let (hx, tx) = (l.first(x), l.rest(x));
    let last = Lemma {
        name: "last one".to_owned(),
        vars: vec![x, h],
        statement: t.eq(rev(app(x, one(h))), l.cons(h, rev(x))),
        measure: vec![0],
        cases: vec![
            case(
                l.is(0, x),
                vec![],
                vec![],
                &[
                    app(x, one(h)),
                    rev(x),
                    rev(one(h)),
                    rev(l.nil()),
                    app(l.nil(), one(h)),
                ],
            ),
            case(
                l.is(1, x),
                vec![vec![tx, h]],
                vec![],
                &[
                    app(x, one(h)),
                    rev(app(x, one(h))),
                    rev(x),
                    app(l.cons(h, rev(tx)), one(hx)),
                ],
            ),
        ],
    };
    let (hc, tc) = (l.first(c), l.rest(c));
    let twice = Lemma {
        name: "last one".to_owned(),
        vars: vec![c],
        statement: t.eq(rev(rev(c)), c),
        measure: vec![0],
        cases: vec![
            case(l.is(0, c), vec![], vec![], &[rev(c)]),
            case(
                l.is(1, c),
                vec![vec![tc]],
                vec![(0, vec![rev(tc), hc])],
                &[rev(c)],
            ),
        ],
    };
    let params = |i: usize| problem.predicates[i].params.clone();
    let (append, reverse, differ) = (params(0), params(1), params(2));
    let formulas = [
        t.eq(append[2], app(append[0], append[1])),
        t.eq(reverse[1], rev(reverse[0])),
        t.not(t.eq(differ[0], differ[1])),
    ];
    Model {
        definitions: formulas
            .into_iter()
            .enumerate()
            .map(|(i, f)| (PredicateId(i as u32), f))
            .collect(),
        lemmas: vec![last, twice],
    }
}

fn printed(problem: &Problem, model: Model) -> Result<String, String> {
    let validated = validate(problem, Verdict::Sat(model), &mut context(problem));
    match validated.reason() {
        Some(reason) => Err(reason.to_string()),
        None => {
            let wanted = Wanted {
                model: true,
                ..Wanted::default()
            };
            Ok(validated.output(problem, wanted).details().to_owned())
        }
    }
}

#[test]
fn what_is_printed_is_read_again() {
    let problem = problem(TWICE);
    let text = printed(&problem, model_of_terms(&problem)).unwrap();
    // The problem uses the name, so the function gets another.
    assert!(
        text.contains("(define-fun-rec append! ((x!0 List) (x!1 List)) List"),
        "{text}"
    );
    assert!(text.contains("\n; measure append! (0)\n; measure rev! (0)\n; lemma |last one| ("));
    assert!(text.contains("\n; lemma |last one!| ("), "{text}");
    assert_eq!(judge(&problem, &text), CheckOutcome::Valid);
    // Other readers see definitions and comments.
    let datatypes: String = TWICE
        .lines()
        .skip(1)
        .take(2)
        .map(|l| l.replace("List", "L"))
        .collect();
    let definitions = text.replace("List", "L");
    let (list, comments) = definitions.split_once("\n)\n").unwrap();
    let commands = list.trim_start_matches("(\n");
    let script = format!("{datatypes}{commands}\n{comments}(assert (= (rev! nil) nil))");
    assert_eq!(
        valid_assertions(&script, &context(&problem).budget),
        TextCheck::Valid { assertions: 1 }
    );
}

#[test]
fn a_gap_in_terms_is_a_failure() {
    let problem = problem(TWICE);
    let change = |change: &dyn Fn(&mut Model)| {
        let mut model = model_of_terms(&problem);
        change(&mut model);
        printed(&problem, model).unwrap_err()
    };
    type Change<'a> = &'a dyn Fn(&mut Model);
    let changes: [(Change<'_>, &str); 6] = [
        (&|m| m.lemmas[1].cases[1].instances.clear(), "case 2"),
        (
            &|m| m.lemmas[1].cases[1].instances[0].0 = 2,
            "does not exist",
        ),
        (&|m| m.lemmas[0].cases.truncate(1), "cover all values"),
        (&|m| m.lemmas[0].vars.truncate(1), "not its own"),
        (
            &|m| m.lemmas[0].cases[0].unfoldings.push(TermId::TRUE),
            "not a call",
        ),
        (&|m| m.lemmas[0].measure.clear(), "not smaller"),
    ];
    for (edit, message) in changes {
        let found = change(edit);
        assert!(found.contains(message), "{found}, expected: {message}");
    }
    // A function needs a definition.
    let mut model = model_of_terms(&problem);
    let params = &problem.predicates[1].params;
    let terms = &problem.terms;
    let f = terms.declare_function("f!", &[terms.sort_of(params[0])], terms.sort_of(params[0]));
    let formula = terms.eq(params[1], terms.call(f, &[params[0]]));
    model.definitions.insert(PredicateId(1), formula);
    let found = printed(&problem, model).unwrap_err();
    assert!(found.contains("no measure"), "{found}");
}

/// Instances of a parametric datatype, whose testers are printed as `match`, with integers in
/// results and a size.
#[test]
fn lengths_of_parametric_lists() {
    let problem = problem(
        "(set-logic HORN)
        (declare-datatypes ((Chain 1)) ((par (T) ((none) (more (hd T) (tl (Chain T)))))))
        (declare-fun join ((Chain Int) (Chain Int) (Chain Int)) Bool)
        (declare-fun count ((Chain Int) Int) Bool)
        (assert (forall ((y (Chain Int))) (join (as none (Chain Int)) y y)))
        (assert (forall ((a Int) (x (Chain Int)) (y (Chain Int)) (z (Chain Int)))
          (=> (join x y z) (join (more a x) y (more a z)))))
        (assert (count (as none (Chain Int)) 0))
        (assert (forall ((a Int) (x (Chain Int)) (n Int)) (=> (count x n) (count (more a x) (+ n 1)))))
        (assert (forall ((x (Chain Int)) (y (Chain Int)) (u (Chain Int)) (v (Chain Int)) (m Int) (n Int))
          (=> (and (join x y u) (join y x v) (count u m) (count v n) (distinct m n)) false)))",
    );
    let l = Lists::new(&problem);
    let t = l.terms;
    let zero = t.int(0);
    let app = l.define(
        "join!",
        &[l.sort; 2],
        l.sort,
        |p| p[1],
        |f, p| l.cons(l.first(p[0]), t.call(f, &[l.rest(p[0]), p[1]])),
    );
    let len = l.define(
        "len!",
        &[l.sort],
        SortId::INT,
        |_| zero,
        |f, p| {
            let rest = t.call(f, &[l.rest(p[0])]);
            t.add(&[t.int(1), t.ite(t.ge(rest, zero), rest, zero)])
        },
    );
    let app = |x, y| t.call(app, &[x, y]);
    let len = |x| t.call(len, &[x]);
    let (x, y) = (t.fresh_var("x", l.sort), t.fresh_var("y", l.sort));
    let lemma = |name: &str, vars: &[TermId], statement, cases| Lemma {
        name: name.to_owned(),
        vars: vars.to_vec(),
        statement,
        measure: vec![0],
        cases,
    };
    let case = |guard, induction, instances, unfoldings: &[TermId]| Case {
        guard,
        induction,
        instances,
        unfoldings: unfoldings.to_vec(),
    };
    let lemmas = vec![
        lemma(
            "positive",
            &[x],
            t.ge(len(x), zero),
            vec![case(TermId::TRUE, vec![], vec![], &[len(x)])],
        ),
        lemma(
            "sum",
            &[x, y],
            t.eq(len(app(x, y)), t.add(&[len(x), len(y)])),
            vec![
                case(l.is(0, x), vec![], vec![(0, vec![y])], &[app(x, y), len(x)]),
                case(
                    l.is(1, x),
                    vec![vec![l.rest(x), y]],
                    vec![(0, vec![l.rest(x)]), (0, vec![app(l.rest(x), y)])],
                    &[app(x, y), len(x), len(app(x, y))],
                ),
            ],
        ),
    ];
    let params = |i: usize| problem.predicates[i].params.clone();
    let (join, count) = (params(0), params(1));
    let both = |formula| {
        let definitions = [
            (PredicateId(0), t.eq(join[2], app(join[0], join[1]))),
            (PredicateId(1), formula),
        ];
        Model {
            definitions: definitions.into_iter().collect(),
            lemmas: lemmas.clone(),
        }
    };
    let text = printed(&problem, both(t.eq(count[1], len(count[0])))).unwrap();
    assert!(text.contains("(match x!0 "), "{text}");
    assert_eq!(judge(&problem, &text), CheckOutcome::Valid);
    // Sizes need no certificate, and are uninterpreted in lemmas.
    let mut sized = both(t.eq(count[1], len(count[0])));
    let (s, size) = (t.fresh_var("s", l.sort), |x| t.size(x));
    sized.lemmas.push(lemma(
        "size",
        &[s],
        t.eq(len(s), size(s)),
        vec![
            case(l.is(0, s), vec![], vec![], &[len(s), size(s)]),
            case(
                l.is(1, s),
                vec![vec![l.rest(s)]],
                vec![(0, vec![l.rest(s)])],
                &[len(s), size(s)],
            ),
        ],
    ));
    let text = printed(&problem, sized.clone()).unwrap();
    assert!(
        text.contains("(define-fun-rec |size!(Chain Int)| "),
        "{text}"
    );
    assert_eq!(judge(&problem, &text), CheckOutcome::Valid);
    let absurd = text.replacen("|size!(Chain Int)| x!0", "|size!(Chain Int)| (tl x!0)", 1);
    assert_ne!(absurd, text);
    assert_ne!(judge(&problem, &absurd), CheckOutcome::Valid);
    let last = sized.lemmas.len() - 1;
    sized.lemmas[last].cases[1].unfoldings.pop();
    assert!(
        printed(&problem, sized)
            .unwrap_err()
            .contains("lemma size: case 2")
    );
}
