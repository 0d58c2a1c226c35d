//! Constructors of terms: values, connectives, arithmetic, datatypes, quantifiers. Those of
//! bit-vectors, arrays, sizes and calls are in modules of their own.
//!
//! A constructor simplifies its result; its arguments are simplified already. Most need time linear
//! in the number of arguments; equality of constructor terms, and atoms over nested `ite`s, descend
//! into the arguments.
//!
//! Invariant: equal values have equal ids, so `=` between two values is `true` or `false`. A
//! constructor never gives a value to a term that SMT-LIB leaves open (division by zero, a selector
//! of another constructor).

use num_integer::Integer;
use num_traits::{One, Signed, Zero};
use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use super::{BigInt, BigUint, DatatypeId, Linear, Op, Rational, Sort, SortId, TermId, TermStore};

impl TermStore {
    // ---- values ----

    /// `true` or `false`.
    pub fn bool(&self, value: bool) -> TermId {
        if value { TermId::TRUE } else { TermId::FALSE }
    }

    /// An Int numeral.
    pub fn int(&self, value: impl Into<BigInt>) -> TermId {
        self.intern(Op::Int(value.into()), &[], SortId::INT)
    }

    /// A Real numeral.
    pub fn real(&self, value: Rational) -> TermId {
        self.intern(Op::Real(Box::new(value)), &[], SortId::REAL)
    }

    /// The bit-vector numeral `value` modulo 2^width, of `width` bits.
    pub fn bitvec(&self, value: BigUint, width: u32) -> TermId {
        let value = value & ((BigUint::one() << width) - BigUint::one());
        let sort = self.bitvec_sort(width);
        self.intern(Op::BitVec(value), &[], sort)
    }

    /// The Boolean of `true` or `false`; `None` for another term.
    pub fn as_bool(&self, term: TermId) -> Option<bool> {
        match term {
            TermId::TRUE => Some(true),
            TermId::FALSE => Some(false),
            _ => None,
        }
    }

    /// The value of an Int numeral; `None` for another term.
    pub fn as_int(&self, term: TermId) -> Option<&BigInt> {
        match self.op(term) {
            Op::Int(value) => Some(value),
            _ => None,
        }
    }

    /// The unsigned value of a bit-vector numeral; `None` for another term.
    pub fn as_bitvec(&self, term: TermId) -> Option<&BigUint> {
        match self.op(term) {
            Op::BitVec(value) => Some(value),
            _ => None,
        }
    }

    /// A value of the sort: zero, `false`, a constant array, or a datatype value of few
    /// constructors. `None` for a datatype without finite values.
    pub fn default_value(&self, sort: SortId) -> Option<TermId> {
        let mut values = FxHashMap::default();
        if let Some(value) = self.default_from(sort, &values) {
            return Some(value);
        }
        // The datatypes that the sort needs; those found last tend to need fewest others.
        let mut needed: Vec<DatatypeId> = Vec::new();
        let mut seen = FxHashSet::default();
        let mut stack = vec![sort];
        while let Some(sort) = stack.pop() {
            match self.sort(sort) {
                Sort::Array(_, element) => stack.push(element),
                Sort::Datatype(id) if seen.insert(id) => {
                    needed.push(id);
                    let constructors = self.datatype(id).constructors.iter();
                    stack.extend(constructors.flat_map(|c| c.fields.iter().map(|f| f.sort)));
                }
                _ => {}
            }
        }
        loop {
            let before = values.len();
            for &id in needed.iter().rev() {
                if values.contains_key(&id) {
                    continue;
                }
                let constructors = self.datatype(id).constructors.iter().enumerate();
                let found = constructors.into_iter().find_map(|(number, constructor)| {
                    let fields = constructor.fields.iter();
                    let fields: Option<Vec<TermId>> =
                        fields.map(|f| self.default_from(f.sort, &values)).collect();
                    Some(self.construct(id, number as u32, &fields?))
                });
                values.extend(found.map(|value| (id, value)));
            }
            let value = self.default_from(sort, &values);
            if value.is_some() || values.len() == before {
                return value;
            }
        }
    }

    /// A value of the sort, given values of datatypes.
    fn default_from(&self, sort: SortId, known: &FxHashMap<DatatypeId, TermId>) -> Option<TermId> {
        let mut arrays = Vec::new();
        let mut base = sort;
        while let Sort::Array(_, element) = self.sort(base) {
            arrays.push(base);
            base = element;
        }
        let value = match self.sort(base) {
            Sort::Int => self.int(0),
            Sort::Real => self.real(Rational::zero()),
            Sort::BitVec(width) => self.bitvec(BigUint::zero(), width),
            Sort::Datatype(id) => *known.get(&id)?,
            Sort::Bool | Sort::Array(..) => TermId::FALSE,
        };
        let wrap = |value, &array| self.const_array(array, value);
        Some(arrays.iter().rev().fold(value, wrap))
    }

    // ---- Booleans ----

    /// Negation of a formula; over Int the negation of a bound is a bound.
    pub fn not(&self, term: TermId) -> TermId {
        debug_assert_eq!(self.sort_of(term), SortId::BOOL);
        let node = self.node(term);
        match &node.op {
            Op::True => TermId::FALSE,
            Op::False => TermId::TRUE,
            Op::Not => node.args[0],
            Op::Le if self.sort_of(node.args[0]) == SortId::INT => {
                self.ge(node.args[0], self.add(&[node.args[1], self.int(1)]))
            }
            Op::Ge if self.sort_of(node.args[0]) == SortId::INT => {
                self.le(node.args[0], self.add(&[node.args[1], self.int(-1)]))
            }
            _ => self.intern(Op::Not, &[term], SortId::BOOL),
        }
    }

    /// Conjunction of formulas; `true` if there are none.
    pub fn and(&self, args: &[TermId]) -> TermId {
        self.junction(Op::And, args, TermId::TRUE, TermId::FALSE)
    }

    /// Disjunction of formulas; `false` if there are none.
    pub fn or(&self, args: &[TermId]) -> TermId {
        self.junction(Op::Or, args, TermId::FALSE, TermId::TRUE)
    }

    fn junction(&self, op: Op, args: &[TermId], unit: TermId, zero: TermId) -> TermId {
        let mut flat: Vec<TermId> = Vec::with_capacity(args.len());
        for &arg in args {
            debug_assert_eq!(self.sort_of(arg), SortId::BOOL);
            if arg == zero {
                return zero;
            }
            if arg == unit {
                continue;
            }
            let node = self.node(arg);
            if node.op == op
                && (args.len() == 1 || node.args.len() <= LIMITS.max_flattened_arguments)
            {
                flat.extend_from_slice(&node.args);
            } else {
                flat.push(arg);
            }
        }
        flat.sort_unstable();
        flat.dedup();
        for &arg in &flat {
            let node = self.node(arg);
            if node.op == Op::Not && flat.binary_search(&node.args[0]).is_ok() {
                return zero;
            }
        }
        match flat.len() {
            0 => unit,
            1 => flat[0],
            _ => self.intern(op, &flat, SortId::BOOL),
        }
    }

    /// `left ⇒ right`, as a disjunction.
    pub fn implies(&self, left: TermId, right: TermId) -> TermId {
        self.or(&[self.not(left), right])
    }

    /// Exclusive or of two formulas.
    pub fn xor(&self, left: TermId, right: TermId) -> TermId {
        self.not(self.eq(left, right))
    }

    /// Equality of two terms of one sort.
    pub fn eq(&self, left: TermId, right: TermId) -> TermId {
        let sort = self.sort_of(left);
        debug_assert_eq!(sort, self.sort_of(right), "= takes terms of one sort");
        if left == right {
            return TermId::TRUE;
        }
        if sort == SortId::INT || sort == SortId::REAL {
            return self.arithmetic_atom(Op::Eq, left, right);
        }
        if self.is_value(left) && self.is_value(right) {
            return TermId::FALSE;
        }
        if let Some(moved) = self.bv_moved(left, right) {
            return moved;
        }
        if sort == SortId::BOOL {
            match (left, right) {
                (TermId::TRUE, other) | (other, TermId::TRUE) => return other,
                (TermId::FALSE, other) | (other, TermId::FALSE) => return self.not(other),
                _ => {}
            }
            // ¬a = b and a = ¬b become ¬(a = b), so that both polarities share an atom. Only the
            // complement that is a `Not` node is stripped: bounds over Int have none.
            let strip = |t: TermId| match self.op(t) {
                Op::Not => (self.args(t)[0], true),
                _ => (t, false),
            };
            let ((a, na), (b, nb)) = (strip(left), strip(right));
            if na || nb {
                let positive = self.eq(a, b);
                return if na != nb {
                    self.not(positive)
                } else {
                    positive
                };
            }
            if self.not(left) == right {
                return TermId::FALSE;
            }
        }
        if let (Op::Construct(..), Op::Construct(..)) = (self.op(left), self.op(right)) {
            return self.eq_constructs(left, right);
        }
        for (choice, other) in [(left, right), (right, left)] {
            let decide = |t: TermId| match (self.op(t), self.op(other)) {
                _ if self.is_value(t) && self.is_value(other) => Some(t == other),
                (Op::Construct(_, c), Op::Construct(_, d)) if c != d => Some(false),
                _ => None,
            };
            if let Some(formula) = self.by_branches(choice, decide, |t| self.eq(t, other)) {
                return formula;
            }
        }
        let pair = if left < right {
            [left, right]
        } else {
            [right, left]
        };
        self.intern(Op::Eq, &pair, SortId::BOOL)
    }

    /// An atom over `ite(c, a, b)` as a formula over `c` and the atom over one branch, where
    /// `decide` gives the atom's value for the other branch; for nested `ite`s, too. `None` if
    /// `decide` has no value for either branch.
    fn by_branches(
        &self,
        choice: TermId,
        decide: impl Fn(TermId) -> Option<bool>,
        atom: impl Fn(TermId) -> TermId,
    ) -> Option<TermId> {
        let mut decided: Vec<(TermId, bool, bool)> = Vec::new();
        let mut current = choice;
        let mut result = None;
        while let Op::Ite = self.op(current) {
            let [condition, then, other] = *self.args(current) else {
                break;
            };
            match (decide(then), decide(other)) {
                (Some(a), Some(b)) => {
                    result = Some(self.ite(condition, self.bool(a), self.bool(b)));
                    break;
                }
                (Some(value), None) => {
                    decided.push((condition, value, true));
                    current = other;
                }
                (None, Some(value)) => {
                    decided.push((condition, value, false));
                    current = then;
                }
                (None, None) => break,
            }
        }
        if result.is_none() && decided.is_empty() {
            return None;
        }
        let mut formula = result.unwrap_or_else(|| atom(current));
        for (condition, value, on_then) in decided.into_iter().rev() {
            let value = self.bool(value);
            formula = if on_then {
                self.ite(condition, value, formula)
            } else {
                self.ite(condition, formula, value)
            };
        }
        Some(formula)
    }

    /// Equality of two constructor terms, field by field: iterative, and each pair of sub-terms
    /// once, since lists and trees may be deep and shared.
    fn eq_constructs(&self, left: TermId, right: TermId) -> TermId {
        let mut parts = Vec::new();
        let mut seen = FxHashSet::default();
        let mut stack = vec![(left, right)];
        while let Some((a, b)) = stack.pop() {
            if a == b || !seen.insert((a, b)) {
                continue;
            }
            match (self.op(a), self.op(b)) {
                (Op::Construct(_, c), Op::Construct(_, d)) => {
                    if c != d {
                        return TermId::FALSE;
                    }
                    let pairs = self.args(a).iter().zip(self.args(b));
                    stack.extend(pairs.map(|(&x, &y)| (x, y)));
                }
                _ => parts.push(self.eq(a, b)),
            }
        }
        self.and(&parts)
    }

    /// The terms, all of one sort, are pairwise different.
    pub fn distinct(&self, args: &[TermId]) -> TermId {
        let mut parts = Vec::new();
        for (i, &a) in args.iter().enumerate() {
            for &b in &args[i + 1..] {
                parts.push(self.not(self.eq(a, b)));
            }
        }
        self.and(&parts)
    }

    /// If-then-else; both branches have the same sort.
    pub fn ite(&self, condition: TermId, then: TermId, otherwise: TermId) -> TermId {
        let sort = self.sort_of(then);
        debug_assert_eq!(sort, self.sort_of(otherwise), "both branches have one sort");
        match condition {
            TermId::TRUE => return then,
            TermId::FALSE => return otherwise,
            _ if then == otherwise => return then,
            _ => {}
        }
        if let Op::Not = self.op(condition) {
            return self.ite(self.args(condition)[0], otherwise, then);
        }
        if sort == SortId::BOOL {
            match (then, otherwise) {
                (TermId::TRUE, _) => return self.or(&[condition, otherwise]),
                (TermId::FALSE, _) => return self.and(&[self.not(condition), otherwise]),
                (_, TermId::TRUE) => return self.or(&[self.not(condition), then]),
                (_, TermId::FALSE) => return self.and(&[condition, then]),
                _ => {}
            }
        }
        self.intern(Op::Ite, &[condition, then, otherwise], sort)
    }

    // ---- arithmetic ----

    /// Sum of at least one term, all of sort Int or all of sort Real.
    pub fn add(&self, args: &[TermId]) -> TermId {
        let sort = self.sort_of(args[0]);
        if args.len() == 2 {
            let one = Rational::one();
            let sum = self.linear(args[0]).add_scaled(&self.linear(args[1]), &one);
            return self.from_linear(&sum, sort);
        }
        let mut coefficients: FxHashMap<TermId, Rational> = FxHashMap::default();
        let mut constant = Rational::zero();
        for &arg in args {
            let linear = self.linear(arg);
            constant += linear.constant;
            for (term, coefficient) in linear.monomials {
                *coefficients.entry(term).or_insert_with(Rational::zero) += coefficient;
            }
        }
        let mut monomials: Vec<_> = coefficients
            .into_iter()
            .filter(|(_, c)| !c.is_zero())
            .collect();
        monomials.sort_unstable_by_key(|m| m.0);
        self.from_linear(
            &Linear {
                monomials,
                constant,
            },
            sort,
        )
    }

    /// Difference of two terms of one sort.
    pub fn sub(&self, left: TermId, right: TermId) -> TermId {
        let minus_one = -Rational::one();
        let difference = self
            .linear(left)
            .add_scaled(&self.linear(right), &minus_one);
        self.from_linear(&difference, self.sort_of(left))
    }

    /// Arithmetic negation.
    pub fn neg(&self, term: TermId) -> TermId {
        self.from_linear(
            &self.linear(term).scaled(&-Rational::one()),
            self.sort_of(term),
        )
    }

    /// `factor * term`; for Int the factor must be an integer.
    pub fn scale(&self, factor: &Rational, term: TermId) -> TermId {
        self.from_linear(&self.linear(term).scaled(factor), self.sort_of(term))
    }

    /// Product of at least one term, all of sort Int or all of sort Real.
    pub fn mul(&self, args: &[TermId]) -> TermId {
        let sort = self.sort_of(args[0]);
        let mut factor = Rational::one();
        let mut rest: Vec<TermId> = Vec::new();
        for &arg in args {
            if let Some(value) = self.numeral(arg) {
                factor *= value;
                continue;
            }
            let linear = self.linear(arg);
            if let ([(term, coefficient)], true) = (&*linear.monomials, linear.constant.is_zero()) {
                factor *= coefficient;
                let node = self.node(*term);
                // Without the limit, repeated squaring would double the arguments each time.
                if node.op == Op::Mul && node.args.len() <= LIMITS.max_flattened_arguments {
                    rest.extend_from_slice(&node.args);
                } else {
                    rest.push(*term);
                }
            } else {
                rest.push(arg);
            }
        }
        match rest.len() {
            0 => self.number(&factor, sort),
            1 => self.scale(&factor, rest[0]),
            _ => {
                rest.sort_unstable();
                let product = self.intern(Op::Mul, &rest, sort);
                self.scale(&factor, product)
            }
        }
    }

    /// `left <= right` over Int or Real.
    pub fn le(&self, left: TermId, right: TermId) -> TermId {
        self.arithmetic_atom(Op::Le, left, right)
    }

    /// `left >= right` over Int or Real.
    pub fn ge(&self, left: TermId, right: TermId) -> TermId {
        self.arithmetic_atom(Op::Ge, left, right)
    }

    /// `left < right` over Int or Real.
    pub fn lt(&self, left: TermId, right: TermId) -> TermId {
        self.not(self.ge(left, right))
    }

    /// `left > right` over Int or Real.
    pub fn gt(&self, left: TermId, right: TermId) -> TermId {
        self.not(self.le(left, right))
    }

    /// `div` of SMT-LIB: the remainder is never negative. Division by zero is not simplified.
    pub fn idiv(&self, left: TermId, right: TermId) -> TermId {
        if let Some(divisor) = self.as_int(right) {
            if divisor.is_one() {
                return left;
            }
            if let Some(value) = self.as_int(left)
                && !divisor.is_zero()
            {
                return self.int(euclid(value, divisor).0);
            }
            if let Some((quotient, rest)) = self.split_multiple(left, divisor) {
                let rest = self.int(euclid(&rest, divisor).0);
                return self.add(&[quotient, rest]);
            }
        }
        self.intern(Op::IDiv, &[left, right], SortId::INT)
    }

    /// `mod` of SMT-LIB: never negative. Modulo zero is not simplified.
    pub fn modulo(&self, left: TermId, right: TermId) -> TermId {
        if let Some(divisor) = self.as_int(right)
            && !divisor.is_zero()
        {
            if divisor.abs().is_one() {
                return self.int(0);
            }
            if let Some(value) = self.as_int(left) {
                return self.int(euclid(value, divisor).1);
            }
            if let Some((_, rest)) = self.split_multiple(left, divisor) {
                return self.int(euclid(&rest, divisor).1);
            }
        }
        self.intern(Op::Mod, &[left, right], SortId::INT)
    }

    /// For a sum all of whose coefficients are multiples of `divisor`: the sum without its constant,
    /// divided by `divisor`, and the constant. `None` for other sums, or if `divisor` is zero.
    fn split_multiple(&self, sum: TermId, divisor: &BigInt) -> Option<(TermId, BigInt)> {
        if divisor.is_zero() {
            return None;
        }
        let linear = self.linear(sum);
        let multiple = |c: &Rational| c.is_integer() && (c.to_integer() % divisor).is_zero();
        if !linear.monomials.iter().all(|m| multiple(&m.1)) || !linear.constant.is_integer() {
            return None;
        }
        let constant = linear.constant.to_integer();
        let parts = Linear {
            monomials: linear.monomials,
            constant: Rational::zero(),
        };
        let factor = Rational::new(1.into(), divisor.clone());
        Some((
            self.from_linear(&parts.scaled(&factor), SortId::INT),
            constant,
        ))
    }

    /// Real division. Division by zero is not simplified.
    pub fn div(&self, left: TermId, right: TermId) -> TermId {
        match self.numeral(right) {
            Some(value) if !value.is_zero() => self.scale(&value.recip(), left),
            _ => self.intern(Op::Div, &[left, right], SortId::REAL),
        }
    }

    /// Int to Real; distributes over sums, so that linear terms stay linear. A Real stays as it is.
    pub fn to_real(&self, term: TermId) -> TermId {
        if self.sort_of(term) == SortId::REAL {
            return term;
        }
        let linear = self.linear(term);
        let mut monomials: Vec<(TermId, Rational)> = linear
            .monomials
            .into_iter()
            .map(|(t, c)| (self.intern(Op::ToReal, &[t], SortId::REAL), c))
            .collect();
        monomials.sort_unstable_by_key(|m| m.0);
        self.from_linear(
            &Linear {
                monomials,
                constant: linear.constant,
            },
            SortId::REAL,
        )
    }

    /// Real to Int, rounding down.
    pub fn to_int(&self, term: TermId) -> TermId {
        match self.op(term) {
            Op::Real(value) => self.int(value.floor().to_integer()),
            Op::ToReal => self.args(term)[0],
            _ => self.intern(Op::ToInt, &[term], SortId::INT),
        }
    }

    /// Whether a Real is an integer.
    pub fn is_int(&self, term: TermId) -> TermId {
        match self.op(term) {
            Op::Real(value) => self.bool(value.is_integer()),
            Op::ToReal => TermId::TRUE,
            _ => self.intern(Op::IsInt, &[term], SortId::BOOL),
        }
    }

    // ---- datatypes ----

    /// The constructor with this number applied to all its fields.
    pub fn construct(&self, datatype: DatatypeId, constructor: u32, fields: &[TermId]) -> TermId {
        // (C (sel0 x) … (seln x)) of a single-constructor datatype is x.
        let definition = self.datatype(datatype);
        if definition.constructors.len() == 1
            && let Some(&first) = fields.first()
            && let Op::Field(id, _, 0) = *self.op(first)
            && id == datatype
        {
            let whole = self.args(first)[0];
            let same = fields.iter().enumerate().all(|(i, &f)| {
                *self.op(f) == Op::Field(datatype, constructor, i as u32)
                    && self.args(f)[0] == whole
            });
            if same {
                return whole;
            }
        }
        self.intern(
            Op::Construct(datatype, constructor),
            fields,
            self.datatype_sort(datatype),
        )
    }

    /// The selector of a field, by number. On another constructor it is not simplified.
    pub fn field(
        &self,
        datatype: DatatypeId,
        constructor: u32,
        field: u32,
        term: TermId,
    ) -> TermId {
        if let Op::Construct(_, c) = *self.op(term)
            && c == constructor
        {
            return self.args(term)[field as usize];
        }
        let sort =
            self.datatype(datatype).constructors[constructor as usize].fields[field as usize].sort;
        self.intern(Op::Field(datatype, constructor, field), &[term], sort)
    }

    /// Whether `term` has the constructor with this number.
    pub fn is(&self, datatype: DatatypeId, constructor: u32, term: TermId) -> TermId {
        if let Op::Construct(_, c) = *self.op(term) {
            return self.bool(c == constructor);
        }
        if self.datatype(datatype).constructors.len() == 1 {
            return TermId::TRUE;
        }
        let atom = |t: TermId| self.intern(Op::Is(datatype, constructor), &[t], SortId::BOOL);
        let decide = |t: TermId| match *self.op(t) {
            Op::Construct(_, c) => Some(c == constructor),
            _ => None,
        };
        self.by_branches(term, decide, atom)
            .unwrap_or_else(|| atom(term))
    }

    // ---- quantifiers ----

    /// Universal quantification over variables that occur free in no other term. Variables that do
    /// not occur free in the body are left out.
    pub fn forall(&self, variables: &[TermId], body: TermId) -> TermId {
        self.quantifier(true, variables, body)
    }

    /// Existential quantification, see [`TermStore::forall`].
    pub fn exists(&self, variables: &[TermId], body: TermId) -> TermId {
        self.quantifier(false, variables, body)
    }

    fn quantifier(&self, universal: bool, variables: &[TermId], body: TermId) -> TermId {
        if self.is_value(body) {
            return body;
        }
        let free = self.free_vars(&[body]);
        let mut bound: Vec<TermId> = variables
            .iter()
            .copied()
            .filter(|v| free.binary_search(v).is_ok())
            .collect();
        bound.sort_unstable();
        bound.dedup();
        if bound.is_empty() {
            return body;
        }
        let bound = bound.into_boxed_slice();
        let op = if universal {
            Op::Forall(bound)
        } else {
            Op::Exists(bound)
        };
        self.intern(op, &[body], SortId::BOOL)
    }

    // ---- any ----

    /// The simplified term with this operator and these arguments, of sort `sort`. The arguments
    /// have the sorts that they have in an existing term with this operator and sort.
    pub fn rebuild(&self, op: &Op, args: &[TermId], sort: SortId) -> TermId {
        match op {
            Op::Var(_) | Op::True | Op::False | Op::Int(_) | Op::Real(_) | Op::BitVec(_) => {
                self.intern(op.clone(), args, sort)
            }
            Op::Not => self.not(args[0]),
            Op::And => self.and(args),
            Op::Or => self.or(args),
            Op::Eq => self.eq(args[0], args[1]),
            Op::Ite => self.ite(args[0], args[1], args[2]),
            Op::Add => self.add(args),
            Op::Mul => self.mul(args),
            Op::Le => self.le(args[0], args[1]),
            Op::Ge => self.ge(args[0], args[1]),
            Op::IDiv => self.idiv(args[0], args[1]),
            Op::Mod => self.modulo(args[0], args[1]),
            Op::Div => self.div(args[0], args[1]),
            Op::ToReal => self.to_real(args[0]),
            Op::ToInt => self.to_int(args[0]),
            Op::IsInt => self.is_int(args[0]),
            Op::Select => self.select(args[0], args[1]),
            Op::Store => self.store(args[0], args[1], args[2]),
            Op::ConstArray => self.const_array(sort, args[0]),
            Op::Construct(d, c) => self.construct(*d, *c, args),
            Op::Field(d, c, f) => self.field(*d, *c, *f, args[0]),
            Op::Is(d, c) => self.is(*d, *c, args[0]),
            Op::Size(_) => self.size(args[0]),
            Op::Call(id) => self.call(*id, args),
            Op::Forall(vars) => self.forall(vars, args[0]),
            Op::Exists(vars) => self.exists(vars, args[0]),
            _ => self.bv_op(op, args),
        }
    }
}

/// `(q, r)` with `value = divisor * q + r` and `0 <= r < |divisor|`; the divisor is not zero.
fn euclid(value: &BigInt, divisor: &BigInt) -> (BigInt, BigInt) {
    let (q, r) = value.div_mod_floor(divisor);
    if r.is_negative() {
        (q + 1, r - divisor)
    } else {
        (q, r)
    }
}
