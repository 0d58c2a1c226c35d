//! Refinement by proof obligations: labels are strengthened step by step, from the error back.
//!
//! An obligation is a cube that must not be reached at a node; it is checked by one step from the
//! label of the node's parent. A model gives a predecessor cube by projection, the next obligation.
//! If there is none, a lemma is conjoined to the node's label: an interpolant of the step and a
//! core of the cube, or the negated core. This is property directed reachability along a path
//! (Bradley, VMCAI 2011), with labels in place of frames; each query is about one step, however
//! long the path. A node inherits the conjuncts of other labels of its location that a step from
//! its parent's label implies. Cores show which conjuncts a label needs of the one before, which
//! gives safety interpolants without further interpolation.
//!
//! Invariant: a lemma follows from the parent's label and the step, so labels stay inductive; from
//! each state of an obligation the rest of the path is feasible.

use rustc_hash::FxHashSet;

use super::labels::Labelled;
use super::limits::LIMITS;
use super::node::NodeId;
use super::search::{Kind, Search, assert_edge, failed};
use alphorn_arith::Constraint;
use alphorn_chc::cutpoints::{ERROR, Location};
use alphorn_interpolation::{InterpolantForm, InterpolationOptions, Interpolator, project_onto};
use alphorn_proof::{Stop, ask, bounds, gave_up, incomplete, make_total, undefined, where_defined};
use alphorn_smt::{CoreEffort, SatResult, SmtModel};
use alphorn_term::TermId;

/// A solver that asserts an action between its own variables.
pub(super) struct Step {
    labelled: Labelled,
    /// The source and the target.
    locations: [Location; 2],
    from: Vec<TermId>,
    to: Vec<TermId>,
    /// The action over both.
    formula: TermId,
    /// The same, but false where a term has no value.
    total: TermId,
}

/// The result of excluding a path.
enum Exclusion {
    /// Labels exclude it; the nodes whose labels have changed, from the root on.
    Excluded(Vec<NodeId>),
    /// It is feasible, through these cubes of the nodes between the root and the last.
    Reached(Vec<Vec<TermId>>),
}

impl Search<'_> {
    /// Strengthens labels so that they exclude the path to the node. Returns the cubes that a
    /// derivation goes through if the path is feasible.
    ///
    /// # Errors
    /// A limit, or a defect.
    pub(super) fn refute_by_obligations(
        &mut self,
        node: NodeId,
    ) -> Result<Option<Vec<Vec<TermId>>>, Stop> {
        self.counts.refinements += 1;
        let found = self.timed(Kind::R, |s| s.exclude(node, Vec::new(), &[]))?;
        let changed = match found {
            Exclusion::Excluded(changed) => changed,
            Exclusion::Reached(cubes) => return Ok(Some(cubes)),
        };
        let chain = self.chain(node);
        self.weigh_path(&chain[..chain.len() - 1]);
        let dead = self.first_dead(&chain).unwrap_or(node);
        self.close_dead(dead, &changed)?;
        Ok(None)
    }

    /// The first node of the chain whose label is `false`.
    fn first_dead(&self, chain: &[NodeId]) -> Option<NodeId> {
        let empty = |n: &&NodeId| self.nodes[**n].label.contains(&TermId::FALSE);
        chain.iter().find(empty).copied()
    }

    /// Marks the node, which the path does not reach, as dead, and covers nodes whose labels have
    /// changed.
    fn close_dead(&mut self, dead: NodeId, changed: &[NodeId]) -> Result<(), Stop> {
        self.mark_dead(dead)?;
        if self.options.safety() && self.has_work_left(Kind::S) {
            self.timed(Kind::S, |s| {
                if let Some(blocker) = s.needed(dead, TermId::TRUE)? {
                    s.block(dead, blocker);
                }
                s.settle_parent(dead)
            })?;
        }
        self.mark_explored(dead)?;
        self.close(changed)?;
        #[cfg(debug_assertions)]
        self.assert_invariants();
        Ok(())
    }

    /// Strengthens labels along the path to the node so that they exclude the cube, from which
    /// these actions lead to the error. Returns the cubes before it that a derivation goes through
    /// if the path reaches the cube.
    ///
    /// # Errors
    /// A limit, or a defect.
    pub(super) fn exclude_end(
        &mut self,
        node: NodeId,
        cube: Vec<TermId>,
        actions: &[usize],
    ) -> Result<Option<Vec<Vec<TermId>>>, Stop> {
        let changed = match self.exclude(node, cube, actions)? {
            Exclusion::Excluded(changed) => changed,
            Exclusion::Reached(cubes) => return Ok(Some(cubes)),
        };
        match self.first_dead(&self.chain(node)) {
            Some(dead) => self.close_dead(dead, &changed)?,
            None => self.close(&changed)?,
        }
        Ok(None)
    }

    /// Strengthens labels along the path to the node until no step from its parent's label leads
    /// into the cube, from which these actions lead to the error.
    fn exclude(
        &mut self,
        node: NodeId,
        cube: Vec<TermId>,
        actions: &[usize],
    ) -> Result<Exclusion, Stop> {
        let chain = self.chain(node);
        // Without actions, the path itself is to be excluded.
        let is_end = !actions.is_empty();
        let edges = chain.iter().filter_map(|&n| self.nodes[n].edge.as_ref());
        let actions: Vec<usize> = edges.map(|e| e.action).chain(actions.to_vec()).collect();
        let keeps =
            self.options.error() && actions.last().is_some_and(|&a| self.actions[a].to == ERROR);
        let mut changed = Vec::new();
        let limit = self.left_for(Kind::E).filter(|_| is_end);
        let begun = self.terms.work();
        for &at in &chain[1..] {
            if self.inherit_vocabulary(at)? {
                changed.push(at);
            }
        }
        // Obligations, each for the parent of the one before it; the first is for the node.
        let mut stack: Vec<Vec<TermId>> = vec![cube];
        while let Some(cube) = stack.last() {
            if limit.is_some_and(|l| self.terms.work().saturating_sub(begun) > l) {
                break;
            }
            let at = chain[chain.len() - stack.len()];
            let cube = cube.clone();
            if let Some(model) = self.step_into(at, &cube)? {
                if stack.len() + 1 == chain.len() {
                    stack.reverse();
                    stack.pop();
                    return Ok(Exclusion::Reached(stack));
                }
                let before = self.predecessor(at, &cube, &model)?;
                self.counts.obligations += 1;
                if keeps {
                    let suffix = chain.len() - 1 - stack.len();
                    let location = self.nodes[chain[suffix]].location;
                    self.keep_end(location, &actions[suffix..], self.terms.and(&before));
                }
                stack.push(before);
                continue;
            }
            stack.pop();
            let is_first = stack.is_empty();
            if is_end || !is_first {
                let core = self.core_of(at, &cube)?;
                let lemma = match self.timed(Kind::C, |s| s.certificate(at, &core))? {
                    Some(lemma) => {
                        self.counts.certificates += 1;
                        lemma
                    }
                    None => {
                        let negated = core.iter().map(|&l| self.terms.not(l));
                        self.terms.or(&negated.collect::<Vec<_>>())
                    }
                };
                self.counts.lemmas += 1;
                if !self.strengthen(at, lemma)? && !is_first {
                    return Err(incomplete("an obligation is excluded by its label already"));
                }
                changed.push(at);
            }
        }
        changed.sort_unstable();
        changed.dedup();
        Ok(Exclusion::Excluded(changed))
    }

    /// Whether no step from the label of the node's parent leads to the node in states that satisfy
    /// the goal, over formal variables. False if the solver does not know.
    pub(super) fn is_excluded(&mut self, node: NodeId, goal: TermId) -> Result<bool, Stop> {
        self.with_step(node, |search, step, label| {
            search.check_budget()?;
            let there = search.placed(&[goal], step.locations[1], &step.to);
            let assumptions = [label, &there].concat();
            let answer = step.labelled.solver.check(&assumptions);
            Ok(answer == SatResult::Unsat)
        })
    }

    /// A model of a step from the parent's label into the cube at the node, over formal variables.
    fn step_into(&mut self, node: NodeId, cube: &[TermId]) -> Result<Option<SmtModel>, Stop> {
        self.with_step(node, |search, step, label| {
            let there = search.placed(cube, step.locations[1], &step.to);
            let assumptions = [label, &there].concat();
            ask(&mut step.labelled.solver, &assumptions, search.cx)
        })
    }

    /// A cube of the node's parent that the model satisfies and from which a step leads into the
    /// cube.
    fn predecessor(
        &mut self,
        node: NodeId,
        cube: &[TermId],
        model: &SmtModel,
    ) -> Result<Vec<TermId>, Stop> {
        self.with_step(node, |search, step, _| {
            let terms = &search.terms;
            let mut parts = search.placed(cube, step.locations[1], &step.to);
            parts.push(step.total);
            let found = project_onto(terms, terms.and(&parts), &step.from, model);
            let found = found.ok_or_else(undefined)?;
            let formals = search.formals(step.locations[0]).iter().copied();
            let map = step.from.iter().copied().zip(formals).collect();
            let found = bounds(terms, &found).into_iter();
            let found = found.map(|l| terms.substitute(where_defined(terms, l), &map));
            Ok(found.collect())
        })
    }

    /// Literals of the cube that suffice to exclude each step from the parent's label.
    fn core_of(&mut self, node: NodeId, cube: &[TermId]) -> Result<Vec<TermId>, Stop> {
        self.with_step(node, |search, step, label| {
            let there = search.placed(cube, step.locations[1], &step.to);
            let effort = CoreEffort {
                queries: LIMITS.core_queries,
                budget: Some(&search.cx.budget),
            };
            let core = step.labelled.solver.core_by(label, &there, effort);
            let core = core.ok_or_else(|| gave_up("no core of a cube", search.cx))?;
            Ok(those_in_core(cube, &there, &core))
        })
    }

    /// An interpolant of a step from the parent's label and the cube; `None` if the cube has fewer
    /// than two bounds, whose sum might be a better lemma, or if there is none within the limits.
    fn certificate(&mut self, node: NodeId, cube: &[TermId]) -> Result<Option<TermId>, Stop> {
        let is_bound = |l: &&TermId| Constraint::convex(&self.terms, **l).is_some();
        if cube.iter().filter(is_bound).count() < 2 || !self.has_work_left(Kind::C) {
            return Ok(None);
        }
        let parent = self.nodes[node].parent.map(|p| self.nodes[p].label.clone());
        let label = parent.unwrap_or_default();
        self.with_step(node, |search, step, _| {
            let (from, to) = (step.locations[0], step.locations[1]);
            let mut before = search.placed(&label, from, &step.from);
            before.extend(search.placed(search.facts.of(from), from, &step.from));
            before.push(step.formula);
            let options = InterpolationOptions {
                form: InterpolantForm::Weak,
                max_steps: LIMITS.step_certificate_steps,
                ..InterpolationOptions::default()
            };
            let mut interpolator = Interpolator::new(&search.smt, options);
            interpolator.set_budget(Some(search.cx.budget.work(LIMITS.step_certificate_work)));
            let there = search.placed(cube, to, &step.to);
            let Ok(found) = interpolator.binary(&before, &there) else {
                return search.check_budget().map(|()| None);
            };
            let formals = search.formals(to).iter().copied();
            let map = step.to.iter().copied().zip(formals).collect();
            Ok(Some(search.terms.substitute(found, &map)))
        })
    }

    /// A conjunction of conjuncts of the parent's label that exclude a step to the node into the
    /// goal; `None` if the solver does not know. The whole label has to exclude it.
    pub(super) fn needed(&mut self, node: NodeId, goal: TermId) -> Result<Option<TermId>, Stop> {
        let parent = self.nodes[node].parent.map(|p| self.nodes[p].label.clone());
        let label = parent.unwrap_or_default();
        let goal = make_total(&self.terms, goal);
        self.with_step(node, |search, step, _| {
            let here = search.placed(&label, step.locations[0], &step.from);
            let there = search.placed(&[goal], step.locations[1], &step.to);
            let mut assumptions = step.labelled.none_in_force(&search.terms);
            assumptions.extend(here.iter().chain(&there));
            search.check_budget()?;
            match step.labelled.solver.check(&assumptions) {
                SatResult::Unsat => {}
                SatResult::Unknown(_) => return Ok(None),
                SatResult::Sat => return Err(failed("a label does not suffice")),
            }
            let core = step.labelled.solver.core();
            Ok(Some(search.terms.and(&those_in_core(&label, &here, &core))))
        })
    }

    /// Strengthens the node's label by the formulas that its location's vocabulary has got since
    /// the last time, where the parent's label and the step imply them. Returns whether the label
    /// has changed.
    fn inherit_vocabulary(&mut self, node: NodeId) -> Result<bool, Stop> {
        let own = &self.nodes[node];
        if own.location == ERROR {
            return Ok(false);
        }
        let version = own.version;
        let vocabulary = self.facts.vocabulary(own.location);
        let new = vocabulary[own.vocabulary_seen..].to_vec();
        self.nodes[node].vocabulary_seen = vocabulary.len();
        self.inherit(node, &new)?;
        Ok(self.nodes[node].version != version)
    }

    /// Strengthens the node's label by those of these formulas that its parent's label and the step
    /// imply. Returns whether they imply all of them.
    pub(super) fn inherit(&mut self, node: NodeId, formulas: &[TermId]) -> Result<bool, Stop> {
        let location = self.nodes[node].location;
        let known = self.nodes[node].label.iter().chain(self.facts.of(location));
        let known: FxHashSet<TermId> = known.copied().collect();
        let mut left: Vec<TermId> = formulas.to_vec();
        left.retain(|f| !known.contains(f));
        let before = left.len();
        self.with_step(node, |search, step, label| {
            let (terms, solver) = (&search.terms, &mut step.labelled.solver);
            while !left.is_empty() {
                search.check_budget()?;
                let there = search.placed(&left, step.locations[1], &step.to);
                let violated = terms.not(terms.and(&there));
                let model = match solver.check(&[label, &[violated]].concat()) {
                    SatResult::Unsat => break,
                    SatResult::Sat => solver.model(),
                    SatResult::Unknown(_) => None,
                };
                let all = left.len();
                if let Some(model) = model {
                    let mut satisfied = there.iter().map(|&f| model.satisfies(f));
                    left.retain(|_| satisfied.next() == Some(true));
                }
                if left.len() == all {
                    left.clear();
                }
            }
            Ok(())
        })?;
        let inherited = self.terms.and(&left);
        self.strengthen(node, inherited)?;
        self.counts.inherited += left.len() as u64;
        Ok(left.len() == before)
    }

    /// Runs the work with a solver for the step to the node, and the assumptions under which it
    /// asserts the label of the node's parent.
    fn with_step<T>(
        &mut self,
        node: NodeId,
        work: impl FnOnce(&Self, &mut Step, &[TermId]) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let own = &self.nodes[node];
        let (Some(parent), Some(edge)) = (own.parent, own.edge.as_ref()) else {
            return Err(failed("no step leads to the root"));
        };
        let action = edge.action;
        let mut step = match self.steps[action].take() {
            Some(step) if !step.labelled.has_no_room_for(parent) => step,
            _ => self.new_step(action, [self.nodes[parent].location, own.location]),
        };
        let placed = |formulas: &[TermId]| self.placed(formulas, step.locations[0], &step.from);
        let facts = self.facts.of(step.locations[0]);
        let label = &self.nodes[parent].label;
        let labelled = &mut step.labelled;
        let assumed = labelled.assume_label(&self.terms, parent, label, facts, placed);
        let result = work(self, &mut step, &assumed);
        self.steps[action] = Some(step);
        result
    }

    fn new_step(&self, action: usize, locations: [Location; 2]) -> Step {
        let [from, to] = locations.map(|l| self.fresh_formals(l));
        let edge = self.edge(action, &from, &to);
        let mut labelled = Labelled::new(&self.smt);
        assert_edge(&self.terms, &edge, &mut labelled.solver);
        Step {
            labelled,
            locations,
            formula: edge.formula,
            total: make_total(&self.terms, edge.formula),
            from,
            to,
        }
    }

    /// The formulas, over the location's formal variables, with these variables instead.
    fn placed(&self, formulas: &[TermId], location: Location, vars: &[TermId]) -> Vec<TermId> {
        let formals = self.formals(location).iter().copied();
        let map = formals.zip(vars.iter().copied()).collect();
        let placed = formulas.iter().map(|&f| self.terms.substitute(f, &map));
        placed.collect()
    }
}

/// The formulas whose counterparts are in the core.
fn those_in_core(formulas: &[TermId], counterparts: &[TermId], core: &[TermId]) -> Vec<TermId> {
    let pairs = formulas.iter().zip(counterparts);
    let pairs = pairs.filter(|(_, counterpart)| core.contains(counterpart));
    pairs.map(|(&formula, _)| formula).collect()
}
