//! Decision diagrams over bounds: sets of points that are finite unions of boxes.
//!
//! After Gurfinkel and Chaki, "Boxes: A Symbolic Abstract Domain of Boxes" (SAS 2010), whose
//! diagrams test one bound `x ≤ c` per node, in the order of the bounds (Chaki, Gurfinkel,
//! Strichman, "Decision Diagrams for Linear Arithmetic", FMCAD 2009). Deviation: all consecutive
//! tests of a variable are one node, which splits the line at ascending cuts and has a child for
//! each piece. So the depth of a diagram is at most the number of variables.
//!
//! Invariant: nodes are unique; on each path variables ascend by their ids; the children of
//! adjacent pieces differ. So a set of points over reals or integers has one diagram.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::time::Duration;

use num_traits::Signed;
use rustc_hash::{FxHashMap, FxHashSet};

use alphorn_term::{Rational, TermId, TermStore, rational};

/// A diagram, by its index in the table of a [`Diagrams`].
pub(super) type Diagram = u32;

/// Work charged for each child of a node that is made or looked up.
const CHILD_WORK: Duration = Duration::from_nanos(300);

/// The empty set.
pub(super) const NONE: Diagram = 0;

/// The set of all points.
pub(super) const ALL: Diagram = 1;

/// The set of the numbers below a value, and of the value itself if it is closed. Ordered by
/// inclusion.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Cut {
    pub value: Rational,
    pub closed: bool,
}

impl Hash for Cut {
    fn hash<H: Hasher>(&self, state: &mut H) {
        rational::hash(&self.value, state);
        self.closed.hash(state);
    }
}

/// The numbers in `upper` that are not in `lower`; a missing end is unbounded.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Piece {
    pub lower: Option<Cut>,
    pub upper: Option<Cut>,
}

impl Piece {
    /// Whether the piece is known to be empty: its ends coincide or are in the wrong order.
    pub fn is_empty(&self) -> bool {
        matches!((&self.lower, &self.upper), (Some(lower), Some(upper)) if lower >= upper)
    }

    /// The image under `x ↦ factor x + offset`, for a factor other than zero.
    pub fn image(&self, factor: &Rational, offset: &Rational) -> Piece {
        let moved = |cut: &Cut, flipped: bool| Cut {
            value: &cut.value * factor + offset,
            closed: cut.closed != flipped,
        };
        if factor.is_positive() {
            Piece {
                lower: self.lower.as_ref().map(|c| moved(c, false)),
                upper: self.upper.as_ref().map(|c| moved(c, false)),
            }
        } else {
            Piece {
                lower: self.upper.as_ref().map(|c| moved(c, true)),
                upper: self.lower.as_ref().map(|c| moved(c, true)),
            }
        }
    }
}

/// The map of a variable to another: `var ↦ factor var + offset`, named `to`.
#[derive(Clone, Debug)]
pub(super) struct Move {
    pub to: TermId,
    pub factor: Rational,
    pub offset: Rational,
    /// The factor is one, and cuts of the one variable become cuts of the other.
    pub plain: bool,
}

#[derive(PartialEq, Eq, Hash)]
struct Node {
    var: TermId,
    /// Ascending.
    cuts: Vec<Cut>,
    /// One child for each piece, one more than there are cuts.
    children: Vec<Diagram>,
}

/// The table of all nodes, with the results of earlier operations.
pub(super) struct Diagrams {
    /// The store to which work is charged.
    terms: Rc<TermStore>,
    nodes: Vec<Rc<Node>>,
    unique: FxHashMap<Rc<Node>, Diagram>,
    unions: FxHashMap<(Diagram, Diagram), Diagram>,
    intersections: FxHashMap<(Diagram, Diagram), Diagram>,
    complements: FxHashMap<Diagram, Diagram>,
}

impl Diagrams {
    /// A table with the two diagrams without a node.
    pub fn new(terms: Rc<TermStore>) -> Diagrams {
        Diagrams {
            terms,
            nodes: Vec::new(),
            unique: FxHashMap::default(),
            unions: FxHashMap::default(),
            intersections: FxHashMap::default(),
            complements: FxHashMap::default(),
        }
    }

    fn node(&self, diagram: Diagram) -> Rc<Node> {
        self.nodes[diagram as usize - 2].clone()
    }

    /// The diagram with these children between these cuts, which ascend.
    fn make(&mut self, var: TermId, cuts: Vec<Cut>, children: Vec<Diagram>) -> Diagram {
        self.terms.charge(CHILD_WORK * children.len() as u32);
        let mut kept_cuts: Vec<Cut> = Vec::with_capacity(cuts.len());
        let mut kept: Vec<Diagram> = Vec::with_capacity(children.len());
        let mut cuts = cuts.into_iter();
        for child in children {
            let before = if kept.is_empty() { None } else { cuts.next() };
            if kept.last() == Some(&child) {
                // Equal children need no cut between them.
                continue;
            }
            kept_cuts.extend(before);
            kept.push(child);
        }
        if kept.len() == 1 {
            return kept[0];
        }
        let node = Rc::new(Node {
            var,
            cuts: kept_cuts,
            children: kept,
        });
        if let Some(&known) = self.unique.get(&node) {
            return known;
        }
        let diagram = u32::try_from(self.nodes.len() + 2).expect("fewer than 2^32 nodes");
        self.nodes.push(node.clone());
        self.unique.insert(node, diagram);
        diagram
    }

    /// The points whose coordinate is in the piece.
    pub fn piece(&mut self, var: TermId, piece: &Piece) -> Diagram {
        if piece.is_empty() {
            return NONE;
        }
        let mut cuts = Vec::new();
        let mut children = Vec::new();
        if let Some(lower) = &piece.lower {
            cuts.push(lower.clone());
            children.push(NONE);
        }
        children.push(ALL);
        if let Some(upper) = &piece.upper {
            cuts.push(upper.clone());
            children.push(NONE);
        }
        self.make(var, cuts, children)
    }

    /// The points in either set.
    pub fn union(&mut self, a: Diagram, b: Diagram) -> Diagram {
        self.combine(a, b, true)
    }

    /// The points in both sets.
    pub fn intersection(&mut self, a: Diagram, b: Diagram) -> Diagram {
        self.combine(a, b, false)
    }

    fn combine(&mut self, a: Diagram, b: Diagram, union: bool) -> Diagram {
        let (neutral, absorbing) = if union { (NONE, ALL) } else { (ALL, NONE) };
        if a == b || b == neutral {
            return a;
        }
        if a == neutral {
            return b;
        }
        if a == absorbing || b == absorbing {
            return absorbing;
        }
        let key = (a.min(b), a.max(b));
        let memo = if union {
            &self.unions
        } else {
            &self.intersections
        };
        if let Some(&known) = memo.get(&key) {
            return known;
        }
        let (first, second) = (self.node(a), self.node(b));
        let var = first.var.min(second.var);
        let (left, right) = (Split::of(&first, a, var), Split::of(&second, b, var));
        let mut cuts = Vec::with_capacity(left.cuts.len() + right.cuts.len());
        let mut children = Vec::with_capacity(left.cuts.len() + right.cuts.len() + 1);
        let (mut i, mut j) = (0, 0);
        loop {
            let child = self.combine(left.children[i], right.children[j], union);
            children.push(child);
            match (left.cuts.get(i), right.cuts.get(j)) {
                (None, None) => break,
                (Some(x), y) if y.is_none_or(|y| x < y) => {
                    cuts.push(x.clone());
                    i += 1;
                }
                (Some(x), Some(y)) if x == y => {
                    cuts.push(x.clone());
                    i += 1;
                    j += 1;
                }
                (_, Some(y)) => {
                    cuts.push(y.clone());
                    j += 1;
                }
                (Some(_), None) => unreachable!("the second arm takes it"),
            }
        }
        let result = self.make(var, cuts, children);
        let memo = if union {
            &mut self.unions
        } else {
            &mut self.intersections
        };
        memo.insert(key, result);
        result
    }

    /// The points that are not in the set.
    pub fn complement(&mut self, diagram: Diagram) -> Diagram {
        if diagram <= ALL {
            return ALL - diagram;
        }
        if let Some(&known) = self.complements.get(&diagram) {
            return known;
        }
        let node = self.node(diagram);
        let children = node.children.iter().map(|&c| self.complement(c)).collect();
        let result = self.make(node.var, node.cuts.clone(), children);
        self.complements.insert(diagram, result);
        self.complements.insert(result, diagram);
        result
    }

    /// The points in the first set that are not in the second.
    pub fn difference(&mut self, a: Diagram, b: Diagram) -> Diagram {
        let not = self.complement(b);
        self.intersection(a, not)
    }

    /// The projection to the variables that are kept.
    pub fn project(&mut self, diagram: Diagram, keep: &dyn Fn(TermId) -> bool) -> Diagram {
        self.project_with(diagram, keep, &mut FxHashMap::default())
    }

    fn project_with(
        &mut self,
        diagram: Diagram,
        keep: &dyn Fn(TermId) -> bool,
        memo: &mut FxHashMap<Diagram, Diagram>,
    ) -> Diagram {
        if diagram <= ALL {
            return diagram;
        }
        if let Some(&known) = memo.get(&diagram) {
            return known;
        }
        let node = self.node(diagram);
        let children = node.children.iter();
        let children: Vec<Diagram> = children
            .map(|&c| self.project_with(c, keep, memo))
            .collect();
        let result = if keep(node.var) {
            self.make(node.var, node.cuts.clone(), children)
        } else {
            children.into_iter().fold(NONE, |all, c| self.union(all, c))
        };
        memo.insert(diagram, result);
        result
    }

    /// The diagram with its variables moved; other variables stay. Targets differ from each other
    /// and from the variables that stay. `tidy` adapts a piece to the sort of its variable; the
    /// result may be empty or unbounded.
    pub fn rename(
        &mut self,
        diagram: Diagram,
        moves: &FxHashMap<TermId, Move>,
        tidy: &dyn Fn(TermId, &Piece) -> Piece,
    ) -> Diagram {
        let target = |v: TermId| moves.get(&v).map_or(v, |m| m.to);
        let support = self.support(diagram);
        let ascends = support.windows(2).all(|w| target(w[0]) < target(w[1]));
        let plain = |v: &TermId| moves.get(v).is_none_or(|m| m.plain);
        let direct = ascends && support.iter().all(plain);
        self.rename_with(diagram, moves, direct, tidy, &mut FxHashMap::default())
    }

    fn rename_with(
        &mut self,
        diagram: Diagram,
        moves: &FxHashMap<TermId, Move>,
        direct: bool,
        tidy: &dyn Fn(TermId, &Piece) -> Piece,
        memo: &mut FxHashMap<Diagram, Diagram>,
    ) -> Diagram {
        if diagram <= ALL {
            return diagram;
        }
        if let Some(&known) = memo.get(&diagram) {
            return known;
        }
        let node = self.node(diagram);
        let children: Vec<Diagram> = node
            .children
            .iter()
            .map(|&c| self.rename_with(c, moves, direct, tidy, memo))
            .collect();
        let result = match moves.get(&node.var) {
            None if direct => self.make(node.var, node.cuts.clone(), children),
            Some(to) if direct => {
                let mut cuts = node.cuts.clone();
                for cut in &mut cuts {
                    cut.value += &to.offset;
                }
                self.make(to.to, cuts, children)
            }
            to => {
                let mut all = NONE;
                for (piece, &child) in pieces(&node.cuts).iter().zip(&children) {
                    if child == NONE {
                        continue;
                    }
                    let (var, piece) = match to {
                        Some(to) => (to.to, piece.image(&to.factor, &to.offset)),
                        None => (node.var, piece.clone()),
                    };
                    let place = self.piece(var, &tidy(var, &piece));
                    let part = self.intersection(place, child);
                    all = self.union(all, part);
                }
                all
            }
        };
        memo.insert(diagram, result);
        result
    }

    /// The points at which the variable `to` of the move has the image of `from`, as precisely as
    /// the cuts of `from` allow: a piece of `from` determines only the piece of `to`. `None` if
    /// this takes more than `limit` new nodes, as with many pieces the result is a product.
    pub fn copy(
        &mut self,
        diagram: Diagram,
        from: TermId,
        to: &Move,
        tidy: &dyn Fn(TermId, &Piece) -> Piece,
        room: usize,
    ) -> Option<Diagram> {
        let mut all = NONE;
        let full = self.nodes.len() + room;
        for piece in pieces(&self.cuts(diagram, from)) {
            let here = self.piece(from, &piece);
            let part = self.intersection(diagram, here);
            if part == NONE {
                continue;
            }
            let image = tidy(to.to, &piece.image(&to.factor, &to.offset));
            let there = self.piece(to.to, &image);
            let part = self.intersection(part, there);
            all = self.union(all, part);
            if self.nodes.len() > full {
                return None;
            }
        }
        Some(all)
    }

    /// Widening with `b`, which is above `a`: where `b` adds points within a piece of `a`, they are
    /// added for the whole piece, or for the part of it between thresholds. So the cuts that can
    /// appear within a piece are those that appear together with its first point.
    pub fn widen(
        &mut self,
        a: Diagram,
        b: Diagram,
        thresholds: &dyn Fn(TermId) -> Rc<[Cut]>,
    ) -> Diagram {
        self.widen_with(a, b, thresholds, &mut FxHashMap::default())
    }

    fn widen_with(
        &mut self,
        a: Diagram,
        b: Diagram,
        thresholds: &dyn Fn(TermId) -> Rc<[Cut]>,
        memo: &mut FxHashMap<(Diagram, Diagram), Diagram>,
    ) -> Diagram {
        if a == b || a == NONE {
            return b;
        }
        if a == ALL || b == ALL {
            return ALL;
        }
        if let Some(&known) = memo.get(&(a, b)) {
            return known;
        }
        let (first, second) = (self.node(a), self.node(b));
        let var = first.var.min(second.var);
        let (left, right) = (Split::of(&first, a, var), Split::of(&second, b, var));
        let mut grid: Vec<Cut> = left.cuts.to_vec();
        grid.extend_from_slice(&thresholds(var));
        grid.sort_unstable();
        grid.dedup();
        let mut children = Vec::with_capacity(grid.len() + 1);
        let (mut i, mut j) = (0, 0);
        for k in 0..=grid.len() {
            let end = grid.get(k);
            // The pieces of `b` that intersect this one.
            let mut new = right.children[j];
            while let Some(cut) = right.cuts.get(j)
                && end.is_none_or(|end| cut < end)
            {
                j += 1;
                new = self.union(new, right.children[j]);
            }
            let child = self.widen_with(left.children[i], new, thresholds, memo);
            children.push(child);
            if let Some(end) = end {
                i += usize::from(left.cuts.get(i) == Some(end));
                j += usize::from(right.cuts.get(j) == Some(end));
            }
        }
        let result = self.make(var, grid, children);
        memo.insert((a, b), result);
        result
    }

    /// The variables of nodes, ascending.
    pub fn support(&self, diagram: Diagram) -> Vec<TermId> {
        let mut vars: Vec<TermId> = Vec::new();
        self.visit(diagram, |node| vars.push(node.var));
        vars.sort_unstable();
        vars.dedup();
        vars
    }

    /// All cuts of a variable, ascending.
    fn cuts(&self, diagram: Diagram, var: TermId) -> Vec<Cut> {
        let mut cuts: Vec<Cut> = Vec::new();
        self.visit(diagram, |node| {
            if node.var == var {
                cuts.extend_from_slice(&node.cuts);
            }
        });
        cuts.sort_unstable();
        cuts.dedup();
        cuts
    }

    /// For each piece of the variable with the most cuts, the product of the projections onto the
    /// other variables.
    pub fn coarsened(&mut self, diagram: Diagram) -> Diagram {
        let support = self.support(diagram);
        let mut pivot: Option<(usize, TermId)> = None;
        for &var in &support {
            let cuts = self.cuts(diagram, var).len();
            if pivot.is_none_or(|(most, _)| cuts > most) {
                pivot = Some((cuts, var));
            }
        }
        let Some((_, pivot)) = pivot else {
            return diagram;
        };
        let mut all = NONE;
        for piece in pieces(&self.cuts(diagram, pivot)) {
            let here = self.piece(pivot, &piece);
            let part = self.intersection(diagram, here);
            let mut product = part;
            if part != NONE {
                product = here;
                for &var in &support {
                    let alone = self.project(part, &|v| v == var);
                    product = self.intersection(product, alone);
                }
            }
            all = self.union(all, product);
        }
        all
    }

    /// The number of nodes.
    pub fn size(&self, diagram: Diagram) -> usize {
        let mut size = 0;
        self.visit(diagram, |_| size += 1);
        size
    }

    fn visit(&self, diagram: Diagram, mut see: impl FnMut(&Node)) {
        let mut seen: FxHashSet<Diagram> = FxHashSet::default();
        let mut open = vec![diagram];
        while let Some(diagram) = open.pop() {
            if diagram > ALL && seen.insert(diagram) {
                let node = &self.nodes[diagram as usize - 2];
                see(node);
                open.extend(&node.children);
            }
        }
    }

    /// The pieces of a node with their children; `None` for the two diagrams without a node.
    pub fn children(&self, diagram: Diagram) -> Option<(TermId, Vec<(Piece, Diagram)>)> {
        if diagram <= ALL {
            return None;
        }
        let node = &self.nodes[diagram as usize - 2];
        let pieces = pieces(&node.cuts).into_iter();
        Some((
            node.var,
            pieces.zip(node.children.iter().copied()).collect(),
        ))
    }

    /// The smallest box around the set, without unbounded variables; `None` for the empty set.
    pub fn hull(&self, diagram: Diagram) -> Option<BTreeMap<TermId, Piece>> {
        let mut memo: FxHashMap<Diagram, Rc<BTreeMap<TermId, Piece>>> = FxHashMap::default();
        memo.insert(ALL, Rc::default());
        self.hull_with(diagram, &mut memo)
            .map(|hull| (*hull).clone())
    }

    fn hull_with(
        &self,
        diagram: Diagram,
        memo: &mut FxHashMap<Diagram, Rc<BTreeMap<TermId, Piece>>>,
    ) -> Option<Rc<BTreeMap<TermId, Piece>>> {
        if diagram == NONE {
            return None;
        }
        if let Some(known) = memo.get(&diagram) {
            return Some(known.clone());
        }
        let node = &self.nodes[diagram as usize - 2];
        let mut hull: Option<BTreeMap<TermId, Piece>> = None;
        for (piece, &child) in pieces(&node.cuts).into_iter().zip(&node.children) {
            let Some(below) = self.hull_with(child, memo) else {
                continue;
            };
            let own = |var: TermId| {
                if var == node.var {
                    Some(&piece)
                } else {
                    below.get(&var)
                }
            };
            hull = Some(match hull {
                None => {
                    let mut first = (*below).clone();
                    first.insert(node.var, piece);
                    first
                }
                Some(so_far) => so_far
                    .into_iter()
                    .filter_map(|(var, p)| {
                        let q = own(var)?;
                        let lower = p.lower.zip(q.lower.clone()).map(|(a, b)| a.min(b));
                        let upper = p.upper.zip(q.upper.clone()).map(|(a, b)| a.max(b));
                        let bounded = lower.is_some() || upper.is_some();
                        bounded.then_some((var, Piece { lower, upper }))
                    })
                    .collect(),
            });
        }
        let hull = Rc::new(hull?);
        memo.insert(diagram, hull.clone());
        Some(hull)
    }
}

/// The pieces between ascending cuts.
fn pieces(cuts: &[Cut]) -> Vec<Piece> {
    (0..=cuts.len())
        .map(|i| Piece {
            lower: i.checked_sub(1).map(|i| cuts[i].clone()),
            upper: cuts.get(i).cloned(),
        })
        .collect()
}

/// A diagram split by a variable that is not above its own.
struct Split<'a> {
    cuts: &'a [Cut],
    children: std::borrow::Cow<'a, [Diagram]>,
}

impl<'a> Split<'a> {
    fn of(node: &'a Node, diagram: Diagram, var: TermId) -> Split<'a> {
        if node.var == var {
            Split {
                cuts: &node.cuts,
                children: (&node.children[..]).into(),
            }
        } else {
            Split {
                cuts: &[],
                children: vec![diagram].into(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use num_traits::{One, Zero};

    use super::*;
    use alphorn_term::{BigInt, SortId};

    /// A set with many pieces times another one with many: computed if the limit allows it.
    #[test]
    fn copies_that_take_too_many_nodes_are_given_up() {
        let terms = Rc::new(TermStore::new());
        let mut vars: Vec<TermId> = (0..3)
            .map(|i| terms.var(&format!("v{i}"), SortId::INT))
            .collect();
        vars.sort_unstable();
        let mut diagrams = Diagrams::new(terms);
        let number = |n: i64| Rational::from_integer(BigInt::from(n));
        let cut = |n: i64| {
            Some(Cut {
                value: number(n),
                closed: true,
            })
        };
        // The first variable has every second number up to 40; the second one is at most the first
        // plus 100.
        let mut all = NONE;
        for n in 0..20 {
            let (lower, upper) = (cut(2 * n), cut(2 * n + 1));
            let first = diagrams.piece(vars[0], &Piece { lower, upper });
            let upper = cut(2 * n + 100);
            let second = diagrams.piece(vars[1], &Piece { lower: None, upper });
            let part = diagrams.intersection(first, second);
            all = diagrams.union(all, part);
        }
        let to = Move {
            to: vars[2],
            factor: Rational::one(),
            offset: Rational::zero(),
            plain: false,
        };
        let same = |_: TermId, piece: &Piece| piece.clone();
        assert_eq!(diagrams.copy(all, vars[0], &to, &same, 10), None);
        let copy = diagrams.copy(all, vars[0], &to, &same, 10_000);
        let copy = copy.expect("there is room");
        assert_eq!(diagrams.union(copy, all), all);
        assert_eq!(diagrams.support(copy), vars);
    }
}
