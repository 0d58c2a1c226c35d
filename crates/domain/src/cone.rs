//! Cones given by inequalities and by generators, and their conversion.
//!
//! Invariant: generators are integer vectors without a common factor.

use num_integer::Integer;
use num_traits::{Signed, Zero};

use alphorn_term::BigInt;

/// Limits of the conversion.
struct Limits {
    /// Rays in between; with more the conversion is given up.
    max_rays: usize,
    /// Constraints, as many as the bits of a set of them; with more there is no conversion.
    max_constraints: usize,
}

const LIMITS: Limits = Limits {
    max_rays: 160,
    max_constraints: 128,
};

pub(super) type Vector = Vec<BigInt>;

/// The sums of the rays with non-negative factors and of the lines with any factors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cone {
    pub rays: Vec<Vector>,
    pub lines: Vec<Vector>,
}

/// The cone of all `x` with `r · x >= 0` for the rays of a cone and `l · x = 0` for its lines: the
/// dual, in an irredundant form. `None` if it gets too large, or if `late` returns true; `late` is
/// called with the number of pairs of generators that come next.
///
/// The double description method (Motzkin et al. 1953; Chernikova 1968) with adjacency by sets of
/// saturated constraints (Le Verge 1992).
pub(super) fn dual(cone: &Cone, width: usize, late: impl Fn(usize) -> bool) -> Option<Cone> {
    if cone.rays.len() > LIMITS.max_constraints {
        return None;
    }
    let mut lines: Vec<Vector> = (0..width)
        .map(|i| {
            (0..width)
                .map(|j| BigInt::from(i32::from(i == j)))
                .collect()
        })
        .collect();
    // Rays with the set of inequalities that they satisfy with equality.
    let mut rays: Vec<(Vector, u128)> = Vec::new();
    for line in &cone.lines {
        if let Some(pivot) = take_crossing(&mut lines, line) {
            clear(&mut lines, &mut rays, line, &pivot);
        }
        // Equations come first, so there are no rays yet.
    }
    for (number, constraint) in cone.rays.iter().enumerate() {
        let bit = 1u128 << number;
        if let Some(mut pivot) = take_crossing(&mut lines, constraint) {
            if product(constraint, &pivot).is_negative() {
                pivot.iter_mut().for_each(|x| *x = -&*x);
            }
            clear(&mut lines, &mut rays, constraint, &pivot);
            for ray in &mut rays {
                ray.1 |= bit;
            }
            // The line satisfied all earlier constraints with equality.
            rays.push((pivot, bit - 1));
            continue;
        }
        let mut above = Vec::new();
        let mut on = Vec::new();
        let mut below = Vec::new();
        for (ray, set) in rays {
            let value = product(constraint, &ray);
            if value.is_zero() {
                on.push((ray, set | bit));
            } else if value.is_positive() {
                above.push((ray, set, value));
            } else {
                below.push((ray, set, value));
            }
        }
        let mut next = on.clone();
        for (p, ps, pv) in &above {
            if late(below.len()) {
                return None;
            }
            for (n, ns, nv) in &below {
                let common = ps & ns;
                let contains = |set: u128| common & !set == 0;
                let others = on.iter().filter(|o| contains(o.1)).count()
                    + above.iter().filter(|o| contains(o.1)).count()
                    + below.iter().filter(|o| contains(o.1)).count();
                // The two rays themselves, and no other one.
                if others == 2 {
                    let mut ray: Vector = p.iter().zip(n).map(|(a, b)| a * -nv + b * pv).collect();
                    shorten(&mut ray);
                    next.push((ray, common | bit));
                }
            }
        }
        next.extend(above.into_iter().map(|(ray, set, _)| (ray, set)));
        if next.len() > LIMITS.max_rays {
            return None;
        }
        rays = next;
    }
    Some(Cone {
        rays: rays.into_iter().map(|r| r.0).collect(),
        lines,
    })
}

/// Removes a line that is not orthogonal to the vector.
fn take_crossing(lines: &mut Vec<Vector>, vector: &Vector) -> Option<Vector> {
    let at = lines.iter().position(|l| !product(vector, l).is_zero())?;
    Some(lines.swap_remove(at))
}

/// Makes lines and rays orthogonal to the vector by adding multiples of the pivot, which is not;
/// rays keep positive multiples of themselves.
fn clear(lines: &mut [Vector], rays: &mut [(Vector, u128)], vector: &Vector, pivot: &Vector) {
    let own = product(vector, pivot);
    for line in lines.iter_mut().chain(rays.iter_mut().map(|r| &mut r.0)) {
        let value = product(vector, line);
        if value.is_zero() {
            continue;
        }
        // `line * |own| - pivot * value * sign(own)`
        let (scale, factor) = (own.abs(), value * own.signum());
        for (x, p) in line.iter_mut().zip(pivot) {
            *x = &*x * &scale - p * &factor;
        }
        shorten(line);
    }
}

fn product(a: &Vector, b: &Vector) -> BigInt {
    let mut sum = BigInt::zero();
    for (x, y) in a.iter().zip(b) {
        if !x.is_zero() && !y.is_zero() {
            sum += x * y;
        }
    }
    sum
}

/// Divides by the common factor.
pub(super) fn shorten(vector: &mut Vector) {
    let mut gcd = BigInt::zero();
    for x in vector.iter() {
        gcd = gcd.gcd(x);
    }
    if !gcd.is_zero() && gcd != BigInt::from(1) {
        vector.iter_mut().for_each(|x| *x = &*x / &gcd);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(entries: &[i64]) -> Vector {
        entries.iter().map(|&x| BigInt::from(x)).collect()
    }

    fn sorted(mut vectors: Vec<Vector>) -> Vec<Vector> {
        vectors.sort();
        vectors
    }

    #[test]
    fn a_square_has_four_corners() {
        // 0 <= x <= 1, 0 <= y <= 1, with a redundant constraint; the first column is one.
        let square = Cone {
            rays: [
                [0, 1, 0],
                [1, -1, 0],
                [0, 0, 1],
                [1, 0, -1],
                [3, -1, -1],
                [1, 0, 0],
            ]
            .iter()
            .map(|r| vector(r))
            .collect(),
            lines: Vec::new(),
        };
        let corners = dual(&square, 3, |_| false).unwrap();
        assert!(corners.lines.is_empty());
        let expected = [[1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]];
        assert_eq!(
            sorted(corners.rays.clone()),
            expected.map(|r| vector(&r)).to_vec()
        );
        let back = dual(&corners, 3, |_| false).unwrap();
        assert_eq!(back.rays.len(), 4);
        assert_eq!(dual(&back, 3, |_| false).unwrap().rays.len(), 4);
    }

    #[test]
    fn lines_and_equations() {
        // x = y, z free, x >= 2.
        let cone = Cone {
            rays: vec![vector(&[-2, 1, 0, 0]), vector(&[1, 0, 0, 0])],
            lines: vec![vector(&[0, 1, -1, 0])],
        };
        let generators = dual(&cone, 4, |_| false).unwrap();
        assert_eq!(generators.lines, vec![vector(&[0, 0, 0, 1])]);
        let expected = vec![vector(&[0, 1, 1, 0]), vector(&[1, 2, 2, 0])];
        assert_eq!(sorted(generators.rays.clone()), expected);
        let back = dual(&generators, 4, |_| false).unwrap();
        assert_eq!(back.lines.len(), 1);
        assert_eq!(back.rays.len(), 2);
    }
}
