//! C, the constraints of Fig. 6: one copy of all clauses in incremental solvers for the whole run.
//!
//! Global: an edge's literal puts a clause in force (1), and one of the clauses for the predicate is
//! (2). The `n`-th body atom of a predicate has the same variables, a slot, in all
//! clauses. Lemmas: A_φ puts φ in force at the slots of its predicate that are used (5); B_φ
//! says that φ is violated at the head (6). Both are defined once and assumed or not; what is asserted
//! for a while, such as the disjunction of the B's, is retracted with its scope. Invariants have
//! a literal that puts them in force at sources and targets (3), (4).
//!
//! Heights, which the paper does not have: a literal for each height says that what is derived has
//! that height, and a lemma of some height is in force at sources for targets that are at most one
//! higher. So a proof by frames is checked in the same single copy.
//!
//! Deviations: the clauses for each predicate have a solver of their own, since a violated lemma is
//! violated by one clause, and a solver with all the others goes through them for each query (4 times
//! the time on a program with 1,000 conjuncts). B_φ implies the violation, where the paper's is only
//! implied by it; so a model that has
//! B_φ violates φ, and the trap of Fig. 7, that a B nobody cares for is true in a model, is not there.
//! Invariant: what was defined holds in the outermost scope; asking never changes what the
//! answers mean.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::assumptions::Assumptions;
use super::proof::{ALL, Height, Lemma};
use crate::chc::System;
use crate::run::Context;
use crate::smt::{SatResult, Smt, SmtModel, Solver};
use crate::term::{SortId, TermId, TermStore};

/// A body atom, in all clauses that have one.
struct Slot {
    /// The predicate's formal variables to the atom's.
    renaming: FxHashMap<TermId, TermId>,
    used: TermId,
    /// The parts with clauses that have it.
    parts: Vec<usize>,
}

/// A lemma that is looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    /// Position among the lemmas that were given.
    pub lemma: usize,
    /// The lemma's predicate.
    pub predicate: usize,
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

/// The clauses for one predicate.
pub(super) struct Part {
    solver: Solver,
    /// Their part of Σ.
    pub assumptions: Vec<TermId>,
    /// Their positions.
    pub clauses: Vec<usize>,
    /// The predicates of their body atoms, in order.
    pub sources: Vec<usize>,
    /// That one of them is in force.
    node: TermId,
}

/// The constraints.
pub(super) struct Constraints {
    terms: Rc<TermStore>,
    /// By predicate, `false` last.
    parts: Vec<Part>,
    slots: FxHashMap<usize, Vec<Slot>>,
    /// By clause.
    pub edges: Vec<TermId>,
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
        let mut parts: Vec<Part> = (0..=system.predicates.len())
            .map(|_| Part {
                solver: smt.solver(),
                assumptions: Vec::new(),
                clauses: Vec::new(),
                sources: Vec::new(),
                node: literal("node"),
            })
            .collect();
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
            let part = &mut parts[head];
            part.assumptions.extend(assumptions.own(index));
            part.clauses.push(index);
            let mut count: FxHashMap<usize, usize> = FxHashMap::default();
            for atom in &clause.body {
                let predicate = atom.predicate.index();
                let nth = count.entry(predicate).or_default();
                let of = slots.entry(predicate).or_default();
                let params = &system.predicate(atom.predicate).params;
                if of.len() == *nth {
                    of.push(Slot {
                        renaming: terms.renaming(params),
                        used: literal("used"),
                        parts: Vec::new(),
                    });
                }
                let slot = &mut of[*nth];
                *nth += 1;
                slot.parts.push(head);
                let own = params.iter().map(|p| slot.renaming[p]);
                map.extend(atom.args.iter().copied().zip(own));
                part.solver.assert(terms.or(&[idle, slot.used]));
                part.sources.push(predicate);
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
            part.solver.assert(terms.or(&[idle, constraint]));
            edges.push(edge);
        }
        for part in &mut parts {
            part.sources.sort_unstable();
            part.sources.dedup();
            let mut some: Vec<TermId> = part.clauses.iter().map(|&c| edges[c]).collect();
            some.push(terms.not(part.node));
            part.solver.assert(terms.or(&some));
        }
        for slot in slots.values_mut().flatten() {
            slot.parts.sort_unstable();
            slot.parts.dedup();
        }
        Constraints {
            terms,
            parts,
            slots,
            edges,
            heights: Vec::new(),
            lemmas: FxHashMap::default(),
            of_height: FxHashMap::default(),
            targets: FxHashMap::default(),
        }
    }

    /// The clauses for a predicate.
    pub fn part(&self, predicate: usize) -> &Part {
        &self.parts[predicate]
    }

    fn literal(&self, name: &str) -> TermId {
        self.terms.fresh_var(name, SortId::BOOL)
    }

    /// The literals of a lemma of its height; made when it is new.
    pub fn item(&mut self, at: usize, lemma: &Lemma) -> Item {
        let (any_a, any_b) = self.of_any_height(lemma);
        let key = (lemma.predicate, lemma.formula, lemma.height);
        let item = |(a, b)| Item {
            lemma: at,
            predicate: lemma.predicate,
            a,
            b,
        };
        if let Some(&known) = self.of_height.get(&key) {
            return item(known);
        }
        let terms = self.terms.clone();
        let (a, b) = (self.literal("A"), self.literal("B"));
        let in_force = if lemma.height == ALL {
            terms.implies(a, any_a)
        } else {
            // For targets of the lemma's height plus one, and below.
            let (_, least) = self.height(lemma.height + 1);
            let (exact, _) = self.height(lemma.height);
            self.assert(lemma.predicate, terms.implies(b, exact));
            terms.or(&[terms.not(a), terms.not(least), any_a])
        };
        for slot in self.slots.get(&lemma.predicate).into_iter().flatten() {
            for &part in &slot.parts {
                self.parts[part].solver.assert(in_force);
            }
        }
        self.assert(lemma.predicate, terms.implies(b, any_b));
        self.of_height.insert(key, (a, b));
        item((a, b))
    }

    fn assert(&mut self, part: usize, formula: TermId) {
        debug_assert_eq!(self.parts[part].solver.depth(), 0);
        self.parts[part].solver.assert(formula);
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
            for &part in &slot.parts {
                self.parts[part].solver.assert(in_force);
            }
        }
        let node = self.parts[lemma.predicate].node;
        let violated = terms.and(&[node, terms.not(lemma.formula)]);
        self.assert(lemma.predicate, terms.implies(b, violated));
        self.lemmas.insert(key, (a, b));
        (a, b)
    }

    /// A literal that puts an invariant in force at the heads of clauses.
    pub fn target(&mut self, lemma: &Lemma) -> TermId {
        let key = (lemma.predicate, lemma.formula);
        if let Some(&known) = self.targets.get(&key) {
            return known;
        }
        let literal = self.literal("I");
        let node = self.parts[lemma.predicate].node;
        let holds = self.terms.implies(node, lemma.formula);
        self.assert(lemma.predicate, self.terms.implies(literal, holds));
        self.targets.insert(key, literal);
        literal
    }

    /// That what is derived has a height, and that it has at most this height.
    fn height(&mut self, height: Height) -> (TermId, TermId) {
        let terms = self.terms.clone();
        while self.heights.len() <= height as usize {
            let (exact, most) = (self.literal("S"), self.literal("G"));
            let mut formulas = vec![terms.implies(exact, most)];
            match self.heights.last() {
                Some(&(_, below)) => formulas.push(terms.implies(below, most)),
                // Height zero: no body atoms.
                None => {
                    let unused = self.slots.values().flatten().map(|s| terms.not(s.used));
                    formulas.push(terms.implies(exact, terms.and(&unused.collect::<Vec<_>>())));
                }
            }
            for part in &mut self.parts {
                for &formula in &formulas {
                    part.solver.assert(formula);
                }
            }
            self.heights.push((exact, most));
        }
        self.heights[height as usize]
    }

    /// Asserts formulas about the clauses for a predicate until [`Constraints::retract`].
    pub fn add(&mut self, part: usize, formulas: &[TermId]) {
        let solver = &mut self.parts[part].solver;
        solver.push();
        for &formula in formulas {
            solver.assert(formula);
        }
    }

    /// Takes back what was added last.
    pub fn retract(&mut self, part: usize) {
        self.parts[part].solver.pop();
    }

    /// SAT(C, assumptions), for the clauses for a predicate.
    pub fn check(&mut self, part: usize, assumptions: &[TermId], cx: &Context) -> Answer {
        if cx.stop().is_some() {
            return Answer::Unknown;
        }
        let solver = &mut self.parts[part].solver;
        match solver.check(assumptions) {
            SatResult::Sat => match solver.model() {
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
    pub fn core(&self, part: usize) -> Vec<TermId> {
        self.parts[part].solver.core()
    }

    /// The solver itself, for minimal cores.
    pub fn solver(&mut self, part: usize) -> &mut Solver {
        &mut self.parts[part].solver
    }

    /// The height of what is derived in a model, if it has one.
    pub fn height_in(&self, model: &SmtModel) -> Option<Height> {
        let found = self.heights.iter().position(|h| model.satisfies(h.0));
        found.map(|h| h as Height)
    }
}
