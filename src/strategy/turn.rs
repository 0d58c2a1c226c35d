//! One engine's turn, and which engines have one.
//!
//! Invariant: engines are known by their names and their trait only, and a verdict is passed on
//! unchanged.

use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use thiserror::Error;

use super::schedule::{CLOSED, MAIN, Passes, Stage};
use crate::registry::{ENGINES, find};
use alphorn_chc::{PredicateId, Shape, System};
use alphorn_engine::schedule::{Limit, Slot, slot};
use alphorn_engine::{Engine, EngineError, Entry};
use alphorn_proof::facts::{Lemmas, Leveled};
use alphorn_term::run::{Context, Phase, Reason};
use alphorn_witness::Verdict;

/// The most work for proving the lemmas that an engine leaves.
const MAX_SHARING_WORK: Duration = Duration::from_secs(10);

/// The part of the time left before the turn that this work may be: one of this many parts.
const SHARING_PARTS: u32 = 20;

/// Frames of a turn with a lower limit are not kept: they are about the clauses before further passes,
/// and a new search finds them as fast.
const MIN_LIMIT_TO_KEEP_FRAMES: Duration = Duration::from_secs(1);

/// The strategy when none is named.
pub(super) const DEFAULT: &str = "auto";

/// A name that is no engine and no strategy.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("there is no engine {name}: the engines are {known}")]
pub struct UnknownEngine {
    /// The name that was given.
    pub name: String,
    /// The names that exist, separated by commas.
    pub known: String,
}

/// The engine of this name.
pub(super) fn engine(name: &str) -> Result<&'static Entry, UnknownEngine> {
    find(name).ok_or_else(|| UnknownEngine {
        name: name.to_owned(),
        known: names(),
    })
}

/// A single engine, or several in turn.
#[derive(Clone, Copy)]
pub(super) enum Strategy {
    Auto,
    Single(&'static Entry),
}

impl Strategy {
    /// The strategy or engine of this name.
    pub fn find(name: &str) -> Result<Strategy, UnknownEngine> {
        if name == DEFAULT {
            return Ok(Strategy::Auto);
        }
        engine(name).map(Strategy::Single)
    }

    /// Whether an engine may have a turn in the stage on some system.
    pub fn takes_part(self, stage: &Stage) -> bool {
        match self {
            Strategy::Auto => true,
            Strategy::Single(entry) => stage.is_for_all() && stage.takes(entry.name),
        }
    }

    /// The turns of [`Strategy::turns`] without those of some engines. Where the schedule for systems
    /// without predicates would be empty then, the engines that are left have turns.
    pub fn turns_without(
        self,
        stage: &Stage,
        shape: &Shape,
        without: &[String],
    ) -> Vec<EngineTurn> {
        let mut turns = self.turns(stage, shape);
        turns.retain(|turn| !without.iter().any(|name| name == turn.name()));
        if turns.is_empty() && matches!(self, Strategy::Auto) && is_closed(stage, shape) {
            turns = closed_turns(shape, without);
        }
        turns
    }

    /// The turns in a stage for a system of this shape, in order: of several engines those that
    /// support it.
    pub fn turns(self, stage: &Stage, shape: &Shape) -> Vec<EngineTurn> {
        match self {
            Strategy::Single(entry) if !stage.takes(entry.name) => Vec::new(),
            Strategy::Single(entry) => vec![EngineTurn {
                entry,
                slot: slot((), 1.0, stage.named),
            }],
            Strategy::Auto => {
                let is_closed = is_closed(stage, shape);
                let schedule = if is_closed { CLOSED } else { stage.turns };
                let turns = schedule.iter().filter_map(|place| {
                    if !place.turn.is_for(shape) {
                        return None;
                    }
                    let entry = find(place.turn.engine)?;
                    (entry.make)().supports(shape).ok()?;
                    Some(EngineTurn {
                        entry,
                        slot: slot((), place.share, place.limit),
                    })
                });
                turns.collect()
            }
        }
    }
}

/// Whether passes left no predicate.
fn is_closed(stage: &Stage, shape: &Shape) -> bool {
    shape.predicates == 0 && stage.passes != Passes::Written
}

/// The turns for a system without predicates where the engines of its schedule are left out: those of
/// the main schedule that support it and are not left out, once each.
fn closed_turns(shape: &Shape, without: &[String]) -> Vec<EngineTurn> {
    let mut turns: Vec<EngineTurn> = Vec::new();
    for place in MAIN {
        let name = place.turn.engine;
        let is_left_out = without.iter().any(|other| other == name);
        if is_left_out || turns.iter().any(|turn| turn.name() == name) {
            continue;
        }
        if let Some(entry) = find(name)
            && (entry.make)().supports(shape).is_ok()
        {
            let slot = slot((), 0.5, Limit::Time(Duration::from_secs(1_200)));
            turns.push(EngineTurn { entry, slot });
        }
    }
    turns
}

/// The lemmas of the last frames, by the engines and the clauses that they are for. Predicates are known
/// by their names, since passes give them new numbers. Engines that keep a state of their own are kept
/// themselves.
#[derive(Default)]
pub(super) struct Frames {
    /// The latest are the last ones.
    left: Vec<Left>,
    engines: Vec<Box<dyn Engine>>,
}

/// What one turn left.
struct Left {
    engine: &'static str,
    /// Which clauses the lemmas are about.
    passes: Passes,
    lemmas: Vec<(String, Leveled)>,
}

impl Frames {
    /// Keeps the frames of a turn, if it left some, instead of those of the same kind about clauses after
    /// the same passes.
    pub fn keep(
        &mut self,
        system: &System,
        turn: &EngineTurn,
        passes: Passes,
        frames: Vec<Leveled>,
    ) {
        if frames.is_empty() {
            return;
        }
        let kind = turn.resumes();
        self.left
            .retain(|left| left.passes != passes || !kind.contains(&left.engine));
        let named = |lemma: Leveled| (system.predicate(lemma.predicate).name.clone(), lemma);
        self.left.push(Left {
            engine: turn.name(),
            passes,
            lemmas: frames.into_iter().map(named).collect(),
        });
    }

    /// The frames that a turn begins with: of those that the engine makes use of, the last about clauses
    /// after the same passes, or else the last.
    fn of(&self, turn: &EngineTurn, passes: Passes) -> Option<&Left> {
        let kind = turn.resumes();
        let latest = self.left.iter().rev();
        let fitting = latest.filter(|left| kind.contains(&left.engine));
        let same = fitting.clone().find(|left| left.passes == passes);
        same.or_else(|| fitting.clone().next())
    }

    /// The engine whose frames a turn begins with, if there are any.
    pub fn engine(&self, turn: &EngineTurn, passes: Passes) -> Option<&'static str> {
        Some(self.of(turn, passes)?.engine)
    }
}

impl Left {
    /// The lemmas about predicates that a system has. Where a pass made several predicates of one,
    /// they have its name.
    fn about(&self, system: &System) -> Vec<Leveled> {
        let mut by_name: FxHashMap<&str, Vec<PredicateId>> = FxHashMap::default();
        for p in system.used_predicates() {
            by_name
                .entry(&system.predicate(p).name)
                .or_default()
                .push(p);
        }
        let lemmas = self.lemmas.iter().filter_map(|(name, lemma)| {
            let predicates = by_name.get(&**name)?;
            let predicate = match predicates.contains(&lemma.predicate) {
                true => lemma.predicate,
                false => *predicates.first()?,
            };
            Some(Leveled {
                predicate,
                ..*lemma
            })
        });
        lemmas.collect()
    }
}

/// One engine's turn.
pub(super) struct EngineTurn {
    entry: &'static Entry,
    slot: Slot<()>,
}

impl EngineTurn {
    /// The engine's name.
    pub fn name(&self) -> &'static str {
        self.entry.name
    }

    /// Whether its limit is in work.
    pub fn is_short(&self) -> bool {
        matches!(self.slot.limit, Limit::Work(_))
    }

    /// Whether there is time for it.
    pub fn is_due(&self, cx: &Context) -> bool {
        self.slot.is_due(cx)
    }

    /// The work for proving the lemmas that the engine leaves: a small part of the time left before
    /// the turn, at most a quarter of what is left now, and at most half of a limit in work.
    pub fn sharing(&self, before: Option<Duration>, cx: &Context) -> Duration {
        let part = before.map_or(MAX_SHARING_WORK, |left| left / SHARING_PARTS);
        let part = cx.remaining().map_or(part, |left| part.min(left / 4));
        match self.slot.limit {
            Limit::Work(most) => part.min(most / 2),
            _ => part.min(MAX_SHARING_WORK),
        }
    }

    /// Whether its frames are kept for later turns.
    pub fn keeps_frames(&self) -> bool {
        !matches!(self.slot.limit, Limit::Work(most) if most < MIN_LIMIT_TO_KEEP_FRAMES)
    }

    /// The engines whose frames the engine resumes from.
    fn resumes(&self) -> &'static [&'static str] {
        (self.entry.make)().resumes()
    }

    /// The engine as its last turn left it, or a new one.
    fn engine(&self, frames: &mut Frames) -> Box<dyn Engine> {
        let mut kept = frames.engines.iter();
        match kept.position(|engine| engine.name() == self.name()) {
            Some(at) if self.keeps_frames() => frames.engines.swap_remove(at),
            _ => (self.entry.make)(),
        }
    }

    /// Runs the engine on the system, which is one after these passes. Any other outcome than an answer
    /// becomes `Unknown` with its reason. The lemmas are those that the engine leaves. `settings` have
    /// been checked; those of other engines have no effect.
    pub fn run(
        &self,
        system: &System,
        passes: Passes,
        settings: &[String],
        frames: &mut Frames,
        cx: &mut Context,
    ) -> (Verdict, Lemmas) {
        let mut engine = self.engine(frames);
        if let Some(left) = frames.of(self, passes) {
            engine.resume(left.about(system));
        }
        let verdict = self.ask(engine.as_mut(), system, settings, cx);
        let lemmas = engine.lemmas();
        if engine.goes_on() && self.keeps_frames() {
            frames.engines.push(engine);
        }
        (verdict, lemmas)
    }

    fn ask(
        &self,
        engine: &mut dyn Engine,
        system: &System,
        settings: &[String],
        cx: &mut Context,
    ) -> Verdict {
        if let Err(error) = engine.configure(settings) {
            return Verdict::Unknown(Reason::Incomplete(error.to_string()));
        }
        if let Err(unsupported) = engine.supports(&Shape::of(system)) {
            return Verdict::Unknown(Reason::Incomplete(unsupported.to_string()));
        }
        let start = Instant::now();
        let part = self.slot.budget(&cx.budget);
        let solve = |cx: &mut Context| cx.within(part, |cx| engine.solve(system, cx));
        let result = cx.phase(Phase::Engine, self.name(), solve);
        cx.stats
            .add_time(&format!("{}.seconds", self.name()), start.elapsed());
        match result {
            Ok(verdict) => verdict,
            Err(EngineError::Unsupported(what)) => {
                Verdict::Unknown(Reason::Incomplete(what.to_string()))
            }
            Err(error) => {
                log::error!("engine {}: {error}", self.name());
                Verdict::Unknown(Reason::Incomplete(format!("{}: {error}", self.name())))
            }
        }
    }
}

fn names() -> String {
    let mut names = vec![DEFAULT];
    names.extend(ENGINES.iter().map(|entry| entry.name));
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::schedule::STAGES;
    use std::rc::Rc;
    use std::sync::Arc;

    use super::*;
    use alphorn_chc::frontend::parse;
    use alphorn_chc::{Atom, Theories};
    use alphorn_term::run::Budget;
    use alphorn_term::{TermId, TermStore};
    use alphorn_transform::normalize;

    fn shape(linear: bool) -> Shape {
        Shape {
            clauses: 3,
            predicates: 1,
            arguments: 20,
            booleans: 0,
            reals: 0,
            linear,
            recursive: 1,
            queries: 1,
            relates_facts: false,
            theories: Theories {
                int: true,
                ..Theories::default()
            },
        }
    }

    /// The stages that take place whatever the shape is.
    fn stages() -> impl Iterator<Item = &'static Stage> {
        STAGES.iter().filter(|stage| stage.is_for_all())
    }

    fn names_of(turns: &[EngineTurn]) -> Vec<&'static str> {
        turns.iter().map(EngineTurn::name).collect()
    }

    #[test]
    fn engines_for_linear_systems_take_part_in_linear_systems() {
        for stage in stages().filter(|s| s.passes != Passes::Written) {
            let linear = names_of(&Strategy::Auto.turns(stage, &shape(true)));
            let other = names_of(&Strategy::Auto.turns(stage, &shape(false)));
            for name in ["trl", "kind"] {
                assert!(linear.contains(&name), "{:?}: {linear:?}", stage.passes);
                assert!(!other.contains(&name), "{:?}: {other:?}", stage.passes);
            }
            for name in ["bmc", "pdr"] {
                let both = linear.contains(&name) && other.contains(&name);
                assert!(both, "{:?}", stage.passes);
            }
        }
    }

    /// Without the engines for systems without predicates, those that are left have turns.
    #[test]
    fn closed_systems_fall_back_on_what_is_left() {
        let mut closed = shape(true);
        (closed.predicates, closed.recursive) = (0, 0);
        let main = stages().find(|s| s.passes == Passes::All);
        let main = main.expect("a stage");
        let without = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            names_of(&Strategy::Auto.turns_without(main, &closed, &names))
        };
        assert_eq!(without(&[]), ["bmc", "pdr"]);
        assert_eq!(without(&["bmc"]), ["pdr"]);
        let left = without(&["bmc", "pdr", "kind"]);
        assert!(
            left.contains(&"spacer") && !left.contains(&"kind"),
            "{left:?}"
        );
        // Of systems with predicates the schedule stays as it is.
        let names = ["bmc".to_owned(), "pdr".to_owned()];
        let others = names_of(&Strategy::Auto.turns_without(main, &shape(true), &names));
        assert!(!others.contains(&"bmc") && others.contains(&"spacer"));
    }

    /// An engine that keeps a state goes on in its next long turn; a short one begins anew.
    #[test]
    fn engines_with_a_state_are_kept() {
        let terms = Rc::new(TermStore::new());
        let text = "(set-logic HORN) (declare-fun P ((_ BitVec 16) (_ BitVec 16)) Bool)
(assert (P #x0000 #x0000))
(assert (forall ((x (_ BitVec 16)) (y (_ BitVec 16)))
  (=> (and (P x y) (bvslt x #x0100)) (P (bvadd x #x0001) (bvadd y #x0003)))))
(assert (forall ((x (_ BitVec 16)) (y (_ BitVec 16)))
  (=> (and (P x y) (= x #x0100) (not (= y #x0300))) false)))
(check-sat)";
        let problem = parse(text, terms.clone()).expect("clauses");
        let (system, _) = normalize(&problem);
        let mut frames = Frames::default();
        let mut resumed = |limit: Limit, work: u64| {
            let turn = EngineTurn {
                entry: find("twin").expect("it exists"),
                slot: slot((), 1.0, limit),
            };
            let budget = Budget::new(terms.clone(), Arc::default(), true);
            let budget = budget.work(Duration::from_millis(work));
            let mut cx = Context::with_budget(terms.clone(), budget);
            let (verdict, _) = turn.run(&system, Passes::Written, &[], &mut frames, &mut cx);
            let is_open = matches!(verdict, Verdict::Unknown(_));
            (
                is_open,
                cx.stats.count("twin.resumed"),
                frames.engines.len(),
            )
        };
        let long = Limit::Time(Duration::from_secs(60));
        let short = Limit::Work(Duration::from_millis(10));
        assert_eq!(resumed(short, 10), (true, 0, 0));
        assert_eq!(resumed(long, 10), (true, 0, 1));
        assert_eq!(resumed(short, 10), (true, 0, 1));
        assert_eq!(resumed(long, 10), (true, 1, 1));
        assert_eq!(resumed(long, 60_000), (false, 1, 0));
    }

    /// Where datatypes are left, `vinta` has a short turn only, before the engines made for them.
    #[test]
    fn engines_for_datatypes_take_part_where_there_are_some() {
        let without = shape(false);
        let mut with = shape(false);
        with.theories.datatype = true;
        for stage in stages() {
            let names = |shape: &Shape| names_of(&Strategy::Auto.turns(stage, shape));
            let (with, without) = (names(&with), names(&without));
            if stage.passes == Passes::Written {
                assert!(
                    ["enum", "induct", "cata"]
                        .iter()
                        .all(|name| with.contains(name))
                );
                assert_eq!(without, [""; 0]);
            } else {
                assert!(with.contains(&"pdr") && without.contains(&"vinta"));
                assert_eq!(with.contains(&"vinta"), stage.passes == Passes::Quick);
            }
        }
    }

    /// On other systems its turn would only cost time.
    #[test]
    fn safari_takes_part_where_there_are_arrays() {
        for array in [true, false] {
            let mut system = shape(true);
            system.theories.array = array;
            for stage in stages() {
                let names = names_of(&Strategy::Auto.turns(stage, &system));
                let costly = !matches!(stage.passes, Passes::Quick | Passes::Written);
                assert_eq!(names.contains(&"safari"), array && costly);
            }
        }
    }

    /// Elsewhere `pdr` has answered before.
    #[test]
    fn interp_takes_part_where_there_are_terms_or_locations() {
        for (datatype, array, recursive) in [
            (true, false, 1),
            (true, true, 2),
            (false, false, 1),
            (false, false, 2),
        ] {
            let mut system = shape(true);
            system.theories.datatype = datatype;
            system.theories.array = array;
            system.recursive = recursive;
            let wanted = !array && (datatype || recursive > 1);
            for stage in stages() {
                let names = names_of(&Strategy::Auto.turns(stage, &system));
                let costly = !matches!(stage.passes, Passes::Quick | Passes::Written);
                assert_eq!(names.contains(&"interp"), wanted && costly);
            }
        }
    }

    /// There `pdr` may take a model of many parts for what bounds say at once.
    #[test]
    fn vinta_comes_before_the_long_turn_of_pdr_over_trees_of_numbers() {
        let main = stages().find(|s| s.passes == Passes::All);
        for linear in [true, false] {
            let turns = Strategy::Auto.turns(main.expect("a stage"), &shape(linear));
            let names = names_of(&turns);
            let place = |name| names.iter().position(|n| *n == name);
            assert_eq!(place("vinta") < place("pdr"), !linear, "{names:?}");
        }
    }

    /// There it has what `pdr` has only later, and `pdr` goes on from its frames.
    #[test]
    fn spacer_comes_before_the_long_turn_of_pdr_over_numbers() {
        let main = stages().find(|s| s.passes == Passes::All);
        for array in [true, false] {
            let mut system = shape(true);
            system.theories.array = array;
            let turns = Strategy::Auto.turns(main.expect("a stage"), &system);
            let names = names_of(&turns);
            let place = |name| names.iter().position(|n| *n == name);
            assert_eq!(place("spacer").is_none(), array, "{names:?}");
            assert!(array || place("spacer") < place("pdr"), "{names:?}");
            let spacer = turns.iter().find(|turn| turn.name() == "spacer");
            assert!(spacer.is_none_or(EngineTurn::keeps_frames));
        }
    }

    /// After passes bit-vectors may be codes, which do not behave like integers.
    #[test]
    fn the_twin_takes_part_where_words_may_be_numbers() {
        for wide_bit_vectors in [true, false] {
            let mut bit_vectors = shape(true);
            bit_vectors.theories = Theories {
                bitvec: true,
                wide_bit_vectors,
                ..Theories::default()
            };
            for stage in stages() {
                let names = names_of(&Strategy::Auto.turns(stage, &bit_vectors));
                let quick = stage.passes == Passes::Quick;
                assert!(!(quick && names.contains(&"vinta")));
                let is_early = matches!(stage.passes, Passes::Quick | Passes::Written);
                let expected = wide_bit_vectors && is_early;
                assert_eq!(names.contains(&"twin"), expected);
            }
        }
        // Its second turn is after one of `pdr`.
        let slices = STAGES.iter().filter(|stage| !stage.is_for_all());
        let slices: Vec<_> = slices.map(|s| (s.passes, s.turns[0].turn.engine)).collect();
        let expected = [(Passes::All, "bmc"), (Passes::Written, "twin")];
        assert_eq!(slices, expected);
    }

    #[test]
    fn where_nearly_all_are_truth_values_pdr_has_a_longer_turn() {
        // Over bit-vectors it has another one.
        for (booleans, bitvec, expected) in [(17, false, 1), (18, false, 2), (20, true, 2)] {
            let mut system = shape(true);
            system.booleans = booleans;
            system.theories.bitvec = bitvec;
            let quick = STAGES.iter().find(|s| s.passes == Passes::Quick);
            let names = names_of(&Strategy::Auto.turns(quick.expect("a stage"), &system));
            let turns = names.iter().filter(|&&name| name == "pdr").count();
            assert_eq!(turns, expected, "{booleans} {bitvec}");
        }
    }

    #[test]
    fn an_engine_by_name_is_alone() {
        let strategy = Strategy::find("kind").expect("it exists");
        for stage in stages() {
            // Even where it does not fit: its refusal is the answer.
            let expected: &[&str] = match stage.passes {
                Passes::Written => &[],
                _ => &["kind"],
            };
            assert_eq!(names_of(&strategy.turns(stage, &shape(false))), expected);
        }
        let Ok(induct) = Strategy::find("induct") else {
            panic!("it exists");
        };
        for stage in stages() {
            let written = stage.passes == Passes::Written;
            assert_eq!(induct.takes_part(stage), written);
        }
        let unknown = Strategy::find("abacus").err().expect("no such engine");
        assert!(unknown.to_string().contains("auto, bmc"), "{unknown}");
    }

    /// Engines go on from frames of their kind, rather from those about clauses after the same passes.
    #[test]
    fn frames_are_known_by_kind_and_passes() {
        let terms = Rc::new(TermStore::new());
        let mut system = System::new(terms.clone());
        let predicate = system.add_predicate("P", &[]);
        let args = Vec::new();
        system.add_clause(vec![], TermId::TRUE, Some(Atom { predicate, args }));
        let turn = |name| EngineTurn {
            entry: find(name).expect("an engine"),
            slot: slot((), 1.0, Limit::None),
        };
        let mut frames = Frames::default();
        let lemma = |level| {
            vec![Leveled {
                predicate,
                formula: TermId::TRUE,
                level,
            }]
        };
        let mut keep = |name, passes, level| {
            frames.keep(&system, &turn(name), passes, lemma(level));
        };
        keep("pdr", Passes::Quick, 1);
        keep("ic3", Passes::Quick, 2);
        keep("spacer", Passes::All, 3);
        let begins = |name, passes| {
            let left = frames.of(&turn(name), passes)?;
            Some(left.about(&system)[0].level)
        };
        assert_eq!(begins("pdr", Passes::Quick), Some(1));
        assert_eq!(begins("pdr", Passes::All), Some(3));
        assert_eq!(begins("pdr", Passes::Removed), Some(3));
        assert_eq!(begins("ic3", Passes::All), Some(2));
        assert_eq!(begins("kind", Passes::Quick), None);
        frames.keep(&system, &turn("pdr"), Passes::All, lemma(4));
        assert_eq!(frames.left.len(), 3);
    }
}
