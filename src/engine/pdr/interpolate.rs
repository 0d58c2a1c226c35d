//! Interpolating cores: a blocked cube's bounds give way to sums of them.
//!
//! Where a step into the cube contradicts linear arithmetic, a Farkas combination of its literals
//! and the cube's does too, and the part of the sum that stems from the cube is an interpolant: one
//! literal in place of several, as in Hoder, Bjørner, "Generalized property directed reachability"
//! (SAT 2012), section 4, and in Spacer's unsatisfiable cores. Deviation: Z3's proofs are not used.
//! Models of the steps without the cube give implicants, an exact simplex gives each implicant's
//! certificate, until the sums found block the steps; so certificates need no proof's structure,
//! and integers need nothing but the final query.
//!
//! Invariant: the cube returned is implied by the cube given, and was found blocked by a query.

use num_traits::Zero;
use rustc_hash::FxHashMap;

use super::frame::Level;
use super::hull;
use super::pattern::{literal, shape};
use super::transition::{Answer, Query};
use super::{Search, Stop, failed};
use crate::arith::{Relation, Simplex, SparseRow};
use crate::smt::{ImplicantOptions, SmtModel, implicant_with};
use crate::term::{Evaluator, Linear, Rational, SortId, TermId, TermStore};

/// Literals of an implicant that are looked at, at most.
const ROW_LIMIT: usize = 120;

/// A literal `form + constant ⋈ 0` that the simplex can take.
struct Bound {
    form: Linear,
    relation: Relation,
}

impl Bound {
    fn of(terms: &TermStore, literal: TermId) -> Option<Bound> {
        let (shape, constant) = shape(terms, literal)?;
        let (relation, sign) = shape.kind.relation();
        let relation = match relation {
            hull::Relation::Equal => Relation::Equal,
            hull::Relation::AtMost => Relation::AtMost,
            hull::Relation::Below => Relation::Below,
            hull::Relation::Differs => return None,
        };
        let form = Linear {
            monomials: shape.terms,
            constant: -constant,
        };
        Some(Bound {
            form: form.scaled(&Rational::from_integer(sign.into())),
            relation,
        })
    }
}

/// The sum of the cube's bounds in a refutation of all bounds; `None` when rationals satisfy them.
fn separate(terms: &TermStore, steps: &[Bound], cube: &[Bound], sort: SortId) -> Option<TermId> {
    let mut columns: FxHashMap<TermId, usize> = FxHashMap::default();
    for bound in cube.iter().chain(steps) {
        for (term, _) in &bound.form.monomials {
            let next = columns.len();
            columns.entry(*term).or_insert(next);
        }
    }
    let mut simplex = Simplex::new(columns.len());
    for bound in cube.iter().chain(steps) {
        let monomials = bound.form.monomials.iter();
        let mut form: SparseRow = monomials.map(|(t, c)| (columns[t], c.clone())).collect();
        form.sort_unstable_by_key(|e| e.0);
        simplex.add(&form, &bound.form.constant, bound.relation);
    }
    let multipliers = simplex.check().err()?;
    let mut sum = Linear::constant(Rational::zero());
    let mut relation = Relation::Equal;
    for (number, factor) in &multipliers {
        let Some(bound) = cube.get(*number) else {
            continue;
        };
        sum = sum.add_scaled(&bound.form, factor);
        relation = match (relation, bound.relation) {
            (Relation::Below, _) | (_, Relation::Below) => Relation::Below,
            (Relation::AtMost, _) | (_, Relation::AtMost) => Relation::AtMost,
            _ => Relation::Equal,
        };
    }
    let relation = match relation {
        Relation::Below => hull::Relation::Below,
        // One direction of an equation is all that the certificate uses.
        Relation::Equal | Relation::AtMost => hull::Relation::AtMost,
    };
    (!sum.is_constant()).then(|| literal(terms, &sum, relation, sort))
}

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
        let mut bounds: Vec<(SortId, Vec<Bound>)> = Vec::new();
        let mut sums: Vec<TermId> = Vec::new();
        let mut count = 0;
        for &literal in cube {
            match Bound::of(&terms, literal) {
                Some(bound) => {
                    let sort = terms.sort_of(bound.form.monomials[0].0);
                    count += 1;
                    match bounds.iter_mut().find(|b| b.0 == sort) {
                        Some(same) => same.1.push(bound),
                        None => bounds.push((sort, vec![bound])),
                    }
                }
                None => sums.push(literal),
            }
        }
        if !(2..=ROW_LIMIT).contains(&count) {
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
            let sum = bounds
                .iter()
                .find_map(|(sort, cube)| separate(&terms, &steps, cube, *sort));
            match sum {
                Some(sum) if !sums.contains(&sum) => sums.push(sum),
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
