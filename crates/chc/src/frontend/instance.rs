//! Copies of formulas with terms for variables.
//!
//! Invariant: a copy shares no bound variable with another formula; the traversal is iterative.

use rustc_hash::{FxHashMap, FxHashSet};

use super::formula::{Formula, FormulaId, Formulas, Value};
use super::lexer::Sym;
use alphorn_term::TermId;

impl Formulas {
    /// The same formula with fresh variables for all its bound ones, and the number of its nodes.
    pub fn copy(&mut self, root: FormulaId) -> (FormulaId, usize) {
        let (copy, nodes) = self.instance(Value::Formula(root), FxHashMap::default());
        match copy {
            Value::Formula(copy) => (copy, nodes),
            _ => (root, nodes),
        }
    }

    /// The formula with terms for variables and with fresh variables for its bound ones, and the
    /// number of its nodes.
    pub fn instance(&mut self, root: Value, mut map: FxHashMap<TermId, TermId>) -> (Value, usize) {
        let mut order: Vec<Value> = Vec::new();
        let mut stack = vec![(root, false)];
        let mut seen: FxHashSet<Value> = FxHashSet::default();
        while let Some((value, done)) = stack.pop() {
            if done {
                order.push(value);
                continue;
            }
            if !seen.insert(value) {
                continue;
            }
            stack.push((value, true));
            stack.extend(self.parts(value).into_iter().map(|part| (part, false)));
        }
        let terms = self.terms.clone();
        for &value in &order {
            if let Value::Formula(id) = value
                && let Formula::Quantifier(_, list, _) = self.formula(id)
            {
                for &(_, variable) in self.variables(list) {
                    let fresh = terms.fresh_copy(variable);
                    map.insert(variable, fresh);
                }
            }
        }
        let mut copies: FxHashMap<Value, Value> = FxHashMap::default();
        for &value in &order {
            let copy = self.copy_node(value, &map, &copies);
            copies.insert(value, copy);
            // Lifted formulas come before the terms in which they occur.
            let of = self.lifted.iter().filter(|lifted| lifted.formula == value);
            if let Some(variable) = of.map(|lifted| lifted.variable).next() {
                let fresh = self.lift(copy);
                map.insert(variable, fresh);
            }
        }
        (copies[&root], order.len())
    }

    /// The terms in a value: those that are formulas, and the arguments of atoms.
    pub fn terms_in(&self, root: Value) -> Vec<TermId> {
        let mut found = Vec::new();
        let mut stack = vec![root];
        let mut seen: FxHashSet<Value> = FxHashSet::default();
        while let Some(value) = stack.pop() {
            if !seen.insert(value) {
                continue;
            }
            match value {
                Value::Term(term) => found.push(term),
                Value::Formula(id) => {
                    if let Formula::Atom(_, list) = self.formula(id) {
                        found.extend_from_slice(self.arguments(list));
                    }
                }
                Value::Open(_) => {}
            }
            stack.extend(self.parts(value));
        }
        found
    }

    /// The direct parts of a value, with the formulas that are lifted in it.
    fn parts(&self, value: Value) -> Vec<Value> {
        let lifted = |terms: &[TermId]| {
            let lifted = self.all_lifted_in(terms).into_iter();
            lifted.map(|lifted| lifted.formula).collect()
        };
        let id = match value {
            Value::Term(term) => return lifted(&[term]),
            Value::Formula(id) => id,
            Value::Open(_) => return Vec::new(),
        };
        match self.formula(id) {
            Formula::Atom(_, list) => lifted(self.arguments(list)),
            Formula::Not(inner) | Formula::Quantifier(_, _, inner) => vec![inner],
            Formula::And(list) | Formula::Or(list) => self.values(list).to_vec(),
            Formula::Ite(a, b, c) => vec![a, b, c],
            Formula::Equal(a, b) => vec![a, b],
        }
    }

    fn copy_node(
        &mut self,
        value: Value,
        map: &FxHashMap<TermId, TermId>,
        copies: &FxHashMap<Value, Value>,
    ) -> Value {
        let id = match value {
            Value::Term(term) => return Value::Term(self.terms.substitute(term, map)),
            Value::Open(_) => return value,
            Value::Formula(id) => id,
        };
        let token = self.token(id);
        let copy = |value: Value| copies.get(&value).copied().unwrap_or(value);
        match self.formula(id) {
            Formula::Atom(predicate, list) => {
                let arguments = self.arguments(list).iter();
                let arguments = arguments.map(|&arg| self.terms.substitute(arg, map));
                let arguments: Vec<TermId> = arguments.collect();
                self.atom(predicate, &arguments, token)
            }
            Formula::Not(inner) => self.not(copy(inner), token),
            Formula::And(list) => {
                let parts: Vec<Value> = self.values(list).iter().map(|&v| copy(v)).collect();
                self.and(&parts, token)
            }
            Formula::Or(list) => {
                let parts: Vec<Value> = self.values(list).iter().map(|&v| copy(v)).collect();
                self.or(&parts, token)
            }
            Formula::Ite(a, b, c) => self.ite(copy(a), copy(b), copy(c), token),
            Formula::Equal(a, b) => self.equal(copy(a), copy(b), token),
            Formula::Quantifier(universal, list, inner) => {
                let variables = self.variables(list).iter();
                let variables: Vec<(Sym, TermId)> = variables.map(|&(s, v)| (s, map[&v])).collect();
                self.quantifier(universal, &variables, copy(inner), token)
            }
        }
    }
}
