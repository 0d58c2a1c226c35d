//! A bus between processes whose other end is a test.
//!
//! Invariant: nothing is heard on it but what the test put there.

use std::cell::RefCell;
use std::rc::Rc;

use alphorn_chc::{PredicateId, System};
use alphorn_proof::exchange::Exchange;
use alphorn_term::TermId;
use alphorn_term::run::{Bus, Context};

/// A bus whose other end is the test.
#[derive(Default)]
pub struct Mailbox {
    /// What others said.
    pub heard: RefCell<Vec<Rc<str>>>,
    /// What was told.
    pub told: RefCell<Vec<String>>,
}

impl Bus for Mailbox {
    fn tell(&self, text: &str) {
        self.told.borrow_mut().push(text.to_owned());
    }

    fn heard(&self, from: usize) -> Vec<Rc<str>> {
        self.heard.borrow()[from..].to_vec()
    }
}

/// A context with a bus on which these lemmas and facts are heard.
pub fn context_hearing(
    system: &System,
    lemmas: &[(PredicateId, TermId)],
    reached: &[(PredicateId, TermId)],
) -> (Context, Rc<Mailbox>) {
    let sender = Rc::new(Mailbox::default());
    let mut cx = Context::new(system.terms.clone());
    cx.bus = Some(sender.clone());
    let mut exchange = Exchange::new(system, &cx).expect("there is a bus");
    exchange.tell(system, lemmas.iter().copied(), reached.iter().copied());
    let mailbox = Rc::new(Mailbox::default());
    let texts = sender.told.take().into_iter().map(Rc::from);
    mailbox.heard.borrow_mut().extend(texts);
    cx.bus = Some(mailbox.clone());
    (cx, mailbox)
}
