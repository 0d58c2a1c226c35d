//! alphorn, a solver for constrained Horn clauses.
//!
//! A [`Problem`](frontend::Problem) is read from text, and [`solve`] decides it. The result,
//! [`Validated`](witness::Validated), has been checked against that text: `sat` has a model,
//! `unsat` a refutation, and everything else is `unknown`, with a reason.
//!
//! ```
//! use std::rc::Rc;
//! use alphorn::frontend::parse;
//! use alphorn::run::Context;
//! use alphorn::term::TermStore;
//! use alphorn::witness::Wanted;
//! use alphorn::{Config, solve};
//!
//! let text = "(set-logic HORN)
//!     (declare-fun P (Int) Bool)
//!     (assert (forall ((x Int)) (=> (= x 0) (P x))))
//!     (assert (forall ((x Int)) (=> (P x) (P (+ x 1)))))
//!     (assert (forall ((x Int)) (=> (and (P x) (< x 0)) false)))
//!     (check-sat)";
//! let terms = Rc::new(TermStore::new());
//! let problem = parse(text, terms.clone())?;
//! let answer = solve(&problem, &Config::default(), &mut Context::new(terms))?;
//! let output = answer.output(&problem, Wanted { model: true, ..Wanted::default() });
//! assert_eq!(output.word(), "sat");
//! assert!(output.details().contains("(define-fun P ((x!0 Int)) Bool"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Limits, and stopping a run
//!
//! A run ends with its [`Budget`](run::Budget), of time or of work, or when another thread sets the
//! flag of its [`Context`](run::Context). A run that is bounded by work alone has the same result
//! on every machine.
//!
//! ```
//! use std::rc::Rc;
//! use std::sync::atomic::Ordering;
//! use std::time::Duration;
//! use alphorn::frontend::parse;
//! use alphorn::run::{Context, Reason};
//! use alphorn::term::TermStore;
//! use alphorn::{Config, solve};
//!
//! let terms = Rc::new(TermStore::new());
//! let problem = parse("(set-logic HORN) (assert false) (check-sat)", terms.clone())?;
//! let mut cx = Context::new(terms);
//! cx.budget = cx.budget.time(Duration::from_secs(60)).work(Duration::from_secs(10));
//! let stop = cx.interrupt();
//! std::thread::spawn(move || stop.store(true, Ordering::Relaxed)).join().unwrap();
//! let config = Config { engine: "pdr".to_owned(), ..Config::default() };
//! let answer = solve(&problem, &config, &mut cx)?;
//! assert_eq!(answer.reason(), Some(&Reason::Interrupted));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Clauses made in code
//!
//! A [`System`](chc::System) is built from terms, and decided by [`solve_system`]. Steps of a
//! refutation name clauses by their index.
//!
//! ```
//! use std::rc::Rc;
//! use alphorn::chc::{Atom, System};
//! use alphorn::run::Context;
//! use alphorn::term::{SortId, TermStore};
//! use alphorn::witness::Verdict;
//! use alphorn::{Config, solve_system};
//!
//! let terms = Rc::new(TermStore::new());
//! let (x, y) = (terms.var("x", SortId::INT), terms.var("y", SortId::INT));
//! let (zero, two) = (terms.int(0), terms.int(2));
//! let mut system = System::new(terms.clone());
//! let p = system.add_predicate("P", &[SortId::INT]);
//! let p = |arg| Atom { predicate: p, args: vec![arg] };
//! system.add_clause(vec![], terms.eq(x, zero), Some(p(x)));
//! system.add_clause(vec![p(x)], terms.eq(y, terms.add(&[x, two])), Some(p(y)));
//! system.add_clause(vec![p(x)], terms.eq(x, terms.int(6)), None);
//!
//! let mut cx = Context::new(terms.clone());
//! let (_, answer) = solve_system(&system, &Config::default(), &mut cx)?;
//! let Verdict::Unsat(refutation) = answer.verdict() else {
//!     panic!("6 is even");
//! };
//! let facts = refutation.steps.iter().filter_map(|step| step.fact.as_ref());
//! let values: Vec<_> = facts.map(|fact| fact.values[0]).collect();
//! assert_eq!(values, [0, 2, 4, 6].map(|n| terms.int(n)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Witnesses from elsewhere
//!
//! Models and refutations are checked whoever made them, with no engine and no pass involved.
//!
//! ```
//! use std::rc::Rc;
//! use alphorn::frontend::parse;
//! use alphorn::run::Context;
//! use alphorn::term::TermStore;
//! use alphorn::witness::{CheckOutcome, check_claim, parse_witness};
//!
//! let terms = Rc::new(TermStore::new());
//! let text = "(set-logic HORN) (declare-fun P (Int) Bool)
//!     (assert (forall ((x Int)) (=> (> x 3) (P x))))
//!     (assert (forall ((x Int)) (=> (and (P x) (< x 0)) false)))
//!     (check-sat)";
//! let problem = parse(text, terms.clone())?;
//! let model = parse_witness(&problem, "sat ((define-fun P ((x Int)) Bool (> x 2)))")?;
//! let mut cx = Context::new(terms);
//! assert_eq!(check_claim(&problem, &model, &mut cx), CheckOutcome::Valid);
//! let model = parse_witness(&problem, "sat ((define-fun P ((x Int)) Bool (> x 4)))")?;
//! assert!(matches!(check_claim(&problem, &model, &mut cx), CheckOutcome::Invalid(_)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A crate that depends on alphorn
//!
//! alphorn links libz3, which `scripts/setup` has put into its folder. A crate that depends on it needs
//! a file `.cargo/config.toml` that says where that is,
//!
//! ```toml
//! [env]
//! Z3_NO_PKG_CONFIG = "1"
//! Z3_LIBRARY_PATH_OVERRIDE = "/path/to/alphorn/third_party/z3/lib"
//! Z3_SYS_Z3_VERSION = "5.4.0"
//! ```
//!
//! and a build script `build.rs`, from which its programs know the folder when they run:
//!
//! ```no_run
//! let folder = std::env::var("Z3_LIBRARY_PATH_OVERRIDE").expect("the settings are in force");
//! println!("cargo::rustc-link-arg=-Wl,-rpath,{folder}");
//! ```
//!
//! # How it works
//!
//! ```text
//! file ─ frontend ─> Problem ─ normalize ─> System ─ transform ─> System' ─ engine ─> Verdict
//!          (original clauses, kept)                  (stack of back-translations)       │
//! stdout <─ print <─ Validated <─ witness::validate(Problem) <─ back-translations, reversed
//! ```
//!
//! A crate depends only on crates above it in the table of ARCHITECTURE.md.

pub mod cache;
pub mod compression;
pub mod record;
mod registry;
pub mod reply;
pub mod report;
pub mod session;
mod strategy;

pub use alphorn_chc as chc;
pub use alphorn_chc::frontend;
pub use alphorn_smt::text::z3_version;
pub use alphorn_term as term;
pub use alphorn_term::run;
pub use alphorn_witness as witness;
pub use registry::list_settings;
pub use strategy::{
    Config, ConfigError, Hint, Milestone, SystemError, UnknownEngine, list_passes, normal_form,
    solve, solve_system, solve_with_hints, system_after,
};

/// For the tests of the project only; it may change with every version.
#[doc(hidden)]
pub mod internal {
    use std::rc::Rc;
    use std::time::Duration;

    use crate::frontend::parse;
    use crate::run::Context;
    use crate::term::TermStore;
    use crate::witness::Wanted;
    use crate::{Config, solve};

    pub use alphorn_transform::PASSES;

    pub use crate::registry::{ENGINES, find, registry};

    /// The verdict of an engine about the clauses of a text, by at most this much work. Panics if a
    /// witness fails its check.
    pub fn answer(engine: &str, text: &str, work: Duration) -> &'static str {
        let terms = Rc::new(TermStore::new());
        let text = format!("(set-logic HORN)\n{text}\n(check-sat)\n");
        let problem = parse(&text, terms.clone()).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let mut cx = Context::new(terms);
        cx.budget = cx.budget.work(work);
        let config = Config {
            engine: engine.to_owned(),
            ..Config::default()
        };
        let answer = solve(&problem, &config, &mut cx).expect("the engine exists");
        assert_eq!(cx.stats.count("witness.failures"), 0, "{text}");
        answer.output(&problem, Wanted::default()).word()
    }
}
