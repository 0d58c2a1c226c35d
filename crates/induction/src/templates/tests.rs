//! Systems with planted invariants of the templates' forms, with planted bugs, and random ones.

use super::*;
use alphorn_chc::Atom;
use alphorn_samples::{is_inductive, is_model, random_system};
use alphorn_term::{Assignment, BigUint, Random, SortId, TermStore, evaluate};
use alphorn_witness::check_refutation;

fn solve(system: &System) -> (Verdict, Lemmas) {
    let mut cx = Context::new(system.terms.clone());
    let mut engine = Templates::default();
    let verdict = engine.solve(system, &mut cx).expect("no defect");
    (verdict, engine.lemmas())
}

/// One predicate with arguments of these sorts.
struct Machine {
    system: System,
    terms: Rc<TermStore>,
    old: Vec<TermId>,
    new: Vec<TermId>,
}

impl Machine {
    fn new(sorts: &[SortId]) -> Machine {
        Machine::over(Rc::new(TermStore::new()), sorts)
    }

    fn over(terms: Rc<TermStore>, sorts: &[SortId]) -> Machine {
        let mut system = System::new(terms.clone());
        system.add_predicate("P", sorts);
        let vars = |mark: &str| -> Vec<TermId> {
            let named = sorts.iter().enumerate();
            named
                .map(|(at, &sort)| terms.var(&format!("x{at}{mark}"), sort))
                .collect()
        };
        let (old, new) = (vars(""), vars("'"));
        Machine {
            system,
            terms,
            old,
            new,
        }
    }

    fn atom(&self, args: &[TermId]) -> Atom {
        Atom {
            predicate: alphorn_chc::PredicateId(0),
            args: args.to_vec(),
        }
    }

    fn with(mut self, start: &[TermId], step: &[TermId], query: &[TermId]) -> System {
        let terms = self.terms.clone();
        let (old, new) = (self.atom(&self.old), self.atom(&self.new));
        let start = terms.and(start);
        self.system.add_clause(vec![], start, Some(old.clone()));
        self.system
            .add_clause(vec![old.clone()], terms.and(step), Some(new));
        self.system.add_clause(vec![old], terms.and(query), None);
        self.system
    }
}

/// Two counters that stop at their ends and are reset together, or, with the bug, not together. The
/// invariant: the first is at its end or not less than the second.
fn counters(ends: [i64; 2], together: bool) -> System {
    let m = Machine::new(&[SortId::INT; 2]);
    let t = m.terms.clone();
    let number = |n: i64| t.int(n);
    let begin = |of: usize| t.eq(m.new[of], number(0));
    let go = |of: usize| {
        let next = t.add(&[m.old[of], number(1)]);
        let full = t.ge(m.old[of], number(ends[of]));
        t.eq(m.new[of], t.ite(full, m.old[of], next))
    };
    let anew = match together {
        true => t.and(&[begin(0), begin(1)]),
        false => t.and(&[begin(0), go(1)]),
    };
    let step = t.or(&[anew, t.and(&[go(0), go(1)])]);
    let start = [0, 1].map(|of| t.eq(m.old[of], number(0)));
    let query = [
        t.eq(m.old[1], number(ends[1])),
        t.not(t.eq(m.old[0], number(ends[0]))),
    ];
    m.with(&start, &[step], &query)
}

/// Two numbers whose sum stays the same as long as a flag is set; a bug also changes it then.
fn sum_under_flag(bug: bool) -> System {
    let m = Machine::new(&[SortId::BOOL, SortId::INT, SortId::INT]);
    let t = m.terms.clone();
    let number = |n: i64| t.int(n);
    let [flag, x, y] = [m.old[0], m.old[1], m.old[2]];
    let [flag_after, x_after, y_after] = [m.new[0], m.new[1], m.new[2]];
    let up = t.eq(x_after, t.add(&[x, number(1)]));
    let down = t.eq(y_after, t.sub(y, number(1)));
    let same = t.eq(flag_after, flag);
    let mut steps = vec![t.and(&[same, up, down]), t.not(flag_after)];
    if bug {
        steps.push(t.and(&[same, up, t.eq(y_after, y)]));
    }
    let step = t.or(&steps);
    let start = [flag, t.eq(x, number(0)), t.eq(y, number(7))];
    let query = [flag, t.not(t.eq(t.add(&[x, y]), number(7)))];
    m.with(&start, &[step], &query)
}

/// The sum of the numbers up to one, by recursion from numbers that are their own sum, including
/// the negative ones; the bug omits a number.
fn sum_by_cases(bug: bool) -> System {
    let m = Machine::new(&[SortId::INT; 2]);
    let t = m.terms.clone();
    let (x, sum, x_after, sum_after) = (m.old[0], m.old[1], m.new[0], m.new[1]);
    let next = t.eq(x_after, t.add(&[x, t.int(1)]));
    let mut added = t.add(&[sum, x_after]);
    if bug {
        added = t.ite(t.eq(x_after, t.int(6)), sum, added);
    }
    let step = [next, t.ge(x_after, t.int(2)), t.eq(sum_after, added)];
    let start = [t.le(x, t.int(1)), t.eq(x, sum)];
    let twice = t.mul(&[t.int(2), sum]);
    let square = t.mul(&[x, x]);
    let query = [t.ge(x, t.int(2)), t.not(t.eq(twice, t.add(&[square, x])))];
    m.with(&start, &step, &query)
}

/// Two sums of bit-vectors, which wrap: of the numbers from zero and of those from one, up to the
/// same end, side by side until the second is complete. The bug omits a number of the first.
fn sums_of_bit_vectors(bug: bool) -> System {
    let t = Rc::new(TermStore::new());
    let m = Machine::over(t.clone(), &[t.bitvec_sort(8); 5]);
    let number = |n: u64| t.bitvec(BigUint::from(n), 8);
    let add = |a, b| t.bv_op(&Op::BvAdd, &[a, b]);
    let until = |a, b| t.bv_op(&Op::BvSle, &[a, b]);
    let [end, i, first, j, second] = [0, 1, 2, 3, 4].map(|at| m.old[at]);
    let go = |at: usize, by: TermId, sum: TermId| {
        t.and(&[
            t.eq(m.new[at], add(by, number(1))),
            t.eq(m.new[at + 1], add(sum, by)),
        ])
    };
    let stay = |at: usize| {
        t.and(&[
            t.eq(m.new[at], m.old[at]),
            t.eq(m.new[at + 1], m.old[at + 1]),
        ])
    };
    let added = match bug {
        true => t.ite(t.eq(i, number(3)), add(first, number(1)), first),
        false => first,
    };
    let (one, other) = (until(i, end), until(j, end));
    let step = t.or(&[
        t.and(&[one, other, go(1, i, added), go(3, j, second)]),
        t.and(&[one, t.not(other), go(1, i, added), stay(3)]),
        t.and(&[t.not(one), other, stay(1), go(3, j, second)]),
    ]);
    let is = |var: TermId, n: u64| t.eq(var, number(n));
    // An end above all numbers would never be reached.
    let ends = t.not(is(end, 127));
    let start = [ends, is(i, 0), is(first, 1), is(j, 1), is(second, 1)];
    let query = [t.not(one), t.not(other), t.not(t.eq(first, second))];
    let same_end = t.eq(m.new[0], end);
    m.with(&start, &[same_end, step], &query)
}

/// A loop adds the numbers up to any end, and the next one subtracts them again, from one more. The
/// query says that more than `least` is left, which is wrong of two.
fn sum_and_back(least: i64) -> System {
    let t = Rc::new(TermStore::new());
    let mut system = System::new(t.clone());
    let [up, down] = ["Up", "Down"].map(|name| system.add_predicate(name, &[SortId::INT; 2]));
    let (x, sum) = (t.var("x", SortId::INT), t.var("sum", SortId::INT));
    let (next, after) = (t.var("x'", SortId::INT), t.var("sum'", SortId::INT));
    let atom = |predicate, args: [TermId; 2]| Atom {
        predicate,
        args: args.to_vec(),
    };
    let step =
        |by: i64, added: TermId| t.and(&[t.eq(next, t.add(&[x, t.int(by)])), t.eq(after, added)]);
    let zeros = t.and(&[t.eq(x, t.int(0)), t.eq(sum, t.int(0))]);
    let turn = t.and(&[t.gt(x, t.int(0)), step(0, t.add(&[sum, t.int(1)]))]);
    let back = t.and(&[t.gt(sum, t.int(0)), step(-1, t.sub(sum, next))]);
    let query = t.and(&[t.ge(x, t.int(0)), t.le(sum, t.int(least))]);
    system.add_clause(vec![], zeros, Some(atom(up, [x, sum])));
    let from = vec![atom(up, [x, sum])];
    system.add_clause(
        from.clone(),
        step(1, t.add(&[sum, next])),
        Some(atom(up, [next, after])),
    );
    system.add_clause(from, turn, Some(atom(down, [next, after])));
    let from = vec![atom(down, [x, sum])];
    system.add_clause(from.clone(), back, Some(atom(down, [next, after])));
    system.add_clause(from, query, None);
    system
}

/// Integers, or bit-vectors of the given width.
struct Numbers<'a> {
    t: &'a TermStore,
    width: Option<u32>,
}

impl Numbers<'_> {
    fn sort(&self) -> SortId {
        self.width
            .map_or(SortId::INT, |width| self.t.bitvec_sort(width))
    }

    fn number(&self, n: u64) -> TermId {
        match self.width {
            Some(width) => self.t.bitvec(BigUint::from(n), width),
            None => self.t.int(n as i64),
        }
    }

    fn add(&self, a: TermId, b: TermId) -> TermId {
        match self.width {
            Some(_) => self.t.bv_op(&Op::BvAdd, &[a, b]),
            None => self.t.add(&[a, b]),
        }
    }

    fn at_most(&self, a: TermId, b: TermId) -> TermId {
        match self.width {
            Some(_) => self.t.bv_op(&Op::BvSle, &[a, b]),
            None => self.t.le(a, b),
        }
    }
}

/// The sum of the numbers up to one, by a recursion that adds to its result, and by one with an
/// accumulator. The bug omits a number. Over integers, or bit-vectors of eight bits.
fn sums_by_recursion(bit_vectors: bool, forgotten: Option<u64>) -> System {
    let t = Rc::new(TermStore::new());
    let mut system = System::new(t.clone());
    let of = Numbers {
        t: &t,
        width: bit_vectors.then_some(8),
    };
    let sort = of.sort();
    let (number, add) = (|n| of.number(n), |a, b| of.add(a, b));
    let ends = |x| of.at_most(x, number(0));
    let back = system.add_predicate("Back", &[sort; 2]);
    let so_far = system.add_predicate("SoFar", &[sort; 3]);
    let [x, before, result, acc, more] = ["x", "y", "r", "a", "b"].map(|name| t.var(name, sort));
    let atom = |predicate, args: &[TermId]| Atom {
        predicate,
        args: args.to_vec(),
    };
    let zero = t.and(&[ends(x), t.eq(result, number(0))]);
    system.add_clause(vec![], zero, Some(atom(back, &[x, result])));
    let step = [
        t.not(ends(x)),
        t.eq(x, add(before, number(1))),
        t.eq(result, add(x, acc)),
    ];
    let body = vec![atom(back, &[before, acc])];
    system.add_clause(body, t.and(&step), Some(atom(back, &[x, result])));
    let zero = t.and(&[ends(x), t.eq(result, acc)]);
    system.add_clause(vec![], zero, Some(atom(so_far, &[x, acc, result])));
    let added = match forgotten {
        Some(n) => t.ite(t.eq(x, number(n)), acc, add(acc, x)),
        None => add(acc, x),
    };
    let step = [
        t.not(ends(x)),
        t.eq(x, add(before, number(1))),
        t.eq(more, added),
    ];
    let body = vec![atom(so_far, &[before, more, result])];
    system.add_clause(body, t.and(&step), Some(atom(so_far, &[x, acc, result])));
    let body = vec![atom(back, &[x, before]), atom(so_far, &[x, acc, result])];
    let query = [t.eq(acc, number(0)), t.not(t.eq(before, result))];
    system.add_clause(body, t.and(&query), None);
    system
}

/// The sum of the numbers up to `x` by two functions, of which the second omits a number; the query
/// says that they differ.
fn sums_side_by_side(bit_vectors: bool, forgotten: u64) -> System {
    let t = Rc::new(TermStore::new());
    let mut system = System::new(t.clone());
    let of = Numbers {
        t: &t,
        width: bit_vectors.then_some(32),
    };
    let sort = of.sort();
    let (number, add) = (|n| of.number(n), |a, b| of.add(a, b));
    let ends = |x| of.at_most(x, number(0));
    let [x, before, result, rest] = ["x", "y", "r", "s"].map(|name| t.var(name, sort));
    let atom = |predicate, args: &[TermId]| Atom {
        predicate,
        args: args.to_vec(),
    };
    let functions = ["All", "Some"].map(|name| system.add_predicate(name, &[sort; 2]));
    for (at, function) in functions.into_iter().enumerate() {
        let zero = t.and(&[ends(x), t.eq(result, number(0))]);
        system.add_clause(vec![], zero, Some(atom(function, &[x, result])));
        let added = match at {
            0 => x,
            _ => t.ite(t.eq(x, number(forgotten)), number(0), x),
        };
        let step = [
            t.not(ends(x)),
            t.eq(x, add(before, number(1))),
            t.eq(result, add(added, rest)),
        ];
        let body = vec![atom(function, &[before, rest])];
        system.add_clause(body, t.and(&step), Some(atom(function, &[x, result])));
    }
    let body = vec![
        atom(functions[0], &[x, result]),
        atom(functions[1], &[x, rest]),
    ];
    system.add_clause(body, t.not(t.eq(result, rest)), None);
    system
}

/// A bug that only large inputs have is found after all smaller ones.
#[test]
fn functions_are_executed_for_large_inputs() {
    for bit_vectors in [false, true] {
        let system = sums_side_by_side(bit_vectors, 3_000);
        let cx = Context::new(system.terms.clone());
        let smt = Smt::within(&cx.budget);
        let mut simulation = Simulation::new(&system, &smt);
        let mut answers = Answers::default();
        let mut refute = |inputs| simulation.execute_queries(inputs, &mut answers, &cx.budget);
        assert!(refute(Inputs::Small).is_none());
        let refutation = refute(Inputs::Sweep).expect("3000 is in the sweep");
        assert_eq!(check_refutation(&system, &refutation), Ok(()));
        assert!(refutation.steps.len() > 6_000);
    }
}

/// A query that contradicts every input before any call is not executed for the large ones.
#[test]
fn inputs_without_calls_are_not_swept() {
    let t = Rc::new(TermStore::new());
    let mut system = System::new(t.clone());
    let p = system.add_predicate("P", &[SortId::REAL]);
    let [x, before] = ["x", "y"].map(|name| t.var(name, SortId::REAL));
    let atom = |arg| Atom {
        predicate: p,
        args: vec![arg],
    };
    let zero = t.number(&num_traits::Zero::zero(), SortId::REAL);
    system.add_clause(vec![], t.eq(x, zero), Some(atom(x)));
    let step = t.eq(x, t.add(&[before, before]));
    system.add_clause(vec![atom(before)], step, Some(atom(x)));
    system.add_clause(vec![atom(x)], t.lt(x, zero), None);
    let cx = Context::new(t.clone());
    let smt = Smt::within(&cx.budget);
    let mut simulation = Simulation::new(&system, &smt);
    let mut answers = Answers::default();
    let mut work = Vec::new();
    for inputs in [Inputs::Small, Inputs::Sweep] {
        let start = t.work();
        let refuted = simulation.execute_queries(inputs, &mut answers, &cx.budget);
        assert!(refuted.is_none());
        work.push(t.work() - start);
    }
    assert!(work[1] < work[0], "{work:?}");
}

/// Queries about functions are executed for small inputs.
#[test]
fn functions_are_executed_backward() {
    for bit_vectors in [false, true] {
        for forgotten in [None, Some(1), Some(17), Some(60)] {
            let system = sums_by_recursion(bit_vectors, forgotten);
            let cx = Context::new(system.terms.clone());
            let smt = Smt::within(&cx.budget);
            let mut simulation = Simulation::new(&system, &smt);
            let mut answers = Answers::default();
            let refuted = simulation.execute_queries(Inputs::Small, &mut answers, &cx.budget);
            assert_eq!(
                refuted.is_some(),
                forgotten.is_some(),
                "{bit_vectors} {forgotten:?}"
            );
            if let Some(refutation) = refuted {
                assert_eq!(check_refutation(&system, &refutation), Ok(()));
            }
        }
    }
    // Refutations of random systems are correct.
    let mut found = 0;
    for seed in 1..200 {
        let system = random_system(&mut Random::new(seed));
        let cx = Context::new(system.terms.clone());
        let smt = Smt::within(&cx.budget);
        let mut simulation = Simulation::new(&system, &smt);
        let mut answers = Answers::default();
        let refuted = simulation.execute_queries(Inputs::Small, &mut answers, &cx.budget);
        if let Some(refutation) = refuted {
            assert_eq!(
                check_refutation(&system, &refutation),
                Ok(()),
                "seed {seed}"
            );
            found += 1;
        }
    }
    assert!(found > 10, "{found}");
}

/// From step `late` on, two counters take turns: the first counts in the lower half of each ten
/// steps, the second in the rest; before that only the first counts. It should stay ahead by
/// `ahead`.
fn turns_of_ten(late: i64, ahead: i64) -> System {
    let t = Rc::new(TermStore::new());
    let mut system = System::new(t.clone());
    let p = system.add_predicate("P", &[SortId::INT; 3]);
    let [n, x, y] = ["n", "x", "y"].map(|name| t.var(name, SortId::INT));
    let [n1, x1, y1] = ["n1", "x1", "y1"].map(|name| t.var(name, SortId::INT));
    let atom = |args: &[TermId]| Atom {
        predicate: p,
        args: args.to_vec(),
    };
    let (zero, one) = (t.int(0), t.int(1));
    let start = [n, x, y].map(|v| t.eq(v, zero));
    system.add_clause(vec![], t.and(&start), Some(atom(&[n, x, y])));
    let lower = t.lt(t.modulo(n, t.int(10)), t.int(5));
    let first = t.or(&[t.le(n, t.int(late)), lower]);
    let step = [
        t.eq(n1, t.add(&[n, one])),
        t.eq(x1, t.add(&[x, t.ite(first, one, zero)])),
        t.eq(y1, t.add(&[y, t.ite(first, zero, one)])),
    ];
    system.add_clause(
        vec![atom(&[n, x, y])],
        t.and(&step),
        Some(atom(&[n1, x1, y1])),
    );
    let behind = t.lt(x, t.add(&[y, t.int(ahead)]));
    let query = t.and(&[behind, t.gt(n, t.int(late))]);
    system.add_clause(vec![atom(&[n, x, y])], query, None);
    system
}

#[test]
fn planted_invariants_are_found() {
    let systems = [
        counters([3, 5], true),
        counters([60, 100], true),
        sum_under_flag(false),
        sum_by_cases(false),
        sums_of_bit_vectors(false),
        sum_and_back(0),
        // 101 steps, then five more and five less each time.
        turns_of_ten(100, 100),
    ];
    for (at, system) in systems.into_iter().enumerate() {
        let (verdict, _) = solve(&system);
        let Verdict::Sat(model) = verdict else {
            panic!("{at}: {verdict:?}");
        };
        assert!(is_model(&system, &model));
    }
}

#[test]
fn planted_bugs_are_no_models() {
    // No random run is long enough.
    let (verdict, lemmas) = solve(&counters([3_000, 5_000], false));
    assert!(matches!(verdict, Verdict::Unknown(_)), "{verdict:?}");
    assert!(!lemmas.proven.is_empty());
    // If many runs reach the query, one of them is found.
    let short = [counters([3, 5], false), counters([60, 100], false)];
    for system in short.into_iter().chain([
        sum_under_flag(true),
        sum_by_cases(true),
        sums_of_bit_vectors(true),
        sum_and_back(2),
        turns_of_ten(100, 101),
    ]) {
        let (verdict, _) = solve(&system);
        let Verdict::Unsat(refutation) = verdict else {
            panic!("{verdict:?}");
        };
        assert_eq!(check_refutation(&system, &refutation), Ok(()));
    }
}

/// Guesses hold of the simulated facts, and the lemmas that are left are inductive.
#[test]
fn guesses_hold_of_all_facts() {
    let (mut guessed, mut proven) = (0, 0);
    for seed in 1..60 {
        let system = random_system(&mut Random::new(seed));
        let mut cx = Context::new(system.terms.clone());
        let smt = Smt::within(&cx.budget);
        let mut simulation = Simulation::new(&system, &smt);
        let refuted = simulation.run(40, &cx.budget).expect("no limit");
        if let Some(refutation) = refuted {
            assert_eq!(check_refutation(&system, &refutation), Ok(()));
            continue;
        }
        let forms = forms(&system, &simulation, &cx);
        let all = [
            &forms.equations,
            &forms.bounds,
            &forms.products,
            &forms.clauses,
        ];
        for (&predicate, candidates) in all.into_iter().flatten() {
            let params = &system.predicate(predicate).params;
            for values in simulation.facts(predicate) {
                let fact: Assignment = params.iter().copied().zip(values.to_vec()).collect();
                for &guess in candidates {
                    let holds = evaluate(&system.terms, guess, &fact);
                    assert_eq!(holds, Some(TermId::TRUE), "seed {seed}");
                    guessed += 1;
                }
            }
        }
        let mut engine = Templates::default();
        match engine.solve(&system, &mut cx).expect("no defect") {
            Verdict::Sat(model) => assert!(is_model(&system, &model), "seed {seed}"),
            Verdict::Unsat(refutation) => {
                assert_eq!(check_refutation(&system, &refutation), Ok(()));
            }
            Verdict::Proven(_) => panic!("seed {seed}: a proof of another kind"),
            Verdict::Unknown(_) => {
                let lemmas = engine.lemmas().proven.into_iter();
                let lemmas: Vec<_> = lemmas.map(|(p, lemma)| (Some(p), lemma)).collect();
                assert!(is_inductive(&system, &smt, &lemmas), "seed {seed}");
                proven += lemmas.len();
            }
        }
    }
    assert!(guessed > 1000 && proven > 0, "{guessed} {proven}");
}
