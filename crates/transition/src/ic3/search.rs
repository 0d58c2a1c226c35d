//! The search: counterexamples to induction are blocked level by level, and lemmas are pushed.
//!
//! Invariant: an obligation's cube has states only from which its steps, with their inputs, lead to
//! a query.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::frames::{Frames, Lemma};
use super::level::{Found, Reached};
use super::lift::Lift;
use super::options::Options;
use super::steps::{Steps, Way};
use super::{Cube, Latch};
use alphorn_chc::PredicateId;
use alphorn_proof::Stop;
use alphorn_term::run::{Context, Reason};

/// From this activity of an obligation on, more counterexamples to generalisation are blocked.
const ACTIVE: usize = 10;

/// From this activity on, states before them are, too.
const VERY_ACTIVE: usize = 40;

/// Which counterexamples to a generalisation are blocked.
#[derive(Clone, Copy)]
struct Effort {
    /// How many for a literal, at most.
    counterexamples: usize,
    /// How many states before one of them, at most.
    before: usize,
}

impl Effort {
    const NONE: Effort = Effort {
        counterexamples: 0,
        before: 0,
    };

    const SOME: Effort = Effort {
        counterexamples: 3,
        before: 0,
    };

    /// For an obligation that was tried so often (Su, Yang, Ci, Li, Bu, Huang, "Extended CTG
    /// generalization and dynamic adjustment of generalization strategies in IC3", 2025; there it
    /// is none at first, which here costs more than it saves).
    fn of(activity: usize) -> Effort {
        match activity {
            0..ACTIVE => Effort::SOME,
            ACTIVE..VERY_ACTIVE => Effort {
                counterexamples: 3 + (activity - ACTIVE) / 10,
                before: 0,
            },
            _ => Effort {
                counterexamples: 5,
                before: 5,
            },
        }
    }
}

/// Activity fades by this factor with each lemma.
const DECAY: f64 = 0.95;

/// States that lead to a query.
pub(super) struct Obligation {
    predicate: PredicateId,
    cube: Rc<[Latch]>,
    /// How many steps it is away from the query.
    depth: usize,
    /// How often it was tried to exclude it.
    activity: usize,
    pub taken: Taken,
}

/// A step, with its inputs.
#[derive(Clone)]
pub(super) struct Taken {
    pub step: usize,
    pub way: Rc<Way>,
    pub inputs: Vec<bool>,
    /// The obligation that it leads to; `None` for `false`.
    pub then: Option<usize>,
}

/// How the search ended.
pub(super) enum End {
    /// The lemmas are closed under all steps and exclude the queries.
    Closed(Vec<Lemma>),
    /// The first step of one, which goes on along obligations.
    Derivation(Taken),
}

#[derive(Default)]
struct Counters {
    questions: u64,
    lemmas: u64,
    literals: u64,
    counterexamples: u64,
}

/// See the module.
pub(super) struct Search<'a> {
    pub steps: Steps,
    options: &'a Options,
    frames: Frames,
    lift: Lift,
    pub obligations: Vec<Obligation>,
    /// How often literals were in lemmas of late.
    activity: FxHashMap<(PredicateId, Latch), f64>,
    bump: f64,
    counters: Counters,
}

impl<'a> Search<'a> {
    pub fn new(steps: Steps, options: &'a Options, cx: &Context) -> Self {
        Search {
            options,
            frames: Frames::new(&steps, &cx.budget),
            lift: Lift::new(&steps, &cx.budget),
            steps,
            obligations: Vec::new(),
            activity: FxHashMap::default(),
            bump: 1.0,
            counters: Counters::default(),
        }
    }

    /// Adds the counts of the search to the statistics.
    pub fn count(&self, cx: &mut Context) {
        let counters = &self.counters;
        cx.stats.set("ic3.levels", self.frames.top() as u64);
        cx.stats.add("ic3.questions", counters.questions);
        cx.stats.add("ic3.lemmas", counters.lemmas);
        cx.stats.add("ic3.literals", counters.literals);
        cx.stats.add(
            "ic3.counterexamples-to-generalisation",
            counters.counterexamples,
        );
        cx.stats
            .add("ic3.obligations", self.obligations.len() as u64);
    }

    /// Goes up the levels until there is an answer.
    pub fn run(&mut self, cx: &mut Context) -> Result<End, Stop> {
        let queries = self.steps.queries();
        loop {
            self.frames.extend();
            log::debug!(
                "ic3: level {}, {} lemmas",
                self.frames.top(),
                self.frames.from(1).count()
            );
            if let Some(closed) = self.propagate(cx)? {
                return Ok(End::Closed(closed));
            }
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
        }
    }

    fn ask_query(&mut self, query: usize, cx: &Context) -> Result<Option<Reached>, Stop> {
        self.counters.questions += 1;
        let found = self.frames.ask_query(&self.steps, query);
        Ok(answer(found, cx)?.err())
    }

    /// The core of a cube that no step from the level below leads into, or the step.
    fn ask(
        &mut self,
        level: usize,
        predicate: PredicateId,
        cube: &[Latch],
        relative: bool,
        cx: &Context,
    ) -> Result<Result<Cube, Reached>, Stop> {
        self.counters.questions += 1;
        if let Some(reason) = cx.stop() {
            return Err(Stop::Reason(reason));
        }
        let Search { frames, steps, .. } = self;
        answer(frames.ask(steps, level, predicate, cube, relative), cx)
    }

    fn taken(&mut self, reached: Reached, then: Option<usize>) -> Result<Taken, Stop> {
        Ok(Taken {
            step: reached.step,
            way: self.steps.way(&reached)?,
            inputs: reached.inputs,
            then,
        })
    }

    /// Notes an obligation: the state before a step into another one, or into `false`.
    fn obligation(&mut self, reached: Reached, then: Option<usize>) -> Result<usize, Stop> {
        let predicate = self.steps.all[reached.step].from.expect("it is no fact");
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

    /// States of a predicate from which a step leads into the goal as it did from the one that was
    /// reached.
    fn lifted(
        &mut self,
        reached: &Reached,
        predicate: PredicateId,
        goal: &[Latch],
    ) -> Result<Cube, Stop> {
        let way = self.steps.way(reached)?;
        let activity = &self.activity;
        let prefer = |latch| activity.get(&(predicate, latch)).copied().unwrap_or(0.0);
        let Search { lift, steps, .. } = self;
        Ok(lift.lift(steps, reached, &way, goal, prefer))
    }

    /// Excludes an obligation on the last level, or finds the first step of a derivation.
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

    /// How hard a lemma against an obligation is generalised: by the activity of those that it is
    /// to lead to.
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

    /// Makes a lemma of a cube that is blocked, as weak as can be found, as high as it holds. Its
    /// level.
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
        self.bump /= DECAY;
        for &latch in &cube {
            *self.activity.entry((predicate, latch)).or_default() += self.bump;
        }
        if self.bump > 1e100 {
            self.activity.values_mut().for_each(|a| *a /= 1e100);
            self.bump /= 1e100;
        }
        self.frames.add(&self.steps, level, predicate, cube);
        Ok(level)
    }

    /// Fewer literals of a cube that is blocked: each is left out in turn (MIC), those first that
    /// are seldom in lemmas.
    fn generalise(
        &mut self,
        level: usize,
        predicate: PredicateId,
        mut cube: Cube,
        effort: Effort,
        cx: &Context,
    ) -> Result<Cube, Stop> {
        let activity = |&latch: &Latch| self.activity.get(&(predicate, latch)).copied();
        let keys = cube.iter().map(|l| (activity(l).unwrap_or(0.0), *l));
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

    /// A core of the cube if it is blocked, perhaps after counterexamples to that were blocked one
    /// level below.
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
            if !self.block_counterexample(level - 1, from, &before, effort.before, cx)? {
                break;
            }
        }
        Ok(None)
    }

    /// Excludes a counterexample to generalisation on a level, perhaps after so many states before
    /// it. Whether that was possible.
    fn block_counterexample(
        &mut self,
        level: usize,
        predicate: PredicateId,
        cube: &[Latch],
        mut before: usize,
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
                    let (Some(from), true) = (from, before > 0 && level > 1) else {
                        return Ok(false);
                    };
                    before -= 1;
                    path.push((from, self.lifted(&reached, from, &cube)?));
                }
            }
        }
        Ok(true)
    }

    /// Pushes lemmas up. If none is left at some level, those above are closed under all steps.
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

fn answer(found: Found, cx: &Context) -> Result<Result<Cube, Reached>, Stop> {
    match found {
        Found::Blocked(core) => Ok(Ok(core)),
        Found::Reached(reached) => Ok(Err(reached)),
        Found::Stopped => Err(Stop::Reason(cx.stop().unwrap_or(Reason::Timeout))),
    }
}
