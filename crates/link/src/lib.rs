//! Run paths to the pinned libz3, for the build scripts of alphorn's crates.
//!
//! `scripts/setup` puts libz3 into `third_party/z3`, and z3-sys links it with the settings in
//! `.cargo/config.toml`. Each package with a binary or a test sets its run path with [`run_path`]:
//! first relative to the binary, so that a project folder with its `target/` can be moved, and a
//! binary can be installed with libz3 next to it or in `../lib`; then the absolute folder, for a
//! `CARGO_TARGET_DIR` elsewhere.
//!
//! Crates outside of the project's folder (as `cargo package` makes them, and those that depend on
//! alphorn) take libz3 from the folder in `Z3_LIBRARY_PATH_OVERRIDE`; programs that depend on them have to
//! set a run path.
//!
//! With the feature `vendored` of `alphorn-smt`, z3-src builds its own version of libz3 from source
//! and links it statically, and no run path is needed.
//!
//! Invariant: [`require_libz3`] ends the build with an error if there is no libz3, or if it is the
//! pinned one and the settings of the project are not in force.

use std::env;
use std::path::PathBuf;

/// The folders that may have libz3.
struct Place {
    /// `third_party/z3` in the project's folder; it need not exist.
    pinned: PathBuf,
    /// The folder in `Z3_LIBRARY_PATH_OVERRIDE`.
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

    /// The folder with libz3, if there is one.
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

/// Sets the run path of the package's binaries and tests; none if there is no libz3.
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
        // From target/PROFILE/ and from target/PROFILE/{deps,examples}/.
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

/// Ends the build with an error if there is no libz3, or if the settings of the project that link
/// the pinned one are not in force.
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
             folder; a crate that depends on alphorn has settings of its own, which the documentation \
             of the crate alphorn shows",
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
