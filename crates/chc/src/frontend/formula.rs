//! Formulas with predicates and quantifiers, from which `clauses` makes clauses.
//!
//! A value without predicates and quantifiers is a term; any other one is a node here.
//!
//! Invariant: the structure of a node never changes, each variable is bound by one node, and a node
//! without predicates can be made a term ([`Formulas::lower`]).

use std::ops::Range;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::error::NotHorn;
use super::lexer::{Sym, TokenId};
use crate::PredicateId;
use crate::limits::LIMITS;
use alphorn_term::{Op, SortId, TermId, TermStore};

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
pub(super) struct FormulaId(u32);

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

struct Node {
    formula: Formula,
    /// Its first token.
    token: TokenId,
    /// The first atom in it, if there is one.
    predicate: Option<FormulaId>,
    /// The nesting of quantifiers.
    quantifiers: u32,
    /// The conjunctions of its disjunctive normal form and of that of its negation, as far as
    /// predicates make them differ; at most `MANY`.
    cases: Cases,
    /// Whether an atom occurs in it positively, and whether one occurs negatively.
    occurs: Occurs,
    /// The term of the node, if it was made.
    lowered: Option<TermId>,
    /// Whether its bound variables have become variables of a clause.
    stripped: bool,
    /// Whether its bound variables have become variables of an alternative of a disjunction.
    local: bool,
}

/// The number of cases of a formula and of its negation.
#[derive(Clone, Copy)]
struct Cases {
    positive: u32,
    negative: u32,
}

impl Cases {
    const ONE: Cases = Cases {
        positive: 1,
        negative: 1,
    };

    fn flipped(self) -> Cases {
        Cases {
            positive: self.negative,
            negative: self.positive,
        }
    }
}

/// More cases than are ever counted apart.
const MANY: u32 = 1 << 15;

fn sum(a: u32, b: u32) -> u32 {
    (a + b).min(MANY)
}

fn product(a: u32, b: u32) -> u32 {
    (a * b).min(MANY)
}

/// The polarities of the atoms of a formula, and those of quantifiers over atoms that are universal
/// in bodies: `forall` in positive position and `exists` in negative position.
#[derive(Clone, Copy, Default)]
struct Occurs {
    positive: bool,
    negative: bool,
    universal: bool,
    universal_in_negation: bool,
}

impl Occurs {
    fn flipped(self) -> Occurs {
        Occurs {
            positive: self.negative,
            negative: self.positive,
            universal: self.universal_in_negation,
            universal_in_negation: self.universal,
        }
    }

    fn with(self, other: Occurs) -> Occurs {
        Occurs {
            positive: self.positive || other.positive,
            negative: self.negative || other.negative,
            universal: self.universal || other.universal,
            universal_in_negation: self.universal_in_negation || other.universal_in_negation,
        }
    }

    fn both(self) -> Occurs {
        self.with(self.flipped())
    }
}

/// A predicate formula that is an argument of a term: a Boolean variable stands for it there.
struct Lifted {
    variable: TermId,
    formula: Value,
}

/// The formulas of one command.
pub(super) struct Formulas {
    terms: Rc<TermStore>,
    nodes: Vec<Node>,
    values: Vec<Value>,
    arguments: Vec<TermId>,
    variables: Vec<(Sym, TermId)>,
    lifted: Vec<Lifted>,
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
    fn all_lifted_in(&self, terms: &[TermId]) -> Vec<&Lifted> {
        if self.lifted.is_empty() {
            return Vec::new();
        }
        let free: FxHashSet<TermId> = self.terms.free_vars(terms).into_iter().collect();
        let lifted = self.lifted.iter();
        lifted.filter(|l| free.contains(&l.variable)).collect()
    }

    /// A lifted formula that occurs in the terms, if there is one.
    fn lifted_in(&self, terms: &[TermId]) -> Option<&Lifted> {
        self.all_lifted_in(terms).into_iter().next()
    }

    /// The cases of terms with lifted formulas.
    fn lifted_cases(&self, terms: &[TermId]) -> Cases {
        let lifted = self.all_lifted_in(terms);
        let cases = lifted.iter().fold(1, |cases, _| product(cases, 2));
        Cases {
            positive: cases,
            negative: cases,
        }
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

    /// The number of cases of a value or of its negation: see [`Node::cases`].
    pub fn cases(&self, value: Value, positive: bool) -> u32 {
        let cases = self.cases_of(value);
        match positive {
            true => cases.positive,
            false => cases.negative,
        }
    }

    fn cases_of(&self, value: Value) -> Cases {
        match value {
            Value::Formula(id) => self.nodes[id.0 as usize].cases,
            Value::Term(term) => self.lifted_cases(&[term]),
            Value::Open(_) => Cases::ONE,
        }
    }

    /// Whether an atom occurs negatively in the value, or in its negation.
    pub fn has_heads(&self, value: Value, positive: bool) -> bool {
        let occurs = self.occurs_in(value);
        match positive {
            true => occurs.negative,
            false => occurs.positive,
        }
    }

    /// Whether a quantifier over atoms in the value, or in its negation, is universal in bodies.
    pub fn has_universals(&self, value: Value, positive: bool) -> bool {
        let occurs = self.occurs_in(value);
        match positive {
            true => occurs.universal,
            false => occurs.universal_in_negation,
        }
    }

    fn occurs_in(&self, value: Value) -> Occurs {
        match value {
            Value::Formula(id) => self.nodes[id.0 as usize].occurs,
            Value::Term(term) => match self.lifted_in(&[term]) {
                Some(lifted) => self.occurs_in(lifted.formula).both(),
                None => Occurs::default(),
            },
            Value::Open(_) => Occurs::default(),
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

    fn count_cases(&self, formula: Formula, parts: &[Value]) -> Cases {
        // The cases of a disjunction; parts without predicates are one case.
        let disjunction = |one: fn(Cases) -> Cases| {
            let mut cases = Cases {
                positive: 0,
                negative: 1,
            };
            let mut free = 0;
            for &part in parts {
                if self.predicate_in(part).is_none() {
                    free = 1;
                    continue;
                }
                let part = one(self.cases_of(part));
                cases.positive = sum(cases.positive, part.positive);
                cases.negative = product(cases.negative, part.negative);
            }
            cases.positive = sum(cases.positive, free);
            cases
        };
        match (formula, parts) {
            (Formula::Atom(_, list), _) => self.lifted_cases(self.arguments(list)),
            (Formula::Not(inner), _) => self.cases_of(inner).flipped(),
            (Formula::Or(_), _) => disjunction(|part| part),
            (Formula::And(_), _) => disjunction(Cases::flipped).flipped(),
            (Formula::Quantifier(_, _, inner), _) => self.cases_of(inner),
            (Formula::Ite(c, a, b), _) => {
                let (c, a, b) = (self.cases_of(c), self.cases_of(a), self.cases_of(b));
                let cases = |a, b| sum(product(c.positive, a), product(c.negative, b));
                Cases {
                    positive: cases(a.positive, b.positive),
                    negative: cases(a.negative, b.negative),
                }
            }
            (Formula::Equal(a, b), _) => {
                let (a, b) = (self.cases_of(a), self.cases_of(b));
                let cases = |b: Cases| {
                    let both = product(a.positive, b.positive);
                    sum(both, product(a.negative, b.negative))
                };
                Cases {
                    positive: cases(b),
                    negative: cases(b.flipped()),
                }
            }
        }
    }

    fn occurrences(&self, formula: Formula, parts: &[Value]) -> Occurs {
        let parts = parts.iter().map(|&part| self.occurs_in(part));
        let all = parts.fold(Occurs::default(), Occurs::with);
        match formula {
            Formula::Atom(_, list) => {
                let atom = Occurs {
                    positive: true,
                    ..Occurs::default()
                };
                match self.lifted_in(self.arguments(list)) {
                    Some(lifted) => atom.with(self.occurs_in(lifted.formula).both()),
                    None => atom,
                }
            }
            Formula::Not(_) => all.flipped(),
            Formula::And(_) | Formula::Or(_) => all,
            Formula::Quantifier(universal, ..) => {
                let has_atoms = all.positive || all.negative;
                all.with(Occurs {
                    universal: universal && has_atoms,
                    universal_in_negation: !universal && has_atoms,
                    ..Occurs::default()
                })
            }
            Formula::Ite(condition, ..) => all.with(self.occurs_in(condition).both()),
            Formula::Equal(..) => all.both(),
        }
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
                    let fresh = terms.fresh_var(terms.var_name(variable), terms.sort_of(variable));
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
    let fresh = |v: TermId| terms.fresh_var(terms.var_name(v), terms.sort_of(v));
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
