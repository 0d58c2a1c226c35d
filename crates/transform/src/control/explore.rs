//! Explores the reachable valuations of the arguments that are split on, by a worklist.
//!
//! Invariant: a combination of valuations without an edge contradicts its clause, by evaluation or
//! by the solver's answer.

use std::collections::VecDeque;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::super::unconstrained::constrained_part;
use super::candidates::{plain_values, size};
use super::limits::LIMITS;
use alphorn_chc::{Atom, ClauseIndex, PredicateId, System};
use alphorn_smt::{SatResult, Smt, Solver};
use alphorn_term::run::Budget;
use alphorn_term::{TermId, TermStore};

/// Why there is no graph.
pub(super) enum Failure {
    /// A limit on size was exceeded; with the predicate that caused it, if known.
    TooLarge(Option<PredicateId>),
    /// The solver had no answer, or the budget or the fuel ended.
    Undecided,
}

/// A clause under values of its atoms' arguments that are split on.
pub(super) struct Edge {
    /// The position of the clause.
    pub clause: usize,
    /// For each atom the number of its predicate's valuation; zero if it is not split.
    pub valuations: Vec<usize>,
    pub constraint: TermId,
}

/// The reachable valuations, and the edges between them.
#[derive(Default)]
pub(super) struct Graph {
    /// The positions that are split on.
    pub choice: FxHashMap<PredicateId, Vec<usize>>,
    pub valuations: FxHashMap<PredicateId, Vec<Vec<TermId>>>,
    pub edges: Vec<Edge>,
}

pub(super) struct Explorer<'a> {
    system: &'a System,
    terms: &'a TermStore,
    sizes: &'a [usize],
    /// The values that the clauses' constraints give to variables.
    plain: FxHashMap<usize, FxHashMap<TermId, TermId>>,
    /// The numbers of subterms of the clauses' constraints.
    dag: FxHashMap<usize, usize>,
    smt: Rc<Smt>,
    graph: Graph,
    numbers: FxHashMap<(PredicateId, Vec<TermId>), usize>,
    /// How many of a predicate's valuations have been combined with others.
    combined: FxHashMap<PredicateId, usize>,
    queue: VecDeque<PredicateId>,
    fuel: &'a mut usize,
    pub queries: usize,
    /// Number and size of the edges so far.
    pub edges: usize,
    pub size: usize,
    pub size_limit: usize,
    edges_limit: usize,
    /// For each predicate the size of its clauses before and after splitting.
    shares: FxHashMap<PredicateId, (usize, usize)>,
}

impl<'a> Explorer<'a> {
    pub fn new(
        system: &'a System,
        sizes: &'a [usize],
        choice: FxHashMap<PredicateId, Vec<usize>>,
        smt: Rc<Smt>,
        fuel: &'a mut usize,
    ) -> Explorer<'a> {
        Explorer {
            system,
            terms: &system.terms,
            sizes,
            plain: FxHashMap::default(),
            dag: FxHashMap::default(),
            smt,
            graph: Graph {
                choice,
                ..Graph::default()
            },
            numbers: FxHashMap::default(),
            combined: FxHashMap::default(),
            queue: VecDeque::new(),
            fuel,
            queries: 0,
            edges: 0,
            size: 0,
            size_limit: usize::MAX,
            edges_limit: 0,
            shares: FxHashMap::default(),
        }
    }

    fn is_split(&self, atom: &Atom) -> bool {
        self.graph.choice.contains_key(&atom.predicate)
    }

    /// The predicates whose splitting made the clauses grow most.
    pub fn blamed(&self) -> Vec<PredicateId> {
        let ratio = |p: &PredicateId| {
            let (before, after) = self.shares.get(p).copied().unwrap_or_default();
            after as f64 / before.max(1) as f64
        };
        let worst = self.graph.choice.keys().map(ratio).fold(0.0, f64::max);
        let blamed = self.graph.choice.keys().filter(|p| ratio(p) >= worst / 2.0);
        blamed.copied().collect()
    }

    pub fn run(&mut self, budget: &Budget) -> Result<Graph, Failure> {
        let system = self.system;
        let clauses = ClauseIndex::new(system);
        let (mut touched, mut before, mut untouched) = (0, 0, 0usize);
        for (index, clause) in system.clauses.iter().enumerate() {
            let mut split: Vec<PredicateId> = clause
                .atoms()
                .filter(|a| self.is_split(a))
                .map(|a| a.predicate)
                .collect();
            if split.is_empty() {
                untouched += self.sizes[index];
                continue;
            }
            split.sort_unstable();
            split.dedup();
            touched += 1;
            before += self.sizes[index];
            for predicate in split {
                self.shares.entry(predicate).or_default().0 += self.sizes[index];
            }
        }
        self.edges_limit = LIMITS.max_edges.0 + LIMITS.max_edges.1 * touched;
        let left = self.size_limit.saturating_sub(untouched);
        self.size_limit = left.min(LIMITS.max_growth_factor * before);
        for (index, clause) in system.clauses.iter().enumerate() {
            if clause.head.as_ref().is_some_and(|h| self.is_split(h))
                && !clause.body.iter().any(|a| self.is_split(a))
            {
                self.combine(index, &vec![0; clause.body.len()])?;
            }
        }
        while let Some(predicate) = self.queue.pop_front() {
            let newest = self.combined.get(&predicate).copied().unwrap_or(0);
            // Each combination is considered once, when the last of its valuations is combined: at
            // positions before this one the predicate has older valuations only.
            for &index in clauses.using(predicate) {
                let body = &system.clauses[index].body;
                for position in 0..body.len() {
                    if body[position].predicate != predicate {
                        continue;
                    }
                    let counts: Vec<(usize, usize)> = body
                        .iter()
                        .enumerate()
                        .map(|(i, atom)| {
                            if !self.is_split(atom) {
                                return (0, 1);
                            }
                            let known = self.combined.get(&atom.predicate).copied().unwrap_or(0);
                            if i == position {
                                (newest, newest + 1)
                            } else if atom.predicate == predicate && i > position {
                                (0, known + 1)
                            } else {
                                (0, known)
                            }
                        })
                        .collect();
                    if counts.iter().any(|c| c.0 == c.1) {
                        continue;
                    }
                    let mut current: Vec<usize> = counts.iter().map(|c| c.0).collect();
                    loop {
                        if budget.is_spent() {
                            return Err(Failure::Undecided);
                        }
                        self.combine(index, &current)?;
                        let Some(i) = (0..current.len()).find(|&i| current[i] + 1 < counts[i].1)
                        else {
                            break;
                        };
                        current[i] += 1;
                        for j in 0..i {
                            current[j] = counts[j].0;
                        }
                    }
                }
            }
            self.combined.insert(predicate, newest + 1);
        }
        Ok(std::mem::take(&mut self.graph))
    }

    /// Adds the edges of a clause for one combination of its body's valuations.
    fn combine(&mut self, index: usize, body: &[usize]) -> Result<(), Failure> {
        let system = self.system;
        let clause = &system.clauses[index];
        let mut map: FxHashMap<TermId, TermId> = FxHashMap::default();
        for (atom, &number) in clause.body.iter().zip(body) {
            if let Some(positions) = self.graph.choice.get(&atom.predicate) {
                let valuation = &self.graph.valuations[&atom.predicate][number];
                let args = positions.iter().map(|&p| atom.args[p]);
                map.extend(args.zip(valuation.iter().copied()));
            }
        }
        let terms = self.terms;
        let plain = self.plain.entry(index);
        let plain = plain.or_insert_with(|| plain_values(terms, clause.constraint));
        if map
            .iter()
            .any(|(v, t)| plain.get(v).is_some_and(|p| p != t))
        {
            return Ok(());
        }
        // The clause itself gives all of the values, so there is no other edge; whether this edge
        // exists is left to other passes.
        let is_whole = map.keys().all(|v| plain.contains_key(v));
        let constraint = self.substitute(index, clause.constraint, &map)?;
        if constraint == TermId::FALSE {
            return Ok(());
        }
        let Some(head) = clause.head.as_ref().filter(|h| self.is_split(h)) else {
            let mut numbers = body.to_vec();
            numbers.extend(clause.head.iter().map(|_| 0));
            let is_sure = is_whole || constraint == TermId::TRUE;
            if !is_sure && self.decide(constraint, &[])? == SatResult::Unsat {
                return Ok(());
            }
            return self.add_edge(index, numbers, constraint);
        };
        let positions = &self.graph.choice[&head.predicate];
        let vars: Vec<TermId> = positions.iter().map(|&p| head.args[p]).collect();
        let mut found: Vec<Vec<TermId>> = Vec::new();
        let plain = plain_values(self.terms, constraint);
        let values: Option<Vec<TermId>> = vars.iter().map(|v| plain.get(v).copied()).collect();
        if let Some(values) = values {
            if is_whole || self.decide(constraint, &vars)? != SatResult::Unsat {
                found.push(values);
            }
        } else {
            let mut solver = self.solver(constraint, &vars);
            loop {
                if found.len() > LIMITS.max_successors {
                    return Err(Failure::TooLarge(Some(head.predicate)));
                }
                match self.check(&mut solver)? {
                    SatResult::Unsat => break,
                    SatResult::Unknown(_) => return Err(Failure::Undecided),
                    SatResult::Sat => {}
                }
                let model = solver.model();
                let values: Option<Vec<TermId>> =
                    model.and_then(|m| vars.iter().map(|&v| m.value(v).ok()).collect());
                let Some(values) = values else {
                    return Err(Failure::Undecided);
                };
                let equations: Vec<TermId> = vars
                    .iter()
                    .zip(&values)
                    .map(|(&v, &t)| terms.eq(v, t))
                    .collect();
                solver.assert(terms.not(terms.and(&equations)));
                found.push(values);
            }
        }
        for values in found {
            let map: FxHashMap<TermId, TermId> =
                vars.iter().copied().zip(values.iter().copied()).collect();
            let part = self.substitute(index, constraint, &map)?;
            if part == TermId::FALSE {
                continue;
            }
            let number = self.number(head.predicate, values)?;
            let mut numbers = body.to_vec();
            numbers.push(number);
            self.add_edge(index, numbers, part)?;
        }
        Ok(())
    }

    fn substitute(
        &mut self,
        index: usize,
        formula: TermId,
        map: &FxHashMap<TermId, TermId>,
    ) -> Result<TermId, Failure> {
        let visited = *self.dag.entry(index).or_insert_with(|| {
            self.terms
                .dag_size(&[self.system.clauses[index].constraint])
        });
        *self.fuel = match self.fuel.checked_sub(visited) {
            Some(rest) => rest,
            None => return Err(Failure::Undecided),
        };
        Ok(self.terms.substitute(formula, map))
    }

    /// A solver with the part of a constraint that matters for these variables. Under the values of
    /// the body's atoms most constraints are small, so a new solver is faster than one with the
    /// whole clause.
    fn solver(&self, constraint: TermId, vars: &[TermId]) -> Solver {
        let mut solver = self.smt.solver();
        let vars = vars.iter().copied().collect();
        solver.assert(constrained_part(self.terms, constraint, &vars));
        solver
    }

    fn decide(&mut self, constraint: TermId, vars: &[TermId]) -> Result<SatResult, Failure> {
        let mut solver = self.solver(constraint, vars);
        self.check(&mut solver)
    }

    fn check(&mut self, solver: &mut Solver) -> Result<SatResult, Failure> {
        self.queries += 1;
        if self.queries > LIMITS.max_queries {
            return Err(Failure::TooLarge(None));
        }
        Ok(solver.check(&[]))
    }

    /// The number of a valuation; a new valuation is added to the worklist.
    fn number(&mut self, predicate: PredicateId, values: Vec<TermId>) -> Result<usize, Failure> {
        if let Some(&number) = self.numbers.get(&(predicate, values.clone())) {
            return Ok(number);
        }
        let list = self.graph.valuations.entry(predicate).or_default();
        let number = list.len();
        if number >= LIMITS.max_valuations {
            return Err(Failure::TooLarge(Some(predicate)));
        }
        list.push(values.clone());
        self.numbers.insert((predicate, values), number);
        self.queue.push_back(predicate);
        Ok(number)
    }

    fn add_edge(
        &mut self,
        index: usize,
        valuations: Vec<usize>,
        constraint: TermId,
    ) -> Result<(), Failure> {
        let system = self.system;
        let clause = &system.clauses[index];
        let size = size(self.terms, constraint);
        self.edges += 1;
        self.size += size;
        let mut split: Vec<PredicateId> = clause.atoms().map(|a| a.predicate).collect();
        split.sort_unstable();
        split.dedup();
        for predicate in split {
            if let Some(share) = self.shares.get_mut(&predicate) {
                share.1 += size;
            }
        }
        self.graph.edges.push(Edge {
            clause: index,
            valuations,
            constraint,
        });
        if self.edges > self.edges_limit || self.size > self.size_limit {
            return Err(Failure::TooLarge(None));
        }
        Ok(())
    }
}
