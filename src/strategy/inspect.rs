//! The normal form of a problem, and the system after a pass, for printing.
//!
//! Invariant: nothing is decided here.

use std::cell::RefCell;
use std::rc::Rc;

use super::{Config, ConfigError};
use alphorn_chc::System;
use alphorn_chc::frontend::Problem;
use alphorn_term::run::Context;
use alphorn_transform::{PASSES, normalize};

/// The problem's clauses in normal form: arguments of atoms are distinct variables.
pub fn normal_form(problem: &Problem) -> System {
    normalize(problem).0
}

/// The system after the last application of a pass of the configuration's list that changed it; the
/// normal form if none did.
///
/// # Errors
/// An unknown name in the configuration, or a pass that is not in its list.
pub fn system_after(
    problem: &Problem,
    config: &Config,
    pass: &str,
    cx: &mut Context,
) -> Result<System, ConfigError> {
    let mut pipeline = config.pipeline()?;
    if !pipeline.names().contains(&pass) {
        return Err(ConfigError::PassNotApplied {
            pass: pass.to_owned(),
            applied: pipeline.names().join(", "),
        });
    }
    let system = normal_form(problem);
    let last = Rc::new(RefCell::new(system.clone()));
    let seen = Rc::clone(&last);
    pipeline.dump_after = Some(pass.to_owned());
    pipeline.on_dump = Some(Box::new(move |_: &str, system: &System| {
        *seen.borrow_mut() = system.clone();
    }));
    pipeline.run(system, cx);
    let system = last.borrow().clone();
    Ok(system)
}

/// The names of the passes with their descriptions, one a line.
pub fn list_passes() -> String {
    let mut list = String::new();
    for pass in PASSES {
        let named = if pass.default {
            ""
        } else {
            " (only where it is named)"
        };
        list += &format!("{:<14}{}{named}\n", pass.name, pass.summary);
    }
    list
}
