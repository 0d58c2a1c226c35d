//! Random unsatisfiable problems.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;

use super::super::{
    InterpolantForm, InterpolationDag, InterpolationEdge, InterpolationError, InterpolationOrder,
};
use super::*;
use alphorn_term::run::Budget;
use alphorn_term::{
    BigInt, BigUint, Constructor, DatatypeId, Field, Op, Random, Rational, Sort, SortId,
};

/// The theory of formulas.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Theory {
    Reals,
    /// With divisibility.
    Integers,
    Arrays,
    Data,
    Bits,
    /// All theories, with Booleans.
    Mixed,
}

/// Makes formulas from a stream of pseudo-random numbers.
pub(super) struct Generator {
    pub terms: Rc<TermStore>,
    random: Random,
    list: (DatatypeId, SortId),
    color: (DatatypeId, SortId),
}

const WIDTH: u32 = 4;

fn constructor(name: &str, fields: &[(&str, SortId)]) -> Constructor {
    let fields = fields.iter().map(|&(selector, sort)| Field {
        selector: selector.to_owned(),
        sort,
    });
    Constructor {
        name: name.to_owned(),
        fields: fields.collect(),
    }
}

impl Generator {
    pub fn new(seed: u64) -> Generator {
        let terms = Rc::new(TermStore::new());
        let list = terms.declare_datatype("List", &[]);
        let cons = constructor("cons", &[("head", SortId::INT), ("tail", list.1)]);
        terms.define_datatype(list.0, vec![constructor("nil", &[]), cons]);
        let color = terms.declare_datatype("Color", &[]);
        let names = ["red", "green", "blue"];
        let constructors = names.map(|n| constructor(n, &[])).to_vec();
        terms.define_datatype(color.0, constructors);
        Generator {
            terms,
            random: Random::new(seed),
            list,
            color,
        }
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound)
    }

    fn pick(&mut self, from: &[TermId]) -> TermId {
        from[self.below(from.len())]
    }

    fn number(&mut self, most: i64) -> i64 {
        self.below(2 * most as usize + 1) as i64 - most
    }

    fn numeral(&mut self, sort: SortId, most: i64) -> TermId {
        let value = self.number(most);
        match sort {
            SortId::INT => self.terms.int(value),
            _ => {
                let below = BigInt::from(self.below(2) + 1);
                self.terms.real(Rational::new(value.into(), below))
            }
        }
    }

    /// A sum of at most three of the variables.
    fn sum(&mut self, vars: &[TermId]) -> TermId {
        let t = Rc::clone(&self.terms);
        let sort = t.sort_of(vars[0]);
        let mut parts = vec![self.numeral(sort, 6)];
        for _ in 0..1 + self.below(3) {
            let var = self.pick(vars);
            let factor = Rational::from_integer([1, 1, -1, -1, 2, -2, 3][self.below(7)].into());
            parts.push(t.scale(&factor, var));
        }
        t.add(&parts)
    }

    fn arithmetic(&mut self, vars: &[TermId]) -> TermId {
        let t = Rc::clone(&self.terms);
        let sort = t.sort_of(vars[0]);
        let sum = self.sum(vars);
        let zero = t.number(&Rational::from_integer(0.into()), sort);
        match self.below(12) {
            0..4 => t.le(sum, zero),
            4..6 => t.lt(sum, zero),
            6..8 => t.gt(sum, zero),
            8 | 9 => t.eq(sum, zero),
            10 if sort == SortId::INT => {
                let modulus = 2 + self.below(4) as i64;
                let rest = t.int(self.below(modulus as usize) as i64);
                t.eq(t.modulo(sum, t.int(modulus)), rest)
            }
            _ => t.not(t.eq(sum, zero)),
        }
    }

    fn arrays(&mut self, scope: &Scope) -> TermId {
        let t = Rc::clone(&self.terms);
        let (a, b) = (self.pick(&scope.arrays), self.pick(&scope.arrays));
        let (i, j) = (self.pick(&scope.numbers), self.pick(&scope.numbers));
        let value = self.numeral(SortId::INT, 3);
        match self.below(9) {
            0 => t.eq(a, t.store(b, i, value)),
            1 => t.eq(a, t.store(b, i, j)),
            2 => t.eq(a, b),
            3 => t.not(t.eq(a, b)),
            4 => t.eq(i, j),
            5 => t.eq(t.select(a, i), value),
            6 => t.le(t.select(a, i), t.select(b, j)),
            7 => t.not(t.eq(t.select(a, i), t.select(b, j))),
            _ => t.gt(t.select(a, i), value),
        }
    }

    fn data(&mut self, scope: &Scope) -> TermId {
        let t = Rc::clone(&self.terms);
        let (l, m) = (self.pick(&scope.lists), self.pick(&scope.lists));
        let (c, d) = (self.pick(&scope.colors), self.pick(&scope.colors));
        let x = self.pick(&scope.numbers);
        let (list, color) = (self.list.0, self.color.0);
        let is_cons = t.is(list, 1, l);
        let head = t.field(list, 1, 0, l);
        let value = self.numeral(SortId::INT, 3);
        match self.below(12) {
            0 => is_cons,
            1 => t.not(is_cons),
            2 => t.eq(l, t.construct(list, 1, &[x, m])),
            3 => t.eq(l, m),
            4 => t.not(t.eq(l, m)),
            5 => t.and(&[is_cons, t.le(head, x)]),
            6 => t.and(&[is_cons, t.gt(head, value)]),
            7 => t.and(&[is_cons, t.eq(t.field(list, 1, 1, l), m)]),
            8 => t.eq(c, d),
            9 => t.not(t.eq(c, d)),
            10 => t.not(t.is(color, self.below(3) as u32, c)),
            _ => t.is(color, self.below(3) as u32, c),
        }
    }

    fn bits(&mut self, scope: &Scope) -> TermId {
        let t = Rc::clone(&self.terms);
        let (x, y) = (self.pick(&scope.bits), self.pick(&scope.bits));
        let value = t.bitvec(BigUint::from(self.below(1 << WIDTH)), WIDTH);
        let op = [Op::BvUle, Op::BvSle][self.below(2)].clone();
        let literal = match self.below(8) {
            0 => t.bv_op(&op, &[x, y]),
            1 => t.bv_op(&op, &[x, value]),
            2 => t.bv_op(&op, &[value, x]),
            3 => t.eq(x, t.bv_op(&Op::BvAdd, &[y, value])),
            4 => t.eq(
                t.bv_op(&Op::BvAnd, &[x, value]),
                t.bv_op(&Op::BvOr, &[y, value]),
            ),
            5 => t.eq(x, y),
            6 => {
                let at = self.below(WIDTH as usize) as u32;
                let bit = |v| t.bv_op(&Op::BvExtract(at, at), &[v]);
                t.eq(bit(x), bit(y))
            }
            _ => t.bv_op(&op, &[t.bv_op(&Op::BvAdd, &[x, y]), value]),
        };
        match self.below(4) {
            0 => t.not(literal),
            _ => literal,
        }
    }

    /// A literal, a clause or a disjunction of cubes.
    pub fn formula(&mut self, scope: &Scope) -> TermId {
        let t = Rc::clone(&self.terms);
        match self.below(6) {
            0..3 => self.literal(scope),
            3 | 4 => {
                let clause: Vec<TermId> = (0..2).map(|_| self.literal(scope)).collect();
                t.or(&clause)
            }
            _ => {
                let mut cube = || t.and(&[self.literal(scope), self.literal(scope)]);
                t.or(&[cube(), cube()])
            }
        }
    }

    fn literal(&mut self, scope: &Scope) -> TermId {
        let t = Rc::clone(&self.terms);
        if !scope.bools.is_empty() && self.below(5) == 0 {
            let p = self.pick(&scope.bools);
            return match self.below(3) {
                0 => p,
                1 => t.not(p),
                _ => t.eq(p, self.arithmetic(&scope.numbers)),
            };
        }
        let kinds = [&scope.arrays, &scope.lists, &scope.bits];
        let kind = self.below(4);
        match kinds.get(kind) {
            Some(vars) if !vars.is_empty() => match kind {
                0 => self.arrays(scope),
                1 => self.data(scope),
                _ => self.bits(scope),
            },
            _ if scope.numbers.is_empty() => self.bits(scope),
            _ => self.arithmetic(&scope.numbers),
        }
    }

    /// The variables of some points of a path.
    pub fn scope(&self, theory: Theory, points: &[usize]) -> Scope {
        let t = &self.terms;
        let numbers = match theory {
            Theory::Reals => SortId::REAL,
            _ => SortId::INT,
        };
        let vars = |names: &[&str], sort: SortId| -> Vec<TermId> {
            let at = |&k: &usize| names.iter().map(move |n| t.var(&format!("{n}{k}"), sort));
            points.iter().flat_map(at).collect()
        };
        let when = |of: &[Theory], names: &[&str], sort: SortId| match of.contains(&theory) {
            true => vars(names, sort),
            false => Vec::new(),
        };
        use Theory::{Arrays, Bits, Data, Integers, Mixed, Reals};
        Scope {
            numbers: when(
                &[Reals, Integers, Arrays, Data, Mixed],
                &["x", "y"],
                numbers,
            ),
            bools: when(&[Reals, Integers, Mixed], &["p"], SortId::BOOL),
            arrays: when(
                &[Arrays, Mixed],
                &["a"],
                t.array_sort(SortId::INT, SortId::INT),
            ),
            lists: when(&[Data, Mixed], &["l"], self.list.1),
            colors: when(&[Data, Mixed], &["c"], self.color.1),
            bits: when(&[Bits, Mixed], &["b", "d"], t.bitvec_sort(WIDTH)),
        }
    }
}

/// Variables that a formula may have.
#[derive(Clone, Default)]
pub(super) struct Scope {
    pub numbers: Vec<TermId>,
    pub bools: Vec<TermId>,
    pub arrays: Vec<TermId>,
    pub lists: Vec<TermId>,
    pub colors: Vec<TermId>,
    pub bits: Vec<TermId>,
}

fn form(choice: usize) -> InterpolantForm {
    [
        InterpolantForm::Strong,
        InterpolantForm::Weak,
        InterpolantForm::Decomposed,
    ][choice % 3]
}

fn order(choice: usize) -> InterpolationOrder {
    [InterpolationOrder::Forward, InterpolationOrder::Backward][choice % 2]
}

fn options(generator: &mut Generator) -> InterpolationOptions {
    InterpolationOptions {
        form: form(generator.below(3)),
        order: order(generator.below(2)),
        core_rounds: generator.below(3),
        proofs: generator.below(2) == 0,
        ..checked()
    }
}

/// Adds conjuncts to the formulas, each over its scope, until they are unsatisfiable together.
fn contradict(generator: &mut Generator, scopes: &[Scope]) -> Option<Vec<TermId>> {
    let t = Rc::clone(&generator.terms);
    let smt = Smt::new(Rc::clone(&t));
    let _limit = smt.limit_queries(Some(Duration::from_millis(500)));
    let mut solver = smt.solver();
    let mut formulas = vec![TermId::TRUE; scopes.len()];
    for _ in 0..12 + 4 * scopes.len() {
        for _ in 0..2 {
            let at = generator.below(scopes.len());
            let formula = generator.formula(&scopes[at]);
            solver.assert(formula);
            formulas[at] = t.and(&[formulas[at], formula]);
        }
        match solver.check(&[]) {
            SatResult::Sat => {}
            SatResult::Unsat => return Some(formulas),
            SatResult::Unknown(_) => return None,
        }
    }
    None
}

/// The kind of an answer; limits are allowed, and counted.
#[derive(PartialEq, Eq, Debug)]
enum Outcome {
    Interpolated,
    /// The formulas are satisfiable, or too hard.
    NoProblem,
    GivenUp,
}

fn limited(terms: &Rc<TermStore>, options: InterpolationOptions) -> Interpolator {
    let mut interpolator = interpolator(terms, options);
    let budget = Budget::new(terms.clone(), Arc::default(), true);
    interpolator.set_budget(Some(budget.work(Duration::from_secs(10))));
    interpolator
}

/// The result unless a limit was reached; any other error is a failure.
fn result<T>(answer: Result<T, InterpolationError>) -> Option<T> {
    match answer {
        Ok(result) => Some(result),
        Err(InterpolationError::Limit(_) | InterpolationError::Unsupported(_)) => None,
        Err(error) => panic!("{error}"),
    }
}

fn random_pair(seed: u64, theory: Theory) -> Outcome {
    let mut g = Generator::new(seed);
    let t = Rc::clone(&g.terms);
    let scopes = [g.scope(theory, &[0, 1]), g.scope(theory, &[1, 2])];
    let Some(formulas) = contradict(&mut g, &scopes) else {
        return Outcome::NoProblem;
    };
    let options = options(&mut g);
    let (a, b) = ([formulas[0]], [formulas[1]]);
    let Some(interpolant) = result(limited(&t, options).binary(&a, &b)) else {
        return Outcome::GivenUp;
    };
    assert_interpolant(&t, &a, &b, interpolant);
    Outcome::Interpolated
}

fn random_sequence(seed: u64, theory: Theory, most: usize) -> Outcome {
    let mut g = Generator::new(seed);
    let t = Rc::clone(&g.terms);
    let length = 2 + g.below(most - 1);
    let scopes: Vec<Scope> = (0..length).map(|k| g.scope(theory, &[k, k + 1])).collect();
    let Some(formulas) = contradict(&mut g, &scopes) else {
        return Outcome::NoProblem;
    };
    let options = options(&mut g);
    let Some(found) = result(limited(&t, options).sequence(&formulas)) else {
        return Outcome::GivenUp;
    };
    assert_sequence(&t, &formulas, &found);
    Outcome::Interpolated
}

/// Node `k` has the variables of point `k` and of its children's points.
fn random_tree(seed: u64, theory: Theory) -> Outcome {
    let mut g = Generator::new(seed);
    let t = Rc::clone(&g.terms);
    let count = 2 + g.below(7);
    let root = g.below(count);
    // Parents are closer to the root in a random order.
    let mut order: Vec<usize> = (0..count).filter(|&n| n != root).collect();
    order.insert(0, root);
    let mut parents = vec![None; count];
    for at in 1..count {
        parents[order[at]] = Some(order[g.below(at)]);
    }
    let scopes: Vec<Scope> = (0..count)
        .map(|node| {
            let mut points = vec![node];
            points.extend((0..count).filter(|&c| parents[c] == Some(node)));
            g.scope(theory, &points)
        })
        .collect();
    let Some(formulas) = contradict(&mut g, &scopes) else {
        return Outcome::NoProblem;
    };
    let options = options(&mut g);
    let Some(found) = result(limited(&t, options).tree(&formulas, &parents)) else {
        return Outcome::GivenUp;
    };
    assert_tree(&t, &formulas, &parents, &found);
    Outcome::Interpolated
}

/// A DAG with joins: each node has an edge from the one before it and some from earlier ones.
fn random_dag(seed: u64, theory: Theory) -> Outcome {
    let mut g = Generator::new(seed);
    let t = Rc::clone(&g.terms);
    let count = 3 + g.below(5);
    let mut edges = Vec::new();
    for to in 1..count {
        for from in 0..to {
            if from + 1 == to || g.below(3) == 0 {
                let scope = g.scope(theory, &[from, to]);
                let parts = (0..1 + g.below(3)).map(|_| g.formula(&scope));
                let formula = t.and(&parts.collect::<Vec<_>>());
                edges.push(InterpolationEdge { from, to, formula });
            }
        }
    }
    let mut dag = InterpolationDag {
        labels: vec![TermId::TRUE; count],
        edges,
        entry: 0,
        exit: count - 1,
    };
    let options = options(&mut g);
    let mut i = limited(&t, options);
    // Edges become stronger until no path is left.
    let mut answer = i.dag(&dag);
    for _ in 0..60 {
        if !matches!(answer, Err(InterpolationError::Satisfiable(_))) {
            break;
        }
        let at = g.below(dag.edges.len());
        let edge = dag.edges[at];
        let formula = g.formula(&g.scope(theory, &[edge.from, edge.to]));
        dag.edges[at].formula = t.and(&[edge.formula, formula]);
        answer = i.dag(&dag);
    }
    if let Err(InterpolationError::Satisfiable(_)) = answer {
        return Outcome::NoProblem;
    }
    let Some(found) = result(answer) else {
        return Outcome::GivenUp;
    };
    assert_dag(&t, &dag, &found);
    // Restricted by an interpolant of another form, with one label removed.
    let mut other = options;
    other.form = form(g.below(3));
    other.order = order(g.below(2));
    let Some(labels) = result(limited(&t, other).dag(&dag)) else {
        return Outcome::GivenUp;
    };
    let mut restricted = dag.clone();
    restricted.labels = labels;
    let kept = g.below(count);
    restricted.labels[kept] = TermId::TRUE;
    let follows = restricted.edges.iter().all(|e| {
        let target = t.not(restricted.labels[e.to]);
        is_unsat(&t, &[restricted.labels[e.from], e.formula, target])
    });
    match i.dag(&restricted) {
        Ok(found) => assert_dag(&t, &restricted, &found),
        // Refused only if the remaining labels do not follow.
        Err(InterpolationError::Input(_)) => assert!(!follows),
        Err(InterpolationError::Limit(_) | InterpolationError::Unsupported(_)) => {
            return Outcome::GivenUp;
        }
        Err(error) => panic!("{error}"),
    }
    Outcome::Interpolated
}

fn theory(seed: u64) -> Theory {
    use Theory::{Arrays, Bits, Data, Integers, Mixed, Reals};
    [Integers, Reals, Arrays, Data, Bits, Mixed][seed as usize % 6]
}

/// A regression: a field lost its guard.
#[test]
fn guards_are_not_lost() {
    let outcome = random_pair(10_527_159_401_118_404_315, Theory::Mixed);
    assert_eq!(outcome, Outcome::Interpolated);
}

#[test]
fn sequences_up_to_fifty() {
    let mut longest = 0;
    for seed in 1..=24 {
        let theory = theory(seed);
        let outcome = random_sequence(seed, theory, 50);
        assert_ne!(outcome, Outcome::GivenUp, "{theory:?} {seed}");
        if outcome == Outcome::Interpolated {
            longest = longest.max(2 + Generator::new(seed).below(49));
        }
    }
    assert!(longest >= 40, "no more than {longest}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn pairs(seed: u64) {
        random_pair(seed, theory(seed));
    }

    #[test]
    fn sequences(seed: u64) {
        random_sequence(seed, theory(seed), 8);
    }

    #[test]
    fn trees(seed: u64) {
        random_tree(seed, theory(seed));
    }

    #[test]
    fn dags(seed: u64) {
        random_dag(seed, theory(seed));
    }
}

/// At least `least` percent of the pairs and sequences of a theory have to be interpolated.
fn covered(theory: Theory, least: usize) {
    let (mut done, mut all) = (0, 0);
    for seed in 1..=40 {
        for outcome in [random_pair(seed, theory), random_sequence(seed, theory, 5)] {
            done += usize::from(outcome == Outcome::Interpolated);
            all += usize::from(outcome != Outcome::NoProblem);
        }
    }
    println!("{theory:?}: {done} of {all}");
    assert!(all >= 40, "{theory:?}: only {all} problems");
    assert!(done * 100 >= all * least, "{theory:?}: {done} of {all}");
}

#[test]
fn reals_are_covered() {
    covered(Theory::Reals, 100);
}

#[test]
fn integers_are_covered() {
    covered(Theory::Integers, 100);
}

#[test]
fn arrays_are_covered() {
    covered(Theory::Arrays, 95);
}

#[test]
fn data_are_covered() {
    covered(Theory::Data, 95);
}

#[test]
fn bits_are_covered() {
    covered(Theory::Bits, 95);
}

#[test]
fn mixtures_are_covered() {
    covered(Theory::Mixed, 95);
}

/// Problems of linear arithmetic have proofs, from which all interpolants are read.
fn proved(theory: Theory, least: usize) {
    let (mut done, mut all) = (0, 0);
    for seed in 1..=120 {
        let mut g = Generator::new(seed);
        let t = Rc::clone(&g.terms);
        let length = 2 + g.below(6);
        let scopes: Vec<Scope> = (0..length).map(|k| g.scope(theory, &[k, k + 1])).collect();
        let Some(formulas) = contradict(&mut g, &scopes) else {
            continue;
        };
        let options = InterpolationOptions {
            form: form(g.below(2)),
            core_rounds: g.below(3),
            proofs: true,
            ..checked()
        };
        let mut i = limited(&t, options);
        let found = match seed % 2 {
            0 => result(i.sequence(&formulas)),
            _ => {
                let cut = 1 + g.below(length - 1);
                let (a, b) = formulas.split_at(cut);
                let found = result(i.binary(a, b));
                if let Some(found) = found {
                    assert_interpolant(&t, a, b, found);
                }
                found.map(|_| Vec::new())
            }
        };
        if let Some(found) = found
            && seed % 2 == 0
        {
            assert_sequence(&t, &formulas, &found);
        }
        let counters = i.counters();
        assert_eq!(counters.proofs + counters.unproved, 1);
        done += counters.proofs as usize;
        all += 1;
    }
    println!("{theory:?}: {done} of {all}");
    assert!(all >= 60, "{theory:?}: only {all} problems");
    assert!(done * 100 >= all * least, "{theory:?}: {done} of {all}");
}

#[test]
fn reals_are_proved() {
    proved(Theory::Reals, 100);
}

#[test]
fn integers_are_proved() {
    proved(Theory::Integers, 95);
}

#[test]
fn bit_vectors_are_proved() {
    proved(Theory::Bits, 100);
}

/// Problems with arrays have no proof, and are interpolated nevertheless.
#[test]
fn other_theories_have_no_proof() {
    let mut all = 0;
    for seed in 1..=20 {
        let mut g = Generator::new(seed);
        let t = Rc::clone(&g.terms);
        let scopes = [
            g.scope(Theory::Arrays, &[0, 1]),
            g.scope(Theory::Arrays, &[1, 2]),
        ];
        let Some(formulas) = contradict(&mut g, &scopes) else {
            continue;
        };
        let has_array = |&v: &TermId| matches!(t.sort(t.sort_of(v)), Sort::Array(..));
        if !t.free_vars(&formulas).iter().any(has_array) {
            continue;
        }
        let options = InterpolationOptions {
            proofs: true,
            core_rounds: 0,
            ..checked()
        };
        let mut i = limited(&t, options);
        let Some(found) = result(i.binary(&formulas[..1], &formulas[1..])) else {
            continue;
        };
        assert_interpolant(&t, &formulas[..1], &formulas[1..], found);
        assert_eq!(i.counters().proofs, 0);
        all += 1;
    }
    assert!(all >= 10, "only {all} problems");
}

#[test]
fn trees_and_dags_of_linear_arithmetic() {
    for seed in 1..=60 {
        for theory in [Theory::Reals, Theory::Integers] {
            assert_ne!(random_tree(seed, theory), Outcome::GivenUp, "{seed}");
            random_dag(seed, theory);
        }
    }
}
