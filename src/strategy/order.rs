//! The order of passes and engines, as data: this file decides who tries a system when, and for how
//! long.
//!
//! Invariant: nothing here depends on the system, except whether it has predicates, several of them on
//! cycles, datatypes, arrays, words that could be numbers, several body atoms, and nothing but numbers
//! or hardly anything but truth values. Of the engines listed, those that support its shape take
//! their turns.

use std::time::Duration;

use alphorn_chc::Shape;

/// What a run does, one stage after the other, until there is an answer.
pub(super) const STAGES: [Stage; 5] = [
    Stage {
        passes: Passes::Quick,
        engines: QUICK,
        named: Limit::Moment(QUICK_TRY),
    },
    Stage {
        passes: Passes::Written,
        engines: WRITTEN,
        named: Limit::None,
    },
    Stage {
        passes: Passes::All,
        engines: MAIN,
        named: Limit::None,
    },
    Stage {
        passes: Passes::Plain,
        engines: MAIN,
        named: Limit::None,
    },
    Stage {
        passes: Passes::Undone,
        engines: MAIN,
        named: Limit::None,
    },
];

/// A tenth of a second is enough for four of five systems that are solved at all.
const QUICK_TRY: Duration = Duration::from_millis(100);

/// The same for bits: steps of a SAT solver are many, and only words pay for it.
const QUICK_BITS: Duration = Duration::from_millis(300);

/// For facts from simulated states, which are derived first: what `templates` solves of CHC-COMP
/// 2025's LIA tasks with squares and phases, it solves in this time.
const QUICK_TEMPLATES: Duration = Duration::from_millis(400);

/// Costly passes are for numbers, and with codes of them (pass `values`) there are few. Of LRA-Lin's
/// programs of SystemC `pdr` solves in this time what it solves at all in 10 s.
const QUICK_TRUTH: Duration = Duration::from_secs(10);

/// Before the passes that may take longer. Measured over linear integer and real arithmetic
/// (CHC-COMP 2025, 100 tasks): `pdr` needs less than this for most of what it solves, and what
/// `trl` and `kind` solve sooner, they solve at once; so they come after it here. `vinta` has
/// models of contracts that are easy to check, where those of `pdr` are not. `ic3` has what it needs
/// for drivers and protocols over words (CHC-COMP 2025, vmt): there it is the fastest. `trl` needs a
/// little more than a tenth of a second for what `control` leaves of some of these.
const QUICK: &[Slot] = &[
    slot("bmc", 0.05, Limit::Moment(Duration::from_millis(10))),
    slot("pdr", 1.0, Limit::Moment(QUICK_TRY)),
    slot("trl", 1.0, Limit::Moment(Duration::from_millis(200))),
    slot("kind", 1.0, Limit::Moment(Duration::from_millis(50))),
    slot("vinta", 1.0, Limit::Moment(QUICK_TRY)).only(Only::WithoutWords),
    slot("ic3", 1.0, Limit::Moment(QUICK_BITS)),
    slot("templates", 1.0, Limit::Moment(QUICK_TEMPLATES)).only(Only::WithoutWords),
    slot("pdr", 0.4, Limit::Moment(QUICK_TRUTH)).only(Only::TruthValues),
];

/// On the clauses as they were written, since passes blur the definitions of functions. `cata` is
/// the last, so that refutations by `enum` are not late; of what it solves at all, it solves half
/// in less than half a second. In long runs nobody waits for minutes of another: there are second
/// turns. `templates` has equations of words before `narrow` makes some of them narrower.
const WRITTEN: &[Slot] = &[
    slot("twin", 0.5, Limit::Long(Duration::from_secs(300))).only(Only::WideWords),
    slot("templates", 0.4, Limit::Moment(Duration::from_secs(5))).only(Only::WideWords),
    slot("enum", 0.1, Limit::Moment(Duration::from_millis(400))),
    slot("induct", 0.35, Limit::Long(Duration::from_secs(20))),
    slot("enum", 0.15, Limit::Long(Duration::from_secs(10))),
    slot("cata", 0.3, Limit::Long(Duration::from_secs(30))),
    slot("induct", 0.35, Limit::Further(Duration::from_secs(300))),
    slot("enum", 0.15, Limit::Further(Duration::from_secs(120))),
    slot("cata", 0.3, Limit::Further(Duration::from_secs(120))),
];

/// How much work goes into proving what similar clauses' models say, at most: a share of the time
/// left, within a limit.
pub(super) const HINTS: (u32, Duration) = (5, Duration::from_secs(5));

/// So much must be left for a further turn.
pub(super) const FURTHER: Duration = Duration::from_secs(90);

/// What the check of a witness takes at most before the costly passes: another engine may have a
/// model that is checked at once, or a later one. Models about sizes of terms are found in a moment,
/// too, and their checks may need the induction that is to come.
pub(super) const CHECK: (f64, Limit) = (0.5, Limit::Long(Duration::from_secs(120)));

/// The same where the passes left no predicate: then no engine has another model.
pub(super) const CLOSED_CHECK: (f64, Limit) = (0.8, Limit::Long(Duration::from_secs(120)));

/// After all passes. What `pdr` solves at all it solves in most of the time given (by the same
/// measurement); deep refutations are for `trl`. Of programs with loops over arrays (CHC-COMP 2025,
/// quic3, 22 tasks) `pdr` solves 19, each in little more than a second, and `morph` the others. Heaps
/// are for `morph`: queries about arrays of objects are slow, and there is nobody else for them.
/// Where `pdr` looks for larger and larger terms, `interp` may have labels that only ask for
/// constructors (`false_hotel_key_safe2` of ADT-LIA, in less than a second; no other engine in 30).
/// Of derivation trees over numbers bounds of single arguments may be a model, where `pdr` learns how
/// all of them go together (`PLUS_mpg_ite2` of LIA: `vinta` in a second, `pdr` none in 30).
/// Of programs with several locations `interp` has labels by location (`transmitter.7`, `.8` of LRA-Lin:
/// two seconds, `pdr` 22).
/// `spacer` has `metros_3` of LIA after two seconds, where `pdr` has none in 10; `pdr` goes on from its
/// frames, which brings two tasks of DRAGON (LIA-Lin). With two seconds of work it depends on what the
/// turns before it have left whether that is enough (18 of 24 runs), with three nearly all have it;
/// with five `pdr` is too late for two others.
/// `dar` answers 87 of 99 tasks of LIA-Lin in 5 s, one of which (`s_split_40`) no other engine does.
const MAIN: &[Slot] = &[
    slot("bmc", 0.05, Limit::Moment(Duration::from_millis(500))),
    slot("trl", 0.05, Limit::Moment(Duration::from_millis(500))),
    slot("kind", 0.03, Limit::Moment(Duration::from_millis(300))),
    slot("templates", 0.08, Limit::Moment(Duration::from_millis(800))),
    slot("pdr", 0.2, Limit::Moment(Duration::from_millis(1500))).only(Only::ScalarArrays),
    slot("morph", 0.45, Limit::Long(Duration::from_secs(300))).only(Only::ScalarArrays),
    slot("morph", 0.95, Limit::Long(Duration::from_secs(300))).only(Only::Heaps),
    slot("safari", 0.25, Limit::Long(Duration::from_secs(120))).only(Only::Arrays),
    slot("ic3", 0.1, Limit::Further(Duration::from_secs(300))),
    slot("dar", 0.1, Limit::Further(Duration::from_secs(60))),
    slot("interp", 0.2, Limit::Moment(Duration::from_millis(1500))).only(Only::Terms),
    slot("vinta", 0.2, Limit::Moment(Duration::from_millis(1500))).only(Only::TreesOfNumbers),
    slot("interp", 0.45, Limit::Long(Duration::from_secs(60))).only(Only::Programs),
    slot("spacer", 0.4, Limit::Moment(Duration::from_secs(3))).only(Only::Numbers),
    slot("pdr", 0.85, Limit::Long(Duration::from_secs(1200))),
    slot("tpa", 0.4, Limit::Long(Duration::from_secs(300))),
    slot("vinta", 0.5, Limit::Long(Duration::from_secs(300))).only(Only::WithoutDatatypes),
    slot("trl", 0.5, Limit::Long(Duration::from_secs(300))),
    slot("pdr", 0.8, Limit::None),
    slot("bmc", 1.0, Limit::None),
];

/// For a model without recursive functions, where one with them was found and a model is to be
/// printed: other solvers read it, and the competition's check of models does. What has such a model
/// has it in a few seconds, or not at all (measured on the ADT-LIA tasks of the lists).
pub(super) const SIMPLER: Stage = Stage {
    passes: Passes::All,
    engines: &[
        slot("bmc", 0.2, Limit::Moment(Duration::from_millis(100))),
        slot("pdr", 1.0, Limit::Moment(Duration::from_secs(4))),
    ],
    named: Limit::Moment(Duration::from_secs(4)),
};

/// What that may take with the passes before it and the check: where there are sizes and other
/// functions of one term, which say some of what it is, and where there are functions of several,
/// whose proof is by induction.
pub(super) const SIMPLER_SIZES: (f64, Limit) = (0.5, Limit::Moment(Duration::from_secs(5)));
pub(super) const SIMPLER_FUNCTIONS: (f64, Limit) = (0.5, Limit::Moment(Duration::from_millis(500)));

/// What bounded unfolding of the functions may take before that.
pub(super) const UNFOLDED: (f64, Limit) = (0.1, Limit::Moment(Duration::from_secs(1)));

/// What making a model smaller may take, with the check of the smaller one, where it is to be
/// printed: a moment, and never so much that the run could end with it.
pub(super) const SMALLER: (f64, Limit) = (0.25, Limit::Moment(Duration::from_secs(1)));

/// Where no predicate is left, after whatever passes: one question, for which short turns of many
/// engines only cost time.
pub(super) const CLOSED: &[Slot] = &[
    slot("bmc", 0.5, Limit::Long(Duration::from_secs(1200))),
    slot("pdr", 1.0, Limit::None),
];

/// Some passes, then engines.
pub(super) struct Stage {
    pub passes: Passes,
    /// In turn, if the strategy is the default.
    pub engines: &'static [Slot],
    /// How long an engine has that is asked for by name.
    pub named: Limit,
}

/// What is done to the system before the engines see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Passes {
    /// The passes that are not costly. Without costly ones there is no such stage.
    Quick,
    /// None: the clauses as they were, for engines that have their turns here only.
    Written,
    /// All passes.
    All,
    /// From the clauses as they were, the passes that keep models small, but only if a witness was
    /// lost in a stage before: by a check that it did not pass, or by a way back that failed.
    /// That is a defect, which is logged, or a model too hard to check.
    Plain,
    /// The clauses as they were, on the same condition.
    Undone,
}

impl Stage {
    /// Whether an engine that is asked for by name has a turn: those for clauses as they were
    /// written have none elsewhere.
    pub fn takes(&self, engine: &str) -> bool {
        let is_for = |slots: &[Slot]| slots.iter().any(|slot| slot.engine == engine);
        let for_written = is_for(WRITTEN) && !is_for(MAIN);
        for_written == (self.passes == Passes::Written)
    }
}

/// A place in the order.
pub(super) struct Slot {
    pub engine: &'static str,
    /// The share of the time left when its turn comes,
    pub share: f64,
    /// and how much at most.
    pub limit: Limit,
    /// Where it has a turn.
    only: Only,
}

/// Systems whose time is for an engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Only {
    Anywhere,
    /// Passes left no datatypes.
    WithoutDatatypes,
    /// The clauses have no words.
    WithoutWords,
    /// The quick passes left words that could be numbers.
    WideWords,
    /// Of ten arguments that the quick passes left, nine are truth values, and there are no words.
    TruthValues,
    /// Passes left datatypes, and no arrays.
    Terms,
    /// Passes left numbers and truth values only,
    Numbers,
    /// in clauses with several body atoms,
    TreesOfNumbers,
    /// or in clauses with at most one, with several predicates on cycles.
    Programs,
    /// Passes left arrays,
    Arrays,
    /// of numbers and the like,
    ScalarArrays,
    /// or of objects.
    Heaps,
}

impl Slot {
    /// The same, but a turn only there: elsewhere the time is for others.
    const fn only(mut self, only: Only) -> Slot {
        self.only = only;
        self
    }

    /// Whether it has a turn on a system of this shape.
    pub fn is_for(&self, shape: &Shape) -> bool {
        match self.only {
            Only::Anywhere => true,
            Only::WithoutDatatypes => !shape.theories.datatype,
            Only::WithoutWords => !shape.theories.bitvec,
            Only::WideWords => shape.theories.wide_words,
            Only::TruthValues => {
                let most = shape.truth_values * 10 >= shape.arguments * 9;
                most && shape.arguments > 0 && !shape.theories.bitvec
            }
            Only::Terms => shape.theories.datatype && !shape.theories.array,
            Only::Numbers => has_numbers_only(shape),
            Only::TreesOfNumbers => !shape.linear && has_numbers_only(shape),
            Only::Programs => shape.linear && shape.recursive > 1 && has_numbers_only(shape),
            Only::Arrays => shape.theories.array,
            Only::ScalarArrays => shape.theories.array && !shape.theories.datatype,
            Only::Heaps => shape.theories.array && shape.theories.datatype,
        }
    }
}

/// Whether there are only numbers and truth values.
fn has_numbers_only(shape: &Shape) -> bool {
    let theories = &shape.theories;
    !theories.datatype && !theories.array && !theories.bitvec
}

const fn slot(engine: &'static str, share: f64, limit: Limit) -> Slot {
    Slot {
        engine,
        share,
        limit,
        only: Only::Anywhere,
    }
}

/// How long a turn may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Limit {
    /// By work, so that what is solved in a moment does not hang on how busy the machine is.
    Moment(Duration),
    /// By time.
    Long(Duration),
    /// By time, and only where [`FURTHER`] is left.
    Further(Duration),
    None,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::find;

    #[test]
    fn slots_name_engines_and_leave_time() {
        for stage in &STAGES {
            for slot in stage.engines {
                assert!(find(slot.engine).is_some(), "{}", slot.engine);
                assert!(slot.share > 0.0 && slot.share <= 1.0, "{}", slot.engine);
            }
        }
        assert!(CLOSED.iter().all(|slot| find(slot.engine).is_some()));
        // Without a time limit the last turn does not end by itself.
        assert!(MAIN.last().is_some_and(|slot| slot.limit == Limit::None));
        let short = |slot: &Slot| {
            let longest = match slot.only {
                Only::TruthValues => QUICK_TRUTH,
                _ => QUICK_TEMPLATES,
            };
            matches!(slot.limit, Limit::Moment(most) if most <= longest)
        };
        assert!(QUICK.iter().all(short));
    }
}
