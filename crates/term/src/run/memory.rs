//! The memory that this process uses.
//!
//! Invariant: if the system does not give the number, the result is `None`, not zero.

/// The resident memory of this process in MiB, from `/proc`; `None` where there is none.
pub fn memory_mib() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split(' ').nth(1)?.parse().ok()?;
    // SAFETY: `sysconf` only reads a constant of the system.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    Some((pages * u64::try_from(page).ok()?) >> 20)
}
