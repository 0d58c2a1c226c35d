//! Interpolants from certificates, and by projection where those fail.
//!
//! Invariant: an interpolant follows from the premises, contradicts the goal, and has only the
//! given variables.

use std::rc::Rc;

use super::limits::LIMITS;
use alphorn_interpolation::{
    InterpolantForm, InterpolationOptions, InterpolationOrder, Interpolator, project_onto,
};
use alphorn_proof::{Stop, ask, bounds, gave_up, incomplete, make_total, undefined, where_defined};
use alphorn_smt::Smt;
use alphorn_term::TermId;
use alphorn_term::run::Context;

/// An interpolator whose budget leaves time for projection: from the end back and weak, or from the
/// entry on and strong.
pub(super) fn interpolator(smt: &Rc<Smt>, order: InterpolationOrder, cx: &Context) -> Interpolator {
    let options = InterpolationOptions {
        form: match order {
            InterpolationOrder::Backward => InterpolantForm::Weak,
            InterpolationOrder::Forward => InterpolantForm::Strong,
        },
        order,
        ..InterpolationOptions::default()
    };
    let share = cx.remaining().map(|left| left / LIMITS.certificate_parts);
    let work = share.map_or(LIMITS.certificate_work, |share| {
        LIMITS.certificate_work.min(share)
    });
    let mut interpolator = Interpolator::new(smt, options);
    interpolator.set_budget(Some(cx.budget.work(work)));
    interpolator
}

/// An interpolant of the formulas `before` and the goal, over these variables: states that satisfy
/// the goal are projected cube by cube, and each cube is excluded by a core. A term without a value
/// in the goal may have any value.
///
/// # Errors
/// A limit, or a defect.
pub(super) fn by_projection(
    smt: &Rc<Smt>,
    before: &[TermId],
    goal: TermId,
    vars: &[TermId],
    cx: &Context,
) -> Result<TermId, Stop> {
    let terms = smt.terms();
    let goal = make_total(terms, goal);
    let mut past = smt.solver();
    before.iter().for_each(|&f| past.assert(f));
    let mut future = smt.solver();
    future.assert(goal);
    let mut clauses = Vec::new();
    while let Some(model) = ask(&mut future, &[], cx)? {
        if clauses.len() == LIMITS.projection_cubes {
            return Err(incomplete("too many cubes for an interpolant"));
        }
        let cube = project_onto(terms, goal, vars, &model).ok_or_else(undefined)?;
        let cube = bounds(terms, &cube).into_iter();
        let cube: Vec<TermId> = cube.map(|l| where_defined(terms, l)).collect();
        let core = past.minimal_core(&[], &cube);
        let core = core.ok_or_else(|| gave_up("no core of a cube", cx))?;
        let negated: Vec<TermId> = core.iter().map(|&l| terms.not(l)).collect();
        let clause = terms.or(&negated);
        future.assert(clause);
        clauses.push(clause);
    }
    Ok(terms.and(&clauses))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alphorn_samples::integer_lists;
    use alphorn_smt::SatResult;
    use alphorn_term::{SortId, TermStore};

    /// A selector of another constructor may have any value; projection handles such terms.
    #[test]
    fn projection_of_a_term_without_value() {
        let terms = Rc::new(TermStore::new());
        let (list, sort) = integer_lists(&terms);
        let x = terms.var("x", SortId::INT);
        let l = terms.var("l", sort);
        let before = terms.le(x, terms.int(0));
        let head = terms.field(list, 1, 0, l);
        let goal = terms.and(&[
            terms.not(terms.is(list, 1, l)),
            terms.eq(head, x),
            terms.ge(x, terms.int(1)),
        ]);
        let smt = Smt::new(terms.clone());
        let cx = Context::new(terms.clone());
        let interpolant = by_projection(&smt, &[before], goal, &[x, l], &cx)
            .ok()
            .unwrap();
        for contradiction in [[before, terms.not(interpolant)], [interpolant, goal]] {
            let mut solver = smt.solver();
            contradiction.iter().for_each(|&f| solver.assert(f));
            assert_eq!(solver.check(&[]), SatResult::Unsat);
        }
    }
}
