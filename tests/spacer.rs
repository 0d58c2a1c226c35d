//! The engine `spacer` on programs of its paper, with the columns of Table 1.

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

/// The verdict and the statistics of a run on a program of the corpus.
fn run(name: &str, passes: &str, settings: &[&str]) -> (&'static str, Context) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("horn-benchmarks")
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
        ..Config::default()
    };
    let validated = solve(&problem, &config, &mut cx).expect("the configuration is right");
    let word = match validated.verdict() {
        Verdict::Sat(_) | Verdict::Proven(_) => "sat",
        Verdict::Unsat(_) => "unsat",
        Verdict::Unknown(_) => "unknown",
    };
    (word, cx)
}

/// The columns of Table 1 for a run, and the part of Σ that the model needs.
#[derive(Debug)]
struct Row {
    iterations: u64,
    bound: u64,
    last: u64,
    largest: u64,
    needed: u64,
}

/// The row of a program without passes; the program has to be safe.
fn row(name: &str, settings: &[&str]) -> Row {
    let (word, cx) = run(name, "none", settings);
    assert_eq!(word, "sat", "{name}, {settings:?}");
    let count = |name: &str| cx.stats.count(&format!("spacer.{name}"));
    let row = Row {
        iterations: count("iterations"),
        bound: count("B"),
        last: count("a_f-percent"),
        largest: count("a_m-percent"),
        needed: count("needed-percent"),
    };
    assert!(row.last <= row.largest && row.largest <= 100, "{row:?}");
    assert!(0 < row.needed && row.needed <= 100, "{row:?}");
    row
}

const BOUNDINGS: [&str; 2] = ["spacer.bounding=heights", "spacer.bounding=counters"];

/// Without passes, since they find its invariant. With refinement by cores, a part of the program is
/// enough: Σ is never the whole program.
#[test]
fn figure_2_is_safe_by_small_bounds_and_a_part_of_the_program() {
    for bounding in BOUNDINGS {
        for granularity in ["literals", "conjuncts"] {
            let granularity = format!("spacer.granularity={granularity}");
            let settings = [bounding, "spacer.refinement=cegar", &granularity];
            let row = row("papers/spacer-fig2-safe", &settings);
            assert!(row.iterations > 2, "{settings:?}: {row:?}");
            assert!((1..=10).contains(&row.bound), "{settings:?}: {row:?}");
            assert!(0 < row.last && row.largest < 70, "{settings:?}: {row:?}");
        }
    }
}

/// After a spurious counterexample Σ is the whole program, which counts as 100 %, even if the model
/// needs only a part of it.
#[test]
fn all_of_sigma_counts_as_such() {
    for bounding in BOUNDINGS {
        let row = row(
            "papers/spacer-fig2-safe",
            &[bounding, "spacer.refinement=pba"],
        );
        assert_eq!(row.largest, 100, "{bounding}: {row:?}");
        assert!(row.needed < 100, "{bounding}: {row:?}");
    }
    // The first bound is sufficient, so there is no query about an abstraction.
    let settings = ["spacer.bounding=counters", "spacer.refinement=cegar"];
    let row = row("generated/pipeline-5-safe", &settings);
    assert_eq!((row.iterations, row.bound), (1, 0), "{row:?}");
    assert_eq!((row.last, row.largest), (100, 100), "{row:?}");
}

/// Three rows of Table 1: for `gcnr`, which is Fig. 1(a), at most the paper's numbers; for programs
/// with the structure of a token ring and of a pipeline, our numbers with some margin.
#[test]
fn rows_of_table_1() {
    let heights = ["spacer.bounding=heights", "spacer.refinement=cegar"];
    let literals = [&heights[..], &["spacer.granularity=literals"]].concat();
    for (name, settings, [bound, last, largest]) in [
        ("papers/spacer-fig1-pg-safe", &literals[..], [26, 81, 95]),
        ("generated/ring-4-safe", &heights[..], [8, 90, 95]),
        ("generated/pipeline-30-safe", &heights[..], [31, 75, 75]),
    ] {
        let row = row(name, settings);
        assert!(row.iterations > 2, "{name}: {row:?}");
        assert!((1..=bound).contains(&row.bound), "{name}: {row:?}");
        assert!(
            row.last <= last && row.largest <= largest,
            "{name}: {row:?}"
        );
    }
}

/// With the settings of the paper the loop has counters, literals and cores, and Z3's engine proves
/// Fig. 2 under a bound, which it does not prove alone. The default is another loop.
#[test]
fn figure_2_is_safe_as_in_the_paper() {
    let row = row("papers/spacer-fig2-safe", &["spacer.as-in-paper=true"]);
    assert!(
        row.iterations > 1 && (1..=10).contains(&row.bound),
        "{row:?}"
    );
    assert!(0 < row.last && row.largest < 70, "{row:?}");
}

/// Cores first: like cores on a program where these are cheap.
#[test]
fn hybrid_refinement_leaves_constraints_out() {
    let row = row("papers/spacer-fig2-safe", &["spacer.refinement=hybrid"]);
    assert!(0 < row.last && row.largest < 100, "{row:?}");
    let (word, _) = run(
        "papers/spacer-fig2-unsafe",
        "none",
        &["spacer.refinement=hybrid"],
    );
    assert_eq!(word, "unsat");
}

#[test]
fn figure_1_is_safe() {
    let passes = "none";
    let settings = ["spacer.bounding=heights", "spacer.refinement=pba"];
    let (word, cx) = run("papers/spacer-fig1-pg-safe", passes, &settings);
    assert_eq!(word, "sat");
    assert!((1..100).contains(&cx.stats.count("spacer.needed-percent")));
    let unsafe_ = "papers/spacer-fig1-pg-unsafe";
    assert_eq!(run(unsafe_, passes, &settings).0, "unsat");
}
