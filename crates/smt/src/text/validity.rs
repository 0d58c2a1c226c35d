//! Validity of a text's assertions: several methods have turns on each.
//!
//! # Invariant
//! An assertion is valid only if Z3 finds its negation unsatisfiable, or a formula that is
//! satisfiable if the negation is, or, for an implication, the premise with the negation of each
//! conclusion.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};
use z3_sys::{
    DeclKind, SortKind, Z3_ast, Z3_get_app_arg, Z3_get_app_decl, Z3_get_app_num_args,
    Z3_get_quantifier_body, Z3_get_quantifier_bound_sort, Z3_get_quantifier_num_bound, Z3_get_sort,
    Z3_get_sort_kind, Z3_is_app, Z3_is_quantifier_exists, Z3_is_quantifier_forall,
    Z3_mk_fresh_const, Z3_mk_not, Z3_sort, Z3_substitute_vars, Z3_to_app, Z3_update_term,
};

use super::instances::Instances;
use super::integers::over_integers;
use super::limits::LIMITS;
use super::uninterpreted::{Hard, application, hard_operations, with_functions};
use super::{Answer, Core, TextContext, TextSolver};
use alphorn_term::TermStore;
use alphorn_term::run::{Budget, spawn_worker};

/// A method to check an assertion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Method {
    /// The incremental solver with Z3's older simplex solver, the same for all assertions. It is
    /// much faster on some large linear ones.
    Incremental,
    /// Uninterpreted functions in place of hard operations ([`with_functions`]), optionally after
    /// solving equations of variables.
    Functions { solved: bool },
    /// The translation to integers, for bit-vectors and Booleans only ([`over_integers`]).
    Integers,
    /// The assertion's conclusions one by one ([`conclusions_of`]), by an incremental solver.
    Conclusions,
    /// Instances of universal subformulas ([`Instances`]).
    Instances,
    /// Z3's SAT solver for a short time, in the first round only.
    Soon,
    /// A new solver for the negated assertion.
    Alone(Core),
}

/// The methods for an assertion without quantifiers, in the order of their turns.
const METHODS: [Method; 4] = [
    Method::Incremental,
    Method::Conclusions,
    Method::Alone(Core::Current),
    Method::Alone(Core::Tactics),
];

/// The methods for an assertion about bit-vectors and Booleans only. Inequalities between sums are
/// easy for integers, most of them at once, and may be too hard for bit-blasting; on most others Z3's
/// SAT solver, which has all bits at once, is faster than the incremental solver.
const BIT_VECTORS: [Method; 7] = [
    Method::Incremental,
    Method::Integers,
    Method::Soon,
    Method::Integers,
    Method::Alone(Core::BitVectors),
    Method::Conclusions,
    Method::Alone(Core::Tactics),
];

/// The methods for hard operations.
const WITH_FUNCTIONS: [Method; 2] = [
    Method::Functions { solved: false },
    Method::Functions { solved: true },
];

/// The methods for an assertion with quantifiers. The incremental solver is last, since without
/// relevancy it may instantiate quantifiers with all terms, forever.
const QUANTIFIED: [Method; 5] = [
    Method::Alone(Core::Current),
    Method::Instances,
    Method::Conclusions,
    Method::Alone(Core::Tactics),
    Method::Incremental,
];

/// The methods for an assertion, in the order of their turns.
fn methods(hard: Hard, quantified: bool, only_bit_vectors: bool) -> Vec<Method> {
    let mut methods = match (quantified, only_bit_vectors) {
        (true, _) => QUANTIFIED.to_vec(),
        (false, true) => BIT_VECTORS.to_vec(),
        (false, false) => METHODS.to_vec(),
    };
    match hard {
        Hard::No => {}
        Hard::Operations => drop(methods.splice(1..1, WITH_FUNCTIONS)),
        // First of all, since bit-blasting of conversions ignores limits.
        Hard::Conversions => drop(methods.splice(0..0, WITH_FUNCTIONS)),
    }
    methods
}

/// The work of a method's turn in a round from 0, in nominal time; `None` for all that is left.
pub(super) fn turn_work(round: u32) -> Option<Duration> {
    let limited = round < LIMITS.max_limited_rounds;
    limited.then(|| LIMITS.first_turn_work * LIMITS.turn_growth.pow(round))
}

/// The result of checking the assertions of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TextCheck {
    /// All assertions are valid.
    Valid {
        /// The number of assertions that Z3 read.
        assertions: usize,
    },
    /// An assertion is false in some interpretation.
    Invalid {
        /// The position of the assertion, from 0.
        assertion: usize,
    },
    /// An assertion is not decided.
    Unknown {
        /// The position of the assertion, from 0.
        assertion: usize,
        /// Z3's reason.
        reason: String,
    },
    /// Z3's parser rejects the text, with its message.
    Malformed(String),
}

/// Whether each assertion in `text` is valid on its own, that is, its negation is unsatisfiable.
/// Ends at the first assertion that is not found valid, and with the budget.
pub fn valid_assertions(text: &str, budget: &Budget) -> TextCheck {
    valid_unless(text, budget, || false)
}

/// The results of [`valid_assertions`] for several texts, each in a thread and a context of its own.
/// When a text has an assertion that is not found valid, those after it end with `Unknown`.
pub fn valid_texts(texts: Vec<String>, budget: &Budget) -> Vec<TextCheck> {
    let without = TextCheck::Unknown {
        assertion: 0,
        reason: "its thread gave no result".to_owned(),
    };
    let mut results = vec![without; texts.len()];
    let first_failed = Arc::new(AtomicUsize::new(usize::MAX));
    let (sender, receiver) = channel();
    for (at, text) in texts.into_iter().enumerate() {
        let (sender, first_failed) = (sender.clone(), first_failed.clone());
        let share = budget.share();
        let started = spawn_worker(move || {
            let terms = Rc::new(TermStore::new());
            let is_late = || first_failed.load(Ordering::Relaxed) < at;
            let result = valid_unless(&text, &share.budget(terms.clone()), is_late);
            if !matches!(result, TextCheck::Valid { .. }) {
                first_failed.fetch_min(at, Ordering::Relaxed);
            }
            // The receiver waits for all senders.
            let _ = sender.send((at, result, terms.work()));
        });
        if let Err(error) = started {
            log::warn!("a part of a check has no thread: {error}");
        }
    }
    drop(sender);
    for (at, result, work) in receiver {
        budget.terms().charge(work);
        results[at] = result;
    }
    results
}

/// As [`valid_assertions`]; also ends, with `Unknown`, before an assertion when `is_late`.
fn valid_unless(text: &str, budget: &Budget, is_late: impl Fn() -> bool) -> TextCheck {
    let context = TextContext::new(budget);
    let assertions = match context.parse(text) {
        Ok(assertions) => assertions,
        Err(message) => return TextCheck::Malformed(message),
    };
    let mut incremental = match context.solver(Core::Simplex) {
        Ok(solver) => solver,
        Err(message) => return TextCheck::Malformed(message),
    };
    let mut best = None;
    let mut constants = Constants::default();
    for (assertion, &formula) in assertions.iter().enumerate() {
        if is_late() {
            let reason = "an assertion before it is not valid".to_owned();
            return TextCheck::Unknown { assertion, reason };
        }
        constants.restart();
        match valid(
            &context,
            &mut constants,
            &mut incremental,
            formula,
            &mut best,
        ) {
            Ok(Answer::Unsat) => {}
            Ok(Answer::Sat) => return TextCheck::Invalid { assertion },
            Ok(Answer::Unknown(reason)) | Err(reason) => {
                return TextCheck::Unknown { assertion, reason };
            }
        }
    }
    TextCheck::Valid {
        assertions: assertions.len(),
    }
}

/// The answer about the negation of a formula, by all methods in turn. `best` is the method that
/// answered the formula before, and becomes the one that answers this.
fn valid(
    context: &TextContext<'_>,
    constants: &mut Constants,
    incremental: &mut TextSolver<'_>,
    formula: Z3_ast,
    best: &mut Option<Method>,
) -> Result<Answer, String> {
    let z3 = &context.z3;
    let outer = with_constants(context, constants, formula).ok_or_else(|| z3.error())?;
    let body = without_universals(context, constants, outer).ok_or_else(|| z3.error())?;
    if body != outer && is_valid_as_it_stands(context, outer)? {
        return Ok(Answer::Unsat);
    }
    // SAFETY: the formula belongs to the context.
    let negation = z3.keep(z3.ok(unsafe { Z3_mk_not(z3.raw, body) })?);
    incremental.push(negation);
    let answer = in_turns(context, incremental, (body, negation), best);
    incremental.pop();
    answer
}

/// Whether a short query finds a formula valid. Subformulas with quantifiers that occur both in the
/// premise and in the conclusion are equal here, but not when one has constants for its variables.
fn is_valid_as_it_stands(context: &TextContext<'_>, formula: Z3_ast) -> Result<bool, String> {
    let z3 = &context.z3;
    // SAFETY: the formula belongs to the context.
    let negation = z3.keep(z3.ok(unsafe { Z3_mk_not(z3.raw, formula) })?);
    let mut solver = context.solver(Core::Patterns)?;
    solver.assert(negation);
    let limit = LIMITS.first_turn_work / LIMITS.quantified_divisor;
    Ok(matches!(solver.check(Some(limit)), Answer::Unsat))
}

/// The answer about the negation of a formula, which is asserted in the incremental solver.
fn in_turns(
    context: &TextContext<'_>,
    incremental: &mut TextSolver<'_>,
    (formula, negation): (Z3_ast, Z3_ast),
    best: &mut Option<Method>,
) -> Result<Answer, String> {
    let quantified = has_quantifiers(context, negation);
    let only_bit_vectors = !quantified && only_bit_vectors(context, negation);
    let conclusions_lead = !only_bit_vectors && !quantified;
    let hard = hard_operations(context, negation);
    let mut methods = methods(hard, quantified, only_bit_vectors);
    // Assertions of a text are similar. Only integers are fast enough to come first.
    if *best == Some(Method::Integers)
        && let Some(at) = methods.iter().position(|&m| m == Method::Integers)
    {
        methods[..=at].rotate_right(1);
    }
    let mut exact_integers = false;
    let mut open: Option<OpenConclusions> = None;
    let mut by_instances: Option<ByInstances> = None;
    let mut others: Vec<(Method, TextSolver)> = Vec::new();
    let mut last = "timeout".to_owned();
    for round in 0..=LIMITS.max_limited_rounds {
        let limit = turn_work(round);
        let mut again = Vec::new();
        for method in methods {
            if context.budget.is_spent() {
                return Ok(Answer::Unknown("timeout".to_owned()));
            }
            let started = Instant::now();
            let is_first = round == 0 && !others.iter().any(|(own, _)| *own == method);
            if method == Method::Integers && is_first {
                let Some(weaker) = over_integers(context, negation) else {
                    continue;
                };
                exact_integers = weaker.exact;
                let mut solver = context.solver(Core::Current)?;
                solver.assert(weaker.formula);
                others.push((method, solver));
            }
            // In later rounds the incremental solver continues with what it has learnt.
            let continues = only_bit_vectors && round > 0 && method == Method::Incremental;
            let factor = match method {
                Method::Alone(Core::BitVectors) => LIMITS.sat_factor,
                Method::Incremental if continues || !only_bit_vectors => LIMITS.incremental_factor,
                Method::Conclusions if conclusions_lead && round > 0 => LIMITS.conclusion_factor,
                Method::Conclusions if conclusions_lead => LIMITS.incremental_factor,
                Method::Integers if exact_integers => LIMITS.exact_integers_factor,
                _ => 1,
            };
            let limit = limit.map(|limit| match method {
                Method::Integers if is_first => limit / LIMITS.first_integers_divisor,
                _ => limit * factor,
            });
            let answer = match method {
                Method::Incremental => incremental.check(limit),
                Method::Conclusions => {
                    if round == 0 {
                        open = OpenConclusions::new(context, formula)?;
                    }
                    match &mut open {
                        Some(open) => open.all_unsatisfiable(limit)?,
                        None => Answer::Unknown(String::new()),
                    }
                }
                Method::Functions { solved } => {
                    if round == 0 {
                        let weaker = with_functions(context, negation, solved);
                        let Some(weaker) = weaker else { continue };
                        let mut solver = context.solver(Core::Simplex)?;
                        solver.assert(weaker);
                        others.push((method, solver));
                    }
                    match solver_of(method, &mut others).check(limit) {
                        Answer::Sat => Answer::Unknown("with functions".to_owned()),
                        answer => answer,
                    }
                }
                Method::Instances => {
                    if round == 0 {
                        by_instances = ByInstances::new(context, negation);
                    }
                    match &mut by_instances {
                        Some(instances) => instances.check(limit)?,
                        None => Answer::Unknown(String::new()),
                    }
                }
                Method::Integers if round == 0 && !is_first && !again.contains(&method) => continue,
                Method::Integers => match solver_of(method, &mut others).check(limit) {
                    Answer::Sat => Answer::Unknown("over integers".to_owned()),
                    answer => answer,
                },
                Method::Soon if round > 0 => continue,
                Method::Soon => {
                    let mut solver = context.solver(Core::BitVectors)?;
                    solver.assert(negation);
                    solver.check(limit)
                }
                Method::Alone(core) => {
                    // Z3's SAT solver has given wrong answers when it continued.
                    if round == 0 || core == Core::BitVectors {
                        others.retain(|(own, _)| *own != method);
                        let mut solver = context.solver(core)?;
                        solver.assert(negation);
                        others.push((method, solver));
                    }
                    let short = quantified && round == 0 && core == Core::Current;
                    let limit = if short {
                        limit.map(|l| l / LIMITS.quantified_divisor)
                    } else {
                        limit
                    };
                    solver_of(method, &mut others).check(limit)
                }
            };
            if round > 0 || method != Method::Incremental {
                let seconds = started.elapsed().as_secs_f64();
                log::debug!("an assertion, {method:?}: {seconds:.3} s");
            }
            match answer {
                Answer::Unknown(reason) => {
                    // A method that ends before its limit has no further turn.
                    if ended_at_a_limit(&reason) && !again.contains(&method) {
                        again.push(method);
                    }
                    if !reason.is_empty() {
                        last = reason;
                    }
                }
                answer => {
                    *best = Some(method);
                    return Ok(answer);
                }
            }
        }
        if again.is_empty() {
            break;
        }
        if conclusions_lead {
            again.sort_by_key(|&method| method != Method::Conclusions);
        }
        methods = again;
    }
    Ok(Answer::Unknown(last))
}

/// The instances of a formula, and a solver for those of the current round.
struct ByInstances<'a, 'b> {
    instances: Instances<'a, 'b>,
    solver: Option<TextSolver<'a>>,
}

impl<'a, 'b> ByInstances<'a, 'b> {
    fn new(context: &'a TextContext<'b>, formula: Z3_ast) -> Option<Self> {
        Some(ByInstances {
            instances: Instances::new(context, formula)?,
            solver: None,
        })
    }

    /// `Unsat` if the instances of some round are unsatisfiable; otherwise `Unknown`.
    fn check(&mut self, limit: Option<Duration>) -> Result<Answer, String> {
        loop {
            if self.solver.is_none() {
                let Some(formula) = self.instances.next() else {
                    return Ok(Answer::Unknown("by instances".to_owned()));
                };
                let mut solver = self.instances.context.solver(Core::Current)?;
                solver.assert(formula);
                self.solver = Some(solver);
            }
            match self.solver.as_mut().map(|solver| solver.check(limit)) {
                Some(Answer::Sat) | None => self.solver = None,
                Some(answer) => return Ok(answer),
            }
        }
    }
}

/// The solver that a method made in its first turn.
fn solver_of<'s, 'a>(
    method: Method,
    others: &'s mut [(Method, TextSolver<'a>)],
) -> &'s mut TextSolver<'a> {
    let own = others.iter_mut().find(|(own, _)| *own == method);
    &mut own.expect("a method has a turn in the first round").1
}

/// Whether Z3's reason for an unknown answer is a limit or an interrupt.
pub(super) fn ended_at_a_limit(reason: &str) -> bool {
    let parts = ["resource", "cancel", "timeout", "interrupt"];
    parts.iter().any(|part| reason.contains(part))
}

/// An implication `premise ⇒ c1 ∧ … ∧ cn`.
struct Implication {
    premise: Z3_ast,
    conclusions: Vec<Z3_ast>,
}

/// The conclusions that are not checked yet, and a solver for them.
struct OpenConclusions<'a> {
    solver: TextSolver<'a>,
    /// The premise, if it has quantifiers; otherwise it is asserted in the solver. Z3 would
    /// instantiate an asserted one in `push`, without a limit.
    premise: Option<Z3_ast>,
    conclusions: VecDeque<Z3_ast>,
}

impl<'a> OpenConclusions<'a> {
    /// The conclusions of a formula; `None` if it is no implication with several.
    fn new(context: &'a TextContext<'a>, formula: Z3_ast) -> Result<Option<Self>, String> {
        let Some(implication) = conclusions_of(context, formula) else {
            return Ok(None);
        };
        let quantified = has_quantifiers(context, implication.premise);
        let core = match quantified {
            true => Core::Current,
            false => Core::Simplex,
        };
        let mut solver = context.solver(core)?;
        if !quantified {
            solver.assert(implication.premise);
        }
        Ok(Some(OpenConclusions {
            solver,
            premise: quantified.then_some(implication.premise),
            conclusions: implication.conclusions.into(),
        }))
    }

    /// `Unsat` if the premise is found unsatisfiable with the negation of each conclusion;
    /// otherwise `Unknown`, at the first that is not. Conclusions that are done are not checked
    /// again. The limit is for each conclusion, in nominal time.
    fn all_unsatisfiable(&mut self, limit: Option<Duration>) -> Result<Answer, String> {
        let context = self.solver.context;
        let z3 = &context.z3;
        while let Some(&conclusion) = self.conclusions.front() {
            // SAFETY: the formula belongs to the context.
            let negation = z3.keep(z3.ok(unsafe { Z3_mk_not(z3.raw, conclusion) })?);
            self.solver.push(negation);
            if let Some(premise) = self.premise {
                self.solver.assert(premise);
            }
            let answer = self.solver.check(limit);
            self.solver.pop();
            match answer {
                Answer::Unsat => self.conclusions.pop_front(),
                answer => {
                    // The next turn begins with the others.
                    self.conclusions.rotate_left(1);
                    return Ok(match answer {
                        Answer::Unknown(reason) => Answer::Unknown(reason),
                        // The other methods decide about the whole assertion.
                        _ => Answer::Unknown("by conclusions".to_owned()),
                    });
                }
            };
        }
        Ok(Answer::Unsat)
    }
}

/// Constants for bound variables. Formulas that are never in one query share them, since making a
/// constant takes longer than many a query.
#[derive(Default)]
pub(super) struct Constants {
    by_sort: FxHashMap<Z3_sort, Vec<Z3_ast>>,
    /// How many of a sort the current formula has.
    used: FxHashMap<Z3_sort, usize>,
}

impl Constants {
    /// Begins another formula, which may have the constants of the formulas before it.
    fn restart(&mut self) {
        self.used.clear();
    }

    /// A constant that the current formula does not have yet; `None` if Z3 fails.
    ///
    /// # Safety
    /// The sort belongs to the context, and is referenced as long as the constants are used.
    unsafe fn next(&mut self, context: &TextContext<'_>, sort: Z3_sort) -> Option<Z3_ast> {
        let used = self.used.entry(sort).or_default();
        let made = self.by_sort.entry(sort).or_default();
        if made.len() == *used {
            // SAFETY: the sort belongs to the context; a kept constant keeps its sort.
            let constant = unsafe { Z3_mk_fresh_const(context.z3.raw, c"v".as_ptr(), sort)? };
            made.push(context.z3.keep(constant));
        }
        *used += 1;
        Some(made[*used - 1])
    }
}

/// A formula with constants for the variables of its outermost universal quantifier.
pub(super) fn with_constants(
    context: &TextContext<'_>,
    constants: &mut Constants,
    formula: Z3_ast,
) -> Option<Z3_ast> {
    // SAFETY: the formula belongs to the context.
    if unsafe { Z3_is_quantifier_forall(context.z3.raw, formula) } {
        instance(context, constants, formula)
    } else {
        Some(formula)
    }
}

/// The body of a quantifier with constants for its variables.
fn instance(
    context: &TextContext<'_>,
    constants: &mut Constants,
    formula: Z3_ast,
) -> Option<Z3_ast> {
    let z3 = &context.z3;
    // SAFETY: everything belongs to this context and is referenced; a quantifier has as many sorts
    // as bound variables, and the last one has index 0.
    unsafe {
        let count = Z3_get_quantifier_num_bound(z3.raw, formula);
        let constants = (0..count)
            .rev()
            .map(|i| {
                let sort = Z3_get_quantifier_bound_sort(z3.raw, formula, i)?;
                constants.next(context, sort)
            })
            .collect::<Option<Vec<Z3_ast>>>()?;
        let body = Z3_get_quantifier_body(z3.raw, formula)?;
        let body = Z3_substitute_vars(z3.raw, body, count, constants.as_ptr())?;
        Some(z3.keep(body))
    }
}

/// A formula without an outermost universal quantifier, with constants for the variables of universal
/// quantifiers in positive position and existential ones in negative position, since texts nest
/// clauses in conclusions. It is valid exactly if the formula is. `None` if Z3 fails.
fn without_universals(
    context: &TextContext<'_>,
    constants: &mut Constants,
    first: Z3_ast,
) -> Option<Z3_ast> {
    let z3 = &context.z3;
    if !has_quantifiers(context, first) {
        return Some(first);
    }
    // By subformula and polarity.
    let mut done: FxHashMap<(Z3_ast, bool), Z3_ast> = FxHashMap::default();
    let mut instances: FxHashMap<(Z3_ast, bool), Z3_ast> = FxHashMap::default();
    let mut stack = vec![(first, true)];
    while let Some(&(term, positive)) = stack.last() {
        let key = (term, positive);
        if done.contains_key(&key) {
            stack.pop();
            continue;
        }
        // SAFETY: the term belongs to the context.
        let is_universal = unsafe {
            match positive {
                true => Z3_is_quantifier_forall(z3.raw, term),
                false => Z3_is_quantifier_exists(z3.raw, term),
            }
        };
        if is_universal {
            let body = match instances.get(&key) {
                Some(&body) => body,
                None => instance(context, constants, term)?,
            };
            instances.insert(key, body);
            match done.get(&(body, positive)) {
                Some(&made) => drop(done.insert(key, made)),
                None => stack.push((body, positive)),
            }
            continue;
        }
        let Some((decl, args)) = application(context, term) else {
            done.insert(key, term);
            continue;
        };
        let kind = z3.decl_kind(decl);
        let is = |wanted: DeclKind| kind == wanted as u32;
        let sides: Vec<bool> = match args.len() {
            1 if is(DeclKind::Not) => vec![!positive],
            2 if is(DeclKind::Implies) => vec![!positive, positive],
            count if is(DeclKind::And) || is(DeclKind::Or) => vec![positive; count],
            _ => {
                done.insert(key, term);
                continue;
            }
        };
        let parts: Vec<(Z3_ast, bool)> = args.iter().copied().zip(sides).collect();
        let before = stack.len();
        stack.extend(parts.iter().filter(|part| !done.contains_key(part)));
        if stack.len() > before {
            continue;
        }
        let made: Vec<Z3_ast> = parts.iter().map(|part| done[part]).collect();
        let result = if made == args {
            term
        } else {
            // SAFETY: as many formulas as before.
            z3.keep(unsafe { Z3_update_term(z3.raw, term, made.len() as u32, made.as_ptr())? })
        };
        done.insert(key, result);
    }
    done.get(&(first, true)).copied()
}

/// The premise and the conclusions of an implication; `None` if the formula is no implication with
/// several conclusions.
fn conclusions_of(context: &TextContext<'_>, formula: Z3_ast) -> Option<Implication> {
    let implication = arguments(context, formula, DeclKind::Implies)?;
    let &[premise, conclusion] = implication.as_slice() else {
        return None;
    };
    let mut conclusions = Vec::new();
    let mut open = vec![conclusion];
    while let Some(formula) = open.pop() {
        match arguments(context, formula, DeclKind::And) {
            Some(parts) => open.extend(parts),
            None => conclusions.push(formula),
        }
    }
    (conclusions.len() > 1 && context.z3.failed().is_none()).then_some(Implication {
        premise,
        conclusions,
    })
}

/// Whether a formula has a quantifier.
pub(super) fn has_quantifiers(context: &TextContext<'_>, formula: Z3_ast) -> bool {
    // SAFETY: the terms belong to this context.
    some_term(context, formula, |term| unsafe {
        !Z3_is_app(context.z3.raw, term)
    })
}

/// Whether all terms of a quantifier-free formula are bit-vectors or Booleans, without
/// uninterpreted functions.
fn only_bit_vectors(context: &TextContext<'_>, formula: Z3_ast) -> bool {
    let z3 = &context.z3;
    let is_known = |term: Z3_ast| {
        // SAFETY: the term belongs to this context.
        unsafe {
            let sort = Z3_get_sort(z3.raw, term)?;
            let kind = Z3_get_sort_kind(z3.raw, sort);
            let app = Z3_to_app(z3.raw, term)?;
            let decl = z3.decl_kind(Z3_get_app_decl(z3.raw, app)?);
            let free = decl == DeclKind::Uninterpreted as u32;
            let function = free && Z3_get_app_num_args(z3.raw, app) > 0;
            Some(matches!(kind, SortKind::Bool | SortKind::Bv) && !function)
        }
    };
    !some_term(context, formula, |term| is_known(term) != Some(true))
}

/// Whether `predicate` holds of some subterm of a formula; those below quantifiers are not visited.
fn some_term(
    context: &TextContext<'_>,
    formula: Z3_ast,
    predicate: impl Fn(Z3_ast) -> bool,
) -> bool {
    let z3 = &context.z3;
    let mut seen: FxHashSet<Z3_ast> = FxHashSet::default();
    let mut open = vec![formula];
    while let Some(term) = open.pop() {
        if !seen.insert(term) {
            continue;
        }
        if predicate(term) {
            return true;
        }
        // SAFETY: everything belongs to this context, and arguments live as long as the formula.
        unsafe {
            if !Z3_is_app(z3.raw, term) {
                continue;
            }
            let Some(app) = Z3_to_app(z3.raw, term) else {
                continue;
            };
            let count = Z3_get_app_num_args(z3.raw, app);
            open.extend((0..count).filter_map(|i| Z3_get_app_arg(z3.raw, app, i)));
        }
    }
    false
}

/// The arguments of an application of an operation of this kind; `None` for another term.
fn arguments(context: &TextContext<'_>, formula: Z3_ast, kind: DeclKind) -> Option<Vec<Z3_ast>> {
    let z3 = &context.z3;
    // SAFETY: everything belongs to this context.
    unsafe {
        if !Z3_is_app(z3.raw, formula) {
            return None;
        }
        let app = Z3_to_app(z3.raw, formula)?;
        if z3.decl_kind(Z3_get_app_decl(z3.raw, app)?) != kind as u32 {
            return None;
        }
        (0..Z3_get_app_num_args(z3.raw, app))
            .map(|i| Z3_get_app_arg(z3.raw, app, i))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget() -> Budget {
        Budget::new(Rc::new(TermStore::new()), Default::default(), false)
    }

    #[test]
    fn valid_and_invalid_assertions() {
        let text = "(define-fun p ((x Int)) Bool (>= x 0))
            (assert (forall ((x Int)) (=> (= x 1) (p x))))
            (assert (forall ((x Int)) (=> (p x) (p (+ x 1)))))";
        assert_eq!(
            valid_assertions(text, &budget()),
            TextCheck::Valid { assertions: 2 }
        );
        let text = format!("{text} (assert (forall ((x Int)) (=> (p x) (p (- x 1)))))");
        assert_eq!(
            valid_assertions(&text, &budget()),
            TextCheck::Invalid { assertion: 2 }
        );
    }

    #[test]
    fn malformed_and_undecided_texts() {
        assert!(matches!(
            valid_assertions("(assert (p x))", &budget()),
            TextCheck::Malformed(_)
        ));
        assert!(matches!(
            valid_assertions("(assert true", &budget()),
            TextCheck::Malformed(_)
        ));
        // A prime has no factors.
        let hard = "(assert (forall ((x (_ BitVec 64)) (y (_ BitVec 64)))
            (=> (and (bvult #x0000000000000001 x) (bvult x #x0000000100000000)
                     (bvult #x0000000000000001 y) (bvult y #x0000000100000000))
                (distinct (bvmul x y) #x1fffffffffffffff))))";
        assert!(matches!(
            valid_assertions(hard, &budget().work(Duration::from_millis(300))),
            TextCheck::Unknown { assertion: 0, .. }
        ));
        assert!(matches!(
            valid_assertions("(assert true)", &budget().time(Duration::ZERO)),
            TextCheck::Unknown { assertion: 0, .. }
        ));
    }

    #[test]
    fn bit_vectors_have_a_solver() {
        let declared = "(declare-const p Bool) (declare-const x (_ BitVec 8))
            (declare-const y (_ BitVec 8)) (declare-const a Int)
            (declare-const b (Array (_ BitVec 8) Bool)) (declare-fun f ((_ BitVec 8)) Bool)";
        for (formula, only, answer) in [
            ("(and p (bvult x y) (bvult y x))", true, "unsat"),
            (
                "(and p (= (bvadd x y) #x01) (= (bvmul x y) #x01))",
                true,
                "unsat",
            ),
            ("(= (bvadd (ite p x #x01) y) #x01)", true, "sat"),
            ("(and (not p) (= ((_ extract 3 0) x) #x7))", true, "sat"),
            ("(and p (= (ubv_to_int x) a))", false, ""),
            ("(and p (select b x))", false, ""),
            ("(and p (f x))", false, ""),
        ] {
            let budget = budget();
            let context = TextContext::new(&budget);
            let text = format!("{declared} (assert {formula})");
            let assertion = context.parse(&text).unwrap()[0];
            assert_eq!(only_bit_vectors(&context, assertion), only, "{formula}");
            if !only {
                continue;
            }
            let mut solver = context.solver(Core::BitVectors).unwrap();
            solver.assert(assertion);
            // A query without an answer does not change later answers.
            solver.check(Some(Duration::ZERO));
            let found = match solver.check(None) {
                Answer::Sat => "sat".to_owned(),
                Answer::Unsat => "unsat".to_owned(),
                Answer::Unknown(reason) => reason,
            };
            assert_eq!(found, answer, "{formula}");
        }
    }

    #[test]
    fn conclusions_are_checked_one_by_one() {
        let text = "(define-fun p ((x Int) (y Int)) Bool (and (>= x 0) (and (>= y x) (<= y 9))))
            (assert (forall ((x Int) (y Int)) (=> (and (p x y) (< y 9)) (p x (+ y 1)))))
            (assert (forall ((x Int) (y Int)) (=> (p x y) (p x (+ y 1)))))
            (assert (forall ((x Int) (y Int)) (=> (and (p x y) (< y x)) (p y x))))
            (assert (forall ((x Int) (y Int)) (=> (p x y) (>= y 0))))
            (assert (=> true (and true true)))";
        let budget = budget();
        let context = TextContext::new(&budget);
        let assertions = context.parse(text).unwrap();
        let check = |i: usize| {
            let mut open = {
                let body =
                    with_constants(&context, &mut Constants::default(), assertions[i]).unwrap();
                OpenConclusions::new(&context, body).unwrap()?
            };
            let count = open.conclusions.len();
            let spent = open.all_unsatisfiable(Some(Duration::ZERO)).unwrap();
            assert!(matches!(spent, Answer::Unknown(_)));
            assert_eq!(open.conclusions.len(), count);
            let answer = open.all_unsatisfiable(None).unwrap();
            Some((count, matches!(answer, Answer::Unsat)))
        };
        let found: Vec<_> = (0..5).map(check).collect();
        assert_eq!(
            found,
            [
                Some((3, true)),
                Some((3, false)),
                Some((3, true)),
                None,
                Some((2, true))
            ]
        );
    }

    /// Texts have results in their order; what comes after a text with an invalid assertion may have
    /// no result.
    #[test]
    fn texts_are_checked_in_threads() {
        let text = |good: usize, bad: bool| {
            let mut text = "(assert (forall ((x Int)) (=> (> x 3) (> x 1))))".repeat(good);
            text.push_str(if bad { "(assert (> 0 1))" } else { "" });
            text
        };
        let budget = budget();
        let before = budget.terms().work();
        let all = valid_texts(
            vec![text(3, false), text(2, false), text(0, false)],
            &budget,
        );
        let valid = |assertions| TextCheck::Valid { assertions };
        assert_eq!(all, [valid(3), valid(2), valid(0)]);
        assert!(budget.terms().work() > before);
        let texts = vec![
            text(3, false),
            text(2, true),
            text(40, false),
            "(".to_owned(),
        ];
        let some = valid_texts(texts, &budget);
        assert_eq!(some[..2], [valid(3), TextCheck::Invalid { assertion: 2 }]);
        assert_eq!(some.len(), 4);
        let spent = valid_texts(vec![text(1, false)], &budget.time(Duration::ZERO));
        assert!(matches!(
            spent[..],
            [TextCheck::Unknown { assertion: 0, .. }]
        ));
    }

    /// Clauses in conclusions and existential premises have no quantifiers left; a universal
    /// premise and the sides of an equivalence keep theirs.
    #[test]
    fn universals_are_instantiated_in_positive_positions() {
        let cases = [
            (
                "(forall ((x Int)) (=> (> x 0) (and (> x 0) (forall ((y Int)) (=> (> y x) (> y 1))))))",
                false,
                true,
            ),
            (
                "(forall ((x Int)) (=> (> x 1) (forall ((y Int)) (or (< y x) (not (exists ((z Int)) (= (* 2 z) y)))))))",
                false,
                false,
            ),
            (
                "(forall ((x Int)) (=> (exists ((y Int)) (and (> x y) (> y 3))) (not (exists ((z Int)) (= z (- x x) 1)))))",
                false,
                true,
            ),
            (
                "(forall ((x Int)) (=> (forall ((y Int)) (> x y)) (> x 0)))",
                true,
                true,
            ),
            (
                "(forall ((x Int)) (= (> x 0) (forall ((y Int)) (=> (< y 1) (> x y)))))",
                true,
                true,
            ),
        ];
        for (formula, quantified, valid) in cases {
            let limits = budget();
            let context = TextContext::new(&limits);
            let text = format!("(assert {formula})");
            let assertion = context.parse(&text).unwrap()[0];
            let mut constants = Constants::default();
            let outer = with_constants(&context, &mut constants, assertion).unwrap();
            let found = without_universals(&context, &mut constants, outer).unwrap();
            assert_eq!(has_quantifiers(&context, found), quantified, "{formula}");
            let answer = valid_assertions(&text, &budget());
            let expected = match valid {
                true => TextCheck::Valid { assertions: 1 },
                false => TextCheck::Invalid { assertion: 0 },
            };
            assert_eq!(answer, expected, "{formula}");
        }
    }

    /// A model that quantifies over the cells of an array; the last assertion is not valid.
    #[test]
    fn premises_with_quantifiers() {
        let text = "(define-fun p ((i Int) (a (Array Int Int))) Bool
                (and (>= i 0) (forall ((k Int)) (or (< k 0) (>= k i) (= (select a k) 7)))))
            (assert (forall ((i Int) (a (Array Int Int))) (=> (= i 0) (p i a))))
            (assert (forall ((i Int) (a (Array Int Int)))
                (=> (p i a) (p (+ i 1) (store a i 7)))))
            (assert (forall ((i Int) (a (Array Int Int))) (=> (p i a) (p (+ i 1) a))))";
        let limits = budget();
        let context = TextContext::new(&limits);
        let assertions = context.parse(text).unwrap();
        let found: Vec<_> = (0..3)
            .map(|i| {
                let body =
                    with_constants(&context, &mut Constants::default(), assertions[i]).unwrap();
                let mut open = OpenConclusions::new(&context, body).unwrap()?;
                let asserted = open.premise.is_none();
                let limit = Some(Duration::from_secs(2));
                let answer = open.all_unsatisfiable(limit).unwrap();
                Some((asserted, matches!(answer, Answer::Unsat)))
            })
            .collect();
        assert_eq!(
            found,
            [
                Some((true, true)),
                Some((false, true)),
                Some((false, false))
            ]
        );
        let answer = valid_assertions(text, &budget().work(Duration::from_secs(5)));
        assert_ne!(answer, TextCheck::Valid { assertions: 3 });
        let safe: Vec<&str> = text.split("(assert").collect();
        let safe = safe[..3].join("(assert");
        assert_eq!(
            valid_assertions(&safe, &budget()),
            TextCheck::Valid { assertions: 2 }
        );
    }
}
