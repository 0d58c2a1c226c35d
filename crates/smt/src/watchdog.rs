//! Ends the queries of a context when a run's time is over, from a thread of its own.
//!
//! Z3 wakes a timer thread for each query that has a time limit, which costs more than many of the
//! queries; one thread for all of them costs nothing. Invariant: the thread ends with its owner,
//! and no query goes on for long after the end of the time that is in force.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::context::Interrupter;
use alphorn_term::run::Watch;

/// How often the time is looked at: its end may move, and the run may be stopped from outside.
const POLL: Duration = Duration::from_millis(20);
/// How long one attempt to end a query lasts.
const PATIENCE: Duration = Duration::from_millis(100);

/// The owner's handle; dropping it ends the watch.
pub(super) struct Watchdog {
    done: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    /// Interrupts whenever the time is over. Without a thread to be had, nobody watches.
    pub fn new(interrupter: Interrupter, watch: Watch) -> Watchdog {
        let done = Arc::new((Mutex::new(false), Condvar::new()));
        let shared = done.clone();
        let look = move || {
            let (lock, wake) = &*shared;
            let mut ended = lock.lock().unwrap_or_else(PoisonError::into_inner);
            while !*ended {
                drop(ended);
                let left = watch.check(|| interrupter.interrupt(PATIENCE));
                ended = lock.lock().unwrap_or_else(PoisonError::into_inner);
                if *ended {
                    return;
                }
                let left = left.filter(|left| !left.is_zero());
                let pause = left.map_or(POLL, |left| left.min(POLL));
                ended = wake
                    .wait_timeout(ended, pause)
                    .unwrap_or_else(PoisonError::into_inner)
                    .0;
            }
        };
        let thread = std::thread::Builder::new().name("watchdog".to_owned());
        let thread = match thread.spawn(look) {
            Ok(thread) => Some(thread),
            Err(error) => {
                log::warn!("nobody watches the time: {error}");
                None
            }
        };
        Watchdog { done, thread }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        let (lock, wake) = &*self.done;
        *lock.lock().unwrap_or_else(PoisonError::into_inner) = true;
        wake.notify_all();
        if let Some(thread) = self.thread.take() {
            // It does not panic; if it did, there is nothing to add.
            let _ = thread.join();
        }
    }
}
