//! SOLVE: whoever decides under-approximations.
//!
//! Invariant: what an oracle says is a part of the loop's work and not its result. Its proofs are
//! checked by ABSTRACT and EXTRACTINVS and its refutations by REFINE; nothing is believed.

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
    /// With counters, if those bound it. All questions of one run differ in constraints only.
    pub system: &'a System,
    /// Otherwise the height of derivations.
    pub height: Option<Height>,
    /// Whether nothing is abstracted from: then a counterexample of any height is welcome.
    pub whole: bool,
    /// Lemmas that hold in it.
    pub known: &'a [Lemma],
}

/// What an oracle says.
pub(super) enum Solution {
    /// A proof.
    Safe(Vec<Lemma>),
    /// A derivation, and lemmas that hold although.
    Unsafe(Refutation, Vec<Lemma>),
    /// With lemmas that hold.
    Unknown(Reason, Vec<Lemma>),
}

/// An oracle.
pub(super) trait Solve {
    /// Decides an under-approximation.
    ///
    /// # Errors
    /// A defect of the oracle.
    fn solve(&mut self, question: &Question, cx: &mut Context) -> Result<Solution, EngineError>;

    /// Hands over what an earlier search left, as claims for the first question. Oracles without
    /// levels ignore it.
    fn resume(&mut self, _earlier: Vec<Leveled>) {}
}

/// `pdr`, with its frames and transition relations kept from one question to the next. Questions
/// with a bound for heights have frames of their own, for these stay valid when an abstraction is
/// tried without bounds in between.
pub(super) struct Incremental {
    bounded: Memory,
    unbounded: Memory,
}

impl Incremental {
    /// An oracle that asks the given solver.
    pub fn new(smt: &Rc<Smt>) -> Self {
        // Quantified lemmas are no literals that an assumption could stand for.
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

/// Any engine, asked each time from nothing. Cannot bound heights.
pub(super) struct FromNothing {
    pub engine: Box<dyn Engine>,
}

impl Solve for FromNothing {
    fn solve(&mut self, question: &Question, cx: &mut Context) -> Result<Solution, EngineError> {
        debug_assert!(question.height.is_none());
        let system = question.system;
        let terms = &system.terms;
        Ok(match self.engine.solve(system, cx)? {
            Verdict::Unsat(refutation) => Solution::Unsafe(refutation, Vec::new()),
            Verdict::Unknown(reason) => Solution::Unknown(reason, Vec::new()),
            Verdict::Sat(model) => {
                // `false` is excluded by what the others say.
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
