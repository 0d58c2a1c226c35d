//! The run path of libz3, for the library.

fn main() {
    alphorn_link::run_path();
}
