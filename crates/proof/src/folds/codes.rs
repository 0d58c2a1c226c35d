//! Encoders: for each datatype a vector of components. A component is a fold that gives a term an
//! integer or a Boolean, by its constructor and the codes of its fields.
//!
//! Invariant: a case of a component contains no variables but those of its constructor's fields.
//! The formula for admissible codes holds of the codes of all values, since the cases preserve it.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use alphorn_term::{Assignment, DatatypeId, FunctionId, Op, SortId, TermId, TermStore, evaluate};
use alphorn_witness::{Case, Lemma};

/// A component without its cases: its name and the sort of its values.
pub type Declared = (String, SortId);

/// A fold to integers or Booleans.
#[derive(Clone, Debug)]
struct Component {
    name: String,
    sort: SortId,
    /// The values by constructor, over [`Encoder::fields`].
    cases: Vec<TermId>,
}

/// The codes of datatypes.
pub struct Encoder {
    /// The store of the terms.
    pub terms: Rc<TermStore>,
    components: FxHashMap<DatatypeId, Vec<Component>>,
    /// By constructor and field: variables for the field's code, or for the field itself.
    fields: FxHashMap<(DatatypeId, u32), Vec<Vec<TermId>>>,
    /// Variables for the code of a term, and the formula that all codes satisfy.
    admissible: FxHashMap<DatatypeId, (Vec<TermId>, TermId)>,
    /// Datatypes for which different values have different codes.
    injective: FxHashSet<DatatypeId>,
}

impl Encoder {
    /// An encoder of the datatypes with these components, whose cases are still to be defined.
    pub fn new(terms: &Rc<TermStore>, declared: &FxHashMap<DatatypeId, Vec<Declared>>) -> Encoder {
        let mut encoder = Encoder {
            terms: terms.clone(),
            components: FxHashMap::default(),
            fields: FxHashMap::default(),
            admissible: FxHashMap::default(),
            injective: FxHashSet::default(),
        };
        for id in terms.datatype_ids() {
            let own = declared.get(&id).into_iter().flatten();
            let components = own.map(|(name, sort)| Component {
                name: name.clone(),
                sort: *sort,
                cases: Vec::new(),
            });
            encoder.components.insert(id, components.collect());
        }
        for id in terms.datatype_ids() {
            let formal = encoder.fresh(id, "code");
            encoder.admissible.insert(id, (formal, TermId::TRUE));
            for (c, constructor) in (0..).zip(&terms.datatype(id).constructors) {
                let fields = constructor
                    .fields
                    .iter()
                    .map(|f| encoder.fresh_part(f.sort));
                let fields = fields.collect();
                encoder.fields.insert((id, c), fields);
            }
        }
        encoder
    }

    /// Fresh variables for the code of a field, or for the field itself.
    pub fn fresh_part(&self, sort: SortId) -> Vec<TermId> {
        match self.datatype(sort) {
            Some(id) => self.fresh(id, "code"),
            None => vec![self.terms.fresh_var("field", sort)],
        }
    }

    /// The datatype of a sort; `None` for other sorts.
    pub fn datatype(&self, sort: SortId) -> Option<DatatypeId> {
        match self.terms.sort(sort) {
            alphorn_term::Sort::Datatype(id) => Some(id),
            _ => None,
        }
    }

    /// Fresh variables for a code.
    pub fn fresh(&self, id: DatatypeId, hint: &str) -> Vec<TermId> {
        let sorts = self.sorts(id).into_iter();
        sorts.map(|s| self.terms.fresh_var(hint, s)).collect()
    }

    /// The sorts of a code's components.
    pub fn sorts(&self, id: DatatypeId) -> Vec<SortId> {
        self.components[&id].iter().map(|c| c.sort).collect()
    }

    /// Whether no datatype has a code.
    pub fn is_empty(&self) -> bool {
        self.components.values().all(Vec::is_empty)
    }

    /// The variables for the fields of a constructor, over which its cases are.
    pub fn fields(&self, id: DatatypeId, constructor: u32) -> &[Vec<TermId>] {
        &self.fields[&(id, constructor)]
    }

    /// Defines the cases of the next constructor of a datatype, one for each component.
    pub fn define(&mut self, id: DatatypeId, cases: &[TermId]) {
        let components = self.components.get_mut(&id).expect("it is a datatype");
        debug_assert_eq!(components.len(), cases.len(), "a case for each component");
        for (component, &case) in components.iter_mut().zip(cases) {
            debug_assert_eq!(
                self.terms.sort_of(case),
                component.sort,
                "a case of the sort"
            );
            component.cases.push(case);
        }
    }

    /// The code of a constructor applied to fields with these codes, or to these terms.
    pub fn construct(
        &self,
        id: DatatypeId,
        constructor: u32,
        fields: &[Vec<TermId>],
    ) -> Vec<TermId> {
        let mut map: FxHashMap<TermId, TermId> = FxHashMap::default();
        for (formal, actual) in self.fields(id, constructor).iter().zip(fields) {
            map.extend(formal.iter().copied().zip(actual.iter().copied()));
        }
        let case = |c: &Component| self.terms.substitute(c.cases[constructor as usize], &map);
        self.components[&id].iter().map(case).collect()
    }

    /// The formula that the code of any term satisfies.
    pub fn admissible(&self, id: DatatypeId, code: &[TermId]) -> TermId {
        let (formal, formula) = &self.admissible[&id];
        let map = formal.iter().copied().zip(code.iter().copied()).collect();
        self.terms.substitute(*formula, &map)
    }

    /// The variables of the formula for [`Encoder::set_admissible`].
    pub fn formal(&self, id: DatatypeId) -> &[TermId] {
        &self.admissible[&id].0
    }

    /// Sets a formula that all codes satisfy, over [`Encoder::formal`].
    pub fn set_admissible(&mut self, id: DatatypeId, formula: TermId) {
        if let Some(entry) = self.admissible.get_mut(&id) {
            entry.1 = formula;
        }
    }

    /// Records that different values have different codes.
    pub fn set_injective(&mut self, id: DatatypeId) {
        self.injective.insert(id);
    }

    /// Whether different values have different codes.
    pub fn is_injective(&self, id: DatatypeId) -> bool {
        self.injective.contains(&id)
    }

    /// Replaces each case by its image under `map`.
    pub fn map_cases(&mut self, mut map: impl FnMut(TermId) -> TermId) {
        for components in self.components.values_mut() {
            for component in components {
                for case in &mut component.cases {
                    *case = map(*case);
                }
            }
        }
    }

    /// The code of some value, as values.
    fn some_code(&self, id: DatatypeId) -> Option<Vec<TermId>> {
        let terms = &self.terms;
        let value = terms.default_value(terms.datatype_sort(id))?;
        let mut codes: FxHashMap<TermId, Vec<TermId>> = FxHashMap::default();
        let mut known = true;
        terms.post_order(&[value], |t| {
            let code = match *terms.op(t) {
                Op::Construct(id, c) => {
                    let fields: Vec<Vec<TermId>> =
                        terms.args(t).iter().map(|a| codes[a].clone()).collect();
                    let code = self.construct(id, c, &fields).into_iter();
                    let code = code.map(|t| evaluate(terms, t, &Assignment::default()));
                    let code: Option<Vec<TermId>> = code.collect();
                    known &= code.is_some();
                    code.unwrap_or_default()
                }
                _ => vec![t],
            };
            codes.insert(t, code);
        });
        known.then(|| codes.remove(&value)).flatten()
    }

    /// The components as recursive functions. Their bodies make admissibility visible without
    /// induction: they replace an inadmissible code of a part, which never occurs, by another code.
    pub fn functions(&self) -> Option<Functions> {
        let terms = &self.terms;
        let mut functions: FxHashMap<DatatypeId, Vec<FunctionId>> = FxHashMap::default();
        for id in terms.datatype_ids() {
            let sort = terms.datatype_sort(id);
            let declare = |c: &Component| terms.declare_function(&c.name, &[sort], c.sort);
            functions.insert(id, self.components[&id].iter().map(declare).collect());
        }
        for id in terms.datatype_ids() {
            let group = terms.size_group(id);
            for (at, &function) in functions[&id].iter().enumerate() {
                let param = terms.function(function).params[0];
                let mut body: Option<TermId> = None;
                let count = terms.datatype(id).constructors.len() as u32;
                for c in (0..count).rev() {
                    let mut fields: Vec<Vec<TermId>> = Vec::new();
                    let own = &terms.datatype(id).constructors[c as usize].fields;
                    for (field, position) in own.iter().zip(0..) {
                        let part = terms.field(id, c, position, param);
                        fields.push(match self.datatype(field.sort) {
                            Some(inner) => self.clamped(inner, &functions[&inner], part)?,
                            None => vec![part],
                        });
                    }
                    let case = self.construct(id, c, &fields)[at];
                    body = Some(match body {
                        Some(rest) => terms.ite(terms.is(id, c, param), case, rest),
                        None => case,
                    });
                }
                let body = body?;
                let of_group =
                    |f: &FunctionId| group.iter().any(|member| functions[member].contains(f));
                let recursive = terms.called(&[body]).iter().any(of_group);
                let measure = if recursive { vec![0] } else { Vec::new() };
                terms.define_function(function, body, measure);
            }
        }
        Some(Functions { functions })
    }

    /// The code of a part, as calls, or another code if it is not admissible.
    fn clamped(
        &self,
        id: DatatypeId,
        functions: &[FunctionId],
        part: TermId,
    ) -> Option<Vec<TermId>> {
        let terms = &self.terms;
        let calls: Vec<TermId> = functions.iter().map(|&f| terms.call(f, &[part])).collect();
        let admissible = self.admissible(id, &calls);
        if admissible == TermId::TRUE {
            return Some(calls);
        }
        let other = self.some_code(id)?.into_iter();
        let clamp = |(call, other)| terms.ite(admissible, call, other);
        Some(calls.into_iter().zip(other).map(clamp).collect())
    }
}

/// The components of an encoder as defined functions.
pub struct Functions {
    functions: FxHashMap<DatatypeId, Vec<FunctionId>>,
}

impl Functions {
    /// The code of a term, as calls.
    pub fn code(&self, terms: &TermStore, id: DatatypeId, term: TermId) -> Vec<TermId> {
        let functions = self.functions[&id].iter();
        functions.map(|&f| terms.call(f, &[term])).collect()
    }

    /// The lemmas about all codes, with their proofs, for the codes that the formulas `roots` use.
    pub fn lemmas(&self, encoder: &Encoder, roots: &[TermId]) -> Vec<Lemma> {
        let terms = &encoder.terms;
        let used: FxHashSet<FunctionId> =
            terms.function_groups(roots).concat().into_iter().collect();
        let mut lemmas = Vec::new();
        for id in terms.datatype_ids() {
            let x = terms.fresh_var("x", terms.datatype_sort(id));
            let calls = self.code(terms, id, x);
            let statement = encoder.admissible(id, &calls);
            if statement == TermId::TRUE || !self.functions[&id].iter().any(|f| used.contains(f)) {
                continue;
            }
            let count = terms.datatype(id).constructors.len() as u32;
            let case = |c| Case {
                guard: terms.is(id, c, x),
                induction: Vec::new(),
                instances: Vec::new(),
                unfoldings: calls.clone(),
            };
            lemmas.push(Lemma {
                name: format!("admissible{}", lemmas.len() + 1),
                vars: vec![x],
                statement,
                measure: Vec::new(),
                cases: (0..count).map(case).collect(),
            });
        }
        for id in terms.datatype_ids() {
            let lemma = self.injectivity(encoder, id, &lemmas);
            lemmas.extend(lemma.filter(|_| self.functions[&id].iter().any(|f| used.contains(f))));
        }
        lemmas
    }

    /// The lemma that equal codes imply equal values, if the encoder has recorded it.
    fn injectivity(&self, encoder: &Encoder, id: DatatypeId, before: &[Lemma]) -> Option<Lemma> {
        let terms = &encoder.terms;
        if !encoder.is_injective(id) {
            return None;
        }
        let sort = terms.datatype_sort(id);
        let [x, y] = ["x", "y"].map(|name| terms.fresh_var(name, sort));
        let [of_x, of_y] = [x, y].map(|v| self.code(terms, id, v));
        let equal: Vec<TermId> = of_x
            .iter()
            .zip(&of_y)
            .map(|(&a, &b)| terms.eq(a, b))
            .collect();
        let statement = terms.implies(terms.and(&equal), terms.eq(x, y));
        let unfoldings = [of_x, of_y].concat();
        let mut cases = Vec::new();
        for (c, constructor) in (0..).zip(&terms.datatype(id).constructors) {
            let mut case = Case {
                guard: terms.is(id, c, x),
                induction: Vec::new(),
                instances: Vec::new(),
                unfoldings: unfoldings.clone(),
            };
            let mut parts = Vec::new();
            for (field, position) in constructor.fields.iter().zip(0..) {
                if field.sort == sort {
                    let pair = [x, y].map(|v| terms.field(id, c, position, v));
                    case.induction.push(pair.to_vec());
                    parts.extend(pair);
                }
            }
            // Parts of `x` and `y` are admissible, since both are.
            for (at, lemma) in before.iter().enumerate() {
                if terms.sort_of(lemma.vars[0]) == sort {
                    for term in [x, y].into_iter().chain(parts.iter().copied()) {
                        case.instances.push((at, vec![term]));
                    }
                }
            }
            cases.push(case);
        }
        Some(Lemma {
            name: format!("injective{}", before.len() + 1),
            vars: vec![x, y],
            statement,
            measure: vec![0],
            cases,
        })
    }
}
