//! Large systems in small blocks: the default decides each planted family, by the sparse analysis
//! before all passes.

use std::rc::Rc;

use alphorn::chc::frontend::parse;
use alphorn::run::Context;
use alphorn::term::TermStore;
use alphorn::witness::Verdict;
use alphorn::{Config, normal_form, solve};
use alphorn_domain::sparse::analyse;
use alphorn_samples::large::{Family, text};

/// The verdict of the default, and the engine that had it.
fn answer(family: Family, size: usize, safe: bool, seed: u64) -> (Option<bool>, String) {
    let terms = Rc::new(TermStore::new());
    let problem = parse(&text(family, size, safe, seed), terms.clone()).expect("it is well-formed");
    let mut cx = Context::new(terms);
    let found = solve(&problem, &Config::default(), &mut cx).expect("the names are known");
    assert_eq!(cx.stats.count("witness.failures"), 0);
    let engine = cx.stats.texts().find(|t| t.0 == "answer.engine");
    let engine = engine.map_or("none", |t| t.1).to_owned();
    let verdict = match found.verdict() {
        Verdict::Sat(_) | Verdict::Proven(_) => Some(true),
        Verdict::Unsat(_) => Some(false),
        Verdict::Unknown(_) => None,
    };
    (verdict, engine)
}

/// The size of a family at which a test takes about a second.
fn small(family: Family) -> usize {
    match family {
        Family::Flags => 64,
        Family::Tree => 127,
        _ => 90,
    }
}

/// How many of the answers are of the analysis; all have to be right.
fn of_the_analysis(safe: bool, size: impl Fn(Family) -> Option<usize>, seeds: u64) -> usize {
    let mut own = 0;
    for (name, family) in Family::ALL {
        let Some(size) = size(family) else { continue };
        for seed in 1..=seeds {
            let (verdict, engine) = answer(family, size, safe, seed);
            assert_eq!(verdict, Some(safe), "{name}, {seed}");
            own += usize::from(engine == "sparse");
        }
    }
    own
}

/// Systems of few clauses are left to the engines.
#[test]
fn the_analysis_proves_what_is_planted() {
    let own = of_the_analysis(true, |family| Some(small(family)), 2);
    assert!(own >= 2 * (Family::ALL.len() - 2), "{own}");
}

/// Some engines refute short twins sooner.
#[test]
fn walks_refute_the_twins() {
    let size = |family| match family {
        Family::Flags | Family::Facts => None,
        Family::Tree | Family::Chain | Family::Unknowns => Some(255),
        _ => Some(200),
    };
    let own = of_the_analysis(false, size, 1);
    assert!(own >= 5, "{own}");
}

/// The work of the analysis of a safe system and of its proof.
fn work(family: Family, size: usize) -> f64 {
    let terms = Rc::new(TermStore::new());
    let input = text(family, size, true, 1);
    let problem = parse(&input, terms.clone()).expect("it is well-formed");
    let system = normal_form(&problem);
    let before = terms.work();
    let analysis = analyse(&system, &Context::new(terms.clone()).budget);
    assert!(analysis.proof().is_some(), "{family:?}, {size}");
    (terms.work() - before).as_secs_f64()
}

/// By counted work, the analysis of eight times as large systems takes at most 8^1.2 times as much.
#[test]
fn the_analysis_grows_with_the_system() {
    for (name, family) in &Family::ALL[..9] {
        let (small, large) = (work(*family, 250), work(*family, 2_000));
        let exponent = (large / small).log(8.0);
        assert!(
            exponent < 1.2,
            "{name}: {small} s, {large} s, exponent {exponent}"
        );
    }
}
