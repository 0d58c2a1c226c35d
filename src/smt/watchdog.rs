//! Ends the queries of a context at a deadline, from a thread of its own.
//!
//! Z3 wakes a timer thread for each query that has a time limit, which costs more than many of the
//! queries; one thread for all of them costs nothing. Invariant: the thread ends with its owner, and
//! after the deadline every query answers `Unknown`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::context::Interrupter;

/// How often the flag that stops a run from outside is looked at.
const POLL: Duration = Duration::from_millis(20);
/// How long one attempt to end a query lasts.
const PATIENCE: Duration = Duration::from_millis(100);

/// The owner's handle; dropping it ends the watch.
pub struct Watchdog {
    done: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    /// Interrupts at the deadline, if there is one, or soon after the flag is set. Without a thread
    /// to be had, nobody watches.
    pub fn new(
        interrupter: Interrupter,
        deadline: Option<Instant>,
        flag: Arc<AtomicBool>,
    ) -> Watchdog {
        let done = Arc::new((Mutex::new(false), Condvar::new()));
        let shared = done.clone();
        let watch = move || {
            let (lock, wake) = &*shared;
            let mut ended = lock.lock().unwrap_or_else(PoisonError::into_inner);
            while !*ended {
                let late = deadline.is_some_and(|d| Instant::now() >= d);
                if late || flag.load(Ordering::Relaxed) {
                    drop(ended);
                    interrupter.interrupt(PATIENCE);
                    ended = lock.lock().unwrap_or_else(PoisonError::into_inner);
                    if *ended {
                        return;
                    }
                }
                let left = deadline.map(|d| d.saturating_duration_since(Instant::now()));
                let pause = left.filter(|l| !l.is_zero()).map_or(POLL, |l| l.min(POLL));
                ended = wake
                    .wait_timeout(ended, pause)
                    .unwrap_or_else(PoisonError::into_inner)
                    .0;
            }
        };
        let thread = std::thread::Builder::new().name("watchdog".to_owned());
        let thread = match thread.spawn(watch) {
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
