//! Systems as text in the format of CHC-COMP, for any Horn solver.
//!
//! Invariant: predicates, clauses and variables are printed in their order in the system. There is
//! at most one query, and each name is unique in its scope.

use std::fmt::Write;

use rustc_hash::FxHashSet;

use super::{Atom, System};
use alphorn_term::{
    DatatypeId, DatatypeStyle, Op, Printer, Sort, SortId, TermId, TermStore, quote_symbol,
};

/// Names of operators that no declared name may hide. Other operators of bit-vectors begin with `bv`.
const OPERATORS: [&str; 34] = [
    "true",
    "false",
    "not",
    "and",
    "or",
    "=>",
    "xor",
    "=",
    "distinct",
    "ite",
    "+",
    "-",
    "*",
    "/",
    "<",
    "<=",
    ">",
    ">=",
    "div",
    "mod",
    "abs",
    "to_real",
    "to_int",
    "is_int",
    "concat",
    "extract",
    "select",
    "store",
    "const",
    "is",
    "ubv_to_int",
    "int_to_bv",
    "zero_extend",
    "sign_extend",
];

/// The text of a system in the HORN dialect. Instances of parametric datatypes become separate
/// datatypes; several queries become one by a predicate without arguments.
pub fn to_smtlib(system: &System) -> String {
    let terms = &*system.terms;
    let mut out = String::from("(set-logic HORN)\n");
    let used = system.used_predicates();
    let datatypes = datatypes(system);
    let printer = || Printer::new(terms).with_style(DatatypeStyle::Monomorphic);
    let sorts = printer();
    out.push_str(&sorts.datatype_declarations(&datatypes));
    // No declared name may hide an operator.
    let mut global = Names::default();
    global
        .taken
        .extend(OPERATORS.iter().map(|&name| name.to_owned()));
    for &id in &datatypes {
        for constructor in &terms.datatype(id).constructors {
            global.taken.insert(sorts.instance(id, &constructor.name));
            let selectors = constructor.fields.iter();
            global
                .taken
                .extend(selectors.map(|f| sorts.instance(id, &f.selector)));
        }
    }
    let mut names: Vec<String> = vec![String::new(); system.predicates.len()];
    for &predicate in &used {
        let definition = system.predicate(predicate);
        let name = global.unique(&definition.name);
        write!(out, "(declare-fun {name} (").expect("string");
        for (position, &param) in definition.params.iter().enumerate() {
            let space = if position == 0 { "" } else { " " };
            write!(out, "{space}{}", sorts.sort(terms.sort_of(param))).expect("string");
        }
        out.push_str(") Bool)\n");
        names[predicate.index()] = name;
    }
    let queries = system.clauses.iter().filter(|c| c.head.is_none()).count();
    let goal = (queries > 1).then(|| global.unique("query"));
    if let Some(goal) = &goal {
        writeln!(out, "(declare-fun {goal} () Bool)").expect("string");
    }
    for clause in &system.clauses {
        let mut local = Names {
            outer: Some(&global),
            ..Names::default()
        };
        let mut printer = printer();
        let mut binders = String::new();
        for var in clause.vars(terms) {
            let name = local.unique(terms.var_name(var));
            let space = if binders.is_empty() { "" } else { " " };
            let sort = printer.sort(terms.sort_of(var));
            write!(binders, "{space}({name} {sort})").expect("string");
            printer.rename(var, name);
        }
        if terms.node(clause.constraint).has_quantifier {
            terms.post_order(&[clause.constraint], |t| {
                if let Op::Forall(vars) | Op::Exists(vars) = terms.op(t) {
                    for &var in vars {
                        printer.rename(var, local.unique(terms.var_name(var)));
                    }
                }
            });
        }
        let quantified = !binders.is_empty();
        out.push_str("(assert ");
        if quantified {
            write!(out, "(forall ({binders}) ").expect("string");
        }
        out.push_str("(=> ");
        let parts = clause.body.len() + usize::from(clause.constraint != TermId::TRUE);
        if parts > 1 {
            out.push_str("(and");
        }
        let space = if parts > 1 { " " } else { "" };
        for atom in &clause.body {
            out.push_str(space);
            write_atom(&mut out, &printer, &names, atom);
        }
        if parts == 0 {
            out.push_str("true");
        } else if clause.constraint != TermId::TRUE {
            out.push_str(space);
            printer.write_term(&mut out, clause.constraint);
        }
        if parts > 1 {
            out.push(')');
        }
        out.push(' ');
        match (&clause.head, &goal) {
            (Some(atom), _) => write_atom(&mut out, &printer, &names, atom),
            (None, Some(goal)) => out.push_str(goal),
            (None, None) => out.push_str("false"),
        }
        out.push_str(if quantified { ")))\n" } else { "))\n" });
    }
    if let Some(goal) = &goal {
        writeln!(out, "(assert (=> {goal} false))").expect("string");
    }
    out.push_str("(check-sat)\n");
    out
}

fn write_atom(out: &mut String, printer: &Printer, names: &[String], atom: &Atom) {
    let name = &names[atom.predicate.index()];
    if atom.args.is_empty() {
        out.push_str(name);
        return;
    }
    write!(out, "({name}").expect("string");
    for &arg in &atom.args {
        out.push(' ');
        printer.write_term(out, arg);
    }
    out.push(')');
}

/// The names in a scope, in SMT-LIB syntax.
#[derive(Default)]
struct Names<'a> {
    outer: Option<&'a Names<'a>>,
    taken: FxHashSet<String>,
    /// The next number to append to a name.
    next: usize,
}

impl Names<'_> {
    fn is_taken(&self, name: &str) -> bool {
        self.taken.contains(name) || self.outer.is_some_and(|outer| outer.is_taken(name))
    }

    /// A new name in the scope: `name`, with a number appended if it is taken, and `_` prepended if
    /// it could be a name of the printer (`let!…`) or an operator (`bv…`).
    fn unique(&mut self, name: &str) -> String {
        let odd = name.starts_with("let!") || name.starts_with("bv");
        let stem = if odd {
            format!("_{name}")
        } else {
            name.to_owned()
        };
        let mut found = quote_symbol(&stem);
        while self.is_taken(&found) {
            found = quote_symbol(&format!("{stem}.{}", self.next));
            self.next += 1;
        }
        self.taken.insert(found.clone());
        found
    }
}

/// All datatypes that occur in the system, with those that their fields need, ascending.
fn datatypes(system: &System) -> Vec<DatatypeId> {
    let terms: &TermStore = &system.terms;
    let mut roots: Vec<TermId> = system.clauses.iter().map(|c| c.constraint).collect();
    for clause in &system.clauses {
        roots.extend(clause.atoms().flat_map(|a| a.args.iter().copied()));
    }
    let mut seen: FxHashSet<SortId> = FxHashSet::default();
    let mut stack: Vec<SortId> = Vec::new();
    terms.post_order(&roots, |t| {
        let sort = terms.sort_of(t);
        if seen.insert(sort) {
            stack.push(sort);
        }
        if let Op::Forall(vars) | Op::Exists(vars) = terms.op(t) {
            for &var in vars {
                if seen.insert(terms.sort_of(var)) {
                    stack.push(terms.sort_of(var));
                }
            }
        }
    });
    let mut found = Vec::new();
    while let Some(sort) = stack.pop() {
        let mut parts: Vec<SortId> = Vec::new();
        match terms.sort(sort) {
            Sort::Array(index, element) => parts.extend([index, element]),
            Sort::Datatype(id) => {
                found.push(id);
                for constructor in &terms.datatype(id).constructors {
                    parts.extend(constructor.fields.iter().map(|f| f.sort));
                }
            }
            Sort::Bool | Sort::Int | Sort::Real | Sort::BitVec(_) => {}
        }
        stack.extend(parts.into_iter().filter(|&part| seen.insert(part)));
    }
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use alphorn_term::{Constructor, Field};

    #[test]
    fn names_stay_apart_and_queries_join() {
        let terms = Rc::new(TermStore::new());
        let mut system = System::new(terms.clone());
        let (id, pair) = terms.declare_datatype("Pair", &[SortId::INT]);
        let field = |selector: &str| Field {
            selector: selector.to_owned(),
            sort: SortId::INT,
        };
        let constructor = Constructor {
            name: "pair".to_owned(),
            fields: vec![field("x"), field("y")],
        };
        terms.define_datatype(id, vec![constructor]);
        let p = system.add_predicate("P", &[SortId::INT, SortId::BOOL]);
        let q = system.add_predicate("P", &[pair]);
        // One name for variables of two sorts and for the predicate.
        let (x, b) = (terms.var("P", SortId::INT), terms.var("P", SortId::BOOL));
        let y = terms.var("x", pair);
        let atom = |predicate, args: &[TermId]| Atom {
            predicate,
            args: args.to_vec(),
        };
        system.add_clause(vec![], terms.ge(x, terms.int(-1)), Some(atom(p, &[x, b])));
        system.add_clause(vec![atom(p, &[x, b])], b, Some(atom(q, &[y])));
        system.add_clause(vec![atom(q, &[y])], TermId::TRUE, None);
        system.add_clause(vec![], TermId::FALSE, None);
        let expected = "(set-logic HORN)
(declare-datatypes ((Pair.0 0)) (
  ((pair.0 (x.0 Int) (y.0 Int)))))
(declare-fun P (Int Bool) Bool)
(declare-fun P.0 (Pair.0) Bool)
(declare-fun query () Bool)
(assert (forall ((P.1 Int) (P.2 Bool)) (=> (>= P.1 (- 1)) (P P.1 P.2))))
(assert (forall ((P.1 Int) (P.2 Bool) (x Pair.0)) (=> (and (P P.1 P.2) P.2) (P.0 x))))
(assert (forall ((x Pair.0)) (=> (P.0 x) query)))
(assert (=> false query))
(assert (=> query false))
(check-sat)
";
        assert_eq!(to_smtlib(&system), expected);
    }

    #[test]
    fn operators_are_not_hidden() {
        let terms = Rc::new(TermStore::new());
        let mut system = System::new(terms.clone());
        let p = system.add_predicate("select", &[SortId::INT]);
        let x = terms.var("div", SortId::INT);
        let args = vec![x];
        let head = Atom { predicate: p, args };
        system.add_clause(
            vec![],
            terms.eq(terms.modulo(x, terms.int(2)), x),
            Some(head),
        );
        let text = to_smtlib(&system);
        assert!(text.contains("(declare-fun select.0 (Int) Bool)"), "{text}");
        assert!(text.contains("((div.0 Int))"), "{text}");
    }
}
