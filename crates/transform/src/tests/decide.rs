//! An explicit-state oracle for systems with finitely many derivable facts, and checks of
//! witnesses in the original system.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::replay::instance;
use crate::{BackTranslations, PASSES, Pipeline};
use alphorn_chc::{Atom, PredicateId, System};
use alphorn_smt::{SatResult, Smt};
use alphorn_term::run::Context;
use alphorn_term::run::Reason;
use alphorn_term::{Assignment, Constructor, Field, SortId, TermId};
use alphorn_witness::{Fact, Model, Refutation, RefutationStep, Verdict, check_refutation};

/// A system with more facts is not decided.
const FACTS: usize = 250;

/// The least model as a disjunction of points, or a refutation; unknown if there are too many
/// facts. Passes do not add facts, so only the original system can have too many.
pub fn decide(system: &System, smt: &Rc<Smt>) -> Verdict {
    let terms = &system.terms;
    let mut known: FxHashMap<Fact, usize> = FxHashMap::default();
    let mut by_predicate: FxHashMap<PredicateId, Vec<Fact>> = FxHashMap::default();
    let mut steps: Vec<RefutationStep> = Vec::new();
    loop {
        let before = steps.len();
        for clause in &system.clauses {
            let vars = clause.vars(terms);
            let points = |atom: &Atom| {
                let facts = by_predicate.get(&atom.predicate).into_iter().flatten();
                let points: Vec<TermId> = facts.map(|f| point(system, atom, f)).collect();
                terms.or(&points)
            };
            let mut solver = smt.solver();
            solver.assert(clause.constraint);
            for atom in &clause.body {
                solver.assert(points(atom));
            }
            if let Some(head) = &clause.head {
                solver.assert(terms.not(points(head)));
            }
            loop {
                match solver.check(&[]) {
                    SatResult::Unsat => break,
                    SatResult::Unknown(reason) => panic!("unknown: {reason}"),
                    SatResult::Sat => {}
                }
                let values: Assignment = solver.model().unwrap().assignment(&vars).unwrap();
                let premises = clause
                    .body
                    .iter()
                    .map(|a| known[&instance(a, &values)])
                    .collect();
                let fact = clause.head.as_ref().map(|h| instance(h, &values));
                steps.push(RefutationStep {
                    clause: clause.id,
                    values,
                    premises,
                    fact: fact.clone(),
                });
                let Some(fact) = fact else {
                    return Verdict::Unsat(Refutation { steps });
                };
                let head = clause.head.as_ref().unwrap();
                solver.assert(terms.not(point(system, head, &fact)));
                known.insert(fact.clone(), steps.len() - 1);
                by_predicate.entry(fact.predicate).or_default().push(fact);
                if steps.len() > FACTS {
                    return Verdict::Unknown(Reason::Incomplete("many facts".to_owned()));
                }
            }
        }
        if steps.len() == before {
            break;
        }
    }
    let definitions = system
        .used_predicates()
        .into_iter()
        .map(|p| {
            let atom = Atom {
                predicate: p,
                args: system.predicate(p).params.clone(),
            };
            let facts = by_predicate.get(&p).into_iter().flatten();
            let points: Vec<TermId> = facts.map(|f| point(system, &atom, f)).collect();
            (p, terms.or(&points))
        })
        .collect();
    Verdict::Sat(Model {
        definitions,
        ..Model::default()
    })
}

fn point(system: &System, atom: &Atom, fact: &Fact) -> TermId {
    let pairs: Vec<TermId> = atom
        .args
        .iter()
        .zip(&fact.values)
        .map(|(&a, &v)| system.terms.eq(a, v))
        .collect();
    system.terms.and(&pairs)
}

/// Panics unless the model satisfies every clause.
pub fn check_model(system: &System, model: &Model, smt: &Rc<Smt>) {
    let terms = &system.terms;
    for clause in &system.clauses {
        let mut solver = smt.solver();
        solver.assert(clause.constraint);
        let meaning = |atom: &Atom| system.instantiate(model.definitions[&atom.predicate], atom);
        for atom in &clause.body {
            solver.assert(meaning(atom));
        }
        if let Some(head) = &clause.head {
            solver.assert(terms.not(meaning(head)));
        }
        assert_eq!(
            solver.check(&[]),
            SatResult::Unsat,
            "clause {} does not hold in the model",
            clause.id.0
        );
    }
    for (predicate, formula) in &model.definitions {
        let params: FxHashSet<TermId> = system
            .predicate(*predicate)
            .params
            .iter()
            .copied()
            .collect();
        for var in terms.free_vars(&[*formula]) {
            assert!(params.contains(&var), "a model over its parameters only");
        }
    }
}

/// Decides the system after the passes and checks the back-translated witness in the system before.
/// True if it is satisfiable.
pub fn check_pipeline(system: &System, passes: &str, smt: &Rc<Smt>) -> bool {
    let mut cx = Context::new(system.terms.clone());
    let (after, stack) = run(system, passes, &mut cx);
    match decide(&after, smt) {
        Verdict::Sat(model) => {
            check_model(&after, &model, smt);
            let model = stack.model(model, &mut cx).unwrap();
            check_model(system, &model, smt);
            true
        }
        Verdict::Unsat(refutation) => {
            check_refutation(&after, &refutation).unwrap();
            let refutation = stack.refutation(refutation, &mut cx).unwrap();
            check_refutation(system, &refutation).unwrap();
            false
        }
        Verdict::Proven(_) | Verdict::Unknown(_) => {
            panic!("more facts than before the passes {passes}")
        }
    }
}

/// Runs passes given by their names.
pub fn run(system: &System, passes: &str, cx: &mut Context) -> (System, BackTranslations) {
    Pipeline::parse(passes).unwrap().run(system.clone(), cx)
}

/// The system after passes given by their names.
pub fn after(system: &System, passes: &str) -> System {
    run(system, passes, &mut Context::new(system.terms.clone())).0
}

/// Asserts that the verdict is the same before and after each of the lists of passes, and that
/// witnesses are translated back. `None` if the system is too large to be decided by enumeration,
/// else whether it is satisfiable.
pub fn agree(system: &System, lists: &[impl AsRef<str>]) -> Option<bool> {
    system.check().unwrap();
    let smt = Smt::new(system.terms.clone());
    let expected = match decide(system, &smt) {
        Verdict::Unknown(_) => return None,
        verdict => matches!(verdict, Verdict::Sat(_)),
    };
    for passes in lists {
        let passes = passes.as_ref();
        let found = check_pipeline(system, passes, &smt);
        assert_eq!(found, expected, "passes {passes} change the verdict");
    }
    Some(expected)
}

/// Asserts that the system is satisfiable, or not, before and after each of the lists of passes.
pub fn check(system: &System, lists: &[&str], sat: bool) {
    assert_eq!(agree(system, lists), Some(sat));
}

/// The names of all passes.
pub fn pass_names() -> Vec<&'static str> {
    PASSES.iter().map(|pass| pass.name).collect()
}

/// An atom over these terms.
pub fn atom(predicate: PredicateId, args: &[TermId]) -> Atom {
    Atom {
        predicate,
        args: args.to_vec(),
    }
}

/// A constructor with fields of these names and sorts.
pub fn constructor(name: &str, fields: &[(&str, SortId)]) -> Constructor {
    let field = |&(selector, sort): &(&str, SortId)| Field {
        selector: selector.to_owned(),
        sort,
    };
    Constructor {
        name: name.to_owned(),
        fields: fields.iter().map(field).collect(),
    }
}
