//! Definitions of predicates from labels and regions.
//!
//! Invariant: when no node is open, each action leads from a label into a child's label, a covering
//! label or a closed region, and from a closed region into closed regions; never to the error.

use rustc_hash::FxHashMap;

use super::search::Search;
use alphorn_chc::PredicateId;
use alphorn_chc::cutpoints::Location;
use alphorn_term::TermId;

impl Search<'_> {
    /// The definitions when no node is open.
    pub(super) fn model(&self) -> FxHashMap<PredicateId, TermId> {
        let predicates = self.graph.predicates.iter().enumerate();
        let named = predicates.filter_map(|(l, p)| Some(((*p)?, l)));
        named.map(|(p, l)| (p, self.definition(l))).collect()
    }

    fn definition(&self, location: Location) -> TermId {
        let terms = &self.terms;
        let mut states = Vec::new();
        if self.options.reachability() {
            let live = self.at[location].iter().map(|&n| &self.nodes[n]);
            let live = live.filter(|n| n.is_live());
            states.extend(live.map(|n| terms.and(&n.label)));
        }
        if self.counts.pruned > 0 || !self.options.reachability() {
            states.push(self.region(location));
        }
        let mut parts = self.facts.of(location).to_vec();
        parts.push(terms.or(&states));
        terms.and(&parts)
    }
}
