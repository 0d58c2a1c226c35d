//! Whether facts have derivations, from the goal down to what it needs.
//!
//! A table has the facts that come up first; what it lacks may still be one. So a fact that a lemma
//! concludes is looked for by the clauses: the head is matched with the known arguments, equations are
//! solved, and body atoms are asked in turn, those with most known arguments first.
//!
//! Invariant: a fact that is found has a derivation. One that is refused has none, or a deep one. Where
//! a variable that nothing fixes may have a value outside of a small range, there is no verdict.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use super::literal::{number, value_of};
use super::plans::{Evaluator, Plan, Step};
use super::tables::{Row, small_values};
use alphorn_chc::{PredicateId, System};
use alphorn_term::SortId;

/// A predicate with the arguments that are known.
type Question = (PredicateId, Vec<Option<i64>>);

/// The plans of clauses, for the arguments of their heads that are known; `None` if a clause has none.
type Plans = FxHashMap<(usize, Vec<bool>), Option<Rc<Plan>>>;

/// Why there may be other answers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    /// There are none.
    No,
    /// Their derivations are deep.
    Deep,
    /// They were not looked for.
    Open,
}

/// The facts that answer a question.
#[derive(Clone)]
struct Answer {
    rows: Rc<Vec<Row>>,
    gap: Gap,
    depth: usize,
}

/// Looks for derivations.
pub struct Answers<'a> {
    system: &'a System,
    rules: Vec<Vec<usize>>,
    plans: RefCell<Plans>,
    known: RefCell<FxHashMap<Question, Answer>>,
    open: RefCell<FxHashSet<Question>>,
    evaluator: Evaluator<'a>,
    steps: Cell<usize>,
    /// Steps that are open; the recursion is as deep.
    nesting: Cell<usize>,
}

impl<'a> Answers<'a> {
    /// For the clauses of a system; `rules` are the positions of those that derive each predicate.
    pub fn new(system: &'a System, rules: Vec<Vec<usize>>) -> Self {
        Answers {
            system,
            rules,
            plans: RefCell::default(),
            known: RefCell::default(),
            open: RefCell::default(),
            evaluator: Evaluator {
                terms: &system.terms,
                work: Cell::new(0),
            },
            steps: Cell::new(0),
            nesting: Cell::new(0),
        }
    }

    /// Whether there is a fact with these arguments; `None` if that is not known.
    pub fn is_fact(&self, predicate: PredicateId, values: &[i64]) -> Option<bool> {
        self.steps.set(0);
        let pattern = values.iter().map(|&v| Some(v)).collect();
        let answer = self.answer((predicate, pattern), LIMITS.answer_depth);
        let work = u32::try_from(self.evaluator.work.take() + self.steps.get()).unwrap_or(u32::MAX);
        self.system.terms.charge(LIMITS.step_work * work);
        match (answer.rows.is_empty(), answer.gap) {
            (false, _) => Some(true),
            (true, Gap::No | Gap::Deep) => Some(false),
            (true, Gap::Open) => None,
        }
    }

    /// The facts that answer a question; the recursion is as deep as derivations may be.
    fn answer(&self, question: Question, depth: usize) -> Answer {
        if let Some(found) = self.known.borrow().get(&question)
            && (found.gap == Gap::No || found.depth >= depth)
        {
            return found.clone();
        }
        let none = |gap| Answer {
            rows: Rc::default(),
            gap,
            depth,
        };
        if self.steps.get() > LIMITS.answer_steps {
            return none(Gap::Open);
        }
        // A question below itself has no other answers; those of the questions between are not kept.
        if depth == 0 || !self.open.borrow_mut().insert(question.clone()) {
            return none(Gap::Deep);
        }
        let (predicate, pattern) = &question;
        let is_closed = pattern.iter().all(Option::is_some);
        let mut rows: Vec<Row> = Vec::new();
        let mut gap = Gap::No;
        for &rule in &self.rules[predicate.index()] {
            let Some(plan) = self.plan(rule, pattern) else {
                gap = Gap::Open;
                continue;
            };
            let mut values = vec![0; plan.vars.len()];
            let mut is_consistent = true;
            let mut given: Vec<Option<i64>> = vec![None; plan.vars.len()];
            for (&at, value) in plan.head.1.iter().zip(pattern) {
                if let Some(value) = *value {
                    is_consistent &= given[at].is_none_or(|other| other == value);
                    given[at] = Some(value);
                    values[at] = value;
                }
            }
            if is_consistent {
                gap = gap.max(self.run(&plan, 0, &mut values, depth, &mut rows));
            }
            if is_closed && !rows.is_empty() {
                break;
            }
        }
        self.open.borrow_mut().remove(&question);
        rows.sort_unstable();
        rows.dedup();
        if rows.len() >= LIMITS.answers {
            gap = Gap::Open;
        }
        rows.truncate(LIMITS.answers);
        let answer = Answer {
            rows: Rc::new(rows),
            gap,
            depth,
        };
        self.known.borrow_mut().insert(question, answer.clone());
        answer
    }

    /// The plan of a clause for the known arguments of its head.
    fn plan(&self, rule: usize, pattern: &[Option<i64>]) -> Option<Rc<Plan>> {
        let bound: Vec<bool> = pattern.iter().map(Option::is_some).collect();
        let mut plans = self.plans.borrow_mut();
        let plan = plans.entry((rule, bound)).or_insert_with_key(|(_, bound)| {
            let clause = &self.system.clauses[rule];
            Plan::backward(self.system, clause, bound).map(Rc::new)
        });
        plan.clone()
    }

    /// Continues a plan within the limit of open steps.
    fn run(
        &self,
        plan: &Plan,
        at: usize,
        values: &mut [i64],
        depth: usize,
        rows: &mut Vec<Row>,
    ) -> Gap {
        let nesting = self.nesting.get();
        if nesting >= LIMITS.answer_nesting {
            return Gap::Open;
        }
        self.nesting.set(nesting + 1);
        let gap = self.step(plan, at, values, depth, rows);
        self.nesting.set(nesting);
        gap
    }

    /// Continues a plan at a step, and adds the facts that it ends with; why there may be others.
    fn step(
        &self,
        plan: &Plan,
        at: usize,
        values: &mut [i64],
        depth: usize,
        rows: &mut Vec<Row>,
    ) -> Gap {
        self.steps.set(self.steps.get() + 1);
        if self.steps.get() > LIMITS.answer_steps || rows.len() > LIMITS.answers {
            return Gap::Open;
        }
        let Some(step) = plan.steps.get(at) else {
            rows.push(plan.head.1.iter().map(|&arg| values[arg]).collect());
            return Gap::No;
        };
        match step {
            Step::Check(test) => match self.evaluator.test(test, plan, values) {
                Some(true) => self.run(plan, at + 1, values, depth, rows),
                Some(false) => Gap::No,
                None => Gap::Open,
            },
            Step::Set(var, expression) => match self.evaluator.value(expression, plan, values) {
                Some(value) => {
                    values[*var] = value;
                    self.run(plan, at + 1, values, depth, rows)
                }
                None => Gap::Open,
            },
            Step::Solve(var, rest, factor) => match self.evaluator.value(rest, plan, values) {
                Some(rest) if rest % factor == 0 => {
                    values[*var] = -rest / factor;
                    self.run(plan, at + 1, values, depth, rows)
                }
                Some(_) => Gap::No,
                None => Gap::Open,
            },
            Step::Open(from, pattern, fields) => {
                let terms = &self.system.terms;
                let value = value_of(terms, values[*from], terms.sort_of(plan.vars[*from]));
                if terms.op(value) != terms.op(*pattern) {
                    return Gap::No;
                }
                for (&field, &part) in fields.iter().zip(terms.args(value)) {
                    let Some(part) = number(terms, part) else {
                        return Gap::Open;
                    };
                    values[field] = part;
                }
                self.run(plan, at + 1, values, depth, rows)
            }
            Step::Range(var) => {
                let terms = &self.system.terms;
                let sort = terms.sort_of(plan.vars[*var]);
                let small = match sort {
                    SortId::INT => (-1..4).collect(),
                    SortId::BOOL => vec![0, 1],
                    _ => small_values(terms, sort, false),
                };
                let mut gap = match sort {
                    SortId::BOOL => Gap::No,
                    _ => Gap::Open,
                };
                for value in small {
                    values[*var] = value;
                    gap = gap.max(self.run(plan, at + 1, values, depth, rows));
                }
                gap
            }
            Step::Join {
                predicate,
                args,
                bound,
            } => {
                let mut pattern = vec![None; args.len()];
                for &position in bound {
                    pattern[position] = Some(values[args[position]]);
                }
                let answer = self.answer((*predicate, pattern), depth - 1);
                let mut gap = answer.gap;
                for row in answer.rows.iter() {
                    for (&arg, &value) in args.iter().zip(row.iter()) {
                        values[arg] = value;
                    }
                    gap = gap.max(self.run(plan, at + 1, values, depth, rows));
                }
                gap
            }
        }
    }
}
