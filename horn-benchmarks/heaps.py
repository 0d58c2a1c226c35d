#!/usr/bin/env python3
"""Print the clauses of a small C program with linked structures.

    heaps.py reverse --unsafe --arrays > reverse-array-unsafe.smt2

The encoding is TriCera's: a heap of objects of one datatype, a predicate for each location over the heap and the local
variables, and queries for one property: `deref` (each access finds an object of the pointer's type), `free` (what is
freed was allocated and not freed before) or `assert`. Freed cells hold the default object. With `--arrays` the heap is
a record of size and array, else the text uses the theory of heaps. `--instances` writes the folder heaps/ again.

The language: declarations of structs and variables, assignments, `while`, `if`, `assert`, `free`, `malloc(struct)`
with arbitrary contents, `nondet()`, conditions with `*` for a choice. `<<A||B>>` is A in the safe variant, B in the
unsafe one.
"""
import argparse
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
NODE = "struct node { node *next; int data; };\n"
PUSH = "list = 0; while (*) { p = malloc(node); p->next = list; p->data = 1; list = p; } "

# Name: (property, why it is safe, why not, the program).
PROGRAMS = {
    "push": ("assert", "all data are 1.", "the data of the first node are 2.", NODE + """
node *list, *p;
list = malloc(node); list->next = 0; list->data = <<1||2>>;
while (*) { p = malloc(node); p->next = list; p->data = 1; list = p; }
p = list;
while (p != 0) { assert(p->data == 1); p = p->next; }
"""),
    "append": ("deref", "each node leads to the one allocated after it, the last one to null.",
               "the last node leads anywhere.", NODE + """
node *list, *tail, *p;
list = malloc(node); list->next = 0; tail = list;
while (*) { p = malloc(node); <<p->next = 0;||>> tail->next = p; tail = p; }
p = list;
while (p != 0) { p = p->next; }
"""),
    "from-end": ("deref", "each node leads to the one allocated before it, the first one to null.",
                 "the list has no end.", NODE + """
node *list, *p;
<<list = 0;||>>
while (*) { p = malloc(node); p->next = list; list = p; }
while (list != 0) { list = list->next; }
"""),
    "reverse": ("assert", "the oldest node comes first after the reversal.", "the last node is left out.", NODE + """
node *list, *first, *p, *back;
first = malloc(node); first->next = 0; list = first;
while (*) { p = malloc(node); p->next = list; list = p; }
back = 0;
while (<<list||list->next>> != 0) { p = list->next; list->next = back; back = list; list = p; }
assert(back == first);
"""),
    "reverse-traverse": ("deref", "the reversed list ends with null.", "it has no end.", NODE + """
node *list, *p, *back;
list = 0;
while (*) { p = malloc(node); p->next = list; list = p; }
<<back = 0;||>>
while (list != 0) { p = list->next; list->next = back; back = list; list = p; }
while (back != 0) { back = back->next; }
"""),
    "sorted-insertion": ("assert", "each node is inserted before the first one with larger data.",
                         "it may be inserted behind it.", NODE + """
node *list, *p, *new;
list = 0;
while (*) {
  new = malloc(node);
  if (list == 0 || list->data >= new->data) { new->next = list; list = new; }
  else {
    p = list;
    while (p->next != 0 && (<<p->next->data < new->data||*>>)) { p = p->next; }
    new->next = p->next; p->next = new;
  }
}
p = list;
while (p != 0 && p->next != 0) { assert(p->data <= p->next->data); p = p->next; }
"""),
    "descending": ("assert", "each node has smaller data than the one pushed before it.",
                   "the first node may have any data.", NODE + """
node *list, *p; int d;
list = malloc(node); list->next = 0; <<list->data = d;||>>
while (*) { d = d - 1; p = malloc(node); p->next = list; p->data = d; list = p; }
p = list;
while (p->next != 0) { assert(p->data < p->next->data); p = p->next; }
"""),
    "doubly-linked": ("assert", "the successor's predecessor is the node itself.", "it may be missing.", """
struct node { node *next; node *prev; };
node *list, *p;
list = malloc(node); list->next = 0; list->prev = 0;
while (*) { p = malloc(node); p->next = list; p->prev = 0; <<||if (*)>> { list->prev = p; } list = p; }
p = list;
while (p->next != 0) { assert(p->next->prev == p); p = p->next; }
"""),
    "there-and-back": ("deref", "both directions end with null.", "the first node has no predecessor, not even null.", """
struct node { node *next; node *prev; };
node *list, *tail, *p;
list = malloc(node); list->next = 0; <<list->prev = 0;||>> tail = list;
while (*) { p = malloc(node); p->next = 0; p->prev = tail; tail->next = p; tail = p; }
p = list;
while (p->next != 0) { p = p->next; }
while (p != 0) { p = p->prev; }
"""),
    "free-all": ("free", "each node is freed once.", "the first one is freed twice.", NODE + """
node *list, *first, *p;
first = malloc(node); first->next = 0; list = first;
while (*) { p = malloc(node); p->next = list; list = p; }
while (list != 0) { p = list->next; free(list); list = p; }
<<||free(first);>>
"""),
    "circular": ("deref", "new nodes are inserted behind the head, and lead to its successor.",
                 "a new node may lead to null.", NODE + """
node *head, *p;
head = malloc(node); head->next = head;
while (*) { p = malloc(node); <<||if (*) { p->next = 0; } else>> { p->next = head->next; } head->next = p; }
p = head->next;
while (p != head) { p = p->next; }
"""),
    "two-lists": ("free", "no node is in both lists.", "one list may end in the other.", NODE + """
node *one, *two, *p;
one = 0; two = 0;
while (*) {
  p = malloc(node);
  if (*) { p->next = one; one = p; } else { p->next = <<two||one>>; two = p; }
}
while (one != 0) { p = one->next; free(one); one = p; }
while (two != 0) { p = two->next; free(two); two = p; }
"""),
    "flag": ("assert", "the data depend on a flag that never changes; the last node has 3.",
             "the flag may change between building and reading.", NODE + """
node *list, *tail, *p; int flag;
list = malloc(node); tail = list;
while (*) {
  if (flag != 0) { tail->data = 1; } else { tail->data = 2; }
  p = malloc(node); tail->next = p; tail = p;
}
tail->data = 3; tail->next = 0;
<<||flag = nondet();>>
p = list;
while (p->next != 0) { assert((flag != 0 && p->data == 1) || (flag == 0 && p->data == 2)); p = p->next; }
assert(p->data == 3);
"""),
    "queue": ("deref", "the head runs behind the tail.", "it may overtake the tail.", NODE + """
node *head, *tail, *p;
head = malloc(node); head->next = 0; tail = head;
while (*) {
  if (*) { p = malloc(node); p->next = 0; tail->next = p; tail = p; }
  else { if (<<head->next != 0||*>>) { head = head->next; } }
}
"""),
    "shared-data": ("free", "all nodes have the same data, which are freed once.", "each node frees them.", """
struct item { int value; };
struct node { node *next; item *data; };
node *list, *p; item *data;
data = malloc(item); list = 0;
while (*) { p = malloc(node); p->next = list; p->data = data; list = p; }
while (list != 0) { p = list->next; <<||data = list->data; free(data);>> free(list); list = p; }
<<free(data);||>>
"""),
    "own-data": ("free", "each node has data of its own.", "the last two share them.", """
struct item { int value; };
struct node { node *next; item *data; };
node *list, *p; item *data;
list = 0;
while (*) { p = malloc(node); p->next = list; data = malloc(item); p->data = data; list = p; }
<<||if (*) { p = malloc(node); p->next = list; p->data = data; list = p; }>>
while (list != 0) { p = list->next; data = list->data; free(data); free(list); list = p; }
"""),
    "nested": ("deref", "each node of the list has a list of its own.", "an inner list may end with a node of the outer.",
               """
struct inner { inner *more; };
struct node { node *next; inner *list; };
node *list, *p; inner *q, *r;
list = 0;
while (*) {
  p = malloc(node); q = <<0||p>>;
  while (*) { r = malloc(inner); r->more = q; q = r; }
  p->list = q; p->next = list; list = p;
}
while (list != 0) { q = list->list; while (q != 0) { q = q->more; } list = list->next; }
"""),
}

# What the default strategy does not answer in a few seconds.
SLOW = "the invariant relates links, kinds of objects and addresses of a cell"
PAIRS = "the invariant relates two cells, or the lists that cells are in"
HARD = {name + encoding + "safe": reason for encoding in ("-", "-array-") for names, reason in (
    (("reverse", "reverse-traverse", "doubly-linked", "flag", "there-and-back", "circular", "shared-data"), SLOW),
    (("descending", "nested", "own-data", "sorted-insertion", "two-lists"), PAIRS)) for name in names}
HARD.update({name + encoding + "unsafe": "the refutation is long" for encoding in ("-", "-array-")
             for name in ("sorted-insertion", "two-lists")})


class Reader:
    """The syntax: a program as a tree of statements and expressions."""

    TOKEN = re.compile(r"\s*(->|\|\||&&|[=!<>]=|\w+|[^\s\w])")

    def __init__(self, text):
        self.tokens, at = [], 0
        text = text.strip()
        while at < len(text):
            found = self.TOKEN.match(text, at)
            self.tokens.append(found.group(1))
            at = found.end()
        self.structs = {}
        self.locals = {}

    def next(self, expected=None):
        token = self.tokens.pop(0)
        if expected is not None and token != expected:
            raise ValueError("%s instead of %s before %s" % (token, expected, " ".join(self.tokens[:8])))
        return token

    def at(self, *tokens):
        return self.tokens[:len(tokens)] == list(tokens)

    def declaration(self):
        """Names and types after a type: `*next;` of the type node is a pointer."""
        base, found = self.next(), {}
        while True:
            pointer = self.at("*") and self.next() == "*"
            found[self.next()] = base if pointer else "int"
            if self.next() == ";":
                return found

    def program(self):
        while self.at("struct"):
            self.next()
            name, fields = self.next(), {}
            self.next("{")
            while not self.at("}"):
                fields.update(self.declaration())
            self.next("}")
            self.next(";")
            self.structs[name] = fields
        while self.tokens and (self.tokens[0] == "int" or self.tokens[0] in self.structs):
            self.locals.update(self.declaration())
        return self.statements(lambda: not self.tokens)

    def statements(self, end):
        found = []
        while not end():
            found.append(self.statement())
        return found

    def block(self):
        if self.at("if"):
            return [self.statement()]
        self.next("{")
        found = self.statements(lambda: self.at("}"))
        self.next("}")
        return found

    def statement(self):
        if self.at("{"):
            return ("if", ("choice", "true"), self.block(), [])
        kind = self.next()
        if kind in ("while", "if"):
            self.next("(")
            condition = self.either()
            self.next(")")
            body = self.block()
            if kind == "while":
                return (kind, condition, body)
            if self.at("else"):
                self.next()
                return (kind, condition, body, self.block())
            return (kind, condition, body, [])
        if kind in ("assert", "free"):
            self.next("(")
            argument = self.either() if kind == "assert" else ("variable", self.next())
            self.next(")")
            self.next(";")
            return (kind, argument)
        field = None
        if self.at("->"):
            self.next()
            field = self.next()
        self.next("=")
        value = self.either()
        self.next(";")
        return ("set", kind, value) if field is None else ("store", kind, field, value)

    def either(self):
        left = self.both()
        while self.at("||"):
            self.next()
            left = ("or", left, self.both())
        return left

    def both(self):
        left = self.comparison()
        while self.at("&&"):
            self.next()
            left = ("and", left, self.comparison())
        return left

    def comparison(self):
        left = self.sum()
        if self.tokens and self.tokens[0] in ("==", "!=", "<", "<=", ">", ">="):
            return (self.next(), left, self.sum())
        return left

    def sum(self):
        left = self.access()
        while self.tokens and self.tokens[0] in ("+", "-"):
            left = (self.next(), left, self.access())
        return left

    def access(self):
        token = self.next()
        if token == "(":
            found = self.either()
            self.next(")")
        elif token == "*":
            found = ("choice", None)
        elif token.isdigit():
            found = ("number", int(token))
        elif token in ("nondet", "malloc"):
            self.next("(")
            found = (token, None if token == "nondet" else self.next())
            self.next(")")
        else:
            found = ("variable", token)
        while self.at("->"):
            self.next()
            found = ("field", found, self.next())
        return found


class Encoder:
    """The clauses of a program."""

    def __init__(self, text, what):
        reader = Reader(text)
        self.body = reader.program()
        self.structs, self.locals, self.what = reader.structs, reader.locals, what
        self.lines, self.clauses, self.locations, self.fresh = [], [], 0, []

    def sort(self, kind):
        return "Int" if kind == "int" else "Addr"

    def new(self, sort):
        self.fresh.append(("x%d" % len(self.fresh), sort))
        return self.fresh[-1][0]

    def location(self):
        self.locations += 1
        return "main_%d" % (self.locations - 1)

    def state(self, location, **changed):
        return "(%s %s)" % (location, " ".join(changed.get(v, v) for v in ["h"] + list(self.locals)))

    def clause(self, conditions, head):
        own = [("h", "Heap")] + [(v, self.sort(k)) for v, k in self.locals.items()] + self.fresh
        text = " ".join(conditions) + " " + head
        own = [v for v in own if re.search(r"(?<![\w-])%s(?![\w-])" % v[0], text)]
        body = conditions[0] if len(conditions) == 1 else "(and %s)" % " ".join(conditions)
        self.clauses.append("(assert (forall (%s)\n  (=> %s\n      %s)))" % (
            " ".join("(%s %s)" % v for v in own), body, head))
        self.fresh = []

    def object(self, kind, address):
        return "(get_%s (read h %s))" % (kind, address)

    def kind(self, e):
        """The struct to which a pointer leads, or int."""
        if e[0] == "variable":
            return self.locals[e[1]]
        if e[0] == "field":
            return self.structs[self.kind(e[1])][e[2]]
        return "int"

    def term(self, e, checks, wanted="int", given=()):
        """The term of an expression; `checks` receives conditions under which it is read, and what is read."""
        if e[0] == "number":
            return "nullAddr" if wanted != "int" else str(e[1])
        if e[0] == "variable":
            return e[1]
        if e[0] == "nondet":
            return self.new(self.sort(wanted))
        if e[0] == "choice":
            return e[1] or self.new("Bool")
        if e[0] == "field":
            kind, address = self.kind(e[1]), self.term(e[1], checks, given=given)
            checks.append((given, kind, address))
            return "(%s_%s %s)" % (kind, e[2], self.object(kind, address))
        if e[0] in ("and", "or"):
            left = self.term(e[1], checks, given=given)
            when = left if e[0] == "and" else "(not %s)" % left
            return "(%s %s %s)" % (e[0], left, self.term(e[2], checks, given=given + (when,)))
        kind = self.kind(e[1]) if e[1][0] != "number" else self.kind(e[2])
        left, right = (self.term(x, checks, kind, given) for x in e[1:])
        name = {"==": "=", "!=": "distinct"}.get(e[0], e[0])
        return "(%s %s %s)" % (name, left, right)

    def check(self, location, checks):
        if self.what == "deref":
            for given, kind, address in dict.fromkeys(checks):
                fresh, self.fresh = self.fresh, list(self.fresh)
                wrong = "(not ((_ is O_%s) (read h %s)))" % (kind, address)
                self.clause([self.state(location), *given, wrong], "false")
                self.fresh = fresh

    def statements(self, body, location):
        """Encodes statements from a location on; returns the location behind them."""
        for statement in body:
            location = getattr(self, statement[0] + "_")(location, *statement[1:])
        return location

    def goes(self, location, conditions=(), to=None, **changed):
        to = to or self.location()
        self.clause([self.state(location), *conditions], self.state(to, **changed))
        return to

    def set_(self, location, name, value):
        if value[0] == "malloc":
            fields = " ".join(self.new(self.sort(k)) for k in self.structs[value[1]].values())
            new = "(alloc h (O_%s (%s %s)))" % (value[1], value[1], fields)
            return self.goes(location, h="(newHeap %s)" % new, **{name: "(newAddr %s)" % new})
        checks = []
        term = self.term(value, checks, self.locals[name])
        self.check(location, checks)
        return self.goes(location, **{name: term})

    def store_(self, location, name, field, value):
        kind, checks = self.locals[name], []
        term = self.term(value, checks, self.structs[kind][field])
        checks.append(((), kind, name))
        self.check(location, checks)
        fields = " ".join(term if f == field else "(%s_%s %s)" % (kind, f, self.object(kind, name))
                          for f in self.structs[kind])
        return self.goes(location, h="(write h %s (O_%s (%s %s)))" % (name, kind, kind, fields))

    def free_(self, location, pointer):
        name = pointer[1]
        if self.what == "free":
            wrong = ["(distinct %s nullAddr)" % name, "(= (read h %s) defObj)" % name]
            self.clause([self.state(location), *wrong], "false")
        return self.goes(location, h="(write h %s defObj)" % name)

    def assert_(self, location, condition):
        checks = []
        term = self.term(condition, checks)
        self.check(location, checks)
        if self.what == "assert":
            self.clause([self.state(location), "(not %s)" % term], "false")
        return self.goes(location, [term])

    def branch(self, location, condition):
        """The locations in which the condition holds and does not hold."""
        if condition[0] == "choice":
            return (self.goes(location), None if condition[1] else self.goes(location))
        checks = []
        term = self.term(condition, checks)
        self.check(location, checks)
        fresh, self.fresh = self.fresh, list(self.fresh)
        holds = self.goes(location, [term])
        self.fresh = fresh
        return holds, self.goes(location, ["(not %s)" % term])

    def while_(self, location, condition, body):
        inside, outside = self.branch(location, condition)
        end = self.statements(body, inside)
        self.goes(end, to=location)
        return outside

    def if_(self, location, condition, body, otherwise):
        holds, fails = self.branch(location, condition)
        end = self.statements(body, holds)
        if fails is None:
            return end
        self.goes(self.statements(otherwise, fails), to=end)
        return end

    def heap(self, arrays):
        objects = ["(O_Int (getInt Int))", "(O_Addr (getAddr Addr))"]
        objects += ["(O_%s (get_%s %s))" % (s, s, s) for s in self.structs] + ["(defObj)"]
        sorts = "((HeapObject 0) %s)" % " ".join("(%s 0)" % s for s in self.structs)
        records = ["((%s %s))" % (s, " ".join("(%s_%s %s)" % (s, f, self.sort(k)) for f, k in fields.items()))
                   for s, fields in self.structs.items()]
        types = "((%s)\n   %s)" % (" ".join(objects), "\n   ".join(records))
        if not arrays:
            return "(declare-heap Heap Addr HeapObject defObj\n  %s\n  %s)" % (sorts, types)
        return ARRAYS % (sorts, types)

    def run(self, arrays):
        start = self.location()
        own = " ".join("(%s %s)" % (v, self.sort(k)) for v, k in self.locals.items())
        self.clauses.append("(assert (forall (%s)\n  %s))" % (own, self.state(start, h="emptyHeap")))
        self.statements(self.body, start)
        sorts = " ".join(["Heap"] + [self.sort(k) for k in self.locals.values()])
        predicates = ["(declare-fun main_%d (%s) Bool)" % (i, sorts) for i in range(self.locations)]
        return "\n".join(["(set-logic HORN)", "", self.heap(arrays), ""] + predicates + [""] + self.clauses +
                         ["", "(check-sat)"]) + "\n"


ARRAYS = """(define-sort Addr () Int)
(declare-datatypes
  %s
  %s)
(declare-datatypes ((Heap 0)) (((HeapCtor (HeapSize Int) (HeapContents (Array Addr HeapObject))))))
(declare-datatypes ((AllocResHeap 0)) (((AllocResHeap (newHeap Heap) (newAddr Addr)))))
(define-fun nullAddr () Addr 0)
(define-fun emptyHeap () Heap (HeapCtor 0 ((as const (Array Addr HeapObject)) defObj)))
(define-fun valid ((h Heap) (p Addr)) Bool (and (< 0 p) (<= p (HeapSize h))))
(define-fun read ((h Heap) (p Addr)) HeapObject (ite (valid h p) (select (HeapContents h) p) defObj))
(define-fun write ((h Heap) (p Addr) (o HeapObject)) Heap
  (ite (valid h p) (HeapCtor (HeapSize h) (store (HeapContents h) p o)) h))
(define-fun alloc ((h Heap) (o HeapObject)) AllocResHeap
  (AllocResHeap (HeapCtor (+ (HeapSize h) 1) (store (HeapContents h) (+ (HeapSize h) 1) o)) (+ (HeapSize h) 1)))"""


def variant(program, safe):
    text = re.sub(r"<<(.*?)\|\|(.*?)>>", lambda m: m.group(1 if safe else 2), program, flags=re.S)
    return "\n".join(line.rstrip() for line in text.strip().split("\n"))


def script(name, safe, arrays):
    what, why, why_not, program = PROGRAMS[name]
    source = variant(program, safe)
    reason = "; Safe: " + why if safe else "; Unsafe: " + why_not
    about = {"deref": "each access finds an object of the pointer's type",
             "free": "what is freed was allocated and not freed before", "assert": "the assertions hold"}[what]
    lines = ["; " + line for line in source.split("\n") if line]
    lines += [";", "; Property: %s." % about, reason]
    lines.append("; The heap is %s." % ("an array of objects with a size" if arrays else "that of the theory of heaps"))
    return "\n".join(lines) + "\n" + Encoder(source, what).run(arrays)


def task(name, safe, hard):
    return ("format_version: '2.0'\n" + ("# hard: %s\n" % hard if hard else "") +
            "input_files: '%s.smt2'\nproperties:\n  - property_file: ../properties/check-sat.prp\n"
            "    expected_verdict: %s\n" % (name, "true" if safe else "false"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", choices=sorted(PROGRAMS))
    side = parser.add_mutually_exclusive_group()
    side.add_argument("--safe", action="store_true", help="the safe variant (default)")
    side.add_argument("--unsafe", action="store_true", help="the unsafe variant")
    parser.add_argument("--arrays", action="store_true", help="the heap as an array")
    parser.add_argument("--instances", action="store_true", help="write the folder heaps/ again")
    args = parser.parse_args()
    if args.instances:
        folder = HERE / "heaps"
        folder.mkdir(exist_ok=True)
        for name in PROGRAMS:
            for arrays in (False, True):
                for safe in (True, False):
                    file = "%s-%s%s" % (name, "array-" if arrays else "", "safe" if safe else "unsafe")
                    (folder / (file + ".smt2")).write_text(script(name, safe, arrays))
                    (folder / (file + ".yml")).write_text(task(file, safe, HARD.get(file)))
        return 0
    if args.program is None:
        parser.error("a program is needed (or --instances)")
    sys.stdout.write(script(args.program, not args.unsafe, args.arrays))
    return 0


if __name__ == "__main__":
    sys.exit(main())
