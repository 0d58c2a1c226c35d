"""Whether a script that `alphorn --certificate` wrote is an induction on derivations for a task.

docs/src/certificates.md defines the format, docs/src/derivations.md the proofs. Shares no code with
what wrote it: the proof is read from the comments, its form is checked here, and the questions that
it has to answer are derived again from it and from the clauses of the script.
"""

import re

from certificate import Broken, tree

LINE = re.compile(r"^;   ; (relational|query|total) (.*)$", re.MULTILINE)


def smaller(paths, measured, position_is_earlier):
    """Whether the derivations at paths are smaller than those of the measured slots, as multisets;
    equal ones are if the lemma's position is earlier."""
    rest = list(measured)
    for path in paths:
        if len(path) == 1:
            if path[0] not in rest:
                return False
            rest.remove(path[0])
    if not rest:
        return len(paths) == len(measured) and position_is_earlier
    return all(len(path) == 1 or path[0] in rest for path in paths)


class Clause:
    """A clause of the script: variables, body atoms, constraint, and head or None."""

    def __init__(self, form, predicates, words):
        self.vars, inner = (form[1], form[2]) if form[:1] == ["forall"] else ([], form)
        if inner[:1] != ["=>"] or len(inner) != 3 or inner[1][:2] != ["and", "true"] or len(inner[1]) < 3:
            raise Broken("a clause of another form")
        *body, self.constraint = inner[1][2:]
        self.body = [self.atom(atom) for atom in body]
        self.head = None if inner[2] == "false" else self.atom(inner[2])
        arguments = [argument for _, args in [*self.body, self.head or ("", [])] for argument in args]
        if set(predicates) & set(words([self.constraint, *arguments])):
            raise Broken("a clause with predicates in other places than atoms")
        for name, args in [*self.body, *([self.head] if self.head else [])]:
            if name not in predicates or len(args) != len(predicates[name]):
                raise Broken(f"{name} is no predicate with these arguments")

    @staticmethod
    def atom(form):
        name, *args = form if isinstance(form, list) else [form]
        return (name[1:-1] if name.startswith("|") else name), args


class Proof:
    """The lemmas, and instances for queries, of the lines in comments."""

    def __init__(self, text, clean):
        self.lemmas, self.queries, self.names = [], [], {}
        self.totals, self.total_names = [], {}
        lines = LINE.findall(text)
        for keyword, line in lines:
            if keyword != "query":
                names = self.names if keyword == "relational" else self.total_names
                name = tree(line)[0]
                if not isinstance(name, str) or name in names:
                    raise Broken(f"two lemmas {name}")
                names[name] = len(names)
        for keyword, line in lines:
            forms = tree(line)
            if keyword == "query":
                if forms[0] != str(len(self.queries)) or forms[1] != ":use":
                    raise Broken("queries out of order")
                self.queries.append([self.instance(form) for form in forms[2:]])
                continue
            if keyword == "total":
                self.totals.append(self.total(forms, clean))
                continue
            slots = [Clause.atom(clean(slot)) for slot in forms[1]]
            options = dict(zip(forms[3::2], forms[4::2]))
            known = {":group", ":measured", ":proof", ":concludes"}
            if len(forms) % 2 == 0 or set(options) - known or ":proof" not in options:
                raise Broken("a lemma of another form")
            if 2 * len(options) != len(forms) - 3:
                raise Broken("an option that is there twice")
            measured = [int(word) for word in options.get(":measured", [str(n) for n in range(len(slots))])]
            if len(set(measured)) != len(measured) or any(slot >= len(slots) for slot in measured):
                raise Broken("measured slots are distinct positions")
            group = int(options.get(":group", "0"))
            conclusion = Clause.atom(clean(options[":concludes"])) if ":concludes" in options else None
            self.lemmas.append((slots, clean(forms[2]), group, measured, options[":proof"], conclusion))
        self.clean = clean

    def instances(self, forms):
        if not isinstance(forms, list):
            raise Broken("no list of instances")
        return [self.instance(form) for form in forms]

    def instance(self, form):
        """The position of a lemma, and atoms."""
        if not isinstance(form, list) or form[0] not in self.names or not all(map(str.isdecimal, form[1:])):
            raise Broken("no instance of a lemma")
        return self.names[form[0]], [int(atom) for atom in form[1:]]

    def step(self, form):
        """An application of a clause: predicate, position, premises, names, values, and instances."""
        (predicate, *numbers), names, values, uses = form
        if not numbers or not all(map(str.isdecimal, numbers)) or not isinstance(predicate, str):
            raise Broken("no clause of a predicate")
        given = []
        for name, atom, arg in names:
            if not isinstance(name, str) or not atom.isdecimal() or not arg.isdecimal():
                raise Broken("no name of an argument")
            given.append((name, int(atom), int(arg)))
        clause, *premises = map(int, numbers)
        values = [self.clean(value) for value in values]
        name, _ = Clause.atom(predicate)
        return name, clause, premises, given, values, self.instances(uses)

    def total(self, forms, clean):
        """A statement of totality: the fact, its domain, outputs, group, measure and cases."""
        fact = Clause.atom(clean(forms[1]))
        options = dict(zip(forms[3::2], forms[4::2]))
        if set(options) != {":outputs", ":group", ":measure", ":cases"} or len(forms) != 11:
            raise Broken("a statement of another form")
        outputs = [int(word) for word in options[":outputs"]]
        if outputs != sorted(set(outputs)) or any(not 0 <= at < len(fact[1]) for at in outputs):
            raise Broken("outputs are ascending positions")
        cases = [(int(clause), [self.existence(form) for form in premises]) for clause, *premises in options[":cases"]]
        return fact, clean(forms[2]), outputs, int(options[":group"]), self.sum(options[":measure"]), cases

    def existence(self, form):
        """The position of a statement, inputs, and instances."""
        if not isinstance(form, list) or form[0] not in self.total_names:
            raise Broken("no statement of totality")
        return self.total_names[form[0]], [self.sum(part) for part in form[1]], [self.instance(use) for use in form[2:]]

    @staticmethod
    def sum(form):
        """A constant, and factors with positions of atoms and arguments."""
        parts = [tuple(int(word) for word in part) for part in form[1:]]
        if any(len(part) != 3 or min(part[1:]) < 0 for part in parts):
            raise Broken("a sum of another form")
        return int(form[0]), parts


class Questions:
    """Derives the questions of a proof."""

    def __init__(self, stem, clauses, proof, sorts):
        self.stem, self.clauses, self.proof, self.sorts = stem, clauses, proof, sorts
        self.found = []
        # The clauses that were applied.
        self.used = set()

    def rules(self, name):
        """The clauses that derive a predicate."""
        return [n for n, clause in enumerate(self.clauses) if clause.head and clause.head[0] == name]

    def args(self, number, atom):
        """Pairs of an atom's arguments and their sorts."""
        return [[f"{self.stem}a{number}_{j}", sort] for j, sort in enumerate(self.sorts[atom[0]])]

    def applied(self, name, args):
        """A definition applied to pairs of variables and sorts."""
        names = [arg for arg, _ in args]
        return [self.stem + name, *names] if names else self.stem + name

    def instance(self, used, atoms):
        number, _ = used
        if self.proof.lemmas[number][5]:
            raise Broken("an instance of a lemma that concludes a fact")
        return self.applied(f"lemma{number}", self.matched(used, atoms))

    def matched(self, used, atoms):
        """The arguments of the atoms of an instance, with their sorts."""
        number, places = used
        slots = self.proof.lemmas[number][0]
        if len(places) != len(slots) or any(place >= len(atoms) for place in places):
            raise Broken("an instance with other atoms")
        if any(atoms[place][0] != slot[0] for place, slot in zip(places, slots)):
            raise Broken("an instance at an atom of another predicate")
        return [arg for place in places for arg in self.args(place, atoms[place])]

    def add(self, binders, atoms, known):
        binders = [*binders, *(arg for number, atom in enumerate(atoms) for arg in self.args(number, atom))]
        formula = ["not", ["and", "true", *known]]
        self.found.append(["forall", binders, formula] if binders else formula)

    def rule(self, number, name):
        """The variables of a clause under new names."""
        return [[f"{self.stem}{name}_{j}", sort] for j, (_, sort) in enumerate(self.clauses[number].vars)]

    @staticmethod
    def sum(total, given):
        """A sum over the given arguments of atoms."""
        constant, parts = total
        numeral = lambda n: ["-", str(-n)] if n < 0 else str(n)

        def value(atom, arg):
            if atom >= len(given) or arg >= len(given[atom]) or given[atom][arg] is None:
                raise Broken("a value that is not given")
            return given[atom][arg]

        if constant == 0 and len(parts) == 1 and parts[0][0] == 1:
            return value(*parts[0][1:])
        return ["+", numeral(constant), "0", *(["*", numeral(n), value(atom, arg)] for n, atom, arg in parts)]

    def inputs(self, fact, name, given):
        """The inputs of a fact that exists."""
        (predicate, args), _, outputs, *_ = self.proof.totals[fact[0]]
        if predicate != name or len(outputs) + len(fact[1]) != len(args):
            raise Broken("a statement about another predicate")
        return [self.sum(part, given) for part in fact[1]]

    def domain(self, number, terms):
        return [f"{self.stem}domain{number}", *terms] if terms else f"{self.stem}domain{number}"

    @staticmethod
    def placed(arity, outputs, terms):
        terms = iter(terms)
        return [None if at in outputs else next(terms) for at in range(arity)]

    def total(self, number):
        """The question of a statement of totality."""
        (name, args), _, outputs, group, measure, cases = self.proof.totals[number]
        sorts = self.sorts[name]
        if any(arg >= len(sorts) or sorts[arg] != "Int" for _, _, arg in measure[1]):
            raise Broken("a measure that is no integer")
        head = [None if at in outputs else f"{self.stem}a0_{at}" for at in range(len(args))]
        binders = [[arg, sort] for arg, sort in zip(head, sorts) if arg]
        start, found = self.sum(measure, [head]), []
        for at, (clause, premises) in enumerate(cases):
            rules = self.rules(name)
            if clause >= len(rules) or len(self.clauses[rules[clause]].body) != len(premises):
                raise Broken("a clause that derives no fact")
            given, atoms, steps = [head], [(None, [])], []
            for k, ((body, _), fact) in enumerate(zip(self.clauses[rules[clause]].body, premises)):
                _, _, others, other, *_ = self.proof.totals[fact[0]]
                if fact[0] > number or other > group:
                    raise Broken("a statement that is not earlier")
                terms = self.inputs(fact, body, given)
                known = [self.domain(fact[0], terms)]
                if fact[0] == number:
                    inner = self.sum(measure, [self.placed(len(args), outputs, terms)])
                    known += [["<=", "0", start], ["<", inner, start]]
                own = self.placed(len(self.sorts[body]), others, terms)
                values = [f"{self.stem}o{at}_{k}_{j}" if j in others else None for j in range(len(own))]
                binders += [[values[j], self.sorts[body][j]] for j in others]
                given.append(values)
                atoms.append((body, [term if value is None else value for term, value in zip(own, values)]))
                uses = []
                for lemma, places in fact[2]:
                    slots, _, smaller_group, _, _, conclusion = self.proof.lemmas[lemma]
                    if conclusion or smaller_group >= group or len(places) != len(slots):
                        raise Broken("an instance of a lemma of no smaller group")
                    if any(p >= len(atoms) or atoms[p][0] != slot[0] for p, slot in zip(places, slots)):
                        raise Broken("an instance at other atoms")
                    terms = [arg for place in places for arg in atoms[place][1]]
                    uses.append([f"{self.stem}lemma{lemma}", *terms] if terms else f"{self.stem}lemma{lemma}")
                steps.append((known, uses))
            new = self.rule(rules[clause], "c")
            names = [f"{self.stem}a0_{j}" for j in range(len(args))]
            form = [f"{self.stem}rule{rules[clause]}", *(arg for arg, _ in new), *names]
            form += [arg for _, own in atoms[1:] for arg in own]
            form = form if len(form) > 1 else form[0]
            inner = [*new, *([names[j], sorts[j]] for j in outputs)]
            form = ["exists", inner, form] if inner else form
            for known, uses in reversed(steps):
                form = ["and", *known, ["=>", ["and", "true", *uses], form]]
            found.append(form)
        form = ["=>", self.domain(number, [arg for arg in head if arg]), ["or", "false", *found]]
        self.found.append(["forall", binders, form] if binders else form)

    def ghost(self, fact, atoms, group):
        """The domain of a ghost's inputs, and equations for them."""
        (name, args), _, outputs, other, *_ = self.proof.totals[fact[0]]
        if other > group:
            raise Broken("a statement of a larger group")
        given = [[arg for arg, _ in self.args(at, atom)] for at, atom in enumerate(atoms)]
        terms = self.inputs(fact, name, given)
        places = [at for at in range(len(args)) if at not in outputs]
        equations = [["=", f"{self.stem}a{len(atoms)}_{at}", term] for at, term in zip(places, terms)]
        return name, self.domain(fact[0], terms), equations

    def uses(self, number, uses, atoms):
        """The instances of lemmas in a lemma's proof, which have to be smaller."""
        instances = []
        for used in uses:
            instances.append(self.instance(used, atoms))
            self.descends(number, used, atoms)
        return instances

    def descends(self, number, used, atoms):
        """Raises Broken if an instance, which matches the atoms, is not smaller than a lemma."""
        _, _, group, measured, *_ = self.proof.lemmas[number]
        _, _, other, others, *_ = self.proof.lemmas[used[0]]
        paths = [atoms[used[1][slot]][1] for slot in others]
        if other > group or (other == group and not smaller(paths, measured, used[0] < number)):
            raise Broken(f"lemma {number} uses an instance that is not smaller")

    def added(self, number, form, atoms, binders, known):
        """The conclusion of an instance, and equations for its arguments; asks what the lemma assumes."""
        used, uses = self.proof.instance(form[0]), self.proof.instances(form[1])
        conclusion = self.proof.lemmas[used[0]][5]
        if not conclusion:
            raise Broken("a fact of a lemma that concludes none")
        args = self.matched(used, atoms)
        self.descends(number, used, atoms)
        assumed = ["not", self.applied(f"premise{used[0]}", args)]
        self.add(binders, atoms, [*known, assumed, *self.uses(number, uses, atoms)])
        name, terms = conclusion
        values = [self.applied(f"conclusion{used[0]}_{j}", args) for j in range(len(terms))]
        return name, [["=", f"{self.stem}a{len(atoms)}_{j}", value] for j, value in enumerate(values)]

    def by_clause(self, number, form, atoms, binders, known):
        """The head of a clause, new binders, and equations; asks whether the clause derives it."""
        name, clause, premises, names, values, uses = self.proof.step(form)
        rules = self.rules(name)
        if clause >= len(rules):
            raise Broken("a clause that is not there")
        rule = rules[clause]
        self.used.add(rule)
        body = self.clauses[rule].body
        if len(body) != len(premises) or len(self.clauses[rule].vars) != len(values):
            raise Broken("not as many facts or values as a clause has")
        if any(at >= len(atoms) or atoms[at][0] != atom for at, (atom, _) in zip(premises, body)):
            raise Broken("a clause with another fact")
        given = []
        for word, at, arg in names:
            if at >= len(atoms) or arg >= len(self.sorts[atoms[at][0]]):
                raise Broken("a value that is not given")
            given.append([word, f"{self.stem}a{at}_{arg}"])
        place = len(atoms)
        new = self.rule(rule, f"v{place}")
        own = [["=", var, ["let", given, value] if given else value] for (var, _), value in zip(new, values)]
        head = self.args(place, (name, None))
        own += [["=", arg, self.applied(f"head{rule}_{j}", new)] for j, (arg, _) in enumerate(head)]
        args = [*new, *head, *(arg for at in premises for arg in self.args(at, atoms[at]))]
        question = ["not", self.applied(f"rule{rule}", args)]
        instances = self.uses(number, uses, atoms)
        more = [*atoms, (name, (-1,))]
        self.add([*binders, *new], more, [*known, *own, question, *instances])
        return name, new, own

    def goal(self, number, form, atoms, binders, known):
        """Asks whether one of the atoms is the conclusion."""
        slots, *_, conclusion = self.proof.lemmas[number]
        if not conclusion or not all(map(str.isdecimal, form[0])):
            raise Broken("a goal of a lemma that concludes no fact")
        args = [arg for at, slot in enumerate(slots) for arg in self.args(at, slot)]
        found = []
        for at in map(int, form[0]):
            if at >= len(atoms) or atoms[at][0] != conclusion[0]:
                raise Broken("another fact as conclusion")
            pairs = enumerate(self.args(at, atoms[at]))
            found.append(["and", "true", *(["=", arg, self.applied(f"conclusion{number}_{j}", args)] for j, (arg, _) in pairs)])
        uses = self.uses(number, self.proof.instances(form[1:]), atoms)
        self.add(binders, atoms, [*known, ["not", ["or", "false", *found]], *uses])

    def lemma(self, number):
        """The questions of a lemma's proof, in the order of its leaves."""
        slots, _, group, _, root, conclusion = self.proof.lemmas[number]
        atoms = [(name, (at,)) for at, (name, _) in enumerate(slots)]
        args = [arg for at, atom in enumerate(atoms) for arg in self.args(at, atom)]
        start = self.applied(f"premise{number}", args) if conclusion else ["not", self.applied(f"lemma{number}", args)]
        todo = [(root, atoms, [], [start], frozenset())]
        while todo:
            node, atoms, binders, known, split = todo.pop()
            if node[:1] == [":use"]:
                uses = [self.proof.instance(form) for form in node[1:]]
                self.add(binders, atoms, [*known, *self.uses(number, uses, atoms)])
                continue
            if node[:1] == [":goal"] and len(node) > 1:
                self.goal(number, node[1:], atoms, binders, known)
                continue
            if node[:1] == [":add"] and len(node) == 4:
                name, equations = self.added(number, node[1:3], atoms, binders, known)
                todo.append((node[3], [*atoms, (name, (-1,))], binders, [*known, *equations], split))
                continue
            if node[:1] == [":apply"] and len(node) == 6:
                name, new, equations = self.by_clause(number, node[1:5], atoms, binders, known)
                todo.append((node[5], [*atoms, (name, (-1,))], [*binders, *new], [*known, *equations], split))
                continue
            if node[:1] == [":ghost"] and len(node) == 3:
                fact = self.proof.existence(node[1])
                name, domain, equations = self.ghost(fact, atoms, group)
                self.add(binders, atoms, [*known, ["not", domain], *self.uses(number, fact[2], atoms)])
                todo.append((node[2], [*atoms, (name, (-1,))], binders, [*known, *equations], split))
                continue
            if node[:1] != [":split"]:
                raise Broken("a node of another form")
            at, cases = int(node[1]), node[2:]
            if at >= len(atoms) or at in split:
                raise Broken(f"a split of atom {at}")
            name, path = atoms[at]
            rules = self.rules(name)
            if len(rules) != len(cases):
                raise Broken(f"{len(cases)} cases for {len(rules)} clauses")
            for rule, case in reversed(list(zip(rules, cases))):
                body = self.clauses[rule].body
                more = [(premise, (*path, j)) for j, (premise, _) in enumerate(body)]
                new = self.rule(rule, f"c{at}")
                args = [*new, *self.args(at, atoms[at])]
                for j, atom in enumerate(more, len(atoms)):
                    args += self.args(j, atom)
                step = self.applied(f"rule{rule}", args)
                todo.append((case, [*atoms, *more], [*binders, *new], [*known, step], split | {at}))

    def queries(self):
        rules = [n for n, clause in enumerate(self.clauses) if not clause.head]
        if len(rules) != len(self.proof.queries):
            raise Broken(f"{len(self.proof.queries)} queries of {len(rules)}")
        for rule, uses in zip(rules, self.proof.queries):
            atoms = [(name, ()) for name, _ in self.clauses[rule].body]
            binders = self.rule(rule, "c")
            args = [*binders, *(arg for at, atom in enumerate(atoms) for arg in self.args(at, atom))]
            known = [self.applied(f"rule{rule}", args), *(self.instance(used, atoms) for used in uses)]
            self.add(binders, atoms, known)


def inst(stem, number, clause):
    """The matrix of a clause as a function of its variables."""
    form = clause[4]
    params, matrix = form[1:] if form[:1] == ["forall"] else ([], form)
    return ["define-fun", f"{stem}inst{number}", params, "Bool", matrix]


def implies(form, assertion, names, instances):
    """Whether a question is that clauses, or instances with its own variables, imply an assertion."""
    bound = []
    if form[:1] == ["forall"] and assertion[:1] == ["forall"] and form != assertion:
        if len(form) != 3 or form[1] != assertion[1]:
            return False
        bound = [name for name, _ in form[1]]
        form, assertion = form[2], assertion[2]
    if form[:1] != ["=>"] or len(form) != 3 or form[1][:2] != ["and", "true"] or form[2] != assertion:
        return False
    for premise in form[1][2:]:
        name, *args = premise if isinstance(premise, list) else [premise]
        if name in names and not args:
            continue
        if name not in instances or not all(isinstance(arg, str) and arg in bound for arg in args):
            return False
    return True


def rule(stem, number, clause, sorts):
    """The definition that relates a clause's variables with the arguments of its atoms."""
    params, equations = list(clause.vars), []
    head = [(f"h{j}", *pair) for j, pair in enumerate(zip(clause.head[1], sorts[clause.head[0]]))] if clause.head else []
    for k, (name, args) in enumerate(clause.body):
        head += [(f"b{k}_{j}", *pair) for j, pair in enumerate(zip(args, sorts[name]))]
    for name, value, sort in head:
        params.append([stem + name, sort])
        equations.append(["=", stem + name, value])
    return ["define-fun", f"{stem}rule{number}", params, "Bool", ["and", "true", *equations, clause.constraint]]


def checks(task, commands, text, clean, words):
    """How many checks of the certificate have to answer `unsat`. Raises Broken if it is none."""
    proof = Proof(text, clean)
    sorts = {name: [task.expanded(sort) for sort in of] for name, of in task.predicates.items()}
    own = [command for command in commands if command[:1] == ["define-fun"] and command not in task.declarations]
    stem = next((c[1].removesuffix("clause0") for c in own if c[1].endswith("clause0")), None)
    if not stem or any(stem in word for word in task.words):
        raise Broken("names with a meaning already")
    clauses = []
    while any(command[1] == f"{stem}clause{len(clauses)}" for command in own):
        [form] = [command for command in own if command[1] == f"{stem}clause{len(clauses)}"]
        if form[2:4] != [[], "Bool"]:
            raise Broken("a clause with parameters")
        clauses.append(Clause(form[4], sorts, words))
    expected = []
    for number, clause in enumerate(clauses):
        expected.append(next(c for c in own if c[1] == f"{stem}clause{number}"))
        expected.append(inst(stem, number, expected[-1]))
        expected.append(rule(stem, number, clause, sorts))
    for number, (slots, statement, *_, conclusion) in enumerate(proof.lemmas):
        if any(name not in sorts or len(args) != len(sorts[name]) for name, args in slots):
            raise Broken("a lemma about no predicate")
        params = [[arg, sort] for name, args in slots for arg, sort in zip(args, sorts[name])]
        what = "premise" if conclusion else "lemma"
        expected.append(["define-fun", f"{stem}{what}{number}", params, "Bool", statement])
        if conclusion and (conclusion[0] not in sorts or len(conclusion[1]) != len(sorts[conclusion[0]])):
            raise Broken("a conclusion with no predicate")
        for j, term in enumerate(conclusion[1] if conclusion else []):
            expected.append(["define-fun", f"{stem}conclusion{number}_{j}", params, sorts[conclusion[0]][j], term])
    for number, ((name, args), domain, outputs, *_) in enumerate(proof.totals):
        if name not in sorts or len(args) != len(sorts[name]):
            raise Broken("a statement about no predicate")
        params = [[arg, sort] for at, (arg, sort) in enumerate(zip(args, sorts[name])) if at not in outputs]
        expected.append(["define-fun", f"{stem}domain{number}", params, "Bool", domain])
    questions = Questions(stem, clauses, proof, sorts)
    for number in range(len(proof.totals)):
        questions.total(number)
    for number in range(len(proof.lemmas)):
        questions.lemma(number)
    questions.queries()
    for number in sorted(questions.used):
        name, terms = clauses[number].head
        for j, term in enumerate(terms):
            expected.append(["define-fun", f"{stem}head{number}_{j}", clauses[number].vars, sorts[name][j], term])
    if own != expected:
        raise Broken("definitions that are not those of the clauses and lemmas")
    declared = [["declare-fun", name, of, "Bool"] for name, of in task.predicates.items()]
    asked, at = [], 0
    while at < len(commands):
        command = commands[at]
        at += 1
        if command in own or command in task.declarations or command == ["set-logic", "ALL"]:
            continue
        if command[:1] == ["declare-fun"] and [command[0], command[1].strip("|"), *command[2:]] in declared:
            continue
        if command != ["push", "1"] or commands[at + 1:at + 3] != [["check-sat"], ["pop", "1"]]:
            raise Broken(f"a command that has no place in an induction: {command[:2]}")
        asked.append(commands[at])
        at += 3
    names = {f"{stem}clause{number}" for number in range(len(clauses))}
    instances = {f"{stem}inst{number}" for number in range(len(clauses))}
    for number, assertion in enumerate(task.assertions):
        form = asked[number] if number < len(asked) else None
        implied = form[1][1] if form and form[0] == "assert" and form[1][:1] == ["not"] else []
        if not implies(implied, assertion, names, instances):
            raise Broken(f"check {number + 1} is not of assertion {number + 1}")
    if asked[len(task.assertions):] != [["assert", ["not", form]] for form in questions.found]:
        raise Broken("checks that are not those of the proof")
    return len(asked)
