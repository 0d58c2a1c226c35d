"""The page of a campaign: one HTML file with tables and plots, that loads nothing else."""

import base64
import html

from campaign import tables
from campaign.results import solved, wrong

STYLE = """
:root { color-scheme: light; --ink: #222; --soft: #666; --line: #ddd; --back: #fff;
  --shade: #f5f6f8; --sat: #0b6e4f; --unsat: #1f4e9c; --bad: #b00020; }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--back);
  max-width: 72rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.6rem; margin: 0 0 .2rem; } h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem; }
p.sub { color: var(--soft); margin: 0 0 1rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: right;
  vertical-align: top; white-space: nowrap; }
th { font-weight: 600; background: var(--shade); } td.l, th.l { text-align: left; }
thead th { position: sticky; top: 0; } tr.total td { font-weight: 600; border-top: 2px solid #999; }
.scroll { overflow-x: auto; } td.best { font-weight: 600; }
td .soft { font-weight: 400; } .soft { color: var(--soft); }
.sat { color: var(--sat); } .unsat { color: var(--unsat); } .bad { color: var(--bad); }
tr.bad td, td.bad { background: #fdecee; }
.ok { background: #e9f6ef; border-left: 4px solid var(--sat); padding: .5rem .8rem; }
.alarm { background: #fdecee; border-left: 4px solid var(--bad); padding: .5rem .8rem; }
figure { margin: 0; } figcaption { color: var(--soft); margin: 0 0 .3rem; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(30rem, 100%), 1fr));
  gap: 2rem; align-items: start; grid-auto-flow: dense; } .plots .wide { grid-column: 1 / -1; }
img { max-width: 100%; height: auto; } code { font-size: .9em; overflow-wrap: anywhere; }
td.file { max-width: 34rem; }
td.file, td.what { overflow-wrap: anywhere; white-space: normal; }
.controls { display: flex; gap: .8rem; flex-wrap: wrap; margin: 0 0 .8rem; }
.controls input, .controls select { font: inherit; padding: .3rem .5rem; border: 1px solid #aaa;
  border-radius: .3rem; background: var(--back); color: inherit; }
.controls input { flex: 1 1 16rem; } th.sort { cursor: pointer; user-select: none; }
th.sort:hover { background: #e8eaee; } .tall { max-height: 75vh; overflow: auto; }
"""

SCRIPT = """
const body = document.querySelector('#tasks tbody');
const rows = Array.from(body.rows);
const text = document.querySelector('#text');
const track = document.querySelector('#track');
const kind = document.querySelector('#kind');
const shown = document.querySelector('#shown');
function filter() {
  const words = text.value.toLowerCase().split(/\\s+/).filter(Boolean);
  let count = 0;
  for (const row of rows) {
    const name = row.cells[1].textContent.toLowerCase();
    const visible = words.every(word => name.includes(word)) &&
      (!track.value || row.cells[0].textContent === track.value) &&
      (!kind.value || row.dataset.kinds.split(' ').includes(kind.value));
    row.hidden = !visible;
    count += visible;
  }
  shown.textContent = count + ' of ' + rows.length + ' tasks';
}
for (const control of [text, track, kind]) control.addEventListener('input', filter);
let last = null;
document.querySelectorAll('#tasks th.sort').forEach(head => head.addEventListener('click', () => {
  const column = head.cellIndex;
  const down = last === column;
  last = down ? null : column;
  const value = row => {
    const cell = row.cells[column];
    return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
  };
  rows.sort((a, b) => {
    const x = value(a), y = value(b);
    return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
  });
  body.append(...rows);
}));
filter();
"""


def escape(value):
    """Text as HTML."""
    return html.escape(str(value))


def cell(content, kind="", tag="td", **data):
    """A cell; its content is HTML, `kind` its classes."""
    classes = f' class="{kind}"' if kind else ""
    more = "".join(f' data-{name}="{escape(value)}"' for name, value in data.items())
    return f"<{tag}{classes}{more}>{content}</{tag}>"


def row(cells, kind="", **data):
    """A row of cells."""
    return cell("".join(cells), kind, "tr", **data)


def head(names, left=1):
    """The head of a table; the first `left` columns are text."""
    cells = [cell(escape(n), "l" if i < left else "", "th") for i, n in enumerate(names)]
    return f"<thead>{row(cells)}</thead>"


def table(first, rows, identity=""):
    """A table with its head and rows."""
    name = f' id="{identity}"' if identity else ""
    return f'<div class="scroll"><table{name}>{first}<tbody>{"".join(rows)}</tbody></table></div>'


def amount(number, unit):
    """A limit as text, `none` for no limit."""
    return f"{number:g} {unit}" if number else "none"


def settings(campaign):
    """What was run, where, and under which limits."""
    limits, machine = campaign["limits"], campaign["machine"]
    where = f"{machine['processor']}, {machine['processors']} processors, {machine['memory']} MB"
    if campaign["cluster"]:
        where = f"workers of {campaign['cluster']}"
    facts = [
        ("started", campaign["started"].replace("T", " ").replace("Z", " UTC")),
        ("machine", f"{where}; {machine['system']}"),
        ("wall time", amount(limits["wall"], "s")),
        ("CPU time", amount(limits["cpu"], "s")),
        ("memory", amount(limits["memory"], "MB")),
        ("processors of a run", limits["cores"] or "not chosen"),
        ("runs at a time", "threads of workers" if campaign["cluster"] else limits["jobs"]),
    ]
    rows = [row([cell(escape(n), "l soft"), cell(escape(v), "l what")]) for n, v in facts]
    for name, solver in campaign["solvers"].items():
        version = f" ({escape(solver['version'])})" if solver["version"] else ""
        command = f"<code>{escape(' '.join(solver['command']))}</code>{version}"
        rows.append(row([cell(escape(name), "l soft"), cell(command, "l what")]))
    return table("", rows)


def summary(by_solver):
    """Solved tasks by track and solver, with sat and unsat; the most in bold."""
    counted = {name: tables.by_track(found) for name, found in by_solver.items()}
    alone = tables.uniquely(by_solver)
    tracks = sorted({track for found, _ in counted.values() for track in found})
    rows = []
    for track in [*tracks, None]:
        numbers = {
            name: total if track is None else found.get(track)
            for name, (found, total) in counted.items()
        }
        most = max(n["sat"] + n["unsat"] for n in numbers.values() if n)
        size = max(n["tasks"] for n in numbers.values() if n)
        cells = [cell(escape(track or "total"), "l"), cell(size)]
        for name, n in numbers.items():
            if n is None:
                cells.append(cell("–", "soft"))
                continue
            number = n["sat"] + n["unsat"]
            lonely = sum(
                counts.get(name, 0) for own, counts in alone.items() if track in (None, own)
            )
            parts = f"{n['sat']} + {n['unsat']}"
            more = f", {lonely} alone" if len(by_solver) > 1 else ""
            bad = f' <span class="bad">{n["wrong"]} wrong</span>' if n["wrong"] else ""
            of = f" of {n['tasks']}" if n["tasks"] != size else ""
            text = f'{number}{of} <span class="soft">({parts}{more})</span>{bad}'
            cells.append(cell(text, "best" if number == most and number else ""))
        rows.append(row(cells, "total" if track is None else ""))
    return table(head(["track", "tasks", *by_solver]), rows)


def costs(by_solver, limit):
    """Times and memory of each solver: sums, the median of solved tasks, the most memory."""
    rows = []
    for name, found in by_solver.items():
        times = sorted(result["wall"] for result in found if solved(result))
        median = f"{times[len(times) // 2]:.2f}" if times else "–"
        par2 = sum(result["wall"] if solved(result) else 2 * limit for result in found)
        numbers = [
            len(times),
            median,
            f"{sum(times):.1f}",
            f"{sum(result['cpu'] for result in found):.1f}",
            f"{par2:.1f}",
            max((result["memory"] for result in found), default=0),
        ]
        ends = [
            sum(result["answer"] == answer for result in found)
            for answer in ("unknown", "timeout", "memout", "error")
        ]
        rows.append(row([cell(escape(name), "l"), *map(cell, numbers), *map(cell, ends)]))
    names = ["solver", "solved", "median s", "wall s of solved", "CPU s of all", "PAR2 s"]
    return table(head([*names, "most MB", "unknown", "timeout", "memout", "error"]), rows)


def alarms(campaign):
    """Wrong answers and contradictions."""
    flagged, contradictions = campaign["wrong"], campaign["contradictions"]
    if not flagged and not contradictions:
        return '<p class="ok">No answer contradicts a recorded verdict or another solver.</p>'
    text = []
    if flagged:
        rows = [
            row([cell(escape(r[k]), "l") for k in ("solver", "answer", "verdict", "track", "file")])
            for r in flagged
        ]
        text.append(f'<p class="alarm">{len(flagged)} answers contradict the recorded verdict.</p>')
        text.append(table(head(["solver", "answer", "recorded", "track", "file"], 5), rows))
    if contradictions:
        rows = []
        for found in contradictions:
            said = ", ".join(f"{name}: {answer}" for name, answer in found["answers"].items())
            rows.append(row([cell(escape(t), "l") for t in (said, found["track"], found["file"])]))
        text.append(
            f'<p class="alarm">On {len(contradictions)} tasks without a recorded verdict, solvers'
            " contradict each other.</p>"
        )
        text.append(table(head(["answers", "track", "file"], 3), rows))
    return "".join(text)


def figures(plots):
    """The plots, each as an image of its own inside the page."""
    text = []
    for name, title, svg in sorted(plots, key=lambda plot: plot[0] == "cactus-tracks"):
        data = base64.b64encode(svg.encode()).decode()
        kind = ' class="wide"' if name == "cactus-tracks" else ""
        text.append(
            f"<figure{kind}><figcaption>{escape(title)}</figcaption>"
            f'<img alt="{escape(title)}" src="data:image/svg+xml;base64,{data}"></figure>'
        )
    return f'<div class="plots">{"".join(text)}</div>'


def run_cell(result):
    """A run in the table of tasks."""
    if result is None:
        return cell("–", "soft", value=1e9)
    answer = result["answer"]
    bad = wrong(result["verdict"], answer)
    kind = "bad" if bad else answer if answer in ("sat", "unsat") else "soft"
    tip = f"{result['cpu']:.2f} s of CPU time, {result['memory']} MB"
    if result["note"]:
        tip += f"; {result['note']}"
    text = f"{escape(answer)} {result['wall']:.2f}"
    inner = f'<span class="{kind}" title="{escape(tip)}">{text}</span>'
    value = result["wall"] if solved(result) else 1e6 + result["wall"]
    return cell(inner, "bad" if bad else "", value=value)


def tasks(by_solver):
    """All tasks with the answer and the wall time of each solver; a script filters and sorts."""
    found = {}
    for name, results in by_solver.items():
        for result in results:
            found.setdefault((result["track"], result["file"]), {})[name] = result
    rows = []
    for (track, file), runs in sorted(found.items()):
        found_runs = list(runs.values())
        answers = [solved(run) for run in found_runs]
        kinds = [
            *(["none"] if not any(answers) else []),
            *(["some"] if any(answers) and not all(answers) else []),
            *(["wrong"] if any(wrong(r["verdict"], r["answer"]) for r in found_runs) else []),
        ]
        cells = [cell(escape(track), "l"), cell(escape(file), "l file")]
        cells.append(cell(escape(found_runs[0]["verdict"]), "l soft"))
        cells += [run_cell(runs.get(name)) for name in by_solver]
        rows.append(row(cells, kinds=" ".join(kinds)))
    names = ["track", "file", "recorded", *by_solver]
    heads = [cell(escape(n), "l sort" if i < 3 else "sort", "th") for i, n in enumerate(names)]
    tracks = sorted({track for track, _ in found})
    options = "".join(f"<option>{escape(track)}</option>" for track in tracks)
    controls = f"""<div class="controls"><input id="text" placeholder="words of the file's name"
aria-label="words of the file's name"><select id="track" aria-label="track">
<option value="">all tracks</option>{options}</select><select id="kind" aria-label="kind">
<option value="">all tasks</option><option value="none">solved by none</option>
<option value="some">solved by some, not by all</option><option value="wrong">with a wrong answer
</option></select><span id="shown" class="soft"></span></div>"""
    rows_text = "".join(rows)
    return (
        f'{controls}<div class="tall"><table id="tasks"><thead>{row(heads)}</thead>'
        f"<tbody>{rows_text}</tbody></table></div>"
    )


def render(campaign, by_solver, plots):
    """The page as text.

    `campaign` is what --json writes, `by_solver` the results by solver with those of earlier
    campaigns, `plots` names, titles and SVG texts (plots.as_svg).
    """
    title = escape(campaign["title"])
    number = len({(r["track"], r["file"]) for found in by_solver.values() for r in found})
    state = "" if campaign["complete"] else ' <span class="bad">Interrupted before its end.</span>'
    alone = ", and tasks that no other solver here solves" if len(by_solver) > 1 else ""
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>{STYLE}</style></head><body>
<h1>{title}</h1>
<p class="sub">{number} tasks, {campaign["limits"]["wall"]:g} s of wall time each.{state}</p>
{alarms(campaign)}
<h2>Solved tasks</h2>
<p class="sub">In parentheses: answers <span class="sat">sat</span> +
<span class="unsat">unsat</span>{alone}. Bold: the most of the track.</p>
{summary(by_solver)}
<h2>Time and memory</h2>
{costs(by_solver, campaign["limits"]["wall"])}
<p class="sub">PAR2: the sum of wall times, where a task that is not solved counts with twice the
limit.</p>
<h2>Plots</h2>
{figures(plots)}
<h2>Tasks</h2>
<p class="sub">Answer and wall seconds. Click a column's head to sort.</p>
{tasks(by_solver)}
<h2>What was run</h2>
{settings(campaign)}
<script>{SCRIPT}</script>
</body></html>
"""
