//! The templates of a predicate: guards and conclusions, and which of them imply others.
//!
//! A candidate is a pair of a guard, a conjunction of literals, and a conclusion, a disjunction of
//! literals. All pairs are kept as a matrix of bits, so that a state drops candidates row by row.
//!
//! Invariant: implications are computed from samples of values and are guesses. Before any state is
//! known, a predicate has all candidates, also the conclusion `false`.

use alphorn_term::{Random, TermId, TermStore};

use super::roles::{Argument, Place, Role};

/// The limits of the templates of a predicate.
struct Limits {
    /// Guards about the index of the cell.
    index_guards: usize,
    /// Guards about values and flags.
    value_guards: usize,
    /// Of guards that combine both, the places that come before the next kind of value.
    places_before_kind: usize,
    /// Guards of a predicate, at least.
    least_guards: usize,
    /// Conclusions.
    conclusions: usize,
    /// Samples for implications.
    samples: usize,
}

const LIMITS: Limits = Limits {
    index_guards: 130,
    value_guards: 9,
    places_before_kind: 8,
    least_guards: 40,
    conclusions: 400,
    samples: 1024,
};

/// How two numbers are compared.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Op {
    Le,
    Lt,
    Ge,
    Eq,
    Ne,
}

/// `left op right + offset`, where the arguments are given by their positions; without `right` it is
/// compared with `offset`. A flag counts as 0 or 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Literal {
    left: usize,
    op: Op,
    right: Option<usize>,
    offset: i64,
}

/// Values of a predicate's arguments; those of other sorts are 0.
pub(super) type State = Vec<i64>;

impl Literal {
    fn holds(&self, state: &State) -> bool {
        let left = state[self.left];
        let right = self
            .right
            .map_or(0, |r| state[r])
            .saturating_add(self.offset);
        match self.op {
            Op::Le => left <= right,
            Op::Lt => left < right,
            Op::Ge => left >= right,
            Op::Eq => left == right,
            Op::Ne => left != right,
        }
    }

    fn term(&self, terms: &TermStore, args: &[TermId]) -> TermId {
        let left = args[self.left];
        if terms.sort_of(left) == alphorn_term::SortId::BOOL {
            let positive = match self.right {
                Some(right) => terms.eq(left, args[right]),
                None if self.offset == 0 => terms.not(left),
                None => left,
            };
            return match self.op {
                Op::Ne => terms.not(positive),
                _ => positive,
            };
        }
        let offset = terms.int(self.offset);
        let right = self.right.map_or(offset, |r| terms.add(&[args[r], offset]));
        match self.op {
            Op::Le => terms.le(left, right),
            Op::Lt => terms.lt(left, right),
            Op::Ge => terms.ge(left, right),
            Op::Eq => terms.eq(left, right),
            Op::Ne => terms.not(terms.eq(left, right)),
        }
    }
}

fn with_number(left: usize, op: Op, offset: i64) -> Literal {
    Literal {
        left,
        op,
        right: None,
        offset,
    }
}

fn with_argument(left: usize, op: Op, right: usize, offset: i64) -> Literal {
    Literal {
        left,
        op,
        right: Some(right),
        offset,
    }
}

/// A set of small numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Bits(Vec<u64>);

impl Bits {
    fn none(size: usize) -> Bits {
        Bits(vec![0; size.div_ceil(64)])
    }

    fn all(size: usize) -> Bits {
        let mut bits = Bits::none(size);
        (0..size).for_each(|at| bits.insert(at));
        bits
    }

    fn insert(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    fn contains(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }

    fn is_subset(&self, other: &Bits) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| a & !b == 0)
    }

    fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Removes what is not in the other set; true if something was removed.
    fn retain(&mut self, other: &Bits) -> bool {
        let mut changed = false;
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            changed |= *a & !b != 0;
            *a &= b;
        }
        changed
    }

    fn add(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    fn minus(&self, other: &Bits) -> Bits {
        Bits(self.0.iter().zip(&other.0).map(|(a, b)| a & !b).collect())
    }

    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(at, &word)| {
            (0..64)
                .filter(move |bit| word >> bit & 1 == 1)
                .map(move |bit| at * 64 + bit)
        })
    }
}

/// A candidate: the positions of its guard and its conclusion.
pub(super) type Candidate = (usize, usize);

/// The candidates of a predicate that are left.
pub(super) struct Candidates {
    guards: Vec<Vec<Literal>>,
    conclusions: Vec<Vec<Literal>>,
    /// By guard, the conclusions that are left.
    alive: Vec<Bits>,
    /// By guard, the guards that it implies directly, without itself and those that follow through
    /// others; of equivalent ones the first is the strongest.
    weaker_guards: Vec<Vec<usize>>,
    /// The guards, weaker ones first.
    guard_order: Vec<usize>,
    /// By conclusion, those that it implies, without itself.
    weaker: Vec<Bits>,
    /// The conclusions, stronger ones first.
    order: Vec<usize>,
    /// Whether a state is known.
    pub reached: bool,
}

/// Implications between formulas: by formula, those that hold in all samples in which it holds.
fn implied(holds: &[Bits]) -> Vec<Bits> {
    let count = holds.len();
    let of = |at: usize| {
        let mut found = Bits::none(count);
        for other in 0..count {
            let below = holds[at].is_subset(&holds[other]);
            if other != at && below && (at < other || holds[at] != holds[other]) {
                found.insert(other);
            }
        }
        found
    };
    (0..count).map(of).collect()
}

/// The formulas, stronger ones first: each before those that it implies.
fn by_strength(holds: &[Bits]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..holds.len()).collect();
    order.sort_by_key(|&at| holds[at].count());
    order
}

/// Of transitive implications those that do not follow from two others.
fn direct(implied: &[Bits]) -> Vec<Vec<usize>> {
    let of = |all: &Bits| {
        let mut through = Bits::none(implied.len());
        all.iter().for_each(|at| through.add(&implied[at]));
        all.minus(&through).iter().collect()
    };
    implied.iter().map(of).collect()
}

impl Candidates {
    /// The candidates of a predicate, about `most` at most: those with simple guards first.
    pub fn new(arguments: &[Argument], most: usize) -> Candidates {
        let parts = Parts::new(arguments);
        let conclusions = parts.conclusions();
        let mut guards = parts.guards();
        guards.truncate(LIMITS.least_guards.max(most / conclusions.len()));
        let samples = parts.samples(arguments);
        let holds = |formula: &dyn Fn(&State) -> bool| {
            let mut bits = Bits::none(samples.len());
            for (at, sample) in samples.iter().enumerate() {
                if formula(sample) {
                    bits.insert(at);
                }
            }
            bits
        };
        let of_guards: Vec<Bits> = guards
            .iter()
            .map(|g| holds(&|state| g.iter().all(|l| l.holds(state))))
            .collect();
        let of_conclusions: Vec<Bits> = conclusions
            .iter()
            .map(|c| holds(&|state| c.iter().any(|l| l.holds(state))))
            .collect();
        let mut guard_order = by_strength(&of_guards);
        guard_order.reverse();
        Candidates {
            alive: vec![Bits::all(conclusions.len()); guards.len()],
            weaker_guards: direct(&implied(&of_guards)),
            guard_order,
            weaker: implied(&of_conclusions),
            order: by_strength(&of_conclusions),
            guards,
            conclusions,
            reached: false,
        }
    }

    /// The number of candidates that are left.
    pub fn count(&self) -> usize {
        self.alive.iter().map(Bits::count).sum()
    }

    /// Whether the candidate is left.
    pub fn is_alive(&self, (guard, conclusion): Candidate) -> bool {
        self.alive[guard].contains(conclusion)
    }

    /// Drops what does not hold in a state; true if something was dropped.
    pub fn drop_by(&mut self, state: &State) -> bool {
        self.reached = true;
        let mut holding = Bits::none(self.conclusions.len());
        for (at, conclusion) in self.conclusions.iter().enumerate() {
            if conclusion.iter().any(|l| l.holds(state)) {
                holding.insert(at);
            }
        }
        let mut changed = false;
        for (guard, alive) in self.guards.iter().zip(&mut self.alive) {
            if guard.iter().all(|l| l.holds(state)) {
                changed |= alive.retain(&holding);
            }
        }
        changed
    }

    /// Drops these candidates.
    pub fn drop_all(&mut self, candidates: &[Candidate]) {
        self.reached = true;
        for &(guard, conclusion) in candidates {
            self.alive[guard].0[conclusion / 64] &= !(1 << (conclusion % 64));
        }
    }

    /// The candidates that are left and that no other one of these implies.
    pub fn strongest(&self) -> Vec<Candidate> {
        // By guard, what follows from candidates with this or a weaker guard.
        let mut known = vec![Bits::none(self.conclusions.len()); self.guards.len()];
        let mut found = Vec::new();
        for &at in &self.guard_order {
            let mut all = Bits::none(self.conclusions.len());
            for &weaker in &self.weaker_guards[at] {
                all.add(&known[weaker]);
            }
            for &conclusion in &self.order {
                if self.alive[at].contains(conclusion) && !all.contains(conclusion) {
                    found.push((at, conclusion));
                    all.insert(conclusion);
                    all.add(&self.weaker[conclusion]);
                }
            }
            known[at] = all;
        }
        found.sort_unstable();
        found
    }

    /// Those of the given candidates that do not hold in a state.
    pub fn violated(&self, of: &[Candidate], state: &State) -> Vec<Candidate> {
        let guards: Vec<bool> = self
            .guards
            .iter()
            .map(|g| g.iter().all(|l| l.holds(state)))
            .collect();
        let is_violated = |&&(guard, conclusion): &&Candidate| {
            guards[guard] && !self.conclusions[conclusion].iter().any(|l| l.holds(state))
        };
        of.iter().filter(is_violated).copied().collect()
    }

    /// The candidate as a formula over arguments.
    pub fn formula(&self, terms: &TermStore, candidate: Candidate, args: &[TermId]) -> TermId {
        let guard = self.guards[candidate.0].iter();
        let conclusion = self.conclusions[candidate.1].iter();
        let mut parts: Vec<TermId> = guard.map(|l| terms.not(l.term(terms, args))).collect();
        parts.extend(conclusion.map(|l| l.term(terms, args)));
        terms.or(&parts)
    }
}

/// Positions of arguments by their meaning.
#[derive(Default)]
struct Parts {
    index: Vec<usize>,
    /// Addresses that are the same for all cells.
    shared: Vec<usize>,
    /// Addresses in the cell.
    links: Vec<usize>,
    /// Values with their classes and numerals, and whether they may be part of the cell.
    values: Vec<(usize, usize, Vec<i64>, bool)>,
    flags: Vec<usize>,
}

impl Parts {
    fn new(arguments: &[Argument]) -> Parts {
        let mut parts = Parts::default();
        let cells = arguments.iter().any(|a| a.role == Role::Index);
        for (at, argument) in arguments.iter().enumerate() {
            let in_cell = cells && argument.place != Place::Shared;
            match &argument.role {
                Role::Index => parts.index.push(at),
                Role::Address => {
                    if argument.place != Place::Cell || !cells {
                        parts.shared.push(at);
                    }
                    if in_cell {
                        parts.links.push(at);
                    }
                }
                Role::Value { class, numerals } => {
                    parts.values.push((at, *class, numerals.clone(), in_cell));
                }
                Role::Flag => parts.flags.push(at),
                Role::Other => {}
            }
        }
        parts
    }

    /// Guards about the position of the cell, each with one about values.
    fn guards(&self) -> Vec<Vec<Literal>> {
        let mut places: Vec<Vec<Literal>> = vec![Vec::new()];
        for &k in &self.index {
            for n in [1, 2] {
                places.push(vec![with_number(k, Op::Eq, n)]);
                places.push(vec![with_number(k, Op::Ne, n)]);
            }
            for &x in &self.shared {
                for op in [Op::Eq, Op::Ne, Op::Lt, Op::Le] {
                    places.push(vec![with_argument(k, op, x, 0)]);
                }
                places.push(vec![with_argument(x, Op::Lt, k, 0)]);
                places.push(vec![with_argument(x, Op::Le, k, 0)]);
            }
            for (at, &x) in self.shared.iter().enumerate() {
                for (other, &y) in self.shared.iter().enumerate() {
                    if at == other {
                        continue;
                    }
                    let below = with_argument(k, Op::Lt, x, 0);
                    let above = with_argument(x, Op::Lt, k, 0);
                    let different = with_argument(k, Op::Ne, y, 0);
                    places.push(vec![above, with_argument(k, Op::Lt, y, 0)]);
                    places.push(vec![below, different]);
                    places.push(vec![above, different]);
                    if at < other {
                        places.push(vec![with_argument(k, Op::Ne, x, 0), different]);
                    }
                }
                places.push(vec![
                    with_argument(k, Op::Ne, x, 0),
                    with_number(k, Op::Ne, 1),
                ]);
            }
        }
        for &k in &self.index {
            for &x in &self.shared {
                for (op, n) in [(Op::Le, 2), (Op::Lt, 1), (Op::Ge, 2)] {
                    places.push(vec![with_argument(k, op, x, 0), with_number(k, Op::Ne, n)]);
                }
            }
        }
        places.truncate(LIMITS.index_guards);
        // Cells that may be allocated; a guard about the kind of object says so, too.
        let mut kinds: Vec<Vec<Literal>> = vec![Vec::new()];
        kinds.extend(self.index.iter().map(|&k| vec![with_number(k, Op::Ge, 1)]));
        let always = kinds.len();
        for (at, _, numerals, _) in &self.values {
            for &numeral in numerals {
                kinds.push(vec![with_number(*at, Op::Eq, numeral)]);
                kinds.push(vec![with_number(*at, Op::Ne, numeral)]);
            }
        }
        for &flag in &self.flags {
            kinds.push(vec![with_number(flag, Op::Eq, 1)]);
            kinds.push(vec![with_number(flag, Op::Eq, 0)]);
        }
        kinds.truncate(always + LIMITS.value_guards);
        // Simple guards first: each further kind is as far behind as some further places.
        let mut pairs: Vec<(usize, Vec<Literal>)> = Vec::new();
        for (at, kind) in kinds.iter().enumerate() {
            let of_kind = places.iter().enumerate();
            pairs.extend(of_kind.map(|(place_at, place)| {
                let rank = place_at + LIMITS.places_before_kind * at;
                (rank, [&place[..], kind].concat())
            }));
        }
        pairs.sort_by_key(|pair| pair.0);
        pairs.into_iter().map(|pair| pair.1).collect()
    }

    /// All conclusions; the first is `false`.
    fn conclusions(&self) -> Vec<Vec<Literal>> {
        let mut found: Vec<Vec<Literal>> = vec![Vec::new()];
        self.about_values(&mut found);
        self.about_links(&mut found);
        self.about_addresses(&mut found);
        found.truncate(LIMITS.conclusions);
        found
    }

    fn about_values(&self, found: &mut Vec<Vec<Literal>>) {
        for (at, class, numerals, _) in &self.values {
            for &numeral in numerals {
                found.push(vec![with_number(*at, Op::Eq, numeral)]);
                found.push(vec![with_number(*at, Op::Ne, numeral)]);
            }
            for (n, &a) in numerals.iter().enumerate() {
                for &b in &numerals[n + 1..] {
                    let (a, b) = (with_number(*at, Op::Eq, a), with_number(*at, Op::Eq, b));
                    found.push(vec![a, b]);
                }
            }
            found.push(vec![with_number(*at, Op::Ge, 0)]);
            found.push(vec![with_number(*at, Op::Lt, 0)]);
            for (other, other_class, _, _) in &self.values {
                if other != at && other_class == class {
                    found.push(vec![with_argument(*at, Op::Le, *other, 0)]);
                    found.push(vec![with_argument(*at, Op::Lt, *other, 0)]);
                    if at < other {
                        found.push(vec![with_argument(*at, Op::Eq, *other, 0)]);
                    }
                }
            }
        }
        for (at, &flag) in self.flags.iter().enumerate() {
            found.push(vec![with_number(flag, Op::Eq, 1)]);
            found.push(vec![with_number(flag, Op::Eq, 0)]);
            for &other in &self.flags[at + 1..] {
                found.push(vec![with_argument(flag, Op::Eq, other, 0)]);
                found.push(vec![with_argument(flag, Op::Ne, other, 0)]);
            }
        }
    }

    fn about_links(&self, found: &mut Vec<Vec<Literal>>) {
        for &f in &self.links {
            let null = with_number(f, Op::Eq, 0);
            found.push(vec![null]);
            found.push(vec![with_number(f, Op::Ne, 0)]);
            found.push(vec![with_number(f, Op::Ne, 1)]);
            found.push(vec![with_number(f, Op::Eq, 1)]);
            found.push(vec![null, with_number(f, Op::Eq, 1)]);
            found.push(vec![with_number(f, Op::Ge, 0)]);
            for &k in &self.index {
                for offset in [1, -1, 2, -2, 0] {
                    let next = with_argument(f, Op::Eq, k, offset);
                    found.push(vec![next]);
                    found.push(vec![null, next]);
                }
                let (below, above) = (
                    with_argument(f, Op::Lt, k, 0),
                    with_argument(k, Op::Lt, f, 0),
                );
                found.push(vec![below]);
                found.push(vec![above]);
                found.push(vec![null, above]);
                found.push(vec![with_argument(f, Op::Ne, k, 0)]);
            }
            for &x in &self.shared {
                if x == f {
                    continue;
                }
                for op in [Op::Eq, Op::Ne, Op::Lt, Op::Le] {
                    found.push(vec![with_argument(f, op, x, 0)]);
                }
                found.push(vec![with_argument(x, Op::Lt, f, 0)]);
                found.push(vec![null, with_argument(x, Op::Lt, f, 0)]);
                found.push(vec![null, with_argument(f, Op::Eq, x, 0)]);
            }
            for &other in &self.links {
                if other != f {
                    found.push(vec![with_argument(f, Op::Lt, other, 0)]);
                    found.push(vec![with_argument(f, Op::Eq, other, 0)]);
                    found.push(vec![null, with_number(other, Op::Eq, 0)]);
                }
            }
        }
    }

    fn about_addresses(&self, found: &mut Vec<Vec<Literal>>) {
        for &x in &self.shared {
            let null = with_number(x, Op::Eq, 0);
            for n in [0, 1, 2] {
                found.push(vec![with_number(x, Op::Eq, n)]);
                found.push(vec![with_number(x, Op::Ne, n)]);
                found.push(vec![with_number(x, Op::Ge, n)]);
            }
            for &y in &self.shared {
                if x == y {
                    continue;
                }
                found.push(vec![with_argument(x, Op::Lt, y, 0)]);
                found.push(vec![with_argument(x, Op::Le, y, 0)]);
                found.push(vec![with_argument(x, Op::Eq, y, 1)]);
                found.push(vec![with_argument(x, Op::Eq, y, 2)]);
                found.push(vec![null, with_argument(x, Op::Lt, y, 0)]);
                found.push(vec![null, with_argument(x, Op::Eq, y, -1)]);
                found.push(vec![null, with_number(y, Op::Ne, 0)]);
                found.push(vec![null, with_argument(x, Op::Eq, y, 0)]);
                found.push(vec![null, with_argument(x, Op::Ne, y, 0)]);
                if x < y {
                    found.push(vec![with_argument(x, Op::Eq, y, 0)]);
                    found.push(vec![with_argument(x, Op::Ne, y, 0)]);
                }
            }
        }
    }

    /// Random values of the arguments, small enough that guards and conclusions often hold. They have
    /// to violate each conclusion: one that holds in all samples would count as implied.
    fn samples(&self, arguments: &[Argument]) -> Vec<State> {
        let mut random = Random::new(1);
        let mut sample = || {
            arguments
                .iter()
                .map(|argument| match &argument.role {
                    Role::Index | Role::Address => random.below(7) as i64 - 1,
                    Role::Value { numerals, .. } => match random.below(numerals.len() + 1) {
                        0 => random.below(5) as i64 - 1,
                        at => numerals[at - 1],
                    },
                    Role::Flag => random.below(2) as i64,
                    Role::Other => 0,
                })
                .collect()
        };
        (0..LIMITS.samples).map(|_| sample()).collect()
    }
}
