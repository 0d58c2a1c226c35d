//! A relational domain over many variables: an element for each of several small packs.
//!
//! The facts of a clause relate variables, and each connected component gets its own transfer. The
//! formal variables of predicates have packs that are chosen beforehand from the relations in the
//! clauses, so that elements that meet at a predicate have the same packs.
//!
//! Invariant: the parts of an element have no variable in common.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::abstract_domain::Domain;
use super::cube::{Cube, Fact};
use super::nonempty::NonemptyDomain;
use alphorn_arith::{Constraint, Relation};
use alphorn_chc::System;
use alphorn_term::run::Budget;
use alphorn_term::{Linear, Op, Rational, SortId, TermId, TermStore};

/// Limits of the choice of packs.
struct Limits {
    /// Variables of an atom; larger atoms relate no variables.
    max_atom_variables: usize,
    /// Neighbours of a variable that are considered; further ones are left out.
    max_neighbours: usize,
}

const LIMITS: Limits = Limits {
    max_atom_variables: 6,
    max_neighbours: 40,
};

/// Packs (Blanchet et al., PLDI 2003) of variables, and components as for decomposed elements
/// (Singh, Püschel and Vechev, POPL 2017).
pub struct Packs<D> {
    domain: D,
    terms: Rc<TermStore>,
    /// The packs of formal variables, and the index of each variable's pack.
    packs: Vec<Vec<TermId>>,
    home: FxHashMap<TermId, usize>,
    /// Variables of a component, at most.
    limit: usize,
    /// The variables of terms over bit-vectors, if the domain is about these.
    bitvecs: Option<RefCell<FxHashMap<TermId, Rc<[TermId]>>>>,
    budget: Option<Budget>,
}

/// Elements with their sets of variables, which are sorted; ordered by the first of these.
pub type Parts<E> = Vec<(Vec<TermId>, E)>;

/// Equivalence classes of numbers.
struct Classes {
    parent: Vec<usize>,
    size: Vec<usize>,
}

impl Classes {
    fn new(count: usize) -> Self {
        Classes {
            parent: (0..count).collect(),
            size: vec![1; count],
        }
    }

    fn find(&mut self, mut at: usize) -> usize {
        while self.parent[at] != at {
            self.parent[at] = self.parent[self.parent[at]];
            at = self.parent[at];
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        if a != b {
            let (small, large) = if self.size[a] < self.size[b] {
                (a, b)
            } else {
                (b, a)
            };
            self.parent[small] = large;
            self.size[large] += self.size[small];
        }
    }

    /// Joins all members if the class stays within the limit.
    fn join_within(&mut self, members: &[usize], limit: usize) -> bool {
        let mut roots: Vec<usize> = members.iter().map(|&m| self.find(m)).collect();
        roots.sort_unstable();
        roots.dedup();
        let total: usize = roots.iter().map(|&r| self.size[r]).sum();
        if roots.len() > 1 && total > limit {
            return false;
        }
        roots
            .windows(2)
            .for_each(|pair| self.join(pair[0], pair[1]));
        true
    }
}

/// Variables and their numbers.
#[derive(Default)]
struct Numbering {
    vars: Vec<TermId>,
    at: FxHashMap<TermId, usize>,
}

impl Numbering {
    fn number(&mut self, var: TermId) -> usize {
        let next = self.vars.len();
        let at = *self.at.entry(var).or_insert(next);
        if at == next {
            self.vars.push(var);
        }
        at
    }
}

impl<D: Domain> Packs<D> {
    /// A domain over packs of formal variables, see [`packs`], and over components of at most
    /// `limit` variables otherwise.
    pub fn new(domain: D, terms: Rc<TermStore>, packs: Vec<Vec<TermId>>, limit: usize) -> Self {
        let mut home = FxHashMap::default();
        for (number, pack) in packs.iter().enumerate() {
            home.extend(pack.iter().map(|&v| (v, number)));
        }
        Packs {
            domain,
            terms,
            packs,
            home,
            limit,
            bitvecs: None,
            budget: None,
        }
    }

    /// Makes the domain one of bit-vectors: terms relate the variables that occur in them.
    pub fn of_bitvecs(mut self) -> Self {
        self.bitvecs = Some(RefCell::default());
        self
    }

    /// The variables that a term relates.
    fn related(&self, term: TermId) -> Rc<[TermId]> {
        match &self.bitvecs {
            Some(known) if !self.terms.is_var(term) && is_about_bitvecs(&self.terms, term) => {
                let mut known = known.borrow_mut();
                let vars = known.entry(term);
                let vars = vars.or_insert_with(|| self.terms.free_vars(&[term]).into());
                vars.clone()
            }
            _ => [term].into(),
        }
    }

    /// Sets a budget; when it is spent, transfers return all assignments.
    pub fn within(mut self, budget: Budget) -> Self {
        self.budget = Some(budget);
        self
    }

    /// The meet of the parts that contain some of the variables, restricted to these.
    fn gather(&self, parts: &[&(Vec<TermId>, D::Element)], vars: &[TermId]) -> D::Element {
        if let [(own, element)] = parts
            && own.iter().all(|v| vars.binary_search(v).is_ok())
        {
            return element.clone();
        }
        let inputs: Vec<D::Element> = parts.iter().map(|p| p.1.clone()).collect();
        let keep: FxHashSet<TermId> = vars.iter().copied().collect();
        self.domain.transfer(&inputs, &Cube::default(), Some(&keep))
    }

    /// Distributes the variables of formal packs to their packs.
    fn settle(&self, parts: Vec<(Vec<TermId>, D::Element)>) -> Option<Parts<D::Element>> {
        let mut touched: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        let mut result = Vec::with_capacity(parts.len());
        for (index, (vars, element)) in parts.iter().enumerate() {
            let mut homeless = Vec::new();
            for var in vars {
                match self.home.get(var) {
                    Some(&pack) => {
                        let list = touched.entry(pack).or_default();
                        if list.last() != Some(&index) {
                            list.push(index);
                        }
                    }
                    None => homeless.push(*var),
                }
            }
            if !homeless.is_empty() {
                let element = if homeless.len() == vars.len() {
                    element.clone()
                } else {
                    self.gather(&[&parts[index]], &homeless)
                };
                result.push((homeless, element));
            }
        }
        for (pack, indexes) in touched {
            let members = &self.packs[pack];
            let all: Vec<_> = indexes.iter().map(|&i| &parts[i]).collect();
            result.push((members.clone(), self.gather(&all, members)));
        }
        self.finished(result)
    }

    fn finished(&self, mut parts: Vec<(Vec<TermId>, D::Element)>) -> Option<Parts<D::Element>> {
        if parts.iter().any(|p| self.domain.is_bottom(&p.1)) {
            return None;
        }
        parts.sort_by(|a, b| a.0.cmp(&b.0));
        Some(parts)
    }

    /// Both elements over the same sets of variables: the classes that the sets of both generate.
    fn aligned(
        &self,
        x: &[(Vec<TermId>, D::Element)],
        y: &[(Vec<TermId>, D::Element)],
    ) -> Vec<(Vec<TermId>, D::Element, D::Element)> {
        let keys = |parts: &[(Vec<TermId>, D::Element)]| {
            let keys = parts.iter().map(|p| p.0.clone());
            keys.collect::<FxHashSet<_>>()
        };
        // Most sets occur in both.
        let common: FxHashSet<Vec<TermId>> = keys(x).intersection(&keys(y)).cloned().collect();
        let mut numbering = Numbering::default();
        for var in x.iter().chain(y).flat_map(|p| &p.0) {
            numbering.number(*var);
        }
        let mut classes = Classes::new(numbering.vars.len());
        for (vars, _) in x.iter().chain(y) {
            for pair in vars.windows(2) {
                classes.join(numbering.at[&pair[0]], numbering.at[&pair[1]]);
            }
        }
        type Group<'a, E> = (Vec<&'a (Vec<TermId>, E)>, Vec<&'a (Vec<TermId>, E)>);
        let mut groups: FxHashMap<usize, Group<D::Element>> = FxHashMap::default();
        for (second, parts) in [(false, x), (true, y)] {
            for part in parts {
                let Some(first) = part.0.first() else {
                    continue;
                };
                let group = groups.entry(classes.find(numbering.at[first])).or_default();
                if second {
                    group.1.push(part);
                } else {
                    group.0.push(part);
                }
            }
        }
        let mut result = Vec::with_capacity(groups.len());
        for (left, right) in groups.into_values() {
            if let ([a], [b]) = (&left[..], &right[..])
                && common.contains(&a.0)
            {
                result.push((a.0.clone(), a.1.clone(), b.1.clone()));
                continue;
            }
            let mut vars: Vec<TermId> = left
                .iter()
                .chain(&right)
                .flat_map(|p| p.0.clone())
                .collect();
            vars.sort_unstable();
            vars.dedup();
            let (a, b) = (self.gather(&left, &vars), self.gather(&right, &vars));
            result.push((vars, a, b));
        }
        result
    }

    fn pointwise(
        &self,
        x: &[(Vec<TermId>, D::Element)],
        y: &[(Vec<TermId>, D::Element)],
        combine: impl Fn(&D::Element, &D::Element) -> D::Element,
    ) -> Option<Parts<D::Element>> {
        let aligned = self.aligned(x, y).into_iter();
        self.finished(
            aligned
                .map(|(vars, a, b)| (vars, combine(&a, &b)))
                .collect(),
        )
    }

    /// The facts with known values substituted; those with few variables come first, since they
    /// decide which variables are related.
    fn simplified(&self, cube: &Cube) -> Vec<Fact> {
        let mut values: FxHashMap<TermId, Rational> = FxHashMap::default();
        for row in cube.constraints() {
            if let (Relation::Equal, [(var, c)]) = (row.relation, &row.linear.monomials[..]) {
                values.insert(*var, -&row.linear.constant / c);
            }
        }
        let put_in = |row: &Constraint| {
            let known = |m: &(TermId, Rational)| values.contains_key(&m.0);
            if row.linear.monomials.len() < 2 || !row.linear.monomials.iter().any(known) {
                return Fact::Linear(row.clone());
            }
            let mut linear = Linear {
                monomials: Vec::with_capacity(row.linear.monomials.len()),
                constant: row.linear.constant.clone(),
            };
            for (var, coefficient) in &row.linear.monomials {
                match values.get(var) {
                    Some(value) => linear.constant += coefficient * value,
                    None => linear.monomials.push((*var, coefficient.clone())),
                }
            }
            Fact::linear(linear, row.relation)
        };
        let mut facts: Vec<Fact> = cube
            .facts
            .iter()
            .map(|fact| match fact {
                Fact::Linear(row) => put_in(row),
                other => other.clone(),
            })
            .collect();
        facts.sort_by_key(|fact| match fact {
            Fact::Linear(row) => row.linear.monomials.len(),
            Fact::Value(term, _) if self.terms.sort_of(*term) == SortId::BOOL => 3,
            _ => 2,
        });
        facts
    }
}

impl<D: Domain> NonemptyDomain for Packs<D> {
    type Set = Parts<D::Element>;

    fn terms(&self) -> &TermStore {
        &self.terms
    }

    fn all(&self) -> Self::Set {
        Vec::new()
    }

    fn transfer(
        &self,
        inputs: &[&Self::Set],
        cube: &Cube,
        keep: Option<&FxHashSet<TermId>>,
    ) -> Option<Self::Set> {
        if self.budget.as_ref().is_some_and(Budget::is_spent) {
            return Some(self.all());
        }
        let mut numbering = Numbering::default();
        let mut parts = Vec::new();
        for input in inputs {
            for part in *input {
                let numbers: Vec<usize> = part.0.iter().map(|v| numbering.number(*v)).collect();
                parts.push((numbers, &part.1));
            }
        }
        let facts = self.simplified(cube);
        let mut related: Vec<Vec<usize>> = Vec::with_capacity(facts.len());
        for fact in &facts {
            let mut number = |terms: &[TermId]| {
                let vars = terms.iter().flat_map(|t| self.related(*t).to_vec());
                vars.map(|v| numbering.number(v)).collect()
            };
            related.push(match fact {
                Fact::Linear(row) => {
                    let vars = row.linear.monomials.iter();
                    vars.map(|m| numbering.number(m.0)).collect()
                }
                Fact::Value(a, _) => number(&[*a]),
                Fact::Same(a, b) => number(&[*a, *b]),
            });
        }
        let mut classes = Classes::new(numbering.vars.len());
        for (numbers, _) in &parts {
            numbers
                .windows(2)
                .for_each(|pair| classes.join(pair[0], pair[1]));
        }
        let relating: Vec<bool> = related
            .iter()
            .map(|numbers| classes.join_within(numbers, self.limit))
            .collect();
        struct Component<E> {
            inputs: Vec<E>,
            facts: Vec<Fact>,
            keep: Vec<TermId>,
            size: usize,
        }
        let mut at: FxHashMap<usize, usize> = FxHashMap::default();
        let mut components: Vec<Component<D::Element>> = Vec::new();
        for (number, &var) in numbering.vars.iter().enumerate() {
            let next = components.len();
            let index = *at.entry(classes.find(number)).or_insert(next);
            if index == next {
                components.push(Component {
                    inputs: Vec::new(),
                    facts: Vec::new(),
                    keep: Vec::new(),
                    size: 0,
                });
            }
            components[index].size += 1;
            if keep.map_or_else(|| self.terms.is_var(var), |k| k.contains(&var)) {
                components[index].keep.push(var);
            }
        }
        for (numbers, element) in parts {
            if let Some(first) = numbers.first() {
                components[at[&classes.find(*first)]]
                    .inputs
                    .push(element.clone());
            }
        }
        for ((fact, numbers), relating) in facts.into_iter().zip(related).zip(relating) {
            match numbers.first() {
                Some(first) if relating => components[at[&classes.find(*first)]].facts.push(fact),
                Some(_) => {}
                None => {
                    // No variable is left; a domain decides whether the fact is false.
                    let cube = Cube { facts: vec![fact] };
                    if self
                        .domain
                        .is_bottom(&self.domain.transfer(&[], &cube, None))
                    {
                        return None;
                    }
                }
            }
        }
        let mut result = Vec::with_capacity(components.len());
        for component in components {
            if component.keep.is_empty() && component.size == 1 && component.inputs.is_empty() {
                continue;
            }
            let mut vars = component.keep;
            vars.sort_unstable();
            let keep: FxHashSet<TermId> = vars.iter().copied().collect();
            let cube = Cube {
                facts: component.facts,
            };
            let image = self.domain.transfer(&component.inputs, &cube, Some(&keep));
            if self.domain.is_bottom(&image) {
                return None;
            }
            if !vars.is_empty() {
                result.push((vars, image));
            }
        }
        self.settle(result)
    }

    fn join(&self, a: &Self::Set, b: &Self::Set) -> Option<Self::Set> {
        self.pointwise(a, b, |p, q| self.domain.join(p, q))
    }

    fn widen(&self, a: &Self::Set, b: &Self::Set) -> Option<Self::Set> {
        self.pointwise(a, b, |p, q| self.domain.widen(p, q))
    }

    fn narrow(&self, a: &Self::Set, b: &Self::Set) -> Option<Self::Set> {
        self.pointwise(a, b, |p, q| self.domain.narrow(p, q))
    }

    fn entails(&self, a: &Self::Set, b: &Self::Set) -> bool {
        let mut aligned = self.aligned(a, b).into_iter();
        aligned.all(|(_, p, q)| self.domain.entails(&p, &q))
    }

    fn rename(&self, set: &Self::Set, map: &FxHashMap<TermId, TermId>) -> Option<Self::Set> {
        let renamed = set.iter().map(|(vars, element)| {
            let name = |v: &TermId| map.get(v).copied().unwrap_or(*v);
            let mut vars: Vec<TermId> = vars.iter().map(name).collect();
            vars.sort_unstable();
            (vars, self.domain.rename(element, map))
        });
        self.settle(renamed.collect())
    }

    fn facts(&self, set: &Self::Set) -> Vec<Fact> {
        let parts = set.iter();
        parts.flat_map(|p| self.domain.facts(&p.1)).collect()
    }

    fn formula(&self, set: &Self::Set) -> Vec<TermId> {
        let parts = set.iter();
        parts.flat_map(|p| self.domain.formula(&p.1)).collect()
    }
}

/// Whether the term is a bit-vector, or compares bit-vectors.
fn is_about_bitvecs(terms: &TermStore, term: TermId) -> bool {
    let first = terms.args(term).first().copied();
    let is_bitvec = |t: TermId| terms.width(t) > 0;
    is_bitvec(term) || terms.sort_of(term) == SortId::BOOL && first.is_some_and(is_bitvec)
}

/// Packs of at most `limit` formal variables of sorts Int and Real, or of bit-vectors: all
/// variables of a predicate if they are few enough, otherwise those that atoms of the clauses
/// relate, directly or through equal variables. Near-linear in the size of the system.
pub fn packs(system: &System, limit: usize, bitvecs: bool) -> Vec<Vec<TermId>> {
    let terms = &system.terms;
    let number = |var: TermId| {
        let sort = terms.sort_of(var);
        if bitvecs {
            return terms.width(var) > 0;
        }
        sort == SortId::INT || sort == SortId::REAL
    };
    let mut result = Vec::new();
    // Formal variables of the predicates that are too large for one pack.
    let mut large: Vec<Vec<TermId>> = Vec::new();
    for predicate in system.used_predicates() {
        let params = system.predicate(predicate).params.iter().copied();
        let mut formals: Vec<TermId> = params.filter(|p| number(*p)).collect();
        formals.sort_unstable();
        match formals.len() {
            0 => {}
            n if n <= limit => result.push(formals),
            _ => large.push(formals),
        }
    }
    if large.is_empty() {
        return result;
    }
    let mut formals = Numbering::default();
    for predicate in system.used_predicates() {
        for &param in &system.predicate(predicate).params {
            formals.number(param);
        }
    }
    // Classes of formal variables between which values flow, and the relations between these.
    let mut flows = Classes::new(formals.vars.len());
    let mut evidence: Vec<(usize, usize, u32)> = Vec::new();
    for clause in &system.clauses {
        let mut locals = Numbering::default();
        let mut formals_of: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for atom in clause.atoms() {
            let params = &system.predicate(atom.predicate).params;
            for (arg, param) in atom.args.iter().zip(params).filter(|p| number(*p.0)) {
                let own = formals_of.entry(locals.number(*arg)).or_default();
                own.push(formals.at[param]);
            }
        }
        let mut rows: Vec<(Vec<usize>, bool)> = Vec::new();
        terms.post_order(&[clause.constraint], |t| {
            let [a, b] = terms.args(t) else { return };
            let compared = matches!(
                terms.op(t),
                Op::Eq | Op::Le | Op::Ge | Op::BvUle | Op::BvSle
            );
            if !compared || !number(*a) {
                return;
            }
            let vars: Vec<TermId> = if bitvecs {
                terms.free_vars(&[*a, *b])
            } else {
                let linear = terms.difference(*a, *b);
                linear.monomials.iter().map(|m| m.0).collect()
            };
            if (2..=LIMITS.max_atom_variables).contains(&vars.len()) {
                let vars = vars.iter().filter(|v| terms.is_var(**v));
                let numbers: Vec<usize> = vars.map(|v| locals.number(*v)).collect();
                let copy = *terms.op(t) == Op::Eq && numbers.len() == 2;
                rows.push((numbers, copy));
            }
        });
        let mut same = Classes::new(locals.vars.len());
        for (numbers, _) in rows.iter().filter(|r| r.1) {
            same.join(numbers[0], numbers[1]);
        }
        // A formal variable for each class of the clause.
        let mut flow: FxHashMap<usize, usize> = FxHashMap::default();
        for (&var, own) in &formals_of {
            for &formal in own {
                let first = *flow.entry(same.find(var)).or_insert(formal);
                flows.join(first, formal);
            }
        }
        for (numbers, _) in &rows {
            let mut ends: Vec<usize> = numbers
                .iter()
                .filter_map(|n| flow.get(&same.find(*n)).copied())
                .collect();
            ends.sort_unstable();
            ends.dedup();
            for (i, &a) in ends.iter().enumerate() {
                evidence.extend(ends[i + 1..].iter().map(|&b| (a, b, 1)));
            }
        }
    }
    let mut weights: FxHashMap<(usize, usize), u32> = FxHashMap::default();
    for (a, b, weight) in evidence {
        let (a, b) = (flows.find(a), flows.find(b));
        *weights.entry((a.min(b), a.max(b))).or_default() += weight;
    }
    let mut neighbours: FxHashMap<usize, Vec<(u32, usize)>> = FxHashMap::default();
    for (&(a, b), &weight) in &weights {
        neighbours.entry(a).or_default().push((weight, b));
        neighbours.entry(b).or_default().push((weight, a));
    }
    for list in neighbours.values_mut() {
        list.sort_unstable_by(|a, b| b.cmp(a));
        list.truncate(LIMITS.max_neighbours);
    }
    for vars in large {
        let mut members: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for (index, var) in vars.iter().enumerate() {
            let flow = flows.find(formals.at[var]);
            members.entry(flow).or_default().push(index);
        }
        let mut edges: Vec<(u32, usize, usize)> = Vec::new();
        for (flow, from) in &members {
            for (weight, other) in neighbours.get(flow).into_iter().flatten() {
                let to = members
                    .get(other)
                    .into_iter()
                    .flatten()
                    .take(LIMITS.max_neighbours);
                for b in to {
                    let ends = from.iter().filter(|a| *a < b).take(LIMITS.max_neighbours);
                    edges.extend(ends.map(|a| (*weight, *a, *b)));
                }
            }
        }
        edges.sort_unstable_by_key(|e| (std::cmp::Reverse(e.0), e.1, e.2));
        let mut classes = Classes::new(vars.len());
        for (_, a, b) in edges {
            classes.join_within(&[a, b], limit);
        }
        let mut found: FxHashMap<usize, Vec<TermId>> = FxHashMap::default();
        for (index, var) in vars.iter().enumerate() {
            found.entry(classes.find(index)).or_default().push(*var);
        }
        let mut found: Vec<Vec<TermId>> = found.into_values().collect();
        found.sort_unstable();
        result.extend(found);
    }
    result
}
