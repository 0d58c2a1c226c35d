//! A bus for tests, in place of one between processes.
//!
//! Invariant: only texts that the test put there are received.

use std::cell::RefCell;
use std::rc::Rc;

use alphorn_chc::{PredicateId, System};
use alphorn_proof::exchange::Exchange;
use alphorn_term::TermId;
use alphorn_term::run::{Bus, Context};

/// A bus whose texts the test writes and reads.
#[derive(Default)]
pub struct Mailbox {
    /// The texts that the run receives.
    pub heard: RefCell<Vec<Rc<str>>>,
    /// The texts that the run has sent.
    pub told: RefCell<Vec<String>>,
}

impl Bus for Mailbox {
    fn send(&self, text: &str) {
        self.told.borrow_mut().push(text.to_owned());
    }

    fn received(&self, from: usize) -> Vec<Rc<str>> {
        self.heard.borrow()[from..].to_vec()
    }
}

/// A context that receives these lemmas and reached facts on its bus, and the bus.
pub fn context_with_bus(
    system: &System,
    lemmas: &[(PredicateId, TermId)],
    reached: &[(PredicateId, TermId)],
) -> (Context, Rc<Mailbox>) {
    let sender = Rc::new(Mailbox::default());
    let mut cx = Context::new(system.terms.clone());
    cx.bus = Some(sender.clone());
    let mut exchange = Exchange::new(system, &cx).expect("there is a bus");
    exchange.send(system, lemmas.iter().copied(), reached.iter().copied());
    let mailbox = Rc::new(Mailbox::default());
    let texts = sender.told.take().into_iter().map(Rc::from);
    mailbox.heard.borrow_mut().extend(texts);
    cx.bus = Some(mailbox.clone());
    (cx, mailbox)
}
