//! Lemmas with weaker premises.
//!
//! All bounds and differences of inputs that the premises imply take the place of the premises. Then
//! they are dropped or loosened one by one, in several orders, while no tuple of facts falsifies the
//! lemma.
//!
//! Invariant: a weakened lemma holds of the tables, and its conclusions are those of the lemma.

use super::limits::LIMITS;
use super::literal::{Column, Lemma, Literal, Origin, Relation, column};
use super::space::Space;
use alphorn_chc::PredicateId;
use alphorn_smt::{SatResult, SmtModel, Solver};
use alphorn_term::Random;
use alphorn_term::run::Context;
use alphorn_term::{SortId, TermId};

/// Asks which literals follow from the assertions of a solver.
pub struct Entailment<'s> {
    solver: &'s mut Solver,
    models: Vec<SmtModel>,
}

impl<'s> Entailment<'s> {
    pub fn new(solver: &'s mut Solver) -> Self {
        Entailment {
            solver,
            models: Vec::new(),
        }
    }

    /// Whether the assertions imply a formula.
    pub fn follows(&mut self, formula: TermId, cx: &Context) -> bool {
        if cx.stop().is_some() || self.models.iter().any(|m| !m.satisfies(formula)) {
            return false;
        }
        let smt = self.solver.smt().clone();
        let negation = smt.terms().not(formula);
        self.solver.push();
        self.solver.assert(negation);
        let limit = smt.limit_queries(Some(LIMITS.query_work));
        let answer = self.solver.check(&[]);
        drop(limit);
        if answer == SatResult::Sat {
            self.models.extend(self.solver.model());
        }
        self.solver.pop();
        answer == SatResult::Unsat
    }
}

/// The bounds and differences of columns that follow, and those of `more` that do.
pub fn implied(
    space: &Space<'_>,
    asked: &mut Entailment<'_>,
    argument: &impl Fn(Column) -> TermId,
    columns: &[Column],
    more: &[Literal],
    cx: &Context,
) -> Vec<Literal> {
    let terms = space.terms();
    let mut found = Vec::new();
    let mut follows = |literal: &Literal| asked.follows(literal.formula(terms, argument), cx);
    for &c in columns {
        let lower = [2, 1, 0].map(|bound| Literal::at_least(c, bound));
        found.extend(lower.into_iter().find(|l| follows(l)));
        let upper = [-1, 0, 1].map(|bound| Literal::at_most(c, bound));
        found.extend(upper.into_iter().find(|l| follows(l)));
    }
    for &left in columns {
        for &right in columns.iter().filter(|&&right| right != left) {
            let order = Literal::ordered(left, right, 0);
            if !follows(&order) {
                continue;
            }
            let strict = Literal::ordered(left, right, 1);
            found.push(if follows(&strict) { strict } else { order });
        }
    }
    found.extend(more.iter().filter(|l| follows(l)).cloned());
    found
}

/// Weaker forms of a literal.
fn looser(literal: &Literal) -> Vec<Literal> {
    let Literal::Sum {
        relation: Relation::AtLeast,
        sum,
        constant,
    } = literal
    else {
        return Vec::new();
    };
    match sum[..] {
        [(column, 1)] => [0, 1]
            .into_iter()
            .filter(|&bound| -constant > bound)
            .map(|bound| Literal::at_least(column, bound))
            .collect(),
        _ if *constant < 0 => vec![Literal::sum(Relation::AtLeast, sum.iter().copied(), 0)],
        _ => Vec::new(),
    }
}

/// The lemmas with weakened premises, in `orders` random orders, without duplicates. None if facts
/// falsify the lemma with all premises, or if there are no tables.
pub fn weakened(
    space: &Space<'_>,
    slots: &[PredicateId],
    premises: &[Literal],
    conclusions: &[Literal],
    orders: u64,
    origin: Origin,
) -> Vec<Lemma> {
    let mut literals: Vec<Literal> = premises.to_vec();
    let mut options: Vec<Vec<usize>> = Vec::new();
    for literal in premises {
        let own = looser(literal);
        options.push((literals.len()..literals.len() + own.len()).collect());
        literals.extend(own);
    }
    let Some(masks) = space.violations(slots, conclusions, &literals) else {
        return Vec::new();
    };
    let is_enough = |kept: u128| masks.iter().all(|mask| mask & kept != 0);
    let all: u128 = (0..premises.len()).fold(0, |bits, at| bits | 1 << at);
    if !is_enough(all) {
        return Vec::new();
    }
    let mut found: Vec<u128> = Vec::new();
    for seed in 0..orders {
        let mut random = Random::new(seed);
        let mut order: Vec<usize> = (0..premises.len()).collect();
        for at in (1..order.len()).rev() {
            order.swap(at, random.below(at + 1));
        }
        let mut kept = all;
        for at in order {
            let without = kept & !(1 << at);
            if is_enough(without) {
                kept = without;
                continue;
            }
            let looser = options[at].iter().map(|option| without | 1 << option);
            if let Some(other) = looser.into_iter().find(|&other| is_enough(other)) {
                kept = other;
            }
        }
        if !found.contains(&kept) {
            found.push(kept);
        }
    }
    let lemma = |kept: &u128| {
        let own = literals.iter().enumerate();
        let own = own
            .filter(|(at, _)| kept >> at & 1 == 1)
            .map(|l| l.1.clone());
        let own = with_joined_bounds(own.collect());
        Lemma::new(slots.to_vec(), own, conclusions.to_vec(), origin)
    };
    found.iter().map(lemma).collect()
}

/// Literals with an equation in the place of two opposite bounds of a sum.
fn with_joined_bounds(mut literals: Vec<Literal>) -> Vec<Literal> {
    let mut found = Vec::new();
    while let Some(literal) = literals.pop() {
        let opposite = match &literal {
            Literal::Sum {
                relation: Relation::AtLeast,
                sum,
                constant,
            } => {
                let minus = sum.iter().map(|&(c, factor)| (c, -factor));
                let opposite = Literal::sum(Relation::AtLeast, minus, -constant);
                literals.iter().position(|other| *other == opposite)
            }
            _ => None,
        };
        match (opposite, literal) {
            (Some(at), Literal::Sum { sum, constant, .. }) => {
                literals.swap_remove(at);
                found.push(Literal::sum(Relation::Equal, sum, constant));
            }
            (_, literal) => found.push(literal),
        }
    }
    found
}

/// Variants of a lemma with weaker premises and the same conclusions.
pub fn variants(space: &Space<'_>, lemma: &Lemma, solver: &mut Solver, cx: &Context) -> Vec<Lemma> {
    let terms = space.terms();
    if !lemma.is_plain() {
        return Vec::new();
    }
    let vars: Vec<Vec<TermId>> = lemma
        .slots
        .iter()
        .map(|&p| {
            let params = space.system.predicate(p).params.iter();
            let fresh = params.map(|&v| terms.fresh_var("w", terms.sort_of(v)));
            fresh.collect()
        })
        .collect();
    let argument = |c: Column| vars[usize::from(c.slot)][usize::from(c.arg)];
    let mut columns: Vec<Column> = Vec::new();
    for (slot, &predicate) in lemma.slots.iter().enumerate() {
        let sorts = space.sorts(predicate);
        let inputs = space.inputs(predicate).into_iter();
        let inputs = inputs.filter(|&at| sorts[at] == SortId::INT);
        columns.extend(inputs.map(|at| column(slot, at)));
    }
    columns.truncate(9);
    let mut more = Vec::new();
    for literal in &lemma.premises {
        match literal {
            Literal::Sum {
                relation: Relation::Equal,
                sum,
                constant,
            } if sum.len() > 2 || *constant != 0 => {
                let minus = sum.iter().map(|&(c, factor)| (c, -factor));
                more.push(Literal::sum(
                    Relation::AtLeast,
                    sum.iter().copied(),
                    *constant,
                ));
                more.push(Literal::sum(Relation::AtLeast, minus, -constant));
            }
            Literal::Sum { sum, .. } if sum.len() <= 2 => {}
            other => more.push(other.clone()),
        }
    }
    solver.push();
    for literal in &lemma.premises {
        solver.assert(literal.formula(terms, &argument));
    }
    let mut asked = Entailment::new(solver);
    let octagon = implied(space, &mut asked, &argument, &columns, &more, cx);
    solver.pop();
    let (slots, conclusions) = (&lemma.slots, &lemma.conclusions);
    let orders = LIMITS.orders;
    weakened(
        space,
        slots,
        &octagon,
        conclusions,
        orders,
        Origin::Weakened,
    )
}
