//! Exchange of lemmas and reached facts with other processes.
//!
//! A received lemma that is inductive, together with those learned in the same way, holds of all
//! facts and gets the infinite level. Of the others, those that hold of the facts of entry clauses
//! are kept at level 0 or higher and pushed like all lemmas. A received fact is derived again, in
//! one step from known facts.
//!
//! Sharing lemmas of frames: Chaki, Karimi, "Model checking with multi-threaded IC3 portfolios"
//! (VMCAI 2016). Deviations: the receiver proves the lemmas, and facts are shared, too.
//!
//! Invariant: a received lemma or fact is used only after the search's own solver, or Houdini, has
//! proven or derived it.

use std::time::Duration;

use super::ids::Node;
use super::levels::INFINITE;
use super::limits::LIMITS;
use super::search::Search;
use super::summary::Known;
use super::transition::{Answer, Query};
use alphorn_chc::{PredicateId, System};
use alphorn_proof::Stop;
use alphorn_proof::exchange::{About, Exchange};
use alphorn_proof::facts::{Checker, Facts};
use alphorn_term::run::Context;
use alphorn_term::{Op, TermId};

/// The exchange of a search with other processes, and the lemmas received so far.
pub(super) struct Exchanges<'a> {
    exchange: Exchange,
    /// Proves lemmas by induction; made when the first lemma is received.
    checker: Option<Checker<'a>>,
    /// Received lemmas that are not inductive so far.
    waiting: Facts,
    /// Work used for received lemmas and facts.
    spent: Duration,
    /// Work of the term store when the search began.
    begun_at: Duration,
}

impl Exchanges<'_> {
    /// The exchange for a search; `None` if there are no other processes.
    pub fn new(system: &System, cx: &Context) -> Option<Self> {
        Some(Exchanges {
            exchange: Exchange::new(system, cx)?,
            checker: None,
            waiting: Facts::default(),
            spent: Duration::ZERO,
            begun_at: system.terms.work(),
        })
    }
}

impl<'a> Search<'a> {
    /// If it is due, sends new lemmas and facts, and receives those of others.
    pub(super) fn exchange(&mut self) -> Result<(), Stop> {
        let Some(mut exchanges) = self.exchanges.take() else {
            return Ok(());
        };
        let is_due = exchanges.exchange.is_due();
        if is_due {
            let lemmas = self.all_lemmas();
            let lemmas = lemmas.proven.into_iter().chain(lemmas.candidates);
            exchanges
                .exchange
                .send(self.system, lemmas, self.all_facts());
        }
        let begun_at = self.terms.work();
        let all = begun_at.saturating_sub(exchanges.begun_at);
        if is_due && exchanges.spent <= all / LIMITS.exchange_work_divisor {
            let received = exchanges.exchange.receive(self.system);
            self.counters.received += (received.lemmas.len() + received.reached.len()) as u64;
            if !received.lemmas.is_empty() {
                let left = self.learn_inductive(received.lemmas, &mut exchanges)?;
                self.learn_from_entries(left)?;
            }
            self.derive_again(received.reached)?;
            exchanges.spent += self.terms.work().saturating_sub(begun_at);
        }
        self.exchanges = Some(exchanges);
        Ok(())
    }

    /// All reached facts, premises before the facts derived from them.
    fn all_facts(&self) -> About {
        let mut all = Vec::new();
        for p in self.system.used_predicates() {
            let facts = &self.frames[p].facts;
            all.extend(facts.ids().map(|f| (facts[f].height, p, facts[f].formula)));
        }
        all.sort_by_key(|&(height, ..)| height);
        all.into_iter()
            .map(|(_, p, formula)| (p, formula))
            .collect()
    }

    /// Learns those received lemmas that are inductive, together with waiting ones; returns the
    /// others.
    fn learn_inductive(
        &mut self,
        received: About,
        exchanges: &mut Exchanges<'a>,
    ) -> Result<About, Stop> {
        let mut candidates = std::mem::take(&mut exchanges.waiting);
        for &(predicate, lemma) in &received {
            candidates.entry(predicate).or_default().push(lemma);
        }
        let (system, cx) = (self.system, &*self.cx);
        let new = || Checker::new(system, cx);
        let checker = exchanges.checker.get_or_insert_with(new);
        let before = checker.facts().clone();
        let budget = self.cx.budget.work(LIMITS.exchange_work);
        let waiting = candidates.clone();
        self.cx.within(budget, |cx| checker.prove(candidates, cx));
        let proven = checker.facts().clone();
        for (&predicate, facts) in &proven {
            let known = before.get(&predicate).map_or(0, Vec::len);
            for &fact in &facts[known..] {
                let (node, cube) = (predicate.into(), self.cube_of(fact));
                // Lemmas that known lemmas imply are of no use.
                if !matches!(self.known(node, &cube, INFINITE)?, Known::Blocked(_)) {
                    self.learn(node, &cube, INFINITE);
                    self.counters.learned += 1;
                }
            }
        }
        let is_proven = |p: &PredicateId, lemma: &TermId| {
            let facts = proven.get(p);
            facts.is_some_and(|facts| facts.contains(lemma))
        };
        for (predicate, mut lemmas) in waiting {
            lemmas.retain(|lemma| !is_proven(&predicate, lemma));
            let surplus = lemmas.len().saturating_sub(LIMITS.waiting_lemmas);
            lemmas.drain(..surplus);
            exchanges.waiting.insert(predicate, lemmas);
        }
        let left = received.into_iter();
        Ok(left.filter(|(p, lemma)| !is_proven(p, lemma)).collect())
    }

    /// Learns the lemmas that hold of the facts of entry clauses.
    fn learn_from_entries(&mut self, lemmas: About) -> Result<(), Stop> {
        let begun_at = self.terms.work();
        for (predicate, lemma) in lemmas {
            if self.terms.work().saturating_sub(begun_at) > LIMITS.exchange_work {
                break;
            }
            let cube = self.cube_of(lemma);
            let node: Node = predicate.into();
            if matches!(self.known(node, &cube, 0)?, Known::Blocked(_)) {
                continue;
            }
            let query = Query {
                from: None,
                cube: &cube,
                assume: None,
                must: &[],
                reached: None,
                rule: None,
            };
            if let Answer::Unsat { cube, level } = self.ask(node, query)? {
                self.learn(node, &cube, level);
                self.counters.learned += 1;
            }
        }
        Ok(())
    }

    /// Derives facts in one step each, if possible.
    fn derive_again(&mut self, facts: About) -> Result<(), Stop> {
        let begun_at = self.terms.work();
        for (predicate, fact) in facts {
            if self.terms.work().saturating_sub(begun_at) > LIMITS.exchange_work {
                break;
            }
            let node: Node = predicate.into();
            let cube = [fact];
            if matches!(self.known(node, &cube, INFINITE)?, Known::Reached) {
                continue;
            }
            match self.reach(node, &cube, INFINITE) {
                Ok(derived) => self.counters.derived += u64::from(derived),
                // A fact that the solver cannot derive does not end the search.
                Err(Stop::Reason(_)) if self.cx.stop().is_none() => {}
                Err(stop) => return Err(stop),
            }
        }
        Ok(())
    }

    /// The cube of states that a lemma excludes.
    pub(super) fn cube_of(&self, lemma: TermId) -> Vec<TermId> {
        let negated = self.terms.not(lemma);
        match self.terms.op(negated) {
            Op::And => self.terms.args(negated).to_vec(),
            _ => vec![negated],
        }
    }
}
