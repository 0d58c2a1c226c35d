//! Conflict-driven search that records its resolution steps.
//!
//! After Eén, Sörensson, "An extensible SAT-solver" (SAT 2003): two watched literals, first unique
//! implication points, activities, restarts. Learnt clauses are kept, since the proof may need
//! them. The theory is checked when propagation ends.
//!
//! Invariant: a clause is recorded with its origin before it is used, and each literal that follows
//! without decisions has a unit clause.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use super::Open;
use super::derivation::{Clause, ClauseId, Lemma, Origin, Proof};
use super::limits::LIMITS;
use super::skeleton::{Meaning, Skeleton};
use super::theory::Theory;
use alphorn_arith::Relation;
use alphorn_bits::sat::Lit;
use alphorn_term::{Linear, Rational, TermId};

/// Work charged for a decision or a conflict.
const STEP_WORK: Duration = Duration::from_micros(4);
/// Work charged for a clause that is visited.
const VISIT_WORK: Duration = Duration::from_nanos(30);

/// The factor by which activities decrease with each conflict.
const DECAY: f64 = 0.95;

/// The state of a variable.
#[derive(Clone, Default)]
struct Known {
    value: Option<bool>,
    level: usize,
    /// The position in the trail.
    place: usize,
    reason: Option<ClauseId>,
    /// The unit clause of the variable.
    unit: Option<ClauseId>,
    activity: f64,
    /// The value that decisions give it: whether true.
    phase: bool,
    seen: bool,
}

pub(super) struct Search<'a, 't> {
    skeleton: &'a mut Skeleton<'t>,
    theory: Option<Theory>,
    late: &'a dyn Fn() -> bool,
    clauses: Vec<Clause>,
    /// By literal, the clauses that watch it; a clause watches its first two literals.
    watches: Vec<Vec<ClauseId>>,
    known: Vec<Known>,
    trail: Vec<Lit>,
    /// The beginning of each level: in the trail, and in the theory.
    levels: Vec<(usize, usize)>,
    /// The lengths of the trail that are propagated, and asserted in the theory.
    propagated: usize,
    asserted: usize,
    bump: f64,
    /// Variables by activity; assigned variables and outdated activities are skipped.
    order: BinaryHeap<(u64, u32)>,
    branches: usize,
}

fn index(literal: Lit) -> usize {
    2 * literal.variable() as usize + usize::from(literal.is_negated())
}

impl<'a, 't> Search<'a, 't> {
    /// A search on all clauses of the skeleton, with the theory.
    pub fn new(skeleton: &'a mut Skeleton<'t>, late: &'a dyn Fn() -> bool) -> Self {
        let mut clauses: Vec<Clause> = Vec::with_capacity(skeleton.clauses.len());
        for (literals, part) in &skeleton.clauses {
            clauses.push(Clause {
                literals: literals.clone(),
                origin: Origin::Part(*part),
            });
        }
        for literals in &skeleton.definitions {
            clauses.push(Clause {
                literals: literals.clone(),
                origin: Origin::Definition,
            });
        }
        clauses.extend(ordered(skeleton));
        let theory = Theory::new(skeleton);
        Search::of(skeleton, Some(theory), clauses, late)
    }

    /// A search on these clauses, without the theory.
    pub fn again(
        skeleton: &'a mut Skeleton<'t>,
        clauses: Vec<Clause>,
        late: &'a dyn Fn() -> bool,
    ) -> Self {
        Search::of(skeleton, None, clauses, late)
    }

    fn of(
        skeleton: &'a mut Skeleton<'t>,
        theory: Option<Theory>,
        clauses: Vec<Clause>,
        late: &'a dyn Fn() -> bool,
    ) -> Self {
        let mut search = Search {
            skeleton,
            theory,
            late,
            clauses,
            watches: Vec::new(),
            known: Vec::new(),
            trail: Vec::new(),
            levels: Vec::new(),
            propagated: 0,
            asserted: 0,
            bump: 1.0,
            order: BinaryHeap::new(),
            branches: 0,
        };
        search.grow();
        search
    }

    /// Adds entries for the skeleton's new variables.
    fn grow(&mut self) {
        for at in self.known.len()..self.skeleton.variables.len() {
            self.known.push(Known {
                phase: !self.skeleton.variables[at].occurs[0],
                activity: f64::from(!self.skeleton.variables[at].is_inner),
                ..Known::default()
            });
            self.watches.extend([Vec::new(), Vec::new()]);
            self.enter(at);
        }
    }

    pub fn refute(mut self) -> Result<Proof, Open> {
        for id in 0..self.clauses.len() {
            if let Some(conflict) = self.attach(id)
                && let Some(empty) = self.learn(conflict)
            {
                return Ok(Proof::of(&self.clauses, empty));
            }
        }
        let (mut conflicts, mut restart) = (0, LIMITS.first_restart);
        loop {
            self.skeleton.terms.charge(STEP_WORK);
            if (self.late)() {
                log::debug!("interpolation: no proof after {conflicts} conflicts");
                return Err(Open::Limit);
            }
            let conflict = match self.propagate() {
                Some(conflict) => Some(conflict),
                None => self.ask().map(|lemma| self.add_lemma(lemma)),
            };
            let conflict = match conflict {
                Some(conflict) => Some(conflict),
                None if self.decide() => None,
                None => match self.integers()? {
                    Some(lemma) => Some(self.add_lemma(lemma)),
                    None => continue,
                },
            };
            let Some(conflict) = conflict else { continue };
            if let Some(empty) = self.learn(conflict) {
                return Ok(Proof::of(&self.clauses, empty));
            }
            conflicts += 1;
            if conflicts == restart {
                restart += restart / 2;
                self.backtrack(0);
            }
        }
    }

    fn add(&mut self, clause: Clause) -> ClauseId {
        self.clauses.push(clause);
        self.clauses.len() - 1
    }

    fn add_lemma(&mut self, lemma: Lemma) -> ClauseId {
        let clause = lemma.clause();
        self.add(clause)
    }

    fn value(&self, literal: Lit) -> Option<bool> {
        let value = self.known[literal.variable() as usize].value;
        value.map(|v| v != literal.is_negated())
    }

    fn level(&self, literal: Lit) -> usize {
        self.known[literal.variable() as usize].level
    }

    /// Watches a clause, and assigns the literal that follows from it; returns the clause if it is
    /// violated.
    fn attach(&mut self, id: ClauseId) -> Option<ClauseId> {
        let mut literals = std::mem::take(&mut self.clauses[id].literals);
        literals.sort_by_key(|&l| match self.value(l) {
            Some(false) => (1, usize::MAX - self.level(l)),
            _ => (0, 0),
        });
        let [first, second] = [literals.first().copied(), literals.get(1).copied()];
        self.clauses[id].literals = literals;
        if let (Some(first), Some(second)) = (first, second) {
            self.watches[index(first)].push(id);
            self.watches[index(second)].push(id);
        }
        let is_false = |l: Lit| self.value(l) == Some(false);
        if first.is_none_or(is_false) {
            return Some(id);
        }
        if let Some(first) = first
            && second.is_none_or(is_false)
            && self.value(first).is_none()
        {
            self.assign(first, Some(id));
        }
        None
    }

    fn assign(&mut self, literal: Lit, mut reason: Option<ClauseId>) {
        let at = literal.variable() as usize;
        if self.levels.is_empty()
            && let Some(id) = reason
        {
            let others = self.clauses[id].literals.iter().filter(|&&l| l != literal);
            let steps: Vec<(Lit, ClauseId)> = others.map(|&l| self.unit(l)).collect();
            let unit = match steps.is_empty() {
                true => id,
                false => self.add(Clause {
                    literals: vec![literal],
                    origin: Origin::Chain(id, steps),
                }),
            };
            self.known[at].unit = Some(unit);
            reason = Some(unit);
        }
        let (level, place) = (self.levels.len(), self.trail.len());
        let known = &mut self.known[at];
        known.value = Some(!literal.is_negated());
        known.level = level;
        known.place = place;
        known.reason = reason;
        self.trail.push(literal);
    }

    /// The unit clause that resolves away a literal that is false without decisions.
    fn unit(&self, literal: Lit) -> (Lit, ClauseId) {
        let unit = self.known[literal.variable() as usize].unit;
        (!literal, unit.expect("it follows without decisions"))
    }

    /// Unit propagation; returns a clause that is violated.
    fn propagate(&mut self) -> Option<ClauseId> {
        while self.propagated < self.trail.len() {
            let falsified = !self.trail[self.propagated];
            self.propagated += 1;
            let list = std::mem::take(&mut self.watches[index(falsified)]);
            self.skeleton.terms.charge(VISIT_WORK * list.len() as u32);
            let mut kept = Vec::with_capacity(list.len());
            let mut conflict = None;
            for id in list {
                if conflict.is_some() {
                    kept.push(id);
                    continue;
                }
                if self.clauses[id].literals[0] == falsified {
                    self.clauses[id].literals.swap(0, 1);
                }
                let literals = &self.clauses[id].literals;
                let first = literals[0];
                if self.value(first) != Some(true) {
                    let mut others = (2..literals.len()).rev();
                    let other = others.find(|&k| self.value(literals[k]) != Some(false));
                    if let Some(other) = other {
                        self.clauses[id].literals.swap(1, other);
                        let watched = self.clauses[id].literals[1];
                        self.watches[index(watched)].push(id);
                        continue;
                    }
                    match self.value(first) {
                        None => self.assign(first, Some(id)),
                        _ => conflict = Some(id),
                    }
                }
                kept.push(id);
            }
            self.watches[index(falsified)] = kept;
            if conflict.is_some() {
                return conflict;
            }
        }
        None
    }

    /// Asserts new literals in the theory and checks it; returns a conflict.
    fn ask(&mut self) -> Option<Lemma> {
        let theory = self.theory.as_mut()?;
        for &literal in &self.trail[self.asserted..] {
            theory.assert(self.skeleton, literal);
        }
        self.asserted = self.trail.len();
        theory.check(self.skeleton).err()
    }

    /// Adds an unassigned variable, or one with a new activity.
    fn enter(&mut self, at: usize) {
        // Non-negative numbers have the order of their bits.
        let activity = self.known[at].activity.to_bits();
        self.order.push((activity, at as u32));
    }

    /// Assigns an open variable; false if there is none.
    fn decide(&mut self) -> bool {
        let best = loop {
            let Some((activity, best)) = self.order.pop() else {
                return false;
            };
            let known = &self.known[best as usize];
            if known.value.is_none() && known.activity.to_bits() == activity {
                break best as usize;
            }
        };
        self.levels.push((
            self.trail.len(),
            self.theory.as_ref().map_or(0, Theory::len),
        ));
        let literal = Lit::new(best as u32, self.known[best].phase);
        self.assign(literal, None);
        true
    }

    /// When all variables are assigned: a conflict of integers, or `None` after a new atom.
    fn integers(&mut self) -> Result<Option<Lemma>, Open> {
        let theory = self.theory.as_ref().ok_or(Open::Consistent)?;
        if let Some(lemma) = theory.congruence(self.skeleton) {
            return Ok(Some(lemma));
        }
        let (column, value) = theory.broken(self.skeleton).ok_or(Open::Consistent)?;
        self.branches += 1;
        if self.branches > LIMITS.max_branches {
            return Err(Open::Limit);
        }
        self.branch(column, &value)?;
        Ok(None)
    }

    /// An atom that excludes the value on both sides. It belongs to one part that has the column.
    fn branch(&mut self, column: TermId, value: &Rational) -> Result<(), Open> {
        let has = |meaning: &Meaning| match meaning {
            Meaning::Bound(bounds) => bounds[0].linear.monomials.iter().any(|m| m.0 == column),
            _ => false,
        };
        let variables = self.skeleton.variables.iter();
        let parts = variables.filter(|v| has(&v.meaning)).flat_map(|v| &v.parts);
        let part = parts.copied().min().ok_or(Open::Limit)?;
        let mut linear = Linear::unit(column);
        linear.constant = -value.floor();
        let atom = self.skeleton.bound(part, &linear, Relation::AtMost);
        let at = atom.variable() as usize;
        self.skeleton.variables[at].occurs = [true; 2];
        self.grow();
        self.known[at].activity += self.bump;
        self.enter(at);
        // The atom may be assigned without being asserted in the theory.
        self.backtrack(0);
        self.asserted = 0;
        if let Some(theory) = &mut self.theory {
            theory.retract(0);
        }
        Ok(())
    }

    /// Undoes all decisions from this level on.
    fn backtrack(&mut self, level: usize) {
        let Some(&(trail, asserted)) = self.levels.get(level) else {
            return;
        };
        self.levels.truncate(level);
        for literal in self.trail.split_off(trail) {
            let at = literal.variable() as usize;
            self.known[at].value = None;
            self.known[at].phase = literal.is_negated();
            self.enter(at);
        }
        self.propagated = trail;
        self.asserted = self.asserted.min(trail);
        if let Some(theory) = &mut self.theory {
            theory.retract(asserted);
        }
    }

    /// Resolves a violated clause until one literal of its last level is left, and backtracks to
    /// the level at which that literal follows. Returns the empty clause if there is no level.
    fn learn(&mut self, conflict: ClauseId) -> Option<ClauseId> {
        let literals = &self.clauses[conflict].literals;
        let level = literals.iter().map(|&l| self.level(l)).max().unwrap_or(0);
        if level == 0 {
            let steps: Vec<(Lit, ClauseId)> = literals.iter().map(|&l| self.unit(l)).collect();
            return Some(match steps.is_empty() {
                true => conflict,
                false => self.add(Clause {
                    literals: Vec::new(),
                    origin: Origin::Chain(conflict, steps),
                }),
            });
        }
        self.backtrack(level);
        let mut steps: Vec<(Lit, ClauseId)> = Vec::new();
        let (mut learnt, mut without) = (Vec::new(), Vec::new());
        let mut seen: Vec<usize> = Vec::new();
        let mut open = self.see(conflict, level, &mut learnt, &mut without, &mut seen);
        let mut at = self.trail.len();
        let asserting = loop {
            at -= 1;
            let literal = self.trail[at];
            let known = &self.known[literal.variable() as usize];
            if !known.seen {
                continue;
            }
            if open == 1 {
                break !literal;
            }
            let reason = known.reason.expect("a decision is the last that is seen");
            steps.push((literal, reason));
            open -= 1;
            open += self.see(reason, level, &mut learnt, &mut without, &mut seen);
        };
        self.drop_implied(&mut learnt, &mut without, &mut seen, &mut steps);
        steps.extend(without.into_iter().map(|l| self.unit(l)));
        for &variable in &seen {
            self.known[variable].seen = false;
            self.known[variable].activity += self.bump;
            self.enter(variable);
        }
        self.bump /= DECAY;
        if self.bump > 1e100 {
            self.known.iter_mut().for_each(|k| k.activity /= 1e100);
            self.bump /= 1e100;
            self.order.clear();
            (0..self.known.len()).for_each(|at| self.enter(at));
        }
        let back = learnt.iter().map(|&l| self.level(l)).max().unwrap_or(0);
        learnt.push(asserting);
        self.backtrack(back);
        // A clause of the theory is watched from now on.
        let is_new =
            matches!(self.clauses[conflict].origin, Origin::Lemma(_)) && !self.is_watched(conflict);
        let learns = !steps.is_empty();
        if learns {
            let id = self.add(Clause {
                literals: learnt,
                origin: Origin::Chain(conflict, steps),
            });
            self.attach(id);
        } else if !is_new {
            let reason = Some(conflict);
            self.assign(asserting, reason);
        }
        if is_new {
            self.attach(conflict);
        }
        None
    }

    fn is_watched(&self, id: ClauseId) -> bool {
        match *self.clauses[id].literals.as_slice() {
            [first, _, ..] => self.watches[index(first)].contains(&id),
            _ => false,
        }
    }

    /// Marks the literals of a clause; returns the number of new ones at the level.
    fn see(
        &mut self,
        id: ClauseId,
        level: usize,
        learnt: &mut Vec<Lit>,
        without: &mut Vec<Lit>,
        seen: &mut Vec<usize>,
    ) -> usize {
        let mut open = 0;
        for &literal in &self.clauses[id].literals {
            let at = literal.variable() as usize;
            let known = &mut self.known[at];
            // The literal that a reason implies is marked already.
            if known.seen {
                continue;
            }
            known.seen = true;
            seen.push(at);
            match known.level {
                0 => without.push(literal),
                l if l == level => open += 1,
                _ => learnt.push(literal),
            }
        }
        open
    }

    /// Resolves away literals that the others imply by one clause, the last one first.
    fn drop_implied(
        &mut self,
        learnt: &mut Vec<Lit>,
        without: &mut Vec<Lit>,
        seen: &mut Vec<usize>,
        steps: &mut Vec<(Lit, ClauseId)>,
    ) {
        let mut dropped: Vec<Lit> = Vec::new();
        for &literal in learnt.iter() {
            let reason = self.known[literal.variable() as usize].reason;
            let is_implied = reason.is_some_and(|reason| {
                let others = &self.clauses[reason].literals;
                others.iter().all(|&l| {
                    let known = &self.known[l.variable() as usize];
                    known.seen || known.level == 0
                })
            });
            if is_implied {
                dropped.push(literal);
            }
        }
        if dropped.is_empty() {
            return;
        }
        learnt.retain(|l| !dropped.contains(l));
        let place = |l: &Lit| self.known[l.variable() as usize].place;
        dropped.sort_by_key(|l| Reverse(place(l)));
        for literal in dropped {
            let reason = self.known[literal.variable() as usize].reason;
            let reason = reason.expect("it is implied");
            steps.push((!literal, reason));
            for &other in &self.clauses[reason].literals {
                let at = other.variable() as usize;
                if self.known[at].level == 0 && !self.known[at].seen {
                    self.known[at].seen = true;
                    seen.push(at);
                    without.push(other);
                }
            }
        }
    }
}

/// Implications between adjacent bounds of a form.
fn ordered(skeleton: &Skeleton) -> Vec<Clause> {
    let mut bounds: Vec<(&Linear, bool, Lit)> = Vec::new();
    for (at, variable) in skeleton.variables.iter().enumerate() {
        if let Meaning::Bound(both) = &variable.meaning {
            let upper = &both[0];
            let is_strict = upper.relation == Relation::Below;
            bounds.push((&upper.linear, is_strict, Lit::new(at as u32, false)));
        }
    }
    // The strongest first: `form + constant <= 0` with a great constant.
    bounds.sort_by(|a, b| {
        (a.0.monomials.cmp(&b.0.monomials))
            .then_with(|| b.0.constant.cmp(&a.0.constant))
            .then_with(|| b.1.cmp(&a.1))
    });
    let pairs = bounds.windows(2);
    let pairs = pairs.filter(|w| w[0].0.monomials == w[1].0.monomials);
    let one = || Rational::from_integer(1.into());
    let lemma = |w: &[(&Linear, bool, Lit)]| Lemma::Sum(vec![(w[0].2, one()), (!w[1].2, one())]);
    pairs.map(|w| lemma(w).clause()).collect()
}
