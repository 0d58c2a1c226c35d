//! Clauses as rules for resolution: patterns of constructors in head and body, and guards.
//!
//! Equations are solved, and disjunctions and `ite` give a rule for each case, so that the
//! outermost constructors of the arguments decide whether a rule is applicable.
//!
//! Invariant: an instance of a rule whose guards hold gives, by `Rule::values`, an instance of its
//! clause. Instances may be missing: those that depend on selectors of other constructors, and
//! those of clauses with more cases than `LIMITS.rules_per_clause`.

use num_traits::ToPrimitive;
use rustc_hash::FxHashMap;

use super::limits::LIMITS;
use alphorn_chc::{Clause, PredicateId, System};
use alphorn_proof::functions::{fresh_pattern, solve_equations};
use alphorn_term::{Assignment, Linear, Op, Rational, Sort, SortId, TermId, TermStore};

/// A term over the variables of a rule, which are numbers.
#[derive(Clone, Debug)]
pub(super) enum Pattern {
    /// A variable of the rule.
    Variable(u32),
    /// A number.
    Number(i64),
    /// The sort, the number of the constructor, and the arguments. Of Booleans, `false` is 0 and
    /// `true` is 1.
    Construct(SortId, u32, Box<[Pattern]>),
}

/// The relation of a sum to zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Relation {
    /// Equal to zero.
    Equal,
    /// Not zero.
    Differ,
    /// At most zero.
    AtMost,
}

/// A condition of a rule beside the match of its atoms.
#[derive(Clone, Debug)]
pub(super) enum Guard {
    /// A linear constraint: factors with variables, and a constant.
    Linear {
        relation: Relation,
        monomials: Box<[(i64, u32)]>,
        constant: i64,
    },
    /// Two terms of a datatype are equal.
    Equal(Pattern, Pattern),
    /// Two terms of a datatype differ.
    Differ(Pattern, Pattern),
    /// A formula over these variables, which is evaluated once they have values.
    Formula(TermId, Box<[u32]>),
    /// The first variable equals the value of a term over these variables.
    Value(u32, TermId, Box<[u32]>),
}

/// One case of a clause.
#[derive(Debug)]
pub(super) struct Rule {
    /// The index of the clause in the system.
    pub clause: usize,
    /// By number: the variables as terms.
    pub vars: Vec<TermId>,
    /// The arguments of the head.
    pub head: Vec<Pattern>,
    /// The body atoms.
    pub body: Vec<(PredicateId, Vec<Pattern>)>,
    /// The conditions.
    pub guards: Vec<Guard>,
    /// For each of the clause's variables, a term over the rule's variables.
    pub values: Vec<(TermId, TermId)>,
    /// Whether the rule may not be applicable although its head may match: it has guards, or a
    /// variable more than once in its head.
    pub has_conditions: bool,
}

/// The rules of a clause; `None` if it has terms that are not supported.
pub(super) fn rules(system: &System, position: usize) -> Option<Vec<Rule>> {
    let terms = &*system.terms;
    let clause = &system.clauses[position];
    let mut rules = Vec::new();
    let mut open = vec![terms.conjuncts(clause.constraint)];
    while let Some(conjuncts) = open.pop() {
        let Some((solution, guards)) = solve_equations(terms, conjuncts) else {
            continue;
        };
        // Solved variables stay known as equations.
        let equation = |(&var, &term): (&TermId, &TermId)| (var, term, terms.eq(var, term));
        let mut equations: Vec<_> = solution.iter().map(equation).collect();
        equations.sort_unstable();
        let mut open_parts = guards.clone();
        let solved = equations.iter().filter(|e| has_cases(terms, e.1));
        open_parts.extend(solved.map(|e| e.2));
        let split = open_parts
            .iter()
            .find_map(|&f| Some((f, branches(terms, f)?)));
        if let Some((split, branches)) = split
            && rules.len() + open.len() + branches.len() <= LIMITS.rules_per_clause
        {
            let mut rest: Vec<TermId> = equations.iter().map(|e| e.2).collect();
            rest.extend_from_slice(&guards);
            rest.retain(|&f| f != split);
            for branch in branches.into_iter().rev() {
                let mut conjuncts = rest.clone();
                conjuncts.push(branch);
                open.push(conjuncts);
            }
            continue;
        }
        rules.push(Builder::new(terms).rule(clause, position, &solution, &guards)?);
    }
    Some(rules)
}

/// Whether the value of a term depends on a formula, or on the constructor of a variable.
fn has_cases(terms: &TermStore, term: TermId) -> bool {
    let is_pattern = terms.is_var(term) || terms.is_value(term);
    let mut found = terms.sort_of(term) == SortId::BOOL && !is_pattern;
    terms.post_order(&[term], |t| {
        found |= match terms.op(t) {
            Op::Ite => true,
            Op::Field(..) => terms.is_var(terms.args(t)[0]),
            _ => false,
        }
    });
    found
}

/// The cases of a formula; `None` if it can be a guard as it is.
fn branches(terms: &TermStore, formula: TermId) -> Option<Vec<TermId>> {
    let node = terms.node(formula);
    match node.op {
        Op::Or => return Some(node.args.to_vec()),
        Op::Ite => {
            let [c, t, e] = [node.args[0], node.args[1], node.args[2]];
            return Some(vec![terms.and(&[c, t]), terms.and(&[terms.not(c), e])]);
        }
        Op::Eq if terms.sort_of(node.args[0]) == SortId::BOOL => {
            let [a, b] = [node.args[0], node.args[1]];
            let neither = terms.and(&[terms.not(a), terms.not(b)]);
            return Some(vec![terms.and(&[a, b]), neither]);
        }
        Op::Not => {
            let inner = terms.node(node.args[0]);
            let not = |&t: &TermId| terms.not(t);
            match inner.op {
                Op::And => return Some(inner.args.iter().map(not).collect()),
                Op::Or => {
                    let all: Vec<TermId> = inner.args.iter().map(not).collect();
                    return Some(vec![terms.and(&all)]);
                }
                Op::Ite => {
                    let [c, t, e] = [inner.args[0], inner.args[1], inner.args[2]];
                    let then = terms.and(&[c, terms.not(t)]);
                    return Some(vec![then, terms.and(&[terms.not(c), terms.not(e)])]);
                }
                Op::Eq if terms.sort_of(inner.args[0]) == SortId::BOOL => {
                    let [a, b] = [inner.args[0], inner.args[1]];
                    let one = terms.and(&[a, terms.not(b)]);
                    return Some(vec![one, terms.and(&[terms.not(a), b])]);
                }
                Op::Is(datatype, constructor) => {
                    let count = terms.datatype(datatype).constructors.len() as u32;
                    let others = (0..count).filter(|&c| c != constructor);
                    let is = |c| terms.is(datatype, c, inner.args[0]);
                    return Some(others.map(is).collect());
                }
                _ => {}
            }
        }
        _ => {}
    }
    // A nested `ite` whose condition has none; or a selector of a variable, whose case is that the
    // variable has the selector's constructor.
    let mut found = None;
    terms.post_order(&[formula], |t| {
        let node = terms.node(t);
        if found.is_some() {
            return;
        }
        match node.op {
            Op::Ite => {
                let pick = |branch: TermId| {
                    let one = FxHashMap::from_iter([(t, branch)]);
                    terms.substitute(formula, &one)
                };
                let condition = node.args[0];
                let then = terms.and(&[condition, pick(node.args[1])]);
                let other = terms.and(&[terms.not(condition), pick(node.args[2])]);
                found = Some(vec![then, other]);
            }
            Op::Field(datatype, constructor, _) if terms.is_var(node.args[0]) => {
                let pattern = fresh_pattern(terms, datatype, constructor);
                let is = terms.eq(node.args[0], pattern);
                found = Some(vec![terms.and(&[is, formula])]);
            }
            _ => {}
        }
    });
    found
}

/// A rule under construction.
struct Builder<'a> {
    terms: &'a TermStore,
    vars: Vec<TermId>,
    numbers: FxHashMap<TermId, u32>,
    guards: Vec<Guard>,
}

impl<'a> Builder<'a> {
    /// A rule without variables and guards.
    fn new(terms: &'a TermStore) -> Self {
        Builder {
            terms,
            vars: Vec::new(),
            numbers: FxHashMap::default(),
            guards: Vec::new(),
        }
    }

    /// The rule for a case of a clause; `None` if terms are not supported.
    fn rule(
        mut self,
        clause: &Clause,
        position: usize,
        solution: &Assignment,
        guards: &[TermId],
    ) -> Option<Rule> {
        let terms = self.terms;
        let mut patterns = |args: &[TermId]| -> Option<Vec<Pattern>> {
            let solved = args.iter().map(|a| *solution.get(a).unwrap_or(a));
            solved.map(|a| self.pattern(a, 0)).collect()
        };
        let head = match &clause.head {
            Some(head) => patterns(&head.args)?,
            None => Vec::new(),
        };
        let body = clause.body.iter();
        let body = body.map(|atom| Some((atom.predicate, patterns(&atom.args)?)));
        let body = body.collect::<Option<Vec<_>>>()?;
        for &guard in guards {
            self.guard(guard)?;
        }
        let mut values = Vec::new();
        for var in clause.vars(terms) {
            let value = *solution.get(&var).unwrap_or(&var);
            // Every variable in a value is a variable of the rule.
            self.variables(value)?;
            values.push((var, value));
        }
        let mut seen = vec![false; self.vars.len()];
        let linear = head.iter().all(|p| is_linear(p, &mut seen));
        Some(Rule {
            clause: position,
            has_conditions: !linear || !self.guards.is_empty(),
            vars: self.vars,
            head,
            body,
            guards: self.guards,
            values,
        })
    }

    /// The number of a variable; `None` if its sort is not supported.
    fn variable(&mut self, var: TermId) -> Option<u32> {
        if let Some(&number) = self.numbers.get(&var) {
            return Some(number);
        }
        match self.terms.sort(self.terms.sort_of(var)) {
            Sort::Bool | Sort::Int | Sort::Datatype(_) => {}
            _ => return None,
        }
        let number = u32::try_from(self.vars.len()).ok()?;
        self.vars.push(var);
        self.numbers.insert(var, number);
        Some(number)
    }

    /// The pattern of a term.
    fn pattern(&mut self, term: TermId, depth: usize) -> Option<Pattern> {
        let terms = self.terms;
        if depth > LIMITS.pattern_depth {
            return None;
        }
        let node = terms.node(term);
        Some(match &node.op {
            Op::Var(_) => Pattern::Variable(self.variable(term)?),
            Op::True => Pattern::Construct(SortId::BOOL, 1, Box::default()),
            Op::False => Pattern::Construct(SortId::BOOL, 0, Box::default()),
            Op::Int(value) => Pattern::Number(value.to_i64()?),
            Op::Construct(_, constructor) => {
                let fields = node.args.iter().map(|&a| self.pattern(a, depth + 1));
                Pattern::Construct(node.sort, *constructor, fields.collect::<Option<_>>()?)
            }
            _ => Pattern::Variable(self.named(term)?),
        })
    }

    /// A variable that equals the value of the term, by a guard.
    fn named(&mut self, term: TermId) -> Option<u32> {
        let terms = self.terms;
        if let Some(&known) = self.numbers.get(&term) {
            return Some(known);
        }
        let sort = terms.sort_of(term);
        let name = self.variable(terms.fresh_var("value", sort))?;
        self.numbers.insert(term, name);
        if sort == SortId::INT && *terms.op(term) == Op::Add {
            let difference = terms.difference(self.vars[name as usize], term);
            self.linear(Relation::Equal, &difference)?;
            return Some(name);
        }
        let vars = self.variables(term)?;
        self.guards.push(Guard::Value(name, term, vars));
        Some(name)
    }

    /// The numbers of the variables of the term.
    fn variables(&mut self, term: TermId) -> Option<Box<[u32]>> {
        let vars = self.terms.free_vars(&[term]);
        vars.into_iter().map(|v| self.variable(v)).collect()
    }

    /// Adds a formula as a guard.
    fn guard(&mut self, formula: TermId) -> Option<()> {
        let terms = self.terms;
        let (positive, atom) = match terms.op(formula) {
            Op::Not => (false, terms.args(formula)[0]),
            _ => (true, formula),
        };
        let node = terms.node(atom);
        let of_integers = node.args.len() == 2 && terms.sort_of(node.args[0]) == SortId::INT;
        match node.op {
            Op::Eq | Op::Le | Op::Ge if of_integers => {
                let difference = terms.difference(node.args[0], node.args[1]);
                let (relation, mut sum) = match (&node.op, positive) {
                    (Op::Eq, true) => (Relation::Equal, difference),
                    (Op::Eq, false) => (Relation::Differ, difference),
                    (Op::Le, true) | (Op::Ge, false) => (Relation::AtMost, difference),
                    _ => (Relation::AtMost, difference.negated()),
                };
                if relation == Relation::AtMost && !positive {
                    sum.constant += Rational::from_integer(1.into());
                }
                self.linear(relation, &sum)
            }
            Op::Eq if matches!(terms.sort(terms.sort_of(node.args[0])), Sort::Datatype(_)) => {
                let left = self.pattern(node.args[0], 0)?;
                let right = self.pattern(node.args[1], 0)?;
                self.guards.push(match positive {
                    true => Guard::Equal(left, right),
                    false => Guard::Differ(left, right),
                });
                Some(())
            }
            _ => {
                let vars = self.variables(formula)?;
                self.guards.push(Guard::Formula(formula, vars));
                Some(())
            }
        }
    }

    /// Adds a linear guard.
    fn linear(&mut self, relation: Relation, sum: &Linear) -> Option<()> {
        let mut monomials = Vec::with_capacity(sum.monomials.len());
        for (column, factor) in &sum.monomials {
            let number = match self.terms.is_var(*column) {
                true => self.variable(*column)?,
                false => self.named(*column)?,
            };
            monomials.push((factor.to_integer().to_i64()?, number));
        }
        self.guards.push(Guard::Linear {
            relation,
            monomials: monomials.into(),
            constant: sum.constant.to_integer().to_i64()?,
        });
        Some(())
    }
}

/// Whether no variable occurs twice in the pattern and those before.
fn is_linear(pattern: &Pattern, seen: &mut [bool]) -> bool {
    match pattern {
        Pattern::Variable(v) => !std::mem::replace(&mut seen[*v as usize], true),
        Pattern::Number(_) => true,
        Pattern::Construct(_, _, fields) => fields.iter().all(|f| is_linear(f, seen)),
    }
}
