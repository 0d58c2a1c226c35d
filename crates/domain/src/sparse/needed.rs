//! The statements that a proof needs: backwards from the queries, cube by cube, a small set of
//! statements about the body that is enough for those that are needed of the head.
//!
//! Invariant: the statements that are returned are inductive together and exclude the queries, as far
//! as [`Transfer::post`] over-approximates.

use rustc_hash::FxHashSet;

use super::compile::{Cube, Formula, Local, Operation, Program};
use super::element::{Element, Statement};
use super::iterate::Schedule;
use super::transfer::{Extent, Layer, STEP, Transfer};
use alphorn_term::run::Budget;

/// Statements about the body of one cube that are tried one by one; of more, halves are tried first.
const MAX_SINGLE: usize = 24;

/// Steps of an explanation besides those of applications.
const EXPLANATION: u64 = 100;

/// The statements about a body: its atom, and the statement.
type Premise = (usize, Statement);

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// A statement does not follow from those of the bodies, which is a defect.
    Unexplained,
    /// The budget has ended.
    Budget,
}

/// Finds needed statements.
struct Search<'a, 'b> {
    transfer: &'a mut Transfer<'b>,
    program: &'b Program,
    values: &'a [Option<Element>],
    layer: Layer,
    /// By predicate, what is needed, also in the order in which it was found.
    needed: Vec<FxHashSet<Statement>>,
    found: Vec<Vec<Statement>>,
    /// By cube, how many of the statements that were found about its head are explained.
    explained: Vec<usize>,
    budget: &'a Budget,
}

/// By predicate, the statements of `values` that exclude the cubes `excluded`, those that are `wanted`
/// of predicates, and those that these need.
///
/// # Errors
/// The statements do not exclude the cubes, or the budget has ended.
pub(super) fn needed(
    schedule: &Schedule,
    (excluded, wanted): (&[u32], &[(usize, Vec<Statement>)]),
    transfer: &mut Transfer,
    values: &[Option<Element>],
    layer: Layer,
    budget: &Budget,
) -> Result<Vec<Vec<Statement>>, Failure> {
    let program = transfer.program();
    let mut search = Search {
        transfer,
        program,
        values,
        layer,
        needed: vec![FxHashSet::default(); values.len()],
        found: vec![Vec::new(); values.len()],
        explained: vec![0; program.cubes.len()],
        budget,
    };
    for (p, statements) in wanted {
        statements.iter().for_each(|&s| search.need(*p, s));
    }
    for &cube in excluded {
        search.explain(cube, &[Statement::False])?;
    }
    let order: Vec<usize> = schedule.predicates().rev().collect();
    loop {
        let mut changed = false;
        for &p in &order {
            for &at in schedule.definitions[p].iter().rev() {
                let goals = search.found[p][search.explained[at as usize]..].to_vec();
                if !goals.is_empty() {
                    changed = true;
                    search.explained[at as usize] += goals.len();
                    search.explain(at, &goals)?;
                }
            }
        }
        if !changed {
            break;
        }
    }
    let mut found = search.found;
    found.iter_mut().for_each(|all| all.sort_unstable());
    Ok(found)
}

impl Search<'_, '_> {
    /// Adds statements about the body of a cube that are enough for the goals about its head.
    fn explain(&mut self, at: u32, goals: &[Statement]) -> Result<(), Failure> {
        let before = self.transfer.steps;
        let result = self.explain_within(at, goals);
        let steps = self.transfer.steps - before + EXPLANATION;
        let steps = u32::try_from(steps).unwrap_or(u32::MAX);
        self.budget.terms().charge(STEP * steps);
        result
    }

    fn explain_within(&mut self, at: u32, goals: &[Statement]) -> Result<(), Failure> {
        let (program, packs) = (self.program, self.transfer.packs());
        let cube = &program.cubes[at as usize];
        for &(p, _) in &cube.body {
            if self.values[p].is_none() {
                self.need(p, Statement::False);
                return Ok(());
            }
        }
        let values = self.values;
        let bodies = cube.body.iter().filter_map(|(p, _)| values[*p].as_ref());
        let bodies: Vec<&Element> = bodies.collect();
        // What is needed already costs nothing.
        let mut premises: Vec<Premise> = Vec::new();
        for (atom, (p, _)) in cube.body.iter().enumerate() {
            premises.extend(self.found[*p].iter().map(|&statement| (atom, statement)));
        }
        let open = self.open_goals(at, &bodies, &premises, goals);
        if open.is_empty() {
            return Ok(());
        }
        let mut others: Vec<(Premise, Vec<Local>)> = Vec::new();
        for (atom, (p, args)) in cube.body.iter().enumerate() {
            for statement in bodies[atom].unconditional(&program.starts[*p], *p, packs) {
                if !self.needed[*p].contains(&statement) {
                    let about = Element::arguments(statement, bodies[atom], *p, packs);
                    let locals = about.iter().map(|&a| args[a as usize]).collect();
                    others.push(((atom, statement), locals));
                }
            }
        }
        // Implications near several goals are many, those near one are few.
        let is_implication = |goal: &Statement| matches!(goal, Statement::Implication(..));
        let (implications, plain): (Vec<_>, Vec<_>) = open.into_iter().partition(is_implication);
        let groups = std::iter::once(plain).chain(implications.into_iter().map(|goal| vec![goal]));
        for goals in groups.filter(|goals| !goals.is_empty()) {
            let given = premises.len();
            self.add_premises(at, &bodies, &mut premises, &others, &goals)?;
            for &(atom, statement) in &premises[given..] {
                self.need(cube.body[atom].0, statement);
            }
        }
        Ok(())
    }

    /// Adds to the premises statements that are enough for the goals: some of `others`, which are
    /// given with their locals, and implications.
    fn add_premises(
        &mut self,
        at: u32,
        bodies: &[&Element],
        premises: &mut Vec<Premise>,
        others: &[(Premise, Vec<Local>)],
        goals: &[Statement],
    ) -> Result<(), Failure> {
        let cube = &self.program.cubes[at as usize];
        let given = premises.len();
        let mut near = self.locals_of(cube, goals);
        let mut added: FxHashSet<Premise> = FxHashSet::default();
        while !self.open_goals(at, bodies, premises, goals).is_empty() {
            if self.budget.is_spent() {
                return Err(Failure::Budget);
            }
            // Statements about locals that are near the goals.
            let before = premises.len();
            for ((atom, statement), locals) in others {
                let is_near = locals.iter().all(|l| near.contains(l));
                let is_needed = self.needed[cube.body[*atom].0].contains(statement);
                if is_near && !is_needed && added.insert((*atom, *statement)) {
                    premises.push((*atom, *statement));
                }
            }
            self.add_implications(cube, bodies, &near, &mut added, premises);
            if premises.len() > before || extend(cube, &mut near) {
                continue;
            }
            let all: FxHashSet<Local> = (0..cube.start.len() as Local).collect();
            if near == all {
                return Err(Failure::Unexplained);
            }
            near = all;
        }
        self.reduce(at, bodies, premises, given, goals);
        Ok(())
    }

    /// Adds the implications between locals that are near the goals.
    fn add_implications(
        &self,
        cube: &Cube,
        bodies: &[&Element],
        near: &FxHashSet<Local>,
        added: &mut FxHashSet<Premise>,
        premises: &mut Vec<Premise>,
    ) {
        for (atom, (p, args)) in cube.body.iter().enumerate() {
            let marks: Vec<bool> = args.iter().map(|l| near.contains(l)).collect();
            for statement in bodies[atom].implications_between(&marks) {
                let premise = (atom, statement);
                if !self.needed[*p].contains(&statement) && added.insert(premise) {
                    premises.push(premise);
                }
            }
        }
    }

    /// Drops premises from position `given` on that the others make superfluous.
    fn reduce(
        &mut self,
        cube: u32,
        bodies: &[&Element],
        premises: &mut Vec<Premise>,
        given: usize,
        goals: &[Statement],
    ) {
        let mut size = match premises.len() - given {
            few if few <= MAX_SINGLE => 1,
            many => many.div_ceil(2),
        };
        loop {
            let mut at = premises.len();
            while at > given && !self.budget.is_spent() {
                let from = at.saturating_sub(size).max(given);
                let dropped: Vec<Premise> = premises.splice(from..at, []).collect();
                if !self.open_goals(cube, bodies, premises, goals).is_empty() {
                    premises.splice(from..from, dropped);
                }
                at = from;
            }
            if size == 1 {
                break;
            }
            size = size.div_ceil(2);
        }
    }

    /// The goals that do not follow from the premises by the cube.
    fn open_goals(
        &mut self,
        at: u32,
        bodies: &[&Element],
        premises: &[Premise],
        goals: &[Statement],
    ) -> Vec<Statement> {
        let (program, packs) = (self.program, self.transfer.packs());
        let cube = &program.cubes[at as usize];
        let reduced: Vec<Element> = (0..bodies.len())
            .map(|atom| {
                let own = premises.iter().filter(|p| p.0 == atom).map(|p| p.1);
                bodies[atom].only(own, &program.starts[cube.body[atom].0])
            })
            .collect();
        let reduced: Vec<&Element> = reduced.iter().collect();
        let extent = Extent::UpTo(self.layer);
        let conditions = goals.iter().filter_map(|goal| match goal {
            Statement::Implication(condition, _) => Some(*condition),
            _ => None,
        });
        let conditions: FxHashSet<u32> = conditions.collect();
        let found = self
            .transfer
            .post_for(at, &reduced, self.values, extent, &|condition| {
                conditions.contains(&condition)
            });
        self.transfer.steps += premises.len() as u64 + goals.len() as u64;
        let Some(found) = found else {
            return Vec::new();
        };
        let value = cube.head.as_ref().map(|(p, _)| (*p, &self.values[*p]));
        let Some((p, Some(value))) = value else {
            return goals.to_vec();
        };
        let follows = |goal: &Statement| found.implies(*goal, value, p, packs);
        goals
            .iter()
            .filter(|goal| !follows(goal))
            .copied()
            .collect()
    }

    /// The locals that the goals are about; those of all rows if the cube is not to be applied.
    fn locals_of(&self, cube: &Cube, goals: &[Statement]) -> FxHashSet<Local> {
        let packs = self.transfer.packs();
        let mut near = FxHashSet::default();
        match &cube.head {
            Some((p, args)) if !goals.contains(&Statement::False) => {
                let Some(value) = &self.values[*p] else {
                    return near;
                };
                for &goal in goals {
                    let about = Element::arguments(goal, value, *p, packs).into_iter();
                    near.extend(about.map(|a| args[a as usize]));
                }
            }
            // What excludes the cube may be any of its rows.
            _ => {
                for formula in &cube.formulas {
                    collect(formula, &mut near);
                }
                let starts = (0..).zip(&cube.start);
                near.extend(starts.filter(|s| s.1.is_finite()).map(|s| s.0));
            }
        }
        near
    }

    fn need(&mut self, p: usize, statement: Statement) {
        if self.needed[p].insert(statement) {
            self.found[p].push(statement);
        }
    }
}

/// Adds the locals of formulas that have one of the locals; whether there were any.
fn extend(cube: &Cube, near: &mut FxHashSet<Local>) -> bool {
    let before = near.len();
    let mut added = FxHashSet::default();
    for formula in &cube.formulas {
        let mut own = FxHashSet::default();
        collect(formula, &mut own);
        if own.iter().any(|l| near.contains(l)) {
            added.extend(own);
        }
    }
    near.extend(added);
    near.len() > before
}

/// The locals of a formula.
pub(super) fn collect(formula: &Formula, found: &mut FxHashSet<Local>) {
    match formula {
        Formula::Row(row) => found.extend(row.terms.iter().map(|t| t.0)),
        Formula::And(parts) | Formula::Or(parts) => {
            for part in parts {
                collect(part, found);
            }
        }
        Formula::Define(local, operation) => {
            found.insert(*local);
            match operation {
                Operation::Product(a, b) | Operation::Mask(a, b) => found.extend([*a, *b]),
                Operation::Quotient(a, _) | Operation::Remainder(a, _) => {
                    found.insert(*a);
                }
                Operation::Wrapped(terms, ..) => found.extend(terms.iter().map(|t| t.0)),
            }
        }
    }
}
