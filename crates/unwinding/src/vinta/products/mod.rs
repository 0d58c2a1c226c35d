//! Products of arguments as further arguments, so that linear domains find quadratic invariants.
//!
//! Source: Bagnara, Rodríguez-Carbonell, Zaffanella, "Generation of basic semi-algebraic invariants
//! using convex polyhedra" (SAS 2005): a polyhedron over monomials. Deviations: the monomials are
//! arguments of a second system, so that any domain and refinement apply to it; only products that
//! loops sum up are taken (`demand`), like the square of `i` where `x` grows by `i`; apart from
//! their expansions, only a few facts about products are stated, most of them about squares.
//!
//! Invariant: each clause of the new system, with the products in place of the arguments that stand
//! for them, follows from the clause of the old one. So a model of the new system with products
//! substituted is a model of the old one. A refutation of the new system may not be one of the old.

mod conditions;
mod demand;
mod forms;

#[cfg(test)]
mod tests;

use num_traits::{One, Zero};
use rustc_hash::FxHashMap;

use self::demand::demanded;
use self::forms::{Forms, one};
use alphorn_chc::{Atom, Clause, PredicateId, System};
use alphorn_proof::confirm;
use alphorn_smt::Smt;
use alphorn_term::run::Context;
use alphorn_term::{Linear, Op, Rational, SortId, TermId, TermStore};
use alphorn_witness::{Model, Refutation, Verdict};

/// Products of variables: the two factors, and the variable that stands for the product.
type Factors = Vec<((TermId, TermId), TermId)>;

/// A system in which predicates have some products of their arguments as arguments.
pub(super) struct Products {
    /// The new system.
    pub system: System,
    /// By predicate of the old system: the one with products, and positions of their factors.
    of: FxHashMap<PredicateId, (PredicateId, Vec<(usize, usize)>)>,
}

impl Products {
    /// The system with products; `None` if no product is useful.
    pub fn new(old: &System) -> Option<Products> {
        let forms: Vec<Forms> = old
            .clauses
            .iter()
            .map(|clause| Forms::new(&old.terms, clause))
            .collect();
        let demanded = demanded(old, &forms)?;
        let mut system = old.clone();
        let mut of = FxHashMap::default();
        for (predicate, products) in demanded {
            let described = old.predicate(predicate);
            let params = &described.params;
            let factors = products.iter().map(|&(i, _)| &params[i]);
            let all = params.iter().chain(factors);
            let sorts: Vec<SortId> = all.map(|&p| old.terms.sort_of(p)).collect();
            let new = system.add_predicate(&described.name, &sorts);
            of.insert(predicate, (new, products));
        }
        let mut products = Products { system, of };
        for (index, forms) in forms.iter().enumerate() {
            let (clause, _) = products.clause(old, &old.clauses[index], forms);
            products.system.clauses[index] = clause;
        }
        Some(products)
    }

    /// The clause over atoms with products, and the products of variables in it.
    fn clause(&self, old: &System, clause: &Clause, forms: &Forms) -> (Clause, Factors) {
        let terms = &old.terms;
        let mut monomials = Monomials {
            terms,
            vars: FxHashMap::default(),
        };
        let mut parts = vec![clause.constraint];
        let mut atoms: Vec<Atom> = Vec::new();
        for atom in clause.atoms() {
            let Some((new, products)) = self.of.get(&atom.predicate) else {
                atoms.push(atom.clone());
                continue;
            };
            let mut args = atom.args.clone();
            for &(i, j) in products {
                let sort = terms.sort_of(atom.args[i]);
                let product = terms.fresh_var("product", sort);
                let (a, b) = (forms.of(atom.args[i]), forms.of(atom.args[j]));
                let expanded = monomials.expanded(&a, &b, sort);
                parts.push(equation(terms, product, &expanded, sort));
                args.push(product);
            }
            atoms.push(Atom {
                predicate: *new,
                args,
            });
        }
        let mut vars: Factors = monomials.vars.iter().map(|(&k, &v)| (k, v)).collect();
        vars.sort_unstable();
        for &((x, y), product) in &vars {
            parts.extend(known(terms, forms, x, y, product));
        }
        if clause.head.is_none() {
            for (at, &((x, same), square)) in vars.iter().enumerate() {
                for &((y, also), other) in &vars[at + 1..] {
                    let one_sort = terms.sort_of(x) == terms.sort_of(y);
                    if x == same && y == also && one_sort {
                        parts.extend(ordered(terms, (x, square), (y, other)));
                    }
                }
            }
        }
        let head = clause.head.as_ref().and_then(|_| atoms.pop());
        let clause = Clause {
            id: clause.id,
            body: atoms,
            constraint: terms.and(&parts),
            head,
        };
        (clause, vars)
    }

    /// The verdict on the old system: translates models back, and confirms refutations.
    pub fn verdict(&self, old: &System, verdict: Verdict, cx: &Context) -> Verdict {
        match verdict {
            Verdict::Sat(model) => Verdict::Sat(self.model(old, model)),
            Verdict::Unsat(refutation) => {
                let smt = Smt::within(&cx.budget);
                confirm(old, self.refutation(refutation), &smt, cx)
            }
            unknown => unknown,
        }
    }

    /// The back-translation of a model of the new system.
    fn model(&self, old: &System, mut model: Model) -> Model {
        let terms = &old.terms;
        for (&predicate, (new, products)) in &self.of {
            let Some(definition) = model.definitions.remove(new) else {
                continue;
            };
            let own = &old.predicate(predicate).params;
            let mut values = own.clone();
            values.extend(products.iter().map(|&(i, j)| terms.mul(&[own[i], own[j]])));
            let params = self.system.predicate(*new).params.iter();
            let map = params.copied().zip(values).collect();
            let definition = terms.substitute(definition, &map);
            model.definitions.insert(predicate, definition);
        }
        model
    }

    /// The back-translation of a refutation of the new system; the result may not be a refutation.
    fn refutation(&self, mut refutation: Refutation) -> Refutation {
        let mut old: FxHashMap<PredicateId, (PredicateId, usize)> = FxHashMap::default();
        for (&predicate, (new, products)) in &self.of {
            let arity = self.system.predicate(*new).arity() - products.len();
            old.insert(*new, (predicate, arity));
        }
        for fact in refutation.steps.iter_mut().filter_map(|s| s.fact.as_mut()) {
            if let Some(&(predicate, arity)) = old.get(&fact.predicate) {
                fact.predicate = predicate;
                fact.values.truncate(arity);
            }
        }
        refutation
    }
}

/// The products of a clause's variables.
struct Monomials<'a> {
    terms: &'a TermStore,
    /// By factors, the smaller first.
    vars: FxHashMap<(TermId, TermId), TermId>,
}

impl Monomials<'_> {
    /// The product of two linear forms, in which products of variables are variables.
    fn expanded(&mut self, a: &Linear, b: &Linear, sort: SortId) -> Linear {
        let mut sum = b.scaled(&a.constant);
        sum = sum.add_scaled(a, &b.constant);
        // The constant of each sum is the product of both constants.
        sum.constant = &a.constant * &b.constant;
        for (x, c) in &a.monomials {
            for (y, d) in &b.monomials {
                let key = (*x.min(y), *x.max(y));
                let terms = self.terms;
                let product = self.vars.entry(key);
                let product = *product.or_insert_with(|| terms.fresh_var("product", sort));
                let product = Linear {
                    monomials: vec![(product, Rational::one())],
                    constant: Rational::zero(),
                };
                sum = sum.add_scaled(&product, &(c * d));
            }
        }
        sum
    }
}

/// `var = sum`.
fn equation(terms: &TermStore, var: TermId, sum: &Linear, sort: SortId) -> TermId {
    let var = Linear {
        monomials: vec![(var, -Rational::one())],
        constant: Rational::zero(),
    };
    terms.linear_atom(Op::Eq, &sum.add_scaled(&var, &Rational::one()), sort)
}

/// Facts about the product of two variables of a clause: lines that are below the square; and the
/// value of the product where a factor equals one of its bounds in the clause.
fn known(terms: &TermStore, forms: &Forms, x: TermId, y: TermId, product: TermId) -> Vec<TermId> {
    let sort = terms.sort_of(x);
    let zero = terms.number(&Rational::zero(), sort);
    let mut facts = Vec::new();
    if x == y {
        facts.push(terms.ge(product, zero));
        if sort == SortId::INT {
            facts.push(terms.ge(product, x));
            facts.push(terms.ge(product, terms.neg(x)));
        }
    }
    let factors = if x == y {
        vec![(x, y)]
    } else {
        vec![(x, y), (y, x)]
    };
    for (factor, other) in factors {
        for (bound, step) in forms.bounds(factor) {
            let near = if x == y && sort == SortId::INT {
                // The line through the squares of two neighbours: no other square is between.
                &bound + &step
            } else {
                bound.clone()
            };
            let (low, high) = if near < bound {
                (&near, &bound)
            } else {
                (&bound, &near)
            };
            let within = [
                terms.ge(factor, terms.number(low, sort)),
                terms.le(factor, terms.number(high, sort)),
            ];
            let line = if x == y {
                let slope = terms.scale(&(low + high), x);
                terms.sub(slope, terms.number(&(low * high), sort))
            } else {
                terms.scale(&bound, other)
            };
            facts.push(terms.implies(terms.and(&within), terms.eq(product, line)));
        }
    }
    facts
}

/// Facts that compare the squares of two variables, given how the variables and their sum compare.
fn ordered(
    terms: &TermStore,
    (x, square): (TermId, TermId),
    (y, other): (TermId, TermId),
) -> Vec<TermId> {
    let sort = terms.sort_of(x);
    let zero = terms.number(&Rational::zero(), sort);
    let sum = terms.add(&[x, y]);
    let least = one(sort);
    let mut facts = Vec::new();
    for (difference, squares) in [
        (terms.sub(x, y), terms.sub(square, other)),
        (terms.sub(y, x), terms.sub(other, square)),
    ] {
        // (x - y)(x + y), with x - y at least one.
        let apart = terms.ge(difference, terms.number(&least, sort));
        let by = terms.scale(&least, sum);
        let above = terms.and(&[apart, terms.ge(sum, zero)]);
        facts.push(terms.implies(above, terms.ge(squares, by)));
        let below = terms.and(&[apart, terms.le(sum, zero)]);
        facts.push(terms.implies(below, terms.le(squares, by)));
    }
    facts.push(terms.implies(terms.eq(x, y), terms.eq(square, other)));
    facts
}
