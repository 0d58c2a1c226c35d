//! The report of a run, one HTML page: the answer, the dependency graph, the invariants or the
//! derivation of `false`, the passes and the turns of the engines.
//!
//! A report is a page, or a fragment of another page, such as a notebook.
//!
//! Invariant: the page refers to no other file and has no script. The model and the refutation are
//! those that are printed, escaped.

mod graph;
mod pretty;
mod timeline;

use std::fmt::Write;
use std::time::Duration;

use serde_json::Value;

use self::pretty::indented;
use alphorn_chc::frontend::Problem;
use alphorn_term::run::{Span, Statistics};
use alphorn_witness::{ProofFormat, Validated, Verdict, Wanted};

/// The limits of a report.
struct Limits {
    /// How many bytes of a text are shown.
    text_bytes: usize,
    /// How many steps of a derivation are shown.
    steps: usize,
    /// The most predicates of a dependency graph that is drawn.
    graph_predicates: usize,
    /// The most characters of a name in the graph; longer ones are cut off.
    name_characters: usize,
}

const LIMITS: Limits = Limits {
    text_bytes: 200_000,
    steps: 2_000,
    graph_predicates: 120,
    name_characters: 26,
};

/// The content of a report.
pub struct Page<'a> {
    /// The name of the file, or "standard input".
    pub source: &'a str,
    /// The problem.
    pub problem: &'a Problem,
    /// The answer.
    pub answer: &'a Printed,
    /// The statistics of the run.
    pub stats: &'a Statistics,
    /// The passes, engines and checks, with the times when they began and ended.
    pub spans: &'a [Span],
    /// How long the run took.
    pub total: Duration,
}

/// An answer as it is printed, without its terms.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Printed {
    /// Whether the clauses have a model, in both dialects; `None` for an `unknown`.
    pub satisfiable: Option<bool>,
    /// The reason of an `unknown`.
    pub reason: Option<String>,
    /// The text of the model; empty for another answer.
    pub model: String,
    /// The refutation as JSON; empty for another answer.
    pub refutation: String,
}

impl Printed {
    /// The answer to a problem as it is printed.
    pub fn new(problem: &Problem, answer: &Validated) -> Printed {
        let wanted = Wanted {
            model: true,
            proof: Some(ProofFormat::Json),
            reason_unknown: false,
        };
        let details = answer.output(problem, wanted).details().to_owned();
        match answer.verdict() {
            Verdict::Sat(_) | Verdict::Proven(_) => Printed {
                satisfiable: Some(true),
                model: details,
                ..Printed::default()
            },
            Verdict::Unsat(_) => Printed {
                satisfiable: Some(false),
                refutation: details,
                ..Printed::default()
            },
            Verdict::Unknown(reason) => Printed {
                reason: Some(reason.to_string()),
                ..Printed::default()
            },
        }
    }
}

/// A definition of the printed model.
struct Definition {
    /// The name as it is printed.
    name: String,
    text: String,
    is_recursive: bool,
}

impl Page<'_> {
    /// The report as a page.
    pub fn html(&self) -> String {
        let verdict = self.verdict();
        let mut out = String::new();
        let title = escaped(self.source);
        let _ = write!(
            out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <title>{verdict}: {title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
             <h1><span class=\"{verdict}\">{verdict}</span> {title}</h1>\n"
        );
        let definitions = self.definitions();
        let steps = self.steps();
        self.write_summary(&mut out);
        out.push_str(&graph::section(
            self.problem,
            &steps,
            "",
            !definitions.is_empty(),
        ));
        self.write_model(&mut out, &definitions, "");
        self.write_derivation(&mut out, &steps, "");
        out.push_str(&timeline::section(self.spans, self.total));
        self.write_passes(&mut out);
        self.write_statistics(&mut out);
        self.write_source(&mut out, true, "");
        out.push_str("</body>\n</html>\n");
        out
    }

    /// The report without passes, timeline and statistics, as a `div` for another page. Its styles hold
    /// only in the `div`, and its ids begin with `id_prefix`.
    pub fn fragment(&self, id_prefix: &str) -> String {
        let verdict = self.verdict();
        let style = scoped(STYLE, ".alphorn");
        let title = escaped(self.source);
        let mut out = format!(
            "<div class=\"alphorn\">\n<style>{style}</style>\n\
             <h1><span class=\"{verdict}\">{verdict}</span> {title}</h1>\n"
        );
        let definitions = self.definitions();
        let steps = self.steps();
        self.write_summary(&mut out);
        out.push_str(&graph::section(
            self.problem,
            &steps,
            id_prefix,
            !definitions.is_empty(),
        ));
        self.write_model(&mut out, &definitions, id_prefix);
        self.write_derivation(&mut out, &steps, id_prefix);
        self.write_source(&mut out, false, id_prefix);
        out.push_str("</div>\n");
        out
    }

    /// The verdict as it is shown; `sat` if the clauses have a model, in both dialects.
    fn verdict(&self) -> &'static str {
        match self.answer.satisfiable {
            Some(true) => "sat",
            Some(false) => "unsat",
            None => "unknown",
        }
    }

    fn write_summary(&self, out: &mut String) {
        let seconds = self.total.as_secs_f64();
        let meaning = match self.answer.satisfiable {
            Some(true) => "The clauses have a model: every predicate has an invariant, and no \
                 query holds."
                .to_owned(),
            Some(false) => "The clauses have no model: <code>false</code> is derived.".to_owned(),
            None => {
                let reason = self.answer.reason.as_deref().unwrap_or("no reason");
                format!("No answer: {}.", escaped(reason))
            }
        };
        let count = |number: usize, what| match number {
            1 => format!("1 {what}"),
            number => format!("{number} {what}s"),
        };
        let clauses = count(self.problem.clauses.len(), "clause");
        let predicates = count(self.problem.predicates.len(), "predicate");
        let _ = writeln!(
            out,
            "<p>{meaning} {clauses}, {predicates}, {seconds:.2} s, alphorn {}.</p>",
            env!("CARGO_PKG_VERSION")
        );
    }

    /// The definitions of the model, one a line as it is printed.
    fn definitions(&self) -> Vec<Definition> {
        let text = &self.answer.model;
        let commands = text.lines().filter_map(|line| line.strip_prefix("  "));
        let read = |text: &str| {
            let (kind, rest) = text.strip_prefix('(')?.split_once(' ')?;
            Some(Definition {
                name: pretty::first(rest).to_owned(),
                text: text.to_owned(),
                is_recursive: kind != "define-fun",
            })
        };
        commands.filter_map(read).collect()
    }

    /// The steps of the refutation as JSON; empty for another answer.
    fn steps(&self) -> Vec<Value> {
        let object: Value = serde_json::from_str(&self.answer.refutation).unwrap_or_default();
        object["refutation"].as_array().cloned().unwrap_or_default()
    }

    fn write_model(&self, out: &mut String, definitions: &[Definition], id_prefix: &str) {
        if definitions.is_empty() {
            return;
        }
        let (functions, invariants): (Vec<_>, Vec<_>) =
            definitions.iter().partition(|d| d.is_recursive);
        out.push_str("<h2>Invariants</h2>\n<table>\n");
        for definition in invariants {
            let (id, name) = (graph::anchor(&definition.name), escaped(&definition.name));
            let text = escaped(&indented(&definition.text, LIMITS.text_bytes));
            let _ = writeln!(
                out,
                "<tr id=\"{id_prefix}{id}\"><th>{name}</th><td><pre>{text}</pre></td></tr>"
            );
        }
        out.push_str("</table>\n");
        if !functions.is_empty() {
            out.push_str("<h2>Functions</h2>\n<p>The invariants use these.</p>\n");
            for definition in functions {
                let text = escaped(&indented(&definition.text, LIMITS.text_bytes));
                let _ = writeln!(out, "<pre>{text}</pre>");
            }
        }
        let text = &self.answer.model;
        let certificate: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("; ")).collect();
        if !certificate.is_empty() {
            out.push_str("<h2>Certificate</h2>\n<p>Why the functions exist, and the lemmas about them.</p>\n");
            for line in certificate {
                let _ = writeln!(
                    out,
                    "<pre>{}</pre>",
                    escaped(&indented(line, LIMITS.text_bytes))
                );
            }
        }
    }

    fn write_derivation(&self, out: &mut String, steps: &[Value], id_prefix: &str) {
        if steps.is_empty() {
            return;
        }
        out.push_str(
            "<h2>Derivation of <code>false</code></h2>\n<table>\n<tr><th>step</th><th>fact</th>\
             <th>from</th><th>clause</th><th>values</th></tr>\n",
        );
        for step in steps.iter().take(LIMITS.steps) {
            let number = &step["step"];
            let premises = step["premises"].as_array().into_iter().flatten();
            let premises: Vec<String> = premises
                .map(|p| format!("<a href=\"#{id_prefix}step{p}\">{p}</a>"))
                .collect();
            let values = step["values"].as_array().into_iter().flatten();
            let values: Vec<String> = values
                .map(|v| format!("{} = {}", text_of(&v["variable"]), text_of(&v["value"])))
                .collect();
            let _ = writeln!(
                out,
                "<tr id=\"{id_prefix}step{number}\"><td>{number}</td><td><code>{}</code></td><td>{}</td>\
                 <td><a href=\"#{id_prefix}line{}\">{} (line {})</a></td><td><code>{}</code></td></tr>",
                fact(&step["fact"]),
                premises.join(", "),
                step["line"],
                step["clause"],
                step["line"],
                values.join(", "),
            );
        }
        out.push_str("</table>\n");
        if steps.len() > LIMITS.steps {
            let _ = writeln!(
                out,
                "<p>{} steps are not shown.</p>",
                steps.len() - LIMITS.steps
            );
        }
    }

    fn write_passes(&self, out: &mut String) {
        let seconds = |name: &str| {
            let name = format!("transform.{name}.seconds");
            let mut times = self.stats.times();
            times.find(|t| t.0 == name).map_or(0.0, |t| t.1)
        };
        let changes = self.stats.counts().filter_map(|(name, count)| {
            let name = name.strip_prefix("transform.")?.strip_suffix(".changes")?;
            Some((name, count))
        });
        let rows: Vec<(&str, u64)> = changes.collect();
        if rows.is_empty() {
            return;
        }
        out.push_str(
            "<h2>Passes</h2>\n<p>The passes that changed the clauses. The answer was translated \
             back through all of them.</p>\n<table>\n<tr><th>pass</th><th>changes</th><th>s</th></tr>\n",
        );
        for (name, count) in rows {
            let time = seconds(name);
            let _ = writeln!(
                out,
                "<tr><td>{}</td><td>{count}</td><td>{time:.3}</td></tr>",
                escaped(name)
            );
        }
        out.push_str("</table>\n");
    }

    fn write_statistics(&self, out: &mut String) {
        out.push_str("<details><summary>Counts and times</summary>\n<table>\n");
        for (name, count) in self.stats.counts() {
            let _ = writeln!(out, "<tr><td>{}</td><td>{count}</td></tr>", escaped(name));
        }
        for (name, time) in self.stats.times() {
            let _ = writeln!(out, "<tr><td>{}</td><td>{time:.3}</td></tr>", escaped(name));
        }
        out.push_str("</table>\n</details>\n");
    }

    fn write_source(&self, out: &mut String, is_open: bool, id_prefix: &str) {
        let open = if is_open { " open" } else { "" };
        let _ = write!(
            out,
            "<details{open}><summary>The text of the clauses</summary>\n<pre class=\"source\">"
        );
        let mut shown = 0;
        for (line, number) in self.problem.text.lines().zip(1..) {
            shown += line.len();
            if shown > LIMITS.text_bytes {
                out.push_str("…\n");
                break;
            }
            let _ = write!(
                out,
                "<span id=\"{id_prefix}line{number}\">{number:5}  {}</span>",
                escaped(line)
            );
        }
        out.push_str("</pre>\n</details>\n");
    }
}

/// A fact with its values, escaped; `false` for the last step.
fn fact(fact: &Value) -> String {
    if fact.is_null() {
        return "false".to_owned();
    }
    let name = text_of(&fact["predicate"]);
    let arguments = fact["arguments"].as_array().into_iter().flatten();
    let arguments: Vec<String> = arguments.map(text_of).collect();
    match arguments.is_empty() {
        true => name,
        false => format!("{name}({})", arguments.join(", ")),
    }
}

/// A string of JSON, escaped.
fn text_of(value: &Value) -> String {
    escaped(value.as_str().unwrap_or_default())
}

/// The text with the special characters of HTML escaped.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

/// The style rules restricted to elements in `scope`; `body` stands for `scope` itself.
fn scoped(style: &str, scope: &str) -> String {
    let rules = style.split_inclusive('}').filter_map(|rule| {
        let (selectors, body) = rule.split_once('{')?;
        let selectors = selectors.split(',').map(|selector| match selector.trim() {
            "body" => scope.to_owned(),
            selector => format!("{scope} {selector}"),
        });
        Some(format!(
            "{} {{{body}\n",
            selectors.collect::<Vec<_>>().join(", ")
        ))
    });
    rules.collect()
}

const STYLE: &str = "
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em;
       color: #222; background: #fff }
h1 { font-size: 1.4em } h2 { font-size: 1.15em; margin-top: 1.8em }
h1 span { color: #fff; padding: .1em .5em; border-radius: .3em; margin-right: .4em }
.sat { background: #2a7f4f } .unsat { background: #b3372f } .unknown { background: #777 }
table { border-collapse: collapse } th, td { border: 1px solid #ddd; padding: .25em .6em;
       text-align: left; vertical-align: top }
th { background: #f5f5f5; font-weight: 600; overflow-wrap: anywhere; max-width: 22em }
pre, code { font: 13px/1.4 ui-monospace, monospace } td pre { margin: 0 }
pre { overflow-x: auto; max-width: 100% } td code { overflow-wrap: anywhere }
.source span { display: block } :target { background: #fff3c4 }
details { margin-top: 1.8em } summary { cursor: pointer; font-weight: 600 }
svg { max-width: 100%; height: auto } svg text { font: 12px system-ui, sans-serif; fill: #222 }
.node { fill: #eef3fa; stroke: #4a6fa5 } .used { fill: #fbe3e1; stroke: #b3372f }
.end { fill: #fff; stroke: #999 } .edge { fill: none; stroke: #888 }
.back { fill: none; stroke: #888; stroke-dasharray: 4 3 }
.engine { fill: #7fa7d6 } .pass { fill: #b9c98a } .check { fill: #e0a96d }
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(escaped("a<b> & \"c\""), "a&lt;b&gt; &amp; &quot;c&quot;");
        let value = serde_json::json!({"predicate": "<P>", "arguments": ["1", "(- 2)"]});
        assert_eq!(fact(&value), "&lt;P&gt;(1, (- 2))");
        assert_eq!(fact(&Value::Null), "false");
    }

    #[test]
    fn styles_stay_inside() {
        let style = scoped("\nbody { a: b }\nth, td { c:\n d } .x y { e: f }\n", ".s");
        assert_eq!(
            style,
            ".s { a: b }\n.s th, .s td { c:\n d }\n.s .x y { e: f }\n"
        );
        assert!(
            scoped(STYLE, ".s")
                .lines()
                .all(|line| !line.starts_with("body"))
        );
    }
}
