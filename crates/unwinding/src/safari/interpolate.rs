//! Interpolants for labels, chosen so that the unwinding converges.
//!
//! Between a step into an abstracted successor (`A`) and the path before a node (`B`) there are
//! many interpolants; an arbitrary one mentions the numeral that a counter has on this path, and
//! each longer path gives another. The choice is guided in two ways:
//!
//! - *Term abstraction* (the authors' tool paper, CAV 2012): counters and other arguments that
//!   loops change are unwanted. Each is renamed apart in `A`; if the contradiction remains, it is
//!   not shared any more, and no interpolant mentions it.
//! - *Comparisons first*: there are finitely many formulas `s ⋈ t` over index variables, cells,
//!   arguments and numerals of the clauses that follow from `A`. If they contradict `B`, a minimal
//!   subset is the interpolant; comparisons about cells and index variables are preferred. Only the
//!   implicants of `A` for which they do not contradict `B` need Craig interpolation by the crate
//!   `interpolation`. On the slides the solver computes all interpolants.
//!
//! A label that is not yet refined (`labels=indexed`) consists of *index predicates* (Lahiri and
//! Bryant, "Predicate Abstraction with Indexed Predicates", TOCL 2007): comparisons that follow
//! from the pre-image and mention an index variable, a cell, or an argument at which a cell is
//! read. For a given number of index variables there are finitely many, so a label has no infinite
//! chain of weaker ones, as `n ≤ i`, `n ≤ i + 1`, ... is one in exact labels. Terms that only a
//! step's guard reads are added by a refinement: if the index predicates about these, too,
//! contradict `B`, all of them are the interpolant, since a minimal subset would be about the few
//! steps of this path. Later refinements relate other arguments.
//!
//! Invariant: an interpolant follows from `A`, contradicts `B`, and has only variables that are in
//! both. Index predicates follow from `A`.
use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use super::transition::{Cell, Transition};
use super::unwind::{Location, NodeId, Unwinding};
use super::{Interpolants, Labels};
use alphorn_chc::{PredicateId, System};
use alphorn_interpolation::InterpolationError;
use alphorn_proof::{Stop, ask, incomplete, undefined, values};
use alphorn_smt::{CoreEffort, SmtModel, Solver, implicant};
use alphorn_term::run::Context;
use alphorn_term::{Evaluator, Op, SortId, TermId, TermStore};

/// The terms of comparisons, from the clauses.
pub(super) struct Template {
    /// Numerals.
    values: Vec<TermId>,
    /// Whether bit-vectors are compared as signed numbers.
    signed: bool,
    /// Whether bit-vectors are compared as unsigned numbers.
    unsigned: bool,
    /// Arguments that are unwanted in interpolants, the least wanted first.
    unwanted: FxHashMap<PredicateId, Vec<usize>>,
}

impl Template {
    /// The template for these transitions.
    pub fn new(system: &System, transitions: &[Transition]) -> Template {
        let terms = &*system.terms;
        let roots: Vec<TermId> = transitions.iter().map(|t| t.case.constraint).collect();
        let mut counts: FxHashMap<SortId, usize> = FxHashMap::default();
        let mut values = vec![terms.int(0)];
        let (mut signed, mut unsigned) = (false, false);
        terms.post_order(&roots, |t| {
            let node = terms.node(t);
            signed |= node.op == Op::BvSle;
            unsigned |= node.op == Op::BvUle;
            let count = counts.entry(node.sort).or_default();
            let is_wanted = node.is_value && node.sort != SortId::BOOL && !terms.is_array(t);
            if is_wanted && !values.contains(&t) && *count < LIMITS.numerals_per_sort {
                *count += 1;
                values.push(t);
            }
        });
        let mut unwanted: FxHashMap<PredicateId, Vec<usize>> = FxHashMap::default();
        for counters in [true, false] {
            for transition in transitions {
                let Some(predicate) = transition.source() else {
                    continue;
                };
                let Some((counted, changed)) = transition.changes(terms) else {
                    continue;
                };
                let list = unwanted.entry(predicate).or_default();
                for at in if counters { counted } else { changed } {
                    if !list.contains(&at) {
                        list.push(at);
                    }
                }
            }
        }
        Template {
            values,
            signed,
            unsigned: unsigned || !signed,
            unwanted,
        }
    }

    /// Numerals of the clauses.
    pub fn values(&self) -> &[TermId] {
        &self.values
    }

    /// Comparisons of two of the terms, or of one with a numeral, that hold in a model, grouped by
    /// their terms; within a group, stronger comparisons come first.
    fn comparisons(&self, terms: &TermStore, vars: &[TermId], model: &SmtModel) -> Vec<Group> {
        let mut found: Vec<Group> = Vec::new();
        let sort = |t: TermId| terms.sort_of(t);
        for (at, &x) in vars.iter().enumerate() {
            let Ok(value) = model.value(x) else {
                continue;
            };
            if sort(x) == SortId::BOOL {
                let literal = if value == TermId::TRUE {
                    x
                } else {
                    terms.not(x)
                };
                found.push(Group::about([x, TermId::FALSE], vec![literal]));
                continue;
            }
            let values = self.values.iter().filter(|&&v| sort(v) == sort(x));
            let others = vars[at + 1..].iter().filter(|&&y| sort(y) == sort(x));
            for &y in values.chain(others) {
                self.compare(terms, x, y, model, &mut found);
            }
            if found.len() > LIMITS.comparisons {
                break;
            }
        }
        found
    }

    /// Adds the comparisons of two terms that hold in the model.
    fn compare(
        &self,
        terms: &TermStore,
        x: TermId,
        y: TermId,
        model: &SmtModel,
        found: &mut Vec<Group>,
    ) {
        type Order = fn(&TermStore, TermId, TermId) -> TermId;
        let unsigned: (Order, Order) = (TermStore::bv_ult, |t, a, b| t.bv_op(&Op::BvUle, &[a, b]));
        let signed: (Order, Order) = (TermStore::bv_slt, |t, a, b| t.bv_op(&Op::BvSle, &[a, b]));
        let mut orders: Vec<(Order, Order)> = Vec::new();
        if terms.sort_of(x).is_number() {
            orders.push((TermStore::lt, TermStore::le));
        } else if terms.width(x) > 0 {
            orders.extend(self.unsigned.then_some(unsigned));
            orders.extend(self.signed.then_some(signed));
        }
        let equation = terms.eq(x, y);
        let is_equal = model.satisfies(equation);
        if orders.is_empty() {
            let literal = if is_equal {
                equation
            } else {
                terms.not(equation)
            };
            found.push(Group::about([x, y], vec![literal]));
        }
        for (less, at_most) in orders {
            if is_equal {
                found.push(Group::about([x, y], vec![at_most(terms, x, y)]));
                found.push(Group::about([x, y], vec![at_most(terms, y, x)]));
                continue;
            }
            let (x, y) = match model.satisfies(less(terms, x, y)) {
                true => (x, y),
                false => (y, x),
            };
            let literals = vec![less(terms, x, y), at_most(terms, x, y), terms.not(equation)];
            found.push(Group::about([x, y], literals));
        }
    }
}

/// Comparisons of the same two terms.
struct Group {
    about: [TermId; 2],
    /// The first implies the others.
    literals: Vec<TermId>,
}

impl Group {
    fn about(about: [TermId; 2], literals: Vec<TermId>) -> Group {
        Group { about, literals }
    }
}

/// The preference for a formula in a label; smaller ranks are preferred.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Rank {
    /// It compares a cell with an argument or a numeral, or an index variable with an argument,
    /// with zero or with another one.
    Indexed,
    /// It compares cells with each other or with index variables.
    Cells,
    /// It compares arguments.
    Scalar,
    /// It has another numeral, which is often the value of a counter on this path; or it is no
    /// comparison.
    Other,
}

const RANKS: [Rank; 4] = [Rank::Indexed, Rank::Cells, Rank::Scalar, Rank::Other];

impl Unwinding<'_> {
    /// An interpolant of the formulas `after` and `before` a node, which contradict each other.
    pub fn separate(
        &mut self,
        node: NodeId,
        after: TermId,
        before: TermId,
        cx: &Context,
    ) -> Result<TermId, Stop> {
        if self.options.interpolants == Interpolants::Craig {
            return self.craig(&[after], before, cx);
        }
        let terms = self.terms.clone();
        let mut from_before = self.smt.solver();
        from_before.assert(before);
        let of_before: FxHashSet<TermId> = terms.free_vars(&[before]).into_iter().collect();
        if self.options.labels == Labels::Indexed {
            let predicates = self.all_index_predicates(node, after, &of_before, cx)?;
            from_before.push();
            predicates.iter().for_each(|&p| from_before.assert(p));
            let is_feasible = ask(&mut from_before, &[], cx)?.is_some();
            from_before.pop();
            if !is_feasible {
                return Ok(terms.and(&predicates));
            }
        }
        let after = self.abstracted(node, after, &mut from_before, cx)?;
        let mut shared = terms.free_vars(&[after]);
        shared.retain(|v| of_before.contains(v) && !terms.is_array(*v));
        let mut from_after = self.smt.solver();
        from_after.assert(after);
        let Some(mut model) = ask(&mut from_after, &[], cx)? else {
            return Ok(TermId::FALSE);
        };
        let conjuncts = terms.conjuncts(after);
        let follows = self.follows(node, &mut from_after, &conjuncts, &shared, &model, cx)?;
        if let Some(core) = self.core(&follows, &mut from_before) {
            self.counters.by_comparisons += 1;
            return Ok(terms.and(&core));
        }
        let vars = terms.free_vars(&[after]);
        let mut disjuncts = Vec::new();
        loop {
            let assignment = values(&model, &vars)?;
            let mut evaluator = Evaluator::new(&terms, &assignment);
            let cube = implicant(&terms, &[after], &mut evaluator).ok_or_else(undefined)?;
            let mut from_cube = self.smt.solver();
            cube.iter().for_each(|&literal| from_cube.assert(literal));
            let follows = self.follows(node, &mut from_cube, &cube, &shared, &model, cx)?;
            disjuncts.push(match self.core(&follows, &mut from_before) {
                Some(core) => {
                    self.counters.by_comparisons += 1;
                    terms.and(&core)
                }
                None => self.craig(&cube, before, cx)?,
            });
            from_after.assert(terms.not(disjuncts[disjuncts.len() - 1]));
            match ask(&mut from_after, &[], cx)? {
                Some(next) => model = next,
                None => return Ok(terms.or(&disjuncts)),
            }
            if disjuncts.len() == LIMITS.implicants {
                return self.craig(&[after], before, cx);
            }
        }
    }

    /// An interpolant by the interpolation service.
    fn craig(&mut self, a: &[TermId], b: TermId, cx: &Context) -> Result<TermId, Stop> {
        self.counters.by_interpolants += 1;
        self.interpolator.set_budget(Some(cx.budget.clone()));
        self.interpolator
            .binary(a, &[b])
            .map_err(|error| match error {
                InterpolationError::Limit(_) if cx.stop().is_some() => {
                    Stop::Reason(cx.stop().unwrap_or(alphorn_term::run::Reason::Timeout))
                }
                error => incomplete(error.to_string()),
            })
    }

    /// Labels a node with the index predicates that hold of its pre-image, over the terms that its
    /// step relates to the successor's label ([`Self::relevant_terms`]).
    pub fn label_by_predicates(&mut self, node: NodeId, cx: &Context) -> Result<(), Stop> {
        let terms = self.terms.clone();
        let mut solver = self.smt.solver();
        let (parts, axioms) = self.step_parts(node);
        parts.iter().chain(&axioms).for_each(|&p| solver.assert(p));
        let Some(model) = ask(&mut solver, &[], cx)? else {
            return Ok(());
        };
        let about = self.relevant_terms(node);
        let label = self.index_predicates(node, &mut solver, &about, &model, cx)?;
        self.strengthen(node, terms.and(&label));
        Ok(())
    }

    /// The index predicates that follow from `after`, also over terms that only the step's guard
    /// reads, with allowed variables only.
    fn all_index_predicates(
        &self,
        node: NodeId,
        after: TermId,
        allowed: &FxHashSet<TermId>,
        cx: &Context,
    ) -> Result<Vec<TermId>, Stop> {
        let mut solver = self.smt.solver();
        solver.assert(after);
        let Some(model) = ask(&mut solver, &[], cx)? else {
            return Ok(vec![TermId::FALSE]);
        };
        let mut about = self.comparable_terms(node, |_| true);
        about.retain(|v| allowed.contains(v));
        self.index_predicates(node, &mut solver, &about, &model, cx)
    }

    /// The index predicates over some variables that follow from the solver's assertions:
    /// comparisons about index variables or cells, or about arguments at which cells are read.
    /// `a[c]` stands for `∃k. k = c ∧ … a[k]`, and a comparison of `c` with an argument for one of
    /// `k`: that it is below a bound, or which of two cells a step reads where indexes are equal.
    fn index_predicates(
        &self,
        node: NodeId,
        solver: &mut Solver,
        about: &[TermId],
        model: &SmtModel,
        cx: &Context,
    ) -> Result<Vec<TermId>, Stop> {
        let mut groups = self.template.comparisons(&self.terms, about, model);
        let cells = &self.nodes[node].instance.source.cells;
        let read: Vec<&Cell> = cells.iter().filter(|c| about.contains(&c.var)).collect();
        groups.retain(|group| match self.rank(node, group.about) {
            Rank::Scalar => read.iter().any(|cell| group.about.contains(&cell.index)),
            rank => rank <= Rank::Cells,
        });
        let follows = self.strongest(node, solver, groups, cx)?;
        Ok(follows.into_iter().map(|f| f.1).collect())
    }

    /// The step into a node's successor with the successor's label; and axioms about the cells.
    fn step_parts(&self, node: NodeId) -> (Vec<TermId>, Vec<TermId>) {
        let node = &self.nodes[node];
        let mut parts = vec![node.instance.formula];
        let mut axioms = node.axioms.clone();
        if let Some(successor) = node.successor {
            parts.extend(&self.nodes[successor].label);
            axioms.extend(&self.nodes[successor].axioms);
        }
        (parts, axioms)
    }

    /// The terms that a node's step relates to the successor's label: the node's arguments, and the
    /// cells that equations connect with the label, with their indexes. Cells that only the guard
    /// reads are not among them, except in a query.
    fn relevant_terms(&self, node: NodeId) -> Vec<TermId> {
        let terms = &*self.terms;
        let (state, successor) = (
            &self.nodes[node].instance.source,
            self.nodes[node].successor,
        );
        let mut known: FxHashSet<TermId> = FxHashSet::default();
        let mut is_query = true;
        if let Some(successor) = successor.map(|s| &self.nodes[s]) {
            is_query = successor.location == Location::Error;
            known.extend(terms.free_vars(&successor.label));
        }
        let equations: Vec<Vec<TermId>> = terms
            .conjuncts(self.nodes[node].instance.formula)
            .into_iter()
            .filter(|&part| *terms.op(part) == Op::Eq)
            .map(|part| terms.free_vars(&[part]))
            .collect();
        loop {
            let before = known.len();
            for vars in &equations {
                if vars.iter().any(|v| known.contains(v)) {
                    known.extend(vars.iter().filter(|v| !state.args.contains(v)));
                }
            }
            if known.len() == before {
                break;
            }
        }
        self.comparable_terms(node, |cell| is_query || known.contains(&cell.var))
    }

    /// The arguments of a node's state, and the wanted cells with their indexes.
    fn comparable_terms(&self, node: NodeId, is_wanted: impl Fn(&Cell) -> bool) -> Vec<TermId> {
        let terms = &*self.terms;
        let state = &self.nodes[node].instance.source;
        let mut found: Vec<TermId> = state.args.clone();
        for cell in state.cells.iter().filter(|cell| is_wanted(cell)) {
            found.extend([cell.var, cell.index]);
        }
        let mut seen = FxHashSet::default();
        found.retain(|&t| terms.is_var(t) && !terms.is_array(t) && seen.insert(t));
        found
    }

    /// The cases of a node's step, as cubes that imply it; `None` if there are too many, or if a
    /// term has no value.
    pub fn cases(&self, node: NodeId, cx: &Context) -> Result<Option<Vec<TermId>>, Stop> {
        let terms = &*self.terms;
        let (parts, axioms) = self.step_parts(node);
        let vars = terms.free_vars(&[terms.and(&parts), terms.and(&axioms)]);
        let mut solver = self.smt.solver();
        parts.iter().chain(&axioms).for_each(|&p| solver.assert(p));
        let mut cubes = Vec::new();
        while let Some(model) = ask(&mut solver, &[], cx)? {
            if cubes.len() == LIMITS.implicants {
                return Ok(None);
            }
            let assignment = values(&model, &vars)?;
            let mut evaluator = Evaluator::new(terms, &assignment);
            let Some(cube) = implicant(terms, &parts, &mut evaluator) else {
                return Ok(None);
            };
            let cube = terms.and(&cube);
            solver.assert(terms.not(cube));
            cubes.push(cube);
        }
        Ok(Some(cubes))
    }

    /// Renames unwanted arguments of the node apart where the contradiction remains.
    fn abstracted(
        &mut self,
        node: NodeId,
        after: TermId,
        before: &mut Solver,
        cx: &Context,
    ) -> Result<TermId, Stop> {
        let terms = self.terms.clone();
        let Location::At(predicate) = self.nodes[node].location else {
            return Ok(after);
        };
        let unwanted = self.template.unwanted.get(&predicate);
        let args = &self.nodes[node].instance.source.args;
        let unwanted: Vec<TermId> = unwanted.into_iter().flatten().map(|&at| args[at]).collect();
        let mut result = after;
        let mut free = terms.free_vars(&[after]);
        for term in unwanted {
            if !free.contains(&term) {
                continue;
            }
            let renamed = terms.substitute(result, &terms.renaming(&[term]));
            before.push();
            before.assert(renamed);
            let is_feasible = ask(before, &[], cx)?.is_some();
            before.pop();
            if !is_feasible {
                self.counters.abstracted += 1;
                result = renamed;
                free = terms.free_vars(&[result]);
            }
        }
        Ok(result)
    }

    /// The solver's parts over shared variables, and comparisons that follow from the solver's
    /// assertions, of which `model` is a model.
    fn follows(
        &self,
        node: NodeId,
        solver: &mut Solver,
        parts: &[TermId],
        shared: &[TermId],
        model: &SmtModel,
        cx: &Context,
    ) -> Result<Vec<(Rank, TermId)>, Stop> {
        let terms = &*self.terms;
        let is_shared = |t: &TermId| terms.free_vars(&[*t]).iter().all(|v| shared.contains(v));
        let own = parts.iter().copied().filter(is_shared);
        let mut found: Vec<(Rank, TermId)> = own.map(|part| (Rank::Other, part)).collect();
        let groups = self.template.comparisons(terms, shared, model);
        found.extend(self.strongest(node, solver, groups, cx)?);
        Ok(found)
    }

    /// For each group the first comparison that follows from the solver's assertions, which have a
    /// model that satisfies all comparisons.
    fn strongest(
        &self,
        node: NodeId,
        solver: &mut Solver,
        mut groups: Vec<Group>,
        cx: &Context,
    ) -> Result<Vec<(Rank, TermId)>, Stop> {
        let terms = &*self.terms;
        solver.push();
        let done = keep_consequences(terms, solver, &mut groups, cx);
        solver.pop();
        done?;
        let mut found = Vec::new();
        for Group { about, literals } in groups {
            if let Some(&strongest) = literals.first() {
                let rank = self.rank(node, about);
                found.push((rank, strongest));
            }
        }
        Ok(found)
    }

    /// The rank of a comparison of these terms in a node's label.
    fn rank(&self, node: NodeId, about: [TermId; 2]) -> Rank {
        let terms = &*self.terms;
        let state = &self.nodes[node].instance.source;
        let is_numeral =
            |&t: &TermId| terms.is_value(t) && terms.default_value(terms.sort_of(t)) != Some(t);
        let is_cell = |t: &&TermId| state.cells.iter().any(|cell| cell.var == **t);
        let is_arg = |t: &TermId| terms.is_value(*t) || state.args.contains(t);
        let cells = about.iter().filter(is_cell).count();
        match () {
            // Elements are compared with numerals, which are data.
            () if cells == 1 && about.iter().any(is_arg) => Rank::Indexed,
            () if about.iter().any(is_numeral) => Rank::Other,
            () if about.iter().all(is_arg) => Rank::Scalar,
            () if cells == 0 => Rank::Indexed,
            () => Rank::Cells,
        }
    }

    /// A minimal subset of the formulas that contradicts the solver of the path before the node,
    /// with the best ranks that suffice. `None` if even all do not contradict it.
    fn core(&self, formulas: &[(Rank, TermId)], before: &mut Solver) -> Option<Vec<TermId>> {
        for least in RANKS {
            let wanted = formulas.iter().filter(|f| f.0 <= least);
            let wanted: Vec<TermId> = wanted.map(|f| f.1).collect();
            if let Some(core) = before.core_by(&[], &wanted, CoreEffort::ALL) {
                return Some(core);
            }
        }
        None
    }
}

/// Removes literals from the groups until those that are left follow from the solver's assertions,
/// which have a model that satisfies all literals. Leaves assertions in the solver's scope.
fn keep_consequences(
    terms: &TermStore,
    solver: &mut Solver,
    groups: &mut [Group],
    cx: &Context,
) -> Result<(), Stop> {
    loop {
        // The first literal of a group implies those that are first later, so the assertions get
        // stronger.
        let first = groups.iter().filter_map(|g| g.literals.first().copied());
        let first: Vec<TermId> = first.collect();
        if first.is_empty() {
            return Ok(());
        }
        solver.assert(terms.not(terms.and(&first)));
        let Some(model) = ask(solver, &[], cx)? else {
            return Ok(());
        };
        let mut is_changed = false;
        for Group { literals, .. } in groups.iter_mut() {
            if literals.first().is_some_and(|&l| !model.satisfies(l)) {
                is_changed = true;
                literals.retain(|&literal| model.satisfies(literal));
            }
        }
        if !is_changed {
            return Err(undefined());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use alphorn_smt::Smt;

    #[test]
    fn the_first_comparison_that_follows_stays() {
        let terms = Rc::new(TermStore::new());
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| terms.fresh_var(name, SortId::INT));
        let smt = Smt::new(terms.clone());
        let mut solver = smt.solver();
        let known = [terms.lt(a, b), terms.le(b, c), terms.not(terms.eq(a, d))];
        known.iter().for_each(|&fact| solver.assert(fact));
        solver.assert(terms.lt(c, terms.add(&[d, terms.int(9)])));
        let pairs = [[a, b], [b, c], [a, c], [a, d], [b, d]];
        let mut groups: Vec<Group> = pairs
            .iter()
            .map(|&[x, y]| {
                let literals = [terms.lt(x, y), terms.le(x, y), terms.not(terms.eq(x, y))];
                Group::about([x, y], literals.to_vec())
            })
            .collect();
        let cx = Context::new(terms.clone());
        keep_consequences(&terms, &mut solver, &mut groups, &cx).expect("no limit");
        let first: Vec<_> = groups.iter().map(|g| g.literals.first().copied()).collect();
        let [ab, bc, ad] = known;
        assert_eq!(
            first,
            [Some(ab), Some(bc), Some(terms.lt(a, c)), Some(ad), None]
        );
    }
}
