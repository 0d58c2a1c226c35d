//! Large systems in small blocks, as frontends of C, Java or Rust emit them: one predicate per basic
//! block, many arguments, and statements that no query needs. Each is planted around an invariant
//! of one kind.
//!
//! Invariant: of each pair, the first is safe and its twin, in which one bound is tightened, is not;
//! the text depends only on the family, the size, the side and the seed.

use std::fmt::Write as _;

use alphorn_term::Random;

/// A family of systems, by the invariant that its queries need.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Family {
    /// Nested loops with constant bounds.
    Intervals,
    /// The same beside an array that is written and read.
    Heap,
    /// Nested loops whose bound is a variable.
    Octagons,
    /// Procedures with summaries.
    Calls,
    /// Loops that keep a sum.
    Equalities,
    /// Flags that mirror states.
    Bool,
    /// A loop over diamonds.
    Branches,
    /// A sequence of increments from a constant.
    Chain,
    /// A sequence of increments from an unknown number.
    Unknowns,
    /// A tree of calls that each return at least their argument.
    Tree,
    /// One predicate over many flags that are set one after the other.
    Flags,
    /// Edges of a graph, and which nodes they reach.
    Facts,
}

impl Family {
    /// All families with their names.
    pub const ALL: [(&'static str, Family); 12] = [
        ("intervals", Family::Intervals),
        ("heap", Family::Heap),
        ("octagons", Family::Octagons),
        ("calls", Family::Calls),
        ("equalities", Family::Equalities),
        ("bool", Family::Bool),
        ("branches", Family::Branches),
        ("chain", Family::Chain),
        ("unknowns", Family::Unknowns),
        ("tree", Family::Tree),
        ("flags", Family::Flags),
        ("facts", Family::Facts),
    ];

    /// The family of this name.
    pub fn find(name: &str) -> Option<Family> {
        let mut all = Family::ALL.iter();
        all.find(|(known, _)| *known == name).map(|f| f.1)
    }
}

/// The text of a system with about `size` predicates (flags, or edges, for these families); `safe` is
/// its status.
pub fn text(family: Family, size: usize, safe: bool, seed: u64) -> String {
    let (declarations, mut clauses) = match family {
        Family::Branches => branches(size, safe),
        Family::Chain | Family::Unknowns => chain(size, family == Family::Unknowns, safe),
        Family::Tree => tree(size, safe),
        Family::Flags => flags(size, safe),
        Family::Facts => facts(size, safe, &mut Random::new(seed)),
        Family::Calls => calls(size, safe, Random::new(seed)),
        _ => {
            let mut program = Program::new(family, Random::new(seed));
            program.statements(size);
            program.close(safe);
            (program.declarations, program.clauses)
        }
    };
    clauses.insert_str(0, &declarations);
    format!("(set-logic HORN)\n{clauses}(check-sat)\n")
}

const NOISE: [&str; 12] = [
    "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11",
];
const COUNTERS: [&str; 4] = ["i0", "i1", "i2", "i3"];
const DOWN: [&str; 4] = ["j0", "j1", "j2", "j3"];
const STATES: [&str; 4] = ["s0", "s1", "s2", "s3"];
const LOCKS: [&str; 8] = ["b0", "b1", "b2", "b3", "b4", "b5", "b6", "b7"];

/// Statements of a query: where it stands, when the program fails, and when its twin does.
struct Query {
    location: usize,
    bad: String,
    tightened: String,
}

/// A procedure under construction, with the text so far.
struct Program {
    family: Family,
    name: String,
    random: Random,
    vars: Vec<(&'static str, &'static str)>,
    noise: usize,
    declarations: String,
    clauses: String,
    queries: Vec<Query>,
    locations: usize,
    /// The location that statements are appended to.
    at: usize,
}

/// `variable := term`.
type Update<'a> = (&'a str, String);

impl Program {
    fn new(family: Family, random: Random) -> Program {
        let int =
            |names: &[&'static str]| -> Vec<_> { names.iter().map(|&n| (n, "Int")).collect() };
        let mut vars = int(&NOISE);
        match family {
            Family::Bool => {
                vars.extend(int(&STATES));
                vars.extend(LOCKS.map(|lock| (lock, "Bool")));
            }
            _ => vars.extend(int(&COUNTERS)),
        }
        match family {
            Family::Heap => vars.push(("H", "(Array Int Int)")),
            Family::Octagons => vars.push(("n", "Int")),
            Family::Equalities => {
                vars.extend(int(&DOWN));
                vars.push(("n", "Int"));
            }
            _ => {}
        }
        let mut program = Program::procedure(family, "L", vars, NOISE.len(), random);
        let positive = matches!(family, Family::Octagons | Family::Equalities);
        let guard = if positive { "(>= n 0)" } else { "" };
        program.edge(None, program.at, guard, &[], "", "");
        program
    }

    fn procedure(
        family: Family,
        name: &str,
        vars: Vec<(&'static str, &'static str)>,
        noise: usize,
        random: Random,
    ) -> Program {
        let mut program = Program {
            family,
            name: name.to_owned(),
            random,
            vars,
            noise,
            declarations: String::new(),
            clauses: String::new(),
            queries: Vec::new(),
            locations: 0,
            at: 0,
        };
        program.at = program.location();
        program
    }

    fn location(&mut self) -> usize {
        let sorts: Vec<&str> = self.vars.iter().map(|v| v.1).collect();
        let (name, sorts) = (&self.name, sorts.join(" "));
        let at = self.locations;
        writeln!(
            self.declarations,
            "(declare-fun {name}_{at} ({sorts}) Bool)"
        )
        .expect("a string");
        self.locations += 1;
        at
    }

    fn atom(&self, location: usize, updates: &[Update]) -> String {
        let mut atom = format!("({}_{location}", self.name);
        for (var, _) in &self.vars {
            let primed = updates.iter().any(|u| u.0 == *var);
            let _ = write!(atom, " {var}{}", if primed { "p" } else { "" });
        }
        atom + ")"
    }

    /// The bound variables of a clause: those of the procedure, those of the updates, and `extra`.
    fn bound(&self, updates: &[Update], extra: &str) -> String {
        let mut bound = String::new();
        for (var, sort) in &self.vars {
            let _ = write!(bound, "({var} {sort}) ");
            if updates.iter().any(|u| u.0 == *var) {
                let _ = write!(bound, "({var}p {sort}) ");
            }
        }
        bound + extra
    }

    /// A clause from a location, or from none, to another; `extra` declares further variables, and
    /// `calls` are further atoms.
    fn edge(
        &mut self,
        from: Option<usize>,
        to: usize,
        guard: &str,
        updates: &[Update],
        extra: &str,
        calls: &str,
    ) {
        let mut body = String::new();
        if let Some(from) = from {
            body += &self.atom(from, &[]);
        }
        let _ = write!(body, " {calls} {guard}");
        for (var, term) in updates {
            let _ = write!(body, " (= {var}p {term})");
        }
        let (bound, head) = (self.bound(updates, extra), self.atom(to, updates));
        let body = match body.trim() {
            "" => "true".to_owned(),
            body => format!("(and {body})"),
        };
        writeln!(
            self.clauses,
            "(assert (forall ({bound}) (=> {body} {head})))"
        )
        .expect("a string");
    }

    fn step(&mut self, updates: &[Update], extra: &str) {
        let next = self.location();
        self.edge(Some(self.at), next, "", updates, extra, "");
        self.at = next;
    }

    fn set(&mut self, var: &str, term: impl Into<String>) {
        self.step(&[(var, term.into())], "");
    }

    fn query(&mut self, bad: String, tightened: String) {
        self.queries.push(Query {
            location: self.at,
            bad,
            tightened,
        });
    }

    fn branch(
        &mut self,
        condition: &str,
        then: impl FnOnce(&mut Program),
        otherwise: impl FnOnce(&mut Program),
    ) {
        let (from, join) = (self.at, self.location());
        let start = self.location();
        self.edge(Some(from), start, condition, &[], "", "");
        self.at = start;
        then(self);
        self.edge(Some(self.at), join, "", &[], "", "");
        let start = self.location();
        self.edge(
            Some(from),
            start,
            &format!("(not {condition})"),
            &[],
            "",
            "",
        );
        self.at = start;
        otherwise(self);
        self.edge(Some(self.at), join, "", &[], "", "");
        self.at = join;
    }

    /// A loop that may also end at the start of its body, whatever the condition is.
    fn repeat(&mut self, condition: &str, body: impl FnOnce(&mut Program)) {
        let (head, start, out) = (self.location(), self.location(), self.location());
        self.edge(Some(self.at), head, "", &[], "", "");
        self.edge(Some(head), start, condition, &[], "", "");
        self.edge(Some(start), out, "stops", &[], "(stops Bool)", "");
        self.at = start;
        body(self);
        self.edge(Some(self.at), head, "", &[], "", "");
        self.edge(Some(head), out, &format!("(not {condition})"), &[], "", "");
        self.at = out;
    }

    fn noise_var(&mut self) -> &'static str {
        NOISE[self.random.below(self.noise)]
    }

    /// A statement that no query needs.
    fn bookkeeping(&mut self) {
        let (v, w) = (self.noise_var(), self.noise_var());
        match self.random.below(10) {
            0..3 => {
                let value = self.random.below(100);
                self.set(v, value.to_string());
            }
            3..6 => {
                let value = 1 + self.random.below(8);
                self.set(v, format!("(+ {w} {value})"));
            }
            6..8 => self.set(v, format!("(- {v} {w})")),
            _ => self.step(&[(v, "any".to_owned())], "(any Int)"),
        }
    }

    fn block(&mut self, depth: usize, size: usize) {
        let end = self.locations + size;
        while self.locations < end {
            let left = end - self.locations;
            let kind = self.random.below(4);
            if left > 12 && kind == 0 && depth < 4 {
                let size = 6 + self.random.below(34);
                self.statement(depth, size.min(left - 6));
            } else if left > 8 && kind == 1 {
                let (v, bound) = (self.noise_var(), self.random.below(50));
                let condition = format!("(< {v} {bound})");
                self.branch(&condition, Program::bookkeeping, Program::bookkeeping);
            } else {
                self.bookkeeping();
            }
        }
    }

    /// A statement of the family with about this many locations.
    fn statement(&mut self, depth: usize, size: usize) {
        match self.family {
            Family::Octagons => self.variable_bound(depth, size),
            Family::Equalities => self.kept_sum(depth, size),
            Family::Bool => self.mirrored_state(depth, size),
            _ => self.constant_bound(depth, size),
        }
    }

    fn constant_bound(&mut self, depth: usize, size: usize) {
        let (i, bound) = (COUNTERS[depth], 3 + self.random.below(97));
        self.set(i, "0");
        self.repeat(&format!("(< {i} {bound})"), |p| {
            p.block(depth + 1, size);
            if p.family == Family::Heap {
                let (v, w, u) = (p.noise_var(), p.noise_var(), p.noise_var());
                p.set("H", format!("(store H (+ {} {i}) {v})", 100 * (depth + 1)));
                p.set(w, format!("(select H {u})"));
            }
            if p.random.one_in(2) {
                let bad = format!("(or (< {i} 0) (>= {i} {bound}))");
                p.query(bad, format!("(or (< {i} 0) (>= {i} 2))"));
            }
            p.set(i, format!("(+ {i} 1)"));
        });
    }

    fn variable_bound(&mut self, depth: usize, size: usize) {
        let i = COUNTERS[depth];
        self.set(i, "0");
        self.repeat(&format!("(< {i} n)"), |p| {
            p.block(depth + 1, size);
            if p.random.one_in(2) {
                let bad = format!("(or (< {i} 0) (>= {i} n))");
                p.query(bad, format!("(or (< {i} 0) (>= {i} (- n 1)))"));
            }
            p.set(i, format!("(+ {i} 1)"));
        });
        self.query(format!("(> {i} n)"), format!("(>= {i} n)"));
    }

    fn kept_sum(&mut self, depth: usize, size: usize) {
        let (i, j) = (COUNTERS[depth], DOWN[depth]);
        self.set(i, "0");
        self.set(j, "n");
        self.repeat(&format!("(< {i} n)"), |p| {
            p.block(depth + 1, size);
            p.set(i, format!("(+ {i} 1)"));
            p.set(j, format!("(- {j} 1)"));
        });
        let differs = |sum: &str| format!("(not (= (+ {i} {j}) {sum}))");
        self.query(differs("n"), differs("(+ n 1)"));
    }

    fn mirrored_state(&mut self, depth: usize, size: usize) {
        let (b, c, s) = (LOCKS[depth], LOCKS[depth + 4], STATES[depth]);
        self.step(&[(b, "any".to_owned())], "(any Bool)");
        self.set(c, b);
        self.branch(b, |p| p.set(s, "1"), |p| p.set(s, "0"));
        let (v, bound) = (self.noise_var(), self.random.below(9));
        self.repeat(&format!("(< {v} {bound})"), |p| p.block(depth + 1, size));
        let differs = |value: u8| format!("(not (= {s} {value}))");
        let check = |right: u8| move |p: &mut Program| p.query(differs(right), differs(1 - right));
        self.branch(c, check(1), check(0));
    }

    fn statements(&mut self, size: usize) {
        while self.locations < size {
            let next = 20 + self.random.below(100);
            let left = (size - self.locations).max(12);
            self.statement(0, next.min(left));
        }
    }

    /// Adds the queries; in the twin, the one in the middle is tightened.
    fn close(&mut self, safe: bool) {
        let queries = std::mem::take(&mut self.queries);
        let middle = queries.len() / 2;
        for (at, query) in queries.into_iter().enumerate() {
            let (atom, bound) = (self.atom(query.location, &[]), self.bound(&[], ""));
            let bad = match safe || at != middle {
                true => query.bad,
                false => query.tightened,
            };
            let rule = format!("(=> (and {atom} {bad}) false)");
            writeln!(self.clauses, "(assert (forall ({bound}) {rule}))").expect("a string");
        }
    }
}

/// Procedures of about twenty blocks with summaries `f_S(a, r)`, where `r >= a`; each calls up to two
/// others.
fn calls(size: usize, safe: bool, mut random: Random) -> (String, String) {
    let (mut declarations, mut clauses) = (String::new(), String::new());
    let procedures = (size / 20).max(2);
    for q in 0..procedures {
        let mut vars = vec![("a", "Int"), ("r", "Int")];
        vars.extend(NOISE[..6].iter().map(|&v| (v, "Int")));
        vars.push(("i0", "Int"));
        let own = Random::new(random.below(u64::MAX));
        let mut p = Program::procedure(Family::Calls, &format!("f{q}"), vars, 6, own);
        p.edge(None, p.at, "", &[("r", "a".to_owned())], "", "");
        let mut callees: Vec<usize> = Vec::new();
        if q > 0 {
            callees.extend([q / 2, p.random.below(q)]);
        }
        callees.retain(|&callee| callee < q);
        callees.dedup();
        for callee in callees {
            let next = p.location();
            let call = format!("(f{callee}_S r y)");
            let result = [("r", "y".to_owned())];
            p.edge(Some(p.at), next, "", &result, "(y Int)", &call);
            p.at = next;
            for _ in 0..3 {
                let (v, w, value) = (p.noise_var(), p.noise_var(), p.random.below(9));
                p.set(v, format!("(+ {w} {value})"));
            }
        }
        p.set("i0", "0");
        p.repeat("(< i0 10)", |p| {
            p.branch(
                "(< v1 v2)",
                |p| p.set("r", "(+ r 1)"),
                |p| p.set("v1", "(+ v1 1)"),
            );
            p.set("i0", "(+ i0 1)");
        });
        p.query("(> i0 10)".to_owned(), "(> i0 1)".to_owned());
        p.query("(< r a)".to_owned(), "(<= r a)".to_owned());
        let (atom, bound) = (p.atom(p.at, &[]), p.bound(&[], ""));
        let _ = writeln!(p.declarations, "(declare-fun f{q}_S (Int Int) Bool)");
        let rule = format!("(=> {atom} (f{q}_S a r))");
        let _ = writeln!(p.clauses, "(assert (forall ({bound}) {rule}))");
        p.close(safe || q != procedures / 2);
        declarations += &p.declarations;
        clauses += &p.clauses;
    }
    (declarations, clauses)
}

/// A loop over `size` diamonds that increase six numbers; the first is never negative.
fn branches(size: usize, safe: bool) -> (String, String) {
    let (mut declarations, mut clauses) = (String::new(), String::new());
    let names: Vec<String> = (0..6).map(|x| format!("x{x}")).collect();
    let bound = "(x0 Int) (x1 Int) (x2 Int) (x3 Int) (x4 Int) (x5 Int)";
    let all = names.join(" ");
    for i in 0..=size {
        let _ = writeln!(
            declarations,
            "(declare-fun p{i} (Int Int Int Int Int Int) Bool)"
        );
    }
    let mut clause = |rule: String| {
        let _ = writeln!(clauses, "(assert (forall ({bound}) {rule}))");
    };
    let zero: String = names.iter().map(|x| format!(" (= {x} 0)")).collect();
    clause(format!("(=> (and{zero}) (p0 {all}))"));
    for i in 0..size {
        let j = i % 5 + 1;
        for (operator, step) in [(">", 1), ("<=", 2)] {
            let mut after = names.clone();
            after[j] = format!("(+ x{j} {step})");
            after[0] = format!("(+ x0 {step})");
            let (guard, after) = (format!("({operator} x{} 5)", j % 5 + 1), after.join(" "));
            clause(format!(
                "(=> (and (p{i} {all}) {guard}) (p{} {after}))",
                i + 1
            ));
        }
    }
    clause(format!("(=> (p{size} {all}) (p0 {all}))"));
    let bad = match safe {
        true => "(< x0 0)".to_owned(),
        false => format!("(>= x0 {})", size / 2),
    };
    clause(format!("(=> (and (p{} {all}) {bad}) false)", size / 2));
    (declarations, clauses)
}

/// `size` increments of a number that begins at zero, or of one beside a copy of its first value.
fn chain(size: usize, unknown: bool, safe: bool) -> (String, String) {
    let (mut declarations, mut clauses) = (String::new(), String::new());
    let sorts = if unknown { "Int Int" } else { "Int" };
    for i in 0..=size {
        let _ = writeln!(declarations, "(declare-fun P{i} ({sorts}) Bool)");
    }
    let bound = "(x Int) (y Int) (z Int)";
    let mut clause = |rule: String| {
        let _ = writeln!(clauses, "(assert (forall ({bound}) {rule}))");
    };
    let bad = match (unknown, safe) {
        (false, true) => "(< x 0)".to_owned(),
        (false, false) => format!("(>= x {size})"),
        (true, true) => "(< x y)".to_owned(),
        (true, false) => format!("(>= x (+ y {size}))"),
    };
    if unknown {
        clause("(=> (= x y) (P0 x y))".to_owned());
        for i in 0..size {
            clause(format!(
                "(=> (and (P{i} x y) (= z (+ x 1))) (P{} z y))",
                i + 1
            ));
        }
        clause(format!("(=> (and (P{size} x y) {bad}) false)"));
    } else {
        clause("(=> (= x 0) (P0 x))".to_owned());
        for i in 0..size {
            clause(format!("(=> (P{i} x) (P{} (+ x 1)))", i + 1));
        }
        clause(format!("(=> (and (P{size} x) {bad}) false)"));
    }
    (declarations, clauses)
}

/// A tree of `size` procedures; the leaves add zero to two to their argument.
fn tree(size: usize, safe: bool) -> (String, String) {
    let (mut declarations, mut clauses) = (String::new(), String::new());
    let bound = "(x Int) (y Int) (z Int)";
    let mut clause = |rule: String| {
        let _ = writeln!(clauses, "(assert (forall ({bound}) {rule}))");
    };
    for i in 0..size {
        let _ = writeln!(declarations, "(declare-fun f{i} (Int Int) Bool)");
        let (left, right) = (2 * i + 1, 2 * i + 2);
        match right < size {
            true => clause(format!(
                "(=> (and (f{left} x y) (f{right} y z)) (f{i} x z))"
            )),
            false => clause(format!("(=> (= y (+ x {})) (f{i} x y))", i % 3)),
        }
    }
    let bad = if safe { "(< y x)" } else { "(>= y x)" };
    clause(format!("(=> (and (f0 x y) {bad}) false)"));
    (declarations, clauses)
}

/// One predicate over `size` flags; each is set by the one before it, the first at any time.
fn flags(size: usize, safe: bool) -> (String, String) {
    let names: Vec<String> = (0..size).map(|x| format!("x{x}")).collect();
    let bound: String = names.iter().map(|x| format!("({x} Bool)")).collect();
    let declarations = format!("(declare-fun p ({}) Bool)\n", "Bool ".repeat(size));
    let mut clauses = String::new();
    let mut clause = |rule: String| {
        let _ = writeln!(clauses, "(assert (forall ({bound}) {rule}))");
    };
    let all = names.join(" ");
    let unset: String = names.iter().map(|x| format!(" (not {x})")).collect();
    clause(format!("(=> (and{unset}) (p {all}))"));
    for i in 0..size {
        let mut after = names.clone();
        after[i] = match i {
            0 => "true".to_owned(),
            _ => format!("(or x{i} x{})", i - 1),
        };
        clause(format!("(=> (p {all}) (p {}))", after.join(" ")));
    }
    let last = &names[size - 1];
    let bad = if safe {
        format!("{last} (not x0)")
    } else {
        last.clone()
    };
    clause(format!("(=> (and (p {all}) {bad}) false)"));
    (declarations, clauses)
}

/// `size` random edges over as many nodes, and the pairs that they connect.
fn facts(size: usize, safe: bool, random: &mut Random) -> (String, String) {
    let mut declarations = "(declare-fun e (Int Int) Bool)\n".to_owned();
    declarations += "(declare-fun r (Int Int) Bool)\n";
    let mut clauses = String::new();
    let mut last = 0;
    for _ in 0..size {
        last = random.below(size);
        let _ = writeln!(clauses, "(assert (e {} {last}))", random.below(size));
    }
    let bound = "(x Int) (y Int) (z Int)";
    let target = if safe { size + 5 } else { last };
    for rule in [
        "(=> (e x y) (r x y))".to_owned(),
        "(=> (and (r x y) (e y z)) (r x z))".to_owned(),
        format!("(=> (r x {target}) false)"),
    ] {
        let _ = writeln!(clauses, "(assert (forall ({bound}) {rule}))");
    }
    (declarations, clauses)
}
