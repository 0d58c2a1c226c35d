//! A body atom in the solver of a transition relation.
//!
//! The `n`-th body atom of a predicate has the same variables in all clauses of a transition
//! relation, a *slot*, so that a lemma is asserted once for all of them. Its literal `used` says
//! that the clause in force has the atom; `must` restricts it to reached facts instead of lemmas.
//!
//! Invariant: lemmas and facts are in force only under `used`, so a slot that the clause in force
//! does not have is unconstrained.

use rustc_hash::FxHashMap;

use super::frame::Frame;
use super::ids::LemmaId;
use super::levels::{Level, Levels};
use alphorn_chc::{PredicateId, System};
use alphorn_term::{SortId, TermId, TermStore};

/// The `n`-th body atom of a predicate, in all clauses that have one.
pub(super) struct Slot {
    /// The predicate.
    pub predicate: PredicateId,
    /// The variables that are the atom's arguments.
    pub args: Vec<TermId>,
    /// Maps the predicate's formal variables to `args`.
    renaming: FxHashMap<TermId, TermId>,
    /// Formulas that were renamed.
    memo: FxHashMap<TermId, TermId>,
    /// The literal that the clause in force has the atom.
    pub used: TermId,
    /// The literal that restricts the atom to reached facts.
    pub must: TermId,
    /// The last disjunct of the facts, which stands for later ones.
    pub rest: TermId,
    /// The number of events of the frame that are asserted.
    events: usize,
    /// The number of indexes of the frame at which lemmas about any index are asserted.
    indexes: usize,
    /// The number of facts of the frame that are asserted.
    facts: usize,
}

impl Slot {
    /// An atom of a predicate, without lemmas and facts.
    pub fn new(system: &System, predicate: PredicateId) -> Self {
        let terms = &system.terms;
        let params = &system.predicate(predicate).params;
        let args: Vec<TermId> = params.iter().map(|&p| terms.fresh_copy(p)).collect();
        let literal = |name| terms.fresh_var(name, SortId::BOOL);
        Slot {
            predicate,
            renaming: params.iter().copied().zip(args.iter().copied()).collect(),
            memo: FxHashMap::default(),
            args,
            used: literal("used"),
            must: literal("must"),
            rest: literal("rest"),
            events: 0,
            indexes: 0,
            facts: 0,
        }
    }

    /// A formula over the predicate's formal variables, over the arguments of the atom.
    pub fn rename(&mut self, terms: &TermStore, formula: TermId) -> TermId {
        terms.substitute_with(formula, &self.renaming, &mut self.memo)
    }

    /// The formula that the atom is in its facts if it is restricted to them.
    pub fn facts_formula(&self, terms: &TermStore) -> TermId {
        terms.or(&[terms.not(self.must), terms.not(self.used), self.rest])
    }

    /// Prepares for a new solver without lemmas and facts.
    pub fn start_anew(&mut self, terms: &TermStore) {
        self.events = 0;
        self.indexes = 0;
        self.facts = 0;
        self.rest = terms.fresh_var("rest", SortId::BOOL);
        self.memo.clear();
    }

    /// The formulas of lemmas and facts that the frame got since the last time; of lemmas about any
    /// index also the instances at `others`.
    pub fn catch_up(
        &mut self,
        terms: &TermStore,
        frame: &Frame,
        others: &[TermId],
        levels: &mut Levels,
    ) -> Vec<TermId> {
        let mut formulas = Vec::new();
        let unused = terms.or(&[terms.not(self.used), self.must]);
        let mut add = |slot: &mut Slot, lemma: LemmaId, level: Level, known: Option<usize>| {
            let idle = terms.not(levels.guard(level));
            for clause in slot.instances(terms, frame, lemma, others, known) {
                formulas.push(terms.or(&[unused, idle, clause]));
            }
        };
        let known = self.indexes;
        if self.events > 0 && known < frame.indexes.len() {
            for lemma in frame.at(0).filter(|&l| frame.lemmas[l].any.is_some()) {
                // Lemmas that are new are added below, at all indexes.
                add(self, lemma, frame.lemmas[lemma].level, Some(known));
            }
        }
        self.indexes = frame.indexes.len();
        if self.events == 0 {
            for lemma in frame.at(0) {
                add(self, lemma, frame.lemmas[lemma].level, None);
            }
        } else {
            for &(lemma, level) in &frame.events[self.events..] {
                add(self, lemma, level, None);
            }
        }
        self.events = frame.events.len();
        for fact in frame.facts.since(self.facts) {
            let rest = terms.fresh_var("rest", SortId::BOOL);
            let formula = self.rename(terms, fact.formula);
            let formula = levels.fact(formula, fact.height);
            formulas.push(terms.or(&[terms.not(self.rest), formula, rest]));
            self.rest = rest;
        }
        self.facts = frame.facts.len();
        formulas
    }

    /// A lemma of the predicate over the arguments of the atom. Of a lemma about any index: the
    /// instances at the frame's indexes from `known` on; if that is `None`, at all of them, at
    /// `others`, and at the variable for any index.
    pub fn instances(
        &mut self,
        terms: &TermStore,
        frame: &Frame,
        lemma: LemmaId,
        others: &[TermId],
        known: Option<usize>,
    ) -> Vec<TermId> {
        let mut instances = frame.instances(terms, lemma, &frame.indexes[known.unwrap_or(0)..]);
        for instance in &mut instances {
            *instance = self.rename(terms, *instance);
        }
        if let Some(any) = frame.lemmas[lemma].any
            && known.is_none()
        {
            let clause = self.rename(terms, frame.lemmas[lemma].clause);
            let sort = terms.sort_of(any);
            let fitting = others.iter().filter(|&&i| terms.sort_of(i) == sort);
            instances.extend(fitting.map(|&index| {
                let map = std::iter::once((any, index)).collect();
                terms.substitute(clause, &map)
            }));
            instances.push(clause);
        }
        instances
    }

    /// The number of the predicate's facts that are asserted.
    pub fn known_facts(&self) -> usize {
        self.facts
    }
}
