//! From an assertion to Horn clauses.
//!
//! An assertion becomes obligations: implications from a body to a goal. A goal is decomposed at its
//! outermost connective, a body into atoms, constraints, existential variables and disjunctions. A
//! clause with at most `LIMITS.max_copied_cases` cases of its disjunctions is copied for each case;
//! so is one whose disjunctions have heads. Other disjunctions become [`Disjunction`]s.
//!
//! A universal quantifier over predicates in a body becomes instances, and so does an existential one
//! in a head that has no equivalent, which makes the clause stronger.
//!
//! Invariant: the conjunction of the clauses implies the assertion, and is equivalent to it unless
//! [`Clauses::is_stronger`]. A clause may have several heads here; see `complement`.

use rustc_hash::{FxHashMap, FxHashSet};

use super::error::NotHorn;
use super::formula::{Formula, FormulaId, Formulas, Value};
use super::lexer::{Sym, Symbols, TokenId};
use super::problem::{Alternative, Disjunction};
use crate::Atom;
use crate::limits::LIMITS;
use alphorn_term::{TermId, TermStore};

/// A clause with any number of heads, without its position in the text.
pub(super) struct GeneralClause {
    pub vars: Vec<(Sym, TermId)>,
    pub body: Vec<Atom>,
    pub constraint: TermId,
    /// Positions in the list of disjunctions.
    pub disjunctions: Vec<usize>,
    /// The heads and their tokens.
    pub heads: Vec<(Atom, TokenId)>,
}

/// The error of an assertion that is not Horn, and the connective that is its reason.
pub(super) type Blame = (TokenId, NotHorn);

/// A linked list, by the index of its first link; lists share their tails.
type Link = Option<u32>;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Obligation {
    body: Link,
    vars: Link,
    goal: Value,
}

/// The clauses of a command.
pub(super) struct Clauses {
    pub clauses: Vec<GeneralClause>,
    /// Whether they only imply the formula, since a quantifier has become instances.
    pub is_stronger: bool,
}

/// A conjunction of formulas, each of them positive or negated, taken apart.
#[derive(Default)]
pub(super) struct Conjunction {
    /// The quantifiers whose variables are existential in it.
    pub quantifiers: Vec<FormulaId>,
    /// Existential variables of constraints, renamed.
    pub renamed: Vec<(Sym, TermId)>,
    pub atoms: Vec<FormulaId>,
    /// Negated atoms.
    pub heads: Vec<FormulaId>,
    pub constraints: Vec<TermId>,
    pub branches: Vec<Branch>,
    /// Quantifiers over atoms that are universal.
    pub universals: Vec<Branch>,
}

/// A formula, or its negation, that is a disjunction over predicates.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Branch {
    pub value: Value,
    pub positive: bool,
}

/// Formulas that are asserted (`true`) or denied together.
pub(super) type Literals = Vec<(Value, bool)>;

/// Makes clauses of the formulas of one command.
pub(super) struct Clausifier<'a> {
    pub terms: &'a TermStore,
    pub formulas: &'a mut Formulas,
    /// The token of the command.
    command: TokenId,
    body_links: Vec<(Value, bool, Link)>,
    var_links: Vec<(FormulaId, Link)>,
    todo: Vec<Obligation>,
    /// All obligations so far: one that a `let` shares among heads is treated once.
    seen: FxHashSet<Obligation>,
    clauses: Vec<GeneralClause>,
    /// The disjunctions of the text so far.
    disjunctions: &'a mut Vec<Disjunction>,
    /// The positions of the disjunctions of this command.
    known: FxHashMap<Branch, usize>,
    names: &'a Symbols<'a>,
    /// Whether the clauses are stronger than the formula.
    pub(super) is_stronger: bool,
    max_copied_cases: u32,
    /// Parts of formulas visited so far.
    pub(super) parts: usize,
}

impl<'a> Clausifier<'a> {
    /// A clausifier for the formulas of this command.
    pub fn new(
        terms: &'a TermStore,
        formulas: &'a mut Formulas,
        disjunctions: &'a mut Vec<Disjunction>,
        names: &'a Symbols<'a>,
        command: TokenId,
    ) -> Self {
        Clausifier {
            terms,
            formulas,
            command,
            body_links: Vec::new(),
            var_links: Vec::new(),
            todo: Vec::new(),
            seen: FxHashSet::default(),
            clauses: Vec::new(),
            disjunctions,
            known: FxHashMap::default(),
            names,
            is_stronger: false,
            max_copied_cases: LIMITS.max_copied_cases,
            parts: 0,
        }
    }

    /// A clausifier that makes no disjunctions.
    pub fn with_copies_only(mut self) -> Self {
        self.max_copied_cases = u32::MAX;
        self
    }

    /// The clauses that are equivalent to `value`, or stronger.
    pub fn assertion(mut self, value: Value) -> Result<Clauses, Blame> {
        self.todo.push(Obligation {
            body: None,
            vars: None,
            goal: value,
        });
        self.run()
    }

    /// The clauses that are equivalent to `¬value`.
    pub fn query(mut self, value: Value) -> Result<Clauses, Blame> {
        let body = self.with_body(None, value, true);
        self.todo.push(Obligation {
            body,
            vars: None,
            goal: Value::FALSE,
        });
        self.run()
    }

    fn run(mut self) -> Result<Clauses, Blame> {
        while let Some(obligation) = self.todo.pop() {
            if self.seen.insert(obligation) {
                self.step(obligation)?;
            }
        }
        Ok(Clauses {
            clauses: self.clauses,
            is_stronger: self.is_stronger,
        })
    }

    pub(super) fn count(&mut self, token: TokenId) -> Result<(), Blame> {
        self.parts += 1;
        if self.parts > LIMITS.max_clause_parts {
            return Err((token, NotHorn::TooManyClauses));
        }
        Ok(())
    }

    fn with_body(&mut self, body: Link, value: Value, positive: bool) -> Link {
        self.body_links.push((value, positive, body));
        Some(self.body_links.len() as u32 - 1)
    }

    fn step(&mut self, obligation: Obligation) -> Result<(), Blame> {
        let Obligation { body, vars, goal } = obligation;
        let id = match goal {
            Value::TRUE => return Ok(()),
            Value::Formula(id) if self.formulas.predicate_in(goal).is_some() => id,
            _ => {
                let body = self.with_body(body, goal, false);
                return self.finish(body, vars);
            }
        };
        let token = self.formulas.token(id);
        self.count(token)?;
        match self.formulas.formula(id) {
            Formula::Atom(..) => {
                let body = self.with_body(body, goal, false);
                self.finish(body, vars)
            }
            Formula::Not(inner) => {
                let body = self.with_body(body, inner, true);
                self.finish(body, vars)
            }
            Formula::And(list) => {
                let goals = self.formulas.values(list);
                let goals = goals.iter().rev();
                self.todo
                    .extend(goals.map(|&goal| Obligation { body, vars, goal }));
                Ok(())
            }
            Formula::Or(list) => {
                let mut body = body;
                let mut positive = None;
                let mut stack: Vec<Value> =
                    self.formulas.values(list).iter().rev().copied().collect();
                while let Some(part) = stack.pop() {
                    self.count(token)?;
                    let inner = match part {
                        // The disjunction is valid.
                        Value::TRUE => return Ok(()),
                        Value::Formula(id) if self.formulas.predicate_in(part).is_some() => id,
                        _ => {
                            body = self.with_body(body, part, false);
                            continue;
                        }
                    };
                    match self.formulas.formula(inner) {
                        Formula::Not(negated) => body = self.with_body(body, negated, true),
                        Formula::Or(list) => {
                            stack.extend(self.formulas.values(list).iter().rev());
                        }
                        _ if positive.is_none() => positive = Some(part),
                        _ => body = self.with_body(body, part, false),
                    }
                }
                match positive {
                    None => self.finish(body, vars),
                    Some(goal) => {
                        self.todo.push(Obligation { body, vars, goal });
                        Ok(())
                    }
                }
            }
            Formula::Ite(condition, then, otherwise) => {
                let negative = self.with_body(body, condition, false);
                let positive = self.with_body(body, condition, true);
                let branch = |body, goal| Obligation { body, vars, goal };
                self.todo
                    .extend([branch(negative, otherwise), branch(positive, then)]);
                Ok(())
            }
            Formula::Equal(left, right) => {
                let from_right = self.with_body(body, right, true);
                let from_left = self.with_body(body, left, true);
                let implication = |body, goal| Obligation { body, vars, goal };
                self.todo
                    .extend([implication(from_right, left), implication(from_left, right)]);
                Ok(())
            }
            Formula::Quantifier(true, _, inner) => {
                let (id, inner) = match self.formulas.is_local(id) {
                    true => self.copy(id)?,
                    false => (id, inner),
                };
                self.formulas.strip(id);
                self.var_links.push((id, vars));
                let vars = Some(self.var_links.len() as u32 - 1);
                self.todo.push(Obligation {
                    body,
                    vars,
                    goal: inner,
                });
                Ok(())
            }
            Formula::Quantifier(false, list, below) if self.is_expandable(list) => {
                let goal = self.expanded(false, list, below, token)?;
                self.todo.push(Obligation { body, vars, goal });
                Ok(())
            }
            Formula::Quantifier(false, ..) => match self.without_exists(id)? {
                Some(goal) => {
                    self.todo.push(Obligation { body, vars, goal });
                    Ok(())
                }
                None => Err((token, NotHorn::ExistsInHead)),
            },
        }
    }

    /// Makes the clause of a body, or obligations for its cases.
    fn finish(&mut self, body: Link, vars: Link) -> Result<(), Blame> {
        let mut literals: Literals = Vec::new();
        let mut link = body;
        while let Some(index) = link {
            let (value, positive, next) = self.body_links[index as usize];
            literals.push((value, positive));
            link = next;
        }
        let mut outer: Vec<FormulaId> = Vec::new();
        let mut link = vars;
        while let Some(index) = link {
            let (id, next) = self.var_links[index as usize];
            outer.push(id);
            link = next;
        }
        outer.reverse();
        let outer_set: FxHashSet<FormulaId> = outer.iter().copied().collect();
        let parts = self.conjunction(literals, Some(&outer_set))?;
        // Quantifiers in branches come to light when the branches are split.
        let has_heads = |b: &Branch| {
            self.formulas.has_heads(b.value, b.positive)
                || self.formulas.has_universals(b.value, b.positive)
        };
        if !parts.universals.is_empty() && !parts.branches.iter().any(has_heads) {
            let instances = self.instances(&parts)?;
            return self.cases(&outer, &parts, None, vec![instances]);
        }
        if parts.branches.is_empty() {
            return self.clause(&outer, parts);
        }
        let cases = parts.branches.iter().fold(1u32, |cases, branch| {
            cases.saturating_mul(self.formulas.cases(branch.value, branch.positive))
        });
        let copied = match parts.branches.iter().position(has_heads) {
            None if cases <= self.max_copied_cases => Some(0),
            with_heads => with_heads,
        };
        match copied {
            Some(branch) => {
                let cases = self.alternatives(parts.branches[branch]);
                self.cases(&outer, &parts, Some(branch), cases)
            }
            None => self.clause(&outer, parts),
        }
    }

    /// Takes a conjunction apart. `outer` are the quantifiers whose variables are those of the
    /// clause; `None` in an alternative of a disjunction.
    fn conjunction(
        &mut self,
        literals: Literals,
        outer: Option<&FxHashSet<FormulaId>>,
    ) -> Result<Conjunction, Blame> {
        let mut found = Conjunction::default();
        let mut stack = literals;
        let mut seen: FxHashSet<(FormulaId, bool)> = FxHashSet::default();
        while let Some((value, positive)) = stack.pop() {
            let has_predicate = self.formulas.predicate_in(value).is_some();
            let id = match value {
                Value::Term(term) => {
                    self.count(self.command)?;
                    if has_predicate {
                        found.branches.push(Branch { value, positive });
                        continue;
                    }
                    let term = if positive { term } else { self.terms.not(term) };
                    found.constraints.push(term);
                    continue;
                }
                Value::Formula(id) => id,
                Value::Open(_) => continue,
            };
            let formula = self.formulas.formula(id);
            // A part that a `let` shares is treated once: p ∧ p is p, and ∃x φ ∧ ∃x φ is ∃x φ.
            if !seen.insert((id, positive)) {
                continue;
            }
            let token = self.formulas.token(id);
            self.count(token)?;
            match formula {
                Formula::Atom(..) if self.formulas.lifted_of(value).is_some() => {
                    found.branches.push(Branch { value, positive });
                }
                Formula::Atom(..) if positive => found.atoms.push(id),
                Formula::Atom(..) => found.heads.push(id),
                Formula::Not(inner) => stack.push((inner, !positive)),
                Formula::And(list) if positive => {
                    let parts = self.formulas.values(list).iter().rev();
                    stack.extend(parts.map(|&v| (v, true)));
                }
                Formula::Or(list) if !positive => {
                    let parts = self.formulas.values(list).iter().rev();
                    stack.extend(parts.map(|&v| (v, false)));
                }
                Formula::Quantifier(universal, _, _) if universal != positive => {
                    let taken = self.formulas.is_local(id)
                        || match outer {
                            Some(outer) => outer.contains(&id),
                            None => self.formulas.is_stripped(id),
                        };
                    if self.formulas.is_lowered(id) {
                        let (vars, term) = self.formulas.open_lowered(id);
                        found.renamed.extend(vars);
                        let term = if positive { term } else { self.terms.not(term) };
                        found.constraints.push(term);
                        continue;
                    }
                    let id = if taken { self.copy(id)?.0 } else { id };
                    match outer {
                        Some(_) => self.formulas.strip(id),
                        None => self.formulas.make_local(id),
                    }
                    found.quantifiers.push(id);
                    if let Formula::Quantifier(_, _, below) = self.formulas.formula(id) {
                        stack.push((below, positive));
                    }
                }
                _ if !has_predicate => {
                    let lowered = self.formulas.lower(value);
                    let term = lowered.map_err(|reason| (token, reason))?;
                    let term = if positive { term } else { self.terms.not(term) };
                    found.constraints.push(term);
                }
                Formula::Quantifier(universal, list, below) if self.is_expandable(list) => {
                    let expanded = self.expanded(universal, list, below, token)?;
                    stack.push((expanded, positive));
                }
                Formula::Quantifier(true, ..) if outer.is_some() => {
                    found.universals.push(Branch { value, positive });
                }
                Formula::Quantifier(true, ..) => {
                    return Err((token, NotHorn::ForallInBody));
                }
                Formula::Quantifier(false, ..) => match self.without_exists(id)? {
                    Some(value) => stack.push((value, positive)),
                    None => return Err((token, NotHorn::ExistsInHead)),
                },
                _ => {
                    let branch = Branch { value, positive };
                    let mut cases = self.alternatives(branch);
                    match (cases.pop(), cases.is_empty()) {
                        (None, _) => found.constraints.push(TermId::FALSE),
                        (Some(only), true) => stack.extend(only),
                        (Some(_), false) => found.branches.push(branch),
                    }
                }
            }
        }
        Ok(found)
    }

    /// The cases of a branch that are not trivially false.
    fn alternatives(&mut self, branch: Branch) -> Vec<Literals> {
        let Branch { value, positive } = branch;
        if let Some((variable, formula)) = self.formulas.lifted_of(value) {
            let meanings = [(TermId::TRUE, true), (TermId::FALSE, false)];
            let cases = meanings.map(|(meaning, holds)| {
                let value = self.formulas.with_lifted(value, variable, meaning);
                vec![(formula, holds), (value, positive)]
            });
            return cases.into();
        }
        let Value::Formula(id) = value else {
            return vec![vec![(value, positive)]];
        };
        let token = self.formulas.token(id);
        let cases: Vec<Literals> = match self.formulas.formula(id) {
            Formula::And(list) | Formula::Or(list) => {
                let parts = self.formulas.values(list).to_vec();
                let (mut free, mut cases): (Vec<Value>, Vec<Literals>) = (Vec::new(), Vec::new());
                for part in parts {
                    match self.formulas.predicate_in(part) {
                        Some(_) => cases.push(vec![(part, positive)]),
                        None => free.push(part),
                    }
                }
                if !free.is_empty() {
                    let free = match positive {
                        true => self.formulas.or(&free, token),
                        false => self.formulas.and(&free, token),
                    };
                    cases.push(vec![(free, positive)]);
                }
                cases
            }
            Formula::Ite(c, a, b) => vec![
                vec![(c, true), (a, positive)],
                vec![(c, false), (b, positive)],
            ],
            Formula::Equal(a, b) => vec![
                vec![(a, true), (b, positive)],
                vec![(a, false), (b, !positive)],
            ],
            _ => vec![vec![(value, positive)]],
        };
        let holds = |&(value, positive): &(Value, bool)| match positive {
            true => value != Value::FALSE,
            false => value != Value::TRUE,
        };
        let cases = cases.into_iter().filter(|case| case.iter().all(holds));
        cases.collect()
    }

    /// Obligations for the cases of a clause, with each case in place of a branch and of the
    /// universal quantifiers if there is no branch.
    fn cases(
        &mut self,
        outer: &[FormulaId],
        parts: &Conjunction,
        split: Option<usize>,
        cases: Vec<Literals>,
    ) -> Result<(), Blame> {
        let mut vars = None;
        for &quantifier in outer.iter().chain(&parts.quantifiers) {
            self.var_links.push((quantifier, vars));
            vars = Some(self.var_links.len() as u32 - 1);
        }
        if !parts.renamed.is_empty() {
            let body = self.terms.and(&parts.constraints);
            let body = Value::Term(body);
            let exists = self
                .formulas
                .quantifier(false, &parts.renamed, body, self.command);
            if let Value::Formula(id) = exists {
                self.formulas.strip(id);
                self.var_links.push((id, vars));
                vars = Some(self.var_links.len() as u32 - 1);
            }
        }
        // The links are read from the last to the first.
        let mut literals: Literals = Vec::new();
        literals.extend(parts.constraints.iter().map(|&c| (Value::Term(c), true)));
        literals.extend(parts.atoms.iter().map(|&a| (Value::Formula(a), true)));
        literals.extend(parts.heads.iter().map(|&a| (Value::Formula(a), false)));
        for (number, branch) in parts.branches.iter().enumerate() {
            if Some(number) != split {
                literals.push((branch.value, branch.positive));
            }
        }
        if split.is_some() {
            let universals = parts.universals.iter();
            literals.extend(universals.map(|branch| (branch.value, branch.positive)));
        }
        for case in cases.into_iter().rev() {
            self.parts += literals.len();
            self.count(self.command)?;
            let mut body = None;
            for &(value, positive) in literals.iter().chain(&case) {
                body = self.with_body(body, value, positive);
            }
            self.todo.push(Obligation {
                body,
                vars,
                goal: Value::FALSE,
            });
        }
        Ok(())
    }

    /// Adds the clause of a conjunction whose branches have no heads.
    fn clause(&mut self, outer: &[FormulaId], parts: Conjunction) -> Result<(), Blame> {
        let mut vars: Vec<(Sym, TermId)> = Vec::new();
        for &quantifier in outer.iter().chain(&parts.quantifiers) {
            if let Formula::Quantifier(_, list, _) = self.formulas.formula(quantifier) {
                vars.extend_from_slice(self.formulas.variables(list));
            }
        }
        vars.extend(parts.renamed);
        let mut disjunctions = Vec::with_capacity(parts.branches.len());
        for branch in parts.branches {
            disjunctions.push(self.disjunction(branch)?);
        }
        let heads = parts.heads.iter();
        let heads = heads.filter_map(|&id| Some((self.atom(id)?, self.formulas.token(id))));
        self.clauses.push(GeneralClause {
            vars,
            body: self.atoms(&parts.atoms),
            constraint: self.terms.and(&parts.constraints),
            disjunctions,
            heads: heads.collect(),
        });
        Ok(())
    }

    /// The position of the disjunction of a branch without heads.
    fn disjunction(&mut self, root: Branch) -> Result<usize, Blame> {
        let mut open: FxHashMap<Branch, Vec<Conjunction>> = FxHashMap::default();
        let mut stack = vec![root];
        while let Some(&branch) = stack.last() {
            if self.known.contains_key(&branch) {
                stack.pop();
                continue;
            }
            if let Some(cases) = open.remove(&branch) {
                let disjunction = Disjunction {
                    alternatives: cases.into_iter().map(|c| self.alternative(c)).collect(),
                };
                self.known.insert(branch, self.disjunctions.len());
                self.disjunctions.push(disjunction);
                stack.pop();
                continue;
            }
            let mut cases = Vec::new();
            for case in self.alternatives(branch) {
                let case = self.conjunction(case, None)?;
                stack.extend(&case.branches);
                cases.push(case);
            }
            open.insert(branch, cases);
        }
        Ok(self.known[&root])
    }

    /// The alternative of a case whose branches are known disjunctions.
    fn alternative(&self, case: Conjunction) -> Alternative {
        let mut vars: Vec<(Sym, TermId)> = Vec::new();
        for &quantifier in &case.quantifiers {
            if let Formula::Quantifier(_, list, _) = self.formulas.formula(quantifier) {
                vars.extend_from_slice(self.formulas.variables(list));
            }
        }
        vars.extend(case.renamed);
        let name = |(symbol, variable)| (self.names.name(symbol).into(), variable);
        Alternative {
            vars: vars.into_iter().map(name).collect(),
            body: self.atoms(&case.atoms),
            constraint: self.terms.and(&case.constraints),
            disjunctions: case.branches.iter().map(|b| self.known[b]).collect(),
        }
    }

    fn atoms(&self, ids: &[FormulaId]) -> Vec<Atom> {
        ids.iter().filter_map(|&id| self.atom(id)).collect()
    }

    fn atom(&self, id: FormulaId) -> Option<Atom> {
        match self.formulas.formula(id) {
            Formula::Atom(predicate, list) => Some(Atom {
                predicate,
                args: self.formulas.arguments(list).to_vec(),
            }),
            _ => None,
        }
    }
}
