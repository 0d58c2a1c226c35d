//! Straight-line programs over heaps, run here and by the two readings of their text: the reader's
//! terms, and the definitions that Z3 gets.

use std::rc::Rc;
use std::time::Duration;

use super::HeapGuard;
use crate::script::{defined, defined_with};
use crate::text_check::{check_definitions, check_steps_in_text};
use crate::{CheckOutcome, Claim, Witness, check_claim, parse_witness};
use alphorn_chc::frontend::{Problem, parse};
use alphorn_term::run::{Budget, Context};
use alphorn_term::{Assignment, TermId, TermStore, evaluate};

/// The declaration of a heap in the older and in the newer form.
const OLDER: &str = "(declare-heap Heap Addr Obj dflt ((Obj 0) (pair 0))
    (((OInt (getInt Int)) (OAddr (getAddr Addr)) (OPair (getPair pair)) (dflt))
     ((pair (one Addr) (two Int)))))";
const NEWER: &str = "(declare-heap Heap Addr Range Obj (OInt 0) ((Obj 0) (pair 0))
    (((OInt (getInt Int)) (OAddr (getAddr Addr)) (OPair (getPair pair)) (ORange (getRange Range)))
     ((pair (one Addr) (two Int)))))";

fn read(text: &str) -> Problem {
    parse(&format!("{text} (check-sat)"), Rc::new(TermStore::new())).expect("a problem")
}

fn budget(problem: &Problem) -> Budget {
    Budget::new(problem.terms.clone(), Default::default(), false).work(Duration::from_secs(3))
}

/// Checks what a formula without predicates is, by the reader's terms and by Z3 on the text.
#[track_caller]
fn is(declaration: &str, formula: &str, expected: bool) {
    let problem = read(&format!("{declaration} (assert {formula})"));
    // The clauses say that the negation implies false.
    let values = problem.clauses.iter().map(|clause| {
        assert!(clause.body.is_empty() && clause.head.is_none());
        evaluate(&problem.terms, clause.constraint, &Assignment::default())
    });
    let values: Vec<Option<TermId>> = values.collect();
    let holds = values.iter().all(|value| *value == Some(TermId::FALSE));
    assert_eq!(holds, expected, "{values:?} for {formula}");
    let outcome = check_definitions(&problem, "", &budget(&problem));
    match expected {
        true => assert_eq!(outcome, CheckOutcome::Valid, "{formula}"),
        false => assert!(
            matches!(outcome, CheckOutcome::Invalid(_)),
            "{outcome:?} {formula}"
        ),
    }
}

/// Names of operations in the older and the newer form.
fn newer(text: &str) -> String {
    let mut text = text.to_owned();
    for (older, newer) in [
        ("emptyHeap", "(as heap.empty Heap)"),
        ("nullAddr", "(as heap.null Addr)"),
        ("(newHeap (alloc ", "(heap.alloc_first (heap.alloc "),
        ("(newAddr (alloc ", "(heap.heapAddrPair_2 (heap.alloc "),
        (
            "(newBatchHeap (batchAlloc ",
            "(heap.heapRangePair_1 (heap.allocRange ",
        ),
        (
            "(newAddrRange (batchAlloc ",
            "(heap.allocRange_second (heap.allocRange ",
        ),
        ("(batchWrite ", "(heap.writeRange "),
        ("(read ", "(heap.read "),
        ("(write ", "(heap.write "),
        ("(valid ", "(heap.valid "),
        ("(nthAddrRange ", "(heap.rangeNth "),
        ("(nthAddr ", "(heap.addr "),
        ("(within ", "(heap.rangeWithin "),
        ("(AddrRangeSize ", "(heap.rangeSize "),
        ("(AddrRangeStart ", "(heap.rangeStart "),
        ("(nextAddr ", "(heap.nextAddr "),
        ("dflt", "(OInt 0)"),
    ] {
        text = text.replace(older, newer);
    }
    text
}

/// Numbers that look random, the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

/// A program as nested `let`s, with facts about its heaps that hold.
fn program(numbers: &mut Numbers) -> (String, Vec<String>) {
    let default = "dflt".to_owned();
    let mut heaps: Vec<Vec<String>> = vec![Vec::new()];
    let mut lets = "(let ((h0 emptyHeap)) ".to_owned();
    let mut facts = Vec::new();
    for step in 1..=6 {
        let from = numbers.below(heaps.len());
        let mut cells = heaps[from].clone();
        let object = match numbers.below(3) {
            0 => format!("(OAddr (nthAddr {}))", numbers.below(4)),
            1 => format!("(OPair (pair (nthAddr {}) {step}))", 1 + numbers.below(3)),
            _ => format!("(OInt {})", numbers.below(9)),
        };
        let address = numbers.below(cells.len() + 2);
        let count = numbers.below(4);
        let term = match numbers.below(5) {
            0 | 1 => {
                cells.push(object.clone());
                let place = cells.len();
                facts.push(format!(
                    "(= (newAddr (alloc h{from} {object})) (nthAddr {place}))"
                ));
                format!("(newHeap (alloc h{from} {object}))")
            }
            2 => {
                if (1..=cells.len()).contains(&address) {
                    cells[address - 1] = object.clone();
                }
                format!("(write h{from} (nthAddr {address}) {object})")
            }
            3 => {
                let first = cells.len() + 1;
                cells.extend(std::iter::repeat_n(object.clone(), count));
                let range = format!("(newAddrRange (batchAlloc h{from} {object} {count}))");
                facts.push(format!("(= (AddrRangeSize {range}) {count})"));
                for nth in 0..count {
                    let place = first + nth;
                    facts.push(format!(
                        "(= (nthAddrRange {range} {nth}) (nthAddr {place}))"
                    ));
                    facts.push(format!("(within {range} (nthAddr {place}))"));
                }
                facts.push(format!("(= (nthAddrRange {range} {count}) nullAddr)"));
                let beyond = first + count;
                facts.push(format!("(not (within {range} (nthAddr {beyond})))"));
                format!("(newBatchHeap (batchAlloc h{from} {object} {count}))")
            }
            _ => {
                let first = cells.len() + 1;
                cells.extend(std::iter::repeat_n(default.clone(), count));
                let range = format!("(newAddrRange (batchAlloc h{from} {default} {count}))");
                let heap = format!("(newBatchHeap (batchAlloc h{from} {default} {count}))");
                if numbers.below(2) == 0 {
                    cells[first - 1..].fill(object.clone());
                    format!("(batchWrite {heap} {range} {object})")
                } else {
                    // Not all of the range is allocated, so nothing is written.
                    cells.truncate(first - 1);
                    format!("(batchWrite h{from} {range} {object})")
                }
            }
        };
        lets.push_str(&format!("(let ((h{step} {term})) "));
        heaps.push(cells);
    }
    for (at, cells) in heaps.iter().enumerate() {
        for place in 0..=cells.len() + 1 {
            let is_valid = (1..=cells.len()).contains(&place);
            let object = if is_valid {
                &cells[place - 1]
            } else {
                &default
            };
            facts.push(format!("(= (read h{at} (nthAddr {place})) {object})"));
            let not = if is_valid { "" } else { "not " };
            facts.push(format!(
                "({not}{}valid h{at} (nthAddr {place}))",
                if is_valid { "" } else { "(" }
            ));
            if !is_valid {
                let last = facts.len() - 1;
                facts[last].push(')');
            }
        }
        facts.push(format!(
            "(= (nextAddr h{at} 0) (nthAddr {}))",
            cells.len() + 1
        ));
        for (other, others) in heaps.iter().enumerate().take(at) {
            let equal = format!("(= h{at} h{other})");
            facts.push(if cells == others {
                equal
            } else {
                format!("(not {equal})")
            });
        }
    }
    (lets, facts)
}

#[test]
fn programs_run_as_they_should() {
    let mut numbers = Numbers(7);
    for run in 0..25 {
        let (lets, facts) = program(&mut numbers);
        let closing = ")".repeat(7);
        let all = format!("{lets}(and {}){closing}", facts.join(" "));
        let fact = &facts[numbers.below(facts.len())];
        let wrong = format!("{lets}(not {fact}){closing}");
        let (declaration, form): (&str, fn(&str) -> String) = match run % 2 {
            0 => (OLDER, str::to_owned),
            _ => (NEWER, newer),
        };
        is(declaration, &form(&all), true);
        is(declaration, &form(&wrong), false);
    }
}

#[test]
fn special_cases() {
    for (formula, expected) in [
        ("(= (read emptyHeap nullAddr) dflt)", true),
        ("(valid emptyHeap nullAddr)", false),
        ("(= (nthAddr (- 3)) nullAddr)", true),
        ("(= (write emptyHeap (nthAddr 1) (OInt 1)) emptyHeap)", true),
        (
            "(= (newBatchHeap (batchAlloc emptyHeap (OInt 1) (- 2))) emptyHeap)",
            true,
        ),
        ("(= (nextAddr emptyHeap (- 1)) nullAddr)", true),
        (
            "(= (nextAddr (newHeap (alloc emptyHeap dflt)) (- 1)) (nthAddr 1))",
            true,
        ),
        (
            "(= (newHeap (alloc emptyHeap dflt)) (newBatchHeap (batchAlloc emptyHeap dflt 1)))",
            true,
        ),
        ("(= (newHeap (alloc emptyHeap dflt)) emptyHeap)", false),
    ] {
        is(OLDER, formula, expected);
        is(NEWER, &newer(formula), expected);
    }
    is(NEWER, "(= (heap.range 0 3) (heap.range 1 0))", true);
    is(NEWER, "(= (heap.rangeSize (heap.range 2 3)) 3)", true);
    is(
        OLDER,
        "(= (allocHeap emptyHeap dflt) (newHeap (alloc emptyHeap dflt)))",
        true,
    );
    is(
        OLDER,
        "(= (alloc emptyHeap dflt) (AllocResHeap (allocHeap emptyHeap dflt) (nthAddr 1)))",
        true,
    );
}

/// What holds for all heaps, addresses and objects, and what only looks so.
#[test]
fn quantified_variables_are_values() {
    let object = "(o Obj)";
    for (binders, formula, expected) in [
        ("(h Heap)", "(not (valid h nullAddr))", true),
        // Junk outside of the cells would tell these apart.
        (
            "(h Heap) (g Heap)",
            "(=> (forall ((a Addr)) (and (= (valid h a) (valid g a)) (= (read h a) (read g a)))) (= h g))",
            true,
        ),
        (
            "(h Heap) (g Heap)",
            "(=> (= (read h (nthAddr 1)) (read g (nthAddr 1))) (= h g))",
            false,
        ),
        (
            "(h Heap) (a Addr)",
            "(=> ((_ is OInt) (read h a)) (= a (nthAddr 1)))",
            false,
        ),
        (
            object,
            "(=> ((_ is OAddr) o) (or (= (getAddr o) nullAddr) (exists ((n Int)) (= (nthAddr n) (getAddr o)))))",
            true,
        ),
        (
            object,
            "(=> ((_ is OPair) o) (or (= (one (getPair o)) nullAddr) (exists ((n Int)) (= (nthAddr n) (one (getPair o))))))",
            true,
        ),
        (
            "(h Heap) (a Addr)",
            "(=> ((_ is OAddr) (read h a)) (exists ((b Addr)) (= b (getAddr (read h a)))))",
            true,
        ),
        ("(r AddrRange)", "(<= 0 (AddrRangeSize r))", true),
        ("(r AddrRange)", "(< 0 (AddrRangeSize r))", false),
        (
            "(p AllocResHeap)",
            "(exists ((h Heap) (a Addr)) (= p (AllocResHeap h a)))",
            true,
        ),
    ] {
        let problem = read(&format!("{OLDER} (assert (forall ({binders}) {formula}))"));
        let outcome = check_definitions(&problem, "", &budget(&problem));
        match expected {
            true => assert_eq!(outcome, CheckOutcome::Valid, "{formula}"),
            false => assert!(
                matches!(outcome, CheckOutcome::Invalid(_)),
                "{outcome:?} {formula}"
            ),
        }
    }
}

/// The outcome of the check of a printed witness.
fn judge(text: &str, witness: &str) -> CheckOutcome {
    let problem = read(text);
    let claim: Claim = parse_witness(&problem, witness).expect("a witness");
    if let Witness::Refutation(refutation) = &claim.witness {
        let printed = crate::print::refutation_text(&problem, refutation);
        assert_eq!(
            printed.split_whitespace().collect::<String>(),
            witness.split_whitespace().collect::<String>()
        );
    }
    let mut cx = Context::new(problem.terms.clone());
    cx.budget = budget(&problem);
    check_claim(&problem, &claim, &mut cx)
}

#[test]
fn witnesses_in_terms_of_the_theory() {
    let text = "(declare-heap Heap Addr Obj dflt ((Obj 0)) (((OInt (getInt Int)) (dflt))))
        (declare-fun P (Heap Addr) Bool)
        (assert (P (newHeap (alloc emptyHeap (OInt 4))) (newAddr (alloc emptyHeap (OInt 4)))))
        (assert (forall ((h Heap) (a Addr)) (=> (P h a) (P (write h a (OInt 5)) a))))
        (assert (forall ((h Heap) (a Addr)) (=> (P h a) (< (getInt (read h a)) LIMIT))))";
    let (safe, unsafe_text) = (text.replace("LIMIT", "6"), text.replace("LIMIT", "5"));
    let model = "((define-fun P ((h Heap) (a Addr)) Bool
        (and (valid h a) (or (= (read h a) (OInt 4)) (= (read h a) (OInt 5))))))";
    assert_eq!(judge(&safe, model), CheckOutcome::Valid);
    assert!(matches!(
        judge(&unsafe_text, model),
        CheckOutcome::Invalid(_)
    ));
    // The same over the preamble.
    let model = "((define-fun P ((h Heap) (a Int)) Bool
        (and (< 0 a) (<= a (heap.size h)) (<= (getInt (select (heap.cells h) a)) 5)
            ((_ is OInt) (select (heap.cells h) a)))))";
    assert_eq!(judge(&safe, model), CheckOutcome::Valid);
    let refutation = "1: P((heap.table (OInt 4)), 1) by clause 1
        2: P((heap.table (OInt 5)), 1) by clause 2 [h = (heap.table (OInt 4)), a = 1] from 1
        3: false by clause 3 [h = (heap.table (OInt 5)), a = 1] from 2";
    assert_eq!(judge(&unsafe_text, refutation), CheckOutcome::Valid);
    for (from, to) in [("(OInt 5)", "(OInt 6)"), ("a = 1", "a = 2")] {
        let wrong = refutation.replace(from, to);
        assert!(
            matches!(judge(&unsafe_text, &wrong), CheckOutcome::Invalid(_)),
            "{wrong}"
        );
    }
    assert!(matches!(judge(&safe, refutation), CheckOutcome::Invalid(_)));
}

/// A heap with objects where there are no cells is no heap, so nothing follows for it.
#[test]
fn steps_about_what_is_no_heap_fail() {
    let text = "(declare-heap Heap Addr Obj dflt ((Obj 0)) (((OInt (getInt Int)) (OAddr (getAddr Addr)) (dflt))))
        (declare-fun P (Heap Obj) Bool)
        (assert (forall ((h Heap) (o Obj)) (P h o)))
        (assert (forall ((g Heap) (q Obj)) (not (P g q))))";
    let array = "((as const (Array Int Obj)) dflt)";
    let step = |heap: &str, object: &str| {
        let refutation = format!(
            "1: P({heap}, {object}) by clause 1 [h = {heap}, o = {object}]
            2: false by clause 2 [g = {heap}, q = {object}] from 1"
        );
        let problem = read(text);
        let claim = parse_witness(&problem, &refutation).expect("a refutation");
        let Witness::Refutation(steps) = &claim.witness else {
            panic!("a model");
        };
        // Without the check by evaluation.
        let short = budget(&problem).work(Duration::from_millis(300));
        let in_text = check_steps_in_text(&problem, steps, false, &short);
        let mut cx = Context::new(problem.terms.clone());
        cx.budget = budget(&problem);
        let outcome = check_claim(&problem, &claim, &mut cx);
        assert_eq!(
            outcome == CheckOutcome::Valid,
            in_text == CheckOutcome::Valid
        );
        outcome
    };
    assert_eq!(step("(heap.table)", "(OAddr 0)"), CheckOutcome::Valid);
    for (heap, object) in [
        (
            format!("(heap.make 0 (store {array} 1 (OInt 1)))"),
            "(OAddr 0)",
        ),
        (format!("(heap.make (- 1) {array})"), "(OAddr 0)"),
        ("(heap.table)".to_owned(), "(OAddr (- 1))"),
        ("(heap.table (OAddr (- 1)))".to_owned(), "(OAddr 0)"),
    ] {
        let outcome = step(&heap, object);
        assert!(
            matches!(outcome, CheckOutcome::Invalid(_)),
            "{outcome:?} {heap} {object}"
        );
    }
}

#[test]
fn scripts_for_heaps() {
    let problem = read(&format!(
        "{OLDER} (declare-fun read (Int) Bool) (assert (read 0))"
    ));
    let script = defined(&problem, "(define-fun read ((x Int)) Bool true)")
        .expect("a script")
        .text;
    // The user's declaration comes first.
    assert!(!script.contains("(define-fun read ((h!"), "{script}");
    assert!(script.contains("(define-fun heap.read ((h!"), "{script}");
    let model = "(define-fun read ((x Int)) Bool true)";
    let open = defined_with(&problem, model, HeapGuard::Open);
    let open = open.expect("a script").expect("a heap").text;
    assert!(
        open.contains("(declare-fun heap.is!Heap (Heap) Bool)"),
        "{open}"
    );
    let other = read("(assert true)");
    let without = defined_with(&other, "", HeapGuard::Open);
    assert!(without.expect("no error").is_none());
    let inner = read(&format!(
        "{OLDER} (assert (=> true (forall ((h Heap)) true)))"
    ));
    let small = |problem: &Problem| defined_with(problem, "", HeapGuard::Small).expect("no error");
    assert!(small(&inner).is_none());
    let outer = read(&format!(
        "{OLDER} (assert (not (exists ((h Heap)) (forall ((a Addr)) true))))"
    ));
    assert!(small(&outer).is_none());
    let outer = read(&format!(
        "{OLDER} (assert (not (exists ((h Heap)) (not true))))"
    ));
    assert!(small(&outer).is_some());
    // Addresses in places where their guard cannot be written.
    for (sorts, binder) in [
        ("", "(Array Addr Int)"),
        (
            "(declare-datatypes ((L 0)) (((nil) (cons (hd Addr) (tl L)))))",
            "L",
        ),
        (
            "(declare-datatypes ((Box 1)) ((par (T) ((box (get T))))))",
            "(Box Addr)",
        ),
    ] {
        let text = format!("{OLDER} {sorts} (assert (forall ((x {binder})) true)) (check-sat)");
        let error = parse(&text, Rc::new(TermStore::new())).err();
        let message = error.map(|e| e.to_string()).unwrap_or_default();
        assert!(
            binder == "(Box Addr)" || message.contains("not supported"),
            "{message}"
        );
    }
    // Other datatypes with addresses have guards after their declaration.
    let problem = read(&format!(
        "{OLDER} (declare-datatypes ((Box 0)) (((box (get Heap) (at (Array Int Addr)))))) (define-sort B () Box)
         (assert (forall ((x B) (i Int)) (and (or (= nullAddr (select (at x) i)) (valid (newHeap (alloc (get x) dflt)) (nthAddr 1))))))"
    ));
    let outcome = check_definitions(&problem, "", &budget(&problem));
    assert_eq!(outcome, CheckOutcome::Valid);
}
