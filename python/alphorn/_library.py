"""Loads libz3, which the native module needs, from the package z3-solver.

It is the same file that z3py loads, so a process has it once.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import importlib.util
import os
import sys

#: The version of the package z3-solver that the native module is linked for.
Z3_VERSION = "5.4.0.0"

_NEEDED = f"alphorn needs the package z3-solver {Z3_VERSION}"
_ADVICE = f"install it with: pip install z3-solver=={Z3_VERSION}"


def _folders() -> list[str]:
    """The folders of the package z3-solver. Raises ImportError if there is none."""
    spec = importlib.util.find_spec("z3")
    folders = list(spec.submodule_search_locations or []) if spec else []
    if not folders:
        raise ImportError(f"{_NEEDED}, which is missing; {_ADVICE}")
    return folders


def folder() -> str:
    """The folder of the package z3-solver."""
    return _folders()[0]


def load() -> ctypes.CDLL:
    """Loads the library, or raises ImportError and says what is wrong."""
    folders = _folders()
    numbers = Z3_VERSION.split(".")
    if sys.platform == "darwin":
        name = "libz3.dylib"
    else:
        name = f"libz3.so.{numbers[0]}.{numbers[1]}"
    paths = [os.path.join(folder, "lib", name) for folder in folders]
    path = next((path for path in paths if os.path.isfile(path)), None)
    if path is None:
        raise ImportError(f"{_NEEDED}, but {_found(folders[0])} has no {name}; {_ADVICE}")
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"{_NEEDED}, but {path} cannot be loaded: {error}") from error
    parts = [ctypes.c_uint() for _ in range(4)]
    library.Z3_get_version(*map(ctypes.byref, parts))
    version = [str(part.value) for part in parts]
    if version[:3] != numbers[:3]:
        found = ".".join(version)
        raise ImportError(f"{_NEEDED}, but {path} is version {found}; {_ADVICE}")
    return library


def _found(folder: str) -> str:
    """The package that was found, with its version if it has one."""
    try:
        return f"z3-solver {importlib.metadata.version('z3-solver')} in {folder}"
    except importlib.metadata.PackageNotFoundError:
        return folder
