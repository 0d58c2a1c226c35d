//! The model made of inductive lemmas, and the lemmas that a search leaves.
//!
//! Invariant: a lemma that is left out of a model is implied by the others of its predicate, or not
//! needed by the proof.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::ids::LemmaId;
use super::levels::{INFINITE, Level};
use super::limits::LIMITS;
use super::search::Search;
use alphorn_chc::PredicateId;
use alphorn_proof::facts::{Lemmas, Leveled};
use alphorn_smt::SatResult;
use alphorn_term::TermId;
use alphorn_witness::Model;

impl Search<'_> {
    /// The interpretation by the lemmas that hold at a level: with the setting `weaken`, by those
    /// that the proof needs, if they are found; without lemmas that others imply.
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

    /// All quantifier-free lemmas, by descending level, the newest first.
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
            candidates: lemmas.collect(),
            frames,
        }
    }

    /// The formulas without those that the others imply; all of them if there are too many.
    fn irredundant(&self, mut formulas: Vec<TermId>) -> Vec<TermId> {
        if formulas.len() < 2 || formulas.len() > LIMITS.irredundant_lemmas {
            return formulas;
        }
        let mut solver = self.smt.solver();
        // Large disjunctions first, since they are the weakest.
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
