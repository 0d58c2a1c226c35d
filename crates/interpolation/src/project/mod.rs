//! Model-based projection: from literals that are true under an assignment to literals over the
//! variables that are kept.
//!
//! The result holds under the assignment and implies that values for the eliminated variables
//! exist. For linear arithmetic, and wherever equalities solve for a variable, finitely many
//! projections cover the exact quantifier elimination. Papers: Loos, Weispfenning, "Applying linear
//! quantifier elimination", 1993; Bjørner, Janota, "Playing with quantified satisfaction", LPAR
//! 2015; Komuravelli, Gurfinkel, Chaki, "SMT-based model checking for recursive programs", FMSD
//! 2016; for arrays Komuravelli, Bjørner, Gurfinkel, McMillan, "Compositional verification of
//! procedural programs using Horn clauses over integers and arrays", FMCAD 2015.
//!
//! Sorts are eliminated in the order Bool, arrays, datatypes, bit-vectors, Real, Int, and
//! equalities are solved in between; a step introduces variables of simpler sorts only. A variable
//! without a rule is replaced by its value, which is always sound.
//!
//! Z3's own projection is never used: only values of its models are read ([`project_onto`]).
//!
//! Invariant: no solver is called; the assignment guides every rewriting step. The result is
//! evaluated before it is returned, in any build: one that is not true under the assignment, or
//! contains other variables than it should, is a defect, which is logged, counted (`smt.defects`)
//! and not used.

mod arithmetic;
mod array;
mod bitvec;
mod datatype;
mod equality;
mod integer;
mod limits;
mod purify;
mod real;
mod rows;
mod state;
#[cfg(test)]
mod tests;

use rustc_hash::FxHashSet;

use alphorn_term::{Assignment, Evaluator, Sort, SortId, TermId, TermStore};
use state::State;

use alphorn_smt::SmtModel;
use alphorn_smt::implicant;

/// The result of a projection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Projection {
    /// Literals that are true under the assignment, without the eliminated variables, and that
    /// imply that values of these exist.
    pub literals: Vec<TermId>,
    /// The number of variables that were replaced by their values.
    pub valued: usize,
}

/// Projects the conjunction of `literals` onto the variables that are not in `eliminate`. The
/// assignment covers all variables of the literals. `None` if a literal does not evaluate to true.
pub fn project(
    terms: &TermStore,
    literals: &[TermId],
    eliminate: &[TermId],
    assignment: &Assignment,
) -> Option<Projection> {
    let mut state = State::new(terms, literals, eliminate, assignment);
    if state.failed {
        return None;
    }
    run(&mut state);
    let valued = state.valued;
    if !state.failed {
        let result = Projection {
            literals: state.into_literals(),
            valued,
        };
        if is_sound(terms, &result.literals, literals, eliminate, assignment) {
            return Some(result);
        }
    }
    log::error!("defect: a projection failed its check; using values");
    terms.count_defect();
    if cfg!(test) {
        panic!("a projection failed its check");
    }
    let mut state = State::new(terms, literals, eliminate, assignment);
    let vars = state.remaining(|_| true);
    state.replace_by_values(&vars);
    let valued = state.valued;
    if state.failed {
        return None;
    }
    let result = state.into_literals();
    is_sound(terms, &result, literals, eliminate, assignment).then_some(Projection {
        literals: result,
        valued,
    })
}

/// An implicant of `formula` under the assignment, projected onto the variables that are not in
/// `eliminate`: the conjunction of its literals implies `∃ eliminate. formula`. `None` if the
/// formula does not evaluate to true. Literals over kept variables alone, also equalities, are not
/// changed.
pub fn project_formula(
    terms: &TermStore,
    formula: TermId,
    eliminate: &[TermId],
    assignment: &Assignment,
) -> Option<Vec<TermId>> {
    let mut model = Evaluator::new(terms, assignment);
    let literals = implicant(terms, &[formula], &mut model)?;
    Some(project(terms, &literals, eliminate, assignment)?.literals)
}

/// Literals over `kept` that hold in this model of the formula and imply that values of all other
/// variables satisfy it; only the values for an implicant are read from the model. `None` if the
/// formula does not evaluate to true.
pub fn project_onto(
    terms: &TermStore,
    formula: TermId,
    kept: &[TermId],
    model: &SmtModel,
) -> Option<Vec<TermId>> {
    let lookup = |var| model.value(var).ok();
    let mut values = Evaluator::with(terms, &lookup);
    let literals = implicant(terms, &[formula], &mut values)?;
    let mut eliminate = terms.free_vars(&literals);
    let known = eliminate.iter().map(|&v| Some((v, values.value(v)?)));
    let known: Assignment = known.collect::<Option<_>>()?;
    let kept: FxHashSet<TermId> = kept.iter().copied().collect();
    eliminate.retain(|v| !kept.contains(v));
    Some(project(terms, &literals, &eliminate, &known)?.literals)
}

fn run(state: &mut State) {
    let terms = state.terms;
    loop {
        equality::solve(state);
        equality::drop_disequalities(state);
        if state.failed {
            return;
        }
        if state.is_exhausted() {
            let vars = state.remaining(|_| true);
            state.replace_by_values(&vars);
            return;
        }
        let bools = state.remaining(|s| s == SortId::BOOL);
        state.replace_by_values(&bools);
        let arrays = state.remaining(|s| matches!(terms.sort(s), Sort::Array(..)));
        if !arrays.is_empty() {
            array::eliminate(state, &arrays);
            continue;
        }
        array::reduce_reads(state);
        let datatypes = state.remaining(|s| matches!(terms.sort(s), Sort::Datatype(_)));
        if !datatypes.is_empty() {
            datatype::expand(state, &datatypes);
            continue;
        }
        let vectors = state.remaining(|s| matches!(terms.sort(s), Sort::BitVec(_)));
        if !vectors.is_empty() {
            bitvec::eliminate(state, &vectors);
            continue;
        }
        arithmetic::eliminate(state);
        let left = state.remaining(|_| true);
        if left.is_empty() {
            return;
        }
        // All variables should be eliminated here; values guarantee it.
        state.replace_by_values(&left);
    }
}

/// Whether the result is true and contains only variables of the input that are kept.
fn is_sound(
    terms: &TermStore,
    result: &[TermId],
    input: &[TermId],
    eliminate: &[TermId],
    assignment: &Assignment,
) -> bool {
    let mut model = Evaluator::new(terms, assignment);
    let mut kept: FxHashSet<TermId> = terms.free_vars(input).into_iter().collect();
    for var in eliminate {
        kept.remove(var);
    }
    result.iter().all(|&l| model.value(l) == Some(TermId::TRUE))
        && terms.free_vars(result).iter().all(|v| kept.contains(v))
}
