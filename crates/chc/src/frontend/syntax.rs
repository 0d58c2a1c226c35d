//! The grammar of commands, terms and sorts: lists, names and declarations over tokens.
//!
//! The reference is the grammar of smt2parser: `tests/frontend_grammar.rs` compares with it, and
//! lists the extensions.
//!
//! Invariant: an error of this module points to a token that the grammar does not allow at its
//! place, or to the list around it.

use super::error::{ErrorKind, InputError, SyntaxError, shorten};
use super::lexer::{Kind, Lexed, Reserved, Sym, TokenId};

/// The S-expressions of a list that have not been read yet.
#[derive(Clone, Copy)]
pub(super) struct Elements<'l, 't> {
    lexed: &'l Lexed<'t>,
    next: u32,
    close: u32,
}

/// A symbol and its token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Named {
    pub symbol: Sym,
    pub token: TokenId,
}

/// `s` or `(_ s i …)`.
#[derive(Clone, Copy)]
pub(super) struct Identifier<'l, 't> {
    pub name: Named,
    /// At least one numeral or symbol; `None` for a plain symbol.
    pub indexes: Option<Elements<'l, 't>>,
}

/// The head of an application: an identifier, or `(as identifier sort)`.
#[derive(Clone, Copy)]
pub(super) struct QualifiedName<'l, 't> {
    pub identifier: Identifier<'l, 't>,
    pub sort: Option<TokenId>,
}

/// A variable with its sort, or a name with its term.
#[derive(Clone, Copy)]
pub(super) struct Binding {
    pub name: Named,
    pub meaning: TokenId,
}

/// A declaration of a datatype.
pub(super) struct DatatypeSyntax {
    pub name: Named,
    /// The arity in the text, if there is one.
    pub arity: Option<TokenId>,
    pub parameters: Vec<Sym>,
    /// Whether its name alone, in its own declaration, means the instance with its parameters: in
    /// Z3's older form.
    pub bare: bool,
    pub constructors: Vec<ConstructorSyntax>,
}

/// A constructor with its selectors.
pub(super) struct ConstructorSyntax {
    pub name: Named,
    pub selectors: Vec<Binding>,
}

impl<'l, 't> Elements<'l, 't> {
    /// The next element, which has to be there.
    pub fn expect(&mut self) -> Result<TokenId, InputError> {
        let next = self.next();
        next.ok_or_else(|| self.lexed.unexpected(TokenId(self.close)))
    }

    /// The next element, which has to be a symbol.
    pub fn expect_symbol(&mut self) -> Result<Named, InputError> {
        let token = self.expect()?;
        match self.lexed.symbol(token) {
            Some(symbol) => Ok(Named { symbol, token }),
            None => Err(self.lexed.unexpected(token)),
        }
    }

    /// The next element, which has to be a list.
    pub fn expect_list(&mut self) -> Result<Elements<'l, 't>, InputError> {
        let token = self.expect()?;
        self.lexed.list(token)
    }

    /// Fails unless all elements have been read.
    pub fn finish(mut self) -> Result<(), InputError> {
        match self.next() {
            Some(token) => Err(self.lexed.unexpected(token)),
            None => Ok(()),
        }
    }

    /// The same elements; fails if there are none.
    pub fn at_least_one(self) -> Result<Self, InputError> {
        let mut elements = self;
        elements.expect()?;
        Ok(self)
    }

    /// Whether no element is left.
    pub fn is_empty(&self) -> bool {
        self.next == self.close
    }
}

impl Iterator for Elements<'_, '_> {
    type Item = TokenId;

    fn next(&mut self) -> Option<TokenId> {
        if self.next == self.close {
            return None;
        }
        let first = TokenId(self.next);
        self.next = match self.lexed.kind(first) {
            Kind::Open(close) => close.0 + 1,
            _ => self.next + 1,
        };
        Some(first)
    }
}

impl DoubleEndedIterator for Elements<'_, '_> {
    fn next_back(&mut self) -> Option<TokenId> {
        if self.next == self.close {
            return None;
        }
        let last = TokenId(self.close - 1);
        let first = match self.lexed.kind(last) {
            Kind::Close(open) => open,
            _ => last,
        };
        self.close = first.0;
        Some(first)
    }
}

impl<'t> Lexed<'t> {
    /// The S-expressions of the whole text.
    pub fn top_level(&self) -> Elements<'_, 't> {
        Elements {
            lexed: self,
            next: 0,
            close: self.tokens.len() as u32,
        }
    }

    /// The elements of the list that begins at a token; `None` if it is not `(`.
    pub fn elements(&self, token: TokenId) -> Option<Elements<'_, 't>> {
        match self.kind(token) {
            Kind::Open(close) => Some(Elements {
                lexed: self,
                next: token.0 + 1,
                close: close.0,
            }),
            _ => None,
        }
    }

    /// The elements of the list that begins at a token; fails if it is not `(`.
    pub fn list(&self, token: TokenId) -> Result<Elements<'_, 't>, InputError> {
        self.elements(token).ok_or_else(|| self.unexpected(token))
    }

    /// The reserved word that a list begins with.
    pub fn reserved_word(&self, token: TokenId) -> Option<Reserved> {
        let first = self.elements(token)?.next()?;
        match self.kind(first) {
            Kind::Reserved(word) => Some(word),
            _ => None,
        }
    }

    /// All symbols within an S-expression, in the order of the text.
    pub fn symbols_within(&self, token: TokenId) -> impl Iterator<Item = Sym> {
        let end = match self.kind(token) {
            Kind::Open(close) => close,
            _ => token,
        };
        (token.0..=end.0).filter_map(|at| self.symbol(TokenId(at)))
    }

    /// The error of a token that the grammar does not allow at its place.
    pub fn unexpected(&self, token: TokenId) -> InputError {
        let command = self.top_level().take_while(|&c| c <= token).last();
        let name = command.and_then(|c| self.elements(c)?.next());
        let command_name = name.map_or(String::new(), |name| shorten(self.source(name)));
        let kind = match self.kind(token) {
            Kind::Close(open) if Some(open) == command => SyntaxError::EndsEarly {
                command: command_name,
            },
            Kind::Reserved(_) => SyntaxError::ReservedWord(shorten(self.source(token))),
            _ => SyntaxError::Unexpected {
                found: shorten(self.source(token)),
                command: command_name,
            },
        };
        self.error(token, kind)
    }

    /// An error about a name.
    pub fn name_error<K: Into<ErrorKind>>(
        &self,
        name: Named,
        kind: impl FnOnce(String) -> K,
    ) -> InputError {
        let shown = shorten(self.symbols.name(name.symbol));
        self.error(name.token, kind(shown))
    }

    /// `s` or `(_ s i …)`.
    pub fn identifier(&self, token: TokenId) -> Result<Identifier<'_, 't>, InputError> {
        if let Some(symbol) = self.symbol(token) {
            let name = Named { symbol, token };
            let indexes = None;
            return Ok(Identifier { name, indexes });
        }
        let mut parts = self.list(token)?;
        let word = parts.expect()?;
        if self.kind(word) != Kind::Reserved(Reserved::Underscore) {
            return Err(self.unexpected(word));
        }
        let name = parts.expect_symbol()?;
        let indexes = Some(parts.at_least_one()?);
        // Z3's (_ is (C (S …) T)) gives a constructor with its signature.
        if self.symbols.name(name.symbol) == "is"
            && let Some(mut signature) = parts.next().and_then(|first| self.elements(first))
        {
            let constructor = signature.expect_symbol()?;
            parts.finish()?;
            let indexes = Some(Elements {
                lexed: self,
                next: constructor.token.0,
                close: constructor.token.0 + 1,
            });
            return Ok(Identifier { name, indexes });
        }
        for index in indexes.into_iter().flatten() {
            if !matches!(self.kind(index), Kind::Numeral | Kind::Symbol(_)) {
                return Err(self.unexpected(index));
            }
        }
        Ok(Identifier { name, indexes })
    }

    /// An identifier or `(as identifier sort)`.
    pub fn qualified_name(&self, token: TokenId) -> Result<QualifiedName<'_, 't>, InputError> {
        if self.reserved_word(token) != Some(Reserved::As) {
            let identifier = self.identifier(token)?;
            let sort = None;
            return Ok(QualifiedName { identifier, sort });
        }
        let mut parts = self.list(token)?;
        parts.expect()?;
        let identifier = self.identifier(parts.expect()?)?;
        let sort = Some(parts.expect()?);
        parts.finish()?;
        Ok(QualifiedName { identifier, sort })
    }

    /// `(x T)`.
    pub fn binding(&self, token: TokenId) -> Result<Binding, InputError> {
        let mut parts = self.list(token)?;
        let name = parts.expect_symbol()?;
        let meaning = parts.expect()?;
        parts.finish()?;
        Ok(Binding { name, meaning })
    }

    /// `(binder (binding …) body)`, for `let` and quantifiers.
    pub fn binder(&self, token: TokenId) -> Result<(Elements<'_, 't>, TokenId), InputError> {
        let mut parts = self.list(token)?;
        parts.expect()?;
        let bindings = parts.expect_list()?;
        let body = parts.expect()?;
        parts.finish()?;
        Ok((bindings, body))
    }

    /// The term of `(! term attribute …)` and the name that `:named` gives it; other attributes are
    /// ignored.
    pub fn annotated(&self, token: TokenId) -> Result<(TokenId, Option<Named>), InputError> {
        let mut parts = self.list(token)?;
        parts.expect()?;
        let term = parts.expect()?;
        let mut keyword = None;
        let mut name = None;
        for attribute in parts {
            keyword = match (self.kind(attribute), keyword) {
                (Kind::Keyword, _) => Some(attribute),
                (Kind::Reserved(_), _) | (_, None) => return Err(self.unexpected(attribute)),
                (kind, Some(keyword)) => {
                    if let (Kind::Symbol(symbol), ":named") = (kind, self.source(keyword)) {
                        let token = attribute;
                        name = Some(Named { symbol, token });
                    }
                    None
                }
            };
        }
        Ok((term, name))
    }

    /// The declarations of `declare-datatype` or `declare-datatypes`, after the keyword. Beyond the
    /// standard, constructors may be symbols without parentheses, `par` may have no parameters, and
    /// Z3's older form `(parameter …) ((name constructor …) …)` is accepted.
    pub fn datatypes(
        &self,
        singular: bool,
        mut parts: Elements<'_, 't>,
    ) -> Result<Vec<DatatypeSyntax>, InputError> {
        if singular {
            let name = parts.expect_symbol()?;
            let declaration = self.datatype(name, None, parts.expect()?)?;
            parts.finish()?;
            return Ok(vec![declaration]);
        }
        let names = parts.expect_list()?;
        let declarations_token = parts.expect()?;
        let declarations = self.list(declarations_token)?;
        parts.finish()?;
        if !{ names }.any(|name| self.elements(name).is_some()) {
            let symbol = |token| self.symbol(token).ok_or_else(|| self.unexpected(token));
            let parameters: Vec<Sym> = names.map(symbol).collect::<Result<_, _>>()?;
            let declarations = declarations.at_least_one()?;
            return declarations
                .map(|d| self.old_datatype(d, &parameters))
                .collect();
        }
        let counts = (names.count(), declarations.count());
        let declared = names.zip(declarations).map(|(name, declaration)| {
            let mut parts = self.list(name)?;
            let name = parts.expect_symbol()?;
            let arity = parts.expect()?;
            parts.finish()?;
            if self.kind(arity) != Kind::Numeral {
                return Err(self.unexpected(arity));
            }
            self.datatype(name, Some(arity), declaration)
        });
        let declared = declared.collect::<Result<_, _>>()?;
        if counts.0 != counts.1 {
            let (names, declarations) = counts;
            let kind = SyntaxError::DatatypeCount {
                names,
                declarations,
            };
            return Err(self.error(declarations_token, kind));
        }
        Ok(declared)
    }

    /// `(constructor …)` or `(par (T …) (constructor …))`.
    fn datatype(
        &self,
        name: Named,
        arity: Option<TokenId>,
        declaration: TokenId,
    ) -> Result<DatatypeSyntax, InputError> {
        let mut parameters = Vec::new();
        let mut constructors = self.list(declaration)?;
        if self.reserved_word(declaration) == Some(Reserved::Par) {
            let mut parts = constructors;
            parts.expect()?;
            let mut list = parts.expect_list()?;
            while !list.is_empty() {
                parameters.push(list.expect_symbol()?.symbol);
            }
            constructors = parts.expect_list()?;
            parts.finish()?;
        }
        Ok(DatatypeSyntax {
            name,
            arity,
            parameters,
            bare: false,
            constructors: self.constructors(constructors)?,
        })
    }

    fn old_datatype(
        &self,
        declaration: TokenId,
        parameters: &[Sym],
    ) -> Result<DatatypeSyntax, InputError> {
        let mut parts = self.list(declaration)?;
        Ok(DatatypeSyntax {
            name: parts.expect_symbol()?,
            arity: None,
            parameters: parameters.to_vec(),
            bare: true,
            constructors: self.constructors(parts)?,
        })
    }

    fn constructors(&self, list: Elements<'_, 't>) -> Result<Vec<ConstructorSyntax>, InputError> {
        let constructors = list.at_least_one()?.map(|token| {
            if let Some(symbol) = self.symbol(token) {
                return Ok(ConstructorSyntax {
                    name: Named { symbol, token },
                    selectors: Vec::new(),
                });
            }
            let mut parts = self.list(token)?;
            Ok(ConstructorSyntax {
                name: parts.expect_symbol()?,
                selectors: parts.map(|s| self.binding(s)).collect::<Result<_, _>>()?,
            })
        });
        constructors.collect()
    }

    /// The identifier and the arguments of a sort `s`, `(_ s i …)` or `(identifier sort …)`. Beyond the
    /// standard, `(s)` is `s`.
    pub fn sort(
        &self,
        token: TokenId,
    ) -> Result<(Identifier<'_, 't>, Option<Elements<'_, 't>>), InputError> {
        let applied = self.elements(token).is_some()
            && self.reserved_word(token) != Some(Reserved::Underscore);
        if !applied {
            return Ok((self.identifier(token)?, None));
        }
        let mut parts = self.list(token)?;
        let identifier = self.identifier(parts.expect()?)?;
        Ok((identifier, Some(parts).filter(|parts| !parts.is_empty())))
    }
}
