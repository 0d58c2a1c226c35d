//! Tests of conversion and elimination, by values and by the simplex.

use num_traits::{One, Zero};
use proptest::prelude::*;

use super::simplex::Simplex;
use super::*;
use alphorn_term::{Assignment, Linear, Rational, SortId, TermId, TermStore, evaluate};

fn number(value: i64) -> Rational {
    Rational::from_integer(value.into())
}

fn vector(values: &[i64]) -> Vec<Rational> {
    values.iter().map(|&v| number(v)).collect()
}

fn linear<C: Copy + Ord>(columns: &[C], coefficients: &[i64], constant: i64) -> Linear<C> {
    let mut sum = Linear::constant(number(constant));
    for (column, coefficient) in columns.iter().zip(coefficients) {
        sum = sum.add_scaled(&Linear::unit(*column), &number(*coefficient));
    }
    sum
}

fn row(coefficients: &[i64], constant: i64, relation: Relation) -> Constraint<usize> {
    let columns: Vec<usize> = (0..coefficients.len()).collect();
    Constraint::new(linear(&columns, coefficients, constant), relation)
}

fn holds(constraint: &Constraint<usize>, point: &[Rational]) -> bool {
    let value = constraint.linear.value(|c| Some(point[c].clone()));
    constraint
        .relation
        .holds(&value.expect("all columns have a value"))
}

fn relation() -> impl Strategy<Value = Relation> {
    prop_oneof![
        2 => Just(Relation::Equal),
        4 => Just(Relation::AtMost),
        2 => Just(Relation::Below),
        1 => Just(Relation::Differs),
        2 => Just(Relation::Integral),
    ]
}

/// Variables `x` and `y` of sort Int, `u` and `v` of sort Real.
fn variables(terms: &TermStore) -> [TermId; 4] {
    let sorts = [
        ("x", SortId::INT),
        ("y", SortId::INT),
        ("u", SortId::REAL),
        ("v", SortId::REAL),
    ];
    sorts.map(|(name, sort)| terms.var(name, sort))
}

fn assignment(terms: &TermStore, vars: &[TermId], values: &[i64], denominator: i64) -> Assignment {
    let value = |(var, value): (&TermId, &i64)| {
        let sort = terms.sort_of(*var);
        let denominator = if sort == SortId::INT { 1 } else { denominator };
        let value = Rational::new((*value).into(), denominator.into());
        (*var, terms.number(&value, sort))
    };
    vars.iter().zip(values).map(value).collect()
}

fn is_true(terms: &TermStore, constraint: &Constraint, values: &Assignment) -> bool {
    let of = |t: TermId| terms.numeral(evaluate(terms, t, values)?);
    let value = constraint.linear.value(of).expect("the terms have values");
    constraint.relation.holds(&value)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn formulas_mean_their_constraints(
        coefficients in prop::collection::vec(-4..5_i64, 4),
        kinds in 0..3_usize,
        constant in -7..8_i64,
        denominator in 1..5_i64,
        relation in relation(),
        values in prop::collection::vec(prop::collection::vec(-6..7_i64, 4), 12),
    ) {
        let terms = TermStore::new();
        let vars = variables(&terms);
        let chosen = [&vars[..2], &vars[2..], &vars[..]][kinds];
        let factor = Rational::new(1.into(), denominator.into());
        let sum = linear(chosen, &coefficients, constant).scaled(&factor);
        let constraint = Constraint::new(sum, relation);
        let formula = constraint.formula(&terms);
        let read = Constraint::congruence(&terms, formula)
            .or_else(|| Constraint::comparison(&terms, formula));
        // "A sum of reals is an integer" has no linear literal.
        let is_literal = relation != Relation::Integral || is_over_int(&terms, &constraint.linear);
        prop_assert!(read.is_some() || terms.is_value(formula) || !is_literal);
        let read: Vec<Constraint> = read
            .into_iter()
            .flat_map(|c| [c.clone(), c.clone().lowered(&terms), c.tightened(&terms)])
            .chain([constraint.tightened(&terms)])
            .collect();
        for values in &values {
            let values = assignment(&terms, &vars, values, denominator + 1);
            let expected = is_true(&terms, &constraint, &values);
            prop_assert_eq!(evaluate(&terms, formula, &values), Some(terms.bool(expected)));
            if let Some(c) = Comparison::of(&terms, formula) {
                let side = |t| evaluate(&terms, t, &values).and_then(|v| terms.numeral(v));
                let distance = side(c.sides.0).unwrap() - side(c.sides.1).unwrap() - &c.value;
                let relation = if c.strict { Relation::Below } else { Relation::AtMost };
                let holds = (!c.upper || relation.holds(&distance))
                    && (!c.lower || relation.holds(&-distance));
                prop_assert_eq!(holds, expected);
            }
            for other in &read {
                prop_assert_eq!(is_true(&terms, other, &values), expected, "{:?}", other);
            }
        }
    }

    #[test]
    fn literals_are_written_as_they_were_read(
        coefficients in prop::collection::vec(-4..5_i64, 2),
        constant in -7..8_i64,
        relation in relation(),
        real in any::<bool>(),
    ) {
        let terms = TermStore::new();
        let vars = variables(&terms);
        let chosen = if real { &vars[2..] } else { &vars[..2] };
        let sum = linear(chosen, &coefficients, constant);
        let literal = Constraint::new(sum, relation).formula(&terms);
        if let Some(read) = Constraint::comparison(&terms, literal) {
            prop_assert_eq!(read.formula(&terms), literal);
            if relation != Relation::Differs {
                let convex = Constraint::convex(&terms, literal);
                prop_assert_eq!(convex.map(|c| c.formula(&terms)), Some(literal));
            }
        }
        if let Some(read) = Constraint::congruence(&terms, literal) {
            prop_assert_eq!(read.formula(&terms), literal);
        }
    }

    #[test]
    fn elimination_is_projection(
        rows in prop::collection::vec(
            (prop::collection::vec(-2..3_i64, 4), -4..5_i64, relation()), 0..7
        ),
        points in prop::collection::vec(prop::collection::vec(-3..4_i64, 4), 8),
    ) {
        let convex = |r: &Relation| !matches!(r, Relation::Differs | Relation::Integral);
        let rows: Vec<Constraint<usize>> = rows
            .iter()
            .filter(|r| r.2 != Relation::Integral)
            .map(|(c, k, r)| row(c, *k, *r))
            .collect();
        let result = eliminate(rows.clone(), [0, 1], 60);
        let Some(result) = result else { return Ok(()) };
        for constraint in &result {
            prop_assert!(constraint.linear.monomials.iter().all(|m| m.0 > 1));
        }
        for point in points.iter().map(|p| vector(p)) {
            if rows.iter().all(|r| holds(r, &point)) {
                prop_assert!(result.iter().all(|r| holds(r, &point)), "{:?}", result);
            }
            if !rows.iter().all(|r| convex(&r.relation)) {
                continue;
            }
            // Values of the other columns extend to a solution exactly where the result holds, if
            // there is a solution at all.
            let mut simplex = Simplex::new(4);
            for row in &rows {
                simplex.add(row);
            }
            if simplex.check().is_err() {
                continue;
            }
            for (column, value) in point.iter().enumerate().take(4).skip(2) {
                let mut fixed = Linear::unit(column);
                fixed.constant = -value.clone();
                simplex.add(&Constraint::new(fixed, Relation::Equal));
            }
            let expected = result.iter().all(|r| holds(r, &point));
            prop_assert_eq!(simplex.check().is_ok(), expected, "{:?}", result);
        }
    }

    #[test]
    fn solved_equations_have_the_same_solutions(
        rows in prop::collection::vec((prop::collection::vec(-2..3_i64, 4), -2..3_i64), 1..5),
        point in prop::collection::vec(-3..4_i64, 4),
        kept in 0..4_usize,
    ) {
        let rows: Vec<Linear<usize>> =
            rows.iter().map(|(c, k)| row(c, *k, Relation::Equal).linear).collect();
        let point = vector(&point);
        let zero = |r: &Linear<usize>| r.value(|c| Some(point[c].clone())).unwrap().is_zero();
        let Some(solved) = Solved::new(&rows, |c| c >= kept) else {
            prop_assert!(!rows.iter().all(zero));
            return Ok(());
        };
        prop_assert_eq!(rows.iter().all(zero), solved.rows.iter().all(|r| zero(&r.1)));
        for (pivot, equation) in &solved.rows {
            prop_assert_eq!(equation.coefficient(*pivot), -Rational::one());
            let others = solved.rows.iter().filter(|r| r.0 != *pivot);
            prop_assert!(others.into_iter().all(|r| r.1.coefficient(*pivot).is_zero()));
            let columns = || equation.monomials.iter().map(|m| m.0);
            prop_assert!(*pivot < kept || columns().all(|c| c >= kept));
            prop_assert!(solved.reduce(equation).is_constant());
        }
    }

    #[test]
    fn affine_hulls_are_tight(
        points in prop::collection::vec(prop::collection::vec(-2..3_i64, 3), 1..5),
        factors in prop::collection::vec(-2..3_i64, 5),
        other in prop::collection::vec(-2..3_i64, 3),
    ) {
        let points: Vec<Vec<Rational>> = points.iter().map(|p| vector(p)).collect();
        let hull = affine_hull(&points);
        // An affine combination of the points is in it.
        let mut inside = points[0].clone();
        for (point, factor) in points.iter().zip(&factors) {
            subtract(&mut inside, point, &number(-factor));
            subtract(&mut inside, &points[0], &number(*factor));
        }
        prop_assert!(hull.iter().all(|r| holds(r, &inside)));
        // Any other point is in it, or makes the hull larger.
        let other = vector(&other);
        let more: Vec<Vec<Rational>> = points.iter().cloned().chain([other.clone()]).collect();
        let contained = hull.iter().all(|r| holds(r, &other));
        prop_assert_eq!(contained, affine_hull(&more).len() == hull.len());
    }

    #[test]
    fn inverses_invert(entries in prop::collection::vec(-3..4_i64, 9)) {
        let matrix: Vec<Vec<Rational>> = entries.chunks(3).map(vector).collect();
        let mut echelon = Echelon::new(3);
        let regular = matrix.iter().all(|r| echelon.add(r.clone()).is_ok());
        let Some(inverse) = inverse(matrix.clone()) else {
            prop_assert!(!regular);
            return Ok(());
        };
        for (i, row) in matrix.iter().enumerate() {
            for j in 0..3 {
                let product: Rational = row.iter().zip(&inverse).map(|(a, b)| a * &b[j]).sum();
                prop_assert_eq!(product, number(i64::from(i == j)));
            }
        }
    }
}

#[test]
fn hulls_contain_their_points_and_no_more() {
    let points = [vector(&[1, 2, 7]), vector(&[2, 4, 7]), vector(&[5, 10, 7])];
    let rows = affine_hull(&points);
    assert_eq!(rows.len(), 2);
    assert!(points.iter().all(|p| rows.iter().all(|r| holds(r, p))));
    assert!(rows.iter().any(|r| !holds(r, &vector(&[1, 3, 7]))));
    assert!(rows.iter().any(|r| !holds(r, &vector(&[1, 2, 8]))));
    assert!(affine_hull(&[vector(&[0, 0]), vector(&[1, 0]), vector(&[0, 1])]).is_empty());
    assert_eq!(affine_hull(&[vector(&[3])]).len(), 1);
}

#[test]
fn elimination_keeps_what_has_a_witness() {
    // v <= t, v >= s, v = w: s <= t.
    let rows = vec![
        row(&[1, 0, -1, 0], 0, Relation::AtMost),
        row(&[0, -1, 0, 1], 0, Relation::Below),
        row(&[1, -1, 0, 0], 0, Relation::Equal),
    ];
    let expected = row(&[0, 0, -1, 1], 0, Relation::Below);
    assert_eq!(eliminate(rows, [0, 1], 60), Some(vec![expected]));
    // v <= s, v >= s, v ≠ t: s ≠ t.
    let rows = vec![
        row(&[1, -1, 0], 0, Relation::AtMost),
        row(&[-1, 1, 0], 0, Relation::AtMost),
        row(&[1, 0, -1], 0, Relation::Differs),
    ];
    let expected = row(&[0, 1, -1], 0, Relation::Differs);
    assert_eq!(eliminate(rows, [0], 60), Some(vec![expected]));
    // Too many sums.
    let bounds = |sign: i64| (1..9).map(move |k| row(&[sign, k], 0, Relation::AtMost));
    assert_eq!(
        eliminate(bounds(1).chain(bounds(-1)).collect(), [0], 60),
        None
    );
}

#[test]
fn congruences_are_reduced() {
    let terms = TermStore::new();
    let [x, y, ..] = variables(&terms);
    let modulo = |sum: TermId, m: i64| terms.modulo(sum, terms.int(m));
    let sixth = Rational::new(1.into(), 6.into());
    // 2x + 8y + 4 ≡ 0 (mod 6), and the same with an odd constant.
    let sum = linear(&[x, y], &[2, 8], 4).scaled(&sixth);
    let expected = terms.eq(modulo(terms.add(&[x, y]), 3), terms.int(1));
    assert_eq!(
        Constraint::new(sum, Relation::Integral).formula(&terms),
        expected
    );
    let sum = linear(&[x, y], &[2, 8], 3).scaled(&sixth);
    assert_eq!(
        Constraint::new(sum, Relation::Integral).formula(&terms),
        TermId::FALSE
    );
    // x - y next to zero.
    let sum = linear(&[x, y], &[1, 5], 0).scaled(&sixth);
    let expected = terms.eq(modulo(terms.sub(x, y), 6), terms.int(0));
    assert_eq!(
        Constraint::new(sum, Relation::Integral).formula(&terms),
        expected
    );
    let odd = terms.eq(modulo(x, 2), terms.int(5));
    assert_eq!(Constraint::congruence(&terms, odd), None);
}
