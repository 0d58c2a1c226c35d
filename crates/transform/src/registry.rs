//! All passes, in the order of the default: what they are called, what they do, when they run.
//!
//! Invariant: the pipeline, the command line and the tests know passes from this table only.

use super::Transformation;
use super::cells::Cells;
use super::cone::Cone;
use super::constructors::Constructors;
use super::control::Control;
use super::disequal::Disequal;
use super::equations::Equations;
use super::folds::Folds;
use super::inline::Inline;
use super::invariants::Invariants;
use super::merge::Merge;
use super::narrow::Narrow;
use super::numerals::Numerals;
use super::propagate::Propagate;
use super::reads::Reads;
use super::rebase::Rebase;
use super::records::Records;
use super::simplify::Simplify;
use super::single_loop::SingleLoop;
use super::sizes::Sizes;
use super::slice::Slice;
use super::split::Split;
use super::subsume::Subsume;
use super::unzip::Unzip;
use super::values::Values;
use super::variants::Variants;

/// A pass in the table.
pub struct Pass {
    /// On the command line and in logs.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    pub turn: Turn,
    /// Whether it is among the passes that run if none are named.
    pub default: bool,
    /// A new one, which remembers nothing.
    pub(super) make: fn() -> Box<dyn Transformation>,
}

/// When a pass runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// Again and again with the others, until nothing changes.
    Iterated,
    /// The same, but only when those above change nothing any more.
    Waiting,
    /// Waiting, and apt to take longer than an engine needs for an easy system: not among the quick
    /// passes.
    Costly,
    /// At its place in a list. Passes before and after it are iterated to fixpoints of their own,
    /// so it may undo what another pass does.
    Apart,
    /// Apart, and never a second time in a run, though it would change something again.
    Once,
}

impl Turn {
    /// Whether others must have nothing to do.
    pub(super) fn waits(self) -> bool {
        matches!(self, Turn::Waiting | Turn::Costly)
    }

    /// Whether the pass is not iterated with others.
    pub(super) fn is_apart(self) -> bool {
        matches!(self, Turn::Apart | Turn::Once)
    }
}

/// A pass of the default list.
const fn default(
    name: &'static str,
    summary: &'static str,
    turn: Turn,
    make: fn() -> Box<dyn Transformation>,
) -> Pass {
    Pass {
        name,
        summary,
        turn,
        default: true,
        make,
    }
}

/// All passes. Those that stand first add something for the others to make small.
pub static PASSES: &[Pass] = &[
    default(
        "disequal",
        "replace relations that are equality or its negation by literals",
        Turn::Once,
        || Box::new(Disequal),
    ),
    default(
        "merge",
        "let calls of one function with equal arguments have one result",
        Turn::Once,
        || Box::new(Merge),
    ),
    default(
        "numerals",
        "replace Peano numerals by integers",
        Turn::Apart,
        || Box::new(Numerals),
    ),
    default(
        "sizes",
        "add the sizes of arguments of recursive datatypes as arguments",
        Turn::Once,
        || Box::new(Sizes),
    ),
    Pass {
        name: "folds",
        summary: "add what folds tell of arguments of recursive datatypes as arguments",
        turn: Turn::Once,
        default: false,
        make: || Box::new(Folds),
    },
    default(
        "cone",
        "drop predicates without derivation or without effect on a query",
        Turn::Iterated,
        || Box::new(Cone),
    ),
    default(
        "records",
        "replace records (one constructor) by their fields",
        Turn::Iterated,
        || Box::new(Records),
    ),
    default(
        "constructors",
        "replace arguments that always have one constructor by its fields",
        Turn::Iterated,
        || Box::<Constructors>::default(),
    ),
    Pass {
        name: "variants",
        summary: "replace sums (several constructors) by a tag and their fields",
        turn: Turn::Iterated,
        default: false,
        make: || Box::new(Variants),
    },
    default(
        "simplify",
        "solve equations, drop locals, empty and repeated clauses",
        Turn::Iterated,
        || Box::<Simplify>::default(),
    ),
    default(
        "propagate",
        "remove constant and equal arguments",
        Turn::Iterated,
        || Box::new(Propagate),
    ),
    default(
        "unzip",
        "make arrays of records one array for each field",
        Turn::Iterated,
        || Box::new(Unzip),
    ),
    default(
        "reads",
        "make arrays of which few elements matter one scalar for each",
        Turn::Iterated,
        || Box::new(Reads),
    ),
    default(
        "cells",
        "make arrays with constant indexes one scalar for each",
        Turn::Iterated,
        || Box::new(Cells),
    ),
    default(
        "rebase",
        "count the indexes of arrays from a base that no clause changes",
        Turn::Iterated,
        || Box::new(Rebase),
    ),
    default(
        "subsume",
        "drop clauses and body atoms that others imply",
        Turn::Iterated,
        || Box::<Subsume>::default(),
    ),
    default("inline", "resolve predicates away", Turn::Iterated, || {
        Box::<Inline>::default()
    }),
    default(
        "control",
        "split predicates on arguments that act as a program counter",
        Turn::Iterated,
        || Box::<Control>::default(),
    ),
    default(
        "values",
        "replace words and numbers that are only compared with a few numerals by codes",
        Turn::Waiting,
        || Box::new(Values),
    ),
    default(
        "slice",
        "remove arguments that nothing reads",
        Turn::Waiting,
        || Box::new(Slice),
    ),
    default(
        "split",
        "split disjunctions where a case is simpler",
        Turn::Waiting,
        || Box::<Split>::default(),
    ),
    default(
        "equations",
        "conjoin equations of words that hold in each phase",
        Turn::Waiting,
        || Box::<Equations>::default(),
    ),
    default(
        "narrow",
        "drop upper bits that bit-vectors do not use",
        Turn::Costly,
        || Box::<Narrow>::default(),
    ),
    default(
        "invariants",
        "conjoin bounds, equations and congruences that hold",
        Turn::Costly,
        || Box::<Invariants>::default(),
    ),
    Pass {
        name: "single-loop",
        summary: "make one predicate of all, if no clause has several body atoms",
        turn: Turn::Apart,
        default: false,
        make: || Box::new(SingleLoop),
    },
];

/// The passes that run if none are named.
pub(super) fn default_passes() -> impl Iterator<Item = &'static Pass> {
    PASSES.iter().filter(|pass| pass.default)
}

#[cfg(test)]
mod tests {
    use super::super::Pipeline;
    use super::*;

    #[test]
    fn passes_are_found_by_their_names() {
        for (at, pass) in PASSES.iter().enumerate() {
            assert!(PASSES[..at].iter().all(|p| p.name != pass.name));
            let pipeline = Pipeline::parse(pass.name).expect("it is in the table");
            assert_eq!(pipeline.names(), [pass.name]);
        }
        let default = Pipeline::default();
        assert!(default.names().len() < PASSES.len());
        // What is left out after a loss stands in the table.
        let plain = default.plain().expect("some passes are left out");
        assert_eq!(plain.names().len() + 2, default.names().len());
        assert!(plain.plain().is_none());
        let quick = default.quick().expect("there are costly passes");
        let costly = |name: &&str| {
            PASSES
                .iter()
                .any(|p| p.name == *name && p.turn == Turn::Costly)
        };
        assert!(!quick.names().iter().any(costly) && default.names().iter().any(costly));
    }
}
