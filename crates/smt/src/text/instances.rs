//! Instances of the quantified parts of a formula that is to be contradictory.
//!
//! Models of arrays say what holds of all indexes, and those of heaps have definitions within which
//! quantifiers alternate. Z3 finds the instances that matter by patterns and by models of its own,
//! and may instantiate without end. Here the formula is brought to Skolem's normal form by Z3, and
//! each universal part gives way to its instances by ground terms that stand where its variables
//! stand: indexes for what is an index, arguments of a function for what is an argument of it (Ge,
//! de Moura, "Complete instantiation for quantified formulas in SMT", CAV 2009; Bradley, Manna,
//! Sipma, "What's decidable about arrays?", VMCAI 2006). Further rounds have the terms of the
//! instances, too.
//!
//! Invariant: quantifiers are replaced only below conjunctions and disjunctions, and what comes in
//! place of a universal one follows from it. So what is contradictory afterwards was so before; the
//! converse does not hold.

use rustc_hash::{FxHashMap, FxHashSet};
use z3_sys::{
    DeclKind, Z3_ast, Z3_func_decl, Z3_get_depth, Z3_get_index_value, Z3_get_quantifier_body,
    Z3_get_quantifier_bound_sort, Z3_get_quantifier_num_bound, Z3_get_sort, Z3_is_ground,
    Z3_is_quantifier_forall, Z3_mk_sub, Z3_simplify, Z3_sort, Z3_substitute_vars, Z3_update_term,
};

use super::TextContext;
use super::uninterpreted::{application, by_tactics, conjunction};
use super::validity::has_quantifiers;

/// Rounds at most, each with the terms of the one before.
const ROUNDS: usize = 3;

/// Instances in one round at most; more is not tried.
const INSTANCES: usize = 4000;

/// Tuples of terms for the variables of one quantifier at most.
const TUPLES: usize = 200;

/// Deeper formulas are left alone: walks over them are recursive, and look below for quantifiers at
/// each step.
const DEPTH: u32 = 1000;

/// `Z3_VAR_AST`.
const VARIABLE: u32 = 2;

/// Formulas without quantifiers that a formula implies, each stronger than the one before.
pub(super) struct Instances<'a, 'b> {
    pub context: &'a TextContext<'b>,
    /// In Skolem's normal form.
    formula: Z3_ast,
    ground: Ground,
    rounds: usize,
}

/// Ground terms by where they stand.
#[derive(Default, PartialEq, Eq)]
struct Ground {
    /// Indexes of arrays.
    indexes: FxHashMap<Z3_sort, Vec<Z3_ast>>,
    /// Arguments of functions and constructors.
    arguments: FxHashMap<Z3_func_decl, Vec<Vec<Z3_ast>>>,
    /// Terms that are compared with others.
    compared: FxHashMap<Z3_sort, Vec<Z3_ast>>,
}

/// Where the variables of a quantifier stand.
#[derive(Default)]
struct Uses {
    /// A variable is an index, or differs from one by this ground term.
    indexes: Vec<(usize, Option<Z3_ast>)>,
    /// Arguments of a function, with the variables among them.
    arguments: Vec<(Z3_func_decl, Vec<Option<usize>>)>,
    /// A variable is compared with this ground term.
    compared: Vec<(usize, Z3_ast)>,
}

impl<'a, 'b> Instances<'a, 'b> {
    /// The formula, if Z3 brings it to a normal form.
    pub fn new(context: &'a TextContext<'b>, formula: Z3_ast) -> Option<Self> {
        let formula = by_tactics(context, formula, &[c"simplify", c"snf"])?;
        // SAFETY: the formula belongs to the context.
        if unsafe { Z3_get_depth(context.z3.raw, formula) } > DEPTH {
            return None;
        }
        Some(Instances {
            context,
            formula,
            ground: Ground::default(),
            rounds: 0,
        })
    }

    /// The next one; `None` where there is nothing new, or too much of it.
    pub fn next(&mut self) -> Option<Z3_ast> {
        if self.rounds == ROUNDS {
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
        // All that the next round could add would be made of these.
        if ground == self.ground && self.rounds > 2 {
            return None;
        }
        self.ground = ground;
        Some(formula)
    }
}

impl Ground {
    /// Notes all ground terms of a formula, those below quantifiers too.
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

/// One formula in the making.
struct Round<'a, 'b, 'g> {
    context: &'a TextContext<'b>,
    ground: &'g Ground,
    /// Whether variables may also be what they, or others, are compared with.
    further: bool,
    count: usize,
    done: FxHashMap<Z3_ast, Z3_ast>,
}

impl Round<'_, '_, '_> {
    /// The formula with instances in the place of its universal parts. `None` if there is another
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
            // An instance has fewer nested quantifiers than its formula, so this ends.
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
            if self.count > INSTANCES || self.context.budget.is_spent() {
                return None;
            }
            // SAFETY: a term of the right sort for each variable.
            let instance = unsafe { Z3_substitute_vars(z3.raw, body, count, tuple.as_ptr())? };
            result.push(z3.keep(instance));
        }
        Some(result)
    }

    /// Terms for the variables of a quantifier, one of each sort.
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
            joint.truncate(TUPLES);
            return Some(joint);
        }
        let mut tuples = vec![Vec::new()];
        for list in &found {
            if tuples.len() * list.len() > TUPLES {
                joint.truncate(TUPLES);
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

/// Where the variables of a quantifier with this body stand.
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
        // Of the quantifier itself, not of one within it.
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

/// The body of a quantifier.
fn body_of(context: &TextContext<'_>, term: Z3_ast) -> Option<Z3_ast> {
    const QUANTIFIER: u32 = 3;
    if context.z3.ast_kind(term) != QUANTIFIER {
        return None;
    }
    // SAFETY: the term is a quantifier of the context, which holds its body.
    unsafe { Z3_get_quantifier_body(context.z3.raw, term) }
}

/// Whether the second argument is the index of an array.
fn is_index(context: &TextContext<'_>, decl: Z3_func_decl) -> bool {
    let kind = context.z3.decl_kind(decl);
    [DeclKind::Select, DeclKind::Store]
        .map(|k| k as u32)
        .contains(&kind)
}

/// Whether it is a constructor, or a function that nothing defines.
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

    /// How many rounds it takes until the conjunction of a text's assertions is contradictory by
    /// instances; `None` if no round finds that.
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
        // One more cell is set, and some cell is not.
        let step = "(assert (forall ((k Int)) (=> (and (<= 0 k) (< k i)) (= (select a k) 7))))
            (assert (= b (store a i 7)))
            (assert (not (forall ((k Int)) (=> (and (<= 0 k) (< k (+ i 1))) (= (select b k) 7)))))";
        assert_eq!(rounds(&format!("{ARRAYS} {step}")), Some(1));
        // What is set is another number.
        let wrong = step.replace("(store a i 7)", "(store a i 8)");
        assert_eq!(rounds(&format!("{ARRAYS} {wrong}")), None);
        // Counted from a base.
        let shifted = "(assert (forall ((k Int)) (=> (<= 0 k n) (= (select a (+ i k)) 7))))
            (assert (and (<= 0 n) (not (= (select a (+ i n)) 7))))";
        assert_eq!(rounds(&format!("{ARRAYS} {shifted}")), Some(1));
    }

    #[test]
    fn nested_quantifiers_and_functions_need_rounds() {
        // A cell leads to the next one: what is read there is read in a second round.
        let next =
            "(assert (forall ((k Int)) (and (<= 0 (select a k) 9) (= (select b (select a k)) 1))))
            (assert (or (= n 1) (exists ((m Int)) (and (= m (select a i)) (forall ((k Int))
              (or (not (= k (select a m))) (distinct (select b k) 1)))))))
            (assert (distinct n 1))";
        assert!(rounds(&format!("{ARRAYS} {next}")).is_some());
        let data = "(declare-datatype Pair ((pair (left Int) (right Int))))
            (declare-const p (Array Int Pair))";
        // Variables that are only written: their values stand where others are written.
        let written = "(assert (forall ((x Int) (y Int))
              (distinct (store p i (pair x y)) (store p n (pair n 3)))))
            (assert (= i n))";
        assert_eq!(rounds(&format!("{ARRAYS} {data} {written}")), Some(1));
    }

    /// Random formulas whose quantifiers alternate: what Z3 finds a model of is not contradictory by
    /// instances.
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
        // What is below an equivalence is taken apart by the normal form; what defines an array is not.
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
