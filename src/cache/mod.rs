//! Answers kept on disk, for later runs on the same or similar clauses.
//!
//! An entry is a file with the text of a problem and its witness. First an entry of the same text is
//! used, then entries with the same predicates, then entries that share at least half of the
//! predicates. `strategy::hints` uses the witnesses and proves what it takes from them.
//!
//! Invariant: an entry is only a hint, so no entry can make an answer wrong. Damaged files and files of
//! other programs or versions are recognized and left alone.

use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;
use std::{fs, io};

use rustc_hash::{FxHashSet, FxHasher};
use serde_json::{Value, json};

use crate::strategy::{Config, ConfigError, Hint, solve_with_hints};
use alphorn_chc::frontend::Problem;
use alphorn_term::run::Context;
use alphorn_term::{Printer, TermStore};
use alphorn_witness::{ProofFormat, Validated, Verdict, Wanted};

/// The version of the format of entries.
const FORMAT: u64 = 1;
/// The extension of the files.
const EXTENSION: &str = "alphorn";

/// The limits of a cache.
struct Limits {
    /// The longest text or witness, in bytes, that is kept.
    text_bytes: usize,
    /// How many entries are kept; the oldest are removed.
    entries: usize,
    /// How many entries with other predicates are compared with the problem, the newest ones.
    compared_entries: usize,
    /// How many hints a run gets.
    hints: usize,
}

const LIMITS: Limits = Limits {
    text_bytes: 32 << 20,
    entries: 1000,
    compared_entries: 200,
    hints: 3,
};

/// A folder of entries.
pub struct Cache {
    folder: PathBuf,
}

/// A file with the name of an entry.
struct Entry {
    path: PathBuf,
    /// The hash of the predicates, from the name.
    predicates: u64,
    /// The hash of the text, from the name.
    text: u64,
    modified: SystemTime,
}

/// Why an entry cannot be used.
enum Unusable {
    /// It has another format or version, or does not exist any more.
    Foreign,
    /// Its content is not that of an entry.
    Damaged,
}

/// What an entry consists of.
struct Content {
    header: Value,
    body: Value,
}

impl Cache {
    /// Opens the cache in a folder, which is created if it does not exist.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub fn open(folder: &Path) -> io::Result<Cache> {
        fs::create_dir_all(folder)?;
        Ok(Cache {
            folder: folder.to_owned(),
        })
    }

    /// Answers that may help with a problem, the most promising ones first; if there is one to the same
    /// text, only this one. Their terms are made in the problem's term store.
    pub fn hints(&self, problem: &Problem) -> Vec<Hint> {
        let predicates = predicate_hashes(problem);
        let (own, text) = (hash(&predicates), hash(&*problem.text));
        let mut entries = self.entries();
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.modified));
        let same = entries
            .iter()
            .find(|e| e.predicates == own && e.text == text);
        if let Some(hint) = same.and_then(|entry| self.hint(entry, &problem.terms)) {
            return vec![hint];
        }
        let (similar, others): (Vec<Entry>, Vec<Entry>) = entries
            .into_iter()
            .partition(|entry| entry.predicates == own);
        let mut hints = Vec::new();
        for entry in &similar {
            if hints.len() < LIMITS.hints {
                hints.extend(self.hint(entry, &problem.terms));
            }
        }
        if hints.is_empty() {
            let wanted: FxHashSet<u64> = predicates.iter().copied().collect();
            let shared = |entry: &Entry| {
                let header = read(&entry.path).ok()?.header;
                let found = header["predicates"]
                    .as_array()?
                    .iter()
                    .filter_map(Value::as_u64);
                Some(found.filter(|hash| wanted.contains(hash)).count())
            };
            let mut ranked: Vec<(usize, &Entry)> = others
                .iter()
                .take(LIMITS.compared_entries)
                .filter_map(|entry| Some((shared(entry)?, entry)))
                .filter(|&(shared, _)| shared > 0 && shared * 2 >= wanted.len())
                .collect();
            // The sort is stable, so of entries that share equally many the newest ones are first.
            ranked.sort_by_key(|&(shared, _)| std::cmp::Reverse(shared));
            let found = ranked
                .iter()
                .filter_map(|(_, entry)| self.hint(entry, &problem.terms));
            hints.extend(found.take(LIMITS.hints));
        }
        hints
    }

    /// Decides a problem with the hints of the cache, and keeps the answer.
    ///
    /// # Errors
    /// The configuration is invalid.
    pub fn solve(
        &self,
        problem: &Problem,
        config: &Config,
        cx: &mut Context,
    ) -> Result<Validated, ConfigError> {
        let answer = solve_with_hints(problem, config, &self.hints(problem), |_| (), cx)?;
        self.store(problem, &answer);
        Ok(answer)
    }

    /// Keeps an answer, unless it is `unknown` or too long. If it cannot be written, this is logged.
    pub fn store(&self, problem: &Problem, answer: &Validated) {
        if matches!(answer.verdict(), Verdict::Unknown(_)) {
            return;
        }
        let wanted = Wanted {
            model: true,
            proof: Some(ProofFormat::Text),
            ..Wanted::default()
        };
        let output = answer.output(problem, wanted);
        let witness = output.details();
        if problem.text.len().max(witness.len()) > LIMITS.text_bytes {
            return;
        }
        let predicates = predicate_hashes(problem);
        let (own, text) = (hash(&predicates), hash(&*problem.text));
        let body = json!({"text": &*problem.text, "witness": witness}).to_string();
        let header = json!({
            "alphorn-cache": FORMAT,
            "version": env!("CARGO_PKG_VERSION"),
            "sum": hash(&body),
            "predicates": predicates,
        });
        let name = format!("{own:016x}-{text:016x}.{EXTENSION}");
        let unfinished = self.folder.join(format!("{name}.{}", std::process::id()));
        let written = fs::write(&unfinished, format!("{header}\n{body}\n"))
            .and_then(|()| fs::rename(&unfinished, self.folder.join(name)));
        if let Err(error) = written {
            let _ = fs::remove_file(&unfinished);
            log::warn!("cannot write to the cache: {error}");
        }
        self.remove_oldest();
    }

    /// Removes the oldest entries if there are too many.
    fn remove_oldest(&self) {
        let mut entries = self.entries();
        if entries.len() > LIMITS.entries {
            entries.sort_by_key(|entry| entry.modified);
            for entry in &entries[..entries.len() - LIMITS.entries] {
                let _ = fs::remove_file(&entry.path);
            }
        }
    }

    /// The files with names of entries.
    fn entries(&self) -> Vec<Entry> {
        let Ok(files) = fs::read_dir(&self.folder) else {
            return Vec::new();
        };
        let entry = |file: io::Result<fs::DirEntry>| {
            let path = file.ok()?.path();
            let (predicates, text) = path.file_stem()?.to_str()?.split_once('-')?;
            let hash = |digits: &str| u64::from_str_radix(digits, 16).ok();
            let (predicates, text) = (hash(predicates)?, hash(text)?);
            let modified = path.metadata().and_then(|data| data.modified());
            (path.extension()? == EXTENSION).then_some(Entry {
                modified: modified.ok()?,
                path,
                predicates,
                text,
            })
        };
        files.filter_map(entry).collect()
    }

    /// The witness of an entry, read into these terms. If it cannot be used, this is logged.
    fn hint(&self, entry: &Entry, terms: &Rc<TermStore>) -> Option<Hint> {
        let found = read(&entry.path).and_then(|Content { body, .. }| {
            let text = body["text"].as_str().ok_or(Unusable::Damaged)?;
            let witness = body["witness"].as_str().ok_or(Unusable::Damaged)?;
            Hint::read(text, witness, terms).ok_or(Unusable::Damaged)
        });
        match found {
            Ok(hint) => Some(hint),
            Err(Unusable::Foreign) => {
                log::info!(
                    "{} is not an entry of this version of the cache",
                    entry.path.display()
                );
                None
            }
            Err(Unusable::Damaged) => {
                log::warn!("{} is damaged and is not used", entry.path.display());
                None
            }
        }
    }
}

/// Reads an entry.
fn read(path: &Path) -> Result<Content, Unusable> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::InvalidData => return Err(Unusable::Damaged),
        Err(_) => return Err(Unusable::Foreign),
    };
    let (header, body) = text.split_once('\n').ok_or(Unusable::Damaged)?;
    let header: Value = serde_json::from_str(header).map_err(|_| Unusable::Damaged)?;
    let version = header["version"].as_str();
    if header["alphorn-cache"] != FORMAT || version != Some(env!("CARGO_PKG_VERSION")) {
        return Err(Unusable::Foreign);
    }
    let body = body.trim_end_matches('\n');
    if header["sum"].as_u64() != Some(hash(body)) {
        return Err(Unusable::Damaged);
    }
    let body = serde_json::from_str(body).map_err(|_| Unusable::Damaged)?;
    Ok(Content { header, body })
}

/// The hashes of the predicates with their sorts, in ascending order.
fn predicate_hashes(problem: &Problem) -> Vec<u64> {
    let terms = &problem.terms;
    let printer = Printer::new(terms);
    let of = |predicate: &alphorn_chc::Predicate| {
        let sorts = predicate
            .params
            .iter()
            .map(|&p| printer.sort(terms.sort_of(p)));
        hash(&(predicate.name.as_str(), sorts.collect::<Vec<String>>()))
    };
    let mut hashes: Vec<u64> = problem.predicates.iter().map(of).collect();
    hashes.sort_unstable();
    hashes
}

fn hash<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests;
