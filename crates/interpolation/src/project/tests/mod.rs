//! Random conjunctions with a planted model: the projection is true in it, contains no eliminated
//! variable, and wherever else it is true, Z3 finds values for the eliminated variables.

mod cases;
mod generate;

use proptest::prelude::*;
use rustc_hash::FxHashSet;

use super::*;
use alphorn_smt::{ImplicantOptions, implicant_with};
use alphorn_term::{DatatypeId, DatatypeStyle, Op, Printer, evaluate, quote_symbol};
use generate::{Features, Generator, INTS, all};

/// Z3's verdict on a conjunction, from text.
fn satisfiable(terms: &TermStore, formulas: &[TermId]) -> Option<bool> {
    let mut open = Vec::new();
    for &formula in formulas {
        match formula {
            TermId::FALSE => return Some(false),
            TermId::TRUE => {}
            _ => open.push(formula),
        }
    }
    if open.is_empty() {
        return Some(true);
    }
    let printer = Printer::new(terms).with_style(DatatypeStyle::Monomorphic);
    let used: Vec<DatatypeId> = terms.datatype_ids().collect();
    let mut text = printer.datatype_declarations(&used);
    for var in terms.free_vars(&open) {
        text += &format!(
            "(declare-fun {} () {})\n",
            quote_symbol(terms.var_name(var)),
            printer.sort(terms.sort_of(var))
        );
    }
    for formula in open {
        text += &format!("(assert {})\n", printer.term(formula));
    }
    let solver = z3::Solver::new();
    let mut params = z3::Params::new();
    params.set_u32("timeout", 1000);
    solver.set_params(&params);
    solver.from_string(text.clone());
    match solver.check() {
        z3::SatResult::Sat => Some(true),
        z3::SatResult::Unsat => Some(false),
        z3::SatResult::Unknown => None,
    }
}

fn show(terms: &TermStore, literals: &[TermId]) -> String {
    let printer = Printer::new(terms);
    let lines: Vec<String> = literals.iter().map(|&l| printer.term(l)).collect();
    format!("\n  {}", lines.join("\n  "))
}

/// Projects a random conjunction and checks the result at other points. Returns the projection and
/// whether other points were found.
fn check(seed: u64, features: Features, vars: usize, literals: usize, depth: u32) -> Projection {
    let terms = TermStore::new();
    let mut g = Generator::new(&terms, seed, features, vars);
    let mut formulas: Vec<TermId> = (0..literals).map(|_| g.true_formula(depth)).collect();
    formulas.extend(g.definitions.iter().filter(|_| g.random.one_in(2)));
    let eliminate: Vec<TermId> = g
        .vars
        .iter()
        .copied()
        .filter(|_| g.random.one_in(2))
        .collect();
    let mut model = Evaluator::new(&terms, &g.model);
    let conjunction = implicant(&terms, &formulas, &mut model).expect("the planted model");
    let result = project(&terms, &conjunction, &eliminate, &g.model).expect("the planted model");
    let input = terms.free_vars(&conjunction);
    for var in terms.free_vars(&result.literals) {
        assert!(!eliminate.contains(&var) && input.contains(&var));
    }
    for &literal in &result.literals {
        assert_eq!(evaluate(&terms, literal, &g.model), Some(TermId::TRUE));
    }
    let kept: Vec<TermId> = input
        .into_iter()
        .filter(|v| !eliminate.contains(v))
        .collect();
    let mut points = FxHashSet::default();
    for _ in 0..60 {
        // The planted model with a few values changed, preferably to values of other variables.
        let mut point = Assignment::default();
        for &var in &kept {
            point.insert(var, g.model[&var]);
        }
        for _ in 0..=g.random.below(3) {
            if kept.is_empty() {
                break;
            }
            let var = *g.random.pick(&kept);
            let value = g.neighbour(var);
            point.insert(var, value);
        }
        let mut key: Vec<_> = point.iter().map(|(k, v)| (*k, *v)).collect();
        key.sort();
        if points.len() > 12 || !points.insert(key) {
            continue;
        }
        let mut model = Evaluator::new(&terms, &point);
        if result
            .literals
            .iter()
            .any(|&l| model.value(l) != Some(TermId::TRUE))
        {
            continue;
        }
        let instance: Vec<TermId> = conjunction
            .iter()
            .map(|&l| terms.substitute(l, &point))
            .collect();
        assert_ne!(
            satisfiable(&terms, &instance),
            Some(false),
            "seed {seed}: eliminating {} from {}\ngave {}\nwrong at {}",
            show(&terms, &eliminate),
            show(&terms, &conjunction),
            show(&terms, &result.literals),
            show(
                &terms,
                &point
                    .iter()
                    .map(|(&k, &v)| terms.eq(k, v))
                    .collect::<Vec<_>>()
            ),
        );
    }
    result
}

fn check_implicant(seed: u64, features: Features, vars: usize, depth: u32) {
    let terms = TermStore::new();
    let mut g = Generator::new(&terms, seed, features, vars);
    let formulas: Vec<TermId> = (0..2).map(|_| g.true_formula(depth)).collect();
    let formula = terms.and(&formulas);
    for options in [
        ImplicantOptions::default(),
        ImplicantOptions {
            split_disequalities: true,
            keep_bool_equalities: false,
        },
    ] {
        let mut model = Evaluator::new(&terms, &g.model);
        let literals = implicant_with(&terms, &[formula], &mut model, options).expect("is true");
        terms.post_order(&literals, |t| {
            assert!(!matches!(terms.op(t), Op::Ite | Op::And | Op::Or));
        });
        for &literal in &literals {
            assert_eq!(evaluate(&terms, literal, &g.model), Some(TermId::TRUE));
        }
        let mut query = literals.clone();
        query.push(terms.not(formula));
        assert_ne!(
            satisfiable(&terms, &query),
            Some(true),
            "seed {seed}: {}\nis not implied by {}",
            show(&terms, &[formula]),
            show(&terms, &literals)
        );
    }
}

fn cases() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(48);
    ProptestConfig::with_cases(cases)
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn projects_linear_integers(seed: u64) {
        let result = check(seed, INTS, 5, 6, 2);
        assert_eq!(result.valued, 0);
    }

    #[test]
    fn projects_divisions(seed: u64) {
        let result = check(seed, Features { division: true, ..INTS }, 5, 5, 3);
        assert_eq!(result.valued, 0);
    }

    #[test]
    fn projects_reals(seed: u64) {
        let features = Features { ints: false, reals: true, ..INTS };
        let result = check(seed, features, 5, 6, 2);
        assert_eq!(result.valued, 0);
    }

    #[test]
    fn projects_mixed_arithmetic(seed: u64) {
        check(seed, Features { reals: true, bools: true, division: true, ..INTS }, 6, 5, 3);
    }

    #[test]
    fn projects_products(seed: u64) {
        check(seed, Features { products: true, ..INTS }, 5, 5, 3);
    }

    #[test]
    fn projects_vectors(seed: u64) {
        let features = Features { ints: false, vectors: true, ..INTS };
        check(seed, features, 4, 4, 2);
    }

    #[test]
    fn projects_arrays(seed: u64) {
        check(seed, Features { arrays: true, ..INTS }, 6, 4, 3);
    }

    #[test]
    fn projects_nested_arrays(seed: u64) {
        check(seed, Features { arrays: true, nested_arrays: true, ..INTS }, 6, 4, 3);
    }

    #[test]
    fn projects_datatypes(seed: u64) {
        check(seed, Features { datatypes: true, ..INTS }, 5, 4, 3);
    }

    #[test]
    fn projects_everything(seed: u64) {
        check(seed, all(), 10, 5, 3);
    }

    #[test]
    fn implicants_imply(seed: u64) {
        check_implicant(seed, all(), 8, 4);
        check_implicant(seed, Features { bools: true, ites: true, ..INTS }, 6, 5);
    }
}
