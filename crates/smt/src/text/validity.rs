//! Validity of a text's assertions: several kinds of Z3's solvers take turns on each.
//!
//! Invariant: only `unsat` of an assertion's negation makes it valid.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};
use z3_sys::{
    DeclKind, SortKind, Z3_ast, Z3_get_app_arg, Z3_get_app_decl, Z3_get_app_num_args,
    Z3_get_quantifier_body, Z3_get_quantifier_bound_sort, Z3_get_quantifier_num_bound, Z3_get_sort,
    Z3_get_sort_kind, Z3_is_app, Z3_is_quantifier_exists, Z3_is_quantifier_forall,
    Z3_mk_fresh_const, Z3_mk_not, Z3_substitute_vars, Z3_to_app, Z3_update_term,
};

use super::instances::Instances;
use super::integers::over_integers;
use super::uninterpreted::{Hard, application, hard_operations, with_functions};
use super::{Answer, Core, TextContext, TextSolver};
use alphorn_term::run::Budget;

/// A way's first turn for one assertion, in nominal time of work, and how many times that in the
/// next round: what is not solved at once often needs another way. Solvers go on where they
/// stopped, but for the SAT solver, which begins again.
pub(super) const FIRST_TRY: Duration = Duration::from_millis(250);
pub(super) const GROWTH: u32 = 4;

/// How many times that the incremental core has: it solves most of what is solved at all. Where
/// there is arithmetic, each conclusion has as much on its own. Few assertions need it; with a
/// quarter of that, they wait for a further round, in which the others have four times as much.
const LEAD: u32 = 4;

/// How many times that each conclusion of a hard assertion has, from the second round on, when they
/// come first: what is hard as a whole is mostly many conclusions that are less so.
const PIECES_LEAD: u32 = 16;

/// How many times that others have where there are only words: the SAT solver, which begins again in
/// each round, and integers where all is linear, which decide soon or late.
const SAT_LEAD: u32 = 8;
const LINEAR_LEAD: u32 = 2;

/// The part of its first turn that a new solver has where there are quantifiers: what it solves at
/// all, it mostly solves at once, and instances are next.
const GLANCE: u32 = 4;

/// Rounds after which a solver may use all that is left.
pub(super) const ROUNDS: u32 = 10;

/// Ways to check an assertion, in the order of their turns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    /// The incremental core with Z3's older simplex, the same for all assertions. It is much faster
    /// on some large linear ones.
    Incremental,
    /// With functions in the place of hard operations ([`with_functions`]), as the assertion is or
    /// after equations of its variables were solved.
    Functions { solved: bool },
    /// Over integers, where there are only words ([`over_integers`]).
    Integers,
    /// The same as the first for the assertion's conclusions one by one ([`pieces`]).
    Pieces,
    /// With instances of its quantified parts ([`Instances`]).
    Instances,
    /// A new solver.
    Alone(Core),
}

const WAYS: [Way; 4] = [
    Way::Incremental,
    Way::Pieces,
    Way::Alone(Core::Current),
    Way::Alone(Core::Tactics),
];

/// The ways for an assertion that is only about words and truth values. What is about sums is easy for
/// integers and may be hopeless for bits; for all but the shortest of the others, a SAT solver that has
/// all bits at once needs a fifth to a half of what the incremental core does.
const WORDS: [Way; 5] = [
    Way::Incremental,
    Way::Integers,
    Way::Alone(Core::Words),
    Way::Pieces,
    Way::Alone(Core::Tactics),
];

const WITH_FUNCTIONS: [Way; 2] = [
    Way::Functions { solved: false },
    Way::Functions { solved: true },
];

/// The ways for an assertion whose premise or conclusion has quantifiers. The incremental core
/// looks at all terms, relevant or not, and may instantiate quantifiers with them without end.
const QUANTIFIED: [Way; 5] = [
    Way::Alone(Core::Current),
    Way::Instances,
    Way::Pieces,
    Way::Alone(Core::Tactics),
    Way::Incremental,
];

/// The ways for an assertion with such operations.
fn ways(hard: Hard, quantified: bool, only_words: bool) -> Vec<Way> {
    let mut ways = match (quantified, only_words) {
        (true, _) => QUANTIFIED.to_vec(),
        (false, true) => WORDS.to_vec(),
        (false, false) => WAYS.to_vec(),
    };
    match hard {
        Hard::No => {}
        Hard::Operations => drop(ways.splice(1..1, WITH_FUNCTIONS)),
        // Bits are blasted before any limit is looked at.
        Hard::Conversions => drop(ways.splice(0..0, WITH_FUNCTIONS)),
    }
    ways
}

/// What Z3 says about the assertions of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TextCheck {
    /// All are valid; with their number.
    Valid { assertions: usize },
    /// This one, from 0, does not hold in some interpretation.
    Invalid { assertion: usize },
    /// This one, from 0, could not be decided.
    Unknown { assertion: usize, reason: String },
    /// Z3's parser refuses the text, with its message.
    Malformed(String),
}

/// Whether every assertion in `text` is valid, that is, its negation unsatisfiable; each on its
/// own. Stops at the first that is not, and with the budget, which is for all of them together.
pub fn valid_assertions(text: &str, budget: &Budget) -> TextCheck {
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
    for (assertion, &formula) in assertions.iter().enumerate() {
        match valid(&context, &mut incremental, formula, &mut best) {
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

/// The answer to the negation of a formula, by all ways in turn. The way that answered the one before
/// is known, and becomes the one that answered this.
fn valid(
    context: &TextContext<'_>,
    incremental: &mut TextSolver<'_>,
    formula: Z3_ast,
    best: &mut Option<Way>,
) -> Result<Answer, String> {
    let z3 = &context.z3;
    let body = without_universals(context, formula).ok_or_else(|| z3.error())?;
    // SAFETY: the formula belongs to the context.
    let negation = z3.keep(z3.ok(unsafe { Z3_mk_not(z3.raw, body) })?);
    incremental.push(negation);
    let answer = in_turns(context, incremental, (body, negation), best);
    incremental.pop();
    answer
}

/// The answer to the negation of a formula; the incremental solver holds the negation.
fn in_turns(
    context: &TextContext<'_>,
    incremental: &mut TextSolver<'_>,
    (formula, negation): (Z3_ast, Z3_ast),
    best: &mut Option<Way>,
) -> Result<Answer, String> {
    let quantified = has_quantifiers(context, negation);
    let only_words = !quantified && only_words(context, negation);
    let pieces_lead = !only_words && !quantified;
    let mut ways = ways(hard_operations(context, negation), quantified, only_words);
    // Assertions of one text are alike, and only integers are so fast that the others are not missed.
    if *best == Some(Way::Integers)
        && let Some(at) = ways.iter().position(|&way| way == Way::Integers)
    {
        ways[..=at].rotate_right(1);
    }
    let mut linear = false;
    let mut open: Option<OpenPieces> = None;
    let mut by_instances: Option<ByInstances> = None;
    let mut others: Vec<(Way, TextSolver)> = Vec::new();
    let mut last = "timeout".to_owned();
    for round in 0..=ROUNDS {
        let limit = (round < ROUNDS).then(|| FIRST_TRY * GROWTH.pow(round));
        let mut again = Vec::new();
        for way in ways {
            if context.budget.is_spent() {
                return Ok(Answer::Unknown("timeout".to_owned()));
            }
            let started = Instant::now();
            if way == Way::Integers && round == 0 {
                let Some(weaker) = over_integers(context, negation) else {
                    continue;
                };
                linear = weaker.linear;
                let mut solver = context.solver(Core::Current)?;
                solver.assert(weaker.formula);
                others.push((way, solver));
            }
            // Where nothing was easy, the incremental core goes on from what it has learnt.
            let goes_on = only_words && round > 0 && way == Way::Incremental;
            let lead = match way {
                Way::Alone(Core::Words) => SAT_LEAD,
                Way::Incremental if goes_on || !only_words => LEAD,
                Way::Pieces if pieces_lead && round > 0 => PIECES_LEAD,
                Way::Pieces if pieces_lead => LEAD,
                Way::Integers if linear => LINEAR_LEAD,
                _ => 1,
            };
            let limit = limit.map(|limit| limit * lead);
            let answer = match way {
                Way::Incremental => incremental.check(limit),
                Way::Pieces => {
                    if round == 0 {
                        open = OpenPieces::new(context, formula)?;
                    }
                    match &mut open {
                        Some(open) => open.all_unsatisfiable(limit)?,
                        None => Answer::Unknown(String::new()),
                    }
                }
                Way::Functions { solved } => {
                    if round == 0 {
                        let weaker = with_functions(context, negation, solved);
                        let Some(weaker) = weaker else { continue };
                        let mut solver = context.solver(Core::Simplex)?;
                        solver.assert(weaker);
                        others.push((way, solver));
                    }
                    match solver_of(way, &mut others).check(limit) {
                        Answer::Sat => Answer::Unknown("with functions".to_owned()),
                        answer => answer,
                    }
                }
                Way::Instances => {
                    if round == 0 {
                        by_instances = ByInstances::new(context, negation);
                    }
                    match &mut by_instances {
                        Some(instances) => instances.check(limit)?,
                        None => Answer::Unknown(String::new()),
                    }
                }
                Way::Integers => match solver_of(way, &mut others).check(limit) {
                    Answer::Sat => Answer::Unknown("over integers".to_owned()),
                    answer => answer,
                },
                Way::Alone(core) => {
                    // Z3's SAT solver has been wrong where it went on from an earlier question.
                    if round == 0 || core == Core::Words {
                        others.retain(|(own, _)| *own != way);
                        let mut solver = context.solver(core)?;
                        solver.assert(negation);
                        others.push((way, solver));
                    }
                    let glance = quantified && round == 0 && core == Core::Current;
                    let limit = if glance {
                        limit.map(|l| l / GLANCE)
                    } else {
                        limit
                    };
                    solver_of(way, &mut others).check(limit)
                }
            };
            if round > 0 || way != Way::Incremental {
                let seconds = started.elapsed().as_secs_f64();
                log::debug!("an assertion, {way:?}: {seconds:.3} s");
            }
            match answer {
                Answer::Unknown(reason) => {
                    // Who gives up before a limit has no second try.
                    if ended_at_a_limit(&reason) {
                        again.push(way);
                    }
                    if !reason.is_empty() {
                        last = reason;
                    }
                }
                answer => {
                    *best = Some(way);
                    return Ok(answer);
                }
            }
        }
        if again.is_empty() {
            break;
        }
        if pieces_lead {
            again.sort_by_key(|&way| way != Way::Pieces);
        }
        ways = again;
    }
    Ok(Answer::Unknown(last))
}

/// A formula by its instances, and a solver for the last of them.
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

    /// `Unsat` when some instances are contradictory; otherwise `Unknown`, as there may always be
    /// others.
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

/// The solver that a way made in its first turn.
fn solver_of<'s, 'a>(way: Way, others: &'s mut [(Way, TextSolver<'a>)]) -> &'s mut TextSolver<'a> {
    let own = others.iter_mut().find(|(own, _)| *own == way);
    &mut own.expect("a way has a turn in the first round").1
}

/// Whether Z3's reason for an unknown is that it was stopped.
pub(super) fn ended_at_a_limit(reason: &str) -> bool {
    let words = ["resource", "cancel", "timeout", "interrupt"];
    words.iter().any(|word| reason.contains(word))
}

/// A formula `premise ⇒ c1 ∧ … ∧ cn`.
struct Pieces {
    premise: Z3_ast,
    conclusions: Vec<Z3_ast>,
}

/// The pieces that are still to be checked, and a solver for them.
struct OpenPieces<'a> {
    solver: TextSolver<'a>,
    /// If the solver does not hold it. Where a premise with quantifiers is held, Z3 instantiates
    /// them in whatever asks it to push, and looks at no limit then.
    premise: Option<Z3_ast>,
    conclusions: VecDeque<Z3_ast>,
}

impl<'a> OpenPieces<'a> {
    fn new(context: &'a TextContext<'a>, formula: Z3_ast) -> Result<Option<Self>, String> {
        let Some(pieces) = pieces(context, formula) else {
            return Ok(None);
        };
        let apart = has_quantifiers(context, pieces.premise);
        let core = match apart {
            true => Core::Current,
            false => Core::Simplex,
        };
        let mut solver = context.solver(core)?;
        if !apart {
            solver.assert(pieces.premise);
        }
        Ok(Some(OpenPieces {
            solver,
            premise: apart.then_some(pieces.premise),
            conclusions: pieces.conclusions.into(),
        }))
    }

    /// `Unsat` when the premise with the negation of any one conclusion is found unsatisfiable;
    /// otherwise `Unknown`. What was found is not looked at again. The limit is for each
    /// conclusion.
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
                    // Others may be easier.
                    self.conclusions.rotate_left(1);
                    return Ok(match answer {
                        Answer::Unknown(reason) => Answer::Unknown(reason),
                        // The other ways tell, about the whole assertion.
                        _ => Answer::Unknown("in pieces".to_owned()),
                    });
                }
            };
        }
        Ok(Answer::Unsat)
    }
}

/// A formula with new constants in the place of its outermost universal variables.
pub(super) fn with_constants(context: &TextContext<'_>, formula: Z3_ast) -> Option<Z3_ast> {
    // SAFETY: the formula belongs to the context.
    if unsafe { Z3_is_quantifier_forall(context.z3.raw, formula) } {
        instance(context, formula)
    } else {
        Some(formula)
    }
}

/// The body of a quantifier with new constants for its variables.
fn instance(context: &TextContext<'_>, formula: Z3_ast) -> Option<Z3_ast> {
    let z3 = &context.z3;
    // SAFETY: everything belongs to this context and is kept; a quantifier has as many sorts as
    // bound variables, and the last one has index 0.
    unsafe {
        let count = Z3_get_quantifier_num_bound(z3.raw, formula);
        let constants = (0..count)
            .rev()
            .map(|i| {
                let sort = Z3_get_quantifier_bound_sort(z3.raw, formula, i)?;
                Some(z3.keep(Z3_mk_fresh_const(z3.raw, c"v".as_ptr(), sort)?))
            })
            .collect::<Option<Vec<Z3_ast>>>()?;
        let body = Z3_get_quantifier_body(z3.raw, formula)?;
        let body = Z3_substitute_vars(z3.raw, body, count, constants.as_ptr())?;
        Some(z3.keep(body))
    }
}

/// A formula with new constants for the universal variables that it is about, wherever they are: it
/// is valid if the formula is, and the other way round. Texts nest clauses in what clauses conclude.
fn without_universals(context: &TextContext<'_>, formula: Z3_ast) -> Option<Z3_ast> {
    let z3 = &context.z3;
    let first = with_constants(context, formula)?;
    if !has_quantifiers(context, first) {
        return Some(first);
    }
    // Of formulas that are to hold and of such that are not.
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
                None => instance(context, term)?,
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

/// An implication taken apart at the conjunctions that it concludes; `None` if the formula is no
/// implication with more than one.
fn pieces(context: &TextContext<'_>, formula: Z3_ast) -> Option<Pieces> {
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
    (conclusions.len() > 1 && context.z3.failed().is_none()).then_some(Pieces {
        premise,
        conclusions,
    })
}

/// Whether there is a quantifier somewhere in a formula.
pub(super) fn has_quantifiers(context: &TextContext<'_>, formula: Z3_ast) -> bool {
    // SAFETY: the terms belong to this context.
    some_term(context, formula, |term| unsafe {
        !Z3_is_app(context.z3.raw, term)
    })
}

/// Whether a formula without quantifiers is only about words and truth values, with no functions
/// of them but those that are built in.
fn only_words(context: &TextContext<'_>, formula: Z3_ast) -> bool {
    let z3 = &context.z3;
    let is_word = |term: Z3_ast| {
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
    !some_term(context, formula, |term| is_word(term) != Some(true))
}

/// Whether some term of a formula is so, itself or below it; quantifiers are not looked into.
fn some_term(context: &TextContext<'_>, formula: Z3_ast, is_so: impl Fn(Z3_ast) -> bool) -> bool {
    let z3 = &context.z3;
    let mut seen: FxHashSet<Z3_ast> = FxHashSet::default();
    let mut open = vec![formula];
    while let Some(term) = open.pop() {
        if !seen.insert(term) {
            continue;
        }
        if is_so(term) {
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

/// The arguments of an application of this kind.
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
    use std::rc::Rc;

    use super::*;
    use alphorn_term::TermStore;

    fn budget() -> Budget {
        Budget::new(Rc::new(TermStore::new()), Default::default(), false)
    }

    #[test]
    fn tells_valid_from_not() {
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
    fn reports_what_it_cannot_read_or_decide() {
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
    fn words_have_a_solver_of_their_own() {
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
            assert_eq!(only_words(&context, assertion), only, "{formula}");
            if !only {
                continue;
            }
            let mut solver = context.solver(Core::Words).unwrap();
            solver.assert(assertion);
            // A limit leaves it as it was.
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
                let body = with_constants(&context, assertions[i]).unwrap();
                OpenPieces::new(&context, body).unwrap()?
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

    /// Clauses in what clauses conclude, and existential premises: nothing is left of these. A
    /// universal premise stays, and so does what is on both sides of an equivalence.
    #[test]
    fn universals_go_wherever_they_are() {
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
            let found = without_universals(&context, assertion).unwrap();
            assert_eq!(has_quantifiers(&context, found), quantified, "{formula}");
            let answer = valid_assertions(&text, &budget());
            let expected = match valid {
                true => TextCheck::Valid { assertions: 1 },
                false => TextCheck::Invalid { assertion: 0 },
            };
            assert_eq!(answer, expected, "{formula}");
        }
    }

    /// What a model says of all cells of an array; the last assertion needs a cell that is not read.
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
                let body = with_constants(&context, assertions[i]).unwrap();
                let mut open = OpenPieces::new(&context, body).unwrap()?;
                let held = open.premise.is_none();
                let limit = Some(Duration::from_secs(2));
                let answer = open.all_unsatisfiable(limit).unwrap();
                Some((held, matches!(answer, Answer::Unsat)))
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
