//! Properties of the codes of all terms: the least solution of one clause for each constructor, by
//! abstract interpretation.
//!
//! Invariant: the cases of all constructors preserve the properties, as far as the solver is right.

use rustc_hash::FxHashMap;

use super::codes::Encoder;
use super::limits::LIMITS;
use crate::facts::{Checker, Facts};
use alphorn_chc::{Atom, PredicateId, System};
use alphorn_domain::catalogue::{Catalogue, DIMENSIONS, Parameters};
use alphorn_domain::{Domain, Limits, Product, analyse};
use alphorn_term::run::Context;
use alphorn_term::{DatatypeId, SortId, TermId};

/// Sets the properties of the encoder's codes.
pub fn find_admissible(encoder: &mut Encoder, cx: &mut Context) {
    let terms = encoder.terms.clone();
    let mut system = System::new(terms.clone());
    let mut predicates: FxHashMap<DatatypeId, PredicateId> = FxHashMap::default();
    for id in terms.datatype_ids() {
        let sorts = encoder.sorts(id);
        if sorts.contains(&SortId::INT) {
            predicates.insert(id, system.add_predicate("code", &sorts));
        }
    }
    let mut ids: Vec<DatatypeId> = predicates.keys().copied().collect();
    ids.sort_unstable();
    for &id in &ids {
        for (c, constructor) in (0..).zip(&terms.datatype(id).constructors) {
            let mut body = Vec::new();
            let mut fields = Vec::new();
            for field in &constructor.fields {
                let part = encoder.fresh_part(field.sort);
                let inner = encoder
                    .datatype(field.sort)
                    .and_then(|f| predicates.get(&f));
                if let Some(&predicate) = inner {
                    let args = part.clone();
                    body.push(Atom { predicate, args });
                }
                fields.push(part);
            }
            let args = encoder.fresh(id, "code");
            let code = encoder.construct(id, c, &fields);
            let pairs = args.iter().zip(&code);
            let equations: Vec<TermId> = pairs.map(|(&a, &b)| terms.eq(a, b)).collect();
            let predicate = predicates[&id];
            system.add_clause(body, terms.and(&equations), Some(Atom { predicate, args }));
        }
    }
    if system.clauses.is_empty() {
        return;
    }
    let found = facts(&system, cx);
    for id in ids {
        let predicate = predicates[&id];
        let facts = found.get(&predicate).cloned().unwrap_or_default();
        let params = system.predicate(predicate).params.iter().copied();
        let map = params.zip(encoder.formal(id).iter().copied()).collect();
        let formula = terms.substitute(terms.and(&facts), &map);
        encoder.set_admissible(id, formula);
    }
}

/// Properties of the predicates that are proven inductive.
fn facts(system: &System, cx: &mut Context) -> Facts {
    let budget = cx.budget.work(LIMITS.analysis_work);
    let domains = Catalogue::new(system, Parameters::PASS, budget);
    let domain = domains.with_bounds(Product::new(
        domains.packed_congruences(),
        domains.packed_polyhedra(DIMENSIONS),
    ));
    let limits = Limits {
        time: LIMITS.analysis_work,
        ..Limits::default()
    };
    let found = analyse(&domain, system, limits, cx);
    if !found.complete {
        return Facts::default();
    }
    let mut candidates = Facts::default();
    for predicate in system.used_predicates() {
        let mut conjuncts = domain.formula(&found.values[predicate.index()]);
        conjuncts.retain(|&c| c != TermId::TRUE);
        candidates.insert(predicate, conjuncts);
    }
    cx.within(cx.budget.work(LIMITS.check_work), |cx| {
        let mut checker = Checker::new(system, cx);
        checker.prove(candidates, cx);
        checker.shorten(cx);
        checker.into_facts()
    })
}
