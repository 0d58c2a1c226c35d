//! C, the constraints of Fig. 6: one copy of all clauses in incremental solvers for the whole
//! run; and EXTRACTINVS, which asks them.
//!
//! The copy is that of [`alphorn_proof::clauses`], one solver for the clauses of each predicate: a
//! literal puts a clause in force (1), one of a predicate's clauses always is (2), and A_φ puts a
//! lemma φ in force at body atoms (5). B_φ (6) is no literal: that φ is violated at the head is
//! asked as a formula over the head's variables. So a model of it violates φ, and the trap of
//! Fig. 7, that a B nobody cares for is true in a model, is not there. Invariants are in force at
//! sources by their A, at targets as they are (3), (4).
//!
//! Heights, which the paper does not have: a literal for each height says that what is derived
//! has at most that height, and a lemma of some height is in force at sources for targets that
//! are at most one higher. So a proof by frames is checked in the same single copy.
//!
//! Invariant: what a height's literal and a lemma's A mean is asserted for good and assumed or not;
//! asking never changes what the answers mean.

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

/// What holds besides the lemmas that are asked about.
#[derive(Clone, Copy)]
pub(super) struct InForce<'a> {
    /// Bounds of loops.
    pub bounds: &'a [TermId],
    /// They have no heights.
    pub invariants: &'a [Lemma],
}

/// See the module.
pub(super) struct Constraints {
    terms: Rc<TermStore>,
    pub clauses: Clauses,
    /// Parts of Σ by clause, and by group of clauses.
    of_clause: Vec<Vec<TermId>>,
    of_group: Vec<Vec<TermId>>,
    /// That what is derived has at most a height.
    heights: Vec<TermId>,
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
        let constraint = |c: usize| terms.and(&[assumptions.guarded(c), bounds[c]]);
        let clauses = Clauses::with_constraints(system, Solvers::PerHead, smt, constraint);
        let count = system.clauses.len();
        let of_clause: Vec<Vec<TermId>> = (0..count).map(|c| assumptions.own(c).to_vec()).collect();
        let of_group = clauses.groups().map(|group| {
            let own = clauses.clauses(group).iter();
            let mut own: Vec<TermId> = own.flat_map(|&c| of_clause[c].iter().copied()).collect();
            // Clauses may share them.
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

    /// A lemma of its height.
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

    /// Lemmas of their heights, in their order.
    pub fn lemmas(&mut self, lemmas: &[Lemma]) -> Vec<clauses::Lemma> {
        lemmas.iter().map(|lemma| self.lemma(lemma)).collect()
    }

    /// That what is derived has at most this height.
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

    /// By group of clauses: what is in force, and Σ.
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

    /// EXTRACTINVS: positions of the lemmas in the largest subset that is inductive under a part of
    /// Σ, `None` for all of it; none when the budget is spent. By the same question it is told
    /// which lemmas still hold in another under-approximation.
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
