//! Engines by name.
//!
//! Invariant: this is the only place that names them all; adding an engine is adding a line here.

use alphorn_engine::settings::SettingError;
use alphorn_engine::{Entry, Registry};
use alphorn_induction::{cata, enumerate, induct, morph, pairs, relate, templates, twin};
use alphorn_pdr::{muz, pdr, spacer};
use alphorn_transition::{bmc, ic3, kind, pdkind, trl};
use alphorn_unwinding::{interp, safari, vinta};

/// All engines.
pub static ENGINES: [Entry; 19] = [
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
        name: "pdkind",
        about: "property directed k-induction for linear clauses",
        make: || Box::new(pdkind::Pdkind::default()),
    },
    Entry {
        name: "templates",
        about: "invariants of simple forms that simulated states satisfy",
        make: || Box::new(templates::Templates::default()),
    },
    Entry {
        name: "vinta",
        about: "abstract interpretation guided by interpolants",
        make: || Box::new(vinta::VintaEngine::default()),
    },
    Entry {
        name: "interp",
        about: "lazy abstraction with reachability, safety and error interpolants",
        make: || Box::new(interp::Interp::default()),
    },
    Entry {
        name: "ic3",
        about: "lemmas about bits, by a SAT solver, for linear clauses over bit-vectors",
        make: || Box::new(ic3::Ic3::default()),
    },
    Entry {
        name: "safari",
        about: "lazy abstraction with interpolants for linear clauses with arrays",
        make: || Box::new(safari::Safari::default()),
    },
    Entry {
        name: "morph",
        about: "any cell of an array, by the engines for systems without arrays",
        make: || {
            Box::new(morph::Morph {
                engines: registry(),
            })
        },
    },
    Entry {
        name: "twin",
        about: "bit-vectors as integers, by the engines for integers",
        make: || Box::new(twin::TwinEngine::new(registry())),
    },
    Entry {
        name: "enum",
        about: "evaluation of functional programs backward from the queries, for refutations",
        make: || Box::new(enumerate::Enumerate),
    },
    Entry {
        name: "induct",
        about: "predicates as recursive functions, and queries as theorems by induction",
        make: || Box::new(induct::Induct),
    },
    Entry {
        name: "relate",
        about: "lemmas about several facts, by induction on derivations",
        make: || Box::new(relate::Relate),
    },
    Entry {
        name: "pairs",
        about: "a query's facts as one predicate, by the engines for models",
        make: || {
            Box::new(pairs::Pairs {
                engines: registry(),
            })
        },
    },
    Entry {
        name: "cata",
        about: "terms as integers that folds compute, by the engines for systems without datatypes",
        make: || {
            Box::new(cata::Cata {
                engines: registry(),
            })
        },
    },
    Entry {
        name: "muz",
        about: "Z3's own fixedpoint engine, for comparison; not in the default",
        make: || Box::new(muz::Muz::default()),
    },
];

/// All engines, as handed to those that ask others.
pub fn registry() -> Registry {
    Registry(&ENGINES)
}

/// The engine of this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    registry().find(name)
}

/// Whether all settings `ENGINE.NAME=VALUE` are known and have a value in range.
///
/// # Errors
/// The first setting that means nothing.
pub fn check_settings(settings: &[String]) -> Result<(), SettingError> {
    for text in settings {
        let owner = text.split(['.', '=']).next().unwrap_or_default();
        let entry = find(owner).ok_or_else(|| SettingError::Unknown(text.clone()))?;
        (entry.make)().configure(std::slice::from_ref(text))?;
    }
    Ok(())
}

/// All settings with their defaults, their ranges and what they are for, some lines each.
pub fn list_settings() -> String {
    let mut out = String::new();
    for entry in &ENGINES {
        for setting in (entry.make)().settings() {
            out += &setting.describe(entry.name);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_settings_take_their_own_value_and_no_nonsense() {
        for entry in &ENGINES {
            for setting in (entry.make)().settings() {
                let (name, value) = (&setting.name, setting.value.show());
                let set = |value: &str| check_settings(&[format!("{}.{name}={value}", entry.name)]);
                assert_eq!(set(&value), Ok(()), "{name}");
                let nonsense = set("-1");
                assert!(
                    matches!(nonsense, Err(SettingError::Value { .. })),
                    "{name}"
                );
            }
        }
    }

    #[test]
    fn the_papers_values_are_in_range() {
        let mut found = 0;
        for entry in &ENGINES {
            let mut engine = (entry.make)();
            let papers = engine.settings().iter().any(|s| s.paper.is_some());
            let text = format!("{}.as-in-paper=true", entry.name);
            assert_eq!(check_settings(std::slice::from_ref(&text)).is_ok(), papers);
            if papers {
                found += 1;
                engine.configure(&[text]).expect("in range");
                for setting in engine.settings() {
                    let paper = setting.paper.unwrap_or_default();
                    assert!(paper.is_empty() || setting.value.show() == paper);
                }
            }
        }
        assert_eq!(found, 4);
    }

    /// A choice without a user is a constant.
    #[test]
    fn there_are_few_settings() {
        let count = |entry: &Entry| (entry.make)().settings().len();
        assert!(ENGINES.iter().map(count).sum::<usize>() <= 40);
    }

    #[test]
    fn a_setting_changes_the_engine() {
        let mut engine = (find("pdr").expect("it exists").make)();
        let text = "pdr.guidance=false".to_owned();
        engine.configure(&[text]).expect("it is known");
        let settings = engine.settings();
        let guidance = settings.iter().find(|s| s.name == "guidance");
        assert_eq!(guidance.map(|s| s.value.show()), Some("false".to_owned()));
        for wrong in [
            "pdr",
            "pdr.guidance",
            "pdr.x=1",
            "nobody.x=1",
            "=",
            "pdr.=1",
        ] {
            assert!(check_settings(&[wrong.to_owned()]).is_err(), "{wrong}");
        }
    }
}
