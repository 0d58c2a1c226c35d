//! Conjunctions of facts that domains understand, and formulas taken apart into them.
//!
//! A term that is no variable and not linear (a remainder, an array's cell, a product) stands in a
//! row like a variable; what is known of it by its operator comes as further facts.
//!
//! Invariant: a formula implies the disjunction of its cubes, all terms read as values: what no
//! fact expresses, and what would need too many cubes, is left out.

use num_integer::Integer;
use num_traits::{One, Signed, Zero};
use rustc_hash::FxHashMap;

use crate::term::{BigInt, Linear, Op, Rational, SortId, TermId, TermStore};

/// How a linear term compares to zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    Equal,
    AtMost,
    Below,
    Differs,
    /// It is an integer: `t / m` in this relation is `t ≡ 0 (mod m)`.
    Integral,
}

/// `linear ⋈ 0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub linear: Linear,
    pub relation: Relation,
}

/// One conjunct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    Row(Row),
    /// A term that is no number has this value.
    Value(TermId, TermId),
    /// Two terms that are no numbers are equal.
    Same(TermId, TermId),
}

impl Fact {
    /// `linear ⋈ 0`.
    pub fn row(linear: Linear, relation: Relation) -> Fact {
        Fact::Row(Row { linear, relation })
    }

    /// The fact as a formula; `None` for a congruence over terms of sort Real.
    pub fn formula(&self, terms: &TermStore) -> Option<TermId> {
        match self {
            Fact::Value(a, b) | Fact::Same(a, b) => Some(terms.eq(*a, *b)),
            Fact::Row(row) => row.formula(terms),
        }
    }
}

impl Row {
    fn formula(&self, terms: &TermStore) -> Option<TermId> {
        let real = |t: TermId| terms.sort_of(t) == SortId::REAL;
        let monomials = &self.linear.monomials;
        let mixed = monomials.iter().any(|m| real(m.0)) && !monomials.iter().all(|m| real(m.0));
        let sort = match monomials.first() {
            Some(_) if mixed => SortId::REAL,
            Some(m) => terms.sort_of(m.0),
            None => SortId::INT,
        };
        let linear = if mixed {
            let parts = monomials.iter().map(|(t, c)| {
                let t = if real(*t) { *t } else { terms.to_real(*t) };
                (t, c.clone())
            });
            let mut parts: Vec<_> = parts.collect();
            parts.sort_unstable_by_key(|m| m.0);
            Linear {
                monomials: parts,
                constant: self.linear.constant.clone(),
            }
        } else {
            self.linear.clone()
        };
        Some(match self.relation {
            Relation::Equal => terms.linear_atom(Op::Eq, &linear, sort),
            Relation::Differs => terms.not(terms.linear_atom(Op::Eq, &linear, sort)),
            Relation::AtMost => terms.linear_atom(Op::Le, &linear, sort),
            Relation::Below => terms.not(terms.linear_atom(Op::Ge, &linear, sort)),
            Relation::Integral if sort == SortId::REAL => return None,
            Relation::Integral => {
                let modulus = denominator(&linear);
                let scale = Rational::from_integer(modulus.clone());
                // The representative next to zero reads best.
                let within = |c: &Rational| {
                    let residue = (c * &scale).to_integer().mod_floor(&modulus);
                    let balanced = if &residue + &residue > modulus {
                        residue - &modulus
                    } else {
                        residue
                    };
                    Rational::from_integer(balanced)
                };
                let monomials = linear.monomials.iter().map(|(t, c)| (*t, within(c)));
                let scaled = Linear {
                    monomials: monomials.filter(|m| !m.1.is_zero()).collect(),
                    constant: within(&linear.constant),
                };
                let sum = terms.from_linear(&scaled, SortId::INT);
                terms.eq(terms.modulo(sum, terms.int(modulus)), terms.int(0))
            }
        })
    }
}

/// The least common denominator of all coefficients and the constant.
fn denominator(linear: &Linear) -> BigInt {
    let mut result = linear.constant.denom().clone();
    for (_, c) in &linear.monomials {
        result = result.lcm(c.denom());
    }
    result
}

/// A conjunction of facts.
#[derive(Clone, Debug, Default)]
pub struct Cube {
    pub facts: Vec<Fact>,
}

impl Cube {
    /// The rows.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.facts.iter().filter_map(|fact| match fact {
            Fact::Row(row) => Some(row),
            _ => None,
        })
    }
}

/// The formula as at most `limit` cubes. None when it is propositionally inconsistent.
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

/// A cube in the making.
#[derive(Clone, Default)]
struct Partial {
    facts: Vec<Fact>,
    /// Disjunctions of conjunctions of formulas with polarity, not looked at yet.
    choices: Vec<Vec<Vec<(TermId, bool)>>>,
    /// Formulas that were added, with their polarity, and terms whose own facts were.
    decided: FxHashMap<TermId, bool>,
}

impl Partial {
    /// Conjoins formulas; false when one was added with the other polarity before.
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
                Op::Le | Op::Ge => {
                    let (left, right) = match node.op {
                        Op::Le => (args[0], args[1]),
                        _ => (args[1], args[0]),
                    };
                    // left <= right, or right < left.
                    if positive {
                        self.compare(terms, left, right, Relation::AtMost);
                    } else {
                        self.compare(terms, right, left, Relation::Below);
                    }
                }
                Op::Eq => self.equality(terms, args[0], args[1], positive),
                _ => self.facts.push(Fact::Value(formula, terms.bool(positive))),
            }
        }
        true
    }

    fn equality(&mut self, terms: &TermStore, a: TermId, b: TermId, positive: bool) {
        let sort = terms.sort_of(a);
        if sort == SortId::INT || sort == SortId::REAL {
            let relation = if positive {
                Relation::Equal
            } else {
                Relation::Differs
            };
            self.compare(terms, a, b, relation);
            return;
        }
        let atomic = |t: TermId| terms.is_var(t) || terms.is_value(t);
        if positive && atomic(a) && atomic(b) {
            self.facts
                .push(match (terms.is_value(a), terms.is_value(b)) {
                    (true, _) => Fact::Value(b, a),
                    (_, true) => Fact::Value(a, b),
                    _ => Fact::Same(a, b),
                });
        } else if sort == SortId::BOOL {
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

    /// Adds `left - right ⋈ 0`.
    fn compare(&mut self, terms: &TermStore, left: TermId, right: TermId, relation: Relation) {
        let left = self.linear(terms, left);
        let right = self.linear(terms, right);
        let mut linear = left.add_scaled(&right, &-Rational::one());
        let mut relation = relation;
        if relation == Relation::Below && is_integral(terms, &linear) {
            linear.constant += Rational::one();
            relation = Relation::AtMost;
        }
        self.facts.push(Fact::row(linear, relation));
    }

    /// The linear form, with facts about what is in it.
    fn linear(&mut self, terms: &TermStore, term: TermId) -> Linear {
        let mut linear = terms.linear(term);
        // An integer read as a real is the same number.
        if linear
            .monomials
            .iter()
            .any(|m| *terms.op(m.0) == Op::ToReal)
        {
            let mut result = Linear::constant(linear.constant.clone());
            for (t, c) in &linear.monomials {
                let inner = match terms.op(*t) {
                    Op::ToReal => terms.linear(terms.args(*t)[0]),
                    _ => Linear {
                        monomials: vec![(*t, Rational::one())],
                        constant: Rational::zero(),
                    },
                };
                result = result.add_scaled(&inner, c);
            }
            linear = result;
        }
        let mut open: Vec<TermId> = linear.monomials.iter().map(|m| m.0).collect();
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
        linear
    }

    /// Facts about `inner mod divisor` or `inner div divisor`, which is `term`.
    fn division(&mut self, term: TermId, remainder: bool, inner: &Linear, divisor: &Rational) {
        let this = Linear {
            monomials: vec![(term, Rational::one())],
            constant: Rational::zero(),
        };
        let minus_one = -Rational::one();
        let rest = if remainder {
            let difference = inner.add_scaled(&this, &minus_one);
            let quotient = difference.scaled(&divisor.recip());
            self.facts.push(Fact::row(quotient, Relation::Integral));
            this
        } else {
            inner.add_scaled(&this, &-divisor)
        };
        let mut upper = rest.clone();
        upper.constant += Rational::one() - divisor.abs();
        self.facts.push(Fact::row(upper, Relation::AtMost));
        let lower = rest.scaled(&minus_one);
        self.facts.push(Fact::row(lower, Relation::AtMost));
    }
}

/// Whether all values of the linear term are integers by its coefficients and sorts.
pub(super) fn is_integral(terms: &TermStore, linear: &Linear) -> bool {
    let whole = |(t, c): &(TermId, Rational)| c.is_integer() && terms.sort_of(*t) == SortId::INT;
    linear.constant.is_integer() && linear.monomials.iter().all(whole)
}
