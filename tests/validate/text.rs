//! What the checked text changes in the user's: names that Z3 has, and what readers of SMT-LIB do
//! not agree on. Both answers pass in each form, and none with a token of the text changed.

use super::*;

/// A counter from 0, for texts that differ in what counts. `LIMIT` is 10 in a satisfiable text, and
/// 3 in one that is not.
const COUNTER: &str = "(declare-fun NAME (Int) Bool)
    (assert (NAME 0))
    (assert (forall ((x Int)) (=> (and (NAME x) (< x 5)) (NAME (+ x 1)))))
    (assert (forall ((x Int)) (=> (NAME x) (< x LIMIT))))";

/// The same with a sort, which has one constructor and one selector.
const BOXED: &str = "(declare-datatypes ((SORT 0)) (((MAKE (GET Int)))))
    (declare-fun P (SORT) Bool)
    (assert (P (MAKE 0)))
    (assert (forall ((x SORT)) (=> (and (P x) (< (GET x) 5)) (P (MAKE (+ (GET x) 1))))))
    (assert (forall ((x SORT)) (=> (and (P x) ((_ is MAKE) x)) (< (GET x) LIMIT))))";

/// Checks both answers about a text.
#[track_caller]
fn both_answers(text: &str) {
    assert!(text.contains("LIMIT"), "{text}");
    let texts = ["10", "3"].map(|limit| text.replace("LIMIT", limit));
    let problems = texts.each_ref().map(|text| read(text));
    // Among rules `sat` says that the query is reachable.
    let words = match text.contains("(query") {
        true => ["unsat", "sat"],
        false => ["sat", "unsat"],
    };
    for (own, word) in words.into_iter().enumerate() {
        let (problem, other) = (&problems[own], &problems[1 - own]);
        count_defects();
        let mut cx = context(problem);
        let answer = solve(problem, &Config::default(), &mut cx).expect("a configuration");
        assert_eq!(DEFECTS.get(), 0, "{}", texts[own]);
        assert_eq!(cx.stats.count("witness.lost"), 0, "{}", texts[own]);
        let formats = [ProofFormat::Text, ProofFormat::Json];
        for format in formats {
            let wanted = Wanted {
                model: true,
                proof: Some(format),
                ..Wanted::default()
            };
            let output = answer.output(problem, wanted);
            assert_eq!(output.word(), word, "{:?} {}", answer.reason(), texts[own]);
            let witness = format!("{word}\n{}", output.details());
            let outcome = judge(problem, &witness);
            assert_eq!(
                outcome,
                Some(CheckOutcome::Valid),
                "{witness} {}",
                texts[own]
            );
            // Another limit in the text, which is the only difference.
            let outcome = judge(other, &witness);
            assert!(
                matches!(outcome, None | Some(CheckOutcome::Invalid(_))),
                "{outcome:?} {witness} {}",
                texts[1 - own]
            );
        }
        let certificate = answer.certificate(problem, &cx.budget);
        assert!(certificate.is_ok(), "{certificate:?} {}", texts[own]);
    }
}

#[test]
fn reserved_words_in_bars() {
    for name in ["let", "exists", "forall", "match", "_", "as", "!", "par"] {
        both_answers(&COUNTER.replace("NAME", &format!("|{name}|")));
    }
    both_answers(
        &BOXED
            .replace("SORT", "|as|")
            .replace("MAKE", "|let|")
            .replace("GET", "|!|"),
    );
    both_answers(
        &COUNTER
            .replace("NAME", "P")
            .replace("(x Int)", "(|let| Int)")
            .replace(" x", " |let|"),
    );
}

#[test]
fn predicates_with_names_of_operations() {
    for name in [
        "abs",
        "is_int",
        "divisible",
        "lambda",
        "choice",
        "root-obj",
        "pi",
        "e",
        "seq.unit",
        "-5",
        "str.len",
        "equals",
        "iff",
        "union",
        "re.all",
        "|1|",
        "max",
        "map",
        "is-nil",
    ] {
        both_answers(&COUNTER.replace("NAME", name));
    }
    // Two arguments, as the operation has; the model uses the operation itself.
    for name in ["mod", "div", "select", "set.in"] {
        both_answers(
            &"(declare-fun NAME (Int Int) Bool)
              (assert (NAME 0 7))
              (assert (forall ((x Int) (y Int)) (=> (and (NAME x y) (< x 6)) (NAME (+ x 2) y))))
              (assert (forall ((x Int) (y Int)) (=> (and (NAME x y) (= y 7)) (< x LIMIT))))"
                .replace("NAME", name),
        );
    }
}

#[test]
fn sorts_and_constructors_with_names_of_z3() {
    for sort in [
        "bool",
        "Set",
        "Seq",
        "Unicode",
        "List",
        "Char",
        "RegEx",
        "String",
        "FiniteSet",
        "int",
        "real",
        "RegLan",
        "RoundingMode",
        "Float32",
        "bv",
        "Proof",
    ] {
        both_answers(
            &BOXED
                .replace("SORT", sort)
                .replace("MAKE", "box")
                .replace("GET", "value"),
        );
        // Declared only.
        both_answers(&format!(
            "(declare-datatypes (({sort} 0)) (((one) (two)))) {}",
            COUNTER.replace("NAME", "P")
        ));
    }
    for (make, get) in [
        ("insert", "head"),
        ("seq.unit", "seq.len"),
        ("set.singleton", "abs"),
        ("const", "default"),
        ("char.is_digit", "char.to_int"),
        ("union", "subset"),
    ] {
        both_answers(
            &BOXED
                .replace("SORT", "Box")
                .replace("MAKE", make)
                .replace("GET", get),
        );
    }
    // The tester of a constructor that gets another name.
    both_answers(
        &BOXED
            .replace("SORT", "Box")
            .replace("MAKE", "seq.unit")
            .replace("GET", "value")
            .replace("(_ is seq.unit)", "is-seq.unit"),
    );
}

/// A datatype with names of the core, which some generators declare and do not use.
#[test]
fn an_unused_datatype_with_true_and_false() {
    let bool = "(declare-datatype bool ((true) (false)))";
    both_answers(&format!(
        "{bool} {}",
        COUNTER.replace("NAME", "P").replace("(= x 0)", "true")
    ));
    for (text, place) in [
        (
            format!("{bool} (declare-fun P (bool) Bool) (assert (forall ((b bool)) (P b)))"),
            "`bool`",
        ),
        (
            "(declare-datatypes ((A 0) (B 0)) (((a)) ((true)))) (assert true)".to_owned(),
            "`true`",
        ),
    ] {
        let text = asked(&text);
        let error = parse_bytes(text.as_bytes(), Rc::new(TermStore::new())).err();
        let message = error.map(|e| e.to_string()).unwrap_or_default();
        assert!(
            message.contains(place) && message.contains("built in"),
            "{message}"
        );
    }
}

#[test]
fn what_readers_do_not_agree_on() {
    let counter = COUNTER.replace("NAME", "P");
    for (from, to) in [
        ("(P (+ x 1))", "(! (P (+ x 1)) :named a)"),
        ("(< x LIMIT)", "(! (< x LIMIT) :named a :foo)"),
        (
            "(assert (P 0))",
            "(assert (! (P 0) :named |x y| :weight 3))",
        ),
        (
            "(assert (P 0))",
            "(assert (forall () (=> (exists () true) (P 0))))",
        ),
        ("(Int) Bool", "((Int)) (Bool)"),
        ("((x Int))", "((x (Int)))"),
        ("(< x LIMIT)", "(or (not ((_ divisible 5) x)) (< x LIMIT))"),
        ("(P 0)", "(P (ite ((_ divisible 4) (- 8)) 0 1))"),
        (
            "(=> (P x)",
            "(=> (! (and (P x) (forall ((y Int)) (! (<= y y) :pattern ((+ y 1))))) :named b)",
        ),
    ] {
        let changed = counter.replace(from, to);
        assert_ne!(changed, counter, "{from}");
        both_answers(&changed);
    }
}

/// A variable may have the name of a function: without arguments it is the variable.
#[test]
fn variables_with_names_of_functions() {
    both_answers(&COUNTER.replace("NAME", "P").replace("x", "P"));
    both_answers(
        &COUNTER
            .replace("NAME", "P")
            .replace("(x Int)", "(mod Int)")
            .replace(" x", " mod")
            .replace("(< mod 5)", "(< (mod mod 7) 5)"),
    );
    let boxed = BOXED
        .replace("SORT", "S")
        .replace("MAKE", "make")
        .replace("GET", "get");
    both_answers(&boxed.replace("(x S)", "(get S)").replace(" x)", " get)"));
    both_answers(&boxed.replace("(x S)", "(make S)").replace(" x)", " make)"));
    both_answers(&boxed.replace("(x S)", "(S S)").replace(" x)", " S)"));
}

/// Z3's own lists, which are not declared.
#[test]
fn lists_of_z3() {
    both_answers(
        "(declare-fun P ((List Int)) Bool)
         (assert (P nil))
         (assert (forall ((l (List Int)) (n Int)) (=> (and (P l) (<= 0 n) (< n 5)) (P (insert n l)))))
         (assert (forall ((l (List Int))) (=> (and (P l) (is-insert l)) (< (head l) LIMIT))))",
    );
    let mine = "(declare-datatypes ((List 0)) (((nil) (cons (head Int) (tail List)))))
        (declare-fun insert (Int List) Bool)
        (assert (insert 0 nil))
        (assert (forall ((n Int) (l List)) (=> (and (insert n l) (< n 5)) (insert (+ n 1) (cons n l)))))
        (assert (forall ((n Int) (l List)) (=> (insert n l) (< n LIMIT))))";
    both_answers(mine);
}

/// The theory of heaps in each generation of its names, and among rules.
#[test]
fn heaps() {
    let older = "(declare-heap Heap Addr Obj dflt ((Obj 0)) (((OInt (getInt Int)) (OAddr (getAddr Addr)) (dflt))))
        (declare-fun P (Heap Addr) Bool)
        (assert (forall ((h Heap)) (=> (= h emptyHeap)
            (P (newHeap (alloc h (OInt 0))) (newAddr (alloc h (OInt 0)))))))
        (assert (forall ((h Heap) (a Addr) (n Int)) (=> (and (P h a) (= n (getInt (read h a))) (< n 5))
            (P (write h a (OInt (+ n 1))) a))))
        (assert (forall ((h Heap) (a Addr)) (=> (P h a)
            (and (valid h a) ((_ is OInt) (read h a)) (< (getInt (read h a)) LIMIT)))))";
    both_answers(older);
    let newer = older
        .replace("Heap Addr Obj", "Heap Addr Range Obj")
        .replace("emptyHeap", "(as heap.empty Heap)");
    let operations = ["alloc", "read", "write", "valid"];
    let mut newer = operations.iter().fold(newer, |text, operation| {
        text.replace(&format!("({operation} "), &format!("(heap.{operation} "))
    });
    for pair in [
        ["heapAddrPair_1", "heapAddrPair_2"],
        ["alloc_first", "alloc_second"],
    ] {
        let text = newer.replace("newHeap", &format!("heap.{}", pair[0]));
        newer = text.replace("newAddr", &format!("heap.{}", pair[1]));
        both_answers(&newer);
        newer = newer.replace(&format!("heap.{}", pair[0]), "newHeap");
        newer = newer.replace(&format!("heap.{}", pair[1]), "newAddr");
    }
    // Names of the user's own come first, and sorts have names of Z3.
    let named = older
        .replace("Heap", "Set")
        .replace("Obj", "Seq")
        .replace("(P ", "(seq.len ");
    both_answers(&format!(
        "(declare-fun within (Int) Bool) {}",
        named.replace("fun P", "fun seq.len")
    ));
    // A heap of which only the size is known, and objects with addresses.
    both_answers(
        "(declare-heap H A O (OA nullA) ((O 0)) (((OA (getA A)))))
         (declare-fun P (H A Int) Bool)
         (assert (forall ((h H) (a A)) (=> (and (= a nullA) (not (valid h (nthA 3))) (valid h (nthA 2))) (P h a 0))))
         (assert (forall ((h H) (a A) (n Int) (o O)) (=> (and (P h a n) (< n 5))
            (P (newH (alloc h o)) (newA (alloc h o)) (+ n 1)))))
         (assert (forall ((h H) (a A) (n Int)) (=> (and (P h a n) (< 0 n)) (and (valid h a) (< n LIMIT)))))",
    );
    both_answers(
        "(declare-heap Heap Addr Obj dflt ((Obj 0)) (((OInt (getInt Int)) (dflt))))
         (declare-rel P (Heap Int)) (declare-rel bad ())
         (declare-var h Heap) (declare-var n Int) (declare-var a Addr)
         (rule (P emptyHeap 0))
         (rule (=> (and (P h n) (< n 5)) (P (newHeap (alloc h (OInt n))) (+ n 1))))
         (rule (=> (and (P h n) (valid h (nthAddr LIMIT)) (= a (nthAddr LIMIT))) bad))
         (query bad)"
            .replace("LIMIT", "(ite (= LIMIT 3) 3 6)")
            .as_str(),
    );
}

/// Two variables of a step never have the same name as JSON.
#[test]
fn variables_of_json_are_unique() {
    let text = "(declare-fun P (Int Int) Bool) (declare-fun Q () Bool)
        (assert (forall ((x Int)) (=> (= x 1) (forall ((x!2 Int)) (=> (= x!2 8) (P x x!2))))))
        (assert (not (exists ((x Int) (x!2 Int)) (and (P x x!2) (exists ((x Int)) (P 1 (+ x 1)))
            (exists ((x Int)) (P x 8)) (not Q)))))
        (assert (not Q))";
    let problem = read(text);
    let answer = solved(&problem);
    let wanted = Wanted {
        proof: Some(ProofFormat::Json),
        ..Wanted::default()
    };
    let output = answer.output(&problem, wanted);
    assert_eq!(output.word(), "unsat");
    let json = output.details();
    for name in ["x", "x!2", "x!!2", "x!3"] {
        assert!(
            json.contains(&format!("\"variable\":\"{name}\"")),
            "{name} in {json}"
        );
    }
    assert_eq!(judge(&problem, json), Some(CheckOutcome::Valid));
    let wrong = json.replace("\"variable\":\"x!3\"", "\"variable\":\"x!4\"");
    assert_eq!(judge(&problem, &wrong), None);
}
