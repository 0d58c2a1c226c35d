//! Two counters in a loop: x goes up by one and y by two. Is y always twice x? Is it never 6?
//!
//! Run it with `cargo run --example two_counters`.

use std::{error::Error, io::Write, rc::Rc};

use alphorn::chc::{Atom, System};
use alphorn::term::{Printer, SortId, TermStore};
use alphorn::{Config, run::Context, solve_system, witness::Verdict};

/// Asks both questions, and prints the invariant or the run that answers each.
pub fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let t = Rc::new(TermStore::new());
    let [x, y, next_x, next_y] = ["x", "y", "xx", "yy"].map(|name| t.var(name, SortId::INT));
    for wrong in [t.not(t.eq(y, t.add(&[x, x]))), t.eq(y, t.int(6))] {
        let mut system = System::new(t.clone());
        let predicate = system.add_predicate("Loop", &[SortId::INT; 2]);
        let state = |args: [_; 2]| Atom {
            predicate,
            args: args.into(),
        };
        let start = t.and(&[t.eq(x, t.int(0)), t.eq(y, t.int(0))]);
        let step = [
            t.eq(next_x, t.add(&[x, t.int(1)])),
            t.eq(next_y, t.add(&[y, t.int(2)])),
        ];
        system.add_clause(vec![], start, Some(state([x, y])));
        system.add_clause(
            vec![state([x, y])],
            t.and(&step),
            Some(state([next_x, next_y])),
        );
        system.add_clause(vec![state([x, y])], wrong, None);
        let mut cx = Context::new(t.clone());
        let (_, answer) = solve_system(&system, &Config::default(), &mut cx)?;
        let show = |term| Printer::new(&t).term(term);
        match answer.verdict() {
            Verdict::Sat(model) => writeln!(out, "safe: {}", show(model.definitions[&predicate]))?,
            Verdict::Unsat(refutation) => {
                for fact in refutation
                    .steps
                    .iter()
                    .filter_map(|step| step.fact.as_ref())
                {
                    let values: Vec<_> = fact.values.iter().map(|&v| show(v)).collect();
                    writeln!(out, "reached: Loop({})", values.join(", "))?;
                }
            }
            Verdict::Proven(proof) => {
                writeln!(out, "safe: {} lemmas about derivations", proof.lemmas.len())?;
            }
            Verdict::Unknown(reason) => writeln!(out, "unknown: {reason}")?,
        }
    }
    Ok(())
}

#[allow(dead_code)] // The test that includes this has its own.
fn main() -> Result<(), Box<dyn Error>> {
    run(&mut std::io::stdout())
}
