//! The run path of libz3, for the program and its tests.

fn main() {
    alphorn_link::run_path();
}
