//! Bounds of differences of two arguments of a pack (zones; Miné, PADO 2001).
//!
//! The matrix of a pack of `k` arguments has `k + 1` rows and columns; the first stands for zero. The
//! entry of row `i` and column `j` is an upper bound of `x_i - x_j`.
//!
//! Invariant: entries are upper bounds also where a matrix is not closed.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::compile::{Cube, Formula, Local, Program, Relation, Row};
use super::needed::collect;
use super::packs::{Packs, is_difference};
use super::range::{INFINITE, Range, add, upper};

/// Locals that one cube relates, at most.
const MAX_LOCALS: usize = 32;

/// The matrices of a predicate's packs; none if nothing is known.
pub(super) type Zones = Rc<[Rc<[i64]>]>;

/// How one cube relates numbers.
pub(super) struct Plan {
    /// The locals; those of index `i` have row `i + 1`.
    locals: Vec<Local>,
    /// Packs of body atoms that take part: atom, pack, and the index of each argument plus one.
    bodies: Vec<(usize, usize, Box<[usize]>)>,
    rows: Vec<Difference>,
    /// By pack of the head.
    heads: Vec<Head>,
}

/// `x_left - x_right + rest + constant <= 0`, by rows of the matrix.
struct Difference {
    left: usize,
    right: usize,
    rest: Vec<(Local, i64)>,
    constant: i64,
}

enum Head {
    /// The pack of a body atom, which the cube does not change.
    Same(usize, usize),
    /// By argument, the row.
    Project(Box<[usize]>),
    /// Nothing is known.
    Top,
}

/// A pack of the head: the same pack of a body atom, if the cube does not change it, and its locals.
type HeadPack = (Option<(usize, usize)>, Box<[Local]>);

impl Plan {
    pub fn new(cube: &Cube, packs: &Packs) -> Plan {
        let mut touched: FxHashSet<Local> = FxHashSet::default();
        for formula in &cube.formulas {
            collect(formula, &mut touched);
        }
        let starts = (0..).zip(&cube.start);
        touched.extend(starts.filter(|s| *s.1 != Range::ALL).map(|s| s.0));
        let of = |args: &[Local], pack: &[u32]| -> Box<[Local]> {
            pack.iter().map(|&k| args[k as usize]).collect()
        };
        let mut bodies: Vec<(usize, usize, Box<[Local]>)> = Vec::new();
        for (atom, (p, args)) in cube.body.iter().enumerate() {
            for (at, pack) in packs[*p].iter().enumerate() {
                bodies.push((atom, at, of(args, pack)));
            }
        }
        let mut included = Included::default();
        let mut heads: Vec<HeadPack> = Vec::new();
        if let Some((p, args)) = &cube.head {
            for pack in &packs[*p] {
                let locals = of(args, pack);
                let same = bodies.iter().find(|b| b.2 == locals);
                let is_twice = |at: usize| locals[..at].contains(&locals[at]);
                let changes = |at: usize| touched.contains(&locals[at]) || is_twice(at);
                let same = same.filter(|_| !(0..locals.len()).any(changes));
                if same.is_none() {
                    locals.iter().for_each(|&l| included.add(l));
                }
                heads.push((same.map(|s| (s.0, s.1)), locals));
            }
        }
        let in_body = |l: &Local| bodies.iter().any(|b| b.2.contains(l));
        let rows: Vec<&Row> = cube.formulas.iter().filter_map(row).collect();
        for row in rows.iter().filter(|r| is_difference(r)) {
            if row.terms.iter().all(|t| in_body(&t.0)) {
                row.terms.iter().for_each(|t| included.add(t.0));
            }
        }
        included.grow(&bodies, &rows);
        included.plan(bodies, &rows, heads)
    }

    /// Whether the cube relates no numbers.
    fn is_trivial(&self) -> bool {
        self.locals.is_empty()
    }
}

fn row(formula: &Formula) -> Option<&Row> {
    match formula {
        Formula::Row(row) if row.relation != Relation::Different => Some(row),
        _ => None,
    }
}

/// Locals in the order in which they are added.
#[derive(Default)]
struct Included {
    locals: Vec<Local>,
    known: FxHashSet<Local>,
}

impl Included {
    fn add(&mut self, local: Local) {
        if self.locals.len() < MAX_LOCALS && self.known.insert(local) {
            self.locals.push(local);
        }
    }

    /// Adds what is related to the locals by packs of the body and by rows.
    fn grow(&mut self, bodies: &[(usize, usize, Box<[Local]>)], rows: &[&Row]) {
        loop {
            let before = self.locals.len();
            for (_, _, locals) in bodies {
                if locals.iter().any(|l| self.known.contains(l)) {
                    locals.iter().for_each(|&l| self.add(l));
                }
            }
            for row in rows.iter().filter(|r| is_difference(r)) {
                if row.terms.iter().any(|t| self.known.contains(&t.0)) {
                    row.terms.iter().for_each(|t| self.add(t.0));
                }
            }
            if self.locals.len() == before {
                break;
            }
        }
    }

    fn index(&self, local: Local) -> Option<usize> {
        let at = self.locals.iter().position(|&l| l == local)?;
        Some(at + 1)
    }

    fn indexes(&self, locals: &[Local]) -> Option<Box<[usize]>> {
        locals.iter().map(|&l| self.index(l)).collect()
    }

    fn plan(
        self,
        bodies: Vec<(usize, usize, Box<[Local]>)>,
        rows: &[&Row],
        heads: Vec<HeadPack>,
    ) -> Plan {
        let bodies = bodies.into_iter();
        let bodies = bodies.filter_map(|(a, pack, locals)| Some((a, pack, self.indexes(&locals)?)));
        let mut differences = Vec::new();
        for row in rows {
            self.differences(row, &mut differences);
        }
        let heads = heads.into_iter().map(|(same, locals)| match same {
            Some((atom, pack)) => Head::Same(atom, pack),
            None => self.indexes(&locals).map_or(Head::Top, Head::Project),
        });
        Plan {
            bodies: bodies.collect(),
            heads: heads.collect(),
            rows: differences,
            locals: self.locals,
        }
    }

    /// Adds the bounds of a difference of two included locals that a row says.
    fn differences(&self, row: &Row, found: &mut Vec<Difference>) {
        let is_included = |t: &&(Local, i64)| self.known.contains(&t.0);
        let own: Vec<(Local, i64)> = row.terms.iter().filter(is_included).copied().collect();
        let [(a, sign), (b, other)] = own[..] else {
            return;
        };
        if sign.abs() != 1 || sign != -other {
            return;
        }
        let rest = row.terms.iter().filter(|t| !self.known.contains(&t.0));
        let rest: Vec<(Local, i64)> = rest.copied().collect();
        let (left, right) = if sign == 1 { (a, b) } else { (b, a) };
        let (Some(left), Some(right)) = (self.index(left), self.index(right)) else {
            return;
        };
        if row.relation == Relation::Equal {
            found.push(Difference {
                left: right,
                right: left,
                rest: rest.iter().map(|&(l, k)| (l, -k)).collect(),
                constant: -row.constant,
            });
        }
        found.push(Difference {
            left,
            right,
            rest,
            constant: row.constant,
        });
    }
}

/// The plans of all cubes of a program.
pub(super) fn plans(program: &Program, packs: &Packs) -> Vec<Plan> {
    program.cubes.iter().map(|c| Plan::new(c, packs)).collect()
}

/// The matrices of the head's packs for ranges of the locals and matrices of the bodies; `None` if
/// there is no solution. `matrix` is memory to work in.
pub(super) fn post(
    plan: &Plan,
    ranges: &[Range],
    bodies: &[&Zones],
    matrix: &mut Vec<i64>,
    steps: &mut u64,
) -> Option<Zones> {
    let size = plan.locals.len() + 1;
    if !plan.is_trivial() {
        fill(plan, ranges, bodies, matrix);
        *steps += (size * size * size) as u64 / 4;
        if !close(matrix, size) {
            return None;
        }
    }
    let heads = plan.heads.iter().map(|head| match head {
        Head::Same(atom, pack) => bodies[*atom].get(*pack).cloned().unwrap_or_default(),
        Head::Project(rows) => {
            let index = |i: usize| if i == 0 { 0 } else { rows[i - 1] };
            let part = rows.len() + 1;
            let entries = (0..part * part).map(|at| (index(at / part), index(at % part)));
            entries.map(|(i, j)| matrix[i * size + j]).collect()
        }
        Head::Top => Rc::default(),
    });
    Some(heads.collect())
}

fn fill(plan: &Plan, ranges: &[Range], bodies: &[&Zones], matrix: &mut Vec<i64>) {
    let size = plan.locals.len() + 1;
    matrix.clear();
    matrix.resize(size * size, INFINITE);
    for at in 0..size {
        matrix[at * size + at] = 0;
    }
    for (at, &local) in (1..).zip(&plan.locals) {
        let range = ranges[local as usize];
        matrix[at * size] = range.high;
        matrix[at] = -range.low;
    }
    for (atom, pack, rows) in &plan.bodies {
        let Some(zone) = bodies[*atom].get(*pack).filter(|z| !z.is_empty()) else {
            continue;
        };
        let index = |i: usize| if i == 0 { 0 } else { rows[i - 1] };
        let part = rows.len() + 1;
        for (at, &bound) in zone.iter().enumerate() {
            let entry = &mut matrix[index(at / part) * size + index(at % part)];
            *entry = (*entry).min(bound);
        }
    }
    for row in &plan.rows {
        if let Some(bound) = bound(row, ranges) {
            let entry = &mut matrix[row.left * size + row.right];
            *entry = (*entry).min(bound);
        }
    }
}

/// The upper bound of the difference that a row gives.
fn bound(row: &Difference, ranges: &[Range]) -> Option<i64> {
    let mut bound = -i128::from(row.constant);
    for &(local, factor) in &row.rest {
        let range = ranges[local as usize];
        let least = if factor > 0 { range.low } else { range.high };
        if least.abs() >= INFINITE {
            return None;
        }
        bound -= i128::from(least) * i128::from(factor);
    }
    Some(upper(bound))
}

/// Makes each entry the least sum of entries of a path; false if there is a negative cycle.
fn close(matrix: &mut [i64], size: usize) -> bool {
    for k in 0..size {
        for i in 0..size {
            let first = matrix[i * size + k];
            if first >= INFINITE {
                continue;
            }
            for j in 0..size {
                let sum = add(first, matrix[k * size + j]);
                let entry = &mut matrix[i * size + j];
                *entry = (*entry).min(sum);
            }
        }
    }
    (0..size).all(|at| matrix[at * size + at] >= 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_finds_negative_cycles_and_paths() {
        const N: i64 = INFINITE;
        let mut matrix = vec![0, N, N, N, 0, 3, 5, N, 0];
        assert!(close(&mut matrix, 3));
        assert_eq!(matrix, [0, N, N, 8, 0, 3, 5, N, 0]);
        let mut cycle = vec![0, -1, 0, 0];
        assert!(!close(&mut cycle, 2));
        let mut large = vec![0, N - 1, N - 1, 0];
        assert!(close(&mut large, 2));
    }
}
