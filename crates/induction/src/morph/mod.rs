//! Cell morphing: properties of single cells of arrays, as a system without arrays.
//!
//! Papers: Monniaux, Gonnord, "Cell morphing: from array programs to array-free Horn clauses" (SAS
//! 2016); Braine, Gonnord, Monniaux, "Data abstraction: a general framework to handle program
//! verification of data structures" (SAS 2021).
//!
//! # Procedure
//!
//! A predicate `P(s, a)` of scalars and arrays becomes `P'(s, k, a[k])`, with one cell `k` for all
//! arrays of an index sort, or two. The meaning: `P(s, a)` holds iff `P'(s, k, a[k])` does for all
//! `k` (`translate`). In a clause the cell of the head is the cell of the body: the index is
//! *rigid*, so a linear clause stays linear. A query takes the cells that it reads.
//!
//! The *scalar system* goes through the passes and then to other engines, by the registry and their
//! trait: `SCALAR` is the list of turns, `HEAPS` that for arrays of objects, which the pass
//! `variants` splits by constructor. Engines that do not support the scalar system are skipped.
//! Like `cata` and `twin` this is a translation that calls other engines; it is no pass, because in
//! general only models can be translated back.
//!
//! - A model of the scalar system, quantified over the cells, is a model of the clauses (`model`).
//! - A refutation of it may be spurious. One query asks whether the clauses along it have a
//!   derivation with arrays (`concrete`): if so, that is a refutation. If not, the core names the
//!   reads that matter. Clauses get further body atoms for the cells that they read there, and a
//!   query that needs two cells at once makes it two cells for each predicate.
//!
//! # Deviations
//!
//! - Cells that a clause reads besides the rigid one are *not* premises from the start; they are
//!   added on demand. This proves less, but the system is linear and small. In heaps, where a read
//!   leads to the next, all of them are premises from the start, unless the system gets too large.
//! - All arrays of a predicate with one sort of index share the cell's index, as arrays are mostly
//!   read at the same offset of a loop (the pass `rebase` makes offsets equal).
//! - Quantified formulas in constraints are replaced by instances at the indexes that are read,
//!   including the head's cells.
//! - For `pdr` equality of indexes is written as two bounds, so that it learns on which side of a
//!   counter a cell lies (`Form`).
//!
//! # Invariant
//!
//! The scalar clauses imply the clauses under the meaning above, so a model of them is a model of
//! the clauses, whichever cells are premises. A refutation is returned only after evaluation has
//! confirmed it.

mod concrete;
mod limits;
mod model;
#[cfg(test)]
mod tests;
mod translate;

use std::time::Duration;

use rustc_hash::FxHashSet;

use self::concrete::{Outcome, all_demands, concretise};
use self::limits::LIMITS;
use self::translate::{Demand, Form, Morphed, morph};
use alphorn_chc::{Shape, System};
use alphorn_engine::derived::Derived;
use alphorn_engine::schedule::{Limit, Schedule, Slot, slot};
use alphorn_engine::settings::Setting;
use alphorn_engine::{Engine, EngineError, Registry, Unsupported, driver};
use alphorn_proof::{Stop, incomplete};
use alphorn_smt::Smt;
use alphorn_term::run::{Context, Reason};
use alphorn_witness::Verdict;

/// The passes that the scalar system goes through. `variants` takes objects apart.
const PASSES: &str = "default,variants";

/// The same for heaps in turns of at least [`LONG`]: `links` proves facts about addresses and fields
/// within a part of the turn.
const HEAP_PASSES: &str = "default,variants,links";

/// The length of turns in which there is time for `links`.
const LONG: Duration = Duration::from_secs(4);

/// An engine's turn for the scalar system.
#[derive(Clone, Copy)]
struct Turn {
    engine: &'static str,
    /// How the system is written for it.
    form: Form,
    /// Whether the costly passes run before it.
    costly: bool,
}

const fn turn(engine: &'static str, form: Form, costly: bool, share: f64) -> Slot<Turn> {
    let turn = Turn {
        engine,
        form,
        costly,
    };
    slot(turn, share, Limit::None)
}

/// The engines for the scalar system. Of 22 programs over arrays (CHC-COMP 2025, quic3) this list
/// solved 19 in 20 seconds each, mostly by `pdr`. `trl` needs few steps where it learns what a loop
/// does to a cell that it passes, or does not end.
const SCALAR: Schedule<Turn> = &[
    turn("trl", Form::Bounds, true, 0.05),
    turn("pdr", Form::Bounds, true, 0.6),
    turn("trl", Form::Equations, true, 0.5),
    turn("pdr", Form::Bounds, true, 1.0),
];

/// The same for heaps, that is, arrays of objects. There are more rounds and larger systems, for
/// which the costly passes took most of the time (CHC-COMP 2025, tricera-adt-arr); but some are
/// easy with their invariants only.
const HEAPS: Schedule<Turn> = &[
    turn("pdr", Form::Bounds, false, 0.4),
    turn("pdr", Form::Bounds, true, 1.0),
];

/// The same where there are many clauses: there the costly passes take longer, and say less.
const LARGE_HEAPS: Schedule<Turn> = &[
    turn("pdr", Form::Bounds, false, 0.8),
    turn("pdr", Form::Bounds, true, 1.0),
];

/// What counts as many clauses.
const LARGE: usize = 60;

/// The engine `morph`.
#[derive(Clone)]
pub struct Morph {
    /// The engines for the scalar system.
    pub engines: Registry,
}

impl Engine for Morph {
    fn name(&self) -> &'static str {
        "morph"
    }

    /// Systems with arrays only.
    fn supports(&self, shape: &Shape) -> Result<(), Unsupported> {
        match shape.theories.array {
            true => Ok(()),
            false => Err(unsupported("systems without arrays")),
        }
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        Vec::new()
    }

    fn solve(&mut self, system: &System, cx: &mut Context) -> Result<Verdict, EngineError> {
        self.supports(&Shape::of(system))?;
        if !translate::is_supported(system) {
            return Err(unsupported("arrays of arrays, or none among the arguments").into());
        }
        match self.search(system, cx) {
            Ok(verdict) => Ok(verdict),
            Err(stop) => driver::verdict(stop, cx),
        }
    }
}

fn unsupported(what: &str) -> Unsupported {
    Unsupported {
        engine: "morph",
        what: what.to_owned(),
    }
}

impl Morph {
    /// Tries translations; each spurious refutation demands a more precise one.
    fn search(&self, system: &System, cx: &mut Context) -> Result<Verdict, Stop> {
        let mut cells = 1;
        let mut demands: FxHashSet<Demand> = FxHashSet::default();
        let heap = translate::has_objects(system);
        if heap {
            let all: FxHashSet<Demand> = all_demands(system).collect();
            // All reads are premises, unless the system gets too large.
            if morph(system, cells, &all, Form::Equations, cx).is_some() {
                demands = all;
            }
        }
        for round in 1..=LIMITS.rounds {
            cx.stats.set("morph.rounds", round as u64);
            cx.stats.set("morph.cells", cells as u64);
            let schedule = match (heap, system.clauses.len() > LARGE) {
                (false, _) => SCALAR,
                (true, false) => HEAPS,
                (true, true) => LARGE_HEAPS,
            };
            let is_long = cx.budget.length().is_none_or(|length| length >= LONG);
            let passes = if heap && is_long { HEAP_PASSES } else { PASSES };
            let wanted = (cells, &demands);
            let (morphed, verdict) = self.scalar(system, schedule, passes, wanted, cx)?;
            let refutation = match verdict {
                Verdict::Sat(model) => {
                    let smt = Smt::within(&cx.budget);
                    let model = model::quantified(system, &morphed, model, &smt, cx);
                    return Ok(Verdict::Sat(model));
                }
                Verdict::Unsat(refutation) => refutation,
                unknown => return Ok(unknown),
            };
            let smt = Smt::within(&cx.budget);
            let missing = match concretise(system, &morphed, &refutation, &smt, cx)? {
                Outcome::Real(verdict) => return Ok(verdict),
                Outcome::Spurious(missing) => missing,
            };
            cx.stats.add("morph.spurious", 1);
            let before = demands.len();
            if !missing.pair || cells == LIMITS.cells {
                demands.extend(missing.demands);
            }
            if demands.len() == before {
                if cells == LIMITS.cells {
                    return Err(incomplete("a refutation of two cells is spurious"));
                }
                cells += 1;
                demands.clear();
            }
        }
        Err(incomplete("refutations stay spurious"))
    }

    /// A scalar system with this number of cells and these further premises, and the engines' verdict
    /// on it.
    fn scalar(
        &self,
        system: &System,
        schedule: Schedule<Turn>,
        passes: &str,
        (cells, demands): (usize, &FxHashSet<Demand>),
        cx: &mut Context,
    ) -> Result<(Morphed, Verdict), Stop> {
        let mut last = None;
        let mut forms: Vec<((Form, bool), Morphed, Derived)> = Vec::new();
        for slot in schedule {
            let turn = slot.turn;
            let form = (turn.form, turn.costly);
            if let Some(reason) = cx.stop() {
                return Err(Stop::Reason(reason));
            }
            let at = match forms.iter().position(|f| f.0 == form) {
                Some(at) => at,
                None => {
                    let quick = forms.iter().position(|f| f.0 == (turn.form, false));
                    let (morphed, derived) = match quick {
                        // The costly passes go on where the quick ones ended.
                        Some(at) => {
                            let (_, morphed, derived) = forms.swap_remove(at);
                            (morphed, derived.run_passes(PASSES, cx))
                        }
                        None => {
                            let morphed = morph(system, cells, demands, turn.form, cx)
                                .ok_or_else(|| incomplete("a translation was too large"))?;
                            let scalar = morphed.system.clone();
                            let derived =
                                Derived::new(self.engines, scalar, passes, turn.costly, cx);
                            (morphed, derived)
                        }
                    };
                    log::debug!("morph: {cells} cells, {} premises besides", demands.len());
                    forms.push((form, morphed, derived));
                    forms.len() - 1
                }
            };
            let part = slot.budget(&cx.budget);
            match forms[at].2.solve_by(turn.engine, part, cx)? {
                Verdict::Unknown(reason) => last = Some(reason),
                verdict => {
                    let (_, morphed, _) = forms.swap_remove(at);
                    return Ok((morphed, verdict));
                }
            }
        }
        let none = || Reason::Incomplete("no engine decides the scalar system".to_owned());
        Err(Stop::Reason(cx.stop().or(last).unwrap_or_else(none)))
    }
}
