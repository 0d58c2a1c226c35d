//! Lemmas and facts are received as they were sent, and nothing else is.

use super::*;
use alphorn_samples::bus::{Mailbox, context_with_bus};
use alphorn_samples::{random_lemmas, random_system};
use alphorn_term::{Printer, Random};

fn with_bus(system: &System) -> (Exchange, Rc<Mailbox>) {
    let (cx, mailbox) = context_with_bus(system, &[], &[]);
    (Exchange::new(system, &cx).expect("there is a bus"), mailbox)
}

/// The two processes share the clauses only.
#[test]
fn lemmas_are_received_as_they_were_sent() {
    let mut arrived = 0;
    for seed in 1..40 {
        let [here, there] = [(); 2].map(|()| random_system(&mut Random::new(seed)));
        let used = here.used_predicates();
        let mut lemmas = random_lemmas(&here, &mut Random::new(seed));
        lemmas.retain(|(p, _)| p.is_some_and(|p| used.contains(&p)));
        let told: Vec<_> = lemmas.iter().filter_map(|&(p, l)| Some((p?, l))).collect();
        let (mut sender, mailbox) = with_bus(&here);
        // Facts keep their order.
        let facts: Vec<_> = told.iter().rev().copied().collect();
        sender.send(&here, told.iter().copied(), facts.iter().copied());
        let (mut receiver, inbox) = with_bus(&there);
        let texts: Vec<Rc<str>> = mailbox.told.take().into_iter().map(Rc::from).collect();
        inbox.heard.borrow_mut().extend(texts.iter().cloned());
        let heard = receiver.receive(&there);
        let printed = |system: &System, lemmas: &[(PredicateId, TermId)]| {
            let mut printer = Printer::new(&system.terms);
            for predicate in &system.predicates {
                for (at, &param) in predicate.params.iter().enumerate() {
                    printer.rename(param, format!("{at}"));
                }
            }
            let mut lines: Vec<(u32, String)> = Vec::new();
            for &(p, lemma) in lemmas {
                let line = (p.0, printer.term(lemma));
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
            lines
        };
        let expected = printed(&here, &told);
        assert_eq!(printed(&there, &heard.lemmas), expected, "seed {seed}");
        let expected = printed(&here, &facts);
        assert_eq!(printed(&there, &heard.reached), expected, "seed {seed}");
        arrived += heard.lemmas.len();
        // Known formulas are not sent again.
        sender.send(&here, told, facts);
        assert!(mailbox.told.borrow().is_empty());
        inbox.heard.borrow_mut().extend(texts);
        let again = receiver.receive(&there);
        assert!(again.lemmas.is_empty() && again.reached.is_empty());
    }
    assert!(arrived > 100, "{arrived}");
}

#[test]
fn odd_names_and_all_sorts_are_received() {
    let text = "(set-logic HORN)
        (declare-datatypes ((T 0)) (((leaf) (node (left T) (weight Int)))))
        (declare-fun |a b| (Bool (_ BitVec 8) Real) Bool)
        (declare-fun bvadd ((Array Int Int) T) Bool)
        (assert (forall ((b Bool) (w (_ BitVec 8)) (r Real)) (=> (and b (= w #x01) (> r 0.5)) (|a b| b w r))))
        (assert (forall ((a (Array Int Int)) (t T)) (=> (= t (node leaf 1)) (bvadd a t))))
        (assert (forall ((a (Array Int Int)) (t T)) (=> (and (bvadd a t) (= t leaf)) false)))
        (check-sat)";
    let [here, there] = [(); 2].map(|()| {
        let problem = parse(text, Rc::new(TermStore::new())).expect("a problem");
        alphorn_transform::normalize(&problem).0
    });
    let (mut sender, mailbox) = with_bus(&here);
    let lemmas = here.clauses.iter().filter_map(|clause| {
        let head = clause.head.as_ref()?;
        let formals = here.predicate(head.predicate).params.iter().copied();
        let map = head.args.iter().copied().zip(formals).collect();
        let lemma = here.terms.substitute(clause.constraint, &map);
        let is_over_formals = here
            .terms
            .free_vars(&[lemma])
            .iter()
            .all(|v| here.predicate(head.predicate).params.contains(v));
        is_over_formals.then_some((head.predicate, lemma))
    });
    let lemmas: Vec<_> = lemmas.collect();
    assert_eq!(lemmas.len(), 2);
    sender.send(&here, lemmas.iter().copied(), lemmas.iter().copied());
    let (mut receiver, inbox) = with_bus(&there);
    let texts = mailbox.told.take().into_iter().map(Rc::from);
    inbox.heard.borrow_mut().extend(texts);
    // `bvadd` is printed under another name, since it hides an operator, so the receiver does not
    // know it.
    let heard = receiver.receive(&there);
    for heard in [heard.lemmas, heard.reached] {
        let about = heard.iter().map(|(p, _)| there.predicate(*p).name.as_str());
        assert_eq!(about.collect::<Vec<_>>(), ["a b"]);
    }
}

#[test]
fn malformed_messages_are_ignored() {
    let system = random_system(&mut Random::new(7));
    let name = &system.predicate(system.used_predicates()[0]).name;
    let (mut receiver, inbox) = with_bus(&system);
    let long = format!(
        "(set-logic HORN) ; {}\n(check-sat)",
        "x".repeat(LIMITS.max_message_bytes)
    );
    let texts = [
        String::new(),
        "(".to_owned(),
        "(set-logic HORN)(assert false)(check-sat)".to_owned(),
        // A predicate with other sorts, and an unknown one.
        format!(
            "(set-logic HORN)(declare-fun {name} (Real) Bool)
             (assert (forall ((r Real)) (=> (> r 0.0) ({name} r))))(check-sat)"
        ),
        "(set-logic HORN)(declare-fun stranger () Bool)(assert stranger)(check-sat)".to_owned(),
        long,
    ];
    let texts = texts.into_iter().map(|text| text.into());
    inbox.heard.borrow_mut().extend(texts);
    let news = receiver.receive(&system);
    assert!(news.lemmas.is_empty() && news.reached.is_empty());
    // Without a bus there is no exchange.
    let cx = Context::new(system.terms.clone());
    assert!(Exchange::new(&system, &cx).is_none());
}

/// Formulas that do not fit into one message are sent in later ones.
#[test]
fn long_messages_are_split() {
    let terms = Rc::new(TermStore::new());
    let mut system = System::new(terms.clone());
    let name = "n".repeat(LIMITS.max_message_bytes / 10);
    let p = system.add_predicate(&name, &[SortId::INT]);
    let atom = system.fresh_atom(p);
    system.add_clause(Vec::new(), TermId::TRUE, Some(atom));
    let x = system.predicate(p).params[0];
    let lemmas: Vec<_> = (0..40).map(|n| (p, terms.le(x, terms.int(n)))).collect();
    let (mut sender, mailbox) = with_bus(&system);
    let mut told = 0;
    for _ in 0..40 {
        sender.send(&system, lemmas.iter().copied(), []);
        let texts = mailbox.told.take();
        assert!(
            texts
                .iter()
                .all(|text| text.len() <= LIMITS.max_message_bytes)
        );
        let (mut receiver, inbox) = with_bus(&system);
        let texts = texts.into_iter().map(Rc::from);
        inbox.heard.borrow_mut().extend(texts);
        told += receiver.receive(&system).lemmas.len();
    }
    assert_eq!(told, lemmas.len());
}
