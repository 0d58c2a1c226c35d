//! Checks of interpolants by their definition, with new solvers.
//!
//! Invariant: no check depends on how an interpolant was made. A query without an answer is a
//! limit, and the check is not passed.

use rustc_hash::FxHashSet;

use super::dag::{InterpolationDag, Ordered, scopes};
use super::interpolator::{InterpolationError, Interpolator, Result};
use alphorn_term::TermId;

impl Interpolator {
    pub(super) fn check_binary(&self, a: TermId, b: TermId, interpolant: TermId) -> Result<()> {
        if !self.options.check {
            return Ok(());
        }
        self.implies(&[a], interpolant, "it does not follow")?;
        self.implies(&[interpolant, b], TermId::FALSE, "it is not strong enough")?;
        self.scoped(interpolant, &[a], &[b])
    }

    pub(super) fn check_sequence(&self, formulas: &[TermId], result: &[TermId]) -> Result<()> {
        if !self.options.check {
            return Ok(());
        }
        for (at, &formula) in formulas.iter().enumerate() {
            let before = if at == 0 {
                TermId::TRUE
            } else {
                result[at - 1]
            };
            let after = result.get(at).copied().unwrap_or(TermId::FALSE);
            self.implies(&[before, formula], after, "a step does not follow")?;
            let (before, behind) = formulas.split_at(at + 1);
            if let Some(&interpolant) = result.get(at) {
                self.scoped(interpolant, before, behind)?;
            }
        }
        Ok(())
    }

    pub(super) fn check_tree(
        &self,
        formulas: &[TermId],
        parents: &[Option<usize>],
        result: &[TermId],
    ) -> Result<()> {
        if !self.options.check {
            return Ok(());
        }
        for (node, &formula) in formulas.iter().enumerate() {
            let mut premises = vec![formula];
            premises.extend((0..formulas.len()).filter_map(|child| {
                let is_child = parents[child] == Some(node);
                is_child.then(|| result[child])
            }));
            self.implies(&premises, result[node], "a node does not follow")?;
            let mut inside = Vec::new();
            let mut outside = Vec::new();
            for (other, &formula) in formulas.iter().enumerate() {
                let mut up = Some(other);
                while up.is_some_and(|u| u != node) {
                    up = parents[up.unwrap_or_default()];
                }
                match up {
                    Some(_) => inside.push(formula),
                    None => outside.push(formula),
                }
            }
            self.scoped(result[node], &inside, &outside)?;
            if parents[node].is_none() && result[node] != TermId::FALSE {
                return defect("the root is not false", result[node], self);
            }
        }
        Ok(())
    }

    pub(super) fn check_dag(
        &self,
        dag: &InterpolationDag,
        ordered: &Ordered,
        result: &[TermId],
    ) -> Result<()> {
        if !self.options.check {
            return Ok(());
        }
        for edge in &dag.edges {
            let label = dag.labels[edge.from];
            if !self.follows(&[label, edge.formula], dag.labels[edge.to])? {
                return Err(InterpolationError::Input(format!(
                    "the label of node {} does not follow from node {}",
                    edge.to, edge.from
                )));
            }
            let premises = [result[edge.from], label, edge.formula];
            self.implies(&premises, result[edge.to], "an edge does not follow")?;
        }
        let scopes = scopes(dag, ordered, &self.terms);
        for (&interpolant, scope) in result.iter().zip(&scopes) {
            let vars = self.terms.free_vars(&[interpolant]);
            let known = |v: &TermId| scope.iter().all(|s| s.contains(v));
            if !vars.iter().all(known) {
                return defect("a variable is out of scope", interpolant, self);
            }
        }
        if result[dag.entry] != TermId::TRUE || result[dag.exit] != TermId::FALSE {
            return defect("entry or exit", result[dag.exit], self);
        }
        Ok(())
    }

    fn implies(&self, premises: &[TermId], conclusion: TermId, what: &str) -> Result<()> {
        match self.follows(premises, conclusion)? {
            true => Ok(()),
            false => defect(what, conclusion, self),
        }
    }

    fn follows(&self, premises: &[TermId], conclusion: TermId) -> Result<bool> {
        if conclusion == TermId::TRUE || premises.contains(&conclusion) {
            return Ok(true);
        }
        let mut solver = self.smt.solver();
        for &premise in premises {
            solver.assert(premise);
        }
        solver.assert(self.terms.not(conclusion));
        Ok(!self.is_sat(&mut solver, &[])?)
    }

    fn scoped(&self, interpolant: TermId, before: &[TermId], behind: &[TermId]) -> Result<()> {
        let vars = |formulas: &[TermId]| -> FxHashSet<TermId> {
            self.terms.free_vars(formulas).into_iter().collect()
        };
        let (before, behind) = (vars(before), vars(behind));
        let own = self.terms.free_vars(&[interpolant]);
        if own
            .iter()
            .any(|v| !before.contains(v) || !behind.contains(v))
        {
            return defect("a variable is not shared", interpolant, self);
        }
        Ok(())
    }
}

fn defect(what: &str, formula: TermId, interpolator: &Interpolator) -> Result<()> {
    let text = alphorn_term::Printer::new(&interpolator.terms).term(formula);
    Err(InterpolationError::defect(
        &interpolator.terms,
        format!("{what}: {text}"),
    ))
}
