//! One implicant of `A`: a formula that follows from it and contradicts `B`.
//!
//! Invariant: the formula holds in the model of the implicant, has shared variables only, and
//! contradicts `B` by a query, or by a core of Z3 that is too large to be minimized.

use super::guards::guards;
use super::implicants::assignment;
use super::interpolator::{InterpolationError, Interpolator, Result};
use super::limits::LIMITS;
use super::sides::Sides;
use crate::project;
use alphorn_smt::Solver;
use alphorn_term::{Assignment, Evaluator, Printer, TermId};

impl Interpolator {
    /// A conjunction that holds in the model and contradicts `B`, from literals that hold in the
    /// model and imply `A`.
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
            if let Some(defined) = self.defined_here(model, &other, sides) {
                conjuncts.push(defined);
                continue;
            }
            let (other, opposite) =
                self.implicant_in(&mut sides.solver, &conjuncts, sides.b, &sides.b_vars)?;
            let Some(certificate) = self.pair(&needed, &opposite, sides)? else {
                return self.projected(&needed, model, sides);
            };
            // A certificate holds in this model, and excludes the model of `B`. If a field of
            // another constructor has no value, projection is used.
            let formula = terms.and(&certificate);
            let values = (
                Evaluator::new(&terms, model).value(formula),
                Evaluator::new(&terms, &other).value(formula),
            );
            let wrong = values.0 == Some(TermId::FALSE) || values.1 == Some(TermId::TRUE);
            if wrong || !sides.are_shared(&terms, &certificate) {
                let text = Printer::new(&terms).term(formula);
                log::error!("defect: a certificate does not separate its pair: {text}");
                terms.count_defect();
                debug_assert!(false, "a certificate does not separate its pair: {text}");
                return self.projected(&needed, model, sides);
            }
            if values != (Some(TermId::TRUE), Some(TermId::FALSE)) {
                return self.projected(&needed, model, sides);
            }
            self.counters.certificates += 1;
            conjuncts.extend(certificate);
        }
        let conjuncts = self.needed(&mut sides.solver, &conjuncts)?;
        Ok(self.with_guards(conjuncts, model))
    }

    /// A literal that gives a term of `B` its value, and holds in this model but not in the model
    /// of `B`.
    fn defined_here(
        &self,
        model: &Assignment,
        other: &Assignment,
        sides: &Sides,
    ) -> Option<TermId> {
        let terms = &self.terms;
        let mut there = Evaluator::new(terms, other);
        if there.value(sides.b).is_some() {
            return None;
        }
        let mut here = Evaluator::new(terms, model);
        guards(terms, &[sides.b]).into_iter().find(|&guard| {
            there.value(guard) == Some(TermId::FALSE)
                && here.value(guard) == Some(TermId::TRUE)
                && sides.are_shared(terms, &[guard])
        })
    }

    /// The conjunction with the guards that hold in the model.
    fn with_guards(&self, mut conjuncts: Vec<TermId>, model: &Assignment) -> TermId {
        let mut here = Evaluator::new(&self.terms, model);
        let mut guards = guards(&self.terms, &conjuncts);
        guards.retain(|&g| here.value(g) == Some(TermId::TRUE));
        conjuncts.extend(guards);
        self.terms.and(&conjuncts)
    }

    /// The projection of an implicant onto the shared variables, weakened by cores.
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
        let needed = self.widened(&projection.literals, sides)?;
        Ok(self.with_guards(needed, model))
    }

    /// The literals that contradict the solver's formulas.
    pub(super) fn needed(&self, solver: &mut Solver, literals: &[TermId]) -> Result<Vec<TermId>> {
        if self.is_sat(solver, literals)? {
            let what = "an implicant is consistent with the other side";
            return Err(InterpolationError::defect(&self.terms, what));
        }
        let core = solver.core();
        if core.len() > LIMITS.max_minimized_literals {
            return Ok(core);
        }
        let minimal = solver.minimal_core(&[], &core);
        let minimal = minimal.unwrap_or_else(|| core.clone());
        // Z3 has returned a core that was too small, so a core is checked by a query.
        for smaller in [minimal, core] {
            if !self.is_sat(solver, &smaller)? {
                return Ok(smaller);
            }
            log::debug!("a core of {} literals is satisfiable", smaller.len());
        }
        Ok(literals.to_vec())
    }
}
