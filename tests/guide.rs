//! What the README and the guide (`docs/`) say is true: tables are those of the registries, examples
//! are real output, and every engine, pass, domain and option has its place.
//!
//! With `ALPHORN_BLESS=1` in the environment the tests write tables, examples and the picture anew
//! instead of comparing them.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use alphorn::chc::{Shape, Theories};
use alphorn::internal::ENGINES;
use alphorn_transform::PASSES;

/// Commands with their output in the README and in the guide: at least as many are found.
const EXAMPLES: usize = 6;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All Markdown files below a folder.
fn markdown(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(markdown(&path));
        } else if path.extension().is_some_and(|e| e == "md") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The README and the pages of the guide.
fn pages() -> Vec<PathBuf> {
    let mut pages = markdown(&root().join("docs/src"));
    pages.push(root().join("README.md"));
    pages
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Compares a file with what it should be, or writes it.
fn expect(path: &Path, wanted: &str) {
    let found = fs::read_to_string(path).unwrap_or_default();
    if found == wanted {
        return;
    }
    if env::var("ALPHORN_BLESS").is_ok_and(|value| value == "1") {
        fs::write(path, wanted).expect("a file that can be written");
        return;
    }
    let mut lines = found.lines().zip(wanted.lines());
    let (found, wanted) = lines.find(|(a, b)| a != b).unwrap_or_default();
    panic!(
        "{} is not up to date (ALPHORN_BLESS=1 writes it anew)\nfound:  {found}\nwanted: {wanted}",
        path.display()
    );
}

/// A cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// The engines with what they do.
fn engines() -> String {
    let mut out = "| engine | idea |\n|---|---|\n".to_owned();
    for entry in &ENGINES {
        let (name, about) = (entry.name, cell(entry.about));
        let _ = writeln!(out, "| [`{name}`](engines/{name}.md) | {about} |");
    }
    out
}

/// What may occur in a system: a name, and what has it in a shape.
type Feature = (&'static str, fn(&mut Shape));

const FEATURES: [Feature; 7] = [
    ("several body atoms", |s| s.linear = false),
    ("Int", |s| s.theories.int = true),
    ("Real", |s| s.theories.real = true),
    ("bit-vectors", |s| s.theories.bitvec = true),
    ("arrays", |s| s.theories.array = true),
    ("datatypes", |s| s.theories.datatype = true),
    ("quantifiers", |s| s.theories.quantifier = true),
];

/// What engines take, as each says of the shape of a system.
fn support() -> String {
    let names: Vec<&str> = FEATURES.iter().map(|(name, _)| *name).collect();
    let mut out = format!("| engine | {} |\n|---|", names.join(" | "));
    out += &"---|".repeat(names.len());
    out += "\n";
    for entry in &ENGINES {
        let engine = (entry.make)();
        let taken: Vec<usize> = (0..1 << FEATURES.len())
            .filter(|set| {
                let mut shape = Shape {
                    linear: true,
                    relates_facts: true,
                    theories: Theories::default(),
                    ..Shape::default()
                };
                for (at, (_, add)) in FEATURES.iter().enumerate() {
                    if set & (1 << at) != 0 {
                        add(&mut shape);
                    }
                }
                engine.supports(&shape).is_ok()
            })
            .collect();
        let _ = write!(out, "| [`{0}`](engines/{0}.md) |", entry.name);
        for at in 0..FEATURES.len() {
            let has = |set: &&usize| *set & (1 << at) != 0;
            let with = taken.iter().filter(has).count();
            out += match with {
                0 => " |",
                n if n == taken.len() => " needed |",
                _ => " yes |",
            };
        }
        out += "\n";
    }
    out
}

/// The settings of an engine.
fn settings(name: &str) -> String {
    let entry = ENGINES.iter().find(|entry| entry.name == name);
    let entry = entry.unwrap_or_else(|| panic!("there is no engine {name}"));
    let mut engine = (entry.make)();
    let settings = engine.settings();
    if settings.is_empty() {
        return "None.\n".to_owned();
    }
    let mut out = "| setting | default | values | meaning |\n|---|---|---|---|\n".to_owned();
    for setting in settings {
        let about: Vec<&str> = setting.about.iter().map(|line| line.trim()).collect();
        let mut about = cell(&about.join(" "));
        if let Some(source) = setting.source {
            let _ = write!(about, " Source: {}.", cell(source));
        }
        if let Some(paper) = setting.paper {
            let _ = write!(about, " With `{name}.as-in-paper=true`: `{paper}`.");
        }
        let (value, range) = (cell(&setting.value.show()), cell(&setting.value.range()));
        let _ = writeln!(
            out,
            "| `{name}.{}` | `{value}` | {range} | {about} |",
            setting.name
        );
    }
    out
}

/// The passes in their order.
fn passes() -> String {
    let mut out =
        "| pass | what it does | when it runs | in the default |\n|---|---|---|---|\n".to_owned();
    for pass in PASSES {
        let (name, summary) = (pass.name, cell(pass.summary));
        let turn = format!("{:?}", pass.timing).to_lowercase();
        let default = if pass.default { "yes" } else { "no" };
        let _ = writeln!(
            out,
            "| [`{name}`](passes/{name}.md) | {summary} | {turn} | {default} |"
        );
    }
    out
}

/// What stands between two markers.
fn generated(name: &str) -> String {
    match name.split_once(' ') {
        None if name == "engines" => engines(),
        None if name == "support" => support(),
        None if name == "passes" => passes(),
        Some(("settings", engine)) => settings(engine),
        _ => panic!("nothing is generated by the name {name:?}"),
    }
}

const BEGIN: &str = "<!-- generated: ";
const CLOSE: &str = " -->\n";
const END: &str = "<!-- end of generated -->";

/// A page with its generated parts made anew.
fn with_tables(path: &Path, text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let (name, after) = after.split_once(CLOSE).expect("the end of a marker");
        let (_, after) = after
            .split_once(END)
            .unwrap_or_else(|| panic!("{}: no end of {name}", path.display()));
        out += &format!("{before}{BEGIN}{name}{CLOSE}\n{}\n{END}", generated(name));
        rest = after;
    }
    out + rest
}

#[test]
fn tables_are_those_of_the_registries() {
    let mut whole = String::new();
    for path in pages() {
        let text = read(&path);
        expect(&path, &with_tables(&path, &text));
        whole += &text;
    }
    let tables = ["engines", "support", "passes"].map(str::to_owned);
    let settings = ENGINES
        .iter()
        .map(|entry| format!("settings {}", entry.name));
    for name in tables.into_iter().chain(settings) {
        let marker = format!("{BEGIN}{name}{CLOSE}");
        assert_eq!(whole.matches(&marker).count(), 1, "{name}");
    }
}

#[test]
fn every_engine_and_every_pass_has_a_page() {
    let names = |folder: &str| -> BTreeSet<String> {
        let pages = markdown(&root().join("docs/src").join(folder));
        let stem = |path: PathBuf| path.file_stem().map(|s| s.to_string_lossy().into_owned());
        pages.into_iter().filter_map(stem).collect()
    };
    let engines: BTreeSet<String> = ENGINES.iter().map(|entry| entry.name.to_owned()).collect();
    assert_eq!(names("engines"), engines, "pages in docs/src/engines");
    let passes: BTreeSet<String> = PASSES.iter().map(|pass| pass.name.to_owned()).collect();
    assert_eq!(names("passes"), passes, "pages in docs/src/passes");

    let folder = root().join("docs/src");
    let summary = read(&folder.join("SUMMARY.md"));
    for path in markdown(&folder) {
        let name = path.strip_prefix(&folder).expect("a page of the guide");
        let name = name.to_string_lossy();
        if name != "SUMMARY.md" {
            assert_eq!(summary.matches(&format!("]({name})")).count(), 1, "{name}");
        }
    }
}

/// The names of `--domain` are those of the page about domains, and each has a row there.
#[test]
fn every_domain_has_a_row() {
    let vinta = ENGINES.iter().find(|entry| entry.name == "vinta");
    let mut engine = (vinta.expect("an engine with domains").make)();
    let settings = engine.settings();
    let domain = settings.iter().find(|setting| setting.name == "domain");
    let names = domain.expect("a setting").value.range();
    let page = read(&root().join("docs/src/domains.md"));
    for name in names.split(" or ") {
        assert!(page.contains(&format!("| `{name}` |")), "{name}");
    }
}

fn alphorn(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_alphorn"))
        .current_dir(root())
        // Which of several witnesses is found may depend on the machine without this option.
        .arg("--deterministic")
        .args(args)
        .output()
        .expect("the program");
    String::from_utf8(output.stdout).expect("text")
}

/// A page with the output of the commands in it made anew, and how many there are.
fn with_examples(text: &str) -> (String, usize) {
    const COMMAND: &str = "```\n$ scripts/solve ";
    let mut blocks = text.split(COMMAND);
    let mut out = blocks.next().unwrap_or_default().to_owned();
    let mut count = 0;
    for block in blocks {
        let (command, rest) = block.split_once('\n').expect("a command in a line");
        let (_, after) = rest.split_once("```").expect("the end of a block");
        let output = alphorn(&command.split(' ').collect::<Vec<_>>());
        out += &format!("{COMMAND}{command}\n{output}```{after}");
        count += 1;
    }
    (out, count)
}

#[test]
fn examples_are_real_output() {
    let mut all = 0;
    for path in pages() {
        let (wanted, count) = with_examples(&read(&path));
        expect(&path, &wanted);
        all += count;
    }
    assert!(all >= EXAMPLES, "{all} examples");
}

/// The picture in the README is the graph on the page that `--report` writes.
#[test]
fn the_picture_is_that_of_the_report() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("page.html");
    let file = "horn-benchmarks/papers/vinta-fig2a-locations-safe.smt2";
    let verdict = alphorn(&[file, "--report", &page.to_string_lossy()]);
    assert_eq!(verdict, "sat\n");
    let page = read(&page);
    let between = |from: &str, to: &str| {
        let (_, rest) = page.split_once(from).expect("its beginning");
        rest.split_once(to).expect("its end").0.to_owned()
    };
    let style = between("<style>", "</style>");
    let graph = between("<svg ", "</svg>");
    let (attributes, content) = graph.split_once('>').expect("a tag");
    let picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" {attributes}>\n<style>{style}</style>\n\
         {content}</svg>\n"
    );
    expect(&root().join("docs/src/images/locations.svg"), &picture);
}

/// Every option of the table in the guide is in the help, and the other way round.
#[test]
fn the_guide_names_all_options() {
    let page = read(&root().join("docs/src/command-line.md"));
    let output = Command::new(env!("CARGO_BIN_EXE_alphorn"))
        .arg("--help")
        .output();
    let help = String::from_utf8(output.expect("the program").stdout).expect("text");
    let options = |text: &str| -> BTreeSet<String> {
        let letter = |c: &char| c.is_ascii_lowercase() || *c == '-';
        let names = text.split("--").skip(1);
        let names = names.map(|rest| rest.chars().take_while(letter).collect::<String>());
        names
            .filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))
            .collect()
    };
    let section = page.split("\n## ").find(|s| s.starts_with("Options\n"));
    let in_page = options(section.expect("a section on options"));
    let mut in_help = options(&help);
    // Short forms are enough for these.
    for known in ["help", "version", "verbose", "quiet"] {
        in_help.remove(known);
    }
    assert_eq!(in_page, in_help);
}
