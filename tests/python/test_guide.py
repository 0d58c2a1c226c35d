"""scripts/guide: what leads nowhere is found, and what leads somewhere is not."""

import importlib.machinery
import importlib.util
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def load():
    """The script as a module."""
    path = str(ROOT / "scripts" / "guide")
    loader = importlib.machinery.SourceFileLoader("guide", path)
    spec = importlib.util.spec_from_loader("guide", loader)
    module = importlib.util.module_from_spec(spec)
    # Without a compiled copy beside the script.
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = written
    return module


guide = load()


class Slugs(unittest.TestCase):
    def test_anchors_of_headings(self):
        for heading, anchor in (
            ("What they support", "what-they-support"),
            ("`pdr`: property directed reachability", "pdr-property-directed-reachability"),
            ("I want to …", "i-want-to-"),
            ("[A link](somewhere.md) and *more*", "a-link-and-more"),
            ("snake_case, k-induction", "snake_case-k-induction"),
        ):
            self.assertEqual(guide.slug(heading), anchor)


class Links(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()
        self.root, guide.ROOT = guide.ROOT, self.folder
        self.addCleanup(setattr, guide, "ROOT", self.root)

    def broken(self, name):
        checker = guide.Checker()
        return [link for link, _ in checker.broken(self.folder / name)]

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def test_markdown(self):
        self.write("other.md", "# Top\n\n## Same\n\n## Same\n\n<a id=\"own\"></a>\n```\n# no\n```\n")
        self.write("sub/a file.md", "# Here\n")
        self.write("sub/picture.svg", "<svg/>\n")
        good = (
            "other.md other.md#top other.md#same other.md#same-1 other.md#own sub/a%20file.md#here "
            "sub sub/picture.svg #title https://example.org/#x mailto:a@example.org"
        )
        bad = "none.md other.md#no other.md#same-2 #other sub/picture.svg#x ../out.md sub/none/"
        links = "".join(f"[text]({link})\n" for link in f"{good} {bad}".split())
        code = "`[code](none.md)`\n\n```\n[block](none.md)\n```\n"
        self.write("page.md", f"# Title\n\n{links}\n{code}")
        self.assertEqual(self.broken("page.md"), bad.split())
        self.write("page.md", '<img src="none.svg" alt="">\n\n[name]: none.md\n')
        self.assertEqual(sorted(self.broken("page.md")), ["none.md", "none.svg"])

    def test_what_leads_out_of_the_project(self):
        self.write("page.md", f"[root]({'../' * 30}etc)\n[here](..)\n")
        self.assertEqual(len(self.broken("page.md")), 2)

    def test_html(self):
        self.write("other.html", '<h2 id="here">x</h2>')
        self.write(
            "page.html",
            '<a href="other.html#here">a</a><a href="other.html#gone">b</a><img src="none.png">',
        )
        self.assertEqual(self.broken("page.html"), ["other.html#gone", "none.png"])

    def test_links_out_of_the_book(self):
        self.write("README.md", "# Top\n")
        self.write("docs/book/other.html", "<p>x</p>")
        page = '<a href="../../README.html#top">a</a><a href="other.html">b</a><a href="x.html">c</a>'
        self.write("docs/book/page.html", page)
        guide.lead_out(self.folder / "docs/book/page.html")
        found = (self.folder / "docs/book/page.html").read_text(encoding="utf-8")
        self.assertEqual(found, page.replace("README.html", "README.md"))
        self.assertEqual(self.broken("docs/book/page.html"), ["x.html"])


class Documents(unittest.TestCase):
    def test_no_link_is_broken(self):
        checker = guide.Checker()
        documents = list(guide.documents())
        self.assertGreater(len(documents), 30)
        for path in documents:
            with self.subTest(path.name):
                self.assertEqual(list(checker.broken(path)), [])


if __name__ == "__main__":
    unittest.main()
