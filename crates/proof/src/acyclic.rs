//! Models of systems without recursion, by proof obligations.
//!
//! From the queries back, a step into a cube that must not be reached gives an obligation for a
//! body atom, by model-based projection. If no clause derives a state of the cube, a core of it
//! becomes a lemma. This is property directed reachability without frames: since no predicate
//! depends on itself, a lemma that every clause preserves always holds. Of a body with several
//! atoms, one after the other gets an obligation, with reached facts for the atoms before it and
//! lemmas for those after it (Komuravelli, Gurfinkel, Chaki, CAV 2014, section 4).
//!
//! Passes define predicates that they removed in this way, between the clauses that derive them and
//! those that use them, and [`window`](crate::window()) makes a k-inductive invariant inductive.
//!
//! Invariant: by queries, each lemma follows by every clause that derives its predicate from lemmas
//! that are kept, so at the end their conjunctions are a model.

use std::iter;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::stop::{Stop, ask, gave_up, incomplete, undefined};
use super::weaken::bounds;
use alphorn_chc::{Atom, ClauseIndex, DependencyGraph, PredicateId, System};
use alphorn_interpolation::project_onto;
use alphorn_smt::{CoreEffort, SatResult, Smt, SmtModel, Solver};
use alphorn_term::run::{Budget, Context};
use alphorn_term::{SortId, TermId, TermStore};
use alphorn_witness::Model;

/// Limits of the search for a model of a system without recursion.
struct Limits {
    /// Lemmas of a model; with more, the search stops.
    max_lemmas: usize,
    /// Queries for one core in one clause; at the limit the core is as small as it is then.
    core_queries: usize,
}

const LIMITS: Limits = Limits {
    max_lemmas: 5_000,
    core_queries: 100,
};

/// The outcome of an attempt to step into a cube.
enum Entry {
    /// No clause steps into it.
    Excluded,
    /// A clause does, if the obligation's cube is reached.
    Open(Obligation),
    /// A clause does, from reached facts.
    Reached,
}

/// A cube that must not be reached.
struct Obligation {
    /// The predicate; `None` for `false`.
    about: Option<PredicateId>,
    /// Literals over the formal variables.
    cube: Vec<TermId>,
    /// The position of a clause among those that derive the predicate; the ones before it do not
    /// step into the cube.
    next: usize,
}

/// A clause in a solver, with lemmas and reached facts of its body atoms.
struct Rule {
    solver: Solver,
    /// By body atom: the number of asserted lemmas.
    asserted: Vec<usize>,
    /// By body atom: a number of its predicate's reached facts, and the literal that implies one of
    /// them.
    reached: Vec<(usize, TermId)>,
}

/// Formulas by predicate, over its formal variables.
pub type Formulas = FxHashMap<PredicateId, Vec<TermId>>;

/// Finds a model of a system in which no predicate depends on itself. Those of the formulas `seeds`
/// that hold are lemmas from the beginning; the model contains the seeds that it needs.
///
/// # Errors
/// A limit, or a query is reached, so there is no model.
pub fn solve_acyclic(
    system: &System,
    seeds: &Formulas,
    smt: &Rc<Smt>,
    cx: &Context,
) -> Result<Model, Stop> {
    let mut search = Search {
        system,
        terms: &system.terms,
        smt,
        cx,
        index: ClauseIndex::new(system),
        rules: system.clauses.iter().map(|_| None).collect(),
        lemmas: FxHashMap::default(),
        reached: FxHashMap::default(),
        count: 0,
    };
    let mut order = Vec::new();
    if !seeds.is_empty() {
        order = DependencyGraph::new(system).components().concat();
        search.add_seeds(seeds, &order)?;
    }
    let seeded: usize = search.lemmas.values().map(Vec::len).sum();
    search.run()?;
    if seeded > 0 {
        search.drop_unneeded(&order)?;
    }
    log::debug!(
        "a model of {} clauses without recursion: {} lemmas, {seeded} seeds, {} needed",
        system.clauses.len(),
        search.count,
        search.lemmas.values().map(Vec::len).sum::<usize>()
    );
    let definition = |predicate| {
        let lemmas = search.lemmas.get(&predicate).map_or(&[][..], |l| l);
        (predicate, system.terms.and(lemmas))
    };
    let definitions = system.used_predicates().into_iter().map(definition);
    Ok(Model {
        definitions: definitions.collect(),
        ..Model::default()
    })
}

/// Literals of `cube` that exclude every one of `entries`, which stand for ways to enter the cube.
/// `core_of` is called for each entry with the literals that earlier ones need and the other
/// literals. It returns the latter in its own form, in their order, and those of them that form a
/// core.
///
/// # Errors
/// A limit, if `core_of` finds no core; that the entry is excluded has been shown before.
pub fn core_of_all<E>(
    cube: &[TermId],
    entries: impl IntoIterator<Item = E>,
    cx: &Context,
    mut core_of: impl FnMut(
        E,
        &[TermId],
        &[TermId],
        CoreEffort<'_>,
    ) -> (Vec<TermId>, Option<Vec<TermId>>),
) -> Result<Vec<TermId>, Stop> {
    let effort = CoreEffort {
        queries: LIMITS.core_queries,
        budget: Some(&cx.budget),
    };
    let (mut needed, mut rest) = (Vec::new(), cube.to_vec());
    for entry in entries {
        let (soft, core) = core_of(entry, &needed, &rest, effort);
        let core = core.ok_or_else(|| gave_up("a core", cx))?;
        let mut left = Vec::new();
        for (literal, here) in rest.into_iter().zip(soft) {
            match core.contains(&here) {
                true => needed.push(literal),
                false => left.push(literal),
            }
        }
        rest = left;
    }
    Ok(needed)
}

struct Search<'a> {
    system: &'a System,
    terms: &'a Rc<TermStore>,
    smt: &'a Rc<Smt>,
    cx: &'a Context,
    index: ClauseIndex,
    rules: Vec<Option<Rule>>,
    lemmas: Formulas,
    /// Reached facts: every state that satisfies one of them is derived.
    reached: Formulas,
    /// The number of lemmas.
    count: usize,
}

impl Search<'_> {
    fn run(&mut self) -> Result<(), Stop> {
        let mut stack = vec![Obligation {
            about: None,
            cube: Vec::new(),
            next: 0,
        }];
        while let Some(top) = stack.last_mut() {
            match self.entry(top)? {
                Entry::Open(obligation) => stack.push(obligation),
                Entry::Reached if top.about.is_none() => {
                    return Err(incomplete("a query is reached"));
                }
                Entry::Reached => drop(stack.pop()),
                Entry::Excluded => {
                    let done = stack.pop();
                    if let Some((about, cube)) = done.and_then(|o| Some((o.about?, o.cube))) {
                        self.learn(about, &cube)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds those of the seeds to the lemmas that every clause preserves, predicate by predicate. A
    /// seed is dropped if this is not decided. Takes at most half of the remaining time of the run.
    fn add_seeds(&mut self, seeds: &Formulas, order: &[PredicateId]) -> Result<(), Stop> {
        let half = self.cx.remaining().map(|left| left / 2);
        let half = half.map(|half| self.cx.budget.time(half));
        for &about in order {
            if half.as_ref().is_some_and(Budget::is_spent) {
                break;
            }
            let mut left = seeds.get(&about).cloned().unwrap_or_default();
            for clause in self.deriving(Some(about)).to_vec() {
                while !left.is_empty() {
                    let here = self.at_head(clause, &left);
                    let violated = self.terms.not(self.terms.and(&here));
                    if let Some(reason) = self.cx.stop() {
                        return Err(Stop::Reason(reason));
                    }
                    let solver = &mut self.rule(clause).solver;
                    let model = match solver.check(&[violated]) {
                        SatResult::Unsat => break,
                        SatResult::Sat => solver.model(),
                        SatResult::Unknown(_) => None,
                    };
                    let before = left.len();
                    if let Some(model) = model {
                        let mut holds = here.iter().map(|&seed| model.satisfies(seed));
                        left.retain(|_| holds.next() == Some(true));
                    }
                    if left.len() == before {
                        left.clear();
                    }
                }
            }
            self.lemmas.insert(about, left);
        }
        Ok(())
    }

    /// Drops the lemmas that no query depends on, by a core for each clause, from the queries back.
    /// If no core is found in time, all premises of the clause are kept.
    fn drop_unneeded(&mut self, order: &[PredicateId]) -> Result<(), Stop> {
        let mut needed: FxHashMap<PredicateId, FxHashSet<TermId>> = FxHashMap::default();
        let targets = iter::once(None).chain(order.iter().rev().copied().map(Some));
        for about in targets {
            let all = about.map(|p| needed.get(&p).cloned().unwrap_or_default());
            if let Some(kept) = about.and_then(|p| self.lemmas.get_mut(&p)) {
                kept.retain(|lemma| all.as_ref().is_some_and(|all| all.contains(lemma)));
            }
            if all.as_ref().is_some_and(FxHashSet::is_empty) {
                continue;
            }
            let kept = about.and_then(|p| self.lemmas.get(&p)).cloned();
            for clause in self.deriving(about).to_vec() {
                let own = &self.system.clauses[clause];
                let mut solver = self.smt.solver();
                solver.assert(own.constraint);
                if let Some(kept) = &kept {
                    let here = self.at_head(clause, kept);
                    solver.assert(self.terms.not(self.terms.and(&here)));
                }
                let premises = own.body.iter().flat_map(|atom| {
                    let lemmas = self.lemmas.get(&atom.predicate).map_or(&[][..], |l| l);
                    lemmas.iter().map(move |&lemma| (atom, lemma))
                });
                let premises: Vec<(&Atom, TermId)> = premises.collect();
                let here = premises.iter();
                let here: Vec<TermId> = here
                    .map(|&(atom, lemma)| self.system.instantiate(lemma, atom))
                    .collect();
                let core = match solver.check(&here) {
                    SatResult::Unsat => solver.core(),
                    SatResult::Unknown(_) => here.clone(),
                    SatResult::Sat => return Err(incomplete("a lemma does not follow")),
                };
                let core: FxHashSet<TermId> = core.into_iter().collect();
                for ((atom, lemma), here) in premises.into_iter().zip(here) {
                    if core.contains(&here) {
                        needed.entry(atom.predicate).or_default().insert(lemma);
                    }
                }
            }
        }
        Ok(())
    }

    /// The clauses that derive the predicate; the queries for `None`.
    fn deriving(&self, about: Option<PredicateId>) -> &[usize] {
        match about {
            Some(predicate) => self.index.deriving(predicate),
            None => self.index.queries(),
        }
    }

    /// The first step into the obligation's cube, in the order of the clauses.
    fn entry(&mut self, obligation: &mut Obligation) -> Result<Entry, Stop> {
        while let Some(&clause) = self.deriving(obligation.about).get(obligation.next) {
            match self.step(clause, &obligation.cube)? {
                Entry::Excluded => obligation.next += 1,
                entry => return Ok(entry),
            }
        }
        Ok(Entry::Excluded)
    }

    /// Tries to step by a clause into a cube over the formal variables of its head.
    fn step(&mut self, clause: usize, cube: &[TermId]) -> Result<Entry, Stop> {
        let body = &self.system.clauses[clause].body;
        let mut assumptions = self.at_head(clause, cube);
        let Some(mut model) = self.ask(clause, &assumptions)? else {
            return Ok(Entry::Excluded);
        };
        let mut parts = vec![self.system.clauses[clause].constraint];
        parts.extend(&assumptions);
        for (at, atom) in body.iter().enumerate() {
            if let Some(literal) = self.reached_literal(clause, at) {
                assumptions.push(literal);
                if let Some(found) = self.ask(clause, &assumptions)? {
                    parts.push(self.reached_at(atom, &self.reached));
                    model = found;
                    continue;
                }
            }
            let later = body[at + 1..].iter();
            parts.extend(later.map(|atom| self.lemmas_at(atom)));
            let cube = self.project(&parts, &atom.args, &model)?;
            let cube = self.at_formals(atom, &cube);
            return Ok(Entry::Open(Obligation {
                about: Some(atom.predicate),
                cube: bounds(self.terms, &cube),
                next: 0,
            }));
        }
        if let Some(head) = &self.system.clauses[clause].head {
            let fact = self.project(&parts, &head.args, &model)?;
            let fact = self.terms.and(&self.at_formals(head, &fact));
            self.reached.entry(head.predicate).or_default().push(fact);
        }
        Ok(Entry::Reached)
    }

    /// A model of a clause under assumptions.
    fn ask(&mut self, clause: usize, assumptions: &[TermId]) -> Result<Option<SmtModel>, Stop> {
        let cx = self.cx;
        ask(&mut self.rule(clause).solver, assumptions, cx)
    }

    /// Projects the conjunction of `parts` onto `kept`, around a model.
    fn project(
        &self,
        parts: &[TermId],
        kept: &[TermId],
        model: &SmtModel,
    ) -> Result<Vec<TermId>, Stop> {
        let whole = self.terms.and(parts);
        project_onto(self.terms, whole, kept, model).ok_or_else(undefined)
    }

    /// Adds the negation of a core of the cube, which no clause steps into, as a lemma.
    fn learn(&mut self, about: PredicateId, cube: &[TermId]) -> Result<(), Stop> {
        let cx = self.cx;
        let clauses = self.deriving(Some(about)).to_vec();
        let needed = core_of_all(cube, clauses, cx, |clause, needed, rest, effort| {
            let (hard, soft) = (self.at_head(clause, needed), self.at_head(clause, rest));
            let core = self.rule(clause).solver.core_by(&hard, &soft, effort);
            (soft, core)
        })?;
        let negated: Vec<TermId> = needed.iter().map(|&l| self.terms.not(l)).collect();
        let lemmas = self.lemmas.entry(about).or_default();
        lemmas.push(self.terms.or(&negated));
        self.count += 1;
        match self.count > LIMITS.max_lemmas {
            true => Err(incomplete("the model needs too many lemmas")),
            false => Ok(()),
        }
    }

    /// The clause in its solver, with all lemmas about its body asserted.
    fn rule(&mut self, clause: usize) -> &mut Rule {
        let own = &self.system.clauses[clause];
        let rule = self.rules[clause].get_or_insert_with(|| {
            let mut solver = self.smt.solver();
            solver.assert(own.constraint);
            Rule {
                solver,
                asserted: vec![0; own.body.len()],
                reached: vec![(0, TermId::FALSE); own.body.len()],
            }
        });
        for (atom, asserted) in own.body.iter().zip(&mut rule.asserted) {
            let lemmas = self.lemmas.get(&atom.predicate).map_or(&[][..], |l| l);
            for &lemma in &lemmas[*asserted..] {
                rule.solver.assert(self.system.instantiate(lemma, atom));
            }
            *asserted = lemmas.len();
        }
        rule
    }

    /// The literal that makes a body atom one of the reached facts of its predicate, if there are
    /// any.
    fn reached_literal(&mut self, clause: usize, at: usize) -> Option<TermId> {
        let atom = &self.system.clauses[clause].body[at];
        let count = self.reached.get(&atom.predicate)?.len();
        let facts = self.reached_at(atom, &self.reached);
        let terms = self.terms.clone();
        let rule = self.rule(clause);
        if rule.reached[at].0 < count {
            let literal = terms.fresh_var("reached", SortId::BOOL);
            rule.solver.assert(terms.implies(literal, facts));
            rule.reached[at] = (count, literal);
        }
        Some(rule.reached[at].1)
    }

    /// The disjunction of the reached facts at an atom.
    fn reached_at(&self, atom: &Atom, facts: &Formulas) -> TermId {
        let facts = facts.get(&atom.predicate).map_or(&[][..], |f| f);
        self.system.instantiate(self.terms.or(facts), atom)
    }

    /// The conjunction of the lemmas at an atom.
    fn lemmas_at(&self, atom: &Atom) -> TermId {
        let lemmas = self.lemmas.get(&atom.predicate).map_or(&[][..], |l| l);
        self.system.instantiate(self.terms.and(lemmas), atom)
    }

    /// Literals over the formal variables, at the head of a clause.
    fn at_head(&self, clause: usize, cube: &[TermId]) -> Vec<TermId> {
        let Some(head) = &self.system.clauses[clause].head else {
            return cube.to_vec();
        };
        let at = |&literal: &TermId| self.system.instantiate(literal, head);
        cube.iter().map(at).collect()
    }

    /// Literals over an atom's arguments, over the formal variables instead.
    fn at_formals(&self, atom: &Atom, cube: &[TermId]) -> Vec<TermId> {
        let params = &self.system.predicate(atom.predicate).params;
        let map: FxHashMap<TermId, TermId> = atom
            .args
            .iter()
            .copied()
            .zip(params.iter().copied())
            .collect();
        cube.iter()
            .map(|&l| self.terms.substitute(l, &map))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use rustc_hash::FxHashSet;

    use super::*;
    use alphorn_samples::is_model;
    use alphorn_term::{Assignment, Random, evaluate};

    const BITS: usize = 3;
    const LAYERS: usize = 4;

    /// Predicates with Boolean arguments, each derived from earlier ones by clauses with up to two
    /// body atoms.
    fn layered(random: &mut Random) -> System {
        let t = Rc::new(TermStore::new());
        let mut system = System::new(t.clone());
        let predicates: Vec<PredicateId> = (0..LAYERS)
            .map(|n| system.add_predicate(&format!("P{n}"), &[SortId::BOOL; BITS]))
            .collect();
        let vars: Vec<Vec<TermId>> = ["a", "b", "h"]
            .iter()
            .map(|name| {
                let bits = (0..BITS).map(|n| t.var(&format!("{name}{n}"), SortId::BOOL));
                bits.collect()
            })
            .collect();
        for layer in 0..=LAYERS {
            let count = if layer == LAYERS { 1 } else { 2 };
            for _ in 0..count {
                let body: Vec<Atom> = (0..layer.min(1 + random.below(2) as usize))
                    .map(|at| Atom {
                        predicate: predicates
                            [layer - 1 - random.below(layer.min(2) as i64) as usize],
                        args: vars[at].clone(),
                    })
                    .collect();
                let mut bits: Vec<TermId> = body.iter().flat_map(|a| a.args.clone()).collect();
                if layer < LAYERS {
                    bits.extend(&vars[2]);
                }
                let mut literal = || {
                    let bit = bits[random.below(bits.len() as i64) as usize];
                    match random.below(2) {
                        0 => bit,
                        _ => t.not(bit),
                    }
                };
                let parts: Vec<TermId> = (0..5).map(|_| t.or(&[literal(), literal()])).collect();
                let head = predicates.get(layer).map(|&predicate| Atom {
                    predicate,
                    args: vars[2].clone(),
                });
                system.add_clause(body, t.and(&parts), head);
            }
        }
        system
    }

    /// Whether a query is derived, by all instances of all clauses, layer by layer.
    fn is_derived(system: &System) -> bool {
        let t = &system.terms;
        let mut facts: FxHashSet<(PredicateId, Vec<TermId>)> = FxHashSet::default();
        for clause in &system.clauses {
            let vars: Vec<TermId> = clause.atoms().flat_map(|a| a.args.clone()).collect();
            for values in 0..1usize << vars.len() {
                let bits = vars.iter().enumerate();
                let point: Assignment = bits
                    .map(|(bit, &v)| (v, t.bool(values >> bit & 1 == 1)))
                    .collect();
                let fact = |a: &Atom| (a.predicate, a.args.iter().map(|v| point[v]).collect());
                if clause.body.iter().all(|a| facts.contains(&fact(a)))
                    && evaluate(t, clause.constraint, &point) == Some(TermId::TRUE)
                {
                    match &clause.head {
                        Some(head) => drop(facts.insert(fact(head))),
                        None => return true,
                    }
                }
            }
        }
        false
    }

    /// Random clauses of two literals; some of them hold.
    fn random_seeds(system: &System, random: &mut Random) -> Formulas {
        let t = &system.terms;
        let mut seeds = Formulas::default();
        for predicate in system.used_predicates() {
            let params = &system.predicate(predicate).params;
            let mut literal = || {
                let bit = params[random.below(BITS as i64) as usize];
                match random.below(2) {
                    0 => bit,
                    _ => t.not(bit),
                }
            };
            let own = (0..4).map(|_| t.or(&[literal(), literal()])).collect();
            seeds.insert(predicate, own);
        }
        seeds
    }

    #[test]
    fn models_where_there_are_some() {
        let mut random = Random::new(23);
        let (mut models, mut refuted) = (0, 0);
        for round in 0..300 {
            let system = layered(&mut random);
            let smt = Smt::new(system.terms.clone());
            let cx = Context::new(system.terms.clone());
            let seeds = random_seeds(&system, &mut random);
            match (
                solve_acyclic(&system, &seeds, &smt, &cx),
                is_derived(&system),
            ) {
                (Ok(model), false) => {
                    assert!(is_model(&system, &model), "{round}");
                    models += 1;
                }
                (Err(_), true) => refuted += 1,
                (found, derived) => panic!("{round}: {found:?}, derived: {derived}"),
            }
        }
        assert!(models > 30 && refuted > 30, "{models}, {refuted}");
    }
}
