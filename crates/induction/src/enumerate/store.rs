//! Partially known terms, and constraints on them, with undo.
//!
//! A reference stands for a term: a variable, a number, or a constructor with references for its
//! fields. Unification binds variables; those of sort Int also have bounds. A constraint waits for
//! changes of its variables, as in constraint logic programming (Jaffar, Maher, "Constraint Logic
//! Programming: A Survey", 1994), and so do the atoms of the search.
//!
//! Invariant: after `undo` the terms and constraints are as they were at the mark. A failure means
//! that no values of the variables satisfy all constraints, or that terms or numbers are too large;
//! without a failure there may be no such values, either.

use std::collections::VecDeque;
use std::ops::Range;

use num_integer::Integer;
use num_traits::ToPrimitive;
use rustc_hash::FxHashMap;

use super::limits::LIMITS;
use super::rules::{Guard, Pattern, Relation, Rule};
use alphorn_term::{Assignment, Op, Sort, SortId, TermId, TermStore};

/// The position of a term.
pub(super) type Ref = u32;

/// The end of a list of waiters.
const NONE: u32 = u32::MAX;

/// A term.
#[derive(Clone, Copy, Debug)]
enum Node {
    /// A variable of sort Bool or of a datatype, with the first of its waiters.
    Free { waiting: u32 },
    /// A variable of sort Int with its bounds, which are inclusive.
    Integer { waiting: u32, low: i64, high: i64 },
    /// A bound variable.
    Link(Ref),
    /// A number.
    Number(i64),
    /// A constructor; the fields are at this position of `Store::fields`.
    Construct {
        constructor: u32,
        fields: u32,
        count: u32,
    },
}

/// A waiter: it is woken when a variable changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Item {
    Constraint(u32),
    Atom(u32),
}

/// The kinds of constraints.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// A linear constraint; its monomials are at this position of `Store::monomials`.
    Linear {
        relation: Relation,
        start: u32,
        count: u32,
        constant: i64,
    },
    /// Two terms of a datatype differ.
    Differ(Ref, Ref),
    /// A guard that is a formula or a value, by its number in a rule whose instance is at this
    /// position.
    Term { rule: u32, guard: u32, base: Ref },
}

/// A constraint.
struct Constraint {
    kind: Kind,
    /// Whether it is implied by what is known.
    done: bool,
    /// Whether it waits for all its variables.
    waits: bool,
    queued: bool,
}

/// The constraints have no solution, or a limit was reached.
pub(super) struct Failure;

/// The result of adding a constraint.
pub(super) type Outcome = Result<(), Failure>;

/// A state of the store: the sizes of its parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    nodes: usize,
    fields: usize,
    waiters: usize,
    constraints: usize,
    monomials: usize,
    trail: usize,
}

/// A change to take back.
enum Undo {
    Node(Ref, Node),
    Done(u32),
    Waits(u32),
}

/// The terms and constraints of a search.
pub(super) struct Store<'a> {
    terms: &'a TermStore,
    rules: &'a [Rule],
    /// The terms.
    nodes: Vec<Node>,
    /// Their sorts.
    sorts: Vec<SortId>,
    /// The fields of constructors.
    fields: Vec<Ref>,
    /// Linked lists of waiters: each with the position of the next.
    waiters: Vec<(Item, u32)>,
    /// The constraints.
    constraints: Vec<Constraint>,
    /// The monomials of linear constraints.
    monomials: Vec<(i64, Ref)>,
    /// The changes since the beginning.
    trail: Vec<Undo>,
    /// Constraints that have to be propagated.
    agenda: VecDeque<u32>,
    /// Atoms that were woken.
    woken: Vec<u32>,
    /// By atom: whether it is in `woken`.
    is_woken: Vec<bool>,
    /// Propagations of constraints in the whole search.
    pub looks: u64,
    /// Bounds that moved in the current propagation.
    moves: usize,
    /// A buffer for unification.
    pairs: Vec<(Ref, Ref)>,
    /// A buffer for sums.
    sum: Vec<(i128, Ref)>,
}

impl<'a> Store<'a> {
    /// An empty store for instances of these rules.
    pub fn new(terms: &'a TermStore, rules: &'a [Rule]) -> Self {
        Store {
            terms,
            rules,
            nodes: Vec::new(),
            sorts: Vec::new(),
            fields: Vec::new(),
            waiters: Vec::new(),
            constraints: Vec::new(),
            monomials: Vec::new(),
            trail: Vec::new(),
            agenda: VecDeque::new(),
            woken: Vec::new(),
            is_woken: Vec::new(),
            looks: 0,
            moves: 0,
            pairs: Vec::new(),
            sum: Vec::new(),
        }
    }

    /// The current state.
    pub fn mark(&self) -> Mark {
        Mark {
            nodes: self.nodes.len(),
            fields: self.fields.len(),
            waiters: self.waiters.len(),
            constraints: self.constraints.len(),
            monomials: self.monomials.len(),
            trail: self.trail.len(),
        }
    }

    /// Takes back the changes since the mark, and empties the agenda and the woken atoms.
    pub fn undo(&mut self, mark: &Mark) {
        while self.trail.len() > mark.trail {
            match self.trail.pop() {
                Some(Undo::Node(at, node)) => self.nodes[at as usize] = node,
                Some(Undo::Done(at)) => self.constraints[at as usize].done = false,
                Some(Undo::Waits(at)) => self.constraints[at as usize].waits = false,
                None => {}
            }
        }
        while let Some(at) = self.agenda.pop_front() {
            self.constraints[at as usize].queued = false;
        }
        while self.next_woken().is_some() {}
        self.nodes.truncate(mark.nodes);
        self.sorts.truncate(mark.nodes);
        self.fields.truncate(mark.fields);
        self.waiters.truncate(mark.waiters);
        self.constraints.truncate(mark.constraints);
        self.monomials.truncate(mark.monomials);
    }

    /// Adds a variable of the sort.
    fn variable(&mut self, sort: SortId) -> Ref {
        let node = match sort == SortId::INT {
            true => Node::Integer {
                waiting: NONE,
                low: i64::MIN,
                high: i64::MAX,
            },
            false => Node::Free { waiting: NONE },
        };
        self.push(node, sort)
    }

    /// Adds a term.
    fn push(&mut self, node: Node, sort: SortId) -> Ref {
        self.nodes.push(node);
        self.sorts.push(sort);
        (self.nodes.len() - 1) as Ref
    }

    /// Adds the variables of an instance of the rule. Returns the position of the first one.
    pub fn instance(&mut self, rule: u32) -> Ref {
        let base = self.nodes.len() as Ref;
        let rules = self.rules;
        for &var in &rules[rule as usize].vars {
            self.variable(self.terms.sort_of(var));
        }
        base
    }

    /// The term that a position stands for, after all links.
    fn find(&self, mut at: Ref) -> Ref {
        while let Node::Link(to) = self.nodes[at as usize] {
            at = to;
        }
        at
    }

    /// Adds the term of a pattern in an instance.
    pub fn build(&mut self, pattern: &Pattern, base: Ref) -> Ref {
        match pattern {
            Pattern::Variable(v) => self.find(base + v),
            Pattern::Number(n) => self.push(Node::Number(*n), SortId::INT),
            Pattern::Construct(sort, constructor, parts) => {
                let fields = self.fields.len();
                self.fields.resize(fields + parts.len(), NONE);
                for (part, at) in parts.iter().zip(fields..) {
                    self.fields[at] = self.build(part, base);
                }
                let node = Node::Construct {
                    constructor: *constructor,
                    fields: fields as u32,
                    count: parts.len() as u32,
                };
                self.push(node, *sort)
            }
        }
    }

    /// Whether the pattern may match the term as far as both are known. Adds the variables on which
    /// this depends to `open`. Variables of the pattern match every term.
    pub fn may_match(&self, pattern: &Pattern, term: Ref, open: &mut Vec<Ref>) -> bool {
        let term = self.find(term);
        match (pattern, self.nodes[term as usize]) {
            (Pattern::Variable(_), _) => true,
            (Pattern::Number(n), Node::Number(m)) => *n == m,
            (Pattern::Number(n), Node::Integer { low, high, .. }) => {
                open.push(term);
                low <= *n && *n <= high
            }
            (
                Pattern::Construct(_, c, parts),
                Node::Construct {
                    constructor,
                    fields,
                    ..
                },
            ) => {
                *c == constructor
                    && parts.iter().zip(fields..).all(|(part, field)| {
                        self.may_match(part, self.fields[field as usize], open)
                    })
            }
            (_, _) => {
                open.push(term);
                true
            }
        }
    }

    /// Unifies a pattern in an instance with a term.
    pub fn unify_pattern(&mut self, pattern: &Pattern, base: Ref, term: Ref) -> Outcome {
        let term = self.find(term);
        match (pattern, self.nodes[term as usize]) {
            (Pattern::Variable(v), _) => self.unify(base + v, term),
            (
                Pattern::Construct(_, c, parts),
                Node::Construct {
                    constructor,
                    fields,
                    ..
                },
            ) => {
                if *c != constructor {
                    return Err(Failure);
                }
                for (part, field) in parts.iter().zip(fields..) {
                    self.unify_pattern(part, base, self.fields[field as usize])?;
                }
                Ok(())
            }
            (Pattern::Number(n), Node::Number(m)) if *n == m => Ok(()),
            (Pattern::Number(_), Node::Number(_)) => Err(Failure),
            _ => {
                let built = self.build(pattern, base);
                self.unify(built, term)
            }
        }
    }

    /// Unifies two terms. There is no occurs check; a term that contains itself cannot be read at
    /// the end.
    fn unify(&mut self, left: Ref, right: Ref) -> Outcome {
        let mut open = std::mem::take(&mut self.pairs);
        open.clear();
        open.push((left, right));
        let outcome = self.unify_pairs(&mut open);
        self.pairs = open;
        outcome
    }

    /// Unifies pairs of terms.
    fn unify_pairs(&mut self, open: &mut Vec<(Ref, Ref)>) -> Outcome {
        let mut pairs = 0;
        while let Some((left, right)) = open.pop() {
            let (left, right) = (self.find(left), self.find(right));
            if left == right {
                continue;
            }
            pairs += 1;
            if pairs > LIMITS.pairs {
                return Err(Failure);
            }
            match (self.nodes[left as usize], self.nodes[right as usize]) {
                (Node::Number(a), Node::Number(b)) => {
                    if a != b {
                        return Err(Failure);
                    }
                }
                (
                    Node::Construct {
                        constructor: a,
                        fields: f,
                        count,
                    },
                    Node::Construct {
                        constructor: b,
                        fields: g,
                        ..
                    },
                ) => {
                    if a != b {
                        return Err(Failure);
                    }
                    for i in (0..count).rev() {
                        let pair = (f + i, g + i);
                        open.push((self.fields[pair.0 as usize], self.fields[pair.1 as usize]));
                    }
                }
                (Node::Integer { low, high, .. }, Node::Number(n)) => {
                    self.bind_number(left, low, high, n, right)?;
                }
                (Node::Number(n), Node::Integer { low, high, .. }) => {
                    self.bind_number(right, low, high, n, left)?;
                }
                (
                    Node::Integer {
                        low: a, high: b, ..
                    },
                    Node::Integer {
                        waiting,
                        low: c,
                        high: d,
                    },
                ) => {
                    let (low, high) = (a.max(c), b.min(d));
                    if low > high {
                        return Err(Failure);
                    }
                    if (low, high) != (c, d) {
                        self.set(right, Node::Integer { waiting, low, high });
                        self.wake(right);
                    }
                    self.bind(left, right);
                }
                // Newer variables are bound to older ones.
                (Node::Free { .. }, Node::Free { .. }) => {
                    self.bind(left.max(right), left.min(right));
                }
                (Node::Free { .. }, _) => self.bind(left, right),
                (_, _) => self.bind(right, left),
            }
        }
        Ok(())
    }

    /// Binds a variable with these bounds to the number `n` at the position `to`.
    fn bind_number(&mut self, var: Ref, low: i64, high: i64, n: i64, to: Ref) -> Outcome {
        if n < low || n > high {
            return Err(Failure);
        }
        self.bind(var, to);
        Ok(())
    }

    /// Binds a variable. Its waiters are woken, and wait for the other term if that is a variable.
    fn bind(&mut self, var: Ref, to: Ref) {
        self.wake(var);
        let waiting = self.waiting(var);
        self.set(var, Node::Link(to));
        let mut at = waiting;
        while at != NONE {
            let (item, next) = self.waiters[at as usize];
            self.wait(to, item);
            at = next;
        }
    }

    /// The first waiter of a variable.
    fn waiting(&self, var: Ref) -> u32 {
        match self.nodes[var as usize] {
            Node::Free { waiting } | Node::Integer { waiting, .. } => waiting,
            _ => NONE,
        }
    }

    /// Replaces a term, and records the change.
    fn set(&mut self, at: Ref, node: Node) {
        let old = std::mem::replace(&mut self.nodes[at as usize], node);
        self.trail.push(Undo::Node(at, old));
    }

    /// Wakes the waiters of a variable.
    fn wake(&mut self, var: Ref) {
        let mut at = self.waiting(var);
        while at != NONE {
            let (item, next) = self.waiters[at as usize];
            match item {
                Item::Constraint(number) => self.queue(number),
                Item::Atom(number) => {
                    let place = number as usize;
                    if place >= self.is_woken.len() {
                        self.is_woken.resize(place + 1, false);
                    }
                    if !std::mem::replace(&mut self.is_woken[place], true) {
                        self.woken.push(number);
                    }
                }
            }
            at = next;
        }
    }

    /// Adds a constraint to the agenda.
    fn queue(&mut self, number: u32) {
        let constraint = &mut self.constraints[number as usize];
        if !constraint.done && !constraint.queued {
            constraint.queued = true;
            self.agenda.push_back(number);
        }
    }

    /// Adds a waiter to a variable, unless it waits already.
    pub fn wait(&mut self, var: Ref, item: Item) {
        let var = self.find(var);
        let place = self.waiters.len() as u32;
        let mut node = self.nodes[var as usize];
        let (Node::Free { waiting } | Node::Integer { waiting, .. }) = &mut node else {
            return;
        };
        let first = std::mem::replace(waiting, place);
        let mut at = first;
        while at != NONE {
            let (known, next) = self.waiters[at as usize];
            if known == item {
                return;
            }
            at = next;
        }
        self.waiters.push((item, first));
        self.set(var, node);
    }

    /// The next atom that was woken.
    pub fn next_woken(&mut self) -> Option<u32> {
        let atom = self.woken.pop()?;
        self.is_woken[atom as usize] = false;
        Some(atom)
    }

    /// Adds the variables that existed at the mark and were changed since.
    pub fn touched(&self, mark: &Mark, touched: &mut Vec<Ref>) {
        for undo in &self.trail[mark.trail..] {
            if let Undo::Node(at, _) = undo
                && (*at as usize) < mark.nodes
            {
                touched.push(*at);
            }
        }
    }

    /// Adds the guards of a rule's instance as constraints.
    pub fn post_guards(&mut self, rule: u32, base: Ref) -> Outcome {
        let rules = self.rules;
        for (number, guard) in (0..).zip(&rules[rule as usize].guards) {
            let kind = match guard {
                Guard::Linear {
                    relation,
                    monomials,
                    constant,
                } => {
                    let start = self.monomials.len() as u32;
                    let own = monomials.iter().map(|&(factor, var)| (factor, base + var));
                    self.monomials.extend(own);
                    Kind::Linear {
                        relation: *relation,
                        start,
                        count: monomials.len() as u32,
                        constant: *constant,
                    }
                }
                Guard::Equal(left, right) => {
                    let right = self.build(right, base);
                    self.unify_pattern(left, base, right)?;
                    continue;
                }
                Guard::Differ(left, right) => {
                    let left = self.build(left, base);
                    Kind::Differ(left, self.build(right, base))
                }
                Guard::Formula(..) | Guard::Value(..) => Kind::Term {
                    rule,
                    guard: number,
                    base,
                },
            };
            self.constraints.push(Constraint {
                kind,
                done: false,
                waits: false,
                queued: false,
            });
            self.queue(self.constraints.len() as u32 - 1);
        }
        Ok(())
    }

    /// Propagates constraints until the agenda is empty.
    pub fn propagate(&mut self) -> Outcome {
        self.moves = 0;
        while let Some(number) = self.agenda.pop_front() {
            self.constraints[number as usize].queued = false;
            if self.constraints[number as usize].done {
                continue;
            }
            self.looks += 1;
            let kind = self.constraints[number as usize].kind;
            let done = match kind {
                Kind::Linear {
                    relation,
                    start,
                    count,
                    constant,
                } => {
                    let monomials = start as usize..(start + count) as usize;
                    self.linear(number, relation, monomials, constant)?
                }
                Kind::Differ(left, right) => self.differ(number, left, right)?,
                Kind::Term { rule, guard, base } => self.guard(number, rule, guard, base)?,
            };
            if done {
                self.constraints[number as usize].done = true;
                self.trail.push(Undo::Done(number));
            }
        }
        Ok(())
    }

    /// Lets a constraint wait for these variables, unless it waits already.
    fn wait_for_all(&mut self, number: u32, vars: impl Iterator<Item = Ref>) {
        if !self.constraints[number as usize].waits {
            self.constraints[number as usize].waits = true;
            self.trail.push(Undo::Waits(number));
            for var in vars {
                self.wait(var, Item::Constraint(number));
            }
        }
    }

    /// Propagates a linear constraint. Returns whether it is done.
    fn linear(
        &mut self,
        number: u32,
        relation: Relation,
        monomials: Range<usize>,
        constant: i64,
    ) -> Result<bool, Failure> {
        let mut open = std::mem::take(&mut self.sum);
        open.clear();
        let sum = self.sum_up(monomials, constant, &mut open);
        let state = self.linear_over(number, relation, sum, &open);
        self.sum = open;
        state
    }

    /// The constant of a sum under the known values; the other monomials are added to `open`.
    fn sum_up(&self, monomials: Range<usize>, constant: i64, open: &mut Vec<(i128, Ref)>) -> i128 {
        let mut sum = i128::from(constant);
        for i in monomials {
            let (factor, var) = self.monomials[i];
            let factor = i128::from(factor);
            let var = self.find(var);
            match self.nodes[var as usize] {
                Node::Number(n) => sum += factor * i128::from(n),
                _ => match open.iter_mut().find(|m| m.1 == var) {
                    Some(known) => known.0 += factor,
                    None => open.push((factor, var)),
                },
            }
        }
        open.retain(|m| m.0 != 0);
        sum
    }

    /// Propagates a linear constraint, given its sum.
    fn linear_over(
        &mut self,
        number: u32,
        relation: Relation,
        sum: i128,
        open: &[(i128, Ref)],
    ) -> Result<bool, Failure> {
        match (relation, open) {
            (Relation::Equal, []) if sum == 0 => return Ok(true),
            (Relation::Differ, []) if sum != 0 => return Ok(true),
            (Relation::AtMost, []) if sum <= 0 => return Ok(true),
            (_, []) => return Err(Failure),
            (Relation::Equal, &[(factor, var)]) => {
                if sum % factor != 0 {
                    return Err(Failure);
                }
                let value = -sum / factor;
                self.limit(var, Some(value), Some(value))?;
                return Ok(true);
            }
            (Relation::Equal, &[(a, x), (b, y)]) if sum == 0 && a == -b => {
                self.unify(x, y)?;
                return Ok(true);
            }
            (Relation::Differ, &[(factor, var)]) => {
                let Node::Integer { low, high, .. } = self.nodes[var as usize] else {
                    return Err(Failure);
                };
                let value = -sum / factor;
                if sum % factor != 0 || value < i128::from(low) || value > i128::from(high) {
                    return Ok(true);
                }
                if value == i128::from(low) {
                    self.limit(var, Some(value + 1), None)?;
                    return Ok(true);
                }
                if value == i128::from(high) {
                    self.limit(var, None, Some(value - 1))?;
                    return Ok(true);
                }
            }
            (Relation::Differ, _) => {}
            (Relation::AtMost, _) => {
                if self.at_most(sum, open, 1)? {
                    return Ok(true);
                }
            }
            (Relation::Equal, _) => {
                self.at_most(sum, open, 1)?;
                self.at_most(sum, open, -1)?;
            }
        }
        self.wait_for_all(number, open.iter().map(|m| m.1));
        Ok(false)
    }

    /// Propagates that a sum, times a sign, is at most zero: bounds each variable by the bounds of
    /// the others. Returns whether it holds for all values within the bounds.
    fn at_most(&mut self, sum: i128, open: &[(i128, Ref)], sign: i128) -> Result<bool, Failure> {
        // The least and the greatest value of the sum, and how many monomials are unbounded.
        let (mut least, mut most) = (sum * sign, sum * sign);
        let (mut without_least, mut without_most) = (0, 0);
        for monomial in open {
            let (low, high) = self.range(monomial, sign);
            match low {
                Some(low) => least += low,
                None => without_least += 1,
            }
            match high {
                Some(high) => most += high,
                None => without_most += 1,
            }
        }
        if without_most == 0 && most <= 0 {
            return Ok(true);
        }
        if without_least == 0 && least > 0 {
            return Err(Failure);
        }
        for monomial in open {
            // `least` is still a lower bound: bounds that move only make it weaker.
            let others = match self.range(monomial, sign).0 {
                Some(own) if without_least == 0 => least - own,
                None if without_least == 1 => least,
                _ => continue,
            };
            // `factor * var <= -others`
            let (factor, var) = (monomial.0 * sign, monomial.1);
            match factor > 0 {
                true => self.limit(var, None, Some(Integer::div_floor(&-others, &factor)))?,
                false => self.limit(var, Some(Integer::div_ceil(&-others, &factor)), None)?,
            }
        }
        Ok(false)
    }

    /// The least and the greatest value of a monomial, times a sign.
    fn range(&self, &(factor, var): &(i128, Ref), sign: i128) -> (Option<i128>, Option<i128>) {
        let (low, high) = match self.nodes[var as usize] {
            Node::Integer { low, high, .. } => (low, high),
            _ => match self.nodes[self.find(var) as usize] {
                Node::Number(n) => (n, n),
                Node::Integer { low, high, .. } => (low, high),
                _ => (i64::MIN, i64::MAX),
            },
        };
        let factor = factor * sign;
        let low = (low != i64::MIN).then(|| factor * i128::from(low));
        let high = (high != i64::MAX).then(|| factor * i128::from(high));
        match factor > 0 {
            true => (low, high),
            false => (high, low),
        }
    }

    /// Adds bounds to a variable. Fails if a number is too large; the search continues without such
    /// numbers.
    fn limit(&mut self, var: Ref, low: Option<i128>, high: Option<i128>) -> Outcome {
        let var = self.find(var);
        let (waiting, old_low, old_high) = match self.nodes[var as usize] {
            Node::Integer { waiting, low, high } => (waiting, low, high),
            Node::Number(n) => {
                let n = i128::from(n);
                let within = low.is_none_or(|l| l <= n) && high.is_none_or(|h| n <= h);
                return if within { Ok(()) } else { Err(Failure) };
            }
            _ => return Err(Failure),
        };
        let low = match low {
            Some(low) if low > i128::from(old_low) => i64::try_from(low).map_err(|_| Failure)?,
            _ => old_low,
        };
        let high = match high {
            Some(high) if high < i128::from(old_high) => {
                i64::try_from(high).map_err(|_| Failure)?
            }
            _ => old_high,
        };
        if low > high {
            return Err(Failure);
        }
        if low == high {
            let number = self.push(Node::Number(low), SortId::INT);
            self.bind(var, number);
        } else if (low, high) != (old_low, old_high) {
            self.set(var, Node::Integer { waiting, low, high });
            self.moves += 1;
            if self.moves < LIMITS.bound_moves {
                self.wake(var);
            }
        }
        Ok(())
    }

    /// Whether two terms differ for all values of their variables; fails if they are equal.
    fn differ(&mut self, number: u32, left: Ref, right: Ref) -> Result<bool, Failure> {
        let mut open = vec![(left, right)];
        let mut pairs = 0;
        let mut waits = None;
        while let Some((left, right)) = open.pop() {
            let (left, right) = (self.find(left), self.find(right));
            if left == right {
                continue;
            }
            pairs += 1;
            if pairs > LIMITS.pairs {
                return Err(Failure);
            }
            match (self.nodes[left as usize], self.nodes[right as usize]) {
                (Node::Number(a), Node::Number(b)) => {
                    if a != b {
                        return Ok(true);
                    }
                }
                (
                    Node::Construct {
                        constructor: a,
                        fields: f,
                        count,
                    },
                    Node::Construct {
                        constructor: b,
                        fields: g,
                        ..
                    },
                ) => {
                    if a != b {
                        return Ok(true);
                    }
                    for i in (0..count).rev() {
                        let (f, g) = ((f + i) as usize, (g + i) as usize);
                        open.push((self.fields[f], self.fields[g]));
                    }
                }
                (Node::Integer { low, high, .. }, Node::Number(n))
                | (Node::Number(n), Node::Integer { low, high, .. })
                    if n < low || n > high =>
                {
                    return Ok(true);
                }
                _ => waits = waits.or(Some((left, right))),
            }
        }
        // It suffices to wait for one pair that may differ.
        let (left, right) = waits.ok_or(Failure)?;
        self.wait(left, Item::Constraint(number));
        self.wait(right, Item::Constraint(number));
        Ok(false)
    }

    /// Evaluates a guard once its variables have values. Returns whether it is done.
    fn guard(&mut self, number: u32, rule: u32, guard: u32, base: Ref) -> Result<bool, Failure> {
        let rule = &self.rules[rule as usize];
        let (Guard::Formula(term, vars) | Guard::Value(_, term, vars)) =
            &rule.guards[guard as usize]
        else {
            return Ok(true);
        };
        let mut values = Assignment::default();
        for &var in vars {
            let mut reading = Reading::default();
            match self.read(base + var, &mut reading) {
                Some(value) if reading.names.is_empty() => {
                    values.insert(rule.vars[var as usize], value);
                }
                Some(_) => {
                    let open = reading.names.into_iter().map(|(at, _)| at).min();
                    self.wait(open.unwrap_or(base), Item::Constraint(number));
                    return Ok(false);
                }
                None => return Err(Failure),
            }
        }
        let value = self.terms.substitute(*term, &values);
        match rule.guards[guard as usize] {
            Guard::Value(target, ..) => {
                let value = self.of_value(value).ok_or(Failure)?;
                self.unify(base + target, value)?;
                Ok(true)
            }
            _ if value == TermId::TRUE => Ok(true),
            _ => Err(Failure),
        }
    }

    /// Adds a value of the term store as a term of this store.
    fn of_value(&mut self, value: TermId) -> Option<Ref> {
        if !self.terms.is_value(value) {
            return None;
        }
        let terms = self.terms;
        let mut places: FxHashMap<TermId, Ref> = FxHashMap::default();
        let mut failed = false;
        terms.post_order(&[value], |t| {
            let node = terms.node(t);
            let made = match &node.op {
                Op::True | Op::False => Some(Node::Construct {
                    constructor: u32::from(node.op == Op::True),
                    fields: 0,
                    count: 0,
                }),
                Op::Int(value) => value.to_i64().map(Node::Number),
                Op::Construct(_, constructor) => {
                    let fields = self.fields.len() as u32;
                    self.fields.extend(node.args.iter().map(|a| places[a]));
                    Some(Node::Construct {
                        constructor: *constructor,
                        fields,
                        count: node.args.len() as u32,
                    })
                }
                _ => None,
            };
            failed |= made.is_none();
            let at = self.push(made.unwrap_or(Node::Number(0)), node.sort);
            places.insert(t, at);
        });
        (!failed).then(|| places[&value])
    }

    /// The term at a position, with fresh variables for unknown parts; `None` if it contains
    /// itself.
    pub fn read(&self, at: Ref, reading: &mut Reading) -> Option<TermId> {
        let terms = self.terms;
        let root = self.find(at);
        // A term, and whether its fields were pushed.
        let mut open = vec![(root, false)];
        while let Some((at, entered)) = open.pop() {
            if !entered && reading.known.contains_key(&at) {
                // A term within its own fields gives `None`.
                reading.known[&at]?;
                continue;
            }
            let sort = self.sorts[at as usize];
            let term = match self.nodes[at as usize] {
                Node::Number(n) => terms.int(n),
                Node::Construct {
                    constructor,
                    fields,
                    count,
                } => {
                    let fields = &self.fields[fields as usize..(fields + count) as usize];
                    if !entered {
                        reading.known.insert(at, None);
                        open.push((at, true));
                        open.extend(fields.iter().map(|&f| (self.find(f), false)));
                        continue;
                    }
                    let parts = fields.iter().map(|&f| reading.known[&self.find(f)]);
                    let parts: Vec<TermId> = parts.collect::<Option<_>>()?;
                    match terms.sort(sort) {
                        Sort::Datatype(id) => terms.construct(id, constructor, &parts),
                        _ => terms.bool(constructor == 1),
                    }
                }
                _ => {
                    let name = terms.fresh_var("open", sort);
                    reading.names.push((at, name));
                    name
                }
            };
            reading.known.insert(at, Some(term));
        }
        reading.known[&root]
    }

    /// A value for a variable that no unfinished constraint mentions; `None` if its sort has none.
    pub fn some_value(&self, var: Ref) -> Option<TermId> {
        match self.nodes[var as usize] {
            Node::Integer { low, high, .. } => Some(self.terms.int(0.clamp(low, high))),
            _ => self.terms.default_value(self.sorts[var as usize]),
        }
    }

    /// The constraints that are not done, and bounds, as formulas; `None` if a term contains
    /// itself.
    pub fn pending(&self, reading: &mut Reading) -> Option<Vec<TermId>> {
        let terms = self.terms;
        let mut formulas = Vec::new();
        for constraint in self.constraints.iter().filter(|c| !c.done) {
            formulas.push(match constraint.kind {
                Kind::Linear {
                    relation,
                    start,
                    count,
                    constant,
                } => {
                    let mut sum = vec![terms.int(constant)];
                    for i in start..start + count {
                        let (factor, var) = self.monomials[i as usize];
                        let var = self.read(var, reading)?;
                        sum.push(terms.mul(&[terms.int(factor), var]));
                    }
                    let (sum, zero) = (terms.add(&sum), terms.int(0));
                    match relation {
                        Relation::Equal => terms.eq(sum, zero),
                        Relation::Differ => terms.not(terms.eq(sum, zero)),
                        Relation::AtMost => terms.le(sum, zero),
                    }
                }
                Kind::Differ(left, right) => {
                    let left = self.read(left, reading)?;
                    terms.not(terms.eq(left, self.read(right, reading)?))
                }
                Kind::Term { rule, guard, base } => {
                    let rule = &self.rules[rule as usize];
                    let mut values = Assignment::default();
                    let (Guard::Formula(term, vars) | Guard::Value(_, term, vars)) =
                        &rule.guards[guard as usize]
                    else {
                        continue;
                    };
                    for &var in vars {
                        let value = self.read(base + var, reading)?;
                        values.insert(rule.vars[var as usize], value);
                    }
                    let term = terms.substitute(*term, &values);
                    match rule.guards[guard as usize] {
                        Guard::Value(target, ..) => {
                            terms.eq(self.read(base + target, reading)?, term)
                        }
                        _ => term,
                    }
                }
            });
        }
        for &(at, name) in &reading.names {
            if let Node::Integer { low, high, .. } = self.nodes[at as usize] {
                if low != i64::MIN {
                    formulas.push(terms.ge(name, terms.int(low)));
                }
                if high != i64::MAX {
                    formulas.push(terms.le(name, terms.int(high)));
                }
            }
        }
        Some(formulas)
    }
}

/// The terms that were read from a store.
#[derive(Default)]
pub(super) struct Reading {
    /// By position; `None` while its fields are being read.
    known: FxHashMap<Ref, Option<TermId>>,
    /// The fresh variables for unknown parts, with their positions.
    pub names: Vec<(Ref, TermId)>,
}
