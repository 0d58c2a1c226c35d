//! The induction frame, and what of it is pushed to further steps.
//!
//! Invariant: all formulas of the frame hold of all states within the frame's steps from facts.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::chain::Link;
use super::frames::{Frames, Reached};
use super::runs::Runs;
use alphorn_chc::{PredicateId, System};
use alphorn_proof::Stop;
use alphorn_proof::steps::Steps;
use alphorn_smt::Smt;
use alphorn_term::TermId;
use alphorn_term::run::Context;

/// What a refinement takes of an element's score, and how far the score comes back with each frame.
const REFINED: f64 = 0.9;
const RECOVERED: f64 = 0.5;

/// Something that holds, and why it is wanted.
pub(super) struct Element {
    pub predicate: PredicateId,
    /// Over the formal variables.
    pub lemma: TermId,
    /// A way to a query that the lemma excludes; without it, it only helps others.
    pub counterexample: Option<Rc<Link>>,
    /// The lower, the more often it was refined.
    pub score: f64,
}

/// What became of a frame.
pub(super) enum Pushed {
    /// An entry into a cube from which a chain leads to a query.
    Refuted { entry: usize, first: Rc<Link> },
    /// All of it is inductive over the steps of the induction.
    Inductive(Vec<Element>),
    /// The next frame, and the steps within which it holds.
    Next(Vec<Element>, usize),
}

/// See the module.
pub(super) struct Push<'a> {
    pub system: &'a System,
    pub reversed: &'a Steps,
    pub smt: &'a Rc<Smt>,
    /// Steps of the induction, at most one more than those within which the frame holds.
    pub k: usize,
    /// All states within so many steps satisfy the frame.
    pub n: usize,
}

impl Push<'_> {
    /// `Push` of the paper.
    pub fn run(
        &self,
        frame: Vec<Element>,
        frames: &mut Frames<'_>,
        cx: &Context,
    ) -> Result<Pushed, Stop> {
        let terms = &self.system.terms;
        let mut known: Vec<(PredicateId, TermId)> =
            frame.iter().map(|e| (e.predicate, e.lemma)).collect();
        let mut queue = frame;
        let mut pushed: Vec<Element> = Vec::new();
        let mut runs: FxHashMap<PredicateId, Runs<'_>> = FxHashMap::default();
        let mut next = self.n + self.k;
        while let Some(at) = best(&queue) {
            let mut element = queue.swap_remove(at);
            let predicate = element.predicate;
            let runs = runs.entry(predicate).or_insert_with(|| {
                Runs::new(self.system, self.reversed, predicate, self.k, self.smt)
            });
            let violation = [terms.not(element.lemma)];
            let Some(start) = runs.start(&violation, &known, None, cx)? else {
                pushed.push(element);
                continue;
            };
            let mut cause = None;
            if let Some(link) = &element.counterexample
                && let Some(first) = runs.start(&link.cube, &known, Some(link), cx)?
            {
                cause = Some(first);
            }
            let real = cause.is_some();
            let start = cause.unwrap_or(start);
            match frames.reach(start.clone(), self.n, cx)? {
                Reached::Yes { entry, first } if real => {
                    return Ok(Pushed::Refuted { entry, first });
                }
                Reached::Yes { .. } => {
                    // The lemma fails right after the frame's steps, as far as is known; that the
                    // counterexample is excluded goes on.
                    next = self.n + 1;
                    if let Some(link) = element.counterexample {
                        let excluded = terms.not(terms.and(&link.cube));
                        element.lemma = excluded;
                        element.counterexample = Some(link);
                        pushed.push(element);
                    }
                }
                Reached::No { lemma } => {
                    known.push((start.predicate, lemma));
                    element.score *= REFINED;
                    queue.push(element);
                    queue.push(Element {
                        predicate: start.predicate,
                        lemma,
                        counterexample: real.then_some(start),
                        score: 1.0,
                    });
                }
            }
        }
        let mut complete = known.len() == pushed.len();
        let mut left: rustc_hash::FxHashSet<(PredicateId, TermId)> = known.into_iter().collect();
        for element in &mut pushed {
            complete &= left.remove(&(element.predicate, element.lemma));
            element.score += (1.0 - element.score) * RECOVERED;
        }
        Ok(match complete {
            true => Pushed::Inductive(pushed),
            false => Pushed::Next(pushed, next),
        })
    }
}

/// The element to look at next.
fn best(queue: &[Element]) -> Option<usize> {
    let by_score = |&a: &usize, &b: &usize| queue[a].score.total_cmp(&queue[b].score);
    (0..queue.len()).rev().max_by(by_score)
}
