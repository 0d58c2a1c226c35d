//! The image of a union of boxes under a step of a clause.
//!
//! A step is a cube, a path through the clause's constraint. Its equations between two variables
//! are solved, so that each argument of the head is a number, a multiple of an argument of the body
//! plus an offset, or unknown. The first two cases are exact: cuts move with their variable. Other
//! facts only restrict bounds.
//!
//! Invariant: the image contains all facts that the step derives from facts in the elements.

use std::collections::BTreeMap;

use num_traits::{One, Zero};
use rustc_hash::{FxHashMap, FxHashSet};

use super::diagram::{ALL, Diagram, Move, NONE, Piece};
use super::limits::LIMITS;
use super::{Boxes, Union};
use crate::{Bounds, Cube, Domain, Fact};
use alphorn_arith::Relation;
use alphorn_chc::{Clause, System};
use alphorn_term::{Linear, Rational, TermId, TermStore};

/// `factor root + offset`; without a root, the offset.
#[derive(Clone, Debug)]
struct Form {
    root: Option<TermId>,
    factor: Rational,
    offset: Rational,
}

/// Variables in terms of others, by the equations between two of them.
struct Forms<'a> {
    solved: FxHashMap<TermId, Form>,
    /// Variables that are preferred as roots.
    preferred: &'a FxHashSet<TermId>,
    contradiction: bool,
}

impl Forms<'_> {
    /// The variable in terms of its root.
    fn of(&self, var: TermId) -> Form {
        let mut form = Form {
            root: Some(var),
            factor: Rational::one(),
            offset: Rational::zero(),
        };
        // Each link leads to a variable that was solved later, if at all.
        while let Some(root) = form.root
            && let Some(next) = self.solved.get(&root)
        {
            form = Form {
                root: next.root,
                offset: &form.factor * &next.offset + &form.offset,
                factor: &form.factor * &next.factor,
            };
        }
        if form.root.is_none() {
            form.factor = Rational::zero();
        }
        form
    }

    /// The polynomial over roots.
    fn reduce(&self, linear: &Linear) -> Linear {
        let mut result = Linear::constant(linear.constant.clone());
        for (var, coefficient) in &linear.monomials {
            let form = self.of(*var);
            let mut own = Linear::constant(form.offset);
            if let Some(root) = form.root {
                own.monomials.push((root, form.factor));
            }
            result = result.add_scaled(&own, coefficient);
        }
        result
    }

    /// Solves `linear = 0` if it contains at most two roots; false otherwise.
    fn learn(&mut self, linear: &Linear, is_var: &dyn Fn(TermId) -> bool) -> bool {
        match &linear.monomials[..] {
            [] => {
                self.contradiction |= !linear.constant.is_zero();
                true
            }
            [(var, coefficient)] => {
                let form = Form {
                    root: None,
                    factor: Rational::zero(),
                    offset: -&linear.constant / coefficient,
                };
                self.solved.insert(*var, form);
                true
            }
            [(a, p), (b, q)] if is_var(*a) && is_var(*b) => {
                let (gone, g, root, r) =
                    if self.preferred.contains(a) && !self.preferred.contains(b) {
                        (*b, q, *a, p)
                    } else {
                        (*a, p, *b, q)
                    };
                let form = Form {
                    root: Some(root),
                    factor: -r / g,
                    offset: -&linear.constant / g,
                };
                self.solved.insert(gone, form);
                true
            }
            _ => false,
        }
    }
}

impl Boxes {
    /// The facts that the step derives from facts in these elements, over the head's formal
    /// variables.
    pub(super) fn image(
        &self,
        system: &System,
        clause: &Clause,
        cube: &Cube,
        bodies: &[Union],
    ) -> Union {
        let mut all = ALL;
        let mut args: FxHashSet<TermId> = FxHashSet::default();
        let mut over_params = None;
        if let [atom] = &clause.body[..] {
            // The cube is renamed and not the element, so that no diagram has to be reordered.
            let params = &system.predicate(atom.predicate).params;
            let map = atom.args.iter().copied().zip(params.iter().copied());
            over_params = Some(renamed_cube(&self.terms, cube, &map.collect()));
            args.extend(params);
            all = bodies[0].0;
        } else {
            for (atom, element) in clause.body.iter().zip(bodies) {
                let params = &system.predicate(atom.predicate).params;
                let map = params.iter().copied().zip(atom.args.iter().copied());
                let over = self.rename(element, &map.collect());
                all = self.diagrams.borrow_mut().intersection(all, over.0);
                args.extend(&atom.args);
            }
        }
        let cube = over_params.as_ref().unwrap_or(cube);
        if all == NONE {
            return Union(NONE);
        }
        let mut forms = Forms {
            solved: FxHashMap::default(),
            preferred: &args,
            contradiction: false,
        };
        self.solve(cube, &mut forms);
        if forms.contradiction {
            return Union(NONE);
        }
        // Restrictions of single variables: of the body, and of others.
        let mut guard = ALL;
        let mut side = ALL;
        for part in self.guards(cube, &forms, &args) {
            let of_body = self.diagrams.borrow().support(part);
            let of_body = of_body.first().is_none_or(|v| args.contains(v));
            let to = if of_body { &mut guard } else { &mut side };
            *to = self.diagrams.borrow_mut().intersection(*to, part);
        }
        let mut all = self.diagrams.borrow_mut().intersection(all, guard);
        all = self.equated(all, &forms, &args);
        if all == NONE || side == NONE {
            return Union(NONE);
        }
        if let Some(rest) = self.left_over(cube, &forms) {
            let (Some(mut hull), Some(others)) = (self.bounds(all), self.bounds(side)) else {
                return Union(NONE);
            };
            hull.extend(others);
            let Some(bounds) = self.intervals.transfer(&[Some(hull)], &rest, None) else {
                return Union(NONE);
            };
            let mut guard = ALL;
            for (&var, bounds) in bounds.iter().filter(|(v, _)| self.terms.is_var(**v)) {
                let piece = Self::between(bounds.low.as_ref(), bounds.high.as_ref());
                let place = self.place(var, &piece);
                let to = if args.contains(&var) {
                    &mut guard
                } else {
                    &mut side
                };
                *to = self.diagrams.borrow_mut().intersection(*to, place);
            }
            all = self.diagrams.borrow_mut().intersection(all, guard);
        }
        if all == NONE || side == NONE {
            return Union(NONE);
        }
        let Some(head) = &clause.head else {
            return Union(ALL);
        };
        let params = &system.predicate(head.predicate).params;
        self.to_head(all, side, &head.args, params, &forms, &args)
    }

    /// The facts that solved equations and facts about single variables do not imply, in terms of
    /// roots. If some facts are about terms of bit-vectors, which are not rewritten, all facts.
    fn left_over(&self, cube: &Cube, forms: &Forms) -> Option<Cube> {
        let is_var = |t: TermId| self.terms.is_var(t);
        let bits = |t: TermId| {
            let bits = |t: TermId| self.terms.width(t) > 0;
            bits(t) || self.terms.args(t).first().is_some_and(|&a| bits(a))
        };
        let mut facts = Vec::new();
        for fact in &cube.facts {
            match fact {
                Fact::Linear(row) => {
                    let linear = forms.reduce(&row.linear);
                    let single = match &linear.monomials[..] {
                        [] => true,
                        [(var, _)] => is_var(*var) && row.relation != Relation::Integral,
                        _ => false,
                    };
                    if !single {
                        facts.push(Fact::linear(linear, row.relation));
                    }
                }
                Fact::Value(a, _) if !is_var(*a) && bits(*a) => return Some(cube.clone()),
                Fact::Same(a, b) if bits(*a) && !(is_var(*a) && is_var(*b)) => {
                    return Some(cube.clone());
                }
                _ => {}
            }
        }
        (!facts.is_empty()).then_some(Cube { facts })
    }

    /// Solves equations between two variables.
    fn solve(&self, cube: &Cube, forms: &mut Forms) {
        let is_var = |t: TermId| self.terms.is_var(t) && self.range(t).is_some();
        let mut open: Vec<Linear> = Vec::new();
        for fact in &cube.facts {
            match fact {
                Fact::Linear(row) if row.relation == Relation::Equal => {
                    open.push(row.linear.clone())
                }
                Fact::Value(var, value) if is_var(*var) => {
                    if let Some(code) = self.code(*value) {
                        let mut linear = Linear::unit(*var);
                        linear.constant = -code;
                        open.push(linear);
                    }
                }
                Fact::Same(a, b) if is_var(*a) && is_var(*b) && a != b => {
                    open.push(Linear::unit(*a.min(b)).minus(&Linear::unit(*a.max(b))));
                }
                _ => {}
            }
        }
        for _ in 0..LIMITS.max_rounds {
            let before = open.len();
            open.retain(|linear| {
                let reduced = forms.reduce(linear);
                !forms.learn(&reduced, &is_var)
            });
            if open.len() == before {
                break;
            }
        }
    }

    /// The points that satisfy the facts of the cube about one variable.
    pub(super) fn guarded(&self, diagram: Diagram, cube: &Cube) -> Diagram {
        let mut all = diagram;
        for fact in &cube.facts {
            let part = self.fact(fact);
            all = self.diagrams.borrow_mut().intersection(all, part);
        }
        all
    }

    /// The sets for facts about one variable under the solved equations, and for solved equations
    /// that restrict single arguments of the body.
    fn guards(&self, cube: &Cube, forms: &Forms, args: &FxHashSet<TermId>) -> Vec<Diagram> {
        let mut parts = Vec::new();
        for (&var, _) in forms.solved.iter().filter(|(v, _)| args.contains(v)) {
            let form = forms.of(var);
            if form.root.is_none() && self.range(var).is_some() {
                let value = Some(&form.offset);
                parts.push(self.place(var, &Self::between(value, value)));
            }
        }
        for fact in &cube.facts {
            parts.push(match fact {
                Fact::Linear(row) => {
                    let linear = forms.reduce(&row.linear);
                    self.fact(&Fact::linear(linear, row.relation))
                }
                // Its equation is solved.
                Fact::Value(var, value) if self.code(*value).is_some() => match forms.of(*var).root
                {
                    None => ALL,
                    Some(_) => self.fact(fact),
                },
                _ => ALL,
            });
        }
        parts.retain(|&part| part != ALL);
        parts
    }

    /// The points that satisfy the solved equations between arguments of the body, as precisely as
    /// cuts allow.
    fn equated(&self, diagram: Diagram, forms: &Forms, args: &FxHashSet<TermId>) -> Diagram {
        let mut all = diagram;
        let mut solved: Vec<TermId> = forms.solved.keys().copied().collect();
        solved.retain(|v| args.contains(v) && self.range(*v).is_some());
        solved.sort_unstable();
        for arg in solved {
            let form = forms.of(arg);
            let Some(root) = form.root.filter(|root| args.contains(root)) else {
                continue;
            };
            let there = Move {
                to: arg,
                factor: form.factor.clone(),
                offset: form.offset.clone(),
                plain: false,
            };
            all = self.copied(all, root, &there);
            let factor = form.factor.recip();
            let back = Move {
                to: root,
                offset: -&form.offset * &factor,
                factor,
                plain: false,
            };
            all = self.copied(all, arg, &back);
        }
        all
    }

    /// Bounds of all variables by all facts, from the box around the diagram; `None` if they are
    /// contradictory.
    pub(super) fn through(
        &self,
        diagram: Diagram,
        cube: &Cube,
    ) -> Option<BTreeMap<TermId, Bounds>> {
        let hull = self.bounds(diagram)?;
        self.intervals.transfer(&[Some(hull)], cube, None)
    }

    /// Renames the body's variables to the head's formal ones; `side` is about variables that occur
    /// in no body atom.
    fn to_head(
        &self,
        diagram: Diagram,
        side: Diagram,
        head_args: &[TermId],
        params: &[TermId],
        forms: &Forms,
        args: &FxHashSet<TermId>,
    ) -> Union {
        let mut first: FxHashMap<TermId, Move> = FxHashMap::default();
        let mut later: Vec<(TermId, Move)> = Vec::new();
        let mut guard = ALL;
        for (&arg, &param) in head_args.iter().zip(params) {
            if self.range(param).is_none() {
                continue;
            }
            let form = forms.of(arg);
            let place = match form.root {
                None => {
                    let value = Some(&form.offset);
                    self.place(param, &Self::between(value, value))
                }
                Some(root) if args.contains(&root) => {
                    let step = Move {
                        to: param,
                        plain: form.factor.is_one() && self.same_sort(root, param),
                        factor: form.factor,
                        offset: form.offset,
                    };
                    match first.get(&root) {
                        None => {
                            first.insert(root, step);
                        }
                        // In terms of the first image of the root.
                        Some(main) => {
                            let factor = &step.factor / &main.factor;
                            later.push((
                                main.to,
                                Move {
                                    to: param,
                                    offset: &step.offset - &factor * &main.offset,
                                    factor,
                                    plain: false,
                                },
                            ));
                        }
                    }
                    ALL
                }
                Some(root) => self.root_guard(side, root, param, &form.factor, &form.offset),
            };
            guard = self.diagrams.borrow_mut().intersection(guard, place);
        }
        let kept = |v: TermId| first.contains_key(&v);
        let projected = self.diagrams.borrow_mut().project(diagram, &kept);
        let mut all = self.renamed(projected, &first);
        for (from, step) in &later {
            all = self.copied(all, *from, step);
        }
        all = self.diagrams.borrow_mut().intersection(all, guard);
        self.limited(all)
    }

    /// The points at which the variable `to` of the move has the image of `from`
    /// ([`Diagrams::copy`]); within the box around the diagram if that would be too large.
    fn copied(&self, diagram: Diagram, from: TermId, step: &Move) -> Diagram {
        let tidy = |var: TermId, piece: &Piece| self.tidy(var, piece);
        let copy = |diagram| {
            let room = LIMITS.max_copy_factor * self.limit;
            let mut diagrams = self.diagrams.borrow_mut();
            diagrams.copy(diagram, from, step, &tidy, room)
        };
        let all = copy(diagram).or_else(|| copy(self.around(diagram).0));
        // The box has at most three pieces. Without the equation, the result is larger still.
        self.limited(all.unwrap_or(diagram)).0
    }

    /// The projection of the diagram onto a variable, moved.
    fn root_guard(
        &self,
        diagram: Diagram,
        root: TermId,
        param: TermId,
        factor: &Rational,
        offset: &Rational,
    ) -> Diagram {
        let alone = self.diagrams.borrow_mut().project(diagram, &|v| v == root);
        let step = Move {
            to: param,
            factor: factor.clone(),
            offset: offset.clone(),
            plain: false,
        };
        self.renamed(alone, &FxHashMap::from_iter([(root, step)]))
    }
}

/// The cube under an injective renaming of variables.
fn renamed_cube(terms: &TermStore, cube: &Cube, map: &FxHashMap<TermId, TermId>) -> Cube {
    let mut memo = FxHashMap::default();
    let mut renamed = |t: TermId| match map.get(&t) {
        Some(&to) => to,
        None if terms.is_var(t) || terms.is_value(t) => t,
        None => terms.substitute_with(t, map, &mut memo),
    };
    let facts = cube.facts.iter().map(|fact| match fact {
        Fact::Linear(row) => Fact::Linear(row.mapped(&mut renamed)),
        Fact::Value(a, b) => Fact::Value(renamed(*a), renamed(*b)),
        Fact::Same(a, b) => Fact::Same(renamed(*a), renamed(*b)),
    });
    Cube {
        facts: facts.collect(),
    }
}
