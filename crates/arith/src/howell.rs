//! Matrices over the integers modulo 2^64 in Howell form, an echelon form for rings with zero
//! divisors.
//!
//! Invariant (Howell property): a combination of the rows that is zero in the first `k` columns is a
//! combination of those rows that are zero there. So these rows are the projection of all rows to
//! the other columns.

/// Rows in Howell form (Howell, Linear and Multilinear Algebra 1986; modulo powers of two Elder et
/// al., TOPLAS 2014). The leading entry of each row is a power of two, no two rows have theirs in
/// one column, and the entries above it are smaller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Howell {
    /// Rows with the column of their leading entry, ascending.
    rows: Vec<(usize, Vec<u64>)>,
}

/// `row -= factor * other`.
fn subtract(row: &mut [u64], other: &[u64], factor: u64) {
    for (a, b) in row.iter_mut().zip(other) {
        *a = a.wrapping_sub(b.wrapping_mul(factor));
    }
}

impl Howell {
    /// The inverse of an odd number modulo 2^64, by Newton's iteration: each step doubles the number
    /// of correct bits.
    pub fn odd_inverse(odd: u64) -> u64 {
        let mut inverse = odd;
        for _ in 0..5 {
            inverse = inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse)));
        }
        inverse
    }

    /// The Howell form of rows with `width` columns.
    pub fn new(mut open: Vec<Vec<u64>>, width: usize) -> Howell {
        let mut rows: Vec<(usize, Vec<u64>)> = Vec::new();
        for column in 0..width {
            let (mut with, without): (Vec<_>, Vec<_>) =
                open.into_iter().partition(|row| row[column] != 0);
            open = without;
            let least = (0..with.len()).min_by_key(|&i| with[i][column].trailing_zeros());
            let Some(mut pivot) = least.map(|i| with.swap_remove(i)) else {
                continue;
            };
            // Multiplication by a unit makes the leading entry a power of two, which divides the
            // entries of the other rows.
            let power = pivot[column].trailing_zeros();
            let unit = Howell::odd_inverse(pivot[column] >> power);
            pivot.iter_mut().for_each(|a| *a = a.wrapping_mul(unit));
            for mut row in with {
                let factor = row[column] >> power;
                subtract(&mut row, &pivot, factor);
                open.push(row);
            }
            if power > 0 {
                // The multiple with zero in this column.
                open.push(pivot.iter().map(|a| a << (64 - power)).collect());
            }
            open.retain(|row| row.iter().any(|a| *a != 0));
            rows.push((column, pivot));
        }
        for i in 0..rows.len() {
            let (until, later) = rows.split_at_mut(i + 1);
            let row = &mut until[i].1;
            for (column, pivot) in later {
                let factor = row[*column] >> pivot[*column].trailing_zeros();
                subtract(row, pivot, factor);
            }
        }
        Howell { rows }
    }

    /// The rows with the column of their leading entry, ascending.
    pub fn rows(&self) -> &[(usize, Vec<u64>)] {
        &self.rows
    }

    /// Reduces `row` by the rows: two rows whose difference is a combination of the rows get the
    /// same remainder.
    pub fn reduce(&self, row: &mut [u64]) {
        for (column, pivot) in &self.rows {
            let factor = row[*column] >> pivot[*column].trailing_zeros();
            subtract(row, pivot, factor);
        }
    }

    /// Whether `row` is a combination of the rows.
    pub fn spans(&self, row: &[u64]) -> bool {
        let mut rest = row.to_vec();
        self.reduce(&mut rest);
        rest.iter().all(|a| *a == 0)
    }

    /// The intersection of both spans, for rows with `width` columns (Zassenhaus' algorithm).
    pub fn intersection(&self, other: &Howell, width: usize) -> Howell {
        let twice = |row: &[u64]| [row, row].concat();
        let once = |row: &[u64]| [row, &vec![0; width]].concat();
        let own = self.rows.iter().map(|r| twice(&r.1));
        let rows = own.chain(other.rows.iter().map(|r| once(&r.1))).collect();
        let both = Howell::new(rows, 2 * width).rows.into_iter();
        let shared = both.filter(|(column, _)| *column >= width);
        Howell {
            rows: shared
                .map(|(column, mut row)| (column - width, row.split_off(width)))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alphorn_term::Random;

    /// Rows modulo 2^64 whose entries are multiples of 2^61, which are eight values.
    fn small(random: &mut Random, rows: usize, width: usize) -> Vec<Vec<u64>> {
        let mut entry = || (random.below(8) as u64) << 61;
        let mut row = || (0..width).map(|_| entry()).collect();
        (0..rows).map(|_| row()).collect()
    }

    fn dot(row: &[u64], at: &[u64]) -> u64 {
        let products = row.iter().zip(at).map(|(a, b)| (a >> 61) * b);
        products.sum::<u64>() % 8
    }

    /// All vectors of three values below eight.
    fn vectors() -> impl Iterator<Item = [u64; 3]> {
        (0..512).map(|n| [n & 7, n >> 3 & 7, n >> 6])
    }

    fn solutions(rows: &[Vec<u64>]) -> Vec<[u64; 3]> {
        let all = |v: &[u64; 3]| rows.iter().all(|row| dot(row, v) == 0);
        vectors().filter(all).collect()
    }

    fn plain(form: &Howell) -> Vec<Vec<u64>> {
        form.rows().iter().map(|r| r.1.clone()).collect()
    }

    /// The form has the solutions of the rows and spans exactly the rows that hold in all of them;
    /// its rows over the last columns are the projection; equal solutions have equal forms.
    #[test]
    fn forms_are_exact_and_canonical() {
        let mut forms: std::collections::HashMap<Vec<[u64; 3]>, Howell> = Default::default();
        for seed in 0..300 {
            let mut random = Random::new(seed);
            let count = random.below(4);
            let rows = small(&mut random, count, 3);
            let form = Howell::new(rows.clone(), 3);
            let expected = solutions(&rows);
            assert_eq!(solutions(&plain(&form)), expected);
            for row in vectors() {
                let row: Vec<u64> = row.iter().map(|a| a << 61).collect();
                let holds = expected.iter().all(|v| dot(&row, v) == 0);
                assert_eq!(form.spans(&row), holds, "seed {seed}: {row:x?}");
            }
            for from in 1..3 {
                let late = form.rows().iter().filter(|r| r.0 >= from);
                let late: Vec<Vec<u64>> = late.map(|r| r.1.clone()).collect();
                let mut seen: Vec<Vec<u64>> = expected.iter().map(|v| v[from..].to_vec()).collect();
                seen.sort_unstable();
                seen.dedup();
                let mut left: Vec<Vec<u64>> = solutions(&late)
                    .iter()
                    .map(|v| v[from..].to_vec())
                    .collect();
                left.sort_unstable();
                left.dedup();
                assert_eq!(left, seen, "seed {seed}");
            }
            let known = forms.entry(expected).or_insert_with(|| form.clone());
            assert_eq!(*known, form);
        }
        assert!(forms.len() > 100);
    }

    /// An intersection spans exactly the rows that both span.
    #[test]
    fn intersections_are_exact() {
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let [a, b] = [(); 2].map(|()| small(&mut random, 2, 3));
            let [left, right] = [&a, &b].map(|rows| Howell::new(rows.clone(), 3));
            let both = left.intersection(&right, 3);
            for row in vectors() {
                let row: Vec<u64> = row.iter().map(|a| a << 61).collect();
                let shared = left.spans(&row) && right.spans(&row);
                assert_eq!(both.spans(&row), shared, "seed {seed}");
            }
        }
    }

    #[test]
    fn odd_numbers_have_inverses() {
        for odd in [1, 3, 5, 0xdead_beef, u64::MAX, 0x8000_0000_0000_0001] {
            assert_eq!(Howell::odd_inverse(odd).wrapping_mul(odd), 1);
        }
    }
}
