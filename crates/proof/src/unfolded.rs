//! A model without recursive functions from one with them, by bounded unfolding.
//!
//! Few solvers support recursive functions, and the check of models in the competition does not
//! read them. Formulas of models about the size of a term, or another number that a function
//! counts, often depend on small numbers only, which the first few constructors of the term
//! determine. So the candidates are, for each conjunct and several depths, the conjunct with its
//! calls unfolded to this depth, where deeper parts count 0, and a weaker form that holds of all
//! deeper terms. `houdini` finds those that are inductive together.
//!
//! Invariant: the result calls no function, and is a model as far as the solver is right.

use std::rc::Rc;

use num_traits::ToPrimitive;
use rustc_hash::{FxHashMap, FxHashSet};

use super::clauses::{Clauses, Lemma, Solvers};
use super::houdini::{Question, inductive_lemmas};
use super::needed_lemmas::{Given, needed_in_clauses};
use super::shrink::pushed_inwards;
use alphorn_chc::{PredicateId, System};
use alphorn_smt::Smt;
use alphorn_term::run::Budget;
use alphorn_term::{Op, SortId, TermId, TermStore};

/// Limits of unfolding.
struct Limits {
    /// Nodes of an unfolded term; larger ones are no candidates.
    max_nodes: usize,
    /// Depth of unfolding; greater ones are not tried.
    max_depth: u32,
    /// Depths that are tried besides those that numerals suggest.
    depths: [u32; 2],
    /// Candidates; with more there is no result.
    max_candidates: usize,
    /// Queries that minimize a core of needed lemmas.
    core_queries: usize,
}

const LIMITS: Limits = Limits {
    max_nodes: 300,
    max_depth: 20,
    depths: [1, 2],
    max_candidates: 2000,
    core_queries: 10,
};

/// Definitions without calls in place of the given ones, which have to be a model of the system.
pub fn unfolded_model(
    system: &System,
    definitions: &FxHashMap<PredicateId, TermId>,
    smt: &Rc<Smt>,
    budget: &Budget,
) -> Option<FxHashMap<PredicateId, TermId>> {
    let terms = &system.terms;
    let mut clauses = Clauses::new(system, Solvers::PerClause, smt);
    let mut candidates: Vec<(Option<PredicateId>, TermId)> = vec![(None, TermId::FALSE)];
    let mut seen: FxHashSet<(Option<PredicateId>, TermId)> = FxHashSet::default();
    for predicate in system.used_predicates() {
        let definition = pushed_inwards(terms, *definitions.get(&predicate)?);
        for conjunct in terms.conjuncts(definition) {
            for form in forms(terms, conjunct) {
                let candidate = (Some(predicate), form);
                if form != TermId::TRUE && seen.insert(candidate) {
                    candidates.push(candidate);
                }
            }
        }
    }
    if candidates.len() > LIMITS.max_candidates {
        return None;
    }
    let all = candidates.iter();
    let all: Vec<Lemma> = all
        .map(|&(about, formula)| clauses.lemma(about, formula, TermId::TRUE))
        .collect();
    let none = |_, _| Vec::new();
    let kept = inductive_lemmas(&mut clauses, &all, Question::Clause, none, budget).ok()?;
    let lemmas: Vec<Lemma> = kept.iter().map(|&l| all[l]).collect();
    let needed = needed_in_clauses(
        &mut clauses,
        &lemmas,
        |_| Given::default(),
        LIMITS.core_queries,
        budget,
    )?;
    let mut found: FxHashMap<PredicateId, Vec<TermId>> = FxHashMap::default();
    for lemma in needed.lemmas {
        if let (Some(predicate), formula) = candidates[kept[lemma]] {
            found.entry(predicate).or_default().push(formula);
        }
    }
    let definition = |predicate: &PredicateId| {
        let formulas = found.get(predicate).map_or(&[][..], |f| f);
        (*predicate, terms.and(formulas))
    };
    Some(definitions.keys().map(definition).collect())
}

/// The depths to which calls are unfolded: for each numeral that they may be compared with, and
/// some small ones.
fn depths(terms: &TermStore, conjunct: TermId) -> Vec<u32> {
    let mut found: Vec<u32> = LIMITS.depths.to_vec();
    terms.post_order(&[conjunct], |t| {
        if let Some(number) = terms.as_int(t).and_then(ToPrimitive::to_i64)
            && let Ok(number) = u32::try_from(number.unsigned_abs())
        {
            found.extend([number, number.saturating_add(1)]);
        }
    });
    found.retain(|&depth| (1..=LIMITS.max_depth).contains(&depth));
    found.sort_unstable();
    found.dedup();
    found
}

/// The candidates for a conjunct; the conjunct itself if it calls nothing.
fn forms(terms: &TermStore, conjunct: TermId) -> Vec<TermId> {
    let mut calls = Vec::new();
    terms.post_order(&[conjunct], |t| {
        if is_call(terms, t) {
            calls.push(t);
        }
    });
    if calls.is_empty() {
        return vec![conjunct];
    }
    let (none, one) = (terms.int(0), terms.int(1));
    let mut found = Vec::new();
    for depth in depths(terms, conjunct) {
        let Some(counted) = bounded(terms, conjunct, depth, none) else {
            break;
        };
        // A term is deeper if its value depends on the value of the rest.
        let deeper = calls.iter().map(|&call| {
            let counts = |rest| bounded(terms, call, depth, rest);
            Some(terms.not(terms.eq(counts(none)?, counts(one)?)))
        });
        let Some(deeper) = deeper.collect::<Option<Vec<TermId>>>() else {
            break;
        };
        found.push(counted);
        found.push(terms.or(&[&[counted], &deeper[..]].concat()));
    }
    found
}

fn is_call(terms: &TermStore, term: TermId) -> bool {
    matches!(terms.op(term), Op::Call(_) | Op::Size(_))
}

/// The term with calls unfolded `depth` times, and `rest` in place of those that remain. `None` if
/// it grows too large, or if a call does not give an integer.
fn bounded(terms: &TermStore, term: TermId, depth: u32, rest: TermId) -> Option<TermId> {
    let mut term = term;
    for left in (0..=depth).rev() {
        let mut integers = true;
        let mut memo = FxHashMap::default();
        term = terms.rewrite_bottom_up(term, &mut memo, |t| {
            if !is_call(terms, t) {
                return t;
            }
            integers &= terms.sort_of(t) == SortId::INT;
            match *terms.op(t) {
                _ if !integers => t,
                _ if left == 0 => rest,
                Op::Size(datatype) => terms.size_body(datatype, terms.args(t)[0]),
                _ => terms.unfold(t),
            }
        });
        if !integers || terms.dag_size(&[term]) > LIMITS.max_nodes {
            return None;
        }
    }
    Some(term)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alphorn_chc::Atom;
    use alphorn_samples::is_model;
    use alphorn_term::run::Context;
    use alphorn_term::{Constructor, DatatypeId, Field};
    use alphorn_witness::Model;

    fn numerals(t: &TermStore) -> (DatatypeId, SortId) {
        let (id, sort) = t.declare_datatype("Nat", &[]);
        let selector = "pred".to_owned();
        let constructor = |name: &str, fields: Vec<Field>| Constructor {
            name: name.to_owned(),
            fields,
        };
        let field = Field { selector, sort };
        let constructors = vec![
            constructor("zero", vec![]),
            constructor("succ", vec![field]),
        ];
        t.define_datatype(id, constructors);
        (id, sort)
    }

    /// Pairs of numerals from `first` on, counted up together, and a query.
    fn pairs(
        first: usize,
        query: impl Fn(&TermStore, DatatypeId, [TermId; 2]) -> TermId,
    ) -> (System, PredicateId) {
        let t = Rc::new(TermStore::new());
        let (id, sort) = numerals(&t);
        let mut system = System::new(t.clone());
        let p = system.add_predicate("P", &[sort, sort]);
        let [x, y, x1, y1] = ["x", "y", "x1", "y1"].map(|n| t.var(n, sort));
        let atom = |args: &[TermId]| Atom {
            predicate: p,
            args: args.to_vec(),
        };
        let next = |term| t.construct(id, 1, &[term]);
        let start = (0..first).fold(t.construct(id, 0, &[]), |n, _| next(n));
        let both = t.and(&[t.eq(x, start), t.eq(y, start)]);
        system.add_clause(vec![], both, Some(atom(&[x, y])));
        let both = t.and(&[t.eq(x1, next(x)), t.eq(y1, next(y))]);
        system.add_clause(vec![atom(&[x, y])], both, Some(atom(&[x1, y1])));
        system.add_clause(vec![atom(&[x, y])], query(&t, id, [x, y]), None);
        (system, p)
    }

    fn unfolded(system: &System, p: PredicateId, formula: TermId) -> Option<TermId> {
        let t = &system.terms;
        let cx = Context::new(t.clone());
        let definitions = FxHashMap::from_iter([(p, formula)]);
        let found = unfolded_model(system, &definitions, &Smt::new(t.clone()), &cx.budget)?;
        let formula = found[&p];
        t.post_order(&[formula], |part| assert!(!is_call(t, part)));
        let model = Model {
            definitions: found,
            lemmas: Vec::new(),
        };
        assert!(is_model(system, &model));
        Some(formula)
    }

    #[test]
    fn small_numerals_are_decided_by_constructors() {
        let (system, p) = pairs(3, |t, id, [x, y]| {
            let both = [t.is(id, 1, x), t.is(id, 1, t.field(id, 1, 0, y))];
            t.not(t.and(&both))
        });
        let t = &system.terms;
        let params = &system.predicate(p).params;
        let large = |at: usize| t.ge(t.size(params[at]), t.int(3));
        assert!(unfolded(&system, p, t.and(&[large(0), large(1)])).is_some());
        // A formula that is too weak is no model.
        assert_eq!(unfolded(&system, p, large(0)), None);
    }

    #[test]
    fn numerals_of_any_size_are_not() {
        let (system, p) = pairs(0, |t, id, [x, y]| t.eq(y, t.construct(id, 1, &[x])));
        let t = &system.terms;
        let params = &system.predicate(p).params;
        let equal = t.eq(t.size(params[0]), t.size(params[1]));
        assert_eq!(unfolded(&system, p, equal), None);
    }

    #[test]
    fn calls_that_give_terms_are_not_unfolded() {
        let t = TermStore::new();
        let (id, sort) = numerals(&t);
        let next = t.declare_function("next", &[sort], sort);
        let param = t.function(next).params[0];
        t.define_function(next, t.construct(id, 1, &[param]), Vec::new());
        let size = t.size(t.call(next, &[t.var("x", sort)]));
        assert_eq!(bounded(&t, size, 1, t.int(0)), None);
    }

    #[test]
    fn calls_are_unfolded_to_a_depth() {
        let t = Rc::new(TermStore::new());
        let (id, sort) = numerals(&t);
        let x = t.var("x", sort);
        let rest = t.int(0);
        for (depth, value, expected) in [(1, 0, 0), (1, 5, 1), (3, 2, 2), (3, 3, 3), (3, 9, 3)] {
            let size = bounded(&t, t.size(x), depth, rest).expect("it is small");
            let zero = t.construct(id, 0, &[]);
            let numeral = (0..value).fold(zero, |n, _| t.construct(id, 1, &[n]));
            let found = t.substitute(size, &FxHashMap::from_iter([(x, numeral)]));
            assert_eq!(found, t.int(expected), "{value} to depth {depth}");
        }
    }
}
