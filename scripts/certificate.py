"""What the certificate of a model with recursive functions has to show, as SMT-LIB commands.

A model may define recursive functions, followed by comment lines `; measure` and `; lemma`: see
`crates/witness/src/certificate/`, with which this shares no code. Functions are uninterpreted here, but for
the equations that a case lists.
"""

import re

TOKEN = re.compile(r'\s*(?:(\(|\))|("(?:[^"]|"")*"|\|[^|]*\||[^\s()";|]+(?:\|[^|]*\|)?))')
# What every reader takes for one token: others may read `0f` as `0` and `f`.
ONE_TOKEN = re.compile(
    r'"(?:[^"]|"")*"|\|[^|\\]*\||#x[0-9A-Fa-f]+|#b[01]+|-?\d+(?:\.\d+)?'
    r"|:?(?!-?\d)[A-Za-z0-9~!@$%^&*_+=<>.?/-]+",
    re.ASCII,
)
BINDERS = ("forall", "exists", "lambda")
OPERATORS = ("and", "or", "not", "=>", "xor", "ite", "=", "distinct", "<", "<=", "true", "false", "match")


class Broken(Exception):
    """A certificate that is none."""


def tree(text, token=TOKEN):
    """The S-expressions of a text, as nested lists of words. `token` says what is between these."""
    stack = [[]]
    position = 0
    text = text.rstrip()
    while position < len(text):
        match = token.match(text, position)
        if not match:
            raise Broken(f"unexpected character: {text[position:position + 20]}")
        position = match.end()
        if match.lastindex is None:
            continue
        if match.group(1) == "(":
            stack.append([])
        elif match.group(1) == ")":
            if len(stack) == 1:
                raise Broken("unbalanced )")
            done = stack.pop()
            stack[-1].append(done)
        elif ONE_TOKEN.fullmatch(match.group(2)):
            stack[-1].append(match.group(2))
        else:
            raise Broken(f"readers differ on {match.group(2)}")
    if len(stack) != 1:
        raise Broken("unbalanced (")
    return stack[0]


def show(form):
    """An S-expression as text."""
    return form if isinstance(form, str) else "(" + " ".join(map(show, form)) + ")"


def bound(form):
    """Pairs of the names that a quantifier or a `match` binds, and of where; constructors among them."""
    if form[0] in BINDERS:
        return [([variable[0] for variable in form[1]], form[2:])]
    if form[0] == "match":
        patterns = [([case[0]] if isinstance(case[0], str) else case[0][1:], case[1:]) for case in form[2]]
        return [([name for name in names if isinstance(name, str)], body) for names, body in patterns]
    return []


def unlet(form, names):
    """The term with what its `let`s name put in."""
    if isinstance(form, str):
        return names.get(form, form)
    if names and form:
        for inner, body in bound(form):
            used = [name for name in inner if mentions(body, [name])]
            if used and (mentions(list(names.values()), used) or any(name in names for name in used)):
                raise Broken(f"a quantifier or a pattern binds one of {' '.join(used)}, which a let uses")
    if form[:1] == ["let"]:
        inner = {name: unlet(value, names) for name, value in form[1]}
        return unlet(form[2], {**names, **inner})
    return [unlet(part, names) for part in form]


def defined(definitions):
    """The names of the functions in recursive definitions."""
    forms = [tree(text)[0] for text in definitions]
    heads = [[form[1:4]] if form[0] == "define-fun-rec" else form[1] for form in forms]
    names = [head[0] for group in heads for head in group]
    for name in names:
        if name in OPERATORS:
            raise Broken(f"{name} is no name for a function")
    return names


def with_names(text, names):
    """The text with other names for some symbols, which are given without bars."""
    words = re.compile(r'"(?:[^"]|"")*"|\|[^|]*\||[^\s()";|]+')
    return words.sub(lambda word: names.get(word.group().strip("|"), word.group()), text)


def positions(words):
    """The positions of a measure."""
    if not isinstance(words, list) or len(set(words)) != len(words) or not all(w.isdecimal() for w in words):
        raise Broken(f"no list of positions: {show(words)}")
    return [int(word) for word in words]


class Certificate:
    """Functions, their measures, and lemmas."""

    def __init__(self, definitions, comments, task, written):
        """`written` has the names that the functions had before `with_names`."""
        self.written = written
        self.functions = {}
        self.groups = []
        for text in definitions:
            form = tree(text)[0]
            if form[0] == "define-fun-rec":
                heads, bodies = [form[1:4]], [form[4]]
            else:
                heads, bodies = form[1], form[2]
            if len(heads) != len(bodies):
                raise Broken("as many functions as bodies are needed")
            for (name, params, sort), body in zip(heads, bodies):
                if name in self.functions:
                    raise Broken(f"{name} is defined twice")
                self.functions[name] = (params, sort, unlet(body, {}))
            self.groups.append([head[0] for head in heads])
        self.measures = {}
        self.lemmas = []
        for line in comments:
            word, *rest = tree(line[1:])
            if word == "measure":
                if rest[0] in self.measures:
                    raise Broken(f"two measures of {rest[0]}")
                self.measures[rest[0]] = positions(rest[1])
            else:
                self.lemmas.append(self.lemma(rest))
        self.selectors = {}
        for text in task:
            form = tree(text)[0]
            bodies = [form[2]] if form[0] == "declare-datatype" else form[2] if form[0] == "declare-datatypes" else []
            for body in bodies:
                for constructor in body[2] if body[:1] == ["par"] else body:
                    if isinstance(constructor, list):
                        for field in constructor[1:]:
                            self.selectors[field[0]] = constructor[0]
        for variables in [*(f[0] for f in self.functions.values()), *(lemma[1] for lemma in self.lemmas)]:
            names = [variable[0] for variable in variables]
            taken = [name for name in names if name in self.selectors or name in self.functions or name in OPERATORS]
            if taken or len(set(names)) != len(names):
                raise Broken(f"names of variables: {' '.join(names)}")

    @staticmethod
    def lemma(parts):
        name, variables, statement, *rest = parts
        measure, cases = [], []
        while rest:
            key, value, *rest = rest
            if key == ":measure":
                measure = positions(value)
            elif key == ":case":
                case = {"guard": unlet(value[0], {}), ":induction": [], ":use": [], ":unfold": []}
                for at in range(1, len(value), 2):
                    case[value[at]] = unlet(value[at + 1], {})
                cases.append(case)
            else:
                raise Broken(f"unknown part {show(key)} of lemma {name}")
        return name, variables, unlet(statement, {}), measure, cases

    def smaller(self, pairs):
        """That terms are lexicographically smaller than variables, given as (variable, sort, term)."""
        if not pairs:
            return "false"
        (old, sort, new), *rest = pairs
        if sort == "Int":
            less = ["and", ["<=", "0", old], ["<", new, old]]
        else:
            testers, at = [], new
            while isinstance(at, list) and len(at) == 2 and at[0] in self.selectors:
                testers.append([["_", "is", self.selectors[at[0]]], at[1]])
                at = at[1]
            less = ["and", "true", *testers] if at == old and testers else "false"
        later = self.smaller(rest)
        # Terms of mutually recursive functions may have other sorts than the variables.
        return less if later == "false" else ["or", less, ["and", ["=", new, old], later]]

    def calls(self, form, group, path, found):
        """The calls of functions of a group, with what holds where they matter."""
        if not form:
            return
        if isinstance(form, str):
            if form in group:
                raise Broken(f"{form} without arguments in the definition of its group")
            return
        head, args = form[0], form[1:]
        if isinstance(head, str) and head in group:
            found.append((head, args, path))
        if head == "ite":
            self.calls(args[0], group, path, found)
            self.calls(args[1], group, [*path, args[0]], found)
            self.calls(args[2], group, [*path, ["not", args[0]]], found)
        elif head in ("and", "or"):
            # The order is free: what calls nothing decides first.
            silent = [a for a in args if not mentions(a, group)]
            known = silent if head == "and" else [["not", a] for a in silent]
            for arg in args:
                self.calls(arg, group, [*path, *known], found)
        elif head in ("match", "forall", "exists", "lambda") and mentions(args, group):
            raise Broken(f"a call inside of {head}")
        else:
            for part in form[0 if isinstance(head, list) else 1:]:
                self.calls(part, group, path, found)

    def obligations(self):
        """Pairs of what is to be shown: a name, and a closed formula as text."""
        found = []

        def add(what, variables, formula):
            bound = " ".join(show(v) for v in variables)
            found.append((what, f"(forall ({bound}) {show(formula)})" if variables else show(formula)))

        for number, group in enumerate(self.groups):
            later = [name for names in self.groups[number + 1:] for name in names]
            for name in group:
                params, _, body = self.functions[name]
                if mentions(body, later):
                    raise Broken(f"{name} calls what is defined after it")
                calls = []
                self.calls(body, group, [], calls)
                for callee, args, path in calls:
                    pairs = list(zip(self.measures.get(name, []), self.measures.get(callee, [])))
                    sorts = [(params[m][1], self.functions[callee][0][n][1]) for m, n in pairs]
                    if len(self.measures.get(name, [])) != len(self.measures.get(callee, [])):
                        raise Broken(f"measures of {name} and {callee}")
                    if any(a != b and "Int" in (a, b) for a, b in sorts):
                        raise Broken(f"sorts of the measures of {name} and {callee}")
                    smaller = self.smaller([(params[m][0], show(params[m][1]), args[n]) for m, n in pairs])
                    add(f"a call of {callee} in {name}", params, ["=>", ["and", "true", *path], smaller])
        groups = self.lemma_groups()
        for at, (name, variables, statement, measure, cases) in enumerate(self.lemmas):
            own = [f"lemma!{at}!", *[v[0] for v in variables]] if variables else f"lemma!{at}!"
            guards = [case["guard"] for case in cases]
            add(f"the cases of {name}", variables, ["or", own, *guards, "false"])
            places = {other[0]: i for i, other in enumerate(self.lemmas)}
            for number, case in enumerate(cases, 1):
                premises = ["true", case["guard"]]
                for terms in case[":induction"]:
                    pairs = [(variables[m][0], show(variables[m][1]), terms[m]) for m in measure]
                    known = ["and", case["guard"], ["not", own]]
                    add(f"the hypothesis of case {number} of {name}", variables, ["=>", known, self.smaller(pairs)])
                    premises.append([f"lemma!{at}!", *terms])
                for other, *terms in case[":use"]:
                    if other not in places:
                        raise Broken(f"{name} uses {other}, which is no lemma")
                    used = places[other]
                    if groups[used] == groups[at]:
                        # As an induction hypothesis.
                        _, theirs, _, their_measure, _ = self.lemmas[used]
                        kinds = [[v[m][1] == "Int" for m in ms] for v, ms in [(variables, measure), (theirs, their_measure)]]
                        if kinds[0] != kinds[1]:
                            raise Broken(f"the measures of {name} and {other}")
                        pairs = [
                            (variables[m][0], show(variables[m][1]), terms[n]) for m, n in zip(measure, their_measure)
                        ]
                        known = ["and", case["guard"], ["not", own]]
                        smaller = ["=>", known, self.smaller(pairs)]
                        add(f"the use of {other} in case {number} of {name}", variables, smaller)
                    premises.append([f"lemma!{used}!", *terms] if terms else f"lemma!{used}!")
                for call in case[":unfold"]:
                    args = call[1:] if isinstance(call, list) else []
                    head = call[0] if isinstance(call, list) else call
                    if not isinstance(head, str) or head not in self.functions:
                        raise Broken(f"{show(call)} is no call of a function")
                    body = self.body(head)
                    premises.append(["=", call, [body, *args] if args else body])
                add(f"case {number} of {name}", variables, ["=>", ["and", *premises], own])
        return found

    def lemma_groups(self):
        """For each lemma, the first of its group: a lemma is in one with later ones that it uses."""
        places = {lemma[0]: at for at, lemma in enumerate(self.lemmas)}
        groups, last = [], 0
        for at, (_, _, _, _, cases) in enumerate(self.lemmas):
            groups.append(groups[-1] if groups and at <= last else at)
            uses = [places.get(use[0], 0) for case in cases for use in case[":use"]]
            last = max([last, *uses])
        return groups

    def body(self, name):
        """The symbol of a function's body."""
        return f"body!{list(self.functions).index(name)}!"

    def uninterpreted(self):
        """Functions declared, their bodies and the lemmas' statements defined."""
        out = []
        for name, (params, sort, _) in self.functions.items():
            sorts = " ".join(show(p[1]) for p in params)
            # The name that was written, too, so that one of an operation is refused.
            out.append(f"(declare-fun {self.written.get(name, name)} ({sorts}) {show(sort)})")
            out.append(f"(declare-fun {name} ({sorts}) {show(sort)})")
        for name, (params, sort, body) in self.functions.items():
            out.append(f"(define-fun {self.body(name)} {show(params)} {show(sort)} {show(body)})")
        return out + self.statements()

    def statements(self):
        """The lemmas' statements as definitions."""
        lemmas = enumerate(self.lemmas)
        return [f"(define-fun lemma!{at}! {show(l[1])} Bool {show(l[2])})" for at, l in lemmas]

    def assumed(self):
        """The lemmas as assertions."""
        return [
            f"(assert (forall {show(lemma[1])} {show(lemma[2])}))" if lemma[1] else f"(assert {show(lemma[2])})"
            for lemma in self.lemmas
        ]


def mentions(form, names):
    """Whether one of the names occurs."""
    stack = [form]
    while stack:
        part = stack.pop()
        if isinstance(part, str):
            if part in names:
                return True
        else:
            stack.extend(part)
    return False
