//! SPACER: proof-based and counterexample-guided abstraction over bounded under-approximations.
//!
//! Paper: Komuravelli, Gurfinkel, Chaki, Clarke, "Automatic abstraction in SMT-based unbounded
//! software model checking" (CAV 2013). Procedures of Fig. 5, where `Search` is `search::Search`:
//!
//! - SPACER, the main loop: `Search::run`. The abstraction A is the subset Σ̂ of the assumptions Σ
//!   (`assumptions`, section 5) that is in force.
//! - INITU: `Search::new`; NEXTU: `Search::next_under_approximation`; ADAPT: `Search::restrict`. An
//!   under-approximation bounds the height of derivations, or has a counter and a bound for each
//!   loop (`bounding`, τ_B of section 5).
//! - SOLVE: `oracle::Solve`, by `pdr` (`pdr::bounded`) or `muz`.
//! - EXTRACTINVS: `Constraints::inductive_subset`, the maximal subset of a proof's lemmas that is
//!   inductive for all constraints (Fig. 7 or Houdini).
//! - ABSTRACT: `abstraction::abstraction`, the part of Σ that a proof needs.
//! - REFINE and ISFEASIBLE: `Refinement::refine`, on the unrolled counterexample.
//!
//! C, the constraints of Fig. 6, is `constraints`: one copy of the clauses in incremental solvers,
//! in use for EXTRACTINVS and ABSTRACT during the whole run.
//!
//! With `spacer.as-in-paper=true` the loop is that of section 5: counters bound the loops and are
//! raised uniformly, assumptions stand for literals, cores refine them, Fig. 7 finds invariants, and
//! Z3's engine is SOLVE. That engine was GPDR in the paper, and is Z3's Spacer, its successor, here.
//!
//! # Deviations by default
//!
//! - Systems need not be linear: derivations are trees, and counters bound their height.
//! - By default there are no counters. The levels of `pdr`'s frames bound the height of
//!   derivations, so lemmas are over the arguments of predicates alone, and no counter has to be
//!   eliminated.
//! - NEXTU first drops all bounds, since the abstraction may already prove the program (McMillan,
//!   Amla, "Automatic abstraction without counterexamples", TACAS 2003). If it does not, the height
//!   of its counterexample is the next bound.
//! - EXTRACTINVS tries lemmas below the bound only where cores left constraints out: with all
//!   constraints in force, a lemma that `pdr` could not push is taken not to be inductive.
//! - With `refinement=hybrid` cores refine the abstraction until counterexamples have cost as much
//!   work as the last proof; then all of Σ does.
//! - C has a solver for each head predicate, since a violated lemma is violated by one clause. It
//!   also checks proofs by frames, with a literal for each height.
//! - ABSTRACT first collects the lemmas that `false` needs.
//! - `pdr` as SOLVE keeps its transition relations, and the lemmas that Houdini finds still valid;
//!   as long as the constraints do not change, also its frames and facts.
//! - Table 1: the statistics `spacer.B`, `spacer.a_f-percent` and `spacer.a_m-percent` are its
//!   columns B, a_f and a_m; the last two are the part of Σ that is in force in the last question
//!   to the oracle, and the largest one. The first question, with all of Σ, counts only if it is
//!   the only one. `spacer.needed-percent` is the part that the model needs. `scripts/spacer-table`
//!   prints the table.
//!
//! Measurements of these choices, and of variants that were removed:
//! `docs/log/2026-11-27-spacer-sigma.md`.
//!
//! # Invariant
//!
//! `Sat` rests on an inductive subset that EXTRACTINVS found with all of Σ, `Unsat` on a
//! counterexample that REFINE found feasible with all of Σ, whatever the oracle answered.

mod abstraction;
mod assumptions;
mod bounding;
mod constraints;
mod limits;
mod options;
mod oracle;
mod proof;
mod refine;
mod search;
#[cfg(test)]
mod tests;

pub use self::options::Options;

use self::search::Search;
use alphorn_chc::{Shape, System};
use alphorn_engine::settings::Setting;
use alphorn_engine::{Engine, EngineError, Unsupported, driver};
use alphorn_proof::facts::{Lemmas, Leveled};
use alphorn_term::run::Context;
use alphorn_witness::Verdict;

/// The engine `spacer`.
#[derive(Clone, Debug, Default)]
pub struct Spacer {
    /// The settings.
    pub options: Options,
    /// The lemmas of the last run, if it ended without an answer.
    lemmas: Lemmas,
    /// Lemmas of an earlier search, with the levels at which they held.
    earlier: Vec<Leveled>,
}

impl Engine for Spacer {
    fn name(&self) -> &'static str {
        "spacer"
    }

    /// Every system is accepted; quantified constraints are replaced by instances.
    fn supports(&self, _shape: &Shape) -> Result<(), Unsupported> {
        Ok(())
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        self.options.settings()
    }

    fn solve(&mut self, system: &System, cx: &mut Context) -> Result<Verdict, EngineError> {
        if Shape::of(system).theories.quantifier {
            return driver::by_instances(system, &[], cx, |open, cx| self.solve(open, cx));
        }
        let mut search = Search::new(system, self.options.clone(), &cx.budget);
        search.resume(std::mem::take(&mut self.earlier));
        let smt = search.smt().clone();
        let verdict = search.run(cx);
        if matches!(verdict, Ok(Verdict::Unknown(_))) {
            self.lemmas = search.lemmas();
        }
        search.record_statistics(cx);
        cx.stats.add("spacer.queries", smt.usage().0);
        cx.stats.add_time("spacer.smt", smt.usage().1);
        verdict
    }

    fn lemmas(&mut self) -> Lemmas {
        std::mem::take(&mut self.lemmas)
    }

    fn resume(&mut self, earlier: Vec<Leveled>) {
        self.earlier = earlier;
    }

    fn resumes(&self) -> &'static [&'static str] {
        &["pdr", "spacer"]
    }
}
