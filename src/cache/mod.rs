//! Answers kept on disk, for later runs on the same clauses or similar ones.
//!
//! An entry is a file with the text of a problem and its witness. Which entries are tried is a
//! matter of names: the same text first, then those with the same predicates, then those that share
//! many. What is made of them is for `strategy::hints`, which proves anew whatever it uses.
//!
//! Invariant: nothing here can make an answer wrong. An entry that is damaged or somebody else's is
//! noticed and left alone, and what it says is a hint at most.

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

/// The form of entries; those of another one are left alone.
const FORM: u64 = 1;
const EXTENSION: &str = "alphorn";

/// Texts that are longer than this, in bytes, are not kept, nor are such witnesses.
const LONGEST: usize = 32 << 20;
/// So many entries are kept, the newest ones.
const MOST: usize = 1000;
/// Of entries with other predicates, so many are looked at, the newest ones.
const LOOKED_AT: usize = 200;
/// Hints of one run.
const HINTS: usize = 3;

/// A folder of entries.
pub struct Cache {
    folder: PathBuf,
}

/// A file that is called as entries are.
struct Entry {
    path: PathBuf,
    /// Hashes of the predicates, and of the text.
    predicates: u64,
    text: u64,
    modified: SystemTime,
}

/// Why an entry is of no use.
enum Useless {
    /// Of another form or version, or gone.
    Foreign,
    Damaged,
}

impl Cache {
    /// The cache in a folder, which is made if it is not there.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn open(folder: &Path) -> io::Result<Cache> {
        fs::create_dir_all(folder)?;
        Ok(Cache {
            folder: folder.to_owned(),
        })
    }

    /// Answers that may help with a problem, the most promising ones first; only one if it is for the
    /// very same text. They are read into the problem's store of terms.
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
        let (alike, others): (Vec<Entry>, Vec<Entry>) = entries
            .into_iter()
            .partition(|entry| entry.predicates == own);
        let mut hints = Vec::new();
        for entry in &alike {
            if hints.len() < HINTS {
                hints.extend(self.hint(entry, &problem.terms));
            }
        }
        if hints.is_empty() {
            let wanted: FxHashSet<u64> = predicates.iter().copied().collect();
            let shared = |entry: &Entry| {
                let header = read(&entry.path).ok()?.0;
                let found = header["predicates"]
                    .as_array()?
                    .iter()
                    .filter_map(Value::as_u64);
                Some(found.filter(|hash| wanted.contains(hash)).count())
            };
            let mut ranked: Vec<(usize, &Entry)> = others
                .iter()
                .take(LOOKED_AT)
                .filter_map(|entry| Some((shared(entry)?, entry)))
                .filter(|&(shared, _)| shared > 0 && shared * 2 >= wanted.len())
                .collect();
            // The newest one of those that share as many.
            ranked.sort_by_key(|&(shared, _)| std::cmp::Reverse(shared));
            let found = ranked
                .iter()
                .filter_map(|(_, entry)| self.hint(entry, &problem.terms));
            hints.extend(found.take(HINTS));
        }
        hints
    }

    /// Decides a problem, with what is known of it, and keeps the answer.
    ///
    /// # Errors
    /// What is wrong with the configuration.
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

    /// Keeps an answer. What cannot be written is said, and is no error.
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
        if problem.text.len().max(witness.len()) > LONGEST {
            return;
        }
        let predicates = predicate_hashes(problem);
        let (own, text) = (hash(&predicates), hash(&*problem.text));
        let body = json!({"text": &*problem.text, "witness": witness}).to_string();
        let header = json!({
            "alphorn-cache": FORM,
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
            log::warn!("the cache cannot keep an answer: {error}");
        }
        self.forget();
    }

    /// Removes the oldest entries of too many.
    fn forget(&self) {
        let mut entries = self.entries();
        if entries.len() > MOST {
            entries.sort_by_key(|entry| entry.modified);
            for entry in &entries[..entries.len() - MOST] {
                let _ = fs::remove_file(&entry.path);
            }
        }
    }

    /// The files that are called as entries are.
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

    /// What an entry says.
    fn hint(&self, entry: &Entry, terms: &Rc<TermStore>) -> Option<Hint> {
        let found = read(&entry.path).and_then(|(_, body)| {
            let text = body["text"].as_str().ok_or(Useless::Damaged)?;
            let witness = body["witness"].as_str().ok_or(Useless::Damaged)?;
            Hint::read(text, witness, terms).ok_or(Useless::Damaged)
        });
        match found {
            Ok(hint) => Some(hint),
            Err(Useless::Foreign) => {
                log::info!("{} is no entry of this cache", entry.path.display());
                None
            }
            Err(Useless::Damaged) => {
                log::warn!("{} is damaged, and is not used", entry.path.display());
                None
            }
        }
    }
}

/// An entry's header and body.
fn read(path: &Path) -> Result<(Value, Value), Useless> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::InvalidData => return Err(Useless::Damaged),
        Err(_) => return Err(Useless::Foreign),
    };
    let (header, body) = text.split_once('\n').ok_or(Useless::Damaged)?;
    let header: Value = serde_json::from_str(header).map_err(|_| Useless::Damaged)?;
    let version = header["version"].as_str();
    if header["alphorn-cache"] != FORM || version != Some(env!("CARGO_PKG_VERSION")) {
        return Err(Useless::Foreign);
    }
    let body = body.trim_end_matches('\n');
    if header["sum"].as_u64() != Some(hash(body)) {
        return Err(Useless::Damaged);
    }
    let body = serde_json::from_str(body).map_err(|_| Useless::Damaged)?;
    Ok((header, body))
}

/// Of the predicates with their sorts, ascending.
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
