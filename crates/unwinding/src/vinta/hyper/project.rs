//! Tree interpolants by projection, generalized by cores.
//!
//! For each copy, from the leaves on: a model of the rest of the tree that the copy's interpolant
//! still allows is projected onto the copy's arguments. No derivation below the copy satisfies the
//! projection, so the negation of a core of it is a clause of the interpolant.
//!
//! Invariant: the interpolant of a copy follows from its formula and its children's interpolants;
//! the formulas of copies outside the finished subtrees contradict the interpolants of these.

use super::Hypergraph;
use super::unfold::Tree;
use crate::vinta::failed;
use crate::vinta::search::Vinta;
use alphorn_domain::Domain;
use alphorn_interpolation::project_onto;
use alphorn_proof::{Stop, bounds, make_total, undefined, where_defined};
use alphorn_term::{SortId, TermId};

impl<D: Domain> Vinta<'_, D, Hypergraph<D::Element>> {
    /// An interpolant for each copy, for derivations that use it.
    pub(super) fn project(&self, tree: &Tree) -> Result<Vec<TermId>, Stop> {
        let terms = &self.terms;
        let count = tree.copies.len();
        let guards: Vec<TermId> = (0..count)
            .map(|_| terms.fresh_var("copy", SortId::BOOL))
            .collect();
        let mut rest = self.smt.solver();
        // Terms without a value may have any value.
        let own = tree.formulas.iter();
        let mut formulas: Vec<TermId> = own.map(|&f| make_total(terms, f)).collect();
        let is_total = formulas == tree.formulas;
        for (&guard, &formula) in guards.iter().zip(&formulas) {
            rest.assert(terms.implies(guard, formula));
        }
        let mut interpolants = vec![TermId::FALSE; count];
        // Children come after their parents.
        for (at, copy) in tree.copies.iter().enumerate().skip(1).rev() {
            let parent = copy.parent.ok_or_else(|| failed("a tree with two roots"))?;
            let mut below = self.smt.solver();
            below.assert(formulas[at]);
            below.assert(copy.used);
            formulas[at] = copy.used;
            let path = terms.and(&formulas[..=at]);
            let mut assumed = guards[..at].to_vec();
            assumed.push(copy.used);
            let mut clauses: Vec<TermId> = Vec::new();
            while self.check(&mut rest, &assumed)? {
                let model = rest.model();
                let model = model.ok_or_else(|| failed("no model of a tree"))?;
                // The clauses found so far hold in the rest of the tree, but maybe not in `path`.
                let cube = project_onto(terms, path, &copy.vars, &model).ok_or_else(undefined)?;
                let cube = bounds(terms, &cube).into_iter();
                let cube: Vec<TermId> = cube.map(|l| where_defined(terms, l)).collect();
                if self.check(&mut below, &cube)? {
                    return Err(match is_total {
                        true => failed("a derivation leads to a predecessor of the error"),
                        false => undefined(),
                    });
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
            formulas[parent] = terms.and(&[formulas[parent], guarded]);
        }
        Ok(interpolants)
    }
}
