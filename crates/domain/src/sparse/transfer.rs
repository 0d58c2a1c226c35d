//! The effect of a cube: from elements of its body atoms to one of its head.
//!
//! Invariant: the result contains every fact that the cube derives from facts in the elements, and
//! smaller elements give a result that is not larger.

use super::compile::{Cube, Program};
use super::element::Element;
use super::propagate::narrow;
use super::range::Range;

/// The layers of the analysis, from cheap to precise. Each uses what those before it found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Layer {
    Ranges,
}

/// Applies cubes. It keeps the memory of the last application.
pub(super) struct Transfer<'a> {
    program: &'a Program,
    /// Ranges of the locals.
    ranges: Vec<Range>,
    /// Steps so far.
    pub steps: u64,
}

impl<'a> Transfer<'a> {
    pub fn new(program: &'a Program) -> Self {
        Transfer {
            program,
            ranges: Vec::new(),
            steps: 0,
        }
    }

    /// The element of the head for elements of the body atoms; `None` if nothing is derived. For a
    /// query, some element. Of the layers after the given one nothing is said.
    pub fn post(&mut self, cube: &Cube, bodies: &[&Element], layer: Layer) -> Option<Element> {
        debug_assert_eq!(cube.body.len(), bodies.len());
        if !self.enter(cube, bodies) {
            return None;
        }
        let _ = layer;
        let head: &[u32] = cube.head.as_ref().map_or(&[], |h| &h.1);
        Some(Element {
            ranges: head.iter().map(|&l| self.ranges[l as usize]).collect(),
        })
    }

    /// The program.
    pub fn program(&self) -> &'a Program {
        self.program
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
        narrow(&mut self.ranges, &cube.kinds, &cube.formulas, &mut self.steps)
    }
}
