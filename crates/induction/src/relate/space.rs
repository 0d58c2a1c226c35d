//! The clauses with their tables, and tests of statements on facts.
//!
//! Invariant: a statement is falsified only by facts that have derivations.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

use num_traits::ToPrimitive;
use rustc_hash::{FxHashMap, FxHashSet};

use super::answers::Answers;
use super::limits::LIMITS;
use super::literal::{Column, Head, Lemma, Literal, Relation};
use super::tables::{Row, Tables, for_products};
use alphorn_chc::{DependencyGraph, PredicateId, System};
use alphorn_term::Random;
use alphorn_term::run::Context;
use alphorn_term::{Op, Sort, SortId, TermStore};

/// What a sample of facts depends on: the predicate, the number of slots, the slot, and the seed.
type Sample = (PredicateId, usize, usize, u64);

/// The clauses of a system with what is known of them.
pub struct Space<'a> {
    pub system: &'a System,
    /// The positions of the clauses that derive each predicate, in their order.
    pub rules: Vec<Vec<usize>>,
    /// The positions of the queries.
    pub queries: Vec<usize>,
    pub tables: Tables,
    /// Those for tests of lemmas that conclude facts, once there are some.
    rich: OnceCell<Tables>,
    /// The integers in the clauses.
    pub constants: BTreeSet<i64>,
    /// Predicates that depend on themselves.
    pub recursive: FxHashSet<PredicateId>,
    /// Looks for facts that the tables lack.
    pub answers: Answers<'a>,
    samples: RefCell<FxHashMap<Sample, Rc<Vec<usize>>>>,
}

/// An equation between an argument of a slot and one of an earlier slot: what is to be added to the
/// latter.
struct Equation {
    own: usize,
    other: Column,
    distance: i64,
}

/// The sampled facts of a slot by the argument in an equation.
struct Index {
    key: Equation,
    positions: FxHashMap<i64, Vec<usize>>,
}

impl Index {
    /// The facts that satisfy the equation together with those of the earlier slots, in their order.
    fn rows(&self, tuple: &[&Row]) -> &[usize] {
        let other = tuple[usize::from(self.key.other.slot)][usize::from(self.key.other.arg)];
        let value = other.checked_add(self.key.distance);
        let found = value.and_then(|value| self.positions.get(&value));
        found.map_or(&[], Vec::as_slice)
    }
}

/// A premise as an equation for an argument of a slot.
fn key(literal: &Literal, slot: usize) -> Option<Equation> {
    let (left, right, distance) = match literal {
        Literal::Same(left, right, true) => (*left, *right, 0),
        Literal::Sum {
            relation: Relation::Equal,
            sum,
            constant,
        } => match sum[..] {
            [(left, 1), (right, -1)] | [(right, -1), (left, 1)] => {
                (left, right, constant.checked_neg()?)
            }
            _ => return None,
        },
        _ => return None,
    };
    // `left = right + distance`.
    let is_own = |column: Column| usize::from(column.slot) == slot;
    match (is_own(left), is_own(right)) {
        (true, false) => Some(Equation {
            own: left.arg.into(),
            other: right,
            distance,
        }),
        (false, true) => Some(Equation {
            own: right.arg.into(),
            other: left,
            distance: distance.checked_neg()?,
        }),
        _ => None,
    }
}

impl<'a> Space<'a> {
    /// The clauses of a system, with tables of facts.
    pub fn new(system: &'a System, cx: &Context) -> Self {
        let mut rules = vec![Vec::new(); system.predicates.len()];
        let mut queries = Vec::new();
        let mut roots = Vec::new();
        for (at, clause) in system.clauses.iter().enumerate() {
            match &clause.head {
                Some(head) => rules[head.predicate.index()].push(at),
                None => queries.push(at),
            }
            roots.push(clause.constraint);
        }
        let mut constants = BTreeSet::new();
        system.terms.post_order(&roots, |t| {
            if let Op::Int(value) = system.terms.op(t)
                && let Some(value) = value.to_i64()
            {
                // The sign depends on the side of an equation in normal form.
                constants.extend([value, value.saturating_abs()]);
            }
        });
        let tables = Tables::of(system, &constants, false, cx);
        Space {
            system,
            answers: Answers::new(system, rules.clone()),
            rules,
            queries,
            tables,
            rich: OnceCell::new(),
            constants,
            recursive: DependencyGraph::new(system).recursive(),
            samples: RefCell::default(),
        }
    }

    /// The store of the terms.
    pub fn terms(&self) -> &'a TermStore {
        &self.system.terms
    }

    /// The sorts of a predicate's arguments.
    pub fn sorts(&self, predicate: PredicateId) -> Vec<SortId> {
        let params = self.system.predicate(predicate).params.iter();
        params.map(|&p| self.terms().sort_of(p)).collect()
    }

    /// The number of arguments of a predicate.
    pub fn arity(&self, predicate: PredicateId) -> usize {
        self.system.predicate(predicate).arity()
    }

    /// The outputs of a predicate.
    pub fn outputs(&self, predicate: PredicateId) -> &[usize] {
        &self.tables.outputs[predicate.index()]
    }

    /// Whether an argument of a slot is an output.
    pub fn is_output(&self, slots: &[PredicateId], column: Column) -> bool {
        let predicate = slots[usize::from(column.slot)];
        self.outputs(predicate).contains(&usize::from(column.arg))
    }

    /// The inputs of a predicate.
    pub fn inputs(&self, predicate: PredicateId) -> Vec<usize> {
        let outputs = self.outputs(predicate);
        let all = 0..self.arity(predicate);
        all.filter(|at| !outputs.contains(at)).collect()
    }

    /// The lemma for the log.
    pub fn show(&self, lemma: &Lemma) -> String {
        lemma.show(|p| self.system.predicate(p).name.clone())
    }

    /// Derives the facts for tests of lemmas that conclude facts, if datatypes have parts of other
    /// datatypes; otherwise these are the tables.
    pub fn enrich(&self, cx: &Context) {
        let terms = self.terms();
        let is_datatype = |sort: SortId| matches!(terms.sort(sort), Sort::Datatype(_));
        let is_rich = |sort: SortId| match terms.sort(sort) {
            Sort::Datatype(id) => {
                let datatype = terms.datatype(id);
                let mut fields = datatype.constructors.iter().flat_map(|c| &c.fields);
                fields.any(|field| field.sort != sort && is_datatype(field.sort))
            }
            _ => false,
        };
        let used = self.system.used_predicates();
        if used.iter().any(|&p| self.sorts(p).into_iter().any(is_rich)) {
            let rich = || Tables::of(self.system, &self.constants, true, cx);
            self.rich.get_or_init(rich);
        }
    }

    /// Whether all facts of the slots' predicates are as they are derived.
    fn has_tables(&self, slots: &[PredicateId]) -> bool {
        slots.iter().all(|&p| self.tables.knows(p))
    }

    /// Whether most small inputs that satisfy some literals over slot 0 have a fact in the tables.
    pub fn covers(&self, predicate: PredicateId, domain: &[Literal]) -> bool {
        let inputs = self.inputs(predicate);
        let key = |row: &[i64]| inputs.iter().map(|&at| row[at]).collect::<Vec<i64>>();
        let rows = self.tables.rows(predicate).iter();
        let known: FxHashSet<Vec<i64>> = rows.map(|row| key(row)).collect();
        let values: Vec<i64> = (-2..=4).collect();
        let lists = vec![values.as_slice(); inputs.len()];
        let (mut all, mut covered) = (0, 0);
        for_products(&lists, LIMITS.mode_products, |tuple| {
            let place = |at: u8| inputs.iter().position(|&input| input == usize::from(at));
            let value = |c: Column| place(c.arg).map(|at| tuple[at]);
            if domain.iter().all(|l| l.holds(&value) == Some(true)) {
                all += 1;
                covered += usize::from(known.contains(tuple));
            }
        });
        all > 0 && 4 * covered >= 3 * all
    }

    /// Positions of facts for a slot: the smallest half, and some of the others.
    fn sample(
        &self,
        predicate: PredicateId,
        slots: usize,
        slot: usize,
        seed: u64,
    ) -> Rc<Vec<usize>> {
        let key = (predicate, slots, slot, seed);
        if let Some(found) = self.samples.borrow().get(&key) {
            return found.clone();
        }
        let count = self.tables.rows(predicate).len();
        let most = LIMITS.samples[slots.min(7)];
        let chosen: Vec<usize> = match count <= most {
            true => (0..count).collect(),
            false => {
                let half = most / 2;
                let mut random = Random::new(100 * seed + slot as u64);
                let mut rest: Vec<usize> = (half..count).collect();
                for at in 0..most - half {
                    let other = at + random.below(rest.len() - at);
                    rest.swap(at, other);
                }
                rest.truncate(most - half);
                (0..half).chain(rest).collect()
            }
        };
        let chosen = Rc::new(chosen);
        self.samples.borrow_mut().insert(key, chosen.clone());
        chosen
    }

    /// Calls `visit` with tuples of facts that satisfy the premises, until it returns `false`.
    /// The result says whether it ended so.
    fn visit(
        &self,
        slots: &[PredicateId],
        premises: &[Literal],
        seed: u64,
        visit: &mut impl FnMut(&[&Row]) -> bool,
    ) -> bool {
        let samples: Vec<Rc<Vec<usize>>> = slots
            .iter()
            .enumerate()
            .map(|(slot, &p)| self.sample(p, slots.len(), slot, seed))
            .collect();
        let most = u32::MAX;
        self.visit_samples((&self.tables, &samples), slots, premises, most, visit)
    }

    /// The same for these facts of the slots; it ends after a number of steps, too.
    fn visit_samples(
        &self,
        (tables, samples): (&Tables, &[Rc<Vec<usize>>]),
        slots: &[PredicateId],
        premises: &[Literal],
        most: u32,
        visit: &mut impl FnMut(&[&Row]) -> bool,
    ) -> bool {
        // The premises that can be tested once the facts up to a slot are chosen.
        let mut tests: Vec<Vec<&Literal>> = vec![Vec::new(); slots.len()];
        for literal in premises {
            let last = literal.columns().iter().map(|c| usize::from(c.slot)).max();
            if let Some(last) = last {
                tests[last].push(literal);
            } else if literal.holds(&|_| None) == Some(false) {
                return false;
            }
        }
        let indexes: Vec<Option<Index>> = (0..slots.len())
            .map(|slot| {
                let key = tests[slot].iter().find_map(|literal| key(literal, slot))?;
                let mut positions: FxHashMap<i64, Vec<usize>> = FxHashMap::default();
                for &row in &*samples[slot] {
                    let value = tables.rows(slots[slot])[row][key.own];
                    positions.entry(value).or_default().push(row);
                }
                Some(Index { key, positions })
            })
            .collect();
        // For each slot, the facts that go with those of the slots before, and how many were tried.
        let mut rows: Vec<&[usize]> = vec![&[]; slots.len()];
        let mut at = vec![0; slots.len()];
        let mut tuple: Vec<&Row> = Vec::with_capacity(slots.len());
        let mut steps: u32 = 0;
        let ended = loop {
            let depth = tuple.len();
            if depth == slots.len() {
                if !visit(&tuple) {
                    break true;
                }
                match tuple.pop() {
                    Some(_) => continue,
                    None => break false,
                }
            }
            if at[depth] == 0 {
                rows[depth] = match &indexes[depth] {
                    Some(index) => index.rows(&tuple),
                    None => &samples[depth],
                };
            }
            let Some(&row) = rows[depth].get(at[depth]) else {
                at[depth] = 0;
                match tuple.pop() {
                    Some(_) => continue,
                    None => break false,
                }
            };
            at[depth] += 1;
            steps += 1;
            if steps > most {
                break true;
            }
            tuple.push(&tables.rows(slots[depth])[row]);
            let value = |c: Column| Some(tuple[usize::from(c.slot)][usize::from(c.arg)]);
            if tests[depth].iter().any(|l| l.holds(&value) == Some(false)) {
                tuple.pop();
            }
        };
        self.terms().charge(LIMITS.step_work * steps);
        ended
    }

    /// The seeds of the samples for this number of slots.
    fn seeds(slots: usize) -> u64 {
        if slots < 3 { 1 } else { 3 }
    }

    /// Whether no facts of the tables falsify a lemma.
    pub fn holds(&self, lemma: &Lemma) -> bool {
        if let Some(head) = &lemma.head {
            return self.concludes(lemma, head);
        }
        let count = lemma.slots.len();
        if count == 0 || count > LIMITS.slots || !lemma.is_plain() || !self.has_tables(&lemma.slots)
        {
            return true;
        }
        (0..Self::seeds(count)).all(|seed| {
            !self.visit(&lemma.slots, &lemma.premises, seed, &mut |tuple| {
                let value = |c: Column| Some(tuple[usize::from(c.slot)][usize::from(c.arg)]);
                lemma
                    .conclusions
                    .iter()
                    .any(|l| l.holds(&value) != Some(false))
            })
        })
    }

    /// Whether a lemma that concludes a fact does so for facts of the tables: for no tuple it has no
    /// derivation, and for most it has one.
    fn concludes(&self, lemma: &Lemma, head: &Head) -> bool {
        if !self.has_tables(&lemma.slots) || lemma.slots.is_empty() {
            return false;
        }
        let (tests, support, is_false) = self.tested(lemma, head);
        !is_false && support >= LIMITS.fact_support && 4 * support >= 3 * tests
    }

    /// Whether facts of the tables falsify a lemma that concludes a fact.
    #[cfg(test)]
    pub fn is_falsified(&self, lemma: &Lemma) -> bool {
        let head = lemma.head.as_ref();
        head.is_some_and(|head| self.tested(lemma, head).2)
    }

    /// The number of tests of a lemma that concludes a fact, of those that confirm it, and whether one
    /// falsifies it.
    fn tested(&self, lemma: &Lemma, head: &Head) -> (usize, usize, bool) {
        let tables = self.rich.get().unwrap_or(&self.tables);
        // Small facts, so that joins find partners, and some others.
        let sample = |p: &PredicateId| {
            let count = tables.rows(*p).len();
            let small = count.min(LIMITS.fact_rows);
            let step = ((count - small) / (LIMITS.fact_rows / 2)).max(1);
            Rc::new(
                (0..small)
                    .chain((small..count).step_by(step))
                    .collect::<Vec<usize>>(),
            )
        };
        let samples: Vec<Rc<Vec<usize>>> = lemma.slots.iter().map(sample).collect();
        let (mut tests, mut support, mut is_false) = (0, 0, false);
        let visit = &mut |tuple: &[&Row]| {
            let value = |c: Column| tuple[usize::from(c.slot)][usize::from(c.arg)];
            let Some(values) = head.numbers(self.terms(), &value) else {
                return true;
            };
            if !lemma
                .premises
                .iter()
                .all(|l| l.is_true(self.terms(), &value))
            {
                return true;
            }
            tests += 1;
            match self.answers.is_fact(head.predicate, &values) {
                Some(true) => support += 1,
                Some(false) => is_false = true,
                None => {}
            }
            !is_false && tests < LIMITS.fact_tests
        };
        let most = LIMITS.fact_steps;
        self.visit_samples(
            (tables, &samples),
            &lemma.slots,
            &lemma.premises,
            most,
            visit,
        );
        (tests, support, is_false)
    }

    /// The number of tuples of facts that satisfy the premises, up to `most`.
    pub fn support(&self, lemma: &Lemma, most: usize) -> usize {
        if !lemma.is_plain() || !self.has_tables(&lemma.slots) {
            return most;
        }
        let mut found = 0;
        self.visit(&lemma.slots, &lemma.premises, 0, &mut |_| {
            found += 1;
            found < most
        });
        found
    }

    /// Tuples of facts that satisfy the premises, up to `most`, evenly chosen of all.
    pub fn tuples(
        &self,
        slots: &[PredicateId],
        premises: &[Literal],
        most: usize,
    ) -> Vec<Vec<i64>> {
        let mut found: Vec<Vec<i64>> = Vec::new();
        let (mut seen, mut every) = (0usize, 1usize);
        self.visit(slots, premises, 0, &mut |tuple| {
            if seen % every == 0 {
                found.push(tuple.iter().flat_map(|row| row.iter().copied()).collect());
                if found.len() >= 2 * most {
                    every *= 2;
                    let mut at = 0;
                    found.retain(|_| {
                        at += 1;
                        at % 2 == 1
                    });
                }
            }
            seen += 1;
            true
        });
        found.truncate(most.max(1));
        found
    }

    /// For each tuple of facts that violates all conclusions, which of the literals are false, as
    /// bits; without duplicates. `None` if there are no tables, or too many literals.
    pub fn violations(
        &self,
        slots: &[PredicateId],
        conclusions: &[Literal],
        literals: &[Literal],
    ) -> Option<Vec<u128>> {
        let count = slots.len();
        let plain = conclusions.iter().chain(literals).all(Literal::is_plain);
        if literals.len() > 128
            || !plain
            || count == 0
            || count > LIMITS.slots
            || !self.has_tables(slots)
        {
            return None;
        }
        let violated: Vec<Literal> = conclusions
            .iter()
            .map(|literal| literal.negated(self.terms()))
            .collect();
        let mut masks: FxHashSet<u128> = FxHashSet::default();
        for seed in 0..Self::seeds(count) {
            self.visit(slots, &violated, seed, &mut |tuple| {
                let value = |c: Column| Some(tuple[usize::from(c.slot)][usize::from(c.arg)]);
                let mut mask = 0;
                for (at, literal) in literals.iter().enumerate() {
                    if literal.holds(&value) == Some(false) {
                        mask |= 1 << at;
                    }
                }
                masks.insert(mask);
                true
            });
        }
        let mut masks: Vec<u128> = masks.into_iter().collect();
        masks.sort_unstable();
        Some(masks)
    }
}
