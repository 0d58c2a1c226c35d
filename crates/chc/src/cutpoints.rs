//! The cutpoint graph: locations, actions between them, and the order in which they are visited.
//! The graph of engines that unwind.
//!
//! A location is a predicate, the entry or the error; an action is all clauses that lead from one
//! location to another; a nonlinear clause is in one action for each location of its body. Passes
//! have inlined what is on no cycle, so that most predicates are heads of loops, as in VINTA's
//! paper (SAS 2012); others do no harm.
//!
//! Invariant: every location can be reached from the entry and can reach the error by the clauses'
//! dependencies alone; positions are those of Bourdoncle's weak topological order.

use rustc_hash::FxHashMap;

use super::{DependencyGraph, PredicateId, System, WtoElement};
use alphorn_term::TermId;

/// A location, by number.
pub type Location = usize;

/// Where derivations begin.
pub const ENTRY: Location = 0;

/// Where they are not to end.
pub const ERROR: Location = 1;

/// All clauses from one location to another.
pub struct Action {
    pub to: Location,
    /// Indexes in the system.
    pub clauses: Vec<usize>,
}

/// The cutpoint graph of a system.
pub struct Cutpoints {
    /// By location; `None` for entry and error.
    pub predicates: Vec<Option<PredicateId>>,
    pub actions: Vec<Action>,
    /// By location: the actions that leave it.
    pub leaving: Vec<Vec<usize>>,
    /// By location: whether it is the head of a component, where widening happens.
    pub is_head: Vec<bool>,
    /// Locations in weak topological order, without entry and error.
    order: Vec<Location>,
    /// By location: its place in the order.
    position: Vec<usize>,
    /// By place: where the components begin that end there, the innermost first.
    closing: Vec<Vec<usize>>,
}

impl Cutpoints {
    /// The graph of a system all of whose clauses are relevant.
    pub fn new(system: &System) -> Cutpoints {
        let order = DependencyGraph::new(system).weak_topological_order();
        let mut predicates = vec![None, None];
        let mut at: FxHashMap<PredicateId, Location> = FxHashMap::default();
        let mut is_head = vec![false, false];
        let mut locations = Vec::with_capacity(order.len());
        let mut position = vec![0, 0];
        let mut closing: Vec<Vec<usize>> = vec![Vec::new(); order.len() + 1];
        for (place, element) in order.iter().enumerate() {
            let (predicate, end) = match *element {
                WtoElement::Vertex(predicate) => (predicate, None),
                WtoElement::Component { head, end } => (head, Some(end)),
            };
            let location = predicates.len();
            predicates.push(Some(predicate));
            at.insert(predicate, location);
            is_head.push(end.is_some());
            locations.push(location);
            position.push(place);
            if let Some(end) = end {
                closing[end].push(place);
            }
        }
        // Inner components begin later.
        for starts in &mut closing {
            starts.reverse();
        }
        let mut actions: Vec<Action> = Vec::new();
        let mut between: FxHashMap<(Location, Location), usize> = FxHashMap::default();
        let mut leaving = vec![Vec::new(); predicates.len()];
        for (index, clause) in system.clauses.iter().enumerate() {
            let mut body: Vec<Location> = clause.body.iter().map(|a| at[&a.predicate]).collect();
            body.sort_unstable();
            body.dedup();
            if body.is_empty() {
                body.push(ENTRY);
            }
            let to = clause.head.as_ref().map_or(ERROR, |a| at[&a.predicate]);
            for from in body {
                let action = *between.entry((from, to)).or_insert_with(|| {
                    actions.push(Action {
                        to,
                        clauses: Vec::new(),
                    });
                    leaving[from].push(actions.len() - 1);
                    actions.len() - 1
                });
                actions[action].clauses.push(index);
            }
        }
        Cutpoints {
            predicates,
            actions,
            leaving,
            is_head,
            order: locations,
            position,
            closing,
        }
    }

    /// The formal variables of the location's predicate; entry and error have none.
    pub fn formals<'s>(&self, system: &'s System, location: Location) -> &'s [TermId] {
        let predicate = self.predicates[location];
        predicate.map_or(&[], |p| &system.predicate(p).params)
    }

    /// New variables for them.
    pub fn fresh_formals(&self, system: &System, location: Location) -> Vec<TermId> {
        let predicate = self.predicates[location];
        predicate.map_or_else(Vec::new, |p| system.fresh_atom(p).args)
    }

    /// What the location is called in pictures.
    pub fn name<'s>(&self, system: &'s System, location: Location) -> &'s str {
        match self.predicates[location] {
            Some(predicate) => &system.predicate(predicate).name,
            None if location == ERROR => "false",
            None => "entry",
        }
    }

    /// Where to go on from a location that was visited: WTONEXT and WTOEXIT in one. That is the
    /// next location of the order that is pending, but at the end of a component its head first, if
    /// that is; the error at last. A component without pending locations is passed over.
    pub fn next(&self, from: Location, pending: impl Fn(Location) -> bool) -> Location {
        let mut place = match from {
            ENTRY => 0,
            _ => self.position[from] + 1,
        };
        loop {
            let mut heads = self.closing[place].iter().map(|&start| self.order[start]);
            if let Some(head) = heads.find(|&head| pending(head)) {
                return head;
            }
            match self.order.get(place) {
                None => return ERROR,
                Some(&location) if pending(location) => return location,
                Some(_) => place += 1,
            }
        }
    }
}
