//! Lemmas by level, and the solvers that know them.
//!
//! A level has a solver for the steps into each predicate, and for each query, so that no solver
//! knows clauses that its questions are not about.
//!
//! Invariant: a lemma of level i holds of all states that are reached in at most i steps, the fact
//! being the first; a solver of level i knows the lemmas of level i and above that are about states
//! before its steps.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::level::{Found, Level};
use super::steps::Steps;
use super::{Cube, Latch};
use alphorn_chc::PredicateId;
use alphorn_term::run::Budget;

/// A solver is made anew after so many temporary clauses.
const TEMPORARY: usize = 2000;

/// States that are not reached.
#[derive(Clone)]
pub(super) struct Lemma {
    pub predicate: PredicateId,
    pub cube: Rc<[Latch]>,
}

/// What a solver is asked about.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum About {
    /// Steps into states of a predicate.
    Into(PredicateId),
    /// A query, by the index of its step.
    Query(usize),
}

/// See the module.
pub(super) struct Frames {
    budget: Budget,
    /// By level: lemmas of just this level; none at 0, before the first step.
    pub lemmas: Vec<Vec<Lemma>>,
    /// By level, as far as something was asked.
    solvers: Vec<FxHashMap<About, Level>>,
    /// The predicates of states before steps.
    before: FxHashMap<About, FxHashSet<PredicateId>>,
}

impl Frames {
    pub fn new(steps: &Steps, budget: &Budget) -> Frames {
        let mut before: FxHashMap<About, FxHashSet<PredicateId>> = FxHashMap::default();
        for (index, step) in steps.all.iter().enumerate() {
            let about = step.to.map_or(About::Query(index), About::Into);
            before.entry(about).or_default().extend(step.from);
        }
        Frames {
            budget: budget.clone(),
            lemmas: vec![Vec::new()],
            solvers: vec![FxHashMap::default()],
            before,
        }
    }

    /// The last level.
    pub fn top(&self) -> usize {
        self.lemmas.len() - 1
    }

    /// Adds a level.
    pub fn extend(&mut self) {
        self.lemmas.push(Vec::new());
        self.solvers.push(FxHashMap::default());
    }

    /// The lemmas of this level and above.
    pub fn from(&self, level: usize) -> impl Iterator<Item = &Lemma> {
        self.lemmas[level..].iter().flatten()
    }

    /// Whether a lemma excludes the cube on this level.
    pub fn is_blocked(&self, level: usize, predicate: PredicateId, cube: &[Latch]) -> bool {
        self.from(level)
            .any(|lemma| lemma.predicate == predicate && is_subset(&lemma.cube, cube))
    }

    /// Adds a lemma, and takes away those of its level and below that it implies.
    pub fn add(&mut self, steps: &Steps, level: usize, predicate: PredicateId, cube: Cube) {
        for below in &mut self.lemmas[1..=level] {
            below.retain(|l| l.predicate != predicate || !is_subset(&cube, &l.cube));
        }
        for below in 1..=level {
            self.tell(steps, below, predicate, &cube);
        }
        let cube = Rc::from(cube);
        self.lemmas[level].push(Lemma { predicate, cube });
    }

    /// Puts a lemma one level higher.
    pub fn push(&mut self, steps: &Steps, level: usize, lemma: Lemma) {
        self.tell(steps, level + 1, lemma.predicate, &lemma.cube);
        self.lemmas[level + 1].push(lemma);
    }

    /// Adds a lemma to the solvers of a level.
    fn tell(&mut self, steps: &Steps, level: usize, predicate: PredicateId, cube: &[Latch]) {
        for (about, solver) in &mut self.solvers[level] {
            if self.before[about].contains(&predicate) {
                solver.add_lemma(steps, predicate, cube);
            }
        }
    }

    /// The solver of a level for these questions.
    fn solver(&mut self, steps: &Steps, level: usize, about: About) -> &mut Level {
        let known = self.solvers[level].get(&about);
        if known.is_none_or(|solver| solver.temporary > TEMPORARY) {
            let mut solver = Level::new(level == 0, &self.budget);
            for lemma in self.lemmas[level.max(1)..].iter().flatten() {
                if level > 0 && self.before[&about].contains(&lemma.predicate) {
                    solver.add_lemma(steps, lemma.predicate, &lemma.cube);
                }
            }
            self.solvers[level].insert(about, solver);
        }
        let known = self.solvers[level].get_mut(&about);
        known.expect("it was made")
    }

    /// Whether a step from the level below leads into the cube, from outside of it if `relative`.
    pub fn ask(
        &mut self,
        steps: &Steps,
        level: usize,
        predicate: PredicateId,
        cube: &[Latch],
        relative: bool,
    ) -> Found {
        let below = level - 1;
        let about = About::Into(predicate);
        let relative = relative && below > 0 && self.before[&about].contains(&predicate);
        let solver = self.solver(steps, below, about);
        let found = solver.ask(steps, predicate, cube, relative);
        debug_assert!(self.is_allowed(steps, below, &found));
        found
    }

    /// Whether a query applies to a state of the last level.
    pub fn ask_query(&mut self, steps: &Steps, query: usize) -> Found {
        let top = self.top();
        let solver = self.solver(steps, top, About::Query(query));
        let found = solver.ask_query(steps, query);
        debug_assert!(self.is_allowed(steps, top, &found));
        found
    }

    /// Whether no lemma of this level excludes the state that a solver has found.
    fn is_allowed(&self, steps: &Steps, level: usize, found: &Found) -> bool {
        match found {
            Found::Reached(reached) => match steps.all[reached.step].from {
                Some(from) => !self.is_blocked(level, from, &reached.state),
                None => true,
            },
            _ => true,
        }
    }
}

/// Whether all literals of a sorted cube are in another.
fn is_subset(small: &[Latch], large: &[Latch]) -> bool {
    if small.len() > large.len() {
        return false;
    }
    let mut large = large.iter();
    small
        .iter()
        .all(|latch| large.by_ref().find(|&other| other >= latch) == Some(latch))
}
