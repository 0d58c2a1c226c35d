//! Broken certificates, each with a part of its message.
//!
//! # Invariant
//! Only data without names of the library, since a test with other solvers includes this file, too.

mod absurd;
mod others;
mod twice;

pub use absurd::ABSURD;
pub use others::{APPEND, DOUBLE, FLAGS, PARITY, SORT, TWO};
pub use twice::TWICE;

/// A certificate that has to be rejected.
pub struct Broken {
    /// The proof, and how it is broken.
    pub name: String,
    pub clauses: &'static str,
    pub witness: String,
    /// A part of the message.
    pub message: &'static str,
}

/// Clauses with a correct certified model, and changes that break it.
pub struct Proof {
    pub name: &'static str,
    pub clauses: &'static str,
    pub witness: &'static str,
    pub breaks: &'static [Break],
}

/// A change that breaks a proof: its name, a part of the proof, the text that replaces all its
/// occurrences, and a part of the message.
pub type Break = (&'static str, &'static str, &'static str, &'static str);

impl Proof {
    /// All broken certificates. Each change has to change something.
    pub fn broken(&self) -> Vec<Broken> {
        let broken = self.breaks.iter().map(|&(name, part, instead, message)| {
            assert!(self.witness.contains(part), "{}, {name}: {part}", self.name);
            assert_ne!(part, instead, "{}, {name}", self.name);
            Broken {
                name: format!("{}: {name}", self.name),
                clauses: self.clauses,
                witness: self.witness.replace(part, instead),
                message,
            }
        });
        broken.collect()
    }
}

/// All correct proofs.
pub const PROOFS: [&Proof; 7] = [&TWICE, &APPEND, &SORT, &DOUBLE, &PARITY, &TWO, &FLAGS];

/// A name, clauses without a model, a witness that claims to be one, and a part of the message.
pub type Absurd = (&'static str, &'static str, &'static str, &'static str);

/// All broken certificates.
pub fn all() -> Vec<Broken> {
    let mut all: Vec<Broken> = PROOFS.iter().flat_map(|proof| proof.broken()).collect();
    all.extend(
        ABSURD
            .iter()
            .map(|&(name, clauses, witness, message)| Broken {
                name: format!("absurd: {name}"),
                clauses,
                witness: witness.to_owned(),
                message,
            }),
    );
    all
}
