//! Certificates that are broken, each in its own way, with a part of the message that says why.
//!
//! Invariant: only data, and no name of the library, so that the test that gives them to other
//! solvers has the same.

mod absurd;
mod others;
mod twice;

pub use absurd::ABSURD;
pub use others::{APPEND, DOUBLE, FLAGS, PARITY, SORT, TWO};
pub use twice::TWICE;

/// A certificate that must be refused.
pub struct Broken {
    /// Which proof is broken, and how.
    pub name: String,
    pub clauses: &'static str,
    pub witness: String,
    /// A part of the message.
    pub message: &'static str,
}

/// Clauses with a model and its certificate, which hold; and what breaks them.
pub struct Proof {
    pub name: &'static str,
    pub clauses: &'static str,
    pub witness: &'static str,
    pub breaks: &'static [Break],
}

/// A way to break a proof: its name, a part of the proof, what takes its place wherever it stands,
/// and a part of the message.
pub type Break = (&'static str, &'static str, &'static str, &'static str);

impl Proof {
    /// All broken ones. A break that changes nothing is none.
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

/// All proofs to break.
pub const PROOFS: [&Proof; 7] = [&TWICE, &APPEND, &SORT, &DOUBLE, &PARITY, &TWO, &FLAGS];

/// A name, clauses without a model, a witness that claims one, and a part of the message.
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
