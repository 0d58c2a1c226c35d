//! The examples say what they are meant to say.

#[path = "../examples/two_counters.rs"]
mod two_counters;

#[test]
fn two_counters_have_an_invariant_and_a_run() {
    let mut out = Vec::new();
    two_counters::run(&mut out).expect("an answer");
    let expected = "safe; the invariant has 2 parameters
  holds of (2, 4): true
  holds of (2, 5): false
unsafe:
  Loop(0, 0)
  Loop(1, 2)
  Loop(2, 4)
  Loop(3, 6)
";
    assert_eq!(String::from_utf8(out).expect("text"), expected);
}
