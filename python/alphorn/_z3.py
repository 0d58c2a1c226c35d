"""Problems made with z3py as text, and formulas as expressions of z3py.

The text is Z3's own, and Z3 reads it again: where that gives anything but the expressions that were
given, the problem is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import z3

from ._errors import InputError
from ._sexpr import elements, parts, renamed, symbols, unquoted


#: Z3's reader has a sort of this name of its own, which gives way to that of a problem.
_TAKEN = "List"


def is_problem(value: object) -> bool:
    """Whether it is something of z3py that :func:`to_text` takes."""
    kinds = (z3.Fixedpoint, z3.Solver, z3.AstVector, z3.BoolRef, z3.Goal)
    return isinstance(value, (*kinds, list, tuple))


def to_text(problem: Any, query: Any) -> str:
    """The text of assertions, or of a fixedpoint object with its query."""
    if isinstance(problem, z3.Fixedpoint):
        if query is None:
            raise TypeError("a z3.Fixedpoint has rules only: give what is asked as query=")
        return _fixedpoint(problem, query)
    if query is not None:
        raise TypeError("query= is for a z3.Fixedpoint")
    if isinstance(problem, z3.Solver):
        assertions = problem.assertions()
        _refuse_tracked(problem)
    elif isinstance(problem, z3.BoolRef):
        assertions = [problem]
    else:
        assertions = problem
    declarations, bodies = _commands(assertions)
    asserts = [f"(assert {body})" for body in bodies]
    return "\n".join(["(set-logic HORN)", *declarations, *asserts, "(check-sat)"]) + "\n"


def _refuse_tracked(solver: Any) -> None:
    """What ``assert_and_track`` has asserted looks like a clause whose body cannot be derived."""
    counts = Counter(map(unquoted, symbols(solver.sexpr())))
    for assertion in solver.assertions():
        if z3.is_implies(assertion) and z3.is_const(assertion.arg(0)):
            constant = assertion.arg(0).decl()
            is_own = constant.kind() == z3.Z3_OP_UNINTERPRETED
            # Its declaration, and here.
            if is_own and counts[constant.name()] == 2:
                raise InputError(
                    f"the solver tracks an assertion by {constant.name()}, or has a clause that says"
                    " nothing: hand over the assertions that are meant as a list"
                )


def _fixedpoint(problem: Any, query: Any) -> str:
    if len(problem.get_assertions()) > 0:
        raise InputError(
            "a z3.Fixedpoint with background assertions, which are no rules: if they are clauses,"
            " hand over the list of them"
        )
    rules = list(problem.get_rules())
    asked = [query] if isinstance(query, (z3.ExprRef, z3.FuncDeclRef)) else list(query)
    if not asked or len({isinstance(q, z3.FuncDeclRef) for q in asked}) > 1:
        raise TypeError("a query is an expression, or some, or relations")
    ctx = problem.ctx
    used = _names([*rules, *(_closed(q)[0] for q in asked if z3.is_expr(q))])
    used |= {q.name() for q in asked if isinstance(q, z3.FuncDeclRef)}
    name = "query"
    while name in used:
        name += "!"
    reached = z3.Bool(name, ctx)
    for q in asked if isinstance(asked[0], z3.FuncDeclRef) else [asked]:
        # Of relations each is asked for, of expressions all together.
        if isinstance(q, z3.FuncDeclRef):
            bound = [z3.Const(f"x{i}", q.domain(i)) for i in range(q.arity())]
            goal = q(*bound)
        else:
            goal, bound = _closed(z3.And(*q) if len(q) > 1 else q[0])
            bound += problem.vars
        rule = z3.Implies(goal, reached)
        rules.append(z3.ForAll(bound, rule) if bound else rule)
    declarations, bodies = _commands(rules)
    lines = [f"(rule {body})" for body in bodies]
    return "\n".join([*declarations, *lines, f"(query {reached.sexpr()})"]) + "\n"


def _closed(formula: Any) -> tuple[Any, list[Any]]:
    """A formula with constants in the place of free variables, which queries that were read from text
    have, and these constants."""
    free: dict[int, Any] = {}
    seen = set()
    stack = [(formula, 0)]
    while stack:
        e, depth = stack.pop()
        if (e.get_id(), depth) in seen:
            continue
        seen.add((e.get_id(), depth))
        if z3.is_quantifier(e):
            stack.append((e.body(), depth + e.num_vars()))
        elif z3.is_var(e):
            index = z3.get_var_index(e) - depth
            if index >= 0:
                free[index] = z3.Const(f"free!{index}", e.sort())
        else:
            stack.extend((child, depth) for child in e.children())
    if not free:
        return formula, []
    # What does not occur is replaced, too, by anything.
    anything = next(iter(free.values()))
    constants = [free.get(index, anything) for index in range(max(free) + 1)]
    return z3.substitute_vars(formula, *constants), list(free.values())


def _commands(assertions: Iterable[Any]) -> tuple[list[str], list[str]]:
    """Declarations, and the formulas as Z3 prints them."""
    formulas = list(assertions)
    for formula in formulas:
        if not isinstance(formula, (z3.BoolRef, bool)):
            raise TypeError(f"{formula!r} is no assertion of z3py")
    contexts = {id(f.ctx): f.ctx for f in formulas if not isinstance(f, bool)}
    if len(contexts) > 1:
        raise ValueError("the assertions are of several contexts of z3")
    ctx = next(iter(contexts.values()), None)
    formulas = [z3.BoolVal(f, ctx) if isinstance(f, bool) else f for f in formulas]
    solver = z3.Solver(ctx=ctx)
    solver.add(formulas)
    text = solver.sexpr()
    declarations, bodies = [], []
    for begin, end in elements(text):
        command = text[begin:end]
        if command.startswith("(assert"):
            bodies.append(command[len("(assert") : -1].strip())
        else:
            declarations.append(command)
    other = _free_name(text)
    # In a context of its own: Z3's sorts would take the place of given ones of the same name.
    again = z3.parse_smt2_string(renamed(text, {_TAKEN: other}), ctx=z3.Context())
    if len(bodies) != len(formulas) or len(again) != len(formulas):
        raise InputError("Z3 prints the assertions in a form that is not theirs")
    for formula, read in zip(formulas, again):
        if not _same(formula, read, other):
            raise InputError(f"Z3 prints an assertion so that it reads differently: {formula}")
    return declarations, bodies


def _free_name(text: str) -> str:
    name = f"{_TAKEN}!"
    while name in text:
        name += "!"
    return name


def _names(formulas: Sequence[Any]) -> set[str]:
    """All symbols that occur in what Z3 prints of formulas."""
    solver = z3.Solver(ctx=formulas[0].ctx) if formulas else z3.Solver()
    solver.add(formulas)
    return {unquoted(token) for token in symbols(solver.sexpr())}


#: Nested ones are printed as one.
_ASSOCIATIVE = frozenset(
    [
        *(z3.Z3_OP_AND, z3.Z3_OP_OR, z3.Z3_OP_XOR, z3.Z3_OP_ADD, z3.Z3_OP_MUL),
        *(z3.Z3_OP_BADD, z3.Z3_OP_BMUL, z3.Z3_OP_BAND, z3.Z3_OP_BOR, z3.Z3_OP_BXOR),
        z3.Z3_OP_CONCAT,
    ]
)


def _same(formula: Any, read: Any, other: str) -> bool:
    """Whether an expression is the same but for how numbers are written, for what only guides a
    solver, and for the name ``other``."""

    def text(of: Any) -> str:
        return str(of.sexpr()).replace(other, _TAKEN)

    def binder(quantifier: Any) -> tuple[Any, ...]:
        count = quantifier.num_vars()
        kind = (quantifier.is_forall(), quantifier.is_lambda(), count)
        return (*kind, *(text(quantifier.var_sort(i)) for i in range(count)))

    def head(application: Any) -> tuple[Any, ...]:
        decl = application.decl()
        parameters = [str(p).replace(other, _TAKEN) for p in decl.params()]
        return (decl.kind(), decl.name(), text(application.sort()), parameters)

    seen = set()
    pairs = [(formula, read)]
    while pairs:
        a, b = pairs.pop()
        if (a.get_id(), b.get_id()) in seen:
            continue
        seen.add((a.get_id(), b.get_id()))
        if z3.is_quantifier(a):
            if not z3.is_quantifier(b) or binder(a) != binder(b):
                return False
            pairs.append((a.body(), b.body()))
        elif z3.is_var(a) or z3.is_var(b):
            if not (z3.is_var(a) and z3.is_var(b)):
                return False
            if z3.get_var_index(a) != z3.get_var_index(b) or text(a.sort()) != text(b.sort()):
                return False
        elif z3.is_rational_value(a) or z3.is_int_value(a):
            if text(z3.simplify(b)) != text(a):
                return False
        elif z3.is_quantifier(b) or head(a) != head(b):
            return False
        else:
            left, right = _operands(a), _operands(b)
            if len(left) != len(right):
                return False
            pairs.extend(zip(left, right))
    return True


def _operands(application: Any) -> list[Any]:
    """The arguments, of nested associative operators all of them in order."""
    kind = application.decl().kind()
    if kind not in _ASSOCIATIVE:
        return list(application.children())
    found = []
    stack = [application]
    while stack:
        operand = stack.pop()
        if z3.is_app(operand) and operand.decl().kind() == kind:
            stack.extend(reversed(operand.children()))
        else:
            found.append(operand)
    return found


class Preamble:
    """Declarations of sorts and definitions of functions that come before a formula."""

    def __init__(self, sorts: str, functions: Sequence[str]) -> None:
        self.sorts = sorts
        self.functions = functions
        #: A context of Z3 can define a recursive function once.
        self._defined: dict[int, dict[str, Any]] = {}

    def text(self) -> str:
        """All of it, as it is."""
        return "\n".join([self.sorts, *self.functions])

    def expression(
        self, parameters: Sequence[tuple[str, str]], body: str, args: Sequence[Any], ctx: Any
    ) -> Any:
        """A formula over parameters as an expression over ``args``, or over constants."""
        if args and len(args) != len(parameters):
            raise TypeError(f"{len(parameters)} arguments are needed, not {len(args)}")
        contexts = {id(a.ctx): a.ctx for a in args if isinstance(a, z3.ExprRef)}
        if len(contexts) > 1:
            raise ValueError("the arguments are of several contexts of z3")
        if ctx is None:
            ctx = next(iter(contexts.values()), z3.main_ctx())
        if _TAKEN in map(unquoted, symbols(self.sorts)):
            raise ValueError(
                f"Z3's reader has a sort {_TAKEN} of its own, and would take the problem's for it"
            )
        declarations, decls = self.sorts, {}
        # Another model may have other functions of the same names.
        defined = self._defined.setdefault(ctx.ref().value, {})
        heads = [head for function in self.functions for head in _heads(function)]
        own = {unquoted(name): f"|{unquoted(name)}!{id(self)}|" for name, _ in heads}
        calls = []
        if not defined:
            declarations += "\n" + "\n".join(renamed(f, own) for f in self.functions)
            for name, domain in heads:
                bound = [f"v!{i}" for i in range(len(domain))]
                variables = " ".join(f"({v} {sort})" for v, sort in zip(bound, domain))
                call = f"({own[unquoted(name)]} {' '.join(bound)})"
                calls.append(f"(assert (exists ({variables}) (= {call} {call})))")
        else:
            decls.update((own[name].strip("|"), decl) for name, decl in defined.items())
        constants = [f"(declare-const {name} {sort})" for name, sort in parameters]
        equations = [f"(assert (= {name} {name}))" for name, _ in parameters]
        lines = [*constants, *calls, *equations, f"(assert {body})"]
        text = renamed("\n".join([declarations, *lines]), own)
        read = list(z3.parse_smt2_string(text, decls=decls, ctx=ctx))
        for (name, _), call in zip(heads, read[: len(calls)]):
            defined[unquoted(name)] = call.body().arg(0).decl()
        formula = read[-1]
        pairs = []
        for equation, arg in zip(read[len(calls) : -1], args):
            constant = equation.arg(0)
            if isinstance(arg, z3.ExprRef) and arg.sort() != constant.sort():
                raise TypeError(f"{arg} is of sort {arg.sort()}, not {constant.sort()}")
            pairs.append((constant, constant.sort().cast(arg)))
        return z3.substitute(formula, *pairs) if pairs else formula


def _heads(function: str) -> list[tuple[str, list[str]]]:
    """The functions that a command defines: names, and sorts of arguments."""
    verb, *rest = parts(function)
    heads = [rest[:2]] if verb == "define-fun-rec" else [parts(head) for head in parts(rest[0])]
    return [(head[0], [parts(p)[1] for p in parts(head[1])]) for head in heads]


def is_true(preamble: str, formula: str) -> bool:
    """Whether a formula without free constants is true."""
    solver = z3.Solver(ctx=z3.Context())
    text = f"{preamble}\n(assert {formula})\n"
    try:
        solver.from_string(renamed(text, {_TAKEN: _free_name(text)}))
    except z3.Z3Exception as error:
        raise ValueError(f"Z3 cannot read {formula}: {error}") from error
    result = solver.check()
    if result == z3.unknown:
        raise ArithmeticError(f"Z3 cannot tell whether {formula} holds: {solver.reason_unknown()}")
    return result == z3.sat
