"""Problems made with z3py, handed over as they are."""

import unittest

import alphorn
import z3
from alphorn import _z3
from support import confirm_model, confirm_refutation, predicates
from z3 import And, Exists, ForAll, Function, Implies, Ints, Not, Or

INT, BOOL = z3.IntSort(), z3.BoolSort()
x, y, z = Ints("x y z")
Loop = Function("Loop", INT, INT, BOOL)


class Assertions(unittest.TestCase):
    def safe(self, problem, assertions=None):
        answer = alphorn.solve(problem, timeout=60)
        self.assertEqual((answer.verdict, answer.safe), ("sat", True), answer.reason)
        confirm_model(self, answer, list(problem if assertions is None else assertions))
        self.assertTrue(alphorn.check(problem, answer))
        return answer

    def unsafe(self, problem):
        answer = alphorn.solve(problem, timeout=60)
        self.assertEqual((answer.verdict, answer.safe), ("unsat", False), answer.reason)
        confirm_refutation(self, answer)
        self.assertTrue(alphorn.check(problem, answer))
        return answer

    def test_integers(self):
        clauses = [
            Loop(0, 0),
            ForAll([x, y], Implies(Loop(x, y), Loop(x + 1, y + 2))),
        ]
        # The model is about the declarations of z3py, not about others of the same names.
        self.safe([*clauses, ForAll([x, y], Implies(Loop(x, y), y >= x))])
        answer = self.unsafe([*clauses, ForAll([x, y], Not(And(Loop(x, y), x == 2)))])
        self.assertEqual(answer.refutation[2].values, (2, 4))
        self.assertEqual(answer.refutation[-1].variables, {"x": 2, "y": 4})

    def test_reals_and_several_predicates(self):
        r = z3.Real("r")
        P, Q = Function("P", z3.RealSort(), BOOL), Function("Q", INT, z3.RealSort(), BOOL)
        third = z3.RealVal("1/3")
        clauses = [
            ForAll([r], Implies(r == third, P(r))),
            ForAll([r], Implies(P(r), P(r + third + third))),
            ForAll([r, x], Implies(And(P(r), z3.ToReal(x) <= r, r < x + 1), Q(x, r))),
        ]
        self.safe([*clauses, ForAll([r, x], Implies(Q(x, r), x >= 0))])
        answer = self.unsafe([*clauses, ForAll([r, x], Implies(Q(x, r), x < 2))])
        self.assertEqual(answer.refutation[-2].predicate, "Q")

    def test_words(self):
        b = z3.BitVec("b", 8)
        P = Function("P", z3.BitVecSort(8), BOOL)
        clauses = [P(0), ForAll([b], Implies(And(P(b), z3.ULT(b, 100)), P(b + 4)))]
        self.safe([*clauses, ForAll([b], Implies(P(b), z3.Extract(1, 0, b) == 0))])
        answer = self.unsafe([*clauses, ForAll([b], Implies(P(b), z3.LShR(b, 3) != 2))])
        self.assertEqual(answer.refutation[0].values, (0,))

    def test_arrays(self):
        a = z3.Array("a", INT, INT)
        P = Function("P", a.sort(), INT, BOOL)
        clauses = [
            ForAll([a], Implies(a == z3.K(INT, 7), P(a, 0))),
            ForAll([a, x], Implies(P(a, x), P(z3.Store(a, x, x), x + 1))),
        ]
        self.safe([*clauses, ForAll([a, x], Implies(P(a, x), x >= 0))])
        self.unsafe([*clauses, ForAll([a, x], Implies(And(P(a, x), x > 0), a[0] != 0))])

    def test_datatypes_also_with_the_name_that_z3_has(self):
        for name in ["Cells", "my cells", "List"]:
            with self.subTest(name):
                cells = z3.Datatype(name)
                cells.declare("nil")
                cells.declare("cons", ("head", INT), ("rest of it", cells))
                cells = cells.create()
                c = z3.Const("c", cells)
                P = Function("P", cells, BOOL)
                clauses = [
                    P(cells.nil),
                    ForAll([c, x], Implies(And(P(c), x > 0), P(cells.cons(x, c)))),
                ]
                answer = alphorn.solve(
                    [*clauses, ForAll([c], Implies(And(P(c), cells.is_cons(c)), cells.head(c) > 0))]
                )
                self.assertTrue(answer.safe)
                self.assertTrue(answer.model["P"].holds("(cons 1 nil)"))
                self.assertFalse(answer.model["P"].holds("(cons (- 1) nil)"))
                if name == "List":
                    with self.assertRaisesRegex(ValueError, "List"):
                        answer.model["P"].to_z3(c)
                else:
                    self.assertEqual(answer.model["P"].to_z3(c).sort(), BOOL)
                self.unsafe([*clauses, ForAll([c], Implies(P(c), Not(cells.is_cons(c))))])
                # The sort is what it was.
                self.assertTrue(z3.simplify(cells.head(cells.cons(3, cells.nil))).eq(z3.IntVal(3)))

    def test_enumerations(self):
        colours, (red, green, blue) = z3.EnumSort("colours", ["red", "green", "dark blue"])
        c = z3.Const("c", colours)
        P = Function("P", colours, BOOL)
        self.safe([P(red), ForAll([c], Implies(And(P(c), c == red), P(green))),
                   ForAll([c], Implies(P(c), c != blue))])

    def test_names_that_z3_uses_or_must_quote(self):
        P = Function("a predicate", INT, INT, BOOL)
        dollar, let, odd = Ints("$x16 a!1 it's")
        self.safe(
            [
                ForAll([dollar, let], Implies(And(dollar == 0, let == 0), P(dollar, let))),
                ForAll(
                    [dollar, let, odd],
                    Implies(
                        And(P(dollar, let), odd == z3.If(dollar > let, dollar + let, let + let + 1),
                            Or(dollar + let > 0, let >= 0)),
                        P(odd, odd),
                    ),
                ),
                ForAll([dollar, let], Implies(P(dollar, let), dollar + let >= 0)),
            ]
        )

    def test_several_forms(self):
        clauses = [Loop(0, 0), ForAll([x, y], Implies(Loop(x, y), x == y))]
        solver = z3.Solver()
        solver.add(clauses)
        horn = z3.SolverFor("HORN")
        horn.add(clauses)
        goal = z3.Goal()
        goal.add(clauses)
        pushed = z3.Solver()
        pushed.add(clauses)
        pushed.push()
        pushed.add(Not(Loop(0, 0)))
        pushed.pop()
        self.assertEqual(horn.check(), z3.sat)
        for problem in [clauses, tuple(clauses), solver, horn, goal, pushed, solver.assertions()]:
            with self.subTest(type(problem)):
                self.assertTrue(alphorn.solve(problem).safe)
        pushed.push()
        pushed.add(Not(Loop(0, 0)))
        self.assertFalse(alphorn.solve(pushed).safe)
        self.assertTrue(alphorn.solve(Loop(0, 0)).safe)
        self.assertFalse(alphorn.solve([False]).safe)

    def test_another_context(self):
        ctx = z3.Context()
        P = Function("P", z3.IntSort(ctx), z3.BoolSort(ctx))
        n = z3.Int("n", ctx)
        answer = alphorn.solve([P(z3.IntVal(0, ctx)), ForAll([n], Implies(P(n), n < 3))])
        self.assertIs(answer.model["P"].to_z3(n).ctx, ctx)
        self.assertIs(answer.model["P"].to_z3(ctx=ctx).ctx, ctx)
        with self.assertRaisesRegex(ValueError, "several contexts"):
            alphorn.solve([P(n), Loop(0, 0)])

    def test_what_is_refused(self):
        p = z3.Bool("p")
        a = z3.Array("a", INT, INT)
        tracked = z3.Solver()
        tracked.assert_and_track(Loop(0, 0), p)
        # No renaming of predicates to their complements makes Horn clauses of both.
        three = [z3.Bool(name) for name in "qrs"]
        three_or_none = [Or(three), Or([z3.Not(q) for q in three])]
        for problem, message in [
            (three_or_none, ""),
            ([ForAll([a], Implies(a == z3.Lambda([x], x), Loop(a[0], 0)))], "lambda"),
            (tracked, "tracks"),
        ]:
            with self.subTest(problem):
                with self.assertRaises(alphorn.InputError) as caught:
                    alphorn.solve(problem)
                self.assertIn(message, str(caught.exception))
                if caught.exception.line is not None:
                    line = caught.exception.text.split("\n")[caught.exception.line - 1]
                    self.assertLessEqual(caught.exception.column, len(line))
        for problem in [[3], [x], ["(assert true)"], [Loop], object(), {}]:
            with self.subTest(problem), self.assertRaises(TypeError):
                alphorn.solve(problem)
        with self.assertRaises(TypeError):
            alphorn.solve([Loop(0, 0)], query=Loop)
        # A clause over a predicate without arguments is no tracked one.
        tracked.add(p)
        self.assertTrue(alphorn.solve(tracked).safe)
        # Free constants, and a head of two atoms, have a meaning as Horn clauses.
        self.assertTrue(alphorn.solve([Implies(x == 0, Loop(x, x))]).safe)
        self.assertTrue(alphorn.solve([ForAll([x, y], Or(Loop(x, y), Loop(y, x)))]).safe)

    def test_what_z3_prints_is_compared(self):
        def same(a, b):
            return _z3._same(a, b.translate(z3.Context()), "List!")

        b = z3.BitVec("b", 8)
        bound = ForAll([x], Loop(x, x + 1 + y))
        for a in [bound, x + 1 + y, b + 3, z3.RealVal("-1/3"), Exists([y], bound), z3.K(INT, 3)]:
            self.assertTrue(same(a, a))
        self.assertTrue(same((x + y) + z, z3.Sum(x, y, z)))
        for a, other in [
            (x + 1, x + 2), (x + y, y + x), (b + 3, b + 4), (b, z3.BitVec("b", 9)), (x, y),
            (bound, ForAll([x], Loop(x + 1, x))), (bound, Exists([x], Loop(x, x + 1 + y))),
            (ForAll([x, y], Loop(x, y)), ForAll([x, y], Loop(y, x))),
            (ForAll([x, y], Loop(x, y)), ForAll([x], ForAll([y], Loop(x, y)))),
            (x - (y - z), (x - y) - z), (z3.RealVal("1/3"), z3.RealVal("1/4")),
            (z3.Extract(3, 0, b), z3.Extract(4, 1, b)), (z3.K(INT, 3), z3.K(INT, 4)),
        ]:
            with self.subTest(a=a, other=other):
                self.assertFalse(same(a, other))


class Fixedpoints(unittest.TestCase):
    def rules(self):
        fixedpoint = z3.Fixedpoint()
        fixedpoint.set(engine="spacer")
        Bad = Function("is bad", INT, BOOL)
        fixedpoint.register_relation(Loop, Bad)
        fixedpoint.declare_var(x, y, z)
        fixedpoint.rule(Loop(0, 0))
        fixedpoint.rule(Loop(x + 1, y), [Loop(x, y), x < 10])
        fixedpoint.rule(Bad(x), [Loop(x, y), Or(y > 2, x > 9)])
        return fixedpoint, Bad

    def test_queries(self):
        fixedpoint, Bad = self.rules()
        for query, reached in [
            (Bad, True),
            (Bad(x), True),
            (And(Bad(x), x > 10), False),
            ([Loop(x, y), Bad(x)], True),
            ([Loop, Bad], True),
            (Exists([z], And(Bad(z), z < 10)), False),
            (Loop(7, 0), True),
            (Loop(7, 1), False),
        ]:
            with self.subTest(query):
                answer = alphorn.solve(fixedpoint, query=query)
                self.assertTrue(alphorn.check(fixedpoint, answer, query=query))
                own = fixedpoint.query(*query) if isinstance(query, list) else fixedpoint.query(query)
                # As Z3 has it, sat means that the query is reached.
                self.assertIn(str(own), (answer.verdict, "unknown"))
                self.assertEqual((answer.verdict, answer.safe), ("sat" if reached else "unsat", not reached))
                if reached:
                    confirm_refutation(self, answer)
                else:
                    found = {name for name in answer.model if name in ("Loop", "is bad")}
                    self.assertEqual(found, {"Loop", "is bad"})

    def test_a_query_may_be_called_query(self):
        fixedpoint = z3.Fixedpoint()
        query = z3.Bool("query")
        fixedpoint.register_relation(query.decl())
        self.assertTrue(alphorn.solve(fixedpoint, query=query).safe)
        fixedpoint.fact(query)
        self.assertFalse(alphorn.solve(fixedpoint, query=query.decl()).safe)

    def test_what_was_read_from_text(self):
        fixedpoint = z3.Fixedpoint()
        queries = fixedpoint.parse_string(
            "(declare-rel P (Int)) (declare-var A Int) (rule (P 1))"
            "(rule (=> (P A) (P (* 2 A)))) (query P)"
        )
        self.assertEqual(alphorn.solve(fixedpoint, query=queries[0]).verdict, "sat")
        three = z3.And(queries[0], z3.Exists([x], And(x == 3, z3.Var(0, INT) == x)))
        self.assertEqual(alphorn.solve(fixedpoint, query=three).verdict, "unsat")

    def test_what_is_refused(self):
        fixedpoint, _ = self.rules()
        with self.assertRaisesRegex(TypeError, "query="):
            alphorn.solve(fixedpoint)
        for query in [[], 3, [Loop, Loop(x, y)]]:
            with self.subTest(query), self.assertRaises(TypeError):
                alphorn.solve(fixedpoint, query=query)
        fixedpoint.add(x > 3)
        with self.assertRaisesRegex(alphorn.InputError, "background"):
            alphorn.solve(fixedpoint, query=Loop)


class Definitions(unittest.TestCase):
    def test_formulas_as_expressions(self):
        answer = alphorn.solve([Loop(0, 0), ForAll([x, y], Implies(Loop(x, y), x + y < 5))])
        definition = answer.model["Loop"]
        over_constants = definition.to_z3()
        names = {name for name, _ in definition.parameters}
        self.assertLessEqual({d.name() for d in predicates(over_constants)}, names)
        over_arguments = definition.to_z3(z, z + 1)
        self.assertLessEqual({d.name() for d in predicates(over_arguments)}, {"z"})
        solver = z3.Solver()
        solver.add(definition.to_z3(0, 0))
        self.assertEqual(solver.check(), z3.sat)
        for wrong in [(x,), (x, y, z), (x, z3.BitVec("b", 8)), (x, "y z")]:
            with self.subTest(wrong), self.assertRaises((TypeError, z3.Z3Exception)):
                definition.to_z3(*wrong)
        for wrong in [(1,), (1, 2, 3), (1, True), (1, 1.5)]:
            with self.subTest(wrong), self.assertRaises(TypeError):
                definition.holds(*wrong)
        with self.assertRaises(ValueError):
            definition.holds("no such", 1)


if __name__ == "__main__":
    unittest.main()
