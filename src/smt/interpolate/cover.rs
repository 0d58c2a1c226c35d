//! One implicant of `A`: what follows from it and contradicts `B`.
//!
//! Invariant: the formula holds in the model that the implicant was taken from, has shared
//! variables only, and contradicts `B` by a query.

use rustc_hash::FxHashSet;

use super::binary::{MINIMISED, assignment, implicant_of};
use super::{InterpolationError, Interpolator, Result};
use crate::smt::{SatResult, Solver, project};
use crate::term::{Assignment, Evaluator, TermId};

/// What the implicants of one problem have in common.
pub(super) struct Sides {
    b: TermId,
    b_vars: Vec<TermId>,
    shared: FxHashSet<TermId>,
    pub decomposed: bool,
    /// Holds `b`.
    solver: Solver,
    /// Holds nothing; for pairs.
    pub pairs: Solver,
}

impl Sides {
    pub fn new(interpolator: &Interpolator, a: TermId, b: TermId, decomposed: bool) -> Sides {
        let terms = &interpolator.terms;
        let b_vars = terms.free_vars(&[b]);
        let of_b: FxHashSet<TermId> = b_vars.iter().copied().collect();
        let mut shared: FxHashSet<TermId> = terms.free_vars(&[a]).into_iter().collect();
        shared.retain(|v| of_b.contains(v));
        let mut solver = interpolator.smt.solver();
        solver.assert(b);
        Sides {
            b,
            b_vars,
            shared,
            decomposed,
            solver,
            pairs: interpolator.smt.solver(),
        }
    }

    /// Whether both sides have the variable.
    pub fn is_shared(&self, var: TermId) -> bool {
        self.shared.contains(&var)
    }
}

impl Interpolator {
    /// A conjunction that holds in the model and contradicts `B`, from literals that hold in it and
    /// imply `A`.
    pub(super) fn cover(
        &mut self,
        literals: &[TermId],
        model: &Assignment,
        sides: &mut Sides,
    ) -> Result<TermId> {
        let terms = self.terms.clone();
        let needed = self.needed(&mut sides.solver, literals)?;
        let mut conjuncts: Vec<TermId> = Vec::new();
        while self.is_sat(&mut sides.solver, &conjuncts)? {
            self.step()?;
            let other = assignment(&Self::model(&sides.solver)?, &sides.b_vars)?;
            let opposite = implicant_of(&terms, sides.b, &other)?;
            let Some(certificate) = self.pair(&needed, &opposite, sides)? else {
                return self.projected(&needed, model, sides);
            };
            // Refutes the pair, so it is false on this side and true on the other; and has to make
            // progress.
            let mut here = Evaluator::new(&terms, model);
            let mut there = Evaluator::new(&terms, &other);
            let holds = |l: &TermId| here.value(*l) == Some(TermId::TRUE);
            if !certificate.iter().all(holds)
                || there.value(terms.and(&certificate)) != Some(TermId::FALSE)
                || !self.is_over_shared(&certificate, sides)
            {
                let text = crate::term::Printer::new(&terms).term(terms.and(&certificate));
                log::warn!("a certificate does not separate its pair: {text}");
                debug_assert!(false, "a certificate does not separate its pair: {text}");
                return self.projected(&needed, model, sides);
            }
            self.counters.certificates += 1;
            conjuncts.extend(certificate);
        }
        let conjuncts = self.needed(&mut sides.solver, &conjuncts)?;
        Ok(terms.and(&conjuncts))
    }

    /// The projection of an implicant onto the shared variables, as weak as cores make it.
    fn projected(
        &mut self,
        literals: &[TermId],
        model: &Assignment,
        sides: &mut Sides,
    ) -> Result<TermId> {
        let terms = self.terms.clone();
        self.counters.projections += 1;
        let mut own = terms.free_vars(literals);
        own.retain(|v| !sides.is_shared(*v));
        let projection = project(&terms, literals, &own, model).ok_or_else(|| {
            InterpolationError::Unsupported("a projection without a value".to_owned())
        })?;
        let needed = self.needed(&mut sides.solver, &projection.literals)?;
        Ok(terms.and(&needed))
    }

    /// Those of the literals that contradict the solver's formulas.
    pub(super) fn needed(&self, solver: &mut Solver, literals: &[TermId]) -> Result<Vec<TermId>> {
        if self.is_sat(solver, literals)? {
            let message = "an implicant agrees with the other side".to_owned();
            return Err(InterpolationError::Defect(message));
        }
        let core = solver.core();
        if core.len() > MINIMISED {
            return Ok(core);
        }
        let minimal = solver.minimal_core(&[], &core);
        debug_assert!(!matches!(solver.check(&minimal), SatResult::Sat));
        Ok(minimal)
    }

    /// Whether only shared variables occur.
    pub(super) fn is_over_shared(&self, formulas: &[TermId], sides: &Sides) -> bool {
        let vars = self.terms.free_vars(formulas);
        vars.iter().all(|v| sides.is_shared(*v))
    }
}
