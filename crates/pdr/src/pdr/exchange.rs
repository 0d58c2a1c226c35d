//! Lemmas and reached facts that go to other processes, and theirs.
//!
//! A lemma from elsewhere that is inductive, together with those that were learned in the same way,
//! holds of all facts and has the infinite level. Of the others those are kept that hold of the facts
//! of entry clauses; from there they are pushed like all lemmas. A fact from elsewhere is derived
//! again, in one step from facts that are here already.
//!
//! Sharing lemmas of frames: Chaki and Karimi, "Model checking with multi-threaded IC3 portfolios"
//! (VMCAI 2016). Here the receiver proves them, and facts are shared, too.
//!
//! Invariant: nothing is learned but by an answer of the search's own oracle, or of Houdini's.

use std::time::Duration;

use super::ids::Node;
use super::levels::INFINITE;
use super::search::Search;
use super::summary::Known;
use super::transition::{Answer, Query};
use alphorn_chc::{PredicateId, System};
use alphorn_proof::Stop;
use alphorn_proof::exchange::{About, Exchange};
use alphorn_proof::facts::{Checker, Facts};
use alphorn_term::run::Context;
use alphorn_term::{Op, TermId};

/// Work for what is heard at once, at most: for the proof of lemmas, and as much for the rest.
const WORK: Duration = Duration::from_millis(200);

/// The part of the search's work that it may cost, all in all.
const PART: u32 = 10;

/// Lemmas of a predicate that are tried again with those that come later, at most.
const WAITING: usize = 100;

/// The way to other processes, and what came from there.
pub(super) struct Exchanges<'a> {
    exchange: Exchange,
    /// Made when the first lemma comes.
    checker: Option<Checker<'a>>,
    /// Not inductive yet.
    waiting: Facts,
    /// The work that what was heard has cost, and when the search began.
    spent: Duration,
    begun_at: Duration,
}

impl Exchanges<'_> {
    /// For a search in this system; none without others.
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
    /// If it is time, tells others what is new here, and learns what is true of what they tell.
    pub(super) fn exchange(&mut self) -> Result<(), Stop> {
        let Some(mut exchanges) = self.exchanges.take() else {
            return Ok(());
        };
        let is_due = exchanges.exchange.is_due();
        if is_due {
            let lemmas = self.all_lemmas();
            let lemmas = lemmas.proven.into_iter().chain(lemmas.guesses);
            exchanges
                .exchange
                .tell(self.system, lemmas, self.all_facts());
        }
        let begun_at = self.terms.work();
        let all = begun_at.saturating_sub(exchanges.begun_at);
        if is_due && exchanges.spent <= all / PART {
            let news = exchanges.exchange.news(self.system);
            self.counters.heard += (news.lemmas.len() + news.reached.len()) as u64;
            if !news.lemmas.is_empty() {
                let left = self.learn_inductive(news.lemmas, &mut exchanges)?;
                self.learn_from_entries(left)?;
            }
            self.derive_again(news.reached)?;
            exchanges.spent += self.terms.work().saturating_sub(begun_at);
        }
        self.exchanges = Some(exchanges);
        Ok(())
    }

    /// All reached facts, those that others are derived from before these.
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

    /// Learns the lemmas that are inductive; returns the others.
    fn learn_inductive(
        &mut self,
        heard: About,
        exchanges: &mut Exchanges<'a>,
    ) -> Result<About, Stop> {
        let mut candidates = std::mem::take(&mut exchanges.waiting);
        for &(predicate, lemma) in &heard {
            candidates.entry(predicate).or_default().push(lemma);
        }
        let (system, cx) = (self.system, &*self.cx);
        let new = || Checker::new(system, cx);
        let checker = exchanges.checker.get_or_insert_with(new);
        let before = checker.facts().clone();
        let budget = self.cx.budget.work(WORK);
        let waiting = candidates.clone();
        self.cx.within(budget, |cx| checker.prove(candidates, cx));
        let proven = checker.facts().clone();
        for (&predicate, facts) in &proven {
            let known = before.get(&predicate).map_or(0, Vec::len);
            for &fact in &facts[known..] {
                let (node, cube) = (predicate.into(), self.cube_of(fact));
                // What the lemmas here imply would only cost time.
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
            let surplus = lemmas.len().saturating_sub(WAITING);
            lemmas.drain(..surplus);
            exchanges.waiting.insert(predicate, lemmas);
        }
        let left = heard.into_iter();
        Ok(left.filter(|(p, lemma)| !is_proven(p, lemma)).collect())
    }

    /// Learns the lemmas that hold of what is derived by entry clauses.
    fn learn_from_entries(&mut self, lemmas: About) -> Result<(), Stop> {
        let begun_at = self.terms.work();
        for (predicate, lemma) in lemmas {
            if self.terms.work().saturating_sub(begun_at) > WORK {
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

    /// Derives facts in one step each, if that can be done.
    fn derive_again(&mut self, facts: About) -> Result<(), Stop> {
        let begun_at = self.terms.work();
        for (predicate, fact) in facts {
            if self.terms.work().saturating_sub(begun_at) > WORK {
                break;
            }
            let node: Node = predicate.into();
            let cube = [fact];
            if matches!(self.known(node, &cube, INFINITE)?, Known::Reached) {
                continue;
            }
            match self.reach(node, &cube, INFINITE) {
                Ok(derived) => self.counters.derived += u64::from(derived),
                // Too hard to derive: that is no reason to end the search.
                Err(Stop::Reason(_)) if self.cx.stop().is_none() => {}
                Err(stop) => return Err(stop),
            }
        }
        Ok(())
    }

    /// What a lemma excludes, as literals.
    pub(super) fn cube_of(&self, lemma: TermId) -> Vec<TermId> {
        let negated = self.terms.not(lemma);
        match self.terms.op(negated) {
            Op::And => self.terms.args(negated).to_vec(),
            _ => vec![negated],
        }
    }
}
