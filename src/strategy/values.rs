//! Texts with constants and functions without definition, by solving them for some values.
//!
//! A text is satisfiable if it is for one value of each constant. A few values are tried that satisfy
//! what the text asserts of its constants alone: a model for them answers `sat`, and a refutation whose
//! steps hold for all values answers `unsat`. A refutation for some values has a region of values for
//! which its steps hold, too: its constraints, with the other variables projected. The next values are
//! outside of all regions (as in model-based quantifier instantiation and CEGIS: Solar-Lezama et al.,
//! ASPLOS 2006).
//!
//! Invariant: `sat` has a model that defines the constants, and `unsat` a refutation that was checked
//! with the constants uninterpreted.

use super::solve::{Config, ConfigError, Milestone, solve_as_read};
use alphorn_chc::frontend::Problem;
use alphorn_interpolation::project_formula;
use alphorn_smt::{SatResult, Smt};
use alphorn_term::run::{Context, Reason};
use alphorn_term::{Assignment, Printer, Sort, SortId, TermId, TermStore};
use alphorn_witness::{Refutation, Validated, Verdict};
use rustc_hash::{FxHashMap, FxHashSet};

/// The number of values outside of regions that are tried, after those that are preferred.
const MAX_REGIONS: usize = 64;
/// The number of numerals of a text that are tried as values.
const MAX_NUMERALS: usize = 6;
/// An absolute value that numerals of a text rarely reach.
const LARGE: i64 = 1_000_000;

/// Decides a problem with constants that have no value.
///
/// # Errors
/// An unknown name in the configuration.
pub(super) fn solve_for_values(
    problem: &Problem,
    config: &Config,
    observe: &impl Fn(Milestone),
    cx: &mut Context,
) -> Result<Validated, ConfigError> {
    let terms = &problem.terms;
    // A formula that holds of the values that were tried, and its negation.
    let mut excluded: Vec<TermId> = Vec::new();
    let mut last = None;
    let preferences = preferences(problem).into_iter().map(|p| (p, false));
    let others = (0..MAX_REGIONS).map(|_| (TermId::TRUE, true));
    for (preference, is_last) in preferences.chain(others) {
        if cx.stop().is_some() {
            break;
        }
        let values = match values(problem, preference, &excluded, cx) {
            Some(values) => values,
            None if is_last => break,
            None => continue,
        };
        let read = problem.with_values(&values);
        log::debug!(
            "values of constants: {:?}",
            read.constant_definitions().collect::<Vec<_>>()
        );
        let half = cx.remaining().map(|left| left / 2);
        let budget = half.map_or_else(|| cx.budget.clone(), |half| cx.budget.time(half));
        let answer = cx.within(budget, |cx| solve_as_read(&read, config, &[], observe, cx))?;
        match answer.verdict() {
            Verdict::Unknown(reason) => last = Some(reason.clone()),
            _ => return Ok(answer),
        }
        let refutation = answer.stronger_refuted();
        let region = refutation.and_then(|refutation| region(problem, refutation));
        if region.is_none() && is_last {
            break;
        }
        let constants = problem.constants.iter().zip(values);
        let own: Vec<TermId> = constants.map(|(c, v)| terms.eq(c.var, v)).collect();
        let refuted = region.unwrap_or_else(|| terms.and(&own));
        log::debug!("no model where {}", Printer::new(terms).term(refuted));
        excluded.push(terms.not(refuted));
    }
    let why = "no values of the constants that the text allows were found".to_owned();
    let reason = cx.stop().or(last).unwrap_or(Reason::Incomplete(why));
    Ok(Validated::unknown(reason))
}

/// Conditions on the constants for the values to be tried, one after the other.
fn preferences(problem: &Problem) -> Vec<TermId> {
    let terms = &problem.terms;
    let constants: Vec<TermId> = problem.constants.iter().map(|c| c.var).collect();
    let numbers: Vec<TermId> = constants
        .iter()
        .copied()
        .filter(|&c| [SortId::INT, SortId::REAL].contains(&terms.sort_of(c)))
        .collect();
    let number = |c: TermId, value: i64| match terms.sort_of(c) {
        SortId::INT => terms.int(value),
        _ => terms.to_real(terms.int(value)),
    };
    // All elements of arrays, so all values of functions, are this number, too.
    let uniform = |value: TermId| {
        let equations = constants.iter().filter_map(|&c| {
            let value = uniform_value(terms, terms.sort_of(c), value)?;
            Some(terms.eq(c, value))
        });
        terms.and(&equations.collect::<Vec<_>>())
    };
    let all = |condition: &dyn Fn(TermId) -> TermId| {
        let conditions: Vec<TermId> = numbers.iter().map(|&c| condition(c)).collect();
        terms.and(&conditions)
    };
    let mut distinct = Vec::new();
    for (at, &c) in constants.iter().enumerate() {
        let later = constants[at + 1..].iter();
        let same = later.filter(|&&d| terms.sort_of(d) == terms.sort_of(c));
        distinct.extend(same.map(|&d| terms.not(terms.eq(c, d))));
    }
    let mut found = vec![
        TermId::TRUE,
        all(&|c| terms.lt(c, number(c, 0))),
        uniform(terms.int(0)),
        terms.and(&distinct),
        all(&|c| terms.gt(c, number(c, LARGE))),
        all(&|c| terms.lt(c, number(c, -LARGE))),
        TermId::TRUE,
    ];
    let numerals = numerals(problem).into_iter().take(MAX_NUMERALS);
    found.extend(numerals.map(uniform));
    found
}

/// The value of a sort that is an integer, or an array with it everywhere.
fn uniform_value(terms: &TermStore, sort: SortId, integer: TermId) -> Option<TermId> {
    match terms.sort(sort) {
        Sort::Int => Some(integer),
        Sort::Real => Some(terms.to_real(integer)),
        Sort::Array(_, element) => {
            let element = uniform_value(terms, element, integer)?;
            Some(terms.const_array(sort, element))
        }
        _ => None,
    }
}

/// The integers in the clauses.
fn numerals(problem: &Problem) -> Vec<TermId> {
    let terms = &problem.terms;
    let mut roots = Vec::new();
    for clause in &problem.clauses {
        roots.push(clause.constraint);
        let atoms = clause.body.iter().chain(&clause.head);
        roots.extend(atoms.flat_map(|atom| &atom.args));
    }
    let mut found = Vec::new();
    terms.post_order(&roots, |t| {
        if terms.as_int(t).is_some() {
            found.push(t);
        }
    });
    found
}

/// Values of the constants with which the text's assertions about them hold, a preference, and these
/// formulas.
fn values(
    problem: &Problem,
    preference: TermId,
    formulas: &[TermId],
    cx: &Context,
) -> Option<Vec<TermId>> {
    let smt = Smt::within(&cx.budget);
    let mut solver = smt.solver();
    for formula in problem.about_constants() {
        solver.assert(formula);
    }
    solver.assert(preference);
    for &formula in formulas {
        solver.assert(formula);
    }
    if !matches!(solver.check(&[]), SatResult::Sat) {
        return None;
    }
    let model = solver.model()?;
    let found = problem.constants.iter().map(|c| model.value(c.var).ok());
    found.collect()
}

/// A formula over the constants that holds of their values in a refutation, and implies that the
/// same steps are a refutation for other values of the variables; `None` if none is found.
fn region(problem: &Problem, refutation: &Refutation) -> Option<TermId> {
    let terms = &problem.terms;
    let constants: FxHashSet<TermId> = problem.constants.iter().map(|c| c.var).collect();
    let mut assignment = Assignment::default();
    let (mut locals, mut parts) = (Vec::new(), Vec::new());
    // The arguments of the derived facts.
    let mut facts: Vec<Vec<TermId>> = Vec::with_capacity(refutation.steps.len());
    for step in &refutation.steps {
        let clause = problem.clauses.get(step.clause.0 as usize)?;
        if !clause.disjunctions.is_empty() {
            return None;
        }
        let mut renaming: FxHashMap<TermId, TermId> = FxHashMap::default();
        for &(_, var) in &clause.vars {
            let value = *step.values.get(&var)?;
            if constants.contains(&var) {
                assignment.insert(var, value);
                continue;
            }
            let local = terms.fresh_copy(var);
            renaming.insert(var, local);
            assignment.insert(local, value);
            locals.push(local);
        }
        let renamed = |term: TermId| terms.substitute(term, &renaming);
        parts.push(renamed(clause.constraint));
        for (atom, &premise) in clause.body.iter().zip(&step.premises) {
            let pairs = atom.args.iter().zip(&facts[premise]);
            parts.extend(pairs.map(|(&arg, &fact)| terms.eq(renamed(arg), fact)));
        }
        let head = clause.head.iter().flat_map(|head| &head.args);
        facts.push(head.map(|&arg| renamed(arg)).collect());
    }
    let literals = project_formula(terms, terms.and(&parts), &locals, &assignment)?;
    Some(terms.and(&literals))
}
