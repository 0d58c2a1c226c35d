//! Terms of Z3 as terms of alphorn, for models and the answers of the fixedpoint engine.
//!
//! # Invariant
//! A term without counterpart in alphorn (an algebraic number, Z3's function for division by zero,
//! a Skolem constant) is a [`DecodeError`]. Decoding is iterative, and decodes a shared subterm
//! once in each scope of bound variables.

use std::ffi::CStr;

use num_traits::{One, Zero};
use rustc_hash::FxHashMap;
use z3_sys::*;

use super::context::Context;
use super::encode::{DatatypeOp, Encoder};
use super::limits::LIMITS;
use super::solver::DecodeError;
use alphorn_term::{BigInt, BigUint, Op, Rational, Sort, SortId, TermId, TermStore};

type Decoded = Result<TermId, DecodeError>;

fn unknown<T>(what: impl Into<String>) -> Result<T, DecodeError> {
    Err(DecodeError(what.into()))
}

/// The bound variables of a quantifier, and the index of the scope around it.
struct Scope {
    outer: usize,
    vars: Vec<TermId>,
}

/// A task of the traversal; with the index of the term's scope.
enum Work {
    /// A term to decode.
    Visit(Z3_ast, usize),
    /// An application; its arguments are on the stack of results.
    Apply(Z3_ast, usize),
    /// A quantifier, with the scope of its body; the body is on the stack of results.
    Bind(Z3_ast, usize, usize),
    /// An array given by a function of a model, with the number of its entries; default and entries
    /// are on the stack of results.
    Function(Z3_ast, usize, usize),
}

/// Decodes terms of a context, with the functions of a model if there is one.
pub(super) struct Decoder<'a> {
    cx: &'a Context,
    store: &'a TermStore,
    encoder: &'a Encoder,
    model: Option<Z3_model>,
    /// By term and scope. Scope 0 has no bound variables.
    memo: FxHashMap<(Z3_ast, usize), TermId>,
    scopes: Vec<Scope>,
}

impl<'a> Decoder<'a> {
    /// A decoder. The caller has a reference to the model.
    pub fn new(
        cx: &'a Context,
        store: &'a TermStore,
        encoder: &'a Encoder,
        model: Option<Z3_model>,
    ) -> Self {
        Decoder {
            cx,
            store,
            encoder,
            model,
            memo: FxHashMap::default(),
            scopes: vec![Scope {
                outer: 0,
                vars: Vec::new(),
            }],
        }
    }

    /// The term for a term of Z3, to which the caller has a reference.
    pub fn decode(&mut self, root: Z3_ast) -> Decoded {
        let mut work = vec![Work::Visit(root, 0)];
        let mut results: Vec<TermId> = Vec::new();
        while let Some(item) = work.pop() {
            match item {
                Work::Visit(ast, scope) => self.visit(ast, scope, &mut work, &mut results)?,
                Work::Apply(ast, scope) => {
                    // SAFETY: the term is an application, referenced by the root.
                    let (decl, count) = unsafe {
                        let app = self.known(Z3_to_app(self.cx.raw, ast))?;
                        let decl = self.known(Z3_get_app_decl(self.cx.raw, app))?;
                        (decl, Z3_get_app_num_args(self.cx.raw, app) as usize)
                    };
                    let args = results.split_off(results.len() - count);
                    let term = self.apply(ast, decl, &args)?;
                    self.memo.insert((ast, scope), term);
                    results.push(term);
                }
                Work::Bind(ast, scope, inner) => {
                    let Some(body) = results.pop() else {
                        return unknown("a quantifier without a body");
                    };
                    let vars = &self.scopes[inner].vars;
                    // SAFETY: the term is a quantifier, referenced by the root.
                    let term = unsafe {
                        if Z3_is_quantifier_forall(self.cx.raw, ast) {
                            self.store.forall(vars, body)
                        } else if Z3_is_quantifier_exists(self.cx.raw, ast) {
                            self.store.exists(vars, body)
                        } else {
                            self.lambda(vars, body)?
                        }
                    };
                    self.memo.insert((ast, scope), term);
                    results.push(term);
                }
                Work::Function(ast, scope, entries) => {
                    let args = results.split_off(results.len() - (2 * entries + 1));
                    // SAFETY: the term is referenced by the root.
                    let sort = unsafe { self.known(Z3_get_sort(self.cx.raw, ast))? };
                    let sort = self.sort(sort)?;
                    let pairs = args[1..].chunks_exact(2).map(|p| (p[0], p[1]));
                    let term = if args.iter().all(|&a| self.store.is_value(a)) {
                        self.store.array_from_entries(sort, pairs, args[0])
                    } else {
                        let mut array = self.store.const_array(sort, args[0]);
                        for (index, value) in pairs {
                            array = self.store.store(array, index, value);
                        }
                        array
                    };
                    self.memo.insert((ast, scope), term);
                    results.push(term);
                }
            }
        }
        match results.pop() {
            Some(term) => Ok(term),
            None => unknown("a term without a result"),
        }
    }

    fn known<T>(&self, result: Option<T>) -> Result<T, DecodeError> {
        result.ok_or_else(|| DecodeError(self.cx.error()))
    }

    fn sort(&self, sort: Z3_sort) -> Result<SortId, DecodeError> {
        match self.encoder.sort_id(self.cx, self.store, sort) {
            Some(sort) => Ok(sort),
            None => unknown("a sort that alphorn does not have"),
        }
    }

    fn visit(
        &mut self,
        ast: Z3_ast,
        scope: usize,
        work: &mut Vec<Work>,
        results: &mut Vec<TermId>,
    ) -> Result<(), DecodeError> {
        if let Some(term) = self.encoder.term(ast) {
            results.push(term);
            return Ok(());
        }
        // SAFETY: the term is referenced by the root.
        let is_ground = || unsafe { Z3_is_ground(self.cx.raw, ast) };
        let scope = if scope == 0 || is_ground() { 0 } else { scope };
        if let Some(&term) = self.memo.get(&(ast, scope)) {
            results.push(term);
            return Ok(());
        }
        match self.cx.ast_kind(ast) {
            0 => {
                let term = self.numeral(ast)?;
                results.push(term);
            }
            1 => self.visit_application(ast, scope, work, results)?,
            2 => {
                // SAFETY: the term is a bound variable.
                let mut index = unsafe { Z3_get_index_value(self.cx.raw, ast) } as usize;
                let mut at = scope;
                loop {
                    let vars = &self.scopes[at].vars;
                    if index < vars.len() {
                        results.push(vars[vars.len() - 1 - index]);
                        break;
                    }
                    if at == 0 {
                        return unknown("a variable that nothing binds");
                    }
                    index -= vars.len();
                    at = self.scopes[at].outer;
                }
            }
            3 => {
                let cx = self.cx;
                let mut vars = Vec::new();
                // SAFETY: the term is a quantifier, referenced by the root; names are copied at
                // once.
                let body = unsafe {
                    for i in 0..Z3_get_quantifier_num_bound(cx.raw, ast) {
                        let name = self.known(Z3_get_quantifier_bound_name(cx.raw, ast, i))?;
                        let sort = self.known(Z3_get_quantifier_bound_sort(cx.raw, ast, i))?;
                        let sort = self.sort(sort)?;
                        let name = self.symbol(name);
                        vars.push(self.store.fresh_var(&name, sort));
                    }
                    self.known(Z3_get_quantifier_body(cx.raw, ast))?
                };
                self.scopes.push(Scope { outer: scope, vars });
                let inner = self.scopes.len() - 1;
                work.push(Work::Bind(ast, scope, inner));
                work.push(Work::Visit(body, inner));
            }
            _ => return unknown("an object that is no term"),
        }
        Ok(())
    }

    fn visit_application(
        &mut self,
        ast: Z3_ast,
        scope: usize,
        work: &mut Vec<Work>,
        results: &mut Vec<TermId>,
    ) -> Result<(), DecodeError> {
        let c = self.cx.raw;
        // SAFETY: the root references the application and its arguments.
        unsafe {
            let app = self.known(Z3_to_app(c, ast))?;
            let decl = self.known(Z3_get_app_decl(c, app))?;
            if self.cx.decl_kind(decl) == DeclKind::AsArray as u32 {
                return self.visit_function(ast, scope, work);
            }
            let count = Z3_get_app_num_args(c, app);
            if count == 0 {
                let term = self.apply(ast, decl, &[])?;
                results.push(term);
                return Ok(());
            }
            work.push(Work::Apply(ast, scope));
            for i in (0..count).rev() {
                let arg = self.known(Z3_get_app_arg(c, app, i))?;
                work.push(Work::Visit(arg, scope));
            }
        }
        Ok(())
    }

    /// `(_ as-array f)`, with the interpretation of `f` in the model.
    fn visit_function(
        &mut self,
        ast: Z3_ast,
        scope: usize,
        work: &mut Vec<Work>,
    ) -> Result<(), DecodeError> {
        let c = self.cx.raw;
        let Some(model) = self.model else {
            return unknown("an array given by a function, outside of a model");
        };
        // SAFETY: the interpretation is referenced in this block, and its terms by the model.
        unsafe {
            let decl = self.known(Z3_get_as_array_func_decl(c, ast))?;
            let function = self.known(Z3_model_get_func_interp(c, model, decl))?;
            Z3_func_interp_inc_ref(c, function);
            let read = || -> Result<(Z3_ast, Vec<(Z3_ast, Z3_ast)>), DecodeError> {
                if Z3_func_interp_get_arity(c, function) != 1 {
                    return unknown("an array of several indexes");
                }
                let default = self.known(Z3_func_interp_get_else(c, function))?;
                let mut entries = Vec::new();
                for i in 0..Z3_func_interp_get_num_entries(c, function) {
                    let entry = self.known(Z3_func_interp_get_entry(c, function, i))?;
                    Z3_func_entry_inc_ref(c, entry);
                    let index = Z3_func_entry_get_arg(c, entry, 0);
                    let value = Z3_func_entry_get_value(c, entry);
                    Z3_func_entry_dec_ref(c, entry);
                    entries.push((self.known(index)?, self.known(value)?));
                }
                Ok((default, entries))
            };
            let found = read();
            Z3_func_interp_dec_ref(c, function);
            let (default, entries) = found?;
            work.push(Work::Function(ast, scope, entries.len()));
            for &(index, value) in entries.iter().rev() {
                work.push(Work::Visit(value, scope));
                work.push(Work::Visit(index, scope));
            }
            work.push(Work::Visit(default, scope));
        }
        Ok(())
    }

    /// An array given by a lambda term that is a chain of `ite`s over equations of its variable.
    fn lambda(&self, vars: &[TermId], body: TermId) -> Decoded {
        let store = self.store;
        let &[var] = vars else {
            return unknown("an array of several indexes");
        };
        let sort = store.array_sort(store.sort_of(var), store.sort_of(body));
        let mut entries = Vec::new();
        let mut rest = body;
        loop {
            let node = store.node(rest);
            if node.is_ground || !store.free_vars(&[rest]).contains(&var) {
                break;
            }
            let index = match node.op {
                Op::Ite => self.index_of(var, node.args[0]),
                _ => None,
            };
            let Some(index) = index else {
                return unknown("an array given by a lambda term");
            };
            entries.push((index, node.args[1]));
            rest = node.args[2];
        }
        if entries
            .iter()
            .any(|e| store.free_vars(&[e.0, e.1]).contains(&var))
        {
            return unknown("an array given by a lambda term");
        }
        let mut array = store.const_array(sort, rest);
        for (index, value) in entries.into_iter().rev() {
            array = store.store(array, index, value);
        }
        Ok(array)
    }

    /// The term `i` of a condition `var = i`.
    fn index_of(&self, var: TermId, condition: TermId) -> Option<TermId> {
        if condition == var {
            return Some(TermId::TRUE);
        }
        let node = self.store.node(condition);
        match node.op {
            Op::Eq if node.args[0] == var => Some(node.args[1]),
            Op::Eq if node.args[1] == var => Some(node.args[0]),
            _ => None,
        }
    }

    fn symbol(&self, symbol: Z3_symbol) -> String {
        // SAFETY: the symbol belongs to the context; the text is copied at once.
        unsafe {
            let text = match Z3_get_symbol_kind(self.cx.raw, symbol) {
                SymbolKind::String => Z3_get_symbol_string(self.cx.raw, symbol),
                SymbolKind::Int => {
                    return format!("x!{}", Z3_get_symbol_int(self.cx.raw, symbol));
                }
            };
            CStr::from_ptr(text).to_string_lossy().into_owned()
        }
    }

    fn numeral(&self, ast: Z3_ast) -> Decoded {
        let c = self.cx.raw;
        // SAFETY: the term is a numeral; its text is copied at once.
        unsafe {
            let sort = self.sort(self.known(Z3_get_sort(c, ast))?)?;
            match self.store.sort(sort) {
                Sort::Int => {
                    let mut small = 0;
                    if Z3_get_numeral_int64(c, ast, &mut small) {
                        return Ok(self.store.int(small));
                    }
                }
                Sort::BitVec(width) => {
                    let mut small = 0;
                    if Z3_get_numeral_uint64(c, ast, &mut small) {
                        return Ok(self.store.bitvec(BigUint::from(small), width));
                    }
                }
                Sort::Real => {
                    let (mut numerator, mut denominator) = (0, 0);
                    if Z3_get_numeral_small(c, ast, &mut numerator, &mut denominator)
                        && denominator > 0
                    {
                        let value = Rational::new(numerator.into(), denominator.into());
                        return Ok(self.store.real(value));
                    }
                }
                _ => {}
            }
            let text = Z3_get_numeral_string(c, ast);
            if text.is_null() {
                return unknown(self.cx.error());
            }
            let text = CStr::from_ptr(text).to_string_lossy();
            let value: Option<Rational> = match text.split_once('/') {
                Some((n, d)) => match (n.trim().parse::<BigInt>(), d.trim().parse::<BigInt>()) {
                    (Ok(n), Ok(d)) if !d.is_zero() => Some(Rational::new(n, d)),
                    _ => None,
                },
                None => text.trim().parse().ok().map(Rational::from_integer),
            };
            match (self.store.sort(sort), value) {
                (Sort::Int, Some(v)) if v.is_integer() => Ok(self.store.int(v.to_integer())),
                (Sort::Real, Some(v)) => Ok(self.store.real(v)),
                (Sort::BitVec(width), Some(v)) => match v.to_integer().to_biguint() {
                    Some(v) => Ok(self.store.bitvec(v, width)),
                    None => unknown(format!("the numeral {text}")),
                },
                _ => unknown(format!("the numeral {text}")),
            }
        }
    }

    /// An application to decoded arguments.
    fn apply(&self, ast: Z3_ast, decl: Z3_func_decl, args: &[TermId]) -> Decoded {
        let store = self.store;
        if let Some(op) = self.encoder.datatype_op(decl) {
            return Ok(match op {
                DatatypeOp::Construct(id, at) => store.construct(id, at, args),
                DatatypeOp::Field(id, at, field) => store.field(id, at, field, args[0]),
                DatatypeOp::Is(id, at) => store.is(id, at, args[0]),
            });
        }
        let kind = self.cx.decl_kind(decl);
        let is = |k: DeclKind| kind == k as u32;
        let arity_ok = |n: usize| args.len() == n;
        if is(DeclKind::ConstArray) && arity_ok(1) {
            // SAFETY: the term is referenced by the root.
            let sort = unsafe { self.known(Z3_get_sort(self.cx.raw, ast))? };
            return Ok(store.const_array(self.sort(sort)?, args[0]));
        }
        if is(DeclKind::DtIs) || is(DeclKind::DtRecogniser) {
            if let Some(DatatypeOp::Construct(id, at)) = self.decl_parameter(decl) {
                return Ok(store.is(id, at, args[0]));
            }
            return unknown("a tester of another datatype");
        }
        if is(DeclKind::DtUpdateField) && arity_ok(2) {
            if let Some(DatatypeOp::Field(id, at, field)) = self.decl_parameter(decl) {
                let count = store.datatype(id).constructors[at as usize].fields.len();
                let fields: Vec<TermId> = (0..count as u32)
                    .map(|f| match f == field {
                        true => args[1],
                        false => store.field(id, at, f, args[0]),
                    })
                    .collect();
                let updated = store.construct(id, at, &fields);
                return Ok(store.ite(store.is(id, at, args[0]), updated, args[0]));
            }
            return unknown("an update of another datatype");
        }
        let parameters = self.parameters(decl);
        match apply_standard(store, kind, &parameters, args) {
            Some(term) => Ok(term),
            None => {
                // SAFETY: the declaration belongs to the context.
                let name = unsafe { Z3_get_decl_name(self.cx.raw, decl) };
                let name = name.map_or(String::new(), |n| self.symbol(n));
                unknown(format!(
                    "the function {name} of {} arguments (kind {kind})",
                    args.len()
                ))
            }
        }
    }

    /// The meaning of a declaration's first parameter, if that is a declaration of a datatype.
    fn decl_parameter(&self, decl: Z3_func_decl) -> Option<DatatypeOp> {
        // SAFETY: the kind is checked before the parameter is read.
        unsafe {
            if Z3_get_decl_num_parameters(self.cx.raw, decl) == 0
                || Z3_get_decl_parameter_kind(self.cx.raw, decl, 0) != ParameterKind::FuncDecl
            {
                return None;
            }
            let inner = Z3_get_decl_func_decl_parameter(self.cx.raw, decl, 0)?;
            self.encoder.datatype_op(inner)
        }
    }

    /// The parameters of a declaration; empty if one is no number.
    fn parameters(&self, decl: Z3_func_decl) -> Vec<u32> {
        let c = self.cx.raw;
        // SAFETY: the kind is checked before the parameter is read.
        unsafe {
            (0..Z3_get_decl_num_parameters(c, decl))
                .map(|i| {
                    if Z3_get_decl_parameter_kind(c, decl, i) != ParameterKind::Int {
                        return None;
                    }
                    u32::try_from(Z3_get_decl_int_parameter(c, decl, i)).ok()
                })
                .collect::<Option<Vec<u32>>>()
                .unwrap_or_default()
        }
    }
}

/// An application of an operator of the core theory, of arithmetic, arrays or bit-vectors; `None`
/// for another operator.
fn apply_standard(
    store: &TermStore,
    kind: u32,
    parameters: &[u32],
    args: &[TermId],
) -> Option<TermId> {
    let is = |k: DeclKind| kind == k as u32;
    if (512..=530).contains(&kind) {
        return apply_arithmetic(store, kind, args);
    }
    if (1025..=1085).contains(&kind) {
        return apply_bitvec(store, kind, parameters, args);
    }
    let first = args.first().copied();
    Some(match *args {
        _ if is(DeclKind::True) => TermId::TRUE,
        _ if is(DeclKind::False) => TermId::FALSE,
        _ if is(DeclKind::And) => store.and(args),
        _ if is(DeclKind::Or) => store.or(args),
        _ if is(DeclKind::Distinct) => store.distinct(args),
        [a] if is(DeclKind::Not) => store.not(a),
        [a, b] if is(DeclKind::Eq) || is(DeclKind::Iff) || is(DeclKind::Oeq) => store.eq(a, b),
        [a, b] if is(DeclKind::Implies) => store.implies(a, b),
        [a, b, c] if is(DeclKind::Ite) => store.ite(a, b, c),
        _ if is(DeclKind::Xor) => args[1..].iter().fold(first?, |x, &y| store.xor(x, y)),
        [array, index] if is(DeclKind::Select) => store.select(array, index),
        [array, index, value] if is(DeclKind::Store) => store.store(array, index, value),
        _ => return None,
    })
}

/// An application of an operator of arithmetic.
fn apply_arithmetic(store: &TermStore, kind: u32, args: &[TermId]) -> Option<TermId> {
    let is = |k: DeclKind| kind == k as u32;
    // An ill-sorted term has no counterpart.
    let sort = store.sort_of(*args.first()?);
    if args.iter().any(|&a| store.sort_of(a) != sort) {
        return None;
    }
    let zero = store.number(&Rational::zero(), sort);
    Some(match *args {
        _ if is(DeclKind::Add) => store.add(args),
        _ if is(DeclKind::Mul) => store.mul(args),
        [a] if is(DeclKind::Uminus) || is(DeclKind::Sub) => store.neg(a),
        [a, ref rest @ ..] if is(DeclKind::Sub) => rest.iter().fold(a, |x, &y| store.sub(x, y)),
        [a, b] if is(DeclKind::Le) => store.le(a, b),
        [a, b] if is(DeclKind::Ge) => store.ge(a, b),
        [a, b] if is(DeclKind::Lt) => store.lt(a, b),
        [a, b] if is(DeclKind::Gt) => store.gt(a, b),
        [a, b] if is(DeclKind::Div) && sort == SortId::REAL => store.div(a, b),
        [a, b] if is(DeclKind::Idiv) && sort == SortId::INT => store.idiv(a, b),
        [a, b] if is(DeclKind::Mod) && sort == SortId::INT => store.modulo(a, b),
        [a, b] if is(DeclKind::Rem) && sort == SortId::INT => {
            let modulo = store.modulo(a, b);
            store.ite(store.ge(b, zero), modulo, store.neg(modulo))
        }
        [a] if is(DeclKind::ToReal) => store.to_real(a),
        [a] if is(DeclKind::ToInt) && sort == SortId::REAL => store.to_int(a),
        [a] if is(DeclKind::IsInt) && sort == SortId::REAL => store.is_int(a),
        [a] if is(DeclKind::Abs) => store.ite(store.ge(a, zero), a, store.neg(a)),
        [a, b] if is(DeclKind::Power) => {
            let exponent = store.numeral(b)?;
            let exponent = u32::try_from(exponent.is_integer().then(|| exponent.to_integer())?);
            let exponent = exponent
                .ok()
                .filter(|e| (1..=LIMITS.max_exponent).contains(e))?;
            store.mul(&vec![a; exponent as usize])
        }
        _ => return None,
    })
}

/// An application of an operator of bit-vectors.
fn apply_bitvec(
    store: &TermStore,
    kind: u32,
    parameters: &[u32],
    args: &[TermId],
) -> Option<TermId> {
    let is = |k: DeclKind| kind == k as u32;
    let any = |ks: &[DeclKind]| ks.iter().any(|&k| kind == k as u32);
    let &first = args.first()?;
    if is(DeclKind::Int2bv) {
        let &[width] = parameters else { return None };
        return (store.sort_of(first) == SortId::INT && width > 0)
            .then(|| store.bv_op(&Op::IntToBv(width), args));
    }
    let bit = |value: TermId| {
        let numeral = |v: u8| store.bitvec(BigUint::from(v), 1);
        store.ite(value, numeral(1), numeral(0))
    };
    if is(DeclKind::Mkbv) {
        // The lowest bit comes first.
        let bits: Vec<TermId> = args.iter().rev().map(|&b| bit(b)).collect();
        let concat = |x, &y| store.bv_op(&Op::BvConcat, &[x, y]);
        return Some(bits[1..].iter().fold(bits[0], concat));
    }
    if any(&[DeclKind::Xor3, DeclKind::Carry]) {
        let &[a, b, c] = args else { return None };
        return Some(match is(DeclKind::Xor3) {
            true => store.xor(store.xor(a, b), c),
            false => store.or(&[store.and(&[a, b]), store.and(&[a, c]), store.and(&[b, c])]),
        });
    }
    let width = store.width(first);
    if width == 0 {
        return None;
    }
    let op2 = |op: Op, a: TermId, b: TermId| store.bv_op(&op, &[a, b]);
    let not = |a: TermId| store.bv_op(&Op::BvNot, &[a]);
    let fold = |op: Op| {
        args[1..]
            .iter()
            .fold(first, |x, &y| store.bv_op(&op, &[x, y]))
    };
    let plain = match kind {
        k if k == DeclKind::Band as u32 => Some(Op::BvAnd),
        k if k == DeclKind::Bor as u32 => Some(Op::BvOr),
        k if k == DeclKind::Bxor as u32 => Some(Op::BvXor),
        k if k == DeclKind::Badd as u32 => Some(Op::BvAdd),
        k if k == DeclKind::Bmul as u32 => Some(Op::BvMul),
        k if k == DeclKind::Concat as u32 => Some(Op::BvConcat),
        _ => None,
    };
    if let Some(op) = plain {
        return Some(fold(op));
    }
    let zero = || store.bitvec(BigUint::zero(), width);
    let ones = || not(zero());
    Some(match (args, parameters) {
        (&[a, ref rest @ ..], _) if is(DeclKind::Bsub) => {
            rest.iter().fold(a, |x, &y| store.bv_sub(x, y))
        }
        (&[a], _) if is(DeclKind::Bnot) => not(a),
        (&[a], _) if is(DeclKind::Bneg) => store.bv_op(&Op::BvNeg, &[a]),
        (&[a, b], _) if is(DeclKind::Bnand) => not(op2(Op::BvAnd, a, b)),
        (&[a, b], _) if is(DeclKind::Bnor) => not(op2(Op::BvOr, a, b)),
        (&[a, b], _) if is(DeclKind::Bxnor) => not(op2(Op::BvXor, a, b)),
        // The variants with `_i` differ for the divisor zero only, for which Z3 does not use them.
        (&[a, b], _) if any(&[DeclKind::Budiv, DeclKind::BudivI]) => op2(Op::BvUdiv, a, b),
        (&[a, b], _) if any(&[DeclKind::Burem, DeclKind::BuremI]) => op2(Op::BvUrem, a, b),
        (&[a, b], _) if any(&[DeclKind::Bsdiv, DeclKind::BsdivI]) => op2(Op::BvSdiv, a, b),
        (&[a, b], _) if any(&[DeclKind::Bsrem, DeclKind::BsremI]) => op2(Op::BvSrem, a, b),
        (&[a, b], _) if any(&[DeclKind::Bsmod, DeclKind::BsmodI]) => op2(Op::BvSmod, a, b),
        (&[a, b], _) if is(DeclKind::Bshl) => op2(Op::BvShl, a, b),
        (&[a, b], _) if is(DeclKind::Blshr) => op2(Op::BvLshr, a, b),
        (&[a, b], _) if is(DeclKind::Bashr) => op2(Op::BvAshr, a, b),
        (&[a, b], _) if is(DeclKind::Uleq) => op2(Op::BvUle, a, b),
        (&[a, b], _) if is(DeclKind::Ugeq) => op2(Op::BvUle, b, a),
        (&[a, b], _) if is(DeclKind::Ult) => store.bv_ult(a, b),
        (&[a, b], _) if is(DeclKind::Ugt) => store.bv_ult(b, a),
        (&[a, b], _) if is(DeclKind::Sleq) => op2(Op::BvSle, a, b),
        (&[a, b], _) if is(DeclKind::Sgeq) => op2(Op::BvSle, b, a),
        (&[a, b], _) if is(DeclKind::Slt) => store.bv_slt(a, b),
        (&[a, b], _) if is(DeclKind::Sgt) => store.bv_slt(b, a),
        (&[a, b], _) if is(DeclKind::Bcomp) => bit(store.eq(a, b)),
        (&[a], _) if is(DeclKind::Bredor) => bit(store.not(store.eq(a, zero()))),
        (&[a], _) if is(DeclKind::Bredand) => bit(store.eq(a, ones())),
        (&[a], &[high, low]) if is(DeclKind::Extract) && low <= high && high < width => {
            store.bv_op(&Op::BvExtract(high, low), &[a])
        }
        (&[a], &[at]) if is(DeclKind::Bit2bool) && at < width => {
            let bit = store.bv_op(&Op::BvExtract(at, at), &[a]);
            store.eq(bit, store.bitvec(BigUint::one(), 1))
        }
        (&[a], &[bits]) if is(DeclKind::SignExt) => store.bv_op(&Op::BvSignExtend(bits), &[a]),
        (&[a], &[bits]) if is(DeclKind::ZeroExt) => store.bv_op(&Op::BvZeroExtend(bits), &[a]),
        (&[a], &[times]) if is(DeclKind::Repeat) && (1..=1024).contains(&times) => {
            (1..times).fold(a, |x, _| op2(Op::BvConcat, x, a))
        }
        (&[a], &[by]) if is(DeclKind::RotateLeft) => rotate(store, a, width, by % width),
        (&[a], &[by]) if is(DeclKind::RotateRight) => {
            rotate(store, a, width, (width - by % width) % width)
        }
        (&[a, b], _) if any(&[DeclKind::ExtRotateLeft, DeclKind::ExtRotateRight]) => {
            let by = store.as_bitvec(b)? % BigUint::from(width);
            let by = u32::try_from(by).ok()?;
            match is(DeclKind::ExtRotateLeft) {
                true => rotate(store, a, width, by),
                false => rotate(store, a, width, (width - by) % width),
            }
        }
        (&[a], _) if is(DeclKind::Bv2int) => store.bv_op(&Op::BvToNat, &[a]),
        (&[a], _) if is(DeclKind::Sbv2int) => store.bv_to_signed(a),
        _ => return None,
    })
}

/// The bit-vector rotated to the left by `by` bits, fewer than its width.
fn rotate(store: &TermStore, term: TermId, width: u32, by: u32) -> TermId {
    if by == 0 {
        return term;
    }
    let high = store.bv_op(&Op::BvExtract(width - 1 - by, 0), &[term]);
    let low = store.bv_op(&Op::BvExtract(width - 1, width - by), &[term]);
    store.bv_op(&Op::BvConcat, &[high, low])
}
