//! The calls of mutually recursive functions in a body, and formulas that their arguments are
//! smaller.
//!
//! # Invariant
//! A call in a place that is not supported is an error; no call is left out.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::forms::{Form, FormId, Forms};
use crate::limits::LIMITS;
use alphorn_chc::frontend::Problem;
use alphorn_term::quote_symbol;

/// Symbols with a meaning in paths or in the formulas made here, which name no function or
/// variable.
pub(super) const RESERVED: [&str; 21] = [
    "and", "or", "not", "=>", "xor", "ite", "=", "distinct", "<", "<=", "true", "false", "let",
    "match", "forall", "exists", "lambda", "_", "as", "!", "is",
];

/// A function of the group, whose calls need smaller arguments.
pub(super) struct Member {
    /// The name in forms.
    pub name: String,
    /// The name in messages.
    pub shown: String,
    /// The number of parameters.
    pub params: usize,
}

/// A call of a function of the group in a body.
pub(super) struct Call {
    /// The position of the callee in the group.
    pub callee: usize,
    /// The arguments.
    pub args: Vec<FormId>,
    /// Conditions under which the value of the body depends on the call.
    pub path: Vec<FormId>,
}

/// The conjunction of formulas.
pub(super) fn conjunction(forms: &mut Forms, parts: &[FormId]) -> FormId {
    match parts {
        [] => forms.atom("true"),
        [only] => *only,
        _ => forms.apply("and", parts),
    }
}

/// The calls of `members` in `body`, each with its path: conditions of `ite`s, and for an argument
/// of a connective that the arguments before it do not decide the connective's value.
///
/// # Errors
/// A call with a wrong number of arguments or in an unsupported place (below a binder, for
/// example), or a body that is too large.
pub(super) fn calls(
    forms: &mut Forms,
    body: FormId,
    members: &[Member],
) -> Result<Vec<Call>, String> {
    let mut has_call: FxHashSet<FormId> = FxHashSet::default();
    forms.post_order(body, |id| {
        let found = match forms.form(id) {
            Form::Atom(name) => members.iter().any(|member| member.name == *name),
            Form::List(elements) => elements.iter().any(|e| has_call.contains(e)),
        };
        if found {
            has_call.insert(id);
        }
    });
    let mut found = Vec::new();
    let mut seen: FxHashSet<(FormId, Vec<FormId>)> = FxHashSet::default();
    let mut stack = vec![(body, Vec::new())];
    let mut places = 0;
    while let Some((id, path)) = stack.pop() {
        if !has_call.contains(&id) || !seen.insert((id, path.clone())) {
            continue;
        }
        places += 1 + path.len();
        if places > LIMITS.max_call_places {
            return Err("its body is too large".to_owned());
        }
        let Some((head, args)) = forms.application(id) else {
            // The head is a list: a tester, an operator with numerals, a sorted symbol.
            let (head, args) = match forms.elements(id) {
                [head, args @ ..] => (*head, args.to_vec()),
                [] => continue,
            };
            if has_call.contains(&head) {
                return Err("a function that is called without its name".to_owned());
            }
            stack.extend(args.into_iter().map(|arg| (arg, path.clone())));
            continue;
        };
        let (head, args) = (head.to_owned(), args.to_vec());
        if let Some(callee) = members.iter().position(|member| member.name == head) {
            let Member { shown, params, .. } = &members[callee];
            if *params != args.len() {
                return Err(format!("{shown} is called with {} arguments", args.len()));
            }
            stack.extend(args.iter().map(|&arg| (arg, path.clone())));
            found.push(Call { callee, args, path });
            continue;
        }
        match (head.as_str(), args.as_slice()) {
            ("ite", &[condition, then, otherwise]) => {
                let mut holds = path.clone();
                holds.push(condition);
                let mut fails = path.clone();
                fails.push(forms.apply("not", &[condition]));
                stack.extend([(condition, path), (then, holds), (otherwise, fails)]);
            }
            ("and" | "or", _) => {
                // The order of arguments is free: those without calls come first.
                let (later, mut order): (Vec<FormId>, Vec<FormId>) =
                    args.iter().partition(|arg| has_call.contains(arg));
                let first = order.len();
                order.extend(later);
                let mut path = path;
                for (position, arg) in order.into_iter().enumerate() {
                    if position >= first {
                        stack.push((arg, path.clone()));
                    }
                    path.push(match head == "and" {
                        true => arg,
                        false => forms.apply("not", &[arg]),
                    });
                }
            }
            ("=>", _) => {
                let mut path = path;
                for arg in args {
                    stack.push((arg, path.clone()));
                    path.push(arg);
                }
            }
            ("match", _) => {
                if args.iter().skip(1).any(|arg| has_call.contains(arg)) {
                    return Err("a call inside of a `match`".to_owned());
                }
                stack.extend(args.first().map(|&arg| (arg, path)));
            }
            ("let" | "forall" | "exists" | "lambda" | "choice" | "_" | "as" | "!", _) => {
                return Err(format!("a call inside of `{head}`"));
            }
            _ => stack.extend(args.into_iter().map(|arg| (arg, path.clone()))),
        }
    }
    Ok(found)
}

/// A selector: its constructor, the number of the constructor's fields, and the field's position.
struct Selector {
    constructor: String,
    fields: usize,
    field: usize,
    /// Whether the datatype has no other constructor.
    is_only: bool,
}

/// Makes formulas that terms are smaller than variables.
pub(super) struct Descent {
    selectors: FxHashMap<String, Selector>,
    constructors: FxHashSet<String>,
    /// The prefix of names in patterns.
    stem: String,
}

impl Descent {
    /// For the datatypes of a problem. The formulas imply that constructors and selectors are as
    /// they were read.
    pub fn new(problem: &Problem, stem: &str) -> Self {
        let terms = &problem.terms;
        let mut selectors = FxHashMap::default();
        let mut names = FxHashSet::default();
        for id in terms.datatype_ids() {
            let constructors = &terms.datatype(id).constructors;
            for constructor in constructors {
                names.insert(quote_symbol(&constructor.name));
                for (field, named) in constructor.fields.iter().enumerate() {
                    let selector = Selector {
                        constructor: quote_symbol(&constructor.name),
                        fields: constructor.fields.len(),
                        field,
                        is_only: constructors.len() == 1,
                    };
                    selectors.insert(quote_symbol(&named.selector), selector);
                }
            }
        }
        Descent {
            selectors,
            constructors: names,
            stem: stem.to_owned(),
        }
    }

    /// Whether a symbol is a constructor.
    pub fn is_constructor(&self, symbol: &str) -> bool {
        self.constructors.contains(symbol)
    }

    /// Whether a symbol is a constructor or a selector.
    pub fn is_of_datatypes(&self, symbol: &str) -> bool {
        self.selectors.contains_key(symbol) || self.is_constructor(symbol)
    }

    /// A formula that the terms are lexicographically smaller than the variables, for tuples of a
    /// variable, its sort, a term and its sort. `None` if no term has the form of a smaller one.
    pub fn smaller(
        &self,
        forms: &mut Forms,
        pairs: &[(&str, &str, FormId, &str)],
    ) -> Option<FormId> {
        let mut result = None;
        for &(old, old_sort, new, new_sort) in pairs.iter().rev() {
            let mut disjuncts = Vec::new();
            disjuncts.extend(match old_sort == "Int" && new_sort == "Int" {
                true => {
                    let old = forms.atom(old);
                    Some(below(forms, old, new))
                }
                false => self.part(forms, old, new),
            });
            if let Some(rest) = result
                && old_sort == new_sort
            {
                let old = forms.atom(old);
                disjuncts.push(match old == new {
                    true => rest,
                    false => {
                        let equal = forms.apply("=", &[new, old]);
                        forms.apply("and", &[equal, rest])
                    }
                });
            }
            result = match disjuncts.as_slice() {
                [] => None,
                [only] => Some(*only),
                _ => Some(forms.apply("or", &disjuncts)),
            };
        }
        result
    }

    /// A formula that `new`, selectors applied to the variable, is a proper part of the variable:
    /// each selector takes a field of its argument's constructor. `None` for another term.
    fn part(&self, forms: &mut Forms, old: &str, new: FormId) -> Option<FormId> {
        let mut steps = Vec::new();
        let mut at = new;
        loop {
            match forms.application(at)? {
                (name, []) if name == old => break,
                (name, &[argument]) => {
                    steps.push((self.selectors.get(name)?, at, argument));
                    at = argument;
                }
                _ => return None,
            }
        }
        if steps.is_empty() {
            return None;
        }
        let steps: Vec<FormId> = steps
            .into_iter()
            .rev()
            .map(|(selector, whole, argument)| self.is_field(forms, selector, whole, argument))
            .collect();
        Some(conjunction(forms, &steps))
    }

    /// A formula that `argument` has the selector's constructor and `field` is its field.
    fn is_field(
        &self,
        forms: &mut Forms,
        selector: &Selector,
        field: FormId,
        argument: FormId,
    ) -> FormId {
        let names: Vec<FormId> = (0..selector.fields)
            .map(|i| forms.atom(format!("{}f{i}", self.stem)))
            .collect();
        let pattern = forms.apply(&selector.constructor, &names);
        let equal = forms.apply("=", &[names[selector.field], field]);
        let mut cases = vec![forms.list(&[pattern, equal])];
        if !selector.is_only {
            let other = forms.atom(format!("{}o", self.stem));
            let no = forms.atom("false");
            cases.push(forms.list(&[other, no]));
        }
        let cases = forms.list(&cases);
        forms.apply("match", &[argument, cases])
    }
}

/// A formula that the second integers of pairs are lexicographically smaller than the first ones.
pub(super) fn smaller_integers(forms: &mut Forms, pairs: &[(FormId, FormId)]) -> FormId {
    let mut result = None;
    for &(old, new) in pairs.iter().rev() {
        let falls = below(forms, old, new);
        result = Some(match result {
            None => falls,
            Some(rest) => {
                let equal = forms.apply("=", &[new, old]);
                let later = forms.apply("and", &[equal, rest]);
                forms.apply("or", &[falls, later])
            }
        });
    }
    result.unwrap_or_else(|| forms.atom("false"))
}

/// A formula that an integer is smaller than another, and that this is at least 0. There is no
/// endless sequence of such steps, since only its last integer may be negative.
fn below(forms: &mut Forms, old: FormId, new: FormId) -> FormId {
    let zero = forms.atom("0");
    let bounds = [
        forms.apply("<=", &[zero, old]),
        forms.apply("<", &[new, old]),
    ];
    forms.apply("and", &bounds)
}
