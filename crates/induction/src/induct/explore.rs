//! Theory exploration: equations that hold on random values, small ones first.
//!
//! Sources: QuickSpec (Claessen, Smallbone, Hughes, TAP 2010) and HipSpec (Claessen, Johansson,
//! Rosén, Smallbone, CADE 2013). Terms over the functions of the goals are put into classes by
//! their values; a term that falls into an existing class gives an equation with the class's first
//! member, and larger terms consist of first members only.
//!
//! Invariant: a proposed equation is a guess, and on each sample both sides have the same value or
//! both have none.

use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use super::statement::{Statement, calls};
use alphorn_proof::functions::{Evaluation, random_value};
use alphorn_term::run::Context;
use alphorn_term::{Assignment, FunctionId, Op, Random, Sort, SortId, TermId, TermStore};

/// The values of a term under the samples.
type Signature = Vec<Option<TermId>>;

/// The explored terms over some functions.
pub(super) struct Exploration<'a> {
    terms: &'a TermStore,
    functions: Vec<FunctionId>,
    constructors: Vec<TermId>,
    samples: Vec<Assignment>,
    evaluation: Evaluation<'a>,
    /// The first members of classes, by sort and size.
    members: FxHashMap<(SortId, usize), Vec<TermId>>,
    /// The first member of each class.
    classes: FxHashMap<(SortId, Signature), TermId>,
    vars: FxHashMap<SortId, Vec<TermId>>,
    /// The size that was explored last.
    size: usize,
}

impl<'a> Exploration<'a> {
    /// An exploration of the functions that the statements call, directly or not; `None` if there
    /// are no random values of some sort.
    pub fn new(terms: &'a TermStore, statements: &[Statement]) -> Option<Self> {
        let roots: Vec<TermId> = statements.iter().flat_map(Statement::roots).collect();
        // Functions that are called directly, and those that they call.
        let functions: Vec<FunctionId> = terms
            .function_groups(&roots)
            .into_iter()
            .flatten()
            .collect();
        let mut sorts: Vec<SortId> = Vec::new();
        for &f in &functions {
            let function = terms.function(f);
            sorts.extend(function.params.iter().map(|&p| terms.sort_of(p)));
            sorts.push(function.result);
        }
        sorts.sort_unstable();
        sorts.dedup();
        let mut vars: FxHashMap<SortId, Vec<TermId>> = FxHashMap::default();
        let mut constructors = Vec::new();
        for &sort in &sorts {
            let of_sort = match terms.sort(sort) {
                Sort::Bool => Vec::new(),
                Sort::Int | Sort::Datatype(_) => (0..LIMITS.variables_per_sort)
                    .map(|_| terms.fresh_var("v", sort))
                    .collect(),
                _ => return None,
            };
            vars.insert(sort, of_sort);
            match terms.sort(sort) {
                Sort::Bool => constructors.extend([TermId::TRUE, TermId::FALSE]),
                Sort::Int => constructors.extend([terms.int(0), terms.int(1)]),
                Sort::Datatype(id) => {
                    for c in 0..terms.datatype(id).constructors.len() as u32 {
                        if terms.datatype(id).constructors[c as usize]
                            .fields
                            .is_empty()
                        {
                            constructors.push(terms.construct(id, c, &[]));
                        }
                    }
                }
                _ => {}
            }
        }
        let mut random = Random::new(1);
        let mut samples = Vec::new();
        for round in 0..LIMITS.samples {
            let mut sample = Assignment::default();
            // In the order of the sorts, so that runs are reproducible.
            for sort in &sorts {
                for &var in &vars[sort] {
                    let size = round as u32 % (LIMITS.value_size + 1);
                    sample.insert(var, random_value(terms, &mut random, *sort, size)?);
                }
            }
            samples.push(sample);
        }
        Some(Exploration {
            terms,
            functions,
            constructors,
            samples,
            evaluation: Evaluation::new(terms),
            members: FxHashMap::default(),
            classes: FxHashMap::default(),
            vars,
            size: 0,
        })
    }

    /// Explores terms of the next size, and returns equations between them and explored terms.
    pub fn next(&mut self, cx: &Context) -> Vec<Statement> {
        self.size += 1;
        let mut equations: Vec<Statement> = Vec::new();
        for term in self.of_size(self.size) {
            if cx.stop().is_some() {
                break;
            }
            let signature: Signature = self
                .samples
                .iter()
                .map(|s| self.evaluation.value(self.terms.substitute(term, s)))
                .collect();
            if signature.iter().flatten().count() < LIMITS.defined_samples {
                continue;
            }
            let sort = self.terms.sort_of(term);
            match self.classes.get(&(sort, signature.clone())) {
                Some(&first) => {
                    let has_calls = !calls(self.terms, &[term, first]).is_empty();
                    if first != term && has_calls {
                        let equation = self.renamed(self.terms.eq(term, first));
                        equations.push(Statement::new(self.terms, Vec::new(), equation));
                    }
                }
                None => {
                    self.classes.insert((sort, signature), term);
                    let members = self.members.entry((sort, self.size)).or_default();
                    if members.len() < LIMITS.terms_per_size {
                        members.push(term);
                    }
                }
            }
        }
        // The most general equations first, since others may be instances of them.
        equations.sort_by_key(|e| std::cmp::Reverse(e.vars.len()));
        equations
    }

    /// The formula with the variables of each sort renamed in the order of their occurrence.
    fn renamed(&self, formula: TermId) -> TermId {
        let mut next: FxHashMap<SortId, usize> = FxHashMap::default();
        let mut map = Assignment::default();
        let mut open = vec![formula];
        while let Some(t) = open.pop() {
            if self.terms.is_var(t) && !map.contains_key(&t) {
                let sort = self.terms.sort_of(t);
                let at = next.entry(sort).or_default();
                map.insert(t, self.vars[&sort][*at]);
                *at += 1;
            }
            open.extend(self.terms.args(t).iter().rev());
        }
        self.terms.substitute(formula, &map)
    }

    /// Terms of this size, in operators and variables, over first members.
    fn of_size(&self, size: usize) -> Vec<TermId> {
        let terms = self.terms;
        let mut found: Vec<TermId> = Vec::new();
        if size == 1 {
            let mut sorts: Vec<&SortId> = self.vars.keys().collect();
            sorts.sort_unstable();
            found.extend(sorts.into_iter().flat_map(|s| self.vars[s].iter().copied()));
            found.extend_from_slice(&self.constructors);
            return found;
        }
        for &f in &self.functions {
            let params: Vec<SortId> = terms
                .function(f)
                .params
                .iter()
                .map(|&p| terms.sort_of(p))
                .collect();
            self.arguments(&params, size - 1, |args| found.push(terms.call(f, args)));
        }
        let mut sorts: Vec<SortId> = self.vars.keys().copied().collect();
        sorts.sort_unstable();
        for sort in sorts {
            match terms.sort(sort) {
                Sort::Datatype(id) => {
                    for (c, constructor) in (0..).zip(&terms.datatype(id).constructors) {
                        let fields: Vec<SortId> =
                            constructor.fields.iter().map(|f| f.sort).collect();
                        if !fields.is_empty() {
                            self.arguments(&fields, size - 1, |args| {
                                found.push(terms.construct(id, c, args));
                            });
                        }
                    }
                }
                Sort::Int => {
                    let pair = [SortId::INT, SortId::INT];
                    self.arguments(&pair, size - 1, |args| found.push(terms.add(args)));
                }
                _ => {}
            }
        }
        let mut seen = FxHashSet::default();
        found.retain(|&t| seen.insert(t));
        found
    }

    /// Calls `each` with arguments of these sorts whose sizes sum up to `size`, up to a limit.
    fn arguments(&self, sorts: &[SortId], size: usize, mut each: impl FnMut(&[TermId])) {
        let mut count = 0;
        let mut open: Vec<(Vec<TermId>, usize)> = vec![(Vec::new(), size)];
        while let Some((args, left)) = open.pop() {
            let Some(&sort) = sorts.get(args.len()) else {
                if left == 0 {
                    each(&args);
                    count += 1;
                    if count == LIMITS.terms_per_operator {
                        return;
                    }
                }
                continue;
            };
            let others = sorts.len() - args.len() - 1;
            if left <= others {
                continue;
            }
            let most = left - others;
            let sizes = if others == 0 { most..=most } else { 1..=most };
            for size in sizes {
                for &term in self.members.get(&(sort, size)).into_iter().flatten() {
                    let mut args = args.clone();
                    args.push(term);
                    open.push((args, left - size));
                }
            }
        }
    }
}

/// Whether the statement is false for one of `tries` random assignments.
pub(super) fn falsified(terms: &TermStore, statement: &Statement, tries: usize) -> bool {
    let mut random = Random::new(7);
    let mut evaluation = Evaluation::new(terms);
    let formula = statement.formula(terms);
    for round in 0..tries {
        let size = round as u32 % (LIMITS.value_size + 2);
        let values = statement.vars.iter().map(|&v| {
            let value = random_value(terms, &mut random, terms.sort_of(v), size);
            Some((v, value?))
        });
        let Some(sample) = values.collect::<Option<Assignment>>() else {
            return false;
        };
        if evaluation.value(terms.substitute(formula, &sample)) == Some(TermId::FALSE) {
            return true;
        }
    }
    false
}

/// The weight of a statement: the size of its terms as trees, where calls count twice.
pub(super) fn weight(terms: &TermStore, statement: &Statement) -> usize {
    let mut size = 0;
    for root in statement.roots() {
        let mut open = vec![root];
        while let Some(t) = open.pop() {
            size += 1;
            if let Op::Call(_) = terms.op(t) {
                size += 1;
            }
            // Shared terms count each time.
            if size > LIMITS.max_weight {
                return size;
            }
            open.extend_from_slice(terms.args(t));
        }
    }
    size
}
