//! Models that define predicates by total functions.
//!
//! Where some arguments of a predicate, its outputs, are determined by the others, and one clause derives
//! a fact for all inputs of a domain, the outputs are recursive functions of the inputs: by cases over the
//! clauses, with calls in the places of body atoms. The recursion ends since integers over the inputs
//! fall lexicographically.
//!
//! Invariant: a model is only a proposal, which `alphorn_witness::with_function_model` checks.

mod plan;

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use self::plan::{Callee, Calls, Plan, PlanCall, plans};
use super::limits::LIMITS;
use super::space::Space;
use alphorn_chc::frontend::Problem;
use alphorn_chc::{DependencyGraph, PredicateId, Shape, System};
use alphorn_smt::{SatResult, Smt, Solver};
use alphorn_term::run::Context;
use alphorn_term::{Op, SortId, TermId, TermStore};
use alphorn_witness::{Derived, FunctionModel};

/// A model by functions of a problem whose normal form is `system`; `None` if none is found.
pub fn function_model(
    problem: &Problem,
    system: &System,
    cx: &mut Context,
) -> Option<FunctionModel> {
    let budget = cx.budget.work(LIMITS.function_work);
    cx.within(budget, |cx| {
        let shape = Shape::of(system);
        let theories = shape.theories;
        if theories.quantifier || theories.real || shape.clauses > LIMITS.clauses {
            return None;
        }
        let space = Space::new(system, cx);
        let smt = Smt::within(&cx.budget);
        let mut search = Search {
            problem,
            space: &space,
            solver: smt.solver(),
            smt,
            callees: FxHashMap::default(),
            domains: FxHashMap::default(),
            calls: Calls::default(),
            model: FunctionModel::default(),
        };
        for component in DependencyGraph::new(system).components() {
            if search.component(&component, cx).is_none() {
                let names = component.iter().map(|&p| &*system.predicate(p).name);
                log::debug!(
                    "relate: no functions for {}",
                    names.collect::<Vec<_>>().join(" ")
                );
                return None;
            }
        }
        for at in 0..problem.predicates.len() {
            let predicate = PredicateId(u32::try_from(at).ok()?);
            if !search.callees.contains_key(&predicate) {
                search.without_facts(predicate);
            }
        }
        search.model.derived.sort_by_key(|d| d.predicate.index());
        Some(search.model)
    })
}

/// What is found for a predicate of a component.
struct Member {
    predicate: PredicateId,
    /// Its parameters at the inputs.
    inputs: Vec<TermId>,
    outputs: Vec<usize>,
    plans: Vec<Plan>,
}

/// The state of the search.
struct Search<'a, 's> {
    problem: &'a Problem,
    space: &'s Space<'a>,
    smt: Rc<Smt>,
    solver: Solver,
    callees: FxHashMap<PredicateId, Callee>,
    /// The inputs that have facts, as formulas over the predicates' parameters.
    domains: FxHashMap<PredicateId, TermId>,
    calls: Calls,
    model: FunctionModel,
}

impl<'a> Search<'a, '_> {
    fn terms(&self) -> &'a TermStore {
        &self.problem.terms
    }

    fn params(&self, predicate: PredicateId) -> &'a [TermId] {
        &self.problem.predicates[predicate.index()].params
    }

    /// Defines a predicate that has no facts.
    fn without_facts(&mut self, predicate: PredicateId) {
        self.callees.insert(predicate, Callee::default());
        self.model.definitions.insert(predicate, TermId::FALSE);
        self.model.derived.push(Derived {
            predicate,
            measure: Vec::new(),
            unfoldings: Vec::new(),
            cases: Vec::new(),
        });
    }

    /// Defines mutually recursive predicates, after those that they need.
    fn component(&mut self, component: &[PredicateId], cx: &Context) -> Option<()> {
        let mut own = Vec::new();
        for &predicate in component {
            let tables = &self.space.tables;
            // Predicates without arguments are mostly errors.
            let is_decided = tables.knows(predicate) || self.params(predicate).is_empty();
            match is_decided && tables.rows(predicate).is_empty() {
                true => self.without_facts(predicate),
                false => own.push(predicate),
            }
        }
        if own.is_empty() {
            return Some(());
        }
        let is_recursive = component.iter().any(|p| self.space.recursive.contains(p));
        let modes: Vec<Vec<Vec<usize>>> = own.iter().map(|&p| self.modes(p)).collect();
        let most = modes.iter().map(Vec::len).max().unwrap_or(0);
        (0..most).find_map(|choice| {
            for (&predicate, modes) in own.iter().zip(&modes) {
                let outputs = modes[choice.min(modes.len() - 1)].clone();
                let callee = self.callee(predicate, outputs, is_recursive);
                self.callees.insert(predicate, callee);
            }
            self.with_modes(&own, is_recursive, cx)
        })
    }

    /// Defines mutually recursive predicates whose outputs are chosen.
    fn with_modes(&mut self, own: &[PredicateId], is_recursive: bool, cx: &Context) -> Option<()> {
        let mut members = Vec::with_capacity(own.len());
        for &predicate in own {
            let callee = &self.callees[&predicate];
            let inputs = callee.inputs.iter().map(|&at| self.params(predicate)[at]);
            let (inputs, outputs) = (inputs.collect(), callee.outputs.clone());
            let mut found = plans(self.problem, predicate, &self.callees, &mut self.calls)?;
            let recurs = |plan: &Plan| plan.calls.iter().any(|c| own.contains(&c.predicate));
            found.sort_by_key(recurs);
            members.push(Member {
                predicate,
                inputs,
                outputs,
                plans: found,
            });
        }
        let measures = self.proven(&members, own, is_recursive, cx)?;
        for (member, measure) in members.iter().zip(measures) {
            self.define(member, measure, is_recursive);
        }
        Some(())
    }

    /// Possible outputs of a predicate: those of the tables, then those with the fewest inputs that
    /// determine them in all known facts.
    fn modes(&self, predicate: PredicateId) -> Vec<Vec<usize>> {
        let arity = self.params(predicate).len();
        let rows = self.space.tables.rows(predicate);
        let mut found = vec![self.space.outputs(predicate).to_vec()];
        if arity > LIMITS.function_arguments || rows.is_empty() {
            return found;
        }
        let mut sets: Vec<u32> = (0..1 << arity).collect();
        // Early arguments are inputs more often.
        sets.sort_by_key(|set| (set.count_ones(), set.reverse_bits().wrapping_neg()));
        for inputs in sets {
            let (inputs, outputs): (Vec<usize>, Vec<usize>) =
                (0..arity).partition(|&at| inputs & (1 << at) != 0);
            let keys = rows
                .iter()
                .map(|row| inputs.iter().map(|&at| row[at]).collect());
            let keys: FxHashSet<Vec<i64>> = keys.collect();
            if keys.len() == rows.len() && !found.contains(&outputs) {
                found.push(outputs);
            }
            if found.len() == LIMITS.function_modes {
                break;
            }
        }
        found
    }

    /// How a predicate is called, with functions if it is recursive.
    fn callee(&self, predicate: PredicateId, outputs: Vec<usize>, is_recursive: bool) -> Callee {
        let terms = self.terms();
        let params = self.params(predicate);
        let inputs: Vec<usize> = (0..params.len())
            .filter(|at| !outputs.contains(at))
            .collect();
        let sorts: Vec<SortId> = inputs.iter().map(|&at| terms.sort_of(params[at])).collect();
        let name = &self.problem.predicates[predicate.index()].name;
        let functions = outputs.iter().filter(|_| is_recursive).map(|&at| {
            let name = match outputs.len() {
                1 => format!("{name}!"),
                _ => format!("{name}!{at}!"),
            };
            terms.declare_function(&name, &sorts, terms.sort_of(params[at]))
        });
        Callee {
            has_facts: true,
            functions: functions.collect(),
            inputs,
            outputs,
            results: Vec::new(),
        }
    }

    /// Finds domains with which the plans of a component compute facts, and measures that fall. The
    /// domains become those of the callees.
    fn proven(
        &mut self,
        members: &[Member],
        own: &[PredicateId],
        is_recursive: bool,
        cx: &Context,
    ) -> Option<Vec<Vec<TermId>>> {
        let domains: Vec<Vec<TermId>> = members.iter().map(|m| self.domains(m, own)).collect();
        let measures: Vec<Vec<Vec<TermId>>> = members.iter().map(|m| self.measures(m)).collect();
        let most = domains.iter().map(Vec::len).max().unwrap_or(0);
        for at in 0..most {
            for (member, domains) in members.iter().zip(&domains) {
                let domain = domains[at.min(domains.len() - 1)];
                self.domains.insert(member.predicate, domain);
            }
            if cx.stop().is_some() {
                return None;
            }
            if !members.iter().all(|member| self.computes(member)) {
                continue;
            }
            if !is_recursive {
                return Some(vec![Vec::new(); members.len()]);
            }
            let least = measures.iter().map(Vec::len).min().unwrap_or(0);
            for choice in 0..least {
                if cx.stop().is_some() {
                    return None;
                }
                let chosen: Vec<&[TermId]> = measures.iter().map(|m| &*m[choice]).collect();
                if self.falls(members, &chosen) {
                    return Some(chosen.into_iter().map(<[TermId]>::to_vec).collect());
                }
            }
        }
        None
    }

    /// Whether formulas contradict each other.
    fn is_contradictory(&mut self, formulas: &[TermId]) -> bool {
        let formula = self.terms().and(formulas);
        if formula == TermId::FALSE {
            return true;
        }
        self.solver.push();
        self.solver.assert(formula);
        let limit = self.smt.limit_queries(Some(LIMITS.query_work));
        let answer = self.solver.check(&[]);
        drop(limit);
        self.solver.pop();
        answer == SatResult::Unsat
    }

    /// The domain of a callee at the inputs of a call.
    fn called_domain(&self, call: &PlanCall) -> TermId {
        let callee = &self.callees[&call.predicate];
        let params = self.params(call.predicate);
        let params = callee.inputs.iter().map(|&at| params[at]);
        let map = params.zip(call.inputs.iter().copied()).collect();
        self.terms().substitute(self.domains[&call.predicate], &map)
    }

    /// Whether some plan computes a fact for each input of the domain, and facts have inputs of the
    /// domain only.
    fn computes(&mut self, member: &Member) -> bool {
        let terms = self.terms();
        let domain = self.domains[&member.predicate];
        let mut open = vec![domain];
        for plan in &member.plans {
            let called = plan.calls.iter().map(|call| self.called_domain(call));
            let called = terms.and(&called.collect::<Vec<_>>());
            let guard = terms.and(&plan.guards);
            open.push(guard);
            let mut missing = open.clone();
            missing.push(terms.not(called));
            if !self.is_contradictory(&missing)
                || !self.is_contradictory(&[called, guard, terms.not(domain)])
            {
                return false;
            }
            open.pop();
            open.push(terms.not(guard));
        }
        self.is_contradictory(&open)
    }

    /// Whether measures fall in the calls within a component.
    fn falls(&mut self, members: &[Member], measures: &[&[TermId]]) -> bool {
        let terms = self.terms();
        for (member, measure) in members.iter().zip(measures) {
            let mut open = vec![self.domains[&member.predicate]];
            for plan in &member.plans {
                let guard = terms.and(&plan.guards);
                open.push(guard);
                for call in &plan.calls {
                    let Some(at) = members.iter().position(|m| m.predicate == call.predicate)
                    else {
                        continue;
                    };
                    let params = members[at].inputs.iter().copied();
                    let map = params.zip(call.inputs.iter().copied()).collect();
                    let mut smaller = TermId::FALSE;
                    for (&old, &new) in measure.iter().zip(measures[at]).rev() {
                        let new = terms.substitute(new, &map);
                        let below = [terms.ge(old, terms.int(0)), terms.lt(new, old)];
                        let later = terms.and(&[terms.eq(new, old), smaller]);
                        smaller = terms.or(&[terms.and(&below), later]);
                    }
                    let mut formulas = open.clone();
                    formulas.push(terms.not(smaller));
                    if !self.is_contradictory(&formulas) {
                        return false;
                    }
                }
                open.pop();
                open.push(terms.not(guard));
            }
        }
        true
    }

    /// Domains: all inputs; those for which some clause may compute a fact; bounds of inputs; both, or
    /// bounds for clauses with calls within the component.
    fn domains(&self, member: &Member, own: &[PredicateId]) -> Vec<TermId> {
        let terms = self.terms();
        let only_inputs = |&t: &TermId| {
            let free = terms.free_vars(&[t]);
            free.iter().all(|var| member.inputs.contains(var))
        };
        // With calls within the component, and without.
        let (mut inner, mut outer) = (Vec::new(), Vec::new());
        let mut bounds: Vec<TermId> = Vec::new();
        let numbers = member.inputs.iter().copied();
        let numbers: Vec<TermId> = numbers
            .filter(|&input| terms.sort_of(input) == SortId::INT)
            .collect();
        for plan in &member.plans {
            let mut parts = plan.guards.clone();
            let others = plan
                .calls
                .iter()
                .filter(|call| !own.contains(&call.predicate));
            parts.extend(others.map(|call| self.called_domain(call)));
            parts.retain(only_inputs);
            for &part in &parts {
                let sides = terms.args(part);
                if matches!(terms.op(part), Op::Eq) {
                    for (&a, &b) in [(&sides[0], &sides[1]), (&sides[1], &sides[0])] {
                        if numbers.contains(&a) && matches!(terms.op(b), Op::Int(_)) {
                            bounds.extend([terms.ge(a, b), terms.le(a, b)]);
                        }
                    }
                }
            }
            match plan.calls.iter().any(|call| own.contains(&call.predicate)) {
                true => inner.push(terms.and(&parts)),
                false => outer.push(terms.and(&parts)),
            }
        }
        for least in [0, 1] {
            bounds.extend(numbers.iter().map(|&x| terms.ge(x, terms.int(least))));
        }
        let (inner, outer) = (terms.or(&inner), terms.or(&outer));
        let reached = terms.or(&[inner, outer]);
        let mut found = vec![TermId::TRUE, reached];
        if numbers.len() > 1 {
            let all = numbers.iter().map(|&input| terms.ge(input, terms.int(0)));
            bounds.push(terms.and(&all.collect::<Vec<_>>()));
        }
        found.extend(&bounds);
        for &bound in &bounds {
            found.push(terms.and(&[reached, bound]));
            found.push(terms.or(&[outer, terms.and(&[inner, bound])]));
        }
        let mut seen = Vec::new();
        found.retain(|&domain| {
            !seen.contains(&domain) && {
                seen.push(domain);
                true
            }
        });
        found.truncate(LIMITS.function_domains);
        found
    }

    /// Measures: inputs, distances to bounds in guards, differences of inputs, pairs of inputs, and sums
    /// of two with one of them.
    fn measures(&self, member: &Member) -> Vec<Vec<TermId>> {
        let terms = self.terms();
        let inputs = member.inputs.iter().copied();
        let inputs: Vec<TermId> = inputs
            .filter(|&input| terms.sort_of(input) == SortId::INT)
            .collect();
        let mut found: Vec<TermId> = inputs.clone();
        for &x in &inputs {
            found.push(terms.sub(terms.int(0), x));
            let others = inputs.iter().filter(|&&y| y != x);
            found.extend(others.map(|&y| terms.sub(x, y)));
        }
        for plan in &member.plans {
            for &guard in &plan.guards {
                let atom = match terms.op(guard) {
                    Op::Not => terms.args(guard)[0],
                    _ => guard,
                };
                let &[a, b] = terms.args(atom) else {
                    continue;
                };
                let is_own = |t: TermId| {
                    let free = terms.free_vars(&[t]);
                    free.iter().all(|var| inputs.contains(var))
                };
                if terms.sort_of(a) == SortId::INT && is_own(a) && is_own(b) {
                    found.extend([terms.sub(a, b), terms.sub(b, a)]);
                }
            }
        }
        let mut found: Vec<Vec<TermId>> = found.into_iter().map(|sum| vec![sum]).collect();
        for &x in &inputs {
            for &y in inputs.iter().filter(|&&y| y != x) {
                let sum = terms.add(&[x, y]);
                found.extend([vec![x, y], vec![sum, x]]);
            }
        }
        found.truncate(LIMITS.function_measures);
        found
    }

    /// Adds the definition of a predicate.
    fn define(&mut self, member: &Member, measure: Vec<TermId>, is_recursive: bool) {
        let terms = self.terms();
        let Member {
            predicate,
            inputs,
            outputs,
            plans,
        } = member;
        let values = self.calls.values(terms);
        let with_calls = |t: TermId| terms.substitute(t, &values);
        let domain = self.domains[predicate];
        let mut bodies = Vec::with_capacity(outputs.len());
        for (at, &output) in outputs.iter().enumerate() {
            // The last plan applies if no other does.
            let mut cases = plans.iter().rev();
            let last = cases.next().map(|plan| with_calls(plan.outputs[at]));
            let zero = match terms.sort_of(self.params(*predicate)[output]) {
                SortId::BOOL => TermId::FALSE,
                _ => terms.int(0),
            };
            let body = cases.fold(last.unwrap_or(zero), |rest, plan| {
                let guard = with_calls(terms.and(&plan.guards));
                terms.ite(guard, with_calls(plan.outputs[at]), rest)
            });
            bodies.push(match is_recursive {
                true => terms.ite(domain, body, zero),
                false => body,
            });
        }
        let functions = self.callees[predicate].functions.clone();
        let mut unfoldings = Vec::new();
        for (&function, &body) in functions.iter().zip(&bodies) {
            let params = terms.function(function).params.clone();
            let map = inputs.iter().copied().zip(params).collect();
            terms.define_function(function, terms.substitute(body, &map), Vec::new());
            let own = measure.iter().map(|&sum| terms.substitute(sum, &map));
            self.model.measures.insert(function, own.collect());
            unfoldings.push(terms.call(function, inputs));
        }
        let results = match is_recursive {
            true => unfoldings.clone(),
            false => bodies,
        };
        let params = self.params(*predicate);
        let mut formula = vec![domain];
        formula.extend(
            outputs
                .iter()
                .zip(&results)
                .map(|(&at, &value)| terms.eq(params[at], value)),
        );
        self.model
            .definitions
            .insert(*predicate, terms.and(&formula));
        let cases = plans.iter().map(|plan| {
            let values = plan.values.iter().map(|&value| with_calls(value));
            (plan.case, values.collect())
        });
        self.model.derived.push(Derived {
            predicate: *predicate,
            measure,
            unfoldings,
            cases: cases.collect(),
        });
        if let (false, Some(callee)) = (is_recursive, self.callees.get_mut(predicate)) {
            callee.results = results;
        }
    }
}
