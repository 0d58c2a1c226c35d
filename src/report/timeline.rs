//! The picture of the phases of a run: passes, engines and checks as bars.
//!
//! Invariant: a phase within another one is drawn below it.

use std::fmt::Write;
use std::time::Duration;

use super::escaped;
use alphorn_term::run::{Phase, Span};

/// The width of the picture, in pixels.
const WIDTH: f64 = 1000.0;
/// The height of a row, in pixels.
const ROW_HEIGHT: f64 = 20.0;
/// The width of a character, in pixels.
const CHARACTER_WIDTH: f64 = 7.0;

/// The section with the picture; empty without spans. `total` is the length of the run.
pub fn section(spans: &[Span], total: Duration) -> String {
    let total = total.as_secs_f64().max(1e-6);
    if spans.is_empty() {
        return String::new();
    }
    let rows = spans.iter().map(|s| s.depth + 1).max().unwrap_or(1);
    let height = ROW_HEIGHT * (rows as f64 + 1.0);
    let mut out = format!(
        "<h2>Timeline</h2>\n<div class=\"wide\"><svg class=\"timeline\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         role=\"img\">\n"
    );
    for span in spans {
        let x = WIDTH * span.start.as_secs_f64() / total;
        let width = WIDTH * span.length.as_secs_f64() / total;
        if width < 0.5 {
            continue;
        }
        let (y, name) = (ROW_HEIGHT * span.depth as f64, escaped(span.name));
        let kind = match span.kind {
            Phase::Pass => "pass",
            Phase::Engine => "engine",
            Phase::Check => "check",
        };
        let seconds = span.length.as_secs_f64();
        let _ = write!(
            out,
            "<g><title>{name}: {seconds:.3} s from {:.3} s</title><rect class=\"{kind}\" x=\"{x:.1}\" \
             y=\"{:.1}\" width=\"{width:.1}\" height=\"{:.1}\"/>",
            span.start.as_secs_f64(),
            y + 1.0,
            ROW_HEIGHT - 2.0
        );
        if width > CHARACTER_WIDTH * (name.len() as f64 + 1.0) {
            let _ = write!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\">{name}</text>",
                x + 4.0,
                y + 14.0
            );
        }
        out.push_str("</g>\n");
    }
    let _ = writeln!(
        out,
        "<text x=\"0\" y=\"{0:.1}\">0 s</text><text x=\"{WIDTH}\" y=\"{0:.1}\" \
         text-anchor=\"end\">{total:.2} s</text>\n</svg></div>",
        height - 4.0
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_in_proportion() {
        let ms = Duration::from_millis;
        let span = |name, depth, start, length| Span {
            name,
            depth,
            kind: Phase::Engine,
            start: ms(start),
            length: ms(length),
        };
        let spans = [
            span("cata", 0, 100, 500),
            span("pdr", 1, 200, 250),
            span("bmc", 0, 700, 0),
        ];
        let text = section(&spans, ms(1000));
        assert!(
            text.contains("x=\"100.0\" y=\"1.0\" width=\"500.0\""),
            "{text}"
        );
        assert!(
            text.contains("x=\"200.0\" y=\"21.0\" width=\"250.0\""),
            "{text}"
        );
        assert!(!text.contains("bmc"));
        assert_eq!(section(&[], ms(1000)), "");
    }
}
