//! Conditions by which the domain splits cases, from bounds in the clauses.
//!
//! If one clause has the bound `i ≥ 1` and another the opposite, a case for each is useful. If `i`
//! starts as `n`, so is a case for `n ≥ 1`: whether the loop is entered at all.
//!
//! Invariant: both sides of each condition are a case, so a useless condition costs precision or
//! time only.

use std::collections::BTreeSet;

use num_traits::{One, Zero};

use super::Products;
use super::forms::Forms;
use alphorn_arith::{Constraint, Relation};
use alphorn_chc::{PredicateId, System};
use alphorn_domain::{Cube, Fact, Guard, guards};
use alphorn_term::{Linear, Rational, TermId};

/// A bound in a clause: predicate, position, coefficient, constant.
type Bound = (PredicateId, usize, Rational, Rational);

impl Products {
    /// Conditions over the predicates of the new system, from the bounds in clauses of the old one.
    pub fn conditions(&self, old: &System) -> Vec<Guard> {
        let forms: Vec<Forms> = old
            .clauses
            .iter()
            .map(|clause| Forms::new(&old.terms, clause))
            .collect();
        let mut bounds: BTreeSet<Bound> = BTreeSet::new();
        let mut cubes: Vec<Vec<Cube>> = Vec::with_capacity(forms.len());
        for (clause, forms) in old.clauses.iter().zip(&forms) {
            let mut facts = Vec::new();
            for atom in clause.atoms() {
                for (at, &arg) in atom.args.iter().enumerate() {
                    for row in forms.constraints_on(arg) {
                        let coefficient = row.linear.monomials[0].1.clone();
                        let constant = row.linear.constant.clone();
                        bounds.insert((atom.predicate, at, coefficient, constant));
                        facts.push(Fact::Linear(row));
                    }
                }
            }
            cubes.push(vec![Cube { facts }]);
        }
        // Arguments that equal a bounded argument at the entry of a loop, up to a constant.
        for ((clause, forms), cubes) in old.clauses.iter().zip(&forms).zip(&mut cubes) {
            let Some(head) = &clause.head else {
                continue;
            };
            if clause.body.iter().any(|a| a.predicate == head.predicate) {
                continue;
            }
            for (predicate, at, coefficient, constant) in &bounds {
                if *predicate != head.predicate {
                    continue;
                }
                let here = head.args[*at];
                for &there in head.args.iter().filter(|&&a| a != here) {
                    let difference = forms
                        .of(there)
                        .add_scaled(&forms.of(here), &-Rational::one());
                    if !difference.is_constant() || forms.of(here).is_constant() {
                        continue;
                    }
                    let constant = constant - coefficient * &difference.constant;
                    let both = both_sides(there, coefficient, constant);
                    cubes[0].facts.extend(both);
                }
            }
        }
        guards(&self.system, &cubes)
    }
}

/// A bound over integers and its negation.
fn both_sides(var: TermId, coefficient: &Rational, constant: Rational) -> [Fact; 2] {
    let row = |coefficient: Rational, constant: Rational| {
        let linear = Linear {
            monomials: vec![(var, coefficient)],
            constant,
        };
        let relation = Relation::AtMost;
        Fact::Linear(Constraint { linear, relation })
    };
    debug_assert!(!coefficient.is_zero());
    let opposite = row(-coefficient, Rational::one() - &constant);
    [row(coefficient.clone(), constant), opposite]
}
