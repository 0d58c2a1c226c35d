//! The processes of members: starting them, ending them, and ending with the parent.
//!
//! A member is a fork of the program. This is sound because the parent has one thread. Members stay
//! in the parent's process group, so that a signal to the group reaches all of them.
//!
//! Invariant: a member ends when its parent has ended, however the parent ends. The kernel kills the
//! member (`PR_SET_PDEATHSIG`; the thread that forks is the parent's only one, so it ends with the
//! process), and a thread of the member ends it when a pipe closes whose other end only the parent
//! has. If the parent ended before the first of these was in force, the member sees it by the id of
//! its parent.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use libc::{c_int, pid_t};

use super::limits::LIMITS;

/// The signals that end a run.
const SIGNALS: [c_int; 4] = [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGXCPU];
/// The exit status of a member whose parent has ended.
const ORPHAN_STATUS: c_int = 71;

/// A member's process, with the parent's ends of its pipes.
pub struct Child {
    /// The id of the process.
    pub pid: pid_t,
    /// The pipe to read the member's messages from.
    pub from_member: File,
    /// The pipe to write messages to the member to.
    pub to_member: File,
}

/// Restores the signal mask.
impl Drop for Parent {
    fn drop(&mut self) {
        // SAFETY: the set was made by the kernel.
        unsafe {
            libc::sigprocmask(
                libc::SIG_SETMASK,
                &raw const self.mask,
                std::ptr::null_mut(),
            )
        };
    }
}

/// What the parent keeps to start members.
pub struct Parent {
    /// A pipe whose end to write to closes when the parent ends.
    lifetime_pipe: (OwnedFd, OwnedFd),
    /// Readable when a signal that ends a run has arrived.
    signals: OwnedFd,
    /// The signal mask from before [`Parent::new`].
    mask: libc::sigset_t,
    pid: pid_t,
}

impl Parent {
    /// Blocks the signals that end a run; [`Parent::signals`] reports them.
    ///
    /// # Errors
    /// The system has no more descriptors, or refuses the mask.
    pub fn new() -> io::Result<Parent> {
        let lifetime_pipe = pipe()?;
        // SAFETY: sets are initialised before they are used, and descriptors are new and ours.
        unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            let mut mask: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut set);
            for signal in SIGNALS {
                libc::sigaddset(&raw mut set, signal);
            }
            let signals = check(libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC))?;
            let signals = OwnedFd::from_raw_fd(signals);
            check(libc::sigprocmask(
                libc::SIG_BLOCK,
                &raw const set,
                &raw mut mask,
            ))?;
            Ok(Parent {
                lifetime_pipe,
                signals,
                mask,
                pid: libc::getpid(),
            })
        }
    }

    /// A descriptor that is readable when a signal that ends a run has arrived.
    pub fn signals(&self) -> RawFd {
        self.signals.as_raw_fd()
    }

    /// Starts a process that calls `body` with its ends of two pipes, one to write to and one to read
    /// from. The new process closes the descriptors `parent_only`.
    ///
    /// # Errors
    /// The system cannot make the process or a pipe.
    pub fn start(&self, parent_only: &[RawFd], body: impl FnOnce(File, File)) -> io::Result<Child> {
        let (from_member, messages) = pipe()?;
        let (inbox, to_member) = pipe()?;
        // SAFETY: the process has one thread, so no lock is taken in the new one.
        let pid = check(unsafe { libc::fork() })?;
        if pid == 0 {
            drop((from_member, to_member));
            // The values on the stack below belong to the parent, and must not be dropped here.
            let _ = catch_unwind(AssertUnwindSafe(|| {
                if self.prepare_member(parent_only).is_ok() {
                    body(File::from(messages), File::from(inbox));
                }
            }));
            // SAFETY: ends the process; nothing is buffered.
            unsafe { libc::_exit(ORPHAN_STATUS) }
        }
        Ok(Child {
            pid,
            from_member: File::from(from_member),
            to_member: File::from(to_member),
        })
    }

    /// Prepares a new process: it ends with its parent, has none of the parent's descriptors, and has
    /// no standard input and output.
    fn prepare_member(&self, parent_only: &[RawFd]) -> io::Result<()> {
        // SAFETY: system calls without pointers to memory of ours but the mask; the descriptors that
        // are closed belong to values that this process never uses or drops.
        unsafe {
            check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
            if libc::getppid() != self.pid {
                libc::_exit(ORPHAN_STATUS);
            }
            libc::close(self.lifetime_pipe.1.as_raw_fd());
            libc::close(self.signals.as_raw_fd());
            for &descriptor in parent_only {
                libc::close(descriptor);
            }
            // Only the parent writes to standard output.
            let null = check(libc::open(c"/dev/null".as_ptr(), libc::O_RDWR))?;
            check(libc::dup2(null, libc::STDIN_FILENO))?;
            check(libc::dup2(null, libc::STDOUT_FILENO))?;
            libc::close(null);
            check(libc::sigprocmask(
                libc::SIG_SETMASK,
                &raw const self.mask,
                std::ptr::null_mut(),
            ))?;
        }
        let lifetime = self.lifetime_pipe.0.as_raw_fd();
        thread::Builder::new()
            .name("lifetime".to_owned())
            .spawn(move || {
                // SAFETY: the descriptor stays open for as long as the process runs.
                let mut lifetime = unsafe { File::from_raw_fd(lifetime) };
                // Nothing is ever written to the pipe, so this returns when the parent has ended.
                let _ = lifetime.read(&mut [0]);
                // SAFETY: ends the process.
                unsafe { libc::_exit(ORPHAN_STATUS) }
            })?;
        Ok(())
    }

    /// From now on a signal ends the process within a second. Without this a process that writes its
    /// answer to a pipe that nobody reads could not be ended.
    pub fn finish_on_signal(&self) {
        extern "C" fn exit_later(_: c_int) {
            // SAFETY: allowed in a signal handler.
            unsafe { libc::alarm(1) };
        }
        extern "C" fn exit_now(_: c_int) {
            // SAFETY: allowed in a signal handler.
            unsafe { libc::_exit(0) };
        }
        let exit_later = exit_later as extern "C" fn(c_int) as libc::sighandler_t;
        let exit_now = exit_now as extern "C" fn(c_int) as libc::sighandler_t;
        // SAFETY: the handlers make only calls that are allowed in signal handlers.
        unsafe {
            libc::signal(libc::SIGALRM, exit_now);
            for signal in SIGNALS {
                libc::signal(signal, exit_later);
            }
            libc::sigprocmask(
                libc::SIG_SETMASK,
                &raw const self.mask,
                std::ptr::null_mut(),
            );
        }
    }
}

/// A pipe: the end to read from, and the end to write to.
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: the call fills the array with descriptors, which are new and ours.
    unsafe {
        check(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC))?;
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

/// The result of a system call, or its error.
fn check(result: c_int) -> io::Result<c_int> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}

/// Makes reads and writes return `WouldBlock` where they would block.
///
/// # Errors
/// The system refuses it.
pub fn set_nonblocking(file: &File) -> io::Result<()> {
    // SAFETY: the descriptor is open.
    unsafe {
        let flags = check(libc::fcntl(file.as_raw_fd(), libc::F_GETFL))?;
        check(libc::fcntl(
            file.as_raw_fd(),
            libc::F_SETFL,
            flags | libc::O_NONBLOCK,
        ))?;
    }
    Ok(())
}

/// Waits until one of the descriptors can be read or has been closed at the other end, or until the
/// time limit. For each descriptor the result says whether it can be read.
///
/// # Errors
/// `poll` fails.
pub fn wait_readable(
    descriptors: &[RawFd],
    limit: Option<std::time::Duration>,
) -> io::Result<Vec<bool>> {
    let mut polled: Vec<libc::pollfd> = descriptors
        .iter()
        .map(|&fd| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        })
        .collect();
    // Rounded up, since the caller would loop without waiting if it were rounded to zero.
    let limit = limit.map_or(-1, |t| {
        c_int::try_from(t.as_micros().div_ceil(1000)).unwrap_or(c_int::MAX)
    });
    let count = libc::nfds_t::try_from(polled.len()).unwrap_or(0);
    // SAFETY: `count` is the length of the array.
    match check(unsafe { libc::poll(polled.as_mut_ptr(), count, limit) }) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
        Err(error) => return Err(error),
    }
    Ok(polled.iter().map(|p| p.revents != 0).collect())
}

/// Lowers the priority of this process, so that the first member is slowed down less where there are
/// fewer cores than processes. If the system refuses, nothing changes.
pub fn lower_priority() {
    // SAFETY: a system call without pointers, about this process.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, LIMITS.niceness) };
}

/// Sends a signal to a child process that has not been waited for.
pub fn send_signal(pid: pid_t, signal: c_int) {
    // SAFETY: the id belongs to that process until it is waited for.
    unsafe { libc::kill(pid, signal) };
}

/// Waits for the end of a child process. The result is a text that says how it ended.
pub fn wait_for_exit(pid: pid_t) -> String {
    let mut status = 0;
    loop {
        // SAFETY: the pointer is to a variable of ours.
        let result = check(unsafe { libc::waitpid(pid, &raw mut status, 0) });
        match result {
            Ok(_) if libc::WIFSIGNALED(status) => {
                return format!("ended by signal {}", libc::WTERMSIG(status));
            }
            Ok(_) => return format!("ended with status {}", libc::WEXITSTATUS(status)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return error.to_string(),
        }
    }
}
