//! Values for a derivation, by one query in which equations are solved by substitution: arguments are
//! terms over few free variables, so long derivations give small formulas.
//!
//! Invariant: a refutation that is returned has the clauses and premises of the derivation. Whether
//! its values are correct is left to the check of refutations.

use std::rc::Rc;

use num_traits::{One, Signed};
use rustc_hash::FxHashMap;

use super::{DerivationStep, values};
use alphorn_chc::{Clause, System};
use alphorn_smt::{SatResult, Smt};
use alphorn_term::{Evaluator, Op, Rational, TermId, TermStore};
use alphorn_witness::{Fact, Refutation, RefutationStep};

/// From variables of a clause to terms over free variables.
type Terms = FxHashMap<TermId, TermId>;

/// A refutation with the clauses of a derivation, whose last step is a query; `None` if the solver
/// finds no values.
pub fn substituted(system: &System, steps: &[DerivationStep], smt: &Rc<Smt>) -> Option<Refutation> {
    let terms = &system.terms;
    let mut maps: Vec<Terms> = Vec::with_capacity(steps.len());
    let mut asserted: Vec<TermId> = Vec::new();
    for step in steps {
        let clause = &system.clauses[step.clause];
        let mut map = Terms::default();
        for (atom, &premise) in clause.body.iter().zip(&step.premises) {
            let head = system.clauses[steps[premise].clause].head.as_ref()?;
            for (arg, derived) in atom.args.iter().zip(&head.args) {
                map.insert(*arg, *maps[premise].get(derived)?);
            }
        }
        instantiate(terms, clause, &mut map, &mut asserted);
        if asserted.last() == Some(&TermId::FALSE) {
            return None;
        }
        maps.push(map);
    }
    let mut solver = smt.solver();
    for &formula in &asserted {
        solver.assert(formula);
    }
    if solver.check(&[]) != SatResult::Sat {
        return None;
    }
    let found = values(&solver.model()?, &terms.free_vars(&asserted)).ok()?;
    let lookup = |var: TermId| {
        let known = found.get(&var).copied();
        known.or_else(|| terms.default_value(terms.sort_of(var)))
    };
    let mut evaluator = Evaluator::with(terms, &lookup);
    let mut refutation = Refutation::default();
    for (step, map) in steps.iter().zip(maps) {
        let clause = &system.clauses[step.clause];
        let pairs = map
            .into_iter()
            .map(|(var, term)| Some((var, evaluator.value(term)?)));
        let values: Terms = pairs.collect::<Option<_>>()?;
        let fact = clause.head.as_ref().map(|head| {
            let args = head.args.iter().map(|arg| values.get(arg).copied());
            Some(Fact {
                predicate: head.predicate,
                values: args.collect::<Option<_>>()?,
            })
        });
        refutation.steps.push(RefutationStep {
            clause: clause.id,
            fact: match fact {
                Some(fact) => Some(fact?),
                None => None,
            },
            values,
            premises: step.premises.clone(),
        });
    }
    Some(refutation)
}

/// Maps all variables of a clause, whose body arguments are mapped, and adds the instances of the
/// conjuncts that define none of them.
fn instantiate(terms: &TermStore, clause: &Clause, map: &mut Terms, asserted: &mut Vec<TermId>) {
    let mut conjuncts = terms.conjuncts(clause.constraint);
    // Variables that are no arguments come last, and are free first.
    let mut vars = clause.vars(terms);
    loop {
        let before = conjuncts.len();
        conjuncts.retain(|&conjunct| match definition(terms, conjunct, map) {
            Some((var, term)) => {
                map.insert(var, term);
                false
            }
            None => true,
        });
        if conjuncts.len() < before {
            continue;
        }
        while vars.last().is_some_and(|var| map.contains_key(var)) {
            vars.pop();
        }
        let Some(var) = vars.pop() else {
            break;
        };
        map.insert(var, terms.fresh_var("free", terms.sort_of(var)));
    }
    let instances = conjuncts.iter().map(|&c| terms.substitute(c, map));
    asserted.extend(instances.filter(|&formula| formula != TermId::TRUE));
}

/// A variable without a term that the conjunct defines by mapped ones, with its term.
fn definition(terms: &TermStore, conjunct: TermId, map: &Terms) -> Option<(TermId, TermId)> {
    let is_open = |term: TermId| terms.is_var(term) && !map.contains_key(&term);
    let is_mapped = |term: TermId| {
        let vars = terms.free_vars(&[term]);
        vars.iter().all(|var| map.contains_key(var))
    };
    let args = terms.args(conjunct);
    match terms.op(conjunct) {
        Op::Var(_) => is_open(conjunct).then_some((conjunct, TermId::TRUE)),
        Op::Not => is_open(args[0]).then_some((args[0], TermId::FALSE)),
        Op::Eq if terms.sort_of(args[0]).is_number() => {
            let linear = terms.difference(args[0], args[1]);
            let mut open = linear.monomials.iter().filter(|m| !is_mapped(m.0));
            let (var, factor) = open.next()?;
            if open.next().is_some() || !is_open(*var) || !factor.abs().is_one() {
                return None;
            }
            let (var, factor) = (*var, -Rational::one() / factor);
            let (_, rest) = linear.split_off(var);
            let term = terms.from_linear(&rest.scaled(&factor), terms.sort_of(var));
            Some((var, terms.substitute(term, map)))
        }
        Op::Eq => {
            let sides = [(args[0], args[1]), (args[1], args[0])];
            let (var, term) = sides.into_iter().find(|s| is_open(s.0) && is_mapped(s.1))?;
            Some((var, terms.substitute(term, map)))
        }
        _ => None,
    }
}
