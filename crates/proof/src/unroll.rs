//! The unrolling of a linear system's steps in one incremental solver, level by level.
//!
//! After Biere, Cimatti, Clarke, Zhu, "Symbolic Model Checking without BDDs" (TACAS 1999), along
//! the dependency graph. Level `k` has a place for each predicate to which `k` steps lead in the
//! dependency graph: a copy of its arguments and a literal "the run is here", which implies the
//! literal of one of the steps that lead there. A step's literal implies its formula and the
//! literal of the place before. Levels are asserted in the current scope of the solver; a caller
//! that removes levels opens a scope for each.
//!
//! Invariant: only true literals constrain a model, so all but one chain of places and steps may be
//! false; a run is read backwards from a true place and finds a true step at each level.

use rustc_hash::FxHashMap;

use super::steps::{Instance, Steps, literal};
use super::stop::{Failure, unreadable, values};
use super::trace::Trace;
use alphorn_chc::{PredicateId, System};
use alphorn_smt::{SmtModel, Solver};
use alphorn_term::{Assignment, TermId, TermStore};

/// A predicate at a level.
pub struct Place {
    /// Implies that the run is here.
    pub literal: TermId,
    /// The variables for the predicate's arguments.
    pub args: Vec<TermId>,
    /// The steps that lead here; empty if the run starts here in any state.
    pub incoming: Vec<Instance>,
}

/// The places of one level.
pub type Level = FxHashMap<PredicateId, Place>;

/// A query at a place.
pub struct Exit {
    /// The level of the place.
    pub level: usize,
    /// The predicate of the place.
    pub predicate: PredicateId,
    /// The instance of the query.
    pub instance: Instance,
}

/// The levels of an unrolling.
#[derive(Default)]
pub struct Unrolling {
    /// The places by level.
    pub levels: Vec<Level>,
}

impl Unrolling {
    /// Runs from entry clauses, which the first level that is added contains.
    pub fn from_entries() -> Unrolling {
        Unrolling::default()
    }

    /// Runs from any state of a predicate, which is the first level.
    pub fn from_predicate(system: &System, predicate: PredicateId) -> Unrolling {
        let start = place(system, predicate);
        Unrolling {
            levels: vec![Level::from_iter([(predicate, start)])],
        }
    }

    /// Adds a level and asserts its steps; false if it has no place.
    pub fn add_level(&mut self, system: &System, steps: &Steps, solver: &mut Solver) -> bool {
        let terms = &*system.terms;
        let before = self.levels.last();
        let chosen: Vec<usize> = match before {
            None => steps.entries.clone(),
            Some(level) => level
                .keys()
                .flat_map(|&p| steps.from(p).iter().copied())
                .collect(),
        };
        let head = |step: usize| Some((steps.all[step].to?, step));
        let mut chosen: Vec<(PredicateId, usize)> = chosen.into_iter().filter_map(head).collect();
        chosen.sort_unstable();
        let mut level = Level::default();
        for same_head in chosen.chunk_by(|a, b| a.0 == b.0) {
            let mut here = place(system, same_head[0].0);
            for &(_, step) in same_head {
                // If there is one step only, the place's literal is that of the step.
                let own = match same_head {
                    [_] => here.literal,
                    _ => literal(terms, "step"),
                };
                let source = steps.all[step].from.zip(before).map(|(p, l)| &l[&p]);
                let arguments = source.iter().flat_map(|p| &p.args);
                let arguments = arguments.chain(&here.args).copied();
                let instance = steps.instantiate(terms, step, own, arguments);
                if let Some(source) = source {
                    solver.assert(terms.implies(own, source.literal));
                }
                solver.assert(terms.implies(own, instance.formula));
                here.incoming.push(instance);
            }
            if same_head.len() > 1 {
                let choices: Vec<TermId> = here.incoming.iter().map(|i| i.literal).collect();
                solver.assert(terms.implies(here.literal, terms.or(&choices)));
            }
            level.insert(same_head[0].0, here);
        }
        let alive = !level.is_empty();
        self.levels.push(level);
        alive
    }

    /// Asserts the queries about the last level, each implied by its literal.
    pub fn add_queries(&self, terms: &TermStore, steps: &Steps, solver: &mut Solver) -> Vec<Exit> {
        let Some(last) = self.levels.last() else {
            return Vec::new();
        };
        let mut predicates: Vec<PredicateId> = last.keys().copied().collect();
        predicates.sort_unstable();
        let mut exits = Vec::new();
        for predicate in predicates {
            let place = &last[&predicate];
            for &query in steps.queries(predicate) {
                let exit = literal(terms, "query");
                let instance = steps.instantiate(terms, query, exit, place.args.iter().copied());
                solver.assert(terms.implies(exit, place.literal));
                solver.assert(terms.implies(exit, instance.formula));
                exits.push(Exit {
                    level: self.levels.len() - 1,
                    predicate,
                    instance,
                });
            }
        }
        exits
    }

    /// The literals of the last level's places.
    pub fn last_places(&self) -> Vec<TermId> {
        let last = self.levels.last().into_iter().flat_map(|l| l.values());
        let mut literals: Vec<TermId> = last.map(|p| p.literal).collect();
        literals.sort_unstable();
        literals
    }

    /// The run in a model to the first of these queries whose literal is true.
    ///
    /// # Errors
    /// The model cannot be read.
    pub fn run_to_query(&self, exits: &[Exit], model: &SmtModel) -> Result<Trace, Failure> {
        let mut exits = exits.iter();
        let exit = exits.find(|e| model.satisfies(e.instance.literal));
        let exit = exit.ok_or_else(|| unreadable("no query is reached"))?;
        let mut run = self.steps_to(exit.level, exit.predicate, model)?;
        run.push(&exit.instance);
        traced(&run, model)
    }

    /// The run in a model to a place of the last level.
    ///
    /// # Errors
    /// The model cannot be read.
    pub fn run_to_last(&self, model: &SmtModel) -> Result<Trace, Failure> {
        traced(&self.steps_to_last(model)?, model)
    }

    /// The steps of the run in a model to a place of the last level.
    ///
    /// # Errors
    /// The model cannot be read.
    pub fn steps_to_last(&self, model: &SmtModel) -> Result<Vec<&Instance>, Failure> {
        let last = self.levels.len().checked_sub(1);
        let last = last.ok_or_else(|| unreadable("no level"))?;
        let mut places: Vec<(&PredicateId, &Place)> = self.levels[last].iter().collect();
        places.sort_unstable_by_key(|p| p.0);
        let mut places = places.into_iter();
        let here = places.find(|p| model.satisfies(p.1.literal));
        let (&predicate, _) = here.ok_or_else(|| unreadable("no place is reached"))?;
        self.steps_to(last, predicate, model)
    }

    /// The steps in a model that lead to a place, in order.
    fn steps_to(
        &self,
        level: usize,
        predicate: PredicateId,
        model: &SmtModel,
    ) -> Result<Vec<&Instance>, Failure> {
        let mut run: Vec<&Instance> = Vec::new();
        let mut here = predicate;
        for level in self.levels[..=level].iter().rev() {
            let place = level.get(&here);
            let place = place.ok_or_else(|| unreadable("a place is missing"))?;
            if place.incoming.is_empty() {
                break;
            }
            // The step learned last comes first, since it covers the most.
            let mut steps = place.incoming.iter().rev();
            let step = steps.find(|i| model.satisfies(i.literal));
            let step = step.ok_or_else(|| unreadable("no step is true"))?;
            run.push(step);
            let Some(predicate) = step.from else { break };
            here = predicate;
        }
        run.reverse();
        Ok(run)
    }
}

/// A copy of a predicate without incoming steps.
fn place(system: &System, predicate: PredicateId) -> Place {
    Place {
        literal: literal(&system.terms, &system.predicate(predicate).name),
        args: system.fresh_atom(predicate).args,
        incoming: Vec::new(),
    }
}

/// The steps with the values of all their variables.
fn traced(run: &[&Instance], model: &SmtModel) -> Result<Trace, Failure> {
    let mut found = Assignment::default();
    for instance in run {
        found.extend(values(model, &instance.vars)?);
    }
    Ok(Trace {
        steps: run.iter().map(|&i| i.clone()).collect(),
        values: found,
    })
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::ask;
    use alphorn_chc::{Atom, Reachability};
    use alphorn_smt::Smt;
    use alphorn_term::run::Context;
    use alphorn_term::{SortId, TermStore};
    use alphorn_witness::check_refutation;

    /// A number goes up by one or by three from 0 in `P`, from there to `Q` unchanged, and the
    /// query asks for `end` in `Q`.
    fn ladder(end: u64) -> System {
        let terms = Rc::new(TermStore::new());
        let mut system = System::new(terms.clone());
        let [p, q] = ["P", "Q"].map(|name| system.add_predicate(name, &[SortId::INT]));
        let [x, y] = ["x", "y"].map(|name| terms.var(name, SortId::INT));
        let atom = |predicate, var| Atom {
            predicate,
            args: vec![var],
        };
        system.add_clause(vec![], terms.eq(x, terms.int(0)), Some(atom(p, x)));
        for step in [1, 3] {
            let up = terms.eq(y, terms.add(&[x, terms.int(step)]));
            system.add_clause(vec![atom(p, x)], up, Some(atom(p, y)));
        }
        system.add_clause(vec![atom(p, x)], terms.eq(x, y), Some(atom(q, y)));
        system.add_clause(vec![atom(q, x)], terms.eq(x, terms.int(end)), None);
        system
    }

    /// The number of levels at which a query is first reached, and the number of the refutation's
    /// steps.
    fn shortest(system: &System, levels: usize) -> Option<(usize, usize)> {
        let steps = Steps::new(system, &Reachability::new(system));
        let (cx, smt) = (
            Context::new(system.terms.clone()),
            Smt::new(system.terms.clone()),
        );
        let mut solver = smt.solver();
        let mut unrolling = Unrolling::from_entries();
        for level in 1..=levels {
            assert!(unrolling.add_level(system, &steps, &mut solver));
            for exit in unrolling.add_queries(&system.terms, &steps, &mut solver) {
                let literal = exit.instance.literal;
                if let Some(model) = ask(&mut solver, &[literal], &cx).expect("it is decided") {
                    let run = unrolling.run_to_query(&[exit], &model).expect("a run");
                    let refutation = run.refutation(system, &steps).expect("its values");
                    assert_eq!(check_refutation(system, &refutation), Ok(()));
                    return Some((level, refutation.steps.len()));
                }
            }
        }
        None
    }

    #[test]
    fn runs_are_found_at_their_length() {
        // An entry, as few steps as possible, one step to the other predicate, and the query.
        assert_eq!(shortest(&ladder(0), 9), Some((2, 3)));
        assert_eq!(shortest(&ladder(7), 9), Some((5, 6)));
        assert_eq!(shortest(&ladder(9), 9), Some((5, 6)));
        assert_eq!(shortest(&ladder(30), 9), None);
    }

    #[test]
    fn runs_from_any_state_have_a_step_for_each_level() {
        let system = ladder(1);
        let terms = &system.terms;
        let steps = Steps::new(&system, &Reachability::new(&system));
        let (cx, smt) = (Context::new(terms.clone()), Smt::new(terms.clone()));
        let mut solver = smt.solver();
        let p = PredicateId(0);
        let mut unrolling = Unrolling::from_predicate(&system, p);
        for _ in 0..3 {
            unrolling.add_level(&system, &steps, &mut solver);
        }
        let [first, last] = [0, 3].map(|level| unrolling.levels[level][&p].args[0]);
        solver.assert(unrolling.levels[3][&p].literal);
        solver.assert(terms.eq(first, terms.int(10)));
        // Three steps of one or three: 3, 5, 7 or 9 more.
        for (end, possible) in [
            (12, false),
            (13, true),
            (14, false),
            (17, true),
            (20, false),
        ] {
            let there = terms.eq(last, terms.int(end));
            let model = ask(&mut solver, &[there], &cx).expect("it is decided");
            assert_eq!(model.is_some(), possible, "{end}");
            if let Some(model) = model {
                let run = unrolling.run_to_last(&model).expect("a run");
                assert_eq!(run.steps.len(), 3);
                assert_eq!(run.values[&last], terms.int(end));
            }
        }
    }
}
