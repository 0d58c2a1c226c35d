//! Instances of the universal subformulas of a formula, to show that it is unsatisfiable.
//!
//! Models of clauses with arrays quantify over indexes. Z3 finds instances by patterns and
//! candidate models, and may instantiate forever. Here Z3 brings the formula to Skolem normal form,
//! and each universal subformula gives way to instances with ground terms that occur in the same
//! places as its variables: indexes of arrays for an index, arguments of a function for an argument
//! of it (Ge, de Moura, "Complete instantiation for quantified formulas in SMT", CAV 2009; Bradley,
//! Manna, Sipma, "What's decidable about arrays?", VMCAI 2006). Further rounds use the ground terms
//! of the instances, too.
//!
//! # Invariant
//! Quantifiers are replaced below conjunctions and disjunctions only, and a universal formula by
//! instances, which follow from it. So if the result is unsatisfiable, the formula is. The converse
//! does not hold.

use rustc_hash::{FxHashMap, FxHashSet};
use z3_sys::{
    DeclKind, Z3_ast, Z3_func_decl, Z3_get_depth, Z3_get_index_value, Z3_get_quantifier_body,
    Z3_get_quantifier_bound_sort, Z3_get_quantifier_num_bound, Z3_get_sort, Z3_is_ground,
    Z3_is_quantifier_forall, Z3_mk_sub, Z3_simplify, Z3_sort, Z3_substitute_vars, Z3_update_term,
};

use super::TextContext;
use super::limits::LIMITS;
use super::uninterpreted::{application, by_tactics, conjunction};
use super::validity::has_quantifiers;

/// `Z3_VAR_AST`.
const VARIABLE: u32 = 2;

/// Quantifier-free formulas that a formula implies, one for each round.
pub(super) struct Instances<'a, 'b> {
    /// The context of the formula.
    pub context: &'a TextContext<'b>,
    /// In Skolem normal form.
    formula: Z3_ast,
    /// The ground terms for the next round.
    ground: Ground,
    /// The number of rounds so far.
    rounds: usize,
}

/// Ground terms by the places in which they occur.
#[derive(Default, PartialEq, Eq)]
struct Ground {
    /// Indexes of arrays.
    indexes: FxHashMap<Z3_sort, Vec<Z3_ast>>,
    /// Arguments of functions and constructors.
    arguments: FxHashMap<Z3_func_decl, Vec<Vec<Z3_ast>>>,
    /// Terms that are compared with others.
    compared: FxHashMap<Z3_sort, Vec<Z3_ast>>,
}

/// The places of the variables of a quantifier; variables by their number.
#[derive(Default)]
struct Uses {
    /// The index of an array is a variable, or the sum of a variable and this ground term.
    indexes: Vec<(usize, Option<Z3_ast>)>,
    /// Applications of a function, with the variables among the arguments.
    arguments: Vec<(Z3_func_decl, Vec<Option<usize>>)>,
    /// Comparisons of a variable with this ground term.
    compared: Vec<(usize, Z3_ast)>,
}

impl<'a, 'b> Instances<'a, 'b> {
    /// The instances of a formula; `None` if Z3 does not bring it to Skolem normal form, or if it
    /// is too deep.
    pub fn new(context: &'a TextContext<'b>, formula: Z3_ast) -> Option<Self> {
        let formula = by_tactics(context, formula, &[c"simplify", c"snf"])?;
        // SAFETY: the formula belongs to the context.
        if unsafe { Z3_get_depth(context.z3.raw, formula) } > LIMITS.max_instance_depth {
            return None;
        }
        Some(Instances {
            context,
            formula,
            ground: Ground::default(),
            rounds: 0,
        })
    }

    /// The formula of the next round; `None` if there are no new or too many instances.
    pub fn next(&mut self) -> Option<Z3_ast> {
        if self.rounds == LIMITS.max_instance_rounds {
            return None;
        }
        self.rounds += 1;
        let mut ground = Ground::default();
        let mut round = Round {
            context: self.context,
            ground: &self.ground,
            further: self.rounds > 1,
            count: 0,
            done: FxHashMap::default(),
        };
        if self.rounds == 1 {
            ground.collect(self.context, self.formula)?;
            round.ground = &ground;
            let formula = round.instantiated(self.formula)?;
            self.ground.collect(self.context, formula)?;
            return Some(formula);
        }
        let formula = round.instantiated(self.formula)?;
        ground.collect(self.context, formula)?;
        // Without new ground terms there are no new instances.
        if ground == self.ground && self.rounds > 2 {
            return None;
        }
        self.ground = ground;
        Some(formula)
    }
}

impl Ground {
    /// Adds all ground terms of a formula, those below quantifiers, too.
    fn collect(&mut self, context: &TextContext<'_>, formula: Z3_ast) -> Option<()> {
        let raw = context.z3.raw;
        let mut seen: FxHashSet<Z3_ast> = FxHashSet::default();
        let mut open = vec![formula];
        while let Some(term) = open.pop() {
            if !seen.insert(term) {
                continue;
            }
            if let Some(body) = body_of(context, term) {
                open.push(body);
                continue;
            }
            let Some((decl, args)) = application(context, term) else {
                continue;
            };
            // SAFETY: the terms belong to the context.
            let is_ground = |a: &Z3_ast| unsafe { Z3_is_ground(raw, *a) };
            if is_index(context, decl) && is_ground(&args[1]) {
                add(self.indexes.entry(sort(context, args[1])?), args[1]);
            }
            if is_function(context, decl) && !args.is_empty() && args.iter().all(is_ground) {
                let known = self.arguments.entry(decl).or_default();
                known.push(args.clone());
            }
            if is_comparison(context, decl) {
                for &arg in args.iter().filter(|a| is_ground(a)) {
                    add(self.compared.entry(sort(context, arg)?), arg);
                }
            }
            open.extend(args);
        }
        Some(())
    }
}

/// The instantiation of a round.
struct Round<'a, 'b, 'g> {
    context: &'a TextContext<'b>,
    ground: &'g Ground,
    /// Whether variables also get the terms with which they are compared, and combinations of terms
    /// from different places.
    further: bool,
    /// The number of instances so far.
    count: usize,
    done: FxHashMap<Z3_ast, Z3_ast>,
}

impl Round<'_, '_, '_> {
    /// The formula with instances in place of its universal subformulas. `None` if it has another
    /// quantifier, or too many instances.
    fn instantiated(&mut self, formula: Z3_ast) -> Option<Z3_ast> {
        if !has_quantifiers(self.context, formula) {
            return Some(formula);
        }
        if let Some(&done) = self.done.get(&formula) {
            return Some(done);
        }
        let z3 = &self.context.z3;
        // SAFETY: the formula belongs to the context.
        let result = if unsafe { Z3_is_quantifier_forall(z3.raw, formula) } {
            let instances = self.instances(formula)?;
            // An instance has fewer quantifiers, so the recursion ends.
            let instances: Option<Vec<Z3_ast>> = instances
                .into_iter()
                .map(|i| self.instantiated(i))
                .collect();
            conjunction(self.context, &instances?)?
        } else {
            let (decl, args) = application(self.context, formula)?;
            let kind = z3.decl_kind(decl);
            if kind != DeclKind::And as u32 && kind != DeclKind::Or as u32 {
                return None;
            }
            let args: Option<Vec<Z3_ast>> =
                args.into_iter().map(|a| self.instantiated(a)).collect();
            let args = args?;
            // SAFETY: as many formulas as before.
            z3.keep(unsafe { Z3_update_term(z3.raw, formula, args.len() as u32, args.as_ptr())? })
        };
        self.done.insert(formula, result);
        Some(result)
    }

    /// Instances of a universal formula.
    fn instances(&mut self, formula: Z3_ast) -> Option<Vec<Z3_ast>> {
        let z3 = &self.context.z3;
        // SAFETY: the formula is a quantifier of the context, which has as many sorts as variables;
        // the last one has index 0.
        let (count, body, sorts) = unsafe {
            let count = Z3_get_quantifier_num_bound(z3.raw, formula);
            let sorts = (0..count)
                .rev()
                .map(|i| Z3_get_quantifier_bound_sort(z3.raw, formula, i));
            let sorts: Option<Vec<Z3_sort>> = sorts.collect();
            (count, Z3_get_quantifier_body(z3.raw, formula)?, sorts?)
        };
        let uses = uses(self.context, body, count as usize)?;
        let mut result = Vec::new();
        for tuple in self.tuples(&uses, &sorts)? {
            self.count += 1;
            if self.count > LIMITS.max_round_instances || self.context.budget.is_spent() {
                return None;
            }
            // SAFETY: a term of the right sort for each variable.
            let instance = unsafe { Z3_substitute_vars(z3.raw, body, count, tuple.as_ptr())? };
            result.push(z3.keep(instance));
        }
        Some(result)
    }

    /// Tuples of terms for the variables of a quantifier with these sorts.
    fn tuples(&self, uses: &Uses, sorts: &[Z3_sort]) -> Option<Vec<Vec<Z3_ast>>> {
        let z3 = &self.context.z3;
        let mut found: Vec<Vec<Z3_ast>> = vec![Vec::new(); sorts.len()];
        let mut joint: Vec<Vec<Z3_ast>> = Vec::new();
        let add = |list: &mut Vec<Z3_ast>, term: Z3_ast| {
            if !list.contains(&term) {
                list.push(term);
            }
        };
        for &(variable, by) in &uses.indexes {
            for &index in self
                .ground
                .indexes
                .get(&sorts[variable])
                .into_iter()
                .flatten()
            {
                let term = match by {
                    None => index,
                    Some(by) => {
                        // SAFETY: two numbers of one sort.
                        unsafe {
                            let pair = [index, by];
                            let other = z3.keep(Z3_mk_sub(z3.raw, 2, pair.as_ptr())?);
                            z3.keep(Z3_simplify(z3.raw, other)?)
                        }
                    }
                };
                add(&mut found[variable], term);
            }
        }
        for (function, pattern) in &uses.arguments {
            for args in self.ground.arguments.get(function).into_iter().flatten() {
                let mut tuple: Vec<Option<Z3_ast>> = vec![None; sorts.len()];
                for (variable, &arg) in pattern.iter().zip(args) {
                    if let Some(variable) = *variable {
                        add(&mut found[variable], arg);
                        tuple[variable] = Some(arg);
                    }
                }
                if sorts.len() > 1
                    && let Some(tuple) = tuple.into_iter().collect::<Option<Vec<Z3_ast>>>()
                    && !joint.contains(&tuple)
                {
                    joint.push(tuple);
                }
            }
        }
        for &(variable, term) in &uses.compared {
            if self.further || found[variable].is_empty() {
                add(&mut found[variable], term);
            }
        }
        for (variable, list) in found.iter_mut().enumerate() {
            if list.is_empty() {
                let compared = self.ground.compared.get(&sorts[variable]);
                list.extend(compared.into_iter().flatten());
            }
        }
        if !joint.is_empty() && !self.further {
            joint.truncate(LIMITS.max_tuples);
            return Some(joint);
        }
        let mut tuples = vec![Vec::new()];
        for list in &found {
            if tuples.len() * list.len() > LIMITS.max_tuples {
                joint.truncate(LIMITS.max_tuples);
                return Some(joint);
            }
            tuples = tuples
                .iter()
                .flat_map(|t| list.iter().map(move |&term| [&t[..], &[term]].concat()))
                .collect();
        }
        Some(tuples)
    }
}

/// The places of the variables of a quantifier with this body and number of variables.
fn uses(context: &TextContext<'_>, body: Z3_ast, count: usize) -> Option<Uses> {
    let raw = context.z3.raw;
    let mut uses = Uses::default();
    let mut seen: FxHashSet<(Z3_ast, u32)> = FxHashSet::default();
    let mut open = vec![(body, 0)];
    while let Some((term, inner)) = open.pop() {
        // SAFETY: the term belongs to the context.
        if unsafe { Z3_is_ground(raw, term) } || !seen.insert((term, inner)) {
            continue;
        }
        if let Some(body) = body_of(context, term) {
            // SAFETY: the term is a quantifier.
            let bound = unsafe { Z3_get_quantifier_num_bound(raw, term) };
            open.push((body, inner + bound));
            continue;
        }
        let Some((decl, args)) = application(context, term) else {
            continue;
        };
        // The number of a variable of the quantifier itself, not of one in its body.
        let variable = |arg: Z3_ast| -> Option<usize> {
            if context.z3.ast_kind(arg) != VARIABLE {
                return None;
            }
            // SAFETY: the term is a variable.
            let number = unsafe { Z3_get_index_value(raw, arg) }.checked_sub(inner)?;
            Some(number as usize).filter(|&n| n < count)
        };
        // SAFETY: the terms belong to the context.
        let is_ground = |a: Z3_ast| unsafe { Z3_is_ground(raw, a) };
        if is_index(context, decl) {
            match variable(args[1]) {
                Some(variable) => uses.indexes.push((variable, None)),
                None => {
                    if let Some((sum, parts)) = application(context, args[1])
                        && context.z3.decl_kind(sum) == DeclKind::Add as u32
                        && let &[a, b] = &parts[..]
                    {
                        for (one, other) in [(a, b), (b, a)] {
                            if let Some(variable) = variable(one)
                                && is_ground(other)
                            {
                                uses.indexes.push((variable, Some(other)));
                            }
                        }
                    }
                }
            }
        }
        if is_function(context, decl) {
            let pattern: Vec<Option<usize>> = args.iter().map(|&a| variable(a)).collect();
            if pattern.iter().any(Option::is_some) {
                uses.arguments.push((decl, pattern));
            }
        }
        if is_comparison(context, decl)
            && let &[a, b] = &args[..]
        {
            for (one, other) in [(a, b), (b, a)] {
                if let Some(variable) = variable(one)
                    && is_ground(other)
                {
                    uses.compared.push((variable, other));
                }
            }
        }
        open.extend(args.into_iter().map(|a| (a, inner)));
    }
    Some(uses)
}

/// The body of a quantifier; `None` for another term.
fn body_of(context: &TextContext<'_>, term: Z3_ast) -> Option<Z3_ast> {
    const QUANTIFIER: u32 = 3;
    if context.z3.ast_kind(term) != QUANTIFIER {
        return None;
    }
    // SAFETY: the term is a quantifier of the context and references its body.
    unsafe { Z3_get_quantifier_body(context.z3.raw, term) }
}

/// Whether the second argument is an index of an array.
fn is_index(context: &TextContext<'_>, decl: Z3_func_decl) -> bool {
    let kind = context.z3.decl_kind(decl);
    [DeclKind::Select, DeclKind::Store]
        .map(|k| k as u32)
        .contains(&kind)
}

/// Whether the declaration is a constructor or an uninterpreted function.
fn is_function(context: &TextContext<'_>, decl: Z3_func_decl) -> bool {
    let kind = context.z3.decl_kind(decl);
    [DeclKind::DtConstructor, DeclKind::Uninterpreted]
        .map(|k| k as u32)
        .contains(&kind)
}

fn is_comparison(context: &TextContext<'_>, decl: Z3_func_decl) -> bool {
    let kind = context.z3.decl_kind(decl);
    let kinds = [
        DeclKind::Eq,
        DeclKind::Le,
        DeclKind::Lt,
        DeclKind::Ge,
        DeclKind::Gt,
        DeclKind::Uleq,
        DeclKind::Sleq,
        DeclKind::Ult,
        DeclKind::Slt,
    ];
    kinds.map(|k| k as u32).contains(&kind)
}

fn sort(context: &TextContext<'_>, term: Z3_ast) -> Option<Z3_sort> {
    // SAFETY: the term belongs to the context.
    unsafe { Z3_get_sort(context.z3.raw, term) }
}

fn add<K>(entry: std::collections::hash_map::Entry<'_, K, Vec<Z3_ast>>, term: Z3_ast) {
    let list = entry.or_default();
    if !list.contains(&term) {
        list.push(term);
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;
    use std::time::Duration;

    use super::super::{Answer, Core};
    use super::*;
    use alphorn_term::run::Budget;
    use alphorn_term::{Random, TermStore};

    /// The number of rounds until the instances of the conjunction of a text's assertions are
    /// unsatisfiable; `None` if they are not after the last round.
    fn rounds(text: &str) -> Option<usize> {
        let budget = Budget::new(Rc::new(TermStore::new()), Default::default(), false);
        let context = TextContext::new(&budget);
        let assertions = context.parse(text).expect("a text");
        let formula = conjunction(&context, &assertions)?;
        let mut instances = Instances::new(&context, formula).expect("a normal form");
        while let Some(formula) = instances.next() {
            assert!(!has_quantifiers(&context, formula));
            let mut solver = context.solver(Core::Current).expect("a solver");
            solver.assert(formula);
            match solver.check(None) {
                Answer::Unsat => return Some(instances.rounds),
                Answer::Sat => {}
                Answer::Unknown(reason) => panic!("{reason}"),
            }
        }
        None
    }

    const ARRAYS: &str = "(declare-const a (Array Int Int)) (declare-const b (Array Int Int))
        (declare-const i Int) (declare-const n Int)";

    #[test]
    fn instances_at_indexes_contradict() {
        // One more cell is set to 7, and some cell is not 7.
        let step = "(assert (forall ((k Int)) (=> (and (<= 0 k) (< k i)) (= (select a k) 7))))
            (assert (= b (store a i 7)))
            (assert (not (forall ((k Int)) (=> (and (<= 0 k) (< k (+ i 1))) (= (select b k) 7)))))";
        assert_eq!(rounds(&format!("{ARRAYS} {step}")), Some(1));
        // The cell is set to another number.
        let wrong = step.replace("(store a i 7)", "(store a i 8)");
        assert_eq!(rounds(&format!("{ARRAYS} {wrong}")), None);
        // With an offset.
        let shifted = "(assert (forall ((k Int)) (=> (<= 0 k n) (= (select a (+ i k)) 7))))
            (assert (and (<= 0 n) (not (= (select a (+ i n)) 7))))";
        assert_eq!(rounds(&format!("{ARRAYS} {shifted}")), Some(1));
    }

    #[test]
    fn nested_quantifiers_and_functions_need_rounds() {
        // A cell is the index of the next one, which needs a second round.
        let next =
            "(assert (forall ((k Int)) (and (<= 0 (select a k) 9) (= (select b (select a k)) 1))))
            (assert (or (= n 1) (exists ((m Int)) (and (= m (select a i)) (forall ((k Int))
              (or (not (= k (select a m))) (distinct (select b k) 1)))))))
            (assert (distinct n 1))";
        assert!(rounds(&format!("{ARRAYS} {next}")).is_some());
        let data = "(declare-datatype Pair ((pair (left Int) (right Int))))
            (declare-const p (Array Int Pair))";
        // Variables as arguments of a constructor.
        let written = "(assert (forall ((x Int) (y Int))
              (distinct (store p i (pair x y)) (store p n (pair n 3)))))
            (assert (= i n))";
        assert_eq!(rounds(&format!("{ARRAYS} {data} {written}")), Some(1));
    }

    /// Random formulas with alternating quantifiers: if Z3 finds a model, the instances are not
    /// unsatisfiable.
    #[test]
    fn what_has_a_model_keeps_one() {
        let mut random = Random::new(11);
        let (mut models, mut contradictions) = (0, 0);
        for _ in 0..300 {
            let mut parts = Vec::new();
            for _ in 0..random.between(1, 4) {
                let mut term = |vars: &[&str]| {
                    let index = *random.pick(vars);
                    match random.below(5) {
                        0 => format!("(select a {index})"),
                        1 => format!("(select b {index})"),
                        2 => format!("(select (store a {} {index}) {index})", random.pick(vars)),
                        3 => format!("(+ {index} 1)"),
                        _ => index.to_owned(),
                    }
                };
                let (outside, bound) = (["k", "i", "n"], ["k", "m", "i", "n"]);
                let (p, q) = (term(&outside), term(&outside));
                let (r, s) = (term(&bound), term(&bound[..3]));
                let (outer, inner) = match random.below(3) {
                    0 => ("forall", "forall"),
                    1 => ("forall", "exists"),
                    _ => ("exists", "forall"),
                };
                let relation = *random.pick(&["=", "<", "distinct"]);
                let join = *random.pick(&["or", "and", "=>"]);
                parts.push(format!(
                    "(assert ({outer} ((k Int)) ({join} (<= {p} {q}) ({inner} ((m Int)) \
                     (and (=> (< m i) ({relation} {r} {s})) (< k (+ n m)))))))"
                ));
            }
            let text = format!("{ARRAYS} {}", parts.join(" "));
            let budget = Budget::new(Rc::new(TermStore::new()), Default::default(), false);
            let context = TextContext::new(&budget);
            let assertions = context.parse(&text).expect("a text");
            let mut solver = context.solver(Core::Current).expect("a solver");
            for &assertion in &assertions {
                solver.assert(assertion);
            }
            let known = solver.check(Some(Duration::from_millis(30)));
            let formula = conjunction(&context, &assertions).expect("a formula");
            let Some(mut instances) = Instances::new(&context, formula) else {
                continue;
            };
            let mut contradictory = false;
            while let Some(formula) = instances.next() {
                let mut solver = context.solver(Core::Current).expect("a solver");
                solver.assert(formula);
                contradictory |= matches!(
                    solver.check(Some(Duration::from_millis(100))),
                    Answer::Unsat
                );
            }
            assert!(!(contradictory && matches!(known, Answer::Sat)), "{text}");
            models += usize::from(matches!(known, Answer::Sat));
            contradictions += usize::from(contradictory);
        }
        assert!(
            models > 10 && contradictions > 10,
            "{models} {contradictions}"
        );
    }

    #[test]
    fn other_quantifiers_are_left_alone() {
        // The normal form removes quantifiers below an equivalence, but not lambda terms.
        let equivalent = "(declare-const p Bool)
            (assert (= p (forall ((k Int)) (= (select a k) 0)))) (assert p)
            (assert (= (select a n) 1))";
        assert_eq!(rounds(&format!("{ARRAYS} {equivalent}")), Some(1));
        let lambda =
            "(assert (forall ((k Int)) (distinct (select a k) (select (lambda ((j Int)) j) k))))
            (assert (= (select a n) n))";
        let budget = Budget::new(Rc::new(TermStore::new()), Default::default(), false);
        let context = TextContext::new(&budget);
        let assertions = context
            .parse(&format!("{ARRAYS} {lambda}"))
            .expect("a text");
        let formula = conjunction(&context, &assertions).expect("a formula");
        if let Some(mut instances) = Instances::new(&context, formula) {
            while let Some(formula) = instances.next() {
                assert!(!has_quantifiers(&context, formula));
            }
        }
    }
}
