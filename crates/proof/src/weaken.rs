//! A model of clauses that its proof needs, in place of one that says all an engine ever learnt.
//!
//! Labels that an abstract interpretation ends with are large, and most of what they say is for
//! nothing. But they tell at once which states are not reached. So an inductive proof is made
//! from the queries on, as in property directed reachability, but without frames: a state that
//! must not be reached is outside of its label, a core of it makes a clause that the label
//! implies, and a step into what the clause excludes is projected onto what must not be reached
//! before it. Conjuncts of the label that are small are taken as they are, which keeps bounds
//! from being found one by one. What comes back is weaker, and is what has to be led back through
//! the passes, checked and read.
//!
//! Invariant: each clause follows from its predicate's definition, and what comes back is a model
//! by queries that it passed.

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

/// Models of this size are small enough.
const SMALL: usize = 200;

/// A conjunct of this size is as good as a clause.
const CLAUSE: usize = 12;

/// Systems with more clauses, and definitions that take more clauses, stay as they are.
const CLAUSES: usize = 2000;
const LEMMAS: usize = 2000;

/// Work at most, and as a part of what is left.
const PATIENCE: Duration = Duration::from_secs(5);
const PART_OF_TIME: u32 = 2;

/// A weaker and smaller model of a linear system than `definitions`, which have to be one. `None`
/// if there is no hope for one, or it takes too long.
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
    if before <= SMALL || system.clauses.len() > CLAUSES {
        return None;
    }
    let start = Instant::now();
    let left = cx.remaining().map(|left| left / PART_OF_TIME);
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
            .work(left.map_or(PATIENCE, |left| PATIENCE.min(left))),
    };
    let found = weakening.run();
    let after = found.as_ref().map(&size);
    log::debug!(
        "a model of size {before}: {} clauses for its proof, size {after:?}, {:.3} s",
        weakening.count,
        start.elapsed().as_secs_f64()
    );
    found.filter(|_| after.is_some_and(|after| after < before))
}

/// What is known of a predicate.
struct Label {
    solver: Solver,
    /// Conjuncts that may become clauses, and all others as one; as literals of the solver.
    small: Vec<(TermId, TermId)>,
    large: TermId,
}

/// A clause of a model, about a predicate; `None` for `false`, which is not to be derived.
type Goal = Option<(PredicateId, TermId)>;

struct Weakening<'a> {
    system: &'a System,
    terms: Rc<TermStore>,
    smt: &'a Rc<Smt>,
    labels: FxHashMap<PredicateId, Label>,
    definitions: &'a FxHashMap<PredicateId, TermId>,
    clauses: Clauses,
    /// What is found to be needed.
    lemmas: FxHashMap<PredicateId, Vec<TermId>>,
    count: usize,
    /// By clause: so many of the lemmas about its body are asserted.
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
            // What follows from a body's lemmas follows from more of them.
            while let Some((predicate, lemmas)) = self.excluding_step(clause, violated)? {
                for lemma in lemmas {
                    let known = self.lemmas.entry(predicate).or_default();
                    if !known.contains(&lemma) {
                        known.push(lemma);
                        self.count += 1;
                        found.push(Some((predicate, lemma)));
                    }
                }
                if self.count > LEMMAS {
                    return None;
                }
            }
        }
        Some(found)
    }

    /// Lemmas about the body's predicate that exclude a step of the clause to what is violated;
    /// `Some(None)` if there is no such step. The outer `None` is no answer.
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
                self.clauses.tell(group, &[premise]);
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
        // Without a body there is no way out: then it was no model.
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
            conjuncts.partition(|&c| terms.dag_size(&[c]) <= CLAUSE);
        let small = small.into_iter().map(|c| (guarded(c), c)).collect();
        let large = guarded(terms.and(&large));
        Label {
            solver,
            small,
            large,
        }
    }
}

/// Literals with equations of numbers as two bounds, so that a core may keep one.
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

    /// A counter that goes up to 10 beside others that are for nothing.
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

    /// All values that are reached, as a disjunction; 100 parameters.
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
    fn what_no_query_depends_on_goes() {
        // Whether the conjuncts are there to be taken, or clauses have to be found.
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
                // Below 0 clauses never end unless the bound is there.
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
    fn what_is_no_model_is_not_weakened() {
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
