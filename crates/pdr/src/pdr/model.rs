//! The model that inductive lemmas give.
//!
//! Invariant: what is left out is implied by what stays, or not needed by the proof.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::ids::LemmaId;
use super::levels::{INFINITE, Level};
use super::search::Search;
use alphorn_chc::PredicateId;
use alphorn_proof::facts::{Lemmas, Leveled};
use alphorn_smt::SatResult;
use alphorn_term::TermId;
use alphorn_witness::Model;

/// Models of more lemmas per predicate than this are not made smaller.
const IRREDUNDANT_LIMIT: usize = 200;

impl Search<'_> {
    /// The interpretation by the lemmas from a level on; of those that the proof needs, if the
    /// options ask for that and it can be told, and without those that others imply.
    pub(super) fn model(&mut self, level: Level) -> Model {
        let used = match self.options.weaken {
            true => self.needed_lemmas(level),
            false => None,
        };
        let mut definitions: FxHashMap<PredicateId, TermId> = FxHashMap::default();
        for p in self.system.used_predicates() {
            let frame = &self.frames[p];
            let (about_any, ground): (Vec<LemmaId>, Vec<LemmaId>) = frame
                .at(level)
                .filter(|&i| used.as_ref().is_none_or(|used| used.contains(&(p, i))))
                .partition(|&i| frame.lemmas[i].any.is_some());
            let ground = ground.into_iter().map(|i| frame.lemmas[i].clause).collect();
            let mut lemmas = self.irredundant(ground);
            lemmas.extend(about_any.into_iter().map(|i| frame.closed(&self.terms, i)));
            definitions.insert(p, self.terms.and(&lemmas));
        }
        Model {
            definitions,
            ..Model::default()
        }
    }

    /// All lemmas without quantifiers, those of the highest levels first, and of these the newest.
    pub(super) fn all_lemmas(&self) -> Lemmas {
        let mut all = Vec::new();
        for p in self.system.used_predicates() {
            let frame = &self.frames[p];
            let ground = frame.at(0).filter(|&i| frame.lemmas[i].any.is_none());
            all.extend(ground.map(|i| (frame.lemmas[i].level, p, i)));
        }
        all.sort_by_key(|&(level, p, i)| (Reverse(level), Reverse(i), p));
        let proven = all.partition_point(|&(level, ..)| level == INFINITE);
        let frames = all.iter().map(|&(level, predicate, i)| Leveled {
            predicate,
            formula: self.frames[predicate].lemmas[i].clause,
            level,
        });
        let frames = frames.collect();
        let mut lemmas = all
            .into_iter()
            .map(|(_, p, i)| (p, self.frames[p].lemmas[i].clause));
        Lemmas {
            proven: lemmas.by_ref().take(proven).collect(),
            guesses: lemmas.collect(),
            frames,
        }
    }

    /// The formulas without those that the others imply, as far as that is cheap to tell.
    fn irredundant(&self, mut formulas: Vec<TermId>) -> Vec<TermId> {
        if formulas.len() < 2 || formulas.len() > IRREDUNDANT_LIMIT {
            return formulas;
        }
        let mut solver = self.smt.solver();
        // Large ones first: they say least.
        formulas.sort_by_key(|&f| Reverse(self.terms.args(f).len()));
        let mut at = 0;
        while at < formulas.len() && self.cx.stop().is_none() {
            let mut assumptions = formulas.clone();
            assumptions[at] = self.terms.not(formulas[at]);
            match solver.check(&assumptions) {
                SatResult::Unsat => drop(formulas.remove(at)),
                _ => at += 1,
            }
        }
        formulas
    }
}
