//! Graphs in Graphviz's language.
//!
//! Invariant: what is added is text for Graphviz, whatever names and formulas contain.

use alphorn_term::{Printer, TermId, TermStore};

/// Labels longer than this are cut off.
const LONGEST: usize = 400;

/// A picture in the making.
pub(super) struct Picture<'a> {
    terms: &'a TermStore,
    text: String,
}

impl<'a> Picture<'a> {
    /// A picture of nothing.
    pub fn new(terms: &'a TermStore) -> Self {
        let text = "digraph arg {\n  rankdir=TB;\n  node [shape=box];\n".to_owned();
        Picture { terms, text }
    }

    /// Adds a node with its label, in one of Graphviz's styles.
    pub fn node(&mut self, node: usize, name: &str, label: TermId, style: &str) {
        let mut label = Printer::new(self.terms).term(label);
        if let Some((end, _)) = label.char_indices().nth(LONGEST) {
            label.truncate(end);
            label.push('…');
        }
        let text = quoted(&format!("{node}: {name}\n{label}"));
        self.line(&format!("n{node} [label=\"{text}\", style={style}];"));
    }

    /// Adds an edge for these clauses.
    pub fn edge(&mut self, from: usize, to: usize, clauses: &[u32], style: &str) {
        let ids: Vec<String> = clauses.iter().map(u32::to_string).collect();
        let ids = ids.join(" ");
        self.line(&format!(
            "n{from} -> n{to} [label=\"{ids}\", style={style}];"
        ));
    }

    /// The whole text.
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

/// Inside quotation marks.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    escaped.replace('\n', "\\n")
}
