//! Packs: small groups of arguments that a relational layer relates.
//!
//! Equal positions of predicates of one arity are one column, as are positions that a clause copies
//! between predicates of different arity. Columns that occur together in rows become one pack, as
//! long as it is small (Miné, PLDI 2003).
//!
//! Invariant: the packs of a predicate are disjoint, and their arguments have one kind each.

use rustc_hash::{FxHashMap, FxHashSet};

use super::compile::{Cube, Formula, Kind, Local, Program, Relation, Row};

/// Arguments of one pack, at most.
const MAX_SIZE: usize = 10;

/// By predicate, the arguments of each pack in ascending order.
pub(super) type Packs = Vec<Vec<Box<[u32]>>>;

/// The rows that relate arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Relating {
    /// Differences of two numbers that are bounded.
    Differences,
    /// Linear equations.
    Equations,
}

/// Joins nodes to classes.
struct Classes {
    parent: Vec<u32>,
    /// By root, the number of its arguments in each predicate.
    members: FxHashMap<u32, FxHashMap<usize, usize>>,
    /// Roots that would make a large class.
    refused: FxHashSet<(u32, u32)>,
}

impl Classes {
    fn root(&mut self, mut node: u32) -> u32 {
        while self.parent[node as usize] != node {
            let above = self.parent[self.parent[node as usize] as usize];
            self.parent[node as usize] = above;
            node = above;
        }
        node
    }

    fn join(&mut self, left: u32, right: u32) {
        let (left, right) = (self.root(left), self.root(right));
        if left != right {
            self.parent[right as usize] = left;
        }
    }

    /// Joins if the class is small in each predicate.
    fn join_small(&mut self, left: u32, right: u32) {
        let (left, right) = (self.root(left), self.root(right));
        let pair = (left.min(right), left.max(right));
        if left == right || self.refused.contains(&pair) {
            return;
        }
        let mut few = self.members.remove(&left).unwrap_or_default();
        let mut many = self.members.remove(&right).unwrap_or_default();
        let (mut child, mut root) = (left, right);
        if few.len() > many.len() {
            std::mem::swap(&mut few, &mut many);
            std::mem::swap(&mut child, &mut root);
        }
        let count = |p: &usize| many.get(p).copied().unwrap_or(0);
        if few.iter().any(|(p, own)| own + count(p) > MAX_SIZE) {
            self.members.extend([(child, few), (root, many)]);
            self.refused.insert(pair);
            return;
        }
        for (p, own) in few {
            *many.entry(p).or_default() += own;
        }
        self.members.insert(root, many);
        self.parent[child as usize] = root;
    }
}

/// Finds the packs of the predicates in a slice; cubes `queries` are the open ones.
pub(super) fn packs(
    program: &Program,
    slice: &[bool],
    queries: &[u32],
    relating: Relating,
) -> Packs {
    let mut base = Vec::with_capacity(slice.len());
    let mut count = 0;
    for kinds in &program.kinds {
        base.push(count);
        count += kinds.len() as u32;
    }
    let mut classes = Classes {
        parent: (0..count).collect(),
        members: FxHashMap::default(),
        refused: FxHashSet::default(),
    };
    let in_slice = |cube: &Cube| cube.head.as_ref().is_some_and(|h| slice[h.0]);
    let open = queries.iter().map(|&q| &program.cubes[q as usize]);
    let inner = || program.cubes.iter().filter(|c| in_slice(c));
    for cube in inner() {
        columns(cube, &base, program, &mut classes);
    }
    sizes(program, slice, &base, &mut classes);
    for cube in open.chain(inner()) {
        let of = nodes(cube, &base);
        for formula in &cube.formulas {
            relate(formula, cube, &of, relating, &mut classes);
        }
    }
    for cube in inner() {
        copies(cube, &base, program, &mut classes);
    }
    let mut found: Packs = vec![Vec::new(); slice.len()];
    for (p, kinds) in program.kinds.iter().enumerate() {
        if !slice[p] {
            continue;
        }
        let mut groups: FxHashMap<(u32, u8), Vec<u32>> = FxHashMap::default();
        for (k, kind) in (0..).zip(kinds) {
            if is_number(*kind) {
                let class = classes.root(base[p] + k);
                groups.entry((class, *kind as u8)).or_default().push(k);
            }
        }
        let groups = groups.into_values();
        let mut groups: Vec<Box<[u32]>> = groups
            .filter(|g| (2..=MAX_SIZE).contains(&g.len()))
            .map(Vec::into_boxed_slice)
            .collect();
        groups.sort_unstable();
        found[p] = groups;
    }
    found
}

fn is_number(kind: Kind) -> bool {
    matches!(kind, Kind::Integer | Kind::Rational)
}

/// For each local of a body atom, a node.
fn nodes(cube: &Cube, base: &[u32]) -> FxHashMap<Local, u32> {
    let mut of = FxHashMap::default();
    for (p, args) in &cube.body {
        for (k, &local) in (0..).zip(args) {
            of.entry(local).or_insert(base[*p] + k);
        }
    }
    of
}

/// Makes one column of positions that are the same.
fn columns(cube: &Cube, base: &[u32], program: &Program, classes: &mut Classes) {
    let Some((head, head_args)) = &cube.head else {
        return;
    };
    for (p, args) in &cube.body {
        if program.kinds[*p] == program.kinds[*head] {
            for k in 0..args.len() as u32 {
                classes.join(base[*p] + k, base[*head] + k);
            }
            continue;
        }
        for (k, local) in (0..).zip(args) {
            if let Some(at) = head_args.iter().position(|l| l == local) {
                classes.join(base[*p] + k, base[*head] + at as u32);
            }
        }
    }
    for (at, (p, args)) in cube.body.iter().enumerate() {
        for (q, others) in &cube.body[at + 1..] {
            for (k, local) in (0..).zip(args) {
                if let Some(other) = others.iter().position(|l| l == local) {
                    classes.join(base[*p] + k, base[*q] + other as u32);
                }
            }
        }
    }
}

/// Counts the arguments of each class in each predicate.
fn sizes(program: &Program, slice: &[bool], base: &[u32], classes: &mut Classes) {
    for (p, kinds) in program.kinds.iter().enumerate() {
        if !slice[p] {
            continue;
        }
        for (k, kind) in (0..).zip(kinds) {
            if is_number(*kind) {
                let root = classes.root(base[p] + k);
                *classes
                    .members
                    .entry(root)
                    .or_default()
                    .entry(p)
                    .or_default() += 1;
            }
        }
    }
}

/// Joins the columns of the body that rows relate.
fn relate(
    formula: &Formula,
    cube: &Cube,
    of: &FxHashMap<Local, u32>,
    relating: Relating,
    classes: &mut Classes,
) {
    match formula {
        Formula::And(parts) | Formula::Or(parts) => {
            for part in parts {
                relate(part, cube, of, relating, classes);
            }
        }
        Formula::Row(row) => {
            let wanted = match relating {
                Relating::Differences => is_difference(row) && row.relation != Relation::Equal,
                Relating::Equations => {
                    let is_query = cube.head.is_none();
                    row.terms.len() > 1 && (row.relation == Relation::Equal || is_query)
                }
            };
            if !wanted {
                return;
            }
            let locals = row.terms.iter().map(|t| t.0);
            let nodes: Vec<u32> = locals.filter_map(|l| of.get(&l).copied()).collect();
            if nodes.len() == row.terms.len() {
                nodes
                    .windows(2)
                    .for_each(|pair| classes.join_small(pair[0], pair[1]));
            }
        }
        Formula::Define(..) => {}
    }
}

/// Joins the columns between which a cube copies a value.
fn copies(cube: &Cube, base: &[u32], program: &Program, classes: &mut Classes) {
    let Some((head, args)) = &cube.head else {
        return;
    };
    let of = nodes(cube, base);
    for (k, local) in (0..).zip(args) {
        if is_number(program.kinds[*head][k as usize])
            && let Some(&node) = of.get(local)
        {
            classes.join_small(node, base[*head] + k);
        }
    }
}

/// Whether a row bounds the difference of two locals.
pub(super) fn is_difference(row: &Row) -> bool {
    match *row.terms {
        [(_, a), (_, b)] => a == -b && a.abs() == 1 && row.relation != Relation::Different,
        _ => false,
    }
}
