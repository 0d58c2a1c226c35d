//! The polarities of atoms in formulas, and numbers of cases.
//!
//! A formula in a body is a disjunction of cases, each a conjunction of literals. What decides how
//! clauses are made of it is known when a node is made: how many cases it has, and whether an atom is
//! a head there.
//!
//! Invariant: the numbers are those of the formula as it is written, with parts without predicates as
//! one case, up to `MANY`.

use super::formula::{Formula, Formulas, Value};
use alphorn_term::TermId;

/// The number of cases of a formula and of its negation.
#[derive(Clone, Copy)]
pub(super) struct Cases {
    positive: u32,
    negative: u32,
}

impl Cases {
    pub const ONE: Cases = Cases {
        positive: 1,
        negative: 1,
    };

    fn flipped(self) -> Cases {
        Cases {
            positive: self.negative,
            negative: self.positive,
        }
    }
}

/// More cases than are ever counted apart.
const MANY: u32 = 1 << 15;

fn sum(a: u32, b: u32) -> u32 {
    (a + b).min(MANY)
}

fn product(a: u32, b: u32) -> u32 {
    (a * b).min(MANY)
}

/// The polarities of the atoms of a formula, and those of quantifiers over atoms that are universal
/// in bodies: `forall` in positive position and `exists` in negative position.
#[derive(Clone, Copy, Default)]
pub(super) struct Occurs {
    positive: bool,
    negative: bool,
    universal: bool,
    universal_in_negation: bool,
}

impl Occurs {
    fn flipped(self) -> Occurs {
        Occurs {
            positive: self.negative,
            negative: self.positive,
            universal: self.universal_in_negation,
            universal_in_negation: self.universal,
        }
    }

    fn with(self, other: Occurs) -> Occurs {
        Occurs {
            positive: self.positive || other.positive,
            negative: self.negative || other.negative,
            universal: self.universal || other.universal,
            universal_in_negation: self.universal_in_negation || other.universal_in_negation,
        }
    }

    fn both(self) -> Occurs {
        self.with(self.flipped())
    }
}

impl Formulas {
    /// The cases of terms with lifted formulas.
    fn lifted_cases(&self, terms: &[TermId]) -> Cases {
        let lifted = self.all_lifted_in(terms);
        let cases = lifted.iter().fold(1, |cases, _| product(cases, 2));
        Cases {
            positive: cases,
            negative: cases,
        }
    }

    /// The number of cases of a value or of its negation: see [`Node::cases`].
    pub fn cases(&self, value: Value, positive: bool) -> u32 {
        let cases = self.cases_of(value);
        match positive {
            true => cases.positive,
            false => cases.negative,
        }
    }

    fn cases_of(&self, value: Value) -> Cases {
        match value {
            Value::Formula(id) => self.nodes[id.0 as usize].cases,
            Value::Term(term) => self.lifted_cases(&[term]),
            Value::Open(_) => Cases::ONE,
        }
    }

    /// Whether an atom occurs negatively in the value, or in its negation.
    pub fn has_heads(&self, value: Value, positive: bool) -> bool {
        let occurs = self.occurs_in(value);
        match positive {
            true => occurs.negative,
            false => occurs.positive,
        }
    }

    /// Whether a quantifier over atoms in the value, or in its negation, is universal in bodies.
    pub fn has_universals(&self, value: Value, positive: bool) -> bool {
        let occurs = self.occurs_in(value);
        match positive {
            true => occurs.universal,
            false => occurs.universal_in_negation,
        }
    }

    fn occurs_in(&self, value: Value) -> Occurs {
        match value {
            Value::Formula(id) => self.nodes[id.0 as usize].occurs,
            Value::Term(term) => match self.lifted_in(&[term]) {
                Some(lifted) => self.occurs_in(lifted.formula).both(),
                None => Occurs::default(),
            },
            Value::Open(_) => Occurs::default(),
        }
    }

    pub(super) fn count_cases(&self, formula: Formula, parts: &[Value]) -> Cases {
        // The cases of a disjunction; parts without predicates are one case.
        let disjunction = |one: fn(Cases) -> Cases| {
            let mut cases = Cases {
                positive: 0,
                negative: 1,
            };
            let mut free = 0;
            for &part in parts {
                if self.predicate_in(part).is_none() {
                    free = 1;
                    continue;
                }
                let part = one(self.cases_of(part));
                cases.positive = sum(cases.positive, part.positive);
                cases.negative = product(cases.negative, part.negative);
            }
            cases.positive = sum(cases.positive, free);
            cases
        };
        match (formula, parts) {
            (Formula::Atom(_, list), _) => self.lifted_cases(self.arguments(list)),
            (Formula::Not(inner), _) => self.cases_of(inner).flipped(),
            (Formula::Or(_), _) => disjunction(|part| part),
            (Formula::And(_), _) => disjunction(Cases::flipped).flipped(),
            (Formula::Quantifier(_, _, inner), _) => self.cases_of(inner),
            (Formula::Ite(c, a, b), _) => {
                let (c, a, b) = (self.cases_of(c), self.cases_of(a), self.cases_of(b));
                let cases = |a, b| sum(product(c.positive, a), product(c.negative, b));
                Cases {
                    positive: cases(a.positive, b.positive),
                    negative: cases(a.negative, b.negative),
                }
            }
            (Formula::Equal(a, b), _) => {
                let (a, b) = (self.cases_of(a), self.cases_of(b));
                let cases = |b: Cases| {
                    let both = product(a.positive, b.positive);
                    sum(both, product(a.negative, b.negative))
                };
                Cases {
                    positive: cases(b),
                    negative: cases(b.flipped()),
                }
            }
        }
    }

    pub(super) fn occurrences(&self, formula: Formula, parts: &[Value]) -> Occurs {
        let parts = parts.iter().map(|&part| self.occurs_in(part));
        let all = parts.fold(Occurs::default(), Occurs::with);
        match formula {
            Formula::Atom(_, list) => {
                let atom = Occurs {
                    positive: true,
                    ..Occurs::default()
                };
                match self.lifted_in(self.arguments(list)) {
                    Some(lifted) => atom.with(self.occurs_in(lifted.formula).both()),
                    None => atom,
                }
            }
            Formula::Not(_) => all.flipped(),
            Formula::And(_) | Formula::Or(_) => all,
            Formula::Quantifier(universal, ..) => {
                let has_atoms = all.positive || all.negative;
                all.with(Occurs {
                    universal: universal && has_atoms,
                    universal_in_negation: !universal && has_atoms,
                    ..Occurs::default()
                })
            }
            Formula::Ite(condition, ..) => all.with(self.occurs_in(condition).both()),
            Formula::Equal(..) => all.both(),
        }
    }
}
