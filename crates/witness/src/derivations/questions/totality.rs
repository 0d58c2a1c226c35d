//! Questions about facts that exist by statements of totality.
//!
//! For a statement over the inputs x of P, with domain D and measure m, the question is
//!
//! ```text
//! D(x) ⇒ ⋁ over the cases: D1(t1) ∧ m(t1) < m(x) ∧ (uses ⇒ D2(t2) ∧ … (uses ⇒ ∃ rule(x, t1, o1, t2, o2, …)))
//! ```
//!
//! for all x and all values oi, different ones in each case, of the outputs of body atoms. Where it
//! is valid and body atoms have facts by induction, these are values for which some case
//! reaches its rule, which derives a fact for x.
//!
//! # Invariant
//! A statement uses itself only where the measure falls and is not negative, otherwise earlier ones of
//! no larger group, and lemmas of smaller groups; inputs speak only of values that are given before.

use std::fmt::Write;

use super::super::TotalText;
use super::{ContextAtom, Known, Refusal, Writer, wrong};
use crate::types::{Affine, Existence, Instance};

impl Writer<'_> {
    /// Writes the definition for the domain of a statement.
    pub(super) fn domain(&self, number: usize, total: &TotalText, out: &mut String) {
        let mut binders = String::new();
        let sorts = self.sorts(total.slot.predicate);
        for at in inputs(sorts.len(), &total.outputs) {
            write!(binders, " ({} {})", total.slot.args[at], sorts[at]).expect("string");
        }
        writeln!(
            out,
            "(define-fun {}domain{number} ({}) Bool {})",
            self.stem,
            binders.trim_start(),
            total.domain
        )
        .expect("string");
    }

    /// Adds the question of a statement.
    pub(super) fn totality(&mut self, number: usize) -> Result<(), Refusal> {
        let total = &self.proof.totals[number];
        let sorts = self.sorts(total.slot.predicate);
        let place = format!("the statement {}", total.name);
        let is_input = |at: usize| !total.outputs.contains(&at);
        let head: Vec<Option<String>> = (0..sorts.len())
            .map(|at| is_input(at).then(|| format!("{}a0_{at}", self.stem)))
            .collect();
        let mut binders = String::new();
        let mut args = String::new();
        for (name, sort) in head.iter().zip(&sorts) {
            if let Some(name) = name {
                write!(binders, " ({name} {sort})").expect("string");
                write!(args, " {name}").expect("string");
            }
        }
        // Reals may fall for ever.
        let mut measured = total.measure.parts.iter().map(|part| sorts.get(part.2));
        if measured.any(|sort| sort.is_none_or(|sort| sort != "Int")) {
            return wrong(format!("{place}: a measure that is no integer"));
        }
        let measure = affine(&total.measure, std::slice::from_ref(&head), &place)?;
        let mut formula = format!(
            "(=> {} (or false",
            self.applied(&format!("domain{number}"), &args)
        );
        for case in 0..total.cases.len() {
            let text = self.case(number, case, &head, &measure, &mut binders)?;
            write!(formula, " {text}").expect("string");
        }
        formula.push_str("))");
        self.add(place, binders.trim_start(), formula)
    }

    /// The formula of a case; the outputs of its body atoms join the binders.
    fn case(
        &self,
        number: usize,
        at: usize,
        head: &[Option<String>],
        measure: &str,
        binders: &mut String,
    ) -> Result<String, Refusal> {
        let total = &self.proof.totals[number];
        let case = &total.cases[at];
        let place = format!("case {at} of the statement {}", total.name);
        let Some(&rule) = self.rules[total.slot.predicate].get(case.clause) else {
            return wrong(format!("{place}: a clause that is not there"));
        };
        let clause = &self.problem.clauses[rule];
        if clause.body.len() != case.premises.len() {
            return wrong(format!("{place}: not as many facts as body atoms"));
        }
        // What inputs may speak of, and all arguments of the body atoms.
        let mut given: Vec<Vec<Option<String>>> = vec![head.to_vec()];
        let mut atoms: Vec<(usize, String)> = vec![(usize::MAX, String::new())];
        let mut steps: Vec<(String, String)> = Vec::new();
        for (k, (atom, premise)) in clause.body.iter().zip(&case.premises).enumerate() {
            let predicate = atom.predicate.index();
            let Some(other) = self.proof.totals.get(premise.total) else {
                return wrong(format!("{place}: a statement that is not there"));
            };
            if premise.total > number || other.group > total.group {
                return wrong(format!("{place}: a statement that is not earlier"));
            }
            let terms = self.inputs(premise, predicate, &given, &place)?;
            let mut known = self.applied(&format!("domain{}", premise.total), &spaced(&terms));
            if premise.total == number {
                let inner = in_places(head.len(), &total.outputs, &terms);
                let inner = affine(&total.measure, &[inner], &place)?;
                known = format!("{known} (<= 0 {measure}) (< {inner} {measure})");
            }
            let mut own = in_places(atom.args.len(), &other.outputs, &terms);
            let mut outputs = vec![None; own.len()];
            for (&j, sort) in other
                .outputs
                .iter()
                .zip(self.sorts_at(predicate, &other.outputs))
            {
                let name = format!("{}o{at}_{k}_{j}", self.stem);
                write!(binders, " ({name} {sort})").expect("string");
                own[j] = Some(name.clone());
                outputs[j] = Some(name);
            }
            given.push(outputs);
            let own: Vec<String> = own.into_iter().flatten().collect();
            atoms.push((predicate, spaced(&own)));
            let mut uses = String::new();
            for used in &premise.uses {
                if self.proof.lemmas[used.lemma].group >= total.group {
                    return wrong(format!("{place}: a lemma of no smaller group"));
                }
                write!(uses, " {}", self.instance_of(used, &atoms)?).expect("string");
            }
            steps.push((known, uses));
        }
        let mut formula = self.derived(rule, total, head, &atoms[1..]);
        for (known, uses) in steps.into_iter().rev() {
            formula = format!("(and {known} (=> (and true{uses}) {formula}))");
        }
        Ok(formula)
    }

    /// That a clause derives a fact with some outputs.
    fn derived(
        &self,
        rule: usize,
        total: &TotalText,
        head: &[Option<String>],
        body: &[(usize, String)],
    ) -> String {
        let mut inner = String::new();
        let clause = &self.problem.clauses[rule];
        let mut args = self.clause_vars(clause, "c", &mut inner);
        let sorts = self.sorts(total.slot.predicate);
        for (j, name) in head.iter().enumerate() {
            match name {
                Some(name) => write!(args, " {name}").expect("string"),
                None => {
                    write!(args, " {}a0_{j}", self.stem).expect("string");
                    write!(inner, " ({}a0_{j} {})", self.stem, sorts[j]).expect("string");
                }
            }
        }
        body.iter().for_each(|(_, own)| args.push_str(own));
        let formula = self.applied(&format!("rule{rule}"), &args);
        match inner.is_empty() {
            true => formula,
            false => format!("(exists ({}) {formula})", inner.trim_start()),
        }
    }

    /// What is known after a ghost, with the question that its inputs are in the domain.
    pub(super) fn ghost(
        &mut self,
        number: usize,
        known: &Known,
        fact: &Existence,
    ) -> Result<Known, Refusal> {
        let lemma = &self.proof.lemmas[number];
        let Some(total) = self.proof.totals.get(fact.total) else {
            return wrong(format!("{}: a statement that is not there", known.place));
        };
        if total.group > lemma.group {
            return wrong(format!("{}: a statement of a larger group", known.place));
        }
        let predicate = total.slot.predicate;
        let given: Vec<Vec<Option<String>>> = known
            .atoms
            .iter()
            .enumerate()
            .map(|(at, atom)| {
                let arity = self.problem.predicates[atom.predicate].arity();
                (0..arity)
                    .map(|j| Some(format!("{}a{at}_{j}", self.stem)))
                    .collect()
            })
            .collect();
        let terms = self.inputs(fact, predicate, &given, &known.place)?;
        let mut outside = known.clone();
        let domain = self.applied(&format!("domain{}", fact.total), &spaced(&terms));
        write!(outside.formulas, " (not {domain})").expect("string");
        write!(outside.place, ", the domain of a ghost").expect("string");
        let instances = self.smaller_instances(number, &fact.uses, &known.atoms)?;
        self.question(&outside, &instances)?;
        let mut inner = known.clone();
        let at = inner.atoms.len();
        for (j, term) in
            inputs(self.problem.predicates[predicate].arity(), &total.outputs).zip(&terms)
        {
            write!(inner.formulas, " (= {}a{at}_{j} {term})", self.stem).expect("string");
        }
        // Its derivation is below no slot's.
        inner.atoms.push(ContextAtom {
            predicate,
            path: vec![usize::MAX],
            is_split: false,
        });
        Ok(inner)
    }

    /// The inputs of a fact that exists.
    fn inputs(
        &self,
        fact: &Existence,
        predicate: usize,
        given: &[Vec<Option<String>>],
        place: &str,
    ) -> Result<Vec<String>, Refusal> {
        let total = &self.proof.totals[fact.total];
        let arity = self.problem.predicates[predicate].arity();
        if total.slot.predicate != predicate || total.outputs.len() + fact.inputs.len() != arity {
            return wrong(format!("{place}: a statement about another predicate"));
        }
        let terms = fact.inputs.iter().map(|sum| affine(sum, given, place));
        terms.collect()
    }

    /// The instance of a lemma at atoms with their arguments.
    fn instance_of(&self, used: &Instance, atoms: &[(usize, String)]) -> Result<String, Refusal> {
        let lemma = &self.proof.lemmas[used.lemma];
        let mut args = String::new();
        let is_long = used.atoms.len() == lemma.slots.len();
        for (&at, slot) in used.atoms.iter().zip(&lemma.slots) {
            match atoms.get(at) {
                Some((predicate, own)) if is_long && *predicate == slot.predicate => {
                    args.push_str(own);
                }
                _ => return wrong(format!("an instance of {} at other atoms", lemma.name)),
            }
        }
        if !is_long {
            return wrong(format!("an instance of {} at other atoms", lemma.name));
        }
        if lemma.conclusion.is_some() {
            return wrong(format!(
                "an instance of {}, which says nothing but that there is a fact",
                lemma.name
            ));
        }
        Ok(self.applied(&format!("lemma{}", used.lemma), &args))
    }

    /// The sorts of some arguments.
    fn sorts_at(&self, predicate: usize, places: &[usize]) -> Vec<String> {
        let sorts = self.sorts(predicate);
        places.iter().map(|&at| sorts[at].clone()).collect()
    }
}

/// The positions of the inputs.
fn inputs(arity: usize, outputs: &[usize]) -> impl Iterator<Item = usize> + '_ {
    (0..arity).filter(|at| !outputs.contains(at))
}

/// The terms at the positions of the inputs.
fn in_places(arity: usize, outputs: &[usize], terms: &[String]) -> Vec<Option<String>> {
    let mut found = vec![None; arity];
    for (at, term) in inputs(arity, outputs).zip(terms) {
        found[at] = Some(term.clone());
    }
    found
}

/// The terms, each with a space before it.
fn spaced(terms: &[String]) -> String {
    terms.iter().map(|term| format!(" {term}")).collect()
}

/// A sum over arguments.
fn affine(sum: &Affine, given: &[Vec<Option<String>>], place: &str) -> Result<String, Refusal> {
    let number = |n: i64| match n {
        n if n < 0 => format!("(- {})", n.unsigned_abs()),
        n => n.to_string(),
    };
    if let (0, [(1, atom, arg)]) = (sum.constant, &sum.parts[..])
        && let Some(Some(name)) = given.get(*atom).and_then(|atom| atom.get(*arg))
    {
        return Ok(name.clone());
    }
    let mut text = format!("(+ {} 0", number(sum.constant));
    for &(factor, atom, arg) in &sum.parts {
        let Some(Some(name)) = given.get(atom).and_then(|atom| atom.get(arg)) else {
            return wrong(format!("{place}: a value that is not given"));
        };
        write!(text, " (* {} {name})", number(factor)).expect("string");
    }
    text.push(')');
    Ok(text)
}
