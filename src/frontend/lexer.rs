//! One pass over the text: tokens with byte ranges, matching parentheses, interned symbols.
//!
//! Invariant: every `(` of a token list has a matching `)` and the other way round, so later stages
//! find the end of an S-expression in constant time and never recurse to find it.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::InputError;

/// An interned symbol; `x` and `|x|` are the same one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct Sym(pub u32);

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// With the index of the closing token.
    Open(u32),
    /// With the index of the opening token.
    Close(u32),
    Symbol(Sym),
    /// One of SMT-LIB's reserved words (`let`, `_`, `!`, …), unquoted.
    Reserved(Sym),
    Keyword,
    Numeral,
    Decimal,
    Hexadecimal,
    Binary,
    Text,
}

/// A token and its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token {
    pub kind: Kind,
    pub start: u32,
    pub end: u32,
}

/// Names of interned symbols.
pub(super) struct Symbols<'t> {
    names: Vec<Cow<'t, str>>,
    index: FxHashMap<Cow<'t, str>, Sym>,
}

impl<'t> Symbols<'t> {
    /// A table that starts with these names, numbered from zero.
    pub fn with_names(names: impl IntoIterator<Item = &'static str>) -> Self {
        let mut symbols = Symbols {
            names: Vec::new(),
            index: FxHashMap::default(),
        };
        for name in names {
            symbols.intern(Cow::Borrowed(name));
        }
        symbols
    }

    /// The symbol of a name.
    pub fn intern(&mut self, name: Cow<'t, str>) -> Sym {
        if let Some(&symbol) = self.index.get(&name) {
            return symbol;
        }
        let symbol = Sym(self.names.len() as u32);
        self.names.push(name.clone());
        self.index.insert(name, symbol);
        symbol
    }

    /// Number of symbols.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// The symbol of a name that occurs already.
    pub fn find(&self, name: &str) -> Option<Sym> {
        self.index.get(name).copied()
    }

    /// The name of a symbol, without bars.
    pub fn name(&self, symbol: Sym) -> &str {
        &self.names[symbol.0 as usize]
    }
}

/// The text as tokens.
pub(super) struct Lexed<'t> {
    pub text: &'t str,
    pub tokens: Vec<Token>,
    pub symbols: Symbols<'t>,
}

const RESERVED: [&str; 8] = ["_", "!", "as", "let", "exists", "forall", "match", "par"];

/// Numerals of more digits than this are refused: reading them takes quadratic time.
const MAX_DIGITS: usize = 20_000;

impl<'t> Lexed<'t> {
    /// Splits `text` into tokens, up to an `(exit)` between commands. Fails on what is no token
    /// and on parentheses that do not match.
    pub fn new(text: &'t str, mut symbols: Symbols<'t>) -> Result<Self, InputError> {
        if text.len() > 1 << 30 {
            let message = "the input is larger than 1 GiB".to_owned();
            return Err(InputError::at(text, 0, message));
        }
        if let Some(at) = text.bytes().position(|b| b == 0) {
            let message = "a NUL byte: this is not a text file".to_owned();
            return Err(InputError::at(text, at, message));
        }
        let reserved: Vec<Sym> = RESERVED
            .iter()
            .map(|&name| symbols.intern(Cow::Borrowed(name)))
            .collect();
        let exit = symbols.intern(Cow::Borrowed("exit"));
        let bytes = text.as_bytes();
        let mut tokens: Vec<Token> = Vec::with_capacity(text.len() / 4);
        let mut open: Vec<u32> = Vec::new();
        let mut at = if text.starts_with('\u{feff}') { 3 } else { 0 };
        while let Some(&byte) = bytes.get(at) {
            let start = at;
            let fail = |at: usize, message: String| Err(InputError::at(text, at, message));
            let kind = match byte {
                b' ' | b'\n' | b'\t' | b'\r' | 0x0c => {
                    at += 1;
                    continue;
                }
                b';' => {
                    while bytes.get(at).is_some_and(|&b| b != b'\n') {
                        at += 1;
                    }
                    continue;
                }
                b'(' => {
                    open.push(tokens.len() as u32);
                    at += 1;
                    Kind::Open(0)
                }
                b')' => {
                    let Some(opening) = open.pop() else {
                        return fail(at, "`)` without a `(` before it".to_owned());
                    };
                    tokens[opening as usize].kind = Kind::Open(tokens.len() as u32);
                    at += 1;
                    Kind::Close(opening)
                }
                b'|' => {
                    at += 1;
                    while bytes.get(at).is_some_and(|&b| b != b'|' && b != b'\\') {
                        at += 1;
                    }
                    match bytes.get(at) {
                        None => return fail(start, "the quoted symbol does not end".to_owned()),
                        Some(b'\\') => {
                            return fail(at, "`\\` in a quoted symbol".to_owned());
                        }
                        Some(_) => at += 1,
                    }
                    Kind::Symbol(symbols.intern(Cow::Borrowed(&text[start + 1..at - 1])))
                }
                b'"' => {
                    at += 1;
                    loop {
                        match bytes.get(at) {
                            None => return fail(start, "the string does not end".to_owned()),
                            Some(b'"') if bytes.get(at + 1) == Some(&b'"') => at += 2,
                            Some(b'"') => break,
                            Some(_) => at += 1,
                        }
                    }
                    at += 1;
                    Kind::Text
                }
                b'#' => {
                    let (kind, digit): (Kind, fn(&u8) -> bool) = match bytes.get(at + 1) {
                        Some(b'x') => (Kind::Hexadecimal, u8::is_ascii_hexdigit),
                        Some(b'b') => (Kind::Binary, |b| matches!(b, b'0' | b'1')),
                        _ => return fail(at, "`#` is not followed by x or b".to_owned()),
                    };
                    at += 2;
                    while bytes.get(at).is_some_and(digit) {
                        at += 1;
                    }
                    let glued = bytes.get(at).is_some_and(|&b| is_symbol_byte(b));
                    if at == start + 2 || glued {
                        return fail(start, "a bit-vector literal with bad digits".to_owned());
                    }
                    kind
                }
                b'0'..=b'9' => {
                    let mut kind = Kind::Numeral;
                    let digits = |at: &mut usize| {
                        let from = *at;
                        while bytes.get(*at).is_some_and(u8::is_ascii_digit) {
                            *at += 1;
                        }
                        *at > from
                    };
                    digits(&mut at);
                    if bytes.get(at) == Some(&b'.') {
                        at += 1;
                        kind = Kind::Decimal;
                        if !digits(&mut at) {
                            return fail(start, "a decimal without digits after the point".into());
                        }
                    }
                    if bytes.get(at).is_some_and(|&b| is_symbol_byte(b)) {
                        return fail(start, "a numeral with letters in it".to_owned());
                    }
                    kind
                }
                b':' => {
                    at += 1;
                    while bytes.get(at).is_some_and(|&b| is_symbol_byte(b)) {
                        at += 1;
                    }
                    if at == start + 1 {
                        return fail(start, "a `:` without a keyword".to_owned());
                    }
                    Kind::Keyword
                }
                _ if is_symbol_byte(byte) => {
                    while bytes.get(at).is_some_and(|&b| is_symbol_byte(b)) {
                        at += 1;
                    }
                    let symbol = symbols.intern(Cow::Borrowed(&text[start..at]));
                    if reserved.contains(&symbol) {
                        Kind::Reserved(symbol)
                    } else {
                        Kind::Symbol(symbol)
                    }
                }
                _ => {
                    let found = text[at..].chars().next().unwrap_or('\u{fffd}');
                    let shown = found.escape_default();
                    return fail(at, format!("the character `{shown}` starts no token"));
                }
            };
            let literal = !matches!(kind, Kind::Symbol(_) | Kind::Text | Kind::Reserved(_));
            if at - start > MAX_DIGITS && literal {
                return fail(
                    start,
                    format!("a literal of more than {MAX_DIGITS} characters"),
                );
            }
            tokens.push(Token {
                kind,
                start: start as u32,
                end: at as u32,
            });
            if let (Kind::Close(_), [.., a, b, _]) = (kind, &*tokens)
                && open.is_empty()
                && b.kind == Kind::Symbol(exit)
                && matches!(a.kind, Kind::Open(_))
            {
                break;
            }
        }
        if let Some(&opening) = open.first() {
            let start = tokens[opening as usize].start as usize;
            return Err(InputError::at(
                text,
                start,
                "`(` without a matching `)`".to_owned(),
            ));
        }
        Ok(Lexed {
            text,
            tokens,
            symbols,
        })
    }

    /// The text of a token.
    pub fn source(&self, token: u32) -> &'t str {
        let token = self.tokens[token as usize];
        &self.text[token.start as usize..token.end as usize]
    }

    /// The index after the S-expression that starts at a token.
    pub fn after(&self, token: u32) -> u32 {
        match self.tokens[token as usize].kind {
            Kind::Open(close) => close + 1,
            _ => token + 1,
        }
    }

    /// The symbol at a token, reserved words aside.
    pub fn symbol(&self, token: u32) -> Option<Sym> {
        match self.tokens.get(token as usize)?.kind {
            Kind::Symbol(symbol) => Some(symbol),
            _ => None,
        }
    }

    /// Whether a token is `(`.
    pub fn is_open(&self, token: u32) -> bool {
        self.tokens
            .get(token as usize)
            .is_some_and(|t| matches!(t.kind, Kind::Open(_)))
    }

    /// An error at a token.
    pub fn error(&self, token: u32, message: impl Into<String>) -> InputError {
        let at = self.tokens.get(token as usize).map_or(0, |t| t.start);
        InputError::at(self.text, at as usize, message.into())
    }
}

fn is_symbol_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"~!@$%^&*_-+=<>.?/".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lex(text: &str) -> Result<Lexed<'_>, InputError> {
        Lexed::new(text, Symbols::with_names([]))
    }

    #[test]
    fn quoted_and_plain_are_one_symbol() {
        let lexed = lex("x |x| |a b\n(c)|").unwrap();
        assert_eq!(lexed.symbol(0), lexed.symbol(1));
        assert_eq!(lexed.symbols.name(lexed.symbol(2).unwrap()), "a b\n(c)");
    }

    #[test]
    fn parentheses_match() {
        let lexed = lex("(a (b) c) d").unwrap();
        assert_eq!(lexed.after(0), 7);
        assert_eq!(lexed.after(2), 5);
        assert_eq!(
            lex("(a\n (b)").err().unwrap().to_string(),
            "line 1 column 1: `(` without a matching `)`"
        );
        assert_eq!(lex("(a))").err().unwrap().column, 4);
    }

    #[test]
    fn literals() {
        let kinds: Vec<Kind> = lex("1 1.5 #xAf #b01 \"a\"\"b\" :k.e-y let |let|")
            .unwrap()
            .tokens
            .iter()
            .map(|t| t.kind)
            .collect();
        assert!(matches!(
            kinds[..],
            [
                Kind::Numeral,
                Kind::Decimal,
                Kind::Hexadecimal,
                Kind::Binary,
                Kind::Text,
                Kind::Keyword,
                Kind::Reserved(_),
                Kind::Symbol(_)
            ]
        ));
        for bad in [
            "1x", "1.", "#b2", "#xg", "#", "|a", "\"a", ": ", "|a\\|b|", "\u{1}", "é",
        ] {
            assert!(lex(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn nothing_is_read_after_exit() {
        assert_eq!(lex("(a)(exit) )) |").unwrap().tokens.len(), 6);
    }
}
