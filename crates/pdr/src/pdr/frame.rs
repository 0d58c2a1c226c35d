//! The frame of a predicate: lemmas with levels (may-summary) and reached facts (must-summary).
//!
//! A lemma of level `k` holds of every fact with a derivation of height at most `k`, where entry
//! clauses have height 0; a lemma of the infinite level holds of every fact.
//!
//! Invariant: lemmas are never removed, only made inactive, so their ids stay valid. Facts are
//! removed only all at once by [`Frame::renew`]. Between renewals `events` lists each change of a
//! lemma's level once, in order, so that a solver is brought up to date by reading from where it
//! stopped.

use rustc_hash::FxHashMap;

use super::array_indexes::indexes;
use super::ids::{FactId, LemmaId, RuleId, Table};
use super::levels::Level;
use super::limits::LIMITS;
use super::pattern::Patterns;
use alphorn_chc::PredicateId;
use alphorn_term::{Assignment, SortId, TermId, TermStore};

/// The negation of a cube that no derivation reaches up to a level.
pub(super) struct Lemma {
    /// Literals over the predicate's formal variables, in ascending order.
    pub cube: Box<[TermId]>,
    /// The lemma as a formula: the disjunction of the negated literals.
    pub clause: TermId,
    /// The level up to which it holds.
    pub level: Level,
    /// The variable of `cube` and `clause` that stands for any index.
    pub any: Option<TermId>,
    /// Whether it is in use: no other active lemma of at least its level is known to imply it.
    pub active: bool,
    /// The step that prevented pushing when that was last tried.
    pub blocker: Option<PushBlocker>,
}

/// A step from states that the frames allow into the cube of a lemma: a counterexample to pushing.
/// As long as no newer lemma excludes one of the states, pushing fails again.
pub(super) struct PushBlocker {
    /// The states of the body atoms.
    pub premises: Vec<Premise>,
}

/// A state of a body atom of a [`PushBlocker`].
pub(super) struct Premise {
    /// The predicate of the body atom.
    pub predicate: PredicateId,
    /// Values of the predicate's formal variables.
    pub values: Assignment,
    /// The number of events of the predicate that were checked against the state.
    pub seen: usize,
}

/// A formula of derivable states, with the clause and the facts that derive them.
pub(super) struct MustFact {
    /// Over the predicate's formal variables; every assignment that satisfies it is derivable.
    pub formula: TermId,
    /// The rule of the predicate's transition relation.
    pub rule: RuleId,
    /// Facts of the rule's body predicates, in the body's order.
    pub premises: Vec<(PredicateId, FactId)>,
    /// The height of its derivation; zero for facts of entry clauses.
    pub height: Level,
}

/// Lemmas and facts of one predicate.
#[derive(Default)]
pub(super) struct Frame {
    /// All lemmas, also inactive ones.
    pub lemmas: Table<LemmaId, Lemma>,
    /// Each change of a lemma's level, in order.
    pub events: Vec<(LemmaId, Level)>,
    /// Reached facts, in the order in which they were derived.
    pub facts: Table<FactId, MustFact>,
    /// Clusters of the cubes of lemmas.
    pub lemma_patterns: Patterns<LemmaId>,
    /// Clusters of the cubes of obligations, before generalization.
    pub cube_patterns: Patterns<()>,
    /// Terms over the formal variables at which lemmas about any index are instantiated.
    pub indexes: Vec<TermId>,
    /// Variables that stand for any index, one for each sort of index.
    any: Vec<TermId>,
    /// Lemmas by their cubes.
    by_cube: FxHashMap<Box<[TermId]>, LemmaId>,
}

impl Frame {
    /// An empty frame whose lemmas may contain these variables for any index of their sorts.
    pub fn new(any: &[TermId]) -> Self {
        Frame {
            any: any.to_vec(),
            ..Frame::default()
        }
    }

    /// The variable that stands for any index of a sort.
    pub fn any(&self, terms: &TermStore, sort: SortId) -> Option<TermId> {
        self.any.iter().copied().find(|&a| terms.sort_of(a) == sort)
    }

    /// The variable for any index that occurs in a lemma's clause.
    pub fn any_in(&self, terms: &TermStore, clause: TermId) -> Option<TermId> {
        match self.any.is_empty() {
            true => None,
            false => {
                let vars = terms.free_vars(&[clause]);
                vars.into_iter().find(|v| self.any.contains(v))
            }
        }
    }

    /// Adds the indexes at which a cube reads or writes arrays and that do not contain variables
    /// for any index.
    pub fn note_indexes(&mut self, terms: &TermStore, cube: &[TermId]) {
        if self.any.is_empty() {
            return;
        }
        for &literal in cube {
            for index in indexes(terms, literal) {
                if self.indexes.len() < LIMITS.instance_indexes
                    && !self.indexes.contains(&index)
                    && self.any(terms, terms.sort_of(index)).is_some()
                    && !terms
                        .free_vars(&[index])
                        .iter()
                        .any(|v| self.any.contains(v))
                {
                    self.indexes.push(index);
                }
            }
        }
    }

    /// The instances of a lemma about any index at these indexes; other lemmas as they are.
    pub fn instances(&self, terms: &TermStore, lemma: LemmaId, at: &[TermId]) -> Vec<TermId> {
        let lemma = &self.lemmas[lemma];
        let Some(any) = lemma.any else {
            return vec![lemma.clause];
        };
        let fitting = at
            .iter()
            .filter(|&&i| terms.sort_of(i) == terms.sort_of(any));
        fitting
            .map(|&index| terms.substitute(lemma.clause, &std::iter::once((any, index)).collect()))
            .collect()
    }

    /// A lemma as a formula over the formal variables, with the variable for any index quantified.
    pub fn closed(&self, terms: &TermStore, lemma: LemmaId) -> TermId {
        let lemma = &self.lemmas[lemma];
        match lemma.any {
            None => lemma.clause,
            Some(any) => {
                let bound = terms.fresh_var("k", terms.sort_of(any));
                let map = std::iter::once((any, bound)).collect();
                terms.forall(&[bound], terms.substitute(lemma.clause, &map))
            }
        }
    }

    /// Adds the negation of a cube as a lemma, or raises the level of the same lemma. Lemmas whose
    /// cubes contain this one become inactive. Returns the lemma and whether anything changed.
    pub fn add(&mut self, terms: &TermStore, cube: &[TermId], level: Level) -> (LemmaId, bool) {
        let mut cube = cube.to_vec();
        cube.sort_unstable();
        cube.dedup();
        let cube = cube.into_boxed_slice();
        if let Some(&known) = self.by_cube.get(&cube) {
            let changed = self.lemmas[known].level < level || !self.lemmas[known].active;
            if changed {
                self.lemmas[known].active = true;
                let level = level.max(self.lemmas[known].level);
                self.raise(known, level);
            }
            return (known, changed);
        }
        let negated: Vec<TermId> = cube.iter().map(|&l| terms.not(l)).collect();
        let clause = terms.or(&negated);
        let any = self.any_in(terms, clause);
        let lemma = self.lemmas.push(Lemma {
            clause,
            cube: cube.clone(),
            any,
            level,
            active: true,
            blocker: None,
        });
        self.by_cube.insert(cube, lemma);
        self.raise(lemma, level);
        (lemma, true)
    }

    /// Raises the level of a lemma. Other lemmas of at most this level whose cubes contain its cube
    /// become inactive.
    pub fn raise(&mut self, lemma: LemmaId, level: Level) {
        self.lemmas[lemma].level = level;
        self.lemmas[lemma].blocker = None;
        self.events.push((lemma, level));
        let cube = std::mem::take(&mut self.lemmas[lemma].cube);
        for other in self.lemmas.ids().filter(|&other| other != lemma) {
            let other = &mut self.lemmas[other];
            if other.active && other.level <= level && is_subset(&cube, &other.cube) {
                other.active = false;
                other.blocker = None;
            }
        }
        self.lemmas[lemma].cube = cube;
    }

    /// After a change of the clauses: removes all facts, and makes all lemmas inactive but those
    /// with the given cubes, which get the given levels.
    pub fn renew(&mut self, terms: &TermStore, kept: &[(Box<[TermId]>, Level)]) {
        for lemma in self.lemmas.iter_mut() {
            lemma.active = false;
            lemma.level = 0;
            lemma.blocker = None;
        }
        self.events.clear();
        let mut known = std::mem::take(&mut self.by_cube);
        for (cube, level) in kept {
            match known.remove(cube) {
                Some(lemma) => {
                    self.lemmas[lemma].active = true;
                    self.lemmas[lemma].level = *level;
                    self.events.push((lemma, *level));
                    self.by_cube.insert(cube.clone(), lemma);
                }
                None => drop(self.add(terms, cube, *level)),
            }
        }
        self.facts.clear();
    }

    /// Whether a cube is the cube of a lemma of at least this level.
    pub fn knows(&self, cube: &[TermId], level: Level) -> bool {
        let mut cube = cube.to_vec();
        cube.sort_unstable();
        cube.dedup();
        let known = self.by_cube.get(&*cube);
        known.is_some_and(|&l| self.lemmas[l].level >= level)
    }

    /// The active lemmas that hold at a level.
    pub fn at(&self, level: Level) -> impl Iterator<Item = LemmaId> {
        let holds = move |l: &Lemma| l.active && l.level >= level;
        let lemmas = self.lemmas.ids();
        lemmas.filter(move |&l| holds(&self.lemmas[l]))
    }

    /// The conjunction of the lemmas that hold at a level, those about any index at `indexes`.
    pub fn formula(&self, terms: &TermStore, level: Level) -> TermId {
        let clauses = self
            .at(level)
            .flat_map(|i| self.instances(terms, i, &self.indexes));
        terms.and(&clauses.collect::<Vec<TermId>>())
    }
}

/// Whether `small` is a subset of `large`; both are in ascending order.
fn is_subset(small: &[TermId], large: &[TermId]) -> bool {
    if small.len() > large.len() {
        return false;
    }
    let mut rest = large.iter();
    small.iter().all(|s| rest.any(|l| l == s))
}

#[cfg(test)]
mod tests {
    use super::super::levels::INFINITE;
    use super::*;

    #[test]
    fn implied_lemmas_are_switched_off() {
        let terms = TermStore::new();
        let [a, b] = ["a", "b"].map(|n| terms.var(n, SortId::BOOL));
        let mut frame = Frame::default();
        let (wide, _) = frame.add(&terms, &[b, a], 1);
        let (narrow, _) = frame.add(&terms, &[a], 1);
        assert!(!frame.lemmas[wide].active && frame.lemmas[narrow].active);
        assert_eq!(frame.formula(&terms, 1), terms.not(a));
        assert_eq!(frame.formula(&terms, 2), TermId::TRUE);
        // A lemma of a lower level does not make one of a higher level inactive.
        let (high, _) = frame.add(&terms, &[a, b], 3);
        assert_eq!(high, wide);
        assert!(frame.lemmas[wide].active);
        frame.raise(narrow, INFINITE);
        assert!(!frame.lemmas[wide].active);
        assert_eq!(frame.events.len(), 4);
    }

    #[test]
    fn a_renewed_frame_knows_only_what_was_kept() {
        let terms = TermStore::new();
        let [a, b, c] = ["a", "b", "c"].map(|n| terms.var(n, SortId::BOOL));
        let mut frame = Frame::default();
        let (kept, _) = frame.add(&terms, &[a], 5);
        let (lost, _) = frame.add(&terms, &[b], 5);
        let keep: Vec<(Box<[TermId]>, Level)> = vec![(Box::new([a]), 2), (Box::new([c]), 1)];
        frame.renew(&terms, &keep);
        assert!(frame.lemmas[kept].active && frame.lemmas[kept].level == 2);
        assert!(!frame.lemmas[lost].active && !frame.knows(&[b], 0));
        assert_eq!(frame.formula(&terms, 2), terms.not(a));
        assert!(frame.knows(&[c], 1));
        assert_eq!(frame.events.len(), 2);
        // When it is learned again, it has the new level only.
        let (again, new) = frame.add(&terms, &[b], 1);
        assert!(new && again != lost && !frame.knows(&[b], 2));
    }

    #[test]
    fn subsets() {
        let ids: Vec<TermId> = {
            let terms = TermStore::new();
            (0..4).map(|i| terms.int(i)).collect()
        };
        assert!(is_subset(&ids[1..3], &ids));
        assert!(is_subset(&[], &ids));
        assert!(!is_subset(&ids, &ids[1..]));
        assert!(!is_subset(&ids[..1], &ids[1..]));
    }
}
