//! The derivation of `false` as a run that folds: the steps of the longest branch in their order, with
//! what each changes, and the other premises as runs within.
//!
//! Invariant: each step that is shown has one place with its id, and of the steps on a run the next
//! one has the one before among its premises.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use serde_json::Value;

use super::formula::{Reader, Sexp};
use super::names::ArgumentNames;
use super::{LIMITS, cut, escaped, text_of};

/// What steps are shown with.
pub struct View<'a> {
    pub steps: &'a [Value],
    pub names: &'a ArgumentNames,
    pub reader: &'a Reader,
    pub id_prefix: &'a str,
}

/// A step on a run, with what comes before it.
struct Place {
    /// The position of the step.
    step: usize,
    /// The positions of the premises that are runs of their own.
    others: Vec<usize>,
}

/// A part of the page that is still to be written, the last one first.
enum Piece {
    /// The run that ends with the step at this position.
    Run(usize),
    Step(Place, Option<usize>),
    Text(&'static str),
}

impl View<'_> {
    /// The derivation that ends with the last step.
    pub fn html(&self) -> String {
        let mut out = String::new();
        let Some(root) = self.steps.len().checked_sub(1) else {
            return out;
        };
        let tree = Tree::new(self.steps, root);
        let mut left = LIMITS.steps;
        let mut open = vec![Piece::Run(root)];
        while let Some(piece) = open.pop() {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Run(end) => {
                    out.push_str("<ol class=\"run\">\n");
                    open.push(Piece::Text("</ol>\n"));
                    let run = tree.run(end);
                    let before = |at: usize| at.checked_sub(1).map(|before| run[before]);
                    for (at, &step) in run.iter().enumerate().rev() {
                        let others = tree.others(step, before(at));
                        open.push(Piece::Step(Place { step, others }, before(at)));
                    }
                }
                Piece::Step(place, before) => {
                    if left == 0 || out.len() > LIMITS.derivation_bytes {
                        continue;
                    }
                    left -= 1;
                    let within = place.others.iter().map(|&other| tree.size[other]).sum();
                    self.write_step(&mut out, place.step, before, within);
                    open.push(Piece::Text("</details></li>\n"));
                    for other in place.others.into_iter().rev() {
                        open.push(Piece::Run(other));
                    }
                }
            }
        }
        let shown = LIMITS.steps - left;
        if shown < tree.size[root] {
            out = self.without_open_links(&out);
            let rest = tree.size[root] - shown;
            let _ = writeln!(out, "<p>{rest} more steps are not shown.</p>");
        }
        out
    }

    /// The page without links to steps that are not shown.
    fn without_open_links(&self, page: &str) -> String {
        let number = |text: &str| -> Option<u64> {
            let end = text.find(|c: char| !c.is_ascii_digit())?;
            text[..end].parse().ok()
        };
        let id = format!(" id=\"{}step", self.id_prefix);
        let shown: HashSet<u64> = page.split(&id).skip(1).filter_map(number).collect();
        let link = format!("<a href=\"#{}step", self.id_prefix);
        let mut parts = page.split(&link);
        let mut out = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            match (number(part), part.split_once("</a>")) {
                (Some(number), Some((_, rest))) if !shown.contains(&number) => {
                    let _ = write!(out, "{number}{rest}");
                }
                _ => {
                    out.push_str(&link);
                    out.push_str(part);
                }
            }
        }
        out
    }

    /// The beginning of a step; its element stays open. `before` is the step before it on the run, and
    /// `within` the number of steps on the runs within it.
    fn write_step(&self, out: &mut String, at: usize, before: Option<usize>, within: usize) {
        let (step, prefix) = (&self.steps[at], self.id_prefix);
        let number = &step["step"];
        let open = if step["fact"].is_null() { " open" } else { "" };
        let more = match within {
            0 => String::new(),
            1 => " <span class=\"rest\">1 step within</span>".to_owned(),
            within => format!(" <span class=\"rest\">{within} steps within</span>"),
        };
        let _ = writeln!(
            out,
            "<li><details class=\"step\" id=\"{prefix}step{number}\"{open}><summary>\
             <span class=\"number\">{number}</span> {}{more}</summary>",
            self.summary(step, before.map(|at| &self.steps[at]))
        );
        let line = &step["line"];
        let clause = &step["clause"];
        let _ = write!(
            out,
            "<p>By <a href=\"#{prefix}line{line}\">clause {clause} (line {line})</a>"
        );
        let premises = step["premises"].as_array().into_iter().flatten();
        let premises: Vec<String> = premises
            .map(|p| format!("<a href=\"#{prefix}step{p}\">{p}</a>"))
            .collect();
        if !premises.is_empty() {
            let _ = write!(out, ", from {}", premises.join(", "));
        }
        out.push_str(".</p>\n");
        if out.len() < LIMITS.derivation_details_bytes {
            self.write_values(out, step);
        }
    }

    /// The values of a step: of the fact's arguments, and of the clause's other variables.
    fn write_values(&self, out: &mut String, step: &Value) {
        let arguments = self.arguments(&step["fact"]);
        let mut rows: Vec<(String, &str)> = arguments;
        let values = step["values"].as_array().into_iter().flatten();
        let variables =
            values.filter_map(|v| Some((v["variable"].as_str()?.to_owned(), v["value"].as_str()?)));
        let known = rows.len();
        for (name, value) in variables {
            if !rows[..known]
                .iter()
                .any(|row| row.0 == name && row.1 == value)
            {
                rows.push((name, value));
            }
        }
        if rows.is_empty() {
            return;
        }
        out.push_str("<table class=\"facts\">");
        for (at, (name, value)) in rows.into_iter().enumerate() {
            let kind = if at < known {
                ""
            } else {
                " class=\"variable\""
            };
            let (name, value) = (escaped(&name), self.value(value));
            let _ = write!(out, "<tr{kind}><th>{name}</th><td>{value}</td></tr>");
        }
        out.push_str("</table>\n");
    }

    fn value(&self, text: &str) -> String {
        match Sexp::read(text).filter(|_| text.len() <= LIMITS.value_bytes) {
            Some(value) => self.reader.html(&value),
            None => format!("<code>{}</code>", escaped(cut(text, LIMITS.value_bytes))),
        }
    }

    /// The arguments of a fact with their names.
    fn arguments<'v>(&self, fact: &'v Value) -> Vec<(String, &'v str)> {
        let names = self
            .names
            .get(fact["predicate"].as_str().unwrap_or_default());
        let arguments = fact["arguments"].as_array().into_iter().flatten();
        let arguments = arguments.filter_map(Value::as_str).enumerate();
        arguments
            .map(|(at, value)| {
                let name = names.and_then(|names| names.get(at));
                (name.cloned().unwrap_or_else(|| format!("x{at}")), value)
            })
            .collect()
    }

    /// A step in a line: the fact, with the arguments that the step before has not, or not so.
    fn summary(&self, step: &Value, before: Option<&Value>) -> String {
        let fact = &step["fact"];
        if fact.is_null() {
            let line = &step["line"];
            return format!("<code>false</code>: the query of line {line} is violated");
        }
        let negated = if fact["negated"] == true { "not " } else { "" };
        let mut out = format!("{negated}<b>{}</b>", text_of(&fact["predicate"]));
        let known = before.map(|before| self.arguments(&before["fact"]));
        let known = known.unwrap_or_default();
        let arguments = self.arguments(fact);
        let total = arguments.len();
        let changed: Vec<_> = arguments
            .into_iter()
            .filter(|argument| !known.contains(argument))
            .collect();
        let same = total - changed.len();
        for (name, value) in changed.iter().take(LIMITS.summary_values) {
            let short = match Sexp::read(value) {
                Some(value) => self.reader.text(&value),
                None => (*value).to_owned(),
            };
            let shown = cut(&short, LIMITS.summary_value_bytes);
            let dots = if shown.len() < short.len() { "…" } else { "" };
            let was = known.iter().any(|argument| argument.0 == *name);
            let mark = if was { "mark" } else { "span" };
            let _ = write!(
                out,
                " <{mark} class=\"value\">{} = {}{dots}</{mark}>",
                escaped(name),
                escaped(shown)
            );
        }
        let hidden = changed.len().saturating_sub(LIMITS.summary_values);
        for (number, what) in [(hidden, "more"), (same, "unchanged")] {
            if number > 0 {
                let _ = write!(out, " <span class=\"rest\">{number} {what}</span>");
            }
        }
        out
    }
}

/// The derivation as a tree: a step that several others use stands where the first of them needs it.
struct Tree {
    /// The premises of each step that stand below it.
    children: Vec<Vec<usize>>,
    /// The number of steps in the tree below each step, itself included.
    size: Vec<usize>,
}

impl Tree {
    fn new(steps: &[Value], root: usize) -> Tree {
        let positions: HashMap<u64, usize> = steps
            .iter()
            .enumerate()
            .filter_map(|(at, step)| Some((step["step"].as_u64()?, at)))
            .collect();
        let mut children = vec![Vec::new(); steps.len()];
        let mut seen = vec![false; steps.len()];
        let mut size = vec![1; steps.len()];
        // Premises come before the steps that use them, so that sizes are final from the front.
        let mut open = vec![root];
        let mut order = Vec::new();
        seen[root] = true;
        while let Some(at) = open.pop() {
            order.push(at);
            let premises = steps[at]["premises"].as_array().into_iter().flatten();
            for premise in premises.filter_map(Value::as_u64) {
                let Some(&premise) = positions.get(&premise).filter(|&&p| p < at) else {
                    continue;
                };
                if !std::mem::replace(&mut seen[premise], true) {
                    children[at].push(premise);
                    open.push(premise);
                }
            }
        }
        for &at in order.iter().rev() {
            size[at] = 1 + children[at].iter().map(|&child| size[child]).sum::<usize>();
        }
        Tree { children, size }
    }

    /// The premise with the largest tree. So a run within a run has at most half of its steps, and
    /// runs are nested at most as deep as the number of steps has bits.
    fn main_premise(&self, step: usize) -> Option<usize> {
        let children = self.children[step].iter().copied();
        children.max_by_key(|&child| self.size[child])
    }

    /// The run that ends with a step, in its order.
    fn run(&self, end: usize) -> Vec<usize> {
        let mut run: Vec<usize> =
            std::iter::successors(Some(end), |&step| self.main_premise(step)).collect();
        run.reverse();
        run
    }

    /// The premises of a step that are not the step before it on the run.
    fn others(&self, step: usize, before: Option<usize>) -> Vec<usize> {
        let children = self.children[step].iter().copied();
        children.filter(|&child| Some(child) != before).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn step(number: u64, arguments: &[&str], premises: &[u64]) -> Value {
        json!({"step": number, "fact": {"predicate": "<P>", "arguments": arguments}, "clause": 1,
               "line": 3, "part": 1, "premises": premises, "values": []})
    }

    fn html(steps: &[Value]) -> String {
        let (names, reader) = (ArgumentNames::new(), Reader::default());
        let view = View {
            steps,
            names: &names,
            reader: &reader,
            id_prefix: "",
        };
        view.html()
    }

    #[test]
    fn a_run_shows_what_changes() {
        let steps = [
            step(1, &["0", "7"], &[]),
            step(2, &["1", "7"], &[1]),
            json!({"step": 3, "fact": null, "clause": 2, "line": 9, "premises": [2], "values": []}),
        ];
        let page = html(&steps);
        assert!(
            page.contains("<b>&lt;P&gt;</b> <span class=\"value\">x0 = 0</span>"),
            "{page}"
        );
        assert!(
            page.contains("<mark class=\"value\">x0 = 1</mark>"),
            "{page}"
        );
        assert!(page.contains("1 unchanged"), "{page}");
        assert_eq!(page.matches("<ol").count(), 1);
        assert!(page.find("step1") < page.find("step2"));
    }

    /// A derivation in the form of a full binary tree, and one of a shared step.
    #[test]
    fn trees_have_each_step_once() {
        let mut steps = Vec::new();
        for number in 1..=255_u64 {
            let premises = match number <= 128 {
                true => vec![],
                false => vec![2 * (number - 128) - 1, 2 * (number - 128)],
            };
            steps.push(step(number, &[], &premises));
        }
        let page = html(&steps);
        for number in 1..=255 {
            let id = format!("id=\"step{number}\"");
            assert_eq!(page.matches(&id).count(), 1, "{number}");
        }
        let mut depth: i32 = 0;
        let mut deepest = 0;
        for tag in page.split('<') {
            depth += i32::from(tag.starts_with("ol")) - i32::from(tag.starts_with("/ol"));
            deepest = deepest.max(depth);
        }
        assert_eq!((depth, deepest), (0, 8));
        let shared = [
            step(1, &[], &[]),
            step(2, &[], &[1, 1]),
            step(3, &[], &[1, 2]),
        ];
        assert_eq!(html(&shared).matches("id=\"step1\"").count(), 1);
    }

    #[test]
    fn long_runs_need_no_stack_and_are_cut_off() {
        let steps: Vec<Value> = (1..=50_000)
            .map(|n| step(n, &["1"], &if n == 1 { vec![] } else { vec![n - 1] }))
            .collect();
        let page = html(&steps);
        assert!(page.contains("more steps are not shown"));
        for target in page.split("href=\"#step").skip(1) {
            let (number, _) = target.split_once('"').expect("its end");
            assert!(page.contains(&format!("id=\"step{number}\"")), "{number}");
        }
        assert!(page.len() < 2 * LIMITS.derivation_bytes);
    }
}
