//! The domains of which the engine `vinta` and the pass `invariants` are composed, with their
//! parameters.
//!
//! | part | elements |
//! |---|---|
//! | [`boxes`](Catalogue::boxes) | unions of boxes: not combined with others |
//! | [`none`](Catalogue::none) | all states, or none |
//! | [`constants`](Catalogue::constants) | values of variables that are not numbers |
//! | [`bits`](Catalogue::bits) | bits and bounds of bit-vectors |
//! | [`bounds`](Catalogue::bounds) | bounds of numbers |
//! | [`congruences`](Catalogue::congruences) | affine equations and congruences of all variables |
//! | [`packed_congruences`](Catalogue::packed_congruences) | the same, pack by pack |
//! | [`modular`](Catalogue::modular) | equations of bit-vectors modulo powers of two, pack by pack |
//! | [`octagons`](Catalogue::octagons) | octagons, pack by pack |
//! | [`polyhedra`](Catalogue::polyhedra) | convex polyhedra over all variables |
//! | [`packed_polyhedra`](Catalogue::packed_polyhedra) | the same, pack by pack |
//!
//! A relational domain is combined with bounds ([`with_bounds`](Catalogue::with_bounds)), and the
//! result has cases for finite variables ([`by_cases`](Catalogue::by_cases)); guards split these
//! into phases.
//!
//! Invariant: the parts of a catalogue widen to the same numerals, and parts of the same size share
//! their packs.

use std::cell::RefCell;
use std::rc::Rc;

use num_traits::One;
use rustc_hash::FxHashMap;

use super::abstract_domain::Domain;
use super::bits::Bits;
use super::boxes::Boxes;
use super::cases::Cases;
use super::congruence::Congruences;
use super::constant::Constants;
use super::interval::Intervals;
use super::modular::Modular;
use super::nothing::Nothing;
use super::octagon::Octagons;
use super::packs::{Packs, packs};
use super::polyhedron::Polyhedra;
use super::product::Product;
use alphorn_chc::System;
use alphorn_term::run::Budget;
use alphorn_term::{BigInt, Op, Rational, SortId, TermId, TermStore};

/// Limits of the domains.
struct Limits {
    /// Variables of a pack of octagons or congruences. A component of a clause has at most four
    /// times as many; an octagon with more than twice as many is cut off.
    max_pack_variables: usize,
    /// Bit-vectors of a pack of equations. A component of a clause has at most four times as many.
    max_pack_bitvecs: usize,
    /// Dimensions of a polyhedron that is joined exactly; the join of larger ones is weaker.
    max_exact_dimensions: usize,
    /// Nodes of an element of boxes; a larger one is replaced by the box around it.
    max_diagram_nodes: usize,
}

const LIMITS: Limits = Limits {
    max_pack_variables: 20,
    max_pack_bitvecs: 60,
    max_exact_dimensions: 8,
    max_diagram_nodes: 20_000,
};
/// Dimensions of one polyhedron, at most.
pub const DIMENSIONS: usize = 16;
/// Bounds of octagons over reals are multiples of one divided by this number.
const UNIT: u32 = 1 << 16;

/// The parameters in which the two users differ.
#[derive(Clone, Copy, Debug)]
pub struct Parameters {
    /// Numerals of the system to which widening goes first, at most.
    pub numerals: usize,
    /// Variables of a lattice of congruences, at most.
    pub lattice: usize,
    /// Cases of one predicate, at most.
    pub cases: usize,
}

impl Parameters {
    /// For an engine: a domain has seconds, and imprecision causes refinements.
    pub const ENGINE: Parameters = Parameters {
        numerals: 400,
        lattice: 60,
        cases: 64,
    };

    /// For a pass: an analysis has a tenth of a second, and is useless if it does not end.
    pub const PASS: Parameters = Parameters {
        numerals: 50,
        lattice: 30,
        cases: 12,
    };
}

/// Sets of formal variables that have a common element.
type PackList = Vec<Vec<TermId>>;

/// The domains for a system.
pub struct Catalogue<'a> {
    system: &'a System,
    terms: Rc<TermStore>,
    parameters: Parameters,
    numerals: Vec<Rational>,
    /// When it is spent, domains need not be precise.
    budget: Budget,
    /// Packs by the number of their variables, and whether these are bit-vectors.
    packs: RefCell<FxHashMap<(usize, bool), PackList>>,
}

impl<'a> Catalogue<'a> {
    /// The domains for a system. When the budget is spent, relational domains become fast and
    /// imprecise, so that the analysis ends soon.
    pub fn new(system: &'a System, parameters: Parameters, budget: Budget) -> Self {
        Catalogue {
            system,
            terms: system.terms.clone(),
            parameters,
            numerals: numerals(system, parameters.numerals),
            budget,
            packs: RefCell::default(),
        }
    }

    /// Sets the budget of the domains that are made later.
    pub fn set_budget(&mut self, budget: Budget) {
        self.budget = budget;
    }

    /// Unions of boxes.
    pub fn boxes(&self) -> Boxes {
        Boxes::new(
            self.terms.clone(),
            self.numerals.clone(),
            LIMITS.max_diagram_nodes,
        )
    }

    /// Nothing: all states, or none.
    pub fn none(&self) -> Nothing {
        Nothing::new(self.terms.clone())
    }

    /// Values of variables that are not numbers.
    pub fn constants(&self) -> Constants {
        Constants::new(self.terms.clone())
    }

    /// Bits and bounds of bit-vectors.
    pub fn bits(&self) -> Bits {
        Bits::new(self.terms.clone(), word_bounds())
    }

    /// Bounds of numbers.
    pub fn bounds(&self) -> Intervals {
        Intervals::new(self.terms.clone(), self.thresholds())
    }

    /// Affine equations and congruences.
    pub fn congruences(&self) -> Congruences {
        Congruences::new(self.terms.clone(), self.parameters.lattice)
    }

    /// Affine equations and congruences over packs.
    pub fn packed_congruences(&self) -> Packs<Congruences> {
        self.packed(self.congruences(), LIMITS.max_pack_variables)
    }

    /// Equations of bit-vectors over packs.
    pub fn modular(&self) -> Packs<Modular> {
        let modular = Modular::new(self.terms.clone(), 4 * LIMITS.max_pack_bitvecs);
        self.packs_of(modular, LIMITS.max_pack_bitvecs, true)
            .of_bitvecs()
    }

    /// Octagons over packs.
    pub fn octagons(&self) -> Packs<Octagons> {
        let unit = if self.has_reals() { UNIT } else { 1 };
        let octagons = Octagons::new(
            self.terms.clone(),
            2 * LIMITS.max_pack_variables,
            unit,
            &self.thresholds(),
        );
        self.packed(octagons, LIMITS.max_pack_variables)
    }

    /// Convex polyhedra.
    pub fn polyhedra(&self) -> Polyhedra {
        self.polyhedra_of(DIMENSIONS)
    }

    /// Convex polyhedra over packs of at most `dimensions` variables.
    pub fn packed_polyhedra(&self, dimensions: usize) -> Packs<Polyhedra> {
        self.packed(self.polyhedra_of(dimensions), dimensions)
    }

    /// A relational domain combined with bounds, which are computed first and show it which
    /// variables have a single value.
    pub fn with_bounds<D: Domain>(&self, relational: D) -> Product<Intervals, D> {
        Product::early(self.bounds(), relational)
    }

    /// The domains for each valuation of the finite variables that `finite` supports.
    pub fn by_cases<F: Domain, D: Domain>(&self, finite: F, numeric: D) -> Cases<Product<F, D>> {
        let domain = Product::new(finite, numeric);
        Cases::new(domain, self.terms.clone(), self.parameters.cases)
    }

    fn polyhedra_of(&self, dimensions: usize) -> Polyhedra {
        let polyhedra = Polyhedra::new(self.terms.clone(), dimensions, LIMITS.max_exact_dimensions);
        polyhedra.within(self.budget.clone())
    }

    fn packed<D: Domain>(&self, domain: D, size: usize) -> Packs<D> {
        self.packs_of(domain, size, false)
    }

    fn packs_of<D: Domain>(&self, domain: D, size: usize, bitvecs: bool) -> Packs<D> {
        let mut known = self.packs.borrow_mut();
        let own = known
            .entry((size, bitvecs))
            .or_insert_with(|| packs(self.system, size, bitvecs));
        let packed = Packs::new(domain, self.terms.clone(), own.clone(), 4 * size);
        packed.within(self.budget.clone())
    }

    /// The numerals with their neighbours, which are the bounds of strict comparisons and excluded
    /// values, and their negations.
    fn thresholds(&self) -> Vec<Rational> {
        let one = Rational::one();
        let around = |n: &Rational| [n - &one, n.clone(), n + &one, -n];
        self.numerals.iter().flat_map(around).collect()
    }

    /// Whether predicates have arguments that are numbers.
    pub fn has_numbers(&self) -> bool {
        let terms = &self.terms;
        self.system
            .has_argument(|var| [SortId::INT, SortId::REAL].contains(&terms.sort_of(var)))
    }

    fn has_reals(&self) -> bool {
        let terms = &self.terms;
        (self.system).has_argument(|var| terms.sort_of(var) == SortId::REAL)
    }
}

/// The bounds to which bit-vectors are widened: those of shorter bit-vectors, unsigned and signed.
pub fn word_bounds() -> Vec<BigInt> {
    let power = |n: u32| BigInt::one() << n;
    let ends = [1, 2, 4, 7, 8, 15, 16, 31, 32, 63, 64];
    let sides = ends.into_iter().flat_map(|n| [power(n) - 1, -power(n)]);
    sides.chain([BigInt::from(0)]).collect()
}

/// The first numerals of the clauses.
fn numerals(system: &System, most: usize) -> Vec<Rational> {
    let terms = &system.terms;
    let constraints: Vec<TermId> = system.clauses.iter().map(|c| c.constraint).collect();
    let mut numbers = Vec::new();
    terms.post_order(&constraints, |t| {
        if numbers.len() < most
            && matches!(terms.op(t), Op::Int(_) | Op::Real(_))
            && let Some(value) = terms.numeral(t)
        {
            numbers.push(value);
        }
    });
    numbers
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{Limits, analyse};
    use alphorn_chc::{Atom, PredicateId};
    use alphorn_smt::{SatResult, Smt};
    use alphorn_term::run::Context;

    /// `x = 0; while x < 9, x += 3`, and its predicate.
    fn system() -> (System, PredicateId) {
        let terms = Rc::new(TermStore::new());
        let mut system = System::new(terms.clone());
        let predicate = system.add_predicate("P", &[SortId::INT]);
        let [x, y] = ["x", "y"].map(|name| terms.var(name, SortId::INT));
        let at = |var: TermId| Atom {
            predicate,
            args: vec![var],
        };
        system.add_clause(vec![], terms.eq(x, terms.int(0)), Some(at(x)));
        let next = terms.eq(y, terms.add(&[x, terms.int(3)]));
        let step = terms.and(&[terms.lt(x, terms.int(9)), next]);
        system.add_clause(vec![at(x)], step, Some(at(y)));
        (system, predicate)
    }

    /// Whether the element that the domain finds contains the reached values and no negative ones.
    fn knows(domains: &Catalogue, predicate: PredicateId, domain: &impl Domain) -> bool {
        let (system, terms) = (domains.system, &domains.terms);
        let limits = Limits {
            time: Duration::from_secs(60),
            ..Limits::default()
        };
        let found = analyse(domain, system, limits, &Context::new(terms.clone()));
        let smt = Smt::new(terms.clone());
        let mut solver = smt.solver();
        let value = &found.values[predicate.index()];
        solver.assert(terms.and(&domain.formula(value)));
        let param = system.predicate(predicate).params[0];
        let mut reached = [0, 3, 6, 9].into_iter();
        found.complete
            && reached.all(|n| solver.check(&[terms.eq(param, terms.int(n))]) == SatResult::Sat)
            && solver.check(&[terms.lt(param, terms.int(0))]) == SatResult::Unsat
    }

    #[test]
    fn every_stack_knows_a_counter() {
        for parameters in [Parameters::ENGINE, Parameters::PASS] {
            let (system, predicate) = system();
            let budget = Context::new(system.terms.clone()).budget;
            let domains = Catalogue::new(&system, parameters, budget);
            let congruences = domains.with_bounds(domains.congruences());
            let packed_congruences = domains.with_bounds(domains.packed_congruences());
            assert!(knows(&domains, predicate, &domains.boxes()));
            assert!(knows(&domains, predicate, &domains.bounds()));
            assert!(knows(&domains, predicate, &congruences));
            assert!(knows(&domains, predicate, &packed_congruences));
            assert!(knows(&domains, predicate, &domains.octagons()));
            assert!(knows(&domains, predicate, &domains.polyhedra()));
            assert!(knows(&domains, predicate, &domains.packed_polyhedra(6)));
            let cases = domains.by_cases(domains.constants(), domains.bounds());
            assert!(knows(&domains, predicate, &cases));
        }
    }

    #[test]
    fn numerals_are_limited_and_have_neighbours() {
        let (system, _) = system();
        let budget = Context::new(system.terms.clone()).budget;
        let parameters = Parameters {
            numerals: 1,
            ..Parameters::ENGINE
        };
        let domains = Catalogue::new(&system, parameters, budget);
        let [numeral] = &domains.numerals[..] else {
            panic!("{:?}", domains.numerals);
        };
        let one = Rational::one();
        let expected = [numeral - &one, numeral.clone(), numeral + &one, -numeral];
        assert_eq!(domains.thresholds(), expected);
    }
}
