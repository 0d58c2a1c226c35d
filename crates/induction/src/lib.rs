//! Engines that prove by induction or from templates, and engines that translate the clauses into a
//! theory that others decide.
//!
//! Invariant: each implements [`alphorn_engine::Engine`] and sees only a system of clauses; other
//! engines are reached only through the registry that it is given.

pub mod cata;
pub mod enumerate;
pub mod induct;
pub mod morph;
pub mod pairs;
pub mod relate;
pub mod templates;
pub mod twin;
