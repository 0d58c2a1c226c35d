//! What a run did when: its phases, one inside another.
//!
//! Invariant: of a phase that has ended there is one span at most, and short ones cost no memory.

use std::time::{Duration, Instant};

/// Shorter phases are left out, and so are those after this many.
const SHORTEST: Duration = Duration::from_micros(100);
const SPANS: usize = 20_000;

/// What is done in a phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    Pass,
    Engine,
    /// The way back of a witness, and its check.
    Check,
}

/// A phase that has ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Span {
    pub kind: Phase,
    pub name: &'static str,
    /// In how many others it is.
    pub depth: usize,
    /// From the beginning of the timeline.
    pub start: Duration,
    pub length: Duration,
}

/// The phases so far.
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
    /// The phases that have ended, each after those inside of it.
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
        if length >= SHORTEST && self.spans.len() < SPANS {
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
        std::thread::sleep(2 * SHORTEST);
        timeline.leave(Phase::Pass, "simplify", inner);
        timeline.leave(Phase::Engine, "cata", outer);
        let empty = timeline.enter();
        timeline.leave(Phase::Check, "check", empty.max(timeline.began.elapsed()));
        let shown = timeline.spans().iter().map(|s| (s.name, s.depth));
        assert_eq!(shown.collect::<Vec<_>>(), [("simplify", 1), ("cata", 0)]);
    }
}
