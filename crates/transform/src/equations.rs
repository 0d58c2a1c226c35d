//! Equations of words that hold in each phase of a predicate, conjoined to the clauses.
//!
//! A predicate's guards are the comparisons that clauses make of its arguments; a phase is a
//! valuation of them. For each phase this finds the strongest equations modulo powers of two, from
//! below: a solver gives a fact that clauses derive from what the phases are known to be and that is
//! not in them yet, and the fact's phase takes it in, until there is none. Elimination of variables
//! says beforehand what the equations alone make of a clause: where that is in the phase already,
//! nothing is asked, and a solver, to which sums of words are hard, decides little more than which
//! phases come after which.
//!
//! Symbolic abstraction (Reps, Sagiv and Yorsh, "Symbolic Implementation of the Best Transformer",
//! VMCAI 2004) of equations between machine words (King and Søndergaard, "Inferring Congruence
//! Equations Using SAT", CAV 2008; Elder et al., TOPLAS 2014).
//!
//! Invariant: at the end all clauses preserve the phases, by a solver's word that there is no fact
//! outside, or by elimination. So they hold of every fact that can be derived, and a model of the
//! new system, conjoined with them, is one of the old.

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

/// For finding equations, and for writing them down.
const FINDING: Duration = Duration::from_millis(500);
const CONJOINING: Duration = Duration::from_millis(200);

/// What one query may take, as work; and by the solver that is kept, which is slow with sums.
const QUERY: Duration = Duration::from_millis(100);
const MOMENT: Duration = Duration::from_millis(10);

/// Queries without an answer at most: where products are hard to see through, most are.
const UNKNOWN: u64 = 2;

/// One part in so many of a run may go into finding.
const PART: u32 = 16;

/// Clauses, and words of one predicate, at most: with more there is not the time.
const CLAUSES: usize = 100;
const WORDS: usize = 40;

/// Combinations of phases of a body's atoms, at most.
const COMBINATIONS: usize = 256;

/// Cases of a constraint for the domain, at most.
const CUBES: usize = 8;

/// Guards of one predicate at most, and variables of one guard.
const GUARDS: usize = 4;
const VARIABLES: usize = 3;

/// The pass. It looks at a predicate only once in a run.
#[derive(Default)]
pub struct Equations {
    visits: Visits,
}

impl Transformation for Equations {
    fn apply(&mut self, old: &Rc<System>, cx: &mut Context) -> Option<Step> {
        let words = |p: &PredicateId| {
            let params = old.predicate(*p).params.iter();
            params.filter(|param| old.terms.width(**param) > 0).count()
        };
        let used = old.used_predicates();
        let small = old.clauses.len() <= CLAUSES && used.iter().all(|p| words(p) <= WORDS);
        if !small || !old.has_wide_words() || !self.visits.begin(&used) {
            return None;
        }
        let finding = cx.budget.work(within_part(FINDING, PART, cx));
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
        let conjoining = within(CONJOINING, cx);
        strengthen_by(old, found, conjoining, "transform.equations", cx)
    }
}

/// A predicate, and which of its guards hold.
type Phase = (PredicateId, Vec<bool>);

/// The equations of a phase.
type Hull = <Modular as Domain>::Element;

/// The search.
struct Phases<'a> {
    _limit: QueryLimit,
    system: &'a System,
    terms: Rc<TermStore>,
    domain: Modular,
    guards: FxHashMap<PredicateId, Vec<TermId>>,
    hulls: BTreeMap<Phase, Hull>,
    /// By clause, with its constraint; and the constraint for the domain.
    solvers: Vec<Solver>,
    cubes: Vec<Vec<Cube>>,
    /// A clause and phases of its body atoms, each to be looked at (again).
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
            _limit: smt.limit_queries(Some(QUERY)),
            system,
            terms: system.terms.clone(),
            domain: Modular::new(system.terms.clone(), WORDS),
            guards: guards(system),
            hulls: BTreeMap::new(),
            solvers: system.clauses.iter().map(solver).collect(),
            cubes: (system.clauses.iter())
                .map(|clause| cubes(&system.terms, clause.constraint, CUBES))
                .collect(),
            open: VecDeque::new(),
            queries: 0,
            unknown: 0,
        }
    }

    /// The equations of all phases; `None` when there is no time for them.
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

    /// Takes into the phases of a clause's head what it derives from phases of its body; the phases
    /// that grew.
    fn derive(&mut self, clause: usize, bodies: &[Phase], cx: &Context) -> Option<Vec<Phase>> {
        let (system, terms) = (self.system, self.terms.clone());
        let head = system.clauses[clause].head.as_ref()?;
        let params = &system.predicate(head.predicate).params;
        let actual = renaming(params, &head.args);
        let mut inputs = Vec::with_capacity(bodies.len());
        let mut told = Vec::new();
        let mut formulas = Vec::new();
        for (atom, phase) in system.clauses[clause].body.iter().zip(bodies) {
            let actual = renaming(&system.predicate(atom.predicate).params, &atom.args);
            inputs.push(self.domain.rename(&self.hulls[phase], &actual));
            let sides = self.sides(phase);
            told.extend(sides.iter().map(|side| terms.substitute(*side, &actual)));
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
            let facts: Vec<Fact> = (told.iter().chain(&sides))
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
                // Of what the phase is known to be, what may not hold after this clause.
                let known = self.domain.facts(&hull).into_iter();
                let known = known.filter(|fact| !self.says(&most, fact));
                let known = known.filter_map(|fact| fact.formula(&terms));
                let known: Vec<TermId> =
                    known.map(|fact| terms.substitute(fact, &actual)).collect();
                let solver = &mut self.solvers[clause];
                solver.push();
                if hull.is_some() {
                    solver.assert(terms.not(terms.and(&known)));
                }
                let (result, model) = solver.check_in_turns(MOMENT);
                self.queries += 1;
                solver.pop();
                match result {
                    SatResult::Unsat => break,
                    SatResult::Sat => {}
                    SatResult::Unknown(_) => self.unknown += 1,
                }
                let values = model.and_then(|model| model.assignment(&head.args).ok());
                let point = values.map(|values| {
                    let words = params.iter().filter(|p| terms.width(**p) > 0);
                    let facts = words.map(|p| Fact::Value(*p, values[&actual[p]]));
                    let facts = facts.collect();
                    self.domain.transfer(&[], &Cube { facts }, None)
                });
                // What cannot be told may be.
                let news = point.unwrap_or_else(|| most.clone());
                hull = self.domain.join(&hull, &news);
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
        self.unknown > UNKNOWN || cx.stop().is_some()
    }

    /// What elimination makes of a clause's constraint with what its body is known to be and facts
    /// about its variables: equations of the head's formal variables.
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

    /// Whether an element is known to satisfy a fact.
    fn says(&self, element: &Hull, fact: &Fact) -> bool {
        let facts = vec![fact.clone()];
        let fact = self.domain.transfer(&[], &Cube { facts }, None);
        self.domain.entails(element, &fact)
    }

    /// All valuations of a predicate's guards.
    fn keys(&self, predicate: PredicateId) -> impl Iterator<Item = Vec<bool>> + use<> {
        let count = self.guards.get(&predicate).map_or(0, Vec::len);
        (0..1usize << count).map(move |key| (0..count).map(|at| key >> at & 1 == 1).collect())
    }

    /// All that uses a phase is to be looked at again; `None` when that is too much.
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
                combinations = longer.take(COMBINATIONS + 1).collect();
            }
            if combinations.len() > COMBINATIONS {
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

    /// Which guards hold and which fail in a phase.
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

/// A guard or its negation, for domains.
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

/// What clauses ask of the facts that they use, those of each predicate that are asked most often:
/// comparisons, whether they hold or not, truth values, and equations that are to hold.
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
                if vars.len() <= VARIABLES && vars.iter().all(|v| formal.contains_key(v)) {
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
        all.truncate(GUARDS);
        all.into_iter().map(|(guard, _)| guard).collect()
    };
    let asked = asked.into_iter();
    asked
        .map(|(predicate, counts)| (predicate, most(counts)))
        .collect()
}
