"""Answers, limits, stopping and errors, on problems of known status."""

import concurrent.futures
import logging
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings

import alphorn
import z3
from support import ENDLESS, QUERY, SAFE, UNSAFE, confirm_model, confirm_refutation

#: More than a busy machine needs for what ends at once.
SOON = 60


class Answers(unittest.TestCase):
    def test_safe(self):
        answer = alphorn.solve(SAFE)
        self.assertEqual((answer.verdict, answer.safe, answer.reason), ("sat", True, None))
        self.assertIsNone(answer.refutation)
        self.assertEqual(list(answer.model), ["Loop"])
        self.assertEqual(answer.model["Loop"].sorts, ("Int", "Int"))
        self.assertTrue(answer.model["Loop"].holds(3, 6))
        self.assertFalse(answer.model["Loop"].holds(3, 2))
        self.assertEqual(str(answer), f"sat\n{answer.model.smtlib}")
        self.assertIn(str(answer.model["Loop"]), answer.model.smtlib)
        confirm_model(self, answer)
        self.assertTrue(alphorn.check(SAFE, answer))
        self.assertTrue(alphorn.check(SAFE, answer.model))

    def test_unsafe(self):
        answer = alphorn.solve(UNSAFE)
        self.assertEqual((answer.verdict, answer.safe, answer.reason), ("unsat", False, None))
        self.assertIsNone(answer.model)
        confirm_refutation(self, answer)
        values = [step.values for step in answer.refutation]
        self.assertEqual(values, [(0, 0), (1, 2), (2, 4), (3, 6), ()])
        third, last = answer.refutation[2], answer.refutation[-1]
        self.assertEqual((third.predicate, third.clause, third.line), ("Loop", 2, 4))
        self.assertEqual((third.variables, third.premises), ({"x": 1, "y": 2}, (2,)))
        self.assertEqual((last.predicate, last.premises), (None, (4,)))
        self.assertEqual("".join(f"{step}\n" for step in answer.refutation), answer.refutation.text)
        self.assertTrue(alphorn.check(UNSAFE, answer.refutation))
        self.assertTrue(alphorn.check(UNSAFE, answer.refutation.json))

    def test_certificates(self):
        def answers(script):
            """What Z3 says to each check, of which each has its own assertion."""
            prelude, *checks = script.split("(push 1)\n")
            found = []
            for text in [check.split("(check-sat)")[0] for check in checks] or [""]:
                solver = z3.Solver()
                solver.from_string(prelude + text)
                found.append(str(solver.check()))
            return found

        safe = alphorn.solve(SAFE, certificate=True)
        self.assertEqual(set(answers(safe.certificate)), {"unsat"})
        self.assertEqual(safe.certificate.count("(check-sat)"), len(answers(safe.certificate)))
        unsafe = alphorn.solve(UNSAFE, certificate=True)
        self.assertEqual(answers(unsafe.certificate), ["unsat"])
        # Without its last step it shows nothing.
        steps = unsafe.certificate.rpartition("(assert ")[0]
        self.assertEqual(answers(steps), ["sat"])
        self.assertIsNone(alphorn.solve(SAFE).certificate)
        self.assertIsNone(alphorn.solve(ENDLESS, certificate=True, timeout=0.2).certificate)

    def test_a_cache(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "cache"
            for text, hint in [(SAFE, "hints.models"), (UNSAFE, "hints.refutations")]:
                first = alphorn.solve(text, cache=path)
                self.assertNotIn(hint, first.stats)
                again = alphorn.solve(text + "; the same", cache=str(path))
                self.assertEqual((again.verdict, again.stats[hint]), (first.verdict, 1))
            (path.parent / "file").write_text("", encoding="utf-8")
            with self.assertRaises(OSError):
                alphorn.solve(SAFE, cache=path.parent / "file")

    def test_fixedpoint_files_say_sat_for_reachable(self):
        reached = alphorn.solve(QUERY.format(4))
        self.assertEqual((reached.verdict, reached.safe), ("sat", False))
        confirm_refutation(self, reached)
        excluded = alphorn.solve(QUERY.format(9))
        self.assertEqual((excluded.verdict, excluded.safe), ("unsat", True))
        self.assertTrue(alphorn.check(excluded.text, excluded))

    def test_a_model_with_recursive_functions_and_a_certificate(self):
        text = """(set-logic HORN)
            (declare-datatypes ((List 0)) (((nil) (cons (head Int) (tail List)))))
            (declare-fun app (List List List) Bool)
            (declare-fun len (List Int) Bool)
            (assert (forall ((y List)) (app nil y y)))
            (assert (forall ((h Int) (x List) (y List) (z List))
              (=> (app x y z) (app (cons h x) y (cons h z)))))
            (assert (len nil 0))
            (assert (forall ((h Int) (x List) (n Int)) (=> (len x n) (len (cons h x) (+ n 1)))))
            (assert (forall ((x List) (y List) (z List) (a Int) (b Int) (c Int))
              (=> (and (app x y z) (len x a) (len y b) (len z c) (not (= c (+ a b)))) false)))
            (check-sat)"""
        answer = alphorn.solve(text, timeout=SOON)
        self.assertEqual(answer.verdict, "sat", answer.reason)
        self.assertEqual(set(answer.model), {"app", "len"})
        self.assertNotEqual(answer.model.functions, ())
        self.assertTrue(all(f.startswith("(define-fun") for f in answer.model.functions))
        self.assertTrue(alphorn.check(text, answer))
        two = "(cons 7 (cons 8 nil))"
        self.assertTrue(answer.model["len"].holds(two, 2))
        self.assertFalse(answer.model["len"].holds(two, 3))
        with self.assertRaisesRegex(ValueError, "sort List of its own"):
            answer.model["len"].to_z3()
        length = alphorn.solve(text.replace("List", "Cells"), timeout=SOON).model["len"]
        cells, n = (z3.Const(name, sort) for name, sort in zip("xn", sorts_of(length)))
        # The functions can be given to Z3 more than once.
        solver = z3.Solver()
        solver.add(length.to_z3(cells, n), length.to_z3(cells, n + 1))
        self.assertEqual(solver.check(cells == cells.sort().constructor(0)()), z3.unsat)

    def test_names_with_bars_and_several_kinds_of_values(self):
        text = """(set-logic HORN)
            (declare-fun |a b| (Bool (_ BitVec 8) Real (Array Int Int)) Bool)
            (assert (forall ((|x y| Int)) (=> (= |x y| (- 2))
              (|a b| true #xff (/ 1.0 3.0) ((as const (Array Int Int)) |x y|)))))
            (assert (forall ((p Bool) (w (_ BitVec 8)) (r Real) (a (Array Int Int)))
              (=> (and (|a b| p w r a) (> r 0.0)) false)))
            (check-sat)"""
        answer = alphorn.solve(text)
        first = answer.refutation[0]
        self.assertEqual(first.predicate, "a b")
        self.assertEqual(first.variables, {"x y": -2})
        self.assertEqual(first.values[:3], (True, 255, alphorn._values.Fraction(1, 3)))
        self.assertEqual(first.values[3], "((as const (Array Int Int)) (- 2))")
        confirm_refutation(self, answer)

    def test_engines_and_other_options(self):
        for options in [
            {"engine": "bmc"},
            {"without": "bmc,trl"},
            {"without": ["bmc", "trl"]},
            {"passes": "none"},
            {"passes": []},
            {"passes": ["simplify", "slice"]},
            {"settings": {"bmc.depth": 100}} if "bmc.depth" in alphorn.list_settings() else {},
            {"deterministic": True, "timeout": SOON},
        ]:
            with self.subTest(options):
                self.assertEqual(alphorn.solve(UNSAFE, **options).verdict, "unsat")
        self.assertIn("bmc.queries", alphorn.solve(UNSAFE, engine="bmc").stats)
        self.assertNotIn("transform.slice.seconds", alphorn.solve(SAFE, passes="none").stats)

    def test_an_answer_has_no_truth_value(self):
        with self.assertRaisesRegex(TypeError, "neither true nor false"):
            bool(alphorn.solve(SAFE))

    def test_what_is_logged_reaches_python(self):
        with self.assertLogs("alphorn", logging.INFO) as logs:
            alphorn.solve(UNSAFE, engine="bmc")
        self.assertTrue(any("engine bmc" in line for line in logs.output), logs.output)
        with self.assertNoLogs("alphorn", logging.WARNING) if hasattr(self, "assertNoLogs") else self.subTest():
            alphorn.solve(SAFE)


def sorts_of(definition):
    """The sorts of a definition's parameters, in z3py."""
    formula, names = definition.to_z3(), [name for name, _ in definition.parameters]
    found, stack = {}, [formula]
    while stack:
        e = stack.pop()
        stack.extend(e.children())
        if z3.is_const(e) and str(e) in names:
            found[str(e)] = e.sort()
    return [found[name] for name in names]


class Inputs(unittest.TestCase):
    def test_text_and_paths(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "(odd) name.smt2")
            path.write_text(SAFE)
            for problem in [path, str(path), SAFE.encode(), "\n" + SAFE, "; comment\n" + SAFE]:
                self.assertEqual(alphorn.solve(problem).verdict, "sat")
            self.assertEqual(alphorn.solve(text=SAFE).verdict, "sat")
            before = os.getcwd()
            os.chdir(folder)
            try:
                self.assertEqual(alphorn.solve(path=path.name).verdict, "sat")
                with self.assertRaises(alphorn.InputError):
                    alphorn.solve(path.name)
            finally:
                os.chdir(before)
            witness = pathlib.Path(folder, "witness")
            witness.write_text(str(alphorn.solve(SAFE)))
            self.assertTrue(alphorn.check(path, witness))

    def test_what_is_wrong_and_where(self):
        for text, place, message in [
            (SAFE.replace("(< y x)", "(< y z)"), (5, 60), "`z`"),
            (SAFE.replace("Bool)", "Bool"), (2, 1), "without a matching"),
            (SAFE.replace("(check-sat)", ""), None, "check-sat"),
            ("(set-logic HORN) é", (1, 18), "e9"),
            (b"(set-logic HORN) \xff", (1, 18), "UTF-8"),
            ("", (1, 1), ""),
        ]:
            with self.subTest(text):
                with self.assertRaises(alphorn.InputError) as caught:
                    alphorn.solve(text=text)
                error = caught.exception
                if place is not None:
                    self.assertEqual((error.line, error.column), place)
                self.assertIn(message, error.message)
                self.assertEqual(str(error), f"line {error.line} column {error.column}: {error.message}")
                with self.assertRaises(alphorn.InputError):
                    alphorn.check(text=text, witness="sat ()")

    def test_wrong_arguments(self):
        for error, arguments, options in [
            (TypeError, (), {}),
            (TypeError, (SAFE,), {"text": SAFE}),
            (TypeError, (3,), {}),
            (TypeError, (SAFE,), {"query": "P"}),
            (TypeError, (SAFE,), {"timeout": "1"}),
            (TypeError, (SAFE,), {"timeout": True}),
            (ValueError, (SAFE,), {"timeout": 0}),
            (ValueError, (SAFE,), {"timeout": float("nan")}),
            (TypeError, (SAFE,), {"memory": 1.5}),
            (ValueError, (SAFE,), {"memory": 0}),
            (TypeError, (SAFE,), {"stop": True}),
            (TypeError, (SAFE,), {"engine": 3}),
            (TypeError, (SAFE,), {"without": [3]}),
            (TypeError, (SAFE,), {"no_such": 3}),
            (ValueError, (SAFE,), {"engine": "no such"}),
            (ValueError, (SAFE,), {"without": "no such"}),
            (ValueError, (SAFE,), {"passes": "no such"}),
            (ValueError, (SAFE,), {"settings": ["no such"]}),
            (ValueError, (SAFE,), {"settings": {"pdr.no_such": 1}}),
            (FileNotFoundError, ("no such file",), {}),
        ]:
            with self.subTest(arguments=arguments, options=options):
                with self.assertRaises(error) as caught:
                    alphorn.solve(*arguments, **options)
                self.assertIs(type(caught.exception), error)

    def test_witnesses_from_elsewhere(self):
        model = "sat ((define-fun Loop ((x Int) (y Int)) Bool {}))"
        good, bad = model.format("(and (>= x 0) (= y (* 2 x)))"), model.format("(> x 7)")
        valid = alphorn.check(SAFE, good)
        self.assertEqual((valid.outcome, valid.reason, bool(valid)), ("valid", None, True))
        invalid = alphorn.check(SAFE, bad)
        self.assertEqual((invalid.outcome, bool(invalid)), ("invalid", False))
        self.assertTrue(invalid.reason)
        # A refutation of another problem.
        self.assertEqual(alphorn.check(SAFE, alphorn.solve(UNSAFE)).outcome, "invalid")
        with self.assertRaises(alphorn.WitnessError):
            alphorn.check(SAFE, "(no witness)")
        with self.assertRaises(TypeError):
            alphorn.check(SAFE)
        with self.assertRaises(ValueError):
            alphorn.check(SAFE, alphorn.solve(ENDLESS, timeout=0.1))


class Stopping(unittest.TestCase):
    def test_time(self):
        begin = time.monotonic()
        answer = alphorn.solve(ENDLESS, timeout=0.5)
        self.assertEqual((answer.verdict, answer.safe), ("unknown", None))
        self.assertEqual(answer.reason, "timeout")
        self.assertIsNone(answer.model)
        self.assertIsNone(answer.refutation)
        self.assertEqual(str(answer), "unknown\n; timeout\n")
        self.assertLess(time.monotonic() - begin, SOON)

    def test_the_limit_in_the_text(self):
        answer = alphorn.solve("(set-option :timeout 300)" + ENDLESS)
        self.assertEqual((answer.verdict, answer.reason), ("unknown", "timeout"))

    def test_work(self):
        first = alphorn.solve(ENDLESS, timeout=0.5, deterministic=True)
        second = alphorn.solve(ENDLESS, timeout=0.5, deterministic=True)
        self.assertEqual(first.reason, "timeout")
        counts = [{k: v for k, v in a.stats.items() if isinstance(v, int)} for a in (first, second)]
        self.assertEqual(*counts)

    def test_memory(self):
        # The text alone needs more than this.
        clause = "(assert (forall ((x Int)) (=> (and (Loop x {0}) (< x {0})) (Loop {0} (* 2 x)))))\n"
        many = "".join(clause.format(i) for i in range(20000))
        answer = alphorn.solve(SAFE.replace("(check-sat)", many + "(check-sat)"), memory=8)
        self.assertEqual((answer.verdict, answer.reason), ("unknown", "memout"))

    def test_another_thread(self):
        stop = threading.Event()
        with concurrent.futures.ThreadPoolExecutor() as pool:
            future = pool.submit(alphorn.solve, ENDLESS, stop=stop)
            time.sleep(0.3)
            self.assertFalse(future.done())
            stop.set()
            answer = future.result(timeout=SOON)
        self.assertEqual((answer.verdict, answer.reason), ("unknown", "interrupted"))

    def test_what_the_event_raises(self):
        class Broken:
            def is_set(self):
                raise LookupError("broken")

        with self.assertRaisesRegex(LookupError, "broken"):
            alphorn.solve(ENDLESS, stop=Broken())

    def test_threads_do_not_wait_for_each_other(self):
        stop = threading.Event()
        with concurrent.futures.ThreadPoolExecutor(max_workers=5) as pool:
            endless = [pool.submit(alphorn.solve, ENDLESS, stop=stop) for _ in range(2)]
            texts = [SAFE, UNSAFE] * 4
            verdicts = [a.verdict for a in pool.map(alphorn.solve, texts)]
            running = [future.done() for future in endless]
            stop.set()
            reasons = [future.result(timeout=SOON).reason for future in endless]
        self.assertEqual(verdicts, ["sat", "unsat"] * 4)
        self.assertEqual(running, [False, False])
        self.assertEqual(reasons, ["interrupted"] * 2)

    def test_the_interpreter_goes_on(self):
        ticks = 0
        stop = threading.Event()
        with concurrent.futures.ThreadPoolExecutor() as pool:
            future = pool.submit(alphorn.solve, ENDLESS, stop=stop)
            while ticks < 100_000 and not future.done():
                ticks += 1
            self.assertEqual(ticks, 100_000)
            stop.set()
            future.result(timeout=SOON)

    def test_control_c(self):
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        try:
            timer.start()
            with self.assertRaises(KeyboardInterrupt):
                alphorn.solve(ENDLESS)
        finally:
            timer.join()
            signal.signal(signal.SIGINT, before)
        self.assertEqual(alphorn.solve(SAFE).verdict, "sat")

    def test_the_end_of_the_process(self):
        program = (
            "import alphorn, sys, threading, time\n"
            "threading.Thread(target=alphorn.solve, args=(sys.argv[1],), daemon=True).start()\n"
            "time.sleep(0.5)\n"
            "print('end')\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", program, ENDLESS], capture_output=True, text=True, timeout=SOON
        )
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "end\n", ""))

    def test_a_fork_has_none_of_the_runs(self):
        stop = threading.Event()
        with concurrent.futures.ThreadPoolExecutor() as pool:
            future = pool.submit(alphorn.solve, ENDLESS, stop=stop)
            time.sleep(0.3)
            with warnings.catch_warnings():
                # That this is a process with threads is what is tested.
                warnings.simplefilter("ignore")
                child = os.fork()
            if child == 0:
                begin = time.monotonic()
                alphorn._native.stop_all(30.0)
                os._exit(time.monotonic() - begin > 20)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.assertFalse(future.done())
            stop.set()
            future.result(timeout=SOON)


class Crashes(unittest.TestCase):
    def test_a_panic_is_an_exception(self):
        with self.assertRaises(alphorn.Defect) as caught:
            alphorn._native.panic_for_test("for a test")
        self.assertIn("for a test", str(caught.exception))
        self.assertIn("lib.rs", str(caught.exception))
        self.assertEqual(alphorn.solve(SAFE).verdict, "sat")

    def test_a_deep_text(self):
        deep = "(not " * 200_000 + "(< y x)" + ")" * 200_000
        answer = alphorn.solve(SAFE.replace("(< y x)", deep), timeout=SOON)
        self.assertIn(answer.verdict, ("sat", "unknown"))


if __name__ == "__main__":
    unittest.main()
