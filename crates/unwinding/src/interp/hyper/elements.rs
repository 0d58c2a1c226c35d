//! Formulas that are known of a node before refinement: an element of an abstract domain, and
//! lemmas about its predicate, from any labels, that hold of it.
//!
//! An element is the post of the elements, labels and lemmas of the premises; from the third node
//! of one predicate within another on it is widened. A lemma is checked once at each node, together
//! with all other new ones, by a query or two, where an interpolant with the same content would
//! need hundreds. None of this enters a label before it is needed (`exclude`): unneeded conjuncts
//! would only keep nodes from being covered.
//!
//! Invariant: the element and lemmas of a node follow by its clause from those of its premises and
//! their labels.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::NodeId;
use crate::interp::limits::LIMITS;
use alphorn_chc::System;
use alphorn_domain::catalogue::{Catalogue, Parameters};
use alphorn_domain::{Domain, Erased, ErasedElement};
use alphorn_proof::Stop;
use alphorn_proof::posts::{Posts, Premise, Source};
use alphorn_smt::Smt;
use alphorn_term::run::{Budget, Context};
use alphorn_term::{TermId, TermStore};

/// The elements and lemmas of nodes.
pub(super) struct Elements<'a> {
    domain: &'a Erased,
    posts: Posts<'a, Erased>,
    known: FxHashMap<NodeId, Known>,
    /// The number of elements that were computed.
    stamp: u64,
}

/// The element and lemmas of a node.
struct Known {
    /// By premise: the stamp and label from which they were computed.
    of: Vec<(u64, TermId)>,
    /// The number of the element in the order of computation.
    stamp: u64,
    element: ErasedElement,
    /// The formulas of the location's vocabulary that hold of the node.
    lemmas: Vec<TermId>,
    /// How many formulas of the vocabulary were checked.
    seen: usize,
}

/// How a node is derived.
pub(super) struct NodeOrigin<'m> {
    /// The index of the clause in the system.
    pub clause: usize,
    /// By body atom: the node, and its label with the facts, over formal variables.
    pub premises: Vec<(NodeId, TermId)>,
    /// The node whose element the new one is widened with, if any.
    pub before: Option<NodeId>,
    /// Lemmas about the predicate, over formal variables; later calls may have more.
    pub vocabulary: &'m [TermId],
}

/// The domain of elements: bounds, by cases of constants. It is cheap; interpolants do the rest.
pub(in crate::interp) fn domain(system: &System, budget: &Budget) -> Erased {
    let domains = Catalogue::new(system, Parameters::ENGINE, budget.clone());
    Erased::new(domains.by_cases(domains.constants(), domains.bounds()))
}

impl<'a> Elements<'a> {
    /// No elements.
    pub fn new(system: &'a System, domain: &'a Erased, smt: &Rc<Smt>) -> Elements<'a> {
        Elements {
            domain,
            posts: Posts::new(system, domain, smt, LIMITS.paths),
            known: FxHashMap::default(),
            stamp: 0,
        }
    }

    /// Computes the element of the node, unless its premises are unchanged, and checks the new
    /// formulas of the vocabulary. The premises have to be described before.
    ///
    /// # Errors
    /// A limit.
    pub fn describe(
        &mut self,
        node: NodeId,
        origin: &NodeOrigin,
        cx: &Context,
    ) -> Result<(), Stop> {
        let top = self.domain.top();
        let terms = cx.budget.terms().clone();
        let mut premises = Vec::with_capacity(origin.premises.len());
        let mut of = Vec::with_capacity(origin.premises.len());
        for &(premise, label) in &origin.premises {
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
            Some(old) if old.seen == origin.vocabulary.len() => return Ok(()),
            Some(old) => (old.element.clone(), old.stamp, old.lemmas.clone(), old.seen),
            None => {
                let mut element = self.posts.image(origin.clause, &source, cx)?;
                if let Some(before) = origin.before.and_then(|b| self.known.get(&b)) {
                    let both = self.domain.join(&before.element, &element);
                    element = self.domain.widen(&before.element, &both);
                }
                self.stamp += 1;
                (element, self.stamp, Vec::new(), 0)
            }
        };
        let new = origin.vocabulary[seen..].to_vec();
        lemmas.extend(self.posts.kept(origin.clause, &source, new, cx)?);
        let known = Known {
            of,
            stamp,
            element,
            lemmas,
            seen: origin.vocabulary.len(),
        };
        self.known.insert(node, known);
        Ok(())
    }

    /// The lemmas and the conjuncts of the element of the node, over formal variables. Lemmas come
    /// first, since cores prefer them, and other nodes have them, too.
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
