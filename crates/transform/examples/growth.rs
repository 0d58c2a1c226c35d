//! Prints the work of reading, analysing and checking large planted systems (`scripts/growth`).
//!
//! Usage: `growth [--text] FAMILY SIZE [safe|unsafe] [SEED]`. With `--text` it prints the system as
//! SMT-LIB; otherwise the line has the number of clauses, the queries
//! that the sparse analysis leaves open, and for each part its counted work and its time in seconds.

use std::io::Write as _;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Instant;

use alphorn_chc::frontend::parse;
use alphorn_domain::sparse::analyse;
use alphorn_samples::large::{Family, text};
use alphorn_term::TermStore;
use alphorn_term::run::Context;
use alphorn_transform::normalize;
use alphorn_witness::{Model, Verdict, validate};

fn main() -> ExitCode {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let prints = words.first().is_some_and(|word| word == "--text");
    words.drain(..usize::from(prints));
    let word = |at: usize| words.get(at).map(String::as_str);
    let family = word(0).and_then(Family::find);
    let size = word(1).and_then(|size| size.parse::<usize>().ok());
    let safe = word(2).unwrap_or("safe") == "safe";
    let seed = word(3).map_or(Some(1), |seed| seed.parse().ok());
    let (Some(family), Some(size @ 1..), Some(seed)) = (family, size, seed) else {
        let names: Vec<&str> = Family::ALL.iter().map(|f| f.0).collect();
        eprintln!("usage: growth [--text] FAMILY SIZE [safe|unsafe] [SEED]");
        eprintln!("families: {}", names.join(" "));
        return ExitCode::from(2);
    };
    let input = text(family, size, safe, seed);
    if prints {
        return match std::io::stdout().write_all(input.as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    let terms = Rc::new(TermStore::new());
    let mut parts = Parts {
        terms: terms.clone(),
        line: String::new(),
    };
    let Ok(problem) = parts.part("read", || parse(&input, terms.clone())) else {
        eprintln!("growth: the text cannot be read");
        return ExitCode::FAILURE;
    };
    let (system, _) = parts.part("normalize", || normalize(&problem));
    let mut cx = Context::new(terms.clone());
    let analysis = parts.part("analysis", || analyse(&system, &cx.budget));
    let open = analysis.open_queries().len();
    let proof = parts.part("proof", || analysis.proof());
    let (mut result, mut conjuncts) = ("open", 0);
    if let Some(proof) = proof {
        conjuncts = proof.values().map(Vec::len).sum();
        let definitions = system.used_predicates().into_iter().map(|p| {
            let formulas = proof.get(&p).map_or(&[][..], |all| all);
            (p, terms.and(formulas))
        });
        let model = Model {
            definitions: definitions.collect(),
            ..Model::default()
        };
        let verdict = Verdict::Sat(model);
        let found = parts.part("check", || validate(&problem, verdict, &mut cx));
        result = match found.reason() {
            None => "sat",
            Some(_) => "unchecked",
        };
    }
    let clauses = system.clauses.len();
    for &query in analysis.open_queries().iter().take(3) {
        let body = &system.clauses[query].body;
        let names: Vec<&str> = body
            .iter()
            .map(|a| &*system.predicate(a.predicate).name)
            .collect();
        eprintln!("growth: open at {}", names.join(", "));
    }
    let line = parts.line;
    println!("{result} clauses {clauses} open {open} conjuncts {conjuncts}{line}");
    ExitCode::SUCCESS
}

/// Measures parts.
struct Parts {
    terms: Rc<TermStore>,
    line: String,
}

impl Parts {
    fn part<T>(&mut self, name: &str, run: impl FnOnce() -> T) -> T {
        let (start, before) = (Instant::now(), self.terms.work());
        let result = run();
        let work = (self.terms.work() - before).as_secs_f64();
        let time = start.elapsed().as_secs_f64();
        self.line += &format!(" {name} {work:.6} {time:.3}");
        result
    }
}
