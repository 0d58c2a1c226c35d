//! Small-block versions of systems: each conjunct of a clause is a block of its own, as front ends
//! write programs that do not merge blocks.
//!
//! Invariant: the new system derives the same facts of the old predicates, so its status is that of
//! the old one.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use alphorn_chc::{Atom, Clause, System};
use alphorn_term::{SortId, TermId};

/// The small-block version of a system. The predicates of the old one come first. A clause with `n`
/// conjuncts becomes a chain of `n` clauses; between them are new predicates of the variables that
/// are known by then and still needed.
pub fn small_blocks(old: &System) -> System {
    let mut new = System::new(Rc::clone(&old.terms));
    new.predicates = old.predicates.clone();
    for clause in &old.clauses {
        add_chain(&mut new, clause);
    }
    new
}

/// Adds the blocks of one clause.
fn add_chain(system: &mut System, clause: &Clause) {
    let terms = Rc::clone(&system.terms);
    let conjuncts = terms.conjuncts(clause.constraint);
    // The position of the last block that needs a variable.
    let mut last_use: FxHashMap<TermId, usize> = FxHashMap::default();
    for (at, &conjunct) in conjuncts.iter().enumerate() {
        last_use.extend(terms.free_vars(&[conjunct]).into_iter().map(|v| (v, at)));
    }
    let of_head = clause.head.iter().flat_map(|head| &head.args);
    last_use.extend(of_head.map(|&v| (v, conjuncts.len())));

    let of_body = clause.body.iter().flat_map(|atom| &atom.args);
    let mut known: Vec<TermId> = of_body.copied().collect();
    let mut seen: FxHashSet<TermId> = known.iter().copied().collect();
    let mut body = clause.body.clone();
    for (at, &conjunct) in conjuncts.iter().enumerate() {
        let vars = terms.free_vars(&[conjunct]).into_iter();
        known.extend(vars.filter(|&v| seen.insert(v)));
        if at + 1 == conjuncts.len() {
            break;
        }
        known.retain(|v| last_use.get(v).is_some_and(|&last| last > at));
        let sorts: Vec<SortId> = known.iter().map(|&v| terms.sort_of(v)).collect();
        let name = format!("block_{}", system.predicates.len());
        let predicate = system.add_predicate(&name, &sorts);
        let head = Atom {
            predicate,
            args: known.clone(),
        };
        add_block(system, &body, conjunct, Some(head.clone()));
        body = vec![head];
    }
    let rest = conjuncts.last().copied().unwrap_or(TermId::TRUE);
    add_block(system, &body, rest, clause.head.clone());
}

/// Adds one block. Its body has variables of its own, which are equal to those of the clause.
fn add_block(system: &mut System, body: &[Atom], conjunct: TermId, head: Option<Atom>) {
    let terms = Rc::clone(&system.terms);
    let used = terms.free_vars(&[conjunct]).into_iter();
    let used: FxHashSet<TermId> = used
        .chain(head.iter().flat_map(|h| h.args.clone()))
        .collect();
    let mut parts = vec![conjunct];
    let mut copies = Vec::new();
    for atom in body {
        let copy = system.fresh_atom(atom.predicate);
        let pairs = atom.args.iter().zip(&copy.args);
        parts.extend(
            pairs
                .filter(|(v, _)| used.contains(v))
                .map(|(&v, &c)| terms.eq(v, c)),
        );
        copies.push(copy);
    }
    system.add_clause(copies, terms.and(&parts), head);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{is_inductive, random_system};
    use alphorn_smt::Smt;
    use alphorn_term::Random;

    #[test]
    fn blocks_are_well_formed_and_carry_what_is_needed() {
        let mut random = Random::new(3);
        for _ in 0..20 {
            let old = random_system(&mut random);
            let new = small_blocks(&old);
            assert_eq!(new.check(), Ok(()));
            let conjuncts = |clause: &Clause| old.terms.conjuncts(clause.constraint).len().max(1);
            let expected: usize = old.clauses.iter().map(conjuncts).sum();
            assert_eq!(new.clauses.len(), expected);
        }
    }

    #[test]
    fn lemmas_of_the_old_predicates_stay_inductive_and_others_do_not_become_so() {
        let mut random = Random::new(5);
        let mut kinds = FxHashSet::default();
        for _ in 0..20 {
            let old = random_system(&mut random);
            let smt = Smt::new(Rc::clone(&old.terms));
            let (terms, p) = (&old.terms, alphorn_chc::PredicateId(0));
            let bound = terms.ge(old.predicate(p).params[0], terms.int(0));
            // The clauses of one step, put together again, are those of the old system.
            let joined = joined(&small_blocks(&old), old.predicates.len());
            let before = is_inductive(&old, &smt, &[(Some(p), bound)]);
            assert_eq!(is_inductive(&joined, &smt, &[(Some(p), bound)]), before);
            kinds.insert(before);
        }
        assert_eq!(kinds.len(), 2);
    }

    /// The system with the chains of blocks resolved away: predicates from `first` on.
    fn joined(system: &System, first: usize) -> System {
        let mut result = System::new(Rc::clone(&system.terms));
        result.predicates = system.predicates.clone();
        let mut parts: Vec<TermId> = Vec::new();
        let mut body: Vec<Atom> = Vec::new();
        let mut open: Option<Atom> = None;
        for clause in &system.clauses {
            match open.take() {
                None => {
                    body = clause.body.clone();
                    parts = Vec::new();
                }
                Some(head) => {
                    let pairs = head.args.iter().zip(&clause.body[0].args);
                    parts.extend(pairs.map(|(&h, &b)| system.terms.eq(h, b)));
                }
            }
            parts.push(clause.constraint);
            match &clause.head {
                Some(head) if head.predicate.index() >= first => open = Some(head.clone()),
                head => {
                    let constraint = system.terms.and(&parts);
                    result.add_clause(body.clone(), constraint, head.clone());
                }
            }
        }
        result
    }
}
