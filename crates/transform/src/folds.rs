//! Adds to arguments of recursive datatypes the values of folds as further arguments.
//!
//! This generalizes `sizes`: the folds are functions of one term that the clauses define, and
//! functions that these depend on (`alphorn_proof::folds`). The clauses then say how the values of
//! the folds depend on each other, so properties of these values become arithmetic, which engines
//! find more easily than properties of terms. After RACER (K, Gurfinkel, Govind, Shoham, "Solving
//! constrained Horn clauses modulo algebraic data types and recursive functions", POPL 2022), where
//! a fold is both a relation to learn about and a function to unfold.
//!
//! Invariant: what is added to a constraint follows from it if the new arguments are the values of
//! the folds on the old ones. So a model with these substituted is a model of the old clauses.
//! Nothing else changes, so a refutation without the new arguments is a refutation of the old
//! clauses.

use std::rc::Rc;

use super::replacement::{Origin, Replacement};
use super::{BackTranslation, BackTranslationError, Step, Transformation};
use alphorn_chc::{Atom, Clause, System};
use alphorn_proof::folds::{Encoder, Functions, Maker, Reader, Template};
use alphorn_smt::Smt;
use alphorn_term::TermId;
use alphorn_term::run::Context;
use alphorn_witness::{Model, Refutation};

/// The limits of the pass.
struct Limits {
    /// Arguments of an expanded predicate; a predicate that would have more is not expanded.
    max_arity: usize,
}

const LIMITS: Limits = Limits { max_arity: 256 };

/// The folds of the first template that has some for the system are used.
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
            if !codes.is_empty() && params.len() + codes.len() <= LIMITS.max_arity {
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

/// Adds the new arguments to the clause's atoms, after the old ones and in their order, and
/// constraints about them.
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

/// The back-translation: the codes are functions of the terms.
struct Back {
    back: Box<dyn BackTranslation>,
    encoder: Encoder,
    functions: Functions,
}

impl BackTranslation for Back {
    fn model(&self, model: Model, cx: &mut Context) -> Result<Model, BackTranslationError> {
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
    ) -> Result<Refutation, BackTranslationError> {
        self.back.refutation(refutation, cx)
    }
}
