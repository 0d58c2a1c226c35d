"""Whether a script that `alphorn --certificate` wrote is a certificate for a task.

docs/src/certificates.md defines the format.

Shares no code with what wrote it. Whether its checks answer `unsat` is for a solver to say; here is
seen that they are about the task, so that the answers mean something.
"""

import re

import derivations
import models
from certificate import Broken, tree

TOKEN = re.compile(r'(?:\s|;[^\n]*)*(?:(\(|\))|("(?:[^"]|"")*"|\|[^|]*\||[^\s()";|]+(?:\|[^|]*\|)?)|\Z)')
TITLE = "; alphorn certificate 1: "


def forms(text):
    """The S-expressions of a text with comments, as nested lists of words."""
    return tree(text, TOKEN)


def plain(symbol):
    """A symbol without its quotes."""
    if not isinstance(symbol, str):
        raise Broken("a name is expected")
    return models.plain(symbol)


SIMPLE = re.compile(r"[A-Za-z~!@$%^&*_\-+=<>.?/][A-Za-z0-9~!@$%^&*_\-+=<>.?/]*")
RESERVED = {"_", "!", "as", "let", "exists", "forall", "match", "par"}
# Z3's own lists, which a task may use without a declaration.
LIST = "(declare-datatypes ((List 1)) ((par (T) ((nil) (insert (head T) (tail (List T)))))))"


def word(symbol, names=()):
    """A symbol without quotes that it does not need, and with its old name."""
    if symbol.startswith("|"):
        simple = SIMPLE.fullmatch(symbol[1:-1]) and symbol[1:-1] not in RESERVED
        symbol = symbol[1:-1] if simple else symbol
    return names[symbol] if symbol in names else symbol


def sort(form):
    """A sort, `(S)` as `S`."""
    if not isinstance(form, list):
        return form
    return sort(form[0]) if len(form) == 1 else [form[0], *map(sort, form[1:])]


def clean(form, names=()):
    """A term without annotations and empty quantifiers, and with `mod` for `divisible`: the same
    meaning. Symbols as `word` gives them."""
    if isinstance(form, str):
        return word(form, names)
    if form[:1] == ["!"] and len(form) > 1:
        return clean(form[1], names)
    if len(form) == 3 and form[0] in ("forall", "exists"):
        bound = [[clean(name, names), sort(clean(of, names))] for name, of in form[1]]
        body = clean(form[2], names)
        return [form[0], bound, body] if bound else body
    if len(form) == 3 and form[0] == "as":
        return [form[0], clean(form[1], names), sort(clean(form[2], names))]
    if len(form) == 2 and isinstance(form[0], list) and form[0][:2] == ["_", "divisible"]:
        return ["=", "0", ["mod", clean(form[1], names), form[0][2]]]
    return [clean(part, names) for part in form]


# The operation `mod` beside a task's own function of this name.
DIVISION = "mod!operation"


def declares_mod(commands):
    """Whether a task declares or defines `mod`."""
    heads = (command[1] for command in commands if isinstance(command, list) and len(command) > 2
             and isinstance(command[0], str) and command[0].startswith(("declare-", "define-")))
    return any(isinstance(name, str) and plain(name) == "mod" for name in heads)


def divided(form):
    """A term of such a task, with `DIVISION` for `divisible`."""
    if isinstance(form, str):
        return form
    if len(form) == 2 and isinstance(form[0], list) and form[0][:2] == ["_", "divisible"]:
        return ["=", "0", [DIVISION, divided(form[1]), form[0][2]]]
    return [divided(part) for part in form]


def tidy(command, names=()):
    """A command with clean terms and sorts."""
    command = clean(command, names)
    keyword = command[0] if isinstance(command, list) and command else None
    if keyword in ("declare-fun", "declare-rel", "define-sort"):
        command[2] = [sort(of) for of in command[2]]
    if keyword == "define-fun":
        command[2] = [[name, sort(of)] for name, of in command[2]]
    if keyword in ("declare-fun", "define-fun", "define-sort"):
        command[3] = sort(command[3])
    if keyword in ("declare-const", "declare-var", "define-const"):
        command[2] = sort(command[2])
    return command


def bound_names(form):
    """The names that quantifiers, `let`s, patterns and definitions bind."""
    found, stack = set(), [form]
    while stack:
        part = stack.pop()
        if not isinstance(part, list):
            continue
        if part[:1] in (["forall"], ["exists"], ["let"]) and len(part) == 3:
            found.update(pair[0] for pair in part[1])
        if part[:1] == ["match"] and len(part) == 3:
            for pattern, _ in part[2]:
                found.update(pattern[1:] if isinstance(pattern, list) else [pattern])
        if part[:1] == ["define-fun"]:
            found.update(pair[0] for pair in part[2])
        stack.extend(part)
    return found


def renamed(commands, text, task):
    """The commands with the names of the task, for those that have others: `; NEW stands for OLD`.
    A symbol has a new name wherever it occurs, or the variables of its name have one."""
    names, commands = {}, [clean(command) for command in commands]
    if task.declares_mod:
        # The task's own `mod` has another name here.
        commands = [replaced(command, {"mod": DIVISION}) for command in commands]
    used = {plain(atom) for atom in atoms(commands) if atom not in RESERVED}
    bound = bound_names(commands)
    for new, old in re.findall(r"^; (\S+) stands for (.*)$", text, re.MULTILINE):
        if new in names or plain(new) in task.words or plain(new) == DIVISION:
            raise Broken(f"{new} has a meaning already")
        if plain(old) in used and (new not in bound or old in bound):
            raise Broken(f"{old} has two names")
        names[new] = old
    if "List" in names.values():
        task.declarations.append(tidy(forms(LIST)[0]))
    return [tidy(command, names) for command in commands]


def atoms(form):
    """The atoms of a form as they are written, in the order in which they occur."""
    found, stack = {}, [form]
    while stack:
        part = stack.pop()
        if isinstance(part, str):
            found[part] = True
        else:
            stack.extend(reversed(part))
    return found


def words(form):
    """The symbols of a form, plain, in the order in which they occur."""
    return dict.fromkeys(plain(atom) for atom in atoms(form))


class Task:
    """What a task declares and asserts."""

    def __init__(self, text):
        self.declarations = []  # of all but predicates
        self.predicates = {}  # sorts by plain name
        self.assertions = []
        self.words = set()
        self.sorts = {}  # parameters and body by plain name
        variables, relations = {}, set()
        in_text = in_force(forms(text))
        self.declares_mod = declares_mod(in_text)
        for written in in_text:
            self.words.update(words(written))
            command = tidy(divided(written) if self.declares_mod else written)
            keyword, *rest = command if isinstance(command, list) else [command]
            if keyword == "assert" and written[1][:1] == ["!"] and ":named" in written[1]:
                label = written[1][written[1].index(":named") + 1]
                self.declarations.append(["define-fun", word(label), [], "Bool", rest[0]])
            if keyword == "define-sort":
                self.sorts[plain(rest[0])] = rest[1:]
            if keyword == "declare-rel" or (keyword == "declare-fun" and rest[2] == "Bool"):
                self.predicates[plain(rest[0])] = rest[1]
                if keyword == "declare-rel":
                    relations.add(plain(rest[0]))
            elif keyword == "declare-var":
                variables[plain(rest[0])] = rest
            elif keyword == "assert":
                self.assertions.append(rest[0])
            elif keyword in ("rule", "query"):
                formula = rest[0]
                if keyword == "query" and isinstance(formula, str) and plain(formula) in relations:
                    bound = [[f"query!{n}", sort] for n, sort in enumerate(self.predicates[plain(formula)])]
                    formula = [formula, *(name for name, _ in bound)] if bound else formula
                else:
                    bound = [variables[name] for name in words(formula) if name in variables]
                formula = ["=>", formula, "false"] if keyword == "query" else formula
                self.assertions.append(["forall", bound, formula] if bound else formula)
            elif keyword.startswith(("declare-", "define-")):
                self.declarations.append(command)


    def expanded(self, sort):
        """A sort with the definitions of sorts put in."""
        head, *arguments = sort if isinstance(sort, list) else [sort]
        arguments = [self.expanded(argument) for argument in arguments]
        if isinstance(head, str) and plain(head) in self.sorts:
            params, body = self.sorts[plain(head)]
            return self.expanded(replaced(body, dict(zip(params, arguments))))
        return [head, *arguments] if isinstance(sort, list) else head


def replaced(form, names):
    """A form with others in the place of names."""
    return names.get(form, form) if isinstance(form, str) else [replaced(part, names) for part in form]


def in_force(commands):
    """The commands in force at the check."""
    found, levels = [], []
    for command in commands:
        keyword = command[0] if isinstance(command, list) and command else None
        if keyword == "push":
            levels += [len(found)] * int(command[1] if command[1:] else 1)
        elif keyword == "pop":
            for _ in range(int(command[1] if command[1:] else 1)):
                del found[levels.pop():]
        elif keyword in ("reset", "reset-assertions"):
            found, levels = [], []
        elif keyword == "check-sat":
            break
        else:
            found.append(command)
    return found


def is_instance(instance, assertion, params):
    """Whether `instance` is implied by `assertion`: the same but for quantifiers taken off, with
    parameters, given by their sorts, in the place of their variables."""
    todo = [(instance, assertion, True)]
    while todo:
        new, old, positive = todo.pop()
        if new == old:
            continue
        if positive is None or not isinstance(old, list) or not old:
            return False
        if old[0] == ("forall" if positive else "exists") and len(old) == 3:
            if new == ("true" if positive else "false"):
                continue
            junction = "and" if positive else "or"
            several = isinstance(new, list) and new[:1] == [junction]
            for one in new[1:] if several else [new]:
                if not isinstance(one, list) or one[:1] != ["let"] or len(one) != 3:
                    return False
                names = [[name, params.get(term) if isinstance(term, str) else None] for name, term in one[1]]
                if names != old[1]:
                    return False
                todo.append((one[2], old[2], positive))
            continue
        if old[0] == "!" and len(old) > 1:
            todo.append((new, old[1], positive))
            continue
        if not isinstance(new, list) or len(new) != len(old) or new[0] != old[0]:
            return False
        last = len(old) - 1
        for at in range(1, len(old)):
            inside = None
            if old[0] in ("and", "or") or (old[0] == "=>" and at == last):
                inside = positive
            elif old[0] in ("not", "=>"):
                inside = not positive
            elif (old[0] == "ite" and at > 1) or (old[0] == "let" and at == last):
                inside = positive
            todo.append((new[at], old[at], inside))
    return True


def refutation(task, commands):
    """Checks a refutation's form; the number of checks."""
    predicates = [["declare-fun", plain(name), sorts, "Bool"] for name, sorts in task.predicates.items()]
    instances, defined, checks = set(), set(), 0
    for command in commands:
        if checks:
            raise Broken("something after check-sat")
        if command == ["set-logic", "ALL"] or command in task.declarations:
            continue
        if command[:1] == ["declare-fun"] and [command[0], plain(command[1]), *command[2:]] in predicates:
            continue
        if command == ["check-sat"]:
            checks = 1
        elif command[:1] == ["assert"] and len(command) == 2:
            atom = command[1]
            name = atom if isinstance(atom, str) else atom[0]
            if not isinstance(name, str) or name not in instances:
                raise Broken("an assertion that is no instance")
        elif command[:1] == ["define-fun"] and len(command) == 5:
            _, name, params, sort, body = command
            sorts = {param: sort for param, sort in params}
            for new in [name, *sorts]:
                if plain(new) in task.words or plain(new) != new or new in defined:
                    raise Broken(f"{new} has a meaning already")
            if len(sorts) != len(params) or name in sorts:
                raise Broken(f"parameters of {name}")
            defined.add(name)
            if sort == "Bool":
                if not any(is_instance(body, assertion, sorts) for assertion in task.assertions):
                    raise Broken(f"{name} is no instance of an assertion")
                instances.add(name)
            elif params:
                raise Broken(f"{name} is no value")
        else:
            raise Broken(f"a command that has no place in a refutation: {command[:2]}")
    if not checks:
        raise Broken("no check-sat")
    return checks


def model(task, commands, lemmas=None):
    """Checks a model's form; the number of checks. `lemmas`: names of what is assumed, with their
    definitions, if functions are recursive."""
    defined, shown, at = set(), 0, 0
    while at < len(commands):
        command = commands[at]
        at += 1
        if command == ["set-logic", "ALL"] or command in task.declarations:
            continue
        if command == ["push", "1"]:
            if shown == len(task.assertions):
                raise Broken("more checks than assertions")
            negated = ["assert", ["not", task.assertions[shown]]]
            shown += 1
            if commands[at:at + 3] != [negated, ["check-sat"], ["pop", "1"]]:
                raise Broken(f"check {shown} is not of assertion {shown}")
            at += 3
        elif command[:1] == ["define-fun"] and plain(command[1]) in task.predicates:
            name, params, sort = plain(command[1]), command[2], command[3]
            sorts, declared = [param[1] for param in params], task.predicates[name]
            sorts, declared = map(task.expanded, sorts), map(task.expanded, declared)
            if name in defined or list(sorts) != list(declared) or sort != "Bool":
                raise Broken(f"the definition of {name}")
            defined.add(name)
        elif lemmas is not None and command[:1] == ["define-funs-rec"]:
            for name, *_ in command[1]:
                if plain(name) in task.words:
                    raise Broken(f"{name} has a meaning already")
        elif lemmas is not None and command[:1] == ["define-fun"]:
            if lemmas.get(command[1]) != command:
                raise Broken(f"{command[1]} is no lemma")
        elif lemmas is not None and command[:1] == ["assert"]:
            formula = command[1]
            bound, formula = formula[1:] if formula[0] == "forall" else ([], formula)
            formula = formula[1] if formula[0] == "!" else formula
            call = formula if isinstance(formula, list) else [formula]
            if call[0] not in lemmas or call[1:] != [name for name, _ in bound]:
                raise Broken("an assumption that is no lemma")
        else:
            raise Broken(f"a command that has no place in a model: {command[:2]}")
    if shown != len(task.assertions):
        raise Broken(f"checks of {shown} assertions, where there are {len(task.assertions)}")
    if defined != set(task.predicates):
        raise Broken(f"no definition of {' '.join(set(task.predicates) - defined)}")
    return shown


def recursive_model(task, commands):
    """The same of a model with recursive functions. Whether its first part proves the lemmas is not
    seen here, but by who proves them anew from the model."""
    if commands.count(["reset"]) != 1:
        raise Broken("a model with recursive functions has two parts")
    middle = commands.index(["reset"])
    first, second = commands[:middle], commands[middle + 1:]
    lemmas, shown = {}, 0
    for command in first:
        if command[0] == "define-fun":
            lemmas[command[1]] = command
        shown += command == ["check-sat"]
        if set(task.predicates) & set(words(command)):
            raise Broken("a lemma that speaks of predicates")
        if command[0] == "assert" and command[1][:1] != ["not"]:
            raise Broken("an assumption among what proves lemmas")
    return shown + model(task, second, lemmas)


def checks(task_text, text):
    """How many checks of a certificate have to answer `unsat`, and what was printed of the model with
    recursive functions that it is of, if it is of one. Raises Broken if it is none for the task."""
    first, *lines = text.splitlines()
    kind = first.removeprefix(TITLE)
    task = Task(task_text)
    commands = renamed(forms(text), text, task)
    if kind == "a refutation":
        return refutation(task, commands), None
    if kind == "a model":
        return model(task, commands), None
    if kind == "a model with recursive functions":
        shown = [line[4:] for line in lines if line.startswith(";   ")]
        return recursive_model(task, commands), "\n".join(["sat", *shown, ""])
    if kind == "an induction on derivations":
        return derivations.checks(task, commands, text, clean, words), None
    raise Broken(f"no certificate: {kind}")
