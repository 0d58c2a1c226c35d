//! Bounds that hold where a Boolean argument has one of its values: `b => x <= 5`, `not b => c`.
//!
//! Invariant: a bound is listed only if it is narrower than the range that the argument has in any
//! case.

use std::rc::Rc;

use super::compile::{Cube, Kind, Local};
use super::propagate::{meet, narrow};
use super::range::Range;

/// Rounds of applying implications whose condition holds.
const MAX_ROUNDS: usize = 3;

/// Conditions times arguments of a predicate, at most.
const MAX_ENTRIES: usize = 200_000;

/// The bounds under one condition: argument and range, by argument.
pub(super) type Bounds = Rc<[(u32, Range)]>;

/// By condition, `2 * argument + value`, ascending; conditions without bounds are left out.
pub(super) type Implications = Rc<[(u32, Bounds)]>;

/// A range without numbers: the condition never holds.
const EMPTY: Range = Range { low: 1, high: 0 };

/// Narrows the ranges of the locals by the implications of the bodies whose conditions hold; false if
/// there is no solution.
pub(super) fn propagate(
    cube: &Cube,
    bodies: &[&Implications],
    ranges: &mut [Range],
    steps: &mut u64,
) -> bool {
    for _ in 0..MAX_ROUNDS {
        let mut changed = false;
        for ((_, args), implications) in cube.body.iter().zip(bodies) {
            for (condition, bounds) in implications.iter() {
                let flag = args[*condition as usize / 2];
                let value = i64::from(condition % 2);
                if bounds.first().is_some_and(|b| b.1.is_empty()) {
                    match meet(ranges, flag, Range::value(1 - value)) {
                        None => return false,
                        Some(narrower) => changed |= narrower,
                    }
                    continue;
                }
                if ranges[flag as usize].fixed() != Some(value) {
                    continue;
                }
                *steps += bounds.len() as u64 / 2;
                for (at, range) in bounds.iter() {
                    match meet(ranges, args[*at as usize], *range) {
                        None => return false,
                        Some(narrower) => changed |= narrower,
                    }
                }
            }
        }
        if !changed {
            break;
        }
        if !narrow(ranges, &cube.kinds, &cube.formulas, steps) {
            return false;
        }
    }
    true
}

/// The implications of the head, for ranges of the locals that hold in any case. `base` has the
/// ranges of the head's arguments that are known in any case, `kinds` their kinds; only conditions that
/// are `wanted` are considered.
#[allow(clippy::too_many_arguments)]
pub(super) fn post(
    cube: &Cube,
    bodies: &[&Implications],
    ranges: &[Range],
    base: &[Range],
    kinds: &[Kind],
    wanted: &dyn Fn(u32) -> bool,
    steps: &mut u64,
) -> Implications {
    let Some((_, args)) = &cube.head else {
        return Rc::default();
    };
    if entries(kinds) > MAX_ENTRIES {
        return Rc::default();
    }
    let mut found = Vec::new();
    let mut copy: Vec<Range> = Vec::with_capacity(ranges.len());
    let mut list: Vec<(u32, Range)> = Vec::with_capacity(args.len());
    for (at, &flag) in (0..).zip(args) {
        if kinds[at as usize] != Kind::Bool {
            continue;
        }
        for value in 0..2u32 {
            let is_fixed = base[at as usize].fixed();
            let never = is_fixed.is_some_and(|fixed| fixed != i64::from(value));
            if never || !wanted(2 * at + value) {
                continue;
            }
            copy.clear();
            copy.extend_from_slice(ranges);
            *steps += 2 + args.len() as u64 / 4;
            under(
                cube, bodies, &mut copy, flag, value, base, args, steps, &mut list,
            );
            if !list.is_empty() {
                let condition = 2 * at + value;
                found.push((condition, shared(bodies, condition, &list)));
            }
        }
    }
    found.into()
}

/// The number of conditions times arguments of these kinds.
pub(super) fn entries(kinds: &[Kind]) -> usize {
    2 * kinds.iter().filter(|k| **k == Kind::Bool).count() * kinds.len()
}

/// The bounds, which are those of a body atom under the same condition wherever these are equal: most
/// cubes copy most arguments, and [`join`] need not look into what is shared.
fn shared(bodies: &[&Implications], condition: u32, bounds: &[(u32, Range)]) -> Bounds {
    for implications in bodies {
        if let Ok(at) = implications.binary_search_by_key(&condition, |i| i.0)
            && *implications[at].1 == *bounds
        {
            return implications[at].1.clone();
        }
    }
    bounds.into()
}

/// Computes the bounds of the head under a condition.
#[allow(clippy::too_many_arguments)]
fn under(
    cube: &Cube,
    bodies: &[&Implications],
    ranges: &mut [Range],
    flag: Local,
    value: u32,
    base: &[Range],
    args: &[Local],
    steps: &mut u64,
    list: &mut Vec<(u32, Range)>,
) {
    let before = ranges[flag as usize];
    let holds = match meet(ranges, flag, Range::value(i64::from(value))) {
        None => false,
        Some(false) => true,
        Some(true) => {
            debug_assert!(before.fixed().is_none());
            settle(cube, bodies, ranges, flag, steps)
        }
    };
    let range = |local: Local| match holds {
        true => ranges[local as usize],
        false => EMPTY,
    };
    let bounds = (0..).zip(args.iter().zip(base));
    let bounds = bounds.map(|(at, (&local, base))| (at, range(local), base));
    let narrower = bounds.filter(|(_, range, base)| range != *base && base.includes(*range));
    list.clear();
    list.extend(narrower.map(|(at, range, _)| (at, range)));
}

/// Narrows the ranges after a Boolean was fixed; false if there is no solution.
///
/// The implications of this Boolean and of those in formulas that become fixed are applied, not of
/// those that only other implications fix: what follows from these is mostly listed under the first
/// one, and looking there for each of them would take the square of the number of arguments.
fn settle(
    cube: &Cube,
    bodies: &[&Implications],
    ranges: &mut [Range],
    flag: Local,
    steps: &mut u64,
) -> bool {
    let is_fixed = |ranges: &[Range], local: Local| ranges[local as usize].fixed().is_some();
    let mut waiting: Vec<Local> = cube.flags.to_vec();
    waiting.retain(|&local| !is_fixed(ranges, local));
    let mut fixed = vec![flag];
    for _ in 0..MAX_ROUNDS {
        for local in fixed.drain(..) {
            if !apply(cube, bodies, ranges, local, steps) {
                return false;
            }
        }
        if !narrow(ranges, &cube.kinds, &cube.formulas, steps) {
            return false;
        }
        waiting.retain(|&local| {
            let waits = !is_fixed(ranges, local);
            if !waits {
                fixed.push(local);
            }
            waits
        });
        if fixed.is_empty() {
            break;
        }
    }
    true
}

/// Applies the implications of a Boolean that is fixed; false if there is no solution.
fn apply(
    cube: &Cube,
    bodies: &[&Implications],
    ranges: &mut [Range],
    flag: Local,
    steps: &mut u64,
) -> bool {
    let Some(value) = ranges[flag as usize].fixed() else {
        return true;
    };
    for ((_, args), implications) in cube.body.iter().zip(bodies) {
        *steps += args.len() as u64 / 8;
        for (at, _) in (0..).zip(args).filter(|(_, arg)| **arg == flag) {
            let condition = 2 * at + u32::from(value != 0);
            let Ok(found) = implications.binary_search_by_key(&condition, |i| i.0) else {
                continue;
            };
            let bounds = &implications[found].1;
            *steps += bounds.len() as u64 / 2;
            for (at, range) in bounds.iter() {
                if range.is_empty() || meet(ranges, args[*at as usize], *range).is_none() {
                    return false;
                }
            }
        }
    }
    true
}

/// The implications that follow from each of two lists; `None` if these are all of the first. With
/// `widens`, bounds that are not the same are dropped. `base` has the ranges in any case.
pub(super) fn join(
    own: &Implications,
    other: &Implications,
    base: &[Range],
    widens: bool,
) -> Option<Implications> {
    if Rc::ptr_eq(own, other) {
        return None;
    }
    let mut changed = false;
    let mut found: Vec<(u32, Bounds)> = Vec::with_capacity(own.len());
    for (condition, bounds) in own.iter() {
        let at = other.binary_search_by_key(condition, |o| o.0);
        let Ok(at) = at else {
            changed = true;
            continue;
        };
        let others = &other[at].1;
        if Rc::ptr_eq(bounds, others) || bounds == others {
            found.push((*condition, bounds.clone()));
            continue;
        }
        let mut joined = Vec::with_capacity(bounds.len());
        for (argument, range) in bounds.iter() {
            let at = others.binary_search_by_key(argument, |o| o.0);
            let other = at.map_or(base[*argument as usize], |at| others[at].1);
            let sum = union(*range, other);
            if sum == *range {
                joined.push((*argument, sum));
                continue;
            }
            changed = true;
            let wider = base[*argument as usize];
            if !widens && sum != wider && wider.includes(sum) {
                joined.push((*argument, sum));
            }
        }
        if !joined.is_empty() {
            found.push((*condition, joined.into()));
        }
    }
    changed.then(|| found.into())
}

fn union(left: Range, right: Range) -> Range {
    match (left.is_empty(), right.is_empty()) {
        (true, _) => right,
        (_, true) => left,
        _ => left.join(right),
    }
}

/// The range of an argument under a condition.
pub(super) fn range(own: &Implications, condition: u32, argument: u32, base: Range) -> Range {
    let found = own.binary_search_by_key(&condition, |o| o.0).ok();
    let found = found.and_then(|at| {
        let bounds = &own[at].1;
        let at = bounds.binary_search_by_key(&argument, |b| b.0).ok()?;
        Some(bounds[at].1)
    });
    found.unwrap_or(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What one list does not say holds in its base only.
    #[test]
    fn joins_keep_what_both_say() {
        const ONE: Range = Range { low: 1, high: 1 };
        let base = [Range { low: 0, high: 1 }, Range { low: 0, high: 9 }];
        let some = |range: Range| -> Implications {
            let bounds: Bounds = Rc::new([(1, range)]);
            Rc::new([(1, bounds)])
        };
        let (one, two) = (some(ONE), some(Range { low: 2, high: 2 }));
        let both = join(&one, &two, &base, false).expect("it grows");
        assert_eq!(range(&both, 1, 1, base[1]), Range { low: 1, high: 2 });
        assert!(join(&both, &one, &base, false).is_none());
        assert!(join(&one, &two, &base, true).is_some_and(|all| all.is_empty()));
        let never = some(EMPTY);
        assert!(join(&never, &one, &base, false) == Some(one.clone()));
        assert!(join(&one, &never, &base, false).is_none());
        assert!(join(&one, &Rc::default(), &base, false).is_some_and(|all| all.is_empty()));
    }
}
