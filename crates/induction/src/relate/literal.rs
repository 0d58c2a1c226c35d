//! Literals over the arguments of several facts, and lemmas made of them.
//!
//! Invariant: a lemma is in normal form: its premises are ascending and distinct, the columns of a
//! sum are ascending with coefficients that are not zero, and of an equation the first one is
//! positive.

use std::rc::Rc;

use num_traits::ToPrimitive;

use alphorn_chc::PredicateId;
use alphorn_term::{Assignment, BigInt, SortId, TermId, TermStore, evaluate};

/// An argument: the position of a fact, and that of the argument in it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Column {
    pub slot: u8,
    pub arg: u8,
}

/// The column of an argument.
pub fn column(slot: usize, arg: usize) -> Column {
    Column {
        slot: u8::try_from(slot).expect("few slots"),
        arg: u8::try_from(arg).expect("predicates of few arguments only"),
    }
}

/// The relation of a sum to zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Relation {
    AtLeast,
    Equal,
    Different,
}

/// A literal.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Literal {
    /// A sum of integers compared with zero.
    Sum {
        relation: Relation,
        sum: Vec<(Column, i64)>,
        constant: i64,
    },
    /// Whether two columns of another sort are equal.
    Same(Column, Column, bool),
    /// The value of a Boolean column.
    Flag(Column, bool),
    /// Whether a column of another sort has a value.
    Fixed(Column, TermId, bool),
    /// A formula over variables for columns.
    Formula(TermId, Rc<[(TermId, Column)]>),
}

impl Literal {
    /// The two columns that it says to be equal, or to differ if `equal` is false; `None` if it says
    /// something else.
    pub fn pair(&self, equal: bool) -> Option<(Column, Column)> {
        let wanted = match equal {
            true => Relation::Equal,
            false => Relation::Different,
        };
        match self {
            Literal::Same(left, right, same) if *same == equal => Some((*left, *right)),
            Literal::Sum {
                relation,
                sum,
                constant: 0,
            } if *relation == wanted => match sum[..] {
                [(left, 1), (right, -1)] => Some((left, right)),
                _ => None,
            },
            _ => None,
        }
    }

    /// A sum compared with zero.
    pub fn sum(
        relation: Relation,
        parts: impl IntoIterator<Item = (Column, i64)>,
        constant: i64,
    ) -> Literal {
        let mut sum: Vec<(Column, i64)> = Vec::new();
        for (column, factor) in parts {
            match sum.iter_mut().find(|part| part.0 == column) {
                Some(part) => part.1 += factor,
                None => sum.push((column, factor)),
            }
        }
        sum.retain(|part| part.1 != 0);
        sum.sort_unstable();
        let mut constant = constant;
        if relation != Relation::AtLeast && sum.first().is_some_and(|part| part.1 < 0) {
            sum.iter_mut().for_each(|part| part.1 = -part.1);
            constant = -constant;
        }
        Literal::Sum {
            relation,
            sum,
            constant,
        }
    }

    /// `column ≥ bound`.
    pub fn at_least(column: Column, bound: i64) -> Literal {
        Literal::sum(Relation::AtLeast, [(column, 1)], -bound)
    }

    /// `column ≤ bound`.
    pub fn at_most(column: Column, bound: i64) -> Literal {
        Literal::sum(Relation::AtLeast, [(column, -1)], bound)
    }

    /// `left - right ≥ distance`.
    pub fn ordered(left: Column, right: Column, distance: i64) -> Literal {
        Literal::sum(Relation::AtLeast, [(left, 1), (right, -1)], -distance)
    }

    /// Equality of two columns of a sort.
    pub fn equal(left: Column, right: Column, sort: SortId) -> Literal {
        match sort {
            SortId::INT => Literal::sum(Relation::Equal, [(left, 1), (right, -1)], 0),
            _ => Literal::Same(left.min(right), left.max(right), true),
        }
    }

    /// The literal that is always false.
    pub fn falsity() -> Literal {
        Literal::sum(Relation::AtLeast, [], -1)
    }

    /// The negation; `None` for one that overflows.
    pub fn negated(&self, terms: &TermStore) -> Literal {
        match self {
            Literal::Sum {
                relation,
                sum,
                constant,
            } => match relation {
                Relation::AtLeast => {
                    let parts = sum.iter().map(|&(column, factor)| (column, -factor));
                    Literal::sum(Relation::AtLeast, parts, -constant - 1)
                }
                Relation::Equal => {
                    Literal::sum(Relation::Different, sum.iter().copied(), *constant)
                }
                Relation::Different => {
                    Literal::sum(Relation::Equal, sum.iter().copied(), *constant)
                }
            },
            Literal::Same(left, right, same) => Literal::Same(*left, *right, !same),
            Literal::Flag(column, value) => Literal::Flag(*column, !value),
            Literal::Fixed(column, value, same) => Literal::Fixed(*column, *value, !same),
            Literal::Formula(formula, columns) => {
                Literal::Formula(terms.not(*formula), columns.clone())
            }
        }
    }

    /// The formula with these terms as arguments.
    pub fn formula(&self, terms: &TermStore, argument: &impl Fn(Column) -> TermId) -> TermId {
        match self {
            Literal::Sum {
                relation,
                sum,
                constant,
            } => {
                let mut parts: Vec<TermId> = sum
                    .iter()
                    .map(|&(column, factor)| {
                        terms.mul(&[terms.int(BigInt::from(factor)), argument(column)])
                    })
                    .collect();
                parts.push(terms.int(BigInt::from(*constant)));
                let (left, zero) = (terms.add(&parts), terms.int(0));
                match relation {
                    Relation::AtLeast => terms.ge(left, zero),
                    Relation::Equal => terms.eq(left, zero),
                    Relation::Different => terms.not(terms.eq(left, zero)),
                }
            }
            Literal::Same(left, right, same) => {
                let equation = terms.eq(argument(*left), argument(*right));
                if *same { equation } else { terms.not(equation) }
            }
            Literal::Flag(column, value) => match value {
                true => argument(*column),
                false => terms.not(argument(*column)),
            },
            Literal::Fixed(column, value, same) => {
                let equation = terms.eq(argument(*column), *value);
                if *same { equation } else { terms.not(equation) }
            }
            Literal::Formula(formula, columns) => {
                let map = columns.iter().map(|&(var, column)| (var, argument(column)));
                terms.substitute(*formula, &map.collect())
            }
        }
    }

    /// Whether it is true of values; `None` if that is not known.
    #[inline]
    pub fn holds(&self, value: &impl Fn(Column) -> Option<i64>) -> Option<bool> {
        match self {
            Literal::Sum {
                relation,
                sum,
                constant,
            } => {
                let mut total = i128::from(*constant);
                for &(column, factor) in sum {
                    total += i128::from(factor) * i128::from(value(column)?);
                }
                Some(match relation {
                    Relation::AtLeast => total >= 0,
                    Relation::Equal => total == 0,
                    Relation::Different => total != 0,
                })
            }
            Literal::Same(left, right, same) => Some((value(*left)? == value(*right)?) == *same),
            Literal::Flag(column, flag) => Some((value(*column)? != 0) == *flag),
            Literal::Fixed(column, fixed, same) => {
                Some((value(*column)? == i64::from(fixed.0)) == *same)
            }
            Literal::Formula(..) => None,
        }
    }

    /// Whether it is true of values, also of a formula.
    pub fn is_true(&self, terms: &TermStore, value: &impl Fn(Column) -> i64) -> bool {
        let Literal::Formula(formula, columns) = self else {
            return self.holds(&|c| Some(value(c))) == Some(true);
        };
        let pairs = columns.iter().map(|&(var, column)| {
            let sort = terms.sort_of(var);
            (var, value_of(terms, value(column), sort))
        });
        evaluate(terms, *formula, &pairs.collect::<Assignment>()) == Some(TermId::TRUE)
    }

    /// The columns.
    pub fn columns(&self) -> Vec<Column> {
        match self {
            Literal::Sum { sum, .. } => sum.iter().map(|part| part.0).collect(),
            Literal::Same(left, right, _) => vec![*left, *right],
            Literal::Flag(column, _) | Literal::Fixed(column, ..) => vec![*column],
            Literal::Formula(_, columns) => columns.iter().map(|c| c.1).collect(),
        }
    }

    /// The literal with other columns.
    pub fn mapped(&self, to: &impl Fn(Column) -> Column) -> Literal {
        match self {
            Literal::Sum {
                relation,
                sum,
                constant,
            } => Literal::sum(
                *relation,
                sum.iter().map(|&(column, factor)| (to(column), factor)),
                *constant,
            ),
            Literal::Same(left, right, same) => {
                let (left, right) = (to(*left), to(*right));
                Literal::Same(left.min(right), left.max(right), *same)
            }
            Literal::Flag(column, value) => Literal::Flag(to(*column), *value),
            Literal::Fixed(column, value, same) => Literal::Fixed(to(*column), *value, *same),
            Literal::Formula(formula, columns) => {
                let columns = columns.iter().map(|&(var, column)| (var, to(column)));
                Literal::Formula(*formula, columns.collect())
            }
        }
    }

    /// Whether evaluation decides it.
    pub fn is_plain(&self) -> bool {
        !matches!(self, Literal::Formula(..))
    }
}

/// Where a lemma comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Origin {
    Query,
    OneFact,
    Functional,
    Commutative,
    Weakened,
    Pair,
    Affine,
    Residue,
    Fact,
}

/// The value of an argument of a fact that a lemma concludes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Value {
    /// A sum of integer columns and a constant.
    Sum(Vec<(Column, i64)>, i64),
    /// A column of any sort.
    Column(Column),
    /// A term over variables for columns.
    Term(TermId, Rc<[(TermId, Column)]>),
}

impl Value {
    /// The column with a constant added.
    pub fn plus(column: Column, constant: i64) -> Value {
        match constant {
            0 => Value::Column(column),
            _ => Value::Sum(vec![(column, 1)], constant),
        }
    }

    /// The term with these terms as arguments.
    fn term(&self, terms: &TermStore, argument: &impl Fn(Column) -> TermId) -> TermId {
        match self {
            Value::Column(column) => argument(*column),
            Value::Term(term, columns) => {
                let map = columns.iter().map(|&(var, column)| (var, argument(column)));
                terms.substitute(*term, &map.collect())
            }
            Value::Sum(sum, constant) => {
                let parts = sum.iter().map(|&(column, factor)| {
                    terms.mul(&[terms.int(BigInt::from(factor)), argument(column)])
                });
                let mut parts: Vec<TermId> = parts.collect();
                parts.push(terms.int(BigInt::from(*constant)));
                terms.add(&parts)
            }
        }
    }

    fn mapped(&self, to: &impl Fn(Column) -> Column) -> Value {
        match self {
            Value::Column(column) => Value::Column(to(*column)),
            Value::Sum(sum, constant) => {
                let parts = sum.iter().map(|&(column, factor)| (to(column), factor));
                Value::Sum(parts.collect(), *constant)
            }
            Value::Term(term, columns) => {
                let columns = columns.iter().map(|&(var, column)| (var, to(column)));
                Value::Term(*term, columns.collect())
            }
        }
    }

    fn number(&self, terms: &TermStore, value: &impl Fn(Column) -> i64) -> Option<i64> {
        match self {
            Value::Column(column) => Some(value(*column)),
            Value::Term(term, columns) => {
                let pairs = columns.iter().map(|&(var, column)| {
                    (var, value_of(terms, value(column), terms.sort_of(var)))
                });
                let found = evaluate(terms, *term, &pairs.collect::<Assignment>())?;
                number(terms, found)
            }
            Value::Sum(sum, constant) => sum.iter().try_fold(*constant, |total, (c, factor)| {
                total.checked_add(value(*c).checked_mul(*factor)?)
            }),
        }
    }
}

/// The fact that a lemma concludes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Head {
    pub predicate: PredicateId,
    pub args: Vec<Value>,
}

impl Head {
    /// The arguments, with these terms for columns.
    pub fn terms(&self, terms: &TermStore, argument: &impl Fn(Column) -> TermId) -> Vec<TermId> {
        let args = self.args.iter();
        args.map(|value| value.term(terms, argument)).collect()
    }

    /// The arguments, with these numbers for columns; `None` if one is too large.
    pub fn numbers(&self, terms: &TermStore, value: &impl Fn(Column) -> i64) -> Option<Vec<i64>> {
        self.args
            .iter()
            .map(|arg| arg.number(terms, value))
            .collect()
    }
}

/// A lemma: if facts of the slots' predicates satisfy `premises`, one of `conclusions` holds; or there is
/// the fact `head`, and there are no other conclusions.
#[derive(Clone, Debug)]
pub struct Lemma {
    pub slots: Vec<PredicateId>,
    pub premises: Vec<Literal>,
    pub conclusions: Vec<Literal>,
    pub head: Option<Head>,
    pub origin: Origin,
}

/// What makes lemmas the same.
pub type Key = (Vec<PredicateId>, Vec<Literal>, Vec<Literal>, Option<Head>);

impl Lemma {
    /// A lemma in normal form.
    pub fn new(
        slots: Vec<PredicateId>,
        mut premises: Vec<Literal>,
        conclusions: Vec<Literal>,
        origin: Origin,
    ) -> Lemma {
        premises.sort_unstable();
        premises.dedup();
        Lemma {
            slots,
            premises,
            conclusions,
            head: None,
            origin,
        }
    }

    /// A lemma that concludes a fact. Its slots are in the order of their predicates.
    pub fn concluding(slots: Vec<PredicateId>, premises: Vec<Literal>, head: Head) -> Lemma {
        let mut order: Vec<usize> = (0..slots.len()).collect();
        order.sort_by_key(|&slot| slots[slot]);
        let to = |c: Column| {
            let slot = order.iter().position(|&slot| slot == usize::from(c.slot));
            column(slot.unwrap_or_default(), c.arg.into())
        };
        let premises = premises.iter().map(|literal| literal.mapped(&to)).collect();
        let head = Head {
            predicate: head.predicate,
            args: head.args.iter().map(|value| value.mapped(&to)).collect(),
        };
        let slots = order.iter().map(|&slot| slots[slot]).collect();
        Lemma {
            head: Some(head),
            ..Lemma::new(slots, premises, Vec::new(), Origin::Fact)
        }
    }

    /// What the lemma says, without its origin.
    pub fn key(&self) -> Key {
        let (premises, conclusions) = (self.premises.clone(), self.conclusions.clone());
        (self.slots.clone(), premises, conclusions, self.head.clone())
    }

    /// The statement with these terms as arguments. Of a lemma that concludes a fact, it is that the
    /// premises do not hold.
    pub fn formula(&self, terms: &TermStore, argument: &impl Fn(Column) -> TermId) -> TermId {
        let premises = self.premises.iter();
        let mut parts: Vec<TermId> = premises
            .map(|literal| terms.not(literal.formula(terms, argument)))
            .collect();
        let conclusions = self.conclusions.iter();
        parts.extend(conclusions.map(|literal| literal.formula(terms, argument)));
        terms.or(&parts)
    }

    /// Whether values falsify it, or may.
    #[inline]
    pub fn may_be_false(&self, value: &impl Fn(Column) -> Option<i64>) -> bool {
        self.premises.iter().all(|l| l.holds(value) != Some(false))
            && self
                .conclusions
                .iter()
                .all(|l| l.holds(value) != Some(true))
    }

    /// Whether evaluation decides it.
    pub fn is_plain(&self) -> bool {
        let mut all = self.premises.iter().chain(&self.conclusions);
        all.all(Literal::is_plain)
    }

    /// The lemma for the log.
    pub fn show(&self, name: impl Fn(PredicateId) -> String) -> String {
        let slots: Vec<String> = self.slots.iter().map(|&p| name(p)).collect();
        let list = |literals: &[Literal], between: &str| {
            let shown: Vec<String> = literals.iter().map(show).collect();
            shown.join(between)
        };
        let conclusion = match &self.head {
            None => list(&self.conclusions, " | "),
            Some(head) => {
                let args: Vec<String> = head.args.iter().map(show_value).collect();
                format!("{}({})", name(head.predicate), args.join(", "))
            }
        };
        format!(
            "{}: {} => {conclusion}",
            slots.join(", "),
            list(&self.premises, " & "),
        )
    }
}

/// A column for the log.
fn name(c: &Column) -> String {
    format!("{}{}", char::from(b'a' + c.slot % 26), c.arg)
}

/// A value for the log.
fn show_value(value: &Value) -> String {
    match value {
        Value::Column(column) => name(column),
        Value::Term(term, columns) => {
            let columns: Vec<String> = columns.iter().map(|(_, column)| name(column)).collect();
            format!("term {} of {}", term.0, columns.join(", "))
        }
        Value::Sum(sum, constant) => {
            let parts = sum.iter().map(|(column, factor)| match factor {
                1 => name(column),
                _ => format!("{factor}{}", name(column)),
            });
            let mut parts: Vec<String> = parts.collect();
            if *constant != 0 || parts.is_empty() {
                parts.push(constant.to_string());
            }
            parts.join(" + ")
        }
    }
}

/// A literal for the log.
fn show(literal: &Literal) -> String {
    match literal {
        Literal::Sum {
            relation,
            sum,
            constant,
        } => {
            let parts = sum.iter().map(|(column, factor)| match factor {
                1 => name(column),
                _ => format!("{factor}{}", name(column)),
            });
            let mut parts: Vec<String> = parts.collect();
            if *constant != 0 || parts.is_empty() {
                parts.push(constant.to_string());
            }
            let relation = match relation {
                Relation::AtLeast => ">=",
                Relation::Equal => "=",
                Relation::Different => "/=",
            };
            format!("{} {relation} 0", parts.join(" + "))
        }
        Literal::Same(left, right, same) => {
            let sign = if *same { "==" } else { "/==" };
            format!("{} {sign} {}", name(left), name(right))
        }
        Literal::Fixed(column, value, same) => {
            let sign = if *same { "==" } else { "/==" };
            format!("{} {sign} value {}", name(column), value.0)
        }
        Literal::Flag(column, true) => name(column),
        Literal::Flag(column, false) => format!("not {}", name(column)),
        Literal::Formula(..) => "(a formula)".to_owned(),
    }
}

/// A value as a number: integers are themselves, Booleans 0 and 1, others the numbers of their terms.
pub fn number(terms: &TermStore, value: TermId) -> Option<i64> {
    match value {
        TermId::TRUE => Some(1),
        TermId::FALSE => Some(0),
        _ if terms.sort_of(value) == SortId::INT => terms.as_int(value)?.to_i64(),
        _ if terms.is_value(value) => Some(i64::from(value.0)),
        _ => None,
    }
}

/// The value of a sort with this number.
pub fn value_of(terms: &TermStore, number: i64, sort: SortId) -> TermId {
    match sort {
        SortId::INT => terms.int(number),
        SortId::BOOL => terms.bool(number != 0),
        _ => TermId(u32::try_from(number).expect("the number of a term")),
    }
}
