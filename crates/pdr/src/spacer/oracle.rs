//! SOLVE: the oracles that decide under-approximations.
//!
//! Invariant: an oracle answers about the system in the question. The loop does not rely on it:
//! ABSTRACT and EXTRACTINVS check its proofs, and REFINE its counterexamples.

use std::rc::Rc;

use super::proof::{ALL, Height, Lemma};
use crate::pdr;
use crate::pdr::Node;
use crate::pdr::bounded::{Bounded, FrameLemma, Memory};
use alphorn_chc::System;
use alphorn_engine::{Engine, EngineError};
use alphorn_proof::facts::Leveled;
use alphorn_smt::Smt;
use alphorn_term::run::Context;
use alphorn_term::run::Reason;
use alphorn_witness::{Refutation, Verdict};

/// An under-approximation of an abstraction.
pub(super) struct Question<'a> {
    /// The clauses; with counters, if these bound it. The systems of one run differ in constraints
    /// only.
    pub system: &'a System,
    /// The bound for the height of derivations; `None` if counters or nothing bound it.
    pub height: Option<Height>,
    /// Whether all assumptions are in force; then a counterexample above the height is accepted,
    /// too.
    pub whole: bool,
    /// Lemmas that hold in the under-approximation.
    pub known: &'a [Lemma],
}

/// The answer of an oracle. Lemmas hold in the under-approximation.
pub(super) enum Solution {
    /// `false` has no derivation; the lemmas are a proof.
    Safe(Vec<Lemma>),
    /// A derivation of `false`, and lemmas that hold nevertheless.
    Unsafe(Refutation, Vec<Lemma>),
    /// The reason, and the lemmas found so far.
    Unknown(Reason, Vec<Lemma>),
}

/// An oracle for SOLVE.
pub(super) trait Solve {
    /// Decides an under-approximation.
    ///
    /// # Errors
    /// A defect of the oracle, or what it does not support.
    fn solve(&mut self, question: &Question, cx: &mut Context) -> Result<Solution, EngineError>;

    /// Passes lemmas of an earlier search, with their levels, to the first question, which has to
    /// prove them. The default ignores them.
    fn resume(&mut self, _earlier: Vec<Leveled>) {}
}

/// `pdr`, which keeps its frames and transition relations from one question to the next. Questions
/// with a bound for heights have separate frames, which stay valid when an abstraction is tried
/// without bounds in between.
pub(super) struct Incremental {
    bounded: Memory,
    unbounded: Memory,
}

impl Incremental {
    /// An oracle that uses the given solver context.
    pub fn new(smt: &Rc<Smt>) -> Self {
        // The loop's lemmas are quantifier-free.
        let options = pdr::Options {
            quantify: false,
            ..pdr::Options::default()
        };
        Incremental {
            bounded: Memory::new(smt.clone(), options.clone()),
            unbounded: Memory::new(smt.clone(), options),
        }
    }
}

impl Solve for Incremental {
    fn resume(&mut self, earlier: Vec<Leveled>) {
        self.bounded.resume(earlier);
    }

    fn solve(&mut self, question: &Question, cx: &mut Context) -> Result<Solution, EngineError> {
        let known: Vec<FrameLemma> = question
            .known
            .iter()
            .map(|lemma| FrameLemma {
                node: lemma.about.map_or(Node::Query, Node::Predicate),
                cube: lemma.cube.clone(),
                height: lemma.height,
            })
            .collect();
        let terms = &question.system.terms;
        let lemmas = |lemmas: Vec<FrameLemma>| -> Vec<Lemma> {
            let each = lemmas.into_iter();
            let about = |node: Node| match node {
                Node::Predicate(predicate) => Some(predicate),
                Node::Query => None,
            };
            each.map(|l| Lemma::new(terms, about(l.node), l.cube, l.height))
                .collect()
        };
        let memory = match question.height {
            Some(_) => &mut self.bounded,
            None => &mut self.unbounded,
        };
        let exact = !question.whole;
        let answer = memory.search(question.system, question.height, exact, &known, cx)?;
        Ok(match answer {
            Bounded::Safe(proof) => Solution::Safe(lemmas(proof)),
            Bounded::Refuted(refutation, known) => Solution::Unsafe(refutation, lemmas(known)),
            Bounded::Stopped(reason, known) => Solution::Unknown(reason, lemmas(known)),
        })
    }
}

/// Any engine, run from scratch for each question. It cannot bound heights.
pub(super) struct FromScratch {
    /// The engine.
    pub engine: Box<dyn Engine>,
}

impl Solve for FromScratch {
    fn solve(&mut self, question: &Question, cx: &mut Context) -> Result<Solution, EngineError> {
        debug_assert!(question.height.is_none());
        let system = question.system;
        let terms = &system.terms;
        Ok(match self.engine.solve(system, cx)? {
            Verdict::Unsat(refutation) => Solution::Unsafe(refutation, Vec::new()),
            Verdict::Unknown(reason) => Solution::Unknown(reason, Vec::new()),
            Verdict::Proven(_) => {
                let reason = Reason::Incomplete("a proof without a model".to_owned());
                Solution::Unknown(reason, Vec::new())
            }
            Verdict::Sat(model) => {
                // The model excludes `false`.
                let mut proof = vec![Lemma::new(terms, None, Vec::new(), ALL)];
                for predicate in system.used_predicates() {
                    let Some(&definition) = model.definitions.get(&predicate) else {
                        continue;
                    };
                    for part in terms.conjuncts(definition) {
                        let literals = terms.disjuncts(part);
                        let cube = literals.iter().map(|&l| terms.not(l)).collect();
                        proof.push(Lemma::new(terms, Some(predicate), cube, ALL));
                    }
                }
                Solution::Safe(proof)
            }
        })
    }
}
