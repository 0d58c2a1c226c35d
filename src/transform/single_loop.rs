//! One transition system out of many predicates: the way back from a control-flow graph, for
//! engines that want one transition relation.
//!
//! Facts of all predicates become facts of one: Booleans say in binary which predicate, and
//! arguments are shared by sort, so that there are as many of a sort as the neediest predicate has.
//! Arguments that are not a predicate's own have a fixed value of their sort in its facts. Clauses
//! with several body atoms are no transitions: a system that has one stays as it is, as does a
//! system with at most one predicate.
//!
//! Invariant: a fact of a predicate and its image determine each other, so a model comes back by
//! putting the values of what is alien into it, and needs no quantifier.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::replay::{OldStep, replay};
use super::{BackError, BackTranslation, Step, TransformError, Transformation, complete_model};
use crate::chc::{Atom, ClauseId, PredicateId, System};
use crate::run::Context;
use crate::term::{SortId, TermId};
use crate::witness::{Model, Refutation};

/// The pass.
pub struct SingleLoop;

impl Transformation for SingleLoop {
    fn name(&self) -> &'static str {
        "single-loop"
    }

    fn apply(&self, system: System, _cx: &mut Context) -> Result<Step, TransformError> {
        let old = Rc::new(system);
        let mut system = (*old).clone();
        let layout = Layout::new(&mut system);
        let changed = layout.is_some();
        if let Some(layout) = &layout {
            layout.encode(&mut system);
        }
        let ids = system.clauses.iter().map(|c| c.id);
        let clauses = ids.zip(&old.clauses).map(|(new, c)| (new, c.id)).collect();
        Ok(Step {
            system,
            back: Box::new(Back {
                old,
                layout,
                clauses,
            }),
            changed,
        })
    }
}

/// How facts of the old predicates are facts of the new one.
struct Layout {
    whole: PredicateId,
    /// The new predicate's formal variables: the location's bits, then the shared arguments.
    params: Vec<TermId>,
    bits: usize,
    /// Values that alien arguments have.
    defaults: Vec<TermId>,
    locations: FxHashMap<PredicateId, Location>,
}

struct Location {
    number: usize,
    /// For each of the predicate's arguments its position in the new predicate.
    places: Vec<usize>,
}

impl Layout {
    /// `None` for a system that stays as it is.
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

    /// Puts the new predicate in place of the old ones.
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

    /// The value at a place that is not an argument of the location's predicate.
    fn value(&self, location: &Location, place: usize) -> TermId {
        if place >= self.bits {
            self.defaults[place]
        } else if location.number >> place & 1 == 1 {
            TermId::TRUE
        } else {
            TermId::FALSE
        }
    }
}

struct Back {
    old: Rc<System>,
    /// `None` if nothing changed.
    layout: Option<Layout>,
    /// The old clauses of the new ones.
    clauses: FxHashMap<ClauseId, ClauseId>,
}

impl BackTranslation for Back {
    fn model(&self, mut model: Model, _cx: &mut Context) -> Result<Model, BackError> {
        let terms = &self.old.terms;
        if let Some(layout) = &self.layout
            && let Some(formula) = model.definitions.remove(&layout.whole)
        {
            for (&predicate, location) in &layout.locations {
                let mut map: FxHashMap<TermId, TermId> = layout
                    .params
                    .iter()
                    .enumerate()
                    .map(|(place, &param)| (param, layout.value(location, place)))
                    .collect();
                let own = &self.old.predicate(predicate).params;
                for (&place, &param) in location.places.iter().zip(own) {
                    map.insert(layout.params[place], param);
                }
                let definition = terms.substitute(formula, &map);
                model.definitions.insert(predicate, definition);
            }
        }
        complete_model(&self.old, &mut model);
        Ok(model)
    }

    fn refutation(
        &self,
        refutation: Refutation,
        cx: &mut Context,
    ) -> Result<Refutation, BackError> {
        replay("single-loop", &self.old, &refutation, cx, |step| {
            let clause = self.clauses.get(&step.clause).ok_or_else(|| BackError {
                pass: "single-loop",
                message: format!("there is no clause {}", step.clause.0),
            })?;
            let mut old = OldStep::same(step, &[]);
            old.clause = *clause;
            Ok(vec![old])
        })
    }
}
