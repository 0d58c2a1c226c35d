//! Clauses compiled for the analysis: local numbers for variables, rows over them, choices.
//!
//! A clause becomes one or a few cubes. Variables that are equal are one local. Formulas that are
//! not understood are left out.
//!
//! Invariant: the constraint of a clause implies the disjunction of its cubes, where each local has
//! the value of its variables: numbers themselves, Booleans as 0 and 1, bit-vectors as unsigned
//! numbers, datatypes as the number of their outermost constructor.

use num_traits::{One, ToPrimitive, Zero};
use rustc_hash::FxHashMap;

use super::range::{INFINITE, Range};
use alphorn_chc::{Clause, System};
use alphorn_term::{BigInt, Linear, Op, Rational, Sort, SortId, TermId, TermStore};

/// The limits for one clause.
struct Limits {
    /// Nodes of formulas that are read; the rest is left out.
    max_nodes: usize,
    /// Depth of formulas and terms that are read.
    max_depth: usize,
    /// Cubes of one clause; further choices stay in the cubes.
    max_cubes: usize,
    /// The width of bit-vectors; values of wider ones are not known.
    max_width: u32,
}

const LIMITS: Limits = Limits {
    max_nodes: 3000,
    max_depth: 60,
    max_cubes: 8,
    max_width: 60,
};

/// The number of a local of a clause.
pub(super) type Local = u32;

/// Locals, ascending, with coefficients that are not zero.
type Monomials = Box<[(Local, i64)]>;

/// The values of a local.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Bool,
    Integer,
    Rational,
    /// Integers that stand for bit-vectors or constructors.
    Code,
    /// Nothing is known of its values.
    Other,
}

/// `sum + constant ⋈ 0`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Row {
    /// Locals, ascending, with coefficients that are not zero.
    pub terms: Box<[(Local, i64)]>,
    pub constant: i64,
    pub relation: Relation,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Relation {
    AtMost,
    Below,
    Equal,
    Different,
}

/// A condition over locals.
#[derive(Clone, Debug)]
pub(super) enum Formula {
    Row(Row),
    And(Vec<Formula>),
    Or(Vec<Formula>),
    /// The first local is the operation's value.
    Define(Local, Operation),
}

/// An operation that is not linear; bit-vectors are unsigned numbers.
#[derive(Clone, Debug)]
pub(super) enum Operation {
    Product(Local, Local),
    /// Division by a positive number, rounded down.
    Quotient(Local, i64),
    /// The remainder of division by a positive number.
    Remainder(Local, i64),
    /// A sum, modulo a power of two.
    Wrapped(Box<[(Local, i64)]>, i64, i64),
    /// The bitwise conjunction.
    Mask(Local, Local),
}

/// One cube of a clause.
#[derive(Debug)]
pub(super) struct Cube {
    /// The position of the clause in its system.
    pub clause: usize,
    /// By local, the values that its sort and the cube's bounds allow.
    pub start: Vec<Range>,
    pub kinds: Vec<Kind>,
    /// The predicates of the body with the locals of their arguments.
    pub body: Vec<(usize, Box<[Local]>)>,
    pub head: Option<(usize, Box<[Local]>)>,
    pub formulas: Vec<Formula>,
    /// The Booleans in the formulas.
    pub flags: Box<[Local]>,
    /// Whether the constraint is known to have no solution.
    pub never: bool,
}

/// All clauses of a system, and the kind of each argument by predicate.
pub(super) struct Program {
    pub cubes: Vec<Cube>,
    pub kinds: Vec<Box<[Kind]>>,
    pub starts: Vec<Box<[Range]>>,
}

impl Program {
    pub fn new(system: &System) -> Program {
        let terms = &system.terms;
        let of = |v: &TermId| sort(terms, terms.sort_of(*v));
        let params = system.predicates.iter().map(|p| &p.params);
        let all: Vec<Vec<(Kind, Range)>> = params.map(|p| p.iter().map(of).collect()).collect();
        let mut cubes = Vec::with_capacity(system.clauses.len());
        for (at, clause) in system.clauses.iter().enumerate() {
            compile(terms, at, clause, &mut cubes);
        }
        Program {
            cubes,
            kinds: all
                .iter()
                .map(|a| a.iter().map(|x| x.0).collect())
                .collect(),
            starts: all
                .iter()
                .map(|a| a.iter().map(|x| x.1).collect())
                .collect(),
        }
    }
}

/// What is known of the values of a sort.
fn sort(terms: &TermStore, sort: SortId) -> (Kind, Range) {
    let below = |count: i64| Range {
        low: 0,
        high: count - 1,
    };
    match terms.sort(sort) {
        Sort::Bool => (Kind::Bool, below(2)),
        Sort::Int => (Kind::Integer, Range::ALL),
        Sort::Real => (Kind::Rational, Range::ALL),
        Sort::BitVec(width) if width <= LIMITS.max_width => (Kind::Code, below(1 << width)),
        Sort::Datatype(id) if terms.is_defined(id) => {
            let count = terms.datatype(id).constructors.len();
            (Kind::Code, below(count as i64))
        }
        _ => (Kind::Other, Range::ALL),
    }
}

/// Reads one clause.
struct Reader<'a> {
    terms: &'a TermStore,
    locals: FxHashMap<TermId, Local>,
    kinds: Vec<Kind>,
    start: Vec<Range>,
    /// By local, another one that is equal.
    parent: Vec<Local>,
    nodes: usize,
    /// What holds of the locals of terms that are not linear.
    definitions: Vec<Formula>,
}

fn compile(terms: &TermStore, at: usize, clause: &Clause, cubes: &mut Vec<Cube>) {
    let mut reader = Reader {
        terms,
        locals: FxHashMap::default(),
        kinds: Vec::new(),
        start: Vec::new(),
        parent: Vec::new(),
        nodes: 0,
        definitions: Vec::new(),
    };
    for atom in clause.atoms() {
        for &arg in &atom.args {
            reader.local(arg);
        }
    }
    let mut formulas = Vec::new();
    for conjunct in terms.conjuncts(clause.constraint) {
        if !reader.is_copy(conjunct) {
            formulas.extend(reader.formula(conjunct, true, 0));
        }
    }
    formulas.append(&mut reader.definitions);
    reader.finish(at, clause, formulas, cubes);
}

impl Reader<'_> {
    fn local(&mut self, term: TermId) -> Local {
        if let Some(&known) = self.locals.get(&term) {
            return known;
        }
        let local = self.kinds.len() as Local;
        let (kind, range) = sort(self.terms, self.terms.sort_of(term));
        self.kinds.push(kind);
        self.start.push(range);
        self.parent.push(local);
        self.locals.insert(term, local);
        local
    }

    fn root(&mut self, mut local: Local) -> Local {
        while self.parent[local as usize] != local {
            let above = self.parent[self.parent[local as usize] as usize];
            self.parent[local as usize] = above;
            local = above;
        }
        local
    }

    /// Whether the conjunct says that two variables are equal; then they are one local.
    fn is_copy(&mut self, conjunct: TermId) -> bool {
        let (Op::Eq, &[left, right]) = (self.terms.op(conjunct), self.terms.args(conjunct)) else {
            return false;
        };
        if !self.terms.is_var(left) || !self.terms.is_var(right) {
            return false;
        }
        let (left, right) = (self.local(left), self.local(right));
        let (left, right) = (self.root(left), self.root(right));
        let (low, high) = (left.min(right), left.max(right));
        self.parent[high as usize] = low;
        true
    }

    /// A formula that `term`, or its negation, implies; `None` for no condition.
    fn formula(&mut self, term: TermId, holds: bool, depth: usize) -> Option<Formula> {
        self.nodes += 1;
        if self.nodes > LIMITS.max_nodes || depth > LIMITS.max_depth {
            return None;
        }
        let terms = self.terms;
        let args = terms.args(term);
        let depth = depth + 1;
        match terms.op(term) {
            Op::True | Op::False => {
                let fails = (term == TermId::TRUE) != holds;
                fails.then(|| Formula::Or(Vec::new()))
            }
            Op::Not => self.formula(args[0], !holds, depth),
            Op::And if holds => self.all(args, true, depth),
            Op::Or if !holds => self.all(args, false, depth),
            Op::And => self.any(args, false, depth),
            Op::Or => self.any(args, true, depth),
            Op::Ite => {
                let (condition, then, other) = (args[0], args[1], args[2]);
                let mut case = |is: bool, branch: TermId| {
                    let condition = self.formula(condition, is, depth);
                    let branch = self.formula(branch, holds, depth);
                    Formula::And(condition.into_iter().chain(branch).collect())
                };
                Some(Formula::Or(vec![case(true, then), case(false, other)]))
            }
            Op::Eq => self.equation(args[0], args[1], holds, depth),
            Op::Le | Op::Ge => {
                let (left, right) = match (terms.op(term), holds) {
                    (Op::Le, true) | (Op::Ge, false) => (args[0], args[1]),
                    _ => (args[1], args[0]),
                };
                let is_int = terms.sort_of(left) == SortId::INT;
                let mut linear = terms.difference(left, right);
                let relation = match holds {
                    true => Relation::AtMost,
                    false if is_int => {
                        linear.constant += Rational::one();
                        Relation::AtMost
                    }
                    false => Relation::Below,
                };
                self.row(&linear, relation, depth)
            }
            Op::BvUle => {
                let (left, right) = (self.word(args[0], depth)?, self.word(args[1], depth)?);
                let (terms, constant) = match holds {
                    true => (vec![(left, 1), (right, -1)], 0),
                    false => (vec![(right, 1), (left, -1)], 1),
                };
                Some(Formula::Row(Row {
                    terms: collected(terms),
                    constant,
                    relation: Relation::AtMost,
                }))
            }
            Op::BvSle => self.signed(args[0], args[1], holds, depth),
            Op::Is(_, constructor) => {
                let tag = self.local(args[0]);
                let relation = match holds {
                    true => Relation::Equal,
                    false => Relation::Different,
                };
                Some(unit(tag, i64::from(*constructor), relation))
            }
            Op::Var(_) | Op::Select | Op::Field(..) | Op::Call(_) => {
                let local = self.local(term);
                Some(unit(local, i64::from(holds), Relation::Equal))
            }
            _ => None,
        }
    }

    fn all(&mut self, args: &[TermId], holds: bool, depth: usize) -> Option<Formula> {
        let parts = args.iter().filter_map(|&a| self.formula(a, holds, depth));
        Some(Formula::And(parts.collect()))
    }

    fn any(&mut self, args: &[TermId], holds: bool, depth: usize) -> Option<Formula> {
        let parts = args.iter().map(|&a| self.formula(a, holds, depth));
        Some(Formula::Or(parts.collect::<Option<Vec<_>>>()?))
    }

    fn equation(
        &mut self,
        left: TermId,
        right: TermId,
        holds: bool,
        depth: usize,
    ) -> Option<Formula> {
        let terms = self.terms;
        let relation = match holds {
            true => Relation::Equal,
            false => Relation::Different,
        };
        match terms.sort(terms.sort_of(left)) {
            Sort::Int | Sort::Real => self.row(&terms.difference(left, right), relation, depth),
            Sort::Bool if terms.is_var(left) && terms.is_var(right) => {
                let (left, right) = (self.local(left), self.local(right));
                let (sign, constant) = if holds { (-1, 0) } else { (1, -1) };
                Some(Formula::Row(Row {
                    terms: collected(vec![(left, 1), (right, sign)]),
                    constant,
                    relation: Relation::Equal,
                }))
            }
            Sort::Bool => {
                let mut both = |value: bool| {
                    let left = self.formula(left, value, depth);
                    let right = self.formula(right, value == holds, depth);
                    Formula::And(left.into_iter().chain(right).collect())
                };
                Some(Formula::Or(vec![both(true), both(false)]))
            }
            Sort::BitVec(_) => {
                let (left, right) = (self.word(left, depth)?, self.word(right, depth)?);
                Some(difference(left, right, relation))
            }
            Sort::Datatype(id) if terms.is_defined(id) => {
                // Only of enumerations do tags say all.
                let mut constructors = terms.datatype(id).constructors.iter();
                if !holds && constructors.any(|c| !c.fields.is_empty()) {
                    return None;
                }
                let (left, right) = (self.tag(left), self.tag(right));
                Some(difference(left, right, relation))
            }
            _ => None,
        }
    }

    /// The local with the number of the outermost constructor of a term.
    fn tag(&mut self, term: TermId) -> Local {
        let known = self.locals.contains_key(&term);
        let local = self.local(term);
        if let (false, Op::Construct(_, constructor)) = (known, self.terms.op(term)) {
            self.start[local as usize] = Range::value(i64::from(*constructor));
        }
        local
    }

    /// The row of a linear polynomial; `None` if a number is too large.
    fn row(&mut self, linear: &Linear, relation: Relation, depth: usize) -> Option<Formula> {
        let (terms, constant) = self.integral(linear, depth)?;
        Some(Formula::Row(Row {
            terms,
            constant,
            relation,
        }))
    }

    /// A positive multiple of a polynomial with integers as coefficients.
    fn integral(&mut self, linear: &Linear, depth: usize) -> Option<(Monomials, i64)> {
        let factor = linear.denominator();
        let number = |value: &Rational| small(&(value.numer() * (&factor / value.denom())));
        let constant = number(&linear.constant)?;
        let mut found = Vec::with_capacity(linear.monomials.len());
        for (column, coefficient) in &linear.monomials {
            found.push((self.number(*column, depth)?, number(coefficient)?));
        }
        Some((collected(found), constant))
    }

    /// The local of a term of sort Int or Real.
    fn number(&mut self, term: TermId, depth: usize) -> Option<Local> {
        if self.locals.contains_key(&term) || self.terms.is_var(term) {
            return Some(self.local(term));
        }
        self.nodes += 1;
        if depth > LIMITS.max_depth || self.nodes > LIMITS.max_nodes {
            return None;
        }
        let (args, depth) = (self.terms.args(term), depth + 1);
        match self.terms.op(term) {
            Op::ToReal => {
                let inner = self.terms.linear(args[0]);
                if let ([(column, one)], true) = (&inner.monomials[..], inner.constant.is_zero())
                    && one.is_one()
                {
                    return self.number(*column, depth);
                }
                let local = self.local(term);
                self.define_sum(local, args[0], depth);
                Some(local)
            }
            Op::BvToNat => self.word(args[0], depth),
            Op::Ite => Some(self.choice(term, depth)),
            Op::Mul => {
                let local = self.local(term);
                if let [left, right] = *args {
                    let (left, right) = (self.sum(left, depth), self.sum(right, depth));
                    if let (Some(left), Some(right)) = (left, right) {
                        self.define(local, Operation::Product(left, right));
                    }
                }
                Some(local)
            }
            op @ (Op::IDiv | Op::Mod) => {
                let local = self.local(term);
                let divisor = self.terms.as_int(args[1]).and_then(small);
                if let Some(divisor) = divisor.filter(|&d| d > 0)
                    && let Some(dividend) = self.sum(args[0], depth)
                {
                    let operation = match op {
                        Op::IDiv => Operation::Quotient(dividend, divisor),
                        _ => Operation::Remainder(dividend, divisor),
                    };
                    self.define(local, operation);
                }
                Some(local)
            }
            _ => Some(self.local(term)),
        }
    }

    /// A local that is equal to a term of sort Int or Real that may be a sum.
    fn sum(&mut self, term: TermId, depth: usize) -> Option<Local> {
        if !matches!(
            self.terms.op(term),
            Op::Add | Op::Int(_) | Op::Real(_) | Op::Mul
        ) {
            return self.number(term, depth);
        }
        let known = self.locals.contains_key(&term);
        let local = self.local(term);
        if !known {
            self.define_sum(local, term, depth);
        }
        Some(local)
    }

    fn define_sum(&mut self, local: Local, term: TermId, depth: usize) {
        let mut linear = self.terms.linear(term);
        if linear.monomials.iter().any(|m| m.0 == term) {
            return;
        }
        let factor = linear.denominator();
        linear = linear.scaled(&Rational::from_integer(factor.clone()));
        if let (Some((mut terms, constant)), Some(factor)) =
            (self.integral(&linear, depth), small(&factor))
        {
            let with = terms.iter().copied().chain([(local, -factor)]);
            terms = collected(with.collect());
            self.definitions.push(Formula::Row(Row {
                terms,
                constant,
                relation: Relation::Equal,
            }));
        }
    }

    fn define(&mut self, local: Local, operation: Operation) {
        self.definitions.push(Formula::Define(local, operation));
    }

    /// The local of a conditional term.
    fn choice(&mut self, term: TermId, depth: usize) -> Local {
        let local = self.local(term);
        let args = self.terms.args(term);
        let (condition, then, other) = (args[0], args[1], args[2]);
        let mut case = |is: bool, branch: TermId| {
            let condition = self.formula(condition, is, depth);
            let value = match self.terms.sort(self.terms.sort_of(term)) {
                Sort::Int | Sort::Real => self.sum(branch, depth),
                Sort::BitVec(_) => self.word(branch, depth),
                _ => None,
            };
            let equal = value.map(|value| difference(local, value, Relation::Equal));
            Formula::And(condition.into_iter().chain(equal).collect())
        };
        let cases = vec![case(true, then), case(false, other)];
        self.definitions.push(Formula::Or(cases));
        local
    }

    /// The local of a bit-vector, as an unsigned number.
    fn word(&mut self, term: TermId, depth: usize) -> Option<Local> {
        let terms = self.terms;
        let width = terms.width(term);
        if width > LIMITS.max_width || depth > LIMITS.max_depth {
            return None;
        }
        if self.locals.contains_key(&term) || terms.is_var(term) {
            return Some(self.local(term));
        }
        self.nodes += 1;
        if self.nodes > LIMITS.max_nodes {
            return None;
        }
        let (args, depth, modulus) = (terms.args(term), depth + 1, 1i64 << width);
        let local = self.local(term);
        match terms.op(term) {
            Op::BitVec(value) => {
                self.start[local as usize] = Range::value(value.to_i64()?);
            }
            Op::Ite => {
                self.locals.remove(&term);
                return Some(self.choice(term, depth));
            }
            Op::BvAdd => {
                let mut found = Vec::new();
                let mut constant = 0i64;
                for &arg in args {
                    match terms.as_bitvec(arg) {
                        Some(value) => constant = (constant + value.to_i64()?) % modulus,
                        None => found.push((self.word(arg, depth)?, 1)),
                    }
                }
                self.define(
                    local,
                    Operation::Wrapped(collected(found), constant, modulus),
                );
            }
            Op::BvNeg => {
                let arg = self.word(args[0], depth)?;
                let negated = Operation::Wrapped(Box::new([(arg, -1)]), 0, modulus);
                self.define(local, negated);
            }
            Op::BvNot => {
                let arg = self.word(args[0], depth)?;
                let inverse = Operation::Wrapped(Box::new([(arg, -1)]), modulus - 1, modulus);
                self.define(local, inverse);
            }
            Op::BvMul if args.len() == 2 => {
                let numeral = |at: usize| terms.as_bitvec(args[at]).and_then(|v| v.to_i64());
                let (factor, other) = match (numeral(0), numeral(1)) {
                    (Some(factor), _) => (factor, args[1]),
                    (None, Some(factor)) => (factor, args[0]),
                    _ => return Some(local),
                };
                let other = self.word(other, depth)?;
                let product = Operation::Wrapped(Box::new([(other, factor)]), 0, modulus);
                self.define(local, product);
            }
            Op::BvAnd if args.len() == 2 => {
                let (left, right) = (self.word(args[0], depth)?, self.word(args[1], depth)?);
                self.define(local, Operation::Mask(left, right));
            }
            Op::BvUdiv | Op::BvUrem => {
                let divisor = terms.as_bitvec(args[1]).and_then(|v| v.to_i64());
                if let Some(divisor) = divisor.filter(|&d| d > 0) {
                    let dividend = self.word(args[0], depth)?;
                    let operation = match terms.op(term) {
                        Op::BvUdiv => Operation::Quotient(dividend, divisor),
                        _ => Operation::Remainder(dividend, divisor),
                    };
                    self.define(local, operation);
                }
            }
            Op::BvZeroExtend(_) => {
                let arg = self.word(args[0], depth)?;
                self.definitions
                    .push(difference(local, arg, Relation::Equal));
            }
            Op::BvExtract(_, 0) => {
                let arg = self.word(args[0], depth)?;
                self.define(local, Operation::Remainder(arg, modulus));
            }
            _ => {}
        }
        Some(local)
    }

    /// A signed comparison: the terms have the order of unsigned numbers unless their signs differ.
    fn signed(
        &mut self,
        left: TermId,
        right: TermId,
        holds: bool,
        depth: usize,
    ) -> Option<Formula> {
        let half = 1i64
            << self
                .terms
                .width(left)
                .min(LIMITS.max_width)
                .saturating_sub(1);
        let (left, right) = (self.word(left, depth)?, self.word(right, depth)?);
        let sign = |local: Local, negative: bool| {
            Formula::Row(Row {
                terms: Box::new([(local, if negative { -1 } else { 1 })]),
                constant: if negative { half } else { 1 - half },
                relation: Relation::AtMost,
            })
        };
        let (first, second) = if holds { (left, right) } else { (right, left) };
        let order = Formula::Row(Row {
            terms: collected(vec![(first, 1), (second, -1)]),
            constant: i64::from(!holds),
            relation: Relation::AtMost,
        });
        let same = |negative: bool| {
            Formula::And(vec![
                sign(first, negative),
                sign(second, negative),
                order.clone(),
            ])
        };
        let crossing = Formula::And(vec![sign(first, true), sign(second, false)]);
        Some(Formula::Or(vec![same(false), same(true), crossing]))
    }

    /// Adds the cubes of the clause: equal locals become one, bounds become ranges.
    fn finish(mut self, at: usize, clause: &Clause, formulas: Vec<Formula>, out: &mut Vec<Cube>) {
        let count = self.kinds.len();
        let mut numbers: Vec<Local> = vec![Local::MAX; count];
        let (mut kinds, mut start) = (Vec::new(), Vec::new());
        for local in 0..count as Local {
            let root = self.root(local) as usize;
            if numbers[root] == Local::MAX {
                numbers[root] = kinds.len() as Local;
                kinds.push(self.kinds[root]);
                start.push(self.start[root]);
            }
            let number = numbers[root];
            numbers[local as usize] = number;
            let range = &mut start[number as usize];
            *range = Range::meet(*range, self.start[local as usize]);
        }
        let args = |args: &[TermId]| {
            args.iter()
                .map(|a| numbers[self.locals[a] as usize])
                .collect()
        };
        let body: Vec<(usize, Box<[Local]>)> = clause
            .body
            .iter()
            .map(|atom| (atom.predicate.index(), args(&atom.args)))
            .collect();
        let head = clause.head.as_ref();
        let head = head.map(|atom| (atom.predicate.index(), args(&atom.args)));
        for choice in choices(formulas) {
            let mut cube = Cube {
                clause: at,
                start: start.clone(),
                kinds: kinds.clone(),
                body: body.clone(),
                head: head.clone(),
                formulas: Vec::with_capacity(choice.len()),
                flags: Box::default(),
                never: false,
            };
            for mut formula in choice {
                rename(&mut formula, &numbers);
                cube.add(formula);
            }
            cube.never |= cube.start.iter().any(|range| range.is_empty());
            cube.flags = flags(&cube.formulas, &kinds);
            if !cube.never {
                out.push(cube);
            }
        }
    }
}

/// The Booleans in formulas, ascending.
fn flags(formulas: &[Formula], kinds: &[Kind]) -> Box<[Local]> {
    let mut found = Vec::new();
    let mut stack: Vec<&Formula> = formulas.iter().collect();
    while let Some(formula) = stack.pop() {
        match formula {
            Formula::Row(row) => found.extend(row.terms.iter().map(|t| t.0)),
            Formula::And(parts) | Formula::Or(parts) => stack.extend(parts),
            Formula::Define(..) => {}
        }
    }
    found.retain(|&local| kinds[local as usize] == Kind::Bool);
    found.sort_unstable();
    found.dedup();
    found.into()
}

impl Cube {
    /// Adds a condition; bounds become part of the start.
    fn add(&mut self, formula: Formula) {
        match formula {
            Formula::Row(row) => match row.bound(&self.kinds) {
                Some((local, range)) => {
                    let start = &mut self.start[local as usize];
                    *start = start.meet(range);
                }
                None if row.terms.is_empty() => self.never |= !row.holds_for(0),
                None => self.formulas.push(Formula::Row(row)),
            },
            Formula::And(parts) => parts.into_iter().for_each(|part| self.add(part)),
            Formula::Or(alternatives) if alternatives.is_empty() => self.never = true,
            other => self.formulas.push(other),
        }
    }
}

impl Row {
    /// Whether it holds where the sum of the terms has this value.
    pub fn holds_for(&self, sum: i128) -> bool {
        let value = sum + i128::from(self.constant);
        match self.relation {
            Relation::AtMost => value <= 0,
            Relation::Below => value < 0,
            Relation::Equal => value == 0,
            Relation::Different => value != 0,
        }
    }

    /// The same range of its only local, if that is all that it says.
    fn bound(&self, kinds: &[Kind]) -> Option<(Local, Range)> {
        let [(local, factor @ (1 | -1))] = *self.terms else {
            return None;
        };
        let value = i128::from(-self.constant) * i128::from(factor);
        let is_rational = kinds[local as usize] == Kind::Rational;
        let range = match (self.relation, factor) {
            (Relation::Equal, _) => Range::of(value, value),
            (Relation::AtMost, 1) => Range::of(-i128::from(INFINITE), value),
            (Relation::AtMost, _) => Range::of(value, i128::from(INFINITE)),
            (Relation::Below, 1) if !is_rational => Range::of(-i128::from(INFINITE), value - 1),
            (Relation::Below, _) if !is_rational => Range::of(value + 1, i128::from(INFINITE)),
            _ => return None,
        };
        Some((local, range))
    }
}

/// `local ⋈ value`.
fn unit(local: Local, value: i64, relation: Relation) -> Formula {
    Formula::Row(Row {
        terms: Box::new([(local, 1)]),
        constant: -value,
        relation,
    })
}

/// `left - right ⋈ 0`.
fn difference(left: Local, right: Local, relation: Relation) -> Formula {
    Formula::Row(Row {
        terms: collected(vec![(left, 1), (right, -1)]),
        constant: 0,
        relation,
    })
}

/// The terms in ascending order of locals, with equal ones added.
fn collected(mut terms: Vec<(Local, i64)>) -> Box<[(Local, i64)]> {
    terms.sort_unstable_by_key(|t| t.0);
    let mut found: Vec<(Local, i64)> = Vec::with_capacity(terms.len());
    for (local, factor) in terms {
        match found.last_mut() {
            Some(last) if last.0 == local => last.1 = last.1.saturating_add(factor),
            _ => found.push((local, factor)),
        }
    }
    found.retain(|t| t.1 != 0);
    found.into()
}

/// A number below 2^60 in absolute value, so that sums of products with bounds do not overflow.
fn small(value: &BigInt) -> Option<i64> {
    value.to_i64().filter(|v| v.unsigned_abs() < 1 << 60)
}

fn rename(formula: &mut Formula, numbers: &[Local]) {
    match formula {
        Formula::Row(row) => {
            let terms = row.terms.iter().map(|&(l, k)| (numbers[l as usize], k));
            row.terms = collected(terms.collect());
        }
        Formula::And(parts) | Formula::Or(parts) => {
            for part in parts {
                rename(part, numbers);
            }
        }
        Formula::Define(local, operation) => {
            let to = |l: &mut Local| *l = numbers[*l as usize];
            to(local);
            match operation {
                Operation::Product(a, b) | Operation::Mask(a, b) => {
                    to(a);
                    to(b);
                }
                Operation::Quotient(a, _) | Operation::Remainder(a, _) => to(a),
                Operation::Wrapped(terms, ..) => {
                    let renamed = terms.iter().map(|&(l, k)| (numbers[l as usize], k));
                    *terms = collected(renamed.collect());
                }
            }
        }
    }
}

/// The conjunction as a disjunction of conjunctions: choices are multiplied out up to a limit.
fn choices(mut formulas: Vec<Formula>) -> Vec<Vec<Formula>> {
    formulas.reverse();
    let mut finished: Vec<Vec<Formula>> = Vec::new();
    // Cubes under construction, with the formulas that are to be added.
    let mut open: Vec<(Vec<Formula>, Vec<Formula>)> = vec![(Vec::new(), formulas)];
    while let Some((mut cube, mut rest)) = open.pop() {
        let Some(formula) = rest.pop() else {
            finished.push(cube);
            continue;
        };
        match formula {
            Formula::And(parts) => rest.extend(parts.into_iter().rev()),
            Formula::Or(alternatives)
                if alternatives.len() == 1
                    || finished.len() + open.len() + alternatives.len() <= LIMITS.max_cubes =>
            {
                for alternative in alternatives.into_iter().rev() {
                    let mut rest = rest.clone();
                    rest.push(alternative);
                    open.push((cube.clone(), rest));
                }
                continue;
            }
            other => cube.push(other),
        }
        open.push((cube, rest));
    }
    finished
}
