"""Results: what one run gave, and where results are kept while a campaign goes on.

A result is a dictionary: `solver`, `track`, `file`, `verdict` (what is recorded), and what
`watch.py` reports: `answer`, `limit`, `wall`, `cpu` (seconds), `memory` (MB), `status`, `note`, and
`object`, the answer of alphorn as an object (with `--stats=json`), or None.
"""

import json
from pathlib import Path

VERDICTS = ("sat", "unsat")
COLUMNS = ("track", "file", "verdict", "answer", "wall", "cpu", "memory")


class Refused(Exception):
    """A journal that does not belong to the campaign that is asked for."""


def wrong(verdict, answer):
    """Whether an answer is the opposite of a known verdict."""
    return {verdict, answer} == set(VERDICTS)


def solved(result):
    """Whether the answer of a result is right, as far as is known."""
    return result["answer"] in VERDICTS and not wrong(result["verdict"], result["answer"])


def key(result):
    """What a result is about: solver, track, file."""
    return result["solver"], result["track"], result["file"]


def conflicts(results):
    """Tasks with no known verdict that solvers answer differently.

    Returns (track, file, {solver: answer}) for each.
    """
    answers = {}
    for result in results:
        if result["verdict"] not in VERDICTS and result["answer"] in VERDICTS:
            found = answers.setdefault((result["track"], result["file"]), {})
            found[result["solver"]] = result["answer"]
    return [(*task, found) for task, found in answers.items() if len(set(found.values())) > 1]


def write_tsv(path, results):
    """Writes results of one solver, a line each: the columns of COLUMNS, times with two digits."""
    with open(path, "w", encoding="utf-8") as out:
        for r in results:
            out.write(
                f"{r['track']}\t{r['file']}\t{r['verdict']}\t{r['answer']}"
                f"\t{r['wall']:.2f}\t{r['cpu']:.2f}\t{r['memory']}\n"
            )


def read_tsv(path, solver):
    """Results of a table that write_tsv wrote, under the name of a solver.

    Raises Refused for a line that is none of such a table.
    """
    found = []
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        cells = line.split("\t")
        try:
            if len(cells) != len(COLUMNS):
                raise ValueError(f"{len(cells)} columns")
            result = dict(zip(COLUMNS, cells))
            result.update(
                wall=float(result["wall"]), cpu=float(result["cpu"]), memory=int(result["memory"])
            )
        except ValueError as error:
            raise Refused(f"{path}:{number}: not a line of a table of results: {error}") from error
        found.append(dict(solver=solver, limit=None, status=None, note="", object=None, **result))
    return found


class Journal:
    """A file that gets each result as it comes, so that a campaign can be resumed.

    Its lines are JSON. The first says what is run; when a campaign is resumed another such line
    follows. A last line that was cut off is not counted.
    """

    def __init__(self, path, plan):
        """`plan` has `solvers` (words by name), `limits`, and `runs`, the number of runs."""
        self.path = Path(path)
        self.plan = plan
        self.file = None

    def load(self):
        """The plan (None without a journal) and the results of the journal that is there."""
        plan = None
        results = {}
        if not self.path.exists():
            return plan, results
        for number, line in enumerate(self.path.read_bytes().split(b"\n"), 1):
            if not line:
                continue
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if "runs" in entry:
                plan = entry
            elif "answer" in entry:
                results[key(entry)] = entry
            else:
                raise Refused(f"{self.path}:{number}: not a line of a journal")
        return plan, results

    def open(self, resume):
        """Opens the journal for more results; those that it has already.

        Without `resume` it starts anew, unless a campaign that did not end would be lost. Raises
        Refused in this case, and when what would be resumed was run otherwise.
        """
        plan, results = self.load()
        if not resume:
            if plan and len(results) < plan["runs"]:
                raise Refused(
                    f"{self.path} has {len(results)} results of a campaign of {plan['runs']} runs:"
                    " go on with --resume, or remove it"
                )
            results = {}
        elif plan:
            if plan["limits"] != self.plan["limits"]:
                raise Refused(
                    f"{self.path} has results under other limits: {plan['limits']},"
                    f" not {self.plan['limits']}"
                )
            for name, words in self.plan["solvers"].items():
                before = plan["solvers"].get(name, words)
                if before != words:
                    raise Refused(f"{self.path}: {name} was {before}, not {words}")
        self.file = open(self.path, "a" if resume else "w", encoding="utf-8")
        if resume and self.path.stat().st_size and not self.path.read_bytes().endswith(b"\n"):
            self.file.write("\n")
        known = dict((plan or {}).get("solvers", {})) if resume else {}
        self.put({**self.plan, "solvers": {**known, **self.plan["solvers"]}})
        return results

    def put(self, entry):
        """Adds a line, at once."""
        self.file.write(json.dumps(entry) + "\n")
        self.file.flush()

    def close(self):
        """No more results come."""
        self.file.close()
