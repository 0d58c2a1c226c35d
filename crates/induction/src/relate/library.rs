//! The lemmas of a run: candidates, those that are proven, and their proofs.
//!
//! Invariant: a proven lemma's proof uses lemmas that were proven before its group, and lemmas of its
//! group, all of which are proven.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::literal::{Key, Lemma};
use super::prove::{Effort, Leaf, Number, Outcome, Prover, Tree, Usable, Used};
use super::space::Space;
use alphorn_chc::Atom;
use alphorn_term::TermId;
use alphorn_term::run::Context;
use alphorn_witness::{Derivations, Instance, ProofNode, RelationalLemma};

/// A proven lemma.
struct Proof {
    tree: Tree,
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
        }
    }

    /// The number of proven lemmas.
    pub fn count(&self) -> usize {
        self.known.len()
    }

    /// Tries to prove one lemma; the leaf that stays open if it is not proven.
    pub fn prove(
        &mut self,
        number: Number,
        prover: &mut Prover<'_, '_>,
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
        };
        match prover.prove(usable, 0, effort, cx) {
            Outcome::Proven(tree, _) => {
                self.add(vec![(number, tree, 0)]);
                Ok(())
            }
            Outcome::Open(leaf) => Err(leaf),
        }
    }

    fn add(&mut self, proven: Vec<(Number, Tree, usize)>) {
        for (number, tree, position) in proven {
            let place = (self.groups, position);
            self.proofs.insert(number, Proof { tree, place });
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
                };
                match prover.prove(usable, at, effort, cx) {
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
        self.add(proven);
        any
    }

    /// The proof of the queries from the instances of lemmas that refute them, with the lemmas that are
    /// needed.
    pub fn certificate(
        &self,
        queries: &[Vec<Used>],
        prover: &mut Prover<'_, '_>,
    ) -> Option<Derivations> {
        let mut minimal: FxHashMap<Number, Tree> = FxHashMap::default();
        let mut todo: Vec<Number> = queries.iter().flatten().map(|used| used.lemma).collect();
        while let Some(number) = todo.pop() {
            if minimal.contains_key(&number) {
                continue;
            }
            let tree = prover.minimised(&self.lemmas, number, &self.proofs.get(&number)?.tree);
            todo.extend(used_in(&tree));
            minimal.insert(number, tree);
        }
        let mut order: Vec<Number> = minimal.keys().copied().collect();
        order.sort_by_key(|number| self.proofs[number].place);
        let positions: FxHashMap<Number, usize> =
            order.iter().enumerate().map(|(at, &n)| (n, at)).collect();
        let instance = |used: &Used| Instance {
            lemma: positions[&used.lemma],
            atoms: used.atoms.clone(),
        };
        let mut proof = Derivations::default();
        let mut group = 0;
        for (at, number) in order.iter().enumerate() {
            if at > 0 && self.proofs[&order[at - 1]].place.0 != self.proofs[number].place.0 {
                group += 1;
            }
            let lemma = &self.lemmas[*number];
            let (slots, statement) = statement(prover.space, lemma);
            proof.lemmas.push(RelationalLemma {
                measured: (0..slots.len()).collect(),
                slots,
                statement,
                group,
                proof: nodes(&minimal[number], &instance),
            });
        }
        let queries = queries
            .iter()
            .map(|uses| uses.iter().map(&instance).collect());
        proof.queries = queries.collect();
        Some(proof)
    }
}

/// The lemmas that a tree uses.
fn used_in(tree: &Tree) -> Vec<Number> {
    let mut found = Vec::new();
    let mut stack = vec![tree];
    while let Some(tree) = stack.pop() {
        match tree {
            Tree::Use(uses) => found.extend(uses.iter().map(|used| used.lemma)),
            Tree::Split(_, cases) => stack.extend(cases),
        }
    }
    found
}

/// The slots of a lemma with fresh variables, and its statement.
fn statement(space: &Space<'_>, lemma: &Lemma) -> (Vec<Atom>, TermId) {
    let slots = lemma.slots.iter().map(|&p| space.system.fresh_atom(p));
    let slots: Vec<Atom> = slots.collect();
    let formula = lemma.formula(space.terms(), &|c| {
        slots[usize::from(c.slot)].args[usize::from(c.arg)]
    });
    (slots, formula)
}

/// A tree as nodes.
fn nodes(root: &Tree, instance: &impl Fn(&Used) -> Instance) -> Vec<ProofNode> {
    let mut nodes: Vec<ProofNode> = Vec::new();
    let mut stack: Vec<(&Tree, Option<(usize, usize)>)> = vec![(root, None)];
    while let Some((tree, parent)) = stack.pop() {
        let number = nodes.len();
        if let Some((parent, case)) = parent
            && let Some(ProofNode::Split { cases, .. }) = nodes.get_mut(parent)
        {
            cases[case] = number;
        }
        nodes.push(match tree {
            Tree::Use(uses) => ProofNode::Use(uses.iter().map(instance).collect()),
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
