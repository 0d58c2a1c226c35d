//! Unfolding of arbitrary systems, backward from the queries, only where a core needs it.
//!
//! A node stands for one atom of a derivation, with its own arguments. The literal of an expanded
//! node implies one of the clauses for its predicate, and a clause implies its constraint and the
//! literals of the nodes of its body. Only one clause of a node is used, so body atoms of one
//! predicate in different clauses share a node: linear clauses give a chain, however many clauses
//! there are.
//!
//! Invariant: in each query all nodes that are not expanded are assumed to be unused, so a model is
//! a derivation, and the query stays unsatisfiable as long as no node of the core is expanded.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::Outcome;
use alphorn_chc::{PredicateId, Reachability, System};
use alphorn_proof::steps::{fresh_copy, literal};
use alphorn_proof::{Stop, ask, unreadable, values};
use alphorn_smt::{Smt, SmtModel, Solver};
use alphorn_term::run::Context;
use alphorn_term::{Assignment, TermId};
use alphorn_witness::{Fact, Refutation, RefutationStep};

/// An instance of a clause at a node.
struct Choice {
    /// The clause's position in the system.
    clause: usize,
    /// The literal that the clause is used.
    literal: TermId,
    /// The variables of the instance, in the order of the clause's variables.
    vars: Vec<TermId>,
    /// The nodes of the body atoms, in order.
    children: Vec<usize>,
}

/// An atom of the derivation; the root stands for `false`.
struct Node {
    /// `None` for the root.
    predicate: Option<PredicateId>,
    /// The literal that the node is used.
    literal: TermId,
    /// The variables that are the atom's arguments.
    args: Vec<TermId>,
    /// The least height of a derivation that uses the node.
    least_height: usize,
    /// The number of steps to the root.
    depth: usize,
    /// The clauses that derive the atom, if the node is expanded.
    choices: Option<Vec<Choice>>,
}

/// The tree of nodes.
struct Unfolding<'a> {
    system: &'a System,
    reachability: &'a Reachability,
    /// The variables of each clause that was used, arguments first.
    vars: FxHashMap<usize, Vec<TermId>>,
    nodes: Vec<Node>,
    /// The nodes that are not expanded, by the assumption that they are unused.
    frontier: FxHashMap<TermId, usize>,
}

/// Searches for a derivation of `false` of height at most `max_depth`.
///
/// # Errors
/// A limit of the run, or a failure.
pub(super) fn search(
    system: &System,
    reachability: &Reachability,
    smt: &Rc<Smt>,
    max_depth: usize,
    cx: &mut Context,
) -> Result<Outcome, Stop> {
    let mut solver = smt.solver();
    let mut unfolding = Unfolding::new(system, reachability);
    let heights = reachability.index().queries().iter();
    let least = heights.filter_map(|&q| reachability.clause_height(&system.clauses[q]));
    let mut bound = least.min().unwrap_or(1);
    if bound > max_depth {
        return Ok(Outcome::Bound(max_depth));
    }
    unfolding.expand(0, &mut solver);
    solver.assert(unfolding.nodes[0].literal);
    loop {
        cx.stats.set("bmc.depth", bound as u64);
        cx.stats.set("bmc.nodes", unfolding.nodes.len() as u64);
        let mut assumptions: Vec<TermId> = unfolding.frontier.keys().copied().collect();
        assumptions.sort_unstable();
        if let Some(model) = ask(&mut solver, &assumptions, cx)? {
            return Ok(Outcome::Refuted(unfolding.derivation(&model)?));
        }
        let core = solver.core();
        let mut used: Vec<usize> = core
            .iter()
            .filter_map(|a| unfolding.frontier.get(a).copied())
            .collect();
        used.sort_unstable();
        let Some(least) = used.iter().map(|&n| unfolding.nodes[n].least_height).min() else {
            return Ok(Outcome::Exhausted(bound));
        };
        if least > max_depth {
            return Ok(Outcome::Bound(max_depth));
        }
        bound = bound.max(least);
        for node in used {
            if unfolding.nodes[node].least_height <= bound {
                if let Some(reason) = cx.stop() {
                    return Err(Stop::Reason(reason));
                }
                unfolding.expand(node, &mut solver);
            }
        }
    }
}

impl<'a> Unfolding<'a> {
    fn new(system: &'a System, reachability: &'a Reachability) -> Self {
        let root = Node {
            predicate: None,
            literal: literal(&system.terms, "root"),
            args: Vec::new(),
            least_height: 1,
            depth: 0,
            choices: None,
        };
        Unfolding {
            system,
            reachability,
            vars: FxHashMap::default(),
            nodes: vec![root],
            frontier: FxHashMap::default(),
        }
    }

    /// Adds the clauses that derive the atom of a node.
    fn expand(&mut self, node: usize, solver: &mut Solver) {
        let (system, terms) = (self.system, &*self.system.terms);
        let here = self.nodes[node].literal;
        let clauses: &[usize] = match self.nodes[node].predicate {
            None => self.reachability.index().queries(),
            Some(p) => self.reachability.index().deriving(p),
        };
        self.frontier.remove(&terms.not(here));
        let mut shared: FxHashMap<PredicateId, Vec<usize>> = FxHashMap::default();
        let mut choices = Vec::with_capacity(clauses.len());
        for &index in clauses {
            let clause = &system.clauses[index];
            let mut taken: FxHashMap<PredicateId, usize> = FxHashMap::default();
            let mut children = Vec::with_capacity(clause.body.len());
            for atom in &clause.body {
                let nth = taken.entry(atom.predicate).or_default();
                let pool = shared.entry(atom.predicate).or_default();
                if pool.len() == *nth {
                    pool.push(self.nodes.len());
                    self.add_node(atom.predicate, node);
                }
                children.push(pool[*nth]);
                *nth += 1;
            }
            let chosen = literal(terms, "clause");
            let arguments = children
                .iter()
                .chain(clause.head.as_ref().map(|_| &node))
                .flat_map(|&n| &self.nodes[n].args)
                .copied();
            let vars = self.vars.entry(index);
            let vars = vars.or_insert_with(|| clause.vars(terms));
            let (vars, constraint) = fresh_copy(terms, vars, clause.constraint, arguments);
            solver.assert(terms.implies(chosen, constraint));
            for &child in &children {
                let child = self.nodes[child].literal;
                solver.assert(terms.implies(chosen, child));
            }
            choices.push(Choice {
                clause: index,
                literal: chosen,
                vars,
                children,
            });
        }
        let literals: Vec<TermId> = choices.iter().map(|c| c.literal).collect();
        solver.assert(terms.implies(here, terms.or(&literals)));
        self.nodes[node].choices = Some(choices);
    }

    /// Adds a node for a body atom.
    fn add_node(&mut self, predicate: PredicateId, parent: usize) {
        let terms = &self.system.terms;
        let literal = literal(terms, &self.system.predicate(predicate).name);
        let depth = self.nodes[parent].depth + 1;
        let height = self.reachability.height(predicate);
        self.frontier.insert(terms.not(literal), self.nodes.len());
        self.nodes.push(Node {
            predicate: Some(predicate),
            literal,
            args: self.system.fresh_atom(predicate).args,
            // All body atoms of relevant clauses are derivable by the dependencies.
            least_height: height.map_or(usize::MAX, |h| h + depth),
            depth,
            choices: None,
        });
    }

    /// The derivation in a model. Equal facts are derived once.
    fn derivation(&self, model: &SmtModel) -> Result<Refutation, Stop> {
        let mut steps: Vec<RefutationStep> = Vec::new();
        let mut known: FxHashMap<Option<Fact>, usize> = FxHashMap::default();
        let mut step_of: FxHashMap<usize, usize> = FxHashMap::default();
        // A node, and its clause once its children are on the stack.
        let mut stack: Vec<(usize, Option<usize>)> = vec![(0, None)];
        while let Some((node, choice)) = stack.pop() {
            let choices = self.nodes[node].choices.as_deref().unwrap_or_default();
            let Some(choice) = choice else {
                let chosen = choices.iter().position(|c| model.satisfies(c.literal));
                let chosen = chosen.ok_or_else(|| unreadable("no clause is chosen"))?;
                stack.push((node, Some(chosen)));
                stack.extend(choices[chosen].children.iter().map(|&c| (c, None)));
                continue;
            };
            let choice = &choices[choice];
            let clause = &self.system.clauses[choice.clause];
            let own = values(model, &choice.vars)?;
            let vars = self.vars[&choice.clause].iter().zip(&choice.vars);
            let values: Assignment = vars.map(|(var, copy)| (*var, own[copy])).collect();
            let fact = clause.head.as_ref().map(|head| Fact {
                predicate: head.predicate,
                values: head.args.iter().map(|v| values[v]).collect(),
            });
            let step = match known.get(&fact) {
                Some(&step) => step,
                None => {
                    steps.push(RefutationStep {
                        clause: clause.id,
                        values,
                        premises: choice.children.iter().map(|c| step_of[c]).collect(),
                        fact: fact.clone(),
                    });
                    known.insert(fact, steps.len() - 1);
                    steps.len() - 1
                }
            };
            step_of.insert(node, step);
        }
        Ok(Refutation { steps })
    }
}
