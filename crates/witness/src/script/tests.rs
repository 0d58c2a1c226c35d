use std::rc::Rc;

use super::surgery::{Part, Role, Surgeon, rewritten};
use super::{Changes, Predicates, defined, pieces};
use alphorn_chc::frontend::{Problem, parse};
use alphorn_term::TermStore;

/// Records symbols with their roles, and puts brackets around those of one role.
struct Roles<'t> {
    shown: Role,
    found: Vec<(Role, &'t str)>,
}

impl<'t> Surgeon<'t> for Roles<'t> {
    fn symbol(&mut self, role: Role, symbol: &'t str) -> Option<String> {
        self.found.push((role, symbol));
        (role == self.shown).then(|| format!("[{symbol}]"))
    }
}

fn shown(text: &str, part: Part, role: Role) -> String {
    let found = Vec::new();
    rewritten(text, part, &mut Roles { shown: role, found })
}

struct Nothing;

impl<'t> Surgeon<'t> for Nothing {
    fn symbol(&mut self, _: Role, _: &'t str) -> Option<String> {
        None
    }
}

/// Each assertion is in one block, and each block has all other commands.
#[test]
fn blocks_share_the_assertions() {
    let text = "(declare-fun P (Int) Bool) (assert (P 0)) (define-fun n () Int 3) (assert (P n))
        (assert (P 2)) (define-fun m () Int 4) (assert (P m)) (assert (P 5)) (check-sat)";
    let problem = parse(text, Rc::new(TermStore::new())).expect("a problem");
    let script = defined(&problem, "(define-fun P ((x Int)) Bool true)").expect("a script");
    for count in 1..8 {
        let blocks = script.blocks(count);
        assert!(blocks.len() <= count);
        let origins = blocks.iter().flat_map(|block| block.origins.clone());
        assert_eq!(origins.collect::<Vec<_>>(), script.origins);
        let mut formulas = Vec::new();
        for block in &blocks {
            for command in ["fun P", "fun n", "fun m"] {
                assert_eq!(block.text.matches(command).count(), 1, "{}", block.text);
            }
            let asserted = block
                .text
                .lines()
                .filter(|line| line.starts_with("(assert"));
            let before = formulas.len();
            formulas.extend(asserted.map(str::to_owned));
            assert_eq!(formulas.len() - before, block.origins.len());
        }
        let all = script
            .text
            .lines()
            .filter(|line| line.starts_with("(assert"));
        assert!(formulas.iter().eq(all));
    }
}

#[test]
fn what_readers_do_not_agree_on_gives_way() {
    for (text, expected) in [
        ("(! (P x) :named n)", "(P x)"),
        ("(and (! p :named |a )|) q)", "(and p q)"),
        ("(! (! p :a) :b (c (d)) :e \"f\")", "p"),
        (
            "(forall ((x Int)) (! (P x) :pattern ((P x)) :named n :weight 3))",
            "(forall ((x Int)) (! (P x) :pattern ((P x))))",
        ),
        (
            "(forall ((x Int)) (! (P x) :named n))",
            "(forall ((x Int)) (P x))",
        ),
        ("(forall () (=> p (exists () q)))", "(=> p q)"),
        ("(not (forall () p))", "(not p)"),
        (
            "(forall ((x (S)) (y (Array (Int) (S)))) ((_ divisible 3) (+ x 1)))",
            "(forall ((x S) (y (Array Int S))) (= 0 (mod (+ x 1) 3)))",
        ),
        (
            "((_ divisible 2) (! (let ((y (forall () 1))) y) :named n))",
            "(= 0 (mod (let ((y 1)) y) 2))",
        ),
        (
            "(match l (((cons h t) (! p :named n)) (nil (forall () q))))",
            "(match l (((cons h t) p) (nil q)))",
        ),
        // Neither an annotation nor a quantifier.
        ("(|!| p q)", "(|!| p q)"),
        (
            "(f (|forall| x) \"(! p :n m)\")",
            "(f (|forall| x) \"(! p :n m)\")",
        ),
        ("(P (f ; (! x :n m)\n x))", "(P (f ; (! x :n m)\n x))"),
    ] {
        assert_eq!(rewritten(text, Part::Term, &mut Nothing), expected);
        // Written again it stays.
        assert_eq!(rewritten(expected, Part::Term, &mut Nothing), expected);
    }
}

#[test]
fn symbols_have_roles() {
    let declarations = "(declare-datatypes ((L 1) (M 0)) ((par (T) ((nil) (cons (hd T) (tl (L T)))))\n\
         ((one) two (three (l (L M))))))\n\
         (declare-datatype N (zero (succ (pred N))))\n\
         (declare-datatypes () ((Old a (b (c Int) (d Old)))))\n\
         (define-sort Ints () (L Int))\n\
         (declare-fun P (Ints (_ BitVec 8)) Bool)\n\
         (declare-var x Ints)\n\
         (define-fun f ((y Ints)) Bool (P y #x00))\n\
         (define-funs-rec ((g ((z Int)) Int)) ((+ z (g z))))\n";
    for (role, expected) in [
        (Role::NewSort, "L M N Old Ints"),
        (Role::NewConstructor, "nil cons one two three zero succ a b"),
        (Role::NewSelector, "hd tl l pred c d"),
        (Role::NewFunction, "P f g"),
        (Role::Variable, "x y z"),
        (Role::Function, "P + g"),
        (Role::Constant, "y z z"),
        (
            Role::Sort,
            "T T L T L M N Int Old L Int Ints BitVec Bool Ints Ints Bool Int Int",
        ),
    ] {
        let mut roles = Roles {
            shown: role,
            found: Vec::new(),
        };
        rewritten(declarations, Part::Commands, &mut roles);
        let of_role = roles.found.into_iter().filter(|(r, _)| *r == role);
        let symbols: Vec<&str> = of_role.map(|(_, symbol)| symbol).collect();
        assert_eq!(symbols.join(" "), expected, "{role:?}");
    }
    let term =
        "(let ((a (f b)) (c d)) (match a (((cons h _) (as nil (L Int))) (z ((_ is cons) z)))))";
    for (role, expected) in [
        (
            Role::Variable,
            "(let (([a] (f b)) ([c] d)) (match a (((cons [h] _) (as nil (L Int))) (z ((_ is cons) z)))))",
        ),
        (
            Role::Function,
            "(let ((a ([f] b)) (c d)) (match a ((([cons] h _) (as [nil] (L Int))) (z ((_ is [cons]) z)))))",
        ),
        (
            Role::Constant,
            "(let ((a (f [b])) (c [d])) (match [a] (((cons h _) (as nil (L Int))) ([z] ((_ is cons) [z])))))",
        ),
    ] {
        assert_eq!(shown(term, Part::Term, role), expected);
    }
}

#[test]
fn what_is_no_text_is_copied() {
    for text in [
        "",
        "(",
        ")",
        "(!",
        "(! )",
        "(forall",
        "(forall ()",
        "(forall ())",
        "((_ divisible",
        "(()",
        "((_ divisible 3))",
        "(let",
        "(let (",
        "(let ((x",
        "(match x",
        "(declare-datatypes",
        "(declare-datatypes (",
        "(as",
        "(x))) (! y :named",
        "(|a",
        "\"",
        "(assert (! p :named))",
        "(forall ((x)) (! p :pattern))",
        "(declare-fun)",
        "(define-funs-rec (f) (g))",
    ] {
        for part in [Part::Commands, Part::Term, Part::Sort] {
            let new = rewritten(text, part, &mut Nothing);
            assert!(new.len() <= text.len() + 8, "{text} {new}");
        }
    }
}

#[test]
fn depth_costs_no_stack() {
    let depth = 200_000;
    let text = format!(
        "{}p{}",
        "(! (and ".repeat(depth),
        ") :named n)".repeat(depth)
    );
    let expected = format!("{}p{}", "(and ".repeat(depth), ")".repeat(depth));
    assert_eq!(rewritten(&text, Part::Term, &mut Nothing), expected);
}

fn read(text: &str) -> Problem {
    parse(&format!("{text} (check-sat)"), Rc::new(TermStore::new())).expect("a problem")
}

#[test]
fn names_of_z3_are_replaced_everywhere() {
    let problem = read(
        "(declare-datatypes ((bool 0)) (((nil) (insert (head Int) (min bool)))))
         (declare-fun |let| (bool) Bool) (declare-fun mod (Int Int) Bool)
         (declare-fun is-nil (Int) Bool)
         (assert (forall ((head bool) (mod Int)) (=> (and (|let| head) (is-insert head) (mod mod 1))
            (is-nil (head head)))))",
    );
    let definitions = "(define-fun mod ((x Int) (y Int)) Bool (= (mod x y) 0))
         (define-fun |let| ((x bool)) Bool (= x (as nil bool)))
         (define-fun is-nil ((x Int)) Bool (|let| nil))";
    let script = defined(&problem, definitions).expect("a script").text;
    let squeezed = script.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(
        squeezed,
        "(declare-datatypes ((bool! 0)) (((nil) (insert (head Int) (min! bool!))))) \
         (define-fun mod! ((x Int) (y Int)) Bool (= (mod x y) 0)) \
         (define-fun let! ((x bool!)) Bool (= x (as nil bool!))) \
         (define-fun is-nil! ((x Int)) Bool (let! nil)) \
         (assert (forall ((head! bool!) (mod!! Int)) \
         (=> (and (let! head!) (is-insert head!) (mod! mod!! 1)) (is-nil! (head head!)))))"
    );
    let changes = Changes::new(&problem, &[]);
    let names = changes.names();
    assert!(names.contains(&("let", "let!")) && names.contains(&("mod", "mod!!")));
    assert_eq!(changes.predicate("let"), "let!");
    assert_eq!(changes.variable("head"), "head!");
    assert_eq!(changes.sort("(Array Int bool)"), "(Array Int bool!)");
}

#[test]
fn new_names_are_new() {
    let problem =
        read("(declare-fun |let| (Int) Bool) (declare-fun let! (Int) Bool) (assert (let! 0))");
    let changes = Changes::new(&problem, &["(define-fun let!! () Bool true)"]);
    assert_eq!(changes.predicate("let"), "let!!!");
    assert_eq!(changes.predicate("let!"), "let!");
}

#[test]
fn texts_without_names_of_z3_stay() {
    let text =
        "(declare-fun |a b| (Int) Bool) ; why\n (assert (forall ((x Int)) (=> (= x 0) (|a b| x))))";
    let problem = read(text);
    let changes = Changes::new(&problem, &[]);
    let all = (0..problem.commands.len()).collect();
    let pieces = pieces(&problem, &changes, Predicates::Declared(&all)).expect("pieces");
    let shown = format!("{pieces:?}");
    assert!(
        shown.contains("(forall ((x Int)) (=> (= x 0) (|a b| x)))"),
        "{shown}"
    );
    assert!(changes.names().is_empty());
}

#[test]
fn labels_that_are_used_are_defined() {
    let problem =
        read("(declare-fun P (Int) Bool) (assert (! (P 0) :named c)) (assert (! (P 1) :named d))");
    let script = defined(&problem, "").expect("a script").text;
    assert!(!script.contains("define-fun"), "{script}");
}
