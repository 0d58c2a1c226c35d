//! Sends lemmas and reached facts to other processes that solve the same problem, and receives
//! theirs.
//!
//! A message is the text of clauses that follow from those of the problem: `P(x) ∧ ¬lemma ⇒ false`,
//! and `fact ⇒ P(x)`, facts in the order of their derivation. A clause is about the predicate with
//! the same name and sorts of arguments, which may mean something else after other passes.
//!
//! Invariant: received formulas are only candidates. An engine proves a received lemma, or derives
//! a received fact again, before it uses it.

use std::rc::Rc;
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};

use alphorn_chc::frontend::parse;
use alphorn_chc::{Atom, PredicateId, System, to_smtlib};
use alphorn_term::run::{Bus, Context};
use alphorn_term::{SortId, TermId, TermStore};

/// Limits of the exchange with other processes.
struct Limits {
    /// Time between two exchanges, at least.
    period: Duration,
    /// Nodes of the DAG of a formula; larger ones are not sent.
    max_formula_nodes: usize,
    /// Lemmas in one message, and facts; the others are not sent.
    max_formulas: usize,
    /// Bytes of a message; formulas are left out of longer ones, and longer ones are not read.
    max_message_bytes: usize,
}

const LIMITS: Limits = Limits {
    period: Duration::from_millis(500),
    max_formula_nodes: 60,
    max_formulas: 100,
    max_message_bytes: 1 << 16,
};

/// Formulas about predicates, over their formal variables.
pub type About = Vec<(PredicateId, TermId)>;

/// Formulas that other processes sent.
#[derive(Debug, Default)]
pub struct Received {
    /// Candidates for lemmas, about all derivable facts or those that the sender has reached so
    /// far.
    pub lemmas: About,
    /// Candidates for derivable facts, each by one clause from those before it.
    pub reached: About,
}

/// The exchange of formulas about one system.
pub struct Exchange {
    bus: Rc<dyn Bus>,
    terms: Rc<TermStore>,
    /// The predicates by name and sorts of arguments.
    named: FxHashMap<(String, Vec<SortId>), PredicateId>,
    /// The number of messages read so far.
    read: usize,
    /// Formulas that were sent or received; true for facts.
    known: FxHashSet<(PredicateId, TermId, bool)>,
    due: Instant,
}

impl Exchange {
    /// An exchange about a system; `None` without a bus. Messages that were sent before are
    /// received, too.
    pub fn new(system: &System, cx: &Context) -> Option<Exchange> {
        let bus = cx.bus.clone()?;
        let terms = system.terms.clone();
        let mut named = FxHashMap::default();
        for id in system.used_predicates() {
            let predicate = system.predicate(id);
            let key = (predicate.name.clone(), sorts(&terms, &predicate.params));
            named.entry(key).or_insert(id);
        }
        Some(Exchange {
            bus,
            terms,
            named,
            read: 0,
            known: FxHashSet::default(),
            due: Instant::now(),
        })
    }

    /// Whether the period between two exchanges has passed since this was last true.
    pub fn is_due(&mut self) -> bool {
        let now = Instant::now();
        let is_due = now >= self.due;
        if is_due {
            self.due = now + LIMITS.period;
        }
        is_due
    }

    /// Sends the formulas that are new and not too large, over the formal variables. If there are
    /// too many, those that come first are sent.
    pub fn send(
        &mut self,
        system: &System,
        lemmas: impl IntoIterator<Item = (PredicateId, TermId)>,
        reached: impl IntoIterator<Item = (PredicateId, TermId)>,
    ) {
        let terms = self.terms.clone();
        let mut message = System::new(terms.clone());
        // In the order of the clauses.
        let mut keys: Vec<(PredicateId, TermId, bool)> = Vec::new();
        let mut places: FxHashMap<PredicateId, PredicateId> = FxHashMap::default();
        let mut atom = |message: &mut System, predicate: PredicateId| {
            let about = system.predicate(predicate);
            let place = *places.entry(predicate).or_insert_with(|| {
                message.predicates.push(about.clone());
                PredicateId(
                    u32::try_from(message.predicates.len() - 1)
                        .expect("fewer than 2^32 predicates"),
                )
            });
            Atom {
                predicate: place,
                args: about.params.clone(),
            }
        };
        let lemmas = lemmas.into_iter().filter(|&l| self.is_new(l, false));
        for (predicate, lemma) in lemmas.take(LIMITS.max_formulas).collect::<Vec<_>>() {
            keys.push((predicate, lemma, false));
            let body = atom(&mut message, predicate);
            message.add_clause(vec![body], terms.not(lemma), None);
        }
        let reached = reached.into_iter().filter(|&f| self.is_new(f, true));
        for (predicate, fact) in reached.take(LIMITS.max_formulas).collect::<Vec<_>>() {
            keys.push((predicate, fact, true));
            let head = atom(&mut message, predicate);
            message.add_clause(Vec::new(), fact, Some(head));
        }
        while !message.clauses.is_empty() {
            let text = to_smtlib(&message);
            let fits = text.len() <= LIMITS.max_message_bytes;
            let count = message.clauses.len();
            if fits || count == 1 {
                // A clause that is too long on its own is never sent.
                self.known.extend(&keys[..count]);
            }
            if fits {
                return self.bus.send(&text);
            }
            message.clauses.truncate(count / 2);
        }
    }

    fn is_new(&self, (predicate, formula): (PredicateId, TermId), is_fact: bool) -> bool {
        let is_known = self.known.contains(&(predicate, formula, is_fact));
        !is_known
            && !self.terms.node(formula).has_quantifier
            && self.terms.called(&[formula]).is_empty()
            && self.terms.dag_size(&[formula]) <= LIMITS.max_formula_nodes
    }

    /// The formulas that others have sent since the last call.
    pub fn receive(&mut self, system: &System) -> Received {
        let mut received = Received::default();
        let texts = self.bus.received(self.read);
        self.read += texts.len();
        for text in texts {
            if text.len() <= LIMITS.max_message_bytes {
                self.read_text(system, &text, &mut received);
            }
        }
        received
    }

    fn read_text(&mut self, system: &System, text: &str, received: &mut Received) {
        let terms = self.terms.clone();
        let problem = match parse(text, terms.clone()) {
            Ok(problem) => problem,
            Err(error) => {
                log::debug!("a message of another process cannot be read: {error}");
                return;
            }
        };
        for clause in &problem.clauses {
            // The head of a lemma is `false`, or a predicate without arguments if there are several
            // queries.
            let (atom, is_fact) = match (&clause.body[..], &clause.head) {
                ([atom], None) => (atom, false),
                ([atom], Some(head)) if head.args.is_empty() => (atom, false),
                ([], Some(head)) => (head, true),
                _ => continue,
            };
            let about = &problem.predicates[atom.predicate.index()];
            let key = (about.name.clone(), sorts(&terms, &about.params));
            let Some(&predicate) = self.named.get(&key) else {
                continue;
            };
            let formals = system.predicate(predicate).params.iter().copied();
            let map: FxHashMap<TermId, TermId> = atom.args.iter().copied().zip(formals).collect();
            let free = terms.free_vars(&[clause.constraint]);
            if !free.iter().all(|v| map.contains_key(v)) {
                continue;
            }
            let formula = terms.substitute(clause.constraint, &map);
            let formula = if is_fact { formula } else { terms.not(formula) };
            if self.known.insert((predicate, formula, is_fact)) {
                let list = match is_fact {
                    true => &mut received.reached,
                    false => &mut received.lemmas,
                };
                list.push((predicate, formula));
            }
        }
    }
}

fn sorts(terms: &TermStore, vars: &[TermId]) -> Vec<SortId> {
    vars.iter().map(|&v| terms.sort_of(v)).collect()
}

#[cfg(test)]
mod tests;
