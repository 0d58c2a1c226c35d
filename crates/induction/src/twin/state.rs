//! What a search leaves for the next one: twins, with the search for a verdict about each.
//!
//! The twin that was the last without a verdict is kept beside the exact one: with more time it may
//! have a verdict, and often it is the easier one.
//!
//! Invariant: the state is used for the clauses that it was made from and no others.

use std::rc::Rc;
use std::time::Duration;

use rustc_hash::FxHashMap;

use super::translate::{Semantics, Twin, translate};
use alphorn_chc::System;
use alphorn_engine::derived::Derived;
use alphorn_proof::{Stop, incomplete};
use alphorn_smt::Smt;
use alphorn_term::run::Context;
use alphorn_transform::{BackTranslations, Pipeline};

/// The passes before the translation.
const BEFORE: &str = "cone,simplify";

/// The state.
pub(super) struct State {
    /// The clauses that the engine was asked about.
    asked: System,
    /// The same after passes, with their back-translations.
    pub bit_vectors: System,
    pub ways: BackTranslations,
    /// The twin in which all clauses are exact.
    pub exact: Twin,
    /// At most two: a twin in which not all clauses are exact, and one in which they are.
    pub levels: Vec<Level>,
    /// The number of searches for a verdict about a twin.
    pub rounds: u64,
}

/// A twin with the search for a verdict about it.
pub(super) struct Level {
    pub twin: Twin,
    /// `None` before the first.
    pub search: Option<Search>,
}

/// Where the turns of engines on a twin stopped.
#[derive(Default)]
pub(super) struct Search {
    /// The twin after passes, with the frames of the last engine.
    pub derived: Option<Derived>,
    /// Whether the costly passes were run.
    pub costly: bool,
    /// The lengths of the last turns, by their places in the schedule.
    pub lengths: FxHashMap<usize, Duration>,
}

impl Search {
    /// Whether a turn had at least half of this length, so that it is not worth repeating.
    pub fn was_about_as_long(&self, at: usize, length: Duration) -> bool {
        let before = self.lengths.get(&at);
        before.is_some_and(|&before| before >= length / 2)
    }
}

impl State {
    /// The state before the first search.
    ///
    /// # Errors
    /// An operator is not supported, or a limit of the run.
    pub fn new(system: &System, cx: &mut Context) -> Result<State, Stop> {
        let mut passes = Pipeline::parse(BEFORE).expect("the list names passes");
        let (bit_vectors, ways) = passes.run(system.clone(), cx);
        let twin = translate(&bit_vectors, Semantics::Free, cx).map_err(incomplete)?;
        let exact = translate(&bit_vectors, Semantics::Exact, cx).map_err(incomplete)?;
        Ok(State {
            asked: system.clone(),
            bit_vectors,
            ways,
            exact,
            levels: vec![Level { twin, search: None }],
            rounds: 0,
        })
    }

    /// Whether it was made from these clauses.
    pub fn is_about(&self, system: &System) -> bool {
        self.asked.is_same(system)
    }
}

impl Level {
    /// Makes clauses exact, so that the search begins anew.
    pub fn sharpen(
        &mut self,
        clauses: impl IntoIterator<Item = usize>,
        exact: &Twin,
        smt: &Rc<Smt>,
    ) {
        for at in clauses {
            self.twin.sharpen(at, exact, smt);
        }
        self.search = None;
    }

    /// The level at which all clauses are exact.
    pub fn sharpened(&self, exact: &Twin, smt: &Rc<Smt>) -> Level {
        let mut level = Level {
            twin: self.twin.clone(),
            search: None,
        };
        level.sharpen(0..exact.exact_clauses.len(), exact, smt);
        level
    }
}
