//! Bit-vectors lose upper bits that are always the same, or always their sign.
//!
//! Abstract interpretation ([`crate::domain::Bits`]) says which bits these are, and a solver that it
//! is inductive (`houdini`). The argument then becomes one of the remaining width, and a constant
//! or an extension of it stands in the constraints.
//!
//! Invariant: every value that can be derived for a narrowed argument is rebuilt from the new one.
//! So the new system derives the same facts, shortened; a model says in addition what was proven.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};

use super::candidates::within;
use super::replay::{OldStep, replay};
use super::{BackError, BackTranslation, Step, TransformError, Transformation, complete_model};
use crate::chc::{ClauseId, PredicateId, System};
use crate::domain::catalogue::word_bounds;
use crate::domain::{Bits, Domain, Limits, analyse, spare};
use crate::proof::houdini::{Checker, Facts, conjoin};
use crate::run::Context;
use crate::term::{BigUint, Op, Sort, SortId, TermId, TermStore};
use crate::witness::{Model, Refutation};

/// Time for the analysis, and for the check of what it says.
const ANALYSIS: Duration = Duration::from_millis(150);
const CHECKING: Duration = Duration::from_millis(300);

/// How often the pass runs in a pipeline.
const RUNS: usize = 2;

/// The pass. It looks at a predicate only once in a run.
#[derive(Default)]
pub struct Narrow {
    seen: RefCell<FxHashSet<PredicateId>>,
    runs: Cell<usize>,
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
    fn name(&self) -> &'static str {
        "narrow"
    }

    fn waits(&self) -> bool {
        true
    }

    fn apply(&self, system: System, cx: &mut Context) -> Result<Step, TransformError> {
        let old = Rc::new(system);
        let unchanged = |old: &Rc<System>| Step {
            system: (**old).clone(),
            back: Box::new(super::Unchanged),
            changed: false,
        };
        let terms = old.terms.clone();
        let wide = |p: &PredicateId| {
            let mut params = old.predicate(*p).params.iter();
            params.any(|v| matches!(terms.sort(terms.sort_of(*v)), Sort::BitVec(w) if w > 1))
        };
        let mut used = old.used_predicates();
        used.retain(wide);
        let mut seen = self.seen.borrow_mut();
        let fresh = used.iter().any(|p| !seen.contains(p));
        if !fresh || self.runs.get() >= RUNS {
            return Ok(unchanged(&old));
        }
        seen.extend(&used);
        self.runs.set(self.runs.get() + 1);
        let domain = Bits::new(terms.clone(), word_bounds());
        let limits = Limits {
            time: within(ANALYSIS, cx),
            ..Limits::default()
        };
        let found = analyse(&domain, &old, limits, cx);
        if !found.complete {
            return Ok(unchanged(&old));
        }
        let mut shapes: FxHashMap<(PredicateId, usize), Shape> = FxHashMap::default();
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
            return Ok(unchanged(&old));
        }
        let proven = cx.within(cx.budget.work(within(CHECKING, cx)), |cx| {
            let mut checker = Checker::new(&old, cx);
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
            return Ok(unchanged(&old));
        }
        let bits: u64 = shapes.values().map(|s| u64::from(s.spare)).sum();
        cx.stats.add("transform.narrow.bits", bits);
        let (system, replaced, definitions) = rebuild(&old, &shapes);
        // Nothing new is to be found about what was just made.
        seen.extend(replaced.iter().map(|r| r.new));
        Ok(Step {
            system,
            back: Box::new(Back {
                old,
                replaced,
                definitions,
                facts: proven,
            }),
            changed: true,
        })
    }
}

type Definitions = FxHashMap<ClauseId, Vec<(TermId, TermId)>>;

/// The system with shorter arguments.
fn rebuild(
    old: &System,
    shapes: &FxHashMap<(PredicateId, usize), Shape>,
) -> (System, Vec<Replaced>, Definitions) {
    let terms = &old.terms;
    let mut system = old.clone();
    let mut places: FxHashMap<PredicateId, PredicateId> = FxHashMap::default();
    let mut replaced = Vec::new();
    for predicate in old.used_predicates() {
        let params = &old.predicate(predicate).params;
        let own: Vec<Option<&Shape>> = (0..params.len())
            .map(|at| shapes.get(&(predicate, at)))
            .collect();
        if own.iter().all(Option::is_none) {
            continue;
        }
        let sort = |(param, shape): (&TermId, &Option<&Shape>)| match shape {
            Some(shape) => terms.bitvec_sort(shape.left()),
            None => terms.sort_of(*param),
        };
        let sorts: Vec<SortId> = params.iter().zip(&own).map(sort).collect();
        let new = system.add_predicate(&old.predicate(predicate).name, &sorts);
        let values = params.iter().zip(&own).map(|(param, shape)| match shape {
            Some(shape) => shape.part(terms, *param),
            None => *param,
        });
        let formals = system.predicate(new).params.iter().copied();
        let map = formals.zip(values).collect();
        places.insert(predicate, new);
        replaced.push(Replaced {
            old: predicate,
            new,
            map,
        });
    }
    let mut definitions = Definitions::default();
    for clause in &mut system.clauses {
        let mut map = FxHashMap::default();
        let mut pairs = Vec::new();
        for atom in clause.body.iter_mut().chain(&mut clause.head) {
            let Some(&new) = places.get(&atom.predicate) else {
                continue;
            };
            for (at, arg) in atom.args.iter_mut().enumerate() {
                let Some(shape) = shapes.get(&(atom.predicate, at)) else {
                    continue;
                };
                let sort = terms.bitvec_sort(shape.left());
                let part = terms.fresh_var(terms.var_name(*arg), sort);
                let whole = shape.whole(terms, part);
                map.insert(*arg, whole);
                pairs.push((*arg, whole));
                *arg = part;
            }
            atom.predicate = new;
        }
        if !pairs.is_empty() {
            clause.constraint = terms.substitute(clause.constraint, &map);
            definitions.insert(clause.id, pairs);
        }
    }
    (system, replaced, definitions)
}

struct Replaced {
    old: PredicateId,
    new: PredicateId,
    /// From the new predicate's formal variables to parts of the old one's.
    map: FxHashMap<TermId, TermId>,
}

struct Back {
    old: Rc<System>,
    replaced: Vec<Replaced>,
    /// For each changed clause, its arguments over the new ones.
    definitions: Definitions,
    facts: Facts,
}

impl BackTranslation for Back {
    fn model(&self, mut model: Model, _cx: &mut Context) -> Result<Model, BackError> {
        let terms = &self.old.terms;
        for replaced in &self.replaced {
            if let Some(formula) = model.definitions.remove(&replaced.new) {
                let formula = terms.substitute(formula, &replaced.map);
                model.definitions.insert(replaced.old, formula);
            }
        }
        complete_model(&self.old, &mut model);
        // What was proven says that the rest of each argument is what the new system takes it for.
        conjoin(&self.old, &self.facts, &mut model);
        Ok(model)
    }

    fn refutation(
        &self,
        refutation: Refutation,
        cx: &mut Context,
    ) -> Result<Refutation, BackError> {
        let terms = &self.old.terms;
        replay("narrow", &self.old, &refutation, cx, |step| {
            let Some(definitions) = self.definitions.get(&step.clause) else {
                return Ok(Vec::new());
            };
            Ok(vec![OldStep::rebuilt(terms, step, definitions)])
        })
    }
}
