//! Reading values of a given sort.
//!
//! # Invariant
//! A term that is not a value of the sort is an error; nothing is evaluated. Reading is iterative,
//! since values may be nested deeply.

use std::ops::Range;

use num_traits::{Num, Zero};
use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use super::sexp::{TokenKind, Tokens, symbol};
use alphorn_term::{BigInt, BigUint, DatatypeId, Rational, Sort, SortId, TermId, TermStore};

/// An S-expression; elements of lists by index.
enum Tree {
    Atom(Range<usize>),
    List(Vec<usize>),
}

/// The parts of the value of a node, by index.
enum Plan {
    Done(TermId),
    /// The value of another node.
    Same(usize),
    ConstArray(usize),
    Store([usize; 3]),
    Construct(DatatypeId, usize, Vec<usize>),
}

/// Reads one value.
struct Reader<'a> {
    terms: &'a TermStore,
    text: &'a str,
    nodes: Vec<Tree>,
    /// The nodes of names under `let`.
    lets: FxHashMap<&'a str, usize>,
}

/// The value of sort `sort` in `text`: a number, a Boolean, a bit-vector, an array of `store` and
/// `as const`, or constructors of a datatype, with shared parts under outermost `let`s.
///
/// # Errors
/// The text is not such a value.
pub fn parse_value(terms: &TermStore, text: &str, sort: SortId) -> Result<TermId, String> {
    let mut reader = Reader {
        terms,
        text,
        nodes: Vec::new(),
        lets: FxHashMap::default(),
    };
    let root = reader.read_tree()?;
    let root = reader.open_lets(root)?;
    reader.value(root, sort)
}

impl<'a> Reader<'a> {
    /// Reads the text as one S-expression.
    fn read_tree(&mut self) -> Result<usize, String> {
        let mut open: Vec<Vec<usize>> = Vec::new();
        let mut root = None;
        for token in Tokens::new(self.text, 0) {
            if root.is_some() {
                return Err(format!("`{}` is more than one value", self.text));
            }
            let node = match token.kind {
                TokenKind::Open => {
                    open.push(Vec::new());
                    continue;
                }
                TokenKind::Close => Tree::List(open.pop().ok_or("unbalanced parentheses")?),
                TokenKind::Atom => Tree::Atom(token.range),
                TokenKind::String | TokenKind::Unterminated => return Err(self.no_value()),
            };
            self.nodes.push(node);
            let index = self.nodes.len() - 1;
            match open.last_mut() {
                Some(list) => list.push(index),
                None => root = Some(index),
            }
        }
        root.ok_or_else(|| "unbalanced parentheses".to_owned())
    }

    fn no_value(&self) -> String {
        let shown: String = self.text.chars().take(80).collect();
        format!("`{shown}` is not a value of its sort")
    }

    fn atom(&self, node: usize) -> Option<&'a str> {
        match &self.nodes[node] {
            Tree::Atom(range) => Some(&self.text[range.clone()]),
            Tree::List(_) => None,
        }
    }

    fn list(&self, node: usize) -> Option<&[usize]> {
        match &self.nodes[node] {
            Tree::List(parts) => Some(parts),
            Tree::Atom(_) => None,
        }
    }

    /// The body of the outermost `let`s, whose bindings are recorded.
    fn open_lets(&mut self, mut node: usize) -> Result<usize, String> {
        loop {
            let Some(&[head, bindings, body]) = self.list(node) else {
                return Ok(node);
            };
            if self.atom(head) != Some("let") {
                return Ok(node);
            }
            let bindings = self.list(bindings).ok_or("malformed let")?.to_vec();
            for binding in bindings {
                let Some(&[name, value]) = self.list(binding) else {
                    return Err("malformed let".to_owned());
                };
                let name = symbol(self.atom(name).ok_or("malformed let")?);
                if self.lets.insert(name, value).is_some() {
                    return Err(format!("{name} is bound twice"));
                }
            }
            node = body;
        }
    }

    /// The value of a node; iterative.
    fn value(&self, root: usize, sort: SortId) -> Result<TermId, String> {
        let mut done: FxHashMap<(usize, SortId), TermId> = FxHashMap::default();
        let mut open: FxHashSet<(usize, SortId)> = FxHashSet::default();
        let mut stack = vec![(root, sort)];
        while let Some(&(node, sort)) = stack.last() {
            let plan = self.plan(node, sort)?;
            let parts = self.parts(&plan, sort);
            let before = stack.len();
            stack.extend(parts.iter().filter(|part| !done.contains_key(*part)));
            if stack.len() > before {
                // The second visit without all parts: a `let` that uses its own name.
                if !open.insert((node, sort)) {
                    return Err(self.no_value());
                }
                continue;
            }
            let values: Vec<TermId> = parts.iter().map(|part| done[part]).collect();
            let value = match plan {
                Plan::Done(value) => value,
                Plan::Same(_) => values[0],
                Plan::ConstArray(_) => self.terms.const_array(sort, values[0]),
                Plan::Store(_) => self.terms.store(values[0], values[1], values[2]),
                Plan::Construct(id, constructor, _) => {
                    self.terms.construct(id, constructor as u32, &values)
                }
            };
            if !self.terms.is_value(value) {
                return Err(self.no_value());
            }
            done.insert((node, sort), value);
            stack.pop();
        }
        Ok(done[&(root, sort)])
    }

    /// The nodes of the parts, with their sorts.
    fn parts(&self, plan: &Plan, sort: SortId) -> Vec<(usize, SortId)> {
        match plan {
            Plan::Done(_) => Vec::new(),
            Plan::Same(node) => vec![(*node, sort)],
            Plan::ConstArray(_) | Plan::Store(_) => {
                let Sort::Array(index, element) = self.terms.sort(sort) else {
                    unreachable!("planned for an array")
                };
                match plan {
                    Plan::ConstArray(value) => vec![(*value, element)],
                    Plan::Store([a, i, v]) => vec![(*a, sort), (*i, index), (*v, element)],
                    _ => Vec::new(),
                }
            }
            Plan::Construct(id, constructor, fields) => {
                let declared = &self.terms.datatype(*id).constructors[*constructor].fields;
                let sorts = declared.iter().map(|f| f.sort);
                fields.iter().copied().zip(sorts).collect()
            }
        }
    }

    /// The parts of the value of a node.
    fn plan(&self, node: usize, sort: SortId) -> Result<Plan, String> {
        if let Some(&bound) = self.atom(node).and_then(|name| self.lets.get(symbol(name))) {
            return Ok(Plan::Same(bound));
        }
        let plan = match self.terms.sort(sort) {
            Sort::Bool => match self.atom(node) {
                Some("true") => Some(Plan::Done(TermId::TRUE)),
                Some("false") => Some(Plan::Done(TermId::FALSE)),
                _ => None,
            },
            Sort::Int => self
                .number(node, LIMITS.max_number_depth)
                .filter(Rational::is_integer)
                .map(|n| Plan::Done(self.terms.int(n.to_integer()))),
            Sort::Real => self
                .number(node, LIMITS.max_number_depth)
                .map(|n| Plan::Done(self.terms.real(n))),
            Sort::BitVec(width) => self.bitvec(node, width).map(Plan::Done),
            Sort::Array(..) => self.array(node),
            Sort::Datatype(id) => self.construct(node, id),
        };
        plan.ok_or_else(|| self.no_value())
    }

    /// A number with signs and fractions. The recursion is at most `depth` deep.
    fn number(&self, node: usize, depth: usize) -> Option<Rational> {
        if let Some(atom) = self.atom(node) {
            return number(atom);
        }
        let depth = depth.checked_sub(1)?;
        match *self.list(node)? {
            [minus, term] if self.atom(minus) == Some("-") => Some(-self.number(term, depth)?),
            [slash, above, below] if self.atom(slash) == Some("/") => {
                let (above, below) = (self.number(above, depth)?, self.number(below, depth)?);
                (!below.is_zero()).then(|| above / below)
            }
            _ => None,
        }
    }

    fn bitvec(&self, node: usize, width: u32) -> Option<TermId> {
        let value = if let Some(atom) = self.atom(node) {
            let (digits, radix, bits) = match atom.get(..2)? {
                "#x" => (&atom[2..], 16, 4),
                "#b" => (&atom[2..], 2, 1),
                _ => return None,
            };
            let proper = digits.chars().all(|c| c.is_digit(radix));
            if !proper || digits.len() as u64 * bits != u64::from(width) {
                return None;
            }
            BigUint::from_str_radix(digits, radix).ok()?
        } else {
            let &[underscore, value, size] = self.list(node)? else {
                return None;
            };
            if self.atom(underscore)? != "_" || self.atom(size)?.parse() != Ok(width) {
                return None;
            }
            self.atom(value)?.strip_prefix("bv")?.parse().ok()?
        };
        (value.bits() <= u64::from(width)).then(|| self.terms.bitvec(value, width))
    }

    fn array(&self, node: usize) -> Option<Plan> {
        match *self.list(node)? {
            [head, value] => {
                let &[word, name, _sort] = self.list(head)? else {
                    return None;
                };
                let constant = self.atom(word) == Some("as") && self.atom(name) == Some("const");
                constant.then_some(Plan::ConstArray(value))
            }
            [head, array, index, value] if self.atom(head) == Some("store") => {
                Some(Plan::Store([array, index, value]))
            }
            _ => None,
        }
    }

    fn construct(&self, node: usize, id: DatatypeId) -> Option<Plan> {
        let (head, fields) = match self.list(node) {
            Some([head, fields @ ..]) if self.atom(*head) != Some("as") => (*head, fields),
            _ => (node, &[][..]),
        };
        // The head is a name, or a name with its sort: `(as C S)`.
        let name = match self.atom(head) {
            Some(name) => name,
            None => match self.list(head)? {
                &[word, name, _sort] if self.atom(word) == Some("as") => self.atom(name)?,
                _ => return None,
            },
        };
        let constructors = &self.terms.datatype(id).constructors;
        let found = constructors.iter().position(|c| c.name == symbol(name))?;
        (constructors[found].fields.len() == fields.len())
            .then(|| Plan::Construct(id, found, fields.to_vec()))
    }
}

/// A numeral or decimal; other solvers write it with a sign.
fn number(text: &str) -> Option<Rational> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let decimal = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
    if !decimal(whole) || !decimal(fraction) {
        return None;
    }
    let scale = BigInt::from(10).pow(u32::try_from(fraction.len()).ok()?);
    let value = BigInt::from_str_radix(&format!("{whole}{fraction}"), 10).ok()?;
    let value = Rational::new(value, scale);
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alphorn_term::{Constructor, Field, Printer};

    fn field(selector: &str, sort: SortId) -> Field {
        Field {
            selector: selector.to_owned(),
            sort,
        }
    }

    /// A store with lists of integers.
    fn lists() -> (TermStore, DatatypeId, SortId) {
        let terms = TermStore::new();
        let (id, sort) = terms.declare_datatype("List", &[SortId::INT]);
        let constructors = vec![
            Constructor {
                name: "nil".to_owned(),
                fields: vec![],
            },
            Constructor {
                name: "a cons".to_owned(),
                fields: vec![field("head", SortId::INT), field("tail", sort)],
            },
        ];
        terms.define_datatype(id, constructors);
        (terms, id, sort)
    }

    fn round(terms: &TermStore, value: TermId) {
        let text = Printer::new(terms).term(value);
        let again = parse_value(terms, &text, terms.sort_of(value));
        assert_eq!(again, Ok(value), "{text}");
    }

    #[test]
    fn reads_what_is_printed() {
        let (terms, id, list) = lists();
        round(&terms, TermId::TRUE);
        round(&terms, terms.int(-5));
        round(&terms, terms.real(Rational::new((-7).into(), 3.into())));
        round(&terms, terms.real(Rational::from_integer(4.into())));
        round(&terms, terms.bitvec(BigUint::from(10u32), 8));
        round(&terms, terms.bitvec(BigUint::from(2u32), 3));
        let nil = terms.construct(id, 0, &[]);
        let one = terms.construct(id, 1, &[terms.int(1), nil]);
        round(&terms, nil);
        round(&terms, one);
        let inner = terms.array_sort(SortId::INT, list);
        let outer = terms.array_sort(list, inner);
        let row = terms.store(terms.const_array(inner, nil), terms.int(-1), one);
        let grid = terms.store(terms.const_array(outer, row), one, row);
        round(
            &terms,
            terms.store(grid, nil, terms.const_array(inner, one)),
        );
    }

    #[test]
    fn reads_other_spellings() {
        let (terms, id, list) = lists();
        let bits = terms.bitvec_sort(8);
        let ten = terms.bitvec(BigUint::from(10u32), 8);
        assert_eq!(parse_value(&terms, "(_ bv10 8)", bits), Ok(ten));
        assert_eq!(parse_value(&terms, "-5", SortId::INT), Ok(terms.int(-5)));
        let third = terms.real(Rational::new(1.into(), 4.into()));
        assert_eq!(parse_value(&terms, "0.25", SortId::REAL), Ok(third));
        let nil = terms.construct(id, 0, &[]);
        let two = terms.construct(id, 1, &[terms.int(2), nil]);
        let text = "(let ((n (as nil (List Int)))) ((as |a cons| (List Int)) 2 n))";
        assert_eq!(parse_value(&terms, text, list), Ok(two));
    }

    #[test]
    fn rejects_other_terms() {
        let (terms, _, list) = lists();
        let bits = terms.bitvec_sort(8);
        let array = terms.array_sort(SortId::INT, SortId::INT);
        for (text, sort) in [
            ("", SortId::INT),
            ("1.5", SortId::INT),
            ("x", SortId::INT),
            ("1 2", SortId::INT),
            ("(+ 1 2)", SortId::INT),
            ("(/ 1 0)", SortId::REAL),
            ("1", SortId::BOOL),
            ("#xfff", bits),
            ("(_ bv256 8)", bits),
            ("#x+f", bits),
            ("(store 1 2 3)", array),
            ("((as const S) true)", array),
            ("(nil 1)", list),
            ("(|a cons| 1)", list),
            ("(let ((a a)) a)", SortId::INT),
            ("(let ((a (store a 1 1))) a)", array),
            ("(- (- (- (- (- (- 1))))))", SortId::INT),
            ("(", SortId::INT),
            (")", SortId::INT),
        ] {
            assert!(parse_value(&terms, text, sort).is_err(), "{text}");
        }
    }

    #[test]
    fn depth_costs_no_stack() {
        let (terms, id, list) = lists();
        let mut value = terms.construct(id, 0, &[]);
        for n in 0..100_000 {
            value = terms.construct(id, 1, &[terms.int(n), value]);
        }
        let text = Printer::new(&terms).term(value);
        assert_eq!(parse_value(&terms, &text, list), Ok(value));
    }
}
