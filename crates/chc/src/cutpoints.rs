//! The cutpoint graph of engines that unwind: locations, actions between them, and the order in
//! which locations are visited.
//!
//! A location is a predicate, the entry or the error. An action is the set of all clauses that lead
//! from one location to another; a nonlinear clause belongs to one action for each predicate of its
//! body. In Vinta's paper (Albarghouthi, Gurfinkel, Chechik, SAS 2012) locations are heads of loops;
//! here all predicates are locations, but most others have been inlined before.
//!
//! Invariant: the order of locations is Bourdoncle's weak topological order. If all clauses of the
//! system are relevant, each location can be reached from the entry and can reach the error by the
//! clauses' dependencies.

use rustc_hash::FxHashMap;

use super::{DependencyGraph, PredicateId, System, WtoElement};
use alphorn_term::TermId;

/// The number of a location.
pub type Location = usize;

/// The location where derivations begin.
pub const ENTRY: Location = 0;

/// The location of derivations of `false`.
pub const ERROR: Location = 1;

/// All clauses from one location to another.
pub struct Action {
    /// The target.
    pub to: Location,
    /// Positions in [`System::clauses`], ascending.
    pub clauses: Vec<usize>,
}

/// The cutpoint graph of a system.
pub struct Cutpoints {
    /// By location, its predicate; `None` for entry and error.
    pub predicates: Vec<Option<PredicateId>>,
    /// All actions.
    pub actions: Vec<Action>,
    /// By location, the actions that leave it, as positions in `actions`.
    pub leaving: Vec<Vec<usize>>,
    /// By location, whether it is the head of a component, where engines widen.
    pub is_head: Vec<bool>,
    /// Locations in weak topological order, without entry and error.
    order: Vec<Location>,
    /// By location, its position in the order.
    position: Vec<usize>,
    /// By position, where the components begin that end there, the innermost first.
    closing: Vec<Vec<usize>>,
}

impl Cutpoints {
    /// The cutpoint graph of a system.
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
        // Inner components begin later than outer ones.
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

    /// The formal variables of the location's predicate; none for entry and error.
    pub fn formals<'s>(&self, system: &'s System, location: Location) -> &'s [TermId] {
        let predicate = self.predicates[location];
        predicate.map_or(&[], |p| &system.predicate(p).params)
    }

    /// Fresh variables in place of the location's formal variables.
    pub fn fresh_formals(&self, system: &System, location: Location) -> Vec<TermId> {
        let predicate = self.predicates[location];
        predicate.map_or_else(Vec::new, |p| system.fresh_atom(p).args)
    }

    /// The name of the location in pictures.
    pub fn name<'s>(&self, system: &'s System, location: Location) -> &'s str {
        match self.predicates[location] {
            Some(predicate) => &system.predicate(predicate).name,
            None if location == ERROR => "false",
            None => "entry",
        }
    }

    /// The location to visit after `from` (WTONEXT and WTOEXIT of Vinta's paper in one): the next
    /// pending location in the order, but at the end of a component its head if that is pending;
    /// the error if there is none.
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
