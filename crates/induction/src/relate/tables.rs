//! Tables of facts, and the arguments that the others determine.
//!
//! Facts are derived bottom-up; variables that no equation fixes have values from small ranges.
//!
//! Invariant: every fact of a table has a derivation. A table may lack facts.

use std::cell::Cell;
use std::collections::BTreeSet;

use num_traits::{One, Signed, ToPrimitive, Zero};
use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use super::literal::{number, value_of};
use alphorn_chc::{Clause, PredicateId, System};
use alphorn_term::run::{Budget, Context};
use alphorn_term::{Assignment, Op, SortId, TermId, TermStore, evaluate};

/// A fact: the numbers of its values.
pub type Row = Box<[i64]>;

/// The facts of all predicates.
#[derive(Default)]
pub struct Tables {
    /// By predicate, small facts first.
    rows: Vec<Vec<Row>>,
    /// The positions of arguments that the others determine, by predicate; empty if none are.
    pub outputs: Vec<Vec<usize>>,
    /// Whether the facts of a predicate could be derived.
    pub is_known: Vec<bool>,
}

impl Tables {
    /// The facts of a predicate, small ones first.
    pub fn rows(&self, predicate: PredicateId) -> &[Row] {
        &self.rows[predicate.index()]
    }

    /// Whether the facts of a predicate could be derived.
    pub fn knows(&self, predicate: PredicateId) -> bool {
        self.is_known[predicate.index()]
    }

    /// Derives facts of a system within the engine's limits.
    pub fn of(system: &System, constants: &BTreeSet<i64>, cx: &Context) -> Tables {
        let plans: Option<Vec<Plan>> = system
            .clauses
            .iter()
            .filter(|clause| clause.head.is_some())
            .map(|clause| Plan::new(system, clause))
            .collect();
        let count = system.predicates.len();
        let mut tables = Tables {
            rows: vec![Vec::new(); count],
            outputs: vec![Vec::new(); count],
            is_known: vec![plans.is_some(); count],
        };
        if let Some(plans) = plans {
            let mut search = Search::new(system, constants, &cx.budget);
            search.run(&plans);
            tables.rows = search.rows;
            for rows in &mut tables.rows {
                rows.sort_by_key(|row| row.iter().map(|v| v.unsigned_abs()).max().unwrap_or(0));
            }
        }
        for predicate in system.used_predicates() {
            tables.outputs[predicate.index()] = tables.modes(system, predicate);
        }
        tables
    }

    /// The outputs of a predicate: an argument that the others determine, preferably one such that
    /// the others cover small values; the last two if no single one is determined.
    fn modes(&self, system: &System, predicate: PredicateId) -> Vec<usize> {
        let params = &system.predicate(predicate).params;
        let arity = params.len();
        let rows = self.rows(predicate);
        if arity == 0 {
            return Vec::new();
        }
        if rows.is_empty() {
            return vec![arity - 1];
        }
        let mut candidates: Vec<Vec<usize>> = vec![vec![arity - 1]];
        candidates.extend((0..arity - 1).map(|at| vec![at]));
        if arity > 2 {
            candidates.push(vec![arity - 2, arity - 1]);
        }
        let mut domains: FxHashMap<SortId, Vec<i64>> = FxHashMap::default();
        for (at, &param) in params.iter().enumerate() {
            let domain = domains.entry(system.terms.sort_of(param)).or_default();
            domain.extend(rows.iter().map(|row| row[at]));
        }
        for domain in domains.values_mut() {
            domain.sort_unstable_by_key(|v| (v.unsigned_abs(), *v));
            domain.dedup();
            domain.truncate(LIMITS.mode_values);
        }
        let mut best: Option<(f64, Vec<usize>)> = None;
        for outputs in candidates {
            if outputs.len() >= arity {
                continue;
            }
            let inputs: Vec<usize> = (0..arity).filter(|at| !outputs.contains(at)).collect();
            let key = |row: &Row| inputs.iter().map(|&at| row[at]).collect::<Vec<i64>>();
            let keys: FxHashSet<Vec<i64>> = rows.iter().map(key).collect();
            if keys.len() < rows.len() {
                continue;
            }
            let lists: Vec<&[i64]> = inputs
                .iter()
                .map(|&at| domains[&system.terms.sort_of(params[at])].as_slice())
                .collect();
            let (mut seen, mut covered) = (0, 0);
            for_products(&lists, LIMITS.mode_products, |values| {
                seen += 1;
                covered += usize::from(keys.contains(values));
            });
            let cover = covered as f64 / f64::from(seen.max(1));
            let is_better = match &best {
                None => true,
                Some((other, _)) => outputs.len() == 1 && cover > other + 0.15,
            };
            if is_better {
                best = Some((cover, outputs));
            }
        }
        best.map(|found| found.1).unwrap_or_default()
    }
}

/// Calls `visit` with the elements of a product of lists, at most `most` times.
fn for_products(lists: &[&[i64]], most: usize, mut visit: impl FnMut(&[i64])) {
    if lists.iter().any(|list| list.is_empty()) {
        return;
    }
    let mut at = vec![0; lists.len()];
    let mut values: Vec<i64> = lists.iter().map(|list| list[0]).collect();
    for _ in 0..most {
        visit(&values);
        let mut position = lists.len();
        loop {
            if position == 0 {
                return;
            }
            position -= 1;
            at[position] += 1;
            if at[position] < lists[position].len() {
                values[position] = lists[position][at[position]];
                break;
            }
            at[position] = 0;
            values[position] = lists[position][0];
        }
    }
}

/// An integer expression over the variables of a clause, by position.
enum Expression {
    Sum(Vec<(Expression, i64)>, i64),
    Variable(usize),
    Product(Box<Expression>, Box<Expression>),
    Quotient(Box<Expression>, i64),
    Remainder(Box<Expression>, i64),
    Choice(Box<Test>, Box<Expression>, Box<Expression>),
    Term(Evaluated),
}

/// A term of any sort, by evaluation.
struct Evaluated {
    term: TermId,
    /// The positions of its variables.
    vars: Vec<usize>,
    /// The number of its distinct parts.
    size: usize,
}

/// A formula over the variables of a clause.
enum Test {
    AtLeast(Expression),
    Zero(Expression),
    Not(Box<Test>),
    All(Vec<Test>),
    Any(Vec<Test>),
    Term(Evaluated),
}

/// A step of a plan.
enum Step {
    /// Goes on if the test holds.
    Check(Test),
    /// Sets a variable to a value.
    Set(usize, Expression),
    /// Sets a variable to minus a sum, divided by a factor without remainder.
    Solve(usize, Expression, i64),
    /// Takes apart a value by its constructor; the fields become variables.
    Open(usize, TermId, Vec<usize>),
    /// Facts of a predicate that agree at some positions; the others become variables.
    Join {
        predicate: PredicateId,
        args: Vec<usize>,
        bound: Vec<usize>,
    },
    /// All values of a small range.
    Range(usize),
}

/// How to derive facts by a clause.
struct Plan {
    steps: Vec<Step>,
    vars: Vec<TermId>,
    head: (PredicateId, Vec<usize>),
    ranges: usize,
}

impl Plan {
    /// A plan for a clause with a head; `None` if its terms are not supported, or if too many
    /// variables have values from ranges.
    fn new(system: &System, clause: &Clause) -> Option<Plan> {
        let terms = &*system.terms;
        let head = clause.head.as_ref()?;
        if terms.dag_size(&[clause.constraint]) > LIMITS.clause_terms {
            return None;
        }
        let mut planner = Planner {
            terms,
            vars: clause.vars(terms),
            bound: FxHashSet::default(),
            pending: terms.conjuncts(clause.constraint),
            steps: Vec::new(),
            compiled: Cell::new(0),
        };
        let mut ranges = 0;
        let mut atoms = clause.body.iter();
        planner.flush();
        for atom in atoms.by_ref() {
            let args: Option<Vec<usize>> = atom.args.iter().map(|&a| planner.position(a)).collect();
            let args = args?;
            let is_bound = |at: &usize| planner.bound.contains(&planner.vars[args[*at]]);
            let bound: Vec<usize> = (0..args.len()).filter(is_bound).collect();
            planner.bound.extend(&atom.args);
            planner.steps.push(Step::Join {
                predicate: atom.predicate,
                args,
                bound,
            });
            planner.flush();
        }
        while let Some(&var) = planner.vars.iter().find(|v| !planner.bound.contains(v)) {
            let at = planner.position(var)?;
            planner.steps.push(Step::Range(at));
            planner.bound.insert(var);
            ranges += 1;
            planner.flush();
        }
        let args: Option<Vec<usize>> = head.args.iter().map(|&a| planner.position(a)).collect();
        let is_done = planner.pending.is_empty() && ranges <= LIMITS.ranges;
        is_done.then_some(Plan {
            steps: planner.steps,
            vars: planner.vars,
            head: (head.predicate, args?),
            ranges,
        })
    }
}

/// Makes a plan.
struct Planner<'a> {
    terms: &'a TermStore,
    vars: Vec<TermId>,
    bound: FxHashSet<TermId>,
    pending: Vec<TermId>,
    steps: Vec<Step>,
    /// The number of parts that were compiled. Shared parts are compiled again each time, so that the
    /// rest is left to evaluation when there are many.
    compiled: Cell<usize>,
}

impl Planner<'_> {
    fn position(&self, var: TermId) -> Option<usize> {
        self.vars.iter().position(|&v| v == var)
    }

    /// Adds steps for the conjuncts that can be tested or solved.
    fn flush(&mut self) {
        loop {
            let mut progress = false;
            let mut at = 0;
            while at < self.pending.len() {
                let done = self.conjunct(self.pending[at]);
                if done {
                    self.pending.remove(at);
                }
                progress |= done;
                at += usize::from(!done);
            }
            if !progress {
                return;
            }
        }
    }

    /// Adds the step for a conjunct, if it can be tested or solved.
    fn conjunct(&mut self, formula: TermId) -> bool {
        let free = self.terms.free_vars(&[formula]);
        let unbound: Vec<TermId> = free
            .into_iter()
            .filter(|v| !self.bound.contains(v))
            .collect();
        if unbound.is_empty() {
            let test = self.test(formula);
            self.steps.push(Step::Check(test));
            return true;
        }
        if let [var] = unbound[..] {
            return self.solved(formula, var);
        }
        self.opened(formula)
    }

    /// Solves an equation, or a literal of a Boolean, for a variable.
    fn solved(&mut self, formula: TermId, var: TermId) -> bool {
        let terms = self.terms;
        let Some(position) = self.position(var) else {
            return false;
        };
        let literal = match terms.op(formula) {
            _ if formula == var => Some(TermId::TRUE),
            Op::Not if terms.args(formula)[0] == var => Some(TermId::FALSE),
            _ => None,
        };
        if let Some(value) = literal {
            self.steps
                .push(Step::Set(position, Expression::Term(self.evaluated(value))));
            self.bound.insert(var);
            return true;
        }
        if !matches!(terms.op(formula), Op::Eq) {
            return false;
        }
        let (left, right) = (terms.args(formula)[0], terms.args(formula)[1]);
        if terms.sort_of(left) == SortId::INT {
            let difference = terms.difference(left, right);
            let mut own = difference.clone().split_off(var);
            let factor = std::mem::replace(&mut own.0, Zero::zero());
            let inside = |t: TermId| terms.free_vars(&[t]).contains(&var);
            if factor.is_zero() || own.1.monomials.iter().any(|m| inside(m.0)) {
                return false;
            }
            let scale = own.1.integer_factor() * num_rational(&factor);
            let Some(factor) = whole(&(&factor * &scale)) else {
                return false;
            };
            let Some(rest) = self.linear(&own.1.scaled(&scale)) else {
                return false;
            };
            self.steps.push(Step::Solve(position, rest, factor));
            self.bound.insert(var);
            return true;
        }
        for (a, b) in [(left, right), (right, left)] {
            if a == var && !terms.free_vars(&[b]).contains(&var) {
                let expression = self.expression(b);
                self.steps.push(Step::Set(position, expression));
                self.bound.insert(var);
                return true;
            }
        }
        self.opened(formula)
    }

    /// Takes apart a bound value that equals a constructor applied to terms.
    fn opened(&mut self, formula: TermId) -> bool {
        let terms = self.terms;
        if !matches!(terms.op(formula), Op::Eq) {
            return false;
        }
        let (left, right) = (terms.args(formula)[0], terms.args(formula)[1]);
        for (value, pattern) in [(left, right), (right, left)] {
            let Some(from) = self.position(value) else {
                continue;
            };
            if !self.bound.contains(&value) || !matches!(terms.op(pattern), Op::Construct(..)) {
                continue;
            }
            let mut fields = Vec::new();
            for &field in terms.args(pattern) {
                let var = terms.fresh_var("field", terms.sort_of(field));
                fields.push(self.vars.len());
                self.vars.push(var);
                self.bound.insert(var);
                self.pending.push(terms.eq(var, field));
            }
            self.steps.push(Step::Open(from, pattern, fields));
            return true;
        }
        false
    }

    /// A linear term; `None` if a number is too large.
    fn linear(&self, linear: &alphorn_term::Linear) -> Option<Expression> {
        let constant = whole(&linear.constant)?;
        let parts = linear.monomials.iter();
        let parts: Option<Vec<(Expression, i64)>> = parts
            .map(|(term, factor)| Some((self.expression(*term), whole(factor)?)))
            .collect();
        Some(Expression::Sum(parts?, constant))
    }

    fn evaluated(&self, term: TermId) -> Evaluated {
        let free = self.terms.free_vars(&[term]);
        Evaluated {
            term,
            vars: free.iter().filter_map(|&v| self.position(v)).collect(),
            size: self.terms.dag_size(&[term]),
        }
    }

    /// Whether one more part is compiled.
    fn compiles(&self) -> bool {
        self.compiled.set(self.compiled.get() + 1);
        self.compiled.get() <= LIMITS.clause_terms
    }

    /// Compiles a term.
    fn expression(&self, term: TermId) -> Expression {
        let terms = self.terms;
        if let Some(at) = self.position(term) {
            return Expression::Variable(at);
        }
        if !self.compiles() {
            return Expression::Term(self.evaluated(term));
        }
        let node = terms.node(term);
        let whole_argument = |at: usize| terms.as_int(node.args[at]).and_then(ToPrimitive::to_i64);
        let compiled = match node.op {
            Op::Add | Op::Int(_) => {
                let linear = terms.linear(term);
                self.linear(&linear)
            }
            Op::Mul if node.args.len() == 2 && node.sort == SortId::INT => {
                Some(Expression::Product(
                    Box::new(self.expression(node.args[0])),
                    Box::new(self.expression(node.args[1])),
                ))
            }
            Op::IDiv => whole_argument(1)
                .filter(|&by| by > 0)
                .map(|by| Expression::Quotient(Box::new(self.expression(node.args[0])), by)),
            Op::Mod => whole_argument(1)
                .filter(|&by| by > 0)
                .map(|by| Expression::Remainder(Box::new(self.expression(node.args[0])), by)),
            Op::Ite if node.sort == SortId::INT => Some(Expression::Choice(
                Box::new(self.test(node.args[0])),
                Box::new(self.expression(node.args[1])),
                Box::new(self.expression(node.args[2])),
            )),
            _ => None,
        };
        compiled.unwrap_or_else(|| Expression::Term(self.evaluated(term)))
    }

    /// Compiles a formula.
    fn test(&self, formula: TermId) -> Test {
        if !self.compiles() {
            return Test::Term(self.evaluated(formula));
        }
        let terms = self.terms;
        let node = terms.node(formula);
        let all = |args: &[TermId]| args.iter().map(|&a| self.test(a)).collect();
        let of_integers = !node.args.is_empty() && terms.sort_of(node.args[0]) == SortId::INT;
        let difference = |left: usize, right: usize| {
            let linear = terms.difference(node.args[left], node.args[right]);
            let factor = linear.integer_factor();
            self.linear(&linear.scaled(&factor))
        };
        let compiled = match node.op {
            Op::Not => Some(Test::Not(Box::new(self.test(node.args[0])))),
            Op::And => Some(Test::All(all(&node.args))),
            Op::Or => Some(Test::Any(all(&node.args))),
            Op::Eq if of_integers => difference(0, 1).map(Test::Zero),
            Op::Ge if of_integers => difference(0, 1).map(Test::AtLeast),
            Op::Le if of_integers => difference(1, 0).map(Test::AtLeast),
            _ => None,
        };
        compiled.unwrap_or_else(|| Test::Term(self.evaluated(formula)))
    }
}

/// One, with the sign of a number: multiplying an equation by it makes a factor positive.
fn num_rational(factor: &alphorn_term::Rational) -> alphorn_term::Rational {
    let one = alphorn_term::Rational::one();
    if factor.is_negative() { -one } else { one }
}

/// A whole number of moderate size.
fn whole(number: &alphorn_term::Rational) -> Option<i64> {
    let value = number.is_integer().then(|| number.to_integer())?.to_i64()?;
    (value.unsigned_abs() < 1 << 40).then_some(value)
}

/// The facts that agree with a key at some positions.
type Index = FxHashMap<Vec<i64>, Vec<u32>>;

/// Derives facts.
struct Search<'a> {
    system: &'a System,
    rows: Vec<Vec<Row>>,
    known: Vec<FxHashSet<Row>>,
    /// By predicate and positions, for the facts of earlier rounds.
    indexes: FxHashMap<(PredicateId, Vec<usize>), Index>,
    /// The number of facts of each predicate in earlier rounds.
    earlier: Vec<usize>,
    ranges: [Vec<i64>; 4],
    /// Values of sorts besides Int and Bool.
    others: FxHashMap<SortId, Vec<i64>>,
    steps: usize,
    /// Steps and parts of evaluated terms that are not charged to the budget yet.
    work: Cell<usize>,
    budget: &'a Budget,
    is_stopped: bool,
}

impl<'a> Search<'a> {
    fn new(system: &'a System, constants: &BTreeSet<i64>, budget: &'a Budget) -> Self {
        let mut wide: Vec<i64> = (-2..=7).collect();
        let mut more: BTreeSet<i64> = BTreeSet::new();
        for &c in constants {
            if 7 < c && c <= 200 {
                more.extend([c - 1, c, c + 1]);
            }
            if 4 < c && c <= 100 {
                more.insert(2 * c);
            }
        }
        wide.extend(more.into_iter().filter(|c| *c > 7).take(LIMITS.more_values));
        let count = system.predicates.len();
        Search {
            system,
            rows: vec![Vec::new(); count],
            known: vec![FxHashSet::default(); count],
            indexes: FxHashMap::default(),
            earlier: vec![0; count],
            ranges: [wide.clone(), wide.clone(), wide, (-1..4).collect()],
            others: FxHashMap::default(),
            steps: 0,
            work: Cell::new(0),
            budget,
            is_stopped: false,
        }
    }

    /// Applies the clauses round by round.
    fn run(&mut self, plans: &[Plan]) {
        for _ in 0..LIMITS.table_rounds {
            if self.is_stopped || self.steps > LIMITS.table_steps {
                return;
            }
            self.indexes.clear();
            self.earlier = self.rows.iter().map(Vec::len).collect();
            let before: usize = self.earlier.iter().sum();
            for plan in plans {
                let mut values = vec![0; plan.vars.len()];
                let most = self.steps + LIMITS.steps_per_clause;
                self.step(plan, 0, &mut values, most);
            }
            self.charge();
            if self.rows.iter().map(Vec::len).sum::<usize>() == before {
                return;
            }
        }
    }

    /// Charges the work so far to the budget, and stops if that is spent.
    fn charge(&mut self) {
        let work = u32::try_from(self.work.take()).unwrap_or(u32::MAX);
        self.system.terms.charge(LIMITS.step_work * work);
        self.is_stopped |= self.budget.is_spent();
    }

    /// Continues a plan at a step; the depth is that of the plan.
    fn step(&mut self, plan: &Plan, at: usize, values: &mut [i64], most: usize) {
        self.steps += 1;
        self.work.set(self.work.get() + 1);
        if self.work.get() >= LIMITS.steps_at_once {
            self.charge();
        }
        if self.steps > most || self.is_stopped {
            return;
        }
        let Some(step) = plan.steps.get(at) else {
            let (predicate, args) = &plan.head;
            self.add(*predicate, args.iter().map(|&arg| values[arg]).collect());
            return;
        };
        match step {
            Step::Check(test) => {
                if self.test(test, plan, values) == Some(true) {
                    self.step(plan, at + 1, values, most);
                }
            }
            Step::Set(var, expression) => {
                if let Some(value) = self.value(expression, plan, values) {
                    values[*var] = value;
                    self.step(plan, at + 1, values, most);
                }
            }
            Step::Solve(var, rest, factor) => {
                if let Some(rest) = self.value(rest, plan, values)
                    && rest % factor == 0
                {
                    values[*var] = -rest / factor;
                    self.step(plan, at + 1, values, most);
                }
            }
            Step::Open(from, pattern, fields) => {
                let terms = &self.system.terms;
                let value = value_of(terms, values[*from], terms.sort_of(plan.vars[*from]));
                if terms.op(value) == terms.op(*pattern) {
                    for (&field, &part) in fields.iter().zip(terms.args(value)) {
                        let Some(part) = number(terms, part) else {
                            return;
                        };
                        values[field] = part;
                    }
                    self.step(plan, at + 1, values, most);
                }
            }
            Step::Range(var) => {
                for value in self.range(plan, *var) {
                    values[*var] = value;
                    self.step(plan, at + 1, values, most);
                }
            }
            Step::Join {
                predicate,
                args,
                bound,
            } => self.join(plan, at, values, most, (*predicate, args, bound)),
        }
    }

    fn join(
        &mut self,
        plan: &Plan,
        at: usize,
        values: &mut [i64],
        most: usize,
        (predicate, args, bound): (PredicateId, &[usize], &[usize]),
    ) {
        let key: Vec<i64> = bound
            .iter()
            .map(|&position| values[args[position]])
            .collect();
        let place = (predicate, bound.to_vec());
        if !self.indexes.contains_key(&place) {
            let mut index: Index = FxHashMap::default();
            let rows = &self.rows[predicate.index()][..self.earlier[predicate.index()]];
            for (number, row) in (0..).zip(rows) {
                let key = bound.iter().map(|&position| row[position]).collect();
                index.entry(key).or_default().push(number);
            }
            self.indexes.insert(place.clone(), index);
        }
        let count = self.indexes[&place].get(&key).map_or(0, Vec::len);
        for which in 0..count {
            let number = self.indexes[&place][&key][which] as usize;
            for (position, &arg) in args.iter().enumerate() {
                values[arg] = self.rows[predicate.index()][number][position];
            }
            self.step(plan, at + 1, values, most);
            if self.steps > most || self.is_stopped {
                return;
            }
        }
    }

    /// The values of a variable that nothing fixes.
    fn range(&mut self, plan: &Plan, var: usize) -> Vec<i64> {
        let terms = &self.system.terms;
        match terms.sort_of(plan.vars[var]) {
            SortId::INT => self.ranges[plan.ranges.min(3)].clone(),
            SortId::BOOL => vec![0, 1],
            sort => {
                let found = self.others.entry(sort);
                let found = found.or_insert_with(|| small_values(terms, sort));
                found.clone()
            }
        }
    }

    fn add(&mut self, predicate: PredicateId, row: Row) {
        let at = predicate.index();
        let params = &self.system.predicate(predicate).params;
        let is_large = |(v, param): (&i64, &TermId)| {
            self.system.terms.sort_of(*param) == SortId::INT && v.unsigned_abs() > LIMITS.max_value
        };
        if self.rows[at].len() < LIMITS.rows
            && !row.iter().zip(params).any(is_large)
            && self.known[at].insert(row.clone())
        {
            self.rows[at].push(row);
        }
    }

    /// The value of a term.
    fn evaluated(&self, of: &Evaluated, plan: &Plan, values: &[i64]) -> Option<TermId> {
        let terms = &self.system.terms;
        self.work.set(self.work.get() + of.size);
        let pairs = of.vars.iter().map(|&at| {
            let var = plan.vars[at];
            (var, value_of(terms, values[at], terms.sort_of(var)))
        });
        evaluate(terms, of.term, &pairs.collect::<Assignment>())
    }

    fn value(&self, expression: &Expression, plan: &Plan, values: &[i64]) -> Option<i64> {
        let of = |e: &Expression| self.value(e, plan, values);
        Some(match expression {
            Expression::Variable(at) => values[*at],
            Expression::Sum(parts, constant) => {
                let mut total = *constant;
                for (part, factor) in parts {
                    total = total.checked_add(of(part)?.checked_mul(*factor)?)?;
                }
                total
            }
            Expression::Product(left, right) => of(left)?.checked_mul(of(right)?)?,
            Expression::Quotient(of_what, by) => of(of_what)?.div_euclid(*by),
            Expression::Remainder(of_what, by) => of(of_what)?.rem_euclid(*by),
            Expression::Choice(test, then, otherwise) => match self.test(test, plan, values)? {
                true => of(then)?,
                false => of(otherwise)?,
            },
            Expression::Term(term) => {
                number(&self.system.terms, self.evaluated(term, plan, values)?)?
            }
        })
    }

    fn test(&self, test: &Test, plan: &Plan, values: &[i64]) -> Option<bool> {
        Some(match test {
            Test::AtLeast(e) => self.value(e, plan, values)? >= 0,
            Test::Zero(e) => self.value(e, plan, values)? == 0,
            Test::Not(inner) => !self.test(inner, plan, values)?,
            Test::All(tests) => {
                for test in tests {
                    if !self.test(test, plan, values)? {
                        return Some(false);
                    }
                }
                true
            }
            Test::Any(tests) => {
                for test in tests {
                    if self.test(test, plan, values)? {
                        return Some(true);
                    }
                }
                false
            }
            Test::Term(formula) => self.evaluated(formula, plan, values)? == TermId::TRUE,
        })
    }
}

/// Small values of a sort; none for sorts of which there are none to choose from.
fn small_values(terms: &TermStore, sort: SortId) -> Vec<i64> {
    use alphorn_term::Sort;
    let found: Vec<TermId> = match terms.sort(sort) {
        Sort::BitVec(width) => (0..4u32)
            .filter(|&v| width >= 2 || v < 2)
            .map(|v| terms.bitvec(v.into(), width))
            .collect(),
        Sort::Datatype(id) => {
            let mut found: Vec<TermId> = terms.default_value(sort).into_iter().collect();
            for _ in 0..3 {
                let constructors = terms.datatype(id).constructors.clone();
                for (number, constructor) in (0..).zip(&constructors) {
                    let lists: Vec<Vec<i64>> = constructor
                        .fields
                        .iter()
                        .map(|field| match field.sort == sort {
                            true => found.iter().map(|v| i64::from(v.0)).take(8).collect(),
                            false => small_parts(terms, field.sort),
                        })
                        .collect();
                    let slices: Vec<&[i64]> = lists.iter().map(Vec::as_slice).collect();
                    let mut new = Vec::new();
                    for_products(&slices, LIMITS.small_values, |values| {
                        let fields = values.iter().zip(&constructor.fields);
                        let fields: Vec<TermId> =
                            fields.map(|(&v, f)| value_of(terms, v, f.sort)).collect();
                        new.push(terms.construct(id, number, &fields));
                    });
                    for value in new {
                        if !found.contains(&value) && found.len() < LIMITS.small_values {
                            found.push(value);
                        }
                    }
                }
            }
            found
        }
        // Constant arrays, and some in which one element differs.
        Sort::Array(of_index, of_element) => {
            let of = |sort| {
                let numbers = small_parts(terms, sort).into_iter();
                numbers.map(move |v| value_of(terms, v, sort))
            };
            let elements: Vec<TermId> = of(of_element).take(3).collect();
            let mut found: Vec<TermId> = elements
                .iter()
                .map(|&element| terms.const_array(sort, element))
                .collect();
            for index in of(of_index).take(2) {
                let others = elements.iter().skip(1);
                let stores = others.map(|&element| terms.store(found[0], index, element));
                let stores: Vec<TermId> = stores.collect();
                found.extend(stores);
            }
            found
        }
        _ => terms.default_value(sort).into_iter().collect(),
    };
    found
        .into_iter()
        .filter_map(|value| number(terms, value))
        .collect()
}

/// The numbers of small values of the parts of a datatype's or an array's value.
fn small_parts(terms: &TermStore, sort: SortId) -> Vec<i64> {
    match sort {
        SortId::INT => vec![0, 1, -1, 2],
        SortId::BOOL => vec![0, 1],
        other => terms
            .default_value(other)
            .and_then(|value| number(terms, value))
            .into_iter()
            .collect(),
    }
}
