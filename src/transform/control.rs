//! Control recovery: arguments that act as a program counter become predicates.
//!
//! A transition system as hardware-minded tools write it has one predicate, and hides the program's
//! locations in a few of its arguments. A predicate is split here into one for each reachable
//! valuation of such arguments, without them; what is left of a clause under a valuation is an edge
//! of the control-flow graph. That the graph becomes small again is the business of inlining.
//!
//! Valuations are found by a worklist: for each clause and each combination of known valuations of
//! its body, the solver is asked for valuations of the head, one after another, unless the
//! constraint says plainly what it is. The clauses' other variables are not restricted, so what is
//! found is reachable in the graph, not always in the program. Which arguments are split on is
//! decided by cost: candidates are Booleans, enumerations and arguments that only ever have a few
//! constants ([`few_values`]) and are tested; those under whose values the constraints shrink most
//! come first, and as many are taken as leave the clauses' total size within a factor of what it was.
//! Data does not pass this test, since the clauses are as large under each of its values.
//!
//! Invariant: a combination of valuations without an edge contradicts its clause, so a predicate is
//! false at valuations that were not reached; each edge remembers its clause and the values.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};

use super::essential::essential;
use super::few::{Place, all_values, few_values};
use super::replay::{OldStep, replay};
use super::{BackError, BackTranslation, Step, TransformError, Transformation, complete_model};
use crate::chc::{Atom, Clause, ClauseId, DependencyGraph, PredicateId, System};
use crate::run::{Budget, Context};
use crate::smt::{SatResult, Smt, Solver};
use crate::term::{Op, Sort, SortId, TermId, TermStore};
use crate::witness::{Model, Refutation};

/// Values that one argument may have to be split on.
const VALUES: usize = 32;

/// Arguments of one predicate that are considered together.
const CANDIDATES: usize = 16;

/// Valuations of one predicate at most.
const VALUATIONS: usize = 1024;

/// Valuations of a clause's head under one combination of its body's.
const SUCCESSORS: usize = 32;

/// The size of the clauses of split predicates may grow by this factor, and so may that of all
/// clauses in one run.
const GROWTH: usize = 3;

/// Clauses that may always be made, and for each clause there was.
const EDGES: (usize, usize) = (1024, 4);

/// What an argument must save: at 1 the constraints are as large under each value, at 0 the values
/// divide them.
const WASTE: f64 = 0.7;

/// Sub-terms visited by substitution at most, in one run.
const FUEL: usize = 10_000_000;

/// Time for all applications in one run, beyond which nothing new is tried.
const PATIENCE: Duration = Duration::from_secs(4);

/// Queries of one attempt at most.
const QUERIES: usize = 4_000;

/// The pass. Fuel, time and growth are budgets for all its applications in one run.
pub struct Control {
    fuel: Cell<usize>,
    spent: Cell<Duration>,
    /// Bound on the size of all clauses.
    size: Cell<Option<usize>>,
    /// Predicates that were not worth it, with the size of their clauses at that time; once it is
    /// much smaller, they may be.
    rejected: RefCell<FxHashMap<PredicateId, usize>>,
}

impl Default for Control {
    fn default() -> Self {
        Control {
            fuel: Cell::new(FUEL),
            spent: Cell::default(),
            size: Cell::default(),
            rejected: RefCell::default(),
        }
    }
}

impl Transformation for Control {
    fn name(&self) -> &'static str {
        "control"
    }

    fn apply(&self, system: System, cx: &mut Context) -> Result<Step, TransformError> {
        let start = Instant::now();
        let old = Rc::new(system);
        let mut fuel = self.fuel.get();
        let split = self.plan(&old, &mut fuel, cx);
        self.fuel.set(fuel);
        self.spent.set(self.spent.get() + start.elapsed());
        let Some(graph) = split else {
            return Ok(Step {
                system: (*old).clone(),
                back: Box::new(Back {
                    old,
                    splits: Vec::new(),
                    edges: FxHashMap::default(),
                }),
                changed: false,
            });
        };
        let (system, back) = graph.build(old);
        let locations: usize = back.splits.iter().map(|s| s.parts.len()).sum();
        log::debug!(
            "{} predicates split into {locations}, {} edges",
            back.splits.len(),
            back.edges.len()
        );
        Ok(Step {
            system,
            back: Box::new(back),
            changed: true,
        })
    }
}

impl Control {
    /// The graph to split along, if one is worth it.
    fn plan(&self, system: &System, fuel: &mut usize, cx: &Context) -> Option<Graph> {
        let terms = &system.terms;
        let left = PATIENCE.checked_sub(self.spent.get())?;
        let sizes: Vec<usize> = system
            .clauses
            .iter()
            .map(|c| size(terms, c.constraint))
            .collect();
        let limit = self
            .size
            .get()
            .unwrap_or_else(|| GROWTH * sizes.iter().sum::<usize>());
        self.size.set(Some(limit));
        let mut weight: FxHashMap<PredicateId, usize> = FxHashMap::default();
        for (clause, size) in system.clauses.iter().zip(&sizes) {
            let mut predicates: Vec<PredicateId> = clause.atoms().map(|a| a.predicate).collect();
            predicates.sort_unstable();
            predicates.dedup();
            for predicate in predicates {
                *weight.entry(predicate).or_default() += size;
            }
        }
        let mut rejected = self.rejected.borrow_mut();
        let mut ranked = candidates(system, fuel, cx);
        ranked.retain(|p, _| rejected.get(p).is_none_or(|old| 4 * weight[p] < 3 * old));
        if ranked.is_empty() {
            return None;
        }
        let budget = cx.budget.work(left);
        let smt = Smt::within(&budget);

        // For each predicate: how many of its candidates are known to do, how many are tried now,
        // and how many are known to be too many.
        let mut range: FxHashMap<PredicateId, (usize, usize, usize)> = ranked
            .iter()
            .map(|(p, list)| (*p, (0, list.len(), list.len() + 1)))
            .collect();
        let positions: FxHashMap<PredicateId, Vec<usize>> = ranked
            .iter()
            .map(|(p, list)| (*p, list.iter().map(|c| c.position).collect()))
            .collect();
        let mut best = None;
        let mut solvers = FxHashMap::default();
        while range.values().any(|r| r.1 > 0) {
            if budget.is_spent() {
                break;
            }
            let choice: FxHashMap<PredicateId, Vec<usize>> = range
                .iter()
                .filter(|(_, r)| r.1 > 0)
                .map(|(p, r)| {
                    let mut positions: Vec<usize> =
                        ranked[p][..r.1].iter().map(|c| c.position).collect();
                    positions.sort_unstable();
                    (*p, positions)
                })
                .collect();
            let mut explorer = Explorer::new(system, &sizes, &positions, choice, smt.clone(), fuel);
            explorer.size_limit = limit;
            explorer.solvers = std::mem::take(&mut solvers);
            let found = explorer.run(&budget);
            log::debug!(
                "{} arguments of {} predicates: {} after {} queries, {} edges, size {} of {}",
                range.values().map(|r| r.1).sum::<usize>(),
                range.values().filter(|r| r.1 > 0).count(),
                match &found {
                    Ok(_) => "a graph",
                    Err(Failure::TooLarge(_)) => "too large",
                    Err(Failure::Undecided) => "undecided",
                },
                explorer.queries,
                explorer.edges,
                explorer.size,
                explorer.size_limit
            );
            let blamed = explorer.blamed();
            solvers = std::mem::take(&mut explorer.solvers);
            match found {
                Ok(graph) => {
                    for r in range.values_mut() {
                        r.0 = r.1;
                    }
                    best = Some(graph);
                }
                Err(Failure::TooLarge(one)) => {
                    for predicate in one.map_or(blamed, |p| vec![p]) {
                        if let Some(r) = range.get_mut(&predicate) {
                            r.2 = r.1;
                        }
                    }
                }
                Err(Failure::Undecided) => break,
            }
            for r in range.values_mut() {
                r.1 = if r.2 - r.0 > 1 { (r.0 + r.2) / 2 } else { r.0 };
            }
            // Nothing is left to try.
            if range.values().all(|r| r.1 == r.0) {
                break;
            }
        }
        let split = best.as_ref().map(|g: &Graph| &g.choice);
        rejected.extend(
            ranked
                .keys()
                .filter(|p| !split.is_some_and(|s| s.contains_key(p)))
                .map(|p| (*p, weight[p])),
        );
        best
    }
}

/// The size of a constraint, in which variables, values and equations between them do not count:
/// that most arguments stay as they are is part of each step.
fn size(terms: &TermStore, constraint: TermId) -> usize {
    let leaf = |t: TermId| terms.is_var(t) || terms.is_value(t);
    let mut count = 2;
    terms.post_order(&[constraint], |term| {
        let args = terms.args(term);
        let plain = match terms.op(term) {
            Op::Eq => leaf(args[0]) && leaf(args[1]),
            Op::Not => leaf(args[0]),
            _ => leaf(term),
        };
        count += usize::from(!plain);
    });
    count
}

/// An argument that may be split on.
struct Candidate {
    position: usize,
    /// Between 0 and 1, see [`WASTE`].
    waste: f64,
}

/// Candidates of predicates on cycles, those that save most first.
fn candidates(
    system: &System,
    fuel: &mut usize,
    cx: &Context,
) -> FxHashMap<PredicateId, Vec<Candidate>> {
    let terms = &*system.terms;
    let recursive = DependencyGraph::new(system).recursive();
    let mut values: FxHashMap<Place, Vec<TermId>> = FxHashMap::default();
    let tested = tested(system);
    let mut open = Vec::new();
    for &predicate in &recursive {
        for (position, &param) in system.predicate(predicate).params.iter().enumerate() {
            let place = (predicate, position);
            if !tested.contains(&place) {
                continue;
            }
            let sort = terms.sort_of(param);
            match all_values(terms, sort, 8) {
                Some(all) => {
                    values.insert(place, all);
                }
                None if matches!(terms.sort(sort), Sort::Array(..)) => {}
                None => open.push(place),
            }
        }
    }
    open.sort_unstable();
    values.extend(few_values(system, &open, VALUES, cx));
    let mut places: Vec<Place> = values.keys().copied().collect();
    places.sort_unstable();
    let mut result: FxHashMap<PredicateId, Vec<Candidate>> = FxHashMap::default();
    let mut occurrences: FxHashMap<PredicateId, Vec<(usize, usize)>> = FxHashMap::default();
    for (index, clause) in system.clauses.iter().enumerate() {
        for (number, atom) in clause.atoms().enumerate() {
            let list = occurrences.entry(atom.predicate).or_default();
            list.push((index, number));
        }
    }
    let dag: Vec<usize> = system
        .clauses
        .iter()
        .map(|c| terms.dag_size(&[c.constraint]))
        .collect();
    let sizes: Vec<usize> = system
        .clauses
        .iter()
        .map(|c| size(terms, c.constraint))
        .collect();
    let free: Vec<FxHashSet<TermId>> = system
        .clauses
        .iter()
        .map(|c| terms.free_vars(&[c.constraint]).into_iter().collect())
        .collect();
    for place in places {
        // A program counter is always set.
        let set = |&(index, number): &(usize, usize)| {
            let clause = &system.clauses[index];
            let head = clause.head.as_ref().filter(|_| number == clause.body.len());
            head.is_none_or(|h| free[index].contains(&h.args[place.1]))
        };
        if !occurrences[&place.0].iter().all(set) {
            continue;
        }
        let own = &values[&place];
        let (mut before, mut after) = (0usize, 0usize);
        for &(index, number) in &occurrences[&place.0] {
            let clause = &system.clauses[index];
            let Some(atom) = clause.atoms().nth(number) else {
                continue;
            };
            if cx.stop().is_some() {
                return FxHashMap::default();
            }
            let Some(rest) = fuel.checked_sub(dag[index] * own.len()) else {
                return FxHashMap::default();
            };
            *fuel = rest;
            before += sizes[index];
            for &value in own {
                let map = FxHashMap::from_iter([(atom.args[place.1], value)]);
                let part = terms.substitute(clause.constraint, &map);
                if part != TermId::FALSE {
                    after += size(terms, part);
                }
            }
        }
        let repeated = before * own.len().saturating_sub(1);
        let waste = match repeated {
            0 => 0.0,
            _ => after.saturating_sub(before) as f64 / repeated as f64,
        };
        log::debug!(
            "argument {} of {}: {} values, waste {waste:.2}",
            place.1,
            system.predicate(place.0).name,
            own.len()
        );
        if waste <= WASTE {
            let list = result.entry(place.0).or_default();
            list.push(Candidate {
                position: place.1,
                waste,
            });
        }
    }
    for list in result.values_mut() {
        list.sort_by(|a, b| a.waste.total_cmp(&b.waste));
        list.truncate(CANDIDATES);
    }
    result
}

/// Arguments of body atoms that an atom of the constraint compares with a value, and Booleans that
/// occur in it.
fn tested(system: &System) -> FxHashSet<Place> {
    let terms = &*system.terms;
    let mut result = FxHashSet::default();
    for clause in &system.clauses {
        let mut places: FxHashMap<TermId, Place> = FxHashMap::default();
        for atom in &clause.body {
            for (position, &arg) in atom.args.iter().enumerate() {
                places.insert(arg, (atom.predicate, position));
            }
        }
        if places.is_empty() {
            continue;
        }
        terms.post_order(&[clause.constraint], |term| {
            let args = terms.args(term);
            let var = match terms.op(term) {
                Op::Var(_) if terms.sort_of(term) == SortId::BOOL => term,
                Op::Is(..) => args[0],
                Op::Eq | Op::Le | Op::Ge | Op::BvUle | Op::BvSle => {
                    if terms.is_value(args[0]) {
                        args[1]
                    } else if terms.is_value(args[1]) {
                        args[0]
                    } else {
                        return;
                    }
                }
                _ => return,
            };
            if let Some(&place) = places.get(&var) {
                result.insert(place);
            }
        });
    }
    result
}

/// Why there is no graph.
enum Failure {
    /// With the predicate that is to blame, where that is known.
    TooLarge(Option<PredicateId>),
    /// The solver, or the time, gave out.
    Undecided,
}

/// A clause under values of its atoms' arguments that are split on.
struct Edge {
    clause: usize,
    /// For each atom the number of its predicate's valuation; zero where it is not split.
    valuations: Vec<usize>,
    constraint: TermId,
}

/// The reachable valuations, and the edges between them.
struct Graph {
    /// The positions split on.
    choice: FxHashMap<PredicateId, Vec<usize>>,
    valuations: FxHashMap<PredicateId, Vec<Vec<TermId>>>,
    edges: Vec<Edge>,
}

struct Explorer<'a> {
    system: &'a System,
    terms: &'a TermStore,
    sizes: &'a [usize],
    /// All positions that any choice may take, which the solvers have to know.
    candidates: &'a FxHashMap<PredicateId, Vec<usize>>,
    /// Numbers of sub-terms of the clauses' constraints.
    dag: FxHashMap<usize, usize>,
    smt: Rc<Smt>,
    solvers: FxHashMap<usize, Solver>,
    graph: Graph,
    numbers: FxHashMap<(PredicateId, Vec<TermId>), usize>,
    /// How many of a predicate's valuations have been combined with others.
    combined: FxHashMap<PredicateId, usize>,
    queue: VecDeque<PredicateId>,
    fuel: &'a mut usize,
    queries: usize,
    /// Number and size of the edges so far.
    edges: usize,
    size: usize,
    size_limit: usize,
    edges_limit: usize,
    /// The same for each predicate.
    shares: FxHashMap<PredicateId, (usize, usize)>,
}

impl<'a> Explorer<'a> {
    fn new(
        system: &'a System,
        sizes: &'a [usize],
        candidates: &'a FxHashMap<PredicateId, Vec<usize>>,
        choice: FxHashMap<PredicateId, Vec<usize>>,
        smt: Rc<Smt>,
        fuel: &'a mut usize,
    ) -> Explorer<'a> {
        Explorer {
            system,
            terms: &system.terms,
            sizes,
            candidates,
            dag: FxHashMap::default(),
            smt,
            solvers: FxHashMap::default(),
            graph: Graph {
                choice,
                valuations: FxHashMap::default(),
                edges: Vec::new(),
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
    fn blamed(&self) -> Vec<PredicateId> {
        let ratio = |p: &PredicateId| {
            let (before, after) = self.shares.get(p).copied().unwrap_or_default();
            after as f64 / before.max(1) as f64
        };
        let worst = self.graph.choice.keys().map(ratio).fold(0.0, f64::max);
        let blamed = self.graph.choice.keys().filter(|p| ratio(p) >= worst / 2.0);
        blamed.copied().collect()
    }

    fn run(&mut self, budget: &Budget) -> Result<Graph, Failure> {
        let system = self.system;
        let mut using: FxHashMap<PredicateId, Vec<usize>> = FxHashMap::default();
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
                if clause.body.iter().any(|a| a.predicate == predicate) {
                    using.entry(predicate).or_default().push(index);
                }
            }
        }
        self.edges_limit = EDGES.0 + EDGES.1 * touched;
        let left = self.size_limit.saturating_sub(untouched);
        self.size_limit = left.min(GROWTH * before);
        for (index, clause) in system.clauses.iter().enumerate() {
            if clause.head.as_ref().is_some_and(|h| self.is_split(h))
                && !clause.body.iter().any(|a| self.is_split(a))
            {
                self.combine(index, &vec![0; clause.body.len()])?;
            }
        }
        while let Some(predicate) = self.queue.pop_front() {
            let newest = self.combined.get(&predicate).copied().unwrap_or(0);
            // Each combination is met once: when the last of its valuations is combined. At the
            // positions before this one the predicate has older valuations only.
            for &index in using.get(&predicate).into_iter().flatten() {
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
        Ok(std::mem::replace(
            &mut self.graph,
            Graph {
                choice: FxHashMap::default(),
                valuations: FxHashMap::default(),
                edges: Vec::new(),
            },
        ))
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
        let constraint = self.substitute(index, clause.constraint, &map)?;
        if constraint == TermId::FALSE {
            return Ok(());
        }
        let given: Vec<TermId> = map.iter().map(|(&v, &t)| self.terms.eq(v, t)).collect();
        let Some(head) = clause.head.as_ref().filter(|h| self.is_split(h)) else {
            let mut numbers = body.to_vec();
            numbers.extend(clause.head.iter().map(|_| 0));
            if constraint != TermId::TRUE && self.check(index, &given)? == SatResult::Unsat {
                return Ok(());
            }
            return self.add_edge(index, numbers, constraint);
        };
        let positions = &self.graph.choice[&head.predicate];
        let vars: Vec<TermId> = positions.iter().map(|&p| head.args[p]).collect();
        let mut found: Vec<Vec<TermId>> = Vec::new();
        if let Some(values) = self.plain_values(constraint, &vars) {
            if self.check(index, &given)? != SatResult::Unsat {
                found.push(values);
            }
        } else {
            self.solver(index).push();
            for &equation in &given {
                self.solver(index).assert(equation);
            }
            let result = loop {
                if found.len() > SUCCESSORS {
                    break Err(Failure::TooLarge(Some(head.predicate)));
                }
                match self.check(index, &[]) {
                    Err(failure) => break Err(failure),
                    Ok(SatResult::Unsat) => break Ok(()),
                    Ok(SatResult::Unknown(_)) => break Err(Failure::Undecided),
                    Ok(SatResult::Sat) => {}
                }
                let terms = self.terms;
                let solver = self.solver(index);
                let model = solver.model();
                let values: Option<Vec<TermId>> =
                    model.and_then(|m| vars.iter().map(|&v| m.value(v).ok()).collect());
                let Some(values) = values else {
                    break Err(Failure::Undecided);
                };
                let equations: Vec<TermId> = vars
                    .iter()
                    .zip(&values)
                    .map(|(&v, &t)| terms.eq(v, t))
                    .collect();
                solver.assert(terms.not(terms.and(&equations)));
                found.push(values);
            };
            self.solver(index).pop();
            result?;
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

    /// The values that conjuncts of the constraint give to all the variables.
    fn plain_values(&self, constraint: TermId, vars: &[TermId]) -> Option<Vec<TermId>> {
        let terms = self.terms;
        let mut known: FxHashMap<TermId, TermId> = FxHashMap::default();
        for conjunct in terms.conjuncts(constraint) {
            let args = terms.args(conjunct);
            match terms.op(conjunct) {
                Op::Var(_) => known.insert(conjunct, TermId::TRUE),
                Op::Not => known.insert(args[0], TermId::FALSE),
                Op::Eq if terms.is_value(args[1]) => known.insert(args[0], args[1]),
                Op::Eq if terms.is_value(args[0]) => known.insert(args[1], args[0]),
                _ => None,
            };
        }
        vars.iter().map(|v| known.get(v).copied()).collect()
    }

    /// The solver that knows what of the clause's constraint matters for the candidates.
    fn solver(&mut self, index: usize) -> &mut Solver {
        let clause = &self.system.clauses[index];
        let candidates = self.candidates;
        self.solvers.entry(index).or_insert_with(|| {
            let atoms = clause.body.iter().chain(&clause.head);
            let chosen = atoms.flat_map(|atom| {
                let positions = candidates.get(&atom.predicate).into_iter().flatten();
                positions.map(|&p| atom.args[p])
            });
            let mut solver = self.smt.solver();
            solver.assert(essential(self.terms, clause.constraint, &chosen.collect()));
            solver
        })
    }

    fn check(&mut self, index: usize, given: &[TermId]) -> Result<SatResult, Failure> {
        self.queries += 1;
        if self.queries > QUERIES {
            return Err(Failure::TooLarge(None));
        }
        Ok(self.solver(index).check(given))
    }

    /// The number of a valuation, which is to be combined if it is new.
    fn number(&mut self, predicate: PredicateId, values: Vec<TermId>) -> Result<usize, Failure> {
        if let Some(&number) = self.numbers.get(&(predicate, values.clone())) {
            return Ok(number);
        }
        let list = self.graph.valuations.entry(predicate).or_default();
        let number = list.len();
        if number >= VALUATIONS {
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

/// A predicate that was split.
struct Split {
    predicate: PredicateId,
    positions: Vec<usize>,
    parts: Vec<Part>,
}

/// What became of a predicate under one valuation.
struct Part {
    values: Vec<TermId>,
    predicate: PredicateId,
    params: Vec<TermId>,
}

impl Graph {
    /// The system with the edges in place of their clauses, and the way back.
    fn build(self, old: Rc<System>) -> (System, Back) {
        let terms = &old.terms;
        let mut system = (*old).clone();
        let mut splits: Vec<Split> = Vec::with_capacity(self.choice.len());
        let mut choice: Vec<(PredicateId, Vec<usize>)> = self.choice.into_iter().collect();
        choice.sort_unstable();
        for (predicate, positions) in choice {
            let sorts: Vec<_> = rest(&old.predicate(predicate).params, &positions)
                .map(|p| terms.sort_of(p))
                .collect();
            let name = old.predicate(predicate).name.clone();
            let valuations = self.valuations.get(&predicate).cloned().unwrap_or_default();
            let made: Vec<Part> = valuations
                .into_iter()
                .map(|values| {
                    let part = system.add_predicate(&name, &sorts);
                    Part {
                        values,
                        predicate: part,
                        params: system.predicate(part).params.clone(),
                    }
                })
                .collect();
            splits.push(Split {
                predicate,
                positions,
                parts: made,
            });
        }
        let place: FxHashMap<PredicateId, usize> = splits
            .iter()
            .enumerate()
            .map(|(at, s)| (s.predicate, at))
            .collect();
        let mut of_clause: FxHashMap<usize, Vec<Edge>> = FxHashMap::default();
        for edge in self.edges {
            of_clause.entry(edge.clause).or_default().push(edge);
        }
        let mut edges = FxHashMap::default();
        let mut clauses = Vec::with_capacity(old.clauses.len());
        for (index, clause) in old.clauses.iter().enumerate() {
            if !clause.atoms().any(|a| place.contains_key(&a.predicate)) {
                clauses.push(clause.clone());
                continue;
            }
            for edge in of_clause.remove(&index).unwrap_or_default() {
                let mut values = Vec::new();
                let mut atoms = clause.atoms().zip(&edge.valuations).map(|(atom, &number)| {
                    let Some(&at) = place.get(&atom.predicate) else {
                        return atom.clone();
                    };
                    let split = &splits[at];
                    let part = &split.parts[number];
                    let fixed = split.positions.iter().map(|&p| atom.args[p]);
                    values.extend(fixed.zip(part.values.iter().copied()));
                    Atom {
                        predicate: part.predicate,
                        args: rest(&atom.args, &split.positions).collect(),
                    }
                });
                let body: Vec<Atom> = atoms.by_ref().take(clause.body.len()).collect();
                let head = atoms.next();
                let id = system.fresh_clause_id();
                clauses.push(Clause {
                    id,
                    body,
                    constraint: edge.constraint,
                    head,
                });
                edges.insert(id, (clause.id, values));
            }
        }
        system.clauses = clauses;
        let back = Back { old, splits, edges };
        (system, back)
    }
}

/// What is not at one of the positions, which ascend.
fn rest<'a>(items: &'a [TermId], positions: &'a [usize]) -> impl Iterator<Item = TermId> + 'a {
    let kept = |i: &usize| positions.binary_search(i).is_err();
    (0..items.len()).filter(kept).map(|i| items[i])
}

struct Back {
    old: Rc<System>,
    splits: Vec<Split>,
    /// For each edge its clause, and the values of arguments there.
    edges: FxHashMap<ClauseId, (ClauseId, Vec<(TermId, TermId)>)>,
}

impl BackTranslation for Back {
    fn model(&self, mut model: Model, _cx: &mut Context) -> Result<Model, BackError> {
        let terms = &self.old.terms;
        for split in &self.splits {
            let params = &self.old.predicate(split.predicate).params;
            let cases: Vec<TermId> = split
                .parts
                .iter()
                .map(|part| {
                    let fixed = split.positions.iter().map(|&p| params[p]);
                    let mut conjuncts: Vec<TermId> = fixed
                        .zip(&part.values)
                        .map(|(p, &v)| terms.eq(p, v))
                        .collect();
                    // A predicate that the model leaves out may as well hold everywhere.
                    if let Some(formula) = model.definitions.remove(&part.predicate) {
                        let own = part.params.iter().copied();
                        let map = own.zip(rest(params, &split.positions)).collect();
                        conjuncts.push(terms.substitute(formula, &map));
                    }
                    terms.and(&conjuncts)
                })
                .collect();
            let definition = terms.or(&cases);
            model.definitions.insert(split.predicate, definition);
        }
        complete_model(&self.old, &mut model);
        Ok(model)
    }

    fn refutation(
        &self,
        refutation: Refutation,
        cx: &mut Context,
    ) -> Result<Refutation, BackError> {
        replay("control", &self.old, &refutation, cx, |step| {
            let Some((clause, values)) = self.edges.get(&step.clause) else {
                return Ok(Vec::new());
            };
            let mut known = step.values.clone();
            known.extend(values.iter().copied());
            let mut old = OldStep::same(step, &[]);
            old.clause = *clause;
            old.known = Cow::Owned(known);
            Ok(vec![old])
        })
    }
}
