//! A thread that interrupts the queries of a context when the time limit in force ends.
//!
//! Z3's own time limits wake a timer thread for each query, which takes longer than many queries
//! do; here one thread watches all queries of a context.
//!
//! # Invariant
//! The thread ends with its [`Watchdog`]. If the thread cannot be started, queries are bounded by
//! their work only.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::context::Interrupter;
use super::limits::LIMITS;
use alphorn_term::run::Watch;

/// The thread's handle; dropping it ends the thread.
pub(super) struct Watchdog {
    done: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    /// Starts a thread that interrupts by `interrupter` whenever the limit that `watch` reads has
    /// ended. If there is no thread to be had, a warning is logged and nothing is watched.
    pub fn new(interrupter: Interrupter, watch: Watch) -> Watchdog {
        let done = Arc::new((Mutex::new(false), Condvar::new()));
        let shared = done.clone();
        let run = move || {
            let (lock, wake) = &*shared;
            let mut ended = lock.lock().unwrap_or_else(PoisonError::into_inner);
            while !*ended {
                drop(ended);
                let left = watch.check(|| interrupter.interrupt(LIMITS.interrupt_wait));
                ended = lock.lock().unwrap_or_else(PoisonError::into_inner);
                if *ended {
                    return;
                }
                let left = left.filter(|left| !left.is_zero());
                let pause = left.map_or(LIMITS.watch_interval, |left| {
                    left.min(LIMITS.watch_interval)
                });
                ended = wake
                    .wait_timeout(ended, pause)
                    .unwrap_or_else(PoisonError::into_inner)
                    .0;
            }
        };
        let thread = std::thread::Builder::new().name("watchdog".to_owned());
        let thread = match thread.spawn(run) {
            Ok(thread) => Some(thread),
            Err(error) => {
                log::warn!("time limits of queries are not watched: {error}");
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
            // The thread does not panic; if it did, there would be nothing to do here.
            let _ = thread.join();
        }
    }
}
