//! BatSat, a port of MiniSat to Rust.
//!
//! Invariant: BatSat's variable of a literal has the literal's number.

use batsat::{Callbacks, SolverInterface, lbool};

use super::{Answer, Limit, Lit, SatSolver};
use alphorn_term::run::Budget;

impl Callbacks for Limit {
    fn stop(&self) -> bool {
        self.decide()
    }
}

/// BatSat with a budget.
pub struct BatSat {
    solver: batsat::Solver<Limit>,
    buffer: Vec<batsat::Lit>,
}

impl BatSat {
    /// A solver without clauses; its calls end with the budget.
    pub fn new(budget: &Budget) -> BatSat {
        let options = batsat::SolverOpts::default();
        BatSat {
            solver: batsat::Solver::new(options, Limit::new(budget)),
            buffer: Vec::new(),
        }
    }
}

fn inner(literal: Lit) -> batsat::Lit {
    let variable = batsat::Var::unsafe_from_idx(literal.variable());
    batsat::Lit::new(variable, !literal.is_negated())
}

impl SatSolver for BatSat {
    fn new_defined(&mut self, defined: bool) -> Lit {
        let variable = self.solver.new_var(lbool::UNDEF, !defined);
        Lit::new(variable.idx(), false)
    }

    fn add_clause(&mut self, clause: &[Lit]) {
        self.buffer.clear();
        self.buffer.extend(clause.iter().map(|&l| inner(l)));
        self.solver.add_clause_reuse(&mut self.buffer);
    }

    fn solve(&mut self, assumptions: &[Lit]) -> Answer {
        self.buffer.clear();
        self.buffer.extend(assumptions.iter().map(|&l| inner(l)));
        self.solver.cb().begin();
        match self.solver.solve_limited(&self.buffer) {
            answer if answer == lbool::TRUE => Answer::Sat,
            answer if answer == lbool::FALSE => Answer::Unsat,
            _ => Answer::Stopped,
        }
    }

    fn holds(&self, literal: Lit) -> bool {
        self.solver.value_lit(inner(literal)) == lbool::TRUE
    }

    fn in_core(&self, assumption: Lit) -> bool {
        // BatSat keeps the clause that the assumptions contradict, with negated assumptions.
        self.solver.unsat_core_contains_lit(inner(!assumption))
    }
}
