//! The search for a derivation of `false` from the queries, with late choices.
//!
//! An atom is resolved as soon as only one rule is applicable to it. If there are several, each is
//! tried together with what follows from it; only if two or more survive for all atoms, one of them
//! is chosen, for an atom with few. The number of such choices is bounded, and the bound grows.
//!
//! Invariant: when all atoms are resolved, they and the instances of their rules are a derivation
//! if the constraints have a solution.

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use rustc_hash::FxHashMap;

use super::limits::LIMITS;
use super::rules::{Pattern, Rule, rules};
use super::store::{Failure, Item, Mark, Outcome, Reading, Ref, Store};
use alphorn_chc::{PredicateId, Reachability, System};
use alphorn_proof::{Stop, incomplete, unreadable, values};
use alphorn_smt::{SatResult, Smt};
use alphorn_term::run::{Budget, Context};
use alphorn_term::{Assignment, Random, TermId};
use alphorn_witness::{Fact, Refutation, RefutationStep};

/// In place of a rule's number: the atom is not resolved. In place of a count: not known.
const OPEN: u32 = u32::MAX;
/// Nominal work of a resolution with everything that follows from it.
const RESOLUTION: Duration = Duration::from_nanos(1_500);
/// Nominal work of propagating a constraint once.
const LOOK: Duration = Duration::from_nanos(150);
/// An atom of the derivation.
struct Atom {
    /// `None` is `false`.
    predicate: Option<PredicateId>,
    /// The position of its arguments in `Search::args`.
    args: u32,
    /// The number of applicable rules, as far as known.
    count: u32,
    /// The rule that resolves it, or [`OPEN`].
    rule: u32,
    /// The position of the rule's instance.
    base: Ref,
    /// The position of the atoms of the rule's body.
    children: u32,
    /// Whether it is in the agenda.
    queued: bool,
    /// Whether `count` is of rules that survived a trial, and no term that the atom depends on has
    /// changed since.
    tried: bool,
}

/// Why resolution stopped.
enum Halt {
    /// No rule is applicable.
    Failure,
    /// There were too many resolutions.
    Bound,
}

impl From<Failure> for Halt {
    fn from(_: Failure) -> Halt {
        Halt::Failure
    }
}

/// A state to which the search can return.
struct Place {
    store: Mark,
    atoms: usize,
    args: usize,
    trail: usize,
}

/// The untried rules of a choice.
struct Choice {
    place: Place,
    atom: u32,
    rules: Vec<u32>,
}

/// The result of a search.
pub(super) enum Found {
    /// A derivation of `false`.
    Refutation(Refutation),
    /// None with this number of choices.
    None,
    /// None at all.
    Never,
}

/// The state of a search.
pub(super) struct Search<'a> {
    system: &'a System,
    rules: &'a [Rule],
    /// The numbers of the rules by predicate of the head; `None` for queries.
    of_predicate: FxHashMap<Option<PredicateId>, Rc<[u32]>>,
    store: Store<'a>,
    /// The atoms of the derivation.
    atoms: Vec<Atom>,
    /// Their arguments.
    args: Vec<Ref>,
    /// Changes of open atoms, with the old `count` and `tried`.
    trail: Vec<(u32, u32, bool)>,
    /// Atoms whose applicable rules have to be found.
    agenda: VecDeque<u32>,
    /// Resolutions in the whole search.
    pub steps: u64,
    /// Resolutions that are left before the next choice.
    left: usize,
    budget: Budget,
    /// Propagations of constraints that were counted as work.
    looks: u64,
    /// Whether the budget has ended.
    is_spent: bool,
}

/// The rules of the clauses that can take part in a derivation of `false`. An error if a clause has
/// terms of other sorts.
pub(super) fn compile(system: &System, cx: &Context) -> Result<Vec<Rule>, Stop> {
    let reachability = Reachability::new(system);
    let mut all = Vec::new();
    for &clause in reachability.clauses() {
        if let Some(reason) = cx.stop() {
            return Err(Stop::Reason(reason));
        }
        let own = rules(system, clause);
        all.extend(own.ok_or_else(|| incomplete("clauses with terms of other sorts"))?);
    }
    Ok(all)
}

impl<'a> Search<'a> {
    /// A search through these rules.
    pub fn new(system: &'a System, rules: &'a [Rule], budget: &Budget) -> Self {
        let mut of_predicate: FxHashMap<Option<PredicateId>, Vec<u32>> = FxHashMap::default();
        for (number, rule) in (0..).zip(rules) {
            let head = system.clauses[rule.clause].head.as_ref();
            let own = of_predicate.entry(head.map(|h| h.predicate)).or_default();
            own.push(number);
        }
        // Rules with few body atoms first.
        for own in of_predicate.values_mut() {
            own.sort_by_key(|&r| rules[r as usize].body.len());
        }
        Search {
            system,
            rules,
            of_predicate: of_predicate
                .into_iter()
                .map(|(p, r)| (p, r.into()))
                .collect(),
            store: Store::new(&system.terms, rules),
            atoms: Vec::new(),
            args: Vec::new(),
            trail: Vec::new(),
            agenda: VecDeque::new(),
            steps: 0,
            left: 0,
            budget: budget.clone(),
            looks: 0,
            is_spent: false,
        }
    }

    /// Searches for a derivation with at most `most` choices.
    pub fn run(&mut self, most: usize, smt: &Rc<Smt>, cx: &Context) -> Result<Found, Stop> {
        self.search(most, None, smt, cx)
    }

    /// Searches for a derivation by random choices, and ends after `tries` rules.
    pub fn run_at_random(
        &mut self,
        random: &mut Random,
        tries: usize,
        smt: &Rc<Smt>,
        cx: &Context,
    ) -> Result<Found, Stop> {
        self.search(LIMITS.random_choices, Some((random, tries)), smt, cx)
    }

    /// Searches with at most `most` nested choices.
    fn search(
        &mut self,
        most: usize,
        mut at_random: Option<(&mut Random, usize)>,
        smt: &Rc<Smt>,
        cx: &Context,
    ) -> Result<Found, Stop> {
        let start = self.place();
        self.add(None, &[], 0);
        let steps = LIMITS.resolutions * (most + 1);
        self.left = steps;
        let mut bounded = false;
        let mut open: Vec<Choice> = Vec::new();
        let mut state = self.reduce();
        let found = loop {
            if let Some(reason) = cx.stop() {
                return Err(Stop::Reason(reason));
            }
            if state.is_ok() {
                state = Err(Halt::Failure);
                match self.choose() {
                    Err(halt) => state = Err(halt),
                    Ok(Some(_)) if open.len() == most => bounded = true,
                    Ok(Some((atom, rules))) => open.push(Choice {
                        place: self.place(),
                        atom,
                        rules,
                    }),
                    Ok(None) => {
                        if let Some(refutation) = self.derivation(smt)? {
                            break Found::Refutation(refutation);
                        }
                    }
                }
            }
            bounded |= matches!(state, Err(Halt::Bound));
            // Take the next rule of the last choice.
            let Some(choice) = open.last_mut() else {
                break if bounded { Found::None } else { Found::Never };
            };
            let next = match &mut at_random {
                Some((random, _)) if !choice.rules.is_empty() => {
                    let at = random.below(choice.rules.len());
                    Some(choice.rules.swap_remove(at))
                }
                _ => choice.rules.pop(),
            };
            let atom = choice.atom;
            self.undo(&choice.place);
            match next {
                Some(rule) => {
                    if let Some((_, tries)) = &mut at_random {
                        if *tries == 0 {
                            break Found::None;
                        }
                        *tries -= 1;
                    }
                    self.left = steps;
                    state = self.resolve(atom, rule).map_err(Halt::from);
                    if state.is_ok() {
                        state = self.reduce();
                    }
                }
                None => {
                    open.pop();
                }
            }
        };
        self.undo(&start);
        Ok(found)
    }

    /// The current state.
    fn place(&self) -> Place {
        Place {
            store: self.store.mark(),
            atoms: self.atoms.len(),
            args: self.args.len(),
            trail: self.trail.len(),
        }
    }

    /// Returns to an earlier state.
    fn undo(&mut self, place: &Place) {
        self.store.undo(&place.store);
        while let Some(atom) = self.agenda.pop_front() {
            self.atoms[atom as usize].queued = false;
        }
        for (atom, count, tried) in self.trail.drain(place.trail..).rev() {
            let atom = &mut self.atoms[atom as usize];
            (atom.count, atom.tried, atom.rule) = (count, tried, OPEN);
        }
        self.atoms.truncate(place.atoms);
        self.args.truncate(place.args);
    }

    /// Adds an open atom.
    fn add(&mut self, predicate: Option<PredicateId>, patterns: &[Pattern], base: Ref) {
        let args = self.args.len() as u32;
        for pattern in patterns {
            let arg = self.store.build(pattern, base);
            self.args.push(arg);
        }
        self.agenda.push_back(self.atoms.len() as u32);
        self.atoms.push(Atom {
            predicate,
            args,
            count: OPEN,
            rule: OPEN,
            base: 0,
            children: 0,
            queued: true,
            tried: false,
        });
    }

    /// Resolves an atom with a rule: unifies the head, posts the guards, adds the body.
    fn resolve(&mut self, atom: u32, number: u32) -> Outcome {
        self.steps += 1;
        if self.steps.is_multiple_of(LIMITS.resolutions_per_check) {
            self.count_work();
        }
        let rules = self.rules;
        let rule = &rules[number as usize];
        let base = self.store.instance(number);
        let children = self.atoms.len() as u32;
        let entry = &mut self.atoms[atom as usize];
        self.trail.push((atom, entry.count, entry.tried));
        (entry.rule, entry.base, entry.children) = (number, base, children);
        self.unify_head(atom, number, base)?;
        for (predicate, patterns) in &rule.body {
            self.add(Some(*predicate), patterns, base);
        }
        Ok(())
    }

    /// Counts the work since the last call, and checks the budget.
    fn count_work(&mut self) {
        let looks = u32::try_from(self.store.looks - self.looks).unwrap_or(u32::MAX);
        self.looks = self.store.looks;
        let terms = &self.system.terms;
        terms.charge(RESOLUTION * LIMITS.resolutions_per_check as u32 + LOOK * looks);
        self.is_spent = self.budget.is_spent();
    }

    /// Unifies an atom with the head of a rule's instance, and posts the guards.
    fn unify_head(&mut self, atom: u32, rule: u32, base: Ref) -> Outcome {
        let rules = self.rules;
        let args = self.atoms[atom as usize].args as usize;
        for (i, pattern) in rules[rule as usize].head.iter().enumerate() {
            self.store
                .unify_pattern(pattern, base, self.args[args + i])?;
        }
        self.store.post_guards(rule, base)
    }

    /// Resolves atoms with one applicable rule until there are none.
    fn reduce(&mut self) -> Result<(), Halt> {
        loop {
            self.store.propagate()?;
            while let Some(atom) = self.store.next_woken() {
                let entry = &mut self.atoms[atom as usize];
                if entry.rule == OPEN && !entry.queued {
                    self.trail.push((atom, entry.count, entry.tried));
                    (entry.queued, entry.tried) = (true, false);
                    self.agenda.push_back(atom);
                }
            }
            let Some(atom) = self.agenda.pop_front() else {
                return Ok(());
            };
            self.atoms[atom as usize].queued = false;
            if self.atoms[atom as usize].rule != OPEN {
                continue;
            }
            let (candidates, waits) = self.candidates(atom);
            match *candidates {
                [] => return Err(Halt::Failure),
                [rule] => {
                    let too_many = self.atoms.len() > LIMITS.atoms;
                    if self.left == 0 || too_many || self.is_spent {
                        return Err(Halt::Bound);
                    }
                    self.left -= 1;
                    self.resolve(atom, rule)?;
                }
                _ => {
                    let entry = &mut self.atoms[atom as usize];
                    self.trail.push((atom, entry.count, entry.tried));
                    entry.count = candidates.len() as u32;
                    for var in waits {
                        self.store.wait(var, Item::Atom(atom));
                    }
                }
            }
        }
    }

    /// The rules whose head and guards allow the atom, and the variables that this depends on. All
    /// constraints have to be propagated.
    fn candidates(&mut self, atom: u32) -> (Vec<u32>, Vec<Ref>) {
        let entry = &self.atoms[atom as usize];
        let args = entry.args as usize;
        let Some(own) = self.of_predicate.get(&entry.predicate).cloned() else {
            return (Vec::new(), Vec::new());
        };
        let mut found: Vec<u32> = Vec::new();
        let mut waits: Vec<Ref> = Vec::new();
        for &rule in own.iter() {
            let head = self.rules[rule as usize].head.iter().enumerate();
            let mut matches = head.map(|(i, pattern)| (pattern, self.args[args + i]));
            if matches.all(|(pattern, arg)| self.store.may_match(pattern, arg, &mut waits)) {
                found.push(rule);
            }
        }
        if found.len() > 1 {
            found.retain(|&rule| {
                if !self.rules[rule as usize].has_conditions {
                    return true;
                }
                let mark = self.store.mark();
                let base = self.store.instance(rule);
                let state = self.unify_head(atom, rule, base);
                let state = state.and_then(|()| self.store.propagate());
                self.store.touched(&mark, &mut waits);
                self.store.undo(&mark);
                state.is_ok()
            });
        }
        waits.sort_unstable();
        waits.dedup();
        (found, waits)
    }

    /// An atom and two or more rules that survive a trial, the first one to use last; `None` if all
    /// atoms are resolved.
    fn choose(&mut self) -> Result<Option<(u32, Vec<u32>)>, Halt> {
        loop {
            let atoms = (0..).zip(&self.atoms).filter(|a| a.1.rule == OPEN);
            let mut open: Vec<(u32, u32)> = atoms.map(|(at, atom)| (atom.count, at)).collect();
            if open.is_empty() {
                return Ok(None);
            }
            open.sort_unstable();
            open.truncate(LIMITS.tried_atoms);
            // The rules of the best atom are tried again if it is not known which survived.
            let mut best = (u32::MAX, open[0].1);
            let mut rules: Vec<u32> = Vec::new();
            for (_, atom) in open {
                let entry = &self.atoms[atom as usize];
                if entry.tried {
                    if entry.count < best.0 {
                        best = (entry.count, atom);
                        rules.clear();
                    }
                    continue;
                }
                let surviving = self.surviving(atom);
                let count = surviving.len() as u32;
                if count < best.0 {
                    best = (count, atom);
                    rules = surviving;
                }
                if count < 2 {
                    break;
                }
                let entry = &mut self.atoms[atom as usize];
                self.trail.push((atom, entry.count, entry.tried));
                (entry.count, entry.tried) = (count, true);
            }
            let atom = best.1;
            if rules.is_empty() && best.0 > 0 {
                rules = self.surviving(atom);
            }
            match *rules {
                [] => return Err(Halt::Failure),
                [rule] => {
                    if self.left == 0 || self.is_spent {
                        return Err(Halt::Bound);
                    }
                    self.left -= 1;
                    self.resolve(atom, rule)?;
                    self.reduce()?;
                }
                _ => {
                    rules.reverse();
                    return Ok(Some((atom, rules)));
                }
            }
        }
    }

    /// The rules for the atom that do not fail within a number of resolutions.
    fn surviving(&mut self, atom: u32) -> Vec<u32> {
        let mut rules = self.candidates(atom).0;
        rules.retain(|&rule| {
            let place = self.place();
            let left = std::mem::replace(&mut self.left, LIMITS.trial_resolutions);
            let state = self.resolve(atom, rule).map_err(Halt::from);
            let state = state.and_then(|()| self.reduce());
            self.left = left;
            self.undo(&place);
            !matches!(state, Err(Halt::Failure))
        });
        rules
    }

    /// The derivation that was found, if its variables have values.
    fn derivation(&mut self, smt: &Rc<Smt>) -> Result<Option<Refutation>, Stop> {
        let terms = &*self.system.terms;
        let mut reading = Reading::default();
        let Some(pending) = self.store.pending(&mut reading) else {
            return Ok(None);
        };
        let mut known = Assignment::default();
        if !pending.is_empty() {
            let mut solver = smt.solver();
            for formula in pending {
                solver.assert(formula);
            }
            let SatResult::Sat = solver.check(&[]) else {
                return Ok(None);
            };
            let vars: Vec<TermId> = reading.names.iter().map(|n| n.1).collect();
            let model = solver.model().ok_or_else(|| unreadable("no model"))?;
            known = values(&model, &vars)?;
        }
        // All terms are read before variables get values.
        let mut instances: Vec<Vec<TermId>> = Vec::with_capacity(self.atoms.len());
        for atom in &self.atoms {
            let count = self.rules[atom.rule as usize].vars.len() as u32;
            let read = (atom.base..atom.base + count).map(|at| self.store.read(at, &mut reading));
            let Some(read) = read.collect::<Option<Vec<_>>>() else {
                return Ok(None);
            };
            instances.push(read);
        }
        for &(at, name) in &reading.names {
            if let (false, Some(value)) = (known.contains_key(&name), self.store.some_value(at)) {
                known.insert(name, value);
            }
        }
        let mut memo = FxHashMap::default();
        let mut steps: Vec<RefutationStep> = Vec::new();
        let mut of_fact: FxHashMap<Option<Fact>, usize> = FxHashMap::default();
        let mut step_of: Vec<usize> = vec![0; self.atoms.len()];
        // An atom, and whether the atoms of its body were pushed.
        let mut open = vec![(0, false)];
        while let Some((at, entered)) = open.pop() {
            let atom: &Atom = &self.atoms[at];
            let rule = &self.rules[atom.rule as usize];
            let children = atom.children as usize..atom.children as usize + rule.body.len();
            if !entered {
                open.push((at, true));
                open.extend(children.map(|c| (c, false)));
                continue;
            }
            let own = rule.vars.iter().zip(&instances[at]);
            let own = own.map(|(&v, &t)| (v, terms.substitute_with(t, &known, &mut memo)));
            let own: Assignment = own.collect();
            let values = rule.values.iter();
            let values: Assignment = values
                .map(|&(var, term)| (var, terms.substitute(term, &own)))
                .collect();
            if !values.values().all(|&v| terms.is_value(v)) {
                return Ok(None);
            }
            let clause = &self.system.clauses[rule.clause];
            let fact = clause.head.as_ref().map(|head| Fact {
                predicate: head.predicate,
                values: head.args.iter().map(|v| values[v]).collect(),
            });
            step_of[at] = *of_fact.entry(fact.clone()).or_insert_with(|| {
                steps.push(RefutationStep {
                    clause: clause.id,
                    values,
                    premises: children.map(|c| step_of[c]).collect(),
                    fact,
                });
                steps.len() - 1
            });
        }
        Ok(Some(Refutation { steps }))
    }
}
