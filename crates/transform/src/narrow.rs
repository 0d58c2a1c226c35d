//! Removes upper bits of bit-vector arguments that are constant, or copies of the sign.
//!
//! Abstract interpretation with [`alphorn_domain::Bits`] finds these bits, and Houdini with a
//! solver proves that they are inductive. The argument becomes one of the remaining width, and
//! constraints have its extension in place of it.
//!
//! Invariant: every value that can be derived for a narrowed argument is an extension of the new
//! one. So the new system derives the same facts, narrowed, and the old model is the new one
//! conjoined with the facts proven.

use std::rc::Rc;
use std::time::Duration;

use rustc_hash::FxHashMap;

use super::candidates::within;
use super::replacement::{Origin, Replacement};
use super::visits::Visits;
use super::{Place, Step, Transformation};
use alphorn_chc::{PredicateId, System};
use alphorn_domain::catalogue::word_bounds;
use alphorn_domain::{Bits, Domain, Limits as AnalysisLimits, analyse, spare};
use alphorn_proof::facts::{Checker, Facts};
use alphorn_term::run::Context;
use alphorn_term::{BigUint, Op, Sort, TermId, TermStore};

/// The limits of the pass, as work. In short runs it gets less, see [`within`].
struct Limits {
    /// The analysis; at its end the pass does nothing.
    analysis_work: Duration,
    /// The proof of its result; at its end, bits that are not proven are kept.
    proof_work: Duration,
}

const LIMITS: Limits = Limits {
    analysis_work: Duration::from_millis(150),
    proof_work: Duration::from_millis(300),
};

/// The pass. It considers each predicate only once in a run.
#[derive(Default)]
pub struct Narrow {
    visits: Visits,
}

/// How an argument is made from a narrower one.
#[derive(Clone, Debug)]
struct Shape {
    /// The number of upper bits that are removed, and their values; `None` if they are copies of
    /// the sign.
    spare: u32,
    bits: Option<BigUint>,
    width: u32,
}

impl Shape {
    fn left(&self) -> u32 {
        self.width - self.spare
    }

    /// The old argument from the new one.
    fn whole(&self, terms: &TermStore, part: TermId) -> TermId {
        match &self.bits {
            Some(bits) => {
                let upper = terms.bitvec(bits.clone(), self.spare);
                terms.bv_op(&Op::BvConcat, &[upper, part])
            }
            None => terms.bv_op(&Op::BvSignExtend(self.spare), &[part]),
        }
    }

    /// The new argument from the old one.
    fn part(&self, terms: &TermStore, whole: TermId) -> TermId {
        terms.bv_op(&Op::BvExtract(self.left() - 1, 0), &[whole])
    }

    /// The old argument is an extension of a new one.
    fn fits(&self, terms: &TermStore, whole: TermId) -> TermId {
        let width = self.width;
        let (from, expected) = match &self.bits {
            Some(bits) => (self.left(), terms.bitvec(bits.clone(), self.spare)),
            None => {
                let sign = terms.bv_op(&Op::BvExtract(self.left() - 1, self.left() - 1), &[whole]);
                let spread = match self.spare {
                    1 => sign,
                    n => terms.bv_op(&Op::BvSignExtend(n - 1), &[sign]),
                };
                (self.left(), spread)
            }
        };
        terms.eq(
            terms.bv_op(&Op::BvExtract(width - 1, from), &[whole]),
            expected,
        )
    }
}

impl Transformation for Narrow {
    fn apply(&mut self, old: &Rc<System>, cx: &mut Context) -> Option<Step> {
        let terms = old.terms.clone();
        let wide = |p: &PredicateId| {
            let mut params = old.predicate(*p).params.iter();
            params.any(|v| matches!(terms.sort(terms.sort_of(*v)), Sort::BitVec(w) if w > 1))
        };
        let mut used = old.used_predicates();
        used.retain(wide);
        if !self.visits.begin(&used) {
            return None;
        }
        let domain = Bits::new(terms.clone(), word_bounds());
        let limits = AnalysisLimits {
            time: within(LIMITS.analysis_work, cx),
            ..AnalysisLimits::default()
        };
        let found = analyse(&domain, old, limits, cx);
        if !found.complete {
            return None;
        }
        let mut shapes: FxHashMap<Place, Shape> = FxHashMap::default();
        let mut candidates = Facts::default();
        for &predicate in &used {
            let Some(bits_of) = &found.values[predicate.index()] else {
                continue;
            };
            let facts = candidates.entry(predicate).or_default();
            facts.extend(domain.formula(&found.values[predicate.index()]));
            for (at, param) in old.predicate(predicate).params.iter().enumerate() {
                let Some(known) = bits_of.get(param) else {
                    continue;
                };
                if let Some((spare, bits)) = spare(known) {
                    let shape = Shape {
                        spare,
                        bits,
                        width: known.width,
                    };
                    facts.push(shape.fits(&terms, *param));
                    shapes.insert((predicate, at), shape);
                }
            }
        }
        if shapes.is_empty() {
            return None;
        }
        let proven = cx.within(cx.budget.work(within(LIMITS.proof_work, cx)), |cx| {
            let mut checker = Checker::new(old, cx);
            checker.prove(candidates, cx);
            checker.into_facts()
        });
        shapes.retain(|(predicate, at), shape| {
            let param = old.predicate(*predicate).params[*at];
            let fits = shape.fits(&terms, param);
            let facts = proven.get(predicate);
            facts.is_some_and(|facts| facts.contains(&fits))
        });
        if shapes.is_empty() {
            return None;
        }
        let bits: u64 = shapes.values().map(|s| u64::from(s.spare)).sum();
        cx.stats.add("transform.narrow.bits", bits);
        let (system, mut replacement) = shorten(old, &shapes);
        // Nothing new can be found about the predicates just made.
        self.visits
            .see(used.iter().filter_map(|&p| replacement.image(p)));
        // The facts proven say that the removed bits are as the new system assumes.
        for (predicate, facts) in &proven {
            replacement.strengthen(*predicate, terms.and(facts));
        }
        Some(replacement.step(system))
    }
}

/// The system with narrowed arguments.
fn shorten(old: &Rc<System>, shapes: &FxHashMap<Place, Shape>) -> (System, Replacement) {
    let terms = &old.terms;
    let mut system = (**old).clone();
    let mut replacement = Replacement::new(old);
    for predicate in old.used_predicates() {
        let params = &old.predicate(predicate).params;
        let shape = |at: usize| shapes.get(&(predicate, at));
        if (0..params.len()).all(|at| shape(at).is_none()) {
            continue;
        }
        let values = params
            .iter()
            .enumerate()
            .map(|(at, param)| match shape(at) {
                Some(shape) => shape.part(terms, *param),
                None => *param,
            });
        replacement.replace_by_terms(&mut system, predicate, values);
    }
    for clause in &mut system.clauses {
        let mut map = FxHashMap::default();
        let mut pairs = Vec::new();
        replacement.replace_atoms(clause, |atom| {
            let mut args = atom.args.clone();
            for (at, arg) in args.iter_mut().enumerate() {
                if let Some(shape) = shapes.get(&(atom.predicate, at)) {
                    let sort = terms.bitvec_sort(shape.left());
                    let part = terms.fresh_var(terms.var_name(*arg), sort);
                    let whole = shape.whole(terms, part);
                    map.insert(*arg, whole);
                    pairs.push((*arg, whole));
                    *arg = part;
                }
            }
            args
        });
        if !pairs.is_empty() {
            clause.constraint = terms.substitute(clause.constraint, &map);
            replacement.note(clause.id, Origin::new(clause.id, pairs));
        }
    }
    (system, replacement)
}
