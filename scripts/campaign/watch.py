"""Runs commands under limits and measures them, one after the other; a program of its own.

    python3 -I -S watch.py [SPECIFICATION]

Without an argument, each line of standard input is a specification. It is JSON: `command` (a list
of words), and, each of them optional or null: `wall`, `cpu` (seconds), `memory` (MB of 2^20 bytes),
`cores` (a list of processor numbers), and `parent` (the process number of who starts this: when
that one has gone, nothing is run). For each, a line of JSON comes back on standard output:

    answer   the first line that is exactly sat, unsat or unknown; `error` if a line that begins with
             `(error` comes before it, since the answer is then about the rest of the task; else
             timeout, memout or error
    limit    the limit that ended the run: wall, cpu, memory or null
    wall     seconds from start to end of the command itself
    cpu      seconds of user and system time of all its descendants
    memory   peak of resident memory in MB: of all descendants together, as looked at 20 times a
             second, and at least that of the largest process
    status   exit status of the command, or minus the number of the signal that ended it
    note     the end of its standard error, where there is neither sat nor unsat
    object   the answer as an object, if the last line of its standard error is JSON with one under
             `answer`, as alphorn prints it with `--stats=json`; else null

This process takes in orphans of the command (it is a child subreaper), so that no descendant
escapes: each is counted, and killed at the end. An address space limit would be wrong for solvers
that reserve more than they use, so memory is looked at, and a process may for a moment have more
than the limit. What processes share counts for each of them, but once where the limit is at stake.
Nobody needs to be root.

Only the standard library is used, and nothing of this project: a cluster sends the text of this
file to its workers.
"""

import ctypes
import json
import os
import selectors
import signal
import subprocess
import sys
import time

ANSWERS = (b"sat", b"unsat", b"unknown")
ERROR = b"(error"
LOOK_SECONDS = 0.05
LONGEST_LINE = 1 << 16
NOTE_BYTES = 400
ERRORS_BYTES = 1 << 17
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
LIBC = ctypes.CDLL(None, use_errno=True)


def children(pid):
    """Process numbers of the children of a process, zombies included."""
    found = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return found
    for thread in threads:
        try:
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                found.extend(map(int, file.read().split()))
        except OSError:
            pass
    return found


def descendants():
    """Process numbers of all that descends from this process."""
    found = []
    todo = [os.getpid()]
    while todo:
        below = children(todo.pop())
        found.extend(below)
        todo.extend(below)
    return found


def cpu_of(pid):
    """CPU seconds of a live process and of its children that it waited for."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / TICKS


def resident(pid):
    """Bytes of resident memory of a process."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


def proportional(pid):
    """Bytes of resident memory of a process, shared pages divided by those who share them.

    This takes the kernel longer than `resident`, and falls back to it.
    """
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith("Pss:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return resident(pid)


class Reader:
    """Finds the answer in a stream of bytes, without keeping the stream."""

    def __init__(self):
        self.answer = None
        self.rest = b""

    def feed(self, data):
        """Takes the next bytes."""
        if self.answer is not None:
            return
        lines = (self.rest + data).split(b"\n")
        # A line that long is no answer; its beginning is enough to see whether it is an error.
        self.rest = lines.pop()[:LONGEST_LINE]
        self.look(lines)

    def end(self):
        """The last line may have no end."""
        if self.answer is None:
            self.look([self.rest])

    def look(self, lines):
        for line in lines:
            if line.lstrip().startswith(ERROR):
                self.answer = "error"
                return
            if line.strip() in ANSWERS:
                self.answer = line.strip().decode()
                return


def answer_object(errors):
    """The object under `answer` in the last line of a standard error; None if there is none."""
    line = errors.strip().rpartition(b"\n")[2].strip()
    if not line.startswith(b"{"):
        return None
    try:
        found = json.loads(line)["answer"]
    except (ValueError, KeyError, TypeError):
        return None
    return found if isinstance(found, dict) else None


class Run:
    """The command, from its start to its end."""

    def __init__(self, specification):
        self.command = specification["command"]
        self.wall_limit = specification.get("wall")
        self.cpu_limit = specification.get("cpu")
        memory = specification.get("memory")
        self.memory_limit = memory and memory * (1 << 20)
        self.cores = specification.get("cores")
        self.main = None
        self.status = None
        self.ended = None
        self.peak = 0
        self.cpu = 0.0
        self.reader = Reader()
        self.errors = b""
        self.stop = False

    def start(self):
        """Starts the command in a process group of its own."""

        def prepare():
            LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if self.cores:
                os.sched_setaffinity(0, self.cores)

        self.started = time.monotonic()
        process = subprocess.Popen(
            self.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=prepare,
        )
        self.main = process.pid
        self.process = process

    def reap(self):
        """Waits for those that have ended, and notes the end of the command."""
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            # Both are with the children that it waited for itself.
            self.cpu += usage.ru_utime + usage.ru_stime
            self.peak = max(self.peak, usage.ru_maxrss * 1024)
            if pid == self.main:
                self.ended = time.monotonic()
                self.status = os.waitstatus_to_exitcode(status)
                self.process.returncode = self.status

    def look(self):
        """The limit that is reached, if one is; keeps the peak of memory."""
        pids = descendants()
        memory = sum(map(resident, pids))
        if self.memory_limit and memory > self.memory_limit and len(pids) > 1:
            memory = min(memory, sum(map(proportional, pids)))
        self.peak = max(self.peak, memory)
        if self.memory_limit and memory > self.memory_limit:
            return "memory"
        if self.cpu_limit and self.cpu + sum(map(cpu_of, pids)) >= self.cpu_limit:
            return "cpu"
        if self.wall_limit and time.monotonic() - self.started >= self.wall_limit:
            return "wall"
        return None

    def read(self, name, stream):
        """Reads what is there; False at the end of the stream."""
        try:
            data = os.read(stream.fileno(), 1 << 16)
        except BlockingIOError:
            return True
        if name == "stdout":
            self.reader.feed(data)
        else:
            self.errors = (self.errors + data)[-ERRORS_BYTES:]
        return bool(data)

    def follow(self, wakeup):
        """Until the command ends or reaches a limit; the limit, if any."""
        with selectors.DefaultSelector() as selector:
            selector.register(wakeup, selectors.EVENT_READ, "wakeup")
            for name in ("stdout", "stderr"):
                stream = getattr(self.process, name)
                os.set_blocking(stream.fileno(), False)
                selector.register(stream, selectors.EVENT_READ, name)
            return self.look_on(selector)

    def look_on(self, selector):
        """The loop of `follow`: reads output, waits for processes, looks at limits."""
        limit = None
        looked = 0.0
        while self.ended is None and limit is None and not self.stop:
            pause = LOOK_SECONDS
            if self.wall_limit:
                pause = min(pause, max(self.started + self.wall_limit - time.monotonic(), 0))
            for key, _ in selector.select(pause):
                if key.data == "wakeup":
                    os.read(key.fd, 4096)
                elif not self.read(key.data, key.fileobj):
                    selector.unregister(key.fileobj)
            self.reap()
            # What floods its output must not be looked at more often than the rest.
            now = time.monotonic()
            late = self.wall_limit and now - self.started >= self.wall_limit
            if self.ended is None and (late or now - looked >= LOOK_SECONDS * 0.9):
                looked = now
                limit = self.look()
        return limit

    def finish(self):
        """Kills what is left and reads what was written before."""
        while True:
            # Those that have ended already are among them until they are waited for.
            left = descendants()
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self.reap()
            if not descendants():
                break
            time.sleep(0.001)
        for name in ("stdout", "stderr"):
            stream = getattr(self.process, name)
            try:
                while self.read(name, stream):
                    if not self.waiting(stream):
                        break
            except OSError:
                pass
            stream.close()
        self.reader.end()

    def report(self, limit):
        """What is printed of a run that ended by itself (None) or by a limit."""
        wall = (self.ended or time.monotonic()) - self.started
        answer = self.reader.answer
        if answer is None:
            answer = {None: "error", "memory": "memout"}.get(limit, "timeout")
        note = self.errors[-NOTE_BYTES:].decode("utf-8", errors="replace").strip()
        return dict(
            answer=answer,
            limit=limit,
            wall=round(wall, 3),
            cpu=round(self.cpu, 3),
            memory=self.peak >> 20,
            status=self.status,
            note="" if answer in ("sat", "unsat") else note,
            object=answer_object(self.errors),
        )

    @staticmethod
    def waiting(stream):
        """Whether something can be read at once."""
        with selectors.DefaultSelector() as selector:
            selector.register(stream, selectors.EVENT_READ)
            return bool(selector.select(0))


class Watcher:
    """What is set up once in this process: signals, and that orphans become its children."""

    def __init__(self):
        self.run = None
        self.wakeup, writing = os.pipe()
        os.set_blocking(self.wakeup, False)
        os.set_blocking(writing, False)
        LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1)
        # When the campaign dies, so does this process.
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self.stop)

    def stop(self, *_):
        """Ends this process, after the run that is under way."""
        if self.run is None:
            sys.exit(1)
        self.run.stop = True

    def watch(self, specification):
        """Runs the command of a specification; the report as a dictionary (see above)."""
        if specification.get("parent") not in (None, os.getppid()):
            sys.exit(1)
        self.run = run = Run(specification)
        try:
            run.start()
        except (OSError, subprocess.SubprocessError) as error:
            self.run = None
            return dict(
                answer="error", limit=None, wall=0.0, cpu=0.0, memory=0, status=None, object=None,
                note=str(error),
            )
        limit = run.follow(self.wakeup)
        run.finish()
        if run.stop:
            sys.exit(1)
        self.run = None
        return run.report(limit)


def main():
    """One run for the argument, or one for each line of standard input."""
    watcher = Watcher()
    for text in sys.argv[1:] or sys.stdin:
        print(json.dumps(watcher.watch(json.loads(text))), flush=True)


if __name__ == "__main__":
    main()
