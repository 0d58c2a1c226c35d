//! Property directed reachability for Horn clauses, in the manner of Spacer.
//!
//! Papers: Bradley, "SAT-based model checking without unrolling" (VMCAI 2011); Hoder, Bjørner,
//! "Generalized property directed reachability" (SAT 2012); Komuravelli, Gurfinkel, Chaki,
//! "SMT-based model checking for recursive programs" (FMSD 2016).
//!
//! For bound 0, 1, 2, … the query `false` becomes an obligation at that level. An obligation, a
//! cube of a predicate at a level, is asked of the predicate's transition relation with the
//! lemmas of the level below in place of the body atoms (`transition`):
//!
//! - Unsatisfiable: the core, generalised by dropping literals that relative induction does not
//!   need (`generalise`), is a new lemma, and the obligation moves up a level (`obligation`).
//! - Satisfiable with reached facts in place of all body atoms: the head is reached; projecting the
//!   model gives a new fact (`predecessor`), which keeps the rule and the facts that it came
//!   from. These justifications are the refutation once `false` is reached (`refutation`).
//! - Satisfiable otherwise: the first body atom that is not reached becomes an obligation one level
//!   below, with the others, by reached facts or lemmas, projected out.
//!
//! Before it is learned, a blocked cube may come to say something of other indexes or of all indexes
//! of an array (`apart`, `quantify`). What lemmas and cubes have in common is conjectured (`guide`).
//!
//! When the query is blocked, lemmas are pushed to higher levels (`propagate`); if a level is
//! left without lemmas of its own, the lemmas above it are an inductive interpretation.
//!
//! Deviations: derivations of nonlinear clauses are not kept as objects. The obligation is asked
//! again when a body atom was reached, with a maximal set of atoms restricted to reached facts, so
//! it goes on where it was. Invariant: a lemma of level `k` holds of every fact of height at most
//! `k`; a fact's formula holds of derivable states only.

mod apart;
pub(super) mod bounded;
mod cover;
mod frame;
mod generalise;
mod guide;
mod hull;
mod obligation;
mod options;
mod pattern;
mod predecessor;
mod propagate;
mod quantify;
mod refutation;
#[cfg(test)]
mod tests;
mod total;
mod transition;
mod used;

pub use self::options::Options;

use std::rc::Rc;
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};

use self::cover::{Cover, Known};
use self::frame::{Frame, INFINITE, Level};
use self::obligation::{Obligation, Obligations};
use self::transition::{Answer, Levels, Query, Transition};
use super::settings::Setting;
use super::{Engine, EngineError, Unsupported};
use crate::chc::{PredicateId, Shape, System};
use crate::proof::confirm;
use crate::run::Context;
use crate::run::Reason;
use crate::smt::{Arithmetic, SatResult, Smt, SmtModel};
use crate::term::{Printer, Sort, SortId, TermId, TermStore};
use crate::witness::{Model, Refutation, Verdict};

/// The engine.
#[derive(Clone, Debug, Default)]
pub struct Pdr {
    pub options: Options,
}

impl Engine for Pdr {
    fn name(&self) -> &'static str {
        "pdr"
    }

    /// Quantified constraints have no implicants here.
    fn supports(&self, shape: &Shape) -> Result<(), Unsupported> {
        if shape.theories.quantifier {
            return Err(Unsupported {
                engine: "pdr",
                what: "quantified constraints".to_owned(),
            });
        }
        Ok(())
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        self.options.settings()
    }

    fn solve(&mut self, system: &System, cx: &mut Context) -> Result<Verdict, EngineError> {
        let mut search = Search::new(system, self.options.clone(), cx);
        let outcome = search.run();
        search.record_statistics();
        match outcome {
            Ok(Outcome::Safe(model)) => Ok(Verdict::Sat(model)),
            Ok(Outcome::Refuted(refutation)) => {
                Ok(confirm(system, refutation, &search.smt, search.cx))
            }
            Err(Stop::Reason(reason)) => Ok(Verdict::Unknown(reason)),
            Err(Stop::Error(error)) => Err(error),
        }
    }
}

enum Outcome {
    Safe(Model),
    Refuted(Refutation),
}

/// Why the search ends without an outcome.
enum Stop {
    Reason(Reason),
    Error(EngineError),
}

fn incomplete(what: impl Into<String>) -> Stop {
    Stop::Reason(Reason::Incomplete(what.into()))
}

/// A defect, or a model that cannot be read.
fn failed(step: &'static str, message: impl ToString) -> Stop {
    Stop::Error(EngineError::Failed {
        step,
        message: message.to_string(),
    })
}

/// Other predicates with the same sorts of arguments about which a conjecture that became a lemma
/// is conjectured as well, at most.
const SPREAD: usize = 8;

/// For each predicate, some others with arguments of the same sorts.
fn alike(system: &System) -> Vec<Vec<usize>> {
    let mut by_sorts: FxHashMap<Vec<SortId>, Vec<usize>> = FxHashMap::default();
    for predicate in system.used_predicates() {
        let params = system.predicate(predicate).params.iter();
        let sorts = params.map(|&p| system.terms.sort_of(p)).collect();
        by_sorts.entry(sorts).or_default().push(predicate.index());
    }
    let mut alike = vec![Vec::new(); system.predicates.len() + 1];
    for group in by_sorts.values() {
        for (at, &predicate) in group.iter().enumerate() {
            // Those next to it, round and round.
            let others = group.iter().cycle().skip(at + 1).take(group.len() - 1);
            alike[predicate] = others.copied().take(SPREAD).collect();
        }
    }
    alike
}

/// A variable for any index, for each sort by which the arrays among the variables are indexed.
fn any_indexes(terms: &TermStore, params: &[TermId]) -> Vec<TermId> {
    let mut sorts: Vec<SortId> = Vec::new();
    for &param in params {
        let mut sort = terms.sort_of(param);
        while let Sort::Array(index, element) = terms.sort(sort) {
            if !sorts.contains(&index) {
                sorts.push(index);
            }
            sort = element;
        }
    }
    let sorts = sorts.into_iter();
    sorts.map(|sort| terms.fresh_var("any", sort)).collect()
}

/// Models of more lemmas per predicate than this are not made smaller.
const IRREDUNDANT_LIMIT: usize = 200;

/// What became of an obligation.
enum Progress {
    Blocked,
    Reached,
    /// It waits for another one.
    Waits,
    /// A conjecture that took too many steps.
    Dropped,
}

#[derive(Default)]
struct Counters {
    lemmas: u64,
    facts: u64,
    dropped: u64,
    pushes: u64,
    pushed: u64,
    conjectures: u64,
    concretised: u64,
    subsumed: u64,
    quantified: u64,
    quantify_failures: u64,
    set_apart: u64,
}

/// What a search leaves to the next one. Predicates go by their index in the system, the query,
/// `false`, comes after them.
struct Parts {
    levels: Levels,
    transitions: Vec<Option<Transition>>,
    frames: Vec<Frame>,
}

impl Parts {
    fn new(smt: &Rc<Smt>, system: &System, options: &Options) -> Self {
        let terms = &system.terms;
        let query = system.predicates.len();
        let mut clauses: Vec<Vec<usize>> = vec![Vec::new(); query + 1];
        for (index, clause) in system.clauses.iter().enumerate() {
            let head = clause.head.as_ref();
            clauses[head.map_or(query, |h| h.predicate.index())].push(index);
        }
        let mut in_use = vec![false; query + 1];
        in_use[query] = true;
        for predicate in system.used_predicates() {
            in_use[predicate.index()] = true;
        }
        let transitions = (0..=query)
            .map(|p| {
                let params: &[TermId] = match system.predicates.get(p) {
                    Some(predicate) => &predicate.params,
                    None => &[],
                };
                in_use[p].then(|| Transition::new(system, smt, p, params, &clauses[p]))
            })
            .collect();
        let quantify = options.quantify;
        let frames = (0..=query)
            .map(|p| match system.predicates.get(p) {
                Some(predicate) if quantify => Frame::new(&any_indexes(terms, &predicate.params)),
                _ => Frame::default(),
            })
            .collect();
        Parts {
            levels: Levels::new(terms.clone()),
            transitions,
            frames,
        }
    }
}

/// The state of a search.
struct Search<'a> {
    system: &'a System,
    terms: Rc<TermStore>,
    cx: &'a mut Context,
    options: Options,
    smt: Rc<Smt>,
    levels: Levels,
    transitions: Vec<Option<Transition>>,
    frames: Vec<Frame>,
    covers: FxHashMap<usize, Cover>,
    obligations: Obligations,
    /// For each predicate, others with the same sorts of arguments.
    alike: Vec<Vec<usize>>,
    counters: Counters,
    /// Queries of the oracle and their time before this search.
    usage: (u64, Duration),
    started: Instant,
}

impl<'a> Search<'a> {
    fn new(system: &'a System, options: Options, cx: &'a mut Context) -> Self {
        let smt = Smt::within(&cx.budget);
        if options.older_simplex && !Shape::of(system).theories.nonlinear_arithmetic {
            smt.set_arithmetic(Arithmetic::Simplex);
        }
        Search::with(smt, system, options, cx)
    }

    /// A search that asks a given oracle.
    fn with(smt: Rc<Smt>, system: &'a System, options: Options, cx: &'a mut Context) -> Self {
        let parts = Parts::new(&smt, system, &options);
        Search::from_parts(smt, system, options, cx, parts)
    }

    /// A search with transition relations and frames that are there already.
    fn from_parts(
        smt: Rc<Smt>,
        system: &'a System,
        options: Options,
        cx: &'a mut Context,
        parts: Parts,
    ) -> Self {
        Search {
            levels: parts.levels,
            transitions: parts.transitions,
            frames: parts.frames,
            covers: FxHashMap::default(),
            obligations: Obligations::default(),
            alike: alike(system),
            counters: Counters::default(),
            usage: smt.usage(),
            started: Instant::now(),
            terms: system.terms.clone(),
            system,
            cx,
            options,
            smt,
        }
    }

    /// The number that stands for `false`.
    fn query_predicate(&self) -> usize {
        self.system.predicates.len()
    }

    fn params(&self, predicate: usize) -> &[TermId] {
        match self.system.predicates.get(predicate) {
            Some(predicate) => &predicate.params,
            None => &[],
        }
    }

    fn name(&self, predicate: usize) -> &str {
        match self.system.predicates.get(predicate) {
            Some(predicate) => &predicate.name,
            None => "false",
        }
    }

    fn run(&mut self) -> Result<Outcome, Stop> {
        let root = self.add_root(0);
        for bound in 0.. {
            if self.options.max_level.is_some_and(|max| bound > max) {
                return Err(incomplete(format!(
                    "the query is blocked up to level {bound}"
                )));
            }
            if let Some(refutation) = self.block(root, bound)? {
                return Ok(Outcome::Refuted(refutation));
            }
            if let Some(level) = self.propagate(bound)? {
                let used = self
                    .options
                    .weaken
                    .then(|| self.used_lemmas(level))
                    .flatten();
                return Ok(Outcome::Safe(self.model(level, used.as_ref())));
            }
            log::debug!(
                "level {bound}: {} obligations, {} lemmas, {} facts, {} queries",
                self.obligations.len(),
                self.counters.lemmas,
                self.counters.facts,
                self.smt.usage().0
            );
        }
        Err(incomplete("no level is left"))
    }

    /// The obligation for the query, at a level.
    fn add_root(&mut self, level: Level) -> usize {
        self.obligations.add(Obligation {
            predicate: self.query_predicate(),
            cube: Vec::new(),
            level,
            depth: 0,
            parent: None,
            closed: false,
            gas: None,
            members: Vec::new(),
        })
    }

    /// Answers all obligations up to a level. A refutation, or the query is blocked there.
    fn block(&mut self, root: usize, bound: Level) -> Result<Option<Refutation>, Stop> {
        self.cx.stats.set("pdr.level", u64::from(bound));
        while let Some(next) = self.obligations.next(bound) {
            if matches!(self.work_on(next)?, Progress::Reached) && self.wake_up(next, root)? {
                return self.refutation().map(Some);
            }
        }
        Ok(None)
    }

    /// The interpretation by the lemmas from a level on, of those `used` if that is known, without
    /// those that others imply.
    fn model(&self, level: Level, used: Option<&FxHashSet<(usize, usize)>>) -> Model {
        let mut definitions: FxHashMap<PredicateId, TermId> = FxHashMap::default();
        for p in self.system.used_predicates() {
            let frame = &self.frames[p.index()];
            let (about_any, ground): (Vec<usize>, Vec<usize>) = frame
                .at(level)
                .filter(|&i| used.is_none_or(|used| used.contains(&(p.index(), i))))
                .partition(|&i| frame.lemmas[i].any.is_some());
            let ground = ground.into_iter().map(|i| frame.lemmas[i].clause).collect();
            let mut lemmas = self.irredundant(ground);
            lemmas.extend(about_any.into_iter().map(|i| frame.closed(&self.terms, i)));
            definitions.insert(p, self.terms.and(&lemmas));
        }
        Model { definitions }
    }

    /// The formulas without those that the others imply, as far as that is cheap to tell.
    fn irredundant(&self, mut formulas: Vec<TermId>) -> Vec<TermId> {
        if formulas.len() < 2 || formulas.len() > IRREDUNDANT_LIMIT {
            return formulas;
        }
        let mut solver = self.smt.solver();
        // Large ones first: they say least.
        formulas.sort_by_key(|&f| std::cmp::Reverse(self.terms.args(f).len()));
        let mut at = 0;
        while at < formulas.len() && self.cx.stop().is_none() {
            let mut assumptions = formulas.clone();
            assumptions[at] = self.terms.not(formulas[at]);
            match solver.check(&assumptions) {
                SatResult::Unsat => drop(formulas.remove(at)),
                _ => at += 1,
            }
        }
        formulas
    }

    /// Answers an obligation, or adds one that has to be answered first.
    fn work_on(&mut self, index: usize) -> Result<Progress, Stop> {
        self.check_limits()?;
        self.show_progress();
        let obligation = self.obligations.get(index);
        let (predicate, level) = (obligation.predicate, obligation.level);
        let cube = obligation.cube.clone();
        match self.known(predicate, &cube, level)? {
            Known::Reached => return Ok(Progress::Reached),
            Known::Blocked(up_to) => {
                self.move_up(index, up_to);
                return Ok(Progress::Blocked);
            }
            Known::Open | Known::Unknown(_) => {}
        }
        let from = level.checked_sub(1);
        let query = Query {
            from,
            cube: &cube,
            assume: None,
            must: &[],
            reached: None,
            rule: None,
        };
        match self.ask(predicate, query)? {
            Answer::Unsat { cube, level } => {
                let (cube, level) = self.generalise(predicate, cube, level, from)?;
                let (cube, level) = match self.beyond_cells(predicate, &cube, from)? {
                    Some((cube, level)) => self.generalise(predicate, cube, level, from)?,
                    None => (cube, level),
                };
                let lemma = self.learn(predicate, &cube, level);
                let members = std::mem::take(self.obligations.members(index));
                self.subsume(predicate, &members, lemma)?;
                self.guide(index, lemma);
                self.spread(index, predicate, &cube);
                self.move_up(index, level);
                Ok(Progress::Blocked)
            }
            Answer::Sat => {
                let model = self.last_model(predicate)?;
                if self.reach(predicate, &cube, level)? {
                    return Ok(Progress::Reached);
                }
                let (child, child_cube) = self.predecessor(predicate, &cube, from, model)?;
                if !self.obligations.burn(index) {
                    self.obligations.give_up(index);
                    return Ok(Progress::Dropped);
                }
                let depth = self.obligations.get(index).depth + 1;
                let gas = self.obligations.get(index).gas;
                let Some(below) = from else {
                    return Err(failed(
                        "search",
                        "a rule without body atoms reached nothing",
                    ));
                };
                if log::log_enabled!(log::Level::Trace) {
                    let text = self.printed(self.terms.and(&child_cube));
                    log::trace!("obligation {} at {below}: {text}", self.name(child));
                }
                self.guide_by_cubes(child, &child_cube, below, index);
                self.frames[child].note_indexes(&self.terms, &child_cube);
                // The child comes first, for its level is lower.
                self.obligations.enqueue(index);
                self.obligations.add(Obligation {
                    predicate: child,
                    cube: child_cube,
                    level: below,
                    depth,
                    parent: Some(index),
                    closed: false,
                    gas,
                    members: Vec::new(),
                });
                Ok(Progress::Waits)
            }
            Answer::Unknown(why) => Err(self.gave_up(&why)),
        }
    }

    /// A generalisation of what a blocked cube says about an array's cells.
    fn beyond_cells(
        &mut self,
        predicate: usize,
        cube: &[TermId],
        from: Option<Level>,
    ) -> Result<Option<(Vec<TermId>, Level)>, Stop> {
        match self.set_apart(predicate, cube, from)? {
            Some(found) => Ok(Some(found)),
            None => self.quantify(predicate, cube, from),
        }
    }

    /// Closes a reached obligation and all that are reached because of it; whether the root is.
    fn wake_up(&mut self, mut index: usize, root: usize) -> Result<bool, Stop> {
        loop {
            self.obligations.close(index);
            if index == root {
                return Ok(true);
            }
            let parent = self.obligations.get(index).parent;
            let Some(parent) = parent.filter(|&p| !self.obligations.get(p).closed) else {
                return Ok(false);
            };
            self.check_limits()?;
            let obligation = self.obligations.get(parent);
            let (predicate, level) = (obligation.predicate, obligation.level);
            let cube = obligation.cube.clone();
            if !self.reach(predicate, &cube, level)? {
                return Ok(false);
            }
            index = parent;
        }
    }

    fn known(&mut self, predicate: usize, cube: &[TermId], level: Level) -> Result<Known, Stop> {
        let cover = self
            .covers
            .entry(predicate)
            .or_insert_with(|| Cover::new(&self.terms, &self.smt));
        let frame = &self.frames[predicate];
        let known = cover.look_up(cube, level, frame, &mut self.levels);
        match known {
            Known::Unknown(why) if self.cx.stop().is_some() => Err(self.gave_up(&why)),
            known => Ok(known),
        }
    }

    /// Asks a predicate's transition relation.
    fn ask(&mut self, predicate: usize, query: Query) -> Result<Answer, Stop> {
        self.check_limits()?;
        let Some(transition) = &mut self.transitions[predicate] else {
            return Err(failed("search", "a predicate without clauses"));
        };
        transition.catch_up(&self.frames, &mut self.levels);
        Ok(transition.query(query, &mut self.levels))
    }

    /// The model of the last query to a predicate's transition relation.
    fn last_model(&self, predicate: usize) -> Result<SmtModel, Stop> {
        let transition = self.transitions[predicate].as_ref();
        transition
            .and_then(Transition::model)
            .ok_or_else(|| failed("reading a model", "there is none"))
    }

    fn learn(&mut self, predicate: usize, cube: &[TermId], level: Level) -> usize {
        let (lemma, new) = self.frames[predicate].add(&self.terms, cube, level);
        self.counters.lemmas += u64::from(new);
        if log::log_enabled!(log::Level::Trace) {
            let text = self.printed(self.frames[predicate].lemmas[lemma].clause);
            log::trace!("lemma {} at {level}: {text}", self.name(predicate));
        }
        lemma
    }

    fn printed(&self, formula: TermId) -> String {
        Printer::new(&self.terms).term(formula)
    }

    /// An obligation is blocked up to a level.
    fn move_up(&mut self, index: usize, blocked: Level) {
        if self.obligations.get(index).gas.is_some() {
            // Its lemma is pushed like others; trying again is not worth the steps.
            return self.obligations.close(index);
        }
        match blocked.checked_add(1) {
            Some(next) if next != INFINITE => self.obligations.requeue(index, next),
            _ => self.obligations.close(index),
        }
    }

    fn check_limits(&self) -> Result<(), Stop> {
        if let Some(reason) = self.cx.stop() {
            return Err(Stop::Reason(reason));
        }
        Ok(())
    }

    /// The reason for a query without answer: the limits of the run, or of the oracle.
    fn gave_up(&self, why: &str) -> Stop {
        let reason = self.cx.stop();
        Stop::Reason(reason.unwrap_or_else(|| Reason::Incomplete(format!("the oracle: {why}"))))
    }

    fn show_progress(&mut self) {
        let (queries, _) = self.smt.usage();
        let (obligations, counters, started) =
            (self.obligations.len(), &self.counters, self.started);
        let level = self.cx.stats.count("pdr.level");
        self.cx.progress.tick(|| {
            let seconds = started.elapsed().as_secs_f64();
            format!(
                "pdr: level {level}, {obligations} obligations, {} lemmas, {} facts, \
                 {:.0} queries/s, {seconds:.1} s",
                counters.lemmas,
                counters.facts,
                queries as f64 / seconds.max(0.001),
            )
        });
    }

    fn record_statistics(&mut self) {
        let Counters {
            lemmas,
            facts,
            dropped,
            pushes,
            pushed,
            conjectures,
            concretised,
            subsumed,
            quantified,
            quantify_failures,
            set_apart,
        } = self.counters;
        let (queries, time) = self.smt.usage();
        let (queries, time) = (queries - self.usage.0, time - self.usage.1);
        let stats = &mut self.cx.stats;
        for (name, value) in [
            ("pdr.lemmas", lemmas),
            ("pdr.facts", facts),
            ("pdr.literals-dropped", dropped),
            ("pdr.pushes-tried", pushes),
            ("pdr.pushes-done", pushed),
            ("pdr.conjectures", conjectures),
            ("pdr.literals-concretised", concretised),
            ("pdr.lemmas-subsumed", subsumed),
            ("pdr.quantified", quantified),
            ("pdr.quantified-not", quantify_failures),
            ("pdr.indexes-equated", set_apart),
            ("pdr.obligations", self.obligations.len() as u64),
            ("pdr.queries", queries),
        ] {
            stats.add(name, value);
        }
        stats.add_time("pdr.smt", time);
    }
}
