//! Property directed reachability for Horn clauses, in the manner of Spacer.
//!
//! Papers: Bradley, "SAT-based model checking without unrolling" (VMCAI 2011); Hoder, Bjørner,
//! "Generalized property directed reachability" (SAT 2012); Komuravelli, Gurfinkel, Chaki,
//! "SMT-based model checking for recursive programs" (FMSD 2016).
//!
//! # The search
//!
//! Each predicate has a frame (`frame`): lemmas with levels, its may-summary, and reached facts,
//! its must-summary. For bound 0, 1, 2, … the query `false` becomes a proof obligation at that
//! level (`search`, `obligation`). An obligation, a cube of a predicate at a level, is first
//! compared with the summaries (`summary`). If these do not answer it, the predicate's transition
//! relation is asked, with the lemmas of the level below in place of the body atoms (`transition`,
//! `slot`, `levels`):
//!
//! - Unsatisfiable: the core, generalised by dropping literals that relative induction does not
//!   need (`generalise`), is a new lemma, and the obligation moves up a level.
//! - Satisfiable with reached facts in place of all body atoms: the head is reached. Projecting the
//!   model gives a new fact (`predecessor`), which keeps its rule and its premises. A refutation is
//!   read off these once `false` is reached, with one query for each step (`refutation`).
//! - Satisfiable otherwise: the first body atom that is not reached becomes an obligation one level
//!   below; the other atoms, in reached facts or under lemmas, are projected out (`predecessor`).
//!
//! Before a blocked cube is learned, what it says about an array's cells may become something about
//! their indexes (`index_disequality`) or about all indexes (`quantify`). What lemmas and cubes
//! have in common is conjectured (`guide`, `pattern`).
//!
//! When the query is blocked, lemmas are pushed to higher levels (`propagate`). If a level is left
//! without lemmas of its own, the lemmas above it are an inductive interpretation; those that the
//! proof needs are the model (`model`).
//!
//! # What differs from the papers
//!
//! - A derivation of a nonlinear clause is no object. The obligation is asked again when a body
//!   atom was reached, with a maximal set of atoms restricted to reached facts, so it goes on where
//!   it was.
//! - Reached facts are exempt from the lemmas of a level, since their derivations may be higher
//!   than the level. Where heights are bounded (`bounded`), only facts that are low enough count.
//! - Global guidance (Krishnan et al., CAV 2020) has exact projections of our own: an affine hull
//!   over the constants of a cluster, and Fourier-Motzkin elimination of the constants. On the
//!   development set it brings 50 instead of 32 of 70 LIA-Lin tasks. It also looks at the cubes of
//!   obligations, all of a pattern or those of one way to the query; and a conjecture that became a
//!   lemma is conjectured about other predicates with arguments of the same sorts.
//! - Lemmas about any index of an array (Gurfinkel, Shoham, Vizel, ATVA 2018) are instantiated by
//!   ourselves, at the indexes that clauses and obligations read, so no query has a quantifier. All
//!   predicates have the same variable for any index. Cubes of obligations have no reads over writes,
//!   and what a literal compares is of one cell if it is in the state (`reads_over_writes`): of 22
//!   programs with loops over arrays (CHC-COMP 2025, quic3) that makes 19 for 12 in 20 seconds.
//!   Where two reads cannot be of one cell, a lemma equates their indexes.
//! - Quantified constraints give way to instances, at the index that lemmas are about, too
//!   (`proof/instances.rs`).
//! - Terms without a value, as a selector on another constructor, are variables in the solvers
//!   (`proof/definedness.rs`).
//! - Z3's proofs are not used. Interpolating cores (Hoder, Bjørner 2012, section 4) and Spacer's
//!   weak abstraction, bound expansion and restarts were tried: they lost more tasks than they won.
//!
//! # Invariant
//!
//! A lemma of level `k` holds of every fact of height at most `k`; a fact's formula holds of
//! derivable states only.

mod array_indexes;
pub(super) mod bounded;
mod exchange;
mod frame;
mod generalise;
mod guide;
mod ids;
mod index_disequality;
mod levels;
mod model;
mod needed_lemmas;
mod obligation;
mod options;
mod pattern;
mod predecessor;
mod propagate;
mod quantify;
mod reads_over_writes;
mod refutation;
mod resume;
mod search;
mod slot;
mod statistics;
mod summary;
#[cfg(test)]
mod tests;
mod transition;

pub(super) use self::ids::Node;
pub use self::options::Options;

use self::array_indexes::AnyIndexes;
use self::exchange::Exchanges;
use self::search::{Outcome, Search};
use alphorn_chc::{Shape, System};
use alphorn_engine::settings::Setting;
use alphorn_engine::{Engine, EngineError, Unsupported, driver};
use alphorn_proof::confirm;
use alphorn_proof::facts::{Lemmas, Leveled};
use alphorn_term::run::Context;
use alphorn_witness::Verdict;

/// The engine.
#[derive(Clone, Debug, Default)]
pub struct Pdr {
    pub options: Options,
    /// What a search without answer leaves.
    lemmas: Lemmas,
    /// What an earlier one left.
    earlier: Vec<Leveled>,
}

impl Engine for Pdr {
    fn name(&self) -> &'static str {
        "pdr"
    }

    /// Of quantified constraints it sees instances.
    fn supports(&self, _shape: &Shape) -> Result<(), Unsupported> {
        Ok(())
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        self.options.settings()
    }

    fn solve(&mut self, system: &System, cx: &mut Context) -> Result<Verdict, EngineError> {
        let mut any = AnyIndexes::default();
        if !Shape::of(system).theories.quantifier {
            return self.search(system, &mut any, cx);
        }
        // What holds of all indexes holds of the one that lemmas are about.
        let params = system.used_predicates().into_iter();
        let params = params.flat_map(|p| system.predicate(p).params.to_vec());
        let vars = any.of(&system.terms, &params.collect::<Vec<_>>());
        driver::by_instances(system, &vars, cx, |open, cx| {
            self.search(open, &mut any, cx)
        })
    }

    fn lemmas(&mut self) -> Lemmas {
        std::mem::take(&mut self.lemmas)
    }

    fn resume(&mut self, earlier: Vec<Leveled>) {
        self.earlier = earlier;
    }

    fn resumes_frames(&self) -> bool {
        true
    }
}

impl Pdr {
    /// A search, with these variables for any index.
    fn search(
        &mut self,
        system: &System,
        any: &mut AnyIndexes,
        cx: &mut Context,
    ) -> Result<Verdict, EngineError> {
        let mut search = Search::with_indexes(system, self.options.clone(), any, cx);
        search.exchanges = Exchanges::new(system, search.cx);
        let earlier = std::mem::take(&mut self.earlier);
        let outcome = search.resume(&earlier).and_then(|()| search.run());
        search.record_statistics();
        match outcome {
            Ok(Outcome::Safe(model)) => Ok(Verdict::Sat(model)),
            Ok(Outcome::Refuted(refutation)) => {
                Ok(confirm(system, refutation, &search.smt, search.cx))
            }
            Err(stop) => {
                self.lemmas = search.all_lemmas();
                driver::verdict(stop, search.cx)
            }
        }
    }
}
