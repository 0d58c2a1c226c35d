//! Candidates that a failed leaf asks for.
//!
//! Invariant: a candidate's slots are atoms of the leaf that are not unfolded, and its premises follow
//! from what is known there before they are weakened.

use super::limits::LIMITS;
use super::literal::{Column, Lemma, Literal, Origin, Relation, column};
use super::prove::{ContextAtom, Leaf};
use super::space::Space;
use super::weaken::{Entailment, implied, weakened};
use alphorn_smt::{SatResult, Solver};
use alphorn_term::run::Context;
use alphorn_term::{SortId, TermId};

/// The candidates for a leaf of the proof of a lemma.
pub fn residues(
    space: &Space<'_>,
    lemma: &Lemma,
    leaf: &Leaf,
    solver: &mut Solver,
    cx: &Context,
) -> Vec<Lemma> {
    solver.push();
    for &formula in &leaf.formulas {
        solver.assert(formula);
    }
    let mut found = Vec::new();
    if solver.check(&[]) == SatResult::Sat {
        found = equal_outputs(space, leaf, solver, cx);
        if let [goal @ Literal::Sum { relation, .. }] = &lemma.conclusions[..]
            && *relation != Relation::Different
        {
            found.extend(shifted(space, goal, leaf, solver, cx));
        }
    }
    solver.pop();
    found
}

/// The atoms of a leaf that are not unfolded.
fn live(leaf: &Leaf) -> Vec<usize> {
    let atoms = leaf.atoms.iter().enumerate();
    atoms
        .filter(|(_, atom)| !atom.is_split)
        .map(|(at, _)| at)
        .collect()
}

/// An argument of an atom of the leaf.
type Place = (usize, usize);

fn term(leaf: &Leaf, (atom, arg): Place) -> TermId {
    leaf.atoms[atom].args[arg]
}

/// The goal over outputs of live atoms that equal those of the slots.
fn shifted(
    space: &Space<'_>,
    goal: &Literal,
    leaf: &Leaf,
    solver: &mut Solver,
    cx: &Context,
) -> Vec<Lemma> {
    let terms = space.terms();
    let Literal::Sum {
        relation,
        sum,
        constant,
    } = goal
    else {
        return Vec::new();
    };
    let live = live(leaf);
    let outputs = |at: usize| space.outputs(leaf.atoms[at].predicate);
    let mut choices: Vec<Vec<Place>> = Vec::new();
    for &(own, _) in sum {
        let own = term(leaf, (usize::from(own.slot), usize::from(own.arg)));
        let mut equal = Vec::new();
        let mut asked = Entailment::new(solver);
        for &atom in &live {
            for &output in outputs(atom) {
                let other = term(leaf, (atom, output));
                if terms.sort_of(other) == SortId::INT
                    && (own == other || asked.follows(terms.eq(own, other), cx))
                {
                    equal.push((atom, output));
                }
            }
        }
        if equal.is_empty() {
            return Vec::new();
        }
        choices.push(equal);
    }
    let ways: usize = choices.iter().map(Vec::len).product();
    let mut found = Vec::new();
    for way in 0..ways.min(16) {
        let mut rest = way;
        let mut chosen = Vec::new();
        for list in &choices {
            chosen.push(list[rest % list.len()]);
            rest /= list.len();
        }
        let mut atoms: Vec<usize> = chosen.iter().map(|place| place.0).collect();
        atoms.sort_unstable();
        atoms.dedup();
        if atoms.len() > 4 {
            continue;
        }
        let place = |(atom, arg): Place| {
            let slot = atoms.iter().position(|&a| a == atom).unwrap_or_default();
            column(slot, arg)
        };
        let parts: Vec<(Column, i64)> = chosen
            .iter()
            .zip(sum)
            .map(|(&at, &(_, factor))| (place(at), factor))
            .collect();
        let conclusion = Literal::sum(*relation, parts.iter().copied(), *constant);
        found.extend(over(space, leaf, &atoms, &parts, conclusion, solver, cx));
    }
    found
}

/// Lemmas over some atoms of a leaf, with weakened premises.
fn over(
    space: &Space<'_>,
    leaf: &Leaf,
    atoms: &[usize],
    parts: &[(Column, i64)],
    conclusion: Literal,
    solver: &mut Solver,
    cx: &Context,
) -> Vec<Lemma> {
    let slots: Vec<_> = atoms.iter().map(|&at| leaf.atoms[at].predicate).collect();
    let argument = |c: Column| leaf.atoms[atoms[usize::from(c.slot)]].args[usize::from(c.arg)];
    let mut columns = Vec::new();
    for (slot, &predicate) in slots.iter().enumerate() {
        let sorts = space.sorts(predicate);
        let inputs = space.inputs(predicate).into_iter();
        let inputs = inputs.filter(|&at| sorts[at] == SortId::INT);
        columns.extend(inputs.map(|at| column(slot, at)));
    }
    // Sums of inputs at one position, shaped as the conclusion.
    let mut more = Vec::new();
    if parts.len() > 2 {
        let mut positions: Vec<u8> = columns.iter().map(|c| c.arg).collect();
        positions.sort_unstable();
        positions.dedup();
        for arg in positions {
            let moved = parts
                .iter()
                .map(|&(c, factor)| (Column { arg, ..c }, factor));
            let moved: Vec<(Column, i64)> = moved.collect();
            if moved.iter().all(|part| columns.contains(&part.0)) {
                let minus = moved.iter().map(|&(c, factor)| (c, -factor));
                more.push(Literal::sum(Relation::AtLeast, minus, 0));
                more.push(Literal::sum(Relation::AtLeast, moved.iter().copied(), 0));
            }
        }
    }
    let mut asked = Entailment::new(solver);
    let premises = implied(space, &mut asked, &argument, &columns, &more, cx);
    weakened(space, &slots, &premises, &[conclusion], 6, Origin::Residue)
}

/// Equalities of two outputs that would close the leaf, with the equalities of other columns that are
/// known as premises.
fn equal_outputs(space: &Space<'_>, leaf: &Leaf, solver: &mut Solver, cx: &Context) -> Vec<Lemma> {
    let terms = space.terms();
    let live = live(leaf);
    let mut outputs: Vec<Place> = Vec::new();
    for &atom in &live {
        let own = space.outputs(leaf.atoms[atom].predicate).iter();
        outputs.extend(own.map(|&output| (atom, output)));
    }
    let mut found = Vec::new();
    for (at, &left) in outputs.iter().enumerate() {
        for &right in &outputs[at + 1..] {
            let (a, b) = (term(leaf, left), term(leaf, right));
            if left.0 == right.0 || a == b || terms.sort_of(a) != terms.sort_of(b) {
                continue;
            }
            let equation = terms.eq(a, b);
            let mut asked = Entailment::new(solver);
            if asked.follows(equation, cx) || !asked.follows(terms.not(equation), cx) {
                continue;
            }
            let atoms = connected(space, leaf, &live, (left.0, right.0), &mut asked, cx);
            let lemma = with_equalities(space, leaf, &atoms, (left.1, right.1), &mut asked, cx);
            if space.holds(&lemma) {
                found.push(lemma);
            }
            if found.len() > LIMITS.closing_residues {
                return found;
            }
        }
    }
    found
}

/// Two atoms with those whose outputs are their inputs, and so on.
fn connected(
    space: &Space<'_>,
    leaf: &Leaf,
    live: &[usize],
    (first, second): (usize, usize),
    asked: &mut Entailment<'_>,
    cx: &Context,
) -> Vec<usize> {
    let terms = space.terms();
    let mut atoms = vec![first, second];
    let inputs = |atom: &ContextAtom| space.inputs(atom.predicate);
    'next: while atoms.len() < 5 {
        for &other in live.iter().filter(|at| !atoms.contains(at)) {
            let outputs = space.outputs(leaf.atoms[other].predicate);
            for &output in outputs {
                let value = term(leaf, (other, output));
                let is_input = atoms.iter().any(|&at| {
                    inputs(&leaf.atoms[at]).into_iter().any(|input| {
                        let arg = term(leaf, (at, input));
                        terms.sort_of(arg) == terms.sort_of(value)
                            && (arg == value || asked.follows(terms.eq(arg, value), cx))
                    })
                });
                if is_input {
                    atoms.push(other);
                    continue 'next;
                }
            }
        }
        break;
    }
    atoms
}

/// The lemma that two outputs of the first two atoms are equal, if all columns that are equal at the leaf
/// are.
fn with_equalities(
    space: &Space<'_>,
    leaf: &Leaf,
    atoms: &[usize],
    (left, right): (usize, usize),
    asked: &mut Entailment<'_>,
    cx: &Context,
) -> Lemma {
    let terms = space.terms();
    let slots: Vec<_> = atoms.iter().map(|&at| leaf.atoms[at].predicate).collect();
    let goal = [column(0, left), column(1, right)];
    let mut premises = Vec::new();
    let mut classes: Vec<(Column, TermId)> = Vec::new();
    for (slot, &at) in atoms.iter().enumerate() {
        for (arg, &own) in leaf.atoms[at].args.iter().enumerate() {
            let c = column(slot, arg);
            let class = classes.iter().find(|(other, value)| {
                terms.sort_of(*value) == terms.sort_of(own)
                    && !(goal.contains(other) && goal.contains(&c))
                    && (*value == own || asked.follows(terms.eq(*value, own), cx))
            });
            match class {
                Some(&(other, _)) => premises.push(Literal::equal(other, c, terms.sort_of(own))),
                None => classes.push((c, own)),
            }
        }
    }
    let sort = space.sorts(slots[0])[left];
    let conclusion = Literal::equal(goal[0], goal[1], sort);
    Lemma::new(slots, premises, vec![conclusion], Origin::Residue)
}
