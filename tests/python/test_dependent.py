"""A crate that depends on alphorn builds and runs with what the crate's documentation says."""

import os
import re
import shutil
import subprocess
import unittest

from common import ROOT, Folder

MANIFEST = """[package]
name = "dependent"
version = "0.1.0"
edition = "2024"

[dependencies]
alphorn = {{ path = "{root}" }}

[workspace]
"""


def documented():
    """The settings and the build script of the section about dependent crates, and the first example
    of the documentation."""
    text = (ROOT / "src/lib.rs").read_text(encoding="utf-8")
    lines = [line[3:].lstrip(" ") if line.startswith("//! ") else line[3:] for line in text.splitlines()
             if line.startswith("//!")]
    blocks = re.findall(r"```(\w*)\n(.*?)```", "\n".join(lines), re.DOTALL)
    example = next(body for kind, body in blocks if kind == "")
    settings = next(body for kind, body in blocks if kind == "toml")
    script = next(body for kind, body in blocks if kind == "no_run")
    return settings, script, example


@unittest.skipUnless(os.environ.get("ALPHORN_DEPENDENT"), "takes minutes: set ALPHORN_DEPENDENT=1")
class Dependent(Folder):
    def test_it_builds_and_runs(self):
        settings, script, example = documented()
        settings = settings.replace("/path/to/alphorn", str(ROOT.resolve()))
        # The documentation's hidden last line has the type of the error.
        example = example.replace("# Ok::<(), Box<dyn std::error::Error>>(())", 'println!("{}", output.word());\nOk(())')
        files = {
            "Cargo.toml": MANIFEST.format(root=ROOT),
            ".cargo/config.toml": settings,
            "build.rs": f"fn main() {{\n{script}}}\n",
            "src/main.rs": f"fn main() -> Result<(), Box<dyn std::error::Error>> {{\n{example}}}\n",
        }
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        # The versions that are tested, which are there without a network.
        shutil.copy(ROOT / "Cargo.lock", self.folder)
        # The project's own folder and profile, so that what its tests built is not built again. Cargo's
        # other variables for this project are not for the crate.
        target = os.path.abspath(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
        own = {name: value for name, value in os.environ.items() if not name.startswith(("CARGO", "Z3_"))}
        if home := os.environ.get("CARGO_HOME"):
            own["CARGO_HOME"] = home
        own.update(CARGO_TARGET_DIR=target, CARGO_NET_OFFLINE="true", CARGO_INCREMENTAL="0",
                   CARGO_PROFILE_DEV_OPT_LEVEL="1", CARGO_PROFILE_DEV_DEBUG="0", CARGO_PROFILE_DEV_LTO="off")
        built = subprocess.run(["cargo", "build", "--quiet"], cwd=self.folder, env=own,
                               capture_output=True, text=True, check=False)
        self.assertEqual(built.returncode, 0, built.stderr)
        done = subprocess.run([os.path.join(target, "debug/dependent")], env={}, cwd="/",
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "sat\n", ""))


if __name__ == "__main__":
    unittest.main()
