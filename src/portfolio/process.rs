//! Members as processes: how they begin, how they end with their parent, how they are ended.
//!
//! A member is a fork of the program, so it begins within a millisecond and has the very bytes that
//! its parent has read. That is sound because the parent has one thread, always. Members stay in its
//! process group: whoever stops, continues or kills the group means all of them.
//!
//! Invariant: a member outlives its parent by no more than a moment, however the parent ends. The
//! kernel kills it (`PR_SET_PDEATHSIG`; the thread that forks is the parent's only one, so it ends
//! with the process), and a thread of its own ends it when a pipe closes that nobody but the parent
//! holds open. A parent that was gone before the first of these was in force is noticed by its id.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use libc::{c_int, pid_t};

/// Signals that end a run.
const SIGNALS: [c_int; 4] = [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGXCPU];
/// How nice a member is that stands back: it has a third of what another has of the same core.
const STEP_BACK: c_int = 5;
/// The exit status of a member whose parent is gone.
const ORPHAN: c_int = 71;

/// A process that was started, the pipe that it talks through, and one that it hears.
pub struct Child {
    pub pid: pid_t,
    pub pipe: File,
    pub hears: File,
}

/// Signals end the process again as they did before.
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

/// What a parent holds for its members.
pub struct Parent {
    /// Closes when the parent ends.
    life: (OwnedFd, OwnedFd),
    /// What ends a run from outside, as something to read from.
    signals: OwnedFd,
    /// The signals that were blocked before.
    mask: libc::sigset_t,
    pid: pid_t,
}

impl Parent {
    /// From now on signals that end a run are only seen by [`Parent::signals`].
    pub fn new() -> io::Result<Parent> {
        let life = pipe()?;
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
                life,
                signals,
                mask,
                pid: libc::getpid(),
            })
        }
    }

    /// Readable when a signal has come.
    pub fn signals(&self) -> RawFd {
        self.signals.as_raw_fd()
    }

    /// Starts a process that does `body` with its ends of two pipes, one to write to and one to read
    /// from. `foreign` are descriptors that only the parent is to have.
    ///
    /// # Errors
    /// There is no process or no pipe to be had.
    pub fn start(&self, foreign: &[RawFd], body: impl FnOnce(File, File)) -> io::Result<Child> {
        let (reading, writing) = pipe()?;
        let (inbox, hears) = pipe()?;
        // SAFETY: the process has one thread, so the new one may do whatever this one may.
        let pid = check(unsafe { libc::fork() })?;
        if pid == 0 {
            drop((reading, hears));
            // What is on the stack below belongs to the parent, and must not be dropped here.
            let _ = catch_unwind(AssertUnwindSafe(|| {
                if self.prepare(foreign).is_ok() {
                    body(File::from(writing), File::from(inbox));
                }
            }));
            // SAFETY: ends the process; nothing is buffered.
            unsafe { libc::_exit(ORPHAN) }
        }
        Ok(Child {
            pid,
            pipe: File::from(reading),
            hears: File::from(hears),
        })
    }

    /// What a new process does first.
    fn prepare(&self, foreign: &[RawFd]) -> io::Result<()> {
        // SAFETY: plain calls; the descriptors that are closed belong to values that this process
        // will never touch or drop.
        unsafe {
            check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
            if libc::getppid() != self.pid {
                libc::_exit(ORPHAN);
            }
            libc::close(self.life.1.as_raw_fd());
            libc::close(self.signals.as_raw_fd());
            for &descriptor in foreign {
                libc::close(descriptor);
            }
            // What goes to standard output is for the parent to say.
            let nowhere = check(libc::open(c"/dev/null".as_ptr(), libc::O_RDWR))?;
            check(libc::dup2(nowhere, libc::STDIN_FILENO))?;
            check(libc::dup2(nowhere, libc::STDOUT_FILENO))?;
            libc::close(nowhere);
            check(libc::sigprocmask(
                libc::SIG_SETMASK,
                &raw const self.mask,
                std::ptr::null_mut(),
            ))?;
        }
        let life = self.life.0.as_raw_fd();
        thread::Builder::new()
            .name("life".to_owned())
            .spawn(move || {
                // SAFETY: the descriptor stays open for as long as the process runs.
                let mut life = unsafe { File::from_raw_fd(life) };
                // Nothing is ever written: this returns when the parent is gone.
                let _ = life.read(&mut [0]);
                // SAFETY: ends the process.
                unsafe { libc::_exit(ORPHAN) }
            })?;
        Ok(())
    }

    /// From here on a signal ends the process a second later, for the case that it is stuck in an
    /// answer that nobody takes.
    pub fn last_words(&self) {
        extern "C" fn soon(_: c_int) {
            // SAFETY: safe in a handler.
            unsafe { libc::alarm(1) };
        }
        extern "C" fn now(_: c_int) {
            // SAFETY: safe in a handler.
            unsafe { libc::_exit(0) };
        }
        let soon = soon as extern "C" fn(c_int) as libc::sighandler_t;
        let now = now as extern "C" fn(c_int) as libc::sighandler_t;
        // SAFETY: the handlers do what is safe in handlers.
        unsafe {
            libc::signal(libc::SIGALRM, now);
            for signal in SIGNALS {
                libc::signal(signal, soon);
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

fn check(result: c_int) -> io::Result<c_int> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}

/// Makes reading and writing return at once, also when there is nothing to read and no place.
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

/// Waits until one of the descriptors can be read, or has ended; which of them. `None` for no
/// limit.
pub fn wait_for(
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
    // A part of a millisecond is one: nobody is to wait in a circle.
    let limit = limit.map_or(-1, |t| {
        c_int::try_from(t.as_micros().div_ceil(1000)).unwrap_or(c_int::MAX)
    });
    let count = libc::nfds_t::try_from(polled.len()).unwrap_or(0);
    // SAFETY: the array has as many elements as is said.
    match check(unsafe { libc::poll(polled.as_mut_ptr(), count, limit) }) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
        Err(error) => return Err(error),
    }
    Ok(polled.iter().map(|p| p.revents != 0).collect())
}

/// Lets others go first where there are fewer cores than processes. It may fail: then nobody does.
pub fn step_back() {
    // SAFETY: a plain call, about this process.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, STEP_BACK) };
}

/// Sends a signal to a process that was started here and has not been waited for.
pub fn send(pid: pid_t, signal: c_int) {
    // SAFETY: until it is waited for, the id belongs to that process.
    unsafe { libc::kill(pid, signal) };
}

/// Waits for the end of a process that was started here: what it ended with.
pub fn wait_end(pid: pid_t) -> String {
    let mut status = 0;
    loop {
        // SAFETY: the call fills the status.
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
