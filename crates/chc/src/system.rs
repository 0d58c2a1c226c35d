//! Predicates, clauses and systems.
//!
//! Invariant: `System::check` holds after every pass (debug builds assert it): argument variables
//! are distinct within a clause, sorts agree with the predicates, ids are unique.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use alphorn_term::{SortId, TermId, TermStore};

/// A predicate, by its index in the table of its system. Ids are kept by all passes; a pass that
/// changes a predicate's arguments makes a new one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct PredicateId(pub u32);

impl PredicateId {
    /// Position in [`System::predicates`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A clause's name, unique within a run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ClauseId(pub u32);

/// A predicate with the formal variables that models and lemmas about it are written over.
#[derive(Clone, Debug)]
pub struct Predicate {
    pub name: String,
    /// One variable per argument, occurring in no clause.
    pub params: Vec<TermId>,
}

impl Predicate {
    /// A predicate with fresh formal variables.
    pub fn new(terms: &TermStore, name: &str, sorts: &[SortId]) -> Self {
        let params = sorts
            .iter()
            .map(|&s| terms.fresh_var(&format!("{name}_"), s))
            .collect();
        Predicate {
            name: name.to_owned(),
            params,
        }
    }

    /// Number of arguments.
    pub fn arity(&self) -> usize {
        self.params.len()
    }
}

/// A predicate applied to terms; in a [`Clause`] the terms are distinct variables.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Atom {
    pub predicate: PredicateId,
    pub args: Vec<TermId>,
}

/// `body ∧ constraint ⇒ head`, head `None` for `false`.
#[derive(Clone, Debug)]
pub struct Clause {
    pub id: ClauseId,
    pub body: Vec<Atom>,
    pub constraint: TermId,
    pub head: Option<Atom>,
}

impl Clause {
    /// All atoms, the body's first.
    pub fn atoms(&self) -> impl Iterator<Item = &Atom> {
        self.body.iter().chain(&self.head)
    }

    /// Every variable of the clause: arguments first, in order, then the constraint's locals.
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

    /// The constraint's variables that are no atom's argument.
    pub fn locals(&self, terms: &TermStore) -> Vec<TermId> {
        let args: FxHashSet<TermId> = self.atoms().flat_map(|a| a.args.iter().copied()).collect();
        let free = terms.free_vars(&[self.constraint]);
        free.into_iter().filter(|v| !args.contains(v)).collect()
    }
}

/// A set of clauses over a table of predicates.
#[derive(Clone)]
pub struct System {
    pub terms: Rc<TermStore>,
    /// Append-only: passes add predicates but never remove or reorder them. A predicate that no
    /// clause mentions any more is simply not in use.
    pub predicates: Vec<Predicate>,
    pub clauses: Vec<Clause>,
    next_clause: u32,
}

/// Words of no more bits are not taken for numbers.
const FEW_BITS: u32 = 4;

impl System {
    /// A system without predicates and clauses.
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

    /// Adds a clause under a new id.
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

    /// The predicate of an id.
    pub fn predicate(&self, id: PredicateId) -> &Predicate {
        &self.predicates[id.index()]
    }

    /// Clauses by their ids.
    pub fn clause_index(&self) -> FxHashMap<ClauseId, usize> {
        self.clauses
            .iter()
            .enumerate()
            .map(|(i, c)| (c.id, i))
            .collect()
    }

    /// Predicates that occur in a clause, in ascending order.
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

    /// Whether there is a formal variable of a predicate in use for which this is true.
    pub fn has_argument(&self, kind: impl Fn(TermId) -> bool) -> bool {
        let params = |p: PredicateId| self.predicate(p).params.iter();
        let used = self.used_predicates().into_iter();
        used.flat_map(params).any(|v| kind(*v))
    }

    /// Whether words of more than a few bits are arguments: not only flags and codes of few values.
    pub fn has_wide_words(&self) -> bool {
        self.has_argument(|var| self.terms.width(var) > FEW_BITS)
    }

    /// An atom over fresh variables named after the predicate's formal ones.
    pub fn fresh_atom(&self, predicate: PredicateId) -> Atom {
        let args = self
            .predicate(predicate)
            .params
            .iter()
            .map(|&p| {
                self.terms
                    .fresh_var(self.terms.var_name(p), self.terms.sort_of(p))
            })
            .collect();
        Atom { predicate, args }
    }

    /// `formula`, given over the formal variables of the atom's predicate, over the atom's terms.
    pub fn instantiate(&self, formula: TermId, atom: &Atom) -> TermId {
        let params = &self.predicate(atom.predicate).params;
        let map = params
            .iter()
            .copied()
            .zip(atom.args.iter().copied())
            .collect();
        self.terms.substitute(formula, &map)
    }

    /// What is wrong with the system's structure, if anything.
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
                        "arity of {} in clause {}",
                        predicate.name, clause.id.0
                    ));
                }
                for (&arg, &param) in atom.args.iter().zip(&predicate.params) {
                    if !self.terms.is_var(arg) || !seen.insert(arg) {
                        return Err(format!(
                            "argument of {} in clause {} is no distinct variable",
                            predicate.name, clause.id.0
                        ));
                    }
                    if self.terms.sort_of(arg) != self.terms.sort_of(param) {
                        return Err(format!(
                            "sorts of {} in clause {}",
                            predicate.name, clause.id.0
                        ));
                    }
                }
            }
        }
        Ok(())
    }
}
