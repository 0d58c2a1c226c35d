//! Linear equations between the arguments of a pack (Karr, Acta Informatica 1976).
//!
//! An equation of a pack of `k` arguments is a list of `k + 1` integers: coefficients and a constant,
//! whose sum is zero. A pack has them in reduced echelon form.
//!
//! Invariant: what overflows is left out, so equations are only lost.

use std::rc::Rc;

use num_integer::Integer;
use rustc_hash::FxHashSet;

use super::compile::{Cube, Formula, Local, Program, Relation, Row};
use super::packs::Packs;
use super::propagate::narrow;
use super::range::Range;

/// Locals that one cube relates, at most.
const MAX_LOCALS: usize = 32;
/// Coefficients are below this in absolute value.
const MAX_COEFFICIENT: i128 = 1 << 60;

/// Coefficients, then the constant.
pub(super) type Equation = Box<[i64]>;

/// The equations of a predicate's packs; none if nothing is known.
pub(super) type Equations = Rc<[Rc<[Equation]>]>;

/// How one cube relates numbers.
pub(super) struct Plan {
    locals: Vec<Local>,
    /// The number of columns: the locals, and further ones that are equal to some of them.
    width: usize,
    /// Packs of body atoms that take part: atom, pack, and the index of each argument.
    bodies: Vec<(usize, usize, Box<[usize]>)>,
    /// Equations between the locals.
    rows: Vec<Vec<i128>>,
    /// By pack of the head.
    heads: Vec<Head>,
    /// For queries, the other rows over the locals.
    conditions: Vec<Row>,
}

enum Head {
    /// The pack of a body atom, which the cube does not change.
    Same(usize, usize),
    /// By argument, the index.
    Project(Box<[usize]>),
    /// Nothing is known.
    Top,
}

/// A pack of a body atom with its locals.
type Pack = (usize, usize, Box<[Local]>);

/// A pack of the head: the same pack of a body atom, if the cube does not change it, and its locals.
type HeadPack = (Option<(usize, usize)>, Box<[Local]>);

impl Plan {
    pub fn new(cube: &Cube, packs: &Packs) -> Plan {
        let rows: Vec<&Row> = cube.formulas.iter().filter_map(row).collect();
        let equations = || rows.iter().filter(|r| r.relation == Relation::Equal);
        let mut touched: FxHashSet<Local> = FxHashSet::default();
        touched.extend(equations().flat_map(|r| r.terms.iter().map(|t| t.0)));
        let starts = (0..).zip(&cube.start);
        touched.extend(starts.filter(|s| s.1.fixed().is_some()).map(|s| s.0));
        let of = |args: &[Local], pack: &[u32]| -> Box<[Local]> {
            pack.iter().map(|&k| args[k as usize]).collect()
        };
        let mut bodies: Vec<Pack> = Vec::new();
        for (atom, (p, args)) in cube.body.iter().enumerate() {
            for (at, pack) in packs[*p].iter().enumerate() {
                bodies.push((atom, at, of(args, pack)));
            }
        }
        let mut locals: Vec<Local> = Vec::new();
        let mut heads: Vec<HeadPack> = Vec::new();
        if let Some((p, args)) = &cube.head {
            for pack in &packs[*p] {
                let own = of(args, pack);
                let same = bodies.iter().find(|b| b.2 == own);
                let is_twice = |at: usize| own[..at].contains(&own[at]);
                let changes = |at: usize| touched.contains(&own[at]) || is_twice(at);
                let same = same.filter(|_| !(0..own.len()).any(changes));
                if same.is_none() {
                    include(&mut locals, own.iter().copied());
                }
                heads.push((same.map(|s| (s.0, s.1)), own));
            }
        } else {
            include(
                &mut locals,
                rows.iter().flat_map(|r| r.terms.iter().map(|t| t.0)),
            );
        }
        grow(
            &mut locals,
            &bodies,
            &equations().copied().collect::<Vec<_>>(),
        );
        finish(cube, locals, bodies, &rows, heads)
    }
}

fn row(formula: &Formula) -> Option<&Row> {
    match formula {
        Formula::Row(row) => Some(row),
        _ => None,
    }
}

fn include(locals: &mut Vec<Local>, more: impl Iterator<Item = Local>) {
    for local in more {
        if locals.len() < MAX_LOCALS && !locals.contains(&local) {
            locals.push(local);
        }
    }
}

/// Adds what is related to the locals by packs of the body and by equations.
fn grow(locals: &mut Vec<Local>, bodies: &[Pack], equations: &[&Row]) {
    loop {
        let before = locals.len();
        for (_, _, own) in bodies {
            if own.iter().any(|l| locals.contains(l)) {
                include(locals, own.iter().copied());
            }
        }
        for row in equations {
            if row.terms.iter().any(|t| locals.contains(&t.0)) {
                include(locals, row.terms.iter().map(|t| t.0));
            }
        }
        if locals.len() == before {
            break;
        }
    }
}

fn finish(
    cube: &Cube,
    locals: Vec<Local>,
    bodies: Vec<Pack>,
    rows: &[&Row],
    heads: Vec<HeadPack>,
) -> Plan {
    let index = |local: &Local| locals.iter().position(|l| l == local);
    let indexes = |own: &[Local]| own.iter().map(index).collect::<Option<Box<[usize]>>>();
    let bodies = bodies.into_iter();
    let bodies = bodies.filter_map(|(atom, pack, own)| Some((atom, pack, indexes(&own)?)));
    // An argument that has the local of an earlier one has a column of its own.
    let mut twins: Vec<usize> = Vec::new();
    let mut columns = |own: &[Local]| {
        let mut found = indexes(own)?;
        for at in 1..found.len() {
            if found[..at].contains(&found[at]) {
                twins.push(found[at]);
                found[at] = locals.len() + twins.len() - 1;
            }
        }
        Some(found)
    };
    let heads = heads.into_iter().map(|(same, own)| match same {
        Some((atom, pack)) => Head::Same(atom, pack),
        None => columns(&own).map_or(Head::Top, Head::Project),
    });
    let (bodies, heads) = (bodies.collect(), heads.collect());
    let width = locals.len() + twins.len();
    let mut equations = Vec::new();
    for (at, &of) in twins.iter().enumerate() {
        let mut row = vec![0i128; width + 1];
        (row[of], row[locals.len() + at]) = (1, -1);
        equations.push(row);
    }
    let mut conditions = Vec::new();
    for row in rows {
        let mut dense = vec![0i128; width + 1];
        let all = row.terms.iter().all(|(local, factor)| {
            let at = index(local);
            if let Some(at) = at {
                dense[at] = i128::from(*factor);
            }
            at.is_some()
        });
        if !all {
            continue;
        }
        dense[width] = i128::from(row.constant);
        match row.relation {
            Relation::Equal => equations.push(dense),
            _ if cube.head.is_none() => conditions.push((*row).clone()),
            _ => {}
        }
    }
    Plan {
        bodies,
        rows: equations,
        heads,
        conditions,
        locals,
        width,
    }
}

/// The plans of all cubes of a program.
pub(super) fn plans(program: &Program, packs: &Packs) -> Vec<Plan> {
    program.cubes.iter().map(|c| Plan::new(c, packs)).collect()
}

/// The equations of the head's packs for ranges of the locals and equations of the bodies; `None` if
/// there is no solution.
pub(super) fn post(
    plan: &Plan,
    cube: &Cube,
    ranges: &[Range],
    bodies: &[&Equations],
    steps: &mut u64,
) -> Option<Equations> {
    let rows = match plan.locals.is_empty() {
        true => Vec::new(),
        false => gather(plan, ranges, bodies),
    };
    let width = plan.width;
    *steps += (rows.len() * rows.len() * width) as u64 / 2;
    if cube.head.is_none() {
        let order: Vec<usize> = (0..width).collect();
        let solved = solve(rows, &order)?;
        return may_hold(plan, cube, ranges, &solved, steps).then(Equations::default);
    }
    let mut found = Vec::with_capacity(plan.heads.len());
    for head in &plan.heads {
        found.push(match head {
            Head::Same(atom, pack) => bodies[*atom].get(*pack).cloned().unwrap_or_default(),
            Head::Project(own) => project(&rows, width, own)?,
            Head::Top => Rc::default(),
        });
    }
    Some(found.into())
}

/// All equations between the locals.
fn gather(plan: &Plan, ranges: &[Range], bodies: &[&Equations]) -> Vec<Vec<i128>> {
    let width = plan.width;
    let mut rows = plan.rows.clone();
    for (at, &local) in plan.locals.iter().enumerate() {
        if let Some(value) = ranges[local as usize].fixed() {
            let mut row = vec![0; width + 1];
            row[at] = 1;
            row[width] = -i128::from(value);
            rows.push(row);
        }
    }
    for (atom, pack, indexes) in &plan.bodies {
        let known = bodies[*atom].get(*pack);
        for equation in known.into_iter().flat_map(|e| e.iter()) {
            let mut row = vec![0; width + 1];
            for (&at, &factor) in indexes.iter().zip(equation.iter()) {
                row[at] += i128::from(factor);
            }
            row[width] = i128::from(equation[indexes.len()]);
            rows.push(row);
        }
    }
    rows
}

/// The equations over some columns that follow; `None` if there is no solution.
fn project(rows: &[Vec<i128>], width: usize, own: &[usize]) -> Option<Rc<[Equation]>> {
    let others = (0..width).filter(|at| !own.contains(at));
    let order: Vec<usize> = others.chain(own.iter().copied()).collect();
    let solved = solve(rows.to_vec(), &order)?;
    let inside = solved.into_iter().filter(|(pivot, _)| own.contains(pivot));
    let picked = inside.filter_map(|(_, row)| {
        let columns = own.iter().chain([&width]);
        columns.map(|&c| i64::try_from(row[c]).ok()).collect()
    });
    let mut picked: Vec<Equation> = picked.collect();
    picked.sort_unstable_by(|a, b| b.cmp(a));
    Some(picked.into())
}

/// Whether the conditions of a query may hold.
fn may_hold(
    plan: &Plan,
    cube: &Cube,
    ranges: &[Range],
    solved: &[(usize, Vec<i128>)],
    steps: &mut u64,
) -> bool {
    let mut reduced: Vec<Formula> = Vec::new();
    let width = plan.width;
    for condition in &plan.conditions {
        let mut dense = vec![0i128; width + 1];
        for (local, factor) in &condition.terms {
            if let Some(at) = plan.locals.iter().position(|l| l == local) {
                dense[at] = i128::from(*factor);
            }
        }
        dense[width] = i128::from(condition.constant);
        let mut rows = solved.iter();
        if !rows.all(|(pivot, row)| cancel(&mut dense, row, *pivot).is_some()) {
            continue;
        }
        let constant = i64::try_from(dense[width]);
        let (Some(terms), Ok(constant)) = (sparse(&plan.locals, &dense[..width]), constant) else {
            continue;
        };
        let row = Row {
            terms,
            constant,
            relation: condition.relation,
        };
        if !row.terms.is_empty() {
            reduced.push(Formula::Row(row));
        } else if !row.holds_for(0) {
            return false;
        }
    }
    let mut copy = ranges.to_vec();
    narrow(&mut copy, &cube.kinds, &reduced, steps)
}

fn sparse(locals: &[Local], dense: &[i128]) -> Option<Box<[(Local, i64)]>> {
    let terms = locals.iter().zip(dense).filter(|t| *t.1 != 0);
    let terms = terms.map(|(&l, &k)| Some((l, i64::try_from(k).ok()?)));
    let mut terms: Vec<(Local, i64)> = terms.collect::<Option<_>>()?;
    terms.sort_unstable_by_key(|t| t.0);
    Some(terms.into())
}

/// Adds a multiple of `by` to a positive multiple of `row` such that column `pivot` becomes zero;
/// `None` if that overflows.
fn cancel(row: &mut [i128], by: &[i128], pivot: usize) -> Option<()> {
    let (own, other) = (row[pivot], by[pivot]);
    if own == 0 {
        return Some(());
    }
    let gcd = own.gcd(&other);
    let (mut up, mut down) = (other / gcd, own / gcd);
    if up < 0 {
        (up, down) = (-up, -down);
    }
    let mut common = 0i128;
    for (entry, &other) in row.iter_mut().zip(by) {
        *entry = *entry * up - other * down;
        common = common.gcd(entry);
    }
    if common > 1 {
        row.iter_mut().for_each(|entry| *entry /= common);
    }
    row.iter().all(|e| e.abs() < MAX_COEFFICIENT).then_some(())
}

/// Gauss-Jordan elimination with pivots in the order of the columns: rows with their pivots, in which
/// no other row has an entry. `None` if there is no solution.
fn solve(mut rows: Vec<Vec<i128>>, order: &[usize]) -> Option<Vec<(usize, Vec<i128>)>> {
    let mut solved: Vec<(usize, Vec<i128>)> = Vec::new();
    for &column in order {
        // The row with the fewest entries keeps numbers small.
        let with = rows.iter().enumerate().filter(|(_, row)| row[column] != 0);
        let entries = |row: &[i128]| row.iter().filter(|e| **e != 0).count();
        let Some((at, _)) = with.min_by_key(|(_, row)| entries(row)) else {
            continue;
        };
        let mut pivot = rows.swap_remove(at);
        if pivot[column] < 0 {
            pivot.iter_mut().for_each(|e| *e = -*e);
        }
        let width = pivot.len() - 1;
        rows.retain_mut(|row| cancel(row, &pivot, column).is_some());
        if rows
            .iter()
            .any(|row| row[..width].iter().all(|e| *e == 0) && row[width] != 0)
        {
            return None;
        }
        solved.retain_mut(|(_, row)| cancel(row, &pivot, column).is_some());
        solved.push((column, pivot));
    }
    Some(solved)
}

/// The equations that follow from each of two lists over `arity` arguments (Zassenhaus's algorithm on
/// the spaces of rows); `None` if these are all of the first.
pub(super) fn join(own: &Rc<[Equation]>, other: &Rc<[Equation]>) -> Option<Rc<[Equation]>> {
    if own.is_empty() || Rc::ptr_eq(own, other) || own == other {
        return None;
    }
    let width = own[0].len();
    let wide = |row: &Equation, twice: bool| {
        let left = row.iter().map(|&e| i128::from(e));
        let right = row.iter().map(|&e| if twice { i128::from(e) } else { 0 });
        // The last column is not a constant here.
        left.chain(right).chain([0]).collect::<Vec<i128>>()
    };
    let mut rows: Vec<Vec<i128>> = own.iter().map(|row| wide(row, true)).collect();
    rows.extend(other.iter().map(|row| wide(row, false)));
    let order: Vec<usize> = (0..2 * width).collect();
    let solved = solve(rows, &order)?;
    let common = solved.into_iter().filter(|(pivot, _)| *pivot >= width);
    let rows: Vec<Vec<i128>> = common
        .map(|(_, row)| row[width..2 * width].to_vec())
        .collect();
    let arguments: Vec<usize> = (0..width - 1).collect();
    let canonical = solve(rows, &arguments)?;
    let narrow = canonical.into_iter().filter_map(|(_, row)| {
        let entries = row.into_iter().map(|e| i64::try_from(e).ok());
        entries.collect::<Option<Equation>>()
    });
    let mut joined: Vec<Equation> = narrow.collect();
    joined.sort_unstable_by(|a, b| b.cmp(a));
    (joined[..] != own[..]).then(|| joined.into())
}

/// Whether equations imply another one.
pub(super) fn implies(own: &[Equation], equation: &Equation) -> bool {
    if own.contains(equation) {
        return true;
    }
    let wide = |row: &Equation| row.iter().map(|&e| i128::from(e)).collect::<Vec<i128>>();
    let order: Vec<usize> = (0..equation.len() - 1).collect();
    let Some(solved) = solve(own.iter().map(wide).collect(), &order) else {
        return true;
    };
    let mut rest = wide(equation);
    solved
        .iter()
        .all(|(pivot, row)| cancel(&mut rest, row, *pivot).is_some())
        && rest.iter().all(|e| *e == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[&[i64]]) -> Rc<[Equation]> {
        rows.iter().map(|row| Equation::from(*row)).collect()
    }

    /// Two points have a line.
    #[test]
    fn joins_are_affine_hulls() {
        // x = 0, y = 5 and x = 1, y = 4: x + y = 5.
        let first = rows(&[&[1, 0, 0], &[0, 1, -5]]);
        let second = rows(&[&[1, 0, -1], &[0, 1, -4]]);
        let hull = join(&first, &second).expect("it grows");
        assert_eq!(*hull, [Equation::from([1, 1, -5])]);
        assert!(join(&hull, &second).is_none());
        assert!(implies(&first, &hull[0]) && implies(&second, &hull[0]));
        let third = rows(&[&[1, 0, 0], &[0, 1, 0]]);
        assert!(join(&hull, &third).is_some_and(|all| all.is_empty()));
    }

    #[test]
    fn large_coefficients_are_left_out() {
        let most = 1i64 << 59;
        let first = rows(&[&[most, 1, 0]]);
        let second = rows(&[&[1, most - 1, 3], &[0, 3, 1]]);
        // Whatever is left follows from both.
        for row in join(&first, &second).iter().flat_map(|rows| rows.iter()) {
            assert!(implies(&first, row) && implies(&second, row));
        }
    }

    #[test]
    fn contradictions_are_found() {
        let rows = vec![vec![1, 1, -5], vec![1, 1, -6]];
        assert!(solve(rows, &[0, 1]).is_none());
    }
}
