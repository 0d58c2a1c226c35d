//! Levels of lemmas, and the literals by which solvers know them.
//!
//! A level's literal puts the lemmas of that level in force, in all solvers of a search. Where
//! heights are bounded, another literal for each height puts the facts of that height in force.
//!
//! Invariant: a literal that was handed out keeps its meaning as long as the search lasts.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use alphorn_term::{SortId, TermId, TermStore};

/// Height up to which a lemma holds.
pub(super) type Level = u32;

/// The level of lemmas that hold of every derivable fact.
pub(super) const INFINITE: Level = Level::MAX;

/// One literal per level, the same in all solvers.
pub(super) struct Levels {
    terms: Rc<TermStore>,
    literals: Vec<TermId>,
    by_literal: FxHashMap<TermId, Level>,
    /// Whether derivations are to be no higher than levels say.
    bounded: bool,
    /// The literals without which facts of a height are not in force.
    heights: Vec<TermId>,
}

impl Levels {
    pub fn new(terms: Rc<TermStore>) -> Self {
        Levels {
            terms,
            literals: Vec::new(),
            by_literal: FxHashMap::default(),
            bounded: false,
            heights: Vec::new(),
        }
    }

    /// From now on facts count only where their derivations are low enough for the level.
    pub fn bound_heights(&mut self) {
        self.bounded = true;
    }

    /// Up to which height facts count for an obligation of a level, as premises of a step into it.
    pub fn below(&self, level: Level) -> Option<Level> {
        match self.bounded {
            true => level.checked_sub(1),
            false => Some(INFINITE),
        }
    }

    /// Up to which height facts count as reached at a level.
    pub fn reached(&self, level: Level) -> Option<Level> {
        match self.bounded {
            true => Some(level),
            false => Some(INFINITE),
        }
    }

    /// A fact of a height, as it is told to solvers.
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

    /// That facts of greater heights than this do not count; `None` for all facts.
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

    /// The literals of a level and all above.
    pub fn from(&mut self, level: Level) -> &[TermId] {
        if level == INFINITE {
            return &[];
        }
        self.literal(level);
        &self.literals[level as usize..]
    }

    /// The least level whose literal is among these.
    pub fn least(&self, literals: &[TermId]) -> Option<Level> {
        let levels = literals.iter().filter_map(|l| self.by_literal.get(l));
        levels.min().copied()
    }

    /// `lemma`, in force at its level.
    pub fn guard(&mut self, level: Level) -> TermId {
        match level {
            INFINITE => TermId::TRUE,
            _ => self.literal(level),
        }
    }
}
