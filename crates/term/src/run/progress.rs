//! How a run is going, for a line on a terminal that is rewritten in place.
//!
//! Phases are entered and left ([`Context::phase`](super::Context::phase)): a pass, an engine, one
//! engine inside another. What is under way in the innermost one is told by ticks. Who shows it has
//! a [`View`] and looks when it likes, also while a question to a solver takes long.
//!
//! Invariant: nothing is put together when nobody looks, and at most five times a second.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How often the line changes.
pub const PERIOD: Duration = Duration::from_millis(200);

/// What clears a terminal's line.
pub const CLEAR: &str = "\r\x1b[K";

#[derive(Default)]
struct State {
    phases: Vec<&'static str>,
    detail: String,
}

/// What is said of the run, for those who look.
#[derive(Clone, Default)]
pub struct View(Arc<Mutex<State>>);

impl View {
    /// The phases, each inside the one before it, and what goes on in the last one.
    pub fn line(&self) -> String {
        let Ok(state) = self.0.lock() else {
            return String::new();
        };
        let phases = state.phases.join(" > ");
        match state.detail.as_str() {
            "" => phases,
            detail => format!("{phases}: {detail}"),
        }
    }
}

/// Where the parts of a run say how it is going.
#[derive(Default)]
pub struct Progress {
    view: Option<View>,
    last: Option<Instant>,
}

impl Progress {
    /// For somebody who looks.
    pub fn to(view: View) -> Self {
        let view = Some(view);
        Progress { view, last: None }
    }

    /// Enters a phase, inside of those that are entered.
    pub(super) fn enter(&mut self, phase: &'static str) {
        self.change(|state| state.phases.push(phase));
    }

    /// Leaves the phase that was entered last.
    pub(super) fn leave(&mut self) {
        self.change(|state| {
            state.phases.pop();
        });
    }

    fn change(&mut self, change: impl FnOnce(&mut State)) {
        let Some(view) = &self.view else { return };
        if let Ok(mut state) = view.0.lock() {
            change(&mut state);
            state.detail.clear();
        }
        self.last = None;
    }

    /// Says what goes on in the phase, if somebody looks and the last time is long enough ago.
    pub fn tick(&mut self, detail: impl FnOnce() -> String) {
        let Some(view) = &self.view else { return };
        if self.last.is_some_and(|last| last.elapsed() < PERIOD) {
            return;
        }
        self.last = Some(Instant::now());
        if let Ok(mut state) = view.0.lock() {
            state.detail = detail();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_and_not_too_many_details() {
        let view = View::default();
        let mut progress = Progress::to(view.clone());
        progress.enter("cata");
        progress.enter("pdr");
        progress.tick(|| "level 1".to_owned());
        assert_eq!(view.line(), "cata > pdr: level 1");
        progress.last = Instant::now().checked_add(Duration::from_secs(60));
        progress.tick(|| panic!("too early"));
        progress.last = None;
        progress.tick(|| "level 2".to_owned());
        assert_eq!(view.line(), "cata > pdr: level 2");
        progress.leave();
        assert_eq!(view.line(), "cata");
        progress.tick(|| "an encoder".to_owned());
        assert_eq!(view.line(), "cata: an encoder");
        progress.leave();
        assert_eq!(view.line(), "");
    }

    #[test]
    fn nobody_looks() {
        let mut progress = Progress::default();
        progress.enter("pdr");
        progress.tick(|| panic!("for nobody"));
    }
}
