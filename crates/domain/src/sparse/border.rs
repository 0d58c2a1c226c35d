//! What is near the open queries, with facts in place of what is far from them.
//!
//! Invariant: the assumed facts are among the facts that are returned, which are inductive together
//! and exclude the clauses that are not applicable, as far as the analysis is right.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::Analysis;
use super::element::Statement;
use alphorn_chc::PredicateId;
use alphorn_term::TermId;

/// Implications of a predicate that are assumed; of a predicate with more, none are.
const MAX_IMPLICATIONS: usize = 100;

/// The clauses near the open queries, and the facts that stand for the others.
pub struct Neighbourhood {
    /// For each clause, by its position, whether it may be applied.
    pub applicable: Vec<bool>,
    /// By the number of a predicate, whether its clauses are near.
    pub near: Vec<bool>,
    /// Formulas over the formal variables of predicates, to be assumed of body atoms.
    pub assumed: FxHashMap<PredicateId, Vec<TermId>>,
    /// Formulas with which a model of the near clauses is one of all clauses.
    pub facts: FxHashMap<PredicateId, Vec<TermId>>,
}

impl Analysis<'_> {
    /// The predicates from which the fewest clauses lead to open queries, at most `most` of them;
    /// `None` if that are all on which the queries depend, or if the facts are not found in time.
    pub fn neighbourhood(&self, most: usize) -> Option<Neighbourhood> {
        let cubes = self.applicable_cubes();
        let applicable = self.applicable();
        let (near, border) = self.near(cubes, most);
        if border.is_empty() {
            return None;
        }
        let predicates = (0..near.len()).filter(|&p| near[p]).chain(border);
        let assumed: Vec<(usize, Vec<Statement>)> =
            predicates.map(|p| (p, self.assumed(p))).collect();
        let excluded = (0..).zip(cubes).filter(|(_, applies)| !**applies);
        let excluded: Vec<u32> = excluded.map(|(at, _)| at).collect();
        let facts = self.needed(&excluded, &assumed)?;
        let mut statements = vec![Vec::new(); near.len()];
        for (p, own) in assumed {
            statements[p] = own;
        }
        Some(Neighbourhood {
            applicable,
            near,
            assumed: self.formulas(statements),
            facts,
        })
    }

    /// The near predicates, and those beyond them that their clauses and the open queries have in
    /// their bodies.
    fn near(&self, applicable: &[bool], most: usize) -> (Vec<bool>, Vec<usize>) {
        let count = self.values.len();
        let (mut near, mut seen) = (vec![false; count], vec![false; count]);
        let mut queue: VecDeque<usize> = VecDeque::new();
        let mut look = |cube: u32, queue: &mut VecDeque<usize>| {
            for &(p, _) in &self.program.cubes[cube as usize].body {
                if !std::mem::replace(&mut seen[p], true) {
                    queue.push_back(p);
                }
            }
        };
        for &query in &self.open {
            look(query, &mut queue);
        }
        let mut found = 0;
        while found < most
            && let Some(p) = queue.pop_front()
        {
            near[p] = true;
            found += 1;
            for &at in &self.schedule.definitions[p] {
                if applicable[at as usize] {
                    look(at, &mut queue);
                }
            }
        }
        (near, queue.into())
    }

    /// What is assumed of a predicate.
    fn assumed(&self, p: usize) -> Vec<Statement> {
        let Some(value) = &self.values[p] else {
            return Vec::new();
        };
        let (starts, packs) = (&self.program.starts[p], &self.plans.packs);
        let mut all = value.statements(starts, p, packs);
        let is_implication = |s: &Statement| matches!(s, Statement::Implication(..));
        if all.iter().filter(|s| is_implication(s)).count() > MAX_IMPLICATIONS {
            all.retain(|s| !is_implication(s));
        }
        all
    }
}
