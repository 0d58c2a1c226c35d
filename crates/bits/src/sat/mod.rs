//! Propositional satisfiability behind one trait.
//!
//! The solver is [`Solver`]: BatSat, a port of MiniSat to Rust. No other module names a SAT solver.
//!
//! Invariant: a call that ends within the budget answers `Sat` with an assignment or `Unsat` with a
//! core of the assumptions; another call answers `Stopped`. The clauses are kept in each case.

mod batsat;

use std::cell::Cell;
use std::ops::Not;
use std::time::Duration;

pub use self::batsat::BatSat as Solver;

use crate::limits::LIMITS;
use alphorn_term::run::Budget;

/// A propositional variable or its negation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Lit(u32);

impl Lit {
    /// The variable with this number, or its negation.
    pub fn new(variable: u32, negated: bool) -> Lit {
        Lit(2 * variable + u32::from(negated))
    }

    /// The number of the variable.
    pub fn variable(self) -> u32 {
        self.0 / 2
    }

    /// Whether it is a negated variable.
    pub fn is_negated(self) -> bool {
        self.0 % 2 == 1
    }

    /// The literal, negated if `negated`.
    #[must_use]
    pub fn xor(self, negated: bool) -> Lit {
        Lit(self.0 ^ u32::from(negated))
    }
}

impl Not for Lit {
    type Output = Lit;

    fn not(self) -> Lit {
        self.xor(true)
    }
}

/// The answer of a solver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The clauses and assumptions have a solution.
    Sat,
    /// The clauses and assumptions contradict each other.
    Unsat,
    /// The budget ended the call.
    Stopped,
}

/// An incremental SAT solver.
pub trait SatSolver {
    /// A new variable, as a positive literal.
    fn new_literal(&mut self) -> Lit {
        self.new_defined(false)
    }

    /// A new variable, as a positive literal. If it is `defined`, propagation gives it a value in
    /// each assignment of the variables that are not, so that the solver need not decide it.
    fn new_defined(&mut self, defined: bool) -> Lit;

    /// Adds a clause permanently; the empty clause is `false`.
    fn add_clause(&mut self, clause: &[Lit]);

    /// Whether the clauses have a solution in which the assumptions hold.
    fn solve(&mut self, assumptions: &[Lit]) -> Answer;

    /// Whether a literal holds in the solution, after `Sat`.
    fn holds(&self, literal: Lit) -> bool;

    /// Whether an assumption of the last call is in the core, after `Unsat`: the assumptions of the
    /// core contradict the clauses.
    fn in_core(&self, assumption: Lit) -> bool;
}

/// The work of a decision and its propagations.
const DECISION_WORK: Duration = Duration::from_micros(2);

/// The work of a call without decisions.
const CALL_WORK: Duration = Duration::from_micros(10);

/// Ends calls with the budget and counts their work.
struct Limit {
    budget: Budget,
    count: Cell<u32>,
    stopped: Cell<bool>,
}

impl Limit {
    fn new(budget: &Budget) -> Limit {
        Limit {
            budget: budget.clone(),
            count: Cell::new(0),
            stopped: Cell::new(false),
        }
    }

    /// Counts the beginning of a call.
    fn begin(&self) {
        self.budget.terms().charge(CALL_WORK);
    }

    /// Counts a decision; whether the call has to end.
    fn decide(&self) -> bool {
        let count = self.count.get() + 1;
        if count < LIMITS.decisions_per_check {
            self.count.set(count);
            return self.stopped.get();
        }
        self.count.set(0);
        self.budget
            .terms()
            .charge(DECISION_WORK * LIMITS.decisions_per_check);
        self.stopped.set(self.budget.is_spent());
        self.stopped.get()
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;
    use std::sync::Arc;

    use super::*;
    use alphorn_term::TermStore;

    fn solver() -> Solver {
        let budget = Budget::new(Rc::new(TermStore::new()), Arc::default(), false);
        Solver::new(&budget)
    }

    #[test]
    fn solutions_and_cores() {
        let mut solver = solver();
        let [a, b, c, d] = std::array::from_fn(|_| solver.new_literal());
        solver.add_clause(&[!a, b]);
        solver.add_clause(&[!b, c]);
        assert_eq!(solver.solve(&[a, d]), Answer::Sat);
        assert!(solver.holds(c) && solver.holds(d) && !solver.holds(!a));
        assert_eq!(solver.solve(&[d, a, !c]), Answer::Unsat);
        assert!(solver.in_core(a) && solver.in_core(!c) && !solver.in_core(d));
        assert_eq!(solver.solve(&[!c]), Answer::Sat);
        assert!(solver.holds(!a));
        solver.add_clause(&[a]);
        assert_eq!(solver.solve(&[!c]), Answer::Unsat);
        solver.add_clause(&[]);
        assert_eq!(solver.solve(&[]), Answer::Unsat);
    }

    /// One pigeon more than holes: exponential for resolution.
    #[test]
    fn a_call_ends_with_its_work() {
        const HOLES: usize = 12;
        let budget = Budget::new(Rc::new(TermStore::new()), Arc::default(), true);
        let mut solver = Solver::new(&budget.work(Duration::from_millis(20)));
        let sits: Vec<[Lit; HOLES]> = (0..=HOLES)
            .map(|_| std::array::from_fn(|_| solver.new_literal()))
            .collect();
        for (first, one) in sits.iter().enumerate() {
            solver.add_clause(one);
            for other in &sits[..first] {
                for (a, b) in one.iter().zip(other) {
                    solver.add_clause(&[!*a, !*b]);
                }
            }
        }
        assert_eq!(solver.solve(&[]), Answer::Stopped);
    }
}
