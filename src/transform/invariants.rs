//! Invariants found by abstract interpretation, conjoined to the clauses as checked facts.
//!
//! The domains of [`crate::domain`] say what may hold of each predicate. A solver then keeps the
//! conjuncts that are inductive together (Flanagan and Leino, FME 2001: Houdini): from all of them,
//! those go that some clause does not preserve, until none does. What is left is conjoined to the
//! constraint where a clause uses the predicate, unless it follows from the constraint; clauses
//! that become unsatisfiable go, and when no query is left the system is solved.
//!
//! Invariant: what is conjoined holds for every fact that can be derived, by the solver's word and
//! not by the domains'. So a model of the new system, conjoined with it, is one of the old, and a
//! refutation of the new system is one of the old as it is.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};

use num_traits::One;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{BackError, BackTranslation, Step, TransformError, Transformation, complete_model};
use crate::chc::{Clause, PredicateId, System};
use crate::context::Context;
use crate::domain::{
    Cases, Congruences, Constants, Domain, Intervals, Limits, Polyhedra, Product, analyse,
};
use crate::smt::{SatResult, Smt, Solver, Watchdog};
use crate::term::{Op, Rational, TermId, TermStore};
use crate::witness::{Model, Refutation};

/// Time for the analyses of a run, at most, by domain, and for checking what they say.
const ANALYSES: [Duration; 3] = [
    Duration::from_millis(60),
    Duration::from_millis(100),
    Duration::from_millis(200),
];
const CHECKING: Duration = Duration::from_millis(300);

/// So much later than its analysis a domain is late.
const SLACK: Duration = Duration::from_millis(5);

/// No more than this part of the time that is left for all.
const PART: u32 = 30;

/// How often the pass runs in a pipeline: other passes may make more of what it found.
const RUNS: usize = 2;

/// One query of the check at most.
const QUERY: Duration = Duration::from_millis(100);

/// Conjuncts of one predicate at most.
const CONJUNCTS: usize = 200;

/// Numerals of the system that widening stops at, at most.
const THRESHOLDS: usize = 200;

/// Variables in one element of relational domains, at most.
const WIDTH: usize = 30;

/// Variables of one polyhedron at most, and of one that is joined exactly.
const DIMENSIONS: usize = 16;
const EXACT: usize = 8;

/// Cases of one predicate at most.
const CASES: usize = 12;

/// The pass. It looks at a predicate only once in a run.
#[derive(Default)]
pub struct Invariants {
    seen: RefCell<FxHashSet<PredicateId>>,
    runs: Cell<usize>,
}

/// What holds of predicates, as conjuncts over their formal variables.
type Facts = FxHashMap<PredicateId, Vec<TermId>>;

/// One domain's way to them, within limits.
type Analysis<'a> = dyn Fn(Limits) -> Option<Facts> + 'a;

impl Transformation for Invariants {
    fn name(&self) -> &'static str {
        "invariants"
    }

    fn waits(&self) -> bool {
        true
    }

    fn apply(&self, system: System, cx: &mut Context) -> Result<Step, TransformError> {
        let old = Rc::new(system);
        let mut system = (*old).clone();
        let used = old.used_predicates();
        let mut seen = self.seen.borrow_mut();
        let fresh = used.iter().any(|p| !seen.contains(p));
        let facts = if fresh && self.runs.get() < RUNS {
            seen.extend(used);
            self.runs.set(self.runs.get() + 1);
            let candidates = candidates(&old, cx);
            cx.with_limit(within(CHECKING, cx), |cx| {
                let mut checker = Checker::new(&old, candidates, cx);
                checker.keep_inductive(cx).then(|| {
                    let changed = checker.conjoin(&mut system, cx);
                    (checker.facts, changed)
                })
            })
        } else {
            None
        };
        let (facts, changed) = facts.unwrap_or_default();
        let conjuncts: usize = facts.values().map(Vec::len).sum();
        cx.stats.add("transform.invariants.facts", conjuncts as u64);
        Ok(Step {
            system,
            back: Box::new(Back { old, facts }),
            changed,
        })
    }
}

/// What the domains say of each predicate, by the most precise one that ends in time.
fn candidates(system: &System, cx: &Context) -> Facts {
    let terms = &system.terms;
    let thresholds = thresholds(system);
    let bounds = || Intervals::new(terms.clone(), thresholds.clone());
    let congruences = || Congruences::new(terms.clone(), WIDTH);
    let mut facts = Facts::default();
    let simple = by_cases(terms, bounds());
    let better = by_cases(terms, Product::early(bounds(), congruences()));
    let best = |limits: Limits| {
        let polyhedra = Polyhedra::new(terms.clone(), DIMENSIONS, EXACT);
        // When the analysis is cut short anyway.
        let polyhedra = polyhedra.until(Instant::now() + limits.time + SLACK);
        let relational = Product::new(congruences(), polyhedra);
        let best = by_cases(terms, Product::early(bounds(), relational));
        run(&best, system, limits, cx)
    };
    let analyses: [(&str, &Analysis); 3] = [
        ("bounds", &|limits| run(&simple, system, limits, cx)),
        ("congruences", &|limits| run(&better, system, limits, cx)),
        ("polyhedra", &best),
    ];
    for ((name, analysis), time) in analyses.into_iter().zip(ANALYSES) {
        let start = Instant::now();
        let limits = Limits {
            time: within(time, cx),
            ..Limits::default()
        };
        let found = analysis(limits);
        let seconds = start.elapsed().as_secs_f64();
        let end = if found.is_some() { "done" } else { "cut short" };
        log::debug!("analysis with {name}: {end}, {seconds:.3} s");
        match found {
            Some(found) => facts = found,
            None => break,
        }
    }
    facts
}

/// The time, or less when there is little left.
fn within(time: Duration, cx: &Context) -> Duration {
    cx.remaining().map_or(time, |left| time.min(left / PART))
}

/// A numeric domain for each valuation of finite arguments.
fn by_cases<D: Domain>(terms: &Rc<TermStore>, numeric: D) -> Cases<Product<Constants, D>> {
    let constants = Constants::new(terms.clone());
    Cases::new(Product::new(constants, numeric), terms.clone(), CASES)
}

/// One analysis; `None` if it was cut short.
fn run<D: Domain>(domain: &D, system: &System, limits: Limits, cx: &Context) -> Option<Facts> {
    let found = analyse(domain, system, limits, cx);
    if !found.complete {
        return None;
    }
    let mut facts = Facts::default();
    for predicate in system.used_predicates() {
        let mut conjuncts = domain.formula(&found.values[predicate.index()]);
        let mut listed = FxHashSet::default();
        conjuncts.retain(|c| *c != TermId::TRUE && listed.insert(*c));
        conjuncts.truncate(CONJUNCTS);
        if !conjuncts.is_empty() {
            facts.insert(predicate, conjuncts);
        }
    }
    Some(facts)
}

/// Numerals of the clauses, with their neighbours.
fn thresholds(system: &System) -> Vec<Rational> {
    let terms = &system.terms;
    let constraints: Vec<TermId> = system.clauses.iter().map(|c| c.constraint).collect();
    let mut numbers = Vec::new();
    terms.post_order(&constraints, |t| {
        if numbers.len() < THRESHOLDS
            && matches!(terms.op(t), Op::Int(_) | Op::Real(_))
            && let Some(value) = terms.numeral(t)
        {
            let one = Rational::one();
            numbers.extend([&value - &one, -&value, &value + &one, value]);
        }
    });
    numbers
}

/// Finds the conjuncts that are inductive together.
struct Checker<'a> {
    system: &'a System,
    terms: Rc<TermStore>,
    smt: Rc<Smt>,
    facts: Facts,
    _watchdog: Watchdog,
}

impl<'a> Checker<'a> {
    fn new(system: &'a System, facts: Facts, cx: &Context) -> Self {
        let smt = Smt::new(system.terms.clone());
        let watchdog = Watchdog::new(smt.interrupter(), cx.deadline, cx.interrupt.clone());
        Checker {
            system,
            terms: system.terms.clone(),
            smt,
            facts,
            _watchdog: watchdog,
        }
    }

    /// The conjuncts for a clause's body, over its variables.
    fn body(&self, clause: &Clause) -> Vec<TermId> {
        let mut all = Vec::new();
        for atom in &clause.body {
            let params = &self.system.predicate(atom.predicate).params;
            let map = params.iter().copied().zip(atom.args.iter().copied());
            let map = map.collect();
            let mut memo = FxHashMap::default();
            for &fact in self.facts.get(&atom.predicate).into_iter().flatten() {
                all.push(self.terms.substitute_with(fact, &map, &mut memo));
            }
        }
        all
    }

    /// Drops conjuncts until all are inductive; false when time runs out before that.
    fn keep_inductive(&mut self, cx: &Context) -> bool {
        let clauses = &self.system.clauses;
        let mut users: FxHashMap<PredicateId, Vec<usize>> = FxHashMap::default();
        for (index, clause) in clauses.iter().enumerate() {
            for atom in &clause.body {
                users.entry(atom.predicate).or_default().push(index);
            }
        }
        let mut queue: VecDeque<usize> = (0..clauses.len()).collect();
        let mut queued = vec![true; clauses.len()];
        while let Some(index) = queue.pop_front() {
            queued[index] = false;
            if cx.stop().is_some() {
                return false;
            }
            let clause = &clauses[index];
            let Some(head) = &clause.head else { continue };
            let Some(facts) = self.facts.get(&head.predicate).filter(|f| !f.is_empty()) else {
                continue;
            };
            let kept = self.preserved(clause, facts, cx);
            if kept.len() == facts.len() {
                continue;
            }
            self.facts.insert(head.predicate, kept);
            for &user in users.get(&head.predicate).into_iter().flatten() {
                if !queued[user] {
                    queued[user] = true;
                    queue.push_back(user);
                }
            }
        }
        self.facts.retain(|_, facts| !facts.is_empty());
        true
    }

    /// The conjuncts about the head that the clause preserves.
    fn preserved(&self, clause: &Clause, facts: &[TermId], cx: &Context) -> Vec<TermId> {
        let Some(head) = &clause.head else {
            return facts.to_vec();
        };
        let mut solver = self.smt.solver();
        solver.assert(clause.constraint);
        for fact in self.body(clause) {
            solver.assert(fact);
        }
        let instance = |fact: TermId| self.system.instantiate(fact, head);
        let mut kept: Vec<(TermId, TermId)> = facts.iter().map(|&f| (f, instance(f))).collect();
        while !kept.is_empty() {
            let instances: Vec<TermId> = kept.iter().map(|k| k.1).collect();
            let negated = self.terms.not(self.terms.and(&instances));
            match self.query(&mut solver, negated, cx) {
                SatResult::Unsat => break,
                SatResult::Sat => {
                    let Some(model) = solver.model() else {
                        return Vec::new();
                    };
                    let before = kept.len();
                    kept.retain(|k| model.satisfies(k.1));
                    if kept.len() == before {
                        // The model cannot be read.
                        return Vec::new();
                    }
                }
                SatResult::Unknown(_) if kept.len() > 1 && cx.stop().is_none() => {
                    // One by one, as far as that goes.
                    kept.retain(|k| {
                        let negated = self.terms.not(k.1);
                        self.query(&mut solver, negated, cx) == SatResult::Unsat
                    });
                    break;
                }
                SatResult::Unknown(_) => return Vec::new(),
            }
        }
        kept.into_iter().map(|k| k.0).collect()
    }

    fn query(&self, solver: &mut Solver, assumption: TermId, cx: &Context) -> SatResult {
        let limit = cx.remaining().map_or(QUERY, |left| left.min(QUERY));
        self.smt.set_query_timeout(Some(limit));
        solver.check(&[assumption])
    }

    /// Conjoins the facts to the clauses where they say something new, and drops clauses that
    /// cannot be applied; true if a clause changed.
    fn conjoin(&self, system: &mut System, cx: &Context) -> bool {
        let mut changed = false;
        system.clauses.retain_mut(|clause| {
            let facts = self.body(clause);
            if facts.is_empty() || cx.stop().is_some() {
                return true;
            }
            let mut solver = self.smt.solver();
            solver.assert(clause.constraint);
            let all = self.terms.and(&facts);
            if self.query(&mut solver, all, cx) == SatResult::Unsat {
                changed = true;
                return false;
            }
            let mut news = Vec::new();
            for fact in facts {
                let negated = self.terms.not(fact);
                if self.query(&mut solver, negated, cx) != SatResult::Unsat {
                    solver.assert(fact);
                    news.push(fact);
                }
            }
            if !news.is_empty() {
                changed = true;
                news.push(clause.constraint);
                clause.constraint = self.terms.and(&news);
            }
            true
        });
        changed
    }
}

struct Back {
    old: Rc<System>,
    facts: Facts,
}

impl BackTranslation for Back {
    fn model(&self, mut model: Model, _cx: &mut Context) -> Result<Model, BackError> {
        complete_model(&self.old, &mut model);
        for (predicate, facts) in &self.facts {
            if let Some(definition) = model.definitions.get_mut(predicate) {
                let mut conjuncts = vec![*definition];
                conjuncts.extend(facts);
                *definition = self.old.terms.and(&conjuncts);
            }
        }
        Ok(model)
    }

    fn refutation(
        &self,
        refutation: Refutation,
        _cx: &mut Context,
    ) -> Result<Refutation, BackError> {
        // A step that satisfies the stronger constraint satisfies the one it was made from.
        Ok(refutation)
    }
}
