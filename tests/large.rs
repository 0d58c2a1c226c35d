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

/// The verdict of the default, and where it comes from.
struct Answer {
    verdict: Option<bool>,
    engine: String,
    stage: String,
}

/// The answer of the default. No witness fails its check.
fn answer_to(text: &str) -> Answer {
    let terms = Rc::new(TermStore::new());
    let problem = parse(text, terms.clone()).expect("it is well-formed");
    let mut cx = Context::new(terms);
    let found = solve(&problem, &Config::default(), &mut cx).expect("the names are known");
    assert_eq!(cx.stats.count("witness.failures"), 0);
    let shown = |name: &str| {
        let text = cx.stats.texts().find(|t| t.0 == name);
        text.map_or("none", |t| t.1).to_owned()
    };
    let (engine, stage) = (shown("answer.engine"), shown("answer.stage"));
    let verdict = match found.verdict() {
        Verdict::Sat(_) | Verdict::Proven(_) => Some(true),
        Verdict::Unsat(_) => Some(false),
        Verdict::Unknown(_) => None,
    };
    Answer {
        verdict,
        engine,
        stage,
    }
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
            let answer = answer_to(&text(family, size, safe, seed));
            assert_eq!(answer.verdict, Some(safe), "{name}, {seed}");
            own += usize::from(answer.engine == "sparse");
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

/// A program of intervals with a loop behind it, in which `v0` is at least `v1 + v2` because the
/// program keeps `i1` above zero. No layer of the analysis relates three variables by a bound.
fn with_relational_loop(size: usize, bad: &str) -> String {
    let text = text(Family::Intervals, size, true, 1);
    let query = text.lines().rfind(|line| line.contains("(or (< i1 0)"));
    let query = query.expect("a query about i1");
    let (binders, rest) = query.split_once(") (=> (and (L_").expect("a clause");
    let (atom, _) = rest.split_once(')').expect("an atom");
    let (location, variables) = atom.split_once(' ').expect("arguments");
    let changed = |name: &str, changes: &[(&str, &str)]| {
        let new = |v: &str| changes.iter().find(|c| c.0 == v).map(|c| c.1.to_owned());
        let arguments = variables.split(' ').map(|v| new(v).unwrap_or(v.to_owned()));
        format!("({name} {})", arguments.collect::<Vec<_>>().join(" "))
    };
    let zeros = [("v0", "0"), ("v1", "0"), ("v2", "0")];
    let more = ("v0", "(+ v0 i1 1)");
    let (head, back) = (changed("head", &[]), changed("back", &[]));
    let loops = [
        (
            format!("(L_{location} {variables})"),
            changed("head", &zeros),
        ),
        (head.clone(), changed("back", &[more, ("v1", "(+ v1 1)")])),
        (head.clone(), changed("back", &[more, ("v2", "(+ v2 1)")])),
        (back, head.clone()),
        (format!("(and {head} {bad})"), "false".to_owned()),
    ];
    let loops = loops.map(|(body, head)| format!("{binders}) (=> {body} {head})))\n"));
    let sorts = vec!["Int"; variables.split(' ').count()].join(" ");
    let declarations =
        format!("(declare-fun head ({sorts}) Bool)\n(declare-fun back ({sorts}) Bool)\n");
    let start = text.find("(assert").expect("a clause");
    let clauses = text[start..].replace("(check-sat)", &loops.concat());
    format!("{}{declarations}{clauses}(check-sat)\n", &text[..start])
}

/// What is near an open query is enough together with the facts of the analysis; a violation far from
/// the start is none near the query.
#[test]
fn open_queries_are_proven_near_them() {
    let safe = answer_to(&with_relational_loop(900, "(< v0 (+ v1 v2))"));
    assert_eq!((safe.verdict, &*safe.stage), (Some(true), "near"));
    let twin = answer_to(&with_relational_loop(900, "(> v1 1)"));
    assert_eq!(twin.verdict, Some(false));
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
