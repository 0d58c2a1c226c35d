//! The difference bound matrix of an octagon and its closure.
//!
//! Invariant: every entry other than [`NONE`] is within [`LIMIT`], so sums of a few entries do not
//! overflow.

/// Absolute value of a bound; larger ones count as no bound, so that sums of a few entries do not
/// overflow.
pub const LIMIT: i64 = 1 << 58;

/// No bound.
pub const NONE: i64 = i64::MAX;

/// Entry `(i, j)`, at `i * size + j`, bounds `v_j - v_i`; `v_2k` is a variable and `v_2k+1` its
/// negation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matrix {
    pub size: usize,
    pub entries: Vec<i64>,
    /// By variable: whether it is an integer.
    pub integral: Vec<bool>,
}

/// A sum of bounds.
pub fn plus(a: i64, b: i64) -> i64 {
    if a == NONE || b == NONE {
        return NONE;
    }
    clamp(i128::from(a) + i128::from(b))
}

/// The bound, or a weaker one that fits the matrix.
pub fn clamp(value: i128) -> i64 {
    match i64::try_from(value) {
        Ok(value) if value <= LIMIT => value.max(-LIMIT),
        Ok(_) => NONE,
        Err(_) if value > 0 => NONE,
        Err(_) => -LIMIT,
    }
}

impl Matrix {
    pub fn new(integral: Vec<bool>) -> Matrix {
        let size = 2 * integral.len();
        let mut entries = vec![NONE; size * size];
        for i in 0..size {
            entries[i * size + i] = 0;
        }
        Matrix {
            size,
            entries,
            integral,
        }
    }

    pub fn get(&self, i: usize, j: usize) -> i64 {
        self.entries[i * self.size + j]
    }

    pub fn lower(&mut self, i: usize, j: usize, bound: i64) -> bool {
        let size = self.size;
        let entry = &mut self.entries[i * size + j];
        if bound >= *entry {
            return false;
        }
        *entry = bound;
        let mirrored = (j ^ 1) * size + (i ^ 1);
        self.entries[mirrored] = bound;
        true
    }

    /// The bound on `v_j - v_i`, rounded if both variables are integers.
    pub fn rounded(&self, i: usize, j: usize, bound: i64, scale: i64) -> i64 {
        if bound == NONE || !(self.integral[i / 2] && self.integral[j / 2]) {
            return bound;
        }
        let unit = if i ^ 1 == j { 2 * scale } else { scale };
        bound.div_euclid(unit) * unit
    }

    /// Shortest paths between all nodes (Floyd and Warshall); false if there is a negative cycle.
    pub fn close(&mut self, scale: i64) -> bool {
        let size = self.size;
        for k in 0..size {
            for i in 0..size {
                let first = self.entries[i * size + k];
                if first == NONE || i == k {
                    continue;
                }
                for j in 0..size {
                    let second = self.entries[k * size + j];
                    if second != NONE {
                        let path = plus(first, second);
                        let entry = &mut self.entries[i * size + j];
                        if path < *entry {
                            *entry = path;
                        }
                    }
                }
            }
        }
        self.strengthen(scale)
    }

    /// Rounds the bounds of single variables and adds their sums as bounds; false for a
    /// contradiction.
    pub fn strengthen(&mut self, scale: i64) -> bool {
        let size = self.size;
        for i in 0..size {
            if self.get(i, i) < 0 {
                return false;
            }
            let bound = self.rounded(i, i ^ 1, self.get(i, i ^ 1), scale);
            self.entries[i * size + (i ^ 1)] = bound;
        }
        for i in 0..size {
            let own = self.get(i, i ^ 1);
            if own == NONE {
                continue;
            }
            if plus(own, self.get(i ^ 1, i)) < 0 {
                return false;
            }
            for j in 0..size {
                let other = self.get(j ^ 1, j);
                if other != NONE && i != j {
                    // Rounded up, which only matters for reals.
                    let half = (own + other + 1).div_euclid(2);
                    let entry = &mut self.entries[i * size + j];
                    *entry = half.min(*entry);
                }
            }
        }
        true
    }

    /// Adds `v_j - v_i <= bound` to a closed matrix; `None` for a contradiction, otherwise whether
    /// the matrix changed.
    pub fn add(&mut self, i: usize, j: usize, bound: i64, scale: i64) -> Option<bool> {
        let bound = self.rounded(i, j, bound, scale);
        if bound >= self.get(i, j) {
            return Some(false);
        }
        let size = self.size;
        let (p, q) = (j ^ 1, i ^ 1);
        // The new edge is i -> j, its mirror p -> q; a shortest path contains each at most once.
        let across = plus(bound, plus(self.get(j, p), bound));
        let back = plus(bound, plus(self.get(q, i), bound));
        let row = |k: usize| self.entries[k * size..(k + 1) * size].iter().copied();
        let rows: Vec<(i64, i64)> = row(j).zip(row(q)).collect();
        for from in 0..size {
            let (to_i, to_p) = (self.get(from, i), self.get(from, p));
            if to_i == NONE && to_p == NONE {
                continue;
            }
            // Paths that end at j, and at q.
            let at_j = plus(to_i, bound).min(plus(to_p, back));
            let at_q = plus(to_p, bound).min(plus(to_i, across));
            for (to, &(from_j, from_q)) in rows.iter().enumerate() {
                let path = plus(at_j, from_j).min(plus(at_q, from_q));
                let entry = &mut self.entries[from * size + to];
                if path < *entry {
                    *entry = path;
                }
            }
        }
        self.strengthen(scale).then_some(true)
    }

    /// Twice the least value of `sign * v`, negated: the bound of its negation.
    pub fn unary(&self, node: usize) -> i64 {
        self.get(node ^ 1, node)
    }
}
