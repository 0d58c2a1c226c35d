//! The memory that this process has in use.
//!
//! Invariant: what the system does not say is `None`, not zero.

/// Resident memory in MiB.
pub fn memory_mib() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split(' ').nth(1)?.parse().ok()?;
    // SAFETY: asks for a constant.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    Some((pages * u64::try_from(page).ok()?) >> 20)
}
