//! Text that is not standard, rewritten for the solvers that check it.
//!
//! - The symbol `-3` is a number unless the text declares or binds it, and `1.` is one. Solvers differ
//!   about them, so they get `(- 3)` and `1.0`, and a name gets bars.
//! - `(_ nat2bv n)` is `(_ int2bv n)`.
//! - Z3's older form of `declare-datatypes` becomes the standard one.
//!
//! # Invariant
//! Only tokens are looked at. If a rewriting is wrong for a text, the solver finds an undeclared name
//! or another sort, or checks a text that is not the user's only in the meaning of numbers that the
//! user has not declared.

use std::fmt::Write;
use std::ops::Range;

use rustc_hash::FxHashSet;

use super::sexp::{TokenKind, Tokens, elements, symbol};

/// The digits of a symbol that most solvers read as a negative number.
fn negative(atom: &str) -> Option<&str> {
    let digits = atom.strip_prefix('-')?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    (!whole.is_empty() && all(whole) && all(fraction)).then_some(digits)
}

/// Whether an atom is a decimal without digits after the point.
fn ends_with_point(atom: &str) -> bool {
    let digits = atom.strip_suffix('.').unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

/// Whether a text may have something to rewrite; quick.
fn may_be_odd(text: &str) -> bool {
    let bytes = text.as_bytes();
    text.contains("nat2bv")
        || bytes.windows(2).any(|pair| {
            matches!(pair, [b'-', b'0'..=b'9']) || (pair[0].is_ascii_digit() && pair[1] == b'.')
        }) && Tokens::new(text, 0).any(|token| {
            let atom = &text[token.range];
            negative(atom).is_some() || ends_with_point(atom)
        })
}

/// A part of a script with standard numbers and operators. `names` are those of
/// [`negative_names`].
pub fn with_standard_atoms(script: String, names: &FxHashSet<&str>) -> String {
    if !may_be_odd(&script) {
        return script;
    }
    let mut out = String::with_capacity(script.len());
    let mut copied = 0;
    let mut before = ["", ""];
    for token in Tokens::new(&script, 0) {
        let atom = &script[token.range.clone()];
        if token.kind == TokenKind::Atom {
            let point = |digits: &str| if digits.ends_with('.') { "0" } else { "" };
            let new = match negative(atom) {
                Some(_) if names.contains(atom) => Some(format!("|{atom}|")),
                Some(digits) => Some(format!("(- {digits}{})", point(digits))),
                None if ends_with_point(atom) => Some(format!("{atom}0")),
                None => (atom == "nat2bv" && before == ["(", "_"]).then(|| "int2bv".to_owned()),
            };
            if let Some(new) = new {
                out.push_str(&script[copied..token.range.start]);
                out.push_str(&new);
                copied = token.range.end;
            }
        }
        before = [before[1], atom];
    }
    out.push_str(&script[copied..]);
    out
}

/// The symbols like `-3` that a text declares or binds: those after the keyword of a declaration
/// or after a parenthesis, where no number can be.
pub fn negative_names(script: &str) -> FxHashSet<&str> {
    let mut names = FxHashSet::default();
    if !may_be_odd(script) {
        return names;
    }
    let mut before = "";
    for token in Tokens::new(script, 0) {
        let atom = &script[token.range];
        let binds =
            before == "(" || before.starts_with("declare-") || before.starts_with("define-");
        if binds && negative(atom).is_some() {
            names.insert(atom);
        }
        before = atom;
    }
    names
}

/// A `declare-datatypes` in Z3's older form, `(T …) ((S constructor …) …)`, in the standard form;
/// `None` if the command is none.
pub fn datatypes(text: &str, command: &Range<usize>) -> Option<String> {
    let parts = elements(text, command)?;
    let [word, parameters, declarations] = parts.as_slice() else {
        return None;
    };
    let word = &text[word.clone()];
    let parameters = elements(text, parameters)?;
    let is_list = |range: &Range<usize>| text[range.clone()].starts_with('(');
    if word != "declare-datatypes" || parameters.iter().any(is_list) {
        return None;
    }
    let declarations: Vec<Vec<Range<usize>>> = elements(text, declarations)?
        .iter()
        .map(|declaration| elements(text, declaration))
        .collect::<Option<_>>()?;
    let names: Option<Vec<&str>> = declarations
        .iter()
        .map(|parts| Some(&text[parts.first()?.clone()]))
        .collect();
    let names = names?;
    let symbols: FxHashSet<&str> = names.iter().map(|name| symbol(name)).collect();
    let parameters: Vec<&str> = parameters.iter().map(|p| &text[p.clone()]).collect();
    let list = parameters.join(" ");
    let mut out = format!("({word} (");
    for name in &names {
        write!(out, "({name} {})", parameters.len()).expect("string");
    }
    out.push_str(") (");
    for parts in &declarations {
        if !parameters.is_empty() {
            write!(out, "(par ({list}) ").expect("string");
        }
        out.push('(');
        for constructor in &parts[1..] {
            if !is_list(constructor) {
                write!(out, "({}) ", &text[constructor.clone()]).expect("string");
                continue;
            }
            let parts = elements(text, constructor)?;
            write!(out, "({}", &text[parts.first()?.clone()]).expect("string");
            for selector in &parts[1..] {
                let selector = elements(text, selector)?;
                let [name, sort] = selector.as_slice() else {
                    return None;
                };
                let sort = whole_sort(&text[sort.clone()], &symbols, &list);
                write!(out, " ({} {sort})", &text[name.clone()]).expect("string");
            }
            out.push_str(") ");
        }
        out.push(')');
        if !parameters.is_empty() {
            out.push(')');
        }
    }
    out.push_str("))");
    Some(out)
}

/// A sort in which each of `names` that has no arguments gets these parameters, with parentheses or
/// without.
fn whole_sort(sort: &str, names: &FxHashSet<&str>, parameters: &str) -> String {
    let mut out = String::new();
    let (mut copied, mut applied) = (0, false);
    let mut tokens = Tokens::new(sort, 0).peekable();
    while let Some(token) = tokens.next() {
        let atom = &sort[token.range.clone()];
        let next = tokens.peek().map(|next| next.kind);
        let is_whole = !parameters.is_empty() && names.contains(symbol(atom));
        if is_whole && (!applied || next == Some(TokenKind::Close)) {
            out.push_str(&sort[copied..token.range.start]);
            match applied {
                true => write!(out, "{atom} {parameters}").expect("string"),
                false => write!(out, "({atom} {parameters})").expect("string"),
            }
            copied = token.range.end;
        }
        applied = token.kind == TokenKind::Open;
    }
    out.push_str(&sort[copied..]);
    out
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::text_check::check_steps_in_text;
    use crate::{CheckOutcome, Witness, parse_witness};
    use alphorn_chc::frontend::parse;
    use alphorn_term::TermStore;
    use alphorn_term::run::Budget;

    #[test]
    fn numbers_and_names() {
        for (text, expected) in [
            ("(p -3 (- 3) a-3 1.)", "(p (- 3) (- 3) a-3 1.0)"),
            ("(p -1.5 -2.)", "(p (- 1.5) (- 2.0))"),
            ("(p \"-3\" |-3|) ; -3", "(p \"-3\" |-3|) ; -3"),
            (
                "(declare-fun -3 () Bool)(assert (=> -3 (p -4)))",
                "(declare-fun |-3| () Bool)(assert (=> |-3| (p (- 4))))",
            ),
            (
                "(forall ((-1 Int)) (p -1))",
                "(forall ((|-1| Int)) (p |-1|))",
            ),
            ("((_ nat2bv 8) 3)", "((_ int2bv 8) 3)"),
            ("(nat2bv 3)", "(nat2bv 3)"),
        ] {
            let names = negative_names(text);
            assert_eq!(with_standard_atoms(text.to_owned(), &names), expected);
        }
    }

    /// A refutation passes for a text with all of this, and not if the text says something else.
    #[test]
    fn what_is_rewritten_is_checked() {
        let text = "(declare-fun P (Int) Bool)(declare-fun Q () Bool)(declare-fun -1 () Bool)
            (declare-fun B ((_ BitVec 8)) Bool)
            (assert (! (P -3) :named start))
            (assert (=> start Q))
            (assert (=> Q -1))
            (assert (=> -1 (B ((_ nat2bv 8) 258))))
            (assert (not (B #x02)))
            (check-sat)";
        let steps = "1: P((- 3)) by clause 1
            2: Q by clause 2 from 1
            3: |-1| by clause 3 from 2
            4: B(#x02) by clause 4 from 3
            5: false by clause 5 from 4";
        let mut problem = parse(text, Rc::new(TermStore::new())).expect("a problem");
        let claim = parse_witness(&problem, steps).expect("a refutation");
        let Witness::Refutation(refutation) = claim.witness else {
            panic!("a model");
        };
        let budget = Budget::new(problem.terms.clone(), Default::default(), false);
        let mut check = |text: &str| {
            problem.text = text.into();
            check_steps_in_text(&problem, &refutation, false, &budget)
        };
        assert_eq!(check(text), CheckOutcome::Valid);
        for (from, to) in [
            ("(P -3)", "(P -4)"),
            ("start Q)", "Q start)"),
            ("Q -1)", "-1 Q)"),
            (" 258", " 259"),
            ("(=> -1 (", "(=> Q  ("),
        ] {
            let wrong = text.replacen(from, to, 1);
            assert_ne!(wrong, text);
            let outcome = check(&wrong);
            assert!(
                matches!(outcome, CheckOutcome::Invalid(_)),
                "{to}: {outcome:?}"
            );
        }
    }

    #[test]
    fn older_datatypes() {
        let new = |text: &str| datatypes(text, &(0..text.len()));
        assert_eq!(
            new("(declare-datatypes (T) ((L nil (cons (hd T) (tl (L)) (m (Array Int L))))))")
                .as_deref(),
            Some(
                "(declare-datatypes ((L 1)) ((par (T) ((nil) (cons (hd T) (tl (L T)) \
                 (m (Array Int (L T)))) ))))"
            )
        );
        assert_eq!(
            new("(declare-datatypes () ((A a) (B (b (x A)))))").as_deref(),
            Some("(declare-datatypes ((A 0)(B 0)) (((a) )((b (x A)) )))")
        );
        assert_eq!(
            new("(declare-datatypes (T U) ((P (p (x (P T T)) (y T)))))").as_deref(),
            Some("(declare-datatypes ((P 2)) ((par (T U) ((p (x (P T T)) (y T)) ))))")
        );
        assert_eq!(new("(declare-datatypes ((A 0)) (((a))))"), None);
        assert_eq!(new("(declare-sort A 0)"), None);
    }
}
