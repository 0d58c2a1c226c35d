//! Lemmas and facts of one predicate over its formal variables, in an incremental solver: is an
//! obligation blocked already, or reached already?
//!
//! Invariant: the solver holds each lemma under its level's literal and the facts as one
//! disjunction that is in force only when asked for.

use std::rc::Rc;

use super::frame::Frame;
use super::ids::LemmaId;
use super::levels::{INFINITE, Level, Levels};
use alphorn_smt::{SatResult, Smt, Solver};
use alphorn_term::{SortId, TermId, TermStore};

/// What is known about an obligation without looking at clauses.
pub(super) enum Known {
    /// Its cube meets a reached fact.
    Reached,
    /// Lemmas exclude it up to this level.
    Blocked(Level),
    Open,
    /// The oracle's reason.
    Unknown(String),
}

/// The lemmas and facts of one predicate, for queries.
pub(super) struct Summary {
    terms: Rc<TermStore>,
    lemmas: Solver,
    facts: Solver,
    /// Where facts that come later are linked in.
    rest: TermId,
    /// How many of the frame's events, indexes and facts are known.
    events: usize,
    indexes: usize,
    known_facts: usize,
}

impl Summary {
    /// Nothing is known.
    pub fn new(terms: &Rc<TermStore>, smt: &Rc<Smt>) -> Self {
        let rest = terms.fresh_var("rest", SortId::BOOL);
        let mut facts = smt.solver();
        facts.assert(rest);
        Summary {
            terms: terms.clone(),
            lemmas: smt.solver(),
            facts,
            rest,
            events: 0,
            indexes: 0,
            known_facts: 0,
        }
    }

    /// Whether the cube is reached, or blocked at `level`.
    pub fn look_up(
        &mut self,
        cube: &[TermId],
        level: Level,
        frame: &Frame,
        levels: &mut Levels,
    ) -> Known {
        let terms = self.terms.clone();
        for fact in frame.facts.since(self.known_facts) {
            let rest = terms.fresh_var("rest", SortId::BOOL);
            let formula = levels.fact(fact.formula, fact.height);
            let link = terms.or(&[terms.not(self.rest), formula, rest]);
            self.facts.assert(link);
            self.rest = rest;
        }
        self.known_facts = frame.facts.len();
        if !frame.facts.is_empty() {
            let mut assumptions = vec![terms.not(self.rest)];
            assumptions.extend(cube);
            assumptions.extend(levels.at_most(levels.reached(level)));
            match self.facts.check(&assumptions) {
                SatResult::Sat => return Known::Reached,
                SatResult::Unsat => {}
                SatResult::Unknown(why) => return Known::Unknown(why),
            }
        }
        let known = self.indexes;
        let mut add = |lemma: LemmaId, at: Level, known: usize| {
            let guard = terms.not(levels.guard(at));
            for clause in frame.instances(&terms, lemma, &frame.indexes[known..]) {
                self.lemmas.assert(terms.or(&[guard, clause]));
            }
        };
        if known < frame.indexes.len() {
            for lemma in frame.at(0).filter(|&l| frame.lemmas[l].any.is_some()) {
                add(lemma, frame.lemmas[lemma].level, known);
            }
        }
        for &(lemma, at) in &frame.events[self.events..] {
            add(lemma, at, 0);
        }
        self.indexes = frame.indexes.len();
        self.events = frame.events.len();
        let mut assumptions = cube.to_vec();
        assumptions.extend(levels.from(level));
        match self.lemmas.check(&assumptions) {
            SatResult::Sat => Known::Open,
            SatResult::Unsat => {
                let core = self.lemmas.core();
                Known::Blocked(levels.least(&core).unwrap_or(INFINITE))
            }
            SatResult::Unknown(why) => Known::Unknown(why),
        }
    }
}
