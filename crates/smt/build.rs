//! Ends the build early where libz3 is missing; the run path of the tests of this crate.

fn main() {
    if std::env::var_os("CARGO_FEATURE_VENDORED").is_none() {
        alphorn_link::require_libz3();
    }
    alphorn_link::run_path();
}
