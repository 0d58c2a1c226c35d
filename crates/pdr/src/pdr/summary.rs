//! The frame of a predicate in incremental solvers, over its formal variables: whether a cube is
//! already blocked or reached.
//!
//! Invariant: a solver contains each lemma under the literal of its level; another one contains the
//! facts as one disjunction.

use std::rc::Rc;

use super::frame::Frame;
use super::ids::LemmaId;
use super::levels::{INFINITE, Level, Levels};
use alphorn_smt::{SatResult, Smt, Solver};
use alphorn_term::{SortId, TermId, TermStore};

/// What lemmas and facts say about a cube.
pub(super) enum Known {
    /// The cube contains a state of a reached fact.
    Reached,
    /// Lemmas exclude the cube up to this level.
    Blocked(Level),
    /// Neither.
    Open,
    /// The solver's reason.
    Unknown(String),
}

/// Solvers with the lemmas and the facts of one predicate.
pub(super) struct Summary {
    terms: Rc<TermStore>,
    lemmas: Solver,
    facts: Solver,
    /// The last disjunct of the facts, which stands for later ones.
    rest: TermId,
    /// The number of events of the frame that are asserted.
    events: usize,
    /// The number of indexes at which lemmas about any index are asserted.
    indexes: usize,
    /// The number of facts of the frame that are asserted.
    known_facts: usize,
}

impl Summary {
    /// Solvers without lemmas and facts.
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

    /// Whether the cube is reached or blocked at `level`, after asserting new lemmas and facts of
    /// the frame.
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
