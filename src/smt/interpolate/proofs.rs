//! All interpolants of a problem from one proof of our own (`smt/proof`).
//!
//! Invariant: no answer here is a guess. Where there is no proof within the limits, or the problem
//! is not of the theory, there is none, and what comes after is another way.

use std::time::Duration;

use rustc_hash::FxHashMap;

use super::dag::{InterpolationDag, InterpolationEdge, Ordered};
use super::interpolator::{InterpolantForm, Interpolator};
use super::partial::{Cut, Side, interpolant};
use crate::smt::proof::{Open, Skeleton, refute};
use crate::term::TermId;

/// Work for one proof, at most.
const WORK: Duration = Duration::from_secs(2);

impl Interpolator {
    /// The interpolants of formulas, of which each cut has some on its side, by one proof.
    pub(super) fn proof_of_parts(
        &mut self,
        formulas: &[TermId],
        cuts: &[Vec<bool>],
    ) -> Option<Vec<TermId>> {
        let side = |&is_a: &bool| Some(if is_a { Side::A } else { Side::B });
        let cuts = cuts.iter().map(|cut| Cut {
            sides: cut.iter().map(side).collect(),
            assigned: FxHashMap::default(),
        });
        let cuts: Vec<Cut> = cuts.collect();
        self.proved(&cuts, |skeleton| {
            for (part, &formula) in formulas.iter().enumerate() {
                skeleton.part(part, formula)?;
            }
            Ok(())
        })
    }

    /// The interpolants of a DAG, given its labels and then the formulas of its edges; each of them
    /// is a part, under the name of its node or edge.
    pub(super) fn proof_of_dag(
        &mut self,
        dag: &InterpolationDag,
        ordered: &Ordered,
        parts: &[TermId],
    ) -> Option<Vec<TermId>> {
        if !self.options.proofs {
            return None;
        }
        let count = dag.labels.len();
        // Whether a node is reached from another, by edges or none.
        let mut reaches = vec![vec![false; count]; count];
        for &node in ordered.order.iter().rev() {
            let mut own = vec![false; count];
            own[node] = true;
            for &edge in &ordered.outgoing[node] {
                let next = &reaches[dag.edges[edge].to];
                own.iter_mut().zip(next).for_each(|(o, n)| *o |= n);
            }
            reaches[node] = own;
        }
        let is_used = |node: usize| reaches[dag.entry][node] && reaches[node][dag.exit];
        // What is not reached, and what leads nowhere.
        let trivial = |node: usize| {
            self.terms
                .bool(reaches[dag.entry][node] && node != dag.exit)
        };
        let mut result: Vec<TermId> = (0..count).map(trivial).collect();
        if !reaches[dag.entry][dag.exit] {
            return Some(result);
        }
        // Names are the first variables: of nodes, then of edges.
        let name = |number: usize| crate::sat::Lit::new(number as u32, false);
        let used: Vec<usize> = (0..count).filter(|&n| is_used(n)).collect();
        let inner = used.iter().filter(|&&n| n != dag.entry && n != dag.exit);
        let cuts = inner.clone().map(|&node| {
            let is_before = |other: usize| is_used(other) && reaches[other][node];
            let is_after = |other: usize| is_used(other) && reaches[node][other];
            let of_node = |other: usize| match (is_after(other), is_before(other)) {
                (true, _) => Some(Side::B),
                (false, true) => Some(Side::A),
                _ => None,
            };
            let of_edge = |edge: &InterpolationEdge| {
                let is_used = is_used(edge.from) && is_used(edge.to);
                match (is_before(edge.to), is_after(edge.from)) {
                    (true, _) if is_used => Some(Side::A),
                    (false, true) if is_used => Some(Side::B),
                    _ => None,
                }
            };
            let sides = (0..count).map(of_node).chain(dag.edges.iter().map(of_edge));
            let sides: Vec<Option<Side>> = sides.collect();
            // Parts have the numbers of their names.
            let off = (0..sides.len()).filter(|&part| sides[part].is_none());
            let assigned = off.map(|part| (part as u32, false)).collect();
            Cut { sides, assigned }
        });
        let cuts: Vec<Cut> = cuts.collect();
        let found = self.proved(&cuts, |skeleton| {
            for _ in 0..count + dag.edges.len() {
                skeleton.name();
            }
            skeleton.clause(dag.entry, &[name(dag.entry)]);
            for &node in &used {
                let mut ways = vec![!name(node)];
                for &number in &ordered.outgoing[node] {
                    let edge = &dag.edges[number];
                    if is_used(edge.to) {
                        let part = count + number;
                        ways.push(name(part));
                        skeleton.clause(part, &[!name(part), name(edge.to)]);
                        skeleton.guarded(part, name(part), parts[part])?;
                    }
                }
                if node != dag.exit {
                    skeleton.clause(node, &ways);
                }
                skeleton.guarded(node, name(node), parts[node])?;
            }
            Ok(())
        })?;
        for (&node, interpolant) in inner.zip(found) {
            result[node] = interpolant;
        }
        Some(result)
    }

    fn proved(
        &mut self,
        cuts: &[Cut],
        encode: impl FnOnce(&mut Skeleton) -> Result<(), Open>,
    ) -> Option<Vec<TermId>> {
        // Sums that are taken apart do not follow from each other along a sequence.
        let decomposed = self.options.form == InterpolantForm::Decomposed;
        if !self.options.proofs || decomposed && cuts.len() > 1 {
            return None;
        }
        let terms = self.terms.clone();
        let left = self.budget().and_then(|b| b.left());
        let work = left.map_or(WORK, |left| WORK.min(left / 2));
        let mut skeleton = Skeleton::new(&terms);
        let found = encode(&mut skeleton)
            .and_then(|()| refute(&mut skeleton, work, self.budget()))
            .map(|proof| {
                log::debug!("a proof of {} clauses", proof.clauses.len());
                let weak = self.options.form == InterpolantForm::Weak;
                let read = |cut: &Cut| match weak {
                    // What is weak seen from `A` is strong seen from `B`.
                    true => interpolant(&proof, &skeleton, &cut.swapped(), decomposed)
                        .map(|i| terms.not(i)),
                    false => interpolant(&proof, &skeleton, cut, decomposed),
                };
                cuts.iter().map(read).collect::<Option<Vec<TermId>>>()
            });
        match found {
            Ok(Some(interpolants)) => {
                self.counters.proofs += 1;
                self.counters.problems += cuts.len() as u64;
                Some(interpolants)
            }
            Ok(None) => {
                log::debug!("a proof mixes its sides");
                self.counters.unproved += 1;
                None
            }
            Err(open) => {
                log::debug!("no proof: {open:?}");
                self.counters.unproved += 1;
                None
            }
        }
    }
}
