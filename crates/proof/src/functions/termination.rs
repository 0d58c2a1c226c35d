//! Measures that prove that recursion ends.
//!
//! Invariant: in every call inside a group of mutually recursive functions, the measured arguments
//! are lexicographically smaller than the parameters, as far as the path to the call implies it.

use super::limits::LIMITS;
use alphorn_term::{FunctionId, Op, SortId, TermId, TermStore};

/// The relation of an argument to the parameter at the measured position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Relation {
    Smaller,
    Equal,
    Unknown,
}

/// A call in a body, with the conditions on its path.
struct Call {
    caller: usize,
    callee: usize,
    args: Vec<TermId>,
    path: Vec<TermId>,
}

/// The measured positions for each of the functions with these bodies, which may call each other;
/// empty if none does. `None` if no measure is found. `implies` decides whether conjuncts imply a
/// formula.
pub(super) fn measures(
    terms: &TermStore,
    group: &[(FunctionId, TermId)],
    mut implies: impl FnMut(&[TermId], TermId) -> bool,
) -> Option<Vec<Vec<usize>>> {
    let calls = calls_inside(terms, group)?;
    if calls.is_empty() {
        return Some(vec![Vec::new(); group.len()]);
    }
    let arity = |f: usize| terms.function(group[f].0).params.len();
    let mut is_less = |path: &[TermId], arg: TermId, param: TermId| {
        let between = || terms.and(&[terms.ge(param, terms.int(0)), terms.lt(arg, param)]);
        terms.sort_of(arg) == SortId::INT && implies(path, between())
    };
    let mut relation = |call: &Call, from: usize, to: usize| {
        let param = terms.function(group[call.caller].0).params[from];
        let arg = call.args[to];
        if param == arg {
            Relation::Equal
        } else if is_part(terms, arg, param) && terms.sort_of(arg) != SortId::INT {
            // The part may have another sort.
            Relation::Smaller
        } else if terms.sort_of(param) != terms.sort_of(arg) {
            Relation::Unknown
        } else if is_less(&call.path, arg, param) {
            Relation::Smaller
        } else {
            Relation::Unknown
        }
    };
    if group.len() == 1 {
        return lexicographic(&calls, arity(0), relation).map(|m| vec![m]);
    }
    // One position for each function.
    let mut choice = vec![0; group.len()];
    for _ in 0..LIMITS.max_combinations {
        let mut fits = |c: &Call| {
            let (from, to) = (choice[c.caller], choice[c.callee]);
            relation(c, from, to) == Relation::Smaller
        };
        if (0..group.len()).all(|f| arity(f) > 0) && calls.iter().all(&mut fits) {
            return Some(choice.iter().map(|&c| vec![c]).collect());
        }
        let mut at = 0;
        loop {
            if at == choice.len() {
                return None;
            }
            choice[at] += 1;
            if choice[at] < arity(at) {
                break;
            }
            choice[at] = 0;
            at += 1;
        }
    }
    None
}

/// Greedy: a position that is never unknown decides the calls in which it is smaller.
fn lexicographic(
    calls: &[Call],
    arity: usize,
    mut relation: impl FnMut(&Call, usize, usize) -> Relation,
) -> Option<Vec<usize>> {
    let mut open: Vec<&Call> = calls.iter().collect();
    let mut measure: Vec<usize> = Vec::new();
    while !open.is_empty() {
        let found = (0..arity)
            .filter(|p| !measure.contains(p))
            .find_map(|position| {
                let known: Vec<Relation> = open
                    .iter()
                    .map(|c| relation(c, position, position))
                    .collect();
                let good =
                    !known.contains(&Relation::Unknown) && known.contains(&Relation::Smaller);
                good.then_some((position, known))
            });
        let (position, known) = found?;
        measure.push(position);
        let left = open
            .iter()
            .zip(known)
            .filter(|(_, k)| *k != Relation::Smaller);
        open = left.map(|(c, _)| *c).collect();
    }
    Some(measure)
}

/// Whether a term is a field, or a field of a field, of another term.
fn is_part(terms: &TermStore, term: TermId, whole: TermId) -> bool {
    let mut current = term;
    while let Op::Field(..) = terms.op(current) {
        current = terms.args(current)[0];
    }
    current == whole && term != whole
}

/// The calls in bodies, each with its path; `None` if there are too many places.
fn calls_inside(terms: &TermStore, group: &[(FunctionId, TermId)]) -> Option<Vec<Call>> {
    let mut calls = Vec::new();
    let mut places = 0;
    for (caller, &(_, body)) in group.iter().enumerate() {
        let mut open: Vec<(TermId, Vec<TermId>)> = vec![(body, Vec::new())];
        while let Some((term, path)) = open.pop() {
            places += 1;
            if places > LIMITS.max_places {
                return None;
            }
            let node = terms.node(term);
            match node.op {
                Op::Ite => {
                    let [condition, then, other] = *node.args else {
                        continue;
                    };
                    open.push((condition, path.clone()));
                    let with = |literal: TermId| {
                        let mut path = path.clone();
                        path.push(literal);
                        path
                    };
                    open.push((then, with(condition)));
                    open.push((other, with(terms.not(condition))));
                }
                // Conditions without calls are evaluated first.
                Op::And | Op::Or => {
                    let calls_nothing = |t: TermId| {
                        let called = terms.called(&[t]);
                        !group.iter().any(|(f, _)| called.contains(f))
                    };
                    let holds = |t: TermId| match node.op {
                        Op::And => t,
                        _ => terms.not(t),
                    };
                    let mut inner = path.clone();
                    let first = node.args.iter().filter(|&&t| calls_nothing(t));
                    inner.extend(first.map(|&t| holds(t)));
                    open.extend(node.args.iter().map(|&t| (t, inner.clone())));
                }
                _ => {
                    if let Op::Call(id) = node.op
                        && let Some(callee) = group.iter().position(|g| g.0 == id)
                    {
                        calls.push(Call {
                            caller,
                            callee,
                            args: node.args.to_vec(),
                            path: path.clone(),
                        });
                    }
                    open.extend(node.args.iter().map(|&t| (t, path.clone())));
                }
            }
        }
    }
    Some(calls)
}
