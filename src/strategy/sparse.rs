//! The sparse analysis of large systems (`alphorn_domain::sparse`) before all passes.
//!
//! Invariant: its models are answers only after the check of all models.

use alphorn_chc::System;
use alphorn_domain::sparse;
use alphorn_term::run::{Context, Phase};
use alphorn_witness::Model;

/// A model of the system, if the analysis excludes all queries.
pub(super) fn analyse(system: &System, cx: &mut Context) -> Option<Model> {
    cx.phase(Phase::Pass, "sparse", |cx| {
        let start = std::time::Instant::now();
        let analysis = sparse::analyse(system, &cx.budget);
        let open = analysis.open_queries().len();
        let proof = analysis.proof();
        let seconds = start.elapsed();
        cx.stats.add_time("sparse.seconds", seconds);
        cx.stats.add("sparse.open", open as u64);
        log::info!(
            "sparse: {open} queries open, {:.3} s",
            seconds.as_secs_f64()
        );
        let terms = &system.terms;
        let definitions = proof?.into_iter();
        let definitions = definitions.map(|(p, formulas)| (p, terms.and(&formulas)));
        let mut model = Model {
            definitions: definitions.collect(),
            ..Model::default()
        };
        for predicate in system.used_predicates() {
            let definition = model.definitions.entry(predicate);
            definition.or_insert(alphorn_term::TermId::TRUE);
        }
        Some(model)
    })
}
