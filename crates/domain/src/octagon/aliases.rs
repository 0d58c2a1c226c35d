//! Variables that are equal to others up to sign and offset.
//!
//! Invariant: links lead to a root without cycles, and offsets stay within the bounds that the user
//! of [`Aliases::links`] keeps.

use rustc_hash::FxHashMap;

use alphorn_term::TermId;

/// A variable as `sign * root + offset`.
#[derive(Clone, Copy)]
pub struct Alias {
    pub root: usize,
    pub negated: bool,
    pub offset: i64,
}

/// The variables of a transfer, and the equations between them.
pub struct Aliases {
    pub vars: Vec<TermId>,
    pub at: FxHashMap<TermId, usize>,
    pub links: Vec<Alias>,
}

impl Aliases {
    pub fn new() -> Self {
        Aliases {
            vars: Vec::new(),
            at: FxHashMap::default(),
            links: Vec::new(),
        }
    }

    pub fn add(&mut self, var: TermId) -> usize {
        let next = self.vars.len();
        let at = *self.at.entry(var).or_insert(next);
        if at == next {
            self.vars.push(var);
            self.links.push(Alias {
                root: next,
                negated: false,
                offset: 0,
            });
        }
        at
    }

    pub fn find(&self, mut at: usize) -> Alias {
        let mut result = Alias {
            root: at,
            negated: false,
            offset: 0,
        };
        loop {
            let link = self.links[at];
            if link.root == at {
                return result;
            }
            let step = if result.negated {
                -link.offset
            } else {
                link.offset
            };
            result.offset += step;
            result.negated ^= link.negated;
            result.root = link.root;
            at = link.root;
        }
    }
}
