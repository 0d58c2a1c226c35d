//! Recursive functions of the problem's text.
//!
//! For the checks, such a function is declared, and its equation is an assertion. So a model has to
//! define it, by a function of its certificate, and a step of a refutation may use the equation.
//!
//! # Invariant
//! Names, sorts and bodies are copied from the text by its tokens. The definitions that
//! [`definitions`] prints are from the reader's terms; the equations of the text are checked for
//! them.

use std::fmt::Write;
use std::ops::Range;

use super::Model;
use super::sexp::elements;
use alphorn_chc::PredicateId;
use alphorn_chc::frontend::Problem;
use alphorn_term::{FunctionId, Op, TermId};

/// The parts of a definition in the text.
struct Definition {
    name: Range<usize>,
    /// Names and sorts of the parameters, and their list.
    params: Vec<(Range<usize>, Range<usize>)>,
    list: Range<usize>,
    result: Range<usize>,
    body: Range<usize>,
}

/// The definitions of a `define-fun-rec` or `define-funs-rec`; `None` if it is malformed.
fn parts(text: &str, command: &Range<usize>) -> Option<Vec<Definition>> {
    let parts = elements(text, command)?;
    let pairs = match parts.as_slice() {
        [_, heads, bodies] => {
            let (heads, bodies) = (elements(text, heads)?, elements(text, bodies)?);
            if heads.len() != bodies.len() {
                return None;
            }
            let heads = heads.iter().map(|head| elements(text, head));
            let heads: Option<Vec<_>> = heads.collect();
            heads?.into_iter().zip(bodies).collect()
        }
        [_, head @ .., body] => vec![(head.to_vec(), body.clone())],
        [_] | [] => return None,
    };
    let pairs = pairs.into_iter().map(|(head, body)| {
        let [name, list, result] = head.as_slice() else {
            return None;
        };
        let params = elements(text, list)?.into_iter().map(|param| {
            let parts = elements(text, &param)?;
            let [name, sort] = parts.as_slice() else {
                return None;
            };
            Some((name.clone(), sort.clone()))
        });
        Some(Definition {
            name: name.clone(),
            params: params.collect::<Option<_>>()?,
            list: list.clone(),
            result: result.clone(),
            body,
        })
    });
    pairs.collect()
}

/// The equations of the functions that a command defines, as one formula.
pub fn equations(text: &str, command: &Range<usize>) -> Option<String> {
    let parts = parts(text, command)?;
    let several = parts.len() > 1;
    let mut out = String::from(if several { "(and" } else { "" });
    for part in &parts {
        let name = &text[part.name.clone()];
        let (list, body) = (&text[part.list.clone()], &text[part.body.clone()]);
        out.push_str(if several { " " } else { "" });
        if part.params.is_empty() {
            write!(out, "(= {name} {body})").expect("string");
            continue;
        }
        write!(out, "(forall {list} (= ({name}").expect("string");
        for (param, _) in &part.params {
            write!(out, " {}", &text[param.clone()]).expect("string");
        }
        write!(out, ") {body}))").expect("string");
    }
    out.push_str(if several { ")" } else { "" });
    Some(out)
}

/// Declarations of the functions that a command defines.
pub fn declarations(text: &str, command: &Range<usize>) -> Option<String> {
    let mut out = String::new();
    for part in parts(text, command)? {
        let sorts = part.params.iter().map(|(_, sort)| &text[sort.clone()]);
        let sorts: Vec<&str> = sorts.collect();
        let (name, result) = (&text[part.name], &text[part.result]);
        writeln!(out, "(declare-fun {name} ({}) {result})", sorts.join(" ")).expect("string");
    }
    Some(out)
}

/// A command whose functions do not call each other, with definitions that are not recursive.
pub fn macros(text: &str, command: &Range<usize>) -> Option<String> {
    let mut out = String::new();
    for part in parts(text, command)? {
        let (name, list) = (&text[part.name], &text[part.list]);
        let (result, body) = (&text[part.result], &text[part.body]);
        writeln!(out, "(define-fun {name} {list} {result} {body})").expect("string");
    }
    Some(out)
}

/// The functions by which a model defines those of the text, in their order; `None` if it lacks one.
/// The definition of the graph of `f` is an equation of a call on the parameters and the value.
pub fn functions_of(problem: &Problem, model: &Model) -> Option<Vec<FunctionId>> {
    let terms = &problem.terms;
    let found = problem.functions.iter().map(|function| {
        let params = &problem.predicates[function.graph.index()].params;
        let (value, params) = params.split_last()?;
        let definition = *model.definitions.get(&function.graph)?;
        let is_call = |t: TermId| match *terms.op(t) {
            Op::Call(id) if terms.args(t) == params => Some(id),
            _ => None,
        };
        match (terms.op(definition), terms.args(definition)) {
            (Op::Eq, [a, b]) if b == value => is_call(*a),
            (Op::Eq, [a, b]) if a == value => is_call(*b),
            _ => None,
        }
    });
    found.collect()
}

/// A model that defines the functions of the text as there; `None` if one of them is only declared
/// in the store, so that its recursion is not known to end.
pub fn own_functions(problem: &Problem) -> Option<Model> {
    let terms = &problem.terms;
    let mut model = Model::default();
    for function in &problem.functions {
        let own = terms.function(function.function);
        if own.body == terms.call(function.function, &own.params) {
            return None;
        }
        let params = &problem.predicates[function.graph.index()].params;
        let (&value, args) = params.split_last()?;
        let equation = terms.eq(terms.call(function.function, args), value);
        model.definitions.insert(function.graph, equation);
    }
    Some(model)
}

/// Whether a predicate is the graph of a function.
pub fn is_graph(problem: &Problem, predicate: PredicateId) -> bool {
    !problem.functions.is_empty() && problem.function_of(predicate).is_some()
}
