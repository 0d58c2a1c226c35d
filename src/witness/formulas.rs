//! A model's text as formulas.
//!
//! The definitions become clauses `body ⇒ P!(x)` of a text that the reader of problems reads, whose
//! constraints are the formulas. Invariant: nothing is believed here. What comes out is a guess for
//! whoever proves it.

use std::fmt::Write;

use rustc_hash::FxHashMap;

use super::parse::ModelText;
use super::script::sort_declarations;
use super::sexp::{elements, expression, symbol};
use super::types::Model;
use crate::chc::PredicateId;
use crate::frontend::{Problem, parse};
use crate::term::TermId;

/// The formulas of a model of `problem`, over the formal variables of its predicates. Predicates
/// that the text does not define have none.
///
/// # Errors
/// Why there are none; recursive functions are one reason.
pub(crate) fn model_of_text(problem: &Problem, model: &ModelText) -> Result<Model, String> {
    let text = &model.definitions;
    let mut stem = "formula!".to_owned();
    while text.contains(&stem) || problem.text.contains(&stem) {
        stem.push('!');
    }
    let ids = problem.predicates.iter().zip(0..);
    let ids: FxHashMap<&str, u32> = ids.map(|(p, id)| (p.name.as_str(), id)).collect();
    let mut question = sort_declarations(problem);
    let mut defined = Vec::new();
    let mut position = 0;
    while let Some(range) = expression(text, position) {
        position = range.end;
        let parts = elements(text, &range).unwrap_or_default();
        let parts: Vec<&str> = parts.iter().map(|part| &text[part.clone()]).collect();
        let &["define-fun", name, params, sort, body] = parts.as_slice() else {
            return Err("a function is no formula".to_owned());
        };
        let Some(&id) = ids.get(symbol(name)) else {
            let _ = writeln!(question, "{}", &text[range]);
            continue;
        };
        let binders = elements(params, &(0..params.len())).ok_or("a malformed definition")?;
        let mut names = String::new();
        let mut sorts = String::new();
        for binder in binders {
            let binder = elements(params, &binder).ok_or("a malformed definition")?;
            let [name, sort] = binder.as_slice() else {
                return Err("a malformed definition".to_owned());
            };
            let _ = write!(names, " {}", &params[name.clone()]);
            let _ = write!(sorts, " {}", &params[sort.clone()]);
        }
        if sort != "Bool" {
            return Err("a definition of another sort".to_owned());
        }
        let _ = writeln!(question, "(declare-fun {stem}{id} ({sorts}) Bool)");
        let _ = match names.is_empty() {
            true => writeln!(question, "(assert (=> {body} {stem}{id}))"),
            false => writeln!(
                question,
                "(assert (forall {params} (=> {body} ({stem}{id}{names}))))"
            ),
        };
        defined.push(PredicateId(id));
    }
    question.push_str("(check-sat)\n");
    let terms = &problem.terms;
    let read = parse(&question, terms.clone()).map_err(|error| error.to_string())?;
    let mut disjuncts: FxHashMap<PredicateId, Vec<TermId>> = FxHashMap::default();
    for clause in &read.clauses {
        let head = clause.head.as_ref().filter(|_| clause.body.is_empty());
        let head = head.ok_or("a definition that is no formula")?;
        let id = defined[head.predicate.index()];
        let params = &problem.predicates[id.index()].params;
        let sorts = |vars: &[TermId]| vars.iter().map(|&v| terms.sort_of(v)).collect::<Vec<_>>();
        if sorts(&head.args) != sorts(params) {
            return Err("a predicate has other arguments".to_owned());
        }
        let map: FxHashMap<TermId, TermId> =
            head.args.iter().copied().zip(params.clone()).collect();
        let formula = terms.substitute(clause.constraint, &map);
        if map.len() != params.len()
            || terms
                .free_vars(&[formula])
                .iter()
                .any(|v| !params.contains(v))
        {
            return Err("a definition over more than its arguments".to_owned());
        }
        disjuncts.entry(id).or_default().push(formula);
    }
    let definitions = disjuncts
        .iter()
        .map(|(&id, formulas)| (id, terms.or(formulas)));
    Ok(Model {
        definitions: definitions.collect(),
        ..Model::default()
    })
}
