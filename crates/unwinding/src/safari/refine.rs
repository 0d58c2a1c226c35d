//! REFINE: a path that begins at the initial location is feasible, or gives interpolants.
//!
//! The path's instances have cells in place of arrays: each array is instantiated at the indexes
//! that the steps nearer to the error read. The axiom that elements at equal indexes are equal is
//! asserted of all pairs if these are few, otherwise of those that a model violates (selective
//! instantiation). A model of the path gives arrays: its cells, and a default elsewhere; the
//! clauses are evaluated along the path with them. If there is no model, interpolants are computed
//! from the error on: that of a node is implied by the step into its successor and the successor's
//! label, and contradicts the path before the node. The index variables of its cells occur before
//! the node, where the arrays are instantiated at them; so the condition of the slides'
//! interpolation theorem holds by construction.
//!
//! Invariant: after a refinement the path's first step contradicts the label of the second node.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use super::Labels;
use super::limits::LIMITS;
use super::transition::{Cell, Transition, consistency};
use super::unwind::{NodeId, Status, Unwinding};
use alphorn_chc::Clause;
use alphorn_interpolation::project_onto;
use alphorn_proof::{Failure, Stop, ask, incomplete, unreadable};
use alphorn_smt::SmtModel;
use alphorn_term::run::Context;
use alphorn_term::{Assignment, Printer, Sort, TermId, TermStore, evaluate};
use alphorn_witness::{Fact, Refutation, RefutationStep};

impl Unwinding<'_> {
    /// Refines the path from a node at the initial location, or returns its refutation.
    pub fn refine(&mut self, entry: NodeId, cx: &mut Context) -> Result<Option<Refutation>, Stop> {
        let terms = self.terms.clone();
        self.counters.refinements += 1;
        let path = self.path(entry);
        let mut solver = self.smt.solver();
        for &node in &path {
            solver.assert(self.nodes[node].instance.formula);
            self.nodes[node]
                .axioms
                .iter()
                .for_each(|&a| solver.assert(a));
        }
        while let Some(model) = ask(&mut solver, &[], cx)? {
            let mut found = false;
            for &node in &path {
                let axioms = violated(&terms, &self.nodes[node].instance.source.cells, &model)?;
                for axiom in axioms {
                    found = true;
                    self.counters.axioms += 1;
                    solver.assert(axiom);
                    self.nodes[node].axioms.push(axiom);
                }
            }
            if !found {
                return Ok(Some(self.refutation(&path, &model, cx)?));
            }
        }
        let changed = self.strengthen_path(&path, cx)?;
        if changed.is_empty() {
            return Err(incomplete("labels allow a path that is infeasible"));
        }
        log::debug!(
            "safari: a path of {} steps, {} labels",
            path.len(),
            changed.len()
        );
        self.reopen_covered(&changed);
        self.reopen(entry);
        self.check_again(&changed, cx)?;
        Ok(None)
    }

    /// Strengthens the labels of an infeasible path from the error on. Returns the changed nodes.
    fn strengthen_path(&mut self, path: &[NodeId], cx: &mut Context) -> Result<Vec<NodeId>, Stop> {
        let terms = self.terms.clone();
        let mut changed = Vec::new();
        for at in (1..path.len()).rev() {
            let node = path[at];
            let mut before: Vec<TermId> = self.nodes[node].axioms.clone();
            for &earlier in &path[..at] {
                before.push(self.nodes[earlier].instance.formula);
                before.extend(&self.nodes[earlier].axioms);
            }
            let before = terms.and(&before);
            let mut solver = self.smt.solver();
            solver.assert(before);
            let label = self.nodes[node].label.clone();
            label.iter().for_each(|&part| solver.assert(part));
            if ask(&mut solver, &[], cx)?.is_none() {
                continue;
            }
            let mut after = vec![self.nodes[node].instance.formula];
            after.extend(&self.nodes[node].axioms);
            if let Some(successor) = self.nodes[node].successor {
                after.extend(&self.nodes[successor].label);
                after.extend(&self.nodes[successor].axioms);
            }
            let interpolant = self.separate(node, terms.and(&after), before, cx)?;
            let print = || Printer::new(&terms).term(interpolant);
            log::trace!("safari: node {node}: {}", print());
            self.strengthen(node, interpolant);
            changed.push(node);
        }
        Ok(changed)
    }

    /// Labels a node with its exact pre-image, cube by cube.
    pub fn label_exactly(&mut self, node: NodeId, cx: &Context) -> Result<(), Stop> {
        debug_assert_eq!(self.options.labels, Labels::Exact);
        debug_assert_eq!(self.nodes[node].status, Status::Leaf);
        let terms = self.terms.clone();
        let mut parts = vec![self.nodes[node].instance.formula];
        if let Some(successor) = self.nodes[node].successor {
            parts.extend(&self.nodes[successor].label);
            parts.extend(&self.nodes[successor].axioms);
        }
        let state = &self.nodes[node].instance.source;
        let mut kept: Vec<TermId> = state.args.clone();
        kept.extend(state.cells.iter().flat_map(|cell| [cell.index, cell.var]));
        let whole = terms.and(&parts);
        let mut solver = self.smt.solver();
        solver.assert(whole);
        let mut cubes = Vec::new();
        while let Some(model) = ask(&mut solver, &[], cx)? {
            if cubes.len() == LIMITS.pre_image_cubes {
                return Ok(());
            }
            let Some(cube) = project_onto(&terms, whole, &kept, &model) else {
                return Ok(());
            };
            let cube = terms.and(&cube);
            cubes.push(cube);
            solver.assert(terms.not(cube));
        }
        self.strengthen(node, terms.or(&cubes));
        Ok(())
    }

    /// The refutation along a path, with the values of a model of its cells.
    fn refutation(
        &self,
        path: &[NodeId],
        model: &SmtModel,
        cx: &Context,
    ) -> Result<Refutation, Stop> {
        let mut steps = Vec::new();
        let mut facts: Vec<TermId> = Vec::new();
        for &node in path {
            let transition = &self.transitions[self.nodes[node].transition];
            let values = self.step_values(node, &facts, model)?;
            match evaluate(&self.terms, transition.case.constraint, &values) {
                Some(TermId::TRUE) => facts = self.push_step(&mut steps, transition, values)?,
                _ => return self.refutation_with_arrays(path, cx),
            }
        }
        Ok(Refutation { steps })
    }

    /// Values of the clause's variables: those of the fact before, of the model, and of
    /// definitions.
    fn step_values(
        &self,
        node: NodeId,
        before: &[TermId],
        model: &SmtModel,
    ) -> Result<Assignment, Stop> {
        let terms = &*self.terms;
        let node = &self.nodes[node];
        let Transition { case, view, .. } = &self.transitions[node.transition];
        let body: &[TermId] = case.body.first().map_or(&[], |atom| &atom.args);
        let mut values: Assignment = body.iter().copied().zip(before.iter().copied()).collect();
        for var in case.vars(terms) {
            if values.contains_key(&var) || view.defined.contains_key(&var) {
                continue;
            }
            let value = match terms.is_array(var) {
                true => {
                    let cells = node.instance.chosen.get(&var);
                    array_value(terms, var, cells.map_or(&[], |c| c), model)?
                }
                false => read(model, node.instance.renaming[&var])?,
            };
            values.insert(var, value);
        }
        for definition in &view.definitions {
            let value = evaluate(terms, definition.term, &values);
            values.insert(definition.var, value.ok_or_else(alphorn_proof::undefined)?);
        }
        Ok(values)
    }

    /// Adds the step of a clause. Returns the values of the derived fact.
    fn push_step(
        &self,
        steps: &mut Vec<RefutationStep>,
        transition: &Transition,
        mut values: Assignment,
    ) -> Result<Vec<TermId>, Stop> {
        let terms = &*self.terms;
        let clause: &Clause = &self.system.clauses[transition.clause];
        // A case may lack some of its clause's variables.
        for var in clause.vars(terms) {
            if let Entry::Vacant(missing) = values.entry(var) {
                let value = terms.default_value(terms.sort_of(var));
                missing.insert(value.ok_or_else(|| unreadable("a sort without values"))?);
            }
        }
        let head = clause.head.as_ref();
        let fact = head.map(|head| Fact {
            predicate: head.predicate,
            values: head.args.iter().map(|v| values[v]).collect(),
        });
        let derived = fact.as_ref().map_or_else(Vec::new, |f| f.values.clone());
        steps.push(RefutationStep {
            clause: clause.id,
            values,
            premises: steps.len().checked_sub(1).into_iter().collect(),
            fact,
        });
        Ok(derived)
    }

    /// The refutation along a path by one query over arrays, where the cells do not give it.
    fn refutation_with_arrays(&self, path: &[NodeId], cx: &Context) -> Result<Refutation, Stop> {
        let terms = &*self.terms;
        let mut solver = self.smt.solver();
        for &node in path {
            let constraint = self.transitions[self.nodes[node].transition]
                .case
                .constraint;
            solver.assert(terms.substitute(constraint, &self.nodes[node].instance.renaming));
        }
        let Some(model) = ask(&mut solver, &[], cx)? else {
            return Err(incomplete(
                "a path is feasible with the instances that are made, but not with arrays",
            ));
        };
        let mut steps = Vec::new();
        for &node in path {
            let node = &self.nodes[node];
            let transition = &self.transitions[node.transition];
            let vars = transition.case.vars(terms).into_iter();
            let values = vars.map(|v| Ok((v, read(&model, node.instance.renaming[&v])?)));
            let values = values.collect::<Result<Assignment, Failure>>()?;
            self.push_step(&mut steps, transition, values)?;
        }
        Ok(Refutation { steps })
    }
}

/// The value of the variable.
fn read(model: &SmtModel, var: TermId) -> Result<TermId, Failure> {
    model.value(var).map_err(|e| unreadable(&e.to_string()))
}

/// The instances of the axiom that elements at equal indexes are equal that a model violates.
fn violated(terms: &TermStore, cells: &[Cell], model: &SmtModel) -> Result<Vec<TermId>, Failure> {
    let mut found = Vec::new();
    let mut first: FxHashMap<(usize, TermId), Vec<(&Cell, TermId)>> = FxHashMap::default();
    for cell in cells {
        let place = (cell.argument, read(model, cell.index)?);
        let value = read(model, cell.var)?;
        let others = first.entry(place).or_default();
        if let Some((other, _)) = others.iter().find(|(_, known)| *known != value) {
            found.push(consistency(terms, other, cell));
        }
        if others.iter().all(|(_, known)| *known != value) {
            others.push((cell, value));
        }
    }
    Ok(found)
}

/// The array with these cells, and a default elsewhere.
fn array_value(
    terms: &TermStore,
    array: TermId,
    cells: &[Cell],
    model: &SmtModel,
) -> Result<TermId, Failure> {
    let sort = terms.sort_of(array);
    let Sort::Array(_, element) = terms.sort(sort) else {
        return Err(unreadable("a term that is no array is read"));
    };
    let default = terms.default_value(element);
    let default = default.ok_or_else(|| unreadable("a sort without values"))?;
    let mut entries = Vec::with_capacity(cells.len());
    for cell in cells {
        entries.push((read(model, cell.index)?, read(model, cell.var)?));
    }
    Ok(terms.array_from_entries(sort, entries, default))
}
