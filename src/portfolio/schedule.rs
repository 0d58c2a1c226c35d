//! Who else tries, as data: by the shape of the clauses, the members that stand next to the default
//! strategy, and for how long.
//!
//! The first member is always the default strategy, as it is with one job. Of the others, those that
//! come first solve most of what that leaves, or solve it sooner: `scripts/portfolio` shows it.
//!
//! Invariant: nothing here depends on anything but the shape and the number of jobs, and a member is
//! a command line.

use std::time::Duration;

use alphorn::chc::Shape;

/// What decides who takes part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// Datatypes and arrays: heaps, mostly.
    DataAndArrays,
    Data,
    Arrays,
    /// Bit-vectors.
    Words,
    /// At most one body atom in each clause, and reals.
    LinearReals,
    /// At most one body atom in each clause, over integers and Booleans.
    Linear,
    Nonlinear,
}

impl Family {
    pub const ALL: [Family; 7] = [
        Family::DataAndArrays,
        Family::Data,
        Family::Arrays,
        Family::Words,
        Family::LinearReals,
        Family::Linear,
        Family::Nonlinear,
    ];

    /// Of clauses of this shape.
    pub fn of(shape: &Shape) -> Family {
        let theories = &shape.theories;
        match (theories.datatype, theories.array) {
            (true, true) => Family::DataAndArrays,
            (true, false) => Family::Data,
            (false, true) => Family::Arrays,
            (false, false) if theories.bitvec => Family::Words,
            (false, false) if !shape.linear => Family::Nonlinear,
            (false, false) if theories.real => Family::LinearReals,
            (false, false) => Family::Linear,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Family::DataAndArrays => "datatypes and arrays",
            Family::Data => "datatypes",
            Family::Arrays => "arrays",
            Family::Words => "bit-vectors",
            Family::LinearReals => "linear clauses over reals",
            Family::Linear => "linear clauses over integers",
            Family::Nonlinear => "nonlinear clauses",
        }
    }

    pub fn named(name: &str) -> Option<Family> {
        Family::ALL.into_iter().find(|family| family.name() == name)
    }

    /// The members after the first, in the order in which they begin.
    pub fn members(self) -> &'static [Member] {
        match self {
            Family::DataAndArrays => HEAPS,
            Family::Data => DATA,
            Family::Arrays => ARRAYS,
            Family::Words => WORDS,
            Family::LinearReals => LINEAR_REALS,
            Family::Linear => LINEAR,
            Family::Nonlinear => NONLINEAR,
        }
    }
}

/// How long the first member is alone. Four of five problems that are solved at all are solved by
/// then, and a second process would only slow the first one down.
pub const HEAD_START: Duration = Duration::from_millis(300);

/// Jobs that have something to do, at most.
pub fn most_jobs() -> usize {
    let most = Family::ALL.into_iter().map(|f| f.members().len()).max();
    most.unwrap_or(0) + 1
}

/// A command line, without the limits, and its part of the time.
pub struct Member {
    pub args: &'static [&'static str],
    /// The share of the time that is left when it begins, for one job besides the first; with more
    /// of them it is as many times longer.
    share: f64,
    /// How long at most, for one job, without a limit for the run, too.
    most: Option<Duration>,
}

impl Member {
    /// How long it may take if so much is left, and so many jobs are for members after the first.
    pub fn timeout(&self, left: Option<Duration>, jobs: usize) -> Option<Duration> {
        let jobs = u32::try_from(jobs).unwrap_or(u32::MAX).max(1);
        let share = (self.share * f64::from(jobs)).min(1.0);
        let part = left.map(|left| left.mul_f64(share));
        let most = self.most.map(|most| most.saturating_mul(jobs));
        part.into_iter().chain(most).min()
    }
}

const fn member(args: &'static [&'static str], share: f64, most: Option<Duration>) -> Member {
    Member { args, share, most }
}

const MINUTES: Option<Duration> = Some(Duration::from_secs(300));
const FOREVER: Option<Duration> = None;

// With two jobs the first line of a list is what matters, or the first two: a line begins when the
// one before has had its time. What follows is for long limits and more jobs: engines that the
// default gives little time or none. `vinta` plans its turns by its limit, and solves less with a
// part of the time than in that part of all of it: so it has all, but for bit-vectors, where `kind`
// comes first.

const HEAPS: &[Member] = &[
    member(&["--engine", "pdr"], 0.5, MINUTES),
    member(&["--engine", "vinta"], 1.0, FOREVER),
    member(&["--engine", "interp"], 1.0, FOREVER),
];

const DATA: &[Member] = &[
    member(&["--engine", "enum"], 0.6, MINUTES),
    member(&["--engine", "vinta"], 1.0, MINUTES),
    member(&["--engine", "induct"], 1.0, FOREVER),
    member(&["--engine", "pdr"], 1.0, FOREVER),
    member(&["--engine", "interp"], 1.0, FOREVER),
];

const ARRAYS: &[Member] = &[
    member(&["--engine", "vinta"], 1.0, MINUTES),
    member(&["--engine", "interp"], 1.0, FOREVER),
    member(&["--engine", "pdr"], 1.0, FOREVER),
    member(&["--engine", "safari"], 1.0, FOREVER),
];

const WORDS: &[Member] = &[
    member(&["--engine", "ic3"], 0.5, MINUTES),
    member(&["--engine", "kind"], 0.6, MINUTES),
    member(&["--engine", "vinta"], 1.0, FOREVER),
    member(&["--engine", "tpa"], 1.0, FOREVER),
    member(&["--engine", "pdkind"], 1.0, FOREVER),
    member(&["--engine", "interp"], 1.0, FOREVER),
];

const LINEAR_REALS: &[Member] = &[
    member(&["--engine", "interp"], 0.5, MINUTES),
    member(&["--engine", "vinta"], 1.0, FOREVER),
    member(&["--engine", "pdkind"], 1.0, FOREVER),
    member(&["--engine", "kind"], 1.0, FOREVER),
    member(&["--engine", "tpa"], 1.0, FOREVER),
];

const LINEAR: &[Member] = &[
    member(&["--engine", "vinta"], 1.0, MINUTES),
    member(&["--engine", "dar"], 1.0, MINUTES),
    member(&["--engine", "interp"], 1.0, FOREVER),
    member(&["--engine", "tpa"], 1.0, FOREVER),
    member(&["--engine", "pdkind"], 1.0, FOREVER),
    member(&["--engine", "trl"], 1.0, FOREVER),
];

const NONLINEAR: &[Member] = &[
    member(&["--engine", "vinta"], 1.0, MINUTES),
    member(&["--engine", "interp"], 1.0, FOREVER),
    member(&["--engine", "spacer"], 1.0, FOREVER),
];

#[cfg(test)]
mod tests {
    use super::*;

    use alphorn::Config;

    #[test]
    fn members_are_known_and_the_last_one_stays() {
        for family in Family::ALL {
            assert_eq!(Family::named(family.name()), Some(family));
            let members = family.members();
            for member in members {
                let mut config = Config::default();
                let mut words = member.args.iter();
                while let (Some(option), Some(value)) = (words.next(), words.next()) {
                    match *option {
                        "--engine" => config.engine = (*value).to_owned(),
                        "--passes" => config.passes = Some((*value).to_owned()),
                        "--set" => config.settings.push((*value).to_owned()),
                        other => panic!("{other} is no choice of a member"),
                    }
                }
                assert_eq!(config.check(), Ok(()), "{:?}", member.args);
                assert!(member.share > 0.0 && member.share <= 1.0);
            }
            let last = members.last().expect("the default is not alone");
            assert!(last.share >= 1.0 && last.most.is_none(), "{family:?}");
        }
        assert_eq!(Family::named("abacus"), None);
    }

    #[test]
    fn time_is_shared_by_the_jobs() {
        let seconds = |n: u64| Some(Duration::from_secs(n));
        let some = member(&[], 0.5, seconds(100));
        assert_eq!(some.timeout(seconds(10), 1), seconds(5));
        assert_eq!(some.timeout(seconds(10), 2), seconds(10));
        assert_eq!(some.timeout(seconds(10), 9), seconds(10));
        assert_eq!(some.timeout(seconds(10_000), 1), seconds(100));
        assert_eq!(some.timeout(None, 2), seconds(200));
        assert_eq!(member(&[], 1.0, FOREVER).timeout(None, 2), None);
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
        assert_eq!(Family::of(&shape), Family::Words);
        shape.theories.array = true;
        assert_eq!(Family::of(&shape), Family::Arrays);
        shape.theories.datatype = true;
        assert_eq!(Family::of(&shape), Family::DataAndArrays);
        shape.theories.array = false;
        assert_eq!(Family::of(&shape), Family::Data);
    }
}
