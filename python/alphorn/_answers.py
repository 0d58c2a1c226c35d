"""What comes out of a run: an answer, with a model or a refutation."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Union, cast, overload

from . import _native
from ._sexpr import elements, parts, unquoted
from ._values import Value, from_text, to_text

if TYPE_CHECKING:
    from . import _z3

#: A verdict, as the program prints it.
Verdict = Literal["sat", "unsat", "unknown"]

#: Names of places in a notebook must not meet.
_COUNTER = itertools.count(1)


@dataclass(frozen=True)
class Definition:
    """What a model says of a predicate: a formula over parameters.

    >>> import alphorn
    >>> answer = alphorn.solve('''
    ...     (set-logic HORN)
    ...     (declare-fun P (Int) Bool)
    ...     (assert (forall ((x Int)) (=> (> x 3) (P x))))
    ...     (assert (forall ((x Int)) (=> (and (P x) (< x 0)) false)))
    ...     (check-sat)''')
    >>> definition = answer.model["P"]
    >>> definition.sorts
    ('Int',)
    >>> definition.holds(4), definition.holds(-1)
    (True, False)
    """

    #: The predicate's name, without bars.
    name: str
    #: Names of parameters with their sorts, as SMT-LIB writes them.
    parameters: tuple[tuple[str, str], ...]
    #: The formula in SMT-LIB.
    body: str
    #: The whole command ``(define-fun …)``.
    smtlib: str
    #: Declarations of sorts and definitions of functions that the formula may use.
    _preamble: _z3.Preamble = field(repr=False, compare=False)

    @property
    def sorts(self) -> tuple[str, ...]:
        """The sorts of the parameters."""
        return tuple(sort for _, sort in self.parameters)

    def __str__(self) -> str:
        return self.smtlib

    def to_z3(self, *args: Any, ctx: Any = None) -> Any:
        """The formula as a z3py expression: over ``args``, or else over constants with the names of
        the parameters.

        >>> import alphorn, z3
        >>> model = alphorn.solve("(set-logic HORN) (declare-fun P (Int) Bool)"
        ...     "(assert (forall ((x Int)) (=> (= x 3) (P x))))"
        ...     "(assert (forall ((x Int)) (=> (and (P x) (> x 4)) false))) (check-sat)").model
        >>> x = z3.Int("x")
        >>> solver = z3.Solver()
        >>> solver.add(z3.Not(z3.Implies(x == 3, model["P"].to_z3(x))))
        >>> solver.check()
        unsat
        """
        return self._preamble.expression(self.parameters, self.body, args, ctx)

    def holds(self, *values: Value) -> bool:
        """Whether the formula is true of these values. A ``str`` is a term of SMT-LIB. Raises
        ArithmeticError if Z3 cannot tell."""
        from . import _z3

        if len(values) != len(self.parameters):
            raise TypeError(f"{self.name} has {len(self.parameters)} arguments")
        pairs = zip(self.parameters, values)
        bindings = [f"({name} {to_text(value, sort)})" for (name, sort), value in pairs]
        formula = f"(let ({' '.join(bindings)}) {self.body})" if bindings else self.body
        return _z3.is_true(self._preamble.text(), formula)


class Model(Mapping[str, Definition]):
    """A formula for each predicate, by name, under which all clauses hold: the invariants of a safe
    program."""

    def __init__(self, run: _native.Run) -> None:
        #: The model as the program prints it.
        self.smtlib: str = run.model
        begin, end = next(elements(self.smtlib))
        #: What certifies recursive functions, line by line; empty where there are none.
        self.certificate: tuple[str, ...] = tuple(self.smtlib[end:].split("\n")[1:-1])
        commands = parts(self.smtlib, begin)
        functions = [c for c in commands if not c.startswith("(define-fun ")]
        #: Definitions of recursive functions that the formulas use.
        self.functions: tuple[str, ...] = tuple(functions)
        from . import _z3

        preamble = _z3.Preamble(run.sorts, functions)
        self._definitions: dict[str, Definition] = {}
        for command in commands[len(functions) :]:
            _, symbol, parameters, _, body = parts(command)
            pairs = [parts(pair) for pair in parts(parameters)]
            name = unquoted(symbol)
            self._definitions[name] = Definition(
                name, tuple((p[0], p[1]) for p in pairs), body, command, preamble
            )

    def __getitem__(self, name: str) -> Definition:
        return self._definitions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._definitions)

    def __len__(self) -> int:
        return len(self._definitions)

    def __str__(self) -> str:
        return self.smtlib

    def __repr__(self) -> str:
        return f"<alphorn.Model of {', '.join(self._definitions)}>"


@dataclass(frozen=True)
class Step:
    """An instance of a clause: from the facts of its premises follows a fact."""

    #: From 1.
    number: int
    #: What is derived; ``None`` is ``false``.
    predicate: str | None
    #: Of which values.
    values: tuple[Value, ...]
    #: The number of the clause's assertion (or rule, or query) in the text, from 1.
    clause: int
    #: Which clause of that assertion, from 1.
    part: int
    #: The line of that assertion.
    line: int
    #: The values of the clause's variables.
    variables: Mapping[str, Value]
    #: Numbers of the steps before it that derive the clause's atoms.
    premises: tuple[int, ...]
    #: The step in a line.
    text: str = field(repr=False)

    def __str__(self) -> str:
        return self.text


class Refutation(Sequence[Step]):
    """A derivation of ``false`` in steps, premises first: the run of an unsafe program.

    >>> import alphorn
    >>> answer = alphorn.solve('''
    ...     (set-logic HORN)
    ...     (declare-fun P (Int) Bool)
    ...     (assert (P 3))
    ...     (assert (forall ((x Int)) (=> (and (P x) (> x 2)) false)))
    ...     (check-sat)''')
    >>> print(answer.refutation.text, end="")
    1: P(3) by clause 1
    2: false by clause 2 [x = 3] from 1
    >>> step = answer.refutation[1]
    >>> step.predicate, step.variables, step.premises
    (None, {'x': 3}, (1,))
    """

    def __init__(self, run: _native.Run) -> None:
        #: The steps as the program prints them.
        self.text: str = run.refutation_text
        #: The same as JSON.
        self.json: str = run.refutation_json
        steps = json.loads(self.json)["refutation"]
        # A step may have several lines, since a quoted symbol may: it ends where the next begins.
        lines, at = [], 0
        for step in steps:
            end = self.text.find(f"\n{step['step'] + 1}: ", at)
            end = len(self.text) - 1 if end < 0 else end
            lines.append(self.text[at:end])
            at = end + 1
        self._steps = tuple(_step(step, line) for step, line in zip(steps, lines))

    @overload
    def __getitem__(self, index: int) -> Step: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Step, ...]: ...

    def __getitem__(self, index: Union[int, slice]) -> Union[Step, tuple[Step, ...]]:
        return self._steps[index]

    def __len__(self) -> int:
        return len(self._steps)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<alphorn.Refutation of {_count(len(self._steps), 'step')}>"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _step(step: dict[str, Any], line: str) -> Step:
    fact = step["fact"]
    return Step(
        number=step["step"],
        predicate=fact["predicate"] if fact else None,
        values=tuple(map(from_text, fact["arguments"])) if fact else (),
        clause=step["clause"],
        part=step["part"],
        line=step["line"],
        variables={v["variable"]: from_text(v["value"]) for v in step["values"]},
        premises=tuple(step["premises"]),
        text=line,
    )


class Answer:
    """An answer that has been checked against the text, or ``unknown``.

    In a notebook it shows the dependency graph with the invariants, or with the derivation.
    """

    def __init__(self, run: _native.Run, text: str, source: str) -> None:
        self._run = run
        self._source = source
        #: The problem's text; of z3 expressions what was made of them.
        self.text: str = text
        #: ``"sat"``, ``"unsat"`` or ``"unknown"``, as the program prints it. In the fixedpoint dialect
        #: ``"sat"`` means that the query is reachable, as with Z3; :attr:`safe` is the same in both.
        self.verdict: Verdict = cast(Verdict, run.verdict)
        #: Whether the clauses have a model: the program is safe. ``None`` for ``unknown``.
        self.safe: bool | None = run.satisfiable
        #: Why the verdict is ``unknown``: ``timeout``, ``memout``, ``interrupted``,
        #: ``incomplete: …`` or ``defect: …``; else ``None``.
        self.reason: str | None = run.reason
        #: The model, if the clauses have one.
        self.model: Model | None = Model(run) if run.satisfiable else None
        #: The derivation of ``false``, if the clauses have no model.
        self.refutation: Refutation | None = (
            Refutation(run) if run.satisfiable is False else None
        )
        #: An SMT-LIB script that any solver can confirm, if one was asked for and there is one.
        self.certificate: str | None = run.certificate
        #: Counts and times (in seconds) by name.
        self.stats: dict[str, int | float] = run.stats()
        self.stats["total.seconds"] = run.total

    def __bool__(self) -> bool:
        raise TypeError("an answer is neither true nor false: ask for its verdict, or whether it is safe")

    def __str__(self) -> str:
        """The verdict and the witness, as the program prints them."""
        witness = self.model if self.refutation is None else self.refutation
        if witness is None:
            return f"{self.verdict}\n; {self.reason}\n"
        return f"{self.verdict}\n{witness}"

    def __repr__(self) -> str:
        if self.model is not None:
            what = f"a model of {_count(len(self.model), 'predicate')}"
        elif self.refutation is not None:
            what = f"a refutation of {_count(len(self.refutation), 'step')}"
        else:
            what = self.reason or ""
        return f"<alphorn.Answer {self.verdict}: {what}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._run.content, self._run.state(), self.text, self._source)

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain data, the same as ``alphorn --output=json`` prints; the schema is
        ``docs/src/answer.schema.json`` of the project.

        >>> import alphorn
        >>> answer = alphorn.solve("(set-logic HORN) (declare-fun P (Int) Bool) (assert (P 3))"
        ...     "(assert (forall ((x Int)) (=> (and (P x) (> x 2)) false))) (check-sat)")
        >>> found = answer.to_dict()
        >>> found["verdict"], found["witness"]["kind"], len(found["witness"]["steps"])
        ('unsat', 'refutation', 2)
        """
        found: dict[str, Any] = json.loads(self._run.record(self._source))
        return found

    def explain(self) -> str:
        """What the answer means, in words: the invariants conjunct by conjunct, or the run step by step,
        with the names that the clauses have for arguments.

        >>> import alphorn
        >>> print(alphorn.solve('''(set-logic HORN)
        ...     (declare-fun Loop (Int) Bool)
        ...     (assert (forall ((n Int)) (=> (= n 0) (Loop n))))
        ...     (assert (forall ((n Int)) (=> (Loop n) (Loop (+ n 2)))))
        ...     (assert (forall ((n Int)) (=> (and (Loop n) (= n 4)) false)))
        ...     (check-sat)''').explain(), end="")
        Unsafe: this run violates the query of line 5.
          1. Loop(n = 0) (line 3)
          2. Loop(n = 2) (line 4, from 1)
          3. Loop(n = 4) (line 4, from 2)
          4. the query holds (line 5, from 3)
        """
        return self._run.explain()

    def html(self) -> str:
        """A page that explains the answer: what it means in words, the invariants or the derivation, the
        dependency graph, passes, engines and times. It is one file that needs nothing else."""
        return self._run.html(self._source)

    def _repr_html_(self) -> str:
        return self._run.html(self._source, f"alphorn-{next(_COUNTER)}-")


def _restored(content: bytes, state: str, text: str, source: str) -> Answer:
    """The answer that was pickled."""
    return Answer(_native.Run.from_state(content, state), text, source)


@dataclass(frozen=True)
class Check:
    """What the check of a witness says; true if the witness is valid."""

    #: ``"valid"``, ``"invalid"`` or ``"unknown"``.
    outcome: str
    #: Why it is not valid.
    reason: str | None

    def __bool__(self) -> bool:
        return self.outcome == "valid"
