//! Deep, large and damaged input: for any bytes, reading ends soon with a problem or an error.

use std::fmt::Write;
use std::rc::Rc;
use std::time::Duration;

use alphorn::chc::{Atom, System, to_smtlib};
use alphorn::frontend::{InputError, Problem, parse, parse_bytes};
use alphorn::run::Context;
use alphorn::term::{TermId, TermStore};
use alphorn_smt::text::{TextCheck, valid_assertions};
use alphorn_term::Random;
use alphorn_transform::normalize;

const DEPTH: usize = 200_000;

fn read(text: &str) -> Result<Problem, InputError> {
    parse(text, Rc::new(TermStore::new()))
}

/// `open` DEPTH times, the middle, `close` DEPTH times.
fn nest(open: &str, middle: &str, close: &str) -> String {
    format!("{}{middle}{}", open.repeat(DEPTH), close.repeat(DEPTH))
}

#[test]
fn depth_costs_no_stack() {
    let declarations = "(declare-datatypes ((L 0)) (((e) (c (h Int) (t L)))))
        (declare-fun p (Int) Bool)(declare-fun q () Bool)(declare-fun l (L) Bool)
        (define-fun f ((x Int)) Int (+ x 1))
        (define-fun g ((x Bool)) Bool (and q x))";
    let with_head = |body: &str| format!("(forall ((x Int) (b Bool) (y Int)) (=> {body} (p x)))");
    for (what, term) in [
        ("not", with_head(&nest("(not ", "(> x 1)", ")"))),
        ("not over a predicate", nest("(not ", "q", ")")),
        ("and", with_head(&nest("(and b ", "(p x)", ")"))),
        ("and to the left", with_head(&nest("(and ", "(p x)", " b)"))),
        ("or", with_head(&nest("(or (< y x) ", "(> x 1)", ")"))),
        ("=>", nest("(=> q ", "q", ")")),
        (
            "ite",
            with_head(&format!("(> 3 {})", nest("(ite b y ", "x", ")"))),
        ),
        (
            "+",
            with_head(&format!("(> 3 {})", nest("(+ x ", "y", ")"))),
        ),
        (
            "-",
            with_head(&format!("(> 3 {})", nest("(- y ", "x", ")"))),
        ),
        (
            "*",
            with_head(&format!("(> 3 {})", nest("(* x ", "y", ")"))),
        ),
        (
            "mod",
            with_head(&format!("(> 3 {})", nest("(mod ", "y", " 7)"))),
        ),
        ("xor", with_head(&nest("(xor b ", "(> x 1)", ")"))),
        ("=", with_head(&nest("(= b ", "(> x 1)", ")"))),
        ("let", nest("(let ((z q)) ", "z", ")")),
        (
            "let in a binding",
            with_head(&nest("(let ((z ", "(p x)", ")) z)")),
        ),
        (
            "let with sharing",
            nest("(let ((q (and q q))) ", "(=> q q)", ")"),
        ),
        ("forall", nest("(forall ((x Int)) ", "(p x)", ")")),
        (
            "exists",
            format!("(=> {} q)", nest("(exists ((x Int)) ", "(p x)", ")")),
        ),
        ("annotation", nest("(! ", "q", " :named a)")),
        ("binders without variables", nest("(forall () ", "q", ")")),
        (
            "pattern",
            format!("(! q :pattern ({}))", nest("(", "", ")")),
        ),
        ("macro", format!("(p {})", nest("(f ", "1", ")"))),
        (
            "macro over predicates",
            format!("(=> {} q)", nest("(g ", "q", ")")),
        ),
        ("constructor", format!("(l {})", nest("(c 1 ", "e", ")"))),
        (
            "equal lists",
            format!(
                "(=> (= {} {}) q)",
                nest("(c 1 ", "e", ")"),
                nest("(c 1 ", "(c 2 e)", ")")
            ),
        ),
        (
            "match",
            format!("(l {})", nest("(match e ((e ", "e", ") (_ e)))")),
        ),
    ] {
        let text = format!("{declarations}(assert {term})(check-sat)");
        let problem = match read(&text) {
            Ok(problem) => problem,
            Err(error) => panic!("{what}: {error}"),
        };
        let (system, _) = normalize(&problem);
        drop(system);
        drop(problem);
    }
    for (what, text, message) in [
        (
            "parentheses",
            nest("(", "", ")"),
            "a command without a name",
        ),
        (
            "in assert",
            format!("(assert {})", nest("(", "", ")")),
            "unexpected `(`",
        ),
        ("open", "(".repeat(DEPTH), "without a matching"),
        (
            "exists in a head",
            format!("(assert {})", nest("(exists ((x Int)) ", "(> x 0)", ")")),
            "nest deeper",
        ),
        (
            "sorts",
            format!("(declare-fun p ({}) Bool)", nest("(Array Int ", "Int", ")")),
            "nest deeper",
        ),
        (
            "par",
            format!("(declare-datatype A {})", nest("(par (A) ", "((a))", ")")),
            "`par` is a reserved word",
        ),
        (
            "unknown instances",
            "(declare-datatypes ((L 1)) ((par (T) ((e) (c (h T) (t (L T)))))))\
            (declare-fun p ((L Int)) Bool)(assert (p "
                .to_owned()
                + &nest("(c (h e) ", "e", ")")
                + "))",
            "is not determined",
        ),
    ] {
        match read(&text) {
            Ok(_) => panic!("{what} is read"),
            Err(error) => assert!(error.message().contains(message), "{what}: {error}"),
        }
    }
}

#[test]
fn sharing_costs_no_time() {
    // Expanding the shared terms would take exponential time.
    let mut lets = String::from("(forall ((x Int) (b Bool)) (=> (and q ");
    for i in 0..60 {
        let before = if i == 0 {
            "x".to_owned()
        } else {
            format!("a{}", i - 1)
        };
        write!(
            lets,
            "(let ((a{i} (ite b (+ {before} {before}) (* {before} {before})))) "
        )
        .unwrap();
    }
    write!(lets, "(> a59 3){}) (p x)))", ")".repeat(60)).unwrap();
    let mut bodies = String::from("(=> ");
    for i in 0..60 {
        let before = if i == 0 {
            "q".to_owned()
        } else {
            format!("a{}", i - 1)
        };
        write!(bodies, "(let ((a{i} (and {before} {before}))) ").unwrap();
    }
    write!(bodies, "a59{} q)", ")".repeat(60)).unwrap();
    let mut macros = String::new();
    for i in 1..60 {
        let before = i - 1;
        write!(
            macros,
            "(define-fun f{i} ((x Int)) Int (ite (> x 0) (f{before} x) (- (f{before} x))))
             (define-fun g{i} ((x Int)) Bool (and (g{before} x) (g{before} x)))"
        )
        .unwrap();
    }
    let text = format!(
        "(declare-fun p (Int) Bool)(declare-fun q () Bool)(assert {lets})(assert {bodies})
         (define-fun f0 ((x Int)) Int (+ x 1))(define-fun g0 ((x Int)) Bool (p x)){macros}
         (assert (p (f59 3)))(assert (forall ((x Int)) (=> (g59 x) q)))(check-sat)"
    );
    let problem = read(&text).map_err(|e| e.to_string()).unwrap();
    assert_eq!(problem.clauses.len(), 4);
    // `ite`s in heads multiply clauses: too many are refused.
    let mut heads = String::new();
    for i in 0..60 {
        let before = if i == 0 {
            "q".to_owned()
        } else {
            format!("a{}", i - 1)
        };
        write!(heads, "(let ((a{i} (ite (> x {i}) {before} {before}))) ").unwrap();
    }
    let heads = format!("(forall ((x Int)) {heads} a59 {})", ")".repeat(60));
    let error = read(&format!("(declare-fun q () Bool)(assert {heads})"));
    assert!(error.err().unwrap().message().contains("too many clauses"));
}

/// The clauses of a body with disjunctions, and the cases of its auxiliary predicates, are as many as
/// its parts.
#[test]
fn disjunctions_in_bodies_cost_no_more_than_their_text() {
    // Nested `ite`s, alternating connectives, and a shared disjunction.
    let depth = 1_000;
    let text = |body: &str| {
        format!(
            "(declare-fun p (Int) Bool)(declare-fun q () Bool)(declare-fun r () Bool)
             (assert (forall ((x Int)) (=> {body} r)))(check-sat)"
        )
    };
    let nested = |open: &str, depth: usize, close: &str| {
        format!("{}q{}", open.repeat(depth), close.repeat(depth))
    };
    let count = |body: &str| {
        let problem = read(&text(body)).map_err(|e| e.to_string()).unwrap();
        let cases = problem.disjunctions.iter().map(|d| d.alternatives.len());
        (problem.clauses.len(), cases.sum::<usize>())
    };
    assert_eq!(
        count(&nested("(ite (> x 1) (p x) ", depth, ")")),
        (1, 2 * depth)
    );
    let deep = 50_000;
    let alternating = nested("(or (p x) (and (> x 0) ", deep, "))");
    assert_eq!(count(&alternating), (1, 2 * deep));
    // 2^60 cases, of which each disjunction is made once.
    let mut shared = String::new();
    for i in 0..60 {
        let before = if i == 0 {
            "q".to_owned()
        } else {
            format!("a{}", i - 1)
        };
        write!(
            shared,
            "(let ((a{i} (or (and {before} (p {i})) (and {before} (p (- {i})))))) "
        )
        .unwrap();
    }
    let shared = format!("{shared} a59 {}", ")".repeat(60));
    assert_eq!(count(&shared), (1, 2 * 60));
}

/// Whether the printed system is read as the same clauses, term by term. Clauses with datatypes
/// (their sorts are new ones) or quantifiers are compared in their atoms only.
fn reads_back(system: &System) -> Result<(), String> {
    let text = to_smtlib(system);
    let terms = &system.terms;
    let again = parse(&text, terms.clone()).map_err(|e| format!("{e}\n{text}"))?;
    let queries = system.clauses.iter().filter(|c| c.head.is_none()).count();
    let expected = system.clauses.len() + usize::from(queries > 1);
    // A clause with the body `false` is valid and gives no clause.
    let says_something =
        |c: &&alphorn::chc::Clause| c.constraint != TermId::FALSE || !c.body.is_empty();
    let said: Vec<_> = system.clauses.iter().filter(says_something).collect();
    if again.clauses.len() + system.clauses.len() - said.len() != expected {
        return Err(format!("{} clauses\n{text}", again.clauses.len()));
    }
    for (clause, other) in said.into_iter().zip(&again.clauses) {
        let vars = clause.vars(terms);
        let same_sorts = vars.len() == other.vars.len()
            && vars
                .iter()
                .zip(&other.vars)
                .all(|(&v, o)| terms.sort_of(v) == terms.sort_of(o.1));
        let arities = |atoms: &[Atom]| atoms.iter().map(|a| a.args.len()).collect::<Vec<_>>();
        if arities(&clause.body) != arities(&other.body) {
            return Err(format!("body of clause {}\n{text}", clause.id.0));
        }
        if !same_sorts || terms.node(clause.constraint).has_quantifier {
            continue;
        }
        let map = other
            .vars
            .iter()
            .map(|v| v.1)
            .zip(vars.iter().copied())
            .collect();
        let back = |t: TermId| terms.substitute(t, &map);
        let equal_args =
            |a: &Atom, b: &Atom| a.args.iter().zip(&b.args).all(|(&x, &y)| x == back(y));
        let atoms = clause
            .body
            .iter()
            .zip(&other.body)
            .all(|(a, b)| equal_args(a, b));
        let heads = match (&clause.head, &other.head) {
            (Some(a), Some(b)) => equal_args(a, b),
            (None, _) => true,
            _ => false,
        };
        if !atoms || !heads || back(other.constraint) != clause.constraint {
            return Err(format!("clause {}\n{text}", clause.id.0));
        }
    }
    Ok(())
}

#[test]
fn printed_systems_read_back() {
    for seed in SEEDS {
        let problem = read(seed).map_err(|e| e.to_string()).unwrap();
        let system = normalize(&problem).0;
        reads_back(&system).unwrap();
        let text = to_smtlib(&system);
        let budget = Context::new(system.terms.clone()).budget;
        if let TextCheck::Malformed(message) = valid_assertions(&text, &budget) {
            panic!("Z3 refuses: {message}\n{text}");
        }
    }
}

const SEEDS: [&str; 4] = [
    "(set-logic HORN)\n(set-option :timeout 100)
(declare-datatypes ((L 1)) ((par (T) (nil (cons (hd T) (tl (L T)))))))
(declare-datatype E ((A) (B (f (Array Int Real)))))
(declare-fun |p q| (Int (L Int)) Bool)
(declare-fun r (E (_ BitVec 8)) Bool)
(define-sort W (T) (Array T (_ BitVec 8)))
(define-fun m ((x Int) (b Bool)) Bool (and b (|p q| x nil)))
(push 1)(pop 1)
(assert (forall ((x Int) (l (L Int)))
    (=> (let ((y (+ x 1)) (l (cons x l))) (m y (> (hd l) 2.5))) (|p q| x l))))
(assert (forall ((e E) (a (W Int)))
    (=> (and ((_ is B) e) (= (select a 1) #x0f)) (r e (bvadd (select a 2) (_ bv3 8))))))
(assert (not (exists ((e E))
    (and (r e #b00000001) (match e ((A true) ((B g) (= (select g 1) 1))))))))
(assert (! (forall ((x Int)) (or (not (|p q| x nil)) (exists ((y Int)) (= x (* 2 y))))) :named a))
(check-sat)(get-model)(exit)",
    "(declare-rel main@entry ())(declare-rel bb (Int (Array Int Int) Bool))
(declare-var x@%_0 Int)(declare-var A (Array Int Int))(declare-var |t(a, b)| Bool)
(rule main@entry)
(rule (=> (and main@entry (> x@%_0 0)) (bb x@%_0 A |t(a, b)|)) name)
(rule (let ((a!1 (and (bb x@%_0 A true) (= (mod x@%_0 2) (rem x@%_0 (- 3))))))
    (=> a!1 (bb (+ x@%_0 1) (store A x@%_0 1) false))))
(query (bb 3 A true) :print-certificate true)",
    "(declare-fun i ((_ BitVec 32)) Bool)
(assert (forall ((x (_ BitVec 32))) (=> (= x #x00000000) (i x))))
(assert (forall ((x (_ BitVec 32)) (y (_ BitVec 32)))
    (=> (and (i x) (= y (bvadd x ((_ sign_extend 16) ((_ extract 15 0) x))))) (i y))))
(assert (forall ((x (_ BitVec 32)))
    (=> (i x) (bvsle x ((_ rotate_left 3) (concat #xffff #b0000000000000000))))))
(check-sat)",
    // The first datatype has an array that is indexed by one that is declared after it.
    "(declare-datatypes ((crypto 0) (bytes 0) (tree 0)) (
  ((crypto (hash (Array bytes Int)) (root tree)))
  ((bytes (data (Array Int Int)) (length Int)))
  ((leaf (value bytes)) (node (children (Array Int tree))))))
(declare-fun block (crypto bytes) Bool)
(assert (forall ((c crypto) (b bytes)) (=> (= (select (hash c) b) (length b)) (block c b))))
(assert (forall ((c crypto) (b bytes))
    (=> (and (block c b) ((_ is leaf) (root c)) (= (value (root c)) b)) false)))
(check-sat)",
];

#[test]
fn damage_is_survived() {
    let words: Vec<&str> = SEEDS
        .iter()
        .flat_map(|s| s.split_inclusive(|c: char| c == '(' || c == ')' || c.is_whitespace()))
        .collect();
    let mut random = Random::new(17);
    let (mut read, mut refused) = (0, 0);
    for round in 0..10_000 {
        let seed = SEEDS[random.below(SEEDS.len())];
        let mut bytes = seed.as_bytes().to_vec();
        for _ in 0..1 + (random.below(6)) / 5 {
            let at = random.below(bytes.len());
            let end = (at + random.below(12)).min(bytes.len());
            match random.below(6) {
                0 => bytes[at] = random.below(256_u64) as u8,
                1 => drop(bytes.drain(at..end)),
                2 => {
                    let word = words[random.below(words.len())].bytes();
                    bytes.splice(at..at, word);
                }
                3 => {
                    let copy = bytes[at..end].to_vec();
                    let to = random.below(bytes.len());
                    bytes.splice(to..to, copy);
                }
                // Swapping two words often keeps parentheses balanced.
                4 => {
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    let mut parts: Vec<&str> = text.split(' ').collect();
                    let (a, b) = (random.below(parts.len()), random.below(parts.len()));
                    parts.swap(a, b);
                    bytes = parts.join(" ").into_bytes();
                }
                _ => bytes[at] = b"()|\"; x1#:."[random.below(11)],
            }
            if bytes.is_empty() {
                bytes.push(b'(');
            }
        }
        match parse_bytes(&bytes, Rc::new(TermStore::new())) {
            Ok(problem) => {
                read += 1;
                let (system, _) = normalize(&problem);
                assert_eq!(system.check(), Ok(()));
                if let Err(error) = reads_back(&system) {
                    panic!("round {round}: {error}\n{}", problem.text);
                }
                let text = to_smtlib(&system);
                let spent = Context::new(system.terms.clone())
                    .budget
                    .work(Duration::ZERO);
                if let TextCheck::Malformed(message) = valid_assertions(&text, &spent) {
                    panic!("round {round}: Z3 refuses: {message}\n{text}");
                }
            }
            Err(_) => refused += 1,
        }
    }
    assert!(
        read > 500 && refused > 500,
        "{read} read, {refused} refused"
    );
}

#[test]
fn noise_is_survived() {
    let mut random = Random::new(4);
    let words = [
        "(",
        ")",
        "(",
        ")",
        "(",
        ")",
        "(assert ",
        "(forall ((x Int)) ",
        "(declare-fun p (Int) Bool)",
        "(=> ",
        "p ",
        "x ",
        "1 ",
        "-1 ",
        "|a b| ",
        "|",
        "\"",
        ";",
        "\n",
        ":k ",
        "#x",
        "#b1 ",
        "let ",
        "(let ((y ",
        "exists ",
        "_ ",
        "as ",
        "! ",
        "par ",
        "match ",
        "and ",
        "true ",
        "(= ",
        "+ ",
        "(check-sat)",
        "(push 1)",
        "(pop 1)",
        "declare-datatypes ",
        "((T 0)) ",
        "define-fun ",
        "Int ",
        "(rule ",
        "(query ",
        "declare-rel ",
        "declare-var ",
        "é",
        "\0",
        "\r",
        "9999999999999999999 ",
        "0.5 ",
        "(_ BitVec 8) ",
        "(Array Int Int) ",
        "select ",
        "store ",
    ];
    for round in 0..10_000 {
        let length = random.below(60);
        let bytes: Vec<u8> = match round % 3 {
            0 => (0..length).map(|_| random.below(256_u64) as u8).collect(),
            1 => (0..length)
                .map(|_| (random.below(0x60)) as u8 + 0x20)
                .collect(),
            _ => (0..length)
                .flat_map(|_| words[random.below(words.len())].bytes())
                .collect(),
        };
        match parse_bytes(&bytes, Rc::new(TermStore::new())) {
            Ok(problem) => assert_eq!(normalize(&problem).0.check(), Ok(())),
            Err(error) => {
                let lines = bytes.iter().filter(|&&b| b == b'\n').count() + 1;
                assert!(error.line >= 1 && error.line as usize <= lines, "{error}");
                assert!(
                    error.column >= 1 && !error.message().contains('\n'),
                    "{error}"
                );
            }
        }
    }
}
