//! C, the constraints of Fig. 6, and EXTRACTINVS, which uses them.
//!
//! The clauses are in [`alphorn_proof::clauses`], with a solver for each head predicate. A literal
//! puts a clause in force (1), and one clause of the predicate is always in force (2). The literal
//! A_φ puts a lemma φ in force at body atoms (5). There is no literal B_φ (6): that φ is violated
//! at the head is a formula over the head's variables, so a model of it does violate φ. Invariants
//! are in force at body atoms by their A, and at heads as formulas (3), (4).
//!
//! Deviation: a literal for each height says that the derived fact has at most that height, and a
//! lemma of height `h` is in force at body atoms only for derived facts of height at most `h + 1`.
//! So proofs by frames are checked with the same copy of the clauses.
//!
//! Invariant: the formulas that define heights and lemmas' literals are asserted permanently and
//! only take effect under assumptions, so queries do not change the meaning of later ones.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::assumptions::Assumptions;
use super::options::Extraction;
use super::proof::{ALL, Height, Lemma};
use alphorn_chc::System;
use alphorn_proof::clauses::{self, Clauses, Solvers};
use alphorn_proof::houdini::{Question, inductive_lemmas};
use alphorn_proof::needed_lemmas::Given;
use alphorn_smt::Smt;
use alphorn_term::run::Budget;
use alphorn_term::{SortId, TermId, TermStore};

/// The bounds and invariants that hold besides the lemmas of a query.
#[derive(Clone, Copy)]
pub(super) struct InForce<'a> {
    /// Bounds of loops, as formulas over the bound variables.
    pub bounds: &'a [TermId],
    /// Invariants, which have the height [`ALL`].
    pub invariants: &'a [Lemma],
}

/// C: the guarded clauses in incremental solvers.
pub(super) struct Constraints {
    terms: Rc<TermStore>,
    /// The clauses, grouped by head predicate.
    pub clauses: Clauses,
    /// The assumptions of each clause.
    of_clause: Vec<Vec<TermId>>,
    /// The assumptions of each group of clauses.
    of_group: Vec<Vec<TermId>>,
    /// For each height, the literal that the derived fact has at most that height.
    heights: Vec<TermId>,
}

impl Constraints {
    /// The clauses of a system with their guarded constraints and their τ_B (`bounds`).
    pub fn new(
        system: &System,
        assumptions: &Assumptions,
        bounds: &[TermId],
        smt: &Rc<Smt>,
    ) -> Self {
        let terms = system.terms.clone();
        let constraint = |c: usize| terms.and(&[assumptions.guarded(c), bounds[c]]);
        let clauses = Clauses::with_constraints(system, Solvers::PerHead, smt, constraint);
        let count = system.clauses.len();
        let of_clause: Vec<Vec<TermId>> = (0..count).map(|c| assumptions.own(c).to_vec()).collect();
        let of_group = clauses.groups().map(|group| {
            let own = clauses.clauses(group).iter();
            let mut own: Vec<TermId> = own.flat_map(|&c| of_clause[c].iter().copied()).collect();
            // Clauses may share assumptions.
            let mut seen = FxHashSet::default();
            own.retain(|&a| seen.insert(a));
            own
        });
        Constraints {
            of_group: of_group.collect(),
            of_clause,
            clauses,
            terms,
            heights: Vec::new(),
        }
    }

    /// A lemma, restricted to its height.
    pub fn lemma(&mut self, lemma: &Lemma) -> clauses::Lemma {
        let about = lemma.about;
        if lemma.height == ALL {
            return self.clauses.lemma(about, lemma.formula, TermId::TRUE);
        }
        let above = self.at_most(lemma.height + 1);
        let own = self.at_most(lemma.height);
        let mut result = self.clauses.lemma(about, lemma.formula, above);
        result.violation = self.terms.and(&[own, result.violation]);
        result
    }

    /// Lemmas, each restricted to its height, in the same order.
    pub fn lemmas(&mut self, lemmas: &[Lemma]) -> Vec<clauses::Lemma> {
        lemmas.iter().map(|lemma| self.lemma(lemma)).collect()
    }

    /// The literal that the derived fact has at most this height.
    fn at_most(&mut self, height: Height) -> TermId {
        while self.heights.len() <= height as usize {
            let literal = self.terms.fresh_var("height", SortId::BOOL);
            let means = match self.heights.last() {
                Some(&below) => self.terms.implies(below, literal),
                // Height zero: no body atoms.
                None => {
                    let used = self.clauses.used().into_iter();
                    let unused: Vec<TermId> = used.map(|used| self.terms.not(used)).collect();
                    self.terms.implies(literal, self.terms.and(&unused))
                }
            };
            for group in self.clauses.groups() {
                self.clauses.assert(group, means);
            }
            self.heights.push(literal);
        }
        self.heights[height as usize]
    }

    /// For each group of clauses: the bounds and invariants in force, and its assumptions.
    pub fn given(&mut self, in_force: InForce) -> Vec<Given> {
        let invariants: Vec<(clauses::Lemma, TermId)> = in_force
            .invariants
            .iter()
            .map(|invariant| (self.lemma(invariant), invariant.formula))
            .collect();
        let of_group = |group: usize| {
            let sources = self.clauses.sources(group);
            let mut assumed = in_force.bounds.to_vec();
            for &(invariant, formula) in &invariants {
                if invariant
                    .about
                    .is_some_and(|p| sources.binary_search(&p).is_ok())
                {
                    assumed.push(invariant.premise);
                }
                if invariant.about == self.clauses.head(group) {
                    assumed.push(formula);
                }
            }
            Given {
                assumed,
                optional: self.of_group[group].clone(),
            }
        };
        self.clauses.groups().map(of_group).collect()
    }

    /// EXTRACTINVS: positions of the lemmas in the largest subset that is inductive under `sigma`,
    /// a part of Σ (`None`: all of Σ). Empty when the budget is spent. With another
    /// under-approximation in force, it finds the lemmas that still hold there.
    pub fn inductive_subset(
        &mut self,
        lemmas: &[Lemma],
        sigma: Option<&FxHashSet<TermId>>,
        in_force: InForce,
        extraction: Extraction,
        budget: &Budget,
    ) -> Vec<usize> {
        if lemmas.is_empty() {
            return Vec::new();
        }
        let lemmas = self.lemmas(lemmas);
        let given = self.given(in_force);
        let given = |group: usize, clause: Option<usize>| {
            let assumptions = match clause {
                Some(clause) => &self.of_clause[clause],
                None => &self.of_group[group],
            };
            let chosen = |a: &&TermId| sigma.is_none_or(|sigma| sigma.contains(a));
            let mut assumed = given[group].assumed.clone();
            assumed.extend(assumptions.iter().filter(chosen));
            assumed
        };
        let question = match extraction {
            Extraction::Mis => Question::Group,
            Extraction::Houdini => Question::Clause,
        };
        let kept = inductive_lemmas(&mut self.clauses, &lemmas, question, given, budget);
        kept.unwrap_or_default()
    }
}
