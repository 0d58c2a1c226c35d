//! Random simulation: facts that clauses derive from each other.
//!
//! Invariant: each fact has a derivation: a step by a clause from facts before it.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use alphorn_arith::Comparison;
use alphorn_chc::{ClauseIndex, PredicateId, System};
use alphorn_proof::{Stop, values};
use alphorn_smt::{SatResult, Smt, Solver};
use alphorn_term::run::Budget;
use alphorn_term::{
    Assignment, BigUint, Evaluator, Op, Rational, Sort, SortId, TermId, TermStore, evaluate,
};
use alphorn_transform::isolate::definition;
use alphorn_witness::{Fact, Refutation, RefutationStep};

/// The seed of the random choices, which are the same in each run.
const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

/// The result of executing a clause.
pub(super) enum Execution {
    /// These values of the clause's variables, and these facts as premises.
    Ends(Assignment, Vec<usize>),
    /// The premises contradict the clause.
    Fails,
    /// The equations leave a choice, or a term has no value.
    Open,
}

/// The state of a simulation.
pub(super) struct Simulation<'a> {
    pub(super) system: &'a System,
    smt: Rc<Smt>,
    pub(super) index: Rc<ClauseIndex>,
    solvers: FxHashMap<usize, Solver>,
    /// The steps that derived the facts, in this order. A fact's position is its index here.
    pub states: Vec<RefutationStep>,
    by_predicate: FxHashMap<PredicateId, Vec<usize>>,
    /// The position of each fact.
    known: FxHashMap<Fact, usize>,
    /// Pairs of a fact and a clause that derives nothing new from it.
    spent: FxHashSet<(usize, usize)>,
    /// By clause: preferences that are kept for a whole run.
    kept_preferences: FxHashMap<usize, Vec<TermId>>,
    /// By clause: its conjuncts with their variables.
    parts: FxHashMap<usize, Vec<(TermId, Vec<TermId>)>>,
    /// For a conjunct and a variable: the term that the conjunct equates with the variable.
    definitions: FxHashMap<(TermId, TermId), Option<TermId>>,
    /// By clause and body atom: the conjuncts that are about this atom only.
    guards: FxHashMap<(usize, usize), Vec<TermId>>,
    /// By clause: equations that say that a comparison is at its bound.
    limits: FxHashMap<usize, Vec<TermId>>,
    random: Random,
}

impl<'a> Simulation<'a> {
    /// A simulation without facts.
    pub fn new(system: &'a System, smt: &Rc<Smt>) -> Self {
        Simulation {
            system,
            smt: smt.clone(),
            index: Rc::new(ClauseIndex::new(system)),
            solvers: FxHashMap::default(),
            states: Vec::new(),
            by_predicate: FxHashMap::default(),
            known: FxHashMap::default(),
            spent: FxHashSet::default(),
            kept_preferences: FxHashMap::default(),
            parts: FxHashMap::default(),
            definitions: FxHashMap::default(),
            guards: FxHashMap::default(),
            limits: FxHashMap::default(),
            random: Random(SEED),
        }
    }

    /// Derives facts until there are `count`, no more are found, or the budget is spent. Returns a
    /// refutation if a query is reached.
    pub fn run(&mut self, count: usize, budget: &Budget) -> Result<Option<Refutation>, Stop> {
        let index = Rc::clone(&self.index);
        let entries = index.entries();
        let share = count / self.system.used_predicates().len().max(1);
        let mut last = None;
        // The steps left in this run. First each entry clause has a chance.
        let (mut left, mut runs) = (0, 0);
        let mut keep = false;
        for at in 0..LIMITS.tries_per_state * count {
            if self.states.len() >= count || budget.is_spent() {
                break;
            }
            if left == 0 && at >= 2 * entries.len() {
                left = LIMITS.run_steps[runs % LIMITS.run_steps.len()];
                runs += 1;
                last = match self.random.below(2) {
                    0 => None,
                    _ => self.known_fact(),
                };
                keep = self.random.below(2) == 0;
                self.kept_preferences.clear();
            }
            left = left.saturating_sub(1);
            let from = last.filter(|_| left > 0);
            let clause = match from {
                None => self.random.of(entries),
                Some(fact) => {
                    let open: Vec<usize> = self.open(fact).collect();
                    self.random.of(&open)
                }
            };
            let Some(clause) = clause else {
                left = 0;
                continue;
            };
            let known = self.states.len();
            let derived = self.apply(clause, from, keep, budget)?;
            let is_only = derived.as_ref().is_none_or(|derived| derived.1);
            if let Some((derived, _)) = derived {
                let Some(fact) = derived.fact.clone() else {
                    return Ok(Some(self.refutation(derived)));
                };
                let predicate = fact.predicate;
                last = Some((predicate, self.add(fact, derived)));
                // Some predicates have infinitely many facts; the others get their share.
                if self.by_predicate[&predicate].len() > share {
                    left = 0;
                }
            }
            if let Some((_, fact)) = from.filter(|_| is_only && self.states.len() == known) {
                // Other premises may derive more.
                if self.system.clauses[clause].body.len() == 1 || self.random.below(2) == 0 {
                    self.spent.insert((fact, clause));
                }
            }
        }
        Ok(None)
    }

    /// A step by the clause with the given fact as one premise, and whether it is the only step
    /// from the premises; `None` if there is no step or none is found.
    fn apply(
        &mut self,
        clause: usize,
        from: Option<(PredicateId, usize)>,
        keep: bool,
        budget: &Budget,
    ) -> Result<Option<(RefutationStep, bool)>, Stop> {
        let Some(known) = self.premises(clause, from) else {
            return Ok(None);
        };
        match self.execute(clause, &known) {
            Execution::Open => {}
            Execution::Fails => return Ok(None),
            Execution::Ends(values, premises) => {
                return Ok(Some((self.step(clause, values, premises), true)));
            }
        }
        let (terms, system) = (&self.system.terms, self.system);
        let clause_of = &system.clauses[clause];
        let vars = clause_of.vars(terms);
        let mut preferences = self.preferences(clause, &vars, keep);
        let smt = &self.smt;
        let solver = self.solvers.entry(clause).or_insert_with(|| {
            let mut solver = smt.solver();
            solver.assert(clause_of.constraint);
            solver
        });
        solver.push();
        for (atom, known) in clause_of.body.iter().zip(&known) {
            let is = |&at: &usize| {
                let fact = self.states[at].fact.iter();
                let pairs = fact.flat_map(|f| atom.args.iter().zip(&f.values));
                let same: Vec<TermId> = pairs.map(|(&a, &value)| terms.eq(a, value)).collect();
                terms.and(&same)
            };
            let any: Vec<TermId> = known.iter().map(is).collect();
            solver.assert(terms.or(&any));
        }
        let model = loop {
            match solver.check(&preferences) {
                SatResult::Sat => break solver.model(),
                // Drop the last of the preferences that are in conflict.
                SatResult::Unsat => {
                    let core = solver.core();
                    match preferences.iter().rposition(|p| core.contains(p)) {
                        Some(last) => drop(preferences.remove(last)),
                        None => break None,
                    }
                }
                _ => break None,
            }
            if budget.is_spent() {
                break None;
            }
        };
        let assignment = model.map(|model| values(&model, &vars));
        solver.pop();
        let Some(values) = assignment.transpose()? else {
            return Ok(None);
        };
        let chosen = clause_of.body.iter().zip(known).map(|(atom, known)| {
            let args: Vec<TermId> = atom.args.iter().map(|arg| values[arg]).collect();
            let is = |at: &usize| {
                self.states[*at]
                    .fact
                    .as_ref()
                    .is_some_and(|f| f.values == args)
            };
            known.into_iter().find(is)
        });
        let Some(premises) = chosen.collect() else {
            return Ok(None);
        };
        Ok(Some((self.step(clause, values, premises), false)))
    }

    /// The step by the clause with these values and premises.
    pub(super) fn step(
        &self,
        clause: usize,
        values: Assignment,
        premises: Vec<usize>,
    ) -> RefutationStep {
        let of_clause = &self.system.clauses[clause];
        let fact = of_clause.head.as_ref().map(|head| Fact {
            predicate: head.predicate,
            values: head.args.iter().map(|arg| values[arg]).collect(),
        });
        RefutationStep {
            clause: of_clause.id,
            values,
            premises,
            fact,
        }
    }

    /// A step from the first premises that allow one, where the clause determines all values, as
    /// most clauses do; evaluation is much faster than the solver.
    fn execute(&mut self, clause: usize, known: &[Vec<usize>]) -> Execution {
        let mut places = vec![0; known.len()];
        if known.iter().any(Vec::is_empty) {
            return Execution::Fails;
        }
        for _ in 0..LIMITS.premise_draws {
            let premises: Vec<usize> = places.iter().zip(known).map(|(&at, k)| k[at]).collect();
            match self.values_from(clause, &premises) {
                Execution::Fails => {}
                end => return end,
            }
            // The next combination; the last premise varies fastest.
            let next = (0..known.len()).rfind(|&at| places[at] + 1 < known[at].len());
            let Some(next) = next else {
                return Execution::Fails;
            };
            places[next] += 1;
            places[next + 1..].fill(0);
        }
        Execution::Open
    }

    /// The values that the clause's equations give for these premises.
    fn values_from(&mut self, clause: usize, premises: &[usize]) -> Execution {
        let of_clause = &self.system.clauses[clause];
        let mut open = self.all_parts(clause);
        let mut known = Assignment::default();
        for (atom, &premise) in of_clause.body.iter().zip(premises) {
            let values = self.states[premise].fact.iter().flat_map(|f| &f.values);
            for (&arg, &value) in atom.args.iter().zip(values) {
                if *known.entry(arg).or_insert(value) != value {
                    return Execution::Fails;
                }
            }
        }
        if !self.propagate(clause, &mut known, &mut open) {
            return Execution::Fails;
        }
        let vars = of_clause.vars(&self.system.terms);
        match open.is_empty() && vars.iter().all(|var| known.contains_key(var)) {
            true => Execution::Ends(known, premises.to_vec()),
            false => Execution::Open,
        }
    }

    /// The positions of the clause's conjuncts.
    pub(super) fn all_parts(&mut self, clause: usize) -> Vec<usize> {
        let (terms, of_clause) = (&self.system.terms, &self.system.clauses[clause]);
        let parts = self.parts.entry(clause).or_insert_with(|| {
            let parts = terms.conjuncts(of_clause.constraint).into_iter();
            parts.map(|part| (part, terms.free_vars(&[part]))).collect()
        });
        (0..parts.len()).collect()
    }

    /// Gives variables of the clause the values that its open conjuncts determine, and keeps those
    /// conjuncts open that do not evaluate to true. Returns `false` if one evaluates to false.
    pub(super) fn propagate(
        &mut self,
        clause: usize,
        known: &mut Assignment,
        open: &mut Vec<usize>,
    ) -> bool {
        let (terms, parts) = (&self.system.terms, &self.parts[&clause]);
        let mut changed = true;
        while changed {
            changed = false;
            let mut failed = false;
            open.retain(|&at| {
                let (part, vars) = &parts[at];
                let mut unknown = vars.iter().filter(|var| !known.contains_key(*var));
                match (unknown.next(), unknown.next()) {
                    (None, _) => {
                        let value = evaluate(terms, *part, known);
                        failed |= value == Some(TermId::FALSE);
                        value.is_none()
                    }
                    (Some(&var), None) => {
                        let term = *(self.definitions.entry((*part, var)))
                            .or_insert_with(|| definition(terms, *part, var));
                        if let Some(value) = term.and_then(|term| evaluate(terms, term, known)) {
                            known.insert(var, value);
                            changed = true;
                        }
                        true
                    }
                    _ => true,
                }
            });
            if failed {
                return false;
            }
        }
        true
    }

    /// Preferences for the values of the clause's variables, the most important first: a fact that
    /// differs from the premise, then random values, or comparisons at their bounds. Those that are
    /// kept for a run are not about numbers of the head, which the step computes.
    fn preferences(&mut self, clause: usize, vars: &[TermId], keep: bool) -> Vec<TermId> {
        let terms = &self.system.terms;
        let of_clause = &self.system.clauses[clause];
        let Some(head) = &of_clause.head else {
            return Vec::new();
        };
        let mut preferences = Vec::new();
        if let [atom] = &of_clause.body[..]
            && atom.predicate == head.predicate
        {
            let pairs = atom.args.iter().zip(&head.args);
            let same: Vec<TermId> = pairs.map(|(&a, &b)| terms.eq(a, b)).collect();
            preferences.push(terms.not(terms.and(&same)));
        }
        let limits = self.limits.entry(clause).or_insert_with(|| {
            let mut limits = Vec::new();
            terms.post_order(&[of_clause.constraint], |t| {
                if let Some(comparison) = Comparison::of(terms, t) {
                    limits.push(terms.eq(comparison.sides.0, comparison.sides.1));
                } else if let (Op::BvSle | Op::BvUle, &[a, b]) = (terms.op(t), terms.args(t)) {
                    limits.push(terms.eq(a, b));
                }
            });
            limits
        });
        let random = &mut self.random;
        let mut draw = |from: &[TermId]| {
            (0..LIMITS.preferences)
                .filter_map(|_| match random.below(2) {
                    0 => random.of(limits).or_else(|| random.preference(terms, from)),
                    _ => random.preference(terms, from),
                })
                .collect()
        };
        if keep {
            let free = |v: &&TermId| terms.sort_of(**v) == SortId::BOOL || !head.args.contains(v);
            let free: Vec<TermId> = vars.iter().filter(free).copied().collect();
            let kept = self.kept_preferences.entry(clause);
            let kept: &Vec<TermId> = kept.or_insert_with(|| draw(&free));
            preferences.extend(kept);
        } else {
            let drawn: Vec<TermId> = draw(vars);
            preferences.extend(drawn);
        }
        preferences
    }

    /// Facts to choose from for each body atom; the given fact is the only one for one of them.
    fn premises(
        &mut self,
        clause: usize,
        from: Option<(PredicateId, usize)>,
    ) -> Option<Vec<Vec<usize>>> {
        let body = &self.system.clauses[clause].body;
        let place = match from {
            None => None,
            Some((predicate, fact)) => {
                let is = |&at: &usize| body[at].predicate == predicate;
                let mut places: Vec<usize> = (0..body.len()).filter(is).collect();
                places.retain(|&at| self.fits(clause, at, fact));
                Some((self.random.of(&places)?, fact))
            }
        };
        let mut premises = Vec::with_capacity(body.len());
        for (at, atom) in body.iter().enumerate() {
            if let Some((_, fact)) = place.filter(|place| place.0 == at) {
                premises.push(vec![fact]);
                continue;
            }
            let known = self.by_predicate.get(&atom.predicate)?.clone();
            let draws = (0..LIMITS.premise_draws).filter_map(|_| self.random.of(&known));
            let mut some: Vec<usize> = draws.collect();
            some.sort_unstable();
            some.dedup();
            some.retain(|&fact| self.fits(clause, at, fact));
            while some.len() > LIMITS.premise_choices {
                some.swap_remove(self.random.below(some.len()));
            }
            premises.push(some);
        }
        Some(premises)
    }

    /// Whether the fact satisfies the conjuncts of the clause that are about this body atom only.
    fn fits(&mut self, clause: usize, at: usize, fact: usize) -> bool {
        let (terms, of_clause) = (&self.system.terms, &self.system.clauses[clause]);
        let Some(atom) = of_clause.body.get(at) else {
            return false;
        };
        let guards = self.guards.entry((clause, at)).or_insert_with(|| {
            let about = |part: &TermId| {
                let vars = terms.free_vars(&[*part]);
                vars.iter().all(|var| atom.args.contains(var))
            };
            let parts = terms.conjuncts(of_clause.constraint).into_iter();
            parts.filter(about).collect()
        });
        let values = self.states[fact].fact.iter().flat_map(|f| &f.values);
        let assignment: Assignment = atom.args.iter().copied().zip(values.copied()).collect();
        let mut evaluator = Evaluator::new(terms, &assignment);
        // Terms without a value are left to the solver.
        guards
            .iter()
            .all(|&guard| evaluator.value(guard) != Some(TermId::FALSE))
    }

    /// The clauses that may derive something new from the fact.
    fn open(&self, (predicate, fact): (PredicateId, usize)) -> impl Iterator<Item = usize> {
        let clauses = self.index.using(predicate).iter().copied();
        clauses.filter(move |&clause| !self.spent.contains(&(fact, clause)))
    }

    /// A fact that may lead to something new, with its position: mostly of the predicate with the
    /// fewest facts.
    fn known_fact(&mut self) -> Option<(PredicateId, usize)> {
        let is_open = |p: PredicateId, fact: usize| self.open((p, fact)).next().is_some();
        let known = self.by_predicate.iter();
        let mut known: Vec<(usize, PredicateId, Vec<usize>)> = known
            .map(|(&p, facts)| {
                let open = facts.iter().copied().filter(|&fact| is_open(p, fact));
                (facts.len(), p, open.collect())
            })
            .filter(|(_, _, open): &(_, _, Vec<usize>)| !open.is_empty())
            .collect();
        known.sort_unstable();
        let at = match self.random.below(4) {
            0 => self.random.below(known.len().max(1)),
            _ => 0,
        };
        let (_, predicate, open) = known.get(at)?;
        Some((*predicate, self.random.of(open)?))
    }

    /// Adds a fact, unless it is known, and returns its position.
    pub(super) fn add(&mut self, fact: Fact, step: RefutationStep) -> usize {
        let predicate = fact.predicate;
        let next = self.states.len();
        let at = *self.known.entry(fact).or_insert(next);
        if at == next {
            self.by_predicate.entry(predicate).or_default().push(at);
            self.states.push(step);
        }
        at
    }

    /// The values of the facts of the predicate.
    pub fn facts(&self, predicate: PredicateId) -> impl Iterator<Item = &[TermId]> {
        let known = self.by_predicate.get(&predicate).into_iter().flatten();
        let facts = known.filter_map(|&at| self.states[at].fact.as_ref());
        facts.map(|fact| &fact.values[..])
    }

    /// The refutation that ends with the query.
    pub(super) fn refutation(&self, query: RefutationStep) -> Refutation {
        let mut needed = vec![false; self.states.len()];
        let mut open = query.premises.clone();
        while let Some(at) = open.pop() {
            if !std::mem::replace(&mut needed[at], true) {
                open.extend(&self.states[at].premises);
            }
        }
        let mut position = vec![0; self.states.len()];
        let mut steps = Vec::new();
        let used = self.states.iter().enumerate().filter(|(at, _)| needed[*at]);
        for (at, step) in used
            .map(|(at, step)| (Some(at), step))
            .chain([(None, &query)])
        {
            if let Some(at) = at {
                position[at] = steps.len();
            }
            let mut step = step.clone();
            step.premises.iter_mut().for_each(|p| *p = position[*p]);
            steps.push(step);
        }
        Refutation { steps }
    }
}

/// Pseudo-random numbers (xorshift, Marsaglia 2003).
struct Random(u64);

impl Random {
    /// A number below the limit.
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }

    /// An equation of one of the variables with some value.
    fn preference(&mut self, terms: &TermStore, vars: &[TermId]) -> Option<TermId> {
        let numbers = LIMITS.preferred_numbers;
        let var = self.of(vars)?;
        match terms.sort_of(var) {
            SortId::BOOL if self.below(2) == 0 => Some(var),
            SortId::BOOL => Some(terms.not(var)),
            sort if sort.is_number() => {
                let range = (numbers.end - numbers.start) as usize;
                let number = numbers.start + self.below(range) as i64;
                let number = Rational::from_integer(number.into());
                Some(terms.eq(var, terms.number(&number, sort)))
            }
            sort if matches!(terms.sort(sort), Sort::BitVec(_)) => {
                let range = (numbers.end - numbers.start) as usize;
                let number = numbers.start + self.below(range) as i64;
                Some(terms.eq(
                    var,
                    terms.bitvec(BigUint::from(number as u64), terms.width(var)),
                ))
            }
            _ => None,
        }
    }

    /// One of several; `None` if there are none.
    fn of<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        match all.len() {
            0 => None,
            count => Some(all[self.below(count)]),
        }
    }
}
