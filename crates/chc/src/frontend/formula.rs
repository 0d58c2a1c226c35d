//! Formulas with predicates and quantifiers, from which `clauses` makes clauses.
//!
//! A value without predicates and quantifiers is a term; any other one is a node here.
//!
//! Invariant: the structure of a node never changes, each variable is bound by one node, and a node
//! without predicates can be made a term ([`Formulas::lower`]).

use std::ops::Range;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::error::NotHorn;
use super::lexer::{Sym, TokenId};
use super::lifted::Lifted;
use super::polarity::{Cases, Occurs};
use crate::PredicateId;
use crate::limits::LIMITS;
use alphorn_term::{Op, TermId, TermStore};

/// The meaning of a term of the text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Value {
    Term(TermId),
    Formula(FormulaId),
    /// A constructor of a parametric datatype whose instance depends on the context.
    Open(u32),
}

impl Value {
    /// The formula `true`.
    pub const TRUE: Value = Value::Term(TermId::TRUE);
    /// The formula `false`.
    pub const FALSE: Value = Value::Term(TermId::FALSE);
}

/// A node of [`Formulas`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct FormulaId(pub(super) u32);

/// A range in one of the lists of [`Formulas`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct List(u32, u32);

impl List {
    fn range(self) -> Range<usize> {
        self.0 as usize..self.1 as usize
    }
}

/// A formula over values; terms among them are of sort Bool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Formula {
    Atom(PredicateId, List),
    Not(Value),
    And(List),
    Or(List),
    Ite(Value, Value, Value),
    Equal(Value, Value),
    /// Whether it is universal, its variables, its body.
    Quantifier(bool, List, Value),
}

pub(super) struct Node {
    formula: Formula,
    /// Its first token.
    token: TokenId,
    /// The first atom in it, if there is one.
    predicate: Option<FormulaId>,
    /// The nesting of quantifiers.
    quantifiers: u32,
    /// The conjunctions of its disjunctive normal form and of that of its negation, as far as
    /// predicates make them differ; at most `MANY`.
    pub cases: Cases,
    /// Whether an atom occurs in it positively, and whether one occurs negatively.
    pub occurs: Occurs,
    /// The term of the node, if it was made.
    lowered: Option<TermId>,
    /// Whether its bound variables have become variables of a clause.
    stripped: bool,
    /// Whether its bound variables have become variables of an alternative of a disjunction.
    local: bool,
}

/// The formulas of one command.
pub(super) struct Formulas {
    pub(super) terms: Rc<TermStore>,
    pub(super) nodes: Vec<Node>,
    values: Vec<Value>,
    arguments: Vec<TermId>,
    variables: Vec<(Sym, TermId)>,
    pub(super) lifted: Vec<Lifted>,
}

impl Formulas {
    /// No formulas.
    pub fn new(terms: Rc<TermStore>) -> Self {
        Formulas {
            terms,
            nodes: Vec::new(),
            values: Vec::new(),
            arguments: Vec::new(),
            variables: Vec::new(),
            lifted: Vec::new(),
        }
    }

    /// Removes all formulas.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.values.clear();
        self.arguments.clear();
        self.variables.clear();
        self.lifted.clear();
    }

    /// The structure of a node.
    pub fn formula(&self, id: FormulaId) -> Formula {
        self.nodes[id.0 as usize].formula
    }

    /// The first token of a node.
    pub fn token(&self, id: FormulaId) -> TokenId {
        self.nodes[id.0 as usize].token
    }

    /// The first atom in a value, if there is one.
    pub fn predicate_in(&self, value: Value) -> Option<FormulaId> {
        match value {
            Value::Formula(id) => self.nodes[id.0 as usize].predicate,
            Value::Term(term) => {
                let lifted = self.lifted_in(&[term])?;
                self.predicate_in(lifted.formula)
            }
            Value::Open(_) => None,
        }
    }

    /// The elements of a conjunction or disjunction.
    pub fn values(&self, list: List) -> &[Value] {
        &self.values[list.range()]
    }

    /// The arguments of an atom.
    pub fn arguments(&self, list: List) -> &[TermId] {
        &self.arguments[list.range()]
    }

    /// The variables of a quantifier.
    pub fn variables(&self, list: List) -> &[(Sym, TermId)] {
        &self.variables[list.range()]
    }

    /// A predicate applied to terms.
    pub fn atom(&mut self, predicate: PredicateId, arguments: &[TermId], token: TokenId) -> Value {
        let start = self.arguments.len() as u32;
        self.arguments.extend_from_slice(arguments);
        let list = List(start, self.arguments.len() as u32);
        self.add(Formula::Atom(predicate, list), token, &[])
    }

    /// Negation.
    pub fn not(&mut self, value: Value, token: TokenId) -> Value {
        match value {
            Value::Term(term) => Value::Term(self.terms.not(term)),
            Value::Formula(id) => match self.formula(id) {
                Formula::Not(inner) => inner,
                _ => self.add(Formula::Not(value), token, &[value]),
            },
            Value::Open(_) => value,
        }
    }

    /// Conjunction.
    pub fn and(&mut self, values: &[Value], token: TokenId) -> Value {
        self.junction(true, values, token)
    }

    /// Disjunction.
    pub fn or(&mut self, values: &[Value], token: TokenId) -> Value {
        self.junction(false, values, token)
    }

    fn junction(&mut self, conjunction: bool, values: &[Value], token: TokenId) -> Value {
        let terms: Option<Vec<TermId>> = values
            .iter()
            .map(|v| match v {
                Value::Term(term) => Some(*term),
                _ => None,
            })
            .collect();
        match (terms, values) {
            (Some(terms), _) if conjunction => Value::Term(self.terms.and(&terms)),
            (Some(terms), _) => Value::Term(self.terms.or(&terms)),
            (None, [only]) => *only,
            (None, _) => {
                let start = self.values.len() as u32;
                self.values.extend_from_slice(values);
                let list = List(start, self.values.len() as u32);
                let formula = if conjunction {
                    Formula::And(list)
                } else {
                    Formula::Or(list)
                };
                self.add(formula, token, values)
            }
        }
    }

    /// If-then-else between formulas.
    pub fn ite(
        &mut self,
        condition: Value,
        then: Value,
        otherwise: Value,
        token: TokenId,
    ) -> Value {
        let parts = [condition, then, otherwise];
        self.add(Formula::Ite(condition, then, otherwise), token, &parts)
    }

    /// Equivalence.
    pub fn equal(&mut self, left: Value, right: Value, token: TokenId) -> Value {
        match (left, right) {
            (Value::TRUE, other) | (other, Value::TRUE) => other,
            (Value::FALSE, other) | (other, Value::FALSE) => self.not(other, token),
            _ => self.add(Formula::Equal(left, right), token, &[left, right]),
        }
    }

    /// Quantification over variables that no other node binds.
    pub fn quantifier(
        &mut self,
        universal: bool,
        variables: &[(Sym, TermId)],
        body: Value,
        token: TokenId,
    ) -> Value {
        let start = self.variables.len() as u32;
        self.variables.extend_from_slice(variables);
        let list = List(start, self.variables.len() as u32);
        self.add(Formula::Quantifier(universal, list, body), token, &[body])
    }

    fn add(&mut self, formula: Formula, token: TokenId, parts: &[Value]) -> Value {
        let id = FormulaId(self.nodes.len() as u32);
        let is_atom = matches!(formula, Formula::Atom(..));
        let mut predicate = is_atom.then_some(id);
        let mut deepest = 0;
        for &part in parts {
            predicate = predicate.or_else(|| self.predicate_in(part));
            if let Value::Formula(id) = part {
                deepest = deepest.max(self.nodes[id.0 as usize].quantifiers);
            }
        }
        self.nodes.push(Node {
            formula,
            token,
            predicate,
            quantifiers: deepest + u32::from(matches!(formula, Formula::Quantifier(..))),
            cases: self.count_cases(formula, parts),
            occurs: self.occurrences(formula, parts),
            lowered: None,
            stripped: false,
            local: false,
        });
        Value::Formula(id)
    }

    /// Whether a node has been made a term.
    pub fn is_lowered(&self, id: FormulaId) -> bool {
        self.nodes[id.0 as usize].lowered.is_some()
    }

    /// Records that the variables of a quantifier have become variables of a clause.
    pub fn strip(&mut self, id: FormulaId) {
        self.nodes[id.0 as usize].stripped = true;
    }

    /// Whether the variables of a quantifier have become variables of a clause.
    pub fn is_stripped(&self, id: FormulaId) -> bool {
        self.nodes[id.0 as usize].stripped
    }

    /// Records that the variables of a quantifier belong to an alternative of a disjunction.
    pub fn make_local(&mut self, id: FormulaId) {
        self.nodes[id.0 as usize].stripped = true;
        self.nodes[id.0 as usize].local = true;
    }

    /// Whether the variables of a quantifier belong to an alternative of a disjunction.
    pub fn is_local(&self, id: FormulaId) -> bool {
        self.nodes[id.0 as usize].local
    }

    /// The variables and the body of a quantifier that has been made a term, with all bound variables
    /// renamed.
    pub fn open_lowered(&self, id: FormulaId) -> (Vec<(Sym, TermId)>, TermId) {
        let Formula::Quantifier(_, list, body) = self.formula(id) else {
            return (
                Vec::new(),
                self.nodes[id.0 as usize].lowered.unwrap_or(TermId::TRUE),
            );
        };
        let body = match body {
            Value::Formula(inner) => self.nodes[inner.0 as usize].lowered,
            Value::Term(term) => Some(term),
            Value::Open(_) => None,
        };
        let variables = self.variables(list);
        let plain: Vec<TermId> = variables.iter().map(|v| v.1).collect();
        let (renamed, body) = rename_bound(&self.terms, &plain, body.unwrap_or(TermId::TRUE));
        let names = variables.iter().map(|v| v.0);
        (names.zip(renamed).collect(), body)
    }

    /// The term of a value without predicates, of sort Bool.
    pub fn lower(&mut self, value: Value) -> Result<TermId, NotHorn> {
        let root = match value {
            Value::Term(term) => return Ok(term),
            Value::Formula(id) => id,
            Value::Open(_) => return Err(NotHorn::ConstraintExpected),
        };
        if self.nodes[root.0 as usize].quantifiers > LIMITS.max_quantifier_depth {
            return Err(NotHorn::QuantifierDepth(LIMITS.max_quantifier_depth));
        }
        let mut stack = vec![root];
        let mut parts: Vec<Value> = Vec::new();
        while let Some(&id) = stack.last() {
            if self.is_lowered(id) {
                stack.pop();
                continue;
            }
            let formula = self.formula(id);
            parts.clear();
            match formula {
                Formula::Atom(..) => return Err(NotHorn::ConstraintExpected),
                Formula::Not(inner) | Formula::Quantifier(_, _, inner) => parts.push(inner),
                Formula::And(list) | Formula::Or(list) => {
                    parts.extend_from_slice(self.values(list));
                }
                Formula::Ite(a, b, c) => parts.extend([a, b, c]),
                Formula::Equal(a, b) => parts.extend([a, b]),
            }
            let before = stack.len();
            let mut args = Vec::with_capacity(parts.len());
            for part in &parts {
                match *part {
                    Value::Term(term) => args.push(term),
                    Value::Formula(inner) => match self.nodes[inner.0 as usize].lowered {
                        Some(term) => args.push(term),
                        None => stack.push(inner),
                    },
                    Value::Open(_) => return Err(NotHorn::ConstraintExpected),
                }
            }
            if stack.len() > before {
                continue;
            }
            let terms = &self.terms;
            let term = match formula {
                Formula::Not(_) => terms.not(args[0]),
                Formula::And(_) => terms.and(&args),
                Formula::Or(_) => terms.or(&args),
                Formula::Ite(..) => terms.ite(args[0], args[1], args[2]),
                Formula::Equal(..) => terms.eq(args[0], args[1]),
                Formula::Quantifier(universal, list, _) => {
                    let variables = self.variables(list);
                    let mut bound: Vec<TermId> = variables.iter().map(|v| v.1).collect();
                    let mut body = args[0];
                    if self.nodes[id.0 as usize].stripped {
                        (bound, body) = rename_bound(terms, &bound, body);
                    }
                    if universal {
                        terms.forall(&bound, body)
                    } else {
                        terms.exists(&bound, body)
                    }
                }
                Formula::Atom(..) => return Err(NotHorn::ConstraintExpected),
            };
            self.nodes[id.0 as usize].lowered = Some(term);
            stack.pop();
        }
        self.nodes[root.0 as usize]
            .lowered
            .ok_or(NotHorn::ConstraintExpected)
    }
}

/// Fresh variables for `variables`, and `body` with them and with fresh bound variables.
fn rename_bound(terms: &TermStore, variables: &[TermId], body: TermId) -> (Vec<TermId>, TermId) {
    let fresh = |v: TermId| terms.fresh_copy(v);
    let mut memo: FxHashMap<TermId, TermId> = variables.iter().map(|&v| (v, fresh(v))).collect();
    let renamed = variables.iter().map(|v| memo[v]).collect();
    let mut order = Vec::new();
    terms.post_order(&[body], |term| order.push(term));
    for &term in &order {
        if let Op::Forall(bound) | Op::Exists(bound) = terms.op(term) {
            for &variable in bound {
                memo.insert(variable, fresh(variable));
            }
        }
    }
    let mut args = Vec::new();
    for term in order {
        if memo.contains_key(&term) {
            continue;
        }
        let node = terms.node(term);
        args.clear();
        args.extend(node.args.iter().map(|a| memo[a]));
        let result = match &node.op {
            Op::Forall(bound) => {
                let bound: Vec<TermId> = bound.iter().map(|v| memo[v]).collect();
                terms.forall(&bound, args[0])
            }
            Op::Exists(bound) => {
                let bound: Vec<TermId> = bound.iter().map(|v| memo[v]).collect();
                terms.exists(&bound, args[0])
            }
            _ if *args == *node.args => term,
            op => terms.rebuild(op, &args, node.sort),
        };
        memo.insert(term, result);
    }
    (renamed, memo.get(&body).copied().unwrap_or(body))
}
