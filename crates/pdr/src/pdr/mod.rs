//! Property directed reachability for Horn clauses, in the manner of Spacer.
//!
//! Papers: Bradley, "SAT-based model checking without unrolling" (VMCAI 2011); Hoder, Bjørner,
//! "Generalized property directed reachability" (SAT 2012); Komuravelli, Gurfinkel, Chaki,
//! "SMT-based model checking for recursive programs" (FMSD 2016).
//!
//! # The search
//!
//! Each predicate has a frame (`frame`): lemmas with levels, its may-summary, and reached facts,
//! its must-summary. For bound 0, 1, 2, … the query `false` is a proof obligation at that level
//! (`Search::run`, `Search::block`). An obligation, a cube of a predicate at a level, is first
//! compared with the summaries (`summary`). If they do not decide it, the predicate's transition
//! relation is queried with the lemmas of the level below in place of the body atoms (`transition`,
//! `slot`, `levels`; names of rules are those of Hoder, Bjørner 2012):
//!
//! - Unsatisfiable (rules Conflict and Leaf): the core, generalized by dropping literals that
//!   relative induction does not need (`generalise`), is a new lemma, and the obligation moves to a
//!   higher level.
//! - Satisfiable with reached facts in place of all body atoms (`Search::reach`): the head is
//!   reached. Projecting the model gives a new fact, with its clause and premises. Once `false` is
//!   reached, a refutation is computed from these with one query for each step (`refutation`).
//! - Satisfiable otherwise (rule Decide, `Search::predecessor`): the first body atom that is not
//!   reached becomes an obligation one level below; the other atoms, in reached facts or under
//!   lemmas, are projected out.
//!
//! Before a blocked cube is learned, its literals about cells of an array may become literals about
//! the cells' indexes (`index_disequality`) or about all indexes (`quantify`). Generalizations of
//! several lemmas and cubes are conjectured (`guide`, `pattern`).
//!
//! When the query is blocked, lemmas are pushed to higher levels (`Search::propagate`, rules
//! Induction and Unfold). If all lemmas of a level hold one step later, the lemmas above it are
//! inductive; those that the proof needs are the model (`model`, `needed_lemmas`).
//!
//! # Deviations
//!
//! - There is no object for a derivation of a nonlinear clause. When a body atom was reached, the
//!   obligation is queried again with a maximal set of atoms restricted to reached facts.
//! - Reached facts need not satisfy the lemmas of a level, since their derivations may be higher.
//!   Where heights are bounded (`bounded`), only facts that are low enough count.
//! - Global guidance (Krishnan et al., CAV 2020) uses exact projections: an affine hull over the
//!   constants of a cluster, and Fourier-Motzkin elimination of the constants. It also generalizes
//!   the cubes of obligations, all of a pattern or those of a chain of obligations; and a
//!   conjecture that became a lemma is conjectured about other predicates with arguments of the
//!   same sorts.
//! - Lemmas about any index of an array (Gurfinkel, Shoham, Vizel, ATVA 2018) are instantiated at
//!   the indexes that clauses and obligations read, so no query has a quantifier. All predicates
//!   have the same variable for any index. Reads over writes in the cubes of obligations are
//!   decided (`reads_over_writes`). Where two reads cannot be of one cell, a lemma equates their
//!   indexes.
//! - Quantified constraints are replaced by instances, also at the variable for any index
//!   (`alphorn_proof::instances`).
//! - Terms without a value, for example a selector applied to another constructor, are variables in
//!   the solvers (`alphorn_proof::definedness`).
//! - A search may begin with the lemmas of an earlier one (`resume`) and exchange lemmas and facts
//!   with other processes (`exchange`).
//! - There are no interpolating cores (Hoder, Bjørner 2012, section 4), and none of Spacer's weak
//!   abstraction, bound expansion and restarts.
//!
//! Measurements: `docs/log/2026-11-27-choices-of-engines.md`.
//!
//! # Invariant
//!
//! A lemma of level `k` holds of every fact of height at most `k`; the states of a fact's formula
//! are derivable.

mod array_indexes;
pub(super) mod bounded;
mod exchange;
mod frame;
mod generalise;
mod guide;
mod ids;
mod index_disequality;
mod levels;
mod limits;
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

/// The engine `pdr`.
#[derive(Clone, Debug, Default)]
pub struct Pdr {
    /// The settings.
    pub options: Options,
    /// The lemmas of the last search, if it ended without an answer.
    lemmas: Lemmas,
    /// Lemmas of an earlier search, with their levels.
    earlier: Vec<Leveled>,
}

impl Engine for Pdr {
    fn name(&self) -> &'static str {
        "pdr"
    }

    /// Every system is accepted; quantified constraints are replaced by instances.
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
        // Instances at the variables for any index are instances at all indexes.
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

    fn resumes(&self) -> &'static [&'static str] {
        &["pdr", "spacer"]
    }
}

impl Pdr {
    /// Runs a search with these variables for any index.
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
