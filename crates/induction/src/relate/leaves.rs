//! Candidates that conclude the fact that an open leaf asks for.
//!
//! The facts at hand conclude the lemma's own fact. Its arguments are terms over theirs, and premises are the
//! equalities, differences and patterns that are known at the leaf, as far as they are needed.
//!
//! Invariant: facts of the tables do not falsify a candidate, and some confirm it.

use super::facts::{adds_one, constants, is_trivial, placeholder};
use super::limits::LIMITS;
use super::literal::{Column, Head, Lemma, Literal, Value, column, number};
use super::prove::{Leaf, argument};
use super::space::Space;
use super::weaken::Entailment;
use alphorn_chc::PredicateId;
use alphorn_smt::{SatResult, SmtModel, Solver};
use alphorn_term::run::Context;
use alphorn_term::{Op, SortId, TermId, TermStore};

/// Candidates from an open leaf of the proof of a lemma that concludes a fact.
pub fn of_leaf(
    space: &Space<'_>,
    lemma: &Lemma,
    leaf: &Leaf,
    solver: &mut Solver,
    cx: &Context,
) -> Vec<Lemma> {
    let Some(head) = &lemma.head else {
        return Vec::new();
    };
    let terms = space.terms();
    solver.push();
    for &formula in &leaf.formulas {
        solver.assert(formula);
    }
    let mut found = Vec::new();
    if solver.check(&[]) == SatResult::Sat
        && let Some(model) = solver.model()
    {
        let goal = head.terms(terms, &argument(&leaf.atoms));
        let mut search = Search {
            space,
            leaf,
            model,
            asked: Entailment::new(solver),
            cx,
        };
        let choices: Vec<Vec<TermId>> = goal.iter().map(|&arg| search.values(arg)).collect();
        let ways: usize = choices.iter().map(Vec::len).product();
        for way in 0..ways.min(LIMITS.leaf_ways) {
            let mut rest = way;
            let mut chosen: Vec<TermId> = Vec::new();
            for list in &choices {
                chosen.push(list[rest % list.len()]);
                rest /= list.len();
            }
            found.extend(search.candidate(head.predicate, &chosen));
        }
    }
    solver.pop();
    found
}

/// A search for candidates at a leaf.
struct Search<'l, 's> {
    space: &'l Space<'l>,
    leaf: &'l Leaf,
    model: SmtModel,
    asked: Entailment<'s>,
    cx: &'l Context,
}

impl Search<'_, '_> {
    fn terms(&self) -> &TermStore {
        self.space.terms()
    }

    fn follows(&mut self, formula: TermId) -> bool {
        self.asked.follows(formula, self.cx)
    }

    /// The arguments of facts at hand that are not unfolded.
    fn live(&self) -> Vec<TermId> {
        let atoms = self.leaf.atoms.iter().filter(|atom| !atom.is_split);
        atoms.flat_map(|atom| atom.args.iter().copied()).collect()
    }

    fn value(&self, term: TermId) -> Option<i64> {
        number(self.terms(), self.model.value(term).ok()?)
    }

    /// The terms over arguments of facts at hand that a term equals.
    fn values(&mut self, goal: TermId) -> Vec<TermId> {
        let space = self.space;
        let terms = space.terms();
        let sort = terms.sort_of(goal);
        let mut found = Vec::new();
        for other in self.live() {
            if terms.sort_of(other) != sort {
                continue;
            }
            let (Some(own), Some(value)) = (self.value(goal), self.value(other)) else {
                continue;
            };
            let shifted = match own.saturating_sub(value) {
                0 => other,
                distance @ -2..=2 if sort == SortId::INT => {
                    terms.add(&[other, terms.int(distance)])
                }
                _ => match adds_one(space, sort) {
                    Some((id, constructor)) => terms.construct(id, constructor, &[other]),
                    None => continue,
                },
            };
            if !found.contains(&shifted) && self.follows(terms.eq(goal, shifted)) {
                found.push(shifted);
            }
        }
        found.extend(self.built(goal).into_iter().flatten());
        found
    }

    /// Terms by the constructor that a term has, of arguments of facts and their parts.
    fn built(&mut self, goal: TermId) -> Option<Vec<TermId>> {
        let terms = self.space.terms();
        let value = self.model.value(goal).ok()?;
        let Op::Construct(id, constructor) = *terms.op(value) else {
            return None;
        };
        let fields = terms.args(value).len();
        if fields < 2 || !self.follows(terms.is(id, constructor, goal)) {
            return None;
        }
        let mut found: Vec<Vec<TermId>> = vec![Vec::new()];
        for field in 0..u32::try_from(fields).ok()? {
            let part = terms.field(id, constructor, field, goal);
            let mut options: Vec<TermId> = self.live();
            for whole in self.live() {
                let value = self.model.value(whole).ok()?;
                if let Op::Construct(other, number) = *terms.op(value) {
                    let inner = (0..).zip(terms.args(value));
                    options.extend(inner.map(|(at, _)| terms.field(other, number, at, whole)));
                }
            }
            let sort = terms.sort_of(part);
            options.retain(|&option| terms.sort_of(option) == sort);
            options.retain(|&option| self.follows(terms.eq(part, option)));
            options.truncate(LIMITS.leaf_options);
            let longer = |parts: &Vec<TermId>| {
                let more = options
                    .iter()
                    .map(|&option| [&parts[..], &[option]].concat());
                more.collect::<Vec<_>>()
            };
            found = found.iter().flat_map(longer).collect();
        }
        let built = found
            .iter()
            .map(|parts| terms.construct(id, constructor, parts));
        Some(built.collect())
    }

    /// The candidate that facts of the leaf conclude the goal, whose arguments are these terms.
    fn candidate(&mut self, predicate: PredicateId, chosen: &[TermId]) -> Option<Lemma> {
        let space = self.space;
        let terms = space.terms();
        let used = terms.free_vars(chosen);
        let all = self.leaf.atoms.iter().enumerate();
        let atoms = all.filter(|(_, atom)| !atom.is_split);
        let atoms = atoms.filter(|(_, atom)| atom.args.iter().any(|arg| used.contains(arg)));
        let atoms: Vec<usize> = atoms.map(|(at, _)| at).collect();
        if atoms.len() < 2 || atoms.len() > 3 {
            return None;
        }
        let mut columns: Vec<(Column, TermId)> = Vec::new();
        for (slot, &at) in atoms.iter().enumerate() {
            let own = self.leaf.atoms[at].args.iter().enumerate();
            columns.extend(own.map(|(arg, &term)| (column(slot, arg), term)));
        }
        let place = |var: TermId| columns.iter().find(|c| c.1 == var).map(|c| c.0);
        let args = chosen.iter().map(|&term| {
            if let Some(own) = place(term) {
                return Some(Value::Column(own));
            }
            if terms.sort_of(term) == SortId::INT {
                let linear = terms.linear(term);
                if let [(var, _)] = &linear.monomials[..] {
                    let rest = terms.difference(term, *var);
                    let distance = terms.from_linear(&rest, SortId::INT);
                    return Some(Value::plus(place(*var)?, number(terms, distance)?));
                }
            }
            let vars = terms.free_vars(&[term]);
            let pairs: Option<Vec<(TermId, Column)>> = vars
                .iter()
                .map(|&var| {
                    Some((
                        placeholder(space, place(var)?, terms.sort_of(var)),
                        place(var)?,
                    ))
                })
                .collect();
            let pairs = pairs?;
            let map = vars.iter().copied().zip(pairs.iter().map(|pair| pair.0));
            Some(Value::Term(
                terms.substitute(term, &map.collect()),
                pairs.into(),
            ))
        });
        let head = Head {
            predicate,
            args: args.collect::<Option<_>>()?,
        };
        let slots: Vec<PredicateId> = atoms
            .iter()
            .map(|&at| self.leaf.atoms[at].predicate)
            .collect();
        // Equations between facts come first, and are dropped last, since they make the tests fast.
        let mut kept = self.premises(&columns);
        let lemma = |premises: &[Literal]| {
            Lemma::concluding(slots.clone(), premises.to_vec(), head.clone())
        };
        if self.cx.stop().is_some() || !space.holds(&lemma(&kept)) {
            return None;
        }
        for at in (0..kept.len()).rev() {
            let mut fewer = kept.clone();
            fewer.remove(at);
            if self.cx.stop().is_none() && space.holds(&lemma(&fewer)) {
                kept = fewer;
            }
        }
        let found = lemma(&kept);
        (!is_trivial(&found)).then_some(found)
    }

    /// What is known of columns: equations, and then differences and patterns.
    fn premises(&mut self, columns: &[(Column, TermId)]) -> Vec<Literal> {
        let space = self.space;
        let terms = space.terms();
        let (mut equations, mut others) = (Vec::new(), Vec::new());
        let mut leaders: Vec<(Column, TermId)> = Vec::new();
        for &(c, own) in columns {
            let sort = terms.sort_of(own);
            let mut leader = None;
            for &(other, term) in leaders.iter().filter(|l| terms.sort_of(l.1) == sort) {
                if own == term || self.follows(terms.eq(own, term)) {
                    leader = Some(other);
                    break;
                }
                if c.slot != other.slot
                    && sort == SortId::INT
                    && self.follows(terms.not(terms.eq(own, term)))
                {
                    others.push(Literal::equal(other, c, sort).negated(terms));
                }
            }
            match leader {
                Some(other) => equations.push(Literal::equal(other, c, sort)),
                None => {
                    leaders.push((c, own));
                    others.extend(self.pattern(c, own));
                }
            }
        }
        equations.extend(others);
        equations
    }

    /// That a column is a constant, or has constants as parts.
    fn pattern(&mut self, own: Column, term: TermId) -> Option<Literal> {
        let space = self.space;
        let terms = space.terms();
        let sort = terms.sort_of(term);
        for value in constants(space, sort) {
            if self.follows(terms.eq(term, value)) {
                return Some(Literal::Fixed(own, value, true));
            }
        }
        let value = self.model.value(term).ok()?;
        let Op::Construct(id, constructor) = *terms.op(value) else {
            return None;
        };
        let mut parts = Vec::new();
        for (field, &part) in (0..).zip(terms.args(value)) {
            let inside = terms.field(id, constructor, field, term);
            for value in constants(space, terms.sort_of(part)) {
                if value == part && self.follows(terms.eq(inside, value)) {
                    parts.push(terms.eq(inside, value));
                }
            }
        }
        let is = terms.is(id, constructor, term);
        if parts.is_empty() || !self.follows(is) {
            return None;
        }
        parts.push(is);
        let var = placeholder(space, own, sort);
        let map = [(term, var)].into_iter().collect();
        let formula = terms.substitute(terms.and(&parts), &map);
        Some(Literal::Formula(formula, [(var, own)].into()))
    }
}
