//! Tree interpolants, from the leaves to the root.
//!
//! Invariant: the interpolants of completed subtrees whose parents are not completed, and the
//! formulas of all other nodes, are unsatisfiable together.

use super::interpolator::{InterpolationError, Interpolator, Result};
use alphorn_term::TermId;

impl Interpolator {
    /// For a tree with a formula at each node, unsatisfiable together, one formula `I` per node
    /// such that the children's `I` and the node's formula imply the node's `I`. `parents` gives
    /// each node's parent; the root has none, and its `I` is `false`. The variables of `I` occur
    /// both at or below the node and elsewhere.
    ///
    /// # Errors
    /// See [`InterpolationError`](crate::InterpolationError).
    pub fn tree(&mut self, formulas: &[TermId], parents: &[Option<usize>]) -> Result<Vec<TermId>> {
        self.within_limits(|i| {
            i.refuse_quantifiers(formulas)?;
            i.tree_interpolants(formulas, parents)
        })
    }

    fn tree_interpolants(
        &mut self,
        formulas: &[TermId],
        parents: &[Option<usize>],
    ) -> Result<Vec<TermId>> {
        let terms = self.terms.clone();
        let order = post_order(formulas.len(), parents)?;
        // The formula for each node, which includes the interpolants of its completed children.
        let mut standing = self.minimise(formulas, |terms, parts| terms.and(parts))?;
        if let Some(found) = self.tree_by_proof(&standing, parents, &order) {
            self.check_tree(formulas, parents, &found)?;
            return Ok(found);
        }
        let mut result = vec![TermId::FALSE; formulas.len()];
        for (at, &node) in order.iter().enumerate() {
            if at + 1 == order.len() {
                break;
            }
            // The children's interpolants are part of it.
            let inside = std::mem::replace(&mut standing[node], TermId::TRUE);
            let interpolant = self.interpolate(inside, terms.and(&standing))?;
            result[node] = interpolant;
            let parent = parents[node].expect("only the root has none");
            standing[parent] = terms.and(&[standing[parent], interpolant]);
        }
        self.check_tree(formulas, parents, &result)?;
        Ok(result)
    }
}

impl Interpolator {
    fn tree_by_proof(
        &mut self,
        formulas: &[TermId],
        parents: &[Option<usize>],
        order: &[usize],
    ) -> Option<Vec<TermId>> {
        let mut below: Vec<Vec<bool>> = vec![vec![false; formulas.len()]; formulas.len()];
        for &node in order {
            below[node][node] = true;
            if let Some(parent) = parents[node] {
                let own = below[node].clone();
                let above = below[parent].iter_mut();
                above.zip(own).for_each(|(a, o)| *a |= o);
            }
        }
        self.proof_of_parts(formulas, &below)
    }
}

/// Children before their parents, the root last.
fn post_order(count: usize, parents: &[Option<usize>]) -> Result<Vec<usize>> {
    let broken = |text: &str| Err(InterpolationError::Input(text.to_owned()));
    if parents.len() != count || parents.iter().flatten().any(|&p| p >= count) {
        return broken("each node of a tree needs a parent that is a node");
    }
    if parents.iter().filter(|p| p.is_none()).count() != 1 {
        return broken("a tree has exactly one root");
    }
    let mut open = vec![0_usize; count];
    for parent in parents.iter().flatten() {
        open[*parent] += 1;
    }
    let mut ready: Vec<usize> = (0..count).rev().filter(|&n| open[n] == 0).collect();
    let mut order = Vec::with_capacity(count);
    while let Some(node) = ready.pop() {
        order.push(node);
        if let Some(parent) = parents[node] {
            open[parent] -= 1;
            if open[parent] == 0 {
                ready.push(parent);
            }
        }
    }
    if order.len() != count {
        return broken("the tree has a cycle");
    }
    Ok(order)
}
