//! Systems for tests: random small ones with candidate lemmas, planted theorems, and a bus.
//!
//! Invariant: a random system depends only on the random numbers.

pub mod blocks;
pub mod bus;
pub mod large;
pub mod planted;

use std::rc::Rc;

use alphorn_chc::{Atom, PredicateId, System};
use alphorn_smt::{SatResult, Smt};
use alphorn_term::{Constructor, DatatypeId, Field, Random, SortId, TermId, TermStore};
use alphorn_witness::Model;

/// A system with two predicates of two integers: an entry clause, clauses with one and two body
/// atoms, and a query.
pub fn random_system(random: &mut Random) -> System {
    let t = Rc::new(TermStore::new());
    let mut system = System::new(t.clone());
    let predicates = ["P", "Q"].map(|name| system.add_predicate(name, &[SortId::INT; 2]));
    let vars = ["x", "y", "u", "v", "x1", "y1"].map(|n| t.var(n, SortId::INT));
    for index in 0..6 {
        let count = match index {
            0 => 0,
            1 => 2,
            _ => 1,
        };
        let atom = |predicate: PredicateId, args: &[TermId]| Atom {
            predicate,
            args: args.to_vec(),
        };
        let body: Vec<Atom> = (0..count)
            .map(|at| {
                let predicate = predicates[random.below(2) as usize];
                atom(predicate, &vars[2 * at..2 * at + 2])
            })
            .collect();
        let mut parts = Vec::new();
        for &head in &vars[4..] {
            let from = vars[random.below(if count == 2 { 4 } else { 2 }) as usize];
            let value = match count {
                0 => t.int(random.below(3)),
                _ => t.add(&[from, t.int(random.below(4) - 1)]),
            };
            parts.push(t.eq(head, value));
        }
        if count > 0 {
            parts.push(t.le(vars[0], t.int(random.below(7))));
        }
        let head = predicates[random.below(2) as usize];
        let mut head = Some(atom(head, &vars[4..]));
        if index == 5 {
            head = None;
            parts = vec![match random.below(3) {
                0 => t.lt(vars[0], t.int(0)),
                1 => t.gt(vars[0], t.int(6)),
                _ => t.gt(vars[1], t.add(&[vars[0], t.int(random.below(5))])),
            }];
        }
        system.add_clause(body, t.and(&parts), head);
    }
    system
}

/// A candidate lemma over the formal variables of a predicate; the predicate is `None` for heads
/// `false`.
pub type Candidate = (Option<PredicateId>, TermId);

/// Random candidate lemmas of a [`random_system`], and `false` for the queries.
pub fn random_lemmas(system: &System, random: &mut Random) -> Vec<Candidate> {
    let t = &system.terms;
    let mut lemmas: Vec<Candidate> = (0..6)
        .map(|_| {
            let predicate = PredicateId(random.below(2) as u32);
            let [x, y] = system.predicate(predicate).params[..] else {
                panic!("two arguments");
            };
            let bound = t.int(random.below(9) - 1);
            let formula = match random.below(4) {
                0 => t.le(x, bound),
                1 => t.ge(y, t.int(-1)),
                2 => t.le(y, t.add(&[x, bound])),
                _ => t.ge(x, t.int(0)),
            };
            (Some(predicate), formula)
        })
        .collect();
    lemmas.push((None, TermId::FALSE));
    lemmas
}

/// Whether the lemmas are inductive: each clause derives only facts of which the lemmas hold from
/// facts of which they hold.
pub fn is_inductive(system: &System, smt: &Rc<Smt>, lemmas: &[Candidate]) -> bool {
    system.clauses.iter().all(|clause| {
        let mut solver = smt.solver();
        solver.assert(clause.constraint);
        for atom in &clause.body {
            for (_, formula) in lemmas.iter().filter(|l| l.0 == Some(atom.predicate)) {
                solver.assert(system.instantiate(*formula, atom));
            }
        }
        let about = clause.head.as_ref().map(|h| h.predicate);
        lemmas.iter().filter(|l| l.0 == about).all(|&(_, formula)| {
            let head = clause.head.as_ref();
            let holds = head.map_or(formula, |h| system.instantiate(formula, h));
            solver.check(&[system.terms.not(holds)]) == SatResult::Unsat
        })
    })
}

/// Whether the model satisfies each clause.
pub fn is_model(system: &System, model: &Model) -> bool {
    let lemmas = model.definitions.iter().map(|(&p, &f)| (Some(p), f));
    let lemmas: Vec<Candidate> = lemmas.chain([(None, TermId::FALSE)]).collect();
    is_inductive(system, &Smt::new(system.terms.clone()), &lemmas)
}

/// A shift register of `length` bits. New bits are arbitrary, but if `safe`, no two set bits follow
/// each other. The query is that the two last bits are set; its proof needs an invariant about the
/// whole register.
pub fn shift_register(length: usize, safe: bool) -> System {
    let terms = Rc::new(TermStore::new());
    let mut system = System::new(terms.clone());
    let sorts = vec![SortId::BOOL; length];
    let p = system.add_predicate("P", &sorts);
    let vars = |mark: &str| -> Vec<TermId> {
        let names = (0..length).map(|n| format!("b{n}{mark}"));
        names.map(|n| terms.var(&n, SortId::BOOL)).collect()
    };
    let (old, new) = (vars(""), vars("'"));
    let atom = |args: &[TermId]| Atom {
        predicate: p,
        args: args.to_vec(),
    };
    let clear: Vec<TermId> = old.iter().map(|&b| terms.not(b)).collect();
    system.add_clause(vec![], terms.and(&clear), Some(atom(&old)));
    let mut step: Vec<TermId> = (1..length).map(|n| terms.eq(new[n], old[n - 1])).collect();
    if safe {
        step.push(terms.implies(new[0], terms.not(old[0])));
    }
    system.add_clause(vec![atom(&old)], terms.and(&step), Some(atom(&new)));
    let query = terms.and(&[old[length - 1], old[length - 2]]);
    system.add_clause(vec![atom(&old)], query, None);
    system
}

/// A datatype of lists of integers: constructors `nil` and `cons`, selectors `head` and `tail`.
pub fn integer_lists(terms: &TermStore) -> (DatatypeId, SortId) {
    let (list, sort) = terms.declare_datatype("L", &[]);
    let field = |selector: &str, sort| Field {
        selector: selector.to_owned(),
        sort,
    };
    let constructor = |name: &str, fields| Constructor {
        name: name.to_owned(),
        fields,
    };
    let cons = vec![field("head", SortId::INT), field("tail", sort)];
    terms.define_datatype(
        list,
        vec![constructor("nil", vec![]), constructor("cons", cons)],
    );
    (list, sort)
}
