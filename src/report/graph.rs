//! The picture of the dependency graph: predicates in layers, each below those it depends on.
//!
//! The layers follow a weak topological order. An edge against this order is drawn dashed, at the
//! side, and does not affect the layers. Within a layer a predicate is placed near the predicates that
//! it depends on.
//!
//! Large graphs have one box for a chain of predicates, and with a derivation only its predicates are
//! drawn.
//!
//! Invariant: each predicate that is drawn is in one box, and each pair of boxes that a clause connects
//! has one edge.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde_json::Value;

use super::{LIMITS, escaped};
use crate::strategy::normal_form;
use alphorn_chc::frontend::Problem;
use alphorn_chc::{DependencyGraph, PredicateId, System};
use alphorn_term::quote_symbol;

/// The width of a character, in pixels.
const CHARACTER_WIDTH: f64 = 7.2;
/// The height of a box, in pixels.
const BOX_HEIGHT: f64 = 26.0;
/// The space between boxes, horizontal and vertical, in pixels.
const GAP: (f64, f64) = (24.0, 34.0);

/// A box: the entry, a predicate or `false`.
type Box = usize;

/// The id of the invariant of a predicate on the page.
pub fn anchor(name: &str) -> String {
    let letters = name.chars().map(|c| match c {
        c if c.is_ascii_alphanumeric() => c.to_string(),
        c => format!("_{:x}", u32::from(c)),
    });
    format!("p-{}", letters.collect::<String>())
}

/// A box of the picture.
struct Drawn {
    /// The text in it.
    label: String,
    /// The whole name; empty for the entry and `false`.
    name: String,
    /// How many further predicates stand in the same box.
    more: usize,
}

/// The boxes with the edges between them. The entry is the first box, `false` the last one.
struct Picture {
    boxes: Vec<Drawn>,
    edges: BTreeSet<(Box, Box)>,
    /// How many predicates are not drawn.
    hidden: usize,
}

/// The section with the graph of the clauses in normal form. With a derivation `steps` only its
/// predicates are drawn. Ids begin with `id_prefix`. A box whose predicate is in `linked` links to its
/// invariant.
pub fn section(
    problem: &Problem,
    steps: &[Value],
    id_prefix: &str,
    linked: &BTreeSet<&str>,
) -> String {
    let system = normal_form(problem);
    let order = DependencyGraph::new(&system).order();
    if order.is_empty() {
        return String::new();
    }
    let used: BTreeSet<&str> = steps
        .iter()
        .filter_map(|step| step["fact"]["predicate"].as_str())
        .collect();
    let picture = Picture::new(&system, &order, &used);
    let mut out = "<h2>Predicates</h2>\n".to_owned();
    if picture.boxes.len() > LIMITS.graph_boxes {
        let _ = writeln!(
            out,
            "<p>The graph has {} predicates and is not drawn; <code>--graph</code> writes it.</p>",
            order.len()
        );
        return out;
    }
    if picture.hidden > 0 {
        let _ = writeln!(
            out,
            "<p>{} predicates are not on the derivation and are not drawn.</p>",
            picture.hidden
        );
    }
    out.push_str("<div class=\"graph\">");
    for (class, label) in [
        ("fit", "fit"),
        ("z50", "50%"),
        ("z100", "100%"),
        ("z200", "200%"),
    ] {
        let checked = if class == "z100" { " checked=\"\"" } else { "" };
        let _ = write!(
            out,
            "<input type=\"radio\" name=\"{id_prefix}zoom\" id=\"{id_prefix}{class}\" \
             class=\"{class}\"{checked}/><label for=\"{id_prefix}{class}\">{label}</label>"
        );
    }
    out.push_str("<div class=\"scroll\">\n");
    picture.write(&mut out, id_prefix, !used.is_empty(), linked);
    out.push_str("</div></div>\n");
    out
}

impl Picture {
    /// The picture of a system, with only these predicates if there are some.
    fn new(system: &System, order: &[PredicateId], used: &BTreeSet<&str>) -> Picture {
        let name = |id: PredicateId| system.predicate(id).name.as_str();
        let is_drawn = |id: &&PredicateId| used.is_empty() || used.contains(name(**id));
        let drawn: Vec<PredicateId> = order.iter().filter(is_drawn).copied().collect();
        let places: BTreeMap<PredicateId, Box> = drawn.iter().copied().zip(1..).collect();
        let last = drawn.len() + 1;
        let mut edges: BTreeSet<(Box, Box)> = BTreeSet::new();
        for clause in &system.clauses {
            let to = match &clause.head {
                Some(head) => places.get(&head.predicate).copied(),
                None => Some(last),
            };
            let Some(to) = to else { continue };
            if clause.body.is_empty() {
                edges.insert((0, to));
            }
            let from = clause
                .body
                .iter()
                .filter_map(|atom| places.get(&atom.predicate));
            edges.extend(from.map(|&from| (from, to)));
        }
        let drawn_box = |label: &str, name: &str| Drawn {
            label: shortened(label),
            name: name.to_owned(),
            more: 0,
        };
        let mut boxes = vec![drawn_box("entry", "")];
        boxes.extend(drawn.iter().map(|&id| drawn_box(name(id), name(id))));
        boxes.push(drawn_box("false", ""));
        let picture = Picture {
            boxes,
            edges,
            hidden: order.len() - drawn.len(),
        };
        match drawn.len() > LIMITS.graph_chains {
            true => picture.with_chains(),
            false => picture,
        }
    }

    /// The picture with one box for each chain of predicates that have one edge in and one out.
    fn with_chains(self) -> Picture {
        let count = self.boxes.len();
        let mut before: Vec<Vec<Box>> = vec![Vec::new(); count];
        let mut after: Vec<Vec<Box>> = vec![Vec::new(); count];
        for &(from, to) in &self.edges {
            before[to].push(from);
            after[from].push(to);
        }
        let is_link =
            |b: Box| b > 0 && b + 1 < count && before[b].len() == 1 && after[b].len() == 1;
        // The first box of the chain that a box is in. A chain goes forward in the order, so it ends.
        let mut first: Vec<Box> = (0..count).collect();
        for b in 1..count {
            let from = before[b].first().copied().unwrap_or(0);
            if is_link(b) && from < b && is_link(from) {
                first[b] = first[from];
            }
        }
        let kept: Vec<Box> = (0..count).filter(|&b| first[b] == b).collect();
        let places: BTreeMap<Box, Box> = kept.iter().copied().zip(0..).collect();
        let edges = self
            .edges
            .iter()
            .map(|&(from, to)| (first[from], first[to]));
        let edges = edges.filter(|edge| edge.0 != edge.1 || self.edges.contains(edge));
        let edges = edges
            .map(|(from, to)| (places[&from], places[&to]))
            .collect();
        let mut sizes = vec![0; count];
        first.iter().for_each(|&b| sizes[b] += 1);
        let mut boxes = Vec::new();
        for (b, mut drawn) in self.boxes.into_iter().enumerate() {
            if first[b] == b {
                drawn.more = sizes[b] - 1;
                if drawn.more > 0 {
                    drawn.label = format!("{} +{}", drawn.label, drawn.more);
                }
                boxes.push(drawn);
            }
        }
        Picture {
            boxes,
            edges,
            hidden: self.hidden,
        }
    }

    fn width(&self, at: Box) -> f64 {
        CHARACTER_WIDTH * self.boxes[at].label.chars().count() as f64 + 16.0
    }

    /// Writes the picture. `is_used` says whether the predicates are those of a derivation.
    fn write(&self, out: &mut String, id_prefix: &str, is_used: bool, linked: &BTreeSet<&str>) {
        let layers = layers(self.boxes.len(), &self.edges);
        let row = |layer: &Vec<Box>| layer.iter().map(|&b| self.width(b) + GAP.0).sum::<f64>();
        let most = layers.iter().map(row).fold(0.0, f64::max);
        let mut place: BTreeMap<Box, (f64, f64)> = BTreeMap::new();
        for (depth, layer) in layers.iter().enumerate() {
            let mut x = (most - row(layer)) / 2.0;
            for &at in layer {
                let y = depth as f64 * (BOX_HEIGHT + GAP.1) + 2.0;
                place.insert(at, (x + GAP.0 / 2.0, y));
                x += self.width(at) + GAP.0;
            }
        }
        let (page, height) = (most + 60.0, layers.len() as f64 * (BOX_HEIGHT + GAP.1));
        let _ = writeln!(
            out,
            "<svg viewBox=\"0 0 {page:.0} {height:.0}\" width=\"{page:.0}\" role=\"img\">\n<defs>\
             <marker id=\"{id_prefix}tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" \
             markerHeight=\"7\" orient=\"auto\"><path class=\"tip\" d=\"M0 0L8 4L0 8z\"/></marker></defs>"
        );
        self.write_edges(out, id_prefix, &place);
        for (&at, &corner) in &place {
            self.write_box(out, id_prefix, (at, corner), is_used, linked);
        }
        out.push_str("</svg>\n");
    }

    fn write_edges(&self, out: &mut String, id_prefix: &str, place: &BTreeMap<Box, (f64, f64)>) {
        for &(from, to) in &self.edges {
            let ((x1, y1), (x2, y2)) = (place[&from], place[&to]);
            let (kind, path) = if from < to {
                let (x1, x2) = (x1 + self.width(from) / 2.0, x2 + self.width(to) / 2.0);
                let (y1, bend) = (y1 + BOX_HEIGHT, GAP.1 / 1.5);
                let (first, second) = (y1 + bend, y2 - bend);
                (
                    "edge",
                    format!(
                        "{x1:.1} {y1:.1}C{x1:.1} {first:.1} {x2:.1} {second:.1} {x2:.1} {y2:.1}"
                    ),
                )
            } else {
                let (x1, x2) = (x1 + self.width(from), x2 + self.width(to));
                let (y1, y2) = (y1 + 0.7 * BOX_HEIGHT, y2 + 0.3 * BOX_HEIGHT);
                let side = x1.max(x2) + 26.0 + (y1 - y2) / 12.0;
                (
                    "back",
                    format!("{x1:.1} {y1:.1}C{side:.1} {y1:.1} {side:.1} {y2:.1} {x2:.1} {y2:.1}"),
                )
            };
            let _ = writeln!(
                out,
                "<path class=\"{kind}\" marker-end=\"url(#{id_prefix}tip)\" d=\"M{path}\"/>"
            );
        }
    }

    fn write_box(
        &self,
        out: &mut String,
        id_prefix: &str,
        (at, (x, y)): (Box, (f64, f64)),
        is_used: bool,
        linked: &BTreeSet<&str>,
    ) {
        let drawn = &self.boxes[at];
        let kind = match drawn.name.as_str() {
            "" => "end",
            _ if is_used => "used",
            _ => "node",
        };
        let text = escaped(&drawn.label);
        let shape = format!(
            "<rect class=\"{kind}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{BOX_HEIGHT}\" \
             rx=\"5\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{text}</text>",
            self.width(at),
            x + self.width(at) / 2.0,
            y + 0.67 * BOX_HEIGHT
        );
        let symbol = quote_symbol(&drawn.name);
        let title = match drawn.more {
            0 => escaped(&drawn.name),
            more => format!("{} and {more} more in a chain", escaped(&drawn.name)),
        };
        let _ = match drawn.name.as_str() {
            "" => writeln!(out, "{shape}"),
            _ if linked.contains(symbol.as_str()) => writeln!(
                out,
                "<a href=\"#{id_prefix}{}\"><title>{title}</title>{shape}</a>",
                anchor(&symbol),
            ),
            _ => writeln!(out, "<g><title>{title}</title>{shape}</g>"),
        };
    }
}

/// A name that fits into a box.
fn shortened(name: &str) -> String {
    match name.chars().count() {
        n if n <= LIMITS.name_characters => name.to_owned(),
        _ => name
            .chars()
            .take(LIMITS.name_characters - 1)
            .chain(['…'])
            .collect(),
    }
}

/// The boxes of each layer, from left to right. Each box is in a layer below those of the earlier boxes
/// that it depends on.
fn layers(count: usize, edges: &BTreeSet<(Box, Box)>) -> Vec<Vec<Box>> {
    let mut depth = vec![0; count];
    for to in 0..count {
        let before = edges.iter().filter(|e| e.1 == to && e.0 < to);
        depth[to] = before
            .map(|e| depth[e.0] + 1)
            .max()
            .unwrap_or(usize::from(to > 0));
    }
    // Nothing is below `false`.
    depth[count - 1] = depth.iter().copied().max().unwrap_or(0).max(1);
    if depth[..count - 1].contains(&depth[count - 1]) {
        depth[count - 1] += 1;
    }
    let mut layers: Vec<Vec<Box>> = vec![Vec::new(); depth[count - 1] + 1];
    let mut position = vec![0.0; count];
    let mut order: Vec<Box> = (0..count).collect();
    order.sort_by_key(|&b| depth[b]);
    for &at in &order {
        layers[depth[at]].push(at);
    }
    for layer in &mut layers {
        let mean = |&at: &Box| {
            let above: Vec<f64> = edges
                .iter()
                .filter(|e| e.1 == at && e.0 < at)
                .map(|e| position[e.0])
                .collect();
            above.iter().sum::<f64>() / above.len().max(1) as f64
        };
        let mut keyed: Vec<(f64, Box)> = layer.iter().map(|at| (mean(at), *at)).collect();
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        *layer = keyed.into_iter().map(|k| k.1).collect();
        let size = layer.len() as f64;
        for (at, index) in layer.iter().zip(0..) {
            position[*at] = (f64::from(index) + 0.5) / size;
        }
    }
    layers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_go_down() {
        // A cycle 1 -> 2 -> 1 with an exit, and a further predicate.
        let edges = BTreeSet::from([(0, 1), (1, 2), (2, 1), (2, 4), (0, 3), (3, 4)]);
        assert_eq!(layers(5, &edges), [vec![0], vec![1, 3], vec![2], vec![4]]);
        // Nothing leads to `false`.
        assert_eq!(
            layers(3, &BTreeSet::from([(0, 1)])),
            [vec![0], vec![1], vec![2]]
        );
    }

    #[test]
    fn chains_become_a_box() {
        let drawn = |name: &str| Drawn {
            label: name.to_owned(),
            name: name.to_owned(),
            more: 0,
        };
        // entry -> a -> b -> c -> d -> false, with a loop at d.
        let picture = Picture {
            boxes: ["", "a", "b", "c", "d", ""].map(drawn).into(),
            edges: BTreeSet::from([(0, 1), (1, 2), (2, 3), (3, 4), (4, 4), (4, 5)]),
            hidden: 0,
        };
        let short = picture.with_chains();
        let labels: Vec<&str> = short.boxes.iter().map(|b| b.label.as_str()).collect();
        assert_eq!(labels, ["", "a +2", "d", ""]);
        assert_eq!(
            short.edges,
            BTreeSet::from([(0, 1), (1, 2), (2, 2), (2, 3)])
        );
    }

    #[test]
    fn names_become_anchors() {
        assert_eq!(anchor("|a b|"), "p-_7ca_20b_7c");
        assert_ne!(anchor("a_b"), anchor("a-b"));
    }
}
