//! Graphs in Graphviz's language.
//!
//! Invariant: names and formulas are quoted, so the result is well-formed whatever they contain.

use super::limits::LIMITS;
use alphorn_term::{Printer, TermId, TermStore};

/// A picture under construction.
pub(super) struct Picture<'a> {
    terms: &'a TermStore,
    text: String,
}

impl<'a> Picture<'a> {
    /// An empty picture.
    pub fn new(terms: &'a TermStore) -> Self {
        let text = "digraph arg {\n  rankdir=TB;\n  node [shape=box];\n".to_owned();
        Picture { terms, text }
    }

    /// Adds a node with its label, in a style of Graphviz.
    pub fn node(&mut self, node: usize, name: &str, label: TermId, style: &str) {
        let mut label = Printer::new(self.terms).term(label);
        if let Some((end, _)) = label.char_indices().nth(LIMITS.picture_label_chars) {
            label.truncate(end);
            label.push('…');
        }
        let text = quoted(&format!("{node}: {name}\n{label}"));
        self.line(&format!("n{node} [label=\"{text}\", style={style}];"));
    }

    /// Adds an edge, labelled with the ids of its clauses.
    pub fn edge(&mut self, from: usize, to: usize, clauses: &[u32], style: &str) {
        let ids: Vec<String> = clauses.iter().map(u32::to_string).collect();
        let ids = ids.join(" ");
        self.line(&format!(
            "n{from} -> n{to} [label=\"{ids}\", style={style}];"
        ));
    }

    /// The text of the picture.
    pub fn finished(mut self) -> String {
        self.text.push_str("}\n");
        self.text
    }

    fn line(&mut self, line: &str) {
        self.text.push_str("  ");
        self.text.push_str(line);
        self.text.push('\n');
    }
}

/// The text with quotation marks, backslashes and line ends escaped.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    escaped.replace('\n', "\\n")
}
