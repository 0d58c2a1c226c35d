//! An inductive invariant from a k-inductive one.
//!
//! A k-inductive label holds at the end of `k` steps over which all labels hold, though perhaps not
//! at the end of one step. For each predicate and each number of steps `i` up to `k`, a formula is
//! searched for such that: all facts satisfy it; a step from a state that satisfies the label leads
//! from the formula of `i - 1` (`true` for 0) to that of `i`; and the formula of `k` implies the
//! label. These conditions are a system without recursion, and the conjunction of the formulas over
//! all `i` is inductive: the formula of `k` implies the label, and each formula leads to the next
//! one.
//!
//! Golem computes the formulas by sequence interpolation ("KTo1Inductive"; for the theory,
//! Gurfinkel, Ivrii, "K-Induction without Unrolling", FMCAD 2017). Here proof obligations find them
//! ([`solve_acyclic`]), so no run is projected over all its steps at once.
//!
//! Invariant: the result passed all queries of being a model.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::acyclic::{Formulas, solve_acyclic};
use super::steps::Steps;
use super::stop::Stop;
use alphorn_chc::{Atom, PredicateId, System};
use alphorn_smt::Smt;
use alphorn_term::TermId;
use alphorn_term::run::Context;
use alphorn_witness::Model;

/// A model by a window of `k` steps, at least one. The labels hold over the window and exclude the
/// queries; without labels, the negations of the queries take their place. Predicates that no step
/// touches are not defined.
///
/// # Errors
/// The labels are not k-inductive, or a limit is reached.
pub fn window(
    system: &System,
    steps: &Steps,
    k: usize,
    labels: Option<&FxHashMap<PredicateId, TermId>>,
    smt: &Rc<Smt>,
    cx: &Context,
) -> Result<Model, Stop> {
    let terms = &system.terms;
    let mut unrolled = System::new(terms.clone());
    let predicates = steps.predicates();
    let mut place: FxHashMap<(usize, PredicateId), PredicateId> = FxHashMap::default();
    for length in 1..=k {
        for &predicate in &predicates {
            let params = &system.predicate(predicate).params;
            let sorts: Vec<_> = params.iter().map(|&p| terms.sort_of(p)).collect();
            let name = &system.predicate(predicate).name;
            place.insert((length, predicate), unrolled.add_predicate(name, &sorts));
        }
    }
    let label = |predicate: PredicateId, args: &[TermId]| {
        let atom = Atom {
            predicate,
            args: args.to_vec(),
        };
        let formula = labels.and_then(|labels| labels.get(&predicate));
        formula.map_or(TermId::TRUE, |&f| system.instantiate(f, &atom))
    };
    if labels.is_some() {
        for &predicate in &predicates {
            let end = unrolled.fresh_atom(place[&(k, predicate)]);
            let violated = terms.not(label(predicate, &end.args));
            unrolled.add_clause(vec![end], violated, None);
        }
    }
    for step in &steps.all {
        let (arguments, _) = step.vars.split_at(step.arguments);
        let (from, to) = arguments.split_at(step.first);
        let atom = |length: usize, predicate: PredicateId, args: &[TermId]| Atom {
            predicate: place[&(length, predicate)],
            args: args.to_vec(),
        };
        let Some(head) = step.to else {
            let body = step.from.map(|p| atom(k, p, from));
            unrolled.add_clause(body.into_iter().collect(), step.formula, None);
            continue;
        };
        let before = step.from.map(|p| match labels {
            Some(_) => label(p, from),
            None => outside_of_queries(system, steps, p, from),
        });
        let constraint = terms.and(&[step.formula, before.unwrap_or(TermId::TRUE)]);
        for length in 1..=k {
            let body = step.from.filter(|_| length > 1);
            let body = body.map(|p| atom(length - 1, p, from));
            let head = atom(length, head, to);
            unrolled.add_clause(body.into_iter().collect(), constraint, Some(head));
        }
    }
    let found = solve_acyclic(&unrolled, &Formulas::default(), smt, cx)?;
    let definition = |&predicate: &PredicateId| {
        let params = system.predicate(predicate).params.clone();
        let atom = |length| Atom {
            predicate: place[&(length, predicate)],
            args: params.clone(),
        };
        let formulas = (1..=k).map(|length| {
            let atom = atom(length);
            let formula = found.definitions.get(&atom.predicate);
            formula.map_or(TermId::TRUE, |&f| unrolled.instantiate(f, &atom))
        });
        (predicate, terms.and(&formulas.collect::<Vec<_>>()))
    };
    Ok(Model {
        definitions: predicates.iter().map(definition).collect(),
        ..Model::default()
    })
}

/// The condition that no query has a step from these arguments, as far as it can be expressed
/// without quantifiers.
fn outside_of_queries(
    system: &System,
    steps: &Steps,
    predicate: PredicateId,
    args: &[TermId],
) -> TermId {
    let terms = &system.terms;
    let mut parts = Vec::new();
    for &query in steps.queries(predicate) {
        let query = &steps.all[query];
        if query.vars.len() == query.arguments {
            let vars = query.vars.iter().copied();
            let map = vars.zip(args.iter().copied()).collect();
            parts.push(terms.not(terms.substitute(query.formula, &map)));
        }
    }
    terms.and(&parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::negated;
    use alphorn_chc::Reachability;
    use alphorn_samples::{is_model, shift_register};
    use alphorn_term::{SortId, TermStore};

    fn by_window(system: &System, k: usize, reversed: bool) -> Option<Model> {
        let cx = Context::new(system.terms.clone());
        let smt = Smt::new(system.terms.clone());
        let steps = Steps::new(system, &Reachability::new(system));
        let reverse = steps.reversed();
        let steps = if reversed { &reverse } else { &steps };
        window(system, steps, k, None, &smt, &cx).ok()
    }

    #[test]
    fn as_many_steps_as_it_takes() {
        for length in 2..=8 {
            let system = shift_register(length, true);
            for k in 1..=9 {
                let found = by_window(&system, k, false);
                // Adjacent bits come from the entry together.
                assert_eq!(found.is_some(), k + 1 >= length, "{length}, {k}");
                let Some(model) = found else { continue };
                assert!(is_model(&system, &model), "{length}, {k}");
            }
            assert!((1..=9).all(|k| by_window(&shift_register(length, false), k, false).is_none()));
        }
    }

    /// Counts from 0 up to 5; a query asks for 9.
    fn counter() -> System {
        let terms = Rc::new(TermStore::new());
        let mut system = System::new(terms.clone());
        let p = system.add_predicate("P", &[SortId::INT]);
        let (x, y) = (terms.var("x", SortId::INT), terms.var("y", SortId::INT));
        let atom = |v| Atom {
            predicate: p,
            args: vec![v],
        };
        system.add_clause(vec![], terms.eq(x, terms.int(0)), Some(atom(x)));
        let up = terms.eq(y, terms.add(&[x, terms.int(1)]));
        let step = terms.and(&[terms.lt(x, terms.int(5)), up]);
        system.add_clause(vec![atom(x)], step, Some(atom(y)));
        system.add_clause(vec![atom(x)], terms.eq(x, terms.int(9)), None);
        system
    }

    #[test]
    fn from_the_other_end() {
        // No fact has a path of six steps, so states that have one are not reached.
        let system = counter();
        for k in 1..=8 {
            let found = by_window(&system, k, true);
            assert_eq!(found.is_some(), k >= 6, "{k}");
            let Some(model) = found else { continue };
            assert!(is_model(&system, &negated(&system, model)), "{k}");
        }
    }
}
