//! A search that begins with lemmas of an earlier one about the same predicates.
//!
//! The clauses may have changed since, so the lemmas are claims. All claims are put in force
//! together at their levels, and each is checked by a query against the level below. If all hold,
//! they are the first frames. Otherwise those that do not hold get lower levels or are dropped, and
//! the rest is checked again.
//!
//! Deviation from Bradley, "SAT-based model checking without unrolling" (VMCAI 2011), where frames
//! begin empty.
//!
//! Invariant: the search begins with frames whose lemmas were proven by its own solver, or without
//! lemmas.

use super::ids::Node;
use super::levels::{INFINITE, Level};
use super::limits::LIMITS;
use super::search::Search;
use super::transition::{Answer, Query};
use alphorn_proof::Stop;
use alphorn_proof::facts::Leveled;
use alphorn_term::TermId;

/// A lemma of the earlier search.
struct Claim {
    node: Node,
    /// The excluded cube.
    cube: Vec<TermId>,
    /// The level up to which it is to hold.
    level: Level,
}

impl Search<'_> {
    /// Takes over those lemmas of an earlier search that hold. The search must have no lemmas yet.
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

    /// Proves claims round by round until all that are left hold.
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
        let part = self
            .cx
            .remaining()
            .map_or(LIMITS.resume_work, |left| left / LIMITS.resume_time_divisor);
        let end = self.terms.work() + part.min(LIMITS.resume_work);
        for round in 0..=LIMITS.resume_rounds {
            // Lemmas of the highest levels last, since they make lemmas that they imply inactive.
            claims.sort_by_key(|claim| claim.level);
            for claim in &claims {
                self.frames[claim.node].add(&self.terms, &claim.cube, claim.level);
            }
            log::debug!(
                "resume: {} of {} lemmas, round {round}",
                claims.len(),
                left.len()
            );
            let mut settled = true;
            let mut kept = Vec::with_capacity(claims.len());
            for mut claim in claims.into_iter().rev() {
                if self.terms.work() >= end {
                    log::debug!(
                        "resume: the work limit was reached after {} lemmas; all are dropped",
                        kept.len()
                    );
                    self.forget();
                    return Ok(());
                }
                let claimed = claim.level;
                let holds = self.lower(&mut claim)?;
                settled &= holds && claim.level == claimed;
                // In the last round all claims are at level 0, where none depends on another.
                if round + 1 == LIMITS.resume_rounds {
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

    /// Lowers a claim to the highest level, at most its own, at which the frames below imply it;
    /// `false` if there is none.
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

    /// The highest finite level of a lemma.
    fn highest(&self) -> Level {
        let frames = self.frames.nodes().map(|node| &self.frames[node]);
        let levels = frames.flat_map(|frame| frame.lemmas.iter().map(|lemma| lemma.level));
        levels.filter(|&level| level != INFINITE).max().unwrap_or(0)
    }

    /// Removes all lemmas and facts.
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
