//! Tree interpolants from the root's side: what a copy must not be, generalised by cores.
//!
//! From the leaves on, for each copy: a model of the rest of the tree that the copy's interpolant
//! allows yet is projected onto the copy's arguments. No derivation below the copy leads there; the
//! part of the projection that says so, negated, is a clause of the interpolant.
//!
//! Invariant: each interpolant follows from the copy's formula and its children's interpolants, and
//! what is not below a copy that is done contradicts the interpolants of those that are.

use super::Hypergraph;
use super::unfold::Tree;
use crate::vinta::failed;
use crate::vinta::search::Vinta;
use alphorn_domain::Domain;
use alphorn_interpolation::project_onto;
use alphorn_proof::{Stop, bounds, undefined};
use alphorn_term::{SortId, TermId};

impl<D: Domain> Vinta<'_, D, Hypergraph<D::Element>> {
    /// An interpolant for each copy, of derivations that use it.
    pub(super) fn project(&self, tree: &Tree) -> Result<Vec<TermId>, Stop> {
        let terms = &self.terms;
        let count = tree.copies.len();
        let guards: Vec<TermId> = (0..count)
            .map(|_| terms.fresh_var("copy", SortId::BOOL))
            .collect();
        let mut rest = self.smt.solver();
        for (&guard, &formula) in guards.iter().zip(&tree.formulas) {
            rest.assert(terms.implies(guard, formula));
        }
        let mut standing = tree.formulas.clone();
        let mut interpolants = vec![TermId::FALSE; count];
        // Children come after their parents.
        for (at, copy) in tree.copies.iter().enumerate().skip(1).rev() {
            let parent = copy.parent.ok_or_else(|| failed("a tree with two roots"))?;
            let mut below = self.smt.solver();
            below.assert(standing[at]);
            below.assert(copy.used);
            standing[at] = copy.used;
            let way = terms.and(&standing[..=at]);
            let mut assumed = guards[..at].to_vec();
            assumed.push(copy.used);
            let mut clauses: Vec<TermId> = Vec::new();
            while self.check(&mut rest, &assumed)? {
                let model = rest.model();
                let model = model.ok_or_else(|| failed("no model of a tree"))?;
                // The clauses so far are of the rest of the tree now, but need not hold in `way`.
                let cube = project_onto(terms, way, &copy.vars, &model).ok_or_else(undefined)?;
                let cube = bounds(terms, &cube);
                if self.check(&mut below, &cube)? {
                    return Err(failed("a derivation leads to what leads to the error"));
                }
                let core = below.minimal_core(&[], &cube).unwrap_or(cube);
                let negated: Vec<TermId> = core.iter().map(|&l| terms.not(l)).collect();
                let clause = terms.or(&negated);
                let guarded = terms.implies(copy.used, clause);
                rest.assert(terms.implies(guards[parent], guarded));
                clauses.push(clause);
            }
            interpolants[at] = terms.and(&clauses);
            let guarded = terms.implies(copy.used, interpolants[at]);
            standing[parent] = terms.and(&[standing[parent], guarded]);
        }
        Ok(interpolants)
    }
}
