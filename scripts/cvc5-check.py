#!/usr/bin/env python3
"""Runs an SMT-LIB script (a file, or standard input) through cvc5.

Usage: cvc5-check.py [FILE]

The cvc5 package has no command-line program, only Python bindings. This
executes the script's commands and prints what they print (for check-sat: sat,
unsat or unknown). Exits with status 1, and the message on standard error, when
the script does not parse or a command fails.

Needs the package cvc5: scripts/setup --test installs it into third_party/py,
so run this with third_party/py/bin/python.
"""

import sys

import cvc5


def run(text, name):
    """Executes all commands; returns the message of the first error, if any."""
    manager = cvc5.TermManager()
    solver = cvc5.Solver(manager)
    symbols = cvc5.SymbolManager(manager)
    parser = cvc5.InputParser(solver, symbols)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, name)
    while True:
        command = parser.nextCommand()
        if command.isNull():
            return None
        # A failed command does not raise: it answers (error "...").
        answer = command.invoke(solver, symbols)
        if answer.startswith("(error"):
            return answer.strip()
        print(answer, end="", flush=True)
        if command.getCommandName() == "exit":
            return None


def main():
    if len(sys.argv) > 2 or sys.argv[1:2] in (["-h"], ["--help"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        if len(sys.argv) == 2:
            name = sys.argv[1]
            with open(name, encoding="utf-8") as file:
                text = file.read()
        else:
            name = "standard input"
            text = sys.stdin.read()
        error = run(text, name)
    except (OSError, UnicodeError, RuntimeError) as exception:
        error = str(exception).strip()
    if error is not None:
        print(f"cvc5-check: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
