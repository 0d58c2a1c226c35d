"""Values between Python and SMT-LIB."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Union

from ._sexpr import parts

#: ``Bool`` is ``bool``, ``Int`` is ``int``, ``Real`` is ``Fraction``, a bit-vector is the ``int`` that
#: it is without a sign, anything else the text of an SMT-LIB term.
Value = Union[bool, int, Fraction, str]

_WORD = re.compile(r"\(_ BitVec ([0-9]+)\)")


def from_text(text: str) -> Value:
    """The value that a term is; terms of other sorts stay as they are.

    >>> [from_text(t) for t in ["true", "(- 3)", "#x0f", "(- (/ 1.0 3.0))", "(cons 1 nil)"]]
    [True, -3, 15, Fraction(-1, 3), '(cons 1 nil)']
    """
    if text in ("true", "false"):
        return text == "true"
    if text.startswith(("#x", "#b")):
        return int("0" + text[1:], 0)
    number = _number(text)
    return text if number is None else number


def _number(text: str) -> int | Fraction | None:
    if text[:1].isdigit():
        return Fraction(text) if "." in text else int(text)
    if text.startswith(("(- ", "(/ ")):
        operator, *operands = parts(text)
        numbers = [_number(operand) for operand in operands]
        if operator == "-" and len(numbers) == 1 and numbers[0] is not None:
            return -numbers[0]
        if operator == "/" and len(numbers) == 2 and None not in numbers:
            return Fraction(*map(Fraction, numbers))  # type: ignore[arg-type]
    return None


def to_text(value: object, sort: str) -> str:
    """A value as a term of a sort; a ``str`` is a term already.

    >>> to_text(-3, "Int"), to_text(255, "(_ BitVec 8)"), to_text(Fraction(1, 3), "Real")
    ('(- 3)', '(_ bv255 8)', '(/ 1.0 3.0)')
    """
    if isinstance(value, str):
        return value
    if sort == "Bool" and isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and not isinstance(value, bool):
        if sort == "Int":
            return str(value) if value >= 0 else f"(- {-value})"
        word = _WORD.fullmatch(sort)
        if word is not None:
            width = int(word[1])
            if not -(1 << width) // 2 <= value < 1 << width:
                raise ValueError(f"{value} does not fit into {width} bits")
            return f"(_ bv{value % (1 << width)} {width})"
    if sort == "Real" and isinstance(value, (int, Fraction)) and not isinstance(value, bool):
        number = Fraction(value)
        size = f"(/ {abs(number.numerator)}.0 {number.denominator}.0)"
        return size if number >= 0 else f"(- {size})"
    raise TypeError(f"{value!r} is no value of sort {sort}")
