//! Arrays with shifted indexes, which no term over another array denotes.
//!
//! A formula over such arrays is translated to the original ones: a read becomes a read at the shifted
//! index; an equation holds at every index; remaining shifted arrays are quantified existentially. A
//! quantified index is renamed such that some read has the bare variable as its index, since solvers
//! find instances of quantifiers by such reads.
//!
//! Invariant: the translated formula has the same value as the given one whenever the variables of
//! shifted arrays have the values of these.

use num_traits::{One, Signed};
use rustc_hash::{FxHashMap, FxHashSet};

use super::rebase::sum;
use alphorn_term::{Op, Sort, TermId, TermStore};

/// The limits of the translation.
struct Limits {
    /// Copies of one quantified formula. A formula that needs more is not shifted.
    max_copies: usize,
}

const LIMITS: Limits = Limits { max_copies: 8 };

/// The array with the element `array[base + i]` at each index `i`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Shifted {
    pub array: TermId,
    pub base: TermId,
}

impl Shifted {
    /// The element at an index.
    fn at(&self, terms: &TermStore, index: TermId) -> TermId {
        terms.select(self.array, sum(terms, self.base, index))
    }
}

/// The formula without the variables that denote shifted arrays.
pub(super) fn express_shifted(
    terms: &TermStore,
    formula: TermId,
    shifted: &FxHashMap<TermId, Shifted>,
) -> TermId {
    if shifted.is_empty() {
        return formula;
    }
    let reader = Reader { terms, shifted };
    let mut memo = FxHashMap::default();
    let mut formula = terms.rewrite_bottom_up(formula, &mut memo, |t| {
        let node = terms.node(t);
        match node.op {
            Op::Select if reader.mentions(node.args[0]) => reader.read(node.args[0], node.args[1]),
            Op::Eq if reader.mentions(node.args[0]) || reader.mentions(node.args[1]) => {
                reader.equal(node.args[0], node.args[1])
            }
            _ => t,
        }
    });
    formula = with_bare_indexes(terms, formula);
    for var in terms.free_vars(&[formula]) {
        if shifted.contains_key(&var) {
            let copy = terms.fresh_var("shifted", terms.sort_of(var));
            let map = std::iter::once((var, copy)).collect();
            let same = reader.equal(copy, var);
            let body = terms.and(&[terms.substitute(formula, &map), same]);
            formula = terms.exists(&[copy], body);
        }
    }
    formula
}

/// The arrays that `array` is made from by stores and choices, each after those that it is made
/// from, `array` last; without known arrays and those that only they are made from.
pub(super) fn array_order(
    terms: &TermStore,
    array: TermId,
    known: impl Fn(TermId) -> bool,
) -> Vec<TermId> {
    let mut order = Vec::new();
    let mut seen = FxHashSet::default();
    let mut stack = vec![(array, false)];
    while let Some((t, ready)) = stack.pop() {
        if ready {
            order.push(t);
        } else if !known(t) && seen.insert(t) {
            stack.push((t, true));
            let node = terms.node(t);
            match node.op {
                Op::Store => stack.push((node.args[0], false)),
                Op::Ite => stack.extend(node.args[1..].iter().map(|&branch| (branch, false))),
                _ => {}
            }
        }
    }
    order
}

struct Reader<'a> {
    terms: &'a TermStore,
    shifted: &'a FxHashMap<TermId, Shifted>,
}

impl Reader<'_> {
    /// Whether the array term is made from a shifted one, apart from its elements.
    fn mentions(&self, array: TermId) -> bool {
        let mut stack = vec![array];
        let mut seen = FxHashSet::default();
        while let Some(t) = stack.pop() {
            if !seen.insert(t) {
                continue;
            }
            let node = self.terms.node(t);
            match node.op {
                Op::Var(_) if self.shifted.contains_key(&t) => return true,
                Op::Store => stack.push(node.args[0]),
                Op::Ite => stack.extend_from_slice(&node.args[1..]),
                _ => {}
            }
        }
        false
    }

    /// `array[index]`, through stores and choices.
    fn read(&self, array: TermId, index: TermId) -> TermId {
        let terms = self.terms;
        let mut memo: FxHashMap<TermId, TermId> = FxHashMap::default();
        for t in array_order(terms, array, |_| false) {
            let node = terms.node(t);
            let value = match node.op {
                Op::Store => {
                    let here = terms.eq(node.args[1], index);
                    terms.ite(here, node.args[2], memo[&node.args[0]])
                }
                Op::Ite => terms.ite(node.args[0], memo[&node.args[1]], memo[&node.args[2]]),
                _ => match self.shifted.get(&t) {
                    Some(shifted) => shifted.at(terms, index),
                    None => terms.select(t, index),
                },
            };
            memo.insert(t, value);
        }
        memo[&array]
    }

    /// `a = b`, index by index.
    fn equal(&self, a: TermId, b: TermId) -> TermId {
        let terms = self.terms;
        let (mut a, mut b) = (a, b);
        if let (Some(left), Some(right)) = (self.shifted.get(&a), self.shifted.get(&b))
            && left.base == right.base
        {
            return terms.eq(left.array, right.array);
        }
        let mut bound = Vec::new();
        // Elements may be arrays again; sorts are finite trees, so this ends.
        while let Sort::Array(index, _) = terms.sort(terms.sort_of(a))
            && (self.mentions(a) || self.mentions(b))
        {
            let at = terms.fresh_var("i", index);
            (a, b) = (self.read(a, at), self.read(b, at));
            bound.push(at);
        }
        terms.forall(&bound, terms.eq(a, b))
    }
}

/// The formula with one copy of each universal quantifier over an index for each offset at which
/// arrays are read there, shifted such that these reads have the bare variable as index. All copies
/// are equivalent; a solver that finds instances by patterns needs the one whose array occurs in
/// the assertion.
fn with_bare_indexes(terms: &TermStore, formula: TermId) -> TermId {
    if !terms.node(formula).has_quantifier {
        return formula;
    }
    terms.rewrite_bottom_up(formula, &mut FxHashMap::default(), |t| {
        let Op::Forall(bound) = terms.op(t) else {
            return t;
        };
        let mut bodies = vec![terms.args(t)[0]];
        for &var in bound.iter() {
            let mut moved: Vec<TermId> = Vec::new();
            for &body in &bodies {
                for offset in offsets(terms, body, var) {
                    let map = std::iter::once((var, offset)).collect();
                    let body = terms.substitute(body, &map);
                    if !moved.contains(&body) {
                        moved.push(body);
                    }
                }
            }
            if (1..=LIMITS.max_copies).contains(&moved.len()) {
                bodies = moved;
            }
        }
        let copies: Vec<TermId> = bodies
            .into_iter()
            .map(|body| {
                let map = terms.renaming(bound);
                let own: Vec<TermId> = bound.iter().map(|v| map[v]).collect();
                terms.forall(&own, terms.substitute(body, &map))
            })
            .collect();
        terms.and(&copies)
    })
}

/// For each index with the variable as a summand, the term to substitute for the variable such that
/// the index becomes the variable.
fn offsets(terms: &TermStore, body: TermId, var: TermId) -> Vec<TermId> {
    let sort = terms.sort_of(var);
    // A variable bound by an inner quantifier has no meaning outside of it.
    let free: FxHashSet<TermId> = terms.free_vars(&[body]).into_iter().collect();
    let mut found: Vec<TermId> = Vec::new();
    terms.post_order(&[body], |t| {
        if *terms.op(t) != Op::Select || terms.sort_of(terms.args(t)[1]) != sort {
            return;
        }
        let index = terms.args(t)[1];
        let solved = match terms.sort(sort) {
            _ if index == var => Some(var),
            Sort::Int | Sort::Real => {
                let (coefficient, rest) = terms.linear(index).split_off(var);
                let depends = |m: &(TermId, _)| terms.free_vars(&[m.0]).contains(&var);
                let unit = coefficient.abs().is_one() && !rest.monomials.iter().any(depends);
                unit.then(|| {
                    let value = terms.linear(var).minus(&rest).scaled(&coefficient);
                    terms.from_linear(&value, sort)
                })
            }
            Sort::BitVec(_) if *terms.op(index) == Op::BvAdd => {
                let args = terms.args(index);
                let others = || args.iter().filter(|&&a| a != var);
                let depends = |a: &TermId| terms.free_vars(&[*a]).contains(&var);
                (others().count() + 1 == args.len() && !others().any(depends))
                    .then(|| others().fold(var, |value, &a| terms.bv_sub(value, a)))
            }
            _ => None,
        };
        if let Some(solved) = solved
            && !found.contains(&solved)
            && terms.free_vars(&[solved]).iter().all(|v| free.contains(v))
        {
            found.push(solved);
        }
    });
    found
}
