//! Replaces bit-vectors and numbers that are only copied and compared with few constants by codes.
//!
//! Arguments and local variables that clauses equate form a class, with the constants that they are
//! equated with. If clauses use them in no other way, all other values are interchangeable: the
//! code is the index of the constant, or one more for any other value. Two codes are a Boolean.
//! More codes are a narrow bit-vector if the class is one of bit-vectors; for numbers they are
//! several Booleans, so that no bit-vectors are introduced. A state variable of 32 bits becomes one
//! bit, or a program counter that other passes recognize.
//!
//! Equal values have equal codes, and codes decide comparisons with the class's constants. They do
//! not decide whether two values differ, since two different values may have the code of other
//! values. So a class with `x ≠ y` is left unchanged (data independence, Wolper, POPL 1986).
//!
//! Invariant: the codes of a derivation of the old system are a derivation of the new one, and a
//! derivation of the new system is one of the old with one fixed value in place of all values that
//! are not constants of the class.

use std::rc::Rc;

use num_bigint::{BigInt, BigUint};
use petgraph::unionfind::UnionFind;
use rustc_hash::{FxHashMap, FxHashSet};

use super::finite_values::finite_values;
use super::replacement::{Origin, Replacement};
use super::{Place, Step, Transformation};
use alphorn_chc::{Clause, PredicateId, System};
use alphorn_term::run::Context;
use alphorn_term::{Op, Rational, Sort, SortId, TermId, TermStore};

/// The limits of the pass.
struct Limits {
    /// Constants of a class; a class with more is not coded.
    max_constants: usize,
    /// Constants of a class times its variables in all clauses, since each variable has a term that
    /// translates its code; a class with more is not coded.
    max_cases: usize,
    /// Codes of a class of numbers: two Booleans. With more, `pdr` handles a program counter better
    /// as a number.
    max_codes_of_numbers: usize,
}

const LIMITS: Limits = Limits {
    max_constants: 1000,
    max_cases: 1_000_000,
    max_codes_of_numbers: 4,
};

/// The pass.
pub struct Values;

impl Transformation for Values {
    fn apply(&mut self, old: &Rc<System>, cx: &mut Context) -> Option<Step> {
        let terms = &old.terms;
        let mut classes = Classes::new(old);
        for (at, clause) in old.clauses.iter().enumerate() {
            if cx.stop().is_some() {
                return None;
            }
            classes.read(at, clause);
        }
        let codes = classes.codes(cx);
        if codes.of_place.is_empty() {
            return None;
        }
        let mut system = (**old).clone();
        let mut replacement = Replacement::new(old);
        for predicate in old.used_predicates() {
            let params = &old.predicate(predicate).params;
            let code = |at: usize| codes.at(predicate, at);
            if (0..params.len()).all(|at| code(at).is_none()) {
                continue;
            }
            let arguments = params.iter().enumerate();
            let arguments = arguments.flat_map(|(at, param)| match code(at) {
                Some(code) => code.of(terms, *param),
                None => vec![*param],
            });
            let arguments: Vec<TermId> = arguments.collect();
            replacement.replace_by_terms(&mut system, predicate, arguments);
            let known = params.iter().enumerate();
            let known = known.filter_map(|(at, param)| code(at)?.is_known(terms, *param));
            let known: Vec<TermId> = known.collect();
            replacement.strengthen(predicate, terms.and(&known));
        }
        for (at, clause) in system.clauses.iter_mut().enumerate() {
            if cx.stop().is_some() {
                return None;
            }
            let mut coded = Coded::new(terms, &codes, at, clause);
            if coded.vars.is_empty() {
                continue;
            }
            clause.constraint = coded.constraint(clause.constraint);
            replacement.replace_atoms(clause, |atom| coded.arguments(&atom.args));
            replacement.note(clause.id, Origin::new(clause.id, coded.definitions()));
        }
        cx.stats
            .add("transform.values.places", codes.of_place.len() as u64);
        Some(replacement.step(system))
    }
}

/// The values of a class, and their codes.
#[derive(Debug)]
struct Code {
    /// The constants of the class, ascending.
    numerals: Vec<TermId>,
    /// The value used for all values that are not constants of the class, if there are such values.
    other: Option<TermId>,
    of_bit_vectors: bool,
}

impl Code {
    fn size(&self) -> usize {
        self.numerals.len() + usize::from(self.other.is_some())
    }

    /// The number of bits of a code.
    fn bits(&self) -> u32 {
        self.size().next_power_of_two().trailing_zeros()
    }

    /// The sorts of a code's parts: none for a single value, one Boolean for two. For more, one
    /// bit-vector for bit-vectors, and Booleans for numbers, so that bit-vectors occur only where
    /// they did before.
    fn sorts(&self, terms: &TermStore) -> Vec<SortId> {
        match self.size() {
            0 | 1 => Vec::new(),
            2 => vec![SortId::BOOL],
            _ if self.of_bit_vectors => vec![terms.bitvec_sort(self.bits())],
            _ => vec![SortId::BOOL; self.bits() as usize],
        }
    }

    /// One part of the code with this number.
    fn part(&self, terms: &TermStore, number: usize, part: usize) -> TermId {
        match self.size() > 2 && self.of_bit_vectors {
            true => terms.bitvec(BigUint::from(number), self.bits()),
            false => terms.bool(number >> part & 1 == 1),
        }
    }

    /// Whether these are the parts of the code with this number.
    fn is(&self, terms: &TermStore, code: &[TermId], number: usize) -> TermId {
        let parts = code.iter().enumerate();
        let parts = parts.map(|(at, &part)| terms.eq(part, self.part(terms, number, at)));
        terms.and(&parts.collect::<Vec<TermId>>())
    }

    fn of_numeral(&self, terms: &TermStore, numeral: TermId) -> Option<Vec<TermId>> {
        let number = self.numerals.binary_search(&numeral).ok()?;
        let parts = 0..self.sorts(terms).len();
        Some(parts.map(|part| self.part(terms, number, part)).collect())
    }

    /// The parts of the code of a term over the old variables.
    fn of(&self, terms: &TermStore, old: TermId) -> Vec<TermId> {
        let parts = 0..self.sorts(terms).len();
        let of_part = |part: usize| {
            let last = self.size() - 1;
            let mut code = self.part(terms, last, part);
            for (number, numeral) in self.numerals.iter().enumerate().take(last).rev() {
                let own = self.part(terms, number, part);
                code = terms.ite(terms.eq(old, *numeral), own, code);
            }
            code
        };
        parts.map(of_part).collect()
    }

    /// Whether a term over the old variables equals one of the constants; `None` if it may have
    /// other values.
    fn is_known(&self, terms: &TermStore, old: TermId) -> Option<TermId> {
        let is = |numeral: &TermId| terms.eq(old, *numeral);
        let cases: Vec<TermId> = self.numerals.iter().map(is).collect();
        self.other.is_none().then(|| terms.or(&cases))
    }

    /// The value of a code.
    fn value(&self, terms: &TermStore, code: &[TermId]) -> Option<TermId> {
        let value = |number: usize| self.numerals.get(number).copied().or(self.other);
        let mut result = value(self.size().checked_sub(1)?)?;
        for number in (0..self.size() - 1).rev() {
            let test = self.is(terms, code, number);
            result = terms.ite(test, value(number)?, result);
        }
        Some(result)
    }
}

/// The codes of arguments and of local variables.
struct Codes {
    codes: Vec<Code>,
    of_place: FxHashMap<Place, usize>,
    of_local: FxHashMap<(usize, TermId), usize>,
}

impl Codes {
    fn at(&self, predicate: PredicateId, position: usize) -> Option<&Code> {
        let code = self.of_place.get(&(predicate, position));
        code.map(|code| &self.codes[*code])
    }
}

/// The classes of equal arguments and local variables of all clauses.
struct Classes<'a> {
    system: &'a System,
    terms: &'a TermStore,
    places: FxHashMap<Place, usize>,
    /// The key's first component is the number of the clause.
    locals: FxHashMap<(usize, TermId), usize>,
    sorts: Vec<SortId>,
    equal: UnionFind<usize>,
    numerals: Vec<(usize, TermId)>,
    /// Nodes that are used in other ways.
    mixed: Vec<usize>,
}

/// The leaves of nested `ite`s, and their conditions.
#[derive(Default)]
struct Leaves {
    vars: Vec<TermId>,
    numerals: Vec<TermId>,
    conditions: Vec<TermId>,
}

/// The leaves of one side of an equation, if all are variables or constants.
fn leaves(terms: &TermStore, side: TermId) -> Option<Leaves> {
    let mut leaves = Leaves::default();
    let mut seen = FxHashSet::default();
    let mut open = vec![side];
    while let Some(t) = open.pop() {
        if !seen.insert(t) {
            continue;
        }
        match terms.op(t) {
            Op::Ite => {
                leaves.conditions.push(terms.args(t)[0]);
                open.extend_from_slice(&terms.args(t)[1..]);
            }
            Op::Var(_) => leaves.vars.push(t),
            _ if terms.is_value(t) => leaves.numerals.push(t),
            _ => return None,
        }
    }
    Some(leaves)
}

fn has_codes(terms: &TermStore, sort: SortId) -> bool {
    let is_bit_vector = matches!(terms.sort(sort), Sort::BitVec(width) if width > 0);
    is_bit_vector || sort == SortId::INT || sort == SortId::REAL
}

impl<'a> Classes<'a> {
    fn new(system: &'a System) -> Self {
        let terms = &*system.terms;
        let mut classes = Classes {
            system,
            terms,
            places: FxHashMap::default(),
            locals: FxHashMap::default(),
            sorts: Vec::new(),
            equal: UnionFind::new_empty(),
            numerals: Vec::new(),
            mixed: Vec::new(),
        };
        for predicate in system.used_predicates() {
            for (at, param) in system.predicate(predicate).params.iter().enumerate() {
                let sort = terms.sort_of(*param);
                if has_codes(terms, sort) {
                    let node = classes.node(sort);
                    classes.places.insert((predicate, at), node);
                }
            }
        }
        classes
    }

    fn node(&mut self, sort: SortId) -> usize {
        self.sorts.push(sort);
        self.equal.new_set()
    }

    /// Reads the equations of a clause.
    fn read(&mut self, at: usize, clause: &Clause) {
        let terms = self.terms;
        let mut nodes: FxHashMap<TermId, usize> = FxHashMap::default();
        for atom in clause.atoms() {
            for (position, arg) in atom.args.iter().enumerate() {
                if let Some(&place) = self.places.get(&(atom.predicate, position)) {
                    // The same variable at two positions merges their classes.
                    let node = *nodes.entry(*arg).or_insert(place);
                    self.equal.union(node, place);
                }
            }
        }
        for var in clause.vars(terms) {
            let sort = terms.sort_of(var);
            if has_codes(terms, sort) && !nodes.contains_key(&var) {
                let node = self.node(sort);
                nodes.insert(var, node);
                self.locals.insert((at, var), node);
            }
        }
        let mut seen: FxHashSet<(TermId, bool)> = FxHashSet::default();
        let mut mixed: FxHashSet<TermId> = FxHashSet::default();
        let mut open = vec![(clause.constraint, true)];
        while let Some((formula, positive)) = open.pop() {
            if !seen.insert((formula, positive)) {
                continue;
            }
            let args = terms.args(formula);
            let both = |t: TermId| [(t, true), (t, false)];
            match terms.op(formula) {
                Op::True | Op::False | Op::Var(_) => {}
                Op::Not => open.push((args[0], !positive)),
                Op::And | Op::Or => open.extend(args.iter().map(|a| (*a, positive))),
                Op::Ite => {
                    open.extend(both(args[0]));
                    open.extend(args[1..].iter().map(|a| (*a, positive)));
                }
                Op::Eq if terms.sort_of(args[0]) == SortId::BOOL => {
                    open.extend(args.iter().flat_map(|a| both(*a)));
                }
                Op::Eq => match (leaves(terms, args[0]), leaves(terms, args[1])) {
                    (Some(left), Some(right)) => {
                        let conditions = left.conditions.iter().chain(&right.conditions);
                        open.extend(conditions.flat_map(|c| both(*c)));
                        // Of two other values it is not known whether they differ.
                        if !positive && !left.vars.is_empty() && !right.vars.is_empty() {
                            self.mix(&[args[0], args[1]], &nodes, &mut mixed);
                        }
                        self.equate(&[left, right], &nodes);
                    }
                    _ => self.mix(args, &nodes, &mut mixed),
                },
                _ => self.mix(&[formula], &nodes, &mut mixed),
            }
        }
    }

    fn equate(&mut self, sides: &[Leaves], nodes: &FxHashMap<TermId, usize>) {
        let vars = sides.iter().flat_map(|s| &s.vars);
        let members: Vec<usize> = vars.filter_map(|v| nodes.get(v).copied()).collect();
        let Some(&first) = members.first() else {
            return;
        };
        for member in &members[1..] {
            self.equal.union(first, *member);
        }
        let numerals = sides.iter().flat_map(|s| &s.numerals);
        self.numerals.extend(numerals.map(|n| (first, *n)));
    }

    /// Marks all variables in the terms as used in other ways.
    fn mix(
        &mut self,
        roots: &[TermId],
        nodes: &FxHashMap<TermId, usize>,
        seen: &mut FxHashSet<TermId>,
    ) {
        let mut open = roots.to_vec();
        while let Some(t) = open.pop() {
            if seen.insert(t) {
                self.mixed.extend(nodes.get(&t));
                open.extend_from_slice(self.terms.args(t));
            }
        }
    }

    /// The codes of the classes that can be coded.
    fn codes(mut self, cx: &Context) -> Codes {
        let terms = self.terms;
        let mixed: FxHashSet<usize> = (self.mixed.iter()).map(|n| self.equal.find(*n)).collect();
        let mut numerals: FxHashMap<usize, Vec<TermId>> = FxHashMap::default();
        for (node, numeral) in std::mem::take(&mut self.numerals) {
            let class = self.equal.find(node);
            numerals.entry(class).or_default().push(numeral);
        }
        for list in numerals.values_mut() {
            list.sort_unstable();
            list.dedup();
        }
        let pure = |node: usize| {
            let class = self.equal.find(node);
            (!mixed.contains(&class)).then_some(class)
        };
        let mut wanted: Vec<(usize, Place)> = (self.places.iter())
            .filter_map(|(place, node)| Some((pure(*node)?, *place)))
            .collect();
        wanted.sort_unstable();
        let places: Vec<Place> = wanted.iter().map(|w| w.1).collect();
        let known = finite_values(self.system, &places, LIMITS.max_constants, cx);
        let mut variables: FxHashMap<usize, usize> = FxHashMap::default();
        for atom in self.system.clauses.iter().flat_map(Clause::atoms) {
            for position in 0..atom.args.len() {
                if let Some(node) = self.places.get(&(atom.predicate, position)) {
                    *variables.entry(self.equal.find(*node)).or_default() += 1;
                }
            }
        }
        for node in self.locals.values() {
            *variables.entry(self.equal.find(*node)).or_default() += 1;
        }
        // Classes of which a variable may have another value.
        let mut open: FxHashSet<usize> = (self.locals.values())
            .filter_map(|node| pure(*node))
            .collect();
        let unknown = wanted.iter().filter(|w| !known.contains_key(&w.1));
        open.extend(unknown.map(|w| w.0));
        let mut codes = Codes {
            codes: Vec::new(),
            of_place: FxHashMap::default(),
            of_local: FxHashMap::default(),
        };
        let mut of_class: FxHashMap<usize, usize> = FxHashMap::default();
        for group in wanted.chunk_by(|a, b| a.0 == b.0) {
            let class = group[0].0;
            let sort = self.sorts[self.places[&group[0].1]];
            let numerals = numerals.remove(&class).unwrap_or_default();
            let variables = variables.get(&class).copied().unwrap_or_default();
            if numerals.len() > LIMITS.max_constants
                || numerals.len().saturating_mul(variables) > LIMITS.max_cases
            {
                continue;
            }
            let other = if open.contains(&class) {
                other(terms, sort, &numerals)
            } else {
                None
            };
            let of_bit_vectors = !matches!(sort, SortId::INT | SortId::REAL);
            let code = Code {
                numerals,
                other,
                of_bit_vectors,
            };
            let shorter = match terms.sort(sort) {
                Sort::BitVec(width) => code.size() <= 2 || code.bits() < width,
                _ => code.size() <= LIMITS.max_codes_of_numbers,
            };
            if shorter && code.size() > 0 {
                of_class.insert(class, codes.codes.len());
                codes.codes.push(code);
            }
        }
        let code = |node: usize| of_class.get(&self.equal.find(node)).copied();
        let places = self.places.iter();
        codes.of_place = places.filter_map(|(p, n)| Some((*p, code(*n)?))).collect();
        let locals = self.locals.iter();
        codes.of_local = locals.filter_map(|(v, n)| Some((*v, code(*n)?))).collect();
        codes
    }
}

/// A value that is none of the constants.
fn other(terms: &TermStore, sort: SortId, numerals: &[TermId]) -> Option<TermId> {
    let numeral = |n: usize| match terms.sort(sort) {
        Sort::BitVec(width) => {
            let fits = width >= usize::BITS || n >> width == 0;
            fits.then(|| terms.bitvec(BigUint::from(n), width))
        }
        _ if sort == SortId::INT => Some(terms.int(BigInt::from(n))),
        _ => Some(terms.real(Rational::from_integer(BigInt::from(n)))),
    };
    let candidates = (0..=numerals.len()).filter_map(numeral);
    let mut free = candidates.filter(|n| numerals.binary_search(n).is_err());
    free.next()
}

/// The variables of a clause that have codes.
struct Coded<'a> {
    terms: &'a TermStore,
    codes: &'a Codes,
    /// The number of the code, and the variables that are its parts.
    vars: FxHashMap<TermId, (usize, Vec<TermId>)>,
    /// In the order in which they occur.
    order: Vec<TermId>,
    /// The parts of a term in a code.
    memo: FxHashMap<(TermId, usize), Option<Vec<TermId>>>,
}

impl<'a> Coded<'a> {
    fn new(terms: &'a TermStore, codes: &'a Codes, at: usize, clause: &Clause) -> Self {
        let mut of: FxHashMap<TermId, usize> = FxHashMap::default();
        for atom in clause.atoms() {
            for (position, arg) in atom.args.iter().enumerate() {
                let code = codes.of_place.get(&(atom.predicate, position));
                of.extend(code.map(|code| (*arg, *code)));
            }
        }
        let mut coded = Coded {
            terms,
            codes,
            vars: FxHashMap::default(),
            order: Vec::new(),
            memo: FxHashMap::default(),
        };
        for var in clause.vars(terms) {
            let local = codes.of_local.get(&(at, var)).copied();
            if let Some(code) = of.get(&var).copied().or(local) {
                let sorts = codes.codes[code].sorts(terms).into_iter();
                let new = sorts.map(|sort| terms.fresh_var(terms.var_name(var), sort));
                coded.vars.insert(var, (code, new.collect()));
                coded.order.push(var);
            }
        }
        coded
    }

    fn arguments(&self, args: &[TermId]) -> Vec<TermId> {
        let mut all = Vec::new();
        for arg in args {
            match self.vars.get(arg) {
                Some((_, new)) => all.extend(new),
                None => all.push(*arg),
            }
        }
        all
    }

    /// The old variables in terms of their codes.
    fn definitions(&self) -> Vec<(TermId, TermId)> {
        let value = |var: &TermId| {
            let (code, new) = &self.vars[var];
            Some((*var, self.codes.codes[*code].value(self.terms, new)?))
        };
        self.order.iter().filter_map(value).collect()
    }

    /// The constraint over codes.
    fn constraint(&mut self, constraint: TermId) -> TermId {
        let terms = self.terms;
        let mut memo = FxHashMap::default();
        terms.rewrite_bottom_up(constraint, &mut memo, |t| {
            let (Op::Eq, &[a, b]) = (terms.op(t), terms.args(t)) else {
                return t;
            };
            let vars = [a, b].map(|side| leaves(terms, side).map(|l| l.vars));
            let mut vars = vars.into_iter().flatten().flatten();
            let Some(code) = vars.find_map(|v| self.vars.get(&v)).map(|v| v.0) else {
                return t;
            };
            if self.codes.codes[code].size() == 1 {
                return TermId::TRUE;
            }
            match (self.coded(a, code), self.coded(b, code)) {
                (Some(a), Some(b)) => {
                    let parts = a.iter().zip(&b).map(|(&a, &b)| terms.eq(a, b));
                    terms.and(&parts.collect::<Vec<TermId>>())
                }
                _ => t,
            }
        })
    }

    /// The parts of a choice between variables and constants, as choices between codes.
    fn coded(&mut self, root: TermId, code: usize) -> Option<Vec<TermId>> {
        let terms = self.terms;
        let mut stack = vec![root];
        while let Some(&t) = stack.last() {
            if self.memo.contains_key(&(t, code)) {
                stack.pop();
                continue;
            }
            let result = match (terms.op(t), terms.args(t)) {
                (Op::Ite, &[condition, a, b]) => {
                    let known = |t: TermId| self.memo.get(&(t, code));
                    match (known(a), known(b)) {
                        (Some(a), Some(b)) => a.as_ref().zip(b.as_ref()).map(|(a, b)| {
                            let parts = a.iter().zip(b);
                            parts.map(|(&a, &b)| terms.ite(condition, a, b)).collect()
                        }),
                        (left, right) => {
                            stack.extend(left.is_none().then_some(a));
                            stack.extend(right.is_none().then_some(b));
                            continue;
                        }
                    }
                }
                _ => match self.vars.get(&t) {
                    Some((_, new)) => Some(new.clone()),
                    None => self.codes.codes[code].of_numeral(terms, t),
                },
            };
            self.memo.insert((t, code), result);
            stack.pop();
        }
        self.memo[&(root, code)].clone()
    }
}
