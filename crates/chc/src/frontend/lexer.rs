//! From text to tokens, with positions, matching parentheses and interned symbols.
//!
//! Invariant: each `(` has the number of its matching `)` and vice versa, so later stages find the
//! end of a list in constant time.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::error::{ErrorKind, InputError, LexicalError, shorten};
use super::warnings::{Nonstandard, Warnings};
use crate::limits::LIMITS;

/// An interned symbol; `x` and `|x|` are the same symbol.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct Sym(pub u32);

/// The position of a token in [`Lexed::tokens`]; it also stands for the S-expression that begins
/// with it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct TokenId(pub(super) u32);

/// The reserved words of SMT-LIB in terms and sorts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reserved {
    Underscore,
    Bang,
    As,
    Let,
    Exists,
    Forall,
    Match,
    Par,
}

/// The kind of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// `(`, with its closing token.
    Open(TokenId),
    /// `)`, with its opening token.
    Close(TokenId),
    Symbol(Sym),
    Reserved(Reserved),
    Keyword,
    Numeral,
    Decimal,
    Hexadecimal,
    Binary,
    Text,
}

/// A token with its byte range in the text, and its line and column from 1, columns in characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token {
    pub kind: Kind,
    pub start: u32,
    pub end: u32,
    pub line: u32,
    pub column: u32,
}

/// Names of interned symbols.
pub(super) struct Symbols<'t> {
    names: Vec<Cow<'t, str>>,
    index: FxHashMap<Cow<'t, str>, Sym>,
}

impl<'t> Symbols<'t> {
    /// A table with these names, numbered from zero.
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

    /// The symbol of a name, if it has one.
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
    /// What is not standard so far.
    pub warnings: Warnings,
}

impl<'t> Lexed<'t> {
    /// Splits `text` into tokens, up to a command `(exit)`. Fails if there is no token at some place
    /// or if parentheses do not match.
    pub fn new(
        text: &'t str,
        mut symbols: Symbols<'t>,
        warnings: Warnings,
    ) -> Result<Self, InputError> {
        if text.len() > LIMITS.max_text_bytes {
            return Err(InputError::at_byte(text, 0, LexicalError::TooLarge));
        }
        if let Some(at) = text.bytes().position(|b| b == 0) {
            return Err(InputError::at_byte(text, at, LexicalError::NulByte));
        }
        let exit = symbols.intern(Cow::Borrowed("exit"));
        let mut scanner = Scanner {
            text,
            at: if text.starts_with('\u{feff}') { 3 } else { 0 },
            line: 1,
            line_start: 0,
        };
        scanner.line_start = scanner.at;
        let mut tokens: Vec<Token> = Vec::with_capacity(text.len() / 4);
        let mut open: Vec<TokenId> = Vec::new();
        while let Some(byte) = scanner.skip_blank() {
            let (start, line, column) = (scanner.at, scanner.line, scanner.column());
            let id = TokenId(tokens.len() as u32);
            let kind = match byte {
                b'(' => {
                    open.push(id);
                    scanner.at += 1;
                    Kind::Open(id)
                }
                b')' => {
                    let Some(opening) = open.pop() else {
                        return Err(scanner.error(LexicalError::UnmatchedClose));
                    };
                    tokens[opening.0 as usize].kind = Kind::Open(id);
                    scanner.at += 1;
                    Kind::Close(opening)
                }
                b'|' => Kind::Symbol(symbols.intern(Cow::Borrowed(scanner.quoted()?))),
                _ if is_symbol_byte(byte) && !byte.is_ascii_digit() => {
                    scanner.skip_while(is_symbol_byte);
                    let name = &text[start..scanner.at];
                    match reserved(name) {
                        Some(word) => Kind::Reserved(word),
                        None => Kind::Symbol(symbols.intern(Cow::Borrowed(name))),
                    }
                }
                _ => scanner.other(byte)?,
            };
            if kind == Kind::Decimal && text[..scanner.at].ends_with('.') {
                let decimal = shorten(&text[start..scanner.at]);
                let construct = Nonstandard::DecimalWithoutFraction(decimal);
                warnings.add(line, column, construct)?;
            }
            tokens.push(Token {
                kind,
                start: start as u32,
                end: scanner.at as u32,
                line,
                column,
            });
            if let (Kind::Close(_), [.., a, b, _]) = (kind, &*tokens)
                && open.is_empty()
                && b.kind == Kind::Symbol(exit)
                && matches!(a.kind, Kind::Open(_))
            {
                break;
            }
        }
        let lexed = Lexed {
            text,
            tokens,
            symbols,
            warnings,
        };
        match open.first() {
            Some(&opening) => Err(lexed.error(opening, LexicalError::UnmatchedOpen)),
            None => Ok(lexed),
        }
    }

    /// The token with this number.
    pub fn token(&self, id: TokenId) -> Token {
        self.tokens[id.0 as usize]
    }

    /// The kind of a token.
    pub fn kind(&self, id: TokenId) -> Kind {
        self.tokens[id.0 as usize].kind
    }

    /// The text of a token.
    pub fn source(&self, id: TokenId) -> &'t str {
        let token = self.token(id);
        &self.text[token.start as usize..token.end as usize]
    }

    /// The symbol at a token, if it is one.
    pub fn symbol(&self, id: TokenId) -> Option<Sym> {
        match self.kind(id) {
            Kind::Symbol(symbol) => Some(symbol),
            _ => None,
        }
    }

    /// An error at a token.
    pub fn error(&self, id: TokenId, kind: impl Into<ErrorKind>) -> InputError {
        let Token { line, column, .. } = self.token(id);
        InputError {
            line,
            column,
            kind: kind.into(),
        }
    }

    /// An error at the last token, or at the beginning if there is none.
    pub fn error_at_end(&self, kind: impl Into<ErrorKind>) -> InputError {
        let (line, column) = self.tokens.last().map_or((1, 1), |t| (t.line, t.column));
        InputError {
            line,
            column,
            kind: kind.into(),
        }
    }
}

/// A position in the text.
struct Scanner<'t> {
    text: &'t str,
    at: usize,
    line: u32,
    /// The beginning of the line if each of its characters up to here had one byte.
    line_start: usize,
}

impl<'t> Scanner<'t> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn column(&self) -> u32 {
        (self.at - self.line_start) as u32 + 1
    }

    fn error(&self, kind: LexicalError) -> InputError {
        InputError {
            line: self.line,
            column: self.column(),
            kind: kind.into(),
        }
    }

    /// Skips bytes that `accept`, which has to refuse line feeds and bytes outside of ASCII.
    fn skip_while(&mut self, accept: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&accept) {
            self.at += 1;
        }
    }

    /// Skips to the first byte of `stop`, or to the end.
    fn skip_to(&mut self, stop: &[u8]) {
        while let Some(byte) = self.peek().filter(|b| !stop.contains(b)) {
            self.at += 1;
            if byte == b'\n' {
                self.line += 1;
                self.line_start = self.at;
            } else if byte & 0xc0 == 0x80 {
                // A continuation byte of UTF-8: its character has been counted.
                self.line_start += 1;
            }
        }
    }

    /// Skips white space and comments; returns the next byte.
    fn skip_blank(&mut self) -> Option<u8> {
        loop {
            match self.peek()? {
                b' ' | b'\t' | b'\r' | 0x0c => self.at += 1,
                b'\n' => {
                    self.at += 1;
                    self.line += 1;
                    self.line_start = self.at;
                }
                b';' => self.skip_to(b"\n"),
                byte => return Some(byte),
            }
        }
    }

    /// The name between bars.
    fn quoted(&mut self) -> Result<&'t str, InputError> {
        let endless = self.error(LexicalError::EndlessSymbol);
        self.at += 1;
        let start = self.at;
        self.skip_to(b"|\\");
        match self.peek() {
            Some(b'|') => {
                self.at += 1;
                Ok(&self.text[start..self.at - 1])
            }
            Some(_) => Err(self.error(LexicalError::BackslashInSymbol)),
            None => Err(endless),
        }
    }

    /// A keyword or a literal.
    fn other(&mut self, first: u8) -> Result<Kind, InputError> {
        let (start, line, column) = (self.at, self.line, self.column());
        let fail = |kind: LexicalError| {
            Err(InputError {
                line,
                column,
                kind: kind.into(),
            })
        };
        let kind = match first {
            b'"' => {
                // A doubled quote inside is a quote.
                while self.peek() == Some(b'"') {
                    self.at += 1;
                    self.skip_to(b"\"");
                    if self.peek().is_none() {
                        return fail(LexicalError::EndlessString);
                    }
                    self.at += 1;
                }
                return Ok(Kind::Text);
            }
            b':' => {
                self.at += 1;
                self.skip_while(is_symbol_byte);
                if self.at == start + 1 {
                    return fail(LexicalError::ColonAlone);
                }
                return Ok(Kind::Keyword);
            }
            b'#' => {
                let (kind, is_digit): (Kind, fn(u8) -> bool) =
                    match self.text.as_bytes().get(self.at + 1) {
                        Some(b'x') => (Kind::Hexadecimal, |b| b.is_ascii_hexdigit()),
                        Some(b'b') => (Kind::Binary, |b| matches!(b, b'0' | b'1')),
                        _ => return fail(LexicalError::HashAlone),
                    };
                self.at += 2;
                self.skip_while(is_digit);
                if self.at == start + 2 || self.peek().is_some_and(is_symbol_byte) {
                    return fail(LexicalError::BitVectorDigits);
                }
                kind
            }
            b'0'..=b'9' => {
                self.skip_while(|b| b.is_ascii_digit());
                let mut kind = Kind::Numeral;
                if self.peek() == Some(b'.') {
                    self.at += 1;
                    self.skip_while(|b| b.is_ascii_digit());
                    kind = Kind::Decimal;
                }
                if self.peek().is_some_and(is_symbol_byte) {
                    return fail(LexicalError::LettersInNumeral);
                }
                kind
            }
            _ => {
                let found = self.text[start..].chars().next();
                return fail(LexicalError::UnknownCharacter(found.unwrap_or_default()));
            }
        };
        if self.at - start > LIMITS.max_literal_characters {
            return fail(LexicalError::LongLiteral(LIMITS.max_literal_characters));
        }
        Ok(kind)
    }
}

fn reserved(name: &str) -> Option<Reserved> {
    Some(match name {
        "_" => Reserved::Underscore,
        "!" => Reserved::Bang,
        "as" => Reserved::As,
        "let" => Reserved::Let,
        "exists" => Reserved::Exists,
        "forall" => Reserved::Forall,
        "match" => Reserved::Match,
        "par" => Reserved::Par,
        _ => return None,
    })
}

fn is_symbol_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"~!@$%^&*_-+=<>.?/".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lex(text: &str) -> Result<Lexed<'_>, InputError> {
        Lexed::new(text, Symbols::with_names([]), Warnings::default())
    }

    #[test]
    fn quoted_and_plain_are_one_symbol() {
        let lexed = lex("x |x| |a b\n(c)|").unwrap();
        let symbol = |at| lexed.symbol(TokenId(at)).unwrap();
        assert_eq!(symbol(0), symbol(1));
        assert_eq!(lexed.symbols.name(symbol(2)), "a b\n(c)");
    }

    #[test]
    fn parentheses_match() {
        let lexed = lex("(a (b) c) d").unwrap();
        assert_eq!(lexed.kind(TokenId(0)), Kind::Open(TokenId(6)));
        assert_eq!(lexed.kind(TokenId(4)), Kind::Close(TokenId(2)));
        assert_eq!(
            lex("(a\n (b)").err().unwrap().to_string(),
            "line 1 column 1: `(` without a matching `)`"
        );
        assert_eq!(lex("(a))").err().unwrap().column, 4);
    }

    #[test]
    fn places_count_characters() {
        let text = "\u{feff}é\n";
        let error = lex(text).err().unwrap();
        assert_eq!((error.line, error.column), (1, 1));
        let text = "|é\né| ; éé\r\n\t\"é\n\" |ü| x";
        let lexed = lex(text).unwrap();
        let places: Vec<(u32, u32)> = lexed.tokens.iter().map(|t| (t.line, t.column)).collect();
        assert_eq!(places, [(1, 1), (3, 2), (4, 3), (4, 7)]);
    }

    #[test]
    fn literals() {
        let kinds: Vec<Kind> = lex("1 1. #xAf #b01 \"a\"\"b\" :k.e-y let |let|")
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
                Kind::Reserved(Reserved::Let),
                Kind::Symbol(_)
            ]
        ));
        for bad in [
            "1x", "1.x", "1..", "#b2", "#xg", "#", "|a", "\"a", ": ", "|a\\|b|", "\u{1}", "é",
        ] {
            assert!(lex(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn nothing_is_read_after_exit() {
        assert_eq!(lex("(a)(exit) )) |").unwrap().tokens.len(), 6);
    }
}
