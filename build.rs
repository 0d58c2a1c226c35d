//! Lets the binaries find the pinned libz3 at run time.
//!
//! The library itself is put into `third_party/z3` by `scripts/setup`, and
//! linked by z3-sys as `.cargo/config.toml` tells it. What is left is the run
//! path: first relative to the binary, so that a project folder with its
//! `target/` can be moved, and a binary can be installed with libz3 next to it
//! or in `../lib`; last the absolute folder, for a `CARGO_TARGET_DIR` elsewhere.
//!
//! A copy of the crate alone (as `cargo package` makes it) takes libz3 from the folder that
//! `Z3_LIBRARY_PATH_OVERRIDE` names; programs that depend on it need a run path of their own.
//!
//! With the `vendored` feature, z3-src builds libz3 from source and links it
//! statically: that needs CMake and a C++ compiler, and none of this applies.
//! (It is z3-src's version of libz3, not the pinned one.)

use std::env;
use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=Z3_LIBRARY_PATH_OVERRIDE");
    if env::var_os("CARGO_FEATURE_VENDORED").is_some() {
        return;
    }

    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let lib = root.join("third_party/z3/lib");
    println!(
        "cargo::rerun-if-changed={}",
        root.join("third_party/z3/stamp").display()
    );
    let is_macos = env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "macos");
    let name = if is_macos { "libz3.dylib" } else { "libz3.so" };
    let given = env::var_os("Z3_LIBRARY_PATH_OVERRIDE").map(PathBuf::from);
    if !lib.join(name).exists() {
        // A copy of the crate without the project's folder: somebody says where libz3 is.
        let Some(given) = given.filter(|folder| folder.join(name).exists()) else {
            fail(
                "libz3 is missing: run scripts/setup first. In a copy of the crate without it, set \
                 Z3_LIBRARY_PATH_OVERRIDE to the folder lib/ of the Python package z3-solver 5.4.0.0, \
                 and Z3_NO_PKG_CONFIG=1; or use --features vendored",
            );
        };
        run_path(&given.display().to_string());
        return;
    }
    if given.as_deref() != Some(&*lib) {
        fail(
            "the settings in .cargo/config.toml are not in force: run cargo inside the \
             project's folder",
        );
    }

    // For target/PROFILE/ and for target/PROFILE/{deps,examples}/.
    let origin = if is_macos { "@loader_path" } else { "$ORIGIN" };
    run_path(&format!("{origin}/../../third_party/z3/lib"));
    run_path(&format!("{origin}/../../../third_party/z3/lib"));
    run_path(origin);
    run_path(&format!("{origin}/../lib"));
    run_path(&lib.display().to_string());
}

fn run_path(path: &str) {
    for arg in ["-Xlinker", "-rpath", "-Xlinker", path] {
        println!("cargo::rustc-link-arg={arg}");
    }
}

fn fail(message: &str) -> ! {
    println!("cargo::error={message}");
    std::process::exit(1);
}
