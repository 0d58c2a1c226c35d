//! The reached states as a model: the states that clauses and learned relations derive, as unions
//! of cubes.
//!
//! From the entries on, the states that a step derives from the cubes and that are not contained in
//! them are projected onto the arguments, and the cube is added. Learned relations are applied
//! first, so that few states remain for the clauses.
//!
//! Invariant: if the query about a step has no solution, the step leads from the cubes to the
//! cubes; so at the end the cubes are inductive, and a model if no query has a solution in them.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::steps::{Instance, Steps, literal};
use super::stop::{Stop, ask, incomplete, undefined, unreadable};
use alphorn_chc::{PredicateId, System};
use alphorn_interpolation::project_onto;
use alphorn_smt::{Smt, Solver};
use alphorn_term::TermId;
use alphorn_term::run::Context;
use alphorn_witness::Model;

/// Cubes of a model; with more, the search stops.
pub const MAX_CUBES: usize = 2_000;

/// A step with the cubes on both sides.
struct Rule {
    instance: Instance,
    /// The literal that puts the rule in force.
    on: TermId,
    /// The literal that stands for cubes that are still to come.
    rest: TermId,
    /// The numbers of cubes that are asserted on either side.
    before: usize,
    after: usize,
}

/// The cubes that are reached in a linear system.
pub struct Reach<'a> {
    system: &'a System,
    steps: &'a Steps,
    smt: &'a Rc<Smt>,
    /// The cubes by predicate, over its formal variables.
    reached: FxHashMap<PredicateId, Vec<TermId>>,
    rules: Vec<Rule>,
    solver: Solver,
    cubes: usize,
}

impl<'a> Reach<'a> {
    /// A search with no cube.
    pub fn new(system: &'a System, steps: &'a Steps, smt: &'a Rc<Smt>) -> Self {
        let mut reach = Reach {
            system,
            steps,
            smt,
            reached: FxHashMap::default(),
            rules: Vec::new(),
            solver: smt.solver(),
            cubes: 0,
        };
        for predicate in steps.predicates() {
            reach.reached.insert(predicate, Vec::new());
        }
        // Later relations are composed of earlier ones, so they come first.
        let mut order: Vec<usize> = (0..steps.all.len())
            .filter(|&s| steps.all[s].to.is_some())
            .collect();
        order.sort_by_key(|&s| match steps.all[s].from {
            None => (0, 0),
            Some(_) if steps.is_learned(s) => (1, steps.all.len() - s),
            Some(_) => (2, s),
        });
        for step in order {
            let rule = reach.rule(step);
            reach.rules.push(rule);
        }
        reach
    }

    fn rule(&mut self, step: usize) -> Rule {
        let terms = &self.system.terms;
        let vars = self.steps.all[step].vars.iter().copied();
        let instance = self.steps.instantiate(terms, step, TermId::TRUE, vars);
        let (on, rest) = (literal(terms, "rule"), literal(terms, "rest"));
        self.solver.assert(terms.implies(on, instance.formula));
        if self.steps.all[step].from.is_some() {
            self.solver.assert(terms.implies(on, rest));
        }
        Rule {
            instance,
            on,
            rest,
            before: 0,
            after: 0,
        }
    }

    /// Adds cubes until no step leads out of them; returns their number.
    ///
    /// # Errors
    /// A limit, of the run or on the number of cubes.
    pub fn close(&mut self, cx: &Context) -> Result<usize, Stop> {
        let mut next = 0;
        // After a rule that added cubes, the first rule comes again.
        while next < self.rules.len() {
            let mut found = false;
            while self.fire(next, cx)? {
                found = true;
                if self.cubes > MAX_CUBES {
                    return Err(too_many_cubes());
                }
            }
            next = if found { 0 } else { next + 1 };
        }
        Ok(self.cubes)
    }

    /// Adds a cube that a rule derives, if there is one.
    fn fire(&mut self, rule: usize, cx: &Context) -> Result<bool, Stop> {
        let terms = self.system.terms.clone();
        let step = &self.steps.all[self.rules[rule].instance.step];
        let rule = &mut self.rules[rule];
        let arguments = &rule.instance.vars[..step.arguments];
        let (before, after) = arguments.split_at(step.first);
        let (before, after) = (before.to_vec(), after.to_vec());
        let over = |cube: TermId, predicate: PredicateId, args: &[TermId]| {
            let params = &self.system.predicate(predicate).params;
            let map = params.iter().copied().zip(args.iter().copied()).collect();
            terms.substitute(cube, &map)
        };
        if let Some(from) = step.from {
            let cubes = &self.reached[&from];
            if rule.before < cubes.len() {
                let rest = literal(&terms, "rest");
                let mut parts = vec![terms.not(rule.rest), rest];
                parts.extend(cubes[rule.before..].iter().map(|&c| over(c, from, &before)));
                self.solver.assert(terms.or(&parts));
                rule.rest = rest;
                rule.before = cubes.len();
            }
        }
        let Some(to) = step.to else {
            return Err(unreadable("a query has no head").into());
        };
        for &cube in &self.reached[&to][rule.after..] {
            self.solver
                .assert(terms.not(terms.and(&[rule.on, over(cube, to, &after)])));
        }
        rule.after = self.reached[&to].len();
        let mut assumptions = vec![rule.on];
        assumptions.extend(step.from.iter().map(|_| terms.not(rule.rest)));
        let Some(model) = ask(&mut self.solver, &assumptions, cx)? else {
            return Ok(false);
        };
        let mut parts = vec![rule.instance.formula];
        if let Some(from) = step.from {
            let cubes = &self.reached[&from];
            let inside = cubes.iter().map(|&c| over(c, from, &before));
            let cube = inside.into_iter().find(|&c| model.satisfies(c));
            parts.push(cube.ok_or_else(|| unreadable("no cube holds"))?);
        }
        let literals = project_onto(&terms, terms.and(&parts), &after, &model);
        let literals = literals.ok_or_else(undefined)?;
        let params = &self.system.predicate(to).params;
        let map = after.iter().copied().zip(params.iter().copied()).collect();
        let cube = terms.substitute(terms.and(&literals), &map);
        self.reached.entry(to).or_default().push(cube);
        self.cubes += 1;
        Ok(true)
    }

    /// The cubes as a model, if no query has a solution in them. Predicates that no step touches
    /// are not defined.
    ///
    /// # Errors
    /// A query has no answer.
    pub fn model(&self, cx: &Context) -> Result<Option<Model>, Stop> {
        let terms = &self.system.terms;
        let mut definitions = FxHashMap::default();
        for (&predicate, reached) in &self.reached {
            definitions.insert(predicate, terms.or(reached));
        }
        for step in self.steps.all.iter().filter(|s| s.to.is_none()) {
            let Some(from) = step.from else { continue };
            let params = &self.system.predicate(from).params;
            let args = step.vars.iter().copied();
            let map = params.iter().copied().zip(args).collect();
            let mut solver = self.smt.solver();
            solver.assert(step.formula);
            solver.assert(terms.substitute(definitions[&from], &map));
            if ask(&mut solver, &[], cx)?.is_some() {
                return Ok(None);
            }
        }
        Ok(Some(Model {
            definitions,
            ..Model::default()
        }))
    }
}

/// The reason for stopping at too many cubes.
pub fn too_many_cubes() -> Stop {
    incomplete(format!("the model has more than {MAX_CUBES} cubes"))
}
