//! COMPUTEPOST: what an action makes of what the domain knows.
//!
//! The constraint of a clause may have more paths than can be counted. So the solver is asked for a
//! step out of what is known that leads to something new; its path, an implicant of the constraint,
//! goes through the domain, and what comes out is new no more (Monniaux and Gonnord, "Using bounded
//! model checking to focus fixpoint iterations", SAS 2011). Where a model cannot be read or there
//! are too many paths, the constraint's cubes, as far as they can be told apart, go through the
//! domain instead. Long before that, a domain with disjunctions forgets how variables go together,
//! and after as many paths again its disjunctions: where choices are independent, each combination
//! is a path, and refinement brings back what matters.
//!
//! Invariant: what comes back holds of all that the clauses derive from what is known, but perhaps
//! not of what was seen before.

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

/// Cubes that one path may have: disequalities and the like are not always decided by it.
const CUBES_OF_PATH: usize = 16;

/// After one in so many of the paths, what they derive is made coarser.
const FINE: usize = 50;

/// Cubes of a constraint that is not looked at path by path.
const CUBES: usize = 24;

/// Images that are remembered at a time.
const IMAGES: usize = 10_000;

/// A clause, what is known of its body, and that what it derives was not seen.
type Question = (usize, Vec<TermId>, TermId);

/// The clauses with their solvers.
pub struct Posts<'a, D: Domain> {
    system: &'a System,
    domain: &'a D,
    smt: Rc<Smt>,
    /// By clause: with the constraint asserted, made when first needed.
    solvers: Vec<Option<Solver>>,
    cubes: FxHashMap<usize, Rc<[Cube]>>,
    /// Paths of one clause from one element, at most.
    limit: usize,
    /// Paths after which what they derive is made coarser.
    fine: usize,
    /// What is known of images, since nodes are visited again with sources that are as before.
    images: FxHashMap<Question, D::Element>,
    /// Paths so far, and images that were known.
    pub paths: u64,
    pub repeated: u64,
    /// Time for images.
    pub time: Duration,
}

/// What is known of a body atom: an element and a formula, both hold.
pub struct Premise<'a, E> {
    pub element: &'a E,
    pub formula: TermId,
}

/// What is known before a step.
pub struct Source<'a, E> {
    /// By body atom; what is said of atoms that the clause does not have is ignored.
    pub premises: Vec<Premise<'a, E>>,
    /// Over the head's formal variables: what need not be derived again.
    pub seen: TermId,
}

impl<'a, E> Source<'a, E> {
    /// What is known before a step of a linear clause.
    pub fn linear(element: &'a E, formula: TermId, seen: TermId) -> Self {
        Source {
            premises: vec![Premise { element, formula }],
            seen,
        }
    }
}

impl<'a, D: Domain> Posts<'a, D> {
    /// For a system, with one solver for each clause that is asked for. So many paths of a clause go
    /// through the domain one by one, at most; after a fiftieth of them what they derive is made
    /// coarser.
    pub fn new(system: &'a System, domain: &'a D, smt: &Rc<Smt>, paths: usize) -> Self {
        Posts {
            system,
            domain,
            smt: smt.clone(),
            solvers: system.clauses.iter().map(|_| None).collect(),
            cubes: FxHashMap::default(),
            limit: paths,
            fine: paths / FINE,
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

    /// Whether the clause derives anything from what is known.
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

    /// What the domain knows of the body.
    fn bodies(clause: &Clause, source: &Source<D::Element>) -> Vec<D::Element> {
        let atoms = clause.body.iter().zip(&source.premises);
        atoms.map(|(_, premise)| premise.element.clone()).collect()
    }

    /// Those of the formulas, over the head's formal variables, that hold of all that the clause
    /// derives from what is known. What the oracle leaves open is not among them.
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

    /// What the clause, which has a head, derives from what is known and was not seen before.
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
        if self.images.len() >= IMAGES {
            self.images.clear();
        }
        self.images.insert(question, image.clone());
        Ok(image)
    }

    /// What paths derive, and whether these are all.
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
                        log::debug!("a post by cubes: {why}");
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
            let path = cubes(&terms, terms.and(&literals), CUBES_OF_PATH);
            let image = self.domain.post(self.system, clause, &path, &bodies);
            found = self.domain.join(&found, &image);
            // Where joins are exact, the rest is known already.
            let coarse = count >= self.fine;
            if count >= self.fine.saturating_mul(2) {
                found = self.domain.hull(&found);
            } else if coarse {
                found = self.domain.coarsened(&found);
            }
            let news = if self.domain.is_disjunctive() && !coarse {
                &image
            } else {
                &found
            };
            let news = terms.and(&self.domain.formula(news));
            let news = self.system.instantiate(news, head);
            if evaluator.value(news) != Some(TermId::TRUE) {
                // No step forward; a formula that says nothing of the values would be one for ever.
                return Ok((found, false));
            }
            self.solver(index).assert(terms.not(news));
        }
        Ok((found, false))
    }

    fn cubes_of(&mut self, index: usize) -> Rc<[Cube]> {
        let system = self.system;
        let cubes = self.cubes.entry(index).or_insert_with(|| {
            let constraint = system.clauses[index].constraint;
            cubes(&system.terms, constraint, CUBES).into()
        });
        cubes.clone()
    }
}
