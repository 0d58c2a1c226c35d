//! Recursive functions of the text: their graphs, and calls as atoms of graphs.
//!
//! The equation `f(x) = body` gives clauses of the graph `F(x, r)`, and a call `f(t)` anywhere else
//! becomes a fresh variable `r` with the body atom `F(t, r)`. Both split the clause at conditions
//! around calls, so that a clause has only those calls that its case needs.
//!
//! Invariant: the cases of an equation cover all values of its parameters, and no clause that is
//! returned has calls of recursive functions of the text. The clauses follow from the equations and
//! the clause; where the recursion ends, they are equivalent to it.

use std::rc::Rc;

use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};

use super::commands::{Command, Verb};
use super::error::{ErrorKind, InputError, NotHorn, TermError, shorten};
use super::formula::{Formula, FormulaId, Formulas, Value};
use super::lexer::{Lexed, Sym, TokenId};
use super::syntax::{Binding, Elements, Named};
use super::{ProblemClause, TextFunction};
use crate::Atom;
use crate::limits::LIMITS;
use alphorn_term::{FunctionId, Op, TermId, TermStore};

/// The syntax of a definition.
pub(super) struct Head<'l, 't> {
    pub name: Named,
    pub parameters: Elements<'l, 't>,
    pub result: TokenId,
    pub body: TokenId,
}

/// The definitions of a `define-fun-rec` or `define-funs-rec`.
pub(super) fn heads<'l, 't>(
    lexed: &'l Lexed<'t>,
    command: &Command<'l, 't>,
) -> Result<Vec<Head<'l, 't>>, InputError> {
    let mut parts = command.parts;
    let head = |parts: &mut Elements<'l, 't>, body: Option<TokenId>| {
        Ok(Head {
            name: parts.expect_symbol()?,
            parameters: parts.expect_list()?,
            result: parts.expect()?,
            body: match body {
                Some(body) => body,
                None => parts.expect()?,
            },
        })
    };
    if command.verb == Verb::DefineFunRec {
        let head = head(&mut parts, None)?;
        parts.finish()?;
        return Ok(vec![head]);
    }
    let names_token = parts.expect()?;
    let names = lexed.list(names_token)?.at_least_one()?;
    let bodies = parts.expect_list()?;
    parts.finish()?;
    let (count, bodies_count) = (names.count(), bodies.count());
    if count != bodies_count {
        let kind = TermError::FunctionCount {
            names: count,
            bodies: bodies_count,
        };
        return Err(lexed.error(names_token, kind));
    }
    let pairs = names.zip(bodies).map(|(name, body)| {
        let mut parts = lexed.list(name)?;
        let head = head(&mut parts, Some(body))?;
        parts.finish()?;
        Ok(head)
    });
    pairs.collect()
}

/// Whether the bodies mention one of the names that are defined.
pub(super) fn is_recursive(lexed: &Lexed<'_>, heads: &[Head<'_, '_>]) -> bool {
    let names: FxHashSet<Sym> = heads.iter().map(|head| head.name.symbol).collect();
    let mut bodies = heads.iter().map(|head| head.body);
    bodies.any(|body| lexed.symbols_within(body).any(|s| names.contains(&s)))
}

/// The parameters of functions that are defined together. Their names differ from those of the
/// functions, since the equations bind them around calls.
pub(super) fn parameters(
    lexed: &Lexed<'_>,
    heads: &[Head<'_, '_>],
) -> Result<Vec<Vec<Binding>>, InputError> {
    let functions: FxHashSet<Sym> = heads.iter().map(|head| head.name.symbol).collect();
    let of_head = |head: &Head<'_, '_>| {
        let mut seen: FxHashSet<Sym> = FxHashSet::default();
        let parameters = head.parameters.map(|parameter| {
            let parameter = lexed.binding(parameter)?;
            if functions.contains(&parameter.name.symbol) {
                let kind = TermError::ParameterNamesFunction;
                return Err(lexed.name_error(parameter.name, kind));
            }
            if !seen.insert(parameter.name.symbol) {
                return Err(lexed.name_error(parameter.name, TermError::BoundTwice));
            }
            Ok(parameter)
        });
        parameters.collect()
    };
    heads.iter().map(of_head).collect()
}

/// The groups of mutually recursive functions, as positions in `functions`, each group after those
/// that it needs.
pub(super) fn groups(terms: &TermStore, functions: &[TextFunction]) -> Vec<Vec<usize>> {
    let mut graph: DiGraph<usize, ()> = DiGraph::new();
    let nodes: Vec<NodeIndex> = (0..functions.len()).map(|at| graph.add_node(at)).collect();
    for (at, function) in functions.iter().enumerate() {
        for id in terms.called(&[function.body]) {
            if let Ok(callee) = functions.binary_search_by_key(&id, |f| f.function) {
                graph.update_edge(nodes[at], nodes[callee], ());
            }
        }
    }
    // Kosaraju's algorithm is iterative in petgraph and gives the targets of edges first.
    let components = petgraph::algo::kosaraju_scc(&graph);
    let groups = components.into_iter().map(|component| {
        let mut group: Vec<usize> = component.into_iter().map(|node| graph[node]).collect();
        group.sort_unstable();
        group
    });
    groups.collect()
}

/// Whether a formula says that something exists for which recursive functions of the text have a
/// property: `exists` or `not forall` outermost, and no predicate in it.
pub(super) fn is_goal(
    terms: &TermStore,
    formulas: &Formulas,
    functions: &[TextFunction],
    value: Value,
) -> bool {
    let Value::Formula(id) = value else {
        return false;
    };
    let exists = match formulas.formula(id) {
        Formula::Quantifier(universal, ..) => !universal,
        Formula::Not(Value::Formula(inner)) => {
            matches!(formulas.formula(inner), Formula::Quantifier(true, ..))
        }
        _ => false,
    };
    if !exists || functions.is_empty() || formulas.predicate_in(value).is_some() {
        return false;
    }
    let mut roots = Vec::new();
    let mut seen: FxHashSet<FormulaId> = FxHashSet::default();
    let mut stack = vec![value];
    while let Some(value) = stack.pop() {
        let id = match value {
            Value::Term(term) => {
                roots.push(term);
                continue;
            }
            Value::Formula(id) if seen.insert(id) => id,
            _ => continue,
        };
        match formulas.formula(id) {
            Formula::Atom(..) => {}
            Formula::Not(inner) | Formula::Quantifier(_, _, inner) => stack.push(inner),
            Formula::And(list) | Formula::Or(list) => stack.extend(formulas.values(list)),
            Formula::Ite(a, b, c) => stack.extend([a, b, c]),
            Formula::Equal(a, b) => stack.extend([a, b]),
        }
    }
    let own = |id: &FunctionId| functions.binary_search_by_key(id, |f| f.function).is_ok();
    terms.called(&roots).iter().any(own)
}

/// A case of a clause: formulas that hold together, and terms.
#[derive(Clone)]
struct Case {
    /// Formulas without conditions around calls.
    done: Vec<TermId>,
    /// Formulas that may have some.
    open: Vec<TermId>,
    roots: Vec<TermId>,
}

/// Replaces the calls of one command by atoms of graphs.
pub(super) struct Calls<'a> {
    terms: &'a TermStore,
    /// Ascending by the id of the function.
    functions: &'a [TextFunction],
    /// Whether terms have calls.
    calls: FxHashMap<TermId, bool>,
    /// Nodes that were visited, and literals of cases.
    work: usize,
}

impl<'a> Calls<'a> {
    /// For the recursive functions in scope.
    pub fn new(terms: &'a TermStore, functions: &'a [TextFunction]) -> Self {
        Calls {
            terms,
            functions,
            calls: FxHashMap::default(),
            work: 0,
        }
    }

    /// The clauses of a function's graph. `vars` are the parameters with their names, and `number`
    /// is that of the command.
    pub fn equation(
        &mut self,
        function: &TextFunction,
        vars: Vec<(Rc<str>, TermId)>,
        number: usize,
    ) -> Result<Vec<ProblemClause>, ErrorKind> {
        self.refuse_quantified(&[function.body])?;
        let whole = Case {
            done: Vec::new(),
            open: Vec::new(),
            roots: vec![function.body],
        };
        let Some(cases) = self.cases(whole) else {
            return Err(TermError::TooManyCases(shorten(&function.name)).into());
        };
        let clauses = cases.into_iter().map(|case| {
            let mut args: Vec<TermId> = vars.iter().map(|v| v.1).collect();
            args.extend(&case.roots);
            let clause = ProblemClause {
                vars: vars.clone(),
                body: Vec::new(),
                constraint: self.terms.and(&case.done),
                disjunctions: Vec::new(),
                head: Some(Atom {
                    predicate: function.graph,
                    args,
                }),
                command: function.command,
                number,
            };
            self.without_calls(clause)
        });
        Ok(clauses.collect())
    }

    /// Clauses for a clause, with atoms in place of calls.
    pub fn replaced(&mut self, clause: ProblemClause) -> Result<Vec<ProblemClause>, NotHorn> {
        if self.functions.is_empty() {
            return Ok(vec![clause]);
        }
        let atoms = clause.body.iter().chain(&clause.head);
        let roots: Vec<TermId> = atoms.flat_map(|atom| atom.args.iter().copied()).collect();
        let mut all = vec![clause.constraint];
        all.extend(&roots);
        let mut has_call = false;
        for &root in &all {
            has_call |= self.has_call(root);
        }
        if !has_call {
            return Ok(vec![clause]);
        }
        self.refuse_quantified(&all)?;
        let whole = Case {
            done: Vec::new(),
            open: vec![clause.constraint],
            roots,
        };
        // With too many cases the calls stay unguarded, which is a weaker clause.
        let Some(cases) = self.cases(whole) else {
            return Ok(vec![self.without_calls(clause)]);
        };
        let clauses = cases.into_iter().map(|case| {
            let mut roots = case.roots.into_iter();
            let mut with = |atom: &Atom| Atom {
                predicate: atom.predicate,
                args: roots.by_ref().take(atom.args.len()).collect(),
            };
            let split = ProblemClause {
                vars: clause.vars.clone(),
                body: clause.body.iter().map(&mut with).collect(),
                constraint: self.terms.and(&case.done),
                disjunctions: clause.disjunctions.clone(),
                head: clause.head.as_ref().map(&mut with),
                ..clause
            };
            self.without_calls(split)
        });
        Ok(clauses.collect())
    }

    /// Whether calls of functions of the text occur in a term.
    fn has_call(&mut self, root: TermId) -> bool {
        let mut stack = vec![root];
        while let Some(&term) = stack.last() {
            if self.calls.contains_key(&term) {
                stack.pop();
                continue;
            }
            let node = self.terms.node(term);
            let before = stack.len();
            let missing = node.args.iter().filter(|a| !self.calls.contains_key(a));
            stack.extend(missing);
            if stack.len() > before {
                continue;
            }
            self.work += 1;
            let found = self.function(term).is_some() || node.args.iter().any(|a| self.calls[a]);
            self.calls.insert(term, found);
            stack.pop();
        }
        self.calls[&root]
    }

    /// The function of the text that a term calls.
    fn function(&self, term: TermId) -> Option<&'a TextFunction> {
        let Op::Call(id) = *self.terms.op(term) else {
            return None;
        };
        self.function_by_id(id)
    }

    fn function_by_id(&self, id: FunctionId) -> Option<&'a TextFunction> {
        let at = self.functions.binary_search_by_key(&id, |f| f.function);
        at.ok().map(|at| &self.functions[at])
    }

    /// Fails if there is a call below a quantifier.
    fn refuse_quantified(&mut self, roots: &[TermId]) -> Result<(), NotHorn> {
        if !roots.iter().any(|&r| self.terms.node(r).has_quantifier) {
            return Ok(());
        }
        let mut quantified = Vec::new();
        self.terms.post_order(roots, |term| {
            if let Op::Forall(_) | Op::Exists(_) = self.terms.op(term) {
                quantified.push(term);
            }
        });
        for term in quantified {
            if self.has_call(term) {
                let called = self.terms.called(&[term]);
                let function = called.into_iter().find_map(|id| self.function_by_id(id));
                let name = function.map_or("", |f| &f.name);
                return Err(NotHorn::CallBelowQuantifier(shorten(name)));
            }
        }
        Ok(())
    }

    /// The cases of a case in which no condition is around a call; `None` if there are too many.
    fn cases(&mut self, whole: Case) -> Option<Vec<Case>> {
        let mut found = Vec::new();
        let mut stack = vec![whole];
        while let Some(mut case) = stack.pop() {
            self.work += 1 + case.done.len() + case.open.len() + case.roots.len();
            if found.len() + stack.len() > LIMITS.max_call_cases || self.work > LIMITS.max_call_work
            {
                return None;
            }
            let before = stack.len();
            let Some(formula) = case.open.pop() else {
                let roots = case.roots.clone();
                match roots.into_iter().find_map(|root| self.split_at(root)) {
                    None => found.push(case),
                    Some(node) => {
                        for (condition, branch) in self.branches(node) {
                            let mut next = case.clone();
                            next.open.push(condition);
                            for root in &mut next.roots {
                                *root = self.with_branch(*root, node, branch);
                            }
                            stack.push(next);
                        }
                    }
                }
                stack[before..].reverse();
                continue;
            };
            if formula == TermId::FALSE {
                continue;
            }
            if !self.has_call(formula) {
                if formula != TermId::TRUE {
                    case.done.push(formula);
                }
                stack.push(case);
                continue;
            }
            let fork = |stack: &mut Vec<Case>, formulas: &[TermId]| {
                let mut next = case.clone();
                next.open.extend(formulas);
                stack.push(next);
            };
            let terms = self.terms;
            let (inner, positive) = match terms.op(formula) {
                Op::Not => (terms.args(formula)[0], false),
                _ => (formula, true),
            };
            let literal = |t: TermId| if positive { t } else { terms.not(t) };
            let parts = terms.args(inner);
            match terms.op(inner) {
                Op::And | Op::Or if (*terms.op(inner) == Op::And) == positive => {
                    let parts: Vec<TermId> = parts.iter().map(|&part| literal(part)).collect();
                    case.open.extend(parts.into_iter().rev());
                    stack.push(case);
                    continue;
                }
                Op::And | Op::Or => {
                    let (later, free): (Vec<TermId>, Vec<TermId>) =
                        parts.iter().partition(|&&part| self.has_call(part));
                    let free: Vec<TermId> = free.into_iter().map(literal).collect();
                    let first = terms.or(&free);
                    if !free.is_empty() {
                        fork(&mut stack, &[first]);
                    }
                    // Calls may be smaller only if the other parts do not hold.
                    for part in later {
                        fork(&mut stack, &[literal(part), terms.not(first)]);
                    }
                }
                Op::Ite => {
                    fork(&mut stack, &[literal(parts[1]), parts[0]]);
                    fork(&mut stack, &[literal(parts[2]), terms.not(parts[0])]);
                }
                _ => match self.split_at(formula) {
                    None => {
                        case.done.push(formula);
                        stack.push(case);
                        continue;
                    }
                    Some(node) => {
                        for (condition, branch) in self.branches(node) {
                            let formula = self.with_branch(formula, node, branch);
                            fork(&mut stack, &[formula, condition]);
                        }
                    }
                },
            }
            stack[before..].reverse();
        }
        Some(found)
    }

    /// An outermost condition around a call in a term: an `ite` with a call in a branch, or a
    /// connective of which a part decides about the calls in others.
    fn split_at(&mut self, root: TermId) -> Option<TermId> {
        let mut seen: FxHashSet<TermId> = FxHashSet::default();
        let mut stack = vec![root];
        while let Some(term) = stack.pop() {
            if !self.has_call(term) || !seen.insert(term) {
                continue;
            }
            self.work += 1;
            let args = self.terms.args(term);
            match self.terms.op(term) {
                Op::And | Op::Or => return Some(term),
                Op::Ite if self.has_call(args[1]) || self.has_call(args[2]) => return Some(term),
                _ => stack.extend(args.iter().rev()),
            }
        }
        None
    }

    /// The values of a term of [`Self::split_at`] and the conditions under which it has them.
    fn branches(&mut self, node: TermId) -> [(TermId, TermId); 2] {
        let terms = self.terms;
        let args = terms.args(node);
        let conjunction = match terms.op(node) {
            Op::Ite => {
                return [(args[0], args[1]), (terms.not(args[0]), args[2])];
            }
            op => *op == Op::And,
        };
        let junction = |parts: &[TermId]| match conjunction {
            true => terms.and(parts),
            false => terms.or(parts),
        };
        let (mut later, mut first): (Vec<TermId>, Vec<TermId>) =
            args.iter().partition(|&&arg| self.has_call(arg));
        if first.is_empty() {
            first.push(later.remove(0));
        }
        let (first, later) = (junction(&first), junction(&later));
        match conjunction {
            true => [(first, later), (terms.not(first), TermId::FALSE)],
            false => [(first, TermId::TRUE), (terms.not(first), later)],
        }
    }

    /// The term with a branch in place of a node.
    fn with_branch(&mut self, term: TermId, node: TermId, branch: TermId) -> TermId {
        if term == node {
            return branch;
        }
        let mut memo = FxHashMap::from_iter([(node, branch)]);
        let result = self.terms.rewrite(term, &mut memo, |t| {
            // Terms without calls do not contain the node.
            (self.calls.get(&t) == Some(&false)).then_some(t)
        });
        self.work += memo.len();
        result
    }

    /// The clause with fresh variables and atoms of graphs in place of calls.
    fn without_calls(&mut self, clause: ProblemClause) -> ProblemClause {
        let terms = self.terms;
        let ProblemClause {
            mut vars,
            body,
            constraint,
            disjunctions,
            head,
            command,
            number,
        } = clause;
        let mut memo: FxHashMap<TermId, TermId> = FxHashMap::default();
        let mut results: FxHashMap<TermId, TermId> = FxHashMap::default();
        let mut atoms: Vec<Atom> = Vec::new();
        let mut replace = |term: TermId| {
            terms.rewrite_bottom_up(term, &mut memo, |t| {
                let Some(function) = self.function(t) else {
                    return t;
                };
                *results.entry(t).or_insert_with(|| {
                    let name = format!("{}!{}", function.name, atoms.len() + 1);
                    let result = terms.fresh_var(&name, terms.sort_of(t));
                    vars.push((name.into(), result));
                    let mut args = terms.args(t).to_vec();
                    args.push(result);
                    atoms.push(Atom {
                        predicate: function.graph,
                        args,
                    });
                    result
                })
            })
        };
        let mut in_atom = |atom: Atom| Atom {
            predicate: atom.predicate,
            args: atom.args.into_iter().map(&mut replace).collect(),
        };
        let mut body: Vec<Atom> = body.into_iter().map(&mut in_atom).collect();
        let head = head.map(&mut in_atom);
        let constraint = replace(constraint);
        body.append(&mut atoms);
        ProblemClause {
            vars,
            body,
            constraint,
            disjunctions,
            head,
            command,
            number,
        }
    }
}
