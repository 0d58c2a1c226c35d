"""Tables of results, as text; the page shows the same numbers."""

from campaign.results import solved, wrong

COUNTS = ("tasks", "sat", "unsat", "wrong", "cpu")


def by_track(results):
    """Counts of one solver: {track: {tasks, sat, unsat, wrong, cpu}}, and their total.

    `cpu` is in seconds; a wrong answer is neither counted as sat nor as unsat.
    """
    tracks = {}
    for result in results:
        row = tracks.setdefault(result["track"], dict.fromkeys(COUNTS, 0))
        row["tasks"] += 1
        row["cpu"] += result["cpu"]
        if wrong(result["verdict"], result["answer"]):
            row["wrong"] += 1
        elif solved(result):
            row[result["answer"]] += 1
    total = {name: sum(row[name] for row in tracks.values()) for name in COUNTS}
    return dict(sorted(tracks.items())), total


def one(results):
    """The table of one solver, as lines of text."""
    tracks, total = by_track(results)
    lines = [f"{'track':24} {'tasks':>6} {'sat':>6} {'unsat':>6} {'wrong':>6} {'CPU s':>10}"]
    for name, row in [*tracks.items(), ("total", total)]:
        lines.append(
            f"{name:24} {row['tasks']:6} {row['sat']:6} {row['unsat']:6} {row['wrong']:6}"
            f" {row['cpu']:10.1f}"
        )
    return lines


def uniquely(by_solver):
    """Numbers of tasks that exactly one solver solves: {track: {solver: count}}."""
    solvers = {}
    for name, results in by_solver.items():
        for result in results:
            if solved(result):
                solvers.setdefault((result["track"], result["file"]), []).append(name)
    counts = {}
    for (track, _), names in solvers.items():
        if len(names) == 1:
            row = counts.setdefault(track, {})
            row[names[0]] = row.get(names[0], 0) + 1
    return counts


def comparison(by_solver):
    """Solved tasks by track and solver, in parentheses those that no other one solves; lines."""
    names = list(by_solver)
    rows = {name: by_track(results) for name, results in by_solver.items()}
    tracks = sorted({track for found, _ in rows.values() for track in found})
    alone = uniquely(by_solver)
    width = max(14, *(len(name) + 2 for name in names))
    lines = [f"{'solved (only by it)':24}" + "".join(f"{name:>{width}}" for name in names)]
    for track in [*tracks, None]:
        cells = []
        for name in names:
            found, total = rows[name]
            row = total if track is None else found.get(track)
            if row is None:
                cells.append("-")
                continue
            lonely = sum(
                counts.get(name, 0) for own, counts in alone.items() if track in (None, own)
            )
            cells.append(f"{row['sat'] + row['unsat']}/{row['tasks']} ({lonely})")
        lines.append(f"{track or 'total':24}" + "".join(f"{cell:>{width}}" for cell in cells))
    return lines


def of_modes(by_mode, limit):
    """The tables II and III and Fig. 9 of the paper (ASE 2017): what each mode solves, and in what
    time; how much of what R solves it solves, and how much of what R leaves open it leaves open.

    What is left open counts with `limit` seconds. Modes of the paper's settings (R+E-paper) are
    compared with the paper's R. Returns lines.
    """
    tracks = sorted({result["track"] for results in by_mode.values() for result in results})

    def row(name, cells):
        return f"{name:24}" + "".join(f"{cell:>14}" for cell in cells)

    def own(mode, track):
        return [r for r in by_mode[mode] if track in (None, r["track"])]

    def count(results):
        number = sum(map(solved, results))
        return f"{number}/{len(results) - number}"

    def seconds(results):
        return f"{sum(min(r['wall'], limit) if solved(r) else limit for r in results):.1f}"

    lines = []
    for title, cell in (("solved/open", count), ("seconds", seconds)):
        lines.append(row(title, by_mode))
        for track in [*tracks, None]:
            lines.append(row(track or "total", [cell(own(mode, track)) for mode in by_mode]))
        lines.append("")
    lines += [row(*pair) for pair in ladder(by_mode)]
    return lines


def percent(part, whole):
    """The size of a part; `-` for nothing at all."""
    return f"{100 * len(part) / len(whole):.1f}%" if whole else "-"


def ladder(by_mode):
    """Fig. 9: two titles, each with a cell by mode; `-` where there is no R to compare with."""
    kept, open_ = [], []
    for mode, results in by_mode.items():
        base = by_mode.get("R-paper" if mode.endswith("-paper") else "R", [])
        own = {r["file"] for r in results if solved(r)}
        first = {r["file"] for r in base if solved(r)}
        failed = {r["file"] for r in base} - first
        kept.append(percent(first & own, first))
        open_.append(percent(failed - own, failed))
    return [("solved, of R's", kept), ("open, of R's", open_)]
