//! Predicates, clauses and systems.
//!
//! Invariant: [`System::check`] holds of the system after each pass, which debug builds assert: the
//! arguments of a clause are distinct variables, their sorts are those of the predicates, and clause
//! ids are unique.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::limits::LIMITS;
use alphorn_term::{SortId, TermId, TermStore};

/// The number of a predicate in its system. All passes keep the ids; a pass that changes the
/// arguments of a predicate adds a new one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct PredicateId(pub u32);

impl PredicateId {
    /// Position in [`System::predicates`].
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The number of a clause, unique within a run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ClauseId(pub u32);

/// A predicate with its formal variables, over which models and lemmas are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Predicate {
    /// The name, which need not be unique.
    pub name: String,
    /// The formal variables, one for each argument; they occur in no clause.
    pub params: Vec<TermId>,
}

impl Predicate {
    /// A predicate with fresh formal variables.
    pub fn new(terms: &TermStore, name: &str, sorts: &[SortId]) -> Self {
        let hint = format!("{name}_");
        let params = sorts.iter().map(|&s| terms.fresh_var(&hint, s)).collect();
        Predicate {
            name: name.to_owned(),
            params,
        }
    }

    /// Number of arguments.
    #[inline]
    pub fn arity(&self) -> usize {
        self.params.len()
    }
}

/// A predicate applied to terms; in a [`Clause`] the terms are distinct variables.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Atom {
    /// The predicate.
    pub predicate: PredicateId,
    /// The arguments, of the sorts of the predicate's formal variables.
    pub args: Vec<TermId>,
}

/// The clause `body ∧ constraint ⇒ head`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// Its id.
    pub id: ClauseId,
    /// The body atoms.
    pub body: Vec<Atom>,
    /// A formula without predicates.
    pub constraint: TermId,
    /// The head; `None` for `false`.
    pub head: Option<Atom>,
}

impl Clause {
    /// All atoms, those of the body first.
    pub fn atoms(&self) -> impl Iterator<Item = &Atom> {
        self.body.iter().chain(&self.head)
    }

    /// All variables of the clause: arguments of atoms in their order, then the others.
    pub fn vars(&self, terms: &TermStore) -> Vec<TermId> {
        let mut seen = FxHashSet::default();
        let mut vars: Vec<TermId> = self
            .atoms()
            .flat_map(|a| a.args.iter().copied())
            .filter(|v| seen.insert(*v))
            .collect();
        vars.extend(
            terms
                .free_vars(&[self.constraint])
                .into_iter()
                .filter(|v| seen.insert(*v)),
        );
        vars
    }

    /// The free variables of the constraint that are not arguments of an atom.
    pub fn locals(&self, terms: &TermStore) -> Vec<TermId> {
        let args: FxHashSet<TermId> = self.atoms().flat_map(|a| a.args.iter().copied()).collect();
        let free = terms.free_vars(&[self.constraint]);
        free.into_iter().filter(|v| !args.contains(v)).collect()
    }
}

/// A list of predicates and a set of clauses over them.
#[derive(Clone)]
pub struct System {
    /// The store of all terms in the system.
    pub terms: Rc<TermStore>,
    /// All predicates; passes add some but never remove or reorder them. A predicate is in use if a
    /// clause mentions it.
    pub predicates: Vec<Predicate>,
    /// The clauses.
    pub clauses: Vec<Clause>,
    next_clause: u32,
}

impl System {
    /// A system without predicates or clauses.
    pub fn new(terms: Rc<TermStore>) -> Self {
        System {
            terms,
            predicates: Vec::new(),
            clauses: Vec::new(),
            next_clause: 0,
        }
    }

    /// Adds a predicate with fresh formal variables.
    pub fn add_predicate(&mut self, name: &str, sorts: &[SortId]) -> PredicateId {
        let id = PredicateId(u32::try_from(self.predicates.len()).expect("fewer than 2^32"));
        self.predicates
            .push(Predicate::new(&self.terms, name, sorts));
        id
    }

    /// A new clause id.
    pub fn fresh_clause_id(&mut self) -> ClauseId {
        let id = ClauseId(self.next_clause);
        self.next_clause += 1;
        id
    }

    /// Adds a clause with a new id.
    pub fn add_clause(
        &mut self,
        body: Vec<Atom>,
        constraint: TermId,
        head: Option<Atom>,
    ) -> ClauseId {
        let id = self.fresh_clause_id();
        self.clauses.push(Clause {
            id,
            body,
            constraint,
            head,
        });
        id
    }

    /// Whether the other system has the same predicates and clauses, with the same numbers.
    pub fn is_same(&self, other: &System) -> bool {
        Rc::ptr_eq(&self.terms, &other.terms)
            && self.predicates == other.predicates
            && self.clauses == other.clauses
    }

    /// The predicate with this id.
    #[inline]
    pub fn predicate(&self, id: PredicateId) -> &Predicate {
        &self.predicates[id.index()]
    }

    /// The position in `clauses` of each clause id.
    pub fn clause_index(&self) -> FxHashMap<ClauseId, usize> {
        self.clauses
            .iter()
            .enumerate()
            .map(|(i, c)| (c.id, i))
            .collect()
    }

    /// The predicates that occur in a clause, ascending.
    pub fn used_predicates(&self) -> Vec<PredicateId> {
        let mut used: Vec<PredicateId> = self
            .clauses
            .iter()
            .flat_map(|c| c.atoms().map(|a| a.predicate))
            .collect();
        used.sort_unstable();
        used.dedup();
        used
    }

    /// Whether `kind` is true for a formal variable of a predicate in use.
    pub fn has_argument(&self, kind: impl Fn(TermId) -> bool) -> bool {
        let params = |p: PredicateId| self.predicate(p).params.iter();
        let used = self.used_predicates().into_iter();
        used.flat_map(params).any(|v| kind(*v))
    }

    /// Whether a predicate in use has a bit-vector argument that is wider than
    /// `LIMITS.max_flag_bits`: not only a flag or a code with few values.
    pub fn has_wide_bit_vectors(&self) -> bool {
        self.has_argument(|var| self.terms.width(var) > LIMITS.max_flag_bits)
    }

    /// An atom over fresh variables, named after the formal variables of the predicate.
    pub fn fresh_atom(&self, predicate: PredicateId) -> Atom {
        let args = self
            .predicate(predicate)
            .params
            .iter()
            .map(|&p| self.terms.fresh_copy(p))
            .collect();
        Atom { predicate, args }
    }

    /// `formula`, which is over the formal variables of the atom's predicate, with the arguments of
    /// the atom substituted for them.
    pub fn instantiate(&self, formula: TermId, atom: &Atom) -> TermId {
        let params = &self.predicate(atom.predicate).params;
        let map = params
            .iter()
            .copied()
            .zip(atom.args.iter().copied())
            .collect();
        self.terms.substitute(formula, &map)
    }

    /// Checks that the system is well-formed (see the invariant of this module).
    ///
    /// # Errors
    /// A description of the first mistake.
    pub fn check(&self) -> Result<(), String> {
        let mut ids = FxHashSet::default();
        for clause in &self.clauses {
            if !ids.insert(clause.id) || clause.id.0 >= self.next_clause {
                return Err(format!("clause id {} is not unique", clause.id.0));
            }
            let mut seen = FxHashSet::default();
            for atom in clause.atoms() {
                let predicate = self.predicate(atom.predicate);
                if predicate.arity() != atom.args.len() {
                    return Err(format!(
                        "an atom of {} in clause {} has the wrong arity",
                        predicate.name, clause.id.0
                    ));
                }
                for (&arg, &param) in atom.args.iter().zip(&predicate.params) {
                    if !self.terms.is_var(arg) || !seen.insert(arg) {
                        return Err(format!(
                            "an argument of {} in clause {} is not a distinct variable",
                            predicate.name, clause.id.0
                        ));
                    }
                    if self.terms.sort_of(arg) != self.terms.sort_of(param) {
                        return Err(format!(
                            "an argument of {} in clause {} has the wrong sort",
                            predicate.name, clause.id.0
                        ));
                    }
                }
            }
        }
        Ok(())
    }
}
