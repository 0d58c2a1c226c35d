//! The unrolling of steps in one incremental solver, a scope for each level.
//!
//! Level `k` has, for each predicate that `k` steps after a fact can lead to, a place: a copy of its
//! arguments and a literal "the run is here", which implies one of the steps that lead there.
//! Invariant: only true literals bind, so a model may leave all but one chain of places and steps
//! false; a trace is read backward from a true place and finds a true step at each level.

use rustc_hash::FxHashMap;

use super::failed;
use super::steps::{Instance, Origin, Steps};
use crate::chc::{PredicateId, System};
use crate::engine::EngineError;
use crate::smt::{SmtModel, Solver};
use crate::term::{Assignment, SortId, TermId, TermStore};

/// A predicate at a level.
pub(in crate::engine) struct Place {
    pub literal: TermId,
    pub args: Vec<TermId>,
    incoming: Vec<Instance>,
}

/// By predicate.
type Level = FxHashMap<PredicateId, Place>;

/// A learned relation that is to be used instead of several steps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(in crate::engine) struct Shortcut {
    /// Index among the steps.
    pub step: usize,
    pub start: usize,
    pub length: usize,
}

/// See the module.
pub(in crate::engine) struct Unrolling {
    pub levels: Vec<Level>,
    /// By the level where they end.
    shortcuts: FxHashMap<usize, Vec<Shortcut>>,
    /// Queries of the last level.
    exits: Vec<(PredicateId, Instance)>,
}

/// What a model passes through: the entry, then a step for each further level, then perhaps a query.
pub(in crate::engine) struct Trace {
    pub steps: Vec<Instance>,
    /// Values of all their variables.
    pub values: Assignment,
}

impl Unrolling {
    /// No level yet.
    pub fn new() -> Unrolling {
        Unrolling {
            levels: Vec::new(),
            shortcuts: FxHashMap::default(),
            exits: Vec::new(),
        }
    }

    /// Adds a level in a scope of its own; false when no predicate is left there.
    pub fn add_level(&mut self, system: &System, steps: &Steps, solver: &mut Solver) -> bool {
        let terms = &*system.terms;
        let before = self.levels.last();
        let mut chosen: Vec<usize> = match before {
            None => steps.entries.clone(),
            Some(level) => level
                .keys()
                .flat_map(|&p| steps.from(p).iter().copied())
                .collect(),
        };
        chosen.sort_unstable();
        let mut heads: Vec<PredicateId> = chosen.iter().filter_map(|&s| steps.all[s].to).collect();
        heads.sort_unstable();
        heads.dedup();
        solver.push();
        let mut level = Level::default();
        for &head in &heads {
            let literal = literal(terms, &system.predicate(head).name);
            let args = system.fresh_atom(head).args;
            level.insert(
                head,
                Place {
                    literal,
                    args,
                    incoming: Vec::new(),
                },
            );
        }
        for step in chosen {
            let Some(place) = steps.all[step].to.and_then(|p| level.get_mut(&p)) else {
                continue;
            };
            let own = literal(terms, "step");
            let source = steps.all[step].from.zip(before).map(|(p, l)| &l[&p]);
            let arguments = source
                .iter()
                .flat_map(|p| &p.args)
                .chain(&place.args)
                .copied();
            let instance = steps.instantiate(terms, step, own, arguments);
            if let Some(source) = source {
                solver.assert(terms.implies(own, source.literal));
            }
            solver.assert(terms.implies(own, instance.formula));
            place.incoming.push(instance);
        }
        for &head in &heads {
            let place = &level[&head];
            let choices: Vec<TermId> = place.incoming.iter().map(|i| i.literal).collect();
            solver.assert(terms.implies(place.literal, terms.or(&choices)));
        }
        if let Some(before) = before {
            prefer_learned(terms, steps, before, &level, solver);
        }
        self.levels.push(level);
        let last = self.levels.len() - 1;
        let here = self.shortcuts.get(&last).cloned().unwrap_or_default();
        for shortcut in here {
            self.apply(terms, steps, shortcut, solver);
        }
        !heads.is_empty()
    }

    /// Forbids that a run takes several steps where a learned relation leads there in one. In force
    /// from the next time on that the level is made.
    pub fn shorten(&mut self, shortcut: Shortcut) {
        let list = self
            .shortcuts
            .entry(shortcut.start + shortcut.length)
            .or_default();
        if !list.contains(&shortcut) {
            list.push(shortcut);
        }
    }

    fn apply(&self, terms: &TermStore, steps: &Steps, shortcut: Shortcut, solver: &mut Solver) {
        let step = &steps.all[shortcut.step];
        let Some(predicate) = step.from else { return };
        let end = shortcut.start + shortcut.length;
        let places = (
            self.levels[shortcut.start].get(&predicate),
            self.levels[end].get(&predicate),
        );
        let (Some(from), Some(to)) = places else {
            return;
        };
        let formula = over(terms, steps, shortcut.step, from, to);
        let parts = [
            terms.not(from.literal),
            terms.not(to.literal),
            terms.not(formula),
        ];
        solver.assert(terms.or(&parts));
    }

    /// Drops all levels after this one.
    pub fn back_to(&mut self, level: usize, solver: &mut Solver) {
        while self.levels.len() > level + 1 {
            self.levels.pop();
            solver.pop();
        }
    }

    /// Adds the queries about the last level; a literal each.
    pub fn add_queries(
        &mut self,
        terms: &TermStore,
        steps: &Steps,
        solver: &mut Solver,
    ) -> Vec<TermId> {
        self.exits.clear();
        let Some(level) = self.levels.last() else {
            return Vec::new();
        };
        let mut predicates: Vec<PredicateId> = level.keys().copied().collect();
        predicates.sort_unstable();
        for predicate in predicates {
            let place = &level[&predicate];
            for &query in steps.queries(predicate) {
                let exit = literal(terms, "query");
                let instance = steps.instantiate(terms, query, exit, place.args.iter().copied());
                solver.assert(terms.implies(exit, place.literal));
                solver.assert(terms.implies(exit, instance.formula));
                self.exits.push((predicate, instance));
            }
        }
        self.exits.iter().map(|e| e.1.literal).collect()
    }

    /// The literals of the last level's places.
    pub fn last_places(&self) -> Vec<TermId> {
        let mut literals: Vec<TermId> = self
            .levels
            .last()
            .map_or_else(Vec::new, |l| l.values().map(|p| p.literal).collect());
        literals.sort_unstable();
        literals
    }

    /// The run in a model, to the query that is true, or else to a place of the last level.
    pub fn trace(&self, model: &SmtModel, to_query: bool) -> Result<Trace, EngineError> {
        let mut steps: Vec<Instance> = Vec::new();
        let mut here = None;
        if to_query {
            let exit = self.exits.iter().find(|e| model.satisfies(e.1.literal));
            let (predicate, instance) = exit.ok_or_else(|| failed("no query is taken"))?;
            steps.push(instance.clone());
            here = Some(*predicate);
        } else if let Some(level) = self.levels.last() {
            let mut places: Vec<_> = level.iter().collect();
            places.sort_unstable_by_key(|p| p.0);
            here = places
                .into_iter()
                .find(|p| model.satisfies(p.1.literal))
                .map(|p| *p.0);
        }
        let mut here = here.ok_or_else(|| failed("no place is reached"))?;
        for (number, level) in self.levels.iter().enumerate().rev() {
            let place = level
                .get(&here)
                .ok_or_else(|| failed("a place is missing"))?;
            // What was learned last first, as it covers most.
            let step = place
                .incoming
                .iter()
                .rev()
                .find(|i| model.satisfies(i.literal));
            let step = step.ok_or_else(|| failed("no step is chosen"))?;
            steps.push(step.clone());
            match step.from {
                Some(predicate) if number > 0 => here = predicate,
                _ => break,
            }
        }
        steps.reverse();
        let mut values = Assignment::default();
        for step in &steps {
            let own = model
                .assignment(&step.vars)
                .map_err(|e| failed(&e.to_string()))?;
            values.extend(own);
        }
        Ok(Trace { steps, values })
    }
}

/// What a step says from one place to another.
fn over(terms: &TermStore, steps: &Steps, step: usize, from: &Place, to: &Place) -> TermId {
    let vars = &steps.all[step].vars;
    let args = from.args.iter().chain(&to.args).copied();
    let map: FxHashMap<TermId, TermId> = vars.iter().copied().zip(args).collect();
    terms.substitute(steps.all[step].formula, &map)
}

/// Forbids a step that a relation learned later has among its instances, and the same relation
/// twice in a row, since it is transitive.
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
        for newer in place.incoming.iter().filter(|i| is_learned(steps, i)) {
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

fn is_learned(steps: &Steps, instance: &Instance) -> bool {
    matches!(steps.all[instance.step].origin, Origin::Learned(_))
}

/// A fresh Boolean.
pub(in crate::engine) fn literal(terms: &TermStore, name: &str) -> TermId {
    terms.fresh_var(name, SortId::BOOL)
}
