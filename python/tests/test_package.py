"""The package: what is in the wheel, its libz3, its stub, its documentation, and what notebooks show."""

import ast
import doctest
import html.parser
import importlib
import importlib.metadata
import inspect
import os
import pathlib
import pkgutil
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

import alphorn
from support import ENDLESS, QUERY, SAFE, UNSAFE

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = pathlib.Path(alphorn.__file__).parent


class Documentation(unittest.TestCase):
    def test_docstrings(self):
        modules = [alphorn] + [
            importlib.import_module(f"alphorn.{module.name}")
            for module in pkgutil.iter_modules([str(PACKAGE)])
            if module.name != "_native"
        ]
        attempted = 0
        for module in modules:
            result = doctest.testmod(module)
            self.assertEqual(result.failed, 0, module)
            attempted += result.attempted
        self.assertGreater(attempted, 30)

    def test_examples_of_the_pages(self):
        for path, least in [(ROOT / "docs/src/python.md", 5), (ROOT / "python/README.md", 4)]:
            blocks = re.findall(r"```python\n(.*?)```", path.read_text(), re.S)
            parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
            names = {}
            for block in blocks:
                # A block goes on with the names of those before.
                examples = parser.get_doctest(block, names, path.name, str(path), 0)
                runner.run(examples, clear_globs=False)
                names = examples.globs
            self.assertEqual(runner.failures, 0, path)
            self.assertGreaterEqual(runner.tries, least, path)


class Names(unittest.TestCase):
    def test_public_names(self):
        public = {
            name
            for name, value in vars(alphorn).items()
            if not name.startswith("_") and not inspect.ismodule(value)
        }
        self.assertEqual(public - {"annotations", "load"}, set(alphorn.__all__))
        for name in alphorn.__all__:
            value = getattr(alphorn, name)
            if not inspect.isclass(value) and not inspect.isfunction(value):
                continue
            self.assertTrue(inspect.getdoc(value), name)
            methods = [value] if inspect.isfunction(value) else [
                method for key, method in vars(value).items()
                if inspect.isfunction(method)
                and inspect.getsourcefile(method).startswith(str(PACKAGE))
                and (key == "__init__" or not key.startswith("_"))
            ]
            for method in methods:
                signature = inspect.signature(method)
                self.assertIsNot(signature.return_annotation, inspect.Signature.empty, method)
                for parameter in signature.parameters.values():
                    if parameter.name != "self":
                        self.assertIsNot(parameter.annotation, inspect.Parameter.empty, method)

    def test_the_stub_says_what_the_native_module_has(self):
        stub = ast.parse((PACKAGE / "_native.pyi").read_text())
        native = alphorn._native
        declared = {}
        for node in stub.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                declared[node.name] = node
            elif isinstance(node, ast.AnnAssign):
                declared[node.target.id] = node
        exported = {name for name in vars(native) if not name.startswith("_")}
        self.assertEqual(set(declared), exported)
        for name, node in declared.items():
            value = getattr(native, name)
            if isinstance(node, ast.FunctionDef):
                self.assertEqual(self.parameters(node.args), self.names_of(value), name)
            elif isinstance(node, ast.ClassDef):
                members = {m.name: m for m in node.body}
                own = {m for m in vars(value) if not m.startswith("_")}
                self.assertEqual(set(members), own, name)
                for member, definition in members.items():
                    decorators = [d.id for d in definition.decorator_list]
                    is_property = "property" in decorators
                    is_callable = callable(getattr(value, member))
                    self.assertNotEqual(is_property, is_callable, member)
                    if is_callable:
                        expected = self.parameters(definition.args)
                        self.assertEqual(expected, self.names_of(getattr(value, member)), member)

    @staticmethod
    def parameters(args):
        return [a.arg for a in args.args], [a.arg for a in args.kwonlyargs], len(args.defaults)

    @staticmethod
    def names_of(value):
        parameters = inspect.signature(value).parameters.values()
        positional = [p for p in parameters if p.kind is not p.KEYWORD_ONLY]
        keywords = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
        defaults = [p for p in positional if p.default is not p.empty]
        return [p.name for p in positional], keywords, len(defaults)

    def test_versions_agree(self):
        setup = (ROOT / "scripts" / "setup").read_text()
        self.assertIn(f"z3_version={alphorn.Z3_VERSION}\n", setup)
        requires = importlib.metadata.requires("alphorn")
        self.assertEqual(requires, [f"z3-solver=={alphorn.Z3_VERSION}"])
        self.assertTrue(alphorn.Z3_VERSION.startswith(alphorn._native.z3_version() + "."))
        version = importlib.metadata.version("alphorn")
        self.assertEqual(alphorn.__version__, version)
        manifest = (ROOT / "Cargo.toml").read_text()
        self.assertIn(f'\nversion = "{version}"\n', manifest)


class Library(unittest.TestCase):
    def python(self, program, path):
        environment = {**os.environ, "PYTHONPATH": str(path)}
        return subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True
        )

    def test_one_libz3_which_is_that_of_z3py(self):
        maps = pathlib.Path("/proc/self/maps")
        if not maps.exists():
            self.skipTest("needs /proc")
        import z3

        alphorn.solve(SAFE)
        loaded = {l.split()[-1] for l in maps.read_text().splitlines() if "libz3" in l}
        self.assertEqual(len(loaded), 1, loaded)
        self.assertTrue(loaded.pop().startswith(os.path.dirname(os.path.realpath(z3.__file__))))

    def test_no_libz3_and_no_run_path(self):
        wheel = os.environ.get("ALPHORN_WHEEL")
        if wheel is not None:
            names = zipfile.ZipFile(wheel).namelist()
            self.assertFalse([name for name in names if "libz3" in name])
            self.assertIn("alphorn/py.typed", names)
            self.assertFalse([name for name in names if "test" in name])
        content = pathlib.Path(alphorn._native.__file__).read_bytes()
        self.assertNotIn(b"third_party/z3/lib", content)
        self.assertIn(b"libz3.", content)

    def test_without_z3(self):
        done = self.python("import sys; sys.modules['z3'] = None; import alphorn", "")
        self.assertIn(f"ImportError: alphorn needs the package z3-solver {alphorn.Z3_VERSION}, which"
                      " is missing; install it with: pip install", done.stderr)

    def test_with_another_z3(self):
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder, "z3")
            (package / "lib").mkdir(parents=True)
            (package / "__init__.py").touch()
            done = self.python("import alphorn", folder)
            self.assertIn("ImportError: alphorn needs", done.stderr)
            self.assertIn(" has no libz3", done.stderr)
            numbers = alphorn.Z3_VERSION.split(".")
            name = "libz3.dylib" if sys.platform == "darwin" else f"libz3.so.{numbers[0]}.{numbers[1]}"
            source = package / "z3.c"
            source.write_text("void Z3_get_version(unsigned *a, unsigned *b, unsigned *c, unsigned *d)"
                              "{ *a = 4; *b = 8; *c = 17; *d = 0; }")
            subprocess.run(["cc", "-shared", "-fPIC", "-o", package / "lib" / name, source], check=True)
            done = self.python("import alphorn", folder)
            self.assertIn("is version 4.8.17.0; install it with", done.stderr)
            (package / "lib" / name).write_text("no library")
            done = self.python("import alphorn", folder)
            self.assertIn("cannot be loaded", done.stderr)


class Page(html.parser.HTMLParser):
    """Elements that are opened and closed, and the names of places."""

    def __init__(self, text):
        super().__init__()
        self.open, self.wrong, self.tags = [], [], []
        self.ids, self.targets = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag != "meta":
            self.open.append(tag)
        self.note(attributes)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        self.note(attributes)

    def note(self, attributes):
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            elif name == "href":
                self.targets.append(value[1:] if value.startswith("#") else f"foreign {value}")
            self.targets.extend(re.findall(r"url\(#(.*?)\)", value or ""))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


class Notebooks(unittest.TestCase):
    def parsed(self, text):
        page = Page(text)
        self.assertEqual((page.open, page.wrong), ([], []))
        self.assertEqual(len(page.ids), len(set(page.ids)))
        self.assertEqual(set(page.targets) - set(page.ids), set())
        return page

    def test_a_model_with_its_graph(self):
        text = SAFE.replace("Loop", "|a <loop> & \"more\"|")
        answer = alphorn.solve(text)
        shown = answer._repr_html_()
        page = self.parsed(shown)
        self.assertIn("svg", page.tags)
        self.assertNotIn("html", page.tags)
        self.assertIn("Invariants", shown)
        self.assertNotIn("<loop>", shown)
        self.assertIn("define-fun |a &lt;loop&gt;", shown)
        self.assertIn('class="alphorn"', shown)

    def test_a_derivation(self):
        shown = alphorn.solve(UNSAFE)._repr_html_()
        page = self.parsed(shown)
        self.assertIn("Derivation", shown)
        self.assertRegex(shown, r"<b>Loop</b> <mark class=\"value\">\w+ = 3</mark>")
        self.assertEqual(len([i for i in page.ids if re.search(r"-step\d+$", i)]), 5)

    def test_two_answers_on_one_page(self):
        answer = alphorn.solve(UNSAFE)
        self.parsed(answer._repr_html_() + answer._repr_html_() + alphorn.solve(SAFE)._repr_html_())

    def test_styles_stay_inside(self):
        style = re.search(r"<style>(.*?)</style>", alphorn.solve(SAFE)._repr_html_(), re.S)[1]
        # Rules for some media are in braces of their own.
        style = re.sub(r"@media [^{]*\{((?:[^{}]*\{[^{}]*\})*)\s*\}", r"\1", style)
        selectors = [s for rule in style.split("}")[:-1] for s in rule.split("{")[0].split(",")]
        self.assertGreater(len(selectors), 10)
        for selector in selectors:
            self.assertTrue(selector.strip().startswith(".alphorn"), selector)

    def test_other_answers(self):
        unknown = alphorn.solve(ENDLESS, timeout=0.2)
        self.assertIn("No answer: timeout", unknown._repr_html_())
        self.parsed(unknown._repr_html_())
        self.parsed(alphorn.solve(QUERY.format(3))._repr_html_())

    def test_a_whole_page(self):
        page = self.parsed(alphorn.solve(SAFE).html())
        self.assertEqual(page.tags[:2], ["html", "head"])

    def test_short_forms(self):
        self.assertEqual(repr(alphorn.solve(SAFE)), "<alphorn.Answer sat: a model of 1 predicate>")
        unsafe = alphorn.solve(UNSAFE)
        self.assertEqual(repr(unsafe), "<alphorn.Answer unsat: a refutation of 5 steps>")
        self.assertEqual(repr(unsafe.refutation), "<alphorn.Refutation of 5 steps>")
        self.assertEqual(repr(alphorn.solve(SAFE).model), "<alphorn.Model of Loop>")


if __name__ == "__main__":
    unittest.main()
