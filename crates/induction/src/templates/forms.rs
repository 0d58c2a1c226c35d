//! Formulas of simple forms that hold of all simulated facts.
//!
//! Invariant: each formula is over the formal variables of its predicate, and all simulated facts
//! of the predicate satisfy it. It is only a guess.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::rc::Rc;

use num_traits::{One, Zero};
use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use super::simulation::Simulation;
use alphorn_arith::{Comparison, Constraint, Relation, Solved, affine_hull};
use alphorn_chc::{PredicateId, System};
use alphorn_domain::{Cube, Domain, Fact, Modular};
use alphorn_proof::facts::Facts;
use alphorn_term::run::Context;
use alphorn_term::{
    Assignment, BigInt, BigUint, Evaluator, Linear, Op, Rational, Sort, SortId, TermId, TermStore,
    evaluate,
};

/// Guesses by the step in which they are proven.
#[derive(Default)]
pub(super) struct Forms {
    /// Literals and equations, also under conditions.
    pub equations: Facts,
    /// Bounds, also under conditions.
    pub bounds: Facts,
    /// Equations of products of two numbers, also under conditions.
    pub products: Facts,
    /// Clauses of two literals.
    pub clauses: Facts,
}

/// All candidates about the predicates of the system.
pub(super) fn forms(system: &System, simulation: &Simulation, cx: &Context) -> Forms {
    let [mut compared, mut remainders] = comparisons(system, cx);
    let mut forms = Forms::default();
    for predicate in system.used_predicates() {
        if cx.stop().is_some() {
            break;
        }
        let comparisons = compared.remove(&predicate).unwrap_or_default();
        let remainders = remainders.remove(&predicate).unwrap_or_default();
        let of_clauses = (comparisons, remainders);
        let candidates = Guesses::new(system, predicate, simulation, of_clauses, cx);
        let [equations, bounds, products, clauses] = candidates.all();
        forms.equations.insert(predicate, equations);
        forms.bounds.insert(predicate, bounds);
        forms.products.insert(predicate, products);
        forms.clauses.insert(predicate, clauses);
    }
    for (predicate, bounds) in bounds_of_products(system, simulation, &forms.products) {
        forms.products.entry(predicate).or_default().extend(bounds);
    }
    forms
}

/// Bounds of sums that equal a product in another predicate with the same sorts of arguments: an
/// equation of one loop is often a bound in the next. The bounds are the least and greatest values
/// of the facts.
fn bounds_of_products(system: &System, simulation: &Simulation, products: &Facts) -> Facts {
    let terms = &system.terms;
    let sorts = |p: PredicateId| system.predicate(p).params.iter().map(|&x| terms.sort_of(x));
    let mut found = Facts::default();
    let mut from: Vec<(&PredicateId, &Vec<TermId>)> = products.iter().collect();
    from.sort_unstable();
    let used = system.used_predicates();
    for (&predicate, equations) in from {
        let is_equation = |e: &&TermId| *terms.op(**e) == Op::Eq;
        for &equation in equations.iter().filter(is_equation).take(LIMITS.cases) {
            let &[left, right] = terms.args(equation) else {
                continue;
            };
            let params = &system.predicate(predicate).params;
            for &other in &used {
                if other == predicate || !sorts(other).eq(sorts(predicate)) {
                    continue;
                }
                let new = &system.predicate(other).params;
                let renaming: Assignment =
                    params.iter().copied().zip(new.iter().copied()).collect();
                let sum = terms.substitute(terms.sub(left, right), &renaming);
                let value = |fact: &[TermId]| {
                    let fact = new.iter().copied().zip(fact.iter().copied()).collect();
                    terms.numeral(evaluate(terms, sum, &fact)?)
                };
                let values: Option<Vec<Rational>> = simulation.facts(other).map(value).collect();
                let values = values.unwrap_or_default();
                let number = |n: &Rational| terms.number(n, terms.sort_of(sum));
                let bounds = found.entry(other).or_default();
                bounds.extend(
                    values
                        .iter()
                        .min()
                        .map(|least| terms.ge(sum, number(least))),
                );
                bounds.extend(values.iter().max().map(|most| terms.le(sum, number(most))));
            }
        }
    }
    found
}

/// By predicate, the comparisons of numbers and bit-vectors in clauses, and the remainders.
fn comparisons(system: &System, cx: &Context) -> [FxHashMap<PredicateId, BTreeSet<TermId>>; 2] {
    let terms = &system.terms;
    let compares = |t| {
        let of_bit_vectors = matches!(terms.op(t), Op::BvSle | Op::BvUle);
        of_bit_vectors || Comparison::of(terms, t).is_some()
    };
    let is_remainder = |t| *terms.op(t) == Op::Mod;
    [
        about_arguments(system, compares, cx),
        about_arguments(system, is_remainder, cx),
    ]
}

/// By predicate, the wanted terms in clauses that are over the arguments of one atom, over the
/// formal variables of its predicate.
fn about_arguments(
    system: &System,
    wanted: impl Fn(TermId) -> bool,
    cx: &Context,
) -> FxHashMap<PredicateId, BTreeSet<TermId>> {
    let terms = &system.terms;
    let mut found: FxHashMap<PredicateId, BTreeSet<TermId>> = FxHashMap::default();
    for clause in &system.clauses {
        if cx.stop().is_some() {
            break;
        }
        let mut all = Vec::new();
        terms.post_order(&[clause.constraint], |t| {
            if all.len() < LIMITS.atoms && wanted(t) {
                all.push((t, terms.free_vars(&[t])));
            }
        });
        for atom in clause.atoms() {
            let params = system.predicate(atom.predicate).params.iter().copied();
            let renaming: Assignment = atom.args.iter().copied().zip(params).collect();
            let found = found.entry(atom.predicate).or_default();
            for (term, vars) in &all {
                if found.len() < LIMITS.atoms && vars.iter().all(|v| renaming.contains_key(v)) {
                    found.insert(terms.substitute(*term, &renaming));
                }
            }
        }
    }
    found
}

/// The set of facts that satisfy a formula, one bit each.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Mask(Vec<u64>);

impl Mask {
    /// The set with these bits.
    fn new(bits: impl Iterator<Item = bool>) -> Mask {
        let mut words = Vec::new();
        for (at, bit) in bits.enumerate() {
            if at % 64 == 0 {
                words.push(0);
            }
            if let Some(word) = words.last_mut() {
                *word |= u64::from(bit) << (at % 64);
            }
        }
        Mask(words)
    }

    /// The number of facts in the set.
    fn count(&self) -> usize {
        self.0.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Whether the union of both sets is `all`.
    fn covers(&self, other: &Mask, all: &Mask) -> bool {
        let words = self.0.iter().zip(&other.0).zip(&all.0);
        words.into_iter().all(|((a, b), all)| a | b == *all)
    }

    /// The complement in `all`.
    fn negated(&self, all: &Mask) -> Mask {
        Mask(self.0.iter().zip(&all.0).map(|(w, all)| all & !w).collect())
    }

    /// Whether the fact with this number is in the set.
    fn has(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }
}

/// A formula and the facts that satisfy it.
#[derive(Clone)]
struct Literal {
    formula: TermId,
    mask: Mask,
}

/// The facts of one predicate, for candidates about it.
struct Guesses<'a> {
    terms: Rc<TermStore>,
    cx: &'a Context,
    params: Vec<TermId>,
    /// By fact: the values of the formal variables.
    facts: Vec<Assignment>,
    /// Comparisons in clauses, over formal variables.
    comparisons: BTreeSet<TermId>,
    /// Remainders in clauses, over formal variables.
    remainders: BTreeSet<TermId>,
    /// The set of all facts.
    all: Mask,
}

impl<'a> Guesses<'a> {
    fn new(
        system: &System,
        predicate: PredicateId,
        simulation: &Simulation,
        (comparisons, remainders): (BTreeSet<TermId>, BTreeSet<TermId>),
        cx: &'a Context,
    ) -> Self {
        let params = system.predicate(predicate).params.clone();
        let fact = |values: &[TermId]| params.iter().copied().zip(values.iter().copied()).collect();
        let facts: Vec<Assignment> = simulation.facts(predicate).map(fact).collect();
        Guesses {
            terms: system.terms.clone(),
            cx,
            all: Mask::new(facts.iter().map(|_| true)),
            params,
            facts,
            comparisons,
            remainders,
        }
    }

    /// Equations, bounds, equations of products, and clauses.
    fn all(&self) -> [Vec<TermId>; 4] {
        if self.facts.is_empty() {
            return [vec![TermId::FALSE], Vec::new(), Vec::new(), Vec::new()];
        }
        let literals = self.literals();
        let conditions = self.conditions(&literals);
        let cases = self.cases(&literals);
        let mut distinct = Vec::new();
        let (mut equations, mut clauses) = self.equivalences(literals, &mut distinct);
        clauses.extend(self.clauses(&distinct));
        let under = [&conditions[..], &cases].concat();
        equations.extend(self.equations(&under));
        equations.extend(self.equations_with_remainders(&cases));
        let plain = &conditions[..conditions.len().min(LIMITS.product_conditions)];
        let under = [plain, &cases].concat();
        let products = self.products(&under);
        let mut all = [equations, self.bounds(&conditions), products, clauses];
        let mut seen = FxHashSet::default();
        for candidates in &mut all {
            candidates.retain(|&f| f != TermId::TRUE && seen.insert(f));
            candidates.truncate(LIMITS.candidates);
        }
        all
    }

    /// Atoms: Boolean arguments, equations of arguments that have few values with each of these, and
    /// comparisons.
    fn literals(&self) -> Vec<Literal> {
        let terms = &self.terms;
        let is_bool = |p: &&TermId| terms.sort_of(**p) == SortId::BOOL;
        let mut formulas: Vec<TermId> = self.params.iter().filter(is_bool).copied().collect();
        for &param in self.params.iter().filter(|p| !is_bool(p)) {
            let values: BTreeSet<TermId> = self.facts.iter().map(|f| f[&param]).collect();
            if (2..=LIMITS.values_per_argument).contains(&values.len()) {
                formulas.extend(values.into_iter().map(|value| terms.eq(param, value)));
            }
        }
        formulas.extend(&self.comparisons);
        for sort in [SortId::INT, SortId::REAL] {
            for (x, y) in pairs(&self.different(self.of_sort(sort))) {
                formulas.extend([terms.le(x, y), terms.le(y, x)]);
            }
        }
        let bit_vectors = self.different(self.bit_vectors());
        for &vector in &bit_vectors {
            // A counter that is below a bound is not the greatest signed value.
            let greatest = terms.bv_op(&Op::BvNot, &[self.least(vector)]);
            formulas.push(terms.eq(vector, greatest));
        }
        for (x, y) in pairs(&bit_vectors) {
            let signed = |x, y| terms.bv_op(&Op::BvSle, &[x, y]);
            formulas.extend([signed(x, y), signed(y, x)]);
        }
        let mut seen = FxHashSet::default();
        formulas.retain(|&f| seen.insert(f));
        formulas.truncate(LIMITS.atoms);
        self.masks(formulas)
    }

    /// Those formulas that have a value for each fact, with the sets of facts that satisfy them.
    fn masks(&self, formulas: Vec<TermId>) -> Vec<Literal> {
        let mut bits: Vec<Option<Vec<bool>>> = vec![Some(Vec::new()); formulas.len()];
        for fact in &self.facts {
            let mut evaluator = Evaluator::new(&self.terms, fact);
            for (formula, bits) in formulas.iter().zip(&mut bits) {
                match evaluator.value(*formula) {
                    Some(value) => bits.iter_mut().for_each(|b| b.push(value == TermId::TRUE)),
                    None => *bits = None,
                }
            }
        }
        let literal = |(formula, bits): (TermId, Option<Vec<bool>>)| {
            let mask = Mask::new(bits?.into_iter());
            Some(Literal { formula, mask })
        };
        formulas.into_iter().zip(bits).filter_map(literal).collect()
    }

    /// The negation.
    fn negated(&self, literal: &Literal) -> Literal {
        Literal {
            formula: self.terms.not(literal.formula),
            mask: literal.mask.negated(&self.all),
        }
    }

    /// Literals that some but not all facts satisfy: Boolean arguments and their negations, then
    /// equations of arguments with values.
    fn conditions(&self, literals: &[Literal]) -> Vec<Literal> {
        let terms = &self.terms;
        let decides = |l: &&Literal| (1..self.facts.len()).contains(&l.mask.count());
        let literals = literals.iter().filter(decides);
        let (bools, others): (Vec<&Literal>, Vec<&Literal>) =
            literals.partition(|l| terms.is_var(l.formula));
        let both = |l: &Literal| [l.clone(), self.negated(l)];
        let mut found: Vec<Literal> = bools.into_iter().flat_map(both).collect();
        let is_value = |l: &&&Literal| {
            let args = terms.args(l.formula);
            *terms.op(l.formula) == Op::Eq && args.iter().any(|&a| terms.is_value(a))
        };
        found.extend(others.iter().filter(is_value).copied().cloned());
        found.truncate(LIMITS.conditions);
        found
    }

    /// Comparisons of numbers and bit-vectors and their negations that some but not all facts
    /// satisfy, each with another set of facts; those in clauses first, then those with few
    /// variables.
    fn cases(&self, literals: &[Literal]) -> Vec<Literal> {
        let compares = |l: &&Literal| {
            let op = self.terms.op(l.formula);
            let decides = (1..self.facts.len()).contains(&l.mask.count());
            decides && matches!(op, Op::Le | Op::Ge | Op::BvSle | Op::BvUle)
        };
        let mut cases: Vec<&Literal> = literals.iter().filter(compares).collect();
        cases.sort_by_key(|l| {
            let is_in_clause = self.comparisons.contains(&l.formula);
            (!is_in_clause, self.terms.free_vars(&[l.formula]).len())
        });
        let mut seen: FxHashSet<Mask> = FxHashSet::default();
        let both = |l: &Literal| [l.clone(), self.negated(l)];
        let cases = cases.into_iter().map(both);
        let mut new = cases.filter(|both| {
            let [is_new, _] = both.each_ref().map(|l| seen.insert(l.mask.clone()));
            is_new
        });
        new.by_ref().take(LIMITS.cases).flatten().collect()
    }

    /// The bit-vector arguments, zero-extended to the width of the widest, so that arguments which
    /// a pass made narrower can be compared with others.
    fn bit_vectors(&self) -> Vec<TermId> {
        let terms = &self.terms;
        let is_vector = |p: &&TermId| matches!(terms.sort(terms.sort_of(**p)), Sort::BitVec(_));
        let vectors: Vec<TermId> = self.params.iter().filter(is_vector).copied().collect();
        let widest = vectors.iter().map(|&v| terms.width(v)).max().unwrap_or(0);
        let wide = |v: TermId| terms.bv_op(&Op::BvZeroExtend(widest - terms.width(v)), &[v]);
        vectors.into_iter().map(wide).collect()
    }

    /// The terms without those that equal an earlier one in all facts.
    fn different(&self, mut of: Vec<TermId>) -> Vec<TermId> {
        let mut seen: FxHashSet<Vec<Option<TermId>>> = FxHashSet::default();
        of.retain(|&term| {
            let value = |fact| evaluate(&self.terms, term, fact);
            seen.insert(self.facts.iter().map(value).collect())
        });
        of
    }

    /// The least signed value of the bit-vector's width.
    fn least(&self, vector: TermId) -> TermId {
        let width = self.terms.width(vector);
        self.terms.bitvec(BigUint::from(1u8) << (width - 1), width)
    }

    /// The formal variables of the sort.
    fn of_sort(&self, sort: SortId) -> Vec<TermId> {
        let of_sort = |p: &TermId| self.terms.sort_of(*p) == sort;
        self.params.iter().copied().filter(of_sort).collect()
    }

    /// The formula under the condition, if there is one.
    fn under(&self, condition: Option<&Literal>, formula: TermId) -> TermId {
        match condition {
            None => formula,
            Some(condition) => self.terms.implies(condition.formula, formula),
        }
    }

    /// The numbers of the facts that satisfy the condition.
    fn facts_under(&self, condition: Option<&Literal>) -> Vec<usize> {
        let holds = |at: &usize| condition.is_none_or(|c| c.mask.has(*at));
        (0..self.facts.len()).filter(holds).collect()
    }

    /// The affine equations of numbers and of bit-vectors, for all facts and under conditions.
    fn equations(&self, conditions: &[Literal]) -> Vec<TermId> {
        let sorts = [SortId::INT, SortId::REAL].into_iter();
        let mut found: Vec<TermId> = sorts
            .flat_map(|sort| self.equations_of(&self.of_sort(sort), conditions, |_| true))
            .collect();
        found.extend(self.equations_of_bit_vectors(conditions));
        found
    }

    /// The affine equations of integers and remainders, which describe loops that do different
    /// things in turn: under the cases, and under pairs of them, since turns may begin late.
    fn equations_with_remainders(&self, cases: &[Literal]) -> Vec<TermId> {
        let mut remainders: Vec<TermId> = self.remainders.iter().copied().collect();
        remainders.truncate(LIMITS.remainders);
        if remainders.is_empty() {
            return Vec::new();
        }
        let columns = [self.of_sort(SortId::INT), remainders.clone()].concat();
        let mut conditions = cases.to_vec();
        for (at, a) in cases.iter().enumerate() {
            // A literal is followed by its negation, so the pair after both begins here.
            let others = cases.iter().skip((at | 1) + 1);
            conditions.extend(others.map(|b| self.both(a, b)));
        }
        self.equations_of(&columns, &conditions, |equation| {
            let parts = equation.linear.monomials.iter();
            parts.map(|m| m.0).any(|part| remainders.contains(&part))
        })
    }

    /// The conjunction of two literals.
    fn both(&self, a: &Literal, b: &Literal) -> Literal {
        let words = a.mask.0.iter().zip(&b.mask.0);
        Literal {
            formula: self.terms.and(&[a.formula, b.formula]),
            mask: Mask(words.map(|(a, b)| a & b).collect()),
        }
    }

    /// The equations of the bit-vectors modulo powers of two, for all facts and under conditions.
    fn equations_of_bit_vectors(&self, conditions: &[Literal]) -> Vec<TermId> {
        let terms = &self.terms;
        let vectors = self.bit_vectors();
        if vectors.is_empty() || vectors.len() > LIMITS.bit_vectors {
            return Vec::new();
        }
        // The domain needs variables.
        let var = |&vector: &TermId| terms.fresh_var("vector", terms.sort_of(vector));
        let vars: Vec<TermId> = vectors.iter().map(var).collect();
        let meaning: Assignment = vars.iter().copied().zip(vectors.iter().copied()).collect();
        let domain = Modular::new(terms.clone(), vectors.len());
        let point = |fact: &Assignment| {
            let mut evaluator = Evaluator::new(terms, fact);
            let value = |(&var, &vector)| Some(Fact::Value(var, evaluator.value(vector)?));
            let facts = vars.iter().zip(&vectors).filter_map(value).collect();
            domain.transfer(&[], &Cube { facts }, None)
        };
        let points: Vec<_> = self.facts.iter().map(point).collect();
        let hull = |condition: Option<&Literal>, free: usize| -> Vec<TermId> {
            let facts = self.facts_under(condition);
            if facts.len() <= free {
                return Vec::new();
            }
            let mut hull = domain.bottom();
            for at in facts {
                if self.cx.stop().is_some() {
                    return Vec::new();
                }
                if !domain.entails(&points[at], &hull) {
                    hull = domain.join(&hull, &points[at]);
                }
            }
            let equations = domain.formula(&hull).into_iter();
            equations.map(|e| terms.substitute(e, &meaning)).collect()
        };
        let general = hull(None, vectors.len());
        let mut found = general.clone();
        for condition in conditions {
            let under = hull(Some(condition), vectors.len().saturating_sub(general.len()));
            let new = under.into_iter();
            let new = new.filter(|f| !general.contains(f) && has_small_coefficients(terms, *f));
            found.extend(new.map(|f| self.under(Some(condition), f)));
        }
        found
    }

    /// The affine equations of products of numbers, for numbers that no equation determines.
    fn products(&self, conditions: &[Literal]) -> Vec<TermId> {
        let mut found = Vec::new();
        for sort in [SortId::INT, SortId::REAL] {
            let numbers = self.of_sort(sort);
            let equations = self.hull(&numbers, &self.points(&numbers), None);
            let solved = Solved::new(equations.iter().map(|e| &e.linear), |_| true);
            let rows = solved.map_or(Vec::new(), |solved| solved.rows);
            let given: Vec<TermId> = rows.into_iter().map(|row| row.0).collect();
            let mut factors = numbers;
            factors.retain(|n| !given.contains(n));
            if factors.is_empty() || factors.len() > LIMITS.factors {
                continue;
            }
            let mut columns = factors.clone();
            for (at, &x) in factors.iter().enumerate() {
                columns.extend(factors[at..].iter().map(|&y| self.terms.mul(&[x, y])));
            }
            let is_product = |c: &Constraint| {
                let parts = c.linear.monomials.iter();
                parts.map(|m| m.0).any(|c| !factors.contains(&c))
            };
            found.extend(self.equations_of(&columns, conditions, is_product));
        }
        found
    }

    /// The wanted affine equations of the columns, for all facts and under conditions.
    fn equations_of(
        &self,
        columns: &[TermId],
        conditions: &[Literal],
        mut wanted: impl FnMut(&Constraint) -> bool,
    ) -> Vec<TermId> {
        let points = self.points(columns);
        let general = self.hull(columns, &points, None);
        let mut found: Vec<TermId> = Vec::new();
        found.extend(formulas(&self.terms, &general, &mut wanted));
        let count = found.len();
        for condition in conditions {
            if self.cx.stop().is_some() {
                break;
            }
            let mut hull = self.hull(columns, &points, Some(condition));
            hull.retain(has_small_factors);
            for equation in formulas(&self.terms, &hull, &mut wanted) {
                if !found[..count].contains(&equation) {
                    found.push(self.under(Some(condition), equation));
                }
            }
        }
        found
    }

    /// By fact: the values of the columns. Empty if one has no value.
    fn points(&self, columns: &[TermId]) -> Vec<Vec<Rational>> {
        let point = |fact: &Assignment| -> Option<Vec<Rational>> {
            let mut evaluator = Evaluator::new(&self.terms, fact);
            let number = |&c: &TermId| self.terms.numeral(evaluator.value(c)?);
            columns.iter().map(number).collect()
        };
        let points: Option<Vec<Vec<Rational>>> = self.facts.iter().map(point).collect();
        points.unwrap_or_default()
    }

    /// The affine equations of the columns over the points whose facts satisfy the condition. Empty
    /// if there are no more facts than columns, or no time.
    fn hull(
        &self,
        columns: &[TermId],
        points: &[Vec<Rational>],
        condition: Option<&Literal>,
    ) -> Vec<Constraint> {
        let facts = self.facts_under(condition);
        if points.is_empty() || facts.len() <= columns.len() {
            return Vec::new();
        }
        let has_time = || self.cx.stop().is_none();
        let points = facts.into_iter().map(|at| &points[at]);
        let rows = affine_hull(points.take_while(|_| has_time()));
        if !has_time() {
            return Vec::new();
        }
        let rows = rows.into_iter();
        rows.map(|row| row.mapped(|column| columns[column]))
            .collect()
    }

    /// The numbers themselves and the sums that clauses compare, then differences of two numbers;
    /// with the position of the first difference.
    fn sums(&self) -> (Vec<Linear>, usize) {
        let terms = &self.terms;
        let mut found: Vec<Linear> = Vec::new();
        let add = |mut linear: Linear, found: &mut Vec<Linear>| {
            linear.constant = Rational::zero();
            let over_params = linear.monomials.iter().all(|m| self.params.contains(&m.0));
            if over_params && !linear.is_constant() && !found.contains(&linear) {
                found.push(linear);
            }
        };
        let numbers = [SortId::INT, SortId::REAL].map(|sort| self.of_sort(sort));
        for &number in numbers.iter().flatten() {
            add(Linear::unit(number), &mut found);
        }
        for &comparison in &self.comparisons {
            if let Some(Comparison { sides, .. }) = Comparison::of(terms, comparison) {
                add(terms.linear(terms.sub(sides.0, sides.1)), &mut found);
            }
        }
        let differences = found.len();
        for numbers in numbers {
            for (at, &x) in numbers.iter().enumerate().take(LIMITS.subtracted_arguments) {
                for &y in numbers[at + 1..].iter().take(LIMITS.subtracted_arguments) {
                    add(terms.linear(terms.sub(x, y)), &mut found);
                }
            }
        }
        (found, differences)
    }

    /// Least and greatest values of sums, for all facts and under conditions.
    fn bounds(&self, conditions: &[Literal]) -> Vec<TermId> {
        let mut found = Vec::new();
        let (one, minus_one) = (Rational::one(), -Rational::one());
        let (sums, differences) = self.sums();
        for (at, sum) in sums.into_iter().enumerate() {
            if self.cx.stop().is_some() {
                break;
            }
            let conditions = if at < differences { conditions } else { &[] };
            let value = |fact: &Assignment| -> Option<Rational> {
                let parts = sum.monomials.iter();
                parts
                    .map(|(x, k)| Some(self.terms.numeral(fact[x])? * k))
                    .sum()
            };
            let Some(values) = self.facts.iter().map(value).collect::<Option<Vec<_>>>() else {
                continue;
            };
            let ends = |condition: Option<&Literal>| {
                let facts = self.facts_under(condition).into_iter();
                let values: Vec<&Rational> = facts.map(|at| &values[at]).collect();
                let least = values.iter().min().copied().cloned();
                (least, values.into_iter().max().cloned())
            };
            let (least, greatest) = ends(None);
            for condition in std::iter::once(None).chain(conditions.iter().map(Some)) {
                let (low, high) = ends(condition);
                let mut bound = |linear: Linear| {
                    let constraint = Constraint::new(linear, Relation::AtMost);
                    found.push(self.under(condition, constraint.formula(&self.terms)));
                };
                if let Some(low) = low.filter(|l| condition.is_none() || Some(l) != least.as_ref())
                {
                    bound(Linear::constant(low).add_scaled(&sum, &minus_one));
                }
                if let Some(high) =
                    high.filter(|h| condition.is_none() || Some(h) != greatest.as_ref())
                {
                    bound(Linear::constant(-high).add_scaled(&sum, &one));
                }
            }
        }
        found
    }

    /// Literals that hold of all facts; and equivalences of each other literal with the first one
    /// that the same facts, or exactly the others, satisfy. Second, both directions of each
    /// equivalence, since one of them may be inductive alone. Adds the first ones to `distinct`.
    fn equivalences(
        &self,
        literals: Vec<Literal>,
        distinct: &mut Vec<Literal>,
    ) -> (Vec<TermId>, Vec<TermId>) {
        let terms = &self.terms;
        let mut first: FxHashMap<Mask, TermId> = FxHashMap::default();
        let mut found = Vec::new();
        let mut directions = Vec::new();
        for literal in literals {
            let negated = self.negated(&literal);
            if literal.mask == self.all {
                found.push(literal.formula);
            } else if negated.mask == self.all {
                found.push(negated.formula);
            } else if let Some(&known) = first.get(&literal.mask) {
                found.push(terms.eq(known, literal.formula));
                directions.push(terms.implies(known, literal.formula));
                directions.push(terms.implies(literal.formula, known));
            } else {
                first.insert(literal.mask.clone(), literal.formula);
                first.insert(negated.mask, negated.formula);
                distinct.push(literal);
            }
        }
        (found, directions)
    }

    /// Clauses of two literals, those first that exclude the most.
    fn clauses(&self, distinct: &[Literal]) -> Vec<TermId> {
        let both = |literal: &Literal| [literal.clone(), self.negated(literal)];
        let literals: Vec<Literal> = distinct.iter().flat_map(both).collect();
        let denied: Vec<usize> = literals
            .iter()
            .map(|l| self.facts.len() - l.mask.count())
            .collect();
        let mut found = Vec::new();
        for (i, a) in literals.iter().enumerate() {
            if self.cx.stop().is_some() {
                break;
            }
            // A literal is followed by its negation, so the pair after both begins here.
            for (j, b) in literals.iter().enumerate().skip((i | 1) + 1) {
                if a.mask.covers(&b.mask, &self.all) {
                    found.push((Reverse(denied[i] + denied[j]), i, j));
                }
            }
        }
        found.sort_unstable();
        found.truncate(LIMITS.candidates);
        let clause = |(_, i, j): (_, usize, usize)| {
            let formulas = [literals[i].formula, literals[j].formula];
            self.terms.or(&formulas)
        };
        found.into_iter().map(clause).collect()
    }
}

/// Whether the coefficients of the equation are small. Under a condition, equations with large ones
/// mostly hold of the few facts by chance, and are hard for the solver.
fn has_small_factors(equation: &Constraint) -> bool {
    let small = |part: &BigInt| part.bits() <= LIMITS.factor_bits;
    let parts = equation.linear.monomials.iter();
    parts
        .map(|m| &m.1)
        .all(|k| small(k.numer()) && small(k.denom()))
}

/// The same for an equation of bit-vectors, which also may not extract bits.
fn has_small_coefficients(terms: &TermStore, equation: TermId) -> bool {
    let mut plain = true;
    terms.post_order(&[equation], |t| {
        plain &= match terms.op(t) {
            Op::BvExtract(..) => false,
            Op::BvMul => terms.args(t).iter().all(|&factor| {
                let negated = terms.bv_op(&Op::BvNeg, &[factor]);
                let value = |t: TermId| terms.as_bitvec(t).map(BigUint::bits);
                value(factor).is_none_or(|bits| bits <= LIMITS.factor_bits)
                    || value(negated).is_none_or(|bits| bits <= LIMITS.factor_bits)
            }),
            _ => true,
        };
    });
    plain
}

/// Pairs of the first terms, each pair once.
fn pairs(of: &[TermId]) -> impl Iterator<Item = (TermId, TermId)> {
    let most = LIMITS.compared_arguments;
    let firsts = of.iter().enumerate().take(most);
    firsts.flat_map(move |(at, &x)| of[at + 1..].iter().take(most).map(move |&y| (x, y)))
}

/// The wanted constraints as formulas.
fn formulas(
    terms: &TermStore,
    constraints: &[Constraint],
    mut wanted: impl FnMut(&Constraint) -> bool,
) -> Vec<TermId> {
    let wanted = constraints.iter().filter(|c| wanted(c));
    wanted.map(|c| c.formula(terms)).collect()
}
