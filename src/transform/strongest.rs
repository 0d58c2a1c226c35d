//! Definitions for predicates that were resolved away, from a model of the others.
//!
//! Any formula between the strongest (what the defining clauses derive) and the weakest (what the
//! using clauses allow) will do. Both are written over the predicate's arguments with the locals
//! reduced away; if one of them has none left it is the definition. At the first predicate where
//! neither has, definitions for all that is left are sought together: their clauses as they were
//! are a system without recursion (`proof/acyclic.rs`). Where that does not end in time, one
//! predicate after the other: what the neighbours' definitions say is tried, for blocks of one loop
//! are about the same states. Else the definition is built from the defining side cube by cube: a
//! model that is not covered yet gives an implicant, which is projected to the arguments and then
//! weakened to a core that the using side still refutes (interpolation by projection); or its
//! negation from the using side in the same way, and at last the locals are quantified. Where
//! definitions around it have quantifiers, the weakest formula is taken at once, with its locals
//! quantified universally.
//!
//! Invariant: whatever happens, the strongest formula implies the definition, and the uses hold.

use std::rc::Rc;
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};

use super::BackError;
use super::inline::Eliminated;
use super::reduce::reduce;
use crate::chc::{Atom, Clause, PredicateId, System};
use crate::proof::solve_acyclic;
use crate::run::Context;
use crate::smt::{SatResult, Smt, Solver, project_formula};
use crate::term::{Assignment, Op, SortId, TermId, TermStore};
use crate::witness::Model;

/// Cubes of one definition at most.
const CUBES: usize = 200;

/// Work for one query at most: a cube that is not weakened is better than none.
const QUERY: Duration = Duration::from_millis(500);

/// Time for one definition at most.
const PATIENCE: Duration = Duration::from_secs(5);

/// An exact definition larger than this is not taken before a smaller one was sought.
const LARGE: usize = 2000;

/// Adds definitions of the predicates that were eliminated from `system`, the last one first.
pub(super) fn restore_definitions(
    system: &System,
    eliminated: &[Eliminated],
    model: &mut Model,
    cx: &mut Context,
) -> Result<(), BackError> {
    let gone: FxHashSet<PredicateId> = eliminated.iter().map(|e| e.predicate).collect();
    for item in eliminated {
        for atom in item
            .defining
            .iter()
            .chain(&item.using)
            .flat_map(|c| c.atoms())
        {
            if !gone.contains(&atom.predicate) {
                // All clauses left that mention it hold by themselves.
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
    let mut together = true;
    for (at, item) in eliminated.iter().enumerate().rev() {
        if let Some(reason) = cx.stop() {
            return Err(BackError(reason.to_string()));
        }
        let start = Instant::now();
        let sides = definer.sides(item, model);
        let exact = sides
            .exact
            .filter(|&f| system.terms.dag_size(&[f]) <= LARGE);
        if exact.is_none() && std::mem::take(&mut together) {
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
        let definition = exact.unwrap_or_else(|| definer.define(item, &sides, model, cx));
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

/// A formula over a predicate's formal variables and locals, these existentially quantified.
struct Side {
    matrix: TermId,
    locals: Vec<TermId>,
}

/// What lies around a predicate's definition.
struct Sides {
    derived: Vec<Side>,
    /// `None` where a clause uses the predicate twice: then no formula says what is allowed.
    forbidden: Option<Vec<Side>>,
    /// The smaller one of the strongest and the weakest definition, of those without locals.
    exact: Option<TermId>,
}

impl Definer<'_> {
    /// The predicates that are not defined yet, from the clauses as they were.
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
        let found = cx.within(cx.budget.work(PATIENCE), |cx| {
            solve_acyclic(&system, &smt, cx)
        });
        match found {
            Ok(found) => Some(found.definitions),
            Err(stop) => {
                log::debug!("no definitions: {stop:?}");
                None
            }
        }
    }

    /// What derives an eliminated predicate and what its uses forbid.
    fn sides(&self, item: &Eliminated, model: &Model) -> Sides {
        let params = self.system.predicate(item.predicate).params.clone();
        let derived: Vec<Side> = item
            .defining
            .iter()
            .filter_map(|c| self.derived(c, &params, model))
            .collect();
        let forbidden: Option<Vec<Side>> = item
            .using
            .iter()
            .map(|c| self.forbidden(c, item.predicate, &params, model))
            .collect();
        let strongest = self.without_locals(&derived);
        let weakest = forbidden
            .as_ref()
            .and_then(|f| self.without_locals(f))
            .map(|f| self.terms.not(f));
        let exact = [strongest, weakest].into_iter().flatten();
        Sides {
            exact: exact.min_by_key(|&f| self.terms.dag_size(&[f])),
            derived,
            forbidden,
        }
    }

    /// A definition where there is no small exact one.
    fn define(&mut self, item: &Eliminated, sides: &Sides, model: &Model, cx: &Context) -> TermId {
        let Sides {
            derived,
            forbidden,
            exact,
        } = sides;
        // Nothing is projected below a quantifier, and `∃∀` is hard for who checks the model: what
        // the uses allow stays universal where the neighbours' definitions are.
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

    fn without_locals(&self, sides: &[Side]) -> Option<TermId> {
        sides.iter().all(|s| s.locals.is_empty()).then(|| {
            let all: Vec<TermId> = sides.iter().map(|s| s.matrix).collect();
            self.terms.or(&all)
        })
    }

    fn quantified(&self, side: &Side) -> TermId {
        let renaming = self.terms.renaming(&side.locals);
        let bound: Vec<TermId> = renaming.values().copied().collect();
        let matrix = self.terms.substitute(side.matrix, &renaming);
        self.terms.exists(&bound, matrix)
    }

    /// That a side has no solution.
    fn universal(&self, side: &Side) -> TermId {
        let renaming = self.terms.renaming(&side.locals);
        let bound: Vec<TermId> = renaming.values().copied().collect();
        let matrix = self.terms.substitute(side.matrix, &renaming);
        self.terms.forall(&bound, self.terms.not(matrix))
    }

    /// What a defining clause derives; `None` if that is nothing.
    fn derived(&self, clause: &Clause, params: &[TermId], model: &Model) -> Option<Side> {
        let head = clause.head.as_ref()?;
        let mut parts = vec![clause.constraint];
        parts.extend(clause.body.iter().map(|a| self.meaning(a, model)));
        let side = self.side(&parts, &head.args, params);
        (side.matrix != TermId::FALSE).then_some(side)
    }

    /// Arguments for which a using clause would be violated.
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

    /// Existential quantifiers that stand alone become locals of a new name.
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

    /// The conjuncts of the neighbours' definitions that `derived` implies, those that `forbidden`
    /// needs to be refuted; `None` if they do not. Arguments correspond by position.
    fn of_neighbours(
        &mut self,
        item: &Eliminated,
        derived: &[Side],
        forbidden: &[Side],
        model: &Model,
        cx: &Context,
    ) -> Option<TermId> {
        let terms = self.terms.clone();
        let params = &self.system.predicate(item.predicate).params;
        let sorts =
            |vars: &[TermId]| -> Vec<SortId> { vars.iter().map(|&v| terms.sort_of(v)).collect() };
        let own = sorts(params);
        let mut seen: FxHashSet<PredicateId> = FxHashSet::default();
        let mut candidates: Vec<TermId> = Vec::new();
        for clause in item.using.iter().chain(&item.defining) {
            for neighbour in clause.atoms().map(|a| a.predicate) {
                let Some(&definition) = model.definitions.get(&neighbour) else {
                    continue;
                };
                let theirs = &self.system.predicate(neighbour).params;
                if !seen.insert(neighbour) || sorts(theirs) != own {
                    continue;
                }
                let map = theirs.iter().copied().zip(params.iter().copied());
                let here = terms.substitute(definition, &map.collect());
                candidates.extend(terms.conjuncts(here));
            }
        }
        let mut known = FxHashSet::default();
        candidates.retain(|&c| known.insert(c) && !terms.node(c).has_quantifier);
        if candidates.is_empty() {
            return None;
        }
        let smt = self.smt(cx);
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

    /// The oracle, with a limit for each query.
    fn smt(&mut self, cx: &Context) -> Rc<Smt> {
        let new = || Smt::within(&cx.budget);
        let smt = self.smt.get_or_insert_with(new).clone();
        smt.set_query_limit(Some(QUERY));
        smt
    }

    /// A quantifier-free formula that `derived` implies, and that `forbidden`, if given, refutes;
    /// without it, equivalent to `derived`.
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
        let smt = self.smt(cx);
        let budget = cx.budget.work(PATIENCE);
        let matrices: Vec<TermId> = derived.iter().map(|s| s.matrix).collect();
        let vars = terms.free_vars(&matrices);
        let mut uncovered = solver_of(&smt, derived);
        let mut uses: Option<Solver> = forbidden.map(|sides| solver_of(&smt, sides));
        let mut cubes: Vec<TermId> = Vec::new();
        while cubes.len() <= CUBES && !budget.is_spent() {
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

/// A solver that has the disjunction of some sides.
fn solver_of(smt: &Rc<Smt>, sides: &[Side]) -> Solver {
    let mut solver = smt.solver();
    let all: Vec<TermId> = sides.iter().map(|s| s.matrix).collect();
    solver.assert(smt.terms().or(&all));
    solver
}
