//! Runs that are blocked because a learned relation leads to the same state in one step.
//!
//! Invariant: for each blocked run there is one between the same states with fewer steps, or with a
//! step that was learned later.

use rustc_hash::FxHashMap;

use alphorn_proof::steps::{Instance, Steps};
use alphorn_proof::unroll::{Level, Place};
use alphorn_smt::Solver;
use alphorn_term::{TermId, TermStore};

/// A learned relation that is to be used instead of several steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Shortcut {
    /// The relation's index among the steps.
    pub step: usize,
    /// The level where it starts.
    pub start: usize,
    /// The number of steps that it replaces.
    pub length: usize,
}

/// The shortcuts found so far, by the level where they end.
#[derive(Default)]
pub(super) struct Blocked {
    shortcuts: FxHashMap<usize, Vec<Shortcut>>,
}

impl Blocked {
    /// Blocks runs that take several steps where a relation needs one; in force when the level at
    /// its end is next added.
    pub fn add(&mut self, shortcut: Shortcut) {
        let end = shortcut.start + shortcut.length;
        let list = self.shortcuts.entry(end).or_default();
        if !list.contains(&shortcut) {
            list.push(shortcut);
        }
    }

    /// Asserts which runs to the last level are blocked.
    pub fn assert_last(
        &self,
        terms: &TermStore,
        steps: &Steps,
        levels: &[Level],
        solver: &mut Solver,
    ) {
        if let [.., before, last] = levels {
            prefer_learned(terms, steps, before, last, solver);
        }
        let last = levels.len().saturating_sub(1);
        for &Shortcut { step, start, .. } in self.shortcuts.get(&last).into_iter().flatten() {
            let Some(predicate) = steps.all[step].from else {
                continue;
            };
            let places = (levels[start].get(&predicate), levels[last].get(&predicate));
            if let (Some(from), Some(to)) = places {
                let relation = over(terms, steps, step, from, to);
                let parts = [from.literal, to.literal, relation];
                solver.assert(terms.or(&parts.map(|part| terms.not(part))));
            }
        }
    }
}

/// The formula of a step from one place to another.
fn over(terms: &TermStore, steps: &Steps, step: usize, from: &Place, to: &Place) -> TermId {
    let vars = &steps.all[step].vars;
    let args = from.args.iter().chain(&to.args).copied();
    let map: FxHashMap<TermId, TermId> = vars.iter().copied().zip(args).collect();
    terms.substitute(steps.all[step].formula, &map)
}

/// Blocks steps that are instances of a relation learned later, and the same relation twice in a
/// row, since it is transitive.
fn prefer_learned(
    terms: &TermStore,
    steps: &Steps,
    before: &Level,
    level: &Level,
    solver: &mut Solver,
) {
    for (predicate, place) in level {
        let Some(source) = before.get(predicate) else {
            continue;
        };
        let learned = |i: &&Instance| steps.is_learned(i.step);
        for newer in place.incoming.iter().filter(learned) {
            let instance = over(terms, steps, newer.step, source, place);
            for older in &place.incoming {
                if older.from == Some(*predicate) && older.step < newer.step {
                    solver.assert(terms.or(&[terms.not(older.literal), terms.not(instance)]));
                }
            }
            if let Some(twice) = source.incoming.iter().find(|i| i.step == newer.step) {
                let parts = [terms.not(twice.literal), terms.not(newer.literal)];
                solver.assert(terms.or(&parts));
            }
        }
    }
}
