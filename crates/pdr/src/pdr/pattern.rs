//! Patterns of cubes, which have holes for numerals, and clusters of cubes with the same pattern.
//!
//! Krishnan, Chen, Shoham, Gurfinkel, "Global guidance for local generalization in model checking"
//! (CAV 2020), section 3. Deviation: two literals anti-unify if they bound the same linear term in
//! the same direction; changing coefficients of the same terms are recorded for single literals.
//!
//! Invariant: a cube is determined by its pattern and its constants.

use num_traits::Signed;
use rustc_hash::FxHashMap;

use alphorn_arith::{Constraint, Relation};
use alphorn_term::{Rational, TermId, TermStore};

/// An arithmetic literal `terms ⋈ constant` without the constant; the first coefficient is
/// positive.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct Shape {
    /// The relation `⋈`.
    pub kind: Kind,
    /// The terms with their coefficients.
    pub terms: Vec<(TermId, Rational)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum Kind {
    /// `≤`
    AtMost,
    /// `<`
    Below,
    /// `≥`
    AtLeast,
    /// `>`
    Above,
    /// `=`
    Equal,
    /// `≠`
    Differs,
}

impl Kind {
    /// The relation of `sign * (terms - constant)` to zero.
    pub fn relation(self) -> (Relation, i64) {
        match self {
            Kind::AtMost => (Relation::AtMost, 1),
            Kind::Below => (Relation::Below, 1),
            Kind::AtLeast => (Relation::AtMost, -1),
            Kind::Above => (Relation::Below, -1),
            Kind::Equal => (Relation::Equal, 1),
            Kind::Differs => (Relation::Differs, 1),
        }
    }

    /// Whether the literal bounds its terms from above.
    pub fn is_upper(self) -> bool {
        matches!(self, Kind::AtMost | Kind::Below)
    }
}

/// The shape and the constant of an arithmetic literal; `None` for others.
pub(super) fn shape(terms: &TermStore, literal: TermId) -> Option<(Shape, Rational)> {
    let Constraint { linear, relation } = Constraint::comparison(terms, literal)?;
    let is_turned = linear.monomials.first()?.1.is_negative();
    let kind = match (relation, is_turned) {
        (Relation::AtMost, false) => Kind::AtMost,
        (Relation::AtMost, true) => Kind::AtLeast,
        (Relation::Below, false) => Kind::Below,
        (Relation::Below, true) => Kind::Above,
        (Relation::Equal, _) => Kind::Equal,
        (Relation::Differs, _) => Kind::Differs,
        (Relation::Integral, _) => return None,
    };
    let sum = if is_turned { linear.negated() } else { linear };
    let shape = Shape {
        kind,
        terms: sum.monomials,
    };
    Some((shape, -sum.constant))
}

/// Whether terms are bounded from above, and the terms with coefficients.
type Side = (bool, Vec<(TermId, Rational)>);

/// The cube without repetitions and without bounds that tighter bounds in it imply.
pub(super) fn without_weaker_bounds(terms: &TermStore, cube: &[TermId]) -> Vec<TermId> {
    // The tightest bound in each direction: its constant, and whether it is strict.
    let mut tightest: FxHashMap<Side, (Rational, bool)> = FxHashMap::default();
    let bound = |literal: TermId| {
        let (shape, constant) = shape(terms, literal)?;
        let (relation, _) = shape.kind.relation();
        if matches!(relation, Relation::Equal | Relation::Differs) {
            return None;
        }
        let upper = shape.kind.is_upper();
        Some((
            (upper, shape.terms),
            (constant, relation == Relation::Below),
        ))
    };
    let tighter = |upper: bool, a: &(Rational, bool), b: &(Rational, bool)| match a.0.cmp(&b.0) {
        std::cmp::Ordering::Equal => a.1 && !b.1,
        order => (order == std::cmp::Ordering::Less) == upper,
    };
    for &literal in cube {
        if let Some((key, value)) = bound(literal) {
            let upper = key.0;
            let best = tightest.entry(key).or_insert_with(|| value.clone());
            if tighter(upper, &value, best) {
                *best = value;
            }
        }
    }
    let mut seen = rustc_hash::FxHashSet::default();
    cube.iter()
        .copied()
        .filter(|&l| bound(l).is_none_or(|(key, value)| tightest[&key] == value))
        .filter(|&l| l != TermId::TRUE && seen.insert(l))
        .collect()
}

/// A cube without its constants.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Pattern {
    /// The arithmetic literals, in ascending order.
    pub shapes: Vec<Shape>,
    /// The other literals, in ascending order.
    pub others: Vec<TermId>,
}

/// The pattern of a cube, and the constants of its arithmetic literals; `None` if there are none.
pub(super) fn pattern(terms: &TermStore, cube: &[TermId]) -> Option<(Pattern, Vec<Rational>)> {
    let mut rows = Vec::new();
    let mut others = Vec::new();
    for &literal in cube {
        match shape(terms, literal) {
            Some(row) => rows.push(row),
            None => others.push(literal),
        }
    }
    if rows.is_empty() {
        return None;
    }
    rows.sort();
    others.sort_unstable();
    let (shapes, constants) = rows.into_iter().unzip();
    Some((Pattern { shapes, others }, constants))
}

/// The cubes of one pattern, without repetitions.
pub(super) struct Cluster<M> {
    /// The owners of the cubes, and the constants of the cubes.
    pub members: Vec<(M, Vec<Rational>)>,
    /// The number of times that it was generalized.
    pub uses: usize,
}

impl<M> Default for Cluster<M> {
    fn default() -> Self {
        Cluster {
            members: Vec::new(),
            uses: 0,
        }
    }
}

/// The clusters of cubes of a predicate. Each cube belongs to an `M`.
pub(super) struct Patterns<M> {
    /// By pattern.
    pub clusters: FxHashMap<Pattern, Cluster<M>>,
    /// The coefficients with which cubes bound the same terms, by relation and terms.
    slopes: FxHashMap<(Kind, Vec<TermId>), Slopes>,
}

impl<M> Default for Patterns<M> {
    fn default() -> Self {
        Patterns {
            clusters: FxHashMap::default(),
            slopes: FxHashMap::default(),
        }
    }
}

/// The different coefficients of literals over the same terms.
#[derive(Default)]
struct Slopes {
    seen: Vec<Vec<Rational>>,
    /// The number of times that [`Patterns::has_many_slopes`] was true.
    uses: usize,
}

impl<M> Patterns<M> {
    /// Adds a cube, and returns its pattern; `None` if it has no arithmetic literals.
    pub fn enter(&mut self, terms: &TermStore, member: M, cube: &[TermId]) -> Option<Pattern> {
        let (pattern, constants) = pattern(terms, cube)?;
        for shape in &pattern.shapes {
            let (key, coefficients) = slope(shape);
            let slopes = self.slopes.entry(key).or_default();
            if !slopes.seen.contains(&coefficients) {
                slopes.seen.push(coefficients);
            }
        }
        let cluster = self.clusters.entry(pattern.clone()).or_default();
        if cluster.members.iter().all(|m| m.1 != constants) {
            cluster.members.push((member, constants));
        }
        Some(pattern)
    }

    /// Whether cubes bound the terms of a shape with at least `least` different coefficients; false
    /// after it was true `most` times.
    pub fn has_many_slopes(&mut self, shape: &Shape, least: usize, most: usize) -> bool {
        if shape.terms.len() < 2 {
            return false;
        }
        let Some(slopes) = self.slopes.get_mut(&slope(shape).0) else {
            return false;
        };
        let many = slopes.seen.len() >= least && slopes.uses < most;
        slopes.uses += usize::from(many);
        many
    }
}

/// The relation and terms of a shape, and its coefficients.
fn slope(shape: &Shape) -> ((Kind, Vec<TermId>), Vec<Rational>) {
    let (terms, coefficients) = shape.terms.iter().cloned().unzip();
    ((shape.kind, terms), coefficients)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alphorn_term::{Linear, SortId};
    use num_traits::Zero;

    #[test]
    fn patterns_give_back_their_cubes() {
        let terms = TermStore::new();
        for sort in [SortId::INT, SortId::REAL] {
            let [x, y] = ["x", "y"].map(|n| terms.var(n, sort));
            let number = |v: i64| terms.number(&Rational::from_integer(v.into()), sort);
            let sum = terms.add(&[x, terms.mul(&[number(-2), y])]);
            for literal_in in [
                terms.le(sum, number(3)),
                terms.ge(sum, number(-4)),
                terms.lt(x, y),
                terms.gt(sum, number(0)),
                terms.eq(sum, number(7)),
                terms.not(terms.eq(sum, number(5))),
            ] {
                let (shape, constant) = shape(&terms, literal_in).unwrap();
                let (relation, sign) = shape.kind.relation();
                let sign = Rational::from_integer(sign.into());
                let sum = Linear {
                    monomials: shape.terms.clone(),
                    constant: -constant,
                };
                let constraint = Constraint::new(sum.scaled(&sign), relation);
                assert_eq!(constraint.formula(&terms), literal_in);
            }
        }
        let p = terms.var("p", SortId::BOOL);
        assert!(pattern(&terms, &[p]).is_none());
    }

    #[test]
    fn weaker_bounds_go() {
        let terms = TermStore::new();
        let [x, y] = ["x", "y"].map(|n| terms.var(n, SortId::REAL));
        let number = |v: i64| terms.number(&Rational::from_integer(v.into()), SortId::REAL);
        let p = terms.var("p", SortId::BOOL);
        let cube = [
            terms.le(x, number(5)),
            p,
            terms.lt(x, number(3)),
            terms.le(x, number(3)),
            terms.ge(x, number(1)),
            terms.ge(x, number(2)),
            terms.le(y, number(9)),
            p,
        ];
        let expected = [p, cube[2], cube[5], cube[6]];
        assert_eq!(without_weaker_bounds(&terms, &cube), expected);
    }

    #[test]
    fn many_slopes_are_noticed() {
        let terms = TermStore::new();
        let [x, y] = ["x", "y"].map(|n| terms.var(n, SortId::INT));
        let mut patterns = Patterns::default();
        let bound = |k: i64| terms.le(terms.add(&[terms.mul(&[terms.int(k), x]), y]), terms.int(k));
        for k in 1..4 {
            let (shape, constant) = shape(&terms, bound(k)).unwrap();
            assert!(!constant.is_zero());
            assert!(!patterns.has_many_slopes(&shape, 3, 1));
            patterns.enter(&terms, k, &[bound(k)]);
        }
        let (shape, _) = shape(&terms, bound(9)).unwrap();
        assert!(patterns.has_many_slopes(&shape, 3, 1));
        assert!(!patterns.has_many_slopes(&shape, 3, 1));
    }
}
