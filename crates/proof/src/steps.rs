//! Steps of runs of a linear system: clauses, and relations that were learned.
//!
//! Invariant: a step's formula is over its own variables, which occur in no other step; an instance
//! shares with others only the arguments of the places that it connects.

use rustc_hash::FxHashMap;

use alphorn_chc::{PredicateId, Reachability, System};
use alphorn_term::{SortId, TermId, TermStore};

/// The origin of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The index of a clause.
    Clause(usize),
    /// The index of a learned relation.
    Learned(usize),
}

/// A step from one fact to the next.
pub struct Step {
    /// The clause or learned relation.
    pub origin: Origin,
    /// The predicate before the step; `None` for an entry clause.
    pub from: Option<PredicateId>,
    /// The predicate after the step; `None` for a query.
    pub to: Option<PredicateId>,
    /// The constraint.
    pub formula: TermId,
    /// The arguments of `from`, those of `to`, then local variables.
    pub vars: Vec<TermId>,
    /// The number of arguments of `from`.
    pub first: usize,
    /// The number of arguments of `from` and `to` together.
    pub arguments: usize,
}

/// A step over variables of its own.
#[derive(Clone)]
pub struct Instance {
    /// The index among the steps.
    pub step: usize,
    /// The predicate before the step; `None` for an entry clause.
    pub from: Option<PredicateId>,
    /// The literal that puts the instance in force.
    pub literal: TermId,
    /// The constraint over the instance's variables.
    pub formula: TermId,
    /// The variables, in the order of the step's.
    pub vars: Vec<TermId>,
}

/// All steps: relevant clauses first, then learned relations, oldest first.
pub struct Steps {
    /// The steps.
    pub all: Vec<Step>,
    /// By predicate: steps from it that are not queries.
    outgoing: Vec<Vec<usize>>,
    /// By predicate: queries about it.
    queries: Vec<Vec<usize>>,
    /// Steps of entry clauses.
    pub entries: Vec<usize>,
    /// Queries without body atoms.
    pub constraints: Vec<usize>,
}

impl Steps {
    /// No steps, over this number of predicates.
    fn empty(predicates: usize) -> Steps {
        Steps {
            all: Vec::new(),
            outgoing: vec![Vec::new(); predicates],
            queries: vec![Vec::new(); predicates],
            entries: Vec::new(),
            constraints: Vec::new(),
        }
    }

    /// The clauses of a linear system that can take part in a derivation of `false`.
    pub fn new(system: &System, reachability: &Reachability) -> Steps {
        let mut steps = Steps::empty(system.predicates.len());
        for &index in reachability.clauses() {
            let clause = &system.clauses[index];
            let arguments = clause.atoms().map(|a| a.args.len()).sum();
            let first = clause.body.first().map_or(0, |a| a.args.len());
            steps.add(Step {
                origin: Origin::Clause(index),
                from: clause.body.first().map(|a| a.predicate),
                to: clause.head.as_ref().map(|a| a.predicate),
                formula: clause.constraint,
                vars: clause.vars(&system.terms),
                first,
                arguments,
            });
        }
        steps
    }

    /// The same steps from queries to entries.
    pub fn reversed(&self) -> Steps {
        let mut steps = Steps::empty(self.outgoing.len());
        for step in &self.all {
            let (arguments, locals) = step.vars.split_at(step.arguments);
            let (from, to) = arguments.split_at(step.first);
            steps.add(Step {
                origin: step.origin,
                from: step.to,
                to: step.from,
                formula: step.formula,
                vars: [to, from, locals].concat(),
                first: to.len(),
                arguments: step.arguments,
            });
        }
        steps
    }

    /// Adds a step; returns its index.
    pub fn add(&mut self, step: Step) -> usize {
        let index = self.all.len();
        match (step.from, step.to) {
            (Some(from), Some(_)) => self.outgoing[from.index()].push(index),
            (Some(from), None) => self.queries[from.index()].push(index),
            (None, Some(_)) => self.entries.push(index),
            (None, None) => self.constraints.push(index),
        }
        self.all.push(step);
        index
    }

    /// The steps from a predicate that are not queries, ascending.
    pub fn from(&self, predicate: PredicateId) -> &[usize] {
        &self.outgoing[predicate.index()]
    }

    /// The queries about a predicate, ascending.
    pub fn queries(&self, predicate: PredicateId) -> &[usize] {
        &self.queries[predicate.index()]
    }

    /// Whether the step is a learned relation.
    pub fn is_learned(&self, step: usize) -> bool {
        matches!(self.all[step].origin, Origin::Learned(_))
    }

    /// The predicates of steps, ascending.
    pub fn predicates(&self) -> Vec<PredicateId> {
        let mut found: Vec<PredicateId> = self
            .all
            .iter()
            .flat_map(|s| s.from.into_iter().chain(s.to))
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// An instance of a step with the given arguments, those of `from` first, and fresh variables
    /// for further arguments and local variables.
    pub fn instantiate(
        &self,
        terms: &TermStore,
        step: usize,
        literal: TermId,
        arguments: impl Iterator<Item = TermId>,
    ) -> Instance {
        let Step {
            vars,
            arguments: count,
            formula,
            from,
            ..
        } = &self.all[step];
        let (vars, formula) = fresh_copy(terms, vars, *formula, arguments.take(*count));
        Instance {
            step,
            from: *from,
            literal,
            formula,
            vars,
        }
    }
}

/// A formula with its first variables replaced by `first` and the others by fresh ones. Returns the
/// new variables in the order of the old ones, and the formula.
pub fn fresh_copy(
    terms: &TermStore,
    vars: &[TermId],
    formula: TermId,
    first: impl Iterator<Item = TermId>,
) -> (Vec<TermId>, TermId) {
    let mut own: Vec<TermId> = first.collect();
    let rest = &vars[own.len()..];
    own.extend(rest.iter().map(|&v| terms.fresh_copy(v)));
    let map: FxHashMap<TermId, TermId> = vars.iter().copied().zip(own.iter().copied()).collect();
    let formula = terms.substitute(formula, &map);
    (own, formula)
}

/// A fresh Boolean variable.
pub fn literal(terms: &TermStore, name: &str) -> TermId {
    terms.fresh_var(name, SortId::BOOL)
}
