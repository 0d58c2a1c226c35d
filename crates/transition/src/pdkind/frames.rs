//! Lemmas by level, and whether a cube is reached within some steps: `reach` and `explain` of the
//! paper.
//!
//! Invariant: a lemma of level `i` holds of all states within `i` steps from facts: it holds of
//! facts, and of the states to which a step leads from where the lemmas of level `i - 1` hold.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::chain::{Link, Onward};
use super::limits::LIMITS;
use alphorn_chc::{PredicateId, System};
use alphorn_interpolation::project_formula;
use alphorn_proof::facts::Leveled;
use alphorn_proof::steps::{Steps, literal};
use alphorn_proof::{Stop, ask, bounds, core_of_all, undefined, values};
use alphorn_smt::{Smt, SmtModel, Solver};
use alphorn_term::TermId;
use alphorn_term::run::Context;

/// The answer whether a cube is reached.
pub(super) enum Reached {
    /// By an entry clause into a cube from which a chain leads through the given one.
    Yes { entry: usize, first: Rc<Link> },
    /// Not within the given number of steps; a lemma excludes it.
    No { lemma: TermId },
}

/// The solver of a step.
struct Rule {
    solver: Solver,
    /// The number of lemmas about the source that are asserted.
    asserted: usize,
}

/// The lemmas of all levels and the solvers of steps.
pub(super) struct Frames<'a> {
    system: &'a System,
    steps: &'a Steps,
    /// The same steps backward.
    reversed: &'a Steps,
    smt: &'a Rc<Smt>,
    rules: FxHashMap<usize, Rule>,
    /// For each predicate, its lemmas with the levels up to which they hold.
    lemmas: FxHashMap<PredicateId, Vec<(usize, TermId)>>,
    /// For each level, the literal that puts its lemmas in force.
    levels: Vec<TermId>,
    /// The number of lemmas.
    pub count: usize,
}

impl<'a> Frames<'a> {
    /// No lemmas.
    pub fn new(
        system: &'a System,
        steps: &'a Steps,
        reversed: &'a Steps,
        smt: &'a Rc<Smt>,
    ) -> Self {
        Frames {
            system,
            steps,
            reversed,
            smt,
            rules: FxHashMap::default(),
            lemmas: FxHashMap::default(),
            levels: Vec::new(),
            count: 0,
        }
    }

    /// Begins with lemmas of an earlier search, as far as they hold: one query for each lemma and step
    /// that leads to its predicate. What does not hold of the facts is left out, and what does not
    /// follow from the lemmas of the level before is taken to hold of the facts only. Returns those that
    /// are left, with their levels.
    pub fn begin_with(
        &mut self,
        mut earlier: Vec<Leveled>,
        cx: &Context,
    ) -> Result<Vec<Leveled>, Stop> {
        let terms = self.system.terms.clone();
        for attempt in 1.. {
            (self.rules, self.lemmas) = Default::default();
            for lemma in &earlier {
                self.add(lemma.predicate, lemma.formula, lemma.level as usize);
            }
            let mut kept = Vec::with_capacity(earlier.len());
            let mut is_wrong = false;
            for lemma in &earlier {
                let outside = [terms.not(lemma.formula)];
                if self.enters(lemma.predicate, &outside, cx)? {
                    is_wrong = true;
                    continue;
                }
                let holds = match lemma.level.checked_sub(1) {
                    Some(before) => {
                        self.holds_after(lemma.predicate, &outside, before as usize, cx)?
                    }
                    None => true,
                };
                is_wrong |= !holds;
                let stays = holds && attempt < LIMITS.attempts_to_resume;
                let level = if stays { lemma.level } else { 0 };
                kept.push(Leveled { level, ..*lemma });
            }
            if !is_wrong {
                break;
            }
            earlier = kept;
        }
        self.count = earlier.len();
        Ok(earlier)
    }

    /// All lemmas with their levels.
    pub fn lemmas(&self) -> Vec<Leveled> {
        let mut all = Vec::with_capacity(self.count);
        for predicate in self.steps.predicates() {
            let lemmas = self.lemmas.get(&predicate).into_iter().flatten();
            all.extend(lemmas.map(|&(level, formula)| Leveled {
                predicate,
                formula,
                level: level as u32,
            }));
        }
        all
    }

    /// Whether a state of the cube is reached in at most `within` steps.
    pub fn reach(&mut self, link: Rc<Link>, within: usize, cx: &Context) -> Result<Reached, Stop> {
        let mut stack = vec![(link, within)];
        loop {
            let Some((top, level)) = stack.last().cloned() else {
                unreachable!("the first cube ends the search")
            };
            for &entry in self.reversed.queries(top.predicate) {
                if self.step_into(entry, &top, None, cx)?.is_some() {
                    return Ok(Reached::Yes { entry, first: top });
                }
            }
            let mut before = None;
            if level > 0 {
                for &step in self.reversed.from(top.predicate) {
                    if let Some(model) = self.step_into(step, &top, Some(level - 1), cx)? {
                        before = Some(self.source(step, &top, &model)?);
                        break;
                    }
                }
            }
            if let Some(link) = before {
                stack.push((link, level - 1));
                continue;
            }
            let lemma = self.explain(&top, level, within, cx)?;
            stack.pop();
            if stack.is_empty() {
                return Ok(Reached::No { lemma });
            }
        }
    }

    /// A model of a step into a cube from states that satisfy the lemmas of a level.
    fn step_into(
        &mut self,
        step: usize,
        target: &Link,
        level: Option<usize>,
        cx: &Context,
    ) -> Result<Option<SmtModel>, Stop> {
        let mut assumptions = self.at_target(step, &target.cube);
        assumptions.extend(self.in_force(level));
        ask(&mut self.rule(step).solver, &assumptions, cx)
    }

    /// A cube that contains a model's state and from which a step leads into another cube.
    fn source(&self, step: usize, target: &Rc<Link>, model: &SmtModel) -> Result<Rc<Link>, Stop> {
        let terms = &self.system.terms;
        let shape = &self.steps.all[step];
        let mut parts = self.at_target(step, &target.cube);
        parts.push(shape.formula);
        let (source, rest) = shape.vars.split_at(shape.first);
        let point = values(model, &shape.vars)?;
        let cube = project_formula(terms, terms.and(&parts), rest, &point);
        let cube = cube.ok_or_else(undefined)?;
        let predicate = shape.from.expect("a step from a predicate");
        let params = &self.system.predicate(predicate).params;
        let map: FxHashMap<TermId, TermId> =
            source.iter().copied().zip(params.iter().copied()).collect();
        let cube: Vec<TermId> = cube.iter().map(|&l| terms.substitute(l, &map)).collect();
        Ok(Rc::new(Link {
            predicate,
            cube: bounds(terms, &cube),
            onward: Onward::Step(step, target.clone()),
        }))
    }

    /// Adds a lemma that excludes a cube that is not reached within `level` steps, at the highest
    /// level up to `limit` where it holds.
    fn explain(
        &mut self,
        cube: &Link,
        level: usize,
        limit: usize,
        cx: &Context,
    ) -> Result<TermId, Stop> {
        let terms = self.system.terms.clone();
        let mut incoming: Vec<(usize, Option<usize>)> = Vec::new();
        incoming.extend(
            self.reversed
                .queries(cube.predicate)
                .iter()
                .map(|&s| (s, None)),
        );
        if let Some(before) = level.checked_sub(1) {
            let steps = self.reversed.from(cube.predicate).iter();
            incoming.extend(steps.map(|&s| (s, Some(before))));
        }
        let needed = core_of_all(
            &cube.cube,
            incoming,
            cx,
            |(step, before), needed, rest, effort| {
                let mut hard = self.in_force(before);
                hard.extend(self.at_target(step, needed));
                let soft = self.at_target(step, rest);
                let core = self.rule(step).solver.core_by(&hard, &soft, effort);
                (soft, core)
            },
        )?;
        let negated: Vec<TermId> = needed.iter().map(|&l| terms.not(l)).collect();
        let lemma = terms.or(&negated);
        let mut level = level;
        while level < limit && self.holds_after(cube.predicate, &needed, level, cx)? {
            level += 1;
        }
        self.count += 1;
        self.add(cube.predicate, lemma, level);
        Ok(lemma)
    }

    /// Adds a lemma that holds up to its level.
    fn add(&mut self, predicate: PredicateId, lemma: TermId, level: usize) {
        while self.levels.len() <= level {
            self.levels.push(literal(&self.system.terms, "level"));
        }
        self.lemmas
            .entry(predicate)
            .or_default()
            .push((level, lemma));
    }

    /// Whether a fact of the predicate is in the cube.
    fn enters(
        &mut self,
        predicate: PredicateId,
        cube: &[TermId],
        cx: &Context,
    ) -> Result<bool, Stop> {
        for &entry in self.reversed.queries(predicate) {
            let assumptions = self.at_target(entry, cube);
            if ask(&mut self.rule(entry).solver, &assumptions, cx)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether no step leads into the cube from states that satisfy the lemmas of a level.
    fn holds_after(
        &mut self,
        predicate: PredicateId,
        cube: &[TermId],
        level: usize,
        cx: &Context,
    ) -> Result<bool, Stop> {
        for &step in self.reversed.from(predicate) {
            let mut assumptions = self.at_target(step, cube);
            assumptions.extend(self.in_force(Some(level)));
            if ask(&mut self.rule(step).solver, &assumptions, cx)?.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The literals that put the lemmas of a level in force.
    fn in_force(&self, level: Option<usize>) -> Vec<TermId> {
        let levels = level.and_then(|level| self.levels.get(level..));
        levels.map_or_else(Vec::new, <[TermId]>::to_vec)
    }

    /// Literals over the formal variables, over the arguments of a step's target.
    fn at_target(&self, step: usize, cube: &[TermId]) -> Vec<TermId> {
        let shape = &self.steps.all[step];
        let predicate = shape.to.expect("a step to a predicate");
        let params = &self.system.predicate(predicate).params;
        let args = &shape.vars[shape.first..shape.arguments];
        let map: FxHashMap<TermId, TermId> =
            params.iter().copied().zip(args.iter().copied()).collect();
        let terms = &self.system.terms;
        cube.iter().map(|&l| terms.substitute(l, &map)).collect()
    }

    /// The solver of a step, with all lemmas about its source.
    fn rule(&mut self, step: usize) -> &mut Rule {
        let terms = &self.system.terms;
        let shape = &self.steps.all[step];
        let rule = self.rules.entry(step).or_insert_with(|| {
            let mut solver = self.smt.solver();
            solver.assert(shape.formula);
            Rule {
                solver,
                asserted: 0,
            }
        });
        if let Some(source) = shape.from {
            let lemmas = self.lemmas.get(&source).map_or(&[][..], |l| l);
            let params = &self.system.predicate(source).params;
            let args = shape.vars[..shape.first].iter().copied();
            let map: FxHashMap<TermId, TermId> = params.iter().copied().zip(args).collect();
            for &(level, lemma) in &lemmas[rule.asserted..] {
                let here = terms.substitute(lemma, &map);
                rule.solver.assert(terms.implies(self.levels[level], here));
            }
            rule.asserted = lemmas.len();
        }
        rule
    }
}
