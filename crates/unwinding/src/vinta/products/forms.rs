//! The variables of a clause as linear forms over few of them.
//!
//! Invariant: each form is implied by the clause's constraint, and has only roots as variables: a
//! root is its own form.

use num_traits::{One, Zero};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::vinta::limits::LIMITS;
use alphorn_arith::{Constraint, Relation, Solved};
use alphorn_chc::Clause;
use alphorn_domain::cubes;
use alphorn_term::{Linear, Rational, SortId, TermId, TermStore};

/// The solved equations of a clause.
pub(super) struct Forms {
    solved: Solved,
    /// By root: its bounds, each with the direction (1 or -1) towards the values inside.
    bounds: FxHashMap<TermId, Vec<(Rational, Rational)>>,
    /// The inequations over single roots.
    rows: Vec<Constraint>,
}

/// The smallest difference of two different values: one for integers, zero for reals.
pub(super) fn one(sort: SortId) -> Rational {
    match sort {
        SortId::INT => Rational::one(),
        _ => Rational::zero(),
    }
}

impl Forms {
    /// The forms of a clause. Variables of the head are solved for first, then others, those of the
    /// body last.
    pub fn new(terms: &TermStore, clause: &Clause) -> Forms {
        let mut rows: Vec<Constraint> = Vec::new();
        for part in terms.conjuncts(clause.constraint) {
            if let [cube] = &cubes(terms, part, 1)[..] {
                let vars = |r: &&Constraint| {
                    let monomials = &r.linear.monomials;
                    let sort = monomials.first().map(|m| terms.sort_of(m.0));
                    let fits = |t: TermId| terms.is_var(t) && Some(terms.sort_of(t)) == sort;
                    monomials.iter().all(|m| fits(m.0))
                };
                rows.extend(cube.constraints().filter(vars).cloned());
            }
        }
        let args = |atoms: &mut dyn Iterator<Item = &alphorn_chc::Atom>| -> FxHashSet<TermId> {
            atoms.flat_map(|a| a.args.iter().copied()).collect()
        };
        let head = args(&mut clause.head.iter());
        let body = args(&mut clause.body.iter());
        let class = |v: TermId| match v {
            v if head.contains(&v) => 0,
            v if body.contains(&v) => 2,
            _ => 1,
        };
        let mut forms = Forms {
            solved: Solved::default(),
            bounds: FxHashMap::default(),
            rows: Vec::new(),
        };
        let equations = rows.iter().filter(|r| r.relation == Relation::Equal);
        for row in equations.take(LIMITS.clause_equations) {
            let is_unit = |c: &Rational| c.is_one() || (-c).is_one();
            // An equation that contradicts the others is ignored.
            forms.solved.add(&row.linear, |linear| {
                let monomials = linear.monomials.iter();
                let pivot = monomials.min_by_key(|(v, c)| (class(*v), !is_unit(c), *v));
                pivot.map(|m| m.0)
            });
        }
        for row in rows {
            forms.bound(&row);
        }
        forms
    }

    /// The linear form of the variable.
    pub fn of(&self, var: TermId) -> Linear {
        self.solved.reduce(&Linear::unit(var))
    }

    /// The integer bounds of the root in the clause, each with the direction (1 or -1) towards the
    /// values inside.
    pub fn bounds(&self, root: TermId) -> Vec<(Rational, Rational)> {
        self.bounds.get(&root).cloned().unwrap_or_default()
    }

    /// The constraints of the clause on the variable alone, if its form is a root plus a constant.
    pub fn constraints_on(&self, var: TermId) -> Vec<Constraint> {
        let form = self.of(var);
        let [(root, factor)] = &form.monomials[..] else {
            return Vec::new();
        };
        if !factor.is_one() {
            return Vec::new();
        }
        let of_root = self
            .rows
            .iter()
            .filter(|r| r.linear.monomials[0].0 == *root);
        let of_var = of_root.map(|row| {
            let coefficient = row.linear.monomials[0].1.clone();
            let constant = &row.linear.constant - &coefficient * &form.constant;
            let monomials = vec![(var, coefficient)];
            Constraint {
                linear: Linear {
                    monomials,
                    constant,
                },
                relation: row.relation,
            }
        });
        of_var.collect()
    }

    /// Records a row that is a bound of a single root.
    fn bound(&mut self, row: &Constraint) {
        let linear = self.solved.reduce(&row.linear);
        let [(root, coefficient)] = &linear.monomials[..] else {
            return;
        };
        if row.relation == Relation::AtMost {
            let linear = linear.clone();
            let relation = row.relation;
            self.rows.push(Constraint { linear, relation });
        }
        let inside = match row.relation {
            Relation::AtMost | Relation::Below if *coefficient > Rational::zero() => {
                -Rational::one()
            }
            Relation::AtMost | Relation::Below => Rational::one(),
            _ => return,
        };
        let bound = -&linear.constant / coefficient;
        let known = self.bounds.entry(*root).or_default();
        if known.len() < LIMITS.bounds_per_variable
            && bound.is_integer()
            && !known.contains(&(bound.clone(), inside.clone()))
        {
            known.push((bound, inside));
        }
    }
}
