//! Conjunctions of facts that domains support, and the conversion of formulas to them.
//!
//! A non-linear term that is no variable (a remainder, an array's cell, a product) is treated as a
//! variable in constraints; properties of its operator are further facts.
//!
//! Invariant: a formula implies the disjunction of its cubes, where terms stand for their values:
//! parts that no fact expresses, or that would need too many cubes, are left out.

use num_traits::{One, Signed, Zero};
use rustc_hash::FxHashMap;

use alphorn_arith::{Constraint, Relation, is_integral, is_over_int};
use alphorn_term::{Linear, Op, Rational, SortId, TermId, TermStore};

/// A conjunct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A linear constraint.
    Linear(Constraint),
    /// A term that is not a number has this value.
    Value(TermId, TermId),
    /// Two terms that are not numbers are equal.
    Same(TermId, TermId),
}

impl Fact {
    /// The fact `linear ⋈ 0`.
    pub fn linear(linear: Linear, relation: Relation) -> Fact {
        Fact::Linear(Constraint { linear, relation })
    }

    /// The fact as a formula; `None` for a congruence over terms of sort Real.
    pub fn formula(&self, terms: &TermStore) -> Option<TermId> {
        match self {
            Fact::Value(a, b) | Fact::Same(a, b) => Some(terms.eq(*a, *b)),
            Fact::Linear(constraint) => {
                let is_formula = constraint.relation != Relation::Integral
                    || is_over_int(terms, &constraint.linear);
                is_formula.then(|| constraint.formula(terms))
            }
        }
    }
}

/// A conjunction of facts.
#[derive(Clone, Debug, Default)]
pub struct Cube {
    /// The facts.
    pub facts: Vec<Fact>,
}

impl Cube {
    /// The linear constraints.
    pub fn constraints(&self) -> impl Iterator<Item = &Constraint> {
        self.facts.iter().filter_map(|fact| match fact {
            Fact::Linear(constraint) => Some(constraint),
            _ => None,
        })
    }
}

/// The formula as at most `limit` cubes, whose disjunction it implies. Empty if it is
/// propositionally inconsistent.
pub fn cubes(terms: &TermStore, formula: TermId, limit: usize) -> Vec<Cube> {
    let mut first = Partial::default();
    if !first.add(terms, vec![(formula, true)]) {
        return Vec::new();
    }
    let mut open = vec![first];
    let mut done = Vec::new();
    while let Some(mut partial) = open.pop() {
        let Some(alternatives) = partial.choices.pop() else {
            done.push(Cube {
                facts: partial.facts,
            });
            continue;
        };
        let possible: Vec<&Vec<(TermId, bool)>> = alternatives
            .iter()
            .filter(|a| a.iter().all(|(t, p)| partial.decided.get(t) != Some(&!p)))
            .collect();
        let settled = |a: &Vec<(TermId, bool)>| {
            let known = |(t, p): &(TermId, bool)| partial.decided.get(t) == Some(p);
            a.iter().all(known)
        };
        if possible.iter().any(|a| settled(a))
            || open.len() + done.len() + possible.len() > limit.max(1)
        {
            // One of the alternatives holds already, or the choice is left out.
            open.push(partial);
            continue;
        }
        let last = possible.len().saturating_sub(1);
        let possible: Vec<Vec<(TermId, bool)>> = possible.into_iter().cloned().collect();
        let mut source = Some(partial);
        for (i, alternative) in possible.into_iter().enumerate() {
            let copy = if i == last {
                source.take()
            } else {
                source.clone()
            };
            if let Some(mut next) = copy
                && next.add(terms, alternative)
            {
                open.push(next);
            }
        }
    }
    done
}

/// A cube under construction.
#[derive(Clone, Default)]
struct Partial {
    facts: Vec<Fact>,
    /// Disjunctions of conjunctions of formulas with polarity, not processed yet.
    choices: Vec<Vec<Vec<(TermId, bool)>>>,
    /// Formulas that were added, with their polarity, and terms whose facts were added.
    decided: FxHashMap<TermId, bool>,
}

impl Partial {
    /// Conjoins formulas; false if one was added with the other polarity before.
    fn add(&mut self, terms: &TermStore, mut stack: Vec<(TermId, bool)>) -> bool {
        while let Some((formula, positive)) = stack.pop() {
            match terms.as_bool(formula) {
                Some(value) if value == positive => continue,
                Some(_) => return false,
                None => {}
            }
            if let Some(&before) = self.decided.get(&formula) {
                if before != positive {
                    return false;
                }
                continue;
            }
            self.decided.insert(formula, positive);
            if let Some(constraint) = Constraint::atom(terms, formula, positive) {
                self.compare(terms, constraint);
                continue;
            }
            let node = terms.node(formula);
            let args = &node.args;
            match &node.op {
                Op::Not => stack.push((args[0], !positive)),
                Op::And | Op::Or if (node.op == Op::And) == positive => {
                    stack.extend(args.iter().map(|&a| (a, positive)));
                }
                Op::And | Op::Or => {
                    let alternatives = args.iter().map(|&a| vec![(a, positive)]);
                    self.choices.push(alternatives.collect());
                }
                Op::Ite => self.choices.push(vec![
                    vec![(args[0], true), (args[1], positive)],
                    vec![(args[0], false), (args[2], positive)],
                ]),
                Op::Eq => self.equality(terms, args[0], args[1], positive),
                _ => self.facts.push(Fact::Value(formula, terms.bool(positive))),
            }
        }
        true
    }

    fn equality(&mut self, terms: &TermStore, a: TermId, b: TermId, positive: bool) {
        let atomic = |t: TermId| terms.is_var(t) || terms.is_value(t);
        if positive && atomic(a) && atomic(b) {
            self.facts
                .push(match (terms.is_value(a), terms.is_value(b)) {
                    (true, _) => Fact::Value(b, a),
                    (_, true) => Fact::Value(a, b),
                    _ => Fact::Same(a, b),
                });
        } else if terms.sort_of(a) == SortId::BOOL {
            self.choices.push(vec![
                vec![(a, true), (b, positive)],
                vec![(a, false), (b, !positive)],
            ]);
        } else if positive {
            for (side, other) in [(a, b), (b, a)] {
                if *terms.op(side) == Op::Ite {
                    let [c, then, otherwise] = [0, 1, 2].map(|i| terms.args(side)[i]);
                    self.choices.push(vec![
                        vec![(c, true), (terms.eq(other, then), true)],
                        vec![(c, false), (terms.eq(other, otherwise), true)],
                    ]);
                    return;
                }
            }
            match (terms.is_value(a), terms.is_value(b)) {
                (true, _) => self.facts.push(Fact::Value(b, a)),
                (_, true) => self.facts.push(Fact::Value(a, b)),
                _ => self.facts.push(Fact::Same(a, b)),
            }
        } else if terms.width(a) > 0 {
            self.facts.push(Fact::Value(terms.eq(a, b), TermId::FALSE));
        }
    }

    /// Adds a comparison, with facts about its terms.
    fn compare(&mut self, terms: &TermStore, constraint: Constraint) {
        let mut constraint = constraint.lowered(terms);
        if constraint.relation == Relation::Below && is_integral(terms, &constraint.linear) {
            constraint = constraint.tightened(terms);
        }
        // Facts that are added come first.
        for sign in [true, false] {
            let monomials = constraint.linear.monomials.iter();
            let side = monomials.filter(|m| m.1.is_positive() == sign);
            self.define(terms, side.map(|m| m.0).collect());
        }
        self.facts.push(Fact::Linear(constraint));
    }

    /// Adds facts about terms and their subterms.
    fn define(&mut self, terms: &TermStore, mut open: Vec<TermId>) {
        while let Some(t) = open.pop() {
            if terms.is_var(t) || self.decided.insert(t, true).is_some() {
                continue;
            }
            let args = terms.args(t);
            match terms.op(t) {
                Op::Ite => self.choices.push(vec![
                    vec![(args[0], true), (terms.eq(t, args[1]), true)],
                    vec![(args[0], false), (terms.eq(t, args[2]), true)],
                ]),
                Op::Mod | Op::IDiv => {
                    let Some(divisor) = terms.numeral(args[1]).filter(|d| !d.is_zero()) else {
                        continue;
                    };
                    let inner = terms.linear(args[0]);
                    open.extend(inner.monomials.iter().map(|m| m.0));
                    self.division(t, *terms.op(t) == Op::Mod, &inner, &divisor);
                }
                _ => {}
            }
        }
    }

    /// Facts about `inner mod divisor` or `inner div divisor`, which is `term`.
    fn division(&mut self, term: TermId, remainder: bool, inner: &Linear, divisor: &Rational) {
        let this = Linear::unit(term);
        let rest = if remainder {
            let quotient = inner.minus(&this).scaled(&divisor.recip());
            self.facts.push(Fact::linear(quotient, Relation::Integral));
            this
        } else {
            inner.add_scaled(&this, &-divisor)
        };
        let mut upper = rest.clone();
        upper.constant += Rational::one() - divisor.abs();
        self.facts.push(Fact::linear(upper, Relation::AtMost));
        let lower = rest.negated();
        self.facts.push(Fact::linear(lower, Relation::AtMost));
    }
}
