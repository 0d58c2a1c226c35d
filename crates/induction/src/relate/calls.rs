//! Queries with premises that calls preserve.
//!
//! A query fixes where its runs begin: `f(0, n, a) ∧ g(0, n, 0, b)`. For a proof by induction it has to
//! speak of all that is called from there. The inputs of the slots step together, each from the head of a
//! clause to a premise of the same predicate; equations that all of them satisfy are an affine hull, and
//! the bounds and orders of the query that are kept by each step are found by elimination. No tables are
//! needed. The hull grows by models that are not in it (Reps, Sagiv, Yorsh, VMCAI 2004).
//!
//! Invariant: before they are weakened, the premises of a lemma follow from those of the query and what is
//! known of single facts, and hold again after a step of the slots that move.

use super::affine::{equations, with_equations};
use super::limits::LIMITS;
use super::literal::{Column, Lemma, Literal, Origin, Relation, column, number};
use super::space::Space;
use super::weaken::{Entailment, implied, weakened};
use alphorn_chc::PredicateId;
use alphorn_smt::{SatResult, Solver};
use alphorn_term::run::Context;
use alphorn_term::{SortId, TermId};

/// The arguments of all slots.
type Arguments = Vec<Vec<TermId>>;

/// A step from the arguments of all slots to those of the calls.
struct Step {
    formula: TermId,
    next: Arguments,
}

/// The lemmas with premises that calls preserve, and with the equations that the tables satisfy under
/// these premises. The `known` lemmas about one fact say more of what is called.
pub fn preserved(
    space: &Space<'_>,
    lemma: &Lemma,
    known: &[&Lemma],
    solver: &mut Solver,
    cx: &Context,
) -> Vec<Lemma> {
    let slots = &lemma.slots;
    if !(2..=LIMITS.call_slots).contains(&slots.len()) {
        return Vec::new();
    }
    let here: Arguments = slots.iter().map(|&p| fresh(space, p)).collect();
    let mut columns: Vec<Column> = Vec::new();
    for (slot, &predicate) in slots.iter().enumerate() {
        let sorts = space.sorts(predicate);
        let inputs = space.inputs(predicate).into_iter();
        let inputs = inputs.filter(|&at| sorts[at] == SortId::INT);
        columns.extend(inputs.map(|at| column(slot, at)));
    }
    let mut found: Vec<Lemma> = Vec::new();
    for moving in sets(slots.len()) {
        let steps = steps(space, slots, &here, &moving);
        if steps.is_empty() || steps.len() > LIMITS.call_steps || cx.stop().is_some() {
            continue;
        }
        let (here, columns) = (&here, &columns);
        let mut calls = Calls {
            space,
            slots,
            here,
            known,
            columns,
            steps,
            solver,
        };
        let Some(fixed) = calls.equations(&lemma.premises, cx) else {
            continue;
        };
        let bounds = calls.bounds(&lemma.premises, &fixed, cx);
        let premises = [&fixed[..], &bounds].concat();
        let conclusions = &lemma.conclusions;
        let with = |premises: &[Literal]| {
            let (slots, conclusions) = (slots.clone(), conclusions.clone());
            Lemma::new(slots, premises.to_vec(), conclusions, Origin::Weakened)
        };
        found.extend([with(&premises), with(&fixed)]);
        let orders = LIMITS.call_orders;
        found.extend(weakened(
            space,
            slots,
            &premises,
            conclusions,
            orders,
            Origin::Weakened,
        ));
        found.extend(with_equations(space, slots, &fixed));
        found.extend(with_equations(space, slots, &premises));
    }
    found.retain(|candidate| space.holds(candidate));
    found
}

/// Fresh variables for the arguments of a predicate.
fn fresh(space: &Space<'_>, predicate: PredicateId) -> Vec<TermId> {
    let terms = space.terms();
    let sorts = space.sorts(predicate).into_iter();
    sorts.map(|sort| terms.fresh_var("c", sort)).collect()
}

/// The sets of slots that move: all, and of few slots each set.
fn sets(slots: usize) -> Vec<Vec<usize>> {
    let all: Vec<usize> = (0..slots).collect();
    let mut found = vec![all.clone()];
    if slots <= LIMITS.call_sets {
        let chosen = |set: usize| all.iter().copied().filter(move |at| set >> at & 1 == 1);
        found.extend((1..(1 << slots) - 1).map(|set| chosen(set).collect()));
    }
    found
}

/// The steps in which some slots move, each by a clause and a premise of its predicate.
fn steps(
    space: &Space<'_>,
    slots: &[PredicateId],
    here: &Arguments,
    moving: &[usize],
) -> Vec<Step> {
    let terms = space.terms();
    let mut found = vec![Step {
        formula: TermId::TRUE,
        next: here.clone(),
    }];
    for &slot in moving {
        let mut longer = Vec::new();
        for &rule in &space.rules[slots[slot].index()] {
            let clause = &space.system.clauses[rule];
            let own = clause.body.iter().filter(|a| a.predicate == slots[slot]);
            for premise in own {
                let mut map = terms.renaming(&clause.vars(terms));
                let head = clause.head.iter().flat_map(|head| &head.args);
                map.extend(head.copied().zip(here[slot].iter().copied()));
                let constraint = terms.substitute(clause.constraint, &map);
                for step in &found {
                    let mut next = step.next.clone();
                    next[slot] = premise.args.iter().map(|arg| map[arg]).collect();
                    let formula = terms.and(&[step.formula, constraint]);
                    longer.push(Step { formula, next });
                }
            }
        }
        found = longer;
        if found.len() > LIMITS.call_steps {
            break;
        }
    }
    found
}

/// What is called from a query.
struct Calls<'c, 'a> {
    space: &'c Space<'a>,
    slots: &'c [PredicateId],
    here: &'c Arguments,
    /// Lemmas about one fact.
    known: &'c [&'c Lemma],
    /// The inputs that are integers.
    columns: &'c [Column],
    steps: Vec<Step>,
    solver: &'c mut Solver,
}

impl Calls<'_, '_> {
    /// The literals about these arguments.
    fn all(&self, literals: &[Literal], arguments: &Arguments) -> TermId {
        let terms = self.space.terms();
        let of = |c: Column| arguments[usize::from(c.slot)][usize::from(c.arg)];
        let formulas = literals.iter().map(|l| l.formula(terms, &of));
        terms.and(&formulas.collect::<Vec<_>>())
    }

    /// What is known of single facts with these arguments.
    fn facts(&self, arguments: &Arguments) -> TermId {
        let terms = self.space.terms();
        let mut formulas = Vec::new();
        for (predicate, own) in self.slots.iter().zip(arguments) {
            let lemmas = self.known.iter().filter(|l| l.slots == [*predicate]);
            formulas.extend(lemmas.map(|l| l.formula(terms, &|c| own[usize::from(c.arg)])));
        }
        terms.and(&formulas)
    }

    /// The equations of inputs that hold where some premises do and are preserved: the affine hull of
    /// points, to which models add points that are not in it.
    fn equations(&mut self, premises: &[Literal], cx: &Context) -> Option<Vec<Literal>> {
        let mut points: Vec<Vec<i64>> = Vec::new();
        let (start, here) = (self.all(premises, self.here), self.here.clone());
        self.sample(start, &here, &mut points, cx)?;
        let steps = std::mem::take(&mut self.steps);
        let mut count = 0;
        while points.len() > count {
            count = points.len();
            for step in &steps {
                let hull = self.all(&self.hull(&points), self.here);
                let formula = self.space.terms().and(&[hull, step.formula]);
                self.sample(formula, &step.next, &mut points, cx)?;
            }
        }
        self.steps = steps;
        (count > 0).then(|| self.hull(&points))
    }

    /// The equations that some points satisfy.
    fn hull(&self, points: &[Vec<i64>]) -> Vec<Literal> {
        let literal = |(factors, constant): (Vec<i64>, i64)| {
            let parts = self.columns.iter().copied().zip(factors);
            Literal::sum(Relation::Equal, parts, constant)
        };
        equations(points).into_iter().map(literal).collect()
    }

    /// Adds points outside of the hull, at which a formula holds, until there are none. `None` if that
    /// is not known.
    fn sample(
        &mut self,
        formula: TermId,
        arguments: &Arguments,
        points: &mut Vec<Vec<i64>>,
        cx: &Context,
    ) -> Option<()> {
        let terms = self.space.terms();
        loop {
            let hull = self.hull(points);
            if cx.stop().is_some() || points.len() > self.columns.len() + 1 {
                return None;
            }
            self.solver.push();
            self.solver.assert(formula);
            self.solver.assert(self.facts(arguments));
            if !points.is_empty() {
                self.solver.assert(terms.not(self.all(&hull, arguments)));
            }
            let smt = self.solver.smt().clone();
            let limit = smt.limit_queries(Some(LIMITS.query_work));
            let answer = self.solver.check(&[]);
            drop(limit);
            let model = self.solver.model().filter(|_| answer == SatResult::Sat);
            self.solver.pop();
            match (answer, model) {
                (SatResult::Unsat, _) => return Some(()),
                (SatResult::Sat, Some(model)) => {
                    let value = |c: &Column| {
                        let arg = arguments[usize::from(c.slot)][usize::from(c.arg)];
                        number(terms, model.value(arg).ok()?)
                    };
                    points.push(self.columns.iter().map(value).collect::<Option<_>>()?);
                }
                _ => return None,
            }
        }
    }

    /// Other literals that follow from the premises and are preserved.
    fn bounds(&mut self, premises: &[Literal], fixed: &[Literal], cx: &Context) -> Vec<Literal> {
        let terms = self.space.terms();
        let here = |c: Column| self.here[usize::from(c.slot)][usize::from(c.arg)];
        self.solver.push();
        self.solver.assert(self.all(premises, self.here));
        self.solver.assert(self.facts(self.here));
        let mut asked = Entailment::new(self.solver);
        let mut kept = implied(self.space, &mut asked, &here, self.columns, premises, cx);
        self.solver.pop();
        self.solver.push();
        self.solver.assert(self.all(fixed, self.here));
        let mut asked = Entailment::new(self.solver);
        kept.retain(|literal| !asked.follows(literal.formula(terms, &here), cx));
        self.solver.pop();
        let mut count = kept.len() + 1;
        while kept.len() < count {
            count = kept.len();
            for step in &self.steps {
                let known = [self.all(fixed, self.here), self.all(&kept, self.here)];
                let next = |c: Column| step.next[usize::from(c.slot)][usize::from(c.arg)];
                self.solver.push();
                known
                    .into_iter()
                    .for_each(|formula| self.solver.assert(formula));
                self.solver.assert(step.formula);
                self.solver.assert(self.facts(&step.next));
                let mut asked = Entailment::new(self.solver);
                kept.retain(|literal| asked.follows(literal.formula(terms, &next), cx));
                self.solver.pop();
            }
        }
        kept
    }
}
