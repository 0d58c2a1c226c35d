//! Theorems about random recursive functions that are true by construction, and similar statements
//! that are false. Functions are given by equations and become clauses, as a frontend of a
//! functional language would make them.
//!
//! Invariant: of each pair of texts, the first is safe and the second is not.

use std::fmt::Write as _;

use alphorn_term::Random;

const SORTS: &str = "(declare-datatypes ((Lst 0)) (((nil) (cons (head Int) (tail Lst)))))
(declare-datatypes ((Nat 0)) (((zero) (succ (pred Nat)))))
(declare-datatypes ((Tree 0)) (((leaf) (node (left Tree) (label Int) (right Tree)))))\n";

/// A term of SMT-LIB with calls of functions, which are relations in the clauses.
#[derive(Clone, Debug)]
enum Expression {
    Symbol(String),
    List(Vec<Expression>),
}

fn read(text: &str) -> Expression {
    let text = text.replace('(', " ( ").replace(')', " ) ");
    let mut open: Vec<Vec<Expression>> = vec![Vec::new()];
    for token in text.split_whitespace() {
        match token {
            "(" => open.push(Vec::new()),
            ")" => {
                let list = open.pop().expect("an open parenthesis");
                let outer = open.last_mut().expect("an open parenthesis");
                outer.push(Expression::List(list));
            }
            symbol => {
                let inner = open.last_mut().expect("an open parenthesis");
                inner.push(Expression::Symbol(symbol.to_owned()));
            }
        }
    }
    open.remove(0).remove(0)
}

/// The signature of a function.
struct Function {
    name: String,
    params: Vec<String>,
    result: String,
    /// Whether the result is the first argument of the relation.
    first: bool,
}

/// Functions and their clauses.
#[derive(Default)]
struct Program {
    functions: Vec<Function>,
    clauses: Vec<String>,
}

/// A clause under construction.
#[derive(Default)]
struct Flat {
    atoms: Vec<String>,
    vars: Vec<(String, String)>,
    /// Calls, by function and arguments, with the variables of their results.
    calls: Vec<((String, Vec<String>), String)>,
}

/// The sort of a variable, by its first letter.
fn sort_of_var(name: &str) -> Option<&'static str> {
    match name.chars().next()? {
        'x' | 'y' | 'z' => Some("Lst"),
        'h' | 'i' => Some("Int"),
        'p' | 'q' | 'r' => Some("Nat"),
        's' | 't' => Some("Tree"),
        _ => None,
    }
}

impl Program {
    /// Adds a function with a signature, such as `Lst Lst -> Lst`, and equations.
    fn function(&mut self, name: &str, signature: &str, first: bool, equations: &[(&str, &str)]) {
        let (params, result) = signature.split_once(" -> ").expect("an arrow");
        self.functions.push(Function {
            name: name.to_owned(),
            params: params.split(' ').map(str::to_owned).collect(),
            result: result.to_owned(),
            first,
        });
        for (left, right) in equations {
            let Expression::List(call) = read(left) else {
                panic!("an equation's left side is a call");
            };
            let mut flat = Flat::default();
            let args: Vec<String> = call[1..].iter().map(|a| self.flat(a, &mut flat)).collect();
            let value = self.flat(&read(right), &mut flat);
            let head = self.functions.last().expect("pushed").atom(&args, &value);
            self.clauses.push(flat.clause(&head));
        }
    }

    /// The text of an expression with variables in place of calls; the atoms of the calls are added
    /// to the clause.
    fn flat(&self, expression: &Expression, clause: &mut Flat) -> String {
        match expression {
            Expression::Symbol(symbol) => {
                let short = symbol.len() <= 2;
                let var = sort_of_var(symbol).filter(|_| short);
                if let Some(sort) = var {
                    clause.declare(symbol, sort);
                }
                symbol.clone()
            }
            Expression::List(list) => {
                let mut parts: Vec<String> =
                    list[1..].iter().map(|e| self.flat(e, clause)).collect();
                let Expression::Symbol(operator) = &list[0] else {
                    panic!("an operator is a symbol");
                };
                match self.functions.iter().find(|f| f.name == *operator) {
                    Some(function) => {
                        let value = format!("v{}", clause.vars.len());
                        let call = (operator.clone(), parts.clone());
                        if let Some((_, known)) = clause.calls.iter().find(|c| c.0 == call) {
                            return known.clone();
                        }
                        clause.declare(&value, &function.result);
                        clause.atoms.push(function.atom(&parts, &value));
                        clause.calls.push((call, value.clone()));
                        value
                    }
                    None => {
                        parts.insert(0, operator.clone());
                        format!("({})", parts.join(" "))
                    }
                }
            }
        }
    }

    /// The clauses, and a query that is derivable if and only if the formula is not valid.
    fn with_theorem(&self, formula: &str) -> String {
        let mut flat = Flat::default();
        let holds = self.flat(&read(formula), &mut flat);
        flat.atoms.push(format!("(not {holds})"));
        let mut text = SORTS.to_owned();
        for function in &self.functions {
            let mut sorts = function.params.clone();
            let at = if function.first { 0 } else { sorts.len() };
            sorts.insert(at, function.result.clone());
            let _ = writeln!(
                text,
                "(declare-fun {} ({}) Bool)",
                function.name,
                sorts.join(" ")
            );
        }
        text + &self.clauses.concat() + &flat.clause("false")
    }
}

impl Function {
    fn atom(&self, args: &[String], value: &str) -> String {
        let args = args.join(" ");
        match self.first {
            true => format!("({} {value} {args})", self.name),
            false => format!("({} {args} {value})", self.name),
        }
    }
}

impl Flat {
    fn declare(&mut self, name: &str, sort: &str) {
        if self.vars.iter().all(|v| v.0 != name) {
            self.vars.push((name.to_owned(), sort.to_owned()));
        }
    }

    fn clause(&self, head: &str) -> String {
        let body = match self.atoms.is_empty() {
            true => "true".to_owned(),
            false => format!("(and {})", self.atoms.join(" ")),
        };
        let vars: Vec<String> = self
            .vars
            .iter()
            .map(|(v, s)| format!("({v} {s})"))
            .collect();
        match vars.is_empty() {
            true => format!("(assert (=> {body} {head}))\n"),
            false => format!(
                "(assert (forall ({}) (=> {body} {head})))\n",
                vars.join(" ")
            ),
        }
    }
}

/// A random expression over the list element `h`.
fn measure(random: &mut Random) -> String {
    let (a, b) = (random.between(1, 3), random.between(0, 4));
    match random.below(4) {
        0 => format!("(+ h {b})"),
        1 => format!("(+ (* {a} h) {b})"),
        2 => format!("(ite (> h {b}) {a} 0)"),
        _ => format!("(ite (= h {b}) 0 (* {a} h))"),
    }
}

fn append(program: &mut Program, first: bool) {
    program.function(
        "app",
        "Lst Lst -> Lst",
        first,
        &[
            ("(app nil y)", "y"),
            ("(app (cons h x) y)", "(cons h (app x y))"),
        ],
    );
}

fn reverse(program: &mut Program, first: bool) {
    append(program, first);
    let step = "(app (rev x) (cons h nil))";
    let equations = [("(rev nil)", "nil"), ("(rev (cons h x))", step)];
    program.function("rev", "Lst -> Lst", first, &equations);
}

/// Adds the function that sums the expression `count` over the elements of a list.
fn sum(program: &mut Program, name: &str, count: &str, first: bool) {
    let step = format!("(+ ({name} x) {count})");
    let nil = format!("({name} nil)");
    let cons = format!("({name} (cons h x))");
    program.function(name, "Lst -> Int", first, &[(&nil, "0"), (&cons, &step)]);
}

/// Adds the addition of Peano numbers, by recursion on a random one of its arguments.
fn plus(program: &mut Program, random: &mut Random) {
    let first = random.one_in(2);
    let equations = match random.one_in(2) {
        true => [
            ("(plus zero q)", "q"),
            ("(plus (succ p) q)", "(succ (plus p q))"),
        ],
        false => [
            ("(plus q zero)", "q"),
            ("(plus q (succ p))", "(succ (plus q p))"),
        ],
    };
    program.function("plus", "Nat Nat -> Nat", first, &equations);
}

/// Makes two texts: clauses with a theorem that holds, and with one that does not.
pub type Family = fn(&mut Random) -> (String, String);

fn both(program: &Program, theorem: &str, wrong: &str) -> (String, String) {
    (program.with_theorem(theorem), program.with_theorem(wrong))
}

fn sums_of_appended(random: &mut Random) -> (String, String) {
    let mut program = Program::default();
    append(&mut program, random.one_in(2));
    let count = measure(random);
    sum(&mut program, "sum", &count, random.one_in(2));
    let by = random.between(1, 3);
    both(
        &program,
        "(= (sum (app x y)) (+ (sum x) (sum y)))",
        &format!("(= (sum (app x y)) (+ (sum x) (sum y) {by}))"),
    )
}

fn sums_of_mapped(random: &mut Random) -> (String, String) {
    let mut program = Program::default();
    let first = random.one_in(2);
    sum(&mut program, "sum", "h", first);
    sum(&mut program, "len", "1", first);
    let by = random.between(1, 5);
    let step = format!("(cons (+ h {by}) (map x))");
    let equations = [("(map nil)", "nil"), ("(map (cons h x))", step.as_str())];
    program.function("map", "Lst -> Lst", random.one_in(2), &equations);
    both(
        &program,
        &format!("(= (sum (map x)) (+ (sum x) (* {by} (len x))))"),
        &format!("(= (sum (map x)) (+ (sum x) (* {} (len x))))", by + 1),
    )
}

fn reversed(random: &mut Random) -> (String, String) {
    let mut program = Program::default();
    reverse(&mut program, random.one_in(2));
    match random.one_in(2) {
        true => both(
            &program,
            "(= (rev (app x y)) (app (rev y) (rev x)))",
            "(= (rev (app x y)) (app (rev x) (rev y)))",
        ),
        false => both(&program, "(= (rev (rev x)) x)", "(= (rev (rev x)) (rev x))"),
    }
}

fn sums_of_reversed(random: &mut Random) -> (String, String) {
    let mut program = Program::default();
    reverse(&mut program, random.one_in(2));
    let count = measure(random);
    sum(&mut program, "sum", &count, random.one_in(2));
    sum(
        &mut program,
        "other",
        &format!("(+ {count} 1)"),
        random.one_in(2),
    );
    both(
        &program,
        "(= (sum (rev x)) (sum x))",
        "(= (sum (rev x)) (other x))",
    )
}

fn accumulated(random: &mut Random) -> (String, String) {
    let mut program = Program::default();
    let count = measure(random);
    sum(&mut program, "sum", &count, random.one_in(2));
    let step = format!("(acc x (+ i {count}))");
    program.function(
        "acc",
        "Lst Int -> Int",
        random.one_in(2),
        &[("(acc nil i)", "i"), ("(acc (cons h x) i)", &step)],
    );
    let from = random.between(0, 4);
    both(
        &program,
        &format!("(= (acc x {from}) (+ (sum x) {from}))"),
        &format!("(= (acc x {from}) (+ (sum x) {}))", from + 1),
    )
}

fn numbers(random: &mut Random) -> (String, String) {
    let mut program = Program::default();
    plus(&mut program, random);
    match random.below(3) {
        0 => both(
            &program,
            "(= (plus p q) (plus q p))",
            "(= (plus p q) (plus q (succ p)))",
        ),
        1 => both(
            &program,
            "(= (plus p (plus q r)) (plus (plus p q) r))",
            "(= (plus p (plus q r)) (plus (plus p p) r))",
        ),
        _ => {
            let twice = [
                ("(twice zero)", "zero"),
                ("(twice (succ p))", "(succ (succ (twice p)))"),
            ];
            program.function("twice", "Nat -> Nat", random.one_in(2), &twice);
            both(
                &program,
                "(= (twice p) (plus p p))",
                "(= (twice p) (plus p (succ p)))",
            )
        }
    }
}

fn taken_and_dropped(random: &mut Random) -> (String, String) {
    let mut program = Program::default();
    append(&mut program, random.one_in(2));
    let first = random.one_in(2);
    program.function(
        "take",
        "Nat Lst -> Lst",
        first,
        &[
            ("(take zero x)", "nil"),
            ("(take (succ p) nil)", "nil"),
            ("(take (succ p) (cons h x))", "(cons h (take p x))"),
        ],
    );
    program.function(
        "drop",
        "Nat Lst -> Lst",
        first,
        &[
            ("(drop zero x)", "x"),
            ("(drop (succ p) nil)", "nil"),
            ("(drop (succ p) (cons h x))", "(drop p x)"),
        ],
    );
    both(
        &program,
        "(= (app (take p x) (drop p x)) x)",
        "(= (app (drop p x) (take p x)) x)",
    )
}

fn trees(random: &mut Random) -> (String, String) {
    let mut program = Program::default();
    let count = measure(random);
    let step = format!("(+ (weight s) {count} (weight t))");
    program.function(
        "weight",
        "Tree -> Int",
        random.one_in(2),
        &[("(weight leaf)", "0"), ("(weight (node s h t))", &step)],
    );
    program.function(
        "mirror",
        "Tree -> Tree",
        random.one_in(2),
        &[
            ("(mirror leaf)", "leaf"),
            ("(mirror (node s h t))", "(node (mirror t) h (mirror s))"),
        ],
    );
    match random.one_in(2) {
        true => both(
            &program,
            "(= (mirror (mirror t)) t)",
            "(= (mirror (mirror t)) (mirror t))",
        ),
        false => both(
            &program,
            "(= (weight (mirror t)) (weight t))",
            "(= (weight (mirror t)) (+ (weight t) 1))",
        ),
    }
}

fn flattened(random: &mut Random) -> (String, String) {
    let mut program = Program::default();
    append(&mut program, random.one_in(2));
    let count = measure(random);
    sum(&mut program, "sum", &count, random.one_in(2));
    let step = format!("(+ (weight s) {count} (weight t))");
    program.function(
        "weight",
        "Tree -> Int",
        random.one_in(2),
        &[("(weight leaf)", "0"), ("(weight (node s h t))", &step)],
    );
    program.function(
        "flat",
        "Tree -> Lst",
        random.one_in(2),
        &[
            ("(flat leaf)", "nil"),
            ("(flat (node s h t))", "(app (flat s) (cons h (flat t)))"),
        ],
    );
    both(
        &program,
        "(= (sum (flat t)) (weight t))",
        "(= (sum (flat t)) (+ (weight t) (sum (flat t))))",
    )
}

fn filtered(random: &mut Random) -> (String, String) {
    let mut program = Program::default();
    let bound = random.between(0, 4);
    append(&mut program, random.one_in(2));
    sum(&mut program, "len", "1", random.one_in(2));
    let keep = format!("(ite (> h {bound}) (cons h (keep x)) (keep x))");
    program.function(
        "keep",
        "Lst -> Lst",
        random.one_in(2),
        &[("(keep nil)", "nil"), ("(keep (cons h x))", &keep)],
    );
    match random.one_in(2) {
        true => both(
            &program,
            "(<= (len (keep x)) (len x))",
            "(< (len (keep x)) (len x))",
        ),
        false => both(
            &program,
            "(= (keep (app x y)) (app (keep x) (keep y)))",
            "(= (keep (app x y)) (app (keep x) y))",
        ),
    }
}

/// All families, with their names.
pub const FAMILIES: &[(&str, Family)] = &[
    ("sums of appended lists", sums_of_appended),
    ("sums of mapped lists", sums_of_mapped),
    ("reversed lists", reversed),
    ("sums of reversed lists", sums_of_reversed),
    ("accumulators", accumulated),
    ("Peano numbers", numbers),
    ("parts of lists", taken_and_dropped),
    ("trees", trees),
    ("flattened trees", flattened),
    ("filtered lists", filtered),
];
