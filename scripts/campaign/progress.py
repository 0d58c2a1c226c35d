"""What a campaign says on standard error while it runs."""

import sys
import time

from campaign.results import solved, wrong

try:
    import tqdm
except ImportError:
    tqdm = None


def span(seconds):
    """Seconds as text: 45s, 3m05s, 2h07m."""
    seconds = round(seconds)
    if seconds < 60:
        return f"{seconds}s"
    if seconds < 3600:
        return f"{seconds // 60}m{seconds % 60:02}s"
    return f"{seconds // 3600}h{seconds // 60 % 60:02}m"


def line(result, named):
    """A result as text, with its solver's name where there are several."""
    name = f"{result['solver']:8} " if named else ""
    note = "  WRONG" if wrong(result["verdict"], result["answer"]) else ""
    return f"{result['answer']:8}{result['wall']:7.2f} s  {name}{result['file']}{note}"


class Progress:
    """A bar on a terminal where tqdm is installed, else a line for each result.

    Both have the time that is left, estimated from the runs of this campaign so far.
    """

    def __init__(self, total, before, named, stream=sys.stderr):
        """`total` runs in all, `before` results that were there; `named`: lines have solvers."""
        self.total = total
        self.done = self.before = before
        self.named = named
        self.stream = stream
        self.solved = 0
        self.start = time.monotonic()
        self.bar = None
        if tqdm and stream.isatty():
            self.bar = tqdm.tqdm(
                total=total, initial=before, unit="run", file=stream, dynamic_ncols=True
            )

    def left(self):
        """Seconds that are left, None before the first result."""
        now = self.done - self.before
        if not now:
            return None
        return (time.monotonic() - self.start) / now * (self.total - self.done)

    def add(self, result):
        """Shows a result."""
        self.done += 1
        self.solved += solved(result)
        if self.bar is not None:
            if wrong(result["verdict"], result["answer"]):
                self.bar.write(line(result, self.named), file=self.stream)
            self.bar.set_postfix_str(f"{self.solved} solved", refresh=False)
            self.bar.update()
            return
        print(
            f"{self.done}/{self.total} {line(result, self.named)}  (left: {span(self.left())})",
            file=self.stream,
            flush=True,
        )

    def close(self):
        """Leaves the terminal as it was."""
        if self.bar is not None:
            self.bar.close()
