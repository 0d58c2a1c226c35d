//! What the analysis knows of the facts of a predicate, and the single statements in it.
//!
//! Invariant: an element describes a superset of the facts of its predicate.

use std::rc::Rc;

use super::equations::{self, Equations};
use super::implications::{self, Implications};
use super::packs::Packs;
use super::range::{INFINITE, Range, add};
use super::transfer::Layer;
use super::zones::Zones;

/// What holds of all facts of a predicate. What a layer has not found is empty.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Element {
    /// By argument.
    pub ranges: Rc<[Range]>,
    pub zones: Zones,
    pub equations: Equations,
    pub implications: Implications,
}

/// One statement of an element.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum Statement {
    /// There are no facts.
    False,
    /// The lower bound of an argument.
    Lower(u32),
    /// The upper bound of an argument.
    Upper(u32),
    /// The upper bound of a difference: a pack, the row and the column of its matrix.
    Difference(u32, u32, u32),
    /// An equation: a pack and the position among its equations.
    Equation(u32, u32),
    /// The range of an argument under a condition.
    Implication(u32, u32),
}

/// The packs of all predicates, by layer.
#[derive(Default)]
pub(super) struct AllPacks {
    pub zones: Packs,
    pub equations: Packs,
}

impl AllPacks {
    /// The arguments of a pack of differences.
    pub fn zone(&self, p: usize, pack: u32) -> &[u32] {
        &self.zones[p][pack as usize]
    }

    /// The arguments of a pack of equations.
    pub fn equation(&self, p: usize, pack: u32) -> &[u32] {
        &self.equations[p][pack as usize]
    }
}

impl Element {
    /// An element that says only the ranges.
    pub fn of_ranges(ranges: Rc<[Range]>) -> Element {
        Element {
            ranges,
            zones: Zones::default(),
            equations: Equations::default(),
            implications: Implications::default(),
        }
    }

    /// The element of the layers before with what a layer found.
    pub fn with(&self, found: Element, layer: Layer) -> Element {
        let mut all = self.clone();
        match layer {
            Layer::Ranges => all.ranges = found.ranges,
            Layer::Zones => all.zones = found.zones,
            Layer::Equations => all.equations = found.equations,
            Layer::Implications => all.implications = found.implications,
        }
        all
    }

    /// All statements that say more than the sorts, and of relations those that say more than the
    /// ranges.
    pub fn statements(&self, starts: &[Range], p: usize, packs: &AllPacks) -> Vec<Statement> {
        let mut all = self.unconditional(starts, p, packs);
        for (condition, bounds) in self.implications.iter() {
            all.extend(
                bounds
                    .iter()
                    .map(|b| Statement::Implication(*condition, b.0)),
            );
        }
        all
    }

    /// The implications between arguments with a mark.
    pub fn implications_between(&self, marks: &[bool]) -> Vec<Statement> {
        let mut found = Vec::new();
        for (condition, bounds) in self.implications.iter() {
            if marks[*condition as usize / 2] {
                let bounds = bounds.iter().filter(|b| marks[b.0 as usize]);
                found.extend(bounds.map(|b| Statement::Implication(*condition, b.0)));
            }
        }
        found
    }

    /// The statements that are not implications.
    pub fn unconditional(&self, starts: &[Range], p: usize, packs: &AllPacks) -> Vec<Statement> {
        let mut all = Vec::new();
        for (at, (range, start)) in (0..).zip(self.ranges.iter().zip(starts)) {
            if range.low > start.low {
                all.push(Statement::Lower(at));
            }
            if range.high < start.high {
                all.push(Statement::Upper(at));
            }
        }
        for (pack, zone) in (0..).zip(self.zones.iter()) {
            if zone.is_empty() {
                continue;
            }
            let arguments = packs.zone(p, pack);
            let size = arguments.len() + 1;
            for (at, &bound) in zone.iter().enumerate() {
                let (i, j) = (at / size, at % size);
                if i != j && bound < self.difference(arguments, i, j) {
                    all.push(Statement::Difference(pack, i as u32, j as u32));
                }
            }
        }
        for (pack, equations) in (0..).zip(self.equations.iter()) {
            let count = equations.len() as u32;
            all.extend((0..count).map(|at| Statement::Equation(pack, at)));
        }
        all
    }

    /// The upper bound of the difference of row `i` and column `j` that the ranges give.
    fn difference(&self, arguments: &[u32], i: usize, j: usize) -> i64 {
        let range = |i: usize| match i {
            0 => Range { low: 0, high: 0 },
            i => self.ranges[arguments[i - 1] as usize],
        };
        add(range(i).high, -range(j).low)
    }

    /// The element that makes only these statements.
    pub fn only(&self, statements: impl Iterator<Item = Statement>, starts: &[Range]) -> Element {
        let mut ranges: Vec<Range> = starts.to_vec();
        let mut zones: Vec<Vec<i64>> = Vec::new();
        let mut equations: Vec<Vec<equations::Equation>> = Vec::new();
        let mut conditional: Vec<(u32, u32, Range)> = Vec::new();
        for statement in statements {
            match statement {
                Statement::False => {}
                Statement::Lower(at) => ranges[at as usize].low = self.ranges[at as usize].low,
                Statement::Upper(at) => ranges[at as usize].high = self.ranges[at as usize].high,
                Statement::Difference(pack, i, j) => {
                    zones.resize(self.zones.len(), Vec::new());
                    let own = &self.zones[pack as usize];
                    let zone = &mut zones[pack as usize];
                    zone.resize(own.len(), INFINITE);
                    let at = i as usize * own.len().isqrt() + j as usize;
                    zone[at] = own[at];
                }
                Statement::Equation(pack, at) => {
                    equations.resize(self.equations.len(), Vec::new());
                    let own = &self.equations[pack as usize];
                    equations[pack as usize].push(own[at as usize].clone());
                }
                Statement::Implication(condition, argument) => {
                    let base = self.ranges[argument as usize];
                    let of = (&self.implications, condition);
                    let range = implications::range(of.0, of.1, argument, base);
                    conditional.push((condition, argument, range));
                }
            }
        }
        conditional.sort_unstable_by_key(|c| (c.0, c.1));
        let implications = conditional.chunk_by(|a, b| a.0 == b.0).map(|own| {
            let bounds = own.iter().map(|&(_, argument, range)| (argument, range));
            (own[0].0, bounds.collect())
        });
        Element {
            ranges: ranges.into(),
            zones: zones.into_iter().map(Into::into).collect(),
            equations: equations.into_iter().map(Into::into).collect(),
            implications: implications.collect(),
        }
    }

    /// Whether it makes a statement of another element, or one that implies it.
    pub fn implies(&self, statement: Statement, of: &Element, p: usize, packs: &AllPacks) -> bool {
        match statement {
            Statement::False => false,
            Statement::Lower(at) => self.ranges[at as usize].low >= of.ranges[at as usize].low,
            Statement::Upper(at) => self.ranges[at as usize].high <= of.ranges[at as usize].high,
            Statement::Difference(pack, i, j) => {
                let (i, j) = (i as usize, j as usize);
                let arguments = packs.zone(p, pack);
                let at = i * (arguments.len() + 1) + j;
                let own = self.zones.get(pack as usize);
                let own = own.and_then(|zone| zone.get(at)).copied();
                let implied = self.difference(arguments, i, j);
                own.unwrap_or(INFINITE).min(implied) <= of.zones[pack as usize][at]
            }
            Statement::Equation(pack, at) => {
                let own = self.equations.get(pack as usize);
                let wanted = &of.equations[pack as usize][at as usize];
                equations::implies(own.map_or(&[][..], |own| own), wanted)
            }
            Statement::Implication(condition, argument) => {
                let at = argument as usize;
                let own = (self.ranges[at], of.ranges[at]);
                let range = implications::range(&self.implications, condition, argument, own.0);
                let wanted = implications::range(&of.implications, condition, argument, own.1);
                range.is_empty() || own.0.meet(range).is_empty() || {
                    !wanted.is_empty() && wanted.includes(own.0.meet(range))
                }
            }
        }
    }

    /// The arguments that a statement about a predicate is about.
    pub fn arguments(statement: Statement, of: &Element, p: usize, packs: &AllPacks) -> Vec<u32> {
        match statement {
            Statement::False => Vec::new(),
            Statement::Lower(at) | Statement::Upper(at) => vec![at],
            Statement::Difference(pack, i, j) => {
                let arguments = packs.zone(p, pack);
                let own = [i, j].into_iter().filter(|i| *i > 0);
                own.map(|i| arguments[i as usize - 1]).collect()
            }
            Statement::Equation(pack, at) => {
                let arguments = packs.equation(p, pack).iter();
                let equation = &of.equations[pack as usize][at as usize];
                let own = arguments.zip(equation.iter()).filter(|t| *t.1 != 0);
                own.map(|t| *t.0).collect()
            }
            Statement::Implication(condition, argument) => vec![condition / 2, argument],
        }
    }

    /// Keeps its ranges inside those of the sorts.
    pub fn stay_within(&mut self, starts: &[Range]) {
        let mut pairs = self.ranges.iter().zip(starts);
        if pairs.all(|(range, start)| start.includes(*range)) {
            return;
        }
        let pairs = self.ranges.iter().zip(starts);
        self.ranges = pairs.map(|(range, start)| range.meet(*start)).collect();
    }

    /// Enlarges what a layer found to contain another element; whether it changed.
    pub fn join(&mut self, other: &Element, layer: Layer, widening: Widening) -> bool {
        match layer {
            Layer::Ranges => {
                let joined = joined(&self.ranges, &other.ranges, widening);
                replace(&mut self.ranges, joined.map(Into::into))
            }
            Layer::Zones => {
                let joined = joined_zones(&self.zones, &other.zones, widening);
                replace(&mut self.zones, joined)
            }
            Layer::Equations => {
                let joined = joined_equations(&self.equations, &other.equations);
                replace(&mut self.equations, joined)
            }
            Layer::Implications => {
                let widens = !matches!(widening, Widening::None);
                let (own, other) = (&self.implications, &other.implications);
                let joined = implications::join(own, other, &self.ranges, widens);
                replace(&mut self.implications, joined)
            }
        }
    }
}

fn replace<T>(own: &mut T, by: Option<T>) -> bool {
    let changed = by.is_some();
    if let Some(by) = by {
        *own = by;
    }
    changed
}

/// The matrices with the larger entries; `None` if these are those of the first.
fn joined_zones(own: &Zones, other: &Zones, widening: Widening) -> Option<Zones> {
    let mut result: Option<Vec<Rc<[i64]>>> = None;
    for (pack, zone) in own.iter().enumerate() {
        let none: &[i64] = &[];
        let other = other.get(pack).map_or(none, |zone| zone);
        let is_same = std::ptr::eq(&**zone, other);
        let entry = |at: usize| other.get(at).copied().unwrap_or(INFINITE);
        if is_same || (0..zone.len()).all(|at| entry(at) <= zone[at]) {
            continue;
        }
        let wider = zone.iter().enumerate().map(|(at, &bound)| match widening {
            _ if entry(at) <= bound => bound,
            Widening::None => entry(at),
            _ => INFINITE,
        });
        result.get_or_insert_with(|| own.to_vec())[pack] = wider.collect();
    }
    result.map(Into::into)
}

fn joined_equations(own: &Equations, other: &Equations) -> Option<Equations> {
    let mut result: Option<Vec<Rc<[equations::Equation]>>> = None;
    let none = Rc::default();
    for (pack, equations) in own.iter().enumerate() {
        let other = other.get(pack).unwrap_or(&none);
        if let Some(joined) = equations::join(equations, other) {
            result.get_or_insert_with(|| own.to_vec())[pack] = joined;
        }
    }
    result.map(Into::into)
}

/// How a join jumps over values, so that chains end.
#[derive(Clone, Copy)]
pub(super) enum Widening<'a> {
    /// It does not.
    None,
    /// To the next of these numbers, which are ascending.
    Thresholds(&'a [i64]),
    /// To infinity.
    Infinite,
}

impl Widening<'_> {
    /// A number that is at least `value`, for an upper bound that grows.
    pub fn up(self, value: i64) -> i64 {
        match self {
            Widening::None => value,
            Widening::Thresholds(all) => {
                let at = all.partition_point(|&t| t < value);
                all.get(at).copied().unwrap_or(INFINITE)
            }
            Widening::Infinite => INFINITE,
        }
    }

    /// A number that is at most `value`, for a lower bound that becomes less.
    pub fn down(self, value: i64) -> i64 {
        match self {
            Widening::None => value,
            Widening::Thresholds(all) => {
                let at = all.partition_point(|&t| t <= value);
                at.checked_sub(1).map_or(-INFINITE, |at| all[at])
            }
            Widening::Infinite => -INFINITE,
        }
    }
}

/// The ranges enlarged to contain others; `None` if they do already.
fn joined(own: &[Range], others: &[Range], widening: Widening) -> Option<Vec<Range>> {
    let mut result: Option<Vec<Range>> = None;
    for (at, (range, other)) in own.iter().zip(others).enumerate() {
        if range.includes(*other) {
            continue;
        }
        let range = &mut result.get_or_insert_with(|| own.to_vec())[at];
        if other.low < range.low {
            range.low = widening.down(other.low);
        }
        if other.high > range.high {
            range.high = widening.up(other.high);
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widening_goes_to_thresholds() {
        let thresholds = Widening::Thresholds(&[-3, 0, 10]);
        assert_eq!((thresholds.up(4), thresholds.up(10)), (10, 10));
        assert_eq!(
            (thresholds.up(11), thresholds.down(-4)),
            (INFINITE, -INFINITE)
        );
        assert_eq!((thresholds.down(-1), thresholds.down(0)), (-3, 0));
        let own = [Range { low: 0, high: 1 }];
        let other = [Range { low: 0, high: 2 }];
        let wide = joined(&own, &other, thresholds).expect("it grows");
        assert_eq!(wide, [Range { low: 0, high: 10 }]);
        assert!(joined(&wide, &other, Widening::Infinite).is_none());
    }
}
