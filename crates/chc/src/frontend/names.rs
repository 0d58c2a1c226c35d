//! Names of formulas: after `(! φ :named n)`, n stands for φ. And symbols that are numbers in most
//! tools: `-3`.
//!
//! Invariant: a name stands for a formula only if nothing else has the name and φ has no variables
//! that are bound around it; other uses are errors. So the formula means the same wherever its name
//! is used. A symbol is a number only if nothing has it as its name.

use num_bigint::{BigInt, BigUint};

use super::elaborate::Elaborator;
use super::environment::Macro;
use super::error::{InputError, LexicalError, TermError};
use super::formula::Value;
use super::lexer::TokenId;
use super::syntax::{Elements, Named};
use super::warnings::Nonstandard;
use crate::limits::LIMITS;
use alphorn_term::{Rational, SortId};

/// What the name of a term stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NameMeaning {
    /// A formula, as the definition with this number.
    Formula(usize),
    /// A term of another sort, or one with variables that are bound around it.
    Other,
    /// Several terms.
    Several,
}

/// The name of a term.
pub(super) struct TermName {
    pub meaning: NameMeaning,
    pub used: bool,
}

impl Elaborator<'_, '_> {
    /// Records the name of an annotated term, whose value has just been found.
    pub(super) fn record_name(&mut self, annotated: TokenId) -> Result<(), InputError> {
        // In the expansion of a definition or of another name it has been seen already.
        if !self.names_formulas || self.work.frame > 0 {
            return Ok(());
        }
        let (term, name) = self.lexed.annotated(annotated)?;
        let Some(name) = name else {
            return Ok(());
        };
        let value = self.pop();
        self.work.values.push(value);
        let is_formula = match value {
            Value::Term(term) => self.terms.sort_of(term) == SortId::BOOL,
            Value::Formula(_) => true,
            Value::Open(_) => false,
        };
        if let Some(known) = self.environment.names.get_mut(&name.symbol) {
            if known.used {
                return Err(self.lexed.name_error(name, TermError::NameOfSeveral));
            }
            known.meaning = NameMeaning::Several;
            return Ok(());
        }
        let meaning = if is_formula && self.work.bound.is_empty() {
            let plain = match value {
                Value::Term(term)
                    if !self.terms.node(term).has_quantifier
                        && self.work.formulas.predicate_in(value).is_none() =>
                {
                    Some((term, Vec::new()))
                }
                _ => None,
            };
            self.environment.macros.push(Macro {
                parameters: Vec::new(),
                result: SortId::BOOL,
                body: term,
                plain,
                size: 0,
            });
            NameMeaning::Formula(self.environment.macros.len() - 1)
        } else {
            NameMeaning::Other
        };
        let entry = TermName {
            meaning,
            used: false,
        };
        self.environment.names.insert(name.symbol, entry);
        self.environment.new_names.push(name.symbol);
        Ok(())
    }

    /// The definition that a name stands for, if it is the name of a term and of nothing else.
    pub(super) fn name_of_formula(&mut self, name: Named) -> Result<Option<usize>, InputError> {
        let sorts = &self.environment.sorts;
        let taken = !sorts.constructors(name.symbol).is_empty()
            || !sorts.selectors(name.symbol).is_empty()
            || self.builtin(name.symbol).is_some();
        let lexed = self.lexed;
        match self.environment.names.get_mut(&name.symbol) {
            Some(entry) if !taken => match entry.meaning {
                NameMeaning::Formula(number) => {
                    entry.used = true;
                    Ok(Some(number))
                }
                NameMeaning::Other => Err(lexed.name_error(name, TermError::NameOfNoFormula)),
                NameMeaning::Several => Err(lexed.name_error(name, TermError::NameOfSeveral)),
            },
            _ => Ok(None),
        }
    }

    /// The value of a symbol that reads like a negative number.
    pub(super) fn signed_numeral(&self, name: Named) -> Result<Option<Value>, InputError> {
        let source = self.lexed.source(name.token);
        let Some(digits) = source.strip_prefix('-') else {
            return Ok(None);
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        if whole.is_empty() || !all_digits(whole) || !all_digits(fraction) {
            return Ok(None);
        }
        if source.len() > LIMITS.max_literal_characters {
            let kind = LexicalError::LongLiteral(LIMITS.max_literal_characters);
            return Err(self.lexed.error(name.token, kind));
        }
        let shown = super::error::shorten(source);
        self.lexed
            .warn(name.token, Nonstandard::SignedNumeral(shown))?;
        let number = |digits: &str| {
            let value: BigUint = digits.parse().expect("only digits");
            -BigInt::from(value)
        };
        let terms = self.terms;
        Ok(Some(Value::Term(if digits.contains('.') {
            let scale = BigUint::from(10u32).pow(fraction.len() as u32);
            terms.real(Rational::new(
                number(&format!("{whole}{fraction}")),
                scale.into(),
            ))
        } else {
            terms.int(number(whole))
        })))
    }
}

/// Whether a command declares a sort that is built in, with the meaning that it has: this has no
/// effect. Some tools write `(declare-sort Int 0)`.
pub(super) fn declares_built_in_sort(name: &str, arity: &str) -> bool {
    matches!(
        (name, arity),
        ("Int" | "Real" | "Bool", "" | "0") | ("Array", "2")
    )
}

/// Whether a definition defines a sort without parameters as itself.
pub(super) fn defines_as_itself(name: &str, parameters: Elements<'_, '_>, body: &str) -> bool {
    parameters.is_empty() && body == name && matches!(name, "Int" | "Real" | "Bool")
}
