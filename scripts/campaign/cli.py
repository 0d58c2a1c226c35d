"""The command `scripts/bench`: reads its arguments, runs the campaign, writes what it gave."""

import argparse
import importlib.util
import json
import os
import platform
import signal
import subprocess
import sys
import time
from pathlib import Path

from campaign import local, progress, results, solvers, tables, tasks

ROOT = solvers.ROOT
INTERRUPTED = 130
PYTHON = ROOT / "third_party/campaign/bin/python"

DESCRIPTION = """Runs solvers over tasks under limits and records answers, times and memory.

Usage: scripts/bench --out OUT.tsv [options] [-- COMMAND ...]

Tasks: without --tasks and --checkout, this project's own in horn-benchmarks/; with --checkout only,
those of all .set files of the checkout (the track is the file's name), or where it has none, of all
task definitions (.yml) in it (the track is the folder's name). --tasks names a list, a .set file, a
task definition or a folder, and may be repeated. A list has one task per line, its columns
separated by tabs: track, file, verdict; or file, verdict; files are relative to --checkout. A
verdict that is neither sat nor unsat is taken as not known.

COMMAND is what to run, with {file} for the task, {track} for its track, {seconds} and {cpu} for the
limits; it defaults to target/release/alphorn {file}. The answer is its first line that is exactly
sat, unsat or unknown. Else it is `timeout`, `memout` or `error`; it is `error`, too, if a line
before it begins with `(error`: then the solver has answered about a part of the task. With --peers, other solvers run
on each task next to COMMAND: z3 (also the one of scripts/setup), golem and eld (Eldarica), as far
as they are on PATH.

Limits: --seconds of wall time, --cpu-seconds of CPU time of all processes of a run, --memory of
their resident memory together, --cores processors. A run that reaches one is killed with all its
processes.

OUT.tsv gets a line per task: track, file, verdict, answer, wall seconds, CPU seconds, peak memory
in MB; of other solvers OUT-NAME.tsv. While the campaign runs, each result is added to
OUT.tsv.jsonl; --resume goes on from there after an interrupt. With --resume after the end nothing
is run, and tables, plots and the page are made once more.

A table by track follows on standard output, then wrong answers. Exits with status 1 when an answer
is the opposite of a verdict, or when solvers contradict each other; 2 for wrong usage; 130 when
interrupted.

--plots, --html and --cluster need what scripts/setup --campaign installs (third_party/campaign);
so does the progress bar on a terminal.

--cluster ADDRESS runs on the workers of a Dask scheduler; each of its threads is one run. Programs
and tasks must have the same paths there. What a lost worker did not finish is run again by others.

With --modes interp, all tasks run in each mode of the engine `interp`: R, R+E, R+S, R+S+E, R+S+W,
R+S+E+W (kinds of interpolants, and weights); and again with the settings of the paper and without
passes, R-paper and so on. COMMAND then defaults to target/release/alphorn --engine interp {file},
and each mode's words are appended to it; OUT.tsv is written once for each mode, as OUT-MODE.tsv.
The tables are II and III of the paper (ASE 2017): by track, how many tasks each mode solves and how
many it leaves open; and the sum of wall seconds, where what is left open counts with the time
limit. Below is Fig. 9: how much of what R solves a mode solves, and of what R leaves open.
"""


def positive(text):
    """A number above zero, for argparse."""
    value = float(text)
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return value


def count(text):
    """A whole number above zero, for argparse."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return value


def earlier(text):
    """NAME=FILE, for argparse."""
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise argparse.ArgumentTypeError(f"{text} is not NAME=FILE.tsv")
    return name, path


def arguments(words=None):
    """The options of a command line (default: this process's)."""
    parser = argparse.ArgumentParser(
        prog="scripts/bench",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage=argparse.SUPPRESS,
    )
    add = parser.add_argument
    add("--tasks", action="append", help="a list, .set file, task definition or folder")
    add("--checkout", help="where the tasks' files are")
    add("--tracks", help="only these, separated by commas")
    add("--out", required=True, help="the table to write")
    add("--resume", action="store_true", help="keep the results of OUT.tsv.jsonl and go on")
    add("--seconds", type=positive, default=10, help="wall time of a run (default: 10)")
    add("--cpu-seconds", type=positive, help="CPU time of a run (default: no limit)")
    add("--memory", type=positive, metavar="MB", help="memory of a run (default: no limit)")
    add("--cores", type=count, help="processors of a run (default: one if there are several jobs)")
    add("--jobs", type=count, default=1, help="runs at a time (default: 1)")
    add("--modes", choices=sorted(solvers.MODES), help="run each mode of this engine")
    add("--name", help="what to call COMMAND in tables (default: its program's name)")
    add(
        "--peers",
        nargs="?",
        const="all",
        metavar="NAMES",
        help="run these peers, too, separated by commas (default: those on PATH)",
    )
    add(
        "--earlier",
        action="append",
        type=earlier,
        default=[],
        metavar="NAME=FILE.tsv",
        help="show results of another campaign, too, within --seconds (may be repeated)",
    )
    add("--json", metavar="FILE", help="write everything as JSON")
    add("--plots", metavar="FOLDER", help="write plots there, as SVG and PNG")
    add("--html", metavar="FILE", help="write a page with tables and plots, in one file")
    add("--title", default="Campaign", help="of the page")
    add("--cluster", metavar="ADDRESS", help="run on this Dask scheduler (tcp://HOST:PORT)")
    add("command", nargs=argparse.REMAINDER, help="-- COMMAND ...")
    options = parser.parse_args(words)
    if options.command[:1] == ["--"]:
        options.command = options.command[1:]
    if options.modes and options.peers:
        parser.error("--modes and --peers do not go together")
    if options.cluster and options.jobs != 1:
        parser.error("with --cluster, the workers' threads are the jobs")
    return options


def with_extras(options):
    """Goes on with the Python of scripts/setup --campaign where that is needed."""
    needed = {
        "distributed": options.cluster,
        "matplotlib": options.plots or options.html,
        "tqdm": None,
    }
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    wanted = [name for name in missing if needed[name]]
    if not wanted and not (missing and sys.stderr.isatty()):
        return
    here = Path(sys.prefix).resolve() == PYTHON.parent.parent.resolve()
    if PYTHON.exists() and not here:
        os.execv(PYTHON, [str(PYTHON), *sys.argv])
    if wanted:
        names = ", ".join(wanted)
        print(f"scripts/bench: {names} is missing: run scripts/setup --campaign", file=sys.stderr)
        raise SystemExit(2)


def chosen_tasks(options):
    """The tasks that are asked for."""
    names, checkout = options.tasks, options.checkout
    if not names:
        names = [checkout or str(ROOT / "horn-benchmarks")]
        checkout = checkout or str(ROOT)
    found = tasks.load(names, checkout or ".")
    if options.tracks:
        wanted = options.tracks.split(",")
        found = [task for task in found if task.track in wanted]
    if not found:
        raise tasks.BadTasks("there are no such tasks")
    return found


def chosen_solvers(options):
    """The solvers that are asked for; the first is the program of the command line."""
    words = options.command or solvers.default_command(options.modes)
    if "/" in words[0]:
        words[0] = str(Path(words[0]).absolute())
    if options.modes:
        return solvers.modes(options.modes, words)
    found = [solvers.Solver(options.name or Path(words[0]).name, tuple(words))]
    if options.peers:
        found += solvers.peers(options.peers)
    names = [solver.name for solver in found] + [name for name, _ in options.earlier]
    if len(set(names)) < len(names):
        raise LookupError(f"two solvers have one name: {', '.join(names)} (choose with --name)")
    return found


def version(solver):
    """What a solver says with --version: a line, or nothing."""
    try:
        done = subprocess.run(
            [solver.words[0], "--version"],
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError, UnicodeError):
        return ""
    lines = done.stdout.strip().splitlines()
    return lines[0] if done.returncode == 0 and lines else ""


def machine():
    """What the results depend on: processor, number of processors, memory (MB), system."""
    model = ""
    memory = 0
    try:
        for text in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if text.startswith("model name"):
                model = text.partition(":")[2].strip()
                break
        for text in Path("/proc/meminfo").read_text(encoding="utf-8").splitlines():
            if text.startswith("MemTotal"):
                memory = int(text.split()[1]) // 1024
    except OSError:
        pass
    return dict(
        processor=model or platform.machine(),
        processors=len(os.sched_getaffinity(0)),
        memory=memory,
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
    )


def executor(options, runs, limits):
    """What runs the runs: this machine or a cluster."""
    if options.cluster:
        from campaign import cluster

        return cluster.Cluster(options.cluster, runs, limits, options.cores)
    return local.Local(runs, limits, local.slots(options.jobs, options.cores))


def interrupted(*_):
    """SIGTERM ends a campaign as an interrupt does."""
    raise KeyboardInterrupt


def run_all(options, chosen, solver_list, limits):
    """Runs what is not done; all results by key, and whether it came to its end."""
    plan = dict(
        solvers={solver.name: list(solver.words) for solver in solver_list},
        limits={**limits, "cores": options.cores},
        runs=len(chosen) * len(solver_list),
    )
    journal = results.Journal(f"{options.out}.jsonl", plan)
    done = journal.open(options.resume)
    wanted = {}
    for task in chosen:
        for solver in solver_list:
            wanted[solver.name, task.track, task.name] = (solver, task)
    # A verdict may have been corrected in the list since.
    done = {
        key: {**result, "verdict": wanted[key][1].verdict}
        for key, result in done.items()
        if key in wanted
    }
    runs = [run for key, run in wanted.items() if key not in done]
    shown = progress.Progress(len(wanted), len(done), len(solver_list) > 1)
    running = executor(options, runs, limits)
    signal.signal(signal.SIGTERM, interrupted)
    complete = True
    try:
        for result in running:
            done[results.key(result)] = result
            journal.put(result)
            shown.add(result)
    except KeyboardInterrupt:
        complete = False
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        running.stop()
    finally:
        shown.close()
        journal.close()
    return done, complete


def out_of(options, name, first):
    """The table of a solver: OUT.tsv of the command, else OUT-NAME.tsv."""
    out = Path(options.out)
    return out if first else out.with_name(f"{out.stem}-{name}{out.suffix}")


def report(options, by_solver, flagged, contradictions):
    """Prints the tables, and the answers that are wrong."""
    if options.modes:
        print("\n".join(tables.of_modes(by_solver, options.seconds)))
    elif len(by_solver) == 1:
        print("\n".join(tables.one(next(iter(by_solver.values())))))
    else:
        for name, found in by_solver.items():
            print(name)
            print("\n".join(tables.one(found)))
            print()
        print("\n".join(tables.comparison(by_solver)))
    for result in flagged:
        print(
            f"WRONG: {result['solver']} says {result['answer']}, recorded is"
            f" {result['verdict']}: {result['file']}"
        )
    for _, file, answers in contradictions:
        said = ", ".join(f"{name} says {answer}" for name, answer in answers.items())
        print(f"CONTRADICTION: {said}: {file}")


def describe(options, solver_list, limits, start, complete, shown):
    """What --json and the page say of a campaign, but for its results.

    `start` is when it began, in seconds of Unix time; `shown` has results by solver.
    """
    return dict(
        format=1,
        title=options.title,
        started=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(start)),
        complete=complete,
        machine=machine(),
        limits={**limits, "cores": options.cores, "jobs": options.jobs},
        cluster=options.cluster,
        solvers={
            solver.name: dict(command=list(solver.words), version=version(solver))
            for solver in solver_list
        },
        summary={name: tables.by_track(found)[0] for name, found in shown.items()},
    )


def main(words=None):
    """Runs a campaign from its command line; the exit status."""
    options = arguments(words)
    with_extras(options)
    start = time.time()
    limits = dict(wall=options.seconds, cpu=options.cpu_seconds, memory=options.memory)
    try:
        chosen = chosen_tasks(options)
        solver_list = chosen_solvers(options)
        others = {name: results.read_tsv(path, name) for name, path in options.earlier}
        done, complete = run_all(options, chosen, solver_list, limits)
    except (tasks.BadTasks, results.Refused, LookupError, ValueError, OSError) as error:
        print(f"scripts/bench: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return INTERRUPTED

    by_solver = {}
    for index, solver in enumerate(solver_list):
        keys = [(solver.name, task.track, task.name) for task in chosen]
        by_solver[solver.name] = [done[key] for key in keys if key in done]
        first = index == 0 and not options.modes
        results.write_tsv(out_of(options, solver.name, first), by_solver[solver.name])
    everything = [result for found in by_solver.values() for result in found]
    flagged = [r for r in everything if results.wrong(r["verdict"], r["answer"])]
    contradictions = results.conflicts(everything)
    names = {(task.track, task.name) for task in chosen}
    shown = dict(by_solver)
    for name, found in others.items():
        shown[name] = [
            {**r, "answer": "timeout"} if r["wall"] > options.seconds else r
            for r in found
            if (r["track"], r["file"]) in names
        ]
    report(options, shown, flagged, contradictions)
    campaign = None
    if options.json or options.html:
        campaign = describe(options, solver_list, limits, start, complete, shown)
        campaign.update(
            wrong=flagged,
            contradictions=[
                dict(track=track, file=file, answers=answers)
                for track, file, answers in contradictions
            ],
            results=everything,
        )
    if options.json:
        Path(options.json).write_text(json.dumps(campaign, indent=1) + "\n", encoding="utf-8")
    if options.plots or options.html:
        from campaign import page, plots

        drawn = plots.draw(shown, options.seconds)
        if options.plots:
            plots.write(drawn, Path(options.plots))
        if options.html:
            text = page.render(campaign, shown, plots.as_svg(drawn))
            Path(options.html).write_text(text, encoding="utf-8")
    if not complete:
        print(
            f"scripts/bench: interrupted after {len(everything)} of"
            f" {len(chosen) * len(solver_list)} runs; --resume goes on",
            file=sys.stderr,
        )
        return INTERRUPTED
    return 1 if flagged or contradictions else 0
