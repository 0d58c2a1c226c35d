//! Imports go down only: a module imports from modules below it, never from those above.
//!
//! The order is the one of ARCHITECTURE.md, "Folders". Code for tests is left out: it may import
//! what it likes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Modules of the crate, each above those that follow.
const ORDER: [&str; 17] = [
    "report",
    "session",
    "cache",
    "strategy",
    "engine",
    "transform",
    "proof",
    "domain",
    "witness",
    "smt",
    "bits",
    "sat",
    "frontend",
    "chc",
    "arith",
    "run",
    "term",
];

/// Modules of the program, likewise. They see the library by its public face, as `alphorn::`.
const PROGRAM: [&str; 6] = [
    "portfolio",
    "dialogue",
    "supervise",
    "statistics",
    "files",
    "cli",
];

/// What only one of the modules may know.
const OWN: [(&str, &str); 3] = [
    ("z3_sys::", "smt"),
    ("batsat::", "sat"),
    ("cadical_sys::", "sat"),
];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("tests") {
            continue;
        }
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// The code of a file up to its tests, without comments.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).expect("a readable file");
    let code = text.split("#[cfg(test)]\nmod tests").next();
    let lines = code.unwrap_or_default().lines();
    let lines = lines.filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The modules named after `crate::`, also in a list of braces.
fn imported(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_');
        match name.clone().next() {
            Some("") => found.extend(top_names(rest)),
            Some(name) => {
                found.insert(name.to_owned());
            }
            None => {}
        }
    }
    found
}

/// The names at the outer level of `{a::…, b::{…}}`.
fn top_names(list: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut depth = 0;
    let mut name = String::new();
    let mut open = true;
    for c in list.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => open = true,
            c if depth == 1 && open && (c.is_alphanumeric() || c == '_') => name.push(c),
            c if depth == 1 && !c.is_whitespace() => open = false,
            _ => {}
        }
        if (!open || c == ',' || depth == 0) && !name.is_empty() {
            names.push(std::mem::take(&mut name));
        }
        if depth == 0 {
            break;
        }
    }
    names
}

#[test]
fn lists_of_imports_are_read() {
    let all = imported("use crate::{a::b, c::{d, e}, f};\nuse crate::g::{h, i}; crate::j::k()");
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    assert_eq!(all, ["a", "c", "f", "g", "j"]);
}

#[test]
fn imports_go_down() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let order: Vec<&str> = [&PROGRAM[..], &ORDER].concat();
    let level = |name: &str| order.iter().position(|m| *m == name);
    let mut wrong: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for &module in &order {
        let mut own = Vec::new();
        let file = src.join(module).with_extension("rs");
        if file.exists() {
            own.push(file);
        } else {
            files(&src.join(module), &mut own);
        }
        assert!(!own.is_empty(), "{module} has files");
        for path in own {
            let code = code(&path);
            let up = imported(&code).into_iter();
            let up: Vec<String> = up.filter(|name| level(name) < level(module)).collect();
            let name = path
                .strip_prefix(&src)
                .expect("below")
                .display()
                .to_string();
            for module in up {
                wrong.entry(name.clone()).or_default().insert(module);
            }
            for (text, owner) in OWN {
                if module != owner && code.contains(text) {
                    wrong
                        .entry(name.clone())
                        .or_default()
                        .insert(text.to_owned());
                }
            }
        }
    }
    assert!(wrong.is_empty(), "imports that go up: {wrong:#?}");
}

#[test]
fn all_modules_have_their_place() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (root, order) in [("lib.rs", &ORDER[..]), ("main.rs", &PROGRAM)] {
        let text = code(&src.join(root));
        let modules = text.lines().filter_map(|line| {
            let line = line.trim().strip_suffix(';')?;
            line.strip_prefix("pub ")
                .unwrap_or(line)
                .strip_prefix("mod ")
        });
        for module in modules {
            assert!(order.contains(&module), "{module} is not in the order");
        }
    }
}
