"""The exceptions of the package."""

from __future__ import annotations


class InputError(ValueError):
    """A problem that cannot be read, with the place of what is wrong.

    >>> import alphorn
    >>> try:
    ...     alphorn.solve("(set-logic HORN)\\n(assert (P 1))\\n(check-sat)")
    ... except alphorn.InputError as error:
    ...     print(error.line, error.column, error.message)
    2 10 `P` is not declared
    """

    #: What is wrong.
    message: str
    #: From 1; ``None`` if the problem did not get as far as a text.
    line: int | None
    #: From 1, in characters.
    column: int | None
    #: What was read; of z3 expressions the text that was made of them.
    text: str | None

    def __init__(
        self, message: str, line: int | None = None, column: int | None = None
    ) -> None:
        super().__init__(message, line, column)
        self.message = message
        self.line = line
        self.column = column
        self.text = None

    def __str__(self) -> str:
        if self.line is None:
            return self.message
        return f"line {self.line} column {self.column}: {self.message}"


class WitnessError(ValueError):
    """A model or a refutation that cannot be read."""


class Defect(RuntimeError):
    """A mistake of alphorn's own, which its developers want to know about."""
