//! Makes the indexes of arrays relative to a base address.
//!
//! A compiler that places arrays in one memory makes every index `base + offset`, with a base that
//! no clause changes. The argument `a` is replaced by `b` with `b[i] = a[base + i]`, and the base
//! is removed from the indexes, so that formulas about an index become formulas about a loop
//! counter.
//!
//! For each value of the base the two arrays determine each other, over integers and reals, and
//! over bit-vectors modulo their size. Arrays that a clause compares, stores from each other or
//! chooses between must have the same base there.
//!
//! Invariant: in each clause all arrays of a class have one base, and it is a summand of every
//! index at which one of them is read or written, so the pass removes summands and ends.

use std::collections::VecDeque;
use std::rc::Rc;

use petgraph::unionfind::UnionFind;
use rustc_hash::{FxHashMap, FxHashSet};

use super::reads::View;
use super::replacement::{Computation, Meaning, Origin, Replacement};
use super::shifted::Shifted;
use super::{Place, Step, Transformation, part_var};
use alphorn_chc::{Clause, System};
use alphorn_term::run::Context;
use alphorn_term::{Op, Sort, SortId, TermId, TermStore};

/// The pass.
pub struct Rebase;

impl Transformation for Rebase {
    fn apply(&mut self, old: &Rc<System>, cx: &mut Context) -> Option<Step> {
        let analysis = Analysis::new(old, cx)?;
        let bases = analysis.bases(cx);
        if bases.is_empty() || cx.stop().is_some() {
            return None;
        }
        let terms = old.terms.clone();
        let mut system = (**old).clone();
        let mut replacement = Replacement::new(old);
        for predicate in old.used_predicates() {
            let params = &old.predicate(predicate).params;
            let meaning = |(at, &param): (usize, &TermId)| match bases.get(&(predicate, at)) {
                Some(&base) => Meaning::Shifted(Shifted {
                    array: param,
                    base: params[base],
                }),
                None => Meaning::Term(param),
            };
            let meanings: Vec<Meaning> = params.iter().enumerate().map(meaning).collect();
            if meanings.iter().any(|m| matches!(m, Meaning::Shifted(_))) {
                replacement.replace(&mut system, predicate, meanings);
            }
        }
        for (clause, uses) in system.clauses.iter_mut().zip(&analysis.clauses) {
            let Some(uses) = uses else { continue };
            let based = uses.based(&bases);
            if based.is_empty() {
                continue;
            }
            let vars = rewrite(&terms, clause, uses, &based);
            replacement.replace_atoms(clause, |atom| {
                let args = atom.args.iter();
                args.map(|a| vars.get(a).map_or(*a, |v| v.0)).collect()
            });
            let mut origin = Origin::new(clause.id, Vec::new());
            origin.computed = vars
                .into_iter()
                .map(|(old, (new, base))| (old, shifted_back(&terms, new, base)))
                .collect();
            replacement.note(clause.id, origin);
        }
        Some(replacement.step(system))
    }
}

/// The uses of arrays in a clause.
struct Uses {
    view: View,
    /// The array terms of the constraint and the atoms, numbered.
    terms: FxHashMap<TermId, usize>,
    /// Classes of array terms that share elements by stores, choices and equations.
    classes: UnionFind<usize>,
    /// Array term and resolved index of reads and writes.
    accesses: Vec<(usize, TermId)>,
    /// Array terms that are used in other ways.
    refused: Vec<usize>,
    /// Array, position of the argument, arguments of the atom.
    places: Vec<(usize, Place, Rc<[TermId]>)>,
}

impl Uses {
    /// `None` for a clause without arrays.
    fn new(store: &TermStore, clause: &Clause) -> Option<Uses> {
        let mut atoms = clause.atoms().flat_map(|a| &a.args);
        if !atoms.any(|&a| store.is_array(a)) {
            return None;
        }
        let view = View::new(store, clause);
        let mut terms: FxHashMap<TermId, usize> = FxHashMap::default();
        let mut places = Vec::new();
        for atom in clause.atoms() {
            let args: Rc<[TermId]> = atom.args.as_slice().into();
            for (at, &arg) in args.iter().enumerate() {
                if store.is_array(arg) {
                    let next = terms.len();
                    let number = *terms.entry(arg).or_insert(next);
                    places.push((number, (atom.predicate, at), Rc::clone(&args)));
                }
            }
        }
        let mut nodes = Vec::new();
        store.post_order(&[clause.constraint], |t| {
            nodes.push(t);
            if store.is_array(t) {
                let next = terms.len();
                terms.entry(t).or_insert(next);
            }
        });
        let mut classes = UnionFind::new(terms.len());
        let mut accesses = Vec::new();
        let mut refused = Vec::new();
        for t in nodes {
            let node = store.node(t);
            let number = |t: TermId| terms[&t];
            // The same constant array may belong to two classes.
            let is_constant = |t: TermId| *store.op(t) == Op::ConstArray;
            match node.op {
                Op::Select | Op::Store => {
                    let index = view.resolve(store, node.args[1]);
                    accesses.push((number(node.args[0]), index));
                    if node.op == Op::Store {
                        classes.union(number(t), number(node.args[0]));
                        if store.is_array(node.args[2]) {
                            refused.push(number(node.args[2]));
                        }
                    } else if store.is_array(t) {
                        refused.push(number(t));
                    }
                }
                Op::Ite if store.is_array(t) => {
                    for &branch in &node.args[1..] {
                        if !is_constant(branch) {
                            classes.union(number(t), number(branch));
                        }
                    }
                }
                Op::Eq if store.is_array(node.args[0]) => {
                    let [a, b] = [node.args[0], node.args[1]];
                    if !is_constant(a) && !is_constant(b) {
                        classes.union(number(a), number(b));
                    }
                }
                // The value that contains it is not changed.
                Op::Field(..) if store.is_array(t) => refused.push(number(t)),
                Op::Forall(_) | Op::Exists(_) => {
                    let arrays = store.free_vars(&[t]).into_iter();
                    refused.extend(arrays.filter(|&v| store.is_array(v)).map(number));
                }
                _ => {
                    let arrays = node.args.iter().filter(|&&a| store.is_array(a));
                    refused.extend(arrays.map(|&a| number(a)));
                }
            }
        }
        Some(Uses {
            view,
            terms,
            classes,
            accesses,
            refused,
            places,
        })
    }

    /// The base of each class that has one, by the class's representative.
    fn based(&self, bases: &FxHashMap<Place, usize>) -> FxHashMap<usize, TermId> {
        let mut based = FxHashMap::default();
        for (number, place, args) in &self.places {
            if let Some(&base) = bases.get(place) {
                based
                    .entry(self.classes.find(*number))
                    .or_insert(args[base]);
            }
        }
        based
    }
}

/// The analysis of all clauses.
struct Analysis<'a> {
    system: &'a System,
    clauses: Vec<Option<Uses>>,
    /// The clauses in which an argument occurs.
    clauses_of: FxHashMap<Place, Vec<usize>>,
}

impl<'a> Analysis<'a> {
    /// `None` without arrays, or if the budget has ended.
    fn new(system: &'a System, cx: &Context) -> Option<Self> {
        let terms = &*system.terms;
        let mut clauses = Vec::with_capacity(system.clauses.len());
        let mut clauses_of: FxHashMap<Place, Vec<usize>> = FxHashMap::default();
        for (at, clause) in system.clauses.iter().enumerate() {
            if cx.stop().is_some() {
                return None;
            }
            let uses = Uses::new(terms, clause);
            for (_, place, _) in uses.iter().flat_map(|u| &u.places) {
                let list = clauses_of.entry(*place).or_default();
                if list.last() != Some(&at) {
                    list.push(at);
                }
            }
            clauses.push(uses);
        }
        (!clauses_of.is_empty()).then_some(Analysis {
            system,
            clauses,
            clauses_of,
        })
    }

    /// For each array argument with a base, the position of the base.
    fn bases(&self, cx: &Context) -> FxHashMap<Place, usize> {
        let mut found = FxHashMap::default();
        let mut places: Vec<Place> = self.clauses_of.keys().copied().collect();
        places.sort_unstable();
        let mut done: FxHashSet<Place> = FxHashSet::default();
        let mut failed: FxHashSet<(Place, usize)> = FxHashSet::default();
        for place in places {
            if !done.insert(place) || cx.stop().is_some() {
                continue;
            }
            for candidate in self.candidates(place) {
                let mut bases = FxHashMap::default();
                let spread = self.spread(place, candidate, &failed, &mut bases, cx);
                if spread.is_some() {
                    done.extend(bases.keys().copied());
                    found.extend(bases);
                    break;
                }
                // A later search that reaches one of these fails, too.
                failed.extend(bases);
            }
        }
        found
    }

    /// Positions of arguments next to an array that are summands of indexes at which it is read or
    /// written, the most frequent first.
    fn candidates(&self, place: Place) -> Vec<usize> {
        let terms = &*self.system.terms;
        let mut counts: FxHashMap<usize, usize> = FxHashMap::default();
        for &clause in &self.clauses_of[&place] {
            let Some(uses) = &self.clauses[clause] else {
                continue;
            };
            for (number, _, args) in uses.places.iter().filter(|p| p.1 == place) {
                let class = uses.classes.find(*number);
                for (array, index) in &uses.accesses {
                    if uses.classes.find(*array) != class {
                        continue;
                    }
                    for (at, &arg) in args.iter().enumerate() {
                        let base = uses.view.resolve(terms, arg);
                        if terms.sort_of(base) == terms.sort_of(*index)
                            && terms.is_var(base)
                            && without(terms, *index, base).is_some()
                        {
                            *counts.entry(at).or_default() += 1;
                        }
                    }
                }
            }
        }
        let mut candidates: Vec<(usize, usize)> = counts.into_iter().collect();
        candidates.sort_unstable_by_key(|&(at, count)| (std::cmp::Reverse(count), at));
        candidates.into_iter().map(|c| c.0).collect()
    }

    /// Finds the bases of all arrays that share elements with the one at `place`, if its base is
    /// argument `base`. `None` if that is not a base everywhere, or if the budget has ended;
    /// `failed` are those that are known not to be bases.
    fn spread(
        &self,
        place: Place,
        base: usize,
        failed: &FxHashSet<(Place, usize)>,
        bases: &mut FxHashMap<Place, usize>,
        cx: &Context,
    ) -> Option<()> {
        let terms = &*self.system.terms;
        if failed.contains(&(place, base)) {
            return None;
        }
        bases.insert(place, base);
        let mut queue = VecDeque::from([place]);
        while let Some(place) = queue.pop_front() {
            let base = bases[&place];
            for &clause in &self.clauses_of[&place] {
                if cx.stop().is_some() {
                    return None;
                }
                let uses = self.clauses[clause].as_ref()?;
                for (number, _, args) in uses.places.iter().filter(|p| p.1 == place) {
                    let class = uses.classes.find(*number);
                    let here = uses.view.resolve(terms, args[base]);
                    let same = |number: usize| uses.classes.find(number) == class;
                    if uses.refused.iter().any(|&r| same(r)) {
                        return None;
                    }
                    let mut accesses = uses.accesses.iter().filter(|a| same(a.0));
                    let fits = |index| {
                        without(terms, index, here).is_some() && !reads_arrays(terms, index)
                    };
                    if !accesses.all(|a| fits(a.1)) {
                        return None;
                    }
                    for (_, other, args) in uses.places.iter().filter(|p| same(p.0)) {
                        let is_base = |&at: &usize| uses.view.resolve(terms, args[at]) == here;
                        match bases.get(other) {
                            Some(known) if is_base(known) => {}
                            Some(_) => return None,
                            None => {
                                let sort = terms.sort_of(here);
                                let fits =
                                    |&at: &usize| terms.sort_of(args[at]) == sort && is_base(&at);
                                let at = (0..args.len()).find(fits)?;
                                if failed.contains(&(*other, at)) {
                                    return None;
                                }
                                bases.insert(*other, at);
                                queue.push_back(*other);
                            }
                        }
                    }
                }
            }
        }
        Some(())
    }
}

/// Whether an index is itself read from an array.
fn reads_arrays(terms: &TermStore, index: TermId) -> bool {
    let mut found = false;
    terms.post_order(&[index], |t| found |= terms.is_array(t));
    found
}

/// The index minus the base, if the base's summands are among the index's.
fn without(terms: &TermStore, index: TermId, base: TermId) -> Option<TermId> {
    let sort = terms.sort_of(index);
    match terms.sort(sort) {
        Sort::Int | Sort::Real => {
            let (index, base) = (terms.linear(index), terms.linear(base));
            let mut summands = base.monomials.iter();
            let all = summands.all(|(term, factor)| index.coefficient(*term) == *factor);
            all.then(|| terms.from_linear(&index.minus(&base), sort))
        }
        Sort::BitVec(_) if terms.is_value(base) => Some(terms.bv_sub(index, base)),
        Sort::BitVec(_) if index == base => terms.default_value(sort),
        Sort::BitVec(_) if *terms.op(index) == Op::BvAdd => {
            let mut rest = terms.args(index).to_vec();
            let at = rest.iter().position(|&t| t == base)?;
            rest.swap_remove(at);
            Some(match &rest[..] {
                [one] => *one,
                _ => terms.bv_op(&Op::BvAdd, &rest),
            })
        }
        _ => None,
    }
}

/// Rewrites the constraint for arrays with bases. Returns the new variable of each such array, and
/// its base.
fn rewrite(
    terms: &TermStore,
    clause: &mut Clause,
    uses: &Uses,
    based: &FxHashMap<usize, TermId>,
) -> FxHashMap<TermId, (TermId, TermId)> {
    let base_of = |array: TermId| {
        let number = uses.terms.get(&array)?;
        based.get(&uses.classes.find(*number)).copied()
    };
    let mut vars: FxHashMap<TermId, (TermId, TermId)> = FxHashMap::default();
    for &array in uses.terms.keys().filter(|&&t| terms.is_var(t)) {
        if let Some(base) = base_of(array) {
            let new = part_var(terms, array, "from", terms.sort_of(array));
            vars.insert(array, (new, base));
        }
    }
    let mut memo: FxHashMap<TermId, TermId> = FxHashMap::default();
    terms.post_order(&[clause.constraint], |t| {
        let node = terms.node(t);
        let mut args: Vec<TermId> = node.args.iter().map(|a| memo[a]).collect();
        if matches!(node.op, Op::Select | Op::Store)
            && let Some(base) = base_of(node.args[0])
        {
            let index = uses.view.resolve(terms, node.args[1]);
            let base = uses.view.resolve(terms, base);
            // The analysis has checked that the base is a summand.
            args[1] = without(terms, index, base).unwrap_or(args[1]);
        }
        let new = match vars.get(&t) {
            Some(var) => var.0,
            None if args == *node.args => t,
            None => terms.rebuild(&node.op, &args, node.sort),
        };
        memo.insert(t, new);
    });
    clause.constraint = memo[&clause.constraint];
    vars
}

/// The value of the array from that of the array relative to a base.
fn shifted_back(terms: &Rc<TermStore>, new: TermId, base: TermId) -> Computation {
    let terms = terms.clone();
    Box::new(move |values| {
        let base = *values.get(&base)?;
        let array = *values.get(&new)?;
        let (entries, default) = terms.array_value(array);
        let entries = entries
            .into_iter()
            .map(|(index, element)| (sum(&terms, base, index), element));
        Some(terms.array_from_entries(terms.sort_of(array), entries, default))
    })
}

/// `base + offset`, of numbers or bit-vectors.
pub(super) fn sum(terms: &TermStore, base: TermId, offset: TermId) -> TermId {
    match terms.sort_of(base) {
        SortId::INT | SortId::REAL => terms.add(&[base, offset]),
        _ => terms.bv_op(&Op::BvAdd, &[base, offset]),
    }
}
