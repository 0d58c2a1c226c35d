//! Our reader against smt2parser, whose grammar is the reference: both accept and refuse the same
//! texts, find the same structure in them, and report the same tokens. Intended differences are
//! listed here.

// Helpers of tests.
#![allow(clippy::unwrap_used)]

#[path = "common/asked.rs"]
mod asked;

use std::path::{Path, PathBuf};
use std::rc::Rc;

use alphorn::chc::to_smtlib;
use alphorn::frontend::{InputError, Problem, parse};
use alphorn::term::TermStore;
use alphorn_term::Random;
use alphorn_transform::normalize;
use asked::asked;
use smt2parser::CommandStream;
use smt2parser::concrete::{
    Command, Constant, Error, QualIdentifier, Sort, Symbol, SyntaxBuilder, Term,
};
use smt2parser::visitors::{DatatypeDec, Identifier, Index};

fn read(text: &str) -> Result<Problem, InputError> {
    parse(&asked(text), Rc::new(TermStore::new()))
}

/// The commands of a text as smt2parser reads them.
fn record(text: &str) -> Result<Vec<Command>, Option<Error>> {
    let mut rest = text.as_bytes();
    let commands = CommandStream::new(&mut rest, SyntaxBuilder, None);
    let commands = commands.collect::<Result<Vec<_>, _>>().map_err(Some)?;
    // smt2parser ends at bytes that do not begin a token.
    if rest.iter().all(u8::is_ascii_whitespace) {
        Ok(commands)
    } else {
        Err(None)
    }
}

fn is_syntactic(error: &InputError) -> bool {
    error.is_syntax_error()
}

// ---- smt2parser's structure as text ----

// smt2parser's own printing drops digits of decimals and bars of symbols.

fn list<T>(items: &[T], show: impl Fn(&T) -> String) -> String {
    let items: Vec<String> = items.iter().map(show).collect();
    format!("({})", items.join(" "))
}

fn symbol(symbol: &Symbol) -> String {
    format!("|{}|", symbol.0)
}

fn identifier(identifier: &Identifier) -> String {
    let index = |index: &Index| match index {
        Index::Numeral(value) => value.to_string(),
        Index::Symbol(name) => symbol(name),
    };
    match identifier {
        Identifier::Simple { symbol: name } => symbol(name),
        Identifier::Indexed {
            symbol: name,
            indices,
        } => format!("(_ {} {}", symbol(name), &list(indices, index)[1..]),
    }
}

fn sort(term: &Sort) -> String {
    match term {
        Sort::Simple { identifier: name } => identifier(name),
        Sort::Parameterized {
            identifier: name,
            parameters,
        } => format!("({} {}", identifier(name), &list(parameters, sort)[1..]),
    }
}

fn name(name: &QualIdentifier) -> String {
    match name {
        QualIdentifier::Simple { identifier: name } => identifier(name),
        QualIdentifier::Sorted {
            identifier: name,
            sort: of,
        } => format!("(as {} {})", identifier(name), sort(of)),
    }
}

fn variable((name, of): &(Symbol, Sort)) -> String {
    format!("({} {})", symbol(name), sort(of))
}

fn constant(constant: &Constant) -> String {
    match constant {
        Constant::Numeral(value) => value.to_string(),
        Constant::Decimal(value) => format!("(/ {}.0 {}.0)", value.numer(), value.denom()),
        Constant::Hexadecimal(digits) => {
            let digits = digits.iter().map(|digit| format!("{digit:x}"));
            format!("#x{}", digits.collect::<String>())
        }
        Constant::Binary(digits) => {
            let digits = digits.iter().map(|&digit| if digit { '1' } else { '0' });
            format!("#b{}", digits.collect::<String>())
        }
        Constant::String(text) => format!("\"{}\"", text.replace('"', "\"\"")),
    }
}

fn term(node: &Term) -> String {
    match node {
        Term::Constant(value) => constant(value),
        Term::QualIdentifier(of) => name(of),
        Term::Application {
            qual_identifier,
            arguments,
        } => format!("({} {}", name(qual_identifier), &list(arguments, term)[1..]),
        Term::Let {
            var_bindings,
            term: body,
        } => {
            let binding = |(name, of): &(Symbol, Term)| format!("({} {})", symbol(name), term(of));
            format!("(let {} {})", list(var_bindings, binding), term(body))
        }
        Term::Forall { vars, term: body } => {
            format!("(forall {} {})", list(vars, variable), term(body))
        }
        Term::Exists { vars, term: body } => {
            format!("(exists {} {})", list(vars, variable), term(body))
        }
        Term::Match { term: of, cases } => {
            let case = |(pattern, body): &(Vec<Symbol>, Term)| {
                let shown = match &pattern[..] {
                    [only] => symbol(only),
                    _ => list(pattern, symbol),
                };
                format!("({shown} {})", term(body))
            };
            format!("(match {} {})", term(of), list(cases, case))
        }
        Term::Attributes { term: of, .. } => term(of),
    }
}

fn datatype(declaration: &DatatypeDec) -> String {
    let constructors = list(&declaration.constructors, |constructor| {
        let selectors = list(&constructor.selectors, variable);
        format!("({} {}", symbol(&constructor.symbol), &selectors[1..])
    });
    match &declaration.parameters[..] {
        [] => constructors,
        parameters => format!("(par {} {constructors})", list(parameters, symbol)),
    }
}

/// A command as text; `None` for one without terms or sorts.
fn command(command: &Command) -> Option<String> {
    Some(match command {
        Command::Assert { term: of } => format!("(assert {})", term(of)),
        Command::DeclareConst {
            symbol: name,
            sort: of,
        } => {
            format!("(declare-const {} {})", symbol(name), sort(of))
        }
        Command::DeclareFun {
            symbol: name,
            parameters,
            sort: of,
        } => {
            let parameters = list(parameters, sort);
            format!("(declare-fun {} {parameters} {})", symbol(name), sort(of))
        }
        Command::DefineFun { sig, term: body } => {
            let (name, parameters) = (symbol(&sig.name), list(&sig.parameters, variable));
            let (result, body) = (sort(&sig.result), term(body));
            format!("(define-fun {name} {parameters} {result} {body})")
        }
        Command::DefineSort {
            symbol: name,
            parameters,
            sort: of,
        } => {
            let parameters = list(parameters, symbol);
            format!("(define-sort {} {parameters} {})", symbol(name), sort(of))
        }
        Command::DeclareDatatype {
            symbol: name,
            datatype: of,
        } => format!("(declare-datatype {} {})", symbol(name), datatype(of)),
        Command::DeclareDatatypes { datatypes } => {
            let names = list(datatypes, |d| format!("({} {})", symbol(&d.0), d.1));
            format!(
                "(declare-datatypes {names} {})",
                list(datatypes, |d| datatype(&d.2))
            )
        }
        _ => return None,
    })
}

// ---- the corpus ----

/// The files of `horn-benchmarks/`.
fn corpus() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("horn-benchmarks");
    let entries = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        entries
            .map(|entry| entry.unwrap().path())
            .collect::<Vec<_>>()
    };
    let files = entries(&root)
        .into_iter()
        .flat_map(|family| entries(&family));
    files
        .filter(|file| file.extension().is_some_and(|e| e == "smt2"))
        .collect()
}

/// A command as smt2parser reads it, as text; an error if it refuses the command.
fn recorded(keyword: &str, text: &str) -> Result<String, Option<Error>> {
    // Commands of the fixedpoint dialect correspond to commands of the standard.
    let standard = match keyword {
        "rule" | "query" => "assert",
        "declare-var" => "declare-const",
        "declare-rel" => "declare-fun",
        _ => keyword,
    };
    let mut text = text.replacen(keyword, standard, 1);
    if keyword == "declare-rel" {
        text.insert_str(text.len() - 1, " Bool");
    }
    let shown = command(&record(&text)?[0]).unwrap_or(text);
    let shown = shown.replacen(standard, keyword, 1);
    match shown.strip_suffix(" |Bool|)") {
        Some(relation) if keyword == "declare-rel" => Ok(format!("{relation})")),
        _ => Ok(shown),
    }
}

/// The content of a problem in a form that can be compared.
fn meaning(problem: &Problem) -> String {
    let numbers = problem.clauses.iter().map(|c| (c.command, c.number));
    let numbers: Vec<_> = numbers.collect();
    // Variables are numbered by their first occurrence.
    let text = to_smtlib(&normalize(problem).0);
    let mut pieces = text.split('!');
    let mut seen: Vec<&str> = Vec::new();
    let mut renamed = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let digits = piece.find(|c: char| !c.is_ascii_digit());
        let (number, rest) = piece.split_at(digits.unwrap_or(piece.len()));
        let known = seen.iter().position(|&s| s == number);
        let index = known.unwrap_or_else(|| {
            seen.push(number);
            seen.len() - 1
        });
        renamed.push_str(&format!("!{index}{rest}"));
    }
    format!("{renamed}{numbers:?}")
}

#[test]
fn the_corpus_has_the_same_structure() {
    // Terms of smt2parser are dropped recursively.
    let thread = std::thread::Builder::new().stack_size(256 << 20);
    thread.spawn(compare_corpus).unwrap().join().unwrap();
}

fn compare_corpus() {
    let (mut compared, mut beyond) = (0, 0);
    for file in corpus() {
        let text = std::fs::read_to_string(&file).unwrap();
        let file = file.display();
        let problem = read(&text).unwrap_or_else(|e| panic!("{file}: {e}"));
        let mut again = String::new();
        for span in &problem.commands {
            let source = &text[span.range.clone()];
            match recorded(&span.keyword, source) {
                Ok(shown) => {
                    compared += 1;
                    again.push_str(&shown);
                }
                // Names of rules, declarations of heaps, and the extensions in the test `extensions`.
                Err(_) => {
                    beyond += 1;
                    again.push_str(source);
                }
            }
        }
        let other = read(&again).unwrap_or_else(|e| panic!("{file}: {e}\n{again}"));
        assert_eq!(meaning(&problem), meaning(&other), "{file}");
    }
    assert!(
        compared > 3000 && beyond < 60,
        "{compared}, {beyond} beyond"
    );
}

// ---- hand-written cases ----

/// Declarations for the terms below, all of them standard.
const CONTEXT: &str = "(declare-datatypes ((L 1)) ((par (T) ((nil) (cons (hd T) (tl (L T)))))))
(declare-datatype E ((A) (B (f Real))))
(declare-fun p (Int (L Int)) Bool)
(declare-fun q () Bool)
(declare-const r Bool)
(define-sort W (T) (Array T (_ BitVec 8)))
(define-fun m ((x Int)) Int (+ x 1))
";

#[test]
fn terms() {
    for (term, accepted) in [
        ("q", true),
        ("|q|", true),
        ("(q)", false),
        ("((q))", false),
        ("()", false),
        ("q q", false),
        ("", false),
        ("(p 1 nil)", true),
        ("(p (m 1) (as nil (L Int)))", true),
        ("(p 1 (as nil))", false),
        ("(p 1 (as nil (L Int) (L Int)))", false),
        ("(p 1 ((as cons (L Int)) 1 nil))", true),
        ("(p 1 ((as cons (L Int))))", false),
        ("(p 1 (as (nil) (L Int)))", false),
        ("(let ((x 1)) (p x nil))", true),
        ("(let ((x 1) (y 2)) (p x nil))", true),
        ("(let (x 1) (p x nil))", false),
        ("(let ((x)) q)", false),
        ("(let ((x 1 2)) q)", false),
        ("(let ((1 x)) q)", false),
        ("(let ((x 1)))", false),
        ("(let ((x 1)) q q)", false),
        ("(let x q)", false),
        ("(let)", false),
        ("let", false),
        ("|let|", true),
        ("(forall ((x Int) (l (L Int))) (p x l))", true),
        ("(forall ((x)) q)", false),
        ("(forall (x Int) q)", false),
        ("(forall ((x Int Int)) q)", false),
        ("(forall ((x Int)))", false),
        ("(forall ((x 1)) q)", false),
        ("(forall ((x ())) q)", false),
        ("(forall ((x (_ BitVec 8))) q)", true),
        ("(forall ((x (_ BitVec))) q)", false),
        ("(forall ((x (_ BitVec (8)))) q)", false),
        ("(forall ((x (W Int))) q)", true),
        ("(forall ((x (let Int))) q)", false),
        ("(not (exists ((x Int)) (p x nil)))", true),
        ("(exists)", false),
        ("(=> ((_ is B) (B 1.5)) q)", true),
        ("(=> ((_ is) (B 1.5)) q)", false),
        ("(=> ((_ 1 is) A) q)", false),
        ("(=> (_ q) q)", false),
        ("(=> (= ((_ extract 3 0) #xab) #b1011) q)", true),
        ("(=> (= ((_ extract 3 #x0) #xab) #b1011) q)", false),
        ("(=> (= (_ bv3 8) #x03) q)", true),
        ("(=> (match A ((A true) ((B x) (> x 1.0)))) q)", true),
        ("(=> (match A ((A true) (x true))) q)", true),
        ("(=> (match A (((A) true) ((B x) (> x 1.0)))) q)", true),
        ("(=> (match A ()) q)", false),
        ("(=> (match A) q)", false),
        ("(=> (match A ((A))) q)", false),
        ("(=> (match A ((A true true))) q)", false),
        ("(=> (match A ((() true))) q)", false),
        ("(=> (match A (((B (x)) true))) q)", false),
        ("(=> (match A ((A true)) (A true)) q)", false),
        ("(! q :named a)", true),
        (
            "(! q :named a :pattern ((p 1 nil) x) :weight 5 :skip)",
            true,
        ),
        ("(! q named)", false),
        ("(! q :named a b)", false),
        ("(!)", false),
        ("(! :named)", false),
        ("(par q)", false),
        ("(as q)", false),
        (":named", false),
        ("(:named q)", false),
        ("(1 2)", false),
        ("(\"p\" 1)", false),
        ("(=> (= \"a\"\"b\" \"a\") q)", true),
        ("_", false),
        ("!", false),
        ("(and q", false),
        ("(and q))", false),
        ("(and q |r)", false),
        ("(and q \"r)", false),
        ("(and q #b2)", false),
        ("(and q # r)", false),
        ("(and q 'r)", false),
        ("(and q ; r)\n r)", true),
        ("(=> (> 1.5 0.0) q)", true),
    ] {
        let text = format!("{CONTEXT}(assert {term})");
        assert_eq!(record(&text).is_ok(), accepted, "smt2parser: {term}");
        match read(&text) {
            Ok(_) => assert!(accepted, "{term}"),
            Err(error) => assert_eq!(is_syntactic(&error), !accepted, "{term}: {error}"),
        }
    }
}

#[test]
fn commands() {
    for (text, accepted) in [
        ("(declare-fun p () Bool)", true),
        ("(declare-fun p Bool)", false),
        ("(declare-fun p ())", false),
        ("(declare-fun p () Bool Bool)", false),
        ("(declare-fun (p) () Bool)", false),
        ("(declare-fun 1 () Bool)", false),
        ("(declare-fun let () Bool)", false),
        ("(declare-fun |let| () Bool)", true),
        ("(declare-const p Bool)", true),
        ("(declare-const p () Bool)", false),
        ("(declare-const p)", false),
        ("(define-fun f ((x Int)) Int x)", true),
        ("(define-fun f () Int 1)", true),
        ("(define-fun f (x Int) Int x)", false),
        ("(define-fun f ((x Int)) Int)", false),
        ("(define-fun f ((x Int)) Int x x)", false),
        ("(define-sort S () Int)", true),
        ("(define-sort S (A B) (Array A B))", true),
        ("(define-sort S ((A)) Int)", false),
        ("(define-sort S Int)", false),
        ("(define-sort S () Int Int)", false),
        ("(declare-datatype S ((a) (b (c Int) (d S))))", true),
        ("(declare-datatype S (par (T) ((a) (b (c T)))))", true),
        ("(declare-datatype S ())", false),
        ("(declare-datatype S (()))", false),
        ("(declare-datatype S ((a (b))))", false),
        ("(declare-datatype S ((a (b Int Int))))", false),
        ("(declare-datatype S ((a b)))", false),
        ("(declare-datatype S (par (T)))", false),
        ("(declare-datatype S (par ((T)) ((a))))", false),
        ("(declare-datatype S (par (T) ((a)) ((b))))", false),
        ("(declare-datatype S)", false),
        ("(declare-datatype S ((a)) ((b)))", false),
        (
            "(declare-datatypes ((S 0) (T 1)) (((a)) (par (X) ((b (c X))))))",
            true,
        ),
        ("(declare-datatypes ((S 0)) (((a)) ((b))))", false),
        ("(declare-datatypes ((S 0) (T 0)) (((a))))", false),
        ("(declare-datatypes ((S)) (((a))))", false),
        ("(declare-datatypes ((S x)) (((a))))", false),
        ("(declare-datatypes ((S 0 0)) (((a))))", false),
        ("(declare-datatypes ((S 0)))", false),
        ("(declare-datatypes ((S 0)) ())", false),
        ("(declare-datatypes ((S 0)) (((a))) ())", false),
        ("(assert true)", true),
        ("(assert)", false),
        ("(assert true true)", false),
        ("assert", false),
        ("()", false),
        ("((assert true))", false),
        ("(push 1)(pop 1)", true),
        ("(push x)", false),
        ("(frob)", false),
    ] {
        assert_eq!(record(text).is_ok(), accepted, "smt2parser: {text}");
        match read(text) {
            Ok(_) => assert!(accepted, "{text}"),
            Err(error) => assert!(!accepted && is_syntactic(&error), "{text}: {error}"),
        }
    }
}

#[test]
fn both_object_to_the_same_token() {
    for text in [
        "(assert\n (and true\n  (let x true)))",
        "(assert\n (and true (forall ((x Int) y) true)))",
        "(assert ((x) true))",
        "(assert (and true (_ x (1))))",
        "(assert (as x 1))",
        "(assert true\n false)",
        "(assert (not (not)))",
        "(declare-fun p Int Bool)",
        "(declare-fun p (Int) )",
        "(define-fun f ((x Int)) Int x\n y)",
        "(declare-datatype S (par (T) ((a)) b))",
        "(declare-datatypes ((S 0)) (((a (b Int 1)))))",
    ] {
        let Err(Some(Error::SyntaxError(place, _))) = record(text) else {
            panic!("smt2parser reads {text}");
        };
        let Err(error) = read(text) else {
            panic!("{text} is read");
        };
        // smt2parser reports the end of a token; these have one character, except for the last one.
        let line = text.lines().nth(error.line as usize - 1).unwrap();
        let rest = &line[error.column as usize - 1..];
        let length = rest
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(rest.len());
        let end = error.column as usize + length.max(1);
        let found = (error.line as usize, end);
        assert_eq!(
            found,
            (place.line, place.column),
            "{text}\n{error}\n{place}"
        );
    }
}

/// Texts beyond the standard, or beyond smt2parser's part of it, that our reader accepts.
#[test]
fn extensions() {
    for text in [
        "(assert (= 1 007))",
        "(assert (! true))",
        "(assert (forall () true))",
        "(assert (let () true))",
        "(assert\u{c}true)",
        "(declare-fun assert () Bool)(assert assert)",
        "(assert (! true :pattern ((f let))))",
        "(define-const c Int 1)",
        "(declare-datatype S (a (b (c Int))))",
        "(declare-datatype S (par () ((a))))",
        "(declare-datatypes () ((S a (b (c S)))))",
        "(declare-datatype S ((a) (b (c Int))))(assert (match a ((a true) ((b _) true))))",
        "(declare-datatype S ((a) (b (c Int))))(assert (match (b 1) ((a true) (_ true))))",
        "(declare-datatype S ((a)))(assert ((_ is (a () S)) a))",
        "(push)(pop)",
        "(declare-rel p (Int) interval_relation)(rule (p 1) first)(query p :print-answer true)",
        "(declare-var x Int)(declare-rel p (Int))(rule (p x))(query p)",
        "(declare-datatypes (T) ((S a (b (c T) (d S)))))",
        "(assert (=> (> 1. 0.0) true))",
        "(get-objectives)",
        "(simplify (+ 1 2))",
        "(assert true)(check-sat-using (then simplify smt))",
        "(assert (forall ((x (Int))) true))",
        "(assert true)(check-sat)(frob)",
        "(assert true)(check-sat)(assert)",
        "(assert true)(check-sat)(exit)(",
    ] {
        assert!(record(text).is_err(), "smt2parser: {text}");
        assert!(read(text).is_ok(), "{text}: {:?}", read(text).err());
    }
}

/// Texts beyond the standard that smt2parser accepts and our reader does not: tokens without a
/// separator, and a backslash in a quoted symbol.
#[test]
fn restrictions() {
    for text in [
        "(declare-fun p (Int Int) Bool)(assert (p 1 2x))",
        "(declare-fun |a\\b| () Bool)",
        "(assert (= #xfg #xf))",
        "(assert (! true :))",
    ] {
        assert!(record(text).is_ok(), "smt2parser: {text}");
        let error = read(text).err().unwrap();
        assert!(is_syntactic(&error), "{text}: {error}");
    }
}

// ---- mutated texts ----

/// Clauses over [`CONTEXT`] with blanks around all tokens; one of them is mutated at a time.
const CLAUSES: [&str; 4] = [
    "( forall ( ( x Int ) ( l ( L Int ) ) ) ( => ( let ( ( y ( + x 1 ) ) ( z ( cons x l ) ) ) \
     ( and q ( p y z ) ( > x 2 ) ) ) ( p x l ) ) )",
    "( not ( exists ( ( e E ) ( a ( W Int ) ) ) ( and r ( ( _ is B ) e ) \
     ( = ( select a 1 ) ( _ bv3 8 ) ) ( match e ( ( A true ) ( ( B g ) ( = g 1.5 ) ) ) ) ) ) )",
    "( ! ( forall ( ( x Int ) ) ( or ( not ( p x ( as nil ( L Int ) ) ) ) \
     ( = x ( * 2 ( m x ) ) ) ) ) :named a :weight 5 )",
    "( => ( = ( ( _ extract 3 0 ) #xab ) ( bvadd #b0001 #xa ) ) \
     ( p 1 ( ( as cons ( L Int ) ) 1 nil ) ) )",
];

/// Substrings of texts that our reader accepts on purpose and smt2parser refuses, see [`extensions`].
const EXTENSIONS: [&str; 6] = [
    "forall ( )",
    "exists ( )",
    "let ( )",
    "_ )",
    // Values of attributes may contain reserved words.
    ":named (",
    ":weight (",
];

#[test]
fn mutated_texts() {
    let words: Vec<&str> = CLAUSES.iter().flat_map(|c| c.split_whitespace()).collect();
    let more = [
        "let",
        "par",
        ":k",
        "\"s\"",
        "7",
        "()",
        "( x )",
        "( ! q :named b )",
        "|x|",
        "as",
    ];
    let mut random = Random::new(5);
    let mut counts = [0; 4];
    for _ in 0..6_000 {
        let clause = CLAUSES[random.below(CLAUSES.len())];
        let mut tokens: Vec<&str> = clause.split_whitespace().collect();
        for _ in 0..1 + random.below(2) {
            let (a, b) = (random.below(tokens.len()), random.below(tokens.len()));
            match random.below(5) {
                0 => tokens.swap(a, b),
                1 => drop(tokens.remove(a)),
                2 => tokens.insert(a, words[random.below(words.len())]),
                3 => tokens[a] = words[random.below(words.len())],
                _ => tokens[a] = more[random.below(more.len())],
            }
        }
        let text = tokens.join(" ");
        let whole = format!("{CONTEXT}( assert {text} )");
        let recorded = record(&whole).is_ok();
        match read(&whole) {
            Ok(_) if recorded => counts[0] += 1,
            Ok(_) if EXTENSIONS.iter().any(|e| text.contains(e)) => counts[1] += 1,
            Ok(_) => panic!("only we read {text}"),
            Err(error) if recorded => {
                assert!(
                    !is_syntactic(&error),
                    "only smt2parser reads {text}: {error}"
                );
                counts[2] += 1;
            }
            Err(_) => counts[3] += 1,
        }
    }
    let [both, extended, senseless, neither] = counts;
    let enough = both > 100 && extended < 50 && senseless > 200 && neither > 1000;
    assert!(enough, "{counts:?}");
}
