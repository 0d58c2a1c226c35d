//! The effect of a cube: from elements of its body atoms to one of its head.
//!
//! Invariant: the result contains every fact that the cube derives from facts in the elements, and
//! smaller elements give a result that is not larger.

use std::time::Duration;

use super::compile::{Cube, Program};
use super::element::{AllPacks, Element};
use super::equations::{self, Equations};
use super::implications::{self, Implications};
use super::propagate::narrow;
use super::range::Range;
use super::zones::{self, Zones};

/// The layers of the analysis, from cheap to precise. Each uses what those before it found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Layer {
    Ranges,
    Zones,
    Equations,
    Implications,
}

impl Layer {
    pub const ALL: [Layer; 4] = [
        Layer::Ranges,
        Layer::Zones,
        Layer::Equations,
        Layer::Implications,
    ];
}

/// Which layers an application computes. Ranges are always computed.
#[derive(Clone, Copy)]
pub(super) enum Extent {
    Only(Layer),
    UpTo(Layer),
}

impl Extent {
    fn includes(self, layer: Layer) -> bool {
        match self {
            Extent::Only(own) => own == layer,
            Extent::UpTo(last) => layer <= last,
        }
    }
}

/// How each cube relates arguments, for the layers that need packs.
#[derive(Default)]
pub(super) struct Plans {
    pub packs: AllPacks,
    pub zones: Vec<zones::Plan>,
    pub equations: Vec<equations::Plan>,
}

/// The nominal time of a step of [`Transfer`].
pub(super) const STEP: Duration = Duration::from_nanos(15);

/// Applies cubes. It keeps the memory of the last application.
pub(super) struct Transfer<'a> {
    program: &'a Program,
    plans: &'a Plans,
    /// Ranges of the locals.
    ranges: Vec<Range>,
    matrix: Vec<i64>,
    /// Steps so far.
    pub steps: u64,
}

impl<'a> Transfer<'a> {
    pub fn new(program: &'a Program, plans: &'a Plans) -> Self {
        Transfer {
            program,
            plans,
            ranges: Vec::new(),
            matrix: Vec::new(),
            steps: 0,
        }
    }

    /// The element of the head for elements of the body atoms; `None` if nothing is derived. For a
    /// query, some element. `known` has the ranges of all predicates that hold in any case.
    pub fn post(
        &mut self,
        at: u32,
        bodies: &[&Element],
        known: &[Option<Element>],
        extent: Extent,
    ) -> Option<Element> {
        self.post_for(at, bodies, known, extent, &|_| true)
    }

    /// The same, with implications of some conditions only.
    pub fn post_for(
        &mut self,
        at: u32,
        bodies: &[&Element],
        known: &[Option<Element>],
        extent: Extent,
        wanted: &dyn Fn(u32) -> bool,
    ) -> Option<Element> {
        let cube = &self.program.cubes[at as usize];
        debug_assert_eq!(cube.body.len(), bodies.len());
        if !self.enter(cube, bodies) {
            return None;
        }
        let relates = |layer| extent.includes(layer);
        let implications: Vec<&Implications> = match relates(Layer::Implications) {
            true => bodies.iter().map(|b| &b.implications).collect(),
            false => Vec::new(),
        };
        let (ranges, steps) = (&mut self.ranges, &mut self.steps);
        if !implications::propagate(cube, &implications, ranges, steps) {
            return None;
        }
        let head: &[u32] = cube.head.as_ref().map_or(&[], |h| &h.1);
        let own = head.iter().map(|&local| ranges[local as usize]);
        let mut found = Element::of_ranges(own.collect());
        if relates(Layer::Zones)
            && let Some(plan) = self.plans.zones.get(at as usize)
        {
            let bodies: Vec<&Zones> = bodies.iter().map(|b| &b.zones).collect();
            found.zones = zones::post(plan, ranges, &bodies, &mut self.matrix, steps)?;
        }
        if relates(Layer::Equations)
            && let Some(plan) = self.plans.equations.get(at as usize)
        {
            let bodies: Vec<&Equations> = bodies.iter().map(|b| &b.equations).collect();
            found.equations = equations::post(plan, cube, ranges, &bodies, steps)?;
        }
        if relates(Layer::Implications)
            && let Some((p, _)) = cube.head
            && let Some(base) = &known[p]
        {
            let kinds = &self.program.kinds[p];
            let (bodies, base) = (&implications, &base.ranges);
            found.implications =
                implications::post(cube, bodies, ranges, base, kinds, wanted, steps);
        }
        Some(found)
    }

    /// The program.
    pub fn program(&self) -> &'a Program {
        self.program
    }

    /// The packs.
    pub fn packs(&self) -> &'a AllPacks {
        &self.plans.packs
    }

    /// Computes the ranges of the locals; false if there is no solution.
    fn enter(&mut self, cube: &Cube, bodies: &[&Element]) -> bool {
        self.steps += 16 + cube.start.len() as u64 / 2;
        self.ranges.clear();
        self.ranges.extend_from_slice(&cube.start);
        for ((_, args), element) in cube.body.iter().zip(bodies) {
            for (&local, range) in args.iter().zip(element.ranges.iter()) {
                let own = &mut self.ranges[local as usize];
                *own = own.meet(*range);
                if own.is_empty() {
                    return false;
                }
            }
        }
        narrow(
            &mut self.ranges,
            &cube.kinds,
            &cube.formulas,
            &mut self.steps,
        )
    }
}
