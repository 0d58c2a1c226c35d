//! The back-translation that most passes share: predicates were replaced by others with other
//! arguments, and clauses by clauses over these.
//!
//! For each old predicate a pass records the cases that it became: a new predicate, the meaning of
//! its arguments over the old arguments, and a guard. In a model, the definition of the old
//! predicate is the disjunction of the cases: the definition of the new predicate with the meanings
//! substituted for its arguments, conjoined with the guard. For each new clause the pass records
//! the old clause, and how the values of the old clause's variables follow from those of the new
//! one. Refutations are replayed with these values.
//!
//! Invariant: a predicate or clause that is not recorded is the same in both systems.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::replay::{OldStep, Premise, replay};
use super::shifted::{Shifted, express_shifted};
use super::{BackTranslation, BackTranslationError, Step};
use alphorn_chc::{Atom, Clause, ClauseId, PredicateId, System};
use alphorn_term::run::Context;
use alphorn_term::{Assignment, SortId, TermId, TermStore};
use alphorn_witness::{Model, Refutation, RefutationStep};

/// The meaning of an argument of a new predicate.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A term over the old predicate's formal variables.
    Term(TermId),
    /// An array with shifted indexes, which no term denotes.
    Shifted(Shifted),
}

impl Meaning {
    fn sort(&self, terms: &TermStore) -> SortId {
        match self {
            Meaning::Term(term) => terms.sort_of(*term),
            Meaning::Shifted(shifted) => terms.sort_of(shifted.array),
        }
    }
}

/// One of the new predicates that an old predicate became.
struct Case {
    new: PredicateId,
    /// The meanings of the new predicate's formal variables.
    terms: FxHashMap<TermId, TermId>,
    shifted: FxHashMap<TermId, Shifted>,
    /// A further condition, over the old formal variables.
    guard: TermId,
}

/// Computes a value that no term denotes; `None` if it is too large to be written.
pub(super) type Computation = Box<dyn Fn(&Assignment) -> Option<TermId>>;

/// The old clause that a new clause comes from.
pub(super) struct Origin {
    pub clause: ClauseId,
    /// For each body atom of the old clause, the position of the new atom that derives it; `None`
    /// if the bodies correspond.
    pub premises: Option<Vec<usize>>,
    /// `variable := term` for variables of the old clause. Each term is over variables of the new
    /// clause and variables of the old clause that are known or defined earlier. Variables of the
    /// terms that neither clause mentions may have any value.
    pub definitions: Vec<(TermId, TermId)>,
    /// Further variables of the old clause, computed from the values of the new clause's variables.
    pub computed: Vec<(TermId, Computation)>,
}

impl Origin {
    /// The old clause with definitions of some variables; the others keep their values.
    pub fn new(clause: ClauseId, definitions: Vec<(TermId, TermId)>) -> Origin {
        Origin {
            clause,
            premises: None,
            definitions,
            computed: Vec::new(),
        }
    }
}

/// The predicates and clauses of a system that were replaced.
pub(super) struct Replacement {
    old: Rc<System>,
    predicates: BTreeMap<PredicateId, Vec<Case>>,
    clauses: FxHashMap<ClauseId, Origin>,
}

impl Replacement {
    /// Nothing is replaced yet.
    pub fn new(old: &Rc<System>) -> Replacement {
        Replacement {
            old: old.clone(),
            predicates: BTreeMap::new(),
            clauses: FxHashMap::default(),
        }
    }

    /// Whether nothing is replaced.
    pub fn is_empty(&self) -> bool {
        self.predicates.is_empty() && self.clauses.is_empty()
    }

    /// Adds a predicate to the new system that replaces an old one, with the same name.
    pub fn replace(
        &mut self,
        system: &mut System,
        old: PredicateId,
        arguments: Vec<Meaning>,
    ) -> PredicateId {
        let terms = &self.old.terms;
        let sorts: Vec<SortId> = arguments.iter().map(|a| a.sort(terms)).collect();
        let new = system.add_predicate(&self.old.predicate(old).name, &sorts);
        let params = &system.predicate(new).params;
        let meanings = params.iter().copied().zip(arguments).collect();
        self.add_case(old, new, meanings, TermId::TRUE);
        new
    }

    /// The same with a term for each argument.
    pub fn replace_by_terms(
        &mut self,
        system: &mut System,
        old: PredicateId,
        arguments: impl IntoIterator<Item = TermId>,
    ) -> PredicateId {
        self.replace(
            system,
            old,
            arguments.into_iter().map(Meaning::Term).collect(),
        )
    }

    /// Adds a case to an old predicate: where `guard` holds, it is the new predicate with the
    /// meanings substituted for its formal variables.
    pub fn add_case(
        &mut self,
        old: PredicateId,
        new: PredicateId,
        meanings: Vec<(TermId, Meaning)>,
        guard: TermId,
    ) {
        let mut case = Case {
            new,
            terms: FxHashMap::default(),
            shifted: FxHashMap::default(),
            guard,
        };
        for (param, meaning) in meanings {
            match meaning {
                Meaning::Term(term) => {
                    case.terms.insert(param, term);
                }
                Meaning::Shifted(shifted) => {
                    case.shifted.insert(param, shifted);
                }
            }
        }
        self.predicates.entry(old).or_default().push(case);
    }

    /// The old predicate is false everywhere.
    pub fn refute(&mut self, old: PredicateId) {
        self.predicates.insert(old, Vec::new());
    }

    /// The old predicate is also conjoined with this formula over its formal variables.
    pub fn strengthen(&mut self, old: PredicateId, formula: TermId) {
        let terms = &self.old.terms;
        match self.predicates.get_mut(&old) {
            Some(cases) => {
                for case in cases {
                    case.guard = terms.and(&[case.guard, formula]);
                }
            }
            None => self.add_case(old, old, Vec::new(), formula),
        }
    }

    /// The new predicate that replaced an old one, if there is exactly one.
    pub fn image(&self, old: PredicateId) -> Option<PredicateId> {
        match &self.predicates.get(&old)?[..] {
            [case] if case.new != old => Some(case.new),
            _ => None,
        }
    }

    /// Replaces the atoms of old predicates in a clause, with the arguments that `arguments`
    /// returns for an old atom. Returns whether there were any.
    pub fn replace_atoms(
        &self,
        clause: &mut Clause,
        mut arguments: impl FnMut(&Atom) -> Vec<TermId>,
    ) -> bool {
        let mut found = false;
        for atom in clause.body.iter_mut().chain(&mut clause.head) {
            if let Some(predicate) = self.image(atom.predicate) {
                let args = arguments(atom);
                *atom = Atom { predicate, args };
                found = true;
            }
        }
        found
    }

    /// Records the origin of a clause of the new system.
    pub fn note(&mut self, new: ClauseId, origin: Origin) {
        self.clauses.insert(new, origin);
    }

    /// Keeps only the marked arguments of a predicate.
    pub fn keep_arguments(&mut self, system: &mut System, old: PredicateId, marks: &[bool]) {
        let params = self.old.predicate(old).params.clone();
        self.replace_by_terms(system, old, marked(&params, marks));
    }

    /// The new system with this back-translation.
    pub fn step(self, system: System) -> Step {
        Step {
            system,
            back: Box::new(self),
        }
    }

    /// Variables of a clause's definitions that are not variables of the old clause.
    fn parts(&self, origin: &Origin, clause: &Clause) -> Vec<TermId> {
        let terms = &self.old.terms;
        let values: Vec<TermId> = origin.definitions.iter().map(|d| d.1).collect();
        let own: FxHashSet<TermId> = clause.vars(terms).into_iter().collect();
        let mut parts = terms.free_vars(&values);
        parts.retain(|part| !own.contains(part));
        parts
    }
}

/// Adds `true` for predicates of `system` without a definition: a pass drops all clauses of a
/// predicate only if they hold for every definition of it.
pub(super) fn complete_model(system: &System, model: &mut Model) {
    for predicate in system.used_predicates() {
        model.definitions.entry(predicate).or_insert(TermId::TRUE);
    }
}

/// The arguments, with those that have parts replaced by their parts.
pub(super) fn expand(args: &[TermId], parts: &FxHashMap<TermId, Vec<TermId>>) -> Vec<TermId> {
    let mut result = Vec::with_capacity(args.len());
    for arg in args {
        match parts.get(arg) {
            Some(own) => result.extend_from_slice(own),
            None => result.push(*arg),
        }
    }
    result
}

/// The marked items.
pub(super) fn marked<'a>(
    items: &'a [TermId],
    marks: &'a [bool],
) -> impl Iterator<Item = TermId> + 'a {
    items
        .iter()
        .zip(marks)
        .filter_map(|(&item, &mark)| mark.then_some(item))
}

impl BackTranslation for Replacement {
    fn model(&self, mut model: Model, _cx: &mut Context) -> Result<Model, BackTranslationError> {
        let terms = &self.old.terms;
        let mut definitions = Vec::with_capacity(self.predicates.len());
        for (&old, cases) in &self.predicates {
            let disjuncts = cases.iter().map(|case| {
                // A predicate without a definition may as well hold everywhere.
                let formula = model.definitions.get(&case.new).copied();
                let formula = terms.substitute(formula.unwrap_or(TermId::TRUE), &case.terms);
                let formula = express_shifted(terms, formula, &case.shifted);
                terms.and(&[formula, case.guard])
            });
            definitions.push((old, terms.or(&disjuncts.collect::<Vec<TermId>>())));
        }
        for case in self.predicates.values().flatten() {
            model.definitions.remove(&case.new);
        }
        model.definitions.extend(definitions);
        complete_model(&self.old, &mut model);
        Ok(model)
    }

    fn refutation(
        &self,
        refutation: Refutation,
        cx: &mut Context,
    ) -> Result<Refutation, BackTranslationError> {
        let terms = &self.old.terms;
        let index = self.old.clause_index();
        let mut parts_of: FxHashMap<ClauseId, Vec<TermId>> = FxHashMap::default();
        replay(&self.old, &refutation, cx, |step: &RefutationStep| {
            let Some(origin) = self.clauses.get(&step.clause) else {
                return Ok(Vec::new());
            };
            let missing = || {
                BackTranslationError(format!(
                    "clause {} is not in the old system",
                    origin.clause.0
                ))
            };
            let clause = &self.old.clauses[*index.get(&origin.clause).ok_or_else(missing)?];
            let parts = parts_of
                .entry(step.clause)
                .or_insert_with(|| self.parts(origin, clause));
            let mut known = Cow::Borrowed(&step.values);
            for part in parts {
                if !known.contains_key(part)
                    && let Some(value) = terms.default_value(terms.sort_of(*part))
                {
                    known.to_mut().insert(*part, value);
                }
            }
            for (var, compute) in &origin.computed {
                let value = compute(&step.values).ok_or_else(|| {
                    BackTranslationError(format!("there is no value for {}", terms.var_name(*var)))
                })?;
                known.to_mut().insert(*var, value);
            }
            let premise = |at: usize| step.premises.get(at).copied().map(Premise::Step);
            let premises: Option<Vec<Premise>> = match &origin.premises {
                Some(of) => of.iter().map(|&at| premise(at)).collect(),
                None => (0..step.premises.len()).map(premise).collect(),
            };
            Ok(vec![OldStep {
                clause: origin.clause,
                premises: premises
                    .ok_or_else(|| BackTranslationError("a premise is missing".to_owned()))?,
                known,
                definitions: &origin.definitions,
            }])
        })
    }
}
