//! Eliminates predicates by resolution: each clause that uses the predicate is resolved with each
//! clause that defines it, then both kinds of clauses are dropped.
//!
//! A predicate can be eliminated if no clause has it in its head and its body, even if it is on a
//! longer cycle: a loop of several blocks becomes one clause. It is eliminated if the number of
//! clauses does not grow (Golem: in·out ≤ in + out), cheapest first, and then within a small budget
//! for growth. The total size of the constraints is bounded.
//!
//! Of eliminations that add equally many clauses, the one whose largest resolvent is smallest comes
//! first (in powers of two). So a chain of predicates is merged pair by pair, not from one end. The
//! equations of resolvents are solved while these grow.
//!
//! Invariant: each resolvent records its two parents, the renaming of the inner one and the
//! definitions of the variables that it lost, so that a step of it can be expanded into steps of
//! clauses of the old system. Each eliminated predicate records its clauses at that time;
//! [`strongest`](super::strongest) makes its definition from them.

use std::borrow::Cow;
use std::collections::BinaryHeap;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::replacement::complete_model;
use super::replay::{OldStep, Premise, define, replay};
use super::simplify::reduce_clause;
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
    /// A resolvent of at least this size is reduced when it is more than twice as large as the
    /// clauses that it comes from were when they were reduced.
    min_reduced_size: usize,
}

const LIMITS: Limits = Limits {
    min_size_budget: 20_000,
    min_clause_size_limit: 20_000,
    min_body_limit: 4,
    max_growth: 10,
    min_clause_budget: 16,
    part_of_clauses: 8,
    max_combinations: 1 << 12,
    min_reduced_size: 1_000,
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
    /// Of the variables that the resolvent lost when it was reduced (see
    /// [`Reduction`](super::reduce::Reduction)).
    definitions: Vec<(TermId, TermId)>,
}

struct Inliner {
    system: System,
    terms: Rc<TermStore>,
    clauses: Vec<Option<Clause>>,
    sizes: Vec<usize>,
    /// The sizes of the clauses when they, or what they come from, were reduced.
    reduced_sizes: Vec<usize>,
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
    /// The size of the largest clause made, rounded up to a power of two.
    largest: usize,
    /// The sum of the sizes of the clauses made minus that of the clauses removed.
    size: isize,
    possible: bool,
}

impl Cost {
    /// Cheapest first.
    fn order(&self) -> (isize, usize, isize) {
        (self.clauses, self.largest, self.size)
    }
}

/// The cheapest entry is the greatest.
type Entry = std::cmp::Reverse<((isize, usize, isize), PredicateId)>;

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
            reduced_sizes: Vec::with_capacity(clauses.len()),
            defining: FxHashMap::default(),
            using: FxHashMap::default(),
            total: 0,
            clause_limit: 0,
            body_limit: body_limit.max(LIMITS.min_body_limit),
            eliminated: Vec::new(),
            resolvents: FxHashMap::default(),
        };
        for clause in clauses {
            let size = clause_size(&state.terms, &clause, clause.constraint);
            state.add(clause, size, size);
        }
        state.clause_limit = LIMITS
            .min_clause_size_limit
            .max(state.sizes.iter().copied().max().unwrap_or(0));
        state
    }

    fn add(&mut self, clause: Clause, size: usize, reduced_size: usize) {
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
        self.reduced_sizes.push(reduced_size);
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
            largest: 0,
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
        let (mut made, mut made_size, mut largest) = (0usize, 0usize, 0usize);
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
            largest = largest.max((size + uses * inner_largest).next_power_of_two());
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
            largest,
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
        while let Some(std::cmp::Reverse((order, predicate))) = queue.pop() {
            if cx.stop().is_some() {
                return;
            }
            let cost = self.cost(predicate);
            if !cost.possible || cost.order() != order {
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
            queue.push(std::cmp::Reverse((cost.order(), predicate)));
        }
    }

    /// Eliminates the predicate; returns those whose cost may have changed.
    fn eliminate(&mut self, predicate: PredicateId) -> Vec<PredicateId> {
        let (defining, using) = self.slots(predicate);
        let reduced_size = defining.iter().chain(&using);
        let reduced_size = reduced_size.map(|&s| self.reduced_sizes[s]).max();
        let reduced_size = reduced_size.unwrap_or(0);
        let defining: Vec<Clause> = defining.iter().filter_map(|&s| self.remove(s)).collect();
        let using: Vec<Clause> = using.iter().filter_map(|&s| self.remove(s)).collect();
        for clause in &using {
            let mut open = vec![clause.clone()];
            while let Some(outer) = open.pop() {
                let place = outer.body.iter().position(|a| a.predicate == predicate);
                let Some(position) = place else {
                    self.add_resolvent(outer, reduced_size);
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

    /// Adds a resolvent, reduced if it has grown; not if its constraint reduces to false.
    fn add_resolvent(&mut self, mut clause: Clause, mut reduced_size: usize) {
        let mut size = clause_size(&self.terms, &clause, clause.constraint);
        if size > 2 * reduced_size && size >= LIMITS.min_reduced_size {
            let reduction = reduce_clause(&self.terms, &clause);
            if reduction.constraint == TermId::FALSE {
                return;
            }
            if reduction.constraint != clause.constraint {
                clause.constraint = reduction.constraint;
                let definitions = self.complete_definitions(&clause, reduction.definitions);
                if let Some(resolvent) = self.resolvents.get_mut(&clause.id) {
                    resolvent.definitions = definitions;
                }
            }
            size = clause_size(&self.terms, &clause, clause.constraint);
            reduced_size = size;
        }
        self.add(clause, size, reduced_size);
    }

    /// The definitions with values for the variables that may have any value before them.
    fn complete_definitions(
        &self,
        clause: &Clause,
        definitions: Vec<(TermId, TermId)>,
    ) -> Vec<(TermId, TermId)> {
        let mut known: FxHashSet<TermId> = clause.vars(&self.terms).into_iter().collect();
        known.extend(definitions.iter().map(|(var, _)| *var));
        let values: Vec<TermId> = definitions.iter().map(|(_, term)| *term).collect();
        let used = self.terms.free_vars(&values);
        let free = used.into_iter().filter(|var| !known.contains(var));
        let value = |var: TermId| {
            let value = self.terms.default_value(self.terms.sort_of(var))?;
            Some((var, value))
        };
        free.filter_map(value).chain(definitions).collect()
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
            renaming.entry(var).or_insert_with(|| terms.fresh_copy(var));
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
                definitions: Vec::new(),
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
    /// Values of the clause's variables.
    values: Assignment,
}

#[derive(Clone, Copy)]
enum PartPremise {
    /// The resolvent's body atom at this position.
    Body(usize),
    /// The part at this position.
    Part(usize),
}

/// The parts of steps of resolvents.
struct Expander<'a> {
    terms: &'a TermStore,
    resolvents: &'a FxHashMap<ClauseId, Resolvent>,
    /// The lengths of the bodies of the old clauses.
    bodies: FxHashMap<ClauseId, usize>,
}

impl Expander<'_> {
    /// The length of a clause's body.
    fn body_length(&self, clause: ClauseId) -> usize {
        let mut length = 0isize;
        let mut current = clause;
        while let Some(r) = self.resolvents.get(&current) {
            length += r.inner_body as isize - 1;
            current = r.outer;
        }
        let old = self.bodies.get(&current).copied().unwrap_or(0);
        (length + old as isize).max(0) as usize
    }

    /// The derivation by old clauses that a step stands for, premises before the parts that use
    /// them. `values` is of the variables of the step's clause.
    fn parts(&self, clause: ClauseId, values: &Assignment) -> Vec<Part> {
        // Works from the root down; each part gets a place, and the order is made at the end.
        let mut places = 1usize;
        let mut done: Vec<(usize, Part)> = Vec::new();
        let root = Part {
            clause,
            premises: (0..self.body_length(clause))
                .map(PartPremise::Body)
                .collect(),
            values: values.clone(),
        };
        let mut open = vec![(0, root)];
        while let Some((place, mut part)) = open.pop() {
            let Some(resolvent) = self.resolvents.get(&part.clause) else {
                done.push((place, part));
                continue;
            };
            define(self.terms, &mut part.values, &resolvent.definitions);
            let inner_place = places;
            places += 1;
            let end = resolvent.position + resolvent.inner_body;
            let inner_premises: Vec<PartPremise> = part
                .premises
                .splice(resolvent.position..end, [PartPremise::Part(inner_place)])
                .collect();
            // Variables that the resolvent does not mention are free, but have the same value in
            // all parts.
            let value = |var: TermId| {
                let given = part.values.get(&var).copied();
                given.or_else(|| self.terms.default_value(self.terms.sort_of(var)))
            };
            let inner = Part {
                clause: resolvent.inner,
                premises: inner_premises,
                values: resolvent
                    .renaming
                    .iter()
                    .filter_map(|(&var, &image)| Some((var, value(image)?)))
                    .collect(),
            };
            part.clause = resolvent.outer;
            open.push((inner_place, inner));
            open.push((place, part));
        }
        in_order(done)
    }
}

/// The parts, given with their places, premises first. They are a tree with place 0 as its root.
fn in_order(mut parts: Vec<(usize, Part)>) -> Vec<Part> {
    parts.sort_unstable_by_key(|(place, _)| *place);
    let mut order: Vec<usize> = Vec::with_capacity(parts.len());
    let mut stack = vec![0];
    while let Some(place) = stack.pop() {
        order.push(place);
        for premise in &parts[place].1.premises {
            if let PartPremise::Part(inner) = premise {
                stack.push(*inner);
            }
        }
    }
    order.reverse();
    let mut index_of = vec![0; parts.len()];
    for (index, &place) in order.iter().enumerate() {
        index_of[place] = index;
    }
    let mut parts: Vec<(usize, Part)> = parts
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
        let clauses = self.old.clauses.iter();
        let expander = Expander {
            terms: &self.old.terms,
            resolvents: &self.resolvents,
            bodies: clauses.map(|c| (c.id, c.body.len())).collect(),
        };
        replay(&self.old, &refutation, cx, |step| {
            if !self.resolvents.contains_key(&step.clause) {
                return Ok(Vec::new());
            }
            let parts = expander.parts(step.clause, &step.values);
            let mut steps = Vec::with_capacity(parts.len());
            for part in parts {
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
                    known: Cow::Owned(part.values),
                    definitions: &[],
                });
            }
            Ok(steps)
        })
    }
}
