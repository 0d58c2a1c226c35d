//! Tables of facts, and the arguments that the others determine.
//!
//! Facts are derived bottom-up; variables that no equation fixes have values from small ranges.
//!
//! Invariant: every fact of a table has a derivation. A table may lack facts.

use std::cell::Cell;
use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use super::literal::{number, value_of};
use super::plans::{Evaluator, Plan, Step};
use alphorn_chc::{PredicateId, System};
use alphorn_term::run::{Budget, Context};
use alphorn_term::{SortId, TermId, TermStore};

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

    /// Derives facts of a system within the engine's limits. Rich tables have values of datatypes with
    /// several values of their parts.
    pub fn of(system: &System, constants: &BTreeSet<i64>, rich: bool, cx: &Context) -> Tables {
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
            let mut search = Search::new(system, constants, rich, &cx.budget);
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
        let is_result = hands_on(system, predicate, arity - 1);
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
                Some((_, last)) if is_result && *last == [arity - 1] => false,
                Some((other, _)) => outputs.len() == 1 && cover > other + 0.15,
            };
            if is_better {
                best = Some((cover, outputs));
            }
        }
        best.map(|found| found.1).unwrap_or_default()
    }
}

/// Whether each recursive clause of a predicate, of which there are some, hands on an argument from a
/// premise: so is the result of a tail call.
fn hands_on(system: &System, predicate: PredicateId, at: usize) -> bool {
    let mut is_recursive = false;
    for clause in &system.clauses {
        let Some(head) = clause.head.as_ref().filter(|h| h.predicate == predicate) else {
            continue;
        };
        let mut own = clause
            .body
            .iter()
            .filter(|a| a.predicate == predicate)
            .peekable();
        if own.peek().is_none() {
            continue;
        }
        is_recursive = true;
        let conjuncts = system.terms.conjuncts(clause.constraint);
        let is_equal = |left, right| conjuncts.contains(&system.terms.eq(left, right));
        if !own.any(|atom| is_equal(head.args[at], atom.args[at])) {
            return false;
        }
    }
    is_recursive
}

/// Calls `visit` with the elements of a product of lists, at most `most` times.
pub fn for_products(lists: &[&[i64]], most: usize, mut visit: impl FnMut(&[i64])) {
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
    rich: bool,
    steps: usize,
    evaluator: Evaluator<'a>,
    budget: &'a Budget,
    is_stopped: bool,
}

impl<'a> Search<'a> {
    fn new(system: &'a System, constants: &BTreeSet<i64>, rich: bool, budget: &'a Budget) -> Self {
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
            rich,
            steps: 0,
            evaluator: Evaluator {
                terms: &system.terms,
                work: Cell::new(0),
            },
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
        let work = u32::try_from(self.evaluator.work.take()).unwrap_or(u32::MAX);
        self.system.terms.charge(LIMITS.step_work * work);
        self.is_stopped |= self.budget.is_spent();
    }

    /// Continues a plan at a step; the depth is that of the plan.
    fn step(&mut self, plan: &Plan, at: usize, values: &mut [i64], most: usize) {
        self.steps += 1;
        let work = &self.evaluator.work;
        work.set(work.get() + 1);
        if work.get() >= LIMITS.steps_at_once {
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
                if self.evaluator.test(test, plan, values) == Some(true) {
                    self.step(plan, at + 1, values, most);
                }
            }
            Step::Set(var, expression) => {
                if let Some(value) = self.evaluator.value(expression, plan, values) {
                    values[*var] = value;
                    self.step(plan, at + 1, values, most);
                }
            }
            Step::Solve(var, rest, factor) => {
                if let Some(rest) = self.evaluator.value(rest, plan, values)
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
                let found = found.or_insert_with(|| small_values(terms, sort, self.rich));
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
}

/// Small values of a sort, rich ones with several values of their parts; none for sorts of which there are none to choose from.
pub fn small_values(terms: &TermStore, sort: SortId, rich: bool) -> Vec<i64> {
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
                            false => small_parts(terms, field.sort, rich),
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
                let numbers = small_parts(terms, sort, rich).into_iter();
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
fn small_parts(terms: &TermStore, sort: SortId, rich: bool) -> Vec<i64> {
    match sort {
        SortId::INT => vec![0, 1, -1, 2],
        SortId::BOOL => vec![0, 1],
        other if rich => {
            let mut found = small_values(terms, other, false);
            found.truncate(3);
            found
        }
        other => terms
            .default_value(other)
            .and_then(|value| number(terms, value))
            .into_iter()
            .collect(),
    }
}
