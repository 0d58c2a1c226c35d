//! Whether runs of two to the power of a level steps, or fewer, lead from some states to others.
//!
//! A query about a level composes two relations of the level below. If the composition excludes a
//! run, an interpolant between it and the two sets of states refines the level's relation. If it
//! allows one, projection gives states between the two halves, and both are queried in turn; a half
//! without a run has been refined by that, and the composition is queried again.
//!
//! Invariant: reached states are connected by steps of clauses; a relation is strengthened only by
//! formulas that follow from the composition of the relations below.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use super::options::Options;
use super::relation::Relation;
use super::short_runs::{ShortRuns, cube};
use super::system::{Conjunct, States, TransitionSystem};
use alphorn_interpolation::{InterpolationOptions, Interpolator};
use alphorn_proof::steps::literal;
use alphorn_proof::{Stop, ask, incomplete};
use alphorn_smt::{Smt, SmtModel, Solver};
use alphorn_term::run::{Context, Reason};
use alphorn_term::{Printer, TermId};

/// The runs that a relation is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Kind {
    /// Runs of two to the power of the level steps.
    Exact,
    /// Shorter runs.
    Less,
}

/// States that are reached.
pub(super) struct Reached {
    /// The states where the runs begin.
    pub source: States,
    /// Each of these states is reached from one of the source.
    pub target: States,
    /// By which steps.
    pub by: Justification,
}

/// How states are reached.
pub(super) enum Justification {
    /// They are among the source.
    Stay,
    /// By an unrolling of this level.
    Steps(usize),
    /// They are among these reached states.
    Part(Rc<Reached>),
    /// By a run to states in between, and a run from there.
    Both(Rc<Reached>, Rc<Reached>),
}

/// A composition of relations, with a literal for each conjunct.
struct Composition {
    solver: Solver,
    /// The literals of conjuncts.
    names: FxHashMap<TermId, TermId>,
    /// The literal that the second run has no steps, for `Less`.
    stay: TermId,
}

/// What the statistics show.
#[derive(Default)]
pub(super) struct Counters {
    /// Refinements of relations.
    pub refinements: u64,
    /// Those without an interpolant.
    pub fallbacks: u64,
    /// Queries answered by remembered states.
    pub hits: u64,
}

/// The state of the search.
pub(super) struct Search<'a> {
    /// The transition system.
    pub ts: &'a TransitionSystem<'a>,
    /// The solver context.
    pub smt: &'a Rc<Smt>,
    /// The settings.
    pub options: &'a Options,
    interpolator: Interpolator,
    /// The relations `Exact` of all levels.
    pub exact: Vec<Relation>,
    /// The relations `Less` of all levels.
    pub less: Vec<Relation>,
    compositions: FxHashMap<(Kind, usize), Composition>,
    /// For each level, the unrolling for two to its power steps.
    pub short_runs: Vec<ShortRuns>,
    /// The solver for intersections of sets of states.
    sets: Solver,
    /// Remembered reached states.
    reached: FxHashMap<(Kind, usize, TermId), Vec<Rc<Reached>>>,
    /// Conjuncts that hold of runs of any number of steps.
    pub always: Vec<Conjunct>,
    /// The versions of relations that were found to be no proof.
    pub open: FxHashMap<(Kind, usize), usize>,
    /// What the statistics show.
    pub counters: Counters,
}

impl<'a> Search<'a> {
    /// The relations of level 0.
    pub fn new(
        ts: &'a TransitionSystem<'a>,
        smt: &'a Rc<Smt>,
        options: &'a Options,
        cx: &Context,
    ) -> Self {
        let mut interpolator = Interpolator::new(
            smt,
            InterpolationOptions {
                max_steps: LIMITS.interpolation_steps,
                ..InterpolationOptions::default()
            },
        );
        interpolator.set_budget(Some(cx.budget.clone()));
        let [first, second, third] = &ts.copies;
        let same = Conjunct {
            left: ts.same(first, second),
            right: ts.same(second, third),
            whole: ts.same(first, third),
        };
        Search {
            ts,
            smt,
            options,
            interpolator,
            exact: vec![Relation::exact(ts.step())],
            less: vec![Relation::exact(same)],
            compositions: FxHashMap::default(),
            short_runs: Vec::new(),
            sets: smt.solver(),
            reached: FxHashMap::default(),
            always: Vec::new(),
            open: FxHashMap::default(),
            counters: Counters::default(),
        }
    }

    /// Adds relations up to a level, with the conjuncts that hold of runs of any number of steps.
    pub fn grow(&mut self, level: usize) {
        while self.exact.len() <= level {
            let (mut exact, mut less) = (Relation::default(), Relation::default());
            for &conjunct in &self.always {
                exact.share(conjunct);
                less.share(conjunct);
            }
            self.exact.push(exact);
            self.less.push(less);
        }
    }

    /// The relation of a kind and level.
    pub fn relation(&mut self, kind: Kind, level: usize) -> &mut Relation {
        match kind {
            Kind::Exact => &mut self.exact[level],
            Kind::Less => &mut self.less[level],
        }
    }

    /// A part of `target` to which runs of a kind and level lead from `source`; `None` if there are
    /// no such runs, and then the relation of the kind and level excludes them.
    pub fn reach(
        &mut self,
        kind: Kind,
        level: usize,
        source: &States,
        target: &States,
        cx: &Context,
    ) -> Result<Option<Rc<Reached>>, Stop> {
        self.grow(level);
        let key = (kind, level, source.formula);
        if let Some(known) = self.remembered(key, target, cx)? {
            return Ok(Some(known));
        }
        let found = match (kind, level) {
            (Kind::Less, 0) => self.meet(source, target, cx)?.map(|target| Reached {
                source: source.clone(),
                target,
                by: Justification::Stay,
            }),
            (Kind::Exact, 0) => self.unrolled(0, source, target, cx)?,
            _ => self.halves(kind, level, source, target, cx)?,
        };
        let Some(found) = found.map(Rc::new) else {
            return Ok(None);
        };
        if level > 0 {
            let known = self.reached.entry(key).or_default();
            if known.len() == LIMITS.remembered {
                known.remove(0);
            }
            known.push(found.clone());
        }
        Ok(Some(found))
    }

    /// A part of `target` among remembered reached states.
    fn remembered(
        &mut self,
        key: (Kind, usize, TermId),
        target: &States,
        cx: &Context,
    ) -> Result<Option<Rc<Reached>>, Stop> {
        let known = self.reached.get(&key).cloned().unwrap_or_default();
        for known in known.into_iter().rev() {
            if let Some(part) = self.meet(&known.target, target, cx)? {
                self.counters.hits += 1;
                return Ok(Some(Rc::new(Reached {
                    source: known.source.clone(),
                    target: part,
                    by: Justification::Part(known),
                })));
            }
        }
        Ok(None)
    }

    /// A cube of states in both sets, without local variables.
    fn meet(&mut self, a: &States, b: &States, cx: &Context) -> Result<Option<States>, Stop> {
        let parts: Vec<TermId> = a.literals.iter().chain(&*b.literals).copied().collect();
        self.sets.push();
        for &part in &parts {
            self.sets.assert(part);
        }
        let model = ask(&mut self.sets, &[], cx);
        self.sets.pop();
        match model? {
            Some(model) => Ok(Some(cube(self.ts, &parts, &self.ts.copies[0], &model)?)),
            None => Ok(None),
        }
    }

    /// As [`Self::reach`] for `Exact`, by an unrolling.
    fn unrolled(
        &mut self,
        level: usize,
        source: &States,
        target: &States,
        cx: &Context,
    ) -> Result<Option<Reached>, Stop> {
        while self.short_runs.len() <= level {
            let steps = 1 << self.short_runs.len();
            let runs = ShortRuns::new(self.ts, self.smt, steps);
            self.short_runs.push(runs);
        }
        let target = self.short_runs[level].reach(self.ts, source, target, cx)?;
        Ok(target.map(|target| Reached {
            source: source.clone(),
            target,
            by: Justification::Steps(level),
        }))
    }

    /// As [`Self::reach`] for a level above 0, by the states between two halves.
    fn halves(
        &mut self,
        kind: Kind,
        level: usize,
        source: &States,
        target: &States,
        cx: &Context,
    ) -> Result<Option<Reached>, Stop> {
        let mut unrolled = kind == Kind::Less || level > self.options.unroll;
        loop {
            let Some((model, parts)) = self.compose(kind, level, source, target, cx)? else {
                return Ok(None);
            };
            if !std::mem::replace(&mut unrolled, true)
                && let Some(found) = self.unrolled(level, source, target, cx)?
            {
                return Ok(Some(found));
            }
            if kind == Kind::Less && model.satisfies(self.compositions[&(kind, level)].stay) {
                if let Some(known) = self.reach(kind, level - 1, source, target, cx)? {
                    return Ok(Some(Reached {
                        source: source.clone(),
                        target: known.target.clone(),
                        by: Justification::Part(known),
                    }));
                }
                continue;
            }
            let between = cube(self.ts, &parts, &self.ts.copies[1], &model)?;
            drop(model);
            let Some(left) = self.reach(kind, level - 1, source, &between, cx)? else {
                continue;
            };
            let middle = left.target.clone();
            let right = self.reach(Kind::Exact, level - 1, &middle, target, cx)?;
            if let Some(right) = right {
                return Ok(Some(Reached {
                    source: source.clone(),
                    target: right.target.clone(),
                    by: Justification::Both(left, right),
                }));
            }
        }
    }

    /// A model of the composition of two relations between the states, and the formulas that it
    /// satisfies; `None` if there is none, and then the relation is refined.
    fn compose(
        &mut self,
        kind: Kind,
        level: usize,
        source: &States,
        target: &States,
        cx: &Context,
    ) -> Result<Option<(SmtModel, Vec<TermId>)>, Stop> {
        let (ts, terms) = (self.ts, self.ts.terms());
        let [first, second, third] = &ts.copies;
        let composition = self.compositions.entry((kind, level));
        let composition = composition.or_insert_with(|| {
            let mut solver = self.smt.solver();
            let stay = literal(terms, "stay");
            solver.assert(terms.implies(stay, ts.same(second, third)));
            Composition {
                solver,
                names: FxHashMap::default(),
                stay,
            }
        });
        let stay = composition.stay;
        let left = match kind {
            Kind::Exact => &self.exact[level - 1],
            Kind::Less => &self.less[level - 1],
        };
        let mut relations: Vec<TermId> = left.conjuncts.iter().map(|c| c.left).collect();
        relations.extend(self.exact[level - 1].conjuncts.iter().map(|c| match kind {
            Kind::Exact => c.right,
            Kind::Less => terms.or(&[stay, c.right]),
        }));
        let mut ends = ts.literals(source, first);
        ends.extend(ts.literals(target, third));
        let Composition { solver, names, .. } = composition;
        let mut name = |&formula: &TermId, solver: &mut Solver| {
            *names.entry(formula).or_insert_with(|| {
                let name = literal(terms, "conjunct");
                solver.assert(terms.implies(name, formula));
                name
            })
        };
        let named: Vec<TermId> = relations.iter().map(|r| name(r, solver)).collect();
        // A scope, so that nothing about the states remains in the solver.
        solver.push();
        let model = ask(solver, &[&named[..], &ends].concat(), cx);
        let core: FxHashSet<TermId> = solver.core().into_iter().collect();
        solver.pop();
        if let Some(model) = model? {
            return Ok(Some((model, [relations, ends].concat())));
        }
        let mut names = named.iter();
        relations.retain(|_| names.next().is_some_and(|n| core.contains(n)));
        ends.retain(|e| core.contains(e));
        if kind == Kind::Less {
            relations.push(terms.implies(stay, ts.same(second, third)));
        }
        let interpolant = self.interpolant(&relations, &ends, cx)?;
        let refined = ts.over(interpolant, third, second);
        self.counters.refinements += 1;
        self.relation(kind, level).add(ts, refined);
        Ok(None)
    }

    /// Logs a relation; variables after a run have an apostrophe.
    pub fn show(&self, kind: Kind, level: usize) {
        if level == 0 || !log::log_enabled!(log::Level::Trace) {
            return;
        }
        let (ts, terms) = (self.ts, self.ts.terms());
        let params = &ts.system.predicate(ts.predicate).params;
        let name = |p: &TermId| format!("{}'", terms.var_name(*p));
        let after = params
            .iter()
            .map(|p| terms.var(&name(p), terms.sort_of(*p)));
        let shown: Vec<TermId> = params.iter().copied().chain(after).collect();
        let own = [&ts.copies[0][..], &ts.copies[1]].concat();
        let relation = match kind {
            Kind::Exact => &self.exact[level],
            Kind::Less => &self.less[level],
        };
        for conjunct in &relation.conjuncts {
            let conjunct = Printer::new(terms).term(ts.over(conjunct.left, &own, &shown));
            log::trace!("tpa: {kind:?} {level}: {conjunct}");
        }
    }

    /// An interpolant: a formula that `a` implies and that contradicts `b`.
    ///
    /// # Errors
    /// The reason why there is none.
    pub fn separate(&mut self, a: &[TermId], b: &[TermId], cx: &Context) -> Result<TermId, Stop> {
        let found = self.interpolator.binary(a, b);
        found.map_err(|error| match cx.stop() {
            Some(reason) => Stop::Reason(reason),
            None => incomplete(format!("no interpolant: {error}")),
        })
    }

    /// An interpolant, or the negation of `b` if there is none.
    fn interpolant(&mut self, a: &[TermId], b: &[TermId], cx: &Context) -> Result<TermId, Stop> {
        let terms = self.ts.terms();
        let error = match self.separate(a, b, cx) {
            Err(Stop::Reason(Reason::Incomplete(error))) => error,
            other => return other,
        };
        log::debug!("tpa: {error}");
        let [first, _, third] = &self.ts.copies;
        // The negation of the excluded run, if it is over the states at the ends.
        let ends: FxHashSet<&TermId> = first.iter().chain(third).collect();
        if terms.free_vars(b).iter().any(|v| !ends.contains(v)) {
            return Err(incomplete(error));
        }
        self.counters.fallbacks += 1;
        Ok(terms.not(terms.and(b)))
    }
}
