//! Runs of a number of steps to a predicate, with an induction frame in force before their end.
//!
//! Invariant: the frame is asserted at all places but the last one.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::chain::{Link, Onward};
use alphorn_chc::{PredicateId, System};
use alphorn_interpolation::project_formula;
use alphorn_proof::steps::Steps;
use alphorn_proof::unroll::Unrolling;
use alphorn_proof::{Stop, ask_cases, bounds, cases, undefined};
use alphorn_smt::{Smt, Solver};
use alphorn_term::TermId;
use alphorn_term::run::Context;

/// The runs of one length to a predicate.
pub(super) struct Runs<'a> {
    system: &'a System,
    reversed: &'a Steps,
    solver: Solver,
    /// The clauses unrolled backward from the predicate.
    unrolling: Unrolling,
    predicate: PredicateId,
    /// The number of formulas of the frame that are asserted.
    asserted: usize,
}

impl<'a> Runs<'a> {
    /// The runs of this length to a predicate.
    pub fn new(
        system: &'a System,
        reversed: &'a Steps,
        predicate: PredicateId,
        length: usize,
        smt: &Rc<Smt>,
    ) -> Self {
        let mut solver = smt.solver();
        let mut unrolling = Unrolling::from_predicate(system, predicate);
        for _ in 0..length {
            if !unrolling.add_level(system, reversed, &mut solver) {
                break;
            }
        }
        solver.assert(system.terms.or(&unrolling.last_places()));
        Runs {
            system,
            reversed,
            solver,
            unrolling,
            predicate,
            asserted: 0,
        }
    }

    /// The chain of cubes of a run over which the frame holds and at whose end the literals `end`
    /// hold; it continues with `onward`. `None` if there is no such run.
    pub fn start(
        &mut self,
        end: &[TermId],
        frame: &[(PredicateId, TermId)],
        onward: Option<&Rc<Link>>,
        cx: &Context,
    ) -> Result<Option<Rc<Link>>, Stop> {
        self.assert_frame(frame);
        let terms = &self.system.terms;
        let args = self.unrolling.levels[0][&self.predicate].args.clone();
        let here = self.over(self.predicate, &args);
        let mut cube: Vec<TermId> = end.iter().map(|&l| terms.substitute(l, &here)).collect();
        let mut cases = cases(terms, &cube);
        let Some(model) = ask_cases(&mut self.solver, &cube, &mut cases, cx)? else {
            return Ok(None);
        };
        let run = self.unrolling.run_to_last(&model)?;
        let mut link = onward.cloned();
        for instance in &run.steps {
            let shape = &self.reversed.all[instance.step];
            let predicate = shape.to.expect("a run leads from a predicate");
            let source = &instance.vars[shape.first..shape.arguments];
            cube.push(instance.formula);
            let whole = terms.and(&cube);
            let mut rest = terms.free_vars(&[whole]);
            rest.retain(|v| !source.contains(v));
            cube = project_formula(terms, whole, &rest, &run.values).ok_or_else(undefined)?;
            let params = &self.system.predicate(predicate).params;
            let formal: FxHashMap<TermId, TermId> =
                source.iter().copied().zip(params.iter().copied()).collect();
            let literals: Vec<TermId> =
                cube.iter().map(|&l| terms.substitute(l, &formal)).collect();
            let next = match link {
                Some(next) => Onward::Step(instance.step, next),
                None => Onward::Nowhere,
            };
            let found = Rc::new(Link {
                predicate,
                cube: bounds(terms, &literals),
                onward: next,
            });
            link = Some(found);
        }
        // A run without steps has no link but `onward`.
        Ok(link)
    }

    /// Asserts new formulas of the frame at all places before the end.
    fn assert_frame(&mut self, frame: &[(PredicateId, TermId)]) {
        let terms = &self.system.terms;
        for &(predicate, formula) in &frame[self.asserted..] {
            for level in &self.unrolling.levels[1..] {
                if let Some(place) = level.get(&predicate) {
                    let here = terms.substitute(formula, &self.over(predicate, &place.args));
                    self.solver.assert(terms.implies(place.literal, here));
                }
            }
        }
        self.asserted = frame.len();
    }

    /// The substitution of arguments for formal variables.
    fn over(&self, predicate: PredicateId, args: &[TermId]) -> FxHashMap<TermId, TermId> {
        let params = &self.system.predicate(predicate).params;
        params.iter().copied().zip(args.iter().copied()).collect()
    }
}
