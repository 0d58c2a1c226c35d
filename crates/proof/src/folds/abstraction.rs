//! The system of codes: each argument of a datatype is replaced by its code, and each constraint by
//! one about codes that it implies.
//!
//! Formulas are translated with their polarity. An equation of terms becomes one of their codes; a
//! disequation becomes `true`, unless codes are injective; a tester becomes an equation with a
//! constructor whose fields are fresh variables, which selectors use; other terms and conditions
//! inside terms become variables.
//!
//! Invariant: values that satisfy a clause's constraint have codes, and fields, that satisfy the
//! abstract constraint. So a model of the abstract system, applied to codes, is a model of the
//! clauses.

use rustc_hash::{FxHashMap, FxHashSet};

use super::codes::{Encoder, Functions};
use alphorn_chc::{Atom, Clause, PredicateId, System};
use alphorn_term::run::Context;
use alphorn_term::{DatatypeId, Op, SortId, TermId, TermStore};
use alphorn_witness::Model;

/// A predicate of the system, its predicate over codes, and by argument the variables for its code,
/// or the variable for the argument itself.
struct Image {
    old: PredicateId,
    new: PredicateId,
    params: Vec<Vec<TermId>>,
}

/// A system of codes. Its clauses are those of the system, in their order.
pub struct Abstraction {
    /// The clauses over codes.
    pub system: System,
    images: Vec<Image>,
}

impl Abstraction {
    /// The system of codes; `None` if the budget ends before it is complete.
    pub fn new(old: &System, encoder: &Encoder, cx: &Context) -> Option<Abstraction> {
        let terms = &old.terms;
        let mut system = System::new(terms.clone());
        let mut images = Vec::new();
        let mut number: FxHashMap<PredicateId, PredicateId> = FxHashMap::default();
        for predicate in old.used_predicates() {
            let params = &old.predicate(predicate).params;
            let sorts = |p: &TermId| match encoder.datatype(terms.sort_of(*p)) {
                Some(id) => encoder.sorts(id),
                None => vec![terms.sort_of(*p)],
            };
            let parts: Vec<Vec<SortId>> = params.iter().map(sorts).collect();
            let new = system.add_predicate(&old.predicate(predicate).name, &parts.concat());
            let mut flat = system.predicate(new).params.iter().copied();
            let take = |part: &Vec<SortId>| flat.by_ref().take(part.len()).collect();
            images.push(Image {
                old: predicate,
                new,
                params: parts.iter().map(take).collect(),
            });
            number.insert(predicate, new);
        }
        for clause in &old.clauses {
            if cx.stop().is_some() {
                return None;
            }
            let mut reader = Reader::new(terms, encoder, clause);
            let mut atom = |atom: &Atom| Atom {
                predicate: number[&atom.predicate],
                args: atom.args.iter().flat_map(|&arg| reader.part(arg)).collect(),
            };
            let body = clause.body.iter().map(&mut atom).collect();
            let head = clause.head.as_ref().map(&mut atom);
            let constraint = reader.constraint(clause.constraint);
            system.add_clause(body, constraint, head);
        }
        Some(Abstraction { system, images })
    }

    /// The model of the clauses that applies a model of the system of codes to the codes of terms.
    pub fn model(
        &self,
        of_codes: &Model,
        encoder: &Encoder,
        functions: &Functions,
        old: &System,
    ) -> Model {
        let terms = &old.terms;
        let mut model = Model::default();
        for image in &self.images {
            let formula = of_codes.definitions.get(&image.new).copied();
            let mut map: FxHashMap<TermId, TermId> = FxHashMap::default();
            for (&param, code) in old.predicate(image.old).params.iter().zip(&image.params) {
                let parts = match encoder.datatype(terms.sort_of(param)) {
                    Some(id) => functions.code(terms, id, param),
                    None => vec![param],
                };
                map.extend(code.iter().copied().zip(parts));
            }
            let formula = terms.substitute(formula.unwrap_or(TermId::TRUE), &map);
            model.definitions.insert(image.old, formula);
        }
        let mut roots: Vec<TermId> = model.definitions.values().copied().collect();
        roots.sort_unstable();
        model.lemmas = functions.lemmas(encoder, &roots);
        model
    }
}

/// A condition inside a term, with the results for both of its values.
struct Choice {
    condition: TermId,
    result: Vec<TermId>,
    then: Vec<TermId>,
    other: Vec<TermId>,
}

/// Translates the constraint of one clause.
pub struct Reader<'a> {
    terms: &'a TermStore,
    encoder: &'a Encoder,
    /// Terms that contain terms of datatypes.
    with_datatypes: FxHashSet<TermId>,
    /// The translation of terms: the code for a datatype, otherwise one term.
    parts: FxHashMap<TermId, Vec<TermId>>,
    /// Variables for the fields of a term, if it has the constructor.
    opened: FxHashMap<(TermId, u32), Vec<Vec<TermId>>>,
    formulas: FxHashMap<(TermId, bool), TermId>,
    choices: Vec<Choice>,
    /// Conditions on the new variables.
    facts: Vec<TermId>,
}

impl<'a> Reader<'a> {
    /// A reader for a clause.
    pub fn new(terms: &'a TermStore, encoder: &'a Encoder, clause: &Clause) -> Self {
        let mut with_datatypes: FxHashSet<TermId> = FxHashSet::default();
        terms.post_order(&[clause.constraint], |t| {
            let node = terms.node(t);
            let inside = node.args.iter().any(|a| with_datatypes.contains(a));
            if inside || encoder.datatype(node.sort).is_some() {
                with_datatypes.insert(t);
            }
        });
        Reader {
            terms,
            encoder,
            with_datatypes,
            parts: FxHashMap::default(),
            opened: FxHashMap::default(),
            formulas: FxHashMap::default(),
            choices: Vec::new(),
            facts: Vec::new(),
        }
    }

    /// The constraint about codes.
    pub fn constraint(&mut self, constraint: TermId) -> TermId {
        let mut conjuncts = vec![self.formula(constraint, true)];
        while let Some(choice) = self.choices.pop() {
            let then = [
                self.formula(choice.condition, true),
                self.equal(&choice.result, &choice.then),
            ];
            let other = [
                self.formula(choice.condition, false),
                self.equal(&choice.result, &choice.other),
            ];
            let cases = [self.terms.and(&then), self.terms.and(&other)];
            conjuncts.push(self.terms.or(&cases));
        }
        conjuncts.append(&mut self.facts);
        self.terms.and(&conjuncts)
    }

    fn equal(&self, left: &[TermId], right: &[TermId]) -> TermId {
        let pairs = left.iter().zip(right);
        let equations: Vec<TermId> = pairs.map(|(&a, &b)| self.terms.eq(a, b)).collect();
        self.terms.and(&equations)
    }

    // ---- formulas ----

    /// The translation of a formula, or of its negation.
    fn formula(&mut self, root: TermId, positive: bool) -> TermId {
        let mut stack = vec![(root, positive)];
        while let Some(&(t, positive)) = stack.last() {
            if self.formulas.contains_key(&(t, positive)) {
                stack.pop();
                continue;
            }
            let needed = self.needed(t, positive);
            let open = needed.iter().filter(|n| !self.formulas.contains_key(n));
            let open: Vec<(TermId, bool)> = open.copied().collect();
            if !open.is_empty() {
                stack.extend(open);
                continue;
            }
            let result = self.combine(t, positive);
            self.formulas.insert((t, positive), result);
            stack.pop();
        }
        self.formulas[&(root, positive)]
    }

    /// The formulas from which the translation of a connective is composed.
    fn needed(&self, t: TermId, positive: bool) -> Vec<(TermId, bool)> {
        let node = self.terms.node(t);
        if !self.with_datatypes.contains(&t) {
            return Vec::new();
        }
        let is_bool = |a: TermId| self.terms.sort_of(a) == SortId::BOOL;
        let both = |a: TermId| [(a, true), (a, false)];
        match (&node.op, &*node.args) {
            (Op::And | Op::Or, args) => args.iter().map(|&a| (a, positive)).collect(),
            (Op::Not, &[a]) => vec![(a, !positive)],
            (Op::Eq, &[a, b]) if is_bool(a) => [both(a), both(b)].concat(),
            (Op::Ite, &[c, a, b]) if is_bool(a) => {
                let mut needed = both(c).to_vec();
                needed.extend([(a, positive), (b, positive)]);
                needed
            }
            _ => Vec::new(),
        }
    }

    fn combine(&mut self, t: TermId, positive: bool) -> TermId {
        let terms = self.terms;
        let node = terms.node(t);
        let signed = |t: TermId| if positive { t } else { terms.not(t) };
        if !self.with_datatypes.contains(&t) {
            return signed(t);
        }
        let known = |t: TermId, positive: bool| self.formulas[&(t, positive)];
        let is_bool = |a: TermId| terms.sort_of(a) == SortId::BOOL;
        match (&node.op, &*node.args) {
            (Op::And | Op::Or, args) => {
                let args: Vec<TermId> = args.iter().map(|&a| known(a, positive)).collect();
                match (node.op == Op::And) == positive {
                    true => terms.and(&args),
                    false => terms.or(&args),
                }
            }
            (Op::Not, &[a]) => known(a, !positive),
            (Op::Eq, &[a, b]) if is_bool(a) => {
                let case = |of_a| terms.and(&[known(a, of_a), known(b, of_a == positive)]);
                terms.or(&[case(true), case(false)])
            }
            (Op::Ite, &[c, a, b]) if is_bool(a) => {
                let then = terms.and(&[known(c, true), known(a, positive)]);
                let other = terms.and(&[known(c, false), known(b, positive)]);
                terms.or(&[then, other])
            }
            (Op::Eq, &[a, b]) if self.encoder.datatype(terms.sort_of(a)).is_some() => {
                let id = self.encoder.datatype(terms.sort_of(a)).expect("it has one");
                let (left, right) = (self.part(a), self.part(b));
                let equal = self.equal(&left, &right);
                match positive {
                    true => equal,
                    false if self.encoder.is_injective(id) => terms.not(equal),
                    false => TermId::TRUE,
                }
            }
            (&Op::Is(id, constructor), &[term]) => {
                if positive {
                    return self.has_constructor(term, id, constructor);
                }
                let count = terms.datatype(id).constructors.len() as u32;
                let others: Vec<TermId> = (0..count)
                    .filter(|&c| c != constructor)
                    .map(|c| self.has_constructor(term, id, c))
                    .collect();
                terms.or(&others)
            }
            (Op::Field(..) | Op::Call(_), _) => {
                let part = self.part(t);
                part.first().map_or(TermId::TRUE, |&p| signed(p))
            }
            (op, args) => {
                let args: Vec<TermId> = args
                    .iter()
                    .filter_map(|&a| self.part(a).first().copied())
                    .collect();
                signed(terms.rebuild(op, &args, node.sort))
            }
        }
    }

    fn has_constructor(&mut self, term: TermId, id: DatatypeId, constructor: u32) -> TermId {
        let fields = self.open(term, id, constructor);
        let whole = self.part(term);
        let code = self.encoder.construct(id, constructor, &fields);
        self.equal(&whole, &code)
    }

    /// Variables for the fields of a term.
    fn open(&mut self, term: TermId, id: DatatypeId, constructor: u32) -> Vec<Vec<TermId>> {
        if let Some(fields) = self.opened.get(&(term, constructor)) {
            return fields.clone();
        }
        let own = self.terms.datatype(id).constructors[constructor as usize]
            .fields
            .iter();
        let fields: Vec<Vec<TermId>> = own.map(|f| self.variable(f.sort)).collect();
        self.opened.insert((term, constructor), fields.clone());
        fields
    }

    /// Fresh variables for a value of this sort.
    fn variable(&mut self, sort: SortId) -> Vec<TermId> {
        let part = self.encoder.fresh_part(sort);
        if let Some(id) = self.encoder.datatype(sort) {
            let fact = self.encoder.admissible(id, &part);
            self.facts.push(fact);
        }
        part
    }

    // ---- terms ----

    /// The translation of a term.
    pub fn part(&mut self, root: TermId) -> Vec<TermId> {
        let terms = self.terms;
        let is_datatype = self.encoder.datatype(terms.sort_of(root)).is_some();
        if !is_datatype && !self.with_datatypes.contains(&root) {
            return vec![root];
        }
        if let Some(part) = self.parts.get(&root) {
            return part.clone();
        }
        let mut stack = vec![root];
        while let Some(&t) = stack.last() {
            if self.parts.contains_key(&t) {
                stack.pop();
                continue;
            }
            let node = terms.node(t);
            // Conditions are translated at the end.
            let inner = match node.op {
                Op::Ite => &node.args[1..],
                _ if node.sort == SortId::BOOL && !matches!(node.op, Op::Field(..)) => &[],
                _ => &node.args[..],
            };
            let open = inner
                .iter()
                .filter(|a| self.with_datatypes.contains(a) && !self.parts.contains_key(a));
            let open: Vec<TermId> = open.copied().collect();
            if open.is_empty() {
                let part = self.of_term(t);
                self.parts.insert(t, part);
                stack.pop();
            } else {
                stack.extend(open);
            }
        }
        self.parts[&root].clone()
    }

    /// The translation of a term from those of its arguments.
    fn of_term(&mut self, t: TermId) -> Vec<TermId> {
        let terms = self.terms;
        let node = terms.node(t);
        let known = |a: &TermId| self.parts.get(a).cloned().unwrap_or_else(|| vec![*a]);
        match node.op {
            Op::Construct(id, constructor) => {
                let fields: Vec<Vec<TermId>> = node.args.iter().map(known).collect();
                self.encoder.construct(id, constructor, &fields)
            }
            Op::Field(id, constructor, position) => {
                let fields = self.open(node.args[0], id, constructor);
                if terms.datatype(id).constructors.len() == 1 {
                    let code = self.encoder.construct(id, constructor, &fields);
                    let whole = known_or_self(&self.parts, node.args[0]);
                    let fact = self.equal(&whole, &code);
                    self.facts.push(fact);
                }
                fields[position as usize].clone()
            }
            Op::Ite => {
                let (then, other) = (known(&node.args[1]), known(&node.args[2]));
                let result = self.variable(node.sort);
                self.choices.push(Choice {
                    condition: node.args[0],
                    result: result.clone(),
                    then,
                    other,
                });
                result
            }
            Op::Var(_) | Op::Call(_) | Op::Size(_) | Op::Select => self.variable(node.sort),
            _ if node.sort == SortId::BOOL => {
                let result = self.variable(SortId::BOOL);
                self.choices.push(Choice {
                    condition: t,
                    result: result.clone(),
                    then: vec![TermId::TRUE],
                    other: vec![TermId::FALSE],
                });
                result
            }
            ref op => {
                let args: Vec<TermId> = node
                    .args
                    .iter()
                    .filter_map(|a| known(a).first().copied())
                    .collect();
                vec![terms.rebuild(op, &args, node.sort)]
            }
        }
    }
}

fn known_or_self(parts: &FxHashMap<TermId, Vec<TermId>>, term: TermId) -> Vec<TermId> {
    parts.get(&term).cloned().unwrap_or_else(|| vec![term])
}
