//! Questions about facts as conclusions.
//!
//! - `ind!headI_J` is the J-th argument of the head of the I-th clause, over its variables; there are
//!   such definitions for the clauses that proofs apply;
//! - in the questions `ind!vI_J` is the value of the J-th variable of the clause by which the context's
//!   I-th atom was added.
//!
//! # Invariant
//! An atom joins a context only with the question that the least model has such a fact if it has the
//! facts of the context, and its arguments are fixed by equations. It is below no slot, and nor are its
//! premises.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::super::{LemmaText, StepText};
use super::{ContextAtom, Known, Refusal, Writer, wrong};
use crate::types::{Instance, ProofNode};
use alphorn_term::TermId;

impl LemmaText {
    /// The terms besides the statement.
    pub(super) fn terms(&self) -> impl Iterator<Item = &str> {
        let conclusion = self.conclusion.iter().flat_map(|(_, terms)| terms);
        let steps = self.nodes.iter().filter_map(|node| match node {
            ProofNode::Apply { step, .. } => Some(step),
            _ => None,
        });
        let own = steps.flat_map(|step| step.names.iter().map(|n| &n.0).chain(&step.values));
        conclusion.chain(own).map(String::as_str)
    }
}

impl Writer<'_> {
    /// The position of the clause that a step applies.
    fn applied_clause(&self, step: &StepText) -> Option<usize> {
        let rules = self.rules.get(step.predicate.index())?;
        rules.get(step.clause).copied()
    }

    /// Writes the definitions for the heads of clauses that are applied.
    pub(super) fn heads(&self, out: &mut String) -> Result<(), Refusal> {
        let nodes = self.proof.lemmas.iter().flat_map(|lemma| &lemma.nodes);
        let steps = nodes.filter_map(|node| match node {
            ProofNode::Apply { step, .. } => self.applied_clause(step),
            _ => None,
        });
        for rule in steps.collect::<BTreeSet<usize>>() {
            let clause = &self.problem.clauses[rule];
            let Some(head) = &clause.head else { continue };
            let vars: Vec<TermId> = clause.vars.iter().map(|v| v.1).collect();
            let free = |()| Refusal::Unsupported("a clause with other variables".to_owned());
            let (binders, texts) = self.printer.over(&vars, &head.args).map_err(free)?;
            let sorts = self.sorts(head.predicate.index());
            for (j, (text, sort)) in texts.iter().zip(sorts).enumerate() {
                writeln!(
                    out,
                    "(define-fun {}head{rule}_{j} ({}) {sort} {text})",
                    self.stem,
                    binders.trim_start()
                )
                .expect("string");
            }
        }
        Ok(())
    }

    /// What is known with the conclusion of a lemma's instance; adds the question that what the lemma
    /// assumes holds.
    pub(super) fn added(
        &mut self,
        number: usize,
        known: &Known,
        used: &Instance,
        uses: &[Instance],
    ) -> Result<Known, Refusal> {
        let lemma = &self.proof.lemmas[used.lemma];
        let Some((predicate, terms)) = &lemma.conclusion else {
            return wrong(format!("{}: {} concludes no fact", known.place, lemma.name));
        };
        let args = self.matched(used, &known.atoms)?;
        self.is_smaller(number, used, &known.atoms)?;
        let instances = self.smaller_instances(number, uses, &known.atoms)?;
        let mut outside = known.clone();
        let premise = self.applied(&format!("premise{}", used.lemma), &args);
        write!(outside.formulas, " (not {premise})").expect("string");
        write!(outside.place, ", what {} assumes", lemma.name).expect("string");
        self.question(&outside, &instances)?;
        let mut inner = known.clone();
        for j in 0..terms.len() {
            let value = self.applied(&format!("conclusion{}_{j}", used.lemma), &args);
            self.equate(&mut inner, j, &value);
        }
        inner.atoms.push(without_path(*predicate));
        Ok(inner)
    }

    /// What is known with the head of a clause; adds the question that the clause derives it.
    pub(super) fn by_clause(
        &mut self,
        number: usize,
        known: &Known,
        step: &StepText,
    ) -> Result<Known, Refusal> {
        let place = &known.place;
        let Some(rule) = self.applied_clause(step) else {
            return wrong(format!("{place}: a clause that is not there"));
        };
        let clause = &self.problem.clauses[rule];
        if clause.body.len() != step.premises.len() {
            return wrong(format!("{place}: not as many facts as body atoms"));
        }
        if clause.vars.len() != step.values.len() {
            return wrong(format!("{place}: not as many values as variables"));
        }
        let mut premises = String::new();
        for (&at, body) in step.premises.iter().zip(&clause.body) {
            match known.atoms.get(at) {
                Some(atom) if atom.predicate == body.predicate.index() => {
                    premises.push_str(&self.args(at, atom.predicate));
                }
                _ => return wrong(format!("{place}: atom {at} is no such fact")),
            }
        }
        let instances = self.smaller_instances(number, &step.uses, &known.atoms)?;
        let mut names = String::new();
        for (name, at, arg) in &step.names {
            let atom = known.atoms.get(*at);
            let arity = |a: &ContextAtom| self.problem.predicates[a.predicate].arity();
            if atom.is_none_or(|atom| *arg >= arity(atom)) {
                return wrong(format!("{place}: a value that is not given"));
            }
            write!(names, " ({name} {}a{at}_{arg})", self.stem).expect("string");
        }
        let at = known.atoms.len();
        let mut inner = known.clone();
        let vars = self.clause_vars(clause, &format!("v{at}"), &mut inner.binders);
        for (j, value) in step.values.iter().enumerate() {
            let value = match names.is_empty() {
                true => value.clone(),
                false => format!("(let ({}) {value})", names.trim_start()),
            };
            write!(inner.formulas, " (= {}v{at}_{j} {value})", self.stem).expect("string");
        }
        let predicate = step.predicate.index();
        for j in 0..self.problem.predicates[predicate].arity() {
            let value = self.applied(&format!("head{rule}_{j}"), &vars);
            self.equate(&mut inner, j, &value);
        }
        inner.atoms.push(without_path(predicate));
        let args = format!("{vars}{}{premises}", self.args(at, predicate));
        let formula = self.applied(&format!("rule{rule}"), &args);
        let mut outside = inner.clone();
        write!(outside.formulas, " (not {formula})").expect("string");
        write!(outside.place, ", clause {rule} for atom {at}").expect("string");
        self.question(&outside, &instances)?;
        Ok(inner)
    }

    /// That an argument of the atom that is added next has a value.
    fn equate(&self, known: &mut Known, arg: usize, value: &str) {
        let (stem, at) = (&self.stem, known.atoms.len());
        write!(known.formulas, " (= {stem}a{at}_{arg} {value})").expect("string");
    }

    /// Adds the question of a leaf: one of the atoms is the lemma's conclusion.
    pub(super) fn goal(
        &mut self,
        number: usize,
        known: &Known,
        found: &[usize],
        uses: &[Instance],
    ) -> Result<(), Refusal> {
        let lemma = &self.proof.lemmas[number];
        let Some((predicate, terms)) = &lemma.conclusion else {
            return wrong(format!("lemma {} concludes no fact", lemma.name));
        };
        let slots = lemma.slots.iter().enumerate();
        let args: String = slots
            .map(|(at, slot)| self.args(at, slot.predicate))
            .collect();
        let instances = self.smaller_instances(number, uses, &known.atoms)?;
        let mut outside = known.clone();
        outside.formulas.push_str(" (not (or false");
        for &at in found {
            match known.atoms.get(at) {
                Some(atom) if atom.predicate == *predicate => {}
                _ => return wrong(format!("{}: atom {at} is no such fact", known.place)),
            }
            outside.formulas.push_str(" (and true");
            for j in 0..terms.len() {
                let value = self.applied(&format!("conclusion{number}_{j}"), &args);
                write!(outside.formulas, " (= {}a{at}_{j} {value})", self.stem).expect("string");
            }
            outside.formulas.push(')');
        }
        outside.formulas.push_str("))");
        self.question(&outside, &instances)
    }
}

/// An atom whose derivation is below no slot's.
fn without_path(predicate: usize) -> ContextAtom {
    ContextAtom {
        predicate,
        path: vec![usize::MAX],
        is_split: false,
    }
}
