//! A smaller model of linear clauses, made of lemmas that the queries need.
//!
//! The labels of an abstract interpretation are large, and most of them is not needed, but they
//! show quickly which states are unreachable. So an inductive proof is made from the queries on, as
//! in property directed reachability without frames: a cube that must not be reached is disjoint
//! from its label; a core of it gives a clause that the label implies; a step into the states that
//! violate the clause is projected onto its body, which gives the next cube. Small conjuncts of the
//! label are taken as they are, so that bounds are not enumerated.
//!
//! Invariant: each lemma follows from its predicate's definition, and queries have shown that the
//! result is a model.

use std::rc::Rc;
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};

use super::clauses::{Clauses, Solvers};
use super::needed_lemmas::needed_lemmas;
use alphorn_chc::{PredicateId, System};
use alphorn_interpolation::project_onto;
use alphorn_smt::{SatResult, Smt, Solver};
use alphorn_term::run::{Budget, Context};
use alphorn_term::{Op, SortId, TermId, TermStore};

/// Limits of making a model smaller by lemmas.
struct Limits {
    /// Nodes of a model that is small enough to be kept.
    small_nodes: usize,
    /// Nodes of a conjunct that may become a lemma as it is.
    max_conjunct_nodes: usize,
    /// Clauses of a system; models of larger ones are kept.
    max_clauses: usize,
    /// Lemmas; if more are needed, the model is kept.
    max_lemmas: usize,
    /// Work, at most; if it is spent, the model is kept.
    work: Duration,
    /// The work is also at most the remaining time of the run divided by this number.
    time_part: u32,
}

const LIMITS: Limits = Limits {
    small_nodes: 200,
    max_conjunct_nodes: 12,
    max_clauses: 2000,
    max_lemmas: 2000,
    work: Duration::from_secs(5),
    time_part: 2,
};

/// A weaker and smaller model of a linear system than `definitions`, which have to be a model.
/// `None` if they are small, or if a limit is reached.
pub fn weaken(
    system: &System,
    definitions: &FxHashMap<PredicateId, TermId>,
    smt: &Rc<Smt>,
    cx: &Context,
) -> Option<FxHashMap<PredicateId, TermId>> {
    let size = |d: &FxHashMap<PredicateId, TermId>| {
        let sizes = d.values().map(|&f| system.terms.dag_size(&[f]));
        sizes.sum::<usize>()
    };
    let before = size(definitions);
    if before <= LIMITS.small_nodes || system.clauses.len() > LIMITS.max_clauses {
        return None;
    }
    let start = Instant::now();
    let left = cx.remaining().map(|left| left / LIMITS.time_part);
    let mut weakening = Weakening {
        system,
        terms: system.terms.clone(),
        smt,
        labels: FxHashMap::default(),
        definitions,
        lemmas: FxHashMap::default(),
        count: 0,
        clauses: Clauses::new(system, Solvers::PerClause, smt),
        asserted: vec![0; system.clauses.len()],
        budget: cx
            .budget
            .work(left.map_or(LIMITS.work, |left| LIMITS.work.min(left))),
    };
    let found = weakening.run();
    let after = found.as_ref().map(&size);
    log::debug!(
        "a model of size {before} becomes one of size {after:?}, with {} lemmas, {:.3} s",
        weakening.count,
        start.elapsed().as_secs_f64()
    );
    found.filter(|_| after.is_some_and(|after| after < before))
}

/// The definition of a predicate in a solver.
struct Label {
    solver: Solver,
    /// Conjuncts that may become lemmas, with their literals.
    small: Vec<(TermId, TermId)>,
    /// The literal of the conjunction of all other conjuncts.
    large: TermId,
}

/// A lemma about a predicate; `None` for `false`, which must not be derived.
type Goal = Option<(PredicateId, TermId)>;

struct Weakening<'a> {
    system: &'a System,
    terms: Rc<TermStore>,
    smt: &'a Rc<Smt>,
    labels: FxHashMap<PredicateId, Label>,
    definitions: &'a FxHashMap<PredicateId, TermId>,
    clauses: Clauses,
    /// The needed lemmas.
    lemmas: FxHashMap<PredicateId, Vec<TermId>>,
    count: usize,
    /// By clause: the number of asserted lemmas about its body.
    asserted: Vec<usize>,
    budget: Budget,
}

impl Weakening<'_> {
    fn run(&mut self) -> Option<FxHashMap<PredicateId, TermId>> {
        if self.system.clauses.iter().any(|c| c.body.len() > 1) {
            return None;
        }
        needed_lemmas([None], |goal, _| self.premises(goal))?;
        let weaker = self.definitions.keys().map(|&predicate| {
            let lemmas = self.lemmas.get(&predicate).map_or(&[][..], |l| l);
            (predicate, self.terms.and(lemmas))
        });
        Some(weaker.collect())
    }

    /// New lemmas with which the goal follows by each clause.
    fn premises(&mut self, goal: Goal) -> Option<Vec<Goal>> {
        let (about, violated) = match goal {
            Some((predicate, lemma)) => (Some(predicate), self.terms.not(lemma)),
            None => (None, TermId::TRUE),
        };
        let mut found = Vec::new();
        for clause in self.clauses.deriving(about).to_vec() {
            // More lemmas about a body do not invalidate what follows.
            while let Some((predicate, lemmas)) = self.excluding_step(clause, violated)? {
                for lemma in lemmas {
                    let known = self.lemmas.entry(predicate).or_default();
                    if !known.contains(&lemma) {
                        known.push(lemma);
                        self.count += 1;
                        found.push(Some((predicate, lemma)));
                    }
                }
                if self.count > LIMITS.max_lemmas {
                    return None;
                }
            }
        }
        Some(found)
    }

    /// Lemmas about the body's predicate that exclude a step of the clause into `violated`;
    /// `Some(None)` if there is no such step, `None` if there is no answer.
    fn excluding_step(
        &mut self,
        clause: usize,
        violated: TermId,
    ) -> Option<Option<(PredicateId, Vec<TermId>)>> {
        if self.budget.is_spent() {
            return None;
        }
        let _limit = self.smt.limit_queries(self.budget.left());
        let terms = self.terms.clone();
        let group = self.clauses.group_of(clause);
        let source = self.system.clauses[clause].body.first();
        let source = source.map(|atom| atom.predicate);
        if let Some(lemmas) = source.and_then(|source| self.lemmas.get(&source)) {
            for &lemma in &lemmas[self.asserted[clause]..] {
                let premise = self.clauses.lemma(source, lemma, TermId::TRUE).premise;
                self.clauses.define_premises(group, &[premise]);
                self.clauses.assert(group, premise);
            }
            self.asserted[clause] = lemmas.len();
        }
        let mut assumptions = terms.conjuncts(violated);
        assumptions.push(self.clauses.in_force(clause));
        let solver = self.clauses.solver(group);
        match solver.check(&assumptions) {
            SatResult::Unsat => return Some(None),
            SatResult::Sat => {}
            SatResult::Unknown(_) => return None,
        }
        let model = solver.model()?;
        // A clause without body atoms cannot be excluded, so `definitions` are no model.
        let source = source?;
        let step = terms.and(&[self.clauses.constraint(clause), violated]);
        let slot = self.clauses.first_slot(source)?;
        let back: FxHashMap<TermId, TermId> = slot.iter().map(|(&p, &here)| (here, p)).collect();
        let kept: Vec<TermId> = back.keys().copied().collect();
        let cube = project_onto(&terms, step, &kept, &model)?;
        let cube: Vec<TermId> = cube.iter().map(|&l| terms.substitute(l, &back)).collect();
        let lemmas = self.excluding(source, &bounds(&terms, &cube))?;
        Some(Some((source, lemmas)))
    }

    /// Clauses that follow from the predicate's definition and exclude the cube.
    fn excluding(&mut self, predicate: PredicateId, cube: &[TermId]) -> Option<Vec<TermId>> {
        let terms = self.terms.clone();
        let label = match self.labels.entry(predicate) {
            std::collections::hash_map::Entry::Occupied(label) => label.into_mut(),
            std::collections::hash_map::Entry::Vacant(free) => {
                let definition = *self.definitions.get(&predicate)?;
                free.insert(Label::new(&terms, definition, self.smt))
            }
        };
        let guards: Vec<TermId> = label.small.iter().map(|s| s.0).collect();
        let mut assumptions = cube.to_vec();
        assumptions.extend(&guards);
        let solver = &mut label.solver;
        if solver.check(&assumptions) == SatResult::Unsat {
            let core: FxHashSet<TermId> = solver.core().into_iter().collect();
            let used = label.small.iter().filter(|s| core.contains(&s.0));
            let used: Vec<TermId> = used.map(|s| s.1).collect();
            if used.len() <= 2 && !used.is_empty() {
                return Some(used);
            }
        }
        let mut hard = guards;
        hard.push(label.large);
        let core = solver.minimal_core(&hard, cube)?;
        let negated: Vec<TermId> = core.iter().map(|&l| terms.not(l)).collect();
        Some(vec![terms.or(&negated)])
    }
}

impl Label {
    fn new(terms: &TermStore, definition: TermId, smt: &Rc<Smt>) -> Label {
        let mut solver = smt.solver();
        let mut guarded = |formula: TermId| {
            let guard = terms.fresh_var("part", SortId::BOOL);
            solver.assert(terms.implies(guard, formula));
            guard
        };
        let conjuncts = terms.conjuncts(definition).into_iter();
        let (small, large): (Vec<TermId>, Vec<TermId>) =
            conjuncts.partition(|&c| terms.dag_size(&[c]) <= LIMITS.max_conjunct_nodes);
        let small = small.into_iter().map(|c| (guarded(c), c)).collect();
        let large = guarded(terms.and(&large));
        Label {
            solver,
            small,
            large,
        }
    }
}

/// The literals with each equation of numbers split into two bounds, so that a core may keep one.
pub fn bounds(terms: &TermStore, cube: &[TermId]) -> Vec<TermId> {
    let mut literals = Vec::with_capacity(cube.len());
    for &literal in cube {
        let args = terms.args(literal);
        let numbers = |t: TermId| matches!(terms.sort_of(t), SortId::INT | SortId::REAL);
        if *terms.op(literal) == Op::Eq && numbers(args[0]) {
            literals.push(terms.le(args[0], args[1]));
            literals.push(terms.ge(args[0], args[1]));
        } else {
            literals.push(literal);
        }
    }
    literals
}

#[cfg(test)]
mod tests {
    use super::*;
    use alphorn_chc::Atom;

    /// A counter that goes up to 10 beside irrelevant ones.
    fn counters(others: usize, error: i64) -> (System, PredicateId) {
        let terms = Rc::new(TermStore::new());
        let mut system = System::new(terms.clone());
        let p = system.add_predicate("P", &vec![SortId::INT; others + 1]);
        let vars = |mark: &str| -> Vec<TermId> {
            let names = (0..=others).map(|n| format!("x{n}{mark}"));
            names.map(|n| terms.var(&n, SortId::INT)).collect()
        };
        let (old, new) = (vars(""), vars("'"));
        let atom = |args: &[TermId]| Atom {
            predicate: p,
            args: args.to_vec(),
        };
        let zero: Vec<TermId> = old.iter().map(|&x| terms.eq(x, terms.int(0))).collect();
        system.add_clause(vec![], terms.and(&zero), Some(atom(&old)));
        let mut step: Vec<TermId> = old
            .iter()
            .zip(&new)
            .map(|(&x, &y)| terms.eq(y, terms.add(&[x, terms.int(1)])))
            .collect();
        step.push(terms.lt(old[0], terms.int(10)));
        system.add_clause(vec![atom(&old)], terms.and(&step), Some(atom(&new)));
        let error = terms.eq(old[0], terms.int(error));
        system.add_clause(vec![atom(&old)], error, None);
        (system, p)
    }

    /// The reached states as a disjunction over 60 arguments.
    fn reached(system: &System, p: PredicateId) -> TermId {
        let terms = &system.terms;
        let params = &system.predicate(p).params;
        let at = |n: i64| {
            let all = params.iter().map(|&x| terms.eq(x, terms.int(n)));
            terms.and(&all.collect::<Vec<_>>())
        };
        terms.or(&(0..=10).map(at).collect::<Vec<_>>())
    }

    fn is_model(system: &System, definitions: &FxHashMap<PredicateId, TermId>) -> bool {
        let terms = &system.terms;
        let meaning = |a: &Atom| system.instantiate(definitions[&a.predicate], a);
        system.clauses.iter().all(|clause| {
            let mut solver = Smt::new(terms.clone()).solver();
            solver.assert(clause.constraint);
            clause.body.iter().for_each(|a| solver.assert(meaning(a)));
            if let Some(head) = &clause.head {
                solver.assert(terms.not(meaning(head)));
            }
            solver.check(&[]) == SatResult::Unsat
        })
    }

    #[test]
    fn conjuncts_that_no_query_depends_on_are_dropped() {
        // Conjuncts that can be taken as they are, or clauses that have to be found.
        for bounded in [false, true] {
            for error in [11, 17, -3] {
                let (system, p) = counters(60, error);
                let terms = &system.terms;
                let mut label = reached(&system, p);
                if bounded {
                    let all = system.predicate(p).params.iter();
                    let low =
                        |&x| terms.and(&[terms.ge(x, terms.int(0)), terms.le(x, terms.int(10))]);
                    let low: Vec<TermId> = all.map(low).collect();
                    label = terms.and(&[label, terms.and(&low)]);
                }
                let cx = Context::new(terms.clone());
                let smt = Smt::new(terms.clone());
                let given = FxHashMap::from_iter([(p, label)]);
                assert!(is_model(&system, &given));
                let found = weaken(&system, &given, &smt, &cx);
                // Below 0 the search for clauses does not end without the bound.
                if error < 0 && !bounded {
                    assert!(found.is_none_or(|f| is_model(&system, &f)));
                    continue;
                }
                let found = found.expect("there is a smaller model");
                assert!(is_model(&system, &found), "{error}");
                let free = terms.free_vars(&[found[&p]]);
                assert_eq!(free, [system.predicate(p).params[0]], "{error}");
            }
        }
    }

    #[test]
    fn definitions_that_are_no_model_are_not_weakened() {
        let (system, p) = counters(60, 7);
        let cx = Context::new(system.terms.clone());
        let smt = Smt::new(system.terms.clone());
        let terms = &system.terms;
        let wrong = terms.not(terms.eq(system.predicate(p).params[0], terms.int(7)));
        let label = terms.and(&[reached(&system, p), wrong]);
        assert_eq!(
            weaken(&system, &FxHashMap::from_iter([(p, label)]), &smt, &cx),
            None
        );
    }
}
