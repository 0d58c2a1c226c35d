//! The loop of Fig. 5.
//!
//! Invariant (Lemma 1, Theorem 1): the invariants are inductive for the clauses with all their
//! constraints, whatever the abstraction and the bounds; a model consists of invariants that
//! exclude `false`, and a refutation is a counterexample that is feasible in the clauses.

use std::rc::Rc;
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};

use super::abstraction::{abstraction, needed};
use super::assumptions::Assumptions;
use super::bounding::Bounding;
use super::constraints::{Constraints, InForce};
use super::limits::LIMITS;
use super::options::{self, Next, Options, Solver};
use super::oracle::{FromScratch, Incremental, Question, Solution, Solve};
use super::proof::{ALL, Height, Lemma};
use super::refine::{Refined, Refinement};
use crate::muz;
use alphorn_chc::{PredicateId, Shape, System};
use alphorn_engine::EngineError;
use alphorn_proof::facts::{Lemmas, Leveled};
use alphorn_proof::{Failure, confirm};
use alphorn_smt::{Arithmetic, Smt};
use alphorn_term::TermId;
use alphorn_term::run::Reason;
use alphorn_term::run::{Budget, Context};
use alphorn_witness::{Model, Refutation, Verdict};

/// The columns of Table 1 for a run.
#[derive(Default, Debug, Clone)]
pub(super) struct Table {
    /// Questions to the oracle.
    pub iterations: u64,
    /// B: the largest bound at the end.
    pub bound: u32,
    /// a_f: the part of Σ in force in the last question, in percent.
    pub last: u64,
    /// a_m: the largest part of Σ in force in a question, in percent.
    pub largest: u64,
    /// The part of Σ that the model's invariants need, in percent.
    pub needed: Option<u64>,
    /// The time of each [`Routine`].
    times: [Duration; 5],
}

/// The routines of Fig. 5 whose time is measured.
#[derive(Clone, Copy)]
enum Routine {
    Solve,
    ExtractInvs,
    Abstract,
    NextU,
    Refine,
}

impl Routine {
    const NAMES: [&'static str; 5] = ["solve", "extract-invs", "abstract", "next-u", "refine"];
}

/// The state of the loop.
pub(super) struct Search<'a> {
    /// P, the clauses.
    system: &'a System,
    options: Options,
    smt: Rc<Smt>,
    arithmetic: Arithmetic,
    bounding: Bounding,
    /// P̃, the clauses with counters, with the constraints of the last U.
    bounded: System,
    /// τ_B of each clause.
    steps: Vec<TermId>,
    assumptions: Assumptions,
    constraints: Constraints,
    oracle: Box<dyn Solve>,
    /// Σ̂, the assumptions in force.
    in_force: FxHashSet<TermId>,
    /// Whether heights bound the derivations, not counters.
    by_heights: bool,
    /// bvals: the bound of each loop.
    values: Vec<u32>,
    /// The bound of heights, if these are bounded.
    height: Height,
    /// Whether the next question has no bounds.
    unbounded: bool,
    /// I, the invariants of P̃.
    invariants: Vec<Lemma>,
    /// Other lemmas that hold in the next U, or in the last one when a limit ended the run.
    known: Vec<Lemma>,
    /// The work of the last SOLVE that gave a proof.
    proof_work: Duration,
    /// The work of counterexamples since then: SOLVE and REFINE.
    refinement_work: Duration,
    /// What the statistics show.
    pub table: Table,
}

impl<'a> Search<'a> {
    /// INITU: all of Σ is in force, and all bounds are zero.
    pub fn new(system: &'a System, options: Options, budget: &Budget) -> Self {
        let smt = Smt::within(budget);
        let arithmetic = match Shape::of(system).theories.nonlinear_arithmetic {
            true => Arithmetic::Current,
            false => Arithmetic::Simplex,
        };
        smt.set_arithmetic(arithmetic);
        let by_heights =
            options.bounding == options::Bounding::Heights && options.oracle == Solver::Pdr;
        let bounding = match by_heights {
            true => Bounding::none(system),
            false => Bounding::counters(system),
        };
        let (bounded, steps) = bounding.bounded(system);
        let assumptions = Assumptions::new(system, options.granularity);
        let constraints = Constraints::new(&bounded, &assumptions, &steps, &smt);
        let oracle: Box<dyn Solve> = match options.oracle {
            Solver::Pdr => Box::new(Incremental::new(&smt)),
            Solver::Muz => Box::new(FromScratch {
                engine: Box::new(muz::Muz::default()),
            }),
        };
        Search {
            by_heights,
            values: vec![0; bounding.loops.len()],
            height: 0,
            unbounded: false,
            in_force: assumptions.all.iter().copied().collect(),
            invariants: Vec::new(),
            known: Vec::new(),
            proof_work: Duration::ZERO,
            refinement_work: Duration::ZERO,
            table: Table::default(),
            system,
            options,
            smt,
            arithmetic,
            bounding,
            bounded,
            steps,
            assumptions,
            constraints,
            oracle,
        }
    }

    /// The solver context, shared by all routines.
    pub fn smt(&self) -> &Rc<Smt> {
        &self.smt
    }

    /// Starts the loop from the frames of an earlier search: their highest finite level is the
    /// first bound of heights. Without effect if counters bound derivations.
    pub fn resume(&mut self, earlier: Vec<Leveled>) {
        if !self.by_heights {
            return;
        }
        let levels = earlier.iter().map(|claim| claim.level);
        self.height = levels.filter(|&level| level != ALL).max().unwrap_or(0);
        self.oracle.resume(earlier);
    }

    /// The lemmas for later searches when the loop ends without an answer; none with counters.
    pub fn lemmas(&self) -> Lemmas {
        let mut left = Lemmas::default();
        if !self.by_heights {
            return left;
        }
        for lemma in self.invariants.iter().chain(&self.known) {
            let Some(predicate) = lemma.about else {
                continue;
            };
            let formula = lemma.formula;
            match lemma.height {
                ALL => left.proven.push((predicate, formula)),
                _ => left.candidates.push((predicate, formula)),
            }
            left.frames.push(Leveled {
                predicate,
                formula,
                level: lemma.height,
            });
        }
        let is_high =
            |lemma: &Leveled| lemma.level != ALL && lemma.level >= LIMITS.least_height_left;
        if !left.frames.iter().any(is_high) {
            left.frames.clear();
        }
        left
    }

    /// SPACER, the main loop.
    ///
    /// # Errors
    /// A defect of the oracle or of its counterexample.
    pub fn run(&mut self, cx: &mut Context) -> Result<Verdict, EngineError> {
        loop {
            if let Some(reason) = cx.stop() {
                return Ok(Verdict::Unknown(reason));
            }
            self.table.iterations += 1;
            self.note_abstraction();
            self.show_progress(cx);
            let started = Instant::now();
            let work = self.system.terms.work();
            self.restrict();
            let whole = self.in_force.len() == self.assumptions.all.len();
            let question = Question {
                whole,
                system: &self.bounded,
                height: (self.by_heights && !self.unbounded).then_some(self.height),
                known: &known(&self.invariants, &self.known),
            };
            let solution = self.oracle.solve(&question, cx);
            self.count(Routine::Solve, started);
            match solution? {
                Solution::Unknown(reason, lemmas) => {
                    self.keep(lemmas);
                    return Ok(Verdict::Unknown(reason));
                }
                Solution::Safe(proof) => {
                    self.proof_work = self.system.terms.work().saturating_sub(work);
                    self.refinement_work = Duration::ZERO;
                    if let Some(model) = self.generalise(proof, cx) {
                        return Ok(Verdict::Sat(model));
                    }
                }
                Solution::Unsafe(counterexample, lemmas) => {
                    let started = Instant::now();
                    let all = self.is_all_due(work);
                    let verdict = self.refine(&counterexample, all, cx);
                    self.count(Routine::Refine, started);
                    self.refinement_work += self.system.terms.work().saturating_sub(work);
                    if let Some(verdict) = verdict? {
                        return Ok(verdict);
                    }
                    // A lemma of an under-approximation holds in a smaller one.
                    self.keep(lemmas);
                    self.bound_again(&counterexample);
                }
            }
        }
    }

    /// Whether a spurious counterexample, whose SOLVE began at this work, puts all of Σ in force.
    fn is_all_due(&self, began: Duration) -> bool {
        match self.options.refinement {
            options::Refinement::Cegar => false,
            options::Refinement::Pba => true,
            options::Refinement::Hybrid => {
                let own = self.system.terms.work().saturating_sub(began);
                let proof = self.proof_work.max(LIMITS.least_proof);
                self.refinement_work + own > proof * LIMITS.cores_percent / 100
            }
        }
    }

    /// Keeps those lemmas for the next U that are no invariants.
    fn keep(&mut self, lemmas: Vec<Lemma>) {
        self.known = self.without_invariants(lemmas);
    }

    /// Adds the time since `since` to that of a routine.
    fn count(&mut self, routine: Routine, since: Instant) {
        self.table.times[routine as usize] += since.elapsed();
    }

    /// ADAPT: sets the constraints of U_I from the abstraction, the bounds and the invariants.
    fn restrict(&mut self) {
        let terms = self.system.terms.clone();
        let mut about: FxHashMap<Option<PredicateId>, Vec<TermId>> = FxHashMap::default();
        for lemma in &self.invariants {
            about.entry(lemma.about).or_default().push(lemma.formula);
        }
        let about: FxHashMap<Option<PredicateId>, TermId> = about
            .into_iter()
            .map(|(p, formulas)| (p, terms.and(&formulas)))
            .collect();
        // `pdr` has the invariants at body atoms as lemmas.
        let sources = self.options.oracle == Solver::Muz;
        // With bounded heights the constraints stay the same, so that `pdr` keeps its frames.
        let targets = sources || self.unbounded || !self.by_heights;
        for index in 0..self.bounded.clauses.len() {
            let clause = &self.bounded.clauses[index];
            let mut parts = vec![self.assumptions.abstraction(&terms, index, &self.in_force)];
            if !self.unbounded {
                let step = self.steps[index];
                parts.push(self.bounding.with_values(&terms, step, &self.values));
            }
            let body = clause.body.iter().filter(|_| sources);
            let head = clause.head.iter();
            let head = head.filter(|_| targets);
            for atom in body.chain(head) {
                if let Some(&invariant) = about.get(&Some(atom.predicate)) {
                    parts.push(self.bounded.instantiate(invariant, atom));
                }
            }
            self.bounded.clauses[index].constraint = terms.and(&parts);
        }
    }

    /// After a proof of U: EXTRACTINVS, ABSTRACT, NEXTU. Returns a model if the invariants exclude
    /// `false`.
    fn generalise(&mut self, proof: Vec<Lemma>, cx: &Context) -> Option<Model> {
        let proof = self.without_invariants(proof);
        let started = Instant::now();
        let before = self.invariants.len();
        let candidates = self.extract_invariants(&proof, cx);
        let safe = self.invariants[before..].iter().any(|l| l.about.is_none());
        self.count(Routine::ExtractInvs, started);
        if safe {
            self.log("safe", proof.len(), before);
            return Some(self.model(cx));
        }
        let proof = self.without_invariants(proof);
        let started = Instant::now();
        self.abstract_(&proof, cx);
        self.count(Routine::Abstract, started);
        self.log("safe", proof.len(), before);
        let started = Instant::now();
        self.next_under_approximation(&candidates);
        self.known = self.still_valid(&proof, cx);
        self.count(Routine::NextU, started);
        None
    }

    /// The lemmas without repetitions and without those that are invariants.
    fn without_invariants(&self, lemmas: Vec<Lemma>) -> Vec<Lemma> {
        let known: FxHashSet<(Option<PredicateId>, TermId)> = self
            .invariants
            .iter()
            .map(|l| (l.about, l.formula))
            .collect();
        let mut seen = FxHashSet::default();
        let new = lemmas.into_iter().filter(|l| {
            l.formula != TermId::TRUE
                && !known.contains(&(l.about, l.formula))
                && seen.insert((l.about, l.formula, l.height))
        });
        new.collect()
    }

    /// EXTRACTINVS: adds to I the lemmas of a proof that are inductive with all of Σ. Returns the
    /// predicates with lemmas that are not.
    fn extract_invariants(&mut self, proof: &[Lemma], cx: &Context) -> FxHashSet<PredicateId> {
        let mut seen = FxHashSet::default();
        // A lemma that `pdr` did not push to the bound is taken not to be inductive, except where cores
        // left constraints out: all constraints may preserve it.
        let whole = self.in_force.len() == self.assumptions.all.len();
        let pushed = whole || self.options.refinement == options::Refinement::Pba;
        let least = match self.by_heights && !self.unbounded && pushed {
            true => self.height,
            false => 0,
        };
        let candidates: Vec<Lemma> = proof
            .iter()
            .filter(|l| l.height >= least && seen.insert((l.about, l.formula)))
            .map(|l| l.of_height(ALL))
            .collect();
        let in_force = InForce {
            bounds: &[],
            invariants: &self.invariants,
        };
        let extraction = self.options.extraction;
        let constraints = &mut self.constraints;
        let kept =
            constraints.inductive_subset(&candidates, None, in_force, extraction, &cx.budget);
        let kept: FxHashSet<usize> = kept.into_iter().collect();
        let mut others = FxHashSet::default();
        for (at, lemma) in candidates.into_iter().enumerate() {
            if kept.contains(&at) {
                self.invariants.push(lemma);
            } else {
                others.extend(lemma.about);
            }
        }
        others
    }

    /// The bounds of loops as assumptions for C.
    fn bounds(&self) -> Vec<TermId> {
        if self.unbounded {
            return Vec::new();
        }
        let terms = &self.system.terms;
        let values = self.values.iter().enumerate();
        values
            .map(|(at, &value)| self.bounding.at_most(terms, at, value))
            .collect()
    }

    /// ABSTRACT: puts in force the assumptions that the proof needs, instead of those before.
    fn abstract_(&mut self, proof: &[Lemma], cx: &Context) {
        let in_force = InForce {
            bounds: &self.bounds(),
            invariants: &self.invariants,
        };
        // Assumptions that are in force are preferred.
        let preferred = &self.in_force;
        let constraints = &mut self.constraints;
        let needs = abstraction(constraints, proof, in_force, preferred, &cx.budget);
        if let Some(needs) = needs {
            self.in_force = needs;
        } else if cx.stop().is_none() {
            log::debug!("spacer: the proof cannot be confirmed; the abstraction is kept");
        }
    }

    /// Records the part of Σ in force for the table. The first question has all of it (INITU) and
    /// counts only if it is the only one.
    fn note_abstraction(&mut self) {
        self.table.last = self.percent(self.in_force.len());
        self.table.largest = match self.table.iterations {
            1 | 2 => self.table.last,
            _ => self.table.largest.max(self.table.last),
        };
    }

    /// A number of assumptions in percent of all, rounded down.
    fn percent(&self, size: usize) -> u64 {
        let all = self.assumptions.all.len();
        (100 * size).checked_div(all).unwrap_or(100) as u64
    }

    /// NEXTU: drops the bounds, or raises those of heights or loops.
    fn next_under_approximation(&mut self, not_inductive: &FxHashSet<PredicateId>) {
        let bounded = self.by_heights || !self.values.is_empty();
        if self.options.next == Next::Unbounded && bounded && !self.unbounded {
            self.unbounded = true;
            return;
        }
        self.unbounded = false;
        if self.by_heights {
            self.height += 1;
            return;
        }
        let chosen = |at: usize| not_inductive.contains(&self.bounding.loops[at].0);
        let some = (0..self.values.len()).any(chosen);
        let all = self.options.next != Next::NonInductive || !some;
        let raised: Vec<usize> = (0..self.values.len())
            .filter(|&at| all || chosen(at))
            .collect();
        for at in raised {
            self.values[at] += 1;
        }
    }

    /// After an abstraction without bounds was not safe: restores the bounds and raises them; that
    /// of heights at least to the height of the counterexample.
    fn bound_again(&mut self, counterexample: &Refutation) {
        if !self.unbounded {
            return;
        }
        self.next_under_approximation(&FxHashSet::default());
        if self.by_heights {
            let least = self.height + self.height / LIMITS.height_growth_divisor;
            self.height = least.max(height_of(counterexample));
        }
    }

    /// The lemmas that also hold in the new under-approximation of the new abstraction.
    fn still_valid(&mut self, proof: &[Lemma], cx: &Context) -> Vec<Lemma> {
        let in_force = InForce {
            bounds: &self.bounds(),
            invariants: &self.invariants,
        };
        let sigma = Some(&self.in_force);
        let extraction = self.options.extraction;
        let constraints = &mut self.constraints;
        let kept = constraints.inductive_subset(proof, sigma, in_force, extraction, &cx.budget);
        kept.into_iter().map(|l| proof[l].clone()).collect()
    }

    /// REFINE: a verdict if the counterexample is feasible or not decided; otherwise adds
    /// assumptions that exclude it, or `all`.
    fn refine(
        &mut self,
        counterexample: &Refutation,
        all: bool,
        cx: &Context,
    ) -> Result<Option<Verdict>, EngineError> {
        let failed = |message| {
            EngineError::Failed(Failure {
                step: "refining an abstraction",
                message,
            })
        };
        // Invariants with counters are over variables that `system` does not have.
        let plain: Vec<Lemma> = self
            .invariants
            .iter()
            .filter(|l| {
                let free = self.system.terms.free_vars(&[l.formula]);
                let mut counters = l.about.into_iter().flat_map(|p| self.bounding.of(p));
                !counters.any(|c| free.contains(&c))
            })
            .cloned()
            .collect();
        let before = self.in_force.len();
        for invariants in [&plain[..], &[]] {
            let refinement = Refinement {
                system: self.system,
                assumptions: &self.assumptions,
                smt: &self.smt,
                in_force: &self.in_force,
                invariants,
                core_queries: match all {
                    // All of Σ is put in force, so no core is needed.
                    true => 0,
                    false => LIMITS.core_queries,
                },
                limit: LIMITS.unrolled_work,
                arithmetic: self.arithmetic,
            };
            let mut refined = refinement.refine(counterexample, cx).map_err(failed)?;
            if let Refined::Unknown(_) = refined {
                refined = refinement.by_steps(counterexample, cx).map_err(failed)?;
            }
            match refined {
                Refined::Feasible(refutation) => {
                    log::info!(
                        "iteration {}: a counterexample of {} steps is feasible",
                        self.table.iterations,
                        refutation.steps.len()
                    );
                    return Ok(Some(confirm(self.system, refutation, &self.smt, cx)));
                }
                Refined::Unknown(why) => {
                    let reason = cx.stop().unwrap_or_else(|| {
                        Reason::Incomplete(format!(
                            "the feasibility of a counterexample is unknown: {why}"
                        ))
                    });
                    return Ok(Some(Verdict::Unknown(reason)));
                }
                Refined::Spurious(core) => match all {
                    true => self.in_force.extend(&self.assumptions.all),
                    false => self.in_force.extend(core),
                },
            }
            if self.in_force.len() > before {
                break;
            }
        }
        if self.in_force.len() == before {
            if before == self.assumptions.all.len() {
                let what = "a counterexample is infeasible, but all constraints are in force";
                return Ok(Some(Verdict::Unknown(Reason::Incomplete(what.to_owned()))));
            }
            self.in_force.extend(&self.assumptions.all);
        }
        self.log(
            "spurious",
            counterexample.steps.len(),
            self.invariants.len(),
        );
        Ok(None)
    }

    /// The model of the invariants that exclude `false`, with counters eliminated.
    fn model(&mut self, cx: &Context) -> Model {
        let in_force = InForce {
            bounds: &[],
            invariants: &[],
        };
        let needed = needed(
            &mut self.constraints,
            &self.invariants,
            in_force,
            &cx.budget,
        );
        let needed = match needed {
            Some(needed) => {
                self.table.needed = Some(self.percent(needed.optional.len()));
                needed.lemmas
            }
            None => (0..self.invariants.len()).collect(),
        };
        let mut parts: FxHashMap<PredicateId, Vec<TermId>> = FxHashMap::default();
        for lemma in needed {
            let Lemma { about, formula, .. } = self.invariants[lemma];
            if let Some(predicate) = about {
                let for_all = self.bounding.for_all(&self.smt, predicate, formula, cx);
                parts.entry(predicate).or_default().push(for_all);
            }
        }
        let mut model = Model::default();
        for predicate in self.system.used_predicates() {
            let parts = parts.remove(&predicate).unwrap_or_default();
            model
                .definitions
                .insert(predicate, self.system.terms.and(&parts));
        }
        model
    }

    /// The largest bound of a loop, or that of heights.
    fn bound(&self) -> u32 {
        let values = self.values.iter().copied().max();
        if self.by_heights {
            return self.height;
        }
        values.unwrap_or(0)
    }

    /// Logs the end of an iteration.
    fn log(&self, what: &str, size: usize, invariants_before: usize) {
        let unit = match what {
            "spurious" => "steps",
            _ => "lemmas",
        };
        log::info!(
            "iteration {}: {}: {what}, {size} {unit}; {} invariants, {} new; \
             {} of {} assumptions",
            self.table.iterations,
            match self.unbounded {
                true => "no bound".to_owned(),
                false => format!("bound {}", self.bound()),
            },
            self.invariants.len(),
            self.invariants.len() - invariants_before,
            self.in_force.len(),
            self.assumptions.all.len(),
        );
    }

    fn show_progress(&self, cx: &mut Context) {
        cx.progress.tick(|| {
            format!(
                "iteration {}, bound {}, {} invariants, {} of {} assumptions",
                self.table.iterations,
                self.bound(),
                self.invariants.len(),
                self.in_force.len(),
                self.assumptions.all.len(),
            )
        });
    }

    /// Adds the columns of Table 1 and the times of the routines to the statistics.
    pub fn record_statistics(&mut self, cx: &mut Context) {
        self.table.bound = self.bound();
        let Table {
            iterations,
            bound,
            last,
            largest,
            needed,
            times,
        } = self.table.clone();
        for (name, value) in [
            ("spacer.iterations", iterations),
            ("spacer.B", u64::from(bound)),
            ("spacer.a_f-percent", last),
            ("spacer.a_m-percent", largest),
            ("spacer.assumptions", self.assumptions.all.len() as u64),
            (
                "spacer.predicates",
                self.system.used_predicates().len() as u64,
            ),
            ("spacer.invariants", self.invariants.len() as u64),
        ] {
            cx.stats.set(name, value);
        }
        if let Some(needed) = needed {
            cx.stats.set("spacer.needed-percent", needed);
        }
        for (name, time) in Routine::NAMES.iter().zip(times) {
            cx.stats.add_time(&format!("spacer.{name}"), time);
        }
    }
}

/// The height of a derivation; that of a step without premises is zero.
pub(super) fn height_of(derivation: &Refutation) -> Height {
    let mut heights: Vec<Height> = Vec::with_capacity(derivation.steps.len());
    for step in &derivation.steps {
        let premises = step.premises.iter();
        let below = premises.filter_map(|&p| heights.get(p)).max();
        heights.push(below.map_or(0, |h| h + 1));
    }
    heights.last().copied().unwrap_or(0)
}

/// All lemmas that hold in an under-approximation.
fn known(invariants: &[Lemma], others: &[Lemma]) -> Vec<Lemma> {
    invariants.iter().chain(others).cloned().collect()
}
