//! Z3's fixedpoint engine Spacer on a system of clauses.
//!
//! Preprocessing that changes predicates is off, so that the answer is about the given predicates.
//!
//! # Invariant
//! Interpretations and facts are Z3's and are not checked here. Interpretations that cannot be
//! decoded make the answer `Unknown`; if a fact cannot be decoded, the answer has no facts.

use std::ffi::{CStr, c_uint};
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};
use z3_sys::*;

use super::context::{AstRef, Context};
use super::solver::Smt;
use alphorn_chc::{Atom, PredicateId, System};
use alphorn_term::{SortId, TermId};

/// Z3's answer about a system.
#[derive(Debug)]
pub enum FixedpointAnswer {
    /// `false` is not derivable; with a formula for each predicate in use, over its formal
    /// variables.
    Safe(Vec<(PredicateId, TermId)>),
    /// `false` is derivable; with facts of a derivation, in no particular order and not necessarily
    /// all: each a predicate with the values of its arguments.
    Unsafe(Vec<(PredicateId, Vec<TermId>)>),
    /// No answer, with Z3's reason, or with what could not be encoded or decoded.
    Unknown(String),
}

/// A Z3 fixedpoint object.
struct Fixedpoint<'a> {
    cx: &'a Context,
    raw: Z3_fixedpoint,
}

impl Drop for Fixedpoint<'_> {
    fn drop(&mut self) {
        // SAFETY: releases the reference taken when it was made.
        unsafe { Z3_fixedpoint_dec_ref(self.cx.raw, self.raw) };
    }
}

impl Smt {
    /// Asks Spacer whether the clauses of a system derive `false`, with at most `limit` of time.
    /// `global` turns its global guidance on.
    pub fn fixedpoint(
        &self,
        system: &System,
        global: bool,
        limit: Option<Duration>,
    ) -> FixedpointAnswer {
        match self.ask_fixedpoint(system, global, limit) {
            Ok(answer) => answer,
            Err(message) => FixedpointAnswer::Unknown(message),
        }
    }

    fn ask_fixedpoint(
        &self,
        system: &System,
        global: bool,
        limit: Option<Duration>,
    ) -> Result<FixedpointAnswer, String> {
        let cx = &self.cx;
        // SAFETY: referenced until dropped.
        let engine = unsafe {
            let raw = cx.ok(Z3_mk_fixedpoint(cx.raw))?;
            Z3_fixedpoint_inc_ref(cx.raw, raw);
            Fixedpoint { cx, raw }
        };
        self.configure(&engine, global, limit)?;
        let predicates = system.used_predicates();
        let mut declarations: Vec<Option<Z3_func_decl>> = vec![None; system.predicates.len()];
        for &p in &predicates {
            let params = &system.predicate(p).params;
            let sorts: Vec<SortId> = params.iter().map(|&v| self.terms().sort_of(v)).collect();
            let name = format!("p{}", p.index());
            declarations[p.index()] = Some(self.relation(&engine, &name, &sorts)?);
        }
        let goal = self.relation(&engine, "goal", &[])?;
        for clause in &system.clauses {
            self.add_rule(&engine, system, clause, &declarations, goal)?;
        }
        // SAFETY: the relation is registered.
        let query = unsafe {
            let app = Z3_mk_app(cx.raw, goal, 0, std::ptr::null());
            AstRef::new(cx, cx.ok(app)?)
        };
        // SAFETY: engine and query belong to the context and are referenced.
        let ask = || unsafe { Z3_fixedpoint_query(cx.raw, engine.raw, query.ast) };
        let answer = cx.query(ask);
        match answer {
            Some(Z3_L_FALSE) => self.interpretations(&engine, system, &declarations),
            Some(Z3_L_TRUE) => Ok(FixedpointAnswer::Unsafe(
                self.facts(&engine, &declarations)
                    .unwrap_or_else(|message| {
                        log::debug!("Z3's derivation cannot be decoded: {message}");
                        Vec::new()
                    }),
            )),
            Some(_) => {
                // SAFETY: the text is copied at once.
                let reason = unsafe {
                    let text = Z3_fixedpoint_get_reason_unknown(cx.raw, engine.raw);
                    if text.is_null() {
                        cx.error()
                    } else {
                        CStr::from_ptr(text).to_string_lossy().into_owned()
                    }
                };
                Ok(FixedpointAnswer::Unknown(reason))
            }
            None => Ok(FixedpointAnswer::Unknown("interrupted".to_owned())),
        }
    }

    /// Sets the parameters of the engine.
    fn configure(
        &self,
        engine: &Fixedpoint,
        global: bool,
        limit: Option<Duration>,
    ) -> Result<(), String> {
        let cx = &self.cx;
        let milliseconds = limit.map_or(u32::MAX, |limit| {
            u32::try_from(limit.as_millis().max(1)).unwrap_or(u32::MAX)
        });
        let flags = [
            ("xform.inline_eager", false),
            ("xform.inline_linear", false),
            ("xform.slice", false),
            ("spacer.global", global),
            ("ctrl_c", false),
        ];
        cx.with_params(
            |params| {
                // SAFETY: the parameters are referenced during the call.
                unsafe {
                    for (name, value) in flags {
                        if let Ok(name) = cx.symbol(name) {
                            Z3_params_set_bool(cx.raw, params, name, value);
                        }
                    }
                    if let (Ok(name), Ok(spacer)) = (cx.symbol("engine"), cx.symbol("spacer")) {
                        Z3_params_set_symbol(cx.raw, params, name, spacer);
                    }
                    if let Ok(name) = cx.symbol("timeout") {
                        Z3_params_set_uint(cx.raw, params, name, milliseconds);
                    }
                }
            },
            // SAFETY: both belong to the context.
            |params| unsafe { Z3_fixedpoint_set_params(cx.raw, engine.raw, params) },
        )?;
        cx.failed().map_or(Ok(()), Err)
    }

    /// Declares and registers a relation.
    fn relation(
        &self,
        engine: &Fixedpoint,
        name: &str,
        sorts: &[SortId],
    ) -> Result<Z3_func_decl, String> {
        let cx = &self.cx;
        let mut encoder = self.encoder.borrow_mut();
        let sorts: Result<Vec<Z3_sort>, String> = sorts
            .iter()
            .map(|&s| encoder.sort(cx, self.terms(), s))
            .collect();
        let sorts = sorts?;
        // SAFETY: the context references the sorts and keeps a reference to the declaration.
        unsafe {
            let bool_sort = cx.ok(Z3_mk_bool_sort(cx.raw))?;
            let name = cx.symbol(name)?;
            let decl = Z3_mk_func_decl(
                cx.raw,
                name,
                sorts.len() as c_uint,
                sorts.as_ptr(),
                bool_sort,
            );
            let decl = cx.ok(decl)?;
            cx.keep(cx.ok(Z3_func_decl_to_ast(cx.raw, decl))?);
            Z3_fixedpoint_register_relation(cx.raw, engine.raw, decl);
            cx.failed().map_or(Ok(decl), Err)
        }
    }

    /// Adds a clause as a rule; `goal` is the head of a query.
    fn add_rule(
        &self,
        engine: &Fixedpoint,
        system: &System,
        clause: &alphorn_chc::Clause,
        declarations: &[Option<Z3_func_decl>],
        goal: Z3_func_decl,
    ) -> Result<(), String> {
        let cx = &self.cx;
        let apply = |atom: &Atom| -> Result<AstRef<'_>, String> {
            let decl = declarations[atom.predicate.index()].ok_or("an undeclared predicate")?;
            let args: Result<Vec<Z3_ast>, String> =
                atom.args.iter().map(|&a| self.encode(a)).collect();
            let args = args?;
            // SAFETY: the context references the arguments.
            unsafe {
                let app = Z3_mk_app(cx.raw, decl, args.len() as c_uint, args.as_ptr());
                Ok(AstRef::new(cx, cx.ok(app)?))
            }
        };
        let mut body: Vec<AstRef> = clause.body.iter().map(apply).collect::<Result<_, _>>()?;
        let constraint = self.encode(clause.constraint)?;
        body.push(AstRef::new(cx, constraint));
        let body: Vec<Z3_ast> = body.iter().map(|h| h.ast).collect::<Vec<_>>();
        // SAFETY: the parts are referenced above or by the context; every result is referenced at
        // once.
        unsafe {
            let parts: Vec<AstRef> = body.iter().map(|&a| AstRef::new(cx, a)).collect();
            let head = match &clause.head {
                Some(head) => apply(head)?,
                None => AstRef::new(cx, cx.ok(Z3_mk_app(cx.raw, goal, 0, std::ptr::null()))?),
            };
            let all = AstRef::new(
                cx,
                cx.ok(Z3_mk_and(cx.raw, parts.len() as c_uint, body.as_ptr()))?,
            );
            let rule = AstRef::new(cx, cx.ok(Z3_mk_implies(cx.raw, all.ast, head.ast))?);
            let mut bound: Vec<Z3_app> = Vec::new();
            for var in clause.vars(&system.terms) {
                bound.push(cx.ok(Z3_to_app(cx.raw, self.encode(var)?))?);
            }
            let rule = if bound.is_empty() {
                rule
            } else {
                let closed = Z3_mk_forall_const(
                    cx.raw,
                    0,
                    bound.len() as c_uint,
                    bound.as_ptr(),
                    0,
                    std::ptr::null(),
                    rule.ast,
                );
                AstRef::new(cx, cx.ok(closed)?)
            };
            Z3_fixedpoint_add_rule(cx.raw, engine.raw, rule.ast, None);
        }
        cx.failed().map_or(Ok(()), Err)
    }

    /// The interpretations of all predicates in use.
    fn interpretations(
        &self,
        engine: &Fixedpoint,
        system: &System,
        declarations: &[Option<Z3_func_decl>],
    ) -> Result<FixedpointAnswer, String> {
        let cx = &self.cx;
        let mut result = Vec::new();
        for p in system.used_predicates() {
            let Some(decl) = declarations[p.index()] else {
                continue;
            };
            let params = &system.predicate(p).params;
            let params: Result<Vec<Z3_ast>, String> =
                params.iter().map(|&v| self.encode(v)).collect();
            let params = params?;
            // SAFETY: the declaration is registered, and terms are referenced at once.
            let formula = unsafe {
                let cover = Z3_fixedpoint_get_cover_delta(cx.raw, engine.raw, -1, decl);
                let cover = AstRef::new(cx, cx.ok(cover)?);
                let count = params.len() as c_uint;
                let open = Z3_substitute_vars(cx.raw, cover.ast, count, params.as_ptr());
                AstRef::new(cx, cx.ok(open)?)
            };
            let formula = self.decode(formula.ast).map_err(|e| e.to_string())?;
            result.push((p, formula));
        }
        Ok(FixedpointAnswer::Safe(result))
    }

    /// The facts of Z3's derivation: a tree of hyper-resolution steps, each with the fact that it
    /// derives. Clauses in it are quantified and have no ground atoms.
    fn facts(
        &self,
        engine: &Fixedpoint,
        declarations: &[Option<Z3_func_decl>],
    ) -> Result<Vec<(PredicateId, Vec<TermId>)>, String> {
        let cx = &self.cx;
        let by_declaration: FxHashMap<Z3_func_decl, PredicateId> = declarations
            .iter()
            .enumerate()
            .filter_map(|(p, d)| Some(((*d)?, PredicateId(p as u32))))
            .collect();
        // SAFETY: the answer is referenced while it is read, and references its parts.
        unsafe {
            let answer = Z3_fixedpoint_get_answer(cx.raw, engine.raw);
            let answer = AstRef::new(cx, cx.ok(answer)?);
            let mut facts = Vec::new();
            let mut seen: FxHashSet<Z3_ast> = FxHashSet::default();
            let mut stack = vec![answer.ast];
            while let Some(ast) = stack.pop() {
                // 1 is `Z3_APP_AST`.
                if cx.ast_kind(ast) != 1 || !seen.insert(ast) {
                    continue;
                }
                let app = cx.ok(Z3_to_app(cx.raw, ast))?;
                let decl = cx.ok(Z3_get_app_decl(cx.raw, app))?;
                let count = Z3_get_app_num_args(cx.raw, app);
                let args: Result<Vec<Z3_ast>, String> = (0..count)
                    .map(|i| cx.ok(Z3_get_app_arg(cx.raw, app, i)))
                    .collect();
                let args = args?;
                let Some(&predicate) = by_declaration.get(&decl) else {
                    stack.extend(args);
                    continue;
                };
                let values: Result<Vec<TermId>, _> =
                    args.into_iter().map(|a| self.decode(a)).collect();
                let values = values.map_err(|e| e.to_string())?;
                if values.iter().all(|&v| self.terms().is_value(v)) {
                    facts.push((predicate, values));
                }
            }
            facts.reverse();
            Ok(facts)
        }
    }
}
