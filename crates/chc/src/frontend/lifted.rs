//! Formulas with predicates as arguments of terms: `(ite (p x) 1 2)`, `(q (p x))`.
//!
//! Invariant: a variable that stands for a formula occurs in terms of this command only, and a clause
//! with it is split into the cases that the formula holds and that it does not.

use rustc_hash::{FxHashMap, FxHashSet};

use super::formula::{Formula, Formulas, Value};
use alphorn_term::{SortId, TermId};

/// A predicate formula that is an argument of a term: a Boolean variable stands for it there.
pub(super) struct Lifted {
    pub variable: TermId,
    pub formula: Value,
}

impl Formulas {
    /// A fresh Boolean variable that stands for a formula with predicates as an argument of a term.
    pub fn lift(&mut self, formula: Value) -> TermId {
        let known = self.lifted.iter().find(|lifted| lifted.formula == formula);
        if let Some(known) = known {
            return known.variable;
        }
        let variable = self.terms.fresh_var("lifted", SortId::BOOL);
        self.lifted.push(Lifted { variable, formula });
        variable
    }

    /// The lifted formulas that occur in the terms.
    pub(super) fn all_lifted_in(&self, terms: &[TermId]) -> Vec<&Lifted> {
        if self.lifted.is_empty() {
            return Vec::new();
        }
        let free: FxHashSet<TermId> = self.terms.free_vars(terms).into_iter().collect();
        let lifted = self.lifted.iter();
        lifted.filter(|l| free.contains(&l.variable)).collect()
    }

    /// A lifted formula that occurs in the terms, if there is one.
    pub(super) fn lifted_in(&self, terms: &[TermId]) -> Option<&Lifted> {
        self.all_lifted_in(terms).into_iter().next()
    }

    /// The variable and the formula of a lifted formula in a term or atom, if there is one.
    pub fn lifted_of(&self, value: Value) -> Option<(TermId, Value)> {
        let found = match value {
            Value::Term(term) => self.lifted_in(&[term]),
            Value::Formula(id) => match self.formula(id) {
                Formula::Atom(_, list) => self.lifted_in(self.arguments(list)),
                _ => None,
            },
            Value::Open(_) => None,
        };
        found.map(|lifted| (lifted.variable, lifted.formula))
    }

    /// A term or atom with a value for the variable of a lifted formula.
    pub fn with_lifted(&mut self, value: Value, variable: TermId, meaning: TermId) -> Value {
        let map = FxHashMap::from_iter([(variable, meaning)]);
        match value {
            Value::Term(term) => Value::Term(self.terms.substitute(term, &map)),
            Value::Formula(id) => match self.formula(id) {
                Formula::Atom(predicate, list) => {
                    let arguments = self.arguments(list).iter();
                    let arguments = arguments.map(|&arg| self.terms.substitute(arg, &map));
                    let arguments: Vec<TermId> = arguments.collect();
                    self.atom(predicate, &arguments, self.token(id))
                }
                _ => value,
            },
            Value::Open(_) => value,
        }
    }
}
