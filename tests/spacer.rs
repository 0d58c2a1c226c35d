//! What the paper's own programs show of `spacer`.

#[path = "common/trials.rs"]
#[allow(dead_code)]
mod trials;

use std::path::Path;
use std::rc::Rc;

use alphorn::frontend::parse_bytes;
use alphorn::run::Context;
use alphorn::term::TermStore;
use alphorn::witness::Verdict;
use alphorn::{Config, solve};
use trials::PATIENCE;

/// The verdict's word and the statistics of a run on one of the paper's programs.
fn run(name: &str, passes: &str, settings: &[&str]) -> (&'static str, Context) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("horn-benchmarks/papers")
        .join(format!("{name}.smt2"));
    let terms = Rc::new(TermStore::new());
    let bytes = std::fs::read(path).expect("it is there");
    let problem = parse_bytes(&bytes, terms.clone()).expect("well-formed");
    let mut cx = Context::new(terms);
    cx.budget = cx.budget.time(PATIENCE);
    let config = Config {
        engine: "spacer".to_owned(),
        passes: Some(passes.to_owned()),
        settings: settings.iter().map(|s| (*s).to_owned()).collect(),
    };
    let validated = solve(&problem, &config, &mut cx).expect("the configuration is right");
    let word = match validated.verdict() {
        Verdict::Sat(_) => "sat",
        Verdict::Unsat(_) => "unsat",
        Verdict::Unknown(_) => "unknown",
    };
    (word, cx)
}

#[test]
fn figure_2_is_safe_by_small_bounds_and_a_part_of_the_program() {
    for bounding in ["heights", "counters"] {
        let bounding = format!("spacer.bounding={bounding}");
        let settings = [bounding.as_str(), "spacer.refinement=pba"];
        // As it is written, for the passes find its invariant.
        let (word, cx) = run("spacer-fig2-safe", "none", &settings);
        assert_eq!(word, "sat", "{bounding}");
        let count = |name: &str| cx.stats.count(&format!("spacer.{name}"));
        assert!(count("iterations") > 1, "{bounding}");
        assert!((1..=5).contains(&count("B")), "{bounding}: {}", count("B"));
        let (last, largest) = (count("a_f-percent"), count("a_m-percent"));
        assert!(
            0 < last && last <= largest && largest < 100,
            "{bounding}: {last}, {largest}"
        );
    }
}

#[test]
fn figure_1_is_safe() {
    let passes = "none";
    let settings = ["spacer.bounding=heights", "spacer.refinement=pba"];
    let (word, cx) = run("spacer-fig1-pg-safe", passes, &settings);
    assert_eq!(word, "sat");
    assert!((1..100).contains(&cx.stats.count("spacer.a_f-percent")));
    assert_eq!(run("spacer-fig1-pg-unsafe", passes, &settings).0, "unsat");
}
