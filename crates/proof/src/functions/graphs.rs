//! From a model with graphs of the text's functions to one with the functions.
//!
//! The clauses of a graph `F(x, r)` are the equation of `f(x)`, so a model's formula for F holds of
//! `(x, f(x))` by induction along the recursion if that ends. This is a lemma, from which the
//! assertions of the text follow as the clauses follow from the formulas.
//!
//! - **Measures** (`termination`): if the recursion of each function ends, the function is as the
//!   text defines it. Otherwise a function of one argument that counts down past zero may be
//!   constant below zero, where the equation has to hold, too.
//! - **Functions of the model** that are said to be those of the text are replaced by them.
//! - **Lemmas**: one for each function whose graph has a formula, with a case for each clause of the
//!   graph; lemmas of mutually recursive functions use each other.
//!
//! Invariant: the graph of a function is defined as `g(x) = r`, where `g` is the function of the
//! text or one that satisfies its equation. Nothing here is trusted: the check of the model needs
//! the equations, and that of its certificate the measures and lemmas.

use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use super::termination::measures;
use alphorn_chc::frontend::{Problem, TextFunction};
use alphorn_smt::{SatResult, Smt, Solver};
use alphorn_term::run::{Context, Reason};
use alphorn_term::{FunctionId, Op, Printer, SortId, TermId, TermStore};
use alphorn_witness::{Case, Lemma, Model};

/// The model with the functions of the text and lemmas about them in place of their graphs.
///
/// # Errors
/// Why this is not possible: the recursion of a function is not known to end, or a lemma is not
/// proven.
pub fn with_text_functions(
    problem: &Problem,
    mut model: Model,
    cx: &Context,
) -> Result<Model, Reason> {
    if problem.functions.is_empty() {
        return Ok(model);
    }
    let smt = Smt::within(&cx.budget);
    let _limit = smt.limit_queries(Some(LIMITS.query_work));
    let mut graphs = Graphs {
        problem,
        terms: &problem.terms,
        solver: smt.solver(),
        cx,
    };
    let meanings = graphs.meanings()?;
    if let Some(merged) = graphs.merged(&meanings, &model) {
        model = merged;
    }
    graphs.lemmas(&meanings, &mut model)?;
    let terms = &problem.terms;
    for (function, meaning) in problem.functions.iter().zip(&meanings) {
        let params = &problem.predicates[function.graph.index()].params;
        if let Some((&value, params)) = params.split_last() {
            let equation = terms.eq(terms.call(meaning.function, params), value);
            model.definitions.insert(function.graph, equation);
        }
    }
    Ok(model)
}

/// Defines the functions of the text in the store if their recursion ends.
///
/// # Errors
/// Their recursion is not known to end.
pub fn define_text_functions(problem: &Problem, cx: &Context) -> Result<(), Reason> {
    with_text_functions(problem, Model::default(), cx).map(drop)
}

/// The function that a model has for a function of the text.
#[derive(Clone, Copy)]
struct Meaning {
    function: FunctionId,
    /// A condition on the parameters, and the constant value under it.
    constant: Option<(TermId, TermId)>,
}

/// A value below zero: the position of the parameter, and the value.
type Floor = (usize, TermId);

struct Graphs<'a> {
    problem: &'a Problem,
    terms: &'a TermStore,
    solver: Solver,
    cx: &'a Context,
}

impl<'a> Graphs<'a> {
    /// Whether conjuncts contradict each other, as far as a query shows.
    fn contradictory(&mut self, conjuncts: &[TermId]) -> bool {
        if conjuncts.contains(&TermId::FALSE) {
            return true;
        }
        self.solver.push();
        for &conjunct in conjuncts {
            self.solver.assert(conjunct);
        }
        let result = self.solver.check(&[]);
        self.solver.pop();
        matches!(result, SatResult::Unsat)
    }

    /// Whether a formula follows from others, with uninterpreted functions.
    fn implies(&mut self, premises: &[TermId], formula: TermId) -> bool {
        let mut query = premises.to_vec();
        query.push(self.terms.not(formula));
        self.contradictory(&query)
    }

    // ---- measures ----

    /// The functions of the model; defines those of the text if their recursion ends.
    fn meanings(&mut self) -> Result<Vec<Meaning>, Reason> {
        let (problem, terms) = (self.problem, self.terms);
        let own = |f: &TextFunction| Meaning {
            function: f.function,
            constant: None,
        };
        let is_defined = |f: &TextFunction| {
            let function = terms.function(f.function);
            function.body != terms.call(f.function, &function.params)
        };
        if problem.functions.iter().all(is_defined) {
            return Ok(problem.functions.iter().map(own).collect());
        }
        let mut found: Vec<Option<Vec<usize>>> = vec![None; problem.functions.len()];
        let mut floors: FxHashMap<usize, Floor> = FxHashMap::default();
        for group in problem.function_groups() {
            let bodies: Vec<(FunctionId, TermId)> = group
                .iter()
                .map(|&at| (problem.functions[at].function, problem.functions[at].body))
                .collect();
            if let Some(list) = self.measures(&bodies) {
                for (&at, measure) in group.iter().zip(list) {
                    found[at] = Some(measure);
                }
                continue;
            }
            let floor = match group.as_slice() {
                [only] => self.floor(&problem.functions[*only]),
                _ => None,
            };
            let Some((floor, measure)) = floor else {
                let name = &problem.functions[group[0]].name;
                let message = format!("the recursion of `{name}` is not known to end");
                return Err(self.stopped(message));
            };
            floors.insert(group[0], floor);
            found[group[0]] = Some(measure);
        }
        if floors.is_empty() {
            for (function, measure) in problem.functions.iter().zip(found) {
                terms.define_function(
                    function.function,
                    function.body,
                    measure.unwrap_or_default(),
                );
            }
            return Ok(problem.functions.iter().map(own).collect());
        }
        Ok(self.completed(found, &floors))
    }

    fn measures(&mut self, bodies: &[(FunctionId, TermId)]) -> Option<Vec<Vec<usize>>> {
        let terms = self.terms;
        measures(terms, bodies, |path, formula| self.implies(path, formula))
    }

    /// The reason why there is no answer, unless the run ends.
    fn stopped(&self, message: String) -> Reason {
        let incomplete = || Reason::Incomplete(message);
        self.cx.stop().unwrap_or_else(incomplete)
    }

    /// A constant value of a function where an integer is negative, with which its equation holds
    /// there and its recursion ends elsewhere; and the measure.
    fn floor(&mut self, function: &TextFunction) -> Option<(Floor, Vec<usize>)> {
        let terms = self.terms;
        let params = terms.function(function.function).params.clone();
        let default = terms.default_value(terms.function(function.function).result)?;
        let integers = (0..params.len()).filter(|&i| terms.sort_of(params[i]) == SortId::INT);
        for position in integers.collect::<Vec<_>>() {
            let below = |t: TermId| terms.lt(t, terms.int(0));
            let mut memo = FxHashMap::default();
            let value = terms.rewrite_bottom_up(function.body, &mut memo, |t| match terms.op(t) {
                Op::Call(id) if *id == function.function => {
                    terms.ite(below(terms.args(t)[position]), default, t)
                }
                _ => t,
            });
            let guard = below(params[position]);
            if !self.implies(&[guard], terms.eq(value, default)) {
                continue;
            }
            let body = terms.ite(guard, default, function.body);
            if let Some(mut list) = self.measures(&[(function.function, body)]) {
                return Some(((position, default), list.pop()?));
            }
        }
        None
    }

    /// Functions in place of those of the text, with constant values where `floors` says so.
    fn completed(
        &mut self,
        measures: Vec<Option<Vec<usize>>>,
        floors: &FxHashMap<usize, Floor>,
    ) -> Vec<Meaning> {
        let (problem, terms) = (self.problem, self.terms);
        let copies: FxHashMap<FunctionId, FunctionId> = problem
            .functions
            .iter()
            .map(|f| {
                let own = terms.function(f.function);
                let sorts: Vec<SortId> = own.params.iter().map(|&p| terms.sort_of(p)).collect();
                let name = format!("{}!", f.name);
                (
                    f.function,
                    terms.declare_function(&name, &sorts, own.result),
                )
            })
            .collect();
        let functions = problem.functions.iter().zip(measures).enumerate();
        let meanings = functions.map(|(at, (function, measure))| {
            let copy = copies[&function.function];
            let params = &terms.function(copy).params;
            let own = terms.function(function.function).params.iter().copied();
            let map = own.zip(params.iter().copied()).collect();
            let mut body = terms.substitute(function.body, &map);
            body = with_functions(terms, body, &copies);
            let constant = floors
                .get(&at)
                .map(|&(position, value)| (terms.lt(params[position], terms.int(0)), value));
            if let Some((condition, value)) = constant {
                body = terms.ite(condition, value, body);
            }
            terms.define_function(copy, body, measure.unwrap_or_default());
            Meaning {
                function: copy,
                constant,
            }
        });
        meanings.collect()
    }

    // ---- functions of the model ----

    /// The model with the functions of the text in place of its own ones that it says are equal to
    /// them; `None` if there are none, or if a proof of a lemma is not one for them.
    fn merged(&mut self, meanings: &[Meaning], model: &Model) -> Option<Model> {
        let (problem, terms) = (self.problem, self.terms);
        let mut copies: FxHashMap<FunctionId, FunctionId> = FxHashMap::default();
        for (function, meaning) in problem.functions.iter().zip(meanings) {
            let params = &problem.predicates[function.graph.index()].params;
            let (&value, args) = params.split_last()?;
            let formula = model.definitions.get(&function.graph).copied();
            for conjunct in terms.conjuncts(formula.unwrap_or(TermId::TRUE)) {
                for call in terms.args(conjunct) {
                    if let Op::Call(own) = *terms.op(*call)
                        && terms.args(*call) == args
                        && conjunct == terms.eq(*call, value)
                        && own != meaning.function
                    {
                        copies.insert(own, meaning.function);
                    }
                }
            }
        }
        if copies.is_empty() {
            return None;
        }
        let mut roots: Vec<TermId> = model.definitions.values().copied().collect();
        for lemma in &model.lemmas {
            roots.push(lemma.statement);
            roots.extend(lemma.cases.iter().flat_map(|case| &case.unfoldings));
        }
        for group in terms.function_groups(&roots) {
            self.copy_users(&group, &mut copies);
        }
        let renamed = |t: TermId| with_functions(terms, t, &copies);
        let list = |list: &[TermId]| list.iter().map(|&t| renamed(t)).collect::<Vec<_>>();
        let case = |case: &Case| Case {
            guard: renamed(case.guard),
            induction: case.induction.iter().map(|args| list(args)).collect(),
            instances: case
                .instances
                .iter()
                .map(|(at, args)| (*at, list(args)))
                .collect(),
            unfoldings: list(&case.unfoldings),
        };
        let lemma = |lemma: &Lemma| Lemma {
            name: lemma.name.clone(),
            vars: lemma.vars.clone(),
            statement: renamed(lemma.statement),
            measure: lemma.measure.clone(),
            cases: lemma.cases.iter().map(case).collect(),
        };
        let merged = Model {
            definitions: model
                .definitions
                .iter()
                .map(|(&p, &f)| (p, renamed(f)))
                .collect(),
            lemmas: model.lemmas.iter().map(lemma).collect(),
        };
        self.proves_lemmas(&merged).then_some(merged)
    }

    /// Copies a group of mutually recursive functions if one of them calls a function that has a
    /// copy.
    fn copy_users(&self, group: &[FunctionId], copies: &mut FxHashMap<FunctionId, FunctionId>) {
        let terms = self.terms;
        let calls_copied = |id: &FunctionId| {
            let called = terms.called(&[terms.function(*id).body]);
            called.iter().any(|id| copies.contains_key(id))
        };
        if group.iter().any(|id| copies.contains_key(id)) || !group.iter().any(calls_copied) {
            return;
        }
        for &id in group {
            let own = terms.function(id);
            let sorts: Vec<SortId> = own.params.iter().map(|&p| terms.sort_of(p)).collect();
            copies.insert(id, terms.declare_function(&own.name, &sorts, own.result));
        }
        for id in group {
            let (own, copy) = (terms.function(*id), copies[id]);
            let params = terms.function(copy).params.iter().copied();
            let map = own.params.iter().copied().zip(params).collect();
            let body = with_functions(terms, terms.substitute(own.body, &map), copies);
            terms.define_function(copy, body, own.measure.clone());
        }
    }

    /// Whether the cases of all lemmas prove their statements.
    fn proves_lemmas(&mut self, model: &Model) -> bool {
        let terms = self.terms;
        let instance = |lemma: &Lemma, args: &[TermId]| {
            let vars = lemma.vars.iter().copied();
            terms.substitute(lemma.statement, &vars.zip(args.iter().copied()).collect())
        };
        let mut cases = model
            .lemmas
            .iter()
            .flat_map(|l| l.cases.iter().map(move |c| (l, c)));
        cases.all(|(lemma, case)| {
            let mut premises = vec![case.guard];
            premises.extend(case.induction.iter().map(|args| instance(lemma, args)));
            let instances = case.instances.iter();
            premises.extend(instances.map(|(at, args)| instance(&model.lemmas[*at], args)));
            premises.extend(case.unfoldings.iter().map(|&call| self.equation(call)));
            self.implies(&premises, lemma.statement)
        })
    }

    // ---- lemmas ----

    /// Adds a lemma for each function whose graph has a formula.
    fn lemmas(&mut self, meanings: &[Meaning], model: &mut Model) -> Result<(), Reason> {
        let (problem, terms) = (self.problem, self.terms);
        let mut clauses: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for (number, clause) in problem.clauses.iter().enumerate() {
            if !problem.defines_functions(clause.command) {
                continue;
            }
            let graph = clause.head.as_ref().map(|head| head.predicate);
            if let Some(at) = problem
                .functions
                .iter()
                .position(|f| Some(f.graph) == graph)
            {
                clauses.entry(at).or_default().push(number);
            }
        }
        // By function: the statement over the parameters, and the position of the lemma.
        let mut statements: FxHashMap<usize, (TermId, usize)> = FxHashMap::default();
        for group in problem.function_groups() {
            let needed = group.iter().filter_map(|&at| {
                let statement = self.statement(at, &meanings[at], model);
                (statement != TermId::TRUE).then_some((at, statement))
            });
            let needed: Vec<(usize, TermId)> = needed.collect();
            let first = model.lemmas.len();
            for (number, &(at, statement)) in needed.iter().enumerate() {
                statements.insert(at, (statement, first + number));
            }
            for &(at, statement) in &needed {
                let none = Vec::new();
                let own = clauses.get(&at).unwrap_or(&none);
                let proven = self.lemma(at, meanings, own, &statements, model);
                let Some((cases, inductive)) = proven else {
                    let name = &problem.functions[at].name;
                    let message = format!("no lemma about the function `{name}` was proven");
                    let shown = Printer::new(terms).term(statement);
                    log::debug!("{message}: {shown}");
                    return Err(self.stopped(message));
                };
                let function = terms.function(meanings[at].function);
                // Lemmas that use each other have measures of one kind.
                let measure = match inductive || needed.len() > 1 {
                    true => function.measure.clone(),
                    false => Vec::new(),
                };
                model.lemmas.push(Lemma {
                    name: format!("graph!{}", problem.functions[at].name),
                    vars: function.params.clone(),
                    statement,
                    measure,
                    cases,
                });
            }
        }
        Ok(())
    }

    /// The formula of a function's graph, with the value of the function as the last argument.
    fn statement(&self, at: usize, meaning: &Meaning, model: &Model) -> TermId {
        let terms = self.terms;
        let graph = self.problem.functions[at].graph;
        let Some(&formula) = model.definitions.get(&graph) else {
            return TermId::TRUE;
        };
        let own = &terms.function(meaning.function).params;
        let call = terms.call(meaning.function, own);
        let mut values = own.clone();
        values.push(call);
        let params = self.problem.predicates[graph.index()]
            .params
            .iter()
            .copied();
        let statement = terms.substitute(formula, &params.zip(values).collect());
        match meaning.constant {
            Some((condition, value)) => {
                let constant = terms.and(&[condition, terms.eq(call, value)]);
                match statement {
                    TermId::TRUE => statement,
                    _ => terms.or(&[statement, constant]),
                }
            }
            None => statement,
        }
    }

    /// The cases of a proof of a function's statement, by the clauses of its graph, and whether they
    /// use its own statement; `None` if a case is not proven.
    fn lemma(
        &mut self,
        at: usize,
        meanings: &[Meaning],
        clauses: &[usize],
        statements: &FxHashMap<usize, (TermId, usize)>,
        model: &Model,
    ) -> Option<(Vec<Case>, bool)> {
        let (problem, terms) = (self.problem, self.terms);
        let meaning = meanings[at];
        let (statement, _) = statements[&at];
        let params = &terms.function(meaning.function).params;
        let own = terms.call(meaning.function, params);
        let mut cases = Vec::new();
        let mut inductive = false;
        if let Some((condition, _)) = meaning.constant {
            let case = Case {
                guard: condition,
                induction: Vec::new(),
                instances: Vec::new(),
                unfoldings: vec![own],
            };
            cases.push(self.confirmed(statement, case, &[], model)?);
        }
        let text = terms.function(problem.functions[at].function);
        for &clause in clauses {
            let clause = &problem.clauses[clause];
            let mut map: FxHashMap<TermId, TermId> = FxHashMap::default();
            map.extend(text.params.iter().copied().zip(params.iter().copied()));
            let mut case = Case {
                guard: TermId::TRUE,
                induction: Vec::new(),
                instances: Vec::new(),
                unfoldings: vec![own],
            };
            let mut hypotheses = Vec::new();
            // Arguments of calls contain only results of calls before them.
            for atom in &clause.body {
                let callee = problem
                    .functions
                    .iter()
                    .position(|f| f.graph == atom.predicate)?;
                let (&result, args) = atom.args.split_last()?;
                let args: Vec<TermId> = args.iter().map(|&a| terms.substitute(a, &map)).collect();
                map.insert(result, terms.call(meanings[callee].function, &args));
                let Some(&(hypothesis, lemma)) = statements.get(&callee) else {
                    continue;
                };
                let theirs = terms
                    .function(meanings[callee].function)
                    .params
                    .iter()
                    .copied();
                let instance = theirs.zip(args.iter().copied()).collect();
                hypotheses.push(terms.substitute(hypothesis, &instance));
                match callee == at {
                    true => case.induction.push(args),
                    false => case.instances.push((lemma, args)),
                }
            }
            let mut guard = terms.substitute(clause.constraint, &map);
            if let Some((condition, _)) = meaning.constant {
                guard = terms.and(&[terms.not(condition), guard]);
            }
            case.guard = guard;
            if guard == TermId::FALSE {
                continue;
            }
            inductive |= !case.induction.is_empty();
            cases.push(self.confirmed(statement, case, &hypotheses, model)?);
        }
        Some((cases, inductive))
    }

    /// The case if it proves the statement, with unfoldings of further calls if they are needed;
    /// `hypotheses` are its instances of statements.
    fn confirmed(
        &mut self,
        statement: TermId,
        mut case: Case,
        hypotheses: &[TermId],
        model: &Model,
    ) -> Option<Case> {
        let terms = self.terms;
        let mut premises = vec![case.guard];
        premises.extend(hypotheses);
        premises.extend(case.unfoldings.iter().map(|&call| self.equation(call)));
        let mut roots = vec![statement];
        roots.extend(&premises);
        // Solvers know the equations of sizes, the check of the certificate does not.
        let mut has_sizes = false;
        terms.post_order(&roots, |t| has_sizes |= matches!(terms.op(t), Op::Size(_)));
        if !has_sizes && self.implies(&premises, statement) {
            return Some(case);
        }
        // Calls of the model's own functions, and those in their bodies.
        let mut known: FxHashSet<TermId> = case.unfoldings.iter().copied().collect();
        for _ in 0..LIMITS.unfolding_rounds {
            let mut calls = Vec::new();
            terms.post_order(&roots, |t| {
                let is_open = match terms.op(t) {
                    Op::Call(_) => terms.unfold(t) != t,
                    Op::Size(_) => true,
                    _ => false,
                };
                if is_open {
                    calls.push(t);
                }
            });
            roots.clear();
            for call in calls {
                if known.len() < LIMITS.max_unfoldings && known.insert(call) {
                    let equation = self.equation(call);
                    premises.push(equation);
                    roots.push(equation);
                    case.unfoldings.push(call);
                }
            }
            if self.implies(&premises, statement) {
                return Some(case);
            }
            if roots.is_empty() {
                break;
            }
        }
        let instances = self.instances(model, &premises, statement);
        for (lemma, args, instance) in instances {
            premises.push(instance);
            case.instances.push((lemma, args));
        }
        self.implies(&premises, statement).then_some(case)
    }

    /// The equation of a call with its unfolding.
    fn equation(&self, call: TermId) -> TermId {
        let terms = self.terms;
        let body = match *terms.op(call) {
            Op::Size(id) => {
                let whole = terms.args(call)[0];
                let var = terms.fresh_var("whole", terms.sort_of(whole));
                let body = terms.size_body(id, var);
                terms.substitute(body, &FxHashMap::from_iter([(var, whole)]))
            }
            _ => terms.unfold(call),
        };
        terms.eq(call, body)
    }

    /// Instances of the model's lemmas of one variable tuple: those that make a call of a lemma equal
    /// to a call of the premises.
    fn instances(
        &self,
        model: &Model,
        premises: &[TermId],
        statement: TermId,
    ) -> Vec<(usize, Vec<TermId>, TermId)> {
        let terms = self.terms;
        let mut roots = premises.to_vec();
        roots.push(statement);
        let calls = |roots: &[TermId]| {
            let mut calls = Vec::new();
            terms.post_order(roots, |t| {
                if let Op::Call(_) = terms.op(t) {
                    calls.push(t);
                }
            });
            calls
        };
        let targets = calls(&roots);
        let mut found = Vec::new();
        let mut seen: FxHashSet<(usize, Vec<TermId>)> = FxHashSet::default();
        for (number, lemma) in model.lemmas.iter().enumerate() {
            for pattern in calls(&[lemma.statement]) {
                for &target in &targets {
                    if found.len() >= LIMITS.max_unfoldings {
                        return found;
                    }
                    let mut map: FxHashMap<TermId, TermId> = FxHashMap::default();
                    let args = terms.args(pattern).iter().zip(terms.args(target));
                    let fits =
                        terms.op(pattern) == terms.op(target) && { args }.all(
                            |(&p, &t)| match lemma.vars.contains(&p) {
                                true => *map.entry(p).or_insert(t) == t,
                                false => p == t,
                            },
                        );
                    let values = lemma.vars.iter().map(|v| map.get(v).copied());
                    let Some(values) = values.collect::<Option<Vec<_>>>() else {
                        continue;
                    };
                    if fits && seen.insert((number, values.clone())) {
                        let instance = terms.substitute(lemma.statement, &map);
                        found.push((number, values, instance));
                    }
                }
            }
        }
        found
    }
}

/// The term with calls of other functions.
fn with_functions(
    terms: &TermStore,
    term: TermId,
    copies: &FxHashMap<FunctionId, FunctionId>,
) -> TermId {
    terms.rewrite_bottom_up(term, &mut FxHashMap::default(), |t| match terms.op(t) {
        Op::Call(id) => match copies.get(id) {
            Some(&copy) => terms.call(copy, terms.args(t)),
            None => t,
        },
        _ => t,
    })
}
