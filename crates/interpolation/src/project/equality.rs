//! Equalities that define a variable, which are used first.
//!
//! Each round goes through the new literals once, collects definitions `x = t` that are acyclic by
//! construction (a variable that occurs in a chosen definition is not defined any more), and
//! substitutes all of them in one pass. So chains of definitions are solved in near-linear time.
//!
//! Invariant: every rewriting is an equivalence, possibly under literals that it adds and that are
//! true in the model.

use num_bigint::BigInt;
use num_traits::{One, Signed};
use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use super::state::State;
use alphorn_term::{Assignment, BigUint, Op, Sort, SortId, TermId};

/// The use of a literal.
enum Use {
    Nothing,
    /// It would define a variable that occurs in another definition of this round.
    Blocked,
    /// A variable, its definition, and further literals that the literal implies.
    Definition(TermId, TermId, Vec<TermId>),
    /// Equivalent literals, under the model, that may define more.
    Rewritten(Vec<TermId>),
}

/// Variables that cannot be defined (again) in this round.
#[derive(Default)]
struct Round {
    defined: FxHashSet<TermId>,
    mentioned: FxHashSet<TermId>,
    blocked: bool,
}

/// Solves for remaining variables of any sort until no new literal defines one.
pub(super) fn solve(state: &mut State) {
    while !state.unsolved.is_empty() && !state.failed && !state.is_exhausted() {
        let slots = std::mem::take(&mut state.unsolved);
        let mut round = Round::default();
        let mut definitions = Vec::new();
        let mut blocked = Vec::new();
        for slot in slots {
            let Some(literal) = state.slot(slot) else {
                continue;
            };
            match analyse(state, &mut round, literal) {
                Use::Nothing => {}
                Use::Blocked => blocked.push(slot),
                Use::Rewritten(literals) => {
                    state.remove_slot(slot);
                    for literal in literals {
                        state.add(literal);
                    }
                }
                Use::Definition(var, term, rest) => {
                    state.remove_slot(slot);
                    for literal in rest {
                        state.add(literal);
                    }
                    round.defined.insert(var);
                    round.mentioned.extend(state.remaining_vars(term));
                    definitions.push((var, term));
                }
            }
        }
        // A later definition contains only earlier variables, so one memo serves all.
        let mut map = Assignment::default();
        let mut memo = FxHashMap::default();
        for (var, term) in definitions {
            let term = state.terms.substitute_with(term, &map, &mut memo);
            map.insert(var, term);
            memo.insert(var, term);
        }
        if !map.is_empty() {
            state.unsolved.extend(blocked);
            state.substitute(&map);
        }
    }
}

/// Eliminates variables that occur in disequalities only, if these are fewer than the values of the
/// sort: some value differs from all the other sides.
pub(super) fn drop_disequalities(state: &mut State) {
    let mut candidates = state.remaining(|_| true);
    while let Some(var) = candidates.pop() {
        if !state.is_remaining(var) {
            continue;
        }
        let literals = state.literals_of(var);
        let needed = literals.len() as u64 + 1;
        if literals.iter().all(|&l| is_disequality_of(state, l, var))
            && cardinality(state, state.terms.sort_of(var), needed) >= needed
        {
            state.drop_literals(var);
            for literal in literals {
                candidates.extend(state.remaining_vars(literal));
            }
        }
    }
}

/// `var ≠ t`, or `c·var + s ≠ t` over Int or Real, where `var` occurs only once.
fn is_disequality_of(state: &State, literal: TermId, var: TermId) -> bool {
    let terms = state.terms;
    if *terms.op(literal) != Op::Not {
        return false;
    }
    let atom = terms.node(terms.args(literal)[0]);
    if atom.op != Op::Eq {
        return false;
    }
    let (left, right) = (atom.args[0], atom.args[1]);
    if terms.sort_of(left).is_number() {
        return [left, right].iter().all(|&side| {
            let linear = terms.linear(side);
            let mut atoms = linear.monomials.iter();
            atoms.all(|m| m.0 == var || !state.contains(m.0, var))
        });
    }
    left == var && !state.contains(right, var) || right == var && !state.contains(left, var)
}

/// A lower bound of the number of values of a sort, at most `limit`.
fn cardinality(state: &State, sort: SortId, limit: u64) -> u64 {
    cardinality_below(state, sort, limit, &mut Vec::new())
}

// Recursive only through nested sorts and datatype declarations, each entered once.
fn cardinality_below(
    state: &State,
    sort: SortId,
    limit: u64,
    open: &mut Vec<(SortId, u64)>,
) -> u64 {
    let terms = state.terms;
    match terms.sort(sort) {
        Sort::Bool => limit.min(2),
        Sort::Int | Sort::Real => limit,
        Sort::BitVec(width) if width >= 63 => limit,
        Sort::BitVec(width) => limit.min(1 << width),
        Sort::Array(index, element) => {
            let elements = cardinality_below(state, element, limit.max(2), open);
            let indexes = cardinality_below(state, index, 64, open);
            match elements {
                0 => 0,
                1 => limit.min(1),
                n => limit.min(n.saturating_pow(indexes.max(1) as u32)),
            }
        }
        Sort::Datatype(id) => {
            if let Some(&(_, count)) = open.iter().find(|o| o.0 == sort) {
                return limit.min(count);
            }
            let mut counts = [0, 0];
            // If values built from those of the first pass add to their number, the number of
            // values is infinite.
            for pass in 0..2 {
                open.push((sort, counts[0]));
                for constructor in &terms.datatype(id).constructors {
                    let product = constructor.fields.iter().fold(1u64, |product, field| {
                        product.saturating_mul(cardinality_below(state, field.sort, limit, open))
                    });
                    counts[pass] = counts[pass].saturating_add(product);
                }
                open.pop();
            }
            if counts[1] > counts[0] {
                limit
            } else {
                limit.min(counts[0])
            }
        }
    }
}

impl Round {
    /// Whether `var = term` can be a definition of this round.
    fn accepts(&mut self, state: &State, var: TermId, term: TermId) -> bool {
        if !state.is_remaining(var) || self.defined.contains(&var) || state.contains(term, var) {
            return false;
        }
        if self.mentioned.contains(&var) {
            self.blocked = true;
            return false;
        }
        true
    }
}

fn analyse(state: &mut State, round: &mut Round, literal: TermId) -> Use {
    let terms = state.terms;
    round.blocked = false;
    let (atom, positive) = match *terms.op(literal) {
        Op::Not => (terms.args(literal)[0], false),
        _ => (literal, true),
    };
    let node = terms.node(atom);
    let found = match node.op {
        Op::Var(_) => {
            let value = terms.bool(positive);
            round
                .accepts(state, atom, value)
                .then_some(Use::Definition(atom, value, Vec::new()))
        }
        Op::Eq => {
            let [left, right] = [node.args[0], node.args[1]];
            match terms.sort(terms.sort_of(left)) {
                Sort::Bool => simple(state, round, left, right, positive),
                Sort::Int | Sort::Real if positive => linear(state, round, atom),
                Sort::BitVec(_) if positive => bitvector(state, round, left, right)
                    .or_else(|| bitvector(state, round, right, left)),
                Sort::Array(..) if positive => simple(state, round, left, right, true)
                    .or_else(|| written_values(state, left, right))
                    .or_else(|| written_values(state, right, left)),
                Sort::Datatype(_) if positive => simple(state, round, left, right, true)
                    .or_else(|| constructed(state, round, left, right))
                    .or_else(|| constructed(state, round, right, left)),
                Sort::Datatype(_) => {
                    different(state, left, right).or_else(|| different(state, right, left))
                }
                _ => None,
            }
        }
        _ => None,
    };
    match found {
        Some(found) => found,
        None if round.blocked => Use::Blocked,
        None => Use::Nothing,
    }
}

/// `x = t` as it is.
fn simple(
    state: &State,
    round: &mut Round,
    left: TermId,
    right: TermId,
    positive: bool,
) -> Option<Use> {
    for (var, term) in [(left, right), (right, left)] {
        if state.terms.is_var(var) && round.accepts(state, var, term) {
            let term = if positive {
                term
            } else {
                state.terms.not(term)
            };
            return Some(Use::Definition(var, term, Vec::new()));
        }
    }
    None
}

/// A linear equation: Int needs a coefficient of one, Real accepts any.
fn linear(state: &mut State, round: &mut Round, atom: TermId) -> Option<Use> {
    let terms = state.terms;
    let args = terms.args(atom);
    let sort = terms.sort_of(args[0]);
    let equation = terms.difference(args[0], args[1]);
    // The definition of a variable with few occurrences is the cheapest to substitute.
    let mut order: Vec<usize> = (0..equation.monomials.len()).collect();
    order.sort_by_key(|&at| state.degree(equation.monomials[at].0));
    for at in order {
        let (var, coefficient) = &equation.monomials[at];
        let solvable = sort == SortId::REAL || coefficient.abs().is_one();
        let hidden = terms.is_var(*var).then_some(*var).or_else(|| {
            // bv2nat of a variable: the number is in range, and the variable follows from it.
            let inner = terms.args(*var).first().copied()?;
            (*terms.op(*var) == Op::BvToNat && terms.is_var(inner)).then_some(inner)
        });
        let Some(target) = hidden.filter(|t| solvable && state.is_remaining(*t)) else {
            continue;
        };
        if equation.monomials.len() > LIMITS.max_monomials
            && target == *var
            && state.occurs_linearly(target)
        {
            continue;
        }
        let mut rest = equation.clone();
        rest.monomials.remove(at);
        let term = terms.from_linear(&rest.scaled(&-coefficient.recip()), sort);
        if target == *var {
            if round.accepts(state, target, term) {
                return Some(Use::Definition(target, term, Vec::new()));
            }
        } else {
            let width = terms.width(target);
            let value = terms.bv_op(&Op::IntToBv(width), &[term]);
            if round.accepts(state, target, value) {
                let range = vec![
                    terms.ge(term, terms.int(0)),
                    terms.lt(term, terms.int(BigInt::one() << width)),
                ];
                return Some(Use::Definition(target, value, range));
            }
        }
    }
    None
}

/// Solves `left = right` for a variable of `left` through invertible bit-vector operators.
fn bitvector(state: &State, round: &mut Round, left: TermId, right: TermId) -> Option<Use> {
    let terms = state.terms;
    let mut stack = vec![(left, right, Vec::new())];
    let mut budget = 64;
    while let Some((term, target, rest)) = stack.pop() {
        let node = terms.node(term);
        budget -= 1;
        if budget == 0 {
            return None;
        }
        match &node.op {
            Op::Var(_) if round.accepts(state, term, target) => {
                return Some(Use::Definition(term, target, rest));
            }
            Op::BvNot | Op::BvNeg => {
                stack.push((node.args[0], terms.bv_op(&node.op, &[target]), rest));
            }
            Op::BvAdd | Op::BvXor => {
                for at in 0..2 {
                    let (inner, other) = (node.args[at], node.args[1 - at]);
                    if state.has_remaining(inner) {
                        let moved = if node.op == Op::BvAdd {
                            terms.bv_sub(target, other)
                        } else {
                            terms.bv_op(&Op::BvXor, &[target, other])
                        };
                        stack.push((inner, moved, rest.clone()));
                    }
                }
            }
            Op::BvMul => {
                for at in 0..2 {
                    let width = terms.width(term);
                    let factor = terms.as_bitvec(node.args[at]);
                    if let Some(inverse) = factor.and_then(|f| odd_inverse(f, width)) {
                        let inverse = terms.bitvec(inverse, width);
                        let moved = terms.bv_op(&Op::BvMul, &[inverse, target]);
                        stack.push((node.args[1 - at], moved, rest.clone()));
                    }
                }
            }
            Op::BvConcat => {
                let low = terms.width(node.args[1]);
                let width = terms.width(term);
                let parts = [
                    terms.bv_op(&Op::BvExtract(width - 1, low), &[target]),
                    terms.bv_op(&Op::BvExtract(low - 1, 0), &[target]),
                ];
                for at in 0..2 {
                    let mut rest = rest.clone();
                    rest.push(terms.eq(node.args[1 - at], parts[1 - at]));
                    stack.push((node.args[at], parts[at], rest));
                }
            }
            Op::BvZeroExtend(_) | Op::BvSignExtend(_) => {
                let inner = terms.width(node.args[0]);
                let low = terms.bv_op(&Op::BvExtract(inner - 1, 0), &[target]);
                let mut rest = rest;
                rest.push(terms.eq(terms.bv_op(&node.op, &[low]), target));
                stack.push((node.args[0], low, rest));
            }
            _ => {}
        }
    }
    None
}

/// The inverse of an odd number modulo 2^width.
fn odd_inverse(value: &BigUint, width: u32) -> Option<BigUint> {
    if !value.bit(0) {
        return None;
    }
    let modulus = BigUint::one() << width;
    value.modinv(&modulus)
}

/// `store(…store(b, i, v)…) = t` where `v` contains a remaining variable and `t` none: `t[i] = v`,
/// and the written value is replaced by a read of `t`.
fn written_values(state: &mut State, chain: TermId, target: TermId) -> Option<Use> {
    let terms = state.terms;
    if *terms.op(chain) != Op::Store || state.has_remaining(target) {
        return None;
    }
    let mut literals = Vec::new();
    let mut writes: Vec<(TermId, TermId)> = Vec::new();
    let mut current = chain;
    let mut changed = false;
    while *terms.op(current) == Op::Store {
        let args = terms.args(current);
        let (index, value) = (args[1], args[2]);
        let read = terms.select(target, index);
        if value != read && state.has_remaining(value) {
            changed = true;
            let mut shadowed = false;
            for &(outer, _) in &writes {
                if state.same(outer, index)? {
                    literals.push(terms.eq(outer, index));
                    shadowed = true;
                    break;
                }
            }
            if !shadowed {
                for &(outer, _) in &writes {
                    literals.push(terms.not(terms.eq(outer, index)));
                }
                literals.push(terms.eq(read, value));
            }
            writes.push((index, read));
        } else {
            writes.push((index, value));
        }
        current = args[0];
    }
    if !changed {
        return None;
    }
    let mut array = current;
    for &(index, value) in writes.iter().rev() {
        array = terms.store(array, index, value);
    }
    literals.push(terms.eq(target, array));
    Some(Use::Rewritten(literals))
}

/// `C(t…) = s` with a remaining variable in `t…`: `s` has the constructor `C` and the fields `t…`.
fn constructed(state: &State, round: &mut Round, left: TermId, right: TermId) -> Option<Use> {
    let terms = state.terms;
    let Op::Construct(id, constructor) = *terms.op(left) else {
        return None;
    };
    if !state.has_remaining(left) || round.blocked {
        return None;
    }
    let mut literals = vec![terms.is(id, constructor, right)];
    for (at, &arg) in terms.args(left).iter().enumerate() {
        let field = terms.field(id, constructor, at as u32, right);
        literals.push(terms.eq(arg, field));
    }
    Some(Use::Rewritten(literals))
}

/// `C(t…) ≠ s` with a remaining variable in `t…`: `s` has another constructor, or one field
/// differs.
fn different(state: &mut State, left: TermId, right: TermId) -> Option<Use> {
    let terms = state.terms;
    let Op::Construct(id, constructor) = *terms.op(left) else {
        return None;
    };
    if state.is_remaining(right) || !state.has_remaining(left) {
        return None;
    }
    let tester = terms.is(id, constructor, right);
    if state.value(tester)? == TermId::FALSE {
        return Some(Use::Rewritten(vec![terms.not(tester)]));
    }
    for (at, &arg) in terms.args(left).iter().enumerate() {
        let field = terms.field(id, constructor, at as u32, right);
        if !state.same(arg, field)? {
            let literals = vec![tester, terms.not(terms.eq(arg, field))];
            return Some(Use::Rewritten(literals));
        }
    }
    None
}
