//! The picture of the dependency graph: predicates in layers, each below those it depends on.
//!
//! The layers follow a weak topological order. An edge against this order is drawn dashed, at the
//! side, and does not affect the layers. Within a layer a predicate is placed near the predicates that
//! it depends on.
//!
//! Invariant: each predicate that the graph has gets one box, and each pair of predicates that a clause
//! connects one edge.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde_json::Value;

use super::{LIMITS, escaped};
use crate::strategy::normal_form;
use alphorn_chc::frontend::Problem;
use alphorn_chc::{DependencyGraph, PredicateId};
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

/// The section with the graph of the clauses in normal form, with the predicates of the derivation
/// `steps` highlighted. Ids begin with `id_prefix`. With `is_linked` each box is a link to the
/// invariant of its predicate.
pub fn section(problem: &Problem, steps: &[Value], id_prefix: &str, is_linked: bool) -> String {
    let mut out = "<h2>Predicates</h2>\n".to_owned();
    let system = normal_form(problem);
    let order = DependencyGraph::new(&system).order();
    if order.is_empty() {
        return String::new();
    }
    if order.len() > LIMITS.graph_predicates {
        let _ = writeln!(
            out,
            "<p>The graph has {} predicates and is not drawn.</p>",
            order.len()
        );
        return out;
    }
    let used: BTreeSet<&str> = steps
        .iter()
        .filter_map(|step| step["fact"]["predicate"].as_str())
        .collect();
    // Box 0 is the entry, the last one `false`.
    let boxes: BTreeMap<PredicateId, Box> = order.iter().copied().zip(1..).collect();
    let last = order.len() + 1;
    let mut edges: BTreeSet<(Box, Box)> = BTreeSet::new();
    for clause in &system.clauses {
        let to = clause
            .head
            .as_ref()
            .map_or(last, |head| boxes[&head.predicate]);
        if clause.body.is_empty() {
            edges.insert((0, to));
        }
        edges.extend(clause.body.iter().map(|atom| (boxes[&atom.predicate], to)));
    }
    let layers = layers(last + 1, &edges);
    let label = |at: Box| match at {
        0 => "entry".to_owned(),
        at if at == last => "false".to_owned(),
        at => {
            let name = &system.predicate(order[at - 1]).name;
            match name.chars().count() {
                n if n <= LIMITS.name_characters => name.clone(),
                _ => name
                    .chars()
                    .take(LIMITS.name_characters - 1)
                    .chain(['…'])
                    .collect(),
            }
        }
    };
    let width = |at: Box| CHARACTER_WIDTH * label(at).chars().count() as f64 + 16.0;
    let row = |layer: &Vec<Box>| layer.iter().map(|&b| width(b) + GAP.0).sum::<f64>();
    let most = layers.iter().map(row).fold(0.0, f64::max);
    let mut place: BTreeMap<Box, (f64, f64)> = BTreeMap::new();
    for (depth, layer) in layers.iter().enumerate() {
        let mut x = (most - row(layer)) / 2.0;
        for &at in layer {
            let y = depth as f64 * (BOX_HEIGHT + GAP.1) + 2.0;
            place.insert(at, (x + GAP.0 / 2.0, y));
            x += width(at) + GAP.0;
        }
    }
    let (page, height) = (most + 60.0, layers.len() as f64 * (BOX_HEIGHT + GAP.1));
    let _ = writeln!(
        out,
        "<svg viewBox=\"0 0 {page:.0} {height:.0}\" width=\"{page:.0}\" role=\"img\">\n<defs><marker \
         id=\"{id_prefix}tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
         orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#888\"/></marker></defs>"
    );
    for &(from, to) in &edges {
        let ((x1, y1), (x2, y2)) = (place[&from], place[&to]);
        if from < to {
            let (x1, x2) = (x1 + width(from) / 2.0, x2 + width(to) / 2.0);
            let (y1, bend) = (y1 + BOX_HEIGHT, GAP.1 / 1.5);
            let _ = writeln!(
                out,
                "<path class=\"edge\" marker-end=\"url(#{id_prefix}tip)\" d=\"M{x1:.1} {y1:.1}C{x1:.1} {:.1} {x2:.1} \
                 {:.1} {x2:.1} {y2:.1}\"/>",
                y1 + bend,
                y2 - bend
            );
        } else {
            let (x1, x2) = (x1 + width(from), x2 + width(to));
            let (y1, y2) = (y1 + 0.7 * BOX_HEIGHT, y2 + 0.3 * BOX_HEIGHT);
            let side = x1.max(x2) + 26.0 + (y1 - y2) / 12.0;
            let _ = writeln!(
                out,
                "<path class=\"back\" marker-end=\"url(#{id_prefix}tip)\" d=\"M{x1:.1} {y1:.1}C{side:.1} {y1:.1} \
                 {side:.1} {y2:.1} {x2:.1} {y2:.1}\"/>"
            );
        }
    }
    for (&at, &(x, y)) in &place {
        let name = match at.checked_sub(1).and_then(|p| order.get(p)) {
            Some(&predicate) => system.predicate(predicate).name.as_str(),
            None => "",
        };
        let kind = match name {
            "" => "end",
            name if used.contains(name) => "used",
            _ => "node",
        };
        let text = escaped(&label(at));
        let shape = format!(
            "<rect class=\"{kind}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{BOX_HEIGHT}\" \
             rx=\"5\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{text}</text>",
            width(at),
            x + width(at) / 2.0,
            y + 0.67 * BOX_HEIGHT
        );
        let _ = match name {
            "" => writeln!(out, "{shape}"),
            _ if is_linked => writeln!(
                out,
                "<a href=\"#{id_prefix}{}\"><title>{}</title>{shape}</a>",
                anchor(&quote_symbol(name)),
                escaped(name)
            ),
            _ => writeln!(out, "<g><title>{}</title>{shape}</g>", escaped(name)),
        };
    }
    out.push_str("</svg>\n");
    out
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
    fn names_become_anchors() {
        assert_eq!(anchor("|a b|"), "p-_7ca_20b_7c");
        assert_ne!(anchor("a_b"), anchor("a-b"));
    }
}
