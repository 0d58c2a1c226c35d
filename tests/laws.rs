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
    check_text(&format!("{} as {law}", task.name), &text, task.safe);
}

/// Checks that a text has a status, with a witness that is read back.
fn check_text(name: &str, text: &str, safe: bool) {
    let terms = Rc::new(TermStore::new());
    let place = format!("{name}\n{text}");
    let problem = parse(text, terms.clone()).unwrap_or_else(|e| panic!("{e}\n{place}"));
    let mut cx = Context::new(terms);
    let answer = solve(&problem, &Config::default(), &mut cx).expect("no names");
    assert_eq!(cx.stats.count("witness.failures"), 0, "{place}");
    let wanted = Wanted {
        model: true,
        proof: Some(ProofFormat::Json),
        reason_unknown: false,
        ..Wanted::default()
    };
    let output = answer.output(&problem, wanted);
    assert_eq!(output.word(), if safe { "sat" } else { "unsat" }, "{place}");
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

/// The tasks with a constant, or a function's value, in the place of each numeral of a number, which
/// an assertion says to be this number.
#[test]
fn numerals_as_constants_keep_the_status() {
    let integers = |task: &&Task| {
        let sorts = task.predicates.iter().flat_map(|p| p.1);
        sorts.into_iter().all(|sort| ["Int", "L"].contains(sort))
    };
    for task in TASKS.iter().filter(integers) {
        let formulas = shaped(task, SHAPES[0], false);
        for (declaration, term) in [
            ("(declare-const one! Int)", "one!"),
            ("(declare-fun one! (Int) Int)", "(one! 7)"),
        ] {
            let mut text = format!("(set-logic HORN)\n{}\n{declaration}\n", task.declarations);
            for (name, sorts) in task.predicates {
                let sorts = sorts.join(" ");
                text.push_str(&format!("(declare-fun {name} ({sorts}) Bool)\n"));
            }
            for formula in &formulas {
                let formula = formula
                    .replace(" 1)", &format!(" {term})"))
                    .replace(" 1 ", &format!(" {term} "));
                text.push_str(&format!("(assert {formula})\n"));
            }
            text.push_str(&format!("(assert (= {term} 1))\n(check-sat)\n"));
            check_text(&format!("{} with {term}", task.name), &text, task.safe);
        }
    }
}

/// Clauses that only compare elements have the same status over a sort without definition.
#[test]
fn elements_of_a_sort_keep_the_status() {
    let graph = "(declare-fun edge (E E) Bool) (declare-fun path (E E Int) Bool)
        (assert (forall ((a E)) (path a a 0)))
        (assert (forall ((a E) (b E) (c E) (n Int))
            (=> (and (path a b n) (edge b c)) (path a c (+ n 1)))))";
    let stack = "(declare-datatypes ((L 0)) (((nil) (cons (hd E) (tl L)))))
        (declare-fun push (L E L Int) Bool)
        (assert (forall ((l L) (e E)) (push l e (cons e l) 1)))
        (assert (forall ((l L) (m L) (d E) (e E) (n Int))
            (=> (push l d m n) (push l e (cons e m) (+ n 1)))))";
    for (clauses, query, safe) in [
        (graph, "(=> (and (path a b n) (< n 0)) false)", true),
        (
            graph,
            "(=> (and (path a b n) (distinct a b) (= n 0)) false)",
            true,
        ),
        (graph, "(and (edge a b) (=> (path a b 2) false))", false),
        (stack, "(=> (push l a nil n) false)", true),
        (
            stack,
            "(=> (and (push l a m n) (distinct a (hd m))) false)",
            true,
        ),
        (stack, "(=> (and (push nil a m n) (= n 3)) false)", false),
    ] {
        for sort in ["(define-sort E () Int)", "(declare-sort E 0)"] {
            let lists = if clauses == stack { "(l L) (m L)" } else { "" };
            let text = format!(
                "(set-logic HORN)\n{sort}\n{clauses}
                (assert (forall ((a E) (b E) (n Int) {lists}) {query}))\n(check-sat)\n"
            );
            check_text(sort, &text, safe);
        }
    }
}

/// A table of cells that only grows, as a heap and as an array with a size.
#[test]
fn cells_on_a_heap_keep_the_status() {
    let heap = "(declare-heap H A R O none ((O 0)) (((cell (value Int)) (none))))
        (declare-fun inv (H A) Bool)
        (assert (forall ((h H) (a A)) (=> (= h (as heap.empty H)) (=> (= a (as heap.null A)) (inv h a)))))
        (assert (forall ((h H) (a A) (b A)) (=> (inv h a)
            (inv (heap.alloc_first (heap.alloc h (cell 3))) (heap.alloc_second (heap.alloc h (cell 3)))))))
        (assert (forall ((h H) (a A)) (=> (and (inv h a) (heap.valid h a))
            (inv (heap.write h a (cell (+ 1 (value (heap.read h a))))) a))))";
    let array = "(declare-datatypes ((O 0)) (((cell (value Int)) (none))))
        (declare-fun inv ((Array Int O) Int Int) Bool)
        (assert (inv ((as const (Array Int O)) none) 0 0))
        (assert (forall ((h (Array Int O)) (n Int) (a Int)) (=> (inv h n a)
            (inv (store h (+ n 1) (cell 3)) (+ n 1) (+ n 1)))))
        (assert (forall ((h (Array Int O)) (n Int) (a Int)) (=> (and (inv h n a) (< 0 a) (<= a n))
            (inv (store h a (cell (+ 1 (value (select h a))))) n a))))";
    for (limit, safe) in [(3, true), (4, false)] {
        let of_heap = format!(
            "(set-logic HORN) {heap} (assert (forall ((h H) (a A)) (=> (and (inv h a)
            (heap.valid h a) (< (value (heap.read h a)) {limit})) false))) (check-sat)"
        );
        check_text("heap", &of_heap, safe);
        let of_array = format!(
            "(set-logic HORN) {array} (assert (forall ((h (Array Int O)) (n Int) (a Int))
            (=> (and (inv h n a) (< 0 a) (<= a n) (< (value (select h a)) {limit})) false))) (check-sat)"
        );
        check_text("array", &of_array, safe);
    }
}
