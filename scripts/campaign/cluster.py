"""Runs on a Dask cluster: each thread of its workers does one run at a time.

Workers need `distributed` of the same version and the same paths as here for programs and tasks;
nothing of this project is installed there. Dask gives what a lost worker had to other workers.
"""

import json
import sys
from pathlib import Path

import cloudpickle
import distributed

from campaign import local

# Workers get the functions below themselves, not only their names: Dask asks cloudpickle for that
# where it cannot send a name, and the lambdas below have none.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


def take(count):
    """Waits for `count` processors that no other run of this machine has taken.

    Returns their numbers and the open files whose locks hold them; closing these gives them back.
    """
    import fcntl
    import os
    import tempfile
    import time

    folder = os.path.join(tempfile.gettempdir(), f"campaign-processors-{os.getuid()}")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    while True:
        held = []
        for processor in sorted(os.sched_getaffinity(0)):
            file = open(os.path.join(folder, str(processor)), "w", encoding="ascii")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                file.close()
                continue
            held.append((processor, file))
            if len(held) == count:
                return [processor for processor, _ in held], [file for _, file in held]
        for _, file in held:
            file.close()
        time.sleep(0.1)


def remote(source, what, cores):
    """On a worker: one run by the watcher whose text is `source`; what it prints."""
    import json
    import os
    import subprocess
    import sys

    from distributed import get_worker

    running = get_worker().__dict__.setdefault("campaign_watchers", set())
    held = []
    if cores:
        what["cores"], held = take(cores)
    what["parent"] = os.getpid()
    watcher = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", source, json.dumps(what)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    running.add(watcher)
    try:
        output, errors = watcher.communicate()
    finally:
        running.discard(watcher)
        for file in held:
            file.close()
    return output.decode(), errors.decode(errors="replace")


def end(dask_worker):
    """On a worker: ends its runs."""
    for watcher in list(getattr(dask_worker, "campaign_watchers", ())):
        watcher.terminate()


def missing(paths):
    """On a worker: those of the paths that it does not have."""
    import os
    import shutil

    return [path for path in paths if not os.path.exists(path) and not shutil.which(path)]


class Cluster:
    """Runs on the workers of a scheduler. Iterate over it for the results."""

    def __init__(self, address, runs, limits, cores):
        """`runs` are pairs of solver and task, `cores` the processors of each run or None.

        Raises OSError when the scheduler cannot be reached, has no workers, or when a worker lacks
        a program or the first task.
        """
        self.client = distributed.Client(address, timeout=15)
        self.runs = runs
        self.limits = limits
        self.cores = cores
        self.futures = {}
        workers = self.client.scheduler_info(n_workers=-1)["workers"]
        if not workers:
            raise OSError(f"{address} has no workers")
        paths = sorted({solver.words[0] for solver, _ in runs} | {t.path for _, t in runs[:1]})
        for worker, absent in self.client.run(lambda: missing(paths)).items():
            if absent:
                raise OSError(f"worker {worker} has no {', '.join(absent)}")
        threads = sum(worker["nthreads"] for worker in workers.values())
        print(f"{len(workers)} workers, {threads} runs at a time", file=sys.stderr, flush=True)

    def __iter__(self):
        source = Path(local.WATCH).read_text(encoding="utf-8")
        # A task of its own: sent once to each worker, and made again when it is lost.
        text = self.client.submit(str, source)
        run = lambda *words: remote(*words)  # noqa: E731
        for solver, task in self.runs:
            what = local.specification(solver, task, self.limits, None)
            # Not pure: two runs of the same command are two measurements.
            future = self.client.submit(run, text, what, self.cores, pure=False, retries=2)
            self.futures[future] = (solver, task)
        for future in distributed.as_completed(list(self.futures)):
            solver, task = self.futures.pop(future)
            if future.status == "cancelled":
                raise OSError("the scheduler has gone")
            if future.status == "error":
                report = local.failed(f"cluster: {future.exception()}")
            else:
                output, errors = future.result()
                try:
                    report = json.loads(output)
                except ValueError:
                    report = local.failed(f"no report: {errors[-300:]}")
            yield local.result_of(solver, task, report)
        self.client.close()

    def stop(self):
        """Ends all runs; what is not done stays so."""
        self.client.cancel(list(self.futures))
        self.client.run(lambda dask_worker: end(dask_worker))
        self.client.close()
