//! A smaller model of the same clauses, by unsatisfiable cores.
//!
//! Engines learn more than the clauses need, and back-translations add conjuncts. Definitions are
//! and-or trees. A conjunct becomes `true` if no clause needs it as a premise: from the queries
//! back, a core for each clause that derives a needed formula shows the conjuncts of its body that
//! it needs, and these have to be derived, too (as in `needed_lemmas`, but conjuncts may be
//! anywhere in the tree). Then a disjunct becomes `false` if no clause that derives the predicate
//! needs it in its head: this only strengthens premises. Both use one query with a literal for each
//! part, in incremental solvers; cores are minimized from the largest parts on, with more queries
//! from round to round. The two steps alternate until neither finds anything.
//!
//! Invariant: a model becomes a model. If a query has no answer, all its parts are kept, and if the
//! budget is spent, the result is that of the last completed step.

use std::collections::VecDeque;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::clauses::{Clauses, Lemma, Solvers};
use alphorn_chc::{PredicateId, System};
use alphorn_smt::{CoreEffort, Smt};
use alphorn_term::run::Budget;
use alphorn_term::{Op, SortId, TermId, TermStore};

/// Definitions of predicates, over their formal variables.
type Definitions = FxHashMap<PredicateId, TermId>;

/// Limits of making a model smaller.
struct Limits {
    /// Queries that minimize a core, by round of both steps. In the first round Z3's cores suffice,
    /// since most parts that are not needed are far from the needed ones.
    core_queries: [usize; 3],
    /// Clauses of a system; models of larger ones are not made smaller.
    max_clauses: usize,
    /// The work of one query is the budget divided by this number.
    query_part: u32,
}

const LIMITS: Limits = Limits {
    core_queries: [0, 20, 40],
    max_clauses: 3000,
    query_part: 10,
};

/// The number of distinct terms in definitions, which is the size of the printed model up to names.
pub fn size(terms: &TermStore, definitions: &Definitions) -> usize {
    definitions.values().map(|&f| terms.dag_size(&[f])).sum()
}

/// Smaller definitions than the given ones, which have to be a model of the system; `None` if none
/// are found within the budget.
pub fn shrink(
    system: &System,
    definitions: &Definitions,
    smt: &Rc<Smt>,
    budget: &Budget,
) -> Option<Definitions> {
    let terms = &system.terms;
    let used = system.used_predicates();
    if !used.iter().all(|p| definitions.contains_key(p))
        || system.clauses.len() > LIMITS.max_clauses
    {
        return None;
    }
    let limit = smt.limit_queries(budget.left().map(|left| left / LIMITS.query_part));
    let mut shrinking = Shrinking {
        system,
        terms: terms.clone(),
        clauses: Clauses::new(system, Solvers::PerClause, smt),
        definitions: definitions
            .iter()
            .map(|(&predicate, &formula)| (predicate, pushed_inwards(terms, formula)))
            .collect(),
        core_queries: 0,
        budget,
    };
    for queries in LIMITS.core_queries {
        shrinking.core_queries = queries;
        let before = shrinking.definitions.clone();
        // A step that was not completed is the last one.
        let done = shrinking
            .weaken()
            .and_then(|()| shrinking.strengthen())
            .is_some();
        if !done || queries > 0 && shrinking.definitions == before {
            break;
        }
    }
    drop(limit);
    let found = shrinking.definitions;
    (size(terms, &found) < size(terms, definitions)).then_some(found)
}

/// The kind of parts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parts {
    /// Parts that may become `true`.
    Conjuncts,
    /// Parts that may become `false`.
    Disjuncts,
}

/// A part of a definition, and the literal that keeps it.
#[derive(Clone, Copy)]
struct Part {
    term: TermId,
    literal: TermId,
    size: usize,
}

/// A definition in which each part holds only if its literal is assumed, or only matters then.
struct Guarded {
    formula: TermId,
    parts: Vec<Part>,
}

struct Shrinking<'a> {
    system: &'a System,
    terms: Rc<TermStore>,
    clauses: Clauses,
    definitions: Definitions,
    core_queries: usize,
    budget: &'a Budget,
}

impl Shrinking<'_> {
    /// Drops conjuncts that the queries do not need. `None` if the budget is spent before.
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
        // Conjuncts that were derived, as far as they were needed then.
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
                let mut soft: Vec<(PredicateId, Part)> = Vec::new();
                for source in sources {
                    let (lemma, guarded) = &bodies[&source];
                    hard.push(lemma.premise);
                    let kept = needed.entry(source).or_default();
                    for &part in &guarded.parts {
                        match kept.contains(&part.term) {
                            true => hard.push(part.literal),
                            false => soft.push((source, part)),
                        }
                    }
                }
                if soft.is_empty() {
                    continue;
                }
                // The largest parts are tried first.
                soft.sort_by_key(|(_, part)| part.size);
                let literals: Vec<TermId> = soft.iter().map(|s| s.1.literal).collect();
                let core = self.core(clause, &hard, &literals)?;
                for (source, part) in soft {
                    if core.contains(&part.literal) {
                        needed.entry(source).or_default().insert(part.term);
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

    /// Drops disjuncts that no clause derives. `None` if the budget is spent before.
    fn strengthen(&mut self) -> Option<()> {
        let terms = self.terms.clone();
        for predicate in self.system.used_predicates() {
            let formula = self.definitions[&predicate];
            if formula == TermId::FALSE {
                continue;
            }
            let Guarded {
                formula: guarded,
                parts,
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
                for part in &parts {
                    match needed.contains(&part.term) {
                        true => hard.push(part.literal),
                        false => soft.push(part.literal),
                    }
                }
                if soft.is_empty() {
                    break;
                }
                let core = self.core(clause, &hard, &soft)?;
                let used = parts.iter().filter(|part| core.contains(&part.literal));
                needed.extend(used.map(|part| part.term));
            }
            let stronger = keep(&terms, formula, Parts::Disjuncts, &needed);
            self.definitions.insert(predicate, stronger);
        }
        Some(())
    }

    /// The literals that a clause needs; all of them if the clause is not found to be valid. `None`
    /// if the budget is spent.
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
        self.clauses.define_premises(group, hard);
        let effort = CoreEffort {
            queries: self.core_queries,
            budget: Some(self.budget),
        };
        let core = self.clauses.solver(group).core_by(hard, soft, effort);
        Some(core.map_or_else(
            || soft.iter().copied().collect(),
            |core| core.into_iter().collect(),
        ))
    }
}

/// The formula with literals for its parts. The whole formula is a part if its root has none.
fn guard(terms: &TermStore, formula: TermId, parts: Parts) -> Guarded {
    let mut found: Vec<Part> = Vec::new();
    let mut literals: FxHashMap<TermId, TermId> = FxHashMap::default();
    let formula = rebuilt(terms, formula, parts, |part, inner| {
        let literal = *literals.entry(part).or_insert_with(|| {
            let literal = terms.fresh_var("part", SortId::BOOL);
            found.push(Part {
                term: part,
                literal,
                size: terms.dag_size(&[part]),
            });
            literal
        });
        match parts {
            Parts::Conjuncts => terms.or(&[terms.not(literal), inner]),
            Parts::Disjuncts => terms.and(&[literal, inner]),
        }
    });
    found.sort_by_key(|part| part.size);
    Guarded {
        formula,
        parts: found,
    }
}

/// The formula without the parts that are not in `kept`.
fn keep(terms: &TermStore, formula: TermId, parts: Parts, kept: &FxHashSet<TermId>) -> TermId {
    let unit = terms.bool(parts == Parts::Conjuncts);
    rebuilt(terms, formula, parts, |part, inner| {
        if kept.contains(&part) { inner } else { unit }
    })
}

/// The formula with each part replaced: `replace` gets the part and the result for the parts
/// inside.
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

/// The formula in negation normal form; quantifiers stay.
pub fn pushed_inwards(terms: &TermStore, formula: TermId) -> TermId {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::houdini::{Question, inductive_lemmas};
    use alphorn_chc::Atom;
    use alphorn_samples::{is_inductive, is_model, random_lemmas, random_system};
    use alphorn_smt::SatResult;
    use alphorn_term::Random;
    use alphorn_term::run::Context;
    use alphorn_witness::Model;

    fn holds_for_all_clauses(system: &System, definitions: &Definitions) -> bool {
        let model = Model {
            definitions: definitions.clone(),
            lemmas: Vec::new(),
        };
        is_model(system, &model)
    }

    fn shrunk(system: &System, definitions: &Definitions) -> Option<Definitions> {
        let cx = Context::new(system.terms.clone());
        shrink(
            system,
            definitions,
            &Smt::new(system.terms.clone()),
            &cx.budget,
        )
    }

    /// A counter with a flag that goes from 0 to 10 and never reaches 20.
    fn counter() -> (System, PredicateId, [TermId; 2]) {
        let terms = Rc::new(TermStore::new());
        let mut system = System::new(terms.clone());
        let p = system.add_predicate("P", &[SortId::INT, SortId::BOOL]);
        let [x, x1] = ["x", "x1"].map(|n| terms.var(n, SortId::INT));
        let [b, b1] = ["b", "b1"].map(|n| terms.var(n, SortId::BOOL));
        let atom = |args: &[TermId]| Atom {
            predicate: p,
            args: args.to_vec(),
        };
        system.add_clause(vec![], terms.eq(x, terms.int(0)), Some(atom(&[x, b])));
        let step = [
            terms.le(x, terms.int(9)),
            terms.eq(x1, terms.add(&[x, terms.int(1)])),
            terms.eq(b1, terms.not(b)),
        ];
        system.add_clause(vec![atom(&[x, b])], terms.and(&step), Some(atom(&[x1, b1])));
        system.add_clause(vec![atom(&[x, b])], terms.ge(x, terms.int(20)), None);
        let params = &system.predicate(p).params;
        let params = [params[0], params[1]];
        (system, p, params)
    }

    #[test]
    fn parts_that_are_not_needed_are_dropped() {
        let (system, p, [x, b]) = counter();
        let t = &system.terms;
        let most = |n: i64| t.le(x, t.int(n));
        // Conjuncts at the root and inside, under a negation; an unreachable disjunct.
        let planted = t.not(t.or(&[
            t.not(t.or(&[
                t.and(&[b, most(10), t.ge(x, t.int(-7))]),
                t.and(&[t.not(b), most(10), most(17)]),
                t.eq(x, t.int(15)),
            ])),
            t.not(t.ge(x, t.int(0))),
            t.eq(x, t.int(12)),
        ]));
        let definitions = Definitions::from_iter([(p, planted)]);
        assert!(holds_for_all_clauses(&system, &definitions));
        let found = shrunk(&system, &definitions).expect("there is a smaller model");
        assert!(holds_for_all_clauses(&system, &found));
        let left: Vec<TermId> = t.conjuncts(found[&p]);
        for gone in [-7, 15, 17, 12, 0] {
            let bound = t.int(gone);
            assert!(
                left.iter().all(|&f| {
                    let mut there = false;
                    t.post_order(&[f], |part| there |= part == bound);
                    !there
                }),
                "{gone} in {}",
                alphorn_term::Printer::new(t).term(found[&p])
            );
        }
    }

    #[test]
    fn random_models_stay_models() {
        let mut random = Random::new(5);
        let (mut models, mut smaller) = (0, 0);
        for _ in 0..300 {
            let system = random_system(&mut random);
            let t = &system.terms;
            let cx = Context::new(t.clone());
            let smt = Smt::new(t.clone());
            let candidates = random_lemmas(&system, &mut random);
            let mut clauses = Clauses::new(&system, Solvers::PerHead, &smt);
            let all: Vec<Lemma> = candidates
                .iter()
                .map(|&(about, formula)| clauses.lemma(about, formula, TermId::TRUE))
                .collect();
            let none = |_, _| Vec::new();
            let kept = inductive_lemmas(&mut clauses, &all, Question::Clause, none, &cx.budget);
            let kept: Vec<_> = kept
                .expect("no limit")
                .iter()
                .map(|&l| candidates[l])
                .collect();
            if !kept.contains(&(None, TermId::FALSE)) {
                continue;
            }
            assert!(is_inductive(&system, &smt, &kept));
            let of = |p: PredicateId| {
                let own = kept.iter().filter(|l| l.0 == Some(p)).map(|l| l.1);
                t.and(&own.collect::<Vec<_>>())
            };
            let definitions: Definitions = system
                .used_predicates()
                .into_iter()
                .map(|p| (p, of(p)))
                .collect();
            models += 1;
            if let Some(found) = shrunk(&system, &definitions) {
                assert!(holds_for_all_clauses(&system, &found));
                assert!(size(t, &found) < size(t, &definitions));
                smaller += 1;
            }
        }
        assert!(models > 20 && smaller > models / 2, "{smaller} of {models}");
    }

    #[test]
    fn without_work_there_is_no_other_model() {
        let (system, p, [x, _]) = counter();
        let t = &system.terms;
        let planted = t.and(&[t.le(x, t.int(10)), t.ge(x, t.int(0))]);
        let definitions = Definitions::from_iter([(p, planted)]);
        let cx = Context::new(t.clone());
        let spent = cx.budget.work(std::time::Duration::ZERO);
        let smt = Smt::new(t.clone());
        assert_eq!(shrink(&system, &definitions, &smt, &spent), None);
        // Nor if a predicate has no definition.
        assert_eq!(
            shrink(&system, &Definitions::default(), &smt, &cx.budget),
            None
        );
        assert!(shrink(&system, &definitions, &smt, &cx.budget).is_some());
    }

    #[test]
    fn negations_go_inwards() {
        let t = Rc::new(TermStore::new());
        let [x, y] = ["x", "y"].map(|n| t.var(n, SortId::REAL));
        let q = t.var("q", SortId::REAL);
        let zero = t.real(num_traits::Zero::zero());
        let (a, b) = (t.le(x, zero), t.eq(x, y));
        let inner = t.forall(&[q], t.or(&[t.not(t.eq(q, x)), t.and(&[a, t.le(q, y)])]));
        let formula = t.not(t.and(&[t.or(&[a, t.not(b)]), t.not(t.and(&[b, inner]))]));
        let found = pushed_inwards(&t, formula);
        t.post_order(&[found], |part| {
            let negates = |op: &Op| matches!(op, Op::And | Op::Or | Op::Not | Op::Forall(_));
            if *t.op(part) == Op::Not {
                assert!(!negates(t.op(t.args(part)[0])));
            }
        });
        let mut solver = Smt::new(t.clone()).solver();
        solver.assert(t.xor(found, formula));
        assert_eq!(solver.check(&[]), SatResult::Unsat);
    }
}
