//! Transitive relations from one pass through a loop.
//!
//! The literals of the pass are projected three times, with the model (Frohn, Giesl, 2025): to the
//! differences `d` of arguments, to the arguments before it, and to those after it. Of the first,
//! `a·d ≤ c` becomes `a·(x' - x) ≤ n·c` for some `n ≥ 1`; the two others are kept. Then `n` is
//! eliminated: by an equation for it if there is one, otherwise by Fourier-Motzkin elimination over
//! the reals.
//!
//! Deviations: the paper keeps `n`; here relations have no quantifiers, since their negations are
//! asserted. Arguments that are no numbers and that the pass does not change stay equal.
//!
//! Invariant: the relation is transitive, and the pass is one of its instances. (Sums of solutions
//! of the constraints on differences and `n` are solutions; the constraints on the states before
//! and after are those of the outer states; equality is transitive.)

use num_traits::{One, Signed, Zero};
use rustc_hash::{FxHashMap, FxHashSet};

use alphorn_arith::{ColumnBounds, Constraint, Relation, is_over_int};
use alphorn_interpolation::project;
use alphorn_term::{Assignment, Evaluator, Linear, Op, Rational, TermId, TermStore};

/// One pass through a loop.
pub(super) struct Pass<'a> {
    /// Its literals, over the arguments and other variables.
    pub literals: &'a [TermId],
    /// The arguments before.
    pub before: &'a [TermId],
    /// The arguments after; these variables differ from `before`.
    pub after: &'a [TermId],
    /// Values of all variables.
    pub values: &'a Assignment,
}

/// A column of a learned constraint.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Column {
    /// `after - before` of an argument, by its position.
    Difference(usize),
    /// The number of passes, `n`.
    Passes,
}

impl Pass<'_> {
    /// Literals over `before` and `after` of a transitive relation of which the pass is an
    /// instance. `None` if a term has no value in the model.
    pub fn transitive(&self, terms: &TermStore) -> Option<Vec<TermId>> {
        let mut found = self.carried_over(terms);
        let differences = self.differences(terms)?;
        found.extend(self.recurrences(terms, differences));
        for kept in [self.before, self.after] {
            let kept: FxHashSet<TermId> = kept.iter().copied().collect();
            let vars = terms.free_vars(self.literals);
            let eliminate: Vec<TermId> = vars.into_iter().filter(|v| !kept.contains(v)).collect();
            found.extend(project(terms, self.literals, &eliminate, self.values)?.literals);
        }
        let mut seen = FxHashSet::default();
        found.retain(|&l| l != TermId::TRUE && seen.insert(l));
        self.has_instance(terms, &found).then_some(found)
    }

    /// Whether the pass is an instance of a learned relation, that is, whether all literals are
    /// true in the model. A false literal is logged and counted as a defect.
    pub fn has_instance(&self, terms: &TermStore, relation: &[TermId]) -> bool {
        let mut model = Evaluator::new(terms, self.values);
        let values = relation.iter().map(|&literal| model.value(literal));
        let values: Vec<Option<TermId>> = values.collect();
        if values.contains(&Some(TermId::FALSE)) {
            log::error!("defect: a pass is no instance of the relation learned from it");
            terms.count_defect();
        }
        values.iter().all(|&value| value == Some(TermId::TRUE))
    }

    /// Equations of the arguments that are no numbers and that the equations of the pass leave
    /// unchanged.
    fn carried_over(&self, terms: &TermStore) -> Vec<TermId> {
        let mut parent: FxHashMap<TermId, TermId> = FxHashMap::default();
        for &literal in self.literals {
            if *terms.op(literal) == Op::Eq
                && let [a, b] = *terms.args(literal)
                && terms.is_var(a)
                && terms.is_var(b)
            {
                let (a, b) = (root(&parent, a), root(&parent, b));
                if a != b {
                    parent.insert(a, b);
                }
            }
        }
        let pairs = self.before.iter().zip(self.after);
        pairs
            .filter(|&(&a, _)| !terms.sort_of(a).is_number())
            .filter(|&(&a, &b)| root(&parent, a) == root(&parent, b))
            .map(|(&a, &b)| terms.eq(a, b))
            .collect()
    }

    /// The projection to the differences, for `n` passes: `a·d + c ⋈ 0` becomes `a·d + n·c ⋈ 0`.
    fn differences(&self, terms: &TermStore) -> Option<Vec<Constraint<Column>>> {
        let mut map = FxHashMap::default();
        let mut values = self.values.clone();
        let mut position: FxHashMap<TermId, usize> = FxHashMap::default();
        for (index, (&before, &after)) in self.before.iter().zip(self.after).enumerate() {
            let sort = terms.sort_of(before);
            if !sort.is_number() {
                continue;
            }
            let difference = terms.var(&format!("difference!{index}!{}", sort.0), sort);
            let (old, new) = (terms.numeral(*values.get(&before)?)?, values.get(&after)?);
            let value = terms.numeral(*new)? - old;
            values.insert(difference, terms.number(&value, sort));
            position.insert(difference, index);
            map.insert(after, terms.add(&[before, difference]));
        }
        if position.is_empty() {
            return Some(Vec::new());
        }
        let mut memo = FxHashMap::default();
        let literals: Vec<TermId> = self
            .literals
            .iter()
            .map(|&l| terms.substitute_with(l, &map, &mut memo))
            .collect();
        let vars = terms.free_vars(&literals);
        let eliminate: Vec<TermId> = vars
            .into_iter()
            .filter(|v| !position.contains_key(v))
            .collect();
        let projected = project(terms, &literals, &eliminate, &values)?.literals;
        let repeated = |literal: TermId| {
            let constraint = Constraint::congruence(terms, literal)
                .or_else(|| Constraint::comparison(terms, literal))
                .filter(|c| c.relation != Relation::Differs)?;
            let mut columns = constraint.linear.monomials.iter().map(|m| m.0);
            if !columns.all(|t| position.contains_key(&t)) {
                return None;
            }
            let mut repeated = constraint.mapped(|t| Column::Difference(position[&t]));
            let constant = std::mem::take(&mut repeated.linear.constant);
            let passes = Linear::unit(Column::Passes);
            repeated.linear = repeated.linear.add_scaled(&passes, &constant);
            Some(repeated)
        };
        Some(projected.into_iter().filter_map(repeated).collect())
    }

    /// Eliminates `n`; the resulting constraints as literals.
    fn recurrences(&self, terms: &TermStore, found: Vec<Constraint<Column>>) -> Vec<TermId> {
        let (congruences, rows): (Vec<_>, Vec<_>) = found
            .into_iter()
            .partition(|c| c.relation == Relation::Integral);
        let passes = |row: &Constraint<Column>| row.linear.coefficient(Column::Passes);
        let mut at_least_one = Linear::unit(Column::Passes).negated();
        at_least_one.constant = Rational::one();
        let at_least_one = Constraint::new(at_least_one, Relation::AtMost);
        let pivot = rows
            .iter()
            .filter(|r| r.relation == Relation::Equal && !passes(r).is_zero())
            .min_by_key(|r| passes(r).abs())
            .cloned();
        let without: Vec<Constraint<Column>> = if let Some(pivot) = pivot {
            let (own, rest) = pivot.linear.split_off(Column::Passes);
            let count = rest.scaled(&-own.recip());
            let is_whole = Constraint::new(Linear::unit(Column::Passes), Relation::Integral);
            let all = rows
                .into_iter()
                .chain([at_least_one, is_whole])
                .chain(congruences);
            all.map(|c| c.substituted(Column::Passes, &count)).collect()
        } else {
            let free = congruences.into_iter().filter(|c| passes(c).is_zero());
            let rows = std::iter::once(at_least_one).chain(rows).collect();
            let bounds = ColumnBounds::of(rows, Column::Passes);
            free.chain(bounds.combined(Column::Passes)).collect()
        };
        without
            .iter()
            .filter_map(|c| self.formula(terms, c))
            .collect()
    }

    /// A constraint without `n` as a literal over the arguments; `None` for a congruence about
    /// reals.
    fn formula(&self, terms: &TermStore, constraint: &Constraint<Column>) -> Option<TermId> {
        let mut linear = Linear::constant(constraint.linear.constant.clone());
        for (column, coefficient) in &constraint.linear.monomials {
            let Column::Difference(index) = *column else {
                return None;
            };
            let difference =
                Linear::unit(self.after[index]).minus(&Linear::unit(self.before[index]));
            linear = linear.add_scaled(&difference, coefficient);
        }
        let is_formula = constraint.relation != Relation::Integral || is_over_int(terms, &linear);
        is_formula.then(|| Constraint::new(linear, constraint.relation).formula(terms))
    }
}

/// The representative of a term's class.
fn root(parent: &FxHashMap<TermId, TermId>, mut term: TermId) -> TermId {
    while let Some(&next) = parent.get(&term) {
        term = next;
    }
    term
}

/// Whether a literal is a linear comparison, not a disequality, in the variables of `changing`, or
/// does not contain them. A set of such literals that holds at two points holds between them.
pub(super) fn is_convex(terms: &TermStore, literal: TermId, changing: &FxHashSet<TermId>) -> bool {
    if !terms
        .free_vars(&[literal])
        .iter()
        .any(|v| changing.contains(v))
    {
        return true;
    }
    let constraint = Constraint::comparison(terms, literal);
    let Some(constraint) = constraint.filter(|c| c.relation != Relation::Differs) else {
        return false;
    };
    constraint.linear.monomials.iter().all(|(term, _)| {
        let inner = match terms.op(*term) {
            Op::ToReal => terms.args(*term)[0],
            _ => *term,
        };
        terms.is_var(inner)
            || !terms
                .free_vars(&[inner])
                .iter()
                .any(|v| changing.contains(v))
    })
}
