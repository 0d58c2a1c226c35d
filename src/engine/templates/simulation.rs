//! Facts that clauses derive, applied at random.
//!
//! Invariant: each fact has a derivation, by a clause from facts before it.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::chc::{ClauseIndex, PredicateId, System};
use crate::proof::{Stop, values};
use crate::run::Budget;
use crate::smt::{SatResult, Smt, Solver};
use crate::term::{Random, Rational, SortId, TermId, TermStore};
use crate::witness::{Fact, Refutation, RefutationStep};

/// Steps of runs, in turn: short ones show what there is, long ones how far counters go.
const RUNS: [usize; 4] = [10, 30, 100, 300];

/// Variables of a clause for which values are wished, and the numbers that are wished for.
const WISHES: usize = 6;
const NUMBERS: std::ops::Range<i64> = -3..13;

/// Tries for each fact that is looked for, at most.
const TRIES: usize = 3;

/// Seed of the choices: they are the same in each run.
const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

/// See the module.
pub(super) struct Simulation<'a> {
    system: &'a System,
    smt: Rc<Smt>,
    index: Rc<ClauseIndex>,
    solvers: FxHashMap<usize, Solver>,
    /// What was derived, in this order.
    pub states: Vec<RefutationStep>,
    by_predicate: FxHashMap<PredicateId, Vec<usize>>,
    /// The positions of the facts.
    known: FxHashMap<Fact, usize>,
    /// By clause, what is wished for throughout a run.
    held: FxHashMap<usize, Vec<TermId>>,
    random: Random,
}

impl<'a> Simulation<'a> {
    /// No fact is derived yet.
    pub fn new(system: &'a System, smt: &Rc<Smt>) -> Self {
        Simulation {
            system,
            smt: smt.clone(),
            index: Rc::new(ClauseIndex::new(system)),
            solvers: FxHashMap::default(),
            states: Vec::new(),
            by_predicate: FxHashMap::default(),
            known: FxHashMap::default(),
            held: FxHashMap::default(),
            random: Random::new(SEED),
        }
    }

    /// Derives so many facts, fewer if there are no more or the budget is spent. Returns a
    /// refutation if that comes to a query.
    pub fn run(&mut self, count: usize, budget: &Budget) -> Result<Option<Refutation>, Stop> {
        let index = Rc::clone(&self.index);
        let entries = index.entries();
        let mut last = None;
        // Steps left in this run. First each entry has a chance to come.
        let (mut left, mut runs) = (0, 0);
        let mut hold = false;
        for at in 0..TRIES * count {
            if self.states.len() >= count || budget.is_spent() {
                break;
            }
            if left == 0 && at >= 2 * entries.len() {
                left = RUNS[runs % RUNS.len()];
                runs += 1;
                last = None;
                hold = self.random.one_in(2);
                self.held.clear();
            }
            left = left.saturating_sub(1);
            let from = last.filter(|_| left > 0);
            let clause = match from {
                None => one_of(&mut self.random, entries),
                Some((predicate, _)) => one_of(&mut self.random, index.using(predicate)),
            };
            let Some(clause) = clause else {
                left = 0;
                continue;
            };
            let Some(derived) = self.apply(clause, from, hold, budget)? else {
                continue;
            };
            last = match derived.fact.clone() {
                Some(fact) => Some((fact.predicate, self.add(fact, derived))),
                None => return Ok(Some(self.refutation(derived))),
            };
        }
        Ok(None)
    }

    /// A step by a clause, one of whose premises is the given fact; `None` if there is none, or it
    /// is not found. Its premises are positions of facts.
    fn apply(
        &mut self,
        clause: usize,
        from: Option<(PredicateId, usize)>,
        hold: bool,
        budget: &Budget,
    ) -> Result<Option<RefutationStep>, Stop> {
        let Some(premises) = self.premises(clause, from) else {
            return Ok(None);
        };
        let (terms, system) = (&self.system.terms, self.system);
        let clause_of = &system.clauses[clause];
        let vars = clause_of.vars(terms);
        let mut wishes = self.wishes(clause, &vars, hold);
        let smt = &self.smt;
        let solver = self.solvers.entry(clause).or_insert_with(|| {
            let mut solver = smt.solver();
            solver.assert(clause_of.constraint);
            solver
        });
        solver.push();
        for (atom, &premise) in clause_of.body.iter().zip(&premises) {
            let fact = self.states[premise].fact.iter();
            for (&arg, &value) in fact.flat_map(|f| atom.args.iter().zip(&f.values)) {
                solver.assert(terms.eq(arg, value));
            }
        }
        let model = loop {
            match solver.check(&wishes) {
                SatResult::Sat => break solver.model(),
                // One wish at least is too much.
                SatResult::Unsat if !wishes.is_empty() => wishes.truncate(wishes.len() / 2),
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
        let fact = clause_of.head.as_ref().map(|head| Fact {
            predicate: head.predicate,
            values: head.args.iter().map(|arg| values[arg]).collect(),
        });
        Ok(Some(RefutationStep {
            clause: clause_of.id,
            values,
            premises,
            fact,
        }))
    }

    /// What the variables of a clause are to be, what matters most first: something else than
    /// before, and values at random. What is held is no number that a step is to come to.
    fn wishes(&mut self, clause: usize, vars: &[TermId], hold: bool) -> Vec<TermId> {
        let terms = &self.system.terms;
        let of_clause = &self.system.clauses[clause];
        let Some(head) = &of_clause.head else {
            return Vec::new();
        };
        let mut wishes = Vec::new();
        if let [atom] = &of_clause.body[..]
            && atom.predicate == head.predicate
        {
            let pairs = atom.args.iter().zip(&head.args);
            let same: Vec<TermId> = pairs.map(|(&a, &b)| terms.eq(a, b)).collect();
            wishes.push(terms.not(terms.and(&same)));
        }
        let random = &mut self.random;
        let mut draw = |from: &[TermId]| {
            (0..WISHES)
                .filter_map(|_| wish(random, terms, from))
                .collect()
        };
        if hold {
            let free = |v: &&TermId| terms.sort_of(**v) == SortId::BOOL || !head.args.contains(v);
            let free: Vec<TermId> = vars.iter().filter(free).copied().collect();
            let held: &Vec<TermId> = self.held.entry(clause).or_insert_with(|| draw(&free));
            wishes.extend(held);
        } else {
            let drawn: Vec<TermId> = draw(vars);
            wishes.extend(drawn);
        }
        wishes
    }

    /// Facts for a clause's body, the given one among them.
    fn premises(
        &mut self,
        clause: usize,
        from: Option<(PredicateId, usize)>,
    ) -> Option<Vec<usize>> {
        let body = &self.system.clauses[clause].body;
        let mut premises = Vec::with_capacity(body.len());
        for atom in body {
            let known = self.by_predicate.get(&atom.predicate)?;
            premises.push(one_of(&mut self.random, known)?);
        }
        if let Some((predicate, from)) = from {
            let fits = |&at: &usize| body[at].predicate == predicate;
            let places: Vec<usize> = (0..body.len()).filter(fits).collect();
            premises[one_of(&mut self.random, &places)?] = from;
        }
        Some(premises)
    }

    /// The position of a fact, which may be known already.
    fn add(&mut self, fact: Fact, step: RefutationStep) -> usize {
        let predicate = fact.predicate;
        let next = self.states.len();
        let at = *self.known.entry(fact).or_insert(next);
        if at == next {
            self.by_predicate.entry(predicate).or_default().push(at);
            self.states.push(step);
        }
        at
    }

    /// The values of the facts about a predicate.
    pub fn facts(&self, predicate: PredicateId) -> impl Iterator<Item = &[TermId]> {
        let known = self.by_predicate.get(&predicate).into_iter().flatten();
        let facts = known.filter_map(|&at| self.states[at].fact.as_ref());
        facts.map(|fact| &fact.values[..])
    }

    /// The derivation that ends with a query.
    fn refutation(&self, query: RefutationStep) -> Refutation {
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

/// That a variable has some value.
fn wish(random: &mut Random, terms: &TermStore, vars: &[TermId]) -> Option<TermId> {
    let var = one_of(random, vars)?;
    match terms.sort_of(var) {
        SortId::BOOL if random.one_in(2) => Some(var),
        SortId::BOOL => Some(terms.not(var)),
        sort if sort.is_number() => {
            let number = random.between(NUMBERS.start, NUMBERS.end - 1);
            let number = Rational::from_integer(number.into());
            Some(terms.eq(var, terms.number(&number, sort)))
        }
        _ => None,
    }
}

/// One of several; none of none.
fn one_of<T: Copy>(random: &mut Random, all: &[T]) -> Option<T> {
    match all.is_empty() {
        true => None,
        false => Some(*random.pick(all)),
    }
}
