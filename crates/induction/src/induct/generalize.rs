//! Lemmas from failed proofs: the goal that is left of a case after the induction hypothesis was
//! used once, with subterms replaced by variables.
//!
//! Source: cross-fertilization and generalization of Boyer and Moore ("A Computational Logic",
//! 1979).
//!
//! Invariant: a candidate is only a guess.

use rustc_hash::FxHashSet;

use super::explore::{falsified, weight};
use super::limits::LIMITS;
use super::prove::Residue;
use super::statement::{Statement, calls};
use alphorn_term::{Assignment, Op, SortId, TermId, TermStore};

/// Statements that would close these cases or similar ones, small ones first.
pub(super) fn candidates(terms: &TermStore, residues: &[Residue]) -> Vec<Statement> {
    let mut found: Vec<Statement> = Vec::new();
    let mut seen: FxHashSet<Statement> = FxHashSet::default();
    for residue in residues {
        for conclusion in fertilized(terms, residue) {
            for general in generalized(terms, conclusion) {
                let candidate = Statement::new(terms, Vec::new(), general);
                if general != TermId::TRUE
                    && weight(terms, &candidate) <= LIMITS.generalization_weight
                    && seen.insert(candidate.clone())
                {
                    found.push(candidate);
                }
            }
        }
    }
    found.sort_by_key(|c| weight(terms, c));
    let may_hold = |c: &Statement| !falsified(terms, c, LIMITS.generalization_tests);
    found
        .into_iter()
        .filter(may_hold)
        .take(LIMITS.generalizations)
        .collect()
}

/// The statement with a numeral that occurs more than once replaced by a variable, for each such
/// numeral, if the result may hold: induction changes the initial value of an accumulator.
pub(super) fn without_numerals(terms: &TermStore, statement: &Statement) -> Vec<Statement> {
    let formula = statement.formula(terms);
    let mut numerals = Vec::new();
    terms.post_order(&[formula], |t| {
        if matches!(terms.op(t), Op::Int(_)) && occurrences(terms, formula, t) > 1 {
            numerals.push(t);
        }
    });
    let general = numerals.into_iter().map(|numeral| {
        let var = terms.fresh_var("g", SortId::INT);
        let one = Assignment::from_iter([(numeral, var)]);
        let hypotheses = statement.hypotheses.iter();
        let hypotheses = hypotheses.map(|&h| terms.substitute(h, &one)).collect();
        Statement::new(
            terms,
            hypotheses,
            terms.substitute(statement.conclusion, &one),
        )
    });
    let may_hold = |g: &Statement| !falsified(terms, g, LIMITS.generalization_tests);
    general.filter(may_hold).collect()
}

/// The conclusion, and the conclusion with one side of an equation of the induction hypothesis
/// replaced by the other.
fn fertilized(terms: &TermStore, residue: &Residue) -> Vec<TermId> {
    let conclusion = residue.statement.conclusion;
    let mut found = vec![conclusion];
    for &hypothesis in &residue.hypotheses {
        let node = terms.node(hypothesis);
        let Op::Eq = node.op else { continue };
        for (from, to) in [(0, 1), (1, 0)].map(|(i, j)| (node.args[i], node.args[j])) {
            let is_call = matches!(terms.op(from), Op::Call(_));
            let replaced = terms.substitute(conclusion, &Assignment::from_iter([(from, to)]));
            if is_call && replaced != conclusion && !found.contains(&replaced) {
                found.push(replaced);
            }
        }
    }
    found
}

/// The formula, and the formula with a call that occurs more than once replaced by a variable.
fn generalized(terms: &TermStore, formula: TermId) -> Vec<TermId> {
    let mut found = vec![formula];
    for call in calls(terms, &[formula]) {
        if occurrences(terms, formula, call) > 1 {
            let var = terms.fresh_var("g", terms.sort_of(call));
            found.push(terms.substitute(formula, &Assignment::from_iter([(call, var)])));
        }
    }
    found
}

/// The number of occurrences of a term in another one as a tree, counted up to two.
fn occurrences(terms: &TermStore, formula: TermId, term: TermId) -> usize {
    let mut count = 0;
    let mut open = vec![formula];
    let mut steps = 0;
    while let Some(t) = open.pop() {
        steps += 1;
        if t == term {
            count += 1;
        } else {
            open.extend_from_slice(terms.args(t));
        }
        if count > 1 || steps > LIMITS.occurrence_steps {
            break;
        }
    }
    count
}
