//! The paper's example with its numbers of nodes, each guard, weights, and both verdicts in all
//! modes.

use std::path::Path;
use std::time::Duration;

use super::guards::Guard;
use super::options::{Blocks, Force, Kinds, Labels, Order};
use super::*;
use alphorn_chc::Theories;
use alphorn_chc::frontend::{Problem, parse};
use alphorn_samples::is_model;
use alphorn_term::{SortId, TermStore};
use alphorn_transform::normalize;
use alphorn_witness::{check_refutation, validate};

/// The time limit of a run.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// A task of the corpus' folder `papers`.
fn task(name: &str) -> Problem {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../horn-benchmarks/papers");
    let text = std::fs::read_to_string(folder.join(format!("interpchecker-{name}.smt2")));
    parse(&text.expect("a task"), Rc::new(TermStore::new())).expect("Horn clauses")
}

/// The paper's mode: an edge for each clause, in the order of the clauses, without pruning.
fn reproduction(kinds: Kinds) -> Options {
    Options {
        kinds,
        search: Order::Dfs,
        force: Force::None,
        blocks: Blocks::Clause,
        labels: Labels::Shared,
        domain: true,
        prune: false,
    }
}

/// The result of a search before any check.
struct Raw {
    /// Whether the answer is that the clauses have a model, and whether its witness is correct.
    answer: Option<(bool, bool)>,
    verdict: Option<Verdict>,
    counts: search::Counts,
    lemmas: Lemmas,
    error_paths: Vec<Vec<usize>>,
}

fn raw(system: &System, options: &Options, guards: Guards) -> Raw {
    raw_from(system, options, guards, |_| ())
}

/// The same after the search was prepared by the caller.
fn raw_from(
    system: &System,
    options: &Options,
    guards: Guards,
    prepare: impl FnOnce(&mut Search),
) -> Raw {
    let mut cx = Context::new(system.terms.clone());
    cx.budget = cx.budget.time(TIME_LIMIT);
    let smt = Smt::within(&cx.budget);
    let reachability = Reachability::new(system);
    let own = explored(system, &reachability, options);
    let mut search = Search::new(&own, options, guards, &smt, &mut cx);
    prepare(&mut search);
    let end = search.run();
    let lemmas = search.facts.lemmas();
    let (counts, error_paths) = (search.counts, search.error_paths);
    let (answer, verdict) = match end {
        Ok(End::Safe(definitions)) => {
            let mut model = Model {
                definitions,
                ..Model::default()
            };
            complete_by_reachability(system, &reachability, &mut model);
            let answer = (true, is_model(system, &model));
            (Some(answer), Some(Verdict::Sat(model)))
        }
        Ok(End::Unsafe(refutation)) => {
            let answer = (false, check_refutation(system, &refutation).is_ok());
            (Some(answer), Some(Verdict::Unsat(refutation)))
        }
        Err(_) => (None, None),
    };
    Raw {
        answer,
        verdict,
        counts,
        lemmas,
        error_paths,
    }
}

#[test]
fn the_papers_example_takes_as_many_nodes_as_in_the_paper() {
    let system = normalize(&task("exa-fig1-unsafe")).0;
    let pruned = |kinds| Options {
        prune: true,
        ..reproduction(kinds)
    };
    let forced = Options {
        force: Force::All,
        ..reproduction(Kinds::R)
    };
    for (options, nodes) in [
        (reproduction(Kinds::R), 29),
        (reproduction(Kinds::Re), 25),
        (reproduction(Kinds::Rs), 22),
        (reproduction(Kinds::Rse), 19),
        (pruned(Kinds::Rse), 17),
        (pruned(Kinds::R), 24),
        (forced, 22),
    ] {
        let raw = raw(&system, &options, Guards::default());
        assert_eq!(raw.answer, Some((false, true)), "{options:?}");
        assert_eq!(raw.counts.nodes, nodes, "{options:?}");
    }
}

const GUARDS: [(&str, bool, Guard); 6] = [
    ("guard-g1-unsafe", false, Guard::BlockerPerAction),
    ("guard-g2-unsafe", false, Guard::ClosedUnderLoops),
    ("guard-g3-safe", true, Guard::OnlyNewPart),
    ("guard-g4-safe", true, Guard::Derivation),
    ("guard-g5-unsafe", false, Guard::LabelWithinRegion),
    ("guard-g6-safe", true, Guard::DisjunctionPerAction),
];

/// All orders with all settings of forced covering; the other kinds in the default and the paper's
/// mode.
fn modes() -> Vec<Options> {
    let mut modes = Vec::new();
    for (search, blocks, force, labels) in [
        (
            Order::Weighted,
            Blocks::Action,
            Force::None,
            Labels::Forward,
        ),
        (Order::Dfs, Blocks::Action, Force::Heads, Labels::Shared),
        (Order::Bfs, Blocks::Action, Force::All, Labels::Shared),
        (Order::Bfs, Blocks::Action, Force::All, Labels::Obligations),
        (Order::Weighted, Blocks::Clause, Force::All, Labels::Forward),
        (Order::Bfs, Blocks::Clause, Force::None, Labels::Shared),
    ] {
        modes.push(Options {
            search,
            blocks,
            force,
            labels,
            ..Options::default()
        });
    }
    for kinds in [Kinds::R, Kinds::Re, Kinds::Rs, Kinds::Rse] {
        modes.push(reproduction(kinds));
        modes.push(Options {
            kinds,
            ..Options::default()
        });
    }
    modes
}

#[test]
fn with_its_guards_each_mode_is_right() {
    for (name, safe, _) in GUARDS {
        let system = normalize(&task(name)).0;
        for options in modes() {
            let raw = raw(&system, &options, Guards::default());
            assert_eq!(raw.answer, Some((safe, true)), "{name}: {options:?}");
        }
    }
}

/// Without a guard, its file has a wrong answer or none in some mode.
#[test]
fn without_a_guard_an_answer_is_wrong_or_lost() {
    for (name, safe, guard) in GUARDS {
        if guard == Guard::DisjunctionPerAction {
            continue;
        }
        let problem = task(name);
        let system = normalize(&problem).0;
        let guards = Guards { off: Some(guard) };
        let is_bad = |raw: &Raw| raw.answer != Some((safe, true));
        let kinds = [Kinds::Re, Kinds::Rs, Kinds::Rse];
        let runs = kinds.map(|kinds| raw(&system, &reproduction(kinds), guards));
        let bad = runs.into_iter().filter(is_bad).collect::<Vec<_>>();
        assert!(!bad.is_empty(), "{name}");
        // A wrong answer is not printed.
        for run in bad {
            let Some(verdict) = run.verdict else {
                continue;
            };
            let mut cx = Context::new(problem.terms.clone());
            let validated = validate(&problem, verdict, &mut cx);
            assert!(matches!(validated.verdict(), Verdict::Unknown(_)), "{name}");
            assert_eq!(cx.stats.count("witness.failures"), 1, "{name}");
        }
    }
}

#[test]
fn alternative_blockers_prune_what_their_conjunction_does_not() {
    let system = normalize(&task("guard-g6-safe")).0;
    let options = Options {
        search: Order::Bfs,
        ..reproduction(Kinds::Rs)
    };
    let on = raw(&system, &options, Guards::default());
    let guard = Guard::DisjunctionPerAction;
    let off = raw(&system, &options, Guards { off: Some(guard) });
    assert_eq!(
        (on.answer, off.answer),
        (Some((true, true)), Some((true, true)))
    );
    assert_eq!((on.counts.pruned, off.counts.pruned), (2, 0));
}

/// From A(0) the error is not reached, from A(1) it is; E has no actions.
const TWO_ACTIONS: &str = "(set-logic HORN)
    (declare-fun A (Int) Bool) (declare-fun D (Int) Bool) (declare-fun E (Int) Bool)
    (assert (A 0)) (assert (A 1))
    (assert (forall ((x Int)) (=> (A x) (D x))))
    (assert (forall ((x Int)) (=> (and (D x) (= x 1)) false)))
    (assert (forall ((x Int)) (=> (D x) (E x))))
    (check-sat)";

/// On backtracking from E, D gets all its blockers, and a blocker for A would need an
/// interpolation, for which no time is left. So the region of A is not full; with `true` as the
/// blocker it would be.
#[test]
fn backtracking_without_time_left_ends() {
    let problem = parse(TWO_ACTIONS, Rc::new(TermStore::new())).expect("Horn clauses");
    let system = normalize(&problem).0;
    let options = reproduction(Kinds::Rs);
    let with = raw(&system, &options, Guards::default());
    let without = raw_from(&system, &options, Guards::default(), |search| {
        search.spent[search::Kind::S as usize] = TIME_LIMIT;
    });
    assert_eq!(with.answer, Some((false, true)));
    assert_eq!(without.answer, Some((false, true)));
    // The region of D and, if there is time, that of A.
    assert_eq!((with.counts.full, without.counts.full), (2, 1));
}

/// After Fig. 8: the region of L7 is full after the first path, so the third path takes the other
/// side of both branches.
const BRANCHES: &str = "(set-logic HORN)
    (declare-fun L2 (Int Int) Bool) (declare-fun L3 (Int Int) Bool)
    (declare-fun L4 (Int Int) Bool) (declare-fun L6 (Int Int) Bool)
    (declare-fun L7 (Int Int) Bool) (declare-fun L11 (Int Int) Bool)
    (assert (forall ((s Int) (a Int)) (=> (>= a 1) (L2 s a))))
    (assert (forall ((s Int) (a Int)) (=> (and (L2 s a) (<= s 1)) (L3 s a))))
    (assert (forall ((s Int) (a Int)) (=> (and (L2 s a) (> s 1)) (L4 s a))))
    (assert (forall ((s Int) (a Int)) (=> (L3 s a) (L6 0 0))))
    (assert (forall ((s Int) (a Int)) (=> (L4 s a) (L6 7 a))))
    (assert (forall ((s Int) (a Int)) (=> (and (L6 s a) (< a 3)) (L7 s a))))
    (assert (forall ((s Int) (a Int)) (=> (and (L6 s a) (not (< a 3))) (L11 s a))))
    (assert (forall ((s Int) (a Int)) (=> (and (L7 s a) (> s 5) (< a 1)) false)))
    (assert (forall ((s Int) (a Int)) (=> (L11 s a) false)))
    (check-sat)";

#[test]
fn weights_lead_to_the_other_side_of_branches() {
    let problem = parse(BRANCHES, Rc::new(TermStore::new())).expect("Horn clauses");
    let system = normalize(&problem).0;
    let errors = |search| {
        let options = Options {
            search,
            ..reproduction(Kinds::Rs)
        };
        let raw = raw(&system, &options, Guards::default());
        assert_eq!(raw.answer, Some((false, true)));
        raw.error_paths.len()
    };
    assert_eq!(errors(Order::Weighted), 3);
    assert_eq!(errors(Order::Dfs), 4);
}

#[test]
fn examples_have_their_verdicts_in_all_modes() {
    for (name, safe) in [
        ("exa-fig1-unsafe", false),
        ("exa-fig1-safe", true),
        ("exa-locations-unsafe", false),
        ("exa-locations-safe", true),
    ] {
        let system = normalize(&task(name)).0;
        for options in modes() {
            let raw = raw(&system, &options, Guards::default());
            assert_eq!(raw.answer, Some((safe, true)), "{name}: {options:?}");
        }
    }
}

/// An entry clause with the constraint `false` gives its predicate no facts, with and without
/// pruning.
#[test]
fn clauses_that_are_never_applied_derive_nothing() {
    let terms = Rc::new(TermStore::new());
    let mut system = System::new(terms.clone());
    let p = system.add_predicate("P", &[SortId::BOOL]);
    let atom = system.fresh_atom(p);
    let x = atom.args[0];
    system.add_clause(vec![], TermId::FALSE, Some(atom.clone()));
    system.add_clause(vec![atom], terms.not(x), None);
    for prune in [true, false] {
        let options = Options {
            prune,
            ..Options::default()
        };
        let mut cx = Context::new(terms.clone());
        let verdict = Interp {
            options,
            ..Interp::default()
        }
        .solve(&system, &mut cx)
        .expect("no defect");
        let Verdict::Sat(model) = verdict else {
            panic!("{verdict:?}");
        };
        assert!(is_model(&system, &model), "{prune}");
    }
}

/// The sum of two numbers stays 0: first `x` grows by one, then it shrinks again.
const SUM_STAYS: &str = "(set-logic HORN)
    (declare-fun P (Int Int) Bool) (declare-fun Q (Int Int) Bool)
    (assert (forall ((x Int) (y Int)) (=> (= (+ x y) 0) (P x y))))
    (assert (forall ((x Int) (y Int)) (=> (and (P x y) (< x 6)) (P (+ x 1) (- y 1)))))
    (assert (forall ((x Int) (y Int)) (=> (and (P x y) (>= x 6)) (Q x y))))
    (assert (forall ((x Int) (y Int)) (=> (and (Q x y) (> x 0)) (Q (- x 1) (+ y 1)))))
    (assert (forall ((x Int) (y Int)) (=> (and (Q x y) (>= x 3) (>= y BOUND)) false)))
    (check-sat)";

/// Obligations decide whether the error is reached, and their lemmas include sums of bounds.
#[test]
fn obligations_exclude_paths_or_find_their_runs() {
    for (bound, safe) in [("(- 2)", true), ("(- 3)", false)] {
        let text = SUM_STAYS.replace("BOUND", bound);
        let problem = parse(&text, Rc::new(TermStore::new())).expect("Horn clauses");
        let system = normalize(&problem).0;
        for (labels, asked) in [(Labels::Obligations, true), (Labels::Shared, false)] {
            for kinds in [Kinds::R, Kinds::Re, Kinds::Rs, Kinds::Rse] {
                let options = Options {
                    kinds,
                    labels,
                    ..Options::default()
                };
                let raw = raw(&system, &options, Guards::default());
                assert_eq!(raw.answer, Some((safe, true)), "{bound}: {options:?}");
                let sums = safe && raw.counts.certificates > 0;
                let counts = (raw.counts.obligations > 0, sums);
                assert_eq!(counts, (asked, asked && safe), "{bound}: {options:?}");
            }
        }
    }
}

/// Cubes of obligations are used at other nodes: the derivation is found at a node below which
/// nothing was explored.
#[test]
fn cubes_of_obligations_lead_to_the_error() {
    let system = normalize(&task("exa-fig1-unsafe")).0;
    for (kinds, reports) in [(Kinds::Rse, 1), (Kinds::Rs, 0)] {
        let options = Options {
            kinds,
            ..Options::default()
        };
        let raw = raw(&system, &options, Guards::default());
        assert_eq!(raw.answer, Some((false, true)), "{kinds:?}");
        assert_eq!(raw.counts.reports, reports, "{kinds:?}");
        let refuted = raw.counts.replays_failed > 0;
        assert_eq!(refuted, reports > 0, "{kinds:?}");
    }
}

/// With arrays or datatypes, interpolants of paths replace obligations.
#[test]
fn with_arrays_and_datatypes_there_are_no_obligations() {
    for (array, datatype) in [(false, false), (true, false), (false, true)] {
        let theories = Theories {
            array,
            datatype,
            ..Theories::default()
        };
        let fit = Options::default().fit_for(&theories);
        assert_eq!(fit.obligations(), !array && !datatype);
    }
}

/// Without labels, the candidates for other engines come from regions.
#[test]
fn blockers_of_regions_are_candidates() {
    let system = normalize(&task("exa-fig1-safe")).0;
    let raw = raw(&system, &reproduction(Kinds::S), Guards::default());
    assert!(!raw.lemmas.candidates.is_empty());
}

/// Sums in derivation trees: `x` is at least 1 in each fact of `P`, and `Q` has sums of two of
/// them.
const SUMS: &str = "(set-logic HORN)
    (declare-fun P (Int Int) Bool) (declare-fun Q (Int Int) Bool)
    (assert (forall ((y Int)) (P 1 y)))
    (assert (forall ((x Int) (y Int) (u Int) (v Int))
        (=> (and (P x y) (P u v)) (P (+ x u 1) v))))
    (assert (forall ((x Int) (y Int) (u Int) (v Int)) (=> (and (P x y) (P u v)) (Q (+ x u) y))))
    (assert (forall ((x Int) (y Int)) (=> (and (Q x y) (< x BOUND)) false)))
    (check-sat)";

/// The verdict, whether its witness is correct, and the number of labels from elements and lemmas.
fn sums(bound: u32, domain: bool) -> (bool, bool, u64) {
    let text = SUMS.replace("BOUND", &bound.to_string());
    let problem = parse(&text, Rc::new(TermStore::new())).expect("Horn clauses");
    let system = normalize(&problem).0;
    let options = Options {
        domain,
        ..Options::default()
    };
    let mut cx = Context::new(system.terms.clone());
    cx.budget = cx.budget.time(TIME_LIMIT);
    let mut engine = Interp {
        options,
        ..Interp::default()
    };
    let verdict = engine.solve(&system, &mut cx).expect("no defect");
    let known = cx.stats.count("interp.labels-D");
    match &verdict {
        Verdict::Sat(model) => (true, is_model(&system, model), known),
        Verdict::Unsat(refutation) => {
            let checked = check_refutation(&system, refutation).is_ok();
            (false, checked, known)
        }
        Verdict::Proven(_) => panic!("a proof of another kind"),
        Verdict::Unknown(reason) => panic!("{reason}"),
    }
}

/// Two is the least sum: bounds prove that, and no interpolant is needed.
#[test]
fn bounds_of_premises_become_their_labels() {
    for (bound, safe) in [(2, true), (3, false)] {
        for domain in [true, false] {
            let (answer, checked, known) = sums(bound, domain);
            assert_eq!((answer, checked), (safe, true), "{bound}, {domain}");
            assert_eq!(known > 0, domain && safe, "{bound}, {domain}");
        }
    }
}
