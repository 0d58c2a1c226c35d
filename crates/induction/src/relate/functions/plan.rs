//! How a clause computes a fact: the values of its variables in terms of the inputs of its head.
//!
//! Invariant: if the guards of a plan hold, and each call has the outputs of a fact, then the clause
//! derives the fact for the inputs and the plan's outputs.

use num_traits::{Signed, ToPrimitive};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::limits::LIMITS;
use alphorn_chc::PredicateId;
use alphorn_chc::frontend::{Problem, ProblemClause};
use alphorn_term::{FunctionId, Op, SortId, TermId, TermStore};

/// How a predicate is called. By default it has no facts.
#[derive(Default)]
pub struct Callee {
    pub has_facts: bool,
    /// The positions of its inputs and outputs.
    pub inputs: Vec<usize>,
    pub outputs: Vec<usize>,
    /// A function for each output of a recursive predicate.
    pub functions: Vec<FunctionId>,
    /// The outputs of another predicate, over its parameters.
    pub results: Vec<TermId>,
}

/// Calls of functions with the variables that stand for their values.
#[derive(Default)]
pub struct Calls {
    names: FxHashMap<(FunctionId, Vec<TermId>), TermId>,
    /// The variables in the order of the calls.
    order: Vec<(TermId, FunctionId, Vec<TermId>)>,
    known: FxHashSet<TermId>,
}

impl Calls {
    /// The variable for a call.
    fn value(&mut self, terms: &TermStore, function: FunctionId, args: Vec<TermId>) -> TermId {
        if let Some(&var) = self.names.get(&(function, args.clone())) {
            return var;
        }
        let var = terms.fresh_var("call", terms.function(function).result);
        self.names.insert((function, args.clone()), var);
        self.order.push((var, function, args));
        self.known.insert(var);
        var
    }

    /// The calls in the places of the variables.
    pub fn values(&self, terms: &TermStore) -> FxHashMap<TermId, TermId> {
        let mut values = FxHashMap::default();
        for (var, function, args) in &self.order {
            let args = args.iter().map(|&arg| terms.substitute(arg, &values));
            let args: Vec<TermId> = args.collect();
            values.insert(*var, terms.call(*function, &args));
        }
        values
    }
}

/// The call for a body atom.
pub struct PlanCall {
    pub predicate: PredicateId,
    /// The values of the atom's inputs.
    pub inputs: Vec<TermId>,
}

/// How a clause computes a fact. Terms are over the parameters of the head's predicate at its inputs, and
/// over variables for calls.
pub struct Plan {
    /// The position among the predicate's clauses.
    pub case: usize,
    /// What has to hold.
    pub guards: Vec<TermId>,
    pub calls: Vec<PlanCall>,
    /// The values of the head's outputs, and of the clause's variables.
    pub outputs: Vec<TermId>,
    pub values: Vec<TermId>,
}

/// The plans of a predicate's clauses; `None` if a clause does not compute its outputs. Clauses with
/// body atoms without facts have none.
pub fn plans(
    problem: &Problem,
    predicate: PredicateId,
    callees: &FxHashMap<PredicateId, Callee>,
    calls: &mut Calls,
) -> Option<Vec<Plan>> {
    let terms = &problem.terms;
    let is_own = |clause: &&ProblemClause| {
        let head = clause.head.as_ref();
        head.is_some_and(|head| head.predicate == predicate)
    };
    let mut found = Vec::new();
    for (case, clause) in problem.clauses.iter().filter(is_own).enumerate() {
        let has_facts = |p: &PredicateId| callees.get(p).is_some_and(|callee| callee.has_facts);
        if !clause.body.iter().all(|atom| has_facts(&atom.predicate)) {
            continue;
        }
        // Disjunctions are split only if the clause does not compute without.
        let mut todo = vec![terms.conjuncts(clause.constraint)];
        let mut tries = 0;
        while let Some(conjuncts) = todo.pop() {
            tries += 1;
            if tries > LIMITS.function_cases {
                return None;
            }
            let computation = Computation::new(problem, clause, &conjuncts, callees, calls);
            if let Some(mut plan) = computation.plan(predicate) {
                plan.case = case;
                if !plan.guards.contains(&TermId::FALSE) {
                    found.push(plan);
                }
                continue;
            }
            let at = conjuncts
                .iter()
                .position(|&c| matches!(terms.op(c), Op::Or))?;
            for &part in terms.args(conjuncts[at]).iter().rev() {
                let mut other = conjuncts.clone();
                other.remove(at);
                other.extend(terms.conjuncts(part));
                todo.push(other);
            }
        }
    }
    Some(found)
}

/// The values of a clause's variables as they become known.
struct Computation<'a> {
    problem: &'a Problem,
    clause: &'a ProblemClause,
    callees: &'a FxHashMap<PredicateId, Callee>,
    calls: &'a mut Calls,
    /// Equations that have to hold, and other conjuncts.
    equations: Vec<(TermId, TermId)>,
    others: Vec<TermId>,
    values: FxHashMap<TermId, TermId>,
    vars: FxHashSet<TermId>,
}

impl<'a> Computation<'a> {
    fn new(
        problem: &'a Problem,
        clause: &'a ProblemClause,
        conjuncts: &[TermId],
        callees: &'a FxHashMap<PredicateId, Callee>,
        calls: &'a mut Calls,
    ) -> Self {
        let terms = &problem.terms;
        let (mut equations, mut others) = (Vec::new(), Vec::new());
        for &conjunct in conjuncts {
            match (terms.op(conjunct), terms.args(conjunct)) {
                (Op::Eq, &[a, b]) => equations.push((a, b)),
                (Op::Var(_), _) => equations.push((conjunct, TermId::TRUE)),
                (Op::Not, &[a]) if matches!(terms.op(a), Op::Var(_)) => {
                    equations.push((a, TermId::FALSE));
                }
                _ => others.push(conjunct),
            }
        }
        Computation {
            problem,
            clause,
            callees,
            calls,
            equations,
            others,
            values: FxHashMap::default(),
            vars: clause.vars.iter().map(|v| v.1).collect(),
        }
    }

    /// The plan, for the head's predicate.
    fn plan(mut self, predicate: PredicateId) -> Option<Plan> {
        let terms = &self.problem.terms;
        let head = self.clause.head.as_ref()?;
        let callee = &self.callees[&predicate];
        let params = &self.problem.predicates[predicate.index()].params;
        let given = callee.inputs.iter().map(|&at| (head.args[at], params[at]));
        self.equations.extend(given);
        let mut done = vec![false; self.clause.body.len()];
        let mut made = Vec::new();
        loop {
            let before = (self.values.len(), made.len());
            self.solve();
            for (at, is_done) in done.iter_mut().enumerate() {
                if !*is_done && let Some(call) = self.call(at) {
                    *is_done = true;
                    made.push(call);
                }
            }
            if before == (self.values.len(), made.len()) {
                break;
            }
        }
        if done.contains(&false) {
            return None;
        }
        let mut guards: Vec<TermId> = Vec::new();
        let equations = self.equations.iter().map(|&(a, b)| terms.eq(a, b));
        let mut needed: Vec<TermId> = equations.chain(self.others.iter().copied()).collect();
        for part in &mut needed {
            *part = terms.substitute(*part, &self.values);
        }
        needed.retain(|&part| part != TermId::TRUE);
        guards.extend(needed);
        let outputs = callee.outputs.iter().map(|&at| head.args[at]);
        let outputs: Vec<TermId> = outputs.map(|t| terms.substitute(t, &self.values)).collect();
        let is_open = |roots: &[TermId]| {
            let free = terms.free_vars(roots);
            free.iter().any(|var| self.vars.contains(var))
        };
        if is_open(&guards) || is_open(&outputs) {
            return None;
        }
        // Variables of which nothing speaks have any value.
        let any = |var: TermId| match terms.sort_of(var) {
            SortId::INT => Some(terms.int(0)),
            SortId::BOOL => Some(TermId::FALSE),
            _ => None,
        };
        let values = self.clause.vars.iter();
        let values = values.map(|&(_, var)| self.values.get(&var).copied().or_else(|| any(var)));
        Some(Plan {
            case: 0,
            guards,
            calls: made,
            outputs,
            values: values.collect::<Option<_>>()?,
        })
    }

    /// Adds the values that equations determine.
    fn solve(&mut self) {
        let terms = &self.problem.terms;
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for at in 0..self.equations.len() {
                let (a, b) = self.equations[at];
                let a = terms.substitute(a, &self.values);
                let b = terms.substitute(b, &self.values);
                let mut open = terms.free_vars(&[a, b]);
                open.retain(|var| self.vars.contains(var));
                let &[var] = &open[..] else {
                    continue;
                };
                if let Some(value) = solved(terms, a, b, var) {
                    let map = std::iter::once((var, value)).collect();
                    for known in self.values.values_mut() {
                        *known = terms.substitute(*known, &map);
                    }
                    self.values.insert(var, value);
                    changed = true;
                }
            }
        }
    }

    /// The call for a body atom whose inputs are known, with the equations for its outputs.
    fn call(&mut self, at: usize) -> Option<PlanCall> {
        let terms = &self.problem.terms;
        let atom = &self.clause.body[at];
        let callee = &self.callees[&atom.predicate];
        let inputs = callee.inputs.iter().map(|&at| atom.args[at]);
        let inputs: Vec<TermId> = inputs.map(|t| terms.substitute(t, &self.values)).collect();
        let free = terms.free_vars(&inputs);
        if free.iter().any(|var| self.vars.contains(var)) {
            return None;
        }
        let params = &self.problem.predicates[atom.predicate.index()].params;
        let params = callee.inputs.iter().map(|&at| params[at]);
        let map = params.zip(inputs.iter().copied()).collect();
        for (number, &output) in callee.outputs.iter().enumerate() {
            let value = match (callee.functions.get(number), callee.results.get(number)) {
                (Some(&function), _) => self.calls.value(terms, function, inputs.clone()),
                (None, Some(&result)) => terms.substitute(result, &map),
                (None, None) => return None,
            };
            self.equations.push((atom.args[output], value));
        }
        Some(PlanCall {
            predicate: atom.predicate,
            inputs,
        })
    }
}

/// The value that an equation gives its only variable.
fn solved(terms: &TermStore, a: TermId, b: TermId, var: TermId) -> Option<TermId> {
    let lacks = |t: TermId| !terms.free_vars(&[t]).contains(&var);
    for (left, right) in [(a, b), (b, a)] {
        if left == var && lacks(right) {
            return Some(right);
        }
        if matches!(terms.op(left), Op::Not) && terms.args(left) == [var] && lacks(right) {
            return Some(terms.not(right));
        }
    }
    if terms.sort_of(a) != SortId::INT {
        return None;
    }
    let difference = terms.difference(a, b);
    let factor = difference.integer_factor();
    let difference = difference.scaled(&factor);
    let (factor, rest) = difference.split_off(var);
    let is_whole = rest.constant.is_integer() && rest.monomials.iter().all(|m| m.1.is_integer());
    if !factor.is_integer() || !is_whole {
        return None;
    }
    // `factor · var + rest = 0`; for another factor than 1 the equation stays a guard.
    let (factor, rest) = match factor.is_negative() {
        true => (-factor, rest),
        false => (factor, rest.negated()),
    };
    let rest = terms.from_linear(&rest, SortId::INT);
    if !lacks(rest) {
        return None;
    }
    match factor.to_i64()? {
        1 => Some(rest),
        factor => Some(terms.div(rest, terms.int(factor))),
    }
}
