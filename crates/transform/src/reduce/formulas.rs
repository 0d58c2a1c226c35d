//! The propositional structure of conjuncts: negations are pushed inwards to make conjunctions, and
//! what all disjuncts share is factored out.
//!
//! Invariant: the conjunction of the results is equivalent to the conjunct.

use rustc_hash::FxHashSet;

use alphorn_term::{Op, SortId, TermId, TermStore};

/// Adds one or more formulas to `out` whose conjunction is equivalent to the conjunct.
pub(super) fn open(terms: &TermStore, conjunct: TermId, out: &mut Vec<TermId>) {
    let node = terms.node(conjunct);
    match node.op {
        Op::Not => {
            let inner = terms.node(node.args[0]);
            match inner.op {
                Op::Or => out.extend(inner.args.iter().map(|&a| terms.not(a))),
                Op::And => {
                    let negated: Vec<TermId> = inner.args.iter().map(|&a| terms.not(a)).collect();
                    out.push(terms.or(&negated));
                }
                Op::Ite => {
                    let (then, other) = (terms.not(inner.args[1]), terms.not(inner.args[2]));
                    out.push(terms.ite(inner.args[0], then, other));
                }
                _ => out.push(conjunct),
            }
        }
        Op::Or => match common(terms, &node.args, out) {
            Some(rest) => {
                if rest.iter().all(|r| !r.is_empty()) {
                    let rest: Vec<TermId> = rest.iter().map(|r| terms.and(r)).collect();
                    out.push(terms.or(&rest));
                }
            }
            None => out.push(conjunct),
        },
        Op::Ite if node.sort == SortId::BOOL => match common(terms, &node.args[1..], out) {
            Some(rest) => {
                let (then, other) = (terms.and(&rest[0]), terms.and(&rest[1]));
                out.push(terms.ite(node.args[0], then, other));
            }
            None => out.push(conjunct),
        },
        _ => out.push(conjunct),
    }
}

/// Adds the conjuncts that all formulas share to `out` and returns the rest of each formula; `None`
/// if they share none.
fn common(
    terms: &TermStore,
    formulas: &[TermId],
    out: &mut Vec<TermId>,
) -> Option<Vec<Vec<TermId>>> {
    let parts: Vec<Vec<TermId>> = formulas.iter().map(|&f| parts(terms, f)).collect();
    let shortest = parts.iter().min_by_key(|p| p.len())?;
    let mut shared: FxHashSet<TermId> = shortest.iter().copied().collect();
    for other in &parts {
        let other: FxHashSet<TermId> = other.iter().copied().collect();
        shared.retain(|t| other.contains(t));
        if shared.is_empty() {
            return None;
        }
    }
    let mut sorted: Vec<TermId> = shared.iter().copied().collect();
    sorted.sort_unstable();
    out.extend(sorted);
    let rest = parts.into_iter().map(|mut p| {
        p.retain(|t| !shared.contains(t));
        p
    });
    Some(rest.collect())
}

fn parts(terms: &TermStore, formula: TermId) -> Vec<TermId> {
    let node = terms.node(formula);
    if node.op == Op::Not && *terms.op(node.args[0]) == Op::Or {
        let inner = terms.args(node.args[0]);
        return inner.iter().map(|&a| terms.not(a)).collect();
    }
    terms.conjuncts(formula)
}
