//! The text in the place of `declare-heap`.
//!
//! # Invariant
//! Variables have names that end with `!`, so that none has the name of a selector. Operations on
//! more than [`LADDER`] objects at once are uninterpreted, so nothing is known about them.

use std::fmt::Write;

use rustc_hash::FxHashSet;

use super::{Datatype, Guard, Heaps, Names};
use crate::sexp::symbol;

/// The largest number of objects that an operation on ranges is defined for.
const LADDER: usize = 64;

/// The largest size of small heaps.
const SMALL: usize = 3;

/// Selectors of ranges and pairs.
struct Parts {
    start: String,
    size: String,
    pair_heap: String,
    pair_address: String,
    range_heap: String,
    range_range: String,
}

impl Heaps {
    /// Writes the preamble and the guards.
    pub(super) fn write(
        &mut self,
        names: &Names<'_>,
        datatypes: &[Datatype<'_>],
        taken: &FxHashSet<&str>,
        used: &FxHashSet<&str>,
    ) {
        let Names {
            heap,
            address,
            range,
            object,
            default,
            datatypes: [sorts, declarations],
            ..
        } = names;
        let mut out = format!("(define-sort {address} () Int)\n");
        let record = |out: &mut String, sort: &str, make: &str, fields: [(&str, &str); 2]| {
            let [(first, of_first), (second, of_second)] = fields;
            let _ = writeln!(
                out,
                "(declare-datatypes (({sort} 0)) ((({make} ({first} {of_first}) ({second} {of_second})))))"
            );
        };
        let make_range = names.of_form(&[range], "heap.range!");
        let start = names.of_form(&[range, "Start"], "heap.rangeStart!");
        let size = names.of_form(&[range, "Size"], "heap.rangeSize!");
        let fields = [(&*start, *address), (&*size, "Int")];
        record(&mut out, range, &make_range, fields);
        let _ = writeln!(out, "(declare-datatypes {sorts} {declarations})");
        let cells = format!("(Array Int {object})");
        let fields = [("heap.size", "Int"), ("heap.cells", &*cells)];
        record(&mut out, heap, "heap.make", fields);
        let (pair, range_pair) = (names.pair(), names.range_pair());
        let make_pair = names.of_form(&[&pair], "heap.heapAddrPair!");
        let pair_heap = names.of_form(&["new", heap], "heap.heapAddrPair_1!");
        let pair_address = names.of_form(&["new", address], "heap.heapAddrPair_2!");
        let fields = [(&*pair_heap, *heap), (&*pair_address, *address)];
        record(&mut out, &pair, &make_pair, fields);
        let make_range_pair = names.of_form(&[&range_pair], "heap.heapRangePair!");
        let range_heap = names.of_form(&["newBatch", heap], "heap.heapRangePair_1!");
        let range_range = names.of_form(&["new", range], "heap.heapRangePair_2!");
        let fields = [(&*range_heap, *heap), (&*range_range, &**range)];
        record(&mut out, &range_pair, &make_range_pair, fields);

        let parts = Parts {
            start,
            size,
            pair_heap,
            pair_address,
            range_heap,
            range_range,
        };
        let Parts {
            start,
            size,
            pair_heap,
            pair_address,
            range_heap,
            range_range,
        } = &parts;
        let (h, a, r, o) = (
            format!("(h! {heap})"),
            format!("(a! {address})"),
            format!("(r! {range})"),
            format!("(o! {object})"),
        );
        let declared: FxHashSet<&str> = [
            start,
            size,
            pair_heap,
            pair_address,
            range_heap,
            range_range,
            &make_range,
            &make_pair,
            &make_range_pair,
        ]
        .into_iter()
        .map(|name| symbol(name))
        .collect();
        let mut constants = FxHashSet::default();
        let mut define =
            |out: &mut String, own: &[String], params: &str, sort: &str, body: &str| {
                for name in own {
                    if taken.contains(symbol(name)) || declared.contains(symbol(name)) {
                        continue;
                    }
                    let _ = writeln!(out, "(define-fun {name} ({params}) {sort} {body})");
                    if params.is_empty() {
                        constants.insert(symbol(name).to_owned());
                    }
                }
            };
        let new = |name: &str| format!("heap.{name}");
        let older = |parts: &[&str]| names.name(parts);
        let null = [new("null"), older(&["null", address])];
        define(&mut out, &null, "", address, "0");
        let nth = [new("addr"), older(&["nth", address])];
        define(&mut out, &nth, "(n! Int)", address, "(ite (<= 1 n!) n! 0)");
        let body =
            format!("(ite (and (<= 1 n!) (<= 0 k!)) ({make_range} n! k!) ({make_range} 1 0))");
        define(&mut out, &[new("range")], "(n! Int) (k! Int)", range, &body);
        define(&mut out, &[new("default!")], "", object, default);
        let empty = [new("empty"), older(&["empty", heap])];
        let body = format!("(heap.make 0 ((as const {cells}) {default}))");
        define(&mut out, &empty, "", heap, &body);

        let valid = "(and (< 0 a!) (<= a! (heap.size h!)))";
        let of_address = format!("{h} {a}");
        define(
            &mut out,
            &[new("valid"), older(&["valid"])],
            &of_address,
            "Bool",
            valid,
        );
        let body = format!("(ite {valid} (select (heap.cells h!) a!) heap.default!)");
        define(
            &mut out,
            &[new("read"), older(&["read"])],
            &of_address,
            object,
            &body,
        );
        let body =
            format!("(ite {valid} (heap.make (heap.size h!) (store (heap.cells h!) a! o!)) h!)");
        let params = format!("{h} {a} {o}");
        define(
            &mut out,
            &[new("write"), older(&["write"])],
            &params,
            heap,
            &body,
        );
        let next = "(+ (heap.size h!) 1)";
        let of_object = format!("{h} {o}");
        let new_heap = format!("(heap.make {next} (store (heap.cells h!) {next} o!))");
        define(
            &mut out,
            &[older(&["alloc", heap])],
            &of_object,
            heap,
            &new_heap,
        );
        define(
            &mut out,
            &[older(&["alloc", address])],
            &of_object,
            address,
            next,
        );
        let body = format!("({make_pair} {new_heap} {next})");
        define(
            &mut out,
            &[new("alloc"), older(&["alloc"])],
            &of_object,
            &pair,
            &body,
        );
        let body = "(ite (<= 0 (+ (heap.size h!) n!)) (+ (heap.size h!) n! 1) 0)";
        let params = format!("{h} (n! Int)");
        let own = [new("nextAddr"), older(&["next", address])];
        define(&mut out, &own, &params, address, body);

        // Operations on pairs and ranges.
        let of_pair = format!("(p! {pair})");
        let of_range_pair = format!("(p! {range_pair})");
        for (own, params, sort, selector) in [
            (
                ["alloc_first", "heapAddrPair_1"],
                &of_pair,
                *heap,
                &pair_heap,
            ),
            (
                ["alloc_second", "heapAddrPair_2"],
                &of_pair,
                address,
                &pair_address,
            ),
            (
                ["allocRange_first", "heapRangePair_1"],
                &of_range_pair,
                heap,
                &range_heap,
            ),
            (
                ["allocRange_second", "heapRangePair_2"],
                &of_range_pair,
                range,
                &range_range,
            ),
        ] {
            define(
                &mut out,
                &own.map(new),
                params,
                sort,
                &format!("({selector} p!)"),
            );
        }
        let older_names: [(Vec<&str>, &String, &str, &String); 4] = [
            (vec!["new", heap], &of_pair, heap, pair_heap),
            (vec!["new", address], &of_pair, address, pair_address),
            (vec!["newBatch", heap], &of_range_pair, heap, range_heap),
            (vec!["new", range], &of_range_pair, range, range_range),
        ];
        for (own, params, sort, selector) in older_names {
            define(
                &mut out,
                &[older(&own)],
                params,
                sort,
                &format!("({selector} p!)"),
            );
        }
        let own = [new("rangeStart"), older(&[range, "Start"])];
        define(&mut out, &own, &r, address, &format!("({start} r!)"));
        let own = [new("rangeSize"), older(&[range, "Size"])];
        define(&mut out, &own, &r, "Int", &format!("({size} r!)"));
        let own = [
            new("rangeNth"),
            older(&["nth", range]),
            older(&["addressRangeNth"]),
        ];
        let body = format!("(ite (and (<= 0 n!) (< n! ({size} r!))) (+ ({start} r!) n!) 0)");
        define(&mut out, &own, &format!("{r} (n! Int)"), address, &body);
        let own = [
            new("rangeWithin"),
            older(&["within"]),
            older(&["addressRangeWithin"]),
        ];
        let body = format!("(and (<= ({start} r!) a!) (< a! (+ ({start} r!) ({size} r!))))");
        define(&mut out, &own, &format!("{r} {a}"), "Bool", &body);

        for name in null.iter().chain(&empty) {
            if !taken.contains(symbol(name)) {
                self.constants.insert(symbol(name).to_owned());
            }
        }
        let own = [new("allocRange"), new("writeRange"), older(&["batchAlloc"])];
        let of_sorts = [
            older(&["batchWrite"]),
            older(&["batchAlloc", heap]),
            older(&["batchAlloc", range]),
        ];
        if !own
            .iter()
            .chain(&of_sorts)
            .any(|name| used.contains(symbol(name)))
        {
            self.write_guards(out, names, datatypes, &parts);
            return;
        }
        // Operations on several objects at once.
        let _ = writeln!(
            out,
            "(declare-fun heap.more! ({heap} Int Int {object}) {heap})"
        );
        let body = format!(
            "(ite (<= k! 0) h! {})",
            ladder("(+ (heap.size h!) 1)").replace("SIZE", "(+ (heap.size h!) k!)")
        );
        let of_objects = format!("{h} {o} (k! Int)");
        let hidden = new("allocRange_heap!");
        let own = [hidden.clone(), older(&["batchAlloc", heap])];
        define(&mut out, &own, &of_objects, heap, &body);
        let none = match names.names_range {
            true => "1",
            false => "(heap.size h!)",
        };
        let body = format!("(ite (<= k! 0) ({make_range} {none} 0) ({make_range} {next} k!))");
        define(
            &mut out,
            &[older(&["batchAlloc", range])],
            &of_objects,
            range,
            &body,
        );
        let body = format!("({make_range_pair} ({hidden} h! o! k!) {body})");
        let own = [new("allocRange"), older(&["batchAlloc"])];
        define(&mut out, &own, &of_objects, &range_pair, &body);
        let body = format!(
            "(let ((s! ({start} r!)) (k! ({size} r!))) (ite (or (< s! 1) (< (heap.size h!) (+ s! k! (- 1))) (<= k! 0)) h! {}))",
            ladder("s!").replace("SIZE", "(heap.size h!)")
        );
        let params = format!("{h} {r} {o}");
        let own = [new("writeRange"), older(&["batchWrite"])];
        define(&mut out, &own, &params, heap, &body);
        self.write_guards(out, names, datatypes, &parts);
    }

    /// Writes the guards behind the preamble.
    fn write_guards(
        &mut self,
        preamble: String,
        names: &Names<'_>,
        datatypes: &[Datatype<'_>],
        parts: &Parts,
    ) {
        let Names {
            heap,
            address,
            range,
            object,
            default,
            ..
        } = names;
        let mut out = preamble;
        self.guards
            .insert(symbol(address).to_owned(), Guard::Address);
        let least = if names.names_range { "1" } else { "0" };
        let Parts { start, size, .. } = parts;
        let body = format!("(and (<= {least} ({start} x!)) (<= 0 ({size} x!)))");
        self.predicate(&mut out, range, &body);
        self.datatype_guards(&mut out, datatypes, true);
        let cell = |index: &str| format!("(select (heap.cells x!) {index})");
        let of_cell = |this: &Self, index: &str| {
            let guard = this.guard(object, &cell(index));
            guard.map(|guard| guard.unwrap_or_else(|| "true".to_owned()))
        };
        let guard = match of_cell(self, "i!") {
            Ok(guard) => guard,
            Err(message) => {
                let heap = symbol(heap).to_owned();
                self.guards.insert(heap, Guard::None(message));
                self.before = out;
                return;
            }
        };
        let exact = format!(
            "(and (<= 0 (heap.size x!)) (forall ((i! Int)) (ite (and (<= 1 i!) (<= i! (heap.size x!))) \
             {guard} (= {} heap.default!))))",
            cell("i!")
        );
        let mut cells = format!("((as const (Array Int {object})) {default})");
        let mut small = format!("(or (= x! (heap.make 0 {cells}))");
        let mut objects = String::new();
        for size in 1..=SMALL {
            let index = size.to_string();
            objects.push(' ');
            objects.push_str(&of_cell(self, &index).unwrap_or_default());
            cells = format!("(store {cells} {size} {})", cell(&index));
            let _ = write!(small, " (and{objects} (= x! (heap.make {size} {cells})))");
        }
        small.push(')');
        let mut own = String::new();
        self.predicate(&mut own, heap, &exact);
        self.heap_guards[0] = std::mem::take(&mut own);
        self.predicate(&mut own, heap, &small);
        self.heap_guards[2] = own;
        if let Some(Guard::Predicate(name)) = self.guards.get(symbol(heap)) {
            self.heap_guards[1] = format!("(declare-fun {name} ({heap}) Bool)\n");
        }
        let (pair, range_pair) = (names.pair(), names.range_pair());
        let mut behind = String::new();
        for (sort, first, second, of_second) in [
            (&pair, &parts.pair_heap, &parts.pair_address, *address),
            (&range_pair, &parts.range_heap, &parts.range_range, &**range),
        ] {
            let first = self.guard(heap, &format!("({first} x!)"));
            let second = self.guard(of_second, &format!("({second} x!)"));
            if let (Ok(Some(first)), Ok(Some(second))) = (first, second) {
                self.predicate(&mut behind, sort, &format!("(and {first} {second})"));
            }
        }
        self.datatype_guards(&mut String::new(), datatypes, false);
        self.before = out;
        self.behind = behind;
    }
}

/// The heap of size `SIZE` in which the object `o` is in `k` cells from `first` on, for k from 1 on.
fn ladder(first: &str) -> String {
    let mut out = format!("(let ((heap.c!0 (heap.cells h!)) (heap.s! {first})) ");
    for number in 1..=LADDER {
        let before = number - 1;
        let _ = write!(
            out,
            "(let ((heap.c!{number} (store heap.c!{before} (+ heap.s! {before}) o!))) "
        );
    }
    for number in 1..=LADDER {
        let _ = write!(
            out,
            "(ite (= k! {number}) (heap.make SIZE heap.c!{number}) "
        );
    }
    let _ = write!(out, "(heap.more! h! heap.s! k! o!)");
    out.push_str(&")".repeat(2 * LADDER + 1));
    out
}
