//! Lemmas and reached facts on their way to other processes that solve the same problem, and theirs
//! here.
//!
//! What travels are clauses of a text in the dialect of systems, such as would follow from the
//! clauses of the problem: `P(x) ∧ ¬lemma ⇒ false`, and `fact ⇒ P(x)` in the order of derivation.
//! They are about the predicate of the same name with the same sorts of arguments. After other passes
//! that may be another predicate.
//!
//! Invariant: what is heard is a guess. Who relies on it proves it, or derives it again.

use std::rc::Rc;
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};

use alphorn_chc::frontend::parse;
use alphorn_chc::{Atom, PredicateId, System, to_smtlib};
use alphorn_term::run::{Bus, Context};
use alphorn_term::{SortId, TermId, TermStore};

/// Time between two exchanges, at least.
const PERIOD: Duration = Duration::from_millis(500);

/// Larger formulas stay here.
const SIZE: usize = 60;

/// Lemmas told at once, at most, and facts.
const MOST: usize = 100;

/// Longer texts are not told and not read, in bytes.
const LENGTH: usize = 1 << 16;

/// Formulas over the formal variables of predicates.
pub type About = Vec<(PredicateId, TermId)>;

/// What others tell.
#[derive(Debug, Default)]
pub struct News {
    /// What is to hold of all derivable facts, or of those that a search has come to.
    pub lemmas: About,
    /// Facts that are to be derivable, each from those before it and from nothing else.
    pub reached: About,
}

/// What was told and heard about one system.
pub struct Exchange {
    bus: Rc<dyn Bus>,
    terms: Rc<TermStore>,
    /// By name and sorts of arguments.
    named: FxHashMap<(String, Vec<SortId>), PredicateId>,
    /// How many texts were read.
    read: usize,
    /// What was told or heard: as a lemma, or as a fact.
    known: FxHashSet<(PredicateId, TermId, bool)>,
    due: Instant,
}

impl Exchange {
    /// For lemmas about a system, with nothing heard yet; none without a bus.
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

    /// Whether some time has passed since this was last true.
    pub fn is_due(&mut self) -> bool {
        let now = Instant::now();
        let is_due = now >= self.due;
        if is_due {
            self.due = now + PERIOD;
        }
        is_due
    }

    /// Tells what is new and not too large, what comes first before what comes later. Lemmas and
    /// facts are over the formal variables.
    pub fn tell(
        &mut self,
        system: &System,
        lemmas: impl IntoIterator<Item = (PredicateId, TermId)>,
        reached: impl IntoIterator<Item = (PredicateId, TermId)>,
    ) {
        let terms = self.terms.clone();
        let mut told = System::new(terms.clone());
        // By clause.
        let mut keys: Vec<(PredicateId, TermId, bool)> = Vec::new();
        let mut places: FxHashMap<PredicateId, PredicateId> = FxHashMap::default();
        let mut atom = |told: &mut System, predicate: PredicateId| {
            let about = system.predicate(predicate);
            let place = *places.entry(predicate).or_insert_with(|| {
                told.predicates.push(about.clone());
                PredicateId(u32::try_from(told.predicates.len() - 1).expect("a few"))
            });
            Atom {
                predicate: place,
                args: about.params.clone(),
            }
        };
        let lemmas = lemmas.into_iter().filter(|&l| self.is_news(l, false));
        for (predicate, lemma) in lemmas.take(MOST).collect::<Vec<_>>() {
            keys.push((predicate, lemma, false));
            let body = atom(&mut told, predicate);
            told.add_clause(vec![body], terms.not(lemma), None);
        }
        let reached = reached.into_iter().filter(|&f| self.is_news(f, true));
        for (predicate, fact) in reached.take(MOST).collect::<Vec<_>>() {
            keys.push((predicate, fact, true));
            let head = atom(&mut told, predicate);
            told.add_clause(Vec::new(), fact, Some(head));
        }
        while !told.clauses.is_empty() {
            let text = to_smtlib(&told);
            let fits = text.len() <= LENGTH;
            let count = told.clauses.len();
            if fits || count == 1 {
                // What does not fit alone never will.
                self.known.extend(&keys[..count]);
            }
            if fits {
                return self.bus.tell(&text);
            }
            told.clauses.truncate(count / 2);
        }
    }

    fn is_news(&self, (predicate, formula): (PredicateId, TermId), is_fact: bool) -> bool {
        let is_known = self.known.contains(&(predicate, formula, is_fact));
        !is_known
            && !self.terms.node(formula).has_quantifier
            && self.terms.called(&[formula]).is_empty()
            && self.terms.dag_size(&[formula]) <= SIZE
    }

    /// What was told by others since this was last asked.
    pub fn news(&mut self, system: &System) -> News {
        let mut news = News::default();
        let texts = self.bus.heard(self.read);
        self.read += texts.len();
        for text in texts {
            if text.len() <= LENGTH {
                self.read_text(system, &text, &mut news);
            }
        }
        news
    }

    fn read_text(&mut self, system: &System, text: &str, news: &mut News) {
        let terms = self.terms.clone();
        let problem = match parse(text, terms.clone()) {
            Ok(problem) => problem,
            Err(error) => {
                log::debug!("what another process told cannot be read: {error}");
                return;
            }
        };
        for clause in &problem.clauses {
            // The head of a lemma is `false`, or what stands for it where there are several.
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
            let said = terms.substitute(clause.constraint, &map);
            let said = if is_fact { said } else { terms.not(said) };
            if self.known.insert((predicate, said, is_fact)) {
                let list = match is_fact {
                    true => &mut news.reached,
                    false => &mut news.lemmas,
                };
                list.push((predicate, said));
            }
        }
    }
}

fn sorts(terms: &TermStore, vars: &[TermId]) -> Vec<SortId> {
    vars.iter().map(|&v| terms.sort_of(v)).collect()
}

#[cfg(test)]
pub mod tests;
