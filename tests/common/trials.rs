//! Trials that do not fail on a busy machine.
//!
//! Items without an answer are tried again with longer limits, until enough items have one. So the
//! required number does not depend on the speed of the machine.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A limit for a run that has to end with an answer: far more than it needs.
pub const PATIENCE: Duration = Duration::from_secs(600);

/// The time limits of the rounds.
const LIMITS: [Duration; 4] = [
    Duration::from_millis(50),
    Duration::from_secs(3),
    Duration::from_secs(30),
    PATIENCE,
];

/// Calls `work` for each item, on two threads, and fails with all errors at the end.
pub fn on_all<T: Sync>(items: &[T], work: impl Fn(&T) -> Result<(), String> + Sync) {
    let next = AtomicUsize::new(0);
    let complaints = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            let worker = std::thread::Builder::new().stack_size(1 << 28);
            let spawned = worker.spawn_scoped(scope, || {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::SeqCst)) {
                    if let Err(complaint) = work(item) {
                        complaints.lock().expect("no panic").push(complaint);
                    }
                }
            });
            spawned.expect("a thread");
        }
    });
    let complaints = complaints.into_inner().expect("no panic");
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Tries each item within the first limit, then those without an answer within longer limits, until
/// at least `floor` items have an answer. A trial returns whether there was an answer, and an error
/// if it was wrong.
pub fn answers_at_least<T: Sync>(
    floor: usize,
    items: &[T],
    trial: impl Fn(&T, Duration) -> Result<bool, String> + Sync,
) {
    let answered = AtomicUsize::new(0);
    let mut open: Vec<&T> = items.iter().collect();
    for limit in LIMITS {
        let without = Mutex::new(Vec::new());
        on_all(&open, |&item| {
            let enough = answered.load(Ordering::SeqCst) >= floor;
            if limit > LIMITS[0] && enough {
                return Ok(());
            }
            if trial(item, limit)? {
                answered.fetch_add(1, Ordering::SeqCst);
            } else {
                without.lock().expect("no panic").push(item);
            }
            Ok(())
        });
        if answered.load(Ordering::SeqCst) >= floor {
            return;
        }
        open = without.into_inner().expect("no panic");
    }
    let answered = answered.into_inner();
    panic!("{answered} of {} answered, not {floor}", items.len());
}
