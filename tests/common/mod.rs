//! Systems of known status, and checks of witnesses that are independent of the engines.
//!
//! There are two kinds of systems. [`planted_invariant`]: each clause preserves an invariant that was
//! chosen first, and each query contradicts it, so the system is satisfiable and the invariant is a
//! model. [`planted_bug`]: the clauses are made for the steps of a derivation of `false` that was
//! chosen first, so the system is unsatisfiable and the derivation is a refutation. A system depends
//! only on its [`Recipe`], and a recipe on a seed, so a failure can be reproduced.

#![allow(dead_code)]

pub mod loops;
mod random;
pub mod trials;

use std::rc::Rc;
use std::time::Duration;

use alphorn::chc::{Atom, PredicateId, Shape, System};
use alphorn::internal::find;
use alphorn::run::Context;
use alphorn::term::{Assignment, Constructor, Field, SortId, TermId, TermStore, evaluate};
use alphorn::witness::{Fact, Model, Refutation, RefutationStep, Verdict, check_refutation};
use alphorn_smt::{SatResult, Smt};
use proptest::prelude::*;

pub use alphorn_term::Random;
use random::Vocabulary;

/// The sorts of the arguments of a generated system.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Theory {
    Bool,
    Lia,
    Lra,
    Bv,
    /// Arrays from Int to Int, and Int.
    Arrays,
    /// Records of an Int and a Bool, and Int.
    Records,
}

impl Theory {
    pub const ALL: [Theory; 6] = [
        Theory::Bool,
        Theory::Lia,
        Theory::Lra,
        Theory::Bv,
        Theory::Arrays,
        Theory::Records,
    ];
}

/// Everything that a generated system depends on.
#[derive(Clone, Debug)]
pub struct Recipe {
    pub theory: Theory,
    /// Whether clauses may have several body atoms.
    pub nonlinear: bool,
    pub predicates: usize,
    pub arity: usize,
    /// For a planted invariant, the number of clauses besides one entry and one query for each
    /// predicate; for a planted bug, the height of the derivation, at least 2.
    pub size: usize,
    pub seed: u64,
}

impl Recipe {
    /// A random recipe that depends on the seed only.
    pub fn from_seed(theory: Theory, seed: u64) -> Recipe {
        let mut random = Random::new(seed);
        Recipe {
            theory,
            nonlinear: random.one_in(2),
            predicates: 1 + random.below(3),
            arity: 1 + random.below(3),
            size: 2 + random.below(5),
            seed,
        }
    }
}

/// Recipes as a strategy of proptest, which shrinks a failing one to fewer predicates, arguments and
/// clauses.
pub fn recipes() -> impl Strategy<Value = Recipe> {
    let theory = proptest::sample::select(Theory::ALL.to_vec());
    (
        theory,
        any::<bool>(),
        1..4usize,
        1..4usize,
        2..7usize,
        0..1_000_000u64,
    )
        .prop_map(
            |(theory, nonlinear, predicates, arity, size, seed)| Recipe {
                theory,
                nonlinear,
                predicates,
                arity,
                size,
                seed,
            },
        )
}

/// A system with a model.
pub struct Safe {
    pub system: System,
    pub model: Model,
}

/// A system with a refutation of this height.
pub struct Buggy {
    pub system: System,
    pub refutation: Refutation,
    pub height: usize,
}

/// The predicates of a recipe.
fn start(recipe: &Recipe, random: &mut Random) -> (System, Vec<PredicateId>, Vocabulary) {
    let terms = Rc::new(TermStore::new());
    let vocabulary = Vocabulary::new(&terms, recipe.theory);
    let mut system = System::new(terms);
    let predicates = (0..recipe.predicates)
        .map(|i| {
            let sorts: Vec<SortId> = (0..recipe.arity)
                .map(|_| *random.pick(&vocabulary.sorts))
                .collect();
            system.add_predicate(&format!("P{i}"), &sorts)
        })
        .collect();
    (system, predicates, vocabulary)
}

/// A system built around an inductive invariant.
pub fn planted_invariant(recipe: &Recipe) -> Safe {
    let mut random = Random::new(recipe.seed);
    let (mut system, predicates, vocabulary) = start(recipe, &mut random);
    let terms = system.terms.clone();
    let mut model = Model::default();
    for &p in &predicates {
        let params = system.predicate(p).params.clone();
        let formula = vocabulary.invariant(&terms, &mut random, &params);
        model.definitions.insert(p, formula);
    }
    let smt = Smt::new(terms.clone());
    let mut bodies: Vec<(Vec<PredicateId>, PredicateId)> =
        predicates.iter().map(|&p| (vec![], p)).collect();
    for _ in 0..recipe.size {
        let count = if recipe.nonlinear {
            1 + random.below(3)
        } else {
            1
        };
        let body = (0..count).map(|_| *random.pick(&predicates)).collect();
        bodies.push((body, *random.pick(&predicates)));
    }
    for (body, head) in bodies {
        let body: Vec<Atom> = body.iter().map(|&p| system.fresh_atom(p)).collect();
        let head = system.fresh_atom(head);
        let invariant = system.instantiate(model.definitions[&head.predicate], &head);
        let known: Vec<TermId> = body.iter().flat_map(|a| a.args.iter().copied()).collect();
        let mut parts: Vec<TermId> = Vec::new();
        if !known.is_empty() && random.one_in(2) {
            parts.push(vocabulary.atom(&terms, &mut random, &known));
        }
        for &arg in &head.args {
            // An argument without an equation is arbitrary.
            if !known.is_empty() || random.one_in(2) {
                let value = vocabulary.term(&terms, &mut random, &known, terms.sort_of(arg));
                parts.push(terms.eq(arg, value));
            }
        }
        // If the clause does not preserve the invariant, the invariant is added to its constraint.
        let mut solver = smt.solver();
        for atom in &body {
            solver.assert(system.instantiate(model.definitions[&atom.predicate], atom));
        }
        parts.iter().for_each(|&p| solver.assert(p));
        solver.assert(terms.not(invariant));
        if solver.check(&[]) != SatResult::Unsat {
            parts.push(invariant);
        }
        let constraint = terms.and(&parts);
        system.add_clause(body, constraint, Some(head));
    }
    for &p in &predicates {
        let atom = system.fresh_atom(p);
        let invariant = system.instantiate(model.definitions[&p], &atom);
        let parts = terms.conjuncts(invariant);
        let mut bad = match parts.as_slice() {
            [] => TermId::FALSE,
            parts => terms.not(*random.pick(parts)),
        };
        if random.one_in(3) {
            bad = terms.and(&[bad, vocabulary.atom(&terms, &mut random, &atom.args)]);
        }
        system.add_clause(vec![atom], bad, None);
    }
    system.check().expect("a well-formed system");
    Safe { system, model }
}

/// A system built around a derivation of `false` of height `recipe.size`.
pub fn planted_bug(recipe: &Recipe) -> Buggy {
    let mut random = Random::new(recipe.seed);
    let (system, predicates, vocabulary) = start(recipe, &mut random);
    let terms = system.terms.clone();
    let mut plan = Plan {
        system,
        vocabulary,
        random,
        heads: Vec::new(),
        steps: Vec::new(),
    };
    let height = recipe.size.max(2);
    let mut below: Vec<usize> = Vec::new();
    for _ in 1..height {
        let before = plan.steps.len();
        let facts = if recipe.nonlinear {
            1 + plan.random.below(2)
        } else {
            1
        };
        for _ in 0..facts {
            let mut premises = Vec::new();
            if !below.is_empty() {
                premises.push(*plan.random.pick(&below));
                let more = if recipe.nonlinear {
                    plan.random.below(3)
                } else {
                    0
                };
                premises.extend((0..more).map(|_| plan.random.below(before)));
                let place = plan.random.below(premises.len());
                premises.swap(0, place);
            }
            let reused = if before > 1 {
                plan.reuse(&premises)
            } else {
                None
            };
            let step = reused.unwrap_or_else(|| {
                let head = *plan.random.pick(&predicates);
                plan.invent(premises, Some(head))
            });
            plan.steps.push(step);
        }
        below = (before..plan.steps.len()).collect();
    }
    let last = *plan.random.pick(&below);
    let query = plan.invent(vec![last], None);
    plan.steps.push(query);
    // Clauses that the derivation does not use.
    for _ in 0..plan.random.below(3) {
        let body = plan.system.fresh_atom(*plan.random.pick(&predicates));
        let head = plan.system.fresh_atom(*plan.random.pick(&predicates));
        let mut parts = vec![plan.vocabulary.atom(&terms, &mut plan.random, &body.args)];
        for &arg in &head.args {
            let sort = terms.sort_of(arg);
            let value = plan
                .vocabulary
                .term(&terms, &mut plan.random, &body.args, sort);
            parts.push(terms.eq(arg, value));
        }
        plan.system
            .add_clause(vec![body], terms.and(&parts), Some(head));
    }
    plan.system.check().expect("a well-formed system");
    Buggy {
        system: plan.system,
        refutation: Refutation { steps: plan.steps },
        height,
    }
}

/// A derivation under construction, with the clauses it uses.
struct Plan {
    system: System,
    vocabulary: Vocabulary,
    random: Random,
    /// By clause, the terms that are equated with the arguments of the head.
    heads: Vec<Vec<TermId>>,
    steps: Vec<RefutationStep>,
}

impl Plan {
    fn fact(&self, step: usize) -> &Fact {
        self.steps[step]
            .fact
            .as_ref()
            .expect("no query is a premise")
    }

    /// A step by an existing clause; `None` if none applies to these premises.
    fn reuse(&mut self, premises: &[usize]) -> Option<RefutationStep> {
        let terms = self.system.terms.clone();
        let fitting: Vec<usize> = (0..self.system.clauses.len())
            .filter(|&c| {
                let body = &self.system.clauses[c].body;
                let wanted = premises.iter().map(|&p| self.fact(p).predicate);
                body.iter().map(|a| a.predicate).eq(wanted)
            })
            .collect();
        if fitting.is_empty() {
            return None;
        }
        let chosen = *self.random.pick(&fitting);
        let clause = &self.system.clauses[chosen];
        let head = clause.head.as_ref()?;
        let mut values = Assignment::default();
        for (atom, &premise) in clause.body.iter().zip(premises) {
            let facts = self.fact(premise).values.iter().copied();
            values.extend(atom.args.iter().copied().zip(facts));
        }
        let mut fact = Vec::new();
        for (&var, &term) in head.args.iter().zip(&self.heads[chosen]) {
            let value = evaluate(&terms, term, &values).expect("terms are defined everywhere");
            fact.push(value);
            values.insert(var, value);
        }
        let holds = evaluate(&terms, clause.constraint, &values) == Some(TermId::TRUE);
        holds.then(|| RefutationStep {
            clause: clause.id,
            values,
            premises: premises.to_vec(),
            fact: Some(Fact {
                predicate: head.predicate,
                values: fact,
            }),
        })
    }

    /// A new clause, and the step that applies it to these premises.
    fn invent(&mut self, premises: Vec<usize>, head: Option<PredicateId>) -> RefutationStep {
        let terms = self.system.terms.clone();
        let mut values = Assignment::default();
        let mut body = Vec::new();
        for &premise in &premises {
            let fact = self.fact(premise);
            let atom = self.system.fresh_atom(fact.predicate);
            values.extend(atom.args.iter().copied().zip(fact.values.iter().copied()));
            body.push(atom);
        }
        let known: Vec<TermId> = body.iter().flat_map(|a| a.args.iter().copied()).collect();
        let mut parts = Vec::new();
        for _ in 0..self.random.below(3) {
            if known.is_empty() {
                break;
            }
            let guard = self.vocabulary.atom(&terms, &mut self.random, &known);
            parts.push(match evaluate(&terms, guard, &values) {
                Some(TermId::TRUE) => guard,
                _ => terms.not(guard),
            });
        }
        if head.is_none() {
            // Only the last fact of the derivation satisfies the query.
            parts.extend(known.iter().map(|&v| terms.eq(v, values[&v])));
        }
        let head = head.map(|p| self.system.fresh_atom(p));
        let mut head_terms = Vec::new();
        for &arg in head.iter().flat_map(|a| &a.args) {
            let sort = terms.sort_of(arg);
            let term = self.vocabulary.term(&terms, &mut self.random, &known, sort);
            parts.push(terms.eq(arg, term));
            let value = evaluate(&terms, term, &values).expect("terms are defined everywhere");
            values.insert(arg, value);
            head_terms.push(term);
        }
        self.heads.push(head_terms);
        let fact = head.as_ref().map(|atom| Fact {
            predicate: atom.predicate,
            values: atom.args.iter().map(|v| values[v]).collect(),
        });
        let clause = self.system.add_clause(body, terms.and(&parts), head);
        RefutationStep {
            clause,
            values,
            premises,
            fact,
        }
    }
}

/// A counter from 0 and an error at `depth`: each derivation of `false` has `depth + 2` steps.
pub fn counter(depth: usize) -> System {
    let terms = Rc::new(TermStore::new());
    let mut system = System::new(terms.clone());
    let p = system.add_predicate("P", &[SortId::INT]);
    let entry = system.fresh_atom(p);
    let constraint = terms.eq(entry.args[0], terms.int(0));
    system.add_clause(vec![], constraint, Some(entry));
    let (from, to) = (system.fresh_atom(p), system.fresh_atom(p));
    let constraint = terms.eq(to.args[0], terms.add(&[from.args[0], terms.int(1)]));
    system.add_clause(vec![from], constraint, Some(to));
    let bad = system.fresh_atom(p);
    let constraint = terms.eq(bad.args[0], terms.int(depth as u64));
    system.add_clause(vec![bad], constraint, None);
    system
}

/// Checks a model clause by clause with the oracle: `body ∧ constraint ∧ ¬head` has no solution.
pub fn check_model(system: &System, model: &Model) -> Result<(), String> {
    let terms = &system.terms;
    let smt = Smt::new(terms.clone());
    for clause in &system.clauses {
        let formula = |atom: &Atom| match model.definitions.get(&atom.predicate) {
            Some(&definition) => Ok(system.instantiate(definition, atom)),
            None => Err(format!(
                "no formula for {}",
                system.predicate(atom.predicate).name
            )),
        };
        let mut solver = smt.solver();
        for atom in &clause.body {
            solver.assert(formula(atom)?);
        }
        solver.assert(clause.constraint);
        if let Some(head) = &clause.head {
            solver.assert(terms.not(formula(head)?));
        }
        match solver.check(&[]) {
            SatResult::Unsat => {}
            SatResult::Sat => return Err(format!("clause {} does not hold", clause.id.0)),
            SatResult::Unknown(why) => return Err(format!("clause {}: {why}", clause.id.0)),
        }
    }
    Ok(())
}

/// A time limit for a system of unknown difficulty.
pub const SHORT: Duration = Duration::from_secs(3);

/// The answer of an engine within a time limit; `None` if it does not support the system.
pub fn within(name: &str, settings: &[&str], limit: Duration, system: &System) -> Option<Verdict> {
    let mut engine = (find(name).expect("it exists").make)();
    let settings: Vec<String> = settings.iter().map(|s| (*s).to_owned()).collect();
    engine.configure(&settings).expect("settings are known");
    engine.supports(&Shape::of(system)).ok()?;
    let mut cx = Context::new(system.terms.clone());
    cx.budget = cx.budget.time(limit);
    Some(engine.solve(system, &mut cx).expect("no defect"))
}

/// A system with a planted invariant (`safe`) or a planted bug.
pub fn planted(recipe: &Recipe, safe: bool) -> System {
    if safe {
        planted_invariant(recipe).system
    } else {
        planted_bug(recipe).system
    }
}

/// Whether there is an answer; an error if it contradicts the known status of the system or its
/// witness fails its check.
pub fn agrees(system: &System, safe: bool, verdict: &Verdict) -> Result<bool, String> {
    match verdict {
        Verdict::Sat(model) if safe => check_model(system, model).map(|()| true),
        Verdict::Unsat(refutation) if !safe => match check_refutation(system, refutation) {
            Ok(()) => Ok(true),
            Err(error) => Err(error.to_string()),
        },
        Verdict::Sat(_) | Verdict::Proven(_) | Verdict::Unsat(_) => Err(format!("{verdict:?}")),
        Verdict::Unknown(_) => Ok(false),
    }
}

/// The height of a refutation, after it has been checked.
pub fn height(refutation: &Refutation) -> usize {
    let mut heights: Vec<usize> = Vec::new();
    for step in &refutation.steps {
        let below = step.premises.iter().map(|&p| heights[p]).max();
        heights.push(below.unwrap_or(0) + 1);
    }
    heights.last().copied().unwrap_or(0)
}

/// A record of an Int and a Bool.
pub(crate) fn record(terms: &TermStore) -> (alphorn::term::DatatypeId, SortId) {
    let (id, sort) = terms.declare_datatype("Record", &[]);
    let field = |selector: &str, sort| Field {
        selector: selector.to_owned(),
        sort,
    };
    terms.define_datatype(
        id,
        vec![Constructor {
            name: "record".to_owned(),
            fields: vec![field("number", SortId::INT), field("flag", SortId::BOOL)],
        }],
    );
    (id, sort)
}
