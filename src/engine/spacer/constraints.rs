//! C, the constraints of Fig. 6: one copy of all clauses in one incremental solver for the whole run.
//!
//! Global: an edge's literal puts a clause in force (1), and a node's one of the clauses for a
//! predicate (2). The `n`-th body atom of a predicate has the same variables, a slot, in all
//! clauses. Lemmas: A_φ puts φ in force at the slots of its predicate that are used (5); B_φ
//! says that φ is violated at the head (6). Both are defined once and assumed or not; what is asserted
//! for a while, such as the disjunction of the B's, is retracted with its scope. Invariants have
//! a literal that puts them in force at sources and targets (3), (4).
//!
//! Heights, which the paper does not have: a literal for each height says that what is derived has
//! that height, and a lemma of some height is in force at sources for targets that are at most one
//! higher. So a proof by frames is checked in the same single copy.
//!
//! Deviation: B_φ implies the violation, where the paper's is only implied by it; so a model that has
//! B_φ violates φ, and the trap of Fig. 7, that a B nobody cares for is true in a model, is not there.
//! Invariant: what was defined holds in the outermost scope; asking never changes what the
//! answers mean.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::assumptions::Assumptions;
use super::proof::{ALL, Height, Lemma};
use crate::chc::System;
use crate::context::Context;
use crate::smt::{SatResult, Smt, SmtModel, Solver};
use crate::term::{SortId, TermId, TermStore};

/// A body atom, in all clauses that have one.
struct Slot {
    /// The predicate's formal variables to the atom's.
    renaming: FxHashMap<TermId, TermId>,
    used: TermId,
}

/// A lemma that is looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    /// Position among the lemmas that were given.
    pub lemma: usize,
    /// Puts it in force.
    pub a: TermId,
    /// Says that it is violated.
    pub b: TermId,
}

/// An answer.
pub(super) enum Answer {
    Sat(SmtModel),
    Unsat,
    Unknown,
}

/// The constraints.
pub(super) struct Constraints {
    terms: Rc<TermStore>,
    solver: Solver,
    slots: FxHashMap<usize, Vec<Slot>>,
    /// By clause.
    pub edges: Vec<TermId>,
    /// By predicate, `false` last.
    nodes: Vec<TermId>,
    /// S_k and G_k of heights.
    heights: Vec<(TermId, TermId)>,
    /// A_φ and B_φ of any height.
    lemmas: FxHashMap<(usize, TermId), (TermId, TermId)>,
    of_height: FxHashMap<(usize, TermId, Height), (TermId, TermId)>,
    targets: FxHashMap<(usize, TermId), TermId>,
}

impl Constraints {
    /// The clauses of a system with their guarded constraints and τ_B.
    pub fn new(
        system: &System,
        assumptions: &Assumptions,
        bounds: &[TermId],
        smt: &Rc<Smt>,
    ) -> Self {
        let terms = system.terms.clone();
        let literal = |name: &str| terms.fresh_var(name, SortId::BOOL);
        let mut solver = smt.solver();
        let nodes: Vec<TermId> = (0..=system.predicates.len())
            .map(|_| literal("node"))
            .collect();
        let mut incoming: Vec<Vec<TermId>> = vec![Vec::new(); nodes.len()];
        let mut slots: FxHashMap<usize, Vec<Slot>> = FxHashMap::default();
        let mut edges = Vec::with_capacity(system.clauses.len());
        for (index, clause) in system.clauses.iter().enumerate() {
            let edge = literal("edge");
            let idle = terms.not(edge);
            let mut map: FxHashMap<TermId, TermId> = FxHashMap::default();
            let mut head = system.predicates.len();
            if let Some(atom) = &clause.head {
                head = atom.predicate.index();
                let params = system.predicate(atom.predicate).params.iter();
                map.extend(atom.args.iter().copied().zip(params.copied()));
            }
            let mut count: FxHashMap<usize, usize> = FxHashMap::default();
            for atom in &clause.body {
                let nth = count.entry(atom.predicate.index()).or_default();
                let of = slots.entry(atom.predicate.index()).or_default();
                let params = &system.predicate(atom.predicate).params;
                if of.len() == *nth {
                    of.push(Slot {
                        renaming: terms.renaming(params),
                        used: literal("used"),
                    });
                }
                let slot = &of[*nth];
                *nth += 1;
                let own = params.iter().map(|p| slot.renaming[p]);
                map.extend(atom.args.iter().copied().zip(own));
                solver.assert(terms.or(&[idle, slot.used]));
            }
            let constraint = terms.and(&[assumptions.guarded(index), bounds[index]]);
            // Assumptions and bounds are the same everywhere, all other variables the clause's own.
            let shared = terms.free_vars(&[bounds[index]]);
            for var in terms.free_vars(&[constraint]) {
                if !assumptions.is_one(var) && !shared.contains(&var) {
                    map.entry(var).or_insert_with(|| {
                        terms.fresh_var(terms.var_name(var), terms.sort_of(var))
                    });
                }
            }
            let constraint = terms.substitute(constraint, &map);
            solver.assert(terms.or(&[idle, constraint]));
            incoming[head].push(edge);
            edges.push(edge);
        }
        for (&node, edges) in nodes.iter().zip(&mut incoming) {
            edges.push(terms.not(node));
            solver.assert(terms.or(edges));
        }
        Constraints {
            terms,
            solver,
            slots,
            edges,
            nodes,
            heights: Vec::new(),
            lemmas: FxHashMap::default(),
            of_height: FxHashMap::default(),
            targets: FxHashMap::default(),
        }
    }

    fn literal(&self, name: &str) -> TermId {
        self.terms.fresh_var(name, SortId::BOOL)
    }

    /// The literals of a lemma of its height; made when it is new.
    pub fn item(&mut self, at: usize, lemma: &Lemma) -> Item {
        debug_assert_eq!(self.solver.depth(), 0);
        let (any_a, any_b) = self.of_any_height(lemma);
        let key = (lemma.predicate, lemma.formula, lemma.height);
        if let Some(&(a, b)) = self.of_height.get(&key) {
            return Item { lemma: at, a, b };
        }
        let terms = self.terms.clone();
        let (a, b) = (self.literal("A"), self.literal("B"));
        if lemma.height == ALL {
            self.solver.assert(terms.implies(a, any_a));
        } else {
            // For targets of the lemma's height plus one, and below.
            let (_, least) = self.height(lemma.height + 1);
            let off = [terms.not(a), terms.not(least), any_a];
            self.solver.assert(terms.or(&off));
            let (exact, _) = self.height(lemma.height);
            self.solver.assert(terms.implies(b, exact));
        }
        self.solver.assert(terms.implies(b, any_b));
        self.of_height.insert(key, (a, b));
        Item { lemma: at, a, b }
    }

    /// Items for lemmas, in their order.
    pub fn items(&mut self, lemmas: &[Lemma]) -> Vec<Item> {
        let each = lemmas.iter().enumerate();
        each.map(|(at, lemma)| self.item(at, lemma)).collect()
    }

    fn of_any_height(&mut self, lemma: &Lemma) -> (TermId, TermId) {
        let key = (lemma.predicate, lemma.formula);
        if let Some(&known) = self.lemmas.get(&key) {
            return known;
        }
        let terms = self.terms.clone();
        let (a, b) = (self.literal("A"), self.literal("B"));
        let off = terms.not(a);
        for slot in self.slots.get(&lemma.predicate).into_iter().flatten() {
            let formula = terms.substitute(lemma.formula, &slot.renaming);
            let in_force = terms.or(&[off, terms.not(slot.used), formula]);
            self.solver.assert(in_force);
        }
        let node = self.nodes[lemma.predicate];
        let violated = [node, terms.not(lemma.formula)];
        self.solver.assert(terms.implies(b, terms.and(&violated)));
        self.lemmas.insert(key, (a, b));
        (a, b)
    }

    /// A literal that puts an invariant in force at the heads of clauses.
    pub fn target(&mut self, lemma: &Lemma) -> TermId {
        debug_assert_eq!(self.solver.depth(), 0);
        let key = (lemma.predicate, lemma.formula);
        if let Some(&known) = self.targets.get(&key) {
            return known;
        }
        let literal = self.literal("I");
        let node = self.nodes[lemma.predicate];
        let holds = self.terms.implies(node, lemma.formula);
        self.solver.assert(self.terms.implies(literal, holds));
        self.targets.insert(key, literal);
        literal
    }

    /// That what is derived has a height, and that it has at most this height.
    fn height(&mut self, height: Height) -> (TermId, TermId) {
        let terms = self.terms.clone();
        while self.heights.len() <= height as usize {
            let (exact, most) = (self.literal("S"), self.literal("G"));
            self.solver.assert(terms.implies(exact, most));
            match self.heights.last() {
                Some(&(_, below)) => self.solver.assert(terms.implies(below, most)),
                // Height zero: no body atoms.
                None => {
                    for slot in self.slots.values().flatten() {
                        let unused = terms.not(slot.used);
                        self.solver.assert(terms.implies(exact, unused));
                    }
                }
            }
            self.heights.push((exact, most));
        }
        self.heights[height as usize]
    }

    /// Asserts formulas until [`Constraints::retract`].
    pub fn add(&mut self, formulas: &[TermId]) {
        self.solver.push();
        for &formula in formulas {
            self.solver.assert(formula);
        }
    }

    /// Takes back what was added last.
    pub fn retract(&mut self) {
        self.solver.pop();
    }

    /// SAT(C, assumptions).
    pub fn check(&mut self, assumptions: &[TermId], cx: &Context) -> Answer {
        if cx.stop().is_some() {
            return Answer::Unknown;
        }
        match self.solver.check(assumptions) {
            SatResult::Sat => match self.solver.model() {
                Some(model) => Answer::Sat(model),
                None => Answer::Unknown,
            },
            SatResult::Unsat => Answer::Unsat,
            SatResult::Unknown(why) => {
                log::debug!("the constraints: {why}");
                Answer::Unknown
            }
        }
    }

    /// After `Unsat`: the assumptions that were used.
    pub fn core(&self) -> Vec<TermId> {
        self.solver.core()
    }

    /// The solver itself, for minimal cores.
    pub fn solver(&mut self) -> &mut Solver {
        &mut self.solver
    }

    /// The height of what is derived in a model, if it has one.
    pub fn height_in(&self, model: &SmtModel) -> Option<Height> {
        let found = self.heights.iter().position(|h| model.satisfies(h.0));
        found.map(|h| h as Height)
    }
}
