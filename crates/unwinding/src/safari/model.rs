//! The conjuncts of a model from labels.
//!
//! A label `∃i. L` gives `∀i. ¬L`, a conjunct for each disjunct of `L`. An index variable that an
//! equation defines is replaced by its term, and one at which no array is read is eliminated. So
//! each bound variable is the index of a read, which helps a solver that reads the model.
//!
//! Invariant: the conjuncts together are equivalent to `∀i. ¬L`.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use alphorn_interpolation::project_formula;
use alphorn_proof::{Stop, ask, values};
use alphorn_smt::Smt;
use alphorn_term::run::Context;
use alphorn_term::{Op, TermId, TermStore};

/// Formulas whose conjunction is `¬∃ indexes. label`.
pub(super) fn unreachable(
    smt: &Rc<Smt>,
    label: TermId,
    indexes: &[TermId],
    cx: &Context,
) -> Result<Vec<TermId>, Stop> {
    let terms = smt.terms();
    let mut found = Vec::new();
    for cube in cubes(terms, label) {
        let cube = solved(terms, cube, indexes);
        let read = read_at(terms, cube);
        let free = terms.free_vars(&[cube]);
        let unread = free
            .iter()
            .copied()
            .filter(|v| indexes.contains(v) && !read.contains(v));
        let unread: Vec<TermId> = unread.collect();
        let cube = eliminated(smt, cube, &unread, cx)?.unwrap_or(cube);
        for part in terms.disjuncts(cube) {
            let mut bound = terms.free_vars(&[part]);
            bound.retain(|v| indexes.contains(v));
            let map = terms.renaming(&bound);
            let body = terms.substitute(terms.not(part), &map);
            let bound: Vec<TermId> = bound.iter().map(|v| map[v]).collect();
            found.push(match bound.is_empty() {
                true => body,
                false => terms.forall(&bound, body),
            });
        }
    }
    Ok(found)
}

/// The disjuncts of a label. Its conjuncts are disjunctions, one for each refinement.
fn cubes(terms: &TermStore, label: TermId) -> Vec<TermId> {
    let mut found = vec![TermId::TRUE];
    for conjunct in terms.conjuncts(label) {
        let parts = terms.disjuncts(conjunct);
        if found.len() * parts.len() > LIMITS.label_disjuncts {
            return terms.disjuncts(label);
        }
        let both = found
            .iter()
            .flat_map(|&cube| parts.iter().map(move |&p| (cube, p)));
        found = both.map(|(cube, part)| terms.and(&[cube, part])).collect();
        found.sort_unstable();
        found.dedup();
        found.retain(|&cube| cube != TermId::FALSE);
    }
    found
}

/// Replaces index variables that an equation of the cube defines.
fn solved(terms: &TermStore, cube: TermId, indexes: &[TermId]) -> TermId {
    let mut cube = cube;
    loop {
        let definition = terms.conjuncts(cube).into_iter().find_map(|part| {
            if *terms.op(part) != Op::Eq {
                return None;
            }
            let [a, b] = [0, 1].map(|side| terms.args(part)[side]);
            [(a, b), (b, a)].into_iter().find(|&(var, term)| {
                let free = terms.free_vars(&[term]);
                let is_plain = terms.is_var(term) || free.iter().all(|v| !indexes.contains(v));
                indexes.contains(&var) && !free.contains(&var) && is_plain
            })
        });
        match definition {
            Some((var, term)) => {
                cube = terms.substitute(cube, &FxHashMap::from_iter([(var, term)]));
            }
            None => return cube,
        }
    }
}

/// The terms that are the index of some read.
fn read_at(terms: &TermStore, formula: TermId) -> FxHashSet<TermId> {
    let mut found = FxHashSet::default();
    terms.post_order(&[formula], |t| {
        if *terms.op(t) == Op::Select {
            found.insert(terms.args(t)[1]);
        }
    });
    found
}

/// `∃ vars. formula` as a disjunction of cubes without these variables; `None` if there are none,
/// or too many cubes, or projection fails.
fn eliminated(
    smt: &Rc<Smt>,
    formula: TermId,
    vars: &[TermId],
    cx: &Context,
) -> Result<Option<TermId>, Stop> {
    if vars.is_empty() {
        return Ok(None);
    }
    let terms = smt.terms();
    let all = terms.free_vars(&[formula]);
    let mut solver = smt.solver();
    solver.assert(formula);
    let mut cubes = Vec::new();
    while let Some(model) = ask(&mut solver, &[], cx)? {
        if cubes.len() == LIMITS.elimination_cubes {
            return Ok(None);
        }
        let values = values(&model, &all)?;
        let Some(cube) = project_formula(terms, formula, vars, &values) else {
            return Ok(None);
        };
        let cube = terms.and(&cube);
        cubes.push(cube);
        solver.assert(terms.not(cube));
    }
    Ok(Some(terms.or(&cubes)))
}
