"""alphorn, a solver for constrained Horn clauses.

:func:`solve` takes text, a file or what was made with z3py, and gives an :class:`Answer` that has been
checked: with a :class:`Model` (the invariants of a safe program) or a :class:`Refutation` (the run of
an unsafe one). :func:`check` checks witnesses from anywhere.

>>> import alphorn
>>> answer = alphorn.solve('''
...     (set-logic HORN)
...     (declare-fun P (Int) Bool)
...     (assert (P 0))
...     (assert (forall ((x Int)) (=> (P x) (P (+ x 2)))))
...     (assert (forall ((x Int)) (=> (and (P x) (= x 6)) false)))
...     (check-sat)''', timeout=60)
>>> answer.verdict
'unsat'
>>> [step.values for step in answer.refutation]
[(0,), (2,), (4,), (6,), ()]

Runs of several threads do not wait for each other: the interpreter's lock is not held. A fault inside of
libz3, such as an overflown stack, ends the process; where that must not be, run the program
``alphorn`` in its place.
"""

from __future__ import annotations

import atexit

from ._library import Z3_VERSION, load

# The native module names libz3 as a library that it needs: it must be there before.
_LIBZ3 = load()

from . import _native  # noqa: E402
from ._answers import Answer, Check, Definition, Model, Refutation, Step  # noqa: E402
from ._errors import Defect, InputError, WitnessError  # noqa: E402
from ._solve import check, solve  # noqa: E402
from ._values import Value  # noqa: E402

if _native.z3_version() != ".".join(Z3_VERSION.split(".")[:3]):
    raise ImportError(
        f"alphorn needs libz3 {Z3_VERSION}, but {_native.z3_version()} was loaded before it by"
        " something else"
    )

__version__: str = _native.VERSION

# Runs that are under way must not be there when libz3 is torn down.
atexit.register(_native.stop_all, 5.0)


def list_passes() -> str:
    """The passes that ``passes=`` takes, with what they do."""
    return _native.list_passes()


def list_settings() -> str:
    """What ``settings=`` takes, with defaults, ranges and sources."""
    return _native.list_settings()


__all__ = [
    "Answer",
    "Check",
    "Defect",
    "Definition",
    "InputError",
    "Model",
    "Refutation",
    "Step",
    "Value",
    "WitnessError",
    "Z3_VERSION",
    "check",
    "list_passes",
    "list_settings",
    "solve",
]
