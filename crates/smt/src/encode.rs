//! Terms of alphorn as terms of Z3. Variables become constants, and a quantifier binds the
//! constants of its variables.
//!
//! # Invariant
//! Each term, sort and datatype is encoded once, and the context references the result until it is
//! deleted. Names given to Z3 contain the id, so they are unique whatever names the user chose.

use std::ffi::c_uint;

use num_traits::ToPrimitive;
use rustc_hash::FxHashMap;
use z3_sys::*;

use super::context::{Context, c_string};
use alphorn_term::{DatatypeId, FunctionId, Op, Sort, SortId, TermId, TermStore};

/// A constructor, selector or tester of a datatype; with positions of constructor and field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DatatypeOp {
    Construct(DatatypeId, u32),
    Field(DatatypeId, u32, u32),
    Is(DatatypeId, u32),
}

/// The declarations of a datatype, by constructor.
struct Declarations {
    constructors: Vec<Z3_func_decl>,
    testers: Vec<Z3_func_decl>,
    fields: Vec<Vec<Z3_func_decl>>,
}

/// The tables between terms of alphorn and of Z3.
#[derive(Default)]
pub(super) struct Encoder {
    /// By id of the term.
    asts: Vec<Option<Z3_ast>>,
    terms: FxHashMap<Z3_ast, TermId>,
    sorts: Vec<Option<Z3_sort>>,
    sort_ids: FxHashMap<Z3_sort, SortId>,
    datatypes: FxHashMap<DatatypeId, Declarations>,
    datatype_ops: FxHashMap<Z3_func_decl, DatatypeOp>,
    /// Literals for assumptions.
    proxies: FxHashMap<TermId, Z3_ast>,
    /// The functions for sizes of datatypes.
    sizes: FxHashMap<DatatypeId, Z3_func_decl>,
    functions: FxHashMap<FunctionId, Z3_func_decl>,
}

impl Encoder {
    /// The term of Z3 for a term.
    ///
    /// # Errors
    /// Z3 does not make it: it is out of memory, or a datatype has no values.
    pub fn encode(
        &mut self,
        cx: &Context,
        store: &TermStore,
        root: TermId,
    ) -> Result<Z3_ast, String> {
        if let Some(found) = self.lookup(root) {
            return Ok(found);
        }
        if self.asts.len() < store.len() {
            self.asts.resize(store.len() + store.len() / 4, None);
        }
        let mut stack = vec![root];
        let mut args: Vec<Z3_ast> = Vec::new();
        while let Some(&term) = stack.last() {
            if self.lookup(term).is_some() {
                stack.pop();
                continue;
            }
            let node = store.node(term);
            args.clear();
            let mut pending = false;
            for &arg in &*node.args {
                match self.lookup(arg) {
                    Some(ast) => args.push(ast),
                    None => {
                        stack.push(arg);
                        pending = true;
                    }
                }
            }
            if pending {
                continue;
            }
            stack.pop();
            if let Op::Forall(vars) | Op::Exists(vars) = &node.op {
                args.truncate(1);
                for &var in vars {
                    let ast = match self.lookup(var) {
                        Some(ast) => ast,
                        None => self.make(cx, store, var, &[])?,
                    };
                    args.push(ast);
                }
            }
            self.make(cx, store, term, &args)?;
        }
        self.lookup(root)
            .ok_or_else(|| "a term was not encoded".to_owned())
    }

    fn lookup(&self, term: TermId) -> Option<Z3_ast> {
        self.asts.get(term.index()).copied().flatten()
    }

    /// The term that [`Encoder::encode`] encoded as `ast`.
    pub fn term(&self, ast: Z3_ast) -> Option<TermId> {
        self.terms.get(&ast).copied()
    }

    /// Makes decoding read the structure of every term but variables.
    #[cfg(test)]
    pub fn forget_all_but_variables(&mut self, store: &TermStore) {
        self.terms.retain(|_, term| store.is_var(*term));
    }

    /// The meaning of a declaration of a datatype.
    pub fn datatype_op(&self, decl: Z3_func_decl) -> Option<DatatypeOp> {
        self.datatype_ops.get(&decl).copied()
    }

    /// The Boolean constant for a formula that is assumed; one for each formula.
    pub fn proxy(&mut self, cx: &Context, formula: TermId) -> Result<Z3_ast, String> {
        if let Some(&found) = self.proxies.get(&formula) {
            return Ok(found);
        }
        let name = cx.symbol(&format!("assume!{}", formula.index()))?;
        // SAFETY: the constant is referenced until the context is deleted.
        let proxy = unsafe {
            let sort = cx.ok(Z3_mk_bool_sort(cx.raw))?;
            cx.keep(cx.ok(Z3_mk_const(cx.raw, name, sort))?)
        };
        self.proxies.insert(formula, proxy);
        Ok(proxy)
    }

    /// Encodes a term whose arguments are encoded. For a quantifier, `args` are the body and the
    /// bound constants.
    fn make(
        &mut self,
        cx: &Context,
        store: &TermStore,
        term: TermId,
        args: &[Z3_ast],
    ) -> Result<Z3_ast, String> {
        let made = self.build(cx, store, term, args)?;
        let ast = cx.keep(cx.ok(made)?);
        if self.asts.len() <= term.index() {
            self.asts.resize(term.index() + 1, None);
        }
        self.asts[term.index()] = Some(ast);
        self.terms.entry(ast).or_insert(term);
        Ok(ast)
    }

    fn build(
        &mut self,
        cx: &Context,
        store: &TermStore,
        term: TermId,
        args: &[Z3_ast],
    ) -> Result<Option<Z3_ast>, String> {
        let node = store.node(term);
        let c = cx.raw;
        let count = args.len() as c_uint;
        // SAFETY: the context references sorts, declarations and arguments. Terms are well-sorted;
        // if one were not, Z3 would return null.
        Ok(unsafe {
            match &node.op {
                Op::Var(_) => {
                    let name = format!("{}!{}", store.var_name(term), term.index());
                    let symbol = cx.symbol(&name)?;
                    Z3_mk_const(c, symbol, self.sort(cx, store, node.sort)?)
                }
                Op::True => Z3_mk_true(c),
                Op::False => Z3_mk_false(c),
                Op::Int(value) => {
                    let sort = self.sort(cx, store, node.sort)?;
                    match value.to_i64() {
                        Some(small) => Z3_mk_int64(c, small, sort),
                        None => Z3_mk_numeral(c, c_string(&value.to_string()).as_ptr(), sort),
                    }
                }
                Op::Real(value) => {
                    let sort = self.sort(cx, store, node.sort)?;
                    match (value.is_integer(), value.numer().to_i64()) {
                        (true, Some(small)) => Z3_mk_int64(c, small, sort),
                        _ => Z3_mk_numeral(c, c_string(&value.to_string()).as_ptr(), sort),
                    }
                }
                Op::BitVec(value) => {
                    let sort = self.sort(cx, store, node.sort)?;
                    match value.to_u64() {
                        Some(small) => Z3_mk_unsigned_int64(c, small, sort),
                        None => Z3_mk_numeral(c, c_string(&value.to_string()).as_ptr(), sort),
                    }
                }
                Op::Not => Z3_mk_not(c, args[0]),
                Op::And => Z3_mk_and(c, count, args.as_ptr()),
                Op::Or => Z3_mk_or(c, count, args.as_ptr()),
                Op::Eq => Z3_mk_eq(c, args[0], args[1]),
                Op::Ite => Z3_mk_ite(c, args[0], args[1], args[2]),
                Op::Add => Z3_mk_add(c, count, args.as_ptr()),
                Op::Mul => Z3_mk_mul(c, count, args.as_ptr()),
                Op::Le => Z3_mk_le(c, args[0], args[1]),
                Op::Ge => Z3_mk_ge(c, args[0], args[1]),
                Op::IDiv | Op::Div => Z3_mk_div(c, args[0], args[1]),
                Op::Mod => Z3_mk_mod(c, args[0], args[1]),
                Op::ToReal => Z3_mk_int2real(c, args[0]),
                Op::ToInt => Z3_mk_real2int(c, args[0]),
                Op::IsInt => Z3_mk_is_int(c, args[0]),
                Op::BvConcat => Z3_mk_concat(c, args[0], args[1]),
                Op::BvExtract(high, low) => Z3_mk_extract(c, *high, *low, args[0]),
                Op::BvZeroExtend(bits) => Z3_mk_zero_ext(c, *bits, args[0]),
                Op::BvSignExtend(bits) => Z3_mk_sign_ext(c, *bits, args[0]),
                Op::BvNot => Z3_mk_bvnot(c, args[0]),
                Op::BvNeg => Z3_mk_bvneg(c, args[0]),
                Op::BvAnd => Z3_mk_bvand(c, args[0], args[1]),
                Op::BvOr => Z3_mk_bvor(c, args[0], args[1]),
                Op::BvXor => Z3_mk_bvxor(c, args[0], args[1]),
                Op::BvAdd => Z3_mk_bvadd(c, args[0], args[1]),
                Op::BvMul => Z3_mk_bvmul(c, args[0], args[1]),
                Op::BvUdiv => Z3_mk_bvudiv(c, args[0], args[1]),
                Op::BvUrem => Z3_mk_bvurem(c, args[0], args[1]),
                Op::BvSdiv => Z3_mk_bvsdiv(c, args[0], args[1]),
                Op::BvSrem => Z3_mk_bvsrem(c, args[0], args[1]),
                Op::BvSmod => Z3_mk_bvsmod(c, args[0], args[1]),
                Op::BvShl => Z3_mk_bvshl(c, args[0], args[1]),
                Op::BvLshr => Z3_mk_bvlshr(c, args[0], args[1]),
                Op::BvAshr => Z3_mk_bvashr(c, args[0], args[1]),
                Op::BvUle => Z3_mk_bvule(c, args[0], args[1]),
                Op::BvSle => Z3_mk_bvsle(c, args[0], args[1]),
                Op::BvToNat => Z3_mk_bv2int(c, args[0], false),
                Op::IntToBv(width) => Z3_mk_int2bv(c, *width, args[0]),
                Op::Select => Z3_mk_select(c, args[0], args[1]),
                Op::Store => Z3_mk_store(c, args[0], args[1], args[2]),
                Op::ConstArray => {
                    let Sort::Array(index, _) = store.sort(node.sort) else {
                        return Err("a constant array of another sort".to_owned());
                    };
                    let index = self.sort(cx, store, index)?;
                    Z3_mk_const_array(c, index, args[0])
                }
                Op::Construct(id, at) => {
                    let decl = self.datatype(cx, store, *id)?.constructors[*at as usize];
                    Z3_mk_app(c, decl, count, args.as_ptr())
                }
                Op::Field(id, at, field) => {
                    let fields = &self.datatype(cx, store, *id)?.fields[*at as usize];
                    Z3_mk_app(c, fields[*field as usize], 1, args.as_ptr())
                }
                Op::Is(id, at) => {
                    let decl = self.datatype(cx, store, *id)?.testers[*at as usize];
                    Z3_mk_app(c, decl, 1, args.as_ptr())
                }
                Op::Size(id) => {
                    let decl = self.size_function(cx, store, *id)?;
                    Z3_mk_app(c, decl, 1, args.as_ptr())
                }
                Op::Call(id) => {
                    let decl = self.function(cx, store, *id)?;
                    Z3_mk_app(c, decl, count, args.as_ptr())
                }
                Op::Forall(_) | Op::Exists(_) => {
                    let universal = matches!(node.op, Op::Forall(_));
                    let bound: Vec<Z3_app> = args[1..]
                        .iter()
                        .map(|&v| cx.ok(Z3_to_app(c, v)))
                        .collect::<Result<_, _>>()?;
                    Z3_mk_quantifier_const(
                        c,
                        universal,
                        0,
                        bound.len() as c_uint,
                        bound.as_ptr(),
                        0,
                        std::ptr::null(),
                        args[0],
                    )
                }
            }
        })
    }

    /// The recursive function for sizes of a datatype, declared and defined on first use with those
    /// that its definition calls.
    fn size_function(
        &mut self,
        cx: &Context,
        store: &TermStore,
        id: DatatypeId,
    ) -> Result<Z3_func_decl, String> {
        if let Some(&found) = self.sizes.get(&id) {
            return Ok(found);
        }
        let group = store.size_group(id);
        let int = self.sort(cx, store, SortId::INT)?;
        for &member in &group {
            let sort = self.sort(cx, store, store.datatype_sort(member))?;
            let name = cx.symbol(&format!("size!{}", member.0))?;
            // SAFETY: the sorts are referenced, and the declaration as soon as it is made.
            let decl = unsafe {
                let decl = cx.ok(Z3_mk_rec_func_decl(cx.raw, name, 1, &sort, int))?;
                cx.keep(cx.ok(Z3_func_decl_to_ast(cx.raw, decl))?);
                decl
            };
            self.sizes.insert(member, decl);
        }
        for &member in &group {
            let var = store.fresh_var("size", store.datatype_sort(member));
            let body = store.size_body(member, var);
            let mut var = self.encode(cx, store, var)?;
            let body = self.encode(cx, store, body)?;
            // SAFETY: the function is declared, and variable and body are referenced.
            unsafe { Z3_add_rec_def(cx.raw, self.sizes[&member], 1, &mut var, body) };
            if let Some(message) = cx.failed() {
                return Err(message);
            }
        }
        Ok(self.sizes[&id])
    }

    /// The function of calls, declared on first use. It is uninterpreted: with a definition Z3
    /// would unfold calls, often forever.
    fn function(
        &mut self,
        cx: &Context,
        store: &TermStore,
        id: FunctionId,
    ) -> Result<Z3_func_decl, String> {
        if let Some(&found) = self.functions.get(&id) {
            return Ok(found);
        }
        let function = store.function(id);
        let params = function.params.iter();
        let sorts = params.map(|&p| self.sort(cx, store, store.sort_of(p)));
        let sorts = sorts.collect::<Result<Vec<Z3_sort>, String>>()?;
        let result = self.sort(cx, store, function.result)?;
        // Symbols of SMT-LIB contain no bar.
        let name = cx.symbol(&format!("{}|{}", function.name, id.0))?;
        let count = sorts.len() as c_uint;
        // SAFETY: the sorts are referenced, and the declaration as soon as it is made.
        let decl = unsafe {
            let made = Z3_mk_func_decl(cx.raw, name, count, sorts.as_ptr(), result);
            let decl = cx.ok(made)?;
            cx.keep(cx.ok(Z3_func_decl_to_ast(cx.raw, decl))?);
            decl
        };
        self.functions.insert(id, decl);
        Ok(decl)
    }

    // ---- sorts ----

    /// The sort of Z3 for a sort.
    ///
    /// # Errors
    /// Z3 does not make it, for example for a datatype without values.
    pub fn sort(&mut self, cx: &Context, store: &TermStore, id: SortId) -> Result<Z3_sort, String> {
        let index = id.0 as usize;
        if let Some(Some(found)) = self.sorts.get(index) {
            return Ok(*found);
        }
        // SAFETY: the context references the component sorts.
        let made = unsafe {
            match store.sort(id) {
                Sort::Bool => Z3_mk_bool_sort(cx.raw),
                Sort::Int => Z3_mk_int_sort(cx.raw),
                Sort::Real => Z3_mk_real_sort(cx.raw),
                Sort::BitVec(width) => Z3_mk_bv_sort(cx.raw, width),
                // The recursion is as deep as array sorts are nested in the text.
                Sort::Array(domain, range) => {
                    let domain = self.sort(cx, store, domain)?;
                    let range = self.sort(cx, store, range)?;
                    Z3_mk_array_sort(cx.raw, domain, range)
                }
                Sort::Datatype(datatype) => {
                    self.declare(cx, store, datatype)?;
                    return self.sorts[index].ok_or_else(|| "a datatype has no sort".to_owned());
                }
            }
        };
        let sort = cx.ok(made)?;
        self.keep_sort(cx, id, sort)?;
        Ok(sort)
    }

    /// The sort for a sort of Z3; `None` for a sort that alphorn does not have.
    pub fn sort_id(&self, cx: &Context, store: &TermStore, sort: Z3_sort) -> Option<SortId> {
        if let Some(&found) = self.sort_ids.get(&sort) {
            return Some(found);
        }
        // SAFETY: the sort belongs to the context.
        unsafe {
            match cx.sort_kind(sort) {
                1 => Some(SortId::BOOL),
                2 => Some(SortId::INT),
                3 => Some(SortId::REAL),
                4 => Some(store.bitvec_sort(Z3_get_bv_sort_size(cx.raw, sort))),
                5 if Z3_get_array_arity(cx.raw, sort) == 1 => {
                    let domain = Z3_get_array_sort_domain(cx.raw, sort)?;
                    let range = Z3_get_array_sort_range(cx.raw, sort)?;
                    let domain = self.sort_id(cx, store, domain)?;
                    let range = self.sort_id(cx, store, range)?;
                    Some(store.array_sort(domain, range))
                }
                _ => None,
            }
        }
    }

    /// Records a new sort and keeps a reference to it.
    fn keep_sort(&mut self, cx: &Context, id: SortId, sort: Z3_sort) -> Result<(), String> {
        // SAFETY: the sort was just made in this context.
        unsafe {
            let ast = cx.ok(Z3_sort_to_ast(cx.raw, sort))?;
            cx.keep(ast);
        }
        let index = id.0 as usize;
        if self.sorts.len() <= index {
            self.sorts.resize(index + 1, None);
        }
        self.sorts[index] = Some(sort);
        self.sort_ids.insert(sort, id);
        Ok(())
    }

    /// The declarations of a datatype.
    fn datatype(
        &mut self,
        cx: &Context,
        store: &TermStore,
        id: DatatypeId,
    ) -> Result<&Declarations, String> {
        if !self.datatypes.contains_key(&id) {
            self.declare(cx, store, id)?;
        }
        self.datatypes
            .get(&id)
            .ok_or_else(|| "a datatype was not declared".to_owned())
    }

    /// Declares a datatype and all that it contains, unless they are declared.
    fn declare(&mut self, cx: &Context, store: &TermStore, root: DatatypeId) -> Result<(), String> {
        for group in store.datatype_groups(&[root]) {
            if !self.datatypes.contains_key(&group[0]) {
                self.declare_group(cx, store, &group)?;
            }
        }
        Ok(())
    }

    /// Declares mutually recursive datatypes; all others that they contain are declared.
    fn declare_group(
        &mut self,
        cx: &Context,
        store: &TermStore,
        group: &[DatatypeId],
    ) -> Result<(), String> {
        let position: FxHashMap<DatatypeId, c_uint> =
            group.iter().zip(0..).map(|(&id, at)| (id, at)).collect();
        let mut names = Vec::new();
        for &id in group {
            names.push(cx.symbol(&format!("{}!{}", store.datatype_head(id).0, id.0))?);
        }
        let mut open = OpenDatatypes {
            cx,
            constructors: Vec::new(),
            lists: Vec::new(),
        };
        for &id in group {
            let mut made = Vec::new();
            for (at, constructor) in store.datatype(id).constructors.iter().enumerate() {
                let suffix = format!("{}!{}!{at}", constructor.name, id.0);
                let name = cx.symbol(&suffix)?;
                let tester = cx.symbol(&format!("is-{suffix}"))?;
                let mut fields = Vec::new();
                let mut sorts = Vec::new();
                let mut references = Vec::new();
                for (f, field) in constructor.fields.iter().enumerate() {
                    fields.push(cx.symbol(&format!("{}!{}!{at}!{f}", field.selector, id.0))?);
                    let reference = match store.sort(field.sort) {
                        Sort::Datatype(inner) => position.get(&inner).copied(),
                        _ => None,
                    };
                    references.push(reference.unwrap_or(0));
                    sorts.push(match reference {
                        Some(_) => None,
                        None => Some(self.open_sort(cx, store, field.sort, &position, &names)?),
                    });
                }
                // SAFETY: each array has an entry for each field.
                let constructor = unsafe {
                    cx.ok(Z3_mk_constructor(
                        cx.raw,
                        name,
                        tester,
                        fields.len() as c_uint,
                        fields.as_ptr(),
                        sorts.as_ptr(),
                        references.as_mut_ptr(),
                    ))?
                };
                open.constructors.push(constructor);
                made.push(constructor);
            }
            // SAFETY: the constructors live until `open` is dropped.
            let list = unsafe {
                cx.ok(Z3_mk_constructor_list(
                    cx.raw,
                    made.len() as c_uint,
                    made.as_ptr(),
                ))?
            };
            open.lists.push(list);
        }
        let mut sorts: Vec<Option<Z3_sort>> = vec![None; group.len()];
        // SAFETY: names, sorts and lists have an entry for each datatype; Z3 writes the sorts, and
        // `Option<Z3_sort>` has the layout of a pointer.
        unsafe {
            Z3_mk_datatypes(
                cx.raw,
                group.len() as c_uint,
                names.as_ptr(),
                sorts.as_mut_ptr().cast(),
                open.lists.as_mut_ptr(),
            );
        }
        if let Some(message) = cx.failed() {
            return Err(message);
        }
        for (&id, sort) in group.iter().zip(&sorts) {
            let sort = sort.ok_or_else(|| cx.error())?;
            self.keep_sort(cx, store.datatype_sort(id), sort)?;
        }
        let mut constructors = open.constructors.iter();
        for &id in group {
            let mut declarations = Declarations {
                constructors: Vec::new(),
                testers: Vec::new(),
                fields: Vec::new(),
            };
            for (constructor, at) in store.datatype(id).constructors.iter().zip(0..) {
                let made = *constructors.next().ok_or("a constructor is missing")?;
                let count = constructor.fields.len();
                let mut found: Vec<Option<Z3_func_decl>> = vec![None; 2 + count];
                let (heads, fields) = found.split_at_mut(2);
                // SAFETY: Z3 writes one declaration into each place, and `Option<Z3_func_decl>` has
                // the layout of a pointer.
                unsafe {
                    Z3_query_constructor(
                        cx.raw,
                        made,
                        count as c_uint,
                        heads[..1].as_mut_ptr().cast(),
                        heads[1..].as_mut_ptr().cast(),
                        fields.as_mut_ptr().cast(),
                    );
                }
                let found: Vec<Z3_func_decl> = found
                    .into_iter()
                    .map(|decl| {
                        let decl = cx.ok(decl)?;
                        // SAFETY: Z3 just returned the declaration.
                        unsafe { cx.keep(cx.ok(Z3_func_decl_to_ast(cx.raw, decl))?) };
                        Ok(decl)
                    })
                    .collect::<Result<_, String>>()?;
                self.datatype_ops
                    .insert(found[0], DatatypeOp::Construct(id, at));
                self.datatype_ops.insert(found[1], DatatypeOp::Is(id, at));
                for (&field, f) in found[2..].iter().zip(0..) {
                    self.datatype_ops
                        .insert(field, DatatypeOp::Field(id, at, f));
                }
                declarations.constructors.push(found[0]);
                declarations.testers.push(found[1]);
                declarations.fields.push(found[2..].to_vec());
            }
            self.datatypes.insert(id, declarations);
        }
        Ok(())
    }

    /// The sort of a field of datatypes that are being declared, where these are given by name.
    fn open_sort(
        &mut self,
        cx: &Context,
        store: &TermStore,
        sort: SortId,
        position: &FxHashMap<DatatypeId, c_uint>,
        names: &[Z3_symbol],
    ) -> Result<Z3_sort, String> {
        match store.sort(sort) {
            Sort::Datatype(id) => match position.get(&id) {
                // SAFETY: a reference by name, without parameters.
                Some(&at) => unsafe {
                    let name = names[at as usize];
                    let made = Z3_mk_datatype_sort(cx.raw, name, 0, std::ptr::null());
                    referenced_sort(cx, cx.ok(made)?)
                },
                None => self.sort(cx, store, sort),
            },
            Sort::Array(domain, range) => {
                let domain = self.open_sort(cx, store, domain, position, names)?;
                let range = self.open_sort(cx, store, range, position, names)?;
                // SAFETY: both sorts are referenced.
                let made = unsafe { Z3_mk_array_sort(cx.raw, domain, range) };
                referenced_sort(cx, cx.ok(made)?)
            }
            _ => self.sort(cx, store, sort),
        }
    }
}

/// The sort, to which the context keeps a reference.
fn referenced_sort(cx: &Context, sort: Z3_sort) -> Result<Z3_sort, String> {
    // SAFETY: the sort was just made in this context.
    unsafe { cx.keep(cx.ok(Z3_sort_to_ast(cx.raw, sort))?) };
    Ok(sort)
}

/// Constructors and their lists, released when the datatypes are declared.
struct OpenDatatypes<'a> {
    cx: &'a Context,
    constructors: Vec<Z3_constructor>,
    lists: Vec<Z3_constructor_list>,
}

impl Drop for OpenDatatypes<'_> {
    fn drop(&mut self) {
        // SAFETY: the context made them, and they are released once.
        unsafe {
            for &list in &self.lists {
                Z3_del_constructor_list(self.cx.raw, list);
            }
            for &constructor in &self.constructors {
                Z3_del_constructor(self.cx.raw, constructor);
            }
        }
    }
}
