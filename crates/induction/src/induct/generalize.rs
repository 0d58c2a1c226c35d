//! Lemmas from failed proofs: what a case was left with, after the induction hypothesis was used
//! once, with subterms made variables.
//!
//! Cross-fertilisation and generalisation as by Boyer and Moore ("A Computational Logic", 1979).
//!
//! Invariant: what is proposed is a guess.

use rustc_hash::FxHashSet;

use super::explore::{falsified, weight};
use super::prove::Residue;
use super::statement::{Statement, calls};
use alphorn_term::{Assignment, Op, SortId, TermId, TermStore};

/// Candidates from failed cases, at most, their size, and values that each is tried on.
const CANDIDATES: usize = 24;
const WEIGHT: usize = 40;
const TRIES: usize = 60;

/// Statements that would close the cases or others like them, small ones first.
pub(super) fn candidates(terms: &TermStore, residues: &[Residue]) -> Vec<Statement> {
    let mut found: Vec<Statement> = Vec::new();
    let mut seen: FxHashSet<Statement> = FxHashSet::default();
    for residue in residues {
        for conclusion in fertilized(terms, residue) {
            for general in generalized(terms, conclusion) {
                let candidate = Statement::new(terms, Vec::new(), general);
                if general != TermId::TRUE
                    && weight(terms, &candidate) <= WEIGHT
                    && seen.insert(candidate.clone())
                {
                    found.push(candidate);
                }
            }
        }
    }
    found.sort_by_key(|c| weight(terms, c));
    let may_hold = |c: &Statement| !falsified(terms, c, TRIES);
    found
        .into_iter()
        .filter(may_hold)
        .take(CANDIDATES)
        .collect()
}

/// The statements with a numeral that occurs more than once made a variable, if they may hold: what
/// an accumulator begins with is what induction changes.
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
    general.filter(|g| !falsified(terms, g, TRIES)).collect()
}

/// The conclusion as it is, and with one side of an equation known by induction replaced by the
/// other.
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

/// The formula, and with a call that occurs more than once made a variable; of calls in calls also
/// the outer one alone.
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

/// How often a term occurs in another one, as in a tree; a few are enough.
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
        if count > 1 || steps > 1000 {
            break;
        }
    }
    count
}
