//! Arithmetic and hashes of rational numbers, fast for integers.
//!
//! `num_rational` reduces each result by a gcd, which takes a step for each bit even if one side is
//! 1; these functions do without it for integers.
//!
//! Invariant: the results are those of `num_rational`.

use std::hash::{Hash, Hasher};

use num_traits::{One, Signed};

use super::Rational;

/// Hashes a reduced number by numerator and denominator. (`num_rational` hashes the continued
/// fraction, with a division for each step, since its numbers need not be reduced.)
pub fn hash(number: &Rational, state: &mut impl Hasher) {
    number.numer().hash(state);
    if !number.is_integer() {
        number.denom().hash(state);
    }
}

/// `left + right`.
pub fn sum(left: &Rational, right: &Rational) -> Rational {
    if left.is_integer() && right.is_integer() {
        Rational::from_integer(left.numer() + right.numer())
    } else {
        left + right
    }
}

/// `left - right`.
pub fn difference(left: &Rational, right: &Rational) -> Rational {
    if left.is_integer() && right.is_integer() {
        Rational::from_integer(left.numer() - right.numer())
    } else {
        left - right
    }
}

/// `left * right`.
pub fn product(left: &Rational, right: &Rational) -> Rational {
    if left.is_integer() && right.is_integer() {
        Rational::from_integer(left.numer() * right.numer())
    } else {
        left * right
    }
}

/// `left / right`. Panics if `right` is zero.
pub fn quotient(left: &Rational, right: &Rational) -> Rational {
    if right.is_integer() && right.numer().magnitude().is_one() {
        if right.is_negative() {
            -left
        } else {
            left.clone()
        }
    } else {
        left / right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_have_equal_hashes() {
        let hashed = |number: &Rational| {
            let mut hasher = rustc_hash::FxHasher::default();
            hash(number, &mut hasher);
            hasher.finish()
        };
        let third = Rational::new(1.into(), 3.into());
        let others = [
            Rational::new((-2).into(), (-6).into()),
            &third + &third - &third,
            quotient(&Rational::one(), &Rational::from_integer(3.into())),
        ];
        for other in &others {
            assert_eq!(hashed(other), hashed(&third));
        }
        let one = product(&third, &Rational::from_integer(3.into()));
        assert_eq!(hashed(&one), hashed(&Rational::one()));
        // The hash depends on both the numerator and the denominator.
        assert_ne!(hashed(&third), hashed(&Rational::one()));
        assert_ne!(hashed(&third), hashed(&Rational::new(2.into(), 3.into())));
    }

    #[test]
    fn results_are_those_of_the_library() {
        let bits = Rational::from_integer(num_bigint::BigInt::one() << 256_u32);
        let mut values = vec![bits.clone(), -bits];
        for numerator in [-6, -1, 0, 1, 2, 3] {
            for denominator in [1, 2, 3] {
                values.push(Rational::new(numerator.into(), denominator.into()));
            }
        }
        for a in &values {
            for b in &values {
                assert_eq!(sum(a, b), a + b);
                assert_eq!(difference(a, b), a - b);
                assert_eq!(product(a, b), a * b);
                if b.is_positive() || b.is_negative() {
                    assert_eq!(quotient(a, b), a / b);
                }
            }
        }
    }
}
