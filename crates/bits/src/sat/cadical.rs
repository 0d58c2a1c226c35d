//! CaDiCaL, a SAT solver in C++.
//!
//! Invariant: CaDiCaL's variable of a literal has the literal's number plus one.

use std::rc::Rc;

use cadical_sys::{CaDiCal, Status, Terminator};
use rustc_hash::FxHashSet;

use super::{Answer, Limit, Lit, SatSolver};
use alphorn_term::run::Budget;

/// Ends calls with the budget.
struct End(Rc<Limit>);

impl Terminator for End {
    fn terminated(&mut self) -> bool {
        self.0.decide()
    }
}

/// CaDiCaL with a budget.
pub struct Cadical {
    solver: CaDiCal,
    limit: Rc<Limit>,
    variables: u32,
    /// The solution by variable, after `Sat`.
    values: Vec<bool>,
    /// The assumptions of the core, after `Unsat`.
    core: FxHashSet<Lit>,
}

impl Cadical {
    /// A solver without clauses; its calls end with the budget.
    pub fn new(budget: &Budget) -> Cadical {
        let limit = Rc::new(Limit::new(budget));
        let mut solver = CaDiCal::new();
        // With this option CaDiCaL would add variables, whose numbers would clash with ours.
        solver.set("factor", 0);
        solver.connect_terminator(End(limit.clone()));
        Cadical {
            solver,
            limit,
            variables: 0,
            values: Vec::new(),
            core: FxHashSet::default(),
        }
    }
}

fn inner(literal: Lit) -> i32 {
    let variable = i32::try_from(literal.variable() + 1).expect("fewer than 2^31 variables");
    if literal.is_negated() {
        -variable
    } else {
        variable
    }
}

impl SatSolver for Cadical {
    fn new_defined(&mut self, _: bool) -> Lit {
        self.variables += 1;
        Lit::new(self.variables - 1, false)
    }

    fn add_clause(&mut self, clause: &[Lit]) {
        for &literal in clause {
            self.solver.add(inner(literal));
        }
        self.solver.add(0);
    }

    fn solve(&mut self, assumptions: &[Lit]) -> Answer {
        self.limit.begin();
        for &assumption in assumptions {
            self.solver.assume(inner(assumption));
        }
        match self.solver.solve() {
            Status::SATISFIABLE => {
                let known = self.solver.vars().min(self.variables as i32);
                let mut values = std::mem::take(&mut self.values);
                values.clear();
                values.extend((1..=known).map(|v| self.solver.val(v) > 0));
                self.values = values;
                Answer::Sat
            }
            Status::UNSATISFIABLE => {
                self.core.clear();
                for &assumption in assumptions {
                    if self.solver.failed(inner(assumption)) {
                        self.core.insert(assumption);
                    }
                }
                Answer::Unsat
            }
            Status::UNKNOWN => Answer::Stopped,
        }
    }

    fn holds(&self, literal: Lit) -> bool {
        let value = self.values.get(literal.variable() as usize);
        value.copied().unwrap_or(false) != literal.is_negated()
    }

    fn in_core(&self, assumption: Lit) -> bool {
        self.core.contains(&assumption)
    }
}
