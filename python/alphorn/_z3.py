"""Problems made with z3py as text, and formulas as expressions of z3py.

The text is Z3's own, and Z3 reads it again: where that gives anything but the expressions that were
given, the problem is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import z3

from ._errors import InputError
from ._sexpr import elements


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
    elif isinstance(problem, z3.BoolRef):
        assertions = [problem]
    else:
        assertions = problem
    declarations, bodies = _commands(assertions)
    asserts = [f"(assert {body})" for body in bodies]
    return "\n".join(["(set-logic HORN)", *declarations, *asserts, "(check-sat)"]) + "\n"


def _fixedpoint(problem: Any, query: Any) -> str:
    if len(problem.get_assertions()) > 0:
        raise InputError("a z3.Fixedpoint with background assertions: they are no rules")
    rules = list(problem.get_rules())
    asked = [query] if isinstance(query, (z3.ExprRef, z3.FuncDeclRef)) else list(query)
    if not asked or len({isinstance(q, z3.FuncDeclRef) for q in asked}) > 1:
        raise TypeError("a query is an expression, or some, or relations")
    ctx = problem.ctx
    reached = z3.FreshConst(z3.BoolSort(ctx), "query")
    for q in asked if isinstance(asked[0], z3.FuncDeclRef) else [asked]:
        # Of relations each is asked for, of expressions all together.
        if isinstance(q, z3.FuncDeclRef):
            bound = [z3.FreshConst(q.domain(i), "x") for i in range(q.arity())]
            goal = q(*bound)
        else:
            bound = list(problem.vars)
            goal = z3.And(*q) if len(q) > 1 else q[0]
        rule = z3.Implies(goal, reached)
        rules.append(z3.ForAll(bound, rule) if bound else rule)
    declarations, bodies = _commands(rules)
    lines = [f"(rule {body})" for body in bodies]
    return "\n".join([*declarations, *lines, f"(query {reached.sexpr()})"]) + "\n"


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
    again = z3.parse_smt2_string(text, ctx=ctx)
    if len(bodies) != len(formulas) or len(again) != len(formulas):
        raise InputError("Z3 prints the assertions in a form that is not theirs")
    for formula, read in zip(formulas, again):
        if not _same(formula, read):
            raise InputError(f"Z3 prints an assertion so that it reads differently: {formula}")
    return declarations, bodies


def _same(formula: Any, read: Any) -> bool:
    """Whether an expression is the same but for how numbers are written, and for what only guides
    a solver."""
    seen = set()
    pairs = [(formula, read)]
    while pairs:
        a, b = pairs.pop()
        if a.eq(b) or (a.get_id(), b.get_id()) in seen:
            continue
        seen.add((a.get_id(), b.get_id()))
        if z3.is_quantifier(a):
            if not z3.is_quantifier(b) or _binder(a) != _binder(b):
                return False
            pairs.append((a.body(), b.body()))
        elif z3.is_var(a) or z3.is_var(b):
            if not (z3.is_var(a) and z3.is_var(b)):
                return False
            if z3.get_var_index(a) != z3.get_var_index(b) or a.sort() != b.sort():
                return False
        elif z3.is_rational_value(a) or z3.is_int_value(a):
            if not z3.simplify(b).eq(a):
                return False
        elif z3.is_quantifier(b) or _head(a) != _head(b):
            return False
        else:
            pairs.extend(zip(a.children(), b.children()))
    return True


def _binder(quantifier: Any) -> tuple[Any, ...]:
    count = quantifier.num_vars()
    kind = (quantifier.is_forall(), quantifier.is_lambda(), count)
    return (*kind, *(quantifier.var_sort(i).sexpr() for i in range(count)))


def _head(application: Any) -> tuple[Any, ...]:
    declaration = application.decl()
    sort, parameters = application.sort().sexpr(), [str(p) for p in declaration.params()]
    return (declaration.kind(), declaration.name(), sort, application.num_args(), parameters)


def definition(
    preamble: str,
    parameters: Sequence[tuple[str, str]],
    body: str,
    args: Sequence[Any],
    ctx: Any,
) -> Any:
    """A formula over parameters as an expression over ``args``, or over constants."""
    if args and len(args) != len(parameters):
        raise TypeError(f"{len(parameters)} arguments are needed, not {len(args)}")
    contexts = {id(a.ctx): a.ctx for a in args if isinstance(a, z3.ExprRef)}
    if ctx is None and contexts:
        ctx = next(iter(contexts.values()))
    declared = "".join(f"(declare-const {name} {sort})\n" for name, sort in parameters)
    named = "".join(f"(assert (= {name} {name}))\n" for name, _ in parameters)
    text = f"{preamble}\n{declared}{named}(assert {body})\n"
    *equations, formula = z3.parse_smt2_string(text, ctx=ctx)
    if not args:
        return formula
    pairs = []
    for equation, arg in zip(equations, args):
        constant = equation.arg(0)
        value = constant.sort().cast(arg)
        if value.sort() != constant.sort():
            raise TypeError(f"{arg} is of sort {value.sort()}, not {constant.sort()}")
        pairs.append((constant, value))
    return z3.substitute(formula, *pairs)


def is_true(preamble: str, formula: str) -> bool:
    """Whether a formula without free constants is true."""
    ctx = z3.Context()
    solver = z3.Solver(ctx=ctx)
    try:
        solver.from_string(f"{preamble}\n(assert {formula})\n")
    except z3.Z3Exception as error:
        raise ValueError(f"Z3 cannot read {formula}: {error}") from error
    result = solver.check()
    if result == z3.unknown:
        raise ArithmeticError(f"Z3 cannot tell whether {formula} holds: {solver.reason_unknown()}")
    return result == z3.sat
