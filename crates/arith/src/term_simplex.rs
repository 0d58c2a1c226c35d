//! A simplex whose columns are terms.
//!
//! Invariant: the columns are those of the constraints that it was made of, and the work of the
//! simplex is charged to the store of the terms.

use std::time::Duration;

use num_traits::Signed;
use rustc_hash::FxHashMap;

use super::constraint::{Constraint, Relation};
use super::simplex::{Multipliers, Optimum, Simplex, SparseRow};
use alphorn_term::{Linear, Rational, TermId, TermStore};

/// The work of adding or changing one entry of a row.
const ENTRY_WORK: Duration = Duration::from_nanos(400);

/// A simplex over terms; columns of sort Int may have any rational value.
pub struct TermSimplex<'t> {
    terms: &'t TermStore,
    columns: FxHashMap<TermId, usize>,
    simplex: Simplex,
    charged: u64,
}

impl<'t> TermSimplex<'t> {
    /// A simplex of the constraints `linear ⋈ 0`, numbered from zero.
    pub fn new<'a>(
        terms: &'t TermStore,
        constraints: impl Iterator<Item = (&'a Linear, Relation)> + Clone,
    ) -> Self {
        let entries = constraints.clone().map(|c| c.0.monomials.len() as u32 + 1);
        terms.charge(ENTRY_WORK * entries.sum::<u32>());
        let mut columns: FxHashMap<TermId, usize> = FxHashMap::default();
        for (column, _) in constraints.clone().flat_map(|c| &c.0.monomials) {
            let next = columns.len();
            columns.entry(*column).or_insert(next);
        }
        let mut simplex = Simplex::new(columns.len());
        for (linear, relation) in constraints {
            let linear = linear.mapped(|column| columns[&column]);
            simplex.add(&Constraint::new(linear, relation));
        }
        TermSimplex {
            terms,
            columns,
            simplex,
            charged: 0,
        }
    }

    /// Runs the simplex and charges its work.
    fn run<T>(&mut self, step: impl FnOnce(&mut Simplex) -> T) -> T {
        let result = step(&mut self.simplex);
        let work = self.simplex.work();
        let new = u32::try_from(work - self.charged).unwrap_or(u32::MAX);
        self.terms.charge(ENTRY_WORK * new);
        self.charged = work;
        result
    }

    /// A point that satisfies all constraints: a value for each column.
    ///
    /// # Errors
    /// Multipliers that refute the constraints, see [`Simplex::check`].
    pub fn point(&mut self) -> Result<FxHashMap<TermId, Rational>, Multipliers> {
        self.run(Simplex::check)?;
        let point = self.simplex.point();
        let columns = self.columns.iter();
        Ok(columns.map(|(t, c)| (*t, point[*c].clone())).collect())
    }

    /// Whether no point satisfies all constraints.
    pub fn is_empty(&mut self) -> bool {
        self.run(Simplex::check).is_err()
    }

    /// The supremum of the polynomial without its constant; `None` if it is unbounded, has a column
    /// that no constraint has, or the constraints have no solution.
    pub fn greatest(&mut self, linear: &Linear) -> Option<Rational> {
        let mut form = SparseRow::with_capacity(linear.monomials.len());
        for (column, coefficient) in &linear.monomials {
            form.push((*self.columns.get(column)?, coefficient.clone()));
        }
        form.sort_unstable_by_key(|e| e.0);
        match self.run(|simplex| simplex.maximise(&form)) {
            Ok(Optimum::Bounded { value, .. }) => Some(value),
            _ => None,
        }
    }

    /// Whether [`TermSimplex::greatest`] shows that `linear <= 0` in all points.
    pub fn is_at_most_zero(&mut self, linear: &Linear) -> bool {
        let greatest = self.greatest(linear);
        greatest.is_some_and(|g| !(g + &linear.constant).is_positive())
    }
}
