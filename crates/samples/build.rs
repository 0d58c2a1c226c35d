//! Sets the run path of libz3 for the tests of this crate.

fn main() {
    alphorn_link::run_path();
}
