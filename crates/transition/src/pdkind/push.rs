//! `Push` of the paper: which lemmas of an induction frame hold for further steps.
//!
//! Invariant: all formulas of the frame hold of all states within the frame's steps from facts.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::chain::Link;
use super::frames::{Frames, Reached};
use super::limits::LIMITS;
use super::runs::Runs;
use alphorn_chc::{PredicateId, System};
use alphorn_proof::Stop;
use alphorn_proof::steps::Steps;
use alphorn_smt::Smt;
use alphorn_term::TermId;
use alphorn_term::run::Context;

/// A lemma of an induction frame.
pub(super) struct Element {
    /// Its predicate.
    pub predicate: PredicateId,
    /// The lemma over the formal variables.
    pub lemma: TermId,
    /// The counterexample that the lemma excludes; `None` for a lemma that only supports others.
    pub counterexample: Option<Rc<Link>>,
    /// The priority, which decreases with each refinement.
    pub score: f64,
}

/// The result of `Push`.
pub(super) enum Pushed {
    /// An entry clause into a cube from which a chain leads to a query.
    Refuted { entry: usize, first: Rc<Link> },
    /// The whole frame is k-inductive.
    Inductive(Vec<Element>),
    /// The next frame, and the number of steps within which it holds.
    Next(Vec<Element>, usize),
}

/// The parameters of `Push`.
pub(super) struct Push<'a> {
    /// The clauses.
    pub system: &'a System,
    /// Their steps, backward.
    pub reversed: &'a Steps,
    /// The solver context.
    pub smt: &'a Rc<Smt>,
    /// The number of steps of the induction, at most `n + 1`.
    pub k: usize,
    /// The number of steps within which all states satisfy the frame.
    pub n: usize,
}

impl Push<'_> {
    /// Pushes a frame, which has no lemma about a predicate twice.
    ///
    /// # Errors
    /// A limit of the run, or a failure.
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
                    // The lemma may fail right after the frame's steps; the negation of the
                    // counterexample replaces it.
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
                    element.score *= LIMITS.score_decay;
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
            element.score += (1.0 - element.score) * LIMITS.score_recovery;
        }
        Ok(match complete {
            true => Pushed::Inductive(pushed),
            false => Pushed::Next(pushed, next),
        })
    }
}

/// The position of the element with the highest score.
fn best(queue: &[Element]) -> Option<usize> {
    let by_score = |&a: &usize, &b: &usize| queue[a].score.total_cmp(&queue[b].score);
    (0..queue.len()).rev().max_by(by_score)
}
