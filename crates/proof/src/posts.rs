//! The abstract post-image of a clause (COMPUTEPOST of Vinta).
//!
//! A constraint may have too many paths to enumerate. So the solver is asked for a step from the
//! premises to a state that is not contained in the result yet; its path, an implicant of the
//! constraint, is mapped by the domain, and the image is joined to the result (Monniaux and
//! Gonnord, "Using bounded model checking to focus fixpoint iterations", SAS 2011). If a model
//! cannot be read or there are too many paths, the constraint's cubes, as far as they can be
//! enumerated, are mapped instead. Before that, disjunctive results are coarsened and later
//! replaced by their hull, since independent choices multiply the number of paths; refinement
//! restores the precision that is needed.
//!
//! Invariant: the result contains all states that the clauses derive from the premises, except
//! those that satisfy `seen`.

use std::rc::Rc;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use super::houdini::possible_violations;
use super::{Stop, gave_up};
use alphorn_chc::{Atom, Clause, System};
use alphorn_domain::{Cube, Domain, cubes};
use alphorn_smt::{SatResult, Smt, Solver, implicant};
use alphorn_term::run::Context;
use alphorn_term::{Evaluator, TermId, TermStore};

/// Limits of the paths of a clause.
struct Limits {
    /// Cubes of one path, which may leave disequalities undecided; at the limit choices are left out.
    max_cubes_of_path: usize,
    /// The result is coarsened after the number of paths divided by this number.
    fine_part: usize,
    /// Cubes of a constraint that is not mapped by paths; at the limit choices are left out.
    max_cubes: usize,
    /// Images in the cache; at the limit it is emptied.
    max_images: usize,
}

const LIMITS: Limits = Limits {
    max_cubes_of_path: 16,
    fine_part: 50,
    max_cubes: 24,
    max_images: 10_000,
};

/// A clause, the formulas known of its body, and the negation of `seen`.
type Question = (usize, Vec<TermId>, TermId);

/// The clauses of a system with solvers, a domain and a cache of images.
pub struct Posts<'a, D: Domain> {
    system: &'a System,
    domain: &'a D,
    smt: Rc<Smt>,
    /// By clause: a solver with its constraint, created when it is first used.
    solvers: Vec<Option<Solver>>,
    cubes: FxHashMap<usize, Rc<[Cube]>>,
    /// The number of paths of one clause from one element, at most.
    limit: usize,
    /// The number of paths after which results are coarsened.
    fine: usize,
    /// Images by question, since nodes are visited again with the same sources.
    images: FxHashMap<Question, D::Element>,
    /// The number of paths so far.
    pub paths: u64,
    /// The number of images that were found in the cache.
    pub repeated: u64,
    /// The time for images.
    pub time: Duration,
}

/// The premise for a body atom: both the element and the formula hold.
pub struct Premise<'a, E> {
    /// The element of the domain.
    pub element: &'a E,
    /// The formula over the atom's formal variables.
    pub formula: TermId,
}

/// The states before a step.
pub struct Source<'a, E> {
    /// The premises by body atom; surplus ones are ignored.
    pub premises: Vec<Premise<'a, E>>,
    /// A formula over the head's formal variables: states that satisfy it need not be derived.
    pub seen: TermId,
}

impl<'a, E> Source<'a, E> {
    /// The source of a step by a linear clause.
    pub fn linear(element: &'a E, formula: TermId, seen: TermId) -> Self {
        Source {
            premises: vec![Premise { element, formula }],
            seen,
        }
    }
}

impl<'a, D: Domain> Posts<'a, D> {
    /// Creates no solver yet. At most `paths` paths of a clause are mapped one by one; results are
    /// coarsened after a part of them.
    pub fn new(system: &'a System, domain: &'a D, smt: &Rc<Smt>, paths: usize) -> Self {
        Posts {
            system,
            domain,
            smt: smt.clone(),
            solvers: system.clauses.iter().map(|_| None).collect(),
            cubes: FxHashMap::default(),
            limit: paths,
            fine: paths / LIMITS.fine_part,
            images: FxHashMap::default(),
            paths: 0,
            repeated: 0,
            time: Duration::ZERO,
        }
    }

    fn terms(&self) -> &TermStore {
        &self.system.terms
    }

    fn solver(&mut self, index: usize) -> &mut Solver {
        let constraint = self.system.clauses[index].constraint;
        let smt = &self.smt;
        self.solvers[index].get_or_insert_with(|| {
            let mut solver = smt.solver();
            solver.assert(constraint);
            solver
        })
    }

    /// Whether the clause derives any fact from the source. The step may be spurious in the domain.
    pub fn is_possible(
        &mut self,
        index: usize,
        source: &Source<D::Element>,
        cx: &Context,
    ) -> Result<bool, Stop> {
        let clause = &self.system.clauses[index];
        let known = self.known(clause, source);
        let solver = self.solver(index);
        solver.push();
        known.iter().for_each(|&k| solver.assert(k));
        let answer = solver.check(&[]);
        solver.pop();
        match answer {
            SatResult::Sat => Ok(true),
            SatResult::Unsat => Ok(false),
            SatResult::Unknown(why) => Err(gave_up(&why, cx)),
        }
    }

    fn known(&self, clause: &Clause, source: &Source<D::Element>) -> Vec<TermId> {
        let mut known = Vec::new();
        for (atom, premise) in clause.body.iter().zip(&source.premises) {
            let mut facts = self.domain.formula(premise.element);
            facts.push(premise.formula);
            let facts = facts.into_iter();
            known.extend(facts.map(|f| self.system.instantiate(f, atom)));
        }
        known
    }

    /// The elements of the body atoms.
    fn bodies(clause: &Clause, source: &Source<D::Element>) -> Vec<D::Element> {
        let atoms = clause.body.iter().zip(&source.premises);
        atoms.map(|(_, premise)| premise.element.clone()).collect()
    }

    /// The formulas, over the head's formal variables, that hold of all facts that the clause
    /// derives from the source. Formulas for which the oracle has no answer are left out.
    pub fn kept(
        &mut self,
        index: usize,
        source: &Source<D::Element>,
        formulas: Vec<TermId>,
        cx: &Context,
    ) -> Result<Vec<TermId>, Stop> {
        let system = self.system;
        let clause = &system.clauses[index];
        let (Some(head), false) = (&clause.head, formulas.is_empty()) else {
            return Ok(formulas);
        };
        let known = self.known(clause, source);
        let violated = |&f: &TermId| system.terms.not(system.instantiate(f, head));
        let violations: Vec<TermId> = formulas.iter().map(violated).collect();
        let solver = self.solver(index);
        let lost = possible_violations(solver, &known, &violations, &cx.budget);
        let lost = lost.map_err(Stop::Reason)?;
        let each = formulas.into_iter().enumerate();
        let kept = each.filter(|(at, _)| !lost.contains(at));
        Ok(kept.map(|(_, formula)| formula).collect())
    }

    /// The facts that the clause, which has a head, derives from the source and that are not seen.
    pub fn image(
        &mut self,
        index: usize,
        source: &Source<D::Element>,
        cx: &Context,
    ) -> Result<D::Element, Stop> {
        let empty = |p: &Premise<D::Element>| self.domain.is_bottom(p.element);
        if source.premises.iter().any(empty) {
            return Ok(self.domain.bottom());
        }
        let clause = &self.system.clauses[index];
        let Some(head) = &clause.head else {
            return Ok(self.domain.bottom());
        };
        let known = self.known(clause, source);
        let old = self.system.instantiate(source.seen, head);
        let old = self.terms().not(old);
        let question = (index, known, old);
        if let Some(image) = self.images.get(&question) {
            self.repeated += 1;
            return Ok(image.clone());
        }
        let known = &question.1;
        let solver = self.solver(index);
        solver.push();
        known.iter().for_each(|&k| solver.assert(k));
        solver.assert(old);
        let start = Instant::now();
        let found = self.by_paths(index, clause, head, source, cx);
        self.time += start.elapsed();
        self.solver(index).pop();
        let (found, complete) = found?;
        let image = if complete {
            found
        } else {
            let cubes = self.cubes_of(index);
            let bodies = Self::bodies(clause, source);
            let rest = self.domain.post(self.system, clause, &cubes, &bodies);
            self.domain.join(&found, &rest)
        };
        if self.images.len() >= LIMITS.max_images {
            self.images.clear();
        }
        self.images.insert(question, image.clone());
        Ok(image)
    }

    /// The image by paths, and whether it is complete.
    fn by_paths(
        &mut self,
        index: usize,
        clause: &Clause,
        head: &Atom,
        source: &Source<D::Element>,
        cx: &Context,
    ) -> Result<(D::Element, bool), Stop> {
        let terms = self.system.terms.clone();
        let mut parts = vec![clause.constraint];
        for (atom, premise) in clause.body.iter().zip(&source.premises) {
            parts.push(self.system.instantiate(premise.formula, atom));
        }
        let bodies = Self::bodies(clause, source);
        let vars = clause.vars(&terms);
        let mut found = self.domain.bottom();
        for count in 0..self.limit {
            if let Some(reason) = cx.stop() {
                return Err(Stop::Reason(reason));
            }
            let solver = self.solver(index);
            match solver.check(&[]) {
                SatResult::Unsat => return Ok((found, true)),
                SatResult::Sat => {}
                SatResult::Unknown(why) => match cx.stop() {
                    Some(reason) => return Err(Stop::Reason(reason)),
                    None => {
                        log::debug!("posts: no answer about a path, so the cubes are used: {why}");
                        return Ok((found, false));
                    }
                },
            }
            let model = solver.model().and_then(|m| m.assignment(&vars).ok());
            self.paths += 1;
            let Some(values) = model else {
                return Ok((found, false));
            };
            let mut evaluator = Evaluator::new(&terms, &values);
            let Some(literals) = implicant(&terms, &parts, &mut evaluator) else {
                return Ok((found, false));
            };
            let path = cubes(&terms, terms.and(&literals), LIMITS.max_cubes_of_path);
            let image = self.domain.post(self.system, clause, &path, &bodies);
            found = self.domain.join(&found, &image);
            // In a domain with exact joins the rest of the result is excluded already.
            let coarse = count >= self.fine;
            if count >= self.fine.saturating_mul(2) {
                found = self.domain.hull(&found);
            } else if coarse {
                found = self.domain.coarsened(&found);
            }
            let derived = if self.domain.is_disjunctive() && !coarse {
                &image
            } else {
                &found
            };
            let derived = terms.and(&self.domain.formula(derived));
            let derived = self.system.instantiate(derived, head);
            if evaluator.value(derived) != Some(TermId::TRUE) {
                // No progress: the formula does not contain the values, so the same path would be
                // found again.
                return Ok((found, false));
            }
            self.solver(index).assert(terms.not(derived));
        }
        Ok((found, false))
    }

    fn cubes_of(&mut self, index: usize) -> Rc<[Cube]> {
        let system = self.system;
        let cubes = self.cubes.entry(index).or_insert_with(|| {
            let constraint = system.clauses[index].constraint;
            cubes(&system.terms, constraint, LIMITS.max_cubes).into()
        });
        cubes.clone()
    }
}
