//! Normal forms: calls whose measured arguments have known constructors are unfolded.
//!
//! Invariant: the equations in [`Normalizer::unfolded`] imply that a term equals its normal form.

use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use alphorn_term::{FunctionId, Op, SortId, TermId, TermStore};

/// Unfolds calls and records them.
pub(super) struct Normalizer<'a> {
    terms: &'a TermStore,
    /// Integers that are known to be at most zero, where recursion ends.
    ended: &'a FxHashSet<TermId>,
    /// Unfolded calls and their bodies, in the order of unfolding.
    pub unfolded: Vec<(TermId, TermId)>,
    map: FxHashMap<TermId, TermId>,
    /// Variables that calls need to be unfolded, with the number of calls in the last round.
    pub waiting: FxHashMap<TermId, usize>,
}

impl<'a> Normalizer<'a> {
    /// A normalizer that has unfolded nothing.
    pub fn new(terms: &'a TermStore, ended: &'a FxHashSet<TermId>) -> Self {
        Normalizer {
            terms,
            ended,
            unfolded: Vec::new(),
            map: FxHashMap::default(),
            waiting: FxHashMap::default(),
        }
    }

    /// The normal form of the term.
    pub fn normal(&mut self, term: TermId) -> TermId {
        let mut term = term;
        for _ in 0..LIMITS.normalization_rounds {
            let mut calls = Vec::new();
            self.terms.post_order(&[term], |t| {
                if let Op::Call(_) = self.terms.op(t) {
                    calls.push(t);
                }
            });
            let mut changed = false;
            self.waiting.clear();
            for call in calls {
                if self.map.contains_key(&call) {
                    changed = true;
                    continue;
                }
                if let Some(lifted) = self.lifted(call) {
                    self.map.insert(call, lifted);
                    changed = true;
                    continue;
                }
                match self.unfolds(call) {
                    Ok(body) if self.unfolded.len() < LIMITS.unfoldings => {
                        self.unfolded.push((call, body));
                        self.map.insert(call, body);
                        changed = true;
                    }
                    Ok(_) => {}
                    Err(cause) if self.terms.is_var(cause) => {
                        *self.waiting.entry(cause).or_default() += 1;
                    }
                    Err(_) => {}
                }
            }
            if !changed {
                break;
            }
            term = self.terms.substitute(term, &self.map);
        }
        term
    }

    /// A call with an `ite` as argument, as an `ite` of calls.
    fn lifted(&self, call: TermId) -> Option<TermId> {
        let terms = self.terms;
        let Op::Call(id) = *terms.op(call) else {
            return None;
        };
        let args = terms.args(call);
        let at = args.iter().position(|&a| matches!(terms.op(a), Op::Ite))?;
        let [condition, then, other] = *terms.args(args[at]) else {
            return None;
        };
        let with = |arg: TermId| {
            let mut args = args.to_vec();
            args[at] = arg;
            terms.call(id, &args)
        };
        let has_room = self.map.len() < 2 * LIMITS.unfoldings;
        has_room.then(|| terms.ite(condition, with(then), with(other)))
    }

    /// The body of the call, or the term whose constructor has to be known to unfold it.
    fn unfolds(&self, call: TermId) -> Result<TermId, TermId> {
        let terms = self.terms;
        let Op::Call(id) = *terms.op(call) else {
            return Err(call);
        };
        let function = terms.function(id);
        let args = terms.args(call);
        let map = function
            .params
            .iter()
            .copied()
            .zip(args.iter().copied())
            .collect();
        if let Some(cause) = self.blocked(function.body, &map) {
            return Err(cause);
        }
        let body = terms.unfold(call);
        if function.measure.is_empty() || !calls_one_of(terms, body, id) {
            return Ok(body);
        }
        for &position in &function.measure {
            let arg = args[position];
            let shown = match terms.sort_of(arg) {
                SortId::INT => self.ended.contains(&arg) || is_successor(terms, arg),
                _ => matches!(terms.op(arg), Op::Construct(..)),
            };
            if shown {
                return Ok(body);
            }
        }
        Err(args[function.measure[0]])
    }

    /// The first term that the body tests for its constructor and that is not known.
    fn blocked(&self, body: TermId, map: &FxHashMap<TermId, TermId>) -> Option<TermId> {
        let terms = self.terms;
        let mut open = vec![body];
        let mut seen = FxHashSet::default();
        while let Some(term) = open.pop() {
            if !seen.insert(term) {
                continue;
            }
            let node = terms.node(term);
            match node.op {
                Op::Ite => match terms.substitute(node.args[0], map) {
                    TermId::TRUE => open.push(node.args[1]),
                    TermId::FALSE => open.push(node.args[2]),
                    _ => open.push(node.args[0]),
                },
                Op::Not => open.push(node.args[0]),
                Op::And | Op::Or => {
                    let zero = terms.bool(node.op == Op::Or);
                    if terms.substitute(term, map) != zero {
                        open.extend(node.args.iter().rev());
                    }
                }
                // A test of a call's result is no pattern.
                Op::Is(..) if terms.called(&[term]).is_empty() => {
                    let tester = terms.substitute(term, map);
                    if let Op::Is(..) = terms.op(tester) {
                        return Some(terms.args(tester)[0]);
                    }
                }
                _ => {}
            }
        }
        None
    }
}

/// Whether an integer is a numeral, or a sum with a positive constant.
fn is_successor(terms: &TermStore, term: TermId) -> bool {
    let sum = terms.linear(term);
    sum.is_constant() || sum.constant.numer().sign() == num_bigint::Sign::Plus
}

/// Whether the body calls the function or one that is defined together with it.
fn calls_one_of(terms: &TermStore, body: TermId, id: FunctionId) -> bool {
    let group = terms.function_group(id);
    terms.called(&[body]).iter().any(|f| group.contains(f))
}
