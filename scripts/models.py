"""Tasks and printed models as texts, for scripts that ask other solvers whether a model is one.

A task's declarations become the model's definitions; nothing is parsed further than that needs.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.setrecursionlimit(100_000)
ROOT = Path(__file__).resolve().parent.parent
TOKEN = re.compile(r'(?:\s|;[^\n]*)*(?:(\(|\))|("(?:[^"]|"")*"|\|[^|]*\||[^\s()";|]+(?:\|[^|]*\|)?))')


class Malformed(Exception):
    """Something that is no task or no model."""


class Unit:
    """A top-level S-expression: its text and its direct parts (words or texts)."""

    def __init__(self, text, parts):
        self.text = text
        self.parts = parts


def units(text):
    """Top-level S-expressions. Iterative: real formulas nest deeply."""
    found = []
    position = 0
    depth = 0
    start = part = 0
    parts = []
    rest = re.compile(r"(?:\s|;[^\n]*)*\Z")
    while not rest.match(text, position):
        match = TOKEN.match(text, position)
        if not match:
            raise Malformed(f"unexpected character at offset {position}")
        position = match.end()
        token = match.group(1) or match.group(2)
        begin = position - len(token)
        if token == "(":
            if depth == 0:
                start, parts = begin, []
            elif depth == 1:
                part = begin
            depth += 1
        elif token == ")":
            depth -= 1
            if depth < 0:
                raise Malformed("unbalanced )")
            if depth == 0:
                found.append(Unit(text[start:position], parts))
            elif depth == 1:
                parts.append(text[part:position])
        elif depth == 0:
            found.append(Unit(token, []))
        elif depth == 1:
            parts.append(token)
    if depth:
        raise Malformed("unbalanced (")
    return found


def plain(symbol):
    """A symbol without its quotes."""
    return symbol[1:-1] if symbol.startswith("|") else symbol


def sorts_of(text):
    """The S-expressions inside a pair of parentheses, spaces normalised."""
    return [" ".join(unit.text.split()) for unit in units(text[1:-1])]


def read_model(text):
    """Definitions by plain name, from what follows the verdict: of predicates, of constants and functions
    that the task declares, and of sorts, as integers."""
    verdict, _, rest = text.lstrip().partition("\n")
    if verdict.strip() not in ("sat", "unsat"):
        raise Malformed("the first line is neither sat nor unsat")
    body = units(rest)
    if len(body) == 1 and body[0].parts[:1] != ["define-fun"]:
        body = units(body[0].text[1:-1])
    definitions = {}
    functions = []
    for unit in body:
        if unit.parts[:1] in (["define-fun-rec"], ["define-funs-rec"]):
            functions.append(unit.text)
            continue
        if unit.parts[:1] == ["define-sort"] and unit.parts[2:] == ["()", "Int"]:
            definitions[plain(unit.parts[1])] = unit
            continue
        if len(unit.parts) != 5 or unit.parts[0] != "define-fun":
            raise Malformed(f"no define-fun of a predicate or constant: {unit.text[:60]}")
        definitions[plain(unit.parts[1])] = unit
    lines = text.splitlines()
    comments = [line for line in lines if line.startswith(("; measure ", "; lemma "))]
    return definitions, functions, comments


def abbreviations(task):
    """By name, the parameters and the sort of each `define-sort` of a task."""
    found = {}
    for unit in units(task):
        if unit.parts[:1] == ["define-sort"] and len(unit.parts) == 4:
            found[plain(unit.parts[1])] = ([plain(p) for p in sorts_of(unit.parts[2])], unit.parts[3])
    return found


def expanded(sort, short, bound=None):
    """A sort with its abbreviations written out and its names plain; `bound` has the parameters."""
    bound = bound or {}
    if not sort.startswith("("):
        name = plain(sort)
        return bound[name] if name in bound else expanded(short[name][1], short) if name in short else name
    head, *rest = sorts_of(sort)
    rest = [expanded(part, short, bound) for part in rest]
    if plain(head) in short:
        parameters, body = short[plain(head)]
        return expanded(body, short, dict(zip(parameters, rest)))
    return f"({' '.join([plain(head), *rest])})"


def define(definitions, name, sorts, short, result="Bool"):
    """The definition of a declared predicate, constant or function. Models may write out the
    abbreviations of sorts, and may define sorts as integers."""
    if plain(name) not in definitions:
        raise Malformed(f"no definition of {name}")
    unit = definitions[plain(name)]
    integers = (sort for sort, found in definitions.items() if found.parts[0] == "define-sort")
    short = {**short, **{sort: ([], "Int") for sort in integers}}
    if unit.parts[0] != "define-fun" or expanded(unit.parts[3], short) != expanded(result, short):
        raise Malformed(f"no define-fun of {name} with values of sort {result}")
    parameters = [" ".join(units(p.text[1:-1])[1].text.split()) for p in units(unit.parts[2][1:-1])]
    if [expanded(p, short) for p in parameters] != [expanded(sort, short) for sort in sorts_of(sorts)]:
        raise Malformed(f"the sorts of {name} differ")
    _, _, parameters, sort, body = unit.parts
    return f"(define-fun {name} {parameters} {sort} {body})"


def words_in_order(text):
    """The words of a formula, plain: one for each node of its tree, with `let`s written out."""
    return [plain(m.group(2)) for m in TOKEN.finditer(text) if m.group(2)]


def words(text):
    """The symbols of a formula, plain."""
    return set(words_in_order(text))


SORTS = ("declare-datatype", "declare-datatypes", "declare-sort", "define-sort")


def script(task, definitions, functions):
    """The commands that declare sorts, those before the clauses, and the clauses."""
    # Z3's program does not know it.
    divisors = sorted(set(re.findall(r"\(\s*_\s+divisible\s+(\d+)\s*\)", task)))
    task = re.sub(r"\(\s*_\s+divisible\s+(\d+)\s*\)", r"divisible!by!\1", task)
    sorts_first = []
    for unit in units(task):
        keyword, *rest = unit.parts or [unit.text]
        if keyword == "declare-sort" and plain(rest[0]) in definitions:
            if definitions[plain(rest[0])].parts[0] != "define-sort" or rest[1] != "0":
                raise Malformed(f"no definition of the sort {rest[0]}")
            sorts_first.append(f"(define-sort {rest[0]} () Int)")
        elif keyword in SORTS:
            sorts_first.append(unit.text)
    prelude = [f"(define-fun divisible!by!{n} ((x Int)) Bool (= 0 (mod x {n})))" for n in divisors]
    prelude += functions
    clauses = []
    variables = {}
    relations = {}
    short = abbreviations(task)

    def closed(formula):
        used = words(formula)
        bound = [f"({name} {sort})" for name, sort in variables.items() if plain(name) in used]
        return f"(forall ({' '.join(bound)}) {formula})" if bound else formula

    for unit in units(task):
        keyword, *rest = unit.parts or [unit.text]
        if keyword == "declare-fun" and rest[2] == "Bool":
            prelude.append(define(definitions, rest[0], rest[1], short))
        elif keyword == "declare-fun" and plain(rest[0]) in definitions:
            prelude.append(define(definitions, rest[0], rest[1], short, rest[2]))
        elif keyword == "declare-const" and (rest[1] == "Bool" or plain(rest[0]) in definitions):
            prelude.append(define(definitions, rest[0], "()", short, rest[1]))
        elif keyword == "declare-rel":
            prelude.append(define(definitions, rest[0], rest[1], short))
            relations[plain(rest[0])] = sorts_of(rest[1])
        elif keyword == "declare-var":
            variables[rest[0]] = rest[1]
        elif keyword == "assert":
            clauses.append(rest[0])
        elif keyword == "rule":
            clauses.append(closed(rest[0]))
        elif keyword == "query":
            query = rest[0]
            sorts = relations.get(plain(query), []) if not query.startswith("(") else []
            if sorts:
                bound = " ".join(f"(x!{i} {sort})" for i, sort in enumerate(sorts))
                names = " ".join(f"x!{i}" for i in range(len(sorts)))
                clauses.append(f"(forall ({bound}) (not ({query} {names})))")
            else:
                clauses.append(closed(f"(not {query})"))
        elif keyword in ("push", "pop", "reset", "reset-assertions"):
            raise Malformed(f"a task with {keyword}: give the part in force only")
        elif keyword.startswith(("declare-", "define-")):
            if keyword not in SORTS:
                prelude.append(unit.text)
    return sorts_first, prelude, clauses


def answers(solver, text, seconds):
    """The answers of the solver, in order; those that are missing were not given in time."""
    if solver == "z3":
        binary = ROOT / "third_party/z3/bin/z3"
        program = str(binary) if binary.exists() else shutil.which("z3")
        if program is None:
            raise Malformed("there is no z3: run scripts/setup")
        command = [program, "-in"]
    else:
        python = ROOT / "third_party/py/bin/python"
        if not python.exists():
            raise Malformed("there is no cvc5: run scripts/setup --test")
        command = [str(python), str(ROOT / "scripts/cvc5-check.py")]
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=seconds, check=False)
        output, errors = done.stdout, done.stderr
    except subprocess.TimeoutExpired as expired:
        output = expired.stdout or b""
        output = output.decode() if isinstance(output, bytes) else output
        errors = ""
    if solver == "cvc5" and errors:
        raise Malformed(f"{solver} says {errors.strip()[:200]}")
    for line in (output + "\n" + errors).splitlines():
        if "error" in line.lower():
            raise Malformed(f"{solver} says {line[:200]}")
    return [line for line in output.split() if line in ("sat", "unsat", "unknown")]
