//! The literals under projection, indexed by the remaining variables, which are still to be
//! eliminated.
//!
//! Invariant: every live literal is true in the model, contains no `ite` and no connective, and is
//! listed under each remaining variable that occurs in it. A step that would violate the first
//! condition sets `failed`, and the projection uses values instead.

use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use alphorn_arith::Constraint;
use alphorn_smt::{implicant, is_simple_bool};
use alphorn_term::{Assignment, Evaluator, Op, Rational, SortId, TermId, TermStore};

struct Slot {
    literal: TermId,
    /// The remaining variables when the literal was added.
    vars: Box<[TermId]>,
}

/// The literals of a projection, with its model and the remaining variables.
pub(super) struct State<'a> {
    pub terms: &'a TermStore,
    pub model: Evaluator<'a>,
    slots: Vec<Option<Slot>>,
    slot_of: FxHashMap<TermId, usize>,
    /// Slots by variable; dead ones are skipped.
    occurs: FxHashMap<TermId, Vec<usize>>,
    degree: FxHashMap<TermId, usize>,
    /// Slots that the equality solver has not processed.
    pub unsolved: Vec<usize>,
    remaining: FxHashSet<TermId>,
    /// Variables in the order in which they were added, including eliminated ones.
    order: Vec<TermId>,
    /// Variables of the input, from which fresh ones have to differ.
    taken: FxHashSet<TermId>,
    fresh: u32,
    /// The size of all literals added so far.
    work: usize,
    /// An invariant was violated; the result must not be used.
    pub failed: bool,
    /// The number of variables replaced by their values.
    pub valued: usize,
}

impl<'a> State<'a> {
    /// The state for these literals, which need not be in normal form. Sets `failed` if one of them
    /// is not true.
    pub fn new(
        terms: &'a TermStore,
        literals: &[TermId],
        eliminate: &[TermId],
        assignment: &'a Assignment,
    ) -> Self {
        let mut state = State {
            terms,
            model: Evaluator::new(terms, assignment),
            slots: Vec::new(),
            slot_of: FxHashMap::default(),
            occurs: FxHashMap::default(),
            degree: FxHashMap::default(),
            unsolved: Vec::new(),
            remaining: eliminate.iter().copied().collect(),
            order: eliminate.to_vec(),
            taken: terms.free_vars(literals).into_iter().collect(),
            fresh: 0,
            work: 0,
            failed: false,
            valued: 0,
        };
        state.taken.extend(eliminate.iter());
        for &literal in literals {
            state.add(literal);
        }
        state
    }

    /// Adds a true formula, split into literals.
    pub fn add(&mut self, formula: TermId) {
        if formula == TermId::TRUE || self.failed {
            return;
        }
        match self.scan(formula) {
            Some(vars) => {
                if self.model.value(formula) == Some(TermId::TRUE) {
                    self.insert(formula, vars);
                } else {
                    self.failed = true;
                }
            }
            None => match implicant(self.terms, &[formula], &mut self.model) {
                Some(literals) => {
                    for literal in literals {
                        match self.scan(literal) {
                            Some(vars) => self.insert(literal, vars),
                            None => self.failed = true,
                        }
                    }
                }
                None => self.failed = true,
            },
        }
    }

    fn insert(&mut self, literal: TermId, vars: Vec<TermId>) {
        if literal == TermId::TRUE || self.slot_of.contains_key(&literal) {
            return;
        }
        let slot = self.slots.len();
        self.slot_of.insert(literal, slot);
        for &var in &vars {
            self.occurs.entry(var).or_default().push(slot);
            *self.degree.entry(var).or_default() += 1;
        }
        if !vars.is_empty() {
            self.unsolved.push(slot);
        }
        self.slots.push(Some(Slot {
            literal,
            vars: vars.into(),
        }));
    }

    /// The remaining variables in a literal; `None` if it is not a literal in normal form.
    fn scan(&mut self, literal: TermId) -> Option<Vec<TermId>> {
        let terms = self.terms;
        let atom = match *terms.op(literal) {
            Op::Not => terms.args(literal)[0],
            _ => literal,
        };
        let is_literal = match terms.op(atom) {
            Op::And | Op::Or | Op::Not | Op::Ite | Op::Forall(_) | Op::Exists(_) => false,
            Op::Eq if terms.sort_of(terms.args(atom)[0]) == SortId::BOOL => {
                terms.args(atom).iter().all(|&a| is_simple_bool(terms, a))
            }
            _ => true,
        };
        if !is_literal {
            return None;
        }
        let mut vars = Vec::new();
        let mut seen = FxHashSet::default();
        let mut stack = vec![atom];
        while let Some(term) = stack.pop() {
            let node = terms.node(term);
            if node.is_value || !seen.insert(term) {
                continue;
            }
            match node.op {
                Op::Var(_) if self.remaining.contains(&term) => vars.push(term),
                Op::Var(_) => {}
                // Functions of a model are not read, so a literal with a call cannot be checked.
                Op::Ite | Op::Call(_) => return None,
                _ if term != atom && node.sort == SortId::BOOL && !is_simple_bool(terms, term) => {
                    return None;
                }
                _ => stack.extend_from_slice(&node.args),
            }
        }
        self.work += seen.len();
        Some(vars)
    }

    /// The literal in a slot, if it is live.
    pub fn slot(&self, slot: usize) -> Option<TermId> {
        self.slots[slot].as_ref().map(|s| s.literal)
    }

    /// Removes the literal in a slot.
    pub fn remove_slot(&mut self, slot: usize) {
        if let Some(old) = self.slots[slot].take() {
            self.slot_of.remove(&old.literal);
            for var in &old.vars {
                if let Some(degree) = self.degree.get_mut(var) {
                    *degree -= 1;
                }
            }
        }
    }

    /// Removes a literal.
    pub fn remove(&mut self, literal: TermId) {
        if let Some(&slot) = self.slot_of.get(&literal) {
            self.remove_slot(slot);
        }
    }

    /// The live literals that contain a variable.
    pub fn literals_of(&mut self, var: TermId) -> Vec<TermId> {
        let Some(slots) = self.occurs.get_mut(&var) else {
            return Vec::new();
        };
        slots.retain(|&s| self.slots[s].is_some());
        slots
            .iter()
            .filter_map(|&s| self.slots[s].as_ref().map(|slot| slot.literal))
            .collect()
    }

    /// Removes and returns the live literals that contain a variable.
    pub fn take(&mut self, var: TermId) -> Vec<TermId> {
        let slots = self.occurs.remove(&var).unwrap_or_default();
        let mut literals = Vec::with_capacity(slots.len());
        for slot in slots {
            if let Some(live) = &self.slots[slot] {
                literals.push(live.literal);
                self.remove_slot(slot);
            }
        }
        literals
    }

    /// The number of live literals that contain a variable.
    pub fn degree(&self, var: TermId) -> usize {
        self.degree.get(&var).copied().unwrap_or(0)
    }

    /// The value of a term; `None` if it has none.
    pub fn value(&mut self, term: TermId) -> Option<TermId> {
        self.model.value(term)
    }

    /// The value of a term of sort Int or Real.
    pub fn number(&mut self, term: TermId) -> Option<Rational> {
        let value = self.model.value(term)?;
        self.terms.numeral(value)
    }

    /// Whether two terms of one sort have the same value; `None` if one has none.
    pub fn same(&mut self, left: TermId, right: TermId) -> Option<bool> {
        Some(self.model.value(left)? == self.model.value(right)?)
    }

    /// Whether the variable is still to be eliminated.
    pub fn is_remaining(&self, var: TermId) -> bool {
        self.remaining.contains(&var)
    }

    /// The remaining variables of some sorts, in the order in which they were added.
    pub fn remaining(&mut self, mut wanted: impl FnMut(SortId) -> bool) -> Vec<TermId> {
        let remaining = &self.remaining;
        let mut listed = FxHashSet::default();
        self.order
            .retain(|v| remaining.contains(v) && listed.insert(*v));
        let terms = self.terms;
        self.order
            .iter()
            .copied()
            .filter(|&v| wanted(terms.sort_of(v)))
            .collect()
    }

    /// Marks a variable as eliminated.
    pub fn retire(&mut self, var: TermId) {
        self.remaining.remove(&var);
        self.occurs.remove(&var);
    }

    /// Eliminates a variable by dropping all literals that contain it.
    pub fn drop_literals(&mut self, var: TermId) {
        self.take(var);
        self.retire(var);
    }

    /// A fresh variable to be eliminated, with its value.
    pub fn fresh(&mut self, sort: SortId, value: TermId) -> TermId {
        // The next projection uses the names again: no result contains them.
        let var = loop {
            let var = self.terms.var(&format!("project!{}", self.fresh), sort);
            self.fresh += 1;
            if self.taken.insert(var) {
                break var;
            }
        };
        self.model.bind(var, value);
        self.remaining.insert(var);
        self.order.push(var);
        var
    }

    /// Whether a limit is reached: then the remaining variables are replaced by values.
    pub fn is_exhausted(&self) -> bool {
        self.fresh > LIMITS.max_fresh || self.work > LIMITS.max_visited_nodes
    }

    /// The remaining variables of a term.
    pub fn remaining_vars(&self, term: TermId) -> Vec<TermId> {
        let mut vars = self.terms.free_vars(&[term]);
        vars.retain(|v| self.remaining.contains(v));
        vars
    }

    /// Whether a remaining variable occurs.
    pub fn has_remaining(&self, term: TermId) -> bool {
        self.any_var(term, |v| self.remaining.contains(&v))
    }

    /// Whether a variable occurs.
    pub fn contains(&self, term: TermId, var: TermId) -> bool {
        self.any_var(term, |v| v == var)
    }

    /// Whether the variable occurs in linear constraints of its own sort only.
    pub fn occurs_linearly(&mut self, var: TermId) -> bool {
        let terms = self.terms;
        let sort = terms.sort_of(var);
        self.literals_of(var).into_iter().all(|literal| {
            let constraint = Constraint::congruence(terms, literal)
                .or_else(|| Constraint::comparison(terms, literal));
            let fits = |column: TermId| {
                terms.sort_of(column) == sort && (column == var || !self.contains(column, var))
            };
            constraint.is_some_and(|c| c.linear.monomials.iter().all(|m| fits(m.0)))
        })
    }

    fn any_var(&self, term: TermId, mut wanted: impl FnMut(TermId) -> bool) -> bool {
        if self.terms.is_var(term) {
            return wanted(term);
        }
        let mut seen = FxHashSet::default();
        let mut stack = vec![term];
        while let Some(term) = stack.pop() {
            let node = self.terms.node(term);
            if node.is_ground || !seen.insert(term) {
                continue;
            }
            if matches!(node.op, Op::Var(_)) {
                if wanted(term) {
                    return true;
                }
            } else {
                stack.extend_from_slice(&node.args);
            }
        }
        false
    }

    /// Replaces variables by terms without these variables and eliminates them. The caller knows
    /// that the literals stay true.
    pub fn substitute(&mut self, map: &Assignment) {
        let mut memo = FxHashMap::default();
        let mut vars: Vec<TermId> = map.keys().copied().collect();
        vars.sort_unstable();
        let mut affected = Vec::new();
        for &var in &vars {
            affected.extend(self.take(var));
            self.retire(var);
        }
        for literal in affected {
            let literal = self.terms.substitute_with(literal, map, &mut memo);
            self.add(literal);
        }
    }

    /// Replaces one variable, see [`State::substitute`].
    pub fn substitute_one(&mut self, var: TermId, term: TermId) {
        let mut map = Assignment::default();
        map.insert(var, term);
        self.substitute(&map);
    }

    /// Replaces variables by their values, which is always sound.
    pub fn replace_by_values(&mut self, vars: &[TermId]) {
        let mut map = Assignment::default();
        for &var in vars {
            if self.degree(var) == 0 {
                self.retire(var);
                continue;
            }
            match self.value(var) {
                Some(value) => {
                    map.insert(var, value);
                    self.valued += 1;
                }
                None => self.failed = true,
            }
        }
        self.substitute(&map);
    }

    /// The live literals.
    pub fn into_literals(self) -> Vec<TermId> {
        self.slots
            .into_iter()
            .flatten()
            .map(|s| s.literal)
            .collect()
    }
}
