//! Queries as lemmas.
//!
//! Invariant: the lemma of a query has the query's atoms as slots, in their order. It may say more than
//! the query needs, since conditions that are no literals over the atoms' arguments are left out.

use num_traits::ToPrimitive;
use rustc_hash::FxHashMap;

use super::limits::LIMITS;
use super::literal::{Column, Lemma, Literal, Origin, Relation, column};
use super::space::Space;
use alphorn_chc::Atom;
use alphorn_term::{Op, SortId, TermId, TermStore};

/// Atoms and a constraint.
pub struct Body {
    atoms: Vec<Atom>,
    constraint: TermId,
}

impl Body {
    /// The body of the clause at a position.
    pub fn of(space: &Space<'_>, clause: usize) -> Body {
        let clause = &space.system.clauses[clause];
        Body {
            atoms: clause.body.clone(),
            constraint: clause.constraint,
        }
    }

    /// The bodies that follow when clauses take the places of atoms that are not recursive. None if no
    /// atom is so, or if they are many or have many atoms.
    pub fn unfolded(self, space: &Space<'_>) -> Vec<Body> {
        let is_plain = |atom: &Atom| !space.recursive.contains(&atom.predicate);
        let (mut found, mut todo) = (Vec::new(), vec![self]);
        if !todo[0].atoms.iter().any(is_plain) {
            return found;
        }
        while let Some(body) = todo.pop() {
            if body.atoms.len() > LIMITS.slots || found.len() + todo.len() >= LIMITS.unfolded {
                return Vec::new();
            }
            match body.atoms.iter().position(is_plain) {
                Some(at) => {
                    let rules = space.rules[body.atoms[at].predicate.index()].iter();
                    todo.extend(rules.rev().map(|&rule| body.resolvent(space, at, rule)));
                }
                None => found.push(body),
            }
        }
        found.retain(|body| !body.atoms.is_empty());
        found
    }

    /// The body with that of a clause in the place of the atom that the clause derives.
    fn resolvent(&self, space: &Space<'_>, at: usize, rule: usize) -> Body {
        let (terms, rule) = (space.terms(), &space.system.clauses[rule]);
        let mut map = terms.renaming(&rule.vars(terms));
        let head = rule.head.iter().flat_map(|head| &head.args);
        map.extend(head.copied().zip(self.atoms[at].args.iter().copied()));
        let renamed = rule.body.iter().map(|atom| Atom {
            predicate: atom.predicate,
            args: atom.args.iter().map(|arg| map[arg]).collect(),
        });
        let mut atoms = self.atoms.clone();
        atoms.splice(at..=at, renamed);
        let constraint = terms.substitute(rule.constraint, &map);
        Body {
            atoms,
            constraint: terms.and(&[self.constraint, constraint]),
        }
    }
}

/// The lemma that a body is contradictory. With `patterns` a variable that is a part of an argument is
/// that part; otherwise what is said of it is left out.
pub fn of_body(space: &Space<'_>, body: &Body, patterns: bool) -> Lemma {
    let terms = space.terms();
    let mut columns: FxHashMap<TermId, Column> = FxHashMap::default();
    for (slot, atom) in body.atoms.iter().enumerate() {
        for (arg, &var) in atom.args.iter().enumerate() {
            columns.insert(var, column(slot, arg));
        }
    }
    let conjuncts = without_locals(terms, body.constraint, &columns, patterns);
    let slots: Vec<_> = body.atoms.iter().map(|atom| atom.predicate).collect();
    let (mut premises, mut conclusions) = (Vec::new(), Vec::new());
    for conjunct in conjuncts {
        let Some(literal) = literal(terms, conjunct, &columns) else {
            continue;
        };
        let is_difference = matches!(
            literal,
            Literal::Same(_, _, false)
                | Literal::Sum {
                    relation: Relation::Different,
                    ..
                }
        );
        let about = literal.columns();
        let has_output = about.iter().any(|&c| space.is_output(&slots, c));
        if literal.is_plain() && (is_difference || has_output) {
            conclusions.push(literal.negated(terms));
        } else {
            premises.push(literal);
        }
    }
    if conclusions.is_empty() {
        conclusions.push(Literal::falsity());
    }
    Lemma::new(slots, premises, conclusions, Origin::Query)
}

/// The conjuncts of a formula after equations for variables that are no columns are solved.
fn without_locals(
    terms: &TermStore,
    formula: TermId,
    columns: &FxHashMap<TermId, Column>,
    patterns: bool,
) -> Vec<TermId> {
    let mut conjuncts = terms.conjuncts(formula);
    let is_local = |v: &TermId| !columns.contains_key(v);
    'next: loop {
        for at in 0..conjuncts.len() {
            let conjunct = conjuncts[at];
            if !matches!(terms.op(conjunct), Op::Eq) {
                continue;
            }
            let locals = terms.free_vars(&[conjunct]).into_iter().filter(is_local);
            for local in locals.collect::<Vec<_>>() {
                let Some(value) = solved(terms, conjunct, local) else {
                    continue;
                };
                let map = [(local, value)].into_iter().collect();
                conjuncts.remove(at);
                let substituted = conjuncts.iter().map(|&c| terms.substitute(c, &map));
                let whole = terms.and(&substituted.collect::<Vec<_>>());
                conjuncts = terms.conjuncts(whole);
                continue 'next;
            }
            if patterns && let Some(parts) = taken_apart(terms, conjunct, &is_local) {
                conjuncts.splice(at..=at, parts);
                continue 'next;
            }
        }
        break;
    }
    let is_closed = |c: &TermId| !terms.free_vars(&[*c]).iter().any(is_local);
    let conjuncts = conjuncts
        .into_iter()
        .map(|conjunct| match is_closed(&conjunct) {
            true => conjunct,
            false => of_whole_arrays(terms, conjunct),
        });
    conjuncts.filter(is_closed).collect()
}

/// An equation of a value with a constructor's term that has local variables: what it says of the
/// value's parts.
fn taken_apart(
    terms: &TermStore,
    equation: TermId,
    is_local: &impl Fn(&TermId) -> bool,
) -> Option<Vec<TermId>> {
    let has_locals = |t: TermId| terms.free_vars(&[t]).iter().any(is_local);
    let (left, right) = (terms.args(equation)[0], terms.args(equation)[1]);
    for (value, pattern) in [(left, right), (right, left)] {
        if let Op::Construct(datatype, constructor) = *terms.op(pattern)
            && has_locals(pattern)
            && !has_locals(value)
        {
            let mut parts = vec![terms.is(datatype, constructor, value)];
            for (field, &part) in (0..).zip(terms.args(pattern)) {
                parts.push(terms.eq(part, terms.field(datatype, constructor, field, value)));
            }
            parts.retain(|&part| part != TermId::TRUE);
            return Some(parts);
        }
    }
    None
}

/// For arrays that differ at one index, that they differ: a query may read them at any index.
fn of_whole_arrays(terms: &TermStore, conjunct: TermId) -> TermId {
    let of = |t: TermId| (terms.op(t), terms.args(t));
    if let (Op::Not, [equation]) = of(conjunct)
        && let (Op::Eq, &[left, right]) = of(*equation)
        && let (Op::Select, &[a, i]) = of(left)
        && let (Op::Select, &[b, j]) = of(right)
        && i == j
        && terms.is_var(a)
        && terms.is_var(b)
    {
        return terms.not(terms.eq(a, b));
    }
    conjunct
}

/// The value that an equation gives a variable.
pub fn solved(terms: &TermStore, equation: TermId, var: TermId) -> Option<TermId> {
    let (left, right) = (terms.args(equation)[0], terms.args(equation)[1]);
    for (a, b) in [(left, right), (right, left)] {
        if a == var && !terms.free_vars(&[b]).contains(&var) {
            return Some(b);
        }
    }
    if terms.sort_of(left) != SortId::INT {
        return None;
    }
    let difference = terms.difference(left, right);
    let (factor, rest) = difference.split_off(var);
    let factor = factor.to_i64().filter(|f| f.abs() == 1)?;
    let value = match factor {
        1 => rest.negated(),
        _ => rest,
    };
    let is_whole = value.monomials.iter().all(|m| m.1.is_integer()) && value.constant.is_integer();
    let value = is_whole.then(|| terms.from_linear(&value, SortId::INT))?;
    (!terms.free_vars(&[value]).contains(&var)).then_some(value)
}

/// A conjunct as a literal over columns; `None` if it is no formula over them.
pub fn literal(
    terms: &TermStore,
    formula: TermId,
    columns: &FxHashMap<TermId, Column>,
) -> Option<Literal> {
    let (atom, positive) = match terms.op(formula) {
        Op::Not => (terms.args(formula)[0], false),
        _ => (formula, true),
    };
    let args = terms.args(atom);
    let sum = |left: TermId, right: TermId| {
        let linear = terms.difference(left, right);
        let factor = linear.integer_factor();
        let linear = linear.scaled(&factor);
        let parts: Option<Vec<(Column, i64)>> = linear
            .monomials
            .iter()
            .map(|(var, factor)| Some((*columns.get(var)?, factor.to_i64()?)))
            .collect();
        Some((parts?, linear.constant.to_i64()?))
    };
    let found = match terms.op(atom) {
        Op::Var(_) => columns.get(&atom).map(|&c| Literal::Flag(c, true)),
        Op::Eq if terms.sort_of(args[0]) == SortId::INT => sum(args[0], args[1])
            .map(|(parts, constant)| Literal::sum(Relation::Equal, parts, constant)),
        Op::Ge if terms.sort_of(args[0]) == SortId::INT => sum(args[0], args[1])
            .map(|(parts, constant)| Literal::sum(Relation::AtLeast, parts, constant)),
        Op::Le if terms.sort_of(args[0]) == SortId::INT => sum(args[1], args[0])
            .map(|(parts, constant)| Literal::sum(Relation::AtLeast, parts, constant)),
        Op::Eq => match (columns.get(&args[0]), columns.get(&args[1])) {
            (Some(&left), Some(&right)) => {
                Some(Literal::Same(left.min(right), left.max(right), true))
            }
            _ => None,
        },
        _ => None,
    };
    let literal = match found {
        Some(literal) => literal,
        None => {
            let free = terms.free_vars(&[atom]);
            let pairs: Option<Vec<(TermId, Column)>> =
                free.iter().map(|&v| Some((v, *columns.get(&v)?))).collect();
            Literal::Formula(atom, pairs?.into())
        }
    };
    Some(if positive {
        literal
    } else {
        literal.negated(terms)
    })
}

/// A lemma with the formulas that compare a column with a constant as literals that tests evaluate.
pub fn with_constants(space: &Space<'_>, lemma: &Lemma) -> Lemma {
    let terms = space.terms();
    let plain = |literal: &Literal| {
        let Literal::Formula(formula, columns) = literal else {
            return literal.clone();
        };
        let (equation, same) = match terms.op(*formula) {
            Op::Not => (terms.args(*formula)[0], false),
            _ => (*formula, true),
        };
        let (Op::Eq, [(var, column)]) = (terms.op(equation), &columns[..]) else {
            return literal.clone();
        };
        let sides = terms.args(equation);
        let value = match sides {
            [left, right] if left == var => *right,
            [left, right] if right == var => *left,
            _ => return literal.clone(),
        };
        match terms.is_value(value) && !matches!(terms.sort_of(value), SortId::INT | SortId::BOOL) {
            true => Literal::Fixed(*column, value, same),
            false => literal.clone(),
        }
    };
    let all = |literals: &[Literal]| literals.iter().map(plain).collect();
    let (premises, conclusions) = (all(&lemma.premises), all(&lemma.conclusions));
    Lemma::new(lemma.slots.clone(), premises, conclusions, lemma.origin)
}

/// A query without an atom that only says that two values differ: the lemma whose conclusion is their
/// equality. `known` are the lemmas that are proven, of which some say `P(x, y) ⇒ x ≠ y`, perhaps under
/// one premise, which the query has.
pub fn without_difference(space: &Space<'_>, goal: &Lemma, known: &[&Lemma]) -> Option<Lemma> {
    let terms = space.terms();
    for (slot, &predicate) in goal.slots.iter().enumerate() {
        let sorts = space.sorts(predicate);
        for lemma in known.iter().filter(|lemma| lemma.slots == [predicate]) {
            let [conclusion] = &lemma.conclusions[..] else {
                continue;
            };
            let Some((left, right)) = conclusion.pair(false) else {
                continue;
            };
            let here = |c: Column| column(slot, c.arg.into());
            let premise = match &lemma.premises[..] {
                [] if sorts.len() == 2 => None,
                [premise] => Some(premise.mapped(&here)),
                _ => continue,
            };
            let is_given = premise.iter().all(|premise| {
                goal.premises.contains(premise)
                    || goal.conclusions.contains(&premise.negated(terms))
            });
            let sort = sorts[usize::from(left.arg)];
            if is_given
                && let Some(found) = dropped(space, goal, (slot, left, right), sort, &premise)
                && space.holds(&found)
            {
                return Some(found);
            }
        }
    }
    None
}

/// The lemma without a slot of which two arguments are equal to columns of other slots, and nothing
/// else is said but `premise`.
fn dropped(
    space: &Space<'_>,
    goal: &Lemma,
    (slot, left, right): (usize, Column, Column),
    sort: SortId,
    premise: &Option<Literal>,
) -> Option<Lemma> {
    let here = |c: &Column| usize::from(c.slot) == slot;
    let mut partner: [Option<Column>; 2] = [None, None];
    let (mut premises, mut conclusions) = (Vec::new(), Vec::new());
    let literals = goal.premises.iter().map(|l| (l.clone(), true));
    let negated = goal
        .conclusions
        .iter()
        .map(|l| (l.negated(space.terms()), false));
    for (literal, is_premise) in literals.chain(negated) {
        if premise.as_ref() == Some(&literal) {
            continue;
        }
        let columns = literal.columns();
        if !columns.iter().any(here) {
            match is_premise {
                true => premises.push(literal),
                false if literal != Literal::falsity().negated(space.terms()) => {
                    conclusions.push(literal.negated(space.terms()));
                }
                false => {}
            }
            continue;
        }
        let is_equation = match &literal {
            Literal::Same(_, _, true) => true,
            Literal::Sum {
                relation: Relation::Equal,
                sum,
                constant: 0,
            } => matches!(sum[..], [(_, 1), (_, -1)]),
            _ => false,
        };
        let [first, second] = columns[..] else {
            return None;
        };
        let (own, other) = if here(&first) {
            (first, second)
        } else {
            (second, first)
        };
        if !is_equation || here(&other) {
            return None;
        }
        let at = match own.arg {
            arg if arg == left.arg => 0,
            arg if arg == right.arg => 1,
            _ => return None,
        };
        match partner[at] {
            None => partner[at] = Some(other),
            // Two columns of other slots that are equal to it are equal.
            Some(first) => premises.push(Literal::equal(first, other, sort)),
        }
    }
    let [Some(left), Some(right)] = partner else {
        return None;
    };
    conclusions.retain(|l| *l != Literal::falsity());
    conclusions.push(Literal::equal(left, right, sort));
    let shift = |c: Column| Column {
        slot: if usize::from(c.slot) > slot {
            c.slot - 1
        } else {
            c.slot
        },
        ..c
    };
    let mut slots = goal.slots.clone();
    slots.remove(slot);
    Some(Lemma::new(
        slots,
        premises.iter().map(|l| l.mapped(&shift)).collect(),
        conclusions.iter().map(|l| l.mapped(&shift)).collect(),
        Origin::Query,
    ))
}
