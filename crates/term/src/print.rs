//! Printing in SMT-LIB: shared sub-terms under `let`, negative numerals as `(- 1)`. Operators are
//! those of the standard (`ubv_to_int` and `int_to_bv` are of version 2.7) and `(as const S)`.
//!
//! Invariant: a sub-term that is used more than once is written once, under a `let` at the outermost
//! place where its variables are in scope. Exceptions are atomic terms, negated variables, and terms
//! under quantifiers that share some of their variables. Printing recurses into the bodies of
//! quantifiers only, whose nesting the frontend bounds.

use std::fmt::Write;

use num_traits::{One, Signed};
use rustc_hash::FxHashMap;

use super::{DatatypeId, FunctionId, Op, Rational, Sort, SortId, TermId, TermStore};

/// How instances of parametric datatypes are printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DatatypeStyle {
    /// As the user declared them: `(List Int)`, `(as nil (List Int))`.
    Parametric,
    /// As separate datatypes without parameters; each name has the number of the instance as suffix.
    Monomorphic,
}

/// The symbol in SMT-LIB syntax: unchanged if it is a simple symbol, else between bars. Most solvers
/// read `-3` as a number, so it gets bars, too.
pub fn quote_symbol(name: &str) -> String {
    let simple = |b: u8| b.is_ascii_alphanumeric() || b"~!@$%^&*_-+=<>.?/".contains(&b);
    let reserved = [
        "_",
        "!",
        "as",
        "let",
        "exists",
        "forall",
        "match",
        "par",
        "BINARY",
        "DECIMAL",
        "HEXADECIMAL",
        "NUMERAL",
        "STRING",
    ];
    let plain = !name.is_empty()
        && name.bytes().all(simple)
        && !name.as_bytes()[0].is_ascii_digit()
        && !matches!(name.as_bytes(), [b'-', b'0'..=b'9', ..])
        && !reserved.contains(&name);
    if plain {
        name.to_owned()
    } else {
        format!("|{name}|")
    }
}

/// Prints sorts and terms of one store.
pub struct Printer<'a> {
    store: &'a TermStore,
    style: DatatypeStyle,
    names: FxHashMap<TermId, String>,
    functions: FxHashMap<FunctionId, String>,
}

enum Item {
    Term(TermId),
    Text(&'static str),
    Owned(String),
}

/// The names of shared sub-terms in scope, and the number of names given so far.
#[derive(Default)]
struct Lets {
    names: FxHashMap<TermId, String>,
    count: usize,
}

/// Bound variables in groups (union-find): the variables of one quantifier are in one group. Since
/// several quantifiers may bind the same variable, groups with a common variable are one group.
#[derive(Default)]
struct BoundGroups {
    parents: FxHashMap<TermId, TermId>,
}

impl BoundGroups {
    fn find(&mut self, var: TermId) -> TermId {
        let mut root = var;
        while let Some(&parent) = self.parents.get(&root)
            && parent != root
        {
            root = parent;
        }
        let mut at = var;
        while at != root {
            let next = self.parents.insert(at, root);
            at = next.unwrap_or(root);
        }
        root
    }

    fn join(&mut self, vars: &[TermId]) {
        for &var in vars {
            self.parents.entry(var).or_insert(var);
            let (root, first) = (self.find(var), self.find(vars[0]));
            self.parents.insert(root, first);
        }
    }

    /// The terms with free variables that some quantifier binds, with the groups of these variables.
    /// A quantifier that binds only a part of a group is taken to bind nothing, which only loses
    /// sharing. `order` lists arguments before their terms.
    fn open_terms(
        &mut self,
        store: &TermStore,
        order: &[TermId],
    ) -> FxHashMap<TermId, Vec<TermId>> {
        let mut open: FxHashMap<TermId, Vec<TermId>> = FxHashMap::default();
        if self.parents.is_empty() {
            return open;
        }
        let mut sizes: FxHashMap<TermId, usize> = FxHashMap::default();
        let vars: Vec<TermId> = self.parents.keys().copied().collect();
        for var in vars {
            *sizes.entry(self.find(var)).or_default() += 1;
        }
        for &term in order {
            let node = store.node(term);
            let mut groups: Vec<TermId> = Vec::new();
            if self.parents.contains_key(&term) {
                groups.push(self.find(term));
            }
            for arg in &*node.args {
                groups.extend(open.get(arg).into_iter().flatten());
            }
            groups.sort_unstable();
            groups.dedup();
            if let Op::Forall(vars) | Op::Exists(vars) = &node.op {
                let group = self.find(vars[0]);
                if sizes.get(&group) == Some(&vars.len()) {
                    groups.retain(|&g| g != group);
                }
            }
            if !groups.is_empty() {
                open.insert(term, groups);
            }
        }
        open
    }
}

impl<'a> Printer<'a> {
    /// A printer in the style [`DatatypeStyle::Parametric`], without renamings.
    pub fn new(store: &'a TermStore) -> Self {
        Printer {
            store,
            style: DatatypeStyle::Parametric,
            names: FxHashMap::default(),
            functions: FxHashMap::default(),
        }
    }

    /// The same printer with another style of datatypes.
    pub fn with_style(mut self, style: DatatypeStyle) -> Self {
        self.style = style;
        self
    }

    /// Prints the variable `var` as `name`, which is quoted already if necessary.
    pub fn rename(&mut self, var: TermId, name: impl Into<String>) {
        self.names.insert(var, name.into());
    }

    /// Prints the function as `name`, which is quoted already if necessary.
    pub fn rename_function(&mut self, id: FunctionId, name: impl Into<String>) {
        self.functions.insert(id, name.into());
    }

    /// The symbol of a function, quoted if necessary.
    pub fn function(&self, id: FunctionId) -> String {
        let renamed = self.functions.get(&id).cloned();
        renamed.unwrap_or_else(|| quote_symbol(&self.store.function(id).name))
    }

    /// The text of a sort.
    pub fn sort(&self, sort: SortId) -> String {
        // Iterative, since sorts may be nested deeply.
        let mut out = String::new();
        let mut stack = vec![Ok(sort)];
        while let Some(item) = stack.pop() {
            match item {
                Err(text) => out.push_str(text),
                Ok(sort) => match self.store.sort(sort) {
                    Sort::Bool => out.push_str("Bool"),
                    Sort::Int => out.push_str("Int"),
                    Sort::Real => out.push_str("Real"),
                    Sort::BitVec(width) => write!(out, "(_ BitVec {width})").expect("string"),
                    Sort::Array(index, element) => {
                        out.push_str("(Array ");
                        stack.extend([Err(")"), Ok(element), Err(" "), Ok(index)]);
                    }
                    Sort::Datatype(id) => {
                        let (name, parameters) = self.store.datatype_head(id);
                        match self.style {
                            DatatypeStyle::Monomorphic => out.push_str(&self.instance(id, name)),
                            DatatypeStyle::Parametric if parameters.is_empty() => {
                                out.push_str(&quote_symbol(name));
                            }
                            DatatypeStyle::Parametric => {
                                write!(out, "({}", quote_symbol(name)).expect("string");
                                stack.push(Err(")"));
                                for &p in parameters.iter().rev() {
                                    stack.extend([Ok(p), Err(" ")]);
                                }
                            }
                        }
                    }
                },
            }
        }
        out
    }

    /// The printed name of a datatype, constructor or selector of the instance `id`.
    pub fn instance(&self, id: DatatypeId, name: &str) -> String {
        if self.style == DatatypeStyle::Monomorphic && self.is_generic(id) {
            quote_symbol(&format!("{name}.{}", id.0))
        } else {
            quote_symbol(name)
        }
    }

    /// The declarations of datatypes and of those that their fields need, one `declare-datatypes`
    /// command for each group. Only for [`DatatypeStyle::Monomorphic`].
    pub fn datatype_declarations(&self, used: &[DatatypeId]) -> String {
        debug_assert_eq!(self.style, DatatypeStyle::Monomorphic);
        let mut out = String::new();
        for group in self.store.datatype_groups(used) {
            self.write_declaration(&mut out, &group);
        }
        out
    }

    fn write_declaration(&self, out: &mut String, group: &[DatatypeId]) {
        out.push_str("(declare-datatypes (");
        for &id in group {
            write!(out, "({} 0)", self.sort(self.store.datatype_sort(id))).expect("string");
        }
        out.push_str(") (");
        for &id in group {
            out.push_str("\n  (");
            for constructor in &self.store.datatype(id).constructors {
                write!(out, "({}", self.instance(id, &constructor.name)).expect("string");
                for field in &constructor.fields {
                    let selector = self.instance(id, &field.selector);
                    write!(out, " ({selector} {})", self.sort(field.sort)).expect("string");
                }
                out.push(')');
            }
            out.push(')');
        }
        out.push_str("))\n");
    }

    /// The text of a term.
    pub fn term(&self, root: TermId) -> String {
        let mut out = String::new();
        self.write_term(&mut out, root);
        out
    }

    /// Appends the text of a term to `out`.
    pub fn write_term(&self, out: &mut String, root: TermId) {
        self.write_scope(out, root, &mut Lets::default());
    }

    /// Writes a whole term or the body of a quantifier, with `let`s for shared sub-terms.
    fn write_scope(&self, out: &mut String, root: TermId, lets: &mut Lets) {
        let mut shared = self.shared(root);
        shared.retain(|t| !lets.names.contains_key(t));
        for &term in &shared {
            let name = format!("let!{}", lets.count);
            lets.count += 1;
            write!(out, "(let (({name} ").expect("string");
            self.write_tree(out, term, lets);
            out.push_str(")) ");
            lets.names.insert(term, name);
        }
        self.write_tree(out, root, lets);
        for term in &shared {
            out.push(')');
            lets.names.remove(term);
        }
    }

    /// The sub-terms that get a `let` before the term: used more than once, not atomic, without
    /// variables that the term binds; arguments before their terms.
    fn shared(&self, root: TermId) -> Vec<TermId> {
        let store = self.store;
        let mut uses: FxHashMap<TermId, u32> = FxHashMap::default();
        let mut order = Vec::new();
        let mut bound = BoundGroups::default();
        store.post_order(&[root], |t| {
            let node = store.node(t);
            for &arg in &*node.args {
                *uses.entry(arg).or_default() += 1;
            }
            if let Op::Forall(vars) | Op::Exists(vars) = &node.op {
                bound.join(vars);
            }
            order.push(t);
        });
        let open = bound.open_terms(store, &order);
        order.retain(|t| {
            let node = store.node(*t);
            uses.get(t).is_some_and(|&n| n > 1)
                && !open.contains_key(t)
                && !node.args.is_empty()
                && (node.op != Op::Not || !store.is_var(node.args[0]))
        });
        order
    }

    fn write_tree(&self, out: &mut String, root: TermId, lets: &mut Lets) {
        let store = self.store;
        let mut stack = vec![Item::Term(root)];
        while let Some(item) = stack.pop() {
            let term = match item {
                Item::Text(text) => {
                    out.push_str(text);
                    continue;
                }
                Item::Owned(text) => {
                    out.push_str(&text);
                    continue;
                }
                Item::Term(term) => term,
            };
            if let Some(name) = lets.names.get(&term) {
                out.push_str(name);
                continue;
            }
            let node = store.node(term);
            let head = match &node.op {
                Op::Var(_) => {
                    match self.names.get(&term) {
                        Some(name) => out.push_str(name),
                        None => out.push_str(&quote_symbol(store.var_name(term))),
                    }
                    continue;
                }
                Op::True | Op::False => {
                    out.push_str(if term == TermId::TRUE {
                        "true"
                    } else {
                        "false"
                    });
                    continue;
                }
                Op::Int(value) => {
                    let value = Rational::from_integer(value.clone());
                    write_number(out, &value, false);
                    continue;
                }
                Op::Real(value) => {
                    write_number(out, value, true);
                    continue;
                }
                Op::BitVec(value) => {
                    let width = store.width(term) as usize;
                    if width.is_multiple_of(4) {
                        write!(out, "#x{value:0>digits$x}", digits = width / 4).expect("string");
                    } else {
                        write!(out, "#b{value:0>width$b}").expect("string");
                    }
                    continue;
                }
                Op::Not => {
                    let inner = store.node(node.args[0]);
                    let strict = match inner.op {
                        Op::Le => Some("(> "),
                        Op::Ge => Some("(< "),
                        _ => None,
                    };
                    if let Some(head) = strict.filter(|_| !lets.names.contains_key(&node.args[0])) {
                        out.push_str(head);
                        stack.extend([
                            Item::Text(")"),
                            Item::Term(inner.args[1]),
                            Item::Text(" "),
                            Item::Term(inner.args[0]),
                        ]);
                        continue;
                    }
                    "not".to_owned()
                }
                Op::Mul
                    if store
                        .numeral(node.args[0])
                        .is_some_and(|n| n == -Rational::one()) =>
                {
                    out.push_str("(- ");
                    stack.extend([Item::Text(")"), Item::Term(node.args[1])]);
                    continue;
                }
                Op::ConstArray => {
                    format!("(as const {})", self.sort(node.sort))
                }
                Op::Construct(id, c) => {
                    let constructor = &store.datatype(*id).constructors[*c as usize];
                    let name = self.instance(*id, &constructor.name);
                    let qualified =
                        self.style == DatatypeStyle::Parametric && !self.inferable(*id, *c);
                    let head = if qualified {
                        format!("(as {name} {})", self.sort(node.sort))
                    } else {
                        name
                    };
                    if node.args.is_empty() {
                        out.push_str(&head);
                        continue;
                    }
                    head
                }
                Op::Field(id, c, f) => {
                    let field = &store.datatype(*id).constructors[*c as usize].fields[*f as usize];
                    self.instance(*id, &field.selector)
                }
                Op::Is(id, c)
                    if self.style == DatatypeStyle::Parametric && self.is_generic(*id) =>
                {
                    // Not all solvers infer the instance that a tester belongs to.
                    stack.push(Item::Owned(self.match_cases(*id, *c)));
                    stack.push(Item::Term(node.args[0]));
                    stack.push(Item::Text("(match "));
                    continue;
                }
                Op::Is(id, c) => {
                    let name = &store.datatype(*id).constructors[*c as usize].name;
                    format!("(_ is {})", self.instance(*id, name))
                }
                Op::Size(id) => TermStore::size_symbol(&self.sort(store.datatype_sort(*id))),
                Op::Call(id) => {
                    let name = self.function(*id);
                    if node.args.is_empty() {
                        out.push_str(&name);
                        continue;
                    }
                    name
                }
                Op::Forall(vars) | Op::Exists(vars) => {
                    out.push_str(if matches!(node.op, Op::Forall(_)) {
                        "(forall ("
                    } else {
                        "(exists ("
                    });
                    for (i, &var) in vars.iter().enumerate() {
                        let name = match self.names.get(&var) {
                            Some(name) => name.clone(),
                            None => quote_symbol(store.var_name(var)),
                        };
                        let space = if i == 0 { "" } else { " " };
                        let sort = self.sort(store.sort_of(var));
                        write!(out, "{space}({name} {sort})").expect("string");
                    }
                    out.push_str(") ");
                    self.write_scope(out, node.args[0], lets);
                    out.push(')');
                    continue;
                }
                op => operator_name(op),
            };
            stack.push(Item::Text(")"));
            for &arg in node.args.iter().rev() {
                stack.push(Item::Term(arg));
                stack.push(Item::Text(" "));
            }
            stack.push(Item::Owned(head));
            stack.push(Item::Text("("));
        }
    }

    /// Whether the datatype is an instance of a parametric one.
    fn is_generic(&self, id: DatatypeId) -> bool {
        !self.store.datatype_head(id).1.is_empty()
    }

    /// The cases of a `match` that is true if the term has the constructor.
    fn match_cases(&self, id: DatatypeId, constructor: u32) -> String {
        let constructors = &self.store.datatype(id).constructors;
        let chosen = &constructors[constructor as usize];
        let mut pattern = self.instance(id, &chosen.name);
        if !chosen.fields.is_empty() {
            let fields: String = (0..chosen.fields.len())
                .map(|i| format!(" f!{i}"))
                .collect();
            pattern = format!("({pattern}{fields})");
        }
        let others = if constructors.len() > 1 {
            " (other! false)"
        } else {
            ""
        };
        format!(" (({pattern} true){others}))")
    }

    /// Whether the constructor's arguments determine the instance.
    fn inferable(&self, id: DatatypeId, constructor: u32) -> bool {
        let definition = self.store.datatype(id);
        let fields = &definition.constructors[constructor as usize].fields;
        definition
            .parameters
            .iter()
            .all(|&p| fields.iter().any(|f| f.sort == p))
    }
}

fn operator_name(op: &Op) -> String {
    let name = match op {
        Op::Not => "not",
        Op::And => "and",
        Op::Or => "or",
        Op::Eq => "=",
        Op::Ite => "ite",
        Op::Add => "+",
        Op::Mul => "*",
        Op::Le => "<=",
        Op::Ge => ">=",
        Op::IDiv => "div",
        Op::Mod => "mod",
        Op::Div => "/",
        Op::ToReal => "to_real",
        Op::ToInt => "to_int",
        Op::IsInt => "is_int",
        Op::BvConcat => "concat",
        Op::BvNot => "bvnot",
        Op::BvNeg => "bvneg",
        Op::BvAnd => "bvand",
        Op::BvOr => "bvor",
        Op::BvXor => "bvxor",
        Op::BvAdd => "bvadd",
        Op::BvMul => "bvmul",
        Op::BvUdiv => "bvudiv",
        Op::BvUrem => "bvurem",
        Op::BvSdiv => "bvsdiv",
        Op::BvSrem => "bvsrem",
        Op::BvSmod => "bvsmod",
        Op::BvShl => "bvshl",
        Op::BvLshr => "bvlshr",
        Op::BvAshr => "bvashr",
        Op::BvUle => "bvule",
        Op::BvSle => "bvsle",
        Op::BvToNat => "ubv_to_int",
        Op::Select => "select",
        Op::Store => "store",
        Op::BvExtract(high, low) => return format!("(_ extract {high} {low})"),
        Op::BvZeroExtend(n) => return format!("(_ zero_extend {n})"),
        Op::BvSignExtend(n) => return format!("(_ sign_extend {n})"),
        Op::IntToBv(width) => return format!("(_ int_to_bv {width})"),
        op => unreachable!("{op:?} is printed by the caller"),
    };
    name.to_owned()
}

fn write_number(out: &mut String, value: &Rational, real: bool) {
    let point = if real { ".0" } else { "" };
    let magnitude = value.abs();
    let text = if magnitude.is_integer() {
        format!("{}{point}", magnitude.numer())
    } else {
        format!("(/ {}.0 {}.0)", magnitude.numer(), magnitude.denom())
    };
    if value.is_negative() {
        write!(out, "(- {text})").expect("string");
    } else {
        out.push_str(&text);
    }
}
