//! A refutation as a proof term of Z3, in the form that its fixedpoint engine prints for
//! `(get-proof)`, for programs that read it. Solidity's compiler makes its counterexamples from it.
//!
//! ```text
//! ((set-logic HORN)
//! (declare-fun query!0 () Bool)
//! (proof
//! (let (($c1 (forall ((x Int)) (=> (= x 0) (P x)))))
//! (let (($c2 (forall ((x Int)) (=> (and (P x) (< x 1)) query!0))))
//! (mp ((_ hyper-res 0 0 0 1) (asserted $c2) ((_ hyper-res 0 0) (asserted $c1) (P 0)) query!0) (asserted (=> query!0 false)) false)))))
//! ```
//!
//! A step is `((_ hyper-res 0 0 0 1 … 0 n) (asserted C) S1 … Sn fact)`: the clause, the steps that
//! derive its body atoms, in their order, and the derived fact. The pairs of numbers say that the
//! head (0) is derived and that the k-th body literal is resolved with the k-th premise. As in Z3,
//! a query derives a new atom, from which `false` follows by modus ponens (`mp`). The clause is
//! that of the problem, and its name (`$c2` or `$c2.1`) has the numbers of the other formats.
//! Clauses, values in several facts, steps with several uses, and every step at some depth of
//! nesting have names under `let`.
//!
//! A proof term does not contain the values of variables; `z3_read`, which reads it, looks for them.
//!
//! # Invariant
//! The size is linear in the refutation and its clauses. There is no recursion over steps, and no
//! new name occurs in the problem.

use std::fmt::Write;

use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use super::print::ClauseNames;
use super::recursive::is_graph;
use super::sexp::{TokenKind, Tokens, symbol};
use super::{Fact, Refutation};
use alphorn_chc::frontend::{Alternative, Problem, ProblemClause};
use alphorn_chc::{Atom, PredicateId};
use alphorn_term::{Op, Printer, TermId, quote_symbol};

/// A refutation as a proof term of Z3. It has to have passed `step_check`.
pub fn refutation_z3(problem: &Problem, refutation: &Refutation) -> String {
    let steps = &refutation.steps;
    let mut proof = Proof::new(problem);
    // Unused steps are left out.
    let mut uses = vec![0_usize; steps.len()];
    if let Some(last) = uses.last_mut() {
        *last = 1;
    }
    for (index, step) in steps.iter().enumerate().rev() {
        if uses[index] > 0 {
            for &premise in &step.premises {
                uses[premise] += 1;
            }
        }
    }
    let needed: Vec<usize> = (0..steps.len()).filter(|&i| uses[i] > 0).collect();
    for &index in &needed {
        proof.bind_clause(steps[index].clause.0 as usize);
    }
    proof.bind_values(
        needed
            .iter()
            .filter_map(|&index| steps[index].fact.as_ref()),
    );
    // The text of a step where it is used, and the depth of nesting in it.
    let mut texts: Vec<String> = vec![String::new(); steps.len()];
    let mut depths = vec![0_usize; steps.len()];
    for &index in &needed {
        let step = &steps[index];
        let mut text = String::from("((_ hyper-res 0 0");
        for position in 1..=step.premises.len() {
            write!(text, " 0 {position}").expect("string");
        }
        let clause = &proof.clause_names[&(step.clause.0 as usize)];
        write!(text, ") (asserted {clause})").expect("string");
        let mut depth = 1;
        for &premise in &step.premises {
            text.push(' ');
            depth = depth.max(depths[premise] + 1);
            if uses[premise] > 1 {
                text.push_str(&texts[premise]);
            } else {
                text.push_str(&std::mem::take(&mut texts[premise]));
            }
        }
        text.push(' ');
        match &step.fact {
            None => text.push_str(&proof.query),
            Some(fact) => proof.write_fact(&mut text, fact),
        }
        text.push(')');
        if index + 1 < steps.len() && (uses[index] > 1 || depth >= LIMITS.max_proof_nesting) {
            let name = format!("{}{}", proof.step_prefix, index + 1);
            proof.bind(&name, &text);
            (text, depth) = (name, 0);
        }
        texts[index] = text;
        depths[index] = depth;
    }
    let last = texts.pop().unwrap_or_default();
    proof.finish(&last)
}

/// The bindings of a proof so far, one inside the other.
struct Proof<'a> {
    problem: &'a Problem,
    names: ClauseNames,
    /// The atom from which `false` follows.
    query: String,
    clause_prefix: String,
    step_prefix: String,
    value_prefix: String,
    /// The names of clauses that are bound, by index.
    clause_names: FxHashMap<usize, String>,
    /// The names or texts of values.
    values: FxHashMap<TermId, String>,
    /// The beginnings of `let`s.
    bindings: String,
    /// Their number.
    open: usize,
}

impl<'a> Proof<'a> {
    fn new(problem: &'a Problem) -> Self {
        let taken: FxHashSet<&str> = Tokens::new(&problem.text, 0)
            .filter(|token| token.kind == TokenKind::Atom)
            .map(|token| symbol(&problem.text[token.range]))
            .collect();
        let mut number = 0;
        let mut query = format!("query!{number}");
        while taken.contains(query.as_str()) {
            number += 1;
            query = format!("query!{number}");
        }
        let prefix = |stem: &str| {
            let mut stem = stem.to_owned();
            while taken.iter().any(|name| name.starts_with(&stem)) {
                stem.push('!');
            }
            stem
        };
        Proof {
            problem,
            names: ClauseNames::new(problem),
            query,
            clause_prefix: prefix("$c"),
            step_prefix: prefix("@s"),
            value_prefix: prefix("?v"),
            clause_names: FxHashMap::default(),
            values: FxHashMap::default(),
            bindings: String::new(),
            open: 0,
        }
    }

    /// Binds `name` to `text` in the rest of the proof.
    fn bind(&mut self, name: &str, text: &str) {
        writeln!(self.bindings, "(let (({name} {text}))").expect("string");
        self.open += 1;
    }

    /// Binds a name to a clause.
    fn bind_clause(&mut self, index: usize) {
        if self.clause_names.contains_key(&index) {
            return;
        }
        let name = format!("{}{}", self.clause_prefix, self.names.name(index));
        let text = self.clause(&self.problem.clauses[index]);
        self.bind(&name, &text);
        self.clause_names.insert(index, name);
    }

    /// Binds names to compound values that occur more than once in facts.
    fn bind_values<'f>(&mut self, facts: impl Iterator<Item = &'f Fact>) {
        let terms = &self.problem.terms;
        let mut order = Vec::new();
        let mut uses: FxHashMap<TermId, usize> = FxHashMap::default();
        for &value in facts.flat_map(|fact| &fact.values) {
            let count = uses.entry(value).or_default();
            if *count == 0 {
                order.push(value);
            }
            *count += 1;
        }
        let printer = Printer::new(terms);
        let mut named = 0;
        for value in order {
            let text = printer.term(value);
            if uses[&value] > 1 && !terms.node(value).args.is_empty() {
                named += 1;
                let name = format!("{}{named}", self.value_prefix);
                self.bind(&name, &text);
                self.values.insert(value, name);
            } else {
                self.values.insert(value, text);
            }
        }
    }

    fn write_fact(&self, out: &mut String, fact: &Fact) {
        let name = quote_symbol(&self.problem.predicates[fact.predicate.index()].name);
        let texts = fact.values.iter().map(|value| self.values[value].clone());
        out.push_str(&self.applied(name, texts.collect(), fact.predicate));
    }

    /// The text of a clause as a formula.
    fn clause(&self, clause: &ProblemClause) -> String {
        let terms = &self.problem.terms;
        let mut printer = Printer::new(terms);
        // A variable must not have the name of a predicate, another variable or a name of the
        // printer.
        let mut taken: FxHashSet<String> = self
            .problem
            .predicates
            .iter()
            .map(|predicate| quote_symbol(&predicate.name))
            .collect();
        let mut unique = |name: &str| {
            let name = if name.starts_with("let!") {
                format!("_{name}")
            } else {
                name.to_owned()
            };
            let mut found = quote_symbol(&name);
            let mut number = 0;
            while !taken.insert(found.clone()) {
                number += 1;
                found = quote_symbol(&format!("{name}!{number}"));
            }
            found
        };
        let mut binders = String::new();
        for (name, var) in &clause.vars {
            let name = unique(name);
            let space = if binders.is_empty() { "" } else { " " };
            let sort = printer.sort(terms.sort_of(*var));
            write!(binders, "{space}({name} {sort})").expect("string");
            printer.rename(*var, name);
        }
        let nested = self.problem.disjunctions_of(clause);
        let alternatives = || {
            let disjunctions = nested.iter().map(|&at| &self.problem.disjunctions[at]);
            disjunctions.flat_map(|disjunction| &disjunction.alternatives)
        };
        let mut roots = vec![clause.constraint];
        roots.extend(alternatives().map(|alternative| alternative.constraint));
        let further = alternatives().flat_map(|alternative| &alternative.body);
        for atom in clause.body.iter().chain(&clause.head).chain(further) {
            roots.extend(&atom.args);
        }
        if roots.iter().any(|&root| terms.node(root).has_quantifier) {
            terms.post_order(&roots, |t| {
                if let Op::Forall(vars) | Op::Exists(vars) = terms.op(t) {
                    for &var in vars {
                        printer.rename(var, unique(terms.var_name(var)));
                    }
                }
            });
        }
        let mut names: FxHashMap<usize, String> = FxHashMap::default();
        let conjuncts = |body: &[Atom],
                         constraint: TermId,
                         disjunctions: &[usize],
                         names: &FxHashMap<usize, String>| {
            let mut parts: Vec<String> = body.iter().map(|a| self.atom(&printer, a)).collect();
            parts.extend(disjunctions.iter().map(|at| names[at].clone()));
            if constraint != TermId::TRUE {
                parts.push(printer.term(constraint));
            }
            parts
        };
        let mut definitions = String::new();
        for &at in &nested {
            let mut text = String::from("(or");
            for alternative in &self.problem.disjunctions[at].alternatives {
                let Alternative {
                    body,
                    constraint,
                    disjunctions,
                    ..
                } = alternative;
                let parts = conjuncts(body, *constraint, disjunctions, &names);
                match parts.as_slice() {
                    [] => text.push_str(" true"),
                    [part] => write!(text, " {part}").expect("string"),
                    parts => write!(text, " (and {})", parts.join(" ")).expect("string"),
                }
            }
            let name = unique("or!");
            write!(definitions, "(let (({name} {text}))) ").expect("string");
            names.insert(at, name);
        }
        let body = conjuncts(
            &clause.body,
            clause.constraint,
            &clause.disjunctions,
            &names,
        );
        let head = match &clause.head {
            Some(atom) => self.atom(&printer, atom),
            None => self.query.clone(),
        };
        let text = match body.as_slice() {
            [] => head,
            [part] => format!("(=> {part} {head})"),
            parts => format!("(=> (and {}) {head})", parts.join(" ")),
        };
        let text = format!("{definitions}{text}{}", ")".repeat(nested.len()));
        if binders.is_empty() {
            text
        } else {
            format!("(forall ({binders}) {text})")
        }
    }

    fn atom(&self, printer: &Printer, atom: &Atom) -> String {
        let name = quote_symbol(&self.problem.predicates[atom.predicate.index()].name);
        let args = atom.args.iter().map(|&arg| printer.term(arg)).collect();
        self.applied(name, args, atom.predicate)
    }

    /// A predicate applied to arguments; for the graph of a function, an equation.
    fn applied(&self, name: String, mut args: Vec<String>, predicate: PredicateId) -> String {
        let value = match is_graph(self.problem, predicate) {
            true => args.pop(),
            false => None,
        };
        let mut out = name;
        if !args.is_empty() {
            out = format!("({out} {})", args.join(" "));
        }
        match value {
            Some(value) => format!("(= {out} {value})"),
            None if self.problem.complemented.contains(&predicate) => format!("(not {out})"),
            None => out,
        }
    }

    /// The whole proof, with its last step.
    fn finish(self, last: &str) -> String {
        let query = &self.query;
        let mut out = format!(
            "((set-logic HORN)\n(declare-fun {query} () Bool)\n(proof\n{}(mp {last} (asserted (=> {query} false)) false)",
            self.bindings
        );
        out.extend(std::iter::repeat_n(')', self.open + 2));
        out.push('\n');
        out
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::RefutationStep;
    use alphorn_chc::frontend::parse;
    use alphorn_chc::{ClauseId, PredicateId};
    use alphorn_term::{Assignment, TermStore};

    /// A clause, premises, and the fact's predicate and values.
    type Step<'a> = (u32, &'a [usize], Option<(u32, &'a [i64])>);

    /// The proof for clauses and a refutation.
    fn proof(text: &str, steps: &[Step]) -> String {
        let problem = parse(text, Rc::new(TermStore::new())).expect("clauses");
        let steps = steps
            .iter()
            .map(|&(clause, premises, fact)| RefutationStep {
                clause: ClauseId(clause),
                values: Assignment::default(),
                premises: premises.to_vec(),
                fact: fact.map(|(predicate, values)| Fact {
                    predicate: PredicateId(predicate),
                    values: values.iter().map(|&v| problem.terms.int(v)).collect(),
                }),
            })
            .collect();
        refutation_z3(&problem, &Refutation { steps })
    }

    #[test]
    fn shared_steps_have_names_and_unused_ones_are_left_out() {
        let text = "(set-logic HORN)
(declare-fun P (Int Int) Bool)
(declare-fun |a b| () Bool)
(assert (forall ((x Int)) (=> (>= x 1) (P x (- x)))))
(assert (forall ((P Int)) (and (=> (and (P P (- P)) (P P (- 1))) |a b|) (=> (P 0 P) false))))
(assert (=> |a b| false))
(check-sat)";
        let found = proof(
            text,
            &[
                (0, &[], Some((0, &[2, -2]))),
                (0, &[], Some((0, &[1, -1]))),
                (1, &[1, 1], Some((1, &[]))),
                (3, &[2], None),
            ],
        );
        let expected = "((set-logic HORN)
(declare-fun query!0 () Bool)
(proof
(let (($c1 (forall ((x Int)) (=> (>= x 1) (P x (- x))))))
(let (($c2.1 (forall ((P!1 Int)) (=> (and (P P!1 (- P!1)) (P P!1 (- 1))) |a b|))))
(let (($c3 (=> |a b| query!0)))
(let ((@s2 ((_ hyper-res 0 0) (asserted $c1) (P 1 (- 1)))))
(mp ((_ hyper-res 0 0 0 1) (asserted $c3) ((_ hyper-res 0 0 0 1 0 2) (asserted $c2.1) @s2 @s2 |a b|) query!0) (asserted (=> query!0 false)) false)))))))
";
        assert_eq!(found, expected);
    }

    #[test]
    fn names_of_the_problem_are_not_used() {
        let text = "(declare-fun query!0 (Int) Bool)
(declare-fun @s () Bool)
(assert (forall (($c1 Int) (let!0 Int)) (=> (= $c1 let!0) (query!0 $c1))))
(assert (=> (query!0 3) false))
(check-sat)";
        let found = proof(text, &[(0, &[], Some((0, &[3]))), (1, &[0], None)]);
        assert!(found.contains("(declare-fun query!1 () Bool)"), "{found}");
        assert!(
            found.contains("(let (($c!1 (forall (($c1 Int) (_let!0 Int)) "),
            "{found}"
        );
        assert!(found.contains("(asserted (=> query!1 false))"), "{found}");
    }

    /// The steps of a long chain are nested up to the limit, and the size is linear.
    #[test]
    fn long_derivations() {
        let text = "(declare-fun P (Int) Bool)
(assert (P 0))
(assert (forall ((x Int)) (=> (P x) (P (+ x 1)))))
(assert (forall ((x Int)) (=> (P x) false)))
(check-sat)";
        let size = |length: i64| {
            let values: Vec<[i64; 1]> = (0..length).map(|i| [i]).collect();
            let premises: Vec<[usize; 1]> = (0..values.len()).map(|i| [i]).collect();
            let mut steps: Vec<Step> = vec![(0, &[], Some((0, &values[0])))];
            for i in 1..values.len() {
                steps.push((1, &premises[i - 1], Some((0, &values[i]))));
            }
            steps.push((2, &premises[values.len() - 1], None));
            let found = proof(text, &steps);
            let most = found.lines().map(|line| line.matches("hyper-res").count());
            assert_eq!(most.max(), Some(LIMITS.max_proof_nesting));
            found.len()
        };
        let (short, long) = (size(1000), size(100_000));
        assert!(long < 120 * short, "{short} {long}");
    }
}
