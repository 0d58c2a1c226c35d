//! Lemmas by level, and the solvers that contain them.
//!
//! A level has a solver for the steps into each predicate, and one for each query, so that no
//! solver contains clauses that are irrelevant to its queries.
//!
//! Invariant: a lemma of level `i` holds of all states that are reached in at most `i` steps,
//! counting the fact; a solver of level `i` contains the lemmas of level `i` and above that are
//! about states before its steps.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::level::{Found, Level};
use super::limits::LIMITS;
use super::steps::Steps;
use super::{Cube, Latch};
use alphorn_chc::PredicateId;
use alphorn_term::run::Budget;

/// A cube of states of a predicate that are not reached.
#[derive(Clone)]
pub(super) struct Lemma {
    /// The predicate.
    pub predicate: PredicateId,
    /// The excluded cube.
    pub cube: Rc<[Latch]>,
}

/// The steps that a solver contains.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum About {
    /// Steps into states of a predicate.
    Into(PredicateId),
    /// A query, given by the index of its step.
    Query(usize),
}

/// The lemmas and solvers of all levels.
pub(super) struct Frames {
    budget: Budget,
    /// For each level, the lemmas whose highest level it is; none at level 0.
    pub lemmas: Vec<Vec<Lemma>>,
    /// For each level, the solvers that were needed so far.
    solvers: Vec<FxHashMap<About, Level>>,
    /// For the steps of each kind of solver, the predicates of the states before them.
    before: FxHashMap<About, FxHashSet<PredicateId>>,
}

impl Frames {
    /// Level 0 only.
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

    /// The levels up to the highest of these lemmas, and at least level 1.
    pub fn with(steps: &Steps, budget: &Budget, lemmas: &[(usize, Lemma)]) -> Frames {
        let mut frames = Frames::new(steps, budget);
        frames.extend();
        for (level, lemma) in lemmas {
            while frames.top() < *level {
                frames.extend();
            }
            frames.lemmas[*level].push(lemma.clone());
        }
        frames
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

    /// Whether a step leads to states of the predicate.
    pub fn is_reached(&self, predicate: PredicateId) -> bool {
        self.before.contains_key(&About::Into(predicate))
    }

    /// Whether a lemma excludes the cube at this level.
    pub fn is_blocked(&self, level: usize, predicate: PredicateId, cube: &[Latch]) -> bool {
        self.from(level)
            .any(|lemma| lemma.predicate == predicate && is_subset(&lemma.cube, cube))
    }

    /// Adds a lemma, and removes those of its level and below that it implies.
    pub fn add(&mut self, steps: &Steps, level: usize, predicate: PredicateId, cube: Cube) {
        for below in &mut self.lemmas[1..=level] {
            below.retain(|l| l.predicate != predicate || !is_subset(&cube, &l.cube));
        }
        for below in 1..=level {
            self.add_to_solvers(steps, below, predicate, &cube);
        }
        let cube = Rc::from(cube);
        self.lemmas[level].push(Lemma { predicate, cube });
    }

    /// Adds a lemma of a level at the next level; the caller removes it from its own.
    pub fn push(&mut self, steps: &Steps, level: usize, lemma: Lemma) {
        self.add_to_solvers(steps, level + 1, lemma.predicate, &lemma.cube);
        self.lemmas[level + 1].push(lemma);
    }

    /// Adds a lemma to the solvers of a level.
    fn add_to_solvers(
        &mut self,
        steps: &Steps,
        level: usize,
        predicate: PredicateId,
        cube: &[Latch],
    ) {
        for (about, solver) in &mut self.solvers[level] {
            if self.before[about].contains(&predicate) {
                solver.add_lemma(steps, predicate, cube);
            }
        }
    }

    /// The solver of a level for certain steps, made or replaced if needed.
    fn solver(&mut self, steps: &Steps, level: usize, about: About) -> &mut Level {
        let known = self.solvers[level].get(&about);
        if known.is_none_or(|solver| solver.temporary > LIMITS.temporary_clauses) {
            let mut solver = Level::new(level == 0, &self.budget);
            for lemma in self.lemmas[level.max(1)..].iter().flatten() {
                if level > 0 && self.before[&about].contains(&lemma.predicate) {
                    solver.add_lemma(steps, lemma.predicate, &lemma.cube);
                }
            }
            self.solvers[level].insert(about, solver);
        }
        let known = self.solvers[level].get_mut(&about);
        known.expect("the solver was added")
    }

    /// Whether a step from the level below leads into the cube; if `relative`, from outside of it.
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

    /// Whether no lemma of this level excludes the state that a solver found.
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

/// Whether `small` is a subset of `large`; both are in ascending order.
fn is_subset(small: &[Latch], large: &[Latch]) -> bool {
    if small.len() > large.len() {
        return false;
    }
    let mut large = large.iter();
    small
        .iter()
        .all(|latch| large.by_ref().find(|&other| other >= latch) == Some(latch))
}
