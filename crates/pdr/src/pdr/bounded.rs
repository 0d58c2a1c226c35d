//! The search as an oracle of another loop: up to a height, from lemmas that are known to hold, and
//! again after the constraints have changed.
//!
//! This is SOLVE of Komuravelli, Gurfinkel, Chaki, Clarke, "Automatic abstraction in SMT-based
//! unbounded software model checking" (CAV 2013), section 4, with the tight integration that
//! section 5 asks for.
//!
//! Invariant: after a change of constraints the frames have only the lemmas that the caller passes
//! as known, and no facts.

use std::rc::Rc;

use super::array_indexes::AnyIndexes;
use super::ids::{Node, NodeMap};
use super::levels::{INFINITE, Level};
use super::options::Options;
use super::search::{Parts, Search};
use alphorn_chc::System;
use alphorn_engine::EngineError;
use alphorn_proof::facts::Leveled;
use alphorn_proof::{Stop, incomplete};
use alphorn_smt::Smt;
use alphorn_term::TermId;
use alphorn_term::run::Context;
use alphorn_term::run::Reason;
use alphorn_witness::Refutation;

/// The height of lemmas that hold of every fact.
pub const UNBOUNDED: Level = INFINITE;

/// A lemma of a frame, for the caller.
#[derive(Clone, Debug)]
pub struct FrameLemma {
    /// The predicate, or the query.
    pub node: Node,
    /// The excluded states: literals over the predicate's formal variables.
    pub cube: Vec<TermId>,
    /// The height of derivations up to whose facts it holds.
    pub height: Level,
}

/// The answer of a search.
pub enum Bounded {
    /// `false` has no derivation of at most the height. The lemmas prove it: those of a height hold
    /// of all facts that clauses derive from facts that satisfy those of the height below.
    Safe(Vec<FrameLemma>),
    /// A derivation, and lemmas that hold nevertheless.
    Refuted(Refutation, Vec<FrameLemma>),
    /// The limit that was reached, and the lemmas found so far.
    Stopped(Reason, Vec<FrameLemma>),
}

/// The state that searches share, one after the other.
pub struct Memory {
    /// The solver context.
    smt: Rc<Smt>,
    /// The settings of all searches.
    options: Options,
    /// The parts of the last search, with the constraints of its clauses.
    last: Option<(Parts, Vec<TermId>)>,
    /// Lemmas of an earlier search, for the first search to confirm.
    earlier: Vec<Leveled>,
}

impl Memory {
    /// No lemmas and facts.
    pub fn new(smt: Rc<Smt>, options: Options) -> Self {
        Memory {
            smt,
            options,
            last: None,
            earlier: Vec::new(),
        }
    }

    /// Lets the first search begin with those of these lemmas that it can prove.
    pub fn resume(&mut self, earlier: Vec<Leveled>) {
        self.earlier = earlier;
    }

    /// Searches for a derivation of `false`: of at most `height`, or of any height until lemmas are
    /// inductive (`None`). If not `exact`, a higher derivation is an answer, too. `known` are
    /// lemmas that hold of the facts of at most their heights. Systems of one memory differ in
    /// their constraints only; while these stay the same, all lemmas and facts are kept.
    ///
    /// # Errors
    /// A defect, or a model of the oracle that cannot be read.
    pub fn search(
        &mut self,
        system: &System,
        height: Option<Level>,
        exact: bool,
        known: &[FrameLemma],
        cx: &mut Context,
    ) -> Result<Bounded, EngineError> {
        let constraints: Vec<TermId> = system.clauses.iter().map(|c| c.constraint).collect();
        let parts = match self.last.take() {
            Some((parts, before)) if before == constraints => parts,
            Some((mut parts, before)) => {
                renew(&mut parts, system, &before, known);
                parts
            }
            None => Parts::new(&self.smt, system, &self.options, &mut AnyIndexes::default()),
        };
        let options = self.options.clone();
        let mut search = Search::from_parts(self.smt.clone(), system, options, cx, parts);
        let resumed = search.resume(&std::mem::take(&mut self.earlier));
        search.add_known(known);
        if height.is_some() && exact {
            search.levels.bound_heights();
        }
        let outcome = resumed.and_then(|()| match height {
            Some(height) => search.run_up_to(height),
            None => search.run_to_the_end(),
        });
        search.record_statistics();
        let lemmas = search.lemmas(0);
        let parts = Parts {
            levels: search.levels,
            transitions: search.transitions,
            frames: search.frames,
        };
        self.last = Some((parts, constraints));
        match outcome {
            Ok(bounded) => Ok(bounded),
            Err(Stop::Reason(reason)) => Ok(Bounded::Stopped(reason, lemmas)),
            Err(Stop::Failure(failure)) => Err(failure.into()),
        }
    }
}

/// Replaces the constraints that have changed, and drops all facts and all lemmas but `known`.
fn renew(parts: &mut Parts, system: &System, before: &[TermId], known: &[FrameLemma]) {
    let changed = |c: usize| before.get(c) != Some(&system.clauses[c].constraint);
    for transition in parts.transitions.iter_mut().filter_map(|(_, t)| t.as_mut()) {
        transition.renew(system, changed);
    }
    let mut kept = NodeMap::new(system, |_| Vec::new());
    for lemma in known {
        let mut cube = lemma.cube.clone();
        cube.sort_unstable();
        cube.dedup();
        kept[lemma.node].push((cube.into_boxed_slice(), lemma.height));
    }
    for (node, frame) in parts.frames.iter_mut() {
        frame.renew(&system.terms, &kept[node]);
    }
}

impl Search<'_> {
    /// Adds lemmas that hold.
    fn add_known(&mut self, known: &[FrameLemma]) {
        for lemma in known {
            let frame = &mut self.frames[lemma.node];
            frame.add(&self.terms, &lemma.cube, lemma.height);
        }
    }

    /// Blocks the query up to a height; does not test whether lemmas are inductive.
    fn run_up_to(&mut self, height: Level) -> Result<Bounded, Stop> {
        // The level up to which known lemmas already block the query.
        let known = self.frames[Node::Query].at(0);
        let known = known
            .map(|l| self.frames[Node::Query].lemmas[l].level)
            .max();
        let mut bound = known.map_or(0, |known| known.min(height));
        let root = self.add_root(bound);
        loop {
            if let Some(refutation) = self.block(root, bound)? {
                return Ok(Bounded::Refuted(refutation, self.lemmas(0)));
            }
            if bound == height {
                // Lemmas that are inductive are pushed to the last level.
                if let Some(below) = bound.checked_sub(1) {
                    self.propagate(below)?;
                }
                return Ok(Bounded::Safe(self.lemmas(0)));
            }
            self.propagate(bound)?;
            bound += 1;
        }
    }

    /// Searches until there is a refutation or an inductive set of lemmas that excludes `false`.
    fn run_to_the_end(&mut self) -> Result<Bounded, Stop> {
        let root = self.add_root(0);
        for bound in 0.. {
            if let Some(refutation) = self.block(root, bound)? {
                return Ok(Bounded::Refuted(refutation, self.lemmas(0)));
            }
            if let Some(level) = self.propagate(bound)? {
                let mut lemmas = self.lemmas(level);
                for lemma in &mut lemmas {
                    lemma.height = UNBOUNDED;
                }
                return Ok(Bounded::Safe(lemmas));
            }
        }
        Err(incomplete("no level is left"))
    }

    /// The active lemmas that hold at a level.
    fn lemmas(&self, level: Level) -> Vec<FrameLemma> {
        let mut lemmas = Vec::new();
        for (node, frame) in self.frames.iter() {
            lemmas.extend(frame.at(level).map(|l| FrameLemma {
                node,
                cube: frame.lemmas[l].cube.to_vec(),
                height: frame.lemmas[l].level,
            }));
        }
        lemmas
    }
}
