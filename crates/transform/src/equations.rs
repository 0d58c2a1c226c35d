//! Finds linear equations between bit-vectors that hold in each phase of a predicate, and conjoins
//! them to the clauses.
//!
//! A predicate's guards are the comparisons that clauses make with its arguments; a phase is a
//! valuation of the guards. For each phase the pass finds the strongest equations modulo powers of
//! two, from below: the solver gives a fact that clauses derive from the current phases and that is
//! not in them yet, and the fact's phase is joined with it, until there is none. Elimination of
//! variables computes beforehand what a clause derives from the equations alone. If the phase
//! includes that already, no query is needed; so the solver, for which sums of bit-vectors are
//! hard, decides little more than which phases follow which.
//!
//! This is symbolic abstraction (Reps, Sagiv and Yorsh, "Symbolic Implementation of the Best
//! Transformer", VMCAI 2004) with congruence equations (King and Søndergaard, "Inferring Congruence
//! Equations Using SAT", CAV 2008; Elder et al., TOPLAS 2014).
//!
//! Invariant: at the end all clauses preserve the phases, since the solver found no fact outside,
//! or by elimination. So the equations hold of every derivable fact, and a model of the new system
//! conjoined with them is a model of the old one.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};

use super::candidates::{within, within_part};
use super::invariants::strengthen_by;
use super::visits::Visits;
use super::{Step, Transformation};
use alphorn_chc::{Clause, PredicateId, System};
use alphorn_domain::{Cube, Domain, Fact, Modular, cubes};
use alphorn_proof::facts::Facts;
use alphorn_smt::{QueryLimit, SatResult, Smt, Solver};
use alphorn_term::run::Context;
use alphorn_term::{Op, SortId, TermId, TermStore};

/// The limits of the pass, as work where they are durations.
struct Limits {
    /// Finding equations (less in short runs, see `part_of_run`); at its end there are none.
    search_work: Duration,
    /// Conjoining the equations (less in short runs); at its end further clauses are left
    /// unchanged.
    conjoining_work: Duration,
    /// One query; without an answer, what elimination allows is joined.
    query_work: Duration,
    /// One query to the incremental solver, which is slow with sums; then another solver is asked.
    incremental_query_work: Duration,
    /// Queries without an answer; with more, there are no equations.
    max_unknown: u64,
    /// The search gets at most the run's limit divided by this.
    part_of_run: u32,
    /// Clauses of the system; larger systems are not considered.
    max_clauses: usize,
    /// Bit-vectors among the arguments of a predicate; systems with more are not considered.
    max_bit_vectors: usize,
    /// Combinations of phases of a clause's body; with more, there are no equations.
    max_combinations: usize,
    /// Cubes of a constraint for the domain, which over-approximate it.
    max_cubes: usize,
    /// Guards of a predicate; further ones are ignored.
    max_guards: usize,
    /// Variables of a guard; comparisons with more are no guards.
    max_guard_variables: usize,
}

const LIMITS: Limits = Limits {
    search_work: Duration::from_millis(500),
    conjoining_work: Duration::from_millis(200),
    query_work: Duration::from_millis(100),
    incremental_query_work: Duration::from_millis(10),
    max_unknown: 2,
    part_of_run: 16,
    max_clauses: 100,
    max_bit_vectors: 40,
    max_combinations: 256,
    max_cubes: 8,
    max_guards: 4,
    max_guard_variables: 3,
};

/// The pass. It considers each predicate only once in a run.
#[derive(Default)]
pub struct Equations {
    visits: Visits,
}

impl Transformation for Equations {
    fn apply(&mut self, old: &Rc<System>, cx: &mut Context) -> Option<Step> {
        let bit_vectors = |p: &PredicateId| {
            let params = old.predicate(*p).params.iter();
            params.filter(|param| old.terms.width(**param) > 0).count()
        };
        let used = old.used_predicates();
        let small = old.clauses.len() <= LIMITS.max_clauses
            && used
                .iter()
                .all(|p| bit_vectors(p) <= LIMITS.max_bit_vectors);
        if !small || !old.has_wide_bit_vectors() || !self.visits.begin(&used) {
            return None;
        }
        let finding = cx
            .budget
            .work(within_part(LIMITS.search_work, LIMITS.part_of_run, cx));
        let found = cx.within(finding, |cx| {
            let mut phases = Phases::new(old, cx);
            let found = phases.close(cx);
            let end = if found.is_some() { "done" } else { "cut short" };
            log::debug!(
                "equations of {} phases, {} queries: {end}",
                phases.hulls.len(),
                phases.queries
            );
            found
        });
        let found = found?;
        let conjoining = within(LIMITS.conjoining_work, cx);
        strengthen_by(old, found, conjoining, "transform.equations", cx)
    }
}

/// A predicate, and which of its guards hold.
type Phase = (PredicateId, Vec<bool>);

/// The equations of a phase.
type Hull = <Modular as Domain>::Element;

/// The state of the search.
struct Phases<'a> {
    _limit: QueryLimit,
    system: &'a System,
    terms: Rc<TermStore>,
    domain: Modular,
    guards: FxHashMap<PredicateId, Vec<TermId>>,
    hulls: BTreeMap<Phase, Hull>,
    /// For each clause a solver with its constraint, and the constraint's cubes for the domain.
    solvers: Vec<Solver>,
    cubes: Vec<Vec<Cube>>,
    /// Clauses with phases of their body atoms that are to be considered.
    open: VecDeque<(usize, Vec<Phase>)>,
    queries: u64,
    unknown: u64,
}

impl<'a> Phases<'a> {
    fn new(system: &'a System, cx: &Context) -> Self {
        let smt = Smt::within(&cx.budget);
        let solver = |clause: &Clause| {
            let mut solver = smt.solver();
            solver.assert(clause.constraint);
            solver
        };
        Phases {
            _limit: smt.limit_queries(Some(LIMITS.query_work)),
            system,
            terms: system.terms.clone(),
            domain: Modular::new(system.terms.clone(), LIMITS.max_bit_vectors),
            guards: guards(system),
            hulls: BTreeMap::new(),
            solvers: system.clauses.iter().map(solver).collect(),
            cubes: (system.clauses.iter())
                .map(|clause| cubes(&system.terms, clause.constraint, LIMITS.max_cubes))
                .collect(),
            open: VecDeque::new(),
            queries: 0,
            unknown: 0,
        }
    }

    /// The equations of all phases; `None` if a limit is reached.
    fn close(&mut self, cx: &Context) -> Option<Facts> {
        let deriving = self.system.clauses.iter().enumerate();
        let entries = deriving.filter(|(_, c)| c.body.is_empty() && c.head.is_some());
        self.open = entries.map(|(at, _)| (at, Vec::new())).collect();
        while let Some((clause, bodies)) = self.open.pop_front() {
            for phase in self.derive(clause, &bodies, cx)? {
                self.reopen(&phase)?;
            }
        }
        Some(self.facts())
    }

    /// Joins to the phases of a clause's head what the clause derives from phases of its body.
    /// Returns the phases that changed.
    fn derive(&mut self, clause: usize, bodies: &[Phase], cx: &Context) -> Option<Vec<Phase>> {
        let (system, terms) = (self.system, self.terms.clone());
        let head = system.clauses[clause].head.as_ref()?;
        let params = &system.predicate(head.predicate).params;
        let actual = renaming(params, &head.args);
        let mut inputs = Vec::with_capacity(bodies.len());
        let mut assumed = Vec::new();
        let mut formulas = Vec::new();
        for (atom, phase) in system.clauses[clause].body.iter().zip(bodies) {
            let actual = renaming(&system.predicate(atom.predicate).params, &atom.args);
            inputs.push(self.domain.rename(&self.hulls[phase], &actual));
            let sides = self.sides(phase);
            assumed.extend(sides.iter().map(|side| terms.substitute(*side, &actual)));
            formulas.push(terms.substitute(self.formula(phase), &actual));
        }
        let mut grown = Vec::new();
        self.solvers[clause].push();
        formulas
            .iter()
            .for_each(|f| self.solvers[clause].assert(*f));
        for key in self.keys(head.predicate) {
            if self.is_over(cx) {
                break;
            }
            let phase = (head.predicate, key);
            let sides = self.sides(&phase).into_iter();
            let sides: Vec<TermId> = sides.map(|s| terms.substitute(s, &actual)).collect();
            let facts: Vec<Fact> = (assumed.iter().chain(&sides))
                .map(|s| side(&terms, *s))
                .collect();
            let most = self.image(clause, &inputs, &facts);
            let mut hull = self.hulls.get(&phase).cloned().flatten();
            if self.domain.entails(&most, &hull) {
                continue;
            }
            self.solvers[clause].push();
            sides.iter().for_each(|s| self.solvers[clause].assert(*s));
            while !self.domain.entails(&most, &hull) {
                // The facts about the phase that may not hold after this clause.
                let known = self.domain.facts(&hull).into_iter();
                let known = known.filter(|fact| !self.implies(&most, fact));
                let known = known.filter_map(|fact| fact.formula(&terms));
                let known: Vec<TermId> =
                    known.map(|fact| terms.substitute(fact, &actual)).collect();
                let solver = &mut self.solvers[clause];
                solver.push();
                if hull.is_some() {
                    solver.assert(terms.not(terms.and(&known)));
                }
                let (result, model) = solver.check_in_turns(LIMITS.incremental_query_work);
                self.queries += 1;
                solver.pop();
                match result {
                    SatResult::Unsat => break,
                    SatResult::Sat => {}
                    SatResult::Unknown(_) => self.unknown += 1,
                }
                let values = model.and_then(|model| model.assignment(&head.args).ok());
                let point = values.map(|values| {
                    let bit_vectors = params.iter().filter(|p| terms.width(**p) > 0);
                    let facts = bit_vectors.map(|p| Fact::Value(*p, values[&actual[p]]));
                    let facts = facts.collect();
                    self.domain.transfer(&[], &Cube { facts }, None)
                });
                // Without an answer, everything that elimination allows is joined.
                let new = point.unwrap_or_else(|| most.clone());
                hull = self.domain.join(&hull, &new);
                self.hulls.insert(phase.clone(), hull.clone());
                if grown.last() != Some(&phase) {
                    grown.push(phase.clone());
                }
            }
            self.solvers[clause].pop();
        }
        self.solvers[clause].pop();
        (!self.is_over(cx)).then_some(grown)
    }

    fn is_over(&self, cx: &Context) -> bool {
        self.unknown > LIMITS.max_unknown || cx.stop().is_some()
    }

    /// What elimination derives from a clause's constraint, the equations of its body, and facts
    /// about its variables: equations over the head's formal variables.
    fn image(&self, clause: usize, inputs: &[Hull], facts: &[Fact]) -> Hull {
        let head = self.system.clauses[clause].head.as_ref()?;
        let keep: FxHashSet<TermId> = head.args.iter().copied().collect();
        let images = self.cubes[clause].iter().map(|cube| {
            let facts = [&cube.facts, facts].concat();
            self.domain.transfer(inputs, &Cube { facts }, Some(&keep))
        });
        let image = images.reduce(|a, b| self.domain.join(&a, &b)).flatten();
        let params = &self.system.predicate(head.predicate).params;
        self.domain.rename(&image, &renaming(&head.args, params))
    }

    /// Whether an element implies a fact.
    fn implies(&self, element: &Hull, fact: &Fact) -> bool {
        let facts = vec![fact.clone()];
        let fact = self.domain.transfer(&[], &Cube { facts }, None);
        self.domain.entails(element, &fact)
    }

    /// All valuations of a predicate's guards.
    fn keys(&self, predicate: PredicateId) -> impl Iterator<Item = Vec<bool>> + use<> {
        let count = self.guards.get(&predicate).map_or(0, Vec::len);
        (0..1usize << count).map(move |key| (0..count).map(|at| key >> at & 1 == 1).collect())
    }

    /// Adds the clauses that use a phase, with all combinations of phases, to the worklist; `None`
    /// if there are too many.
    fn reopen(&mut self, grown: &Phase) -> Option<()> {
        for (at, clause) in self.system.clauses.iter().enumerate() {
            if clause.head.is_none() || clause.body.iter().all(|b| b.predicate != grown.0) {
                continue;
            }
            let mut combinations: Vec<Vec<Phase>> = vec![Vec::new()];
            for atom in &clause.body {
                let phases = self.hulls.keys().filter(|p| p.0 == atom.predicate);
                let longer = combinations.iter().flat_map(|c| {
                    let phases = phases.clone();
                    phases.map(|p| [&c[..], std::slice::from_ref(p)].concat())
                });
                combinations = longer.take(LIMITS.max_combinations + 1).collect();
            }
            if combinations.len() > LIMITS.max_combinations {
                return None;
            }
            for bodies in combinations {
                let item = (at, bodies);
                if item.1.contains(grown) && !self.open.contains(&item) {
                    self.open.push_back(item);
                }
            }
        }
        Some(())
    }

    /// The guards of a phase, negated where they do not hold.
    fn sides(&self, (predicate, key): &Phase) -> Vec<TermId> {
        let guards = self.guards.get(predicate).into_iter().flatten();
        let sides = guards.zip(key).map(|(guard, holds)| match holds {
            true => *guard,
            false => self.terms.not(*guard),
        });
        sides.collect()
    }

    /// The same as one formula.
    fn condition(&self, phase: &Phase) -> TermId {
        self.terms.and(&self.sides(phase))
    }

    /// What is known of the facts of a phase.
    fn formula(&self, phase: &Phase) -> TermId {
        let mut parts = self.domain.formula(&self.hulls[phase]);
        parts.push(self.condition(phase));
        self.terms.and(&parts)
    }

    /// What holds in all phases of a predicate, which phases there are, and what holds in each.
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        for predicate in self.system.used_predicates() {
            let phases = self.hulls.iter().filter(|(phase, _)| phase.0 == predicate);
            let hulls = phases.clone().map(|(_, hull)| hull.clone());
            let whole = hulls.reduce(|a, b| self.domain.join(&a, &b));
            let mut conjuncts = self.domain.formula(&whole.unwrap_or_default());
            let conditions = phases.clone().map(|(phase, _)| self.condition(phase));
            conjuncts.push(self.terms.or(&conditions.collect::<Vec<_>>()));
            for (phase, hull) in phases {
                let unless = self.terms.not(self.condition(phase));
                for equation in self.domain.formula(hull) {
                    if !conjuncts.contains(&equation) {
                        conjuncts.push(self.terms.or(&[unless, equation]));
                    }
                }
            }
            conjuncts.retain(|c| *c != TermId::TRUE);
            if !conjuncts.is_empty() {
                facts.insert(predicate, conjuncts);
            }
        }
        facts
    }
}

/// A guard or its negation, for the domain.
fn side(terms: &TermStore, side: TermId) -> Fact {
    let (guard, holds) = match terms.op(side) {
        Op::Not => (terms.args(side)[0], false),
        _ => (side, true),
    };
    match (terms.op(guard), terms.args(guard)) {
        (Op::Eq, &[a, b]) if holds => Fact::Same(a, b),
        _ => Fact::Value(guard, terms.bool(holds)),
    }
}

fn renaming(from: &[TermId], to: &[TermId]) -> FxHashMap<TermId, TermId> {
    from.iter().copied().zip(to.iter().copied()).collect()
}

/// The guards of each predicate, those that most clauses have first: comparisons, Booleans, and
/// equations that are conjuncts.
fn guards(system: &System) -> FxHashMap<PredicateId, Vec<TermId>> {
    let terms = &system.terms;
    let mut asked: FxHashMap<PredicateId, BTreeMap<TermId, usize>> = FxHashMap::default();
    for clause in &system.clauses {
        let mut atoms = Vec::new();
        let conjuncts = terms.conjuncts(clause.constraint);
        terms.post_order(&[clause.constraint], |t| {
            let is_guard = match (terms.op(t), terms.args(t)) {
                (Op::BvSle | Op::BvUle, _) => true,
                (Op::Eq, [a, _]) => terms.width(*a) > 0 && conjuncts.contains(&t),
                _ => terms.is_var(t) && terms.sort_of(t) == SortId::BOOL,
            };
            if is_guard {
                atoms.push((t, terms.free_vars(&[t])));
            }
        });
        for atom in &clause.body {
            let params = system.predicate(atom.predicate).params.iter().copied();
            let formal: FxHashMap<TermId, TermId> = atom.args.iter().copied().zip(params).collect();
            for (guard, vars) in &atoms {
                if vars.len() <= LIMITS.max_guard_variables
                    && vars.iter().all(|v| formal.contains_key(v))
                {
                    let guard = terms.substitute(*guard, &formal);
                    let counts = asked.entry(atom.predicate).or_default();
                    *counts.entry(guard).or_default() += 1;
                }
            }
        }
    }
    let most = |counts: BTreeMap<TermId, usize>| {
        let mut all: Vec<(TermId, usize)> = counts.into_iter().collect();
        all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        all.truncate(LIMITS.max_guards);
        all.into_iter().map(|(guard, _)| guard).collect()
    };
    let asked = asked.into_iter();
    asked
        .map(|(predicate, counts)| (predicate, most(counts)))
        .collect()
}
