#!/usr/bin/env python3
"""Print a benchmark of one of the families that scale in N.

    generate.py ring 8 --safe > ring-8-safe.smt2

The first lines of the output are comments with the family and the expected verdict (sat = safe).
`--instances` writes the small instances of generated/ and their task definitions again.
"""
import argparse
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent


class Clauses:
    """The text of a HORN script, built clause by clause."""

    def __init__(self):
        self.lines = []

    def line(self, text):
        self.lines.append(text)

    def predicate(self, name, sorts):
        self.line("(declare-fun %s (%s) Bool)" % (name, " ".join(sorts)))

    def clause(self, variables, body, head):
        """variables: list of (name, sort); body: list of terms; head: a term."""
        term = head
        if body:
            term = "(=> %s %s)" % (body[0] if len(body) == 1 else "(and %s)" % " ".join(body), head)
        if variables:
            term = "(forall (%s)\n  %s)" % (" ".join("(%s %s)" % v for v in variables), term)
        self.line("(assert %s)" % term)

    def query(self, variables, body):
        self.clause(variables, body, "false")


def apply(name, arguments):
    return "(%s %s)" % (name, " ".join(arguments)) if arguments else name


def ints(names):
    return [(n, "Int") for n in names]


def ring(n, safe):
    """A token ring of N processes, one Boolean for each; no two hold a token at the same time.

    Unsafe: the last process keeps the token when it passes it on (N steps deep)."""
    c = Clauses()
    t = ["t%d" % i for i in range(n)]
    variables = [(x, "Bool") for x in t]
    c.predicate("Ring", ["Bool"] * n)
    c.clause([], [], apply("Ring", ["true"] + ["false"] * (n - 1)))
    for i in range(n):
        after = list(t)
        after[(i + 1) % n] = "true"
        if safe or i < n - 1:
            after[i] = "false"
        c.clause(variables, [apply("Ring", t), t[i]], apply("Ring", after))
    pairs = ["(and %s %s)" % (t[i], t[j]) for i in range(n) for j in range(i + 1, n)]
    c.query(variables, [apply("Ring", t), "(or %s)" % " ".join(pairs)])
    return c


def pipeline(n, safe):
    """A pipeline of N stages, a predicate for each; every stage adds 0, 1 or 2 to the value it passes on.

    Safe: at most 2N are added. Unsafe: the query asks for exactly 2N."""
    c = Clauses()
    for i in range(n + 1):
        c.predicate("Stage%d" % i, ["Int", "Int"])
    c.clause(ints("x"), [], "(Stage0 x x)")
    for i in range(n):
        c.clause(ints("xyz"), ["(Stage%d x y)" % i, "(<= y z)", "(<= z (+ y 2))"], "(Stage%d x z)" % (i + 1))
    c.query(ints("xy"), ["(Stage%d x y)" % n, "(%s y (+ x %d))" % (">" if safe else "=", 2 * n)])
    return c


def loops(n, safe):
    """N loops in sequence, each runs from 0 to m and counts its rounds in the same variable.

    Safe: the sum is N*m at the end. Unsafe: the last loop stops one round early."""
    c = Clauses()
    for i in range(n):
        c.predicate("Loop%d" % i, ["Int", "Int", "Int"])
    c.predicate("Exit", ["Int", "Int"])
    c.clause(ints("m"), ["(> m 0)"], "(Loop0 m 0 0)")
    for i in range(n):
        bound = "m" if safe or i < n - 1 else "(- m 1)"
        c.clause(ints("mjs"), ["(Loop%d m j s)" % i, "(< j %s)" % bound], "(Loop%d m (+ j 1) (+ s 1))" % i)
        after = "(Exit m s)" if i == n - 1 else "(Loop%d m 0 s)" % (i + 1)
        c.clause(ints("mjs"), ["(Loop%d m j s)" % i, "(>= j %s)" % bound], after)
    c.query(ints("ms"), ["(Exit m s)", "(not (= s (* %d m)))" % n])
    return c


def locations(n, safe):
    """One predicate; N locations encoded in Boolean arguments, and a number that is raised at each step.

    The machine goes through the locations in order and starts again with 0. Safe: the number is the location.
    Unsafe: from the last location but one the machine may stay there and count."""
    c = Clauses()
    bits = max(1, (n - 1).bit_length())

    def code(i):
        return ["true" if i >> b & 1 else "false" for b in reversed(range(bits))]

    c.predicate("Main", ["Bool"] * bits + ["Int"])
    c.clause([], [], apply("Main", code(0) + ["0"]))
    for i in range(n):
        if i < n - 1:
            c.clause(ints("x"), [apply("Main", code(i) + ["x"])], apply("Main", code(i + 1) + ["(+ x 1)"]))
        else:
            c.clause(ints("x"), [apply("Main", code(i) + ["x"])], apply("Main", code(0) + ["0"]))
    if not safe:
        i = max(n - 2, 0)
        c.clause(ints("x"), [apply("Main", code(i) + ["x"])], apply("Main", code(i) + ["(+ x 1)"]))
    c.query(ints("x"), [apply("Main", code(n - 1) + ["x"]), "(not (= x %d))" % (n - 1)])
    return c


def deep(n, safe):
    """A counter up to N. Safe: it stays at N. Unsafe: N is reached, the error is N steps deep."""
    c = Clauses()
    c.predicate("Count", ["Int"])
    c.clause([], [], "(Count 0)")
    c.clause(ints("x"), ["(Count x)", "(< x %d)" % n], "(Count (+ x 1))")
    c.query(ints("x"), ["(Count x)", "(%s x %d)" % (">" if safe else "=", n)])
    return c


def nested(n, safe):
    """N nested loops; the index of each starts at that of the loop around it.

    Safe: the innermost index is at least the outermost one. Unsafe: the assertion asks for more."""
    c = Clauses()
    index = ["i%d" % k for k in range(n)]
    for k in range(n):
        c.predicate("Loop%d" % k, ["Int"] * (k + 2))
    c.clause(ints("m"), [], "(Loop0 m 0)")
    for k in range(n):
        args = ["m"] + index[:k + 1]
        here = apply("Loop%d" % k, args)
        if k < n - 1:
            c.clause(ints(args), [here, "(< %s m)" % index[k]], apply("Loop%d" % (k + 1), args + [index[k]]))
        else:
            c.clause(ints(args), [here, "(< %s m)" % index[k]],
                     apply("Loop%d" % k, args[:-1] + ["(+ %s 1)" % index[k]]))
        if k > 0:
            c.clause(ints(args), [here, "(>= %s m)" % index[k]],
                     apply("Loop%d" % (k - 1), args[:-2] + ["(+ %s 1)" % index[k - 1]]))
    last = ["m"] + index
    bound = index[0] if safe else "(+ %s 1)" % index[0]
    c.query(ints(last), [apply("Loop%d" % (n - 1), last), "(< %s %s)" % (index[-1], bound)])
    return c


def tree(n, safe):
    """Tree recursion: a node of depth d has N children of depth d - 1; T(d, s) relates depth and size.

    Safe: the size is greater than the depth. Unsafe: the query asks for the tree of depth 2."""
    c = Clauses()
    sizes = ["s%d" % k for k in range(n)]
    c.predicate("T", ["Int", "Int"])
    c.clause([], [], "(T 0 1)")
    c.clause(ints(["d"] + sizes), ["(>= d 0)"] + ["(T d %s)" % s for s in sizes],
             "(T (+ d 1) (+ 1 %s))" % " ".join(sizes))
    c.query(ints("ds"), ["(T d s)", "(<= s d)" if safe else "(and (= d 2) (= s %d))" % (1 + n + n * n)])
    return c


def wide(n, safe):
    """A contract as compilers encode it: N record arguments that nothing reads beside a counter.

    Two functions, increment (up to 3) and reset. Safe: the counter is at most 3. Unsafe: increment is unguarded."""
    c = Clauses()
    c.line("(declare-datatypes ((|bytes(array)| 0)) (((|bytes(array)| (|bytes(data)| (Array Int Int)) (|bytes(length)| Int)))))")
    c.line("(declare-datatypes ((|tx(record)| 0)) (((|tx(record)| (|tx.sender| Int) (|tx.value| Int)"
           " (|tx.data| |bytes(array)|)))))")
    records = ["r_%d" % k for k in range(n)]
    sorts = ["|tx(record)|"] * n
    state = list(zip(records, sorts)) + [("error", "Int"), ("x", "Int"), ("y", "Int")]
    c.predicate("|interface|", sorts + ["Int"])
    for f in ("inc", "reset"):
        c.predicate("|entry_%s(int)|" % f, sorts + ["Int"])
        c.predicate("|summary_%s(int)|" % f, ["Int"] + sorts + ["Int", "Int"])
    c.clause(list(zip(records, sorts)), [], apply("interface", records + ["0"]))
    for f in ("inc", "reset"):
        entry, summary = "|entry_%s(int)|" % f, "|summary_%s(int)|" % f
        c.clause(state[:n] + [("x", "Int")], [apply("interface", records + ["x"])], apply(entry, records + ["x"]))
        guard = ["(< x 3)"] if safe and f == "inc" else []
        after = "(+ x 1)" if f == "inc" else "0"
        c.clause(state, [apply(entry, records + ["x"])] + guard + ["(= y %s)" % after, "(= error (ite (> y 3) 1 0))"],
                 apply(summary, ["error"] + records + ["x", "y"]))
        c.clause(state, [apply(summary, ["error"] + records + ["x", "y"]), "(= error 0)"],
                 apply("interface", records + ["y"]))
        c.query(state, [apply(summary, ["error"] + records + ["x", "y"]), "(not (= error 0))"])
    return c


def terms(n, safe):
    """A clause with a term nested N deep, in sums and in lets; x is raised by N each round.

    Safe: x is a multiple of N, so it is not N + 1 (or -1 when N is 1). Unsafe: x reaches 2N."""
    c = Clauses()
    c.predicate("P", ["Int"])
    c.clause([], [], "(P 0)")
    term = "x"
    for k in range(n // 2):
        term = "(+ 1 %s)" % term
    for k in range(n - n // 2):
        term = "(let ((v!%d %s)) (+ v!%d 1))" % (k, term, k)
    c.clause(ints("x"), ["(P x)"], "(P %s)" % term)
    wrong = 2 * n if not safe else (n + 1 if n > 1 else -1)
    c.query(ints("x"), ["(P x)", "(= x %s)" % (wrong if wrong >= 0 else "(- 1)")])
    return c


def arrays(n, safe):
    """N arrays of zeros, at an index that is fixed; each copies elements of the one before it, the first gets ones.

    Safe: no one is written at the index. Unsafe: ones go anywhere (N + 1 steps deep)."""
    c = Clauses()
    names = ["a%d" % i for i in range(n)]
    sort = "(Array Int Int)"
    c.predicate("Memory", ["Int"] + [sort] * n)
    state = [("k", "Int")] + [(a, sort) for a in names]
    zeros = ["(= (select %s k) 0)" % a for a in names]
    c.clause(state, zeros, apply("Memory", ["k"] + names))
    for i in range(n):
        written = "(select %s i)" % names[i - 1] if i else "1"
        after = list(names)
        after[i] = "(store %s i %s)" % (names[i], written)
        guard = ["(not (= i k))"] if safe and i == 0 else []
        c.clause(state + [("i", "Int")], [apply("Memory", ["k"] + names)] + guard, apply("Memory", ["k"] + after))
    c.query(state, [apply("Memory", ["k"] + names), "(not (= (select %s k) 0))" % names[-1]])
    return c


def constructors(n, safe):
    """A datatype of N constructors, each with a number that is raised at each step.

    The machine goes through the constructors in order and starts again with the first. Safe: the number is that of
    the constructor. Unsafe: from the last constructor but one the machine may stay there and count."""
    c = Clauses()
    parts = " ".join("(c%d (x%d Int))" % (i, i) for i in range(n))
    c.line("(declare-datatypes ((State 0)) ((%s)))" % parts)
    c.predicate("Main", ["State"])
    c.clause([], [], "(Main (c0 0))")
    for i in range(n):
        after = "(c%d (+ x 1))" % (i + 1) if i < n - 1 else "(c0 0)"
        c.clause(ints("x"), ["(Main (c%d x))" % i], "(Main %s)" % after)
    if not safe:
        i = max(n - 2, 0)
        c.clause(ints("x"), ["(Main (c%d x))" % i], "(Main (c%d (+ x 1)))" % i)
    c.query(ints("x"), ["(Main (c%d x))" % (n - 1), "(not (= x %d))" % (n - 1)])
    return c


def memory(n, safe):
    """A memory of N words, written out as cells, in which a program builds a linked list and walks along it.

    Each of N steps of the program puts a cell of its choice, above all that are in the list, in front of the list, or
    none. Safe: after N steps from its head the walk is at its end. Unsafe: after N - 1 steps it may not be."""
    c = Clauses()
    word = "(_ BitVec 32)"

    def number(k):
        return "#x%08x" % k

    def words(names):
        return [(name, word) for name in names]

    cells = ["m%d" % i for i in range(1, n + 1)]
    after = ["n%d" % i for i in range(1, n + 1)]
    for i in range(n + 1):
        c.predicate("Build%d" % i, [word] * (n + 1))
    steps = n if safe else n - 1
    for i in range(steps + 1):
        c.predicate("Walk%d" % i, [word] * (n + 1))
    c.clause(words(cells), [], apply("Build0", [number(0)] + cells))
    for i in range(n):
        written = ["(= %s (ite (= cell %s) head %s))" % (after[j], number(j + 1), cells[j]) for j in range(n)]
        chosen = ["(bvult head cell)", "(bvule cell %s)" % number(n)]
        c.clause(words(["head", "cell"] + cells + after), [apply("Build%d" % i, ["head"] + cells)] + chosen + written,
                 apply("Build%d" % (i + 1), ["cell"] + after))
        state = ["head"] + cells
        c.clause(words(state), [apply("Build%d" % i, state)], apply("Build%d" % (i + 1), state))
    state = ["at"] + cells
    c.clause(words(state), [apply("Build%d" % n, state)], apply("Walk0", state))
    for i in range(steps):
        read = number(0)
        for j in range(n):
            read = "(ite (= at %s) %s %s)" % (number(j + 1), cells[j], read)
        c.clause(words(["next"] + state), [apply("Walk%d" % i, state), "(= next %s)" % read],
                 apply("Walk%d" % (i + 1), ["next"] + cells))
    c.query(words(state), [apply("Walk%d" % steps, state), "(not (= at %s))" % number(0)])
    return c


def products(n, safe):
    """A product line: a lift with five doors, and N features that each product has or has not.

    One door is open at a time, and the lift opens the next one. A feature has a level, a remainder of its own level
    and that of the feature before it, and may keep the doors of one floor as they are. Safe: no two doors are open,
    whatever the features do, though all of them are in the cone of the property. Unsafe: the last door stays open."""
    c = Clauses()
    floors = 5
    doors = ["d%d" % k for k in range(floors)]
    has = ["f%d" % i for i in range(n)]
    level, after_level = (["%s%d" % (x, i) for i in range(n)] for x in "lm")
    bools = [(x, "Bool") for x in doors + has]
    c.predicate("Lift", ["Bool"] * (floors + n) + ["Int"] * n)
    c.clause(bools[floors:], [], apply("Lift", ["true"] + ["false"] * (floors - 1) + has + ["0"] * n))
    levels = ["(= m%d (ite f%d (mod (+ (* %d l%d) l%d %d) %d) l%d))" %
              (i, i, i % 3 + 2, i, (i - 1) % n, i % 5 + 1, 7 + 2 * (i % 4), i) for i in range(n)]
    for k in range(floors):
        after = list(doors)
        after[(k + 1) % floors] = "true"
        if safe or k < floors - 1:
            after[k] = "false"
        free = ["(or (not f%d) (< l%d 6))" % (i, i) for i in range(k, n, floors)]
        c.clause(bools + ints(level + after_level), [apply("Lift", doors + has + level), doors[k]] + free + levels,
                 apply("Lift", after + has + after_level))
    pairs = ["(and d%d d%d)" % (i, j) for i in range(floors) for j in range(i + 1, floors)]
    c.query(bools + ints(level), [apply("Lift", doors + has + level), "(or %s)" % " ".join(pairs)])
    return c


def holes(n, safe):
    """N numbers in one loop, each with an upper bound and a hole below it, which it enters from above the bound only.

    Safe: none is ever in its hole, which takes both the bound and the hole to prove. Unsafe: the last one may go
    beyond its bound."""
    c = Clauses()
    before, after = (["%s%d" % (x, i) for i in range(n)] for x in "xy")
    c.predicate("Loop", ["Int"] * n)
    c.clause([], [], apply("Loop", ["0"] * n))
    steps = []
    for i in range(n):
        bound, hole = 10 + 3 * i, 9 + 3 * i
        most = bound if safe or i < n - 1 else bound + 1
        steps.append("(or (and (<= x{0} {1}) (<= y{0} {3}) (not (= y{0} {2}))) (and (> x{0} {1}) (= y{0} {2})))"
                     .format(i, bound, hole, most))
    c.clause(ints(before + after), [apply("Loop", before)] + steps, apply("Loop", after))
    c.query(ints(before), [apply("Loop", before),
                           "(or %s)" % " ".join("(= x%d %d)" % (i, 9 + 3 * i) for i in range(n))])
    return c


FAMILIES = {f.__name__: f for f in (ring, pipeline, loops, locations, deep, nested, tree, wide, terms, arrays,
                                    constructors, memory, products, holes)}
LEAST = {"ring": 2, "locations": 2, "nested": 2, "constructors": 2, "memory": 2}
INSTANCES = [("ring", 4), ("ring", 12), ("pipeline", 5), ("pipeline", 30), ("loops", 2), ("loops", 4), ("locations", 6),
             ("locations", 20), ("deep", 10), ("deep", 40), ("nested", 3), ("nested", 5), ("tree", 2), ("tree", 4),
             ("wide", 3), ("wide", 40), ("terms", 3), ("terms", 200), ("arrays", 2), ("arrays", 6),
             ("constructors", 3), ("constructors", 12), ("memory", 3), ("memory", 4),
             ("products", 2), ("products", 6), ("holes", 1), ("holes", 4)]
HARD = {("loops", 4, True): "an equality of four variables is needed for every loop"}


def script(family, n, safe):
    function = FAMILIES[family]
    text = " ".join(function.__doc__.split())
    out = ["; Family %s, N = %d, %s." % (family, n, "safe" if safe else "unsafe")]
    words, line = text.split(" "), ";"
    for w in words:
        if len(line) + len(w) > 110:
            out.append(line)
            line = ";"
        line += " " + w
    out += [line, "; Expected verdict: %s" % ("sat" if safe else "unsat"), "(set-logic HORN)"]
    return "\n".join(out + function(n, safe).lines + ["(check-sat)"]) + "\n"


def task(name, safe, hard):
    return ("format_version: '2.0'\n" + ("# hard: %s\n" % hard if hard else "") +
            "input_files: '%s.smt2'\nproperties:\n  - property_file: ../properties/check-sat.prp\n"
            "    expected_verdict: %s\n" % (name, "true" if safe else "false"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="\n\n".join("%s: %s" % (k, f.__doc__) for k, f in FAMILIES.items()))
    parser.add_argument("family", nargs="?", choices=sorted(FAMILIES))
    parser.add_argument("n", nargs="?", type=int, metavar="N", help="the size")
    side = parser.add_mutually_exclusive_group()
    side.add_argument("--safe", action="store_true", help="the safe variant (default)")
    side.add_argument("--unsafe", action="store_true", help="the unsafe variant")
    parser.add_argument("--instances", action="store_true", help="write the instances of generated/ again")
    args = parser.parse_args()
    if args.instances:
        folder = HERE / "generated"
        folder.mkdir(exist_ok=True)
        for family, n in INSTANCES:
            for safe in (True, False):
                name = "%s-%d-%s" % (family, n, "safe" if safe else "unsafe")
                (folder / (name + ".smt2")).write_text(script(family, n, safe))
                (folder / (name + ".yml")).write_text(task(name, safe, HARD.get((family, n, safe))))
        return 0
    if args.family is None or args.n is None:
        parser.error("a family and N are needed (or --instances)")
    if args.n < LEAST.get(args.family, 1):
        parser.error("%s needs N >= %d" % (args.family, LEAST.get(args.family, 1)))
    sys.stdout.write(script(args.family, args.n, not args.unsafe))
    return 0


if __name__ == "__main__":
    sys.exit(main())
