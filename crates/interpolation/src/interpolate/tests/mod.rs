//! Tests of interpolants by their definitions, with queries in a separate context.

mod random;
mod samples;

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::{InterpolationDag, InterpolationOptions, Interpolator};
use alphorn_smt::{SatResult, Smt};
use alphorn_term::{Printer, TermId, TermStore};

/// Options with all checks.
fn checked() -> InterpolationOptions {
    InterpolationOptions {
        check: true,
        ..InterpolationOptions::default()
    }
}

fn interpolator(terms: &Rc<TermStore>, options: InterpolationOptions) -> Interpolator {
    Interpolator::new(&Smt::new(Rc::clone(terms)), options)
}

fn is_unsat(terms: &Rc<TermStore>, formulas: &[TermId]) -> bool {
    let smt = Smt::new(Rc::clone(terms));
    let mut solver = smt.solver();
    formulas.iter().for_each(|&f| solver.assert(f));
    match solver.check(&[]) {
        SatResult::Unsat => true,
        SatResult::Sat => false,
        SatResult::Unknown(reason) => panic!("a test query stays open: {reason}"),
    }
}

fn vars(terms: &TermStore, formulas: &[TermId]) -> FxHashSet<TermId> {
    terms.free_vars(formulas).into_iter().collect()
}

fn assert_implies(terms: &Rc<TermStore>, premises: &[TermId], conclusion: TermId) {
    let mut all = premises.to_vec();
    all.push(terms.not(conclusion));
    let show = |f: &TermId| Printer::new(terms).term(*f);
    assert!(
        is_unsat(terms, &all),
        "{:?} do not imply {}",
        premises.iter().map(show).collect::<Vec<_>>(),
        show(&conclusion)
    );
}

fn assert_scope(terms: &TermStore, formula: TermId, before: &[TermId], behind: &[TermId]) {
    let (before, behind) = (vars(terms, before), vars(terms, behind));
    for var in terms.free_vars(&[formula]) {
        let text = Printer::new(terms).term(formula);
        assert!(before.contains(&var) && behind.contains(&var), "{text}");
    }
}

fn assert_interpolant(terms: &Rc<TermStore>, a: &[TermId], b: &[TermId], interpolant: TermId) {
    assert_implies(terms, a, interpolant);
    let mut rest = b.to_vec();
    rest.push(interpolant);
    assert_implies(terms, &rest, TermId::FALSE);
    assert_scope(terms, interpolant, a, b);
}

fn assert_sequence(terms: &Rc<TermStore>, formulas: &[TermId], result: &[TermId]) {
    assert_eq!(result.len() + 1, formulas.len());
    let at = |k: usize| match k {
        0 => TermId::TRUE,
        k => result.get(k - 1).copied().unwrap_or(TermId::FALSE),
    };
    for (k, &formula) in formulas.iter().enumerate() {
        assert_implies(terms, &[at(k), formula], at(k + 1));
        if k + 1 < formulas.len() {
            assert_scope(terms, at(k + 1), &formulas[..=k], &formulas[k + 1..]);
        }
    }
}

fn assert_tree(
    terms: &Rc<TermStore>,
    formulas: &[TermId],
    parents: &[Option<usize>],
    result: &[TermId],
) {
    assert_eq!(result.len(), formulas.len());
    for node in 0..formulas.len() {
        let mut premises = vec![formulas[node]];
        let children = (0..formulas.len()).filter(|&c| parents[c] == Some(node));
        premises.extend(children.map(|c| result[c]));
        assert_implies(terms, &premises, result[node]);
        let mut inside: FxHashSet<usize> = [node].into_iter().collect();
        for _ in 0..formulas.len() {
            for (child, parent) in parents.iter().enumerate() {
                if parent.is_some_and(|p| inside.contains(&p)) {
                    inside.insert(child);
                }
            }
        }
        let (below, rest): (Vec<usize>, Vec<usize>) =
            (0..formulas.len()).partition(|n| inside.contains(n));
        let pick = |nodes: &[usize]| nodes.iter().map(|&n| formulas[n]).collect::<Vec<_>>();
        assert_scope(terms, result[node], &pick(&below), &pick(&rest));
        if parents[node].is_none() {
            assert_eq!(result[node], TermId::FALSE);
        }
    }
}

fn assert_dag(terms: &Rc<TermStore>, dag: &InterpolationDag, result: &[TermId]) {
    assert_eq!(result.len(), dag.labels.len());
    assert_eq!(result[dag.entry], TermId::TRUE);
    assert_eq!(result[dag.exit], TermId::FALSE);
    for edge in &dag.edges {
        let premises = [result[edge.from], dag.labels[edge.from], edge.formula];
        assert_implies(terms, &premises, result[edge.to]);
    }
    for (node, &interpolant) in result.iter().enumerate() {
        // The formulas on paths to the node, and from it.
        let reach = |forward: bool| -> Vec<TermId> {
            let mut seen: FxHashSet<usize> = [node].into_iter().collect();
            let mut formulas = vec![dag.labels[node]];
            let mut stack = vec![node];
            while let Some(at) = stack.pop() {
                for edge in &dag.edges {
                    let (own, other) = match forward {
                        true => (edge.from, edge.to),
                        false => (edge.to, edge.from),
                    };
                    if own == at {
                        formulas.extend([edge.formula, dag.labels[other]]);
                        if seen.insert(other) {
                            stack.push(other);
                        }
                    }
                }
            }
            formulas
        };
        assert_scope(terms, interpolant, &reach(false), &reach(true));
    }
}
