//! Two counters in a loop: x goes up by one and y by two. Is y always twice x? Is it ever 6?
//!
//! Run it with `cargo run --example two_counters`.

use std::error::Error;
use std::io::Write;
use std::rc::Rc;

use alphorn::chc::{Atom, System, to_smtlib};
use alphorn::frontend::parse;
use alphorn::run::Context;
use alphorn::term::{Assignment, Printer, SortId, TermId, TermStore, evaluate};
use alphorn::witness::Verdict;
use alphorn::{Config, solve};

/// Decides whether the loop has a state that is `wrong`, and says how it is known.
fn decide(
    out: &mut impl Write,
    wrong: impl Fn(&TermStore, TermId, TermId) -> TermId,
) -> Result<(), Box<dyn Error>> {
    let terms = Rc::new(TermStore::new());
    let (x, y) = (terms.var("x", SortId::INT), terms.var("y", SortId::INT));
    let mut system = System::new(terms.clone());
    let predicate = system.add_predicate("Loop", &[SortId::INT, SortId::INT]);
    let state = |x, y| Atom {
        predicate,
        args: vec![x, y],
    };
    let (x1, y1) = (terms.var("x1", SortId::INT), terms.var("y1", SortId::INT));
    let step = terms.and(&[
        terms.eq(x1, terms.add(&[x, terms.int(1)])),
        terms.eq(y1, terms.add(&[y, terms.int(2)])),
    ]);
    let start = terms.and(&[terms.eq(x, terms.int(0)), terms.eq(y, terms.int(0))]);
    system.add_clause(vec![], start, Some(state(x, y)));
    system.add_clause(vec![state(x, y)], step, Some(state(x1, y1)));
    system.add_clause(vec![state(x, y)], wrong(&terms, x, y), None);

    // An answer is about text, against which it is checked.
    let problem = parse(&to_smtlib(&system), terms.clone())?;
    let answer = solve(
        &problem,
        &Config::default(),
        &mut Context::new(terms.clone()),
    )?;
    match answer.verdict() {
        Verdict::Sat(model) => {
            let (params, invariant) =
                (&problem.predicates[0].params, model.definitions[&predicate]);
            writeln!(out, "safe; the invariant has {} parameters", params.len())?;
            for (x, y) in [(2, 4), (2, 5)] {
                let values = params.iter().copied().zip([terms.int(x), terms.int(y)]);
                let holds = evaluate(&terms, invariant, &Assignment::from_iter(values));
                writeln!(
                    out,
                    "  holds of ({x}, {y}): {}",
                    holds == Some(TermId::TRUE)
                )?;
            }
        }
        Verdict::Unsat(refutation) => {
            writeln!(out, "unsafe:")?;
            let printer = Printer::new(&terms);
            for fact in refutation
                .steps
                .iter()
                .filter_map(|step| step.fact.as_ref())
            {
                let values: Vec<_> = fact.values.iter().map(|v| printer.term(*v)).collect();
                writeln!(out, "  Loop({})", values.join(", "))?;
            }
        }
        Verdict::Unknown(reason) => writeln!(out, "unknown: {reason}")?,
    }
    Ok(())
}

/// Asks both questions.
pub fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    decide(out, |terms, x, y| {
        terms.not(terms.eq(y, terms.mul(&[terms.int(2), x])))
    })?;
    decide(out, |terms, _, y| terms.eq(y, terms.int(6)))
}

#[allow(dead_code)] // The test that includes this has its own.
fn main() -> Result<(), Box<dyn Error>> {
    run(&mut std::io::stdout())
}
