//! Constants and functions without definition: those that the text declares, and those of outermost
//! existential quantifiers over predicates. A function is a constant array: all functions between
//! sorts are arrays, and an application selects.
//!
//! SMT-LIB's meaning is that some value makes the text satisfiable. A constant is read as a variable
//! of each clause that mentions it, so a model of the clauses is one of the text for every value.
//! [`Problem::with_values`] gives the clauses for one value of each.
//!
//! Invariant: both imply the text, so only a model counts, and a refutation that does not depend on
//! the values (`Problem::is_stronger`).

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::formula::{Formula, FormulaId, Formulas, Value};
use super::problem::nested;
use super::{Disjunction, Problem, ProblemClause};
use crate::Atom;
use alphorn_term::{Printer, Sort, TermId, TermStore, quote_symbol};

/// A constant or function without definition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FreeConstant {
    /// The name in the text.
    pub name: String,
    /// The variable that stands for it in clauses; for a function of an array's sort, with an array
    /// for each but the last parameter.
    pub var: TermId,
    /// The sorts of a function's parameters as they are written in its declaration; none for a
    /// constant.
    pub parameters: Vec<String>,
    /// The sort as it is written in its declaration, which is the command at a position; `None` for
    /// a variable of a quantifier.
    pub declaration: Option<(String, usize)>,
    /// The command that defines it, if it has a value; empty for a variable of a quantifier.
    pub definition: Option<String>,
}

/// The outermost existential quantifier of a formula with predicates: its node, and the formula
/// below it.
pub(super) fn outermost_exists(
    formulas: &mut Formulas,
    value: Value,
) -> Option<(FormulaId, Value)> {
    formulas.predicate_in(value)?;
    let Value::Formula(id) = value else {
        return None;
    };
    match formulas.formula(id) {
        Formula::Quantifier(false, _, below) => Some((id, below)),
        Formula::Not(Value::Formula(inner)) => match formulas.formula(inner) {
            Formula::Quantifier(true, _, below) => {
                let token = formulas.token(inner);
                Some((inner, formulas.not(below, token)))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Adds the constants that occur in each clause to its variables; whether there are any.
pub(super) fn bind(
    terms: &TermStore,
    constants: &[FreeConstant],
    clauses: &mut [ProblemClause],
    disjunctions: &[Disjunction],
) -> bool {
    if constants.is_empty() {
        return false;
    }
    let names: FxHashMap<TermId, &str> =
        constants.iter().map(|c| (c.var, c.name.as_str())).collect();
    let mut any = false;
    for clause in clauses {
        let mut roots = vec![clause.constraint];
        let mut atoms: Vec<&Atom> = clause.body.iter().chain(&clause.head).collect();
        for at in nested(disjunctions, &clause.disjunctions) {
            for alternative in &disjunctions[at].alternatives {
                roots.push(alternative.constraint);
                atoms.extend(&alternative.body);
            }
        }
        roots.extend(atoms.iter().flat_map(|atom| &atom.args));
        let free = terms.free_vars(&roots);
        let own = free
            .iter()
            .filter_map(|var| Some(((*names.get(var)?).into(), *var)));
        let own: Vec<(Rc<str>, TermId)> = own.collect();
        any |= !own.is_empty();
        clause.vars.splice(0..0, own);
    }
    any
}

/// The value of a function, which is an array's value, for these arguments.
fn applied(terms: &TermStore, function: TermId, arguments: &[TermId]) -> TermId {
    let Some((&argument, rest)) = arguments.split_first() else {
        return function;
    };
    let (entries, default) = terms.array_value(function);
    let mut result = applied(terms, default, rest);
    for (index, element) in entries {
        let value = applied(terms, element, rest);
        result = terms.ite(terms.eq(argument, index), value, result);
    }
    result
}

impl Problem {
    /// Whether the clauses mention a constant that has no value.
    pub fn has_free_constants(&self) -> bool {
        self.constants.iter().any(|c| c.definition.is_none())
    }

    /// The commands that define constants, for a model.
    pub fn constant_definitions(&self) -> impl Iterator<Item = &str> {
        let definitions = self
            .constants
            .iter()
            .filter_map(|c| c.definition.as_deref());
        definitions.filter(|definition| !definition.is_empty())
    }

    /// The formulas without predicates that the text asserts of its constants alone.
    pub fn about_constants(&self) -> Vec<TermId> {
        let is_constant = |var: &TermId| self.constants.iter().any(|c| c.var == *var);
        let clauses = self.clauses.iter().filter(|clause| {
            clause.head.is_none()
                && clause.body.is_empty()
                && clause.disjunctions.is_empty()
                && !clause.vars.is_empty()
                && clause.vars.iter().all(|(_, var)| is_constant(var))
        });
        clauses
            .map(|clause| self.terms.not(clause.constraint))
            .collect()
    }

    /// The problem for these values of its constants, in their order.
    pub fn with_values(&self, values: &[TermId]) -> Problem {
        let terms = &self.terms;
        let mut problem = self.clone();
        let mut equations: FxHashMap<TermId, TermId> = FxHashMap::default();
        for (constant, &value) in problem.constants.iter_mut().zip(values) {
            equations.insert(constant.var, terms.eq(constant.var, value));
            if let Some((sort, _)) = &constant.declaration {
                let name = quote_symbol(&constant.name);
                let mut arguments = Vec::with_capacity(constant.parameters.len());
                let mut parameters = Vec::with_capacity(constant.parameters.len());
                let mut rest = terms.sort_of(constant.var);
                for (number, written) in constant.parameters.iter().enumerate() {
                    if let Sort::Array(index, element) = terms.sort(rest) {
                        let argument = format!("x!{number}");
                        parameters.push(format!("({argument} {written})"));
                        arguments.push(terms.var(&argument, index));
                        rest = element;
                    }
                }
                let parameters = parameters.join(" ");
                let body = Printer::new(terms).term(applied(terms, value, &arguments));
                let definition = format!("(define-fun {name} ({parameters}) {sort} {body})");
                constant.definition = Some(definition);
            } else {
                constant.definition = Some(String::new());
            }
        }
        for clause in &mut problem.clauses {
            let own = clause
                .vars
                .iter()
                .filter_map(|(_, var)| equations.get(var).copied());
            let mut conjuncts: Vec<TermId> = own.collect();
            conjuncts.push(clause.constraint);
            clause.constraint = terms.and(&conjuncts);
        }
        problem
    }
}
