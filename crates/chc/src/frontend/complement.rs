//! Complements predicates such that clauses with several heads become Horn clauses.
//!
//! For a predicate P that is complemented, atoms stand for `¬P`: an atom of the head moves to the
//! body and one of the body to the head. Which predicates are, is a question of 2-SAT: of all literals
//! of a clause at most one may be in the head afterwards. (Lewis, Renaming a set of clauses as a Horn
//! set, JACM 1978.) A predicate that occurs in heads only may be true everywhere, so clauses with it
//! lose their other heads.
//!
//! Invariant: without a clause with several heads nothing changes.

use rustc_hash::FxHashSet;

use super::clauses::GeneralClause;
use super::lexer::TokenId;
use super::problem::Disjunction;
use crate::{Atom, PredicateId};
use alphorn_term::TermId;

/// A clause with several heads, if there is no solution.
pub(super) struct TwoHeads {
    pub first: PredicateId,
    pub second: PredicateId,
    /// The token of the second head.
    pub token: TokenId,
}

/// Makes the clauses Horn and returns the complemented ones of the predicates, whose number is
/// `count`. Those of `fixed` are not complemented.
pub(super) fn make_horn(
    count: usize,
    fixed: &[PredicateId],
    mut clauses: Vec<&mut GeneralClause>,
    disjunctions: &[Disjunction],
) -> Result<FxHashSet<PredicateId>, TwoHeads> {
    let general = |clause: &GeneralClause| clause.heads.len() > 1;
    if !clauses.iter().any(|clause| general(clause)) {
        return Ok(FxHashSet::default());
    }
    for clause in &mut clauses {
        let is_in_body = |(head, _): &(Atom, TokenId)| clause.body.contains(head);
        if clause.heads.iter().any(is_in_body) {
            // Valid, and perhaps not Horn afterwards.
            clause.body.clear();
            clause.heads.clear();
            clause.constraint = TermId::FALSE;
        }
    }
    let Some(first) = clauses.iter().find(|clause| general(clause)) else {
        return Ok(FxHashSet::default());
    };
    let error = TwoHeads {
        first: first.heads[0].0.predicate,
        second: first.heads[1].0.predicate,
        token: first.heads[1].1,
    };
    let token = error.token;
    let mut in_bodies = vec![false; count];
    for clause in &clauses {
        for atom in &clause.body {
            in_bodies[atom.predicate.index()] = true;
        }
    }
    let alternatives = || disjunctions.iter().flat_map(|d| &d.alternatives);
    for atom in alternatives().flat_map(|alternative| &alternative.body) {
        in_bodies[atom.predicate.index()] = true;
    }
    let mut problem = TwoSat::new(count);
    for atom in alternatives().flat_map(|alternative| &alternative.body) {
        problem.forbid(Literal::complemented(atom.predicate));
    }
    for &predicate in fixed {
        problem.forbid(Literal::complemented(predicate));
        in_bodies[predicate.index()] = true;
    }
    for clause in &mut clauses {
        let heads_only = |(atom, _): &(Atom, TokenId)| !in_bodies[atom.predicate.index()];
        if general(clause)
            && let Some(kept) = clause.heads.iter().position(heads_only)
        {
            let head = clause.heads.swap_remove(kept);
            clause.heads = vec![head];
        }
        let heads = clause.heads.iter();
        let heads = heads.map(|(atom, _)| Literal::complemented(atom.predicate).negation());
        let body = clause.body.iter();
        let body = body.map(|atom| Literal::complemented(atom.predicate));
        problem.at_most_one(heads.chain(body));
    }
    let solution = problem.solve().ok_or(error)?;
    let complemented: FxHashSet<PredicateId> = (0..count as u32)
        .map(PredicateId)
        .filter(|id| solution[id.index()])
        .collect();
    for clause in clauses {
        let is_in = |atom: &Atom| complemented.contains(&atom.predicate);
        let heads = std::mem::take(&mut clause.heads);
        let (to_body, mut heads): (Vec<_>, Vec<_>) =
            heads.into_iter().partition(|(atom, _)| is_in(atom));
        let body = std::mem::take(&mut clause.body);
        let (to_head, body): (Vec<Atom>, Vec<Atom>) = body.into_iter().partition(is_in);
        clause.body = body;
        clause
            .body
            .extend(to_body.into_iter().map(|(atom, _)| atom));
        // The token of a head is for errors, of which there are none any more.
        heads.extend(to_head.into_iter().map(|atom| (atom, token)));
        clause.heads = heads;
        debug_assert!(clause.heads.len() <= 1);
    }
    Ok(complemented)
}

/// A literal of [`TwoSat`]: twice the variable, plus one if it is negated.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Literal(u32);

impl Literal {
    fn complemented(predicate: PredicateId) -> Literal {
        Literal(2 * predicate.0)
    }

    fn negation(self) -> Literal {
        Literal(self.0 ^ 1)
    }

    fn index(self) -> usize {
        self.0 as usize
    }
}

/// A satisfiability problem with clauses of at most two literals.
struct TwoSat {
    /// By literal, the literals that it implies.
    implied: Vec<Vec<Literal>>,
    forbidden: Vec<Literal>,
    /// The number of variables of which `solve` keeps as many false as it can.
    count: usize,
}

impl TwoSat {
    fn new(count: usize) -> Self {
        TwoSat {
            implied: vec![Vec::new(); 2 * count],
            forbidden: Vec::new(),
            count,
        }
    }

    fn forbid(&mut self, literal: Literal) {
        self.forbidden.push(literal);
    }

    fn implies(&mut self, from: Literal, to: Literal) {
        self.implied[from.index()].push(to);
        self.implied[to.negation().index()].push(from.negation());
    }

    /// At most one of the literals is true: with auxiliary variables, the n-th of which is true if
    /// one of the first n literals is.
    fn at_most_one(&mut self, literals: impl Iterator<Item = Literal>) {
        let mut before: Option<Literal> = None;
        for literal in literals {
            let so_far = Literal(self.implied.len() as u32);
            self.implied.extend([Vec::new(), Vec::new()]);
            self.implies(literal, so_far);
            if let Some(before) = before {
                self.implies(before, so_far);
                self.implies(before, literal.negation());
            }
            before = Some(so_far);
        }
    }

    /// The values of the first `count` variables in a solution, with few of them true.
    fn solve(&self) -> Option<Vec<bool>> {
        let mut values: Vec<Option<bool>> = vec![None; self.implied.len() / 2];
        let mut trail: Vec<usize> = Vec::new();
        for &literal in &self.forbidden {
            if !self.propagate(literal.negation(), &mut values, &mut trail) {
                return None;
            }
        }
        for variable in 0..values.len() {
            if values[variable].is_some() {
                continue;
            }
            let start = trail.len();
            let positive = Literal(2 * variable as u32);
            if self.propagate(positive.negation(), &mut values, &mut trail) {
                continue;
            }
            for variable in trail.drain(start..) {
                values[variable] = None;
            }
            if !self.propagate(positive, &mut values, &mut trail) {
                return None;
            }
        }
        let values = values[..self.count].iter();
        Some(values.map(|value| *value == Some(true)).collect())
    }

    /// Makes a literal and all that it implies true; `false` if this is a contradiction.
    fn propagate(
        &self,
        literal: Literal,
        values: &mut [Option<bool>],
        trail: &mut Vec<usize>,
    ) -> bool {
        let mut stack = vec![literal];
        while let Some(literal) = stack.pop() {
            let (variable, value) = (literal.index() / 2, literal.0 % 2 == 0);
            match values[variable] {
                Some(known) if known != value => return false,
                Some(_) => {}
                None => {
                    values[variable] = Some(value);
                    trail.push(variable);
                    stack.extend(&self.implied[literal.index()]);
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All problems with three variables and few constraints, against a search.
    #[test]
    fn solves_as_a_search_does() {
        let literals: Vec<Literal> = (0..6).map(Literal).collect();
        let holds = |literal: Literal, bits: u32| (bits >> (literal.0 / 2)) & 1 != literal.0 % 2;
        let groups: Vec<Vec<Literal>> = (1u32..64)
            .filter(|set| (2..=3).contains(&set.count_ones()))
            .map(|set| {
                let chosen = literals.iter().filter(|l| (set >> l.0) & 1 == 1);
                chosen.copied().collect()
            })
            .collect();
        for first in &groups {
            for second in &groups {
                for &forbidden in &literals {
                    let mut problem = TwoSat::new(3);
                    problem.forbid(forbidden);
                    problem.at_most_one(first.iter().copied());
                    problem.at_most_one(second.iter().copied());
                    let fits = |bits: u32| {
                        let most = |group: &[Literal]| {
                            group.iter().filter(|l| holds(**l, bits)).count() <= 1
                        };
                        !holds(forbidden, bits) && most(first) && most(second)
                    };
                    match problem.solve() {
                        Some(values) => {
                            let bits = (0..3).map(|v| u32::from(values[v]) << v).sum();
                            assert!(fits(bits));
                        }
                        None => assert!((0..8).all(|bits| !fits(bits))),
                    }
                }
            }
        }
    }
}
