//! Localisation: from the assumptions that exclude a counterexample to all that is said about the same
//! arguments.
//!
//! A counterexample's core is about one path; the next one takes another path with the same flaw. An
//! abstraction that has all conjuncts about the arguments it mentions, in every clause, excludes all
//! of them at once (Kurshan, "Computer-aided verification of coordinating processes", 1994: whole
//! variables are visible or not).
//!
//! Invariant: what is returned has all that was given.

use rustc_hash::{FxHashMap, FxHashSet};

use super::assumptions::Assumptions;
use crate::chc::System;
use crate::term::{Op, TermId};

/// An argument of a predicate.
type Place = (usize, usize);

/// An assumption and the arguments that its part of the clause is about.
struct Part {
    assumption: TermId,
    places: Vec<Place>,
}

/// Which assumptions are about which arguments.
pub(super) struct Places {
    parts: Vec<Part>,
    /// Arguments that some clause hands on as they are: to the heads' from the bodies'.
    handed_on: FxHashMap<Place, Vec<Place>>,
}

impl Places {
    /// The arguments that each assumption is about.
    pub fn new(system: &System, assumptions: &Assumptions) -> Self {
        let terms = &system.terms;
        let mut parts = Vec::new();
        let mut handed_on: FxHashMap<Place, Vec<Place>> = FxHashMap::default();
        for (index, clause) in system.clauses.iter().enumerate() {
            let place_of: FxHashMap<TermId, Place> = clause
                .atoms()
                .flat_map(|atom| {
                    let args = atom.args.iter().copied().enumerate();
                    args.map(|(at, arg)| (arg, (atom.predicate.index(), at)))
                })
                .collect();
            let of_head: FxHashSet<TermId> =
                clause.head.iter().flat_map(|h| h.args.clone()).collect();
            for (&assumption, &part) in assumptions.own(index).iter().zip(assumptions.kept(index)) {
                let vars = terms.free_vars(&[part]);
                let places = vars.iter().filter_map(|v| place_of.get(v).copied());
                parts.push(Part {
                    assumption,
                    places: places.collect(),
                });
                let args = terms.args(part);
                if !matches!(terms.op(part), Op::Eq) || args.len() != 2 {
                    continue;
                }
                let (to, from) = match (of_head.contains(&args[0]), of_head.contains(&args[1])) {
                    (true, false) => (args[0], args[1]),
                    (false, true) => (args[1], args[0]),
                    _ => continue,
                };
                if let (Some(&to), Some(&from)) = (place_of.get(&to), place_of.get(&from)) {
                    handed_on.entry(to).or_default().push(from);
                }
            }
        }
        for from in handed_on.values_mut() {
            from.sort_unstable();
            from.dedup();
        }
        Places { parts, handed_on }
    }

    /// The assumptions given, and all others about nothing else than the same arguments and those that
    /// their values are handed on from.
    pub fn localised(&self, given: &FxHashSet<TermId>) -> FxHashSet<TermId> {
        let about = self.parts.iter().filter(|p| given.contains(&p.assumption));
        let mut open: Vec<Place> = about.flat_map(|p| p.places.iter().copied()).collect();
        let mut visible: FxHashSet<Place> = FxHashSet::default();
        while let Some(place) = open.pop() {
            if visible.insert(place) {
                open.extend(self.handed_on.get(&place).into_iter().flatten());
            }
        }
        let seen = |part: &&Part| part.places.iter().all(|p| visible.contains(p));
        let parts = self.parts.iter().filter(seen);
        given
            .iter()
            .copied()
            .chain(parts.map(|p| p.assumption))
            .collect()
    }
}
