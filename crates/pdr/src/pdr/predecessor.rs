//! New facts and obligations from models, by implicants and model-based projection.
//!
//! Invariant: every state of a predecessor's cube has a step into the obligation's cube with the
//! other body atoms in reached facts or in the frame below; every state of a fact is derivable.

use rustc_hash::FxHashMap;

use super::frame::MustFact;
use super::ids::{Node, RuleId, SlotId};
use super::levels::{INFINITE, Level};
use super::pattern::without_weaker_bounds;
use super::reads_over_writes::decide_reads;
use super::search::{Search, failed};
use super::transition::{Answer, Query};
use alphorn_chc::PredicateId;
use alphorn_interpolation::project_onto;
use alphorn_proof::{Stop, undefined, where_defined};
use alphorn_smt::SmtModel;
use alphorn_term::{Evaluator, Op, Printer, SortId, TermId, TermStore};

impl Search<'_> {
    /// Derives a state in the cube of an obligation of a level in one step from reached facts.
    /// Returns whether that is possible, and then adds the derived states as a fact.
    pub(super) fn reach(
        &mut self,
        node: Node,
        cube: &[TermId],
        level: Level,
    ) -> Result<bool, Stop> {
        let reached = self.levels.below(level);
        let Some(transition) = &mut self.transitions[node] else {
            return Ok(false);
        };
        transition.catch_up(&self.frames, &mut self.levels);
        let must: Vec<SlotId> = transition.slots.ids().collect();
        let query = Query {
            from: Some(INFINITE),
            cube,
            assume: None,
            must: &must,
            reached,
            rule: None,
        };
        let model = match self.ask(node, query)? {
            Answer::Sat => self.last_model(node)?,
            Answer::Unsat { .. } => return Ok(false),
            Answer::Unknown(why) => return Err(self.gave_up(&why)),
        };
        let terms = self.terms.clone();
        let transition = self.transitions[node]
            .as_mut()
            .expect("the transition relation was queried");
        let rule = transition
            .rule_in(&model)
            .ok_or_else(|| failed("reading a model", "no rule is in force"))?;
        let mut parts = vec![transition.rules[rule].constraint];
        let mut premises = Vec::new();
        for slot in transition.rules[rule].slots.clone() {
            let fact = transition
                .fact_in(slot, &self.frames, reached, &model)
                .ok_or_else(|| failed("reading a model", "no fact holds of a body atom"))?;
            let slot = &mut transition.slots[slot];
            let formula = self.frames[slot.predicate].facts[fact].formula;
            parts.push(slot.rename(&terms, formula));
            premises.push((slot.predicate, fact));
        }
        let kept = self.params(node).to_vec();
        let literals = self.project(&parts, &kept, &model)?;
        let literals: Vec<TermId> = literals.iter().map(|&l| where_defined(&terms, l)).collect();
        let formula = terms.and(&literals);
        let heights = premises
            .iter()
            .map(|&(p, f)| self.frames[p].facts[f].height);
        let fact = MustFact {
            formula,
            rule,
            height: heights.max().map_or(0, |h| h + 1),
            premises,
        };
        if log::log_enabled!(log::Level::Trace) {
            let text = Printer::new(&terms).term(formula);
            log::trace!("fact {}: {text}", self.name(node));
        }
        self.frames[node].facts.push(fact);
        self.counters.facts += 1;
        Ok(true)
    }

    /// The first body atom that is not reached in a step into the cube: its predicate, and a cube
    /// of predecessors that contains the model's state. `from` is the level of the body atoms.
    pub(super) fn predecessor(
        &mut self,
        node: Node,
        cube: &[TermId],
        from: Option<Level>,
        model: SmtModel,
    ) -> Result<(PredicateId, Vec<TermId>), Stop> {
        let terms = self.terms.clone();
        let below = from.ok_or_else(|| failed("search", "no level is below"))?;
        let transition = self.transitions[node]
            .as_ref()
            .expect("the transition relation was queried");
        let rule = transition
            .rule_in(&model)
            .ok_or_else(|| failed("reading a model", "no rule is in force"))?;
        let (must, model) = self.most_reached(node, cube, below, rule, model)?;
        let transition = self.transitions[node]
            .as_mut()
            .expect("the transition relation was queried");
        let slots = transition.rules[rule].slots.clone();
        let chosen = *slots
            .iter()
            .find(|s| !must.contains(s))
            .ok_or_else(|| failed("search", "all body atoms are reached"))?;
        let mut parts = vec![transition.rules[rule].constraint];
        parts.extend(cube);
        for &slot in slots.iter().filter(|&&s| s != chosen) {
            let formula = if must.contains(&slot) {
                let fact = transition
                    .fact_in(slot, &self.frames, self.levels.reached(below), &model)
                    .ok_or_else(|| failed("reading a model", "no fact holds of a body atom"))?;
                self.frames[transition.slots[slot].predicate].facts[fact].formula
            } else {
                self.frames[transition.slots[slot].predicate].formula(&terms, below)
            };
            parts.push(transition.slots[slot].rename(&terms, formula));
        }
        let slot = &transition.slots[chosen];
        let (child, args) = (slot.predicate, slot.args.clone());
        let literals = self.project(&parts, &args, &model)?;
        let values = model
            .assignment(&args)
            .map_err(|e| failed("reading a model", e))?;
        let pairs = || {
            args.iter()
                .copied()
                .zip(self.params(child.into()).iter().copied())
        };
        let state = pairs().map(|(arg, param)| (param, values[&arg])).collect();
        let back: FxHashMap<TermId, TermId> = pairs().collect();
        let mut memo = FxHashMap::default();
        let literals = literals.into_iter();
        let about_child = literals.map(|l| terms.substitute_with(l, &back, &mut memo));
        let mut values = Evaluator::new(&terms, &state);
        let mut cube: Vec<TermId> = Vec::new();
        for literal in decide_reads(&terms, about_child.collect(), &mut values) {
            split(&terms, literal, self.options.split_equalities, &mut cube);
        }
        let cube = without_weaker_bounds(&terms, &cube);
        let cube: Vec<TermId> = cube.iter().map(|&l| where_defined(&terms, l)).collect();
        let cube = self.concretise(child.into(), cube, &mut values);
        Ok((child, cube))
    }

    /// A maximal set of a rule's body atoms that can be in reached facts in a step into the cube,
    /// with the others in the frame at level `below`; and a model of that step.
    fn most_reached(
        &mut self,
        node: Node,
        cube: &[TermId],
        below: Level,
        rule: RuleId,
        model: SmtModel,
    ) -> Result<(Vec<SlotId>, SmtModel), Stop> {
        let transition = self.transitions[node]
            .as_ref()
            .expect("the transition relation was queried");
        let slots = transition.rules[rule].slots.clone();
        let mut must: Vec<SlotId> = Vec::new();
        let mut model = model;
        if slots.len() < 2 {
            return Ok((must, model));
        }
        for slot in slots {
            let transition = self.transitions[node]
                .as_ref()
                .expect("the transition relation was queried");
            if transition.slots[slot].known_facts() == 0 {
                continue;
            }
            must.push(slot);
            let query = Query {
                from: Some(below),
                cube,
                assume: None,
                must: &must,
                reached: self.levels.reached(below),
                rule: Some(rule),
            };
            match self.ask(node, query)? {
                Answer::Sat => model = self.last_model(node)?,
                Answer::Unsat { .. } => {
                    must.pop();
                }
                Answer::Unknown(why) if self.cx.stop().is_some() => {
                    return Err(self.gave_up(&why));
                }
                Answer::Unknown(_) => {
                    must.pop();
                }
            }
        }
        Ok((must, model))
    }

    /// Literals over `kept` that hold in the model and imply that there are values of all other
    /// variables that satisfy the formulas.
    fn project(
        &self,
        formulas: &[TermId],
        kept: &[TermId],
        model: &SmtModel,
    ) -> Result<Vec<TermId>, Stop> {
        let formula = self.terms.and(formulas);
        project_onto(&self.terms, formula, kept, model).ok_or_else(undefined)
    }
}

/// Adds the literal to `out`; with `split`, an arithmetic equality as two bounds.
fn split(terms: &TermStore, literal: TermId, split: bool, out: &mut Vec<TermId>) {
    if split && *terms.op(literal) == Op::Eq {
        let (a, b) = (terms.args(literal)[0], terms.args(literal)[1]);
        if [SortId::INT, SortId::REAL].contains(&terms.sort_of(a)) {
            out.push(terms.le(a, b));
            out.push(terms.ge(a, b));
            return;
        }
    }
    out.push(literal);
}
