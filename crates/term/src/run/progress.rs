//! The text of the progress line, which a terminal shows in place.
//!
//! It has the current phases ([`Context::phase`](super::Context::phase)), such as passes and nested
//! engines, and a detail of the innermost one ([`Progress::tick`]). Another thread reads it through
//! a [`View`], also during a long query to a solver.
//!
//! Invariant: a detail is formatted only if there is a view, and at most once in [`PERIOD`] within
//! a phase.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The least time between two details of a phase, and between two updates of the line.
pub const PERIOD: Duration = Duration::from_millis(200);

/// The control sequence that clears the current line of a terminal.
pub const CLEAR: &str = "\r\x1b[K";

#[derive(Default)]
struct State {
    phases: Vec<&'static str>,
    detail: String,
}

/// The progress of a run, for another thread.
#[derive(Clone, Default)]
pub struct View(Arc<Mutex<State>>);

impl View {
    /// The phases, outermost first, and the detail of the innermost one.
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

/// The progress of a run, for the run itself.
#[derive(Default)]
pub struct Progress {
    view: Option<View>,
    last: Option<Instant>,
}

impl Progress {
    /// Progress that `view` shows.
    pub fn to(view: View) -> Self {
        let view = Some(view);
        Progress { view, last: None }
    }

    /// Enters a phase inside the current one.
    pub(super) fn enter(&mut self, phase: &'static str) {
        self.change(|state| state.phases.push(phase));
    }

    /// Leaves the innermost phase.
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

    /// Sets the detail of the innermost phase, if there is a view and the last detail is older than
    /// [`PERIOD`].
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
    fn without_a_view_there_are_no_details() {
        let mut progress = Progress::default();
        progress.enter("pdr");
        progress.tick(|| panic!("there is no view"));
    }
}
