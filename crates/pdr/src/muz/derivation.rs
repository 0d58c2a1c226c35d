//! Makes a derivation of the set of its facts: finds which clause derives which fact from which.
//!
//! Invariant: a step has only earlier steps as premises, and its values are from a model of its
//! clause in which the body atoms are the premises' facts.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use alphorn_chc::{ClauseIndex, PredicateId, System};
use alphorn_smt::{SatResult, Smt};
use alphorn_term::run::Context;
use alphorn_term::{Assignment, TermId};
use alphorn_witness::{Fact, Refutation, RefutationStep};

/// Orders ground facts into a derivation of `false`.
///
/// # Errors
/// The reason why there is none: a limit of the run, or facts that do not suffice.
pub(super) fn order(
    system: &System,
    smt: &Rc<Smt>,
    facts: Vec<(PredicateId, Vec<TermId>)>,
    cx: &Context,
) -> Result<Refutation, String> {
    let mut order = Order {
        system,
        smt,
        index: ClauseIndex::new(system),
        derived: FxHashMap::default(),
        steps: Vec::new(),
    };
    let mut open: Vec<Option<Fact>> = facts
        .into_iter()
        .map(|(predicate, values)| Some(Fact { predicate, values }))
        .collect();
    open.push(None);
    // Each round derives facts from those of earlier rounds: at most as many rounds as facts.
    loop {
        let before = order.steps.len();
        let mut rest = Vec::new();
        for goal in open {
            if cx.stop().is_some() {
                return Err(
                    "the time limit was reached while its facts were put in order".to_owned(),
                );
            }
            if order.derive(&goal)? {
                if goal.is_none() {
                    return Ok(Refutation { steps: order.steps });
                }
            } else {
                rest.push(goal);
            }
        }
        if order.steps.len() == before {
            return Err("its facts do not form a derivation".to_owned());
        }
        open = rest;
    }
}

struct Order<'a> {
    system: &'a System,
    smt: &'a Rc<Smt>,
    index: ClauseIndex,
    /// For each predicate, the steps that derive its facts.
    derived: FxHashMap<PredicateId, Vec<usize>>,
    steps: Vec<RefutationStep>,
}

impl Order<'_> {
    /// Adds a step that derives the goal (`None`: `false`) by one clause from derived facts.
    /// Returns whether there is one.
    fn derive(&mut self, goal: &Option<Fact>) -> Result<bool, String> {
        let terms = &self.system.terms;
        let clauses = match goal {
            Some(goal) => self.index.deriving(goal.predicate),
            None => self.index.queries(),
        };
        for &clause in clauses {
            let clause = &self.system.clauses[clause];
            let mut solver = self.smt.solver();
            solver.assert(clause.constraint);
            if let (Some(head), Some(goal)) = (&clause.head, goal) {
                for (&arg, &value) in head.args.iter().zip(&goal.values) {
                    solver.assert(terms.eq(arg, value));
                }
            }
            for atom in &clause.body {
                let steps = self.derived.get(&atom.predicate);
                let steps = steps.map(Vec::as_slice).unwrap_or_default();
                let cases: Vec<TermId> =
                    steps.iter().map(|&s| self.is_fact(s, &atom.args)).collect();
                solver.assert(terms.or(&cases));
            }
            if solver.check(&[]) != SatResult::Sat {
                continue;
            }
            let model = solver.model().ok_or("there is no model of a clause")?;
            let mut values = Assignment::default();
            for var in clause.vars(terms) {
                values.insert(var, model.value(var).map_err(|e| e.to_string())?);
            }
            let mut premises = Vec::new();
            for atom in &clause.body {
                let own: Vec<TermId> = atom.args.iter().map(|a| values[a]).collect();
                let steps = self.derived.get(&atom.predicate).into_iter().flatten();
                let premise = steps
                    .copied()
                    .find(|&s| self.steps[s].fact.as_ref().is_some_and(|f| f.values == own));
                premises.push(premise.ok_or("a model satisfies no fact of a body atom")?);
            }
            let fact = clause.head.as_ref().map(|head| Fact {
                predicate: head.predicate,
                values: head.args.iter().map(|a| values[a]).collect(),
            });
            if let Some(fact) = &fact {
                let known = self.derived.entry(fact.predicate).or_default();
                known.push(self.steps.len());
            }
            self.steps.push(RefutationStep {
                clause: clause.id,
                values,
                premises,
                fact,
            });
            return Ok(true);
        }
        Ok(false)
    }

    /// The formula that arguments are equal to those of a step's fact.
    fn is_fact(&self, step: usize, args: &[TermId]) -> TermId {
        let terms = &self.system.terms;
        let values = self.steps[step].fact.iter().flat_map(|f| &f.values);
        let pairs: Vec<TermId> = args
            .iter()
            .zip(values)
            .map(|(&a, &v)| terms.eq(a, v))
            .collect();
        terms.and(&pairs)
    }
}
