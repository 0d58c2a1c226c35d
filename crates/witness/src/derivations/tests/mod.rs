//! Correct proofs, and broken ones.

mod atoms;
mod data;
mod functions;

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use super::least_model;
use crate::{
    CheckOutcome, Derivations, Instance, ProofNode, RelationalLemma, Verdict, Wanted, Witness,
    check_claim, parse_witness, validate,
};
use alphorn_chc::frontend::{Problem, parse};
use alphorn_chc::{Atom, PredicateId};
use alphorn_smt::text::{TextCheck, valid_assertions};
use alphorn_term::run::Context;
use alphorn_term::{SortId, TermId, TermStore};
use atoms::{CIRCLES_OF_FACTS, INSERTED, ORDER};
use data::{CIRCLES, FIB, PROOFS, Proof};

/// All proofs.
fn proofs() -> impl Iterator<Item = &'static Proof> {
    PROOFS.into_iter().chain([&ORDER, &INSERTED])
}

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

#[test]
fn proofs_are_accepted() {
    for proof in proofs() {
        let problem = problem(proof.clauses);
        let outcome = judge(&problem, proof.witness);
        assert_eq!(outcome, CheckOutcome::Valid, "{}", proof.name);
    }
}

#[test]
fn the_verdict_before_a_proof_counts() {
    let problem = problem(FIB.clauses);
    let claim = |word: &str| judge(&problem, &format!("{word}\n{}", FIB.witness));
    assert_eq!(claim("sat"), CheckOutcome::Valid);
    assert!(matches!(claim("unsat"), CheckOutcome::Invalid(_)));
}

#[test]
fn broken_proofs_are_refused() {
    let mut wrong = String::new();
    let mut names = BTreeSet::new();
    for proof in proofs() {
        let problem = problem(proof.clauses);
        for (name, part, instead, message) in proof.breaks {
            assert!(names.insert(*name), "{name}");
            assert!(proof.witness.contains(part), "{name}: {part}");
            let witness = proof.witness.replacen(part, instead, 1);
            let outcome = judge(&problem, &witness);
            let accepted = match &outcome {
                CheckOutcome::Invalid(found) => !found.contains(message),
                // A change that leaves a proof.
                CheckOutcome::Valid => !message.is_empty(),
                CheckOutcome::Undecided { .. } => true,
            };
            if accepted {
                wrong += &format!("{name}: {outcome:?}, expected: {message}\n");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(names.len() >= 120, "{}", names.len());
}

/// The clauses of a proof's twin, which have no model.
fn twin(proof: &Proof) -> Problem {
    let (part, instead) = proof.twin;
    assert!(proof.clauses.contains(part), "{}", proof.name);
    problem(&proof.clauses.replace(part, instead))
}

#[test]
fn circles_prove_nothing() {
    let problem = twin(&FIB);
    for (name, witness) in CIRCLES.iter().chain(CIRCLES_OF_FACTS) {
        let outcome = judge(&problem, witness);
        assert!(
            matches!(&outcome, CheckOutcome::Invalid(why) if why.contains("not smaller")),
            "{name}: {outcome:?}"
        );
    }
}

/// The witness with another number in the place of each of its numbers.
fn with_other_numbers(witness: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, digit) in witness.char_indices().filter(|(_, c)| c.is_ascii_digit()) {
        for other in ('0'..='7').filter(|&other| other != digit) {
            let (before, after) = (&witness[..at], &witness[at + 1..]);
            found.push(format!("{before}{other}{after}"));
        }
    }
    found
}

/// The same with the lemmas that a proof of the twin needs, which are false.
fn stronger(proof: &Proof) -> String {
    match proof.name {
        "fib" => proof.witness.replace("(<= b d)", "(< b d)"),
        "sum" => proof.witness.replace("(+ b d)", "b"),
        "order" => proof.witness.replace("(= a e) (= d f)", "(= a f) (= d e)"),
        "inserted" => proof
            .witness
            .replace("(= m (+ n 1))", "(distinct m (+ n 1))"),
        "product" => proof.witness.replace("(= z w)", "(distinct z w)"),
        _ => proof.witness.replace("(distinct v w)", "(= v w)"),
    }
}

#[test]
fn clauses_without_model_have_no_proof() {
    for proof in proofs() {
        let problem = twin(proof);
        let stronger = stronger(proof);
        let mut witnesses = with_other_numbers(&stronger);
        witnesses.extend([proof.witness.to_owned(), stronger]);
        for witness in witnesses {
            let outcome = judge(&problem, &witness);
            assert_ne!(outcome, CheckOutcome::Valid, "{}\n{witness}", proof.name);
        }
    }
}

/// A mistake of the reader costs the proof: the clauses do not imply the text then.
#[test]
fn the_text_has_to_follow_from_the_clauses() {
    for (part, instead) in [
        ("(< x 2)", "(< x 3)"),
        ("(- x 1)", "(- x 2)"),
        ("(< m n)", "(> m n)"),
        ("(fib x 1)", "(fib x 2)"),
    ] {
        let mut problem = problem(FIB.clauses);
        assert!(problem.text.contains(part) && part.len() == instead.len());
        problem.text = problem.text.replacen(part, instead, 1).into();
        let outcome = judge(&problem, FIB.witness);
        assert!(
            matches!(&outcome, CheckOutcome::Invalid(why) if why.contains("in line")),
            "{part}: {outcome:?}"
        );
    }
}

/// A real may fall for ever.
#[test]
fn measures_are_integers() {
    let problem = problem(
        "(declare-fun P (Real Int) Bool)
         (assert (forall ((x Real) (y Int)) (=> (P x y) (P (+ x 1.0) y))))",
    );
    let witness =
        "; total T0 (P x y) true :outputs (1) :measure (0 (1 0 0)) :cases ((0 (T0 ((-1 (1 0 0))))))
; relational L ((P x y)) true :proof (:use)";
    let outcome = judge(&problem, witness);
    assert!(
        matches!(&outcome, CheckOutcome::Invalid(why) if why.contains("no integer")),
        "{outcome:?}"
    );
}

/// What is not supported is no proof.
#[test]
fn other_problems_are_undecided() {
    for (clauses, what) in [
        (
            "(define-fun-rec f ((x Int)) Int (ite (<= x 0) 0 (+ 1 (f (- x 1)))))
             (declare-fun P (Int) Bool)
             (assert (forall ((x Int)) (=> (> (f x) 3) (P x))))",
            "recursive functions",
        ),
        (
            "(declare-sort S 0) (declare-fun P (S) Bool) (assert (forall ((x S)) (P x)))",
            "sorts without definition",
        ),
    ] {
        let outcome = judge(&problem(clauses), "; query 0 :use");
        assert!(
            matches!(&outcome, CheckOutcome::Undecided { why, .. } if why.contains(what)),
            "{outcome:?}"
        );
    }
}

/// The proof of `FIB` as an engine gives it.
fn proof_of_fib(problem: &Problem) -> Derivations {
    let terms = &problem.terms;
    let var = |name: &str| terms.var(name, SortId::INT);
    let fib = |args: &[TermId]| Atom {
        predicate: PredicateId(0),
        args: args.to_vec(),
    };
    let (a, b, c, d) = (var("p"), var("q"), var("r"), var("s"));
    let uses = |list: &[(usize, &[usize])]| {
        let instance = |&(lemma, atoms): &(usize, &[usize])| Instance {
            lemma,
            atoms: atoms.to_vec(),
        };
        list.iter().map(instance).collect::<Vec<_>>()
    };
    let first = RelationalLemma {
        slots: vec![fib(&[a, b])],
        statement: terms.ge(b, terms.int(1)),
        conclusion: None,
        group: 0,
        measured: vec![0],
        proof: vec![
            ProofNode::Split {
                atom: 0,
                cases: vec![1, 2],
            },
            ProofNode::Use(Vec::new()),
            ProofNode::Use(uses(&[(0, &[1]), (0, &[2])])),
        ],
    };
    let second = RelationalLemma {
        slots: vec![fib(&[a, b]), fib(&[c, d])],
        statement: terms.implies(terms.lt(a, c), terms.le(b, d)),
        conclusion: None,
        group: 1,
        measured: vec![0, 1],
        proof: vec![
            ProofNode::Split {
                atom: 0,
                cases: vec![1, 2],
            },
            ProofNode::Use(uses(&[(0, &[1])])),
            ProofNode::Split {
                atom: 1,
                cases: vec![4, 3],
            },
            ProofNode::Use(uses(&[(1, &[2, 4]), (1, &[3, 5])])),
            ProofNode::Use(Vec::new()),
        ],
    };
    Derivations {
        totals: Vec::new(),
        lemmas: vec![first, second],
        queries: vec![uses(&[(1, &[0, 1])])],
    }
}

#[test]
fn an_engines_proof_is_checked_and_printed() {
    let problem = problem(FIB.clauses);
    let mut cx = context(&problem);
    let proof = proof_of_fib(&problem);
    let answer = validate(&problem, Verdict::Proven(proof.clone()), &mut cx);
    assert!(matches!(answer.verdict(), Verdict::Proven(_)));
    let wanted = Wanted {
        model: true,
        ..Wanted::default()
    };
    let output = answer.output(&problem, wanted);
    assert_eq!(output.word(), "sat");
    let printed = output.details();
    assert!(printed.contains("; relational L1 ((fib "), "{printed}");
    assert_eq!(judge(&problem, printed), CheckOutcome::Valid);
    // With the least model before it; another model is refused.
    let with_definitions = Wanted {
        derivations: true,
        ..wanted
    };
    let output = answer.output(&problem, with_definitions);
    let printed = output.details();
    assert!(printed.contains("(define-fun fib ("), "{printed}");
    assert_eq!(judge(&problem, printed), CheckOutcome::Valid);
    let other = printed.replacen("(<= x!0 1)", "(<= x!0 2)", 1);
    assert_ne!(printed, other);
    assert!(matches!(judge(&problem, &other), CheckOutcome::Invalid(_)));
    // A model is one, whatever its comments say.
    let model = "(define-fun fib ((x Int) (y Int)) Bool true)\n; query 0 :use";
    let claim = parse_witness(&problem, model).expect("a model");
    assert!(matches!(claim.witness, Witness::Model(_)));
    // A proof that is none is a failure.
    let mut wrong = proof;
    wrong.lemmas[1].proof[3] = ProofNode::Use(Vec::new());
    let answer = validate(&problem, Verdict::Proven(wrong), &mut cx);
    assert!(answer.reason().is_some());
    assert_eq!(cx.stats.count("witness.failures"), 1);
}

/// The proof of `ORDER` as an engine gives it.
fn proof_of_order(problem: &Problem) -> Derivations {
    let terms = &problem.terms;
    let sort = terms.sort_of(problem.predicates[0].params[0]);
    let vars: Vec<TermId> = "pqrstu"
        .chars()
        .map(|c| terms.var(&c.to_string(), sort))
        .collect();
    let atom = |predicate: u32, at: usize, other: usize| Atom {
        predicate: PredicateId(predicate),
        args: vec![vars[at], vars[other]],
    };
    let equal = |pairs: &[(usize, usize)]| {
        let equations = pairs.iter().map(|&(a, b)| terms.eq(vars[a], vars[b]));
        terms.and(&equations.collect::<Vec<_>>())
    };
    let instance = |lemma: usize, atoms: &[usize]| Instance {
        lemma,
        atoms: atoms.to_vec(),
    };
    let split = |atom, cases: &[usize]| ProofNode::Split {
        atom,
        cases: cases.to_vec(),
    };
    let apply = |clause, premises: &[usize], names: &[(usize, usize)], inner| {
        let named = names.iter().enumerate();
        let clauses = problem.clauses.iter();
        let mut own = clauses.filter(|c| {
            let head = c.head.as_ref();
            head.is_some_and(|head| head.predicate == PredicateId(0))
        });
        let own: Vec<TermId> = own
            .nth(clause)
            .expect("one")
            .vars
            .iter()
            .map(|v| v.1)
            .collect();
        ProofNode::Apply {
            step: crate::ClauseStep {
                predicate: PredicateId(0),
                clause,
                premises: premises.to_vec(),
                names: named
                    .map(|(at, &(atom, arg))| (vars[at], atom, arg))
                    .collect(),
                values: own.into_iter().zip(vars.iter().copied()).collect(),
                uses: Vec::new(),
            },
            inner,
        }
    };
    let goal = |atom| ProofNode::Goal {
        atoms: vec![atom],
        uses: Vec::new(),
    };
    let add = |used, inner| ProofNode::Add {
        used,
        uses: Vec::new(),
        inner,
    };
    let nothing = || ProofNode::Use(Vec::new());
    let transitive = RelationalLemma {
        slots: vec![atom(0, 0, 1), atom(0, 2, 3)],
        statement: equal(&[(1, 2)]),
        conclusion: Some(atom(0, 0, 3)),
        group: 0,
        measured: vec![0, 1],
        proof: vec![
            split(0, &[1, 3]),
            apply(0, &[], &[(1, 1)], 2),
            goal(2),
            split(1, &[4, 5]),
            nothing(),
            add(instance(0, &[2, 3]), 6),
            apply(1, &[4], &[(4, 0), (4, 1)], 7),
            goal(5),
        ],
    };
    let different = RelationalLemma {
        slots: vec![atom(0, 0, 1), atom(1, 2, 3)],
        statement: terms.not(equal(&[(0, 2), (1, 3)])),
        conclusion: None,
        group: 0,
        measured: vec![1],
        proof: vec![
            split(1, &[1, 2]),
            split(0, &[3, 4]),
            split(0, &[5, 6]),
            nothing(),
            nothing(),
            nothing(),
            apply(1, &[3], &[(3, 0), (3, 1)], 7),
            split(4, &[8, 9]),
            nothing(),
            ProofNode::Use(vec![instance(1, &[5, 2])]),
        ],
    };
    let query = RelationalLemma {
        slots: vec![atom(0, 0, 1), atom(0, 2, 3), atom(1, 4, 5)],
        statement: terms.not(equal(&[(1, 2), (0, 4), (3, 5)])),
        conclusion: None,
        group: 1,
        measured: vec![0, 1, 2],
        proof: vec![
            add(instance(0, &[0, 1]), 1),
            ProofNode::Use(vec![instance(1, &[3, 2])]),
        ],
    };
    Derivations {
        totals: Vec::new(),
        lemmas: vec![transitive, different, query],
        queries: vec![vec![instance(2, &[0, 1, 2])]],
    }
}

#[test]
fn an_engines_proof_with_facts_is_checked_and_printed() {
    let problem = problem(ORDER.clauses);
    let mut cx = context(&problem);
    let proof = proof_of_order(&problem);
    let answer = validate(&problem, Verdict::Proven(proof.clone()), &mut cx);
    let wanted = Wanted {
        model: true,
        ..Wanted::default()
    };
    let output = answer.output(&problem, wanted);
    assert_eq!(output.word(), "sat", "{:?}", answer.reason());
    let printed = output.details();
    assert!(printed.contains(":concludes (le "), "{printed}");
    assert_eq!(judge(&problem, printed), CheckOutcome::Valid);
    let certificate = answer.certificate(&problem, &cx.budget).expect("one");
    // Five assertions; leaves, facts that are added and clauses that are applied; and the query.
    assert_eq!(
        certificate.matches("(check-sat)").count(),
        5 + 6 + 6 + 2 + 1
    );
    // A proof that is none is a failure.
    let mut wrong = proof;
    wrong.lemmas[0].conclusion = None;
    let answer = validate(&problem, Verdict::Proven(wrong), &mut cx);
    assert!(answer.reason().is_some());
}

/// Z3 reads the least model; it has the facts of the clauses, and no others.
#[test]
fn the_least_model_is_over_derivations() {
    let holds = |clauses: &str, formula: &str| {
        let problem = problem(clauses);
        let definitions = least_model(&problem).expect("a model").join("\n");
        let text = format!("{definitions}\n(assert {formula})");
        valid_assertions(&text, &context(&problem).budget)
    };
    let valid = TextCheck::Valid { assertions: 1 };
    let fib = |formula: &str| holds(FIB.clauses, formula);
    let two = "(derivation!fib!1 2 1 1 (derivation!fib!0 1) (derivation!fib!0 0))";
    assert_eq!(fib(&format!("(derives!fib {two} 2 2)")), valid);
    assert_eq!(fib(&format!("(not (derives!fib {two} 2 3))")), valid);
    assert_eq!(
        fib(
            "(forall ((x Int) (y Int) (z Int) (d derivation!fib) (e derivation!fib))
            (=> (and (>= x 2) (derives!fib d (- x 1) y) (derives!fib e (- x 2) z))
                (derives!fib (derivation!fib!1 x y z d e) x (+ y z))))"
        ),
        valid
    );
    for proof in PROOFS {
        assert_eq!(holds(proof.clauses, "true"), valid, "{}", proof.name);
    }
    // `q` has a clause, but no derivation is finite.
    let endless = "(set-logic HORN) (declare-fun q (Int) Bool) (declare-fun |derives!| () Bool)
        (assert |derives!|)
        (assert (forall ((x Int)) (=> (q (+ x 1)) (q x))))";
    assert_eq!(holds(endless, "(not (q 0))"), valid);
}

/// The certificate repeats the questions, each as a check of its own.
#[test]
fn the_certificate_has_all_questions() {
    let problem = problem(FIB.clauses);
    let mut cx = context(&problem);
    let answer = validate(&problem, Verdict::Proven(proof_of_fib(&problem)), &mut cx);
    let certificate = answer.certificate(&problem, &cx.budget).expect("one");
    assert!(certificate.starts_with("; alphorn certificate 1: an induction on derivations\n"));
    // Three assertions, two leaves of the first lemma, three of the second, and the query.
    assert_eq!(certificate.matches("(check-sat)").count(), 9);
    // Each check is in a scope of its own, and of a negation.
    for part in certificate.split("(push 1)\n").skip(1) {
        assert!(part.starts_with("(assert (not "), "{part}");
        assert!(part.contains("))\n(check-sat)\n(pop 1)\n"), "{part}");
    }
}
