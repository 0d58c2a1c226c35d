//! The members of the portfolio, as data: for each family of clauses, the members beside the default
//! strategy, with their shares of the time.
//!
//! The first member is always the default strategy, as with one job. The others were chosen by greedy
//! covers of tasks (`scripts/tune`).
//!
//! Invariant: the list of members depends only on the shape of the clauses, and a member is given by
//! options of the command line.

use std::time::Duration;

use alphorn::chc::Family;
use alphorn_engine::schedule::{Limit, Schedule, Slot, slot};

/// The members of a family after the first, in the order in which they start.
pub fn members(family: Family) -> Schedule<Options> {
    match family {
        Family::DataAndArrays => HEAPS,
        Family::Data => DATA,
        Family::Arrays => ARRAYS,
        Family::BitVectors => BIT_VECTORS,
        Family::LinearReals => LINEAR_REALS,
        Family::Linear => LINEAR,
        Family::Nonlinear => NONLINEAR,
    }
}

/// The number of members, with the first, of the family that has most.
pub fn max_jobs() -> usize {
    let others = Family::ALL.into_iter().map(|f| members(f).len()).max();
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

/// `enum` has most of its refutations at once.
const DATA: Schedule<Options> = &[
    slot(&["--engine", "enum"], 0.12, FIVE_MINUTES),
    slot(&["--engine", "cata"], 0.8, FIVE_MINUTES),
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
    slot(&["--engine", "twin"], 0.8, FIVE_MINUTES),
    slot(&["--engine", "pdr"], 1.0, FIVE_MINUTES),
    slot(&["--engine", "ic3"], 1.0, FIVE_MINUTES),
    slot(&["--engine", "kind"], 1.0, FIVE_MINUTES),
    slot(&["--engine", "interp"], 1.0, UNLIMITED),
];

const LINEAR_REALS: Schedule<Options> = &[
    slot(&["--engine", "pdr"], 0.9, FIVE_MINUTES),
    slot(&["--engine", "interp"], 1.0, FIVE_MINUTES),
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
            let members = members(family);
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
}
