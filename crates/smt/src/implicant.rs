//! Implicants: literals that hold under an assignment and together imply a formula.
//!
//! The Boolean structure is traversed from the root in negation normal form. Of a true disjunction
//! the disjunct with the lightest literals is taken, after all obligations without a choice, so
//! that a disjunct whose literals are there already is preferred. In literals each `ite` gives way
//! to the branch that the assignment selects, and its condition becomes an obligation.
//!
//! # Invariant
//! Every literal is true under the assignment and contains neither an `ite` nor a connective. Each
//! pair of a subformula and a polarity is visited once.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use alphorn_term::{Evaluator, Op, SortId, TermId, TermStore};

/// The form of an implicant's literals.
#[derive(Clone, Copy, Debug)]
pub struct ImplicantOptions {
    /// Replace `a ≠ b` over Int and Real by the one of `a < b` and `a > b` that is true. Default:
    /// off.
    pub split_disequalities: bool,
    /// Keep equalities between Boolean variables, reads of arrays and fields, and their negations,
    /// as literals; otherwise each side becomes a literal. Default: on.
    pub keep_bool_equalities: bool,
}

impl Default for ImplicantOptions {
    fn default() -> Self {
        ImplicantOptions {
            split_disequalities: false,
            keep_bool_equalities: true,
        }
    }
}

/// Literals without duplicates that hold under the assignment of `model` and together imply all
/// `formulas`. `None` if a formula does not evaluate to true, or has a quantifier.
pub fn implicant(
    terms: &TermStore,
    formulas: &[TermId],
    model: &mut Evaluator,
) -> Option<Vec<TermId>> {
    implicant_with(terms, formulas, model, ImplicantOptions::default())
}

/// As [`implicant`], with options.
pub fn implicant_with(
    terms: &TermStore,
    formulas: &[TermId],
    model: &mut Evaluator,
    options: ImplicantOptions,
) -> Option<Vec<TermId>> {
    let mut extraction = Extraction {
        terms,
        model,
        options,
        seen: FxHashSet::default(),
        work: Vec::new(),
        choices: VecDeque::new(),
        resolved: FxHashMap::default(),
        costs: FxHashMap::default(),
        literals: Vec::new(),
        emitted: FxHashSet::default(),
    };
    for &formula in formulas.iter().rev() {
        if extraction.model.value(formula) != Some(TermId::TRUE) {
            return None;
        }
        extraction.require(formula, true);
    }
    extraction.run()?;
    Some(extraction.literals)
}

/// Whether a Boolean term is a variable, a read of an array or a field: then it may be a side of a
/// Boolean equality in an implicant.
pub fn is_simple_bool(terms: &TermStore, term: TermId) -> bool {
    matches!(terms.op(term), Op::Var(_) | Op::Select | Op::Field(..))
}

struct Extraction<'t, 'm, 'a> {
    terms: &'t TermStore,
    model: &'m mut Evaluator<'a>,
    options: ImplicantOptions,
    /// All obligations so far: a term that is no negation, and its polarity.
    seen: FxHashSet<(TermId, bool)>,
    work: Vec<(TermId, bool)>,
    /// Obligations with a choice of a disjunct, handled after all others.
    choices: VecDeque<(TermId, bool)>,
    /// Replacements of terms within literals.
    resolved: FxHashMap<TermId, TermId>,
    /// Weights of obligations.
    costs: FxHashMap<(TermId, bool), u32>,
    literals: Vec<TermId>,
    emitted: FxHashSet<TermId>,
}

impl Extraction<'_, '_, '_> {
    /// Handles all obligations; `None` if one cannot be met.
    fn run(&mut self) -> Option<()> {
        loop {
            while let Some((term, polarity)) = self.work.pop() {
                self.step(term, polarity)?;
            }
            let Some((term, polarity)) = self.choices.pop_front() else {
                return Some(());
            };
            self.choose(term, polarity)?;
        }
    }

    /// The obligation without its negations.
    fn strip(&self, mut term: TermId, mut polarity: bool) -> (TermId, bool) {
        while *self.terms.op(term) == Op::Not {
            term = self.terms.args(term)[0];
            polarity = !polarity;
        }
        (term, polarity)
    }

    /// Adds an obligation.
    fn require(&mut self, term: TermId, polarity: bool) {
        let obligation = self.strip(term, polarity);
        if self.seen.insert(obligation) {
            self.work.push(obligation);
        }
    }

    /// Adds the obligation that a Boolean term has its value, and returns the value.
    fn require_value(&mut self, term: TermId) -> Option<TermId> {
        let value = self.model.value(term)?;
        self.require(term, value == TermId::TRUE);
        Some(value)
    }

    /// Handles an obligation.
    fn step(&mut self, term: TermId, polarity: bool) -> Option<()> {
        let terms = self.terms;
        let node = terms.node(term);
        match &node.op {
            Op::True | Op::False => return (terms.bool(polarity) == term).then_some(()),
            Op::And | Op::Or => {
                if (node.op == Op::And) == polarity {
                    for &arg in node.args.iter().rev() {
                        self.require(arg, polarity);
                    }
                } else {
                    self.choices.push_back((term, polarity));
                }
            }
            Op::Ite => {
                let branches = match self.model.value(node.args[0]) {
                    Some(condition) => {
                        let taken = condition == TermId::TRUE;
                        self.require(node.args[0], taken);
                        &node.args[if taken { 1..2 } else { 2..3 }]
                    }
                    None => &node.args[1..],
                };
                for &branch in branches {
                    self.require(branch, polarity);
                }
            }
            Op::Eq if terms.sort_of(node.args[0]) == SortId::BOOL => {
                let simple = node.args.iter().all(|&a| is_simple_bool(terms, a));
                if simple && self.options.keep_bool_equalities {
                    self.atom(term, polarity)?;
                } else {
                    self.require_value(node.args[0])?;
                    self.require_value(node.args[1])?;
                }
            }
            Op::Forall(_) | Op::Exists(_) => return None,
            _ => self.atom(term, polarity)?,
        }
        Some(())
    }

    /// Handles an obligation with a choice, unless a disjunct is among the obligations.
    fn choose(&mut self, term: TermId, polarity: bool) -> Option<()> {
        let wanted = Some(self.terms.bool(polarity));
        let mut open = Vec::new();
        for &arg in self.terms.args(term) {
            if self.model.value(arg) == wanted {
                if self.seen.contains(&self.strip(arg, polarity)) {
                    return Some(());
                }
                open.push(arg);
            }
        }
        let best = match &*open {
            [] => return None,
            [only] => *only,
            _ => {
                let mut best = (u32::MAX, open[0]);
                for &arg in &open {
                    let cost = self.cost(arg, polarity);
                    if cost < best.0 {
                        best = (cost, arg);
                    }
                }
                best.1
            }
        };
        self.require(best, polarity);
        Some(())
    }

    /// The weight of the literals that an obligation would add: 1 for a Boolean variable, 2 for an
    /// equality, 3 for another atom, 4 for a disequality, and 0 for an obligation that was there
    /// when the weight was computed.
    fn cost(&mut self, term: TermId, polarity: bool) -> u32 {
        let terms = self.terms;
        let root = self.strip(term, polarity);
        let mut stack = vec![root];
        while let Some(&goal) = stack.last() {
            if self.costs.contains_key(&goal) {
                stack.pop();
                continue;
            }
            let (term, polarity) = goal;
            let node = terms.node(term);
            let mut parts: Vec<(TermId, bool)> = Vec::new();
            let mut least = false;
            let own = match &node.op {
                _ if self.seen.contains(&goal) => 0,
                Op::True | Op::False => 0,
                Op::And | Op::Or => {
                    least = (node.op == Op::And) != polarity;
                    let wanted = Some(terms.bool(polarity));
                    for &arg in &*node.args {
                        if !least || self.model.value(arg) == wanted {
                            parts.push(self.strip(arg, polarity));
                        }
                    }
                    0
                }
                Op::Ite => {
                    let condition = self.model.value(node.args[0]);
                    let taken = if condition == Some(TermId::FALSE) {
                        2
                    } else {
                        1
                    };
                    parts.push(self.strip(node.args[0], taken == 1));
                    parts.push(self.strip(node.args[taken], polarity));
                    0
                }
                Op::Eq if terms.sort_of(node.args[0]) == SortId::BOOL => {
                    for &arg in &*node.args {
                        let value = self.model.value(arg) == Some(TermId::TRUE);
                        parts.push(self.strip(arg, value));
                    }
                    0
                }
                Op::Var(_) => 1,
                Op::Eq if polarity => 2,
                Op::Eq => 4,
                _ => 3,
            };
            let mut cost = if least { u32::MAX } else { own };
            let mut pending = false;
            for part in parts {
                match self.costs.get(&part) {
                    Some(&c) if least => cost = cost.min(c),
                    Some(&c) => cost = cost.saturating_add(c),
                    None => {
                        stack.push(part);
                        pending = true;
                    }
                }
            }
            if !pending {
                self.costs.insert(goal, cost);
                stack.pop();
            }
        }
        self.costs[&root]
    }

    /// Adds the literal of an atom.
    fn atom(&mut self, atom: TermId, polarity: bool) -> Option<()> {
        let terms = self.terms;
        let node = terms.node(atom);
        let mut args = Vec::with_capacity(node.args.len());
        for &arg in &*node.args {
            args.push(self.resolve(arg)?);
        }
        if *args != *node.args {
            let other = terms.rebuild(&node.op, &args, node.sort);
            if other != atom {
                // It may be a constant, a conjunction or a known atom now.
                self.require(other, polarity);
                return Some(());
            }
        }
        let literal = if polarity { atom } else { terms.not(atom) };
        let literal = match self.options.split_disequalities {
            true if !polarity => split(terms, literal, self.model)?,
            _ => literal,
        };
        if self.emitted.insert(literal) {
            self.literals.push(literal);
        }
        Some(())
    }

    /// The term with `ite`s replaced by their selected branches, and Boolean subterms by their
    /// values; iterative.
    fn resolve(&mut self, root: TermId) -> Option<TermId> {
        let terms = self.terms;
        let mut stack = vec![root];
        let mut args: Vec<TermId> = Vec::new();
        while let Some(&term) = stack.last() {
            if self.resolved.contains_key(&term) {
                stack.pop();
                continue;
            }
            let node = terms.node(term);
            let result = if node.is_value || node.args.is_empty() {
                term
            } else if node.sort == SortId::BOOL && !is_simple_bool(terms, term) {
                self.require_value(term)?
            } else if node.op == Op::Ite {
                match self.model.value(node.args[0]) {
                    Some(condition) => {
                        let taken = condition == TermId::TRUE;
                        let branch = node.args[if taken { 1 } else { 2 }];
                        let Some(&resolved) = self.resolved.get(&branch) else {
                            stack.push(branch);
                            continue;
                        };
                        self.require(node.args[0], taken);
                        resolved
                    }
                    None => {
                        // The condition has no value, but the branches are equal.
                        let value = self.model.value(term)?;
                        for &branch in &node.args[1..] {
                            self.require(terms.eq(branch, value), true);
                        }
                        value
                    }
                }
            } else {
                args.clear();
                let before = stack.len();
                for &arg in &*node.args {
                    match self.resolved.get(&arg) {
                        Some(&resolved) => args.push(resolved),
                        None => stack.push(arg),
                    }
                }
                if stack.len() > before {
                    continue;
                }
                if *args == *node.args {
                    term
                } else {
                    terms.rebuild(&node.op, &args, node.sort)
                }
            };
            self.resolved.insert(term, result);
            // The result has nothing left to replace.
            self.resolved.insert(result, result);
            stack.pop();
        }
        self.resolved.get(&root).copied()
    }
}

/// A true strict inequality for a true disequality of numbers; any other literal unchanged.
fn split(terms: &TermStore, literal: TermId, model: &mut Evaluator) -> Option<TermId> {
    if *terms.op(literal) != Op::Not {
        return Some(literal);
    }
    let atom = terms.node(terms.args(literal)[0]);
    if atom.op != Op::Eq || !terms.sort_of(atom.args[0]).is_number() {
        return Some(literal);
    }
    let left = terms.numeral(model.value(atom.args[0])?)?;
    let right = terms.numeral(model.value(atom.args[1])?)?;
    Some(if left < right {
        terms.lt(atom.args[0], atom.args[1])
    } else {
        terms.gt(atom.args[0], atom.args[1])
    })
}
