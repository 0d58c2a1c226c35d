//! Names for the arguments of predicates: those that the clauses use.
//!
//! SMT-LIB declares arguments by their sorts only. A front end names the variables of its clauses
//! after the program's, so the name that most atoms of a predicate have at a position is shown.
//!
//! Invariant: the names of one predicate's arguments are distinct.

use std::collections::{BTreeMap, HashMap, HashSet};

use alphorn_chc::frontend::{Problem, ProblemClause};
use alphorn_chc::{Atom, PredicateId};
use alphorn_term::TermId;

/// The names of arguments by the predicate's name.
pub type ArgumentNames = BTreeMap<String, Vec<String>>;

/// The names of all predicates' arguments.
pub fn argument_names(problem: &Problem) -> ArgumentNames {
    let mut votes: HashMap<(PredicateId, usize), HashMap<&str, usize>> = HashMap::new();
    for clause in &problem.clauses {
        let names = variables(problem, clause);
        let nested = problem.disjunctions_of(clause);
        let nested = nested
            .iter()
            .flat_map(|&at| &problem.disjunctions[at].alternatives);
        let nested = nested.flat_map(|alternative| &alternative.body);
        let atoms = clause.body.iter().chain(&clause.head).chain(nested);
        for atom in atoms {
            count(atom, &names, &mut votes);
        }
    }
    let predicates = problem.predicates.iter().zip(0..);
    let all = predicates.map(|(predicate, index)| {
        let mut taken = HashSet::new();
        let names = (0..predicate.params.len()).map(|position| {
            let votes = votes.get(&(PredicateId(index), position));
            let mut votes: Vec<(&str, usize)> = votes
                .into_iter()
                .flatten()
                .map(|(&name, &count)| (name, count))
                .collect();
            votes.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
            let free = votes.iter().find(|vote| !taken.contains(vote.0));
            let mut name = free.map_or_else(|| format!("x{position}"), |vote| vote.0.to_owned());
            while !taken.insert(name.clone()) {
                name.push('\'');
            }
            name
        });
        (predicate.name.clone(), names.collect())
    });
    all.collect()
}

/// The variables of a clause with their names.
fn variables<'a>(problem: &'a Problem, clause: &'a ProblemClause) -> HashMap<TermId, &'a str> {
    let nested = problem.disjunctions_of(clause);
    let nested = nested
        .into_iter()
        .flat_map(|at| &problem.disjunctions[at].alternatives)
        .flat_map(|alternative| &alternative.vars);
    let vars = clause.vars.iter().chain(nested);
    vars.map(|(name, var)| (*var, &**name)).collect()
}

fn count<'a>(
    atom: &Atom,
    names: &HashMap<TermId, &'a str>,
    votes: &mut HashMap<(PredicateId, usize), HashMap<&'a str, usize>>,
) {
    for (position, argument) in atom.args.iter().enumerate() {
        if let Some(name) = names.get(argument) {
            let votes = votes.entry((atom.predicate, position)).or_default();
            *votes.entry(name).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use alphorn_chc::frontend::parse;
    use alphorn_term::TermStore;

    #[test]
    fn names_are_those_of_most_atoms() {
        let text = "(set-logic HORN)
            (declare-fun P (Int Int Int) Bool)
            (assert (forall ((n Int) (sum Int)) (=> (= n sum) (P n sum 0))))
            (assert (forall ((n Int) (sum Int) (k Int)) (=> (P n sum 1) (P n (+ sum k) n))))
            (assert (forall ((a Int) (sum Int) (c Int)) (=> (P a sum c) (P c c 2))))
            (check-sat)";
        let problem = parse(text, Rc::new(TermStore::new())).expect("a problem");
        let names = argument_names(&problem);
        assert_eq!(names["P"], ["n", "sum", "c"]);
    }
}
