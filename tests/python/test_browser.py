"""The page of `--report` in a browser: no errors, no sideways scrolling, links that lead somewhere.

The browser is Chromium without a window: CHROMIUM, or one on PATH (Debian: chromium-headless-shell).
"""

import html
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from common import ROOT

NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]
BROWSER = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
TASKS = {
    "loop": "examples/first/loop-unsafe.smt2",
    "safe": "horn-benchmarks/papers/vinta-fig2a-locations-safe.smt2",
    "array": "examples/first/array.smt2",
    "tree": "horn-benchmarks/recursion/ackermann-small-unsafe.smt2",
    "records": "horn-benchmarks/arrays/bank-unsafe.smt2",
}
#: Added to a copy of the page: writes what was found into the document, which the browser prints.
PROBE = """<script>
window.errors = [];
window.addEventListener('error', (event) => window.errors.push(String(event.message)));
window.addEventListener('load', () => {
  document.querySelectorAll('details').forEach((part) => { part.open = true; });
  const root = document.documentElement;
  const ids = new Set([...document.querySelectorAll('[id]')].map((part) => part.id));
  const links = [...document.querySelectorAll('a[href]')].map((a) => a.getAttribute('href'));
  const narrow = [...document.querySelectorAll('th, td, summary b')].filter((part) => {
    const text = part.textContent.trim();
    return text.length > 3 && part.getBoundingClientRect().width < 20;
  });
  const found = {
    errors: window.errors, scroll: root.scrollWidth, width: root.clientWidth,
    dangling: links.filter((link) => !link.startsWith('#') || !ids.has(link.slice(1))),
    narrow: narrow.map((part) => part.textContent), links: links.length,
  };
  const out = document.createElement('pre');
  out.id = 'probe';
  out.textContent = JSON.stringify(found);
  document.body.replaceChildren(out);
});
</script>"""


@unittest.skipIf(BROWSER is None, "a Chromium on PATH is needed (Debian: chromium-headless-shell)")
class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        program = os.path.abspath(os.environ.get("ALPHORN") or ROOT / "target/release/alphorn")
        cls.pages = {}
        for name, task in TASKS.items():
            page = Path(cls.folder.name) / f"{name}.html"
            words = [program, str(ROOT / task), "--timeout=300", "--report", str(page)]
            subprocess.run(words, check=True, capture_output=True)
            cls.pages[name] = page

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def browser(self, *words):
        done = subprocess.run(
            [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", *words],
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        return done

    def test_no_errors_and_no_scrolling(self):
        for name, page in self.pages.items():
            text = page.read_text(encoding="utf-8")
            probed = page.with_suffix(".probed.html")
            probed.write_text(text.replace("<style>", PROBE + "<style>", 1), encoding="utf-8")
            for width in (400, 1280):
                with self.subTest(page=name, width=width):
                    done = self.browser(
                        f"--window-size={width},1200",
                        "--enable-logging=stderr",
                        "--dump-dom",
                        probed.as_uri(),
                    )
                    self.assertNotIn("CONSOLE", done.stderr)
                    found = re.search(r'<pre id="probe">(.*?)</pre>', done.stdout, re.DOTALL)
                    found = json.loads(html.unescape(found[1]))
                    self.assertEqual(found["errors"], [])
                    self.assertLessEqual(found["scroll"], found["width"])
                    self.assertEqual(found["dangling"], [])
                    self.assertEqual(found["narrow"], [])
                    self.assertGreaterEqual(found["links"], 1)

    def test_one_file_without_a_script(self):
        for name, page in self.pages.items():
            with self.subTest(page=name):
                text = page.read_text(encoding="utf-8")
                self.assertNotRegex(text, r"(?i)<script|<link|@import|https?:")
                self.assertLess(len(text), 1 << 20)

    def test_pictures(self):
        """A screenshot is a picture of the page in the window's size, light and dark."""
        page = self.pages["loop"]
        shots = []
        for extra in ([], ["--force-dark-mode", "--blink-settings=preferredColorScheme=0"]):
            shot = page.with_suffix(f".{len(shots)}.png")
            self.browser("--window-size=400,900", *extra, f"--screenshot={shot}", page.as_uri())
            data = shot.read_bytes()
            self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
            self.assertEqual(int.from_bytes(data[16:20], "big"), 400)
            shots.append(data)
        self.assertNotEqual(*shots)


if __name__ == "__main__":
    unittest.main()
