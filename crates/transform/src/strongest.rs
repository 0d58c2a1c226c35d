//! Makes definitions of predicates that were eliminated by resolution, from a model of the others.
//!
//! Any formula between the strongest one (what the defining clauses derive) and the weakest one
//! (what the using clauses allow) is a definition. Both are written over the predicate's arguments,
//! with local variables eliminated as far as possible. For each predicate, the last one eliminated
//! first:
//!
//! 1. If one of them has no local variables left and is not large, it is the definition.
//! 2. Between large formulas over bit-vectors the definition is an interpolant from a proof over
//!    bits.
//! 3. At the first predicate where both fail, the definitions of all remaining predicates are
//!    computed together: their original clauses are a system without recursion
//!    (`alphorn_proof::solve_acyclic`).
//! 4. Otherwise conjuncts of the definitions of neighbouring predicates are tried, since blocks of
//!    one loop have similar states.
//! 5. Otherwise the definition is built cube by cube from the defining side: a model that is not
//!    covered yet gives an implicant, which is projected to the arguments and weakened to a core
//!    that the using side still refutes; or its negation in the same way from the using side.
//! 6. Otherwise the large formula of step 1 is the definition, or if there is none, the strongest
//!    one with its local variables quantified.
//!
//! If the formulas have quantifiers, the weakest one is taken instead of steps 4 to 6, with its
//! local variables quantified universally.
//!
//! Invariant: the strongest formula implies the definition, and the clauses that use the predicate
//! hold with it.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};

use super::BackTranslationError;
use super::inline::Eliminated;
use super::reduce::reduce;
use alphorn_chc::{Atom, Clause, PredicateId, System};
use alphorn_interpolation::{InterpolationOptions, Interpolator, project_formula};
use alphorn_proof::{Formulas, solve_acyclic};
use alphorn_smt::{SatResult, Smt, Solver};
use alphorn_term::run::{Budget, Context};
use alphorn_term::{Assignment, Op, Sort, TermId, TermStore};
use alphorn_witness::Model;

/// The limits of the search for definitions, as work unless stated otherwise.
struct Limits {
    /// Cubes of one definition; at the limit the next method is tried.
    max_cubes: usize,
    /// One query; at the limit a cube is not weakened further.
    query_work: Duration,
    /// One definition from cubes, all definitions from proofs, and the definitions of all remaining
    /// predicates together. At the limit the next method is tried.
    definition_work: Duration,
    /// A weakest formula of at most this size (nodes) is taken without computing a large strongest
    /// one.
    small_definition: usize,
    /// One interpolant from a proof.
    proof_work: Duration,
    /// A strongest or weakest formula larger than this (nodes) is taken only if no smaller
    /// definition is found.
    large_definition: usize,
    /// With bit-vectors, the work for all definitions together is divided by this: it succeeds
    /// early or not at all, since proof obligations contain single values.
    part_with_bit_vectors: u32,
}

const LIMITS: Limits = Limits {
    max_cubes: 200,
    query_work: Duration::from_millis(500),
    definition_work: Duration::from_secs(5),
    small_definition: 300,
    proof_work: Duration::from_secs(2),
    large_definition: 2000,
    part_with_bit_vectors: 8,
};

/// Adds definitions of the predicates that were eliminated from `system`, in the reverse order.
///
/// # Errors
/// The budget ends before all predicates have one.
pub(super) fn restore_definitions(
    system: &System,
    eliminated: &[Eliminated],
    model: &mut Model,
    cx: &mut Context,
) -> Result<(), BackTranslationError> {
    let gone: FxHashSet<PredicateId> = eliminated.iter().map(|e| e.predicate).collect();
    for item in eliminated {
        for atom in item
            .defining
            .iter()
            .chain(&item.using)
            .flat_map(|c| c.atoms())
        {
            if !gone.contains(&atom.predicate) {
                // All remaining clauses that mention it hold for any definition.
                let definition = model.definitions.entry(atom.predicate);
                definition.or_insert(TermId::TRUE);
            }
        }
    }
    let mut definer = Definer {
        system,
        terms: system.terms.clone(),
        smt: None,
    };
    let (mut together, mut by_proofs) = (true, false);
    let proofs = cx.budget.work(LIMITS.definition_work);
    for (at, item) in eliminated.iter().enumerate().rev() {
        if let Some(reason) = cx.stop() {
            return Err(BackTranslationError(reason.to_string()));
        }
        let start = Instant::now();
        let sides = definer.sides(item, model);
        let mut found = sides
            .exact
            .filter(|&f| system.terms.dag_size(&[f]) <= LIMITS.large_definition);
        if found.is_none() && (by_proofs || definer.is_large(&sides)) {
            found = definer.proved(&sides, &proofs, cx);
            by_proofs |= found.is_some();
        }
        if found.is_none() && std::mem::take(&mut together) {
            let found = definer.together(&eliminated[..=at], model, cx);
            log::debug!(
                "definitions of {} predicates together: {}, {:.3} s",
                at + 1,
                found.is_some(),
                start.elapsed().as_secs_f64()
            );
            if let Some(found) = found {
                model.definitions.extend(found);
                break;
            }
        }
        let definition = found.unwrap_or_else(|| definer.define(item, &sides, model, cx));
        log::debug!(
            "definition of {}: size {}, {:.3} s",
            system.predicate(item.predicate).name,
            system.terms.dag_size(&[definition]),
            start.elapsed().as_secs_f64()
        );
        model.definitions.insert(item.predicate, definition);
    }
    Ok(())
}

struct Definer<'a> {
    system: &'a System,
    terms: Rc<TermStore>,
    smt: Option<Rc<Smt>>,
}

/// A formula over a predicate's formal variables and local variables; the latter are existentially
/// quantified.
struct Side {
    matrix: TermId,
    locals: Vec<TermId>,
}

/// The two bounds of a predicate's definition.
struct Sides {
    derived: Vec<Side>,
    /// `None` if a clause uses the predicate twice: then no formula over its arguments says what is
    /// allowed.
    forbidden: Option<Vec<Side>>,
    /// The smaller one of the strongest and the weakest formula, among those without local
    /// variables.
    exact: Option<TermId>,
}

impl Definer<'_> {
    /// Definitions of all predicates that have none yet, from their original clauses.
    fn together(
        &mut self,
        open: &[Eliminated],
        model: &Model,
        cx: &mut Context,
    ) -> Option<FxHashMap<PredicateId, TermId>> {
        let open: FxHashSet<PredicateId> = open.iter().map(|e| e.predicate).collect();
        let is_open = |atom: &Atom| open.contains(&atom.predicate);
        let mut system = self.system.clone();
        system.clauses.retain(|clause| clause.atoms().any(is_open));
        let seeds = self.seeds(&system, &open, model);
        for clause in &mut system.clauses {
            let known = clause.body.iter().filter(|atom| !is_open(atom));
            let mut parts: Vec<TermId> = known.map(|atom| self.meaning(atom, model)).collect();
            if let Some(head) = clause.head.take_if(|head| !is_open(head)) {
                parts.push(self.terms.not(self.meaning(&head, model)));
            }
            parts.push(clause.constraint);
            clause.body.retain(is_open);
            clause.constraint = self.terms.and(&parts);
            if self.terms.node(clause.constraint).has_quantifier {
                return None;
            }
        }
        let smt = Smt::within(&cx.budget);
        let constraints: Vec<TermId> = system.clauses.iter().map(|c| c.constraint).collect();
        let limit = match self.has_bit_vectors(&constraints) {
            true => LIMITS.definition_work / LIMITS.part_with_bit_vectors,
            false => LIMITS.definition_work,
        };
        let found = cx.within(cx.budget.work(limit), |cx| {
            solve_acyclic(&system, &seeds, &smt, cx)
        });
        match found {
            Ok(found) => Some(found.definitions),
            Err(stop) => {
                log::debug!("no definitions: {stop:?}");
                None
            }
        }
    }

    /// Conjuncts of the known definitions around the open predicates, for each open predicate with
    /// the same sorts.
    fn seeds(&self, system: &System, open: &FxHashSet<PredicateId>, model: &Model) -> Formulas {
        let known = system.clauses.iter().flat_map(|clause| clause.atoms());
        let known = known
            .map(|atom| atom.predicate)
            .filter(|p| !open.contains(p));
        let known: BTreeSet<PredicateId> = known.collect();
        let mut seeds = Formulas::default();
        for &predicate in open {
            let own = seeds.entry(predicate).or_default();
            for &other in &known {
                own.extend(self.conjuncts_at(other, predicate, model));
            }
            let mut seen = FxHashSet::default();
            own.retain(|&seed| seen.insert(seed));
        }
        seeds
    }

    /// The conjuncts of the definition of `of` over the formal variables of `at`, by position,
    /// without those that have quantifiers; none if the sorts differ.
    fn conjuncts_at(&self, of: PredicateId, at: PredicateId, model: &Model) -> Vec<TermId> {
        let terms = &*self.terms;
        let [theirs, own] = [of, at].map(|p| &self.system.predicate(p).params);
        let sorts = |vars: &[TermId]| vars.iter().map(|&v| terms.sort_of(v)).collect::<Vec<_>>();
        let Some(&definition) = model.definitions.get(&of) else {
            return Vec::new();
        };
        if sorts(theirs) != sorts(own) {
            return Vec::new();
        }
        let map = theirs.iter().copied().zip(own.iter().copied()).collect();
        let mut found = terms.conjuncts(terms.substitute(definition, &map));
        found.retain(|&c| !terms.node(c).has_quantifier);
        found
    }

    /// What derives an eliminated predicate, and what its uses forbid. The former is left out if it
    /// is large and the latter alone gives a small definition, since that is found by substitution.
    fn sides(&self, item: &Eliminated, model: &Model) -> Sides {
        let size = |f: TermId| self.terms.dag_size(&[f]);
        let params = self.system.predicate(item.predicate).params.clone();
        let forbidden: Option<Vec<Side>> = item
            .using
            .iter()
            .map(|c| self.forbidden(c, item.predicate, &params, model))
            .collect();
        let weakest = forbidden
            .as_ref()
            .and_then(|f| self.without_locals(f))
            .map(|f| self.terms.not(f));
        let is_small = weakest.is_some_and(|f| size(f) <= LIMITS.small_definition);
        if is_small && self.is_hard(item, model) {
            return Sides {
                derived: Vec::new(),
                forbidden,
                exact: weakest,
            };
        }
        let derived: Vec<Side> = item
            .defining
            .iter()
            .filter_map(|c| self.derived(c, &params, model))
            .collect();
        let strongest = self.without_locals(&derived);
        let exact = [strongest, weakest].into_iter().flatten();
        Sides {
            exact: exact.min_by_key(|&f| size(f)),
            derived,
            forbidden,
        }
    }

    /// An interpolant between what derives a predicate and what its uses forbid, from one proof
    /// over bits. Cubes over bit-vectors contain single values, and there are too many of these.
    fn proved(&mut self, sides: &Sides, proofs: &Budget, cx: &Context) -> Option<TermId> {
        let forbidden = sides.forbidden.as_ref()?;
        let (a, b) = (
            any(&self.terms, &sides.derived),
            any(&self.terms, forbidden),
        );
        if proofs.is_spent() || !self.has_bit_vectors(&[a]) {
            return None;
        }
        let options = InterpolationOptions {
            core_rounds: 3,
            proofs: true,
            ..InterpolationOptions::default()
        };
        let smt = self.smt(&cx.budget);
        let mut interpolator = Interpolator::new(&smt, options);
        interpolator.set_budget(Some(proofs.work(LIMITS.proof_work)));
        let found = interpolator.by_proof(a, b);
        found.unwrap_or_else(|why| {
            log::debug!("no definition by a proof: {why}");
            None
        })
    }

    fn has_bit_vectors(&self, formulas: &[TermId]) -> bool {
        let mut vars = self.terms.free_vars(formulas).into_iter();
        vars.any(|v| matches!(self.terms.sort(self.terms.sort_of(v)), Sort::BitVec(_)))
    }

    /// A definition where there is no small exact one.
    fn define(&mut self, item: &Eliminated, sides: &Sides, model: &Model, cx: &Context) -> TermId {
        let Sides {
            derived,
            forbidden,
            exact,
        } = sides;
        // Projection does not handle quantifiers, and `∃∀` is hard for the check of the model: what
        // the uses allow remains universal if the neighbours' definitions are.
        let is_quantified = |s: &Side| self.terms.node(s.matrix).has_quantifier;
        if let Some(forbidden) = forbidden
            && derived.iter().chain(forbidden).any(is_quantified)
        {
            let parts: Vec<TermId> = forbidden.iter().map(|s| self.universal(s)).collect();
            return self.terms.and(&parts);
        }
        if let Some(forbidden) = forbidden
            && let Some(found) = self.of_neighbours(item, derived, forbidden, model, cx)
        {
            return found;
        }
        if let Some(found) = self.interpolate(derived, forbidden.as_deref(), cx) {
            return found;
        }
        // The same from the other side.
        if exact.is_none()
            && let Some(forbidden) = forbidden
            && let Some(found) = self.interpolate(forbidden, Some(derived), cx)
        {
            return self.terms.not(found);
        }
        exact.unwrap_or_else(|| {
            log::debug!(
                "a definition of {} keeps its quantifiers",
                self.system.predicate(item.predicate).name
            );
            let disjuncts: Vec<TermId> = derived.iter().map(|s| self.quantified(s)).collect();
            self.terms.or(&disjuncts)
        })
    }

    /// Whether the formulas that derive a predicate are large.
    fn is_hard(&self, item: &Eliminated, model: &Model) -> bool {
        let mut parts: Vec<TermId> = item.defining.iter().map(|c| c.constraint).collect();
        let atoms = item.defining.iter().flat_map(|c| &c.body);
        parts.extend(atoms.filter_map(|a| model.definitions.get(&a.predicate)));
        self.terms.dag_size(&parts) > LIMITS.large_definition / 2
    }

    /// Whether the bounds are so large that a proof is tried first.
    fn is_large(&self, sides: &Sides) -> bool {
        let forbidden = sides.forbidden.iter().flatten();
        let parts: Vec<TermId> = sides
            .derived
            .iter()
            .chain(forbidden)
            .map(|s| s.matrix)
            .collect();
        self.terms.dag_size(&parts) > LIMITS.large_definition
    }

    fn without_locals(&self, sides: &[Side]) -> Option<TermId> {
        let is_exact = sides.iter().all(|s| s.locals.is_empty());
        is_exact.then(|| any(&self.terms, sides))
    }

    fn quantified(&self, side: &Side) -> TermId {
        let renaming = self.terms.renaming(&side.locals);
        let bound: Vec<TermId> = renaming.values().copied().collect();
        let matrix = self.terms.substitute(side.matrix, &renaming);
        self.terms.exists(&bound, matrix)
    }

    /// The side has no solution.
    fn universal(&self, side: &Side) -> TermId {
        let renaming = self.terms.renaming(&side.locals);
        let bound: Vec<TermId> = renaming.values().copied().collect();
        let matrix = self.terms.substitute(side.matrix, &renaming);
        self.terms.forall(&bound, self.terms.not(matrix))
    }

    /// What a defining clause derives; `None` if it derives nothing.
    fn derived(&self, clause: &Clause, params: &[TermId], model: &Model) -> Option<Side> {
        let head = clause.head.as_ref()?;
        let mut parts = vec![clause.constraint];
        parts.extend(clause.body.iter().map(|a| self.meaning(a, model)));
        let side = self.side(&parts, &head.args, params);
        (side.matrix != TermId::FALSE).then_some(side)
    }

    /// The arguments for which a using clause would be violated.
    fn forbidden(
        &self,
        clause: &Clause,
        predicate: PredicateId,
        params: &[TermId],
        model: &Model,
    ) -> Option<Side> {
        let mut own = clause.body.iter().filter(|a| a.predicate == predicate);
        let atom = own.next()?;
        if own.next().is_some() {
            return None;
        }
        let mut parts = vec![clause.constraint];
        parts.extend(
            clause
                .body
                .iter()
                .filter(|a| a.predicate != predicate)
                .map(|a| self.meaning(a, model)),
        );
        if let Some(head) = &clause.head {
            parts.push(self.terms.not(self.meaning(head, model)));
        }
        Some(self.side(&parts, &atom.args, params))
    }

    fn meaning(&self, atom: &Atom, model: &Model) -> TermId {
        match model.definitions.get(&atom.predicate) {
            Some(&formula) => self.system.instantiate(formula, atom),
            None => TermId::TRUE,
        }
    }

    /// The conjunction of `parts` with `args` renamed to `params`, reduced.
    fn side(&self, parts: &[TermId], args: &[TermId], params: &[TermId]) -> Side {
        let terms = &*self.terms;
        let map: FxHashMap<TermId, TermId> =
            args.iter().copied().zip(params.iter().copied()).collect();
        let whole = self.open_quantifiers(terms.substitute(terms.and(parts), &map));
        let rank: FxHashMap<TermId, u32> = params.iter().copied().zip(0..).collect();
        let matrix = reduce(terms, whole, &rank).constraint;
        let mut locals = terms.free_vars(&[matrix]);
        locals.retain(|v| !rank.contains_key(v));
        Side { matrix, locals }
    }

    /// Replaces existentially quantified variables of conjuncts by fresh local variables.
    fn open_quantifiers(&self, formula: TermId) -> TermId {
        let terms = &*self.terms;
        let mut open = terms.conjuncts(formula);
        let mut done = Vec::with_capacity(open.len());
        while let Some(conjunct) = open.pop() {
            match terms.op(conjunct) {
                Op::Exists(bound) => {
                    let renaming = terms.renaming(bound);
                    let body = terms.substitute(terms.args(conjunct)[0], &renaming);
                    open.extend(terms.conjuncts(body));
                }
                _ => done.push(conjunct),
            }
        }
        terms.and(&done)
    }

    /// The conjuncts of neighbouring definitions that `derived` implies, as far as they are needed
    /// to refute `forbidden`; `None` if they do not refute it. Arguments correspond by position.
    fn of_neighbours(
        &mut self,
        item: &Eliminated,
        derived: &[Side],
        forbidden: &[Side],
        model: &Model,
        cx: &Context,
    ) -> Option<TermId> {
        let terms = self.terms.clone();
        let mut seen: FxHashSet<PredicateId> = FxHashSet::default();
        let mut candidates: Vec<TermId> = Vec::new();
        for clause in item.using.iter().chain(&item.defining) {
            for neighbour in clause.atoms().map(|a| a.predicate) {
                if seen.insert(neighbour) {
                    candidates.extend(self.conjuncts_at(neighbour, item.predicate, model));
                }
            }
        }
        let mut known = FxHashSet::default();
        candidates.retain(|&c| known.insert(c));
        if candidates.is_empty() {
            return None;
        }
        let smt = self.smt(&cx.budget);
        let _limit = smt.limit_queries(Some(LIMITS.query_work));
        let mut implies = solver_of(&smt, derived);
        while !candidates.is_empty() {
            if cx.stop().is_some() {
                return None;
            }
            match implies.check(&[terms.not(terms.and(&candidates))]) {
                SatResult::Unsat => break,
                SatResult::Unknown(_) => return None,
                SatResult::Sat => {}
            }
            let point = implies.model()?;
            let before = candidates.len();
            candidates.retain(|&c| point.satisfies(c));
            if candidates.len() == before {
                return None;
            }
        }
        let mut uses = solver_of(&smt, forbidden);
        (uses.check(&candidates) == SatResult::Unsat).then(|| terms.and(&uses.core()))
    }

    /// The oracle.
    fn smt(&mut self, budget: &Budget) -> Rc<Smt> {
        let new = || Smt::within(budget);
        self.smt.get_or_insert_with(new).clone()
    }

    /// A quantifier-free formula that `derived` implies and that refutes `forbidden`, if given;
    /// otherwise one equivalent to `derived`.
    fn interpolate(
        &mut self,
        derived: &[Side],
        forbidden: Option<&[Side]>,
        cx: &Context,
    ) -> Option<TermId> {
        let terms = self.terms.clone();
        if derived.iter().any(|s| terms.node(s.matrix).has_quantifier) {
            return None;
        }
        let smt = self.smt(&cx.budget);
        let _limit = smt.limit_queries(Some(LIMITS.query_work));
        let budget = cx.budget.work(LIMITS.definition_work);
        let matrices: Vec<TermId> = derived.iter().map(|s| s.matrix).collect();
        let vars = terms.free_vars(&matrices);
        let mut uncovered = solver_of(&smt, derived);
        let mut uses: Option<Solver> = forbidden.map(|sides| solver_of(&smt, sides));
        let mut cubes: Vec<TermId> = Vec::new();
        while cubes.len() <= LIMITS.max_cubes && !budget.is_spent() {
            match uncovered.check(&[]) {
                SatResult::Unsat => return Some(terms.or(&cubes)),
                SatResult::Unknown(_) => return None,
                SatResult::Sat => {}
            }
            let point: Assignment = uncovered.model()?.assignment(&vars).ok()?;
            let mut cube = derived
                .iter()
                .find_map(|s| project_formula(&terms, s.matrix, &s.locals, &point))?;
            if let Some(solver) = &mut uses
                && let Some(core) = solver.minimal_core(&[], &cube)
            {
                cube = core;
            }
            let cube = terms.and(&cube);
            uncovered.assert(terms.not(cube));
            cubes.push(cube);
        }
        None
    }
}

/// A solver with the disjunction of the sides asserted.
fn solver_of(smt: &Rc<Smt>, sides: &[Side]) -> Solver {
    let mut solver = smt.solver();
    solver.assert(any(smt.terms(), sides));
    solver
}

/// The disjunction of the sides.
fn any(terms: &TermStore, sides: &[Side]) -> TermId {
    let all: Vec<TermId> = sides.iter().map(|s| s.matrix).collect();
    terms.or(&all)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use alphorn_term::BigUint;

    /// Bit-vectors derived with local variables and forbidden with local variables: neither side is
    /// a formula over the arguments, and there are as many cubes as bit-vectors.
    #[test]
    fn bit_vectors_are_defined_by_a_proof() {
        let terms = Rc::new(TermStore::new());
        let bit_vector = terms.bitvec_sort(16);
        let [x, y, a, b] = ["x", "y", "a", "b"].map(|n| terms.var(n, bit_vector));
        let number = |n: u32| terms.bitvec(BigUint::from(n), 16);
        let and = |v, n| terms.bv_op(&Op::BvAnd, &[v, number(n)]);
        let side = |matrix, local| {
            vec![Side {
                matrix,
                locals: vec![local],
            }]
        };
        // An odd number and its copy in other bits, against an even one.
        let derived = [
            terms.eq(and(x, 1), number(1)),
            terms.eq(terms.bv_op(&Op::BvXor, &[x, a]), y),
            terms.eq(and(a, 3), number(2)),
        ];
        let forbidden = |sum: u32| {
            let twice = terms.bv_op(&Op::BvAdd, &[b, b]);
            terms.eq(terms.bv_op(&Op::BvAdd, &[x, y, number(sum)]), twice)
        };
        let system = System::new(terms.clone());
        let budget = Budget::new(terms.clone(), Arc::default(), true);
        let cx = Context::new(terms.clone());
        let definition = |sum: u32| {
            let mut definer = Definer {
                system: &system,
                terms: terms.clone(),
                smt: None,
            };
            let sides = Sides {
                derived: side(terms.and(&derived), a),
                forbidden: Some(side(forbidden(sum), b)),
                exact: None,
            };
            definer.proved(&sides, &budget, &cx)
        };
        let found = definition(1).expect("the sum of two odd numbers and one is odd");
        assert!(terms.free_vars(&[found]).iter().all(|v| [x, y].contains(v)));
        let smt = Smt::new(terms.clone());
        let is_unsat = |formulas: &[TermId]| {
            let mut solver = smt.solver();
            formulas.iter().for_each(|&f| solver.assert(f));
            solver.check(&[]) == SatResult::Unsat
        };
        assert!(is_unsat(&[terms.and(&derived), terms.not(found)]));
        assert!(is_unsat(&[forbidden(1), found]));
        assert_eq!(definition(2), None);
    }
}
