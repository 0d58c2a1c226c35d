//! Quantifiers over predicates that are no quantifiers of a clause: `exists` in a head, `forall` in a
//! body.
//!
//! Equations determine the variables of an `exists`, or no atom has them; Boolean variables are
//! expanded. Another `exists` becomes one instance, at a bound of its variable if it has one. A
//! `forall` in a body becomes instances at the index terms of the clause.
//!
//! Invariant: the result is equivalent, but for instances, which make the clause stronger and are
//! recorded ([`Clauses::is_stronger`](super::clauses::Clauses::is_stronger)).

use rustc_hash::{FxHashMap, FxHashSet};

use super::clauses::{Blame, Clausifier, Conjunction, Literals};
use super::formula::{Formula, FormulaId, List, Value};
use super::lexer::{Sym, TokenId};
use crate::limits::LIMITS;
use alphorn_term::{Op, Rational, SortId, TermId, TermStore};
use num_traits::{One, Signed, Zero};

impl Clausifier<'_> {
    /// A copy of a quantifier with fresh variables, and its body.
    pub(super) fn copy(&mut self, id: FormulaId) -> Result<(FormulaId, Value), Blame> {
        let (copy, nodes) = self.formulas.copy(id);
        self.parts += nodes;
        self.count(self.formulas.token(id))?;
        match self.formulas.formula(copy) {
            Formula::Quantifier(_, _, body) => Ok((copy, body)),
            _ => Ok((copy, Value::Formula(copy))),
        }
    }

    /// Whether the variables of a quantifier have few values.
    pub(super) fn is_expandable(&self, variables: List) -> bool {
        let variables = self.formulas.variables(variables);
        let is_boolean = |&(_, v): &(Sym, TermId)| self.terms.sort_of(v) == SortId::BOOL;
        variables.len() <= LIMITS.max_expanded_booleans && variables.iter().all(is_boolean)
    }

    /// The conjunction or disjunction of a formula with all values of Boolean variables.
    pub(super) fn expanded(
        &mut self,
        universal: bool,
        variables: List,
        body: Value,
        token: TokenId,
    ) -> Result<Value, Blame> {
        let variables = self.formulas.variables(variables).to_vec();
        let mut cases = Vec::new();
        for values in 0..1u32 << variables.len() {
            let value = |number: usize| match (values >> number) & 1 {
                0 => TermId::FALSE,
                _ => TermId::TRUE,
            };
            let map = variables.iter().enumerate().map(|(n, v)| (v.1, value(n)));
            let (case, nodes) = self.formulas.instance(body, map.collect());
            self.parts += nodes;
            self.count(token)?;
            cases.push(case);
        }
        Ok(match universal {
            true => self.formulas.and(&cases, token),
            false => self.formulas.or(&cases, token),
        })
    }

    /// An existential formula without this quantifier: equivalent if equations determine its
    /// variables, or if no atom has them. Otherwise the formula holds for one choice of the
    /// variables, which makes the clause stronger; `None` if there is none.
    pub(super) fn without_exists(&mut self, id: FormulaId) -> Result<Option<Value>, Blame> {
        let Formula::Quantifier(false, list, body) = self.formulas.formula(id) else {
            return Ok(None);
        };
        let token = self.formulas.token(id);
        let variables = self.formulas.variables(list).to_vec();
        let mut free: FxHashSet<TermId> = variables.iter().map(|v| v.1).collect();
        let mut conjuncts = Vec::new();
        let mut stack = vec![body];
        while let Some(part) = stack.pop() {
            match part {
                Value::Formula(id) => match self.formulas.formula(id) {
                    Formula::And(list) => stack.extend(self.formulas.values(list).iter().rev()),
                    _ => conjuncts.push(part),
                },
                Value::Term(term) => {
                    let terms = self.terms.conjuncts(term);
                    conjuncts.extend(terms.into_iter().map(Value::Term));
                }
                Value::Open(_) => conjuncts.push(part),
            }
        }
        let mut map: FxHashMap<TermId, TermId> = FxHashMap::default();
        let equations: Vec<TermId> = conjuncts
            .iter()
            .filter_map(|part| match part {
                Value::Term(term) if *self.terms.op(*term) == Op::Eq => Some(*term),
                _ => None,
            })
            .collect();
        // An equation with two variables may determine one after another equation has the other.
        let mut solves_more = true;
        while std::mem::take(&mut solves_more) && !free.is_empty() {
            self.parts += equations.len();
            self.count(token)?;
            for &equation in &equations {
                let equation = self.terms.substitute(equation, &map);
                let vars = self.terms.free_vars(&[equation]);
                let mut open = vars.into_iter().filter(|variable| free.contains(variable));
                // With a second variable in it, it does not determine the first one yet.
                let (Some(variable), None) = (open.next(), open.next()) else {
                    continue;
                };
                if let Some(term) = solved(self.terms, equation, variable) {
                    free.remove(&variable);
                    map.insert(variable, term);
                    solves_more = true;
                }
            }
        }
        self.parts += conjuncts.len();
        self.count(token)?;
        let (mut with, mut without) = self.divided(conjuncts, &map, &free);
        let has_predicate = |part: &Value| self.formulas.predicate_in(*part).is_some();
        if with.iter().any(has_predicate) {
            for &(_, variable) in &variables {
                if !free.remove(&variable) {
                    continue;
                }
                let Some(choice) = self.choice(variable, &with, &free) else {
                    return Ok(None);
                };
                let map = std::iter::once((variable, choice)).collect();
                let (open, closed) = self.divided(with, &map, &free);
                with = open;
                without.extend(closed);
            }
            self.count(token)?;
            self.is_stronger = true;
        }
        if !with.is_empty() {
            let left: Vec<(Sym, TermId)> = variables
                .into_iter()
                .filter(|(_, variable)| free.contains(variable))
                .collect();
            let rest = self.formulas.and(&with, token);
            let rest = self.formulas.quantifier(false, &left, rest, token);
            // Its variables are bound by another node, too.
            let (rest, _) = self.formulas.instance(rest, FxHashMap::default());
            without.push(rest);
        }
        Ok(Some(self.formulas.and(&without, token)))
    }

    /// The instances of parts for a map, those with variables in `free` first.
    fn divided(
        &mut self,
        parts: Vec<Value>,
        map: &FxHashMap<TermId, TermId>,
        free: &FxHashSet<TermId>,
    ) -> (Vec<Value>, Vec<Value>) {
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for part in parts {
            let (part, nodes) = self.formulas.instance(part, map.clone());
            self.parts += nodes;
            let terms = self.formulas.terms_in(part);
            let vars = self.terms.free_vars(&terms);
            match vars.iter().any(|v| free.contains(v)) {
                true => with.push(part),
                false => without.push(part),
            }
        }
        (with, without)
    }

    /// A value for an existential variable of a conjunction, without variables in `free`: the
    /// greatest of its lower bounds among the constraints, else the least of its upper bounds, else
    /// a value beside one that is excluded, else the default value of its sort.
    fn choice(
        &self,
        variable: TermId,
        parts: &[Value],
        free: &FxHashSet<TermId>,
    ) -> Option<TermId> {
        let terms = self.terms;
        let sort = terms.sort_of(variable);
        if sort != SortId::INT && sort != SortId::REAL {
            return terms.default_value(sort);
        }
        let (mut lower, mut upper, mut excluded) = (Vec::new(), Vec::new(), Vec::new());
        for part in parts {
            let Value::Term(literal) = *part else {
                continue;
            };
            let node = terms.node(literal);
            let (atom, negated) = match node.op {
                Op::Not => (node.args[0], true),
                _ => (literal, false),
            };
            let Some((side, positive)) = isolated(terms, atom, variable) else {
                continue;
            };
            if mentions(terms, side, free) {
                continue;
            }
            let beside = |up: bool| {
                let one = Rational::from_integer(if up { 1 } else { -1 }.into());
                terms.add(&[side, terms.number(&one, sort)])
            };
            match (terms.op(atom), negated) {
                (Op::Le | Op::Ge, _) => {
                    let is_upper = ((*terms.op(atom) == Op::Le) == positive) != negated;
                    let bound = if negated { beside(!is_upper) } else { side };
                    if is_upper { &mut upper } else { &mut lower }.push(bound);
                }
                (Op::Eq, true) => excluded.push(beside(true)),
                _ => {}
            }
        }
        let extreme = |bounds: Vec<TermId>, greatest: bool| {
            bounds.into_iter().reduce(|a, b| {
                let is_first = if greatest {
                    terms.ge(a, b)
                } else {
                    terms.le(a, b)
                };
                terms.ite(is_first, a, b)
            })
        };
        let found = extreme(lower, true).or_else(|| extreme(upper, false));
        let found = found.or_else(|| extreme(excluded, true));
        found.or_else(|| terms.default_value(sort))
    }

    /// Instances of the universal quantifiers of a body, at its index terms. The clause with them in
    /// place of the quantifiers implies the clause.
    pub(super) fn instances(&mut self, parts: &Conjunction) -> Result<Literals, Blame> {
        let mut roots = parts.constraints.clone();
        let atoms = parts.atoms.iter().chain(&parts.heads);
        for &atom in atoms.clone() {
            roots.extend(self.formulas.terms_in(Value::Formula(atom)));
        }
        let mut candidates: Vec<TermId> = Vec::new();
        let mut add = |term: TermId| {
            if !candidates.contains(&term) {
                candidates.push(term);
            }
        };
        let terms = self.terms;
        terms.post_order(&roots, |term| {
            if matches!(terms.op(term), Op::Select | Op::Store) {
                add(terms.node(term).args[1]);
            }
        });
        for &head in &parts.heads {
            if let Formula::Atom(_, list) = self.formulas.formula(head) {
                self.formulas
                    .arguments(list)
                    .iter()
                    .for_each(|&arg| add(arg));
            }
        }
        let mut literals = Literals::new();
        for universal in &parts.universals {
            let Value::Formula(id) = universal.value else {
                continue;
            };
            let Formula::Quantifier(_, list, body) = self.formulas.formula(id) else {
                continue;
            };
            let variables = self.formulas.variables(list).to_vec();
            let mut choices: Vec<Vec<TermId>> = vec![Vec::new()];
            for &(_, variable) in &variables {
                let sort = terms.sort_of(variable);
                let fitting = candidates.iter().filter(|c| terms.sort_of(**c) == sort);
                let mut fitting: Vec<TermId> = fitting.copied().collect();
                if fitting.is_empty() && sort == SortId::INT {
                    // Two neighbours are better than no instance, which would leave out the premise.
                    fitting = vec![terms.int(0), terms.int(1)];
                }
                let longer = |choice: &Vec<TermId>| {
                    let longer = fitting.iter().map(|&c| [&choice[..], &[c]].concat());
                    longer.collect::<Vec<_>>()
                };
                choices = choices.iter().flat_map(longer).collect();
                choices.truncate(LIMITS.max_instances);
            }
            for choice in choices {
                let map = variables.iter().map(|v| v.1).zip(choice).collect();
                let (instance, nodes) = self.formulas.instance(body, map);
                self.parts += nodes;
                self.count(self.formulas.token(id))?;
                literals.push((instance, universal.positive));
            }
        }
        self.is_stronger = true;
        Ok(literals)
    }
}

/// Whether a term has one of these variables.
fn mentions(terms: &TermStore, term: TermId, vars: &FxHashSet<TermId>) -> bool {
    terms.free_vars(&[term]).iter().any(|v| vars.contains(v))
}

/// The term `t` with `equation ⇔ variable = t`, without the variable; `None` if none is found.
fn solved(terms: &TermStore, equation: TermId, variable: TermId) -> Option<TermId> {
    let node = terms.node(equation);
    if node.op != Op::Eq {
        return None;
    }
    let sides = [(node.args[0], node.args[1]), (node.args[1], node.args[0])];
    let direct = sides.into_iter().find(|side| side.0 == variable);
    let term = match direct {
        Some((_, other)) => other,
        None => isolated(terms, equation, variable)?.0,
    };
    (!terms.free_vars(&[term]).contains(&variable)).then_some(term)
}

/// A comparison of numbers as one between the variable and the term that is returned; the second
/// value is false if its sides change places. `None` if the variable has another coefficient than
/// 1 and −1 over Int, or occurs elsewhere.
fn isolated(terms: &TermStore, comparison: TermId, variable: TermId) -> Option<(TermId, bool)> {
    let node = terms.node(comparison);
    let &[left, right] = &*node.args else {
        return None;
    };
    let sort = terms.sort_of(left);
    if !matches!(node.op, Op::Le | Op::Ge | Op::Eq) || terms.sort_of(variable) != sort {
        return None;
    }
    let (coefficient, rest) = terms.difference(left, right).split_off(variable);
    let is_unit = sort == SortId::REAL || coefficient.abs().is_one();
    if coefficient.is_zero() || !is_unit {
        return None;
    }
    let term = terms.from_linear(&rest.scaled(&-coefficient.recip()), sort);
    (!terms.free_vars(&[term]).contains(&variable)).then_some((term, coefficient.is_positive()))
}
