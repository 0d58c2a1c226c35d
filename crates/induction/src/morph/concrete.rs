//! Checks whether a refutation of the scalar system is one of the clauses.
//!
//! The last step of the refutation, and the steps that derive main premises, are a derivation by
//! the original clauses if there are arrays for it. One query asks for these, with all scalars
//! open. Each read of a step is a variable that an assumption equates with the array's element, so
//! that the core of a contradiction names the reads that matter.
//!
//! Invariant: a real refutation was confirmed by evaluation.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use super::translate::{Demand, Morphed};
use alphorn_chc::{Clause, System};
use alphorn_proof::{Derivation, DerivationStep, Stop, ask, confirm, incomplete};
use alphorn_smt::Smt;
use alphorn_term::run::Context;
use alphorn_term::{Op, SortId, TermId, TermStore};
use alphorn_transform::ArrayView;
use alphorn_witness::{Refutation, Verdict};

/// The result of checking a scalar refutation.
pub(super) enum Outcome {
    /// There is a derivation with arrays: the verdict after its evaluation.
    Real(Verdict),
    /// There is none that was tried.
    Spurious(Missing),
}

/// What the translation lacks to exclude a spurious refutation.
#[derive(Default)]
pub(super) struct Missing {
    /// Cells that clauses read and that are not premises.
    pub demands: Vec<Demand>,
    /// Whether a query, or another clause without arrays in its head, needs two cells at once.
    pub pair: bool,
}

/// Searches for a derivation by the clauses along a refutation of the scalar system.
pub(super) fn concretise(
    system: &System,
    morphed: &Morphed,
    refutation: &Refutation,
    smt: &Rc<Smt>,
    cx: &mut Context,
) -> Result<Outcome, Stop> {
    let mut missing = Missing::default();
    for choice in 0..LIMITS.premise_choices {
        let Some(steps) = derivation(system, morphed, refutation, choice) else {
            break;
        };
        if steps.len() > LIMITS.derivation_steps {
            return Err(incomplete("a refutation of the scalar system is long"));
        }
        let mut path = Path::new(system, steps, smt);
        let ties: Vec<TermId> = path.reads.iter().map(|r| r.literal).collect();
        if let Some(model) = ask(&mut path.derivation.solver, &ties, cx)? {
            let found = path.derivation.refutation(&model)?;
            return Ok(Outcome::Real(confirm(system, found, smt, cx)));
        }
        path.name_missing(system, &mut missing, cx)?;
    }
    Ok(Outcome::Spurious(missing))
}

/// The last step and the steps that derive its main premises, theirs and so on, premises first. Of
/// several main premises of one body atom it takes the one that `choice` selects; `None` if there
/// are no further choices.
fn derivation(
    system: &System,
    morphed: &Morphed,
    refutation: &Refutation,
    choice: usize,
) -> Option<Vec<DerivationStep>> {
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
        DerivationStep {
            clause: source.clause,
            premises: chosen[number].iter().map(|p| position[p]).collect(),
        }
    });
    Some(steps.collect())
}

/// A read of a step: the literal that equates it with the array's element, and its index over the
/// clause's variables.
struct Read {
    literal: TermId,
    step: usize,
    index: TermId,
}

/// The clauses of a derivation in a solver, with reads that can be left unconstrained.
struct Path<'a> {
    derivation: Derivation<'a>,
    reads: Vec<Read>,
}

impl<'a> Path<'a> {
    /// Asserts the clauses along the steps.
    fn new(system: &'a System, steps: Vec<DerivationStep>, smt: &Rc<Smt>) -> Self {
        let terms = &system.terms;
        let clauses: Vec<usize> = steps.iter().map(|s| s.clause).collect();
        let mut found: Vec<Read> = Vec::new();
        let mut reads_of: FxHashMap<usize, Vec<(TermId, TermId)>> = FxHashMap::default();
        let derivation = Derivation::new(system, steps, smt, |step, map| {
            let clause = &system.clauses[clauses[step]];
            let mut parts = Vec::new();
            let mut replaced: FxHashMap<TermId, TermId> = FxHashMap::default();
            let own = reads_of.entry(clauses[step]);
            for &(read, index) in own.or_insert_with(|| reads(terms, clause)).iter() {
                let value = terms.fresh_var("read", terms.sort_of(read));
                let literal = terms.fresh_var("tie", SortId::BOOL);
                replaced.insert(read, value);
                let tie = terms.eq(value, terms.substitute(read, map));
                parts.push(terms.implies(literal, tie));
                found.push(Read {
                    literal,
                    step,
                    index,
                });
            }
            let constraint = terms.rewrite(clause.constraint, &mut FxHashMap::default(), |t| {
                replaced.get(&t).copied()
            });
            parts.push(terms.substitute(constraint, map));
            parts
        });
        Path {
            derivation,
            reads: found,
        }
    }

    /// Adds the reads of a minimal core of the last contradiction.
    fn name_missing(
        &mut self,
        system: &System,
        missing: &mut Missing,
        cx: &Context,
    ) -> Result<(), Stop> {
        let mut core = self.derivation.solver.core();
        let mut at = 0;
        while at < core.len() {
            let mut fewer = core.clone();
            fewer.remove(at);
            match ask(&mut self.derivation.solver, &fewer, cx)? {
                None => core = fewer,
                Some(_) => at += 1,
            }
        }
        let mut of_query: Vec<TermId> = Vec::new();
        for read in self.reads.iter().filter(|r| core.contains(&r.literal)) {
            let clause = &system.clauses[self.derivation.clause(read.step)];
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

/// Demands for all reads of the clauses: a read through a pointer depends on an earlier read, and
/// refutations would name one read of such a chain after the other.
pub(super) fn all_demands(system: &System) -> impl Iterator<Item = Demand> {
    let terms = &*system.terms;
    let derives_arrays = |clause: &&Clause| {
        let mut args = clause.head.iter().flat_map(|h| &h.args);
        !clause.body.is_empty() && args.any(|&a| terms.is_array(a))
    };
    let clauses = system.clauses.iter().filter(derives_arrays);
    clauses.flat_map(|clause| {
        let reads = reads(terms, clause).into_iter();
        reads.map(|(_, index)| Demand {
            clause: clause.id,
            index,
        })
    })
}

/// The reads in a clause's constraint that have no variable bound by a quantifier, with their
/// indexes as the translation has them.
fn reads(terms: &TermStore, clause: &Clause) -> Vec<(TermId, TermId)> {
    let view = ArrayView::new(terms, clause);
    let mut found = Vec::new();
    let mut bound: FxHashSet<TermId> = FxHashSet::default();
    terms.post_order(&[clause.constraint], |t| {
        let node = terms.node(t);
        if let Op::Forall(vars) | Op::Exists(vars) = &node.op {
            bound.extend(vars);
        }
        if node.op == Op::Select && !node.is_ground && !node.has_quantifier {
            found.push((t, view.resolve(terms, node.args[1])));
        }
    });
    if !bound.is_empty() {
        found.retain(|(read, _)| !terms.free_vars(&[*read]).iter().any(|v| bound.contains(v)));
    }
    found
}
