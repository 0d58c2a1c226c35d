//! A search that begins with the frames of an earlier one, of the same predicates.
//!
//! The clauses may have become stronger since, or others; what an earlier search held for true up to
//! a level is a claim here. All claims are put in force together, and each is asked about once, at
//! the level before its own: if all hold, they are frames. If some do not, these get lower levels, or
//! go, and the rest is asked about again.
//!
//! Deviation from Bradley, "SAT-Based Model Checking without Unrolling" (VMCAI 2011), where frames
//! begin empty.
//!
//! Invariant: the search begins with frames whose lemmas an answer of its own oracle has shown, or
//! without lemmas.

use std::time::Duration;

use super::ids::Node;
use super::levels::{INFINITE, Level};
use super::search::Search;
use super::transition::{Answer, Query};
use alphorn_proof::Stop;
use alphorn_proof::facts::Leveled;
use alphorn_term::TermId;

/// Times that all claims are asked about, at most.
const ROUNDS: usize = 4;

/// The work that this takes at most, and as a part of the time left.
const WORK: Duration = Duration::from_secs(60);
const PART: u32 = 2;

/// What is said to be excluded up to a level.
struct Claim {
    node: Node,
    cube: Vec<TermId>,
    level: Level,
}

impl Search<'_> {
    /// Takes over what holds of an earlier search's lemmas. The search has learned nothing so far.
    ///
    /// # Errors
    /// A limit of the run, or a defect; then there are no lemmas.
    pub(super) fn resume(&mut self, left: &[Leveled]) -> Result<(), Stop> {
        let resumed = self.prove_claims(left);
        if resumed.is_err() {
            self.forget();
        }
        resumed
    }

    fn prove_claims(&mut self, left: &[Leveled]) -> Result<(), Stop> {
        let used = self.system.used_predicates();
        let mut claims: Vec<Claim> = Vec::new();
        for lemma in left {
            let node: Node = lemma.predicate.into();
            let about = self.terms.free_vars(&[lemma.formula]);
            if used.contains(&lemma.predicate)
                && about.iter().all(|v| self.params(node).contains(v))
            {
                claims.push(Claim {
                    node,
                    cube: self.cube_of(lemma.formula),
                    level: lemma.level,
                });
            }
        }
        self.counters.claims += left.len() as u64;
        let part = self.cx.remaining().map_or(WORK, |left| left / PART);
        let end = self.terms.work() + part.min(WORK);
        for round in 0..=ROUNDS {
            // Lemmas of the highest levels last: they switch off what they imply.
            claims.sort_by_key(|claim| claim.level);
            for claim in &claims {
                self.frames[claim.node].add(&self.terms, &claim.cube, claim.level);
            }
            log::debug!(
                "resuming: {} of {} lemmas, round {round}",
                claims.len(),
                left.len()
            );
            let mut settled = true;
            let mut kept = Vec::with_capacity(claims.len());
            for mut claim in claims.into_iter().rev() {
                if self.terms.work() >= end {
                    log::debug!(
                        "resuming: {} claims hold, then the work is spent",
                        kept.len()
                    );
                    self.forget();
                    return Ok(());
                }
                let claimed = claim.level;
                let holds = self.lower(&mut claim)?;
                settled &= holds && claim.level == claimed;
                // What is to settle at last needs no other claim.
                if round + 1 == ROUNDS {
                    claim.level = 0;
                }
                if holds {
                    kept.push(claim);
                }
            }
            claims = kept;
            if settled {
                self.counters.resumed += claims.len() as u64;
                return Ok(());
            }
            self.forget();
        }
        Ok(())
    }

    /// Lowers a claim to a level at which the frames before show it; `false` if there is none.
    fn lower(&mut self, claim: &mut Claim) -> Result<bool, Stop> {
        loop {
            let from = match claim.level {
                INFINITE => Some(INFINITE),
                level => level.checked_sub(1),
            };
            let query = Query {
                from,
                cube: &claim.cube,
                assume: None,
                must: &[],
                reached: None,
                rule: None,
            };
            if matches!(self.ask(claim.node, query)?, Answer::Unsat { .. }) {
                return Ok(true);
            }
            claim.level = match claim.level {
                INFINITE => self.highest(),
                0 => return Ok(false),
                level => level - 1,
            };
        }
    }

    /// The highest level of a lemma, but for the infinite one.
    fn highest(&self) -> Level {
        let frames = self.frames.nodes().map(|node| &self.frames[node]);
        let levels = frames.flat_map(|frame| frame.lemmas.iter().map(|lemma| lemma.level));
        levels.filter(|&level| level != INFINITE).max().unwrap_or(0)
    }

    /// Forgets all lemmas.
    fn forget(&mut self) {
        let system = self.system;
        for (_, transition) in self.transitions.iter_mut() {
            if let Some(transition) = transition {
                transition.renew(system, |_| false);
            }
        }
        for (_, frame) in self.frames.iter_mut() {
            frame.renew(&system.terms, &[]);
        }
    }
}
