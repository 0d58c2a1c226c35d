//! Quantifiers over predicates that are no quantifiers of a clause: `exists` in a head, `forall` in a
//! body.
//!
//! Equations determine the variables of an `exists`, or no atom has them; Boolean variables are
//! expanded. A `forall` in a body becomes instances at the index terms of the clause.
//!
//! Invariant: the result is equivalent, but for instances, which make the clause stronger and are
//! recorded ([`Clauses::is_stronger`](super::clauses::Clauses::is_stronger)).

use rustc_hash::{FxHashMap, FxHashSet};

use super::clauses::{Blame, Clausifier, Conjunction, Literals};
use super::formula::{Formula, FormulaId, List, Value};
use super::lexer::{Sym, TokenId};
use crate::limits::LIMITS;
use alphorn_term::{Op, SortId, TermId};

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

    /// An equivalent of an existential formula without this quantifier, if one is known: equations
    /// determine its variables, or no atom has them.
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
        for equation in equations {
            let sides = self.terms.node(equation).args.to_vec();
            for (variable, term) in [(sides[0], sides[1]), (sides[1], sides[0])] {
                let term = self.terms.substitute(term, &map);
                let mentions_bound = self.terms.free_vars(&[term]);
                if free.contains(&variable) && !mentions_bound.iter().any(|v| free.contains(v)) {
                    free.remove(&variable);
                    map.insert(variable, term);
                    break;
                }
            }
        }
        self.parts += conjuncts.len();
        self.count(token)?;
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for part in conjuncts {
            let (part, nodes) = self.formulas.instance(part, map.clone());
            self.parts += nodes;
            let terms = self.formulas.terms_in(part);
            let mentions = self.terms.free_vars(&terms);
            match mentions.iter().any(|v| free.contains(v)) {
                true => with.push(part),
                false => without.push(part),
            }
        }
        if with
            .iter()
            .any(|&part| self.formulas.predicate_in(part).is_some())
        {
            return Ok(None);
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
