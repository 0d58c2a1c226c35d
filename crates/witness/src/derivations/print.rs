//! Printing of proofs by induction on derivations.
//!
//! # Invariant
//! [`read_proof`](super::read_proof) reads the lines.

use std::fmt::Write;

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::print::ModelPrinter;
use crate::types::{
    Affine, ClauseStep, Derivations, Derived, Existence, Instance, Model, ProofNode,
    RelationalLemma, Total,
};
use alphorn_chc::frontend::Problem;
use alphorn_term::{Op, SortId, TermId, quote_symbol};

/// The lines for a proof, without line breaks.
///
/// # Errors
/// A statement is no formula over its slots, or an index is out of range.
pub fn proof_lines(problem: &Problem, proof: &Derivations) -> Result<Vec<String>, String> {
    let printer = ModelPrinter::new(problem, &Model::default())?;
    let mut lines = Vec::new();
    for (number, total) in proof.totals.iter().enumerate() {
        lines.push(total_line(problem, &printer, number, total)?);
    }
    for (number, lemma) in proof.lemmas.iter().enumerate() {
        lines.push(lemma_line(problem, &printer, number, lemma)?);
    }
    for (number, uses) in proof.queries.iter().enumerate() {
        let mut line = format!("; query {number} :use");
        instances(&mut line, uses);
        lines.push(line);
    }
    match lines.iter().find(|line| line.contains(['\n', '\r'])) {
        Some(line) => Err(format!("a symbol with a line break: {line:?}")),
        None => Ok(lines),
    }
}

/// The line that says why a predicate's facts have derivations.
///
/// # Errors
/// A term has other variables than the predicate's.
pub fn derived_line(
    problem: &Problem,
    printer: &ModelPrinter<'_>,
    derived: &Derived,
) -> Result<String, String> {
    let terms = &problem.terms;
    let predicate = problem.predicates.get(derived.predicate.index());
    let predicate = predicate.ok_or("facts of an unknown predicate")?;
    let print = |roots: &[TermId]| {
        let printed = printer.over(&predicate.params, roots);
        let printed = printed.map(|(_, texts)| texts.join(" "));
        printed.map_err(|()| format!("facts of {} with free variables", predicate.name))
    };
    let mut line = format!("; derived ({}", quote_symbol(&predicate.name));
    for at in 0..predicate.params.len() {
        write!(line, " {}", printer.argument(at)).expect("string");
    }
    line.push(')');
    if !derived.measure.is_empty() {
        write!(line, " :measure ({})", print(&derived.measure)?).expect("string");
    }
    if !derived.unfoldings.is_empty() {
        let calls = derived.unfoldings.iter();
        if !calls.clone().all(|&t| matches!(terms.op(t), Op::Call(_))) {
            return Err("an unfolding of a term that is no call".to_owned());
        }
        let calls = calls.map(|&call| {
            let text = print(&[call])?;
            // A call without arguments has no parentheses.
            Ok(match terms.args(call).is_empty() {
                true => format!("({text})"),
                false => text,
            })
        });
        let calls = calls.collect::<Result<Vec<_>, String>>()?;
        write!(line, " :unfold ({})", calls.join(" ")).expect("string");
    }
    line.push_str(" :cases (");
    for (at, (clause, values)) in derived.cases.iter().enumerate() {
        let space = if at == 0 { "" } else { " " };
        write!(line, "{space}({clause}").expect("string");
        for &value in values {
            write!(line, " {}", print(&[value])?).expect("string");
        }
        line.push(')');
    }
    line.push(')');
    Ok(line)
}

/// The line for a lemma.
fn lemma_line(
    problem: &Problem,
    printer: &ModelPrinter<'_>,
    number: usize,
    lemma: &RelationalLemma,
) -> Result<String, String> {
    if problem.terms.sort_of(lemma.statement) != SortId::BOOL {
        return Err(format!("the statement of lemma L{number} is not a formula"));
    }
    let vars: Vec<TermId> = lemma
        .slots
        .iter()
        .flat_map(|s| s.args.iter().copied())
        .collect();
    let (_, statement) = printer
        .over(&vars, &[lemma.statement])
        .map_err(|()| format!("lemma L{number} has free variables that are not its own"))?;
    let distinct: FxHashSet<TermId> = vars.iter().copied().collect();
    if distinct.len() != vars.len() {
        return Err(format!("the variables of lemma L{number} are not distinct"));
    }
    let mut line = format!("; relational L{number} (");
    let mut at = 0;
    for (position, slot) in lemma.slots.iter().enumerate() {
        let predicate = problem.predicates.get(slot.predicate.index());
        let predicate = predicate.ok_or("a lemma about an unknown predicate")?;
        let space = if position == 0 { "" } else { " " };
        write!(line, "{space}({}", quote_symbol(&predicate.name)).expect("string");
        for _ in &slot.args {
            write!(line, " {}", printer.argument(at)).expect("string");
            at += 1;
        }
        line.push(')');
    }
    write!(line, ") {}", statement[0]).expect("string");
    if let Some(conclusion) = &lemma.conclusion {
        let (_, terms) = printer
            .over(&vars, &conclusion.args)
            .map_err(|()| format!("the conclusion of lemma L{number} has other variables"))?;
        let predicate = problem.predicates.get(conclusion.predicate.index());
        let predicate = predicate.ok_or("a conclusion with an unknown predicate")?;
        write!(line, " :concludes ({}", quote_symbol(&predicate.name)).expect("string");
        terms.iter().for_each(|term| {
            write!(line, " {term}").expect("string");
        });
        line.push(')');
    }
    write!(line, " :group {}", lemma.group).expect("string");
    if !lemma.measured.iter().copied().eq(0..lemma.slots.len()) {
        let list: Vec<String> = lemma.measured.iter().map(usize::to_string).collect();
        write!(line, " :measured ({})", list.join(" ")).expect("string");
    }
    line.push_str(" :proof ");
    tree(problem, printer, &mut line, &lemma.proof)?;
    Ok(line)
}

/// The line for a statement of totality.
fn total_line(
    problem: &Problem,
    printer: &ModelPrinter<'_>,
    number: usize,
    total: &Total,
) -> Result<String, String> {
    let (_, domain) = printer
        .over(&total.atom.args, &[total.domain])
        .map_err(|()| format!("statement T{number} has free variables that are not its own"))?;
    let predicate = problem.predicates.get(total.atom.predicate.index());
    let predicate = predicate.ok_or("a statement about an unknown predicate")?;
    let mut line = format!("; total T{number} ({}", quote_symbol(&predicate.name));
    for at in 0..total.atom.args.len() {
        write!(line, " {}", printer.argument(at)).expect("string");
    }
    let outputs: Vec<String> = total.outputs.iter().map(usize::to_string).collect();
    write!(
        line,
        ") {} :outputs ({}) :group {} :measure ",
        domain[0],
        outputs.join(" "),
        total.group
    )
    .expect("string");
    affine(&mut line, &total.measure);
    line.push_str(" :cases (");
    for (at, case) in total.cases.iter().enumerate() {
        let space = if at == 0 { "" } else { " " };
        write!(line, "{space}({}", case.clause).expect("string");
        for premise in &case.premises {
            line.push(' ');
            existence(&mut line, premise);
        }
        line.push(')');
    }
    line.push(')');
    Ok(line)
}

/// Writes why there is a fact.
fn existence(line: &mut String, fact: &Existence) {
    write!(line, "(T{} (", fact.total).expect("string");
    for (at, sum) in fact.inputs.iter().enumerate() {
        if at > 0 {
            line.push(' ');
        }
        affine(line, sum);
    }
    line.push(')');
    instances(line, &fact.uses);
    line.push(')');
}

fn affine(line: &mut String, sum: &Affine) {
    write!(line, "({}", sum.constant).expect("string");
    for (factor, atom, arg) in &sum.parts {
        write!(line, " ({factor} {atom} {arg})").expect("string");
    }
    line.push(')');
}

/// Writes a proof's tree; iterative.
fn tree(
    problem: &Problem,
    printer: &ModelPrinter<'_>,
    line: &mut String,
    nodes: &[ProofNode],
) -> Result<(), String> {
    // `None` closes a parenthesis.
    let mut stack = vec![Some(0)];
    let mut written = 0;
    while let Some(next) = stack.pop() {
        let Some(node) = next else {
            line.push(')');
            continue;
        };
        written += 1;
        if written > nodes.len() {
            return Err("a proof that is no tree".to_owned());
        }
        if written > 1 {
            line.push(' ');
        }
        match nodes
            .get(node)
            .ok_or("a proof with a node that is missing")?
        {
            ProofNode::Use(uses) => {
                line.push_str("(:use");
                instances(line, uses);
                line.push(')');
            }
            ProofNode::Goal { atoms, uses } => {
                let atoms: Vec<String> = atoms.iter().map(usize::to_string).collect();
                write!(line, "(:goal ({})", atoms.join(" ")).expect("string");
                instances(line, uses);
                line.push(')');
            }
            ProofNode::Add { used, uses, inner } => {
                line.push_str("(:add");
                instances(line, std::slice::from_ref(used));
                listed(line, uses);
                stack.push(None);
                stack.push(Some(*inner));
            }
            ProofNode::Apply { step, inner } => {
                clause_step(problem, printer, line, step)?;
                stack.push(None);
                stack.push(Some(*inner));
            }
            ProofNode::Ghost { fact, inner } => {
                line.push_str("(:ghost ");
                existence(line, fact);
                stack.push(None);
                stack.push(Some(*inner));
            }
            ProofNode::Split { atom, cases } => {
                write!(line, "(:split {atom}").expect("string");
                stack.push(None);
                stack.extend(cases.iter().rev().map(|&case| Some(case)));
            }
        }
    }
    Ok(())
}

/// Writes the application of a clause, without its end.
fn clause_step(
    problem: &Problem,
    printer: &ModelPrinter<'_>,
    line: &mut String,
    step: &ClauseStep,
) -> Result<(), String> {
    let predicate = problem.predicates.get(step.predicate.index());
    let predicate = predicate.ok_or("a clause of an unknown predicate")?;
    let name = quote_symbol(&predicate.name);
    write!(line, "(:apply ({name} {}", step.clause).expect("string");
    for premise in &step.premises {
        write!(line, " {premise}").expect("string");
    }
    line.push_str(") (");
    let vars: Vec<TermId> = step.names.iter().map(|name| name.0).collect();
    for (position, (_, atom, arg)) in step.names.iter().enumerate() {
        let space = if position == 0 { "" } else { " " };
        let name = printer.argument(position);
        write!(line, "{space}({name} {atom} {arg})").expect("string");
    }
    let clauses = problem.clauses.iter();
    let mut own = clauses.filter(|c| {
        c.head
            .as_ref()
            .is_some_and(|h| h.predicate == step.predicate)
    });
    let clause = own.nth(step.clause).ok_or("a clause that is not there")?;
    let given: FxHashMap<TermId, TermId> = step.values.iter().copied().collect();
    let terms = &problem.terms;
    let value = |&(_, var): &(_, TermId)| match given.get(&var) {
        Some(&value) => Some(value),
        None => terms.default_value(terms.sort_of(var)),
    };
    let values: Option<Vec<TermId>> = clause.vars.iter().map(value).collect();
    let values = values.ok_or("a clause with a variable that has no value")?;
    let (_, values) = printer
        .over(&vars, &values)
        .map_err(|()| format!("a clause of {name} with values that are not given"))?;
    write!(line, ") ({})", values.join(" ")).expect("string");
    listed(line, &step.uses);
    Ok(())
}

/// Writes instances as a list.
fn listed(line: &mut String, uses: &[Instance]) {
    let mut list = String::new();
    instances(&mut list, uses);
    write!(line, " ({})", list.trim_start()).expect("string");
}

fn instances(line: &mut String, uses: &[Instance]) {
    for instance in uses {
        write!(line, " (L{}", instance.lemma).expect("string");
        for atom in &instance.atoms {
            write!(line, " {atom}").expect("string");
        }
        line.push(')');
    }
}
