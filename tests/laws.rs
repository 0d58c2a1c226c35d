//! Laws of logic keep the status of a task: the same clauses written in other ways.

use std::rc::Rc;

use alphorn::frontend::parse;
use alphorn::run::Context;
use alphorn::term::TermStore;
use alphorn::witness::{CheckOutcome, ProofFormat, Wanted, check_claim, parse_witness};
use alphorn::{Config, solve};

/// A predicate with its arguments.
type Atom = (&'static str, &'static [&'static str]);

/// A clause: its variables with sorts, its body atoms, its constraint, and its head.
struct Clause {
    vars: &'static str,
    body: &'static [Atom],
    constraint: &'static str,
    head: Option<Atom>,
}

struct Task {
    name: &'static str,
    declarations: &'static str,
    /// Predicates with the sorts of their arguments.
    predicates: &'static [(&'static str, &'static [&'static str])],
    clauses: &'static [Clause],
    safe: bool,
}

const fn clause(
    vars: &'static str,
    body: &'static [Atom],
    constraint: &'static str,
    head: Option<Atom>,
) -> Clause {
    Clause {
        vars,
        body,
        constraint,
        head,
    }
}

const TASKS: &[Task] = &[
    Task {
        name: "counter",
        declarations: "",
        predicates: &[("p", &["Int"])],
        clauses: &[
            clause("(x Int)", &[], "(= x 0)", Some(("p", &["x"]))),
            clause(
                "(x Int)",
                &[("p", &["x"])],
                "(< x 5)",
                Some(("p", &["(+ x 1)"])),
            ),
            clause("(x Int)", &[("p", &["x"])], "(> x 5)", None),
        ],
        safe: true,
    },
    Task {
        name: "counter with a bug",
        declarations: "",
        predicates: &[("p", &["Int"])],
        clauses: &[
            clause("(x Int)", &[], "(= x 0)", Some(("p", &["x"]))),
            clause(
                "(x Int)",
                &[("p", &["x"])],
                "(< x 5)",
                Some(("p", &["(+ x 1)"])),
            ),
            clause("(x Int)", &[("p", &["x"])], "(> x 4)", None),
        ],
        safe: false,
    },
    Task {
        name: "two loops",
        declarations: "",
        predicates: &[("p", &["Int", "Int"]), ("q", &["Int", "Int"])],
        clauses: &[
            clause("(n Int)", &[], "(> n 0)", Some(("p", &["0", "n"]))),
            clause(
                "(x Int) (n Int)",
                &[("p", &["x", "n"])],
                "(< x n)",
                Some(("p", &["(+ x 1)", "n"])),
            ),
            clause(
                "(x Int) (n Int)",
                &[("p", &["x", "n"])],
                "(>= x n)",
                Some(("q", &["x", "n"])),
            ),
            clause(
                "(x Int) (n Int)",
                &[("q", &["x", "n"])],
                "(> x 0)",
                Some(("q", &["(- x 1)", "n"])),
            ),
            clause("(x Int) (n Int)", &[("q", &["x", "n"])], "(> x n)", None),
        ],
        safe: true,
    },
    Task {
        name: "two bodies",
        declarations: "",
        predicates: &[("f", &["Int", "Int"])],
        clauses: &[
            clause("(n Int)", &[], "(<= n 1)", Some(("f", &["n", "1"]))),
            clause(
                "(n Int) (a Int) (b Int)",
                &[("f", &["(- n 1)", "a"]), ("f", &["(- n 2)", "b"])],
                "(> n 1)",
                Some(("f", &["n", "(+ a b)"])),
            ),
            clause(
                "(n Int) (a Int)",
                &[("f", &["n", "a"])],
                "(and (= n 4) (= a 5))",
                None,
            ),
        ],
        safe: false,
    },
    Task {
        name: "lists",
        declarations: "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))",
        predicates: &[("len", &["L", "Int"])],
        clauses: &[
            clause("(n Int)", &[], "(= n 0)", Some(("len", &["nil", "n"]))),
            clause(
                "(l L) (n Int) (x Int)",
                &[("len", &["l", "n"])],
                "true",
                Some(("len", &["(cons x l)", "(+ n 1)"])),
            ),
            clause("(l L) (n Int)", &[("len", &["l", "n"])], "(< n 0)", None),
        ],
        safe: true,
    },
    Task {
        name: "bit-vectors",
        declarations: "",
        predicates: &[("p", &["(_ BitVec 8)"]), ("done", &[])],
        clauses: &[
            clause("(x (_ BitVec 8))", &[], "(= x #x00)", Some(("p", &["x"]))),
            clause(
                "(x (_ BitVec 8))",
                &[("p", &["x"])],
                "(not (= x #xfe))",
                Some(("p", &["(bvadd x #x02)"])),
            ),
            clause(
                "(x (_ BitVec 8))",
                &[("p", &["x"])],
                "(= x #x08)",
                Some(("done", &[])),
            ),
            clause("(b Bool)", &[("done", &[])], "b", None),
        ],
        safe: false,
    },
];

/// An atom as text; negated if the predicates are complemented.
fn atom((name, arguments): Atom, negated: bool) -> String {
    let plain = match arguments {
        [] => name.to_owned(),
        _ => format!("({name} {})", arguments.join(" ")),
    };
    match negated {
        true => format!("(not {plain})"),
        false => plain,
    }
}

fn body(clause: &Clause, negated: bool) -> String {
    let atoms = clause.body.iter().map(|&a| atom(a, negated));
    let parts: Vec<String> = atoms.chain([clause.constraint.to_owned()]).collect();
    format!("(and {})", parts.join(" "))
}

fn head(clause: &Clause, negated: bool) -> String {
    clause.head.map_or("false".to_owned(), |a| atom(a, negated))
}

/// The formula of a clause by a law; `B` is its body and `H` its head.
const SHAPES: &[&str] = &[
    "(=> B H)",
    "(or (not B) H)",
    "(not (and B (not H)))",
    "(ite B H true)",
    "(= (or B H) H)",
    "(= (and B H) B)",
    "(xor (and B H) (not B))",
    "(=> (not H) (not B))",
    "(let ((b! B) (h! H)) (=> b! h!))",
    "(let ((b! B)) (let ((n! (not b!))) (or n! H)))",
    "(=> (or B B) (and H H))",
    "(=> (ite (distinct 0 1) B false) H)",
    "(! (=> (! B :named body!N) H) :weight 3)",
    "(=> B (=> true H))",
    "(ite (not B) true H)",
    "(distinct (not B) (and B H))",
    "(=> (exists ((unused Int)) B) (forall ((unused Int)) H))",
];

fn shaped(task: &Task, shape: &str, negated: bool) -> Vec<String> {
    let clauses = task.clauses.iter().enumerate();
    clauses
        .map(|(number, clause)| {
            let formula = shape
                .replace('B', "\u{1}")
                .replace('H', "\u{2}")
                .replace('N', &number.to_string())
                .replace('\u{1}', &body(clause, negated))
                .replace('\u{2}', &head(clause, negated));
            format!("(forall ({}) {formula})", clause.vars)
        })
        .collect()
}

/// For each predicate one formula whose body is the disjunction of the bodies of its clauses, with
/// the arguments as equations; or the contraposition of this.
fn completed(task: &Task) -> Vec<String> {
    let mut formulas = Vec::new();
    let goals = [("false", &[][..])];
    for &(name, sorts) in task.predicates.iter().chain(&goals) {
        let params: Vec<String> = (0..sorts.len()).map(|n| format!("arg{n}")).collect();
        let mut cases = String::new();
        for clause in task.clauses {
            let (own, arguments) = clause.head.unwrap_or(("false", &[]));
            if own != name {
                continue;
            }
            let mut equations = String::new();
            for (param, argument) in params.iter().zip(arguments) {
                equations.push_str(&format!(" (= {param} {argument})"));
            }
            let body = body(clause, false);
            cases.push_str(&format!(
                " (exists ({}) (and {body}{equations}))",
                clause.vars
            ));
        }
        let head = match params.as_slice() {
            [] => name.to_owned(),
            _ => format!("({name} {})", params.join(" ")),
        };
        let bound = params.iter().zip(sorts);
        let bound: Vec<String> = bound.map(|(p, s)| format!("({p} {s})")).collect();
        let formula = format!("(=> (or false{cases}) {head})");
        formulas.push(match bound.is_empty() {
            true => formula,
            false => format!("(forall ({}) {formula})", bound.join(" ")),
        });
    }
    formulas
}

/// Checks that a text has the task's status, with a witness that is read back.
fn check(task: &Task, law: &str, formulas: &[String]) {
    let mut text = format!("(set-logic HORN)\n{}\n", task.declarations);
    for (name, sorts) in task.predicates {
        text.push_str(&format!(
            "(declare-fun {name} ({}) Bool)\n",
            sorts.join(" ")
        ));
    }
    for formula in formulas {
        text.push_str(&format!("(assert {formula})\n"));
    }
    text.push_str("(check-sat)\n");
    let terms = Rc::new(TermStore::new());
    let place = format!("{} as {law}\n{text}", task.name);
    let problem = parse(&text, terms.clone()).unwrap_or_else(|e| panic!("{e}\n{place}"));
    let mut cx = Context::new(terms);
    let answer = solve(&problem, &Config::default(), &mut cx).expect("no names");
    assert_eq!(cx.stats.count("witness.failures"), 0, "{place}");
    let wanted = Wanted {
        model: true,
        proof: Some(ProofFormat::Json),
        reason_unknown: false,
    };
    let output = answer.output(&problem, wanted);
    assert_eq!(
        output.word(),
        if task.safe { "sat" } else { "unsat" },
        "{place}"
    );
    let printed = format!("{}\n{}", output.word(), output.details());
    let claim =
        parse_witness(&problem, &printed).unwrap_or_else(|e| panic!("{e}\n{printed}\n{place}"));
    assert_eq!(
        check_claim(&problem, &claim, &mut cx),
        CheckOutcome::Valid,
        "{printed}\n{place}"
    );
}

#[test]
fn laws_keep_the_status() {
    for task in TASKS {
        for shape in SHAPES {
            check(task, shape, &shaped(task, shape, false));
        }
        let all = shaped(task, SHAPES[0], false);
        check(
            task,
            "one conjunction",
            &[format!("(and {})", all.join(" "))],
        );
        check(
            task,
            "one implication",
            &[format!("(=> true (and {}))", all.join(" "))],
        );
        check(task, "completed definitions", &completed(task));
    }
}

#[test]
fn complements_keep_the_status() {
    for task in TASKS {
        for shape in SHAPES {
            check(
                task,
                &format!("complement, {shape}"),
                &shaped(task, shape, true),
            );
        }
    }
}
