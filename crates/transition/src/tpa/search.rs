//! Whether runs of two to the power of a level steps, or of less, lead from some states to others.
//!
//! A query about a level composes two relations of the level below. Where the composition excludes
//! a run, an interpolant between it and the two sets of states refines the level's relation. Where
//! it allows one, projection gives states between the two halves, and both are asked in turn; a
//! half that says no has been refined by then, and the composition is asked again.
//!
//! Invariant: what is reached is reached, by construction from steps of clauses; a relation is only
//! strengthened by what follows from the composition of the relations below.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

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

/// Which runs a relation is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Kind {
    /// Two to the power of the level steps.
    Exact,
    /// Less than that.
    Less,
}

/// States that are reached.
pub(super) struct Reached {
    pub source: States,
    /// Each of these states is reached from one of the source.
    pub target: States,
    pub way: Way,
}

/// How states are reached.
pub(super) enum Way {
    /// They are among the source.
    Stay,
    /// By an unrolling of this level.
    Steps(usize),
    /// As all of these states are.
    Part(Rc<Reached>),
    /// By a run to states between, and one from there.
    Both(Rc<Reached>, Rc<Reached>),
}

/// A composition of relations, with a literal for each conjunct.
struct Composition {
    solver: Solver,
    names: FxHashMap<TermId, TermId>,
    /// Whether the second run has no steps, for `Less`.
    stay: TermId,
}

#[derive(Default)]
pub(super) struct Counters {
    pub refinements: u64,
    pub fallbacks: u64,
    pub hits: u64,
}

/// See the module.
pub(super) struct Search<'a> {
    pub ts: &'a TransitionSystem<'a>,
    pub smt: &'a Rc<Smt>,
    pub options: &'a Options,
    interpolator: Interpolator,
    pub exact: Vec<Relation>,
    pub less: Vec<Relation>,
    compositions: FxHashMap<(Kind, usize), Composition>,
    /// By level: runs of two to its power steps.
    pub short_runs: Vec<ShortRuns>,
    /// For sets of states.
    sets: Solver,
    reached: FxHashMap<(Kind, usize, TermId), Vec<Rc<Reached>>>,
    /// What holds of runs of any number of steps.
    pub always: Vec<Conjunct>,
    /// Versions of relations that are no proof.
    pub open: FxHashMap<(Kind, usize), usize>,
    pub counters: Counters,
}

/// So many ways from one set of states are remembered at a level.
const REMEMBERED: usize = 4;

impl<'a> Search<'a> {
    pub fn new(
        ts: &'a TransitionSystem<'a>,
        smt: &'a Rc<Smt>,
        options: &'a Options,
        cx: &Context,
    ) -> Self {
        let mut interpolator = Interpolator::new(
            smt,
            InterpolationOptions {
                max_steps: 400,
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

    /// Makes the relations up to a level; new ones hold what is known of runs of all lengths.
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

    pub fn relation(&mut self, kind: Kind, level: usize) -> &mut Relation {
        match kind {
            Kind::Exact => &mut self.exact[level],
            Kind::Less => &mut self.less[level],
        }
    }

    /// The part of `target` that runs of a kind lead to from `source`, as far as it was found;
    /// `None` when there are no such runs, and then the relation of the kind and level says so.
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
                way: Way::Stay,
            }),
            (Kind::Exact, 0) => self.unrolled(0, source, target, cx)?,
            _ => self.halves(kind, level, source, target, cx)?,
        };
        let Some(found) = found.map(Rc::new) else {
            return Ok(None);
        };
        if level > 0 {
            let known = self.reached.entry(key).or_default();
            if known.len() == REMEMBERED {
                known.remove(0);
            }
            known.push(found.clone());
        }
        Ok(Some(found))
    }

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
                    way: Way::Part(known),
                })));
            }
        }
        Ok(None)
    }

    /// States in both, without locals.
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
            way: Way::Steps(level),
        }))
    }

    /// Of a level above 0: by states between two halves.
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
                        way: Way::Part(known),
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
                    way: Way::Both(left, right),
                }));
            }
        }
    }

    /// A model of the composition of two relations between the states, with what it is a model of;
    /// or, when there is none, the refined relation says so.
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
        // The states come and go, and leave nothing in the solver.
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

    /// A formula that follows from `a` and contradicts `b`, or why there is none.
    pub fn separate(&mut self, a: &[TermId], b: &[TermId], cx: &Context) -> Result<TermId, Stop> {
        let found = self.interpolator.binary(a, b);
        found.map_err(|error| match cx.stop() {
            Some(reason) => Stop::Reason(reason),
            None => incomplete(format!("no interpolant: {error}")),
        })
    }

    fn interpolant(&mut self, a: &[TermId], b: &[TermId], cx: &Context) -> Result<TermId, Stop> {
        let terms = self.ts.terms();
        let error = match self.separate(a, b, cx) {
            Err(Stop::Reason(Reason::Incomplete(error))) => error,
            other => return other,
        };
        log::debug!("tpa: {error}");
        let [first, _, third] = &self.ts.copies;
        // What is excluded, and no more.
        let ends: FxHashSet<&TermId> = first.iter().chain(third).collect();
        if terms.free_vars(b).iter().any(|v| !ends.contains(v)) {
            return Err(incomplete(error));
        }
        self.counters.fallbacks += 1;
        Ok(terms.not(terms.and(b)))
    }
}
