"""Scripts with several questions, and commands as they come."""

import os
import random
import signal
import subprocess
import tempfile
import time
import unittest

from common import ROOT, Folder, called

ALPHORN = os.environ.get("ALPHORN") or str(ROOT / "target/release/alphorn")
COUNTER = """(set-logic HORN)
(declare-fun P (Int Int) Bool)
(assert (forall ((x Int) (y Int)) (=> (and (= x 0) (= y 0)) (P x y))))
(assert (forall ((x Int) (y Int)) (=> (and (P x y) (< x 100)) (P (+ x 1) (+ y 2)))))
"""


def query(condition):
    return f"(assert (forall ((x Int) (y Int)) (=> (and (P x y) {condition}) false)))\n"


# The last answer is known: y is twice x, and x is at most 100.
QUERIES = [
    ("(< y x)", "sat"), ("(= y 7)", "sat"), ("(= y 14)", "unsat"), ("(> x 100)", "sat"), ("(> y 200)", "sat"),
    ("(distinct y (* 2 x))", "sat"), ("(= (+ x y) 30)", "unsat"), ("(= (+ x y) 31)", "sat"), ("(> y 20)", "unsat"),
]


def words(output):
    return [line for line in output.splitlines() if line in ("sat", "unsat", "unknown")]


class Sessions(Folder):
    def answers(self, text, *options, status=0):
        path = self.folder / "script.smt2"
        path.write_text(text, encoding="utf-8")
        done = subprocess.run([ALPHORN, *options, str(path)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout

    def test_levels(self):
        script, expected = COUNTER, []
        for condition, verdict in QUERIES:
            script += f"(push 1)\n{query(condition)}(check-sat)\n(pop 1)\n"
            expected.append(verdict)
        for jobs in ["1", "2"]:
            self.assertEqual(self.answers(script, "--jobs", jobs).split(), expected)
            with open(self.folder / "script.smt2", encoding="utf-8") as script_file:
                done = subprocess.run([ALPHORN, "--jobs", jobs], stdin=script_file, capture_output=True, text=True)
            self.assertEqual(done.stdout.split(), expected)

    def test_random_scripts_against_fresh_runs(self):
        choice = random.Random(19)
        for number in range(20):
            script, fresh, levels = COUNTER, [], [[]]
            for _ in range(choice.randint(3, 6)):
                kind = choice.choice(["push", "pop", "query", "query", "bound"])
                if kind == "push":
                    levels.append([])
                    script += "(push 1)\n"
                elif kind == "pop" and len(levels) > 1:
                    levels.pop()
                    script += "(pop 1)\n"
                elif kind == "query":
                    levels[-1].append(query(choice.choice(QUERIES)[0]))
                    script += levels[-1][-1]
                else:
                    levels[-1].append(f"(assert (P {choice.choice([3, 50, 101])} {choice.choice([6, 7, 202])}))\n")
                    script += levels[-1][-1]
                script += "(check-sat)\n"
                fresh.append(COUNTER + "".join(part for level in levels for part in level) + "(check-sat)\n")
            options = ["--jobs", "1", "--timeout", "20"]
            found = words(self.answers(script, *options))
            expected = [word for text in fresh for word in words(self.answers(text, *options))]
            self.assertEqual(found, expected, f"script {number}:\n{script}")
            self.assertNotIn("unknown", found)

    def test_assumptions_and_rules(self):
        script = """(set-logic HORN) (declare-fun a () Bool) (declare-fun b () Bool) (declare-fun bad () Bool)
            (assert (=> (and a b) bad)) (assert (=> bad false))
            (check-sat) (check-sat-assuming (a)) (check-sat-assuming (a b)) (check-sat-assuming (a (not b)))
            (check-sat-assuming ((not a) a)) (check-sat)"""
        self.assertEqual(self.answers(script).split(), ["sat", "sat", "unsat", "sat", "unsat", "sat"])
        rules = """(declare-rel p (Int)) (declare-rel q (Int)) (declare-var x Int)
            (rule (p 1)) (rule (=> (p x) (p (+ x 2)))) (rule (=> (and (p x) (= x 4)) (q x)))
            (query p) (query q)"""
        self.assertEqual(self.answers(rules).split(), ["sat", "unsat"])

    def test_witnesses(self):
        script = COUNTER + f"""(push 1)(echo "one")
            {query("(< y x)")} (check-sat) (get-model) (pop 1) {query("(= y 4)")} (check-sat) (get-model) (get-proof)
            (get-info :reason-unknown)"""
        output = self.answers(script)
        lines = output.splitlines()
        self.assertEqual(lines[:2], ['"one"', "sat"])
        self.assertTrue(lines[3].strip().startswith("(define-fun P "), output)
        # What there is none of is said.
        self.assertEqual(lines[5:7], ["unsat", '(error "there is no model")'])
        self.assertIn("\n1: P(0, 0) by clause 1 [x = 0, y = 0]\n", output)
        self.assertTrue(output.endswith('(error "the last answer is not unknown")\n'), output)
        # A place in an error is one of the script.
        wrong = COUNTER + "(check-sat)\n(assert (Q 1))\n(check-sat)\n"
        output = self.answers(wrong, status=1)
        self.assertRegex(output, r'^sat\n\(error "line 6 column 10: .*Q.*"\)\n$')
        self.assertIn("for a text with one question", self.answers(COUNTER + "(check-sat)(check-sat)",
                                                                   "--report", "/dev/null", status=1))

    def test_what_known_answers_save(self):
        for number, (condition, _) in enumerate(QUERIES[:2]):
            path = self.folder / f"{number}.smt2"
            path.write_text(COUNTER + query(condition) + "(check-sat)\n", encoding="utf-8")
        files = [str(self.folder / f"{number}.smt2") for number in range(2)]
        script = [str(ROOT / "scripts/reuse"), "--least", "0", *files, "--", ALPHORN]
        done = subprocess.run(script, capture_output=True, text=True, check=False)
        self.assertEqual((done.stderr, done.returncode), ("", 0))
        head, *rows, sums = done.stdout.splitlines()
        self.assertEqual(head.split(), ["first", "again", "other", "known", "verdicts"])
        for row, path in zip(rows, files, strict=True):
            self.assertRegex(row, rf"^( +\d+\.\d\d){{4}}  sat sat (sat sat|unsat unsat), used: .*  {path}$")
        self.assertTrue(sums.endswith("2 pairs"))

    def test_a_conversation(self):
        command = [ALPHORN, "--interactive", "--timeout", "20"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
            def say(text):
                child.stdin.write(text)
                child.stdin.flush()

            def hear():
                return child.stdout.readline().strip()

            say(COUNTER + query("(= y 4)"))
            say("(check-sat)\n")
            self.assertEqual(hear(), "unsat")
            say("(get-info :name)(pop)(ech")
            self.assertEqual(hear(), '(:name "alphorn")')
            self.assertEqual(hear(), '(error "line 7 column 17: there is nothing to pop")')
            say('o "two words")\n(reset)\n(check-sat)\n')
            self.assertEqual([hear(), hear()], ['"two words"', "sat"])
            say(COUNTER + "(push)(assert (P 1 1))(assert (wrong))(check-sat)\n")
            self.assertRegex(hear(), r'^\(error "line 14 column 37: unexpected')
            say("(pop)" + query("(< y x)") + "(check-sat)\n")
            self.assertEqual(hear(), "sat")
            say("(exit)\n")
            self.assertEqual(child.wait(10), 0)

    def test_nothing_is_left(self):
        hard = COUNTER.replace("(< x 100)", "true").replace("(+ y 2)", "(mod (* y y 7 (+ x 1)) 1000003)")
        hard += query("(= x 100000000)") + "(check-sat)\n(check-sat)\n"
        path = self.folder / "hard.smt2"
        path.write_text(hard, encoding="utf-8")
        for signal_number in [signal.SIGTERM, signal.SIGKILL]:
            child = subprocess.Popen([ALPHORN, "--jobs", "2", str(path)], stdout=subprocess.PIPE, text=True)
            deadline = time.monotonic() + 30
            while not called("--hinted", "-") and time.monotonic() < deadline:
                time.sleep(0.01)
            child.send_signal(signal_number)
            output = child.communicate(timeout=30)[0]
            if signal_number == signal.SIGTERM:
                self.assertEqual((output, child.returncode), ("unknown\n", 0))
            while called("--hinted", "-") and time.monotonic() < deadline:
                time.sleep(0.01)
            self.assertEqual(called("--hinted", "-"), [])

    def test_limits_are_for_each_question(self):
        hard = COUNTER.replace("(< x 100)", "true").replace("(+ y 2)", "(mod (* y y 7 (+ x 1)) 1000003)")
        script = hard + "(push)" + query("(= x 100000000)") + "(check-sat)(pop)(check-sat)(get-info :reason-unknown)"
        script = script.replace("(check-sat)(pop)", "(check-sat)(get-info :reason-unknown)(pop)", 1)
        output = self.answers(script, "--timeout", "1", "--jobs", "1")
        expected = ["unknown", '(:reason-unknown "timeout")', "sat", '(error "the last answer is not unknown")']
        self.assertEqual(output.splitlines(), expected)


class Expressions(unittest.TestCase):
    """In a conversation every reply is one S-expression."""

    COMMANDS = """(set-option :print-success true)
(declare-fun P (Int) Bool)
(assert (! (forall ((x Int)) (=> (= x 0) (P x))) :named first))
(assert (forall ((x Int)) (=> (and (P x) (< x 3)) (P (+ x 1)))))
(get-assertions)
(push 1)
(assert (forall ((x Int)) (=> (and (P x) (> x 7)) false)))
(check-sat)
(get-model)
(get-proof)
(get-value ((P 3) (P (- 1000000)) (P 1000000) (not (P 8)) (and (P 0) (P 1))))
(get-value ((Q 3)))
(pop 1)
(assert (forall ((x Int)) (=> (and (P x) (= x 2)) false)))
(check-sat)
(get-model)
(get-proof)
(get-unsat-core)
(get-value ((P 0)))
(get-info :reason-unknown)
(get-info :name)
(echo "a (b")
(exit)
"""

    def expressions(self, text):
        """The S-expressions of a text, as text."""
        found, depth, begin, at = [], 0, None, 0
        while at < len(text):
            char = text[at]
            if char in "|\"":
                end = text.index(char, at + 1)
                if depth == 0:
                    found.append(text[at : end + 1])
                at = end
            elif char == ";":
                at = text.index("\n", at)
            elif char == "(":
                begin = at if depth == 0 else begin
                depth += 1
            elif char == ")":
                depth -= 1
                if depth == 0:
                    found.append(text[begin : at + 1])
            elif depth == 0 and not char.isspace():
                end = at
                while end < len(text) and not text[end].isspace():
                    end += 1
                found.append(text[at:end])
                at = end
            at += 1
        self.assertEqual(depth, 0)
        return found

    def test_one_reply_each(self):
        done = subprocess.run(
            [ALPHORN, "--interactive", "--jobs", "1", "--timeout", "300"],
            input=self.COMMANDS, capture_output=True, text=True, check=False,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = self.expressions(done.stdout)
        commands = self.COMMANDS.splitlines()
        # Neither the option nor the end has a reply.
        replies = dict(zip(range(1, len(commands)), found))
        self.assertEqual(len(found), len(commands) - 1 if found[0] == "success" else len(commands) - 2)
        values = next(reply for reply in found if reply.startswith("(((P 3)") or reply.startswith("((("))
        self.assertRegex(values, r"^\(\(\(P 3\) (true|false)\)")
        self.assertIn("((not (P 8)) true)", values)
        self.assertIn("((and (P 0) (P 1)) true)", values)
        refused = '(error "(Q 3) is no term over the names of the text'
        self.assertEqual(sum(reply.startswith(refused) for reply in found), 1)
        proof = next(reply for reply in found if reply.startswith("(refutation"))
        self.assertEqual(proof.count("(step "), 4)
        self.assertIn("(step 1 (P 0) :clause 1", proof)
        self.assertEqual(found.count("sat"), 1)
        self.assertEqual(found.count("unsat"), 1)
        self.assertIn('(error "there is no proof")', found)
        self.assertEqual(found.count('(error "there is no model")'), 2)
        self.assertTrue(replies)

    def test_the_proof_passes_the_check(self):
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "script.smt2")
            with open(script, "w", encoding="utf-8") as file:
                file.write(self.COMMANDS.replace("(set-option :print-success true)\n", ""))
            with open(script, encoding="utf-8") as commands:
                done = subprocess.run(
                    [ALPHORN, "--interactive", "--jobs", "1", "--timeout", "300"],
                    stdin=commands, capture_output=True, text=True, check=True,
                )
            # One question of the script, and the answer to it.
            unsafe = os.path.join(folder, "unsafe.smt2")
            with open(unsafe, "w", encoding="utf-8") as file:
                file.write("(declare-fun P (Int) Bool)\n"
                           "(assert (forall ((x Int)) (=> (= x 0) (P x))))\n"
                           "(assert (forall ((x Int)) (=> (and (P x) (< x 3)) (P (+ x 1)))))\n"
                           "(assert (forall ((x Int)) (=> (and (P x) (= x 2)) false)))\n(check-sat)\n")
            found = self.expressions(done.stdout)
            proof = next(reply for reply in found if reply.startswith("(refutation"))
            for witness, word in [(proof, "valid"), (proof.replace("(P 2)", "(P 5)"), "invalid")]:
                path = os.path.join(folder, "witness")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(f"unsat\n{witness}\n")
                checked = subprocess.run(
                    [ALPHORN, "check", unsafe, path], capture_output=True, text=True, check=False
                )
                self.assertEqual(checked.stdout, f"{word}\n", checked.stderr)
            checked = subprocess.run(
                [ALPHORN, "check", script, "-"], input=done.stdout, capture_output=True, text=True, check=False
            )
            self.assertEqual(checked.stdout, "valid\nvalid\n", checked.stderr)


if __name__ == "__main__":
    unittest.main()
