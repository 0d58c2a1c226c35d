//! Lemmas about several facts at once, proven by induction on derivations.
//!
//! A query such as `fib(m, a) ∧ fib(n, b) ∧ m < n ∧ a > b` speaks of several derivations. A model in
//! linear arithmetic would have to define Fibonacci's numbers; what is short is a lemma about two facts,
//! `fib(m, a) ∧ fib(n, b) ∧ m < n ⇒ a ≤ b`. Functions stay predicates, so all questions are linear.
//!
//! # Procedure
//!
//! - **Tables** (`tables`): facts are derived bottom-up. They say which argument is an output, and what
//!   facts falsify is no candidate.
//! - **Queries** are lemmas (`statement`), and so are they with clauses in the places of atoms that are
//!   not recursive.
//! - **Proofs** (`prove`): the negated lemma is assumed, the slots are unfolded one after the other, then
//!   some further atoms. At each node, while the solver has a model, instances of lemmas that it
//!   violates are added; no triggers are needed. A lemma of the same group may be used for smaller
//!   derivations (`witness::derivations`).
//! - **Candidates** are proven together (`library`, Houdini), in rounds: none; bounds of single facts;
//!   functionality and symmetry; queries with premises that calls preserve (`calls`); queries with weaker
//!   premises (`weaken`), orders of two facts, affine hulls (`affine`); the queries with further facts
//!   that exist since a predicate is total (`ghosts`, `totality`), which commutativity needs; statements
//!   that failed leaves ask for (`residue`); lemmas that conclude a fact.
//! - **Facts** (`facts`, `derive`): the last round has lemmas `P1 ∧ … ∧ Pn ∧ φ ⇒ R(t)`. They add facts to
//!   contexts; their own conclusion is reached from the facts at hand by clauses. Since a table may
//!   lack a fact, candidates are tested by a search for derivations (`answers`).
//!
//! With a proof, predicates that are total functions have a model by recursive functions (`functions`).
//!
//! # Sources
//!
//! Induction on derivations: Unno, Torii, Sakamoto, "Automating Induction for Solving Horn Clauses" (CAV
//! 2017). Deviations: lemmas are read off tables, instances are chosen by models, and the order of
//! derivations is that of multisets (Dershowitz, Manna 1979), so that one lemma may be used at several
//! premises. Houdini: Flanagan, Leino (FME 2001). Affine hulls: Karr (1976).
//!
//! Invariant: `Sat` comes with a model whose clauses were found valid, `Proven` with a proof of each
//! lemma that it needs; the engine never answers `Unsat`.

mod affine;
mod answers;
mod calls;
mod candidates;
mod derive;
mod facts;
mod functions;
mod ghosts;
mod instances;
mod leaves;
mod library;
mod limits;
mod literal;
mod plans;
mod prove;
mod residue;
mod space;
mod statement;
mod tables;
#[cfg(test)]
mod tests;
mod totality;
mod weaken;

use std::rc::Rc;

use rustc_hash::FxHashSet;

use self::affine::affine;
use self::calls::preserved;
pub use self::functions::function_model;

use self::candidates::{distinct, functional, of_one_fact, pairs};
use self::library::Library;
use self::limits::LIMITS;
use self::literal::{Key, Lemma, Origin};
use self::prove::{Effort, Leaf, Number, Prover};
use self::residue::residues;
use self::space::Space;
use self::statement::{Body, of_body, with_constants, without_difference};
use self::totality::totals;
use self::weaken::variants;
use alphorn_chc::{PredicateId, Shape, System};
use alphorn_engine::settings::Setting;
use alphorn_engine::{Engine, EngineError, Unsupported, driver};
use alphorn_proof::{Stop, incomplete};
use alphorn_smt::{Arithmetic, SatResult, Smt, Solver};
use alphorn_term::TermId;
use alphorn_term::run::Context;
use alphorn_witness::{Derivations, Instance, Model, RelationalLemma, Verdict};

/// The engine `relate`.
#[derive(Clone, Debug, Default)]
pub struct Relate;

impl Engine for Relate {
    fn name(&self) -> &'static str {
        "relate"
    }

    /// Small systems whose clauses or queries speak of several recursive facts, without quantifiers.
    fn supports(&self, shape: &Shape) -> Result<(), Unsupported> {
        supports(self.name(), shape)
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        Vec::new()
    }

    fn solve(&mut self, system: &System, cx: &mut Context) -> Result<Verdict, EngineError> {
        driver::run(&*self, system, Arithmetic::default(), cx, |smt, cx| {
            decide(system, smt, cx)
        })
    }
}

/// Whether a shape is one for proofs about several facts.
///
/// # Errors
/// The first feature that is not supported.
pub(crate) fn supports(engine: &'static str, shape: &Shape) -> Result<(), Unsupported> {
    let what = match shape.theories {
        t if t.quantifier => "quantifiers",
        t if t.real => "reals",
        _ if !shape.relates_facts => "clauses that speak of one recursive fact each",
        _ if shape.clauses > LIMITS.clauses => "many clauses",
        _ if shape.arguments > LIMITS.arguments * shape.predicates => "many arguments",
        _ => return Ok(()),
    };
    Err(Unsupported {
        engine,
        what: what.to_owned(),
    })
}

/// Proves the queries.
fn decide(system: &System, smt: &Rc<Smt>, cx: &mut Context) -> Result<Verdict, Stop> {
    if system
        .predicates
        .iter()
        .any(|p| p.arity() > LIMITS.arguments)
    {
        return Err(incomplete("a predicate of many arguments"));
    }
    let constraints: Vec<TermId> = system.clauses.iter().map(|c| c.constraint).collect();
    if system.terms.dag_size(&constraints) > LIMITS.all_terms {
        return Err(incomplete("large constraints"));
    }
    let space = Space::new(system, cx);
    let facts: usize = system
        .used_predicates()
        .iter()
        .map(|&p| space.tables.rows(p).len())
        .sum();
    cx.stats.set("relate.facts", facts as u64);
    let mut run = Run::new(&space, smt);
    let verdict = run.rounds(cx);
    cx.stats.set("relate.lemmas", run.library.count() as u64);
    cx.stats.set("relate.checks", run.prover.checks);
    cx.stats.set("relate.round", run.round);
    match verdict {
        Some(verdict) => Ok(verdict),
        None => Err(match cx.stop() {
            Some(reason) => Stop::Reason(reason),
            None => incomplete("no proof by induction on derivations was found"),
        }),
    }
}

/// A query that is not refuted yet, or what it needs: an unfolded query, or a clause of a predicate
/// without arguments, such as an error location, which queries should not reach.
struct Goal {
    /// Its position among the queries.
    query: Option<usize>,
    /// The lemma that its body is contradictory.
    lemma: Number,
}

/// The state of a search.
struct Run<'a, 's> {
    space: &'s Space<'a>,
    prover: Prover<'a, 's>,
    library: Library,
    /// For entailment, apart from the prover's.
    solver: Solver,
    goals: Vec<Goal>,
    /// The instances that refute each query.
    refuted: Vec<Option<Vec<Instance>>>,
    /// Leaves of goals and of candidates that stayed open.
    open: Vec<(Number, Leaf)>,
    /// Some queries with weaker premises.
    weakened: Vec<Lemma>,
    round: u64,
}

/// The goals of a system; with `patterns` they say what queries say of parts of arguments, too.
fn goals(space: &Space<'_>, library: &mut Library, patterns: bool) -> Vec<Goal> {
    let mut goals: Vec<Goal> = Vec::new();
    let mut number = |body: &Body| library.number(of_body(space, body, patterns));
    for (at, clause) in space.system.clauses.iter().enumerate() {
        let is_error = clause
            .head
            .as_ref()
            .is_some_and(|head| head.args.is_empty());
        if is_error && !clause.body.is_empty() {
            let lemma = number(&Body::of(space, at));
            goals.push(Goal { query: None, lemma });
        }
    }
    for (query, &clause) in space.queries.iter().enumerate() {
        for body in Body::of(space, clause).unfolded(space) {
            let lemma = number(&body);
            if !goals.iter().any(|goal: &Goal| goal.lemma == lemma) {
                goals.push(Goal { query: None, lemma });
            }
        }
        goals.push(Goal {
            query: Some(query),
            lemma: number(&Body::of(space, clause)),
        });
    }
    goals
}

impl<'a, 's> Run<'a, 's> {
    fn new(space: &'s Space<'a>, smt: &Rc<Smt>) -> Self {
        let mut library = Library::default();
        let goals = goals(space, &mut library, false);
        Run {
            space,
            prover: Prover::new(space, smt),
            library,
            solver: smt.solver(),
            goals,
            refuted: vec![None; space.queries.len()],
            open: Vec::new(),
            weakened: Vec::new(),
            round: 0,
        }
    }

    /// The rounds, until all queries are refuted.
    fn rounds(&mut self, cx: &Context) -> Option<Verdict> {
        if !self.goals_hold() {
            return self.last(cx);
        }
        let predicates = self.space.system.used_predicates();
        let effort = |depth, nodes| Effort {
            depth,
            nodes,
            facts: false,
        };
        if self.attempt(effort(1, 60), cx) {
            return self.verdict();
        }
        self.next_round(1, cx)?;
        let bounds = predicates.iter().flat_map(|&p| of_one_fact(self.space, p));
        self.candidates(bounds.collect(), effort(1, 25), cx);
        if self.attempt(effort(2, 150), cx) {
            return self.verdict();
        }
        if self.drop_differences() && self.attempt(effort(2, 150), cx) {
            return self.verdict();
        }
        self.next_round(2, cx)?;
        let functional = predicates.iter().flat_map(|&p| functional(self.space, p));
        self.candidates(functional.collect(), effort(1, 40), cx);
        if self.attempt(effort(2, 150), cx) {
            return self.verdict();
        }
        let preserved = self.preserved_goals(cx);
        self.candidates(preserved, effort(1, 60), cx);
        if self.attempt(effort(2, 150), cx) {
            return self.verdict();
        }
        self.next_round(3, cx)?;
        if self.library.count() == 0 {
            // Lemmas about several facts build on lemmas about one or two.
            log::debug!("relate: nothing is proven of single facts");
            return self.last(cx);
        }
        let mut found = self.weakened_goals(cx);
        self.weakened = found.iter().take(LIMITS.ghost_goals).cloned().collect();
        for &predicate in &predicates {
            found.extend(pairs(self.space, predicate, predicate));
        }
        let together = self.together();
        for &(p, q) in &together {
            found.extend(pairs(self.space, p, q));
        }
        found.extend(affine(self.space, &predicates, &together, cx));
        let mut tried: FxHashSet<Key> = found.iter().map(Lemma::key).collect();
        self.candidates(distinct(found), effort(2, 60), cx);
        if self.attempt(effort(2, 300), cx) {
            return self.verdict();
        }
        self.next_round(4, cx)?;
        // Some proofs need residues and no ghosts.
        let mut part = Context::new(cx.terms.clone());
        part.budget = cx.budget.work(LIMITS.ghost_work);
        if self.ghosts(&part) {
            return self.verdict();
        }
        let ended_with = part.stop().is_none().then_some(self.library.count());
        self.next_round(5, cx)?;
        for _ in 0..LIMITS.residue_rounds {
            let Some(found) = self.residues(&mut tried, cx) else {
                break;
            };
            self.candidates(found, effort(2, 100), cx);
            if self.attempt(effort(3, 400), cx) {
                return self.verdict();
            }
        }
        self.next_round(6, cx)?;
        if ended_with != Some(self.library.count()) && self.ghosts(cx) {
            return self.verdict();
        }
        self.last(cx)
    }

    /// Whether no facts falsify the goals, and these are small.
    fn goals_hold(&mut self) -> bool {
        // A clause without arguments may be reachable where no query asks for it.
        self.goals.retain(|goal| {
            let lemma = self.library.lemma(goal.lemma);
            goal.query.is_some() || self.space.holds(lemma)
        });
        for goal in &self.goals {
            let lemma = self.library.lemma(goal.lemma);
            log::debug!("relate: goal {}", self.space.show(lemma));
            if lemma.slots.len() > LIMITS.goal_slots || !self.space.holds(lemma) {
                log::debug!("relate: facts falsify a query, or it has many atoms");
                return false;
            }
        }
        true
    }

    /// The last round. Its goals say what queries say of parts of arguments.
    fn last(&mut self, cx: &Context) -> Option<Verdict> {
        self.next_round(7, cx)?;
        let before: Vec<Number> = self.goals.iter().map(|goal| goal.lemma).collect();
        let mut precise = goals(self.space, &mut self.library, true);
        precise.retain(|goal| match goal.query {
            Some(query) => self.refuted[query].is_none(),
            None => !self.library.is_known(goal.lemma),
        });
        self.goals = precise;
        let is_changed = self.goals.iter().any(|goal| !before.contains(&goal.lemma));
        for goal in &mut self.goals {
            let lemma = with_constants(self.space, self.library.lemma(goal.lemma));
            goal.lemma = self.library.number(lemma);
        }
        if !self.goals_hold() {
            return None;
        }
        if is_changed {
            // What earlier rounds prove of single facts, where facts falsified a query.
            let predicates = self.space.system.used_predicates();
            let bounds = predicates.iter().flat_map(|&p| of_one_fact(self.space, p));
            let effort = Effort {
                depth: 1,
                nodes: 25,
                facts: false,
            };
            self.candidates(bounds.collect(), effort, cx);
        }
        match self.facts(cx) {
            true => self.verdict(),
            false => None,
        }
    }

    /// Proves the goals with lemmas that conclude facts; whether all queries are refuted.
    fn facts(&mut self, cx: &Context) -> bool {
        let predicates = self.space.system.used_predicates();
        let effort = |depth, nodes, facts| Effort {
            depth,
            nodes,
            facts,
        };
        let patterns = predicates
            .iter()
            .flat_map(|&p| facts::patterns(self.space, p, cx));
        self.candidates(patterns.collect(), effort(1, 30, false), cx);
        let functional = predicates.iter().flat_map(|&p| functional(self.space, p));
        self.candidates(functional.collect(), effort(1, 40, false), cx);
        self.drop_differences();
        self.space.enrich(cx);
        let mut found = facts::templates(self.space, &predicates, cx);
        for goal in &self.goals {
            found.extend(facts::of_goal(self.space, self.library.lemma(goal.lemma)));
        }
        found.retain(|lemma| !facts::is_trivial(lemma));
        let mut tried: FxHashSet<Key> = found.iter().map(Lemma::key).collect();
        self.open.clear();
        if self.attempt(effort(2, 150, false), cx) {
            return true;
        }
        for _ in 0..LIMITS.fact_rounds {
            // A proof may need that another lemma of the round is proven before.
            while self.proves_more(&found, effort(1, 60, true), cx) {
                if self.attempt(effort(1, 60, true), cx) {
                    return true;
                }
            }
            if cx.stop().is_some() {
                return false;
            }
            let open = std::mem::take(&mut self.open);
            let before = found.len();
            for (number, leaf) in open {
                let lemma = self.library.lemma(number).clone();
                if !self.library.is_known(number) {
                    let new = leaves::of_leaf(self.space, &lemma, &leaf, &mut self.solver, cx);
                    found.extend(new.into_iter().filter(|lemma| tried.insert(lemma.key())));
                }
            }
            if found.len() == before {
                return false;
            }
        }
        false
    }

    /// Proves those of some candidates that are not proven yet; whether any was.
    fn proves_more(&mut self, candidates: &[Lemma], effort: Effort, cx: &Context) -> bool {
        self.open.clear();
        let before = self.library.count();
        self.candidates(candidates.to_vec(), effort, cx);
        self.library.count() > before
    }

    /// Proves the goals with ghosts; whether all queries are refuted.
    fn ghosts(&mut self, cx: &Context) -> bool {
        if self.library.totals.is_empty() {
            self.library.totals = totals(self.space, &self.library, &self.prover.smt, cx);
        }
        if self.library.totals.is_empty() {
            return false;
        }
        let goals: Vec<Number> = self.goals.iter().map(|goal| goal.lemma).collect();
        for goal in goals {
            self.with_ghosts(goal, cx);
        }
        let effort = Effort {
            depth: 0,
            nodes: 1,
            facts: false,
        };
        if self.attempt(effort, cx) {
            return true;
        }
        for predicate in self.space.system.used_predicates() {
            for lemma in functional(self.space, predicate) {
                if lemma.origin == Origin::Commutative {
                    let number = self.library.number(lemma);
                    self.with_ghosts(number, cx);
                }
            }
        }
        for lemma in self.weakened.clone() {
            let number = self.library.number(lemma);
            self.with_ghosts(number, cx);
        }
        let goals: Vec<Number> = self.goals.iter().map(|goal| goal.lemma).collect();
        for goal in goals {
            self.with_ghosts(goal, cx);
        }
        self.attempt(
            Effort {
                depth: 2,
                nodes: 150,
                facts: false,
            },
            cx,
        )
    }

    /// Tries to prove a lemma with ghosts, by the derivation at one of its slots.
    fn with_ghosts(&mut self, number: Number, cx: &Context) {
        let effort = Effort {
            depth: 1,
            nodes: 60,
            facts: false,
        };
        for slot in 0..self.library.lemma(number).slots.len() {
            let (library, prover) = (&mut self.library, &mut self.prover);
            if cx.stop().is_some() {
                return;
            }
            if library
                .prove(number, prover, Some(slot), effort, cx)
                .is_ok()
            {
                log::debug!(
                    "relate: with ghosts, {}",
                    self.space.show(library.lemma(number))
                );
                return;
            }
        }
    }

    /// Begins a round; `None` if the budget is spent.
    fn next_round(&mut self, round: u64, cx: &Context) -> Option<()> {
        log::debug!(
            "relate: round {round}; {} lemmas, {} checks",
            self.library.count(),
            self.prover.checks
        );
        self.round = round;
        cx.stop().is_none().then_some(())
    }

    /// Proves candidates.
    fn candidates(&mut self, mut candidates: Vec<Lemma>, effort: Effort, cx: &Context) {
        candidates.truncate(LIMITS.candidates * (1 + self.space.queries.len().min(3)));
        log::debug!("relate: {} candidates", candidates.len());
        for candidate in &candidates {
            log::trace!("relate: candidate {}", self.space.show(candidate));
        }
        let (library, prover) = (&mut self.library, &mut self.prover);
        library.houdini(candidates, prover, effort, &mut self.open, cx);
    }

    /// Tries to refute the queries; whether all are refuted.
    fn attempt(&mut self, effort: Effort, cx: &Context) -> bool {
        let goals = std::mem::take(&mut self.goals);
        for goal in goals {
            if let Some(query) = goal.query {
                let clause = self.space.queries[query];
                self.refuted[query] = self.prover.refute(clause, &self.library, cx);
                if self.refuted[query].is_some() {
                    continue;
                }
            }
            let (library, prover) = (&mut self.library, &mut self.prover);
            match (
                library.prove(goal.lemma, prover, None, effort, cx),
                goal.query,
            ) {
                (Ok(()), None) => continue,
                (Ok(()), Some(query)) => {
                    let clause = self.space.queries[query];
                    self.refuted[query] = prover.refute(clause, library, cx);
                    if self.refuted[query].is_some() {
                        continue;
                    }
                }
                (Err(leaf), _) => self.open.extend(leaf.map(|leaf| (goal.lemma, leaf))),
            }
            self.goals.push(goal);
        }
        self.refuted.iter().all(Option::is_some)
    }

    /// Goals without atoms that only say that two values differ; whether there is any.
    fn drop_differences(&mut self) -> bool {
        let mut any = false;
        for goal in &mut self.goals {
            let known: Vec<&Lemma> = self.library.proven().collect();
            let lemma = self.library.lemma(goal.lemma).clone();
            if let Some(other) = without_difference(self.space, &lemma, &known) {
                log::debug!("relate: goal {}", self.space.show(&other));
                goal.lemma = self.library.number(other);
                any = true;
            }
        }
        any
    }

    /// The queries with premises that calls preserve.
    fn preserved_goals(&mut self, cx: &Context) -> Vec<Lemma> {
        let mut found = Vec::new();
        let known = self.library.proven();
        let known: Vec<&Lemma> = known
            .filter(|l| l.slots.len() == 1 && l.head.is_none())
            .collect();
        for goal in &self.goals {
            let lemma = self.library.lemma(goal.lemma);
            found.extend(preserved(self.space, lemma, &known, &mut self.solver, cx));
        }
        distinct(found)
    }

    fn weakened_goals(&mut self, cx: &Context) -> Vec<Lemma> {
        let mut found = Vec::new();
        for goal in &self.goals {
            let lemma = self.library.lemma(goal.lemma).clone();
            found.extend(variants(self.space, &lemma, &mut self.solver, cx));
        }
        found
    }

    /// Pairs of recursive predicates that occur together in a goal.
    fn together(&self) -> Vec<(PredicateId, PredicateId)> {
        let mut found = Vec::new();
        for goal in &self.goals {
            let slots = self.unfolded(&self.library.lemma(goal.lemma).slots);
            for &p in &slots {
                for &q in &slots {
                    if p != q && !found.contains(&(p, q)) {
                        found.push((p, q));
                    }
                }
            }
        }
        found.sort_unstable();
        found
    }

    /// Predicates, with the premises of their clauses in place of those that are not recursive.
    fn unfolded(&self, predicates: &[PredicateId]) -> Vec<PredicateId> {
        let mut found: Vec<PredicateId> = Vec::new();
        let mut todo = predicates.to_vec();
        let mut seen: FxHashSet<PredicateId> = FxHashSet::default();
        while let Some(predicate) = todo.pop() {
            if !seen.insert(predicate) {
                continue;
            }
            if self.space.recursive.contains(&predicate) {
                found.push(predicate);
                continue;
            }
            for &rule in &self.space.rules[predicate.index()] {
                let body = &self.space.system.clauses[rule].body;
                todo.extend(body.iter().map(|atom| atom.predicate));
            }
        }
        found.sort_unstable();
        found
    }

    /// Candidates from open leaves, with those that failed before; `None` if there are no new ones.
    fn residues(&mut self, tried: &mut FxHashSet<Key>, cx: &Context) -> Option<Vec<Lemma>> {
        let open = std::mem::take(&mut self.open);
        let mut found: Vec<Lemma> = Vec::new();
        let mut again: Vec<Lemma> = Vec::new();
        for (number, leaf) in open {
            let lemma = self.library.lemma(number).clone();
            if self.library.is_known(number) {
                continue;
            }
            if matches!(
                lemma.origin,
                Origin::Query | Origin::Weakened | Origin::Residue
            ) {
                found.extend(residues(self.space, &lemma, &leaf, &mut self.solver, cx));
            }
            if lemma.origin != Origin::Query {
                again.push((*lemma).clone());
            }
        }
        found.retain(|lemma| tried.insert(lemma.key()));
        if found.is_empty() {
            return None;
        }
        found.extend(again);
        Some(distinct(found))
    }

    /// The verdict after all queries are refuted.
    fn verdict(&mut self) -> Option<Verdict> {
        let refuted: Option<Vec<Vec<Instance>>> = self.refuted.iter().cloned().collect();
        let proof = self.library.certificate(&refuted?, &mut self.prover)?;
        Some(match self.model(&proof) {
            Some(model) => Verdict::Sat(model),
            None => Verdict::Proven(proof),
        })
    }

    /// The lemmas as a model, if all that are needed are about one fact, and it is one.
    fn model(&mut self, proof: &Derivations) -> Option<Model> {
        let system = self.space.system;
        let terms = self.space.terms();
        let is_of_one = |l: &RelationalLemma| l.slots.len() == 1 && l.conclusion.is_none();
        if !proof.lemmas.iter().all(is_of_one) {
            return None;
        }
        let mut model = Model::default();
        for predicate in system.used_predicates() {
            let own = proof
                .lemmas
                .iter()
                .filter(|l| l.slots[0].predicate == predicate);
            let own = own.map(|lemma| {
                let params = system.predicate(predicate).params.iter().copied();
                let map = lemma.slots[0].args.iter().copied().zip(params);
                terms.substitute(lemma.statement, &map.collect())
            });
            let formula = terms.and(&own.collect::<Vec<_>>());
            model.definitions.insert(predicate, formula);
        }
        let holds = |clause: &alphorn_chc::Clause, solver: &mut Solver| {
            let of = |atom: &alphorn_chc::Atom| {
                system.instantiate(model.definitions[&atom.predicate], atom)
            };
            solver.push();
            solver.assert(clause.constraint);
            clause.body.iter().for_each(|atom| solver.assert(of(atom)));
            if let Some(head) = &clause.head {
                solver.assert(terms.not(of(head)));
            }
            let answer = solver.check(&[]);
            solver.pop();
            answer == SatResult::Unsat
        };
        let solver = &mut self.solver;
        let all = system.clauses.iter().all(|clause| holds(clause, solver));
        all.then_some(model)
    }
}
