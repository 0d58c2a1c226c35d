//! Formulas as clauses over names, Boolean variables and bounds.
//!
//! Invariant: values of a part's variables satisfy its clauses, with some values of its names, if
//! and only if they satisfy its formulas.

use std::rc::Rc;

use num_traits::{Signed, Zero};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Open;
use super::gates::Graph;
use alphorn_arith::{Constraint, Relation, lowered};
use alphorn_bits::sat::Lit;
use alphorn_term::run::Budget;
use alphorn_term::{Linear, Op, Rational, Sort, SortId, TermId, TermStore};

/// The meaning of a propositional variable.
#[derive(Clone, Debug)]
pub enum Meaning {
    /// The name of a subformula of one part.
    Name,
    /// A Boolean variable of the formulas, or the formula of a gate.
    Boolean(TermId),
    /// An upper bound, and the lower bound that is its negation.
    Bound(Box<[Constraint; 2]>),
}

/// A propositional variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The meaning.
    pub meaning: Meaning,
    /// The parts in whose clauses it occurs.
    pub parts: Vec<usize>,
    /// Whether it occurs in a clause, and whether its negation does. Literals that do not occur are
    /// not asserted in the theory.
    pub occurs: [bool; 2],
    /// Whether it is a bit of a bit-vector, or a gate below an atom.
    pub is_inner: bool,
}

/// Form, constant, and whether the bound is strict.
type Key = (Vec<(TermId, Rational)>, Rational, bool);

/// A subformula, or its literal.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Goal {
    Literal(Lit),
    /// A formula, or its negation.
    Formula(TermId, bool),
}

/// A conjunction or a disjunction.
struct Shape {
    is_and: bool,
    goals: Vec<Goal>,
}

/// Clauses by part.
pub struct Skeleton<'t> {
    /// The store of the formulas.
    pub terms: &'t TermStore,
    /// The propositional variables.
    pub variables: Vec<Variable>,
    /// The clauses, each with its part.
    pub clauses: Vec<(Vec<Lit>, usize)>,
    /// Clauses that are valid by the meaning of their variables.
    pub definitions: Vec<Vec<Lit>>,
    booleans: FxHashMap<TermId, u32>,
    bounds: FxHashMap<Key, u32>,
    /// Literals for subformulas of the current part.
    named: FxHashMap<(TermId, bool), Lit>,
    /// Columns that are defined in the current part, and those that still have to be.
    defined: FxHashSet<TermId>,
    open: Vec<TermId>,
    pub(super) graph: Graph,
}

impl<'t> Skeleton<'t> {
    pub fn new(terms: &'t Rc<TermStore>, budget: Option<&Budget>) -> Self {
        Skeleton {
            terms,
            variables: Vec::new(),
            clauses: Vec::new(),
            definitions: Vec::new(),
            booleans: FxHashMap::default(),
            bounds: FxHashMap::default(),
            named: FxHashMap::default(),
            defined: FxHashSet::default(),
            open: Vec::new(),
            graph: Graph::new(terms, budget),
        }
    }

    /// The bound of a literal.
    pub fn constraint(&self, literal: Lit) -> Option<&Constraint> {
        match &self.variables[literal.variable() as usize].meaning {
            Meaning::Bound(bounds) => Some(&bounds[usize::from(literal.is_negated())]),
            _ => None,
        }
    }

    /// A new name.
    pub fn name(&mut self) -> Lit {
        Lit::new(self.variable(Meaning::Name), false)
    }

    /// Adds a clause to a part.
    pub fn clause(&mut self, part: usize, literals: &[Lit]) {
        if let Some(literals) = self.noted(part, literals) {
            self.clauses.push((literals, part));
        }
    }

    /// Adds a valid clause about variables of a part; it is stored only if it is new.
    pub(super) fn definition(&mut self, part: usize, literals: &[Lit], is_new: bool) {
        if let Some(literals) = self.noted(part, literals)
            && is_new
        {
            self.definitions.push(literals);
        }
    }

    /// The clause in order, recorded as one of the part; `None` for a tautology.
    fn noted(&mut self, part: usize, literals: &[Lit]) -> Option<Vec<Lit>> {
        let mut literals = literals.to_vec();
        literals.sort_unstable();
        literals.dedup();
        for &literal in &literals {
            self.note(part, literal);
        }
        let is_tautology = literals.windows(2).any(|w| w[0] == !w[1]);
        (!is_tautology).then_some(literals)
    }

    /// Adds a part's formula.
    ///
    /// # Errors
    /// The formula is not of the theory, or a limit is reached.
    pub fn part(&mut self, part: usize, formula: TermId) -> Result<(), Open> {
        self.named.clear();
        self.defined.clear();
        self.graph.used.clear();
        self.assert(part, formula)?;
        while let Some(column) = self.open.pop() {
            self.define(part, column)?;
        }
        Ok(())
    }

    /// The literal of a bound, which belongs to the part.
    pub fn bound(&mut self, part: usize, linear: &Linear, relation: Relation) -> Lit {
        let own = Constraint::new(linear.coprime(), relation).tightened(self.terms);
        let opposite = match own.relation {
            Relation::Below => Relation::AtMost,
            _ => Relation::Below,
        };
        let opposite = Constraint::new(own.linear.negated(), opposite).tightened(self.terms);
        let first = own.linear.monomials.first();
        let is_upper = first.is_none_or(|m| m.1.is_positive());
        let bounds = match is_upper {
            true => [own, opposite],
            false => [opposite, own],
        };
        let upper = &bounds[0];
        let key = (
            upper.linear.monomials.clone(),
            upper.linear.constant.clone(),
            upper.relation == Relation::Below,
        );
        let variable = match self.bounds.get(&key) {
            Some(&variable) => variable,
            None => {
                let variable = self.variable(Meaning::Bound(Box::new(bounds)));
                self.bounds.insert(key, variable);
                variable
            }
        };
        let literal = Lit::new(variable, !is_upper);
        self.note(part, literal);
        for (column, _) in &linear.monomials {
            let is_defined = matches!(
                self.terms.op(*column),
                Op::Ite | Op::IDiv | Op::Mod | Op::ToInt
            );
            if is_defined && self.defined.insert(*column) {
                self.open.push(*column);
            }
        }
        literal
    }

    pub(super) fn variable(&mut self, meaning: Meaning) -> u32 {
        self.variables.push(Variable {
            meaning,
            parts: Vec::new(),
            occurs: [false; 2],
            is_inner: false,
        });
        self.variables.len() as u32 - 1
    }

    fn note(&mut self, part: usize, literal: Lit) {
        let variable = &mut self.variables[literal.variable() as usize];
        variable.occurs[usize::from(literal.is_negated())] = true;
        if !variable.parts.contains(&part) {
            variable.parts.push(part);
        }
    }

    fn assert(&mut self, part: usize, formula: TermId) -> Result<(), Open> {
        for goal in self.flat(part, vec![Goal::Formula(formula, true)], true)? {
            let mut clause: Vec<Lit> = Vec::new();
            for goal in self.flat(part, vec![goal], false)? {
                clause.push(self.literal(part, goal)?);
            }
            self.clause(part, &clause);
        }
        Ok(())
    }

    /// The goals, with conjunctions (or disjunctions) replaced by their members.
    fn flat(&mut self, part: usize, goals: Vec<Goal>, is_and: bool) -> Result<Vec<Goal>, Open> {
        let mut flat = Vec::new();
        let mut seen = FxHashSet::default();
        let mut stack = goals;
        stack.reverse();
        while let Some(goal) = stack.pop() {
            let Goal::Formula(formula, positive) = goal else {
                flat.push(goal);
                continue;
            };
            if !seen.insert(goal) {
                continue;
            }
            let shape = self.shape(part, formula, positive)?;
            if shape.is_and == is_and || shape.goals.len() == 1 {
                stack.extend(shape.goals.into_iter().rev());
            } else {
                flat.push(goal);
            }
        }
        Ok(flat)
    }

    /// A literal that implies the goal.
    fn literal(&mut self, part: usize, goal: Goal) -> Result<Lit, Open> {
        let root = match goal {
            Goal::Literal(literal) => return Ok(literal),
            Goal::Formula(formula, positive) => (formula, positive),
        };
        let mut stack = vec![root];
        while let Some(&goal) = stack.last() {
            if self.named.contains_key(&goal) {
                stack.pop();
                continue;
            }
            let Shape { is_and, goals } = self.shape(part, goal.0, goal.1)?;
            let goals = self.flat(part, goals, is_and)?;
            let before = stack.len();
            let mut literals = Vec::with_capacity(goals.len());
            for goal in goals {
                match goal {
                    Goal::Literal(literal) => literals.push(literal),
                    Goal::Formula(formula, positive) => {
                        match self.named.get(&(formula, positive)) {
                            Some(&literal) => literals.push(literal),
                            None => stack.push((formula, positive)),
                        }
                    }
                }
            }
            if stack.len() > before {
                continue;
            }
            let literal = match *literals.as_slice() {
                [literal] => literal,
                _ => {
                    let name = self.name();
                    if is_and {
                        for literal in literals {
                            self.clause(part, &[!name, literal]);
                        }
                    } else {
                        literals.push(!name);
                        self.clause(part, &literals);
                    }
                    name
                }
            };
            self.named.insert(goal, literal);
            stack.pop();
        }
        Ok(self.named[&root])
    }

    /// The outermost connective of a formula or its negation.
    fn shape(&mut self, part: usize, formula: TermId, positive: bool) -> Result<Shape, Open> {
        let terms = self.terms;
        let node = terms.node(formula);
        let same = |positive: bool| {
            let goals = node.args.iter().map(|&a| Goal::Formula(a, positive));
            goals.collect::<Vec<Goal>>()
        };
        let both = |left: [TermId; 2], right: [TermId; 2]| Shape {
            is_and: true,
            goals: vec![
                Goal::Formula(terms.or(&left), true),
                Goal::Formula(terms.or(&right), true),
            ],
        };
        let literal = |literal: Lit| Shape {
            is_and: true,
            goals: vec![Goal::Literal(literal)],
        };
        Ok(match (&node.op, &*node.args) {
            (Op::True | Op::False, _) => Shape {
                is_and: (node.op == Op::True) == positive,
                goals: Vec::new(),
            },
            (Op::Not, _) => Shape {
                is_and: true,
                goals: same(!positive),
            },
            (Op::And | Op::Or, _) => Shape {
                is_and: (node.op == Op::And) == positive,
                goals: same(positive),
            },
            (Op::Ite, &[condition, then, other]) => {
                let [then, other] = [then, other].map(|t| match positive {
                    true => t,
                    false => terms.not(t),
                });
                both([terms.not(condition), then], [condition, other])
            }
            (Op::Eq, &[left, right]) if terms.sort_of(left) == SortId::BOOL => {
                let right = match positive {
                    true => right,
                    false => terms.not(right),
                };
                both([terms.not(left), right], [left, terms.not(right)])
            }
            (Op::Var(_), _) => literal(self.boolean(formula).xor(!positive)),
            (_, &[first, ..]) if matches!(terms.sort(terms.sort_of(first)), Sort::BitVec(_)) => {
                literal(self.of_bitvecs(part, formula)?.xor(!positive))
            }
            (Op::IsInt, &[number]) => {
                let floor = terms.to_real(terms.to_int(number));
                let above = lowered(terms, terms.difference(number, floor));
                literal(
                    self.comparison(part, &above, Relation::AtMost)?
                        .xor(!positive),
                )
            }
            _ => {
                let constraint = Constraint::atom(terms, formula, positive);
                let constraint = constraint.ok_or_else(|| unsupported(&node.op))?;
                let Constraint { linear, relation } = constraint.lowered(terms);
                let (one, is_and) = match relation {
                    Relation::Equal => (Relation::AtMost, true),
                    Relation::Differs => (Relation::Below, false),
                    relation => return Ok(literal(self.comparison(part, &linear, relation)?)),
                };
                let sides = [
                    self.comparison(part, &linear, one)?,
                    self.comparison(part, &linear.negated(), one)?,
                ];
                Shape {
                    is_and,
                    goals: sides.map(Goal::Literal).to_vec(),
                }
            }
        })
    }

    /// The literal of a Boolean variable, or of a formula in place of one.
    pub(super) fn boolean(&mut self, formula: TermId) -> Lit {
        let variable = match self.booleans.get(&formula) {
            Some(&variable) => variable,
            None => {
                let variable = self.variable(Meaning::Boolean(formula));
                self.booleans.insert(formula, variable);
                variable
            }
        };
        Lit::new(variable, false)
    }

    /// The literal of a bound whose columns are of the theory.
    fn comparison(&mut self, part: usize, sum: &Linear, relation: Relation) -> Result<Lit, Open> {
        for (column, _) in &sum.monomials {
            let node = self.terms.node(*column);
            let is_known = match (&node.op, &*node.args) {
                (Op::Var(_) | Op::Ite | Op::ToInt, _) => true,
                (Op::IDiv | Op::Mod, &[_, by]) => {
                    self.terms.numeral(by).is_some_and(|n| !n.is_zero())
                }
                _ => false,
            };
            if !is_known {
                return Err(unsupported(&node.op));
            }
        }
        Ok(self.bound(part, sum, relation))
    }

    /// Adds the definition of a column that is not a variable.
    fn define(&mut self, part: usize, column: TermId) -> Result<(), Open> {
        let terms = self.terms;
        let node = terms.node(column);
        let linear = |term: TermId| lowered(terms, terms.linear(term));
        match (&node.op, &*node.args) {
            (Op::Ite, &[condition, then, other]) => {
                for (branch, positive) in [(then, true), (other, false)] {
                    let other = self.literal(part, Goal::Formula(condition, !positive))?;
                    let difference = Linear::unit(column).minus(&linear(branch));
                    for side in [difference.negated(), difference] {
                        let bound = self.comparison(part, &side, Relation::AtMost)?;
                        self.clause(part, &[other, bound]);
                    }
                }
            }
            (Op::Mod | Op::IDiv, &[number, by]) => {
                let modulus = terms.numeral(by).ok_or_else(|| unsupported(&node.op))?;
                let quotient = linear(terms.idiv(number, by));
                let rest = linear(terms.modulo(number, by));
                let sum = linear(number).add_scaled(&quotient, &-modulus.clone());
                let sum = sum.minus(&rest);
                let mut most = rest.clone();
                most.constant += Rational::from_integer(1.into()) - modulus.abs();
                for bound in [sum.negated(), sum, rest.negated(), most] {
                    let bound = self.comparison(part, &bound, Relation::AtMost)?;
                    self.clause(part, &[bound]);
                }
            }
            (Op::ToInt, &[number]) => {
                let above = Linear::unit(column).minus(&linear(number));
                let mut below = above.negated();
                below.constant -= Rational::from_integer(1.into());
                for (bound, relation) in [(above, Relation::AtMost), (below, Relation::Below)] {
                    let bound = self.comparison(part, &bound, relation)?;
                    self.clause(part, &[bound]);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

fn unsupported(op: &Op) -> Open {
    Open::Unsupported(format!("{op:?}"))
}
