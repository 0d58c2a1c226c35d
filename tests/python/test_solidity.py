"""Solidity's compiler with alphorn as its solver, end to end, and the stand-in for `z3` and `eld`.

The contracts are in tests/solidity/contracts. A line `// targets: …` says what is checked, else
assertions are; a comment `// expect: safe` or `// expect: unsafe` ends each line with a target.
With ALPHORN_CONTRACTS=1, the large ones are checked, too.
"""

import json
import os
import re
import signal
import subprocess
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from common import ROOT, Folder

FOLDER = ROOT / "tests/solidity"
CONTRACTS = sorted((FOLDER / "contracts").glob("*.sol"))
MODULES = ROOT / "third_party/npm/node_modules"
STAND_IN = ROOT / "scripts/solidity/stand-in"
BIN = ROOT / "scripts/solidity/bin"
SOLC = ROOT / "scripts/solidity/solc.js"
CHECK = ROOT / "scripts/solidity/check"
# Each query of these takes seconds, so they are compiled on request only.
LARGE = [
    "Accounts", "Auction", "Ballot", "Coin", "Deeds", "Escrow", "Grid", "Ring", "Scores", "Vesting",
]
# What `eld` is asked, too; all other contracts go to `z3`.
FOR_ELD = ["Counter", "Faults", "Inheritance", "Owned", "Phases", "Reentrancy"]


def environment(**more):
    """The program under test stands for `z3` and `eld`; one job, as two contracts run at a time."""
    alphorn = os.path.abspath(os.environ.get("ALPHORN") or ROOT / "target/release/alphorn")
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    own = {"PATH": path, "ALPHORN": alphorn, "ALPHORN_OPTIONS": "--jobs 1"}
    return {**os.environ, **own, "ALPHORN_NPM": str(MODULES), **more}


class Findings:
    """What the compiler says of a contract's file."""

    def __init__(self, path, solver, options="--jobs 1"):
        source = path.read_text(encoding="utf-8")
        targets = re.search(r"^// targets: (.*)$", source, re.MULTILINE)
        contracts = re.findall(r"^contract (\w+)", source, re.MULTILINE)
        request = {
            "language": "Solidity",
            "sources": {path.name: {"content": source}},
            "settings": {
                "modelChecker": {
                    "engine": "chc",
                    "solvers": [solver],
                    "contracts": {path.name: contracts},
                    "invariants": ["contract", "reentrancy"],
                    "targets": targets[1].split(", ") if targets else ["assert"],
                    "showProvedSafe": True,
                    "showUnproved": True,
                    "timeout": 300_000,
                },
                "outputSelection": {},
            },
        }
        done = subprocess.run(
            ["node", str(SOLC)],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            check=False,
            env=environment(ALPHORN_OPTIONS=options),
        )
        if done.returncode != 0 or done.stderr:
            raise AssertionError(f"{path.name}, {solver}: {done.stderr}")
        self.expected = {
            number: found[1]
            for number, line in enumerate(source.splitlines(), 1)
            if (found := re.search(r"// expect: (\w+)$", line))
        }
        # By line: safe, unsafe, or the message.
        self.found = {}
        self.counterexamples = {}
        # Invariants by kind and contract.
        self.invariants = {}
        for error in json.loads(done.stdout)["errors"]:
            message = error["message"]
            if error["severity"] == "error":
                raise AssertionError(f"{path.name}, {solver}: {message}")
            if message.startswith("CHC: "):
                place = error["sourceLocation"]
                before = source.encode()[: place["start"]] if place["file"] == path.name else b""
                self.tell(before.count(b"\n") + 1, message)
            kinds = r"(Contract invariant|Reentrancy property)\(\w+\) for [\w.]+:(\w+):\n"
            parts = re.split(kinds, message)
            for kind, name, text in zip(parts[1::3], parts[2::3], parts[3::3]):
                self.invariants[kind, name] = text.split("<errorCode> = 0 ->")[0].strip()

    def tell(self, line, message):
        """Takes a verdict; what is said twice of a line has to be the same."""
        verdict = message
        if re.match(r"CHC: .* happens here\.", message):
            verdict = "unsafe"
            self.counterexamples[line] = message
        elif message.endswith(" check is safe!"):
            verdict = "safe"
        if self.found.setdefault(line, verdict) != verdict:
            self.found[line] = f"both {self.found[line]} and {verdict}"

    def counterexample(self, text):
        """The part of a counterexample before the trace, and the trace, of the only one that has
        the text."""
        (found,) = [cex for cex in self.counterexamples.values() if text in cex]
        values, _, trace = found.partition("\n\nTransaction trace:\n")
        return values.partition("Counterexample:\n")[2], trace.splitlines()


@cache
def findings(solver):
    """What the compiler says of all contracts that go to the solver, by name."""
    if not (MODULES / "solc").exists():
        raise AssertionError("Solidity's compiler is missing: run scripts/setup --test")
    all_of_them = bool(os.environ.get("ALPHORN_CONTRACTS"))
    paths = [path for path in CONTRACTS if all_of_them or path.stem not in LARGE]
    paths = [path for path in paths if solver == "z3" or path.stem in FOR_ELD]
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda path: Findings(path, solver), paths)
        return dict(zip([path.stem for path in paths], found))


def holds(invariant, **values):
    """Whether a formula that solc has printed holds of values."""
    text = re.sub(r"!(?!=)", " not ", invariant)
    text = text.replace("&&", " and ").replace("||", " or ").replace("true", "True")
    text = re.sub(r"(?<![<>!=])=(?!=)", "==", text)
    # Lines hold together.
    return all(eval(line, {"__builtins__": {}}, values) for line in text.splitlines())


class Verdicts(unittest.TestCase):
    maxDiff = None

    def check(self, solver):
        for name, found in findings(solver).items():
            with self.subTest(contract=name, solver=solver):
                self.assertEqual(found.found, found.expected)

    def test_as_z3(self):
        self.check("z3")

    def test_as_eld(self):
        # The callback has the reader of solc for Eldarica; it reads no proofs.
        self.check("smtlib2")
        for name, found in findings("smtlib2").items():
            texts = "".join(found.counterexamples.values())
            self.assertNotIn("Counterexample", texts, name)

    def test_what_is_covered(self):
        self.assertGreaterEqual(len(CONTRACTS), 30)
        self.assertLessEqual(set(LARGE), {path.stem for path in CONTRACTS})
        sources = [path.read_text(encoding="utf-8") for path in CONTRACTS]
        self.assertGreaterEqual(sum("@openzeppelin" in source for source in sources), 3)
        for verdict in ("safe", "unsafe"):
            count = sum(f"// expect: {verdict}\n" in source for source in sources)
            self.assertGreaterEqual(count, 12, verdict)


class Counterexamples(unittest.TestCase):
    """What solc prints where an assertion fails: made of our refutations."""

    def test_all_have_one(self):
        for name, found in findings("z3").items():
            for text in found.counterexamples.values():
                with self.subTest(contract=name):
                    self.assertRegex(text, r"happens here\.\nCounterexample:\n")
                    self.assertRegex(text, r"\n\nTransaction trace:\n\w+\.constructor\(")

    def test_values_of_parameters_and_locals(self):
        values, trace = findings("z3")["Loops"].counterexample("notSix")
        self.assertEqual(values, "\nn = 3\nsum = 6")
        self.assertEqual(trace, ["Loops.constructor()", "Loops.notSix(3)"])

    def test_states_follow_from_transactions(self):
        values, trace = findings("z3")["Counter"].counterexample("small")
        self.assertEqual(trace[:2], ["Counter.constructor()", "State: x = 0"])
        x = 0
        for call, state in zip(trace[2:-1:2], trace[3:-1:2], strict=True):
            x = {"Counter.up()": x + 2 if x < 10 else x, "Counter.reset()": 0}.get(call, x)
            self.assertEqual(state, f"State: x = {x}")
        self.assertEqual(trace[-1], "Counter.small()")
        self.assertEqual(values, f"x = {x}")
        self.assertGreaterEqual(x, 6)

    def test_reentrant_calls(self):
        values, trace = findings("z3")["Reentrancy"].counterexample("Careless")
        self.assertRegex(values, r"^paid = ([02-9]|\d\d+), done = true\n")
        synthesized = "    to.receiveCoins(1) -- untrusted external call, synthesized as:"
        self.assertIn(synthesized, trace)
        below = trace[trace.index(synthesized) + 1]
        self.assertRegex(below, r"^        Careless\.pay\(\w+\) -- reentrant call$")

    def test_the_example_of_the_guide(self):
        page = (ROOT / "docs/src/solidity.md").read_text(encoding="utf-8")
        (shown,) = re.findall(r"```\n(CHC: .*?)\n```", page, re.DOTALL)
        path = FOLDER / "contracts/Reentrancy.sol"
        (said,) = Findings(path, "z3", "--deterministic").counterexamples.values()
        self.assertEqual(said, shown)

    def test_internal_calls_of_a_library(self):
        values, trace = findings("z3")["Token"].counterexample("Token.unused")
        self.assertIn("minted = 3, ", values)
        amounts = re.findall(r"^Token\.mint\((\d+)\)", "\n".join(trace), re.MULTILINE)
        self.assertEqual(sum(map(int, amounts)), 3)
        self.assertTrue(any("ERC20._mint(" in line for line in trace), trace)
        self.assertEqual(trace[-1], "Token.unused()")


class Invariants(unittest.TestCase):
    """What solc prints where assertions hold: our models."""

    def invariant(self, solver, name, contract=None, kind="Contract invariant"):
        invariants = findings(solver)[name].invariants
        self.assertIn((kind, contract or name), invariants)
        return invariants[kind, contract or name]

    def test_of_contracts(self):
        for solver in ("z3", "smtlib2"):
            with self.subTest(solver=solver):
                text = self.invariant(solver, "Counter")
                for x in (0, 2, 4, 6, 8, 10):
                    self.assertTrue(holds(text, x=x), (x, text))
                self.assertFalse(holds(text, x=12), text)

                text = self.invariant(solver, "Owned")
                for fee, expected in ((0, True), (100, True), (101, False)):
                    self.assertEqual(holds(text, fee=fee, _owner=1, changed=1), expected, text)

                text = self.invariant(solver, "Inheritance", "Ones")
                for value, expected in ((0, True), (3, True), (4, False)):
                    self.assertEqual(holds(text, value=value, limit=3), expected, text)

    def test_of_reentrancy(self):
        for solver in ("z3", "smtlib2"):
            text = self.invariant(solver, "Reentrancy", "Careful", "Reentrancy property")
            self.assertIn("<errorCode> = 0", text)
            self.assertIn("done", text)


class Npm(Folder):
    """The solver that npm's solc runs by itself: the first of `z3` and `eld` on PATH."""

    def compile(self, name):
        """The messages about Counter.sol with this stand-in only."""
        (self.folder / name).symlink_to(STAND_IN)
        source = (FOLDER / "contracts/Counter.sol").read_text(encoding="utf-8")
        checker = {"engine": "chc", "solvers": ["smtlib2"], "targets": ["assert"]}
        request = {
            "language": "Solidity",
            "sources": {"Counter.sol": {"content": source}},
            "settings": {"modelChecker": {**checker, "showProvedSafe": True}},
        }
        done = subprocess.run(
            ["node", str(MODULES / ".bin/solcjs"), "--standard-json"],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            check=True,
            env=environment(PATH=f"{self.folder}{os.pathsep}{os.environ['PATH']}"),
        )
        errors = json.loads(done.stdout[done.stdout.index("{"):])["errors"]
        return sorted(error["message"] for error in errors)

    def test_z3(self):
        safe, unsafe = self.compile("z3")
        self.assertEqual(safe, "CHC: Assertion violation check is safe!")
        self.assertEqual(unsafe, "CHC: Assertion violation happens here.")

    def test_eld(self):
        safe, unsafe = self.compile("eld")
        self.assertEqual(safe, "CHC: Assertion violation check is safe!")
        self.assertEqual(unsafe, "CHC: Assertion violation happens here.")


HORN = "(set-logic HORN)\n(declare-fun p (Int) Bool)\n(assert (p 0))\n"
SAFE = HORN + "(assert (forall ((x Int)) (=> (and (p x) (> x 0)) false)))\n(check-sat)\n"
UNSAFE = HORN + "(assert (forall ((x Int)) (=> (p x) false)))\n(check-sat)\n"


class StandIn(Folder):
    def run_as(self, name, *words, text="", status=0, **env):
        """The output of the stand-in under a name."""
        done = subprocess.run(
            [str(BIN / name), *words],
            input=text,
            capture_output=True,
            text=True,
            check=False,
            env=environment(**env),
        )
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def script(self, name, body):
        """A script in the folder, its path."""
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    def test_options(self):
        mock = self.script("mock", 'echo "$@"; cat >/dev/null')
        file = self.folder / "query.smt2"
        file.write_text(SAFE, encoding="utf-8")

        def told(name, *words, text=SAFE, **env):
            return self.run_as(name, *words, text=text, ALPHORN=mock, **env).split()

        xform = "fp.xform.slice=false"
        self.assertEqual(told("z3", "-in", "-smt2", ALPHORN_OPTIONS=""), ["-"])
        one = ["--jobs", "1"]
        limited = [*one, "--timeout", "10.000"]
        self.assertEqual(
            told("z3", "-in", "-smt2", "-model", "rlimit=2000000", xform),
            [*limited, "--model", "-"],
        )
        self.assertEqual(told("z3", "-in", "-t:10000", "-T:20"), [*limited, "-"])
        own = told("z3", "-in", "-t:10000", ALPHORN_OPTIONS="--timeout 60 -q")
        self.assertEqual(own, ["--timeout", "60", "-q", "-"])
        self.assertEqual(told("eld", "-hsmt", "-in", "-t:10", "-ssol"), [*limited, "--model", "-"])
        self.assertEqual(told("eld", "-horn", "-t:10", str(file), text=""), [*limited, "-"])
        self.assertEqual(told("z3", "-smt2", "-t:0", str(file), text=""), [*one, "-"])
        proof = "(set-option :produce-proofs true)" + SAFE + "\n(get-proof)"
        self.assertEqual(told("z3", "-in", text=proof), [*one, "--proof=z3", "-"])
        comment = SAFE + "; (get-proof)"
        self.assertEqual(told("z3", "-in", text=comment), [*one, "-"])

    def test_answers(self):
        self.assertEqual(self.run_as("z3", "-in", text=UNSAFE), "unsat\n")
        self.assertEqual(self.run_as("eld", "-in", text=SAFE), "sat\n")
        model = self.run_as("eld", "-in", "-ssol", text=SAFE)
        self.assertRegex(model, r"^sat\n\(\n  \(define-fun p \(\(x!0 Int\)\) Bool .*\)\n\)\n$")
        proof = self.run_as("z3", "-in", text=UNSAFE + "(get-proof)")
        self.assertTrue(proof.startswith("unsat\n((set-logic HORN)\n"), proof)
        self.assertIn("((_ hyper-res 0 0) (asserted $c1) (p 0))", proof)
        self.assertRegex(self.run_as("z3", "--version"), r"^alphorn \d")

    def test_errors(self):
        self.assertIn("(error ", self.run_as("z3", "no-such-file.smt2", status=1))
        self.assertIn("(error ", self.run_as("z3", "-in", "-t:soon", text=SAFE, status=1))
        self.assertIn("(error ", self.run_as("z3", "-in", text=SAFE, status=1, ALPHORN="/no/file"))

    def test_other_logics_are_for_another_solver(self):
        query = "(set-logic ALL)\n; (set-logic HORN)\n(check-sat)\n"
        bare = f"{BIN}{os.pathsep}/usr/bin{os.pathsep}/bin"
        python = os.path.dirname(os.path.realpath(subprocess.check_output(
            ["python3", "-c", "import sys; print(sys.executable)"], text=True).strip()))
        if not os.path.exists(os.path.join(python, "z3")) and not os.path.exists("/usr/bin/z3"):
            path = f"{bare}{os.pathsep}{python}"
            text = self.run_as("z3", "-in", text=query, status=1, PATH=path)
            self.assertRegex(text, r'^\(error "these are no Horn clauses.*"\)\n$')
        self.script("z3", 'echo "real $@"; cat')
        path = f"{bare}{os.pathsep}{self.folder}{os.pathsep}{python}"
        text = self.run_as("z3", "-in", "-t:10", text=query, PATH=path)
        self.assertEqual(text, f"real -in -t:10\n{query}")

    def test_a_signal_ends_the_solver(self):
        # There is no second process that could stay: the solver has the stand-in's own number.
        mock = self.script("mock", 'echo $$; exec sleep 1000')
        process = subprocess.Popen(
            [str(BIN / "z3"), "-in"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(ALPHORN=mock),
        )
        process.stdin.write(SAFE)
        process.stdin.close()
        self.assertEqual(int(process.stdout.readline()), process.pid)
        process.terminate()
        self.assertEqual(process.wait(60), -signal.SIGTERM)
        process.stdout.close()

    def test_a_signal_leaves_an_answer(self):
        # A query that takes long: npm's solc ends the solver and reads what it said.
        hard = "(set-logic HORN)\n(declare-fun p (Int Int Int) Bool)\n(assert (p 1 1 1))\n" + (
            "(assert (forall ((x Int) (y Int) (z Int)) (=> (p x y z)"
            " (p (+ (* y y) z) (+ (* x z) 1) (* x y)))))\n"
            "(assert (forall ((x Int) (y Int) (z Int))"
            " (=> (and (p x y z) (= (* x x x) (+ (* y y z) 12345))) false)))\n(check-sat)\n"
        )
        process = subprocess.Popen(
            [str(BIN / "z3"), "-in"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment(),
        )
        process.stdin.write(hard)
        process.stdin.close()
        time.sleep(2)
        process.terminate()
        self.assertEqual(process.stdout.read(), "unknown\n")
        process.stdout.close()
        process.wait(60)


class OneCommand(unittest.TestCase):
    """scripts/solidity/check, as somebody runs it."""

    def check(self, name, *words):
        command = [str(CHECK), str(FOLDER / "contracts" / name), *words]
        return subprocess.run(
            command, capture_output=True, text=True, check=False, env=environment()
        )

    def test_a_violated_assertion(self):
        done = self.check("Counter.sol")
        self.assertEqual((done.returncode, done.stderr), (2, ""))
        self.assertIn("Assertion violation happens here", done.stdout)
        trace = done.stdout.partition("Transaction trace:\n")[2].splitlines()
        self.assertEqual(trace[0], "Counter.constructor()")
        self.assertIn("Counter.small()", trace)
        self.assertIn("Counter.sol:18:9", done.stdout)

    def test_other_ends(self):
        done = self.check("Counter.sol", "--contract", "Counter", "--targets", "popEmptyArray")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(self.check("Nothing.sol").returncode, 1)
        self.assertEqual(self.check("Counter.sol", "--targets", "nonsense").returncode, 2)


if __name__ == "__main__":
    unittest.main()
