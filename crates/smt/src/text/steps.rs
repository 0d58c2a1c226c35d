//! Whether the assertions of a text imply ground steps `premises ⇒ fact`.
//!
//! Universal quantifiers in positive position of an assertion, and existential ones in negative
//! position, are instantiated with the values of the step. The assertion implies this instance,
//! whatever the values are, so they are only a hint. The instance has to be inconsistent with the
//! premises and the negated fact. Z3's simplifier shows this for nearly all steps; the solvers get
//! the others, first the instance, then the assertion, too.
//!
//! # Invariant
//! A step is implied only if Z3 simplifies the instance with premises and negated fact to `false`
//! or finds it unsatisfiable, with predicates uninterpreted, or if the fact is one of the premises.

use std::collections::HashMap;

use z3_sys::{
    DeclKind, SortKind, Z3_ast, Z3_get_app_arg, Z3_get_app_decl, Z3_get_app_num_args,
    Z3_get_quantifier_body, Z3_get_quantifier_bound_name, Z3_get_quantifier_bound_sort,
    Z3_get_quantifier_num_bound, Z3_get_sort, Z3_get_symbol_string, Z3_is_app, Z3_is_eq_sort,
    Z3_is_quantifier_exists, Z3_is_quantifier_forall, Z3_mk_and, Z3_mk_eq, Z3_mk_false,
    Z3_mk_fresh_const, Z3_mk_implies, Z3_mk_ite, Z3_mk_not, Z3_mk_or, Z3_mk_true, Z3_simplify,
    Z3_solver_assert, Z3_sort, Z3_substitute, Z3_substitute_vars, Z3_to_app,
};

use super::limits::LIMITS;
use super::{Answer, Core, TextContext, string};
use crate::context::{AstRef, Context};
use alphorn_term::run::Budget;

/// A clause of an assertion.
#[derive(Clone, Debug)]
pub struct ClauseText {
    /// The position of the assertion in the text, from 0.
    pub assertion: usize,
    /// The names of the clause's variables in the assertion.
    pub variables: Vec<String>,
}

/// A ground step. Its facts and values are assertions of the text, too, given by their positions
/// from 0: each is an atom, and a fact may be the negation of one.
#[derive(Clone, Debug)]
pub struct StepText {
    /// The index of the clause among the [`ClauseText`]s.
    pub clause: usize,
    /// The atom whose arguments are the values of the clause's variables, in their order.
    pub values: usize,
    /// The facts of the clause's body.
    pub premises: Vec<usize>,
    /// The derived fact; `None` for `false`.
    pub fact: Option<usize>,
}

/// The result of checking steps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StepsCheck {
    /// All steps are implied.
    Implied {
        /// The number of assertions that Z3 read.
        assertions: usize,
    },
    /// A step does not follow from its assertion.
    NotImplied {
        /// The position of the step, from 0.
        step: usize,
    },
    /// A step is not decided.
    Unknown {
        /// The position of the step, from 0.
        step: usize,
        /// Z3's reason, or what is wrong with the step.
        reason: String,
    },
    /// Z3's parser rejects the text, with its message.
    Malformed(String),
}

/// From what a step has to follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Premises {
    /// The instance of its assertion with its own values.
    Instance,
    /// Its assertion.
    Assertion,
    /// This number of assertions at the beginning of the text.
    Assertions(usize),
}

/// Whether each step follows from its facts and `premises`. Ends at the first step that is not
/// found to, and with the budget.
pub fn implied_steps(
    text: &str,
    clauses: &[ClauseText],
    steps: &[StepText],
    premises: Premises,
    budget: &Budget,
) -> StepsCheck {
    let context = TextContext::new(budget);
    let assertions = match context.parse(text) {
        Ok(assertions) => assertions,
        Err(message) => return StepsCheck::Malformed(message),
    };
    let mut checker = Checker {
        text: &context,
        assertions: &assertions,
        premises,
        matrices: clauses.iter().map(|_| None).collect(),
        simplified: HashMap::new(),
    };
    for (index, step) in steps.iter().enumerate() {
        match checker.check(&clauses[step.clause], step) {
            Ok(true) => {}
            Ok(false) => return StepsCheck::NotImplied { step: index },
            Err(reason) => {
                return StepsCheck::Unknown {
                    step: index,
                    reason,
                };
            }
        }
    }
    StepsCheck::Implied {
        assertions: assertions.len(),
    }
}

/// An assertion with constants for the variables of its instantiated quantifiers.
struct Matrix<'a> {
    formula: AstRef<'a>,
    /// The constants for the clause's variables, in their order.
    constants: Vec<AstRef<'a>>,
}

/// Checks the steps of one text.
struct Checker<'a> {
    text: &'a TextContext<'a>,
    assertions: &'a [Z3_ast],
    premises: Premises,
    /// By clause, made when first needed.
    matrices: Vec<Option<Matrix<'a>>>,
    /// Simplified facts, by position of the assertion.
    simplified: HashMap<usize, AstRef<'a>>,
}

impl<'a> Checker<'a> {
    /// Whether the step follows.
    ///
    /// # Errors
    /// Why this is not known.
    fn check(&mut self, clause: &ClauseText, step: &StepText) -> Result<bool, String> {
        if self.text.budget.is_spent() {
            return Err("timeout".to_owned());
        }
        let context = &self.text.z3;
        let facts = step.premises.iter().map(|&premise| self.atom(premise));
        let premises = facts.collect::<Result<Vec<_>, _>>()?;
        let fact = step.fact.map(|fact| self.atom(fact)).transpose()?;
        if fact.is_some_and(|fact| premises.contains(&fact)) {
            return Ok(true);
        }
        let values = arguments(context, self.atom(step.values)?);
        if values.len() != clause.variables.len() {
            return Err("a wrong number of values".to_owned());
        }
        let source = self.atom(clause.assertion)?;
        let matrix = match &mut self.matrices[step.clause] {
            Some(matrix) => matrix,
            empty => empty.insert(matrix(context, source, &clause.variables, &values)?),
        };
        let constants: Vec<Z3_ast> = matrix.constants.iter().map(|c| c.ast).collect();
        let instance = substitute(context, matrix.formula.ast, &constants, &values)?;
        let facts = step.premises.iter().map(|&premise| (premise, true));
        let facts = facts.chain(step.fact.map(|fact| (fact, false)));
        if self.reduces_to_false(instance.ast, &facts.collect::<Vec<_>>())? {
            return Ok(true);
        }
        let mut formulas = vec![instance];
        for &premise in &premises {
            formulas.push(AstRef::new(context, premise));
        }
        if let Some(fact) = fact {
            // SAFETY: the fact belongs to the context.
            formulas.push(referenced(context, unsafe {
                Z3_mk_not(context.raw, fact)
            })?);
        }
        self.contradicts(source, formulas)
    }

    /// The assertion at a position.
    fn atom(&self, assertion: usize) -> Result<Z3_ast, String> {
        let found = self.assertions.get(assertion).copied();
        found.ok_or_else(|| "an assertion is missing".to_owned())
    }

    /// Whether `instance` simplifies to `false` with these truth values for the facts.
    fn reduces_to_false(
        &mut self,
        instance: Z3_ast,
        facts: &[(usize, bool)],
    ) -> Result<bool, String> {
        let z3 = &self.text.z3;
        // After simplification the arguments of atoms are values, as those of simplified facts.
        let instance = simplify(z3, instance)?;
        // SAFETY: the context is alive.
        let (yes, no) = unsafe { (Z3_mk_true(z3.raw), Z3_mk_false(z3.raw)) };
        let (yes, no) = (referenced(z3, yes)?, referenced(z3, no)?);
        let (mut atoms, mut known) = (Vec::new(), Vec::new());
        for &(fact, holds) in facts {
            if !self.simplified.contains_key(&fact) {
                let simplified = simplify(z3, self.atom(fact)?)?;
                self.simplified.insert(fact, simplified);
            }
            let (atom, positive) = literal(z3, self.simplified[&fact].ast);
            atoms.push(atom);
            known.push(if holds == positive { yes.ast } else { no.ast });
        }
        let closed = substitute(z3, instance.ast, &atoms, &known)?;
        Ok(simplify(z3, closed.ast)?.ast == no.ast)
    }

    /// Whether `formulas`, the instance with the premises and the negated fact, or these together
    /// with the assertion, are unsatisfiable.
    fn contradicts(&self, source: Z3_ast, mut formulas: Vec<AstRef<'a>>) -> Result<bool, String> {
        let instance = self.query(&formulas, Core::Current)?;
        match instance {
            Answer::Unsat => return Ok(true),
            Answer::Sat if self.premises == Premises::Instance => return Ok(false),
            _ => {}
        }
        match self.premises {
            Premises::Assertions(count) => {
                let all = self.assertions.iter().take(count);
                formulas.extend(all.map(|&assertion| AstRef::new(&self.text.z3, assertion)));
            }
            _ => formulas.push(AstRef::new(&self.text.z3, source)),
        }
        match (instance, self.query(&formulas, Core::Tactics)?) {
            (_, Answer::Unsat) => Ok(true),
            (Answer::Unknown(reason), Answer::Unknown(_)) => Err(reason),
            // There is a model of the instance or of the assertion.
            _ => Ok(false),
        }
    }

    /// The answer of a new solver.
    fn query(&self, formulas: &[AstRef<'_>], core: Core) -> Result<Answer, String> {
        let mut solver = self.text.solver(core)?;
        for formula in formulas {
            // SAFETY: both belong to the context.
            unsafe { Z3_solver_assert(self.text.z3.raw, solver.raw, formula.ast) };
        }
        Ok(solver.check(Some(LIMITS.step_query_work)))
    }
}

/// The atom of a literal, and whether the literal is the atom itself.
fn literal(context: &Context, literal: Z3_ast) -> (Z3_ast, bool) {
    // SAFETY: the literal belongs to the context.
    let is_negation = unsafe {
        let app = Z3_to_app(context.raw, literal);
        let decl = app.and_then(|app| Z3_get_app_decl(context.raw, app));
        decl.is_some_and(|decl| context.decl_kind(decl) == DeclKind::Not as u32)
    };
    match arguments(context, literal)[..] {
        [atom] if is_negation => (atom, false),
        _ => (literal, true),
    }
}

/// The assertion with instantiated quantifiers: a constant for each variable of a clause, with the
/// sorts of `values`.
fn matrix<'a>(
    context: &'a Context,
    assertion: Z3_ast,
    names: &[String],
    values: &[Z3_ast],
) -> Result<Matrix<'a>, String> {
    let mut constants = Vec::with_capacity(values.len());
    let mut variables: HashMap<&str, Vec<(Z3_sort, Z3_ast)>> = HashMap::new();
    for (name, &value) in names.iter().zip(values) {
        // SAFETY: the value belongs to the context.
        let constant = unsafe {
            let sort = context.ok(Z3_get_sort(context.raw, value))?;
            let constant = Z3_mk_fresh_const(context.raw, c"v".as_ptr(), sort);
            let constant = referenced(context, constant)?;
            variables
                .entry(name)
                .or_default()
                .push((sort, constant.ast));
            constant
        };
        constants.push(constant);
    }
    let mut instantiation = Instantiation {
        context,
        variables,
        done: HashMap::new(),
        references: Vec::new(),
    };
    let formula = instantiation.instantiated(assertion)?;
    let formula = AstRef::new(context, formula);
    Ok(Matrix { formula, constants })
}

/// A subformula and whether it stands in positive position.
type Place = (Z3_ast, bool);

/// Instantiates quantifiers, in each subformula once for each polarity.
struct Instantiation<'a, 'n> {
    context: &'a Context,
    /// The constants by name, with their sorts.
    variables: HashMap<&'n str, Vec<(Z3_sort, Z3_ast)>>,
    done: HashMap<Place, Z3_ast>,
    /// References to the new formulas.
    references: Vec<AstRef<'a>>,
}

/// The structure of a subformula.
enum Shape {
    Leaf,
    Not(Z3_ast),
    And(Vec<Z3_ast>),
    Or(Vec<Z3_ast>),
    Implies(Z3_ast, Z3_ast),
    Ite(Z3_ast, Z3_ast, Z3_ast),
    Equal(Z3_ast, Z3_ast),
}

impl<'a> Instantiation<'a, '_> {
    /// The formula with instantiated quantifiers; iterative.
    fn instantiated(&mut self, root: Z3_ast) -> Result<Z3_ast, String> {
        let mut shapes: HashMap<Place, Shape> = HashMap::new();
        let mut stack = vec![(root, true)];
        while let Some(&place) = stack.last() {
            if self.done.contains_key(&place) {
                stack.pop();
                continue;
            }
            if let Some(shape) = shapes.remove(&place) {
                let formula = self.rebuild(place, &shape)?;
                self.done.insert(place, formula);
                stack.pop();
                continue;
            }
            let (formula, positive) = place;
            let shape = self.shape(formula, positive)?;
            match &shape {
                Shape::Leaf => {}
                &Shape::Not(inner) => stack.push((inner, !positive)),
                Shape::And(parts) | Shape::Or(parts) => {
                    stack.extend(parts.iter().map(|&part| (part, positive)));
                }
                &Shape::Implies(left, right) => {
                    stack.extend([(left, !positive), (right, positive)]);
                }
                &Shape::Ite(_, then, otherwise) => {
                    stack.extend([(then, positive), (otherwise, positive)]);
                }
                &Shape::Equal(left, right) => {
                    stack.extend([(left, true), (left, false), (right, true), (right, false)]);
                }
            }
            shapes.insert(place, shape);
        }
        Ok(self.done[&(root, true)])
    }

    /// The structure of a formula; that of a quantifier that is instantiated is the conjunction or
    /// disjunction of its instances.
    fn shape(&mut self, formula: Z3_ast, positive: bool) -> Result<Shape, String> {
        let raw = self.context.raw;
        // SAFETY: everything belongs to the context, and a formula references its parts.
        unsafe {
            if Z3_is_quantifier_forall(raw, formula) && positive {
                return Ok(self.instances(formula)?.map_or(Shape::Leaf, Shape::And));
            }
            if Z3_is_quantifier_exists(raw, formula) && !positive {
                return Ok(self.instances(formula)?.map_or(Shape::Leaf, Shape::Or));
            }
            if !Z3_is_app(raw, formula) {
                return Ok(Shape::Leaf);
            }
            let app = self.context.ok(Z3_to_app(raw, formula))?;
            let decl = self.context.ok(Z3_get_app_decl(raw, app))?;
            let kind = self.context.decl_kind(decl);
            let is = |wanted: DeclKind| kind == wanted as u32;
            let parts = || arguments(self.context, formula);
            if is(DeclKind::And) {
                return Ok(Shape::And(parts()));
            }
            if is(DeclKind::Or) {
                return Ok(Shape::Or(parts()));
            }
            if !(is(DeclKind::Not)
                || is(DeclKind::Implies)
                || is(DeclKind::Ite)
                || is(DeclKind::Eq)
                || is(DeclKind::Iff))
            {
                return Ok(Shape::Leaf);
            }
            let parts = parts();
            Ok(match *parts.as_slice() {
                [inner] if is(DeclKind::Not) => Shape::Not(inner),
                [left, right] if is(DeclKind::Implies) => Shape::Implies(left, right),
                [condition, then, otherwise] => Shape::Ite(condition, then, otherwise),
                [left, right] if self.is_boolean(left) => Shape::Equal(left, right),
                _ => Shape::Leaf,
            })
        }
    }

    fn is_boolean(&self, term: Z3_ast) -> bool {
        // SAFETY: the term belongs to the context.
        let sort = unsafe { Z3_get_sort(self.context.raw, term) };
        sort.is_some_and(|sort| self.context.sort_kind(sort) == SortKind::Bool as u32)
    }

    /// The instances of a quantifier with all constants of the names and sorts of its variables;
    /// `None` if there are none, or too many combinations.
    fn instances(&mut self, quantifier: Z3_ast) -> Result<Option<Vec<Z3_ast>>, String> {
        let (context, raw) = (self.context, self.context.raw);
        // SAFETY: everything belongs to the context; a quantifier has as many names and sorts as
        // bound variables, and the last one has index 0.
        unsafe {
            let count = Z3_get_quantifier_num_bound(raw, quantifier);
            let mut choices: Vec<Vec<Z3_ast>> = vec![Vec::new()];
            for i in (0..count).rev() {
                let name = context.ok(Z3_get_quantifier_bound_name(raw, quantifier, i))?;
                let name = string(Z3_get_symbol_string(raw, name));
                let sort = context.ok(Z3_get_quantifier_bound_sort(raw, quantifier, i))?;
                let candidates = self.variables.get(name.as_str()).into_iter().flatten();
                let candidates: Vec<Z3_ast> = candidates
                    .filter(|candidate| Z3_is_eq_sort(raw, candidate.0, sort))
                    .map(|candidate| candidate.1)
                    .collect();
                if choices.len() * candidates.len() > LIMITS.max_combinations {
                    return Ok(None);
                }
                let longer = |choice: &Vec<Z3_ast>| {
                    let extended = candidates.iter().map(|&c| [&choice[..], &[c]].concat());
                    extended.collect::<Vec<_>>()
                };
                choices = choices.iter().flat_map(longer).collect();
            }
            if choices.is_empty() {
                return Ok(None);
            }
            let body = context.ok(Z3_get_quantifier_body(raw, quantifier))?;
            let mut instances = Vec::with_capacity(choices.len());
            for choice in choices {
                let instance = Z3_substitute_vars(raw, body, count, choice.as_ptr());
                instances.push(self.keep(instance)?);
            }
            Ok(Some(instances))
        }
    }

    /// The formula of this structure, with its instantiated parts.
    fn rebuild(&mut self, place: Place, shape: &Shape) -> Result<Z3_ast, String> {
        let (formula, positive) = place;
        let raw = self.context.raw;
        let part = |part: Z3_ast, positive: bool| self.done[&(part, positive)];
        let parts = |list: &[Z3_ast]| list.iter().map(|&p| part(p, positive)).collect::<Vec<_>>();
        // SAFETY: everything belongs to the context, and `references` or the assertion references
        // it.
        let result = unsafe {
            match shape {
                Shape::Leaf => return Ok(formula),
                &Shape::Not(inner) => Z3_mk_not(raw, part(inner, !positive)),
                Shape::And(list) => {
                    let parts = parts(list);
                    Z3_mk_and(raw, parts.len() as u32, parts.as_ptr())
                }
                Shape::Or(list) => {
                    let parts = parts(list);
                    Z3_mk_or(raw, parts.len() as u32, parts.as_ptr())
                }
                &Shape::Implies(left, right) => {
                    Z3_mk_implies(raw, part(left, !positive), part(right, positive))
                }
                &Shape::Ite(condition, then, otherwise) => {
                    let (then, otherwise) = (part(then, positive), part(otherwise, positive));
                    Z3_mk_ite(raw, condition, then, otherwise)
                }
                &Shape::Equal(left, right) => {
                    let sides = |positive| [part(left, positive), part(right, positive)];
                    let (kept, opposite) = (sides(positive), sides(!positive));
                    if kept == opposite {
                        Z3_mk_eq(raw, kept[0], kept[1])
                    } else {
                        // Each side is a premise of one implication and the conclusion of the
                        // other.
                        let right = Z3_mk_implies(raw, opposite[0], kept[1]);
                        let right = self.keep(right)?;
                        let left = Z3_mk_implies(raw, opposite[1], kept[0]);
                        let both = [right, self.keep(left)?];
                        Z3_mk_and(raw, 2, both.as_ptr())
                    }
                }
            }
        };
        self.keep(result)
    }

    /// Keeps a reference to a new formula.
    fn keep(&mut self, made: Option<Z3_ast>) -> Result<Z3_ast, String> {
        let reference = referenced(self.context, made)?;
        let formula = reference.ast;
        self.references.push(reference);
        Ok(formula)
    }
}

/// A reference to a new term, or Z3's message if there is none.
fn referenced(context: &Context, made: Option<Z3_ast>) -> Result<AstRef<'_>, String> {
    Ok(AstRef::new(context, context.ok(made)?))
}

pub(super) fn simplify(context: &Context, formula: Z3_ast) -> Result<AstRef<'_>, String> {
    // SAFETY: the formula belongs to the context.
    referenced(context, unsafe { Z3_simplify(context.raw, formula) })
}

fn substitute<'a>(
    context: &'a Context,
    formula: Z3_ast,
    from: &[Z3_ast],
    to: &[Z3_ast],
) -> Result<AstRef<'a>, String> {
    debug_assert_eq!(from.len(), to.len());
    let count = from.len() as u32;
    // SAFETY: both lists have this length, and everything belongs to the context.
    referenced(context, unsafe {
        Z3_substitute(context.raw, formula, count, from.as_ptr(), to.as_ptr())
    })
}

/// The arguments of an application; none for another term.
pub(super) fn arguments(context: &Context, application: Z3_ast) -> Vec<Z3_ast> {
    // SAFETY: the application belongs to the context and references its arguments.
    unsafe {
        let Some(app) = Z3_to_app(context.raw, application) else {
            return Vec::new();
        };
        let count = Z3_get_app_num_args(context.raw, app);
        (0..count)
            .filter_map(|i| Z3_get_app_arg(context.raw, app, i))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use alphorn_term::TermStore;

    /// The result for a step whose clause is the first assertion; the values of `x`, the premises
    /// and the fact are the next ones.
    fn check(assertion: &str, values: &str, premises: &[&str], fact: Option<&str>) -> StepsCheck {
        let mut text = format!(
            "(declare-fun P (Int) Bool) (declare-fun Q (Int) Bool) (declare-fun values (Int) Bool)
             (assert {assertion}) (assert (values {values}))"
        );
        for atom in premises.iter().chain(&fact) {
            text.push_str(&format!("(assert {atom})"));
        }
        let clause = ClauseText {
            assertion: 0,
            variables: vec!["x".to_owned()],
        };
        let step = StepText {
            clause: 0,
            values: 1,
            premises: (2..2 + premises.len()).collect(),
            fact: fact.map(|_| 2 + premises.len()),
        };
        let budget = Budget::new(Rc::new(TermStore::new()), Default::default(), false);
        implied_steps(&text, &[clause], &[step], Premises::Assertion, &budget)
    }

    #[test]
    fn values_are_only_a_hint() {
        let counts = "(forall ((x Int)) (=> (P x) (P (+ x 1))))";
        let implied = |assertions| StepsCheck::Implied { assertions };
        let not_implied = StepsCheck::NotImplied { step: 0 };
        assert_eq!(check(counts, "1", &["(P 1)"], Some("(P 2)")), implied(4));
        assert_eq!(check(counts, "2", &["(P 1)"], Some("(P 2)")), implied(4));
        assert_eq!(check(counts, "1", &["(P 1)"], Some("(P 0)")), not_implied);
        assert_eq!(check(counts, "1", &["(P 1)"], None), not_implied);
        assert_eq!(check(counts, "1", &[], Some("(P 2)")), not_implied);
        assert_eq!(check(counts, "1", &["(Q 1)"], Some("(P 2)")), not_implied);
        // A premise is implied by any assertion.
        assert_eq!(check(counts, "7", &["(P 1)"], Some("(P 1)")), implied(4));
    }

    #[test]
    fn polarity_decides_which_quantifiers_are_instantiated() {
        let implied = |assertions| StepsCheck::Implied { assertions };
        let not_implied = StepsCheck::NotImplied { step: 0 };
        let fact = Some("(Q 0)");
        for (assertion, expected) in [
            ("(=> (exists ((x Int)) (P x)) (Q 0))", implied(4)),
            ("(=> (forall ((x Int)) (P x)) (Q 0))", not_implied.clone()),
            ("(or (Q 0) (not (exists ((x Int)) (P x))))", implied(4)),
            ("(= (Q 0) (exists ((x Int)) (P x)))", implied(4)),
            ("(= (Q 0) (forall ((x Int)) (P x)))", not_implied.clone()),
            (
                "(ite (Q 0) true (forall ((x Int)) (not (P x))))",
                implied(4),
            ),
            ("(exists ((x Int)) (=> (P x) (Q 0)))", not_implied.clone()),
        ] {
            assert_eq!(
                check(assertion, "5", &["(P 5)"], fact),
                expected,
                "{assertion}"
            );
        }
        // A quantified constraint needs the solver.
        let odd = "(forall ((x Int)) (=> (forall ((k Int)) (distinct x (* 2 k))) (P x)))";
        assert_eq!(check(odd, "7", &[], Some("(P 7)")), implied(3));
    }

    #[test]
    fn divisions_by_zero_have_any_value() {
        let implied = |assertions| StepsCheck::Implied { assertions };
        let same = "(forall ((x Int)) (=> (= (div x 0) (div x 0)) (P x)))";
        assert_eq!(check(same, "7", &[], Some("(P 7)")), implied(3));
        let positive = "(forall ((x Int)) (=> (> (div x 0) 0) (P x)))";
        let not_implied = StepsCheck::NotImplied { step: 0 };
        assert_eq!(check(positive, "7", &[], Some("(P 7)")), not_implied);
    }

    #[test]
    fn text_that_z3_rejects() {
        let found = check("(P y)", "0", &[], None);
        assert!(matches!(found, StepsCheck::Malformed(_)), "{found:?}");
    }
}
