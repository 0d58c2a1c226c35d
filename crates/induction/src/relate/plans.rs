//! How clauses compute facts: steps that take apart, test and solve, and their evaluation.
//!
//! Invariant: the values at the end of a plan satisfy the clause's constraint.

use std::cell::Cell;

use num_traits::{One, Signed, ToPrimitive, Zero};
use rustc_hash::FxHashSet;

use super::limits::LIMITS;
use super::literal::{number, value_of};
use alphorn_chc::{Atom, Clause, PredicateId, System};
use alphorn_term::{Assignment, Op, SortId, TermId, TermStore, evaluate};

/// Evaluates parts of plans.
pub struct Evaluator<'a> {
    pub terms: &'a TermStore,
    /// Parts of evaluated terms, and steps, that are not charged to the budget yet.
    pub work: Cell<usize>,
}

impl Evaluator<'_> {
    /// The value of a term.
    fn evaluated(&self, of: &Evaluated, plan: &Plan, values: &[i64]) -> Option<TermId> {
        let terms = self.terms;
        self.work.set(self.work.get() + of.size);
        let pairs = of.vars.iter().map(|&at| {
            let var = plan.vars[at];
            (var, value_of(terms, values[at], terms.sort_of(var)))
        });
        evaluate(terms, of.term, &pairs.collect::<Assignment>())
    }

    /// The value of an expression; `None` if there is none.
    pub fn value(&self, expression: &Expression, plan: &Plan, values: &[i64]) -> Option<i64> {
        let of = |e: &Expression| self.value(e, plan, values);
        Some(match expression {
            Expression::Variable(at) => values[*at],
            Expression::Sum(parts, constant) => {
                let mut total = *constant;
                for (part, factor) in parts {
                    total = total.checked_add(of(part)?.checked_mul(*factor)?)?;
                }
                total
            }
            Expression::Product(left, right) => of(left)?.checked_mul(of(right)?)?,
            Expression::Quotient(of_what, by) => of(of_what)?.div_euclid(*by),
            Expression::Remainder(of_what, by) => of(of_what)?.rem_euclid(*by),
            Expression::Choice(test, then, otherwise) => match self.test(test, plan, values)? {
                true => of(then)?,
                false => of(otherwise)?,
            },
            Expression::Term(term) => number(self.terms, self.evaluated(term, plan, values)?)?,
        })
    }

    /// Whether a test holds; `None` if that has no value.
    pub fn test(&self, test: &Test, plan: &Plan, values: &[i64]) -> Option<bool> {
        Some(match test {
            Test::AtLeast(e) => self.value(e, plan, values)? >= 0,
            Test::Zero(e) => self.value(e, plan, values)? == 0,
            Test::Not(inner) => !self.test(inner, plan, values)?,
            Test::All(tests) => {
                for test in tests {
                    if !self.test(test, plan, values)? {
                        return Some(false);
                    }
                }
                true
            }
            Test::Any(tests) => {
                for test in tests {
                    if self.test(test, plan, values)? {
                        return Some(true);
                    }
                }
                false
            }
            Test::Term(formula) => self.evaluated(formula, plan, values)? == TermId::TRUE,
        })
    }
}

/// An integer expression over the variables of a clause, by position.
pub enum Expression {
    Sum(Vec<(Expression, i64)>, i64),
    Variable(usize),
    Product(Box<Expression>, Box<Expression>),
    Quotient(Box<Expression>, i64),
    Remainder(Box<Expression>, i64),
    Choice(Box<Test>, Box<Expression>, Box<Expression>),
    Term(Evaluated),
}

/// A term of any sort, by evaluation.
pub struct Evaluated {
    term: TermId,
    /// The positions of its variables.
    vars: Vec<usize>,
    /// The number of its distinct parts.
    size: usize,
}

/// A formula over the variables of a clause.
pub enum Test {
    AtLeast(Expression),
    Zero(Expression),
    Not(Box<Test>),
    All(Vec<Test>),
    Any(Vec<Test>),
    Term(Evaluated),
}

/// A step of a plan.
pub enum Step {
    /// Goes on if the test holds.
    Check(Test),
    /// Sets a variable to a value.
    Set(usize, Expression),
    /// Sets a variable to minus a sum, divided by a factor without remainder.
    Solve(usize, Expression, i64),
    /// Takes apart a value by its constructor; the fields become variables.
    Open(usize, TermId, Vec<usize>),
    /// Facts of a predicate that agree at some positions; the others become variables.
    Join {
        predicate: PredicateId,
        args: Vec<usize>,
        bound: Vec<usize>,
    },
    /// All values of a small range.
    Range(usize),
}

/// How to derive facts by a clause.
pub struct Plan {
    pub steps: Vec<Step>,
    pub vars: Vec<TermId>,
    pub head: (PredicateId, Vec<usize>),
    pub ranges: usize,
}

impl Plan {
    /// A plan for a clause with a head; `None` if its terms are not supported, or if too many
    /// variables have values from ranges.
    pub fn new(system: &System, clause: &Clause) -> Option<Plan> {
        let terms = &*system.terms;
        let head = clause.head.as_ref()?;
        if terms.dag_size(&[clause.constraint]) > LIMITS.clause_terms {
            return None;
        }
        let mut planner = Planner {
            terms,
            vars: clause.vars(terms),
            bound: FxHashSet::default(),
            pending: terms.conjuncts(clause.constraint),
            steps: Vec::new(),
            compiled: Cell::new(0),
        };
        planner.flush();
        for atom in &clause.body {
            planner.join(atom)?;
        }
        planner.finish(head)
    }

    /// A plan for a clause whose head has known arguments, which asks the body atoms with most known
    /// arguments first; `None` if its terms are not supported.
    pub fn backward(system: &System, clause: &Clause, known: &[bool]) -> Option<Plan> {
        let terms = &*system.terms;
        let head = clause.head.as_ref()?;
        if terms.dag_size(&[clause.constraint]) > LIMITS.clause_terms {
            return None;
        }
        let given = head.args.iter().zip(known).filter(|(_, known)| **known);
        let mut planner = Planner {
            terms,
            vars: clause.vars(terms),
            bound: given.map(|(&arg, _)| arg).collect(),
            pending: terms.conjuncts(clause.constraint),
            steps: Vec::new(),
            compiled: Cell::new(0),
        };
        planner.flush();
        let mut rest: Vec<&Atom> = clause.body.iter().collect();
        loop {
            let unknown = |atom: &&Atom| {
                let args = atom.args.iter();
                args.filter(|arg| !planner.bound.contains(arg)).count()
            };
            let Some(next) = (0..rest.len()).min_by_key(|&at| unknown(&rest[at])) else {
                break;
            };
            planner.join(rest.remove(next))?;
        }
        planner.finish(head)
    }
}

/// Makes a plan.
struct Planner<'a> {
    terms: &'a TermStore,
    vars: Vec<TermId>,
    bound: FxHashSet<TermId>,
    pending: Vec<TermId>,
    steps: Vec<Step>,
    /// The number of parts that were compiled. Shared parts are compiled again each time, so that the
    /// rest is left to evaluation when there are many.
    compiled: Cell<usize>,
}

impl Planner<'_> {
    /// The plan for a clause whose body atoms have been joined: ranges for what is still unknown;
    /// `None` if these are too many, or some conditions are not supported.
    fn finish(mut self, head: &Atom) -> Option<Plan> {
        let mut ranges = 0;
        while let Some(&var) = self.vars.iter().find(|v| !self.bound.contains(v)) {
            let at = self.position(var)?;
            self.steps.push(Step::Range(at));
            self.bound.insert(var);
            ranges += 1;
            self.flush();
        }
        let args: Option<Vec<usize>> = head.args.iter().map(|&a| self.position(a)).collect();
        let is_done = self.pending.is_empty() && ranges <= LIMITS.ranges;
        is_done.then_some(Plan {
            steps: self.steps,
            vars: self.vars,
            head: (head.predicate, args?),
            ranges,
        })
    }

    fn position(&self, var: TermId) -> Option<usize> {
        self.vars.iter().position(|&v| v == var)
    }

    /// Adds the step for a body atom.
    fn join(&mut self, atom: &Atom) -> Option<()> {
        let args: Option<Vec<usize>> = atom.args.iter().map(|&a| self.position(a)).collect();
        let args = args?;
        let is_bound = |at: &usize| self.bound.contains(&self.vars[args[*at]]);
        let bound: Vec<usize> = (0..args.len()).filter(is_bound).collect();
        self.bound.extend(&atom.args);
        self.steps.push(Step::Join {
            predicate: atom.predicate,
            args,
            bound,
        });
        self.flush();
        Some(())
    }

    /// Adds steps for the conjuncts that can be tested or solved.
    fn flush(&mut self) {
        loop {
            let mut progress = false;
            let mut at = 0;
            while at < self.pending.len() {
                let done = self.conjunct(self.pending[at]);
                if done {
                    self.pending.remove(at);
                }
                progress |= done;
                at += usize::from(!done);
            }
            if !progress {
                return;
            }
        }
    }

    /// Adds the step for a conjunct, if it can be tested or solved.
    fn conjunct(&mut self, formula: TermId) -> bool {
        let free = self.terms.free_vars(&[formula]);
        let unbound: Vec<TermId> = free
            .into_iter()
            .filter(|v| !self.bound.contains(v))
            .collect();
        if unbound.is_empty() {
            let test = self.test(formula);
            self.steps.push(Step::Check(test));
            return true;
        }
        if let [var] = unbound[..] {
            return self.solved(formula, var);
        }
        self.opened(formula)
    }

    /// Solves an equation, or a literal of a Boolean, for a variable.
    fn solved(&mut self, formula: TermId, var: TermId) -> bool {
        let terms = self.terms;
        let Some(position) = self.position(var) else {
            return false;
        };
        let literal = match terms.op(formula) {
            _ if formula == var => Some(TermId::TRUE),
            Op::Not if terms.args(formula)[0] == var => Some(TermId::FALSE),
            _ => None,
        };
        if let Some(value) = literal {
            self.steps
                .push(Step::Set(position, Expression::Term(self.evaluated(value))));
            self.bound.insert(var);
            return true;
        }
        if !matches!(terms.op(formula), Op::Eq) {
            return false;
        }
        let (left, right) = (terms.args(formula)[0], terms.args(formula)[1]);
        if terms.sort_of(left) == SortId::INT {
            let difference = terms.difference(left, right);
            let mut own = difference.clone().split_off(var);
            let factor = std::mem::replace(&mut own.0, Zero::zero());
            let inside = |t: TermId| terms.free_vars(&[t]).contains(&var);
            if factor.is_zero() || own.1.monomials.iter().any(|m| inside(m.0)) {
                return false;
            }
            let scale = own.1.integer_factor() * num_rational(&factor);
            let Some(factor) = whole(&(&factor * &scale)) else {
                return false;
            };
            let Some(rest) = self.linear(&own.1.scaled(&scale)) else {
                return false;
            };
            self.steps.push(Step::Solve(position, rest, factor));
            self.bound.insert(var);
            return true;
        }
        for (a, b) in [(left, right), (right, left)] {
            if a == var && !terms.free_vars(&[b]).contains(&var) {
                let expression = self.expression(b);
                self.steps.push(Step::Set(position, expression));
                self.bound.insert(var);
                return true;
            }
        }
        self.opened(formula)
    }

    /// Takes apart a bound value that equals a constructor applied to terms.
    fn opened(&mut self, formula: TermId) -> bool {
        let terms = self.terms;
        if !matches!(terms.op(formula), Op::Eq) {
            return false;
        }
        let (left, right) = (terms.args(formula)[0], terms.args(formula)[1]);
        for (value, pattern) in [(left, right), (right, left)] {
            let Some(from) = self.position(value) else {
                continue;
            };
            if !self.bound.contains(&value) || !matches!(terms.op(pattern), Op::Construct(..)) {
                continue;
            }
            let mut fields = Vec::new();
            for &field in terms.args(pattern) {
                let var = terms.fresh_var("field", terms.sort_of(field));
                fields.push(self.vars.len());
                self.vars.push(var);
                self.bound.insert(var);
                self.pending.push(terms.eq(var, field));
            }
            self.steps.push(Step::Open(from, pattern, fields));
            return true;
        }
        false
    }

    /// A linear term; `None` if a number is too large.
    fn linear(&self, linear: &alphorn_term::Linear) -> Option<Expression> {
        let constant = whole(&linear.constant)?;
        let parts = linear.monomials.iter();
        let parts: Option<Vec<(Expression, i64)>> = parts
            .map(|(term, factor)| Some((self.expression(*term), whole(factor)?)))
            .collect();
        Some(Expression::Sum(parts?, constant))
    }

    fn evaluated(&self, term: TermId) -> Evaluated {
        let free = self.terms.free_vars(&[term]);
        Evaluated {
            term,
            vars: free.iter().filter_map(|&v| self.position(v)).collect(),
            size: self.terms.dag_size(&[term]),
        }
    }

    /// Whether one more part is compiled.
    fn compiles(&self) -> bool {
        self.compiled.set(self.compiled.get() + 1);
        self.compiled.get() <= LIMITS.clause_terms
    }

    /// Compiles a term.
    fn expression(&self, term: TermId) -> Expression {
        let terms = self.terms;
        if let Some(at) = self.position(term) {
            return Expression::Variable(at);
        }
        if !self.compiles() {
            return Expression::Term(self.evaluated(term));
        }
        let node = terms.node(term);
        let whole_argument = |at: usize| terms.as_int(node.args[at]).and_then(ToPrimitive::to_i64);
        let compiled = match node.op {
            Op::Add | Op::Int(_) => {
                let linear = terms.linear(term);
                self.linear(&linear)
            }
            Op::Mul if node.args.len() == 2 && node.sort == SortId::INT => {
                Some(Expression::Product(
                    Box::new(self.expression(node.args[0])),
                    Box::new(self.expression(node.args[1])),
                ))
            }
            Op::IDiv => whole_argument(1)
                .filter(|&by| by > 0)
                .map(|by| Expression::Quotient(Box::new(self.expression(node.args[0])), by)),
            Op::Mod => whole_argument(1)
                .filter(|&by| by > 0)
                .map(|by| Expression::Remainder(Box::new(self.expression(node.args[0])), by)),
            Op::Ite if node.sort == SortId::INT => Some(Expression::Choice(
                Box::new(self.test(node.args[0])),
                Box::new(self.expression(node.args[1])),
                Box::new(self.expression(node.args[2])),
            )),
            _ => None,
        };
        compiled.unwrap_or_else(|| Expression::Term(self.evaluated(term)))
    }

    /// Compiles a formula.
    fn test(&self, formula: TermId) -> Test {
        if !self.compiles() {
            return Test::Term(self.evaluated(formula));
        }
        let terms = self.terms;
        let node = terms.node(formula);
        let all = |args: &[TermId]| args.iter().map(|&a| self.test(a)).collect();
        let of_integers = !node.args.is_empty() && terms.sort_of(node.args[0]) == SortId::INT;
        let difference = |left: usize, right: usize| {
            let linear = terms.difference(node.args[left], node.args[right]);
            let factor = linear.integer_factor();
            self.linear(&linear.scaled(&factor))
        };
        let compiled = match node.op {
            Op::Not => Some(Test::Not(Box::new(self.test(node.args[0])))),
            Op::And => Some(Test::All(all(&node.args))),
            Op::Or => Some(Test::Any(all(&node.args))),
            Op::Eq if of_integers => difference(0, 1).map(Test::Zero),
            Op::Ge if of_integers => difference(0, 1).map(Test::AtLeast),
            Op::Le if of_integers => difference(1, 0).map(Test::AtLeast),
            _ => None,
        };
        compiled.unwrap_or_else(|| Test::Term(self.evaluated(formula)))
    }
}

/// One, with the sign of a number: multiplying an equation by it makes a factor positive.
fn num_rational(factor: &alphorn_term::Rational) -> alphorn_term::Rational {
    let one = alphorn_term::Rational::one();
    if factor.is_negative() { -one } else { one }
}

/// A whole number of moderate size.
fn whole(number: &alphorn_term::Rational) -> Option<i64> {
    let value = number.is_integer().then(|| number.to_integer())?.to_i64()?;
    (value.unsigned_abs() < 1 << 40).then_some(value)
}
