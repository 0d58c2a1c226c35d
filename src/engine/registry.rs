//! Engines by name.
//!
//! Invariant: this is the only place that names them all; adding an engine is adding a line here.

use super::{Engine, bmc, kind, muz, pdr, spacer, tpa, trl, vinta};

/// An engine on the command line.
pub struct Entry {
    pub name: &'static str,
    pub about: &'static str,
    pub make: fn() -> Box<dyn Engine>,
}

/// All engines.
pub const ENGINES: &[Entry] = &[
    Entry {
        name: "bmc",
        about: "bounded search for refutations",
        make: || Box::new(bmc::Bmc::default()),
    },
    Entry {
        name: "pdr",
        about: "property directed reachability: may and must summaries",
        make: || Box::new(pdr::Pdr::default()),
    },
    Entry {
        name: "spacer",
        about: "abstraction from proofs and counterexamples of bounded systems",
        make: || Box::new(spacer::Spacer::default()),
    },
    Entry {
        name: "trl",
        about: "transitive relation learning for linear clauses with long loops",
        make: || Box::new(trl::Trl::default()),
    },
    Entry {
        name: "kind",
        about: "k-induction for linear clauses, backward and forward",
        make: || Box::new(kind::Kind::default()),
    },
    Entry {
        name: "tpa",
        about: "transition power abstraction for linear clauses with deep loops",
        make: || Box::new(tpa::Tpa::default()),
    },
    Entry {
        name: "vinta",
        about: "abstract interpretation guided by interpolants",
        make: || Box::new(vinta::VintaEngine::default()),
    },
    Entry {
        name: "muz",
        about: "Z3's own fixedpoint engine, for comparison; not in the default",
        make: || Box::new(muz::Muz::default()),
    },
];

/// The engine of this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    ENGINES.iter().find(|entry| entry.name == name)
}
