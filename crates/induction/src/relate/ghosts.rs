//! Facts that no derivation of a context has, but that exist.
//!
//! Where a lemma matches the context but for one slot whose inputs its premises determine, and the
//! slot's predicate has facts for them (`totality`), such a fact may be added.
//!
//! Invariant: a ghost's inputs are in the domain of its statement whenever what is known at its node holds.

use rustc_hash::FxHashSet;

use super::limits::LIMITS;
use super::literal::{Lemma, Literal, Origin, Relation};
use super::prove::{ContextAtom, Prover, Search, Tree, Usable, needed};
use super::totality::{Total, over};
use alphorn_smt::Solver;
use alphorn_term::TermId;
use alphorn_term::run::Context;
use alphorn_witness::{Affine, Existence, Instance};

/// The inputs of a lemma's slot as sums over the arguments of its other slots.
fn determined(lemma: &Lemma, slot: usize, inputs: &[usize]) -> Option<Vec<Affine>> {
    let mut found = Vec::with_capacity(inputs.len());
    for &input in inputs {
        let of = |literal: &Literal| {
            let Literal::Sum {
                relation: Relation::Equal,
                sum,
                constant,
            } = literal
            else {
                return None;
            };
            let mut own = sum.iter().filter(|(c, _)| usize::from(c.slot) == slot);
            let &(column, factor) = own.next()?;
            if own.next().is_some() || usize::from(column.arg) != input || factor.abs() != 1 {
                return None;
            }
            let others = sum.iter().filter(|(c, _)| usize::from(c.slot) != slot);
            Some(Affine {
                constant: -factor * constant,
                parts: others
                    .map(|&(c, n)| (-factor * n, usize::from(c.slot), usize::from(c.arg)))
                    .collect(),
            })
        };
        found.push(lemma.premises.iter().find_map(of)?);
    }
    Some(found)
}

impl Prover<'_, '_> {
    /// Closes a node with ghosts.
    pub(super) fn with_ghosts(&mut self, search: &mut Search<'_>, cx: &Context) -> Option<Tree> {
        let lengths = search.lengths();
        self.solver.push();
        let mut chain: Vec<Existence> = Vec::new();
        let mut is_closed = false;
        for _ in 0..LIMITS.ghost_rounds {
            let before = chain.len();
            self.add_ghosts(search, &mut chain, cx);
            if chain.len() == before || cx.stop().is_some() {
                break;
            }
            is_closed = self.close(search);
            if is_closed {
                break;
            }
        }
        let leaf = Tree::Use(search.instances.clone());
        search.truncate(lengths);
        self.solver.pop();
        let wrap = |inner, fact| Tree::Ghost(fact, Box::new(inner));
        is_closed.then(|| chain.into_iter().rev().fold(leaf, wrap))
    }

    /// Adds ghosts for all lemmas that match but for one slot.
    fn add_ghosts(&mut self, search: &mut Search<'_>, chain: &mut Vec<Existence>, cx: &Context) {
        let usable = search.usable;
        let base = search.atoms.len();
        let goal = usable.group[search.position];
        let known = usable.known.iter().copied().filter(|&number| {
            let lemma = &usable.lemmas[number];
            let is_kind = matches!(
                lemma.origin,
                Origin::Affine | Origin::Commutative | Origin::Residue
            );
            is_kind && lemma.slots.len() > 1
        });
        let mut tries = 0;
        let numbers: Vec<usize> = std::iter::once(goal).chain(known).collect();
        for number in numbers {
            let lemma = usable.lemmas[number].clone();
            for slot in 0..lemma.slots.len() {
                let predicate = lemma.slots[slot];
                let Some(total) = usable.totals.iter().position(|t| t.predicate == predicate)
                else {
                    continue;
                };
                let inputs = self.space.inputs(predicate);
                let Some(sums) = determined(&lemma, slot, &inputs) else {
                    continue;
                };
                let slots: FxHashSet<usize> = sums
                    .iter()
                    .flat_map(|s| s.parts.iter().map(|p| p.1))
                    .collect();
                let mut slots: Vec<usize> = slots.into_iter().collect();
                slots.sort_unstable();
                let places: Vec<Vec<usize>> = slots
                    .iter()
                    .map(|&s| {
                        let own =
                            (0..base).filter(|&a| search.atoms[a].predicate == lemma.slots[s]);
                        own.collect()
                    })
                    .collect();
                let ways: usize = places.iter().map(Vec::len).product();
                for way in 0..ways.min(LIMITS.matchings) {
                    if chain.len() >= LIMITS.ghosts
                        || tries >= LIMITS.ghost_tries
                        || cx.stop().is_some()
                    {
                        return;
                    }
                    let mut rest = way;
                    let mut chosen = vec![usize::MAX; lemma.slots.len()];
                    for (&s, list) in slots.iter().zip(&places) {
                        chosen[s] = list[rest % list.len()];
                        rest /= list.len();
                    }
                    // An instance of the lemma itself has to be smaller.
                    let is_at_root = |&s: &usize| {
                        let at = chosen[s];
                        at != usize::MAX && search.atoms[at].path.len() < 2
                    };
                    if number == goal && search.measured.iter().any(is_at_root) {
                        continue;
                    }
                    let sums = sums.iter().map(|sum| Affine {
                        constant: sum.constant,
                        parts: sum.parts.iter().map(|p| (p.0, chosen[p.1], p.2)).collect(),
                    });
                    tries += 1;
                    self.add_ghost(search, total, sums.collect(), chain);
                }
            }
        }
    }

    /// Adds a ghost, if there is no such atom yet and its inputs are in the domain.
    fn add_ghost(
        &mut self,
        search: &mut Search<'_>,
        total: usize,
        sums: Vec<Affine>,
        chain: &mut Vec<Existence>,
    ) {
        let statement = &search.usable.totals[total];
        let (ghost, formula, domain) = self.ghost(statement, &sums, &search.atoms);
        let terms = self.space.terms();
        let inputs = self.space.inputs(statement.predicate);
        for at in 0..search.atoms.len() {
            let atom = &search.atoms[at];
            if atom.predicate == statement.predicate {
                let map = ghost.args.iter().copied().zip(atom.args.iter().copied());
                if self.follows(terms.substitute(formula, &map.collect())) {
                    return;
                }
            }
        }
        if !inputs.is_empty() && domain != TermId::TRUE && !self.follows(domain) {
            return;
        }
        self.solver.assert(formula);
        search.formulas.push(formula);
        search.atoms.push(ghost);
        chain.push(Existence {
            total,
            inputs: sums,
            uses: search.instances.clone(),
        });
    }

    /// A ghost in a context, equations for its inputs, and what they have to satisfy.
    fn ghost(
        &mut self,
        total: &Total,
        sums: &[Affine],
        atoms: &[ContextAtom],
    ) -> (ContextAtom, TermId, TermId) {
        let terms = self.space.terms();
        let inputs = self.space.inputs(total.predicate);
        let of = |sum: &Affine| over(terms, sum, &|atom, arg| atoms[atom].args[arg]);
        let values: Vec<TermId> = sums.iter().map(of).collect();
        // Slots have smaller places.
        let mut ghost = self.root(total.predicate, LIMITS.joined + atoms.len());
        ghost.path = vec![usize::MAX];
        let pairs = inputs.iter().zip(&values);
        let equations = pairs.map(|(&at, &value)| terms.eq(ghost.args[at], value));
        let formula = terms.and(&equations.collect::<Vec<_>>());
        // A domain speaks of inputs only.
        let place = |at: usize| inputs.iter().position(|&input| input == at);
        let value = |at: usize| place(at).map_or(ghost.args[at], |n| values[n]);
        let domain = total.domain_at(terms, &value);
        (ghost, formula, domain)
    }

    /// The ghosts and instances that are needed at a leaf.
    pub(super) fn minimal_ghosts(
        &mut self,
        usable: Usable<'_>,
        tree: &Tree,
        atoms: &[ContextAtom],
        solver: &mut Solver,
    ) -> Tree {
        let mut inner = atoms.to_vec();
        let mut chain: Vec<Existence> = Vec::new();
        let mut rest = tree;
        solver.push();
        while let Tree::Ghost(fact, next) = rest {
            let total = &usable.totals[fact.total];
            let (ghost, formula, domain) = self.ghost(total, &fact.inputs, &inner);
            solver.push();
            solver.assert(self.space.terms().not(domain));
            let uses = needed(self.space, usable.lemmas, &fact.uses, &inner, solver);
            solver.pop();
            solver.assert(formula);
            inner.push(ghost);
            chain.push(Existence {
                total: fact.total,
                inputs: fact.inputs.clone(),
                uses,
            });
            rest = next;
        }
        let leaf = self.minimal(usable, rest, &inner, solver);
        solver.pop();
        match leaf {
            Tree::Use(uses) => without_idle(atoms.len(), chain, uses),
            other => other,
        }
    }
}

/// A leaf below a chain of ghosts, without those of which nothing speaks. The first ghost is the atom
/// at `first`.
fn without_idle(first: usize, chain: Vec<Existence>, mut uses: Vec<Instance>) -> Tree {
    let mut is_needed = vec![false; chain.len()];
    let note = |at: usize, is_needed: &mut Vec<bool>| {
        if at >= first {
            is_needed[at - first] = true;
        }
    };
    uses.iter()
        .flat_map(|used| &used.atoms)
        .for_each(|&at| note(at, &mut is_needed));
    for (at, fact) in chain.iter().enumerate().rev() {
        if is_needed[at] {
            let own = fact.uses.iter().flat_map(|used| used.atoms.iter().copied());
            let inputs = fact
                .inputs
                .iter()
                .flat_map(|sum| sum.parts.iter().map(|part| part.1));
            own.chain(inputs).for_each(|at| note(at, &mut is_needed));
        }
    }
    let renumbered = |at: usize| match at.checked_sub(first) {
        Some(ghost) => first + is_needed[..ghost].iter().filter(|&&kept| kept).count(),
        None => at,
    };
    let rename = |uses: &mut [Instance]| {
        let atoms = uses.iter_mut().flat_map(|used| &mut used.atoms);
        atoms.for_each(|at| *at = renumbered(*at));
    };
    rename(&mut uses);
    let mut tree = Tree::Use(uses);
    for (at, mut fact) in chain.into_iter().enumerate().rev() {
        if is_needed[at] {
            rename(&mut fact.uses);
            let parts = fact.inputs.iter_mut().flat_map(|sum| &mut sum.parts);
            parts.for_each(|part| part.1 = renumbered(part.1));
            tree = Tree::Ghost(fact, Box::new(tree));
        }
    }
    tree
}
