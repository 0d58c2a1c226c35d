//! Bit-vectors lose upper bits that are always the same, or always their sign.
//!
//! Abstract interpretation ([`alphorn_domain::Bits`]) says which bits these are, and a solver that
//! it is inductive (`houdini`). The argument then becomes one of the remaining width, and a
//! constant or an extension of it stands in the constraints.
//!
//! Invariant: every value that can be derived for a narrowed argument is rebuilt from the new one.
//! So the new system derives the same facts, shortened; a model says in addition what was proven.

use std::rc::Rc;
use std::time::Duration;

use rustc_hash::FxHashMap;

use super::candidates::within;
use super::replacement::{Origin, Replacement};
use super::visits::Visits;
use super::{Place, Step, Transformation};
use alphorn_chc::{PredicateId, System};
use alphorn_domain::catalogue::word_bounds;
use alphorn_domain::{Bits, Domain, Limits, analyse, spare};
use alphorn_proof::facts::{Checker, Facts};
use alphorn_term::run::Context;
use alphorn_term::{BigUint, Op, Sort, TermId, TermStore};

/// Time for the analysis, and for the check of what it says.
const ANALYSIS: Duration = Duration::from_millis(150);
const CHECKING: Duration = Duration::from_millis(300);

/// The pass. It looks at a predicate only once in a run.
#[derive(Default)]
pub struct Narrow {
    visits: Visits,
}

/// How an argument is made from a shorter one.
#[derive(Clone, Debug)]
struct Shape {
    /// Upper bits that go, and what they are; `None` for the sign of what is left.
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

    /// That the old argument is made from a new one.
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
        let limits = Limits {
            time: within(ANALYSIS, cx),
            ..Limits::default()
        };
        let found = analyse(&domain, old, limits, cx);
        if !found.complete {
            return None;
        }
        let mut shapes: FxHashMap<Place, Shape> = FxHashMap::default();
        let mut candidates = Facts::default();
        for &predicate in &used {
            let Some(words) = &found.values[predicate.index()] else {
                continue;
            };
            let facts = candidates.entry(predicate).or_default();
            facts.extend(domain.formula(&found.values[predicate.index()]));
            for (at, param) in old.predicate(predicate).params.iter().enumerate() {
                let Some(word) = words.get(param) else {
                    continue;
                };
                if let Some((spare, bits)) = spare(word) {
                    let shape = Shape {
                        spare,
                        bits,
                        width: word.width,
                    };
                    facts.push(shape.fits(&terms, *param));
                    shapes.insert((predicate, at), shape);
                }
            }
        }
        if shapes.is_empty() {
            return None;
        }
        let proven = cx.within(cx.budget.work(within(CHECKING, cx)), |cx| {
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
        // Nothing new is to be found about what was just made.
        self.visits
            .see(used.iter().filter_map(|&p| replacement.image(p)));
        // What was proven says that the rest of each argument is what the new system takes it for.
        for (predicate, facts) in &proven {
            replacement.strengthen(*predicate, terms.and(facts));
        }
        Some(replacement.step(system))
    }
}

/// The system with shorter arguments.
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
