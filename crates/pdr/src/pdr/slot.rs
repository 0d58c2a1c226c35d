//! A body atom in the solver of a transition relation.
//!
//! The `n`-th body atom of a predicate has the same variables in all clauses of a transition
//! relation, a *slot*, so that a lemma is asserted once for all of them. Its literal `used` says
//! that the clause in force has the atom; `must` restricts it to reached facts instead of lemmas.
//!
//! Invariant: lemmas and facts are in force under `used` only, so a slot of clauses that are not in
//! force constrains nothing.

use rustc_hash::FxHashMap;

use super::frame::Frame;
use super::ids::LemmaId;
use super::levels::{Level, Levels};
use alphorn_chc::{PredicateId, System};
use alphorn_term::{SortId, TermId, TermStore};

/// The `n`-th body atom of a predicate, in all clauses that have one.
pub(super) struct Slot {
    pub predicate: PredicateId,
    pub args: Vec<TermId>,
    /// The predicate's formal variables to `args`.
    renaming: FxHashMap<TermId, TermId>,
    memo: FxHashMap<TermId, TermId>,
    pub used: TermId,
    pub must: TermId,
    /// Where facts that come later are linked in.
    pub rest: TermId,
    /// How many of the frame's events are known.
    events: usize,
    /// How many of the frame's indexes were used.
    indexes: usize,
    /// How many of the frame's facts are known.
    facts: usize,
}

impl Slot {
    /// An atom of a predicate, of which nothing is known.
    pub fn new(system: &System, predicate: PredicateId) -> Self {
        let terms = &system.terms;
        let params = &system.predicate(predicate).params;
        let args: Vec<TermId> = params
            .iter()
            .map(|&p| terms.fresh_var(terms.var_name(p), terms.sort_of(p)))
            .collect();
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

    /// A formula about the predicate, about this atom.
    pub fn rename(&mut self, terms: &TermStore, formula: TermId) -> TermId {
        terms.substitute_with(formula, &self.renaming, &mut self.memo)
    }

    /// What the atom's facts say where it is restricted to them.
    pub fn facts_formula(&self, terms: &TermStore) -> TermId {
        terms.or(&[terms.not(self.must), terms.not(self.used), self.rest])
    }

    /// For a solver that knows neither lemmas nor facts.
    pub fn start_anew(&mut self, terms: &TermStore) {
        self.events = 0;
        self.indexes = 0;
        self.facts = 0;
        self.rest = terms.fresh_var("rest", SortId::BOOL);
        self.memo.clear();
    }

    /// All that became known of the predicate since the last time, as formulas for the solver;
    /// lemmas about any index also at the `others`.
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
                // What is new since is added below, at all indexes.
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

    /// What a lemma of the predicate says of this atom: for one about any index, at the frame's
    /// indexes from `known` on; if that is `None`, at all of them, at `others`, and at any.
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

    /// How many of the predicate's facts the slot knows.
    pub fn known_facts(&self) -> usize {
        self.facts
    }
}
