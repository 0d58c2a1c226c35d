"""Tasks of a campaign: from lists, and from BenchExec's `.set` files and task definitions."""

import glob
import re
from dataclasses import dataclass, replace
from pathlib import Path

PROPERTY = "check-sat.prp"


class BadTasks(Exception):
    """A list, set or task definition that cannot be read."""


@dataclass(frozen=True)
class Task:
    """A file to solve.

    `track` groups tasks in tables, `name` is what results call the file, `path` where it is;
    `verdict` is what is recorded for it: sat, unsat, or anything else for not known.
    """

    track: str
    name: str
    path: str
    verdict: str


def plain(value):
    """A YAML scalar without comment and quotes."""
    value = value.strip()
    quoted = re.match(r"""'((?:[^']|'')*)'|"((?:[^"\\]|\\.)*)\"""", value)
    if quoted:
        single, double = quoted.groups()
        return single.replace("''", "'") if single is not None else double
    return re.sub(r"\s+#.*$", "", value).strip()


def items(value):
    """The scalars of an inline list `[a, b]`, or the only scalar."""
    value = value.strip()
    if not value.startswith("["):
        return [plain(value)]
    body = value[1 : value.rindex("]")]
    return [plain(item) for item in body.split(",") if item.strip()]


def definition(path):
    """The input file and the verdict of a BenchExec task definition.

    Reads of YAML what task definitions consist of: top-level keys with scalars and lists, and the
    list of properties, one of which is for check-sat.prp (or the only one). There
    `expected_verdict: true` is `sat`; with the comment `# dialect: fixedpoint` it is `unsat`,
    because a query of that dialect that can be reached is `sat`. Returns the path and sat, unsat or
    unknown; raises BadTasks.
    """
    text = Path(path).read_text(encoding="utf-8")
    inputs = []
    properties = []
    key = None
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if not line.startswith((" ", "-")):
            key, colon, value = line.partition(":")
            if not colon:
                raise BadTasks(f"{path}: a key is expected, not {line!r}")
            if key == "input_files" and value.strip():
                inputs += items(value)
        elif key == "input_files":
            inputs += items(line.strip().removeprefix("-"))
        elif key == "properties":
            entry = line.strip()
            if entry.startswith("-"):
                properties.append({})
                entry = entry[1:].strip()
            name, _, value = entry.partition(":")
            if not properties:
                raise BadTasks(f"{path}: the properties are no list")
            properties[-1][name.strip()] = plain(value)
    if len(inputs) != 1:
        raise BadTasks(f"{path}: one input file is expected, not {len(inputs)}")
    named = [p for p in properties if Path(p.get("property_file", "")).name == PROPERTY]
    if not named and len(properties) == 1:
        named = properties
    expected = named[0].get("expected_verdict", "").lower() if named else ""
    safe = {"true": True, "false": False}.get(expected)
    if safe is not None and re.search(r"^# dialect: fixedpoint", text, re.MULTILINE):
        safe = not safe
    verdict = {True: "sat", False: "unsat", None: "unknown"}[safe]
    return Path(path).parent / inputs[0], verdict


def task_of(path, track, base):
    """The task of a definition; its name is relative to the folder `base` if it lies there."""
    file, verdict = definition(path)
    if not file.exists():
        raise BadTasks(f"{path}: there is no {file}")
    # Sets write ./ and definitions ../: one file has one name.
    file = Path(*file.parts) if ".." not in file.parts else file.resolve()
    try:
        name = file.relative_to(base)
    except ValueError:
        name = file
    return Task(track, str(name), str(file), verdict)


def from_set(path, base):
    """Tasks of a `.set` file: one pattern of task definitions in each line, relative to the file.

    The track is the file's name without `.set`.
    """
    path = Path(path)
    tasks = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        pattern = line.strip()
        if not pattern or pattern.startswith("#"):
            continue
        full = path.parent / pattern
        found = [str(full)] if full.exists() else sorted(glob.glob(str(full), recursive=True))
        if not found:
            raise BadTasks(f"{path}:{number}: nothing is called {pattern}")
        for name in found:
            task = task_of(Path(name), path.stem, base)
            tasks[task.name] = task
    return list(tasks.values())


def from_list(path, checkout):
    """Tasks of a list with tabs: track, file, verdict; or file, verdict.

    Files are relative to `checkout`; without a column for it the track is the list's name.
    """
    tasks = []
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        columns = line.split("\t")
        if len(columns) == 2:
            columns.insert(0, Path(path).stem)
        if len(columns) != 3:
            raise BadTasks(f"{path}:{number}: two or three columns are expected")
        track, name, verdict = columns
        tasks.append(Task(track, name, str(Path(checkout) / name), verdict))
    return tasks


def from_folder(folder, base):
    """Tasks of a checkout: of its `.set` files, or where it has none, of all task definitions.

    In the second case the track is the folder in which the definition lies. Names are relative to
    the folder `base`.
    """
    folder = Path(folder)
    sets = sorted(folder.glob("*.set"))
    if sets:
        return [task for path in sets for task in from_set(path, base)]
    found = sorted(folder.glob("**/*.yml"))
    if not found:
        raise BadTasks(f"{folder}: there are no .set files and no task definitions (.yml)")
    return [task_of(path, path.parent.name, base) for path in found]


def load(names, checkout):
    """Tasks of lists, `.set` files, definitions and folders (names), in this order.

    `checkout` is a folder: files of lists are relative to it, and so are the names of tasks. A name
    that is no file of its own is looked for in it, too. A task that several sets have counts once
    for each of its tracks.
    """
    tasks = {}
    for given in names:
        path = Path(given)
        if not path.exists() and (Path(checkout) / given).exists():
            path = Path(checkout) / given
        if not path.exists():
            raise BadTasks(f"there is no {given}")
        if path.is_dir():
            found = from_folder(path, Path(checkout))
        elif path.suffix == ".set":
            found = from_set(path, Path(checkout))
        elif path.suffix in (".yml", ".yaml"):
            found = [task_of(path, path.parent.name, Path(checkout))]
        else:
            found = from_list(path, checkout)
        for task in found:
            # Solvers may run elsewhere, on other machines of a cluster.
            path = str(Path(task.path).absolute())
            tasks[task.track, task.name] = replace(task, path=path)
    return list(tasks.values())
