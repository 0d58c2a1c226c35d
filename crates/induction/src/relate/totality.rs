//! Predicates that have facts for all inputs of a domain, which ghosts need.
//!
//! A clause derives a fact for inputs if it computes the inputs of its body atoms from them and from
//! outputs of earlier body atoms, all of which have facts. The recursion ends since a difference of
//! inputs falls.
//!
//! Invariant: a statement uses lemmas of smaller groups, itself where its measure falls, and earlier
//! statements.

use num_traits::ToPrimitive;
use rustc_hash::FxHashMap;
use std::rc::Rc;

use super::library::Library;
use super::limits::LIMITS;
use super::literal::{Column, Literal, column};
use super::space::Space;
use super::statement::solved;
use alphorn_chc::PredicateId;
use alphorn_smt::{CoreEffort, SatResult, Smt, Solver};
use alphorn_term::run::Context;
use alphorn_term::{Op, SortId, TermId, TermStore};
use alphorn_witness::{Affine, Existence, Instance, TotalCase};

/// A statement `∀x. domain(x) ⇒ ∃y. P(x, y)`, where y are the outputs of P. Instances are of lemmas by
/// their numbers.
#[derive(Clone, Debug)]
pub struct Total {
    pub predicate: PredicateId,
    /// Literals over the inputs of slot 0.
    pub domain: Vec<Literal>,
    pub measure: Affine,
    /// Lemmas of smaller groups may be used.
    pub group: usize,
    pub cases: Vec<TotalCase>,
}

impl Total {
    /// The domain of inputs, which are given by the positions of arguments.
    pub fn domain_at(&self, terms: &TermStore, argument: &impl Fn(usize) -> TermId) -> TermId {
        let of = |c: Column| argument(usize::from(c.arg));
        let literals = self.domain.iter().map(|l| l.formula(terms, &of));
        terms.and(&literals.collect::<Vec<_>>())
    }
}

/// How a clause computes.
struct Plan {
    /// The position among the predicate's clauses.
    case: usize,
    /// The arguments of the head, and those of the body atoms in terms of given values.
    atoms: Vec<(PredicateId, Vec<TermId>)>,
    /// For each body atom, its inputs.
    inputs: Vec<Vec<Affine>>,
    /// What the clause needs of the head's inputs.
    guard: TermId,
    /// What it needs of outputs of body atoms.
    rest: TermId,
}

/// Statements about the predicates of a system.
pub fn totals(space: &Space<'_>, library: &Library, smt: &Rc<Smt>, cx: &Context) -> Vec<Total> {
    let mut search = Search {
        space,
        library,
        solver: smt.solver(),
        smt,
        found: Vec::new(),
    };
    let predicates = space.system.used_predicates();
    loop {
        let before = search.found.len();
        for &predicate in &predicates {
            if cx.stop().is_some() {
                return search.found;
            }
            if search.of(predicate).is_none()
                && let Some(total) = search.statement(predicate, cx)
            {
                log::debug!(
                    "relate: {} is total for {:?}",
                    space.system.predicate(predicate).name,
                    total.domain
                );
                search.found.push(total);
            }
        }
        if search.found.len() == before {
            return search.found;
        }
    }
}

/// The state of the search for statements.
struct Search<'a, 'b> {
    space: &'b Space<'a>,
    library: &'b Library,
    solver: Solver,
    smt: &'b Rc<Smt>,
    found: Vec<Total>,
}

impl Search<'_, '_> {
    /// The position of the statement about a predicate.
    fn of(&self, predicate: PredicateId) -> Option<usize> {
        self.found.iter().position(|t| t.predicate == predicate)
    }

    /// A statement about a predicate.
    fn statement(&mut self, predicate: PredicateId, cx: &Context) -> Option<Total> {
        let sorts = self.space.sorts(predicate);
        let outputs = self.space.outputs(predicate);
        if outputs.is_empty() || sorts.iter().any(|&sort| sort != SortId::INT) {
            return None;
        }
        let is_known = |p: &PredicateId| *p == predicate || self.of(*p).is_some();
        let cases = 0..self.space.rules[predicate.index()].len();
        let plans = cases.filter_map(|case| plan(self.space, predicate, case));
        let plans: Vec<Plan> = plans
            .filter(|plan| plan.atoms[1..].iter().all(|(p, _)| is_known(p)))
            .collect();
        let inputs = self.space.inputs(predicate);
        let is_recursive = plans
            .iter()
            .any(|plan| plan.atoms[1..].iter().any(|(p, _)| *p == predicate));
        let measures = match is_recursive {
            true => measures(&inputs),
            false => vec![Affine::default()],
        };
        for domain in domains(self.space, predicate) {
            for measure in &measures {
                if cx.stop().is_some() {
                    return None;
                }
                let mut total = Total {
                    predicate,
                    domain: domain.clone(),
                    measure: measure.clone(),
                    group: self.library.groups(),
                    cases: Vec::new(),
                };
                if self.is_proven(&mut total, &plans) {
                    return Some(total);
                }
            }
        }
        None
    }

    /// Whether the plans prove a statement; adds its cases.
    fn is_proven(&mut self, total: &mut Total, plans: &[Plan]) -> bool {
        let terms = self.space.terms();
        let params = &self.space.system.predicate(total.predicate).params;
        let mut guards = Vec::new();
        for plan in plans {
            self.solver.push();
            let head = &plan.atoms[0].1;
            self.solver.assert(total.domain_at(terms, &|at| head[at]));
            self.solver.assert(plan.guard);
            let case = self.case(total, plan);
            self.solver.pop();
            if let Some(case) = case {
                total.cases.push(case);
                let map = head.iter().copied().zip(params.iter().copied());
                guards.push(terms.substitute(plan.guard, &map.collect()));
            }
        }
        let domain = total.domain_at(terms, &|at| params[at]);
        let open = terms.and(&[domain, terms.not(terms.or(&guards))]);
        self.solver.push();
        self.solver.assert(open);
        let answer = self.check();
        self.solver.pop();
        answer == SatResult::Unsat
    }

    fn check(&mut self) -> SatResult {
        let limit = self.smt.limit_queries(Some(LIMITS.query_work));
        let answer = self.solver.check(&[]);
        drop(limit);
        answer
    }

    /// The case of a clause, in a scope with the domain and its guard.
    fn case(&mut self, total: &Total, plan: &Plan) -> Option<TotalCase> {
        let terms = self.space.terms();
        let value = |sum: &Affine| over(terms, sum, &|_, arg| plan.atoms[0].1[arg]);
        let mut premises: Vec<Existence> = Vec::new();
        let mut known: Vec<(Instance, TermId)> = Vec::new();
        for (k, inputs) in plan.inputs.iter().enumerate() {
            let (predicate, args) = &plan.atoms[k + 1];
            let own = *predicate == total.predicate;
            let (at, needed) = match own {
                true => {
                    let (start, inner) = (
                        value(&total.measure),
                        over(terms, &total.measure, &|_, arg| args[arg]),
                    );
                    let falls = [terms.ge(start, terms.int(0)), terms.lt(inner, start)];
                    let domain = total.domain_at(terms, &|at| args[at]);
                    (self.found.len(), terms.and(&[domain, terms.and(&falls)]))
                }
                false => {
                    let at = self.of(*predicate)?;
                    (at, self.found[at].domain_at(terms, &|at| args[at]))
                }
            };
            let uses = self.entailed(needed, &known)?;
            add(&mut premises, uses);
            premises.push(Existence {
                total: at,
                inputs: inputs.clone(),
                uses: Vec::new(),
            });
            for (lemma, known_lemma) in self.library.of_one_slot(*predicate) {
                let used = Instance {
                    lemma,
                    atoms: vec![k + 1],
                };
                let formula = known_lemma.formula(terms, &|c| args[usize::from(c.arg)]);
                known.push((used, formula));
            }
        }
        let uses = self.entailed(plan.rest, &known)?;
        add(&mut premises, uses);
        Some(TotalCase {
            clause: plan.case,
            premises,
        })
    }

    /// The instances that are needed for a formula, if it follows.
    fn entailed(&mut self, formula: TermId, known: &[(Instance, TermId)]) -> Option<Vec<Instance>> {
        if formula == TermId::TRUE {
            return Some(Vec::new());
        }
        let formulas: Vec<TermId> = known.iter().map(|k| k.1).collect();
        self.solver.push();
        self.solver.assert(self.space.terms().not(formula));
        let effort = CoreEffort {
            queries: LIMITS.core_queries,
            budget: None,
        };
        let limit = self.smt.limit_queries(Some(LIMITS.query_work));
        let core = self.solver.core_by(&[], &formulas, effort);
        drop(limit);
        self.solver.pop();
        let core = core?;
        let kept = known.iter().filter(|(_, formula)| core.contains(formula));
        Some(kept.map(|(used, _)| used.clone()).collect())
    }
}

/// Adds instances to the facts of which they speak.
fn add(premises: &mut [Existence], uses: Vec<Instance>) {
    for used in uses {
        let own = &mut premises[used.atoms[0] - 1].uses;
        if !own.contains(&used) {
            own.push(used);
        }
    }
}

/// Domains: all inputs, and those of which some are not negative. Then, the weaker ones first, those in
/// which each input is bounded by 0, by 1 or not at all, and two are perhaps ordered, if small inputs in
/// them have facts in the tables.
fn domains(space: &Space<'_>, predicate: PredicateId) -> Vec<Vec<Literal>> {
    let inputs = space.inputs(predicate);
    let bound = |&at: &usize| Literal::at_least(column(0, at), 0);
    let mut found = vec![Vec::new()];
    found.extend(inputs.iter().map(|at| vec![bound(at)]));
    if inputs.len() > 1 {
        found.push(inputs.iter().map(bound).collect());
    }
    let mut bounded: Vec<Vec<Literal>> = vec![Vec::new()];
    for &at in inputs.iter().take(LIMITS.total_inputs) {
        let with = |domain: &Vec<Literal>, bound: i64| {
            let literal = Literal::at_least(column(0, at), bound);
            [&domain[..], &[literal]].concat()
        };
        let longer = |domain: &Vec<Literal>| [domain.clone(), with(domain, 0), with(domain, 1)];
        bounded = bounded.iter().flat_map(longer).collect();
    }
    let mut others = bounded.clone();
    for &low in &inputs {
        for &high in inputs.iter().filter(|&&high| high != low) {
            let order = Literal::ordered(column(0, high), column(0, low), 0);
            let ordered =
                |domain: &Vec<Literal>| [&domain[..], std::slice::from_ref(&order)].concat();
            others.extend(bounded.iter().map(ordered));
        }
    }
    others.sort_by_key(Vec::len);
    others.retain(|domain| !found.contains(domain) && space.covers(predicate, domain));
    others.truncate(LIMITS.total_domains);
    found.extend(others);
    found
}

/// Inputs, negated ones, differences of two, and the sum of all.
fn measures(inputs: &[usize]) -> Vec<Affine> {
    let sum = |parts: &[(i64, usize)]| Affine {
        constant: 0,
        parts: parts.iter().map(|&(n, at)| (n, 0, at)).collect(),
    };
    let mut found: Vec<Affine> = inputs.iter().map(|&at| sum(&[(1, at)])).collect();
    found.extend(inputs.iter().map(|&at| sum(&[(-1, at)])));
    for &x in inputs {
        let others = inputs.iter().filter(|&&y| y != x);
        found.extend(others.map(|&y| sum(&[(1, x), (-1, y)])));
        if let Some(last) = found.last_mut() {
            // An interval with its last element is one longer.
            last.constant = i64::from(last.parts.len() > 1);
        }
    }
    if inputs.len() > 1 {
        let all: Vec<(i64, usize)> = inputs.iter().map(|&at| (1, at)).collect();
        found.push(sum(&all));
    }
    found
}

/// The value of a sum.
pub fn over(terms: &TermStore, sum: &Affine, argument: &impl Fn(usize, usize) -> TermId) -> TermId {
    let mut parts = vec![terms.int(sum.constant)];
    for &(factor, atom, arg) in &sum.parts {
        parts.push(terms.mul(&[terms.int(factor), argument(atom, arg)]));
    }
    terms.add(&parts)
}

/// How a clause computes; `None` if it does not, step by step.
fn plan(space: &Space<'_>, predicate: PredicateId, case: usize) -> Option<Plan> {
    let terms = space.terms();
    let clause = &space.system.clauses[space.rules[predicate.index()][case]];
    let head = clause.head.as_ref()?;
    let conjuncts = terms.conjuncts(clause.constraint);
    let mut given: FxHashMap<TermId, (usize, usize)> = FxHashMap::default();
    given.extend(
        space
            .inputs(predicate)
            .iter()
            .map(|&at| (head.args[at], (0, at))),
    );
    let mut values: FxHashMap<TermId, TermId> = FxHashMap::default();
    let mut atoms = vec![(predicate, head.args.to_vec())];
    let mut inputs = Vec::new();
    for (k, atom) in clause.body.iter().enumerate() {
        compute(terms, &conjuncts, &given, &mut values);
        let mut args = atom.args.to_vec();
        let mut sums = Vec::new();
        for at in space.inputs(atom.predicate) {
            let value = values.get(&args[at]).copied();
            args[at] = value.or_else(|| given.contains_key(&args[at]).then_some(args[at]))?;
            sums.push(sum_of(terms, args[at], &given)?);
        }
        for &at in space.outputs(atom.predicate) {
            // An output that has to have a value.
            if values.contains_key(&args[at]) || given.contains_key(&args[at]) {
                return None;
            }
            given.insert(args[at], (k + 1, at));
        }
        atoms.push((atom.predicate, args));
        inputs.push(sums);
    }
    compute(terms, &conjuncts, &given, &mut values);
    let (mut guard, mut rest) = (Vec::new(), Vec::new());
    for &conjunct in &conjuncts {
        let conjunct = terms.substitute(conjunct, &values);
        let mut of_head = true;
        for var in terms.free_vars(&[conjunct]) {
            of_head &= given.get(&var)?.0 == 0;
        }
        match of_head {
            true => guard.push(conjunct),
            false => rest.push(conjunct),
        }
    }
    Some(Plan {
        case,
        atoms,
        inputs,
        guard: terms.and(&guard),
        rest: terms.and(&rest),
    })
}

/// Adds the values of variables that equations determine by those that are given.
fn compute(
    terms: &TermStore,
    conjuncts: &[TermId],
    given: &FxHashMap<TermId, (usize, usize)>,
    values: &mut FxHashMap<TermId, TermId>,
) {
    loop {
        let before = values.len();
        for &conjunct in conjuncts {
            if !matches!(terms.op(conjunct), Op::Eq) {
                continue;
            }
            let equation = terms.substitute(conjunct, values);
            if !matches!(terms.op(equation), Op::Eq) {
                continue;
            }
            let free = terms.free_vars(&[equation]);
            let mut open = free.into_iter().filter(|var| !given.contains_key(var));
            if let (Some(var), None) = (open.next(), open.next())
                && let Some(value) = solved(terms, equation, var)
            {
                values.insert(var, value);
            }
        }
        if values.len() == before {
            return;
        }
    }
}

/// A term as a sum of given values.
fn sum_of(
    terms: &TermStore,
    term: TermId,
    given: &FxHashMap<TermId, (usize, usize)>,
) -> Option<Affine> {
    let linear = terms.linear(term);
    let whole = |n: &alphorn_term::Rational| n.is_integer().then(|| n.to_i64()).flatten();
    let mut parts = Vec::new();
    for (var, factor) in &linear.monomials {
        let &(atom, arg) = given.get(var)?;
        parts.push((whole(factor)?, atom, arg));
    }
    Some(Affine {
        constant: whole(&linear.constant)?,
        parts,
    })
}
