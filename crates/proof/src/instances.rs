//! Clauses without quantifiers in their constraints.
//!
//! A quantified formula `∀k. ψ` is replaced by a Boolean variable `q`, with `q ⇒ ψ(t)` for index
//! terms `t`, and with a fresh constant for which `ψ` is false if `q` is. The original constraint
//! implies the new one, so the new clauses imply the original ones: a model of theirs is a model. A
//! refutation of theirs need not be one; values for its clauses with their quantifiers are then
//! searched for ([`with_quantifiers`]).
//!
//! Index terms are the indexes at which the clause reads and writes arrays, arguments of its atoms
//! of a sort of indexes, numerals at which some clause reads, the caller's terms, and the sums of
//! these and the distances at which clauses read, as in `a[i + 1]`.
//!
//! Invariant: clauses keep their ids and positions, and each constraint is implied by the original
//! one.

use std::rc::Rc;

use num_traits::Zero;
use rustc_hash::{FxHashMap, FxHashSet};

use super::derivation::{Derivation, DerivationStep};
use super::{Stop, ask, confirm, incomplete, values};
use alphorn_chc::{Clause, System};
use alphorn_smt::{Smt, SmtModel};
use alphorn_term::run::Context;
use alphorn_term::{Op, SortId, TermId, TermStore};
use alphorn_witness::{Refutation, Verdict};

/// Limits of instantiation.
struct Limits {
    /// Instances of the quantified formulas of one clause; further ones are left out.
    max_instances: usize,
    /// Rounds of instances for one refutation; then it is given up.
    max_rounds: usize,
    /// Terms of one sort at which the formulas of a clause are instantiated; further ones are left
    /// out.
    max_terms: usize,
}

const LIMITS: Limits = Limits {
    max_instances: 400,
    max_rounds: 50,
    max_terms: 20,
};

/// The clauses without quantifiers; their quantified formulas are instantiated at the terms
/// `others`, too.
pub fn without_quantifiers(system: &System, others: &[TermId]) -> System {
    let terms = &*system.terms;
    let mut numerals: Vec<TermId> = Vec::new();
    let mut distances: Vec<TermId> = Vec::new();
    for clause in &system.clauses {
        for index in indexes(terms, clause.constraint) {
            match terms.is_value(index) {
                true => numerals.push(index),
                false => distances.extend(distance(terms, index)),
            }
        }
    }
    for list in [&mut numerals, &mut distances] {
        list.sort_unstable();
        list.dedup();
    }
    let mut result = system.clone();
    for clause in &mut result.clauses {
        if terms.node(clause.constraint).has_quantifier {
            let mut at = others.to_vec();
            at.extend(index_terms(terms, clause));
            let near: Vec<TermId> = distances
                .iter()
                .flat_map(|&d| at.iter().map(move |&t| (t, d)))
                .filter(|&(t, d)| terms.sort_of(t) == terms.sort_of(d))
                .flat_map(|(t, d)| [terms.add(&[t, d]), terms.sub(t, d)])
                .collect();
            at.extend(&numerals);
            at.extend(near);
            clause.constraint = instantiated(terms, clause.constraint, &at);
        }
    }
    result
}

/// A refutation by the clauses with their quantifiers that applies the same clauses as one of their
/// instances, if it is found. Values that contradict a quantified formula are excluded by an
/// instance, and new ones are asked for (model-based quantifier instantiation; Ge, de Moura, CAV
/// 2009).
///
/// # Errors
/// The values cannot be read, there are none, or a limit is reached.
pub fn with_quantifiers(
    system: &System,
    refutation: &Refutation,
    smt: &Rc<Smt>,
    cx: &Context,
) -> Result<Verdict, Stop> {
    let positions = system.clause_index();
    let steps = refutation.steps.iter().map(|step| {
        Some(DerivationStep {
            clause: *positions.get(&step.clause)?,
            premises: step.premises.clone(),
        })
    });
    let steps: Option<Vec<DerivationStep>> = steps.collect();
    let Some(steps) = steps else {
        return Err(incomplete("a refutation applies unknown clauses"));
    };
    let clauses: Vec<usize> = steps.iter().map(|s| s.clause).collect();
    let terms = &system.terms;
    let mut quantified = Vec::new();
    let mut derivation = Derivation::new(system, steps, smt, |step, map| {
        let clause = &system.clauses[clauses[step]];
        let formula = terms.substitute(clause.constraint, map);
        let at = index_terms(terms, clause);
        let at: Vec<TermId> = at.iter().map(|&t| terms.substitute(t, map)).collect();
        instances(terms, formula, &at, &mut quantified)
    });
    for _ in 0..LIMITS.max_rounds {
        let Some(model) = ask(&mut derivation.solver, &[], cx)? else {
            return Err(incomplete(
                "the instances of quantified constraints do not suffice",
            ));
        };
        let mut missing = Vec::new();
        for formula in &quantified {
            missing.extend(formula.missing_instance(terms, &model, smt, cx)?);
        }
        if missing.is_empty() {
            return Ok(confirm(system, derivation.refutation(&model)?, smt, cx));
        }
        for instance in missing {
            for part in instances(terms, instance, &[], &mut quantified) {
                derivation.solver.assert(part);
            }
        }
    }
    Err(incomplete("values contradict quantified constraints"))
}

/// The indexes at which arrays are read or written in a formula, outside of quantifiers, and those
/// inside without bound variables.
fn indexes(terms: &TermStore, formula: TermId) -> Vec<TermId> {
    let mut bound: FxHashSet<TermId> = FxHashSet::default();
    let mut found: Vec<TermId> = Vec::new();
    terms.post_order(&[formula], |t| match terms.op(t) {
        Op::Forall(vars) | Op::Exists(vars) => bound.extend(vars),
        Op::Select | Op::Store => found.push(terms.args(t)[1]),
        _ => {}
    });
    let mut seen = FxHashSet::default();
    found.retain(|&i| {
        let is_open = |v: &TermId| bound.contains(v);
        seen.insert(i) && !terms.free_vars(&[i]).iter().any(is_open)
    });
    found
}

/// The numeral that an index adds to something.
fn distance(terms: &TermStore, index: TermId) -> Option<TermId> {
    let sort = terms.sort_of(index);
    if !sort.is_number() {
        return None;
    }
    let constant = terms.linear(index).constant;
    (!constant.is_zero()).then(|| terms.number(&constant, sort))
}

/// Terms of a clause that may be indexes.
fn index_terms(terms: &TermStore, clause: &Clause) -> Vec<TermId> {
    let mut found = indexes(terms, clause.constraint);
    let args = || clause.atoms().flat_map(|atom| &atom.args);
    let mut sorts: Vec<SortId> = found.iter().map(|&i| terms.sort_of(i)).collect();
    sorts.extend(args().filter_map(|&a| Some(terms.array_sorts(a)?.0)));
    let scalars = args().filter(|&&a| sorts.contains(&terms.sort_of(a)));
    found.extend(scalars);
    found
}

/// A formula without quantifiers that the given one implies, with instances at the terms `at`.
fn instantiated(terms: &TermStore, formula: TermId, at: &[TermId]) -> TermId {
    terms.and(&instances(terms, formula, at, &mut Vec::new()))
}

/// Its conjuncts; adds the quantified formulas that were replaced, also those inside of others, to
/// `quantified`.
fn instances(
    terms: &TermStore,
    formula: TermId,
    at: &[TermId],
    quantified: &mut Vec<Quantified>,
) -> Vec<TermId> {
    let mut by_sort: FxHashMap<SortId, Vec<TermId>> = FxHashMap::default();
    for &term in at {
        let known = by_sort.entry(terms.sort_of(term)).or_default();
        if known.len() < LIMITS.max_terms && !known.contains(&term) {
            known.push(term);
        }
    }
    let mut parts = Vec::new();
    let mut open = vec![formula];
    let mut left = LIMITS.max_instances;
    while let Some(part) = open.pop() {
        let first = quantified.len();
        parts.push(open_quantifiers(terms, part, quantified));
        for formula in &quantified[first..] {
            open.push(formula.witness(terms));
            let maps = formula.maps(terms, &by_sort, left);
            left -= maps.len();
            open.extend(maps.iter().map(|map| formula.instance(terms, map)));
        }
    }
    parts
}

/// A quantified formula that was replaced by a variable.
pub struct Quantified {
    literal: TermId,
    vars: Box<[TermId]>,
    body: TermId,
    is_universal: bool,
}

/// The formula with variables in place of its outermost quantified formulas, which are added to
/// `found`.
pub fn open_quantifiers(terms: &TermStore, formula: TermId, found: &mut Vec<Quantified>) -> TermId {
    if !terms.node(formula).has_quantifier {
        return formula;
    }
    terms.rewrite(formula, &mut FxHashMap::default(), |t| {
        let (vars, is_universal) = match terms.op(t) {
            Op::Forall(vars) => (vars.clone(), true),
            Op::Exists(vars) => (vars.clone(), false),
            _ => return None,
        };
        let literal = terms.fresh_var("q", SortId::BOOL);
        found.push(Quantified {
            literal,
            vars,
            body: terms.args(t)[0],
            is_universal,
        });
        Some(literal)
    })
}

impl Quantified {
    /// An instance that the model's values contradict, if there is one.
    fn missing_instance(
        &self,
        terms: &TermStore,
        model: &SmtModel,
        smt: &Rc<Smt>,
        cx: &Context,
    ) -> Result<Option<TermId>, Stop> {
        let literal = [self.literal];
        if values(model, &literal)?.get(&self.literal) != Some(&terms.bool(self.is_universal)) {
            // The model has a witness.
            return Ok(None);
        }
        let mut free = terms.free_vars(&[self.body]);
        free.retain(|v| !self.vars.contains(v));
        let body = terms.substitute(self.body, &values(model, &free)?);
        let mut solver = smt.solver();
        solver.assert(match self.is_universal {
            true => terms.not(body),
            false => body,
        });
        let Some(contradiction) = ask(&mut solver, &[], cx)? else {
            return Ok(None);
        };
        let at = values(&contradiction, &self.vars)?;
        Ok(Some(self.instance(terms, &at)))
    }

    /// The instance at these terms: a universal formula implies it, and an existential one is
    /// implied by it.
    pub fn instance(&self, terms: &TermStore, map: &FxHashMap<TermId, TermId>) -> TermId {
        let instance = terms.substitute(self.body, map);
        match self.is_universal {
            true => terms.implies(self.literal, instance),
            false => terms.implies(instance, self.literal),
        }
    }

    /// The formula that fresh variables are values for which a universal formula fails if it does
    /// not hold, or for which an existential one holds if it does.
    pub fn witness(&self, terms: &TermStore) -> TermId {
        let witness = terms.substitute(self.body, &terms.renaming(&self.vars));
        match self.is_universal {
            true => terms.implies(witness, self.literal),
            false => terms.implies(self.literal, witness),
        }
    }

    /// Choices of terms for the bound variables, at most `most`.
    pub fn maps(
        &self,
        terms: &TermStore,
        by_sort: &FxHashMap<SortId, Vec<TermId>>,
        most: usize,
    ) -> Vec<FxHashMap<TermId, TermId>> {
        let none = Vec::new();
        let mut maps: Vec<FxHashMap<TermId, TermId>> = vec![FxHashMap::default()];
        for &var in &self.vars {
            let choices = by_sort.get(&terms.sort_of(var)).unwrap_or(&none);
            let longer = maps.iter().flat_map(|map| {
                choices.iter().map(move |&term| {
                    let mut map = map.clone();
                    map.insert(var, term);
                    map
                })
            });
            maps = longer.take(most).collect();
        }
        maps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alphorn_smt::SatResult;

    #[test]
    fn instances_follow_and_are_free_of_quantifiers() {
        let terms = Rc::new(TermStore::new());
        let sort = terms.array_sort(SortId::INT, SortId::INT);
        let [a, b] = ["a", "b"].map(|n| terms.var(n, sort));
        let [i, j, k, l] = ["i", "j", "k", "l"].map(|n| terms.var(n, SortId::INT));
        let at = |array, index| terms.select(array, index);
        let sorted = terms.forall(
            &[k, l],
            terms.implies(terms.lt(k, l), terms.le(at(a, k), at(a, l))),
        );
        let found = terms.exists(&[k], terms.eq(at(a, k), at(b, i)));
        let nested = terms.forall(&[k], terms.exists(&[l], terms.gt(at(b, l), at(a, k))));
        let smt = Smt::new(terms.clone());
        let holds = |premise: TermId, conclusion: TermId| {
            let mut solver = smt.solver();
            solver.assert(premise);
            solver.assert(terms.not(conclusion));
            solver.check(&[]) == SatResult::Unsat
        };
        let weaker = |formula| {
            let weaker = instantiated(&terms, formula, &[i, j]);
            assert!(!terms.node(weaker).has_quantifier);
            weaker
        };
        let ordered = terms.implies(terms.lt(i, j), terms.le(at(a, i), at(a, j)));
        assert!(holds(weaker(sorted), ordered));
        assert!(!holds(weaker(sorted), terms.le(at(a, i), at(a, j))));
        // One case of each polarity; one of them would be wrong if the instances did not follow.
        let both = terms.or(&[terms.not(sorted), ordered]);
        assert!(holds(TermId::TRUE, both) && !holds(weaker(terms.not(sorted)), TermId::FALSE));
        let none = terms.not(terms.eq(at(a, j), at(b, i)));
        assert!(holds(weaker(terms.not(found)), none));
        assert!(!holds(weaker(found), none));
        let mixed = terms.eq(found, terms.lt(i, j));
        let all = terms.and(&[weaker(mixed), terms.eq(at(a, j), at(b, i))]);
        assert!(holds(all, terms.lt(i, j)));
        let bounded =
            terms.not(terms.and(&[terms.eq(at(b, i), at(b, j)), terms.le(at(b, i), at(a, i))]));
        assert!(!holds(weaker(nested), bounded));
        assert!(!terms.node(weaker(terms.not(nested))).has_quantifier);
    }
}
