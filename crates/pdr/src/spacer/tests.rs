//! Checks of the routines against brute force, and of the loop on systems of known status.

use std::rc::Rc;
use std::time::Duration;

use rustc_hash::FxHashSet;

use super::abstraction::abstraction;
use super::assumptions::Assumptions;
use super::bounding::Bounding as Bounds;
use super::constraints::{Constraints, InForce};
use super::options::{Bounding, Extraction, Granularity, Next, Options, Refinement, Solver};
use super::proof::{ALL, Lemma};
use super::refine::{Refined, Refinement as Unrolling};
use super::search::{Search, height_of};
use crate::pdr;
use alphorn_chc::frontend::parse_bytes;
use alphorn_chc::{Atom, PredicateId, System};
use alphorn_engine::Engine;
use alphorn_proof::facts::Leveled;
use alphorn_samples::random_system;
use alphorn_smt::{Arithmetic, SatResult, Smt};
use alphorn_term::run::{Context, Statistics};
use alphorn_term::{Assignment, Evaluator, Random, SortId, TermId, TermStore};
use alphorn_transform::normalize;
use alphorn_witness::{Fact, Model, Refutation, RefutationStep, Verdict, check_refutation};

/// A system under construction, with integer variables.
struct Build {
    terms: Rc<TermStore>,
    system: System,
}

impl Build {
    fn new() -> Self {
        let terms = Rc::new(TermStore::new());
        let system = System::new(terms.clone());
        Build { terms, system }
    }

    fn predicate(&mut self, name: &str, arity: usize) -> PredicateId {
        self.system.add_predicate(name, &vec![SortId::INT; arity])
    }

    fn vars<const N: usize>(&self, names: [&str; N]) -> [TermId; N] {
        names.map(|n| self.terms.var(n, SortId::INT))
    }

    fn clause(
        &mut self,
        body: &[(PredicateId, &[TermId])],
        parts: &[TermId],
        head: Option<(PredicateId, &[TermId])>,
    ) {
        let atom = |&(predicate, args): &(PredicateId, &[TermId])| Atom {
            predicate,
            args: args.to_vec(),
        };
        let constraint = self.terms.and(parts);
        let body = body.iter().map(atom).collect();
        self.system
            .add_clause(body, constraint, head.as_ref().map(atom));
    }
}

fn plus(terms: &TermStore, x: TermId, k: i64) -> TermId {
    terms.add(&[x, terms.int(k)])
}

/// An outer loop of `n` rounds around an inner one of `m` rounds, with an irrelevant argument;
/// `false` after `last` outer rounds.
fn nested(n: i64, m: i64, last: i64) -> System {
    let mut b = Build::new();
    let (outer, inner) = (b.predicate("Outer", 2), b.predicate("Inner", 3));
    let [i, j, k, i1, j1, k1] = b.vars(["i", "j", "k", "i1", "j1", "k1"]);
    let t = b.terms.clone();
    let zero = t.int(0);
    b.clause(
        &[],
        &[t.eq(i, zero), t.eq(k, t.int(9))],
        Some((outer, &[i, k])),
    );
    b.clause(
        &[(outer, &[i, k])],
        &[
            t.lt(i, t.int(n)),
            t.eq(i1, i),
            t.eq(j1, zero),
            t.eq(k1, plus(&t, k, 1)),
        ],
        Some((inner, &[i1, j1, k1])),
    );
    b.clause(
        &[(inner, &[i, j, k])],
        &[
            t.lt(j, t.int(m)),
            t.eq(i1, i),
            t.eq(j1, plus(&t, j, 1)),
            t.eq(k1, t.add(&[k, k])),
        ],
        Some((inner, &[i1, j1, k1])),
    );
    b.clause(
        &[(inner, &[i, j, k])],
        &[t.eq(j, t.int(m)), t.eq(i1, plus(&t, i, 1)), t.eq(k1, k)],
        Some((outer, &[i1, k1])),
    );
    b.clause(&[(outer, &[i, k])], &[t.eq(i, t.int(last))], None);
    b.system
}

/// `Tree(0)`; two trees of equal height make one that is higher by one; `false` from `last` on.
fn trees(last: i64) -> System {
    let mut b = Build::new();
    let tree = b.predicate("Tree", 1);
    let [x, y, z] = b.vars(["x", "y", "z"]);
    let t = b.terms.clone();
    b.clause(&[], &[t.eq(x, t.int(0))], Some((tree, &[x])));
    b.clause(
        &[(tree, &[x]), (tree, &[y])],
        &[t.eq(x, y), t.eq(z, plus(&t, x, 1))],
        Some((tree, &[z])),
    );
    let query = match last < 0 {
        true => t.le(x, t.int(last)),
        false => t.ge(x, t.int(last)),
    };
    b.clause(&[(tree, &[x])], &[query], None);
    b.system
}

/// `Even(0)`, and each of two predicates leads to the other one; `false` at `Even(last)`.
fn mutual(last: i64) -> System {
    let mut b = Build::new();
    let (even, odd) = (b.predicate("Even", 1), b.predicate("Odd", 1));
    let [x, y] = b.vars(["x", "y"]);
    let t = b.terms.clone();
    let next = t.eq(y, plus(&t, x, 1));
    b.clause(&[], &[t.eq(x, t.int(0))], Some((even, &[x])));
    b.clause(&[(even, &[x])], &[next], Some((odd, &[y])));
    b.clause(&[(odd, &[x])], &[next], Some((even, &[y])));
    b.clause(&[(even, &[x])], &[t.eq(x, t.int(last))], None);
    b.system
}

fn context(system: &System) -> Context {
    let mut cx = Context::new(system.terms.clone());
    cx.budget = cx.budget.time(Duration::from_secs(60));
    cx
}

fn valid(smt: &Rc<Smt>, formula: TermId) -> bool {
    let mut solver = smt.solver();
    solver.assert(smt.terms().not(formula));
    solver.check(&[]) == SatResult::Unsat
}

/// Whether a model satisfies each clause.
fn is_model(system: &System, model: &Model) -> bool {
    let terms = &system.terms;
    let smt = Smt::new(terms.clone());
    let says = |atom: &Atom| system.instantiate(model.definitions[&atom.predicate], atom);
    system.clauses.iter().all(|clause| {
        let mut body: Vec<TermId> = clause.body.iter().map(says).collect();
        body.push(clause.constraint);
        let head = clause.head.as_ref().map_or(TermId::FALSE, says);
        valid(&smt, terms.implies(terms.and(&body), head))
    })
}

/// Whether the system with counters is unsafe under these bounds.
fn is_unsafe(system: &System, values: &[u32]) -> bool {
    let bounds = Bounds::counters(system);
    assert_eq!(bounds.loops.len(), values.len());
    let (mut bounded, steps) = bounds.bounded(system);
    for (clause, &step) in bounded.clauses.iter_mut().zip(&steps) {
        let step = bounds.with_values(&system.terms, step, values);
        clause.constraint = system.terms.and(&[clause.constraint, step]);
    }
    assert_eq!(bounded.check(), Ok(()));
    let verdict = pdr::Pdr::default().solve(&bounded, &mut context(system));
    match verdict.expect("no defect") {
        Verdict::Unsat(refutation) => {
            assert_eq!(check_refutation(&bounded, &refutation), Ok(()));
            true
        }
        Verdict::Sat(_) => false,
        Verdict::Proven(_) => panic!("a proof of another kind"),
        Verdict::Unknown(reason) => panic!("{reason}"),
    }
}

#[test]
fn counters_bound_each_loop() {
    // The outer loop's bound comes first.
    let loops = nested(2, 3, 2);
    for values in [[1, 3], [2, 2], [0, 9], [9, 0]] {
        assert!(!is_unsafe(&loops, &values), "{values:?}");
    }
    assert!(is_unsafe(&loops, &[2, 3]) && is_unsafe(&loops, &[5, 4]));
    // In a tree, a counter bounds the height.
    assert!(!is_unsafe(&trees(3), &[2]) && is_unsafe(&trees(3), &[3]));
    // Two predicates, one loop.
    assert!(!is_unsafe(&mutual(4), &[1]) && is_unsafe(&mutual(4), &[2]));
}

#[test]
fn lemmas_hold_for_all_counters() {
    let system = trees(3);
    let terms = system.terms.clone();
    let smt = Smt::new(terms.clone());
    let bounds = Bounds::counters(&system);
    let counter = bounds.of(PredicateId(0)).next().expect("a loop");
    let x = system.predicates[0].params[0];
    let small = terms.le(x, terms.int(3));
    let cases = [
        (terms.le(counter, x), small),
        (
            terms.ge(counter, plus(&terms, x, -7)),
            terms.le(x, terms.int(7)),
        ),
        (terms.ge(counter, terms.int(0)), TermId::TRUE),
        (terms.ge(terms.int(-1), counter), small),
    ];
    for (about, expected) in cases {
        let lemma = terms.or(&[small, about]);
        let result = bounds.for_all(&smt, PredicateId(0), lemma, &context(&system));
        assert!(!terms.free_vars(&[result]).contains(&counter));
        assert!(valid(&smt, terms.eq(result, expected)));
    }
}

#[test]
fn all_assumptions_make_the_clause_and_fewer_an_abstraction() {
    let mut b = Build::new();
    let p = b.predicate("P", 2);
    let [x, y, x1, y1] = b.vars(["x", "y", "x1", "y1"]);
    let t = b.terms.clone();
    let c = t.var("c", SortId::BOOL);
    let either = t.or(&[
        t.and(&[t.eq(x1, plus(&t, x, 1)), t.eq(y1, plus(&t, y, 100))]),
        t.and(&[t.ge(x, t.int(4)), t.eq(x1, x), t.not(t.eq(y1, y))]),
    ]);
    let choice = t.ite(c, t.le(x, y), t.not(t.or(&[t.le(x1, y), t.le(y, x1)])));
    b.clause(
        &[(p, &[x, y])],
        &[either, choice, t.ge(x, t.int(0))],
        Some((p, &[x1, y1])),
    );
    let system = b.system;
    let smt = Smt::new(t.clone());
    let constraint = system.clauses[0].constraint;
    for (granularity, least) in [
        (Granularity::Conjuncts, 3),
        (Granularity::Literals, 9),
        (Granularity::Arguments, 2),
    ] {
        let sigma = Assumptions::new(&system, granularity);
        assert!(sigma.all.len() >= least, "{granularity:?}");
        let all: FxHashSet<TermId> = sigma.all.iter().copied().collect();
        assert!(valid(
            &smt,
            t.eq(sigma.abstraction(&t, 0, &all), constraint)
        ));
        let with_all = t.implies(
            t.and(&[&sigma.all[..], &[sigma.guarded(0)]].concat()),
            constraint,
        );
        assert!(valid(&smt, with_all), "{granularity:?}");
        for &left_out in &sigma.all {
            let some: FxHashSet<TermId> = all.iter().copied().filter(|&a| a != left_out).collect();
            let abstraction = sigma.abstraction(&t, 0, &some);
            // The variable that replaces an argument may have the argument's value.
            let vars = t.free_vars(&[constraint]);
            let free = t.free_vars(&[abstraction]);
            let shadow = free.iter().find(|v| !vars.contains(v));
            let implied = [x1, y1].iter().any(|&arg| {
                let map = shadow.map(|&s| (s, arg)).into_iter().collect();
                valid(&smt, t.implies(constraint, t.substitute(abstraction, &map)))
            });
            assert!(implied, "{granularity:?}");
            assert!(!t.free_vars(&[abstraction]).iter().any(|v| sigma.is_one(*v)));
        }
        // Each assumption occurs only negatively: without it the constraint is weaker.
        for &a in &sigma.all {
            let without: rustc_hash::FxHashMap<_, _> =
                std::iter::once((a, TermId::FALSE)).collect();
            let more = t.substitute(sigma.guarded(0), &without);
            assert!(valid(&smt, t.implies(sigma.guarded(0), more)));
        }
    }
}

#[test]
fn clauses_share_the_assumptions_of_arguments() {
    let system = trees(2);
    let sigma = Assumptions::new(&system, Granularity::Arguments);
    assert_eq!(sigma.all.len(), 1);
    assert_eq!(sigma.own(0), sigma.all);
    assert_eq!(sigma.own(1), sigma.all);
    assert!(sigma.own(2).is_empty());
}

fn random_lemmas(system: &System, random: &mut Random, heights: bool) -> Vec<Lemma> {
    let t = &system.terms;
    let mut lemmas: Vec<Lemma> = (0..6)
        .map(|_| {
            let predicate = PredicateId(random.below(2) as u32);
            let [x, y] = system.predicate(predicate).params[..] else {
                panic!("two arguments");
            };
            let bound = random.below(9) - 3;
            let excluded = match random.below(4) {
                0 => t.ge(x, t.int(bound)),
                1 => t.le(y, t.int(bound)),
                2 => t.ge(y, plus(t, x, bound)),
                _ => t.le(x, t.int(-1)),
            };
            let height = match heights {
                true => [0, 1, 2, ALL][random.below(4) as usize],
                false => ALL,
            };
            Lemma::new(t, Some(predicate), vec![excluded], height)
        })
        .collect();
    let height = if heights { 2 } else { ALL };
    lemmas.push(Lemma::new(t, None, Vec::new(), height));
    lemmas
}

/// Whether the lemmas are inductive for the clauses.
fn is_inductive(system: &System, smt: &Rc<Smt>, lemmas: &[&Lemma]) -> bool {
    let t = &system.terms;
    lemmas.iter().all(|lemma| {
        system.clauses.iter().all(|clause| {
            let head = clause.head.as_ref();
            let about = head.map(|h| h.predicate);
            if about != lemma.about || lemma.height == 0 && !clause.body.is_empty() {
                return true;
            }
            let mut parts = vec![clause.constraint];
            for atom in &clause.body {
                let in_force = lemmas.iter().filter(|l| {
                    l.about == Some(atom.predicate)
                        && (l.height == ALL || lemma.height != ALL && l.height + 1 >= lemma.height)
                });
                parts.extend(in_force.map(|l| system.instantiate(l.formula, atom)));
            }
            let holds = head.map_or(TermId::FALSE, |h| system.instantiate(lemma.formula, h));
            valid(smt, t.implies(t.and(&parts), holds))
        })
    })
}

#[test]
fn extraction_agrees_with_brute_force() {
    let mut random = Random::new(7);
    let mut sizes = FxHashSet::default();
    for round in 0..20 {
        let system = random_system(&mut random);
        let lemmas = random_lemmas(&system, &mut random, round % 2 == 1);
        let smt = Smt::new(system.terms.clone());
        let sigma = Assumptions::new(&system, Granularity::Conjuncts);
        let bounds = vec![TermId::TRUE; system.clauses.len()];
        let mut constraints = Constraints::new(&system, &sigma, &bounds, &smt);
        let in_force = InForce {
            bounds: &[],
            invariants: &[],
        };
        let best = (0..1_u32 << lemmas.len())
            .filter(|bits| {
                let chosen = (0..lemmas.len()).filter(|l| bits >> l & 1 == 1);
                let chosen: Vec<&Lemma> = chosen.map(|l| &lemmas[l]).collect();
                is_inductive(&system, &smt, &chosen)
            })
            .max_by_key(|bits| bits.count_ones())
            .expect("the empty set is inductive");
        let best: Vec<usize> = (0..lemmas.len()).filter(|l| best >> l & 1 == 1).collect();
        sizes.insert(best.len());
        let cx = context(&system);
        for kind in [Extraction::Mis, Extraction::Houdini, Extraction::Mis] {
            let found = constraints.inductive_subset(&lemmas, None, in_force, kind, &cx.budget);
            assert_eq!(found, best, "round {round}, {kind:?}: {lemmas:?}");
        }
    }
    assert!(sizes.len() > 3, "{sizes:?}");
}

/// A derivation without values: each step's clause and premises.
fn shape(system: &System, steps: &[(usize, &[usize])]) -> Refutation {
    let steps = steps.iter().map(|&(clause, premises)| RefutationStep {
        clause: system.clauses[clause].id,
        values: Default::default(),
        premises: premises.to_vec(),
        fact: None,
    });
    Refutation {
        steps: steps.collect(),
    }
}

/// The derivation with the values of the arguments of its facts.
fn valued(system: &System, mut derivation: Refutation, values: &[i64]) -> Refutation {
    for (step, &value) in derivation.steps.iter_mut().zip(values) {
        step.fact = Some(Fact {
            predicate: PredicateId(0),
            values: vec![system.terms.int(value)],
        });
    }
    derivation
}

#[test]
fn refinement_tells_feasible_from_spurious() {
    let system = trees(2);
    let cx = context(&system);
    let smt = Smt::new(system.terms.clone());
    for granularity in [
        Granularity::Conjuncts,
        Granularity::Literals,
        Granularity::Arguments,
    ] {
        let assumptions = Assumptions::new(&system, granularity);
        let none = FxHashSet::default();
        let refinement = Unrolling {
            system: &system,
            assumptions: &assumptions,
            smt: &smt,
            in_force: &none,
            invariants: &[],
            core_queries: usize::MAX,
            limit: Duration::from_secs(20),
            arithmetic: Arithmetic::Simplex,
        };
        let good = shape(&system, &[(0, &[]), (1, &[0, 0]), (1, &[1, 1]), (2, &[2])]);
        match refinement.refine(&good, &cx) {
            Ok(Refined::Feasible(refutation)) => {
                assert_eq!(check_refutation(&system, &refutation), Ok(()));
            }
            _ => panic!("{granularity:?}"),
        }
        // Single steps are checked with the given facts only.
        match refinement.by_steps(&valued(&system, good.clone(), &[0, 1, 2]), &cx) {
            Ok(Refined::Feasible(refutation)) => {
                assert_eq!(check_refutation(&system, &refutation), Ok(()));
            }
            _ => panic!("{granularity:?}"),
        }
        match refinement.by_steps(&valued(&system, good, &[0, 1, 3]), &cx) {
            Ok(Refined::Spurious(core)) => assert_eq!(core.len(), 1),
            _ => panic!("{granularity:?}"),
        }
        let bad = shape(&system, &[(0, &[]), (1, &[0, 0]), (2, &[1])]);
        match refinement.refine(&bad, &cx) {
            Ok(Refined::Spurious(core)) => {
                let all = assumptions.all.len();
                assert!(!core.is_empty() && core.len() <= all);
                // The core does not need that the two subtrees have equal height.
                let apart = granularity != Granularity::Arguments;
                assert!(!apart || core.len() < all);
            }
            _ => panic!("{granularity:?}"),
        }
    }
}

/// The program of Fig. 2, with one assumption for each literal of its clauses as in Fig. 3, and the
/// routines in the states of section 2.
struct Figure2 {
    system: System,
    smt: Rc<Smt>,
    sigma: Assumptions,
}

impl Figure2 {
    fn new() -> Self {
        let terms = Rc::new(TermStore::new());
        let text = include_bytes!("../../../../horn-benchmarks/papers/spacer-fig2-safe.smt2");
        let problem = parse_bytes(text, terms.clone()).expect("it can be read");
        let system = normalize(&problem).0;
        Figure2 {
            smt: Smt::new(terms),
            sigma: Assumptions::new(&system, Granularity::Literals),
            system,
        }
    }

    /// The variables `x y z w c b` of the loop's head.
    fn vars(&self) -> [TermId; 6] {
        self.system.predicates[0].params[..]
            .try_into()
            .expect("six arguments")
    }

    /// The lemma at the loop's head that is the disjunction of `parts`.
    fn lemma(&self, parts: &[TermId]) -> Lemma {
        let t = &self.system.terms;
        let cube = parts.iter().map(|&p| t.not(p)).collect();
        Lemma::new(t, Some(PredicateId(0)), cube, ALL)
    }

    /// The lemma that `false` has no derivation.
    fn safe(&self) -> Lemma {
        Lemma::new(&self.system.terms, None, Vec::new(), ALL)
    }

    /// I_1 of Fig. 4(b).
    fn invariants(&self) -> Vec<Lemma> {
        let t = &self.system.terms;
        let [x, y, z, w, ..] = self.vars();
        let [x100, w10] = [(100, x), (10, w)].map(|(k, v)| t.mul(&[t.int(k), v]));
        vec![
            self.lemma(&[t.le(z, plus(t, x100, -90)), t.le(y, w10)]),
            self.lemma(&[t.le(z, x100)]),
        ]
    }

    /// π_1 of Fig. 4(a): I_1, and lemmas that hold for at most two rounds of the loop.
    fn first_proof(&self) -> Vec<Lemma> {
        let t = &self.system.terms;
        let [x, _, _, _, c, _] = self.vars();
        let at_most = |v: TermId, k: i64| t.le(v, t.int(k));
        let mut proof = self.invariants();
        proof.extend([
            self.lemma(&[at_most(x, 2)]),
            self.lemma(&[at_most(x, 0), at_most(c, 1)]),
            self.lemma(&[at_most(x, 1), at_most(c, 0)]),
            self.safe(),
        ]);
        proof
    }

    /// π_3 of Fig. 4(c).
    fn last_proof(&self) -> Vec<Lemma> {
        let t = &self.system.terms;
        let [x, y, ..] = self.vars();
        let mut proof = self.invariants();
        proof.extend([
            self.lemma(&[t.ge(y, t.int(0))]),
            self.lemma(&[t.le(x, t.int(0)), t.ge(y, t.int(100))]),
            self.safe(),
        ]);
        proof
    }

    /// τ_B of each clause: the loop has at most `times` rounds.
    fn bounds(&self, times: Option<i64>) -> Vec<TermId> {
        let t = &self.system.terms;
        let clauses = self.system.clauses.iter();
        let bounds = clauses.map(|clause| match (&clause.body[..], &clause.head, times) {
            ([body], Some(_), Some(times)) => {
                let (c, b) = (body.args[4], body.args[5]);
                t.and(&[t.le(c, b), t.le(b, t.int(times))])
            }
            _ => TermId::TRUE,
        });
        bounds.collect()
    }

    fn constraints(&self, times: Option<i64>) -> Constraints {
        Constraints::new(&self.system, &self.sigma, &self.bounds(times), &self.smt)
    }

    /// The clauses' constraints under a part of Σ.
    fn abstractions(&self, chosen: &FxHashSet<TermId>) -> Vec<TermId> {
        let t = &self.system.terms;
        let clauses = 0..self.system.clauses.len();
        clauses
            .map(|c| self.sigma.abstraction(t, c, chosen))
            .collect()
    }

    /// The names among `x y z w c b` of those of `args` that occur in a formula.
    fn about(&self, formula: TermId, args: &[TermId]) -> String {
        let free = self.system.terms.free_vars(&[formula]);
        let names = "xyzwcb".chars().zip(args);
        names
            .filter(|(_, arg)| free.contains(arg))
            .map(|(name, _)| name)
            .collect()
    }

    /// The answer of SOLVE about an abstraction with at most `times` rounds of the loop, with I_1.
    fn solve(&self, chosen: &FxHashSet<TermId>, times: i64) -> Verdict {
        let t = &self.system.terms;
        let mut under = self.system.clone();
        let parts = self.abstractions(chosen).into_iter();
        let parts = parts.zip(self.bounds(Some(times)));
        for (clause, (abstraction, bound)) in under.clauses.iter_mut().zip(parts) {
            let mut parts = vec![abstraction, bound];
            for atom in clause.body.iter().chain(&clause.head) {
                let invariants = self.invariants();
                let own = invariants.iter();
                parts.extend(own.map(|l| self.system.instantiate(l.formula, atom)));
            }
            clause.constraint = t.and(&parts);
        }
        let verdict = pdr::Pdr::default().solve(&under, &mut context(&under));
        verdict.expect("no defect")
    }
}

/// Section 2 of the paper: the results of the routines for the proofs and the counterexample there.
#[test]
fn figures_3_and_4() {
    let figure = Figure2::new();
    let cx = context(&figure.system);
    let nothing = InForce {
        bounds: &[],
        invariants: &[],
    };
    let inductive = |lemmas: &[Lemma]| {
        let mut constraints = figure.constraints(None);
        let kind = Extraction::Houdini;
        constraints.inductive_subset(lemmas, None, nothing, kind, &cx.budget)
    };
    // Step 3: I_1 is the inductive subset of π_1, and does not exclude the error.
    assert_eq!(inductive(&figure.first_proof()), [0, 1]);
    // Step 4: an abstraction for which π_1 is a proof for at most two rounds of the loop.
    let invariants = figure.invariants();
    let in_force = InForce {
        bounds: &[],
        invariants: &invariants,
    };
    let none = FxHashSet::default();
    let proof = &figure.first_proof()[2..];
    let mut constraints = figure.constraints(Some(2));
    let first = abstraction(&mut constraints, proof, in_force, &none, &cx.budget);
    let first = first.expect("it is a proof");
    // For more rounds it is no proof.
    let mut constraints = figure.constraints(Some(3));
    assert!(abstraction(&mut constraints, proof, in_force, &none, &cx.budget).is_none());
    // Fig. 3(a): nothing about the next y, z and w, since I_1 relates them.
    let of = |chosen: &FxHashSet<TermId>| {
        let [_, step, error] = figure.abstractions(chosen)[..] else {
            panic!("three clauses");
        };
        let [_, loop_, query] = &figure.system.clauses[..] else {
            panic!("three clauses");
        };
        let next = &loop_.head.as_ref().expect("a head").args;
        (
            figure.about(step, next),
            figure.about(error, &query.body[0].args),
        )
    };
    assert_eq!(of(&first), ("xc".to_owned(), "x".to_owned()));
    assert!(matches!(figure.solve(&first, 2), Verdict::Sat(_)));
    // Steps 1 and 2 again: after four rounds of the loop x is 4.
    let Verdict::Unsat(counterexample) = figure.solve(&first, 4) else {
        panic!("the first abstraction is too coarse");
    };
    assert_eq!(counterexample.steps.len(), 6);
    // Steps 5 and 6: the missing assumptions are about y.
    let refine = |chosen: &FxHashSet<TermId>| {
        let refinement = Unrolling {
            system: &figure.system,
            assumptions: &figure.sigma,
            smt: &figure.smt,
            in_force: chosen,
            invariants: &invariants,
            core_queries: usize::MAX,
            limit: Duration::from_secs(20),
            arithmetic: Arithmetic::Simplex,
        };
        match refinement.refine(&counterexample, &cx) {
            Ok(Refined::Spurious(core)) => core,
            _ => panic!("the program is safe"),
        }
    };
    let mut second = first.clone();
    second.extend(refine(&first));
    assert_eq!(of(&second), ("xyc".to_owned(), "xy".to_owned()));
    assert!(second.len() < figure.sigma.all.len());
    assert!(refine(&second).is_empty());
    // Step 3 again: π_3 is inductive as a whole.
    assert_eq!(inductive(&figure.last_proof()), [0, 1, 2, 3, 4]);
}

#[test]
fn heights_are_those_of_trees() {
    let system = trees(2);
    let steps: [(usize, &[usize]); 4] = [(0, &[]), (1, &[0, 0]), (1, &[0, 1]), (2, &[2])];
    assert_eq!(height_of(&shape(&system, &steps)), 3);
    assert_eq!(height_of(&shape(&system, &steps[..1])), 0);
}

fn variants() -> Vec<Options> {
    let mut variants = Vec::new();
    for bits in 0..24_u32 {
        let flag = |bit: u32| bits >> bit & 1 == 1;
        variants.push(Options {
            bounding: [Bounding::Heights, Bounding::Counters][(bits & 1) as usize],
            granularity: [
                Granularity::Conjuncts,
                Granularity::Literals,
                Granularity::Arguments,
            ][(bits % 3) as usize],
            refinement: [Refinement::Cegar, Refinement::Pba][(bits / 2 % 2) as usize],
            next: [Next::Uniform, Next::NonInductive, Next::Unbounded][(bits / 4 % 3) as usize],
            extraction: [Extraction::Mis, Extraction::Houdini][flag(3) as usize],
            oracle: match bits % 5 {
                4 => Solver::Muz,
                _ => Solver::Pdr,
            },
        });
    }
    variants
}

#[test]
fn all_variants_decide_systems_of_known_status() {
    let systems = [
        (nested(2, 1, 2), false),
        (nested(2, 1, -1), true),
        (trees(2), false),
        (trees(-1), true),
        (mutual(4), false),
        (mutual(-2), true),
    ];
    for options in variants() {
        for (at, (system, safe)) in systems.iter().enumerate() {
            let mut engine = super::Spacer {
                options: options.clone(),
                ..super::Spacer::default()
            };
            let verdict = engine.solve(system, &mut context(system));
            match verdict.expect("no defect") {
                Verdict::Sat(model) => {
                    assert!(*safe && is_model(system, &model), "{at}: {options:?}");
                }
                Verdict::Unsat(refutation) => {
                    assert!(!safe, "{at}: {options:?}");
                    assert_eq!(check_refutation(system, &refutation), Ok(()));
                }
                Verdict::Proven(_) => panic!("{at}: a proof of another kind: {options:?}"),
                Verdict::Unknown(reason) => panic!("{at}: {reason}: {options:?}"),
            }
        }
    }
}

#[test]
fn what_a_proof_does_not_need_is_left_out() {
    // Neither the inner loop's bound nor the third argument matters to `i >= 0`.
    let system = nested(4, 3, -1);
    for bounding in [Bounding::Heights, Bounding::Counters] {
        let options = Options {
            bounding,
            refinement: Refinement::Cegar,
            ..Options::default()
        };
        let mut search = Search::new(&system, options, &context(&system).budget);
        let verdict = search.run(&mut context(&system));
        assert!(matches!(verdict, Ok(Verdict::Sat(_))), "{bounding:?}");
        assert!(search.table.iterations > 1);
        assert!(search.table.largest < 80, "{:?}", search.table);
    }
}

/// A loop that counts to a thousand and one.
fn counting() -> System {
    let text = "(set-logic HORN) (declare-fun p (Int) Bool)
        (assert (forall ((x Int)) (=> (= x 0) (p x))))
        (assert (forall ((x Int) (y Int)) (=> (and (p x) (= y (+ x 1))) (p y))))
        (assert (forall ((x Int)) (=> (and (p x) (> x 1000)) false)))
        (check-sat)";
    let terms = Rc::new(TermStore::new());
    let problem = parse_bytes(text.as_bytes(), terms).expect("an input");
    normalize(&problem).0
}

/// Lemmas that a run leaves hold up to their levels, which the next run confirms, and the next run
/// starts at their height.
#[test]
fn a_loop_goes_on_from_earlier_frames() {
    let system = counting();
    let solve = |earlier: Vec<Leveled>| {
        let mut engine = super::Spacer::default();
        engine.resume(earlier);
        let mut cx = context(&system);
        let work = cx.budget.work(Duration::from_millis(300));
        let verdict = cx.within(work, |cx| engine.solve(&system, cx));
        assert!(matches!(verdict, Ok(Verdict::Unknown(_))), "{verdict:?}");
        (engine.lemmas().frames, cx.stats)
    };
    let (frames, stats) = solve(Vec::new());
    assert!(frames.len() > 5, "{frames:?}");
    assert_eq!(stats.count("pdr.lemmas-resumed"), 0);
    for lemma in frames.iter().filter(|lemma| lemma.level != ALL) {
        // The fact of this height.
        let param = system.predicate(lemma.predicate).params[0];
        let fact = Assignment::from_iter([(param, system.terms.int(lemma.level))]);
        let value = Evaluator::new(&system.terms, &fact).value(lemma.formula);
        assert_eq!(value, Some(TermId::TRUE), "{}", lemma.level);
    }
    let (_, again) = solve(frames.clone());
    assert_eq!(again.count("pdr.lemmas-resumed"), frames.len() as u64);
    let bound = |stats: &Statistics| stats.count("spacer.B");
    assert!(bound(&again) > bound(&stats), "{}", bound(&again));
}

/// Answers are right whatever lemmas an earlier search is said to have left.
#[test]
fn claims_of_others_are_not_believed() {
    for (system, safe) in [(nested(2, 1, 2), false), (nested(2, 1, -1), true)] {
        let mut claims = Vec::new();
        for predicate in system.used_predicates() {
            let negative = system
                .terms
                .lt(system.predicate(predicate).params[0], system.terms.int(0));
            for formula in [TermId::FALSE, negative] {
                claims.extend([0, 3, ALL].map(|level| Leveled {
                    predicate,
                    formula,
                    level,
                }));
            }
        }
        let mut engine = super::Spacer::default();
        engine.resume(claims);
        match engine.solve(&system, &mut context(&system)) {
            Ok(Verdict::Sat(model)) => assert!(safe && is_model(&system, &model)),
            Ok(Verdict::Unsat(refutation)) => {
                assert!(!safe);
                assert_eq!(check_refutation(&system, &refutation), Ok(()));
            }
            other => panic!("{other:?}"),
        }
    }
}
