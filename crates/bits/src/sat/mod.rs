//! Propositional satisfiability behind one trait.
//!
//! The solver is [`Solver`]: BatSat, a port of MiniSat to Rust, or CaDiCaL where the feature
//! `cadical` is on. Nothing else of the program names a SAT solver.
//!
//! Invariant: a call that comes to an end within the budget says `Sat` with a full assignment or
//! `Unsat` with a core of the assumptions; else it says `Stopped`, and the solver can go on.

#[cfg(not(feature = "cadical"))]
mod batsat;
#[cfg(feature = "cadical")]
mod cadical;

use std::cell::Cell;
use std::ops::Not;
use std::time::Duration;

#[cfg(not(feature = "cadical"))]
pub use self::batsat::BatSat as Solver;
#[cfg(feature = "cadical")]
pub use self::cadical::Cadical as Solver;

use alphorn_term::run::Budget;

/// A propositional variable or its negation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Lit(u32);

impl Lit {
    /// The variable of this number, or its negation.
    pub fn new(variable: u32, negated: bool) -> Lit {
        Lit(2 * variable + u32::from(negated))
    }

    /// The variable's number.
    pub fn variable(self) -> u32 {
        self.0 / 2
    }

    /// Whether this is a negation.
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

/// What a solver says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    Sat,
    Unsat,
    /// The budget is spent.
    Stopped,
}

/// An incremental solver for clauses.
pub trait SatSolver {
    /// A new variable, as a positive literal.
    fn new_literal(&mut self) -> Lit {
        self.new_defined(false)
    }

    /// A new variable, as a positive literal. One that is `defined` has a value by propagation in
    /// each assignment of those that are not, so nothing need be decided about it.
    fn new_defined(&mut self, defined: bool) -> Lit;

    /// Adds a disjunction for good; the empty one is `false`.
    fn add_clause(&mut self, clause: &[Lit]);

    /// Whether the clauses have a solution in which these literals hold.
    fn solve(&mut self, assumptions: &[Lit]) -> Answer;

    /// Whether a literal holds in the solution; after `Sat`.
    fn holds(&self, literal: Lit) -> bool;

    /// Whether an assumption is one of those that contradict the clauses together; after `Unsat`.
    fn in_core(&self, assumption: Lit) -> bool;
}

/// Nominal cost of a decision and what follows from it, as measured on clauses of a few thousand
/// gates.
const DECISION: Duration = Duration::from_micros(2);

/// Nominal cost of a call without decisions.
const CALL: Duration = Duration::from_micros(10);

/// How many decisions there are between two looks at the clock.
const PERIOD: u32 = 64;

/// Ends calls with the budget, and counts the work.
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

    /// A call begins.
    fn begin(&self) {
        self.budget.terms().charge(CALL);
    }

    /// A decision is made; whether the call ends here.
    fn decide(&self) -> bool {
        let count = self.count.get() + 1;
        if count < PERIOD {
            self.count.set(count);
            return self.stopped.get();
        }
        self.count.set(0);
        self.budget.terms().charge(DECISION * PERIOD);
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

    /// As many pigeons as holes and one: exponential for resolution.
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
