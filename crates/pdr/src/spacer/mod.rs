//! SPACER: proof-based and counterexample-guided abstraction over bounded under-approximations.
//!
//! Komuravelli, Gurfinkel, Chaki, Clarke, "Automatic abstraction in SMT-based unbounded software
//! model checking" (CAV 2013), the loop that gave Z3's Spacer its name. `search` is the loop of
//! Fig. 5; its routines, by their names:
//!
//! - INITU and NEXTU (`bounding`): derivations of a bounded height, or a counter and a bound for
//!   each loop.
//! - SOLVE (`oracle`): who decides the bounded systems.
//! - EXTRACTINVS (`constraints`, with `proof::houdini`): the maximal subset of a proof's lemmas
//!   that is inductive for the clauses as they are. Once `false` is excluded by one of them, they
//!   are a model.
//! - ABSTRACT (`abstraction`): the parts of the clauses, Σ̂ out of Σ (`assumptions`), that the
//!   proof needs.
//! - REFINE and ISFEASIBLE (`refine`): the counterexample's whole derivation, unrolled.
//!
//! EXTRACTINVS and ABSTRACT share one copy of the clauses in incremental solvers (`constraints`,
//! Fig. 6) for the whole run.
//!
//! # What differs from the paper
//!
//! - Systems need not be linear: derivations are trees, and counters bound their height.
//! - By default there are no counters: the height of derivations is bounded by the levels of
//!   `pdr`'s frames. So lemmas are about the program's variables alone, and no counter has to be
//!   eliminated. Counters remain as a choice, for any dependency graph.
//! - NEXTU first drops all bounds, so the abstraction of a bounded proof may prove the program at
//!   once (McMillan, Amla, "Automatic abstraction without counterexamples", TACAS 2003). If it does
//!   not, its counterexample says how far to go.
//! - C has one solver for the clauses of each predicate, since a violated lemma is violated by one
//!   clause. ABSTRACT and EXTRACTINVS check proofs by frames in this single copy of the clauses, by
//!   a literal for each height.
//! - ABSTRACT first collects the lemmas that `false` needs.
//! - `pdr` as SOLVE keeps its transition relations and the lemmas that Houdini finds still valid
//!   (`pdr::bounded`); as long as clauses stay as they are, frames and facts, too.
//!
//! # The columns of Table 1
//!
//! `--stats` has B, a_f and a_m (`spacer.B`, `spacer.a_f-percent`, `spacer.a_m-percent`): the
//! bound, and what of Σ is in force when the last question is answered and at most, in percent. The
//! first question is about all of Σ and left out, unless it is the only one. Refinement with
//! everything (`pba`, the default) puts all of Σ in force, and that is 100 %. What the model's
//! invariants need is `spacer.needed-percent`. `scripts/spacer-table` prints the table.
//!
//! # Measurements
//!
//! Each fourth of 99 programs of ssh, systemc and ntdrivers, 10 s, two side by side; solved of 25
//! and the sum of all seconds. Differences of 5 s are noise.
//!
//! | choice | solved | seconds |
//! |---|---|---|
//! | the defaults | 20 | 83 |
//! | bounding: counters | 20 | 98 |
//! | next: uniform | 20 | 84 |
//! | next: non-inductive (counters) | 20 | 99 |
//! | refinement: CEGAR (an iteration for each path) | 17 | 133 |
//! | granularity: literals | 20 | 91 |
//! | granularity: arguments (on a day when the defaults took 96 s) | 18 | 103 |
//! | extraction: MIS | 20 | 79 |
//!
//! With next = uniform and counters, half of the programs of ssh take 2 to 4 times as long. What
//! made no difference is no choice any more: localisation (89 s), minimal cores by 100 queries in
//! place of 10 (88 s), ABSTRACT with all lemmas (89 s), an oracle that forgets (91 s), a limit of a
//! second for an abstraction to be decided (85 s without; it ended 9 of 397 runs' abstractions, whose
//! answers are the same without it).
//!
//! Σ of the clauses as they were written (all passes but `inline`): 13 solved, and 20 by the defaults on
//! the same day. In six of the 13 a smaller part of Σ is in force at the end, in two a larger one.
//!
//! Σ as assumptions in `pdr`'s own solvers was built, measured and left out: a literal for each part
//! beside those of the rules, each core giving its lemma's part of Σ, ABSTRACT a union of these, and one
//! set of solvers, frames and facts for all Σ̂ (a fact being in force where no more is than when it was
//! found). Of all 99 programs at 30 s it answers 84 in place of 90, and takes 257 s in place of 187 s for
//! what both answer. A query takes twice as long (on average 0.64 ms in place of 0.30 ms), perhaps since
//! what was fixed before any query follows from assumptions now, in each query anew; with CEGAR, where
//! Σ̂ stays small and changes often, each fourth program takes 51 s in place of 38 s, 17 solved either
//! way. Nor is there much to gain: ABSTRACT is 5 % of the loop, and the questions without bounds, which
//! alone begin anew when Σ̂ changes, are 6 % of the time with their refinements.
//!
//! Refinement by a core of all runs of the counterexample's length (one unrolling with Σ as
//! assumptions, kept and made longer) was built and left out as well: 83 of the 99 in place of 90, none
//! that is not answered without it, and 244 s in place of 181 s for what both answer. With minimal cores it is
//! slower (each fourth program: 21 solved in 92 s; 21 in 77 s without; PBA 23, 60 s for the 21).
//!
//! In the default strategy the loop comes before `pdr`'s long turn, which goes on from what it leaves
//! (`Search::lemmas`), not after it from `pdr`'s frames (`Search::resume`): of 33 tasks of LIA-Lin, LIA
//! and LRA-Lin that took more than 4 s, the first way answers four that had no answer in 10 s and
//! loses none; the second answers two of them, not `metros_3`, and loses `approx.6`. The loop in place
//! of `pdr` answers three of them and loses three others.
//!
//! With all defaults, 63 of 70 LIA-Lin, 58 of 60 LIA and 23 of 30 LRA-Lin tasks of a development
//! set at 10 s; `pdr` alone 64, 58, 23. Fig. 1(a) as it is written takes 0.3 s; Z3's Spacer alone
//! does not end in 65 s (18 s of processor time).
//!
//! Invariant: a verdict about the clauses as they are comes from EXTRACTINVS or from REFINE,
//! whatever the oracle was asked and said.

mod abstraction;
mod assumptions;
mod bounding;
mod constraints;
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

/// The engine.
#[derive(Clone, Debug, Default)]
pub struct Spacer {
    pub options: Options,
    /// What a loop without answer leaves.
    lemmas: Lemmas,
    /// What an earlier search left.
    earlier: Vec<Leveled>,
}

impl Engine for Spacer {
    fn name(&self) -> &'static str {
        "spacer"
    }

    /// Of quantified constraints it sees instances.
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

    fn resumes_frames(&self) -> bool {
        true
    }
}
