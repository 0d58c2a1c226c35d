//! Eliminates predicates by resolution: each clause that uses the predicate is resolved with each
//! clause that defines it, then both kinds of clauses are dropped.
//!
//! A predicate can be eliminated if no clause has it in its head and its body, even if it is on a
//! longer cycle: a loop of several blocks becomes one clause. It is eliminated if the number of
//! clauses does not grow (Golem: in·out ≤ in + out), cheapest first, and then within a small budget
//! for growth. The total size of the constraints is bounded.
//!
//! Invariant: each resolvent records its two parents and the renaming of the inner one, so that a
//! step of it can be expanded into steps of clauses of the old system. Each eliminated predicate
//! records its clauses at that time; [`strongest`](super::strongest) makes its definition from
//! them.

use std::borrow::Cow;
use std::collections::BinaryHeap;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::replacement::complete_model;
use super::replay::{OldStep, Premise, replay};
use super::strongest::restore_definitions;
use super::{BackTranslation, BackTranslationError, Step, Transformation, clause_size};
use alphorn_chc::{Atom, Clause, ClauseId, PredicateId, System};
use alphorn_term::run::Context;
use alphorn_term::{Assignment, TermId, TermStore};
use alphorn_witness::{Model, Refutation};

/// The limits of the pass. A predicate whose elimination would exceed one of them is kept.
struct Limits {
    /// The size that may be added in a run beyond half of the system's size.
    min_size_budget: usize,
    /// Size of a clause that may always be made; larger ones only up to the size of the largest
    /// clause.
    min_clause_size_limit: usize,
    /// Body atoms that a clause may always have; more only up to the longest body.
    min_body_limit: usize,
    /// Clauses that one elimination may add.
    max_growth: isize,
    /// Clauses that may always be added in a run.
    min_clause_budget: isize,
    /// The number of clauses divided by this may be added in a run, too.
    part_of_clauses: isize,
    /// Resolvents of one clause with several atoms of the predicate.
    max_combinations: usize,
}

const LIMITS: Limits = Limits {
    min_size_budget: 20_000,
    min_clause_size_limit: 20_000,
    min_body_limit: 4,
    max_growth: 10,
    min_clause_budget: 16,
    part_of_clauses: 8,
    max_combinations: 1 << 12,
};

/// The pass. One budget for growth covers all its applications in a run.
#[derive(Default)]
pub struct Inline {
    budget: Option<Budget>,
}

struct Budget {
    /// Clauses that may still be added.
    clauses: isize,
    /// A bound on the sum of the clauses' sizes.
    size: usize,
    /// The sum after the last application.
    total: usize,
}

impl Transformation for Inline {
    fn apply(&mut self, old: &Rc<System>, cx: &mut Context) -> Option<Step> {
        let mut state = Inliner::new((**old).clone());
        let budget = self.budget.get_or_insert_with(|| Budget {
            clauses: LIMITS.min_clause_budget
                + state.clauses.len() as isize / LIMITS.part_of_clauses,
            size: state.total + state.total / 2 + LIMITS.min_size_budget,
            total: state.total,
        });
        // Growth by other passes since then does not use up this budget.
        budget.size += state.total.saturating_sub(budget.total);
        state.run(budget, cx);
        budget.total = state.total;
        let Inliner {
            mut system,
            clauses,
            eliminated,
            resolvents,
            ..
        } = state;
        system.clauses = clauses.into_iter().flatten().collect();
        let changed = !eliminated.is_empty();
        changed.then(|| Step {
            system,
            back: Box::new(InlineBack {
                old: old.clone(),
                eliminated,
                resolvents,
            }),
        })
    }
}

/// An eliminated predicate with its clauses at that time.
pub(super) struct Eliminated {
    /// The predicate.
    pub predicate: PredicateId,
    /// The clauses with the predicate in their heads.
    pub defining: Vec<Clause>,
    /// The clauses with the predicate in their bodies.
    pub using: Vec<Clause>,
}

/// The parents of a resolvent.
struct Resolvent {
    outer: ClauseId,
    /// The position of the resolved body atom in the outer clause.
    position: usize,
    /// The length of the inner clause's body, which replaces the atom.
    inner_body: usize,
    inner: ClauseId,
    /// From the inner clause's variables to the resolvent's.
    renaming: FxHashMap<TermId, TermId>,
}

struct Inliner {
    system: System,
    terms: Rc<TermStore>,
    clauses: Vec<Option<Clause>>,
    sizes: Vec<usize>,
    /// Slots of clauses, some of them empty by now.
    defining: FxHashMap<PredicateId, Vec<usize>>,
    using: FxHashMap<PredicateId, Vec<usize>>,
    total: usize,
    clause_limit: usize,
    body_limit: usize,
    eliminated: Vec<Eliminated>,
    resolvents: FxHashMap<ClauseId, Resolvent>,
}

/// The effect of eliminating a predicate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Cost {
    /// Clauses made minus clauses removed.
    clauses: isize,
    /// The same for the sum of the sizes.
    size: isize,
    possible: bool,
}

/// Cheapest first: by growth in clauses, then in size.
type Entry = std::cmp::Reverse<(isize, isize, PredicateId)>;

impl Inliner {
    fn new(mut system: System) -> Inliner {
        let terms = system.terms.clone();
        let clauses = std::mem::take(&mut system.clauses);
        let body_limit = clauses.iter().map(|c| c.body.len()).max().unwrap_or(0);
        let mut state = Inliner {
            system,
            terms,
            clauses: Vec::with_capacity(clauses.len()),
            sizes: Vec::with_capacity(clauses.len()),
            defining: FxHashMap::default(),
            using: FxHashMap::default(),
            total: 0,
            clause_limit: 0,
            body_limit: body_limit.max(LIMITS.min_body_limit),
            eliminated: Vec::new(),
            resolvents: FxHashMap::default(),
        };
        for clause in clauses {
            state.add(clause);
        }
        state.clause_limit = LIMITS
            .min_clause_size_limit
            .max(state.sizes.iter().copied().max().unwrap_or(0));
        state
    }

    fn add(&mut self, clause: Clause) {
        let size = clause_size(&self.terms, &clause, clause.constraint);
        let slot = self.clauses.len();
        if let Some(head) = &clause.head {
            self.defining.entry(head.predicate).or_default().push(slot);
        }
        for atom in &clause.body {
            let list = self.using.entry(atom.predicate).or_default();
            if list.last() != Some(&slot) {
                list.push(slot);
            }
        }
        self.total += size;
        self.clauses.push(Some(clause));
        self.sizes.push(size);
    }

    fn remove(&mut self, slot: usize) -> Option<Clause> {
        let clause = self.clauses[slot].take()?;
        self.total -= self.sizes[slot];
        Some(clause)
    }

    /// The slots of the live clauses that define and that use a predicate.
    fn slots(&mut self, predicate: PredicateId) -> (Vec<usize>, Vec<usize>) {
        let clauses = &self.clauses;
        let live = |table: &mut FxHashMap<PredicateId, Vec<usize>>| match table.get_mut(&predicate)
        {
            Some(list) => {
                list.retain(|&slot| clauses[slot].is_some());
                list.clone()
            }
            None => Vec::new(),
        };
        (live(&mut self.defining), live(&mut self.using))
    }

    fn cost(&mut self, predicate: PredicateId) -> Cost {
        let impossible = Cost {
            clauses: 0,
            size: 0,
            possible: false,
        };
        let (defining, using) = self.slots(predicate);
        // Predicates without defining or using clauses are left to `cone`.
        if defining.is_empty() || using.is_empty() {
            return impossible;
        }
        let recursive = |slot: &usize| {
            self.clauses[*slot]
                .as_ref()
                .is_some_and(|c| c.body.iter().any(|a| a.predicate == predicate))
        };
        if defining.iter().any(recursive) {
            return impossible;
        }
        let count = defining.len();
        let inner_size: usize = defining.iter().map(|&s| self.sizes[s]).sum();
        let inner_largest = defining.iter().map(|&s| self.sizes[s]).max().unwrap_or(0);
        let inner_body = defining
            .iter()
            .filter_map(|&s| self.clauses[s].as_ref().map(|c| c.body.len()))
            .max()
            .unwrap_or(0);
        let removed_size: usize = inner_size + using.iter().map(|&s| self.sizes[s]).sum::<usize>();
        let (mut made, mut made_size) = (0usize, 0usize);
        for &slot in &using {
            let Some(clause) = &self.clauses[slot] else {
                continue;
            };
            let uses = clause
                .body
                .iter()
                .filter(|a| a.predicate == predicate)
                .count();
            let power = u32::try_from(uses).ok().and_then(|u| count.checked_pow(u));
            let Some(combinations) = power.filter(|&c| c <= LIMITS.max_combinations) else {
                return impossible;
            };
            let size = self.sizes[slot];
            made += combinations;
            // Each definition occurs in combinations / count of them for each use.
            made_size += combinations * size + uses * (combinations / count) * inner_size;
            if clause.body.len() + uses * inner_body > self.body_limit + uses
                || size + uses * inner_largest > self.clause_limit
            {
                return impossible;
            }
        }
        Cost {
            clauses: made as isize - (count + using.len()) as isize,
            size: made_size as isize - removed_size as isize,
            possible: true,
        }
    }

    fn run(&mut self, budget: &mut Budget, cx: &Context) {
        let mut predicates: Vec<PredicateId> = self.using.keys().copied().collect();
        predicates.sort_unstable();
        let mut queue: BinaryHeap<Entry> = BinaryHeap::new();
        for predicate in predicates {
            self.enqueue(predicate, &mut queue);
        }
        while let Some(std::cmp::Reverse((clauses, size, predicate))) = queue.pop() {
            if cx.stop().is_some() {
                return;
            }
            let cost = self.cost(predicate);
            if !cost.possible || (cost.clauses, cost.size) != (clauses, size) {
                // The predicate was enqueued again at its new cost when a neighbour changed.
                continue;
            }
            if cost.clauses > budget.clauses.min(LIMITS.max_growth)
                || self.total as isize + cost.size > budget.size as isize
            {
                continue;
            }
            budget.clauses -= cost.clauses.max(0);
            for neighbour in self.eliminate(predicate) {
                self.enqueue(neighbour, &mut queue);
            }
        }
    }

    fn enqueue(&mut self, predicate: PredicateId, queue: &mut BinaryHeap<Entry>) {
        let cost = self.cost(predicate);
        if cost.possible {
            queue.push(std::cmp::Reverse((cost.clauses, cost.size, predicate)));
        }
    }

    /// Eliminates the predicate; returns those whose cost may have changed.
    fn eliminate(&mut self, predicate: PredicateId) -> Vec<PredicateId> {
        let (defining, using) = self.slots(predicate);
        let defining: Vec<Clause> = defining.iter().filter_map(|&s| self.remove(s)).collect();
        let using: Vec<Clause> = using.iter().filter_map(|&s| self.remove(s)).collect();
        for clause in &using {
            let mut open = vec![clause.clone()];
            while let Some(outer) = open.pop() {
                let place = outer.body.iter().position(|a| a.predicate == predicate);
                let Some(position) = place else {
                    self.add(outer);
                    continue;
                };
                for inner in defining.iter().rev() {
                    if let Some(resolvent) = self.resolve(&outer, position, inner) {
                        open.push(resolvent);
                    }
                }
            }
        }
        let neighbours: FxHashSet<PredicateId> = defining
            .iter()
            .chain(&using)
            .flat_map(|c| c.atoms().map(|a| a.predicate))
            .filter(|&p| p != predicate)
            .collect();
        self.eliminated.push(Eliminated {
            predicate,
            defining,
            using,
        });
        let mut neighbours: Vec<PredicateId> = neighbours.into_iter().collect();
        neighbours.sort_unstable();
        neighbours
    }

    /// The outer clause with a body atom, an instance of the inner clause's head, replaced by the
    /// inner clause's body; `None` if the constraint simplifies to false.
    fn resolve(&mut self, outer: &Clause, position: usize, inner: &Clause) -> Option<Clause> {
        let terms = &self.terms;
        let head = inner.head.as_ref()?;
        let mut renaming: FxHashMap<TermId, TermId> = head
            .args
            .iter()
            .copied()
            .zip(outer.body[position].args.iter().copied())
            .collect();
        for var in inner.vars(terms) {
            renaming
                .entry(var)
                .or_insert_with(|| terms.fresh_var(terms.var_name(var), terms.sort_of(var)));
        }
        let constraint = terms.substitute(inner.constraint, &renaming);
        let constraint = terms.and(&[outer.constraint, constraint]);
        if constraint == TermId::FALSE {
            return None;
        }
        let moved = inner.body.iter().map(|atom| Atom {
            predicate: atom.predicate,
            args: atom.args.iter().map(|a| renaming[a]).collect(),
        });
        let mut body = outer.body[..position].to_vec();
        body.extend(moved);
        body.extend_from_slice(&outer.body[position + 1..]);
        let id = self.system.fresh_clause_id();
        self.resolvents.insert(
            id,
            Resolvent {
                outer: outer.id,
                position,
                inner_body: inner.body.len(),
                inner: inner.id,
                renaming,
            },
        );
        Some(Clause {
            id,
            body,
            constraint,
            head: outer.head.clone(),
        })
    }
}

/// The back-translation: resolvents are expanded, eliminated predicates get definitions.
struct InlineBack {
    old: Rc<System>,
    eliminated: Vec<Eliminated>,
    resolvents: FxHashMap<ClauseId, Resolvent>,
}

/// A clause of the old system in the derivation that a resolvent stands for.
struct Part {
    clause: ClauseId,
    premises: Vec<PartPremise>,
    /// From the old clause's variables to the resolvent's; `None` for the identity.
    renaming: Option<FxHashMap<TermId, TermId>>,
}

#[derive(Clone, Copy)]
enum PartPremise {
    /// The resolvent's body atom at this position.
    Body(usize),
    /// The part at this position.
    Part(usize),
}

impl InlineBack {
    /// The derivation by old clauses that a clause stands for, premises before the parts that use
    /// them.
    fn parts(&self, clause: ClauseId) -> Vec<Part> {
        // Works from the root down; each part gets a place, and the order is made at the end.
        struct Open {
            clause: ClauseId,
            renaming: Option<FxHashMap<TermId, TermId>>,
            premises: Vec<PartPremise>,
            place: usize,
        }
        let body_of = |id: ClauseId| -> usize {
            // Only the length of the root's body is needed.
            let mut length = 0isize;
            let mut current = id;
            while let Some(r) = self.resolvents.get(&current) {
                length += r.inner_body as isize - 1;
                current = r.outer;
            }
            let old = self.old.clauses.iter().find(|c| c.id == current);
            (length + old.map_or(0, |c| c.body.len()) as isize).max(0) as usize
        };
        let mut places = 1usize;
        let mut done: Vec<(usize, Part)> = Vec::new();
        let mut open = vec![Open {
            clause,
            renaming: None,
            premises: (0..body_of(clause)).map(PartPremise::Body).collect(),
            place: 0,
        }];
        while let Some(mut item) = open.pop() {
            let Some(resolvent) = self.resolvents.get(&item.clause) else {
                done.push((
                    item.place,
                    Part {
                        clause: item.clause,
                        premises: item.premises,
                        renaming: item.renaming,
                    },
                ));
                continue;
            };
            let place = places;
            places += 1;
            let end = resolvent.position + resolvent.inner_body;
            let inner_premises: Vec<PartPremise> = item
                .premises
                .splice(resolvent.position..end, [PartPremise::Part(place)])
                .collect();
            let renaming = match &item.renaming {
                None => resolvent.renaming.clone(),
                Some(outer) => resolvent
                    .renaming
                    .iter()
                    .map(|(&v, t)| (v, outer.get(t).copied().unwrap_or(*t)))
                    .collect(),
            };
            open.push(Open {
                clause: resolvent.inner,
                renaming: Some(renaming),
                premises: inner_premises,
                place,
            });
            open.push(Open {
                clause: resolvent.outer,
                ..item
            });
        }
        // The parts are a tree with place 0 as its root: ordered from the root down, then reversed.
        done.sort_unstable_by_key(|(place, _)| *place);
        let mut order: Vec<usize> = Vec::with_capacity(done.len());
        let mut stack = vec![0];
        while let Some(place) = stack.pop() {
            order.push(place);
            for premise in &done[place].1.premises {
                if let PartPremise::Part(inner) = premise {
                    stack.push(*inner);
                }
            }
        }
        order.reverse();
        let mut index_of = vec![0; done.len()];
        for (index, &place) in order.iter().enumerate() {
            index_of[place] = index;
        }
        let mut parts: Vec<(usize, Part)> = done
            .into_iter()
            .map(|(place, mut part)| {
                for premise in &mut part.premises {
                    if let PartPremise::Part(inner) = premise {
                        *inner = index_of[*inner];
                    }
                }
                (index_of[place], part)
            })
            .collect();
        parts.sort_unstable_by_key(|(index, _)| *index);
        parts.into_iter().map(|(_, part)| part).collect()
    }
}

impl BackTranslation for InlineBack {
    fn model(&self, mut model: Model, cx: &mut Context) -> Result<Model, BackTranslationError> {
        restore_definitions(&self.old, &self.eliminated, &mut model, cx)?;
        complete_model(&self.old, &mut model);
        Ok(model)
    }

    fn refutation(
        &self,
        refutation: Refutation,
        cx: &mut Context,
    ) -> Result<Refutation, BackTranslationError> {
        let terms = &self.old.terms;
        let mut parts: FxHashMap<ClauseId, Rc<Vec<Part>>> = FxHashMap::default();
        replay(&self.old, &refutation, cx, |step| {
            if !self.resolvents.contains_key(&step.clause) {
                return Ok(Vec::new());
            }
            let parts = parts
                .entry(step.clause)
                .or_insert_with(|| Rc::new(self.parts(step.clause)))
                .clone();
            let value = |var: TermId| {
                // Variables that the resolvent does not mention are free, but have the same value
                // in all parts.
                let given = step.values.get(&var).copied();
                given.or_else(|| terms.default_value(terms.sort_of(var)))
            };
            let mut steps = Vec::with_capacity(parts.len());
            for part in parts.iter() {
                let known: Cow<Assignment> = match &part.renaming {
                    None => Cow::Borrowed(&step.values),
                    Some(renaming) => Cow::Owned(
                        renaming
                            .iter()
                            .filter_map(|(&var, &image)| Some((var, value(image)?)))
                            .collect(),
                    ),
                };
                let mut premises = Vec::with_capacity(part.premises.len());
                for premise in &part.premises {
                    premises.push(match *premise {
                        PartPremise::Part(at) => Premise::Inner(at),
                        PartPremise::Body(at) => {
                            Premise::Step(*step.premises.get(at).ok_or_else(|| {
                                BackTranslationError("a premise is missing".to_owned())
                            })?)
                        }
                    });
                }
                steps.push(OldStep {
                    clause: part.clause,
                    premises,
                    known,
                    definitions: &[],
                });
            }
            Ok(steps)
        })
    }
}
