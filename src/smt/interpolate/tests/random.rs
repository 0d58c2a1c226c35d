//! Random unsatisfiable problems.

use std::rc::Rc;

use proptest::prelude::*;

use super::super::{
    InterpolantForm, InterpolationDag, InterpolationEdge, InterpolationError, InterpolationOrder,
};
use super::*;
use crate::term::{BigInt, Rational, SortId};

/// Makes formulas from a stream of pseudo-random numbers (xorshift).
pub(super) struct Generator {
    pub terms: Rc<TermStore>,
    state: u64,
}

impl Generator {
    pub fn new(seed: u64) -> Generator {
        Generator {
            terms: Rc::new(TermStore::new()),
            state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
        }
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) as usize % bound
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
            let var = vars[self.below(vars.len())];
            let factor = Rational::from_integer([1, 1, -1, -1, 2, -2, 3][self.below(7)].into());
            parts.push(t.scale(&factor, var));
        }
        t.add(&parts)
    }

    fn arithmetic(&mut self, vars: &[TermId]) -> TermId {
        let t = Rc::clone(&self.terms);
        let sort = t.sort_of(vars[0]);
        let (sum, zero) = (
            self.sum(vars),
            t.number(&Rational::from_integer(0.into()), sort),
        );
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
            let p = scope.bools[self.below(scope.bools.len())];
            return match self.below(3) {
                0 => p,
                1 => t.not(p),
                _ => t.eq(p, self.arithmetic(&scope.numbers)),
            };
        }
        self.arithmetic(&scope.numbers)
    }
}

/// Variables that a formula may have.
#[derive(Clone, Default)]
pub(super) struct Scope {
    pub numbers: Vec<TermId>,
    pub bools: Vec<TermId>,
}

/// The variables of point `k` of a path, and of points `k` and `k + 1`.
fn scope(terms: &TermStore, sort: SortId, points: &[usize]) -> Scope {
    let mut scope = Scope::default();
    for k in points {
        for name in ["x", "y"] {
            scope.numbers.push(terms.var(&format!("{name}{k}"), sort));
        }
        scope.bools.push(terms.var(&format!("p{k}"), SortId::BOOL));
    }
    scope
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
        ..checked()
    }
}

/// Adds conjuncts to the formulas, each over its scope, until they are unsatisfiable together.
fn contradict(generator: &mut Generator, scopes: &[Scope]) -> Option<Vec<TermId>> {
    let t = Rc::clone(&generator.terms);
    let smt = Smt::new(Rc::clone(&t));
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

fn random_pair(seed: u64, sort: SortId) {
    let mut g = Generator::new(seed);
    let t = Rc::clone(&g.terms);
    let scopes = [scope(&t, sort, &[0, 1]), scope(&t, sort, &[1, 2])];
    let Some(formulas) = contradict(&mut g, &scopes) else {
        return;
    };
    let options = options(&mut g);
    let (a, b) = ([formulas[0]], [formulas[1]]);
    let interpolant = interpolator(&t, options).binary(&a, &b).unwrap();
    assert_interpolant(&t, &a, &b, interpolant);
}

fn random_sequence(seed: u64, sort: SortId, most: usize) {
    let mut g = Generator::new(seed);
    let t = Rc::clone(&g.terms);
    let length = 2 + g.below(most - 1);
    let scopes: Vec<Scope> = (0..length).map(|k| scope(&t, sort, &[k, k + 1])).collect();
    let Some(formulas) = contradict(&mut g, &scopes) else {
        return;
    };
    let options = options(&mut g);
    let result = interpolator(&t, options).sequence(&formulas).unwrap();
    assert_sequence(&t, &formulas, &result);
}

/// Node `k` has the variables of point `k` and of its children's points.
fn random_tree(seed: u64, sort: SortId) {
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
            scope(&t, sort, &points)
        })
        .collect();
    let Some(formulas) = contradict(&mut g, &scopes) else {
        return;
    };
    let options = options(&mut g);
    let result = interpolator(&t, options).tree(&formulas, &parents).unwrap();
    assert_tree(&t, &formulas, &parents, &result);
}

/// A DAG with joins: each node has an edge from the one before it and some from earlier ones.
fn random_dag(seed: u64, sort: SortId) {
    let mut g = Generator::new(seed);
    let t = Rc::clone(&g.terms);
    let count = 3 + g.below(5);
    let mut edges = Vec::new();
    for to in 1..count {
        for from in 0..to {
            if from + 1 == to || g.below(3) == 0 {
                let scope = scope(&t, sort, &[from, to]);
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
    let mut i = interpolator(&t, options);
    // Edges become stronger until no path is left.
    let mut result = i.dag(&dag);
    for _ in 0..60 {
        if !matches!(result, Err(InterpolationError::Satisfiable(_))) {
            break;
        }
        let at = g.below(dag.edges.len());
        let edge = dag.edges[at];
        let formula = g.formula(&scope(&t, sort, &[edge.from, edge.to]));
        dag.edges[at].formula = t.and(&[edge.formula, formula]);
        result = i.dag(&dag);
    }
    if let Err(InterpolationError::Satisfiable(_)) = result {
        return;
    }
    assert_dag(&t, &dag, &result.unwrap());
    // Restricted by an interpolant of another kind, weakened by one more formula per node.
    let mut other = options;
    other.form = form(g.below(3));
    other.order = order(g.below(2));
    let labels = interpolator(&t, other).dag(&dag).unwrap();
    let mut restricted = dag.clone();
    restricted.labels = labels;
    let kept = g.below(count);
    restricted.labels[kept] = TermId::TRUE;
    // Only where what is left is a labelling.
    let follows = restricted.edges.iter().all(|e| {
        let premises = [restricted.labels[e.from], e.formula];
        is_unsat(
            &t,
            &[premises[0], premises[1], t.not(restricted.labels[e.to])],
        )
    });
    match i.dag(&restricted) {
        Ok(result) => assert_dag(&t, &restricted, &result),
        Err(InterpolationError::Input(_)) => assert!(!follows),
        Err(error) => panic!("{error}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn pairs_of_reals(seed: u64) {
        random_pair(seed, SortId::REAL);
    }

    #[test]
    fn pairs_of_integers(seed: u64) {
        random_pair(seed, SortId::INT);
    }

    #[test]
    fn sequences_of_reals(seed: u64) {
        random_sequence(seed, SortId::REAL, 8);
    }

    #[test]
    fn sequences_of_integers(seed: u64) {
        random_sequence(seed, SortId::INT, 8);
    }

    #[test]
    fn trees(seed: u64) {
        random_tree(seed, if seed.is_multiple_of(2) { SortId::INT } else { SortId::REAL });
    }

    #[test]
    fn dags(seed: u64) {
        random_dag(seed, if seed.is_multiple_of(2) { SortId::INT } else { SortId::REAL });
    }
}
