"""Plots and the page."""

import json
import os
import struct
import unittest
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

from common import Folder

try:
    import matplotlib
except ImportError:
    matplotlib = None


class Reader(HTMLParser):
    """The cells of a page's tables, what it loads, and whether its elements are closed."""

    def __init__(self):
        super().__init__()
        self.open = []
        self.loaded = []
        self.rows = []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.loaded += [attributes[name] for name in ("src", "href") if name in attributes]
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag not in ("meta", "img", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if self.open.pop() != tag:
            raise AssertionError(f"{tag} is not open")

    def handle_data(self, data):
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1] += data


@unittest.skipIf(matplotlib is None, "scripts/setup --campaign installs matplotlib")
class Page(Folder):
    def campaign(self, *words, status=0):
        """A campaign with another one before it; the page, read."""
        self.task("<a>", "sat", track="LIA")
        self.task("b", "cpu=0.1 unsat", track="LIA")
        self.task("c", "unknown", track="BV")
        path = self.listed(
            ("LIA", "LIA/<a>.smt2", "sat"),
            ("LIA", "LIA/b.smt2", "unsat"),
            ("BV", "BV/c.smt2", "unsolved"),
        )
        (self.folder / "before.tsv").write_text(
            "LIA\tLIA/<a>.smt2\tsat\tunsat\t0.50\t0.40\t7\n"
            "LIA\tLIA/b.smt2\tunsat\tunsat\t0.70\t0.40\t7\n"
            "BV\tBV/c.smt2\tunsolved\tsat\t0.90\t0.40\t7\n"
        )
        self.bench(
            "--tasks", path, "--seconds", "20", "--name", "mock", "--earlier", "before=before.tsv",
            *words, status=status,
        )

    def test_page(self):
        self.campaign("--html", "page.html", "--json", "out.json", "--title", "A & B")
        text = (self.folder / "page.html").read_text(encoding="utf-8")
        reader = Reader()
        reader.feed(text)
        self.assertEqual(reader.open, [])
        self.assertIn("<h1>A &amp; B</h1>", text)
        # Nothing is loaded from elsewhere.
        self.assertEqual(len(reader.loaded), 3)
        for source in reader.loaded:
            self.assertTrue(source.startswith("data:image/svg+xml;base64,"))
        self.assertNotRegex(text, r"(?i)<link|@import|url\(")
        rows = {row[0]: row[1:] for row in reader.rows if len(row) == 4}
        self.assertEqual(rows["LIA"], ["2", "2 (1 + 1, 1 alone)", "1 (0 + 1, 0 alone) 1 wrong"])
        self.assertEqual(rows["BV"], ["1", "0 (0 + 0, 0 alone)", "1 (1 + 0, 1 alone)"])
        self.assertEqual(rows["total"][1:], ["2 (1 + 1, 1 alone)", "2 (1 + 1, 1 alone) 1 wrong"])
        runs = {row[1]: row for row in reader.rows if len(row) == 5}
        self.assertRegex(runs["BV/c.smt2"][3], r"unknown \d+\.\d\d")
        self.assertEqual(runs["LIA/<a>.smt2"][4], "unsat 0.50")
        written = json.loads((self.folder / "out.json").read_text())
        self.assertEqual(written["summary"]["mock"]["LIA"]["tasks"], 2)
        self.assertEqual([r["answer"] for r in written["results"]], ["sat", "unsat", "unknown"])

    def test_plots(self):
        self.campaign("--plots", "plots")
        found = sorted(path.name for path in (self.folder / "plots").iterdir())
        names = ("cactus", "cactus-tracks", "scatter-mock-before")
        expected = [f"{name}.{kind}" for name in names for kind in ("png", "svg")]
        self.assertEqual(found, sorted(expected))
        for name in names:
            data = (self.folder / "plots" / f"{name}.png").read_bytes()
            self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
            width, height = struct.unpack(">II", data[16:24])
            self.assertGreater(min(width, height), 300)
            tree = ElementTree.parse(self.folder / "plots" / f"{name}.svg")
            self.assertTrue(tree.getroot().tag.endswith("svg"))

    def test_what_plots_show(self):
        from campaign import plots

        def result(file, answer, wall, track="T"):
            return dict(track=track, file=file, answer=answer, verdict="sat", wall=wall)

        one = [result("1", "sat", 0.5), result("2", "sat", 2.0), result("3", "timeout", 10.0)]
        other = [result("1", "sat", 1.0), result("2", "unsat", 0.1), result("3", "sat", 9.0)]
        drawn = {plot.name: plot for plot in plots.draw({"x": one, "y": other}, 10)}
        self.assertEqual(list(drawn), ["cactus", "scatter-x-y"])
        axes = drawn["cactus"].figure.axes[0]
        self.assertEqual(axes.get_yscale(), "log")
        self.assertEqual(axes.get_xlabel(), "solved tasks")
        lines = [line.get_xydata().tolist() for line in axes.lines]
        self.assertIn([[1, 0.5], [2, 2.0]], lines)
        # A wrong answer solves nothing.
        self.assertIn([[1, 1.0], [2, 9.0]], lines)
        axes = drawn["scatter-x-y"].figure.axes[0]
        marks = [tuple(at) for marks in axes.collections for at in marks.get_offsets().tolist()]
        border = max(x for x, _ in marks)
        self.assertGreater(border, 10)
        self.assertEqual(sorted(marks), [(0.5, 1.0), (2.0, border), (border, 9.0)])

    def test_extras_are_named(self):
        """Without matplotlib the command says what to install."""
        blocker = self.folder / "sitecustomize.py"
        blocker.write_text(
            "import sys, importlib.util as u\nfind = u.find_spec\n"
            "u.find_spec = lambda name, *a: None if name == 'matplotlib' else find(name, *a)\n"
        )
        self.task("a", "sat")
        path = self.listed(("T", "a.smt2", "sat"))
        env = {**os.environ, "PYTHONPATH": str(self.folder)}
        done = self.bench("--tasks", path, "--html", "x.html", status=2, env=env)
        self.assertIn("matplotlib is missing: run scripts/setup --campaign", done.stderr)
        self.assertFalse((self.folder / "out.tsv").exists())


if __name__ == "__main__":
    unittest.main()
