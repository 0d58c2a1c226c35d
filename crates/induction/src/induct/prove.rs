//! Proofs of statements: by equations and lemmas alone, by cases, by induction.
//!
//! Invariant: a proof has a case for each constructor, and each case was confirmed by a solver that
//! knows only the listed equations of functions. Induction is on one variable: an instance of the
//! statement has for it a proper part of the variable's value in the case.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use super::normal::Normalizer;
use super::statement::{Statement, calls, matches};
use alphorn_proof::functions::{datatype_of, fresh_pattern};
use alphorn_smt::{CoreEffort, QueryLimit, Smt, Solver};
use alphorn_term::run::Context;
use alphorn_term::{Assignment, Printer, SortId, TermId, TermStore};
use alphorn_witness::{Case, Lemma};

/// The effort for the proof of a statement.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// Nested case distinctions besides that of the induction.
    pub splits: usize,
    /// Queries to the solver.
    pub queries: usize,
}

/// Proves statements; each proven statement is a lemma for later ones.
pub(super) struct Prover<'a> {
    terms: &'a TermStore,
    solver: Solver,
    cx: &'a Context,
    /// The limit of each query, in force while the prover exists.
    _limit: QueryLimit,
    /// The proven statements with their proofs; the lemmas have no names yet.
    pub lemmas: Vec<Lemma>,
    /// The proven statements with their triggers.
    statements: Vec<(Statement, Vec<Vec<TermId>>)>,
    /// Queries that the current proof may still ask.
    left: usize,
    /// Failed cases of proofs by induction.
    pub residues: Vec<Residue>,
}

/// A case that was not proven.
#[derive(Clone, Debug)]
pub(super) struct Residue {
    /// The goal that is left.
    pub statement: Statement,
    /// Instances of the induction hypothesis.
    pub hypotheses: Vec<TermId>,
}

/// A leaf of a tree of case distinctions.
#[derive(Clone)]
struct Leaf {
    /// The values of the statement's variables.
    values: Assignment,
    /// From new variables and their patterns to terms over the statement's variables.
    back: Assignment,
    /// The condition of the case, over the statement's variables.
    guards: Vec<TermId>,
    /// The conditions on integers, over the new variables.
    premises: Vec<TermId>,
    /// The value of the induction variable, and all of its parts.
    parts: FxHashSet<TermId>,
    /// Integers that are at most zero.
    ended: FxHashSet<TermId>,
    /// The depth of the leaf.
    splits: usize,
}

/// The source of an instance, with the values of its variables.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Source {
    /// The induction hypothesis.
    Hypothesis(Vec<TermId>),
    /// The lemma with this number.
    Lemma(usize, Vec<TermId>),
}

impl<'a> Prover<'a> {
    /// A prover without lemmas. It limits the queries of `smt` while it exists.
    pub fn new(terms: &'a TermStore, smt: &Rc<Smt>, cx: &'a Context) -> Self {
        Prover {
            _limit: smt.limit_queries(Some(LIMITS.query_work)),
            terms,
            solver: smt.solver(),
            cx,
            lemmas: Vec::new(),
            statements: Vec::new(),
            left: 0,
            residues: Vec::new(),
        }
    }

    /// Proves a statement and keeps it as a lemma. Returns `false` if no proof was found.
    pub fn prove(&mut self, statement: &Statement, effort: Effort) -> bool {
        self.left = effort.queries;
        let Some((measure, cases)) = self.proof(statement, effort) else {
            return false;
        };
        self.lemmas.push(Lemma {
            name: String::new(),
            vars: statement.vars.clone(),
            statement: statement.formula(self.terms),
            measure,
            cases,
        });
        let triggers = statement.triggers(self.terms);
        self.statements.push((statement.clone(), triggers));
        true
    }

    /// The lemmas that the proofs of these proven statements use, including the statements.
    pub fn needed(mut self, statements: &[Statement]) -> Vec<Lemma> {
        let proven = self.statements.iter().map(|s| &s.0);
        let mut needed: Vec<bool> = proven.map(|s| statements.contains(s)).collect();
        let mut open: Vec<usize> = (0..needed.len()).filter(|&at| needed[at]).collect();
        while let Some(at) = open.pop() {
            let cases = self.lemmas[at].cases.iter();
            for &(used, _) in cases.flat_map(|c| &c.instances) {
                if !needed[used] {
                    needed[used] = true;
                    open.push(used);
                }
            }
        }
        let mut place = vec![0; needed.len()];
        let mut lemmas = Vec::new();
        for (at, mut lemma) in self
            .lemmas
            .drain(..)
            .enumerate()
            .filter(|(at, _)| needed[*at])
        {
            place[at] = lemmas.len();
            for (used, _) in lemma.cases.iter_mut().flat_map(|c| &mut c.instances) {
                *used = place[*used];
            }
            lemma.name = format!("lemma!{}", lemmas.len());
            lemmas.push(lemma);
        }
        lemmas
    }

    /// Whether the statement follows from equations and lemmas, without cases.
    pub fn is_known(&mut self, statement: &Statement) -> bool {
        self.left = 2;
        self.case(statement, &Leaf::new(statement), None).is_ok()
    }

    /// A proof of the statement: the positions of the induction variable, and the cases.
    fn proof(&mut self, statement: &Statement, effort: Effort) -> Option<(Vec<usize>, Vec<Case>)> {
        let root = Leaf::new(statement);
        let waiting = match self.case(statement, &root, None) {
            Ok(case) => return Some((Vec::new(), vec![case])),
            Err(waiting) => waiting,
        };
        // First by cases only, then by induction, on the variables that most calls need.
        let own = waiting.iter().filter(|v| statement.vars.contains(v));
        let schemes = own.copied().take(LIMITS.induction_variables);
        let schemes: Vec<TermId> = schemes.collect();
        for splits in [0, effort.splits] {
            for &var in &schemes {
                let induct = self.cases(statement, &root, var, splits);
                if let Some(cases) = induct {
                    let position = statement.vars.iter().position(|v| *v == var)?;
                    let inductive = cases.iter().any(|c| !c.induction.is_empty());
                    let measure = if inductive {
                        vec![position]
                    } else {
                        Vec::new()
                    };
                    return Some((measure, cases));
                }
                if self.left == 0 || self.cx.stop().is_some() {
                    return None;
                }
            }
        }
        None
    }

    /// Proofs of all cases of the variable, with further splits inside.
    fn cases(
        &mut self,
        statement: &Statement,
        root: &Leaf,
        var: TermId,
        splits: usize,
    ) -> Option<Vec<Case>> {
        let mut root = root.clone();
        root.parts.insert(var);
        let mut open = root.split(self.terms, var)?;
        open.reverse();
        let mut cases = Vec::new();
        while let Some(leaf) = open.pop() {
            let too_many = cases.len() + open.len() > LIMITS.cases;
            if too_many || self.left == 0 || self.cx.stop().is_some() {
                return None;
            }
            match self.case(statement, &leaf, Some(var)) {
                Ok(case) => cases.push(case),
                Err(waiting) => {
                    if leaf.splits > splits {
                        return None;
                    }
                    let parts = waiting.iter().find_map(|&v| leaf.split(self.terms, v));
                    open.extend(parts?.into_iter().rev());
                }
            }
        }
        Some(cases)
    }

    /// A proof of the statement in a case; otherwise the variables that calls need to be unfolded,
    /// those that most calls need first.
    fn case(
        &mut self,
        statement: &Statement,
        leaf: &Leaf,
        induction: Option<TermId>,
    ) -> Result<Case, Vec<TermId>> {
        let terms = self.terms;
        let mut normalizer = Normalizer::new(terms, &leaf.ended);
        let own: Vec<TermId> = statement
            .roots()
            .iter()
            .map(|&t| terms.substitute(t, &leaf.values))
            .collect();
        let mut waiting: FxHashMap<TermId, usize> = FxHashMap::default();
        let mut normal: Vec<TermId> = Vec::new();
        for &term in &own {
            normal.push(normalizer.normal(term));
            for (&var, &count) in &normalizer.waiting {
                *waiting.entry(var).or_default() += count;
            }
        }
        let mut instances: Vec<(TermId, Source)> = Vec::new();
        for round in 0..LIMITS.instance_rounds {
            let targets = calls(terms, &normal);
            let before = instances.len();
            self.find_instances(statement, leaf, induction, &targets, &mut instances);
            for (formula, _) in &instances[before..] {
                normal.push(normalizer.normal(*formula));
            }
            if round > 0 && instances.len() == before {
                break;
            }
            if let Some(case) = self.confirm(leaf, &own, &normalizer, &instances) {
                return Ok(case);
            }
            if self.left == 0 {
                break;
            }
        }
        log::trace!("induct: not proven: {:?}", show(terms, &normal));
        if induction.is_some() && self.residues.len() < LIMITS.failed_cases {
            self.residues
                .push(residue(terms, leaf, &normal[..own.len()], &instances));
        }
        let mut waiting: Vec<(TermId, usize)> = waiting.into_iter().collect();
        waiting.sort_unstable_by_key(|&(var, count)| (std::cmp::Reverse(count), var));
        Err(waiting.into_iter().map(|w| w.0).collect())
    }

    /// The case if equations and instances prove the statement, with those that are needed.
    fn confirm(
        &mut self,
        leaf: &Leaf,
        own: &[TermId],
        normalizer: &Normalizer<'_>,
        instances: &[(TermId, Source)],
    ) -> Option<Case> {
        let terms = self.terms;
        self.left = self.left.saturating_sub(1);
        let (&conclusion, hypotheses) = own.split_last()?;
        self.solver.push();
        for &premise in leaf.premises.iter().chain(hypotheses) {
            self.solver.assert(premise);
        }
        self.solver.assert(terms.not(conclusion));
        let equations: Vec<TermId> = normalizer
            .unfolded
            .iter()
            .map(|&(call, body)| terms.eq(call, body))
            .collect();
        let mut soft: Vec<TermId> = equations.clone();
        soft.extend(instances.iter().map(|i| i.0));
        let effort = CoreEffort {
            queries: LIMITS.core_queries,
            budget: None,
        };
        let core = self.solver.core_by(&[], &soft, effort);
        self.solver.pop();
        let core: FxHashSet<TermId> = core?.into_iter().collect();
        let back = |t: TermId| terms.substitute(t, &leaf.back);
        let unfoldings = normalizer.unfolded.iter().zip(&equations);
        let unfoldings = unfoldings
            .filter(|(_, e)| core.contains(e))
            .map(|((c, _), _)| back(*c));
        let mut case = Case {
            guard: terms.and(&leaf.guards),
            induction: Vec::new(),
            instances: Vec::new(),
            unfoldings: unfoldings.collect(),
        };
        for (formula, source) in instances {
            if !core.contains(formula) {
                continue;
            }
            let values = |v: &[TermId]| v.iter().map(|&t| back(t)).collect::<Vec<_>>();
            match source {
                Source::Hypothesis(args) => case.induction.push(values(args)),
                Source::Lemma(lemma, args) => case.instances.push((*lemma, values(args))),
            }
        }
        Some(case)
    }

    /// Adds instances of the statement and of lemmas that match the calls `targets`.
    fn find_instances(
        &self,
        statement: &Statement,
        leaf: &Leaf,
        induction: Option<TermId>,
        targets: &[TermId],
        instances: &mut Vec<(TermId, Source)>,
    ) {
        let terms = self.terms;
        let mut add = |of: &Statement, found: &Assignment, lemma: Option<usize>| {
            if instances.len() >= LIMITS.instances {
                return;
            }
            let args: Vec<TermId> = of.vars.iter().map(|v| found[v]).collect();
            let source = match lemma {
                Some(lemma) => Source::Lemma(lemma, args),
                None => Source::Hypothesis(args),
            };
            if instances.iter().all(|i| i.1 != source) {
                let formula = terms.substitute(of.formula(terms), found);
                instances.push((formula, source));
            }
        };
        if let Some(var) = induction {
            let whole = leaf.values[&var];
            let is_part = |t: TermId| {
                t != whole && leaf.parts.contains(&t) && terms.sort_of(t) == terms.sort_of(var)
            };
            let all = leaf.parts.iter().copied();
            let mut parts: Vec<TermId> = all.filter(|&p| is_part(p)).collect();
            parts.sort_unstable();
            for part in parts {
                let mut found = leaf.values.clone();
                found.insert(var, part);
                add(statement, &found, None);
            }
            // Several calls of the statement may match at once if they agree on the variables.
            let mut partial = vec![Assignment::default()];
            for pattern in calls(terms, &statement.roots()) {
                let before = partial.len();
                for at in 0..before {
                    for &target in targets {
                        let mut found = partial[at].clone();
                        let fits = matches(terms, pattern, target, &statement.vars, &mut found);
                        let small = found.get(&var).is_none_or(|&t| is_part(t));
                        let has_room = partial.len() < LIMITS.partial_matches;
                        if fits && small && has_room && !partial.contains(&found) {
                            partial.push(found);
                        }
                    }
                }
            }
            // Matches with the most variables first.
            partial.sort_by_key(|found| std::cmp::Reverse(found.len()));
            for mut found in partial {
                if found.contains_key(&var) {
                    for (&v, &value) in &leaf.values {
                        found.entry(v).or_insert(value);
                    }
                    add(statement, &found, None);
                }
            }
        }
        for (number, (lemma, triggers)) in self.statements.iter().enumerate() {
            for trigger in triggers {
                let mut partial: Vec<Assignment> = vec![Assignment::default()];
                for &pattern in trigger {
                    let mut next = Vec::new();
                    for found in &partial {
                        for &target in targets {
                            let mut found = found.clone();
                            if matches(terms, pattern, target, &lemma.vars, &mut found) {
                                next.push(found);
                            }
                            if next.len() > LIMITS.instances {
                                break;
                            }
                        }
                    }
                    partial = next;
                }
                for found in &partial {
                    add(lemma, found, Some(number));
                }
            }
        }
    }
}

impl Leaf {
    /// The root: no case distinction.
    fn new(statement: &Statement) -> Leaf {
        Leaf {
            values: statement.vars.iter().map(|&v| (v, v)).collect(),
            back: Assignment::default(),
            guards: Vec::new(),
            premises: Vec::new(),
            parts: FxHashSet::default(),
            ended: FxHashSet::default(),
            splits: 0,
        }
    }

    /// The cases of a variable: its constructors, or whether an integer is positive. `None` for
    /// variables of other sorts, and integers that are known to be at most zero.
    fn split(&self, terms: &TermStore, var: TermId) -> Option<Vec<Leaf>> {
        let whole = self.back.get(&var).copied().unwrap_or(var);
        let is_part = self.parts.contains(&var);
        let mut leaves = Vec::new();
        if let Some(datatype) = datatype_of(terms, var) {
            for constructor in 0..terms.datatype(datatype).constructors.len() as u32 {
                let pattern = fresh_pattern(terms, datatype, constructor);
                let mut leaf = self.with(terms, var, pattern);
                if !terms.args(pattern).is_empty() {
                    leaf.back.insert(pattern, whole);
                }
                let guard = terms.is(datatype, constructor, whole);
                if guard != TermId::TRUE {
                    leaf.guards.push(guard);
                }
                for (&field, i) in terms.args(pattern).iter().zip(0..) {
                    leaf.back
                        .insert(field, terms.field(datatype, constructor, i, whole));
                    if is_part {
                        leaf.parts.insert(field);
                    }
                }
                leaves.push(leaf);
            }
        } else if terms.sort_of(var) == SortId::INT && !self.ended.contains(&var) {
            let mut leaf = self.clone();
            leaf.splits += 1;
            leaf.guards.push(terms.le(whole, terms.int(0)));
            leaf.premises.push(terms.le(var, terms.int(0)));
            leaf.ended.insert(var);
            leaves.push(leaf);
            let rest = terms.fresh_var("n", SortId::INT);
            let mut leaf = self.with(terms, var, terms.add(&[rest, terms.int(1)]));
            leaf.guards.push(terms.ge(whole, terms.int(1)));
            leaf.premises.push(terms.ge(rest, terms.int(0)));
            leaf.back.insert(rest, terms.add(&[whole, terms.int(-1)]));
            if is_part {
                leaf.parts.insert(rest);
            }
            leaves.push(leaf);
        } else {
            return None;
        }
        Some(leaves)
    }

    /// The case with the variable replaced by the term.
    fn with(&self, terms: &TermStore, var: TermId, term: TermId) -> Leaf {
        let one = Assignment::from_iter([(var, term)]);
        let mut leaf = self.clone();
        for value in leaf.values.values_mut() {
            *value = terms.substitute(*value, &one);
        }
        for premise in &mut leaf.premises {
            *premise = terms.substitute(*premise, &one);
        }
        let with = |t: &TermId| terms.substitute(*t, &one);
        leaf.parts = leaf.parts.iter().map(with).collect();
        // If two terms become equal, the entry of a part of the induction variable wins, so that it
        // is recognized as a part.
        for part in [false, true] {
            let entries = self.back.iter();
            let entries = entries.filter(|(t, _)| self.parts.contains(t) == part);
            leaf.back
                .extend(entries.map(|(t, &whole)| (with(t), whole)));
        }
        leaf.splits += 1;
        leaf
    }
}

/// The goal that is left of a failed case: its normal form, and the instances of the induction
/// hypothesis.
fn residue(
    terms: &TermStore,
    leaf: &Leaf,
    normal: &[TermId],
    instances: &[(TermId, Source)],
) -> Residue {
    let (conclusion, hypotheses) = match normal.split_last() {
        Some((&conclusion, hypotheses)) => (conclusion, hypotheses),
        None => (TermId::TRUE, normal),
    };
    let mut premises = leaf.premises.clone();
    premises.extend(hypotheses.iter().filter(|&&h| h != TermId::TRUE));
    let own = instances
        .iter()
        .filter(|i| matches!(i.1, Source::Hypothesis(_)));
    Residue {
        statement: Statement::new(terms, premises, conclusion),
        hypotheses: own.map(|i| i.0).collect(),
    }
}

/// The formulas for the log.
fn show(terms: &TermStore, formulas: &[TermId]) -> Vec<String> {
    let printer = Printer::new(terms);
    formulas.iter().map(|&f| printer.term(f)).collect()
}
