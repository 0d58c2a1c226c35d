//! Clauses with solved equations: arguments are patterns of constructors and variables.
//!
//! Invariant: a rule has the same instances as its clause, up to the values of variables that its
//! equations determine.

use num_traits::{One, Signed};
use rustc_hash::{FxHashMap, FxHashSet};

use alphorn_chc::{Atom, Clause};
use alphorn_term::{DatatypeId, Op, Sort, SortId, TermId, TermStore};

/// A clause with solved equations.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The body atoms, over patterns.
    pub body: Vec<Atom>,
    /// The rest of the constraint, as conjuncts.
    pub guards: Vec<TermId>,
    /// The head; `None` for a query.
    pub head: Option<Atom>,
}

impl Rule {
    /// The rule of a clause with further conjuncts; `None` if the constraint is contradictory.
    pub fn new(terms: &TermStore, clause: &Clause, more: &[TermId]) -> Option<Rule> {
        let mut conjuncts = terms.conjuncts(clause.constraint);
        conjuncts.extend_from_slice(more);
        let (solution, guards) = solve_equations(terms, conjuncts)?;
        let mut memo = FxHashMap::default();
        let mut apply = |atom: &Atom| Atom {
            predicate: atom.predicate,
            args: atom
                .args
                .iter()
                .map(|&a| terms.substitute_with(a, &solution, &mut memo))
                .collect(),
        };
        Some(Rule {
            body: clause.body.iter().map(&mut apply).collect(),
            head: clause.head.as_ref().map(&mut apply),
            guards,
        })
    }
}

/// Solves equations and testers of variables: returns a substitution whose terms contain none of
/// its variables, and the other conjuncts under it. `None` if the conjuncts are contradictory.
pub fn solve_equations(
    terms: &TermStore,
    conjuncts: Vec<TermId>,
) -> Option<(FxHashMap<TermId, TermId>, Vec<TermId>)> {
    let mut solution: FxHashMap<TermId, TermId> = FxHashMap::default();
    let mut open = conjuncts;
    open.reverse();
    let mut guards: Vec<TermId> = Vec::new();
    while let Some(conjunct) = open.pop() {
        let conjunct = terms.substitute(conjunct, &solution);
        match terms.op(conjunct) {
            Op::True => continue,
            Op::False => return None,
            Op::And => {
                open.extend(terms.args(conjunct).iter().rev());
                continue;
            }
            _ => {}
        }
        match solved(terms, conjunct) {
            Solved::Never => return None,
            Solved::Open => guards.push(conjunct),
            Solved::By(var, term) => {
                let one = FxHashMap::from_iter([(var, term)]);
                for old in solution.values_mut() {
                    *old = terms.substitute(*old, &one);
                }
                solution.insert(var, term);
                // Other conjuncts may have become equations that can be solved.
                open.extend(guards.drain(..).rev());
            }
        }
    }
    Some((solution, guards))
}

enum Solved {
    /// The variable equals this term, in which it does not occur.
    By(TermId, TermId),
    Open,
    Never,
}

fn solved(terms: &TermStore, conjunct: TermId) -> Solved {
    let node = terms.node(conjunct);
    match node.op {
        Op::Var(_) => Solved::By(conjunct, TermId::TRUE),
        Op::Is(datatype, constructor) if terms.is_var(node.args[0]) => {
            Solved::By(node.args[0], fresh_pattern(terms, datatype, constructor))
        }
        Op::Not => {
            let inner = terms.node(node.args[0]);
            match inner.op {
                Op::Var(_) => Solved::By(node.args[0], TermId::FALSE),
                Op::Is(datatype, constructor)
                    if terms.is_var(inner.args[0])
                        && terms.datatype(datatype).constructors.len() == 2 =>
                {
                    let other = fresh_pattern(terms, datatype, 1 - constructor);
                    Solved::By(inner.args[0], other)
                }
                _ => Solved::Open,
            }
        }
        Op::Eq => solved_equation(terms, node.args[0], node.args[1]),
        _ => Solved::Open,
    }
}

fn solved_equation(terms: &TermStore, left: TermId, right: TermId) -> Solved {
    let sort = terms.sort_of(left);
    if sort == SortId::INT || sort == SortId::REAL {
        let sum = terms.difference(left, right);
        for (column, factor) in &sum.monomials {
            let unit = sort == SortId::REAL || factor.abs().is_one();
            let elsewhere = || sum.monomials.iter().filter(|m| m.0 != *column);
            let free = |t: TermId| !terms.free_vars(&[t]).contains(column);
            if unit && terms.is_var(*column) && elsewhere().all(|m| free(m.0)) {
                let (factor, rest) = sum.clone().split_off(*column);
                let value = rest.scaled(&(-factor.recip()));
                return Solved::By(*column, terms.from_linear(&value, sort));
            }
        }
        return Solved::Open;
    }
    for (var, term) in [(left, right), (right, left)] {
        if terms.is_var(var) {
            if !terms.free_vars(&[term]).contains(&var) {
                return Solved::By(var, term);
            }
            if below_constructors(terms, var, term) {
                return Solved::Never;
            }
        }
    }
    Solved::Open
}

/// Whether the variable is a proper part of a term of constructors.
fn below_constructors(terms: &TermStore, var: TermId, term: TermId) -> bool {
    let mut open = vec![term];
    let mut seen = FxHashSet::default();
    while let Some(t) = open.pop() {
        if t == var && t != term {
            return true;
        }
        if !seen.insert(t) {
            continue;
        }
        if let Op::Construct(..) = terms.op(t) {
            open.extend_from_slice(terms.args(t));
        }
    }
    false
}

/// A constructor applied to fresh variables.
pub fn fresh_pattern(terms: &TermStore, datatype: DatatypeId, constructor: u32) -> TermId {
    let fields = &terms.datatype(datatype).constructors[constructor as usize].fields;
    let fields: Vec<TermId> = fields
        .iter()
        .map(|f| terms.fresh_var(&f.selector, f.sort))
        .collect();
    terms.construct(datatype, constructor, &fields)
}

/// The datatype of a term, if it has one.
pub fn datatype_of(terms: &TermStore, term: TermId) -> Option<DatatypeId> {
    match terms.sort(terms.sort_of(term)) {
        Sort::Datatype(id) => Some(id),
        _ => None,
    }
}
