//! The search for a derivation of `false` from the queries down, with late choices.
//!
//! An atom is resolved as soon as one rule alone may be used for it. Where several may, each is
//! tried with what follows from it at once; only if two or more survive everywhere, one of them is
//! chosen, for an atom with few. The number of such choices is bounded, and the bound grows.
//!
//! Invariant: the atoms that are resolved, by their rules and instances, are a derivation if all
//! are and the constraints have a solution.

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use rustc_hash::FxHashMap;

use super::rules::{Pattern, Rule, rules};
use super::store::{Failure, Item, Mark, Outcome, Reading, Ref, Store};
use alphorn_chc::{PredicateId, Reachability, System};
use alphorn_proof::{Stop, incomplete, unreadable, values};
use alphorn_smt::{SatResult, Smt};
use alphorn_term::run::{Budget, Context};
use alphorn_term::{Assignment, Random, TermId};
use alphorn_witness::{Fact, Refutation, RefutationStep};

/// The atom is not resolved.
const OPEN: u32 = u32::MAX;
/// Resolutions between two choices: those without a choice, and more with each choice allowed.
const STEPS: usize = 300;
/// Choices at random, one after the other.
const DEPTH: usize = 40;
/// Resolutions that follow from a rule which is only tried.
const PROBE: usize = 60;
/// Atoms whose rules are tried before a choice.
const PROBED: usize = 4;
/// Atoms of one derivation.
const ATOMS: usize = 100_000;
/// What a resolution costs with all that follows from it, and a look at a constraint: nominal work.
const RESOLUTION: Duration = Duration::from_nanos(1_500);
const LOOK: Duration = Duration::from_nanos(150);
/// Resolutions after which the work is counted and the budget is looked at.
const ROUND: u64 = 16;

/// An atom of the derivation.
struct Atom {
    /// `None` is `false`.
    predicate: Option<PredicateId>,
    /// Where its arguments are in `Search::args`.
    args: u32,
    /// How many rules may be used, as far as was seen.
    count: u32,
    rule: u32,
    /// Where the rule's instance begins, and the atoms of its body.
    base: Ref,
    children: u32,
    queued: bool,
    /// Whether the count is of rules that survived a trial, and nothing that the atom looks at has
    /// changed since.
    tried: bool,
}

/// Why resolving went no further.
enum Halt {
    Failure,
    /// There were too many steps.
    Bound,
}

impl From<Failure> for Halt {
    fn from(_: Failure) -> Halt {
        Halt::Failure
    }
}

/// What there was at some moment.
struct Place {
    store: Mark,
    atoms: usize,
    args: usize,
    trail: usize,
}

/// The rules that are left for an atom.
struct Choice {
    place: Place,
    atom: u32,
    rules: Vec<u32>,
}

/// How a search ended.
pub(super) enum Found {
    Refutation(Refutation),
    /// There is none with so few choices.
    None,
    /// There is none at all.
    Never,
}

/// A search through a system.
pub(super) struct Search<'a> {
    system: &'a System,
    rules: &'a [Rule],
    of_predicate: FxHashMap<Option<PredicateId>, Rc<[u32]>>,
    store: Store<'a>,
    atoms: Vec<Atom>,
    args: Vec<Ref>,
    /// Open atoms that were changed, with `count` and `tried` as they were.
    trail: Vec<(u32, u32, bool)>,
    agenda: VecDeque<u32>,
    /// Resolutions so far, and those that are left before the next choice.
    pub steps: u64,
    left: usize,
    budget: Budget,
    /// Looks at constraints that were counted as work.
    looks: u64,
    /// Whether the budget has ended.
    is_spent: bool,
}

/// The rules of the clauses that can take part in a derivation of `false`.
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
    pub fn new(system: &'a System, rules: &'a [Rule], budget: &Budget) -> Self {
        let mut of_predicate: FxHashMap<Option<PredicateId>, Vec<u32>> = FxHashMap::default();
        for (number, rule) in (0..).zip(rules) {
            let head = system.clauses[rule.clause].head.as_ref();
            let own = of_predicate.entry(head.map(|h| h.predicate)).or_default();
            own.push(number);
        }
        // Those first that need least.
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

    /// Looks for a derivation with at most so many choices.
    pub fn run(&mut self, most: usize, smt: &Rc<Smt>, cx: &Context) -> Result<Found, Stop> {
        self.search(most, None, smt, cx)
    }

    /// Looks for a derivation by choices at random, without a bound for their number, and goes
    /// back to earlier ones so often.
    pub fn run_at_random(
        &mut self,
        random: &mut Random,
        tries: usize,
        smt: &Rc<Smt>,
        cx: &Context,
    ) -> Result<Found, Stop> {
        self.search(DEPTH, Some((random, tries)), smt, cx)
    }

    fn search(
        &mut self,
        most: usize,
        mut at_random: Option<(&mut Random, usize)>,
        smt: &Rc<Smt>,
        cx: &Context,
    ) -> Result<Found, Stop> {
        let start = self.place();
        self.add(None, &[], 0);
        let steps = STEPS * (most + 1);
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
            // The next rule of the last choice.
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

    fn place(&self) -> Place {
        Place {
            store: self.store.mark(),
            atoms: self.atoms.len(),
            args: self.args.len(),
            trail: self.trail.len(),
        }
    }

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

    /// Uses a rule for an atom: its head, its guards, its body.
    fn resolve(&mut self, atom: u32, number: u32) -> Outcome {
        self.steps += 1;
        if self.steps.is_multiple_of(ROUND) {
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

    fn count_work(&mut self) {
        let looks = u32::try_from(self.store.looks - self.looks).unwrap_or(u32::MAX);
        self.looks = self.store.looks;
        let terms = &self.system.terms;
        terms.charge(RESOLUTION * ROUND as u32 + LOOK * looks);
        self.is_spent = self.budget.is_spent();
    }

    fn unify_head(&mut self, atom: u32, rule: u32, base: Ref) -> Outcome {
        let rules = self.rules;
        let args = self.atoms[atom as usize].args as usize;
        for (i, pattern) in rules[rule as usize].head.iter().enumerate() {
            self.store
                .unify_pattern(pattern, base, self.args[args + i])?;
        }
        self.store.post_guards(rule, base)
    }

    /// Resolves what one rule alone may be used for, until there is no more of it.
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
                    if self.left == 0 || self.atoms.len() > ATOMS || self.is_spent {
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

    /// The rules whose head and guards allow an atom, and the variables that they look at. All
    /// constraints were propagated.
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

    /// An atom and two or more rules for it that survive a trial, the last one to be used first;
    /// `None` if all atoms are resolved.
    fn choose(&mut self) -> Result<Option<(u32, Vec<u32>)>, Halt> {
        loop {
            let atoms = (0..).zip(&self.atoms).filter(|a| a.1.rule == OPEN);
            let mut open: Vec<(u32, u32)> = atoms.map(|(at, atom)| (atom.count, at)).collect();
            if open.is_empty() {
                return Ok(None);
            }
            open.sort_unstable();
            open.truncate(PROBED);
            // The last one is tried again if it is not known which rules survived.
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

    /// The rules for an atom that do not fail within some steps.
    fn surviving(&mut self, atom: u32) -> Vec<u32> {
        let mut rules = self.candidates(atom).0;
        rules.retain(|&rule| {
            let place = self.place();
            let left = std::mem::replace(&mut self.left, PROBE);
            let state = self.resolve(atom, rule).map_err(Halt::from);
            let state = state.and_then(|()| self.reduce());
            self.left = left;
            self.undo(&place);
            !matches!(state, Err(Halt::Failure))
        });
        rules
    }

    /// The derivation that was found, if there are values for its variables.
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
        // Everything is read before names get values.
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
        // Whether the atoms of the body were pushed.
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
