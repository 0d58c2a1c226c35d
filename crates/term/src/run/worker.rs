//! The thread in which a run works.
//!
//! Invariant: it has the first stack size of `LIMITS.stack_sizes` that the system grants. A large
//! stack is needed since not all traversals of libz3 are iterative.

use std::any::Any;
use std::sync::{Arc, Mutex};
use std::{io, thread};

use crate::limits::LIMITS;

/// Starts `work` in a new thread.
///
/// # Errors
/// The system grants no thread with any of the stack sizes.
pub fn spawn_worker(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    // A failed attempt to make a thread drops its closure, so `work` is passed in a slot.
    let slot = Arc::new(Mutex::new(Some(work)));
    let mut result = Err(io::ErrorKind::OutOfMemory.into());
    for stack in LIMITS.stack_sizes {
        let slot = slot.clone();
        let thread = thread::Builder::new()
            .name("solver".to_owned())
            .stack_size(stack);
        let spawned = thread.spawn(move || {
            let work = slot.lock().ok().and_then(|mut slot| slot.take());
            if let Some(work) = work {
                work();
            }
        });
        result = spawned.map(drop);
        if result.is_ok() {
            break;
        }
    }
    result
}

/// The message of a panic.
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("a panic without a message")
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_has_a_big_stack_and_its_panics_have_a_message() {
        fn depth(n: u64) -> u64 {
            let block = std::hint::black_box([n; 64]);
            if n == 0 { 0 } else { 1 + depth(block[7] - 1) }
        }
        let (sender, receiver) = std::sync::mpsc::channel();
        spawn_worker(move || {
            let panic = std::panic::catch_unwind(|| panic!("depth {}", depth(50_000)));
            let message = panic.map_err(|panic| panic_message(&*panic));
            sender.send(message).expect("the receiver waits");
        })
        .expect("a thread");
        let message: Result<(), String> = receiver.recv().expect("a message");
        assert_eq!(message, Err("depth 50000".to_owned()));
    }
}
