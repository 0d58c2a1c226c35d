//! Formulas of any shape over predicates with Boolean arguments, against all interpretations.
//!
//! Such a text has finitely many interpretations, so whether it is satisfiable can be found by trying
//! them all. The reader makes clauses of the formulas, with cases, auxiliary predicates and
//! complements; the answer has to be the same, or `unknown` or an error that says that the text is
//! not Horn.

use std::rc::Rc;

use alphorn::frontend::parse;
use alphorn::run::Context;
use alphorn::term::{Random, TermStore};
use alphorn::witness::{CheckOutcome, ProofFormat, Wanted, check_claim, parse_witness};
use alphorn::{Config, solve};

/// The predicates: names and numbers of Boolean arguments.
const PREDICATES: [(&str, usize); 4] = [("a", 0), ("b", 0), ("p", 1), ("q", 2)];

/// A formula; variables are numbered from the outermost quantifier.
enum Formula {
    Constant(bool),
    Variable(usize),
    Atom(usize, Vec<Formula>),
    /// A connective: `not`, `and`, `or`, `=>`, `xor`, `=`, `ite`, `distinct`.
    Apply(&'static str, Vec<Formula>),
    /// The name of a `let` and what it is.
    Let(Box<Formula>, Box<Formula>),
    /// Whether it is universal.
    Quantifier(bool, Box<Formula>),
}

fn formula(random: &mut Random, depth: u32, variables: usize) -> Formula {
    if depth == 0 || random.one_in(6) {
        return match random.below(8u32) {
            0 => Formula::Constant(random.one_in(2)),
            1 | 2 if variables > 0 => Formula::Variable(random.below(variables)),
            _ => {
                let number = random.below(PREDICATES.len());
                let arguments = (0..PREDICATES[number].1)
                    .map(|_| {
                        // Sometimes an atom is an argument of another.
                        let depth = u32::from(depth > 0 && random.one_in(8));
                        match variables {
                            0 => formula(random, depth, variables),
                            _ if depth > 0 => formula(random, depth, variables),
                            _ => Formula::Variable(random.below(variables)),
                        }
                    })
                    .collect();
                Formula::Atom(number, arguments)
            }
        };
    }
    let parts = |random: &mut Random, count: usize| -> Vec<Formula> {
        (0..count)
            .map(|_| formula(random, depth - 1, variables))
            .collect()
    };
    match random.below(14u32) {
        0 | 1 => Formula::Apply("not", parts(random, 1)),
        2 | 3 => Formula::Apply("and", parts(random, 2)),
        4 | 5 => Formula::Apply("or", parts(random, 2)),
        6 | 7 => Formula::Apply("=>", parts(random, 2)),
        8 => Formula::Apply("xor", parts(random, 2)),
        9 => Formula::Apply("=", parts(random, 2)),
        10 => Formula::Apply("ite", parts(random, 3)),
        11 => Formula::Apply("distinct", parts(random, 2)),
        12 => {
            let bound = formula(random, depth - 1, variables);
            Formula::Let(
                Box::new(bound),
                Box::new(formula(random, depth - 1, variables + 1)),
            )
        }
        _ => Formula::Quantifier(
            random.one_in(2),
            Box::new(formula(random, depth - 1, variables + 1)),
        ),
    }
}

fn print(formula: &Formula, variables: usize, out: &mut String) {
    match formula {
        Formula::Constant(value) => out.push_str(&value.to_string()),
        Formula::Variable(number) => out.push_str(&format!("x{number}")),
        Formula::Atom(number, arguments) if arguments.is_empty() => {
            out.push_str(PREDICATES[*number].0);
        }
        Formula::Atom(number, arguments) => apply(PREDICATES[*number].0, arguments, variables, out),
        Formula::Apply(name, arguments) => apply(name, arguments, variables, out),
        Formula::Let(bound, body) => {
            out.push_str(&format!("(let ((x{variables} "));
            print(bound, variables, out);
            out.push_str(")) ");
            print(body, variables + 1, out);
            out.push(')');
        }
        Formula::Quantifier(universal, body) => {
            let name = if *universal { "forall" } else { "exists" };
            out.push_str(&format!("({name} ((x{variables} Bool)) "));
            print(body, variables + 1, out);
            out.push(')');
        }
    }
}

fn apply(name: &str, arguments: &[Formula], variables: usize, out: &mut String) {
    out.push_str(&format!("({name}"));
    for argument in arguments {
        out.push(' ');
        print(argument, variables, out);
    }
    out.push(')');
}

/// The bits of an interpretation: one for each predicate and tuple of arguments.
fn bit(predicate: usize, arguments: &[bool]) -> u32 {
    let before: u32 = PREDICATES[..predicate].iter().map(|p| 1 << p.1).sum();
    let index = arguments
        .iter()
        .fold(0, |index, &a| 2 * index + u32::from(a));
    before + index
}

fn holds(formula: &Formula, interpretation: u32, variables: &mut Vec<bool>) -> bool {
    match formula {
        Formula::Constant(value) => *value,
        Formula::Variable(number) => variables[*number],
        Formula::Atom(number, arguments) => {
            let values: Vec<bool> = arguments
                .iter()
                .map(|a| holds(a, interpretation, variables))
                .collect();
            (interpretation >> bit(*number, &values)) & 1 == 1
        }
        Formula::Apply(name, arguments) => {
            let values: Vec<bool> = arguments
                .iter()
                .map(|a| holds(a, interpretation, variables))
                .collect();
            match (*name, &values[..]) {
                ("not", [a]) => !a,
                ("and", [a, b]) => *a && *b,
                ("or", [a, b]) => *a || *b,
                ("=>", [a, b]) => !a || *b,
                ("xor" | "distinct", [a, b]) => a != b,
                ("=", [a, b]) => a == b,
                ("ite", [a, b, c]) => {
                    if *a {
                        *b
                    } else {
                        *c
                    }
                }
                _ => unreachable!("no other connective is made"),
            }
        }
        Formula::Let(bound, body) => {
            let value = holds(bound, interpretation, variables);
            with(variables, value, |variables| {
                holds(body, interpretation, variables)
            })
        }
        Formula::Quantifier(universal, body) => {
            let mut for_value = |value| {
                with(variables, value, |variables| {
                    holds(body, interpretation, variables)
                })
            };
            let values = [for_value(false), for_value(true)];
            match universal {
                true => values[0] && values[1],
                false => values[0] || values[1],
            }
        }
    }
}

fn with<T>(variables: &mut Vec<bool>, value: bool, run: impl FnOnce(&mut Vec<bool>) -> T) -> T {
    variables.push(value);
    let result = run(variables);
    variables.pop();
    result
}

#[test]
fn formulas_of_any_shape_agree_with_all_interpretations() {
    let mut random = Random::new(7);
    let (mut sat, mut unsat, mut refused, mut unknown) = (0, 0, 0, 0);
    for round in 0..600 {
        let count = 1 + random.below(4usize);
        let assertions: Vec<Formula> = (0..count)
            .map(|_| {
                let depth = 1 + random.below(4u32);
                Formula::Quantifier(true, Box::new(formula(&mut random, depth, 1)))
            })
            .collect();
        let mut text = String::from("(set-logic HORN)\n");
        for (name, arguments) in PREDICATES {
            text.push_str(&format!(
                "(declare-fun {name} ({}) Bool)\n",
                "Bool ".repeat(arguments)
            ));
        }
        for assertion in &assertions {
            text.push_str("(assert ");
            print(assertion, 0, &mut text);
            text.push_str(")\n");
        }
        text.push_str("(check-sat)\n");
        let bits: u32 = PREDICATES.iter().map(|p| 1u32 << p.1).sum();
        let expected =
            (0..1u32 << bits).any(|i| assertions.iter().all(|a| holds(a, i, &mut Vec::new())));
        let terms = Rc::new(TermStore::new());
        let problem = match parse(&text, terms.clone()) {
            Ok(problem) => problem,
            Err(error) => {
                let message = error.message();
                assert!(
                    message.contains("Horn")
                        || message.contains("exists")
                        || message.contains("forall"),
                    "{message}\n{text}"
                );
                refused += 1;
                continue;
            }
        };
        let mut cx = Context::new(terms);
        let answer = solve(&problem, &Config::default(), &mut cx).expect("no names");
        assert_eq!(
            cx.stats.count("witness.failures"),
            0,
            "round {round}\n{text}"
        );
        let wanted = Wanted {
            model: true,
            proof: Some(ProofFormat::Text),
            reason_unknown: false,
            ..Wanted::default()
        };
        let output = answer.output(&problem, wanted);
        match output.word() {
            "sat" => {
                assert!(expected, "round {round}\n{text}");
                sat += 1;
            }
            "unsat" => {
                assert!(!expected, "round {round}\n{text}");
                unsat += 1;
            }
            _ => {
                unknown += 1;
                continue;
            }
        }
        let printed = format!("{}\n{}", output.word(), output.details());
        let claim =
            parse_witness(&problem, &printed).unwrap_or_else(|e| panic!("{e}\n{printed}\n{text}"));
        assert_eq!(
            check_claim(&problem, &claim, &mut cx),
            CheckOutcome::Valid,
            "{printed}\n{text}"
        );
    }
    println!("sat {sat}, unsat {unsat}, refused {refused}, unknown {unknown}");
    assert!(
        sat > 100 && unsat > 60 && unknown < 20,
        "sat {sat}, unsat {unsat}, unknown {unknown}"
    );
}
