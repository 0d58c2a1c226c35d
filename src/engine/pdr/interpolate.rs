//! Interpolating cores: a blocked cube's bounds give way to sums of them.
//!
//! Where a step into the cube contradicts linear arithmetic, a Farkas combination of its literals
//! and the cube's does too, and the part of the sum that stems from the cube is an interpolant: one
//! literal in place of several, as in Hoder, Bjørner, "Generalized property directed reachability"
//! (SAT 2012), section 4, and in Spacer's unsatisfiable cores. Deviation: Z3's proofs are not used.
//! Models of the steps without the cube give implicants, `smt::separate` gives each implicant's
//! certificate, until the sums found block the steps; so certificates need no proof's structure,
//! and integers need nothing but the final query.
//!
//! Invariant: the cube returned is implied by the cube given, and was found blocked by a query.

use super::frame::Level;
use super::transition::{Answer, Query};
use super::{Search, Stop, failed};
use crate::smt::{Bound, ImplicantOptions, SmtModel, implicant_with, separate};
use crate::term::{Evaluator, TermId};

/// Literals of an implicant that are looked at, at most.
const ROW_LIMIT: usize = 120;

impl Search<'_> {
    /// A weaker cube that is blocked as well, with sums of the cube's bounds in place of them;
    /// `None` if that finds nothing new. `from` is the frame that the body atoms satisfied when the
    /// cube was found blocked.
    pub(super) fn interpolate(
        &mut self,
        predicate: usize,
        cube: &[TermId],
        from: Option<Level>,
    ) -> Result<Option<(Vec<TermId>, Level)>, Stop> {
        let terms = self.terms.clone();
        let mut bounds: Vec<Bound> = Vec::new();
        let mut sums: Vec<TermId> = Vec::new();
        for &literal in cube {
            match Bound::of(&terms, literal) {
                Some(bound) => bounds.push(bound),
                None => sums.push(literal),
            }
        }
        if !(2..=ROW_LIMIT).contains(&bounds.len()) {
            return Ok(None);
        }
        for _ in 0..self.options.interpolant_rounds {
            let query = Query {
                from,
                cube: &sums,
                assume: None,
                must: &[],
                reached: None,
                rule: None,
            };
            match self.ask(predicate, query)? {
                Answer::Unsat { cube: core, level } => {
                    self.counters.interpolants += 1;
                    let new = core.iter().any(|l| !cube.contains(l));
                    return Ok(new.then_some((core, level)));
                }
                Answer::Unknown(_) => return Ok(None),
                Answer::Sat => {}
            }
            let model = self.last_model(predicate)?;
            let steps = self.steps(predicate, from, &model)?;
            let found = separate(&terms, &bounds, &steps, false).unwrap_or_default();
            match *found {
                [sum] if !terms.is_value(sum) && !sums.contains(&sum) => sums.push(sum),
                _ => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Bounds that hold in a model and imply that there is a step from the frame.
    fn steps(
        &mut self,
        predicate: usize,
        from: Option<Level>,
        model: &SmtModel,
    ) -> Result<Vec<Bound>, Stop> {
        let terms = self.terms.clone();
        let transition = self.transitions[predicate].as_mut().expect("it was asked");
        let rule = transition
            .rule_in(model)
            .ok_or_else(|| failed("reading a model", "no rule is in force"))?;
        let mut parts = vec![transition.rules[rule].constraint];
        if let Some(from) = from {
            for slot in transition.rules[rule].slots.clone() {
                let slot = &mut transition.slots[slot];
                let frame = self.frames[slot.predicate].formula(&terms, from);
                parts.push(slot.rename(&terms, frame));
            }
        }
        let vars = terms.free_vars(&parts);
        let assignment = model
            .assignment(&vars)
            .map_err(|e| failed("reading a model", e))?;
        let mut evaluator = Evaluator::new(&terms, &assignment);
        let options = ImplicantOptions {
            split_disequalities: true,
            ..ImplicantOptions::default()
        };
        let literals = implicant_with(&terms, &parts, &mut evaluator, options).unwrap_or_default();
        let bounds = literals.iter().filter_map(|&l| Bound::of(&terms, l));
        Ok(bounds.take(ROW_LIMIT).collect())
    }
}
