"""Solving and checking."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterable, Mapping
from typing import Any, Protocol, Union

from . import _native
from ._answers import Answer, Check, Model, Refutation
from ._errors import InputError
from ._program import run_jobs

_LOG = logging.getLogger("alphorn")


class Event(Protocol):
    """What can tell a run to stop: an event of :mod:`threading`, say."""

    def is_set(self) -> bool: ...


#: Text, a path, a ``z3.Fixedpoint``, a ``z3.Solver``, or assertions of z3py in a list.
Problem = Any


def solve(
    problem: Problem = None,
    *,
    text: str | bytes | None = None,
    path: str | os.PathLike[str] | None = None,
    query: Any = None,
    timeout: float | None = None,
    memory: int | None = None,
    deterministic: bool = False,
    engine: str = "auto",
    without: str | Iterable[str] = (),
    passes: str | Iterable[str] | None = None,
    settings: Mapping[str, object] | Iterable[str] = (),
    plain_model: bool = False,
    certificate: bool = False,
    cache: str | os.PathLike[str] | None = None,
    stop: Event | None = None,
    jobs: int = 1,
) -> Answer:
    """Decides constrained Horn clauses.

    ``problem`` is one of

    - a ``str``: text if it begins with ``(`` or ``;`` or has a line break, else a path (``text=`` and
      ``path=`` say which), an ``os.PathLike`` or ``bytes`` of text;
    - a list of z3py assertions, or a ``z3.Solver`` with some: quantified Horn clauses;
    - a ``z3.Fixedpoint``, with ``query=`` an expression or a relation, as its own ``query`` takes it.

    ``timeout`` is in seconds. ``memory`` is in MiB, and says how much more memory than at the
    beginning the process may have in use, other threads of it included. ``stop`` is an event: set in
    another thread, it ends the run. So does Ctrl-C, with ``KeyboardInterrupt``. A run that was told to
    stop is looked at every 20 ms, and given three seconds to end; then the call returns, and
    its thread ends when it can. With ``deterministic`` the timeout counts work in place of
    time, and the answer is the same on any machine.

    ``engine``, ``without``, ``passes`` and ``settings`` are the options of the program
    (``settings`` also as ``{"ENGINE.NAME": value}``). With ``plain_model`` a model that needs recursive
    functions is no answer. With ``certificate`` the answer has a
    :attr:`~Answer.certificate`. ``cache`` is a folder in which answers are kept, and used by later
    runs on the same clauses or similar ones, as far as they still hold.

    With ``jobs`` above 1 the program ``alphorn`` of the package runs that many members of its portfolio,
    each a process, with the default strategy; then ``memory`` bounds these processes.

    Raises :class:`InputError` for a problem that cannot be read, ``ValueError`` for an option that
    means nothing, ``OSError`` for a file or folder that cannot be had, and :class:`Defect` for a crash.

    >>> import alphorn
    >>> answer = alphorn.solve('''
    ...     (set-logic HORN)
    ...     (declare-fun Loop (Int Int) Bool)
    ...     (assert (forall ((x Int) (y Int)) (=> (and (= x 0) (= y 0)) (Loop x y))))
    ...     (assert (forall ((x Int) (y Int)) (=> (Loop x y) (Loop (+ x 1) (+ y 2)))))
    ...     (assert (forall ((x Int) (y Int)) (=> (and (Loop x y) (< y x)) false)))
    ...     (check-sat)''', timeout=60)
    >>> answer.verdict, answer.safe
    ('sat', True)
    >>> answer.model["Loop"].holds(2, 4), answer.model["Loop"].holds(2, 1)
    (True, False)

    The same with z3py:

    >>> from z3 import *
    >>> x, y = Ints("x y")
    >>> Loop = Function("Loop", IntSort(), IntSort(), BoolSort())
    >>> answer = alphorn.solve([
    ...     Loop(0, 0),
    ...     ForAll([x, y], Implies(Loop(x, y), Loop(x + 1, y + 2))),
    ...     ForAll([x, y], Implies(And(Loop(x, y), x == 2), y == 4)),
    ... ], timeout=60)
    >>> answer.verdict
    'sat'
    """
    content, shown, source = _read(problem, text, path, query)
    if isinstance(settings, Mapping):
        settings = [f"{name}={_setting(value)}" for name, value in settings.items()]
    if isinstance(jobs, bool) or not isinstance(jobs, int):
        raise TypeError(f"jobs are a whole number, not {jobs!r}")
    if jobs < 1:
        raise ValueError("at least one job is needed")
    try:
        if jobs > 1:
            if deterministic or engine != "auto" or without or passes is not None or settings:
                raise ValueError(
                    "an engine, without=, passes=, settings= and deterministic= are for one job"
                )
            limits = _limits(timeout, memory, stop)
            folder = None if cache is None else os.fspath(cache)
            run = run_jobs(
                content,
                jobs,
                limits["timeout"],
                limits["memory"],
                plain_model,
                certificate,
                folder,
                stop,
            )
            return Answer(run, shown, source)
        run = _native.solve(
            content,
            deterministic=bool(deterministic),
            engine=engine,
            without=_names(without),
            passes=None if passes is None else ",".join(_names(passes)) or "none",
            settings=_strings("settings", settings),
            plain_model=bool(plain_model),
            certificate=bool(certificate),
            cache=None if cache is None else os.fspath(cache),
            **_limits(timeout, memory, stop),
        )
    except InputError as error:
        error.text = shown
        raise
    _tell(run.messages)
    return Answer(run, shown, source)


def check(
    problem: Problem = None,
    witness: Answer | Model | Refutation | str | os.PathLike[str] | None = None,
    *,
    text: str | bytes | None = None,
    path: str | os.PathLike[str] | None = None,
    query: Any = None,
    timeout: float | None = None,
    memory: int | None = None,
    deterministic: bool = False,
    stop: Event | None = None,
) -> Check:
    """Checks a model or a refutation, from any source, against a problem, with no engine and no pass
    involved.

    ``problem`` and the limits are those of :func:`solve`. ``witness`` is an answer or its model or
    refutation, or what a solver printed: text, or a path of a file with it. Raises
    :class:`WitnessError` if it cannot be read.

    >>> import alphorn
    >>> text = '''(set-logic HORN)
    ...     (declare-fun P (Int) Bool)
    ...     (assert (forall ((x Int)) (=> (> x 3) (P x))))
    ...     (assert (forall ((x Int)) (=> (and (P x) (< x 0)) false)))
    ...     (check-sat)'''
    >>> alphorn.check(text, "sat ((define-fun P ((x Int)) Bool (> x 2)))").outcome
    'valid'
    >>> alphorn.check(text, "sat ((define-fun P ((x Int)) Bool (> x 4)))").outcome
    'invalid'
    """
    content, shown, _ = _read(problem, text, path, query)
    if isinstance(witness, Answer):
        if witness.model is None and witness.refutation is None:
            raise ValueError("an answer without a witness")
        claim = str(witness)
    elif isinstance(witness, (Model, Refutation)):
        claim = str(witness)
    elif isinstance(witness, (str, os.PathLike)):
        read = _bytes(witness, "witness")[0]
        try:
            claim = read.decode()
        except UnicodeDecodeError:
            from ._errors import WitnessError

            raise WitnessError("this is not UTF-8 text") from None
    else:
        raise TypeError(f"no witness: {witness!r}")
    try:
        outcome, reason, messages = _native.check(
            content,
            claim,
            deterministic=bool(deterministic),
            **_limits(timeout, memory, stop),
        )
    except InputError as error:
        error.text = shown
        raise
    _tell(messages)
    return Check(outcome, reason)


def _read(
    problem: Problem,
    text: str | bytes | None,
    path: str | os.PathLike[str] | None,
    query: Any,
) -> tuple[bytes, str, str]:
    """The problem's bytes, the same as text, and where they are from."""
    if [problem, text, path].count(None) != 2:
        raise TypeError("a problem is needed: one, or text=, or path=")
    if text is not None:
        problem = text.encode() if isinstance(text, str) else text
        if not isinstance(problem, bytes):
            raise TypeError(f"text= takes a str or bytes, not {text!r}")
    if path is not None:
        problem = _Path(path)
    if isinstance(problem, (str, bytes, os.PathLike)):
        if query is not None:
            raise TypeError("query= is for a z3.Fixedpoint")
        content, source = _bytes(problem, "text")
        # As the program does, for files in the formats gzip and xz.
        content = _native.decompressed(content)
        return content, content.decode(errors="replace"), source
    # What z3py made cannot be there without it.
    if "z3" in sys.modules or isinstance(problem, (list, tuple)):
        from . import _z3

        if _z3.is_problem(problem):
            shown = _z3.to_text(problem, query)
            return shown.encode(), shown, "z3"
    raise TypeError(f"no problem: {problem!r}")


class _Path(os.PathLike):  # type: ignore[type-arg]
    """A path that is one, whatever it looks like."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fspath(path)

    def __fspath__(self) -> str:
        return self._path


def _bytes(given: str | bytes | os.PathLike[str], name: str) -> tuple[bytes, str]:
    """What is in a file or is a text, and where it is from."""
    if isinstance(given, bytes):
        return given, name
    if isinstance(given, str) and _is_text(given):
        return given.encode(errors="surrogatepass"), name
    with open(given, "rb") as file:
        return file.read(), os.fspath(given)


def _is_text(text: str) -> bool:
    begin = text.lstrip()
    return not begin or begin[0] in "(;" or "\n" in text or text.startswith(("sat ", "unsat "))


def _names(names: str | Iterable[str]) -> list[str]:
    if isinstance(names, str):
        names = names.split(",")
    return [name.strip() for name in _strings("names", names) if name.strip()]


def _strings(what: str, values: Iterable[str]) -> list[str]:
    found = [values] if isinstance(values, str) else list(values)
    for value in found:
        if not isinstance(value, str):
            raise TypeError(f"{what} are strings, not {value!r}")
    return found


def _setting(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _limits(timeout: float | None, memory: int | None, stop: Event | None) -> dict[str, Any]:
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float, type(None))):
        raise TypeError(f"a time limit is a number of seconds, not {timeout!r}")
    if isinstance(memory, bool) or not isinstance(memory, (int, type(None))):
        raise TypeError(f"a memory limit is a whole number of MiB, not {memory!r}")
    if memory is not None and memory <= 0:
        raise ValueError("a memory limit is positive")
    if stop is not None and not callable(getattr(stop, "is_set", None)):
        raise TypeError(f"stop= takes an event, with a method is_set, not {stop!r}")
    level = min(_LOG.getEffectiveLevel(), 255)
    return {"timeout": timeout, "memory": memory, "stop": stop, "level": level}


def _tell(messages: list[tuple[int, str, str]]) -> None:
    """Hands over what was logged, when the run is over."""
    for level, target, text in messages:
        logging.getLogger(target).log(level, "%s", text)
