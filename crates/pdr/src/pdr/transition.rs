//! The transition relation of a predicate: its clauses in one incremental solver.
//!
//! The head's arguments are the predicate's formal variables, the body atoms are slots (`slot`).
//! The `tag` of a rule puts its clause in force, a slot's `used` says that the clause in force has
//! that atom, and a literal for each level (`levels`) puts the lemmas of that level in force. Facts
//! need not satisfy lemmas, since their derivations may be higher than a level.
//!
//! Invariant: the solver contains the clauses, and under literals the lemmas and facts that the
//! frames of the body atoms had at the last [`Transition::catch_up`].

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::array_indexes::indexes;
use super::frame::Frame;
use super::ids::{FactId, LemmaId, Node, NodeMap, RuleId, SlotId, Table};
use super::levels::{INFINITE, Level, Levels};
use super::limits::LIMITS;
use super::slot::Slot;
use alphorn_chc::{PredicateId, System};
use alphorn_proof::make_total;
use alphorn_smt::{SatResult, Smt, SmtModel, Solver};
use alphorn_term::{SortId, TermId, TermStore};

/// A clause over slots and formal variables.
pub(super) struct Rule {
    /// The clause's position in the system.
    pub clause: usize,
    /// The literal that puts the clause in force.
    pub tag: TermId,
    /// The slots of the body atoms, in order.
    pub slots: Vec<SlotId>,
    /// The constraint over the variables of slots and head.
    pub constraint: TermId,
    /// The clause's variables with those that replace them.
    pub vars: Vec<(TermId, TermId)>,
}

/// A query to a transition relation: is there a step into a cube?
#[derive(Clone, Copy)]
pub(super) struct Query<'a> {
    /// The level whose lemmas the body atoms satisfy; `None`: only clauses without body atoms.
    pub from: Option<Level>,
    /// Literals over the formal variables, as assumptions.
    pub cube: &'a [TermId],
    /// A further formula, as an assumption.
    pub assume: Option<TermId>,
    /// Slots restricted to reached facts instead of lemmas.
    pub must: &'a [SlotId],
    /// The height up to which these facts count; `None` for no facts.
    pub reached: Option<Level>,
    /// The only rule in force; `None` for any.
    pub rule: Option<RuleId>,
}

/// An answer to a [`Query`].
pub(super) enum Answer {
    /// There is a step; [`Transition::model`] is its model.
    Sat,
    /// There is no step.
    Unsat {
        /// The literals of the cube in the core.
        cube: Vec<TermId>,
        /// The level up to which they are therefore blocked.
        level: Level,
    },
    /// The solver's reason.
    Unknown(String),
}

/// The clauses with one head.
pub(super) struct Transition {
    terms: Rc<TermStore>,
    smt: Rc<Smt>,
    solver: Solver,
    /// The clauses.
    pub rules: Table<RuleId, Rule>,
    /// The body atoms of all clauses.
    pub slots: Table<SlotId, Slot>,
    /// Slots of the predicate itself.
    pub own_slots: Vec<SlotId>,
    /// Indexes at which the clauses read or write arrays.
    pub indexes: Vec<TermId>,
    /// The number of formulas asserted in the solver.
    asserted: usize,
    /// Formulas that were assumed in queries to the solver.
    assumed: FxHashSet<TermId>,
}

impl Transition {
    /// The transition relation of `own`, with formal variables `params`, for the clauses at these
    /// positions; the variables `any` (for any index) are not renamed.
    pub fn new(
        system: &System,
        smt: &Rc<Smt>,
        own: Node,
        params: &[TermId],
        clauses: &[usize],
        any: &[TermId],
    ) -> Self {
        let terms = &system.terms;
        let mut slots: Table<SlotId, Slot> = Table::default();
        let mut slot_of: FxHashMap<(PredicateId, usize), SlotId> = FxHashMap::default();
        let mut rules = Table::default();
        for &index in clauses {
            let clause = &system.clauses[index];
            let mut map: FxHashMap<TermId, TermId> = FxHashMap::default();
            if let Some(head) = &clause.head {
                map.extend(head.args.iter().copied().zip(params.iter().copied()));
            }
            let mut count: FxHashMap<PredicateId, usize> = FxHashMap::default();
            let mut body = Vec::with_capacity(clause.body.len());
            for atom in &clause.body {
                let predicate = atom.predicate;
                let nth = count.entry(predicate).or_default();
                let slot = *slot_of
                    .entry((predicate, *nth))
                    .or_insert_with(|| slots.push(Slot::new(system, predicate)));
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
            map.extend(any.iter().map(|&a| (a, a)));
            for &var in &vars {
                map.entry(var).or_insert_with(|| terms.fresh_copy(var));
            }
            rules.push(Rule {
                clause: index,
                tag: terms.fresh_var("rule", SortId::BOOL),
                slots: body,
                constraint: make_total(terms, terms.substitute(clause.constraint, &map)),
                vars: vars.into_iter().map(|v| (v, map[&v])).collect(),
            });
        }
        let is_own = |&s: &SlotId| own == Node::Predicate(slots[s].predicate);
        let own_slots = slots.ids().filter(is_own).collect();
        let constraints: Vec<TermId> = rules.iter().map(|r| r.constraint).collect();
        let mut indexes = indexes(terms, terms.and(&constraints));
        indexes.truncate(LIMITS.instance_indexes);
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

    /// The instances of a lemma for a slot, at all known indexes.
    pub fn instances(&mut self, slot: SlotId, frame: &Frame, lemma: LemmaId) -> Vec<TermId> {
        let terms = self.terms.clone();
        self.slots[slot].instances(&terms, frame, lemma, &self.indexes, None)
    }

    /// Asserts a formula in the solver.
    fn assert(&mut self, formula: TermId) {
        self.asserted += 1;
        self.solver.assert(formula);
    }

    /// Asserts the clauses, without lemmas and facts, in another solver.
    pub fn assert_rules_to(&self, solver: &mut Solver) {
        for formula in self.rule_formulas() {
            solver.assert(formula);
        }
    }

    /// Asserts the clauses, and that slots are in their facts if restricted to them.
    fn assert_rules(&mut self) {
        let terms = self.terms.clone();
        let mut formulas = self.rule_formulas();
        formulas.extend(self.slots.iter().map(|s| s.facts_formula(&terms)));
        for formula in formulas {
            self.assert(formula);
        }
    }

    /// The formulas that define the clauses.
    fn rule_formulas(&self) -> Vec<TermId> {
        let terms = &self.terms;
        let mut formulas = Vec::new();
        for rule in self.rules.iter() {
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

    /// Makes a new solver if too many formulas were only assumed in queries.
    fn collect_garbage(&mut self) {
        if self.assumed.len() >= LIMITS.surplus_assumed + 2 * self.asserted {
            self.start_anew();
        }
    }

    /// Replaces the constraints of the clauses that have changed, and removes all lemmas and facts.
    /// The atoms of the clauses must be the same as before.
    pub fn renew(&mut self, system: &System, changed: impl Fn(usize) -> bool) {
        let terms = self.terms.clone();
        for rule in self.rules.iter_mut().filter(|r| changed(r.clause)) {
            let clause = &system.clauses[rule.clause];
            let mut map: FxHashMap<TermId, TermId> = rule.vars.iter().copied().collect();
            for var in clause.vars(&terms) {
                map.entry(var).or_insert_with(|| {
                    let own = terms.fresh_copy(var);
                    rule.vars.push((var, own));
                    own
                });
            }
            rule.constraint = make_total(&terms, terms.substitute(clause.constraint, &map));
        }
        self.start_anew();
    }

    /// A new solver with the clauses only.
    fn start_anew(&mut self) {
        self.solver = self.smt.solver();
        self.asserted = 0;
        self.assumed.clear();
        for slot in self.slots.iter_mut() {
            slot.start_anew(&self.terms);
        }
        self.assert_rules();
    }

    /// Asserts the lemmas and facts that the frames got since the last time.
    pub fn catch_up(&mut self, frames: &NodeMap<Frame>, levels: &mut Levels) {
        self.collect_garbage();
        let terms = self.terms.clone();
        let mut formulas = Vec::new();
        for slot in self.slots.iter_mut() {
            let frame = &frames[slot.predicate];
            formulas.extend(slot.catch_up(&terms, frame, &self.indexes, levels));
        }
        for formula in formulas {
            self.assert(formula);
        }
    }

    /// Answers a query with the lemmas and facts of the last [`Self::catch_up`].
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
        for id in self.slots.ids() {
            let slot = &self.slots[id];
            if query.must.contains(&id) {
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

    /// A rule that is in force in a model.
    pub fn rule_in(&self, model: &SmtModel) -> Option<RuleId> {
        self.rules
            .ids()
            .find(|&r| model.satisfies(self.rules[r].tag))
    }

    /// The newest fact of at most a height that a slot satisfies in a model.
    pub fn fact_in(
        &mut self,
        slot: SlotId,
        frames: &NodeMap<Frame>,
        height: Option<Level>,
        model: &SmtModel,
    ) -> Option<FactId> {
        let terms = self.terms.clone();
        let slot = &mut self.slots[slot];
        let facts = &frames[slot.predicate].facts;
        let known = facts.ids().take(slot.known_facts());
        known
            .rev()
            .filter(|&f| height.is_some_and(|h| facts[f].height <= h))
            .find(|&f| model.satisfies(slot.rename(&terms, facts[f].formula)))
    }
}
