//! A refutation as one S-expression, as a conversation needs it: `get-proof` has one reply that a program
//! reads like any other.
//!
//! ```text
//! (refutation
//!   (step 1 (P 0) :clause 1 :part 1 :line 4 :values ((x 0)) :premises ())
//!   (step 2 (not (P 1)) :clause 2 :part 1 :line 5 :values ((x 0) (y 1)) :premises (1))
//!   (step 3 false :clause 3 :part 1 :line 6 :values () :premises (2))
//!   (measures "; measure f (0)"))
//! ```
//!
//! The parts are those of a refutation as JSON (`docs/src/answers.md`); the list of measures is there only if
//! it is not empty.
//!
//! Invariant: [`read`] returns the JSON that [`written`] was given, up to the order of its parts.

use std::fmt::Write;
use std::ops::Range;

use serde_json::{Value, json};

use alphorn_term::quote_symbol;
use alphorn_witness::sexp::{elements, expression, symbol};
use alphorn_witness::string_literal;

/// The head of the expression.
const HEAD: &str = "refutation";

/// A refutation as an S-expression, from its JSON; `None` if the text is none.
pub fn written(refutation: &str) -> Option<String> {
    let read: Value = serde_json::from_str(refutation).ok()?;
    let mut out = format!("({HEAD}");
    for step in read[HEAD].as_array()? {
        let number = |name: &str| step[name].as_u64();
        let _ = write!(
            out,
            "\n  (step {} {}",
            number("step")?,
            fact(&step["fact"])?
        );
        let part = number("part").unwrap_or(1);
        let _ = write!(out, " :clause {} :part {part}", number("clause")?);
        if let Some(line) = number("line") {
            let _ = write!(out, " :line {line}");
        }
        let values = step["values"].as_array()?.iter().map(|value| {
            let name = quote_symbol(value["variable"].as_str()?);
            Some(format!("({name} {})", value["value"].as_str()?))
        });
        let values: Vec<String> = values.collect::<Option<_>>()?;
        let premises = step["premises"].as_array()?.iter();
        let premises: Vec<String> = premises.map(Value::to_string).collect();
        let (values, premises) = (values.join(" "), premises.join(" "));
        let _ = write!(out, " :values ({values}) :premises ({premises}))");
    }
    let measures = read["measures"].as_array().into_iter().flatten();
    let measures: Vec<String> = measures
        .filter_map(Value::as_str)
        .map(string_literal)
        .collect();
    if !measures.is_empty() {
        let _ = write!(out, "\n  (measures {})", measures.join(" "));
    }
    out.push_str(")\n");
    Some(out)
}

fn fact(fact: &Value) -> Option<String> {
    if fact.is_null() {
        return Some("false".to_owned());
    }
    let name = quote_symbol(fact["predicate"].as_str()?);
    let arguments = fact["arguments"].as_array()?.iter();
    let arguments: Vec<&str> = arguments.map(Value::as_str).collect::<Option<_>>()?;
    // The list tells a predicate with the name `false` from the end of the derivation.
    let atom = match arguments.is_empty() {
        true => format!("({name})"),
        false => format!("({name} {})", arguments.join(" ")),
    };
    Some(match fact["negated"] == true {
        true => format!("(not {atom})"),
        false => atom,
    })
}

/// The JSON of a refutation that is such an expression, after a verdict or without one; `None` for any other
/// text.
pub fn read(text: &str) -> Option<String> {
    let start = text.find(|c: char| !c.is_whitespace())?;
    let start = match text[start..]
        .strip_prefix("unsat")
        .or(text[start..].strip_prefix("sat"))
    {
        Some(rest) => text.len() - rest.trim_start().len(),
        None => start,
    };
    let parts = list(text, &expression(text, start)?)?;
    let (head, rest) = parts.split_first()?;
    if text[head.clone()] != *HEAD {
        return None;
    }
    let (mut steps, mut measures) = (Vec::new(), Vec::new());
    for part in rest {
        let parts = list(text, part)?;
        match &text[parts.first()?.clone()] {
            "step" => steps.push(step(text, &parts)?),
            "measures" => measures.extend(parts[1..].iter().map(|part| {
                let inner = text[part.clone()].trim_matches('"');
                Value::from(inner.replace("\"\"", "\""))
            })),
            _ => return None,
        }
    }
    let mut found = json!({ HEAD: steps });
    if !measures.is_empty() {
        found["measures"] = measures.into();
    }
    Some(found.to_string())
}

fn list(text: &str, range: &Range<usize>) -> Option<Vec<Range<usize>>> {
    text[range.clone()]
        .starts_with('(')
        .then(|| elements(text, range))?
}

fn step(text: &str, parts: &[Range<usize>]) -> Option<Value> {
    let [_, _, fact, properties @ ..] = parts else {
        return None;
    };
    let number = |range: &Range<usize>| text[range.clone()].parse::<u64>().ok();
    let mut step = json!({"step": number(parts.get(1)?)?, "fact": read_fact(text, fact)?});
    for pair in properties.chunks(2) {
        let [name, value] = pair else { return None };
        let name = text[name.clone()].strip_prefix(':')?;
        step[name] = match name {
            "clause" | "part" | "line" => number(value)?.into(),
            "values" => {
                let pairs = list(text, value)?.into_iter().map(|pair| {
                    let pair = list(text, &pair)?;
                    let [name, value] = &pair[..] else {
                        return None;
                    };
                    let name = symbol(&text[name.clone()]);
                    Some(json!({"variable": name, "value": &text[value.clone()]}))
                });
                pairs.collect::<Option<Vec<Value>>>()?.into()
            }
            "premises" => {
                let premises = list(text, value)?.into_iter();
                premises
                    .map(|premise| number(&premise))
                    .collect::<Option<Vec<u64>>>()?
                    .into()
            }
            _ => return None,
        };
    }
    Some(step)
}

fn read_fact(text: &str, range: &Range<usize>) -> Option<Value> {
    if text[range.clone()] == *"false" {
        return Some(Value::Null);
    }
    let parts = list(text, range)?;
    // An atom `(not x)` would have a value for an argument, which is no list with a predicate.
    let inner = match &parts[..] {
        [word, inner] if text[word.clone()] == *"not" => list(text, inner),
        _ => None,
    };
    let negated = inner.is_some();
    let parts = inner.unwrap_or(parts);
    let (name, arguments) = parts.split_first()?;
    let arguments: Vec<&str> = arguments.iter().map(|a| &text[a.clone()]).collect();
    let mut fact = json!({"predicate": symbol(&text[name.clone()]), "arguments": arguments});
    if negated {
        fact["negated"] = true.into();
    }
    Some(fact)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let refutation = json!({
            "refutation": [
                {"step": 1, "fact": {"predicate": "a b", "arguments": ["0", "(- 2)", "(mk 1 nil)"]},
                 "clause": 1, "part": 1, "line": 4, "values": [{"variable": "x y", "value": "0"}],
                 "premises": []},
                {"step": 2, "fact": {"predicate": "false", "arguments": []}, "clause": 2, "part": 3,
                 "line": 5, "values": [], "premises": [1, 1]},
                {"step": 3, "fact": {"predicate": "P", "arguments": ["true"], "negated": true},
                 "clause": 2, "part": 1, "line": 5, "values": [], "premises": []},
                {"step": 4, "fact": null, "clause": 3, "part": 1, "line": 6, "values": [],
                 "premises": [2, 3]},
            ],
            "measures": ["; measure f (0)"],
        });
        let text = written(&refutation.to_string()).expect("a refutation");
        assert!(text.starts_with("(refutation\n  (step 1 (|a b| 0 (- 2) (mk 1 nil)) :clause 1 "));
        for text in [text.clone(), format!("unsat\n{text}")] {
            let again = read(&text).expect("a refutation");
            let again: Value = serde_json::from_str(&again).expect("JSON");
            assert_eq!(again, refutation);
        }
    }

    #[test]
    fn other_texts_are_not_read() {
        for text in [
            "",
            "sat",
            "(model)",
            "((define-fun P () Bool true))",
            "(refutation (step 1))",
            "(refutation (step 1 false :clause))",
            "(refutation (step 1 false :premises (x)))",
            "1: false by clause 1",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
