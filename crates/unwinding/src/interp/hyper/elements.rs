//! What is known of a node before it is refined: an element of an abstract domain, and those of the
//! lemmas about its predicate, from whichever labels, that hold of it.
//!
//! An element is the post of the elements, labels and lemmas of the premises, and, from the third
//! node of one predicate within another on, widened. A lemma is asked for at each node once, with all
//! others that are new: that costs a query or two, where an interpolant that says the same again
//! costs hundreds. Nothing of it is in a label before it is needed (`exclude`): what is not needed
//! would only keep nodes from being covered.
//!
//! Invariant: what is known of a node follows by its clause from what is known of its premises.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::NodeId;
use alphorn_chc::System;
use alphorn_domain::catalogue::{Catalogue, Parameters};
use alphorn_domain::{Domain, Erased, ErasedElement};
use alphorn_proof::Stop;
use alphorn_proof::posts::{Posts, Premise, Source};
use alphorn_smt::Smt;
use alphorn_term::run::{Budget, Context};
use alphorn_term::{TermId, TermStore};

/// Paths of one clause from one element, at most.
const PATHS: usize = 100;

/// Nodes of one predicate, one in another, before one is widened.
pub(super) const DELAY: usize = 2;

/// See the module.
pub(super) struct Elements<'a> {
    domain: &'a Erased,
    posts: Posts<'a, Erased>,
    known: FxHashMap<NodeId, Known>,
    /// How often a node was described anew.
    stamp: u64,
}

/// What is known of a node.
struct Known {
    /// What it is made of: by premise the stamp and the label.
    of: Vec<(u64, TermId)>,
    stamp: u64,
    element: ErasedElement,
    /// What of the vocabulary of its location holds,
    lemmas: Vec<TermId>,
    /// and how much of it was looked at.
    seen: usize,
}

/// How a node is made.
pub(super) struct Making<'m> {
    /// The clause that derives it, by number in the system,
    pub clause: usize,
    /// and by body atom the node and its label with what is proven, over formal variables.
    pub premises: Vec<(NodeId, TermId)>,
    /// What it is widened with, if it is.
    pub before: Option<NodeId>,
    /// Lemmas about its predicate, over formal variables; later there may be more.
    pub vocabulary: &'m [TermId],
}

/// Bounds, by cases: cheap, and where they say nothing, interpolants do.
pub(in crate::interp) fn domain(system: &System, budget: &Budget) -> Erased {
    let domains = Catalogue::new(system, Parameters::ENGINE, budget.clone());
    Erased::new(domains.by_cases(domains.constants(), domains.bounds()))
}

impl<'a> Elements<'a> {
    /// None yet.
    pub fn new(system: &'a System, domain: &'a Erased, smt: &Rc<Smt>) -> Elements<'a> {
        Elements {
            domain,
            posts: Posts::new(system, domain, smt, PATHS),
            known: FxHashMap::default(),
            stamp: 0,
        }
    }

    /// Gives the node an element, unless its premises are as they were, and looks for what holds
    /// of its vocabulary. The premises have been described before.
    ///
    /// # Errors
    /// A limit.
    pub fn describe(&mut self, node: NodeId, making: &Making, cx: &Context) -> Result<(), Stop> {
        let top = self.domain.top();
        let terms = cx.budget.terms().clone();
        let mut premises = Vec::with_capacity(making.premises.len());
        let mut of = Vec::with_capacity(making.premises.len());
        for &(premise, label) in &making.premises {
            let known = self.known.get(&premise);
            of.push((known.map_or(0, |k| k.stamp), label));
            let lemmas = known.map_or(&[][..], |k| &k.lemmas);
            let mut formula = lemmas.to_vec();
            formula.push(label);
            premises.push(Premise {
                element: known.map_or(&top, |k| &k.element),
                formula: terms.and(&formula),
            });
        }
        let source = Source {
            premises,
            seen: TermId::FALSE,
        };
        let old = self.known.get(&node).filter(|known| known.of == of);
        let (element, stamp, mut lemmas, seen) = match old {
            Some(old) if old.seen == making.vocabulary.len() => return Ok(()),
            Some(old) => (old.element.clone(), old.stamp, old.lemmas.clone(), old.seen),
            None => {
                let mut element = self.posts.image(making.clause, &source, cx)?;
                if let Some(before) = making.before.and_then(|b| self.known.get(&b)) {
                    let both = self.domain.join(&before.element, &element);
                    element = self.domain.widen(&before.element, &both);
                }
                self.stamp += 1;
                (element, self.stamp, Vec::new(), 0)
            }
        };
        let new = making.vocabulary[seen..].to_vec();
        lemmas.extend(self.posts.kept(making.clause, &source, new, cx)?);
        let known = Known {
            of,
            stamp,
            element,
            lemmas,
            seen: making.vocabulary.len(),
        };
        self.known.insert(node, known);
        Ok(())
    }

    /// What is known of the node, as conjuncts over formal variables: first lemmas, which are
    /// needed sooner than what only this node has.
    pub fn of(&self, node: NodeId, terms: &TermStore) -> Vec<TermId> {
        let Some(known) = self.known.get(&node) else {
            return Vec::new();
        };
        let mut all = known.lemmas.clone();
        let facts = self.domain.formula(&known.element).into_iter();
        all.extend(facts.flat_map(|f| terms.conjuncts(f)));
        all
    }
}
