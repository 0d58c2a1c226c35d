//! Running a rule from some of its head's arguments: the tests on them, and the result.
//!
//! Invariant: a case's tests and result are over the function's parameters only, and each selector
//! is guarded by the tester of its constructor.

use num_traits::{One, Signed};
use rustc_hash::FxHashMap;

use super::limits::LIMITS;
use super::rules::Rule;
use alphorn_chc::{Atom, PredicateId};
use alphorn_term::{FunctionId, Op, SortId, TermId, TermStore};

/// The meaning of a predicate's atoms in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// The argument at this position is the function's value on the others.
    Function(FunctionId, usize),
    /// The function says whether the atom holds.
    Test(FunctionId),
}

/// A case of a definition.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub tests: Vec<TermId>,
    pub result: TermId,
}

/// A rule as a case of its head's definition; `None` if the inputs do not determine all of its
/// variables. `mode` gives the modes of predicates, including the head's. Integers at the positions
/// `natural` of atoms are not negative; inputs are tested for that.
pub(super) fn run(
    terms: &TermStore,
    rule: &Rule,
    mode: impl Fn(PredicateId) -> Option<Mode>,
    natural: impl Fn(PredicateId) -> Vec<usize>,
) -> Option<Case> {
    let head = rule.head.as_ref()?;
    let of_head = mode(head.predicate)?;
    let (function, output) = match of_head {
        Mode::Function(function, output) => (function, Some(output)),
        Mode::Test(function) => (function, None),
    };
    let mut run = Run {
        terms,
        known: FxHashMap::default(),
        tests: Vec::new(),
        equations: Vec::new(),
    };
    let params = &terms.function(function).params;
    let inputs = head
        .args
        .iter()
        .enumerate()
        .filter(|(i, _)| Some(*i) != output);
    for ((_, &pattern), &param) in inputs.zip(params) {
        run.matches(pattern, param);
    }
    let mut guards: Vec<TermId> = rule.guards.clone();
    let mut atoms: Vec<&Atom> = rule.body.iter().collect();
    loop {
        let before = (guards.len(), atoms.len(), run.equations.len());
        run.retry_equations();
        guards.retain(|&guard| !run.guard(guard));
        atoms.retain(|atom| !mode(atom.predicate).is_some_and(|m| run.atom(atom, m)));
        if (guards.len(), atoms.len(), run.equations.len()) == before {
            break;
        }
    }
    if !(guards.is_empty() && atoms.is_empty() && run.equations.is_empty()) {
        return None;
    }
    for atom in &rule.body {
        let output = match mode(atom.predicate) {
            Some(Mode::Function(_, output)) => Some(output),
            _ => None,
        };
        // The clauses of a function state the range of its value.
        let inputs = natural(atom.predicate)
            .into_iter()
            .filter(|p| Some(*p) != output);
        for position in inputs {
            let value = run.value(atom.args[position])?;
            run.test(terms.ge(value, terms.int(0)));
        }
    }
    let result = match output {
        Some(output) => run.contracted(run.value(head.args[output])?),
        None => TermId::TRUE,
    };
    Some(Case {
        tests: run.tests,
        result,
    })
}

struct Run<'a> {
    terms: &'a TermStore,
    /// Values of the rule's variables over the parameters.
    known: FxHashMap<TermId, TermId>,
    tests: Vec<TermId>,
    /// Patterns with more than one unknown variable, and their values.
    equations: Vec<(TermId, TermId)>,
}

impl Run<'_> {
    /// The term over the parameters, if its variables have values.
    fn value(&self, term: TermId) -> Option<TermId> {
        let free = self.terms.free_vars(&[term]);
        let known = free.iter().all(|v| self.known.contains_key(v));
        known.then(|| self.terms.substitute(term, &self.known))
    }

    /// The term with `y` in place of `c(f(y), g(y))`, where `f` and `g` are the selectors of a
    /// constructor `c` that `y` was tested to have: the rule takes a part apart and returns it.
    fn contracted(&self, term: TermId) -> TermId {
        let terms = self.terms;
        terms.rewrite_bottom_up(term, &mut FxHashMap::default(), |t| {
            let Op::Construct(datatype, constructor) = *terms.op(t) else {
                return t;
            };
            let args = terms.args(t);
            let Some(&whole) = args.first().and_then(|&a| terms.args(a).first()) else {
                return t;
            };
            let is_part = |(&arg, field): (&TermId, u32)| {
                *terms.op(arg) == Op::Field(datatype, constructor, field)
                    && terms.args(arg) == [whole]
            };
            if !args.iter().zip(0..).all(is_part) {
                return t;
            }
            let tester = terms.is(datatype, constructor, whole);
            match tester == TermId::TRUE || self.tests.contains(&tester) {
                true => whole,
                false => t,
            }
        })
    }

    fn test(&mut self, test: TermId) {
        for conjunct in self.terms.conjuncts(test) {
            let conjunct = as_tester(self.terms, conjunct);
            if !self.tests.contains(&conjunct) {
                self.tests.push(conjunct);
            }
        }
    }

    /// Takes the values of the pattern's variables from its value.
    fn matches(&mut self, pattern: TermId, value: TermId) {
        let terms = self.terms;
        // Iterative, outermost and leftmost first.
        let mut open = vec![(pattern, value)];
        while let Some((pattern, value)) = open.pop() {
            match *terms.op(pattern) {
                Op::Construct(datatype, constructor) => {
                    self.test(terms.is(datatype, constructor, value));
                    let fields = terms.args(pattern).iter().zip(0..);
                    let mut parts: Vec<(TermId, TermId)> = fields
                        .map(|(&field, i)| (field, terms.field(datatype, constructor, i, value)))
                        .collect();
                    parts.reverse();
                    open.extend(parts);
                }
                _ if self.value(pattern).is_some() => {
                    let same = self.value(pattern);
                    self.test(same.map_or(TermId::TRUE, |same| terms.eq(same, value)));
                }
                Op::Var(_) => {
                    self.known.insert(pattern, value);
                }
                _ => match self.inverted(pattern, value) {
                    Some((var, value)) => {
                        self.known.insert(var, value);
                    }
                    None => self.equations.push((pattern, value)),
                },
            }
        }
    }

    /// The unknown variable of a linear pattern, if it is the only one, and its value.
    fn inverted(&self, pattern: TermId, value: TermId) -> Option<(TermId, TermId)> {
        let terms = self.terms;
        let sort = terms.sort_of(pattern);
        if sort != SortId::INT && sort != SortId::REAL {
            return None;
        }
        let mut unknown = None;
        let mut known = Vec::new();
        for (column, factor) in &terms.linear(pattern).monomials {
            match self.value(*column) {
                Some(value) => known.push(terms.scale(factor, value)),
                None if unknown.is_none() && terms.is_var(*column) => {
                    unknown = Some((*column, factor.clone()));
                }
                None => return None,
            }
        }
        let (var, factor) = unknown?;
        if sort == SortId::INT && !factor.abs().is_one() {
            return None;
        }
        let constant = terms.number(&terms.linear(pattern).constant, sort);
        known.push(constant);
        let rest = terms.sub(value, terms.add(&known));
        Some((var, terms.scale(&factor.recip(), rest)))
    }

    fn retry_equations(&mut self) {
        for (pattern, value) in std::mem::take(&mut self.equations) {
            self.matches(pattern, value);
        }
    }

    /// Takes a conjunct as a test, or as an equation that determines a variable.
    fn guard(&mut self, guard: TermId) -> bool {
        if let Some(test) = self.value(guard) {
            self.test(test);
            return true;
        }
        if let Op::Eq = self.terms.op(guard) {
            let &[left, right] = self.terms.args(guard) else {
                return false;
            };
            for (side, other) in [(left, right), (right, left)] {
                if let Some(value) = self.value(other) {
                    self.matches(side, value);
                    return true;
                }
            }
        }
        false
    }

    /// Runs an atom whose inputs have values.
    fn atom(&mut self, atom: &Atom, mode: Mode) -> bool {
        let (function, output) = match mode {
            Mode::Function(function, output) => (function, Some(output)),
            Mode::Test(function) => (function, None),
        };
        let inputs = atom
            .args
            .iter()
            .enumerate()
            .filter(|(i, _)| Some(*i) != output);
        let Some(inputs) = inputs
            .map(|(_, &a)| self.value(a))
            .collect::<Option<Vec<_>>>()
        else {
            return false;
        };
        let inputs: Vec<TermId> = inputs.into_iter().map(|i| self.contracted(i)).collect();
        let call = self.terms.call(function, &inputs);
        match output {
            Some(output) => self.matches(atom.args[output], call),
            None => self.test(call),
        }
        true
    }
}

/// An equation with a constant of a datatype as the tester of that constructor.
fn as_tester(terms: &TermStore, literal: TermId) -> TermId {
    let node = terms.node(literal);
    match node.op {
        Op::Not => terms.not(as_tester(terms, node.args[0])),
        Op::Eq => {
            for (constant, other) in [(0, 1), (1, 0)].map(|(i, j)| (node.args[i], node.args[j])) {
                if let Op::Construct(datatype, constructor) = *terms.op(constant)
                    && terms.args(constant).is_empty()
                {
                    return terms.is(datatype, constructor, other);
                }
            }
            literal
        }
        _ => literal,
    }
}

/// Combines cases into one term, with tests in the order of the first remaining case. `None` if it
/// is too large. `possible` says whether tests can hold together; where they can but no case
/// remains, the result is `default`, and the second component is false.
pub(super) fn decide(
    terms: &TermStore,
    cases: &[Case],
    default: TermId,
    possible: &mut impl FnMut(&[TermId]) -> bool,
) -> Option<(TermId, bool)> {
    let mut tree = Tree {
        terms,
        default,
        total: true,
        nodes: 0,
        possible,
    };
    let all: Vec<Case> = cases.to_vec();
    let root = tree.build(all, &mut Vec::new())?;
    Some((root.unwrap_or(default), tree.total))
}

struct Tree<'a, F> {
    terms: &'a TermStore,
    default: TermId,
    total: bool,
    nodes: usize,
    possible: &'a mut F,
}

impl<F: FnMut(&[TermId]) -> bool> Tree<'_, F> {
    /// The term for the cases under the path; the inner `None` if the path is impossible.
    #[allow(clippy::option_option)]
    fn build(&mut self, cases: Vec<Case>, path: &mut Vec<TermId>) -> Option<Option<TermId>> {
        self.nodes += 1;
        if self.nodes > LIMITS.max_decisions {
            return None;
        }
        let Some(first) = cases.first() else {
            if !(self.possible)(path) {
                return Some(None);
            }
            self.total = false;
            return Some(Some(self.default));
        };
        let Some(&test) = first.tests.first() else {
            return Some(Some(first.result));
        };
        let (atom, positive) = match *self.terms.op(test) {
            Op::Not => (self.terms.args(test)[0], false),
            _ => (test, true),
        };
        let mut branch = |value: bool, tree: &mut Self| {
            let literal = if value { atom } else { tree.terms.not(atom) };
            let left: Vec<Case> = cases
                .iter()
                .filter_map(|case| tree.assume(case, literal))
                .collect();
            path.push(literal);
            let built = tree.build(left, path);
            path.pop();
            built
        };
        let then = branch(positive, self)?;
        let otherwise = branch(!positive, self)?;
        let condition = if positive { atom } else { self.terms.not(atom) };
        Some(match (then, otherwise) {
            (Some(a), Some(b)) => Some(self.terms.ite(condition, a, b)),
            (one, None) | (None, one) => one,
        })
    }

    /// The rest of a case if a literal holds; `None` if it is contradictory.
    fn assume(&self, case: &Case, literal: TermId) -> Option<Case> {
        let terms = self.terms;
        let negation = terms.not(literal);
        let mut tests = Vec::with_capacity(case.tests.len());
        for &test in &case.tests {
            if test == negation || excludes(terms, literal, test) {
                return None;
            }
            if test != literal && !last_constructor(terms, literal, test) {
                tests.push(test);
            }
        }
        Some(Case {
            tests,
            result: case.result,
        })
    }
}

/// Whether one tester excludes another one.
fn excludes(terms: &TermStore, literal: TermId, test: TermId) -> bool {
    match (terms.op(literal), terms.op(test)) {
        (Op::Is(_, a), Op::Is(_, b)) => a != b && terms.args(literal) == terms.args(test),
        _ => false,
    }
}

/// Whether a negated tester of a datatype with two constructors implies the tester of the other.
fn last_constructor(terms: &TermStore, literal: TermId, test: TermId) -> bool {
    let Op::Not = terms.op(literal) else {
        return false;
    };
    let atom = terms.args(literal)[0];
    match (terms.op(atom), terms.op(test)) {
        (Op::Is(datatype, a), Op::Is(_, b)) => {
            a != b
                && terms.args(atom) == terms.args(test)
                && terms.datatype(*datatype).constructors.len() == 2
        }
        _ => false,
    }
}
