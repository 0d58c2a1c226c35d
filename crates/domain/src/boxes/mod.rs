//! Finite unions of boxes: bounds of numbers, values of Booleans and enumerations, and bit-vectors
//! as unsigned numbers, in any combination.
//!
//! After Gurfinkel and Chaki, "Boxes: A Symbolic Abstract Domain of Boxes" (SAS 2010). An element
//! is a decision diagram ([`diagram`]), so union, intersection and difference are exact, and the
//! image under a step is computed for all boxes at once ([`image`]). Booleans are the numbers 0 and
//! 1, values of an enumeration the numbers of their constructors. Deviation: widening keeps the
//! cuts of the smaller element and, if given, thresholds.
//!
//! Invariant: an element leaves variables of other sorts free; each cut of an integer (or of a sort
//! that is represented by integers) is closed and has an integer value within the sort's range.

mod diagram;
mod image;
mod limits;

use std::cell::RefCell;
use std::rc::Rc;

use num_traits::{One, Signed, Zero};
use rustc_hash::{FxHashMap, FxHashSet};

use self::diagram::{ALL, Cut, Diagram, Diagrams, Move, NONE, Piece};
use self::limits::LIMITS;
use super::abstract_domain::Domain;
use super::cube::{Cube, Fact};
use super::interval::{Bounds, Intervals};
use alphorn_arith::Relation;
use alphorn_chc::{Clause, System};
use alphorn_term::{BigInt, Op, Rational, Sort, SortId, TermId, TermStore};

/// The domain of unions of boxes.
pub struct Boxes {
    terms: Rc<TermStore>,
    diagrams: RefCell<Diagrams>,
    /// Bounds by facts about several variables.
    intervals: Intervals,
    /// The thresholds of widening, for integers and for reals.
    whole: Rc<[Cut]>,
    dense: Rc<[Cut]>,
    /// Nodes of an element, at most; a larger element is replaced by the box around it.
    limit: usize,
}

/// A union of boxes, of the domain that made it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Union(Diagram);

impl Boxes {
    /// The domain over a store; widening goes to the next of the thresholds first, and elements
    /// have at most `limit` nodes.
    pub fn new(terms: Rc<TermStore>, thresholds: Vec<Rational>, limit: usize) -> Self {
        let mut whole = Vec::new();
        let mut dense = Vec::new();
        for value in &thresholds {
            let cut = |value: Rational, closed| Cut { value, closed };
            whole.push(cut(value.floor(), true));
            whole.push(cut(value.ceil() - Rational::one(), true));
            dense.extend([false, true].map(|closed| cut(value.clone(), closed)));
        }
        for cuts in [&mut whole, &mut dense] {
            cuts.sort_unstable();
            cuts.dedup();
        }
        Boxes {
            intervals: Intervals::new(terms.clone(), thresholds),
            diagrams: RefCell::new(Diagrams::new(terms.clone())),
            terms,
            whole: whole.into(),
            dense: dense.into(),
            limit,
        }
    }

    /// The least and the greatest number that represents a value of the variable; `None` for a sort
    /// that boxes do not support.
    fn range(&self, var: TermId) -> Option<(Option<BigInt>, Option<BigInt>)> {
        let sort = self.terms.sort_of(var);
        let up_to = |largest: BigInt| Some((Some(BigInt::zero()), Some(largest)));
        match self.terms.sort(sort) {
            Sort::Int | Sort::Real => Some((None, None)),
            Sort::Bool => up_to(BigInt::one()),
            Sort::BitVec(width) => up_to((BigInt::one() << width) - 1),
            Sort::Datatype(id) => {
                let constructors = &self.terms.datatype(id).constructors;
                let plain = constructors.iter().all(|c| c.fields.is_empty());
                let few = constructors.len() as u64 <= LIMITS.max_enumeration;
                (plain && few).then(|| up_to(BigInt::from(constructors.len()) - 1))?
            }
            Sort::Array(..) => None,
        }
    }

    /// The number that represents a value.
    fn code(&self, value: TermId) -> Option<Rational> {
        let number = |n: BigInt| Some(Rational::from_integer(n));
        match self.terms.op(value) {
            Op::True => number(BigInt::one()),
            Op::False => number(BigInt::zero()),
            Op::Int(n) => number(n.clone()),
            Op::Real(n) => Some((**n).clone()),
            Op::BitVec(n) => number(n.clone().into()),
            Op::Construct(_, index) if self.terms.args(value).is_empty() => number((*index).into()),
            _ => None,
        }
    }

    /// The same set of values of the variable, with cuts that are closed and within its range.
    fn tidy(&self, var: TermId, piece: &Piece) -> Piece {
        if self.terms.sort_of(var) == SortId::REAL {
            return piece.clone();
        }
        let (least, largest) = self.range(var).unwrap_or_default();
        let whole = |cut: &Cut| {
            if cut.closed {
                cut.value.floor().to_integer()
            } else {
                cut.value.ceil().to_integer() - 1
            }
        };
        let cut = |value: BigInt| Cut {
            value: Rational::from_integer(value),
            closed: true,
        };
        let lower = piece.lower.as_ref().map(whole);
        let upper = piece.upper.as_ref().map(whole);
        // Cuts outside the range are removed; a piece beyond the range keeps one, so that it is
        // empty.
        let below = |c: &BigInt| least.as_ref().is_some_and(|l| c < l);
        let above = |c: &BigInt| largest.as_ref().is_some_and(|l| c >= l);
        if upper.as_ref().is_some_and(below) || lower.as_ref().is_some_and(above) {
            return Piece {
                lower: Some(cut(BigInt::zero())),
                upper: Some(cut(BigInt::zero())),
            };
        }
        Piece {
            lower: lower.filter(|c| !below(c)).map(cut),
            upper: upper.filter(|c| !above(c)).map(cut),
        }
    }

    /// The points whose coordinate is in the piece.
    fn place(&self, var: TermId, piece: &Piece) -> Diagram {
        if self.range(var).is_none() {
            return ALL;
        }
        let piece = self.tidy(var, piece);
        self.diagrams.borrow_mut().piece(var, &piece)
    }

    /// The piece between closed bounds.
    fn between(low: Option<&Rational>, high: Option<&Rational>) -> Piece {
        let cut = |value: &Rational, closed| Cut {
            value: value.clone(),
            closed,
        };
        Piece {
            lower: low.map(|l| cut(l, false)),
            upper: high.map(|h| cut(h, true)),
        }
    }

    /// The element, or the box around it if it is too large.
    fn limited(&self, diagram: Diagram) -> Union {
        if self.diagrams.borrow().size(diagram) <= self.limit {
            return Union(diagram);
        }
        self.around(diagram)
    }

    /// The box around the element.
    fn around(&self, diagram: Diagram) -> Union {
        let Some(hull) = self.diagrams.borrow().hull(diagram) else {
            return Union(NONE);
        };
        let mut all = ALL;
        for (var, piece) in hull {
            let place = self.place(var, &piece);
            all = self.diagrams.borrow_mut().intersection(all, place);
        }
        Union(all)
    }

    /// The box around the element, with closed bounds.
    fn bounds(&self, diagram: Diagram) -> Option<std::collections::BTreeMap<TermId, Bounds>> {
        let hull = self.diagrams.borrow().hull(diagram)?;
        let closed = |var: TermId, piece: Piece| {
            let real = self.terms.sort_of(var) == SortId::REAL;
            let (least, largest) = self.range(var).unwrap_or_default();
            let after = |cut: Cut| {
                if real {
                    cut.value
                } else {
                    cut.value + Rational::one()
                }
            };
            Bounds {
                low: piece.lower.map(after).or(least.map(Rational::from_integer)),
                high: piece
                    .upper
                    .map(|cut| cut.value)
                    .or(largest.map(Rational::from_integer)),
            }
        };
        Some(hull.into_iter().map(|(v, p)| (v, closed(v, p))).collect())
    }

    /// The values of a single variable that satisfy `coefficient var + constant ⋈ 0`.
    fn solved(
        &self,
        var: TermId,
        coefficient: &Rational,
        constant: &Rational,
        relation: Relation,
    ) -> Diagram {
        let value = -constant / coefficient;
        let cut = |closed| Cut {
            value: value.clone(),
            closed,
        };
        let point = Self::between(Some(&value), Some(&value));
        let half = |closed: bool| {
            if coefficient.is_positive() {
                Piece {
                    lower: None,
                    upper: Some(cut(closed)),
                }
            } else {
                Piece {
                    lower: Some(cut(!closed)),
                    upper: None,
                }
            }
        };
        match relation {
            Relation::Equal => self.place(var, &point),
            Relation::AtMost => self.place(var, &half(true)),
            Relation::Below => self.place(var, &half(false)),
            Relation::Differs => {
                let point = self.place(var, &point);
                self.diagrams.borrow_mut().complement(point)
            }
            Relation::Integral => ALL,
        }
    }

    /// The points that satisfy a fact about one variable; all points if the fact is about several
    /// variables or other terms.
    fn fact(&self, fact: &Fact) -> Diagram {
        match fact {
            Fact::Linear(row) => match &row.linear.monomials[..] {
                [(var, coefficient)] if self.terms.is_var(*var) => {
                    self.solved(*var, coefficient, &row.linear.constant, row.relation)
                }
                [] if row.relation.holds(&row.linear.constant) => ALL,
                [] => NONE,
                _ => ALL,
            },
            Fact::Value(var, value) if self.terms.is_var(*var) => match self.code(*value) {
                Some(code) => self.place(*var, &Self::between(Some(&code), Some(&code))),
                None => ALL,
            },
            _ => ALL,
        }
    }

    /// The formula that a variable is in the piece.
    fn piece_formula(&self, var: TermId, piece: &Piece) -> TermId {
        let terms = &self.terms;
        let sort = terms.sort_of(var);
        let number = |value: &Rational| match terms.sort(sort) {
            Sort::BitVec(width) => {
                terms.bitvec(value.to_integer().to_biguint().unwrap_or_default(), width)
            }
            _ => terms.number(value, sort),
        };
        match terms.sort(sort) {
            Sort::Bool => match (&piece.lower, &piece.upper) {
                (Some(_), None) => var,
                (None, Some(_)) => terms.not(var),
                _ => TermId::TRUE,
            },
            Sort::Datatype(id) => {
                let count = terms.datatype(id).constructors.len();
                let index = |cut: &Cut| cut.value.to_integer().try_into().unwrap_or(0usize);
                let first = piece.lower.as_ref().map_or(0, |cut| index(cut) + 1);
                let end = piece.upper.as_ref().map_or(count, |cut| index(cut) + 1);
                let equal = |i: usize| terms.eq(var, terms.construct(id, i as u32, &[]));
                terms.or(&(first..end).map(equal).collect::<Vec<_>>())
            }
            Sort::Real => {
                let lower = piece.lower.as_ref().map(|cut| {
                    let value = number(&cut.value);
                    if cut.closed {
                        terms.gt(var, value)
                    } else {
                        terms.ge(var, value)
                    }
                });
                let upper = piece.upper.as_ref().map(|cut| {
                    let value = number(&cut.value);
                    if cut.closed {
                        terms.le(var, value)
                    } else {
                        terms.lt(var, value)
                    }
                });
                if let (Some(lower), Some(upper)) = (&piece.lower, &piece.upper)
                    && lower.value == upper.value
                {
                    return terms.eq(var, number(&lower.value));
                }
                terms.and(&lower.into_iter().chain(upper).collect::<Vec<_>>())
            }
            sort => {
                let le = |a: TermId, b: TermId| match sort {
                    Sort::BitVec(_) => terms.rebuild(&Op::BvUle, &[a, b], SortId::BOOL),
                    _ => terms.le(a, b),
                };
                let low = piece.lower.as_ref().map(|cut| &cut.value + Rational::one());
                let high = piece.upper.as_ref().map(|cut| cut.value.clone());
                if let (Some(low), Some(high)) = (&low, &high)
                    && low == high
                {
                    return terms.eq(var, number(low));
                }
                let lower = low.map(|l| le(number(&l), var));
                let upper = high.map(|h| le(var, number(&h)));
                terms.and(&lower.into_iter().chain(upper).collect::<Vec<_>>())
            }
        }
    }

    fn diagram_formula(&self, diagram: Diagram, memo: &mut FxHashMap<Diagram, TermId>) -> TermId {
        if let Some(&known) = memo.get(&diagram) {
            return known;
        }
        let children = self.diagrams.borrow().children(diagram);
        let formula = match children {
            None if diagram == NONE => TermId::FALSE,
            None => TermId::TRUE,
            Some((var, parts)) => {
                // Pieces with the same child are combined.
                let mut groups: Vec<(Diagram, Vec<TermId>)> = Vec::new();
                for (piece, child) in parts {
                    if child == NONE {
                        continue;
                    }
                    let here = self.piece_formula(var, &piece);
                    match groups.iter_mut().find(|g| g.0 == child) {
                        Some((_, pieces)) => pieces.push(here),
                        None => groups.push((child, vec![here])),
                    }
                }
                let mut cases = Vec::with_capacity(groups.len());
                for (child, pieces) in groups {
                    let below = self.diagram_formula(child, memo);
                    cases.push(self.terms.and(&[self.terms.or(&pieces), below]));
                }
                self.terms.or(&cases)
            }
        };
        memo.insert(diagram, formula);
        formula
    }

    /// Whether a renaming keeps the variable's cuts.
    fn same_sort(&self, a: TermId, b: TermId) -> bool {
        self.terms.sort_of(a) == self.terms.sort_of(b)
    }

    /// The diagram under a renaming, without variables of sorts that boxes do not support.
    fn renamed(&self, diagram: Diagram, moves: &FxHashMap<TermId, Move>) -> Diagram {
        let tidy = |var: TermId, piece: &Piece| self.tidy(var, piece);
        self.diagrams.borrow_mut().rename(diagram, moves, &tidy)
    }

    /// An over-approximation of the formula's assignments, and whether it is exact. (The paper's α:
    /// negation normal form, literals over several variables become true; disjunctions are exact.)
    /// Linear in the size of the formula's DAG, apart from the operations on elements.
    pub fn abstraction(&self, formula: TermId) -> (Union, bool) {
        let terms = &self.terms;
        let mut exact = true;
        // Each sub-formula with its polarity, after its arguments.
        let mut done: FxHashMap<(TermId, bool), Diagram> = FxHashMap::default();
        let mut open = vec![(formula, true, false)];
        while let Some((t, positive, ready)) = open.pop() {
            if done.contains_key(&(t, positive)) {
                continue;
            }
            let node = terms.node(t);
            let boolean_equality = node.op == Op::Eq && terms.sort_of(node.args[0]) == SortId::BOOL;
            let parts: Vec<(TermId, bool)> = match &node.op {
                Op::Not => vec![(node.args[0], !positive)],
                Op::And | Op::Or => node.args.iter().map(|&a| (a, positive)).collect(),
                Op::Ite => vec![
                    (node.args[0], true),
                    (node.args[0], false),
                    (node.args[1], positive),
                    (node.args[2], positive),
                ],
                Op::Eq if boolean_equality => [true, false]
                    .into_iter()
                    .flat_map(|p| [(node.args[0], p), (node.args[1], p)])
                    .collect(),
                _ => Vec::new(),
            };
            if !ready && !parts.is_empty() {
                open.push((t, positive, true));
                open.extend(parts.into_iter().map(|(a, p)| (a, p, false)));
                continue;
            }
            let of = |t: TermId, p: bool| done[&(t, p)];
            let mut diagrams = self.diagrams.borrow_mut();
            let result = match &node.op {
                Op::True | Op::False => {
                    if (node.op == Op::True) == positive {
                        ALL
                    } else {
                        NONE
                    }
                }
                Op::Not => of(node.args[0], !positive),
                Op::And | Op::Or => {
                    let union = (node.op == Op::Or) == positive;
                    let mut result = if union { NONE } else { ALL };
                    for &a in &*node.args {
                        let part = of(a, positive);
                        result = if union {
                            diagrams.union(result, part)
                        } else {
                            diagrams.intersection(result, part)
                        };
                    }
                    result
                }
                Op::Ite | Op::Eq if !parts.is_empty() => {
                    let [a, b] = if node.op == Op::Ite {
                        [(node.args[1], positive), (node.args[2], positive)]
                    } else {
                        [(node.args[1], positive), (node.args[1], !positive)]
                    };
                    let (yes, no) = (of(node.args[0], true), of(node.args[0], false));
                    let yes = diagrams.intersection(yes, of(a.0, a.1));
                    let no = diagrams.intersection(no, of(b.0, b.1));
                    diagrams.union(yes, no)
                }
                _ => {
                    drop(diagrams);
                    let (part, whole) = self.literal(t, positive);
                    exact &= whole;
                    part
                }
            };
            done.insert((t, positive), result);
        }
        let found = done[&(formula, true)];
        let limited = self.limited(found);
        (limited, exact && limited.0 == found)
    }

    /// The points that satisfy a literal, and whether that is exact.
    fn literal(&self, atom: TermId, positive: bool) -> (Diagram, bool) {
        let terms = &self.terms;
        let formula = if positive { atom } else { terms.not(atom) };
        let mut all = NONE;
        let mut exact = true;
        for cube in super::cubes(terms, formula, 1) {
            let mut here = ALL;
            for fact in &cube.facts {
                let part = self.fact(fact);
                here = self.diagrams.borrow_mut().intersection(here, part);
            }
            exact &= match &cube.facts[..] {
                [Fact::Linear(row)] => match &row.linear.monomials[..] {
                    [] => true,
                    [(var, _)] => terms.is_var(*var) && row.relation != Relation::Integral,
                    _ => false,
                },
                [Fact::Value(var, value)] => {
                    terms.is_var(*var) && self.range(*var).is_some() && self.code(*value).is_some()
                }
                _ => false,
            };
            all = self.diagrams.borrow_mut().union(all, here);
        }
        (all, exact)
    }
}

impl Domain for Boxes {
    type Element = Union;

    fn top(&self) -> Union {
        Union(ALL)
    }

    fn bottom(&self) -> Union {
        Union(NONE)
    }

    fn is_bottom(&self, element: &Union) -> bool {
        element.0 == NONE
    }

    fn transfer(&self, inputs: &[Union], cube: &Cube, keep: Option<&FxHashSet<TermId>>) -> Union {
        let mut all = ALL;
        for input in inputs {
            all = self.diagrams.borrow_mut().intersection(all, input.0);
        }
        let all = self.guarded(all, cube);
        let Some(bounds) = self.through(all, cube) else {
            return Union(NONE);
        };
        let mut all = all;
        for (&var, bounds) in &bounds {
            if keep.is_none_or(|k| k.contains(&var)) && self.terms.is_var(var) {
                let piece = Self::between(bounds.low.as_ref(), bounds.high.as_ref());
                let place = self.place(var, &piece);
                all = self.diagrams.borrow_mut().intersection(all, place);
            }
        }
        let kept = |v: TermId| keep.is_none_or(|k| k.contains(&v));
        let all = self.diagrams.borrow_mut().project(all, &kept);
        self.limited(all)
    }

    fn join(&self, a: &Union, b: &Union) -> Union {
        let all = self.diagrams.borrow_mut().union(a.0, b.0);
        self.limited(all)
    }

    fn widen(&self, a: &Union, b: &Union) -> Union {
        let thresholds = |var: TermId| {
            if self.terms.sort_of(var) == SortId::REAL {
                self.dense.clone()
            } else if self.range(var).is_some_and(|(least, _)| least.is_none()) {
                self.whole.clone()
            } else {
                Rc::default()
            }
        };
        let mut diagrams = self.diagrams.borrow_mut();
        let both = diagrams.union(a.0, b.0);
        Union(diagrams.widen(a.0, both, &thresholds))
    }

    fn narrow(&self, _: &Union, b: &Union) -> Union {
        *b
    }

    fn entails(&self, a: &Union, b: &Union) -> bool {
        self.diagrams.borrow_mut().difference(a.0, b.0) == NONE
    }

    fn rename(&self, element: &Union, map: &FxHashMap<TermId, TermId>) -> Union {
        let moves = map
            .iter()
            .map(|(&from, &to)| {
                let step = Move {
                    to,
                    factor: Rational::one(),
                    offset: Rational::zero(),
                    plain: self.same_sort(from, to),
                };
                (from, step)
            })
            .collect();
        Union(self.renamed(element.0, &moves))
    }

    fn facts(&self, element: &Union) -> Vec<Fact> {
        let mut facts = Vec::new();
        for (var, bounds) in self.bounds(element.0).into_iter().flatten() {
            if self.terms.sort_of(var).is_number() {
                facts.extend(bounds.facts(var));
            } else if let (Some(low), Some(high)) = (bounds.low, bounds.high)
                && low == high
                && let Some(value) = self.value(var, &low)
            {
                facts.push(Fact::Value(var, value));
            }
        }
        facts
    }

    fn formula(&self, element: &Union) -> Vec<TermId> {
        let formula = self.diagram_formula(element.0, &mut FxHashMap::default());
        vec![formula]
    }

    fn images(
        &self,
        system: &System,
        clause: &Clause,
        cubes: &[Cube],
        bodies: &[Union],
    ) -> Vec<Union> {
        let mut images = Vec::with_capacity(cubes.len());
        for cube in cubes {
            let image = self.image(system, clause, cube, bodies);
            if image.0 != NONE {
                images.push(image);
            }
        }
        images
    }

    fn minus(&self, a: &Union, b: &Union) -> Union {
        let rest = self.diagrams.borrow_mut().difference(a.0, b.0);
        self.limited(rest)
    }

    fn coarsened(&self, element: &Union) -> Union {
        let all = self.diagrams.borrow_mut().coarsened(element.0);
        self.limited(all)
    }

    fn hull(&self, element: &Union) -> Union {
        self.around(element.0)
    }

    fn is_disjunctive(&self) -> bool {
        true
    }

    fn abstracted(
        &self,
        _: &TermStore,
        element: &Union,
        formula: TermId,
        _: usize,
    ) -> (Union, bool) {
        let (abstraction, exact) = self.abstraction(formula);
        let both = self
            .diagrams
            .borrow_mut()
            .intersection(element.0, abstraction.0);
        let limited = self.limited(both);
        (limited, exact && limited.0 == both)
    }
}

impl Boxes {
    /// The value of the variable's sort that a number represents.
    fn value(&self, var: TermId, code: &Rational) -> Option<TermId> {
        let terms = &self.terms;
        match terms.sort(terms.sort_of(var)) {
            Sort::Bool => Some(terms.bool(!code.is_zero())),
            Sort::BitVec(width) => Some(terms.bitvec(code.to_integer().to_biguint()?, width)),
            Sort::Datatype(id) => {
                let index: u32 = code.to_integer().try_into().ok()?;
                Some(terms.construct(id, index, &[]))
            }
            _ => None,
        }
    }
}
