//! The examples have the expected output.

#[path = "../examples/two_counters.rs"]
mod two_counters;

#[test]
fn two_counters_have_an_invariant_and_a_run() {
    let mut out = Vec::new();
    two_counters::run(&mut out).expect("an answer");
    let out = String::from_utf8(out).expect("text");
    let (invariant, reached) = out.split_once('\n').expect("two answers");
    assert!(invariant.starts_with("safe: (= (* 2 "), "{invariant}");
    let expected =
        [(0, 0), (1, 2), (2, 4), (3, 6)].map(|(x, y)| format!("reached: Loop({x}, {y})\n"));
    assert_eq!(reached, expected.concat());
}
