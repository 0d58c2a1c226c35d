//! The search as an oracle for others: up to a height, from lemmas that hold already, with what
//! the frames learned handed back, and once more when the constraints have changed.
//!
//! This is the SOLVE of Komuravelli, Gurfinkel, Chaki, Clarke, "Automatic abstraction in SMT-based
//! unbounded software model checking" (CAV 2013), section 4, tightly integrated, as their section 5
//! wishes it.
//!
//! Invariant: once a constraint has changed, the only lemmas left are those that the caller said to
//! hold, and no fact is left.

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

/// A lemma of a frame, for others.
#[derive(Clone, Debug)]
pub struct FrameLemma {
    /// What it is about.
    pub node: Node,
    /// What the lemma excludes, over the predicate's formal variables.
    pub cube: Vec<TermId>,
    /// It holds of facts with derivations of at most this height.
    pub height: Level,
}

/// How a search ended.
pub enum Bounded {
    /// `false` has no derivation of at most the height. The lemmas prove it: those of a height hold
    /// of what clauses derive from facts of which those of the height below hold.
    Safe(Vec<FrameLemma>),
    /// A derivation, and the lemmas that hold all the same.
    Refuted(Refutation, Vec<FrameLemma>),
    /// A limit was reached. The lemmas found so far hold.
    Stopped(Reason, Vec<FrameLemma>),
}

/// What searches have in common, one after the other.
pub struct Memory {
    smt: Rc<Smt>,
    options: Options,
    /// What the last search left, and the constraints that it had, by clause.
    last: Option<(Parts, Vec<TermId>)>,
    /// What the first search begins with.
    earlier: Vec<Leveled>,
}

impl Memory {
    /// Nothing learned yet.
    pub fn new(smt: Rc<Smt>, options: Options) -> Self {
        Memory {
            smt,
            options,
            last: None,
            earlier: Vec::new(),
        }
    }

    /// Lets the first search begin with what holds of these claims.
    pub fn resume(&mut self, earlier: Vec<Leveled>) {
        self.earlier = earlier;
    }

    /// Searches for a derivation of `false`: of any height, until lemmas are inductive, or of at
    /// most `height`; if not `exact`, a higher one will do when it comes first. `known` are lemmas
    /// that hold, of facts of at most their heights. Systems of one memory differ in their
    /// constraints only; while these stay the same, everything that was learned before is kept.
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

/// Takes over the constraints that have changed, and keeps the known lemmas only, and no facts.
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
    fn add_known(&mut self, known: &[FrameLemma]) {
        for lemma in known {
            let frame = &mut self.frames[lemma.node];
            frame.add(&self.terms, &lemma.cube, lemma.height);
        }
    }

    /// Blocks the query up to a height. Whether lemmas are inductive is not looked at.
    fn run_up_to(&mut self, height: Level) -> Result<Bounded, Stop> {
        // Up to here the query is known to be blocked.
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
                // What is inductive gets to the last level.
                if let Some(below) = bound.checked_sub(1) {
                    self.propagate(below)?;
                }
                return Ok(Bounded::Safe(self.lemmas(0)));
            }
            self.propagate(bound)?;
            bound += 1;
        }
    }

    /// Searches until there is a refutation or an inductive set of lemmas.
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

    /// The lemmas that hold at a level.
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
