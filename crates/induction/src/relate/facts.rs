//! Candidates that conclude facts, and those about single facts that help them: constants of datatypes,
//! and sums.
//!
//! - From a goal that two arguments are equal: the other facts conclude the fact of one of them with
//!   the value of the other.
//! - By templates: `P(x, y) ⇒ P(y, x)`; `P(x, y) ∧ Q(x) ⇒ Q(y)`, of which transitivity is an instance, also for equal or
//!   different elements and with a number that grows or falls by one; and `P(x, m, y) ∧ P(y, n, z) ⇒
//!   P(x, m + n, z)`.
//!
//! What open leaves ask for is in `leaves`.
//!
//! Invariant: facts of the tables do not falsify a candidate, and some confirm it.

use rustc_hash::FxHashMap;

use super::limits::LIMITS;
use super::literal::{Column, Head, Lemma, Literal, Origin, Relation, Value, column};
use super::space::Space;
use alphorn_chc::PredicateId;
use alphorn_term::run::Context;
use alphorn_term::{DatatypeId, Sort, SortId, TermId};

/// The constants of a datatype.
pub fn constants(space: &Space<'_>, sort: SortId) -> Vec<TermId> {
    let terms = space.terms();
    let Sort::Datatype(id) = terms.sort(sort) else {
        return Vec::new();
    };
    let constructors = terms.datatype(id).constructors.clone();
    let plain = (0..)
        .zip(&constructors)
        .filter(|(_, c)| c.fields.is_empty());
    plain.map(|(at, _)| terms.construct(id, at, &[])).collect()
}

/// Whether all values of a sort are constants.
fn is_enumeration(space: &Space<'_>, sort: SortId) -> bool {
    match space.terms().sort(sort) {
        Sort::Datatype(id) => {
            let datatype = space.terms().datatype(id);
            datatype.constructors.iter().all(|c| c.fields.is_empty())
        }
        Sort::Bool => true,
        _ => false,
    }
}

/// Lemmas about one fact that say where an argument is a constant of a datatype, or a sum of others.
pub fn patterns(space: &Space<'_>, predicate: PredicateId, cx: &Context) -> Vec<Lemma> {
    let sorts = space.sorts(predicate);
    let (mut fixed, mut others) = (Vec::new(), Vec::new());
    for (arg, &sort) in sorts.iter().enumerate() {
        let own = column(0, arg);
        for value in constants(space, sort) {
            fixed.extend([true, false].map(|same| Literal::Fixed(own, value, same)));
        }
        if sort == SortId::INT {
            let bounds = [Literal::at_least(own, 0), Literal::at_most(own, -1)];
            others.extend(bounds);
            others.extend([Literal::at_least(own, 1), Literal::at_most(own, 0)]);
        }
        let before = sorts[..arg].iter().enumerate();
        for (other, _) in before.filter(|(_, s)| **s == sort && sort != SortId::INT) {
            let equation = Literal::equal(column(0, other), own, sort);
            others.extend([equation.negated(space.terms()), equation]);
        }
    }
    let mut found: Vec<Lemma> = Vec::new();
    let lemma = |premises: Vec<Literal>, conclusion: &Literal| {
        let conclusions = vec![conclusion.clone()];
        Lemma::new(vec![predicate], premises, conclusions, Origin::OneFact)
    };
    let sums = sums(&sorts).map(|sum| lemma(Vec::new(), &sum));
    found.extend(sums.filter(|lemma| space.holds(lemma) && space.support(lemma, 5) >= 5));
    for conclusion in fixed.iter().chain(&others) {
        if cx.stop().is_some() || found.len() >= LIMITS.fact_candidates {
            break;
        }
        let alone = lemma(Vec::new(), conclusion);
        if space.holds(&alone) {
            if matches!(conclusion, Literal::Fixed(..)) {
                found.push(alone);
            }
            continue;
        }
        for premise in fixed.iter().chain(&others) {
            let is_about = |l: &Literal| matches!(l, Literal::Fixed(..));
            let candidate = lemma(vec![premise.clone()], conclusion);
            if premise.columns() != conclusion.columns()
                && (is_about(premise) || is_about(conclusion))
                && space.holds(&candidate)
                && space.support(&candidate, 3) >= 3
            {
                found.push(candidate);
            }
        }
    }
    found
}

/// Equations that say that one argument is the sum of two others.
fn sums(sorts: &[SortId]) -> impl Iterator<Item = Literal> {
    let numbers: Vec<usize> = (0..sorts.len())
        .filter(|&at| sorts[at] == SortId::INT)
        .collect();
    let mut found = Vec::new();
    for &total in &numbers {
        for &left in &numbers {
            for &right in numbers.iter().filter(|&&right| right > left) {
                if total != left && total != right {
                    let parts = [(total, 1), (left, -1), (right, -1)];
                    let parts = parts.map(|(at, factor)| (column(0, at), factor));
                    found.push(Literal::sum(Relation::Equal, parts, 0));
                }
            }
        }
    }
    found.into_iter()
}

/// The identity as the arguments of a slot's fact.
fn same_args(space: &Space<'_>, predicate: PredicateId, slot: usize) -> Vec<Value> {
    let args = 0..space.arity(predicate);
    args.map(|arg| Value::Column(column(slot, arg))).collect()
}

/// Candidates of fixed shapes.
pub fn templates(space: &Space<'_>, predicates: &[PredicateId], cx: &Context) -> Vec<Lemma> {
    let mut found = Vec::new();
    for &p in predicates {
        swapped(space, p, &mut found, cx);
        for &q in predicates {
            let is_recursive = space.recursive.contains(&p) && space.recursive.contains(&q);
            if is_recursive {
                replacements(space, q, p, &mut found, cx);
            }
        }
        if space.recursive.contains(&p) {
            compositions(space, p, &mut found, cx);
        }
    }
    found.truncate(LIMITS.fact_candidates);
    found
}

/// `P(x, y) ⇒ P(y, x)`.
fn swapped(space: &Space<'_>, p: PredicateId, found: &mut Vec<Lemma>, cx: &Context) {
    let sorts = space.sorts(p);
    for (j, &sort) in sorts.iter().enumerate() {
        for i in (0..j).filter(|&i| sorts[i] == sort) {
            if cx.stop().is_some() || !space.recursive.contains(&p) || is_enumeration(space, sort) {
                continue;
            }
            let mut args = same_args(space, p, 0);
            args.swap(i, j);
            let head = Head { predicate: p, args };
            let lemma = Lemma::concluding(vec![p], Vec::new(), head);
            if space.holds(&lemma) {
                found.push(lemma);
            }
        }
    }
}

/// `Q(… x …) ∧ P(x, y) ⇒ Q(… y …)`.
fn replacements(
    space: &Space<'_>,
    q: PredicateId,
    p: PredicateId,
    found: &mut Vec<Lemma>,
    cx: &Context,
) {
    let (own, other) = (space.sorts(q), space.sorts(p));
    for (k, &sort) in own.iter().enumerate() {
        let is_small = own.len() == 2 && other.len() == 2;
        if is_enumeration(space, sort) || (sort == SortId::INT && !is_small) {
            continue;
        }
        let places: Vec<usize> = (0..other.len()).filter(|&at| other[at] == sort).collect();
        for &i in &places {
            for &j in places.iter().filter(|&&j| j != i) {
                if cx.stop().is_some() || found.len() >= LIMITS.fact_candidates {
                    return;
                }
                let link = Literal::equal(column(0, k), column(1, i), sort);
                let mut args = same_args(space, q, 0);
                args[k] = Value::Column(column(1, j));
                let slots = vec![q, p];
                let lemma = |premises: &[Literal], args: &[Value]| {
                    let premises = [std::slice::from_ref(&link), premises].concat();
                    let head = Head {
                        predicate: q,
                        args: args.to_vec(),
                    };
                    Lemma::concluding(slots.clone(), premises, head)
                };
                let plain = lemma(&[], &args);
                if space.holds(&plain) {
                    found.push(plain);
                    continue;
                }
                let shifted = shifted(space, q, k, &args);
                let shifts = shifted.iter().skip(1).map(|args| lemma(&[], args));
                if let Some(candidate) = shifts.clone().find(|lemma| space.holds(lemma)) {
                    found.push(candidate);
                    continue;
                }
                for guard in guards(&own, &other, (k, i, j)) {
                    for guard in [guard.negated(space.terms()), guard] {
                        let all = shifted
                            .iter()
                            .map(|args| lemma(std::slice::from_ref(&guard), args));
                        let mut all = all.filter(|lemma| space.holds(lemma));
                        found.extend(all.next());
                    }
                }
            }
        }
    }
}

/// The arguments, and these with an output changed by one.
fn shifted(space: &Space<'_>, q: PredicateId, k: usize, args: &[Value]) -> Vec<Vec<Value>> {
    let mut all = vec![args.to_vec()];
    let sorts = space.sorts(q);
    for at in space.outputs(q).iter().copied().filter(|&at| at != k) {
        let own = column(0, at);
        let steps = match sorts[at] {
            SortId::INT => vec![Value::plus(own, 1), Value::plus(own, -1)],
            sort => successor(space, sort, own).into_iter().collect(),
        };
        for step in steps {
            let mut other = args.to_vec();
            other[at] = step;
            all.push(other);
        }
    }
    all
}

/// The constructor of a datatype of natural numbers that adds one.
pub fn adds_one(space: &Space<'_>, sort: SortId) -> Option<(DatatypeId, u32)> {
    let terms = space.terms();
    let Sort::Datatype(id) = terms.sort(sort) else {
        return None;
    };
    let datatype = terms.datatype(id);
    let mut found = (0..).zip(&datatype.constructors);
    let found = found.find(|(_, c)| matches!(&c.fields[..], [field] if field.sort == sort));
    found.map(|(at, _)| (id, at))
}

/// The successor of a column that is such a number.
fn successor(space: &Space<'_>, sort: SortId, own: Column) -> Option<Value> {
    let (id, constructor) = adds_one(space, sort)?;
    let terms = space.terms();
    let var = placeholder(space, own, sort);
    let term = terms.construct(id, constructor, &[var]);
    Some(Value::Term(term, [(var, own)].into()))
}

/// The variable for a column in terms and formulas of lemmas.
pub fn placeholder(space: &Space<'_>, own: Column, sort: SortId) -> TermId {
    let name = format!("column!{}!{}", own.slot, own.arg);
    space.terms().var(&name, sort)
}

/// Equations between elements of the two facts.
fn guards(own: &[SortId], other: &[SortId], (k, i, j): (usize, usize, usize)) -> Vec<Literal> {
    let mut found = Vec::new();
    for (s, sort) in own.iter().enumerate().filter(|(s, _)| *s != k) {
        for (t, _) in other
            .iter()
            .enumerate()
            .filter(|(t, o)| *o == sort && *t != i && *t != j)
        {
            found.push(Literal::equal(column(0, s), column(1, t), *sort));
        }
    }
    found
}

/// `P(x, m, y) ∧ P(y, n, z) ⇒ P(x, m + n, z)`.
fn compositions(space: &Space<'_>, p: PredicateId, found: &mut Vec<Lemma>, cx: &Context) {
    let sorts = space.sorts(p);
    let numbers: Vec<usize> = (0..sorts.len())
        .filter(|&at| sorts[at] == SortId::INT)
        .collect();
    for (i, &sort) in sorts.iter().enumerate() {
        for j in (0..sorts.len()).filter(|&j| j != i && sorts[j] == sort) {
            for &n in numbers.iter().filter(|&&n| n != i && n != j) {
                if is_enumeration(space, sort) || cx.stop().is_some() {
                    continue;
                }
                let mut premises = vec![Literal::equal(column(0, i), column(1, j), sort)];
                let rest = (0..sorts.len()).filter(|&at| ![i, j, n].contains(&at));
                premises
                    .extend(rest.map(|at| Literal::equal(column(0, at), column(1, at), sorts[at])));
                let mut args = same_args(space, p, 0);
                args[i] = Value::Column(column(1, i));
                args[n] = Value::Sum(vec![(column(0, n), 1), (column(1, n), 1)], 0);
                let head = Head { predicate: p, args };
                let bounds = [0, 1].map(|slot| Literal::at_least(column(slot, n), 0));
                for more in [&bounds[..0], &bounds[..1], &bounds[1..], &bounds[..]] {
                    let premises = [&premises[..], more].concat();
                    let lemma = Lemma::concluding(vec![p, p], premises, head.clone());
                    if space.holds(&lemma) {
                        found.push(lemma);
                        break;
                    }
                }
            }
        }
    }
}

/// Candidates from a goal: one of its facts, with an argument that it should have, is concluded.
pub fn of_goal(space: &Space<'_>, goal: &Lemma) -> Vec<Lemma> {
    let terms = space.terms();
    let mut found = Vec::new();
    let mut known: Vec<Literal> = goal.premises.clone();
    let (mut wanted, mut others) = (Vec::new(), Vec::new());
    for conclusion in &goal.conclusions {
        match conclusion.pair(true) {
            Some(pair) => wanted.push(pair),
            None => others.push(conclusion.negated(terms)),
        }
    }
    known.extend(others.into_iter().filter(|l| !l.columns().is_empty()));
    let classes = classes(&known);
    for (left, right) in wanted {
        for (from, to) in [(left, right), (right, left)] {
            if from.slot != to.slot {
                found.extend(concluded(space, goal, &known, &classes, from, to));
            }
        }
    }
    found.retain(|lemma| space.holds(lemma));
    found
}

/// The columns that equations make equal, each with those before it.
fn classes(known: &[Literal]) -> Vec<Vec<Column>> {
    let mut classes: Vec<Vec<Column>> = Vec::new();
    for (left, right) in known.iter().filter_map(|l| l.pair(true)) {
        let place = |classes: &[Vec<Column>], c| classes.iter().position(|own| own.contains(&c));
        match (place(&classes, left), place(&classes, right)) {
            (None, None) => classes.push(vec![left, right]),
            (Some(at), None) => classes[at].push(right),
            (None, Some(at)) => classes[at].push(left),
            (Some(a), Some(b)) if a != b => {
                let more = classes.remove(a.max(b));
                classes[a.min(b)].extend(more);
            }
            _ => {}
        }
    }
    classes
}

/// The candidate that the fact of a column's slot is there with another value of the column.
fn concluded(
    space: &Space<'_>,
    goal: &Lemma,
    known: &[Literal],
    classes: &[Vec<Column>],
    from: Column,
    to: Column,
) -> Option<Lemma> {
    let dropped = usize::from(from.slot);
    let shift = |c: Column| Column {
        slot: c.slot - u8::from(c.slot > from.slot),
        ..c
    };
    let other = |c: Column| -> Option<Column> {
        if c.slot != from.slot {
            return Some(c);
        }
        let class = classes.iter().find(|class| class.contains(&c))?;
        class.iter().copied().find(|other| other.slot != from.slot)
    };
    let mut args = Vec::new();
    for arg in 0..space.arity(goal.slots[dropped]) {
        let own = column(dropped, arg);
        let value = if own == from { to } else { other(own)? };
        args.push(Value::Column(shift(value)));
    }
    let mut slots = goal.slots.clone();
    let predicate = slots.remove(dropped);
    let sorts: Vec<Vec<SortId>> = slots.iter().map(|&p| space.sorts(p)).collect();
    let mut premises = Vec::new();
    for class in classes {
        let rest = class.iter().copied().filter(|c| c.slot != from.slot);
        let rest: Vec<Column> = rest.map(shift).collect();
        for pair in rest.windows(2) {
            let sort = sorts[usize::from(pair[0].slot)][usize::from(pair[0].arg)];
            premises.push(Literal::equal(pair[0], pair[1], sort));
        }
    }
    for literal in known.iter().filter(|l| l.pair(true).is_none()) {
        if literal.columns().into_iter().all(|c| other(c).is_some()) {
            premises.push(literal.mapped(&|c| shift(other(c).unwrap_or(c))));
        }
    }
    let head = Head { predicate, args };
    Some(Lemma::concluding(slots, premises, head))
}

/// Whether a lemma concludes one of its own facts.
pub fn is_trivial(lemma: &Lemma) -> bool {
    let Some(head) = &lemma.head else {
        return false;
    };
    let mut leaders: FxHashMap<Column, Column> = FxHashMap::default();
    for class in classes(&lemma.premises) {
        leaders.extend(class.iter().map(|&c| (c, class[0])));
    }
    let leader = |c: Column| *leaders.get(&c).unwrap_or(&c);
    (0..lemma.slots.len()).any(|slot| {
        lemma.slots[slot] == head.predicate
            && head
                .args
                .iter()
                .enumerate()
                .all(|(arg, value)| match value {
                    Value::Column(c) => leader(*c) == leader(column(slot, arg)),
                    Value::Sum(..) | Value::Term(..) => false,
                })
    })
}
