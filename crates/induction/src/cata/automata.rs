//! Finite codes: a tree automaton, and for each predicate a relation of states, found by one query.
//!
//! A state is a vector of Booleans. The encoder's cases are tables of variables, one table for each
//! bit of the state that a constructor has for given states of its fields, and the system of codes
//! is made with them. Each clause is instantiated with all states of its variables; predicates are
//! tables, too. Only variables of tables are left: a solution is an automaton with a model. RInGen
//! (PLDI 2021) leaves this to a finder of finite models; here Boolean fields and arguments are part
//! of states, and atoms of other theories are unconstrained Booleans.
//!
//! Invariant: the result is a model of the system of codes even if its atoms over numbers have any
//! value.

use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use alphorn_chc::{Atom, Clause, PredicateId, System};
use alphorn_proof::folds::{Abstraction, Declared, Encoder};
use alphorn_proof::functions::solve_equations;
use alphorn_smt::{SatResult, Smt};
use alphorn_term::run::Context;
use alphorn_term::{DatatypeId, Op, SortId, TermId, TermStore};
use alphorn_witness::Model;

/// An automaton with this number of bits for the state of each datatype: an encoder, its system of
/// codes, and a model of that. `None` if there is none or it is not found within the limits.
pub(super) fn automaton(
    system: &System,
    bits: usize,
    cx: &mut Context,
) -> Option<(Encoder, Abstraction, Model)> {
    let terms = &*system.terms;
    let mut tables = Tables::default();
    let mut encoder = open_encoder(system, bits, &mut tables)?;
    let abstraction = Abstraction::new(system, &encoder, cx)?;
    let mut instances = 0;
    let smt = Smt::within(&cx.budget);
    let mut solver = smt.solver();
    for clause in &abstraction.system.clauses {
        let Some(open) = OpenClause::new(terms, clause, &tables)? else {
            continue;
        };
        instances += 1usize << open.leaves.len();
        if instances > LIMITS.instances {
            return None;
        }
        for number in 0..1usize << open.leaves.len() {
            if number % 64 == 0 && cx.stop().is_some() {
                return None;
            }
            let instance = open.instance(terms, number, &mut tables)?;
            if instance == TermId::FALSE {
                return None;
            }
            solver.assert(instance);
        }
    }
    log::debug!("cata: automata of {bits} bits, {instances} instances");
    if solver.check(&[]) != SatResult::Sat {
        return None;
    }
    let found = solver.model()?;
    let vars = tables.vars();
    let values = found.assignment(&vars).ok()?;
    encoder.map_cases(|case| terms.substitute(case, &values));
    let mut model = Model::default();
    for predicate in abstraction.system.used_predicates() {
        let params = &abstraction.system.predicate(predicate).params;
        let formula = tables.lookup(terms, predicate, &states(terms, params))?;
        let formula = terms.substitute(formula, &values);
        model.definitions.insert(predicate, formula);
    }
    // The encoder's tables have values now, so the system of codes is made again.
    let made = Abstraction::new(system, &encoder, cx)?;
    let of_new = made.system.used_predicates().into_iter();
    let renamed = of_new.map(|p| {
        let formula = model.definitions.get(&p).copied().unwrap_or(TermId::TRUE);
        let old = abstraction.system.predicate(p).params.iter().copied();
        let map = old
            .zip(made.system.predicate(p).params.iter().copied())
            .collect();
        (p, terms.substitute(formula, &map))
    });
    model.definitions = renamed.collect();
    Some((encoder, made, model))
}

/// The Boolean arguments.
fn states(terms: &TermStore, args: &[TermId]) -> Vec<TermId> {
    let is_state = |a: &&TermId| terms.sort_of(**a) == SortId::BOOL;
    args.iter().filter(is_state).copied().collect()
}

/// An encoder whose cases are tables of variables.
fn open_encoder(system: &System, bits: usize, tables: &mut Tables) -> Option<Encoder> {
    let terms = &system.terms;
    let mut declared: FxHashMap<DatatypeId, Vec<Declared>> = FxHashMap::default();
    for id in terms.datatype_ids() {
        let name = &terms.datatype(id).name;
        let bit = |bit| (format!("state{bit}!{name}"), SortId::BOOL);
        declared.insert(id, (0..bits).map(bit).collect());
    }
    let mut encoder = Encoder::new(terms, &declared);
    for id in terms.datatype_ids() {
        let constructors = &terms.datatype(id).constructors;
        // States may be renamed by flipping a bit of all, so some constant has no bit set.
        let constant = constructors.iter().position(|c| c.fields.is_empty());
        for c in 0..constructors.len() {
            let index = states(terms, &encoder.fields(id, c as u32).concat());
            if index.len() > LIMITS.table_bits {
                return None;
            }
            let mut cases = Vec::new();
            for _ in 0..bits {
                cases.push(match Some(c) == constant {
                    true => TermId::FALSE,
                    false => tables.new_table(terms, &index),
                });
            }
            encoder.define(id, &cases);
        }
    }
    Some(encoder)
}

/// The variables of tables.
#[derive(Default)]
struct Tables {
    /// The variables of automata.
    cells: FxHashSet<TermId>,
    /// The variables of predicates, by the values of the arguments as a number.
    of_predicates: FxHashMap<(PredicateId, usize), TermId>,
}

impl Tables {
    /// All variables.
    fn vars(&self) -> Vec<TermId> {
        let all = self.cells.iter().chain(self.of_predicates.values());
        let mut all: Vec<TermId> = all.copied().collect();
        all.sort_unstable();
        all
    }

    /// A table of new variables, indexed by these Booleans.
    fn new_table(&mut self, terms: &TermStore, index: &[TermId]) -> TermId {
        let mut layer: Vec<TermId> = (0..1usize << index.len())
            .map(|_| {
                let cell = terms.fresh_var("cell", SortId::BOOL);
                self.cells.insert(cell);
                cell
            })
            .collect();
        for &bit in index.iter().rev() {
            layer = halve(terms, bit, &layer);
        }
        layer[0]
    }

    /// The atom as a table lookup; `None` if too many arguments are not values.
    fn lookup(
        &mut self,
        terms: &TermStore,
        predicate: PredicateId,
        args: &[TermId],
    ) -> Option<TermId> {
        let mut open: Vec<TermId> = Vec::new();
        for &arg in args {
            if !terms.is_value(arg) && !open.contains(&arg) {
                open.push(arg);
            }
        }
        if open.len() > LIMITS.table_bits || args.len() >= usize::BITS as usize {
            return None;
        }
        let mut layer: Vec<TermId> = Vec::with_capacity(1 << open.len());
        for number in 0..1usize << open.len() {
            let mut at = 0;
            for arg in args {
                let position = open.iter().position(|o| o == arg);
                let bit = match position {
                    Some(p) => number >> (open.len() - 1 - p) & 1 == 1,
                    None => *arg == TermId::TRUE,
                };
                at = 2 * at + usize::from(bit);
            }
            let cell = self.of_predicates.entry((predicate, at));
            layer.push(*cell.or_insert_with(|| terms.fresh_var("holds", SortId::BOOL)));
        }
        for &bit in open.iter().rev() {
            layer = halve(terms, bit, &layer);
        }
        Some(layer[0])
    }
}

/// Pairs of neighbours as `ite`: the first of a pair if the bit is not set.
fn halve(terms: &TermStore, bit: TermId, layer: &[TermId]) -> Vec<TermId> {
    let choose = |pair: &[TermId]| terms.ite(bit, pair[1], pair[0]);
    layer.chunks(2).map(choose).collect()
}

/// A clause of the system of codes with its equations solved.
struct OpenClause {
    /// Over leaves and cells.
    premise: TermId,
    body: Vec<Atom>,
    head: Option<Atom>,
    /// The Booleans that are instantiated.
    leaves: Vec<TermId>,
}

impl OpenClause {
    /// The inner `None`: the constraint is contradictory. The outer `None`: the clause is too
    /// large.
    fn new(terms: &TermStore, clause: &Clause, tables: &Tables) -> Option<Option<OpenClause>> {
        let constraint = without_numbers(terms, clause.constraint);
        let conjuncts = terms.conjuncts(constraint);
        let Some((solution, rest)) = solve(terms, conjuncts, tables) else {
            return Some(None);
        };
        let mut memo = FxHashMap::default();
        let mut apply = |atom: &Atom| Atom {
            predicate: atom.predicate,
            args: states(terms, &atom.args)
                .into_iter()
                .map(|a| terms.substitute_with(a, &solution, &mut memo))
                .collect(),
        };
        let body: Vec<Atom> = clause.body.iter().map(&mut apply).collect();
        let head = clause.head.as_ref().map(&mut apply);
        let premise = terms.and(&rest);
        let mut roots = vec![premise];
        roots.extend(
            body.iter()
                .chain(&head)
                .flat_map(|a| a.args.iter().copied()),
        );
        let mut leaves = terms.free_vars(&roots);
        leaves.retain(|v| !tables.cells.contains(v));
        (leaves.len() <= LIMITS.clause_bits).then_some(Some(OpenClause {
            premise,
            body,
            head,
            leaves,
        }))
    }

    /// The instance with these values of the leaves, as a formula over tables.
    fn instance(&self, terms: &TermStore, number: usize, tables: &mut Tables) -> Option<TermId> {
        let value = |bit: usize| terms.bool(number >> bit & 1 == 1);
        let map: FxHashMap<TermId, TermId> = self
            .leaves
            .iter()
            .enumerate()
            .map(|(bit, &leaf)| (leaf, value(bit)))
            .collect();
        let premise = terms.substitute(self.premise, &map);
        if premise == TermId::FALSE {
            return Some(TermId::TRUE);
        }
        let mut parts = vec![terms.not(premise)];
        let mut of = |atom: &Atom| {
            let args: Vec<TermId> = atom
                .args
                .iter()
                .map(|&a| terms.substitute(a, &map))
                .collect();
            tables.lookup(terms, atom.predicate, &args)
        };
        for atom in &self.body {
            let holds = of(atom)?;
            parts.push(terms.not(holds));
        }
        if let Some(head) = &self.head {
            parts.push(of(head)?);
        }
        Some(terms.or(&parts))
    }
}

/// Solves equations of Booleans, but not for variables of tables.
fn solve(
    terms: &TermStore,
    conjuncts: Vec<TermId>,
    tables: &Tables,
) -> Option<(FxHashMap<TermId, TermId>, Vec<TermId>)> {
    let (mut solution, mut rest) = solve_equations(terms, conjuncts)?;
    // A solution for a cell becomes a conjunct again.
    let cells: Vec<TermId> = solution
        .keys()
        .copied()
        .filter(|v| tables.cells.contains(v))
        .collect();
    for cell in cells {
        let term = solution.remove(&cell).expect("it is a key");
        rest.push(terms.eq(cell, term));
    }
    Some((solution, rest))
}

/// The formula with atoms of other theories replaced by fresh Booleans.
fn without_numbers(terms: &TermStore, formula: TermId) -> TermId {
    let mut memo = FxHashMap::default();
    terms.rewrite(formula, &mut memo, |t| {
        let node = terms.node(t);
        let is_bool = |a: &TermId| terms.sort_of(*a) == SortId::BOOL;
        if node.sort != SortId::BOOL || terms.is_var(t) || node.args.is_empty() {
            return None;
        }
        let is_connective = matches!(node.op, Op::Not | Op::And | Op::Or | Op::Eq | Op::Ite);
        match is_connective && node.args.iter().all(is_bool) {
            true => None,
            false => Some(terms.fresh_var("atom", SortId::BOOL)),
        }
    })
}
