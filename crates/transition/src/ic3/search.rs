//! The search: counterexamples to induction are blocked level by level, and lemmas are pushed.
//!
//! Invariant: from each state in an obligation's cube, its step with its inputs leads into the next
//! obligation's cube, or to `false`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::frames::{Frames, Lemma};
use super::level::{Found, Reached};
use super::lift::Lift;
use super::limits::LIMITS;
use super::options::Options;
use super::steps::{Branch, Steps};
use super::{Cube, Latch};
use alphorn_chc::PredicateId;
use alphorn_proof::Stop;
use alphorn_term::run::{Context, Reason};

/// The number of counterexamples to a generalization that are blocked.
#[derive(Clone, Copy)]
struct Effort {
    /// Counterexamples for each literal.
    counterexamples: usize,
    /// Predecessors for each of them.
    predecessors: usize,
}

impl Effort {
    /// No counterexample is blocked.
    const NONE: Effort = Effort {
        counterexamples: 0,
        predecessors: 0,
    };

    /// The effort without regard to activity.
    const SOME: Effort = Effort {
        counterexamples: LIMITS.counterexamples,
        predecessors: 0,
    };

    /// The effort for an obligation with this activity. (Su, Yang, Ci, Li, Bu, Huang, "Extended CTG
    /// generalization and dynamic adjustment of generalization strategies in IC3", 2025. Deviation:
    /// there it is [`Effort::NONE`] at first.)
    fn of(activity: usize) -> Effort {
        if activity < LIMITS.active {
            Effort::SOME
        } else if activity < LIMITS.very_active {
            let more = (activity - LIMITS.active) / LIMITS.activity_per_counterexample;
            Effort {
                counterexamples: LIMITS.counterexamples + more,
                predecessors: 0,
            }
        } else {
            Effort {
                counterexamples: LIMITS.very_active_counterexamples,
                predecessors: LIMITS.very_active_predecessors,
            }
        }
    }
}

/// A cube of states that lead to a query.
pub(super) struct Obligation {
    predicate: PredicateId,
    cube: Rc<[Latch]>,
    /// The number of steps to the query, not counting the query.
    depth: usize,
    /// The number of queries about it.
    activity: usize,
    /// The step from its states.
    pub taken: Taken,
}

/// A step with its inputs.
#[derive(Clone)]
pub(super) struct Taken {
    /// The index of the step.
    pub step: usize,
    /// The implicant along which it is taken.
    pub branch: Rc<Branch>,
    /// The values of the step's inputs.
    pub inputs: Vec<bool>,
    /// The obligation to which it leads; `None` for `false`.
    pub then: Option<usize>,
}

/// The result of the search.
pub(super) enum End {
    /// The lemmas are closed under all steps and exclude the queries.
    Closed(Vec<Lemma>),
    /// The first step of a derivation, which continues along obligations.
    Derivation(Taken),
}

/// What the statistics show.
#[derive(Default)]
struct Counters {
    /// Queries to SAT solvers.
    queries: u64,
    /// Lemmas of an earlier search that hold.
    resumed: u64,
    /// Lemmas learned.
    lemmas: u64,
    /// Their literals.
    literals: u64,
    /// Counterexamples to generalization that were blocked.
    counterexamples: u64,
}

/// The state of the search.
pub(super) struct Search<'a> {
    /// The clauses.
    pub steps: Steps,
    options: &'a Options,
    frames: Frames,
    lift: Lift,
    /// All obligations.
    pub obligations: Vec<Obligation>,
    /// For each literal, how many lemmas contain it, recent ones with more weight.
    weights: FxHashMap<(PredicateId, Latch), f64>,
    /// The weight of the next lemma.
    next_weight: f64,
    counters: Counters,
}

impl<'a> Search<'a> {
    /// A search without lemmas.
    pub fn new(steps: Steps, options: &'a Options, cx: &Context) -> Self {
        Search {
            options,
            frames: Frames::new(&steps, &cx.budget),
            lift: Lift::new(&steps, &cx.budget),
            steps,
            obligations: Vec::new(),
            weights: FxHashMap::default(),
            next_weight: 1.0,
            counters: Counters::default(),
        }
    }

    /// Adds the counters to the statistics.
    pub fn count(&self, cx: &mut Context) {
        let counters = &self.counters;
        cx.stats.set("ic3.levels", self.frames.top() as u64);
        cx.stats.add("ic3.queries", counters.queries);
        cx.stats.add("ic3.lemmas-resumed", counters.resumed);
        cx.stats.add("ic3.lemmas", counters.lemmas);
        cx.stats.add("ic3.literals", counters.literals);
        cx.stats.add(
            "ic3.counterexamples-to-generalization",
            counters.counterexamples,
        );
        cx.stats
            .add("ic3.obligations", self.obligations.len() as u64);
    }

    /// All lemmas with the highest levels where they hold.
    pub fn lemmas(&self) -> impl Iterator<Item = (usize, &Lemma)> {
        let levels = self.frames.lemmas.iter().enumerate();
        levels.flat_map(|(level, lemmas)| lemmas.iter().map(move |lemma| (level, lemma)))
    }

    /// Begins with those of these lemmas that hold up to their levels, or else of the facts.
    ///
    /// The lemmas of the levels hold if each of them holds after a step from the level below its own: at
    /// lower levels there are more lemmas, so a step from these leads to fewer states.
    fn begin_with(&mut self, mut earlier: Vec<(usize, Lemma)>, cx: &Context) -> Result<(), Stop> {
        earlier.retain(|(level, lemma)| *level > 0 && self.frames.is_reached(lemma.predicate));
        // Each level but the last has a lemma of its own.
        let highest = earlier.len();
        for (level, _) in &mut earlier {
            *level = highest.min(*level);
        }
        for attempt in 1.. {
            self.frames = Frames::with(&self.steps, &cx.budget, &earlier);
            let mut lowered = Vec::new();
            let mut is_wrong = false;
            for (level, lemma) in &earlier {
                let (predicate, cube) = (lemma.predicate, &*lemma.cube);
                let holds = self.ask(*level, predicate, cube, false, cx)?.is_ok();
                is_wrong |= !holds;
                // What does not hold of the facts does not hold at all.
                let stays = holds && attempt < LIMITS.attempts_to_resume;
                if holds || *level > 1 {
                    lowered.push((if stays { *level } else { 1 }, lemma.clone()));
                }
            }
            if !is_wrong {
                break;
            }
            earlier = lowered;
        }
        self.counters.resumed = earlier.len() as u64;
        Ok(())
    }

    /// Adds levels until there is an answer. `earlier` are lemmas to begin with, if they hold.
    ///
    /// # Errors
    /// A limit of the run, or what bits do not express.
    pub fn run(&mut self, earlier: Vec<(usize, Lemma)>, cx: &mut Context) -> Result<End, Stop> {
        let queries = self.steps.queries();
        self.begin_with(earlier, cx)?;
        loop {
            log::debug!(
                "ic3: level {}, {} lemmas",
                self.frames.top(),
                self.frames.from(1).count()
            );
            for &query in &queries {
                while let Some(reached) = self.ask_query(query, cx)? {
                    if self.steps.all[query].from.is_none() {
                        return Ok(End::Derivation(self.taken(reached, None)?));
                    }
                    let bad = self.obligation(reached, None)?;
                    if let Some(first) = self.block(bad, cx)? {
                        return Ok(End::Derivation(first));
                    }
                }
            }
            self.frames.extend();
            if let Some(closed) = self.propagate(cx)? {
                return Ok(End::Closed(closed));
            }
        }
    }

    /// A state of the last level to which a query applies.
    fn ask_query(&mut self, query: usize, cx: &Context) -> Result<Option<Reached>, Stop> {
        self.counters.queries += 1;
        let found = self.frames.ask_query(&self.steps, query);
        Ok(answer(found, cx)?.err())
    }

    /// A core of the cube if no step from the level below leads into it (from a state outside of it
    /// if `relative`), or that step.
    fn ask(
        &mut self,
        level: usize,
        predicate: PredicateId,
        cube: &[Latch],
        relative: bool,
        cx: &Context,
    ) -> Result<Result<Cube, Reached>, Stop> {
        self.counters.queries += 1;
        if let Some(reason) = cx.stop() {
            return Err(Stop::Reason(reason));
        }
        let Search { frames, steps, .. } = self;
        answer(frames.ask(steps, level, predicate, cube, relative), cx)
    }

    /// A step that was reached, to the obligation `then`.
    fn taken(&mut self, reached: Reached, then: Option<usize>) -> Result<Taken, Stop> {
        Ok(Taken {
            step: reached.step,
            branch: self.steps.branch(&reached)?,
            inputs: reached.inputs,
            then,
        })
    }

    /// Adds an obligation: the lifted state before a step into another one, or to `false`.
    fn obligation(&mut self, reached: Reached, then: Option<usize>) -> Result<usize, Stop> {
        let predicate = self.steps.all[reached.step]
            .from
            .expect("the step is no fact");
        let goal = then.map(|then| self.obligations[then].cube.clone());
        let cube = self.lifted(&reached, predicate, goal.as_deref().unwrap_or_default())?;
        let depth = then.map_or(0, |then| self.obligations[then].depth + 1);
        let taken = self.taken(reached, then)?;
        self.obligations.push(Obligation {
            predicate,
            cube: Rc::from(cube),
            depth,
            activity: 0,
            taken,
        });
        Ok(self.obligations.len() - 1)
    }

    /// A cube of states from which the step that was reached leads into the goal, with its inputs.
    fn lifted(
        &mut self,
        reached: &Reached,
        predicate: PredicateId,
        goal: &[Latch],
    ) -> Result<Cube, Stop> {
        let branch = self.steps.branch(reached)?;
        let weights = &self.weights;
        let prefer = |latch| weights.get(&(predicate, latch)).copied().unwrap_or(0.0);
        let Search { lift, steps, .. } = self;
        Ok(lift.lift(steps, reached, &branch, goal, prefer))
    }

    /// Blocks an obligation at the last level, or returns the first step of a derivation.
    fn block(&mut self, bad: usize, cx: &Context) -> Result<Option<Taken>, Stop> {
        let top = self.frames.top();
        let mut open = BinaryHeap::new();
        open.push(Reverse((top, 0, bad)));
        while let Some(Reverse((level, _, id))) = open.pop() {
            let (predicate, cube) = {
                let obligation = &self.obligations[id];
                (obligation.predicate, obligation.cube.clone())
            };
            let depth = self.obligations[id].depth;
            if self.frames.is_blocked(level, predicate, &cube) {
                if level < top {
                    open.push(Reverse((level + 1, depth, id)));
                }
                continue;
            }
            self.obligations[id].activity += 1;
            match self.ask(level, predicate, &cube, true, cx)? {
                Ok(core) => {
                    let effort = self.effort(id);
                    let reached = self.learn(level, predicate, core, effort, cx)?;
                    if reached < top {
                        open.push(Reverse((reached + 1, depth, id)));
                    }
                }
                Err(reached) if self.steps.all[reached.step].from.is_none() => {
                    return Ok(Some(self.taken(reached, Some(id))?));
                }
                Err(reached) => {
                    let before = self.obligation(reached, Some(id))?;
                    let depth = self.obligations[before].depth;
                    open.push(Reverse((level - 1, depth, before)));
                    open.push(Reverse((level, depth - 1, id)));
                }
            }
        }
        Ok(None)
    }

    /// The effort for the lemma against an obligation, by the activity of the next obligations
    /// towards the query.
    fn effort(&self, id: usize) -> Effort {
        match (self.options.counterexamples, self.options.dynamic) {
            (false, _) => Effort::NONE,
            (true, false) => Effort::SOME,
            (true, true) => {
                let then = |&id: &usize| self.obligations[id].taken.then;
                let ids = std::iter::successors(Some(id), then).skip(1).take(3);
                let activity = ids.map(|id| self.obligations[id].activity).max();
                Effort::of(activity.unwrap_or(0))
            }
        }
    }

    /// Adds a lemma that generalizes a blocked cube, at the highest level where it holds. Returns
    /// that level.
    fn learn(
        &mut self,
        mut level: usize,
        predicate: PredicateId,
        cube: Cube,
        effort: Effort,
        cx: &Context,
    ) -> Result<usize, Stop> {
        let cube = self.generalise(level, predicate, cube, effort, cx)?;
        while level < self.frames.top() {
            match self.ask(level + 1, predicate, &cube, true, cx)? {
                Ok(_) => level += 1,
                Err(_) => break,
            }
        }
        self.counters.lemmas += 1;
        self.counters.literals += cube.len() as u64;
        self.next_weight /= LIMITS.weight_decay;
        for &latch in &cube {
            *self.weights.entry((predicate, latch)).or_default() += self.next_weight;
        }
        // Keeps the numbers finite.
        if self.next_weight > 1e100 {
            self.weights.values_mut().for_each(|w| *w /= 1e100);
            self.next_weight /= 1e100;
        }
        self.frames.add(&self.steps, level, predicate, cube);
        Ok(level)
    }

    /// A subset of a blocked cube that is blocked, too: tries to remove each literal in turn (MIC),
    /// those with the least weight first.
    fn generalise(
        &mut self,
        level: usize,
        predicate: PredicateId,
        mut cube: Cube,
        effort: Effort,
        cx: &Context,
    ) -> Result<Cube, Stop> {
        let weight = |&latch: &Latch| self.weights.get(&(predicate, latch)).copied();
        let keys = cube.iter().map(|l| (weight(l).unwrap_or(0.0), *l));
        let mut order: Vec<(f64, Latch)> = keys.collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for (_, latch) in order {
            let Ok(at) = cube.binary_search(&latch) else {
                continue;
            };
            let mut smaller = cube.clone();
            smaller.remove(at);
            if let Some(core) = self.down(level, predicate, &smaller, effort, cx)? {
                cube = core;
            }
        }
        Ok(cube)
    }

    /// A core of the cube if it is blocked, possibly after counterexamples were blocked one level
    /// below (ctgDown of Hassan, Bradley, Somenzi).
    fn down(
        &mut self,
        level: usize,
        predicate: PredicateId,
        cube: &[Latch],
        effort: Effort,
        cx: &Context,
    ) -> Result<Option<Cube>, Stop> {
        let most = if level > 1 { effort.counterexamples } else { 0 };
        for round in 0..=most {
            let reached = match self.ask(level, predicate, cube, true, cx)? {
                Ok(core) => return Ok(Some(core)),
                Err(reached) => reached,
            };
            let Some(from) = self.steps.all[reached.step].from else {
                return Ok(None);
            };
            if round == most {
                break;
            }
            let before = self.lifted(&reached, from, cube)?;
            if !self.block_counterexample(level - 1, from, &before, effort.predecessors, cx)? {
                break;
            }
        }
        Ok(None)
    }

    /// Blocks a counterexample to generalization at a level, possibly after at most `predecessors`
    /// predecessors. Returns whether that was possible.
    fn block_counterexample(
        &mut self,
        level: usize,
        predicate: PredicateId,
        cube: &[Latch],
        mut predecessors: usize,
        cx: &Context,
    ) -> Result<bool, Stop> {
        let mut path: Vec<(PredicateId, Cube)> = vec![(predicate, cube.to_vec())];
        while let Some((predicate, cube)) = path.last().cloned() {
            let level = level + 1 - path.len();
            match self.ask(level, predicate, &cube, true, cx)? {
                Ok(core) => {
                    self.counters.counterexamples += 1;
                    self.learn(level, predicate, core, Effort::NONE, cx)?;
                    path.pop();
                }
                Err(reached) => {
                    let from = self.steps.all[reached.step].from;
                    let (Some(from), true) = (from, predecessors > 0 && level > 1) else {
                        return Ok(false);
                    };
                    predecessors -= 1;
                    path.push((from, self.lifted(&reached, from, &cube)?));
                }
            }
        }
        Ok(true)
    }

    /// Pushes lemmas to higher levels. If none remains at a level, returns those above, which are
    /// closed under all steps.
    fn propagate(&mut self, cx: &Context) -> Result<Option<Vec<Lemma>>, Stop> {
        for level in 1..self.frames.top() {
            let mut lemmas = self.frames.lemmas[level].clone();
            lemmas.sort_by_key(|lemma| lemma.cube.len());
            let mut left = Vec::new();
            for lemma in lemmas {
                match self.ask(level + 1, lemma.predicate, &lemma.cube, false, cx)? {
                    Ok(_) => self.frames.push(&self.steps, level, lemma),
                    Err(_) => left.push(lemma),
                }
            }
            self.frames.lemmas[level] = left;
            if self.frames.lemmas[level].is_empty() {
                return Ok(Some(self.frames.from(level + 1).cloned().collect()));
            }
        }
        Ok(None)
    }
}

/// The core or the step of an answer; an error when the solver was stopped.
fn answer(found: Found, cx: &Context) -> Result<Result<Cube, Reached>, Stop> {
    match found {
        Found::Blocked(core) => Ok(Ok(core)),
        Found::Reached(reached) => Ok(Err(reached)),
        Found::Stopped => Err(Stop::Reason(cx.stop().unwrap_or(Reason::Timeout))),
    }
}
