//! Candidates for derivations of an open query: walks from an entry along cubes that the facts do not
//! exclude, in the direction of the query.
//!
//! The first candidate has the cheapest cubes (Knuth, IPL 1977). The others are runs of linear cubes:
//! with ranges of the arguments at each step, with random values for all of them, or with random
//! values for Booleans alone, which ranges do not relate to each other.
//!
//! Invariant: a candidate applies each cube to the heads of its premises. Whether there are values
//! for it is left to a solver.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::compile::{Cube, Kind, Program};
use super::propagate::narrow;
use super::range::{INFINITE, Range};
use alphorn_term::Random;

/// Steps of a derivation: the position of a clause, and the steps of its premises.
pub type Skeleton = Vec<(usize, Vec<usize>)>;

/// Steps of a walk, at most, for each predicate, and in any case.
const STEPS_PER_PREDICATE: usize = 4;
const LEAST_STEPS: usize = 4_000;
/// How often a run that cannot go on goes back by a random number of steps. The number is below a
/// bound that is doubled each time, and begins anew after so many times. Of as many steps from there
/// on, one of [`DETOURS_AFTER`] goes in a random direction.
const TIMES_BACK: u32 = 32;
const DOUBLED: u32 = 10;
const DETOURS_AFTER: u32 = 3;
/// Of so many steps one goes in a random direction: by attempt, again from the start after the last.
const DETOURS: [u32; 6] = [1 << 30, 40, 12, 6, 4, 3];

/// The steps that searches for candidates may take together, and those that they have taken.
pub(super) struct Steps {
    most: u64,
    taken: Cell<u64>,
}

impl Steps {
    pub fn new(most: u64) -> Steps {
        Steps {
            most,
            taken: Cell::new(0),
        }
    }

    pub fn taken(&self) -> u64 {
        self.taken.get()
    }

    fn add(&self, steps: u64) {
        self.taken.set(self.taken.get() + steps);
    }

    /// Whether so many more would be too many.
    fn are_spent_by(&self, more: u64) -> bool {
        self.taken.get() + more >= self.most
    }
}

/// A predicate and the ranges of its arguments.
type Place = (usize, Vec<Range>);

/// The arguments that have a random value at each step of a run; others have ranges.
#[derive(Clone, Copy)]
enum Chosen {
    None,
    All,
    Booleans,
}

impl Chosen {
    const ALL: [Chosen; 3] = [Chosen::None, Chosen::All, Chosen::Booleans];

    fn has(self, kind: Kind) -> bool {
        match self {
            Chosen::None => false,
            Chosen::All => kind != Kind::Other,
            Chosen::Booleans => kind == Kind::Bool,
        }
    }
}

/// Finds candidates for one query.
pub(super) struct Walks<'a> {
    program: &'a Program,
    /// The cubes that may be applied.
    applicable: &'a [bool],
    query: u32,
    /// By predicate, the linear cubes with it in the body.
    uses: Vec<Vec<u32>>,
    /// By predicate, the number of steps to the query.
    distances: Vec<u32>,
    /// Whether all cubes on the way to the query are linear.
    is_linear: bool,
    steps: &'a Steps,
}

impl<'a> Walks<'a> {
    pub fn new(
        program: &'a Program,
        applicable: &'a [bool],
        query: u32,
        steps: &'a Steps,
    ) -> Walks<'a> {
        let count = program.kinds.len();
        let mut uses = vec![Vec::new(); count];
        let mut definitions = vec![Vec::new(); count];
        let cubes = (0..).zip(&program.cubes);
        for (at, cube) in cubes.filter(|c| applicable[c.0 as usize]) {
            if let Some((head, _)) = &cube.head {
                definitions[*head].push(at);
                if let [(p, _)] = &cube.body[..] {
                    uses[*p].push(at);
                }
            }
        }
        let mut walks = Walks {
            program,
            applicable,
            query,
            uses,
            distances: vec![u32::MAX; count],
            is_linear: true,
            steps,
        };
        walks.measure(&definitions);
        walks
    }

    /// Computes the distances to the query.
    fn measure(&mut self, definitions: &[Vec<u32>]) {
        let mut queue = std::collections::VecDeque::new();
        let query = &self.program.cubes[self.query as usize];
        self.is_linear = query.body.len() == 1;
        for (p, _) in &query.body {
            self.distances[*p] = 0;
            queue.push_back(*p);
        }
        while let Some(p) = queue.pop_front() {
            for &at in &definitions[p] {
                let cube = &self.program.cubes[at as usize];
                self.is_linear &= cube.body.len() <= 1;
                for (q, _) in &cube.body {
                    if self.distances[*q] == u32::MAX {
                        self.distances[*q] = self.distances[p] + 1;
                        queue.push_back(*q);
                    }
                }
            }
        }
    }

    /// A candidate; attempts differ.
    pub fn candidate(&self, attempt: u32) -> Option<Skeleton> {
        match attempt {
            0 => self.cheapest(),
            _ if self.is_linear => self.run(attempt),
            _ => None,
        }
    }

    /// The derivation in which each fact has the least cost; facts of one predicate are shared.
    fn cheapest(&self) -> Option<Skeleton> {
        let program = self.program;
        let mut best: Vec<Option<u32>> = vec![None; program.kinds.len()];
        let mut costs: Vec<u64> = vec![0; program.kinds.len()];
        let mut waiting: Vec<Vec<u32>> = vec![Vec::new(); program.kinds.len()];
        let mut left: Vec<usize> = Vec::with_capacity(program.cubes.len());
        let mut queue: BinaryHeap<Reverse<(u64, u32)>> = BinaryHeap::new();
        for (at, cube) in (0..).zip(&program.cubes) {
            left.push(cube.body.len());
            if !self.applicable[at as usize] || at != self.query && cube.head.is_none() {
                continue;
            }
            for (p, _) in &cube.body {
                waiting[*p].push(at);
            }
            if cube.body.is_empty() {
                queue.push(Reverse((1, at)));
            }
        }
        while let Some(Reverse((cost, at))) = queue.pop() {
            let Some((p, _)) = &program.cubes[at as usize].head else {
                return Some(self.unfold(&best));
            };
            if best[*p].is_some() {
                continue;
            }
            (best[*p], costs[*p]) = (Some(at), cost);
            for &user in &waiting[*p] {
                left[user as usize] -= 1;
                if left[user as usize] == 0 {
                    let body = program.cubes[user as usize].body.iter();
                    let sum = body.fold(1u64, |sum, (q, _)| sum.saturating_add(costs[*q]));
                    queue.push(Reverse((sum, user)));
                }
            }
        }
        None
    }

    /// The steps of the query with the chosen cube of each predicate.
    fn unfold(&self, best: &[Option<u32>]) -> Skeleton {
        let program = self.program;
        let mut steps = Skeleton::new();
        let mut done: FxHashMap<usize, usize> = FxHashMap::default();
        let mut stack: Vec<(u32, bool)> = vec![(self.query, false)];
        while let Some((at, expanded)) = stack.pop() {
            let cube = &program.cubes[at as usize];
            let own = cube.head.as_ref().map(|h| h.0);
            if own.is_some_and(|p| done.contains_key(&p)) {
                continue;
            }
            if !expanded {
                stack.push((at, true));
                let premises = cube
                    .body
                    .iter()
                    .rev()
                    .filter(|(p, _)| !done.contains_key(p));
                stack.extend(premises.filter_map(|(p, _)| Some((best[*p]?, false))));
                continue;
            }
            let premises = cube.body.iter().filter_map(|(p, _)| done.get(p).copied());
            steps.push((cube.clause, premises.collect()));
            if let Some(p) = own {
                done.insert(p, steps.len() - 1);
            }
        }
        steps
    }

    /// A run of linear cubes.
    fn run(&self, attempt: u32) -> Option<Skeleton> {
        let mut random = Random::new(u64::from(attempt));
        let number = attempt as usize - 1;
        let chosen = Chosen::ALL[number % Chosen::ALL.len()];
        let detours = DETOURS[number / Chosen::ALL.len() % DETOURS.len()];
        let cubes = (0..).zip(&self.program.cubes);
        let entries = cubes.filter(|(at, c)| c.body.is_empty() && self.applicable[*at as usize]);
        let near = |cube: &Cube| cube.head.as_ref().map_or(u32::MAX, |h| self.distances[h.0]);
        let entries = entries.filter(|(_, c)| near(c) < u32::MAX);
        let mut best: Vec<u32> = entries.map(|e| e.0).collect();
        best.sort_by_key(|&at| near(&self.program.cubes[at as usize]));
        let start = *best.get(
            random
                .below(best.len().clamp(1, 4))
                .min(best.len().max(1) - 1),
        )?;
        let mut trail = vec![(start, self.step(start, &[], chosen, &mut random)?)];
        let (mut times_back, mut after) = (0, 0);
        let most = LEAST_STEPS + STEPS_PER_PREDICATE * self.distances.len();
        for _ in 0..most {
            if self.steps.are_spent_by(0) {
                return None;
            }
            let (_, place) = trail.last()?;
            if self.violates(place, &mut random) {
                return Some(self.skeleton(&trail));
            }
            let detours = if after > 0 { DETOURS_AFTER } else { detours };
            if let Some(next) = self.choose(place, (chosen, detours), &mut random) {
                trail.push(next);
                after = usize::saturating_sub(after, 1);
                continue;
            }
            if times_back == TIMES_BACK {
                return None;
            }
            after = 1 + random.below(4usize << (times_back % DOUBLED));
            times_back += 1;
            trail.truncate(trail.len().saturating_sub(after).max(1));
        }
        None
    }

    /// Whether the query is about the predicate of a place, and not excluded by its ranges.
    fn violates(&self, (p, ranges): &Place, random: &mut Random) -> bool {
        let query = &self.program.cubes[self.query as usize];
        query.body[0].0 == *p
            && self
                .step(self.query, ranges, Chosen::None, random)
                .is_some()
    }

    /// The steps of a run that ends with the query.
    fn skeleton(&self, trail: &[(u32, Place)]) -> Skeleton {
        let cubes = trail.iter().map(|step| step.0).chain([self.query]);
        let clauses = cubes.map(|at| self.program.cubes[at as usize].clause);
        let premises = |at: usize| at.checked_sub(1).into_iter().collect();
        let steps = clauses.enumerate();
        steps.map(|(at, clause)| (clause, premises(at))).collect()
    }

    /// The next cube of a run: the one that leads nearest to the query.
    fn choose(
        &self,
        (p, ranges): &Place,
        (chosen, detours): (Chosen, u32),
        random: &mut Random,
    ) -> Option<(u32, Place)> {
        let mut ways: Vec<(u32, u32, u32)> = Vec::new();
        let detour = random.one_in(detours);
        for &at in &self.uses[*p] {
            let Some((head, _)) = &self.program.cubes[at as usize].head else {
                continue;
            };
            let distance = self.distances[*head];
            if distance < u32::MAX {
                let distance = if detour { 0 } else { distance };
                ways.push((distance, random.below(1 << 16), at));
            }
        }
        ways.sort_unstable();
        ways.into_iter().find_map(|(_, _, at)| {
            let next = self.step(at, ranges, chosen, random)?;
            Some((at, next))
        })
    }

    /// The effect of a cube on one fact, or on ranges of its arguments.
    fn step(&self, at: u32, from: &[Range], chosen: Chosen, random: &mut Random) -> Option<Place> {
        let cube = &self.program.cubes[at as usize];
        let mut ranges = cube.start.clone();
        for (_, args) in &cube.body {
            for (&local, range) in args.iter().zip(from) {
                let own = &mut ranges[local as usize];
                *own = own.meet(*range);
                if own.is_empty() {
                    return None;
                }
            }
        }
        let mut steps = 1 + ranges.len() as u64;
        let found = self.narrowed(cube, &mut ranges, chosen, random, &mut steps);
        self.steps.add(steps);
        if !found {
            return None;
        }
        let head = cube.head.as_ref();
        let (p, args): (usize, &[u32]) = head.map_or((usize::MAX, &[]), |h| (h.0, &h.1));
        Some((p, args.iter().map(|&l| ranges[l as usize]).collect()))
    }

    /// Narrows the ranges of a cube's locals, some of them to values; false if there are none.
    fn narrowed(
        &self,
        cube: &Cube,
        ranges: &mut [Range],
        chosen: Chosen,
        random: &mut Random,
        steps: &mut u64,
    ) -> bool {
        if !narrow(ranges, &cube.kinds, &cube.formulas, steps) {
            return false;
        }
        for local in 0..ranges.len() {
            if !chosen.has(cube.kinds[local]) || ranges[local].fixed().is_some() {
                continue;
            }
            ranges[local] = Range::value(pick(ranges[local], random));
            let is_spent = self.steps.are_spent_by(*steps);
            if is_spent || !narrow(ranges, &cube.kinds, &cube.formulas, steps) {
                return false;
            }
        }
        true
    }
}

/// A number of a range, near its lower bound or zero.
fn pick(range: Range, random: &mut Random) -> i64 {
    let near = match range {
        Range { low, .. } if low > -INFINITE => low,
        Range { high, .. } if high < INFINITE => high - 3,
        _ => -1,
    };
    near.saturating_add(random.below(4))
        .clamp(range.low, range.high)
}
