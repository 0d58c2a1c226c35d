//! The phases of a run with their times; phases are nested.
//!
//! Invariant: each phase has at most one span, and there are at most `LIMITS.max_spans` spans.

use std::time::{Duration, Instant};

use crate::limits::LIMITS;

/// The kind of a phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// A pass.
    Pass,
    /// A turn of an engine.
    Engine,
    /// Back-translation and check of a witness.
    Check,
}

/// A phase that has ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Span {
    /// The kind of the phase.
    pub kind: Phase,
    /// The name of the pass or engine.
    pub name: &'static str,
    /// The number of phases that it is nested in.
    pub depth: usize,
    /// The time from the beginning of the timeline to the beginning of the phase.
    pub start: Duration,
    /// The duration of the phase.
    pub length: Duration,
}

/// The phases that have ended, with their times.
#[derive(Clone, Debug)]
pub struct Timeline {
    began: Instant,
    depth: usize,
    spans: Vec<Span>,
}

impl Default for Timeline {
    fn default() -> Self {
        Timeline {
            began: Instant::now(),
            depth: 0,
            spans: Vec::new(),
        }
    }
}

impl Timeline {
    /// The phases that have ended, each after those nested in it.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    pub(super) fn enter(&mut self) -> Duration {
        self.depth += 1;
        self.began.elapsed()
    }

    pub(super) fn leave(&mut self, kind: Phase, name: &'static str, start: Duration) {
        self.depth -= 1;
        let length = self.began.elapsed().saturating_sub(start);
        if length >= LIMITS.min_span && self.spans.len() < LIMITS.max_spans {
            let depth = self.depth;
            self.spans.push(Span {
                kind,
                name,
                depth,
                start,
                length,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_nest() {
        let mut timeline = Timeline::default();
        let outer = timeline.enter();
        let inner = timeline.enter();
        std::thread::sleep(2 * LIMITS.min_span);
        timeline.leave(Phase::Pass, "simplify", inner);
        timeline.leave(Phase::Engine, "cata", outer);
        let empty = timeline.enter();
        timeline.leave(Phase::Check, "check", empty.max(timeline.began.elapsed()));
        let shown = timeline.spans().iter().map(|s| (s.name, s.depth));
        assert_eq!(shown.collect::<Vec<_>>(), [("simplify", 1), ("cata", 0)]);
    }
}
