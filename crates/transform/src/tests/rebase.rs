//! `rebase` on handwritten systems: arrays at a base, over integers and over bit-vectors that wrap
//! around.

use std::rc::Rc;

use super::decide::{after, atom, check};
use alphorn_chc::System;
use alphorn_term::{Op, SortId, TermId, TermStore};

/// Parameters of a program over arrays at a base.
struct Program {
    index: SortId,
    /// The values that the bases of the two arrays may have.
    bases: [i64; 2],
    /// The length of the loop that copies the first array to the second.
    length: i64,
    /// The second array is read at this distance from the copied cell.
    beside: i64,
    /// The loop adds this to the first base; a base that changes is not a base.
    drift: i64,
}

impl Program {
    fn number(&self, t: &TermStore, value: i64) -> TermId {
        match self.index {
            SortId::INT => t.int(value),
            _ => t.bitvec(num_bigint::BigUint::from(value.rem_euclid(256) as u32), 8),
        }
    }

    fn sum(&self, t: &TermStore, a: TermId, b: TermId) -> TermId {
        match self.index {
            SortId::INT => t.add(&[a, b]),
            _ => t.bv_op(&Op::BvAdd, &[a, b]),
        }
    }

    fn below(&self, t: &TermStore, a: TermId, b: TermId) -> TermId {
        match self.index {
            SortId::INT => t.lt(a, b),
            _ => t.bv_ult(a, b),
        }
    }

    /// `x` is 5 at its base and 0 elsewhere; the cells of `x` are copied to `y`, which is 0; then
    /// `y` must be 5 at its base.
    fn system(&self, t: &Rc<TermStore>) -> System {
        let mut system = System::new(t.clone());
        let array = t.array_sort(self.index, SortId::INT);
        let sorts = [self.index, array, self.index, array, self.index];
        let p = system.add_predicate("p", &sorts);
        let vars = |mark: &str| -> Vec<TermId> {
            let names = ["b", "x", "c", "y", "i"].iter().zip(sorts);
            names
                .map(|(n, s)| t.var(&format!("{n}{mark}"), s))
                .collect()
        };
        let (old, new) = (vars(""), vars("'"));
        let (b, x, c, y, i) = (old[0], old[1], old[2], old[3], old[4]);
        let zeros = t.const_array(array, t.int(0));
        let init = [
            t.eq(b, self.number(t, self.bases[0])),
            t.eq(c, self.number(t, self.bases[1])),
            t.eq(x, t.store(zeros, b, t.int(5))),
            t.eq(y, zeros),
            t.eq(i, self.number(t, 0)),
        ];
        system.add_clause(vec![], t.and(&init), Some(atom(p, &old)));
        let read = t.select(x, self.sum(t, b, i));
        let step = [
            self.below(t, i, self.number(t, self.length)),
            t.eq(new[0], self.sum(t, b, self.number(t, self.drift))),
            t.eq(new[1], x),
            t.eq(new[2], c),
            t.eq(new[3], t.store(y, self.sum(t, c, i), read)),
            t.eq(new[4], self.sum(t, i, self.number(t, 1))),
        ];
        system.add_clause(vec![atom(p, &old)], t.and(&step), Some(atom(p, &new)));
        let at = self.sum(t, c, self.number(t, self.beside));
        let bad = [
            t.eq(i, self.number(t, self.length)),
            t.not(t.eq(t.select(y, at), t.int(5))),
        ];
        system.add_clause(vec![atom(p, &old)], t.and(&bad), None);
        system
    }
}

/// Indexes that are sums of at least two variables.
fn sums(system: &System) -> usize {
    let t = &system.terms;
    let roots: Vec<TermId> = system.clauses.iter().map(|c| c.constraint).collect();
    let mut count = 0;
    t.post_order(&roots, |term| {
        if matches!(t.op(term), Op::Select | Op::Store) {
            let index = t.args(term)[1];
            count += usize::from(t.free_vars(&[index]).len() > 1);
        }
    });
    count
}

#[test]
fn bases_are_removed_from_indexes_and_translated_back() {
    let t = Rc::new(TermStore::new());
    for index in [SortId::INT, t.bitvec_sort(8)] {
        // The last ones wrap around over bit-vectors, and are negative over integers.
        for bases in [[1, 10], [3, 3], [254, 255], [-2, -1]] {
            for (beside, sat) in [(0, true), (1, false)] {
                let program = Program {
                    index,
                    bases,
                    length: 3,
                    beside,
                    drift: 0,
                };
                let system = program.system(&t);
                assert_eq!(sums(&system), 2);
                assert_eq!(sums(&after(&system, "rebase")), 0);
                check(&system, &["rebase", "rebase,simplify,slice"], sat);
                check(&system, &["rebase,cells", "reads,rebase", "default"], sat);
            }
        }
    }
}

#[test]
fn a_base_that_changes_is_not_a_base() {
    let t = Rc::new(TermStore::new());
    for (beside, sat) in [(0, true), (2, false)] {
        let program = Program {
            index: SortId::INT,
            bases: [1, 10],
            length: 3,
            beside,
            drift: 1,
        };
        let system = program.system(&t);
        // The second array still has one.
        assert_eq!(sums(&after(&system, "rebase")), 1);
        check(&system, &["rebase", "rebase,simplify", "default"], sat);
    }
}
