//! The limits of `relate`.
//!
//! Invariant: a limit decides whether and when there is an answer, never which one.

use std::time::Duration;

/// What the engine may use.
pub(super) struct Limits {
    /// Facts of one predicate in the tables.
    pub rows: usize,
    /// Size of an integer in a fact; larger ones are left out.
    pub max_value: u64,
    /// Rounds in which all clauses are applied.
    pub table_rounds: u32,
    /// Steps of all clauses together, after which no further round begins.
    pub table_steps: usize,
    /// Steps of one clause in a round.
    pub steps_per_clause: usize,
    /// The work of such a step, and of evaluating a part of a term.
    pub step_work: Duration,
    /// Steps between two looks at the budget.
    pub steps_at_once: usize,
    /// Variables of a clause whose values come from a range; with more there are no tables.
    pub ranges: usize,
    /// Terms in a clause's constraint; with more there are no tables. Plans are as deep as terms.
    pub clause_terms: usize,
    /// Terms in all constraints; with more the engine gives up.
    pub all_terms: usize,
    /// Values around the clauses' numerals in such a range.
    pub more_values: usize,
    /// Values of a datatype in such a range.
    pub small_values: usize,
    /// Small values of an argument that inputs should cover.
    pub mode_values: usize,
    /// Tuples of such values.
    pub mode_products: usize,
    /// Facts of each slot in a test, by the number of slots.
    pub samples: [usize; 8],
    /// Rounds of instances at a node of a proof.
    pub closing_rounds: usize,
    /// Instances that one model of the solver adds.
    pub instances_per_model: usize,
    /// Ways to match a lemma with a context, and slots of a lemma with more that is matched slot by slot;
    /// one with more slots is not used there.
    pub matchings: usize,
    pub matched_slots: usize,
    /// Weakened queries that are tried with ghosts.
    pub ghost_goals: usize,
    /// The work of one query of a proof.
    pub query_work: Duration,
    /// The depth of atoms that are unfolded.
    pub path: usize,
    /// Bodies that an unfolded query becomes; with more it is not unfolded.
    pub unfolded: usize,
    /// Slots of a lemma that is tested, and of a goal.
    pub slots: usize,
    pub goal_slots: usize,
    /// The place of facts that join a context, behind the slots.
    pub joined: usize,
    /// Arguments of a predicate.
    pub arguments: usize,
    /// Clauses of a system.
    pub clauses: usize,
    /// Candidates about one fact, of one predicate.
    pub one_fact: usize,
    /// Orders in which premises are weakened.
    pub orders: u64,
    /// Slots of a query whose calls are followed, those of which each set moves, and steps.
    pub call_slots: usize,
    pub call_sets: usize,
    pub call_steps: usize,
    /// Orders in which premises that calls preserve are weakened.
    pub call_orders: u64,
    /// Affine candidates, and ways to match the inputs of two facts for them.
    pub affine: usize,
    pub affine_matchings: usize,
    /// Candidates of a round.
    pub candidates: usize,
    /// Rounds of residues.
    pub residue_rounds: usize,
    /// Further candidates with equal outputs from one failed leaf.
    pub closing_residues: usize,
    /// The work with ghosts before residues are tried.
    pub ghost_work: Duration,
    /// Ghosts at a leaf.
    pub ghosts: usize,
    /// Rounds of ghosts at a leaf.
    pub ghost_rounds: usize,
    /// Ghosts that are tried at a leaf.
    pub ghost_tries: usize,
    /// Inputs of a predicate that are bounded in a domain, and domains that are tried.
    pub total_inputs: usize,
    pub total_domains: usize,
    /// Queries for the core of a leaf.
    pub core_queries: usize,
    /// The depth of derivations that are looked for, the steps for one fact, and answers to a question.
    pub answer_depth: usize,
    /// Steps of plans that are open at once in such a search.
    pub answer_nesting: usize,
    pub answer_steps: usize,
    pub answers: usize,
    /// Tuples of facts in a test of a lemma that concludes a fact, and how many of them have to show it.
    pub fact_tests: usize,
    pub fact_support: usize,
    /// Facts of a slot in such a test, and steps.
    pub fact_rows: usize,
    pub fact_steps: u32,
    /// Candidates that conclude facts.
    pub fact_candidates: usize,
    /// Facts that lemmas add at a node, instances that are tried for it, and rounds.
    pub added_facts: usize,
    pub added_tries: usize,
    pub added_rounds: usize,
    /// Clauses on a way from the facts at hand to a goal, and ways to match a clause.
    pub clause_depth: usize,
    pub clause_tries: usize,
    /// Combinations of terms for the arguments of a fact that a leaf asks for, and terms for a part of
    /// one.
    pub leaf_ways: usize,
    pub leaf_options: usize,
    /// Rounds of candidates that conclude facts.
    pub fact_rounds: usize,
    /// The work for a model by functions.
    pub function_work: Duration,
    /// Arguments of a predicate for which all sets of outputs are tried, and the number of these.
    pub function_arguments: usize,
    pub function_modes: usize,
    /// Domains and measures of functions that are tried, and disjuncts of a clause.
    pub function_domains: usize,
    pub function_measures: usize,
    pub function_cases: usize,
}

pub(super) const LIMITS: Limits = Limits {
    rows: 3000,
    max_value: 10_000_000,
    table_rounds: 14,
    table_steps: 4_000_000,
    steps_per_clause: 400_000,
    step_work: Duration::from_nanos(40),
    steps_at_once: 10_000,
    ranges: 4,
    clause_terms: 1000,
    all_terms: 20_000,
    more_values: 10,
    small_values: 20,
    mode_values: 5,
    mode_products: 4000,
    samples: [1, 3000, 300, 50, 18, 9, 6, 5],
    closing_rounds: 40,
    instances_per_model: 60,
    matchings: 1500,
    matched_slots: 4,
    ghost_goals: 8,
    query_work: Duration::from_millis(100),
    path: 3,
    unfolded: 8,
    slots: 7,
    goal_slots: 10,
    joined: 100,
    arguments: 12,
    clauses: 80,
    one_fact: 60,
    orders: 10,
    call_slots: 5,
    call_sets: 3,
    call_steps: 36,
    call_orders: 3,
    affine: 80,
    affine_matchings: 160,
    candidates: 160,
    residue_rounds: 4,
    closing_residues: 6,
    ghost_work: Duration::from_secs(1),
    ghosts: 12,
    ghost_rounds: 2,
    ghost_tries: 60,
    total_inputs: 3,
    total_domains: 12,
    core_queries: 30,
    answer_depth: 40,
    answer_nesting: 600,
    answer_steps: 4000,
    answers: 60,
    fact_tests: 400,
    fact_support: 3,
    fact_rows: 400,
    fact_steps: 60_000,
    fact_candidates: 60,
    added_facts: 10,
    added_tries: 60,
    added_rounds: 2,
    clause_depth: 3,
    clause_tries: 40,
    leaf_ways: 24,
    leaf_options: 3,
    fact_rounds: 3,
    function_work: Duration::from_secs(1),
    function_arguments: 7,
    function_modes: 6,
    function_domains: 32,
    function_measures: 60,
    function_cases: 12,
};
