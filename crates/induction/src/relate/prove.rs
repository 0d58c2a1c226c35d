//! Proofs of single lemmas by induction on derivations.
//!
//! Invariant: the solver's scope at a node has the negated lemma, the clauses on the way, and instances
//! of lemmas that may be used; a node is closed only if Z3 finds this unsatisfiable.

use std::cmp::Ordering;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::derive::Application;
use super::instances::violated;
use super::library::Library;
use super::limits::LIMITS;
use super::literal::{Column, Lemma, number};
use super::space::Space;
use super::totality::Total;
use alphorn_chc::PredicateId;
use alphorn_smt::{SatResult, Smt, SmtModel, Solver};
use alphorn_term::run::Context;
use alphorn_term::{TermId, TermStore};
use alphorn_witness::{Existence, Instance, compare_derivations};

/// A proof. Instances are of lemmas by their numbers.
#[derive(Clone, Debug)]
pub enum Tree {
    /// Closed by instances.
    Use(Vec<Instance>),
    /// By the clauses of an atom's predicate.
    Split(usize, Vec<Tree>),
    /// With a further fact; no splits are below it.
    Ghost(Existence, Box<Tree>),
    /// Closed since an atom is the conclusion, whose arguments are these.
    Goal(usize, Vec<TermId>, Vec<Instance>),
    /// With the conclusion of an instance, and instances that show its premises.
    Add(Instance, Vec<Instance>, Box<Tree>),
    /// With the head of a clause.
    Apply(Application, Box<Tree>),
}

/// An atom of a context.
#[derive(Clone, Debug)]
pub struct ContextAtom {
    pub predicate: PredicateId,
    pub args: Rc<[TermId]>,
    pub path: Vec<usize>,
    /// The place of its expansions.
    node: usize,
    pub is_split: bool,
}

/// What is known at a failed leaf.
#[derive(Clone, Debug)]
pub struct Leaf {
    pub atoms: Vec<ContextAtom>,
    pub formulas: Vec<TermId>,
}

/// The last step of a derivation by a clause, with fresh variables.
#[derive(Clone)]
struct Expansion {
    /// What the clause says.
    formula: TermId,
    premises: Vec<ContextAtom>,
}

/// Atoms and their expansions; contexts of different proofs share them.
#[derive(Default)]
struct Nodes {
    roots: FxHashMap<(PredicateId, usize), ContextAtom>,
    /// By node and clause.
    expansions: FxHashMap<(usize, usize), Expansion>,
    count: usize,
}

/// The effort for a proof.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Atoms that are unfolded besides the slots.
    pub depth: usize,
    pub nodes: usize,
    /// Whether lemmas that conclude facts, and clauses, may add facts.
    pub facts: bool,
}

/// The number of a lemma among those that are known.
pub type Number = usize;

/// The lemmas that may be used in a proof.
#[derive(Clone, Copy)]
pub struct Usable<'l> {
    /// All lemmas by number.
    pub lemmas: &'l [Rc<Lemma>],
    /// Numbers of lemmas that are proven.
    pub known: &'l [Number],
    /// Numbers of lemmas of the same group, in the order of their positions.
    pub group: &'l [Number],
    /// Predicates that have facts for all inputs of a domain.
    pub totals: &'l [Total],
}

/// Proves lemmas.
pub struct Prover<'a, 's> {
    pub space: &'s Space<'a>,
    pub(super) solver: Solver,
    pub(super) smt: Rc<Smt>,
    nodes: Nodes,
    /// Queries so far.
    pub checks: u64,
}

/// The state of one proof.
pub(super) struct Search<'l> {
    pub(super) usable: Usable<'l>,
    /// The position of the lemma in its group.
    pub(super) position: usize,
    slots: usize,
    /// The only slot that is measured, where ghosts may be used; otherwise all are.
    pub(super) measured: Option<usize>,
    depth: usize,
    left: usize,
    pub(super) facts: bool,
    pub(super) atoms: Vec<ContextAtom>,
    pub(super) formulas: Vec<TermId>,
    pub(super) instances: Vec<Instance>,
    /// Lemmas of the group that were used.
    pub(super) used: FxHashSet<Number>,
    failed: Option<Leaf>,
    snapshot: Option<Leaf>,
}

/// The outcome of a proof.
pub enum Outcome {
    /// With the lemmas of the group that it uses.
    Proven(Tree, FxHashSet<Number>),
    /// With a leaf that is open.
    Open(Option<Leaf>),
}

impl<'a, 's> Prover<'a, 's> {
    pub fn new(space: &'s Space<'a>, smt: &Rc<Smt>) -> Self {
        Prover {
            space,
            solver: smt.solver(),
            smt: smt.clone(),
            nodes: Nodes::default(),
            checks: 0,
        }
    }

    /// The atom for a slot.
    pub fn root(&mut self, predicate: PredicateId, slot: usize) -> ContextAtom {
        let terms = self.space.terms();
        let nodes = &mut self.nodes;
        let root = nodes.roots.entry((predicate, slot)).or_insert_with(|| {
            nodes.count += 1;
            let params = &self.space.system.predicate(predicate).params;
            let fresh = params
                .iter()
                .map(|&p| terms.fresh_var("a", terms.sort_of(p)));
            ContextAtom {
                predicate,
                args: fresh.collect(),
                path: vec![slot],
                node: nodes.count,
                is_split: false,
            }
        });
        root.clone()
    }

    /// What it means that an atom was derived by a clause.
    fn expansion(&mut self, atom: &ContextAtom, clause: usize) -> Expansion {
        let key = (atom.node, clause);
        if let Some(found) = self.nodes.expansions.get(&key) {
            return found.clone();
        }
        let system = self.space.system;
        let terms = self.space.terms();
        let rule = &system.clauses[clause];
        let mut map: FxHashMap<TermId, TermId> = terms.renaming(&rule.vars(terms));
        if let Some(head) = &rule.head {
            map.extend(head.args.iter().copied().zip(atom.args.iter().copied()));
        }
        let premises = rule.body.iter().enumerate().map(|(at, body)| {
            let mut path = atom.path.clone();
            path.push(at);
            self.nodes.count += 1;
            ContextAtom {
                predicate: body.predicate,
                args: body.args.iter().map(|arg| map[arg]).collect(),
                path,
                node: self.nodes.count,
                is_split: false,
            }
        });
        let premises = premises.collect();
        let expansion = Expansion {
            formula: terms.substitute(rule.constraint, &map),
            premises,
        };
        self.nodes.expansions.insert(key, expansion.clone());
        expansion
    }

    /// Whether the assertions are unsatisfiable.
    pub(super) fn check(&mut self) -> SatResult {
        self.checks += 1;
        let limit = self.smt.limit_queries(Some(LIMITS.query_work));
        let answer = self.solver.check(&[]);
        drop(limit);
        answer
    }

    /// Proves a lemma, at this position of the group; with ghosts if only one slot is measured.
    pub fn prove(
        &mut self,
        usable: Usable<'_>,
        position: usize,
        measured: Option<usize>,
        effort: Effort,
        cx: &Context,
    ) -> Outcome {
        let lemma = &usable.lemmas[usable.group[position]];
        let terms = self.space.terms();
        let atoms: Vec<ContextAtom> = lemma
            .slots
            .iter()
            .enumerate()
            .map(|(slot, &predicate)| self.root(predicate, slot))
            .collect();
        let statement = lemma.formula(terms, &argument(&atoms));
        let negation = terms.not(statement);
        let mut search = Search {
            usable,
            position,
            slots: atoms.len(),
            measured,
            depth: effort.depth,
            left: effort.nodes,
            facts: effort.facts,
            atoms,
            formulas: vec![negation],
            instances: Vec::new(),
            used: FxHashSet::default(),
            failed: None,
            snapshot: None,
        };
        self.solver.push();
        self.solver.assert(negation);
        let tree = self.node(&mut search, effort.depth, cx);
        self.solver.pop();
        match tree {
            Some(tree) => Outcome::Proven(tree, search.used),
            None => Outcome::Open(search.failed),
        }
    }

    /// Instances of proven lemmas that contradict the body of a query, if there are any.
    pub fn refute(
        &mut self,
        query: usize,
        library: &Library,
        cx: &Context,
    ) -> Option<Vec<Instance>> {
        if cx.stop().is_some() {
            return None;
        }
        let clause = &self.space.system.clauses[query];
        let atoms = clause
            .body
            .iter()
            .enumerate()
            .map(|(at, atom)| ContextAtom {
                predicate: atom.predicate,
                args: atom.args.iter().copied().collect(),
                path: vec![at],
                node: 0,
                is_split: false,
            });
        let usable = library.usable();
        let mut search = Search {
            usable,
            position: 0,
            slots: 0,
            measured: None,
            depth: 0,
            left: 0,
            facts: false,
            atoms: atoms.collect(),
            formulas: Vec::new(),
            instances: Vec::new(),
            used: FxHashSet::default(),
            failed: None,
            snapshot: None,
        };
        self.solver.push();
        self.solver.assert(clause.constraint);
        let is_refuted = self.close(&mut search);
        self.solver.pop();
        if !is_refuted {
            return None;
        }
        let mut solver = self.smt.solver();
        solver.assert(clause.constraint);
        let (instances, atoms) = (&search.instances, &search.atoms);
        Some(needed(
            self.space,
            usable.lemmas,
            instances,
            atoms,
            &mut solver,
        ))
    }

    /// Proves what is left at a node; the recursion is as deep as the effort allows splits.
    fn node(&mut self, search: &mut Search<'_>, extra: usize, cx: &Context) -> Option<Tree> {
        if cx.stop().is_some() {
            return None;
        }
        if self.close(search) {
            return Some(Tree::Use(search.instances.clone()));
        }
        if search.left == 0 {
            search.fail();
            return None;
        }
        search.left -= 1;
        if search.facts {
            let is_split = |at: usize| search.atoms[at].is_split;
            let mut slots = 0..search.slots;
            if slots.clone().all(is_split) || !slots.any(is_split) {
                return self.with_facts(search, extra, cx);
            }
        }
        self.split(search, extra, cx)
    }

    /// Splits an atom; the recursion is that of nodes.
    pub(super) fn split(
        &mut self,
        search: &mut Search<'_>,
        extra: usize,
        cx: &Context,
    ) -> Option<Tree> {
        let slot = (0..search.slots).find(|&at| !search.atoms[at].is_split);
        let (at, cases, cost) = match slot {
            Some(at) => (at, self.feasible(search, at), 0),
            None => {
                let found = self.cheapest(search, extra);
                if (found.is_none() || extra == 0)
                    && search.measured.is_some()
                    && let Some(tree) = self.with_ghosts(search, cx)
                {
                    return Some(tree);
                }
                let Some((at, cases)) = found else {
                    search.fail();
                    return None;
                };
                let is_recursive = self.is_branching(search.atoms[at].predicate);
                if search.snapshot.is_none() || extra == search.depth {
                    search.snapshot = Some(search.leaf());
                }
                (at, cases, usize::from(is_recursive))
            }
        };
        let rules = self.space.rules[search.atoms[at].predicate.index()].len();
        let here = Tree::Use(search.instances.clone());
        let mut trees = vec![here; rules];
        search.atoms[at].is_split = true;
        let mut is_proven = true;
        for (case, expansion) in cases {
            let lengths = search.lengths();
            self.solver.push();
            self.solver.assert(expansion.formula);
            search.formulas.push(expansion.formula);
            search.atoms.extend(expansion.premises);
            let tree = self.node(search, extra - cost, cx);
            search.truncate(lengths);
            self.solver.pop();
            match tree {
                Some(tree) => trees[case] = tree,
                None => {
                    is_proven = false;
                    break;
                }
            }
        }
        search.atoms[at].is_split = false;
        is_proven.then_some(Tree::Split(at, trees))
    }

    /// Whether some clause of a predicate has body atoms.
    fn is_branching(&self, predicate: PredicateId) -> bool {
        let mut rules = self.space.rules[predicate.index()].iter();
        rules.any(|&rule| !self.space.system.clauses[rule].body.is_empty())
    }

    /// The atom besides the slots with the fewest feasible clauses, which are free if they have no
    /// body atoms.
    fn cheapest(
        &mut self,
        search: &mut Search<'_>,
        extra: usize,
    ) -> Option<(usize, Vec<(usize, Expansion)>)> {
        let mut best: Option<(usize, Vec<(usize, Expansion)>)> = None;
        for at in 0..search.atoms.len() {
            let atom = &search.atoms[at];
            if atom.is_split || atom.path.len() > LIMITS.path {
                continue;
            }
            if extra == 0 && self.is_branching(atom.predicate) {
                continue;
            }
            let cases = self.feasible(search, at);
            let few = cases.len() <= 1;
            if best.as_ref().is_none_or(|b| cases.len() < b.1.len()) {
                best = Some((at, cases));
            }
            if few {
                break;
            }
        }
        best
    }

    /// The clauses by which an atom may have been derived, with their numbers among the cases.
    fn feasible(&mut self, search: &Search<'_>, at: usize) -> Vec<(usize, Expansion)> {
        let atom = search.atoms[at].clone();
        let rules = self.space.rules[atom.predicate.index()].clone();
        let mut found = Vec::new();
        for (case, rule) in rules.into_iter().enumerate() {
            let expansion = self.expansion(&atom, rule);
            self.solver.push();
            self.solver.assert(expansion.formula);
            let answer = self.check();
            self.solver.pop();
            if answer != SatResult::Unsat {
                found.push((case, expansion));
            }
        }
        found
    }

    /// Adds instances that models violate until there is no model; whether there is none.
    pub(super) fn close(&mut self, search: &mut Search<'_>) -> bool {
        let terms = self.space.terms();
        let mut places: FxHashMap<PredicateId, Vec<usize>> = FxHashMap::default();
        for (at, atom) in search.atoms.iter().enumerate() {
            places.entry(atom.predicate).or_default().push(at);
        }
        let mut done: FxHashSet<Instance> = search.instances.iter().cloned().collect();
        for _ in 0..LIMITS.closing_rounds {
            match self.check() {
                SatResult::Unsat => return true,
                SatResult::Sat => {}
                SatResult::Unknown(_) => return false,
            }
            let Some(model) = self.solver.model() else {
                return false;
            };
            let values = search.values(terms, &model);
            let new = violated(search, &places, &values, &done);
            if new.is_empty() {
                return false;
            }
            for used in new {
                if search.usable.group.contains(&used.lemma) {
                    search.used.insert(used.lemma);
                }
                let lemma = &search.usable.lemmas[used.lemma];
                let atoms = &search.atoms;
                let formula = lemma.formula(terms, &|c: Column| {
                    atoms[used.atoms[usize::from(c.slot)]].args[usize::from(c.arg)]
                });
                self.solver.assert(formula);
                search.formulas.push(formula);
                done.insert(used.clone());
                search.instances.push(used);
            }
        }
        false
    }

    /// Whether the assertions imply a formula.
    pub(super) fn follows(&mut self, formula: TermId) -> bool {
        self.solver.push();
        self.solver.assert(self.space.terms().not(formula));
        let answer = self.check();
        self.solver.pop();
        answer == SatResult::Unsat
    }

    /// The instances of a tree's leaves, and the ghosts, that are needed.
    pub fn minimised(&mut self, usable: Usable<'_>, number: Number, tree: &Tree) -> Tree {
        let lemma = &usable.lemmas[number];
        let terms = self.space.terms();
        let atoms: Vec<ContextAtom> = lemma
            .slots
            .iter()
            .enumerate()
            .map(|(slot, &predicate)| self.root(predicate, slot))
            .collect();
        let negation = terms.not(lemma.formula(terms, &argument(&atoms)));
        let mut solver = self.smt.solver();
        solver.assert(negation);
        self.minimal(usable, tree, &atoms, &mut solver)
    }

    pub(super) fn minimal(
        &mut self,
        usable: Usable<'_>,
        tree: &Tree,
        atoms: &[ContextAtom],
        solver: &mut Solver,
    ) -> Tree {
        match tree {
            Tree::Use(instances) => {
                let lemmas = usable.lemmas;
                Tree::Use(needed(self.space, lemmas, instances, atoms, solver))
            }
            Tree::Ghost(..) => self.minimal_ghosts(usable, tree, atoms, solver),
            Tree::Goal(..) | Tree::Add(..) | Tree::Apply(..) => {
                self.minimal_facts(usable, tree, atoms, solver)
            }
            Tree::Split(at, cases) => {
                let rules = self.space.rules[atoms[*at].predicate.index()].clone();
                let mut minimal = Vec::with_capacity(cases.len());
                for (rule, case) in rules.into_iter().zip(cases) {
                    let expansion = self.expansion(&atoms[*at], rule);
                    let mut inner = atoms.to_vec();
                    inner.extend(expansion.premises);
                    solver.push();
                    solver.assert(expansion.formula);
                    minimal.push(self.minimal(usable, case, &inner, solver));
                    solver.pop();
                }
                Tree::Split(*at, minimal)
            }
        }
    }
}

/// A core of instances at a leaf.
pub(super) fn needed(
    space: &Space<'_>,
    lemmas: &[Rc<Lemma>],
    instances: &[Instance],
    atoms: &[ContextAtom],
    solver: &mut Solver,
) -> Vec<Instance> {
    let terms = space.terms();
    let formulas: Vec<TermId> = instances
        .iter()
        .map(|used| {
            lemmas[used.lemma].formula(terms, &|c: Column| {
                atoms[used.atoms[usize::from(c.slot)]].args[usize::from(c.arg)]
            })
        })
        .collect();
    let effort = alphorn_smt::CoreEffort {
        queries: LIMITS.core_queries,
        budget: None,
    };
    match solver.core_by(&[], &formulas, effort) {
        Some(core) => {
            let mut core: FxHashSet<TermId> = core.into_iter().collect();
            let kept = instances.iter().zip(&formulas);
            kept.filter(|(_, formula)| core.remove(formula))
                .map(|(used, _)| used.clone())
                .collect()
        }
        None => instances.to_vec(),
    }
}

/// The terms of a context's arguments.
pub(super) fn argument(atoms: &[ContextAtom]) -> impl Fn(Column) -> TermId + '_ {
    |c: Column| atoms[usize::from(c.slot)].args[usize::from(c.arg)]
}

impl Search<'_> {
    /// The arguments of the atoms in a model, as numbers.
    pub(super) fn values(&self, terms: &TermStore, model: &SmtModel) -> Vec<Vec<Option<i64>>> {
        let value = |&arg: &TermId| number(terms, model.value(arg).ok()?);
        let atoms = self.atoms.iter();
        atoms
            .map(|atom| atom.args.iter().map(value).collect())
            .collect()
    }

    /// Whether an instance of the lemma at a position of the group may be used.
    pub(super) fn is_smaller(&self, other: usize, atoms: &[usize]) -> bool {
        let path = |at: usize| &*self.atoms[at].path;
        let order = match self.measured {
            // A group of its own, with this slot.
            Some(slot) => compare_derivations(&[path(atoms[slot])], &[slot]),
            None => {
                let paths: Vec<&[usize]> = atoms.iter().map(|&at| path(at)).collect();
                compare_derivations(&paths, &(0..self.slots).collect::<Vec<_>>())
            }
        };
        match order {
            Some(Ordering::Less) => true,
            Some(Ordering::Equal) => other < self.position,
            _ => false,
        }
    }

    fn leaf(&self) -> Leaf {
        Leaf {
            atoms: self.atoms.clone(),
            formulas: self.formulas.clone(),
        }
    }

    fn fail(&mut self) {
        if self.failed.is_none() {
            self.failed = Some(self.snapshot.clone().unwrap_or_else(|| self.leaf()));
        }
    }

    pub(super) fn lengths(&self) -> (usize, usize, usize) {
        (self.atoms.len(), self.formulas.len(), self.instances.len())
    }

    pub(super) fn truncate(&mut self, (atoms, formulas, instances): (usize, usize, usize)) {
        self.atoms.truncate(atoms);
        self.formulas.truncate(formulas);
        self.instances.truncate(instances);
    }
}
