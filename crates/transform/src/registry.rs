//! The table of all passes, in the order of the default list: their names, summaries, and when they
//! run.
//!
//! Invariant: the pipeline and the command line know passes from this table only. Whatever the
//! pipeline does differently for a pass is a field of its entry.

use super::Transformation;
use super::addresses::Addresses;
use super::cells::Cells;
use super::cone::Cone;
use super::constructors::Constructors;
use super::control::Control;
use super::equations::Equations;
use super::folds::Folds;
use super::inline::Inline;
use super::invariants::Invariants;
use super::links::Links;
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
use super::values::Values;
use super::variants::Variants;

/// A pass in the table.
pub struct Pass {
    /// The name on the command line and in logs.
    pub name: &'static str,
    /// One line that says what the pass does, for `--help` and the guide.
    pub summary: &'static str,
    /// When the pass runs.
    pub timing: Timing,
    /// How a model looks after the back-translation through the pass.
    pub models: Models,
    /// Whether the iterated passes get new budgets after this pass changed a small system: what was
    /// too large for them may be small in each of the cases that the pass makes.
    pub renews_budgets: bool,
    /// Whether the pass is in the default list.
    pub default: bool,
    /// Makes the pass without any state.
    pub(super) make: fn() -> Box<dyn Transformation>,
}

/// When a pass runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timing {
    /// Repeatedly, together with the other passes, until nothing changes.
    Iterated,
    /// Repeatedly, but only when the iterated passes change nothing any more.
    Waiting,
    /// Waiting, and possibly slower than an engine on an easy system: not among the quick passes.
    Costly,
    /// At its place in the list. The passes before it and the passes after it are iterated
    /// separately, since it may undo what another pass does.
    Apart,
    /// Apart, and at most once in a run, even if it would change the system again.
    Once,
}

/// How a model looks after the back-translation through a pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Models {
    /// About as simple as before.
    Plain,
    /// It may be large: the pass makes local variables or cases, which prevent small definitions of
    /// the predicates that `inline` eliminates.
    Hard,
    /// It may use recursive functions.
    Recursive,
}

impl Timing {
    /// Whether the pass runs only when the iterated passes have nothing to do.
    pub(super) fn waits(self) -> bool {
        matches!(self, Timing::Waiting | Timing::Costly)
    }

    /// Whether the pass is not iterated with others.
    pub(super) fn is_apart(self) -> bool {
        matches!(self, Timing::Apart | Timing::Once)
    }
}

/// A pass of the default list, with the usual values of the other fields.
const fn default(
    name: &'static str,
    summary: &'static str,
    timing: Timing,
    make: fn() -> Box<dyn Transformation>,
) -> Pass {
    Pass {
        name,
        summary,
        timing,
        models: Models::Plain,
        renews_budgets: false,
        default: true,
        make,
    }
}

impl Pass {
    /// The pass with this property of its models.
    const fn with_models(self, models: Models) -> Pass {
        Pass { models, ..self }
    }

    /// The pass, after which other passes get new budgets.
    const fn renewing_budgets(self) -> Pass {
        Pass {
            renews_budgets: true,
            ..self
        }
    }

    /// The pass, which runs only if it is named.
    const fn if_named(self) -> Pass {
        Pass {
            default: false,
            ..self
        }
    }
}

/// All passes. The first ones add arguments that later passes simplify.
pub static PASSES: &[Pass] = &[
    default(
        "numerals",
        "replace Peano numerals by integers",
        Timing::Apart,
        || Box::new(Numerals),
    )
    .with_models(Models::Recursive),
    default(
        "sizes",
        "add the sizes of recursive datatypes as arguments",
        Timing::Once,
        || Box::new(Sizes),
    )
    .with_models(Models::Recursive),
    default(
        "folds",
        "add the values of folds over recursive datatypes as arguments",
        Timing::Once,
        || Box::new(Folds),
    )
    .with_models(Models::Recursive)
    .if_named(),
    default(
        "cone",
        "drop predicates that have no derivation or that no query depends on",
        Timing::Iterated,
        || Box::new(Cone),
    ),
    default(
        "records",
        "replace records (datatypes with one constructor) by their fields",
        Timing::Iterated,
        || Box::new(Records),
    ),
    default(
        "constructors",
        "replace arguments that always have the same constructor by its fields",
        Timing::Iterated,
        || Box::<Constructors>::default(),
    ),
    default(
        "variants",
        "replace datatypes with several constructors by a tag and fields",
        Timing::Iterated,
        || Box::new(Variants),
    )
    .if_named(),
    default(
        "simplify",
        "solve equations, eliminate local variables, drop trivial and duplicate clauses",
        Timing::Iterated,
        || Box::<Simplify>::default(),
    ),
    default(
        "propagate",
        "remove arguments that are constant or equal to another argument",
        Timing::Iterated,
        || Box::new(Propagate),
    ),
    default(
        "reads",
        "replace arrays of which few elements matter by these elements",
        Timing::Iterated,
        || Box::new(Reads),
    )
    .with_models(Models::Hard),
    default(
        "cells",
        "replace arrays that are accessed at constant indexes only by their elements",
        Timing::Iterated,
        || Box::new(Cells),
    )
    .with_models(Models::Hard),
    default(
        "rebase",
        "make array indexes relative to a base address that no clause changes",
        Timing::Iterated,
        || Box::new(Rebase),
    )
    .with_models(Models::Hard),
    default(
        "subsume",
        "drop clauses and body atoms that others imply",
        Timing::Iterated,
        || Box::<Subsume>::default(),
    ),
    default(
        "inline",
        "eliminate predicates by resolution",
        Timing::Iterated,
        || Box::<Inline>::default(),
    ),
    default(
        "control",
        "split predicates on arguments that act as a program counter",
        Timing::Iterated,
        || Box::<Control>::default(),
    ),
    default(
        "addresses",
        "conjoin which arguments are null or valid addresses of a heap",
        Timing::Waiting,
        || Box::<Addresses>::default(),
    ),
    default(
        "values",
        "replace bit-vectors and numbers that are only compared with few constants by codes",
        Timing::Waiting,
        || Box::new(Values),
    ),
    default(
        "slice",
        "remove arguments that no constraint depends on",
        Timing::Waiting,
        || Box::new(Slice),
    )
    .with_models(Models::Hard),
    default(
        "split",
        "split clauses at disjunctions where the cases are simpler",
        Timing::Waiting,
        || Box::<Split>::default(),
    )
    .with_models(Models::Hard)
    .renewing_budgets(),
    default(
        "equations",
        "conjoin linear equations between bit-vectors that hold in each phase",
        Timing::Costly,
        || Box::<Equations>::default(),
    ),
    default(
        "links",
        "conjoin facts about addresses and single cells of a heap, found by templates",
        Timing::Waiting,
        || Box::<Links>::default(),
    )
    .if_named(),
    default(
        "narrow",
        "remove upper bits of bit-vectors that are constant or copies of the sign",
        Timing::Costly,
        || Box::<Narrow>::default(),
    ),
    default(
        "invariants",
        "conjoin bounds, equations and congruences found by abstract interpretation",
        Timing::Costly,
        || Box::<Invariants>::default(),
    ),
    default(
        "single-loop",
        "merge all predicates into one, if every clause has at most one body atom",
        Timing::Apart,
        || Box::new(SingleLoop),
    )
    .if_named(),
];

/// The passes of the default list.
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
        // The passes whose models are hard to translate back are marked in the table.
        let plain = default
            .without_hard_models()
            .expect("some passes are left out");
        let hard = |pass: &&Pass| pass.default && pass.models == Models::Hard;
        let left_out = PASSES.iter().filter(hard).count();
        assert!(left_out > 0);
        assert_eq!(plain.names().len() + left_out, default.names().len());
        assert!(plain.without_hard_models().is_none());
        let quick = default.quick().expect("there are costly passes");
        let costly = |name: &&str| {
            PASSES
                .iter()
                .any(|p| p.name == *name && p.timing == Timing::Costly)
        };
        assert!(!quick.names().iter().any(costly) && default.names().iter().any(costly));
    }
}
