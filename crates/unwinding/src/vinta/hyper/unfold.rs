//! ENCODEBMC and DECODEBMC for hyperedges: derivation trees, unfolded from the queries.
//!
//! A tree node is a copy of a node of the graph with its own arguments, and stands for all
//! derivations of a fact in the node's label. It is used or not; an unfolded copy that is used
//! chooses a clause, and then the copies of the clause's premises are used. Alternative clauses
//! share copies, since only one of them is chosen. A copy that is not unfolded has only its label,
//! so only copies that labels do not refute are unfolded.
//!
//! Invariant: parents come before their children; the tree is finite, since premises are earlier
//! than their node.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Hypergraph, NodeId};
use crate::vinta::failed;
use crate::vinta::limits::LIMITS;
use crate::vinta::search::{Unrolled, Vinta};
use alphorn_chc::cutpoints::ERROR;
use alphorn_domain::Domain;
use alphorn_proof::{ClauseCopy, Stop, gave_up};
use alphorn_smt::{SatResult, SmtModel, Solver};
use alphorn_term::run::Reason;
use alphorn_term::{SortId, TermId};
use alphorn_witness::{Fact, Refutation, RefutationStep};

/// A clause that a copy may choose.
struct Choice {
    /// Its literal implies the formula and that the children are used.
    copy: ClauseCopy,
    /// By body atom.
    children: Vec<usize>,
}

/// A copy of a node of the graph.
pub(super) struct Copy {
    /// `None` at the root, for `false`.
    pub node: Option<NodeId>,
    /// The index of the copy whose clauses use this one.
    pub parent: Option<usize>,
    /// Boolean variable: a derivation uses the copy.
    pub used: TermId,
    /// Boolean variable that implies what is asserted of the copy.
    guard: TermId,
    /// The arguments.
    pub vars: Vec<TermId>,
    /// The label of the node over these arguments; `true` without restriction.
    label: TermId,
    /// By clause, once the copy is unfolded.
    choices: Option<Vec<Choice>>,
}

/// A tree without a derivation of `false`: those copies that the contradiction needs.
pub(in crate::vinta) struct Tree {
    pub(super) copies: Vec<Copy>,
    /// By copy: the label and the choice of a clause, if the copy is used.
    pub(super) formulas: Vec<TermId>,
}

impl<D: Domain> Vinta<'_, D, Hypergraph<D::Element>> {
    /// A derivation of one of the reached queries along the hyperedges, or a tree that has none.
    pub(super) fn unfold(&mut self) -> Result<Unrolled<Tree>, Stop> {
        let mut solver = self.smt.solver();
        let root = Copy {
            node: None,
            parent: None,
            used: TermId::TRUE,
            guard: self.terms.fresh_var("copy", SortId::BOOL),
            vars: Vec::new(),
            label: TermId::TRUE,
            choices: None,
        };
        let mut copies = vec![root];
        let mut open = vec![0];
        loop {
            for at in open {
                self.check_budget()?;
                self.unfold_copy(&mut copies, at, &mut solver);
            }
            let size = copies.len();
            if size > LIMITS.tree_copies {
                self.graph.unfolded += size;
                let most = LIMITS.tree_copies;
                return Err(Stop::Reason(Reason::Incomplete(format!(
                    "derivation trees need more than {most} nodes"
                ))));
            }
            log::debug!("vinta: a tree of {size} nodes");
            let guards: Vec<TermId> = copies.iter().map(|c| c.guard).collect();
            let answer = solver.check(&guards);
            self.check_budget()?;
            match answer {
                SatResult::Unsat => {
                    self.graph.unfolded += size;
                    return Ok(Unrolled::Infeasible(self.needed(copies, &solver.core())));
                }
                SatResult::Unknown(why) => return Err(gave_up(&why, self.cx)),
                SatResult::Sat => {}
            }
            let model = solver.model();
            let model = model.ok_or_else(|| failed("no model of a derivation tree"))?;
            open = used_leaves(&copies, &model)?;
            if open.is_empty() {
                self.graph.unfolded += size;
                return self.derivation(&copies, &model).map(Unrolled::Feasible);
            }
        }
    }

    /// Gives the copy its choices of clauses, and makes the copies of their premises.
    fn unfold_copy(&mut self, copies: &mut Vec<Copy>, at: usize, solver: &mut Solver) {
        let terms = &self.terms;
        let (time, location) = match copies[at].node {
            Some(node) => (node, self.graph.nodes[node].location),
            None => (self.graph.nodes.len(), ERROR),
        };
        let clauses = match location {
            ERROR => &self.graph.reached,
            _ => &self.graph.defining[location],
        };
        let mut shared: FxHashMap<NodeId, Vec<usize>> = FxHashMap::default();
        let mut choices: Vec<Choice> = Vec::with_capacity(clauses.len());
        for &clause in clauses {
            let Some(premises) = self.graph.premises(clause, time) else {
                continue;
            };
            let mut taken: FxHashMap<NodeId, usize> = FxHashMap::default();
            let mut children = Vec::with_capacity(premises.len());
            for premise in premises {
                let nth = taken.entry(premise).or_default();
                let pool = shared.entry(premise).or_default();
                if pool.len() == *nth {
                    pool.push(copies.len());
                    copies.push(self.copy_of(premise, at, solver));
                }
                children.push(pool[*nth]);
                *nth += 1;
            }
            let own = &self.system.clauses[clause];
            let head = own.head.iter().map(|_| &copies[at].vars);
            let arguments = children.iter().map(|&c| &copies[c].vars).chain(head);
            let arguments = arguments.flatten().copied();
            let copy = ClauseCopy::new(self.system, clause, arguments, "clause");
            solver.assert(terms.implies(copy.literal, copy.formula));
            for &child in &children {
                solver.assert(terms.implies(copy.literal, copies[child].used));
            }
            choices.push(Choice { copy, children });
        }
        let literals: Vec<TermId> = choices.iter().map(|c| c.copy.literal).collect();
        let some = terms.implies(copies[at].used, terms.or(&literals));
        solver.assert(terms.implies(copies[at].guard, some));
        copies[at].choices = Some(choices);
    }

    /// A new copy of the node.
    fn copy_of(&self, node: NodeId, parent: usize, solver: &mut Solver) -> Copy {
        let terms = &self.terms;
        let label = match self.options.restricted() {
            true => self.graph.nodes[node].label,
            false => TermId::TRUE,
        };
        let location = self.graph.nodes[node].location;
        let vars = self.fresh_formals(location);
        let label = self.over(location, label, &vars);
        let used = terms.fresh_var("used", SortId::BOOL);
        let guard = terms.fresh_var("copy", SortId::BOOL);
        let restriction = terms.implies(used, label);
        solver.assert(terms.implies(guard, restriction));
        Copy {
            node: Some(node),
            parent: Some(parent),
            used,
            guard,
            vars,
            label,
            choices: None,
        }
    }

    /// The copies of a contradiction that the core needs. A copy whose parent is not needed can be
    /// unused, so it is left out, too.
    fn needed(&self, copies: Vec<Copy>, core: &[TermId]) -> Tree {
        let terms = &self.terms;
        let core: FxHashSet<TermId> = core.iter().copied().collect();
        let mut place: Vec<Option<usize>> = Vec::with_capacity(copies.len());
        let mut formulas = Vec::new();
        for copy in &copies {
            let connected = copy.parent.is_none_or(|p| place[p].is_some());
            if !connected || (copy.parent.is_some() && !core.contains(&copy.guard)) {
                place.push(None);
                continue;
            }
            let mut parts = vec![copy.label];
            if let Some(choices) = &copy.choices {
                let choices = choices.iter().map(|choice| {
                    let used = choice.children.iter().map(|&c| copies[c].used);
                    let parts: Vec<TermId> = used.chain([choice.copy.formula]).collect();
                    terms.and(&parts)
                });
                parts.push(terms.or(&choices.collect::<Vec<_>>()));
            }
            place.push(Some(formulas.len()));
            formulas.push(terms.implies(copy.used, terms.and(&parts)));
        }
        let mut kept = Vec::with_capacity(formulas.len());
        for (at, mut copy) in copies.into_iter().enumerate() {
            if place[at].is_some() {
                copy.parent = copy.parent.and_then(|p| place[p]);
                kept.push(copy);
            }
        }
        Tree {
            copies: kept,
            formulas,
        }
    }

    /// The derivation of a model that uses unfolded copies only. Equal facts are derived once.
    fn derivation(&self, copies: &[Copy], model: &SmtModel) -> Result<Refutation, Stop> {
        let mut steps: Vec<RefutationStep> = Vec::new();
        let mut known: FxHashMap<Option<Fact>, usize> = FxHashMap::default();
        let mut step_of: FxHashMap<usize, usize> = FxHashMap::default();
        // A copy, and whether its children are done.
        let mut stack = vec![(0, false)];
        while let Some((at, ready)) = stack.pop() {
            let choice = chosen(&copies[at], model)?;
            let choice = choice.ok_or_else(|| failed("a copy is not unfolded"))?;
            if !ready {
                stack.push((at, true));
                stack.extend(choice.children.iter().map(|&c| (c, false)));
                continue;
            }
            let (values, fact) = choice.copy.ground(self.system, model)?;
            let step = *known.entry(fact.clone()).or_insert_with(|| {
                steps.push(RefutationStep {
                    clause: self.system.clauses[choice.copy.clause].id,
                    premises: choice.children.iter().map(|c| step_of[c]).collect(),
                    values,
                    fact,
                });
                steps.len() - 1
            });
            step_of.insert(at, step);
        }
        Ok(Refutation { steps })
    }
}

/// The clause that the model chooses; `None` if the copy is not unfolded.
fn chosen<'c>(copy: &'c Copy, model: &SmtModel) -> Result<Option<&'c Choice>, Stop> {
    let Some(choices) = &copy.choices else {
        return Ok(None);
    };
    let choice = choices.iter().find(|c| model.satisfies(c.copy.literal));
    choice
        .ok_or_else(|| failed("no clause is chosen"))
        .map(Some)
}

/// The copies that the model uses although they are not unfolded.
fn used_leaves(copies: &[Copy], model: &SmtModel) -> Result<Vec<usize>, Stop> {
    let mut found = Vec::new();
    let mut stack = vec![0];
    while let Some(at) = stack.pop() {
        match chosen(&copies[at], model)? {
            Some(choice) => stack.extend(&choice.children),
            None => found.push(at),
        }
    }
    Ok(found)
}
