#!/usr/bin/env python3
"""Runs an SMT-LIB script (a file, or standard input) through cvc5.

Usage: cvc5-check.py [FILE] [--proofs FOLDER]

The cvc5 package has no command-line program, only Python bindings. This
executes the script's commands and prints what they print (for check-sat: sat,
unsat or unknown). Exits with status 1, and the message on standard error, when
the script does not parse or a command fails.

With --proofs, cvc5 also proves each `unsat`, checks its proof step by step, and
writes it to FOLDER/check-N.cpc, N counting the checks from 1: a proof in the
Cooperating Proof Calculus, which the checker Ethos reads.

Needs the package cvc5: scripts/setup --test installs it into third_party/py,
so run this with third_party/py/bin/python.
"""

import re
import sys
from pathlib import Path

import cvc5


def run(text, name, proofs):
    """Executes all commands; returns the message of the first error, if any."""
    manager = cvc5.TermManager()
    solver = cvc5.Solver(manager)
    # Constant arrays need it; elsewhere, with quantifiers, it may go on without end.
    if re.search(r"\(\s*as\s+const\b", text):
        solver.setOption("arrays-exp", "true")
    if proofs is not None:
        for option in ("produce-proofs", "check-proofs"):
            solver.setOption(option, "true")
        proofs.mkdir(parents=True, exist_ok=True)
    checks = 0
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
        checks += command.getCommandName() == "check-sat"
        if proofs is not None and command.getCommandName() == "check-sat" and answer.strip() == "unsat":
            (proof,) = solver.getProof()
            written = solver.proofToString(proof, cvc5.ProofFormat.CPC)
            (proofs / f"check-{checks}.cpc").write_bytes(written)
        if command.getCommandName() == "exit":
            return None


def main():
    words = sys.argv[1:]
    proofs = None
    if "--proofs" in words[:-1]:
        at = words.index("--proofs")
        proofs = Path(words[at + 1])
        del words[at:at + 2]
    if len(words) > 1 or words[:1] in (["-h"], ["--help"], ["--proofs"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        if words:
            name = words[0]
            with open(name, encoding="utf-8") as file:
                text = file.read()
        else:
            name = "standard input"
            text = sys.stdin.read()
        error = run(text, name, proofs)
    except (OSError, UnicodeError, RuntimeError) as exception:
        error = str(exception).strip()
    if error is not None:
        print(f"cvc5-check: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
