//! The model: lemmas about bits as formulas over Booleans and bit-vectors, and back.
//!
//! Invariant: the lemmas that are kept exclude the queries and are closed under all steps, if the
//! given ones are.

use rustc_hash::FxHashMap;

use super::frames::Lemma;
use super::level::Level;
use super::steps::Steps;
use super::{Cube, Latch};
use alphorn_bits::Blaster;
use alphorn_bits::sat::Lit;
use alphorn_chc::{PredicateId, System};
use alphorn_proof::needed_lemmas::needed_lemmas;
use alphorn_proof::{Failure, Stop};
use alphorn_term::run::Context;
use alphorn_term::{BigUint, Op, Sort, TermId, TermStore};
use alphorn_witness::Model;

/// A goal that has to follow from lemmas.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Goal {
    /// A query does not apply; the index of its step.
    Query(usize),
    /// A lemma holds after each step; its position.
    Lemma(usize),
}

/// The model: for each predicate, the conjunction of the lemmas that the queries need.
///
/// # Errors
/// The lemmas are not closed under all steps.
pub(super) fn model(
    system: &System,
    steps: &Steps,
    lemmas: &[Lemma],
    cx: &mut Context,
) -> Result<Model, Stop> {
    let terms = &*system.terms;
    let needed = needed(steps, lemmas, cx)?;
    cx.stats.set("ic3.needed", needed.len() as u64);
    let mut parts: FxHashMap<PredicateId, Vec<TermId>> = FxHashMap::default();
    for step in &steps.all {
        for predicate in step.from.into_iter().chain(step.to) {
            parts.entry(predicate).or_default();
        }
    }
    for index in needed {
        let lemma = formula(system, &lemmas[index]);
        parts
            .entry(lemmas[index].predicate)
            .or_default()
            .push(lemma);
    }
    let definitions = parts.into_iter();
    Ok(Model {
        definitions: definitions
            .map(|(p, parts)| (p, terms.and(&parts)))
            .collect(),
        ..Model::default()
    })
}

/// The positions of the lemmas that exclude the queries and are closed under all steps; of all
/// lemmas when the budget ends.
fn needed(steps: &Steps, lemmas: &[Lemma], cx: &Context) -> Result<Vec<usize>, Stop> {
    let mut solver = Level::new(false, &cx.budget);
    let on: Vec<Lit> = lemmas
        .iter()
        .map(|lemma| solver.add_optional(steps, lemma.predicate, &lemma.cube))
        .collect();
    let positions: FxHashMap<Lit, usize> = on.iter().copied().zip(0..).collect();
    let goals = steps.queries().into_iter().map(Goal::Query);
    let found = needed_lemmas(goals, |goal, _| {
        let core = match goal {
            Goal::Query(step) => solver.core_of_query(steps, step, &on),
            Goal::Lemma(index) => {
                let Lemma { predicate, cube } = &lemmas[index];
                solver.core_of_step(steps, *predicate, cube, &on)
            }
        };
        let core = core?
            .into_iter()
            .map(|literal| Goal::Lemma(positions[&literal]));
        Some(core.collect())
    });
    let Some(found) = found else {
        // All lemmas are a model, too.
        return match cx.stop() {
            Some(_) => Ok((0..lemmas.len()).collect()),
            None => Err(Stop::Failure(Failure {
                step: "selecting the needed lemmas",
                message: "they are not closed under all steps".to_owned(),
            })),
        };
    };
    let lemmas = found.into_iter().filter_map(|goal| match goal {
        Goal::Lemma(index) => Some(index),
        Goal::Query(_) => None,
    });
    Ok(lemmas.collect())
}

/// A lemma over the formal variables of its predicate.
pub(super) fn formula(system: &System, lemma: &Lemma) -> TermId {
    let terms = &*system.terms;
    let params = &system.predicate(lemma.predicate).params;
    terms.not(terms.and(&literals(terms, params, &lemma.cube)))
}

/// The literals of a cube over a predicate's formal variables; adjacent bits of a bit-vector make
/// one literal.
fn literals(terms: &TermStore, params: &[TermId], cube: &[Latch]) -> Vec<TermId> {
    let mut found = Vec::new();
    let mut cube = cube.iter().peekable();
    let mut first = 0;
    for &param in params {
        let width = Blaster::width(terms, param).expect("the sort has bits");
        while let Some(low) = cube.next_if(|latch| latch.place() < first + width) {
            if terms.sort(terms.sort_of(param)) == Sort::Bool {
                let negated = low.is_negated();
                found.push(if negated { terms.not(param) } else { param });
                continue;
            }
            let begin = low.place();
            let mut end = begin;
            let mut value = BigUint::default();
            value.set_bit(0, !low.is_negated());
            while let Some(latch) =
                cube.next_if(|latch| latch.place() == end + 1 && latch.place() < first + width)
            {
                end += 1;
                value.set_bit((end - begin) as u64, !latch.is_negated());
            }
            let (high, low) = ((end - first) as u32, (begin - first) as u32);
            let part = terms.bv_op(&Op::BvExtract(high, low), &[param]);
            found.push(terms.eq(part, terms.bitvec(value, high - low + 1)));
        }
        first += width;
    }
    found
}

/// The cube that a formula over a predicate's formal variables excludes; `None` if the formula does not
/// have the form of a lemma.
pub(super) fn cube(terms: &TermStore, params: &[TermId], formula: TermId) -> Option<Cube> {
    let mut first: FxHashMap<TermId, usize> = FxHashMap::default();
    let mut place = 0;
    for &param in params {
        first.insert(param, place);
        place += Blaster::width(terms, param).ok()?;
    }
    let mut cube = Cube::new();
    for literal in terms.conjuncts(terms.not(formula)) {
        let node = terms.node(literal);
        match (&node.op, &node.args[..]) {
            (Op::Not, [var]) => cube.push(Latch::new(*first.get(var)?, true)),
            (Op::Eq, &[a, b]) => {
                let (part, value) = match terms.as_bitvec(b) {
                    Some(value) => (a, value),
                    None => (b, terms.as_bitvec(a)?),
                };
                let (var, low) = match (terms.op(part), &terms.node(part).args[..]) {
                    (Op::BvExtract(_, low), &[var]) => (var, *low as usize),
                    _ => (part, 0),
                };
                let begin = first.get(&var)? + low;
                let bits = 0..terms.width(part) as usize;
                cube.extend(bits.map(|at| Latch::new(begin + at, !value.bit(at as u64))));
            }
            _ => cube.push(Latch::new(*first.get(&literal)?, false)),
        }
    }
    cube.sort_unstable();
    Some(cube)
}
