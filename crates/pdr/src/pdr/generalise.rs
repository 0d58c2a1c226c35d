//! Inductive generalization of blocked cubes.
//!
//! Bradley, "SAT-based model checking without unrolling" (VMCAI 2011): a literal is dropped if the
//! rest is unreachable from the frame below together with its own negation.
//!
//! Invariant: a returned cube is a core of a query that found it blocked, at the level that the
//! core supports; or it is the given cube at the given level.

use super::ids::Node;
use super::levels::Level;
use super::search::Search;
use super::transition::{Answer, Query};
use alphorn_proof::Stop;
use alphorn_term::TermId;

impl Search<'_> {
    /// A subset of a blocked cube that is blocked, too, and its level. `from` is the level of the
    /// body atoms in the query that found the cube blocked at `level`.
    pub(super) fn generalise(
        &mut self,
        node: Node,
        cube: Vec<TermId>,
        level: Level,
        from: Option<Level>,
    ) -> Result<(Vec<TermId>, Level), Stop> {
        let (mut cube, mut level) = (cube, level);
        let mut needed: Vec<TermId> = Vec::new();
        while let Some(position) = cube.iter().position(|l| !needed.contains(l)) {
            let literal = cube[position];
            let mut candidate = cube.clone();
            candidate.remove(position);
            match self.inductive(node, &candidate, from)? {
                Some((core, core_level)) => {
                    self.counters.dropped += (cube.len() - core.len()) as u64;
                    cube = core;
                    level = core_level;
                    needed.retain(|l| cube.contains(l));
                }
                None => needed.push(literal),
            }
        }
        Ok((cube, level))
    }

    /// If a cube is unreachable from the frame at `from` and its own negation: the literals in the
    /// core, and the level up to which they are blocked.
    pub(super) fn inductive(
        &mut self,
        node: Node,
        cube: &[TermId],
        from: Option<Level>,
    ) -> Result<Option<(Vec<TermId>, Level)>, Stop> {
        let assume = from.and_then(|_| self.negation_before(node, cube));
        let query = Query {
            from,
            cube,
            assume,
            must: &[],
            reached: None,
            rule: None,
        };
        match self.ask(node, query)? {
            Answer::Unsat { cube: core, level } => {
                // The assumed negation of the whole cube is weaker than the negation of the core.
                Ok(Some((core, level)))
            }
            Answer::Sat => Ok(None),
            Answer::Unknown(why) if self.cx.stop().is_some() => Err(self.gave_up(&why)),
            Answer::Unknown(_) => Ok(None),
        }
    }

    /// The negation of a cube for the body atoms of its own predicate; `None` if there are none.
    fn negation_before(&mut self, node: Node, cube: &[TermId]) -> Option<TermId> {
        let terms = self.terms.clone();
        let transition = self.transitions[node].as_mut()?;
        let negated: Vec<TermId> = cube.iter().map(|&l| terms.not(l)).collect();
        let clause = terms.or(&negated);
        let own = transition.own_slots.clone();
        let frame = &self.frames[node];
        // A cube about any index: at known indexes, and at the variable itself.
        let any = frame.any_in(&terms, clause);
        let mut parts: Vec<TermId> = Vec::new();
        for s in own {
            let slot = &mut transition.slots[s];
            let renamed = slot.rename(&terms, clause);
            let mut clauses = vec![renamed];
            if let Some(any) = any {
                let sort = terms.sort_of(any);
                let mut indexes = transition.indexes.clone();
                indexes.extend(frame.indexes.iter().map(|&i| slot.rename(&terms, i)));
                indexes.retain(|&i| terms.sort_of(i) == sort);
                clauses.extend(indexes.into_iter().map(|index| {
                    terms.substitute(renamed, &std::iter::once((any, index)).collect())
                }));
            }
            parts.push(terms.or(&[terms.not(slot.used), terms.and(&clauses)]));
        }
        (!parts.is_empty()).then(|| terms.and(&parts))
    }
}
