//! The solver of one level: which states are reached by one step from the states that its lemmas
//! allow.
//!
//! It contains the gates of clauses that queries needed. A literal for each predicate says that a
//! step leads to its states, and a literal for each clause that it is this step.
//!
//! Invariant: the lemmas that were added hold of the state before a step, if they are about its
//! predicate.

use rustc_hash::FxHashMap;

use super::steps::{Step, Steps};
use super::{Cube, Latch};
use alphorn_bits::Encoding;
use alphorn_bits::sat::{Answer, Lit, SatSolver, Solver};
use alphorn_chc::PredicateId;
use alphorn_term::run::Budget;

/// A step into the states of a query.
pub(super) struct Reached {
    /// The index of the step.
    pub step: usize,
    /// The bits of the state before it that the solver contains; others are irrelevant. Empty for
    /// facts.
    pub state: Vec<Latch>,
    /// The inputs; those that the solver does not contain are false.
    pub inputs: Vec<bool>,
}

/// The answer to a query.
pub(super) enum Found {
    /// No step leads to a state of this cube, a subset of the one in the query.
    Blocked(Cube),
    /// This step does.
    Reached(Reached),
    /// The budget is spent.
    Stopped,
}

/// The solver of a level for certain steps.
pub(super) struct Level {
    encoding: Encoding<Solver>,
    /// Whether it contains facts only.
    facts_only: bool,
    /// The literal that the state before the step is one of this predicate.
    at: FxHashMap<PredicateId, Lit>,
    /// The literal that the step leads to a state of this predicate, and the literals of the
    /// clauses that may.
    into: FxHashMap<PredicateId, (Lit, Vec<(usize, Lit)>)>,
    /// The literal that the step is this query.
    queries: FxHashMap<usize, Lit>,
    /// The bits of the state after the step.
    next: FxHashMap<(PredicateId, usize), Lit>,
    /// The number of temporary clauses so far.
    pub temporary: usize,
}

impl Level {
    /// A solver without lemmas.
    pub fn new(facts_only: bool, budget: &Budget) -> Level {
        Level {
            encoding: Encoding::new(Solver::new(budget)),
            facts_only,
            at: FxHashMap::default(),
            into: FxHashMap::default(),
            queries: FxHashMap::default(),
            next: FxHashMap::default(),
            temporary: 0,
        }
    }

    /// The literal that the state before the step is one of a predicate.
    fn at(&mut self, predicate: PredicateId) -> Lit {
        let solver = &mut self.encoding.solver;
        let at = self.at.entry(predicate);
        *at.or_insert_with(|| solver.new_literal())
    }

    /// A new literal that implies that a step is taken.
    fn taken(&mut self, steps: &Steps, step: &Step) -> Lit {
        let guard = self.encoding.literal(&steps.gates, step.guard);
        let at = step.from.map(|from| self.at(from));
        let solver = &mut self.encoding.solver;
        let taken = solver.new_literal();
        solver.add_clause(&[!taken, guard]);
        if let Some(at) = at {
            solver.add_clause(&[!taken, at]);
        }
        taken
    }

    /// The literal that a step leads to a state of a predicate.
    fn into(&mut self, steps: &Steps, predicate: PredicateId) -> Lit {
        if let Some((into, _)) = self.into.get(&predicate) {
            return *into;
        }
        let mut taken = Vec::new();
        for (index, step) in steps.all.iter().enumerate() {
            if step.to == Some(predicate) && !(self.facts_only && step.from.is_some()) {
                taken.push((index, self.taken(steps, step)));
            }
        }
        let solver = &mut self.encoding.solver;
        let into = solver.new_literal();
        let mut clause = vec![!into];
        clause.extend(taken.iter().map(|(_, taken)| *taken));
        solver.add_clause(&clause);
        self.into.insert(predicate, (into, taken));
        into
    }

    /// A bit of the state after a step to a predicate.
    fn next(&mut self, steps: &Steps, predicate: PredicateId, place: usize) -> Lit {
        if let Some(&next) = self.next.get(&(predicate, place)) {
            return next;
        }
        self.into(steps, predicate);
        let (_, taken) = &self.into[&predicate];
        let next = match taken[..] {
            [(step, _)] => {
                let bit = steps.all[step].next[place];
                self.encoding.literal(&steps.gates, bit)
            }
            _ => {
                let next = self.encoding.solver.new_literal();
                for &(step, taken) in taken {
                    let bit = steps.all[step].next[place];
                    let value = self.encoding.literal(&steps.gates, bit);
                    let solver = &mut self.encoding.solver;
                    solver.add_clause(&[!taken, !next, value]);
                    solver.add_clause(&[!taken, next, !value]);
                }
                next
            }
        };
        self.next.insert((predicate, place), next);
        next
    }

    /// A bit of the state before the step with a value.
    fn now(&mut self, steps: &Steps, latch: Latch) -> Lit {
        let bit = steps.state[latch.place()];
        let literal = self.encoding.literal(&steps.gates, bit);
        literal.xor(latch.is_negated())
    }

    /// The clause that excludes a cube of a predicate's states.
    fn excluded(&mut self, steps: &Steps, predicate: PredicateId, cube: &[Latch]) -> Vec<Lit> {
        let mut clause = vec![!self.at(predicate)];
        clause.extend(cube.iter().map(|&latch| !self.now(steps, latch)));
        clause
    }

    /// Excludes a cube of a predicate's states before a step.
    pub fn add_lemma(&mut self, steps: &Steps, predicate: PredicateId, cube: &[Latch]) {
        let clause = self.excluded(steps, predicate, cube);
        self.encoding.solver.add_clause(&clause);
    }

    /// As [`Level::add_lemma`], in force if the returned literal is assumed.
    pub fn add_optional(&mut self, steps: &Steps, predicate: PredicateId, cube: &[Latch]) -> Lit {
        let mut clause = self.excluded(steps, predicate, cube);
        let on = self.encoding.solver.new_literal();
        clause.push(!on);
        self.encoding.solver.add_clause(&clause);
        on
    }

    /// Whether a step leads into the cube; if `relative`, from a state outside of it.
    pub fn ask(
        &mut self,
        steps: &Steps,
        predicate: PredicateId,
        cube: &[Latch],
        relative: bool,
    ) -> Found {
        let mut assumptions = vec![self.into(steps, predicate)];
        let off = relative.then(|| {
            let on = self.add_optional(steps, predicate, cube);
            assumptions.push(on);
            self.temporary += 1;
            !on
        });
        let first = assumptions.len();
        for latch in cube {
            let next = self.next(steps, predicate, latch.place());
            assumptions.push(next.xor(latch.is_negated()));
        }
        let found = match self.encoding.solver.solve(&assumptions) {
            Answer::Stopped => Found::Stopped,
            Answer::Unsat => {
                let solver = &self.encoding.solver;
                let parts = cube.iter().zip(&assumptions[first..]);
                let core = parts.filter(|(_, assumption)| solver.in_core(**assumption));
                Found::Blocked(core.map(|(latch, _)| *latch).collect())
            }
            Answer::Sat => {
                let (_, taken) = &self.into[&predicate];
                let taken = taken
                    .iter()
                    .find(|(_, t)| self.encoding.solver.holds(*t))
                    .expect("a step is taken");
                Found::Reached(self.reached(steps, taken.0))
            }
        };
        if let Some(off) = off {
            self.encoding.solver.add_clause(&[off]);
        }
        found
    }

    /// Whether a query applies to a state that the lemmas allow.
    pub fn ask_query(&mut self, steps: &Steps, query: usize) -> Found {
        let taken = match self.queries.get(&query) {
            Some(&taken) => taken,
            None => {
                let taken = self.taken(steps, &steps.all[query]);
                self.queries.insert(query, taken);
                taken
            }
        };
        match self.encoding.solver.solve(&[taken]) {
            Answer::Stopped => Found::Stopped,
            Answer::Unsat => Found::Blocked(Vec::new()),
            Answer::Sat => Found::Reached(self.reached(steps, query)),
        }
    }

    /// The step of the last solution.
    fn reached(&self, steps: &Steps, index: usize) -> Reached {
        let step = &steps.all[index];
        let holds = |bit| {
            let literal = self.encoding.known(bit)?;
            Some(self.encoding.solver.holds(literal))
        };
        let state = steps.state.iter().enumerate();
        let state = state.filter_map(|(place, &bit)| Some(Latch::new(place, !holds(bit)?)));
        Reached {
            step: index,
            state: if step.from.is_some() {
                state.collect()
            } else {
                Vec::new()
            },
            inputs: step
                .inputs
                .iter()
                .map(|&b| holds(b) == Some(true))
                .collect(),
        }
    }

    /// Those of the assumptions `given` that exclude a step into the cube; `None` if they do not
    /// exclude it, or when the budget is spent.
    pub fn core_of_step(
        &mut self,
        steps: &Steps,
        predicate: PredicateId,
        cube: &[Latch],
        given: &[Lit],
    ) -> Option<Vec<Lit>> {
        let mut assumptions = vec![self.into(steps, predicate)];
        for latch in cube {
            let next = self.next(steps, predicate, latch.place());
            assumptions.push(next.xor(latch.is_negated()));
        }
        self.core(assumptions, given)
    }

    /// As [`Level::core_of_step`], for a query.
    pub fn core_of_query(
        &mut self,
        steps: &Steps,
        query: usize,
        given: &[Lit],
    ) -> Option<Vec<Lit>> {
        let taken = self.taken(steps, &steps.all[query]);
        self.core(vec![taken], given)
    }

    /// The part of `given` in the core of all assumptions.
    fn core(&mut self, mut assumptions: Vec<Lit>, given: &[Lit]) -> Option<Vec<Lit>> {
        assumptions.extend_from_slice(given);
        let solver = &mut self.encoding.solver;
        match solver.solve(&assumptions) {
            Answer::Unsat => {
                let core = given.iter().copied().filter(|&l| solver.in_core(l));
                Some(core.collect())
            }
            _ => None,
        }
    }
}
