//! Whether a refutation of the scalar system is one of the clauses.
//!
//! The steps of the refutation that derive the main premises of others are a derivation by the
//! original clauses, if arrays can be found for it. One query asks for these, with all scalars
//! open. Each read of a step is a variable that an assumption ties to its array, so that the core
//! of a contradiction names the reads that matter.
//!
//! Invariant: what is said to be real was confirmed by evaluation.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::translate::{Demand, Morphed};
use crate::chc::{Clause, System};
use crate::proof::{Stop, ask, confirm, incomplete, values};
use crate::run::Context;
use crate::smt::{Smt, Solver};
use crate::term::{Op, SortId, TermId, TermStore};
use crate::transform::ArrayView;
use crate::witness::{Fact, Refutation, RefutationStep, Verdict};

/// Longer derivations are not asked for.
const STEPS: usize = 400;

/// Ways to choose main premises that are tried.
const CHOICES: usize = 6;

/// What becomes of a scalar refutation.
pub(super) enum Outcome {
    /// A refutation of the clauses, or none after all: evaluation had the last word.
    Real(Verdict),
    Spurious(Missing),
}

/// What a spurious refutation shows to be missing.
#[derive(Default)]
pub(super) struct Missing {
    /// Cells that clauses read and that are no premises.
    pub demands: Vec<Demand>,
    /// A query, or another clause without arrays in its head, needs two cells at once.
    pub pair: bool,
}

/// Looks for a derivation by the clauses along a refutation of the scalar system.
pub(super) fn concretise(
    system: &System,
    morphed: &Morphed,
    refutation: &Refutation,
    smt: &Rc<Smt>,
    cx: &mut Context,
) -> Result<Outcome, Stop> {
    let mut missing = Missing::default();
    for choice in 0..CHOICES {
        let Some(steps) = derivation(system, morphed, refutation, choice) else {
            break;
        };
        if steps.len() > STEPS {
            return Err(incomplete("a refutation of the scalar system is long"));
        }
        let mut path = Path::new(system, &steps, smt);
        let ties: Vec<TermId> = path.reads.iter().map(|r| r.literal).collect();
        if let Some(model) = ask(&mut path.solver, &ties, cx)? {
            let mut found = Refutation { steps: Vec::new() };
            for (step, instance) in steps.iter().zip(&path.instances) {
                let clause = &system.clauses[step.clause];
                let vars: Vec<TermId> = instance.vars.iter().map(|v| v.1).collect();
                let assignment = values(&model, &vars)?;
                let own = instance.vars.iter();
                let own = own.filter_map(|(v, new)| Some((*v, *assignment.get(new)?)));
                let values: crate::term::Assignment = own.collect();
                let fact = clause.head.as_ref().map(|head| Fact {
                    predicate: head.predicate,
                    values: head
                        .args
                        .iter()
                        .map(|a| values.get(a).copied().unwrap_or(*a))
                        .collect(),
                });
                found.steps.push(RefutationStep {
                    clause: clause.id,
                    values,
                    premises: step.premises.clone(),
                    fact,
                });
            }
            return Ok(Outcome::Real(confirm(system, found, smt, cx)));
        }
        path.name_missing(system, &mut missing, cx)?;
    }
    Ok(Outcome::Spurious(missing))
}

/// A step by a clause of the system.
struct Step {
    clause: usize,
    premises: Vec<usize>,
}

/// The steps that the main premises lead to from the last one, those first that others need. Of
/// several main premises for one body atom it takes the one that `choice` says; `None` when these
/// are exhausted.
fn derivation(
    system: &System,
    morphed: &Morphed,
    refutation: &Refutation,
    choice: usize,
) -> Option<Vec<Step>> {
    let root = refutation.steps.len().checked_sub(1)?;
    let mut choice = choice;
    let mut chosen: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    let mut stack = vec![root];
    while let Some(number) = stack.pop() {
        if chosen.contains_key(&number) {
            continue;
        }
        let step = &refutation.steps[number];
        let source = morphed.sources.get(&step.clause)?;
        let clause = &system.clauses[source.clause];
        let mut premises = Vec::with_capacity(clause.body.len());
        for atom in 0..clause.body.len() {
            let instances = source.instances.iter().zip(&step.premises);
            let main: Vec<usize> = instances
                .filter(|(i, _)| i.atom == atom && i.main)
                .map(|(_, &premise)| premise)
                .collect();
            let at = choice % main.len().max(1);
            choice /= main.len().max(1);
            premises.push(*main.get(at)?);
        }
        stack.extend(&premises);
        chosen.insert(number, premises);
    }
    if choice > 0 {
        return None;
    }
    let mut order: Vec<usize> = chosen.keys().copied().collect();
    order.sort_unstable();
    let position: FxHashMap<usize, usize> =
        order.iter().enumerate().map(|(i, &n)| (n, i)).collect();
    let steps = order.iter().map(|number| {
        let source = &morphed.sources[&refutation.steps[*number].clause];
        Step {
            clause: source.clause,
            premises: chosen[number].iter().map(|p| position[p]).collect(),
        }
    });
    Some(steps.collect())
}

/// A step's clause with variables of its own.
struct PathStep {
    clause: usize,
    vars: Vec<(TermId, TermId)>,
}

/// A read of a step: the literal that ties it to its array, and the index as the clause has it.
struct Read {
    literal: TermId,
    step: usize,
    index: TermId,
}

/// The clauses of a derivation in a solver.
struct Path {
    solver: Solver,
    instances: Vec<PathStep>,
    reads: Vec<Read>,
}

impl Path {
    fn new(system: &System, steps: &[Step], smt: &Rc<Smt>) -> Path {
        let terms = &system.terms;
        let mut path = Path {
            solver: smt.solver(),
            instances: Vec::with_capacity(steps.len()),
            reads: Vec::new(),
        };
        let mut reads_of: FxHashMap<usize, Vec<(TermId, TermId)>> = FxHashMap::default();
        for (number, step) in steps.iter().enumerate() {
            let clause = &system.clauses[step.clause];
            let vars = clause.vars(terms);
            let map = terms.renaming(&vars);
            let instance = PathStep {
                clause: step.clause,
                vars: vars.iter().map(|v| (*v, map[v])).collect(),
            };
            let mut formula = clause.constraint;
            let mut replaced: FxHashMap<TermId, TermId> = FxHashMap::default();
            let own = reads_of.entry(step.clause);
            for &(read, index) in own.or_insert_with(|| reads(terms, clause)).iter() {
                let value = terms.fresh_var("read", terms.sort_of(read));
                let literal = terms.fresh_var("tie", SortId::BOOL);
                replaced.insert(read, value);
                let tie = terms.eq(value, terms.substitute(read, &map));
                path.solver.assert(terms.implies(literal, tie));
                path.reads.push(Read {
                    literal,
                    step: number,
                    index,
                });
            }
            formula = terms.rewrite(formula, &mut FxHashMap::default(), |t| {
                replaced.get(&t).copied()
            });
            path.solver.assert(terms.substitute(formula, &map));
            for (atom, &premise) in clause.body.iter().zip(&step.premises) {
                let from = &path.instances[premise];
                let head = system.clauses[from.clause].head.as_ref();
                let own: FxHashMap<TermId, TermId> = from.vars.iter().copied().collect();
                for (arg, derived) in atom.args.iter().zip(head.iter().flat_map(|h| &h.args)) {
                    path.solver.assert(terms.eq(map[arg], own[derived]));
                }
            }
            path.instances.push(instance);
        }
        path
    }

    /// The reads of a minimal core of the contradiction that was found last.
    fn name_missing(
        &mut self,
        system: &System,
        missing: &mut Missing,
        cx: &Context,
    ) -> Result<(), Stop> {
        let mut core = self.solver.core();
        let mut at = 0;
        while at < core.len() {
            let mut fewer = core.clone();
            fewer.remove(at);
            match ask(&mut self.solver, &fewer, cx)? {
                None => core = fewer,
                Some(_) => at += 1,
            }
        }
        let mut of_query: Vec<TermId> = Vec::new();
        for read in self.reads.iter().filter(|r| core.contains(&r.literal)) {
            let clause = &system.clauses[self.instances[read.step].clause];
            let mut arrays = clause.head.iter().flat_map(|h| &h.args);
            if !arrays.any(|&a| system.terms.is_array(a)) {
                if !of_query.contains(&read.index) {
                    of_query.push(read.index);
                }
                continue;
            }
            let demand = Demand {
                clause: clause.id,
                index: read.index,
            };
            if !clause.body.is_empty() && !missing.demands.contains(&demand) {
                missing.demands.push(demand);
            }
        }
        missing.pair |= of_query.len() > 1;
        Ok(())
    }
}

/// The reads in a clause's constraint, with their indexes as the translation has them.
fn reads(terms: &TermStore, clause: &Clause) -> Vec<(TermId, TermId)> {
    let view = ArrayView::new(terms, clause);
    let mut found = Vec::new();
    terms.post_order(&[clause.constraint], |t| {
        let node = terms.node(t);
        if node.op == Op::Select && !node.is_ground && !node.has_quantifier {
            found.push((t, view.resolve(terms, node.args[1])));
        }
    });
    found
}
