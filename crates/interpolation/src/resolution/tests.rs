use std::rc::Rc;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use alphorn_arith::Constraint;
use alphorn_bits::sat::Lit;
use alphorn_term::{BigUint, Op, Rational, SortId, TermId, TermStore};

const WORK: Duration = Duration::from_secs(20);

/// The answer for formulas, each a part; a proof has to replay.
fn answer(terms: &Rc<TermStore>, formulas: &[TermId]) -> Result<Proof, Open> {
    let mut skeleton = Skeleton::new(terms, None);
    for (part, &formula) in formulas.iter().enumerate() {
        skeleton.part(part, formula)?;
    }
    let proof = refute(&mut skeleton, WORK, None)?;
    assert!(proof.replays(&skeleton));
    Ok(proof)
}

fn refuses(terms: &Rc<TermStore>, formula: TermId) {
    let outcome = answer(terms, &[formula]);
    assert!(matches!(outcome, Err(Open::Unsupported(_))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Clauses of three literals over eight variables, against all assignments.
    #[test]
    fn clauses_are_refuted_or_satisfied(
        clauses in prop::collection::vec([(0..8_u32, any::<bool>()), (0..8, any::<bool>()),
            (0..8, any::<bool>())], 20..60)
    ) {
        let terms = Rc::new(TermStore::new());
        let variable = |v: u32| terms.var(&format!("p{v}"), SortId::BOOL);
        let literal = |&(v, negated): &(u32, bool)| match negated {
            true => terms.not(variable(v)),
            false => variable(v),
        };
        let formulas: Vec<TermId> = clauses
            .iter()
            .map(|c| terms.or(&c.iter().map(literal).collect::<Vec<_>>()))
            .collect();
        let holds = |values: u32| {
            let is_true = |&(v, negated): &(u32, bool)| (values >> v & 1 == 1) != negated;
            clauses.iter().all(|c| c.iter().any(is_true))
        };
        let has_model = (0..256).any(holds);
        match answer(&terms, &formulas) {
            Ok(_) => prop_assert!(!has_model),
            Err(open) => prop_assert!(has_model && open == Open::Consistent),
        }
    }
}

/// One more pigeon than holes: learnt clauses are resolved from others.
#[test]
fn chains_are_replayed_and_nothing_else() {
    let terms = Rc::new(TermStore::new());
    let sits = |p: usize, h: usize| terms.var(&format!("{p}in{h}"), SortId::BOOL);
    let mut formulas = Vec::new();
    for p in 0..5 {
        let holes: Vec<TermId> = (0..4).map(|h| sits(p, h)).collect();
        formulas.push(terms.or(&holes));
        for other in 0..p {
            for h in 0..4 {
                formulas.push(terms.not(terms.and(&[sits(p, h), sits(other, h)])));
            }
        }
    }
    let mut skeleton = Skeleton::new(&terms, None);
    for (part, &formula) in formulas.iter().enumerate() {
        skeleton.part(part, formula).unwrap();
    }
    let mut proof = refute(&mut skeleton, WORK, None).unwrap();
    let is_chain = |at: &usize| matches!(proof.clauses[*at].origin, Origin::Chain(..));
    let chains: Vec<usize> = (0..proof.clauses.len()).filter(is_chain).collect();
    assert!(chains.len() > 5);
    assert!(proof.replays(&skeleton));
    for at in chains {
        let whole = proof.clauses[at].clone();
        if let Origin::Chain(_, steps) = &mut proof.clauses[at].origin {
            steps.pop();
        }
        assert!(!proof.replays(&skeleton));
        proof.clauses[at] = whole;
    }
}

#[test]
fn lemmas_are_added_up() {
    let t = Rc::new(TermStore::new());
    let [x, y, z] = ["x", "y", "z"].map(|n| t.var(n, SortId::REAL));
    let formulas = [t.lt(x, y), t.lt(y, z), t.lt(z, x)];
    let mut skeleton = Skeleton::new(&t, None);
    for (part, &formula) in formulas.iter().enumerate() {
        skeleton.part(part, formula).unwrap();
    }
    let mut proof = refute(&mut skeleton, WORK, None).unwrap();
    assert!(proof.replays(&skeleton));
    let lemma = proof
        .clauses
        .iter()
        .position(|c| matches!(c.origin, Origin::Lemma(_)));
    let lemma = lemma.expect("the theory was asked");
    if let Origin::Lemma(Lemma::Sum(sum)) = &mut proof.clauses[lemma].origin {
        sum[0].1 += Rational::from_integer(1.into());
    }
    assert!(!proof.replays(&skeleton));
}

#[test]
fn integers_are_branched_on_and_divided() {
    let t = Rc::new(TermStore::new());
    let [x, y] = ["x", "y"].map(|n| t.var(n, SortId::INT));
    let twice = |v| t.add(&[v, v]);
    // Between two adjacent integers.
    let three = t.add(&[x, x, x]);
    let between = [
        t.ge(t.add(&[three, twice(y)]), t.int(1)),
        t.le(y, t.int(0)),
        t.ge(y, t.int(0)),
    ];
    let at_most = t.le(twice(x), t.int(1));
    assert!(answer(&t, &[between[0], between[1], between[2], at_most]).is_ok());
    // No bounds.
    let odd = t.eq(twice(x), t.add(&[twice(y), t.int(1)]));
    assert!(answer(&t, &[odd]).is_ok());
    let rest = t.modulo(x, t.int(4));
    let parity = [t.eq(rest, t.int(3)), t.eq(t.modulo(x, t.int(2)), t.int(0))];
    assert!(answer(&t, &parity).is_ok());
    assert_eq!(answer(&t, &parity[..1]).err(), Some(Open::Consistent));
    let choice = t.ite(t.le(x, y), x, y);
    assert!(answer(&t, &[t.gt(choice, x)]).is_ok());
    let image = t.to_real(x);
    let half = t.real(Rational::new(1.into(), 2.into()));
    assert!(answer(&t, &[t.eq(image, half)]).is_ok());
    let whole = [
        t.is_int(t.mul(&[half, image])),
        t.eq(t.modulo(x, t.int(2)), t.int(1)),
    ];
    assert!(answer(&t, &whole).is_ok());
}

#[test]
fn other_theories_are_refused() {
    let t = Rc::new(TermStore::new());
    let [x, y] = ["x", "y"].map(|n| t.var(n, SortId::INT));
    let a = t.var("a", t.array_sort(SortId::INT, SortId::INT));
    let b = t.var("b", t.array_sort(SortId::INT, SortId::INT));
    refuses(&t, t.gt(t.mul(&[x, y]), x));
    refuses(&t, t.gt(t.select(a, x), y));
    refuses(&t, t.eq(a, b));
    let w = t.var("w", t.bitvec_sort(8));
    refuses(&t, t.lt(t.bv_op(&Op::BvToNat, &[w]), x));
    refuses(&t, t.gt(t.modulo(x, y), x));
}

/// Two parts have the same gates, and their definitions are not clauses of a part.
#[test]
fn atoms_over_bit_vectors_are_gates() {
    let t = Rc::new(TermStore::new());
    let [v, w] = ["v", "w"].map(|n| t.var(n, t.bitvec_sort(8)));
    let number = |n: u32| t.bitvec(BigUint::from(n), 8);
    let sum = |a, b| t.bv_op(&Op::BvAdd, &[a, b]);
    let at_most = |a, b| t.bv_op(&Op::BvUle, &[a, b]);
    // No value is greater than the successor of 255.
    let formulas = [t.eq(v, number(255)), t.eq(w, sum(v, number(1)))];
    let proof = answer(&t, &[formulas[0], formulas[1], t.not(at_most(w, v))]);
    assert!(proof.is_ok());
    let wraps = answer(&t, &[t.eq(w, sum(v, number(1))), at_most(w, v)]);
    assert_eq!(wraps.err(), Some(Open::Consistent));
    let sums = [
        t.eq(sum(v, w), number(7)),
        t.not(t.eq(sum(w, v), number(7))),
    ];
    assert!(answer(&t, &sums).is_ok());
    let mut skeleton = Skeleton::new(&t, None);
    let both = [at_most(v, w), t.not(at_most(v, w))];
    for (part, &formula) in both.iter().enumerate() {
        skeleton.part(part, formula).unwrap();
    }
    assert_eq!(skeleton.clauses.len(), 2);
    assert!(skeleton.variables.iter().all(|v| v.parts == [0, 1]));
    let mut proof = refute(&mut skeleton, WORK, None).unwrap();
    assert!(proof.replays(&skeleton));
    // One clause is the atom, and the other one its negation.
    assert_eq!(proof.clauses.len(), 3);
    proof.clauses[0].origin = Origin::Definition;
    assert!(!proof.replays(&skeleton));
}

#[test]
fn limits_end_a_search() {
    let terms = Rc::new(TermStore::new());
    let [x, y, z] = ["x", "y", "z"].map(|n| terms.var(n, SortId::REAL));
    let formula = terms.and(&[terms.lt(x, y), terms.lt(y, z), terms.lt(z, x)]);
    let mut skeleton = Skeleton::new(&terms, None);
    skeleton.part(0, formula).unwrap();
    let spent = refute(&mut skeleton, Duration::ZERO, None);
    assert_eq!(spent.err(), Some(Open::Limit));
    let budget = Budget::new(Rc::clone(&terms), Arc::default(), true);
    let spent = refute(&mut skeleton, WORK, Some(&budget.work(Duration::ZERO)));
    assert_eq!(spent.err(), Some(Open::Limit));
    assert!(refute(&mut skeleton, WORK, Some(&budget)).is_ok());
}

/// A bound and its negation are one variable.
#[test]
fn bounds_have_one_variable() {
    let t = Rc::new(TermStore::new());
    let x = t.var("x", SortId::INT);
    let mut skeleton = Skeleton::new(&t, None);
    let literals = [t.le(x, t.int(3)), t.ge(x, t.int(4)), t.lt(x, t.int(4))].map(|f| {
        let bound = Constraint::comparison(&t, f).unwrap();
        skeleton.bound(0, &bound.linear, bound.relation)
    });
    assert_eq!(literals[0], !literals[1]);
    assert_eq!(literals[0], literals[2]);
    assert_eq!(literals[0], Lit::new(0, false));
}
