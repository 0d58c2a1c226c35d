//! Facts about addresses of heaps: which arguments are null or valid, conjoined for every engine.
//!
//! After other passes a heap is a size and an array of objects. Addresses begin as null or as the
//! address of a new cell, and are read from the fields of cells; sizes never fall. So `0 <= p <= n`
//! for an address p and a size n is inductive only together with the same about all cells: for every
//! index k, if the object at k has this constructor, then its field is at least 0 and at most n.
//! Candidates of both kinds are tried together (Houdini; Flanagan and Leino, FME 2001). A fact about
//! all cells has the variable k free. At a body atom it is used for those k at which the clause
//! accesses an array and for the k of the conclusion, so all queries are without quantifiers.
//!
//! Only facts about arguments are conjoined to the clauses; models have both, those about cells
//! quantified over k.
//!
//! Invariant: what is conjoined was proven to be inductive by the solver; which numbers are addresses
//! is a guess.

use std::rc::Rc;
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};

use super::candidates::within_part;
use super::classes::{Classes, bases};
use super::replacement::Replacement;
use super::{Step, Transformation};
use alphorn_chc::{Atom, Clause, PredicateId, System};
use alphorn_proof::facts::{Checker, Facts};
use alphorn_proof::houdini::{Step as Derives, largest_inductive_subset, possible_violations};
use alphorn_smt::{Smt, Solver};
use alphorn_term::run::{Context, Reason};
use alphorn_term::{DatatypeId, Op, Sort, SortId, TermId, TermStore};

/// The limits of the pass.
struct Limits {
    /// Time for the search, at most the run's limit divided by `part_of_run`.
    search_time: Duration,
    part_of_run: u32,
    /// Work of one query.
    query_work: Duration,
    /// Sizes of a predicate that are upper bounds.
    max_sizes: usize,
    /// Fields of objects within fields.
    max_depth: usize,
    /// Accesses of arrays in a clause at which facts about cells are used.
    max_accesses: usize,
}

const LIMITS: Limits = Limits {
    search_time: Duration::from_millis(500),
    part_of_run: 20,
    query_work: Duration::from_millis(10),
    max_sizes: 3,
    max_depth: 3,
    max_accesses: 12,
};

/// The pass. It runs once: what it conjoined stays in the clauses.
#[derive(Default)]
pub struct Addresses {
    has_run: bool,
}

impl Transformation for Addresses {
    fn apply(&mut self, old: &Rc<System>, cx: &mut Context) -> Option<Step> {
        let used = old.used_predicates();
        let has_heap = |&p: &PredicateId| {
            let mut params = old.predicate(p).params.iter();
            params.any(|&param| is_heap(&old.terms, param))
        };
        if self.has_run || !used.iter().any(has_heap) {
            return None;
        }
        self.has_run = true;
        let time = within_part(LIMITS.search_time, LIMITS.part_of_run, cx);
        cx.within(cx.budget.time(time), |cx| {
            let facts = Search::new(old, cx).proven(cx).ok()?;
            conjoined(old, facts, cx)
        })
    }
}

/// Whether a variable is an array of objects with integers as indexes.
fn is_heap(terms: &TermStore, variable: TermId) -> bool {
    terms.array_sorts(variable).is_some_and(|(index, element)| {
        index == SortId::INT && matches!(terms.sort(element), Sort::Datatype(_))
    })
}

/// A bound of an integer of a predicate.
struct Candidate {
    about: PredicateId,
    /// Over the formal variables and, about all cells, the index.
    formula: TermId,
    of_cells: bool,
}

/// A clause with a head, in a solver.
struct Rule<'a> {
    clause: &'a Clause,
    head: &'a Atom,
    /// The indexes at which facts about cells are used.
    accesses: Vec<TermId>,
    solver: Option<Solver>,
    /// By candidate, the literal of its premise.
    premises: FxHashMap<usize, TermId>,
}

/// What is proven.
#[derive(Default)]
struct Proven {
    /// About arguments.
    arguments: Facts,
    /// About arguments and, quantified, about all cells: inductive together.
    all: Facts,
}

/// The search for facts that are inductive together.
struct Search<'a> {
    system: &'a System,
    terms: Rc<TermStore>,
    smt: Rc<Smt>,
    /// The index of a cell in facts about all cells.
    index: TermId,
    candidates: Vec<Candidate>,
    rules: Vec<Rule<'a>>,
}

impl<'a> Search<'a> {
    fn new(system: &'a System, cx: &mut Context) -> Self {
        let terms = system.terms.clone();
        let index = terms.fresh_var("k", SortId::INT);
        let with_heads = |clause: &'a Clause| {
            Some(Rule {
                clause,
                head: clause.head.as_ref()?,
                accesses: accesses(&terms, clause, index),
                solver: None,
                premises: FxHashMap::default(),
            })
        };
        let mut search = Search {
            system,
            smt: Smt::within(&cx.budget),
            index,
            candidates: Vec::new(),
            rules: system.clauses.iter().filter_map(with_heads).collect(),
            terms,
        };
        let roles = Roles::new(system);
        for predicate in system.used_predicates() {
            search.add_candidates(predicate, &roles);
        }
        let count = search.candidates.len() as u64;
        cx.stats.add("transform.addresses.candidates", count);
        search
    }

    /// Bounds of a predicate's addresses, and of those in objects and in all cells, by 0 and by sizes.
    fn add_candidates(&mut self, predicate: PredicateId, roles: &Roles) {
        let terms = self.terms.clone();
        let params = &self.system.predicate(predicate).params;
        let of = |role: &FxHashSet<TermId>| -> Vec<TermId> {
            params
                .iter()
                .copied()
                .filter(|p| role.contains(p))
                .collect()
        };
        let mut sizes = of(&roles.sizes);
        sizes.truncate(LIMITS.max_sizes);
        // Each with the condition under which it is there.
        let addresses = of(&roles.addresses).into_iter();
        let mut bounded: Vec<(TermId, TermId, bool)> =
            addresses.map(|a| (TermId::TRUE, a, false)).collect();
        for &param in params {
            let (object, of_cells) = match is_heap(&terms, param) {
                true => (terms.select(param, self.index), true),
                false => (param, false),
            };
            let found = integers_within(
                &terms,
                &roles.fields,
                object,
                TermId::TRUE,
                LIMITS.max_depth,
            );
            bounded.extend(found.into_iter().map(|(when, n)| (when, n, of_cells)));
        }
        for (when, number, of_cells) in bounded {
            let others = sizes.iter().filter(|&&size| size != number);
            let highs = others.map(|&size| terms.le(number, size));
            for bound in std::iter::once(terms.ge(number, terms.int(0))).chain(highs) {
                self.candidates.push(Candidate {
                    about: predicate,
                    formula: terms.or(&[terms.not(when), bound]),
                    of_cells,
                });
            }
        }
    }

    /// The facts that are proven.
    ///
    /// # Errors
    /// The reason why the budget ended.
    fn proven(mut self, cx: &mut Context) -> Result<Proven, Reason> {
        let _limit = self.smt.limit_queries(Some(LIMITS.query_work));
        let kept = self.inductive(cx)?;
        let mut proven = Proven::default();
        for at in kept {
            let Candidate {
                about,
                formula,
                of_cells,
            } = self.candidates[at];
            if of_cells {
                let formula = self.terms.forall(&[self.index], formula);
                proven.all.entry(about).or_default().push(formula);
            } else {
                proven.all.entry(about).or_default().push(formula);
                proven.arguments.entry(about).or_default().push(formula);
            }
        }
        Ok(proven)
    }

    /// The candidates that are inductive together.
    fn inductive(&mut self, cx: &Context) -> Result<Vec<usize>, Reason> {
        let steps = self.rules.iter().map(|rule| {
            let body = rule.clause.body.iter();
            Derives {
                from: body.map(|atom| atom.predicate.index()).collect(),
                to: rule.head.predicate.index(),
            }
        });
        let steps: Vec<Derives> = steps.collect();
        let about = self.candidates.iter().map(|c| c.about.index());
        let about: Vec<usize> = about.collect();
        largest_inductive_subset(&steps, &about, |rule, premises, conclusions| {
            let lost = self.lost(rule, premises, conclusions, cx)?;
            Ok(lost.into_iter().map(|at| conclusions[at]).collect())
        })
    }

    /// Positions of the conclusions that a rule does not preserve if the premises hold.
    fn lost(
        &mut self,
        rule: usize,
        premises: &[usize],
        conclusions: &[usize],
        cx: &Context,
    ) -> Result<Vec<usize>, Reason> {
        let map = arguments(self.system, self.rules[rule].head);
        let violations = conclusions.iter().map(|&c| {
            let formula = self.terms.substitute(self.candidates[c].formula, &map);
            self.terms.not(formula)
        });
        let violations: Vec<TermId> = violations.collect();
        let premises = premises.iter().map(|&premise| self.premise(rule, premise));
        let premises: Vec<TermId> = premises.collect();
        let solver = self.solver(rule);
        possible_violations(solver, &premises, &violations, &cx.budget)
    }

    fn solver(&mut self, rule: usize) -> &mut Solver {
        let Rule { clause, solver, .. } = &mut self.rules[rule];
        solver.get_or_insert_with(|| {
            let mut solver = self.smt.solver();
            solver.assert(clause.constraint);
            solver
        })
    }

    /// A literal that implies in the rule's solver that the candidate holds of all body atoms.
    fn premise(&mut self, rule: usize, candidate: usize) -> TermId {
        if let Some(&literal) = self.rules[rule].premises.get(&candidate) {
            return literal;
        }
        let Candidate {
            about,
            formula,
            of_cells,
        } = self.candidates[candidate];
        let Rule {
            clause, accesses, ..
        } = &self.rules[rule];
        let mut instances = Vec::new();
        for atom in clause.body.iter().filter(|atom| atom.predicate == about) {
            let mut map = arguments(self.system, atom);
            for &access in &accesses[..if of_cells { accesses.len() } else { 1 }] {
                map.insert(self.index, access);
                instances.push(self.terms.substitute(formula, &map));
            }
        }
        let literal = self.terms.fresh_var("premise", SortId::BOOL);
        let holds = self.terms.and(&instances);
        let defined = self.terms.or(&[self.terms.not(literal), holds]);
        self.solver(rule).assert(defined);
        self.rules[rule].premises.insert(candidate, literal);
        literal
    }
}

/// The arguments of an atom by formal variables.
fn arguments(system: &System, atom: &Atom) -> FxHashMap<TermId, TermId> {
    let params = &system.predicate(atom.predicate).params;
    params
        .iter()
        .copied()
        .zip(atom.args.iter().copied())
        .collect()
}

/// A field of a constructor.
type FieldOf = (DatatypeId, u32, u32);

/// What formal variables and fields may be.
struct Roles {
    /// Variables that are compared, directly or not, with indexes of heaps.
    addresses: FxHashSet<TermId>,
    /// Fields of objects with such values.
    fields: FxHashSet<FieldOf>,
    /// Variables that are the upper bound of an index where a heap is accessed.
    sizes: FxHashSet<TermId>,
}

impl Roles {
    fn new(system: &System) -> Roles {
        let terms = &*system.terms;
        let mut classes = Classes::default();
        classes.union_arguments(system);
        let mut fields = Fields::default();
        let mut indexes: Vec<TermId> = Vec::new();
        let mut sizes: FxHashSet<TermId> = FxHashSet::default();
        for clause in &system.clauses {
            let mut accessed_here: FxHashSet<TermId> = FxHashSet::default();
            let mut bounds: Vec<(TermId, TermId)> = Vec::new();
            terms.post_order(&[clause.constraint], |t| {
                classes.compare(terms, t);
                fields.compare(terms, t, &mut classes);
                accessed_here.extend(accessed(terms, t));
                match (terms.op(t), terms.args(t)) {
                    (Op::Le, &[low, high]) | (Op::Ge, &[high, low]) => bounds.push((low, high)),
                    _ => {}
                }
            });
            bounds.retain(|(low, _)| accessed_here.contains(low));
            let highs: FxHashSet<TermId> = bounds.into_iter().map(|(_, high)| high).collect();
            for atom in clause.atoms() {
                let params = &system.predicate(atom.predicate).params;
                let pairs = params.iter().zip(&atom.args);
                sizes.extend(
                    pairs
                        .filter(|(_, arg)| highs.contains(arg))
                        .map(|(&p, _)| p),
                );
            }
            for index in accessed_here {
                indexes.extend(bases(terms, index));
                indexes.extend(fields.of(terms, index));
            }
        }
        let indexes: FxHashSet<TermId> = indexes.iter().map(|&i| classes.find(i)).collect();
        let used = system.used_predicates().into_iter();
        let params = used.flat_map(|p| system.predicate(p).params.iter().copied());
        let params = params.filter(|&param| terms.sort_of(param) == SortId::INT);
        let addresses = params.filter(|&param| indexes.contains(&classes.find(param)));
        let addresses = addresses.collect();
        let known = fields.variables.into_iter();
        let fields = known.filter(|&(_, variable)| indexes.contains(&classes.find(variable)));
        Roles {
            addresses,
            fields: fields.map(|(field, _)| field).collect(),
            sizes,
        }
    }
}

/// Variables that stand for integer fields in classes.
#[derive(Default)]
struct Fields {
    variables: FxHashMap<FieldOf, TermId>,
}

impl Fields {
    fn variable(&mut self, terms: &TermStore, field: FieldOf) -> TermId {
        let known = self.variables.entry(field);
        *known.or_insert_with(|| terms.fresh_var("field", SortId::INT))
    }

    /// The variable of the field that an integer is, if it is one.
    fn of(&mut self, terms: &TermStore, term: TermId) -> Option<TermId> {
        match *terms.op(term) {
            Op::Field(d, c, f) if terms.sort_of(term) == SortId::INT => {
                Some(self.variable(terms, (d, c, f)))
            }
            _ => None,
        }
    }

    /// If a term compares a field with an integer, or makes an object, they are of one class.
    fn compare(&mut self, terms: &TermStore, term: TermId, classes: &mut Classes) {
        let args = terms.args(term);
        match *terms.op(term) {
            Op::Eq | Op::Le | Op::Ge => {
                for (one, other) in [(args[0], args[1]), (args[1], args[0])] {
                    let Some(field) = self.of(terms, one) else {
                        continue;
                    };
                    let others = bases(terms, other).into_iter().chain(self.of(terms, other));
                    others.for_each(|other| classes.union(field, other));
                }
            }
            Op::Construct(d, c) => {
                for (f, &arg) in args.iter().enumerate() {
                    if terms.sort_of(arg) != SortId::INT {
                        continue;
                    }
                    let field = self.variable(terms, (d, c, f as u32));
                    let values = bases(terms, arg).into_iter().chain(self.of(terms, arg));
                    values.for_each(|value| classes.union(field, value));
                }
            }
            _ => {}
        }
    }
}

/// The index at which a term reads or writes a heap.
fn accessed(terms: &TermStore, term: TermId) -> Option<TermId> {
    match (terms.op(term), terms.args(term)) {
        (Op::Select | Op::Store, &[array, index, ..]) if is_heap(terms, array) => Some(index),
        _ => None,
    }
}

/// The indexes at which a clause reads or writes heaps, and the index of the conclusion.
fn accesses(terms: &TermStore, clause: &Clause, index: TermId) -> Vec<TermId> {
    let mut found = vec![index];
    terms.post_order(&[clause.constraint], |t| {
        if let Some(index) = accessed(terms, t)
            && !found.contains(&index)
        {
            found.push(index);
        }
    });
    found.truncate(LIMITS.max_accesses);
    found
}

/// The integers within a value that are such fields, fields of fields included, each with the
/// condition under which it is there.
fn integers_within(
    terms: &TermStore,
    fields: &FxHashSet<FieldOf>,
    value: TermId,
    when: TermId,
    depth: usize,
) -> Vec<(TermId, TermId)> {
    let Sort::Datatype(id) = terms.sort(terms.sort_of(value)) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (c, constructor) in terms.datatype(id).constructors.iter().enumerate() {
        let here = terms.and(&[when, terms.is(id, c as u32, value)]);
        for f in 0..constructor.fields.len() {
            let content = terms.field(id, c as u32, f as u32, value);
            if fields.contains(&(id, c as u32, f as u32)) {
                found.push((here, content));
            } else if depth > 1 {
                found.extend(integers_within(terms, fields, content, here, depth - 1));
            }
        }
    }
    found
}

/// The system with the facts about arguments conjoined to its clauses; `None` if the clauses imply
/// them.
fn conjoined(old: &Rc<System>, facts: Proven, cx: &mut Context) -> Option<Step> {
    let mut checker = Checker::new(old, cx);
    checker.accept(facts.arguments);
    checker.shorten(cx);
    let mut system = (**old).clone();
    if !checker.conjoin(&mut system, cx) {
        return None;
    }
    let mut replacement = Replacement::new(old);
    for (predicate, facts) in facts.all {
        cx.stats
            .add("transform.addresses.facts", facts.len() as u64);
        replacement.strengthen(predicate, old.terms.and(&facts));
    }
    Some(replacement.step(system))
}
