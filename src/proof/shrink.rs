//! A smaller model of the same clauses, by unsatisfiable cores.
//!
//! What engines learn, and what ways back through the passes conjoin, is more than the clauses
//! need. Definitions are and-or trees. A conjunct becomes `true` where no clause needs it as a
//! premise: from the queries back, each clause that derives what is needed tells by a core which
//! conjuncts of its body it needs, and these have to be derived, too (as in `needed_lemmas`, but
//! conjuncts may stand anywhere in the tree). Then a disjunct becomes `false` where no clause that
//! derives the predicate needs it in its head: the premises only become stronger. Both are one
//! query with a literal for each part, in incremental solvers, and the core is made smaller from
//! the largest parts on. The two take turns until neither finds more.
//!
//! Invariant: from a model comes a model. Where a query has no answer, all parts that it is about
//! are kept, and when the budget is spent the definitions are those of the last step that was
//! completed.

use std::collections::VecDeque;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::clauses::{Clauses, Lemma, Solvers};
use crate::chc::{PredicateId, System};
use crate::run::Budget;
use crate::smt::{CoreEffort, Smt};
use crate::term::{Op, SortId, TermId, TermStore};

/// Definitions of predicates, over their formal variables.
type Definitions = FxHashMap<PredicateId, TermId>;

/// Queries after the first one that make a core smaller, and at most for one core.
const CORE_QUERIES: usize = 30;

/// A query may take this part of the budget.
const QUERY_PART: u32 = 10;

/// Each round is a step in both directions. Most is done after the first.
const ROUNDS: usize = 3;

/// The number of distinct terms in definitions: as they are printed, but for names of arguments.
pub(crate) fn size(terms: &TermStore, definitions: &Definitions) -> usize {
    definitions.values().map(|&f| terms.dag_size(&[f])).sum()
}

/// Smaller definitions than these, which have to be a model of the system; `None` if none are
/// found within the budget.
pub(crate) fn shrink(
    system: &System,
    definitions: &Definitions,
    smt: &Rc<Smt>,
    budget: &Budget,
) -> Option<Definitions> {
    let terms = &system.terms;
    let used = system.used_predicates();
    if !used.iter().all(|p| definitions.contains_key(p)) {
        return None;
    }
    let limit = smt.query_limit();
    smt.set_query_limit(budget.left().map(|left| left / QUERY_PART));
    let mut shrinking = Shrinking {
        system,
        terms: terms.clone(),
        clauses: Clauses::new(system, Solvers::PerClause, smt),
        definitions: definitions
            .iter()
            .map(|(&predicate, &formula)| (predicate, pushed_inwards(terms, formula)))
            .collect(),
        budget,
    };
    for _ in 0..ROUNDS {
        let before = shrinking.definitions.clone();
        // Without a step to its end there is no next one.
        let done = shrinking
            .weaken()
            .and_then(|()| shrinking.strengthen())
            .is_some();
        if !done || shrinking.definitions == before {
            break;
        }
    }
    smt.set_query_limit(limit);
    let found = shrinking.definitions;
    (size(terms, &found) < size(terms, definitions)).then_some(found)
}

/// What parts are looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parts {
    /// Those that may become `true`.
    Conjuncts,
    /// Those that may become `false`.
    Disjuncts,
}

/// A definition in which each part is there if its literal is assumed.
struct Guarded {
    formula: TermId,
    /// Parts and their literals, the largest last.
    literals: Vec<(TermId, TermId)>,
}

struct Shrinking<'a> {
    system: &'a System,
    terms: Rc<TermStore>,
    clauses: Clauses,
    definitions: Definitions,
    budget: &'a Budget,
}

impl Shrinking<'_> {
    /// Drops the conjuncts that the queries do not need. `None` if the budget is spent before that.
    fn weaken(&mut self) -> Option<()> {
        let terms = self.terms.clone();
        let mut bodies: FxHashMap<PredicateId, (Lemma, Guarded)> = FxHashMap::default();
        for (&predicate, &formula) in &self.definitions {
            let guarded = guard(&terms, formula, Parts::Conjuncts);
            let lemma = self
                .clauses
                .lemma(Some(predicate), guarded.formula, TermId::TRUE);
            bodies.insert(predicate, (lemma, guarded));
        }
        let mut needed: FxHashMap<PredicateId, FxHashSet<TermId>> = FxHashMap::default();
        // Conjuncts, as far as they were needed then, that were found to be derived.
        let mut derived: FxHashMap<PredicateId, FxHashSet<TermId>> = FxHashMap::default();
        let mut open: VecDeque<Option<PredicateId>> = VecDeque::from([None]);
        let mut waiting: FxHashSet<PredicateId> = FxHashSet::default();
        while let Some(goal) = open.pop_front() {
            let violation = match goal {
                None => TermId::TRUE,
                Some(predicate) => {
                    waiting.remove(&predicate);
                    let parts = needed.entry(predicate).or_default();
                    let known = derived.entry(predicate).or_default();
                    let formula = keep(
                        &terms,
                        self.definitions[&predicate],
                        Parts::Conjuncts,
                        parts,
                    );
                    let mut new = terms.conjuncts(formula);
                    new.retain(|&conjunct| known.insert(conjunct));
                    terms.not(terms.and(&new))
                }
            };
            if violation == TermId::FALSE {
                continue;
            }
            for clause in self.clauses.deriving(goal).to_vec() {
                let sources = self.clauses.sources_of(clause).to_vec();
                let mut hard = vec![self.clauses.in_force(clause), violation];
                let mut soft: Vec<(PredicateId, TermId, TermId)> = Vec::new();
                for source in sources {
                    let (lemma, guarded) = &bodies[&source];
                    hard.push(lemma.premise);
                    let kept = needed.entry(source).or_default();
                    for &(part, literal) in &guarded.literals {
                        match kept.contains(&part) {
                            true => hard.push(literal),
                            false => soft.push((source, part, literal)),
                        }
                    }
                }
                if soft.is_empty() {
                    continue;
                }
                soft.sort_by_key(|&(_, part, _)| terms.dag_size(&[part]));
                let literals: Vec<TermId> = soft.iter().map(|s| s.2).collect();
                let core = self.core(clause, &hard, &literals)?;
                for (source, part, literal) in soft {
                    if core.contains(&literal) {
                        needed.entry(source).or_default().insert(part);
                        if waiting.insert(source) {
                            open.push_back(Some(source));
                        }
                    }
                }
            }
        }
        for (predicate, formula) in &mut self.definitions {
            let parts = needed.entry(*predicate).or_default();
            *formula = keep(&terms, *formula, Parts::Conjuncts, parts);
        }
        Some(())
    }

    /// Drops the disjuncts that no clause derives. `None` if the budget is spent before that.
    fn strengthen(&mut self) -> Option<()> {
        let terms = self.terms.clone();
        for predicate in self.system.used_predicates() {
            let formula = self.definitions[&predicate];
            if formula == TermId::FALSE {
                continue;
            }
            let Guarded {
                formula: guarded,
                literals,
            } = guard(&terms, formula, Parts::Disjuncts);
            let violation = terms.not(guarded);
            let mut needed: FxHashSet<TermId> = FxHashSet::default();
            for clause in self.clauses.deriving(Some(predicate)).to_vec() {
                let mut hard = vec![self.clauses.in_force(clause), violation];
                for source in self.clauses.sources_of(clause).to_vec() {
                    let formula = self.definitions[&source];
                    let lemma = self.clauses.lemma(Some(source), formula, TermId::TRUE);
                    hard.push(lemma.premise);
                }
                let mut soft = Vec::new();
                for &(part, literal) in &literals {
                    match needed.contains(&part) {
                        true => hard.push(literal),
                        false => soft.push(literal),
                    }
                }
                if soft.is_empty() {
                    break;
                }
                let core = self.core(clause, &hard, &soft)?;
                let used = literals.iter().filter(|(_, l)| core.contains(l));
                needed.extend(used.map(|(part, _)| *part));
            }
            let stronger = keep(&terms, formula, Parts::Disjuncts, &needed);
            self.definitions.insert(predicate, stronger);
        }
        Some(())
    }

    /// The literals that a clause needs; all of them if it is not found to hold. `None` if the
    /// budget is spent.
    fn core(
        &mut self,
        clause: usize,
        hard: &[TermId],
        soft: &[TermId],
    ) -> Option<FxHashSet<TermId>> {
        if self.budget.is_spent() {
            return None;
        }
        let group = self.clauses.group_of(clause);
        self.clauses.tell(group, hard);
        let effort = CoreEffort {
            queries: CORE_QUERIES,
            budget: Some(self.budget),
        };
        let core = self.clauses.solver(group).core_by(hard, soft, effort);
        Some(core.map_or_else(
            || soft.iter().copied().collect(),
            |core| core.into_iter().collect(),
        ))
    }
}

/// The formula with literals for its parts. The whole formula is a part where it has none at its
/// root.
fn guard(terms: &TermStore, formula: TermId, parts: Parts) -> Guarded {
    let mut found: Vec<(TermId, TermId)> = Vec::new();
    let mut literals: FxHashMap<TermId, TermId> = FxHashMap::default();
    let formula = rebuilt(terms, formula, parts, |part, inner| {
        let literal = *literals.entry(part).or_insert_with(|| {
            let literal = terms.fresh_var("part", SortId::BOOL);
            found.push((part, literal));
            literal
        });
        match parts {
            Parts::Conjuncts => terms.or(&[terms.not(literal), inner]),
            Parts::Disjuncts => terms.and(&[literal, inner]),
        }
    });
    found.sort_by_key(|&(part, _)| terms.dag_size(&[part]));
    Guarded {
        formula,
        literals: found,
    }
}

/// The formula without the parts that are not among these.
fn keep(terms: &TermStore, formula: TermId, parts: Parts, kept: &FxHashSet<TermId>) -> TermId {
    let unit = terms.bool(parts == Parts::Conjuncts);
    rebuilt(terms, formula, parts, |part, inner| {
        if kept.contains(&part) { inner } else { unit }
    })
}

/// The formula with something else for each part, which is made from the part and from what has
/// become of the parts inside.
fn rebuilt(
    terms: &TermStore,
    formula: TermId,
    parts: Parts,
    mut replace: impl FnMut(TermId, TermId) -> TermId,
) -> TermId {
    let split = match parts {
        Parts::Conjuncts => Op::And,
        Parts::Disjuncts => Op::Or,
    };
    let mut done: FxHashMap<TermId, TermId> = FxHashMap::default();
    let mut stack = vec![(formula, false)];
    while let Some((term, is_back)) = stack.pop() {
        if done.contains_key(&term) {
            continue;
        }
        let node = terms.node(term);
        let is_inner = matches!(node.op, Op::And | Op::Or | Op::Forall(_) | Op::Exists(_));
        if !is_inner {
            done.insert(term, term);
        } else if !is_back {
            stack.push((term, true));
            stack.extend(node.args.iter().map(|&arg| (arg, false)));
        } else {
            let args = node.args.iter().map(|arg| match node.op == split {
                true => replace(*arg, done[arg]),
                false => done[arg],
            });
            let args: Vec<TermId> = args.collect();
            done.insert(term, terms.rebuild(&node.op, &args, node.sort));
        }
    }
    let whole = done[&formula];
    match *terms.op(formula) == split {
        true => whole,
        false => replace(formula, whole),
    }
}

/// The formula with negations at what is no conjunction, disjunction or quantifier.
fn pushed_inwards(terms: &TermStore, formula: TermId) -> TermId {
    let mut done: FxHashMap<(TermId, bool), TermId> = FxHashMap::default();
    let mut stack = vec![(formula, true, false)];
    while let Some((term, holds, is_back)) = stack.pop() {
        if done.contains_key(&(term, holds)) {
            continue;
        }
        let node = terms.node(term);
        let inside = holds != (node.op == Op::Not);
        if !matches!(
            node.op,
            Op::And | Op::Or | Op::Not | Op::Forall(_) | Op::Exists(_)
        ) {
            let literal = if holds { term } else { terms.not(term) };
            done.insert((term, holds), literal);
        } else if !is_back {
            stack.push((term, holds, true));
            stack.extend(node.args.iter().map(|&arg| (arg, inside, false)));
        } else {
            let args: Vec<TermId> = node.args.iter().map(|&arg| done[&(arg, inside)]).collect();
            let new = match (&node.op, holds) {
                (Op::Not, _) => args[0],
                (Op::And, true) | (Op::Or, false) => terms.and(&args),
                (Op::And, false) | (Op::Or, true) => terms.or(&args),
                (Op::Forall(vars), true) | (Op::Exists(vars), false) => terms.forall(vars, args[0]),
                (Op::Forall(vars), false) | (Op::Exists(vars), true) => terms.exists(vars, args[0]),
                _ => unreachable!("the others are literals"),
            };
            done.insert((term, holds), new);
        }
    }
    done[&(formula, true)]
}
