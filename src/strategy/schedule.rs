//! The default schedule: the stages of a run, and the turns of engines in each.
//!
//! Why each turn is where it is, with measurements: `docs/log/2026-11-27-order-of-engines.md`.
//!
//! Invariant: nothing here depends on the clauses except their [`Shape`]; of the engines listed for a
//! stage, those that support the shape have turns.

use std::time::Duration;

use alphorn_chc::Shape;
use alphorn_engine::schedule::{Limit, Schedule, Slot, slot};

/// The stages of a run, in order, until there is an answer.
pub(super) const STAGES: [Stage; 7] = [
    Stage {
        name: "quick",
        passes: Passes::Quick,
        turns: QUICK,
        named: work(100),
        condition: Condition::Always,
    },
    Stage {
        name: "written",
        passes: Passes::Written,
        turns: WRITTEN,
        named: Limit::None,
        condition: Condition::Always,
    },
    Stage {
        name: "bit-vectors",
        passes: Passes::All,
        turns: BIT_VECTORS,
        named: Limit::None,
        condition: Condition::WideBitVectors,
    },
    Stage {
        name: "bit-vectors as written",
        passes: Passes::Written,
        turns: BIT_VECTORS_AS_WRITTEN,
        named: Limit::None,
        condition: Condition::WideBitVectors,
    },
    Stage {
        name: "main",
        passes: Passes::All,
        turns: MAIN,
        named: Limit::None,
        condition: Condition::Always,
    },
    Stage {
        name: "easy to check",
        passes: Passes::EasyToCheck,
        turns: MAIN,
        named: Limit::None,
        condition: Condition::Always,
    },
    Stage {
        name: "no passes",
        passes: Passes::Removed,
        turns: MAIN,
        named: Limit::None,
        condition: Condition::Always,
    },
];

/// The lengths of rounds: in a long run all stages have their turns first as in short runs, so that
/// what a short run answers is answered as soon. (Iterative deepening, as in CASC's strategy schedules.)
pub(super) const ROUNDS: [Duration; 3] = [
    Duration::from_secs(10),
    Duration::from_secs(60),
    Duration::from_secs(300),
];

/// A round takes place if at least this many times its length is left.
pub(super) const ROUND_PARTS: u32 = 4;

/// Up to this number of arguments the costly passes over bit-vectors take little time.
const FEW_ARGUMENTS: usize = 32;

/// On the clauses near the open queries of a large system, with facts in place of the others.
pub(super) const NEAR: Stage = Stage {
    name: "near",
    passes: Passes::Quick,
    turns: QUICK,
    named: Limit::None,
    condition: Condition::Always,
};

/// A limit in work.
const fn work(milliseconds: u64) -> Limit {
    Limit::Work(Duration::from_millis(milliseconds))
}

/// A limit in time.
const fn time(seconds: u64) -> Limit {
    Limit::Time(Duration::from_secs(seconds))
}

/// A limit in time, for a turn that takes place only if [`LONG_RUN`] is left when it begins.
///
/// [`LONG_RUN`]: alphorn_engine::schedule::LONG_RUN
const fn long_run(seconds: u64) -> Limit {
    Limit::LongRun(Duration::from_secs(seconds))
}

/// Before the costly passes: short turns. `trl` and `kind` solve what they solve at once, so they
/// come after `pdr`. `ic3` has a higher limit, since it asks its SAT solver many small questions.
/// `templates` simulates states before it has candidates. Where nearly all arguments are Booleans,
/// the costly passes, which are for numbers, bring little, so `pdr` has a long turn before them. So
/// has `pdkind` on single predicates over reals. Over bit-vectors `pdr` has most of what it solves
/// within half a second, and what `twin` answers at once comes before that. Where there are many
/// bit-vectors, the costly passes take longer than `pdr` or `ic3` without them, which have long turns
/// here; on few, `ic3` is done at once, or it is late.
const QUICK: Schedule<PlannedTurn> = &[
    anywhere("bmc", 0.05, work(10)),
    anywhere("pdr", 1.0, work(100)),
    anywhere("trl", 1.0, work(200)),
    anywhere("kind", 1.0, work(50)),
    only("vinta", 1.0, work(100), Condition::NoBitVectors),
    only("ic3", 1.0, work(300), Condition::NotOneOfBitVectors),
    only("templates", 1.0, work(400), Condition::NoBitVectors),
    only("pdr", 0.4, work(10_000), Condition::MostlyBooleans),
    only("pdkind", 0.3, time(300), Condition::OneOfReals),
    only("twin", 0.1, work(200), Condition::OneOfWideBitVectors),
    only("pdr", 0.07, time(300), Condition::BitVectors),
    only("ic3", 0.1, time(300), Condition::OneOfFewBitVectors),
    only("pdr", 0.3, time(300), Condition::ProgramsOfManyBitVectors),
    only("ic3", 0.5, time(300), Condition::ManyBitVectors),
];

/// On the clauses as they were written, since passes blur the definitions of functions. `cata` is the
/// last, so that refutations by `enum` are not late. In long runs there are second turns, so that no
/// engine waits for minutes. `templates` sees equations of bit-vectors before `narrow` makes some
/// of them narrower. Where queries or clauses speak of several facts, `relate` proves what it proves at
/// once, or after some time that depends on the number of candidates; where there are datatypes, it
/// has the short turn alone.
const WRITTEN: Schedule<PlannedTurn> = &[
    only("relate", 0.15, work(1_000), Condition::SeveralFacts),
    only("pairs", 0.2, work(2_000), Condition::SeveralFactsOfNumbers),
    only("twin", 0.4, time(300), Condition::WideBitVectors),
    only("relate", 0.35, time(60), Condition::SeveralFactsOfNumbers),
    anywhere("enum", 0.1, work(400)),
    anywhere("induct", 0.35, time(20)),
    anywhere("enum", 0.15, time(10)),
    anywhere("cata", 0.3, time(30)),
    anywhere("induct", 0.35, long_run(300)),
    anywhere("enum", 0.15, long_run(120)),
    anywhere("cata", 0.3, long_run(120)),
];

/// For bit-vectors that could be numbers, after all passes: what `pdr` solves soon.
const BIT_VECTORS: Schedule<PlannedTurn> = &[
    anywhere("bmc", 0.1, work(500)),
    anywhere("pdr", 0.35, time(300)),
    only("ic3", 0.4, time(300), Condition::OneOfFewBitVectors),
];

/// For the same as they were written.
const BIT_VECTORS_AS_WRITTEN: Schedule<PlannedTurn> = &[
    anywhere("twin", 0.5, time(300)),
    anywhere("templates", 0.2, work(2_000)),
];

/// After all passes. `pdr` solves most of what it solves at all in most of the time left; engines
/// whose answers `pdr` has only later, or not at all, come before its long turn: `morph` for heaps,
/// `interp` for datatypes and for programs with several locations, `vinta` for trees of numbers,
/// `spacer` for numbers (`pdr` continues from its frames), `trl` for deep refutations.
pub(super) const MAIN: Schedule<PlannedTurn> = &[
    anywhere("bmc", 0.05, work(500)),
    anywhere("trl", 0.05, work(500)),
    anywhere("kind", 0.03, work(300)),
    anywhere("templates", 0.08, work(800)),
    only("pdr", 0.2, work(1_500), Condition::ArraysOfScalars),
    only("morph", 0.45, time(300), Condition::ArraysOfScalars),
    only("morph", 0.95, time(300), Condition::Heaps),
    only("safari", 0.25, time(120), Condition::Arrays),
    anywhere("ic3", 0.1, long_run(300)),
    anywhere("pdkind", 0.1, long_run(60)),
    only("interp", 0.2, work(1_500), Condition::Datatypes),
    only("vinta", 0.2, work(1_500), Condition::TreesOfNumbers),
    only("interp", 0.45, time(60), Condition::Programs),
    only("spacer", 0.4, work(3_000), Condition::Numbers),
    anywhere("pdr", 0.85, time(1_200)),
    only("vinta", 0.5, time(300), Condition::NoDatatypes),
    anywhere("trl", 0.5, time(300)),
    anywhere("pdr", 0.8, Limit::None),
    anywhere("bmc", 1.0, Limit::None),
];

/// Where passes left no predicate: one question, for which short turns of many engines are wasted.
pub(super) const CLOSED: Schedule<PlannedTurn> = &[
    anywhere("bmc", 0.5, time(1_200)),
    anywhere("pdr", 1.0, Limit::None),
];

/// For a model without recursive functions, where one with them was found and a model is to be
/// printed: other solvers can read it, and the competition's check of models does. Such a model is
/// found within a few seconds or not at all.
pub(super) const PLAIN_MODEL: Stage = Stage {
    name: "plain model",
    passes: Passes::All,
    turns: &[
        anywhere("bmc", 0.2, work(100)),
        anywhere("pdr", 1.0, work(4_000)),
    ],
    named: work(4_000),
    condition: Condition::Always,
};

/// Parts of a run that are no turns: a share of the time left, within a limit.
pub(super) struct Parts {
    /// Proving the invariants that models of similar clauses suggest, in work.
    pub hints: Slot<()>,
    /// Proving what is decided of a model whose check had no answer, in work.
    pub decided: Slot<()>,
    /// The check of a witness before the costly passes: another engine, or a later stage, may have a
    /// model that is easier to check.
    pub quick_check: Slot<()>,
    /// The same for the model of the sparse analysis of a large system, which engines seldom find:
    /// reading the definitions alone takes seconds.
    pub analysis_check: Slot<()>,
    /// The stage [`NEAR`], each time.
    pub near: Slot<()>,
    /// The same where the passes left no predicate: then no engine has another model.
    pub closed_check: Slot<()>,
    /// The stage [`Passes::EasyToCheck`] as soon as a witness was lost; later it has all the time
    /// left.
    pub easy_to_check: Slot<()>,
    /// The stage [`PLAIN_MODEL`] with its passes and check, where the functions of the model have
    /// one argument, sizes for example.
    pub plain_for_sizes: Slot<()>,
    /// The same where functions have several arguments: few such models have a plain one.
    pub plain_for_relations: Slot<()>,
    /// Bounded unfolding of the functions of a model, before [`PLAIN_MODEL`].
    pub unfolding: Slot<()>,
    /// Making a model smaller that is to be printed, with the check of the smaller one.
    pub smaller_model: Slot<()>,
    /// A model by functions beside a proof by induction on derivations.
    pub functions: Slot<()>,
}

/// The parts of a run.
pub(super) const PARTS: Parts = Parts {
    hints: slot((), 0.2, work(5_000)),
    decided: slot((), 0.2, work(5_000)),
    quick_check: slot((), 0.3, time(120)),
    analysis_check: slot((), 0.8, time(120)),
    near: slot((), 0.4, time(120)),
    closed_check: slot((), 0.8, time(120)),
    easy_to_check: slot((), 0.5, time(120)),
    plain_for_sizes: slot((), 0.5, work(5_000)),
    plain_for_relations: slot((), 0.5, work(500)),
    unfolding: slot((), 0.1, work(1_000)),
    smaller_model: slot((), 0.25, work(1_000)),
    functions: slot((), 0.5, work(2_000)),
};

/// Passes, then turns of engines.
pub(super) struct Stage {
    /// The name in the log and in statistics.
    pub name: &'static str,
    pub passes: Passes,
    /// The turns of the default strategy.
    pub turns: Schedule<PlannedTurn>,
    /// The limit of an engine that is asked for by name.
    pub named: Limit,
    /// Where the stage takes place, by the shape after the passes of the stages before.
    pub condition: Condition,
}

/// The clauses that the engines of a stage see.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Passes {
    /// After the passes that are not costly. Without costly ones there is no such stage.
    Quick,
    /// As they were written, for engines that have their turns here only.
    Written,
    /// After all passes.
    All,
    /// As they were written, after the passes that keep models easy to check. This stage and the
    /// next take place only if a witness was lost before: it failed its check or its
    /// back-translation, which is a bug that is logged, or its check had no answer in time.
    EasyToCheck,
    /// As they were written, without the passes so far, on the same condition.
    Removed,
}

impl Passes {
    /// Whether a stage with these passes is only for runs in which a witness was lost before.
    pub fn is_retry(self) -> bool {
        matches!(self, Passes::EasyToCheck | Passes::Removed)
    }
}

impl Stage {
    /// Whether the stage takes place whatever the shape of the clauses is.
    pub fn is_for_all(&self) -> bool {
        self.condition == Condition::Always
    }

    /// Whether an engine that is asked for by name has a turn: engines for clauses as they were
    /// written have none elsewhere.
    pub fn takes(&self, engine: &str) -> bool {
        let is_in =
            |turns: Schedule<PlannedTurn>| turns.iter().any(|slot| slot.turn.engine == engine);
        let for_written = is_in(WRITTEN) && !is_in(MAIN);
        for_written == (self.passes == Passes::Written)
    }
}

/// An engine's turn in a stage.
#[derive(Clone, Copy)]
pub(super) struct PlannedTurn {
    pub engine: &'static str,
    /// Where it takes place.
    condition: Condition,
}

impl PlannedTurn {
    /// Whether it takes place on a system of this shape.
    pub fn is_for(self, shape: &Shape) -> bool {
        self.condition.holds(shape)
    }
}

const fn anywhere(engine: &'static str, share: f64, limit: Limit) -> Slot<PlannedTurn> {
    only(engine, share, limit, Condition::Always)
}

const fn only(
    engine: &'static str,
    share: f64,
    limit: Limit,
    condition: Condition,
) -> Slot<PlannedTurn> {
    slot(PlannedTurn { engine, condition }, share, limit)
}

/// A condition on the shape of the clauses in a stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Condition {
    Always,
    NoDatatypes,
    NoBitVectors,
    /// The quick passes left bit-vectors that could be numbers.
    WideBitVectors,
    /// Bit-vectors where clauses and queries speak of one recursive fact each.
    BitVectors,
    /// Bit-vectors in linear clauses, and more than [`FEW_ARGUMENTS`]: the costly passes take long.
    ManyBitVectors,
    /// The same with several recursive predicates.
    ProgramsOfManyBitVectors,
    /// Bit-vectors in linear clauses with one recursive predicate, and few arguments.
    OneOfFewBitVectors,
    /// Bit-vectors in linear clauses with one recursive predicate.
    OneOfBitVectors,
    /// The same, where they could be numbers.
    OneOfWideBitVectors,
    /// Clauses of any other kind: there a short turn of `ic3` comes before others.
    NotOneOfBitVectors,
    /// One predicate in linear clauses, at least half of its arguments reals.
    OneOfReals,
    /// Nine of ten arguments are Booleans, and there are no bit-vectors.
    MostlyBooleans,
    /// Datatypes, and no arrays.
    Datatypes,
    /// Numbers and Booleans only.
    Numbers,
    /// Numbers and Booleans only, in clauses with several body atoms.
    TreesOfNumbers,
    /// Numbers and Booleans only, in linear clauses with several predicates on cycles.
    Programs,
    Arrays,
    /// Clauses or queries that speak of several recursive facts.
    SeveralFacts,
    /// The same without datatypes.
    SeveralFactsOfNumbers,
    /// Arrays, and no datatypes.
    ArraysOfScalars,
    /// Arrays and datatypes.
    Heaps,
}

impl Condition {
    pub(super) fn holds(self, shape: &Shape) -> bool {
        let theories = &shape.theories;
        let numbers = !theories.datatype && !theories.array && !theories.bitvec;
        match self {
            Condition::Always => true,
            Condition::NoDatatypes => !theories.datatype,
            Condition::NoBitVectors => !theories.bitvec,
            Condition::WideBitVectors => theories.wide_bit_vectors,
            Condition::BitVectors => theories.bitvec && !shape.relates_facts,
            Condition::ManyBitVectors => {
                theories.bitvec && shape.linear && shape.arguments > FEW_ARGUMENTS
            }
            Condition::ProgramsOfManyBitVectors => {
                Condition::ManyBitVectors.holds(shape) && shape.recursive > 1
            }
            Condition::OneOfFewBitVectors => {
                Condition::OneOfBitVectors.holds(shape) && shape.arguments <= FEW_ARGUMENTS
            }
            Condition::OneOfBitVectors => theories.bitvec && shape.linear && shape.recursive == 1,
            Condition::OneOfWideBitVectors => {
                Condition::OneOfBitVectors.holds(shape) && theories.wide_bit_vectors
            }
            Condition::NotOneOfBitVectors => !Condition::OneOfBitVectors.holds(shape),
            Condition::OneOfReals => {
                let one = shape.linear && shape.predicates == 1;
                one && shape.reals * 2 >= shape.arguments && shape.reals > 0
            }
            Condition::MostlyBooleans => {
                let most = shape.booleans * 10 >= shape.arguments * 9;
                most && shape.arguments > 0 && !theories.bitvec
            }
            Condition::Datatypes => theories.datatype && !theories.array,
            Condition::Numbers => numbers,
            Condition::TreesOfNumbers => !shape.linear && numbers,
            Condition::Programs => shape.linear && shape.recursive > 1 && numbers,
            Condition::Arrays => theories.array,
            Condition::SeveralFacts => shape.relates_facts,
            Condition::SeveralFactsOfNumbers => shape.relates_facts && !theories.datatype,
            Condition::ArraysOfScalars => theories.array && !theories.datatype,
            Condition::Heaps => theories.array && theories.datatype,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::find;

    #[test]
    fn turns_name_engines_and_leave_time() {
        let closed = CLOSED.iter().chain(PLAIN_MODEL.turns);
        for slot in STAGES.iter().flat_map(|stage| stage.turns).chain(closed) {
            assert!(find(slot.turn.engine).is_some(), "{}", slot.turn.engine);
            assert!(
                slot.share > 0.0 && slot.share <= 1.0,
                "{}",
                slot.turn.engine
            );
        }
        // Without a time limit the last turn does not end by itself.
        assert!(MAIN.last().is_some_and(|slot| slot.limit == Limit::None));
    }

    #[test]
    fn turns_before_the_costly_passes_are_short() {
        for slot in QUICK {
            let most = match slot.turn.condition {
                Condition::MostlyBooleans => Duration::from_secs(10),
                Condition::BitVectors
                | Condition::OneOfFewBitVectors
                | Condition::OneOfReals
                | Condition::ProgramsOfManyBitVectors => {
                    assert!(slot.share <= 0.3);
                    continue;
                }
                Condition::ManyBitVectors => continue,
                _ => Duration::from_millis(400),
            };
            assert!(matches!(slot.limit, Limit::Work(limit) if limit <= most));
        }
    }
}
