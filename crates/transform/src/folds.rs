//! Arguments of recursive datatypes get codes beside them: what folds tell of a term, as further
//! arguments.
//!
//! This is what `sizes` does, with more than sizes: the functions of one term that the clauses
//! define themselves, and what these look at (`proof/folds`). Clauses then say how the values of
//! these functions depend on each other, so what holds by them becomes arithmetic for engines that
//! see nothing of it in the terms. After Racer (K, Gurfinkel, Govind, Shoham; "Solving constrained
//! Horn clauses modulo algebraic data types and recursive functions", POPL 2022), where a fold is
//! both a relation to learn about and a function to unfold.
//!
//! Invariant: whatever is added to a constraint follows from it when the new arguments are the
//! codes of the old ones, so a model with these put in is one of the old clauses; and nothing else
//! changes, so a refutation without the new arguments is one, too.

use std::rc::Rc;

use super::replacement::{Origin, Replacement};
use super::{BackError, BackTranslation, Step, Transformation};
use alphorn_chc::{Atom, Clause, System};
use alphorn_proof::folds::{Encoder, Functions, Maker, Reader, Template};
use alphorn_smt::Smt;
use alphorn_term::TermId;
use alphorn_term::run::Context;
use alphorn_witness::{Model, Refutation};

/// A predicate is not expanded to more arguments than this.
const ARITY: usize = 256;

/// The first of these that has folds for the system.
const TEMPLATES: [Template; 2] = [Template::Functions, Template::Counts];

/// The pass.
pub struct Folds;

impl Transformation for Folds {
    fn apply(&mut self, old: &Rc<System>, cx: &mut Context) -> Option<Step> {
        let terms = &old.terms;
        let is_recursive = |id| terms.sized(terms.datatype_sort(id)).is_some();
        if !terms.datatype_ids().any(is_recursive) {
            return None;
        }
        let smt = Smt::within(&cx.budget);
        let maker = Maker::new(old, &smt, cx);
        let encoder = TEMPLATES.iter().find_map(|&t| maker.encoder(t, cx))?;
        let functions = encoder.functions()?;
        let mut system = (**old).clone();
        let mut replacement = Replacement::new(old);
        for predicate in old.used_predicates() {
            let params = &old.predicate(predicate).params;
            let codes = params.iter().filter_map(|&param| {
                let id = encoder.datatype(terms.sort_of(param))?;
                Some(functions.code(terms, id, param))
            });
            let codes: Vec<TermId> = codes.flatten().collect();
            if !codes.is_empty() && params.len() + codes.len() <= ARITY {
                let arguments = params.iter().copied().chain(codes);
                replacement.replace_by_terms(&mut system, predicate, arguments);
            }
        }
        if replacement.is_empty() {
            return None;
        }
        for clause in &mut system.clauses {
            if cx.stop().is_some() {
                return None;
            }
            encode(&encoder, clause, &replacement);
            replacement.note(clause.id, Origin::new(clause.id, Vec::new()));
        }
        let Step { system, back } = replacement.step(system);
        let back = Box::new(Back {
            back,
            encoder,
            functions,
        });
        Some(Step { system, back })
    }
}

/// Gives the clause's atoms their new arguments, after the old ones in the order of these, and says
/// what they are.
fn encode(encoder: &Encoder, clause: &mut Clause, replacement: &Replacement) {
    let terms = &encoder.terms;
    let old = clause.clone();
    let mut conjuncts = terms.conjuncts(old.constraint);
    conjuncts.retain(|&c| !terms.node(c).has_quantifier);
    let mut reader = Reader::new(terms, encoder, &old);
    replacement.replace_atoms(clause, |atom: &Atom| {
        let datatypes = atom.args.iter().copied();
        let datatypes = datatypes.filter(|&a| encoder.datatype(terms.sort_of(a)).is_some());
        let codes: Vec<TermId> = datatypes.flat_map(|a| reader.part(a)).collect();
        atom.args.iter().copied().chain(codes).collect()
    });
    let of_codes = reader.constraint(terms.and(&conjuncts));
    clause.constraint = terms.and(&[old.constraint, of_codes]);
}

/// The way back: the codes are functions of the terms.
struct Back {
    back: Box<dyn BackTranslation>,
    encoder: Encoder,
    functions: Functions,
}

impl BackTranslation for Back {
    fn model(&self, model: Model, cx: &mut Context) -> Result<Model, BackError> {
        let mut model = self.back.model(model, cx)?;
        let mut roots: Vec<TermId> = model.definitions.values().copied().collect();
        roots.sort_unstable();
        let lemmas = self.functions.lemmas(&self.encoder, &roots);
        model.lemmas.extend(lemmas);
        Ok(model)
    }

    fn refutation(
        &self,
        refutation: Refutation,
        cx: &mut Context,
    ) -> Result<Refutation, BackError> {
        self.back.refutation(refutation, cx)
    }
}
