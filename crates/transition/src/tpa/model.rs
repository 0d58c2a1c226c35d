//! From a closed relation to an inductive invariant.
//!
//! The states to which a closed relation leads from facts, or from which it leads to queries, are
//! computed by projection. If the relation is about multiples of a number of steps, they are closed
//! under these only; interpolants give the states between, for half the number of steps each time.
//!
//! Invariant: an invariant is returned only after it was checked against facts, clauses and
//! queries.

use super::fixpoint::{Proof, Side};
use super::search::{Kind, Search};
use super::short_runs::cube;
use super::system::Conjunct;
use alphorn_proof::reach::{MAX_CUBES, too_many_cubes};
use alphorn_proof::{Stop, ask, incomplete};
use alphorn_term::TermId;
use alphorn_term::run::Context;

impl Search<'_> {
    /// An invariant over the first copy of the state.
    ///
    /// # Errors
    /// There is none by this proof, a limit of the run, or a failure.
    pub fn invariant(&mut self, proof: &Proof, cx: &mut Context) -> Result<TermId, Stop> {
        let (ts, terms) = (self.ts, self.ts.terms());
        let [first, second, _] = &ts.copies;
        let relation: Vec<TermId> = proof.relation.iter().map(|c| c.left).collect();
        let relation = terms.and(&relation);
        let all = proof.kind == Kind::Less;
        let relation = match all {
            true => relation,
            false => terms.or(&[ts.same(first, second), relation]),
        };
        let states = match proof.side {
            Side::Right => {
                let formula = terms.and(&[ts.init.formula, relation]);
                self.project(formula, second, cx)?
            }
            Side::Left => {
                let query = ts.over(ts.query.formula, first, second);
                self.project(terms.and(&[query, relation]), first, cx)?
            }
        };
        let states = match all {
            true => states,
            false => self.between(proof, states, cx)?,
        };
        let invariant = match proof.side {
            Side::Right => states,
            Side::Left => terms.not(states),
        };
        match self.is_invariant(invariant, cx)? {
            true => Ok(invariant),
            false => Err(incomplete(
                "the states of a closed relation are not an invariant",
            )),
        }
    }

    /// The projection of a formula to the variables `kept` of a state, over the first copy.
    fn project(
        &mut self,
        formula: TermId,
        kept: &[TermId],
        cx: &mut Context,
    ) -> Result<TermId, Stop> {
        let (ts, terms) = (self.ts, self.ts.terms());
        let mut solver = self.smt.solver();
        solver.assert(formula);
        let mut cubes: Vec<TermId> = Vec::new();
        while let Some(model) = ask(&mut solver, &[], cx)? {
            if cubes.len() == MAX_CUBES {
                return Err(too_many_cubes());
            }
            let found = cube(ts, &[formula], kept, &model)?.formula;
            solver.assert(terms.not(ts.over(found, &ts.copies[0], kept)));
            cubes.push(found);
        }
        cx.stats.set("tpa.cubes", cubes.len() as u64);
        Ok(terms.or(&cubes))
    }

    /// Extends states that are closed under two to the power of the level steps to states that are
    /// closed under single steps. Level by level, an interpolant adds the states halfway: half the
    /// steps lead to them, from them half the steps lead back, and no query is reached in fewer.
    /// From queries likewise backward.
    fn between(&mut self, proof: &Proof, states: TermId, cx: &Context) -> Result<TermId, Stop> {
        let (ts, terms) = (self.ts, self.ts.terms());
        let [first, second, third] = &ts.copies;
        let mut states = states;
        for level in (0..proof.level).rev() {
            let left = |c: &Conjunct| c.left;
            let right = |c: &Conjunct| c.right;
            let exact = &self.exact[level].conjuncts;
            let less = &self.less[level].conjuncts;
            let (begin, end) = match proof.side {
                Side::Right => (first, third),
                Side::Left => (third, first),
            };
            let (mut to, mut back, mut bad): (Vec<TermId>, Vec<TermId>, Vec<TermId>);
            match proof.side {
                Side::Right => {
                    to = exact.iter().map(left).collect();
                    back = exact.iter().map(right).collect();
                    bad = less.iter().map(right).collect();
                    bad.push(ts.over(ts.query.formula, first, end));
                }
                Side::Left => {
                    to = exact.iter().map(right).collect();
                    back = exact.iter().map(left).collect();
                    bad = less.iter().map(left).collect();
                    bad.push(ts.init.formula);
                }
            }
            to.push(ts.over(states, first, begin));
            back.push(terms.not(ts.over(states, first, end)));
            let rest = terms.or(&[terms.and(&back), terms.and(&bad)]);
            let half = self.separate(&to, &[rest], cx)?;
            states = terms.or(&[states, ts.over(half, second, first)]);
        }
        Ok(states)
    }

    /// Whether a formula contains the facts, is closed under the clauses, and excludes the queries.
    fn is_invariant(&self, invariant: TermId, cx: &Context) -> Result<bool, Stop> {
        let (ts, terms) = (self.ts, self.ts.terms());
        let [first, second, _] = &ts.copies;
        let after = ts.over(invariant, first, second);
        let broken = [
            [ts.init.formula, terms.not(invariant), TermId::TRUE],
            [invariant, ts.step().left, terms.not(after)],
            [invariant, ts.query.formula, TermId::TRUE],
        ];
        for formulas in broken {
            let mut solver = self.smt.solver();
            for formula in formulas {
                solver.assert(formula);
            }
            if ask(&mut solver, &[], cx)?.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
