//! The members of the portfolio, as data: for each family of clauses, the members beside the default
//! strategy, with their shares of the time.
//!
//! The first member is always the default strategy, as with one job. The others were chosen by greedy
//! covers of tasks (`scripts/portfolio`).
//!
//! Invariant: the list of members depends only on the shape of the clauses, and a member is given by
//! options of the command line.

use std::time::Duration;

use alphorn::chc::Shape;
use alphorn_engine::schedule::{Limit, Schedule, Slot, slot};

/// A family of clauses; it decides which members run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// With datatypes and arrays, most of them models of heaps.
    DataAndArrays,
    /// With datatypes, without arrays.
    Data,
    /// With arrays, without datatypes.
    Arrays,
    /// With bit-vectors, without datatypes and arrays.
    BitVectors,
    /// At most one body atom in each clause, and reals.
    LinearReals,
    /// At most one body atom in each clause, over integers and Booleans.
    Linear,
    /// More than one body atom in some clause, over numbers and Booleans.
    Nonlinear,
}

impl Family {
    /// All families.
    pub const ALL: [Family; 7] = [
        Family::DataAndArrays,
        Family::Data,
        Family::Arrays,
        Family::BitVectors,
        Family::LinearReals,
        Family::Linear,
        Family::Nonlinear,
    ];

    /// The family of clauses of this shape.
    pub fn of(shape: &Shape) -> Family {
        let theories = &shape.theories;
        match (theories.datatype, theories.array) {
            (true, true) => Family::DataAndArrays,
            (true, false) => Family::Data,
            (false, true) => Family::Arrays,
            (false, false) if theories.bitvec => Family::BitVectors,
            (false, false) if !shape.linear => Family::Nonlinear,
            (false, false) if theories.real => Family::LinearReals,
            (false, false) => Family::Linear,
        }
    }

    /// The name, as messages have it.
    pub fn name(self) -> &'static str {
        match self {
            Family::DataAndArrays => "datatypes and arrays",
            Family::Data => "datatypes",
            Family::Arrays => "arrays",
            Family::BitVectors => "bit-vectors",
            Family::LinearReals => "linear clauses over reals",
            Family::Linear => "linear clauses over integers",
            Family::Nonlinear => "nonlinear clauses",
        }
    }

    /// The family of this name.
    pub fn named(name: &str) -> Option<Family> {
        Family::ALL.into_iter().find(|family| family.name() == name)
    }

    /// The members after the first, in the order in which they start.
    pub fn members(self) -> Schedule<Options> {
        match self {
            Family::DataAndArrays => HEAPS,
            Family::Data => DATA,
            Family::Arrays => ARRAYS,
            Family::BitVectors => BIT_VECTORS,
            Family::LinearReals => LINEAR_REALS,
            Family::Linear => LINEAR,
            Family::Nonlinear => NONLINEAR,
        }
    }
}

/// The number of members, with the first, of the family that has most.
pub fn max_jobs() -> usize {
    let others = Family::ALL.into_iter().map(|f| f.members().len()).max();
    others.unwrap_or(0) + 1
}

/// The options of a member's command line that choose the engine.
pub type Options = &'static [&'static str];

/// The time limit of a member after the first if this much time is left when it starts and this many
/// jobs are for such members. Its share and limit are for one job; with more they are multiplied.
pub fn timeout(slot: &Slot<Options>, left: Option<Duration>, jobs: usize) -> Option<Duration> {
    let jobs = u32::try_from(jobs).unwrap_or(u32::MAX).max(1);
    let limit = match slot.limit {
        Limit::Time(longest) => Limit::Time(longest.saturating_mul(jobs)),
        other => other,
    };
    let share = (slot.share * f64::from(jobs)).min(1.0);
    Slot {
        share,
        limit,
        ..*slot
    }
    .length(left)
}

const FIVE_MINUTES: Limit = Limit::Time(Duration::from_secs(300));
const UNLIMITED: Limit = Limit::None;

// With two jobs, the second line of a list starts when the member of the first line has ended; later
// lines are for long limits and more jobs. `vinta` divides its time limit among its domains and solves
// less if the limit is short, so its share is always 1.

const HEAPS: Schedule<Options> = &[
    slot(&["--engine", "pdr"], 0.5, FIVE_MINUTES),
    slot(&["--engine", "vinta"], 1.0, UNLIMITED),
    slot(&["--engine", "interp"], 1.0, UNLIMITED),
];

const DATA: Schedule<Options> = &[
    slot(&["--engine", "enum"], 0.6, FIVE_MINUTES),
    slot(&["--engine", "vinta"], 1.0, FIVE_MINUTES),
    slot(&["--engine", "induct"], 1.0, UNLIMITED),
    slot(&["--engine", "pdr"], 1.0, UNLIMITED),
    slot(&["--engine", "interp"], 1.0, UNLIMITED),
];

const ARRAYS: Schedule<Options> = &[
    slot(&["--engine", "vinta"], 1.0, FIVE_MINUTES),
    slot(&["--engine", "interp"], 1.0, UNLIMITED),
    slot(&["--engine", "pdr"], 1.0, UNLIMITED),
    slot(&["--engine", "safari"], 1.0, UNLIMITED),
];

const BIT_VECTORS: Schedule<Options> = &[
    slot(&["--engine", "ic3"], 0.5, FIVE_MINUTES),
    slot(&["--engine", "kind"], 0.6, FIVE_MINUTES),
    slot(&["--engine", "vinta"], 1.0, UNLIMITED),
    slot(&["--engine", "pdkind"], 1.0, UNLIMITED),
    slot(&["--engine", "interp"], 1.0, UNLIMITED),
];

const LINEAR_REALS: Schedule<Options> = &[
    slot(&["--engine", "interp"], 0.5, FIVE_MINUTES),
    slot(&["--engine", "vinta"], 1.0, UNLIMITED),
    slot(&["--engine", "pdkind"], 1.0, UNLIMITED),
    slot(&["--engine", "kind"], 1.0, UNLIMITED),
];

const LINEAR: Schedule<Options> = &[
    slot(&["--engine", "vinta"], 1.0, FIVE_MINUTES),
    slot(&["--engine", "pdkind"], 1.0, FIVE_MINUTES),
    slot(&["--engine", "interp"], 1.0, UNLIMITED),
    slot(&["--engine", "trl"], 1.0, UNLIMITED),
];

const NONLINEAR: Schedule<Options> = &[
    slot(&["--engine", "vinta"], 1.0, FIVE_MINUTES),
    slot(&["--engine", "interp"], 1.0, UNLIMITED),
    slot(&["--engine", "spacer"], 1.0, UNLIMITED),
];

#[cfg(test)]
mod tests {
    use super::*;

    use alphorn::Config;

    #[test]
    fn members_exist_and_the_last_one_has_no_limit() {
        for family in Family::ALL {
            assert_eq!(Family::named(family.name()), Some(family));
            let members = family.members();
            for member in members {
                let mut config = Config::default();
                let mut words = member.turn.iter();
                while let (Some(option), Some(value)) = (words.next(), words.next()) {
                    match *option {
                        "--engine" => config.engine = (*value).to_owned(),
                        "--passes" => config.passes = Some((*value).to_owned()),
                        "--set" => config.settings.push((*value).to_owned()),
                        other => panic!("{other} is not an option of a member"),
                    }
                }
                assert_eq!(config.check(), Ok(()), "{:?}", member.turn);
                assert!(member.share > 0.0 && member.share <= 1.0);
            }
            let last = members.last().expect("the default is not alone");
            assert!(last.share >= 1.0 && last.limit == UNLIMITED, "{family:?}");
        }
        assert_eq!(Family::named("abacus"), None);
    }

    #[test]
    fn time_is_shared_by_the_jobs() {
        let seconds = |n: u64| Some(Duration::from_secs(n));
        let some: Slot<Options> = slot(&[], 0.5, Limit::Time(Duration::from_secs(100)));
        assert_eq!(timeout(&some, seconds(10), 1), seconds(5));
        assert_eq!(timeout(&some, seconds(10), 2), seconds(10));
        assert_eq!(timeout(&some, seconds(10), 9), seconds(10));
        assert_eq!(timeout(&some, seconds(10_000), 1), seconds(100));
        assert_eq!(timeout(&some, None, 2), seconds(200));
        assert_eq!(timeout(&slot(&[], 1.0, UNLIMITED), None, 2), None);
    }

    #[test]
    fn shapes_have_families() {
        let mut shape = Shape {
            linear: true,
            ..Shape::default()
        };
        assert_eq!(Family::of(&shape), Family::Linear);
        shape.theories.real = true;
        assert_eq!(Family::of(&shape), Family::LinearReals);
        shape.linear = false;
        assert_eq!(Family::of(&shape), Family::Nonlinear);
        shape.theories.bitvec = true;
        assert_eq!(Family::of(&shape), Family::BitVectors);
        shape.theories.array = true;
        assert_eq!(Family::of(&shape), Family::Arrays);
        shape.theories.datatype = true;
        assert_eq!(Family::of(&shape), Family::DataAndArrays);
        shape.theories.array = false;
        assert_eq!(Family::of(&shape), Family::Data);
    }
}
