//! Checks that learned relations are transitive and contain the pass, and that accelerated ones are
//! repeated passes.

use std::rc::Rc;

use super::*;
use alphorn_smt::SatResult;
use alphorn_term::{Assignment, SortId, TermStore};

/// A pass over two numbers: the arguments before and after, its literals, and a model.
struct Sample {
    terms: Rc<TermStore>,
    before: Vec<TermId>,
    after: Vec<TermId>,
    literals: Vec<TermId>,
    values: Assignment,
}

/// `(guard bound of x, change of x, change of y as (least, most), start of x)`.
fn sample(sort: SortId, guard: i64, step: i64, gain: (i64, i64), start: i64) -> Sample {
    let terms = Rc::new(TermStore::new());
    let number = |n: i64| terms.number(&alphorn_term::Rational::from_integer(n.into()), sort);
    let [x, y, z, x1, y1, z1] = ["x", "y", "z", "x'", "y'", "z'"].map(|n| {
        let sort = if n.starts_with('z') {
            SortId::BOOL
        } else {
            sort
        };
        terms.var(n, sort)
    });
    let literals = vec![
        terms.lt(x, number(guard)),
        terms.eq(x1, terms.add(&[x, number(step)])),
        terms.ge(y1, terms.add(&[y, number(gain.0)])),
        terms.le(y1, terms.add(&[y, number(gain.1)])),
        terms.eq(z, z1),
    ];
    let values = [
        (x, number(start)),
        (y, number(7)),
        (z, TermId::TRUE),
        (x1, number(start + step)),
        (y1, number(7 + gain.0)),
        (z1, TermId::TRUE),
    ];
    let (before, after) = (vec![x, y, z], vec![x1, y1, z1]);
    Sample {
        terms,
        before,
        after,
        literals,
        values: values.into_iter().collect(),
    }
}

fn samples() -> Vec<Sample> {
    let mut samples = Vec::new();
    for sort in [SortId::INT, SortId::REAL] {
        for step in [-3, -1, 0, 1, 2] {
            for gain in [(-2, -2), (-1, 1), (0, 0), (1, 3), (2, 2)] {
                samples.push(sample(sort, 10, step, gain, 4));
            }
        }
    }
    samples
}

impl Sample {
    fn pass(&self) -> Pass<'_> {
        Pass {
            literals: &self.literals,
            before: &self.before,
            after: &self.after,
            values: &self.values,
        }
    }

    /// Whether formulas over states, of the sample's variables renamed to numbered ones, have a
    /// common solution.
    fn together(&self, formulas: &[(TermId, usize, usize)]) -> bool {
        let smt = Smt::new(self.terms.clone());
        let mut solver = smt.solver();
        let state = |n: usize| {
            let name = move |&v: &TermId| format!("{}!{n}", self.terms.var_name(v));
            self.before
                .iter()
                .map(move |v| self.terms.var(&name(v), self.terms.sort_of(*v)))
        };
        for &(formula, from, to) in formulas {
            let vars = self.before.iter().chain(&self.after).copied();
            let map = vars.zip(state(from).chain(state(to))).collect();
            solver.assert(self.terms.substitute(formula, &map));
        }
        match solver.check(&[]) {
            SatResult::Sat => true,
            SatResult::Unsat => false,
            SatResult::Unknown(why) => panic!("{why}"),
        }
    }
}

#[test]
fn what_is_learned_is_transitive_and_covers_the_pass() {
    for sample in samples() {
        let terms = &sample.terms;
        let relation = terms.and(&sample.pass().transitive(terms).expect("all has a value"));
        let pass = terms.and(&sample.literals);
        let not = terms.not(relation);
        assert!(!sample.together(&[(relation, 0, 1), (relation, 1, 2), (not, 0, 2)]));
        // These passes are conjunctions of bounds of differences: all of them are covered.
        assert!(!sample.together(&[(pass, 0, 1), (not, 0, 1)]));
        assert!(!sample.together(&[(pass, 0, 1), (pass, 1, 2), (not, 0, 2)]));
        // The relation is not trivial.
        let away = terms.not(terms.eq(sample.before[2], sample.after[2]));
        assert!(!sample.together(&[(relation, 0, 1), (away, 0, 1)]));
    }
}

#[test]
fn what_is_accelerated_is_so_many_passes() {
    for sample in samples() {
        let terms = &sample.terms;
        let Some(acceleration) = sample.pass().accelerate(terms) else {
            let same = |(a, b): (&TermId, &TermId)| sample.values[a] == sample.values[b];
            assert!(sample.before.iter().zip(&sample.after).all(same));
            continue;
        };
        let relation = terms.and(&acceleration.literals);
        // Z3 cannot always show that a sum of integers is an integer.
        let whole = |l: &&TermId| *terms.op(**l) != alphorn_term::Op::IsInt;
        let rest: Vec<TermId> = acceleration
            .literals
            .iter()
            .filter(whole)
            .copied()
            .collect();
        let rest = terms.and(&rest);
        let not = terms.not(rest);
        assert!(!sample.together(&[(rest, 0, 1), (rest, 1, 2), (not, 0, 2)]));
        let pass = terms.and(&sample.literals);
        let from: Vec<TermId> = sample.before.iter().map(|v| sample.values[v]).collect();
        for passes in 1..5_usize {
            let count = alphorn_term::BigInt::from(passes);
            let to = acceleration
                .state(terms, &from, &count)
                .expect("these are numbers");
            assert_eq!(acceleration.passes(terms, &from, &to), Some(count));
            let ends = |n: usize, vars: &[TermId], values: &[TermId]| {
                let equal: Vec<TermId> = vars
                    .iter()
                    .zip(values)
                    .map(|(&v, &x)| terms.eq(v, x))
                    .collect();
                (terms.and(&equal), n, n + 1)
            };
            let (first, last) = (
                ends(0, &sample.before, &from),
                ends(passes - 1, &sample.after, &to),
            );
            let mut chain: Vec<(TermId, usize, usize)> =
                (0..passes).map(|n| (pass, n, n + 1)).collect();
            chain.extend([first, last]);
            let whole = sample.together(&[
                (relation, 0, 1),
                ends(0, &sample.before, &from),
                ends(0, &sample.after, &to),
            ]);
            // The guard holds at the last pass if and only if the pass is possible.
            assert_eq!(whole, sample.together(&chain), "{passes}");
        }
    }
}

#[test]
fn a_pass_that_can_be_taken_once_is_not_accelerated() {
    let mut sample = sample(SortId::INT, 10, 1, (0, 0), 4);
    let at_four = sample.terms.eq(sample.before[0], sample.terms.int(4));
    sample.literals.push(at_four);
    assert!(sample.pass().accelerate(&sample.terms).is_none());
}
