//! The command lines of members.
//!
//! Invariant: a command line has everything that a member's run depends on beside the text, so that a
//! user who runs it alone has the same member.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use alphorn::chc::Family;
use alphorn::witness::ProofFormat;

use super::Portfolio;
use super::schedule::{members, timeout};
use crate::cli::{Form, Source};

impl Portfolio<'_> {
    /// The command of the first member.
    pub(super) fn first_command(&self) -> Vec<OsString> {
        self.command(&[], self.invocation.timeout)
    }

    /// The command of a member after the first, at this position from 0, if this much time is left;
    /// `None` if there is no such member.
    pub(super) fn next_command(
        &self,
        family: Family,
        position: usize,
        left: Option<Duration>,
    ) -> Option<Vec<OsString>> {
        let slot = members(family).get(position)?;
        let limit = timeout(slot, left, self.jobs - 1);
        Some(self.command(slot.turn, limit))
    }

    /// The command of a member: its own options, its limits, and the user's options for the output.
    fn command(&self, own: &[&str], limit: Option<Duration>) -> Vec<OsString> {
        let mut words: Vec<String> = ["alphorn", "--jobs", "1"].map(str::to_owned).into();
        words.extend(own.iter().map(|&word| word.to_owned()));
        if let Some(limit) = limit {
            words.push(format!("--timeout={:.3}", limit.as_secs_f64().max(0.001)));
        }
        if let Some(whole) = self.invocation.memory_mib.or_else(physical_memory_mib) {
            let part = whole / u64::try_from(self.jobs).unwrap_or(u64::MAX).max(1);
            words.push(format!("--memory={}", part.max(1)));
        }
        words.push(format!("--threads={}", self.jobs));
        words.extend(self.solve.model.map(|kind| kind.option().to_owned()));
        match self.solve.proof {
            Some(ProofFormat::Text) => words.push("--proof".to_owned()),
            Some(ProofFormat::Json) => words.push("--proof=json".to_owned()),
            Some(ProofFormat::Z3) => words.push("--proof=z3".to_owned()),
            None => {}
        }
        if self.invocation.strict {
            words.push("--strict".to_owned());
        }
        if self.invocation.check_at_end {
            words.push("--check-at-end".to_owned());
        }
        if self.invocation.stats.is_some() {
            words.push("--stats=json".to_owned());
        }
        if self.solve.form != Form::Text {
            // The parent has the file, if there is one.
            words.push("--output=json".to_owned());
        }
        let mut words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
        self.add_files(&mut words, own.is_empty());
        words
    }

    /// Adds the options for files, and the input.
    fn add_files(&self, words: &mut Vec<OsString>, is_first: bool) {
        if let (Some(path), true) = (&self.solve.graph, is_first) {
            words.push("--graph".into());
            words.push(path.into());
        }
        if self.solve.hinted {
            words.push("--hinted".into());
        }
        if let Some(folder) = &self.solve.cache {
            words.push("--cache".into());
            words.push(folder.into());
        }
        if let Some(path) = &self.solve.certificate {
            words.push("--certificate".into());
            words.push(path.into());
        }
        match &self.solve.source {
            Source::Stdin => words.push("-".into()),
            Source::File(path) => {
                if !Path::new(path).is_absolute() {
                    words.push("--".into());
                }
                words.push(path.into());
            }
        }
    }
}

/// The memory of the machine, if the system has this information.
fn physical_memory_mib() -> Option<u64> {
    // SAFETY: system calls without pointers.
    let (pages, size) = unsafe {
        (
            libc::sysconf(libc::_SC_PHYS_PAGES),
            libc::sysconf(libc::_SC_PAGESIZE),
        )
    };
    let bytes = u64::try_from(pages).ok()? * u64::try_from(size).ok()?;
    Some(bytes >> 20).filter(|&mib| mib > 0)
}

/// A command in the syntax of a shell.
pub(super) fn shell_text(command: &[OsString]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,:+".contains(c);
    let words = command.iter().map(|word| {
        let word = word.to_string_lossy();
        if !word.is_empty() && word.chars().all(plain) {
            word.into_owned()
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    });
    words.collect::<Vec<_>>().join(" ")
}
