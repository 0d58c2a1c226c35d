//! The report of a run, one HTML page: the answer in words, the invariants or the run that violates a
//! query, the dependency graph, the clauses, the passes and the turns of the engines.
//!
//! A report is a page, or a fragment of another page, such as a notebook. [`explanation`] has the same
//! in lines of text.
//!
//! Invariant: the page refers to no other file and has no script; all links lead to a place on it. The
//! model and the refutation are those that are printed, escaped. Each part is bounded, so that a page
//! has about a megabyte at most.

mod derivation;
mod formula;
mod graph;
mod names;
mod pretty;
mod style;
mod timeline;
mod words;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

use serde_json::Value;

use self::derivation::View;
use self::formula::Reader;
use self::names::{ArgumentNames, argument_names};
use self::pretty::indented;
use self::style::style;
pub use self::words::explanation;
use self::words::{Definition, definitions, reader, sentence, steps};
use alphorn_chc::frontend::Problem;
use alphorn_term::run::{Span, Statistics};
use alphorn_witness::sexp::symbol;
use alphorn_witness::{ProofFormat, Validated, Verdict, Wanted};

/// The limits of a report.
struct Limits {
    /// How many bytes of a text are shown.
    text_bytes: usize,
    /// How many bytes of invariants in SMT-LIB are shown.
    smtlib_bytes: usize,
    /// How many bytes the invariants have on the page.
    invariants_bytes: usize,
    /// How many bytes of clauses are shown.
    clauses_bytes: usize,
    /// How many bytes of a clause are shown.
    clause_bytes: usize,
    /// How many steps of a derivation are shown.
    steps: usize,
    /// How many bytes a derivation has on the page; more steps are not shown.
    derivation_bytes: usize,
    /// After how many bytes of a derivation only the summaries of steps are shown.
    derivation_details_bytes: usize,
    /// How many arguments the summary of a step shows, and how many bytes of each.
    summary_values: usize,
    summary_value_bytes: usize,
    /// How many bytes of a value are shown.
    value_bytes: usize,
    /// The most boxes of a dependency graph that is drawn.
    graph_boxes: usize,
    /// The number of predicates from which on chains of them are one box.
    graph_chains: usize,
    /// The most characters of a name in the graph; longer ones are cut off.
    name_characters: usize,
}

const LIMITS: Limits = Limits {
    text_bytes: 20_000,
    smtlib_bytes: 150_000,
    invariants_bytes: 250_000,
    clauses_bytes: 120_000,
    clause_bytes: 6_000,
    steps: 2_000,
    derivation_bytes: 350_000,
    derivation_details_bytes: 250_000,
    summary_values: 8,
    summary_value_bytes: 48,
    value_bytes: 4_000,
    graph_boxes: 200,
    graph_chains: 40,
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
            derivations: false,
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

impl Page<'_> {
    /// The report as a page.
    pub fn html(&self) -> String {
        let verdict = self.verdict();
        let mut out = String::new();
        let title = escaped(self.source);
        let _ = write!(
            out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{verdict}: {title}</title>\n<style>{}</style>\n</head>\n<body>\n",
            style(None)
        );
        self.write_answer(&mut out, "");
        out.push_str(&timeline::section(self.spans, self.total));
        self.write_passes(&mut out);
        self.write_statistics(&mut out);
        out.push_str("</body>\n</html>\n");
        out
    }

    /// The report without passes, timeline and statistics, as a `div` for another page. Its styles hold
    /// only in the `div`, and its ids begin with `id_prefix`.
    pub fn fragment(&self, id_prefix: &str) -> String {
        let style = style(Some(".alphorn"));
        let mut out = format!("<div class=\"alphorn\">\n<style>{style}</style>\n");
        self.write_answer(&mut out, id_prefix);
        out.push_str("</div>\n");
        out
    }

    /// The verdict in words, the witness, the graph and the clauses.
    fn write_answer(&self, out: &mut String, id_prefix: &str) {
        let (verdict, title) = (self.verdict(), escaped(self.source));
        let definitions = definitions(&self.answer.model);
        let steps = steps(&self.answer.refutation);
        let _ = writeln!(
            out,
            "<h1><span class=\"verdict {verdict}\">{verdict}</span> {title}</h1>\n\
             <p class=\"words\">{}</p>",
            escaped(&sentence(self.problem, self.answer, &steps))
        );
        self.write_meta(out);
        let (names, reader) = (argument_names(self.problem), reader(self.problem));
        if !steps.is_empty() {
            out.push_str(
                "<h2>Derivation of <code>false</code></h2>\n<p>Each step follows from a clause and \
                 earlier steps. Marked values have changed since the step before; a step opens with \
                 all of its values.</p>\n",
            );
            let view = View {
                steps: &steps,
                names: &names,
                reader: &reader,
                id_prefix,
            };
            out.push_str(&view.html());
        }
        self.write_model(out, &definitions, &names, &reader, id_prefix);
        let linked = definitions.iter().filter(|d| !d.is_recursive);
        let linked = linked.map(|definition| definition.name.as_str()).collect();
        out.push_str(&graph::section(self.problem, &steps, id_prefix, &linked));
        self.write_clauses(out, &steps, id_prefix);
    }

    /// The verdict as it is shown; `sat` if the clauses have a model, in both dialects.
    fn verdict(&self) -> &'static str {
        match self.answer.satisfiable {
            Some(true) => "sat",
            Some(false) => "unsat",
            None => "unknown",
        }
    }

    fn write_meta(&self, out: &mut String) {
        let seconds = self.total.as_secs_f64();
        let count = |number: usize, what| match number {
            1 => format!("1 {what}"),
            number => format!("{number} {what}s"),
        };
        let clauses = count(self.problem.clauses.len(), "clause");
        let predicates = count(self.problem.predicates.len(), "predicate");
        let mut texts = self.stats.texts();
        let engine = texts.find(|text| text.0 == "answer.engine");
        let engine = engine.map_or(String::new(), |(_, name)| {
            format!(", engine {}", escaped(name))
        });
        let _ = writeln!(
            out,
            "<p class=\"meta\">{clauses}, {predicates}, {seconds:.2} s{engine}, alphorn {}.</p>",
            env!("CARGO_PKG_VERSION")
        );
    }

    /// The invariants, conjunct by conjunct. Those that are `true` or `false` are listed by name.
    fn write_model(
        &self,
        out: &mut String,
        definitions: &[Definition],
        names: &ArgumentNames,
        reader: &Reader,
        id_prefix: &str,
    ) {
        if definitions.is_empty() {
            return;
        }
        let (functions, invariants): (Vec<_>, Vec<_>) =
            definitions.iter().partition(|d| d.is_recursive);
        out.push_str("<h2>Invariants</h2>\n");
        let (mut unlimited, mut unreachable) = (Vec::new(), Vec::new());
        let begin = out.len();
        let mut smtlib_bytes = 0;
        let mut hidden = 0;
        for definition in invariants {
            let id = format!("{id_prefix}{}", graph::anchor(&definition.name));
            let shown = words::invariant(&definition.text, names, reader);
            let name = escaped(symbol(&definition.name));
            match &shown {
                Some(shown) if shown.conjuncts.is_empty() => {
                    unlimited.push(format!("<span id=\"{id}\">{name}</span>"));
                    continue;
                }
                Some(shown) if shown.conjuncts == ["false"] => {
                    unreachable.push(format!("<span id=\"{id}\">{name}</span>"));
                    continue;
                }
                _ => {}
            }
            let _ = writeln!(out, "<section class=\"invariant\" id=\"{id}\">");
            let is_long = out.len() - begin > LIMITS.invariants_bytes;
            hidden += usize::from(is_long);
            match &shown {
                Some(shown) if !is_long => write_conjuncts(out, &name, shown),
                _ => {
                    let _ = writeln!(out, "<h3>{name}</h3>");
                }
            }
            smtlib_bytes += definition.text.len();
            if smtlib_bytes <= LIMITS.smtlib_bytes && !is_long {
                let text = escaped(&indented(&definition.text, LIMITS.text_bytes));
                let _ = writeln!(
                    out,
                    "<details><summary>SMT-LIB</summary><pre>{text}</pre></details>"
                );
            }
            out.push_str("</section>\n");
        }
        for (what, list) in [
            ("No condition on the arguments of", unlimited),
            ("Never reached", unreachable),
        ] {
            if !list.is_empty() {
                let _ = writeln!(out, "<p>{what}: {}.</p>", list.join(", "));
            }
        }
        if hidden > 0 {
            let _ = writeln!(
                out,
                "<p>{hidden} invariants are not shown; <code>--model</code> prints all.</p>"
            );
        }
        self.write_functions(out, &functions);
    }

    /// The recursive functions that the invariants use, and why they exist.
    fn write_functions(&self, out: &mut String, functions: &[&Definition]) {
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

    /// The commands that steps of the derivation name, or without a derivation the whole text if it is
    /// short.
    fn write_clauses(&self, out: &mut String, steps: &[Value], id_prefix: &str) {
        let lines: BTreeSet<u64> = steps
            .iter()
            .filter_map(|step| step["line"].as_u64())
            .collect();
        let commands = self.problem.commands.iter();
        let wanted = |line: u32| steps.is_empty() || lines.contains(&u64::from(line));
        let commands: Vec<_> = commands.filter(|command| wanted(command.line)).collect();
        if steps.is_empty() && self.problem.text.len() > LIMITS.clauses_bytes {
            return;
        }
        let (title, open) = match steps.is_empty() {
            true => ("The text of the clauses", ""),
            false => ("The clauses of the derivation", " open"),
        };
        let _ = writeln!(out, "<details{open}><summary>{title}</summary>");
        let begin = out.len();
        let mut last = 0;
        for command in commands {
            let text = &self.problem.text[command.range.clone()];
            let (line, is_full) = (command.line, out.len() - begin > LIMITS.clauses_bytes);
            // Links to a line lead to its first command, also where its text is not shown.
            let id = match line == last {
                true => String::new(),
                false => format!(" id=\"{id_prefix}line{line}\""),
            };
            last = line;
            let shown = match is_full {
                true => "…".to_owned(),
                false => {
                    let shown = cut(text, LIMITS.clause_bytes);
                    let dots = if shown.len() < text.len() { "…" } else { "" };
                    format!("{}{dots}", escaped(shown))
                }
            };
            let _ = writeln!(
                out,
                "<div class=\"clause\"{id}><span class=\"at\">{line}</span><pre>{shown}</pre></div>"
            );
        }
        out.push_str("</details>\n");
    }
}

/// The conjuncts of an invariant as a list.
fn write_conjuncts(out: &mut String, name: &str, shown: &words::Invariant) {
    let arguments: Vec<String> = shown.arguments.iter().map(|a| escaped(a)).collect();
    let _ = writeln!(
        out,
        "<h3>{name}({})</h3>\n<ul class=\"conjuncts\">",
        arguments.join(", ")
    );
    for part in &shown.conjuncts {
        let text = cut(part, LIMITS.text_bytes);
        let dots = if text.len() < part.len() { "…" } else { "" };
        let _ = writeln!(out, "<li><code>{}{dots}</code></li>", escaped(text));
    }
    out.push_str("</ul>\n");
}

/// The beginning of a text with at most this many bytes.
fn cut(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len()))
        .rev()
        .find(|&at| text.is_char_boundary(at));
    &text[..end.unwrap_or(0)]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(escaped("a<b> & \"c\""), "a&lt;b&gt; &amp; &quot;c&quot;");
    }

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(cut("aé", 2), "a");
        assert_eq!(cut("aé", 3), "aé");
        assert_eq!(cut("ab", 9), "ab");
    }
}
