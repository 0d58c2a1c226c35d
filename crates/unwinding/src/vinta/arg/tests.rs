//! The graphs in the paper's figures and their refinement, with intervals and widening at each
//! unrolling as in the paper's examples.

use std::rc::Rc;

use super::{Arg, NodeId};
use crate::vinta::pauses::Pauses;
use crate::vinta::search::{Unwinding, Vinta};
use crate::vinta::{Interpolants, Options, Refinement};
use alphorn_chc::System;
use alphorn_chc::cutpoints::{Cutpoints, ENTRY, ERROR};
use alphorn_chc::frontend::parse_bytes;
use alphorn_domain::Domain;
use alphorn_domain::catalogue::{Catalogue, Parameters};
use alphorn_proof::Stop;
use alphorn_smt::{SatResult, Smt};
use alphorn_term::run::Context;
use alphorn_term::{TermId, TermStore};
use alphorn_transform::normalize;

fn system(text: &[u8]) -> System {
    let problem = parse_bytes(text, Rc::new(TermStore::new())).expect("it can be read");
    normalize(&problem).0
}

/// A node as the tests see it: its location's number, its label, and whether it is covered.
type Seen = (usize, TermId, bool);

/// The phases of a run, with the nodes and edges of each in the order of visits, until the labels
/// are safe or there are `most` phases.
fn phases(system: &System, options: &Options, most: usize) -> Vec<(Vec<Seen>, Vec<[usize; 2]>)> {
    let mut cx = Context::new(system.terms.clone());
    let smt = Smt::within(&cx.budget);
    let parameters = Parameters {
        numerals: 0,
        ..Parameters::ENGINE
    };
    let domain = Catalogue::new(system, parameters, cx.budget.clone()).bounds();
    let top = domain.top();
    let arg = |_: &Cutpoints| Arg::new(top);
    let pauses = Pauses::none();
    let mut vinta = Vinta::new(system, &domain, options, arg, &smt, pauses, &mut cx);
    vinta.widen_every = 1;
    let mut phases = Vec::new();
    while phases.len() < most {
        must(vinta.expand_arg());
        let order = vinta.graph.in_order();
        let nodes = order.iter().map(|&n| {
            let node = &vinta.graph.nodes[n];
            (node.location, node.label, node.covered)
        });
        let place = |node: NodeId| order.iter().position(|&n| n == node).expect("visited");
        let edges = vinta.graph.edges_visited().into_iter();
        let edges = edges.map(|e| &vinta.graph.edges[e]);
        let mut edges: Vec<[usize; 2]> = edges.map(|e| [place(e.from), place(e.to)]).collect();
        edges.sort_unstable();
        phases.push((nodes.collect(), edges));
        if vinta.is_safe() {
            break;
        }
        assert!(must(vinta.refine()).is_none(), "the program is safe");
    }
    phases
}

fn must<T>(result: Result<T, Stop>) -> T {
    match result {
        Ok(value) => value,
        Err(Stop::Reason(reason)) => panic!("{reason}"),
        Err(Stop::Failure(failure)) => panic!("{}", failure.message),
    }
}

/// Fig. 2(c): the loop's head three times, the third one covered by the first two.
#[test]
fn graph_of_figure_2c() {
    let system = system(include_bytes!(
        "../../../../../horn-benchmarks/papers/vinta-fig2a-safe.smt2"
    ));
    let t = &system.terms;
    let [x, y] = system.predicates[0].params[..] else {
        panic!("two arguments");
    };
    let zero = t.int(0);
    let phases = phases(&system, &Options::default(), 1);
    let (nodes, edges) = &phases[0];
    let locations: Vec<usize> = nodes.iter().map(|n| n.0).collect();
    let [entry, a, b, c, error] = nodes[..] else {
        panic!("{locations:?}");
    };
    assert_eq!([entry.0, error.0], [ENTRY, ERROR]);
    assert!(a.0 == b.0 && b.0 == c.0);
    assert_eq!([a.2, b.2, c.2], [false, false, true]);
    let same = |f: TermId, g: &[TermId]| {
        let smt = Smt::new(t.clone());
        let mut solver = smt.solver();
        solver.assert(t.not(t.eq(f, t.and(g))));
        solver.check(&[]) == SatResult::Unsat
    };
    assert!(same(a.1, &[t.eq(x, zero), t.eq(y, zero)]));
    for node in [b, c] {
        assert!(same(node.1, &[t.ge(x, zero), t.ge(y, zero)]));
    }
    // The error's label is not `false`: the invariant is not safe.
    assert_eq!(error.1, TermId::TRUE);
    // The paper's unexplored child of c is made when c is visited again.
    let [entry, a, b, c, error] = [0, 1, 2, 3, 4];
    let expected = [[entry, a], [a, b], [a, error], [b, c], [b, error]];
    let of_covered = [[c, error]];
    assert!(
        edges
            .iter()
            .all(|e| expected.contains(e) || of_covered.contains(e))
    );
    assert!(expected.iter().all(|e| edges.contains(e)), "{edges:?}");
}

/// Fig. 5: after `x ≤ 10` is found, one restricted refinement makes `x ≤ 10 ∧ x ≠ 9` of it, which
/// is inductive.
#[test]
fn figure_5_needs_one_restricted_refinement() {
    let system = system(include_bytes!(
        "../../../../../horn-benchmarks/papers/vinta-fig5a-safe.smt2"
    ));
    for interpolants in [Interpolants::Certificates, Interpolants::Projection] {
        let refinements = |refinement| {
            let options = Options {
                refinement,
                interpolants,
                lemmas: false,
                ..Options::default()
            };
            let phases = phases(&system, &options, 10);
            let (nodes, _) = &phases[0];
            // Fig. 5(b).
            let covered: Vec<bool> = nodes.iter().map(|n| n.2).collect();
            assert_eq!(covered, [false, false, false, true, false]);
            phases.len() - 1
        };
        assert_eq!(refinements(Refinement::Restricted), 1, "{interpolants:?}");
        // The paper's unrestricted interpolants lose `x ≤ 10`; ours keep it (see `vinta`).
        assert_eq!(refinements(Refinement::Unrestricted), 1, "{interpolants:?}");
    }
}
