//! Schedules: who takes part by shape, for how long, and that every engine named exists.
//!
//! Invariant: nothing here depends on how long an engine takes.

use super::*;
use crate::chc::Theories;
use crate::engine::registry::find;

fn shape(linear: bool) -> Shape {
    Shape {
        clauses: 3,
        predicates: 1,
        arguments: 2,
        linear,
        recursive: 1,
        queries: 1,
        theories: Theories {
            int: true,
            ..Theories::default()
        },
    }
}

fn names_of(turns: &[Turn]) -> Vec<&'static str> {
    turns.iter().map(Turn::name).collect()
}

#[test]
fn slices_name_engines_and_leave_time() {
    for slices in [QUICK, MAIN] {
        for (name, share, most) in slices {
            assert!(find(name).is_some(), "{name}");
            assert!(*share > 0.0 && *share <= 1.0 && *most > 0.0, "{name}");
        }
    }
    // Without a time limit the last turn does not end by itself.
    assert!(MAIN.last().is_some_and(|slice| slice.2.is_infinite()));
    assert!(QUICK.iter().all(|slice| slice.2 <= QUICK_TRY));
}

#[test]
fn engines_for_linear_systems_take_part_in_linear_systems() {
    for phase in [Phase::Quick, Phase::Main] {
        let linear = names_of(&Strategy::Auto.turns(phase, &shape(true)));
        let other = names_of(&Strategy::Auto.turns(phase, &shape(false)));
        for name in ["trl", "kind"] {
            assert!(linear.contains(&name), "{phase:?}: {linear:?}");
            assert!(!other.contains(&name), "{phase:?}: {other:?}");
        }
        for name in ["bmc", "pdr"] {
            assert!(linear.contains(&name) && other.contains(&name), "{phase:?}");
        }
    }
}

#[test]
fn an_engine_by_name_is_alone() {
    let strategy = Strategy::find("kind").expect("it exists");
    for phase in [Phase::Quick, Phase::Main] {
        // Even where it does not fit: its refusal is the answer.
        assert_eq!(names_of(&strategy.turns(phase, &shape(false))), ["kind"]);
    }
    let unknown = Strategy::find("abacus").err().expect("no such engine");
    assert!(unknown.to_string().contains("auto, bmc"), "{unknown}");
}
