//! Names of theories that are not supported, for messages that name the theory.
//!
//! Invariant: only names that the user has not declared are looked up here.

/// What to say about an undeclared name of a function or sort, after its name; empty if it is of no
/// known theory.
pub(super) fn unsupported_theory(name: &str) -> &'static str {
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    if name == "String" || name == "RegLan" || begins(&["str.", "re.", "int.to.str"]) {
        return STRINGS;
    }
    if matches!(
        name,
        "FloatingPoint"
            | "Float16"
            | "Float32"
            | "Float64"
            | "Float128"
            | "RoundingMode"
            | "to_fp"
            | "to_fp_unsigned"
            | "+oo"
            | "-oo"
            | "+zero"
            | "-zero"
            | "NaN"
            | "RNE"
            | "RNA"
            | "RTP"
            | "RTN"
            | "RTZ"
    ) || begins(&["fp.", "roundNearest", "roundToward"])
        || name == "fp"
    {
        return ": floating-point numbers are not supported; write `Real` or bit-vectors";
    }
    if name == "Seq" || begins(&["seq."]) {
        return ": sequences are not supported; write a datatype of lists, or an array and its length";
    }
    if matches!(name, "Set" | "Bag" | "Relation") || begins(&["set.", "bag.", "rel."]) {
        return ": sets are not supported; write arrays to `Bool`";
    }
    if name == "FiniteField" || begins(&["ff."]) {
        return ": finite fields are not supported; write `Int` with `mod`";
    }
    if matches!(
        name,
        "sin" | "cos" | "tan" | "exp" | "^" | "sqrt" | "real.pi"
    ) {
        return ": of arithmetic only `+`, `-`, `*`, `/`, `div`, `mod` and comparisons are supported";
    }
    if matches!(name, "pto" | "sep" | "wand" | "sep.nil" | "sep.emp") {
        return ": separation logic is not supported; write arrays";
    }
    ""
}

/// What to say about strings.
pub(super) const STRINGS: &str =
    ": strings are not supported; write numbers if they are only compared";
