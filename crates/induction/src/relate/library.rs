//! The lemmas of a run: candidates, those that are proven, and their proofs.
//!
//! Invariant: a proven lemma's proof uses lemmas that were proven before its group, and lemmas of its
//! group, all of which are proven.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::literal::{Column, Key, Lemma};
use super::prove::{Effort, Leaf, Number, Outcome, Prover, Tree, Usable};
use super::space::Space;
use super::totality::Total;
use alphorn_chc::{Atom, PredicateId};
use alphorn_term::TermId;
use alphorn_term::run::Context;
use alphorn_witness::{Derivations, Existence, Instance, ProofNode, RelationalLemma, TotalCase};

/// A proven lemma.
struct Proof {
    tree: Tree,
    /// The only slot that is measured, or all are.
    measured: Option<usize>,
    /// The group in which it was proven, and its position there.
    place: (usize, usize),
}

/// All lemmas.
#[derive(Default)]
pub struct Library {
    lemmas: Vec<Rc<Lemma>>,
    numbers: FxHashMap<Key, Number>,
    known: Vec<Number>,
    proofs: FxHashMap<Number, Proof>,
    groups: usize,
    /// Predicates that have facts for all inputs of a domain.
    pub totals: Vec<Total>,
}

impl Library {
    /// The number of a lemma.
    pub fn number(&mut self, lemma: Lemma) -> Number {
        let next = self.lemmas.len();
        let number = *self.numbers.entry(lemma.key()).or_insert(next);
        if number == next {
            self.lemmas.push(Rc::new(lemma));
        }
        number
    }

    /// Whether a lemma is proven.
    pub fn is_known(&self, number: Number) -> bool {
        self.proofs.contains_key(&number)
    }

    /// The lemma with this number.
    pub fn lemma(&self, number: Number) -> &Rc<Lemma> {
        &self.lemmas[number]
    }

    /// The proven lemmas.
    pub fn proven(&self) -> impl Iterator<Item = &Lemma> {
        self.known.iter().map(|&number| &*self.lemmas[number])
    }

    /// The proven lemmas for a proof outside of any group.
    pub fn usable(&self) -> Usable<'_> {
        Usable {
            lemmas: &self.lemmas,
            known: &self.known,
            group: &[],
            totals: &self.totals,
        }
    }

    /// The number of groups so far.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// The proven lemmas about one fact of a predicate.
    pub fn of_one_slot(&self, predicate: PredicateId) -> impl Iterator<Item = (Number, &Lemma)> {
        let known = self
            .known
            .iter()
            .map(|&number| (number, &*self.lemmas[number]));
        known.filter(move |(_, lemma)| lemma.slots == [predicate] && lemma.head.is_none())
    }

    /// The number of proven lemmas.
    pub fn count(&self) -> usize {
        self.known.len()
    }

    /// Tries to prove one lemma, with ghosts if only one slot is measured; the leaf that stays open if it is not proven.
    pub fn prove(
        &mut self,
        number: Number,
        prover: &mut Prover<'_, '_>,
        measured: Option<usize>,
        effort: Effort,
        cx: &Context,
    ) -> Result<(), Option<Leaf>> {
        if self.is_known(number) {
            return Ok(());
        }
        let usable = Usable {
            lemmas: &self.lemmas,
            known: &self.known,
            group: &[number],
            totals: &self.totals,
        };
        match prover.prove(usable, 0, measured, effort, cx) {
            Outcome::Proven(tree, _) => {
                self.add(vec![(number, tree, 0)], measured);
                Ok(())
            }
            Outcome::Open(leaf) => Err(leaf),
        }
    }

    fn add(&mut self, proven: Vec<(Number, Tree, usize)>, measured: Option<usize>) {
        for (number, tree, position) in proven {
            let place = (self.groups, position);
            let proof = Proof {
                tree,
                measured,
                place,
            };
            self.proofs.insert(number, proof);
            self.known.push(number);
        }
        self.groups += 1;
    }

    /// Proves candidates together, each with all others as hypotheses; those that are not proven are
    /// dropped, and proofs that used them repeated (Flanagan, Leino, "Houdini", FME 2001). Leaves that
    /// stay open are added to `open`. Returns whether any was proven.
    pub fn houdini(
        &mut self,
        candidates: Vec<Lemma>,
        prover: &mut Prover<'_, '_>,
        effort: Effort,
        open: &mut Vec<(Number, Leaf)>,
        cx: &Context,
    ) -> bool {
        let mut group: Vec<Number> = Vec::new();
        for candidate in candidates {
            let number = self.number(candidate);
            if !self.is_known(number) && !group.contains(&number) {
                group.push(number);
            }
        }
        let mut proofs: FxHashMap<Number, (Tree, FxHashSet<Number>)> = FxHashMap::default();
        let mut pending: FxHashSet<Number> = group.iter().copied().collect();
        while !pending.is_empty() {
            let mut at = 0;
            let mut removed: FxHashSet<Number> = FxHashSet::default();
            while at < group.len() {
                let number = group[at];
                if cx.stop().is_some() {
                    return false;
                }
                if !pending.contains(&number) {
                    at += 1;
                    continue;
                }
                let usable = Usable {
                    lemmas: &self.lemmas,
                    known: &self.known,
                    group: &group,
                    totals: &self.totals,
                };
                match prover.prove(usable, at, None, effort, cx) {
                    Outcome::Proven(tree, used) => {
                        pending.remove(&number);
                        proofs.insert(number, (tree, used));
                        at += 1;
                    }
                    Outcome::Open(leaf) => {
                        open.extend(leaf.map(|leaf| (number, leaf)));
                        group.remove(at);
                        removed.insert(number);
                        pending.remove(&number);
                        proofs.remove(&number);
                    }
                }
            }
            if removed.is_empty() {
                break;
            }
            for &number in &group {
                let proof = proofs.get(&number);
                if proof.is_some_and(|proof| !proof.1.is_disjoint(&removed)) {
                    pending.insert(number);
                }
            }
        }
        let proven = group.iter().enumerate().filter_map(|(at, number)| {
            let (tree, _) = proofs.remove(number)?;
            Some((*number, tree, at))
        });
        let proven: Vec<(Number, Tree, usize)> = proven.collect();
        let any = !proven.is_empty();
        for (number, _, _) in &proven {
            log::debug!("relate: lemma {}", prover.space.show(&self.lemmas[*number]));
        }
        self.add(proven, None);
        any
    }

    /// The proof of the queries from the instances of lemmas that refute them, with the lemmas that are
    /// needed.
    pub fn certificate(
        &self,
        queries: &[Vec<Instance>],
        prover: &mut Prover<'_, '_>,
    ) -> Option<Derivations> {
        let mut minimal: FxHashMap<Number, Tree> = FxHashMap::default();
        let mut is_needed = vec![false; self.totals.len()];
        let mut todo: Vec<Number> = queries.iter().flatten().map(|used| used.lemma).collect();
        while let Some(number) = todo.pop() {
            if minimal.contains_key(&number) {
                continue;
            }
            let tree = &self.proofs.get(&number)?.tree;
            let tree = prover.minimised(self.usable(), number, tree);
            let (instances, mut totals) = used_in(&tree);
            todo.extend(instances);
            while let Some(at) = totals.pop() {
                if !std::mem::replace(&mut is_needed[at], true) {
                    let cases = self.totals[at].cases.iter();
                    for fact in cases.flat_map(|case| &case.premises) {
                        totals.push(fact.total);
                        todo.extend(fact.uses.iter().map(|used| used.lemma));
                    }
                }
            }
            minimal.insert(number, tree);
        }
        let mut order: Vec<Number> = minimal.keys().copied().collect();
        order.sort_by_key(|number| self.proofs[number].place);
        let positions: FxHashMap<Number, usize> =
            order.iter().enumerate().map(|(at, &n)| (n, at)).collect();
        let needed: Vec<usize> = (0..is_needed.len()).filter(|&at| is_needed[at]).collect();
        let renumbered = Renumbered {
            positions,
            totals: needed.iter().enumerate().map(|(at, &n)| (n, at)).collect(),
        };
        let instance = |used: &Instance| renumbered.instance(used);
        let mut proof = Derivations::default();
        let place = |number: &Number| self.proofs[number].place.0;
        for &at in &needed {
            let total = &self.totals[at];
            let smaller: FxHashSet<usize> = order
                .iter()
                .map(place)
                .filter(|&group| group < total.group)
                .collect();
            proof
                .totals
                .push(renumbered.total(prover.space, total, smaller.len()));
        }
        let mut group = 0;
        for (at, number) in order.iter().enumerate() {
            if at > 0 && self.proofs[&order[at - 1]].place.0 != self.proofs[number].place.0 {
                group += 1;
            }
            let lemma = &self.lemmas[*number];
            let (slots, statement, conclusion) = statement(prover.space, lemma);
            proof.lemmas.push(RelationalLemma {
                measured: match self.proofs[number].measured {
                    Some(slot) => vec![slot],
                    None => (0..slots.len()).collect(),
                },
                slots,
                statement,
                conclusion,
                group,
                proof: nodes(&minimal[number], &renumbered),
            });
        }
        let queries = queries
            .iter()
            .map(|uses| uses.iter().map(&instance).collect());
        proof.queries = queries.collect();
        Some(proof)
    }
}

/// The positions of lemmas and of statements of totality in a certificate.
struct Renumbered {
    positions: FxHashMap<Number, usize>,
    totals: FxHashMap<usize, usize>,
}

impl Renumbered {
    fn instance(&self, used: &Instance) -> Instance {
        Instance {
            lemma: self.positions[&used.lemma],
            atoms: used.atoms.clone(),
        }
    }

    fn existence(&self, fact: &Existence) -> Existence {
        Existence {
            total: self.totals[&fact.total],
            inputs: fact.inputs.clone(),
            uses: fact.uses.iter().map(|used| self.instance(used)).collect(),
        }
    }

    fn total(&self, space: &Space<'_>, total: &Total, group: usize) -> alphorn_witness::Total {
        let atom = space.system.fresh_atom(total.predicate);
        let case = |case: &TotalCase| TotalCase {
            clause: case.clause,
            premises: case.premises.iter().map(|f| self.existence(f)).collect(),
        };
        alphorn_witness::Total {
            domain: total.domain_at(space.terms(), &|at| atom.args[at]),
            atom,
            outputs: space.outputs(total.predicate).to_vec(),
            group,
            measure: total.measure.clone(),
            cases: total.cases.iter().map(case).collect(),
        }
    }
}

/// The lemmas that a tree uses, and the statements of totality.
fn used_in(tree: &Tree) -> (Vec<Number>, Vec<usize>) {
    let (mut found, mut totals) = (Vec::new(), Vec::new());
    let mut stack = vec![tree];
    while let Some(tree) = stack.pop() {
        match tree {
            Tree::Use(uses) => found.extend(uses.iter().map(|used| used.lemma)),
            Tree::Split(_, cases) => stack.extend(cases),
            Tree::Ghost(fact, inner) => {
                totals.push(fact.total);
                found.extend(fact.uses.iter().map(|used| used.lemma));
                stack.push(inner);
            }
            Tree::Goal(_, _, uses) => found.extend(uses.iter().map(|used| used.lemma)),
            Tree::Add(used, uses, inner) => {
                found.push(used.lemma);
                found.extend(uses.iter().map(|used| used.lemma));
                stack.push(inner);
            }
            Tree::Apply(application, inner) => {
                found.extend(application.step.uses.iter().map(|used| used.lemma));
                stack.push(inner);
            }
        }
    }
    (found, totals)
}

/// The slots of a lemma with fresh variables, its statement, and the fact that it concludes.
fn statement(space: &Space<'_>, lemma: &Lemma) -> (Vec<Atom>, TermId, Option<Atom>) {
    let terms = space.terms();
    let slots = lemma.slots.iter().map(|&p| space.system.fresh_atom(p));
    let slots: Vec<Atom> = slots.collect();
    let of = |c: Column| slots[usize::from(c.slot)].args[usize::from(c.arg)];
    let formula = lemma.formula(terms, &of);
    let conclusion = lemma.head.as_ref().map(|head| Atom {
        predicate: head.predicate,
        args: head.terms(terms, &of),
    });
    match conclusion {
        Some(_) => (slots, terms.not(formula), conclusion),
        None => (slots, formula, None),
    }
}

/// A tree as nodes.
fn nodes(root: &Tree, renumbered: &Renumbered) -> Vec<ProofNode> {
    let mut nodes: Vec<ProofNode> = Vec::new();
    let mut stack: Vec<(&Tree, Option<(usize, usize)>)> = vec![(root, None)];
    while let Some((tree, parent)) = stack.pop() {
        let number = nodes.len();
        if let Some((parent, case)) = parent {
            match nodes.get_mut(parent) {
                Some(ProofNode::Split { cases, .. }) => cases[case] = number,
                Some(
                    ProofNode::Ghost { inner, .. }
                    | ProofNode::Add { inner, .. }
                    | ProofNode::Apply { inner, .. },
                ) => *inner = number,
                _ => {}
            }
        }
        let all = |uses: &[Instance]| uses.iter().map(|used| renumbered.instance(used)).collect();
        nodes.push(match tree {
            Tree::Use(uses) => ProofNode::Use(all(uses)),
            Tree::Goal(at, _, uses) => ProofNode::Goal {
                atoms: vec![*at],
                uses: all(uses),
            },
            Tree::Add(used, uses, inner) => {
                stack.push((inner, Some((number, 0))));
                ProofNode::Add {
                    used: renumbered.instance(used),
                    uses: all(uses),
                    inner: 0,
                }
            }
            Tree::Apply(application, inner) => {
                stack.push((inner, Some((number, 0))));
                let mut step = application.step.clone();
                step.uses = all(&step.uses);
                ProofNode::Apply { step, inner: 0 }
            }
            Tree::Ghost(fact, inner) => {
                stack.push((inner, Some((number, 0))));
                ProofNode::Ghost {
                    fact: renumbered.existence(fact),
                    inner: 0,
                }
            }
            Tree::Split(atom, cases) => {
                let inner = cases.iter().enumerate();
                stack.extend(inner.map(|(at, case)| (case, Some((number, at)))));
                ProofNode::Split {
                    atom: *atom,
                    cases: vec![0; cases.len()],
                }
            }
        });
    }
    nodes
}
