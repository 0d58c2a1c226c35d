//! Each pass on handwritten systems: it has its effect, and both witnesses are translated back.

use std::rc::Rc;

use super::decide::{after, atom, check, check_pipeline, constructor};
use crate::{Pipeline, PipelineError};
use alphorn_chc::{PredicateId, System};
use alphorn_smt::Smt;
use alphorn_term::run::Context;
use alphorn_term::{Op, SortId, TermId, TermStore};

const INT: SortId = SortId::INT;

struct Maker {
    t: Rc<TermStore>,
    system: System,
}

fn maker() -> Maker {
    let t = Rc::new(TermStore::new());
    Maker {
        system: System::new(t.clone()),
        t,
    }
}

impl Maker {
    fn ints<const N: usize>(&self, names: [&str; N]) -> [TermId; N] {
        names.map(|n| self.t.var(n, INT))
    }

    fn after(&self, passes: &str) -> System {
        after(&self.system, passes)
    }

    fn check(&self, passes: &str, sat: bool) {
        check(&self.system, &[passes], sat);
    }
}

/// `x = 0 ∧ y = 5 ∧ z = 0 ⇒ P(x,y,z)`; `P(x,y,z) ∧ x < 3 ⇒ P(x+1, y, z+y)`;
/// `P(x,y,z) ∧ x ≥ limit ∧ y = 5 ⇒ false`.
fn counter(limit: i64) -> Maker {
    let mut m = maker();
    let t = m.t.clone();
    let p = m.system.add_predicate("P", &[INT, INT, INT]);
    let [x, y, z, a, b, c] = m.ints(["x", "y", "z", "a", "b", "c"]);
    let init = t.and(&[t.eq(x, t.int(0)), t.eq(y, t.int(5)), t.eq(z, t.int(0))]);
    m.system.add_clause(vec![], init, Some(atom(p, &[x, y, z])));
    let step = t.and(&[
        t.lt(x, t.int(3)),
        t.eq(a, t.add(&[x, t.int(1)])),
        t.eq(b, y),
        t.eq(c, t.add(&[z, y])),
    ]);
    let (from, to) = (atom(p, &[x, y, z]), atom(p, &[a, b, c]));
    m.system.add_clause(vec![from.clone()], step, Some(to));
    let bad = t.and(&[t.ge(x, t.int(limit)), t.eq(y, t.int(5))]);
    m.system.add_clause(vec![from], bad, None);
    m
}

fn arity(system: &System) -> usize {
    let used = system.used_predicates();
    used.iter().map(|&p| system.predicate(p).arity()).sum()
}

#[test]
fn constants_are_propagated() {
    let m = counter(4);
    assert_eq!(arity(&m.after("propagate")), 2);
    for (limit, sat) in [(4, true), (3, false)] {
        counter(limit).check("propagate", sat);
        counter(limit).check("propagate,simplify", sat);
    }
}

#[test]
fn unread_arguments_are_sliced() {
    let m = counter(4);
    // z is computed and never read; y is read by the query.
    assert_eq!(arity(&m.after("slice")), 2);
    assert_eq!(arity(&m.after("simplify,propagate,slice")), 1);
    for (limit, sat) in [(4, true), (3, false)] {
        counter(limit).check("slice", sat);
        counter(limit).check("default", sat);
    }
}

#[test]
fn equal_arguments_are_merged() {
    let build = |limit: i64| {
        let mut m = maker();
        let t = m.t.clone();
        let p = m.system.add_predicate("P", &[INT, INT]);
        let [x, y, a, b] = m.ints(["x", "y", "a", "b"]);
        let init = t.and(&[t.eq(x, y), t.ge(x, t.int(0)), t.le(x, t.int(1))]);
        m.system.add_clause(vec![], init, Some(atom(p, &[x, y])));
        let step = t.and(&[
            t.lt(x, t.int(3)),
            t.eq(a, t.add(&[x, t.int(1)])),
            t.eq(b, t.add(&[y, t.int(1)])),
        ]);
        m.system
            .add_clause(vec![atom(p, &[x, y])], step, Some(atom(p, &[a, b])));
        let bad = t.ge(t.add(&[x, y]), t.int(limit));
        m.system.add_clause(vec![atom(p, &[x, y])], bad, None);
        m
    };
    // Equality of the step's arguments needs x = y under the same operation.
    for (limit, sat) in [(7, true), (6, false)] {
        build(limit).check("simplify,propagate", sat);
        build(limit).check("default", sat);
    }
    assert_eq!(arity(&build(7).after("simplify,propagate")), 1);
}

#[test]
fn cones_cut_both_ways() {
    let mut m = maker();
    let t = m.t.clone();
    let [never, idle, p] = ["never", "idle", "p"].map(|n| m.system.add_predicate(n, &[INT]));
    let [x, y] = m.ints(["x", "y"]);
    m.system
        .add_clause(vec![], t.eq(x, t.int(1)), Some(atom(p, &[x])));
    m.system
        .add_clause(vec![atom(never, &[x])], t.eq(x, y), Some(atom(p, &[y])));
    m.system
        .add_clause(vec![atom(never, &[x])], t.eq(x, y), Some(atom(never, &[y])));
    m.system
        .add_clause(vec![atom(p, &[x])], t.eq(x, y), Some(atom(idle, &[y])));
    m.system
        .add_clause(vec![atom(p, &[x])], t.ge(x, t.int(2)), None);
    assert_eq!(m.after("cone").used_predicates(), vec![p]);
    m.check("cone", true);
    m.check("default", true);
    m.system
        .add_clause(vec![atom(p, &[x])], t.ge(x, t.int(1)), None);
    m.check("cone", false);
    m.check("default", false);
}

#[test]
fn chains_and_diamonds_are_inlined() {
    for (limit, sat) in [(7, true), (6, false)] {
        let mut m = maker();
        let t = m.t.clone();
        let ps: Vec<PredicateId> = (0..6)
            .map(|i| m.system.add_predicate(&format!("p{i}"), &[INT]))
            .collect();
        let [x, y, l] = m.ints(["x", "y", "l"]);
        m.system
            .add_clause(vec![], t.eq(x, t.int(0)), Some(atom(ps[0], &[x])));
        for i in 0..5 {
            // An unconstrained local variable in the middle: the projection for the definition is
            // not trivial.
            let step = t.and(&[
                t.ge(l, t.int(0)),
                t.le(l, t.int(1)),
                t.eq(y, t.add(&[x, l])),
            ]);
            let (from, to) = (atom(ps[i], &[x]), atom(ps[i + 1], &[y]));
            m.system.add_clause(vec![from.clone()], step, Some(to));
            if i == 2 {
                let step = t.eq(y, t.add(&[x, t.int(2)]));
                m.system
                    .add_clause(vec![from], step, Some(atom(ps[i + 1], &[y])));
            }
        }
        m.system
            .add_clause(vec![atom(ps[5], &[x])], t.ge(x, t.int(limit)), None);
        assert!(m.after("inline").used_predicates().is_empty());
        m.check("inline", sat);
        m.check("default", sat);
    }
}

#[test]
fn nonlinear_uses_are_inlined() {
    for (limit, sat) in [(9, true), (8, false)] {
        let mut m = maker();
        let t = m.t.clone();
        let p = m.system.add_predicate("p", &[INT]);
        let q = m.system.add_predicate("q", &[INT]);
        let [x, y, z, w] = m.ints(["x", "y", "z", "w"]);
        let small = t.and(&[t.ge(x, t.int(1)), t.le(x, t.int(2))]);
        m.system.add_clause(vec![], small, Some(atom(p, &[x])));
        let sum = t.eq(z, t.add(&[x, y]));
        let body = vec![atom(p, &[x]), atom(p, &[y])];
        m.system.add_clause(body, sum, Some(atom(q, &[z])));
        let body = vec![atom(q, &[x]), atom(q, &[y])];
        let bad = t.and(&[t.eq(w, t.add(&[x, y])), t.ge(w, t.int(limit))]);
        m.system.add_clause(body, bad, None);
        assert!(m.after("inline").used_predicates().is_empty());
        m.check("inline", sat);
        m.check("default", sat);
    }
}

#[test]
fn loops_of_several_blocks_become_one_clause() {
    for (limit, sat) in [(9, true), (8, false)] {
        let mut m = maker();
        let t = m.t.clone();
        let ps: Vec<PredicateId> = (0..4)
            .map(|i| m.system.add_predicate(&format!("p{i}"), &[INT]))
            .collect();
        let [x, y] = m.ints(["x", "y"]);
        m.system
            .add_clause(vec![], t.eq(x, t.int(0)), Some(atom(ps[0], &[x])));
        for i in 0..4 {
            let step = t.and(&[t.eq(y, t.add(&[x, t.int(1)])), t.lt(x, t.int(8))]);
            let (from, to) = (atom(ps[i], &[x]), atom(ps[(i + 1) % 4], &[y]));
            m.system.add_clause(vec![from], step, Some(to));
        }
        m.system
            .add_clause(vec![atom(ps[0], &[x])], t.ge(x, t.int(limit)), None);
        assert_eq!(m.after("inline").used_predicates().len(), 1);
        m.check("inline", sat);
        m.check("default", sat);
    }
}

#[test]
fn records_are_expanded() {
    for (limit, sat) in [(4, true), (3, false)] {
        let mut m = maker();
        let t = m.t.clone();
        let (id, sort) = t.declare_datatype("State", &[]);
        let state = constructor("state", &[("n", INT), ("on", SortId::BOOL)]);
        t.define_datatype(id, vec![state]);
        let p = m.system.add_predicate("p", &[sort]);
        let [r, s] = ["r", "s"].map(|n| t.var(n, sort));
        let init = t.eq(r, t.construct(id, 0, &[t.int(0), TermId::TRUE]));
        m.system.add_clause(vec![], init, Some(atom(p, &[r])));
        let n = t.field(id, 0, 0, r);
        let on = t.field(id, 0, 1, r);
        let next = t.construct(id, 0, &[t.add(&[n, t.int(1)]), t.not(on)]);
        let step = t.and(&[t.eq(s, t.ite(on, next, r)), t.lt(n, t.int(3))]);
        m.system
            .add_clause(vec![atom(p, &[r])], step, Some(atom(p, &[s])));
        let again = t.construct(id, 0, &[t.add(&[n, t.int(2)]), on]);
        let step = t.and(&[t.eq(s, again), t.not(on), t.lt(n, t.int(2))]);
        m.system
            .add_clause(vec![atom(p, &[r])], step, Some(atom(p, &[s])));
        m.system
            .add_clause(vec![atom(p, &[r])], t.ge(n, t.int(limit)), None);
        let after = m.after("records");
        for &predicate in &after.used_predicates() {
            assert_eq!(after.predicate(predicate).arity(), 2);
        }
        let roots: Vec<TermId> = after.clauses.iter().map(|c| c.constraint).collect();
        t.post_order(&roots, |term| {
            assert!(!matches!(t.op(term), Op::Construct(..) | Op::Field(..)));
        });
        m.check("records", sat);
        m.check("default", sat);
    }
}

/// Too many records for one predicate: local variables that equal them must be eliminated as they
/// are, or the equations between their fields read every argument.
#[test]
fn records_that_stay_are_not_read_through_locals() {
    for (limit, sat) in [(4, true), (3, false)] {
        let mut m = maker();
        let t = m.t.clone();
        let (id, sort) = t.declare_datatype("Pair", &[]);
        t.define_datatype(
            id,
            vec![constructor("pair", &[("first", INT), ("second", INT)])],
        );
        let count = 2100;
        let mut sorts = vec![sort; count];
        sorts.push(INT);
        let p = m.system.add_predicate("p", &sorts);
        let row = |name: &str| -> Vec<TermId> {
            let name = |i: usize| format!("{name}{i}");
            (0..count).map(|i| t.var(&name(i), sort)).collect()
        };
        let [x, y] = m.ints(["x", "y"]);
        let with = |mut row: Vec<TermId>, x: TermId| {
            row.push(x);
            atom(p, &row)
        };
        m.system
            .add_clause(vec![], t.eq(x, t.int(0)), Some(with(row("r"), x)));
        let equal = |a: &str, b: &str| row(a).into_iter().zip(row(b)).map(|(a, b)| t.eq(a, b));
        let mut step: Vec<TermId> = equal("r", "l").chain(equal("l", "s")).collect();
        step.push(t.eq(y, t.add(&[x, t.int(1)])));
        step.push(t.lt(x, t.int(3)));
        m.system.add_clause(
            vec![with(row("r"), x)],
            t.and(&step),
            Some(with(row("s"), y)),
        );
        let bad = t.ge(x, t.int(limit));
        m.system.add_clause(vec![with(row("r"), x)], bad, None);
        let passes = "records,simplify,slice";
        assert_eq!(arity(&m.after(passes)), 1);
        assert_eq!(check_pipeline(&m.system, passes, &Smt::new(t)), sat);
    }
}

#[test]
fn circular_records_are_left_alone() {
    let mut m = maker();
    let t = m.t.clone();
    let (a, a_sort) = t.declare_datatype("A", &[]);
    let (b, b_sort) = t.declare_datatype("B", &[]);
    for (id, other) in [(a, b_sort), (b, a_sort)] {
        let selector = format!("f{}", id.0);
        let only = constructor(&format!("c{}", id.0), &[(&selector, other)]);
        t.define_datatype(id, vec![only]);
    }
    let p = m.system.add_predicate("p", &[a_sort]);
    let x = t.var("x", a_sort);
    m.system
        .add_clause(vec![], TermId::TRUE, Some(atom(p, &[x])));
    m.system.add_clause(vec![atom(p, &[x])], TermId::TRUE, None);
    let after = m.after("records");
    assert_eq!(after.used_predicates(), vec![p]);
}

#[test]
fn locals_are_eliminated() {
    let mut m = maker();
    let t = m.t.clone();
    let p = m.system.add_predicate("p", &[INT]);
    let vars: Vec<TermId> = (0..60).map(|i| t.var(&format!("v{i}"), INT)).collect();
    // A chain of equations, bounds in one direction, and a disequality.
    let mut conjuncts: Vec<TermId> = vars
        .windows(2)
        .take(49)
        .map(|w| t.eq(w[1], t.add(&[w[0], t.int(1)])))
        .collect();
    conjuncts.push(t.eq(vars[0], t.int(0)));
    for &v in &vars[50..] {
        conjuncts.push(t.ge(t.mul(&[t.int(3), v]), vars[49]));
        conjuncts.push(t.not(t.eq(v, t.int(17))));
    }
    let x = t.var("x", INT);
    conjuncts.push(t.eq(x, vars[49]));
    m.system
        .add_clause(vec![], t.and(&conjuncts), Some(atom(p, &[x])));
    m.system
        .add_clause(vec![atom(p, &[x])], t.ge(x, t.int(49)), None);
    let after = m.after("simplify");
    assert_eq!(after.clauses[0].constraint, t.eq(x, t.int(49)));
    m.check("simplify", false);
    m.check("default", false);
}

#[test]
fn empty_clauses_go() {
    let mut m = maker();
    let t = m.t.clone();
    let p = m.system.add_predicate("p", &[INT, INT]);
    let [x, y, a, b, c] = m.ints(["x", "y", "a", "b", "c"]);
    let (from, to) = (atom(p, &[x, y]), atom(p, &[a, b]));
    let init = t.and(&[t.eq(x, t.int(0)), t.eq(y, t.int(0))]);
    m.system.add_clause(vec![], init, Some(from.clone()));
    // A tautology, a contradiction, and two equal clauses.
    let same = t.and(&[t.eq(a, x), t.eq(c, y), t.eq(b, c)]);
    m.system
        .add_clause(vec![from.clone()], same, Some(to.clone()));
    let gap = t.and(&[t.lt(x, c), t.lt(c, t.add(&[x, t.int(1)])), t.eq(a, b)]);
    m.system
        .add_clause(vec![from.clone()], gap, Some(to.clone()));
    let step = |x, y, a, b| {
        t.and(&[
            t.eq(a, t.add(&[x, t.int(1)])),
            t.eq(b, y),
            t.lt(x, t.int(2)),
        ])
    };
    m.system
        .add_clause(vec![from.clone()], step(x, y, a, b), Some(to.clone()));
    m.system
        .add_clause(vec![to], step(a, b, x, y), Some(from.clone()));
    m.system.add_clause(vec![from], t.ge(x, t.int(3)), None);
    assert_eq!(m.after("simplify").clauses.len(), 3);
    m.check("simplify", true);
}

#[test]
fn implied_clauses_and_atoms_are_dropped() {
    let mut m = maker();
    let t = m.t.clone();
    let p = m.system.add_predicate("p", &[INT, INT]);
    let q = m.system.add_predicate("q", &[INT]);
    let [x, y, a, b, c, d] = m.ints(["x", "y", "a", "b", "c", "d"]);
    let int = |n: i64| t.int(n);
    let within = |v, low, high| t.and(&[t.ge(v, int(low)), t.le(v, int(high))]);
    let (px, pa) = (atom(p, &[x, y]), atom(p, &[a, b]));
    // A fact, then two that it subsumes, and one that it does not.
    let same = t.eq(x, y);
    for (low, high) in [(0, 3), (1, 3), (2, 2), (3, 4)] {
        let fact = t.and(&[within(x, low, high), same]);
        m.system.add_clause(vec![], fact, Some(px.clone()));
    }
    // The same head from fewer atoms, in another order, under a weaker guard.
    let guard = t.and(&[t.le(b, int(2)), t.eq(c, a)]);
    let qc = atom(q, &[c]);
    m.system
        .add_clause(vec![pa.clone()], guard, Some(qc.clone()));
    let stronger = t.and(&[t.le(y, int(1)), t.eq(c, x), t.ge(b, int(1))]);
    m.system
        .add_clause(vec![pa.clone(), px.clone()], stronger, Some(qc));
    // The second atom is redundant.
    let [e] = m.ints(["e"]);
    let atoms = vec![px.clone(), pa.clone(), atom(q, &[d])];
    let query = t.and(&[t.eq(x, a), t.ge(x, int(4)), t.eq(e, d), t.ge(d, int(2))]);
    m.system.add_clause(atoms, query, None);
    let after = m.after("subsume");
    assert_eq!(after.clauses.len(), 4);
    assert_eq!(after.clauses[3].body.len(), 2);
    m.check("subsume", false);
    m.check("default", false);
    // A disjunction implied by one of its disjuncts, and nothing else.
    let mut m = maker();
    let t = m.t.clone();
    let p = m.system.add_predicate("p", &[INT]);
    let [x] = m.ints(["x"]);
    let either = t.or(&[t.eq(x, t.int(1)), t.le(x, t.int(0))]);
    let bounded = t.ge(x, t.int(-1));
    for constraint in [either, t.le(x, t.int(-1)), t.le(x, t.int(1))] {
        let constraint = t.and(&[constraint, bounded]);
        m.system.add_clause(vec![], constraint, Some(atom(p, &[x])));
    }
    m.system
        .add_clause(vec![atom(p, &[x])], t.ge(x, t.int(2)), None);
    // The third fact implies neither of the others, and none implies it; it subsumes the second.
    assert_eq!(m.after("subsume").clauses.len(), 3);
    m.check("subsume", true);
}

#[test]
fn many_clauses_are_compared_in_time() {
    let mut m = maker();
    let t = m.t.clone();
    let p = m.system.add_predicate("p", &[INT, INT]);
    let [x, y, a, b] = m.ints(["x", "y", "a", "b"]);
    // Every clause has its own guard and all share the rest.
    for i in 0..4000 {
        let conjuncts = [
            t.eq(x, t.int(i)),
            t.eq(a, t.add(&[x, t.int(1)])),
            t.eq(b, y),
            t.le(y, t.int(i % 7)),
        ];
        let (body, head) = (atom(p, &[x, y]), atom(p, &[a, b]));
        m.system
            .add_clause(vec![body], t.and(&conjuncts), Some(head));
    }
    let start = t.and(&[t.eq(x, t.int(0)), t.eq(y, t.int(0))]);
    m.system.add_clause(vec![], start, Some(atom(p, &[x, y])));
    m.system
        .add_clause(vec![atom(p, &[x, y])], t.ge(x, t.int(9999)), None);
    assert_eq!(m.after("subsume").clauses.len(), 4002);
}

/// Sorts of the arguments of all predicates in use.
fn argument_sorts(system: &System) -> Vec<SortId> {
    let used = system.used_predicates().into_iter();
    let params = used.flat_map(|p| system.predicate(p).params.clone());
    params.map(|v| system.terms.sort_of(v)).collect()
}

/// A counter in the first cell of an array and its bound in the second, which two predicates pass
/// to each other; `index` is where the bound is read.
fn counter_in_cells(index: impl Fn(&TermStore, TermId) -> TermId, limit: i64) -> Maker {
    let mut m = maker();
    let t = m.t.clone();
    let array = t.array_sort(INT, INT);
    let p = m.system.add_predicate("p", &[array, INT]);
    let q = m.system.add_predicate("q", &[array, INT]);
    let [a, b] = ["a", "b"].map(|n| t.var(n, array));
    let [x, y] = m.ints(["x", "y"]);
    let zeros = t.const_array(array, t.int(0));
    let start = t.store(zeros, t.int(1), t.int(3));
    let init = t.and(&[t.eq(a, start), t.eq(x, t.int(1))]);
    m.system.add_clause(vec![], init, Some(atom(p, &[a, x])));
    let count = t.select(a, t.int(0));
    let next = t.store(a, t.int(0), t.add(&[count, t.int(1)]));
    let below = t.lt(count, t.select(a, index(&t, x)));
    let step = t.and(&[below, t.eq(b, next), t.eq(x, y)]);
    m.system
        .add_clause(vec![atom(p, &[a, x])], step, Some(atom(q, &[b, y])));
    let same = t.and(&[t.eq(a, b), t.eq(x, y)]);
    m.system
        .add_clause(vec![atom(q, &[a, x])], same, Some(atom(p, &[b, y])));
    let bad = t.ge(count, t.int(limit));
    m.system.add_clause(vec![atom(p, &[a, x])], bad, None);
    m
}

#[test]
fn arrays_with_constant_indexes_become_cells() {
    for (limit, sat) in [(3, false), (4, true)] {
        let m = counter_in_cells(|t, _| t.int(1), limit);
        let after = m.after("cells");
        let sorts = argument_sorts(&after);
        assert_eq!(sorts.iter().filter(|s| **s == INT).count(), sorts.len());
        assert_eq!(
            sorts.len(),
            8,
            "two cells, the rest, and the other argument"
        );
        m.check("cells", sat);
        m.check("cells,simplify,slice", sat);
        m.check("default", sat);
    }
    // A read at a variable.
    let m = counter_in_cells(|_, x| x, 4);
    let array = m.t.array_sort(INT, INT);
    assert!(argument_sorts(&m.after("cells")).contains(&array));
    m.check("cells", true);
    // Arrays that differ may differ anywhere.
    let mut m = maker();
    let t = m.t.clone();
    let array = t.array_sort(INT, INT);
    let p = m.system.add_predicate("p", &[array]);
    let [a, b] = ["a", "b"].map(|n| t.var(n, array));
    let zeros = t.const_array(array, t.int(0));
    m.system
        .add_clause(vec![], t.eq(a, zeros), Some(atom(p, &[a])));
    let bodies = vec![atom(p, &[a]), atom(p, &[b])];
    m.system.add_clause(bodies, t.not(t.eq(a, b)), None);
    assert!(argument_sorts(&m.after("cells")).contains(&array));
    m.check("cells", true);
}

#[test]
fn only_the_cheaper_arrays_become_cells() {
    // One array with many cells and one with few, passed through many predicates.
    let mut m = maker();
    let t = m.t.clone();
    let array = t.array_sort(INT, INT);
    let chain: Vec<PredicateId> = (0..60)
        .map(|i| m.system.add_predicate(&format!("p{i}"), &[array, array]))
        .collect();
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|n| t.var(n, array));
    let zeros = t.const_array(array, t.int(0));
    let init = t.and(&[t.eq(a, zeros), t.eq(b, zeros)]);
    m.system
        .add_clause(vec![], init, Some(atom(chain[0], &[a, b])));
    let same = t.and(&[t.eq(a, c), t.eq(b, d)]);
    for pair in chain.windows(2) {
        let body = vec![atom(pair[0], &[a, b])];
        m.system
            .add_clause(body, same, Some(atom(pair[1], &[c, d])));
    }
    let mut summands: Vec<TermId> = (0..24).map(|i| t.select(a, t.int(i))).collect();
    summands.push(t.select(b, t.int(7)));
    let bad = t.ge(t.add(&summands), t.int(1));
    m.system
        .add_clause(vec![atom(chain[59], &[a, b])], bad, None);
    let sorts = argument_sorts(&m.after("cells"));
    assert_eq!(sorts.iter().filter(|s| **s == array).count(), 60);
    assert_eq!(sorts.len(), 60 * 3, "an array, a cell, the rest");
    m.check("cells", true);
}

#[test]
fn arrays_of_records_keep_their_status() {
    for (limit, sat) in [(2, false), (3, true)] {
        let mut m = maker();
        let t = m.t.clone();
        let (id, pair) = t.declare_datatype("Pair", &[]);
        let fields = [("left", INT), ("right", INT)];
        t.define_datatype(id, vec![constructor("pair", &fields)]);
        let table = t.array_sort(INT, pair);
        let p = m.system.add_predicate("p", &[table, INT]);
        let [a, b] = ["a", "b"].map(|n| t.var(n, table));
        let [i, j] = m.ints(["i", "j"]);
        let start = t.construct(id, 0, &[t.int(0), t.int(7)]);
        let init = t.and(&[t.eq(a, t.const_array(table, start)), t.eq(i, t.int(0))]);
        m.system.add_clause(vec![], init, Some(atom(p, &[a, i])));
        // At i: left := left + 1, right := left; then i is incremented.
        let old = t.select(a, i);
        let left = t.field(id, 0, 0, old);
        let new = t.construct(id, 0, &[t.add(&[left, t.int(1)]), left]);
        let step = t.and(&[
            t.lt(i, t.int(2)),
            t.eq(b, t.store(a, i, new)),
            t.eq(j, t.add(&[i, t.int(1)])),
        ]);
        m.system
            .add_clause(vec![atom(p, &[a, i])], step, Some(atom(p, &[b, j])));
        let sum = [0, 1].map(|n| t.field(id, 0, 0, t.select(a, t.int(n))));
        let bad = t.and(&[t.ge(t.add(&sum), t.int(limit)), t.ge(i, t.int(2))]);
        m.system.add_clause(vec![atom(p, &[a, i])], bad, None);
        m.check("reads,cells", sat);
        m.check("default", sat);
    }
}

#[test]
fn arguments_with_one_constructor_become_fields() {
    for (limit, sat) in [(3, false), (4, true)] {
        let mut m = maker();
        let t = m.t.clone();
        let (id, option) = t.declare_datatype("Option", &[]);
        let some = constructor("some", &[("value", INT)]);
        t.define_datatype(id, vec![constructor("none", &[]), some]);
        let p = m.system.add_predicate("p", &[option, option]);
        let [x, y, a, b] = ["x", "y", "a", "b"].map(|n| t.var(n, option));
        let some = |term: TermId| t.construct(id, 1, &[term]);
        let none = t.construct(id, 0, &[]);
        let init = t.and(&[t.eq(x, some(t.int(0))), t.eq(y, none)]);
        m.system.add_clause(vec![], init, Some(atom(p, &[x, y])));
        let content = t.field(id, 1, 0, x);
        let step = t.and(&[
            t.is(id, 1, x),
            t.lt(content, t.int(3)),
            t.eq(a, some(t.add(&[content, t.int(1)]))),
            t.eq(b, t.ite(t.ge(content, t.int(1)), x, y)),
        ]);
        let (from, to) = (atom(p, &[x, y]), atom(p, &[a, b]));
        m.system.add_clause(vec![from.clone()], step, Some(to));
        // An empty value is never derived here.
        let bad = t.or(&[t.is(id, 0, x), t.ge(content, t.int(limit))]);
        m.system.add_clause(vec![from], bad, None);
        let after = m.after("constructors");
        let mut sorts = argument_sorts(&after);
        sorts.sort_unstable();
        assert_eq!(sorts, [INT, option], "the first argument is always full");
        m.check("constructors", sat);
        m.check("default", sat);
    }
}

#[test]
fn long_lists_lose_few_layers() {
    let mut m = maker();
    let t = m.t.clone();
    let (id, list) = t.declare_datatype("List", &[]);
    let cons = constructor("cons", &[("head", INT), ("tail", list)]);
    t.define_datatype(id, vec![constructor("nil", &[]), cons]);
    let p = m.system.add_predicate("p", &[list]);
    let x = t.var("x", list);
    let long = (0..200).fold(t.construct(id, 0, &[]), |tail, n| {
        t.construct(id, 1, &[t.int(n), tail])
    });
    m.system
        .add_clause(vec![], t.eq(x, long), Some(atom(p, &[x])));
    let empty = t.is(id, 0, x);
    m.system.add_clause(vec![atom(p, &[x])], empty, None);
    assert_eq!(arity(&m.after("constructors")), 4);
    m.check("constructors", true);
    m.check("default", true);
}

#[test]
fn lists_of_passes() {
    assert_eq!(Pipeline::parse("none").unwrap().names(), &[] as &[&str]);
    assert_eq!(
        Pipeline::parse("slice, cone").unwrap().names(),
        &["slice", "cone"]
    );
    // A pass that is not in the default list has to be named.
    let default = Pipeline::default();
    assert!(!default.names().contains(&"single-loop"));
    let more = Pipeline::parse("default,single-loop").unwrap();
    assert_eq!(more.names().len(), default.names().len() + 1);
    assert_eq!(
        Pipeline::parse("cone,nope").err(),
        Some(PipelineError("nope".to_owned()))
    );
}

#[test]
fn systems_are_dumped_after_a_pass() {
    let m = counter(4);
    let mut pipeline = Pipeline::default();
    let seen = Rc::new(std::cell::Cell::new(0));
    let counter = seen.clone();
    pipeline.dump_after = Some("slice".to_owned());
    pipeline.on_dump = Some(Box::new(move |pass, _| {
        assert_eq!(pass, "slice");
        counter.set(counter.get() + 1);
    }));
    pipeline.run(m.system.clone(), &mut Context::new(m.t.clone()));
    assert!(seen.get() > 0);
}
