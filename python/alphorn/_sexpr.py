"""S-expressions of SMT-LIB in a text: where they begin and end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_TOKEN = re.compile(r'\s+|;[^\n]*|\|[^|]*\||"(?:[^"]|"")*"|[()]|[^\s()|";]+')


def elements(text: str, start: int = 0) -> Iterator[tuple[int, int]]:
    """The range of each expression from ``start`` on, up to a ``)`` that closes no ``(`` after it.

    >>> text = "(a |b )|) c"
    >>> [text[start:end] for start, end in elements(text)]
    ['(a |b )|)', 'c']
    """
    depth, begin, at = 0, start, start
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"no S-expression at character {at}")
        at = match.end()
        first = text[match.start()]
        if first.isspace() or first == ";":
            continue
        if depth == 0:
            if first == ")":
                return
            begin = match.start()
        depth += {"(": 1, ")": -1}.get(first, 0)
        if depth == 0:
            yield begin, at
    if depth > 0:
        raise ValueError("an S-expression that does not end")


def parts(text: str, start: int = 0) -> list[str]:
    """The expressions of a list whose ``(`` is at ``start``.

    >>> parts("(f (x y) z)")
    ['f', '(x y)', 'z']
    """
    if text[start : start + 1] != "(":
        raise ValueError("no list")
    return [text[begin:end] for begin, end in elements(text, start + 1)]


def symbols(text: str) -> Iterator[str]:
    """All tokens but parentheses and strings."""
    for match in _TOKEN.finditer(text):
        token = match[0]
        if not token.isspace() and token[0] not in '();"':
            yield token


def renamed(text: str, names: Mapping[str, str]) -> str:
    """The text with other names in the place of some.

    >>> renamed('(List |List| "List" Lists)', {"List": "L"})
    '(L L "List" Lists)'
    """

    def other(match: re.Match[str]) -> str:
        return names.get(unquoted(match[0]), match[0])

    return _TOKEN.sub(other, text)


def unquoted(symbol: str) -> str:
    """A symbol without its bars."""
    if len(symbol) >= 2 and symbol[0] == symbol[-1] == "|":
        return symbol[1:-1]
    return symbol
