//! Lets binaries find the pinned libz3 at run time; for the build scripts of alphorn's crates.
//!
//! `scripts/setup` puts libz3 into `third_party/z3`, and z3-sys links it as `.cargo/config.toml`
//! says. What is left is the run path, which each package with a binary or a test sets for itself:
//! first relative to the binary, so that a project folder with its `target/` can be moved, and a
//! binary can be installed with libz3 next to it or in `../lib`; last the absolute folder, for a
//! `CARGO_TARGET_DIR` elsewhere.
//!
//! A copy of the crates alone (as `cargo package` makes it) takes libz3 from the folder that
//! `Z3_LIBRARY_PATH_OVERRIDE` names; programs that depend on it need a run path of their own.
//!
//! With the feature `vendored`, z3-src builds libz3 from source and links it statically: that needs
//! CMake and a C++ compiler, and none of this applies. (It is z3-src's version of libz3, not the
//! pinned one.)
//!
//! Invariant: without the feature, a build either has a run path to libz3 or ends with an error
//! that says what to do.

use std::env;
use std::path::PathBuf;

/// Where libz3 is, as a build script sees it.
struct Place {
    /// `third_party/z3` of the project's folder, whether it exists or not.
    pinned: PathBuf,
    /// The folder that the environment names.
    given: Option<PathBuf>,
    is_macos: bool,
}

impl Place {
    fn new() -> Place {
        let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
        let is_root = |folder: &&std::path::Path| folder.join("scripts/setup").exists();
        let root = package.ancestors().take(3).find(is_root);
        Place {
            pinned: root.unwrap_or(&package).join("third_party/z3"),
            given: env::var_os("Z3_LIBRARY_PATH_OVERRIDE").map(PathBuf::from),
            is_macos: env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "macos"),
        }
    }

    /// The folder that has libz3.
    fn library(&self) -> Option<PathBuf> {
        let name = if self.is_macos {
            "libz3.dylib"
        } else {
            "libz3.so"
        };
        let pinned = Some(self.pinned.join("lib"));
        let mut folders = [pinned, self.given.clone()].into_iter().flatten();
        folders.find(|folder| folder.join(name).exists())
    }
}

/// Sets the run path of the package's binaries and tests. Without libz3 there is none.
pub fn run_path() {
    let place = Place::new();
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=Z3_LIBRARY_PATH_OVERRIDE");
    println!(
        "cargo::rerun-if-changed={}",
        place.pinned.join("stamp").display()
    );
    let Some(library) = place.library() else {
        return;
    };
    if library.starts_with(&place.pinned) {
        // For target/PROFILE/ and for target/PROFILE/{deps,examples}/.
        let origin = match place.is_macos {
            true => "@loader_path",
            false => "$ORIGIN",
        };
        link_with_run_path(&format!("{origin}/../../third_party/z3/lib"));
        link_with_run_path(&format!("{origin}/../../../third_party/z3/lib"));
        link_with_run_path(origin);
        link_with_run_path(&format!("{origin}/../lib"));
    }
    link_with_run_path(&library.display().to_string());
}

/// Ends the build with an error if libz3 is not where the settings of the project say.
pub fn require_libz3() {
    let place = Place::new();
    let pinned = place.pinned.join("lib");
    match place.library() {
        None => fail(
            "libz3 is missing: run scripts/setup first. In a copy of the crates without it, set \
             Z3_LIBRARY_PATH_OVERRIDE to the folder lib/ of the Python package z3-solver 5.4.0.0, \
             and Z3_NO_PKG_CONFIG=1; or use --features vendored",
        ),
        Some(library) if library == pinned && place.given != Some(pinned) => fail(
            "the settings in .cargo/config.toml are not in force: run cargo inside the project's \
             folder",
        ),
        Some(_) => {}
    }
}

fn link_with_run_path(path: &str) {
    for arg in ["-Xlinker", "-rpath", "-Xlinker", path] {
        println!("cargo::rustc-link-arg={arg}");
    }
}

fn fail(message: &str) -> ! {
    println!("cargo::error={message}");
    std::process::exit(1);
}
