//! The size of values of recursive datatypes.
//!
//! A constructor with a field of the datatype, or of one that is mutually recursive with it, has
//! size one plus the sizes of these fields; any other constructor has size zero. So the size of a
//! list is its length, that of a Peano numeral its value, that of a tree its number of inner nodes.
//! Other fields and arrays do not count.
//!
//! Invariant: sizes are at least zero, and [`TermStore::size_body`] is structurally recursive, so it
//! defines exactly one function.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{DatatypeId, Op, Printer, Sort, SortId, TermId, TermStore, quote_symbol};

impl TermStore {
    /// The datatype of a sort whose values have sizes: one with a field that counts; `None` for any
    /// other sort.
    pub fn sized(&self, sort: SortId) -> Option<DatatypeId> {
        let Sort::Datatype(id) = self.sort(sort) else {
            return None;
        };
        let counted = self.counted_fields(id);
        counted.iter().any(|c| !c.is_empty()).then_some(id)
    }

    /// For each constructor, the numbers of the fields whose sizes count.
    pub fn counted_fields(&self, id: DatatypeId) -> &[Vec<u32>] {
        self.counted_or(id, || {
            let group: FxHashSet<SortId> = self
                .size_group(id)
                .into_iter()
                .map(|d| self.datatype_sort(d))
                .collect();
            let constructors = self.datatype(id).constructors.iter();
            let counted = constructors.map(|c| {
                let fields = c.fields.iter().zip(0..);
                let own = fields.filter(|(f, _)| group.contains(&f.sort));
                own.map(|(_, i)| i).collect()
            });
            counted.collect()
        })
    }

    /// The datatype and those that are mutually recursive with it, by ascending id.
    pub fn size_group(&self, id: DatatypeId) -> Vec<DatatypeId> {
        let mut groups = self.datatype_groups(&[id]).into_iter();
        groups.find(|g| g.contains(&id)).unwrap_or_else(|| vec![id])
    }

    /// The size of a term of a datatype, of sort Int; constructors are evaluated. Panics if the term
    /// is of another sort.
    pub fn size(&self, term: TermId) -> TermId {
        let mut sizes: FxHashMap<TermId, TermId> = FxHashMap::default();
        let mut stack = vec![(term, false)];
        while let Some((t, done)) = stack.pop() {
            if sizes.contains_key(&t) {
                continue;
            }
            let Op::Construct(id, c) = *self.op(t) else {
                let id = match self.sort(self.sort_of(t)) {
                    Sort::Datatype(id) => id,
                    other => unreachable!("the size of a term of sort {other:?}"),
                };
                sizes.insert(t, self.intern(Op::Size(id), &[t], SortId::INT));
                continue;
            };
            let fields = &self.counted_fields(id)[c as usize];
            let args = self.args(t);
            if done {
                let mut sum = vec![self.int(i32::from(!fields.is_empty()))];
                sum.extend(fields.iter().map(|&f| sizes[&args[f as usize]]));
                sizes.insert(t, self.add(&sum));
            } else {
                stack.push((t, true));
                stack.extend(fields.iter().map(|&f| (args[f as usize], false)));
            }
        }
        sizes[&term]
    }

    /// The definition of the size of the variable `var` over the sizes of its fields. Each of these
    /// is replaced by zero if it is negative, so that a solver needs no induction to see that sizes
    /// are at least zero.
    pub fn size_body(&self, id: DatatypeId, var: TermId) -> TermId {
        let zero = self.int(0);
        let mut body = zero;
        for (fields, c) in self.counted_fields(id).iter().zip(0..) {
            if fields.is_empty() {
                continue;
            }
            let mut sum = vec![self.int(1)];
            for &field in fields {
                let size = self.size(self.field(id, c, field, var));
                sum.push(self.ite(self.ge(size, zero), size, zero));
            }
            let whole = self.add(&sum);
            body = self.ite(self.is(id, c, var), whole, body);
        }
        body
    }

    /// The symbol of the size function in printed terms, from the printed sort of the datatype.
    pub(super) fn size_symbol(sort: &str) -> String {
        quote_symbol(&format!("size!{}", sort.replace('|', "")))
    }

    /// The SMT-LIB commands that define the sizes which occur in `roots`, each with the symbols that
    /// it defines.
    pub fn size_definitions(&self, roots: &[TermId]) -> Vec<(String, Vec<String>)> {
        let mut open: Vec<DatatypeId> = Vec::new();
        self.post_order(roots, |t| {
            if let Op::Size(id) = self.op(t) {
                open.push(*id);
            }
        });
        open.sort_unstable();
        let mut seen: FxHashSet<DatatypeId> = FxHashSet::default();
        let mut result = Vec::new();
        for id in open {
            if seen.contains(&id) {
                continue;
            }
            let group = self.size_group(id);
            seen.extend(&group);
            let mut heads = Vec::new();
            let mut bodies = Vec::new();
            let mut symbols = Vec::new();
            for &member in &group {
                let sort = self.datatype_sort(member);
                let var = self.fresh_var("v", sort);
                let mut printer = Printer::new(self);
                printer.rename(var, "x!0");
                let sort = printer.sort(sort);
                let symbol = Self::size_symbol(&sort);
                heads.push(format!("{symbol} ((x!0 {sort})) Int"));
                bodies.push(printer.term(self.size_body(member, var)));
                symbols.push(symbol);
            }
            let command = match (heads.as_slice(), bodies.as_slice()) {
                ([head], [body]) => format!("(define-fun-rec {head} {body})"),
                _ => {
                    let heads: Vec<String> = heads.iter().map(|h| format!("({h})")).collect();
                    let (heads, bodies) = (heads.join(" "), bodies.join(" "));
                    format!("(define-funs-rec ({heads}) ({bodies}))")
                }
            };
            result.push((command, symbols));
        }
        result
    }
}
