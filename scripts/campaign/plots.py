"""Plots of results, by matplotlib: cactus plots and scatter plots.

A cactus plot has for each solver how many tasks (x) it solves in at most how many seconds each (y,
logarithmic). A scatter plot compares two solvers: a mark for each task that one of them solves, at
their wall times (both axes logarithmic); what one does not solve is on the line at the border.
"""

import io
import re
from dataclasses import dataclass

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

from campaign.results import solved

# Colours that people with any kind of colour vision can tell apart (Okabe and Ito).
LINES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6d00")
DASHES = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)))
MARKS = {"sat": "o", "unsat": "x"}
SHORTEST = 0.01
INK = "#333333"
STYLE = {
    "figure.dpi": 150,
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.labelsize": 10.5,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 9.5,
    "svg.hashsalt": "campaign",
    "svg.fonttype": "path",
}


@dataclass
class Plot:
    """A figure, its file name without extension, and what it shows in words."""

    name: str
    title: str
    figure: Figure


def seconds(value, _position=None):
    """A time on an axis."""
    return f"{value:g}"


def line_style(index):
    """Colour and dashes of the solver with this number."""
    return dict(
        color=LINES[index % len(LINES)], linestyle=DASHES[index // len(LINES) % len(DASHES)]
    )


def track_colours(tracks):
    """A colour for each track."""
    if len(tracks) <= len(LINES):
        return dict(zip(tracks, LINES))
    shades = pyplot.get_cmap("tab20").colors
    return {track: shades[index % len(shades)] for index, track in enumerate(tracks)}


def times(found):
    """Wall seconds of solved tasks, the shortest first."""
    return sorted(max(result["wall"], SHORTEST) for result in found if solved(result))


def steps(axes, by_solver, limit, width):
    """Draws the lines of a cactus plot."""
    for index, (_, found) in enumerate(by_solver.items()):
        values = times(found)
        if not values:
            continue
        numbers = range(1, len(values) + 1)
        axes.step(numbers, values, where="post", linewidth=width, **line_style(index))
        end = dict(marker="o", markersize=width * 2, color=line_style(index)["color"])
        axes.plot(len(values), values[-1], **end)
    axes.set_yscale("log")
    axes.set_ylim(SHORTEST * 0.8, limit * 1.4)
    axes.yaxis.set_major_formatter(FuncFormatter(seconds))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
    axes.axhline(limit, color="#888888", linewidth=0.8, linestyle=(0, (2, 2)))
    axes.set_xlim(left=0)


def handles(by_solver):
    """The legend of a cactus plot, the best solver first."""
    entries = []
    for index, (name, found) in enumerate(by_solver.items()):
        number = len(times(found))
        label = f"{name}: {number} of {len(found)}"
        line = Line2D([], [], linewidth=2, label=label, **line_style(index))
        entries.append((-number, index, line))
    return [entry[2] for entry in sorted(entries, key=lambda entry: entry[:2])]


def legend_above(figure, by_solver):
    """Puts the legend of a cactus plot where it hides no line."""
    columns = 2 if len(by_solver) == 4 else min(len(by_solver), 3)
    figure.legend(handles=handles(by_solver), loc="outside upper center", ncols=columns)


def cactus(by_solver, limit):
    """How many tasks each solver solves in which time."""
    figure, axes = pyplot.subplots(figsize=(7.2, 4.6), layout="constrained")
    steps(axes, by_solver, limit, 1.8)
    axes.set_xlabel("solved tasks")
    axes.set_ylabel("wall time of each at most (s)")
    axes.annotate(
        f"limit: {limit:g} s", (0.01, limit), xycoords=("axes fraction", "data"),
        xytext=(0, 3), textcoords="offset points", fontsize=8.5, color="#666666",
    )
    legend_above(figure, by_solver)
    return Plot("cactus", "Solved tasks by time", figure)


def cactus_by_track(by_solver, tracks, limit):
    """The same for each track, side by side."""
    columns = 2 if len(tracks) in (2, 4) else min(len(tracks), 3)
    rows = -(-len(tracks) // columns)
    figure, grid = pyplot.subplots(
        rows, columns, figsize=(3.1 * columns, 2.5 * rows + 0.5), layout="constrained",
        squeeze=False, sharey=True,
    )
    cells = list(grid.flat)
    for axes, track in zip(cells, tracks):
        own = {
            name: [result for result in found if result["track"] == track]
            for name, found in by_solver.items()
        }
        steps(axes, own, limit, 1.4)
        most = max(map(len, own.values()))
        axes.set_title(f"{track} ({most} tasks)")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
        axes.set_xlim(0, most * 1.03)
    for axes in cells[len(tracks):]:
        axes.set_axis_off()
    figure.supxlabel("solved tasks", fontsize=10.5, color=INK)
    figure.supylabel("wall time of each at most (s)", fontsize=10.5, color=INK)
    legend_above(figure, by_solver)
    return Plot("cactus-tracks", "Solved tasks by time, by track", figure)


def pairs(one, other):
    """Tasks that both solvers had and one of them solved: pairs of results."""
    there = {(result["track"], result["file"]): result for result in other}
    for result in one:
        partner = there.get((result["track"], result["file"]))
        if partner and (solved(result) or solved(partner)):
            yield result, partner


def scatter(names, one, other, limit):
    """Times of two solvers on the same tasks; None where they have none in common."""
    found = list(pairs(one, other))
    if not found:
        return None
    border = limit * 1.9
    tracks = sorted({result["track"] for result, _ in found})
    colours = track_colours(tracks)

    def place(result):
        return min(max(result["wall"], SHORTEST), limit) if solved(result) else border

    # Many marks are smaller, and what is below them can be seen.
    look = dict(zorder=3, clip_on=False, linewidths=1.1)
    look.update(dict(s=13, alpha=0.7) if len(found) > 400 else dict(s=24))
    figure, axes = pyplot.subplots(figsize=(6.6, 5.2), layout="constrained")
    edge = (SHORTEST * 0.8, limit * 2.5)
    axes.plot(edge[:1] + (limit,), edge[:1] + (limit,), color="#888888", linewidth=0.9, zorder=1)
    for factor in (0.1, 10):
        low = max(edge[0], edge[0] / factor)
        high = min(limit, limit / factor)
        axes.plot(
            (low, high), (low * factor, high * factor), color="#bbbbbb", linewidth=0.8,
            linestyle=(0, (3, 3)), zorder=1,
        )
    for line in (axes.axvline, axes.axhline):
        line(border, color="#bbbbbb", linewidth=0.9, zorder=1)
        line(limit, color="#888888", linewidth=0.8, linestyle=(0, (2, 2)), zorder=1)
    for answer, mark in MARKS.items():
        chosen = [
            (place(a), place(b), colours[a["track"]])
            for a, b in found
            if (a if solved(a) else b)["answer"] == answer
        ]
        if not chosen:
            continue
        xs, ys, shades = zip(*chosen)
        if mark == "o":
            axes.scatter(xs, ys, marker=mark, facecolors="none", edgecolors=shades, **look)
        else:
            axes.scatter(xs, ys, marker=mark, c=list(shades), **look)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(edge)
    axes.set_ylim(edge)
    axes.set_aspect("equal")
    ticks = [10.0**power for power in range(-2, 6) if SHORTEST <= 10.0**power < limit * 0.75]
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks([*ticks, limit, border])
        axis.set_minor_formatter(NullFormatter())
    axes.xaxis.set_ticklabels([*map(seconds, ticks), f"{limit:g}", "not\nsolved"])
    axes.yaxis.set_ticklabels([*map(seconds, ticks), f"{limit:g}", "not solved"])
    axes.set_xlabel(f"{names[0]}: wall time (s)")
    axes.set_ylabel(f"{names[1]}: wall time (s)")
    legend = [Line2D([], [], linestyle="none", label="answer")]
    hollow = dict(linestyle="none", markerfacecolor="none", color=INK)
    for answer, mark in MARKS.items():
        legend.append(Line2D([], [], marker=mark, label=answer, **hollow))
    legend += [Line2D([], [], linestyle="none", label=label) for label in ("", "track")]
    legend += [
        Line2D([], [], linestyle="none", marker="s", color=colours[track], label=track)
        for track in tracks
    ]
    figure.legend(handles=legend, loc="outside right upper", handletextpad=0.3)
    faster = sum(place(a) < place(b) for a, b in found)
    slower = sum(place(a) > place(b) for a, b in found)
    axes.set_title(
        f"of {len(found)} tasks, {names[0]} is faster on {faster}, {names[1]} on {slower}",
        fontsize=10, color=INK,
    )
    file = re.sub(r"[^\w.+-]", "_", f"scatter-{names[0]}-{names[1]}")
    return Plot(file, f"{names[0]} and {names[1]}", figure)


def draw(by_solver, limit):
    """All plots of a campaign: cactus, cactus by track, the first solver against each other one.

    `by_solver` has results by solver, `limit` is the limit of wall time in seconds.
    """
    with matplotlib.rc_context(STYLE):
        plots = [cactus(by_solver, limit)]
        tracks = sorted({result["track"] for found in by_solver.values() for result in found})
        if len(tracks) > 1:
            plots.append(cactus_by_track(by_solver, tracks, limit))
        names = list(by_solver)
        for name in names[1:]:
            plot = scatter((names[0], name), by_solver[names[0]], by_solver[name], limit)
            if plot:
                plots.append(plot)
    return plots


def svg(plot):
    """The text of a plot as SVG, without a date."""
    out = io.StringIO()
    with matplotlib.rc_context(STYLE):
        plot.figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()


def as_svg(plots):
    """Name, title and SVG text of each plot."""
    return [(plot.name, plot.title, svg(plot)) for plot in plots]


def write(plots, folder):
    """Writes each plot as NAME.svg and NAME.png into a folder, which is made if it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    for plot in plots:
        (folder / f"{plot.name}.svg").write_text(svg(plot), encoding="utf-8")
        with matplotlib.rc_context(STYLE):
            plot.figure.savefig(folder / f"{plot.name}.png")
