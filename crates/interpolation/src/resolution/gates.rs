//! Atoms over bit-vectors as gates, and gates as clauses of a part.
//!
//! All parts share one graph of gates, and a gate is in each part that uses it, so interpolants may
//! contain atoms, bits, and gates between them. An input is a Boolean variable, or the formula that
//! a bit of a bit-vector is set. Definitions of gates are valid, whatever part they are in.
//!
//! Invariant: a gate's variable stands for one formula over the variables of the parts, and belongs
//! to each part that has one of the gates that use it.

use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Open;
use super::skeleton::{Meaning, Skeleton};
use alphorn_bits::sat::Lit;
use alphorn_bits::{Bit, BitVectors, Blaster, Gate, Gates, NotBits, definition};
use alphorn_term::run::Budget;
use alphorn_term::{Op, SortId, TermId, TermStore};

/// The gates of all parts.
pub(super) struct Graph {
    gates: Gates,
    bitvecs: BitVectors,
    budget: Budget,
    /// By gate, its literal and the formula for it.
    known: FxHashMap<usize, (Lit, TermId)>,
    /// Gates with definitions.
    defined: FxHashSet<usize>,
    /// Gates of the current part.
    pub used: FxHashSet<usize>,
}

impl Graph {
    pub fn new(terms: &Rc<TermStore>, budget: Option<&Budget>) -> Graph {
        let unlimited = || Budget::new(terms.clone(), Arc::default(), false);
        Graph {
            gates: Gates::default(),
            bitvecs: BitVectors::default(),
            budget: budget.cloned().unwrap_or_else(unlimited),
            known: FxHashMap::default(),
            defined: FxHashSet::default(),
            used: FxHashSet::default(),
        }
    }
}

impl Skeleton<'_> {
    /// The literal of an atom over bit-vectors.
    pub(super) fn of_bitvecs(&mut self, part: usize, atom: TermId) -> Result<Lit, Open> {
        let terms = self.terms;
        for variable in terms.free_vars(&[atom]) {
            if self.graph.bitvecs.contains_key(&variable) {
                continue;
            }
            let width = Blaster::width(terms, variable).map_err(refused)?;
            let bitvec: Vec<Bit> = (0..width).map(|_| self.graph.gates.input()).collect();
            for (at, bit) in bitvec.iter().enumerate() {
                let formula = match terms.sort_of(variable) {
                    SortId::BOOL => variable,
                    _ => bit_of(terms, variable, at as u32),
                };
                let literal = self.boolean(formula);
                self.variables[literal.variable() as usize].is_inner = formula != variable;
                self.graph.known.insert(bit.gate(), (literal, formula));
            }
            self.graph.bitvecs.insert(variable, bitvec.into());
        }
        let bitvecs = std::mem::take(&mut self.graph.bitvecs);
        let Graph { gates, budget, .. } = &mut self.graph;
        let mut blaster = Blaster::with(terms, gates, budget, bitvecs);
        let bit = blaster.bit(atom);
        self.graph.bitvecs = blaster.into_bit_vectors();
        let bit = bit.map_err(refused)?;
        // A literal keeps its first name.
        let named = |formula| {
            if bit.is_negated() {
                terms.not(formula)
            } else {
                formula
            }
        };
        if bit.constant().is_none() && !self.graph.known.contains_key(&bit.gate()) {
            let literal = self.meaning(named(atom));
            self.graph.known.insert(bit.gate(), (literal, named(atom)));
        }
        Ok(self.gate(part, bit))
    }

    /// The literal of a bit, whose gates become gates of the part.
    fn gate(&mut self, part: usize, root: Bit) -> Lit {
        let mut stack = vec![(root.gate(), false)];
        while let Some((number, arguments)) = stack.pop() {
            let gate = self.graph.gates.gate(number);
            if !arguments {
                if self.graph.used.insert(number) {
                    stack.push((number, true));
                    stack.extend(gate.arguments().map(|bit| (bit.gate(), false)));
                }
                continue;
            }
            let literal = match self.graph.known.get(&number) {
                Some(known) => known.0,
                None => {
                    let formula = self.formula(gate);
                    let literal = self.meaning(formula);
                    self.variables[literal.variable() as usize].is_inner = true;
                    self.graph.known.insert(number, (literal, formula));
                    literal
                }
            };
            let of = |bit: Bit| self.graph.known[&bit.gate()].0.xor(bit.is_negated());
            let mut clauses: Vec<Vec<Lit>> = Vec::new();
            match gate {
                Gate::False => clauses.push(vec![!literal]),
                _ => definition(gate, literal, of, |clause| clauses.push(clause.to_vec())),
            }
            let is_new = self.graph.defined.insert(number);
            for clause in clauses {
                self.definition(part, &clause, is_new);
            }
        }
        self.graph.known[&root.gate()].0.xor(root.is_negated())
    }

    fn meaning(&mut self, formula: TermId) -> Lit {
        Lit::new(self.variable(Meaning::Boolean(formula)), false)
    }

    /// The formula for a gate whose arguments have formulas.
    fn formula(&self, gate: Gate) -> TermId {
        let terms = self.terms;
        let of = |bit: Bit| match (self.graph.known[&bit.gate()].1, bit.is_negated()) {
            (formula, true) => terms.not(formula),
            (formula, false) => formula,
        };
        match gate {
            Gate::False | Gate::Input => TermId::FALSE,
            Gate::And(a, b) => terms.and(&[of(a), of(b)]),
            Gate::Xor(a, b) => terms.not(terms.eq(of(a), of(b))),
            Gate::Mux(c, a, b) => terms.ite(of(c), of(a), of(b)),
        }
    }
}

/// The formula that a bit of a bit-vector is set.
fn bit_of(terms: &TermStore, bitvec: TermId, at: u32) -> TermId {
    let bit = terms.bv_op(&Op::BvExtract(at, at), &[bitvec]);
    terms.eq(bit, terms.bitvec(1u32.into(), 1))
}

fn refused(why: NotBits) -> Open {
    match why {
        NotBits::Operator => Open::Unsupported(why.to_string()),
        NotBits::TooMany | NotBits::Stopped => Open::Limit,
    }
}
