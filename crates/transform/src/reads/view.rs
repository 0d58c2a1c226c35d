//! One clause as the analysis of arrays sees it: the arrays that others define, and what is known
//! of indexes.
//!
//! Invariant: the definitions are acyclic, each variable has at most one, and a variable of the
//! body has none. An index term and its resolved form are equal in every assignment that satisfies
//! the clause's constraint.

use num_traits::{Signed, Zero};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::isolate;
use super::limits::LIMITS;
use alphorn_chc::Clause;
use alphorn_term::{Op, Rational, Sort, SortId, TermId, TermStore};

/// The arrays and indexes of one clause.
pub struct View {
    /// The position of each array in the body: atom and argument.
    pub body: FxHashMap<TermId, (usize, usize)>,
    /// `array := term`, each after those that its term needs.
    pub definitions: Vec<Definition>,
    /// Positions in `definitions`.
    pub defined: FxHashMap<TermId, usize>,
    /// The conjuncts that are not definitions.
    pub rest: Vec<TermId>,
    /// Scalars in terms of others, by the clause's equations; the terms may contain solved
    /// variables again.
    solved: FxHashMap<TermId, TermId>,
    /// Equations that are false.
    different: FxHashSet<TermId>,
    /// Upper bounds of sums over Int.
    bounds: FxHashMap<Vec<(TermId, Rational)>, Rational>,
}

/// An equation that defines an array.
pub struct Definition {
    /// The array variable that is defined.
    pub var: TermId,
    /// The term that it equals; it does not contain the variable.
    pub term: TermId,
    /// The conjunct that is this equation.
    pub conjunct: TermId,
}

impl View {
    /// Analyses the constraint of a clause.
    pub fn new(terms: &TermStore, clause: &Clause) -> View {
        let mut body = FxHashMap::default();
        let mut given: FxHashSet<TermId> = FxHashSet::default();
        for (i, atom) in clause.body.iter().enumerate() {
            for (j, &arg) in atom.args.iter().enumerate() {
                given.insert(arg);
                if terms.is_array(arg) {
                    body.insert(arg, (i, j));
                }
            }
        }
        let heads: FxHashSet<TermId> = clause.head.iter().flat_map(|h| &h.args).copied().collect();
        let conjuncts = terms.conjuncts(clause.constraint);
        let mut view = View {
            body,
            definitions: Vec::new(),
            defined: FxHashMap::default(),
            rest: Vec::new(),
            solved: FxHashMap::default(),
            different: FxHashSet::default(),
            bounds: FxHashMap::default(),
        };
        view.define(terms, &conjuncts, &given, &heads);
        view.solve(terms, &conjuncts, &given, &heads);
        view.compare(terms, &conjuncts);
        view
    }

    /// Reads equations between arrays as definitions, as far as they are acyclic.
    fn define(
        &mut self,
        terms: &TermStore,
        conjuncts: &[TermId],
        given: &FxHashSet<TermId>,
        heads: &FxHashSet<TermId>,
    ) {
        let mut found: Vec<Definition> = Vec::new();
        let mut at: FxHashMap<TermId, usize> = FxHashMap::default();
        for &conjunct in conjuncts {
            let node = terms.node(conjunct);
            if node.op != Op::Eq || !terms.is_array(node.args[0]) || node.has_quantifier {
                self.rest.push(conjunct);
                continue;
            }
            let open = |t: TermId| terms.is_var(t) && !given.contains(&t) && !at.contains_key(&t);
            let mut sides = [(node.args[0], node.args[1]), (node.args[1], node.args[0])];
            // Prefers to define the head's arrays.
            if heads.contains(&sides[1].0) {
                sides.swap(0, 1);
            }
            match sides.into_iter().find(|s| open(s.0)) {
                Some((var, term)) => {
                    at.insert(var, found.len());
                    found.push(Definition {
                        var,
                        term,
                        conjunct,
                    });
                }
                None => self.rest.push(conjunct),
            }
        }
        // Depth-first search; a definition that closes a cycle is dropped.
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            Open,
            Done,
            Dropped,
        }
        let below: Vec<Vec<usize>> = found
            .iter()
            .map(|d| {
                let vars = terms.free_vars(&[d.term]).into_iter();
                vars.filter_map(|v| at.get(&v).copied()).collect()
            })
            .collect();
        let mut state = vec![State::New; found.len()];
        let mut order = Vec::new();
        for root in 0..found.len() {
            if state[root] != State::New {
                continue;
            }
            state[root] = State::Open;
            let mut stack = vec![(root, 0)];
            while let Some((current, next)) = stack.last_mut() {
                let current = *current;
                let child = below[current].get(*next).copied();
                *next += 1;
                match child {
                    Some(child) if state[child] == State::New => {
                        state[child] = State::Open;
                        stack.push((child, 0));
                    }
                    Some(child) if state[child] == State::Open => state[current] = State::Dropped,
                    Some(_) => {}
                    None => {
                        if state[current] == State::Open {
                            state[current] = State::Done;
                            order.push(current);
                        }
                        stack.pop();
                    }
                }
            }
        }
        let mut found: Vec<Option<Definition>> = found.into_iter().map(Some).collect();
        for at in order {
            let definition = found[at]
                .take()
                .expect("each definition occurs once in the order");
            self.defined.insert(definition.var, self.definitions.len());
            self.definitions.push(definition);
        }
        self.rest
            .extend(found.into_iter().flatten().map(|d| d.conjunct));
    }

    /// Solves equations between scalars, preferably for the head's arguments, and for the body's
    /// arguments last.
    fn solve(
        &mut self,
        terms: &TermStore,
        conjuncts: &[TermId],
        given: &FxHashSet<TermId>,
        heads: &FxHashSet<TermId>,
    ) {
        let rank = |var: &TermId| match () {
            () if heads.contains(var) => 0,
            () if given.contains(var) => 2,
            () => 1,
        };
        for &conjunct in conjuncts {
            let node = terms.node(conjunct);
            if node.op != Op::Eq
                || terms.sort_of(node.args[0]) == SortId::BOOL
                || !is_index(terms, conjunct)
            {
                continue;
            }
            let equation = self.resolve(terms, conjunct);
            let vars = isolate::definable(terms, equation);
            let Some(var) = vars.into_iter().min_by_key(|v| (rank(v), *v)) else {
                continue;
            };
            if let Some(term) = isolate::definition(terms, equation, var) {
                self.solved.insert(var, term);
            }
        }
    }

    /// Records disequations and bounds, which show that indexes differ.
    fn compare(&mut self, terms: &TermStore, conjuncts: &[TermId]) {
        for &conjunct in conjuncts {
            let node = terms.node(conjunct);
            let atom = match node.op {
                Op::Not => node.args[0],
                _ => conjunct,
            };
            let op = terms.op(atom);
            if !matches!(op, Op::Eq | Op::Le | Op::Ge) || !is_index(terms, atom) {
                continue;
            }
            let resolved = self.resolve(terms, conjunct);
            let node = terms.node(resolved);
            match node.op {
                Op::Not => {
                    self.different.insert(node.args[0]);
                }
                Op::Le | Op::Ge if terms.sort_of(node.args[0]) == SortId::INT => {
                    let sides = match node.op {
                        Op::Le => [node.args[0], node.args[1]],
                        _ => [node.args[1], node.args[0]],
                    };
                    let sum = terms.difference(sides[0], sides[1]);
                    let limit = -sum.constant;
                    let least = self.bounds.entry(sum.monomials).or_insert(limit.clone());
                    if *least > limit {
                        *least = limit;
                    }
                }
                _ => {}
            }
        }
    }

    /// The term with solved variables replaced.
    pub fn resolve(&self, terms: &TermStore, term: TermId) -> TermId {
        let mut term = term;
        while terms
            .free_vars(&[term])
            .iter()
            .any(|v| self.solved.contains_key(v))
        {
            term = terms.substitute(term, &self.solved);
        }
        term
    }

    /// `TRUE` if two resolved indexes are equal, `FALSE` if they differ, otherwise the condition
    /// under which they are equal.
    pub fn equal(&self, terms: &TermStore, a: TermId, b: TermId) -> TermId {
        self.compared(terms, a, b, LIMITS.max_choice_depth)
    }

    fn compared(&self, terms: &TermStore, a: TermId, b: TermId, depth: usize) -> TermId {
        let equation = terms.eq(a, b);
        if terms.is_value(equation) {
            return equation;
        }
        for (a, b) in [(a, b), (b, a)] {
            let node = terms.node(a);
            if node.op == Op::Ite && depth > 0 {
                let sides = [1, 2].map(|i| self.compared(terms, node.args[i], b, depth - 1));
                return terms.ite(node.args[0], sides[0], sides[1]);
            }
        }
        if self.different.contains(&equation) {
            return TermId::FALSE;
        }
        if terms.sort_of(a) == SortId::INT {
            let sum = terms.difference(a, b);
            for sum in [sum.negated(), sum] {
                // The sum is negative if its part without the constant is less than the negated
                // constant.
                if let Some(limit) = self.bounds.get(&sum.monomials)
                    && (limit + &sum.constant).is_negative()
                {
                    return TermId::FALSE;
                }
            }
        }
        equation
    }
}

/// Whether a term may be part of an index that is compared or passed on: scalars that evaluation
/// always gives a value, and few of them.
pub(super) fn is_index(terms: &TermStore, term: TermId) -> bool {
    let mut count = 0;
    let mut good = true;
    let mut stack = vec![term];
    let mut seen = FxHashSet::default();
    while let Some(t) = stack.pop() {
        if !seen.insert(t) {
            continue;
        }
        count += 1;
        let node = terms.node(t);
        good &=
            count <= LIMITS.max_equation_nodes && !matches!(terms.sort(node.sort), Sort::Array(..));
        good &= match &node.op {
            Op::Select | Op::Field(..) | Op::Div | Op::Forall(_) | Op::Exists(_) => false,
            Op::BvUdiv | Op::BvUrem | Op::BvSdiv | Op::BvSrem | Op::BvSmod => false,
            Op::IDiv | Op::Mod => {
                let divisor = terms.numeral(node.args[1]);
                divisor.is_some_and(|d| !d.is_zero())
            }
            _ => true,
        };
        if !good {
            return false;
        }
        stack.extend_from_slice(&node.args);
    }
    true
}
