//! The grammar of commands and terms, as far as the roles of symbols need it.
//!
//! # Invariant
//! What is expected depends on the kind of list and on the number of elements before only.

use super::Role;

/// What is expected next in a list.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    Command,
    Term,
    /// The body of a quantifier.
    Body,
    /// The head of an application: a symbol, or a list that stands for one.
    Head,
    Symbol(Role),
    Sort,
    List(List),
    /// A constructor: a symbol, or a list with its selectors.
    Constructor,
    /// A pattern of a `match`: a symbol, or a constructor with variables.
    Pattern,
    /// The constructors of a datatype, with or without parameters.
    Datatype,
    /// An attribute's keyword or value.
    Attribute,
    Anything,
}

/// A list, by what its elements are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    Commands,
    Terms,
    Application,
    Let,
    Bindings,
    Binding,
    Quantifier,
    /// A quantifier whose variables have a guard.
    Guarded,
    Binders,
    Binder,
    Match,
    Cases,
    Case,
    Pattern,
    Indexed,
    Signature,
    Qualified,
    Annotated,
    Sorts,
    NewSorts,
    NewSort,
    /// The signature of a recursive function, and a list of these.
    Signatures,
    Rule,
    /// Constructors; those after a name in the older form.
    Constructors,
    OldDatatype,
    Parametric,
    Constructor,
    Selector,
    Datatypes,
    OldDatatypes,
    DeclareFun,
    DeclareVar,
    DeclareConst,
    DeclareSort,
    DeclareDatatypes,
    DeclareOldDatatypes,
    DefineFun,
    DefineConst,
    DefineFunsRec,
    DefineSort,
    DeclareHeap,
    DeclareOldHeap,
    Assert,
    Verbatim,
}

impl List {
    /// What the n-th element is, from 0.
    pub fn expected(self, element: usize) -> Expected {
        use Expected as E;
        match (self, element) {
            (List::Commands, _) => E::Command,
            (List::Terms, _) => E::Term,
            (List::Application, 0) => E::Head,
            (List::Application, _) => E::Term,
            (List::Let, 1) => E::List(List::Bindings),
            (List::Bindings, _) => E::List(List::Binding),
            (List::Binding | List::Binder, 0) => E::Symbol(Role::Variable),
            (List::Let, 2..) | (List::Binding, _) => E::Term,
            (List::Quantifier, 1) => E::List(List::Binders),
            (List::Quantifier, 2..) => E::Body,
            (List::Guarded, _) => E::Term,
            (List::Binders, _) => E::List(List::Binder),
            (List::Binder, _) => E::Sort,
            (List::Match, 1) => E::Term,
            (List::Match, 2..) => E::List(List::Cases),
            (List::Cases, _) => E::List(List::Case),
            (List::Case, 0) => E::Pattern,
            (List::Case, _) => E::Term,
            (List::Pattern, 0) => E::Symbol(Role::Function),
            (List::Pattern, _) => E::Symbol(Role::Variable),
            // `(_ is C)`, and Z3's `(_ is (C (S …) T))`.
            (List::Indexed, 2..) => E::Head,
            (List::Signature, 0) => E::Symbol(Role::Function),
            (List::Signature, 1) => E::List(List::Sorts),
            (List::Signature, _) => E::Sort,
            (List::Qualified, 1) => E::Head,
            (List::Qualified, 2..) => E::Sort,
            (List::Annotated, 1) => E::Term,
            (List::Annotated, 2..) => E::Attribute,
            (List::Sorts, _) => E::Sort,
            (List::NewSorts, _) => E::List(List::NewSort),
            (List::NewSort, 0) => E::Symbol(Role::NewSort),
            (List::Signatures, _) => E::List(List::Rule),
            (List::Rule, 0) => E::Symbol(Role::NewFunction),
            (List::Rule, 1) => E::List(List::Binders),
            (List::Rule, _) => E::Sort,
            (List::Constructors, _) => E::Constructor,
            (List::OldDatatype, 0) => E::Symbol(Role::NewSort),
            (List::OldDatatype, _) => E::Constructor,
            (List::Parametric, 1) => E::List(List::Sorts),
            (List::Parametric, 2..) => E::List(List::Constructors),
            (List::Constructor, 0) => E::Symbol(Role::NewConstructor),
            (List::Constructor, _) => E::List(List::Selector),
            (List::Selector, 0) => E::Symbol(Role::NewSelector),
            (List::Selector, _) => E::Sort,
            (List::Datatypes, _) => E::Datatype,
            (List::OldDatatypes, _) => E::List(List::OldDatatype),
            (List::DeclareFun | List::DeclareConst, 1)
            | (List::DefineFun | List::DefineConst, 1) => E::Symbol(Role::NewFunction),
            (List::DeclareFun, 2) => E::List(List::Sorts),
            (List::DeclareFun, 3) | (List::DefineFun, 3) => E::Sort,
            (List::DeclareVar, 1) => E::Symbol(Role::Variable),
            (List::DeclareVar | List::DeclareConst | List::DefineConst, 2) => E::Sort,
            (List::DefineFun, 2) => E::List(List::Binders),
            (List::DefineFun, 4) | (List::DefineConst, 3) | (List::Assert, 1) => E::Term,
            (List::DeclareSort, 1) => E::Symbol(Role::NewSort),
            (List::DeclareSort, 2) => E::Datatype,
            (List::DeclareDatatypes, 1) => E::List(List::NewSorts),
            (List::DeclareDatatypes, 2) => E::List(List::Datatypes),
            (List::DeclareOldDatatypes, 1) => E::List(List::Sorts),
            (List::DeclareOldDatatypes, 2) => E::List(List::OldDatatypes),
            (List::DefineFunsRec, 1) => E::List(List::Signatures),
            (List::DefineFunsRec, 2) => E::List(List::Terms),
            (List::DeclareHeap, 1..=3) | (List::DeclareOldHeap, 1..=2) => E::Symbol(Role::NewSort),
            (List::DeclareHeap, 4) | (List::DeclareOldHeap, 3) => E::Sort,
            (List::DeclareHeap, 5) | (List::DeclareOldHeap, 4) => E::Term,
            (List::DeclareHeap, 6) | (List::DeclareOldHeap, 5) => E::List(List::NewSorts),
            (List::DeclareHeap, 7) | (List::DeclareOldHeap, 6) => E::List(List::Datatypes),
            (List::DefineSort, 1) => E::Symbol(Role::NewSort),
            (List::DefineSort, 2) => E::List(List::Sorts),
            (List::DefineSort, 3) => E::Sort,
            _ => E::Anything,
        }
    }

    /// The list of a command with this keyword.
    pub fn command(keyword: &str) -> List {
        match keyword {
            "assert" | "rule" | "query" => List::Assert,
            "declare-fun" | "declare-rel" => List::DeclareFun,
            "declare-var" => List::DeclareVar,
            "declare-const" => List::DeclareConst,
            "declare-datatype" | "declare-sort" => List::DeclareSort,
            "declare-datatypes" => List::DeclareDatatypes,
            "define-fun" | "define-fun-rec" => List::DefineFun,
            "define-const" => List::DefineConst,
            "define-funs-rec" => List::DefineFunsRec,
            "define-sort" => List::DefineSort,
            "declare-heap" => List::DeclareHeap,
            _ => List::Verbatim,
        }
    }
}
