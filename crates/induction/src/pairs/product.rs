//! Products of atoms: one predicate for several facts, derived by one clause for each.
//!
//! Invariant: a derivation of a fact of the product is one of each of its components, and the other way
//! round, since premises are joined whatever they say.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::limits::LIMITS;
use alphorn_chc::{Atom, DependencyGraph, PredicateId, System};
use alphorn_proof::{Stop, incomplete};
use alphorn_smt::{SatResult, Smt};
use alphorn_term::TermId;
use alphorn_term::run::Context;
use alphorn_witness::{
    Derivations, Fact, Instance, Model, ProofNode, Refutation, RefutationStep, RelationalLemma,
};

/// A premise of a component: the component, and its position in the component's clause.
type Premise = (usize, usize);

/// Which premises become one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Joining {
    /// Those at one position of the components' clauses.
    Positions,
    /// Also those of one clause that do not depend on its head: two calls of a function, or a
    /// call and a loop.
    Calls,
}

/// A clause of the product.
struct Origin {
    /// The clauses of the components.
    rules: Vec<usize>,
    /// The variables of each in the product.
    maps: Vec<FxHashMap<TermId, TermId>>,
    /// The premises that each body atom joins.
    groups: Vec<Vec<Premise>>,
}

/// The product of a system.
pub struct Product {
    pub system: System,
    /// The components of each predicate of the product.
    tuples: Vec<Vec<PredicateId>>,
    /// The origins of the clauses, in their order.
    origins: Vec<Origin>,
    /// The clauses of the system that derive each predicate.
    rules: Vec<Vec<usize>>,
    /// By predicate that occurs, its strongly connected component.
    recursion: FxHashMap<PredicateId, usize>,
    joining: Joining,
    /// Whether premises were joined that [`Joining::Positions`] leaves apart.
    joins_calls: bool,
}

/// Whether some query has several atoms.
pub fn has_joint_queries(system: &System) -> bool {
    let mut clauses = system.clauses.iter();
    clauses.any(|clause| clause.head.is_none() && clause.body.len() > 1)
}

/// Whether some clause has several premises that do not depend on its head.
pub fn has_calls(system: &System) -> bool {
    let recursion = recursion(system);
    let component = |atom: &Atom| recursion.get(&atom.predicate);
    system.clauses.iter().any(|clause| {
        let own = clause.head.as_ref().map(component);
        let calls = clause
            .body
            .iter()
            .filter(|&atom| Some(component(atom)) != own);
        own.is_some() && calls.count() > 1
    })
}

/// By predicate that occurs, its strongly connected component.
fn recursion(system: &System) -> FxHashMap<PredicateId, usize> {
    let components = DependencyGraph::new(system).components();
    let components = components.into_iter().enumerate();
    components
        .flat_map(|(at, component)| component.into_iter().map(move |predicate| (predicate, at)))
        .collect()
}

/// Makes a product.
struct Builder<'a> {
    system: &'a System,
    product: Product,
    numbers: FxHashMap<Vec<PredicateId>, PredicateId>,
    open: Vec<PredicateId>,
}

impl Product {
    /// The product of the queries' atoms, and of what their clauses need.
    ///
    /// # Errors
    /// It is too large, or the run ends.
    pub fn of(
        system: &System,
        joining: Joining,
        smt: &Rc<Smt>,
        cx: &Context,
    ) -> Result<Product, Stop> {
        let mut rules = vec![Vec::new(); system.predicates.len()];
        for (at, clause) in system.clauses.iter().enumerate() {
            if let Some(head) = &clause.head {
                rules[head.predicate.index()].push(at);
            }
        }
        let mut builder = Builder {
            system,
            product: Product {
                system: System::new(system.terms.clone()),
                tuples: Vec::new(),
                origins: Vec::new(),
                rules,
                recursion: recursion(system),
                joining,
                joins_calls: false,
            },
            numbers: FxHashMap::default(),
            open: Vec::new(),
        };
        let queries = system.clauses.iter().enumerate();
        for (at, clause) in queries.filter(|(_, clause)| clause.head.is_none()) {
            if clause.body.len() > LIMITS.components {
                return Err(incomplete("a query with many atoms"));
            }
            builder.query(at);
        }
        let mut solver = smt.solver();
        while let Some(predicate) = builder.open.pop() {
            let tuple = builder.product.tuples[predicate.index()].clone();
            for rules in combinations(&tuple, &builder.product.rules)? {
                if let Some(reason) = cx.stop() {
                    return Err(Stop::Reason(reason));
                }
                let (origin, constraint) = builder.origin(&rules);
                solver.push();
                solver.assert(constraint);
                let answer = solver.check(&[]);
                solver.pop();
                if answer != SatResult::Unsat {
                    builder.clause(predicate, origin, constraint);
                }
                let clauses = builder.product.origins.len();
                if clauses > LIMITS.clauses || builder.product.tuples.len() > LIMITS.predicates {
                    return Err(incomplete("the product is too large"));
                }
            }
        }
        Ok(builder.product)
    }

    /// Whether some predicate of the product has several components.
    #[cfg(test)]
    pub fn joins(&self) -> bool {
        self.tuples.iter().any(|tuple| tuple.len() > 1)
    }

    /// Whether premises were joined that [`Joining::Positions`] leaves apart.
    pub fn joins_calls(&self) -> bool {
        self.joins_calls
    }

    /// The premises that each body atom joins, in a clause whose components have these clauses.
    fn groups(&self, system: &System, rules: &[usize]) -> Vec<Vec<Premise>> {
        let body = |component: usize| &system.clauses[rules[component]].body;
        let most = (0..rules.len()).map(|c| body(c).len()).max().unwrap_or(0);
        let at_position = |at: usize| {
            let with = (0..rules.len()).filter(|&component| body(component).len() > at);
            with.map(|component| (component, at)).collect()
        };
        let groups: Vec<Vec<Premise>> = (0..most).map(at_position).collect();
        if self.joining == Joining::Positions {
            return groups;
        }
        let is_call = |&(component, at): &Premise| {
            let head = system.clauses[rules[component]].head.as_ref();
            let own = head.and_then(|head| self.recursion.get(&head.predicate));
            own != self.recursion.get(&body(component)[at].predicate)
        };
        let (calls, mut others): (Vec<_>, Vec<_>) = groups
            .iter()
            .cloned()
            .partition(|group| group.iter().all(is_call));
        let joined = calls.concat();
        if calls.len() < 2 || joined.len() > LIMITS.components {
            return groups;
        }
        others.push(joined);
        others
    }
}

/// All choices of a clause for each component.
fn combinations(tuple: &[PredicateId], rules: &[Vec<usize>]) -> Result<Vec<Vec<usize>>, Stop> {
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for predicate in tuple {
        let choices = &rules[predicate.index()];
        if all.len() * choices.len() > LIMITS.clauses {
            return Err(incomplete("the product is too large"));
        }
        let longer = |chosen: &Vec<usize>| {
            let longer = choices.iter().map(|&rule| [&chosen[..], &[rule]].concat());
            longer.collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    Ok(all)
}

impl Builder<'_> {
    /// The predicate of the product with these components.
    fn predicate(&mut self, tuple: Vec<PredicateId>) -> PredicateId {
        if let Some(&known) = self.numbers.get(&tuple) {
            return known;
        }
        let mut name = String::new();
        let mut sorts = Vec::new();
        for &component in &tuple {
            let predicate = self.system.predicate(component);
            if !name.is_empty() {
                name.push('&');
            }
            name.push_str(&predicate.name);
            let params = predicate.params.iter();
            sorts.extend(params.map(|&p| self.system.terms.sort_of(p)));
        }
        let id = self.product.system.add_predicate(&name, &sorts);
        self.numbers.insert(tuple.clone(), id);
        self.product.tuples.push(tuple);
        self.open.push(id);
        id
    }

    /// Adds a query over the product of its atoms.
    fn query(&mut self, at: usize) {
        let clause = &self.system.clauses[at];
        let tuple: Vec<PredicateId> = clause.body.iter().map(|atom| atom.predicate).collect();
        let args: Vec<TermId> = clause.body.iter().flat_map(|a| a.args.clone()).collect();
        let mut body = Vec::new();
        if !tuple.is_empty() {
            let predicate = self.predicate(tuple);
            body.push(Atom { predicate, args });
        }
        let vars = clause.vars(&self.system.terms).into_iter();
        self.product.origins.push(Origin {
            rules: vec![at],
            maps: vec![vars.map(|v| (v, v)).collect()],
            groups: vec![(0..clause.body.len()).map(|premise| (0, premise)).collect()],
        });
        self.product
            .system
            .add_clause(body, clause.constraint, None);
    }

    /// The components' clauses under fresh variables, and their constraint.
    fn origin(&self, rules: &[usize]) -> (Origin, TermId) {
        let terms = &self.system.terms;
        let mut maps = Vec::with_capacity(rules.len());
        let mut parts = Vec::with_capacity(rules.len());
        for &rule in rules {
            let clause = &self.system.clauses[rule];
            let map = terms.renaming(&clause.vars(terms));
            parts.push(terms.substitute(clause.constraint, &map));
            maps.push(map);
        }
        let origin = Origin {
            rules: rules.to_vec(),
            maps,
            groups: self.product.groups(self.system, rules),
        };
        (origin, terms.and(&parts))
    }

    /// Adds a clause.
    fn clause(&mut self, predicate: PredicateId, origin: Origin, constraint: TermId) {
        let rename = |component: usize, args: &[TermId]| {
            let map = &origin.maps[component];
            args.iter().map(|arg| map[arg]).collect::<Vec<_>>()
        };
        let mut body = Vec::new();
        for group in &origin.groups {
            self.product.joins_calls |= group.iter().any(|premise| premise.1 != group[0].1);
            let mut tuple = Vec::new();
            let mut args = Vec::new();
            for &(component, premise) in group {
                let atom = &self.system.clauses[origin.rules[component]].body[premise];
                tuple.push(atom.predicate);
                args.extend(rename(component, &atom.args));
            }
            body.push((tuple, args));
        }
        let mut head = Vec::new();
        for (component, &rule) in origin.rules.iter().enumerate() {
            if let Some(atom) = &self.system.clauses[rule].head {
                head.extend(rename(component, &atom.args));
            }
        }
        let body = body.into_iter().map(|(tuple, args)| Atom {
            predicate: self.predicate(tuple),
            args,
        });
        let body: Vec<Atom> = body.collect();
        let head = Atom {
            predicate,
            args: head,
        };
        self.product.system.add_clause(body, constraint, Some(head));
        self.product.origins.push(origin);
    }
}

impl Product {
    /// A model of the product as a proof: a lemma for each predicate, whose cases are the clauses.
    /// `None` if the model has recursive functions.
    pub fn proof(&self, system: &System, model: &Model) -> Option<Derivations> {
        let terms = &system.terms;
        let formulas: Vec<TermId> = model.definitions.values().copied().collect();
        if !model.lemmas.is_empty()
            || !terms.called(&formulas).is_empty()
            || !terms.size_definitions(&formulas).is_empty()
        {
            return None;
        }
        let numbers: FxHashMap<&[PredicateId], usize> = self
            .tuples
            .iter()
            .enumerate()
            .map(|(number, tuple)| (&tuple[..], number))
            .collect();
        let mut proof = Derivations::default();
        for (number, tuple) in self.tuples.iter().enumerate() {
            let slots: Vec<Atom> = tuple.iter().map(|&p| system.fresh_atom(p)).collect();
            let id = PredicateId(u32::try_from(number).ok()?);
            let args = slots.iter().flat_map(|slot| slot.args.clone()).collect();
            let definition = model.definitions.get(&id).copied().unwrap_or(TermId::TRUE);
            let atom = Atom {
                predicate: id,
                args,
            };
            proof.lemmas.push(RelationalLemma {
                statement: self.system.instantiate(definition, &atom),
                conclusion: None,
                measured: (0..slots.len()).collect(),
                slots,
                group: 0,
                proof: self.cases(system, tuple, &numbers),
            });
        }
        for (clause, origin) in self.system.clauses.iter().zip(&self.origins) {
            if clause.head.is_none() {
                let uses = clause.body.iter().map(|atom| Instance {
                    lemma: atom.predicate.index(),
                    atoms: (0..origin.groups[0].len()).collect(),
                });
                proof.queries.push(uses.collect());
            }
        }
        Some(proof)
    }

    /// The cases of a tuple: its components are split one after the other.
    fn cases(
        &self,
        system: &System,
        tuple: &[PredicateId],
        numbers: &FxHashMap<&[PredicateId], usize>,
    ) -> Vec<ProofNode> {
        let mut nodes = Vec::new();
        /// The clauses of the components that are split.
        type Chosen = Vec<usize>;
        /// The node of a split, and the number of the case.
        type Place = Option<(usize, usize)>;
        let mut todo: Vec<(Chosen, Place)> = vec![(Vec::new(), None)];
        while let Some((chosen, parent)) = todo.pop() {
            let number = nodes.len();
            if let Some((parent, case)) = parent
                && let Some(ProofNode::Split { cases, .. }) = nodes.get_mut::<usize>(parent)
            {
                cases[case] = number;
            }
            let Some(component) = tuple.get(chosen.len()) else {
                nodes.push(ProofNode::Use(self.uses(system, &chosen, numbers)));
                continue;
            };
            let rules = &self.rules[component.index()];
            for (case, &rule) in rules.iter().enumerate() {
                let longer = [&chosen[..], &[rule]].concat();
                todo.push((longer, Some((number, case))));
            }
            nodes.push(ProofNode::Split {
                atom: chosen.len(),
                cases: vec![0; rules.len()],
            });
        }
        nodes
    }

    /// The instances for the premises of the components' clauses; none where the clauses contradict
    /// each other, so that the product lacks a predicate.
    fn uses(
        &self,
        system: &System,
        rules: &[usize],
        numbers: &FxHashMap<&[PredicateId], usize>,
    ) -> Vec<Instance> {
        let body = |component: usize| &system.clauses[rules[component]].body;
        // Premises follow the slots, component by component.
        let mut first = Vec::with_capacity(rules.len());
        let mut next = rules.len();
        for component in 0..rules.len() {
            first.push(next);
            next += body(component).len();
        }
        let mut uses = Vec::new();
        for group in self.groups(system, rules) {
            let tuple: Vec<PredicateId> = group
                .iter()
                .map(|&(component, at)| body(component)[at].predicate)
                .collect();
            if let Some(&lemma) = numbers.get(&tuple[..]) {
                let atoms = group.iter().map(|&(component, at)| first[component] + at);
                uses.push(Instance {
                    lemma,
                    atoms: atoms.collect(),
                });
            }
        }
        uses
    }

    /// A refutation of the product as one of the system. `None` if a value is missing.
    pub fn refutation(&self, system: &System, refutation: &Refutation) -> Option<Refutation> {
        let terms = &system.terms;
        let index = self.system.clause_index();
        let mut result = Refutation::default();
        // For each step of the product, the steps of its components.
        let mut places: Vec<Vec<usize>> = Vec::with_capacity(refutation.steps.len());
        for step in &refutation.steps {
            let origin = &self.origins[*index.get(&step.clause)?];
            let mut own = Vec::with_capacity(origin.rules.len());
            for (component, &rule) in origin.rules.iter().enumerate() {
                let clause = &system.clauses[rule];
                let map = &origin.maps[component];
                let mut values = alphorn_term::Assignment::default();
                for var in clause.vars(terms) {
                    let value = map.get(&var).and_then(|v| step.values.get(v)).copied();
                    let value = value.or_else(|| terms.default_value(terms.sort_of(var)));
                    values.insert(var, value?);
                }
                let premise = |premise: usize| {
                    let groups = origin.groups.iter().enumerate();
                    let mut found = groups.filter_map(|(group, members)| {
                        let at = members.iter().position(|m| *m == (component, premise))?;
                        Some(places[*step.premises.get(group)?][at])
                    });
                    found.next()
                };
                let premises: Option<Vec<usize>> = (0..clause.body.len()).map(premise).collect();
                let fact = clause.head.as_ref().map(|head| Fact {
                    predicate: head.predicate,
                    values: head.args.iter().map(|arg| values[arg]).collect(),
                });
                own.push(result.steps.len());
                result.steps.push(RefutationStep {
                    clause: clause.id,
                    values,
                    premises: premises?,
                    fact,
                });
            }
            places.push(own);
        }
        Some(result)
    }
}
