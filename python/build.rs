//! Run paths of the extension module.
//!
//! On Linux there are none: `alphorn/__init__.py` loads the libz3 of the package `z3-solver` first, and
//! the loader knows a library by the name that is recorded in it. On macOS that name has a run path
//! in it, so the module gets the one to the package next to it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "macos") {
        println!("cargo::rustc-link-arg-cdylib=-Wl,-rpath,@loader_path/../z3/lib");
    }
}
