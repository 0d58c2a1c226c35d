//! Random terms and formulas of each theory.
//!
//! Invariant: each term has a value for all values of its variables: divisors are numerals other than
//! zero, and records have one constructor.

use alphorn::term::{BigInt, DatatypeId, Op, Rational, SortId, TermId, TermStore};

use super::{Random, Theory};

/// A number from -9 to 9, small ones more often.
fn small(random: &mut Random) -> i64 {
    let most = if random.one_in(3) { 10 } else { 4 };
    let value: i64 = random.below(most);
    if random.one_in(3) { -value } else { value }
}

const WIDTH: u32 = 8;

/// The sorts and operations of a theory.
pub struct Vocabulary {
    pub sorts: Vec<SortId>,
    array: SortId,
    bitvec: SortId,
    record: (DatatypeId, SortId),
}

impl Vocabulary {
    pub fn new(terms: &TermStore, theory: Theory) -> Self {
        let array = terms.array_sort(SortId::INT, SortId::INT);
        let bitvec = terms.bitvec_sort(WIDTH);
        let record = super::record(terms);
        let sorts = match theory {
            Theory::Bool => vec![SortId::BOOL],
            Theory::Lia => vec![SortId::INT, SortId::INT, SortId::INT, SortId::BOOL],
            Theory::Lra => vec![SortId::REAL, SortId::REAL, SortId::REAL, SortId::BOOL],
            Theory::Bv => vec![bitvec, bitvec, SortId::BOOL],
            Theory::Arrays => vec![array, SortId::INT],
            Theory::Records => vec![record.1, SortId::INT],
        };
        Vocabulary {
            sorts,
            array,
            bitvec,
            record,
        }
    }

    /// A term of the sort over some of `vars`.
    pub fn term(
        &self,
        terms: &TermStore,
        random: &mut Random,
        vars: &[TermId],
        sort: SortId,
    ) -> TermId {
        self.nested(terms, random, vars, sort, 2)
    }

    /// A formula over some of `vars`: a comparison or a Boolean, or one of their negations.
    pub fn atom(&self, terms: &TermStore, random: &mut Random, vars: &[TermId]) -> TermId {
        self.nested(terms, random, vars, SortId::BOOL, 2)
    }

    /// A term with at most `depth` nested operators.
    fn nested(
        &self,
        terms: &TermStore,
        random: &mut Random,
        vars: &[TermId],
        sort: SortId,
        depth: usize,
    ) -> TermId {
        let own: Vec<TermId> = vars
            .iter()
            .copied()
            .filter(|&v| terms.sort_of(v) == sort)
            .collect();
        if depth == 0 || random.one_in(6) {
            return if own.is_empty() || random.one_in(3) {
                self.value(terms, random, sort)
            } else {
                *random.pick(&own)
            };
        }
        let sub = |random: &mut Random, sort| self.nested(terms, random, vars, sort, depth - 1);
        if random.one_in(8) {
            let condition = sub(random, SortId::BOOL);
            let (a, b) = (sub(random, sort), sub(random, sort));
            return terms.ite(condition, a, b);
        }
        if sort == SortId::BOOL {
            let sort = terms.sort_of(*random.pick(&[vars, &[TermId::TRUE]].concat()));
            if sort == SortId::BOOL {
                let (a, b) = (sub(random, sort), sub(random, sort));
                return match random.below(4) {
                    0 => terms.and(&[a, b]),
                    1 => terms.or(&[a, b]),
                    2 => terms.xor(a, b),
                    _ => terms.not(a),
                };
            }
            let (a, b) = (sub(random, sort), sub(random, sort));
            if sort == SortId::INT || sort == SortId::REAL {
                return match random.below(4) {
                    0 => terms.eq(a, b),
                    1 => terms.lt(a, b),
                    2 => terms.ge(a, b),
                    _ => terms.le(a, b),
                };
            }
            if sort == self.bitvec {
                return match random.below(3) {
                    0 => terms.eq(a, b),
                    1 => terms.bv_op(&Op::BvUle, &[a, b]),
                    _ => terms.bv_op(&Op::BvSle, &[a, b]),
                };
            }
            if sort == self.array {
                let index = self.value(terms, random, SortId::INT);
                let bound = self.value(terms, random, SortId::INT);
                return terms.ge(terms.select(a, index), bound);
            }
            return if random.one_in(2) {
                terms.field(self.record.0, 0, 1, a)
            } else {
                let number = self.value(terms, random, SortId::INT);
                terms.le(terms.field(self.record.0, 0, 0, a), number)
            };
        }
        if sort == SortId::INT {
            let has = |sort| vars.iter().any(|&v| terms.sort_of(v) == sort);
            if has(self.array) && random.one_in(2) {
                let (array, index) = (sub(random, self.array), sub(random, sort));
                return terms.select(array, index);
            }
            if has(self.record.1) && random.one_in(2) {
                let record = sub(random, self.record.1);
                return terms.field(self.record.0, 0, 0, record);
            }
            let a = sub(random, sort);
            let divisor = terms.int(2 + random.below(4) as u64);
            return match random.below(8) {
                0 => terms.modulo(a, divisor),
                1 => terms.idiv(a, divisor),
                2 => terms.neg(a),
                3 => terms.scale(&Rational::from_integer(BigInt::from(2)), a),
                4 => terms.sub(a, sub(random, sort)),
                5 => terms.add(&[a, sub(random, sort)]),
                _ => terms.add(&[a, terms.int(small(random))]),
            };
        }
        if sort == SortId::REAL {
            let a = sub(random, sort);
            return match random.below(5) {
                0 => terms.scale(&Rational::new(BigInt::from(1), BigInt::from(2)), a),
                1 => terms.neg(a),
                2 => terms.add(&[a, sub(random, sort)]),
                3 => terms.sub(a, sub(random, sort)),
                _ => terms.add(&[a, self.value(terms, random, sort)]),
            };
        }
        if sort == self.bitvec {
            let operators = [
                Op::BvAdd,
                Op::BvAnd,
                Op::BvOr,
                Op::BvXor,
                Op::BvMul,
                Op::BvUrem,
                Op::BvUdiv,
                Op::BvShl,
                Op::BvLshr,
                Op::BvAshr,
            ];
            let (a, b) = (sub(random, sort), sub(random, sort));
            return terms.bv_op(random.pick(&operators), &[a, b]);
        }
        if sort == self.array {
            let array = sub(random, sort);
            let (index, value) = (sub(random, SortId::INT), sub(random, SortId::INT));
            return terms.store(array, index, value);
        }
        let (number, flag) = (sub(random, SortId::INT), sub(random, SortId::BOOL));
        terms.construct(self.record.0, 0, &[number, flag])
    }

    fn value(&self, terms: &TermStore, random: &mut Random, sort: SortId) -> TermId {
        if sort == SortId::BOOL {
            terms.bool(random.one_in(2))
        } else if sort == SortId::INT {
            terms.int(small(random))
        } else if sort == SortId::REAL {
            let denominator = BigInt::from(1 + random.below(3));
            terms.real(Rational::new(BigInt::from(small(random)), denominator))
        } else if sort == self.bitvec {
            let bits = if random.one_in(2) { 256_u64 } else { 8 };
            terms.bitvec(random.below(bits).into(), WIDTH)
        } else if sort == self.array {
            let element = self.value(terms, random, SortId::INT);
            terms.const_array(sort, element)
        } else {
            let number = self.value(terms, random, SortId::INT);
            let flag = self.value(terms, random, SortId::BOOL);
            terms.construct(self.record.0, 0, &[number, flag])
        }
    }

    /// A satisfiable formula over the formal variables of a predicate: bounds, congruences,
    /// comparisons of two arguments; sometimes a disjunction.
    pub fn invariant(&self, terms: &TermStore, random: &mut Random, params: &[TermId]) -> TermId {
        // It is satisfiable, since each part is about a different argument.
        let mut parts = Vec::new();
        for &param in params {
            if random.one_in(3) {
                continue;
            }
            parts.push(self.fact_about(terms, random, param));
        }
        if parts.len() > 1 && random.one_in(4) {
            return terms.or(&parts);
        }
        if parts.is_empty() {
            parts.push(self.fact_about(terms, random, params[0]));
        }
        terms.and(&parts)
    }

    fn fact_about(&self, terms: &TermStore, random: &mut Random, var: TermId) -> TermId {
        let sort = terms.sort_of(var);
        if sort == SortId::BOOL {
            return if random.one_in(2) {
                var
            } else {
                terms.not(var)
            };
        }
        if sort == self.bitvec {
            let bound = terms.bitvec(random.below(200_u64).into(), WIDTH);
            let op = if random.one_in(2) {
                Op::BvUle
            } else {
                Op::BvSle
            };
            return terms.bv_op(&op, &[var, bound]);
        }
        if sort == self.array {
            let index = self.value(terms, random, SortId::INT);
            return self.fact_about(terms, random, terms.select(var, index));
        }
        if sort == self.record.1 {
            let field = random.below(2) as u32;
            return self.fact_about(terms, random, terms.field(self.record.0, 0, field, var));
        }
        let low = self.value(terms, random, sort);
        let high = self.value(terms, random, sort);
        match random.below(5) {
            0 => terms.le(var, high),
            1 if sort == SortId::INT => {
                let modulus = 2 + random.below(3);
                let rest = terms.int(random.below(modulus) as u64);
                terms.eq(terms.modulo(var, terms.int(modulus as u64)), rest)
            }
            2 => terms.or(&[terms.le(var, low), terms.ge(var, high)]),
            _ => terms.ge(var, low),
        }
    }
}
