//! Control-flow graphs with a planted bug or a planted invariant, written as one predicate whose
//! arguments encode the location: `control` recovers the graph, and `single-loop` encodes it again.

use std::rc::Rc;

use proptest::prelude::*;
use rustc_hash::FxHashSet;

use super::decide::{after, agree, check};
use super::generate::Choices;
use super::random::config;
use alphorn_chc::{Atom, PredicateId, System};
use alphorn_term::{Constructor, DatatypeId, SortId, TermId, TermStore};

/// Data are between zero and this.
const BOUND: i64 = 6;

/// A step between locations, possible if the data are at most `BOUND - add`, which it adds to them.
#[derive(Clone, Copy, Debug)]
struct Step {
    from: usize,
    to: usize,
    add: i64,
}

#[derive(Debug)]
struct Graph {
    locations: usize,
    steps: Vec<Step>,
    /// The data and the location at which there is an error.
    bad: (usize, i64),
    safe: bool,
}

/// A graph with the entry at location 0 with data 0. A bug is at the end of a walk; an invariant
/// says that data stay within the bound.
fn graph(choices: &mut Choices) -> Graph {
    let locations = 2 + choices.below(5);
    let mut steps: Vec<Step> = Vec::new();
    for _ in 0..locations + choices.below(4) {
        steps.push(Step {
            from: choices.below(locations),
            to: choices.below(locations),
            add: choices.below(3) as i64,
        });
    }
    let safe = choices.below(2) == 0;
    let mut bad = (choices.below(locations), BOUND + 1);
    if !safe {
        let (mut location, mut data) = (0, 0);
        for _ in 0..6 {
            let enabled = |s: &&Step| s.from == location && data + s.add <= BOUND;
            let enabled: Vec<&Step> = steps.iter().filter(enabled).collect();
            if enabled.is_empty() {
                break;
            }
            let step = enabled[choices.below(enabled.len())];
            (location, data) = (step.to, data + step.add);
        }
        bad = (location, data);
    }
    Graph {
        locations,
        steps,
        bad,
        safe,
    }
}

impl Graph {
    /// The number of locations on paths from the entry, whatever the data.
    fn reachable(&self) -> usize {
        let mut seen = FxHashSet::from_iter([0]);
        let mut open = vec![0];
        while let Some(location) = open.pop() {
            for step in self.steps.iter().filter(|s| s.from == location) {
                if seen.insert(step.to) {
                    open.push(step.to);
                }
            }
        }
        seen.len()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Booleans,
    OneHot,
    Integer,
    BitVector,
    Enumeration,
}

const ENCODINGS: [Encoding; 5] = [
    Encoding::Booleans,
    Encoding::OneHot,
    Encoding::Integer,
    Encoding::BitVector,
    Encoding::Enumeration,
];

struct Maker {
    terms: Rc<TermStore>,
    encoding: Encoding,
    locations: usize,
    colours: (DatatypeId, SortId),
}

impl Maker {
    fn new(encoding: Encoding, locations: usize) -> Maker {
        let terms = Rc::new(TermStore::new());
        let colours = terms.declare_datatype("Colour", &[]);
        let constructors = (0..8).map(|i| Constructor {
            name: format!("colour{i}"),
            fields: vec![],
        });
        terms.define_datatype(colours.0, constructors.collect());
        Maker {
            terms,
            encoding,
            locations,
            colours,
        }
    }

    fn sorts(&self) -> Vec<SortId> {
        match self.encoding {
            Encoding::Booleans => vec![SortId::BOOL; 3],
            Encoding::OneHot => vec![SortId::BOOL; self.locations],
            Encoding::Integer => vec![SortId::INT],
            Encoding::BitVector => vec![self.terms.bitvec_sort(16)],
            Encoding::Enumeration => vec![self.colours.1],
        }
    }

    fn values(&self, location: usize) -> Vec<TermId> {
        let t = &self.terms;
        match self.encoding {
            Encoding::Booleans => (0..3).map(|b| t.bool(location >> b & 1 == 1)).collect(),
            Encoding::OneHot => (0..self.locations).map(|l| t.bool(l == location)).collect(),
            Encoding::Integer => vec![t.int(location as i64 * 17 - 3)],
            Encoding::BitVector => vec![t.bitvec((location * 1000).into(), 16)],
            Encoding::Enumeration => vec![t.construct(self.colours.0, location as u32, &[])],
        }
    }

    fn at(&self, vars: &[TermId], location: usize) -> TermId {
        let pairs = vars.iter().zip(self.values(location));
        let equations: Vec<TermId> = pairs.map(|(&v, t)| self.terms.eq(v, t)).collect();
        self.terms.and(&equations)
    }

    /// A predicate with the sorts of the location, the data, and data that do not change.
    fn predicate(&self, system: &mut System, name: &str) -> PredicateId {
        let mut sorts = self.sorts();
        sorts.extend([SortId::INT, SortId::INT]);
        system.add_predicate(name, &sorts)
    }

    /// The constraint of a step from one atom to another.
    fn step(&self, step: Step, from: &Atom, to: &Atom) -> TermId {
        let t = &self.terms;
        let (pc, data) = from.args.split_at(from.args.len() - 2);
        let (next_pc, next) = to.args.split_at(from.args.len() - 2);
        t.and(&[
            self.at(pc, step.from),
            self.at(next_pc, step.to),
            t.le(data[0], t.int(BOUND - step.add)),
            t.eq(next[0], t.add(&[data[0], t.int(step.add)])),
            t.eq(next[1], data[1]),
        ])
    }

    fn start(&self, atom: &Atom) -> TermId {
        let t = &self.terms;
        let (pc, data) = atom.args.split_at(atom.args.len() - 2);
        t.and(&[
            self.at(pc, 0),
            t.eq(data[0], t.int(0)),
            t.ge(data[1], t.int(0)),
            t.le(data[1], t.int(1)),
        ])
    }

    fn bad(&self, graph: &Graph, atom: &Atom) -> TermId {
        let t = &self.terms;
        let (pc, data) = atom.args.split_at(atom.args.len() - 2);
        let value = t.eq(data[0], t.int(graph.bad.1));
        // An invariant holds everywhere.
        if graph.safe {
            value
        } else {
            t.and(&[self.at(pc, graph.bad.0), value])
        }
    }
}

/// The graph as one predicate; the steps as one clause, or as one clause each.
fn monolith(graph: &Graph, encoding: Encoding, one_clause: bool) -> System {
    let m = Maker::new(encoding, graph.locations);
    let mut system = System::new(m.terms.clone());
    let p = m.predicate(&mut system, "state");
    let start = system.fresh_atom(p);
    system.add_clause(vec![], m.start(&start), Some(start));
    let (from, to) = (system.fresh_atom(p), system.fresh_atom(p));
    let steps: Vec<TermId> = graph.steps.iter().map(|&s| m.step(s, &from, &to)).collect();
    if one_clause {
        system.add_clause(vec![from], m.terms.or(&steps), Some(to));
    } else {
        for step in steps {
            system.add_clause(vec![from.clone()], step, Some(to.clone()));
        }
    }
    let end = system.fresh_atom(p);
    let bad = m.bad(graph, &end);
    system.add_clause(vec![end], bad, None);
    system
}

/// The same with one predicate for each location.
fn flow_graph(graph: &Graph) -> System {
    let m = Maker::new(Encoding::Integer, graph.locations);
    let mut system = System::new(m.terms.clone());
    let t = m.terms.clone();
    let places: Vec<PredicateId> = (0..graph.locations)
        .map(|l| {
            // Of different arities, so that some predicates do not have all arguments.
            let mut sorts = vec![SortId::INT; 1 + l % 2];
            sorts.extend(vec![SortId::BOOL; l % 3]);
            system.add_predicate(&format!("l{l}"), &sorts)
        })
        .collect();
    let fixed = |atom: &Atom| {
        let rest = atom.args[1..].iter();
        let values: Vec<TermId> = rest
            .map(|&a| match t.sort_of(a) {
                SortId::BOOL => a,
                _ => t.eq(a, t.int(3)),
            })
            .collect();
        t.and(&values)
    };
    let start = system.fresh_atom(places[0]);
    let init = t.and(&[t.eq(start.args[0], t.int(0)), fixed(&start)]);
    system.add_clause(vec![], init, Some(start));
    for step in &graph.steps {
        let from = system.fresh_atom(places[step.from]);
        let to = system.fresh_atom(places[step.to]);
        let (x, y) = (from.args[0], to.args[0]);
        let constraint = t.and(&[
            t.le(x, t.int(BOUND - step.add)),
            t.eq(y, t.add(&[x, t.int(step.add)])),
            fixed(&to),
        ]);
        system.add_clause(vec![from], constraint, Some(to));
    }
    let end = system.fresh_atom(places[graph.bad.0]);
    let bad = t.eq(end.args[0], t.int(graph.bad.1));
    system.add_clause(vec![end], bad, None);
    system
}

/// Two copies of the graph, whose steps sometimes need the other copy at the same location, and a
/// query about both.
fn product(graph: &Graph, encoding: Encoding) -> System {
    let m = Maker::new(encoding, graph.locations);
    let t = m.terms.clone();
    let mut system = System::new(t.clone());
    let both = [
        m.predicate(&mut system, "left"),
        m.predicate(&mut system, "right"),
    ];
    for p in both {
        let start = system.fresh_atom(p);
        system.add_clause(vec![], m.start(&start), Some(start));
    }
    for (number, &step) in graph.steps.iter().enumerate() {
        for (own, other) in [(both[0], both[1]), (both[1], both[0])] {
            let (from, to) = (system.fresh_atom(own), system.fresh_atom(own));
            let mut constraint = m.step(step, &from, &to);
            let mut body = vec![from];
            if number % 3 == 1 {
                let witness = system.fresh_atom(other);
                let pc = &witness.args[..witness.args.len() - 2];
                constraint = t.and(&[constraint, m.at(pc, 0)]);
                body.push(witness);
            }
            system.add_clause(body, constraint, Some(to));
        }
    }
    let ends = both.map(|p| system.fresh_atom(p));
    let bad = t.and(&[m.bad(graph, &ends[0]), m.bad(graph, &ends[1])]);
    system.add_clause(ends.to_vec(), bad, None);
    system
}

const LISTS: [&str; 7] = [
    "control",
    "control,inline",
    "default",
    "single-loop",
    "single-loop,control",
    "control,single-loop",
    "default,single-loop,simplify",
];

/// A chain of locations, more than an argument may usually have values; each clause gives the
/// locations before and after it. Every twentieth step adds one.
#[test]
fn counters_with_many_values() {
    let step = |from: usize| Step {
        from,
        to: from + 1,
        add: i64::from(from.is_multiple_of(20)),
    };
    for (encoding, last) in [(Encoding::Integer, 100), (Encoding::BitVector, 60)] {
        for safe in [true, false] {
            let graph = Graph {
                locations: last + 1,
                steps: (0..last).map(step).collect(),
                bad: (last, last as i64 / 20 + i64::from(safe)),
                safe: false,
            };
            let system = monolith(&graph, encoding, false);
            let found = after(&system, "control");
            assert_eq!(found.used_predicates().len(), graph.locations);
            check(&system, &["control", "control,inline"], safe);
        }
    }
}

proptest! {
    #![proptest_config(config(6))]

    #[test]
    fn graphs_are_recovered(
        bytes in prop::collection::vec(any::<u8>(), 40),
        encoding in prop::sample::select(ENCODINGS.to_vec()),
        one_clause in any::<bool>(),
    ) {
        let graph = graph(&mut Choices::new(&bytes));
        let system = monolith(&graph, encoding, one_clause);
        let found = after(&system, "control");
        let places = found.used_predicates();
        prop_assert!(places.len() == graph.reachable(), "{} of {graph:?}", places.len());
        for p in places {
            // Data that remain zero may be removed with the location.
            prop_assert!(found.predicate(p).arity() <= 2);
        }
        check(&system, &LISTS, graph.safe);
    }

    #[test]
    fn graphs_become_one_loop(bytes in prop::collection::vec(any::<u8>(), 40)) {
        let graph = graph(&mut Choices::new(&bytes));
        let system = flow_graph(&graph);
        if system.used_predicates().len() > 1 {
            let found = after(&system, "single-loop");
            prop_assert_eq!(found.used_predicates().len(), 1);
            prop_assert_eq!(found.clauses.len(), system.clauses.len());
        }
        // The invariant is queried at one location only, where it holds as well.
        check(&system, &LISTS, graph.safe);
    }

    #[test]
    fn products_keep_their_status(
        bytes in prop::collection::vec(any::<u8>(), 40),
        encoding in prop::sample::select(ENCODINGS.to_vec()),
    ) {
        let graph = graph(&mut Choices::new(&bytes));
        let system = product(&graph, encoding);
        let safe = agree(&system, &["control", "default", "single-loop,control"]);
        prop_assume!(safe.is_some());
        prop_assert!(safe == Some(true) || !graph.safe);
        let alone = after(&system, "single-loop");
        let linear = system.clauses.iter().all(|c| c.body.len() < 2);
        prop_assert!(linear || alone.used_predicates() == system.used_predicates());
    }
}

#[test]
fn data_are_not_split() {
    // A counter of three bits, and a flag that no test reads twice: each step depends on all of
    // them.
    let t = Rc::new(TermStore::new());
    let mut system = System::new(t.clone());
    let sorts = [SortId::INT, SortId::INT];
    let p = system.add_predicate("p", &sorts);
    let start = system.fresh_atom(p);
    let init = t.and(&[t.eq(start.args[0], t.int(0)), t.eq(start.args[1], t.int(0))]);
    system.add_clause(vec![], init, Some(start));
    let (from, to) = (system.fresh_atom(p), system.fresh_atom(p));
    let step = t.and(&[
        t.lt(from.args[0], t.int(20)),
        t.eq(to.args[0], t.add(&[from.args[0], t.int(1)])),
        t.eq(to.args[1], t.add(&[from.args[1], from.args[0]])),
    ]);
    system.add_clause(vec![from], step, Some(to));
    let end = system.fresh_atom(p);
    let bad = t.and(&[t.eq(end.args[0], t.int(20)), t.lt(end.args[1], t.int(0))]);
    system.add_clause(vec![end], bad, None);
    assert_eq!(after(&system, "control").used_predicates(), vec![p]);
}

#[test]
fn many_booleans_do_not_blow_up() {
    // Forty Booleans that change freely, and three that encode a location.
    let t = Rc::new(TermStore::new());
    let mut system = System::new(t.clone());
    let p = system.add_predicate("p", &[SortId::BOOL; 43]);
    let start = system.fresh_atom(p);
    let init = t.and(&start.args.iter().map(|&a| t.not(a)).collect::<Vec<_>>());
    system.add_clause(vec![], init, Some(start));
    let (from, to) = (system.fresh_atom(p), system.fresh_atom(p));
    let at = |atom: &Atom, n: usize| {
        let bits: Vec<TermId> = (0..3)
            .map(|b| t.eq(atom.args[b], t.bool(n >> b & 1 == 1)))
            .collect();
        t.and(&bits)
    };
    let steps: Vec<TermId> = (0..8)
        .map(|n| {
            let mut conjuncts = vec![at(&from, n), at(&to, (n + 1) % 8)];
            for i in 3..43 {
                let other = from.args[3 + (i * 7 + n) % 40];
                conjuncts.push(t.eq(to.args[i], t.xor(from.args[i], other)));
            }
            t.and(&conjuncts)
        })
        .collect();
    system.add_clause(vec![from], t.or(&steps), Some(to));
    let end = system.fresh_atom(p);
    let bad = t.or(&end.args[3..]);
    system.add_clause(vec![end], bad, None);
    let found = after(&system, "control");
    let locations = found.used_predicates().len();
    assert!((8..24).contains(&locations), "{locations}");
    assert!(found.clauses.len() <= 64, "{}", found.clauses.len());
}
