//! From an assertion to Horn clauses.
//!
//! An assertion becomes obligations: implications from a body to a goal. A goal is decomposed at its
//! outermost connective, a body into atoms, constraints and existential variables.
//!
//! Invariant: the conjunction of the clauses is equivalent to the assertion. If the assertion is not
//! Horn, it is refused at the connective that is the reason.

use rustc_hash::FxHashSet;

use super::error::NotHorn;
use super::formula::{Formula, FormulaId, Formulas, Value};
use super::lexer::{Sym, TokenId};
use crate::Atom;
use crate::limits::LIMITS;
use alphorn_term::{TermId, TermStore};

/// A clause without its position in the text.
pub(super) struct HornClause {
    pub vars: Vec<(Sym, TermId)>,
    pub body: Vec<Atom>,
    pub constraint: TermId,
    pub head: Option<Atom>,
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
    clauses: Vec<HornClause>,
    /// Parts of formulas visited so far.
    parts: usize,
}

impl<'a> Clausifier<'a> {
    /// A clausifier for the formulas of this command.
    pub fn new(terms: &'a TermStore, formulas: &'a mut Formulas, command: TokenId) -> Self {
        Clausifier {
            terms,
            formulas,
            command,
            body_links: Vec::new(),
            var_links: Vec::new(),
            todo: Vec::new(),
            seen: FxHashSet::default(),
            clauses: Vec::new(),
            parts: 0,
        }
    }

    /// The clauses that are equivalent to `value`.
    pub fn assertion(mut self, value: Value) -> Result<Vec<HornClause>, Blame> {
        self.todo.push(Obligation {
            body: None,
            vars: None,
            goal: value,
        });
        self.run()
    }

    /// The clauses that are equivalent to `¬value`.
    pub fn query(mut self, value: Value) -> Result<Vec<HornClause>, Blame> {
        let body = self.with_body(None, value, true);
        self.todo.push(Obligation {
            body,
            vars: None,
            goal: Value::FALSE,
        });
        self.run()
    }

    fn run(mut self) -> Result<Vec<HornClause>, Blame> {
        while let Some(obligation) = self.todo.pop() {
            if self.seen.insert(obligation) {
                self.step(obligation)?;
            }
        }
        Ok(self.clauses)
    }

    fn count(&mut self, token: TokenId) -> Result<(), Blame> {
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
                return self.finish(body, vars, None);
            }
        };
        let token = self.formulas.token(id);
        self.count(token)?;
        match self.formulas.formula(id) {
            Formula::Atom(..) => self.finish(body, vars, Some(id)),
            Formula::Not(inner) => {
                let body = self.with_body(body, inner, true);
                self.finish(body, vars, None)
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
                        _ => {
                            return Err((self.formulas.token(inner), NotHorn::SecondHead));
                        }
                    }
                }
                match positive {
                    None => self.finish(body, vars, None),
                    Some(goal) => {
                        self.todo.push(Obligation { body, vars, goal });
                        Ok(())
                    }
                }
            }
            Formula::Ite(condition, then, otherwise) => {
                if self.formulas.predicate_in(condition).is_some() {
                    return Err((token, NotHorn::ConditionOnPredicate));
                }
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
            Formula::Quantifier(false, ..) => Err((token, NotHorn::ExistsInHead)),
        }
    }

    fn finish(&mut self, body: Link, vars: Link, head: Option<FormulaId>) -> Result<(), Blame> {
        let mut stack: Vec<(Value, bool)> = Vec::new();
        let mut link = body;
        while let Some(index) = link {
            let (value, positive, next) = self.body_links[index as usize];
            stack.push((value, positive));
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
        let mut inner: Vec<FormulaId> = Vec::new();
        let mut renamed: Vec<(Sym, TermId)> = Vec::new();
        let mut atoms: Vec<FormulaId> = Vec::new();
        let mut constraints: Vec<TermId> = Vec::new();
        let mut denied: Option<FormulaId> = head;
        let mut seen: FxHashSet<(FormulaId, bool)> = FxHashSet::default();
        while let Some((value, positive)) = stack.pop() {
            let id = match value {
                Value::Term(term) => {
                    self.count(self.command)?;
                    constraints.push(if positive { term } else { self.terms.not(term) });
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
            let free = self.formulas.predicate_in(value).is_none();
            match formula {
                Formula::Atom(..) if positive => atoms.push(id),
                Formula::Not(inner) => stack.push((inner, !positive)),
                Formula::And(list) if positive => {
                    let parts = self.formulas.values(list).iter().rev();
                    stack.extend(parts.map(|&v| (v, true)));
                }
                Formula::Or(list) if !positive => {
                    let parts = self.formulas.values(list).iter().rev();
                    stack.extend(parts.map(|&v| (v, false)));
                }
                Formula::Quantifier(universal, _, below)
                    if universal != positive && !outer_set.contains(&id) =>
                {
                    if self.formulas.is_lowered(id) {
                        let (vars, term) = self.formulas.open_lowered(id);
                        renamed.extend(vars);
                        constraints.push(if positive { term } else { self.terms.not(term) });
                    } else {
                        self.formulas.strip(id);
                        inner.push(id);
                        stack.push((below, positive));
                    }
                }
                _ if free => {
                    let lowered = self.formulas.lower(value);
                    let term = lowered.map_err(|reason| (token, reason))?;
                    constraints.push(if positive { term } else { self.terms.not(term) });
                }
                _ if !positive && denied.is_none() => denied = Some(id),
                _ if !positive => return Err((token, NotHorn::SecondHead)),
                Formula::Or(list) => {
                    let mut parts = self.formulas.values(list).iter();
                    let mut some = parts.by_ref().filter(|&&v| v != Value::FALSE);
                    match (some.next().copied(), some.next()) {
                        (Some(only), None) => stack.push((only, true)),
                        _ => return Err((token, NotHorn::DisjunctionInBody)),
                    }
                }
                _ => {
                    let construct = match formula {
                        Formula::Ite(..) => "`ite`",
                        Formula::Equal(..) => "`=`",
                        Formula::Quantifier(true, ..) => "`forall`",
                        _ => "a quantified formula shared by body and head",
                    };
                    return Err((token, NotHorn::ConnectiveInBody(construct)));
                }
            }
        }
        let quantifiers = outer.iter().chain(&inner);
        if let Some(id) = denied.filter(|&id| !self.is_atom(id)) {
            // φ ∧ ¬g ⇒ false becomes φ ⇒ g.
            let mut vars = None;
            for &quantifier in quantifiers {
                self.var_links.push((quantifier, vars));
                vars = Some(self.var_links.len() as u32 - 1);
            }
            if !renamed.is_empty() {
                let body = self.terms.and(&constraints);
                let exists =
                    self.formulas
                        .quantifier(false, &renamed, Value::Term(body), self.command);
                if let Value::Formula(id) = exists {
                    self.formulas.strip(id);
                    self.var_links.push((id, vars));
                    vars = Some(self.var_links.len() as u32 - 1);
                }
            }
            let mut body = None;
            for atom in atoms {
                body = self.with_body(body, Value::Formula(atom), true);
            }
            for term in constraints {
                body = self.with_body(body, Value::Term(term), true);
            }
            self.todo.push(Obligation {
                body,
                vars,
                goal: Value::Formula(id),
            });
            return Ok(());
        }
        let mut vars: Vec<(Sym, TermId)> = Vec::new();
        for &quantifier in quantifiers {
            if let Formula::Quantifier(_, list, _) = self.formulas.formula(quantifier) {
                vars.extend_from_slice(self.formulas.variables(list));
            }
        }
        vars.extend(renamed);
        let body = atoms.into_iter().filter_map(|id| self.atom(id)).collect();
        self.clauses.push(HornClause {
            vars,
            body,
            constraint: self.terms.and(&constraints),
            head: denied.and_then(|id| self.atom(id)),
        });
        Ok(())
    }

    fn is_atom(&self, id: FormulaId) -> bool {
        matches!(self.formulas.formula(id), Formula::Atom(..))
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
