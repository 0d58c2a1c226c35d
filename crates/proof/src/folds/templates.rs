//! Encoders from templates: no code, sizes, the functions that the clauses define, counts of
//! constructors with sums of fields, the least and the greatest integer, and counts in which deeper
//! parts have other weights.
//!
//! Invariant: the encoders that this module returns have all their cases, and their admissible
//! codes are set.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::admissible::find_admissible;
use super::codes::{Declared, Encoder};
use super::limits::LIMITS;
use crate::functions::define;
use alphorn_chc::System;
use alphorn_smt::Smt;
use alphorn_term::run::Context;
use alphorn_term::{DatatypeId, FunctionId, Op, Sort, SortId, TermId, TermStore};

/// Factors of recursive fields, besides one.
const FACTORS: [i32; 3] = [2, -1, 0];

/// The templates, in the order in which they are tried.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Template {
    /// No code.
    Nothing,
    /// The size.
    Sizes,
    /// The functions that the clauses define, and the size.
    Functions,
    /// The number of occurrences of each constructor, and the sums of integer fields. All weighted
    /// sums are linear in them.
    Counts,
    /// The least and the greatest integer, and the functions.
    Order,
    /// All of these, and the root if several constructors are recursive.
    All,
    /// A value, or counts and sums, in which recursive fields have weights; the index of a choice
    /// in [`Maker::multiples`].
    Multiples(usize),
}

impl Template {
    /// The templates without weights.
    pub const ORDER: [Template; 6] = [
        Template::Nothing,
        Template::Sizes,
        Template::Functions,
        Template::Counts,
        Template::Order,
        Template::All,
    ];

    /// The name in statistics.
    pub fn name(self) -> &'static str {
        match self {
            Template::Nothing => "nothing",
            Template::Sizes => "sizes",
            Template::Functions => "functions",
            Template::Counts => "counts",
            Template::Order => "order",
            Template::All => "all",
            Template::Multiples(_) => "multiples",
        }
    }
}

/// The folds that components use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fold {
    Size,
    Count(DatatypeId, u32),
    /// The sum of a field; for Booleans, the number of true ones.
    Sum(DatatypeId, u32, u32),
    /// One number: the sum of the constructor's number, the integers and the values of fields, with
    /// weights.
    Value,
    /// Counts summed over all recursive fields, their recursive fields, and so on.
    Counts(DatatypeId, u32),
    Sums(DatatypeId, u32, u32),
    Function(FunctionId),
    /// Whether the root is this constructor of the datatype itself.
    Root(u32),
    /// A field of the root if it is this constructor, and otherwise a default value.
    Part(u32, u32),
    /// Whether the term contains an integer.
    Any,
    Least,
    Greatest,
}

/// A field of a constructor.
type Field = (DatatypeId, u32, usize);

/// The folds of datatypes.
type Folds = FxHashMap<DatatypeId, Vec<Fold>>;

/// The weights of the codes of recursive fields in sums.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Weights {
    /// Factors other than one, by constructor and field.
    factors: FxHashMap<Field, i32>,
    /// The constructors' numbers if the code is one value; `None` for separate counts and sums.
    value: Option<FxHashMap<(DatatypeId, u32), i32>>,
    /// Whether there are sums over all recursive fields, too.
    nested: bool,
}

/// Makes encoders for a system.
pub struct Maker {
    terms: Rc<TermStore>,
    /// The unary functions to integers or Booleans, by datatype.
    functions: FxHashMap<DatatypeId, Vec<FunctionId>>,
    /// The other folds that these functions use: roots of fields, and fields of these roots.
    companions: Folds,
    /// The weights of [`Template::Multiples`].
    weights: Vec<Weights>,
}

impl Maker {
    /// Finds the functions that the system's clauses define.
    pub fn new(system: &System, smt: &Rc<Smt>, cx: &mut Context) -> Maker {
        let terms = system.terms.clone();
        let part = cx.budget.work(LIMITS.definitions_work);
        let definitions = cx.within(part, |cx| define(system, true, smt, cx));
        let mut functions: FxHashMap<DatatypeId, Vec<FunctionId>> = FxHashMap::default();
        for function in definitions.functions() {
            let definition = terms.function(function);
            if let &[param] = definition.params.as_slice()
                && let Op::Var(_) = terms.op(param)
                && let Sort::Datatype(id) = terms.sort(terms.sort_of(param))
                && is_scalar(definition.result)
            {
                functions.entry(id).or_default().push(function);
            }
        }
        let mut maker = Maker {
            terms,
            functions,
            companions: FxHashMap::default(),
            weights: Vec::new(),
        };
        maker.keep_folds();
        maker.find_weights();
        maker
    }

    /// The templates with weights, in the order in which they are tried.
    pub fn multiples(&self) -> impl Iterator<Item = Template> + use<> {
        (0..self.weights.len()).map(Template::Multiples)
    }

    /// Enumerates weights of recursive fields: the same factor for all; one field of each
    /// constructor only; another factor for one constructor, or for all but one; and sums of sums.
    /// Numerals have no weights, since their size determines them. The factors are the first ones
    /// of Catalia (arXiv 2507.20726). For each choice of factors, first come values that count some
    /// constructors, then counts and sums: all other codes with these factors are linear in them,
    /// so the engine for arithmetic finds the constants and coefficients.
    fn find_weights(&mut self) {
        let terms = &self.terms;
        let mut fields: Vec<Field> = Vec::new();
        for id in terms.datatype_ids().filter(|&id| !self.is_numeral(id)) {
            for (c, own) in (0..).zip(terms.counted_fields(id)) {
                fields.extend(own.iter().map(|&f| (id, c, f as usize)));
            }
        }
        let mut choices: Vec<FxHashMap<Field, i32>> = Vec::new();
        let mut add = |factor: &dyn Fn(&Field) -> i32| {
            let factors = fields.iter().map(|field| (*field, factor(field)));
            let factors: FxHashMap<_, _> = factors.filter(|(_, factor)| *factor != 1).collect();
            if !factors.is_empty() && !choices.contains(&factors) {
                choices.push(factors);
            }
        };
        for factor in FACTORS {
            add(&|_| factor);
        }
        let apart: &[Field] = if fields.len() <= LIMITS.max_weighted_fields {
            &fields
        } else {
            &[]
        };
        let rank = |&(id, c, field): &Field| {
            let earlier = |f: &&Field| (f.0, f.1) == (id, c) && f.2 < field;
            fields.iter().filter(earlier).count()
        };
        let most = apart.iter().map(rank).max().unwrap_or(0);
        for chosen in (0..=most).filter(|_| most > 0) {
            add(&|field| i32::from(rank(field) == chosen));
        }
        for factor in FACTORS {
            for &(id, c, _) in apart {
                let is_own = |f: &Field| (f.0, f.1) == (id, c);
                add(&|field| if is_own(field) { factor } else { 1 });
                add(&|field| if is_own(field) { 1 } else { factor });
            }
        }
        let weighted: FxHashSet<DatatypeId> = fields.iter().map(|f| f.0).collect();
        let mut constructors: Vec<(DatatypeId, u32)> = Vec::new();
        for id in terms.datatype_ids().filter(|id| weighted.contains(id)) {
            let count = terms.datatype(id).constructors.len() as u32;
            constructors.extend((0..count).map(|c| (id, c)));
        }
        let subsets = match constructors.len() {
            count if count <= LIMITS.max_valued_constructors => 1_u32..1 << count,
            _ => 0..0,
        };
        let mut weights: Vec<Weights> = Vec::new();
        for factors in choices {
            let with = |value| Weights {
                factors: factors.clone(),
                value,
                nested: false,
            };
            for subset in subsets.clone().rev() {
                let number = |(&c, at): (&_, u32)| (c, i32::from(subset >> at & 1 == 1));
                let numbers = constructors.iter().zip(0..).map(number);
                weights.push(with(Some(numbers.collect())));
            }
            weights.push(with(None));
        }
        if !fields.is_empty() {
            weights.push(Weights {
                nested: true,
                ..Weights::default()
            });
        }
        self.weights = weights;
    }

    /// The encoder of a template; `None` if it equals an earlier one.
    pub fn encoder(&self, template: Template, cx: &mut Context) -> Option<Encoder> {
        let plain = Weights::default();
        let weights = match template {
            Template::Multiples(choice) => self.weights.get(choice)?,
            _ => &plain,
        };
        let mut folds: Folds = FxHashMap::default();
        for id in self.terms.datatype_ids() {
            let own = folds.entry(id).or_default();
            let sized = self.terms.sized(self.terms.datatype_sort(id)).is_some();
            let functions = || self.functions.get(&id).into_iter().flatten();
            if matches!(template, Template::Sizes | Template::Functions) && sized {
                own.push(Fold::Size);
            }
            if matches!(template, Template::Counts | Template::All) {
                own.extend(self.counts(id));
            }
            if matches!(template, Template::Multiples(_)) {
                own.extend(self.multiplied(id, weights));
            }
            let ordered = matches!(template, Template::Order | Template::All);
            match self.has_integers(id) {
                true if ordered => own.extend([Fold::Any, Fold::Least, Fold::Greatest]),
                false if template == Template::Order && sized => own.push(Fold::Size),
                _ => {}
            }
            if matches!(
                template,
                Template::Functions | Template::Order | Template::All
            ) {
                own.extend(functions().map(|&f| Fold::Function(f)));
                own.extend(self.companions.get(&id).into_iter().flatten());
            }
            if template == Template::All {
                let roots = self.roots(id).into_iter();
                let missing: Vec<Fold> = roots.filter(|f| !own.contains(f)).collect();
                own.extend(missing);
            }
            if own.len() > LIMITS.max_components {
                return None;
            }
        }
        let has_functions = self.functions.values().any(|f| !f.is_empty());
        let has_roots = self
            .terms
            .datatype_ids()
            .any(|id| !self.roots(id).is_empty());
        let has_integers = self.terms.datatype_ids().any(|id| self.has_integers(id));
        let is_new = match template {
            Template::Functions => has_functions,
            Template::Order => has_integers,
            Template::All => has_functions || has_roots || has_integers,
            _ => true,
        };
        if !is_new {
            return None;
        }
        let mut encoder = self.make(&folds, weights);
        if encoder.is_empty() != (template == Template::Nothing) {
            return None;
        }
        for id in self.terms.datatype_ids() {
            let constructors = &self.terms.datatype(id).constructors;
            let fields: usize = constructors.iter().map(|c| c.fields.len()).sum();
            let measures = |f: &Fold| matches!(f, Fold::Size | Fold::Count(..));
            let measured = folds[&id].iter().any(measures);
            // Of the constructors without fields all but one are counted.
            let counted = measured && fields == 0;
            let numeral = measured && self.is_numeral(id);
            if numeral || counted || fields == 0 && constructors.len() == 1 {
                encoder.set_injective(id);
            }
        }
        find_admissible(&mut encoder, cx);
        Some(encoder)
    }

    /// Whether the size determines the value: one constant and one constructor with one field.
    fn is_numeral(&self, id: DatatypeId) -> bool {
        let constructors = &self.terms.datatype(id).constructors;
        let fields: usize = constructors.iter().map(|c| c.fields.len()).sum();
        let is_sized = self.terms.sized(self.terms.datatype_sort(id)).is_some();
        constructors.len() == 2 && fields == 1 && is_sized
    }

    /// Drops functions that are not folds over the remaining functions and their companions.
    fn keep_folds(&mut self) {
        loop {
            let all: FxHashSet<FunctionId> = self.functions.values().flatten().copied().collect();
            self.companions = self.looked_at();
            let mut folds = self.companions.clone();
            for (&id, own) in &self.functions {
                let own = own.iter().map(|&f| Fold::Function(f));
                folds.entry(id).or_default().extend(own);
            }
            let encoder = self.declared(&folds);
            let mut kept = FxHashSet::default();
            for (&id, own) in &self.functions {
                let count = self.terms.datatype(id).constructors.len() as u32;
                for &function in own {
                    let case = |c| self.function_case(&encoder, &folds, function, id, c);
                    if (0..count).all(|c| case(c).is_some()) {
                        kept.insert(function);
                    }
                }
            }
            if kept.len() == all.len() {
                return;
            }
            for own in self.functions.values_mut() {
                own.retain(|f| kept.contains(f));
            }
        }
    }

    /// Roots and fields of their arguments' fields that the functions use.
    fn looked_at(&self) -> Folds {
        let terms = &self.terms;
        let mut found: Folds = FxHashMap::default();
        for (&id, own) in &self.functions {
            for &function in own {
                for c in 0..terms.datatype(id).constructors.len() as u32 {
                    let (body, whole) = self.body(function, id, c, None);
                    terms.post_order(&[body], |t| {
                        if terms.args(t).first().is_none_or(|a| !whole.contains_key(a)) {
                            return;
                        }
                        let (of, fold) = match *terms.op(t) {
                            Op::Is(of, c) => (of, Fold::Root(c)),
                            Op::Field(of, c, f) if is_scalar(terms.sort_of(t)) => {
                                (of, Fold::Part(c, f))
                            }
                            _ => return,
                        };
                        let folds = found.entry(of).or_default();
                        if !folds.contains(&fold) {
                            folds.push(fold);
                        }
                    });
                }
            }
        }
        found
    }

    /// The body of a function for a constructor whose fields are variables: those with whole terms,
    /// given with their position, and variables of the encoder or others.
    fn body(
        &self,
        function: FunctionId,
        id: DatatypeId,
        c: u32,
        encoder: Option<&Encoder>,
    ) -> (TermId, FxHashMap<TermId, usize>) {
        let terms = &self.terms;
        let definition = terms.function(function);
        let mut whole: FxHashMap<TermId, usize> = FxHashMap::default();
        let mut fields = Vec::new();
        let own = &terms.datatype(id).constructors[c as usize].fields;
        for (position, field) in own.iter().enumerate() {
            let is_term = matches!(terms.sort(field.sort), Sort::Datatype(_));
            fields.push(match encoder {
                Some(encoder) if !is_term => encoder.fields(id, c)[position][0],
                _ => terms.fresh_var("field", field.sort),
            });
            if is_term {
                whole.insert(fields[position], position);
            }
        }
        let map = FxHashMap::from_iter([(definition.params[0], terms.construct(id, c, &fields))]);
        (terms.substitute(definition.body, &map), whole)
    }

    fn declared(&self, folds: &Folds) -> Encoder {
        let mut declared: FxHashMap<DatatypeId, Vec<Declared>> = FxHashMap::default();
        for (&id, own) in folds {
            let sort = self.terms.datatype(id).name.clone();
            let component = |fold: &Fold| match *fold {
                Fold::Size => (format!("length!{sort}"), SortId::INT),
                Fold::Count(of, c) => {
                    let name = &self.terms.datatype(of).constructors[c as usize].name;
                    (format!("count!{sort}!{name}"), SortId::INT)
                }
                Fold::Sum(of, c, f) => {
                    let constructor = &self.terms.datatype(of).constructors[c as usize];
                    let name = &constructor.fields[f as usize].selector;
                    (format!("sum!{sort}!{name}"), SortId::INT)
                }
                Fold::Value => (format!("value!{sort}"), SortId::INT),
                Fold::Counts(of, c) => {
                    let name = &self.terms.datatype(of).constructors[c as usize].name;
                    (format!("counts!{sort}!{name}"), SortId::INT)
                }
                Fold::Sums(of, c, f) => {
                    let constructor = &self.terms.datatype(of).constructors[c as usize];
                    let name = &constructor.fields[f as usize].selector;
                    (format!("sums!{sort}!{name}"), SortId::INT)
                }
                Fold::Function(function) => {
                    let function = self.terms.function(function);
                    (format!("{}fold", function.name), function.result)
                }
                Fold::Any => (format!("any!{sort}"), SortId::BOOL),
                Fold::Least => (format!("least!{sort}"), SortId::INT),
                Fold::Greatest => (format!("greatest!{sort}"), SortId::INT),
                Fold::Root(c) => {
                    let name = &self.terms.datatype(id).constructors[c as usize].name;
                    (format!("is!{sort}!{name}"), SortId::BOOL)
                }
                Fold::Part(c, f) => {
                    let field =
                        &self.terms.datatype(id).constructors[c as usize].fields[f as usize];
                    (format!("part!{sort}!{}", field.selector), field.sort)
                }
            };
            declared.insert(id, own.iter().map(component).collect());
        }
        Encoder::new(&self.terms, &declared)
    }

    fn make(&self, folds: &Folds, weights: &Weights) -> Encoder {
        let mut encoder = self.declared(folds);
        for id in self.terms.datatype_ids() {
            for c in 0..self.terms.datatype(id).constructors.len() as u32 {
                let case = |fold: &Fold| match *fold {
                    Fold::Size => self.size_case(&encoder, folds, id, c),
                    Fold::Value
                    | Fold::Count(..)
                    | Fold::Sum(..)
                    | Fold::Counts(..)
                    | Fold::Sums(..) => self.count_case(&encoder, (folds, weights), *fold, id, c),
                    Fold::Function(f) => {
                        let case = self.function_case(&encoder, folds, f, id, c);
                        case.expect("other functions were dropped")
                    }
                    Fold::Any | Fold::Least | Fold::Greatest => {
                        self.order_case(&encoder, folds, *fold, id, c)
                    }
                    Fold::Root(root) => self.terms.bool(c == root),
                    Fold::Part(root, f) => {
                        let var = encoder.fields(id, root)[f as usize][0];
                        let other = self.terms.default_value(self.terms.sort_of(var));
                        match other {
                            Some(other) if c != root => other,
                            _ => var,
                        }
                    }
                };
                let cases: Vec<TermId> = folds[&id].iter().map(case).collect();
                encoder.define(id, &cases);
            }
        }
        encoder
    }

    /// The component of a field's code that is this fold.
    fn inner(
        &self,
        encoder: &Encoder,
        folds: &Folds,
        (id, c, field): Field,
        is_it: impl Fn(&Fold) -> bool,
    ) -> Option<TermId> {
        let sort = self.terms.datatype(id).constructors[c as usize].fields[field].sort;
        let inner = encoder.datatype(sort)?;
        let at = folds.get(&inner)?.iter().position(is_it)?;
        Some(encoder.fields(id, c)[field][at])
    }

    fn size_case(&self, encoder: &Encoder, folds: &Folds, id: DatatypeId, c: u32) -> TermId {
        let fields = &self.terms.counted_fields(id)[c as usize];
        let mut sum = vec![self.terms.int(i32::from(!fields.is_empty()))];
        let is_size = |fold: &Fold| matches!(fold, Fold::Size);
        let inner = |&f: &u32| self.inner(encoder, folds, (id, c, f as usize), is_size);
        sum.extend(fields.iter().filter_map(inner));
        self.terms.add(&sum)
    }

    /// The weighted sum over the fields, and the constructor's own number.
    fn count_case(
        &self,
        encoder: &Encoder,
        (folds, weights): (&Folds, &Weights),
        fold: Fold,
        id: DatatypeId,
        c: u32,
    ) -> TermId {
        let terms = &self.terms;
        let is_same = |other: &Fold| *other == fold;
        let is_value = fold == Fold::Value;
        let is_summed = |other: &Fold| match (fold, *other) {
            // Numerals count as numbers.
            (Fold::Value, Fold::Count(..)) => true,
            (Fold::Counts(a, b), Fold::Count(d, e)) => (a, b) == (d, e),
            (Fold::Sums(a, b, f), Fold::Sum(d, e, g)) => (a, b, f) == (d, e, g),
            _ => false,
        };
        let mut sum = vec![terms.int(0)];
        for (field, own) in terms.datatype(id).constructors[c as usize]
            .fields
            .iter()
            .enumerate()
        {
            let factor = weights.factors.get(&(id, c, field)).copied().unwrap_or(1);
            let inner = self.inner(encoder, folds, (id, c, field), is_same);
            sum.extend(inner.map(|inner| terms.mul(&[terms.int(factor), inner])));
            sum.extend(self.inner(encoder, folds, (id, c, field), is_summed));
            if is_value && is_scalar(own.sort) || is_same(&Fold::Sum(id, c, field as u32)) {
                let var = encoder.fields(id, c)[field][0];
                sum.push(match own.sort {
                    SortId::BOOL => terms.ite(var, terms.int(1), terms.int(0)),
                    _ => var,
                });
            }
        }
        let number = weights.value.as_ref().and_then(|value| value.get(&(id, c)));
        match number {
            Some(&number) if is_value => sum.push(terms.int(number)),
            _ if is_same(&Fold::Count(id, c)) => sum.push(terms.int(1)),
            _ => {}
        }
        terms.add(&sum)
    }

    /// The value of a function on a constructor, if it is a function of the codes of the fields.
    fn function_case(
        &self,
        encoder: &Encoder,
        folds: &Folds,
        function: FunctionId,
        id: DatatypeId,
        c: u32,
    ) -> Option<TermId> {
        let terms = &self.terms;
        let (body, whole) = self.body(function, id, c, Some(encoder));
        let case = terms.rewrite(body, &mut FxHashMap::default(), |t| {
            let fold = match *terms.op(t) {
                Op::Call(callee) => Fold::Function(callee),
                Op::Is(_, root) => Fold::Root(root),
                Op::Field(_, root, f) => Fold::Part(root, f),
                _ => return None,
            };
            let &position = whole.get(terms.args(t).first()?)?;
            self.inner(encoder, folds, (id, c, position), |other| *other == fold)
        });
        let mut closed = true;
        terms.post_order(&[case], |t| {
            closed &= !whole.contains_key(&t) && !matches!(terms.op(t), Op::Call(_) | Op::Size(_));
        });
        closed.then_some(case)
    }

    /// Whether a term may contain several integers.
    fn has_integers(&self, id: DatatypeId) -> bool {
        let terms = &self.terms;
        let is_integer = |of: &DatatypeId| {
            let constructors = terms.datatype(*of).constructors.iter();
            let mut fields = constructors.flat_map(|c| &c.fields);
            fields.any(|f| f.sort == SortId::INT)
        };
        let is_sized = terms.sized(terms.datatype_sort(id)).is_some();
        is_sized && terms.datatype_groups(&[id]).concat().iter().any(is_integer)
    }

    /// The least or the greatest integer in a term, or whether it contains one.
    fn order_case(
        &self,
        encoder: &Encoder,
        folds: &Folds,
        fold: Fold,
        id: DatatypeId,
        c: u32,
    ) -> TermId {
        let terms = &self.terms;
        let (mut any, mut best) = (TermId::FALSE, terms.int(0));
        for (field, own) in terms.datatype(id).constructors[c as usize]
            .fields
            .iter()
            .enumerate()
        {
            let inner = |fold| self.inner(encoder, folds, (id, c, field), |f| *f == fold);
            let (is_there, value) = match (own.sort, inner(Fold::Any), inner(fold)) {
                (SortId::INT, ..) => (TermId::TRUE, encoder.fields(id, c)[field][0]),
                (_, Some(any), Some(value)) => (any, value),
                _ => continue,
            };
            if fold != Fold::Any {
                let better = match fold {
                    Fold::Least => terms.le(value, best),
                    _ => terms.ge(value, best),
                };
                let takes = terms.and(&[is_there, terms.or(&[terms.not(any), better])]);
                best = terms.ite(takes, value, best);
            }
            any = terms.or(&[any, is_there]);
        }
        if fold == Fold::Any { any } else { best }
    }

    /// Whether the root is each of the recursive constructors, if there are several; counts do not
    /// determine it.
    fn roots(&self, id: DatatypeId) -> Vec<Fold> {
        let counted = self.terms.counted_fields(id);
        let recurring = (0..).zip(counted).filter(|(_, fields)| !fields.is_empty());
        let all: Vec<Fold> = recurring.map(|(c, _)| Fold::Root(c)).collect();
        if all.len() > 1 { all } else { Vec::new() }
    }

    /// For all datatypes inside this one, counts of constructors and sums of fields. For each
    /// datatype, one constructor without recursive fields is left out: its count follows from the
    /// others.
    fn counts(&self, id: DatatypeId) -> Vec<Fold> {
        self.occurrences(id, false)
    }

    /// The same with weights. There no count follows from the others, except for numerals.
    fn multiplied(&self, id: DatatypeId, weights: &Weights) -> Vec<Fold> {
        if weights.value.is_some() && !self.is_numeral(id) {
            return vec![Fold::Value];
        }
        let mut folds = self.occurrences(id, !weights.nested);
        if weights.nested && !self.is_numeral(id) {
            let nested = |fold: &Fold| match *fold {
                Fold::Count(of, c) => Some(Fold::Counts(of, c)),
                Fold::Sum(of, c, f) => Some(Fold::Sums(of, c, f)),
                _ => None,
            };
            let more: Vec<Fold> = folds.iter().filter_map(nested).collect();
            folds.extend(more);
        }
        folds
    }

    fn occurrences(&self, id: DatatypeId, all: bool) -> Vec<Fold> {
        let terms = &self.terms;
        let mut inside: Vec<DatatypeId> = terms.datatype_groups(&[id]).concat();
        inside.sort_unstable();
        let mut folds = Vec::new();
        for of in inside {
            let counted = terms.counted_fields(of);
            let base = counted.iter().position(Vec::is_empty);
            for (c, constructor) in terms.datatype(of).constructors.iter().enumerate() {
                if Some(c) != base || all && !self.is_numeral(of) {
                    folds.push(Fold::Count(of, c as u32));
                }
                for (field, own) in constructor.fields.iter().enumerate() {
                    if is_scalar(own.sort) {
                        folds.push(Fold::Sum(of, c as u32, field as u32));
                    }
                }
            }
        }
        folds
    }
}

/// Whether codes may have components of this sort.
fn is_scalar(sort: SortId) -> bool {
    sort == SortId::INT || sort == SortId::BOOL
}
