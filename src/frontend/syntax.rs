//! Syntax nodes in a flat arena, built by smt2parser's parser through its visitor traits.
//!
//! Names are token indexes (see `commands`), so every node knows its place. Invariant: a node's
//! children come before it in the arena and nothing is boxed, so depth costs no stack, neither in
//! building (smt2parser's parser keeps a stack of its own) nor in dropping.

use std::ops::Range;

use smt2parser::visitors::{
    AttributeValue, CommandVisitor, ConstantVisitor, ConstructorDec, DatatypeDec, FunctionDec,
    Identifier, Index, KeywordVisitor, QualIdentifierVisitor, SExprVisitor, Smt2Visitor,
    SortVisitor, SymbolKind, SymbolVisitor, TermVisitor,
};
use smt2parser::{Binary, Decimal, Hexadecimal, Numeral, Position};

use super::commands::LITERAL;

/// A term's node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct NodeId(pub u32);

/// A sort's node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct SortNode(pub u32);

/// A range of one of the arena's lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// Number of elements.
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// `s`, `(_ s i …)` or `(as … S)`, by tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Name {
    pub symbol: u32,
    /// Tokens of the indexes; empty for a plain symbol.
    pub indexes: Span,
    pub sort: Option<SortNode>,
}

/// A term's syntax.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Syntax {
    /// A literal.
    Constant,
    Name(Name),
    Application(Name, Span),
    /// Pairs of token and node.
    Let(Span, NodeId),
    /// Universal or not; pairs of token and sort.
    Quantifier(bool, Span, NodeId),
    /// Cases, each a pair of its pattern and its node.
    Match(NodeId, Span),
}

/// A node: syntax and the token where it starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Node {
    pub syntax: Syntax,
    pub token: u32,
}

#[derive(Clone, Copy, Debug)]
struct Sort {
    name: Name,
    arguments: Span,
    depth: u32,
}

/// One command as parsed.
#[derive(Clone, Debug)]
pub(super) enum Parsed {
    Term(NodeId),
    Constant(u32, SortNode),
    Function(u32, Vec<SortNode>, SortNode),
    Sort(u32),
    Datatypes(Vec<DatatypeSyntax>),
    Macro(u32, Vec<(u32, SortNode)>, SortNode, NodeId),
    SortMacro(u32, Vec<u32>, SortNode),
    Other,
}

/// A datatype's declaration.
#[derive(Clone, Debug)]
pub(super) struct DatatypeSyntax {
    pub name: u32,
    /// Token of the arity, or the arity itself above [`LITERAL`]; `None` when none is stated.
    pub arity: Option<u64>,
    pub parameters: Vec<u32>,
    pub constructors: Vec<ConstructorDec<u32, SortNode>>,
}

/// What smt2parser or the builder objects to: a message and a token, or a line of the rewritten
/// text.
#[derive(Clone, Debug)]
pub(super) struct SyntaxError {
    pub line: Option<usize>,
    pub token: u32,
    pub message: String,
}

/// Sorts nest no deeper than this.
const MAX_SORT_DEPTH: u32 = 500;

/// The arena of nodes, and the builder that fills it.
#[derive(Default)]
pub(super) struct Arena {
    nodes: Vec<Node>,
    children: Vec<NodeId>,
    pairs: Vec<(u32, u32)>,
    tokens: Vec<u32>,
    patterns: Vec<Span>,
    sorts: Vec<Sort>,
    sort_lists: Vec<SortNode>,
}

/// How much of an arena to keep, see [`Arena::truncate`].
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Mark([usize; 7]);

impl Arena {
    /// A node.
    pub fn node(&self, id: NodeId) -> Node {
        self.nodes[id.0 as usize]
    }

    /// The nodes of a list of terms.
    pub fn children(&self, span: Span) -> &[NodeId] {
        &self.children[span.range()]
    }

    /// The variables of a `let`, with their terms.
    pub fn bindings(&self, span: Span) -> impl DoubleEndedIterator<Item = (u32, NodeId)> {
        self.pairs[span.range()]
            .iter()
            .map(|&(t, n)| (t, NodeId(n)))
    }

    /// The variables of a quantifier, with their sorts.
    pub fn variables(&self, span: Span) -> impl DoubleEndedIterator<Item = (u32, SortNode)> {
        self.pairs[span.range()]
            .iter()
            .map(|&(t, s)| (t, SortNode(s)))
    }

    /// The case of a `match`: the tokens of its pattern, and its term.
    pub fn case(&self, span: Span, number: usize) -> (&[u32], NodeId) {
        let (pattern, node) = self.pairs[span.range()][number];
        (self.tokens(self.patterns[pattern as usize]), NodeId(node))
    }

    /// A list of tokens.
    pub fn tokens(&self, span: Span) -> &[u32] {
        &self.tokens[span.range()]
    }

    /// A sort's name and arguments.
    pub fn sort(&self, id: SortNode) -> (Name, &[SortNode]) {
        let sort = self.sorts[id.0 as usize];
        (sort.name, &self.sort_lists[sort.arguments.range()])
    }

    /// The present size.
    pub fn mark(&self) -> Mark {
        Mark([
            self.nodes.len(),
            self.children.len(),
            self.pairs.len(),
            self.tokens.len(),
            self.patterns.len(),
            self.sorts.len(),
            self.sort_lists.len(),
        ])
    }

    /// Forgets everything made after the mark.
    pub fn truncate(&mut self, mark: Mark) {
        let [nodes, children, pairs, tokens, patterns, sorts, lists] = mark.0;
        self.nodes.truncate(nodes);
        self.children.truncate(children);
        self.pairs.truncate(pairs);
        self.tokens.truncate(tokens);
        self.patterns.truncate(patterns);
        self.sorts.truncate(sorts);
        self.sort_lists.truncate(lists);
    }

    fn add(&mut self, syntax: Syntax, token: u32) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(Node { syntax, token });
        id
    }

    fn name(&mut self, identifier: Identifier<u32>) -> Name {
        let (symbol, indices) = match identifier {
            Identifier::Simple { symbol } => (symbol, Vec::new()),
            Identifier::Indexed { symbol, indices } => (symbol, indices),
        };
        let indexes = indices.into_iter().map(|index| match index {
            Index::Numeral(value) => decode(&value) as u32,
            Index::Symbol(token) => token,
        });
        Name {
            symbol,
            indexes: extend(&mut self.tokens, indexes),
            sort: None,
        }
    }

    fn add_sort(
        &mut self,
        identifier: Identifier<u32>,
        arguments: Vec<SortNode>,
    ) -> Result<SortNode, SyntaxError> {
        let name = self.name(identifier);
        let below = arguments
            .iter()
            .map(|s| self.sorts[s.0 as usize].depth)
            .max();
        let depth = below.map_or(0, |d| d + 1);
        if depth > MAX_SORT_DEPTH {
            return Err(SyntaxError {
                line: None,
                token: name.symbol,
                message: format!("sorts nest deeper than {MAX_SORT_DEPTH}"),
            });
        }
        let id = SortNode(self.sorts.len() as u32);
        let arguments = extend(&mut self.sort_lists, arguments);
        self.sorts.push(Sort {
            name,
            arguments,
            depth,
        });
        Ok(id)
    }
}

fn extend<T>(list: &mut Vec<T>, items: impl IntoIterator<Item = T>) -> Span {
    let start = list.len() as u32;
    list.extend(items);
    Span {
        start,
        end: list.len() as u32,
    }
}

fn decode(value: &Numeral) -> u64 {
    // Written by `commands`: always small.
    u64::try_from(value).unwrap_or(LITERAL)
}

fn unsupported(message: &str) -> SyntaxError {
    SyntaxError {
        line: None,
        token: 0,
        message: message.to_owned(),
    }
}

/// Where a name's node starts: before `(_` or `(as` when there is one.
fn start_of(name: &Name) -> u32 {
    let indexed = if name.indexes.len() > 0 { 2 } else { 0 };
    let qualified = if name.sort.is_some() { 2 } else { 0 };
    name.symbol.saturating_sub(indexed + qualified)
}

impl ConstantVisitor for Arena {
    type T = u32;
    type E = SyntaxError;

    fn visit_numeral_constant(&mut self, value: Numeral) -> Result<u32, SyntaxError> {
        Ok(decode(&value) as u32)
    }

    fn visit_decimal_constant(&mut self, _: Decimal) -> Result<u32, SyntaxError> {
        Err(unsupported("a literal that was not rewritten"))
    }

    fn visit_hexadecimal_constant(&mut self, _: Hexadecimal) -> Result<u32, SyntaxError> {
        Err(unsupported("a literal that was not rewritten"))
    }

    fn visit_binary_constant(&mut self, _: Binary) -> Result<u32, SyntaxError> {
        Err(unsupported("a literal that was not rewritten"))
    }

    fn visit_string_constant(&mut self, value: String) -> Result<u32, SyntaxError> {
        value
            .parse()
            .map_err(|_| unsupported("a literal that was not rewritten"))
    }
}

impl SymbolVisitor for Arena {
    type T = u32;
    type E = SyntaxError;

    fn visit_fresh_symbol(&mut self, value: String, _: SymbolKind) -> Result<u32, SyntaxError> {
        value
            .strip_prefix('s')
            .and_then(|index| index.parse().ok())
            .ok_or_else(|| unsupported("a symbol that was not rewritten"))
    }
}

impl KeywordVisitor for Arena {
    type T = ();
    type E = SyntaxError;

    fn visit_keyword(&mut self, _: String) -> Result<(), SyntaxError> {
        Ok(())
    }
}

impl SExprVisitor<u32, u32, ()> for Arena {
    type T = ();
    type E = SyntaxError;

    fn visit_constant_s_expr(&mut self, _: u32) -> Result<(), SyntaxError> {
        Ok(())
    }

    fn visit_symbol_s_expr(&mut self, _: u32) -> Result<(), SyntaxError> {
        Ok(())
    }

    fn visit_keyword_s_expr(&mut self, (): ()) -> Result<(), SyntaxError> {
        Ok(())
    }

    fn visit_application_s_expr(&mut self, _: Vec<()>) -> Result<(), SyntaxError> {
        Ok(())
    }
}

impl SortVisitor<u32> for Arena {
    type T = SortNode;
    type E = SyntaxError;

    fn visit_simple_sort(&mut self, identifier: Identifier<u32>) -> Result<SortNode, SyntaxError> {
        self.add_sort(identifier, Vec::new())
    }

    fn visit_parameterized_sort(
        &mut self,
        identifier: Identifier<u32>,
        parameters: Vec<SortNode>,
    ) -> Result<SortNode, SyntaxError> {
        self.add_sort(identifier, parameters)
    }
}

impl QualIdentifierVisitor<Identifier<u32>, SortNode> for Arena {
    type T = Name;
    type E = SyntaxError;

    fn visit_simple_identifier(&mut self, id: Identifier<u32>) -> Result<Name, SyntaxError> {
        Ok(self.name(id))
    }

    fn visit_sorted_identifier(
        &mut self,
        id: Identifier<u32>,
        sort: SortNode,
    ) -> Result<Name, SyntaxError> {
        let sort = Some(sort);
        Ok(Name {
            sort,
            ..self.name(id)
        })
    }
}

impl TermVisitor<u32, Name, (), (), u32, SortNode> for Arena {
    type T = NodeId;
    type E = SyntaxError;

    fn visit_constant(&mut self, constant: u32) -> Result<NodeId, SyntaxError> {
        Ok(self.add(Syntax::Constant, constant))
    }

    fn visit_qual_identifier(&mut self, name: Name) -> Result<NodeId, SyntaxError> {
        Ok(self.add(Syntax::Name(name), start_of(&name)))
    }

    fn visit_application(
        &mut self,
        name: Name,
        arguments: Vec<NodeId>,
    ) -> Result<NodeId, SyntaxError> {
        let arguments = extend(&mut self.children, arguments);
        let token = start_of(&name).saturating_sub(1);
        Ok(self.add(Syntax::Application(name, arguments), token))
    }

    fn visit_let(
        &mut self,
        bindings: Vec<(u32, NodeId)>,
        body: NodeId,
    ) -> Result<NodeId, SyntaxError> {
        // ( let ( ( x: the node starts four tokens before its first variable.
        let token = bindings.first().map_or(0, |b| b.0.saturating_sub(4));
        let pairs = bindings.into_iter().map(|(t, n)| (t, n.0));
        let bindings = extend(&mut self.pairs, pairs);
        Ok(self.add(Syntax::Let(bindings, body), token))
    }

    fn visit_forall(
        &mut self,
        variables: Vec<(u32, SortNode)>,
        body: NodeId,
    ) -> Result<NodeId, SyntaxError> {
        Ok(self.quantifier(true, variables, body))
    }

    fn visit_exists(
        &mut self,
        variables: Vec<(u32, SortNode)>,
        body: NodeId,
    ) -> Result<NodeId, SyntaxError> {
        Ok(self.quantifier(false, variables, body))
    }

    fn visit_match(
        &mut self,
        term: NodeId,
        cases: Vec<(Vec<u32>, NodeId)>,
    ) -> Result<NodeId, SyntaxError> {
        let mut pairs = Vec::with_capacity(cases.len());
        for (pattern, node) in cases {
            let pattern = extend(&mut self.tokens, pattern);
            pairs.push((self.patterns.len() as u32, node.0));
            self.patterns.push(pattern);
        }
        let token = self.node(term).token.saturating_sub(2);
        let cases = extend(&mut self.pairs, pairs);
        Ok(self.add(Syntax::Match(term, cases), token))
    }

    fn visit_attributes(
        &mut self,
        term: NodeId,
        _: Vec<((), AttributeValue<u32, u32, ()>)>,
    ) -> Result<NodeId, SyntaxError> {
        Ok(term)
    }
}

impl Arena {
    fn quantifier(
        &mut self,
        universal: bool,
        variables: Vec<(u32, SortNode)>,
        body: NodeId,
    ) -> NodeId {
        let token = variables.first().map_or(0, |v| v.0.saturating_sub(4));
        let pairs = variables.into_iter().map(|(t, s)| (t, s.0));
        let variables = extend(&mut self.pairs, pairs);
        self.add(Syntax::Quantifier(universal, variables, body), token)
    }
}

fn datatype(
    name: u32,
    arity: Option<u64>,
    declaration: DatatypeDec<u32, SortNode>,
) -> DatatypeSyntax {
    DatatypeSyntax {
        name,
        arity,
        parameters: declaration.parameters,
        constructors: declaration.constructors,
    }
}

impl CommandVisitor<NodeId, u32, SortNode, (), u32, ()> for Arena {
    type T = Parsed;
    type E = SyntaxError;

    fn visit_assert(&mut self, term: NodeId) -> Result<Parsed, SyntaxError> {
        Ok(Parsed::Term(term))
    }

    fn visit_declare_const(&mut self, name: u32, sort: SortNode) -> Result<Parsed, SyntaxError> {
        Ok(Parsed::Constant(name, sort))
    }

    fn visit_declare_datatype(
        &mut self,
        name: u32,
        declaration: DatatypeDec<u32, SortNode>,
    ) -> Result<Parsed, SyntaxError> {
        Ok(Parsed::Datatypes(vec![datatype(name, None, declaration)]))
    }

    fn visit_declare_datatypes(
        &mut self,
        datatypes: Vec<(u32, Numeral, DatatypeDec<u32, SortNode>)>,
    ) -> Result<Parsed, SyntaxError> {
        let datatypes = datatypes
            .into_iter()
            .map(|(name, arity, dec)| datatype(name, Some(decode(&arity)), dec))
            .collect();
        Ok(Parsed::Datatypes(datatypes))
    }

    fn visit_declare_fun(
        &mut self,
        name: u32,
        parameters: Vec<SortNode>,
        sort: SortNode,
    ) -> Result<Parsed, SyntaxError> {
        Ok(Parsed::Function(name, parameters, sort))
    }

    fn visit_declare_sort(&mut self, name: u32, _: Numeral) -> Result<Parsed, SyntaxError> {
        Ok(Parsed::Sort(name))
    }

    fn visit_define_fun(
        &mut self,
        signature: FunctionDec<u32, SortNode>,
        body: NodeId,
    ) -> Result<Parsed, SyntaxError> {
        let FunctionDec {
            name,
            parameters,
            result,
        } = signature;
        Ok(Parsed::Macro(name, parameters, result, body))
    }

    fn visit_define_sort(
        &mut self,
        name: u32,
        parameters: Vec<u32>,
        sort: SortNode,
    ) -> Result<Parsed, SyntaxError> {
        Ok(Parsed::SortMacro(name, parameters, sort))
    }

    // The remaining commands never reach smt2parser (see `commands`).

    fn visit_check_sat(&mut self) -> Result<Parsed, SyntaxError> {
        Ok(Parsed::Other)
    }

    fn visit_check_sat_assuming(&mut self, _: Vec<(u32, bool)>) -> Result<Parsed, SyntaxError> {
        Ok(Parsed::Other)
    }

    fn visit_define_fun_rec(
        &mut self,
        _: FunctionDec<u32, SortNode>,
        _: NodeId,
    ) -> Result<Parsed, SyntaxError> {
        Ok(Parsed::Other)
    }

    fn visit_define_funs_rec(
        &mut self,
        _: Vec<(FunctionDec<u32, SortNode>, NodeId)>,
    ) -> Result<Parsed, SyntaxError> {
        Ok(Parsed::Other)
    }

    fn visit_echo(&mut self, _: String) -> Result<Parsed, SyntaxError> {
        Ok(Parsed::Other)
    }

    fn visit_exit(&mut self) -> Result<Parsed, SyntaxError> {
        Ok(Parsed::Other)
    }

    fn visit_get_assertions(&mut self) -> Result<Parsed, SyntaxError> {
        Ok(Parsed::Other)
    }

    fn visit_get_assignment(&mut self) -> Result<Parsed, SyntaxError> {
        Ok(Parsed::Other)
    }

    fn visit_get_info(&mut self, (): ()) -> Result<Parsed, SyntaxError> {
        Ok(Parsed::Other)
    }

    fn visit_get_model(&mut self) -> Result<Parsed, SyntaxError> {
        Ok(Parsed::Other)
    }

    fn visit_get_option(&mut self, (): ()) -> Result<Parsed, SyntaxError> {
        Ok(Parsed::Other)
    }

    fn visit_get_proof(&mut self) -> Result<Parsed, SyntaxError> {
        Ok(Parsed::Other)
    }

    fn visit_get_unsat_assumptions(&mut self) -> Result<Parsed, SyntaxError> {
        Ok(Parsed::Other)
    }

    fn visit_get_unsat_core(&mut self) -> Result<Parsed, SyntaxError> {
        Ok(Parsed::Other)
    }

    fn visit_get_value(&mut self, _: Vec<NodeId>) -> Result<Parsed, SyntaxError> {
        Ok(Parsed::Other)
    }

    fn visit_pop(&mut self, _: Numeral) -> Result<Parsed, SyntaxError> {
        Ok(Parsed::Other)
    }

    fn visit_push(&mut self, _: Numeral) -> Result<Parsed, SyntaxError> {
        Ok(Parsed::Other)
    }

    fn visit_reset(&mut self) -> Result<Parsed, SyntaxError> {
        Ok(Parsed::Other)
    }

    fn visit_reset_assertions(&mut self) -> Result<Parsed, SyntaxError> {
        Ok(Parsed::Other)
    }

    fn visit_set_info(
        &mut self,
        (): (),
        _: AttributeValue<u32, u32, ()>,
    ) -> Result<Parsed, SyntaxError> {
        Ok(Parsed::Other)
    }

    fn visit_set_logic(&mut self, _: u32) -> Result<Parsed, SyntaxError> {
        Ok(Parsed::Other)
    }

    fn visit_set_option(
        &mut self,
        (): (),
        _: AttributeValue<u32, u32, ()>,
    ) -> Result<Parsed, SyntaxError> {
        Ok(Parsed::Other)
    }
}

impl Smt2Visitor for Arena {
    type Error = SyntaxError;
    type Constant = u32;
    type QualIdentifier = Name;
    type Keyword = ();
    type Sort = SortNode;
    type SExpr = ();
    type Symbol = u32;
    type Term = NodeId;
    type Command = Parsed;

    fn syntax_error(&mut self, position: Position, message: String) -> SyntaxError {
        SyntaxError {
            line: Some(position.line),
            token: 0,
            message,
        }
    }

    fn parsing_error(&mut self, position: Position, message: String) -> SyntaxError {
        SyntaxError {
            line: Some(position.line),
            token: 0,
            message,
        }
    }
}
