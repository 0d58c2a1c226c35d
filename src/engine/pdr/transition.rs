//! The transition relation of a predicate: its clauses in one incremental solver.
//!
//! The head's arguments are the predicate's formal variables; the `n`-th body atom of a predicate
//! has the same variables, a *slot*, in all clauses, so that a lemma is asserted once for all of
//! them. Literals: a rule's `tag` puts the clause in force, a slot's `used` says that the clause in
//! force has it, `must` restricts it to reached facts instead of lemmas, and a literal for each level
//! puts the lemmas of that level in force. Facts need not satisfy the lemmas of any level: their
//! derivations may be higher.
//!
//! Invariant: lemmas and facts are in force under their slot's `used` only, so slots of clauses that
//! are not in force constrain nothing. The solver is made anew when formulas that were only assumed once
//! outnumber what it holds.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::frame::{Frame, INDEX_LIMIT, INFINITE, Level};
use super::quantify::indexes;
use super::total::total;
use crate::chc::System;
use crate::smt::{SatResult, Smt, SmtModel, Solver};
use crate::term::{SortId, TermId, TermStore};

/// Formulas assumed once that a solver may hold beyond twice what it was asserted.
const GARBAGE_LIMIT: usize = 400;

/// One literal per level, the same in all solvers.
pub(super) struct Levels {
    terms: Rc<TermStore>,
    literals: Vec<TermId>,
    by_literal: FxHashMap<TermId, Level>,
    /// Whether derivations are to be no higher than levels say, and the literals without which facts
    /// of a height are not in force.
    bounded: bool,
    heights: Vec<TermId>,
}

impl Levels {
    pub fn new(terms: Rc<TermStore>) -> Self {
        Levels {
            terms,
            literals: Vec::new(),
            by_literal: FxHashMap::default(),
            bounded: false,
            heights: Vec::new(),
        }
    }

    /// From now on facts count only where their derivations are low enough for the level.
    pub fn bound_heights(&mut self) {
        self.bounded = true;
    }

    /// Up to which height facts count for an obligation of a level, as premises of a step into it.
    pub fn below(&self, level: Level) -> Option<Level> {
        match self.bounded {
            true => level.checked_sub(1),
            false => Some(INFINITE),
        }
    }

    /// Up to which height facts count as reached at a level.
    pub fn reached(&self, level: Level) -> Option<Level> {
        match self.bounded {
            true => Some(level),
            false => Some(INFINITE),
        }
    }

    /// A fact of a height, as it is told to solvers.
    pub fn fact(&mut self, formula: TermId, height: Level) -> TermId {
        if !self.bounded {
            return formula;
        }
        while self.heights.len() <= height as usize {
            self.heights
                .push(self.terms.fresh_var("height", SortId::BOOL));
        }
        self.terms.and(&[formula, self.heights[height as usize]])
    }

    /// That facts of greater heights than this do not count; `None` for all facts.
    pub fn at_most(&self, height: Option<Level>) -> Vec<TermId> {
        let first = match height {
            Some(INFINITE) => return Vec::new(),
            Some(height) => height as usize + 1,
            None => 0,
        };
        let too_high = self.heights.iter().skip(first);
        too_high.map(|&h| self.terms.not(h)).collect()
    }

    /// The literal of a level.
    pub fn literal(&mut self, level: Level) -> TermId {
        while self.literals.len() <= level as usize {
            let literal = self.terms.fresh_var("level", SortId::BOOL);
            let level = self.literals.len() as Level;
            self.by_literal.insert(literal, level);
            self.literals.push(literal);
        }
        self.literals[level as usize]
    }

    /// The literals of a level and all above.
    pub fn from(&mut self, level: Level) -> &[TermId] {
        if level == INFINITE {
            return &[];
        }
        self.literal(level);
        &self.literals[level as usize..]
    }

    /// The least level whose literal is among these.
    pub fn least(&self, literals: &[TermId]) -> Option<Level> {
        let levels = literals.iter().filter_map(|l| self.by_literal.get(l));
        levels.min().copied()
    }

    /// `lemma`, in force at its level.
    pub fn guard(&mut self, level: Level) -> TermId {
        match level {
            INFINITE => TermId::TRUE,
            _ => self.literal(level),
        }
    }
}

/// The `n`-th body atom of a predicate, in all clauses that have one.
pub(super) struct Slot {
    pub predicate: usize,
    pub args: Vec<TermId>,
    /// The predicate's formal variables to `args`.
    renaming: FxHashMap<TermId, TermId>,
    memo: FxHashMap<TermId, TermId>,
    pub used: TermId,
    pub must: TermId,
    /// Where facts that come later are linked in.
    rest: TermId,
    events: usize,
    /// How many of the frame's indexes were used.
    indexes: usize,
    facts: usize,
}

impl Slot {
    /// A formula about the predicate, about this atom.
    pub fn rename(&mut self, terms: &TermStore, formula: TermId) -> TermId {
        terms.substitute_with(formula, &self.renaming, &mut self.memo)
    }

    /// What a lemma of the predicate says of this atom: for one about any index, at the frame's
    /// indexes from `known` on; if that is `None`, at all of them, at `others`, and at any.
    fn instances(
        &mut self,
        terms: &TermStore,
        frame: &Frame,
        lemma: usize,
        others: &[TermId],
        known: Option<usize>,
    ) -> Vec<TermId> {
        let mut instances = frame.instances(terms, lemma, &frame.indexes[known.unwrap_or(0)..]);
        for instance in &mut instances {
            *instance = self.rename(terms, *instance);
        }
        if let Some(any) = frame.lemmas[lemma].any
            && known.is_none()
        {
            let clause = self.rename(terms, frame.lemmas[lemma].clause);
            let sort = terms.sort_of(any);
            let fitting = others.iter().filter(|&&i| terms.sort_of(i) == sort);
            instances.extend(fitting.map(|&index| {
                let map = std::iter::once((any, index)).collect();
                terms.substitute(clause, &map)
            }));
            instances.push(clause);
        }
        instances
    }

    /// Whether a fact of the predicate is known to this slot.
    pub fn has_facts(&self) -> bool {
        self.facts > 0
    }
}

/// A clause over slots and formal variables.
pub(super) struct Rule {
    /// Position in the system.
    pub clause: usize,
    pub tag: TermId,
    /// Slots of the body's atoms, in order.
    pub slots: Vec<usize>,
    pub constraint: TermId,
    /// The clause's own variables, and what stands for them here.
    pub vars: Vec<(TermId, TermId)>,
}

/// What is asked of a transition relation.
#[derive(Clone, Copy)]
pub(super) struct Query<'a> {
    /// Body atoms satisfy the lemmas of this level; `None`: only clauses without body atoms.
    pub from: Option<Level>,
    /// Literals over the formal variables, assumed.
    pub cube: &'a [TermId],
    /// A further formula, assumed.
    pub assume: Option<TermId>,
    /// Slots in reached facts; the lemmas do not apply to these.
    pub must: &'a [usize],
    /// Up to which height these facts count; `None` for no fact.
    pub reached: Option<Level>,
    /// Only this rule.
    pub rule: Option<usize>,
}

/// An answer to a [`Query`].
pub(super) enum Answer {
    /// [`Transition::model`] has the model.
    Sat,
    Unsat {
        /// Which of the cube's literals were used.
        cube: Vec<TermId>,
        /// Up to which level the cube is therefore blocked.
        level: Level,
    },
    /// The oracle's reason.
    Unknown(String),
}

/// The clauses with one predicate as head.
pub(super) struct Transition {
    terms: Rc<TermStore>,
    smt: Rc<Smt>,
    solver: Solver,
    pub rules: Vec<Rule>,
    pub slots: Vec<Slot>,
    /// Slots of the predicate itself.
    pub own_slots: Vec<usize>,
    /// Indexes that the rules read or write.
    pub indexes: Vec<TermId>,
    asserted: usize,
    assumed: FxHashSet<TermId>,
}

impl Transition {
    /// The clauses at these positions, with heads over `params`.
    pub fn new(
        system: &System,
        smt: &Rc<Smt>,
        own: usize,
        params: &[TermId],
        clauses: &[usize],
    ) -> Self {
        let terms = &system.terms;
        let mut slots: Vec<Slot> = Vec::new();
        let mut slot_of: FxHashMap<(usize, usize), usize> = FxHashMap::default();
        let mut rules = Vec::with_capacity(clauses.len());
        for &index in clauses {
            let clause = &system.clauses[index];
            let mut map: FxHashMap<TermId, TermId> = FxHashMap::default();
            if let Some(head) = &clause.head {
                map.extend(head.args.iter().copied().zip(params.iter().copied()));
            }
            let mut count: FxHashMap<usize, usize> = FxHashMap::default();
            let mut body = Vec::with_capacity(clause.body.len());
            for atom in &clause.body {
                let predicate = atom.predicate.index();
                let nth = count.entry(predicate).or_default();
                let slot = *slot_of.entry((predicate, *nth)).or_insert_with(|| {
                    slots.push(new_slot(system, predicate));
                    slots.len() - 1
                });
                *nth += 1;
                map.extend(
                    atom.args
                        .iter()
                        .copied()
                        .zip(slots[slot].args.iter().copied()),
                );
                body.push(slot);
            }
            let vars = clause.vars(terms);
            for &var in &vars {
                map.entry(var)
                    .or_insert_with(|| terms.fresh_var(terms.var_name(var), terms.sort_of(var)));
            }
            rules.push(Rule {
                clause: index,
                tag: terms.fresh_var("rule", SortId::BOOL),
                slots: body,
                constraint: total(terms, terms.substitute(clause.constraint, &map)),
                vars: vars.into_iter().map(|v| (v, map[&v])).collect(),
            });
        }
        let own_slots = (0..slots.len())
            .filter(|&s| slots[s].predicate == own)
            .collect();
        let constraints: Vec<TermId> = rules.iter().map(|r| r.constraint).collect();
        let mut indexes = indexes(terms, terms.and(&constraints));
        indexes.truncate(INDEX_LIMIT);
        let mut transition = Transition {
            indexes,
            terms: terms.clone(),
            smt: smt.clone(),
            solver: smt.solver(),
            rules,
            slots,
            own_slots,
            asserted: 0,
            assumed: FxHashSet::default(),
        };
        transition.assert_rules();
        transition
    }

    /// What a lemma says of a slot, at all indexes known.
    pub fn instances(&mut self, slot: usize, frame: &Frame, lemma: usize) -> Vec<TermId> {
        let terms = self.terms.clone();
        self.slots[slot].instances(&terms, frame, lemma, &self.indexes, None)
    }

    fn assert(&mut self, formula: TermId) {
        self.asserted += 1;
        self.solver.assert(formula);
    }

    /// The clauses, to a solver without lemmas and facts.
    pub fn assert_rules_to(&self, solver: &mut Solver) {
        for formula in self.rule_formulas() {
            solver.assert(formula);
        }
    }

    fn assert_rules(&mut self) {
        let terms = self.terms.clone();
        let mut formulas = self.rule_formulas();
        for slot in &self.slots {
            formulas.push(terms.or(&[terms.not(slot.must), terms.not(slot.used), slot.rest]));
        }
        for formula in formulas {
            self.assert(formula);
        }
    }

    fn rule_formulas(&self) -> Vec<TermId> {
        let terms = &self.terms;
        let mut formulas = Vec::new();
        for rule in &self.rules {
            let idle = terms.not(rule.tag);
            formulas.push(terms.or(&[idle, rule.constraint]));
            formulas.extend(
                rule.slots
                    .iter()
                    .map(|&s| terms.or(&[idle, self.slots[s].used])),
            );
        }
        let tags: Vec<TermId> = self.rules.iter().map(|r| r.tag).collect();
        formulas.push(terms.or(&tags));
        formulas
    }

    /// Drops what was assumed once together with the solver.
    fn collect_garbage(&mut self) {
        if self.assumed.len() >= GARBAGE_LIMIT + 2 * self.asserted {
            self.start_anew();
        }
    }

    /// Takes over the constraints of those clauses that have changed, and forgets all lemmas and
    /// facts. The atoms of the clauses are the same as before.
    pub fn renew(&mut self, system: &System, changed: impl Fn(usize) -> bool) {
        let terms = self.terms.clone();
        for rule in self.rules.iter_mut().filter(|r| changed(r.clause)) {
            let clause = &system.clauses[rule.clause];
            let mut map: FxHashMap<TermId, TermId> = rule.vars.iter().copied().collect();
            for var in clause.vars(&terms) {
                map.entry(var).or_insert_with(|| {
                    let own = terms.fresh_var(terms.var_name(var), terms.sort_of(var));
                    rule.vars.push((var, own));
                    own
                });
            }
            rule.constraint = total(&terms, terms.substitute(clause.constraint, &map));
        }
        self.start_anew();
    }

    fn start_anew(&mut self) {
        self.solver = self.smt.solver();
        self.asserted = 0;
        self.assumed.clear();
        for slot in &mut self.slots {
            slot.events = 0;
            slot.indexes = 0;
            slot.facts = 0;
            slot.rest = self.terms.fresh_var("rest", SortId::BOOL);
            slot.memo.clear();
        }
        self.assert_rules();
    }

    /// Tells the solver all that became known since.
    pub fn catch_up(&mut self, frames: &[Frame], levels: &mut Levels) {
        self.collect_garbage();
        let terms = self.terms.clone();
        let mut formulas = Vec::new();
        for slot in &mut self.slots {
            let frame = &frames[slot.predicate];
            let unused = terms.or(&[terms.not(slot.used), slot.must]);
            let own_indexes = &self.indexes;
            let mut add = |slot: &mut Slot, lemma: usize, level: Level, known: Option<usize>| {
                let idle = terms.not(levels.guard(level));
                for clause in slot.instances(&terms, frame, lemma, own_indexes, known) {
                    formulas.push(terms.or(&[unused, idle, clause]));
                }
            };
            let known = slot.indexes;
            if slot.events > 0 && known < frame.indexes.len() {
                for lemma in frame.at(0).filter(|&l| frame.lemmas[l].any.is_some()) {
                    // What is new since is added below, at all indexes.
                    add(slot, lemma, frame.lemmas[lemma].level, Some(known));
                }
            }
            slot.indexes = frame.indexes.len();
            if slot.events == 0 {
                for lemma in frame.at(0) {
                    add(slot, lemma, frame.lemmas[lemma].level, None);
                }
            } else {
                for &(lemma, level) in &frame.events[slot.events..] {
                    add(slot, lemma, level, None);
                }
            }
            slot.events = frame.events.len();
            for fact in &frame.facts[slot.facts..] {
                let rest = terms.fresh_var("rest", SortId::BOOL);
                let height = fact.height;
                let fact = slot.rename(&terms, fact.formula);
                let fact = levels.fact(fact, height);
                formulas.push(terms.or(&[terms.not(slot.rest), fact, rest]));
                slot.rest = rest;
            }
            slot.facts = frame.facts.len();
        }
        for formula in formulas {
            self.assert(formula);
        }
    }

    /// Asks; the solver has caught up before.
    pub fn query(&mut self, query: Query, levels: &mut Levels) -> Answer {
        let terms = &self.terms;
        let mut assumptions: Vec<TermId> = query.cube.to_vec();
        let mut initial: Vec<TermId> = Vec::new();
        match query.from {
            Some(level) => assumptions.extend(levels.from(level)),
            None => {
                initial.extend(self.slots.iter().map(|s| terms.not(s.used)));
                assumptions.extend(&initial);
            }
        }
        for (index, slot) in self.slots.iter().enumerate() {
            if query.must.contains(&index) {
                assumptions.push(slot.must);
                assumptions.push(terms.not(slot.rest));
            } else if query.from.is_some() {
                assumptions.push(terms.not(slot.must));
            }
        }
        assumptions.extend(query.rule.map(|r| self.rules[r].tag));
        if !query.must.is_empty() {
            assumptions.extend(levels.at_most(query.reached));
        }
        assumptions.extend(query.assume);
        for &formula in query.cube.iter().chain(&query.assume) {
            self.assumed.insert(formula);
        }
        let unsatisfiable = |core: Vec<TermId>| {
            let core: FxHashSet<TermId> = core.into_iter().collect();
            let level = if initial.iter().any(|l| core.contains(l)) {
                0
            } else {
                let used: Vec<TermId> = core.iter().copied().collect();
                levels.least(&used).map_or(INFINITE, |l| l + 1)
            };
            let cube = query.cube.iter().copied();
            Answer::Unsat {
                cube: cube.filter(|l| core.contains(l)).collect(),
                level,
            }
        };
        match self.solver.check(&assumptions) {
            SatResult::Sat => Answer::Sat,
            SatResult::Unsat => unsatisfiable(self.solver.core()),
            SatResult::Unknown(why) => Answer::Unknown(why),
        }
    }

    /// The model of the last query, if that was satisfiable.
    pub fn model(&self) -> Option<SmtModel> {
        self.solver.model()
    }

    /// The rule that a model uses.
    pub fn rule_in(&self, model: &SmtModel) -> Option<usize> {
        (0..self.rules.len()).find(|&r| model.satisfies(self.rules[r].tag))
    }

    /// The newest fact of at most a height that holds of a slot in a model.
    pub fn fact_in(
        &mut self,
        slot: usize,
        frames: &[Frame],
        height: Option<Level>,
        model: &SmtModel,
    ) -> Option<usize> {
        let terms = self.terms.clone();
        let slot = &mut self.slots[slot];
        let facts = &frames[slot.predicate].facts[..slot.facts];
        (0..facts.len())
            .rev()
            .filter(|&f| height.is_some_and(|h| facts[f].height <= h))
            .find(|&f| model.satisfies(slot.rename(&terms, facts[f].formula)))
    }
}

fn new_slot(system: &System, predicate: usize) -> Slot {
    let terms = &system.terms;
    let info = &system.predicates[predicate];
    let args: Vec<TermId> = info
        .params
        .iter()
        .map(|&p| terms.fresh_var(terms.var_name(p), terms.sort_of(p)))
        .collect();
    let literal = |name| terms.fresh_var(name, SortId::BOOL);
    Slot {
        predicate,
        renaming: info
            .params
            .iter()
            .copied()
            .zip(args.iter().copied())
            .collect(),
        memo: FxHashMap::default(),
        args,
        used: literal("used"),
        must: literal("must"),
        rest: literal("rest"),
        events: 0,
        indexes: 0,
        facts: 0,
    }
}
