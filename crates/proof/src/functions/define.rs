//! Definitions of predicates by functions, bottom-up in the dependency graph.
//!
//! Invariant: every clause whose head is defined holds under the definitions, as far as the solver
//! is right, which knows one unfolding of the functions in the head and no equation of the others.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::evaluate::{Evaluation, random_value};
use super::limits::LIMITS;
use super::modes::{Mode, decide, run};
use super::rules::Rule;
use super::termination::measures;
use alphorn_chc::{Atom, ClauseIndex, DependencyGraph, PredicateId, System};
use alphorn_smt::{SatResult, Smt, Solver};
use alphorn_term::run::Context;
use alphorn_term::{Assignment, FunctionId, Random, SortId, TermId, TermStore};

/// The definitions of predicates.
pub struct Definitions {
    terms: Rc<TermStore>,
    /// The predicates that the queries depend on.
    pub needed: FxHashSet<PredicateId>,
    modes: FxHashMap<PredicateId, Mode>,
    /// Predicates that are defined by a formula over the formal variables.
    formulas: FxHashMap<PredicateId, TermId>,
    /// Positions of integer arguments that are never negative.
    naturals: FxHashMap<PredicateId, Vec<usize>>,
    /// Whether some function has a value where its relation has none.
    pub partial: bool,
    /// Predicates that are neither the graph of a function nor a test; they are defined as `true`.
    pub relations: Vec<PredicateId>,
}

impl Definitions {
    /// The meaning of an atom as conjuncts over its terms, without the range of its function.
    pub fn meaning(&self, atom: &Atom) -> Vec<TermId> {
        let terms = &*self.terms;
        let mode = self.modes.get(&atom.predicate);
        let mut conjuncts: Vec<TermId> = mode
            .map(|m| call(terms, *m, &atom.args))
            .into_iter()
            .collect();
        let inputs = self
            .natural(atom.predicate)
            .filter(|&i| Some(i) != output(mode));
        conjuncts.extend(inputs.map(|i| terms.ge(atom.args[i], terms.int(0))));
        conjuncts
    }

    /// The position of the output, if the predicate is the graph of a function.
    pub fn output(&self, predicate: PredicateId) -> Option<usize> {
        output(self.modes.get(&predicate))
    }

    /// The functions and tests, by ascending id.
    pub fn functions(&self) -> Vec<FunctionId> {
        let modes = self.modes.values();
        let mut all: Vec<FunctionId> = modes
            .map(|m| match *m {
                Mode::Function(f, _) | Mode::Test(f) => f,
            })
            .collect();
        all.sort_unstable();
        all
    }

    /// Functions whose values are not negative if their arguments at these positions are not.
    pub fn ranges(&self) -> Vec<(FunctionId, Vec<usize>)> {
        let mut ranges = Vec::new();
        for (&predicate, mode) in &self.modes {
            if let Mode::Function(function, output) = *mode
                && self.natural(predicate).any(|i| i == output)
            {
                let inputs = self.natural(predicate).filter(|&i| i != output);
                ranges.push((
                    function,
                    inputs.map(|i| i - usize::from(i > output)).collect(),
                ));
            }
        }
        ranges.sort_unstable();
        ranges
    }

    fn natural(&self, predicate: PredicateId) -> impl Iterator<Item = usize> {
        self.naturals.get(&predicate).into_iter().flatten().copied()
    }

    /// The definition of a predicate over its formal variables.
    pub fn formula(&self, system: &System, predicate: PredicateId) -> TermId {
        let params = &system.predicate(predicate).params;
        if let Some(&formula) = self.formulas.get(&predicate) {
            return formula;
        }
        let atom = Atom {
            predicate,
            args: params.clone(),
        };
        let mut conjuncts = self.meaning(&atom);
        let natural = self.natural(predicate);
        conjuncts.extend(natural.map(|i| self.terms.ge(params[i], self.terms.int(0))));
        self.terms.and(&conjuncts)
    }

    /// The rule of a clause with predicates replaced by their formulas; `None` if it is
    /// contradictory.
    pub fn rule(&self, system: &System, clause: usize) -> Option<Rule> {
        let clause = &system.clauses[clause];
        let mut more = Vec::new();
        let mut left = clause.clone();
        left.body
            .retain(|atom| match self.formulas.get(&atom.predicate) {
                Some(&formula) => {
                    more.push(system.instantiate(formula, atom));
                    false
                }
                None => true,
            });
        Rule::new(&self.terms, &left, &more)
    }
}

/// The position of a function's output.
fn output(mode: Option<&Mode>) -> Option<usize> {
    match mode {
        Some(Mode::Function(_, output)) => Some(*output),
        _ => None,
    }
}

/// The atom of a function or a test, as an equation or a call.
fn call(terms: &TermStore, mode: Mode, args: &[TermId]) -> TermId {
    match mode {
        Mode::Function(function, output) => {
            let mut inputs = args.to_vec();
            let output = inputs.remove(output);
            terms.eq(output, terms.call(function, &inputs))
        }
        Mode::Test(function) => terms.call(function, args),
    }
}

/// Defines the predicates that the queries depend on, as far as possible. With `partial`, functions
/// may come from relations that have no output for some inputs, which get some value; otherwise
/// such relations are tests.
pub fn define(system: &System, partial: bool, smt: &Rc<Smt>, cx: &Context) -> Definitions {
    let index = ClauseIndex::new(system);
    let _limit = smt.limit_queries(Some(LIMITS.query_work));
    let mut definer = Definer::new(system, &index, smt, cx);
    definer.partial = partial;
    definer.naturals();
    definer.without_arguments();
    let candidates = definer.equality_relations();
    for component in DependencyGraph::new(system).components() {
        definer.component(&component, &candidates);
    }
    definer.found
}

/// The predicates that the queries depend on.
fn needed(system: &System, index: &ClauseIndex) -> FxHashSet<PredicateId> {
    let mut seen = FxHashSet::default();
    let mut open: Vec<usize> = index.queries().to_vec();
    while let Some(clause) = open.pop() {
        for atom in &system.clauses[clause].body {
            if seen.insert(atom.predicate) {
                open.extend(index.deriving(atom.predicate));
            }
        }
    }
    seen
}

struct Definer<'a> {
    system: &'a System,
    terms: &'a TermStore,
    index: &'a ClauseIndex,
    solver: Solver,
    partial: bool,
    cx: &'a Context,
    found: Definitions,
}

impl<'a> Definer<'a> {
    fn new(system: &'a System, index: &'a ClauseIndex, smt: &Rc<Smt>, cx: &'a Context) -> Self {
        Definer {
            system,
            terms: &system.terms,
            index,
            solver: smt.solver(),
            partial: false,
            cx,
            found: Definitions {
                terms: system.terms.clone(),
                needed: needed(system, index),
                modes: FxHashMap::default(),
                formulas: FxHashMap::default(),
                naturals: FxHashMap::default(),
                partial: false,
                relations: Vec::new(),
            },
        }
    }

    /// Whether conjuncts contradict each other, as far as a query shows.
    fn contradictory(&mut self, conjuncts: &[TermId]) -> bool {
        if conjuncts.contains(&TermId::FALSE) {
            return true;
        }
        self.solver.push();
        for &conjunct in conjuncts {
            self.solver.assert(conjunct);
        }
        let answer = self.solver.check(&[]);
        self.solver.pop();
        answer == SatResult::Unsat
    }

    /// The clauses with needed heads.
    fn clauses(&self) -> Vec<usize> {
        let mut predicates: Vec<PredicateId> = self.found.needed.iter().copied().collect();
        predicates.sort_unstable();
        let clauses = predicates.iter().flat_map(|&p| self.index.deriving(p));
        clauses.copied().collect()
    }

    /// Integer arguments that are not negative in any fact: the greatest inductive set of such
    /// positions.
    fn naturals(&mut self) {
        let system = self.system;
        for &predicate in &self.found.needed {
            let params = system.predicate(predicate).params.iter().enumerate();
            let ints = params.filter(|(_, p)| self.terms.sort_of(**p) == SortId::INT);
            let ints: Vec<usize> = ints.map(|(i, _)| i).collect();
            if !ints.is_empty() {
                self.found.naturals.insert(predicate, ints);
            }
        }
        let clauses = self.clauses();
        loop {
            let mut changed = false;
            for &clause in &clauses {
                if self.cx.stop().is_some() {
                    break;
                }
                let clause = &system.clauses[clause];
                let Some(head) = &clause.head else { continue };
                let Some(claimed) = self.found.naturals.get(&head.predicate).cloned() else {
                    continue;
                };
                let mut premises = vec![clause.constraint];
                for atom in &clause.body {
                    premises.extend(self.natural(atom));
                }
                let kept: Vec<usize> = claimed
                    .iter()
                    .copied()
                    .filter(|&position| {
                        let mut query = premises.clone();
                        query.push(self.terms.lt(head.args[position], self.terms.int(0)));
                        self.contradictory(&query)
                    })
                    .collect();
                changed |= kept.len() < claimed.len();
                self.found.naturals.insert(head.predicate, kept);
            }
            if !changed || self.cx.stop().is_some() {
                break;
            }
        }
        if self.cx.stop().is_some() {
            self.found.naturals.clear();
        }
    }

    fn natural(&self, atom: &Atom) -> Vec<TermId> {
        let positions = self.found.naturals.get(&atom.predicate);
        let positions = positions.into_iter().flatten();
        positions
            .map(|&i| self.terms.ge(atom.args[i], self.terms.int(0)))
            .collect()
    }

    /// Defines predicates without arguments, which collect queries, as `false`.
    fn without_arguments(&mut self) {
        for &predicate in &self.found.needed {
            if self.system.predicate(predicate).arity() == 0 {
                self.found.formulas.insert(predicate, TermId::FALSE);
            }
        }
    }

    /// Formulas for predicates: the equality of two arguments, the negation of that, or its Boolean
    /// value, such that all their clauses hold.
    fn equality_relations(&mut self) -> FxHashMap<PredicateId, TermId> {
        let system = self.system;
        let terms = self.terms;
        let mut open: FxHashMap<PredicateId, Vec<TermId>> = FxHashMap::default();
        for &predicate in &self.found.needed {
            let params = &system.predicate(predicate).params;
            let sort = |i: usize| terms.sort_of(params[i]);
            let mut formulas = Vec::new();
            match params.len() {
                2 if sort(0) == sort(1) => {
                    let equal = terms.eq(params[0], params[1]);
                    formulas = vec![equal, terms.not(equal)];
                }
                3 => {
                    for truth in 0..3 {
                        let [a, b] = [(truth + 1) % 3, (truth + 2) % 3];
                        if sort(truth) == SortId::BOOL && sort(a) == sort(b) {
                            let equal = terms.eq(params[a], params[b]);
                            formulas.push(terms.eq(params[truth], equal));
                        }
                    }
                }
                _ => {}
            }
            if !formulas.is_empty() {
                open.insert(predicate, formulas);
            }
        }
        let mut predicates: Vec<PredicateId> = open.keys().copied().collect();
        predicates.sort_unstable();
        loop {
            let mut changed = false;
            for &predicate in &predicates {
                while let Some(&formula) = open.get(&predicate).and_then(|f| f.last()) {
                    let holds = self.index.deriving(predicate).iter().all(|&clause| {
                        let clause = &system.clauses[clause];
                        let mut query = vec![clause.constraint];
                        for atom in &clause.body {
                            let known = open.get(&atom.predicate).and_then(|f| f.last());
                            query.extend(known.map(|&f| system.instantiate(f, atom)));
                        }
                        let head = clause.head.as_ref();
                        query.extend(head.map(|h| terms.not(system.instantiate(formula, h))));
                        self.contradictory(&query)
                    });
                    if holds {
                        break;
                    }
                    changed = true;
                    if let Some(formulas) = open.get_mut(&predicate) {
                        formulas.pop();
                    }
                }
            }
            if self.cx.stop().is_some() {
                return FxHashMap::default();
            }
            if !changed {
                break;
            }
        }
        let last = |(p, f): (PredicateId, Vec<TermId>)| Some((p, *f.last()?));
        open.into_iter().filter_map(last).collect()
    }

    fn component(
        &mut self,
        component: &[PredicateId],
        candidates: &FxHashMap<PredicateId, TermId>,
    ) {
        let open = |p: &&PredicateId| {
            self.found.needed.contains(p) && !self.found.formulas.contains_key(p)
        };
        let group: Vec<PredicateId> = component.iter().filter(open).copied().collect();
        if group.is_empty() || self.cx.stop().is_some() {
            return;
        }
        // A formula is preferred to a function with the same meaning.
        if group.iter().all(|p| candidates.contains_key(p)) {
            let tests = vec![None; group.len()];
            let attempt = self.attempt(&group, &tests);
            let same = attempt.as_ref().is_none_or(|attempt| {
                let pairs = group.iter().zip(&attempt.functions);
                pairs
                    .into_iter()
                    .all(|(&p, &f)| self.agree(p, f, candidates[&p]))
            });
            if same {
                for &p in &group {
                    self.found.formulas.insert(p, candidates[&p]);
                }
                return;
            }
        }
        let mut best: Option<Attempt> = None;
        for choice in self.choices(&group) {
            if self.cx.stop().is_some() {
                return;
            }
            let Some(attempt) = self.attempt(&group, &choice) else {
                continue;
            };
            let total = attempt.total;
            let is_test = choice.iter().all(Option::is_none);
            if total && !is_test || best.is_none() && (self.partial || is_test) {
                best = Some(attempt);
            }
            if total {
                break;
            }
        }
        match best {
            Some(best) => {
                for (&p, &mode) in group.iter().zip(&best.modes) {
                    log::debug!("{} is {mode:?}", self.system.predicate(p).name);
                    self.found.modes.insert(p, mode);
                }
                self.found.partial |= !best.total;
            }
            None => self.found.relations.extend(group),
        }
    }

    /// The outputs to try, by predicate; no output stands for a test.
    fn choices(&self, group: &[PredicateId]) -> Vec<Vec<Option<usize>>> {
        let options = |p: &PredicateId| {
            let arity = self.system.predicate(*p).arity();
            let mut positions: Vec<Option<usize>> = vec![Some(0)];
            positions.extend((1..arity).rev().map(Some));
            positions.push(None);
            positions
        };
        let options: Vec<Vec<Option<usize>>> = group.iter().map(options).collect();
        if let [only] = options.as_slice() {
            return only.iter().map(|o| vec![*o]).collect();
        }
        // Mutually recursive functions have their outputs at corresponding positions: first, last,
        // none.
        let mut choices: Vec<Vec<Option<usize>>> = vec![
            options.iter().map(|o| o[0]).collect(),
            options.iter().map(|o| o[1.min(o.len() - 2)]).collect(),
            vec![None; group.len()],
        ];
        let mut at = vec![0; group.len()];
        while choices.len() < LIMITS.max_choices {
            let mut position = 0;
            loop {
                if position == at.len() {
                    return choices;
                }
                at[position] += 1;
                if at[position] < options[position].len() {
                    break;
                }
                at[position] = 0;
                position += 1;
            }
            choices.push(options.iter().zip(&at).map(|(o, &i)| o[i]).collect());
        }
        choices
    }

    /// Defines functions with these outputs; `None` if that fails.
    fn attempt(&mut self, group: &[PredicateId], outputs: &[Option<usize>]) -> Option<Attempt> {
        let (system, terms) = (self.system, self.terms);
        let mut modes: Vec<Mode> = Vec::new();
        for (&p, &output) in group.iter().zip(outputs) {
            let predicate = system.predicate(p);
            let mut sorts: Vec<SortId> =
                predicate.params.iter().map(|&v| terms.sort_of(v)).collect();
            let name = format!("{}!", predicate.name);
            modes.push(match output {
                Some(output) => {
                    let result = sorts.remove(output);
                    Mode::Function(terms.declare_function(&name, &sorts, result), output)
                }
                None => Mode::Test(terms.declare_function(&name, &sorts, SortId::BOOL)),
            });
        }
        let functions: Vec<FunctionId> = modes
            .iter()
            .map(|m| match *m {
                Mode::Function(f, _) | Mode::Test(f) => f,
            })
            .collect();
        let mode = |p: PredicateId| match group.iter().position(|&q| q == p) {
            Some(at) => Some(modes[at]),
            None => self.found.modes.get(&p).copied(),
        };
        let natural = |p: PredicateId| self.found.naturals.get(&p).cloned().unwrap_or_default();
        let mut bodies: Vec<(FunctionId, TermId)> = Vec::new();
        let mut rules: Vec<Rule> = Vec::new();
        let mut all_cases = Vec::new();
        for &p in group {
            let mut cases = Vec::new();
            for &clause in self.index.deriving(p) {
                let Some(rule) = self.found.rule(system, clause) else {
                    continue;
                };
                cases.push(run(terms, &rule, mode, natural)?);
                rules.push(rule);
            }
            all_cases.push(cases);
        }
        let mut total = true;
        for ((cases, &function), mode) in all_cases.iter().zip(&functions).zip(&modes) {
            let default = match mode {
                Mode::Function(..) => terms.default_value(terms.function(function).result)?,
                Mode::Test(_) => TermId::FALSE,
            };
            let params = &terms.function(function).params;
            // Inputs that never occur need no value.
            let natural: Vec<TermId> = match mode {
                Mode::Function(_, output) => {
                    let p = group[functions.iter().position(|f| *f == function)?];
                    let positions = self.found.naturals.get(&p).into_iter().flatten();
                    positions
                        .filter(|&i| i != output)
                        .map(|&i| terms.ge(params[i - usize::from(i > *output)], terms.int(0)))
                        .collect()
                }
                Mode::Test(_) => Vec::new(),
            };
            let mut possible = |path: &[TermId]| {
                let mut query = path.to_vec();
                query.extend_from_slice(&natural);
                !self.contradictory(&query)
            };
            let (body, complete) = decide(terms, cases, default, &mut possible)?;
            total &= complete || matches!(mode, Mode::Test(_));
            bodies.push((function, body));
        }
        let implies = |path: &[TermId], formula: TermId| {
            let mut query = path.to_vec();
            query.push(terms.not(formula));
            self.contradictory(&query)
        };
        let measures = measures(terms, &bodies, implies)?;
        for (&(function, body), measure) in bodies.iter().zip(measures) {
            terms.define_function(function, body, measure);
        }
        let attempt = Attempt {
            modes,
            functions,
            total,
        };
        let valid = rules.iter().all(|rule| self.holds(group, &attempt, rule));
        valid.then_some(attempt)
    }

    /// Whether a rule holds under the definitions and the attempted ones.
    fn holds(&mut self, group: &[PredicateId], attempt: &Attempt, rule: &Rule) -> bool {
        let terms = self.terms;
        let mode = |p: PredicateId| match group.iter().position(|&q| q == p) {
            Some(at) => Some(attempt.modes[at]),
            None => self.found.modes.get(&p).copied(),
        };
        let Some(head) = &rule.head else { return true };
        let Some(of_head) = mode(head.predicate) else {
            return false;
        };
        let mut query = rule.guards.clone();
        for atom in &rule.body {
            query.extend(mode(atom.predicate).map(|m| call(terms, m, &atom.args)));
            query.extend(self.natural(atom));
        }
        let mut inputs = head.args.clone();
        let (function, expected) = match of_head {
            Mode::Function(function, output) => (function, inputs.remove(output)),
            Mode::Test(function) => (function, TermId::TRUE),
        };
        let value = terms.unfold(terms.call(function, &inputs));
        query.push(terms.not(terms.eq(value, expected)));
        self.contradictory(&query)
    }

    /// Whether the function of a test and a formula agree on some values.
    fn agree(&self, predicate: PredicateId, function: FunctionId, formula: TermId) -> bool {
        let terms = self.terms;
        let params = &self.system.predicate(predicate).params;
        let mut random = Random::new(u64::from(predicate.0));
        let mut evaluation = Evaluation::new(terms);
        for round in 0..LIMITS.samples {
            let mut last: Option<TermId> = None;
            let mut values = Vec::new();
            for &param in params {
                let sort = terms.sort_of(param);
                // Equal arguments are tried, too.
                let same = last.filter(|&l| round % 3 == 0 && terms.sort_of(l) == sort);
                let value =
                    same.or_else(|| random_value(terms, &mut random, sort, LIMITS.sample_size));
                let Some(value) = value else { return true };
                last = Some(value);
                values.push(value);
            }
            let assignment: Assignment =
                params.iter().copied().zip(values.iter().copied()).collect();
            let expected = evaluation.value(terms.substitute(formula, &assignment));
            let found = evaluation.value(terms.call(function, &values));
            if expected.is_some() && found.is_some() && expected != found {
                return false;
            }
        }
        true
    }
}

struct Attempt {
    modes: Vec<Mode>,
    functions: Vec<FunctionId>,
    total: bool,
}
