"""What the tests share: problems of known status, and a check of models by z3py alone."""

import alphorn
import z3

SAFE = """(set-logic HORN)
(declare-fun Loop (Int Int) Bool)
(assert (forall ((x Int) (y Int)) (=> (and (= x 0) (= y 0)) (Loop x y))))
(assert (forall ((x Int) (y Int)) (=> (Loop x y) (Loop (+ x 1) (+ y 2)))))
(assert (forall ((x Int) (y Int)) (=> (and (Loop x y) (< y x)) false)))
(check-sat)
"""
UNSAFE = SAFE.replace("(< y x)", "(= y 6)")
# Nobody knows of three cubes (other than small ones and a few large ones) whose sum is 3.
ENDLESS = """(set-logic HORN)
(declare-fun P (Int Int Int) Bool)
(assert (forall ((x Int) (y Int) (z Int)) (P x y z)))
(assert (forall ((x Int) (y Int) (z Int))
  (=> (and (P x y z) (= (+ (* x x x) (* y y y) (* z z z)) 114)) false)))
(check-sat)
"""
QUERY = """(declare-rel Loop (Int))
(declare-rel Bad ())
(declare-var x Int)
(rule (Loop 0))
(rule (=> (and (Loop x) (< x 5)) (Loop (+ x 1))))
(rule (=> (and (Loop x) (> x {})) Bad))
(query Bad)
"""


def confirm_model(case, answer, assertions=None):
    """Z3 alone finds every clause valid in which predicates are the formulas of the model."""
    if assertions is None:
        assertions = z3.parse_smt2_string(answer.text)
    definitions = []
    decls = {}
    for assertion in assertions:
        for decl in predicates(assertion):
            decls[decl.name()] = decl
    for name, decl in decls.items():
        definition = answer.model[name]
        case.assertEqual(len(definition.parameters), decl.arity())
        arguments = [z3.Var(i, decl.domain(i)) for i in range(decl.arity())]
        definitions.append((decl, definition.to_z3(*arguments)))
    for assertion in assertions:
        clause = z3.substitute_funs(assertion, *definitions)
        case.assertEqual(predicates(clause), set())
        solver = z3.Solver()
        solver.set(timeout=30000)
        solver.add(z3.Not(clause))
        case.assertEqual(solver.check(), z3.unsat, f"{assertion} with {definitions}")


def predicates(expression):
    """Uninterpreted functions in an expression."""
    found, seen, stack = set(), set(), [expression]
    while stack:
        e = stack.pop()
        if e.get_id() in seen:
            continue
        seen.add(e.get_id())
        if z3.is_app(e) and e.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            found.add(e.decl())
        stack.extend(e.children())
    return found


def confirm_refutation(case, answer):
    """Each step uses steps before it, and the last one derives false; the check agrees."""
    steps = answer.refutation
    case.assertIsNone(steps[-1].predicate)
    for number, step in enumerate(steps, 1):
        case.assertEqual(step.number, number)
        case.assertTrue(all(premise < number for premise in step.premises))
    case.assertEqual(alphorn.check(answer.text, answer).outcome, "valid")
