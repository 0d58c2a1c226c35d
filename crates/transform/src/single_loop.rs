//! Merges all predicates into one, for engines that need a single transition relation.
//!
//! Facts of all predicates become facts of one: Booleans encode in binary which predicate it is,
//! and arguments are shared by sort, so that there are as many arguments of a sort as some
//! predicate needs. Arguments that a predicate does not have are fixed to a default value in its
//! facts. A system that has a clause with several body atoms, or at most one predicate, is not
//! changed.
//!
//! Invariant: a fact of a predicate and its image determine each other, so a model is translated
//! back by substituting the fixed values, without quantifiers.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::replacement::{Meaning, Origin, Replacement};
use super::{Step, Transformation};
use alphorn_chc::{Atom, PredicateId, System};
use alphorn_term::run::Context;
use alphorn_term::{SortId, TermId};

/// The pass.
pub struct SingleLoop;

impl Transformation for SingleLoop {
    fn apply(&mut self, old: &Rc<System>, _cx: &mut Context) -> Option<Step> {
        let mut system = (**old).clone();
        let layout = Layout::new(&mut system)?;
        let mut replacement = Replacement::new(old);
        for (&predicate, location) in &layout.locations {
            let meanings = layout.meanings(location, &old.predicate(predicate).params);
            replacement.add_case(predicate, layout.whole, meanings, TermId::TRUE);
        }
        layout.encode(&mut system);
        for (new, clause) in system.clauses.iter().zip(&old.clauses) {
            replacement.note(new.id, Origin::new(clause.id, Vec::new()));
        }
        Some(replacement.step(system))
    }
}

/// The encoding of facts of the old predicates as facts of the new one.
struct Layout {
    whole: PredicateId,
    /// The new predicate's formal variables: the bits of the location, then the shared arguments.
    params: Vec<TermId>,
    bits: usize,
    /// The values of arguments that a predicate does not have.
    defaults: Vec<TermId>,
    locations: FxHashMap<PredicateId, Location>,
}

struct Location {
    number: usize,
    /// For each of the predicate's arguments its position in the new predicate.
    places: Vec<usize>,
}

impl Layout {
    /// `None` for a system that is not changed.
    fn new(system: &mut System) -> Option<Layout> {
        let terms = system.terms.clone();
        let used = system.used_predicates();
        if used.len() < 2 || system.clauses.iter().any(|c| c.body.len() > 1) {
            return None;
        }
        let bits = (usize::BITS - (used.len() - 1).leading_zeros()) as usize;
        let mut sorts = vec![SortId::BOOL; bits];
        let mut of_sort: FxHashMap<SortId, Vec<usize>> = FxHashMap::default();
        let mut locations = FxHashMap::default();
        for (number, &predicate) in used.iter().enumerate() {
            let mut taken: FxHashMap<SortId, usize> = FxHashMap::default();
            let mut places = Vec::with_capacity(system.predicate(predicate).arity());
            for &param in &system.predicate(predicate).params {
                let sort = terms.sort_of(param);
                let count = taken.entry(sort).or_default();
                let shared = of_sort.entry(sort).or_default();
                if *count == shared.len() {
                    shared.push(sorts.len());
                    sorts.push(sort);
                }
                places.push(shared[*count]);
                *count += 1;
            }
            locations.insert(predicate, Location { number, places });
        }
        let defaults: Option<Vec<TermId>> = sorts.iter().map(|&s| terms.default_value(s)).collect();
        let defaults = defaults?;
        let whole = system.add_predicate("loop", &sorts);
        Some(Layout {
            whole,
            params: system.predicate(whole).params.clone(),
            bits,
            defaults,
            locations,
        })
    }

    /// Replaces the old predicates by the new one.
    fn encode(&self, system: &mut System) {
        let terms = system.terms.clone();
        for index in 0..system.clauses.len() {
            if system.clauses[index].atoms().next().is_none() {
                continue;
            }
            let mut conjuncts = vec![system.clauses[index].constraint];
            let mut image = |atom: &Atom, system: &System| {
                let location = &self.locations[&atom.predicate];
                let mut args = system.fresh_atom(self.whole).args;
                let mut own = vec![false; args.len()];
                for (&place, &arg) in location.places.iter().zip(&atom.args) {
                    args[place] = arg;
                    own[place] = true;
                }
                for (place, &arg) in args.iter().enumerate() {
                    if !own[place] {
                        conjuncts.push(terms.eq(arg, self.value(location, place)));
                    }
                }
                Atom {
                    predicate: self.whole,
                    args,
                }
            };
            let clause = &system.clauses[index];
            let body: Vec<Atom> = clause.body.iter().map(|a| image(a, system)).collect();
            let head = clause.head.as_ref().map(|a| image(a, system));
            let id = system.fresh_clause_id();
            let clause = &mut system.clauses[index];
            clause.id = id;
            clause.body = body;
            clause.head = head;
            clause.constraint = terms.and(&conjuncts);
        }
    }

    /// The value at a position that is not an argument of the location's predicate.
    fn value(&self, location: &Location, place: usize) -> TermId {
        if place >= self.bits {
            self.defaults[place]
        } else if location.number >> place & 1 == 1 {
            TermId::TRUE
        } else {
            TermId::FALSE
        }
    }
    /// The new predicate's arguments for facts of the location with these arguments.
    fn meanings(&self, location: &Location, args: &[TermId]) -> Vec<(TermId, Meaning)> {
        let alien = (0..self.params.len()).map(|place| self.value(location, place));
        let mut values: Vec<TermId> = alien.collect();
        for (&place, &arg) in location.places.iter().zip(args) {
            values[place] = arg;
        }
        let params = self.params.iter().copied();
        params.zip(values.into_iter().map(Meaning::Term)).collect()
    }
}
