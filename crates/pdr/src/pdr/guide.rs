//! Global guidance: conjectures made from several lemmas or obligations.
//!
//! Krishnan, Chen, Shoham, Gurfinkel, "Global guidance for local generalization in model checking"
//! (CAV 2020), section 4, with its rules:
//!
//! - *Subsume* (`subsume`): the constants of a cluster of lemmas satisfy equations (their affine
//!   hull). The cube of all states that the pattern describes for some constants that satisfy these
//!   equations is conjectured to be unreachable. It contains all cubes of the cluster, so its lemma
//!   replaces theirs.
//! - *Conjecture* (`Search::guide`): if the lemmas of a cluster are single bounds of one term, the
//!   rest of the obligation's cube is conjectured to be unreachable.
//! - *Concretise* (`Search::concretise`): if lemmas bound the same terms with more and more
//!   different coefficients, a literal of an obligation over these terms is replaced by bounds of
//!   the single terms.
//!
//! Deviations: the constants are eliminated exactly, not by model-based projection, so the
//! conjectured cube needs no weakening; boxes and half-open boxes around the constants, and
//! congruences, are tried together with the equations. Clusters of obligations' cubes are
//! generalized, too, and conjectures that became lemmas are conjectured about other predicates.
//!
//! Invariant: a conjecture is an obligation with a limited number of steps. It becomes a lemma only
//! by a query, and a fact only by a derivation.

use num_integer::Integer;
use num_traits::{One, Zero};

use super::ids::{LemmaId, Node, ObligationId};
use super::levels::Level;
use super::limits::LIMITS;
use super::obligation::Obligation;
use super::pattern::{Kind, Pattern, pattern, shape, without_weaker_bounds};
use super::search::Search;
use alphorn_arith::{Constraint, Relation, affine_hull, eliminate};
use alphorn_proof::Stop;
use alphorn_smt::SatResult;
use alphorn_term::{BigInt, Evaluator, Linear, Rational, SortId, TermId, TermStore};

impl Search<'_> {
    /// Adds the new lemma of a blocked obligation to its cluster, and makes conjectures from the
    /// cluster.
    pub(super) fn guide(&mut self, obligation: ObligationId, lemma: LemmaId) {
        if !self.options.guidance {
            return;
        }
        let blocked = self.obligations.get(obligation);
        let (node, level, depth) = (blocked.node, blocked.level, blocked.depth);
        let frame = &mut self.frames[node];
        if frame.lemmas[lemma].any.is_some() {
            return;
        }
        let cube = frame.lemmas[lemma].cube.to_vec();
        let Some(pattern) = frame.lemma_patterns.enter(&self.terms, lemma, &cube) else {
            return;
        };
        let cluster = frame
            .lemma_patterns
            .clusters
            .entry(pattern.clone())
            .or_default();
        if cluster.members.len() < LIMITS.least_cluster || cluster.uses >= LIMITS.cluster_uses {
            return;
        }
        cluster.uses += 1;
        let members: Vec<LemmaId> = cluster.members.iter().map(|m| m.0).collect();
        let constants: Vec<Vec<Rational>> = cluster.members.iter().map(|m| m.1.clone()).collect();
        let mut conjectures = Vec::new();
        for closure in [
            Closure::Congruent,
            Closure::Affine,
            Closure::Above,
            Closure::Below,
            Closure::Bounded,
        ] {
            let half = matches!(closure, Closure::Above | Closure::Below);
            if half && !in_a_row(&constants) {
                continue;
            }
            if let Some(cube) = subsume(&self.terms, &pattern, &constants, closure)
                && !conjectures.contains(&cube)
            {
                conjectures.push(cube);
            }
        }
        for cube in conjectures {
            self.conjecture(node, cube, level, depth, members.clone());
        }
        if let [moving] = &*pattern.shapes
            && pattern.others.is_empty()
            && moving.terms.len() == 1
        {
            let moving = moving.terms[0].0;
            let whole = &self.obligations.get(obligation).cube;
            let rest: Vec<TermId> = whole
                .iter()
                .copied()
                .filter(|&l| match shape(&self.terms, l) {
                    Some((shape, _)) => shape.terms.len() != 1 || shape.terms[0].0 != moving,
                    None => true,
                })
                .collect();
            if !rest.is_empty() && rest.len() < whole.len() {
                self.conjecture(node, rest, level, depth, Vec::new());
            }
        }
    }

    /// Adds the cube of a new obligation to its cluster, and makes conjectures from the cluster or
    /// from the chain of obligations to the query. (Not in the paper, which uses lemmas only.
    /// Literals that generalization drops from lemmas may be common to the cubes of obligations.)
    pub(super) fn guide_by_cubes(
        &mut self,
        node: Node,
        cube: &[TermId],
        level: Level,
        parent: ObligationId,
    ) {
        if !self.options.guidance {
            return;
        }
        let patterns = &mut self.frames[node].cube_patterns;
        let Some(pattern) = patterns.enter(&self.terms, (), cube) else {
            return;
        };
        let depth = self.obligations.get(parent).depth + 1;
        let chain = self.chain(node, &pattern, cube, parent);
        let cluster = self.frames[node]
            .cube_patterns
            .clusters
            .entry(pattern.clone());
        let cluster = cluster.or_default();
        if cluster.members.len() < LIMITS.least_cluster {
            return;
        }
        // First all cubes of the cluster, then chains.
        let chained = cluster.uses >= LIMITS.cluster_uses;
        let constants: Vec<Vec<Rational>> = if !chained {
            cluster.members.iter().map(|m| m.1.clone()).collect()
        } else if cluster.uses < 2 * LIMITS.cluster_uses && chain.len() >= LIMITS.least_cluster {
            chain
        } else {
            return;
        };
        cluster.uses += 1;
        let mut hulls: Vec<Vec<TermId>> = Vec::new();
        for closure in [Closure::Congruent, Closure::Affine] {
            // The hull of a chain is of no use if it only drops literals.
            if let Some(hull) = subsume(&self.terms, &pattern, &constants, closure)
                && !(chained && hull.iter().all(|l| cube.contains(l)))
            {
                hulls.push(hull);
            }
        }
        for hull in hulls {
            self.conjecture(node, hull, level, depth, Vec::new());
        }
    }

    /// The constants of a cube, and of the nearest cubes of the same predicate among the ancestors,
    /// as long as they have its pattern; at most as many as make a cluster.
    fn chain(
        &self,
        node: Node,
        wanted: &Pattern,
        cube: &[TermId],
        parent: ObligationId,
    ) -> Vec<Vec<Rational>> {
        let own = pattern(&self.terms, cube).map(|p| p.1);
        let mut chain: Vec<Vec<Rational>> = own.into_iter().collect();
        let mut next = Some(parent);
        while let Some(id) = next
            && chain.len() < LIMITS.least_cluster
        {
            let obligation = self.obligations.get(id);
            next = obligation.parent;
            if obligation.node != node {
                continue;
            }
            match pattern(&self.terms, &obligation.cube) {
                Some((found, constants)) if found == *wanted => chain.push(constants),
                _ => break,
            }
        }
        chain
    }

    /// Adds an obligation that a cube is unreachable, with a limited number of steps.
    fn conjecture(
        &mut self,
        node: Node,
        cube: Vec<TermId>,
        level: Level,
        depth: usize,
        members: Vec<LemmaId>,
    ) {
        if cube.is_empty() || cube.contains(&TermId::FALSE) {
            return;
        }
        self.counters.conjectures += 1;
        if log::log_enabled!(log::Level::Trace) {
            let text = self.printed(self.terms.and(&cube));
            log::trace!("conjecture {} at {level}: not {text}", self.name(node));
        }
        self.obligations.add(Obligation {
            node,
            cube,
            level,
            depth,
            parent: None,
            closed: false,
            steps_left: Some(LIMITS.conjecture_steps),
            members,
        });
    }

    /// After a conjecture became a lemma, conjectures the same about other predicates with
    /// arguments of the same sorts: an invariant often holds at several locations. (Not in the
    /// paper.)
    pub(super) fn spread(&mut self, obligation: ObligationId, node: Node, cube: &[TermId]) {
        let conjecture = self.obligations.get(obligation);
        if conjecture.steps_left.is_none() || conjecture.parent.is_some() {
            return;
        }
        let (level, depth) = (conjecture.level, conjecture.depth);
        let terms = self.terms.clone();
        for other in self.same_sorts[node].clone() {
            let pairs = self.params(node).iter().zip(self.params(other));
            let map = pairs.map(|(&from, &to)| (from, to)).collect();
            let renamed: Vec<TermId> = cube.iter().map(|&l| terms.substitute(l, &map)).collect();
            if !self.frames[other].knows(&renamed, level) {
                self.conjecture(other, renamed, level, depth, Vec::new());
            }
        }
    }

    /// Makes those of the lemmas `members` inactive that a new lemma of at least their level
    /// implies.
    pub(super) fn subsume(
        &mut self,
        node: Node,
        members: &[LemmaId],
        lemma: LemmaId,
    ) -> Result<(), Stop> {
        if members.is_empty() {
            return Ok(());
        }
        self.check_limits()?;
        let new = &self.frames[node].lemmas[lemma];
        let (level, clause) = (new.level, new.clause);
        let mut solver = self.smt.solver();
        solver.assert(clause);
        for &member in members {
            let old = &self.frames[node].lemmas[member];
            if member != lemma
                && old.active
                && old.level <= level
                && solver.check(&old.cube) == SatResult::Unsat
            {
                self.frames[node].lemmas[member].active = false;
                self.counters.subsumed += 1;
            }
        }
        Ok(())
    }

    /// Replaces literals of an obligation's cube whose terms lemmas bound with many different
    /// coefficients by bounds of the single terms that the state in `values` satisfies.
    pub(super) fn concretise(
        &mut self,
        node: Node,
        cube: Vec<TermId>,
        values: &mut Evaluator,
    ) -> Vec<TermId> {
        if !self.options.guidance {
            return cube;
        }
        let terms = self.terms.clone();
        let patterns = &mut self.frames[node].lemma_patterns;
        let mut result = Vec::with_capacity(cube.len());
        for literal in cube {
            let bounds = shape(&terms, literal).and_then(|(shape, _)| {
                let relation = shape.kind.relation().0;
                if matches!(relation, Relation::Equal | Relation::Differs)
                    || !patterns.has_many_slopes(&shape, LIMITS.least_slopes, LIMITS.slope_uses)
                {
                    return None;
                }
                let bound = |(term, coefficient): &(TermId, Rational)| {
                    let value = values.value(*term)?;
                    let positive = *coefficient > Rational::zero();
                    Some(match positive == shape.kind.is_upper() {
                        true => terms.le(*term, value),
                        false => terms.ge(*term, value),
                    })
                };
                shape.terms.iter().map(bound).collect::<Option<Vec<_>>>()
            });
            match bounds {
                Some(bounds) => {
                    self.counters.concretised += 1;
                    result.extend(bounds);
                }
                None => result.push(literal),
            }
        }
        without_weaker_bounds(&self.terms, &result)
    }
}

/// Whether the values of each constant are consecutive integers, as when there is a lemma for each
/// round of a loop.
fn in_a_row(constants: &[Vec<Rational>]) -> bool {
    let moving = constants.first().map_or(0, Vec::len);
    (0..moving).all(|i| {
        let mut values: Vec<&Rational> = constants.iter().map(|c| &c[i]).collect();
        values.sort_unstable();
        values.dedup();
        let mut pairs = values.windows(2);
        pairs.all(|pair| (pair[1] - pair[0]).is_one())
    })
}

/// The set of constants for which a pattern is conjectured to be unreachable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Closure {
    /// Those that satisfy the same equations and congruences.
    Congruent,
    /// Those that satisfy the same equations.
    Affine,
    /// Those that satisfy the same equations and are at least the least of them.
    Above,
    /// Those that satisfy the same equations and are at most the greatest of them.
    Below,
    /// Those that satisfy the same equations and lie between them.
    Bounded,
}

/// The cube of the states that are in the pattern's cube for some constants in the closure of the
/// given ones. `None` if the closure does not apply, a limit is reached, or the cube would be
/// empty.
fn subsume(
    terms: &TermStore,
    pattern: &Pattern,
    constants: &[Vec<Rational>],
    closure: Closure,
) -> Option<Vec<TermId>> {
    let width = pattern.shapes.len();
    let moving: Vec<usize> = (0..width)
        .filter(|&c| constants.iter().any(|k| k[c] != constants[0][c]))
        .collect();
    if moving.is_empty() || moving.len() > LIMITS.varying_constants {
        return None;
    }
    let sort_of = |c: usize| terms.sort_of(pattern.shapes[c].terms[0].0);
    let sort = sort_of(moving[0]);
    if moving.iter().any(|&c| sort_of(c) != sort) {
        return None;
    }
    let points: Vec<Vec<Rational>> = constants
        .iter()
        .map(|k| moving.iter().map(|&c| k[c].clone()).collect())
        .collect();
    // Columns: the constants, then the left sides of the literals without repetitions.
    let count = moving.len();
    let mut lefts: Vec<&Vec<(TermId, Rational)>> = Vec::new();
    for &c in &moving {
        if !lefts.contains(&&pattern.shapes[c].terms) {
            lefts.push(&pattern.shapes[c].terms);
        }
    }
    let mut rows = affine_hull(&points);
    let congruences = match closure {
        Closure::Congruent => congruences(terms, pattern, constants, &moving),
        _ => Vec::new(),
    };
    match closure {
        Closure::Congruent if congruences.is_empty() => return None,
        Closure::Affine if rows.is_empty() => return None,
        _ => {}
    }
    for (i, &c) in moving.iter().enumerate() {
        let (relation, sign) = pattern.shapes[c].kind.relation();
        let left = lefts.iter().position(|l| **l == pattern.shapes[c].terms)?;
        let sum = Linear::unit(count + left).minus(&Linear::unit(i));
        let sum = sum.scaled(&Rational::from_integer(sign.into()));
        rows.push(Constraint::new(sum, relation));
        let values = || points.iter().map(|p| &p[i]);
        let ends = [
            (Closure::Below, 1, values().max()?),
            (Closure::Above, -1, values().min()?),
        ];
        for (end, sign, bound) in ends {
            if closure == end || closure == Closure::Bounded {
                let mut sum = Linear::unit(i);
                sum.constant = -bound;
                let sum = sum.scaled(&Rational::from_integer(sign.into()));
                rows.push(Constraint::new(sum, Relation::AtMost));
            }
        }
    }
    let rows = eliminate(rows, 0..count, LIMITS.elimination_rows)?;
    let mut cube = pattern.others.clone();
    for (c, shape) in pattern.shapes.iter().enumerate() {
        if !moving.contains(&c) {
            let sum = Linear {
                monomials: shape.terms.clone(),
                constant: -constants[0][c].clone(),
            };
            let (relation, sign) = shape.kind.relation();
            let sum = sum.scaled(&Rational::from_integer(sign.into()));
            cube.push(Constraint::new(sum, relation).formula(terms));
        }
    }
    let fixed = cube.len();
    for row in rows {
        let mut sum = Linear::constant(row.linear.constant);
        for (column, coefficient) in &row.linear.monomials {
            let left = Linear {
                monomials: lefts[column - count].clone(),
                constant: Rational::zero(),
            };
            sum = sum.add_scaled(&left, coefficient);
        }
        if sum.is_constant() {
            continue;
        }
        match row.relation {
            Relation::Equal => {
                for side in [sum.negated(), sum] {
                    cube.push(Constraint::new(side, Relation::AtMost).formula(terms));
                }
            }
            relation => cube.push(Constraint::new(sum, relation).formula(terms)),
        }
    }
    cube.extend(congruences);
    cube.sort_unstable();
    cube.dedup();
    (cube.len() > fixed || fixed > 0).then_some(cube)
}

/// Congruences `t mod g = r` for terms that each cube fixes to an integer, with the largest
/// possible `g`, at least 2.
fn congruences(
    terms: &TermStore,
    pattern: &Pattern,
    constants: &[Vec<Rational>],
    moving: &[usize],
) -> Vec<TermId> {
    let mut result = Vec::new();
    for &c in moving {
        let shape = &pattern.shapes[c];
        let fixed = shape.kind == Kind::Equal
            || shape.kind == Kind::AtMost
                && moving.iter().any(|&d| {
                    pattern.shapes[d].kind == Kind::AtLeast
                        && pattern.shapes[d].terms == shape.terms
                        && constants.iter().all(|k| k[c] == k[d])
                });
        if !fixed || terms.sort_of(shape.terms[0].0) != SortId::INT {
            continue;
        }
        let first = constants[0][c].to_integer();
        let modulus = constants
            .iter()
            .fold(BigInt::zero(), |g, k| g.gcd(&(k[c].to_integer() - &first)));
        if modulus < BigInt::from(2) {
            continue;
        }
        let linear = Linear {
            monomials: shape.terms.clone(),
            constant: -constants[0][c].clone(),
        };
        let linear = linear.scaled(&Rational::new(1.into(), modulus));
        result.push(Constraint::new(linear, Relation::Integral).formula(terms));
    }
    result
}
