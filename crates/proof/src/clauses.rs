//! Clauses in incremental solvers.
//!
//! Each clause is written over the formal variables of its head. The `n`-th body atom of a
//! predicate has the same variables, a *slot*, in all clauses, so a lemma is instantiated once for
//! all of them. The clauses with one head share a solver, or each clause has its own: a shared
//! solver considers all its clauses in each query, but fewer assertions are needed. Literals stand
//! for the parts:
//!
//! - [`Clauses::in_force`]: only this clause of a solver holds;
//! - a slot's `used`: the clause in force has this body atom;
//! - [`Lemma::premise`]: a lemma holds of all body atoms of its predicate.
//!
//! A lemma is violated at the head if its negation holds, which needs no literal.
//!
//! Searches have solvers of their own where the knowledge about a body grows as a disjunction (of
//! reached facts or cubes), or is used for one query only (elements of abstract domains).
//!
//! In large systems groups have scopes of one solver in turn, since a solver takes several hundred
//! kilobytes, and longer to make than many a query.
//!
//! Invariant: in each solver some clause is in force, and each formula of its outermost scope is
//! valid for the system or defines a literal; so a query does not change the answers to later ones.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use alphorn_chc::{ClauseIndex, PredicateId, System};
use alphorn_smt::{Smt, Solver};
use alphorn_term::{SortId, TermId, TermStore};

/// Solvers of groups at most; with more groups, these have scopes of one. Solvers of single clauses
/// at most; with more clauses, those with the same head share one.
const MAX_SOLVERS: usize = 1000;

/// Scopes of one solver, after which there is a new one.
const MAX_SCOPES: usize = 500;

/// Which clauses share a solver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Solvers {
    /// Those with the same head.
    PerHead,
    /// None, unless there are too many clauses.
    PerClause,
}

/// A formula that may hold of the facts of a predicate, as literals of the solvers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Lemma {
    /// The predicate; `None` if the lemma is that `false` is not derived.
    pub about: Option<PredicateId>,
    /// The literal that implies the formula at body atoms.
    pub premise: TermId,
    /// The formula's negation over the head's formal variables.
    pub violation: TermId,
}

/// A body atom, with the same variables in all clauses that have it.
struct Slot {
    /// From the predicate's formal variables to the slot's.
    renaming: FxHashMap<TermId, TermId>,
    memo: FxHashMap<TermId, TermId>,
    used: TermId,
}

/// The meaning of the literal of a premise.
struct Premise {
    about: PredicateId,
    formula: TermId,
    when: TermId,
}

/// Clauses with the same head that share a solver.
struct Group {
    head: Option<PredicateId>,
    clauses: Vec<usize>,
    /// The predicates of the body atoms, ascending.
    sources: Vec<PredicateId>,
    /// The body atoms, by predicate and number.
    slots: FxHashSet<(PredicateId, usize)>,
    /// The formulas of the solver, whether it exists yet or not; empty once the group has its own.
    formulas: Vec<TermId>,
    solver: Option<Solver>,
    /// Premises whose definition was asserted.
    known: FxHashSet<TermId>,
}

/// A clause over slots and formal variables.
struct Rule {
    group: usize,
    sources: Vec<PredicateId>,
    on: TermId,
    constraint: TermId,
}

/// One solver for many groups. Its outermost scopes are those of groups.
struct SharedSolver {
    solver: Solver,
    /// The group whose formulas it has.
    group: usize,
    /// How many groups had it.
    used: usize,
}

/// The clauses of a system in incremental solvers.
pub struct Clauses {
    terms: Rc<TermStore>,
    smt: Rc<Smt>,
    groups: Vec<Group>,
    rules: Vec<Rule>,
    slots: FxHashMap<PredicateId, Vec<Slot>>,
    index: ClauseIndex,
    /// The literals of premises by predicate, formula and condition.
    literals: FxHashMap<(PredicateId, TermId, TermId), TermId>,
    premises: FxHashMap<TermId, Premise>,
    shared: Option<SharedSolver>,
}

impl Clauses {
    /// The clauses of a system with their constraints.
    pub fn new(system: &System, solvers: Solvers, smt: &Rc<Smt>) -> Clauses {
        Clauses::with_constraints(system, solvers, smt, |c| system.clauses[c].constraint)
    }

    /// The clauses of a system with other constraints: `constraint` gives that of the clause at a
    /// position. Clauses may share variables that are not arguments.
    pub fn with_constraints(
        system: &System,
        solvers: Solvers,
        smt: &Rc<Smt>,
        constraint: impl Fn(usize) -> TermId,
    ) -> Clauses {
        let index = ClauseIndex::new(system);
        let mut clauses = Clauses {
            terms: system.terms.clone(),
            smt: smt.clone(),
            groups: Vec::new(),
            rules: Vec::with_capacity(system.clauses.len()),
            slots: FxHashMap::default(),
            index,
            literals: FxHashMap::default(),
            premises: FxHashMap::default(),
            shared: None,
        };
        let alone = solvers == Solvers::PerClause && system.clauses.len() <= MAX_SOLVERS;
        let mut group_of: FxHashMap<Option<PredicateId>, usize> = FxHashMap::default();
        for (at, clause) in system.clauses.iter().enumerate() {
            let head = clause.head.as_ref().map(|h| h.predicate);
            let known = group_of.get(&head).copied().filter(|_| !alone);
            let group = known.unwrap_or_else(|| clauses.add_group(head));
            group_of.insert(head, group);
            clauses.add_rule(system, at, group, constraint(at));
        }
        for group in 0..clauses.groups.len() {
            clauses.put_one_in_force(group);
        }
        clauses
    }

    fn add_group(&mut self, head: Option<PredicateId>) -> usize {
        self.groups.push(Group {
            head,
            clauses: Vec::new(),
            sources: Vec::new(),
            slots: FxHashSet::default(),
            formulas: Vec::new(),
            solver: None,
            known: FxHashSet::default(),
        });
        self.groups.len() - 1
    }

    fn add_rule(&mut self, system: &System, at: usize, group: usize, constraint: TermId) {
        let terms = self.terms.clone();
        let clause = &system.clauses[at];
        let own = &mut self.groups[group];
        own.clauses.push(at);
        let on = terms.fresh_var("clause", SortId::BOOL);
        let idle = terms.not(on);
        let mut map: FxHashMap<TermId, TermId> = FxHashMap::default();
        if let Some(head) = &clause.head {
            let params = &system.predicate(head.predicate).params;
            map.extend(head.args.iter().copied().zip(params.iter().copied()));
        }
        let mut count: FxHashMap<PredicateId, usize> = FxHashMap::default();
        for atom in &clause.body {
            let nth = count.entry(atom.predicate).or_default();
            let slots = self.slots.entry(atom.predicate).or_default();
            let params = &system.predicate(atom.predicate).params;
            if slots.len() == *nth {
                slots.push(Slot {
                    renaming: terms.renaming(params),
                    memo: FxHashMap::default(),
                    used: terms.fresh_var("used", SortId::BOOL),
                });
            }
            let slot = &slots[*nth];
            let args = params.iter().map(|p| slot.renaming[p]);
            map.extend(atom.args.iter().copied().zip(args));
            own.formulas.push(terms.or(&[idle, slot.used]));
            own.slots.insert((atom.predicate, *nth));
            *nth += 1;
        }
        let mut sources: Vec<PredicateId> = count.into_keys().collect();
        sources.sort_unstable();
        own.sources.extend(&sources);
        own.sources.sort_unstable();
        own.sources.dedup();
        let constraint = terms.substitute(constraint, &map);
        own.formulas.push(terms.or(&[idle, constraint]));
        self.rules.push(Rule {
            group,
            sources,
            on,
            constraint,
        });
    }

    fn put_one_in_force(&mut self, group: usize) {
        let clauses = self.groups[group].clauses.iter();
        let some: Vec<TermId> = clauses.map(|&c| self.rules[c].on).collect();
        self.assert(group, self.terms.or(&some));
    }

    /// The term store of all formulas.
    pub fn terms(&self) -> &Rc<TermStore> {
        &self.terms
    }

    /// The groups of clauses that share a solver.
    pub fn groups(&self) -> std::ops::Range<usize> {
        0..self.groups.len()
    }

    /// The group of a clause.
    pub fn group_of(&self, clause: usize) -> usize {
        self.rules[clause].group
    }

    /// The clauses that derive the predicate; the queries for `None`.
    pub fn deriving(&self, head: Option<PredicateId>) -> &[usize] {
        match head {
            Some(predicate) => self.index.deriving(predicate),
            None => self.index.queries(),
        }
    }

    /// The groups of these clauses.
    pub fn groups_deriving(&self, head: Option<PredicateId>) -> Vec<usize> {
        let clauses = self.deriving(head).iter();
        let mut groups: Vec<usize> = clauses.map(|&c| self.group_of(c)).collect();
        groups.dedup();
        groups
    }

    /// The predicate that the clauses of a group derive; `None` for `false`.
    pub fn head(&self, group: usize) -> Option<PredicateId> {
        self.groups[group].head
    }

    /// The clauses of a group.
    pub fn clauses(&self, group: usize) -> &[usize] {
        &self.groups[group].clauses
    }

    /// The predicates of the body atoms of a group, ascending.
    pub fn sources(&self, group: usize) -> &[PredicateId] {
        &self.groups[group].sources
    }

    /// The predicates of a clause's body atoms, ascending.
    pub fn sources_of(&self, clause: usize) -> &[PredicateId] {
        &self.rules[clause].sources
    }

    /// The literal that puts a clause in force, among those of its group.
    pub fn in_force(&self, clause: usize) -> TermId {
        self.rules[clause].on
    }

    /// A clause's constraint over slots and formal variables.
    pub fn constraint(&self, clause: usize) -> TermId {
        self.rules[clause].constraint
    }

    /// The renaming of a predicate's formal variables to the slot of its first body atom.
    pub fn first_slot(&self, predicate: PredicateId) -> Option<&FxHashMap<TermId, TermId>> {
        Some(&self.slots.get(&predicate)?.first()?.renaming)
    }

    /// The literals `used` of all slots.
    pub fn used(&self) -> Vec<TermId> {
        self.slots.values().flatten().map(|s| s.used).collect()
    }

    /// The lemma that `formula`, over the formal variables, holds of a predicate. At body atoms its
    /// premise implies it only if `when` holds.
    pub fn lemma(&mut self, about: Option<PredicateId>, formula: TermId, when: TermId) -> Lemma {
        Lemma {
            about,
            premise: about.map_or(TermId::TRUE, |about| self.premise(about, formula, when)),
            violation: self.terms.not(formula),
        }
    }

    /// The literal that implies the formula at all body atoms of its predicate, if `when` holds.
    fn premise(&mut self, about: PredicateId, formula: TermId, when: TermId) -> TermId {
        let key = (about, formula, when);
        if let Some(&known) = self.literals.get(&key) {
            return known;
        }
        let literal = self.terms.fresh_var("lemma", SortId::BOOL);
        self.literals.insert(key, literal);
        let premise = Premise {
            about,
            formula,
            when,
        };
        self.premises.insert(literal, premise);
        literal
    }

    /// Asserts in a group's solver the definitions of those premises that are not defined there
    /// yet. No scope may be open.
    pub fn define_premises(&mut self, group: usize, premises: &[TermId]) {
        for &literal in premises {
            let own = &mut self.groups[group];
            let Some(premise) = self.premises.get(&literal) else {
                continue;
            };
            if !own.known.insert(literal) {
                continue;
            }
            let idle = [self.terms.not(literal), self.terms.not(premise.when)];
            let slots = self.slots.get_mut(&premise.about).into_iter().flatten();
            let mut formulas = Vec::new();
            for (nth, slot) in slots.enumerate() {
                if own.slots.contains(&(premise.about, nth)) {
                    let Slot { renaming, memo, .. } = slot;
                    let here = self.terms.substitute_with(premise.formula, renaming, memo);
                    let unused = self.terms.not(slot.used);
                    formulas.push(self.terms.or(&[idle[0], idle[1], unused, here]));
                }
            }
            for formula in formulas {
                self.assert(group, formula);
            }
        }
    }

    /// Asserts a formula in a group's solver permanently. No scope may be open.
    pub fn assert(&mut self, group: usize, formula: TermId) {
        let own = &mut self.groups[group];
        if let Some(solver) = &mut own.solver {
            debug_assert_eq!(solver.depth(), 0);
            solver.assert(formula);
            return;
        }
        own.formulas.push(formula);
        if let Some(shared) = self.shared.as_mut().filter(|s| s.group == group) {
            debug_assert_eq!(shared.solver.depth(), 1);
            shared.solver.assert(formula);
        }
    }

    /// The group's solver, which is created when it is first used. Scopes that are opened have to
    /// be closed.
    pub fn solver(&mut self, group: usize) -> &mut Solver {
        if self.groups.len() > MAX_SOLVERS {
            return self.shared_solver(group);
        }
        let Group {
            solver, formulas, ..
        } = &mut self.groups[group];
        solver.get_or_insert_with(|| {
            let mut solver = self.smt.solver();
            for formula in formulas.drain(..) {
                solver.assert(formula);
            }
            solver
        })
    }

    /// The solver that all groups share, with the formulas of this one.
    fn shared_solver(&mut self, group: usize) -> &mut Solver {
        let known = self
            .shared
            .take()
            .filter(|s| s.used < MAX_SCOPES || s.group == group);
        let mut shared = known.unwrap_or_else(|| SharedSolver {
            solver: self.smt.solver(),
            group: usize::MAX,
            used: 0,
        });
        if shared.group != group {
            if shared.solver.depth() > 0 {
                shared.solver.pop();
            }
            shared.solver.push();
            for &formula in &self.groups[group].formulas {
                shared.solver.assert(formula);
            }
            shared.group = group;
            shared.used += 1;
        }
        &mut self.shared.insert(shared).solver
    }
}
