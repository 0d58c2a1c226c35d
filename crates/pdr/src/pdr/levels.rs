//! Levels of lemmas, and the literals for them in solvers.
//!
//! The literal of a level puts the lemmas of that level in force, in all solvers of a search. Where
//! heights are bounded, a literal for each height puts the facts of that height in force.
//!
//! Invariant: the meaning of a literal does not change during the search.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use alphorn_term::{SortId, TermId, TermStore};

/// A level: the height of derivations up to whose facts a lemma holds.
pub(super) type Level = u32;

/// The level of lemmas that hold of every derivable fact.
pub(super) const INFINITE: Level = Level::MAX;

/// The literals of levels and heights, the same in all solvers of a search.
pub(super) struct Levels {
    terms: Rc<TermStore>,
    /// The literal of each finite level.
    literals: Vec<TermId>,
    /// The level of each literal.
    by_literal: FxHashMap<TermId, Level>,
    /// Whether facts count only up to the height of a level.
    bounded: bool,
    /// For each height, the literal that puts its facts in force.
    heights: Vec<TermId>,
}

impl Levels {
    /// No literals; heights are not bounded.
    pub fn new(terms: Rc<TermStore>) -> Self {
        Levels {
            terms,
            literals: Vec::new(),
            by_literal: FxHashMap::default(),
            bounded: false,
            heights: Vec::new(),
        }
    }

    /// From now on facts count only up to the height of a level.
    pub fn bound_heights(&mut self) {
        self.bounded = true;
    }

    /// The height up to which facts count as premises of a step into an obligation of a level;
    /// `None` for no facts.
    pub fn below(&self, level: Level) -> Option<Level> {
        match self.bounded {
            true => level.checked_sub(1),
            false => Some(INFINITE),
        }
    }

    /// The height up to which facts count as reached at a level.
    pub fn reached(&self, level: Level) -> Option<Level> {
        match self.bounded {
            true => Some(level),
            false => Some(INFINITE),
        }
    }

    /// A fact of a height as asserted in solvers: with the literal of its height, if heights are
    /// bounded.
    pub fn fact(&mut self, formula: TermId, height: Level) -> TermId {
        if !self.bounded {
            return formula;
        }
        while self.heights.len() <= height as usize {
            self.heights
                .push(self.terms.fresh_var("height", SortId::BOOL));
        }
        self.terms.and(&[formula, self.heights[height as usize]])
    }

    /// Assumptions that facts above this height are not in force; `None`: that no facts are.
    pub fn at_most(&self, height: Option<Level>) -> Vec<TermId> {
        let first = match height {
            Some(INFINITE) => return Vec::new(),
            Some(height) => height as usize + 1,
            None => 0,
        };
        let too_high = self.heights.iter().skip(first);
        too_high.map(|&h| self.terms.not(h)).collect()
    }

    /// The literal of a level.
    pub fn literal(&mut self, level: Level) -> TermId {
        while self.literals.len() <= level as usize {
            let literal = self.terms.fresh_var("level", SortId::BOOL);
            let level = self.literals.len() as Level;
            self.by_literal.insert(literal, level);
            self.literals.push(literal);
        }
        self.literals[level as usize]
    }

    /// The literals of a level and all higher ones that have one; none for the infinite level.
    pub fn from(&mut self, level: Level) -> &[TermId] {
        if level == INFINITE {
            return &[];
        }
        self.literal(level);
        &self.literals[level as usize..]
    }

    /// The least level whose literal is among the given ones.
    pub fn least(&self, literals: &[TermId]) -> Option<Level> {
        let levels = literals.iter().filter_map(|l| self.by_literal.get(l));
        levels.min().copied()
    }

    /// The literal that puts lemmas of a level in force; `true` for the infinite level.
    pub fn guard(&mut self, level: Level) -> TermId {
        match level {
            INFINITE => TermId::TRUE,
            _ => self.literal(level),
        }
    }
}
